package policy_test

import (
	"fmt"
	"testing"

	. "github.com/podfate/podfate/policy"
)

// naiveRule is written from the text of the proposal and shares nothing with the compiled policy:
// what a rule asks for, and what its action does to a container of this kind.
type naiveRule struct {
	action   string
	codes    []int32 // with in; nil for a rule that asks for something else
	in       bool
	restarts int // -1: not asked for
	oom      bool
}

func (r naiveRule) rule() ContainerRestartRule {
	rule := ContainerRestartRule{Action: ContainerRestartRuleAction(r.action), OOMKilled: r.oom, Conditions: 1, Spelling: "when.exitCodes"}
	if r.restarts >= 0 {
		n := int32(r.restarts)
		rule.Restarts = &n
	} else if !r.oom {
		rule.ExitCodes = &ContainerRestartRuleOnExitCodes{Operator: OperatorNotIn, Values: r.codes}
		if r.in {
			rule.ExitCodes.Operator = OperatorIn
		}
	}
	return rule
}

func (r naiveRule) holds(code int32, restarts uint32, oom, equals bool) bool {
	switch {
	case r.restarts >= 0 && equals:
		return int(restarts) == r.restarts
	case r.restarts >= 0:
		return int(restarts) >= r.restarts
	case r.oom:
		return oom
	}
	for _, v := range r.codes {
		if v == code {
			return r.in
		}
	}
	return !r.in
}

// naiveWorld is a cluster with proposals and a Pod of one container.
type naiveWorld struct {
	kind             string // main, init, sidecar
	pod, own         string // own "" for none
	rules            []naiveRule
	limit            int // -1: none
	equals, fallback bool
	refuse           bool // missingPolicy
	perContainer     bool
	exceeded         bool
	onlyOnFailure    bool
	alwaysPod        bool // known to the node
	recreate         bool
}

// naiveDecision says what becomes of an exit, and whether the Pod fails.
func (w naiveWorld) decide(code int32, restarts, ofPod uint32, oom bool) (action string, podFails bool) {
	action, podFails = w.unlimited(code, restarts, oom)
	again := action == "Restart" || action == "RestartAllContainers" || action == "RestartPod"
	if w.limit < 0 || !again || w.onlyOnFailure && w.pod != "OnFailure" {
		return action, podFails
	}
	n := ofPod
	if w.perContainer {
		n = restarts
	}
	if int(n) > w.limit || int(n) == w.limit && !w.exceeded {
		return "TerminatePod", true
	}
	return action, podFails
}

func (w naiveWorld) unlimited(code int32, restarts uint32, oom bool) (action string, podFails bool) {
	matched := ""
	for _, r := range w.rules {
		if r.holds(code, restarts, oom, w.equals) {
			matched = r.action
			break
		}
	}
	counts := w.own != "" || !w.refuse
	switch matched {
	case "TerminatePod":
		return matched, true
	case "RestartPod", "RestartAllContainers":
		if counts || w.kind != "init" || w.pod != "Never" || code == 0 { // else the Pod has failed before anyone looks
			return matched, false
		}
	}
	done := code == 0 && !oom
	switch {
	case w.kind == "sidecar" && (matched == "Complete" || matched == "Terminate"):
		return matched, false
	case w.kind == "sidecar":
		return "Restart", false
	case w.kind == "init" && done:
		return "Stop", false
	}
	if counts && matched != "" {
		return matched, w.kind == "init" && matched == "Terminate"
	}
	policy := w.own
	if policy == "" || w.fallback && len(w.rules) > 0 {
		policy = w.pod
	}
	switch {
	case policy == "AlwaysPod" && w.alwaysPod && w.kind == "main" && w.recreate:
		return "RestartPod", false
	case policy == "AlwaysPod" && w.alwaysPod && w.kind == "main":
		return "RestartAllContainers", false
	case policy == "Never", policy == "OnFailure" && code == 0:
		return "Stop", w.kind == "init"
	}
	return "Restart", false
}

