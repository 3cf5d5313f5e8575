package kube

import (
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/upstream/diff"
)

// miniKubelet runs the Pods of one Job as a history says. It knows main containers, the restart
// policies Never and OnFailure with their back-off, and the ways in which Pods are ended from
// outside; that is enough for what the Job controller looks at. The Pod simulation of the core is
// not used: it would hide its own faults.
type miniKubelet struct {
	server  *apiServer
	history *diff.JobHistory
	backoff policy.Backoff
	taken   []int // how many runs of each tape are used up
	pods    []*miniPod
	early   []*diff.JobAction // of this instant, about Pods that are not there yet
	adapter *Adapter
	minor   int
}

type miniPod struct {
	name          string
	number        int
	index         int
	containers    []miniContainer
	stopping      bool          // no container is started again
	stoppingSince policy.Millis // or since when with less grace
	pending       bool          // its start was never seen
	over          bool
	gone          bool // its node
	grace         policy.Millis
	reason        string
	disruption    *v1.PodCondition // published with the terminal phase
	ready         bool
	readyAt       policy.Millis

	// Of a Pod that is synced with the kubelet's own functions; see jobsync.go.
	rich   bool
	ending bool // it is to be stopped at the next sync

	killing, bare     bool          // a sync kills it; its sandbox is gone
	stopAt, stopGrace policy.Millis // when its containers were told to stop, and how long they have

	object *v1.Pod
	phase  v1.PodPhase
}

// ownEnd is how a run ends by itself.
type ownEnd struct {
	at     policy.Millis
	code   int32
	reason string
}

type miniContainer struct {
	name              string
	runs              bool
	ever              bool
	started, finished policy.Millis
	endsAt            policy.Millis // never: -1
	code              int32
	reason            string
	stop              policy.Millis
	stopCode          int32
	stopped           bool // it has been told to stop
	restarts          int32
	last              *v1.ContainerStateTerminated
	entry             policy.BackoffEntry
	retryAt           policy.Millis // -1: not waiting for a restart
	lost              bool          // ended without a trace

	// Of a Pod that is synced with the kubelet's own functions.
	ref              policy.Ref
	sidecar          bool
	removed, refused bool          // from the runtime, for RestartAllContainers; by the back-off
	release          policy.Millis // of the back-off that refuses
	signalled        policy.Millis // when it is told to stop, -1 if it is not
	attempt          int32         // the restart count of the runtime
	own              ownEnd        // what comes of it if it is not told to stop
}

func newMiniKubelet(s *apiServer, h *diff.JobHistory, a *Adapter) *miniKubelet {
	f, faults := policy.NewFeatures(a.Minor, nil)
	if len(faults) > 0 {
		panic(faults)
	}
	return &miniKubelet{server: s, history: h, backoff: policy.KubeletBackoff(f, 0), taken: make([]int, len(h.Tapes)), adapter: a, minor: a.Minor}
}

// mostSteps is far more than happen to one Pod in one instant.
const mostSteps = 10_000

const eternity = policy.Millis(1) << 60

// next is when something happens by itself.
func (k *miniKubelet) next() policy.Millis {
	t := eternity
	for _, p := range k.pods {
		for i := range p.containers {
			c := &p.containers[i]
			if c.runs && c.endsAt >= 0 {
				t = min(t, c.endsAt)
			}
			if !c.runs && c.retryAt >= 0 && !p.over && !p.stopping {
				t = min(t, c.retryAt)
			}
		}
	}
	return t
}

// settle lets the present instant happen to all Pods.
func (k *miniKubelet) settle() {
	for len(k.pods) < len(k.server.record.Pods) {
		k.accept()
	}
	for _, p := range k.pods {
		if p.over || p.gone {
			continue
		}
		object := k.server.pods[p.name]
		if object != nil && object.DeletionTimestamp != nil && !p.stopping {
			k.end(p, policy.Millis(*object.DeletionGracePeriodSeconds)*policy.Second)
		} else if object == nil && !p.stopping {
			k.end(p, 0)
		}
		for n := 0; k.step(p); n++ {
			if n > mostSteps {
				panic(fmt.Sprintf("Pod %s does not settle: %v", p.name, k.statuses(p)))
			}
		}
		k.publish(p)
	}
	if k.again() {
		k.settle()
	}
}

