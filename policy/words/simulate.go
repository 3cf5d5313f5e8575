package words

import (
	"strings"

	"github.com/podfate/podfate/policy/manifest"
)

// simulatePod puts a Pod over time into words.
func (d *document) simulatePod() {
	d.podVerdict()
	d.blocks(func() {
		d.expected()
		d.rows()
		d.waits()
		d.setWaits()
		d.layers(d.lastContainerCard(), d.phaseCard(), d.jobCard(manifest.Value{}))
		d.lanes()
		d.decided()
		d.timeline()
		d.watched()
		d.ending()
		d.open()
		d.waste()
		d.assumptions()
		d.checks()
	})
}

// phase is that of the Pod at the end.
func (d *document) phase() string {
	return text(d.Answer.Get("pod").Get("status"), "phase")
}

// loop is a container in a crash loop.
type loop struct {
	name       string
	restarts   int64
	ran        int64
	next       int64 // when it starts again, -1 if it runs
	found      bool
	containers int // that loop
}

// crashLoop finds the container that kubectl would call CrashLoopBackOff: one that waits for its
// next start, or that is between two such waits.
func (d *document) crashLoop() (l loop) {
	l.next = -1
	a := d.Answer
	until := number(a, "untilMillis")
	for c := a.Get("containers").First(); c.Exists(); c = c.Next() {
		name := text(c, "container")
		waits := has(c, "nextStartMillis")
		if !waits && !d.loops(name, until) {
			continue
		}
		l.containers++
		if l.found && (l.next >= 0 || !waits) {
			continue
		}
		l.found, l.name = true, name
		l.restarts, l.ran = number(c, "restarts"), number(c, "ranMillis")
		if waits {
			l.next = number(c, "nextStartMillis")
		}
	}
	return l
}

// loops reports whether a container that runs at the end has waited in back-off before this run,
// and the run is not longer than the one before it: it may well be the next round of the loop.
func (d *document) loops(name string, until int64) bool {
	var started, longest int64
	waited, running := false, false
	for r := d.Answer.Get("timeline").First(); r.Exists(); r = r.Next() {
		at := number(r, "atMillis")
		if text(r, "event") == "Repeated" {
			if own := text(r, "container"); own == "" || own == name {
				for s := r.Get("starts").First(); s.Exists(); s = s.Next() {
					if text(s, "container") == name && number(r, "untilMillis") >= until-number(r, "everyMillis") {
						return waited
					}
				}
			}
			continue
		}
		if text(r, "container") != name {
			continue
		}
		switch text(r, "event") {
		case "Started":
			started, running = at, true
		case "Exited":
			longest, running = max(longest, at-started), false
		case "BackOff":
			waited = true
		}
	}
	return waited && running && until-started <= longest
}

// podVerdict says what state the Pod is in, in kubectl's words where it has some.
func (d *document) podVerdict() {
	a := d.Answer
	until, phase := number(a, "untilMillis"), d.phase()
	restarts := int64(0)
	for c := a.Get("containers").First(); c.Exists(); c = c.Next() {
		restarts += number(c, "restarts")
	}
	v := item{text: count(restarts, "restart") + " in " + span(until) + ".", source: phasePage}
	title := ""
	l := d.crashLoop()
	about := l.name
	for w := a.Get("from").Get("waits").First(); w.Exists() && about == ""; w = w.Next() {
		about = text(w, "container")
	}
	ends := phase == "Failed" || phase == "Succeeded"
	last := d.lastDecision(about)
	again := strings.HasPrefix(text(last, "action"), "Restart")
	// A Pod that something else has ended, such as an eviction, did not end by this decision.
	if last.Exists() && (again || ends) && ends != again && text(a.Get("pod").Get("status"), "reason") == "" {
		v.path = d.decider(last)
		v.reason = "because " + d.byWhat(last)
		if text(last.Get("decidedBy"), "level") == "rule" {
			v.reason = "by " + d.byWhat(last)
		}
	}
	switch {
	case a.Get("undecided").Len() > 0:
		u := a.Get("undecided").First()
		v.tone, v.mark = Stop, "undecided"
		v.path, v.reason = text(u, "path"), ""
		v.text = sentence(d.why(u))
		title = "Undecided from " + span(number(u, "atMillis")) + " on"
	case has(a, "from") && d.liveVerdict(&v, &title):
	case ends:
		at := d.lastPhaseChange()
		v.tone, v.mark, title = OK, "succeeded", "Pod Succeeded"
		if phase == "Failed" {
			v.tone, v.mark, title = Fail, "failed", "Pod Failed"
		}
		if at >= 0 {
			title += " after " + span(at)
		}
		v.text = count(restarts, "restart") + ". " + d.endedBecause()
	case l.found:
		v.tone, v.mark, title = Wait, "crashloop", "CrashLoopBackOff"
		v.text, v.source = d.loopText(l, until), restartsPage
	default:
		v.tone, v.mark, title = Run, "running", "Pod "+Visible(phase)
		v.text = "Still " + Visible(phase) + " after " + span(until) + ", " + count(restarts, "restart") + "."
		switch {
		case again:
			v.text += " The last exit was that of " + short(text(last, "container")) + " with " + codeText(last) + ": " + text(last, "action") + "."
		case d.anyExit():
		case d.Request.Get("runs").Exists():
			v.text += " No container ends by then."
		default:
			v.text += " No container ends: nothing says when they do."
		}
		if phase == "Pending" {
			v.tone, v.mark = Wait, "note"
		}
	}
	d.verdict(v, title, func() {
		if l.found {
			d.share(l.ran, until)
		}
	})
}

