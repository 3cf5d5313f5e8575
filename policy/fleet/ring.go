package fleet

import (
	"github.com/podfate/podfate/policy"
)

// Limits of a ring, which needs memory for each Pod: 1.7 MB at most.
const (
	maxArcs    = 1<<14 - 1
	maxOnRing  = 1 << 19 // instants that are looked at one after the other
	maxOffsets = 1 << 10
)

// ring is a period bent to a circle. What a Pod does again and again is an arc of it: the ends of
// all stretches that hold the restart. A Pod adds its arcs when it has settled, so that all of the
// time between two such instants is looked at by one look at the tree.
type ring struct {
	f       *Fleet
	lanes   []lane
	heap    merge // the next instant of each lane; group is its number
	period  policy.Millis
	width   policy.Millis   // of an arc
	points  []policy.Millis // at which arcs begin and end, sorted; the first is 0
	ends    []int32         // for each arc the indices of its two points
	most    []int32         // a tree over points: the most arcs of a node, without those of nodes above
	all     []int32         // arcs that cover all of a node
	outside int64           // restarts in the stretch that are not arcs
	best    Peak
}

// lane is one thing that each Pod of a group does a fixed time after its start.
type lane struct {
	group, arcs int32 // the first of its arcs; -1 if it adds up to outside
	after       policy.Millis
	next, up    int64
}

// peakOnRing is Peak for few Pods. It reports whether it was one for it.
func (f *Fleet) peakOnRing(s Steady, bin, until policy.Millis) (Peak, bool) {
	w := ring{f: f, period: s.Period, width: bin % s.Period}
	if !w.lay(s, bin, until) {
		return Peak{}, false
	}
	w.bend()
	for len(w.heap) > 0 && w.heap[0].at <= until {
		at := w.heap[0].at
		for len(w.heap) > 0 && w.heap[0].at == at {
			w.step()
		}
		end := until + 1
		if len(w.heap) > 0 {
			end = min(end, w.heap[0].at)
		}
		w.look(at, end)
	}
	return w.best, true
}

// lay makes the lanes. It reports whether they are few enough.
func (w *ring) lay(s Steady, bin, until policy.Millis) bool {
	f := w.f
	instants, arcs, whole := int64(0), int64(0), int64(bin/s.Period)
	for i := range f.Groups {
		g := &f.Groups[i]
		add := func(after policy.Millis, up int64, arc bool) {
			l := lane{int32(i), -1, after, 0, up}
			if instants += g.all(); arc {
				l.arcs = int32(min(arcs, maxArcs))
				arcs += g.all()
			}
			w.lanes = append(w.lanes, l)
			w.heap.push(cursor{after + f.startOf(g.lo), 0, 0, int32(len(w.lanes) - 1)})
		}
		for _, p := range g.Restarts {
			last := p.until(min(s.From+s.Period, until-f.startOf(g.lo)))
			if g.all() == 0 || last == 0 {
				continue
			}
			if int64(len(w.lanes))+last > maxOffsets || instants > maxOnRing || arcs > maxArcs {
				return false
			}
			for k := range last {
				at := p.at(k)
				if at <= s.From {
					add(at, 1, false)
					add(at+bin, -1, false)
					continue
				}
				for n := int64(0); n < whole; n++ {
					if at+policy.Millis(n)*s.Period > until {
						break
					}
					if len(w.lanes) > maxOffsets {
						return false
					}
					add(at+policy.Millis(n)*s.Period, 1, false)
				}
				if w.width > 0 {
					add(at+policy.Millis(whole)*s.Period, 0, true)
				}
			}
		}
	}
	return instants <= maxOnRing && arcs <= maxArcs
}

// bend makes the points and the tree of the circle.
func (w *ring) bend() {
	var at []policy.Millis
	for _, l := range w.lanes {
		if l.arcs < 0 {
			continue
		}
		g := &w.f.Groups[l.group]
		for i := range g.all() {
			from := (w.f.startOf(g.lo+i) + l.after) % w.period
			at = append(at, from, (from+w.width)%w.period)
		}
	}
	w.points, w.ends = append(make([]policy.Millis, 0, len(at)+1), 0), make([]int32, len(at))
	for _, i := range policy.Order(len(at), func(a, b int) bool { return at[a] < at[b] }) {
		if at[i] > w.points[len(w.points)-1] {
			w.points = append(w.points, at[i])
		}
		w.ends[i] = int32(len(w.points) - 1)
	}
	size := 1
	for size < len(w.points) {
		size *= 2
	}
	w.most, w.all = make([]int32, 2*size), make([]int32, 2*size)
}

// step takes the next instant.
func (w *ring) step() {
	w.f.steps++
	c := &w.heap[0]
	l := &w.lanes[c.group]
	g := &w.f.Groups[l.group]
	if l.arcs < 0 {
		w.outside += l.up
	} else {
		arc := w.ends[2*(int64(l.arcs)+l.next):]
		if from, to := int(arc[0]), int(arc[1]); from < to {
			w.cover(1, len(w.most)/2, from, to)
		} else {
			w.cover(1, len(w.most)/2, from, len(w.points))
			w.cover(1, len(w.most)/2, 0, to)
		}
	}
	if l.next++; l.next < g.all() {
		c.at = w.f.startOf(g.lo+l.next) + l.after
	} else {
		*c = w.heap[len(w.heap)-1]
		w.heap = w.heap[:len(w.heap)-1]
	}
	w.heap.down(0)
}

// cover adds an arc from one point to before another, both counted from the first of a node.
func (w *ring) cover(node, size, from, to int) {
	if from, to = max(from, 0), min(to, size); from >= to {
		return
	}
	if to-from == size {
		w.most[node]++
		w.all[node]++
		return
	}
	size /= 2
	w.cover(2*node, size, from, to)
	w.cover(2*node+1, size, from-size, to-size)
	w.most[node] = max(w.most[2*node], w.most[2*node+1]) + w.all[node]
}

// first returns the first point from one to before another that n arcs cover or more, and -1 if
// there is none.
func (w *ring) first(node, size, from, to int, n int32) int {
	if from, to = max(from, 0), min(to, size); from >= to || w.most[node] < n {
		return -1
	}
	if size == 1 {
		return 0
	}
	size /= 2
	n -= w.all[node]
	if i := w.first(2*node, size, from, to, n); i >= 0 {
		return i
	}
	if i := w.first(2*node+1, size, from-size, to-size, n); i >= 0 {
		return i + size
	}
	return -1
}

// look looks at all stretches that end from one instant on and before another, with nothing added
// in between.
func (w *ring) look(from, end policy.Millis) {
	for w.outside+int64(w.most[1]) > w.best.Restarts {
		w.f.steps++
		n, phase := int32(max(w.best.Restarts+1-w.outside, 0)), from%w.period
		length := min(end-from, w.period)
		// From here to the end of the circle, and what is left from its beginning on.
		here, to := w.index(phase), w.index(min(phase+length, w.period)-1)+1
		i, past := w.first(1, len(w.most)/2, here, to, n), -phase
		if over := phase + length - w.period; i < 0 && over > 0 {
			i, past = w.first(1, len(w.most)/2, 0, w.index(over-1)+1, n), w.period-phase
		}
		if i < 0 {
			return
		}
		w.best = Peak{from + max(w.points[i]+past, 0), w.best.Restarts + 1}
	}
}

// index returns the last point that is not after x.
func (w *ring) index(x policy.Millis) int {
	from, to := 0, len(w.points)
	for to-from > 1 {
		if middle := (from + to) / 2; w.points[middle] <= x {
			from = middle
		} else {
			to = middle
		}
	}
	return from
}
