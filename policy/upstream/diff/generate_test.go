package diff

import (
	"bytes"
	"encoding/json"
	"testing"
)

// Every case must be JSON, and the same one whenever it is made again: a difference is reported by
// its number.
func TestManifestsAreRepeatable(t *testing.T) {
	kinds := map[string]int{}
	for i := range 2000 {
		first, second := generate(1, i).manifest(), generate(1, i).manifest()
		if !bytes.Equal(first, second) {
			t.Fatalf("case %d differs from itself:\n%s\n%s", i, first, second)
		}
		var object struct{ Kind string }
		if err := json.Unmarshal(first, &object); err != nil {
			t.Fatalf("case %d: %v: %s", i, err, first)
		}
		kinds[object.Kind]++
	}
	if len(kinds) != 9 {
		t.Errorf("kinds: %v", kinds)
	}
}

// Kubelets see Pods whose containers have names of their own; the runtime's statuses are found by
// them.
func TestAdmissiblePodsHaveUniqueNames(t *testing.T) {
	for i := range 500 {
		g := generate(1, i)
		g.admissible = true
		var pod struct {
			Spec struct {
				Containers, InitContainers []struct{ Name string }
			}
		}
		if err := json.Unmarshal(g.pod(), &pod); err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{"": true}
		for _, c := range append(pod.Spec.Containers, pod.Spec.InitContainers...) {
			if seen[c.Name] {
				t.Fatalf("case %d: name %q occurs twice or is empty", i, c.Name)
			}
			seen[c.Name] = true
		}
	}
}
