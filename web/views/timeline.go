package views

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The functions of this file make sentences and the drawing of a simulation; timeline.js has one of the same name for
// each.

const (
	// maxRows bounds the entries of a timeline that the page shows, maxLanes the containers that it draws.
	maxRows  = 200
	maxLanes = 24

	// Of the drawing, in its own units: the plot begins at left and is plot wide; width and the height of a bar.
	left, plot, width, bar = 12, 490, 580, 18
	// letter is the width of a character at most.
	letter = 8
)

// rows are the entries that the page shows.
func rows(a *Answer) []Record { return a.Timeline[:min(len(a.Timeline), maxRows)] }

// over reports whether the Pod, or the Job, has come to an end.
func over(a *Answer) bool {
	return phase(a) == "Succeeded" || phase(a) == "Failed" || phase(a) == "Complete"
}

// phase is that of the Pod, or how the Job stands.
func phase(a *Answer) string {
	if a.Pod == nil {
		return a.Layers.Job.Outcome
	}
	return a.Pod.Status.Phase
}

// simulated is the verdict of a simulation.
func simulated(a *Answer) string {
	if len(a.Undecided) > 0 {
		return say("verdict.open", "at", Duration(a.Undecided[0].At))
	}
	if a.Job != nil {
		return jobSimulated(a)
	}
	key, at, n := "verdict.still", a.Until, int64(0)
	if over(a) {
		key = "verdict.over"
		for _, r := range a.Timeline {
			if r.Event == "PhaseChanged" {
				at = r.At
			}
		}
	}
	for _, c := range a.Containers {
		n += c.Restarts
	}
	return say(key, "phase", Visible(phase(a)), "at", Duration(at), "restarts", count("restarts", n))
}

// count says how many.
func count(key string, n int64) string {
	if n == 1 && known(key+".1") {
		return say(key + ".1")
	}
	return say(key, "n", strconv.FormatInt(n, 10))
}

// laneSentence sums a container up.
func laneSentence(c Lane) string {
	s := say("timeline.lane", "container", Visible(short(c.Container)), "starts", count("starts", c.Starts), "ran", Duration(c.Ran))
	if c.NextStart == nil {
		return s
	}
	return say("timeline.next", "lane", s, "at", Duration(*c.NextStart), "delay", Duration(c.Delay))
}

// waits says what a live Pod is waiting for.
func waits(a *Answer) []string {
	if a.From == nil {
		return nil
	}
	list := []string{say("from", "now", a.From.Now)}
	for _, w := range a.From.Waits {
		key, next := "wait.run", int64(0)
		if w.Next != nil {
			key, next = "wait.next", *w.Next
		}
		s := say(key, "container", Visible(short(w.Container)), "delay", Duration(w.Delay), "next", Duration(next), "time", w.NextStart, "why", say("wait."+w.DelayFrom))
		if w.Latest-w.Earliest > 1000 {
			s += say("wait.between", "from", Duration(w.Earliest), "to", Duration(w.Latest))
		}
		list = append(list, s)
	}
	return list
}

// phaseTone is the class of a Pod's phase.
func phaseTone(a *Answer) string {
	switch {
	case len(a.Undecided) > 0:
		return "undecided"
	case phase(a) == "Failed":
		return "stop"
	case phase(a) == "Succeeded" || phase(a) == "Complete":
		return "valid"
	}
	return "restart"
}

// who names what an entry is about; in a Job each entry has a Pod, or is about the Job.
func who(a *Answer, r Record) string {
	if a.Job != nil && r.Pod == "" {
		return say("column.job")
	}
	if a.Job != nil {
		name := times(words(r.Pod), r.Pods)
		return strings.TrimSpace(name + " " + Visible(short(r.Container)))
	}
	if r.Container == "" {
		return say("pod")
	}
	return Visible(short(r.Container))
}

// whose is the column of what entries are about.
func whose(a *Answer) string {
	if a.Job != nil {
		return "who"
	}
	return "container"
}

