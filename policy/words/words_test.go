package words_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/podfate/podfate/policy/manifest"
	"github.com/podfate/podfate/policy/ops"
	"github.com/podfate/podfate/policy/policytest"
	"github.com/podfate/podfate/policy/words"
	"github.com/podfate/podfate/schema"
)

const explain = 6

// item is as much of a line as the tests look at.
type item struct {
	Title, Text, Tone, Mark, Path, Because, Quote string
	Source                                        struct{ Name, URL string }
	Items                                         []item
}

type document struct {
	Verdict item
	Blocks  []struct {
		Block, Title string
		Items, Cards []item
		Rows         []struct {
			Cells []string
			Tone  string
		}
		Columns []struct{ Text string }
		Lanes   []struct {
			Name string
			Bars []struct {
				FromMillis, ToMillis int64
			}
			Flags []struct{ AtMillis int64 }
		}
		UntilMillis int64
	}
}

func cases(t *testing.T) []policytest.Case {
	t.Helper()
	list, err := policytest.Cases()
	if err != nil {
		t.Fatal(err)
	}
	if len(list) == 0 {
		t.Fatal("the corpus is empty")
	}
	return list
}

// The answer in an explanation is the operation's own, byte for byte, whether it failed or not.
func TestTheAnswerIsTheOperationsOwn(t *testing.T) {
	seen := 0
	for _, c := range cases(t) {
		if !json.Valid(c.Request) {
			continue
		}
		want, _ := ops.Call(c.Operation.Number, c.Request)
		got, failed := ops.Call(explain, schema.Explain(c.Operation.Name, c.Request))
		if failed {
			t.Errorf("%s: explain fails: %s", c.Name, got)
			continue
		}
		var answer struct{ Answer json.RawMessage }
		if err := json.Unmarshal(got, &answer); err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		if !bytes.Equal(answer.Answer, want) {
			t.Errorf("%s: the answer inside differs:\n%s\n%s", c.Name, answer.Answer, want)
		}
		seen++
	}
	if seen < 300 {
		t.Fatalf("%d cases seen", seen)
	}
}

// TestEveryOperationHasScenariosAndWords names an operation that no scenario asks for, and one
// whose answers are put into no words. explain is asked about the others.
func TestEveryOperationHasScenariosAndWords(t *testing.T) {
	requests := map[string][]byte{}
	for _, c := range cases(t) {
		if _, failed := ops.Call(c.Operation.Number, c.Request); !failed && requests[c.Operation.Name] == nil {
			requests[c.Operation.Name] = c.Request
		}
	}
	for _, op := range ops.Table() {
		request := requests[op.Name]
		switch {
		case op.Number == explain:
			continue
		case request == nil:
			t.Errorf("no scenario has an answer of the operation %s", op.Name)
			request = []byte("{}")
		}
		answer, _ := ops.Call(explain, schema.Explain(op.Name, request))
		if strings.Contains(string(answer), "There are no words for this operation yet.") {
			t.Errorf("policy/words has no words for the operation %s", op.Name)
		}
	}
}

