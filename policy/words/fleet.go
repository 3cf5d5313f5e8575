package words

import "github.com/podfate/podfate/policy/manifest"

// fleet says what many Pods add up to.
func (d *document) fleet() {
	a := d.Answer
	restarts, until := number(a, "restarts"), span(number(a, "untilMillis"))
	v := item{tone: Wait, mark: "crashloop", source: restartsPage, text: d.fleetPeak()}
	title := count(restarts, "restart") + ", " + count(number(a, "requests"), "request") + " in " + until
	if restarts == 0 {
		v.tone, v.mark, v.text = OK, "succeeded", "None of "+count(number(a, "pods"), "Pod")+" is restarted."
		title = "No restarts in " + until
	}
	d.verdict(v, title)
	d.blocks(func() {
		d.items("list", "In total", d.fleetFacts())
		d.items("list", "The goal", d.fleetLeast())
		d.requestPlot()
		d.fleetGroups()
		d.fleetJobs()
		d.byPolicyAndExit()
		d.gang()
		d.fleetPools()
		d.assumptions()
		d.checks()
	})
}

// fleetPeak says when most restarts come.
func (d *document) fleetPeak() string {
	p := d.Answer.Get("peak")
	s := count(number(d.Answer, "pods"), "Pod")
	if nodes := number(d.Answer, "nodes"); nodes != 1 {
		s += " on " + count(nodes, "node")
	}
	return s + ": at most " + count(number(p, "restarts"), "restart") + " in any " + span(number(p, "binMillis")) +
		", first reached at " + span(number(p, "atMillis")) + ". Calculated, not measured."
}

func (d *document) fleetFacts() []item {
	a := d.Answer
	list := []item{{mark: "note", text: d.backoffText(a.Get("backoff"))}}
	each := number(a, "requestsPerRestart")
	list = append(list, item{mark: "note", text: "Each restart counts as " + count(each, "request") + " to the API server."})
	for w := a.Get("windows").First(); w.Exists(); w = w.Next() {
		list = append(list, item{mark: "restart", tone: Run, text: count(number(w, "restarts"), "restart") + " and " +
			count(number(w, "requests"), "request") + " in the first " + span(number(w, "untilMillis")) + "."})
	}
	s := a.Get("steady")
	steady := "In the long run "
	if has(s, "periodMillis") {
		steady += count(number(s, "restarts"), "restart") + " every " + span(number(s, "periodMillis")) + ", "
	}
	steady += thousandths(number(s, "requestsPerSecondThousandths")) + " requests a second."
	if number(a, "restarts") > 0 {
		list = append(list, item{mark: "restart", tone: Run, text: steady})
	}
	list = append(list, clientItem(a.Get("client"), ""), spentItem(a.Get("podMillis")))
	if w := a.Get("work"); has(w, "units") {
		list = append(list, item{mark: "note", text: "At " + count(number(w, "unitsPerRestart"), "unit") + " of work for each restart: " + itoa(number(w, "units")) + " in total, " +
			itoa(number(w, "peakUnits")) + " in the peak, " + thousandths(number(w, "unitsPerSecondThousandths")) + " a second in the long run."})
	}
	return list
}

// clientItem says what waits in a kubelet.
func clientItem(c manifest.Value, of string) item {
	s := "A kubelet's API client" + of + ", with " + itoa(number(c, "qps")) + " requests a second and bursts of " + itoa(number(c, "burst")) + ", "
	switch backlog := number(c, "backlog"); {
	case c.Get("grows").Bool():
		return item{mark: "warning", tone: Wait, text: s + "never catches up: the queue keeps growing, to " + count(backlog, "request") + " by then."}
	case backlog > 0:
		return item{mark: "note", text: s + "has up to " + count(backlog, "request") + " in its queue; the last of them is sent at " + span(number(c, "drainedAtMillis")) + "."}
	}
	return item{mark: "note", text: s + "keeps up."}
}

// spentItem says for how long Pods ran and waited.
func spentItem(m manifest.Value) item {
	return item{mark: "running", tone: Run, text: "In total, Pods ran for " + podTime(number(m, "ran")) + " and waited for " + podTime(number(m, "waiting")) +
		"; failed runs lost " + podTime(number(m, "lost")) + "."}
}