// detail says what an entry's event means.
func detail(r Record) string {
	switch r.Event {
	case "Started":
		return restart(r.RestartCount)
	case "Exited":
		if r.Action == "" || r.Reason == "" {
			return chipText(r)
		}
		return code(r.Decision) + ": " + say("action."+r.Action) + " " + by(r.Decision)
	case "BackOff":
		return say("detail.BackOff", "delay", Duration(r.Delay), "until", Duration(r.Until))
	case "PhaseChanged", "PhaseDecided":
		text := say("detail."+r.Event, "from", Visible(r.From), "to", Visible(r.To))
		if r.Counted != nil {
			text += ": " + PodVerdict(r.Action, r.Rule)
		}
		return text
	case "Repeated":
		return say("detail.Repeated", "times", strconv.FormatInt(r.Times, 10), "since", Duration(r.Since), "every", Duration(r.Every), "until", Duration(r.Until))
	}
	switch {
	case r.Index != nil:
		return say("detail.index", "n", strconv.FormatInt(*r.Index, 10))
	case r.Event == "PodCreated" || r.Event == "PodDeleted":
		return ""
	case r.Message != "":
		return Visible(r.Reason + ": " + r.Message)
	}
	return Phrase(r.Reason + r.Ignored)
}

func restart(n int64) string {
	if n == 0 {
		return say("detail.first")
	}
	return say("detail.Started", "n", strconv.FormatInt(n, 10))
}

// chipText is the exit code, or ? where the kubelet does not know one.
func chipText(r Record) string {
	if r.Reason == "" {
		return "?"
	}
	return number(r.ExitCode)
}

// spaced writes a code such as pod_done as words.
func spaced(code string) string { return Visible(strings.ReplaceAll(code, "_", " ")) }

func assumed(a *Answer) string {
	var list []string
	for _, code := range a.Assumptions {
		list = append(list, Phrase(code))
	}
	return say("timeline.assumed", "list", strings.Join(list, "; "))
}

// Duration writes milliseconds, from 0 on, as Kubernetes writes lengths of time, without the parts that are zero: 1m30s, 0.5s.
func Duration(ms int64) string {
	s := ""
	if h := ms / 3_600_000; h > 0 {
		s = strconv.FormatInt(h, 10) + "h"
	}
	if m := ms / 60_000 % 60; m > 0 {
		s += strconv.FormatInt(m, 10) + "m"
	}
	if rest := ms % 60_000; rest > 0 || s == "" {
		s += strconv.FormatFloat(float64(rest)/1000, 'f', -1, 64) + "s"
	}
	return s
}

// shape is a path, or a text where d is "".
type shape struct {
	class, d string
	x, y     int
	text     string
}

// drawing is the timeline as a list of shapes, in the order in which they are painted.
type drawing struct {
	shapes []shape
	y      int   // the next lane begins here; in the end the height
	end    int64 // the instant at the right end of the plot
	left   int   // how many lanes of a Job are not drawn
}

func (g *drawing) path(class string, parts ...any) {
	var d strings.Builder
	for i, p := range parts {
		switch p := p.(type) {
		case string:
			d.WriteString(p)
		case int:
			if _, after := parts[max(i-1, 0)].(int); after {
				d.WriteByte(' ')
			}
			d.WriteString(strconv.Itoa(p))
		}
	}
	g.shapes = append(g.shapes, shape{class: class, d: d.String()})
}

func (g *drawing) text(class string, x, y int, text string) {
	g.shapes = append(g.shapes, shape{class: class, x: x, y: y, text: text})
}

func (g *drawing) box(class string, x, y, w, h int) {
	g.path(class, "M", x, y, "h", w, "v", h, "h", -w, "z")
}

// at is where an instant stands.
func (g *drawing) at(ms int64) int { return left + int(ms*plot/g.end) }

func textWidth(s string) int { return letter * utf8.RuneCountInString(s) }

// inBox writes a text into a box if there is room.
func (g *drawing) inBox(x, y, w int, text string) {
	if room := w - textWidth(text); room >= letter {
		g.text("in", x+room/2, y+13, text)
	}
}

// draw draws a simulation: a lane for the Pod's phase, one for each container, and a linear axis that ends soon after the
// last entry. Where rounds begin to repeat, it ends.
func draw(a *Answer) *drawing {
	g := &drawing{end: max(a.Until, 1)}
	list := rows(a)
	var again *Record
	last := int64(0)
	for i, r := range list {
		last = max(last, r.At)
		if r.Event == "Repeated" {
			list, again = list[:i], &r
			break
		}
		if r.Event == "BackOff" {
			last = max(last, r.Until)
		}
	}
	if last > 0 && over(a) && a.Job == nil {
		g.end = min(g.end, last)
	} else if last > 0 {
		g.end = min(g.end, (last*9/8000+1)*1000) // an eighth more, in whole seconds
	}
	g.phases(a, list)
	drawn, all := lanes(a, list)
	for _, l := range drawn {
		g.lane(l, list, again)
	}
	g.left = max(all-jobLanes, 0)
	if a.Job != nil {
		g.counters(a)
	}
	g.axis(list)
	return g
}

