package ops

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/lint"
	"github.com/podfate/podfate/policy/manifest"
	"github.com/podfate/podfate/policy/simulate"
)

// simulate answers what becomes of the Pod over time.
func (c *call) simulate() {
	c.requestMembers(simulateMembers...)
	cl := c.readCluster()
	c.reasons = cl.features.Proposals.Has(policy.KEP3329Draft)
	if c.playsOwner(&cl) {
		return
	}
	if v := c.root.Get("jobRuns"); given(v) {
		c.forbidden(v, "jobRuns", "concerns the Jobs of a JobSet: it counts with owner: true")
	}
	l := c.load(cl.features)
	if c.failure != nil {
		return
	}
	c.passOverUnknown(&l)
	c.faults.addAll(l.faults)
	l.warnings = append(l.warnings, c.skew(&cl)...)
	if given(c.root.Get("decide")) {
		list := []loaded{l}
		c.readCallback(list, &cl)
		l = list[0]
	}
	c.readQuestion("runs", "events", "until", "timing", "expect")
	p := c.readPast(&l)
	if p != nil {
		p.minor = cl.features.Minor
	}
	sc := c.readScenario(&l, &cl)
	podRuns := c.readPodRuns(c.root.Get("podRuns"), &l)
	if p != nil || len(podRuns) > 0 {
		c.unreached = nil // the init container may have ended before, or has runs in some Pods
	}
	c.readJobBackoff(&l)
	if v := c.root.Get("backoff"); p != nil && given(v) {
		c.forbidden(v, "backoff", "a live Pod keeps the wait that its kubelet has begun; to set waits, ask with from: creation")
	}
	if p != nil && sc.Until > endOfTime-p.now {
		c.fault(c.root.Get("until"), "until", policy.CodeOutOfRange, "must not lead beyond the year 9999, from "+timestamp(min(p.now, endOfTime)))
	}
	if c.failOnFaults() {
		return
	}
	l.warnings = append(l.warnings, c.strangeCodes(l)...)
	if p != nil {
		p.goOn(sc)
		sc.Past, sc.Start = p.Past, p.now
		sc.Until += p.now
		for i := range sc.Events {
			sc.Events[i].At += p.now
		}
	}
	if l.object.Job != nil {
		c.simulateJob(&l, cl, sc, podRuns)
		return
	}
	result := simulate.Pod(sc)
	if !c.exceeded(result.Exceeded) {
		c.writeSimulation(&l, cl, p, result)
	}
}

// exceeded reports whether a limit has ended the simulation.
func (c *call) exceeded(limit string) bool {
	const hint = "; ask for less time, or let runs repeat forever so that they can be summarised"
	code, text := policy.LimitExceeded, limit+": more than "
	switch limit {
	case "":
		return false
	case simulate.LimitSteps:
		code, text = policy.BudgetExceeded, "this simulation takes more than "+strconv.Itoa(simulate.MaxSteps)+" steps"+hint
	case simulate.LimitTimeline:
		text += strconv.Itoa(simulate.MaxRecords) + " entries" + hint
	case simulate.LimitJobPods:
		text += strconv.Itoa(simulate.MaxJobPods) + " Pods"
	case simulate.LimitJobContainers:
		text += strconv.Itoa(simulate.MaxJobContainers) + " containers, or a tenth of them at once"
	case "outputBytes":
		text += strconv.Itoa(policy.MaxOutputBytes) + " bytes of answer about one instant"
	default:
		text += strconv.Itoa(simulate.MaxActivePods) + " Pods at once"
	}
	c.failWith(code, text)
	c.failure.limit = limit
	return true
}

