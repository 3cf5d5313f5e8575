package ops

import (
	"math"
	"strconv"
	"strings"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/manifest"
	"github.com/podfate/podfate/policy/simulate"
)

// past reads the status of a Pod as the cluster shows it.
type past struct {
	*simulate.Past
	now      policy.Millis
	nowGiven bool
	newest   policy.Millis      // time in the status, 0 if there is none
	printed  *policy.PrintedPod // what kubectl prints of it
	minor    int                // of the API server, which makes the row
}

// readPast reads what a simulation begins with: nil for a Pod that is created now.
func (c *call) readPast(l *loaded) *past {
	status := c.man.Get("status")
	asked := c.root.Get("from")
	from := c.choice(asked, "from", "creation", "status")
	live := l.readable && l.object.Kind == "Pod" && (given(status.Get("phase")) || given(status.Get("containerStatuses")))
	if from == "status" && l.readable && !live {
		c.fault(asked, "from", policy.CodeInvalid, "the manifest has no status; one with it comes from kubectl get pod NAME -o yaml")
	}
	live = live && asked.Text() != "creation"
	p := &past{Past: &simulate.Past{}}
	if live {
		p.read(l, c.man, status)
		p.printed = printedOf(&l.object.Spec, c.man)
	}
	p.now = p.newest
	now := c.root.Get("now")
	if s, ok := c.text(now, "now"); ok {
		millis, fault := manifest.ParseTime(s)
		p.now, p.nowGiven = policy.Millis(millis), true
		switch {
		case fault != "":
			c.fault(now, "now", policy.CodeBadFormat, `must be a time such as "2026-01-31T12:00:00Z"`)
		case l.readable && !live:
			c.forbidden(now, "now", "counts only for a live Pod, one that has a status, and not with from: creation")
		case p.now < p.newest:
			c.fault(now, "now", policy.CodeOutOfRange, "must not be before the newest time in the status, "+timestamp(p.newest))
		}
	}
	if !live {
		return nil
	}
	return p
}

// endOfTime is shortly before the first instant that Kubernetes cannot write: the year 10000.
const endOfTime policy.Millis = 253_402_300_800_000 - 3_600_000

// time reads a time of the status, 0 if there is none. It has been checked for its form.
func (p *past) time(v manifest.Value) policy.Millis {
	if v.Kind() != manifest.String {
		return 0
	}
	millis, _ := manifest.ParseTime(v.Str())
	at := policy.Millis(max(millis, 0))
	p.newest = max(p.newest, at)
	return at
}

func (p *past) read(l *loaded, man, status manifest.Value) {
	meta := man.Get("metadata")
	if p.Created = p.time(meta.Get("creationTimestamp")); p.Created == 0 {
		p.Created = -1
	}
	p.Begun = p.time(status.Get("startTime"))
	p.Phase = policy.PodPhase(status.Get("phase").Text())
	p.Reason, p.Message = status.Get("reason").Text(), status.Get("message").Text()
	switch p.Phase {
	case "":
		p.Phase = policy.PodPending
	case "Unknown":
		p.notCovered("status.phase")
	}
	i := 0
	for v := status.Get("conditions").First(); v.Exists(); v = v.Next() {
		p.condition(v, element("status.conditions", i))
		i++
	}
	for _, list := range [...]struct {
		name string
		kind policy.ContainerKind
	}{
		{"initContainerStatuses", policy.InitContainer}, {"containerStatuses", policy.MainContainer},
		{"ephemeralContainerStatuses", policy.EphemeralContainer},
	} {
		i := 0
		for v := status.Get(list.name).First(); v.Exists(); v = v.Next() {
			path := element("status."+list.name, i)
			i++
			ref, found := l.object.Spec.Find(v.Get("name").Text())
			if found && ref.Kind == list.kind {
				p.container(v, path, ref)
			}
		}
	}
	if v := meta.Get("deletionTimestamp"); given(v) {
		millis, _ := manifest.ParseTime(v.Str())
		grace, _ := meta.Get("deletionGracePeriodSeconds").Int64()
		p.Deleted, p.Gone = true, policy.Millis(max(millis, 0))
		p.Asked = max(p.Gone-policy.Millis(min(max(grace, 0), math.MaxInt32))*policy.Second, 0)
		p.newest = max(p.newest, p.Asked)
	}
}

// notCovered notes that the model does not cover what is at path.
func (p *past) notCovered(path string) {
	if p.Outside == "" {
		p.Outside = path
	}
}

func (p *past) condition(v manifest.Value, path string) {
	p.time(v.Get("lastTransitionTime"))
	is := v.Get("status").Text() == "True"
	switch v.Get("type").Text() {
	case "Initialized":
		p.Initialized = is
	case "AllContainersRestarting":
		p.RestartingAll = is
	case "PodReadyToStartContainers":
		p.NoSandbox = !is
	case "DisruptionTarget":
		if is {
			p.Disruption = v.Get("message").Text()
		}
	case "PodScheduled":
		if !is {
			p.notCovered(path) // what the scheduler does is not modelled
		}
	}
}

