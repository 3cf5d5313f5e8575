package ops

import (
	"bytes"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/manifest"
)

// differ writes what differs between the first variant and another.
type differ struct {
	w           manifest.Writer
	of          string
	first, here *variant
	at          int  // where the difference begins that is being written
	n           int  // how many there are, beyond the bound as well
	differs     bool // here differs from the first in more than which rule decided
	different   bool // some variant does
}

// The kinds of differences that are not about what happens.
const (
	decidedByOnly = "decidedByOnly"
	kindWarning   = "warning"
	kindDropped   = "dropped"
)

// begin begins a difference, end ends it. Beyond the bound nothing of it stays.
func (d *differ) begin(kind string) {
	if kind != decidedByOnly && (d.of == "validate" || kind != kindWarning && kind != kindDropped) {
		d.differs = true
	}
	d.at = d.w.Len()
	d.w.Object()
	d.text("variant", d.here.name)
	d.text("kind", kind)
}

func (d *differ) end() {
	d.w.End()
	if d.n++; d.n > policy.MaxDifferences {
		d.w.Cut(d.at)
	}
}

//go:noinline
func (d *differ) text(name, value string) {
	if value != "" {
		d.w.KeyString(name, value)
	}
}

//go:noinline
func (d *differ) int(name string, n int64) {
	d.w.KeyInt(name, n)
}

// one notes a difference of two values, one of which may be absent; more writes what is said before
// them.
func (d *differ) one(kind string, first, here manifest.Value, more func()) {
	d.begin(kind)
	if more != nil {
		more()
	}
	d.value("first", first)
	d.value("here", here)
	d.end()
}

// value writes a value as it is, unless it is absent. From an object it leaves out the trace and
// places.
func (d *differ) value(name string, v manifest.Value) {
	if !v.Exists() {
		return
	}
	d.w.Key(name)
	if v.Kind() != manifest.Object {
		d.w.Raw(v.Raw())
		return
	}
	d.w.Object()
	some(&d.w, v, func(name string) bool {
		return !isPlace(name) && (!isAsked(name) || name == "exitCode" || name == "backoffLimit")
	})
	d.w.End()
}

func isPlace(name string) bool { return name == "line" || name == "column" || name == "offset" }

// isAsked reports whether a member of a decision says which exits it is about, how it was found, or
// what is a difference of its own.
func isAsked(name string) bool {
	switch name {
	case "from", "to", "exitCode", "trace", "backoffLimit":
		return true
	}
	return false
}

// isDecider reports whether a member says which rule decided, or what it is called, and not what
// happens.
func isDecider(name string) bool {
	switch name {
	case "decidedBy", "because", "rule", "level", "path", "message", "pod", "job", "name":
		return true
	}
	return false
}

// same reports whether two values are equal, except for members that skip names.
func same(a, b manifest.Value, skip func(name string) bool) bool {
	if a.Kind() != b.Kind() {
		return false
	}
	if bytes.Equal(a.Raw(), b.Raw()) {
		return true
	}
	switch a.Kind() {
	case manifest.Array:
		y := b.First()
		for x := a.First(); x.Exists() || y.Exists(); x, y = x.Next(), y.Next() {
			if !same(x, y, skip) {
				return false
			}
		}
		return true
	case manifest.Object:
		for x := a.First(); x.Exists(); x = x.Next() {
			if k := x.Key(); !skipped(skip, k, x) && !same(x, b.Get(k), skip) && !(k == "action" && skip("because") && stops(x) && stops(b.Get(k))) {
				return false
			}
		}
		for y := b.First(); y.Exists(); y = y.Next() {
			if k := y.Key(); !skipped(skip, k, y) && !a.Get(k).Exists() {
				return false
			}
		}
		return true
	}
	return false
}

// stops reports whether an action ends a container for good: one that a rule terminates stops like
// any other, as [fate.ends] has it.
func stops(action manifest.Value) bool {
	s := action.Text()
	return s == string(policy.Stop) || s == string(policy.ActionTerminate)
}

// skipped is skip, except that the effect on a Job, an object, is not the name of one.
func skipped(skip func(name string) bool, name string, v manifest.Value) bool {
	return skip(name) && (name != "job" || v.Kind() != manifest.Object)
}

