package simulate

import "github.com/podfate/podfate/policy"

// never is an instant that does not come.
const never Millis = 1 << 62

// instanceState is what the kubelet knows of an instance. Created containers, which a runtime
// failed to start, are not modelled.
type instanceState uint8

const (
	running instanceState = iota
	exited
	unknown
)

// instance is one container of the runtime.
type instance struct {
	id                int64 // in order of creation, from 1
	attempt           int64 // the restart count that it was created with
	sandbox           int64
	state             instanceState
	started, finished Millis
	exitAt            Millis // when the process will end, as far as is known now
	code              int32  // of that end
	reason            string
	own               end   // how it ends if nobody stops it
	gone              bool  // at exitAt the runtime knows nothing of it any more
	killedIn          int64 // the sync that killed it, 0 for none
	killCode          int32 // what it ends with when a failed probe or a change has it killed
	stale             bool  // its image is not the one of the Pod any more
	resized           bool  // its resources need a restart
	livenessFailed    bool
	startupFailed     bool
	stop              *Stop  // what it does when it is stopped, nil for an end at once
	stopping          bool   // the kubelet waits for its end, which is at exitAt
	signalled         Millis // when it gets SIGTERM, never before that is known
	told              bool   // exitAt, code and reason are what SIGTERM leads to

	// Of an exited one in a Pod with words of proposals; see [kubelet.decide].
	do      policy.Action
	waits   bool // a start of the whole Pod waits for the back-off
	cleared bool // and has done so
}

// end is when and how a process ends.
type end struct {
	at     Millis
	code   int32
	reason string
}

// state is one of the states in a container's status.
type state struct {
	kind              policy.StateKind
	reason            string
	message           string
	code              int32
	started, finished Millis // never: not set
	delay             Millis // of a CrashLoopBackOff, for its message
	do                policy.Action
	instance          int64
}

// status is a container's status in the API.
type status struct {
	listed      bool
	state, last state
	restarts    int64
	instance    int64
	started     bool
	ready       bool
}

// container is one container of the Pod: what the runtime has of it, what the API shows, what the
// kubelet remembers.
type container struct {
	ref     policy.Ref
	spec    *policy.Container
	sidecar bool

	insts  []instance // newest first, at most two
	logs   int64      // one more than the highest log file
	api    status     // as the kubelet keeps it, and the API shows it unless the API server refuses it
	next   status     // as it was worked out last; api once that is kept
	purged purged
	died   death
	share  policy.PhaseShare
	dirty  bool // the status is not known to be up to date
	values int  // of all rules, the cost of asking them

	entry       policy.BackoffEntry
	waited      [policy.EndClasses]int // with [Kubelet.Waits]: which wait of its series is next, by counter
	backingOff  bool                   // the kubelet remembers a refused start
	backoff     Millis                 // as its message says
	until       Millis                 // when the wait ends
	release     Millis                 // when it ends or the back-off is forgotten, whichever is earlier
	retryAt     Millis                 // when the refused start is tried again under ideal timing
	cause       *Cause                 // of the next start, as far as the last exit led to it
	toldRefused int64                  // the exited instance whose refusal is in the timeline
	renewed     bool                   // the next start waits for nothing
	retried     int64                  // the exited instance that an event lets be followed by the next one at once

	tape
	shared *tape // instead of the own one: with the other Pods of a Job

	startupFailures int // events of this kind that are still to come

	// What the last exit code leads to; asked at every sync.
	asked struct {
		valid    bool
		code     int32
		restarts bool
		trigger  bool // a RestartAllContainers rule matches first
	}

	// Of a container with a past.
	waits    Wait
	finished Millis // its last end, 0 while it runs

	stats       Totals
	startRecord int // entry of the timeline whose restart count the next status tells, below 0 for none
	// For the search for repetition.
	mark   *mark
	search search
	phased int64 // decisions that depended on when the kubelet sweeps
}

// purged is what a sync still knows of the instances that it has removed.
type purged struct {
	sync     int64
	attempts int64 // one more than the newest had
	ended    bool  // last is the newest that had ended before that sync
	last     instance
}

// death is what the kubelet is still to do about the last end of a container.
type death struct {
	dirty    bool // an older dead instance may have to go
	stopping bool // the Pod was being ended
}

// latest returns the newest instance, nil if the runtime has none.
func (c *container) latest() *instance {
	if len(c.insts) == 0 {
		return nil
	}
	return &c.insts[0]
}

// attempts returns the restart count of the newest instance, also after it was removed.
func (c *container) attempts() int64 {
	if in := c.latest(); in != nil {
		return in.attempt
	}
	return max(c.logs-1, 0)
}

// lastExited returns the newest exited instance as the runtime showed it when the sync began.
func (c *container) lastExited(sync int64) *instance {
	if c.purged.sync == sync && c.purged.ended {
		return &c.purged.last
	}
	for i := range c.insts {
		if in := &c.insts[i]; in.state == exited && in.killedIn != sync {
			return in
		}
	}
	return nil
}

// push makes in the newest instance; more than two are not kept.
func (c *container) push(in instance) {
	if len(c.insts) < 2 {
		c.insts = append(c.insts, instance{})
	}
	copy(c.insts[1:], c.insts)
	c.insts[0] = in
}

// tape is how far the starts of a container have come on a [Tape].
type tape struct {
	runs []Run
	run  int   // the entry that the next start takes
	used int64 // how many starts took it
}

// next takes the next run from the tape; ok is false when the container runs on.
func (t *tape) next() (r Run, ok bool) {
	if t.run >= len(t.runs) {
		return Run{}, false
	}
	r = t.runs[t.run]
	if r.Times == Forever {
		return r, true
	}
	if t.used++; t.used >= r.Times {
		t.run, t.used = t.run+1, 0
	}
	return r, true
}

// ask works out what restartsAfter and triggers answer, for the newest exit code, which rarely
// changes.
func (k *kubelet) ask(c *container, code int32) {
	if c.asked.valid && c.asked.code == code {
		return
	}
	c.asked.valid, c.asked.code = true, code
	c.asked.restarts = k.spec.RestartsAfter(c.ref, code, k.f)
	c.asked.trigger = false
	if i := c.spec.FirstMatch(code); i >= 0 {
		c.asked.trigger = c.spec.RestartPolicyRules[i].Action == policy.ActionRestartAllContainers
	}
	k.report.steps += int64(c.values)
}

func (k *kubelet) restartsAfter(c *container, code int32) bool {
	k.ask(c, code)
	return c.asked.restarts
}

func (k *kubelet) triggers(c *container, code int32) bool {
	if !k.couldRestartAll {
		return false
	}
	k.ask(c, code)
	return c.asked.trigger
}

// wanted is the decision about one container from the live runtime.
//
// Source: ShouldContainerBeRestarted in pkg/kubelet/container/helpers.go, Kubernetes v1.33 to
// v1.37.
func (k *kubelet) wanted(c *container) bool {
	if k.ending.deleted {
		return false
	}
	in := c.latest()
	switch {
	case in == nil, c.renewed && in.state != running:
		return true
	case in.state == running:
		return false
	case in.state == unknown:
		return true
	}
	return k.startsAgain(c, in)
}

// policyAllowsRestart is the question asked where no exit code is known: rules do not count.
func (k *kubelet) policyAllowsRestart(c *container) bool {
	if own := c.spec.RestartPolicy; own != nil && k.f.ContainerRestartRules {
		return *own != policy.RestartPolicyNever
	}
	return k.spec.RestartPolicy != policy.RestartPolicyNever
}
