package simulate

import (
	"strconv"

	"github.com/podfate/podfate/policy"
)

// Reasons and messages that the kubelet writes into statuses.
const (
	reasonContainerCreating = "ContainerCreating"
	reasonPodInitializing   = "PodInitializing"
	reasonCrashLoopBackOff  = "CrashLoopBackOff"
	reasonStatusUnknown     = "ContainerStatusUnknown"
	reasonRestartingAll     = "RestartingAllContainers"

	messageDeleted      = "The container could not be located when the pod was deleted.  The container used to be Running"
	messageTerminated   = "The container could not be located when the pod was terminated"
	messageRemoved      = "The container is removed because RestartAllContainers in place"
	messageInitInferred = "Unable to get init container status from container runtime and pod has been initialized, treat it as exited normally"
)

//go:noinline
func waitingState(reason, message string) state {
	return state{kind: policy.StateWaiting, reason: reason, message: message, started: never, finished: never}
}

//go:noinline
func terminatedState(code int32, reason, message string) state {
	return state{kind: policy.StateTerminated, code: code, reason: reason, message: message, started: never, finished: never}
}

// generate builds the status of the Pod from the runtime and the last status, as far as something
// changed. terminating reports that the containers were stopped for good.
//
// Source: generateAPIPodStatus in pkg/kubelet/kubelet_pods.go, Kubernetes v1.33 to v1.37.
func (k *kubelet) generate(terminating bool) {
	restarting := k.shouldRestartAll()
	view := statusView{restarting: restarting, deleted: k.ending.deleted, mainCreated: k.mainCreated()}
	if view != k.views.view {
		k.views.view = view
		for i := range k.ctrs {
			k.ctrs[i].dirty = true
		}
	}
	changed := false
	for i := range k.ctrs {
		c := &k.ctrs[i]
		c.retryAt = never // until this sync refuses its start
		if !c.dirty {
			continue
		}
		k.report.steps++
		s := k.convert(c)
		if in := c.latest(); c.startRecord >= 0 && c.startRecord < len(k.report.res.Timeline) && in != nil && s.instance == in.id {
			k.report.res.Timeline[c.startRecord].RestartCount = s.restarts
			c.startRecord = none
		}
		c.next = s
		if c.dirty = s != c.api; c.dirty {
			changed = true
		}
		k.count(c)
	}
	k.views.news = k.views.news || changed
	phase := k.counts.Phase(k.spec.RestartPolicy, k.f, policy.PhaseOptions{Terminating: terminating, Initialized: k.mainActive()})
	was, initialized := k.views.made.by, k.views.made.initialized
	k.views.made = k.nextView(phase)
	k.views.made.sandboxReady, k.views.made.sandboxed = k.sandboxReady, k.sandbox > 0
	k.views.made.restartingAll = restarting && !k.views.made.phase.Terminal() && !k.cleanedUp()
	if k.views.made.initialized = initialized; changed || was != k.views.made.by {
		k.views.made.initialized = k.initializedNow()
	}
}

// nextView returns the view that follows from a phase that the containers have led to: of the kept
// one and the one in the API, what is over stays over.
//
// Source: generateAPIPodStatus in pkg/kubelet/kubelet_pods.go, Kubernetes v1.33 to v1.37.
func (k *kubelet) nextView(phase policy.PodPhase) view {
	v := k.views.kept
	v.notReady, v.bare = false, false
	if v.disruption == "" {
		v.disruption, v.disruptedBy = k.views.api.disruption, k.views.api.disruptedBy
	}
	switch {
	case phase.Terminal():
	case v.phase.Terminal():
		phase = v.phase
	case k.views.api.phase.Terminal():
		phase = k.views.api.phase
	}
	switch {
	case k.ending.pastDeadline:
		v.phase, v.reason = policy.PodFailed, "DeadlineExceeded"
		v.message = "Pod was active on the node longer than the specified deadline"
	case phase != v.phase:
		v.phase, v.reason, v.message = phase, "", ""
	}
	if k.views.api.phase.Terminal() { // what the API shows as over stays as it is, even if the containers tell otherwise
		v.phase = k.views.api.phase
	}
	if v.by = v.phase; k.ending.sent != "" {
		v.reason = k.ending.sent
	}
	return v
}

// statusView is what the status of every container depends on besides the container.
type statusView struct{ restarting, deleted, mainCreated bool }

// count replaces the share of c in the phase.
func (k *kubelet) count(c *container) {
	now := &c.next
	st := policy.ContainerState{Listed: now.listed, Kind: now.state.kind, Started: k.knownStarted(c), Ended: now.state.ended()}
	if now.last.kind == policy.StateTerminated {
		last := now.last.ended()
		st.Last = &last
	}
	share := k.spec.PhaseShare(c.ref, st, k.f)
	if share != c.share {
		k.counts.Remove(c.share)
		k.counts.Add(share)
		c.share = share
	}
}

