package ops

import (
	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/simulate"
)

const (
	// maxTries bounds the retries that are played: few people write a larger limit, and an answer
	// has room for them.
	maxTries = 1000
	// longestSeconds is the longest duration that the controller writes without an exponent.
	longestSeconds = 999_999
	// What is undecided: a field decides that is not played, or a limit is reached.
	notPlayed, limitReached = "not_played", "limit_exceeded"

	pathMaxDuration = ".backoff.maxDuration"
	tooLong         = "Max duration limit exceeded"
	// longestWait is the longest that a time of the controller holds, in nanoseconds.
	longestWait = 1<<63 - 1
	// forever is for how long Pods are made where nothing says so.
	forever = policy.Millis(1) << 62
)

// retriesPlay is a node of a Workflow under way: one Pod after the other.
type retriesPlay struct {
	simulation
	retries *retries
	sc      *simulate.Scenario
	open    []simulate.Undecided
	steps   int64

	due              policy.Millis // when the next Pod is made
	outcome, message string
	over             policy.Millis // when the node has ended
}

// simulateRetries plays a template of an Argo Workflow as its controller does: its Pod, and
// another one after each that fails, until one succeeds or the retryStrategy asks for no more.
//
// Source: processNodeRetries, assessNodeStatus and getExitCode in workflow/controller/operator.go,
// argo-workflows v3.6.2 and v3.7.0.
func (c *call) simulateRetries(cl *cluster) {
	c.concernsOne("podRuns", "jobRuns", "jobBackoff", "events", "from", "now", "question", "decide")
	l := c.load(cl.features)
	if c.failure != nil {
		return
	}
	c.faults.addAll(l.faults)
	if l.template != nil && l.again == nil && len(l.faults) == 0 {
		c.forbidden(c.root.Get("owner"), "owner", "of a Workflow only templates with a container or a script can be simulated: ask without owner")
	}
	l.warnings = append(ofOwner(l.warnings), c.skew(cl)...)
	w := &c.w
	p := retriesPlay{simulation: simulation{w: w, l: &l}, retries: l.again, outcome: "Running"}
	if p.sc = c.readScenario(&l, cl); c.failOnFaults() {
		return
	}
	w.Object()
	p.millis("untilMillis", p.sc.Until)
	w.KeyArray("timeline")
	w.End()
	w.KeyArray("tries")
	n := int64(0)
	for p.try(n) {
		n++
		if c.memory.Collect != nil {
			c.memory.Collect()
		}
	}
	w.End()
	if c.exceeded(p.r.Exceeded) {
		return
	}
	w.KeyObject("node")
	p.text("outcome", p.outcome)
	optional(w, "message", p.message)
	if p.outcome != "Running" {
		p.millis("atMillis", p.over)
	}
	p.int("retries", n)
	if p.retries.limited {
		p.int("limit", p.retries.limit)
	}
	w.End()
	p.containers()
	p.end(c, *cl, p.open, add(p.r.Assumptions, "retries_come_at_once"))
}

// undecide says that nothing is known from the instant at on.
func (p *retriesPlay) undecide(at policy.Millis, reason, path string) {
	p.open = append(p.open, simulate.Undecided{At: at, Reason: reason, Path: path, Event: -1})
}

// try plays Pod n, counted from 0, writes it, and reports whether there is another one.
func (p *retriesPlay) try(n int64) bool {
	sc := *p.sc
	latest := n > 0 && p.retries.total < sc.Until // the executor ends the Pod then
	if latest {
		sc.Until = p.retries.total
	}
	if sc.Until -= p.due; p.retries.unplayed != "" {
		sc.Until = 0
	}
	before := p.r
	if n > 0 {
		sc.Tapes = append([]simulate.Tape(nil), sc.Tapes...)
		for i := range sc.Tapes {
			for k := range before.Containers {
				if x := &before.Containers[k]; x.Ref == sc.Tapes[i].Container {
					sc.Tapes[i].Runs = later(sc.Tapes[i].Runs, x.Totals.Starts)
				}
			}
		}
	}
	r := simulate.Pod(&sc)
	if p.steps += r.Steps; p.steps > simulate.MaxSteps && r.Exceeded == "" {
		r.Exceeded = simulate.LimitSteps
	}
	p.r = r
	code, erred, last := int64(-1), false, policy.Millis(0)
	for i := range r.Containers {
		x := &r.Containers[i]
		if x.State.Kind == policy.StateTerminated {
			if x.Ref == (policy.Ref{}) {
				code = int64(x.State.ExitCode)
			}
			last = max(last, x.State.Finished)
			erred = erred || x.Ref.Kind == policy.InitContainer && killed(x.State.ExitCode)
		}
		if x.NextStart = -1; n > 0 {
			x.Totals.Starts += before.Containers[i].Totals.Starts
			x.Totals.Ran += before.Containers[i].Totals.Ran
			x.RestartCount += before.Containers[i].RestartCount
		}
	}
	began, end, outcome := p.due, p.due+r.Until, "Running"
	for i := range r.Timeline {
		if x := &r.Timeline[i]; x.Event == simulate.PhaseChanged && (x.To == policy.PodFailed || x.To == policy.PodSucceeded) {
			end, outcome = began+x.At, string(x.To)
		}
	}
	w := p.w
	w.Object()
	p.int("retry", n)
	p.millis("fromMillis", began)
	p.millis("untilMillis", end)
	p.text("outcome", outcome)
	again := false
	switch {
	case p.retries.unplayed != "":
		p.undecide(began, notPlayed, p.retries.unplayed)
	case len(r.Undecided) > 0:
		u := r.Undecided[0]
		p.undecide(began+u.At, u.Reason, u.Path)
	case outcome == string(policy.PodSucceeded):
		p.outcome, p.over = outcome, end
	case outcome != "Running":
		optional(w, "reason", r.Reason)
		if code >= 0 {
			p.int("exitCode", code)
		}
		again = p.failed(n, failedPod{began, min(began+last, end), end, code, erred && code < 0})
	case latest:
		p.undecide(end, notPlayed, p.retries.path+pathMaxDuration)
	}
	w.End()
	return again && r.Exceeded == "" && w.Len() < policy.MaxOutputBytes
}

