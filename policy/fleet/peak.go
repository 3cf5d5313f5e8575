package fleet

import (
	"github.com/podfate/podfate/policy"
)

// Peak is the most restarts in any stretch of time: those after At minus the length of the stretch,
// and until At.
type Peak struct {
	At       policy.Millis // the first instant at which it is reached; 0 if there are no restarts
	Restarts int64
}

// cursor is the instants of a progression that are still to come. For a group, those of all Pods.
type cursor struct {
	at, period policy.Millis
	left       int64
	group      int32
}

// merge is cursors as a heap, the earliest instant first.
type merge []cursor

// merged returns the restarts of groups until the given instant. Where from is not 0, those that no
// Pod has later than that are left out.
func (f *Fleet) merged(groups []Group, from, until policy.Millis) merge {
	var m merge
	for i := range groups {
		g := &groups[i]
		if g.all() == 0 {
			continue
		}
		for _, p := range g.Restarts {
			over := p.until(from - 1 - f.startOf(g.lo+g.all()-1))
			if n := p.until(until) - over; n > 0 {
				m = append(m, cursor{p.at(over), p.Period, n, int32(i)})
			}
		}
	}
	for i := len(m)/2 - 1; i >= 0; i-- {
		m.down(i)
	}
	return m
}

func (m *merge) push(c cursor) {
	h := append(*m, c)
	*m = h
	for i := len(h) - 1; i > 0 && h[i].at < h[(i-1)/2].at; i = (i - 1) / 2 {
		h[i], h[(i-1)/2] = h[(i-1)/2], h[i]
	}
}

func (m merge) down(i int) {
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(m); child++ {
			if m[child].at < m[least].at {
				least = child
			}
		}
		if least == i {
			return
		}
		m[i], m[least] = m[least], m[i]
		i = least
	}
}

// take removes the earliest instant.
func (m *merge) take() (at policy.Millis, group int32) {
	h := *m
	at, group = h[0].at, h[0].group
	if h[0].left--; h[0].left == 0 {
		h[0] = h[len(h)-1]
		h = h[:len(h)-1]
		*m = h
	} else {
		h[0].at += h[0].period
	}
	h.down(0)
	return at, group
}

// maxOneByOne bounds the restarts that are counted one by one, so that half of [MaxSteps] is
// enough.
const maxOneByOne = MaxSteps / 16

// Peak returns the most restarts in any stretch of length bin that ends at until or before.
func (f *Fleet) Peak(bin, until policy.Millis) Peak {
	s := f.Steady()
	if s.Period > 0 && !f.guessed() {
		// What repeats need not be looked at twice. Every stretch that ends later equals an earlier
		// one.
		until = min(until, s.From+f.Spread+bin+2*s.Period)
	}
	if f.Spread <= 1 {
		return f.peakOfEach(bin, until)
	}
	if s.Period > 0 && !f.guessed() {
		if best, ok := f.peakOnRing(s, bin, until); ok {
			return best
		}
	}
	return f.peakOfMany(s, bin, until)
}

// peakOfMany is Peak, all Pods of a group at once.
func (f *Fleet) peakOfMany(s Steady, bin, until policy.Millis) Peak {
	repeats := s.Period > 0 && s.Restarts > 0 && !f.guessed()
	// The work of a window grows with the square of how often a Pod is restarted.
	if n := f.All(until); n < maxOneByOne && f.Pods*f.Pods < 8*n {
		return f.peakOfEach(bin, until)
	}
	if !repeats {
		s.From = until // nobody knows what repeats
	}
	w := f.window(s.From, bin, until)
	if repeats {
		w.fromBest(s, until)
	} else {
		w.peak(-1, until)
	}
	return w.best
}

