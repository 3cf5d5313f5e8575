package ops_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/podfate/podfate/policy/ops"
)

// A word of a proposal that is not on is a fault that names the proposal; a name or an option that nobody knows is one
// with the list of those that there are.
func TestProposalsAreNamed(t *testing.T) {
	const pod = `,"manifest":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"restartPolicy":"AlwaysPod","maxRestartTimes":3,` +
		`"containers":[{"name":"a","image":"i","restartPolicy":"Never","restartPolicyRules":[{"action":"Complete","when":{"restartTimes":1}}]}]}}`
	answer, failed := ops.Call(2, []byte(`{"cluster":{}`+pod+`}`))
	if failed {
		t.Fatalf("%s", answer)
	}
	var a struct {
		Faults []struct{ Path, Proposal string }
	}
	if err := json.Unmarshal(answer, &a); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, f := range a.Faults {
		got[f.Path] = f.Proposal
	}
	for path, name := range map[string]string{
		"spec.restartPolicy": "always-pod", "spec.maxRestartTimes": "kep-3322",
		"spec.containers[0].restartPolicyRules[0].when":   "kep-5307-future",
		"spec.containers[0].restartPolicyRules[0].action": "kep-5307-future",
	} {
		if got[path] != name {
			t.Errorf("%s names %q, want %q", path, got[path], name)
		}
	}
	for proposals, want := range map[string]string{
		`{"always-po":{}}`:              `"allowed":["kep-5307-future",`,
		`{"always-pod":{"sandbo":"x"}}`: `"path":"cluster.proposals[\"always-pod\"].sandbo","code":"unknown_field","detail":"unknown member","allowed":["sandbox","wait"]`,
		`{"always-pod":{"wait":"x"}}`:   `"code":"unsupported_value","detail":"\"x\" is not known","allowed":["asAlways","none"]`,
		`{"always-pod":7}`:              `"code":"wrong_type"`,
		`7`:                             `"path":"cluster.proposals","code":"wrong_type"`,
		`{"callback":{"x":"y"}}`:        `"path":"cluster.proposals.callback.x"`,
		`{"kep-5307-future":{"fallback":["pod"]}}`: `"must be a string, found an array"`,
	} {
		answer, failed := ops.Call(2, []byte(`{"cluster":{"proposals":`+proposals+`}`+pod+`}`))
		if !failed || !strings.Contains(string(answer), want) {
			t.Errorf("%s: %s", proposals, answer)
		}
	}
	answer, _ = ops.Call(2, []byte(`{"cluster":{"proposals":{"always-pod":{"wait":"none"},"callback":{},"kep-3322":null},"kubelet":{"proposals":{}}}`+pod+`}`))
	if want := `"proposals":{"callback":{},"always-pod":{"sandbox":"reuse","wait":"none"}},"kubelet":`; !strings.Contains(string(answer), want) {
		t.Errorf("no %s in %s", want, answer)
	}
	if strings.Count(string(answer), `"proposals":`) != 1 {
		t.Errorf("the node has proposals: %s", answer)
	}
}
