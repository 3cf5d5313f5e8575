package simulate

import "github.com/podfate/podfate/policy"

// kubelet is the state of a simulation.
type kubelet struct {
	sc      *Scenario
	spec    *policy.PodSpec
	f       policy.Features
	backoff policy.Backoff
	waits   *policy.Waits // in place of the waits of backoff, nil for those
	rules   *policy.Policy

	ctrs       []container // init containers first, ephemeral ones last
	inits      int
	ephemerals int

	now             Millis
	serial          int64 // of the sync under way
	ids             int64 // instances created so far
	sandbox         int64 // sandboxes created so far, the last is the newest
	sandboxReady    bool
	sandboxGone     Millis // when the kubelet sees that it is not
	couldRestartAll bool   // some rule asks for RestartAllContainers
	proposed        bool   // the manifest has words of proposals
	whole           bool   // something may restart all of the Pod
	asked           bool   // something asks for restart counts
	asks            uint32 // up to which

	counts  policy.PhaseCounts
	plan    plan
	started []int // containers started at this instant

	// The last exits after which a container stays down, all containers are restarted, and the next
	// container has its turn.
	stopCause, resetCause, turnCause *Cause

	down    bool   // there is no kubelet
	again   Millis // how long after the end of this Pod a new one begins, below 0 for never
	birth   Millis // when that is
	created Millis
	number  int32 // of the Pod in its Job

	nextEvent int
	nextOfAll int

	queue  queue
	ending podEnding
	views  views
	report report
	search search
}

// queue is what makes the kubelet look at the Pod again, and what it waits for meanwhile.
type queue struct {
	busy      work   // what goes on at freeAt
	freeAt    Millis // the sync under way waits until then
	refused   bool   // the last sync left a start refused
	waitUntil Millis // the earliest end of a refused wait
	told      bool   // the last sync refused a start for the first time
	quiet     bool   // something changed that causes no sync
	syncAt    Millis // when the work queue wakes
	syncedAt  Millis // when the last sync was over, from which resyncs count
	relistAt  Millis // when the kubelet next looks at the runtime because of what it did itself, below 0 for never
}

// podEnding is how and when the Pod ends.
type podEnding struct {
	deleted      bool   // deletionTimestamp is set
	forgotten    bool   // and the API server waits for nothing but finalizers
	deletion     Millis // when the controller of a Job deletes the Pod
	finishes     bool   // a deleted Pod is gone when it is over; of a Job's Pod its finalizer decides
	deadline     Millis // when activeDeadlineSeconds are over
	pastDeadline bool
	evictedBy    *ending // what is to end the Pod, if the kubelet itself does so
	sent         string  // the reason that came with the deletion, where a proposal lets one come
	refusedPod   bool    // the node lacks what the Pod needs, and does not admit it

	killCode          int32
	endCode           int32  // what killed containers end with when it ends, unless their runs say it
	grace             Millis // of the end of the Pod, 0 before it is known
	stopAt, stopGrace Millis // of all containers that are being stopped
	terminated        bool   // the Pod is over
	final             bool   // the containers have been stopped for good
}

// views is what others see of the Pod.
type views struct {
	view            statusView
	made, kept, api view            // what the kubelet works out, what it keeps of that, what the API shows
	frozen          []status        // what the API shows of each container while the API server refuses more, else empty
	dropped         bool            // made is not kept
	toldPhase       policy.PodPhase // which the kubelet alone knows, as the timeline says, "" for none
	news            bool            // what the API shows has changed
	watch           func(done bool) // of [Watch], else nil: called before and after a status is kept
}

// report is the answer so far.
type report struct {
	res     Result
	steps   int64
	assumed []string // in the order of their codes
	stopped bool
	rows    *Rows // nil if nobody asks for them
	row     Row   // the last one, with At below 0 before the first
}

func (k *kubelet) mains() int { return len(k.ctrs) - k.inits - k.ephemerals }

func (k *kubelet) rac() bool { return k.f.RestartAllContainersOnContainerExits }

// Pod plays the scenario, which must fit its Spec and have its events in order of time.
func Pod(sc *Scenario) *Result {
	k := newKubelet(sc)
	k.report.rows, k.ending.finishes = newRows(sc), true
	k.loop()
	k.finish()
	return &k.report.res
}

func newKubelet(sc *Scenario) *kubelet {
	k := &kubelet{ctrs: make([]container, sc.Spec.Len())}
	k.reset(sc)
	return k
}

