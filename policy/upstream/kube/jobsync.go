package kube

import (
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/simulate"
)

// A Pod with init containers, sidecars or rules of its own is synced with the kubelet's own
// functions: computePodActions says what is started and killed, getPhase what the phase is,
// ShouldAllContainersRestart whether all begin again, and ShouldContainerBeRestarted whether one
// that has ended waits for a restart. Written here is what a runtime does: starts, exits, stops in
// their order, and what is left of them.

// phased returns the phase as the kubelet works it out.
func (k *miniKubelet) phased(p *miniPod, statuses []v1.ContainerStatus, terminating bool) v1.PodPhase {
	initialized := false
	for i := range p.containers {
		c := &p.containers[i]
		initialized = initialized || c.ref.Kind == policy.MainContainer && c.ever && !c.removed && !p.bare
	}
	return v1.PodPhase(linked.Phase(p.object, statuses, terminating, initialized))
}

// syncRich does one sync of p and reports whether anything has changed.
func (k *miniKubelet) syncRich(p *miniPod) bool {
	if p.killing = p.killing && p.runs(); p.stopping || p.killing {
		return false
	}
	if p.ending {
		k.stopAll(p)
		return true
	}
	k.publish(p) // a sync begins with the status
	for i := range p.containers {
		p.containers[i].retryAt = -1 // until this sync refuses it
	}
	if phase := k.phased(p, k.statuses(p), false); phase == v1.PodSucceeded || phase == v1.PodFailed {
		p.ending, p.grace = true, max(p.ownGrace(), policy.Second)
		return true
	}
	r := k.runtimeOf(p)
	r.RestartAll = k.adapter.ShouldAllContainersRestart != nil && k.adapter.ShouldAllContainersRestart(p.object, k.runtimeStatus(p))
	plan := linked.Plan(p.object, r)
	if len(plan.Kill) > 0 {
		panic("no probe fails and no image changes here")
	}
	if plan.KillPod {
		if plan.CreateSandbox || p.bare {
			panic(fmt.Sprintf("a Pod that is not over is to begin anew: %+v\n%v", r, k.statuses(p)))
		}
		p.killing, p.bare = true, true
		k.stopRunning(p, p.ownGrace())
		return true
	}
	if len(plan.Reset) > 0 {
		for _, ref := range plan.Reset {
			k.remove(p, p.at(ref))
		}
		return true
	}
	changed := false
	for _, i := range plan.StartInit {
		c := p.at(policy.Ref{Kind: policy.InitContainer, Index: i})
		if k.tryStart(p, c) {
			changed = true
		} else if !c.sidecar {
			return changed
		}
	}
	for _, i := range plan.StartMain {
		changed = k.tryStart(p, p.at(policy.Ref{Kind: policy.MainContainer, Index: i})) || changed
	}
	return changed
}

// runs reports whether a container of p runs.
func (p *miniPod) runs() bool {
	return slices.ContainsFunc(p.containers, func(c miniContainer) bool { return c.runs })
}

func (p *miniPod) at(r policy.Ref) *miniContainer {
	for i := range p.containers {
		if p.containers[i].ref == r {
			return &p.containers[i]
		}
	}
	panic(r.Path())
}

func (p *miniPod) spec(r policy.Ref) *v1.Container {
	if r.Kind == policy.InitContainer {
		return &p.object.Spec.InitContainers[r.Index]
	}
	return &p.object.Spec.Containers[r.Index]
}

func (p *miniPod) ownGrace() policy.Millis {
	return policy.Millis(*p.object.Spec.TerminationGracePeriodSeconds) * policy.Second
}

// runtimeOf is what the runtime says of the containers of p.
func (k *miniKubelet) runtimeOf(p *miniPod) *simulate.Runtime {
	r := &simulate.Runtime{Sandbox: simulate.SandboxReady}
	if p.bare {
		r.Sandbox = simulate.SandboxNotReady
	}
	for i := range p.containers {
		c := &p.containers[i]
		var list []simulate.Instance
		switch {
		case !c.ever || c.removed:
		case c.runs:
			list = []simulate.Instance{{State: simulate.InstanceRunning, Active: !p.bare}}
		default:
			list = []simulate.Instance{{State: simulate.InstanceExited, ExitCode: c.code, Reason: c.reason, Active: !p.bare}}
		}
		if c.ref.Kind == policy.InitContainer {
			r.Init = append(r.Init, list)
		} else {
			r.Main = append(r.Main, list)
		}
	}
	return r
}

