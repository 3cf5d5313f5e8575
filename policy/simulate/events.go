package simulate

import "github.com/podfate/podfate/policy"

// Reasons why an event of the scenario changes nothing.
const (
	ignoredPodOver     = "pod_terminated"
	ignoredTerminating = "pod_terminating"
	ignoredNotRunning  = "container_not_running"
	ignoredNoKubelet   = "kubelet_stopped"
	ignoredNoWait      = "nothing_waits"
)

// ending is how a Pod is ended from outside.
type ending struct {
	by, message       string // reason and message of the condition DisruptionTarget, "" for none
	reason, podStatus string // reason and message of the Pod's status if the kubelet ends it
}

const (
	byKubelet          = "TerminationByKubelet"
	nodeShutdownReason = "Terminated"
	nodeShutdown       = "Pod was terminated in response to imminent node shutdown."
	lowOnNode          = "The node was low on resource" // figures of the node follow
)

// endings are those of the event types from [EventEvicted] on. Nobody writes to it.
//
// Source: pkg/kubelet/eviction/eviction_manager.go and helpers.go,
// pkg/kubelet/preemption/preemption.go, pkg/kubelet/nodeshutdown/nodeshutdown_manager.go,
// pkg/scheduler/framework/preemption, pkg/controller/tainteviction,
// pkg/controller/devicetainteviction, pkg/controller/podgc,
// pkg/registry/core/pod/storage/eviction.go, Kubernetes v1.36.
var endings = [...]ending{
	EventEvicted:          {byKubelet, lowOnNode, "Evicted", lowOnNode},
	EventNodeShutdown:     {byKubelet, nodeShutdown, nodeShutdownReason, nodeShutdown},
	EventStorageExceeded:  {"", "", "Evicted", "Pod ephemeral local storage usage exceeds the total limit of containers"},
	EventKubeletPreempted: {byKubelet, "Pod was preempted by Kubelet to accommodate a critical pod.", "Preempting", "Preempted in order to admit critical pod"},
	EventPreempted:        {by: "PreemptionByScheduler", message: "default-scheduler: preempting to accommodate a higher priority pod"},
	EventDrained:          {by: "EvictionByEvictionAPI", message: "Eviction API: evicting"},
	EventTaintEvicted:     {by: "DeletionByTaintManager", message: "Taint manager: deleting due to NoExecute taint"},
	EventDeviceTainted:    {by: "DeletionByDeviceTaintManager", message: "Device Taint manager: deleting due to NoExecute taint"},
	EventNodeLost:         {by: "DeletionByPodGC", message: "PodGC: node no longer exists"},
}

// upcoming returns the next event of the scenario, nil if there is none, and where it is counted.
// Of one instant, those of all Pods come first.
func (k *kubelet) upcoming() (*Event, *int) {
	own, all := k.sc.Events[k.nextEvent:], k.sc.all[k.nextOfAll:]
	switch {
	case len(all) > 0 && (len(own) == 0 || all[0].At <= own[0].At):
		return &all[0], &k.nextOfAll
	case len(own) > 0:
		return &own[0], &k.nextEvent
	}
	return nil, nil
}

// events lets happen what the scenario has for this instant and reports whether the kubelet should
// look.
func (k *kubelet) events() (happened bool) {
	if k.ending.deadline <= k.now && !k.ending.terminated && !k.down {
		k.ending.deadline = never
		k.note(Kind(EventDeadlineExceeded.String()), none, "")
		k.ending.pastDeadline = true
		happened = true
	}
	if k.ending.deletion <= k.now {
		k.ending.deletion = never
		happened = k.event(&Event{At: k.now, Type: EventDeleted, ExitCode: KilledExitCode}) || happened
	}
	for !k.report.stopped {
		e, n := k.upcoming()
		if e == nil || e.At > k.now {
			break
		}
		*n++
		k.report.steps += 8
		if k.event(e) {
			happened = true
		}
	}
	return happened
}