// podTime writes Pod-milliseconds in Pod-hours, to a tenth, or short ones as they are.
func podTime(ms int64) string {
	if ms < 3_600_000 {
		return span(ms)
	}
	tenths := (ms + 180_000) / 360_000
	return itoa(tenths/10) + "." + itoa(tenths%10) + " Pod-hours"
}

// thousandths writes n/1000 with as many digits as it has.
func thousandths(n int64) string {
	s := itoa(n / 1000)
	if rest := n % 1000; rest > 0 {
		digits := itoa(1000 + rest)[1:]
		for digits[len(digits)-1] == '0' {
			digits = digits[:len(digits)-1]
		}
		s += "." + digits
	}
	return s
}

func (d *document) fleetLeast() []item {
	l := d.Answer.Get("least")
	if !has(l, "maxMillis") {
		return nil
	}
	goal := count(number(l, "goalRequestsPerSecond"), "request") + " a second"
	longest, rate := span(number(l, "maxMillis")), thousandths(number(l, "requestsPerSecondThousandths"))
	if !l.Get("met").Bool() {
		return []item{{mark: "refused", tone: Fail, text: "No maxContainerRestartPeriod keeps it at " + goal + ": the closest is " + longest + ", with " + rate + "."}}
	}
	return []item{{mark: "succeeded", tone: OK, text: "maxContainerRestartPeriod: " + longest + " is the smallest value in whole seconds that keeps it at " + goal + ": " + rate + " in the long run."}}
}

// requestPlot draws requests over time.
func (d *document) requestPlot() {
	bins := d.Answer.Get("bins")
	if number(d.Answer, "restarts") == 0 {
		return
	}
	every, unit := number(bins, "everyMillis"), "milliseconds"
	if every%1000 == 0 {
		every, unit = every/1000, "seconds"
	}
	d.plotOf("Requests in each "+span(number(bins, "everyMillis")), unit, "requests", "requests", "bars", func(point func(x, y int64)) {
		at := int64(0)
		for v := bins.Get("requests").First(); v.Exists(); v = v.Next() {
			at += every
			if n, _ := v.Int64(); n > 0 {
				point(at, n)
			}
		}
	})
}

// plotOf writes a plot with one series, whose points each calls back.
func (d *document) plotOf(title, x, y, name, kind string, each func(point func(x, y int64))) {
	w := d.w
	w.Object()
	d.text("block", "plot")
	d.text("title", title)
	d.text("x", x)
	d.text("y", y)
	w.KeyArray("series")
	w.Object()
	d.text("name", name)
	d.text("kind", kind)
	d.text("tone", Wait)
	w.KeyArray("points")
	n := 0
	each(func(x, y int64) {
		if n++; n <= MaxItems {
			w.Array()
			w.Int(x)
			w.Int(y)
			w.End()
		}
	})
	w.End()
	w.End()
	w.End()
	w.End()
}

func (d *document) fleetGroups() {
	var rows []row
	list := d.Answer.Get("groups")
	i := int64(0)
	for g := list.First(); g.Exists() && len(rows) < MaxItems; g = g.Next() {
		i++
		name := join(" / ", text(g, "pool"), text(g, "name"))
		if name == "" {
			name = itoa(i)
		}
		waits := "none"
		if b := g.Get("backoff"); has(b, "maxMillis") {
			waits = waitsText(b)
		}
		policy, exit, length := "manifest", "-", "-"
		if has(g, "restartPolicy") {
			policy, exit, length = text(g, "restartPolicy"), itoa(number(g, "exitCode")), span(number(g, "runMillis"))
		} else {
			waits = "-"
		}
		m := g.Get("podMillis")
		rows = append(rows, row{at: -1, cells: []string{
			Visible(name), itoa(number(g, "pods")), policy, exit, length, waits,
			itoa(number(g, "restarts")), itoa(number(g, "requests")), hours(number(m, "ran")), hours(number(m, "waiting")), hours(number(m, "lost")),
		}})
	}
	d.table("Groups", []column{
		{"Group", false}, {"Pods", true}, {"restartPolicy", false}, {"Exit", true}, {"Runs for", true}, {"Waits", false},
		{"Restarts", true}, {"Requests", true}, {"Hours run", true}, {"Waited", true}, {"Lost", true},
	}, rows, list.Len()-len(rows))
}

