package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/manifest"
	"github.com/podfate/podfate/policy/ops"
	"github.com/podfate/podfate/policy/policytest"
)

const podYAML = `# a comment
apiVersion: v1
kind: Pod
metadata:
  name: trainer
spec:
  restartPolicy: Never
  containers:
  - name: main
    image: trainer:1
    restartPolicy: Never
    restartPolicyRules:
    - action: Restart
      exitCodes: {operator: In, values: [42]}
`

const podJSON = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"name":"main","image":"x"}]}}`

const kubeletYAML = `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
crashLoopBackOff: {maxContainerRestartPeriod: 60s}
featureGates: {KubeletCrashLoopBackOffMax: true}
`

const scenarioYAML = `apiVersion: podfate.dev/v1
kind: Scenario
cluster: {version: "1.36"}
exits: [{container: main, exitCode: 42}]
`

func mustDecode(t *testing.T, texts ...string) []*Document {
	t.Helper()
	var docs []*Document
	for i, text := range texts {
		name := ""
		if len(texts) > 1 {
			name = fmt.Sprintf("file%d", i+1)
		}
		more, err := DecodeNamed(name, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		docs = append(docs, more...)
	}
	return docs
}

func TestNewRequest(t *testing.T) {
	pod := `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"trainer"},"spec":{"containers":[{"image":"trainer:1","name":"main","restartPolicy":"Never","restartPolicyRules":[{"action":"Restart","exitCodes":{"operator":"In","values":[42]}}]}],"restartPolicy":"Never"}}`
	kubelet := `{"apiVersion":"kubelet.config.k8s.io/v1beta1","crashLoopBackOff":{"maxContainerRestartPeriod":"60s"},"featureGates":{"KubeletCrashLoopBackOffMax":true},"kind":"KubeletConfiguration"}`
	for _, c := range []struct {
		name, text string
		o          Overrides
		want       string
	}{
		{"a manifest", podYAML, Overrides{}, `{"manifest":` + pod + `}`},
		{"a manifest and flags", podYAML,
			Overrides{Version: "1.35", FeatureGates: map[string]bool{"B": false, "A": true}, FieldValidation: "Warn", Exits: []Exit{{Container: "main", ExitCode: 137, Reason: "OOMKilled"}, {ExitCode: -1}}},
			`{"cluster":{"version":"1.35","featureGates":{"A":true,"B":false}},"fieldValidation":"Warn","manifest":` + pod + `,"exits":[{"container":"main","exitCode":137,"reason":"OOMKilled"},{"exitCode":-1}]}`},
		{"a stream", podYAML + "---\n" + kubeletYAML + "---\n" + scenarioYAML, Overrides{},
			`{"apiVersion":"podfate.dev/v1","cluster":{"version":"1.36","kubeletConfiguration":` + kubelet + `},"exits":[{"container":"main","exitCode":42}],"kind":"Scenario","manifest":` + pod + `}`},
		{"a Scenario and flags", scenarioYAML + "---\n" + podYAML,
			Overrides{Version: "1.37", FeatureGates: map[string]bool{"A": true}, Exits: []Exit{{ExitCode: 1}}},
			`{"apiVersion":"podfate.dev/v1","cluster":{"version":"1.37","featureGates":{"A":true}},"exits":[{"container":"main","exitCode":42},{"exitCode":1}],"kind":"Scenario","manifest":` + pod + `}`},
		{"gates are replaced by name", "cluster: {featureGates: {A: true, B: true}}", Overrides{FeatureGates: map[string]bool{"B": false, "C": true}},
			`{"cluster":{"featureGates":{"A":true,"B":false,"C":true}}}`},
		{"flags of the node", "cluster: {version: '1.36'}", Overrides{Kubelet: NodeOverrides{Version: "1.34", FeatureGates: map[string]bool{"B": true, "A": false}}},
			`{"cluster":{"version":"1.36","kubelet":{"version":"1.34","featureGates":{"A":false,"B":true}}}}`},
		{"a node and flags", "cluster: {kubelet: {featureGates: {A: true, B: true}, version: '1.35'}}", Overrides{Kubelet: NodeOverrides{Version: "1.34", FeatureGates: map[string]bool{"B": false}}},
			`{"cluster":{"kubelet":{"featureGates":{"A":true,"B":false},"version":"1.34"}}}`},
		{"a gate of the node that the API server has not", "cluster: {featureGates: {KubeletCrashLoopBackOffMax: false}, kubelet: {version: '1.35'}}\n---\n" + kubeletYAML, Overrides{},
			`{"cluster":{"featureGates":{"KubeletCrashLoopBackOffMax":false},"kubelet":{"version":"1.35"},"kubeletConfiguration":` + kubelet + `}}`},
		{"further members", podYAML, Overrides{Members: map[string]json.RawMessage{"until": json.RawMessage(`"30m"`), "exits": json.RawMessage(`[]`)}},
			`{"manifest":` + pod + `,"exits":[],"until":"30m"}`},
		{"a List of one", "apiVersion: v1\nkind: List\nitems:\n- " + strings.ReplaceAll(strings.TrimPrefix(podYAML, "# a comment\n"), "\n", "\n  "), Overrides{}, `{"manifest":` + pod + `}`},
		{"a JSON manifest stays as it is", " " + podJSON + "\n", Overrides{Exits: []Exit{{ExitCode: 1}}}, `{"manifest":` + podJSON + `,"exits":[{"exitCode":1}]}`},
		{"a JSON request stays as it is", ` {"exits" : [ ], "manifest":{} } ` + "\n", Overrides{}, ` {"exits" : [ ], "manifest":{} } ` + "\n"},
		{"a JSON Scenario stays as it is", `{"kind":"Scenario","x":1,"x":2}`, Overrides{}, `{"kind":"Scenario","x":1,"x":2}`},
		{"a YAML request", "manifest: {}\nexits: []\n", Overrides{}, `{"exits":[],"manifest":{}}`},
		{"what is not JSON is for the core", `{"manifest": {`, Overrides{}, `{"manifest": {`},
		{"an empty object", "{}", Overrides{}, "{}"},
		{"members that are there twice stay there", `{"exits":[],"exits":[1]}`, Overrides{Version: "1.36"}, `{"exits":[],"exits":[1],"cluster":{"version":"1.36"}}`},
		{"a manifest of null", "kind: Scenario\nmanifest: null\n---\n" + podYAML, Overrides{}, `{"kind":"Scenario","manifest":` + pod + `}`},
		{"no kind, but an apiVersion: the core asks for it", "apiVersion: v1\nspec: {}\n", Overrides{}, `{"manifest":{"apiVersion":"v1","spec":{}}}`},
		{"an apiVersion that does not fit: the core says so", "apiVersion: v2\nkind: Pod\n", Overrides{}, `{"manifest":{"apiVersion":"v2","kind":"Pod"}}`},
		{"objects of JSON after one another", podJSON + "\n{\"exits\":[]}", Overrides{}, `{"exits":[],"manifest":` + podJSON + `}`},
		{"JSON and then YAML", podJSON + "\n---\nexits: []\n", Overrides{}, `{"exits":[],"manifest":` + podJSON + `}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := Read([]byte(c.text), c.o)
			if err != nil {
				t.Fatal(err)
			}
			if string(r.JSON()) != c.want {
				t.Errorf("got  %s\nwant %s", r.JSON(), c.want)
			}
		})
	}
}

