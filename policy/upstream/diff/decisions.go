package diff

import (
	"fmt"
	"math"
	"testing"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/manifest"
)

// decisions compares at least n decisions about exits of main and init containers.
func (c *comparison) decisions(t *testing.T, n int) {
	sets := len(gateSets(c.release.Minor()))
	shown := 0
	c.eachGateSet(t, func(set gateSet, f policy.Features) {
		for i, end := 0, c.decided+n/sets+1; c.decided < end; i++ {
			g := generate(c.seed, i)
			g.admissible = true
			text := g.pod()
			d := decider{c: c, t: t, g: g, f: f, shown: &shown, what: fmt.Sprintf("decision case %d, %v: %s", i, set, text)}
			d.pod(text)
		}
	})
}

// decider compares the decisions about one Pod.
type decider struct {
	c     *comparison
	t     *testing.T
	g     *generator
	f     policy.Features
	shown *int
	what  string

	spec     policy.PodSpec
	compiled *policy.Policy
	real     Pod
}

func (d *decider) pod(text []byte) {
	v, fault := manifest.Parse(text)
	if fault != nil {
		d.t.Fatalf("%s: %v", d.what, fault)
	}
	d.spec = manifest.ReadObject(v, "Pod", "").Spec
	d.compiled = policy.Compile(&d.spec, d.f)
	pod, err := d.c.release.Pod(text)
	if err != nil {
		d.t.Fatalf("%s: %v", d.what, err)
	}
	d.real = pod
	for _, kind := range []policy.ContainerKind{policy.MainContainer, policy.InitContainer} {
		for i := range d.spec.List(kind) {
			d.container(policy.Ref{Kind: kind, Index: i})
		}
	}
}

func (d *decider) container(r policy.Ref) {
	alternatives := newAlternatives(d.real, r)
	for _, code := range d.codes(r) {
		exit := policy.Exit{Code: code, OOMKilled: d.g.oneIn(6)}
		got := d.compiled.Decide(r, exit)
		want := d.expected(r, exit, alternatives)
		d.c.decided++
		if got.Action != want.action || int(got.Matched) != want.matched || levelGroup(got) != want.level || got.PodFails != want.podFails {
			d.c.differ(d.t, d.shown, fmt.Sprintf("%s\ncontainer %s, exit %+v", d.what, r.Path(), exit), fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want))
		}
		if d.g.oneIn(16) {
			d.trace(r, exit, want)
		}
		if r.Kind == policy.InitContainer && want.action != policy.RestartAllContainers {
			d.plan(r, exit, got)
		}
	}
}

// codes returns exit codes for container r: those in its rules and next to them, and random ones.
func (d *decider) codes(r policy.Ref) []int32 {
	codes := []int32{0, 1, math.MinInt32, math.MaxInt32}
	for _, rule := range d.spec.Container(r).RestartPolicyRules {
		if rule.ExitCodes == nil || len(rule.ExitCodes.Values) == 0 {
			continue
		}
		v := rule.ExitCodes.Values[d.g.r.IntN(len(rule.ExitCodes.Values))]
		codes = append(codes, v, v+int32(d.g.r.IntN(3))-1) // wraps around at the ends, which does no harm
	}
	for len(codes) < 24 {
		codes = append(codes, d.g.code())
	}
	return codes
}

// expectation is what the real functions say about an exit.
type expectation struct {
	action   policy.Action
	matched  int
	level    string // see levelGroup
	podFails bool
}

// levelGroup names the part of the manifest that decided, as far as the outcome of the real
// functions can tell: whether the Pod's policy or its default decided looks the same from outside.
func levelGroup(d policy.Decision) string {
	switch {
	case d.Level == policy.LevelRule:
		return "rule"
	case d.Because == policy.BecauseInitCompleted || d.Because == policy.BecauseSidecar:
		return "kind"
	case d.Level == policy.LevelContainer:
		return "container"
	}
	return "pod"
}

