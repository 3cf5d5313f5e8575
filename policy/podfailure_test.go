package policy_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/podfate/podfate/policy"
)

// naiveMatch walks rules and statuses as the Job controller does.
func naiveMatch(p *policy.PodFailurePolicy, pod *policy.FailedPod) policy.PodFailureMatch {
	for i, rule := range p.Rules {
		at := -1
		if on := rule.OnExitCodes; on != nil {
			for k := len(pod.Exits) - 1; k >= 0; k-- {
				e := pod.Exits[k]
				listed := false
				for _, v := range on.Values {
					listed = listed || v == e.Code
				}
				if (on.ContainerName == nil || *on.ContainerName == e.Container) && e.Code != 0 &&
					(on.Operator == policy.OperatorIn && listed || on.Operator == policy.OperatorNotIn && !listed) {
					at = k
				}
			}
		} else {
			for k := len(pod.Conditions) - 1; k >= 0; k-- {
				for _, c := range rule.OnPodConditions {
					if c.Type == pod.Conditions[k].Type && c.Status == pod.Conditions[k].Status {
						at = k
					}
				}
			}
		}
		switch rule.Action {
		case policy.ActionCount, policy.ActionFailIndex, policy.ActionFailJob, policy.ActionIgnore:
			if at >= 0 {
				return policy.PodFailureMatch{Action: rule.Action, Rule: int32(i), At: int32(at), Condition: rule.OnExitCodes == nil}
			}
		}
	}
	return policy.PodFailureMatch{Rule: -1, At: -1}
}

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

func randomFailure(r *rand.Rand) (*policy.PodFailurePolicy, *policy.FailedPod) {
	codes := []int32{0, 1, 2, 42, 137, 143, 255, 256, -1, 1 << 30}
	names := []string{"main", "nail", "helper", "", "init"}
	types := []string{"DisruptionTarget", "Ready", "ConfigIssue"}
	p := &policy.PodFailurePolicy{}
	for range r.IntN(6) {
		rule := policy.PodFailurePolicyRule{
			Action: pick(r, policy.ActionCount, policy.ActionFailIndex, policy.ActionFailJob, policy.ActionIgnore, "Terminate"),
		}
		if r.IntN(3) > 0 {
			on := &policy.PodFailurePolicyOnExitCodes{Operator: pick(r, policy.OperatorIn, policy.OperatorNotIn, policy.OperatorIn, "Equals")}
			if r.IntN(2) == 0 {
				name := pick(r, names...)
				on.ContainerName = &name
			}
			for range r.IntN(4) {
				on.Values = append(on.Values, pick(r, codes...))
			}
			rule.OnExitCodes = on
		}
		for range r.IntN(3) {
			rule.OnPodConditions = append(rule.OnPodConditions, policy.PodConditionPattern{Type: pick(r, types...), Status: pick(r, "True", "False", "Unknown", "")})
		}
		p.Rules = append(p.Rules, rule)
	}
	pod := &policy.FailedPod{}
	for range r.IntN(5) {
		pod.Exits = append(pod.Exits, policy.PodExit{Container: pick(r, names...), Code: pick(r, codes...)})
	}
	for range r.IntN(4) {
		pod.Conditions = append(pod.Conditions, policy.PodCondition{Type: pick(r, types...), Status: pick(r, "True", "False", "Unknown")})
	}
	return p, pod
}

func TestFailurePolicyAgreesWithWalk(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	matched := 0
	for i := range 200_000 {
		p, pod := randomFailure(r)
		got, want := policy.CompileFailurePolicy(p).Match(pod), naiveMatch(p, pod)
		if got != want {
			t.Fatalf("case %d: %+v, want %+v\n%+v\n%+v", i, got, want, p, pod)
		}
		if got.Rule >= 0 {
			matched++
		}
		first := int32(-1)
		for _, step := range policy.ExplainFailure(p, pod, got) {
			if step.Result == policy.Matched && first < 0 {
				first = int32(step.Rule)
			}
			if late := got.Rule >= 0 && step.Rule > int(got.Rule); late != (step.Result == policy.NotReached) {
				t.Fatalf("case %d: %+v after %+v", i, step, got)
			}
		}
		if first != got.Rule {
			t.Fatalf("case %d: explained by rule %d, decided by %d\n%+v\n%+v", i, first, got.Rule, p, pod)
		}
	}
	if matched < 50_000 {
		t.Errorf("only %d cases matched", matched)
	}
}

func TestFailurePolicyOfNone(t *testing.T) {
	m := policy.CompileFailurePolicy(nil).Match(&policy.FailedPod{Exits: []policy.PodExit{{Container: "main", Code: 1}}})
	if m.Rule != -1 || m.Action != "" || !m.Counted() || m.Message(nil, "", "") != "" {
		t.Errorf("%+v", m)
	}
}