// What a Scenario says about time reaches the core as it is, next to a manifest or without one.
func TestScenariosOverTime(t *testing.T) {
	const head = "apiVersion: podfate.dev/v1\nkind: Scenario\n"
	for _, c := range []struct {
		name, operation, text string
		want                  string // a part of the request
		path                  string // of the request
		line                  int
	}{
		{
			"runs beside a Pod", "simulate", podYAML + "---\n" + head + "runs:\n  main: [{for: 10s, exitCode: 42, times: forever}]\n" +
				"events:\n- {at: 5m, type: Deleted}\ntiming: {detection: 1s}\nuntil: 10m\n",
			`"runs":{"main":[{"exitCode":42,"for":"10s","times":"forever"}]},"timing":{"detection":"1s"},"until":"10m"`, "events[0].type", 21,
		},
		{
			"a curve by itself", "curve", head + "backoff: {initial: 1s, factor: 3}\nrun: {for: 10s}\nmodel: documented\nwindows: [5m]\noutage: {until: 7m}\nuntil: 1h\n",
			`"backoff":{"factor":3,"initial":"1s"}`, "windows[0]", 6,
		},
		{
			"a curve of a node", "curve", kubeletYAML + "---\n" + head + "run: {for: 10s}\nsweep: 0s\n",
			`"run":{"for":"10s"},"sweep":"0s","cluster":{"kubeletConfiguration":{`, "run.for", 8,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := Read([]byte(c.text), Overrides{})
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(r.JSON()), c.want) {
				t.Errorf("%s\nhas no %s", r.JSON(), c.want)
			}
			if _, line, _ := r.Position(c.path); line != c.line {
				t.Errorf("%s is in line %d, want %d", c.path, line, c.line)
			}
			op, _ := ops.Lookup(c.operation)
			if answer, failed := ops.Call(op.Number, r.JSON()); failed {
				t.Errorf("%s", answer)
			}
		})
	}
}

