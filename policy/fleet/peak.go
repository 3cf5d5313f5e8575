package fleet

import (
	"slices"

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

// merged returns the restarts of groups until the given instant.
func merged(groups []Group, until policy.Millis) merge {
	var m merge
	for i := range groups {
		g := &groups[i]
		if g.all() == 0 {
			continue
		}
		for _, p := range g.Restarts {
			if n := p.until(until); n > 0 {
				m = append(m, cursor{p.At, p.Period, n, int32(i)})
			}
		}
	}
	for i := len(m)/2 - 1; i >= 0; i-- {
		m.down(i)
	}
	return m
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

// Peak returns the most restarts in any stretch of length bin that ends at until or before.
func (f *Fleet) Peak(bin, until policy.Millis) Peak {
	// What repeats need not be looked at twice. Every stretch that ends later equals an earlier
	// one.
	if s := f.Steady(); s.Period > 0 {
		until = min(until, s.From+f.Spread+bin+2*s.Period)
	}
	if f.Spread <= 1 {
		return f.peakTogether(bin, until)
	}
	w := window{f: f, bin: bin, ahead: merged(f.Groups, until)}
	return w.peak(until)
}

// peakTogether is Peak for Pods that all start together.
func (f *Fleet) peakTogether(bin, until policy.Millis) (best Peak) {
	lead, lag := merged(f.Groups, until), merged(f.Groups, until)
	sum := int64(0)
	for len(lead) > 0 && !f.Exceeded() {
		at := lead[0].at
		for len(lead) > 0 && lead[0].at == at {
			_, g := lead.take()
			sum += f.Groups[g].all()
			f.steps++
		}
		for lag[0].at <= at-bin {
			_, g := lag.take()
			sum -= f.Groups[g].all()
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
	ahead  merge
	ramps  []ramp          // of which some restarts may still come into the window or leave it, by time
	breaks []policy.Millis // instants later than the present at which a ramp begins or ends
	best   Peak
}

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

// peak goes from one break to the next. Between two breaks the same ramps are coming and leaving.
func (w *window) peak(until policy.Millis) Peak {
	for !w.f.Exceeded() {
		for len(w.ahead) > 0 && (len(w.breaks) == 0 || w.ahead[0].at <= w.breaks[0]) {
			w.begin()
		}
		if len(w.breaks) == 0 || w.breaks[0] > until {
			return w.best
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
	return w.best
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
		w.push(b)
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

// between looks for a higher peak after b and before end, two neighbouring breaks. In between the
// number of restarts is a sum of staircases: of ramps that come, less of ramps that leave.
func (w *window) between(b, end policy.Millis) {
	if end-b < 2 {
		return
	}
	f := w.f
	s, n := int64(f.Spread), f.Pods
	var steps []int64 // how far each staircase is from its next step, in parts of 1/s of one; below 0: leaving
	coming, leaving, bound := int64(0), int64(0), int64(0)
	f.steps += len(w.ramps)
	for _, r := range w.ramps {
		g := &f.Groups[r.group]
		first, last := f.startOf(g.lo), f.startOf(g.lo+g.all()-1)
		x := b - r.at
		if x >= first && x < last {
			coming++
			steps = append(steps, s-(int64(x+1)*n+s-1)%s)
		}
		if x -= w.bin; x >= first && x < last {
			leaving++
			steps = append(steps, -(s - (int64(x+1)*n+s-1)%s))
		}
	}
	if coming == 0 {
		return
	}
	// Where more come than leave, the peak is near the end, or else near the beginning: each
	// staircase differs from its line by less than one step.
	near := 1 + f.Spread/gcd(f.Spread, policy.Millis(n)) // after which all staircases repeat, higher or lower
	if more := coming - leaving; more != 0 {
		near = min(near, policy.Millis((coming+leaving)*s/(max(more, -more)*n))+2)
	}
	switch {
	case coming > leaving:
		bound = w.at(end-1) + coming + leaving
		b = max(b, end-1-near)
	case coming < leaving:
		bound = w.at(b) + coming + leaving
		end = min(end, b+near)
	default:
		bound = w.at(b) + highest(steps)
		end = min(end, b+near)
	}
	for bound > w.best.Restarts && !f.Exceeded() {
		if b = w.nextStart(b); b >= end {
			return
		}
		w.take(b, w.at(b))
	}
}

// highest returns by how much a sum of staircases that neither rises nor falls in the long run can
// be more than where all are now.
func highest(steps []int64) (most int64) {
	slices.SortFunc(steps, func(a, b int64) int {
		if d := max(a, -a) - max(b, -b); d != 0 {
			return int(min(max(d, -1), 1))
		}
		return int(min(max(a-b, -1), 1)) // of two at once the one that leaves is first
	})
	sum := int64(0)
	for _, d := range steps {
		if d > 0 {
			sum++
		} else {
			sum--
		}
		most = max(most, sum)
	}
	return most
}

// nextStart returns the first instant after b at which a restart comes into the window.
func (w *window) nextStart(b policy.Millis) policy.Millis {
	next := policy.Millis(1 << 62)
	for _, r := range w.ramps {
		g := &w.f.Groups[r.group]
		if n := w.f.started(g, b-r.at); n < g.all() {
			next = min(next, r.at+w.f.startOf(g.lo+n))
		}
	}
	return next
}