// share says how much of the time was spent running.
func (d *document) share(ran, of int64) {
	d.w.KeyObject("share")
	d.int("ranMillis", ran)
	d.int("ofMillis", of)
	d.w.End()
}

func (d *document) loopText(l loop, until int64) string {
	s := short(l.name) + " was restarted " + times(l.restarts) + " in " + span(until) + " and ran " + span(l.ran) + " of it."
	if l.next >= 0 {
		s += " Next start in " + span(l.next-until) + ", at " + span(l.next) + "."
	}
	if l.containers > 1 {
		s += " The same goes for " + count(int64(l.containers-1), "other container") + "."
	}
	return s + " The kubelet never gives up."
}

func times(n int64) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return itoa(n) + " times"
}

// liveVerdict begins with what comes next. It reports whether a container of the live Pod waits.
func (d *document) liveVerdict(v *item, title *string) bool {
	from := d.Answer.Get("from")
	for w := from.Get("waits").First(); w.Exists(); w = w.Next() {
		if !has(w, "nextStartMillis") {
			continue
		}
		name, next := short(text(w, "container")), number(w, "nextStartMillis")
		*title = "Next restart in " + span(next)
		if next == 0 {
			*title = "Next restart now"
		}
		v.tone, v.mark, v.source = Wait, "crashloop", restartsPage
		v.text = d.waitText(w, name)
		if phase, at := d.phase(), d.lastPhaseChange(); at >= 0 && (phase == "Failed" || phase == "Succeeded") {
			v.text += " Pod " + phase + " after " + span(at) + "."
		}
		return true
	}
	return false
}

// waitText says what a container of a live Pod is waiting for.
func (d *document) waitText(w manifest.Value, name string) string {
	delay, why := span(number(w, "delayMillis")), waitSource(text(w, "delayFrom"))
	if !has(w, "nextStartMillis") {
		if number(w, "delayMillis") == 0 {
			return name + " starts again immediately after its next exit (" + why + ")."
		}
		return name + " waits " + delay + " after its next exit (" + why + ")."
	}
	next := number(w, "nextStartMillis")
	s := name + " is in CrashLoopBackOff and starts again in " + span(next) + ", at " + Visible(text(w, "nextStart")) + ", after a wait of " + delay + " (" + why + ")."
	if next == 0 {
		s = name + " starts again now: its wait of " + delay + " is over (" + why + ")."
	}
	if earliest, latest := number(w, "earliestMillis"), number(w, "latestMillis"); latest-earliest > 1000 {
		s += " Between " + span(earliest) + " and " + span(latest) + " from now."
	}
	return s
}

// waitSource says how the length of a wait is known.
func waitSource(code string) string {
	switch code {
	case "message":
		return "as its status says"
	case "gap":
		return "one step more than before"
	case "longRun":
		return "it had run for more than ten minutes"
	case "restartCount":
		return "guessed from the number of its restarts"
	}
	return phrase(code)
}

// waits lists what a live Pod is waiting for.
func (d *document) waits() {
	from := d.Answer.Get("from")
	if !from.Exists() {
		return
	}
	list := []item{{mark: "note", text: "Times count from " + Visible(text(from, "now")) + ", " + phrase(text(from, "nowIs")) + "."}}
	for w := from.Get("waits").First(); w.Exists(); w = w.Next() {
		list = append(list, item{tone: Wait, mark: "crashloop", text: d.waitText(w, short(text(w, "container"))), source: restartsPage})
	}
	d.items("list", "From its status", list)
}

