package manifest_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/manifest"
)

// inPod returns a Pod with these members of spec.
func inPod(members string) string {
	return `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{` + members + `}}`
}

// inRule returns a Pod with these members of a restart rule.
func inRule(members string) string {
	return inPod(`"containers":[{"name":"main","restartPolicyRules":[{` + members + `}]}]`)
}

const rulePath = "spec.containers[0].restartPolicyRules[0]"

func TestCheckFields(t *testing.T) {
	const (
		values = "json: cannot unmarshal %s into Go struct field ContainerRestartRuleOnExitCodes.spec.containers.restartPolicyRules.exitCodes.values of type "
		into   = "json: cannot unmarshal "
	)
	inValues := func(found, typ string) string { return strings.Replace(values, "%s", found, 1) + typ }
	tests := []struct {
		name, src string
		minor     int
		want      []policy.FieldError // Detail is a part of the sentence
	}{
		{"the example", pod, 37, nil},
		{"the example without rules in 1.33", pod, 33, []policy.FieldError{{
			Path: "spec.containers[0].restartPolicyRules", Code: policy.CodeUnknownField, Detail: "since Kubernetes 1.34",
			Message: `strict decoding error: unknown field "spec.containers[0].restartPolicyRules"`, Allowed: []string{"restartPolicy", "resizePolicy"},
		}}},
		{"draft spellings", inRule(`"when":{"exitCodes":{}},"onExit":1,"onExitCodes":[]`), 36, []policy.FieldError{
			{Path: rulePath + ".when", Code: policy.CodeUnknownField, Detail: "the field is exitCodes", Message: `strict decoding error: unknown field "` + rulePath + `.when"`, Allowed: []string{"action", "exitCodes"}},
			{Path: rulePath + ".onExit", Code: policy.CodeUnknownField, Detail: "the field is exitCodes", Message: `strict decoding error: unknown field "` + rulePath + `.onExit"`, Allowed: []string{"action", "exitCodes"}},
			{Path: rulePath + ".onExitCodes", Code: policy.CodeUnknownField, Detail: "the field is exitCodes", Message: `strict decoding error: unknown field "` + rulePath + `.onExitCodes"`, Allowed: []string{"action", "exitCodes"}},
		}},
		{"letter case", inRule(`"Action":"Restart"`), 36, []policy.FieldError{{
			Path: rulePath + ".Action", Code: policy.CodeUnknownField, Detail: "case-sensitive: action",
			Message: `strict decoding error: unknown field "` + rulePath + `.Action"`, Allowed: []string{"action", "exitCodes"},
		}}},
		{"misspelt field of a large struct", inPod(`"restartPolicies":"Never"`), 36, []policy.FieldError{{
			Path: "spec.restartPolicies", Code: policy.CodeUnknownField, Detail: "nearest",
			Message: `strict decoding error: unknown field "spec.restartPolicies"`, Allowed: []string{"restartPolicy"},
		}}},
		{"field like none of a large struct", inPod(`"zzzzzzzz":1`), 36, []policy.FieldError{{
			Path: "spec.zzzzzzzz", Code: policy.CodeUnknownField, Detail: "none of its", Message: `strict decoding error: unknown field "spec.zzzzzzzz"`,
		}}},
		{"field of a Job in its Pod", inPod(`"backoffLimit":1`), 36, []policy.FieldError{{
			Path: "spec.backoffLimit", Code: policy.CodeUnknownField, Detail: `"backoffLimit" is not a field of PodSpec, but of JobSpec`,
			Message: `strict decoding error: unknown field "spec.backoffLimit"`,
		}}},
		{"field of a container in its Pod", inPod(`"livenessProbe":{}`), 36, []policy.FieldError{{
			Path: "spec.livenessProbe", Code: policy.CodeUnknownField, Detail: "not a field of PodSpec, but of Container",
			Message: `strict decoding error: unknown field "spec.livenessProbe"`,
		}}},
		{"parameter", inPod(`"activeDeadlineSeconds":"${{LIMIT}}"`), 36, []policy.FieldError{{
			Path: "spec.activeDeadlineSeconds", Code: policy.CodeWrongType, Detail: `must be an integer, found "${{LIMIT}}"; parameters are to be filled in first`,
			Message: into + "string into Go struct field PodSpec.spec.activeDeadlineSeconds of type int64",
		}}},
		{"repeated field", inRule("\"action\":\"Restart\",\n \"action\":\"Restart\""), 36, []policy.FieldError{{
			Path: rulePath + ".action", Code: policy.CodeDuplicateField, Detail: "line 2, column 2 for the second time, first in line 1, column 117",
			Message: `strict decoding error: duplicate field "` + rulePath + `.action"`,
		}}},
		{"repeated label", `{"metadata":{"labels":{"a.b/c":"1","a.b/c":"2"}}}`, 36, []policy.FieldError{{
			Path: `metadata.labels["a.b/c"]`, Code: policy.CodeDuplicateField, Detail: "second time", Message: `strict decoding error: duplicate field "metadata.labels.a.b/c"`,
		}}},
		{"unknown field twice", `{"x":1,"x":2}`, 36, []policy.FieldError{{
			Path: "x", Code: policy.CodeUnknownField, Detail: "not a field of Pod", Message: `strict decoding error: unknown field "x"`, Allowed: []string{"apiVersion", "kind", "metadata", "spec", "status"},
		}}},
		{"exit codes of wrong types", inRule(`"exitCodes":{"values":["42",42.5,42.0,1e2,3000000000,null,true]}`), 36, []policy.FieldError{
			{Path: rulePath + ".exitCodes.values[0]", Code: policy.CodeWrongType, Detail: `must be an integer, found "42"`, Message: inValues("string", "int32")},
			{Path: rulePath + ".exitCodes.values[1]", Code: policy.CodeWrongType, Detail: "without fraction", Message: inValues("number 42.5", "int32")},
			{Path: rulePath + ".exitCodes.values[2]", Code: policy.CodeWrongType, Detail: "without fraction", Message: inValues("number 42.0", "int32")},
			{Path: rulePath + ".exitCodes.values[3]", Code: policy.CodeWrongType, Detail: "without fraction", Message: inValues("number 1e2", "int32")},
			{Path: rulePath + ".exitCodes.values[4]", Code: policy.CodeOutOfRange, Detail: "from -2147483648 to 2147483647", Message: inValues("number 3000000000", "int32")},
			{Path: rulePath + ".exitCodes.values[6]", Code: policy.CodeWrongType, Detail: "found true", Message: inValues("bool", "int32")},
		}},
		{"a number instead of a list", inRule(`"exitCodes":{"values":42}`), 36, []policy.FieldError{{
			Path: rulePath + ".exitCodes.values", Code: policy.CodeWrongType, Detail: "must be a list, found 42", Message: inValues("number", "[]int32"),
		}}},
		{"a rule that is null", inPod(`"containers":[{"restartPolicyRules":[null]}],"initContainers":null,"securityContext":null`), 36, nil},
		{"embedded struct in 1.34", inPod(`"volumes":[{"hostPath":5}]`), 34, []policy.FieldError{{
			Path: "spec.volumes[0].hostPath", Code: policy.CodeWrongType, Detail: "an object", Message: into + "number into Go struct field Volume.spec.volumes.hostPath of type v1.HostPathVolumeSource",
		}}},
		{"embedded struct in 1.35", inPod(`"volumes":[{"hostPath":5}]`), 35, []policy.FieldError{{
			Path: "spec.volumes[0].hostPath", Code: policy.CodeWrongType, Detail: "an object", Message: into + "number into Go struct field Volume.spec.volumes.VolumeSource.hostPath of type v1.HostPathVolumeSource",
		}}},
		{"scalars that read themselves", inPod(`"overhead":{"cpu":"x","memory":true},"containers":[{"livenessProbe":{"httpGet":{"port":1.5}}}]`), 36, []policy.FieldError{
			{Path: "spec.overhead.cpu", Code: policy.CodeBadFormat, Detail: `a quantity such as 500m or 4Gi, found "x"`, Message: `quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'`},
			{Path: "spec.overhead.memory", Code: policy.CodeWrongType, Detail: "found true", Message: `quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'`},
			{Path: "spec.containers[0].livenessProbe.httpGet.port", Code: policy.CodeWrongType, Detail: "an integer or a string", Message: into + "number 1.5 into Go struct field HTTPGetAction.spec.containers.livenessProbe.ProbeHandler.httpGet.port of type int32"},
		}},
		{"a time", `{"status":{"startTime":"yesterday"}}`, 36, []policy.FieldError{{
			Path: "status.startTime", Code: policy.CodeBadFormat, Detail: "a time such as", Message: `parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": cannot parse "yesterday" as "2006"`,
		}}},
		{"managed fields are kept as they are", `{"metadata":{"managedFields":[{"fieldsV1":{"f:spec":{".":{},".":5}},"manager":"kubectl"}]}}`, 36, nil},
		{"kind of a wrong type", `{"kind":5}`, 36, []policy.FieldError{{
			Path: "kind", Code: policy.CodeWrongType, Detail: "must be a string", Message: "couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct field .kind of type string",
		}}},
		{"a list instead of an object", `[]`, 36, []policy.FieldError{{
			Path: "", Code: policy.CodeWrongType, Detail: "must be an object, found a list",
			Message: `couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }`,
		}}},
		{"null", `null`, 36, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := manifest.CheckFields(parse(t, test.src), "Pod", test.minor).All
			if len(got) != len(test.want) {
				t.Fatalf("got %d faults, want %d: %v", len(got), len(test.want), got)
			}
			for i, want := range test.want {
				f := got[i].FieldError
				if f.Path != want.Path || f.Code != want.Code || f.Message != want.Message || f.Type != "" ||
					!strings.Contains(f.Detail, want.Detail) || !slices.Contains(f.Allowed, firstOf(want.Allowed)) && want.Allowed != nil {
					t.Errorf("fault %d:\ngot  %#v\nwant %#v", i, f, want)
				}
				if len(want.Allowed) > 1 && !slices.Equal(f.Allowed[:len(want.Allowed)], want.Allowed) {
					t.Errorf("fault %d: allowed %q, want %q", i, f.Allowed, want.Allowed)
				}
			}
		})
	}
}

