package manifest

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/podfate/podfate/policy"
)

// TestJudgedFieldsExist holds the lists of what is checked to the types of Kubernetes: a line that
// names no type or no field of any release checks nothing, and a type that nothing leads to is
// never looked up.
func TestJudgedFieldsExist(t *testing.T) {
	for _, table := range []string{judgedOnCreate, judgedInTemplates, judgedOnUpdate} {
		for line := range strings.Lines(table) {
			words := strings.Fields(line)
			if len(words) == 0 {
				continue
			}
			i := slices.IndexFunc(typeRows[:], func(row typeRow) bool {
				return row.kind == structType && strings.HasSuffix("."+row.name.String(), "."+words[0])
			})
			if i < 0 {
				t.Errorf("no type is called %s", words[0])
				continue
			}
			if !slices.IsSorted(words[1:]) {
				t.Errorf("%s: not sorted", words[0])
			}
			for _, word := range words[1:] {
				name := strings.TrimSuffix(word, "*")
				rows := typeIndex(i).rows()
				r := slices.IndexFunc(rows, func(f fieldRow) bool { return f.text() == name })
				if r < 0 {
					t.Errorf("%s has no field %s", words[0], name)
				} else if below, ok := structBelow(rows[r].typ); (!ok) && name != word {
					t.Errorf("%s.%s: a star without fields below", words[0], name)
				} else if ok && name == word && !strings.Contains(table, "\n"+below.bareName()+" ") && name != "metadata" {
					t.Errorf("%s.%s: no line for %s", words[0], name, below)
				}
			}
		}
	}
}

// structBelow returns the struct type whose fields are below a field of type t.
func structBelow(t typeIndex) (typeIndex, bool) {
	for typeRows[t].kind == sliceType || typeRows[t].kind == mapType {
		t = typeIndex(typeRows[t].elem)
	}
	return t, typeRows[t].kind == structType
}

func TestHowFar(t *testing.T) {
	for _, test := range []struct {
		name, kind, text    string
		update              bool
		checked, notChecked []string
	}{
		{"an annotation that the API server reads as JSON", "Pod", `{"metadata":{"name":"p","annotations":{"a":"b","scheduler.alpha.kubernetes.io/tolerations":"[{}]"}}}`, false,
			[]string{"metadata.name"}, []string{"metadata.annotations[scheduler.alpha.kubernetes.io/tolerations]"}},
		{"whole objects stand for their fields", "Pod",
			`{"apiVersion":"v1","kind":"Pod","spec":{"restartPolicy":"Never","containers":[{"name":"a"},{"name":"b","args":["x"]}]},"status":{"phase":"Failed"}}`, false,
			[]string{"apiVersion", "kind", "spec", "status"}, nil},
		{"null and unknown fields are in no list", "Pod", `{"spec":{"affinity":null,"nonsense":{"a":1},"containers":[null]}}`, false, []string{"spec"}, nil},
		{"the highest field that is not checked", "Pod", `{"spec":{"overhead":{"cpu":"1"},"containers":[{"name":"a"},{"name":"b","securityContext":{"windowsOptions":{"hostProcess":true}}}]}}`, false,
			[]string{"spec.containers[0]", "spec.containers[1].name"}, []string{"spec.overhead", "spec.containers[1].securityContext.windowsOptions"}},
		{"on update the image may not change", "Pod", `{"spec":{"containers":[{"name":"a","command":["x"]}]}}`, true,
			[]string{"spec.containers[0].name"}, []string{"spec.containers[0].command"}},
	} {
		v, err := Parse([]byte(test.text))
		if err != nil {
			t.Fatal(err)
		}
		got := HowFar(v, test.kind, policy.NewestMinor, test.update)
		if !slices.Equal(got.Checked.List, test.checked) || !slices.Equal(got.NotChecked.List, test.notChecked) {
			t.Errorf("%s: checked %q and not %q, want %q and %q", test.name, got.Checked.List, got.NotChecked.List, test.checked, test.notChecked)
		}
	}
}

// TestHowFarIsBounded asks about more fields than are listed: of the rest the number is right, also
// when a list of which more is checked than fits turns out to be checked as a whole.
func TestHowFarIsBounded(t *testing.T) {
	containers := func(n int, each string) string {
		return `{"spec":{"containers":[` + strings.TrimSuffix(strings.Repeat(each+",", n), ",") + `]}}`
	}
	for _, test := range []struct {
		text                string
		checked, notChecked int
	}{
		{containers(policy.MaxListedPaths+7, `{"name":"a"}`), 1, 0},
		{containers(policy.MaxListedPaths+7, `{"name":"a","resources":{"claims":[]}}`), policy.MaxListedPaths + 7, policy.MaxListedPaths + 7},
		{containers(policy.MaxListedPaths, `{"name":"a"}`)[:len(containers(policy.MaxListedPaths, `{"name":"a"}`))-3] + `,{"resources":{"claims":[]}}]}}`, policy.MaxListedPaths, 1},
	} {
		v, err := Parse([]byte(test.text))
		if err != nil {
			t.Fatal(err)
		}
		got := HowFar(v, "Pod", policy.NewestMinor, false)
		for name, p := range map[string]Paths{"checked": got.Checked, "not checked": got.NotChecked} {
			want := test.checked
			if name != "checked" {
				want = test.notChecked
			}
			if p.len() != want || len(p.List) != min(want, policy.MaxListedPaths) {
				t.Errorf("%s: %d listed and %s more, want %d in all", name, len(p.List), strconv.Itoa(p.More), want)
			}
		}
	}
}
