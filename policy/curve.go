package policy

// CurveModel says by which rules a curve grows.
type CurveModel string

// The models. They differ by more than the first restart; both are in use, since pages and
// proposals assume the documented one.
const (
	// ModelKubelet is what the kubelet does: the first restart is immediate, and an entry is
	// forgotten by a sweep that also ends a wait.
	ModelKubelet CurveModel = "kubelet"
	// ModelDocumented is what the documentation of Pods says: the first restart waits already, and
	// ten minutes of running reset the delay, never a sweep.
	ModelDocumented CurveModel = "documented"
)

// MaxSweepPeriod bounds the time between two sweeps, and with it how long a curve is followed
// before it repeats.
const MaxSweepPeriod = 60 * Second

// Limits of a curve request, besides [MaxHorizon] for every length of time.
const (
	// MaxCurveStarts bounds the starts that an answer lists; the rest follows from its steady part.
	MaxCurveStarts = 200
	// MaxCurveWindows bounds the windows of a request.
	MaxCurveWindows = 100
	// MaxCurveFactor bounds the factor of growth.
	MaxCurveFactor = 1000
)

// CurveParameters is what a curve follows from.
type CurveParameters struct {
	Backoff          // Initial from 1 ms on, at most Max
	Factor  int64    // of growth, 1 to [MaxCurveFactor]; the kubelet's is 2
	List    []Millis // in place of Initial and Factor, at most [MaxWaits]: these waits, and then Max forever
	Run     Millis   // how long each run lasts
	Sweep   Millis   // the time between two sweeps, at most [MaxSweepPeriod]; 0 for none. Only for [ModelKubelet]
	Model   CurveModel
}

// Series returns the waits of p.
func (p *CurveParameters) Series() Series { return Series{p.Initial, p.Max, p.Factor, p.List} }

// CurveBecause says why a restart came when it came.
type CurveBecause string

// The reasons.
const (
	CurveFirst   CurveBecause = "first_restart_is_immediate"
	CurveBackoff CurveBecause = "back_off"
	CurveReset   CurveBecause = "ran_longer_than_reset"
	CurveSwept   CurveBecause = "forgotten_by_sweep" // the wait was cut, and the next one is Initial
)

// CurveRestart is one start of a curve.
type CurveRestart struct {
	Number  int64  // 0 is the first start, which is no restart
	At      Millis // since the first start
	Delay   Millis // between the exit before and At
	Because CurveBecause
}

// Curve is every start of a container that always runs equally long, without end: some restarts,
// and then a part that repeats forever. Its size does not depend on how far one looks.
type Curve struct {
	p      CurveParameters
	once   []curveSegment
	repeat []curveSegment // their times count from base
	base   Millis         // the instant of the last restart in once
	first  int64          // the number of the first restart in repeat
	period Millis         // from base to the last restart in repeat
}

// curveSegment is a number of restarts that come at equal distances after equal waits.
type curveSegment struct {
	at      Millis
	period  Millis // 0 only for a single restart
	count   int64
	delay   Millis
	because CurveBecause
}

// NewCurve follows p until it repeats, which takes at most a few times 60 000 steps. Exits are
// noticed at once, a start comes at the instant its wait ends, and sweeps come at multiples of
// their period, counted from the first start; a sweep at the instant of a start comes first. All
// times are exact as long as none exceeds 2^62 ms.
//
// Source: Backoff in k8s.io/client-go v0.33 to v0.37, util/flowcontrol/backoff.go; doBackOff in
// pkg/kubelet/kuberuntime/kuberuntime_manager.go, HandlePodCleanups in pkg/kubelet/kubelet_pods.go,
// Kubernetes v1.36.
func NewCurve(p CurveParameters) *Curve {
	c := &Curve{p: p}
	if p.Model == ModelDocumented {
		c.documented()
	} else {
		c.kubelet()
	}
	for _, s := range c.once {
		c.first += s.count
	}
	c.first++
	return c
}

func (c *Curve) documented() {
	waits := c.p.Series()
	t, delay, because := Millis(0), waits.First(), CurveBackoff
	if c.p.Run > c.p.Reset {
		c.forever(0, delay, CurveReset)
		return
	}
	for n := 0; !waits.Settled(delay, n); n++ {
		t += c.p.Run + delay
		c.once = appendRestart(c.once, t, c.p.Run, delay, because)
		delay = waits.Next(delay, n)
	}
	c.forever(t, delay, because)
}

func (c *Curve) kubelet() {
	p := c.p
	t := p.Run // the first restart: no entry yet
	c.once = appendRestart(c.once, t, p.Run, 0, CurveFirst)
	if p.Run > p.Reset {
		c.forever(t, 0, CurveReset)
		return
	}
	waits := p.Series()
	delay, n := waits.First(), 0
	swept := Millis(-1) // the last restart that a sweep let through
	settled := Millis(0)
	list := &c.once
	for {
		wait, because := delay, CurveBackoff
		if forgotten := p.forgotten(t); forgotten > 0 && forgotten <= t+p.Run+delay {
			wait, because = forgotten-t-p.Run, CurveSwept
		} else if waits.Settled(delay, n) {
			// Nothing changes any more but the phase of the sweep, and that has at most Sweep
			// values.
			if settled++; settled > p.Sweep || p.Run+delay <= p.Reset {
				c.settle(t, delay, list, settled > 1)
				return
			}
		} else {
			delay, n = waits.Next(delay, n), n+1
		}
		t += p.Run + wait
		*list = appendRestart(*list, t-c.base, p.Run, wait, because)
		if because != CurveSwept {
			continue
		}
		delay, n, settled = waits.First(), 0, 0
		if swept >= 0 { // the same state as after the sweep before: a sweep is always at phase 0
			c.period = t - swept
			return
		}
		swept, c.base, list = t, t, &c.repeat
	}
}

