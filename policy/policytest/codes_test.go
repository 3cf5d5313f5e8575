package policytest

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/ops"
	"github.com/podfate/podfate/policy/simulate"
)

// codeTypes are the types of the constants that answers hold, with a heading each.
var codeTypes = []struct{ folder, name, heading string }{
	{"policy", "ErrorCode", "Errors"},
	{"policy", "FaultCode", "Faults"},
	{"policy/lint", "policy.FaultCode", "Warnings"},
	{"policy", "Because", "Why a decision"},
	{"policy", "StepCode", "What became of a step"},
	{"policy/simulate", "Kind", "Entries of a timeline"},
}

// TestCodes holds docs/codes.md, which lists every code of an answer, to the constants: one without
// a comment, which is what the page says of it, fails by its name. go test ./policy/policytest -run
// TestCodes -update writes the page again.
func TestCodes(t *testing.T) {
	const file = "../../docs/codes.md"
	var b strings.Builder
	b.WriteString("# Codes\n\nEvery code that an answer can have. Codes are stable: they are added and never renamed, while the\n" +
		"sentences next to them may change. Generated from the constants by\n`go test ./policy/policytest -run TestCodes -update`.\n")
	for _, of := range codeTypes {
		list := constants(t, filepath.Join("../..", of.folder), of.name)
		if len(list) == 0 {
			t.Errorf("%s has no constants of type %s", of.folder, of.name)
		}
		fmt.Fprintf(&b, "\n## %s\n\n| code | meaning |\n|---|---|\n", of.heading)
		for _, c := range list {
			if c.comment == "" {
				t.Errorf("the code %s (%s in %s) has no comment that says what it means", c.value, c.name, of.folder)
			}
			fmt.Fprintf(&b, "| `%s` | %s |\n", c.value, strings.ReplaceAll(c.comment, "|", "\\|"))
		}
	}
	b.WriteString("\n## Events\n\n| code | meaning |\n|---|---|\n")
	for _, name := range simulate.EventTypes() {
		fmt.Fprintf(&b, "| `%s` | an event for `simulate`, and its entry in the timeline |\n", name)
	}
	for _, name := range simulate.OutsideTypes() {
		fmt.Fprintf(&b, "| `%s` | an event that is not modelled: the answer is undecided from there on |\n", name)
	}
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if page, err := os.ReadFile(file); err != nil || string(page) != b.String() {
		t.Errorf("docs/codes.md is not what the constants say (%v): go test ./policy/policytest -run TestCodes -update", err)
	}
}

// askedElsewhere are the codes that no scenario has, with the test that has them: scenarios ask
// whole questions through operations, about a text that can be read and is short.
var askedElsewhere = map[string]string{
	"BAD_BUFFER":       "wasm.TestExportedCall",
	"BAD_UTF8":         "policy/ops.TestErrors",
	"BUDGET_EXCEEDED":  "policy/ops.TestErrors",
	"INTERNAL":         "wasm.TestInternalReplacesTheInstance",
	"OUTPUT_TOO_SMALL": "policy/packed.TestHead",
	"UNKNOWN_HANDLE":   "wasm/guest/machine.TestHandlesAreGivenOnce",
	"UNSUPPORTED_OP":   "policy/ops.TestErrors",
	"too_many_faults":  "policy/ops.TestFaultsAreCapped",

	"gate_dependency":           askedHere,
	"locked_gate":               askedHere,
	"no_requirement":            askedHere,
	"node_refuses":              askedHere,
	"not_found":                 askedHere,
	"too_long":                  askedHere,
	"too_many_indexes_to_track": askedHere,
	"PhaseDecided":              askedHere,
}

const askedHere = "policy/policytest.TestCodesWithoutScenario"

// TestCodesWithoutScenario asks for each of the codes that askedElsewhere leaves to it.
func TestCodesWithoutScenario(t *testing.T) {
	const container = `"containers":[{"name":"main","image":"i"}]`
	pod := func(cluster, spec string) string {
		return `{"cluster":{` + cluster + `},"manifest":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{` + spec + `}}`
	}
	job := func(spec string) string {
		return `{"manifest":{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j"},"spec":{` + spec +
			`,"template":{"spec":{"restartPolicy":"Never",` + container + `}}}}}`
	}
	for code, question := range map[string][2]string{
		"gate_dependency":           {"validate", pod(`"version":"1.36","featureGates":{"ContainerRestartRules":false}`, container) + "}"},
		"locked_gate":               {"validate", pod(`"version":"1.37","featureGates":{"NodeDeclaredFeatures":false}`, container) + "}"},
		"not_found":                 {"validate", pod("", container+`,"ephemeralContainers":[{"name":"e","image":"i","targetContainerName":"none"}]`) + "}"},
		"too_long":                  {"validate", job(`"managedBy":"example.com/` + strings.Repeat("x", 64) + `"`)},
		"too_many_indexes_to_track": {"validate", job(`"completionMode":"Indexed","completions":100001,"parallelism":10001`)},
	} {
		op, _ := ops.Lookup(question[0])
		answer, _ := ops.Call(op.Number, []byte(question[1]))
		if !strings.Contains(string(answer), `"`+code+`"`) {
			t.Errorf("%s is not in %s", code, answer)
		}
	}
	// The expected words of these scenarios say it without the code.
	cases, err := Cases()
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]bool{"node_refuses": false, "PhaseDecided": false}
	for _, c := range cases {
		answer, _ := ops.Call(c.Operation.Number, c.Request)
		for code := range said {
			said[code] = said[code] || strings.Contains(string(answer), `"`+code+`"`)
		}
	}
	for code, is := range said {
		if !is {
			t.Errorf("%s is in the answer of no scenario", code)
		}
	}
	// The API server refuses such a rule, so that only programs can ask about it.
	p := &policy.PodFailurePolicy{Rules: []policy.PodFailurePolicyRule{{Action: policy.ActionFailJob}}}
	if steps := policy.ExplainFailure(p, &policy.FailedPod{}, policy.PodFailureMatch{}); len(steps) == 0 || steps[0].Code != policy.StepNoRequirement {
		t.Errorf("a rule that asks for nothing: %+v", steps)
	}
}