// runtimeStatus is the same in the words of the kubelet.
func (k *miniKubelet) runtimeStatus(p *miniPod) *kubecontainer.PodStatus {
	status := &kubecontainer.PodStatus{}
	for i := range p.containers {
		c := &p.containers[i]
		if !c.ever || c.removed {
			continue
		}
		s := &kubecontainer.Status{Name: c.name, State: kubecontainer.ContainerStateRunning}
		if !c.runs {
			s.State, s.ExitCode, s.Reason = kubecontainer.ContainerStateExited, int(c.code), c.reason
		}
		status.ContainerStatuses = append(status.ContainerStatuses, s)
	}
	return status
}

// remove takes a container from the runtime, for RestartAllContainers. Its status counts a restart
// if it was shown as running or ended.
//
// Source: convertToAPIContainerStatuses in pkg/kubelet/kubelet_pods.go, Kubernetes v1.35 to v1.37.
func (k *miniKubelet) remove(p *miniPod, c *miniContainer) {
	if !c.ever || c.removed {
		return
	}
	if k.shown(p, c).Waiting == nil {
		c.restarts++
	}
	c.last = &v1.ContainerStateTerminated{ExitCode: 137, Reason: "RestartingAllContainers"}
	c.runs, c.removed, c.refused, c.retryAt, c.release, c.endsAt = false, true, false, -1, -1, -1
}

// shown is the state of c in its status.
func (k *miniKubelet) shown(p *miniPod, c *miniContainer) v1.ContainerState {
	list := k.statuses(p)
	return list[slices.IndexFunc(list, func(s v1.ContainerStatus) bool { return s.Name == c.name })].State
}

// count sets the restart count of a container that has just been started. The runtime counts from 0
// again after RestartAllContainers, from 1.36 on only if the log is gone, which it is not; the
// status never counts down, and counts an end that it has shown.
//
// Source: convertToAPIContainerStatuses in pkg/kubelet/kubelet_pods.go, removeContainer and
// calcRestartCountByLogDir in pkg/kubelet/kuberuntime, Kubernetes v1.33 to v1.37.
func (k *miniKubelet) count(c *miniContainer, before int32, ended bool) {
	c.restarts = c.attempt
	if k.adapter.ShouldAllContainersRestart == nil || !utilfeature.DefaultFeatureGate.Enabled("RestartAllContainersOnContainerExits") {
		return
	}
	c.restarts = max(c.restarts, before)
	if ended && before >= c.attempt {
		c.restarts = before + 1
	}
}

// tryStart starts c unless its back-off refuses.
func (k *miniKubelet) tryStart(p *miniPod, c *miniContainer) bool {
	now := k.server.now
	if c.runs {
		panic("a container that runs is to be started")
	}
	if c.ever && !c.removed {
		if c.refused && now < c.release {
			c.retryAt = c.release
			return false
		}
		if until, refused := c.entry.Refused(k.backoff, c.finished, now); refused && !c.refused {
			c.release, c.refused = c.entry.Release(k.backoff, until, policy.SweepPeriod), true
			c.retryAt = c.release
			return false
		}
	}
	before, ended := c.restarts, k.shown(p, c).Terminated != nil
	switch {
	case !c.ever:
	case c.removed && k.minor < 36:
		c.attempt = 0
	default:
		c.attempt++
	}
	if c.removed { // nothing is left that a back-off could be calculated from
		c.removed, c.ever = false, false
	}
	c.refused = false
	k.start(p, c)
	k.count(c, before, ended)
	return true
}

// stopAll stops p for good.
func (k *miniKubelet) stopAll(p *miniPod) {
	k.publish(p)
	p.stopping, p.stoppingSince = true, k.server.now
	k.stopRunning(p, p.grace)
}