// Every document of the corpus has a verdict in words, tones and marks of the closed lists, sources
// of the allow-list, rows as wide as their table, bars inside their axis, and no text that is a
// code.
func TestDocumentsAreFinished(t *testing.T) {
	elements := 0
	for _, c := range cases(t) {
		if !json.Valid(c.Request) {
			continue
		}
		answer, _ := ops.Call(explain, schema.Explain(c.Operation.Name, c.Request))
		var a struct{ Document document }
		if err := json.Unmarshal(answer, &a); err != nil {
			t.Fatal(err)
		}
		d := a.Document
		request, failure := manifest.Parse(c.Request)
		if failure != nil {
			t.Fatal(failure)
		}
		check := func(where string, i item) {
			// A fault names the key of a map as the API server does.
			if i.Mark != "fault" && strings.HasSuffix(i.Path, "]") && request.Get("manifest").Exists() {
				if elements++; !request.Get("manifest").At(i.Path).Exists() && !request.At(i.Path).Exists() {
					t.Errorf("%s: %s: there is nothing at %s: %+v", c.Name, where, i.Path, i)
				}
			}
			if !slices.Contains(words.Tones[:], i.Tone) {
				t.Errorf("%s: %s: tone %q", c.Name, where, i.Tone)
			}
			if i.Mark != "" && !slices.Contains(words.Marks[:], i.Mark) {
				t.Errorf("%s: %s: mark %q", c.Name, where, i.Mark)
			}
			if i.Source.URL != "" && !slices.Contains(words.Sources(), i.Source.URL) {
				t.Errorf("%s: %s: source %q is not on the list", c.Name, where, i.Source.URL)
			}
			for _, text := range []string{i.Text, i.Because} {
				if strings.Contains(text, "_") && !strings.ContainsAny(text, `"./[`) && !strings.Contains(string(c.Request), "_") {
					t.Errorf("%s: %s: a code in the text %q", c.Name, where, text)
				}
			}
		}
		if d.Verdict.Title == "" || d.Verdict.Text == "" || d.Verdict.Tone == "" || d.Verdict.Mark == "" {
			t.Errorf("%s: the verdict is not finished: %+v", c.Name, d.Verdict)
		}
		check("verdict", d.Verdict)
		for _, b := range d.Blocks {
			for _, i := range slices.Concat(b.Items, b.Cards) {
				check(b.Title, i)
				if i.Text == "" {
					t.Errorf("%s: %s: an item without text: %+v", c.Name, b.Title, i)
				}
				for _, line := range i.Items {
					check(b.Title, line)
				}
			}
			for _, r := range b.Rows {
				if len(r.Cells) != len(b.Columns) {
					t.Errorf("%s: %s: %d cells in %d columns", c.Name, b.Title, len(r.Cells), len(b.Columns))
				}
			}
			for _, l := range b.Lanes {
				for _, bar := range l.Bars {
					if bar.FromMillis > bar.ToMillis || bar.FromMillis < 0 || bar.ToMillis > b.UntilMillis {
						t.Errorf("%s: %s: bar %+v outside 0 to %d", c.Name, l.Name, bar, b.UntilMillis)
					}
				}
				for _, f := range l.Flags {
					if f.AtMillis < 0 || f.AtMillis > b.UntilMillis {
						t.Errorf("%s: %s: flag at %d outside 0 to %d", c.Name, l.Name, f.AtMillis, b.UntilMillis)
					}
				}
			}
		}
	}
	if elements == 0 {
		t.Error("no document has the path of an element")
	}
}

// What judges a static Pod is the kubelet that finds it, with its own release, and the title says
// so.
func TestTheTitleNamesWhoJudges(t *testing.T) {
	const rules = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i","restartPolicy":"Never",` +
		`"restartPolicyRules":[{"action":"RestartAllContainers","exitCodes":{"operator":"In","values":[42]}}]}]}}`
	for more, want := range map[string]string{
		`"cluster":{"version":"1.37","kubelet":{"version":"1.35"}}`:               "Kubernetes 1.37 accepts this manifest",
		`"cluster":{"version":"1.37","kubelet":{"version":"1.35"}},"static":true`: "A kubelet of 1.35 refuses this manifest",
		`"cluster":{"version":"1.36"},"static":true`:                              "A kubelet of 1.36 accepts this manifest",
	} {
		answer, _ := ops.Call(explain, schema.Explain("validate", []byte(`{`+more+`,"manifest":`+rules+`}`)))
		var got struct{ Document document }
		if err := json.Unmarshal(answer, &got); err != nil || got.Document.Verdict.Title != want {
			t.Errorf("%s: %q, want %q (%v)", more, got.Document.Verdict.Title, want, err)
		}
	}
}

