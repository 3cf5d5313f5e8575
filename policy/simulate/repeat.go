package simulate

import (
	"slices"

	"github.com/podfate/podfate/policy"
)

// minRepeatedStarts is how many starts a repetition must spare to be summarised: short ones read
// better written out.
const minRepeatedStarts = 64

// mark is a container as it was at an earlier instant, just after the kubelet had started
// something.
type mark struct {
	insts   [2]instance
	n       int
	c       container // without insts and mark
	sandbox int64     // the newest one then
}

// search looks for an earlier state that equals the present one: the mark is moved on at every
// power of two, so that a cycle is found within a few times its length whatever came before it
// (Brent).
type search struct {
	at          Millis
	steps, next int64 // instants since the mark, and at which one it moves
	set         bool
	events      int     // of the scenario that had happened at the mark
	pod         podMark // with the search over the whole Pod
}

// due reports whether the mark moves to this instant.
func (s *search) due() bool {
	if !s.set {
		s.next = 1
		return true
	}
	if s.steps++; s.steps < s.next {
		return false
	}
	s.next *= 2
	return true
}

func (s *search) move(at Millis) { s.at, s.steps, s.set = at, 0, true }

// podMark is what the Pod as a whole was at the mark.
type podMark struct {
	made, kept, api view
	view            statusView
	dropped, frozen bool
	sandboxReady    bool
	quiet, refused  bool
	sandbox         int64
	syncAt          Millis
	relistAt        Millis
}

func (k *kubelet) podState() podMark {
	return podMark{
		k.views.made, k.views.kept, k.views.api, k.views.view, k.views.dropped, len(k.views.frozen) > 0, k.sandboxReady, k.queue.quiet, k.queue.refused, k.sandbox, k.queue.syncAt, k.queue.relistAt,
	}
}

// summarize counts the rounds that would follow unchanged instead of playing them.
func (k *kubelet) summarize() {
	if len(k.started) == 0 || k.report.stopped || k.ending.terminated || k.waiting() || k.sc.writeOut || k.counting() {
		return
	}
	if !k.independent() {
		k.summarizeAll()
		return
	}
	for n, i := range k.started {
		if c := &k.ctrs[i]; c.startedAt(k.now) && !slices.Contains(k.started[:n], i) {
			k.summarizeOne(i)
		}
	}
}

// startedAt reports whether c was started at this instant and will not run forever; it may be over
// already.
func (c *container) startedAt(now Millis) bool {
	in := c.latest()
	return in != nil && in.started == now && (in.state == exited || in.state == running && in.exitAt != never)
}

// independent reports whether each main container and sidecar goes its own way: whatever one does,
// neither the Pod's phase nor another container is affected while one of them is restarted or runs.
func (k *kubelet) independent() bool {
	if k.rac() && k.couldRestartAll || k.whole || k.sc.Undecided != nil || k.sc.Timing.KubeletSync || k.sc.Timing.Detection > 0 {
		return false
	}
	if k.views.made.phase != policy.PodRunning || k.views.dropped || !k.sandboxReady {
		return false
	}
	sidecars := false
	for i := range k.inits {
		c := &k.ctrs[i]
		in := c.latest()
		sidecars = sidecars || c.sidecar
		if !c.sidecar && (in == nil || in.state != exited || !in.completed()) {
			return false
		}
	}
	return !sidecars || k.anchored()
}

// anchored reports whether some main container keeps a Pod with sidecars going for good. Up to 1.36
// it has to run, since a sidecar that is down holds up the main containers while none of them runs.
func (k *kubelet) anchored() bool {
	for i := range k.mains() {
		c := &k.ctrs[k.inits+i]
		in := c.latest()
		if in == nil || in.state != running && !k.wanted(c) {
			continue
		}
		if in.state == running && in.exitAt == never {
			return true
		}
		if k.f.Minor >= 37 && !k.proposed && c.run < len(c.runs) && c.runs[c.run].Times == Forever && k.restartsAfter(c, c.runs[c.run].ExitCode) {
			return true
		}
	}
	return false
}

// horizon is the instant before which nothing from outside happens.
func (k *kubelet) horizon() Millis {
	t := k.sc.Until
	if k.nextEvent < len(k.sc.Events) {
		t = min(t, k.sc.Events[k.nextEvent].At)
	}
	return min(t, k.ending.deadline, k.sandboxGone)
}

