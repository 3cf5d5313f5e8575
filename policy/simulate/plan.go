package simulate

import "github.com/podfate/podfate/policy"

// plan is what a sync is going to do. The slices hold indices of containers and are reused.
type plan struct {
	killPod       bool
	createSandbox bool
	kill          []kill
	next          int  // the kill to go on with
	killed        bool // something has been killed
	reset         bool // of all containers
	recreate      bool // nothing of the old sandbox is left
	startInit     []int
	startMain     []int

	startEphemeral []int
}

// kill is one instance to be killed before anything is started.
type kill struct {
	container int
	reason    string
	restart   bool
	remove    bool // it is removed afterwards; it may have ended already
}

// Reasons of a Killing entry.
const (
	killLiveness     = "liveness_failed"
	killStartup      = "startup_failed"
	killChanged      = "definition_changed"
	killResized      = "resize"
	killUnknown      = "unknown_state"
	killRestartAll   = "restart_all_containers"
	killSandbox      = "sandbox_changed"
	killPodDone      = "pod_done"
	killTerminating  = "pod_terminating"
	killInitFailed   = "init_failed"
	reasonKilled     = "Error"
	reasonCompleted  = "Completed"
	reasonOOMKilled  = "OOMKilled"
	reasonRebooted   = "Unknown" // what containerd says after a reboot
	rebootedExitCode = 255
)

// compute works out the plan for a Pod whose phase is not terminal.
//
// Source: computePodActions in pkg/kubelet/kuberuntime/kuberuntime_manager.go, Kubernetes v1.33 to
// v1.37.
func (k *kubelet) compute(p *plan) {
	*p = plan{kill: p.kill[:0], startInit: p.startInit[:0], startMain: p.startMain[:0], startEphemeral: p.startEphemeral[:0]}
	if !k.sandboxReady {
		k.computeSandbox(p)
		return
	}
	for i := len(k.ctrs) - k.ephemerals; i < len(k.ctrs); i++ {
		if k.ctrs[i].latest() == nil {
			p.startEphemeral = append(p.startEphemeral, i)
		}
	}
	done := k.computeInit(p)
	if p.killPod || !done {
		return
	}
	k.computeMain(p)
}

func (k *kubelet) computeSandbox(p *plan) {
	p.killPod = true
	if k.spec.RestartPolicy == policy.RestartPolicyNever && k.sandbox > 0 && !k.empty(len(k.ctrs)) {
		return // the Pod's policy alone decides here
	}
	for i := range k.mains() {
		c := &k.ctrs[k.inits+i]
		once := k.spec.RestartPolicy == policy.RestartPolicyOnFailure
		if own := c.spec.RestartPolicy; own != nil && k.f.ContainerRestartRules {
			once = *own == policy.RestartPolicyOnFailure
		}
		if in := c.latest(); in != nil && in.state == exited && (once && in.code == 0 || in.down()) {
			continue
		}
		p.startMain = append(p.startMain, k.inits+i)
	}
	if len(p.startMain) == 0 && k.mainCreated() {
		return
	}
	p.createSandbox = true
	if k.inits > 0 {
		p.startMain = p.startMain[:0]
		p.startInit = append(p.startInit, 0)
	}
}

