package policy_test

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
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
	switch {
	case policy == "Always", policy == "OnFailure" && code != 0:
		return verdict{Restart, level, -1}
	}
	return verdict{Stop, level, -1}
}

// policies are the combinations of the policy of the Pod and that of the container. With one of its own, that of the
// Pod is not looked at; one is as good as another.
var policies = []struct {
	pod RestartPolicy
	own *RestartPolicy
}{
	{"Always", nil}, {"OnFailure", nil}, {"Never", nil},
	{"Never", pointer(RestartPolicyAlways)}, {"Always", pointer(RestartPolicyOnFailure)}, {"Always", pointer(RestartPolicyNever)},
}

// TestExhaustive compares the compiled policy with the naive table on every small policy: all exit codes from -1 to
// 256, both operators, all ordered lists of up to three of six values, three actions, one rule or two. Two rules have
// lists of up to one value, of up to three when every runtime is demanded as well: 3.7 thousand million decisions, a
// few minutes.
func TestExhaustive(t *testing.T) {
	values := 1
	if policytest.RequireAll() {
		values = 3
	}
	f := DefaultFeatures(NewestMinor)
	decisions := 0
	for _, rule := range allRules(3) {
		n, difference := compare(f, []ContainerRestartRule{rule})
		decisions += n
		if difference != "" {
			t.Fatal(difference)
		}
	}
	two := allRules(values)
	var next, pairs atomic.Int64
	var wait sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(two)); i = next.Add(1) - 1 {
				for _, b := range two {
					n, difference := compare(f, []ContainerRestartRule{two[i], b})
					if difference != "" {
						t.Error(difference)
						return
					}
					pairs.Add(int64(n))
				}
			}
		})
	}
	wait.Wait()
	decisions += int(pairs.Load())
	t.Logf("%d decisions", decisions)
	want := (len(allRules(3)) + len(two)*len(two)) * len(policies) * 258
	if decisions != want && !t.Failed() {
		t.Errorf("%d decisions, not %d", decisions, want)
	}
}

// compare returns the number of decisions and the first difference, if there is one.
func compare(f Features, rules []ContainerRestartRule) (decisions int, difference string) {
	for _, of := range policies {
		spec := PodSpec{RestartPolicy: of.pod, Containers: []Container{{Name: "c", RestartPolicy: of.own, RestartPolicyRules: rules}}}
		p := Compile(&spec, f)
		for code := int32(-1); code <= 256; code++ {
			d := p.Decide(Ref{}, Exit{Code: code})
			got := verdict{d.Action, d.Level, -1}
			if d.Level == LevelRule {
				got.rule = int(d.Matched)
			}
			if want := naive(of.pod, of.own, rules, code); got != want {
				return decisions, fmt.Sprintf("Pod %s, rules %+v, code %d: got %+v, want %+v", of.pod, rules, code, got, want)
			}
			decisions++
		}
	}
	return decisions, ""
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
