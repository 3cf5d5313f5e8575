package words

import (
	"strings"

	"github.com/podfate/podfate/policy/manifest"
)

// compare says where variants differ from the first.
func (d *document) compare() {
	a := d.Answer
	variants := a.Get("variants")
	first := variants.First()
	d.several = variants.Len() > 2
	v := item{tone: Wait, mark: "note"}
	title, differ := "", int64(0)
	var says []string
	for o := first.Next(); o.Exists(); o = o.Next() {
		brief, refused, what := d.brief(o, first)
		if refused {
			v.tone, v.mark = Fail, "refused"
		}
		if what != "" {
			differ++
		}
		title = what
		says = append(says, short(text(o, "name"))+": "+brief+".")
	}
	v.text = strings.Join(says, " ")
	n := int64(variants.Len() - 1)
	switch {
	case differ == 0 && a.Get("equivalent").Bool():
		v.tone, v.mark, title = OK, "succeeded", "Equivalent"
	case differ == 0:
		v.tone, v.mark, title = OK, "succeeded", "No difference"
	case n > 1:
		title = itoa(differ) + " of " + itoa(n) + " variants differ from " + short(text(first, "name"))
	}
	d.verdict(v, title)
	d.blocks(func() {
		d.strip(variants)
		d.differences("Exit codes", "codes exit container limit", first)
		d.differences("What differs", "condition podReason exits outcome timeline starts ranMillis restarts counter waits start crossing late steady run undecided answer", first)
		d.differences("The same happens, but for another reason", "decidedByOnly", first)
		for o, i := first, int64(0); o.Exists(); o, i = o.Next(), i+1 {
			d.variantFaults(o, i)
		}
		d.onlyThere()
		var drawings []*drawing
		for o := first; o.Exists() && text(a, "of") == "simulate"; o = o.Next() {
			own := &document{w: d.w, Question: Question{Operation: "simulate", Answer: o.Get("answer")}}
			if len(drawings) < maxDrawings && own.Answer.Get("timeline").Exists() {
				drawings = append(drawings, own.drawing(short(text(o, "name"))))
			}
		}
		d.draw(drawings...)
	})
}

// maxDrawings bounds the timelines that share one axis.
const maxDrawings = 4

// brief says in one sentence where variant o differs from the first, and in a few words what does;
// what is "" if nothing does.
func (d *document) brief(o, first manifest.Value) (s string, refused bool, what string) {
	name := short(text(o, "name"))
	by := short(text(first, "name"))
	switch here, there := o.Get("refused").Bool(), first.Get("refused").Bool(); {
	case here && !there:
		return "refused" + firstFault(o), true, name + " is refused"
	case there && !here:
		return "accepted, while " + by + " is refused" + firstFault(first), true, by + " is refused"
	}
	var codes, of, other, rest []string
	one, lead := false, "" // a single code; what the title says
	for f := d.Answer.Get("differences").First(); f.Exists(); f = f.Next() {
		kind := text(f, "kind")
		if text(f, "variant") != text(o, "name") || (kind == "warning" || kind == "dropped") && text(d.Answer, "of") != "validate" {
			continue
		}
		switch kind {
		case "decidedByOnly":
		case "codes":
			codes, of = append(codes, codesOf(f)), append(of, text(f, "container"))
			one = len(codes) == 1 && has(f, "from") && number(f, "from") == number(f, "to")
		default:
			label := d.label(f)
			many := kind == "answer" && text(d.Answer, "of") == "fleet"
			if path := text(f, "path"); many && (path == "restarts" || path == "requests") {
				label = itoa(number(f, "here")) + " " + path + " instead of " + itoa(number(f, "first"))
				if lead = join(", ", lead, label); path == "restarts" {
					lead = label
				}
			} else if many {
				rest = append(rest, label)
				continue
			} else if kind == "timeline" {
				lead = "Over time it differs from " + span(number(f, "atMillis")) + " on"
			} else if lead == "" {
				lead = "Differs in " + label
			}
			if len(other) < maxNamed && indexOf(other, label) < 0 {
				other = append(other, label)
			}
		}
	}
	if len(other) == 0 && len(rest) > 0 {
		other, lead = rest[:min(len(rest), maxNamed)], "Differs in "+rest[0]
	}
	switch {
	case len(codes) > 0:
		more := ""
		several := false
		for _, name := range of {
			several = several || name != of[0]
		}
		for i := range of {
			if several {
				codes[i] += " of " + short(of[i])
			}
		}
		if n := len(codes) - maxNamed; n > 0 {
			codes, more = codes[:maxNamed], " and "+itoa(int64(n))+" more ranges"
		}
		s = strings.Join(codes, ", ") + more
		what = "Exit codes differ: " + s
		s = "exit codes " + s + " have"
		if one {
			what, s = "Only exit "+codes[0]+" differs", "exit code "+codes[0]+" has"
		}
		return s + " another outcome than in " + by + also(other), false, what
	case len(other) > 0:
		list := strings.Join(other, ", ")
		if o.Get("equivalent").Bool() {
			return "every exit code has the same outcome as in " + by + ", after the same waits; what differs: " + list, false, lead
		}
		return "differs from " + by + ": " + list, false, lead
	case o.Get("refused").Bool():
		return "refused like " + by + firstFault(o), true, ""
	case o.Get("equivalent").Bool():
		return "whatever a container exits with, the outcome is the same as in " + by + ", after the same waits", false, ""
	}
	return "the same answer as " + by + "; that every exit code has the same outcome is not proven", false, ""
}

