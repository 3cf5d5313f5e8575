package policy_test

import (
	"testing"

	. "github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/policytest"
)

// verdict is a decision in the words of the second, naive table.
type verdict struct {
	action Action
	level  Level
	rule   int // the rule that decided, -1 for none
}

// naive is written from the tables of the documentation and shares nothing with the compiled policy: which of the
// rules fits, then the cell for container policy, Pod policy and success.
func naive(pod RestartPolicy, own *RestartPolicy, rules []ContainerRestartRule, code int32) verdict {
	for i, rule := range rules {
		listed := false
		for _, v := range rule.ExitCodes.Values {
			listed = listed || v == code
		}
		if listed != (rule.ExitCodes.Operator == "In") {
			continue
		}
		switch {
		case rule.Action == "RestartAllContainers":
			return verdict{RestartAllContainers, LevelRule, i}
		case rule.Action == "Restart" && own != nil:
			return verdict{Restart, LevelRule, i}
		}
		break
	}
	policy, level := pod, LevelPod
	if own != nil {
		policy, level = *own, LevelContainer
	}
	restarts := map[RestartPolicy][2]bool{ // after success, after failure
		"Always": {true, true}, "OnFailure": {false, true}, "Never": {false, false},
	}[policy]
	failed := 0
	if code != 0 {
		failed = 1
	}
	if restarts[failed] {
		return verdict{Restart, level, -1}
	}
	return verdict{Stop, level, -1}
}

// TestExhaustive compares the compiled policy with the naive table on every small policy: all exit codes from -1 to
// 256, both operators, all ordered lists of up to three of six values, three actions, one rule; for two rules, lists
// of up to one value, and of up to two when every runtime is demanded as well.
func TestExhaustive(t *testing.T) {
	pairs := 1
	if policytest.RequireAll() {
		pairs = 2
	}
	decisions := 0
	for _, rule := range allRules(3) {
		decisions += compare(t, rules(rule))
	}
	two := allRules(pairs)
	for _, a := range two {
		for _, b := range two {
			decisions += compare(t, rules(a, b))
		}
	}
	t.Logf("%d decisions", decisions)
	if decisions < 1_000_000 {
		t.Errorf("only %d decisions", decisions)
	}
}

func compare(t *testing.T, r []ContainerRestartRule) (decisions int) {
	t.Helper()
	f := DefaultFeatures(NewestMinor)
	for _, own := range []*RestartPolicy{nil, pointer(RestartPolicyAlways), pointer(RestartPolicyOnFailure), pointer(RestartPolicyNever)} {
		for _, pod := range []RestartPolicy{"Always", "OnFailure", "Never"} {
			if own != nil && pod != "Never" {
				continue // the Pod's policy is not looked at
			}
			spec := PodSpec{RestartPolicy: pod, Containers: []Container{{Name: "c", RestartPolicy: own, RestartPolicyRules: r}}}
			p := Compile(&spec, f)
			for code := int32(-1); code <= 256; code++ {
				d := p.Decide(Ref{}, Exit{Code: code})
				got := verdict{d.Action, d.Level, -1}
				if d.Level == LevelRule {
					got.rule = int(d.Matched)
				}
				if want := naive(pod, own, r, code); got != want {
					t.Fatalf("Pod %s, rules %+v, code %d: got %+v, want %+v", pod, r, code, got, want)
				}
				decisions++
			}
		}
	}
	return decisions
}

// allRules returns every rule whose list has at most n of the six interesting values, in every order.
func allRules(n int) []ContainerRestartRule {
	lists := [][]int32{nil}
	for last := lists; n > 0; n-- {
		var longer [][]int32
		for _, list := range last {
			for _, v := range []int32{0, 1, 42, 137, 143, 255} {
				longer = append(longer, append(list[:len(list):len(list)], v))
			}
		}
		lists = append(lists, longer...)
		last = longer
	}
	var all []ContainerRestartRule
	for _, list := range lists {
		for _, op := range []ExitCodesOperator{OperatorIn, OperatorNotIn} {
			for _, a := range []ContainerRestartRuleAction{ActionRestart, ActionRestartAllContainers, "Pause"} {
				all = append(all, action(a, op, list...))
			}
		}
	}
	return all
}
