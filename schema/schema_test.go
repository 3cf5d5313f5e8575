package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/manifest"
	"github.com/podfate/podfate/policy/ops"
	"github.com/podfate/podfate/policy/policytest"
	"github.com/podfate/podfate/policy/simulate"
	"github.com/santhosh-tekuri/jsonschema/v5"
)

// TestMain looks after all tests whether anything asked for a schema that is not embedded.
func TestMain(m *testing.M) {
	code := m.Run()
	if n := refusedLoads.Load(); n != 0 && code == 0 {
		fmt.Println(n, "references to schemas that are not embedded")
		code = 1
	}
	os.Exit(code)
}

func TestSchemasCompile(t *testing.T) {
	if _, err := compiled(); err != nil {
		t.Fatal(err)
	}
	if n := len(Names()); n < 10 {
		t.Errorf("only %d schemas", n)
	}
	for url, raw := range rawSchemas() {
		object := raw.(map[string]any)
		if object["$id"] != url {
			t.Errorf("%s has the $id %v", url, object["$id"])
		}
		if object["$schema"] != "https://json-schema.org/draft/2020-12/schema" {
			t.Errorf("%s has the $schema %v", url, object["$schema"])
		}
	}
	for _, op := range ops.Table() {
		for _, part := range []string{"-request", "-answer"} {
			if !slices.Contains(Names(), op.Name+part) {
				t.Errorf("operation %s has no schema %s", op.Name, op.Name+part)
			}
		}
	}
}

// Descriptions become hints in editors: every schema, and every member that a schema names, has
// one, directly or where it refers to.
func TestEverythingIsDescribed(t *testing.T) {
	for url, raw := range rawSchemas() {
		object := raw.(map[string]any)
		if object["title"] == nil || object["description"] == nil {
			t.Errorf("%s has no title or no description", url)
		}
		eachObject(raw, "", func(path string, o map[string]any) {
			properties, ok := o["properties"].(map[string]any)
			if !ok || strings.Contains(path, "/if") || strings.Contains(path, "/then") || strings.Contains(path, "/else") {
				return
			}
			for name, p := range properties {
				if property := p.(map[string]any); property["description"] == nil && property["$ref"] == nil {
					t.Errorf("%s%s: %s has no description", url, path, name)
				}
			}
		})
	}
}

// eachObject calls f for every object of v, outer ones first.
func eachObject(v any, path string, f func(path string, o map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		f(path, v)
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if name != "examples" && name != "const" && name != "enum" {
				eachObject(v[name], path+"/"+name, f)
			}
		}
	case []any:
		for i, e := range v {
			eachObject(e, fmt.Sprint(path, "/", i), f)
		}
	}
}

// A pattern with one repetition inside another takes exponential time in JavaScript, where the
// schemas are used too.
func TestPatternsHaveNoNestedRepetition(t *testing.T) {
	var nested func(re *syntax.Regexp, inside bool) bool
	nested = func(re *syntax.Regexp, inside bool) bool {
		repeats := re.Op == syntax.OpStar || re.Op == syntax.OpPlus || re.Op == syntax.OpRepeat && re.Max != re.Min && re.Max != 1
		if repeats && inside {
			return true
		}
		return slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return nested(sub, inside || repeats) })
	}
	seen := 0
	for url, raw := range rawSchemas() {
		eachObject(raw, "", func(path string, o map[string]any) {
			pattern, ok := o["pattern"].(string)
			if !ok {
				return
			}
			seen++
			re, err := syntax.Parse(pattern, syntax.Perl)
			if err != nil || nested(re, false) {
				t.Errorf("%s%s: pattern %s: nested repetition, or %v", url, path, pattern, err)
			}
			if !strings.HasPrefix(pattern, "^") || !strings.HasSuffix(pattern, "$") {
				t.Errorf("%s%s: pattern %s is not anchored", url, path, pattern)
			}
		})
	}
	if re, _ := syntax.Parse("^(a+)+$", syntax.Perl); seen == 0 || !nested(re, false) {
		t.Error("this test finds nothing")
	}
}

