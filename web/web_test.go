package web_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	sigsyaml "sigs.k8s.io/yaml"

	"github.com/podfate/podfate/policy/ops"
	"github.com/podfate/podfate/policy/policytest"
	"github.com/podfate/podfate/policy/words"
	"github.com/podfate/podfate/schema"
	"github.com/podfate/podfate/schema/document"
	"github.com/podfate/podfate/web"
	"github.com/podfate/podfate/web/views"
)

// asked is a request with its answer, as both renderers get it.
type asked struct {
	Operation string `json:"operation"`
	Request   string `json:"request"`
	Answer    string `json:"answer"`
}

func ask(t *testing.T, operation, request string) asked {
	t.Helper()
	explain, _ := ops.Lookup("explain")
	op, known := ops.Lookup(operation)
	if !known {
		t.Fatalf("no operation %q", operation)
	}
	question := schema.Explain(operation, []byte(request))
	if !json.Valid([]byte(request)) { // the page has no request then, but an error
		payload, _ := ops.Call(op.Number, []byte(request))
		question = append([]byte(`{"of":"`+operation+`",`), payload[1:]...)
		request = ""
	}
	answer, failed := ops.Call(explain.Number, question)
	if failed {
		t.Fatalf("no words for %s: %s", request, answer)
	}
	return asked{operation, request, string(answer)}
}