func (d *document) lastPhaseChange() int64 {
	at := int64(-1)
	for r := d.Answer.Get("timeline").First(); r.Exists(); r = r.Next() {
		if text(r, "event") == "PhaseChanged" && text(r, "view") != "kubelet" {
			at = number(r, "atMillis")
		}
	}
	return at
}

// endedBecause says why the Pod has ended.
func (d *document) endedBecause() string {
	status := d.Answer.Get("pod").Get("status")
	if reason := text(status, "reason"); reason != "" {
		return join(": ", Visible(reason), sentence(Visible(text(status, "message"))))
	}
	last := d.lastDecision("")
	switch again := strings.HasPrefix(text(last, "action"), "Restart"); {
	case d.Answer.Get("pod").Get("deleted").Bool() && (again || !last.Exists()):
		return "The Pod was deleted."
	case last.Exists() && !again:
		return exitText(last) + ": " + text(last, "action") + "."
	}
	return ""
}

func (d *document) anyExit() bool {
	for r := d.Answer.Get("timeline").First(); r.Exists(); r = r.Next() {
		if text(r, "event") == "Exited" {
			return true
		}
	}
	return false
}

// lastDecision is the last exit about which anybody decided, of the container called name or of any
// for ""; absent if there is none.
func (d *document) lastDecision(name string) (last manifest.Value) {
	for r := d.Answer.Get("timeline").First(); r.Exists(); r = r.Next() {
		if text(r, "event") == "Exited" && text(r, "action") != "" && (name == "" || text(r, "container") == name) {
			last = r
		}
	}
	return last
}

func (d *document) lastContainerCard() card {
	last := d.lastDecision("")
	if last.Exists() {
		c := d.containerCard(last)
		next, phase := d.crashLoop(), d.phase()
		switch {
		case next.found && next.next >= 0 && next.name == text(last, "container"):
			c.head.tone, c.head.text = Wait, "Restart, in "+span(next.next-number(d.Answer, "untilMillis"))
		case (phase == "Failed" || phase == "Succeeded") && strings.HasPrefix(text(last, "action"), "Restart"):
			c.head.tone, c.head.mark, c.head.text = Stop, "stop", "no more restarts"
			c.head.path, c.head.reason = "", "the Pod has ended"
		}
		return c
	}
	return card{layer: "container", title: "Container (kubelet)", head: item{tone: Run, mark: "running", text: "no exit", reason: "nothing to decide"}}
}

func (d *document) phaseCard() card {
	c := card{layer: "pod", title: "Pod (phase)", head: item{source: phasePage}}
	switch phase := d.phase(); phase {
	case "Failed":
		c.head.tone, c.head.mark, c.head.text = Fail, "failed", phase
	case "Succeeded":
		c.head.tone, c.head.mark, c.head.text = OK, "succeeded", phase
	default:
		c.head.tone, c.head.mark, c.head.text = Run, "running", "stays "+Visible(phase)
		c.head.reason = "a Pod with a container that runs or may be started again does not end"
		if phase == "Pending" {
			c.head.reason = "no main container runs"
		}
	}
	if at := d.lastPhaseChange(); at >= 0 && c.head.reason == "" {
		c.head.reason = "since " + span(at)
	}
	if d.Answer.Get("pod").Get("deleted").Bool() {
		c.head.reason = join("; ", c.head.reason, "deleted")
	}
	return c
}

// decided lists who decided about the exits, each kind once with how often.
func (d *document) decided() {
	var list []item
	var keys []string
	for r := d.Answer.Get("timeline").First(); r.Exists(); r = r.Next() {
		if text(r, "event") != "Exited" || text(r, "action") == "" {
			continue
		}
		path := d.decider(r)
		key := text(r, "container") + "\n" + codeText(r) + "\n" + text(r, "action") + "\n" + path
		n := max(number(r, "pods"), 1)
		if i := indexOf(keys, key); i >= 0 {
			list[i].times += n
			continue
		}
		if len(keys) == MaxItems {
			break
		}
		keys = append(keys, key)
		tone, mark, word := outcome(r)
		quote, _ := d.quote(path)
		list = append(list, item{tone: tone, mark: mark, path: path, times: n, quote: quote,
			text: exitText(r) + " → " + word, reason: d.byWhat(r), source: d.sourceOf(r)})
	}
	d.items("steps", "Why", list)
}

