package words

import (
	"strings"

	"github.com/podfate/podfate/policy/manifest"
)

// Bounds of a drawing: what is not drawn is in the table.
const (
	maxLanes       = 24  // containers of a Pod
	maxJobLanes    = 12  // containers of a Job's Pods
	maxDrawn       = 200 // entries of the timeline
	endExtraEighth = 8   // the axis ends this part of the time after the last entry
)

// drawing is the timeline of an answer as bars and flags at milliseconds.
type drawing struct {
	*document
	entries []manifest.Value // that are drawn
	again   manifest.Value   // rounds that repeat, where the drawing ends
	end     int64            // of the axis
	job     bool
	of      string // whose drawing it is, where there are several
}

// lane is what is drawn of one container: of the Pod, or of Pods of a Job from number on to which
// the same happened. The waits of a Job have a lane without a container.
type lane struct {
	container, name string
	number          int64 // -1: not of a Job's Pod
}

// covers reports whether an entry is about what l shows.
func (l lane) covers(r manifest.Value) bool {
	if text(r, "container") != l.container {
		return false
	}
	if l.number < 0 {
		return text(r, "pod") == "" || !r.Get("number").Exists()
	}
	first := number(r, "number")
	return r.Get("number").Exists() && first <= l.number && l.number < first+max(number(r, "pods"), 1)
}

// lanes draws a simulation: a lane for the phase, one for each container, all integers, so that
// every painter draws the same.
func (d *document) lanes() { d.draw(d.drawing("")) }

// drawing reads the answer of d; of is put before the names of its lanes.
func (d *document) drawing(of string) *drawing {
	g := &drawing{document: d, job: d.Answer.Get("layers").Exists(), of: of}
	g.read()
	return g
}

// draw writes drawings one under the other, on one axis.
func (d *document) draw(all ...*drawing) {
	entries, end := 0, int64(0)
	for _, g := range all {
		entries += len(g.entries)
		end = max(end, g.end)
	}
	if entries == 0 {
		return
	}
	w := d.w
	w.Object()
	d.text("block", "lanes")
	d.text("title", "Over time")
	d.int("untilMillis", end)
	d.text("text", "0s to "+span(end)+". Solid: runs; hatched: waits in back-off; boxes: exit codes; dotted: rounds that repeat.")
	w.KeyArray("lanes")
	more := 0
	for _, g := range all {
		g.end = end
		g.phases()
		lanes, n := g.choose()
		for _, l := range lanes {
			g.lane(l)
		}
		more += n - len(lanes)
	}
	w.End()
	if more > 0 {
		d.int("more", int64(more))
	}
	w.KeyArray("bands")
	for _, g := range all {
		for _, r := range g.entries {
			if len(all) > 1 || text(r, "event") != "RestartingAllContainers" {
				continue // a band goes through all lanes
			}
			w.Object()
			d.int("atMillis", number(r, "atMillis"))
			d.text("tone", All)
			d.text("mark", "restartall")
			d.text("text", "all containers restart")
			w.End()
		}
	}
	w.End()
	w.End()
}

// read chooses the entries that are drawn and where the axis ends: soon after the last of them.
func (g *drawing) read() {
	until := number(g.Answer, "untilMillis")
	g.end = max(until, 1)
	last, total := int64(0), 0
	for r := g.Answer.Get("timeline").First(); r.Exists() && total < maxDrawn; r = r.Next() {
		total++
		at := number(r, "atMillis")
		last = max(last, at)
		if text(r, "event") == "Repeated" {
			g.again = r
			break
		}
		if text(r, "event") == "BackOff" {
			last = max(last, number(r, "untilMillis"))
		}
		g.entries = append(g.entries, r)
	}
	switch p := g.phase(); {
	case last <= 0:
	case !g.job && (p == "Failed" || p == "Succeeded"):
		g.end = min(g.end, last)
	default: // an eighth more, in whole seconds
		g.end = max(1, min(g.end, (last+last/endExtraEighth)/1000*1000+1000))
	}
}

// bar writes one bar from one instant to another.
func (g *drawing) bar(kind, tone, label string, from, to int64) {
	g.w.Object()
	g.text("kind", kind)
	g.text("tone", tone)
	g.int("fromMillis", from)
	g.int("toMillis", to)
	g.text("text", label)
	g.w.End()
}

// phases writes the lane of the Pod, or of the Job.
func (g *drawing) phases() {
	w := g.w
	w.Object()
	name := "Pod"
	if g.job {
		name = "Job"
	}
	g.text("name", join(" ", g.of, name))
	g.text("kind", "phase")
	w.KeyArray("bars")
	from, phase := int64(0), g.phase()
	if g.job {
		phase = "Running"
		outcome := text(g.Answer.Get("layers").Get("job"), "outcome")
		if at := g.lastOfJob(); outcome == "Failed" || outcome == "Complete" {
			g.bar("phase", phaseTone(phase), phase, 0, at)
			from, phase = at, outcome
		}
	} else {
		first := true
		for _, r := range g.entries {
			if text(r, "event") != "PhaseChanged" || text(r, "view") == "kubelet" {
				continue
			}
			at := number(r, "atMillis")
			if old := text(r, "from"); at > from || !first {
				g.bar("phase", phaseTone(old), Visible(old), from, at)
			}
			from, phase, first = at, text(r, "to"), false
		}
	}
	g.bar("phase", phaseTone(phase), Visible(phase), from, g.end)
	w.End()
	w.KeyArray("flags")
	w.End()
	w.End()
}