func (k *kubelet) event(e *Event) (happened bool) {
	r := Record{Event: Kind(e.Type.String()), Container: none}
	if e.Type.OfContainer() && !e.Outside {
		r.Container = k.index(e.Container)
	}
	if r.Container >= 0 && e.Type == EventStartupFailed {
		k.ctrs[r.Container].startupFailures--
	}
	if k.ending.terminated && e.Type == EventRecreated && k.birth == never && k.views.watch == nil {
		k.record(&r)
		k.again = e.After
		k.over()
		return false
	}
	if k.ending.terminated && (e.Type == EventDeleted || e.Type == EventDrained) && k.ending.finishes && !k.ending.deleted {
		k.ending.deleted = true // without a grace period: CheckGracefulDelete in pkg/registry/core/pod/strategy.go
		k.record(&r)
		return false
	}
	if k.ending.terminated {
		r.Ignored = ignoredPodOver
		k.record(&r)
		return false
	}
	if e.Outside || e.Type.Outside() {
		if k.serial == 0 {
			k.generate(false) // so that the Pod has a status at all
			k.keep()
		}
		k.record(&r)
		k.undecided(Undecided{Reason: "outside_the_model", Event: e.Index})
		return false
	}
	k.ending.killCode = e.ExitCode
	switch {
	case k.down && e.Type.byKubelet():
		r.Ignored = ignoredNoKubelet
	case e.Type == EventRetryNow && !k.retry():
		r.Ignored = ignoredNoWait
	}
	if e.Type.endsPod() && r.Ignored == "" {
		if r.Ignored = k.unheard(e.Type); r.Ignored == "" {
			k.ending.endCode = e.ExitCode
		}
	}
	if r.Container >= 0 && r.Ignored == "" {
		return k.containerEvent(e, &r)
	}
	k.record(&r)
	if r.Ignored != "" {
		return false
	}
	k.podEvent(e)
	return e.Type != EventSandboxLost || k.sandboxGone == never
}

// unheard says why an event of this type changes nothing, "" if it does: a Pod whose containers are
// being stopped hears of no other reason to end it. That it is deleted, its node or its deadline
// still count.
//
// Source: startPodSync and acknowledgeTerminating in pkg/kubelet/pod_workers.go, Kubernetes v1.33
// to v1.37.
func (k *kubelet) unheard(t EventType) string {
	switch {
	case k.queue.busy != terminating:
	case t == EventEvicted, t == EventNodeShutdown, t == EventStorageExceeded, t == EventKubeletPreempted:
		return ignoredTerminating
	}
	return ""
}

// ends reports whether something has asked for the end of the Pod.
func (k *kubelet) ends() bool {
	return k.ending.deleted || k.ending.pastDeadline || k.ending.evictedBy != nil || k.ending.refusedPod
}

func (k *kubelet) podEvent(e *Event) {
	switch e.Type {
	case EventRecreated:
		if k.views.watch == nil { // a Job replaces its Pods itself
			k.again = e.After
		}
		k.ending.deleted = true
		k.send3329(e)
		k.shorten(e.Grace)
	case EventDeleted, EventPreempted, EventDrained, EventTaintEvicted, EventDeviceTainted:
		if by := &endings[e.Type]; by.by != "" {
			k.views.api.disruption, k.views.api.disruptedBy = by.message, by.by
		}
		k.ending.deleted = true
		k.ending.forgotten = k.ending.forgotten || e.Forced || e.Grace == 0 && k.podGrace() == 0
		k.send3329(e)
		k.shorten(e.Grace)
	case EventNodeLost:
		v := k.views.api // the collector of Pods writes it, whatever the node says
		v.disruption, v.disruptedBy = endings[e.Type].message, endings[e.Type].by
		v.phase, v.reason, v.message = policy.PodFailed, "", ""
		k.ending.deleted, k.ending.terminated = true, true
		k.shift(v)
		k.over()
	case EventDeadlineExceeded:
		k.ending.pastDeadline = true
	case EventEvicted, EventStorageExceeded:
		grace := e.Grace
		if grace == 0 {
			grace = evictionGrace
		}
		k.shorten(grace)
		k.ending.evictedBy = &endings[e.Type]
	case EventNodeShutdown, EventKubeletPreempted:
		k.shorten(0)
		k.shorten(e.Grace)
		k.ending.evictedBy = &endings[e.Type]
	case EventKubeletRestarted:
		k.restartKubelet(e.Kubelet)
	case EventKubeletStopped:
		k.stopKubelet()
		k.down = true
		k.assume("node_keeps_its_pods")
	case EventBackOffReset:
		k.retry()
		for i := range k.ctrs {
			c := &k.ctrs[i]
			c.entry, c.dirty = policy.BackoffEntry{}, true
		}
	case EventSandboxLost:
		k.sandboxGone = k.now + k.sc.Timing.Detection
		k.notice()
	case EventNodeRebooted:
		for i := range k.ctrs {
			if in := k.ctrs[i].latest(); in != nil && in.state != exited {
				k.end(i, k.now, e.ExitCode, reasonRebooted)
				k.record(&Record{Event: ExitedBy, Container: i, ExitCode: e.ExitCode, Reason: reasonRebooted})
			}
		}
		k.sandboxReady = false
		k.restartKubelet(e.Kubelet)
		k.assume("node_back_at_once")
	}
}