func TestMatchMessages(t *testing.T) {
	p := &policy.PodFailurePolicy{Rules: []policy.PodFailurePolicyRule{
		{Action: policy.ActionFailJob, OnPodConditions: []policy.PodConditionPattern{{Type: "ConfigIssue", Status: "True"}}},
		{Action: policy.ActionFailJob, OnExitCodes: &policy.PodFailurePolicyOnExitCodes{Operator: policy.OperatorNotIn, Values: []int32{40, 41, 42}}},
	}}
	c := policy.CompileFailurePolicy(p)
	pod := &policy.FailedPod{Exits: []policy.PodExit{{"main", 42}, {"helper", 1}}}
	const exit = "Container helper for pod default/p-1 failed with exit code 1 matching FailJob rule at index 1"
	if got := c.Match(pod).Message(pod, "default", "p-1"); got != exit {
		t.Errorf("%q", got)
	}
	pod.Conditions = []policy.PodCondition{{"Ready", "False"}, {"ConfigIssue", "True"}}
	const condition = "Pod default/p-1 has condition ConfigIssue matching FailJob rule at index 0"
	if got := c.Match(pod).Message(pod, "default", "p-1"); got != condition {
		t.Errorf("%q", got)
	}
}

// largestFailurePolicy has rules rules of values values each, which match nothing but at the end,
// and ten containers.
func largestFailurePolicy(rules, values int) (*policy.PodFailurePolicy, *policy.FailedPod) {
	p, pod := &policy.PodFailurePolicy{}, &policy.FailedPod{}
	for i := range rules {
		name := fmt.Sprintf("container-%d", i%10)
		on := &policy.PodFailurePolicyOnExitCodes{Operator: policy.OperatorIn, ContainerName: &name}
		for v := range values {
			on.Values = append(on.Values, int32(1000+v))
		}
		if i == rules-1 {
			on.Values[values-1] = 7
		}
		p.Rules = append(p.Rules, policy.PodFailurePolicyRule{Action: policy.ActionFailJob, OnExitCodes: on})
	}
	for i := range 10 {
		pod.Exits = append(pod.Exits, policy.PodExit{Container: fmt.Sprintf("container-%d", i), Code: 7})
	}
	return p, pod
}

func TestMatchAllocatesNothing(t *testing.T) {
	p, pod := largestFailurePolicy(20, 255)
	c := policy.CompileFailurePolicy(p)
	if n := testing.AllocsPerRun(100, func() { c.Match(pod) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if m := c.Match(pod); m.Rule != 19 || m.At != 9 {
		t.Errorf("%+v", m)
	}
}

func BenchmarkMatchFailedPod(b *testing.B) {
	for _, size := range []struct{ rules, values int }{{1, 1}, {20, 255}} {
		b.Run(fmt.Sprintf("%d rules of %d values, 10 containers", size.rules, size.values), func(b *testing.B) {
			p, pod := largestFailurePolicy(size.rules, size.values)
			c := policy.CompileFailurePolicy(p)
			b.ReportAllocs()
			for b.Loop() {
				c.Match(pod)
			}
		})
	}
}

// TestMatchOfReasons: a rule of the draft on the reason of the Pod says that it matched that, and
// what; the earliest rule counts, whatever it asks for (R-T2).
func TestMatchOfReasons(t *testing.T) {
	p := &policy.PodFailurePolicy{Draft: true, Rules: []policy.PodFailurePolicyRule{
		{Action: policy.ActionIgnore, OnExitCodes: &policy.PodFailurePolicyOnExitCodes{Operator: policy.OperatorIn, Values: []int32{3}}},
		{Action: policy.ActionFailJob, Reasons: []policy.PodReasons{{Operator: policy.OperatorIn, Values: []string{"Evicted", "NodeLost"}}}},
		{Action: policy.ActionCount, Reasons: []policy.PodReasons{{Operator: policy.OperatorNotIn, Values: []string{"NodeLost"}}}},
	}}
	c := policy.CompileFailurePolicy(p)
	for _, test := range []struct {
		code    int32
		reason  string
		want    policy.PodFailureMatch
		message string
	}{
		{3, "Evicted", policy.PodFailureMatch{Action: policy.ActionIgnore}, ""},
		{4, "Evicted", policy.PodFailureMatch{Action: policy.ActionFailJob, Rule: 1, Reason: true}, "Pod a/p has reason Evicted matching FailJob rule at index 1"},
		{4, "NodeLost", policy.PodFailureMatch{Action: policy.ActionFailJob, Rule: 1, Reason: true}, "Pod a/p has reason NodeLost matching FailJob rule at index 1"},
		{4, "Other", policy.PodFailureMatch{Action: policy.ActionCount, Rule: 2, Reason: true}, ""},
	} {
		pod := &policy.FailedPod{Reason: test.reason, Exits: []policy.PodExit{{Container: "c", Code: test.code}}}
		if got := c.Match(pod); got != test.want || got.Message(pod, "a", "p") != test.message {
			t.Errorf("%d %s: %+v %q, want %+v %q", test.code, test.reason, got, got.Message(pod, "a", "p"), test.want, test.message)
		}
	}
}