// knownStarted reports whether the kubelet knows that c has started when it works out the phase,
// which it does before it asks the prober: until 1.34 it never does, then it knows what it has last
// kept.
//
// Source: generateAPIPodStatus and convertToAPIContainerStatuses in pkg/kubelet/kubelet_pods.go,
// Kubernetes v1.33 to v1.37.
func (k *kubelet) knownStarted(c *container) bool {
	return k.f.Minor >= 35 && c.api.started && c.next.state.kind == policy.StateRunning
}

// succeeded reports whether an init container that ended so has done its work.
func (s *state) succeeded() bool { return s.code == 0 || s.do == policy.Complete }

func (s *state) ended() policy.Termination {
	return policy.Termination{ExitCode: s.code, Do: s.do, RestartingAllContainers: s.reason == reasonRestartingAll}
}

// convert builds the status of one container.
//
// Source: convertToAPIContainerStatuses in pkg/kubelet/kubelet_pods.go, Kubernetes v1.33 to v1.37.
func (k *kubelet) convert(c *container) status {
	old := &c.api
	s := status{listed: true, state: waitingState(k.defaultReason(), "")}
	if old.listed {
		if old.state.kind == policy.StateTerminated {
			s = *old
		} else {
			s.restarts, s.last = old.restarts, old.last
		}
	}
	if len(c.insts) == 0 {
		k.missing(c, &s)
	} else {
		s = k.convertInstance(c, &c.insts[0])
		if len(c.insts) > 1 {
			s.last = k.convertInstance(c, &c.insts[1]).state
		}
	}
	k.waitForStart(c, &s)
	s.started = s.state.kind == policy.StateRunning && k.startupPassed(c)
	switch {
	case c.ref.Kind == policy.EphemeralContainer:
		s.started = false // nobody probes it
	case c.ref.Kind == policy.InitContainer && !c.sidecar:
		s.ready = s.state.kind == policy.StateTerminated && s.state.succeeded()
	default:
		s.ready = s.started
	}
	return s
}

func (k *kubelet) defaultReason() string {
	if k.inits > 0 {
		return reasonPodInitializing
	}
	return reasonContainerCreating
}

// missing completes the status of a container that the runtime does not have.
func (k *kubelet) missing(c *container, s *status) {
	old := &c.api
	if !old.listed {
		return
	}
	if k.rac() && k.views.view.restarting && old.state.kind != policy.StateWaiting {
		s.state = waitingState(reasonRestartingAll, messageRemoved)
		s.last = terminatedState(137, reasonRestartingAll, messageRemoved)
		s.restarts = old.restarts + 1
		return
	}
	if old.state.kind != policy.StateRunning || s.last.kind == policy.StateTerminated {
		return
	}
	s.last = terminatedState(137, reasonStatusUnknown, messageDeleted)
	if !k.ending.deleted {
		s.restarts++
	}
}

// convertInstance is what the status says of one instance.
func (k *kubelet) convertInstance(c *container, in *instance) status {
	old := &c.api
	s := status{listed: true, restarts: in.attempt, instance: in.id}
	if old.listed && k.rac() {
		s.restarts = max(s.restarts, old.restarts)
		if k.f.Minor >= 36 {
			switch {
			case old.instance != in.id && old.state.kind == policy.StateTerminated:
				s.last = old.state
			case old.last.kind == policy.StateTerminated:
				s.last = old.last
			}
		}
	}
	switch {
	case in.state == running:
		s.state = state{kind: policy.StateRunning, started: in.started, finished: never, instance: in.id}
		if k.rac() && old.listed && old.state.kind == policy.StateTerminated && old.restarts >= in.attempt {
			s.restarts = old.restarts + 1
		}
	case in.state == exited:
		s.state = state{
			kind: policy.StateTerminated, code: in.code, reason: in.reason,
			started: in.started, finished: in.finished, instance: in.id, do: in.do,
		}
	case old.listed && old.state.kind == policy.StateRunning:
		reason := reasonStatusUnknown
		if k.rac() && k.views.view.restarting {
			reason = reasonRestartingAll
		}
		s.state = terminatedState(137, reason, messageTerminated)
		s.restarts = old.restarts + 1
	default:
		s.state = waitingState("", "")
	}
	return s
}

// waitForStart shows a refused start.
func (k *kubelet) waitForStart(c *container, s *status) {
	if c.ref.Kind == policy.InitContainer {
		in := c.latest()
		if in != nil && in.state == exited && (in.code == 0 || in.do == policy.Complete) {
			return
		}
		if k.f.Minor >= 36 && in == nil && k.views.view.mainCreated && !c.sidecar && s.state.kind == policy.StateWaiting {
			s.state = terminatedState(0, "Completed", messageInitInferred)
			return
		}
	}
	if !c.backingOff || !k.wanted(c) {
		return
	}
	if s.state.kind == policy.StateTerminated {
		s.last = s.state
	}
	s.state = waitingState(reasonCrashLoopBackOff, "")
	s.state.delay = c.backoff // the message is written when someone reads it
}

