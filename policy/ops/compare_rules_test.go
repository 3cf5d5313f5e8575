package ops_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand"
	"strconv"
	"strings"
	"testing"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/ops"
)

// TestEquivalentRules: two Jobs with random rules are equivalent if and only if no failed Pod has
// another outcome, whatever it shows: conditions, and an exit of each container that has run.
//
// Source: matchPodFailurePolicy in pkg/controller/job/pod_failure_policy.go, Kubernetes v1.33 to
// v1.37.
func TestEquivalentRules(t *testing.T) {
	r := rand.New(rand.NewSource(7))
	types := []string{"A", "B", "C"}
	actions := []policy.PodFailureAction{"Ignore", "Count", "FailJob"}
	names := []string{"a", "b", "s", "i"}
	gen := func() []policy.PodFailurePolicyRule {
		var rules []policy.PodFailurePolicyRule
		for n := r.Intn(4); n >= 0; n-- {
			rule := policy.PodFailurePolicyRule{Action: actions[r.Intn(3)]}
			if r.Intn(2) == 0 {
				for k := r.Intn(2); k >= 0; k-- {
					rule.OnPodConditions = append(rule.OnPodConditions, policy.PodConditionPattern{Type: types[r.Intn(3)], Status: []string{"True", "False"}[r.Intn(2)]})
				}
			} else {
				on := &policy.PodFailurePolicyOnExitCodes{Operator: policy.OperatorIn, Values: []int32{int32(1 + r.Intn(3))}}
				if r.Intn(4) == 0 {
					on.Operator = policy.OperatorNotIn
				}
				if r.Intn(3) > 0 {
					on.ContainerName = &names[r.Intn(4)]
				}
				rule.OnExitCodes = on
			}
			rules = append(rules, rule)
		}
		return rules
	}
	text := func(rules []policy.PodFailurePolicyRule) string {
		var list []any
		for _, x := range rules {
			m := map[string]any{"action": x.Action}
			if x.OnExitCodes != nil {
				e := map[string]any{"operator": x.OnExitCodes.Operator, "values": x.OnExitCodes.Values}
				if x.OnExitCodes.ContainerName != nil {
					e["containerName"] = *x.OnExitCodes.ContainerName
				}
				m["onExitCodes"] = e
			} else {
				var c []any
				for _, p := range x.OnPodConditions {
					c = append(c, map[string]any{"type": p.Type, "status": p.Status})
				}
				m["onPodConditions"] = c
			}
			list = append(list, m)
		}
		b, _ := json.Marshal(list)
		return `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j"},"spec":{"podFailurePolicy":{"rules":` + string(b) +
			`},"template":{"spec":{"restartPolicy":"Never","initContainers":[{"name":"s","image":"x","restartPolicy":"Always"},{"name":"i","image":"x"}],"containers":[{"name":"a","image":"x"},{"name":"b","image":"x"}]}}}}`
	}
	outcome := func(c *policy.FailurePolicy, p *policy.FailedPod) policy.PodFailureAction {
		if m := c.Match(p); m.Rule >= 0 {
			return m.Action
		}
		return "Count"
	}
	alike := 0
	const pairs = 600
	codes := []int32{0, 1, 2, 3, 4}
	for n := range pairs {
		x := gen()
		y := append([]policy.PodFailurePolicyRule(nil), x...)
		if n%3 > 0 {
			r.Shuffle(len(y), func(i, j int) { y[i], y[j] = y[j], y[i] })
		}
		if n%4 == 0 {
			y[r.Intn(len(y))] = gen()[0]
		}
		p, q := policy.CompileFailurePolicy(&policy.PodFailurePolicy{Rules: x}), policy.CompileFailurePolicy(&policy.PodFailurePolicy{Rules: y})
		want := true
		for m := 0; m < 27 && want; m++ { // each condition is absent, True or False
			var conds []policy.PodCondition
			for k, v := 0, m; k < 3; k, v = k+1, v/3 {
				if v%3 > 0 {
					conds = append(conds, policy.PodCondition{Type: types[k], Status: []string{"", "True", "False"}[v%3]})
				}
			}
			for _, s := range codes {
				for _, a := range codes {
					for _, b := range codes {
						pod := policy.FailedPod{Conditions: conds, Exits: []policy.PodExit{{Container: "a", Code: a}, {Container: "b", Code: b}, {Container: "s", Code: s}, {Container: "i"}}}
						want = want && outcome(p, &pod) == outcome(q, &pod)
					}
				}
				for _, i := range codes {
					pod := policy.FailedPod{Conditions: conds, Exits: []policy.PodExit{{Container: "s", Code: s}, {Container: "i", Code: i}}}
					want = want && outcome(p, &pod) == outcome(q, &pod)
				}
			}
		}
		request := fmt.Sprintf(`{"of":"table","answers":"none","request":{"manifest":%s},"variants":[{"name":"x"},{"name":"y","manifest":%s}]}`, text(x), text(y))
		answer, failed := ops.Call(8, []byte(request))
		var a struct{ Same, Equivalent bool }
		if json.Unmarshal(answer, &a) != nil || failed {
			t.Fatalf("%s\n%s", request, answer)
		}
		if a.Equivalent != want || a.Same != want {
			t.Fatalf("want %v\n%s\n%s", want, request, answer)
		}
		if want {
			alike++
		}
	}
	if t.Logf("%d of %d pairs are equivalent", alike, pairs); alike < pairs/4 || alike > pairs*3/4 {
		t.Error("too few of one kind")
	}
}

// TestCompareManyReasons: no release bounds the reasons of a draft's rule, and each is compared with
// all.
func TestCompareManyReasons(t *testing.T) {
	job := func(reasons int) string {
		list, _ := json.Marshal(make([]string, reasons))
		for i := range reasons {
			list = bytes.Replace(list, []byte(`""`), []byte(strconv.Quote(strconv.Itoa(i))), 1)
		}
		return `{"of":"table","request":{"cluster":{"proposals":{"kep-3329-draft":{}}},"manifest":{"apiVersion":"v1","kind":"Job","metadata":{"name":"j"},"spec":{"template":{"spec":{"containers":[{"name":"c","image":"x"}]}},` +
			`"backoffPolicy":{"rules":[{"action":"Ignore","podStatusReasonIn":` + string(list) + `}]}}}},"variants":[{"name":"x"},{"name":"y","patch":{"manifest":{"spec":{"backoffLimit":4}}}}]}`
	}
	if answer, failed := ops.Call(8, []byte(job(1000))); failed {
		t.Errorf("%s", answer)
	}
	if answer, failed := ops.Call(8, []byte(job(4000))); !failed || !strings.Contains(string(answer), `"code":"BUDGET_EXCEEDED"`) {
		t.Errorf("%.300s", answer)
	}
}
