package policytest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/podfate/podfate/policy/ops"
)

// TestDraftsAreFixed: a rule in the words of a draft is refused, and the fix that comes with the
// fault makes it one that is accepted and restarts on the same code. What a draft says next to the
// codes was not built, so that there is nothing to fix it to. Question C32 of the playground.
func TestDraftsAreFixed(t *testing.T) {
	const codes = `{"operator":"In","values":[42]}`
	for rule, fixed := range map[string]bool{
		`"when":{"exitCodes":` + codes + `}`:                      true,
		`"onExit":{"exitCodes":` + codes + `}`:                    true,
		`"onExitCodes":` + codes:                                  true,
		`"when":{"exitCodes":` + codes + `,"restartTimes":3}`:     false,
		`"when":{"restartTimes":3}`:                               false,
		`"when":{"exitCodes":[42]}`:                               false,
		`"when":{"exitCodes":` + codes + `},"exitCodes":` + codes: false,
	} {
		manifest := `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"restartPolicy":"Never","containers":[{"name":"main","image":"i",` +
			`"restartPolicy":"Never","restartPolicyRules":[{"action":"Restart",` + rule + `}]}]}}`
		var fixes []fixOf
		for _, f := range verdictOf(map[string]json.RawMessage{"manifest": json.RawMessage(manifest)}) {
			if f.Code == "unknown_field" {
				fixes = append(fixes, f.Fixes...)
			}
		}
		if !fixed {
			if len(fixes) != 0 {
				t.Errorf("%s: is fixed: %+v", rule, fixes)
			}
			continue
		}
		if len(fixes) != 1 {
			t.Errorf("%s: %d fixes", rule, len(fixes))
			continue
		}
		var tree any
		if err := json.Unmarshal([]byte(manifest), &tree); err != nil {
			t.Fatal(err)
		}
		for _, e := range fixes[0].Edits {
			if err := apply(&tree, e.Op, e.From, e.Path, e.Value); err != nil {
				t.Fatalf("%s: %v", rule, err)
			}
		}
		text, err := json.Marshal(tree)
		if err != nil {
			t.Fatal(err)
		}
		request := map[string]json.RawMessage{"manifest": text}
		if left := verdictOf(request); count(left, "unknown_field")+count(left, "required") != 0 {
			t.Errorf("%s: %+v is left in %s", rule, left, text)
		}
		if lines := strings.Split(outcomes(request), "\n"); lines[41] != "main Stop false" || lines[42] != "main Restart false" {
			t.Errorf("%s: 41 and 42 come to %q", rule, lines[41:43])
		}
	}
}

// TestSettingsSayHowTheyAreSpelt: the setting of a kubelet and its gate as a proposal spells them
// are refused with the name that is meant, and a number or a text without a unit with a length of
// time as it has to be. Question B19 of the playground.
func TestSettingsSayHowTheyAreSpelt(t *testing.T) {
	for settings, want := range map[string]string{
		`"crashloopbackoff":{"maxContainerRestartPeriod":4}`:         "names are case-sensitive: crashLoopBackOff",
		`"featureGates":{"ReduceDefaultCrashLoopBackoffDecay":true}`: "gate names are case-sensitive: ReduceDefaultCrashLoopBackOffDecay",
		`"crashLoopBackOff":{"maxContainerRestartPeriod":4}`:         "must be a duration such as 1m30s, found 4",
		`"crashLoopBackOff":{"maxContainerRestartPeriod":"100"}`:     "100",
		`"crashLoopBackOff":{"MaxContainerRestartPeriod":"100s"}`:    "names are case-sensitive: maxContainerRestartPeriod",
		`"crashLoopBackOff":{"maxContainerRestartPeriod":"100s"}`:    "",
		`"featureGates":{"ReduceDefaultCrashLoopBackOffDecay":true}`: "",
	} {
		raw, _ := ops.Call(5, []byte(`{"cluster":{"version":"1.36","kubeletConfiguration":{`+settings+`}}}`))
		var a struct {
			Error struct{ Faults []struct{ Detail string } }
		}
		if err := json.Unmarshal(raw, &a); err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, f := range a.Error.Faults {
			got += f.Detail + "\n"
		}
		if (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q does not say %q", settings, got, want)
		}
	}
}