// Nothing but embedded schemas is ever opened.
func TestReferencesOutsideAreRefused(t *testing.T) {
	before := refusedLoads.Load()
	if before != 0 {
		t.Errorf("%d references were refused before this test", before)
	}
	for _, ref := range []string{"file:///etc/passwd", "http://127.0.0.1:1/x.json", "https://example.com/x.json", BaseURL + "absent" + Suffix, BaseURL + "../limits.go"} {
		c := newCompiler()
		text := `{"$id": "https://podfate.dev/test.json", "$ref": "` + ref + `"}`
		if err := c.AddResource("https://podfate.dev/test.json", strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
		_, err := c.Compile("https://podfate.dev/test.json")
		if err == nil || strings.Contains(err.Error(), "root:") {
			t.Errorf("%s: %v", ref, err)
		}
	}
	if n := refusedLoads.Load() - before; n != 5 {
		t.Errorf("%d references refused, want 5", n)
	}
	refusedLoads.Store(before)
}

func TestValidateUnknownSchema(t *testing.T) {
	if err := Validate("nonsense", []byte("{}")); !errors.Is(err, ErrUnknownSchema) {
		t.Error(err)
	}
}

func TestValidateFaults(t *testing.T) {
	const pod = `"manifest":{"apiVersion":"v1","kind":"Pod"}`
	for _, c := range []struct {
		name, schema, text string
		want               string // code path line:column of the first fault
	}{
		{"unknown member", "decide-request", "{\n \"x\": 1," + pod + `,"exits":[{"exitCode":1}]}`, "unknown_field x 2:2"},
		{"missing member", "decide-request", "{" + pod + "}", "required exits 1:1"},
		{"missing member of an element", "decide-request", "{" + pod + `,"exits":[{"exitCode":1},{}]}`, "required exits[1].exitCode 1:70"},
		{"wrong type", "decide-request", "{" + pod + `,"exits":[{"exitCode":"é","x":1}]}`, "wrong_type exits[0].exitCode 1:67"},
		{"out of range", "decide-request", "{" + pod + `,"exits":[{"exitCode":3000000000}]}`, "out_of_range exits[0].exitCode 1:67"},
		{"empty list", "decide-request", "{" + pod + `,"exits":[]}`, "required exits 1:54"},
		{"version as a number", "validate-request", "{" + pod + `,"cluster":{"version":1.36}}`, "wrong_type cluster.version 1:67"},
		{"unknown version", "validate-request", "{" + pod + `,"cluster":{"version":"1.32"}}`, "bad_format cluster.version 1:67"},
		{"gate that is no boolean", "validate-request", "{" + pod + `,"cluster":{"featureGates":{"a.b/c":"on"}}}`, `wrong_type cluster.featureGates["a.b/c"] 1:81`},
		{"unknown word", "validate-request", "{" + pod + `,"fieldValidation":"strict"}`, "unsupported_value fieldValidation 1:64"},
		{"constant", "scenario", `{"apiVersion":"v1","kind":"Scenario"}`, "unsupported_value apiVersion 1:15"},
		{"none of several forms", "decide-answer", `{"decisions":[{"container":"a","exitCode":1,"trace":[]}],"dropped":[],"warnings":[],"cluster":{"version":"1.37","featureGates":{}}}`, "invalid_value decisions[0] 1:15"},
		{"name twice", "validate-request", "{" + pod + "," + pod + "}", "duplicate_key manifest 1:46"},
		{"not JSON", "validate-request", "{a: 1}", "json_syntax  1:2"},
		{"not UTF-8", "validate-request", "{\"\xff\":1}", "bad_utf8  1:3"},
		{"number without an end", "decide-request", "{" + pod + `,"exits":[{"exitCode":1e309}]}`, "out_of_range exits[0].exitCode 1:67"},
		{"exponent of a million", "decide-request", "{" + pod + `,"exits":[{"exitCode":1e1000001}]}`, "limit.number_exponent  1:67"},
		{"exponent of a milliard", "decide-request", "{" + pod + `,"exits":[{"exitCode":1e999999999}]}`, "limit.number_exponent  1:67"},
		{"a kilobyte of huge exponents", "decide-request", `{"exits":[` + repeat("1e1000000,", 1000) + `1]}`, "limit.number_exponent  1:11"},
		{"a long number", "decide-request", `{"exits":[1` + repeat("0", 100) + `]}`, "limit.number_bytes  1:11"},
		{"65 levels", "validate-request", levels(65), "limit.depth  1:65"},
	} {
		t.Run(c.name, func(t *testing.T) {
			faults, ok := Validate(c.schema, []byte(c.text)).(Faults)
			if !ok || len(faults) == 0 {
				t.Fatal("accepted")
			}
			f := faults[0]
			if got := fmt.Sprintf("%s %s %d:%d", f.Code, f.Path, f.Line, f.Column); got != c.want {
				t.Errorf("got  %s (%s)\nwant %s", got, f.Detail, c.want)
			}
			checkFaults(t, faults)
		})
	}
}

// The library reports in the order of Go's maps; what comes out of here is sorted, cut and capped.
func TestValidateIsSteadyAndBounded(t *testing.T) {
	var members strings.Builder
	for i := range policy.MaxMembers - 10 {
		fmt.Fprintf(&members, "\"member %d %s\": [],", i, strings.Repeat("é", 100))
	}
	text := []byte("{" + members.String() + `"exits": [{"a":1,"b":2},{"exitCode":""},{"c":{}}]}`)
	first := ""
	for range 20 {
		err := Validate("decide-request", text)
		faults := err.(Faults)
		payload := string(faults.Payload())
		if len(payload) > MaxPayloadBytes || len(faults) != MaxFaults+1 || faults[MaxFaults].Code != policy.CodeTooManyFaults {
			t.Fatalf("%d faults in %d bytes", len(faults), len(payload))
		}
		if first == "" {
			first = payload
		} else if payload != first {
			t.Fatalf("another list of faults:\n%s\n%s", payload, first)
		}
	}
	small := []byte(`{"z":1,"y":2,"exits":[{"b":1,"a":2,"exitCode":"x","reason":[],"container":{}}],"cluster":{"version":1,"featureGates":[]},"fieldValidation":7}`)
	first = Validate("decide-request", small).(Faults).Error()
	for range 1000 {
		if got := Validate("decide-request", small).(Faults).Error(); got != first {
			t.Fatalf("another order: %s, %s", got, first)
		}
	}
}

// The schemas name versions, gates, kinds and limits; the core is where these come from.
func TestSchemasKnowWhatTheCoreKnows(t *testing.T) {
	examples := func(name string, path ...string) []string {
		at := rawSchemas()[BaseURL+name+Suffix]
		for _, key := range path {
			at = at.(map[string]any)[key]
		}
		if object, ok := at.(map[string]any); ok {
			return slices.Sorted(maps.Keys(object))
		}
		return texts(at)
	}
	if got := examples("cluster", "properties", "version", "examples"); !slices.Equal(got, policy.Versions()) {
		t.Errorf("versions %v, the core has %v", got, policy.Versions())
	}
	if got := examples("cluster", "properties", "version", "default"); got[0] != policy.VersionName(policy.DefaultMinor) {
		t.Errorf("default version %v", got)
	}
	for minor := policy.OldestMinor - 2; minor <= policy.NewestMinor+2; minor++ {
		for _, form := range []string{"%s", "v%s", "%s.3", "v%s.3+k3s1", "%s.", "%sx", "1%s", "%s.x", " %s"} {
			version := fmt.Sprintf(form, policy.VersionName(minor))
			text, _ := json.Marshal(map[string]any{"version": version})
			if _, known := policy.ParseVersion(version); known != (Validate("cluster", text) == nil) {
				t.Errorf("version %q: known to the core: %v", version, known)
			}
		}
	}
	var gates []string
	for _, g := range policy.Gates() {
		gates = append(gates, g.Name)
	}
	slices.Sort(gates)
	if got := examples("cluster", "$defs", "featureGates", "properties"); !slices.Equal(got, gates) {
		t.Errorf("gates %v, the core has %v", got, gates)
	}
	var kinds []string
	for _, k := range manifest.Kinds() {
		kinds = append(kinds, k.Kind)
	}
	if got := examples("manifest", "$defs", "kinds", "enum"); !slices.Equal(got, kinds) {
		t.Errorf("kinds %v, the core has %v", got, kinds)
	}
	if got := examples("request", "$defs", "exits", "maxItems"); got[0] != fmt.Sprint(policy.MaxExits) {
		t.Errorf("at most %v exits, the core reads %d", got, policy.MaxExits)
	}
	events := slices.Concat(simulate.EventTypes(), simulate.OutsideTypes())
	// The last one is null, which only a null in the request can be.
	if got := examples("simulate-request", "$defs", "event", "properties", "type", "enum"); !slices.Equal(got, events) {
		t.Errorf("events %v, the core has %v", got, events)
	}
	for _, limit := range []struct {
		core int
		path []string
	}{
		{simulate.MaxEvents, []string{"simulate-request", "properties", "events", "maxItems"}},
		{simulate.MaxRuns, []string{"simulate-request", "properties", "runs", "additionalProperties", "maxItems"}},
		{policy.MaxCurveWindows, []string{"curve-request", "properties", "windows", "maxItems"}},
		{policy.MaxCurveFactor, []string{"request", "$defs", "series", "properties", "factor", "maximum"}},
		{policy.MaxWaits, []string{"request", "$defs", "series", "properties", "waits", "maxItems"}},
		{policy.MaxCurveStarts, []string{"curve-answer", "properties", "starts", "maxItems"}},
	} {
		if got := examples(limit.path[0], limit.path[1:]...); got[0] != fmt.Sprint(limit.core) {
			t.Errorf("%v is %v, the core has %d", limit.path, got, limit.core)
		}
	}
	if got := examples("answer", "$defs", "faults", "maxItems"); got[0] != fmt.Sprint(policy.MaxFaults+1) {
		t.Errorf("at most %v faults, the core writes %d", got, policy.MaxFaults+1)
	}
}

// A Scenario may have every member that an operation reads.
func TestScenariosHaveTheMembersOfAllRequests(t *testing.T) {
	properties := func(name string) map[string]any {
		s, ok := rawSchemas()[BaseURL+name+Suffix].(map[string]any)
		if !ok {
			t.Errorf("there is no schema %s", name)
			return nil
		}
		members, _ := s["properties"].(map[string]any)
		return members
	}
	scenario := properties("scenario")
	seen := map[string]bool{}
	for _, op := range ops.Table() {
		for name := range properties(op.Name + "-request") {
			if name == "request" || op.Name == "explain" && (name == "error" || name == "warnings") {
				continue // the rest of the Scenario
			}
			seen[name] = true
			if scenario[name] == nil {
				t.Errorf("%s has a member %s, a Scenario has none", op.Name, name)
			}
		}
	}
	for name := range scenario {
		if !seen[name] {
			t.Errorf("no operation reads %s", name)
		}
	}
}

// closedSchemas are the schemas with every object closed: a member that is not described does not
// fit. Published they are open, since later releases may add members.
func closedSchemas(t *testing.T) map[string]*jsonschema.Schema {
	t.Helper()
	c := newCompiler()
	for _, name := range Names() {
		text, err := fs.ReadFile(FS(), name+Suffix)
		if err != nil {
			t.Fatal(err)
		}
		var raw any
		if err := json.Unmarshal(text, &raw); err != nil {
			t.Fatal(err)
		}
		eachObject(raw, "", func(path string, o map[string]any) {
			last := path[strings.LastIndexByte(path, '/')+1:]
			if o["properties"] != nil && o["additionalProperties"] == nil && last != "if" && last != "then" && last != "else" && last != "properties" {
				o["additionalProperties"] = false
			}
		})
		closed, _ := json.Marshal(raw)
		if err := c.AddResource(BaseURL+name+Suffix, strings.NewReader(string(closed))); err != nil {
			t.Fatal(err)
		}
	}
	schemas := make(map[string]*jsonschema.Schema)
	for _, name := range Names() {
		if strings.HasSuffix(name, "-answer") || name == "error" {
			schemas[name] = c.MustCompile(BaseURL + name + Suffix)
		}
	}
	return schemas
}

// Every answer of the core to the corpus, and every error, fits its schema, and has no member that
// is not described.
func TestAnswersFitTheirSchemas(t *testing.T) {
	cases, err := policytest.Cases()
	if err != nil {
		t.Fatal(err)
	}
	closed := closedSchemas(t)
	check := func(what, name string, answer []byte) {
		if err := validate(closed[name], answer); err != nil {
			t.Errorf("%s: %v\n%s", what, err, answer)
		}
	}
	explain, _ := ops.Lookup("explain")
	seen := map[string]int{}
	one := func(what string, op ops.Operation, request []byte) {
		answer, failed := ops.Call(op.Number, request)
		seen[fit(op.Name, failed)]++
		check(what, fit(op.Name, failed), answer)
	}
	for _, c := range policytest.Sample(t, 3, cases) {
		one(c.Name, c.Operation, c.Request)
		if json.Valid(c.Request) {
			one(c.Name+", explained", explain, Explain(c.Operation.Name, c.Request))
		}
		if c.Operation.Name == "decide" { // the same with a compiled policy
			p, answer := ops.Compile(withoutExits(t, c.Request), 4096, policy.MaxHandleBytes)
			seen[fit("compile", p == nil)]++
			check(c.Name, fit("compile", p == nil), answer)
			root, _ := manifest.Parse(c.Request)
			for e := root.Get("exits").First(); p != nil && e.Exists(); e = e.Next() {
				answer, failed := p.Eval(e.Raw())
				seen[fit("eval", failed)]++
				check(c.Name, fit("eval", failed), answer)
			}
		}
	}
	for _, op := range ops.Table() {
		for _, request := range []string{"{}", "", "[]", `{"x":1}`, `{"module":{"sha256":"` + repeat("a", 64) + `","bytes":1}}`, levels(65), "\xff", `{"cluster":{"version":"1.2"}}`} {
			one(op.Name+" "+request, op, []byte(request))
		}
	}
	for _, bomb := range bombs {
		if _, err := Decode([]byte(bomb.text)); err != nil {
			check(bomb.name, "error", err.(Faults).Payload())
		}
	}
	for _, name := range slices.Sorted(maps.Keys(closed)) {
		if seen[name] == 0 {
			t.Errorf("no answer of %s was seen", name)
		}
	}
	t.Log(seen)
}

// fit is the schema of an answer.
func fit(name string, failed bool) string {
	if failed {
		return "error"
	}
	return name + "-answer"
}

// withoutExits makes a request of pf_compile of one of decide.
func withoutExits(t *testing.T, request []byte) []byte {
	t.Helper()
	root, err := manifest.Parse(request)
	if err != nil || root.Kind() != manifest.Object {
		return request
	}
	members := map[string]json.RawMessage{}
	for m := root.First(); m.Exists(); m = m.Next() {
		if name := m.Key(); name != "exits" && name != "pods" {
			members[name] = m.Raw()
		}
	}
	text, jsonErr := json.Marshal(members)
	if jsonErr != nil {
		t.Fatal(jsonErr)
	}
	return text
}

// The examples in the schemas are requests that the core answers.
func TestExamplesWork(t *testing.T) {
	for _, op := range ops.Table() {
		raw := rawSchemas()[BaseURL+op.Name+"-request"+Suffix].(map[string]any)
		examples, _ := raw["examples"].([]any)
		if len(examples) == 0 {
			t.Errorf("%s has no example", op.Name)
		}
		for _, example := range examples {
			text, _ := json.Marshal(example)
			if err := Validate(op.Name+"-request", text); err != nil {
				t.Errorf("%s: %v", text, err)
			}
			if answer, failed := ops.Call(op.Number, text); failed {
				t.Errorf("%s: %s", text, answer)
			}
		}
	}
}

func FuzzValidate(f *testing.F) {
	f.Add("decide-request", []byte(`{"manifest":{"apiVersion":"v1","kind":"Pod"},"exits":[{"exitCode":1e2}]}`))
	f.Add("manifest", []byte(`{"apiVersion":"v1","kind":"Pod","spec":{"containers":[{"restartPolicyRules":[{"exitCodes":{"values":[1,2.5,-0,1e308]}}]}]}}`))
	f.Add("cluster", []byte(`{"version":"v1.36.3+k3s1","featureGates":{"a":true}}`))
	f.Add("problem", []byte(`{"type":"urn:podfate:problem:X","status":1e309}`))
	f.Fuzz(func(t *testing.T, name string, text []byte) {
		switch err := Validate(name, text).(type) {
		case nil, Faults:
			if faults, ok := err.(Faults); ok {
				checkFaults(t, faults)
			}
		default:
			if !errors.Is(err, ErrUnknownSchema) {
				t.Fatal(err)
			}
		}
	})
}
