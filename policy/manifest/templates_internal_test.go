package manifest

import "testing"

// TestStepKeepsWhatIsAround: whether a Workflow patches its templates is read once, when it is
// entered, and kept. Asked of each template again, it takes a search through all members of the
// spec for each: a Workflow of 248 KB with 980 of them took ten seconds. The finder here knows
// nothing but what it kept, and believes that, whatever its root says.
func TestStepKeepsWhatIsAround(t *testing.T) {
	parse := func(text string) Value {
		v, err := Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	const template = `{"container":{"image":"i"}}`
	plain := parse(`{"apiVersion":"argoproj.io/v1alpha1","kind":"Workflow","spec":{"templates":[` + template + `]}}`)
	patched := parse(`{"apiVersion":"argoproj.io/v1alpha1","kind":"Workflow","spec":{"podSpecPatch":"{}","templates":[` + template + `]}}`)
	for _, root := range []Value{{}, plain, patched} {
		for _, kept := range []bool{false, true} {
			f := finder{root: root, names: []string{"spec", "templates", "#"}, owner: owner{group: "argoproj.io", kind: "Workflow", patched: kept}}
			want := "container"
			if kept {
				want = ""
			}
			if got := f.step(parse(template)); got != want {
				t.Errorf("%s, kept %v: %q, want %q", root.Raw(), kept, got, want)
			}
		}
	}
	for text, want := range map[string]bool{string(plain.Raw()): false, string(patched.Raw()): true} {
		var f finder
		if f.enter(parse(text), 0); f.patched != want {
			t.Errorf("%s: patched %v", text, f.patched)
		}
	}
}