// BackoffMessage is the message of a container that waits delay before the next start.
//
// Source: doBackOff in pkg/kubelet/kuberuntime/kuberuntime_manager.go, Kubernetes v1.36.
func BackoffMessage(delay Millis, container, pod string) string {
	return "back-off " + FormatDuration(delay) + " restarting failed container=" + container + " pod=" + pod
}

// FormatDuration writes d, which must not be negative, as Go prints durations: 10s, 1m20s, 1h0m0s,
// 1.5s, 250ms.
func FormatDuration(d Millis) string {
	switch {
	case d == 0:
		return "0s"
	case d < 1000:
		return strconv.FormatInt(int64(d), 10) + "ms"
	}
	s := strconv.FormatInt(int64(d/1000%60), 10)
	if rest := d % 1000; rest > 0 {
		digits := strconv.FormatInt(int64(1000+rest), 10)[1:]
		for digits[len(digits)-1] == '0' {
			digits = digits[:len(digits)-1]
		}
		s += "." + digits
	}
	s += "s"
	if d >= 60_000 {
		s = strconv.FormatInt(int64(d/60_000%60), 10) + "m" + s
	}
	if d >= 3_600_000 {
		s = strconv.FormatInt(int64(d/3_600_000), 10) + "h" + s
	}
	return s
}

// startupPassed reports whether the startup probe of the running instance has succeeded. It does so
// at once unless an event says that it will fail.
func (k *kubelet) startupPassed(c *container) bool {
	in := c.latest()
	return !c.spec.HasStartupProbe || c.startupFailures == 0 && in != nil && !in.startupFailed
}

// shouldRestartAll reports whether all containers have to be restarted.
//
// Source: ShouldAllContainersRestart in pkg/kubelet/container/helpers.go, Kubernetes v1.35 to
// v1.37.
func (k *kubelet) shouldRestartAll() bool {
	if !k.rac() || !k.couldRestartAll {
		return false // without such a rule nothing below can hold
	}
	if k.views.kept.restartingAll {
		return true
	}
	for i := range len(k.ctrs) - k.ephemerals {
		c := &k.ctrs[i]
		in := c.latest()
		if in == nil || in.state != exited {
			continue
		}
		if k.source(c, in) {
			return true
		}
		if !k.proposed && c.api.listed && c.api.state.kind == policy.StateTerminated && k.triggers(c, c.api.state.code) {
			return true
		}
	}
	return false
}

// cleanedUp reports whether the runtime has no instance any more.
func (k *kubelet) cleanedUp() bool { return k.empty(len(k.ctrs) - k.ephemerals) }

// empty reports whether the runtime has no instance of the first n containers.
func (k *kubelet) empty(n int) bool {
	for i := range n {
		if len(k.ctrs[i].insts) > 0 {
			return false
		}
	}
	return true
}

// mainCreated reports whether some main container has an instance whose state is known.
//
// Source: HasAnyRegularContainerCreated in pkg/kubelet/kuberuntime/kuberuntime_container.go,
// Kubernetes v1.36.
func (k *kubelet) mainCreated() bool {
	for i := range k.mains() {
		if in := k.ctrs[k.inits+i].latest(); in != nil && in.state != unknown {
			return true
		}
	}
	return false
}

// mainActive reports whether the current sandbox has an instance of a main container.
//
// Source: HasAnyActiveRegularContainerStarted in pkg/kubelet/container/helpers.go, Kubernetes v1.33
// to v1.37.
func (k *kubelet) mainActive() bool {
	for i := range k.mains() {
		c := &k.ctrs[k.inits+i]
		for j := range c.insts {
			if k.active(&c.insts[j]) {
				return true
			}
		}
	}
	return false
}

// active reports whether in belongs to the sandbox that is ready.
func (k *kubelet) active(in *instance) bool { return k.sandboxReady && in.sandbox == k.sandbox }

// initializedNow works out the condition Initialized. Once True it stays so with
// RestartAllContainers.
//
// Source: GeneratePodInitializedCondition in pkg/kubelet/status/generate.go, Kubernetes v1.33 to
// v1.37.
func (k *kubelet) initializedNow() bool {
	if k.views.made.by == policy.PodSucceeded {
		return true
	}
	for i := range k.mains() {
		kind := k.ctrs[k.inits+i].next.state.kind
		if kind == policy.StateRunning || kind == policy.StateTerminated {
			return true
		}
	}
	for i := range k.inits {
		if c := &k.ctrs[i]; !c.sidecar && !c.next.ready || c.sidecar && !c.next.started {
			return k.views.kept.initialized && k.rac()
		}
	}
	return true
}
