package words

import (
	"github.com/podfate/podfate/policy/manifest"
)

// simulateJob puts a Job over time into words.
func (d *document) simulateJob() {
	d.jobSimulated()
	d.blocks(func() {
		d.expected()
		d.rows()
		d.setWaits()
		d.jobLayers()
		d.lanes()
		d.decided()
		d.counters()
		d.timeline()
		d.watched()
		d.open()
		d.waste()
		d.assumptions()
		d.checks()
	})
}

// jobSimulated is the verdict about a Job.
func (d *document) jobSimulated() {
	a := d.Answer
	j := a.Get("layers").Get("job")
	outcome, until := text(j, "outcome"), number(a, "untilMillis")
	counts := count(number(j, "succeeded"), "Pod") + " succeeded, " + itoa(number(j, "failed")) + " failed"
	v := item{text: sentence(counts)}
	title := ""
	switch {
	case a.Get("undecided").Len() > 0:
		u := a.Get("undecided").First()
		v.tone, v.mark, v.path, v.text = Stop, "undecided", text(u, "path"), sentence(d.why(u))
		title = "Undecided from " + span(number(u, "atMillis")) + " on"
	case outcome == "Failed":
		v.tone, v.mark = Fail, "failed"
		title = "Job Failed after " + span(d.lastOfJob())
		v.text = sentence(Visible(text(j, "message"))) + " " + v.text
		v.reason = "reason " + text(j, "reason")
		v.path, v.source = d.failurePath(text(j, "reason"))
	case outcome == "Complete":
		v.tone, v.mark = OK, "succeeded"
		title = "Job Complete after " + span(d.lastOfJob())
		v.reason = "reason " + text(j, "reason")
	case outcome == "Suspended":
		v.tone, v.mark = Stop, "note"
		title = "Job still suspended after " + span(until)
	default:
		v.tone, v.mark = Run, "running"
		title = "Job still running after " + span(until)
		if n := number(j, "failed"); n > 0 {
			v.tone, v.mark = Count, "counted"
			v.text = sentence(counts + "; " + d.limitsAre(j))
		}
		if d.inCrashLoop() {
			v.tone, v.mark = Wait, "crashloop"
			v.text += " A container of its Pod is in CrashLoopBackOff."
		} else if d.runsOn() {
			v.text += " Its Pods still run: a container without runs does not end by itself."
		}
	}
	d.verdict(v, title)
}

// inCrashLoop reports whether the last thing that happened to a container of the Job is a wait.
func (d *document) inCrashLoop() bool {
	wait := false
	for r := d.Answer.Get("timeline").First(); r.Exists(); r = r.Next() {
		if text(r, "container") == "" {
			continue
		}
		switch text(r, "event") {
		case "BackOff":
			wait = true
		case "Started", "Removed":
			wait = false
		}
	}
	return wait
}

// failurePath is the part of the manifest that a reason for the end of a Job belongs to.
func (d *document) failurePath(reason string) (path string, s source) {
	switch reason {
	case "PodFailurePolicy":
		for p := d.Answer.Get("layers").Get("pods").First(); p.Exists(); p = p.Next() {
			if text(p, "action") == "FailJob" && has(p, "rule") {
				return d.rulesPath() + "[" + itoa(number(p, "rule")) + "]", failurePage
			}
		}
		return d.jobPath() + "podFailurePolicy", failurePage
	case "BackoffLimitExceeded":
		return d.jobPath() + "backoffLimit", backoffPage
	case "MaxFailedIndexesExceeded":
		return d.jobPath() + "maxFailedIndexes", perIndexPage
	case "FailedIndexes":
		return d.jobPath() + "backoffLimitPerIndex", perIndexPage
	case "DeadlineExceeded":
		return d.jobPath() + "activeDeadlineSeconds", backoffPage
	}
	return "", source{}
}

// runsOn reports whether Pods of the Job run at the end because nothing says when a container ends.
func (d *document) runsOn() bool {
	active := int64(0)
	for c := d.Answer.Get("counters").First(); c.Exists(); c = c.Next() {
		active = number(c, "active")
	}
	for v := d.Answer.Get("assumptions").First(); v.Exists() && active > 0; v = v.Next() {
		if v.Text() == "runs_on" {
			return true
		}
	}
	return false
}

// lastOfJob is when the last entry about the Job itself came: a Job that is over ended then.
func (d *document) lastOfJob() (at int64) {
	for r := d.Answer.Get("timeline").First(); r.Exists(); r = r.Next() {
		if text(r, "pod") == "" {
			at = number(r, "atMillis")
		}
	}
	return at
}

// maxKinds bounds the lines of a card.
const maxKinds = 20

