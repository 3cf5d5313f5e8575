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

// cursor is the instants of a progression that are still to come. Of a group all Pods are meant.
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

// maxOneByOne bounds the restarts that are counted one by one, so that half of [MaxSteps] is enough.
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
	w := window{f: f, bin: bin}
	step := f.step(s, bin)
	if step == 0 {
		// The work of a window grows with the square of how often a Pod is restarted.
		if n := f.All(until); n < maxOneByOne && f.Pods*f.Pods < 8*n {
			return f.peakOfEach(bin, until)
		}
		w.peak(0, until)
		return w.best
	}
	// What ends elsewhere has no more restarts than what ends a step later.
	from, to := policy.Millis(0), min(until, s.From+bin+step)
	look := func(first, last policy.Millis) {
		if first = max(first, 0); first > to {
			w.peak(from, to)
			from = first
		}
		to = max(to, min(last, until))
	}
	for i := range f.Groups {
		first := f.startOf(f.Groups[i].lo)
		look(first-step-bin, first+s.From+bin+step)
	}
	look(min(f.Spread, until)-step-bin, until)
	w.peak(from, to)
	return w.best
}

// step returns after how long the restarts of any stretch have become more, unless some group began
// or ended to start shortly before or until then; 0 if there is no such time. While all Pods of a
// group that start in a stretch do so evenly, a restart of each comes to n or n+1 in it. After a
// step there are more that n of, and those that came before what repeats may have lost one.
func (f *Fleet) step(s Steady, bin policy.Millis) policy.Millis {
	n := int64(bin) * f.Pods / int64(f.Spread)
	if s.Period == 0 || n == 0 || f.guessed() {
		return 0
	}
	step := s.Period
	for i := range f.Groups {
		g := &f.Groups[i]
		before := int64(0)
		for _, p := range g.Restarts {
			before += p.until(s.From)
		}
		switch {
		case g.all() == 0 || len(g.Restarts) == 0:
		case g.Ends || g.PerPeriod == 0:
			return 0
		default:
			step = max(step, s.Period*policy.Millis(before/(n*g.PerPeriod*int64(s.Period/g.Period))+1))
		}
	}
	return step
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

// ramp is one restart of each Pod of a group: as many follow one another as there are Pods.
type ramp struct {
	at    policy.Millis // of a Pod that starts at 0
	group int32
}

// window is a stretch of time that is moved over all restarts.
type window struct {
	f      *Fleet
	bin    policy.Millis
	from   policy.Millis // nothing before is looked at
	ahead  merge
	ramps  []ramp          // of which some restarts may still come into the window or leave it, by time
	breaks []policy.Millis // instants later than the present at which a ramp begins or ends
	stairs []stair
	best   Peak
}

// stair is a ramp under way. It takes a step where what is left of the way to the next Pod's start,
// in parts of that way, reaches at.
type stair struct{ at, up int64 }

// ends returns when the first and the last Pod of r's group start.
func (w *window) ends(r ramp) (first, last policy.Millis) {
	g := &w.f.Groups[r.group]
	return w.f.startOf(g.lo), w.f.startOf(g.lo + g.all() - 1)
}

// at returns how many restarts there are in the stretch that ends at b.
func (w *window) at(b policy.Millis) (n int64) {
	w.f.steps += len(w.ramps)
	for _, r := range w.ramps {
		g := &w.f.Groups[r.group]
		n += w.f.started(g, b-r.at) - w.f.started(g, b-r.at-w.bin)
	}
	return n
}

// peak looks at all stretches that end between two instants. It goes from one break to the next:
// between two the same ramps are coming and leaving.
func (w *window) peak(from, until policy.Millis) {
	w.from, w.ramps, w.breaks = from, w.ramps[:0], append(w.breaks[:0], from)
	w.ahead = w.f.merged(w.f.Groups, max(from-w.bin, 0), until)
	for !w.f.Exceeded() {
		for len(w.ahead) > 0 && (len(w.breaks) == 0 || w.ahead[0].at <= w.breaks[0]) {
			w.begin()
		}
		if len(w.breaks) == 0 || w.breaks[0] > until {
			return
		}
		b := w.breaks[0]
		w.pop()
		w.take(b, w.at(b))
		for len(w.ahead) > 0 && (len(w.breaks) == 0 || w.ahead[0].at <= w.breaks[0]) {
			w.begin()
		}
		if len(w.breaks) > 0 {
			w.between(b, min(w.breaks[0], until+1))
		}
	}
}

func (w *window) take(b policy.Millis, n int64) {
	if n > w.best.Restarts {
		w.best = Peak{b, n}
	}
}

// begin takes the next ramp, and forgets those that have left.
func (w *window) begin() {
	at, group := w.ahead.take()
	r := ramp{at, group}
	w.ramps = append(w.ramps, r)
	first, last := w.ends(r)
	for _, b := range [...]policy.Millis{at + first, at + last, at + first + w.bin, at + last + w.bin} {
		if b > w.from {
			w.push(b)
		}
	}
}

// pop removes the earliest break and all that equal it, and ramps that are over by then.
func (w *window) pop() {
	b := w.breaks[0]
	for len(w.breaks) > 0 && w.breaks[0] == b {
		n := len(w.breaks) - 1
		w.breaks[0] = w.breaks[n]
		w.breaks = w.breaks[:n]
		sink(w.breaks)
	}
	kept := w.ramps[:0]
	for _, r := range w.ramps {
		if _, last := w.ends(r); r.at+last+w.bin >= b {
			kept = append(kept, r)
		}
	}
	w.ramps = kept
}

func (w *window) push(b policy.Millis) {
	w.breaks = append(w.breaks, b)
	for i := len(w.breaks) - 1; i > 0; {
		parent := (i - 1) / 2
		if w.breaks[parent] <= w.breaks[i] {
			return
		}
		w.breaks[parent], w.breaks[i] = w.breaks[i], w.breaks[parent]
		i = parent
	}
}

// sink lets the first of a heap find its place.
func sink(h []policy.Millis) {
	for i := 0; ; {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(h); child++ {
			if h[child] < h[least] {
				least = child
			}
		}
		if least == i {
			return
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
}

// between looks for a higher peak after b and before end, two neighbouring breaks.
//
// In between the number of restarts is a sum of staircases: of ramps that come, less of ramps that
// leave. After e milliseconds e·Pods/Spread Pods more would have started, whole ones and a rest. Each
// staircase has risen by the whole ones, and by one more if the rest has reached its own. So all of
// them together rise by as much for each whole one, and what they are beyond that depends on the rest
// alone: between two neighbouring stairs it is the same. Where between them the rest comes first or
// last is what firstIn knows.
func (w *window) between(b, end policy.Millis) {
	f := w.f
	s, n, most := int64(f.Spread), f.Pods, int64(end-1-b)
	if most < 1 {
		return
	}
	w.stairs = w.stairs[:0]
	rise, coming := int64(0), int64(0)
	add := func(g *Group, x policy.Millis, up int64) {
		if x >= f.startOf(g.lo) && x < f.startOf(g.lo+g.all()-1) {
			w.stairs = append(w.stairs, stair{s - (int64(x+1)*n+s-1)%s, up})
			rise += up
			coming += max(up, 0)
		}
	}
	for _, r := range w.ramps {
		g := &f.Groups[r.group]
		add(g, b-r.at, 1)
		add(g, b-r.at-w.bin, -1)
	}
	now, whole := w.at(b), most*n/s
	if now+coming+max(rise, 0)*whole <= w.best.Restarts {
		return
	}
	f.steps += 8 * len(w.stairs)
	order := policy.Order(len(w.stairs), func(a, b int) bool { return w.stairs[a].at < w.stairs[b].at })
	local := Peak{Restarts: w.best.Restarts}
	rest := most * n % s // at the end
	for i, low := 0, int64(0); low < s; {
		// The rest is at low or more, and less than high.
		high := s
		if i < len(w.stairs) {
			high = w.stairs[order[i]].at
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
		for low = high; i < len(w.stairs) && w.stairs[order[i]].at == low; i++ {
			now += w.stairs[order[i]].up
		}
	}
	w.take(local.At, local.Restarts)
}

// mod returns what a leaves when divided by m, 0 or more. a is more than -m.
func mod(a, m int64) int64 { return (a + m) % m }

// firstIn returns the first x from 0 on for which a·x leaves from low to high when divided by m, and
// -1 if none does. a and low are less than m. If low is more than high, what leaves 0 is meant, too.
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
