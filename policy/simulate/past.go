package simulate

import "github.com/podfate/podfate/policy"

// Past is what became of a Pod before the simulation begins, as its status tells it. Instants are
// on the scenario's clock and not after its Start; 0 stands for one that is not known.
type Past struct {
	Phase           policy.PodPhase
	Reason, Message string
	Created         Millis // creationTimestamp, below 0 if it is not known
	Begun           Millis // startTime, from which activeDeadlineSeconds count
	Disruption      string // message of the condition DisruptionTarget, "" unless it is True
	NoSandbox       bool   // the condition PodReadyToStartContainers is False
	Initialized     bool   // these conditions are True
	RestartingAll   bool
	Containers      []PastContainer // those that the status lists
	Outside         string          // path of what the model does not cover: everything is undecided; "" for nothing

	Deleted     bool   // deletionTimestamp is set
	Asked, Gone Millis // when the deletion was asked for, and when its grace period is over, which may be after Start
}

// PastContainer is the status of one container.
type PastContainer struct {
	Ref            policy.Ref
	State, Last    State
	RestartCount   int64
	Started, Ready bool
	Delay          Millis // the wait that the message of CrashLoopBackOff names, 0 for none
}

// WaitSource says where a wait comes from that no status shows: kubelets keep back-offs in memory.
type WaitSource string

// The sources, from the best to the least.
const (
	FromMessage      WaitSource = "message"      // of CrashLoopBackOff
	FromGap          WaitSource = "gap"          // between the last two runs, which the wait before this one was
	FromRestartCount WaitSource = "restartCount" // as if no quiet time had reset it
	FromLongRun      WaitSource = "longRun"      // which has reset the back-off
)

// Wait is what a container of a Pod with a past has to wait for its next start.
type Wait struct {
	Container int
	Delay     Millis // counted from the exit
	Source    WaitSource
	// Next is when the start comes if the container has exited already, below 0 if it has not.
	// Earliest and Latest are the bounds of what is not known: fractions of seconds, and all that
	// may have happened to the back-off.
	Next, Earliest, Latest Millis
}

// subsecond is what times in a status leave open: they are cut to whole seconds.
const subsecond = policy.Second - 1

// latestRetry is by how much a refused start can come too late up to 1.34: a try of the work queue
// and its jitter.
const latestRetry = backOffPeriod*3/2 + 2*workQueueTick

// resume makes the kubelet one that has looked after the Pod since it began.
func (k *kubelet) resume(p *Past) {
	k.views.api = view{
		phase: p.Phase, reason: p.Reason, message: p.Message, by: p.Phase, disruption: p.Disruption, disruptedBy: byKubelet,
		sandboxReady: !p.NoSandbox, sandboxed: true, initialized: p.Initialized, restartingAll: p.RestartingAll,
	}
	k.ending.deleted, k.created = p.Deleted, p.Created
	if p.Phase.Terminal() {
		k.ending.deadline = never
	} else if d := k.spec.ActiveDeadlineSeconds; d != nil && p.Begun > 0 {
		k.ending.deadline = max(p.Begun+seconds(*d), k.now)
	}
	if p.Deleted {
		k.ending.grace = max(p.Gone-k.now, policy.Second)
	}
	k.sandbox = 1
	for i := range p.Containers {
		k.resumeContainer(&p.Containers[i], p)
	}
	k.decideAll()
	k.forget()
	if k.sandboxReady = k.ids > 0 && !p.NoSandbox; k.ids == 0 && !p.NoSandbox {
		k.sandbox = 0 // nothing shows that there was one
	}
	if k.ending.terminated = p.Phase.Terminal(); k.ending.terminated {
		for i := range k.ctrs {
			in := k.ctrs[i].latest()
			k.ending.terminated = k.ending.terminated && (in == nil || in.state != running)
		}
	}
}