// reset makes k a kubelet that has not seen its Pod yet. It keeps the memory of containers.
func (k *kubelet) reset(sc *Scenario) {
	*k = kubelet{
		sc: sc, spec: sc.Spec, now: sc.Start, started: k.started[:0], ctrs: k.ctrs,
		inits: len(sc.Spec.InitContainers), ephemerals: len(sc.Spec.EphemeralContainers),
		queue:  queue{freeAt: sc.Start},
		ending: podEnding{endCode: KilledExitCode},
		views:  views{frozen: k.views.frozen[:0]},
	}
	for i := range k.ctrs {
		c := &k.ctrs[i]
		*c = container{insts: c.insts[:0]}
		c.ref = k.ref(i)
		c.spec = k.spec.Container(c.ref)
		c.sidecar = c.spec.IsSidecar(c.ref.Kind)
		c.retryAt, c.dirty, c.startRecord = never, true, none
		for _, rule := range c.spec.RestartPolicyRules {
			k.couldRestartAll = k.couldRestartAll || rule.Action == policy.ActionRestartAllContainers && c.ref.Kind != policy.EphemeralContainer
			if rule.ExitCodes != nil {
				c.values += len(rule.ExitCodes.Values)
			}
		}
		k.count(c)
	}
	for _, t := range sc.Tapes {
		k.at(t.Container).runs = t.Runs
	}
	for _, list := range [][]Event{sc.Events, sc.all} {
		for i := range list {
			if e := &list[i]; e.Type == EventStartupFailed {
				k.at(e.Container).startupFailures++
			}
		}
		k.report.steps += int64(len(list)) / 32
	}
	k.report.row.At = -1
	k.created = sc.Start
	k.views.made = view{phase: policy.PodPending, by: policy.PodPending}
	k.views.kept, k.views.api = k.views.made, k.views.made
	k.ending.deadline, k.ending.deletion, k.sandboxGone, k.birth, k.again = never, never, never, never, none
	if d := sc.Spec.ActiveDeadlineSeconds; d != nil {
		k.ending.deadline = sc.Start + seconds(*d)
	}
	k.use(sc.Kubelet)
	if sc.Past != nil {
		k.resume(sc.Past)
	}
}

// use makes the kubelet one with these features.
func (k *kubelet) use(kubelet Kubelet) {
	k.f, k.backoff, k.waits = kubelet.Features, kubelet.Backoff, kubelet.Waits
	k.prepare()
	if k.rules = k.sc.rules; k.rules == nil || k.f != k.sc.Kubelet.Features {
		k.rules = policy.Compile(k.spec, k.f)
	}
	k.counts = policy.PhaseCounts{}
	for i := range k.ctrs {
		c := &k.ctrs[i]
		c.dirty, c.share, c.asked.valid = true, 0, false
		k.count(c)
	}
}

func (k *kubelet) at(r policy.Ref) *container { return &k.ctrs[k.index(r)] }

func (k *kubelet) index(r policy.Ref) int {
	switch r.Kind {
	case policy.InitContainer:
		return r.Index
	case policy.EphemeralContainer:
		return len(k.ctrs) - k.ephemerals + r.Index
	}
	return k.inits + r.Index
}

func (k *kubelet) ref(i int) policy.Ref {
	last := len(k.ctrs) - k.ephemerals
	switch {
	case i < k.inits:
		return policy.Ref{Kind: policy.InitContainer, Index: i}
	case i >= last:
		return policy.Ref{Kind: policy.EphemeralContainer, Index: i - last}
	}
	return policy.Ref{Kind: policy.MainContainer, Index: i - k.inits}
}

// record adds an entry to the timeline. It and note are not inlined: their calls are many, and the
// module is small.
//
//go:noinline
func (k *kubelet) record(r *Record) {
	if len(k.report.res.Timeline) >= MaxRecords {
		k.exceed(LimitTimeline)
		return
	}
	r.At = k.now
	k.report.res.Timeline = append(k.report.res.Timeline, *r)
}

// note records an entry that has nothing but a reason.
//
//go:noinline
func (k *kubelet) note(event Kind, container int, reason string) {
	k.record(&Record{Event: event, Container: container, Reason: reason})
}

func (k *kubelet) exceed(limit string) {
	if k.report.res.Exceeded == "" {
		k.report.res.Exceeded = limit
	}
	k.report.stopped = true
}

// assume notes an assumption that this answer rests on.
//
//go:noinline
func (k *kubelet) assume(code string) {
	i := 0
	for i < len(k.report.assumed) && k.report.assumed[i] < code {
		i++
	}
	if i < len(k.report.assumed) && k.report.assumed[i] == code {
		return
	}
	k.report.assumed = append(k.report.assumed, "")
	copy(k.report.assumed[i+1:], k.report.assumed[i:])
	k.report.assumed[i] = code
}