// peakOfEach is Peak, one restart of a Pod after the other.
func (f *Fleet) peakOfEach(bin, until policy.Millis) (best Peak) {
	groups := append([]Group(nil), f.Groups...)
	for i := range groups {
		groups[i].Pods, groups[i].Nodes = groups[i].all(), 1
	}
	again := *f // whose steps need not be counted
	lead, lag := f.each(groups, until), again.each(groups, until)
	gone, left := lag.next(until)
	sum := int64(0)
	for at, n := lead.next(until); n > 0; at, n = lead.next(until) {
		sum += n
		for left > 0 && gone <= at-bin {
			sum -= left
			gone, left = lag.next(until)
		}
		if sum > best.Restarts {
			best = Peak{at, sum}
		}
	}
	return best
}

// ramps are restarts of each Pod of a group, each as many as there are Pods, one after the other.
// Those with up below 0 are the same when they leave the stretch.
type ramps struct {
	Progression
	group, up int32
	early     bool // they come before what repeats
}

// stair is one ramp: how many of its Pods have had the restart rises step by step. A Pod does when
// the Pods that have started since 0 reach its number and whole, and the rest that belongs to them,
// in parts of the way from one start to the next, is more than part.
type stair struct {
	whole, part int64
	group       int32
	up          int8
	early       bool
}

// window is a stretch of time that is moved over all restarts.
type window struct {
	f       *Fleet
	bin     policy.Millis
	ramps   []ramps
	stairs  []stair       // by part
	each    policy.Millis // how far it is moved before what no longer changes is left out
	earlier int64         // restarts of a Pod of each group that are early
	early   []int64       // their parts
	settled bool          // what comes early is left out
	live    []stair       // which change in the time that is looked at
	base    int64         // of those that no longer do
	breaks  []policy.Millis
	best    Peak
}

// maxStairs bounds the restarts of a Pod that are looked at together, and with them the memory.
const maxStairs = 1 << 19

// window returns a window over all restarts until the given instant, of which those until from are
// early.
func (f *Fleet) window(from, bin, until policy.Millis) *window {
	w := &window{f: f, bin: bin, each: until/maxLooks + 1}
	n := int64(0)
	add := func(p Progression, group int, up int32, early bool) {
		p.Count = p.until(until - f.startOf(f.Groups[group].lo))
		if p.Count > 0 {
			w.ramps = append(w.ramps, ramps{p, int32(group), up, early})
			n += p.Count
		}
	}
	both := func(p Progression, group int, early bool) {
		whole := p.Count // that leave when others come are neither
		if p.Period > 0 && bin%p.Period == 0 {
			whole = min(whole, int64(bin/p.Period))
		}
		out := p
		out.At += bin + policy.Millis(p.Count-whole)*p.Period
		p.Count, out.Count = whole, whole
		add(p, group, 1, early)
		add(out, group, -1, early)
	}
	for i := range f.Groups {
		for _, p := range f.Groups[i].Restarts {
			if f.Groups[i].all() == 0 || p.Count == 0 {
				continue
			}
			late := p
			if p.Count = p.until(from); p.Count > 0 {
				both(p, i, true)
			}
			for k := int64(0); k < p.Count && len(w.early) < maxOffsets; k++ {
				w.early = append(w.early, int64(p.at(k))*f.Pods%int64(f.Spread))
			}
			w.earlier += p.Count
			late.At, late.Count = late.at(p.Count), late.Count-p.Count
			if late.Count > 0 {
				both(late, i, false)
			}
		}
	}
	if n > maxStairs {
		f.steps = MaxSteps + 1
		return w
	}
	f.steps += int(n) * 8
	stairs := make([]stair, 0, n)
	s := int64(f.Spread)
	for _, p := range w.ramps {
		for k := range p.Count {
			at := int64(p.at(k)) * f.Pods
			stairs = append(stairs, stair{at / s, at % s, p.group, int8(p.up), p.early})
		}
	}
	w.stairs = make([]stair, n)
	for i, j := range policy.Order(len(stairs), func(a, b int) bool { return stairs[a].part < stairs[b].part }) {
		w.stairs[i] = stairs[j]
	}
	w.live = stairs[:0]
	return w
}