func TestNoDocumentsAndNoOverrides(t *testing.T) {
	r, err := NewRequest(nil, Overrides{})
	if err != nil || string(r.JSON()) != "{}" {
		t.Errorf("%v, %v", r, err)
	}
	if answer, failed := ops.Call(1, r.JSON()); failed {
		t.Errorf("%s", answer)
	}
}

func TestNewRequestFaults(t *testing.T) {
	for _, c := range []struct {
		name, text string
		o          Overrides
		want       string // code path line:column, for each fault
	}{
		{"two manifests", podYAML + "---\n" + podYAML, Overrides{}, "several_manifests  17:1"},
		{"a manifest and one in the Scenario", "kind: Scenario\nmanifest: {kind: Pod}\n---\n" + podYAML, Overrides{}, "several_manifests  5:1"},
		{"a List of two", "apiVersion: v1\nkind: List\nitems:\n- {kind: Pod}\n- {kind: Job}\n", Overrides{}, "several_manifests  5:3"},
		{"a List of nothing", "apiVersion: v1\nkind: List\nitems: []\n", Overrides{}, "empty_list items 1:1"},
		{"a List that is none", "apiVersion: v1\nkind: List\nitems: {}\n", Overrides{}, "wrong_type items 3:8"},
		{"a List of another version", "apiVersion: v2\nkind: List\nitems: [{kind: Pod}]\n", Overrides{}, "unsupported_version apiVersion 1:13"},
		{"a List with something else", "apiVersion: v1\nkind: List\nitems:\n- {kind: Pod}\n- {kind: Service}\n- 7\n", Overrides{}, "unknown_kind kind 5:10, not_an_object items[2] 6:3"},
		{"an unknown kind", "apiVersion: v1\nkind: Service\n", Overrides{}, "unknown_kind kind 2:7"},
		{"a kind that is no text", "apiVersion: v1\nkind: [Pod]\n", Overrides{}, "unknown_kind kind 2:7"},
		{"a text", "hello\n", Overrides{}, "not_an_object  1:1"},
		{"a list", "- 1\n", Overrides{}, "not_an_object  1:1"},
		{"two Scenarios", scenarioYAML + "---\n" + scenarioYAML, Overrides{}, "several_requests  6:1"},
		{"two kubelets", kubeletYAML + "---\n" + kubeletYAML, Overrides{}, "several_kubelets  6:1"},
		{"a kubelet and one in the Scenario", "cluster: {kubeletConfiguration: {}}\n---\n" + kubeletYAML, Overrides{}, "several_kubelets cluster.kubeletConfiguration 3:1"},
		{"a kubelet of another version", "apiVersion: kubelet.config.k8s.io/v1\nkind: KubeletConfiguration\n", Overrides{}, "unsupported_version apiVersion 1:13"},
		{"a gate of the node and of the cluster", "cluster: {featureGates: {KubeletCrashLoopBackOffMax: false}}\n---\n" + kubeletYAML, Overrides{}, "conflict cluster.kubeletConfiguration.featureGates.KubeletCrashLoopBackOffMax 6:44"},
		{"a gate of the node and of a flag", kubeletYAML, Overrides{FeatureGates: map[string]bool{"KubeletCrashLoopBackOffMax": false}}, "conflict cluster.kubeletConfiguration.featureGates.KubeletCrashLoopBackOffMax 4:44"},
		{"a node's gate and a flag of the node", kubeletYAML, Overrides{Kubelet: NodeOverrides{FeatureGates: map[string]bool{"KubeletCrashLoopBackOffMax": false}}}, "conflict cluster.kubeletConfiguration.featureGates.KubeletCrashLoopBackOffMax 4:44"},
		{"a node's gate and the node", "cluster: {kubelet: {featureGates: {KubeletCrashLoopBackOffMax: false}}}\n---\n" + kubeletYAML, Overrides{}, "conflict cluster.kubeletConfiguration.featureGates.KubeletCrashLoopBackOffMax 6:44"},
		{"a kubelet and a node with its own", "cluster: {kubelet: {kubeletConfiguration: {}}}\n---\n" + kubeletYAML, Overrides{}, "several_kubelets cluster.kubeletConfiguration 3:1"},
		{"a node that cannot be changed", "cluster: {kubelet: 7}\n", Overrides{Kubelet: NodeOverrides{Version: "1.36"}}, "wrong_type cluster.kubelet 1:20"},
		{"a cluster that cannot be changed", "cluster: 7\n", Overrides{Version: "1.36"}, "wrong_type cluster 1:10"},
		{"exits that cannot be added to", "exits: {}\n", Overrides{Exits: []Exit{{}}}, "wrong_type exits 1:8"},
		{"a member and a flag", podYAML, Overrides{Version: "1.36", Members: map[string]json.RawMessage{"cluster": json.RawMessage("{}"), "manifest": json.RawMessage("{}"), "b": json.RawMessage("{")}}, "json_syntax b 0:0, conflict cluster 0:0, conflict manifest 0:0"},
		{"broken JSON and a flag", `{"a": 1`, Overrides{Version: "1.36"}, "json_syntax  1:8"},
		{"broken JSON after two objects", "{}\n{}\n{", Overrides{}, "json_syntax  2:3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Read([]byte(c.text), c.o)
			faults, _ := err.(Faults)
			var got []string
			for _, f := range faults {
				got = append(got, fmt.Sprintf("%s %s %d:%d", f.Code, f.Path, f.Line, f.Column))
			}
			if strings.Join(got, ", ") != c.want {
				t.Errorf("got  %v (%v)\nwant %s", got, err, c.want)
			}
			if err := validateError(t, faults.Payload()); err != nil {
				t.Error(err)
			}
		})
	}
}