// undecided ends the simulation here.
func (k *kubelet) undecided(u Undecided) {
	u.At = k.now
	k.report.res.Undecided = append(k.report.res.Undecided, u)
	k.note(UndecidedHere, none, u.Reason)
	k.report.stopped = true
}

// loop goes from instant to instant until the horizon. What happens at the first instant happens to
// a Pod that runs, unless it is something that keeps it from running.
func (k *kubelet) loop() {
	k.begin()
	for !k.report.stopped {
		t, sync := k.next()
		if t > k.sc.Until {
			break
		}
		k.step(t, sync)
	}
	if !k.report.stopped {
		k.now = k.sc.Until
	}
}

// begin lets the kubelet see the Pod for the first time. Whoever plays several Pods on one clock
// begins each when it is created, and then always steps the one whose next instant comes first.
func (k *kubelet) begin() {
	k.ending.killCode = KilledExitCode
	if p := k.sc.Past; p != nil && p.Outside != "" {
		k.undecided(Undecided{Reason: "outside_the_model", Path: p.Outside, Event: -1})
		return
	}
	if k.sc.Past == nil {
		k.admit()
	}
	k.notice()
	if e := k.sc.Events; len(e) == 0 || e[0].At > k.now || !e[0].Outside && !e[0].Type.Outside() {
		if !k.ending.terminated {
			k.settle()
		}
		k.tell()
		k.print()
		k.summarize()
	} else {
		k.print()
	}
	if k.sc.Past != nil {
		k.foresee()
	}
}

// admit asks whether the node admits the Pod, which it has not seen before.
func (k *kubelet) admit() {
	if k.ending.refusedPod = !k.views.api.phase.Terminal() && k.spec.RefusedByNode(k.f); k.ending.refusedPod {
		k.refusePod()
	}
}

// step plays one instant, which [kubelet.next] named, or an earlier one at which something was done
// to the Pod.
func (k *kubelet) step(t Millis, sync bool) {
	k.now, k.ending.killCode, k.started = t, KilledExitCode, k.started[:0]
	if k.birth <= k.now {
		if k.reborn(); !k.down {
			k.admit()
			k.settle()
		}
	}
	noticed := k.notice()
	happened := k.events()
	if k.report.stopped {
		return
	}
	if !k.ending.terminated && !k.down && !k.waiting() && (sync || noticed || happened || k.queue.busy != idle) {
		k.settle()
	}
	k.tell()
	k.print()
	k.summarize()
}

// next returns the next instant at which something happens, and whether it is one of a sync of its
// own.
func (k *kubelet) next() (at Millis, sync bool) {
	at = min(k.ending.deletion, k.birth)
	if e, _ := k.upcoming(); e != nil {
		at = min(at, e.At)
	}
	if k.ending.terminated || k.down {
		return at, false
	}
	at = min(at, k.ending.deadline, k.sandboxGone)
	k.report.steps += int64(len(k.ctrs)+7) / 8
	waits := k.waiting()
	for i := range k.ctrs {
		c := &k.ctrs[i]
		if in := c.latest(); in != nil && in.state == running && in.exitAt != never {
			at = min(at, k.seen(in))
		}
		if !waits && c.retryAt <= at {
			at, sync = c.retryAt, true
		}
	}
	wake := k.queue.syncAt
	if waits {
		wake = k.queue.freeAt
	}
	if wake <= at {
		return wake, true
	}
	return at, sync && at != never
}

// seen is when the kubelet sees the end of an instance that runs. It waits for one that it stops
// itself.
func (k *kubelet) seen(in *instance) Millis {
	if in.stopping {
		return in.exitAt
	}
	at := in.exitAt + k.sc.Timing.Detection
	if in.exitAt <= k.queue.relistAt {
		at = min(at, k.queue.relistAt)
	}
	return at
}

// relistOnDemand is how soon the kubelet looks at a Pod after a sync that did something and
// succeeded, with PLEGOnDemandRelist. The code names no time: this is about what a container takes
// to start, so that a loop of RestartAllContainers makes some starts a second.
//
// Source: SyncPod in pkg/kubelet/kubelet.go, RequestRelist in pkg/kubelet/pleg/generic.go,
// Kubernetes v1.36 and v1.37.
const relistOnDemand = 100