// settle notes that waits of delay follow each other forever after a restart at t, the last one of
// list. If begun is true, the last segment of list is the begin of that, and nothing else.
func (c *Curve) settle(t, delay Millis, list *[]curveSegment, begun bool) {
	if n := len(*list); begun {
		t = (*list)[n-1].at - (*list)[n-1].period + c.base
		*list = (*list)[:n-1]
	}
	if list == &c.repeat {
		for _, s := range c.repeat {
			s.at += c.base
			c.once = append(c.once, s)
		}
	}
	c.forever(t, delay, CurveBackoff)
}

// forever lets one wait repeat from the restart at t on.
func (c *Curve) forever(t, delay Millis, because CurveBecause) {
	c.base, c.period = t, c.p.Run+delay
	c.repeat = []curveSegment{{at: c.period, period: c.period, count: 1, delay: delay, because: because}}
}

// forgotten returns when a sweep deletes an entry made at mark, 0 for never.
func (p CurveParameters) forgotten(mark Millis) Millis {
	if p.Sweep <= 0 {
		return 0
	}
	return (mark+p.Reset)/p.Sweep*p.Sweep + p.Sweep
}

func appendRestart(list []curveSegment, at, run, delay Millis, because CurveBecause) []curveSegment {
	if n := len(list); n > 0 {
		if last := &list[n-1]; last.delay == delay && last.because == because && last.period > 0 && last.at+Millis(last.count)*last.period == at {
			last.count++
			return list
		}
	}
	return append(list, curveSegment{at: at, period: run + delay, count: 1, delay: delay, because: because})
}

// before returns how many restarts of list come at or before t.
func before(list []curveSegment, t Millis) (n int64) {
	for _, s := range list {
		switch {
		case s.at > t:
			return n
		case s.period <= 0:
			n += s.count
		default:
			n += min(s.count, int64((t-s.at)/s.period)+1)
		}
	}
	return n
}

// number returns restart i of list, counted from 0.
func number(list []curveSegment, i int64) CurveRestart {
	for _, s := range list {
		if i < s.count {
			return CurveRestart{At: s.at + Millis(i)*s.period, Delay: s.delay, Because: s.because}
		}
		i -= s.count
	}
	panic("policy: no such restart in a curve")
}

func total(list []curveSegment) (n int64) {
	for _, s := range list {
		n += s.count
	}
	return n
}

// Restarts returns how many restarts come until t, both ends included.
func (c *Curve) Restarts(t Millis) int64 {
	n := before(c.once, t)
	if t <= c.base {
		return n
	}
	rounds, rest := (t-c.base)/c.period, (t-c.base)%c.period
	return n + int64(rounds)*total(c.repeat) + before(c.repeat, rest)
}

// Progressions calls f with every restart whose wait begins by the given instant: count of them
// from at on, period apart, each after delay. Their order is that of at.
func (c *Curve) Progressions(until Millis, f func(at, period Millis, count int64, delay Millis)) {
	for _, s := range c.once {
		n := s.count
		if s.period > 0 && n > 1 {
			n = min(n, int64((until+s.delay-s.at)/s.period)+1)
		}
		if s.at-s.delay <= until {
			f(s.at, s.period, n, s.delay)
		}
	}
	for _, s := range c.repeat {
		for k := range s.count {
			at := c.base + s.at + Millis(k)*s.period
			if at-s.delay > until {
				return
			}
			f(at, c.period, int64((until+s.delay-at)/c.period)+1, s.delay)
		}
	}
}

// Restart returns restart n. Number 0 is the first start.
func (c *Curve) Restart(n int64) (r CurveRestart) {
	switch {
	case n <= 0:
		return CurveRestart{}
	case n < c.first:
		r = number(c.once, n-1)
	default:
		rounds, i := (n-c.first)/total(c.repeat), (n-c.first)%total(c.repeat)
		r = number(c.repeat, i)
		r.At += c.base + Millis(rounds)*c.period
	}
	r.Number = n
	return r
}

// FirstAtMax returns the first restart that waits Max or longer; ok is false if none ever does.
func (c *Curve) FirstAtMax() (r CurveRestart, ok bool) {
	n := int64(0)
	for _, list := range [][]curveSegment{c.once, c.repeat} {
		for _, s := range list {
			if s.delay >= c.p.Max {
				return c.Restart(n + 1), true
			}
			n += s.count
		}
	}
	return r, false
}

// CurveSteady is the part of a curve that repeats.
type CurveSteady struct {
	From     CurveRestart // the first restart of it
	Period   Millis
	Restarts int64 // in one period, at least 1
}

// Steady returns the part that repeats.
func (c *Curve) Steady() CurveSteady {
	return CurveSteady{From: c.Restart(c.first), Period: c.period, Restarts: total(c.repeat)}
}

// CurveRecovery is how late a container is back that fails while something it needs is away.
type CurveRecovery struct {
	Back CurveRestart // the first start that finds it there
	Late Millis       // from its return to Back
	// Best is the same if a run that is under way at the return succeeds as well: 0 then, otherwise
	// Late.
	Best Millis
	// Gap is the time between the last start that fails and Back: the longest that a return between
	// the two could have to wait.
	Gap Millis
}

// Recover returns what follows if runs that begin before t fail and those that begin at t or later
// do not.
func (c *Curve) Recover(t Millis) CurveRecovery {
	if t <= 0 {
		return CurveRecovery{}
	}
	n := c.Restarts(t - 1)
	last, back := c.Restart(n), c.Restart(n+1)
	r := CurveRecovery{Back: back, Late: back.At - t, Gap: back.At - last.At}
	if t >= last.At+c.p.Run {
		r.Best = r.Late
	}
	return r
}