func firstOf(s []string) string {
	if len(s) == 0 {
		return ""
	}
	return s[0]
}

func TestCheckFieldsOfKubeletConfiguration(t *testing.T) {
	check := func(members string) manifest.Checked {
		return manifest.CheckFields(parse(t, `{"kind":"KubeletConfiguration",`+members+`}`), "KubeletConfiguration", 36)
	}
	if c := check(`"crashLoopBackOff":{"maxContainerRestartPeriod":"60s"},"featureGates":{"KubeletCrashLoopBackOffMax":true},"syncFrequency":"1m"`); len(c.All) > 0 {
		t.Error(c.All)
	}
	for members, want := range map[string]policy.FieldError{
		`"crashLoopBackOff":{"maxContainerRestartPeriod":60}`:    {Path: "crashLoopBackOff.maxContainerRestartPeriod", Code: policy.CodeWrongType},
		`"crashLoopBackOff":{"maxContainerRestartPeriod":"60"}`:  {Path: "crashLoopBackOff.maxContainerRestartPeriod", Code: policy.CodeBadFormat},
		`"crashLoopBackoff":{"maxContainerRestartPeriod":"60s"}`: {Path: "crashLoopBackoff", Code: policy.CodeUnknownField},
		`"featureGates":{"A":"true"}`:                            {Path: "featureGates.A", Code: policy.CodeWrongType},
		`"memoryThrottlingFactor":1e309`:                         {Path: "memoryThrottlingFactor", Code: policy.CodeOutOfRange},
		`"syncFrequency":null`:                                   {Path: "syncFrequency", Code: policy.CodeBadFormat},
	} {
		c := check(members)
		if len(c.All) != 1 || c.All[0].Path != want.Path || c.All[0].Code != want.Code {
			t.Errorf("%s: got %v", members, c.All)
		}
	}
}