func (p *past) container(v manifest.Value, path string, ref policy.Ref) {
	x := simulate.PastContainer{Ref: ref, Started: v.Get("started").Bool(), Ready: v.Get("ready").Bool()}
	x.State, x.Last = p.state(v.Get("state")), p.state(v.Get("lastState"))
	n, _ := v.Get("restartCount").Int64()
	x.RestartCount = max(n, 0)
	if x.State.Kind == policy.StateNone {
		x.State.Kind = policy.StateWaiting // as the kubelet reads it
	}
	if x.State.Kind == policy.StateWaiting {
		switch x.State.Reason {
		case "", "ContainerCreating", "PodInitializing", "RestartingAllContainers":
		case "CrashLoopBackOff":
			// back-off 1m20s restarting failed container=main pod=…
			rest, _ := strings.CutPrefix(x.State.Message, "back-off ")
			if i := strings.IndexByte(rest, ' '); i > 0 {
				x.Delay, _, _ = policy.ParseMillis(rest[:i])
			}
		default:
			p.notCovered(path + ".state.waiting.reason")
		}
	}
	p.Containers = append(p.Containers, x)
}

func (p *past) state(v manifest.Value) (s simulate.State) {
	for _, kind := range [...]struct {
		name string
		kind policy.StateKind
	}{{"waiting", policy.StateWaiting}, {"running", policy.StateRunning}, {"terminated", policy.StateTerminated}} {
		if v := v.Get(kind.name); given(v) {
			s.Kind = kind.kind
			s.Reason, s.Message = v.Get("reason").Text(), v.Get("message").Text()
			code, _ := v.Get("exitCode").Int64()
			s.ExitCode = int32(code)
			s.Started, s.Finished = p.time(manifest.Began(v)), p.time(v.Get("finishedAt"))
		}
	}
	return s
}

// goOn gives each container that has ended before a tape of runs like its last one, unless the
// request has one for it. What it takes for granted about a container that runs is an assumption of
// the answer.
func (p *past) goOn(sc *simulate.Scenario) {
	for i := range p.Containers {
		x := &p.Containers[i]
		last := &x.Last
		if x.State.Kind == policy.StateTerminated {
			last = &x.State
		}
		runs := x.State.Kind == policy.StateRunning && !p.Deleted
		took := last.Finished - last.Started
		var told *simulate.Tape
		for j := range sc.Tapes {
			if sc.Tapes[j].Container == x.Ref {
				told = &sc.Tapes[j]
			}
		}
		switch {
		case told != nil:
			if runs && len(told.Runs) > 0 { // an empty list says that it runs on
				sc.Assume = append(sc.Assume, underWay(told.Runs[0].For, p.now-x.State.Started))
			}
		case last.Kind != policy.StateTerminated || last.Started == 0 || took < 0 || runs && x.State.Started+took <= p.now:
			if runs { // for the first time, or this time it is better
				sc.Assume = append(sc.Assume, "runs_on")
			}
		default:
			sc.Tapes = append(sc.Tapes, simulate.Tape{Container: x.Ref, Runs: []simulate.Run{
				{For: took, ExitCode: last.ExitCode, Reason: last.Reason, Times: simulate.Forever},
			}})
			sc.Assume = append(sc.Assume, "ends_like_the_last_time")
		}
	}
}

// underWay says what the first of the given runs means for a container that has run for some time
// already.
func underWay(length, already policy.Millis) string {
	if length < already {
		return "run_under_way_ends_now"
	}
	return "run_under_way_is_the_first"
}

// writePast writes what the simulation began with.
func (s *simulation) writePast(p *past) {
	w := s.w
	w.KeyObject("from")
	s.text("now", timestamp(p.now))
	named := "newest_time_in_the_status"
	if p.nowGiven {
		named = "given"
	}
	s.text("nowIs", named)
	w.KeyObject("row")
	row := p.printed.Row(p.minor)
	writeRow(w, &row, p.now, p.Created)
	w.End()
	w.KeyArray("waits")
	for i := range s.r.Waits {
		x := &s.r.Waits[i]
		w.Object()
		s.text("container", s.name(x.Container))
		s.millis("delayMillis", x.Delay)
		s.text("delayFrom", string(x.Source))
		if x.Next >= 0 {
			s.at("nextStartMillis", x.Next)
			s.at("earliestMillis", x.Earliest)
			s.at("latestMillis", x.Latest)
			s.text("nextStart", timestamp(x.Next))
		}
		w.End()
	}
	w.End()
	w.End()
}

// timestamp writes an instant as Kubernetes prints times, to the second below. The clock of a
// simulation begins with the year 1970.
func timestamp(m policy.Millis) string {
	seconds := int64(m) / 1000
	days, rest := seconds/86400, seconds%86400
	// From the first of March of the year 0 on, leap days come last in a year: Howard Hinnant,
	// days_from_civil.
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
	for i, n := range [...]int64{year, month, day + 1, rest / 3600, rest / 60 % 60, rest % 60} {
		digits := 2
		if i == 0 {
			digits = 4
		}
		text := strconv.FormatInt(n, 10)
		for j := len(text); j < digits; j++ {
			b = append(b, '0')
		}
		b = append(append(b, text...), "--T::Z"[i])
	}
	return string(b)
}