// settle syncs until nothing changes, or schedules the next sync if the kubelet needs time to see
// what it did.
func (k *kubelet) settle() {
	k.queue.syncAt, k.queue.relistAt = never, none
	for n := 0; ; n++ {
		changed := false
		switch k.queue.busy {
		case idle:
			changed = k.sync()
			if k.collect() {
				changed = changed || !k.sc.Timing.KubeletSync
				k.queue.quiet = k.queue.quiet || k.sc.Timing.KubeletSync
			}
		case executing:
			changed = k.execute(&k.plan)
		case terminating:
			k.terminate()
		}
		k.report.steps += int64(len(k.ctrs)+3) / 4
		if k.report.steps > MaxSteps {
			k.exceed(LimitSteps)
		}
		if k.report.stopped || k.ending.terminated || k.waiting() {
			return
		}
		if k.sc.Timing.Detection > 0 {
			if k.ends() {
				continue // that is asked for already
			}
			if changed {
				k.queue.syncAt = k.now + k.sc.Timing.Detection
				if k.f.PLEGOnDemandRelist && !k.queue.refused {
					k.queue.relistAt = k.now + min(relistOnDemand, k.sc.Timing.Detection)
					k.queue.syncAt = k.queue.relistAt
				}
			}
			break
		}
		// Differs from a real kubelet, which shows a refused start only with the next sync that
		// something else causes: here it counts as a change, so that what is shown does not depend
		// on the other containers.
		again := k.queue.told && !k.sc.Timing.KubeletSync
		k.queue.told = false
		if !k.notice() && !changed && !again {
			break
		}
		if k.report.stopped {
			return
		}
		if n > 64+8*len(k.ctrs) {
			k.undecided(Undecided{Reason: "no_time_passes", Event: -1})
			return
		}
	}
	if k.queue.syncedAt = k.now; k.sc.Timing.KubeletSync {
		k.schedule()
	}
}

// Settings of the kubelet's work queue.
//
// Source: NewMainKubelet in pkg/kubelet/kubelet.go, completeWork in pkg/kubelet/pod_workers.go,
// Kubernetes v1.33 to v1.37.
const (
	syncFrequency      = 60 * policy.Second
	backOffPeriod      = 10 * policy.Second
	workQueueTick      = 1 * policy.Second
	oldestExactBackoff = 35 // from this minor on the wait is known to the queue
)

// schedule puts the Pod into the work queue as the last sync left it.
func (k *kubelet) schedule() {
	var wait Millis
	switch {
	case k.queue.refused && k.f.Minor >= oldestExactBackoff:
		wait = min(max(k.queue.waitUntil-k.now, 0), syncFrequency)
	case k.queue.refused:
		wait = backOffPeriod
	case k.queue.quiet:
		wait = syncFrequency
	default:
		return
	}
	k.queue.syncAt = min(k.queue.syncAt, k.wakes(k.now, wait))
	k.queue.quiet = false
}

// resync puts the Pod into the work queue where it has been since the last sync, which left nothing
// to do.
func (k *kubelet) resync() {
	if k.queue.syncAt != never {
		return
	}
	every := k.wakes(0, syncFrequency)
	first := k.wakes(k.queue.syncedAt, syncFrequency)
	if late := k.now - first; late >= 0 {
		first += (late/every + 1) * every
	}
	k.queue.syncAt = first
}

// wakes is when the work queue wakes for what was put into it at an instant, to wait so long.
func (k *kubelet) wakes(at, wait Millis) Millis {
	at += wait
	most := max(wait/2-1, 0) // the end of the range does not belong to it
	switch t := &k.sc.Timing; t.Jitter {
	case JitterMean:
		at += wait / 4
	case JitterFull:
		at += most
	case JitterMillis:
		at += min(t.JitterMillis, most)
	}
	return at/workQueueTick*workQueueTick + workQueueTick
}

// sync is one round of the kubelet. It reports whether it changed the runtime.
//
// Source: SyncPod in pkg/kubelet/kubelet.go and in pkg/kubelet/kuberuntime/kuberuntime_manager.go,
// Kubernetes v1.33 to v1.37.
func (k *kubelet) sync() (changed bool) {
	k.serial++
	k.queue.refused, k.queue.waitUntil = false, never
	if k.ending.refusedPod {
		k.terminate()
		return false
	}
	k.generate(false)
	k.keep()
	if k.views.made.phase.Terminal() || k.ends() {
		k.terminate()
		return false
	}
	switch {
	case k.views.made.restartingAll:
		k.planReset(&k.plan)
	case k.recreates():
		k.planRecreate(&k.plan)
	default:
		k.compute(&k.plan)
	}
	k.stopPod(&k.plan)
	return k.execute(&k.plan)
}