func (c *call) readScenario(l *loaded, cl *cluster) *simulate.Scenario {
	spec := &l.object.Spec
	sc := &simulate.Scenario{
		Spec: spec, Name: c.podName(l),
		Kubelet: c.simulated(cl.node(), l), Server: cl.features,
	}
	sc.ShowRows = c.readShow(showWaste)
	c.member("until", func(v manifest.Value) { sc.Until = c.length(v, "until", 1800*policy.Second, 1) })
	c.member("timing", func(v manifest.Value) { sc.Timing = c.readTiming(v) })
	c.member("runs", func(v manifest.Value) {
		sc.Tapes = c.readTapes(v, "runs", l)
		c.readUnreached(v, sc.Tapes, spec)
	})
	if c.choice(c.root.Get("runsFrom"), "runsFrom", "runs", "command") == "command" && l.readable {
		sc.Tapes, c.unreached = c.readCommands(sc.Tapes, l), nil
	}
	c.member("events", func(v manifest.Value) { sc.Events = c.readEvents(v, l, cl) })
	c.readExpected(l, sc.Until)
	sc.Assume = append(sc.Assume, cl.readings(&l.object)...)
	if c.old != "" {
		sc.Assume = append(sc.Assume, c.old)
	}
	if n := len(sc.Events); n > 0 && sc.Events[n-1].At > sc.Until {
		sc.Assume = append(sc.Assume, "later_events_left_out")
	}
	if _, _, needs := spec.NeedsRestartAll(); needs && cl.features.NodeDeclaredFeatures && !cl.node().features.RestartAllContainersOnContainerExits {
		sc.Assume = append(sc.Assume, "on_this_node_whatever_it_lacks")
	}
	for _, w := range l.warnings {
		if node := cl.node(); w.Code == policy.CodeUnsupported && !node.named {
			sc.Undecided = func(r policy.Ref, e policy.Exit) (string, string) {
				_, trace := policy.Trace(spec, node.features, r, e)
				return undecided(node, pathsOf(&l.object, r), trace)
			}
		}
	}
	return sc
}

// simulated is the kubelet of cl, a node, with the waits that the request sets in place of its own.
func (c *call) simulated(cl *cluster, l *loaded) simulate.Kubelet {
	k := simulate.Kubelet{Features: cl.features, Backoff: cl.kubelet.Backoff(cl.features)}
	if c.badWaits {
		return k
	}
	before := c.faults.n
	k.Waits = c.readWaits(k.Backoff, func(name string) (policy.Ref, bool) {
		r, ok := l.object.Spec.Find(name)
		return r, ok || !l.readable
	})
	c.badWaits = c.faults.n != before
	if k.Waits != nil {
		k.Backoff.Reset = k.Waits.Reset
	}
	if c.waits == nil {
		c.waits = k.Waits
	}
	asked := k.Waits
	if k.Waits = l.object.Spec.Paced(asked, k.Backoff, cl.features.Proposals); asked != nil && k.Waits != asked {
		c.old = oldWaits
	}
	return k
}

// podName is how the kubelet prints the Pod.
func (c *call) podName(l *loaded) string {
	namespace := l.object.Namespace
	if namespace == "" {
		namespace = "default"
	}
	uid := c.man.Get("metadata").Get("uid")
	return shortName(l) + "_" + namespace + "(" + uid.Str() + ")"
}

// shortName is the name of the Pod, or of the first that the object makes.
func shortName(l *loaded) string {
	if name := l.object.PodName(); name != "" {
		return name
	}
	return "pod"
}

func (c *call) readTiming(v manifest.Value) (t simulate.Timing) {
	if !v.Exists() || v.Kind() == manifest.Null {
		return t
	}
	c.members(v, "timing", "detection", "firstRestart", "sync", "jitter", "jitterMillis")
	t.Detection = c.length(v.Get("detection"), "timing.detection", 0, 0)
	if most := 600 * policy.Second; t.Detection > most {
		c.fault(v.Get("detection"), "timing.detection", policy.CodeOutOfRange, "must be at most 10m")
	}
	t.FirstRestart = simulate.FirstRestart(c.choice(v.Get("firstRestart"), "timing.firstRestart", "kubelet", "documented"))
	before := c.faults.n
	t.KubeletSync = c.choice(v.Get("sync"), "timing.sync", "ideal", "kubelet") == "kubelet"
	j := v.Get("jitter")
	if j.Kind() == manifest.Number {
		c.fault(j, "timing.jitter", policy.CodeWrongType, "must be none, mean or full; a number of milliseconds is given as jitterMillis")
	} else {
		t.Jitter = simulate.Jitter(c.choice(j, "timing.jitter", "none", "mean", "full"))
	}
	if j.Kind() == manifest.String && !t.KubeletSync && c.faults.n == before {
		c.forbidden(j, "timing.jitter", "counts only with sync: kubelet")
	}
	c.readJitterMillis(v, &t)
	return t
}