// lane is what is drawn of one container: of the Pod, or of Pods of a Job from number on to which the same happened. The
// waits of a Job have a lane without a container.
type lane struct {
	container, name string
	number          int64 // -1: not of a Job's Pod
}

// covers reports whether an entry is about what l shows.
func (l lane) covers(r Record) bool {
	if r.Container != l.container {
		return false
	}
	if l.number < 0 {
		return r.Pod == ""
	}
	return r.Pod != "" && r.Number <= l.number && l.number < r.Number+max(r.Pods, 1)
}

// jobLanes bounds the lanes of a Job.
const jobLanes = 12

// lanes are the containers of a Pod, or of a Job those of its Pods in the order of their creation, and how many there
// would be of a Job without the bound. An entry may be about many Pods and the next about some of them: a lane begins wherever
// an entry begins or ends.
func lanes(a *Answer, list []Record) (l []lane, all int) {
	if a.Job == nil {
		for _, c := range a.Containers[:min(len(a.Containers), maxLanes)] {
			l = append(l, lane{c.Container, Visible(short(c.Container)), -1})
		}
		return l, 0
	}
	var edges []int64
	var containers []string
	waits := false
	for _, r := range list {
		waits = waits || r.Event == "BackOff" && r.Pod == ""
		if r.Container == "" {
			continue
		}
		edges = append(edges, r.Number, r.Number+max(r.Pods, 1))
		if !slices.Contains(containers, r.Container) {
			containers = append(containers, r.Container)
		}
	}
	if waits {
		l = append(l, lane{"", say("backoff"), -1})
	}
	slices.Sort(edges)
	edges = slices.Compact(edges)
	for i, number := range edges[:max(len(edges), 1)-1] {
		for _, container := range containers {
			next := lane{container, "", number}
			if !slices.ContainsFunc(list, next.covers) {
				continue
			}
			if all++; all > jobLanes {
				continue
			}
			for _, p := range a.Pods {
				if p.Number == number {
					next.name = times(words(p.Name), edges[i+1]-number) + " " + words(container)
				}
			}
			l = append(l, next)
		}
	}
	return l, all
}

// counters draws counters of a Job: a lane for each, with a bar as high as the number from one change to the next.
func (g *drawing) counters(a *Answer) {
	list := a.Counters[:min(len(a.Counters), maxRows)]
	for _, counter := range []struct {
		name string
		of   func(Counters) int64
	}{
		{"active", func(c Counters) int64 { return c.Active }},
		{"succeeded", func(c Counters) int64 { return c.Succeeded }},
		{"failed", func(c Counters) int64 { return c.Failed }},
	} {
		y := g.y + 20
		g.text("name", left, g.y+13, say("column."+counter.name))
		g.path("base", "M", left, y+bar, "h", plot)
		most := int64(1)
		for _, c := range list {
			most = max(most, counter.of(c))
		}
		for i, next := 0, 0; i < len(list); i = next {
			n, end := counter.of(list[i]), g.end
			for next = i + 1; next < len(list); next++ {
				if counter.of(list[next]) != n {
					end = list[next].At
					break
				}
			}
			x := g.at(list[i].At)
			w, h := g.at(end)-x, int(n*bar/most)
			if h > 0 {
				g.box("count", x, y+bar-h, w, h)
			}
			g.inBox(x, y, w, strconv.FormatInt(n, 10))
		}
		g.y += 46
	}
}

// steps are the distances between labels of the axis, in milliseconds.
var steps = []int64{
	100, 200, 500, 1_000, 2_000, 5_000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000, 900_000, 1_800_000,
	3_600_000, 7_200_000, 21_600_000, 43_200_000, 86_400_000,
}

// axis draws what stands behind and below the lanes.
func (g *drawing) axis(list []Record) {
	lanes := g.shapes
	g.shapes = nil
	step := steps[len(steps)-1]
	for _, s := range steps {
		if g.end <= 6*s {
			step = s
			break
		}
	}
	for g.end > 6*step {
		step *= 2
	}
	for ms := int64(0); ms <= g.end; ms += step {
		g.path("grid", "M", g.at(ms), 0, "V", g.y)
		g.text("tick", g.at(ms), g.y+14, Duration(ms))
	}
	for _, r := range list {
		if r.Event == "RestartingAllContainers" {
			g.path("all", "M", g.at(r.At), 0, "V", g.y)
			g.text("glyph", g.at(r.At)+3, 13, say("glyph.RestartAllContainers"))
		}
	}
	g.shapes = append(g.shapes, lanes...)
	g.y += 20
}

