package fleet

import (
	"math"
	"math/bits"
	"slices"

	"github.com/podfate/podfate/policy"
)

// Limits of a fleet. With them no sum of milliseconds or restarts exceeds 2^62.
const (
	// MaxPods bounds the Pods of a fleet, all nodes together: a thousand of the largest clusters.
	MaxPods = 100_000_000
	// MaxUntil bounds how far one looks, and with it the spread.
	MaxUntil = 366 * 24 * 3600 * policy.Second
	// MaxSteps bounds the work of one answer: some tenths of a second natively. What needs most is
	// a peak of several groups with a spread over which many restarts of each Pod come.
	MaxSteps = 20_000_000
	// MaxCommonPeriod bounds the period after which groups together repeat.
	MaxCommonPeriod = 24 * 3600 * policy.Second
)

// Progression is Count instants from At on, Period apart. For is a length of time that belongs to
// each.
type Progression struct {
	At, Period policy.Millis // Period is not 0 if Count is more than 1
	Count      int64
	For        policy.Millis
}

// Track is what one Pod does, counted from its first start, as far as anybody looks.
type Track struct {
	Restarts []Progression // of containers
	Ran      []Progression // for For from each instant on it runs
	Waited   []Progression // for For from each instant on it waits for a restart
	Lost     []Progression // at each instant a run fails, and the work of For is lost
	// At From a restart comes, and from then on PerPeriod in each Period, forever. With a Period of
	// 0 and Ends set none does; without Ends nobody knows.
	From, Period policy.Millis
	PerPeriod    int64
	Ends         bool
	Guessed      bool // Period and PerPeriod are, from what came before: Restarts need not repeat
	// There is when it is there, from each instant on for For, if Waited does not say when it
	// waits: then it waits whenever it does not run.
	There []Progression
}

// Loop returns the track of a Pod whose one container follows c, with runs of length run, each of
// which loses lost. It is whole until the given instant.
func Loop(c *policy.Curve, run, lost, until policy.Millis) Track {
	s := c.Steady()
	t := Track{From: s.From.At, Period: s.Period, PerPeriod: s.Restarts}
	t.add(Progression{Count: 1}, run, lost)
	c.Progressions(until, func(at, period policy.Millis, count int64, delay policy.Millis) {
		p := Progression{At: at, Period: period, Count: count}
		t.Restarts = append(t.Restarts, p)
		t.add(p, run, lost)
		p.At, p.For = p.At-delay, delay
		t.Waited = append(t.Waited, p)
	})
	return t
}

// Once returns the track of a Pod that runs once and is not restarted.
func Once(run, lost policy.Millis) Track {
	t := Track{Ends: true}
	t.add(Progression{Count: 1}, run, lost)
	return t
}

// add adds runs that begin at p.
func (t *Track) add(p Progression, run, lost policy.Millis) {
	p.For = run
	t.Ran = append(t.Ran, p)
	if lost > 0 {
		p.At, p.For = p.At+run, lost
		t.Lost = append(t.Lost, p)
	}
}

// Group is Pods that all do the same.
type Group struct {
	Track
	Pods  int64 // on each node
	Nodes int64
	lo    int64 // the number of its first Pod among all
}

// all is how many Pods the group has.
func (g *Group) all() int64 { return g.Pods * g.Nodes }

// Fleet is groups that begin together. [New] makes it. After a call of a method Exceeded reports
// whether there was too much to do, and then the result is of no use.
type Fleet struct {
	Groups []Group
	Spread policy.Millis // over which the first starts come, in the order of the groups; less than the year
	Pods   int64         // of all groups
	steps  int
}

// New makes a fleet of groups, at most [MaxPods] Pods in all.
func New(groups []Group, spread policy.Millis) *Fleet {
	f := &Fleet{Groups: groups, Spread: spread}
	for i := range groups {
		groups[i].lo = f.Pods
		f.Pods += groups[i].all()
	}
	if f.Pods <= 1 {
		f.Spread = 0 // nothing starts after the first
	}
	return f
}

// guessed reports whether nobody knows what repeats.
func (f *Fleet) guessed() bool {
	return slices.ContainsFunc(f.Groups, func(g Group) bool { return g.Guessed })
}

// Exceeded reports whether an answer took more than [MaxSteps].
func (f *Fleet) Exceeded() bool { return f.steps > MaxSteps }

// below returns the number of the first Pod of the fleet that starts after x, at most f.Pods.
func (f *Fleet) below(x policy.Millis) int64 {
	switch {
	case x < 0:
		return 0
	case x >= f.Spread:
		return f.Pods
	}
	// floor(S·i/N) <= x is i < (x+1)·N/S.
	return (int64(x+1)*f.Pods-1)/int64(f.Spread) + 1
}