// TestTheGateThatIsOff: two gates can be the reason why a rule never decides, and they are those of
// the node.
func TestTheGateThatIsOff(t *testing.T) {
	const rules = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i",` +
		`"restartPolicy":"Never","restartPolicyRules":[{"action":"RestartAllContainers","exitCodes":{"operator":"In","values":[42]}}]}]}}`
	const all, off = `{"RestartAllContainersOnContainerExits":false}`, `{"ContainerRestartRules":false,"RestartAllContainersOnContainerExits":false}`
	for cluster, gate := range map[string]string{
		`{"version":"1.37","kubelet":{"featureGates":` + all + `}}`: "RestartAllContainersOnContainerExits",
		`{"version":"1.37","kubelet":{"featureGates":` + off + `}}`: "ContainerRestartRules",
		`{"version":"1.37","kubelet":{"version":"1.35"}}`:           "RestartAllContainersOnContainerExits",
		`{"version":"1.37","kubelet":{"version":"1.33"}}`:           "ContainerRestartRules",
	} {
		answer, _ := ops.Call(explain, schema.Explain("table", []byte(`{"cluster":`+cluster+`,"manifest":`+rules+`}`)))
		if want := `the gate ` + gate + ` is off`; !strings.Contains(string(answer), want) {
			t.Errorf("%s: want %s\n%s", cluster, want, answer)
		}
	}
}

// TestStepsOfTheJob: the steps are the rules that the manifest has, none where it has none, and
// then the limit.
func TestStepsOfTheJob(t *testing.T) {
	const pod = `"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}`
	const rules = `"rules":[{"action":"Ignore","onExitCodes":{"operator":"In","values":[3]}},{"action":"Count","onPodConditions":[{"type":"DisruptionTarget"}]}]`
	for spec, want := range map[string][]string{
		pod:                       {"backoffLimit"},
		`"completions":2,` + pod:  {"backoffLimit"},
		pod + `,"backoffLimit":3`: {"backoffLimit"},
		pod + `,"podFailurePolicy":{` + rules + `}`: {"podFailurePolicy rule 0", "podFailurePolicy rule 1", "backoffLimit"},
	} {
		answer, _ := ops.Call(explain, schema.Explain("decide", []byte(
			`{"manifest":{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j"},"spec":{`+spec+`}},"exits":[{"container":"c","exitCode":1}]}`)))
		var got struct {
			Document struct {
				Blocks []struct {
					Title string
					Items []struct{ Text string }
				}
			}
		}
		if err := json.Unmarshal(answer, &got); err != nil {
			t.Fatal(err)
		}
		var steps []string
		for _, b := range got.Document.Blocks {
			if b.Title == "What the Job does about it" {
				for _, i := range b.Items {
					steps = append(steps, i.Text)
				}
			}
		}
		if !slices.Equal(steps, want) {
			t.Errorf("%s: steps %q, want %q", spec, steps, want)
		}
	}
}

// TestWhatBecomesOfThePod: a Pod ends with its only container, also one with sidecars, and who
// makes a new one depends on the kind.
func TestWhatBecomesOfThePod(t *testing.T) {
	const others = `{"name":"b","image":"i"}`
	spec := func(containers string) string {
		return `"spec":{"restartPolicy":"Never","initContainers":[{"name":"s","image":"i","restartPolicy":"Always"}],"containers":[` + containers + `]}`
	}
	one := spec(`{"name":"a","image":"i"}`)
	template := func(kind, containers string) string {
		return `{"apiVersion":"` + kind + `","metadata":{"name":"x"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},` + containers + `}}}`
	}
	always := strings.Replace(strings.Replace(one, `"Never"`, `"Always"`, 1), `"name":"a"`, `"name":"a","restartPolicy":"Never"`, 1)
	for _, c := range []struct{ manifest, exit, pod, job string }{
		{`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x"},` + one + `}`, "1", `"Failed","because":"it has no other main container"`, "nothing replaces this Pod"},
		{`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x"},` + one + `}`, "0", `"Succeeded","because":"it has no other main container"`, "nothing replaces this Pod"},
		{`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x"},` + spec(`{"name":"a","image":"i"},`+others) + `}`, "1", `"goes on"`, "nothing replaces this Pod"},
		{template(`apps/v1","kind":"Deployment`, always), "1", `"Failed","because":"it has no other main container"`, "the Deployment replaces a Pod that has ended"},
		{template(`argoproj.io/v1alpha1","kind":"Rollout`, one), "1", `"Failed","because":"it has no other main container"`, "whether a Rollout creates another Pod is not simulated"},
	} {
		answer, _ := ops.Call(explain, schema.Explain("decide", []byte(
			`{"cluster":{"version":"1.36"},"manifest":`+c.manifest+`,"exits":[{"container":"a","exitCode":`+c.exit+`}]}`)))
		if !strings.Contains(string(answer), `"text":`+c.pod) || !strings.Contains(string(answer), c.job) {
			t.Errorf("%s exits %s: want %s and %s\n%s", c.manifest, c.exit, c.pod, c.job, answer)
		}
	}
}