// execute does what is planned, or what is left of it after a wait for containers that stop.
func (k *kubelet) execute(p *plan) (changed bool) {
	k.queue.busy = executing
	changed = k.kills(p)
	if k.waiting() {
		return true
	}
	k.queue.busy = idle
	if p.reset {
		return k.endReset(p)
	}
	k.prune()
	if p.createSandbox {
		k.createSandbox()
		changed = true
	}
	for _, i := range p.startEphemeral {
		changed = k.start(i) || changed
	}
	for _, i := range p.startInit {
		switch started := k.start(i); {
		case started:
			changed = true
		case !k.ctrs[i].sidecar:
			return changed // nothing after a plain init container is started either, main containers included
		}
	}
	for _, i := range p.startMain {
		if k.start(i) {
			changed = true
		}
	}
	return changed
}

// kills kills one container after the other, as far as it need not wait.
func (k *kubelet) kills(p *plan) (changed bool) {
	changed = p.killed
	for ; p.next < len(p.kill); p.next++ {
		x := &p.kill[p.next]
		c := &k.ctrs[x.container]
		if in := c.latest(); in != nil && in.state != exited {
			grace := Millis(0)
			if !x.remove {
				grace = k.probeGrace(c, x.reason)
			}
			k.kill(x.container, x.reason, x.restart, grace, 0)
			changed, p.killed = true, true
			if k.waiting() {
				return true
			}
		}
		if x.remove && c.latest() != nil {
			c.insts, c.dirty, c.cause = c.insts[:0], true, k.resetCause
			if k.f.Minor < 36 {
				c.logs = 0
			}
			k.note(Removed, x.container, "")
			changed = true
		}
	}
	return changed
}

// stopPod kills what runs if the plan says so, sandbox included.
func (k *kubelet) stopPod(p *plan) {
	if !p.killPod {
		return
	}
	reason := killPodDone
	if p.recreate {
		reason = killRestartAll
	} else if p.createSandbox || !k.sandboxReady {
		reason = killSandbox
	}
	if p.createSandbox && k.sandbox > 0 {
		k.note(SandboxChanged, none, "")
	}
	p.kill = p.kill[:0]
	p.killed = k.killAll(reason, k.podGrace()) || k.sandboxReady
	k.sandboxReady = false
}

// follow notes what follows from an exit.
func (k *kubelet) follow(c *container, cause *Cause) {
	c.cause = cause
	switch d := &cause.Decision; {
	case d.Because == policy.BecauseInitCompleted:
		k.turnCause = cause
	case d.Action.Whole():
		k.resetCause = cause
	case !d.Action.Again():
		k.stopCause = cause
	}
}

// startCause is the exit that leads to the start of c, nil if none does.
func (k *kubelet) startCause(c *container) *Cause {
	switch {
	case c.cause != nil && c.cause.Decision.Action.Again():
		return c.cause
	case c.cause == nil && c.latest() == nil && c.logs == 0 && c.ref.Kind != policy.EphemeralContainer:
		return k.turnCause
	}
	return nil
}

// killCause is the exit that leads to a kill, nil if none does.
func (k *kubelet) killCause(reason string) *Cause {
	switch reason {
	case killRestartAll:
		return k.resetCause
	case killPodDone:
		return k.stopCause
	case killTerminating:
		return k.phaseCause(policy.PodFailed)
	}
	return nil
}

// phaseCause is the exit that leads to a phase, nil if none does.
func (k *kubelet) phaseCause(to policy.PodPhase) *Cause {
	switch {
	case k.ends() && k.ending.evictedBy != &endedByRule:
		return nil
	case to.Terminal():
		return k.stopCause
	case to == policy.PodPending:
		return k.resetCause
	}
	return nil
}

// createSandbox begins again: init containers are removed with their logs. What the sync knows of
// the runtime is from its beginning: the one that this very sync starts still counts on, or is
// refused for its last end.
//
// Source: purgeInitContainers and startContainer in
// pkg/kubelet/kuberuntime/kuberuntime_container.go, SyncPod and doBackOff in
// kuberuntime_manager.go, Kubernetes v1.33 to v1.37; OnPodSandboxReady in pkg/kubelet/kubelet.go,
// Kubernetes v1.36 and v1.37.
func (k *kubelet) createSandbox() {
	if k.plan.recreate {
		k.renew()
	}
	for i := range k.inits {
		c := &k.ctrs[i]
		if in := c.latest(); in != nil {
			last := c.lastExited(k.serial)
			c.purged = purged{sync: k.serial, attempts: in.attempt + 1, ended: last != nil}
			if last != nil {
				c.purged.last = *last
			}
		}
		c.insts, c.logs, c.dirty = c.insts[:0], 0, true
	}
	k.sandbox++
	k.sandboxReady, k.sandboxGone = true, never
	if k.f.Minor >= 36 { // the kubelet says so at once, with the status that it has
		k.views.kept.sandboxReady, k.views.kept.sandboxed = true, true
		if len(k.views.frozen) == 0 {
			k.views.api.sandboxReady, k.views.api.sandboxed = true, true
		}
	}
	k.resetCause, k.turnCause = nil, nil
	k.note(SandboxCreated, none, "")
}

