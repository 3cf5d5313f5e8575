package words_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

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

// TestEveryOperationHasScenariosAndWords names an operation that no scenario asks for, and one whose
// answers are put into no words. explain is asked about the others.
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
		check := func(where string, i item) {
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
}

// What judges a static Pod is the kubelet that finds it, with its own release, and the title says so.
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

// TestStepsOfTheJob: the steps are the rules that the manifest has, none where it has none, and then
// the limit.
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
			if b.Title == "What the Job makes of it" {
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

// TestWhatBecomesOfThePod: a Pod ends with its only container, also one with sidecars, and who makes
// a new one depends on the kind.
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
		{template(`argoproj.io/v1alpha1","kind":"Rollout`, one), "1", `"Failed","because":"it has no other main container"`, "whether a Rollout makes another Pod is not played"},
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

// Fleets are compared by what they come to, not by each stretch of time.
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
