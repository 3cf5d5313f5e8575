package diff

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/manifest"
	"github.com/podfate/podfate/policy/simulate"
)

// statesPerPod is how many states of its containers are tried on one random Pod.
const statesPerPod = 8

// states compares n phases and n plans of Pods whose containers are in any state. It needs the
// kubelet.
func (c *comparison) states(t *testing.T, n int) {
	sets := len(gateSets(c.release.Minor()))
	shown := 0
	c.eachGateSet(t, func(set gateSet, f policy.Features) {
		for i, end := 0, c.phases+n/sets+1; c.phases < end; i++ {
			g := generate(c.seed, i)
			g.admissible, g.probing = true, true
			text := g.pod()
			v, fault := manifest.Parse(text)
			if fault != nil {
				t.Fatalf("%s: %v", text, fault)
			}
			spec := manifest.ReadObject(v, "Pod", "").Spec
			pod, err := c.release.Pod(text)
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			for range statesPerPod {
				if known := c.state(t, &shown, fmt.Sprintf("state case %d, %v: %s", i, set, text), g, &spec, f, pod); !known {
					t.Skip("left out, the kubelet is not linked: run with -kubelet")
				}
			}
		}
	})
}

func (c *comparison) state(t *testing.T, shown *int, what string, g *generator, spec *policy.PodSpec, f policy.Features, pod Pod) (known bool) {
	t.Helper()
	states, options := g.statuses(spec)
	phase, known := pod.Phase(states, options)
	if !known {
		return false
	}
	c.phases++
	if ours := phaseOf(spec, f, states, options); ours != phase {
		c.differ(t, shown, fmt.Sprintf("%s\nphase with %+v, %+v", what, states, options), ours, phase)
	}
	r := g.runtime(spec)
	plan, _ := pod.Plan(&r)
	c.plans++
	if ours, theirs := planText(simulate.PlanSync(spec, f, &r)), planText(plan); ours != theirs {
		c.differ(t, shown, fmt.Sprintf("%s\nplan for %+v", what, r), ours, theirs)
	}
	return true
}

// phaseOf adds up the containers as the simulation does.
func phaseOf(spec *policy.PodSpec, f policy.Features, states map[policy.Ref]policy.ContainerState, o policy.PhaseOptions) policy.PodPhase {
	var counts policy.PhaseCounts
	for _, r := range refs(spec) {
		counts.Add(spec.PhaseShare(r, states[r], f))
	}
	return counts.Phase(spec.RestartPolicy, f, o)
}

// refs returns the init and main containers of spec.
func refs(spec *policy.PodSpec) []policy.Ref {
	var list []policy.Ref
	for _, kind := range []policy.ContainerKind{policy.InitContainer, policy.MainContainer} {
		for i := range spec.List(kind) {
			list = append(list, policy.Ref{Kind: kind, Index: i})
		}
	}
	return list
}

// planText writes a plan with its kills in the order of the Pod.
func planText(s simulate.Sync) string {
	kills := map[string]simulate.KillReason{}
	for _, k := range s.Kill {
		kills[k.Container.Path()] = k.Reason
	}
	var text []string
	for _, path := range slices.Sorted(maps.Keys(kills)) {
		text = append(text, path+" "+string(kills[path]))
	}
	return fmt.Sprintf("kill pod %v, sandbox %v, start ephemeral %v, init %v, main %v, kill %v, reset %v", s.KillPod, s.CreateSandbox, s.StartEphemeral, s.StartInit, s.StartMain, text, s.Reset)
}