// also adds what else differs.
func also(other []string) string {
	if len(other) == 0 {
		return ""
	}
	return "; also " + strings.Join(other, ", ")
}

// firstFault is the first fault of a refused variant.
func firstFault(o manifest.Value) string {
	if f := faultsOf(o).First(); f.Exists() {
		return ": " + strings.TrimSuffix(fault(f).text, ".")
	}
	return ""
}

func faultsOf(o manifest.Value) manifest.Value {
	a := o.Get("answer")
	if e := a.Get("error"); e.Exists() {
		a = e
	}
	return a.Get("faults")
}

// codesOf are the exit codes of a difference: 42, 1–41, 0 (OOMKilled), 42 after 3 restarts.
func codesOf(f manifest.Value) string {
	g := group{}
	g.add(number(f, "from"), number(f, "to"))
	s := g.codes()
	if reason := text(f, "reason"); reason != "" {
		s += " (" + short(reason) + ")"
	}
	from, to := number(f, "restartsFrom"), number(f, "restartsTo")
	switch {
	case has(f, "restartsTo") && from == to:
		s += " after " + count(from, "restart")
	case has(f, "restartsTo"):
		s += " after " + itoa(from) + " to " + count(to, "restart")
	case from > 0:
		s += " after " + count(from, "restart") + " or more"
	}
	return s
}

// strip says of each variant in a line what it leads to.
func (d *document) strip(variants manifest.Value) {
	var rows []row
	for o := variants.First(); o.Exists(); o = o.Next() {
		r := row{at: -1, tone: OK, cells: []string{short(text(o, "name")), releases(o.Get("answer").Get("cluster")), "the baseline for the others"}}
		if len(rows) > 0 {
			brief, _, what := d.brief(o, variants.First())
			if r.cells[2] = brief; what != "" {
				r.tone = Wait
			}
		}
		if o.Get("refused").Bool() {
			r.tone, r.cells[2] = Fail, "refused"+firstFault(o)
		}
		rows = append(rows, r)
	}
	d.table("Variants", []column{{name: "Variant"}, {name: "Releases"}, {name: "Result"}}, rows, 0)
}

// differences lists those of some kinds side by side.
func (d *document) differences(title, kinds string, first manifest.Value) {
	var rows []row
	beyond := 0
	for f := d.Answer.Get("differences").First(); f.Exists(); f = f.Next() {
		if indexOf(strings.Fields(kinds), text(f, "kind")) < 0 || strings.HasPrefix(text(f, "path"), "bins.") {
			continue // bins are for those who draw them
		}
		if len(rows) == MaxItems {
			beyond++
			continue
		}
		r := row{at: -1, cells: []string{d.label(f), d.side(f, "first"), d.side(f, "here")}}
		if has(f, "atMillis") {
			r.at = number(f, "atMillis")
		}
		if text(f, "kind") == "decidedByOnly" && r.cells[1] == r.cells[2] {
			continue // the same rule of another object
		}
		if here := f.Get("here"); here.Get("action").Exists() {
			r.tone, _, _ = outcome(here)
		}
		if d.several {
			r.cells = append([]string{short(text(f, "variant"))}, r.cells...)
		}
		rows = append(rows, r)
	}
	d.man = manifest.Value{}
	if len(rows) == 0 {
		return
	}
	columns := []column{{}, {name: short(text(first, "name"))}, {name: short(text(first.Next(), "name"))}}
	if d.several {
		columns[2].name = "in the variant"
		columns = append([]column{{name: "Variant"}}, columns...)
	}
	d.table(title, columns, rows, beyond)
}

// shown is what a Pod shows: an exit, or else a condition or a reason whose name is a member of v.
func shown(v manifest.Value, name string, reason bool) string {
	what := "with " + short(text(v, name))
	switch status := text(v, "status"); {
	case has(v, "exitCode"):
		return "whose " + short(text(v, "container")) + " exits with " + itoa(number(v, "exitCode"))
	case reason:
		return "with the reason " + short(text(v, name))
	case status != "":
		what += "=" + short(status)
	}
	return what
}