func TestCheckedParts(t *testing.T) {
	src := inPod(`"x":1,"hostname":5,"nodeName":[],"y":2,"overhead":{"cpu":"q"}`)
	c := manifest.CheckFields(parse(t, src), "Pod", 36)
	var faults, strict []string
	for _, f := range c.All {
		if f.Strict {
			strict = append(strict, f.Path)
		} else {
			faults = append(faults, f.Path)
		}
		if at := src[f.Offset:]; f.Strict && !strings.HasPrefix(at, `"`+strings.TrimPrefix(f.Path, "spec.")) {
			t.Errorf("%s is not at %s", f.Path, at)
		}
	}
	if !slices.Equal(faults, []string{"spec.hostname", "spec.nodeName", "spec.overhead.cpu"}) || !slices.Equal(strict, []string{"spec.x", "spec.y"}) {
		t.Errorf("faults %q, strict %q", faults, strict)
	}
	if len(c.Faults) != 3 || len(c.Strict) != 2 {
		t.Errorf("%d faults, %d strict", len(c.Faults), len(c.Strict))
	}
	// The quantity ends decoding, so that Kubernetes never comes to print the first of the others.
	if got := c.Message(true); !strings.HasPrefix(got, "quantities must match") {
		t.Error(got)
	}
	onlyStrict := manifest.CheckFields(parse(t, inPod(`"x":1,"y":2`)), "Pod", 36)
	if got := onlyStrict.Message(true); got != `strict decoding error: unknown field "spec.x", unknown field "spec.y"` {
		t.Error(got)
	}
	if got := onlyStrict.Message(false); got != "" {
		t.Error(got)
	}
	if got := manifest.CheckFields(parse(t, `{"a":1}`), "Node", 36); got.All != nil {
		t.Error("faults of an unknown kind")
	}
	if got := manifest.CheckFields(manifest.Value{}, "Pod", 36); got.All != nil {
		t.Error("faults of nothing")
	}
}