func (k *miniKubelet) accept() {
	n := len(k.pods)
	for _, object := range k.server.pods {
		if k.server.byName[object.Name] != n {
			continue
		}
		p := &miniPod{name: object.Name, number: n, index: k.server.record.Pods[n].Index, readyAt: k.server.now}
		p.object, p.rich, p.phase = object.DeepCopy(), k.history.Rich, v1.PodPending
		for i, c := range object.Spec.InitContainers {
			p.containers = append(p.containers, miniContainer{
				name: c.Name, retryAt: -1, ref: policy.Ref{Kind: policy.InitContainer, Index: i}, sidecar: c.RestartPolicy != nil && *c.RestartPolicy == v1.ContainerRestartPolicyAlways,
			})
		}
		for i, c := range object.Spec.Containers {
			p.containers = append(p.containers, miniContainer{name: c.Name, retryAt: -1, ref: policy.Ref{Kind: policy.MainContainer, Index: i}})
		}
		k.pods = append(k.pods, p)
		return
	}
	k.pods = append(k.pods, &miniPod{number: n, over: true}) // deleted before anything saw it
}

// exit ends c if that is due.
func (k *miniKubelet) exit(p *miniPod, c *miniContainer) bool {
	now := k.server.now
	if !c.runs || c.endsAt < 0 || c.endsAt > now {
		return false
	}
	c.runs, c.finished = false, c.endsAt
	if p.rich || p.stopping || k.server.job.Spec.Template.Spec.RestartPolicy == v1.RestartPolicyNever || c.code == 0 {
		return true
	}
	c.retryAt = now
	if until, refused := c.entry.Refused(k.backoff, c.finished, now); refused {
		c.retryAt = c.entry.Release(k.backoff, until, policy.SweepPeriod)
	}
	return true
}

// step does the next thing that is due in p.
func (k *miniKubelet) step(p *miniPod) bool {
	now := k.server.now
	for i := range p.containers {
		c := &p.containers[i]
		switch {
		case k.exit(p, c):
			return true
		case !p.rich && !c.runs && !p.stopping && (!c.ever || c.retryAt >= 0 && c.retryAt <= now):
			k.start(p, c)
			return true
		}
	}
	return p.rich && k.syncRich(p)
}

func (k *miniKubelet) start(p *miniPod, c *miniContainer) {
	now := k.server.now
	if c.ever {
		c.entry.Sweep(k.backoff, now/policy.SweepPeriod*policy.SweepPeriod)
		c.entry.Start(k.backoff, c.finished, now)
		c.restarts++
		c.last = c.terminated()
	}
	c.runs, c.ever, c.started, c.retryAt, c.endsAt, c.stop = true, true, now, -1, -1, -1
	c.signalled = -1
	run := k.take(p, c.name)
	if run == nil {
		return
	}
	c.endsAt, c.code, c.reason = now+run.For, run.ExitCode, exitReason(run.ExitCode)
	if run.OOM {
		c.reason = "OOMKilled"
	}
	c.stop, c.stopCode = run.Stop, run.StopCode
}

func exitReason(code int32) string {
	if code == 0 {
		return "Completed"
	}
	return "Error"
}

// take takes the next run of the tape that counts for container name of p.
func (k *miniKubelet) take(p *miniPod, name string) *diff.JobRun {
	find := func(pod, index int) int {
		return slices.IndexFunc(k.history.Tapes, func(t diff.JobTape) bool { return t.Container == name && t.Pod == pod && t.Index == index })
	}
	i := find(p.number, -1)
	if i < 0 && p.index >= 0 {
		i = find(-1, p.index)
	}
	if i < 0 {
		i = find(-1, -1)
	}
	if i < 0 {
		return nil
	}
	n := k.taken[i]
	for j := range k.history.Tapes[i].Runs {
		run := &k.history.Tapes[i].Runs[j]
		if run.Times < 0 || n < run.Times {
			k.taken[i]++
			return run
		}
		n -= run.Times
	}
	return nil
}

// endItself ends p without the API server. Once its containers have been stopping for some time
// that changes nothing, not even the status: nothing cancels the stop, whatever it is given.
//
// Source: UpdatePod and startPodSync in pkg/kubelet/pod_workers.go, SyncTerminatingPod in
// pkg/kubelet/kubelet.go, Kubernetes v1.33 to v1.37.
func (k *miniKubelet) endItself(p *miniPod, reason string, disruption *v1.PodCondition, grace policy.Millis) {
	if p.stopping && p.stoppingSince < k.server.now {
		return
	}
	again := p.stopping && max(grace, policy.Second) >= p.grace
	p.disruption, p.reason = disruption, reason
	k.lose(p)
	if again {
		k.publish(p)
	}
	k.end(p, grace)
}