// A name that is set twice is said without lines, which the core counts in the JSON of the request
// and people in their text (R-W5). What the reader of the text lets pass counts as a warning.
func TestNamesThatAreSetTwice(t *testing.T) {
	const twice = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"restartPolicy":"Never","restartPolicy":"Always","containers":[{"name":"c","image":"i"}]}}`
	request := schema.Explain("validate", []byte(`{"fieldValidation":"Warn","manifest":`+twice+`}`))
	answer, _ := ops.Call(explain, append(request[:len(request)-1], []byte(
		`,"warnings":[{"path":"spec.x","code":"duplicate_key","detail":"key \"x\" is already set in line 4, column 8","line":4,"column":31}]}`)...))
	var got struct{ Document document }
	if err := json.Unmarshal(answer, &got); err != nil {
		t.Fatal(err)
	}
	if v := got.Document.Verdict; v.Title != "Kubernetes 1.37 accepts this manifest" || v.Text != "2 warnings." {
		t.Errorf("%+v", v)
	}
	var said []string
	for _, b := range got.Document.Blocks {
		for _, i := range b.Items {
			said = append(said, i.Text)
		}
	}
	want := []string{"spec.restartPolicy: duplicate name", `spec.x: key "x" is already set in line 4, column 8`}
	if !slices.Equal(said, want) {
		t.Errorf("%q, want %q", said, want)
	}
}

// Codes of several containers are named with them, and numbers that only processes on Windows end
// with in words.
func TestTheTitleNamesCodes(t *testing.T) {
	pod := func(os, a, b string) string {
		return `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"os":{"name":"` + os + `"},"restartPolicy":"Never",` +
			`"containers":[{"name":"a","image":"i"` + a + `},{"name":"b","image":"i"` + b + `}]}}`
	}
	rule := func(operator, values string) string {
		return `,"restartPolicy":"Never","restartPolicyRules":[{"action":"Restart","exitCodes":{"operator":"` + operator + `","values":[` + values + `]}}]`
	}
	for want, other := range map[string]string{
		"Exit codes differ: 42, 43 of a, 42 of b":           pod("linux", rule("In", "42,43"), rule("In", "42")),
		"Only exit 42 differs":                              pod("linux", rule("In", "42"), ""),
		"Exit codes differ: 42, 44":                         pod("linux", rule("In", "42,44"), ""),
		"Exit codes differ: 255, -1 and less, 256 and more": pod("windows", rule("NotIn", codeList()), ""),
	} {
		os := "linux"
		if strings.Contains(want, "and less") {
			os = "windows"
		}
		request := `{"of":"table","request":{"manifest":` + pod(os, "", "") + `},"variants":[{"name":"x"},{"name":"y","manifest":` + other + `}]}`
		answer, _ := ops.Call(explain, schema.Explain("compare", []byte(request)))
		var got struct{ Document document }
		if err := json.Unmarshal(answer, &got); err != nil || got.Document.Verdict.Title != want {
			t.Errorf("%q, want %q (%v)", got.Document.Verdict.Title, want, err)
		}
	}
}

// codeList is all codes of Linux but the last: as many as a rule may have.
func codeList() string {
	var list []string
	for code := range 255 {
		list = append(list, fmt.Sprint(code))
	}
	return strings.Join(list, ",")
}

// Fleets are compared by what they lead to, not by each stretch of time.
func TestTheTitleOfFleets(t *testing.T) {
	for patch, want := range map[string]string{
		`{"backoff":{"preset":"reduced"}}`: "385 restarts instead of 110, 1925 requests instead of 550",
		`{"requestsPerRestart":4}`:         "440 requests instead of 550",
		`{"cost":{"image":1}}`:             "Differs in work",
	} {
		answer, _ := ops.Call(explain, schema.Explain("compare", []byte(`{"of":"fleet","request":{"groups":[{"pods":11,"run":{"for":"0s","exitCode":1}}]},"variants":[{"name":"x"},{"name":"y","patch":`+patch+`}]}`)))
		var got struct{ Document document }
		if err := json.Unmarshal(answer, &got); err != nil || got.Document.Verdict.Title != want {
			t.Errorf("%s: %q, want %q (%v)", patch, got.Document.Verdict.Title, want, err)
		}
		if bytes.Contains(answer, []byte(`"text":"bins`)) {
			t.Errorf("%s: the document lists bins", patch)
		}
	}
}