// readJitterMillis reads the jitter as a number, in place of one of the words.
func (c *call) readJitterMillis(timing manifest.Value, t *simulate.Timing) {
	const path = "timing.jitterMillis"
	v := timing.Get("jitterMillis")
	n, ok := c.integer(v, path, 0, int64(simulate.MaxJitter))
	switch {
	case !ok:
	case given(timing.Get("jitter")):
		c.forbidden(v, path, "the jitter is already given as a word")
	case !t.KubeletSync:
		c.forbidden(v, path, "counts only with sync: kubelet")
	default:
		t.Jitter, t.JitterMillis = simulate.JitterMillis, policy.Millis(n)
	}
}

// choice reads one of some words; the first is the default.
func (c *call) choice(v manifest.Value, path string, words ...string) string {
	s, ok := c.text(v, path)
	if !ok {
		return words[0]
	}
	if !contains(words, s) {
		f := policy.FieldError{Path: path, Code: policy.CodeUnsupported, Detail: strconv.Quote(cut(s)) + " is not known", Allowed: words}
		policy.Proposals(0).Complete(&f, path[strings.LastIndexByte(path, '.')+1:], s)
		if f.Proposal != "" {
			f.Detail += " here, but in manifests"
		}
		c.requestFault(v, f)
		return words[0]
	}
	return s
}

// readTapes reads the member runs: a list of runs for each container name.
func (c *call) readTapes(v manifest.Value, at string, l *loaded) (tapes []simulate.Tape) {
	if !v.Exists() || v.Kind() == manifest.Null {
		return nil
	}
	if v.Kind() != manifest.Object {
		c.wrongType(v, at, "an object with a list of runs for each container")
		return nil
	}
	for m := v.First(); m.Exists(); m = m.Next() {
		path := child(at, m.Key())
		if m.Kind() != manifest.Array {
			c.wrongType(m, path, "an array of runs")
			continue
		}
		if c.runs += m.Len(); c.runs > simulate.MaxRuns {
			c.limitAt(m, path, "runs", c.runs, simulate.MaxRuns)
			return nil
		}
		ref, found := l.object.Spec.Find(m.Key())
		if m.Key() == "" && len(l.object.Spec.Containers) == 1 {
			found = true // a Pod with one container, which need not be named
		}
		tape := simulate.Tape{Container: ref, Runs: c.readRuns(m, path, found && !l.object.Spec.Container(ref).HasPreStop)}
		if !l.readable {
			continue
		}
		if !found {
			c.requestFaultAt(m.KeyOffset(), policy.FieldError{
				Path: strings.TrimSuffix(path, "."), Code: policy.CodeUnknownContainer, // of the key ""
				Detail: c.noContainer(m.Key()), Allowed: c.containerNames(&l.object.Spec),
			})
			continue
		}
		tapes = append(tapes, tape)
	}
	return tapes
}

// unreached is the warning about runs that no start may ever take, the container that they are of,
// and the one that it comes after.
type unreached struct {
	of, after policy.Ref
	warning   located
}