// end stops p for good; its containers have grace to do so. Once they are being stopped nothing
// shortens that: no context of SyncTerminatingPod is ever cancelled.
//
// Source: SyncTerminatingPod in pkg/kubelet/kubelet.go, Kubernetes v1.33 to v1.37.
func (k *miniKubelet) end(p *miniPod, grace policy.Millis) {
	now := k.server.now
	grace = max(grace, policy.Second)
	if p.rich {
		if !p.stopping && (!p.ending || grace < p.grace) { // once it is being stopped nothing shortens that
			p.ending, p.grace = true, grace
		}
		return
	}
	if p.stopping && (grace >= p.grace || p.stoppingSince < now) {
		return
	}
	for i := range p.containers {
		k.exit(p, &p.containers[i])
	}
	k.publish(p)
	p.stopping, p.stoppingSince, p.grace = true, now, grace
	for i := range p.containers {
		c := &p.containers[i]
		if !c.runs {
			continue
		}
		at, code := now, int32(137)
		if c.stop >= 0 {
			at, code = now+c.stop, c.stopCode
			if limit := now + max(grace, 2*policy.Second); at > limit {
				at, code = limit, 137
			}
		}
		c.endsAt, c.code, c.reason = at, code, exitReason(code) // in place of the rest of its run
	}
}

func (k *miniKubelet) event(e *diff.JobAction) {
	switch e.Type {
	case "JobSuspended", "JobResumed":
		k.server.suspend(e.Type == "JobSuspended")
		return
	}
	if e.Pod >= len(k.pods) {
		k.early = append(k.early, e)
		return
	}
	for _, p := range k.pods {
		if (e.Pod < 0 || e.Pod == p.number) && !p.over && !p.gone {
			k.podEvent(e, p)
		}
	}
}

// again lets the events happen that came before their Pod, and reports whether there were any.
func (k *miniKubelet) again() bool {
	list := k.early
	k.early = nil
	for _, e := range list {
		k.event(e)
	}
	return len(list) > len(k.early)
}

func (k *miniKubelet) podEvent(e *diff.JobAction, p *miniPod) {
	disrupt := func(reason, message string) *v1.PodCondition {
		return &v1.PodCondition{Type: v1.DisruptionTarget, Status: v1.ConditionTrue, Reason: reason, Message: message, LastTransitionTime: stamp(k.server.now)}
	}
	byAPI := func(reason, message string) {
		if object := k.server.pods[p.name]; object != nil {
			object = object.DeepCopy()
			object.Status.Conditions = append(object.Status.Conditions, *disrupt(reason, message))
			k.server.put(object)
			k.server.delete(k.server.pods[p.name], -1)
		}
	}
	switch e.Type {
	case "Deleted":
		if object := k.server.pods[p.name]; object != nil {
			k.server.delete(object, -1)
		}
	case "Preempted":
		byAPI("PreemptionByScheduler", "default-scheduler: preempting to accommodate a higher priority pod")
	case "Drained":
		byAPI("EvictionByEvictionAPI", "Eviction API: evicting")
	case "TaintEvicted":
		byAPI("DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint")
	case "NodeLost":
		p.gone = true
		object := k.server.pods[p.name]
		if object == nil {
			return
		}
		for i := range p.containers {
			p.containers[i].runs = false
			p.containers[i].retryAt = -1
		}
		p.over = true
		object = object.DeepCopy()
		object.Status.Phase = v1.PodFailed
		object.Status.Conditions = append(slices.DeleteFunc(object.Status.Conditions, func(c v1.PodCondition) bool { return c.Type == v1.DisruptionTarget }),
			*disrupt("DeletionByPodGC", "PodGC: node no longer exists"))
		k.server.put(object)
		k.server.delete(k.server.pods[p.name], 0)
	case "Evicted":
		k.endItself(p, "Evicted", disrupt("TerminationByKubelet", "The node was low on resource"), policy.Second)
	case "NodeShutdown":
		grace := policy.Millis(*k.server.pods[p.name].Spec.TerminationGracePeriodSeconds) * policy.Second
		k.endItself(p, "Terminated", disrupt("TerminationByKubelet", "Pod was terminated in response to imminent node shutdown."), grace)
	case "OOMKilled":
		for i := range p.containers {
			c := &p.containers[i]
			if c.name == e.Container && !k.exit(p, c) && c.runs { // one that ends in this instant has ended before
				c.endsAt, c.code, c.reason = k.server.now, 137, "OOMKilled"
				k.stopAnew(p)
			}
		}
	default:
		panic(e.Type)
	}
}