// expected puts the answer together from the real functions, as computePodActions does.
//
// Source: computePodActions in pkg/kubelet/kuberuntime/kuberuntime_manager.go and
// computeInitContainerActions in kuberuntime_container.go next to it, Kubernetes v1.33 to v1.37.
func (d *decider) expected(r policy.Ref, e policy.Exit, other alternatives) expectation {
	want := expectation{action: policy.Stop, matched: -1}
	rulesOn := d.f.ContainerRestartRules
	if rule, known := d.real.Match(r, e.Code); known && rulesOn {
		want.matched = rule
	}
	container := d.spec.Container(r)
	plainInit := r.Kind == policy.InitContainer && !container.IsSidecar(r.Kind)
	restart, known := d.real.ShouldRestart(r, e.Code)
	failed := plainInit && e.Code != 0 && known && rulesOn && !restart // getPhase then ends the Pod, before SyncPod looks further
	if d.f.RestartAllContainersOnContainerExits && d.real.ShouldRestartAll(r, e.Code) && !failed {
		want.action, want.level = policy.RestartAllContainers, "rule"
		return want
	}
	restarted := d.real.ShouldBeRestarted(r, e.Code)
	if known && rulesOn && restart != restarted {
		d.t.Errorf("%s: ShouldContainerBeRestarted and ContainerShouldRestart differ for code %d", d.what, e.Code)
	}
	switch {
	case r.Kind == policy.InitContainer && !plainInit:
		want.action, want.level = policy.Restart, "kind"
		return want
	case plainInit && e.Code == 0 && !e.OOMKilled:
		want.level = "kind"
		return want
	case plainInit && !rulesOn:
		restarted = d.spec.RestartPolicy != policy.RestartPolicyNever // the one line that no exported function holds
	}
	if restarted {
		want.action = policy.Restart
	}
	want.podFails = plainInit && !restarted
	want.level = other.decidedBy(e.Code, rulesOn)
	return want
}

// alternatives are copies of a Pod that tell by their outcomes which policy decides.
type alternatives struct {
	r                                        policy.Ref
	podAlways, podNever, ownAlways, ownNever Pod
}

func newAlternatives(p Pod, r policy.Ref) alternatives {
	return alternatives{
		r:         r,
		podAlways: p.With(policy.RestartPolicyAlways, r, ""), podNever: p.With(policy.RestartPolicyNever, r, ""),
		ownAlways: p.With("", r, policy.RestartPolicyAlways), ownNever: p.With("", r, policy.RestartPolicyNever),
	}
}

// decidedBy returns "pod" if another policy of the Pod would change the outcome, "container" if
// another one of the container would, else "rule".
func (a alternatives) decidedBy(code int32, rulesOn bool) string {
	if a.podAlways.ShouldBeRestarted(a.r, code) != a.podNever.ShouldBeRestarted(a.r, code) {
		return "pod"
	}
	if rulesOn && a.ownAlways.ShouldBeRestarted(a.r, code) != a.ownNever.ShouldBeRestarted(a.r, code) {
		return "container"
	}
	return "rule"
}

// plan compares the decision about an init container with the kubelet's plan for it.
func (d *decider) plan(r policy.Ref, e policy.Exit, got policy.Decision) {
	plan, known := d.real.PlanInit(r, e.Code, e.OOMKilled)
	if !known {
		return
	}
	d.c.planned++
	if ours := (InitPlan{Start: got.Action == policy.Restart, KillPod: got.PodFails}); ours != plan {
		d.c.differ(d.t, d.shown, fmt.Sprintf("%s\nplan of container %s, exit %+v", d.what, r.Path(), e), fmt.Sprintf("%+v", ours), fmt.Sprintf("%+v", plan))
	}
}

// trace checks that each rule that was looked at has the result that the real function gives it
// alone.
func (d *decider) trace(r policy.Ref, e policy.Exit, want expectation) {
	matched := -1
	_, steps := policy.Trace(&d.spec, d.f, r, e)
	for _, s := range steps {
		if s.Level != policy.LevelRule || s.Result == policy.NotReached || s.Code == policy.StepGateOff {
			continue
		}
		if s.Result == policy.Matched && matched < 0 {
			matched = s.Rule
		}
		if real := d.real.MatchAlone(r, s.Rule, e.Code); real != (s.Result == policy.Matched) {
			d.c.differ(d.t, d.shown, fmt.Sprintf("%s\ncontainer %s, exit %+v, rule %d", d.what, r.Path(), e, s.Rule), s.Result, fmt.Sprintf("matches alone: %v", real))
		}
	}
	if matched != want.matched {
		d.c.differ(d.t, d.shown, fmt.Sprintf("%s\ntrace of container %s, exit %+v", d.what, r.Path(), e), matched, want.matched)
	}
}