// readUnreached notes the runs of containers that come after the first init container without any:
// such a container does not end by itself, and none after it starts.
func (c *call) readUnreached(runs manifest.Value, tapes []simulate.Tape, spec *policy.PodSpec) {
	c.unreached = nil
	if len(tapes) == 0 || len(tapes) != runs.Len() {
		return // of a request with faults
	}
	has := make([]bool, len(spec.InitContainers))
	for _, t := range tapes {
		if t.Container.Kind == policy.InitContainer && len(t.Runs) > 0 {
			has[t.Container.Index] = true
		}
	}
	first := 0
	for first < len(has) && (has[first] || spec.InitContainers[first].IsSidecar(policy.InitContainer)) {
		first++
	}
	if first == len(has) {
		return
	}
	name := spec.InitContainers[first].Name
	m := runs.First()
	for _, t := range tapes {
		if len(t.Runs) > 0 && (t.Container.Kind != policy.InitContainer || t.Container.Index > first) && len(c.unreached) < policy.MaxFaults {
			c.unreached = append(c.unreached, unreached{t.Container, policy.Ref{Kind: policy.InitContainer, Index: first}, c.asked(located{policy.FieldError{
				Path: child("runs", m.Key()), Code: lint.RunsNeverReached,
				Detail: "never starts: the init container " + name + " comes first and has no runs, so it does not end by itself; give it one, such as " + name + ": 0@5s",
				Source: "https://kubernetes.io/docs/concepts/workloads/pods/init-containers/",
			}, m.KeyOffset(), policy.EventInvalid})})
		}
		m = m.Next()
	}
}

// reached drops the warnings that what became of a container shows to be wrong: it has started
// after all, or the one that it comes after has not.
func (c *call) reached(r policy.Ref, t simulate.Totals) {
	c.unreached = slices.DeleteFunc(c.unreached, func(u unreached) bool {
		return u.of == r && t.Starts > 0 || u.after == r && t.Starts == 0
	})
}

// readRuns reads the runs of one container; hookless reports that it has no preStop hook.
func (c *call) readRuns(v manifest.Value, path string, hookless bool) []simulate.Run {
	runs := make([]simulate.Run, 0, v.Len())
	i, forever := 0, false
	for e := v.First(); e.Exists(); e = e.Next() {
		at := element(path, i)
		i++
		c.members(e, at, "for", "exitCode", "reason", "times", "stop")
		if e.Kind() != manifest.Object {
			continue
		}
		if forever {
			c.fault(e, at, policy.CodeForbidden, "is never taken: the run before repeats forever")
			return runs
		}
		run := simulate.Run{Times: c.readTimes(e.Get("times"), at+".times")}
		forever = run.Times == simulate.Forever
		run.Stop = c.readStop(e.Get("stop"), at+".stop", hookless)
		if !given(e.Get("for")) && !given(e.Get("exitCode")) && given(e.Get("stop")) {
			run.For = simulate.NoEnd
		} else {
			run.For = c.runLength(e, at, "run")
			run.ExitCode = c.readExitCode(e, at)
		}
		run.Reason, _ = c.text(e.Get("reason"), at+".reason")
		runs = append(runs, run)
	}
	return runs
}

// readStop reads what a container does when it is stopped, nil if nothing is said about it.
func (c *call) readStop(v manifest.Value, path string, hookless bool) *simulate.Stop {
	if !given(v) {
		return nil
	}
	c.members(v, path, "preStop", "for", "exitCode")
	if v.Kind() != manifest.Object {
		return nil
	}
	hook := v.Get("preStop")
	if given(hook) && hookless {
		c.fault(hook, path+".preStop", policy.CodeInvalid, "the container has no lifecycle.preStop")
	}
	return &simulate.Stop{
		PreStop: c.length(hook, path+".preStop", 0, 0), For: c.runLength(v, path, "go on"), ExitCode: c.readExitCode(v, path),
	}
}

// given reports whether a member is there and not null.
func given(v manifest.Value) bool { return v.Exists() && v.Kind() != manifest.Null }

// runLength reads the member for of v, which is required.
func (c *call) runLength(v manifest.Value, path, does string) policy.Millis {
	d := v.Get("for")
	if !given(d) {
		c.fault(v, path+".for", policy.CodeRequired, "how long does it "+does+`? such as "10s"`)
		return 0
	}
	return c.length(d, path+".for", 0, 0)
}

// readTimes reads how often a run is taken: a number, or the word forever; once if absent.
func (c *call) readTimes(v manifest.Value, path string) int64 {
	if !v.Exists() || v.Kind() == manifest.Null {
		return 1
	}
	if v.Kind() == manifest.String && v.Str() == "forever" {
		return simulate.Forever
	}
	n, ok := v.Int64()
	switch {
	case v.Kind() != manifest.Number || !ok:
		c.wrongTypeOf(v, path, "a whole number or the word forever")
	case n < 1 || n > simulate.MaxTimes:
		c.fault(v, path, policy.CodeOutOfRange, "must be between 1 and "+strconv.Itoa(simulate.MaxTimes)+", or the word forever, found "+cut(string(v.Raw())))
	default:
		return n
	}
	return 1
}