// request is what the server asks for a form.
func request(t *testing.T, f views.Form) string {
	text, rest, _ := strings.Cut(f.Manifest, "\n---\n")
	manifest, err := sigsyaml.YAMLToJSONStrict([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var beside struct{ Cluster map[string]any } // a Scenario after the manifest
	if err := sigsyaml.Unmarshal([]byte(rest), &beside); err != nil {
		t.Fatal(err)
	}
	cluster := map[string]any{"version": f.Version}
	maps.Copy(cluster, beside.Cluster)
	members := map[string]any{"manifest": json.RawMessage(manifest), "cluster": cluster}
	if f.Pods != "" {
		pods, err := schema.ReadPods("", []byte(f.Pods))
		if err != nil {
			t.Fatal(err)
		}
		members["pods"] = pods
	}
	if question := f.Question(); question != nil {
		members["question"] = question
	}
	whole, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	return string(whole)
}

// wanted are the outcomes of the examples: what their titles promise.
var wanted = map[string]string{
	"restart-on-exit-codes":         "main exits 42 → Restart",
	"try-once-init":                 "3 exits: 1 Restart, 2 Stop",
	"rule-until-another-code":       "Pod Failed after 1m55s",
	"two-policies":                  "2 exits: 1 Restart, 1 Stop",
	"kep-5307":                      "2 exits: 1 Restart, 1 Stop",
	"restart-all-containers":        "3 exits: 1 Restart, 1 RestartAllContainers, 1 Stop",
	"gate-off":                      "main exits 42 → Stop",
	"live-crash-loop":               "Next restart in 2m40s",
	"job-bug":                       "Job Failed after 20s",
	"job-preempted":                 "Job Complete after 13m10s",
	"job-both":                      "Job Failed after 8m10s",
	"job-pods":                      "Container export for pod batch/nightly-9kz2p failed with exit code 3 matching FailJob rule at index 1.",
	"announcement-1":                "Pod Succeeded after 1m",
	"announcement-2":                "Pod Failed after 10s",
	"announcement-3":                "Still Running after 40m, 1 restart.",
	"kep-5307-future":               "Pod Failed after",
	"draft-job-bug":                 "Job Failed after",
	"draft-job-evicted":             "Job Complete after",
	"draft-job-any-reason":          "Job Complete after 11m10s",
	"draft-job-any-reason-shipped":  "Job Complete after 11m10s",
	"draft-job-combined":            "Job Failed after 20s",
	"draft-job-bug-printed":         "Kubernetes 1.37 refuses this manifest",
	"draft-job-evicted-printed":     "Kubernetes 1.37 refuses this manifest",
	"draft-job-combined-printed":    "Kubernetes 1.37 refuses this manifest",
	"draft-job-conditions-printed":  "Kubernetes 1.37 refuses this manifest",
	"draft-job-expressions-printed": "Kubernetes 1.37 refuses this manifest",
	"kep-5307-future-shipped":       "retry-init was restarted 12 times in 40m",
	"kep-5307-when":                 "my-container exits 42 → Restart",
	"draft-job-bug-shipped":         "Job Failed after 30s",
	"draft-job-evicted-shipped":     "Job Complete after 11m10s",
	"draft-job-combined-shipped":    "Job Failed after 20s",
	"draft-job-conditions":          "Job Failed after 20s",
	"draft-job-conditions-shipped":  "Job Failed after 20s",
	"draft-job-expressions":         "Job Failed after 30s",
	"draft-job-expressions-shipped": "Job Failed after 30s",
	"draft-job-released":            "Job Failed after 30s",
	"draft-job-released-shipped":    "Job Failed after 30s",
	"kep-5307-proposal":             "Kubernetes 1.37 refuses this manifest",
	"wrong-case":                    "Kubernetes 1.37 refuses this manifest",
	"rules-without-policy":          "Kubernetes 1.37 refuses this manifest",
}

func TestExamples(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range web.Examples() {
		t.Run(e.ID, func(t *testing.T) {
			if seen[e.ID] || e.Title == "" || e.Question == "" || e.Form.Example != e.ID {
				t.Errorf("incomplete or repeated: %+v", e)
			}
			seen[e.ID] = true
			for i, line := range strings.Split(e.Form.Manifest, "\n") {
				if len(line) > 62 && !strings.HasPrefix(e.Form.Manifest, "# As printed in ") && !strings.HasPrefix(e.Form.Manifest, "# To the letter ") { // those are quoted
					t.Errorf("line %d has %d characters and would be cut off", i+1, len(line))
				}
			}
			if printed := strings.HasPrefix(e.Form.Manifest, "# As printed ") || strings.HasPrefix(e.Form.Manifest, "# To the letter "); printed && e.Source == nil {
				t.Error("it is printed somewhere, and does not say where")
			}
			if e.Answer == "" != (e.Group == "") || e.Group != "" && e.Source == nil {
				t.Error("a question that is often asked has a group, a recorded answer and a source")
			}
			if found, ok := web.FindExample(e.ID); !ok || found.Form.Manifest != e.Form.Manifest {
				t.Error("not found by its id")
			}
			if e.Answer != "" {
				return // the server's tests compare it
			}
			q := ask(t, e.Form.Operation(), request(t, e.Form))
			if html := rendered(t, q); !strings.Contains(html, wanted[e.ID]) || wanted[e.ID] == "" {
				t.Errorf("want %q in %s", wanted[e.ID], html)
			}
		})
	}
}

// cases are answers of every shape, hostile ones included.
func cases(t *testing.T) []asked {
	var list []asked
	for _, e := range web.Examples() {
		if e.Answer != "" { // more of the same shapes
			continue
		}
		list = append(list, ask(t, e.Form.Operation(), request(t, e.Form)))
		validate := e.Form
		validate.Exits, validate.Pods = "", ""
		list = append(list, ask(t, "validate", request(t, validate)))
	}
	scenarios, err := policytest.Cases()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range policytest.Sample(t, 5, scenarios) {
		if name := c.Operation.Name; name != "explain" {
			list = append(list, ask(t, c.Operation.Name, string(c.Request)))
		}
	}
	hostile := "<img src=x onerror=alert(1)>\u202e\u0000'\"&amp;{container}"
	quoted, err := json.Marshal(hostile)
	if err != nil {
		t.Fatal(err)
	}
	manifest := strings.ReplaceAll(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":X},"spec":{"containers":[{"name":X,"image":X,"restartPolicy":"Never","restartPolicyRules":[`+
		`{"action":X,"exitCodes":{"operator":X,"values":[]}},{"action":"Restart","exitCodes":{"operator":"NotIn","values":[0,1,2,3,4,5,6,7,8,9]}}]}]}}`, "X", string(quoted))
	list = append(list,
		ask(t, "decide", `{"manifest":`+manifest+`,"exits":[{"exitCode":1,"reason":`+string(quoted)+`}]}`),
		ask(t, "decide", `{"cluster":{"version":"1.37"},"manifest":`+manifest+`,"exits":[{"exitCode":11},{"exitCode":1}]}`),
		ask(t, "decide", `{"manifest":`+manifest+`,"exits":[{"container":`+string(quoted)+`,"exitCode":"x"},{"container":"y","exitCode":1}]}`),
		ask(t, "decide", strings.ReplaceAll(`{"manifest":{"apiVersion":"batch/v1","kind":"Job","spec":{"podFailurePolicy":{"rules":[`+
			`{"action":"FailJob","onExitCodes":{"operator":"In","values":[3]}},{"action":"Ignore","onPodConditions":[{"type":"a"}]}]},`+
			`"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}},"pods":[{"metadata":{"name":X},"status":{"phase":"Failed",`+
			`"containerStatuses":[{"name":X,"state":{"terminated":{"exitCode":3,"reason":X}}}]}},{"metadata":{"name":"p"},"status":{"phase":X}},`+
			`{"metadata":{"name":"q"},"status":{"phase":"Failed","conditions":[{"type":"a","status":"True"}]}}]}`, "X", string(quoted))),
		ask(t, "validate", `{"manifest":`+manifest+`,`+string(quoted)+`:1}`),
		ask(t, "validate", `{"manifest":{"apiVersion":"v1","kind":"Pod",`+string(quoted)+`:`+string(quoted)+`}}`),
		ask(t, "validate", `{"cluster":{"version":"1.99","featureGates":{"Nothing":true}},"fieldValidation":"x","manifest":{}}`),
		ask(t, "validate", `{`),
		ask(t, "simulate", `{"manifest":{"apiVersion":"v1","kind":"Pod","metadata":{"name":`+string(quoted)+`},"spec":{"containers":[{"name":"a","image":"i"}]}},`+
			`"runs":{"a":[{"for":"1500ms","exitCode":7,"reason":`+string(quoted)+`,"times":9},{"for":"0s","exitCode":137,"times":250}]},"until":"400h"}`),
		ask(t, "simulate", `{"manifest":`+manifest+`,"runs":{`+string(quoted)+`:[{"for":"x","exitCode":1}]},"until":"-1s"}`),
		asked{"curve", "{}", strings.ReplaceAll(everyBlock, "X", string(quoted))},
	)
	return list
}

// rendered is what the server shows of an answer. Its places are made up from the paths.
func rendered(t *testing.T, q asked) string {
	t.Helper()
	var b bytes.Buffer
	if err := views.Reply(read(t, q)).Render(context.Background(), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func read(t *testing.T, q asked) *document.Document {
	t.Helper()
	_, d, err := document.Read([]byte(q.Answer))
	if err != nil {
		t.Fatalf("%v in %s", err, q.Answer)
	}
	d.Locate(func(path string, known document.Place) document.Place {
		switch id := views.Control(path); {
		case id != "" && id != "pods":
			return document.Place{}
		case id == "" && known.Line == 0:
			return document.Place{Line: utf8.RuneCountInString(path), Column: 3}
		}
		return known
	})
	return d
}

// everyBlock is an explanation with all kinds of blocks and members, and with one of a later
// release. Its texts are hostile except for hidden characters, which the core writes out.
const everyBlock = `{"answer":{},"document":{"releases":"R","verdict":{"title":"T","text":"<b>","tone":"wait","mark":"crashloop","because":"b","path":"spec",` +
	`"source":{"name":"n","url":"https://kubernetes.io/"},"share":{"ranMillis":1,"ofMillis":3}},"blocks":[` +
	`{"block":"list","title":"<i>","items":[{"text":"t","mark":"note","tone":"fail","path":X,"allowed":["a","b"],"because":"w","line":3,"column":4}],"more":7},` +
	`{"block":"fixes","title":"f","items":[{"text":"t","edits":[{"op":"remove","path":"/a"}]}]},` +
	`{"block":"steps","items":[{"text":"t","mark":"matched","quote":"q","times":3,"path":X},{"text":"u","mark":"new_mark","because":"b"}]},` +
	`{"block":"layers","title":"l","cards":[{"layer":"job","title":"j","text":"t","mark":"counted","tone":"cnt","because":"b","items":[{"text":"x","times":2,"because":"y"}]}]},` +
	`{"block":"lanes","title":"o","text":"d","untilMillis":86400001,"lanes":[{"name":"Pod","kind":"phase","bars":[{"kind":"phase","tone":"run","fromMillis":0,"toMillis":86400001,"text":"Running"}],"flags":[]},` +
	`{"name":"<a>","kind":"container","bars":[{"kind":"run","tone":"run","fromMillis":0,"toMillis":1},{"kind":"wait","tone":"wait","fromMillis":1,"toMillis":80000000,"text":"22h13m19.999s"},` +
	`{"kind":"on","tone":"run","fromMillis":86400001,"toMillis":86400001,"text":"runs on"}],"flags":[{"atMillis":1,"text":"137","tone":"fail","path":"p"},{"atMillis":2,"text":"137","tone":"fail"},` +
	`{"atMillis":3,"text":"1","tone":"fail"},{"atMillis":4,"text":"2","tone":"ok"},{"atMillis":86400000,"text":"255","tone":"all"}]}],` +
	`"bands":[{"atMillis":5,"tone":"all","mark":"restartall","text":"t"}]},` +
	`{"block":"table","title":"t","columns":[{"text":"a","align":"end"},{}],"rows":[{"cells":["1","<td>"],"tone":"ok","path":"p","atMillis":0},{"cells":["2",""]}]},` +
	`{"block":"terminal","title":"k","lines":["NAME  READY","p     0/1"]},` +
	`{"block":"plot","title":"p","x":"a","y":"b","series":[{"name":"n","kind":"steps","tone":"wait","points":[[1,0],[2,10000],[3,20000]]}]},` +
	`{"block":"grid","title":"g","ranges":[{"from":0,"to":0,"letter":"S","text":"t","mark":"succeeded"},{"from":1,"to":255,"letter":"R","text":"u","tone":"run","mark":"restart","path":"p"}]},` +
	`{"block":"of a later release","title":"h"}]}}`

var (
	space     = regexp.MustCompile(`\s+`)
	nextBlock = regexp.MustCompile(` ?(</?(?:div|p|h3|h4|ol|ul|li|table|thead|tbody|tr|th|td|svg|rect|text|pre)(?: [^>]*)?>) ?`)
	inEnd     = regexp.MustCompile(` (</(?:span|a)>)`)
	noClass   = strings.NewReplacer(` class=""`, "")
)

// plain takes out the white space of HTML that no reader sees.
func plain(html string) string {
	return inEnd.ReplaceAllString(nextBlock.ReplaceAllString(space.ReplaceAllString(noClass.Replace(html), " "), "$1"), "$1")
}

func TestBrowserRendersAsTheServerDoes(t *testing.T) {
	runtime := policytest.Executable(t, "Node.js 20", "whether browser and server show an answer alike", "node")
	list := cases(t)
	file := filepath.Join(t.TempDir(), "cases.json")
	text, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	command := policytest.Command(runtime, "bundle/test/render.mjs", file)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.Bytes())
	}
	var got []struct{ HTML, Live string }
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	if len(got) != len(list) {
		t.Fatalf("%d answers, want %d", len(got), len(list))
	}
	for i, q := range list {
		server, browser := plain(rendered(t, q)), plain(got[i].HTML)
		if at := firstDifference(server, browser); at >= 0 {
			from := max(0, at-60)
			t.Errorf("answer: %s\nserver:  …%.200s\nbrowser: …%.200s", q.Answer, server[from:], browser[from:])
		}
		if live := views.Live(read(t, q)); live != got[i].Live {
			t.Errorf("announced: %q, want %q", got[i].Live, live)
		}
	}
	t.Logf("%d answers look the same", len(list))
}

// TestDefaultIsNamed: of a Pod without restartPolicy it says where Always comes from, and not that
// the Pod's policy is both not set and matched.
func TestDefaultIsNamed(t *testing.T) {
	html := rendered(t, ask(t, "decide", `{"manifest":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}},"exits":[{"exitCode":1}]}`))
	if !strings.Contains(html, "matched: without restartPolicy a Pod has Always") {
		t.Errorf("no default in %s", html)
	}
}

// firstDifference returns where a and b begin to differ, -1 if they are equal.
func firstDifference(a, b string) int {
	if a == b {
		return -1
	}
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

func TestHostileTextStaysText(t *testing.T) {
	tag := regexp.MustCompile(`</?(\w+)`)
	allowed := " div p h3 h4 ol ul li table thead tbody tr th td span a b code svg rect text pre button "
	for _, q := range cases(t) {
		html := rendered(t, q)
		for _, m := range tag.FindAllStringSubmatch(html, -1) {
			if !strings.Contains(allowed, " "+m[1]+" ") {
				t.Errorf("%s has the element %s", html, m[1])
			}
		}
		for _, r := range "\u202e\u0000\u200b" {
			if strings.ContainsRune(html, r) {
				t.Errorf("%q contains %U", html, r)
			}
		}
	}
}

func TestAssetsAreServedFromStatic(t *testing.T) {
	a := web.Assets()
	for _, address := range []string{a.Style, a.Script, a.Worker, a.Icon, a.Data} {
		path, _, ok := strings.Cut(address, "?v=")
		if !ok || !strings.HasPrefix(path, "/static/") {
			t.Errorf("%s: want /static/NAME?v=DIGEST", address)
			continue
		}
		if content, err := web.Static.ReadFile(strings.TrimPrefix(path, "/")); err != nil || len(content) == 0 {
			t.Errorf("%s: %d bytes, %v", address, len(content), err)
		}
	}
}

// Of Pods the browser keeps the same: bundle/test/page.test.mjs reads the same table.
func TestPodsAreReadAsInTheBrowser(t *testing.T) {
	text, err := os.ReadFile("testdata/pods.json")
	if err != nil {
		t.Fatal(err)
	}
	var table []struct {
		Text, Pods string
		Fault      bool
	}
	if err := json.Unmarshal(text, &table); err != nil {
		t.Fatal(err)
	}
	for _, c := range table {
		if got, err := schema.ReadPods("", []byte(c.Text)); (err != nil) != c.Fault || err == nil && string(got) != c.Pods {
			t.Errorf("%q: %s, %v, want %s", c.Text, got, err, c.Pods)
		}
	}
}

// TestSourcesAreAllowed: each step of a trace names its source, and every source of every answer is
// on the list. What a proposal or the controller of another kind does has no page of Kubernetes.
func TestSourcesAreAllowed(t *testing.T) {
	steps := 0
	for _, q := range cases(t) {
		for _, b := range read(t, q).Blocks {
			for _, i := range b.Items {
				if b.Kind == "steps" && q.Operation != "curve" {
					steps++
					if i.Source == nil && !strings.Contains(q.Request, `"proposals"`) && !strings.Contains(q.Request, `jobset.x-k8s.io`) {
						t.Errorf("%s: no source: %s", q.Operation, i.Text)
					}
				}
				if i.Source != nil && !slices.Contains(words.Sources(), i.Source.URL) && q.Operation != "curve" {
					t.Errorf("%s: %s leads to %s", q.Operation, i.Text, i.Source.URL)
				}
			}
		}
	}
	if steps < 100 {
		t.Errorf("%d steps: this test proves little", steps)
	}
}

// Manifests that are in the gallery to the letter are those next to them except for a name, and
// that they have none is all that is wrong with them.
func TestPrintedForms(t *testing.T) {
	validate, _ := ops.Lookup("validate")
	n := 0
	for _, e := range web.Examples() {
		id, printed := strings.CutSuffix(e.ID, "-printed")
		if !printed {
			continue
		}
		n++
		named, ok := web.FindExample(id)
		var want []string
		for _, line := range strings.Split(named.Form.Manifest, "\n") {
			if !strings.HasPrefix(line, "metadata: ") && !strings.HasPrefix(line, "# As printed") && !strings.HasPrefix(line, "# with a name") && !strings.HasPrefix(line, "# among") {
				want = append(want, line)
			}
		}
		_, have, _ := strings.Cut(e.Form.Manifest, "(Apache-2.0), which gives the Job no name.\n")
		if !ok || have != strings.Join(want, "\n") {
			t.Errorf("%s is not %s without a name:\n%s", e.ID, id, have)
		}
		var q map[string]json.RawMessage
		if err := json.Unmarshal([]byte(request(t, e.Form)), &q); err != nil {
			t.Fatal(err)
		}
		asked, _ := json.Marshal(map[string]json.RawMessage{"manifest": q["manifest"], "cluster": q["cluster"]})
		text, _ := ops.Call(validate.Number, asked)
		var a struct {
			Faults []struct{ Path, Code string }
		}
		if err := json.Unmarshal(text, &a); err != nil || len(a.Faults) != 1 || a.Faults[0].Path != "metadata.name" {
			t.Errorf("%s: %s", e.ID, text)
		}
	}
	if n != 5 {
		t.Errorf("%d examples to the letter", n)
	}
}

var updateShipped = flag.Bool("update-shipped", false, "write the shipped forms of printed examples")

// Each printed manifest has a shipped form next to it, which is what translate makes of it under
// its proposal; what has no form there is in its head.
func TestShippedForms(t *testing.T) {
	translate, _ := ops.Lookup("translate")
	n := 0
	for _, e := range web.Examples() {
		id := e.ID + "-shipped"
		if e.ID == "kep-5307-when" {
			id = "kep-5307"
		}
		if !strings.HasPrefix(e.Form.Manifest, "# As printed in ") || !strings.Contains(e.Form.Manifest, "proposals:") {
			continue
		}
		var q map[string]json.RawMessage
		if err := json.Unmarshal([]byte(request(t, e.Form)), &q); err != nil {
			t.Fatal(err)
		}
		asked, _ := json.Marshal(map[string]json.RawMessage{"manifest": q["manifest"], "cluster": q["cluster"]})
		text, failed := ops.Call(translate.Number, asked)
		var a struct {
			Manifest   json.RawMessage
			Accepted   bool
			Equivalent bool
			Lost       []struct{ Path, Because string }
		}
		if err := json.Unmarshal(text, &a); err != nil || failed || !a.Accepted {
			t.Fatalf("%s: %s", e.ID, text)
		}
		head := "# What translate makes of " + e.ID + ".\n"
		for _, x := range a.Lost {
			head += "# Lost: " + x.Because + " at\n# " + x.Path + "\n"
		}
		if *updateShipped && id != "kep-5307" {
			yaml, err := sigsyaml.JSONToYAML(a.Manifest)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile("examples/"+id+".yaml", append([]byte(head), yaml...), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		shipped, ok := web.FindExample(id)
		if !ok {
			t.Errorf("%s has no shipped form", e.ID)
			continue
		}
		have, err := sigsyaml.YAMLToJSONStrict([]byte(shipped.Form.Manifest))
		if err != nil {
			t.Fatal(err)
		}
		var one, other any
		_, _ = json.Unmarshal(have, &one), json.Unmarshal(a.Manifest, &other)
		if !reflect.DeepEqual(one, other) {
			t.Errorf("%s is not what translate makes of %s:\n%s", id, e.ID, a.Manifest)
		}
		if id != "kep-5307" && !strings.HasPrefix(shipped.Form.Manifest, head) {
			t.Errorf("%s does not say what is lost:\n%s", id, head)
		}
		n++
	}
	if n < 9 && !*updateShipped {
		t.Errorf("%d printed manifests of drafts", n)
	}
}
