package ops_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/ops"
)

// What is wrong with worlds, each with its fault, its path and what is allowed instead: in allowed,
// in the sentence, or by the name of the proposal that would read the words.
func TestFaultsOfWorldsSayWhatIsAllowed(t *testing.T) {
	pod := func(spec string) string {
		return `"manifest":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"name":"main","image":"i"` + spec + `}]}}`
	}
	draft := func(rule string) string {
		return `"cluster":{"proposals":{"kep-3329-draft":{}}},"manifest":{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j"},"spec":{"backoffPolicy":{"rules":[` +
			rule + `]},"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"main","image":"i"}]}}}}`
	}
	expressions := func(list string) string {
		return `"cluster":{"proposals":{"kep-3329-draft":{}}},"manifest":{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j"},"spec":{"podFailurePolicy":{"rules":[{"action":"Ignore","onPodConditions":[` +
			list + `]}]},"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"main","image":"i"}]}}}}`
	}
	names := []string{}
	for _, p := range policy.ProposalList() {
		names = append(names, p.Name)
	}
	rules := `,"restartPolicy":"Never","restartPolicyRules":`
	for name, row := range map[string]struct {
		operation, request, path string
		code                     policy.FaultCode
		says                     []string // in allowed or in the sentence
		proposal                 string
	}{
		"an unknown proposal":          {"decide", `"cluster":{"proposals":{"kep-1":{}}},` + pod(""), `cluster.proposals["kep-1"]`, "unsupported_value", names, ""},
		"an exit of the nameless":      {"decide", `"manifest":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"nmae":"main","image":"i"},{"name":"side","image":"i"}]}},"exits":[{"container":"main","exitCode":1}]`, "exits[0].container", "unknown_container", []string{"side"}, ""},
		"an unknown option":            {"decide", `"cluster":{"proposals":{"always-pod":{"sandbx":"reuse"}}},` + pod(""), `cluster.proposals["always-pod"].sandbx`, "unknown_field", []string{"sandbox", "wait"}, ""},
		"an unknown reading":           {"decide", `"cluster":{"proposals":{"always-pod":{"sandbox":"keep"}}},` + pod(""), `cluster.proposals["always-pod"].sandbox`, "unsupported_value", []string{"reuse", "recreate"}, ""},
		"an option of no options":      {"decide", `"cluster":{"proposals":{"callback":{"x":"y"}}},` + pod(""), "cluster.proposals.callback.x", "unknown_field", []string{"there is none"}, ""},
		"a field that is not on":       {"decide", pod(rules + `[{"action":"Restart","when":{"exitCodes":{"operator":"In","values":[1]}}}]`), "spec.containers[0].restartPolicyRules[0].when", "unknown_field", nil, "kep-5307-future"},
		"restartTimes that is not on":  {"decide", pod(rules + `[{"action":"Restart","restartTimes":1,"exitCodes":{"operator":"In","values":[1]}}]`), "spec.containers[0].restartPolicyRules[0].restartTimes", "unknown_field", nil, "kep-5307-future"},
		"an action that is not on":     {"validate", pod(rules + `[{"action":"Complete","exitCodes":{"operator":"In","values":[1]}}]`), "spec.containers[0].restartPolicyRules[0].action", "unsupported_value", []string{"Restart"}, "kep-5307-future"},
		"AlwaysPod that is not on":     {"decide", `"manifest":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"restartPolicy":"AlwaysPod","containers":[{"name":"main","image":"i"}]}}`, "spec.restartPolicy", "unsupported_value", []string{"Always"}, "always-pod"},
		"Rapid that is not on":         {"decide", `"manifest":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"restartPolicy":"Rapid","containers":[{"name":"main","image":"i"}]}}`, "spec.restartPolicy", "unsupported_value", []string{"Always"}, "kep-4603-draft"},
		"a limit that is not on":       {"decide", `"manifest":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"maxRestartTimes":3,"containers":[{"name":"main","image":"i"}]}}`, "spec.maxRestartTimes", "unknown_field", nil, "kep-3322"},
		"a backoffPolicy not on":       {"decide", strings.Replace(draft(`{"action":"Ignore","podStatusReasonIn":["A"]}`), `"kep-3329-draft"`, `"callback"`, 1), "spec.backoffPolicy", "unknown_field", nil, "kep-3329-draft"},
		"expressions that are not on":  {"decide", `"manifest":{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j"},"spec":{"podFailurePolicy":{"rules":[{"action":"Ignore","onPodConditions":[{"key":"Type","operator":"In","values":["A"]}]}]},"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"main","image":"i"}]}}}}`, "spec.podFailurePolicy.rules[0].onPodConditions[0].key", "unknown_field", nil, "kep-3329-draft"},
		"a policy of a Pod not on":     {"decide", `"manifest":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"podFailurePolicy":{"rules":[]},"containers":[{"name":"main","image":"i"}]}}`, "spec.podFailurePolicy", "unknown_field", nil, "pod-failure-policy-anywhere"},
		"a policy beside OnFailure":    {"decide", `"manifest":{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j"},"spec":{"podFailurePolicy":{"rules":[{"action":"Ignore","onPodConditions":[{"type":"A","status":"True"}]}]},"template":{"spec":{"restartPolicy":"OnFailure","containers":[{"name":"main","image":"i"}]}}}}`, "spec.template.spec.restartPolicy", "invalid_value", []string{"Never"}, "pod-failure-policy-anywhere"},
		"a Job of Always not on":       {"decide", `"manifest":{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j"},"spec":{"template":{"spec":{"restartPolicy":"Always","containers":[{"name":"main","image":"i"}]}}}}`, "spec.template.spec.restartPolicy", "required", []string{"OnFailure", "Never"}, "job-always"},
		"a Job of v1 not on":           {"decide", `"manifest":{"apiVersion":"v1","kind":"Job","metadata":{"name":"j"},"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"main","image":"i"}]}}}}`, "apiVersion", "unknown_kind", []string{"batch/v1"}, "kep-3329-draft"},
		"a sidecar of Rapid not on":    {"decide", `"manifest":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"initContainers":[{"name":"s","image":"i","restartPolicy":"Rapid"}],"containers":[{"name":"main","image":"i"}]}}`, "spec.initContainers[0].restartPolicy", "unsupported_value", []string{"Always"}, "kep-4603-draft"},
		"a sidecar of Rapid, 1.33":     {"decide", `"cluster":{"version":"1.33"},"manifest":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"initContainers":[{"name":"s","image":"i","restartPolicy":"FastOnSuccess"}],"containers":[{"name":"main","image":"i"}]}}`, "spec.initContainers[0].restartPolicy", "unsupported_value", []string{"Always"}, "kep-4603-draft"},
		"a draft's setting not on":     {"curve", `"cluster":{"kubeletConfiguration":{"crashloopbackoff":{"maxSeconds":45}}}`, "cluster.kubeletConfiguration.crashloopbackoff", "unknown_field", []string{"crashLoopBackOff"}, "kep-4603-draft"},
		"a draft's gate not on":        {"curve", `"cluster":{"featureGates":{"EnableRapidCrashLoopBackoffDecay":true}}`, "cluster.featureGates.EnableRapidCrashLoopBackoffDecay", "unknown_gate", []string{"ContainerRestartRules"}, "kep-4603-draft"},
		"the same of a kubelet":        {"curve", `"cluster":{"kubeletConfiguration":{"featureGates":{"EnableRapidCrashLoopBackoffDecay":true}}}`, "cluster.kubeletConfiguration.featureGates.EnableRapidCrashLoopBackoffDecay", "unknown_gate", []string{"ContainerRestartRules"}, "kep-4603-draft"},
		"a gate as a draft spells it":  {"curve", `"cluster":{"featureGates":{"ReduceDefaultCrashLoopBackoffDecay":true}}`, "cluster.featureGates.ReduceDefaultCrashLoopBackoffDecay", "unknown_gate", []string{"ReduceDefaultCrashLoopBackOffDecay"}, "kep-4603-draft"},
		"a reason of a deletion":       {"simulate", pod("") + `,"events":[{"at":"1s","type":"Deleted","reason":"Preemption"}]`, "events[0].reason", "forbidden", nil, "kep-3329-draft"},
		"a callback that is not on":    {"decide", pod("") + `,"decide":[]`, "decide", "forbidden", nil, "callback"},
		"waits beside initial":         {"curve", `"backoff":{"waits":["1s"],"initial":"2s"}`, "backoff.waits", "forbidden", []string{"initial"}, ""},
		"waits beside a factor":        {"simulate", pod("") + `,"backoff":{"waits":["1s"],"factor":3}`, "backoff.waits", "forbidden", []string{"factor"}, ""},
		"a jitter that is a number":    {"simulate", pod("") + `,"timing":{"sync":"kubelet","jitter":0.25}`, "timing.jitter", "wrong_type", []string{"none, mean or full", "jitterMillis"}, ""},
		"an unknown preset":            {"curve", `"backoff":{"preset":"quick"}`, "backoff.preset", "unsupported_value", []string{"stock", "reduced", "rapid", "catch-up", "near-zero-10", "near-zero-30"}, ""},
		"a range that goes down":       {"decide", draft(`{"action":"Terminate","containerExitCodeIn":"10-8"}`), "spec.backoffPolicy.rules[0].containerExitCodeIn", "invalid_value", []string{"10-8", "such as 3,8-10"}, "kep-3329-draft"},
		"a range of letters":           {"decide", draft(`{"action":"Terminate","containerExitCodeIn":"a-b"}`), "spec.backoffPolicy.rules[0].containerExitCodeIn", "invalid_value", []string{"0 to 255", "such as 3,8-10"}, "kep-3329-draft"},
		"an empty range":               {"decide", draft(`{"action":"Terminate","containerExitCodeIn":""}`), "spec.backoffPolicy.rules[0].containerExitCodeIn", "invalid_value", []string{"a code or a range", "such as 3,8-10"}, "kep-3329-draft"},
		"two conditions of the draft":  {"decide", draft(`{"action":"Terminate","containerExitCodeIn":"1","podStatusReasonIn":["A"]}`), "spec.backoffPolicy.rules[0]", "invalid_value", []string{"one condition", "containerExitCodeNotIn", "podStatusReasonIn", "onPodStatus"}, "kep-3329-draft"},
		"no condition of the draft":    {"decide", draft(`{"action":"Terminate"}`), "spec.backoffPolicy.rules[0]", "required", []string{"one condition", "containerExitCodeIn", "podStatusReasonNotIn"}, "kep-3329-draft"},
		"a list of codes of the draft": {"decide", draft(`{"action":"Terminate","containerExitCodeIn":[42]}`), "spec.backoffPolicy.rules[0].containerExitCodeIn", "wrong_type", []string{"such as 3,8-10"}, "kep-3329-draft"},
		"half a code of the draft":     {"decide", draft(`{"action":"Terminate","containerExitCodeIn":4.5}`), "spec.backoffPolicy.rules[0].containerExitCodeIn", "invalid_value", []string{"4.5", "such as 3,8-10"}, "kep-3329-draft"},
		"an operator of expressions":   {"decide", draft(`{"action":"Terminate","onContainerExitCode":{"valueExpressions":[{"operator":"In","values":[1]},{"operator":"Gt","values":[2]}]}}`), "spec.backoffPolicy.rules[0].onContainerExitCode.valueExpressions[1].operator", "unsupported_value", []string{"In", "NotIn"}, "kep-3329-draft"},
		"a range in expressions":       {"decide", draft(`{"action":"Terminate","onContainerExitCode":{"valueExpressions":[{"operator":"In","values":["5-2"]}]}}`), "spec.backoffPolicy.rules[0].onContainerExitCode.valueExpressions[0].values", "invalid_value", []string{"5-2"}, "kep-3329-draft"},
		"a key of conditions, twice":   {"decide", expressions(`{"key":"Type","operator":"In","values":["A"]},{"key":"Type","operator":"In","values":["B"]}`), "spec.podFailurePolicy.rules[0].onPodConditions", "invalid_value", []string{"Type", "twice"}, "kep-3329-draft"},
		"a status of no condition":     {"decide", expressions(`{"key":"Status","operator":"In","values":["True"]}`), "spec.podFailurePolicy.rules[0].onPodConditions", "invalid_value", []string{"Type"}, "kep-3329-draft"},
		"two conditions of the future": {"decide", `"cluster":{"proposals":{"kep-5307-future":{}}},` + pod(rules+`[{"action":"Restart","restartTimes":1,"exitCodes":{"operator":"In","values":[1]}}]`), "spec.containers[0].restartPolicyRules[0]", "invalid_value", []string{"one condition", "exitCodes", "restartTimes", "oomKilled"}, "kep-5307-future"},
		"no condition of the future":   {"decide", `"cluster":{"proposals":{"kep-5307-future":{}}},` + pod(rules+`[{"action":"Restart"}]`), "spec.containers[0].restartPolicyRules[0]", "required", []string{"one condition", "exitCodes", "restartTimes", "oomKilled"}, "kep-5307-future"},
		"words of nobody":              {"translate", pod("") + `,"to":"kep-1"`, "to", "unsupported_value", []string{"kubernetes", "kep-5307-future", "kep-3329-draft", "always-pod"}, ""},
		"a spelling of nobody":         {"translate", pod("") + `,"to":"kep-5307-future","spelling":"flat"`, "spelling", "unsupported_value", []string{"when", "onExit", "onExitCodes"}, ""},
	} {
		op, _ := ops.Lookup(row.operation)
		request := "{" + row.request + "}"
		answer, failed := ops.Call(op.Number, []byte(request))
		type fault struct {
			Path, Detail, Message, Proposal string
			Code                            policy.FaultCode
			Allowed                         []string
		}
		var a struct {
			Error  struct{ Faults []fault }
			Faults []fault // of validate, whose answer they are
		}
		if err := json.Unmarshal(answer, &a); err != nil || !failed && row.operation != "validate" {
			t.Errorf("%s: %v %s", name, err, answer)
			continue
		}
		found := false
		for _, f := range append(a.Error.Faults, a.Faults...) {
			if f.Path != row.path || f.Code != row.code {
				continue
			}
			found = true
			for _, word := range row.says {
				if slices.Contains(f.Allowed, "") {
					t.Errorf("%s: nothing is allowed: %q", name, f.Allowed)
				}
				if !strings.Contains(f.Detail+f.Message+strings.Join(f.Allowed, " "), word) {
					t.Errorf("%s: nothing says %q: %+v", name, word, f)
				}
			}
			if f.Proposal != row.proposal {
				t.Errorf("%s: the proposal %q, not %q", name, f.Proposal, row.proposal)
			}
		}
		if !found {
			t.Errorf("%s: no %s at %s:\n%s", name, row.code, row.path, answer)
		}
	}
}