// stopRunning stops what runs, sidecars after the main containers and from the last to the first.
//
// Source: killContainersWithSyncResult and killContainer in
// pkg/kubelet/kuberuntime/kuberuntime_container.go, waitForTurn in
// kuberuntime_termination_order.go, Kubernetes v1.33 to v1.37.
func (k *miniKubelet) stopRunning(p *miniPod, grace policy.Millis) {
	p.stopAt, p.stopGrace = k.server.now, grace
	for i := range p.containers {
		if c := &p.containers[i]; c.runs && !c.sidecar {
			k.stopOne(p, c, 0)
		}
	}
	k.stopSidecars(p)
}

// stopAnew works out again when sidecars are told to stop, after a container has ended that they
// wait for.
func (k *miniKubelet) stopAnew(p *miniPod) {
	if !p.stopping && !p.killing {
		return
	}
	for i := range p.containers {
		if c := &p.containers[i]; c.runs && c.sidecar && c.signalled > k.server.now {
			c.endsAt, c.code, c.reason, c.signalled = c.own.at, c.own.code, c.own.reason, -1
		}
	}
	k.stopSidecars(p)
}

// stopSidecars tells those that are not told yet.
func (k *miniKubelet) stopSidecars(p *miniPod) {
	turn := p.stopAt
	ends := func(c *miniContainer) {
		switch {
		case c.runs:
			turn = max(turn, c.endsAt)
		case c.ever && !c.removed:
			turn = max(turn, min(c.finished, k.server.now))
		}
	}
	for i := range p.containers {
		if c := &p.containers[i]; c.ref.Kind == policy.MainContainer {
			ends(c)
		}
	}
	for i := len(p.containers) - 1; i >= 0; i-- {
		if c := &p.containers[i]; c.sidecar {
			if c.runs && c.signalled < 0 {
				k.stopOne(p, c, turn)
			}
			ends(c)
		}
	}
}

// stopOne tells c to stop, when its turn has come or its grace period is over.
func (k *miniKubelet) stopOne(p *miniPod, c *miniContainer, turn policy.Millis) {
	at, grace := p.stopAt, p.stopGrace
	if turn > at {
		wait := min(turn-at, grace)
		at, grace = at+wait, grace-wait/policy.Second*policy.Second
	}
	c.signalled, c.own = at, ownEnd{c.endsAt, c.code, c.reason}
	if c.endsAt >= 0 && c.endsAt <= at {
		return // it ends before it is told to
	}
	ends, code := at, int32(137)
	if c.stop >= 0 {
		ends, code = at+c.stop, c.stopCode
		if limit := at + max(grace, 2*policy.Second); ends > limit {
			ends, code = limit, 137
		}
	}
	c.endsAt, c.code, c.reason = ends, code, exitReason(code)
}

// statuses are those of the containers of p, in the order of the Pod.
//
// Source: convertToAPIContainerStatuses in pkg/kubelet/kubelet_pods.go, Kubernetes v1.33 to v1.37.
func (k *miniKubelet) statuses(p *miniPod) (list []v1.ContainerStatus) {
	started := true
	for i := range p.containers {
		c := &p.containers[i]
		s := v1.ContainerStatus{Name: c.name, RestartCount: c.restarts}
		if c.last != nil {
			s.LastTerminationState.Terminated = c.last
		}
		switch {
		case c.lost:
			s.State.Terminated = &v1.ContainerStateTerminated{ExitCode: 137, Reason: "ContainerStatusUnknown"}
		case c.runs:
			s.State.Running = &v1.ContainerStateRunning{StartedAt: stamp(c.started)}
			s.Started = &started
			s.Ready = c.sidecar || c.ref.Kind == policy.MainContainer
		case !c.ever || c.removed:
			s.State.Waiting = &v1.ContainerStateWaiting{Reason: "PodInitializing"}
		case c.refused && (c.ref.Kind == policy.MainContainer || c.code != 0) && !k.deleted(p) &&
			k.adapter.ShouldContainerBeRestarted(p.spec(c.ref), p.object, k.runtimeStatus(p)):
			s.State.Waiting = &v1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}
			s.LastTerminationState.Terminated = c.terminated()
		default:
			s.State.Terminated = c.terminated()
			s.Ready = c.ref.Kind == policy.InitContainer && !c.sidecar && c.code == 0
		}
		list = append(list, s)
	}
	return list
}

