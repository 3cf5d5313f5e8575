package ops

import (
	"strconv"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/manifest"
	"github.com/podfate/podfate/policy/simulate"
)

// simulation is an answer under way.
type simulation struct {
	w *manifest.Writer
	l *loaded
	r *simulate.Result
	// paths are those of the containers, in the order of the result.
	paths []paths
}

func (c *call) writeSimulation(l *loaded, cl cluster, sc *simulate.Scenario, r *simulate.Result) {
	s := simulation{w: &c.w, l: l, r: r}
	for i := range r.Containers {
		s.paths = append(s.paths, pathsOf(&l.object, r.Containers[i].Ref))
	}
	w := &c.w
	w.Object()
	s.millis("untilMillis", r.Until)
	w.Key("timeline")
	w.Array()
	for i := range r.Timeline {
		s.record(&r.Timeline[i])
		if w.Len() > policy.MaxOutputBytes {
			return // Call reports it; there is no point in going on
		}
	}
	w.End()
	s.pod()
	s.containers()
	w.Key("undecided")
	w.Array()
	for _, u := range r.Undecided {
		w.Object()
		s.millis("atMillis", u.At)
		s.text("reason", u.Reason)
		switch {
		case u.Event >= 0:
			s.text("path", element("events", u.Event))
		case u.Path != "":
			s.text("path", u.Path)
		}
		w.End()
	}
	w.End()
	w.Key("assumptions")
	w.Array()
	for _, code := range r.Assumptions {
		w.String(code)
	}
	w.End()
	c.writeDropped(l.dropped)
	c.writeWarnings(l.warnings)
	c.writeCluster(cl)
	w.End()
}

//go:noinline
func (s *simulation) text(name, value string) {
	s.w.Key(name)
	s.w.String(value)
}

func (s *simulation) millis(name string, m policy.Millis) { s.int(name, int64(m)) }

//go:noinline
func (s *simulation) int(name string, n int64) {
	s.w.Key(name)
	s.w.Int(n)
}

//go:noinline
func (s *simulation) bool(name string, b bool) {
	s.w.Key(name)
	s.w.Bool(b)
}

func (s *simulation) name(container int) string {
	return s.l.object.Spec.Container(s.r.Containers[container].Ref).Name
}

func (s *simulation) record(r *simulate.Record) {
	w := s.w
	w.Object()
	s.millis("atMillis", r.At)
	if r.Container >= 0 {
		s.text("container", s.name(r.Container))
	} else {
		s.text("pod", shortName(s.l))
	}
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
		s.millis("untilMillis", r.Until)
		s.millis("delayMillis", r.Delay)
	case r.Event == simulate.Killing:
		s.text("reason", r.Reason)
		s.bool("willRestart", r.WillRestart)
	case r.Event == simulate.PhaseChanged:
		s.text("from", string(r.From))
		s.text("to", string(r.To))
		optional(w, "reason", r.Reason)
	case r.Event == simulate.Repeated:
		s.repeated(r)
	default:
		optional(w, "reason", r.Reason)
		optional(w, "ignored", r.Ignored)
	}
	w.End()
}

func (s *simulation) repeated(r *simulate.Record) {
	s.millis("sinceMillis", r.Since)
	s.int("times", r.Times)
	s.millis("everyMillis", r.Every)
	s.millis("untilMillis", r.Until)
	s.w.Key("starts")
	s.w.Array()
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
	w.Key("pod")
	w.Object()
	w.Key("metadata")
	w.Object()
	s.text("name", shortName(s.l))
	optional(w, "namespace", s.l.object.Namespace)
	w.End()
	s.bool("deleted", r.Deleted)
	w.Key("status")
	w.Object()
	s.text("phase", string(r.Phase))
	w.Key("conditions")
	w.Array()
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
	s.text("startTime", timestamp(0))
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
	s.w.Key(list)
	s.w.Array()
	for _, i := range policy.Order(n, func(i, j int) bool { return byName && s.name(first+i) < s.name(first+j) }) {
		s.status(first + i)
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
	w.Key(name)
	w.Object()
	switch st.Kind {
	case policy.StateWaiting:
		w.Key("waiting")
		w.Object()
		optional(w, "reason", st.Reason)
		optional(w, "message", st.Message)
		w.End()
	case policy.StateRunning:
		w.Key("running")
		w.Object()
		s.text("startedAt", timestamp(st.Started))
		w.End()
	case policy.StateTerminated:
		w.Key("terminated")
		w.Object()
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
	w.Key("containers")
	w.Array()
	for i := range s.r.Containers {
		c := &s.r.Containers[i]
		w.Object()
		s.text("container", s.name(i))
		s.int("starts", c.Totals.Starts)
		s.int("restarts", c.RestartCount)
		s.millis("ranMillis", c.Totals.Ran)
		if c.NextStart >= 0 {
			s.millis("nextStartMillis", c.NextStart)
			s.millis("delayMillis", c.Delay)
		}
		w.End()
	}
	w.End()
}

// timestamp writes an instant as Kubernetes prints times, to the second below. The clock of a simulation begins with
// the year 1970.
func timestamp(m policy.Millis) string {
	seconds := int64(m) / 1000
	days, rest := seconds/86400, seconds%86400
	// From the first of March of the year 0 on, leap days come last in a year: Howard Hinnant, days_from_civil.
	days += 719468
	era, day := days/146097, days%146097
	year := (day - day/1460 + day/36524 - day/146096) / 365
	day -= 365*year + year/4 - year/100
	month := (5*day + 2) / 153
	day -= (153*month + 2) / 5
	year += era * 400
	if month += 3; month > 12 {
		month, year = month-12, year+1
	}
	b := make([]byte, 0, 20)
	b = append(padded(b, year, 4), '-')
	b = append(padded(b, month, 2), '-')
	b = append(padded(b, day+1, 2), 'T')
	b = append(padded(b, rest/3600, 2), ':')
	b = append(padded(b, rest/60%60, 2), ':')
	return string(append(padded(b, rest%60, 2), 'Z'))
}

func padded(b []byte, n int64, digits int) []byte {
	s := strconv.FormatInt(n, 10)
	for i := len(s); i < digits; i++ {
		b = append(b, '0')
	}
	return append(b, s...)
}