// What documents say is so: nothing is said of other containers, of rules, of limits and of gates
// that the question does not have, and why a container is in a loop is why that container restarts.
func TestDocumentsAreTrue(t *testing.T) {
	loops, alone := 0, 0
	for _, c := range cases(t) {
		if !json.Valid(c.Request) {
			continue
		}
		explained, _ := ops.Call(explain, schema.Explain(c.Operation.Name, c.Request))
		var a struct {
			Answer struct {
				Cluster struct {
					FeatureGates map[string]bool
					Kubelet      json.RawMessage
				}
			}
			Document json.RawMessage
		}
		var d document
		if err := json.Unmarshal(explained, &a); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(a.Document, &d); err != nil {
			t.Fatal(err)
		}
		request, said := string(c.Request), string(a.Document)
		for text, needs := range map[string]string{
			"no podFailurePolicy rule": "podFailurePolicy", // and not just a Job without
			"imit 2147483647":          "2147483647",       // the default of a Job with backoffLimitPerIndex
			"imit is 2147483647":       "2147483647",
			"2147483647 allowed":       "2147483647",
			"<invalid>":                "<invalid>", // what kubectl prints of times that cannot be
		} {
			if strings.Contains(said, text) && !strings.Contains(request, needs) {
				t.Errorf("%s: the document says %q of a question without %s", c.Name, text, needs)
			}
		}
		if n := strings.Count(request, `"image"`); n == 1 && strings.Contains(request, `"containers"`) && !strings.Contains(request, `"dev.`) {
			if alone++; strings.Contains(said, "other containers") {
				t.Errorf("%s: the document speaks of other containers, and there is one", c.Name)
			}
		}
		if c.Operation.Name == "table" && a.Answer.Cluster.FeatureGates["ContainerRestartRules"] && a.Answer.Cluster.Kubelet == nil && strings.Contains(said, "the gate ContainerRestartRules is off") {
			t.Errorf("%s: the gate ContainerRestartRules is on, and the document says that it is off", c.Name)
		}
		if name, _, found := strings.Cut(d.Verdict.Text, " was restarted "); found && d.Verdict.Because != "" && d.Verdict.Title == "CrashLoopBackOff" && c.Operation.Name == "simulate" {
			loops++
			restarts := func(i item) bool {
				why := strings.TrimPrefix(strings.TrimPrefix(d.Verdict.Because, "because "), "by ")
				return strings.HasPrefix(i.Text, name+" exits with ") && strings.Contains(i.Text, "Restart") && i.Because == why
			}
			for _, b := range d.Blocks {
				if b.Title == "Why" && !slices.ContainsFunc(b.Items, restarts) {
					t.Errorf("%s: %s is said to be in a loop %s, which is not why it restarts", c.Name, name, d.Verdict.Because)
				}
			}
		}
	}
	if loops < 5 || alone < 100 {
		t.Errorf("%d loops and %d Pods with one container seen", loops, alone)
	}
}