func (k *kubelet) resumeContainer(x *PastContainer, p *Past) {
	c := k.at(x.Ref)
	c.api = status{listed: true, restarts: x.RestartCount, started: x.Started, ready: x.Ready}
	c.api.state, c.api.last = pastState(&x.State), pastState(&x.Last)
	c.api.state.delay = x.Delay
	attempt := x.RestartCount
	if x.State.Kind != policy.StateWaiting {
		k.revive(c, &c.api.last, attempt-1)
		k.revive(c, &c.api.state, attempt)
		c.api.instance = c.api.state.instance
	} else if x.State.Reason != reasonRestartingAll {
		k.revive(c, &c.api.last, attempt)
		c.api.instance = c.api.last.instance
	}
	c.backingOff, c.backoff = x.State.Reason == reasonCrashLoopBackOff, x.Delay
	in := c.latest()
	if in == nil {
		return
	}
	c.logs = attempt + 1
	if attempt > 0 {
		c.waits = k.wait(x, c)
		c.entry = policy.BackoffEntry{Delay: c.waits.Delay, Mark: in.started, Exists: c.waits.Source != FromLongRun}
		k.assume("kubelet_not_restarted")
	}
	if in.state != running {
		c.finished = in.finished
		return
	}
	k.takeRun(c, in)
	in.exitAt = max(in.exitAt, k.now)
	in.own.at = in.exitAt
	c.stats.Ran = in.started - k.now // the answer counts from now on
	if p.Deleted && in.stop == nil {
		in.stop = &Stop{For: max(p.Gone-p.Asked, 0), ExitCode: KilledExitCode}
		k.assume("ends_with_its_grace_period")
	}
	if p.Deleted {
		in.signalled = p.Asked + in.stop.PreStop
	}
}

// revive gives c the instance that s shows, unless the runtime has lost it.
func (k *kubelet) revive(c *container, s *state, attempt int64) {
	in := instance{sandbox: 1, exitAt: never, own: end{at: never}, signalled: never, attempt: attempt}
	switch {
	case s.reason == reasonStatusUnknown || s.reason == reasonRestartingAll:
		return
	case s.kind == policy.StateTerminated:
		in.state, in.code, in.reason = exited, s.code, s.reason
		if s.finished != never {
			in.finished = s.finished
		}
	case s.kind != policy.StateRunning:
		return
	}
	if s.started != never {
		in.started = s.started
	}
	k.ids++
	in.id, s.instance = k.ids, k.ids
	c.push(in)
}

func pastState(s *State) state {
	out := state{kind: s.Kind, reason: s.Reason, message: s.Message, code: s.ExitCode, started: s.Started, finished: s.Finished}
	if s.Started == 0 {
		out.started = never
	}
	if s.Finished == 0 {
		out.finished = never
	}
	return out
}

// wait works out how long the container waits after its present run or its last one. The status
// says it only while it waits in CrashLoopBackOff. Otherwise the gap between the last two runs was
// the wait before: the longest of the series that fits into it, since a start is late by less than
// one step; up to 1.34 it can be later than the shortest steps are apart, which is then an
// assumption. Without a gap it is counted in restarts.
func (k *kubelet) wait(x *PastContainer, c *container) Wait {
	w := Wait{Container: k.index(x.Ref), Delay: x.Delay, Source: FromMessage, Next: -1}
	if x.Delay > 0 {
		return w
	}
	if in := c.latest(); in.state == running && k.now-in.started > k.backoff.Reset {
		w.Source = FromLongRun
		return w
	}
	restarts := int(min(x.RestartCount, 64))
	if len(c.insts) == 2 && c.insts[1].finished > 0 && c.insts[0].started > 0 {
		w.Source = FromGap
		gap := c.insts[0].started - c.insts[1].finished + subsecond
		n := restarts
		for n > 1 && k.backoff.Delay(n-1) > gap {
			n--
		}
		w.Delay = k.backoff.Delay(n)
		if k.f.Minor < oldestExactBackoff && n > 1 && gap < k.backoff.Delay(n-2)+latestRetry {
			k.assume("backoff_is_the_longest_that_fits")
		}
		return w
	}
	w.Source, w.Delay = FromRestartCount, k.backoff.Delay(restarts)
	k.assume("backoff_grew_with_each_restart")
	return w
}

// foresee says which of the waits are under way, once the kubelet has looked at the Pod. Nothing
// is started again in one that is over, is being ended, or will be before.
func (k *kubelet) foresee() {
	if k.views.made.phase.Terminal() || k.ending.deleted {
		return
	}
	for i := range k.ctrs {
		c := &k.ctrs[i]
		w := &c.waits
		if w.Source == "" {
			continue
		}
		if w.Next = -1; c.backingOff || c.finished > 0 && c.entry.Mark == k.now {
			w.Next = k.now
			if c.backingOff {
				w.Next = max(c.release, k.now)
			} else if c.finished+w.Delay < k.now {
				k.assume("status_is_older_than_the_next_start")
			}
			w.Earliest, w.Latest = w.Next, w.Next
			switch {
			case w.Source == FromRestartCount:
				w.Earliest, w.Latest = k.now, max(k.now, c.finished+k.backoff.Max+subsecond)
			case w.Next > k.now:
				w.Latest += subsecond
			}
			if k.ending.deadline <= w.Earliest { // activeDeadlineSeconds end the Pod first
				continue
			}
		}
		k.report.res.Waits = append(k.report.res.Waits, *w)
	}
}
