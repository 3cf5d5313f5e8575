package words

import "github.com/podfate/podfate/policy/manifest"

// curve says when a container that fails again and again is restarted.
func (d *document) curve() {
	a := d.Answer
	b := a.Get("backoff")
	restarts, until := number(a, "restarts"), number(a, "untilMillis")
	v := item{tone: Wait, mark: "crashloop", source: restartsPage, text: d.backoffText(b)}
	title := count(restarts, "restart") + " in " + span(until)
	if o := a.Get("outage"); has(o, "untilMillis") {
		v.text = outageText(o)
		title = "Back " + span(number(o, "lateMillis")) + " late"
		if number(o, "restart") == 0 || number(o, "lateMillis") == 0 {
			v.tone, v.mark, title = OK, "succeeded", "Back without a delay"
		}
	}
	d.verdict(v, title)
	d.blocks(func() {
		d.items("list", "Back-off", d.curveFacts())
		d.curvePlot()
		d.starts()
		d.assumptions()
		d.checks()
	})
}

// backoffText is the back-off in one sentence.
func (d *document) backoffText(b manifest.Value) string {
	from := "of Kubernetes " + text(d.Answer.Get("cluster"), "version")
	if text(b, "from") == "request" {
		from = "of the question"
	}
	if preset := text(b, "preset"); preset != "" {
		from += " (" + preset + ")"
	}
	return "Back-off " + from + ": " + waitsText(b) + "."
}

// waitsText says how a series of waits grows.
func waitsText(b manifest.Value) string {
	if list := b.Get("waitsMillis"); list.Len() > 0 {
		s := ""
		for m := list.First(); m.Exists(); m = m.Next() {
			n, _ := m.Int64()
			s += span(n) + ", "
		}
		return s + "then always " + span(number(b, "maxMillis"))
	}
	s := span(number(b, "initialMillis"))
	if factor := number(b, "factor"); factor > 1 && number(b, "maxMillis") > number(b, "initialMillis") {
		s += ", each wait " + itoa(factor) + " times the previous one, at most " + span(number(b, "maxMillis"))
	}
	return s
}

// outageText says when a container is back after something that it needs was away.
func outageText(o manifest.Value) string {
	until := span(number(o, "untilMillis"))
	if number(o, "restart") == 0 {
		return "After an outage until " + until + " nothing fails: the first start comes at " + span(number(o, "backAtMillis")) + "."
	}
	s := "After an outage until " + until + " it is back with restart " + itoa(number(o, "restart")) + " at " + span(number(o, "backAtMillis"))
	if late, best := number(o, "lateMillis"), number(o, "bestMillis"); late != best {
		s += ", or " + span(best) + " late if the run under way succeeds"
	}
	return s + ". At worst, if the outage ends just after the previous start, it is " + span(number(o, "gapMillis")) + " late."
}

// curveFacts is what can be said beyond the table.
func (d *document) curveFacts() []item {
	a := d.Answer
	b := a.Get("backoff")
	model := "what the kubelet does"
	if text(a, "model") == "documented" {
		model = "what the documentation says"
	}
	list := []item{
		{mark: "note", text: d.backoffText(b)},
		{mark: "note", text: "Every run lasts " + span(number(a.Get("run"), "forMillis")) + "; a run of more than " + span(number(b, "resetMillis")) + " resets the back-off. Model: " + model + "."},
	}
	before := int64(0)
	for w := a.Get("windows").First(); w.Exists(); w = w.Next() {
		s := count(number(w, "restarts"), "restart") + " in the first " + span(number(w, "untilMillis"))
		if before > 0 {
			s += ", " + itoa(number(w, "newRestarts")) + " of them after " + span(before)
		}
		before = number(w, "untilMillis")
		list = append(list, item{mark: "restart", tone: Run, text: s + "."})
	}
	if l := a.Get("longestWait"); has(l, "atMillis") {
		list = append(list, item{mark: "crashloop", tone: Wait,
			text: "The longest wait, " + span(number(l, "atMillis")-number(l, "fromMillis")) + ", first comes before restart " + itoa(number(l, "restart")) + " at " + span(number(l, "atMillis")) + "."})
	}
	s := a.Get("steady")
	steady := "From restart " + itoa(number(s, "fromRestart")) + " at " + span(number(s, "fromMillis")) + " on: " + count(number(s, "restarts"), "restart") + " every " + span(number(s, "periodMillis"))
	if n := number(s, "restartsPerHourThousandths"); n >= 100 { // rarer ones say more by their distance
		tenths := (n + 50) / 100
		steady += ", " + itoa(tenths/10) + "." + itoa(tenths%10) + " an hour"
	}
	list = append(list, item{mark: "restart", tone: Run, text: steady + "."})
	if o := a.Get("outage"); has(o, "untilMillis") {
		list = append(list, item{mark: "note", text: outageText(o)})
	}
	return list
}