func validateError(t *testing.T, payload []byte) error {
	t.Helper()
	return validate(closedSchemas(t)["error"], payload)
}

func TestUnknownKindNamesContainersThatAreNotRead(t *testing.T) {
	docs, err := Decode([]byte("apiVersion: kubernetes.dask.org/v1\nkind: DaskCluster\nspec: {worker: {spec: {containers: [{name: w, image: i}]}}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = NewRequest(docs, Overrides{})
	if err == nil || !strings.Contains(err.Error(), "it holds no Pod template; spec.worker.spec.containers is a container without a Pod, which is not read") {
		t.Errorf("%v", err)
	}
}

func TestUnknownKindNamesWhatIsSupported(t *testing.T) {
	_, err := Read([]byte("apiVersion: v1\nkind: Service\n"), Overrides{})
	allowed := strings.Join(err.(Faults)[0].Allowed, ", ")
	for _, kind := range []string{"v1 Pod", "apps/v1 StatefulSet", "v1 List", "podfate.dev/v1 Scenario", "kubelet.config.k8s.io/v1beta1 KubeletConfiguration"} {
		if !strings.Contains(allowed, kind) {
			t.Errorf("%s is not in %s", kind, allowed)
		}
	}
}

func TestNewRequests(t *testing.T) {
	docs := mustDecode(t, podYAML+"---\n"+scenarioYAML, `{"apiVersion":"v1","kind":"List","items":[`+podJSON+`,{"kind":"Job"}]}`)
	requests, err := NewRequests(docs, Overrides{Version: "1.35"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range requests {
		kind, name, source, line, column := r.Manifest()
		got = append(got, fmt.Sprintf("%s %s %s:%d:%d", kind, name, source, line, column))
		root, err := manifest.Parse(r.JSON())
		if err != nil || root.Get("cluster").Get("version").Str() != "1.35" || root.Get("exits").Len() != 1 {
			t.Errorf("%s: %v", r.JSON(), err)
		}
	}
	if want := "Pod trainer file1:2:1, Pod p file2:1:43, Job  file2:1:" + fmt.Sprint(44+len(podJSON)); strings.Join(got, ", ") != want {
		t.Errorf("got  %v\nwant %s", got, want)
	}
	if _, err := NewRequest(docs, Overrides{}); err == nil || !strings.HasPrefix(err.Error(), "file2:1:43: a second manifest") {
		t.Error(err)
	}
	many := "apiVersion: v1\nkind: List\nitems:\n" + repeat("- {kind: Pod}\n", 65*14)
	if requests, err := NewRequests(mustDecode(t, many), Overrides{}); err != nil || len(requests) != 65 { // each is one for itself
		t.Error(err)
	}
}

// What has no Pods is skipped next to a manifest and named; what may be a slip of the pen never
// is.
func TestOthers(t *testing.T) {
	const others = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\n---\n" +
		"apiVersion: example.com/v1\nkind: Widget\n---\n" +
		"apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: Secret}, {apiVersion: apps/v1, kind: ControllerRevision, metadata: {name: r}}]\n---\n"
	for _, c := range []struct {
		name, text, notes string
		all               bool
		faults            string
	}{
		{"beside a Pod", others + podYAML, `2:7 "Service web", 6:7 "Widget", 10:32 "Secret", 10:69 "ControllerRevision r"`, false, ""},
		{"alone", others, `2:7 "Service web", 6:7 "Widget", 10:32 "Secret", 10:69 "ControllerRevision r"`, true,
			"unknown_kind 2:7, unknown_kind 6:7, unknown_kind 10:32, unknown_kind 10:69"},
		{"a slip in the core group", podYAML + "---\napiVersion: v1\nkind: Sevrice\n", "", false, "unknown_kind 17:7"},
		{"a slip in apps", podYAML + "---\napiVersion: apps/v1\nkind: Deploymnt\n", "", false, "unknown_kind 17:7"},
		{"a slip in batch", podYAML + "---\napiVersion: batch/v1\nkind: Jop\n", "", false, "unknown_kind 17:7"},
		{"without apiVersion", podYAML + "---\nkind: Service\n", "", false, "unknown_kind 16:7"},
		{"nothing at all", "", "", false, "no_document"},
		{"a Scenario alone", scenarioYAML, "", false, ""},
	} {
		docs, err := DecodeNamed("file", []byte(c.text))
		if err == nil {
			_, err = NewRequests(docs, Overrides{})
		}
		notes, all := Others(docs)
		var named, faults []string
		for _, n := range notes {
			why := " has no Pods and is not read"
			if strings.Contains(n.Detail, "Widget") { // another project's may make Pods nevertheless
				why = " has no Pod template and is not read"
			}
			what, ok := strings.CutSuffix(n.Detail, why)
			if !ok || n.Code != NoteNotRead || n.Source != "file" {
				t.Errorf("%s: %+v", c.name, n)
			}
			named = append(named, fmt.Sprintf("%d:%d %s", n.Line, n.Column, what))
		}
		if err != nil {
			for _, f := range err.(Faults) {
				text := string(f.Code)
				if f.Line > 0 && f.Code != CodeNoDocument {
					text += fmt.Sprintf(" %d:%d", f.Line, f.Column)
				}
				faults = append(faults, text)
			}
		}
		if strings.Join(named, ", ") != c.notes || all != c.all || strings.Join(faults, ", ") != c.faults {
			t.Errorf("%s: %v, %v, %v\nwant %v, %v, %v", c.name, named, all, faults, c.notes, c.all, c.faults)
		}
	}
}

// Every place that the core reports in a generated request is one in the text.
func TestRelocate(t *testing.T) {
	text := "# first line\n" + strings.Replace(podYAML, "exitCodes: {operator: In", "when: [é, ü]\n      exitCodes: {operatör: In", 1) +
		"---\n" + `{"kind":"Scenario","exits":[{"container":"main","exitCode":1},{"exitcode":2}],` + "\n" + `"cluster":{"version":"1.36"}}`
	r, err := Read([]byte(text), Overrides{FeatureGates: map[string]bool{"Nonsense": true}})
	if err != nil {
		t.Fatal(err)
	}
	answer, failed := ops.Call(3, r.JSON())
	if !failed {
		t.Fatalf("%s", answer)
	}
	var payload struct {
		Error struct {
			Line, Column, Offset int
			Faults               []struct {
				Path         string
				Line, Column int
			}
		}
	}
	relocated := r.Relocate(answer)
	if err := json.Unmarshal(relocated, &payload); err != nil {
		t.Fatalf("%v\n%s", err, relocated)
	}
	places := map[string]string{}
	for _, f := range payload.Error.Faults {
		places[f.Path] = fmt.Sprintf("%d:%d", f.Line, f.Column)
	}
	for path, want := range map[string]string{
		"exits[1].exitcode":             "18:64",
		"exits[1].exitCode":             "18:63",
		"cluster.featureGates.Nonsense": "0:0", // from a flag: no place
	} {
		if places[path] != want {
			t.Errorf("%s at %s, want %s\n%s", path, places[path], want, relocated)
		}
	}
	if err := validateError(t, relocated); err != nil {
		t.Error(err)
	}
	answer, failed = ops.Call(2, []byte(`{"manifest":`+string(mustDecode(t, podYAML)[0].JSON())+`}`))
	if failed || !bytes.Equal(r.Relocate(answer), answer) {
		t.Errorf("an answer without places was changed: %s", answer)
	}
}

// What looks like a place inside a string is none.
func TestRelocateLeavesStringsAlone(t *testing.T) {
	r, err := Read([]byte("a: 1\n"), Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	for _, answer := range []string{
		`{"detail":"\"line\":1,\"column\":1"}`,
		`{"line":"x","column":1}`,
		`{"limits":{"line":1}}`,
		`{"offsets":1}`,
	} {
		if got := r.Relocate([]byte(answer)); string(got) != answer {
			t.Errorf("%s became %s", answer, got)
		}
	}
	if got := r.Relocate([]byte(`{"path":"a","line":1,"column":2}`)); string(got) != `{"path":"a","line":1,"column":1}` {
		t.Errorf("%s", got)
	}
	if got := r.Relocate([]byte(`[{"line":1,"column":99,"path":"a"},{"path":"a","line":7,"column":1}]`)); !json.Valid(got) {
		t.Errorf("%s", got)
	}
}

// For every value of a request built from the corpus: its place in the request leads to its place
// in the text.
func TestPlacesOfEveryValue(t *testing.T) {
	cases, err := policytest.Cases()
	if err != nil {
		t.Fatal(err)
	}
	values := 0
	for _, c := range cases {
		text := append([]byte("#\n"), c.Request...) // a comment makes it YAML
		docs, err := Decode(text)
		if err != nil {
			continue // not JSON, or too much for this door
		}
		r, err := NewRequest(docs, Overrides{})
		if err != nil {
			continue
		}
		root, _ := manifest.Parse(r.JSON())
		original, parseErr := manifest.Parse(c.Request)
		if parseErr != nil || len(original.Duplicates(manifest.Value{})) > 0 {
			continue
		}
		var visit func(v manifest.Value)
		visit = func(v manifest.Value) {
			want := original.Locate(v.Path(root))
			p, _ := r.place(v.Offset())
			if p.offset != want.Offset()+2 {
				t.Fatalf("%s: %s at %d, want %d", c.Name, v.Path(root), p.offset, want.Offset()+2)
			}
			if p, _ = r.place(v.KeyOffset()); p.offset != want.KeyOffset()+2 {
				t.Fatalf("%s: name of %s at %d, want %d", c.Name, v.Path(root), p.offset, want.KeyOffset()+2)
			}
			values++
			for child := v.First(); child.Exists(); child = child.Next() {
				visit(child)
			}
		}
		visit(root)
	}
	if values < 100 {
		t.Errorf("only %d values", values)
	}
	t.Log(values, "values")
}

func TestPositions(t *testing.T) {
	text := "\xEF\xBB\xBFa: é\n\"b c\": &x\r\n- {ü: 1, v: [2, 3]}\n- *x\n? d\n: |\n  text\n"
	text = strings.Replace(text, "- *x\n", "", 1) + "e: *x\n"
	docs := mustDecode(t, text)
	for _, c := range []struct{ path, value, key string }{
		{"", "1:1", "1:1"},
		{"a", "1:4", "1:1"},
		{`["b c"]`, "2:8", "2:1"},
		{`["b c"][0]`, "3:3", "3:3"},
		{`["b c"][0]["ü"]`, "3:7", "3:4"},
		{`["b c"][0].v[1]`, "3:17", "3:17"},
		{`["b c"][0].v[9]`, "3:13", "3:10"},
		{`["b c"][0].w`, "3:3", "3:3"},
		{"d", "5:3", "4:3"},
		{"e", "7:4", "7:1"},
		{"e[0].v", "3:13", "3:10"}, // after an alias it is the place where the text is
		{"zzz", "1:1", "1:1"},
	} {
		line, column := docs[0].Position(c.path)
		if got := fmt.Sprintf("%d:%d", line, column); got != c.value {
			t.Errorf("%s stands at %s, want %s", c.path, got, c.value)
		}
		line, column = docs[0].KeyPosition(c.path)
		if got := fmt.Sprintf("%d:%d", line, column); got != c.key {
			t.Errorf("name of %s stands at %s, want %s", c.path, got, c.key)
		}
	}
}

// Each request of the corpus gives the same answer as JSON and as YAML, places included: the JSON
// after a comment of a byte and a line feed is YAML, after a space and a line feed it is JSON.
func TestYAMLAndJSONAgree(t *testing.T) {
	cases, err := policytest.Cases()
	if err != nil {
		t.Fatal(err)
	}
	same := 0
	cases = policytest.Sample(t, 4, cases)
	for _, c := range cases {
		if _, err := manifest.Parse(c.Request); err != nil {
			continue // some of it is YAML all the same
		}
		want, wantFailed := ops.Call(c.Operation.Number, append([]byte(" \n"), c.Request...))
		r, err := Read(append([]byte("#\n"), c.Request...), Overrides{})
		if err != nil {
			t.Logf("%s: refused as YAML: %v", c.Name, err)
			continue
		}
		got, failed := ops.Call(c.Operation.Number, r.JSON())
		got = r.Relocate(got)
		if failed != wantFailed || canonical(t, got) != canonical(t, want) {
			t.Errorf("%s\nas YAML %s\nas JSON %s", c.Name, got, want)
		}
		same++
	}
	if same < len(cases)/2 {
		t.Errorf("only %d of %d requests could be compared", same, len(cases))
	}
	t.Logf("%d of %d requests", same, len(cases))
}

// canonical returns an answer with its faults in a fixed order: what they are about has sorted
// names when it comes from YAML.
func canonical(t *testing.T, answer []byte) string {
	t.Helper()
	root, err := manifest.Parse(answer)
	if err != nil {
		t.Fatalf("%v: %s", err, answer)
	}
	var list []string
	for _, holder := range []manifest.Value{root, root.Get("error")} {
		for f := holder.Get("faults").First(); f.Exists(); f = f.Next() {
			list = append(list, string(f.Raw()))
		}
	}
	if len(list) > 1 {
		faults := Faults{}
		for _, f := range list {
			faults = append(faults, Fault{Detail: f})
		}
		sortFaults(faults)
		return fmt.Sprint(faults)
	}
	return string(answer)
}

func TestRequestPosition(t *testing.T) {
	docs := mustDecode(t, podYAML+"---\n"+scenarioYAML, kubeletYAML)
	r, err := NewRequest(docs, Overrides{Version: "1.36"})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"":                                 "file1:16:1",
		"manifest.spec.containers[0].name": "file1:9:11",
		"manifest.spec.containers[0].restartPolicyRules[0].exitCodes.values[0]": "file1:14:42",
		"manifest.spec.containers[0].missing":                                   "file1:9:5",
		"exits[0].exitCode":                                                     "file1:19:37",
		"cluster.kubeletConfiguration.crashLoopBackOff":                         "file2:3:19",
		"cluster.version":                                                       ":0:0", // from a flag
	} {
		source, line, column := r.Position(path)
		if got := fmt.Sprintf("%s:%d:%d", source, line, column); got != want {
			t.Errorf("%s stands at %s, want %s", path, got, want)
		}
	}
	if docs[2].Source() != "file2" || !docs[2].YAML() {
		t.Errorf("%s", docs[2].Source())
	}
	broken, err := Read([]byte(`{"a": [`), Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	if source, line, column := broken.Position("a"); source != "" || line != 1 || column != 1 {
		t.Errorf("%s:%d:%d", source, line, column)
	}
	if kind, name, _, line, _ := broken.Manifest(); kind != "" || name != "" || line != 0 {
		t.Errorf("%s %s %d", kind, name, line)
	}
	if line, column := mustDecode(t, `{"a": [`)[0].Position("a"); line != 0 || column != 0 {
		t.Errorf("%d:%d", line, column)
	}
}

func TestFaultsAsAnError(t *testing.T) {
	f := Fault{Path: "a", Detail: "b", Line: 1, Column: 2}
	many := Faults{}
	for range MaxFaults {
		many = append(many, f)
	}
	for want, faults := range map[string]Faults{
		"no fault":                      {},
		"1:2: a: b":                     {f},
		"1:2: a: b (further faults: 1)": {f, f},
		"1:2: a: b (and more than 99 further faults)": append(many, tooMany(3)),
		"b":                  {{Detail: "b"}},
		"pod.yaml:1:2: a: b": {{Path: "a", Detail: "b", Line: 1, Column: 2, Source: "pod.yaml"}},
	} {
		if got := faults.Error(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestPayload(t *testing.T) {
	_, err := DecodeNamed("secret.yaml", []byte("a: 1\na: 2\n"))
	got := string(err.(Faults).Payload())
	want := `{"error":{"code":"BAD_YAML","num":0,"message":"2:1: a: key \"a\" is already set in line 1, column 1","path":"a","offset":5,"line":2,"column":1,` +
		`"faults":[{"path":"a","code":"duplicate_key","detail":"key \"a\" is already set in line 1, column 1","line":2,"column":1}]}}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if !strings.HasPrefix(err.Error(), "secret.yaml:2:1: ") {
		t.Error(err)
	}
	for code, want := range map[policy.FaultCode]policy.ErrorCode{CodeBadUTF8: policy.BadUTF8, CodeLimitNodes: policy.LimitExceeded, CodeSyntax: BadYAML, CodeJSONSyntax: policy.BadJSON, CodeSeveralManifests: policy.EventInvalid, policy.CodeUnknownKind: policy.ManifestInvalid} {
		if got := (Faults{{Code: code}}).ErrorCode(); got != want {
			t.Errorf("%s is %s, want %s", code, got, want)
		}
	}
	if (Faults{}).Payload() != nil || (Faults{}).ErrorCode() != "" {
		t.Error("no faults are an error")
	}
}

// TestKeysThatAreSetTwice: fieldValidation says of YAML what it says of JSON, and the last value
// counts (R-W3).
func TestKeysThatAreSetTwice(t *testing.T) {
	const pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  restartPolicy: Never\n  restartPolicy: Always\n  containers: [{name: main, image: i}]\n"
	const merge = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  restartPolicy: Always\n  <<: {restartPolicy: Never}\n  containers: [{name: main, image: i}]\n"
	const several = "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata: {name: p, name: q}\n  spec: {containers: [{name: main, image: i, image: i}]}\n"
	const scenario = "apiVersion: podfate.dev/v1\nkind: Scenario\n"
	for _, test := range []struct {
		text, mode string
		decided    string // restartPolicy as the core reads it; "" for a fault
		warned     string
	}{
		{pod, "", "", "spec.restartPolicy 6:3"},
		{pod, "Strict", "", "spec.restartPolicy 6:3"},
		{pod, "perhaps", "", "spec.restartPolicy 6:3"},
		{pod, "Warn", "Always", "spec.restartPolicy 6:3"},
		{pod, "Ignore", "Always", ""},
		{merge, "Warn", "Never", "spec.restartPolicy 6:3"},
		{merge, "Ignore", "Never", ""},
		{several, "Strict", "", "metadata.name 6:23 spec.containers[0].image 7:46"},
		{several, "Warn", "", "metadata.name 6:23 spec.containers[0].image 7:46"},
		{scenario + "fieldValidation: Warn\n---\n" + pod, "", "Always", "spec.restartPolicy 10:3"},
		{scenario + "fieldValidation: Ignore\n---\n" + pod, "", "Always", ""},
		{scenario + "fieldValidation: Ignore\n---\n" + pod, "Strict", "", "spec.restartPolicy 10:3"},
		{scenario + "fieldValidation: Warn\nmanifest:\n  " + strings.ReplaceAll(strings.TrimSpace(pod), "\n", "\n  "), "", "Always", "spec.restartPolicy 10:5"},
		// What is not in a manifest is read by Podfate alone.
		{scenario + "fieldValidation: Ignore\nfieldValidation: Ignore\n---\n" + pod, "", "", "fieldValidation 4:1 spec.restartPolicy 11:3"},
		{"apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: 1\nmaxPods: 2\n---\n" + pod, "Ignore", "", "maxPods 4:1 spec.restartPolicy 11:3"},
		// A text that cannot be read names all that is wrong with it.
		{pod + "---\na: [\n", "Strict", "", "spec.restartPolicy 6:3  9:4"},
	} {
		r, err := Read([]byte(test.text), Overrides{FieldValidation: test.mode})
		var found []string
		var faults Faults
		if errors.As(err, &faults) {
			for _, f := range faults {
				found = append(found, fmt.Sprintf("%s %d:%d", f.Path, f.Line, f.Column))
			}
			if got := strings.Join(found, " "); got != test.warned || test.decided != "" {
				t.Errorf("%q %s: refused with %s, want %s", test.text, test.mode, got, test.warned)
			}
			continue
		}
		root, parseErr := manifest.Parse(r.JSON())
		if parseErr != nil {
			t.Fatal(parseErr)
		}
		if got := root.Locate("manifest.spec.restartPolicy").Str(); got != test.decided {
			t.Errorf("%q %s: restartPolicy is %q, want %q", test.text, test.mode, got, test.decided)
		}
		raw, _ := ops.Call(2, r.JSON())
		var answer struct {
			Valid    bool
			Warnings []struct {
				Path, Code   string
				Line, Column int
			}
		}
		relocated := r.Relocate(raw)
		if err := json.Unmarshal(relocated, &answer); err != nil || !answer.Valid {
			t.Fatalf("%v in %s", err, relocated)
		}
		if err := Validate("validate-answer", relocated); err != nil {
			t.Error(err)
		}
		for _, w := range answer.Warnings {
			found = append(found, fmt.Sprintf("%s %d:%d", w.Path, w.Line, w.Column))
		}
		if got := strings.Join(found, " "); got != test.warned {
			t.Errorf("%q %s: warned of %s, want %s", test.text, test.mode, got, test.warned)
		}
		if line, column := r.manifestDoc.KeyPosition("spec.restartPolicy"); test.warned == "spec.restartPolicy 6:3" && (line != 6 || column != 3) && test.text == pod {
			t.Errorf("%q: the value that counts is looked for at %d:%d", test.text, line, column)
		}
	}
}

// TestWarningsOfManyKeys: with those of the core there are never more than an answer may have.
func TestWarningsOfManyKeys(t *testing.T) {
	text := "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers: [{name: main, image: i}]\n  bogus: 1\n  hostname: a\n" + strings.Repeat("  hostname: a\n", 300)
	r, err := Read([]byte(text), Overrides{FieldValidation: "Warn"})
	if err != nil {
		t.Fatal(err)
	}
	raw, _ := ops.Call(2, r.JSON())
	if err := Validate("validate-answer", r.Relocate(raw)); err != nil {
		t.Error(err)
	}
}