// prune removes all but the newest dead instance of each init container.
//
// Source: pruneInitContainersBeforeStart in pkg/kubelet/kuberuntime/kuberuntime_container.go,
// Kubernetes v1.36.
func (k *kubelet) prune() {
	for i := range k.inits {
		c := &k.ctrs[i]
		if len(c.insts) == 2 && c.insts[0].state == exited && c.insts[0].killedIn != k.serial {
			c.insts = c.insts[:1]
			c.dirty = true
		}
	}
}

// end makes the newest instance of container i an exited one.
func (k *kubelet) end(i int, at Millis, code int32, reason string) {
	c := &k.ctrs[i]
	in := c.latest()
	if in.state == running {
		c.stats.Ran += at - in.started
		k.failed(c, in.started, at, code)
	}
	in.state, in.finished, in.exitAt, in.code, in.reason = exited, at, never, code, reason
	c.dirty, c.died, c.cause = true, death{true, k.queue.busy == terminating}, nil
	k.decide(c, in)
}

// collect removes the older dead instance of containers that have died, once the status has shown
// the end: one is kept. No event of the runtime tells the kubelet so. What ends with the Pod stays,
// unless others take longer to stop.
//
// Source: syncLoopIteration and cleanUpContainersInPod in pkg/kubelet/kubelet.go,
// getContainersToDeleteInPod in pod_container_deletor.go, Kubernetes v1.33 to v1.37.
func (k *kubelet) collect() (changed bool) {
	if k.rac() && k.f.Minor >= 36 {
		return false // the status keeps what it has shown
	}
	for i := range k.ctrs {
		c := &k.ctrs[i]
		in := c.latest()
		if !c.died.dirty || in == nil || in.state != exited || c.next.instance != in.id || c.next.state.kind == policy.StateRunning {
			continue
		}
		if c.died.stopping && in.finished+k.sc.Timing.Detection >= k.now {
			continue
		}
		if c.died.dirty = false; len(c.insts) == 2 && c.insts[1].state == exited {
			c.insts, c.dirty, changed = c.insts[:1], true, true
		}
	}
	return changed
}

// exitReason is what a runtime gives as the reason of an end.
func exitReason(code int32) string {
	if code == 0 {
		return reasonCompleted
	}
	return reasonKilled
}

// start tries to start container i and reports whether the back-off let it.
//
// Source: doBackOff in pkg/kubelet/kuberuntime/kuberuntime_manager.go, startContainer in
// kuberuntime_container.go, Kubernetes v1.33 to v1.37.
func (k *kubelet) start(i int) bool {
	c := &k.ctrs[i]
	last := c.lastExited(k.serial)
	if last != nil && c.backingOff && c.toldRefused == last.id && c.retried != last.id && k.now < c.release {
		k.refuse(c) // as at the last try: nothing that the back-off depends on has changed
		return false
	}
	if last != nil && !c.renewed && !k.backoffLets(i, last) {
		return false
	}
	if !c.renewed && c.clear() {
		return true
	}
	c.renewed = false
	cause := k.startCause(c)
	in := instance{sandbox: k.sandbox, started: k.now, exitAt: never, own: end{at: never}, signalled: never, attempt: c.logs}
	if newest := c.latest(); newest != nil {
		in.attempt = newest.attempt + 1
	} else if c.purged.sync == k.serial {
		in.attempt = c.purged.attempts
	}
	c.logs = in.attempt + 1
	k.ids++
	in.id = k.ids
	k.takeRun(c, &in)
	c.push(in)
	k.started = append(k.started, i)
	c.backingOff, c.dirty = false, true
	c.stats.Starts++
	c.startRecord = len(k.report.res.Timeline)
	k.record(&Record{Event: Started, Container: i, RestartCount: max(in.attempt, k.apiRestarts(c, in.attempt)), Cause: cause})
	c.cause = nil
	return true
}