func indexOf(list []string, s string) int {
	for i := range list {
		if list[i] == s {
			return i
		}
	}
	return -1
}

// timeline lists what happened, entry by entry.
func (d *document) timeline() {
	job := d.Answer.Get("layers").Exists()
	columns := []column{{name: "Time", right: true}, {name: "Container"}, {name: "Event"}, {name: "Details"}}
	if job {
		columns[1].name = "Pod, container"
	}
	var rows []row
	beyond := 0
	for r := d.Answer.Get("timeline").First(); r.Exists(); r = r.Next() {
		if len(rows) == MaxItems {
			beyond++
			continue
		}
		at := number(r, "atMillis")
		tone, path := d.toneOf(r), d.decider(r)
		if path == "" && has(r, "rule") {
			path = d.rulesPath() + "[" + itoa(number(r, "rule")) + "]"
		}
		rows = append(rows, row{cells: []string{span(at), d.who(r, job), Visible(text(r, "event")), d.detail(r)}, tone: tone, path: path, at: at})
	}
	if len(rows) > 0 {
		d.table("One by one", columns, rows, beyond)
	}
}

// toneOf is the colour of an entry.
func (d *document) toneOf(r manifest.Value) string {
	if text(r, "view") == "kubelet" {
		return Wait
	}
	switch text(r, "event") {
	case "Started":
		return Run
	case "BackOff":
		return Wait
	case "RestartingAllContainers":
		return All
	case "JobFailed":
		return Fail
	case "JobComplete":
		return OK
	case "Exited":
		if number(r, "exitCode") != 0 || text(r, "reason") == "" {
			return Fail
		}
		return OK
	case "PhaseChanged":
		switch text(r, "to") {
		case "Failed":
			return Fail
		case "Succeeded":
			return OK
		}
	}
	return Neutral
}

// who names what an entry is about.
func (d *document) who(r manifest.Value, job bool) string {
	container := short(text(r, "container"))
	switch {
	case !job && container == "":
		return "Pod"
	case !job:
		return container
	case text(r, "pod") == "":
		return "Job"
	}
	name := short(text(r, "pod"))
	if n := number(r, "pods"); n > 1 {
		name += " ×" + itoa(n)
	}
	return join(" ", name, container)
}

// detail says what an entry's event means.
func (d *document) detail(r manifest.Value) string {
	s := d.eventDetail(r)
	if text(r, "view") == "kubelet" {
		s = join("; ", s, "only the kubelet knows")
	}
	return s
}

func (d *document) eventDetail(r manifest.Value) string {
	reason := text(r, "reason")
	switch text(r, "event") {
	case "Started":
		if n := number(r, "restartCount"); n > 0 {
			return "restart " + itoa(n)
		}
		return "first start"
	case "Exited":
		return d.exited(r)
	case "BackOff":
		return "waits " + span(number(r, "delayMillis")) + ", until " + span(number(r, "untilMillis"))
	case "Killing":
		if r.Get("willRestart").Bool() {
			return phrase(reason) + "; it is started again"
		}
		return phrase(reason)
	case "PhaseChanged":
		s := Visible(text(r, "from")) + " → " + Visible(text(r, "to"))
		if reason != "" {
			s += " (" + Visible(reason) + ")"
		}
		switch {
		case has(r, "rule"):
			s += ": " + Visible(text(r, "action")) + " by rule " + itoa(number(r, "rule"))
		case r.Get("counted").Exists():
			s += ": " + Visible(text(r, "action")) + ", " + d.noRule(d.jobPath()+"backoffLimit")
		}
		return s
	case "Repeated":
		return d.repeated(r)
	case "PhaseDecided":
		s := Visible(text(r, "from")) + " → " + Visible(text(r, "to"))
		if reason != "" {
			s += " (" + Visible(reason) + ")"
		}
		return s
	case "StatusDenied":
		if text(r, "view") == "kubelet" {
			return "the API server refuses the status: " + phrase(reason)
		}
		return "the API server refuses the status; again at " + span(number(r, "untilMillis"))
	case "PodCreated", "IndexFailed":
		if !has(r, "index") {
			return ""
		}
		index := "index " + itoa(number(r, "index"))
		if n := number(r, "pods"); n > 1 {
			index += " and " + itoa(n-1) + " more"
		}
		return index
	case "PodDeleted":
		return ""
	}
	if message := text(r, "message"); message != "" {
		return join(": ", Visible(reason), Visible(message))
	}
	if code := reason + text(r, "ignored"); code != "" {
		return phrase(code)
	}
	return ""
}

