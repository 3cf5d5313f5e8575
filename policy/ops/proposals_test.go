package ops_test

import (
	"encoding/json"
	"fmt"
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

// What the actions of the future KEP-5307 mean to a Job, and to the counts that rules ask for:
// siblings that TerminatePod kills end with 137, which a rule of the Job sees, and not the 0 before
// a Pod is successful whose failure is Complete, and its code reaches no rule;
// restartTimes counts restarts of all containers, too.
func TestActionsOfTheFutureInAJob(t *testing.T) {
	const on = `{"cluster":{"version":"1.36","proposals":{"kep-5307-future":{}}},"until":"1m",`
	const job = on + `"manifest":{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j"},"spec":{"backoffLimit":3,
"podFailurePolicy":{"rules":[{"action":"FailJob","onExitCodes":{"operator":"In","values":[137]}},{"action":"FailJob","onExitCodes":{"operator":"In","values":[1]}}]},
"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"keystone","image":"i","restartPolicy":"Never","restartPolicyRules":[
{"action":"TerminatePod","exitCodes":{"operator":"In","values":[0]}},{"action":"Complete","exitCodes":{"operator":"In","values":[1]}}]},{"name":"helper","image":"i"}]}}}},`
	const pod = on + `"manifest":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"restartPolicy":"Never","containers":[
{"name":"a","image":"i","restartPolicy":"Never","restartPolicyRules":[{"action":"RestartAllContainers","exitCodes":{"operator":"In","values":[1]}}]},
{"name":"b","image":"i","restartPolicy":"Never","restartPolicyRules":[{"action":"Complete","when":{"restartTimes":1}}]}]}},`
	type entry struct {
		Container, Event, Action, Message string
		ExitCode                          *int
	}
	for name, test := range map[string]struct{ request, want string }{
		"X-42": {job + `"runs":{"keystone":[{"for":"10s","exitCode":1}],"helper":[{"for":"20s","exitCode":0}]}}`, "keystone 1 Complete|helper 0 Stop|JobCompleted"},
		"X-43": {job + `"runs":{"keystone":[{"for":"10s","exitCode":0}]}}`,
			"keystone 0 TerminatePod|helper 137 |JobFailed Container helper for pod default/j-bbbbb failed with exit code 137 matching FailJob rule at index 0"},
		"X-44": {pod + `"runs":{"a":[{"for":"10s","exitCode":1}],"b":[{"for":"20s","exitCode":5},{"for":"5s","exitCode":5}]}}`,
			"a 1 RestartAllContainers|b 137 |b 5 Complete"},
	} {
		answer, failed := ops.Call(4, []byte(test.request))
		var a struct{ Timeline []entry }
		if err := json.Unmarshal(answer, &a); err != nil || failed {
			t.Errorf("%s: %s", name, answer)
			continue
		}
		var got []string
		for _, e := range a.Timeline {
			switch e.Event {
			case "Exited":
				got = append(got, fmt.Sprint(e.Container, " ", *e.ExitCode, " ", e.Action))
			case "JobFailed":
				got = append(got, e.Event+" "+e.Message)
			case "JobCompleted":
				got = append(got, e.Event)
			}
		}
		if strings.Join(got, "|") != test.want {
			t.Errorf("%s: %q, want %q", name, strings.Join(got, "|"), test.want)
		}
	}
}