func phaseTone(phase string) string {
	switch phase {
	case "Running":
		return Run
	case "Failed":
		return Fail
	case "Succeeded", "Complete":
		return OK
	}
	return Stop
}

// choose returns the lanes that are drawn and how many there would be without the bound. Of a Job
// an entry may be about many Pods and the next about some of them: a lane begins wherever an entry
// begins or ends.
func (g *drawing) choose() (lanes []lane, all int) {
	if !g.job {
		list := g.Answer.Get("containers")
		for c := list.First(); c.Exists() && len(lanes) < maxLanes; c = c.Next() {
			lanes = append(lanes, lane{text(c, "container"), short(text(c, "container")), -1})
		}
		return lanes, list.Len()
	}
	edges, containers, waits := g.edges()
	if waits {
		lanes, all = append(lanes, lane{"", "Waits", -1}), 1
	}
	for i := 0; i+1 < len(edges); i++ {
		for _, container := range containers {
			next := lane{container, "", edges[i]}
			if !g.covered(next) {
				continue
			}
			if all++; all > maxJobLanes {
				continue
			}
			next.name = container
			for p := g.Answer.Get("pods").First(); p.Exists(); p = p.Next() {
				if number(p, "number") == edges[i] {
					name := short(text(p, "name"))
					if n := edges[i+1] - edges[i]; n > 1 {
						name += " ×" + itoa(n)
					}
					next.name = join(" ", name, short(container))
					break
				}
			}
			lanes = append(lanes, next)
		}
	}
	return lanes, all
}

func (g *drawing) covered(l lane) bool {
	for _, r := range g.entries {
		if l.covers(r) {
			return true
		}
	}
	return false
}

// edges returns the numbers of Pods at which an entry begins or ends, ascending, and the
// containers.
func (g *drawing) edges() (edges []int64, containers []string, waits bool) {
	for _, r := range g.entries {
		waits = waits || text(r, "event") == "BackOff" && text(r, "pod") == ""
		name := text(r, "container")
		if name == "" {
			continue
		}
		first := number(r, "number")
		edges = insert(insert(edges, first), first+max(number(r, "pods"), 1))
		if indexOf(containers, name) < 0 {
			containers = append(containers, name)
		}
	}
	return edges, containers, waits
}

// insert adds n to an ascending list unless it is there.
func insert(list []int64, n int64) []int64 {
	i := len(list)
	for i > 0 && list[i-1] >= n {
		i--
	}
	if i < len(list) && list[i] == n {
		return list
	}
	list = append(list, 0)
	copy(list[i+1:], list[i:])
	list[i] = n
	return list
}

// lane writes one container, or the waits of a Job.
func (g *drawing) lane(l lane) {
	w := g.w
	w.Object()
	g.text("name", join(" ", g.of, l.name))
	kind := "container"
	if l.container == "" {
		kind = "waits"
	}
	g.text("kind", kind)
	g.text("text", g.laneText(l))
	w.KeyArray("bars")
	var open manifest.Value
	finish := func(at int64) {
		from := number(open, "atMillis")
		switch text(open, "event") {
		case "Started":
			g.bar("run", Run, "", from, at)
		case "BackOff":
			g.bar("wait", Wait, span(number(open, "delayMillis")), from, min(at, number(open, "untilMillis")))
		}
	}
	for _, r := range g.entries {
		if !l.covers(r) || !strings.Contains(" Started Exited BackOff Removed ", " "+text(r, "event")+" ") {
			continue
		}
		finish(number(r, "atMillis"))
		open = r
	}
	if a := g.again; a.Exists() && (text(a, "container") == "" && (text(a, "pod") == "" || l.number < 0 || l.covers(a)) || l.covers(a)) {
		at := number(a, "atMillis")
		finish(at)
		g.bar("again", Stop, "×"+itoa(number(a, "times")), at, g.end)
	} else {
		finish(g.end)
		if text(open, "event") == "Started" {
			g.bar("on", Run, "runs on", g.end, g.end)
		}
	}
	w.End()
	w.KeyArray("flags")
	for _, r := range g.entries {
		if text(r, "event") != "Exited" || !l.covers(r) {
			continue
		}
		w.Object()
		g.int("atMillis", number(r, "atMillis"))
		code := "?"
		if text(r, "reason") != "" {
			code = itoa(number(r, "exitCode"))
		}
		g.text("text", code)
		tone := g.toneOf(r)
		if a := text(r, "action"); a == "RestartAllContainers" || a == "RestartPod" {
			tone = All
		}
		g.text("tone", tone)
		g.text("path", g.decider(r))
		w.End()
	}
	w.End()
	w.End()
}

// laneText sums a container up.
func (g *drawing) laneText(l lane) string {
	if g.job {
		return ""
	}
	for c := g.Answer.Get("containers").First(); c.Exists(); c = c.Next() {
		if text(c, "container") != l.container {
			continue
		}
		s := count(number(c, "starts"), "start") + ", ran " + span(number(c, "ranMillis"))
		if has(c, "nextStartMillis") {
			s += "; starts again at " + span(number(c, "nextStartMillis"))
		}
		return s
	}
	return ""
}
