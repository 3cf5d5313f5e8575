package ops

import (
	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/manifest"
	"github.com/podfate/podfate/policy/simulate"
)

// simulation is an answer under way.
type simulation struct {
	w *manifest.Writer
	l *loaded
	r *simulate.Result
	// start is when the answer's time begins, and begun when the Pod did, on the clock of the
	// simulation.
	start, begun policy.Millis
	// paths are those of the containers, in the order of the result.
	paths []paths
}

func (c *call) writeSimulation(l *loaded, cl cluster, p *past, r *simulate.Result) {
	s := simulation{w: &c.w, l: l, r: r}
	if p != nil {
		s.start, s.begun = p.now, p.Begun
	}
	if r.Created > 0 {
		s.begun = r.Created
	}
	for i := range r.Containers {
		s.paths = append(s.paths, pathsOf(&l.object, r.Containers[i].Ref))
	}
	w := &c.w
	w.Object()
	s.at("untilMillis", r.Until)
	if p != nil {
		s.writePast(p)
	}
	w.KeyArray("timeline")
	for i := range r.Timeline {
		s.record(&r.Timeline[i])
		if w.Len() > policy.MaxOutputBytes {
			return // Call reports it; there is no point in going on
		}
	}
	w.End()
	s.pod()
	s.containers()
	s.rows(r.Rows, nil)
	if c.waste {
		w.KeyObject("waste")
		s.podMillis(&r.Spent)
		w.End()
	}
	s.expected(c.expect, func(at policy.Millis) string { return phaseAt(r, p, at) })
	for i := range r.Containers {
		c.reached(r.Containers[i].Ref, r.Containers[i].Totals)
	}
	s.end(c, cl, r.Undecided, r.Assumptions)
}

// end writes what each simulation's answer ends with.
func (s *simulation) end(c *call, cl cluster, open []simulate.Undecided, assumptions []string) {
	w := s.w
	w.KeyArray("undecided")
	for _, u := range open {
		w.Object()
		s.at("atMillis", u.At)
		s.text("reason", u.Reason)
		switch {
		case u.Event >= 0:
			s.text("path", element("events", u.Event))
		case u.Path != "":
			s.text("path", u.Path)
		}
		optional(w, "limit", u.Limit)
		w.End()
	}
	w.End()
	c.writeWaits(s)
	if given(c.root.Get("decide")) {
		s.bool("imperative", true)
	}
	w.KeyArray("assumptions")
	for _, code := range assumptions {
		w.String(code)
	}
	w.End()
	c.writeDropped(s.l.dropped)
	warnings := s.l.warnings
	for _, u := range c.unreached {
		warnings = append(warnings, u.warning)
	}
	c.writeWarnings(warnings)
	c.writeCluster(cl)
	w.End()
}

//go:noinline
func (s *simulation) text(name, value string) {
	s.w.KeyString(name, value)
}

func (s *simulation) millis(name string, m policy.Millis) { s.int(name, int64(m)) }

// at writes an instant, counted from the start.
func (s *simulation) at(name string, m policy.Millis) { s.int(name, int64(m-s.start)) }

//go:noinline
func (s *simulation) int(name string, n int64) {
	s.w.KeyInt(name, n)
}

//go:noinline
func (s *simulation) bool(name string, b bool) {
	s.w.KeyBool(name, b)
}

func (s *simulation) name(container int) string {
	return s.l.object.Spec.Container(s.r.Containers[container].Ref).Name
}

func (s *simulation) record(r *simulate.Record) {
	w := s.w
	w.Object()
	s.at("atMillis", r.At)
	if r.Container >= 0 {
		s.text("container", s.name(r.Container))
	} else {
		s.text("pod", shortName(s.l))
	}
	s.details(r)
	w.End()
}

// details writes an entry from its event on.
func (s *simulation) details(r *simulate.Record) {
	w := s.w
	s.text("event", string(r.Event))
	switch {
	case r.Event == simulate.Started:
		s.int("restartCount", r.RestartCount)
	case r.Event == simulate.ExitedBy && r.Reason != "":
		s.int("exitCode", int64(r.ExitCode))
		s.text("reason", r.Reason)
		if r.Decision != nil {
			writeOutcome(w, s.paths[r.Container], *r.Decision)
		}
	case r.Event == simulate.BackOff:
		s.at("untilMillis", r.Until)
		s.millis("delayMillis", r.Delay)
	case r.Event == simulate.Killing:
		s.text("reason", r.Reason)
		s.bool("willRestart", r.WillRestart)
	case r.Event == simulate.PhaseChanged, r.Event == simulate.PhaseDecided:
		s.text("from", string(r.From))
		s.text("to", string(r.To))
		optional(w, "reason", r.Reason)
	case r.Event == simulate.Repeated:
		s.repeated(r)
	default:
		optional(w, "reason", r.Reason)
		optional(w, "ignored", r.Ignored)
	}
	if r.OfKubelet {
		s.text("view", "kubelet")
	}
	if r.Cause != nil {
		w.KeyObject("cause")
		s.text("container", s.name(r.Cause.Container))
		s.int("exitCode", int64(r.Cause.ExitCode))
		writeOutcome(w, s.paths[r.Cause.Container], r.Cause.Decision)
		w.End()
	}
}

