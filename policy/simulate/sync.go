package simulate

import "github.com/podfate/podfate/policy"

// InstanceState is what the runtime says of one instance of a container.
type InstanceState uint8

// The states. Created ones, which a runtime failed to start, are not modelled.
const (
	InstanceRunning InstanceState = iota
	InstanceExited
	InstanceUnknown
)

// Instance is one instance of a container, as the runtime and the probes see it.
type Instance struct {
	State    InstanceState
	ExitCode int32  // of an exited one
	Reason   string // of an exited one
	Active   bool   // it belongs to the newest sandbox, and that one is ready

	// Of a running one: its image is another one than the Pod's, a resize needs a restart, a probe
	// has failed, or the startup probe has not succeeded yet.
	Stale, Resized, LivenessFailed, StartupFailed, StartupPending bool
}

// SandboxState is what the runtime says of the Pod's newest sandbox.
type SandboxState uint8

// The states. Several sandboxes that are ready at once are not modelled.
const (
	SandboxNone SandboxState = iota // the runtime has none and never had
	SandboxReady
	SandboxNotReady
)

// Runtime is what a kubelet knows when it plans a sync.
type Runtime struct {
	Sandbox    SandboxState
	Init, Main [][]Instance // for each container at most two instances, newest first
	Ephemeral  [][]Instance
	Deleted    bool // the Pod has a deletionTimestamp
	RestartAll bool // all containers are to be removed: RestartAllContainers
}

// KillReason is why an instance is killed before something is started.
type KillReason string

// The reasons.
const (
	KillLiveness KillReason = killLiveness
	KillStartup  KillReason = killStartup
	KillChanged  KillReason = killChanged
	KillResized  KillReason = killResized
	KillUnknown  KillReason = killUnknown
)

// PlannedKill is the newest instance of a container that a sync kills.
type PlannedKill struct {
	Container policy.Ref
	Reason    KillReason
}

// Sync is what one sync of a kubelet is going to do.
type Sync struct {
	KillPod, CreateSandbox bool
	Kill                   []PlannedKill // before anything is started; whole Pods are killed without naming them here
	Reset                  []policy.Ref  // removed for RestartAllContainers, in this order
	// Indices of containers, in the order of the starts.
	StartEphemeral, StartInit, StartMain []int
}

// PlanSync works out what a kubelet does about a Pod whose phase is not terminal and whose
// containers are as r says. It is the step that [Pod] takes at each sync, for those who have a
// state of their own. Lists of r that are shorter than those of spec stand for containers without
// instances.
//
// Source: computePodActions in pkg/kubelet/kuberuntime/kuberuntime_manager.go and
// computeInitContainerActions in kuberuntime_container.go, Kubernetes v1.33 to v1.37.
func PlanSync(spec *policy.PodSpec, f policy.Features, r *Runtime) Sync {
	k := newKubelet(&Scenario{Spec: spec, Kubelet: Kubelet{Features: f}})
	k.ending.deleted = r.Deleted
	if r.Sandbox != SandboxNone {
		k.sandbox = 2 // so that an older one can have been there
		k.sandboxReady = r.Sandbox == SandboxReady
	}
	for i := range r.Init {
		k.ctrs[i].adopt(r.Init[i], k.sandbox)
	}
	for i := range r.Main {
		k.ctrs[k.inits+i].adopt(r.Main[i], k.sandbox)
	}
	for i := range r.Ephemeral {
		k.ctrs[len(k.ctrs)-k.ephemerals+i].adopt(r.Ephemeral[i], k.sandbox)
	}
	p := &k.plan
	if r.RestartAll && k.rac() {
		k.planReset(p)
	} else {
		k.compute(p)
	}
	s := Sync{KillPod: p.killPod, CreateSandbox: p.createSandbox, StartInit: p.startInit}
	for _, i := range p.startEphemeral {
		s.StartEphemeral = append(s.StartEphemeral, i-len(k.ctrs)+k.ephemerals)
	}
	for _, i := range p.startMain {
		s.StartMain = append(s.StartMain, i-k.inits)
	}
	for _, x := range p.kill {
		switch {
		case p.killPod:
		case x.remove:
			s.Reset = append(s.Reset, k.ctrs[x.container].ref)
		default:
			s.Kill = append(s.Kill, PlannedKill{k.ctrs[x.container].ref, KillReason(x.reason)})
		}
	}
	return s
}

// adopt makes c a container with these instances.
func (c *container) adopt(list []Instance, sandbox int64) {
	for i, of := range list[:min(len(list), 2)] {
		in := instance{
			id: int64(len(list) - i), sandbox: sandbox - 1, exitAt: never, code: of.ExitCode, reason: of.Reason,
			stale: of.Stale, resized: of.Resized, livenessFailed: of.LivenessFailed, startupFailed: of.StartupFailed,
		}
		if of.Active {
			in.sandbox = sandbox
		}
		switch of.State {
		case InstanceRunning:
			in.state = running
		case InstanceExited:
			in.state = exited
		case InstanceUnknown:
			in.state = unknown
		}
		c.insts = append(c.insts, in)
		if i == 0 && of.StartupPending {
			c.startupFailures++
		}
	}
}