func (w naiveWorld) spec() (PodSpec, Ref, Features) {
	c := Container{Name: "c"}
	if w.own != "" {
		own := RestartPolicy(w.own)
		c.RestartPolicy = &own
	}
	for _, r := range w.rules {
		c.RestartPolicyRules = append(c.RestartPolicyRules, r.rule())
	}
	c.HasRules = len(w.rules) > 0
	spec, ref := PodSpec{RestartPolicy: RestartPolicy(w.pod), Proposed: true}, Ref{}
	if w.kind == "main" {
		spec.Containers = []Container{c}
	} else {
		spec.InitContainers, spec.Containers, ref = []Container{c}, []Container{{Name: "m"}}, Ref{Kind: InitContainer}
	}
	f := DefaultFeatures(NewestMinor)
	p := Proposals(0).With(KEP5307Future)
	for o, on := range map[ProposalOption]bool{
		OptionRestartTimes: w.equals, OptionMissingPolicy: w.refuse, OptionFallback: w.fallback, OptionCounts: w.perContainer,
		OptionStop: w.exceeded, OptionPolicies: w.onlyOnFailure, OptionSandbox: w.recreate,
	} {
		n := 0
		if on {
			n = 1
		}
		p = p.WithReading(o, n)
	}
	if w.limit >= 0 {
		n := int32(w.limit)
		spec.MaxRestartTimes, p = &n, p.With(KEP3322)
	}
	if w.alwaysPod {
		p = p.With(AlwaysPod)
	}
	f.Proposals = p
	return spec, ref, f
}

// TestProposalsExhaustive compares compiled policy, trace and batch with the naive model: two rules
// of all conditions and actions, every kind of container, every policy, every reading of what is
// left open, ends with and without the reason OOMKilled, restart counts around those that are asked
// for.
func TestProposalsExhaustive(t *testing.T) {
	var rules []naiveRule
	for _, action := range []string{"Restart", "RestartAllContainers", "Complete", "Terminate", "TerminatePod", "RestartPod"} {
		for _, r := range []naiveRule{
			{codes: []int32{1}, in: true, restarts: -1}, {codes: []int32{0, 1}, restarts: -1}, {restarts: 0}, {restarts: 2}, {restarts: -1, oom: true},
		} {
			r.action = action
			rules = append(rules, r)
		}
	}
	lists := [][]naiveRule{nil}
	for i := range rules {
		lists = append(lists, rules[i:i+1])
		for j := range rules {
			if (i+j)%3 == 0 || rules[i].restarts == 2 && j%2 == 0 { // a third of the pairs, and more of those that ask for counts
				lists = append(lists, []naiveRule{rules[i], rules[j]})
			}
		}
	}
	decisions := 0
	for n, list := range lists {
		if testing.Short() && n%5 != 0 { // the quick loop takes a sample
			continue
		}
		for _, kind := range []string{"main", "init", "sidecar"} {
			for _, pod := range []string{"Always", "OnFailure", "Never", "AlwaysPod"} {
				for _, own := range []string{"", "Always", "OnFailure", "Never"} {
					if (own == "Always") != (kind == "sidecar") && kind != "main" {
						continue
					}
					for bits := range 4 {
						x := n*7 + bits*3 + len(pod) // spreads the other readings over the cases
						w := naiveWorld{
							kind: kind, pod: pod, own: own, rules: list, limit: x%4 - 1, equals: bits&1 != 0, fallback: bits&2 != 0,
							refuse: x&4 != 0, perContainer: x&8 != 0, exceeded: x&16 != 0, onlyOnFailure: x&32 != 0, alwaysPod: x&1 != 0, recreate: x&2 != 0,
						}
						decisions += compareProposal(t, w)
						if t.Failed() {
							return
						}
					}
				}
			}
		}
	}
	t.Logf("%d decisions", decisions)
}

