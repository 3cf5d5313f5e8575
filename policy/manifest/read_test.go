package manifest_test

import (
	"strings"
	"testing"

	"github.com/podfate/podfate/policy/manifest"
)

// TestContainersStandInTheirPlace: what is in an object above the Pod's spec is none of it,
// also where there is no spec.
func TestContainersStandInTheirPlace(t *testing.T) {
	for _, k := range manifest.Kinds() {
		names := []string{"spec"}
		if k.Template != "" {
			names = append(strings.Split(k.Template, "."), "spec")
		}
		for depth := range len(names) + 1 {
			text := `{"restartPolicy":"Never","containers":[{"name":"main"}]}`
			for i := depth - 1; i >= 0; i-- {
				text = `{"` + names[i] + `":` + text + `}`
			}
			v, err := manifest.Parse([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			o := manifest.ReadObject(v, k.Kind, k.Template)
			if found, want := len(o.Spec.Containers) == 1 && o.Spec.RestartPolicy == "Never", depth == len(names); found != want || o.Spec.Len() > 0 && !want {
				t.Errorf("%s %s: containers are read: %v, want %v", k.Kind, text, found, want)
			}
		}
	}
}