func (c *call) readEvents(v manifest.Value, l *loaded, cl *cluster) []simulate.Event {
	switch {
	case !v.Exists() || v.Kind() == manifest.Null:
		return nil
	case v.Kind() != manifest.Array:
		c.wrongType(v, "events", "an array")
		return nil
	case v.Len() > simulate.MaxEvents:
		c.limitAt(v, "events", "events", v.Len(), simulate.MaxEvents)
		return nil
	}
	events := make([]simulate.Event, 0, v.Len())
	i := 0
	var last policy.Millis
	for e := v.First(); e.Exists(); e = e.Next() {
		path := element("events", i)
		i++
		c.members(e, path, "at", "type", "container", "pod", "exitCode", "reason", "gracePeriodSeconds", "after", "cluster")
		if e.Kind() != manifest.Object {
			continue
		}
		event := c.readEvent(e, path, last, l, cl)
		event.Index = i - 1
		if event.At < last {
			c.fault(e.Get("at"), path+".at", policy.CodeOutOfRange, "times must not go back: the event before is at "+millisText(last))
		}
		last = max(last, event.At)
		events = append(events, event)
	}
	return events
}

// readEvent reads one event; last is when the one before happens, and stands in for an instant that
// cannot be read.
func (c *call) readEvent(v manifest.Value, path string, last policy.Millis, l *loaded, cl *cluster) (e simulate.Event) {
	e.At = last
	if at := v.Get("at"); !at.Exists() || at.Kind() == manifest.Null {
		c.fault(v, path+".at", policy.CodeRequired, `when does it happen? such as "5m"`)
	} else {
		e.At = c.length(at, path+".at", last, 0)
	}
	if e.Type = c.readEventType(v, path); e.Type == 0 {
		return e
	}
	c.readEventPod(v, path, &e, l)
	if e.Type.OfContainer() && l.readable {
		e.Container = c.findContainer(v, path+".container", &l.object.Spec)
		c.checkEventContainer(v, path, &e, l)
	} else if name := v.Get("container"); name.Exists() && !e.Type.Outside() && l.readable {
		c.forbidden(name, path+".container", "concerns the whole Pod")
	} else if name.Exists() {
		c.text(name, path+".container")
	}
	c.readEventExit(v, path, &e, l.readable && l.object.Spec.Windows)
	if grace := v.Get("gracePeriodSeconds"); given(grace) {
		n, ok := grace.Int64()
		at := path + ".gracePeriodSeconds"
		switch e.Type {
		case simulate.EventDeleted, simulate.EventEvicted, simulate.EventNodeShutdown, simulate.EventDrained, simulate.EventRecreated:
			switch {
			case grace.Kind() != manifest.Number || !ok:
				c.wrongTypeOf(grace, at, "a whole number of seconds")
			case n < 0 || n > math.MaxInt32:
				c.fault(grace, at, policy.CodeOutOfRange, "must be between 0 and 2147483647")
			default:
				e.Grace, e.Forced = policy.Millis(max(n, 1))*policy.Second, n == 0 // never less, says the kubelet
			}
		default:
			c.forbidden(grace, at, "counts only for Deleted, Evicted, Drained, NodeShutdown and Recreated")
		}
	}
	if after := v.Get("after"); e.Type == simulate.EventRecreated {
		e.After = c.length(after, path+".after", 0, 0)
		if l.object.Job != nil {
			c.fault(v.Get("type"), path+".type", policy.CodeForbidden, "a Job replaces its Pods itself: Deleted is enough")
		}
	} else if given(after) {
		c.forbidden(after, path+".after", "counts only for Recreated")
	}
	if other := v.Get("cluster"); given(other) {
		if e.Type == simulate.EventKubeletRestarted || e.Type == simulate.EventNodeRebooted {
			to := c.readOther(other, path+".cluster", cl.node())
			cl.node().otherGates = to.otherGates
			kubelet := c.simulated(&to, l)
			e.Kubelet = &kubelet
		} else {
			c.forbidden(other, path+".cluster", "only a restarted kubelet can have another version")
		}
	}
	return e
}