// markEvicted sets the phase that the kubelet gives a Pod which it ends itself, before the
// containers are killed. If there are several reasons, the last one counts. If all of them then end
// with 0, the phase computed at the end wins.
//
// Source: SyncTerminatingPod in pkg/kubelet/kubelet.go, acknowledgeTerminating in
// pkg/kubelet/pod_workers.go, Kubernetes v1.33 to v1.37.
func (k *kubelet) markEvicted() {
	by := k.ending.evictedBy
	if by == nil {
		return
	}
	if by.reason != nodeShutdownReason || k.views.made.phase != policy.PodSucceeded {
		k.views.made.phase = policy.PodFailed
	}
	k.views.made.reason, k.views.made.message = by.reason, by.podStatus
	if by.by != "" {
		k.views.made.disruption, k.views.made.disruptedBy = by.message, by.by
	}
	k.keep()
	k.assume("api_server_echo_comes_later")
}

// byKubelet reports whether events of type t are a kubelet's own doing, or something said to it.
func (t EventType) byKubelet() bool {
	switch t {
	case EventEvicted, EventDeadlineExceeded, EventNodeShutdown, EventStorageExceeded, EventKubeletPreempted,
		EventKubeletStopped, EventRetryNow, EventBackOffReset, EventLivenessFailed, EventStartupFailed:
		return true
	}
	return false
}

// retry lets the containers start that wait, and reports whether any does.
func (k *kubelet) retry() (waits bool) {
	for i := range k.ctrs {
		c := &k.ctrs[i]
		if in := c.latest(); c.backingOff && in != nil && in.state == exited {
			c.retried, waits = in.id, true
		}
	}
	return waits
}

// over lets a new Pod come if the one that has just ended is to be followed by one.
func (k *kubelet) over() {
	if k.again >= 0 && k.ending.terminated {
		k.birth = k.now + k.again
		k.assume("recreated_pod_keeps_its_name")
	}
}

// reborn makes the Pod a new one, on the same node. Its containers take their next runs.
func (k *kubelet) reborn() {
	was := *k
	ctrs := append([]container(nil), k.ctrs...)
	fresh := *k.sc
	fresh.Past, fresh.Start, fresh.Events, fresh.all = nil, k.now, nil, nil
	k.reset(&fresh)
	k.sc, k.report.res, k.down = was.sc, was.report.res, was.down
	k.report.res.Created = k.now
	k.report.rows, k.report.row, k.ending.finishes = was.report.rows, was.report.row, was.ending.finishes
	k.nextEvent, k.nextOfAll, k.ending.deletion = was.nextEvent, was.nextOfAll, was.ending.deletion
	k.ids, k.report.steps, k.report.assumed = was.ids, was.report.steps, was.report.assumed
	for i := range k.ctrs {
		c, old := &k.ctrs[i], &ctrs[i]
		c.tape, c.shared, c.stats, c.startupFailures = old.tape, old.shared, old.stats, old.startupFailures
	}
	k.use(Kubelet{was.f, was.backoff, was.waits})
	k.note(PodCreated, none, "")
}