// started returns how many Pods have had the restart of t, if whole and rest are those that have
// started, and whether there are more to come.
func (w *window) started(t *stair, whole, rest int64) (n int64, rises bool) {
	g := &w.f.Groups[t.group]
	n = whole - t.whole + 1 - g.lo
	if rest < t.part {
		n--
	}
	switch all := g.all(); {
	case n <= 0:
		return 0, false
	case n >= all:
		return all, false
	}
	return n, true
}

// since returns the whole Pods that start until b, and the rest, except for the first.
func (w *window) since(b policy.Millis) (whole, rest int64) {
	n, s := int64(b+1)*w.f.Pods-1, int64(w.f.Spread)
	return n / s, n % s
}

// fromBest looks at all stretches of a fleet that repeats.
//
// What each Pod does again and again grows from one period to the next, for no Pod ends. So where
// it comes to less than the peak of the last period in some earlier one, even with all that comes
// early, it does so in all before that one too. They are mostly near the last one, so the search
// begins there; a few periods more to be looked at cost less than to find out which.
func (w *window) fromBest(s Steady, until policy.Millis) {
	w.peak(until-s.Period, until)
	last := w.best
	least := last.Restarts - w.mostEarly()
	low, high := int64(0), int64(until/s.Period) // periods before the last that are to be looked at
	w.settled = true
	for step := int64(1); high-low > high/4 && least > 0 && !w.f.Exceeded(); {
		middle := min(low+step, (low+high+1)/2)
		w.best = Peak{0, least - 1}
		end := until - policy.Millis(middle)*s.Period
		if w.peak(end-s.Period, end); w.best.Restarts >= least {
			low = middle
			step *= 4
		} else {
			high = middle - 1
		}
	}
	w.settled, w.best = false, Peak{0, last.Restarts - 1}
	w.peak(until-policy.Millis(high+1)*s.Period, until-s.Period)
	if w.best.Restarts < last.Restarts {
		w.best = last
	}
}

// mostEarly returns no less than the restarts in one stretch that come before what repeats.
func (w *window) mostEarly() (most int64) {
	// Of each come as many as Pods start in a stretch: n/s of them, or one more for those that are
	// less than what is left of n after one another.
	n, s := int64(w.bin)*w.f.Pods, int64(w.f.Spread)
	if w.earlier > maxOffsets {
		return w.earlier * (n/s + 1)
	}
	for _, from := range w.early {
		more := int64(0)
		for _, part := range w.early {
			if mod(part-from, s) < n%s {
				more++
			}
		}
		most = max(most, more)
	}
	return most + w.earlier*(n/s)
}

// maxLooks is how often, at most, what changes no more is left out while a window moves over
// everything.
const maxLooks = 64

// peak looks at all stretches that end after one instant and until another.
func (w *window) peak(from, until policy.Millis) {
	from = max(from, -1)
	for ; from < until && !w.f.Exceeded(); from += w.each {
		w.part(from, min(from+w.each, until))
	}
}

// part looks at stretches that end after one instant and until another. It goes from one break to
// the next: between two the same ramps are coming and leaving.
func (w *window) part(from, until policy.Millis) {
	f := w.f
	w.live, w.base = w.live[:0], 0
	whole, rest := w.since(max(from, 0))
	last, lastRest := w.since(until)
	for i := range w.stairs {
		t := &w.stairs[i]
		if w.settled && t.early {
			continue
		}
		if n, rises := w.started(t, whole, rest); !rises && n > 0 {
			w.base += n * int64(t.up)
		} else if n, _ := w.started(t, last, lastRest); n > 0 {
			w.live = append(w.live, *t)
		}
	}
	w.breaks = append(w.breaks[:0], from+1)
	for _, p := range w.ramps {
		if w.settled && p.early {
			continue
		}
		g := &f.Groups[p.group]
		for _, shift := range [...]policy.Millis{f.startOf(g.lo), f.startOf(g.lo + g.all() - 1)} {
			for k := p.until(from - shift); k < p.Count && p.at(k)+shift <= until; k++ {
				w.breaks = append(w.breaks, p.at(k)+shift)
			}
		}
	}
	f.steps += len(w.stairs) / 4
	order := policy.Order(len(w.breaks), func(a, b int) bool { return w.breaks[a] < w.breaks[b] })
	for i, j := range order {
		b, end := w.breaks[j], until+1
		if i+1 < len(order) {
			end = w.breaks[order[i+1]]
		}
		if b < end {
			w.between(b, end)
		}
		if f.Exceeded() {
			return
		}
	}
}

