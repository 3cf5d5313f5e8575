package ops_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/podfate/podfate/policy/ops"
)

// A word of a proposal that is not on is a fault that names the proposal; a name or an option that
// nobody knows is one with the list of those that there are.
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

// AlwaysPod that keeps the sandbox and does not wait is RestartAllContainers after each exit of
// each main container, event by event.
func TestAlwaysPodIsRestartAllContainers(t *testing.T) {
	for _, runs := range []string{
		`{"i":[{"for":"1s","exitCode":0,"times":"forever"}],"a":[{"for":"10s","exitCode":0,"times":3}]}`,
		`{"i":[{"for":"1s","exitCode":1},{"for":"1s","exitCode":0,"times":"forever"}],"a":[{"for":"3s","exitCode":1,"times":"forever"}],"b":[{"for":"7s","exitCode":9,"times":4}]}`,
		`{"i":[{"for":"0s","exitCode":0,"times":"forever"}],"a":[{"for":"5s","exitCode":137,"reason":"OOMKilled","times":2}],"b":[{"for":"5s","exitCode":0,"times":2}]}`,
	} {
		ask := func(proposals, pod, rules string) (events []map[string]any) {
			answer, failed := ops.Call(4, []byte(`{"cluster":{"version":"1.36"`+proposals+`},"until":"3m","runs":`+runs+`,"manifest":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},`+
				`"spec":{"restartPolicy":"`+pod+`","initContainers":[{"name":"i","image":"i"}],"containers":[{"name":"a","image":"i"`+rules+`},{"name":"b","image":"i"`+rules+`}]}}}`))
			var a struct{ Timeline []map[string]any }
			if err := json.Unmarshal(answer, &a); err != nil || failed {
				t.Fatalf("%s", answer)
			}
			for _, e := range a.Timeline {
				for _, why := range []string{"because", "decidedBy", "cause"} {
					delete(e, why)
				}
			}
			return a.Timeline
		}
		got := ask(`,"proposals":{"always-pod":{"wait":"none"}}`, "AlwaysPod", "")
		want := ask("", "Always", `,"restartPolicy":"Always","restartPolicyRules":[{"action":"RestartAllContainers","exitCodes":{"operator":"NotIn","values":[]}}]`)
		one, _ := json.Marshal(got)
		other, _ := json.Marshal(want)
		if string(one) != string(other) || len(got) < 10 {
			t.Errorf("%s\ngot  %s\nwant %s", runs, one, other)
		}
	}
}