func (s *simulation) repeated(r *simulate.Record) {
	s.at("sinceMillis", r.Since)
	s.int("times", r.Times)
	s.millis("everyMillis", r.Every)
	s.at("untilMillis", r.Until)
	s.w.KeyArray("starts")
	for _, n := range r.Starts {
		s.w.Object()
		s.text("container", s.name(n.Container))
		s.int("starts", n.Starts)
		s.int("restartCount", n.RestartCount)
		s.w.End()
	}
	s.w.End()
}

// pod writes the Pod as the API server would have it, as far as the simulation goes.
func (s *simulation) pod() {
	w, r := s.w, s.r
	w.KeyObject("pod")
	w.KeyObject("metadata")
	s.text("name", shortName(s.l))
	optional(w, "namespace", s.l.object.Namespace)
	w.End()
	s.bool("deleted", r.Deleted)
	w.KeyObject("status")
	s.text("phase", string(r.Phase))
	w.KeyArray("conditions")
	for _, c := range r.Conditions {
		w.Object()
		s.text("type", c.Type)
		status := "False"
		if c.Status {
			status = "True"
		}
		s.text("status", status)
		optional(w, "reason", c.Reason)
		optional(w, "message", c.Message)
		w.End()
	}
	w.End()
	optional(w, "message", r.Message)
	optional(w, "reason", r.Reason)
	s.text("startTime", timestamp(s.begun))
	spec := &s.l.object.Spec
	inits, mains := len(spec.InitContainers), len(spec.Containers)
	if inits > 0 {
		s.statuses("initContainerStatuses", 0, inits, false)
	}
	s.statuses("containerStatuses", inits, mains, true)
	if n := len(spec.EphemeralContainers); n > 0 {
		s.statuses("ephemeralContainerStatuses", inits+mains, n, true)
	}
	w.End()
	w.End()
}

// statuses writes those of n containers from the first on, by name if the kubelet lists them so.
func (s *simulation) statuses(list string, first, n int, byName bool) {
	s.w.KeyArray(list)
	for _, i := range policy.Order(n, func(i, j int) bool { return byName && s.name(first+i) < s.name(first+j) }) {
		if !s.r.Containers[first+i].Unlisted {
			s.status(first + i)
		}
	}
	s.w.End()
}

func (s *simulation) status(i int) {
	c := &s.r.Containers[i]
	s.w.Object()
	s.text("name", s.name(i))
	s.state("state", &c.State)
	s.state("lastState", &c.Last)
	s.bool("ready", c.Ready)
	s.int("restartCount", c.RestartCount)
	s.bool("started", c.Started)
	s.w.End()
}

func (s *simulation) state(name string, st *simulate.State) {
	w := s.w
	w.KeyObject(name)
	switch st.Kind {
	case policy.StateWaiting:
		w.KeyObject("waiting")
		optional(w, "reason", st.Reason)
		optional(w, "message", st.Message)
		w.End()
	case policy.StateRunning:
		w.KeyObject("running")
		s.text("startedAt", timestamp(st.Started))
		w.End()
	case policy.StateTerminated:
		w.KeyObject("terminated")
		s.int("exitCode", int64(st.ExitCode))
		optional(w, "reason", st.Reason)
		optional(w, "message", st.Message)
		if st.Started >= 0 {
			s.text("startedAt", timestamp(st.Started))
			s.text("finishedAt", timestamp(st.Finished))
		}
		w.End()
	}
	w.End()
}

func (s *simulation) containers() {
	w := s.w
	w.KeyArray("containers")
	for i := range s.r.Containers {
		c := &s.r.Containers[i]
		w.Object()
		s.text("container", s.name(i))
		s.int("starts", c.Totals.Starts)
		s.int("restarts", c.RestartCount)
		s.millis("ranMillis", c.Totals.Ran)
		if c.NextStart >= 0 {
			s.at("nextStartMillis", c.NextStart)
			s.millis("delayMillis", c.Delay)
		}
		w.End()
	}
	w.End()
}