func TestCheckFieldsIsBounded(t *testing.T) {
	long := strings.Repeat("é", 10_000)
	tests := []struct {
		name, src      string
		faults, strict int
	}{
		{"exactly the limit", inPod(`"overhead":{` + members(policy.MaxFaults, "5x") + `}`), policy.MaxFaults, 0},
		{"one more", inPod(`"overhead":{` + members(policy.MaxFaults+1, "5x") + `}`), policy.MaxFaults + 1, 0},
		{"40 000 numbers in texts", inPod(`"containers":[{"restartPolicyRules":[{"exitCodes":{"values":["1"` + strings.Repeat(`,"1"`, 40_000) + `]}}]}]`), policy.MaxFaults + 1, 0},
		{"as many unknown fields as an object may have", `{` + members(policy.MaxMembers, "") + `}`, 0, policy.MaxFaults + 1},
		{"as many repeated fields", `{"spec":{}` + strings.Repeat(`,"spec":{}`, policy.MaxMembers-1) + `}`, 0, 1},
		{"long names and texts", inPod(`"` + long + `":1,"overhead":{"` + long + `":"` + long + `","` + long + `":[]},"hostname":5,"terminationGracePeriodSeconds":"` + long + `"`), 4, 2},
		{"long times and durations", `{"status":{"startTime":"` + long + `"},"metadata":{"deletionTimestamp":"` + long + `"}}`, 2, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := manifest.CheckFields(parse(t, test.src), "Pod", 36)
			if len(c.Faults) != test.faults || len(c.Strict) != test.strict {
				t.Errorf("%d faults and %d strict, want %d and %d", len(c.Faults), len(c.Strict), test.faults, test.strict)
			}
			for _, list := range [][]policy.FieldError{c.Faults, c.Strict} {
				if len(list) > policy.MaxFaults && list[policy.MaxFaults].Code != policy.CodeTooManyFaults {
					t.Error("the list is cut without a word")
				}
			}
			for _, f := range c.All {
				if n := max(len(f.Path), len(f.Detail)/2, len(f.Message)/8); n > 2*policy.MaxQuotedBytes {
					t.Errorf("a fault of %d, %d and %d bytes", len(f.Path), len(f.Detail), len(f.Message))
				}
			}
		})
	}
}