// statuses returns statuses as a kubelet can have written them, and some that it cannot.
func (g *generator) statuses(spec *policy.PodSpec) (map[policy.Ref]policy.ContainerState, policy.PhaseOptions) {
	states := map[policy.Ref]policy.ContainerState{}
	alike := policy.StateKind(g.r.IntN(4))
	for _, r := range refs(spec) {
		if g.oneIn(12) {
			continue
		}
		s := policy.ContainerState{Listed: true, Kind: policy.StateKind(g.r.IntN(4)), Started: !g.oneIn(3), Ended: g.termination(spec.Container(r))}
		if !g.oneIn(3) { // otherwise hardly any Pod would be done
			s.Kind = alike
		}
		if g.oneIn(2) {
			last := g.termination(spec.Container(r))
			s.Last = &last
		}
		states[r] = s
	}
	return states, policy.PhaseOptions{Terminating: g.oneIn(4), Initialized: g.oneIn(2)}
}

func (g *generator) termination(c *policy.Container) policy.Termination {
	return policy.Termination{ExitCode: g.codeOf(c), RestartingAllContainers: g.oneIn(6)}
}

// codeOf returns an exit code: half of the time one that occurs in the rules of c, or 0.
func (g *generator) codeOf(c *policy.Container) int32 {
	if len(c.RestartPolicyRules) > 0 && g.oneIn(2) {
		if on := c.RestartPolicyRules[g.r.IntN(len(c.RestartPolicyRules))].ExitCodes; on != nil && len(on.Values) > 0 {
			return on.Values[g.r.IntN(len(on.Values))]
		}
	}
	if g.oneIn(2) {
		return 0
	}
	return g.code()
}

// runtime returns what a runtime can say about the containers of spec.
func (g *generator) runtime(spec *policy.PodSpec) simulate.Runtime {
	r := simulate.Runtime{Sandbox: pick(g, simulate.SandboxReady, simulate.SandboxReady, simulate.SandboxReady, simulate.SandboxNotReady, simulate.SandboxNone)}
	r.Deleted, r.RestartAll = g.oneIn(12), g.oneIn(12)
	begun := len(spec.InitContainers) + len(spec.Containers) // containers that had their turn
	if g.oneIn(2) {
		begun = g.r.IntN(begun + 1)
	}
	alike := simulate.InstanceState(g.r.IntN(3))
	for _, ref := range refs(spec) {
		var list []simulate.Instance
		if begun > 0 && !g.oneIn(8) {
			list = append(list, g.instance(spec, ref, r.Sandbox, alike))
			if g.oneIn(3) {
				older := g.instance(spec, ref, r.Sandbox, simulate.InstanceExited)
				older.State, older.Active = simulate.InstanceExited, older.Active && list[0].Active
				list = append(list, older)
			}
		}
		begun--
		if ref.Kind == policy.InitContainer {
			r.Init = append(r.Init, list)
		} else {
			r.Main = append(r.Main, list)
		}
	}
	for range spec.EphemeralContainers {
		var list []simulate.Instance
		if g.oneIn(2) {
			list = append(list, simulate.Instance{State: simulate.InstanceState(g.r.IntN(3)), ExitCode: g.code()})
		}
		r.Ephemeral = append(r.Ephemeral, list)
	}
	return r
}

func (g *generator) instance(spec *policy.PodSpec, ref policy.Ref, sandbox simulate.SandboxState, alike simulate.InstanceState) simulate.Instance {
	c := spec.Container(ref)
	in := simulate.Instance{
		State: simulate.InstanceState(g.r.IntN(3)), ExitCode: g.codeOf(c), Active: sandbox == simulate.SandboxReady && !g.oneIn(6),
		Reason: pick(g, "", "Error", "Completed", "OOMKilled"),
	}
	if g.oneIn(2) {
		in.State = alike
	}
	if in.State != simulate.InstanceRunning {
		return in
	}
	main := ref.Kind == policy.MainContainer
	switch {
	case !main && !c.IsSidecar(ref.Kind): // nothing is done about it
	case g.oneIn(8):
		in.Stale = true
	case g.oneIn(8):
		in.LivenessFailed = main || c.HasLivenessProbe
	case g.oneIn(8):
		in.Resized = true
	}
	switch {
	case !c.HasStartupProbe:
	case g.oneIn(4):
		in.StartupFailed = true
	case g.oneIn(4):
		in.StartupPending = true
	}
	return in
}
