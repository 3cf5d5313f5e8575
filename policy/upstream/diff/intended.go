package diff

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/podfate/podfate/policy"
)

// Difference is a difference from Kubernetes that is meant to be one.
type Difference struct {
	Name string
	Why  string
	// shown reports whether Podfate still differs; its text goes to the test's log.
	shown func(r Release) (still bool, text string)
}

// Intended returns the differences that are meant.
func Intended() []Difference {
	return []Difference{
		{
			Name: "long values are cut",
			Why:  "An answer has an upper bound; Kubernetes repeats a value of any length in its message.",
			shown: func(r Release) (bool, string) {
				word := strings.Repeat("x", policy.MaxQuotedBytes+1)
				text := []byte(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"default"},"spec":{"restartPolicy":"` + word +
					`","containers":[{"name":"c","image":"i"}]}}`)
				ours, err := validate(r.Minor(), nil, text, nil)
				theirs := owned(r.Admit(text, false).Faults, text, r.Minor(), false, nil)
				if err != nil || len(ours.Faults) != 1 || len(theirs) != 1 {
					return false, fmt.Sprint(err, ours, theirs)
				}
				message := ours.Faults[0].Message
				return message != theirs[0] && strings.Contains(theirs[0], word) && strings.Contains(message, word[:policy.MaxQuotedBytes]+`"…`), message
			},
		},
		{
			Name: "only a hundred faults are listed",
			Why:  "The same bound; a last entry says how many are left out.",
			shown: func(r Release) (bool, string) {
				if r.Minor() < 34 {
					return true, "1.33 has no rules, so no list of faults gets that long"
				}
				rules := strings.Repeat(`{},`, policy.MaxFaults) + `{}`
				text := []byte(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"default"},"spec":{"containers":` +
					`[{"name":"c","image":"i","restartPolicy":"Never","restartPolicyRules":[` + rules + `]}]}}`)
				set := gateSets(r.Minor())[0]
				if err := r.SetGates(set); err != nil {
					return false, err.Error()
				}
				ours, err := validate(r.Minor(), set, text, nil)
				if err != nil {
					return false, err.Error()
				}
				theirs := owned(r.Admit(text, false).Faults, text, r.Minor(), false, nil)
				return len(ours.Faults) == policy.MaxFaults+1 && len(theirs) == 2*(policy.MaxFaults+1)+1,
					fmt.Sprintf("%d faults here, %d there", len(ours.Faults), len(theirs))
			},
		},
		{
			Name: "the difference of two Pods is not printed",
			Why:  "Kubernetes adds a comparison of two Go values to the message about an update, in several lines.",
			shown: func(r Release) (bool, string) {
				const pod = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"default"},"spec":{"restartPolicy":"%s","containers":[{"name":"c","image":"i"}]}}`
				old, text := fmt.Appendf(nil, pod, "Always"), fmt.Appendf(nil, pod, "Never")
				ours, err := validate(r.Minor(), nil, text, map[string]any{"old": json.RawMessage(old)})
				theirs := owned(r.Update(old, text).Faults, text, r.Minor(), true, nil)
				if err != nil || len(ours.Faults) != 1 || len(theirs) != 1 {
					return false, fmt.Sprint(err, ours, theirs)
				}
				return ours.Faults[0].Message != theirs[0] && ours.Faults[0].Message == firstLine(theirs[0]), theirs[0]
			},
		},
		{
			Name: "an update of fields that are not read",
			Why:  "Podfate compares what it reads of two Pods; Kubernetes refuses a change of nearly every other field too.",
			shown: func(r Release) (bool, string) {
				const pod = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"default"},"spec":{"dnsPolicy":"%s","containers":[{"name":"c","image":"i"}]}}`
				old, text := fmt.Appendf(nil, pod, "Default"), fmt.Appendf(nil, pod, "ClusterFirst")
				ours, err := validate(r.Minor(), nil, text, map[string]any{"old": json.RawMessage(old)})
				theirs := owned(r.Update(old, text).Faults, text, r.Minor(), true, nil)
				return err == nil && len(ours.Faults) == 0 && len(theirs) == 1 && strings.HasPrefix(theirs[0], unreadChange), fmt.Sprint(err, ours)
			},
		},
		{
			Name: "gates that are not modelled are refused",
			Why: "Kubernetes has hundreds of gates, most of which say nothing about exits. What the others do is as the release has it by default, " +
				"so that setting one is a fault that says so, without a message of Kubernetes; what such gates miss is not reported.",
			shown: func(r Release) (bool, string) {
				var modelled, other []string
				for _, name := range r.GateNames() {
					_, faults := policy.NewFeatures(r.Minor(), []policy.GateSetting{{Name: name, Enabled: true}})
					switch {
					case policy.IsGate(name):
						modelled = append(modelled, name)
						if len(faults) == 1 && faults[0].Code == policy.CodeUnknownGate {
							return false, name + ": modelled and refused"
						}
					case len(faults) != 1 || faults[0].Code != policy.CodeUnknownGate || faults[0].Message != "" || len(faults[0].Allowed) == 0 ||
						!strings.Contains(faults[0].Detail, "that are not listed count as that release has them by default"):
						return false, name + ": " + fmt.Sprint(faults)
					default:
						other = append(other, name)
					}
				}
				return len(other) > 100 && len(modelled) > 2, fmt.Sprintf("%d gates, of which %d are modelled: %v", len(modelled)+len(other), len(modelled), modelled)
			},
		},
	}
}

// intended checks that each intended difference is still one; else the list, and the documents,
// must change.
func (c *comparison) intended(t *testing.T) {
	for _, d := range Intended() {
		t.Run(d.Name, func(t *testing.T) {
			still, text := d.shown(c.release)
			if !still {
				t.Errorf("Podfate and Kubernetes no longer differ as described: %s", text)
			}
			t.Log(text)
		})
	}
}