func (c *call) forbidden(v manifest.Value, path, detail string) {
	c.fault(v, path, policy.CodeForbidden, detail)
}

// fault notes a fault outside the manifest that has nothing but a sentence. It is not inlined: its
// calls are many, and the module is small.
//
//go:noinline
func (c *call) fault(v manifest.Value, path string, code policy.FaultCode, detail string) {
	c.requestFault(v, policy.FieldError{Path: path, Code: code, Detail: detail})
}

// readEventType reads what happens, 0 if it cannot be read.
func (c *call) readEventType(v manifest.Value, path string) simulate.EventType {
	path += ".type"
	at := v.Get("type")
	s, ok := c.text(at, path)
	t := simulate.ParseEventType(s)
	f := policy.FieldError{Path: path, Allowed: simulate.EventTypes()}
	switch {
	case ok && t == 0:
		f.Code, f.Detail = policy.CodeUnsupported, strconv.Quote(cut(s))+" is not an event"
	case !given(at):
		at, f.Code, f.Detail = v, policy.CodeRequired, "what happens?"
	default:
		return t
	}
	c.requestFault(at, f)
	return 0
}

// checkEventContainer checks that the event can happen to the container that it names.
func (c *call) checkEventContainer(v manifest.Value, path string, e *simulate.Event, l *loaded) {
	if e.Container.Index >= len(l.object.Spec.List(e.Container.Kind)) {
		return // no such container, which is a fault already
	}
	container := l.object.Spec.Container(e.Container)
	at := v.Get("container")
	if !at.Exists() {
		at = v
	}
	missing := func(probe string) {
		c.fault(at, path+".container", policy.CodeInvalid, "the container has no "+probe)
	}
	switch {
	case e.Type == simulate.EventLivenessFailed && !container.HasLivenessProbe:
		missing("livenessProbe")
	case e.Type == simulate.EventStartupFailed && !container.HasStartupProbe:
		missing("startupProbe")
	case e.Type == simulate.EventResized && e.Container.Kind != policy.MainContainer && !container.IsSidecar(e.Container.Kind):
		e.Outside = true // a resize of a running init container depends on gates that are not modelled
	}
}

// readEventExit reads how containers end that the event ends or has killed. Windows kills no
// process for lack of memory: its allocations fail, and it ends as one with a bug does.
//
// Source: microsoft/hcsshim#2083 and moby/moby#39611; KEP-3329, its survey of failures.
func (c *call) readEventExit(v manifest.Value, path string, e *simulate.Event, windows bool) {
	e.ExitCode = simulate.KilledExitCode
	switch {
	case e.Type == simulate.EventNodeRebooted:
		e.ExitCode = 255
	case e.Type == simulate.EventOOMKilled && windows:
		e.ExitCode = 1
	case e.Type == simulate.EventOOMKilled:
		e.Reason = oomKilled
	}
	code, reason := v.Get("exitCode"), v.Get("reason")
	given := code.Exists() && code.Kind() != manifest.Null
	switch {
	case e.Type == simulate.EventExited || given && !e.Type.EndsNothing():
		e.ExitCode = c.readExitCode(v, path)
	case given:
		c.forbidden(code, path+".exitCode", "nothing exits")
	}
	if s, ok := c.text(reason, path+".reason"); ok {
		switch {
		case e.Type == simulate.EventExited || e.Type == simulate.EventDeleted && c.reasons:
			e.Reason = s
		case e.Type == simulate.EventDeleted:
			c.requestFault(reason, policy.FieldError{Path: path + ".reason", Code: policy.CodeForbidden, Detail: "no release has reasons of deletions", Proposal: policy.KEP3329Draft.Name()})
		default:
			c.forbidden(reason, path+".reason", "is that of the event")
		}
	}
}