// computeInit plans the init containers and reports whether the main ones have their turn.
//
// Source: computeInitContainerActions in pkg/kubelet/kuberuntime/kuberuntime_container.go,
// Kubernetes v1.33 to v1.37.
func (k *kubelet) computeInit(p *plan) (done bool) {
	if k.inits == 0 {
		return true
	}
	done = k.initializedBefore()
	seen := done
	for i := k.inits - 1; i >= 0; i-- {
		c := &k.ctrs[i]
		in := c.latest()
		if in != nil && k.f.Minor >= 37 && !k.active(in) {
			in = nil
		}
		switch {
		case in == nil:
			if seen && c.sidecar {
				p.startInit = append(p.startInit, i)
			}
			continue
		case seen && !c.sidecar:
			continue // once initialised, only sidecars are kept running
		case in.state == running:
			if c.sidecar && k.computeSidecar(p, i, seen) {
				done = true
			}
		case in.state == exited && c.sidecar && in.down(): // the Pod goes on without it
			if i == k.inits-1 {
				done = true
			} else if !seen {
				p.startInit = append(p.startInit, i+1)
			}
		case in.state == exited && c.sidecar:
			p.startInit = append(p.startInit, i)
		case in.state == exited && in.completed():
			if i == k.inits-1 {
				done = true
			} else {
				p.startInit = append(p.startInit, i+1)
			}
		case in.state == exited:
			again := k.spec.RestartPolicy != policy.RestartPolicyNever
			if k.f.ContainerRestartRules {
				again = k.wanted(c)
			}
			if !again {
				p.giveUp()
				return false
			}
			p.startInit = append(p.startInit, i)
		default: // unknown
			if !c.sidecar && !k.policyAllowsRestart(c) {
				p.giveUp()
				return false
			}
			p.kill = append(p.kill, kill{container: i, reason: killUnknown, restart: true})
			p.startInit = append(p.startInit, i)
		}
		seen = true
	}
	if !seen {
		p.startInit = append(p.startInit, 0)
	}
	for a, b := 0, len(p.startInit)-1; a < b; a, b = a+1, b-1 {
		p.startInit[a], p.startInit[b] = p.startInit[b], p.startInit[a]
	}
	return done
}

// giveUp plans the end of a Pod whose init container failed for good.
func (p *plan) giveUp() {
	p.killPod, p.startInit = true, p.startInit[:0]
}

// initializedBefore reports whether main containers show that all init containers have run.
func (k *kubelet) initializedBefore() bool {
	if k.f.Minor >= 37 {
		return k.mainActive()
	}
	for i := range k.mains() {
		if in := k.ctrs[k.inits+i].latest(); in != nil && in.state == running {
			return true
		}
	}
	return false
}

// computeSidecar plans a running sidecar. initialized reports that it was the last one to wait for.
func (k *kubelet) computeSidecar(p *plan, i int, seen bool) (initialized bool) {
	c := &k.ctrs[i]
	in := c.latest()
	restart := func(reason string) {
		p.kill = append(p.kill, kill{container: i, reason: reason, restart: true})
		p.startInit = append(p.startInit, i)
	}
	if !k.startupPassed(c) {
		if in.startupFailed {
			restart(killStartup)
		}
		return false
	}
	if i == k.inits-1 {
		initialized = true
	} else if !seen {
		p.startInit = append(p.startInit, i+1)
	}
	switch {
	case in.stale:
		restart(killChanged)
	case in.livenessFailed:
		restart(killLiveness)
	case in.resized:
		restart(killResized)
	}
	return initialized
}

// computeMain plans the main containers.
//
// Source: computePodActions in pkg/kubelet/kuberuntime/kuberuntime_manager.go, Kubernetes v1.33 to
// v1.37.
func (k *kubelet) computeMain(p *plan) {
	kept := 0
	for n := range k.mains() {
		i := k.inits + n
		c := &k.ctrs[i]
		in := c.latest()
		if in == nil || in.state != running {
			if k.wanted(c) {
				p.startMain = append(p.startMain, i)
				if in != nil && in.state == unknown {
					p.kill = append(p.kill, kill{container: i, reason: killUnknown, restart: true})
				}
			}
			continue
		}
		again, reason := k.policyAllowsRestart(c), "" // rules do not count: nobody knows a code yet
		switch {
		case in.stale:
			again, reason = true, killChanged
		case in.livenessFailed:
			reason = killLiveness
		case in.startupFailed:
			reason = killStartup
		case in.resized:
			again, reason = true, killResized
		default:
			kept++
			continue
		}
		p.kill = append(p.kill, kill{container: i, reason: reason, restart: again})
		if again {
			p.startMain = append(p.startMain, i)
		}
	}
	if kept == 0 && len(p.startMain) == 0 {
		p.killPod = true
		p.startInit = p.startInit[:0]
	}
}
