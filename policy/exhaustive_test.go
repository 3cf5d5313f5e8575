package policy_test

import (
	"fmt"
	"os"
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

// naive is written from the tables of the documentation and shares nothing with the compiled
// policy: which of the rules fits, then the cell for container policy, Pod policy and success.
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

// policies are the combinations of the policy of the Pod and that of the container. With one of its
// own, that of the Pod is not looked at; one is as good as another.
var policies = []struct {
	pod RestartPolicy
	own *RestartPolicy
}{
	{"Always", nil}, {"OnFailure", nil}, {"Never", nil},
	{"Never", pointer(RestartPolicyAlways)}, {"Always", pointer(RestartPolicyOnFailure)}, {"Always", pointer(RestartPolicyNever)},
}

// TestExhaustive compares the compiled policy with the naive table on small policies: both
// operators, three actions, lists of the six values.
//
// One rule: all ordered lists of up to three values, all codes from -1 to 256. Two rules: lists of
// up to one value. When every runtime is demanded, two rules have all lists of up to three values
// too: ascending ones with all codes, ordered ones with the codes at and next to the values.
// PODFATE_EXHAUSTIVE=all leaves nothing out: 3.7 billion decisions, several minutes of two
// cores; give it -timeout 1h.
func TestExhaustive(t *testing.T) {
	var all, beside []int32
	for code := int32(-1); code <= 256; code++ {
		all = append(all, code)
	}
	for _, v := range interesting {
		beside = append(beside, v-1, v, v+1)
	}
	ordered := allRules(3, false)
	compareAll(t, ordered, [][]ContainerRestartRule{nil}, all)
	switch {
	case os.Getenv("PODFATE_EXHAUSTIVE") == "all":
		compareAll(t, ordered, each(ordered), all)
	case policytest.RequireAll():
		compareAll(t, allRules(3, true), each(allRules(3, true)), all)
		compareAll(t, ordered, each(ordered), beside)
	default:
		compareAll(t, allRules(1, false), each(allRules(1, false)), all)
	}
}

// each returns lists of one rule.
func each(rules []ContainerRestartRule) (lists [][]ContainerRestartRule) {
	for i := range rules {
		lists = append(lists, rules[i:i+1:i+1])
	}
	return lists
}

// compareAll compares the decisions about every rule of first before every list of more, on all
// processors.
func compareAll(t *testing.T, first []ContainerRestartRule, more [][]ContainerRestartRule, codes []int32) {
	t.Helper()
	f := DefaultFeatures(NewestMinor)
	var next, decisions atomic.Int64
	var wait sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(first)); i = next.Add(1) - 1 {
				for _, rest := range more {
					n, difference := compare(f, append(first[i:i+1:i+1], rest...), codes)
					if difference != "" {
						t.Error(difference)
						return
					}
					decisions.Add(int64(n))
				}
			}
		})
	}
	wait.Wait()
	t.Logf("%d decisions", decisions.Load())
	if want := int64(len(first)) * int64(len(more)) * int64(len(policies)) * int64(len(codes)); decisions.Load() != want && !t.Failed() {
		t.Errorf("%d decisions, not %d", decisions.Load(), want)
	}
}

// compare returns the number of decisions and the first difference, if there is one.
func compare(f Features, rules []ContainerRestartRule, codes []int32) (decisions int, difference string) {
	for _, of := range policies {
		spec := PodSpec{RestartPolicy: of.pod, Containers: []Container{{Name: "c", RestartPolicy: of.own, RestartPolicyRules: rules}}}
		p := Compile(&spec, f)
		for _, code := range codes {
			d := p.Decide(Ref{}, Exit{Code: code})
			got := verdict{d.Action, d.Level, -1}
			if d.Level == LevelRule {
				got.rule = int(d.Matched)
			}
			if want := naive(of.pod, of.own, rules, code); got != want {
				return decisions, fmt.Sprintf("Pod %s, rules %+v, code %d: got %+v, want %+v", of.pod, rules, code, got, want)
			}
		}
		decisions += len(codes)
	}
	return decisions, ""
}

// interesting are the values of the rules.
var interesting = []int32{0, 1, 42, 137, 143, 255}

// allRules returns every rule whose list has at most n of the interesting values: in every order
// and also more than once, or only ascending.
func allRules(n int, ascending bool) []ContainerRestartRule {
	lists := [][]int32{nil}
	for last := lists; n > 0; n-- {
		var longer [][]int32
		for _, list := range last {
			for _, v := range interesting {
				if !ascending || len(list) == 0 || v > list[len(list)-1] {
					longer = append(longer, append(list[:len(list):len(list)], v))
				}
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
