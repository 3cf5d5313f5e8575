package policy_test

import (
	"math/rand/v2"
	"testing"

	. "github.com/podfate/podfate/policy"
)

func pointer[T any](v T) *T { return &v }

func restart(op ExitCodesOperator, values ...int32) ContainerRestartRule {
	return action(ActionRestart, op, values...)
}

func action(a ContainerRestartRuleAction, op ExitCodesOperator, values ...int32) ContainerRestartRule {
	return ContainerRestartRule{Action: a, ExitCodes: &ContainerRestartRuleOnExitCodes{Operator: op, Values: values}}
}

func rules(r ...ContainerRestartRule) []ContainerRestartRule { return r }

type want struct {
	action Action
	level  Level
	rule   int32 // the first matching rule
}

func TestDecide(t *testing.T) {
	const none = -1
	never, onFailure, always := pointer(RestartPolicyNever), pointer(RestartPolicyOnFailure), pointer(RestartPolicyAlways)
	f37, f35, f33 := DefaultFeatures(37), DefaultFeatures(35), DefaultFeatures(33)
	for _, test := range []struct {
		name string
		f    Features
		pod  RestartPolicy
		kind ContainerKind
		own  *RestartPolicy
		r    []ContainerRestartRule
		exit Exit
		want want
	}{
		{"a rule beats Never", f37, "Never", MainContainer, never, rules(restart("In", 42)), Exit{Code: 42}, want{Restart, LevelRule, 0}},
		{"without a match the container's policy decides", f37, "Always", MainContainer, never, rules(restart("In", 42)), Exit{Code: 1}, want{Stop, LevelContainer, none}},
		{"NotIn may match success", f37, "Never", MainContainer, never, rules(restart("NotIn", 1)), Exit{}, want{Restart, LevelRule, 0}},
		{"NotIn without values matches everything", f37, "Never", MainContainer, never, rules(restart("NotIn")), Exit{}, want{Restart, LevelRule, 0}},
		{"In without values matches nothing", f37, "Never", MainContainer, never, rules(restart("In")), Exit{Code: 1}, want{Stop, LevelContainer, none}},
		{"the first match ends the search", f37, "Never", MainContainer, never, rules(action("Pause", "In", 42), restart("In", 42)), Exit{Code: 42}, want{Stop, LevelContainer, 0}},
		{"an unknown operator is passed over", f37, "Never", MainContainer, never, rules(restart("Between", 1, 9), restart("In", 5)), Exit{Code: 5}, want{Restart, LevelRule, 1}},
		{"rules need a policy beside them", f37, "Never", MainContainer, nil, rules(restart("In", 42)), Exit{Code: 42}, want{Stop, LevelPod, 0}},
		{"restart-all beats a sidecar's own restart", f37, "Never", InitContainer, always, rules(action("RestartAllContainers", "In", 88)), Exit{Code: 88}, want{RestartAllContainers, LevelRule, 0}},
		{"restart-all does not look at the container's policy", f37, "Always", InitContainer, never, rules(action("RestartAllContainers", "In", 88)), Exit{Code: 88}, want{RestartAllContainers, LevelRule, 0}},
		{"a Pod that has failed restarts nothing", f37, "Never", InitContainer, nil, rules(action("RestartAllContainers", "In", 88)), Exit{Code: 88}, want{Stop, LevelPod, 0}},
		{"an init container that succeeded fails no Pod", f37, "Never", InitContainer, nil, rules(action("RestartAllContainers", "In", 0)), Exit{}, want{RestartAllContainers, LevelRule, 0}},
		{"nor does one that the Pod retries", f37, "OnFailure", InitContainer, nil, rules(action("RestartAllContainers", "In", 88)), Exit{Code: 88}, want{RestartAllContainers, LevelRule, 0}},
		{"others in the Pod still run", f37, "Never", MainContainer, nil, rules(action("RestartAllContainers", "In", 88)), Exit{Code: 88}, want{RestartAllContainers, LevelRule, 0}},
		{"restart-all switched off leaves it to the policy", f35, "Never", MainContainer, onFailure, rules(action("RestartAllContainers", "In", 88)), Exit{Code: 88}, want{Restart, LevelContainer, 0}},
		{"a sidecar is restarted after success", f37, "Never", InitContainer, always, nil, Exit{}, want{Restart, LevelContainer, none}},
		{"a completed init container stays", f37, "Always", InitContainer, never, rules(restart("In", 0)), Exit{}, want{Stop, LevelDefault, 0}},
		{"an init container killed for memory has failed", f37, "OnFailure", InitContainer, nil, nil, Exit{OOMKilled: true}, want{Stop, LevelPod, none}},
		{"the old kubelet retries it", f33, "OnFailure", InitContainer, nil, nil, Exit{OOMKilled: true}, want{Restart, LevelPod, none}},
		{"the old kubelet reads no container policy", f33, "Always", MainContainer, never, nil, Exit{Code: 1}, want{Restart, LevelPod, none}},
		{"no policy anywhere is Always", f37, "", MainContainer, nil, nil, Exit{}, want{Restart, LevelDefault, none}},
		{"an unknown Pod policy restarts", f37, "Sometimes", MainContainer, nil, nil, Exit{}, want{Restart, LevelDefault, none}},
		{"an ephemeral container stays", f37, "Always", EphemeralContainer, nil, nil, Exit{Code: 1}, want{Stop, LevelDefault, none}},
		{"codes outside a byte are compared as they are", f37, "Never", MainContainer, never, rules(restart("NotIn", -5, 300), restart("In", 300)), Exit{Code: 300}, want{Restart, LevelRule, 1}},
		{"a far code that nothing lists", f37, "Never", MainContainer, never, rules(restart("NotIn", -5, 300), restart("In", 300)), Exit{Code: 301}, want{Restart, LevelRule, 0}},
		{"a far code that stays open", f37, "Never", MainContainer, never, rules(restart("NotIn", -5, 300), restart("In", 300)), Exit{Code: -5}, want{Stop, LevelContainer, none}},
	} {
		t.Run(test.name, func(t *testing.T) {
			spec := PodSpec{RestartPolicy: test.pod}
			c := []Container{{Name: "c", RestartPolicy: test.own, RestartPolicyRules: test.r}}
			switch test.kind {
			case MainContainer:
				spec.Containers = c
			case InitContainer:
				spec.InitContainers = c
			case EphemeralContainer:
				spec.EphemeralContainers = c
			}
			d := Compile(&spec, test.f).Decide(Ref{Kind: test.kind}, test.exit)
			if got := (want{d.Action, d.Level, d.Matched}); got != test.want {
				t.Errorf("got %+v, want %+v", d, test.want)
			}
		})
	}
}