// decisions notes the difference of two decisions, or that they only have other deciders.
func (d *differ) decisions(kind string, a, b manifest.Value, more func()) {
	switch {
	case !same(a, b, func(name string) bool { return isAsked(name) || isDecider(name) }):
	case !same(a, b, isAsked):
		kind = decidedByOnly
	default:
		return
	}
	d.one(kind, a, b, more)
}

func number(v manifest.Value, name string) int64 {
	n, _ := v.Get(name).Int64()
	return n
}

// faults notes the faults that only one of two refused variants has.
func (d *differ) faults() {
	list := func(a manifest.Value) manifest.Value {
		if e := a.Get("error"); e.Exists() {
			a = e
		}
		return a.Get("faults")
	}
	d.lists("fault", list(d.first.answer), list(d.here.answer))
}

// lists notes the entries that only one of two lists has.
func (d *differ) lists(kind string, a, b manifest.Value) {
	if a.Kind() != manifest.Array && b.Kind() != manifest.Array {
		return
	}
	missing := func(v, list manifest.Value) bool {
		for e := list.First(); e.Exists(); e = e.Next() {
			if same(v, e, isPlace) {
				return false
			}
		}
		return true
	}
	for e := a.First(); e.Exists(); e = e.Next() {
		if missing(e, b) {
			d.one(kind, e, manifest.Value{}, nil)
		}
	}
	for e := b.First(); e.Exists(); e = e.Next() {
		if missing(e, a) {
			d.one(kind, manifest.Value{}, e, nil)
		}
	}
}

// waits notes containers that wait by what the manifest says in one of the two only, and members of
// the back-off that differ.
func (d *differ) waits() {
	d.ownWaits(d.first.own, d.here.own, true)
	d.ownWaits(d.here.own, d.first.own, false)
	a, b := d.first.waits.Get("backoff"), d.here.waits.Get("backoff")
	if a.Exists() != b.Exists() { // one is no curve, such as waits by how a run ended
		d.one("waits", a, b, func() { d.text("name", "backoff") })
		return
	}
	for m := a.First(); m.Exists(); m = m.Next() {
		if h := b.Get(m.Key()); isWait(m) && !same(m, h, isPlace) {
			d.one("waits", m, h, func() { d.text("name", m.Key()) })
		}
	}
	if m, h := d.first.waits.Get("model"), d.here.waits.Get("model"); !same(m, h, isPlace) {
		d.one("waits", m, h, func() { d.text("name", "model") })
	}
	for h := b.First(); h.Exists(); h = h.Next() {
		if isWait(h) && !a.Get(h.Key()).Exists() {
			d.one("waits", manifest.Value{}, h, func() { d.text("name", h.Key()) })
		}
	}
}

// ownWaits notes what of a list of containers that wait by their policies is otherwise in another
// one. What both have is noted where a is the first variant.
func (d *differ) ownWaits(a, b []ownWaits, first bool) {
	for _, x := range a {
		other := ""
		for _, y := range b {
			if x.template == y.template && x.container == y.container {
				other = y.policy
			}
		}
		if other == x.policy || other != "" && !first {
			continue
		}
		d.begin("waits")
		d.text("template", x.template)
		d.text("container", x.container)
		d.text("name", "restartPolicy")
		if !first {
			x.policy, other = other, x.policy
		}
		d.text("first", x.policy)
		d.text("here", other)
		d.end()
	}
}

// isWait reports whether a member of a back-off says how long waits are, and not where that comes
// from.
func isWait(m manifest.Value) bool { return m.Key() != "from" && m.Key() != "preset" }

// answers notes where the answers to the question itself differ.
func (d *differ) answers() {
	a, b := d.first.answer, d.here.answer
	switch d.of {
	case "decide":
		d.exits(a.Get("decisions"), b.Get("decisions"))
	case "simulate":
		d.timelines(a, b)
	case "curve":
		d.curves(a, b)
	}
	for _, name := range [...]string{"undecided", "dropped", "warnings"} {
		kind := name
		if name == "warnings" {
			kind = kindWarning
		}
		d.lists(kind, a.Get(name), b.Get(name))
	}
	if d.of == "simulate" || d.of == "curve" {
		return
	}
	d.members("", a, b)
}