func (k *kubelet) summarizeOne(i int) {
	c := &k.ctrs[i]
	if c.ref.Kind != policy.MainContainer && !c.sidecar {
		return
	}
	m := c.mark
	if m == nil {
		m = &mark{}
		c.mark = m
	}
	if c.search.set && c.search.events == k.nextEvent {
		if shift := k.now - c.search.at; k.same(c, m, shift, true) {
			times := (k.horizon() - k.now - 1) / shift
			times = min(times, k.tapeLasts(c, m))
			if starts := c.stats.Starts - m.c.stats.Starts; times > 0 && int64(times)*starts >= minRepeatedStarts {
				r := Record{Event: Repeated, Container: i, Since: c.search.at, Every: shift, Times: int64(times)}
				r.Until = k.now + times*shift
				k.advance(c, m, int64(times), shift, 0)
				r.RestartCount = c.attempts()
				r.Starts = []Starts{{i, int64(times) * starts, r.RestartCount}}
				k.record(&r)
				k.report.rows.repeats(r.Until)
				c.search.set = false
				return
			}
		}
	} else {
		c.search.set = false
	}
	if c.search.due() {
		c.search.move(k.now)
		c.search.events = k.nextEvent
		m.take(c, k.sandbox)
	}
}

func (k *kubelet) summarizeAll() {
	s := &k.search
	if s.set && s.events == k.nextEvent {
		if shift := k.now - s.at; k.sameAll(shift) && k.skipAll(shift) {
			s.set = false
			return
		}
	} else {
		s.set = false
	}
	if s.due() {
		s.move(k.now)
		s.events = k.nextEvent
		s.pod = k.podState()
		for i := range k.ctrs {
			c := &k.ctrs[i]
			if c.mark == nil {
				c.mark = &mark{}
			}
			c.mark.take(c, k.sandbox)
			c.search.set = false // the mark is not the container's own any more
		}
	}
}

func (k *kubelet) sameAll(shift Millis) bool {
	was, is := k.search.pod, k.podState()
	if !later(was.syncAt, is.syncAt, shift) || !later(was.relistAt, is.relistAt, shift) {
		return false
	}
	was.syncAt, was.relistAt, was.sandbox = is.syncAt, is.relistAt, is.sandbox
	if was != is {
		return false
	}
	for i := range k.ctrs {
		c := &k.ctrs[i]
		if !k.same(c, c.mark, shift, c.stats.Starts != c.mark.c.stats.Starts) {
			return false
		}
	}
	return true
}

func (k *kubelet) skipAll(shift Millis) bool {
	until := k.horizon()
	starts := int64(0)
	for i := range k.ctrs {
		c := &k.ctrs[i]
		if moved := c.stats.Starts - c.mark.c.stats.Starts; moved > 0 {
			starts += moved
			continue
		}
		if in := c.latest(); in != nil && in.state == running && in.exitAt != never {
			until = min(until, in.exitAt+k.sc.Timing.Detection)
		}
		if c.backingOff {
			until = min(until, c.retryAt, c.until)
		}
	}
	times := (until - k.now - 1) / shift
	for i := range k.ctrs {
		c := &k.ctrs[i]
		if c.stats.Starts != c.mark.c.stats.Starts {
			times = min(times, k.tapeLasts(c, c.mark))
		}
	}
	if times <= 0 || int64(times)*starts < minRepeatedStarts {
		return false
	}
	r := Record{Event: Repeated, Container: none, Since: k.search.at, Every: shift, Times: int64(times)}
	r.Until = k.now + times*shift
	sandboxes := k.sandbox - k.search.pod.sandbox
	for i := range k.ctrs {
		c := &k.ctrs[i]
		moved := c.stats.Starts - c.mark.c.stats.Starts
		if moved == 0 {
			continue
		}
		k.advance(c, c.mark, int64(times), shift, int64(times)*sandboxes)
		r.Starts = append(r.Starts, Starts{i, int64(times) * moved, max(c.attempts(), c.api.restarts)})
	}
	k.record(&r)
	k.sandbox += int64(times) * sandboxes
	if k.queue.syncAt != never {
		k.queue.syncAt += times * shift
	}
	k.queue.syncedAt += times * shift
	if k.queue.relistAt >= 0 {
		k.queue.relistAt += times * shift
	}
	k.now = r.Until
	k.report.rows.repeats(r.Until)
	return true
}

func (m *mark) take(c *container, sandbox int64) {
	m.sandbox = sandbox
	m.n = copy(m.insts[:], c.insts)
	m.c = *c
	m.c.insts, m.c.mark = nil, nil
}

// later reports whether b is a moved by shift; an instant that never comes stays.
func later(a, b, shift Millis) bool {
	if a == never || b == never || a < 0 || b < 0 {
		return a == b
	}
	return b-a == shift
}