// The compiled table and the walk of Trace were written apart; on random containers they must name
// the same rule and the same level.
func TestTraceAgreesWithDecide(t *testing.T) {
	const seed = 20261121
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	decided := 0
	for range 20_000 {
		f := DefaultFeatures(OldestMinor + r.IntN(NewestMinor-OldestMinor+1))
		spec := randomSpec(r)
		p := Compile(&spec, f)
		for _, kind := range []ContainerKind{MainContainer, InitContainer, EphemeralContainer} {
			for i := range spec.List(kind) {
				for range 8 {
					ref, exit := Ref{Kind: kind, Index: i}, Exit{Code: randomCode(r), OOMKilled: r.IntN(4) == 0}
					d := p.Decide(ref, exit)
					traced, steps := Trace(&spec, f, ref, exit)
					if traced != d {
						t.Fatalf("Trace decides %+v, the compiled policy %+v", traced, d)
					}
					checkTrace(t, d, steps)
					decided++
				}
			}
		}
	}
	t.Logf("%d decisions", decided)
}

func checkTrace(t *testing.T, d Decision, steps []Step) {
	t.Helper()
	rule, level := int32(-1), Level("")
	for _, s := range steps {
		switch {
		case s.Level == LevelRule && s.Result == Matched && rule < 0:
			rule = int32(s.Rule)
			if s.Ignored != d.Ignored {
				t.Fatalf("rule %d: ignored %q, decision says %q", rule, s.Ignored, d.Ignored)
			}
			if s.Ignored == NotIgnored {
				level = LevelRule
			}
		case s.Level != LevelRule && s.Result == Matched:
			if level != "" {
				t.Fatalf("two parts decided: %v", steps)
			}
			level = s.Level
		}
	}
	if rule != d.Matched || level != d.Level {
		t.Fatalf("decision %+v, trace says rule %d, level %q: %+v", d, rule, level, steps)
	}
}