// members notes the members of two answers that differ and that nothing else is said about.
func (d *differ) members(path string, a, b manifest.Value) {
	for m := a.First(); m.Exists(); m = m.Next() {
		d.differ(child(path, m.Key()), m, b.Get(m.Key()))
	}
	for m := b.First(); m.Exists(); m = m.Next() {
		if !a.Get(m.Key()).Exists() {
			d.differ(child(path, m.Key()), manifest.Value{}, m)
		}
	}
}

// differ notes the parts of two values that differ.
func (d *differ) differ(path string, a, b manifest.Value) {
	switch path {
	case "cluster", "warnings", "dropped", "undecided", "decisions", "containers", "assumptions", "checked", "notChecked", "notCheckedMore",
		"usesRules", "unreachable", "sizes": // said elsewhere, or about the manifest and not about what happens
		return
	}
	switch {
	case same(a, b, isPlace):
	case a.Kind() == manifest.Object && b.Kind() == manifest.Object:
		d.members(path, a, b)
	case a.Kind() == manifest.Array && b.Kind() == manifest.Array:
		x, y := a.First(), b.First()
		for i := 0; x.Exists() || y.Exists(); i++ {
			d.differ(element(path, i), x, y)
			x, y = x.Next(), y.Next()
		}
	default:
		d.one("answer", a, b, func() { d.text("path", path) })
	}
}

// exits notes the decisions about the exits that were asked about, in their order.
func (d *differ) exits(a, b manifest.Value) {
	x, y := a.First(), b.First()
	for i := int64(0); x.Exists() || y.Exists(); i++ {
		d.decisions("exit", x, y, func() { d.int("exit", i) })
		x, y = x.Next(), y.Next()
	}
}

// codes notes the ranges of exit codes that come to something else in the tables of two variants.
func (d *differ) codes(a, b manifest.Value) {
	job := "\x00" // the template whose Job was looked at: none yet
	for x := a.First(); x.Exists(); x = x.Next() {
		y := counterpart(x, b)
		if !y.Exists() {
			d.one("container", x.Get("container"), y, func() { d.container(x) })
			continue
		}
		limit := func(v manifest.Value) manifest.Value { return v.Get("ranges").First().Get("job").Get("backoffLimit") }
		if template := x.Get("template").Text(); template != job { // once for each Job
			job = template
			d.counter("limit", limit(x), limit(y))
		}
		d.afterRestarts(x, y)
	}
	for y := b.First(); y.Exists(); y = y.Next() {
		if !counterpart(y, a).Exists() {
			d.one("container", manifest.Value{}, y.Get("container"), func() { d.container(y) })
		}
	}
}

// counterpart returns the entry of list about the same container as v.
func counterpart(v, list manifest.Value) manifest.Value {
	for e := list.First(); e.Exists(); e = e.Next() {
		if e.Get("container").Text() == v.Get("container").Text() && e.Get("template").Text() == v.Get("template").Text() {
			return e
		}
	}
	return manifest.Value{}
}

func (d *differ) container(v manifest.Value) {
	d.text("template", v.Get("template").Text())
	d.text("container", v.Get("container").Text())
}

// afterRestarts compares the tables of a container: one, or where restarts are asked for in either,
// one for each range of restart counts.
func (d *differ) afterRestarts(x, y manifest.Value) {
	p, q := x.Get("restarts").First(), y.Get("restarts").First()
	if !p.Exists() && !q.Exists() {
		d.rows(x, y, func() { d.container(x) })
		return
	}
	for from := int64(0); ; {
		a, b, last := x, y, int64(-1) // where the range of both ends; -1 for never
		for _, side := range [...]struct{ rows, entry *manifest.Value }{{&a, &p}, {&b, &q}} {
			if side.entry.Exists() {
				*side.rows = *side.entry
				if to := side.entry.Get("to"); to.Exists() && (last < 0 || number(*side.entry, "to") < last) {
					last, _ = to.Int64()
				}
			}
		}
		d.rows(a, b, func() {
			d.container(x)
			d.int("restartsFrom", from)
			if last >= 0 {
				d.int("restartsTo", last)
			}
		})
		if last < 0 {
			return
		}
		for _, entry := range [...]*manifest.Value{&p, &q} {
			if entry.Get("to").Exists() && number(*entry, "to") == last {
				*entry = entry.Next()
			}
		}
		from = last + 1
	}
}