// fleetJobs compares Jobs with themselves without what their specs say about failures.
func (d *document) fleetJobs() {
	var rows []row
	i := int64(0)
	for g := d.Answer.Get("groups").First(); g.Exists() && len(rows) < MaxItems; g = g.Next() {
		i++
		w := g.Get("waste")
		if !has(w, "pods") {
			continue
		}
		name := join(" / ", text(g, "pool"), text(g, "name"))
		if name == "" {
			name = itoa(i)
		}
		line := func(with string, v manifest.Value) {
			m := v.Get("podMillis")
			rows = append(rows, row{at: -1, cells: []string{Visible(name), with, itoa(number(v, "pods")), hours(number(m, "ran")), hours(number(m, "waiting")), hours(number(m, "lost"))}})
		}
		line("as it is", w)
		if without := w.Get("without"); has(without, "pods") {
			left := ""
			for n := without.Get("leftOut").First(); n.Exists(); n = n.Next() {
				left = join(", ", left, n.Text())
			}
			line("without "+left, without)
		}
	}
	if len(rows) == 0 {
		return
	}
	d.table("Jobs with and without this policy", []column{{"Group", false}, {"Policy", false}, {"Pods created", true}, {"Hours run", true}, {"Waited", true}, {"Lost", true}}, rows, 0)
}

// hours writes milliseconds in hours, to a tenth.
func hours(ms int64) string {
	tenths := (ms + 180_000) / 360_000
	return itoa(tenths/10) + "." + itoa(tenths%10)
}

func (d *document) byPolicyAndExit() {
	list := d.Answer.Get("byPolicyAndExit")
	if list.Len() < 2 {
		return
	}
	var rows []row
	for g := list.First(); g.Exists() && len(rows) < MaxItems; g = g.Next() {
		rows = append(rows, row{at: -1, cells: []string{
			join(" ", text(g, "level"), text(g, "restartPolicy")), itoa(number(g, "exitCode")), itoa(number(g, "pods")), itoa(number(g, "restarts")), itoa(number(g, "requests")),
		}})
	}
	d.table("By policy and exit code", []column{{"Decided by", false}, {"Exit", true}, {"Pods", true}, {"Restarts", true}, {"Requests", true}},
		rows, list.Len()-len(rows))
}

// gang compares the ways to go on after one of many Pods that need each other has failed.
func (d *document) gang() {
	g := d.Answer.Get("gang")
	if !has(g, "inPlace") {
		return
	}
	var rows []row
	pods := itoa(number(g, "pods"))
	for _, way := range [...][2]string{{"inPlace", "restart in place"}, {"rescheduleOne", "reschedule one"}, {"rescheduleAll", "reschedule all"}} {
		v := g.Get(way[0])
		sum := ""
		for e := v.Get("each").First(); e.Exists(); e = e.Next() {
			of := text(e, "of")
			if of == "sinceCheckpoint" {
				of = "since the checkpoint"
			}
			sum = join(" + ", sum, of+" "+span(number(e, "millis")))
		}
		rows = append(rows, row{at: -1, cells: []string{way[1], podTime(number(v, "lostPodMillis")), pods + " × (" + sum + ")", itoa(number(v, "placements"))}})
	}
	d.table("One of them fails, and all of them wait", []column{{"Way", false}, {"Lost", true}, {"Arithmetic", false}, {"Placements", true}}, rows, 0)
	s := "No wait of the back-off is longer than rescheduling takes."
	if has(g, "breakEvenRestart") {
		s = "From restart " + itoa(number(g, "breakEvenRestart")) + " of a loop on, rescheduling is faster than waiting."
	}
	d.items("list", "Break-even", []item{{mark: "note", text: s}})
}

func (d *document) fleetPools() {
	var list []item
	for p := d.Answer.Get("pools").First(); p.Exists(); p = p.Next() {
		of := ""
		if name := text(p, "name"); name != "" {
			of = " in " + Visible(name)
		}
		list = append(list, clientItem(p.Get("client"), of))
	}
	d.items("list", "Pools", list)
}