func compareProposal(t *testing.T, w naiveWorld) (decisions int) {
	spec, ref, f := w.spec()
	p := Compile(&spec, f)
	b := NewBatch(&spec, BatchOptions{Features: f, Backoff: KubeletBackoff(f, 0), Fallback: true})
	for _, code := range []int32{0, 1, 2, 137, 300} {
		for _, oom := range []bool{false, true} {
			for restarts := range uint32(4) {
				e := Exit{Code: code, OOMKilled: oom, Restarts: restarts, PodRestarts: restarts + 1}
				action, fails := w.decide(code, restarts, restarts+1, oom)
				want := fmt.Sprint(action, fails)
				d := p.Decide(ref, e)
				traced, _ := Trace(&spec, f, ref, e)
				event := Event{ExitCode: code, Container: uint16(spec.Number(ref)), Flags: EventRestarts, Conditions: uint64(restarts+1)<<32 | uint64(restarts)}
				if oom {
					event.Flags |= EventOOMKilled
				}
				var verdict [1]Verdict
				b.Exits([]Event{event}, verdict[:])
				packed := verdict[0].Decision()
				for name, got := range map[string]Decision{"compiled": d, "traced": traced, "packed": packed} {
					if fmt.Sprint(got.Action, got.PodFails) != want || got != d {
						t.Errorf("%+v, %+v: %s %+v, want %s", w, e, name, got, want)
						return decisions
					}
				}
				if of, ok := waitsLike(b, event, d, f); !ok {
					t.Errorf("%+v, %+v: %+v waits %d ms", w, e, d, of.Wait)
					return decisions
				}
				decisions++
			}
		}
	}
	return decisions
}

// waitsLike reports whether b makes event, now with a history of one restart, wait as d says.
func waitsLike(b *Batch, event Event, d Decision, f Features) (v Verdict, ok bool) {
	event.Flags, event.History = event.Flags|EventHistory, 1
	want := Millis(-1)
	switch {
	case d.Action.Again() && d.Waits(f):
		want = KubeletBackoff(f, 0).Delay(1)
	case d.Action.Again():
		want = 0
	}
	var verdict [1]Verdict
	b.Exits([]Event{event}, verdict[:])
	return verdict[0], verdict[0].Wait == want && verdict[0].Decision() == d
}

// Flat rules under the proposal have the outcome that they have without it, where the manifest is
// valid.
func TestFlatRulesUnderTheProposal(t *testing.T) {
	f := DefaultFeatures(NewestMinor)
	future := f
	future.Proposals = Proposals(0).With(KEP5307Future)
	for _, first := range allRules(1, false) {
		for _, of := range policies {
			for _, kind := range []ContainerKind{MainContainer, InitContainer} {
				if of.own == nil || first.Action == "Pause" {
					continue
				}
				c := Container{Name: "c", RestartPolicy: of.own, RestartPolicyRules: []ContainerRestartRule{first}, HasRules: true}
				spec, ref := PodSpec{RestartPolicy: of.pod, Containers: []Container{c}}, Ref{}
				if kind == InitContainer {
					spec.InitContainers, ref = []Container{c}, Ref{Kind: InitContainer}
				}
				with := spec
				with.Proposed = true
				p, q := Compile(&spec, f), Compile(&with, future)
				for code := int32(-1); code < 257; code++ {
					for _, oom := range []bool{false, true} {
						e := Exit{Code: code, OOMKilled: oom, Restarts: 3}
						if a, b := p.Decide(ref, e), q.Decide(ref, e); a != b {
							t.Fatalf("%+v of %+v: %+v, with the proposal %+v", e, c, a, b)
						}
					}
				}
			}
		}
	}
}

// The benchmarks of what a condition on restarts costs; BenchmarkDecide is the same without.
func BenchmarkDecideByRestarts(b *testing.B) {
	spec, ref, f := naiveWorld{kind: "main", pod: "Never", own: "Never", limit: -1, rules: []naiveRule{
		{action: "Complete", restarts: 10}, {action: "Restart", codes: []int32{42, 43, 44}, in: true, restarts: -1},
	}}.spec()
	p := Compile(&spec, f)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		_ = p.Decide(ref, Exit{Code: int32(i & 0xFF), Restarts: uint32(i & 15)})
	}
}

func BenchmarkBatchByRestarts(b *testing.B) {
	spec, _, f := naiveWorld{kind: "main", pod: "Never", own: "Never", limit: -1, rules: []naiveRule{
		{action: "Complete", restarts: 10}, {action: "Restart", codes: []int32{42, 43, 44}, in: true, restarts: -1},
	}}.spec()
	batch := NewBatch(&spec, BatchOptions{Features: f, Backoff: KubeletBackoff(f, 0), Fallback: true})
	events, verdicts := make([]Event, 4096), make([]Verdict, 4096)
	for i := range events {
		events[i] = Event{ExitCode: int32(i & 0xFF), Flags: EventRestarts, Conditions: uint64(i & 15)}
	}
	b.ReportAllocs()
	for b.Loop() {
		batch.Exits(events, verdicts)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(events)), "ns/event")
}