// phases draws the lane of the Pod, or of the Job: a tick for each change, and the name of a phase where there is room.
func (g *drawing) phases(a *Answer, list []Record) {
	if a.Job != nil {
		list = nil
		if over(a) {
			list = []Record{{Event: "PhaseChanged", At: endOfJob(a), From: "Running", To: phase(a)}}
		}
		g.text("name", left, 13, say("column.job"))
	} else {
		g.text("name", left, 13, say("pod"))
	}
	g.path("base", "M", left, 29, "h", plot)
	x, phase := left, phase(a)
	var later []Record
	for _, r := range list {
		if r.Event == "PhaseChanged" {
			later = append(later, r)
		}
	}
	if len(later) > 0 {
		phase = later[0].From
	}
	for _, r := range append(later, Record{At: g.end}) {
		next := g.at(r.At)
		if r.To == "" {
			next = width + letter // the last one may reach into the margin
		}
		g.path("phase", "M", x, 22, "v", 14)
		if w := textWidth(phase); next-x >= w+letter {
			g.text("in", x+4, 33, Visible(phase))
		}
		x, phase = next, r.To
	}
	g.y = 46
}

// chip is a box with an exit code, n times.
type chip struct {
	x, n int
	text string
}

func (c chip) label() string {
	if c.n == 1 {
		return c.text
	}
	return c.text + "×" + number(c.n)
}

// lane draws one container, or the waits of a Job.
func (g *drawing) lane(l lane, list []Record, again *Record) {
	y := g.y + 20
	g.text("name", left, g.y+13, l.name)
	g.path("base", "M", left, y+bar/2, "h", plot)
	var open Record
	finish := func(at int64) {
		x := g.at(open.At)
		switch open.Event {
		case "Started":
			g.box("run", x, y, max(g.at(at)-x, 2), bar)
		case "BackOff":
			w := g.at(min(at, open.Until)) - x
			g.hatch(x, y, w)
			g.inBox(x, y, w, Duration(open.Delay))
		}
	}
	var chips [2][]chip
	for _, r := range list {
		if !l.covers(r) || !strings.Contains(" Started Exited BackOff Removed ", " "+r.Event+" ") {
			continue
		}
		finish(r.At)
		open = r
		if r.Event == "Exited" {
			place(&chips, g.at(r.At), chipText(r))
			g.path("stem", "M", g.at(r.At), y+bar, "v", 4)
		}
	}
	if again != nil && (again.Container == "" && (again.Pod == "" || l.number < 0) || l.covers(*again)) {
		finish(again.At)
		x := g.at(again.At)
		g.box("again", x, y, left+plot-x, bar)
		g.inBox(x, y, left+plot-x, "×"+strconv.FormatInt(again.Times, 10))
	} else {
		finish(g.end)
		if open.Event == "Started" { // it runs on
			g.path("run", "M", left+plot, y, "l", 9, 9, "l", -9, 9, "z")
		}
	}
	used := 0
	for row, line := range chips {
		for _, c := range line {
			used = row + 1
			top := y + bar + 4 + 20*row
			g.box("chip", c.x, top, textWidth(c.label())+letter, bar)
			g.text("in", c.x+4, top+13, c.label())
		}
	}
	g.y = y + bar + 12 + 20*used
}

// place puts a box into the first of two rows where it does not cover the one before. Where both are full it is counted
// there with its like, or left to the table.
func place(rows *[2][]chip, x int, text string) {
	for i, row := range rows {
		last := len(row) - 1
		switch {
		case last < 0 || x >= row[last].x+textWidth(row[last].label())+letter+2:
			rows[i] = append(row, chip{x, 1, text})
			return
		case row[last].text == text:
			row[last].n++
			return
		}
	}
}

// hatch draws a box with diagonals, 6 apart.
func (g *drawing) hatch(x, y, w int) {
	parts := []any{"M", x, y, "h", w, "v", bar, "h", -w, "z"}
	for i := 6 - bar; i < w; i += 6 {
		from, to := max(i, 0), min(i+bar, w)
		parts = append(parts, "M", x+from, y+bar-from+i, "l", to-from, from-to)
	}
	g.path("wait", parts...)
}