// jobLayers shows container, Pod and Job side by side, a line for each kind of thing that was
// decided.
func (d *document) jobLayers() {
	l := d.Answer.Get("layers")
	containers := card{layer: "container", title: "Container (kubelet)", head: item{text: "no exit", mark: "skipped"}}
	for c := l.Get("containers").First(); c.Exists() && len(containers.lines) < maxKinds; c = c.Next() {
		i := item{text: exitText(c), times: number(c, "times")}
		if text(c, "action") != "" {
			var word string
			i.tone, i.mark, word = outcome(c)
			i.text += " → " + word
			i.reason, i.path = d.byWhat(c), d.decider(c)
		}
		if containers.lines = append(containers.lines, i); len(containers.lines) == 1 {
			containers.head = item{text: "ended with the Pod", mark: "stop"}
			if text(c, "action") != "" {
				_, _, word := outcome(c)
				containers.head = item{text: word, tone: i.tone, mark: i.mark, path: i.path}
			}
		}
	}
	if len(containers.lines) > 1 {
		containers.head = item{text: count(int64(l.Get("containers").Len()), "kind") + " of exits", mark: "note"}
	}
	pods := card{layer: "pod", title: "Pod (failure policy)", head: item{text: count(int64(d.Answer.Get("pods").Len()), "Pod"), mark: "note"}}
	for p := l.Get("pods").First(); p.Exists() && len(pods.lines) < maxKinds; p = p.Next() {
		pods.lines = append(pods.lines, d.podLine(p))
	}
	j := l.Get("job")
	job := card{layer: "job", title: "Job (controller)"}
	h := &job.head
	switch h.text = Visible(text(j, "outcome")); h.text {
	case "Failed":
		h.tone, h.mark = Fail, "failed"
	case "Complete":
		h.tone, h.mark = OK, "succeeded"
	default:
		h.tone, h.mark = Run, "running"
	}
	h.path, h.source = d.failurePath(text(j, "reason"))
	h.reason = Visible(join(": ", text(j, "reason"), text(j, "message")))
	job.lines = append(job.lines, item{
		mark: "counted", tone: Count,
		text: count(number(j, "succeeded"), "Pod") + " succeeded, " + itoa(number(j, "failed")) + " failed; " + d.limitsAre(j),
		path: d.jobPath() + "backoffLimit",
	})
	d.layers(containers, pods, job)
}

// podLine says how Pods ended and how the Job treats them.
func (d *document) podLine(p manifest.Value) item {
	i := item{times: number(p, "times"), text: join(" ", text(p, "phase"), Visible(text(p, "reason")), Visible(text(p, "disruptionTarget")))}
	switch action := text(p, "action"); {
	case has(p, "rule"):
		i.text += " → " + action
		i.reason = "podFailurePolicy rule " + itoa(number(p, "rule"))
		i.path = d.rulesPath() + "[" + itoa(number(p, "rule")) + "]"
	case action != "":
		i.text += " → " + action
		i.reason = d.noRule(d.jobPath()+"backoffLimit") + ", so the failure counts"
	}
	switch {
	case text(p, "phase") == "Succeeded":
		i.tone, i.mark = OK, "succeeded"
	case p.Get("counted").Bool():
		i.tone, i.mark = Count, "counted"
	case text(p, "action") == "Ignore":
		i.tone, i.mark = Stop, "ignored"
	case text(p, "phase") == "Failed":
		i.tone, i.mark = Fail, "failed"
	default:
		i.tone, i.mark = Run, "running"
	}
	if a := text(p, "action"); a == "FailJob" || a == "FailIndex" {
		i.tone, i.mark = Fail, "failed"
	}
	return i
}

// counters is a table of the Job's status over time.
func (d *document) counters() {
	list := d.Answer.Get("counters")
	if list.Len() == 0 {
		return
	}
	names := []string{"active", "ready", "succeeded", "failed", "terminating"}
	columns := []column{{"From", true}, {"Active", true}, {"Ready", true}, {"Succeeded", true}, {"Failed", true}, {"Terminating", true}}
	if list.First().Get("failedIndexes").Exists() {
		names, columns = append(names, "failedIndexes"), append(columns, column{"Failed indexes", true})
	}
	var rows []row
	for c := list.First(); c.Exists() && len(rows) < MaxItems; c = c.Next() {
		r := row{at: number(c, "atMillis"), cells: []string{span(number(c, "atMillis"))}}
		for _, name := range names {
			r.cells = append(r.cells, itoa(number(c, name)))
		}
		rows = append(rows, r)
	}
	d.table("Counters of the Job", columns, rows, list.Len()-len(rows))
}