// exited says how a container ended and what follows, if anybody asks.
func (d *document) exited(r manifest.Value) string {
	if text(r, "reason") == "" {
		return "the exit code is never known"
	}
	s := "code " + itoa(number(r, "exitCode")) + " (" + Visible(text(r, "reason")) + ")"
	action := text(r, "action")
	if action == "" {
		return s
	}
	s += ": " + action + ", "
	if text(r.Get("decidedBy"), "level") == "rule" {
		s += "by " + d.byWhat(r)
	} else {
		s += "because " + d.byWhat(r)
	}
	if r.Get("podFails").Bool() {
		s += "; " + fails(r, number(r, "exitCode") == 0)
	}
	return s
}

// repeated sums up rounds that are not written out.
func (d *document) repeated(r manifest.Value) string {
	rounds := itoa(number(r, "times")) + " more rounds"
	if number(r, "times") == 1 {
		rounds = "1 more round"
	}
	s := rounds + " like the one since " + span(number(r, "sinceMillis")) + ", one every " + span(number(r, "everyMillis")) + ", until " + span(number(r, "untilMillis"))
	for n := r.Get("starts").First(); n.Exists(); n = n.Next() {
		s += "; that makes " + count(number(n, "restartCount"), "restart")
		if name := text(n, "container"); name != text(r, "container") {
			s += " of " + short(name)
		}
	}
	return s
}

// ending lists how the containers are at the end.
func (d *document) ending() {
	a := d.Answer
	status := a.Get("pod").Get("status")
	var rows []row
	for c := a.Get("containers").First(); c.Exists(); c = c.Next() {
		name := text(c, "container")
		next, tone := "", Neutral
		if has(c, "nextStartMillis") {
			next = "at " + span(number(c, "nextStartMillis")) + ", after a wait of " + span(number(c, "delayMillis"))
			tone = Wait
		}
		rows = append(rows, row{at: -1, tone: tone, cells: []string{short(name), stateText(status, name), itoa(number(c, "restarts")), span(number(c, "ranMillis")), next}})
	}
	d.table("At "+span(number(a, "untilMillis")), []column{{name: "Container"}, {name: "State"}, {name: "Restarts", right: true}, {name: "Ran", right: true}, {name: "Next start"}}, rows, 0)
}

// stateText is how a container's status shows it.
func stateText(status manifest.Value, name string) string {
	for _, list := range [...]string{"containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"} {
		for s := status.Get(list).First(); s.Exists(); s = s.Next() {
			if text(s, "name") != name {
				continue
			}
			state := s.Get("state")
			switch ended := state.Get("terminated"); {
			case state.Get("running").Exists():
				return "running"
			case ended.Exists():
				return "terminated, code " + itoa(number(ended, "exitCode")) + " (" + Visible(text(ended, "reason")) + ")"
			case state.Get("waiting").Exists():
				return join(", ", "waiting", Visible(text(state.Get("waiting"), "reason")))
			}
		}
	}
	return "-"
}

// open lists from when on, and why, the answer is open.
func (d *document) open() {
	var list []item
	for u := d.Answer.Get("undecided").First(); u.Exists(); u = u.Next() {
		list = append(list, item{tone: Stop, mark: "undecided", path: text(u, "path"),
			text: "From " + span(number(u, "atMillis")) + " on: " + d.why(u) + "."})
	}
	d.items("list", "Undecided", list)
}

// why is the reason in words, with the name of the limit if it is one.
func (d *document) why(u manifest.Value) string {
	return join(", ", phrase(text(u, "reason")), text(u, "limit"))
}

// jobPath is the path of the Job's spec in the manifest, with a dot after it: what comes before the
// template of its Pods. Other kinds have Jobs at other places.
func (d *document) jobPath() string {
	if d.within != "" {
		if spec := d.within + ".spec."; d.man.At(spec + "template").Exists() {
			return spec
		}
		return d.within + "." // it is a JobSpec itself
	}
	for _, list := range [...]manifest.Value{d.Answer.Get("decisions"), d.Answer.Get("layers").Get("containers")} {
		for e := list.First(); e.Exists(); e = e.Next() {
			path := text(e.Get("decidedBy"), "path")
			if i := strings.LastIndex(path, "template.spec."); i >= 0 {
				return path[:i]
			}
		}
	}
	if text(d.man, "kind") == "CronJob" {
		return "spec.jobTemplate.spec."
	}
	return "spec."
}