// lose lets containers that wait for a restart end without one.
//
// Source: TerminatePod in pkg/kubelet/status/status_manager.go, Kubernetes v1.33 to v1.37.
func (k *miniKubelet) lose(p *miniPod) {
	if p.stopping {
		return
	}
	for i := range p.containers {
		if c := &p.containers[i]; !c.runs && c.retryAt >= 0 && !p.rich {
			c.lost = true
		}
	}
}

func (c *miniContainer) terminated() *v1.ContainerStateTerminated {
	return &v1.ContainerStateTerminated{ExitCode: c.code, Reason: c.reason, StartedAt: stamp(c.started), FinishedAt: stamp(c.finished)}
}

// publish writes the status of p to the API server if it has changed, and lets a deleted Pod go
// when it has ended.
func (k *miniKubelet) publish(p *miniPod) {
	ended, failed := true, false
	object := k.server.pods[p.name]
	status := v1.PodStatus{}
	if object != nil {
		for _, c := range object.Status.Conditions {
			if c.Type == v1.DisruptionTarget {
				status.Conditions = append(status.Conditions, c)
			}
		}
	}
	if p.rich {
		k.publishRich(p, object, status)
		return
	}
	for i := range p.containers {
		c := &p.containers[i]
		s := v1.ContainerStatus{Name: c.name, RestartCount: c.restarts, Ready: c.runs}
		if c.last != nil {
			s.LastTerminationState.Terminated = c.last
		}
		switch {
		case c.runs:
			s.State.Running = &v1.ContainerStateRunning{StartedAt: stamp(c.started)}
			ended = false
		case c.lost:
			s.State.Terminated = &v1.ContainerStateTerminated{ExitCode: 137, Reason: "ContainerStatusUnknown"}
			failed = true
		case !p.stopping && c.retryAt >= 0:
			s.State.Waiting = &v1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}
			s.LastTerminationState.Terminated = c.terminated()
			ended = false
		case !c.ever:
			s.State.Terminated = &v1.ContainerStateTerminated{ExitCode: 137, Reason: "ContainerStatusUnknown"}
			failed = true
		default:
			s.State.Terminated = c.terminated()
			failed = failed || c.code != 0
		}
		status.ContainerStatuses = append(status.ContainerStatuses, s)
	}
	sortStatuses(status.ContainerStatuses)
	allRun := !slices.ContainsFunc(p.containers, func(c miniContainer) bool { return !c.runs })
	if allRun != p.ready {
		p.ready, p.readyAt = allRun, k.server.now
	}
	status.Phase = v1.PodRunning
	if ended {
		status.Phase = v1.PodSucceeded
		if failed {
			status.Phase, status.Reason = v1.PodFailed, p.reason
		}
		if p.disruption != nil {
			status.Conditions = append([]v1.PodCondition{*p.disruption}, status.Conditions...)
		}
		p.over = true
	}
	ready := v1.PodCondition{Type: v1.PodReady, Status: v1.ConditionFalse, LastTransitionTime: stamp(p.readyAt)}
	if p.ready {
		ready.Status = v1.ConditionTrue
	}
	status.Conditions = append(status.Conditions, ready)
	if object == nil || p.stopping && !ended {
		return // a kubelet that stops containers says nothing until all have stopped
	}
	if !equalStatus(&object.Status, &status) {
		object = object.DeepCopy()
		object.Status = status
		k.server.put(object)
	}
	if object = k.server.pods[p.name]; ended && object != nil && object.DeletionTimestamp != nil && *object.DeletionGracePeriodSeconds > 0 {
		k.server.delete(object, 0)
	}
}

func equalStatus(a, b *v1.PodStatus) bool {
	x, errX := a.Marshal()
	y, errY := b.Marshal()
	return errX == nil && errY == nil && string(x) == string(y)
}

// sortStatuses orders statuses as the kubelet does.
func sortStatuses(list []v1.ContainerStatus) {
	slices.SortFunc(list, func(a, b v1.ContainerStatus) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
}