// startOf returns when Pod i of the fleet starts.
func (f *Fleet) startOf(i int64) policy.Millis {
	return policy.Millis(int64(f.Spread) * i / max(f.Pods, 1))
}

// started returns how many Pods of g have started at x.
func (f *Fleet) started(g *Group, x policy.Millis) int64 {
	return min(max(f.below(x)-g.lo, 0), g.all())
}

// Restarts returns how many restarts of group i come until t, the end included.
func (f *Fleet) Restarts(i int, t policy.Millis) int64 {
	return f.Count(i, f.Groups[i].Restarts, t)
}

// Count returns how many instants of list, which is of group i, come until t.
func (f *Fleet) Count(i int, list []Progression, t policy.Millis) int64 {
	return f.come(&f.Groups[i], list, t, func(Progression) int64 { return 1 })
}

// All returns how many restarts of all groups come until t.
func (f *Fleet) All(t policy.Millis) (n int64) {
	for i := range f.Groups {
		n += f.Restarts(i, t)
	}
	return n
}

// come sums what comes of list until t over all Pods of g: value for each instant.
func (f *Fleet) come(g *Group, list []Progression, t policy.Millis, value func(Progression) int64) (sum int64) {
	for i := range list {
		sum += f.sumStarted(g, &list[i], t) * value(list[i])
	}
	return sum
}

// sumStarted sums over the instants of p how many Pods of g have started that long before t: as
// many times p has come until t.
func (f *Fleet) sumStarted(g *Group, p *Progression, t policy.Millis) (n int64) {
	f.steps++
	if g.all() == 0 {
		return 0
	}
	full, last := p.until(t-f.startOf(g.lo+g.all()-1)), p.until(t-f.startOf(g.lo))
	n = full * g.all()
	if last -= full; last > 0 && f.Spread > 0 {
		// What below returns is a share of the Pods, rounded down, and one.
		least, step := int64(t-p.at(full+last-1)), int64(0)
		if last > 1 {
			step = int64(p.Period) * f.Pods // the period is shorter than the spread
		}
		n += floorSum(last, int64(f.Spread), step, (least+1)*f.Pods-1) + last*(1-g.lo)
	}
	return n
}

func (p *Progression) at(k int64) policy.Millis { return p.At + policy.Millis(k)*p.Period }

func (p *Progression) until(t policy.Millis) int64 {
	switch {
	case t < p.At:
		return 0
	case p.Period <= 0:
		return p.Count
	}
	return min(p.Count, int64((t-p.At)/p.Period)+1)
}

// Millis is Pod-milliseconds.
type Millis struct{ Ran, Waited, Lost int64 }

// Spent returns for how long Pods of group i have run and waited until t, and how much of it was
// lost.
func (f *Fleet) Spent(i int, t policy.Millis) Millis {
	g := &f.Groups[i]
	m := Millis{
		Ran: f.last(g, g.Ran, t), Waited: f.last(g, g.Waited, t),
		Lost: f.come(g, g.Lost, t, func(p Progression) int64 { return int64(p.For) }),
	}
	if len(g.There) > 0 {
		m.Waited = max(f.last(g, g.There, t)-m.Ran, 0)
	}
	return m
}

// last sums for how long what begins at list lasts until t, over all Pods of g.
func (f *Fleet) last(g *Group, list []Progression, t policy.Millis) (sum int64) {
	for _, p := range list {
		full := p.until(t - f.Spread - p.For)
		sum += full * g.all() * int64(p.For)
		p.At, p.Count = p.at(full), p.until(t)-full
		if p.Count > 0 {
			sum += f.lasts(g, p, t)
		}
	}
	return sum
}

// lasts is last for one progression that has begun.
func (f *Fleet) lasts(g *Group, p Progression, t policy.Millis) (sum int64) {
	if p.For <= p.Period && p.For > p.Period/2 && p.Count > 1 {
		// It is all the time since it began, less what lies between.
		between := p
		between.At, between.For = p.At+p.For, p.Period-p.For
		f.steps += 2
		return f.sinceStart(g, t-p.At) - f.sinceStart(g, t-p.at(p.Count)) - f.lasts(g, between, t)
	}
	if int64(p.For) < p.Count {
		for ; p.For > 0 && !f.Exceeded(); p.For-- {
			sum += f.sumStarted(g, &p, t-p.For)
		}
		return sum
	}
	f.steps += int(min(p.Count, MaxSteps)) * 16
	for k := int64(0); k < p.Count && !f.Exceeded(); k++ {
		rest := t - p.at(k)
		sum += f.sinceStart(g, rest) - f.sinceStart(g, rest-p.For)
	}
	return sum
}