// same reports whether c is now as it was at the mark, as far as its future goes: all times moved
// by shift if it was started since, none otherwise.
func (k *kubelet) same(c *container, m *mark, shift Millis, moved bool) bool {
	was := &m.c
	if !moved {
		return m.n == len(c.insts) && equalInstances(m.insts[:m.n], c.insts) && was.api == c.api && was.entry == c.entry && was.waited == c.waited &&
			was.backingOff == c.backingOff && was.until == c.until && was.retryAt == c.retryAt
	}
	if shift%workQueueTick != 0 && k.sc.Timing.KubeletSync || was.phased != c.phased && shift%policy.SweepPeriod != 0 {
		return false // the rhythm of the kubelet itself is part of the state
	}
	if m.n != len(c.insts) || was.run != c.run || was.backingOff != c.backingOff || was.startupFailures != c.startupFailures {
		return false
	}
	for i := range c.insts {
		if !k.sameInstance(m, c, i, shift) {
			return false
		}
	}
	if m.n > 0 && was.logs-m.insts[0].attempt != c.logs-c.insts[0].attempt {
		return false
	}
	if was.entry.Exists != c.entry.Exists || was.entry.Delay != c.entry.Delay && k.waits == nil || was.waited != c.waited ||
		c.entry.Exists && !later(was.entry.Mark, c.entry.Mark, shift) {
		return false
	}
	if c.backingOff && (was.backoff != c.backoff || !later(was.until, c.until, shift) || !later(was.retryAt, c.retryAt, shift)) {
		return false
	}
	return was.api.listed == c.api.listed && was.api.started == c.api.started && was.api.ready == c.api.ready &&
		sameState(&was.api.state, &c.api.state, shift) && sameState(&was.api.last, &c.api.last, shift)
}

func equalInstances(a, b []instance) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func (k *kubelet) sameInstance(m *mark, is *container, i int, shift Millis) bool {
	a, b, was := &m.insts[i], &is.insts[i], &m.c
	return a.state == b.state && a.code == b.code && a.reason == b.reason && a.stop == b.stop && a.killCode == b.killCode &&
		a.stale == b.stale && a.resized == b.resized && a.livenessFailed == b.livenessFailed && a.startupFailed == b.startupFailed &&
		(a.sandbox == m.sandbox) == (b.sandbox == k.sandbox) &&
		(a.id == was.api.instance) == (b.id == is.api.instance) && (a.id == was.toldRefused) == (b.id == is.toldRefused) &&
		sameCounts(a.attempt, was.api.restarts, b.attempt, is.api.restarts) &&
		later(a.started, b.started, shift) && (a.state != exited || later(a.finished, b.finished, shift)) && later(a.exitAt, b.exitAt, shift) &&
		a.told == b.told && a.do == b.do && a.waits == b.waits && a.cleared == b.cleared
}

// sameCounts reports whether the counts of runtime and API relate as before: the same distance
// apart, or, where the runtime started over each time, the API's ahead both times.
func sameCounts(runtimeWas, apiWas, runtimeIs, apiIs int64) bool {
	return runtimeIs-runtimeWas == apiIs-apiWas || runtimeIs == runtimeWas && apiWas > runtimeWas && apiIs > runtimeIs
}

func sameState(a, b *state, shift Millis) bool {
	return a.kind == b.kind && a.reason == b.reason && a.message == b.message && a.code == b.code && a.delay == b.delay && a.do == b.do &&
		(a.instance == 0) == (b.instance == 0) && (a.instance == 0 || later(a.started, b.started, shift) && later(a.finished, b.finished, shift))
}

// tapeLasts returns how many more rounds the present entry of the tape feeds.
func (k *kubelet) tapeLasts(c *container, m *mark) Millis {
	if c.run >= len(c.runs) || c.runs[c.run].Times == Forever {
		return never
	}
	taken := c.used - m.c.used
	if taken <= 0 {
		return never
	}
	return Millis((c.runs[c.run].Times - 1 - c.used) / taken)
}

// advance repeats the rounds since the mark that many times more for c.
func (k *kubelet) advance(c *container, m *mark, times int64, shift Millis, sandboxes int64) {
	by := shift * Millis(times)
	c.startRecord = none
	was := &m.c
	attempts := times * (c.logs - was.logs)
	if m.n > 0 {
		attempts = times * (c.insts[0].attempt - m.insts[0].attempt)
	}
	for i := range c.insts {
		in := &c.insts[i]
		in.started += by
		in.attempt += attempts
		in.sandbox += sandboxes
		if in.state == exited {
			in.finished += by
		}
		if in.exitAt != never {
			in.exitAt += by
		}
		if in.own.at != never {
			in.own.at += by
		}
	}
	c.logs += attempts
	restarts := times * (c.api.restarts - was.api.restarts)
	c.api.restarts += restarts
	c.api.state.move(by)
	c.api.last.move(by)
	c.next = c.api
	if c.entry.Exists {
		c.entry.Mark += by
	}
	if c.retryAt != never {
		c.retryAt += by
	}
	c.until += by
	c.release += by
	c.used += times * (c.used - was.used)
	c.stats.Starts += times * (c.stats.Starts - was.stats.Starts)
	c.stats.Ran += Millis(times) * (c.stats.Ran - was.stats.Ran)
	c.stats.Failed += Millis(times) * (c.stats.Failed - was.stats.Failed)
}

func (s *state) move(by Millis) {
	if s.instance == 0 {
		return
	}
	if s.started != never {
		s.started += by
	}
	if s.finished != never {
		s.finished += by
	}
}