// takeRun gives in the next run of the tape.
func (k *kubelet) takeRun(c *container, in *instance) {
	t := &c.tape
	if c.shared != nil {
		t = c.shared
	}
	run, ok := t.next()
	if !ok {
		if c.ref.Kind == policy.MainContainer { // the others end with the Pod, or a warning says it
			k.assume("runs_on")
		}
		return
	}
	in.stop = run.Stop
	if run.For != NoEnd {
		in.exitAt = in.started + run.For
	}
	in.code, in.reason = run.ExitCode, run.Reason
	if in.reason == "" {
		in.reason = exitReason(run.ExitCode)
	}
	in.own = end{in.exitAt, in.code, in.reason}
}

// apiRestarts is the count that the status will most likely show for a new instance;
// [kubelet.generate] corrects it.
func (k *kubelet) apiRestarts(c *container, attempt int64) int64 {
	if !k.rac() || !c.api.listed {
		return attempt
	}
	if c.api.state.kind == policy.StateTerminated && c.api.restarts >= attempt {
		return c.api.restarts + 1
	}
	return c.api.restarts
}

func (k *kubelet) backoffLets(i int, last *instance) bool {
	c := &k.ctrs[i]
	e := k.entryOf(c)
	if age := k.now - e.Mark; e.Exists && age > k.backoff.Reset && age <= k.backoff.Reset+policy.SweepPeriod {
		c.phased++
	}
	e.Sweep(k.backoff, k.now/policy.SweepPeriod*policy.SweepPeriod)
	retried := c.retried == last.id
	if k.sc.Timing.FirstRestart == FirstRestartDocumented && !retried && (!e.Exists || last.finished-e.Mark > k.backoff.Reset) {
		*e = policy.BackoffEntry{Delay: k.backoff.Initial, Mark: last.finished, Exists: true}
		k.counterOf(c).waited = [policy.EndClasses]int{}
	}
	k.askWaits(c, last)
	until, refused := e.Refused(k.backoff, last.finished, k.now)
	if !refused || retried {
		k.countWait(c, last)
		e.Start(k.backoff, last.finished, k.now)
		return true
	}
	tell := c.toldRefused != last.id || c.until != until
	c.backingOff, c.dirty = true, c.dirty || tell || !c.backingOff
	c.backoff, c.until = e.Delay, until
	c.release = e.Release(k.backoff, until, policy.SweepPeriod)
	if until > e.Mark+k.backoff.Reset {
		c.phased++
	}
	k.refuse(c)
	if tell {
		c.toldRefused = last.id
		k.queue.told = true
		k.record(&Record{Event: BackOff, Container: i, Until: until, Delay: e.Delay, Cause: k.startCause(c)})
	}
	return false
}

// refuse leaves c waiting.
func (k *kubelet) refuse(c *container) {
	k.queue.refused, k.queue.waitUntil = true, min(k.queue.waitUntil, c.until)
	if !k.sc.Timing.KubeletSync {
		c.retryAt = c.release
	}
}

// planReset plans to kill and remove every instance, one after the other: first those whose exit
// does not ask for it. While there is no sandbox, that has to wait: the Pod is killed, and this
// sync does no more than create a sandbox.
//
// Source: getContainersToReset and SyncPod in pkg/kubelet/kuberuntime/kuberuntime_manager.go,
// Kubernetes v1.35 to v1.37.
func (k *kubelet) planReset(p *plan) {
	*p = plan{kill: p.kill[:0], startInit: p.startInit[:0], startMain: p.startMain[:0], startEphemeral: p.startEphemeral[:0]}
	if !k.sandboxReady {
		p.killPod, p.createSandbox = true, true
		return
	}
	p.reset = true
	k.record(&Record{Event: RestartingAllContainers, Container: none, Cause: k.resetCause})
	for _, sources := range []bool{false, true} {
		for n := range len(k.ctrs) - k.ephemerals {
			i := (n + k.inits) % (len(k.ctrs) - k.ephemerals) // main containers first
			c := &k.ctrs[i]
			if in := c.latest(); in != nil && (in.state == exited && k.source(c, in)) == sources {
				p.kill = append(p.kill, kill{i, killRestartAll, true, true})
			}
		}
	}
}

func (k *kubelet) endReset(p *plan) (changed bool) {
	if k.f.Minor < 36 && k.sc.Timing.KubeletSync && len(p.kill) > 0 && !p.killed {
		k.queue.quiet = true // no event of the runtime wakes the kubelet
		return false
	}
	return len(p.kill) > 0
}