// rows compares what all codes lead to, then what they lead to in a container that is killed for
// lack of memory, as far as that differs in another way, and then what other numbers lead to on
// Windows.
func (d *differ) rows(a, b manifest.Value, which func()) {
	for _, killed := range [...]bool{false, true} {
		if killed && !hasKilled(a) && !hasKilled(b) {
			break
		}
		for from := int64(0); from < codes; {
			x, y, to := fateAt(a, from, killed), fateAt(b, from, killed), from
			for to+1 < codes && fateAt(a, to+1, killed) == x && fateAt(b, to+1, killed) == y {
				to++
			}
			if !killed || x != fateAt(a, from, false) || y != fateAt(b, from, false) {
				d.decisions("codes", x, y, func() {
					which()
					d.int("from", from)
					d.int("to", to)
					if killed {
						d.text("reason", oomKilled)
					}
				})
			}
			from = to + 1
		}
	}
	for x, y := a.Get("beyond").First(), b.Get("beyond").First(); x.Exists() && y.Exists(); {
		p, q := number(x, "to"), number(y, "to")
		d.decisions("codes", x, y, func() {
			which()
			d.int("from", max(number(x, "from"), number(y, "from")))
			d.int("to", min(p, q))
		})
		if p <= q {
			x = x.Next()
		}
		if q <= p {
			y = y.Next()
		}
	}
}

// hasKilled reports whether rows of a table say something of their own about kills for lack of
// memory.
func hasKilled(rows manifest.Value) bool {
	return rows.Get("oomKilled").Exists() || rows.Get("oomKilledRanges").Exists()
}

// fateAt returns what code leads to.
func fateAt(rows manifest.Value, code int64, killed bool) manifest.Value {
	list := rows.Get("ranges")
	if killed && code == 0 && rows.Get("oomKilled").Exists() {
		return rows.Get("oomKilled")
	}
	if ranges := rows.Get("oomKilledRanges"); killed && ranges.Exists() {
		list = ranges
	}
	for r := list.First(); r.Exists(); r = r.Next() {
		if code <= number(r, "to") {
			return r
		}
	}
	return manifest.Value{}
}

// figure notes a number that differs.
func (d *differ) figure(kind string, first, here int64, more func()) {
	if first == here {
		return
	}
	d.begin(kind)
	if more != nil {
		more()
	}
	d.int("first", first)
	d.int("here", here)
	if kind == "restarts" {
		d.int("excess", here-first)
	}
	d.end()
}

// counter notes a number of a Job that differs, where both have one.
func (d *differ) counter(kind string, first, here manifest.Value) {
	a, _ := first.Int64()
	if b, ok := here.Int64(); ok && first.Exists() {
		d.figure(kind, a, b, func() { d.text("name", first.Key()) })
	}
}

// timelines notes what differs between two simulations.
func (d *differ) timelines(a, b manifest.Value) {
	d.firstInstant(a.Get("timeline").First(), b.Get("timeline").First())
	d.outcome(a, b)
	for x := a.Get("containers").First(); x.Exists(); x = x.Next() {
		y := counterpart(x, b.Get("containers"))
		if !y.Exists() {
			continue // a difference of the tables
		}
		for _, name := range [...]string{"starts", "ranMillis"} {
			d.figure(name, number(x, name), number(y, name), func() { d.container(x) })
		}
	}
	for _, r := range d.first.restarts {
		for _, h := range d.here.restarts {
			if r.container == h.container && r.until == h.until {
				d.figure("restarts", r.n, h.n, func() {
					d.text("container", r.container)
					d.int("untilMillis", r.until)
				})
			}
		}
	}
	last := func(v manifest.Value) (l manifest.Value) {
		for e := v.Get("counters").First(); e.Exists(); e = e.Next() {
			l = e
		}
		return l
	}
	x, y := last(a), last(b)
	for m := x.First(); m.Exists(); m = m.Next() {
		if m.Key() != "atMillis" {
			d.counter("counter", m, y.Get(m.Key()))
		}
	}
}