// label says what a difference is about.
func (d *document) label(f manifest.Value) string {
	container := short(text(f, "container"))
	switch kind := text(f, "kind"); kind {
	case "codes", "decidedByOnly":
		if has(f, "exit") {
			return exitText(f.Get("first"))
		}
		return container + " exits " + codesOf(f)
	case "exit":
		if e := f.Get("first"); e.Exists() {
			return exitText(e)
		}
		return exitText(f.Get("here"))
	case "container":
		return "container " + container
	case "condition", "podReason", "exits":
		what := "Pods " + shown(f, "name", kind == "podReason")
		if with := f.Get("with"); has(with, "podReason") {
			what += " and " + shown(with, "podReason", true)
		} else if with.Exists() {
			what += " and " + shown(with, "condition", false)
		}
		return what
	case "outcome":
		return "the end"
	case "timeline":
		return "first difference at " + span(number(f, "atMillis"))
	case "starts":
		return "starts of " + container
	case "ranMillis":
		return "time that " + container + " ran"
	case "restarts":
		return join(" of ", "restarts", container) + " in " + span(number(f, "untilMillis"))
	case "counter":
		return "Pods of the Job: " + short(text(f, "name"))
	case "limit":
		return short(text(f, "name"))
	case "waits":
		return join(" of ", waitName(text(f, "name")), container)
	case "start":
		return "restart " + itoa(number(f, "restart")) + " comes at"
	case "crossing":
		return "the other one is ahead from restart " + itoa(number(f, "restart")) + " on, at"
	case "late":
		return "delay after the outage"
	case "steady":
		return "restarts an hour in the long run"
	case "run":
		return "length of each run"
	case "undecided":
		return "undecided"
	case "fault":
		return "a fault"
	case "dropped", "warning":
		return "a " + kind + " field"
	default:
		return short(text(f, "path"))
	}
}

// waitName names a member of the back-off.
func waitName(member string) string {
	switch member {
	case "initialMillis":
		return "the first wait"
	case "maxMillis":
		return "the longest wait"
	case "resetMillis":
		return "the run that resets the back-off"
	case "restartPolicy": // of a proposal
		return "the waits by policy"
	}
	return "back-off, " + short(strings.TrimSuffix(member, "Millis"))
}

// manifestOf is the manifest that one side of a difference is about; absent if a patch makes it.
func (d *document) manifestOf(f manifest.Value, side string) manifest.Value {
	for v := d.Request.Get("variants").First(); v.Exists(); v = v.Next() {
		if side == "first" || text(v, "name") == text(f, "variant") {
			switch own := v.Get("manifest"); {
			case own.Exists():
				return own
			case !v.Get("patch").Get("manifest").Exists():
				return d.Request.Get("request").Get("manifest")
			}
			return manifest.Value{}
		}
	}
	return manifest.Value{}
}

// side is the value of one side of a difference.
func (d *document) side(f manifest.Value, name string) string {
	v := f.Get(name)
	if !v.Exists() {
		return "–"
	}
	d.man = d.manifestOf(f, name) // until all differences are told
	switch kind := text(f, "kind"); kind {
	case "codes", "exit", "decidedByOnly":
		e := d.fate(v, number(f, "to") == 0 && has(f, "to") || kind == "exit" && number(v, "exitCode") == 0)
		return join(", ", e.text, e.reason)
	case "outcome":
		s := Visible(text(v, "phase"))
		if reason := text(v, "reason"); reason != "" {
			s += " (" + Visible(reason) + ")"
		}
		return s + " since " + span(number(v, "atMillis"))
	case "timeline":
		return join(": ", join(" ", d.who(v, v.Get("number").Exists()), Visible(text(v, "event"))), d.detail(v))
	case "container":
		return "present"
	case "steady":
		n, _ := v.Int64()
		tenths := (n + 50) / 100
		return itoa(tenths/10) + "." + itoa(tenths%10)
	case "ranMillis", "start", "crossing", "late", "run":
		n, _ := v.Int64()
		return span(n)
	case "waits":
		if n, ok := v.Int64(); ok && strings.HasSuffix(text(f, "name"), "Millis") {
			return span(n)
		}
	}
	if v.Kind() == manifest.String {
		return short(v.Str())
	}
	return short(string(v.Raw()))
}

// variantFaults lists why variant number n is refused.
func (d *document) variantFaults(o manifest.Value, n int64) {
	if !o.Get("refused").Bool() {
		return
	}
	list := d.faults(faultsOf(o))
	base := "request.manifest."
	if d.Request.Get("variants").Locate("["+itoa(n)+"].manifest").Key() == "manifest" {
		base = "variants[" + itoa(n) + "].manifest."
	}
	for i := range list {
		if list[i].path != "" {
			list[i].path = base + list[i].path
		}
	}
	d.items("list", "Why "+short(text(o, "name"))+" is refused", list)
}

// onlyThere lists warnings and dropped fields that only one of two variants has.
func (d *document) onlyThere() {
	var list []item
	for f := d.Answer.Get("differences").First(); f.Exists(); f = f.Next() {
		kind, here := text(f, "kind"), "only in "+short(text(f, "variant"))
		if kind != "warning" && kind != "dropped" {
			continue
		}
		v := f.Get("here")
		if !v.Exists() {
			v, here = f.Get("first"), "no longer in "+short(text(f, "variant"))
		}
		i := fault(v)
		if kind == "dropped" {
			i.text = Visible(text(v, "path")) + ": the gate " + text(v, "gate") + " is off, so the API server drops this field silently."
		}
		i.tone, i.mark, i.reason, i.place, i.path = Wait, kind, here, manifest.Value{}, ""
		list = append(list, i)
	}
	d.items("list", "Accepted, but", list)
}