// sinceStart sums over the Pods of g how long ago at x each was started.
func (f *Fleet) sinceStart(g *Group, x policy.Millis) int64 {
	n := f.started(g, x)
	if n == 0 {
		return 0
	}
	sum := n * int64(x)
	if f.Spread > 0 {
		sum -= floorSum(g.lo+n, f.Pods, int64(f.Spread), 0) - floorSum(g.lo, f.Pods, int64(f.Spread), 0)
	}
	return sum
}

// floorSum returns the sum of floor((a·i+b)/m) for i from 0 to n-1, as Euclid would.
func floorSum(n, m, a, b int64) (sum int64) {
	for {
		sum += tri(n)*(a/m) + n*(b/m)
		a, b = a%m, b%m
		hi, lo := bits.Mul64(uint64(a), uint64(n))
		lo, carry := bits.Add64(lo, uint64(b), 0)
		if hi += carry; hi == 0 && lo < uint64(m) {
			return sum
		}
		y, rest := bits.Div64(hi, lo, uint64(m))
		n, b = int64(y), int64(rest)
		m, a = a, m
	}
}

// tri returns n·(n-1)/2, of which the last 64 bits are right where it has more.
func tri(n int64) int64 {
	if n%2 == 0 {
		return n / 2 * (n - 1)
	}
	return (n - 1) / 2 * n
}

// Steady is what goes on forever.
type Steady struct {
	Period   policy.Millis // after which all groups together repeat, 0 if that is more than a day, or unknown
	Restarts int64         // of all Pods in one Period
	From     policy.Millis // since when, counted from the first start of each Pod: nothing else comes later
}

// Steady returns what all groups settle into. Without restarts forever the period is that of
// nothing: 1 ms.
func (f *Fleet) Steady() Steady { return SteadyOf(f.Groups) }

// SteadyOf returns what groups settle into.
func SteadyOf(groups []Group) (s Steady) {
	s.Period = 1
	for i := range groups {
		g := &groups[i]
		switch {
		case g.all() == 0:
			continue
		case g.Ends:
			for _, p := range g.Restarts {
				s.From = max(s.From, p.at(p.Count-1))
			}
			continue
		case g.Period == 0:
			return Steady{}
		}
		s.From = max(s.From, g.From)
		if s.Period = s.Period / gcd(s.Period, g.Period) * g.Period; s.Period > MaxCommonPeriod {
			return Steady{}
		}
	}
	for i := range groups {
		if g := &groups[i]; !g.Ends && g.all() > 0 {
			s.Restarts += g.all() * g.PerPeriod * int64(s.Period/g.Period)
		}
	}
	return s
}

// PerSecond returns how many thousandths of a request come in a second in the long run, rounded
// down, if each restart makes requests of them, and whether there are a little more than that.
func PerSecond(groups []Group, requests int64) (n int64, more bool) {
	rest := int64(0) // billionths of a thousandth
	for i := range groups {
		if g := &groups[i]; g.Period > 0 {
			all := Times(g.all()*g.PerPeriod, requests)
			whole := Share(all, 1e6, int64(g.Period))
			n = min(n, math.MaxInt64-whole) + whole
			rest += Share(all*1e6-whole*int64(g.Period), 1e9, int64(g.Period))
		}
	}
	return min(n, math.MaxInt64-rest/1e9) + rest/1e9, rest%1e9 > 0
}

// Exceeds reports whether in the long run restarts that make requests each come to more of them in
// a second than limit.
func Exceeds(groups []Group, requests, limit int64) bool {
	if s := SteadyOf(groups); s.Period > 0 {
		return Times(s.Restarts*1000, requests) > Times(limit, int64(s.Period))
	}
	n, more := PerSecond(groups, requests)
	return n > limit*1000 || n == limit*1000 && more
}

func gcd(a, b policy.Millis) policy.Millis {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// Times returns a times b, and at most 2^63-1. Neither is negative.
func Times(a, b int64) int64 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	if hi != 0 || lo > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(lo)
}

// Share returns a·b/c, rounded down, and at most 2^63-1. None is negative, and c is not 0.
func Share(a, b, c int64) int64 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	if hi >= uint64(c) {
		return math.MaxInt64
	}
	q, _ := bits.Div64(hi, lo, uint64(c))
	return int64(min(q, math.MaxInt64))
}