// firstInstant notes the first instant at which what runs, waits or is shown differs, with an entry
// of each timeline. Entries of one instant may come in another order.
func (d *differ) firstInstant(x, y manifest.Value) {
	for x.Exists() || y.Exists() {
		at, n := number(x, "atMillis"), int64(0)
		if other := number(y, "atMillis"); !x.Exists() || y.Exists() && other < at {
			at = other
		}
		only, other := unmatched(x, y, at), unmatched(y, x, at)
		if only.Exists() || other.Exists() {
			d.here.timeline = false
			d.one("timeline", only, other, func() { d.int("atMillis", at) })
			return
		}
		for ; x.Exists() && number(x, "atMillis") == at; n++ {
			x = x.Next()
		}
		for y.Exists() && number(y, "atMillis") == at {
			y, n = y.Next(), n-1
		}
		if n != 0 { // the same entry, once more
			d.here.timeline = false
			d.one("timeline", x, y, func() { d.int("atMillis", at) })
			return
		}
	}
}

// unmatched returns the first entry of the instant at, from v on, that others do not have then.
func unmatched(v, others manifest.Value, at int64) manifest.Value {
	for ; v.Exists() && number(v, "atMillis") == at; v = v.Next() {
		found := false
		for o := others; o.Exists() && number(o, "atMillis") == at && !found; o = o.Next() {
			found = same(v, o, isDecider)
		}
		if !found {
			return v
		}
	}
	return manifest.Value{}
}

// outcome notes how the Pod or the Job ends, and when, if that differs.
func (d *differ) outcome(a, b manifest.Value) {
	x, xAt := endingOf(a)
	y, yAt := endingOf(b)
	if x.phase == y.phase && x.reason == y.reason && xAt == yAt {
		return
	}
	d.begin("outcome")
	for _, o := range [...]struct {
		name string
		ending
		at int64
	}{{"first", x, xAt}, {"here", y, yAt}} {
		d.w.KeyObject(o.name)
		d.text("phase", o.phase)
		d.text("reason", o.reason)
		d.int("atMillis", o.at)
		d.w.End()
	}
	d.end()
}

// ending is how a Pod or a Job ends.
type ending struct{ phase, reason string }

// endingOf returns how a simulation ends, and since when.
func endingOf(a manifest.Value) (e ending, at int64) {
	job := a.Get("layers").Get("job")
	status := a.Get("pod").Get("status")
	e = ending{status.Get("phase").Text(), status.Get("reason").Text()}
	if job.Exists() {
		e = ending{job.Get("outcome").Text(), job.Get("reason").Text()}
	}
	for r := a.Get("timeline").First(); r.Exists(); r = r.Next() {
		if job.Exists() && r.Get("job").Exists() || !job.Exists() && r.Get("event").Text() == "PhaseChanged" {
			at = number(r, "atMillis")
		}
	}
	return e, at
}

// curves notes what differs between two curves: restarts in each window that both have, the restart
// from which on the other one is ahead, and how late each is back.
func (d *differ) curves(a, b manifest.Value) {
	y := b.Get("windows").First()
	for x := a.Get("windows").First(); x.Exists(); x = x.Next() {
		until := number(x, "untilMillis")
		for y.Exists() && number(y, "untilMillis") < until {
			y = y.Next()
		}
		if y.Exists() && number(y, "untilMillis") == until {
			d.figure("restarts", number(x, "restarts"), number(y, "restarts"), func() { d.int("untilMillis", until) })
		}
	}
	d.crossing(a.Get("starts").First(), b.Get("starts").First())
	if x, y := a.Get("outage"), b.Get("outage"); x.Exists() && y.Exists() {
		d.figure("late", number(x, "lateMillis"), number(y, "lateMillis"), nil)
	}
	x, y := a.Get("steady"), b.Get("steady")
	d.figure("steady", number(x, "restartsPerHourThousandths"), number(y, "restartsPerHourThousandths"), nil)
	d.figure("run", number(a.Get("run"), "forMillis"), number(b.Get("run"), "forMillis"), nil)
}

// crossing notes the first restart that comes differently, and the first with which the one that
// was ahead is behind.
func (d *differ) crossing(x, y manifest.Value) {
	ahead := int64(0)
	for ; x.Exists() && y.Exists(); x, y = x.Next(), y.Next() {
		first, here := number(x, "atMillis"), number(y, "atMillis")
		if first == here || ahead != 0 && (here-first > 0) == (ahead > 0) {
			continue
		}
		kind := "crossing"
		if ahead == 0 {
			kind = "start"
		}
		d.figure(kind, first, here, func() { d.int("restart", number(x, "restart")) })
		if ahead != 0 {
			return
		}
		ahead = here - first
	}
}