var boundaryCodes = []int32{-2147483648, -1, 0, 1, 2, 42, 127, 128, 137, 143, 254, 255, 256, 257, 300, 2147483647}

func randomCode(r *rand.Rand) int32 { return boundaryCodes[r.IntN(len(boundaryCodes))] }

func randomSpec(r *rand.Rand) PodSpec {
	policies := []RestartPolicy{"", "Always", "OnFailure", "Never", "Sometimes"}
	spec := PodSpec{RestartPolicy: policies[r.IntN(5)]}
	list := func() (list []Container) {
		for range r.IntN(3) {
			c := Container{Name: "c"}
			if r.IntN(4) > 0 {
				c.RestartPolicy = pointer(policies[r.IntN(5)])
			}
			for range r.IntN(5) {
				c.RestartPolicyRules = append(c.RestartPolicyRules, randomRule(r))
			}
			list = append(list, c)
		}
		return list
	}
	spec.InitContainers, spec.Containers, spec.EphemeralContainers = list(), list(), list()
	return spec
}

func randomRule(r *rand.Rand) ContainerRestartRule {
	rule := ContainerRestartRule{Action: []ContainerRestartRuleAction{"Restart", "RestartAllContainers", "Pause"}[r.IntN(3)]}
	if r.IntN(8) > 0 {
		rule.ExitCodes = &ContainerRestartRuleOnExitCodes{Operator: []ExitCodesOperator{"In", "NotIn", "Between"}[r.IntN(3)]}
		for range r.IntN(6) {
			rule.ExitCodes.Values = append(rule.ExitCodes.Values, randomCode(r))
		}
	}
	return rule
}

// sink keeps the compiler from dropping a benchmarked call.
var sink Decision

// BenchmarkDecide shows that a decision costs the same for one rule and for the most Kubernetes
// allows.
func BenchmarkDecide(b *testing.B) {
	for _, size := range []struct {
		name          string
		rules, values int
	}{{"1x1", 1, 1}, {"20x255", 20, 255}} {
		b.Run(size.name, func(b *testing.B) {
			spec := benchmarkSpec(size.rules, size.values)
			p := Compile(&spec, DefaultFeatures(NewestMinor))
			b.ReportAllocs()
			code := int32(0)
			for b.Loop() {
				sink = p.Decide(Ref{}, Exit{Code: code})
				code = (code + 1) & 255
			}
		})
	}
}

// BenchmarkCompile is what a policy costs before its first decision.
func BenchmarkCompile(b *testing.B) {
	spec := benchmarkSpec(20, 255)
	b.ReportAllocs()
	for b.Loop() {
		Compile(&spec, DefaultFeatures(NewestMinor))
	}
}

func benchmarkSpec(nRules, nValues int) PodSpec {
	c := Container{Name: "main", RestartPolicy: pointer(RestartPolicyNever)}
	for r := range nRules {
		values := make([]int32, nValues)
		for i := range values {
			values[i] = int32((i*7 + r) % 255)
		}
		c.RestartPolicyRules = append(c.RestartPolicyRules, restart(OperatorIn, values...))
	}
	return PodSpec{RestartPolicy: RestartPolicyNever, Containers: []Container{c}}
}
