package policytest

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/podfate/podfate/policy/simulate"
)

// TestEventTypes holds that each type of event has a scenario that expects something about it
// (R-P11): it happens there, the answer shows it, and it is not ignored.
func TestEventTypes(t *testing.T) {
	cases, err := Cases()
	if err != nil {
		t.Fatal(err)
	}
	expected := map[string]string{}
	for _, c := range cases {
		if c.Operation.Name != "simulate" {
			continue
		}
		var request struct{ Events []struct{ Type string } }
		if json.Unmarshal(c.Request, &request) != nil {
			continue // an event that is none
		}
		for _, e := range request.Events {
			if shows(c.Want, e.Type) {
				expected[e.Type] = c.Name
			}
		}
	}
	for _, name := range slices.Concat(simulate.EventTypes(), simulate.OutsideTypes()) {
		if expected[name] == "" {
			t.Errorf("%s: no scenario expects anything about this event", name)
		}
	}
}

// shows reports whether an answer in words has an entry about an event that changes something.
func shows(want, event string) bool {
	for line := range strings.Lines(want) {
		if words := strings.Fields(line); slices.Contains(words, event) && !slices.Contains(words, "ignored:") {
			return true
		}
	}
	return false
}