// members returns n members with different names, all with this text.
func members(n int, text string) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"k` + strconv.Itoa(i) + `":"` + text + `"`)
	}
	return b.String()
}

func TestKinds(t *testing.T) {
	for _, k := range manifest.Kinds() {
		for minor := policy.OldestMinor; minor <= policy.NewestMinor; minor++ {
			spec, end := `{"containers":[{"restartPolicy":"x","Restartpolicy":"x"}]}`, ""
			src := `{"apiVersion":"` + k.APIVersion + `","kind":"` + k.Kind + `"`
			path := "spec.containers[0].Restartpolicy"
			if k.Template != "" {
				path = k.Template + "." + path
				for name := range strings.SplitSeq(k.Template, ".") {
					src += `,"` + name + `":{"metadata":null`
					if name == "spec" {
						src = strings.TrimSuffix(src, `"metadata":null`) + `"suspend":null`
					}
					end += "}"
				}
			}
			c := manifest.CheckFields(parse(t, src+`,"spec":`+spec+end+`}`), k.Kind, minor)
			if len(c.Faults) > 0 || !slices.ContainsFunc(c.Strict, func(f policy.FieldError) bool { return f.Path == path }) {
				t.Errorf("%s in 1.%d: %v", k.Kind, minor, c.All)
			}
		}
	}
}

func FuzzCheckFields(f *testing.F) {
	for _, src := range []string{pod, inRule(`"when":1`), inPod(`"volumes":[{"x":1,"x":{}}]`), `{"logging":{"flushFrequency":1.5}}`, `{"a":null,"\u0061":[]}`, `5`} {
		f.Add([]byte(src), uint8(0), uint8(3))
	}
	kinds := append([]manifest.KindInfo{{Kind: "KubeletConfiguration"}}, manifest.Kinds()...)
	f.Fuzz(func(t *testing.T, src []byte, kind, minor uint8) {
		v, err := manifest.Parse(src)
		if err != nil {
			return
		}
		c := manifest.CheckFields(v, kinds[int(kind)%len(kinds)].Kind, policy.OldestMinor+int(minor)%5)
		if len(c.Faults)+len(c.Strict) != len(c.All) {
			t.Fatal("a fault is in no list")
		}
		for _, fault := range c.All {
			if fault.Offset < 0 || fault.Offset >= len(src) || fault.Code == "" || fault.Detail == "" {
				t.Fatalf("%+v", fault)
			}
			if found := v.Locate(fault.Path); fault.Message != "" && len(src) < policy.MaxQuotedBytes && found.Path(v) != fault.Path {
				t.Fatalf("%s leads to %s", fault.Path, found.Path(v))
			}
		}
		if (c.Message(true) == "") != (len(c.All) == 0) || (c.Message(false) == "") != (len(c.Faults) == 0) {
			t.Fatalf("%v but %q and %q", c.All, c.Message(true), c.Message(false))
		}
	})
}

func BenchmarkCheckFields(b *testing.B) {
	v := parse(b, pod)
	b.ReportAllocs()
	for b.Loop() {
		if len(manifest.CheckFields(v, "Pod", 37).All) != 0 {
			b.Fatal("faults")
		}
	}
}