// TestWarningsAreWhole holds that each warning that a scenario meets says what it is about, and
// where that is specified if it is one of package lint about the manifest alone.
func TestWarningsAreWhole(t *testing.T) {
	of := map[string]bool{} // codes whose constant is passed to warn or job in package lint
	for _, c := range constants(t, "../lint", "policy.FaultCode") {
		of[c.value] = c.name != "" && usedInLint(t, c.name)
	}
	cases, err := Cases()
	if err != nil {
		t.Fatal(err)
	}
	met := map[string]bool{}
	for _, c := range cases {
		answer, _ := ops.Call(c.Operation.Number, c.Request)
		var got struct {
			Warnings []struct{ Code, Detail, Message, Source string }
		}
		if json.Unmarshal(answer, &got) != nil {
			continue
		}
		for _, w := range got.Warnings {
			met[w.Code] = true
			if w.Detail == "" && w.Message == "" {
				t.Errorf("%s: the warning %s has no detail", c.Name, w.Code)
			}
			if of[w.Code] && w.Source == "" {
				t.Errorf("%s: the warning %s has no source", c.Name, w.Code)
			}
		}
	}
	if len(met) < 30 {
		t.Errorf("the scenarios meet %d warnings: this test proves nothing", len(met))
	}
}

// usedInLint reports whether package lint itself warns with the constant called name; operations do
// with the others.
func usedInLint(t *testing.T, name string) bool {
	files, err := filepath.Glob("../lint/*.go")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(file, "_test.go") {
			n += len(regexp.MustCompile(`\b`+name+`\b`).FindAll(text, -1))
		}
	}
	return n > 1 // beyond its declaration
}

// TestEveryCodeHasAScenario holds that each code of an answer, and each event, is in the expected
// words of a scenario. A new one without a scenario fails by its name.
func TestEveryCodeHasAScenario(t *testing.T) {
	expected := map[string]bool{}
	for _, want := range expectedWords(t) {
		for _, word := range strings.FieldsFunc(want, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			expected[word] = true
		}
	}
	var all []string
	for _, of := range codeTypes {
		for _, c := range constants(t, filepath.Join("../..", of.folder), of.name) {
			all = append(all, c.value)
		}
	}
	all = append(append(all, simulate.EventTypes()...), simulate.OutsideTypes()...)
	for _, code := range all {
		switch test := askedElsewhere[code]; {
		case expected[code] && test != "":
			t.Errorf("the code %s has a scenario now: askedElsewhere need not name %s", code, test)
		case !expected[code] && test == "":
			t.Errorf("no scenario expects the code %s", code)
		case test != "":
			at := strings.LastIndexByte(test, '.')
			if !strings.Contains(testsOf(t, test[:at]), "\nfunc "+test[at+1:]+"(") {
				t.Errorf("the code %s: there is no test %s", code, test)
			}
		}
	}
}

type codeConstant struct{ name, value, comment string }

// constants returns the constants of a type in a folder, by value. A comment above a group speaks
// for those of it that have none.
func constants(t *testing.T, folder, typeName string) (list []codeConstant) {
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.CONST {
				continue
			}
			for _, s := range g.Specs {
				v := s.(*ast.ValueSpec)
				if v.Type == nil || types.ExprString(v.Type) != typeName || len(v.Values) != 1 {
					continue
				}
				lit, ok := v.Values[0].(*ast.BasicLit)
				if !ok {
					continue
				}
				value, err := strconv.Unquote(lit.Value)
				if err != nil || value == "" {
					continue
				}
				comment := strings.TrimSpace(v.Comment.Text() + " " + v.Doc.Text())
				list = append(list, codeConstant{v.Names[0].Name, value, strings.Join(strings.Fields(comment), " ")})
			}
		}
	}
	slices.SortFunc(list, func(a, b codeConstant) int { return strings.Compare(a.value, b.value) })
	return list
}