func (k *miniKubelet) deleted(p *miniPod) bool {
	object := k.server.pods[p.name]
	return object == nil || object.DeletionTimestamp != nil
}

// bury writes what is missing into the status of a Pod that is over: from where it began on, a
// container without an end counts as failed.
//
// Source: TerminatePod, hasPodInitialized and initializedContainers in
// pkg/kubelet/status/status_manager.go, Kubernetes v1.33 to v1.37.
func (p *miniPod) bury(statuses []v1.ContainerStatus) {
	inits := len(p.object.Spec.InitContainers)
	unknown := func(s *v1.ContainerStatus) {
		if s.State.Terminated == nil {
			s.State = v1.ContainerState{Terminated: &v1.ContainerStateTerminated{ExitCode: 137, Reason: "ContainerStatusUnknown"}}
		}
	}
	begun := func(s *v1.ContainerStatus) bool {
		return s.State.Waiting == nil || s.LastTerminationState.Terminated != nil
	}
	initialized := inits == 0
	for i := inits; i < len(statuses); i++ {
		initialized = initialized || begun(&statuses[i])
	}
	if inits > 0 && !p.containers[inits-1].sidecar {
		s := &statuses[inits-1]
		for _, end := range []*v1.ContainerStateTerminated{s.State.Terminated, s.LastTerminationState.Terminated} {
			initialized = initialized || end != nil && end.ExitCode == 0
		}
	}
	if initialized {
		for i := inits; i < len(statuses); i++ {
			unknown(&statuses[i])
		}
	}
	last := 0
	for i := range inits {
		if begun(&statuses[i]) {
			last = i
		}
	}
	for i := range min(last+1, inits) {
		unknown(&statuses[i])
	}
}

// publishRich is publish for a Pod that is synced with the kubelet's own functions. A terminal
// phase is shown when no container runs any more, and a status that the API server refuses never:
// that of 1.34 lets no init container leave its end by a rule.
//
// Source: mergePodStatus in pkg/kubelet/status/status_manager.go, ValidatePodStatusUpdate in
// pkg/apis/core/validation/validation.go, Kubernetes v1.33 to v1.37.
func (k *miniKubelet) publishRich(p *miniPod, object *v1.Pod, status v1.PodStatus) {
	if (p.stopping || p.killing) && p.runs() {
		return // a kubelet that waits for containers to stop says nothing
	}
	list := k.statuses(p)
	phase := k.phased(p, list, p.stopping)
	if p.stopping {
		p.bury(list)
		if phase != v1.PodSucceeded {
			phase = v1.PodFailed
		}
		if phase == v1.PodFailed {
			status.Reason = p.reason
		}
		if p.disruption != nil {
			status.Conditions = append([]v1.PodCondition{*p.disruption}, status.Conditions...)
		}
		p.over = true
	} else if phase == v1.PodSucceeded || phase == v1.PodFailed {
		phase = p.phase
	}
	p.phase, status.Phase = phase, phase
	inits := len(p.object.Spec.InitContainers)
	status.InitContainerStatuses, status.ContainerStatuses = list[:inits:inits], list[inits:]
	ready := !p.over
	for i := range p.containers {
		c := &p.containers[i]
		ready = ready && (c.runs || c.ref.Kind == policy.InitContainer && !c.sidecar)
	}
	if ready != p.ready {
		p.ready, p.readyAt = ready, k.server.now
	}
	condition := v1.PodCondition{Type: v1.PodReady, Status: v1.ConditionFalse, LastTransitionTime: stamp(p.readyAt)}
	if ready {
		condition.Status = v1.ConditionTrue
	}
	status.Conditions = append(status.Conditions, condition)
	sortStatuses(status.ContainerStatuses)
	if object == nil {
		return
	}
	if !equalStatus(&object.Status, &status) && !denied(p.object, &object.Status, &status) {
		object = object.DeepCopy()
		object.Status = status
		k.server.put(object)
	}
	if object = k.server.pods[p.name]; p.over && object != nil && object.DeletionTimestamp != nil && *object.DeletionGracePeriodSeconds > 0 {
		k.server.delete(object, 0)
	}
}