// later returns what is left of runs after so many starts.
func later(runs []simulate.Run, starts int64) []simulate.Run {
	for len(runs) > 0 && runs[0].Times != simulate.Forever {
		if runs[0].Times > starts {
			left := append([]simulate.Run(nil), runs...)
			left[0].Times -= starts
			return left
		}
		starts -= runs[0].Times
		runs = runs[1:]
	}
	return runs
}

// failedPod is a Pod that has failed.
type failedPod struct {
	began, finished policy.Millis // of its containers the last
	seen            policy.Millis // by the API, and so by the controller
	code            int64         // of the main container, -1 if it never ended
	erred           bool          // see afterError
}

// failed writes what the controller makes of Pod n, and reports whether it makes another one. Times
// of Pods are whole seconds, and others are not known as durations. A look comes after what it is
// about, so one at maxDuration comes after that.
func (p *retriesPlay) failed(n int64, x failedPod) bool {
	r, seconds := p.retries, int64(-1)
	if x.erred {
		r = r.afterError()
	}
	if d := x.finished - x.began; x.began%policy.Second == 0 && d%policy.Second == 0 && d/policy.Second <= longestSeconds {
		seconds = int64(d / policy.Second)
	}
	at, path, message := x.seen, "", ""
	wait, last := r.waitAfter(n), r.limited && n >= r.limit
	switch {
	case r.why != "":
		p.undecide(at, r.why, r.whyPath)
		return false
	case r.once == r.path: // there is no strategy
		path = r.path
	case r.waits && x.seen >= r.total:
		path, message = r.path+pathMaxDuration, tooLong
	case !last && (n >= maxTries || wait < 0 && (r.limited || r.total < forever)):
		p.undecide(at, limitReached, r.path)
		return false
	case x.finished+wait > r.total:
		path, message = r.path+pathMaxDuration, "Backoff would exceed max duration limit"
	case r.limited && n < r.limit: // without a limit the controller does not wait
		if at = max(at, x.finished+wait); at == r.total {
			path, message = r.path+pathMaxDuration, tooLong
		}
	}
	if at > p.sc.Until {
		p.millis("waitsUntilMillis", at)
		return false
	}
	switch {
	case path != "":
	case r.once != "":
		path = r.once
	case r.transient:
		p.undecide(at, unknownMessage, r.path+".retryPolicy")
		return false
	case last:
		path, message = r.path+".limit", "No more retries left"
	case r.expression != "":
		says := condition{text: r.expression, code: x.code, seconds: seconds, erred: x.erred}
		switch says.judge() {
		case isFalse:
			path, message = r.path+".expression", "retryStrategy.expression evaluated to false"
		case isUnknown:
			p.undecide(at, says.why, r.path+".expression")
			return false
		}
	}
	again := path == ""
	action := ownerRetries
	if !again {
		action = ownerFails
		p.outcome, p.message, p.over = "Failed", message, at
	} else if path = r.path; r.expression != "" {
		path += ".expression"
	}
	p.text("action", action)
	p.text("path", path)
	p.millis("atMillis", at)
	p.due = at
	return again
}

// waitAfter returns how long the controller waits after Pod n has failed, below 0 for longer than
// it can count.
func (r *retries) waitAfter(n int64) policy.Millis {
	wait := r.wait // in nanoseconds
	for ; n > 0 && r.factor > 1 && wait > 0; n-- {
		if wait > longestWait/r.factor {
			return -1
		}
		wait *= r.factor
	}
	if r.capped {
		wait = max(min(wait, r.most), 0)
	}
	return policy.Millis(wait / 1e6)
}