// restartKubelet begins with another kubelet, or the same again.
func (k *kubelet) restartKubelet(with *Kubelet) {
	k.stopKubelet()
	k.down = false
	if with != nil {
		k.use(*with)
	}
	k.decideAll()
	k.admit()
}

// stopKubelet forgets what a kubelet keeps in memory: back-offs and remembered refusals.
func (k *kubelet) stopKubelet() {
	for i := range k.ctrs {
		c := &k.ctrs[i]
		c.entry, c.backingOff, c.dirty = policy.BackoffEntry{}, false, true
		for j := range c.insts {
			in := &c.insts[j]
			if in.livenessFailed, in.startupFailed = false, false; !in.stopping {
				continue
			}
			if in.stopping = false; in.signalled > k.now && in.state == running {
				in.signalled, in.told = never, false
				in.exitAt, in.code, in.reason = in.own.at, in.own.code, in.own.reason
			}
			k.assume("stopping_goes_on_without_the_kubelet")
		}
	}
	k.queue.busy, k.queue.freeAt, k.ending.evictedBy = idle, k.now, nil
	k.forget()
}

func (k *kubelet) containerEvent(e *Event, r *Record) (happened bool) {
	c := &k.ctrs[r.Container]
	in := c.latest()
	runs := in != nil && in.state == running
	switch e.Type {
	case EventImageChanged, EventResized:
		if e.Type == EventImageChanged || k.f.Minor >= 34 { // 1.33 has no resources in the key of a back-off
			c.entry, c.backingOff, c.dirty = policy.BackoffEntry{}, false, true
		}
		for j := range c.insts {
			c.insts[j].stale = c.insts[j].stale || e.Type == EventImageChanged
		}
		if runs {
			in.resized = e.Type == EventResized
			in.killCode = e.ExitCode
		}
		k.record(r)
		return true
	case EventContainerLost:
		if in == nil {
			break
		}
		k.record(r)
		if runs { // that it does not run is news, as an exit is
			in.exitAt, in.gone = k.now, true
			return k.unnoticed(in)
		}
		c.insts, c.dirty = c.insts[:0], true
		return k.unheardOf()
	}
	if !runs {
		r.Ignored = ignoredNotRunning
		k.record(r)
		return false
	}
	if e.Type != EventExited { // the exit itself says it
		k.record(r)
	}
	switch e.Type {
	case EventLivenessFailed:
		in.livenessFailed, in.killCode = true, e.ExitCode
	case EventStartupFailed:
		in.startupFailed, in.killCode = true, e.ExitCode
	case EventContainerUnknown:
		c.stats.Ran += k.now - in.started
		k.failed(c, in.started, k.now, 1)
		in.state, in.exitAt, c.dirty = unknown, never, true
		k.restop()
		return k.unheardOf()
	case EventOOMKilled, EventExited:
		reason := e.Reason
		if reason == "" {
			reason = exitReason(e.ExitCode)
		}
		in.exitAt, in.code, in.reason = k.now, e.ExitCode, reason
		return k.unnoticed(in)
	}
	return true
}

// unnoticed ends what in does now, and reports whether the kubelet has seen that already.
func (k *kubelet) unnoticed(in *instance) (noticed bool) {
	in.own = end{k.now, in.code, in.reason}
	return k.notice()
}

// unheardOf reports whether the kubelet looks at once after a change of the runtime that is no
// event to it: it does only if nothing takes time, and otherwise with the next sync that something
// else causes, at the latest the resync.
//
// Source: generateEvents and Relist in pkg/kubelet/pleg/generic.go, isSyncPodWorthy in
// pkg/kubelet/kubelet.go, completeWork in pkg/kubelet/pod_workers.go, Kubernetes v1.33 to v1.37.
func (k *kubelet) unheardOf() (noticed bool) {
	switch t := &k.sc.Timing; {
	case t.KubeletSync:
		k.queue.quiet = true
		k.resync()
	case t.Detection > 0:
		k.queue.syncAt = min(k.queue.syncAt, k.now+t.Detection)
	default:
		return true
	}
	return false
}