// terminate ends the Pod: whatever runs is killed, and nothing is started any more.
//
// Source: SyncTerminatingPod and SyncTerminatedPod in pkg/kubelet/kubelet.go, Kubernetes v1.33 to
// v1.37.
func (k *kubelet) terminate() {
	if k.queue.busy != terminating {
		k.queue.busy = terminating
		k.markEvicted()
		grace := k.ending.grace
		switch {
		case k.ending.refusedPod:
			grace = orphanGrace
		case grace == 0:
			grace = k.podGrace()
		}
		k.ending.killCode = k.ending.endCode
		if k.killAll(killTerminating, grace) {
			k.serial++
		}
	}
	if k.waiting() {
		return
	}
	k.queue.busy = idle
	k.sandboxReady = false
	if k.ending.refusedPod {
		k.ending.terminated = true
		k.send(none, false)
		k.over()
		return
	}
	k.ending.final = true
	for range 3 { // the status is built again until it is what stays
		k.generate(true)
		k.keep()
		k.collect()
	}
	k.locate()
	k.ending.terminated = true
	k.look(false)
	k.send(k.refusal(), k.views.dropped)
	k.views.dropped = false
	k.look(true)
	k.over()
}

// locate gives a container without an end one, and the Pod a terminal phase.
//
// Source: TerminatePod in pkg/kubelet/status/status_manager.go, Kubernetes v1.33 to v1.37.
func (k *kubelet) locate() {
	lost := terminatedState(137, reasonStatusUnknown, messageTerminated)
	if k.everInitialized() {
		for i := range k.mains() {
			if s := &k.ctrs[k.inits+i].api; s.state.kind != policy.StateTerminated {
				s.state = lost
			}
		}
	}
	last := 0
	for i := k.inits - 1; i >= 0; i-- {
		s := &k.ctrs[i].api
		if s.state.kind != policy.StateWaiting || s.last.kind == policy.StateTerminated {
			last = i
			break
		}
	}
	for i := 0; i <= last && i < k.inits; i++ {
		if s := &k.ctrs[i].api; s.state.kind != policy.StateTerminated {
			s.state = lost
		}
	}
	if !k.views.kept.phase.Terminal() {
		k.views.kept.phase = policy.PodFailed
	}
	for i := range k.ctrs {
		k.ctrs[i].next = k.ctrs[i].api
	}
}

// everInitialized reports whether the status shows that main containers had their turn.
//
// Source: hasPodInitialized in pkg/kubelet/status/status_manager.go, Kubernetes v1.33 to v1.37.
func (k *kubelet) everInitialized() bool {
	if k.inits == 0 {
		return true
	}
	for i := range k.mains() {
		if s := &k.ctrs[k.inits+i].api; s.last.kind == policy.StateTerminated || s.state.kind != policy.StateWaiting {
			return true
		}
	}
	c := &k.ctrs[k.inits-1]
	if c.sidecar {
		return c.api.state.kind == policy.StateRunning && c.api.started
	}
	return c.api.last.kind == policy.StateTerminated && c.api.last.succeeded() ||
		c.api.state.kind == policy.StateTerminated && c.api.state.succeeded()
}

// notice lets the kubelet see the exits that it can have seen by now.
func (k *kubelet) notice() (noticed bool) {
	if k.down {
		return false
	}
	for i := range k.ctrs {
		c := &k.ctrs[i]
		in := c.latest()
		if in == nil || in.state != running || in.exitAt == never || k.seen(in) > k.now {
			continue
		}
		noticed = true
		if in.gone {
			c.stats.Ran += in.exitAt - in.started
			k.failed(c, in.started, in.exitAt, in.code)
			c.insts, c.dirty = c.insts[:0], true
			k.restop()
			continue
		}
		if k.exit(i, in.exitAt, in.code, in.reason); k.report.stopped {
			return noticed
		}
	}
	if k.sandboxGone <= k.now {
		k.sandboxGone, k.sandboxReady, noticed = never, false, true
	}
	return noticed
}

// exit ends the running instance of container i and says what follows.
func (k *kubelet) exit(i int, at Millis, code int32, reason string) {
	c := &k.ctrs[i]
	stopping := c.latest().stopping
	k.end(i, at, code, reason)
	if stopping {
		k.record(&Record{Event: ExitedBy, Container: i, ExitCode: code, Reason: reason})
		k.restop()
		return
	}
	e := k.exitOf(c, c.latest())
	cause := &Cause{i, code, k.rules.Decide(c.ref, e)}
	r := Record{Event: ExitedBy, Container: i, ExitCode: code, Reason: reason}
	why, path := "", ""
	if k.sc.Undecided != nil {
		k.report.steps += int64(c.values)
		why, path = k.sc.Undecided(c.ref, e)
	}
	if why == "" {
		r.Decision = &cause.Decision
		k.follow(c, cause)
	}
	k.record(&r)
	if why != "" {
		k.undecided(Undecided{Reason: why, Path: path, Event: -1})
	}
}