// curvePlot draws the wait before each restart, and the restarts over time.
func (d *document) curvePlot() {
	starts := d.Answer.Get("starts")
	if starts.Len() < 2 {
		return
	}
	d.plotOf("The wait before each restart", "restart", "milliseconds", "wait", "steps", func(point func(x, y int64)) {
		for s := starts.First(); s.Exists(); s = s.Next() {
			if has(s, "delayMillis") {
				point(number(s, "restart"), number(s, "delayMillis"))
			}
		}
	})
}

// starts lists the starts one by one.
func (d *document) starts() {
	var rows []row
	list := d.Answer.Get("starts")
	for s := list.First(); s.Exists() && len(rows) < MaxItems; s = s.Next() {
		at, wait, note := number(s, "atMillis"), "-", "first start"
		name := "-"
		if has(s, "delayMillis") {
			name, wait, note = itoa(number(s, "restart")), span(number(s, "delayMillis")), curveNote(text(s, "because"))
		}
		rows = append(rows, row{at: at, cells: []string{name, span(at), wait, note}})
	}
	d.table("Starts", []column{{"Restart", true}, {"At", true}, {"Wait", true}, {"", false}}, rows,
		list.Len()-len(rows)+int(min(number(d.Answer, "startsLeftOut"), 1<<30)))
}

// curveNote says why a restart comes when it does, unless that is the back-off.
func curveNote(code string) string {
	switch code {
	case "first_restart_is_immediate":
		return "the first restart comes immediately"
	case "ran_longer_than_reset":
		return "the previous run was long enough to reset it"
	case "forgotten_by_sweep":
		return "the back-off was forgotten"
	}
	return ""
}

// setWaits says which waits are not those of Kubernetes, but asked for.
func (d *document) setWaits() {
	var list []item
	add := func(who string, v manifest.Value) {
		if has(v, "initialMillis") {
			list = append(list, item{mark: "note", text: who + ": " + waitsText(v) + "."})
		}
	}
	b := d.Answer.Get("backoff")
	who := "Waits"
	if preset := text(b, "preset"); preset != "" {
		who += " (" + preset + ")"
	}
	add(who, b)
	counter := ", all kinds of ends counted together"
	if text(b, "counter") == "perClass" {
		counter = ", counted separately"
	}
	for c := b.Get("classes").First(); c.Exists(); c = c.Next() {
		add("After "+endOf(c.Key())+counter, c)
	}
	for c := b.Get("containers").First(); c.Exists(); c = c.Next() {
		add(short(c.Key()), c)
	}
	add("Waits of the Job", d.Answer.Get("jobBackoff"))
	d.items("list", "Back-off of the question", list)
}

// endOf is what a class of ends is called.
func endOf(class string) string {
	switch class {
	case "success":
		return "success"
	case "infrastructure":
		return "an end by the node"
	}
	return "a crash"
}