// TestSentences asks for single sentences that were once untrue of such a question.
func TestSentences(t *testing.T) {
	pod := func(meta, more, spec string) string {
		return `"manifest":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"` + meta + `},"spec":{` + spec + `"containers":[{"name":"c","image":"i"` + more + `}]}`
	}
	job := func(spec, policy string) string {
		return `"manifest":{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j"},"spec":{` + spec + `"template":{"spec":{"restartPolicy":"` + policy + `","containers":[{"name":"c","image":"i"}]}}}}`
	}
	owner := func(version, kind string) string {
		return `,"ownerReferences":[{"apiVersion":"` + version + `","kind":"` + kind + `","name":"o","uid":"u","controller":true}]`
	}
	const (
		never  = `"restartPolicy":"Never",`
		init   = `"initContainers":[{"name":"i","image":"i"}],`
		fails  = `"exits":[{"container":"c","exitCode":1}],`
		status = `,"status":{"phase":"Running","startTime":"2026-01-01T10:00:00Z","containerStatuses":[{"name":"c","image":"i","imageID":"i","ready":true,"restartCount":1,` +
			`"state":{"running":{"startedAt":"2026-01-01T10:01:00Z"}},"lastState":{"terminated":{"exitCode":1,"startedAt":"2026-01-01T10:00:00Z","finishedAt":"2026-01-01T10:01:00Z"}}}]}`
		future = `"cluster":{"proposals":{"kep-5307-future":{}}},`
		two    = `"manifest":{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j"},"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"},{"name":"d","image":"i"}]}}}}`
	)
	set := `"manifest":{"apiVersion":"jobset.x-k8s.io/v1alpha2","kind":"JobSet","metadata":{"name":"s"},"spec":{"replicatedJobs":[` +
		jobOfASet("a", `"backoffLimit":1,"podFailurePolicy":{"rules":[{"action":"FailJob","onExitCodes":{"operator":"In","values":[3]}}]},`, "Never", "c") + `,` +
		jobOfASet("b", `"backoffLimit":2,"podFailurePolicy":{"rules":[{"action":"Ignore","onExitCodes":{"operator":"In","values":[1,3]}}]},`, "Never", "c") + `,` +
		jobOfASet("o", ``, "OnFailure", "o") + `]}}`
	for _, c := range []struct{ op, request, want, not string }{
		{"decide", fails + pod(owner("batch/v1", "Job"), "", never) + `}`, "a Job owns this Pod", "nothing replaces this Pod"},
		{"decide", fails + pod(owner("apps/v1", "ReplicaSet"), "", never) + `}`, "the ReplicaSet replaces a Pod that has ended", "nothing replaces this Pod"},
		{"decide", fails + pod(owner("x.io/v1", "Trainer"), "", never) + `}`, "whether a Trainer creates another Pod is not simulated", "nothing replaces this Pod"},
		{"decide", fails + pod(owner("v1", "Node"), "", never) + `}`, "nothing replaces this Pod", "the Node replaces"},
		{"decide", `"exits":[{"container":"c","exitCode":3}],` + set, `"c exits with 3 in spec.replicatedJobs[1].template: Stop, because restartPolicy is Never; ignored, a new Pod"`, ""},
		{"decide", `"exits":[{"container":"c","exitCode":3}],` + set, `"quote":"In [1, 3] → Ignore","because":"3 is in [1, 3]","path":"spec.replicatedJobs[1].template.spec.podFailurePolicy.rules[0]"`, ""},
		{"decide", `"exits":[{"container":"o","exitCode":3}],` + set, `"quote":"6","because":"the restart counts","path":"spec.replicatedJobs[2].template.spec.backoffLimit"`, ""},
		{"decide", fails + `"manifest":{"apiVersion":"kubeflow.org/v1","kind":"TFJob","metadata":{"name":"x"},"spec":{"tfReplicaSpecs":{"PS":{"restartPolicy":"OnFailure","template":{"spec":{"restartPolicy":"Always","containers":[{"name":"c","image":"i"}]}}}}}}`,
			`"quote":"OnFailure","because":"restartPolicy is OnFailure and the code is not 0","path":"spec.tfReplicaSpecs.PS.restartPolicy"`, `"quote":"Always"`},
		{"suggest", `"flip":{"container":"main","exit":1,"to":"restart"},"manifest":{"apiVersion":"argoproj.io/v1alpha1","kind":"Workflow","metadata":{"name":"w"},"spec":{"templates":[{"name":"a","container":{"image":"i"}}]}}`,
			"et the container's restartPolicy to Never", "et the Pod's restartPolicy"},
		{"table", set, `"Exit codes of c in spec.replicatedJobs[1].template"`, ""},
		{"decide", `"exits":[{"container":"xgboost","exitCode":1}],"manifest":{"apiVersion":"kubeflow.org/v1","kind":"XGBoostJob","metadata":{"name":"x"},"spec":{"xgbReplicaSpecs":{` +
			`"Master":{"restartPolicy":"Never","template":{"spec":{"containers":[{"name":"xgboost","image":"i"}]}}},"Worker":{"restartPolicy":"ExitCode","template":{"spec":{"containers":[{"name":"xgboost","image":"i"}]}}}}}}`,
			`"title":"Owner (operator)","items":[{"tone":"stop","mark":"note","text":"the replica fails"`, ""},
		{"decide", `"show":["rows"],` + fails + pod("", "", "") + status + `}`, `"p      0/1     Error    1"`, "ago"},
		{"decide", `"exits":[{"container":"i","exitCode":1}],` + pod("", "", never+init) + `}`, "its main containers are not started", "other containers"},
		{"decide", fails + job(`"completions":2,"completionMode":"Indexed","backoffLimitPerIndex":0,`, "Never"), "backoffLimitPerIndex is 0", "has no podFailurePolicy"},
		{"decide", fails + job(`"completions":2,"completionMode":"Indexed","backoffLimitPerIndex":1,"backoffLimit":3,`, "Never"), "failure 1, backoffLimitPerIndex is 1 and backoffLimit is 3", ""},
		{"decide", fails + job(`"backoffLimit":0,`, "OnFailure"), "until the controller deletes it", "does not end"},
		{"decide", future + `"exits":[{"container":"c","exitCode":3}],` + pod("", `,"restartPolicy":"Never","restartPolicyRules":[{"action":"Complete","when":{"exitCodes":{"operator":"In","values":[3]}}}]`, never) + `}`, `"Succeeded","because":"it has no other main container"`, "goes on"},
		{"decide", future + `"exits":[{"container":"c","exitCode":3}],` + pod("", `,"restartPolicy":"Never","restartPolicyRules":[{"action":"TerminatePod","when":{"exitCodes":{"operator":"In","values":[3]}}}]`, never) + `}`, "whatever else runs in it is killed", "other containers"},
		{"decide", `"cluster":{"proposals":{"kep-3322":{}}},` + fails + pod("", "", `"restartPolicy":"OnFailure","maxRestartTimes":2,`) + `}`, `"text":"maxRestartTimes"`, "the kind of container"},
		{"table", `"cluster":{"proposals":{"kep-3322":{}}},` + pod("", "", `"restartPolicy":"OnFailure","maxRestartTimes":2,`) + `}`, "If not restarted yet, 0 → stays terminated", ""},
		{"decide", `"cluster":{"proposals":{"kep-4603-draft":{}}},` + fails + pod("", "", `"restartPolicy":"Rapid",`) + `}`, "restartPolicy is Rapid", "restartPolicy is Always"},
		{"decide", `"cluster":{"proposals":{"kep-4603-draft":{}}},` + fails + pod("", "", `"restartPolicy":"Rapid",`) + `}`, "restartPolicy is Rapid", "To change this"}, // suggest has no words of proposals
		{"table", `"cluster":{"proposals":{"always-pod":{}}},` + pod("", "", `"restartPolicy":"AlwaysPod",`) + `}`, "RestartAllContainers", "To change this"},
		{"decide", fails + pod("", "", never) + `}`, "To change this", ""},
		{"decide", fails[:len(`"exits":[{"container":"`)] + `main","exitCode":1}],` + `"manifest":{"apiVersion":"argoproj.io/v1alpha1","kind":"Workflow","metadata":{"generateName":"w-"},"spec":{"entrypoint":"a","templates":[{"name":"a","retryStrategy":{"limit":"2"},"container":{"image":"i"}}]}}`, `"text":"Failed"`, "goes on"},
		// What did not end the Pod is no reason for its end.
		{"simulate", `"until":"10m","runs":{"c":[{"for":"5s","exitCode":1,"times":"forever"}]},"events":[{"at":"1m","type":"Evicted"}],` + pod("", "", "") + `}`, `"no more restarts","because":"the Pod has ended"`, `"because":"because `},
		{"simulate", `"until":"10m","runs":{"c":[{"for":"5s","exitCode":1}]},"events":[{"at":"1m","type":"Deleted"}],` + pod("", "", "") + `}`, "1 restart. The Pod was deleted.", "c exits with 1: Restart."},
		{"simulate", `"until":"10m","runs":{"c":[{"for":"5s","exitCode":1}]},` + pod("", "", "") + `}`, "The last exit was that of c with 1: Restart.", ""},
		{"simulate", `"until":"10m","runs":{"c":[{"for":"5s","exitCode":1}]},` + two, "Its Pods still run: a container without runs does not end by itself.", ""},
		{"decide", fails + two, "Once its other containers have ended, the Pod fails, the failure counts", ""},
		{"decide", `"exits":[{"exitCode":1}],"manifest":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[]}}`, "the Pod has no containers", "several containers"},
		{"decide", fails + pod("", "", never) + `}`, "It stays terminated, and the Pod fails.", ""},
		{"decide", fails + pod("", "", "") + status + `}`, "after a wait that grows with each restart", "the first time immediately"},
		{"decide", fails + job(`"backoffLimit":0,`, "Never"), "because backoffLimit is 0; reason BackoffLimitExceeded", "no podFailurePolicy"},
		{"decide", fails + job("", "Never"), "because the Job has no podFailurePolicy", `"path":"spec.backoffLimit","line"`},
		{"decide", `"exits":[{"container":"c","exitCode":0}],` + job(`"completions":3,"completionMode":"Indexed","successPolicy":{"rules":[{"succeededCount":2}]},`, "Never"), "the Job goes on until its completions or its successPolicy are met", "needs more completions"},
		{"simulate", `"until":"5m","runs":{"c":[{"for":"1h","exitCode":1}]},` + pod("", "", "") + `}`, "No container ends by then.", "nothing says when"},
		{"simulate", `"until":"5m",` + pod("", "", "") + `}`, "No container ends: nothing says when they do.", ""},
		{"simulate", `"until":"5m","runs":{"c":[{"for":"5s","exitCode":1}]},` + job(`"backoffLimit":0,`, "Never"), `"path":"spec.backoffLimit"`, `".spec.`},
		{"decide", fails + job("", "Never"), `"text":"backoffLimit","quote":"6","because":"the failure counts","path":"spec.backoffLimit"`, `".spec.`},
		{"decide", `"exits":[{"container":"i","exitCode":0,"reason":"OOMKilled"}],` + pod("", "", never+init) + `}`, "It stays terminated, and the Pod is stopped: an init container did not succeed.", "Failed"},
		{"table", pod("", "", never+init) + `}`, `"0 (OOMKilled)","","the Pod is stopped"`, ""},
		{"simulate", `"until":"5m",` + job(`"completions":2,"parallelism":2,"completionMode":"Indexed",`, "Never"), `"PodCreated","index 0 and 1 more"`, ""},
		{"simulate", `"until":"5m","runs":{"c":[{"for":"5s","exitCode":1}]},"owner":true,"manifest":{"apiVersion":"jobset.x-k8s.io/v1alpha2","kind":"JobSet","metadata":{"name":"s"},"spec":{"failurePolicy":{"maxRestarts":1},"replicatedJobs":[{"name":"w","template":{"spec":{"backoffLimit":0,"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}}}]}}`, "; 1 counted, maxRestarts is 1.", "1 count "},
		{"suggest", `"flip":{"container":"c","exit":1,"to":"failIndex"},` + job("", "Never"), `"1.37","there is none","none: FailIndex needs`, "does not do it"},
		{"suggest", `"cluster":{"version":"1.34"},"flip":{"container":"i","exit":137,"to":"restart"},` + pod("", "", never+init) + `}`, `"i","0 (OOMKilled)"`, `"i","0","`},
	} {
		request := `{` + c.request + `}`
		answer, failed := ops.Call(explain, schema.Explain(c.op, []byte(request)))
		if !strings.Contains(string(answer), c.want) || failed {
			t.Errorf("%s %s: want %s in\n%s", c.op, request, c.want, answer)
		}
		if _, document, _ := strings.Cut(string(answer), `"document":`); c.not != "" && strings.Contains(document, c.not) {
			t.Errorf("%s %s: %s in\n%s", c.op, request, c.not, document)
		}
	}
}

// jobOfASet is one of the replicatedJobs of a JobSet.
func jobOfASet(name, spec, policy, container string) string {
	return `{"name":"` + name + `","template":{"spec":{` + spec + `"template":{"spec":{"restartPolicy":"` + policy + `","containers":[{"name":"` + container + `","image":"i"}]}}}}}`
}