// between looks for a higher peak from b on and before end, two neighbouring breaks.
//
// In between the number of restarts is a sum of staircases: of ramps that come, less of ramps that
// leave. After e milliseconds e·Pods/Spread Pods more would have started, whole ones and a rest.
// Each staircase has risen by the whole ones, and by one more if the rest has reached its own. So
// all of them together rise by as much for each whole one, and what they are beyond that depends on
// the rest alone: between two neighbouring stairs it is the same. Where between them the rest comes
// first or last is what firstIn knows.
func (w *window) between(b, end policy.Millis) {
	f := w.f
	s, n, most := int64(f.Spread), f.Pods, int64(end-1-b)
	started, part := w.since(b)
	now, rise, coming := w.base, int64(0), int64(0)
	first := 0 // the first stair that the rest reaches
	for i := range w.live {
		t := &w.live[i]
		up := int64(t.up)
		m, rises := w.started(t, started, part)
		if now += up * m; rises {
			rise += up
			coming += max(up, 0)
		}
		if t.part <= part {
			first = i + 1
		}
	}
	f.steps += len(w.live)/2 + 1
	if now > w.best.Restarts {
		w.best = Peak{b, now}
	}
	whole := most * n / s
	if most < 1 || now+coming+max(rise, 0)*whole <= w.best.Restarts {
		return
	}
	f.steps += len(w.live)
	local := Peak{Restarts: w.best.Restarts}
	rest := most * n % s // at the end
	for i, low := 0, int64(0); low < s; i++ {
		// The rest is at low or more, and less than high.
		high, up := s, int64(0)
		for ; i < len(w.live); i++ {
			j := first + i
			if j >= len(w.live) {
				j -= len(w.live)
			}
			t := &w.live[j]
			if _, rises := w.started(t, started, part); rises {
				if high, up = t.part-part, int64(t.up); high <= 0 {
					high += s
				}
				break
			}
		}
		if low < high && now+max(rise, 0)*whole >= local.Restarts {
			f.steps += 16
			e := int64(-1)
			if rise <= 0 {
				e = firstIn(n%s, s, low, high-1)
			} else if back := firstIn(n%s, s, mod(rest-high+1, s), mod(rest-low, s)); back >= 0 && back <= most {
				e = ((most-back)*n/s*s + low + n - 1) / n
			}
			if e >= 0 && e <= most {
				c := Peak{b + policy.Millis(e), now + rise*(e*n/s)}
				if c.Restarts > local.Restarts || c.Restarts == local.Restarts && c.At < local.At {
					local = c
				}
			}
		}
		now += up
		low = high
	}
	if local.Restarts > w.best.Restarts {
		w.best = local
	}
}

// mod returns what a leaves when divided by m, 0 or more. a is more than -m.
func mod(a, m int64) int64 { return (a + m) % m }

// firstIn returns the first x from 0 on for which a·x leaves from low to high when divided by m,
// and -1 if none does. a and low are less than m. If low is more than high, what leaves 0 is meant,
// too.
func firstIn(a, m, low, high int64) int64 {
	switch {
	case low == 0 || low > high:
		return 0
	case a == 0:
		return -1
	case 2*a > m:
		return firstIn(m-a, m, m-high, m-low)
	}
	if x := (low-1)/a + 1; a*x <= high {
		return x
	}
	y := firstIn((a-m%a)%a, a, low%a, high%a)
	if y < 0 {
		return -1
	}
	return (low+m*y-1)/a + 1
}
