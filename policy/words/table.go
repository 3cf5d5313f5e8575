package words

import (
	"math"
	"strings"

	"github.com/podfate/podfate/policy/manifest"
)

// fate is what exits of a container lead to, both layers together.
type fate struct {
	item   // the words, and what decided
	letter string
}

// group are the codes with one fate.
type group struct {
	fate
	from, to []int64
	n        int64 // of codes
}

// codes puts into words what each exit code leads to: a sentence, a map and a list for each
// container, and what is in the manifest for nothing.
func (d *document) codes() {
	list := d.Answer.Get("containers")
	v := item{tone: Stop, mark: "note"}
	var says []string
	shown := 0
	for c := list.First(); c.Exists() && shown < maxNamed; c = c.Next() {
		groups := d.groups(c, true)
		fresh := ""
		if c.Get("restarts").First().Exists() {
			fresh = "if not restarted yet, "
		}
		says = append(says, "Container "+short(text(c, "container"))+d.in(c)+": "+fresh+codesSentence(groups))
		if shown++; list.Len() == 1 && len(groups) == 1 {
			v.tone, v.mark = groups[0].tone, groups[0].mark
		}
	}
	title := "Exit codes of " + count(int64(list.Len()), "container")
	if list.Len() == 1 {
		title = "Exit codes of " + short(text(list.First(), "container"))
		says[0] = says[0][strings.Index(says[0], ": ")+2:]
	} else if more := list.Len() - shown; more > 0 {
		says = append(says, "and "+count(int64(more), "container")+" more")
	}
	v.text = sentence(strings.Join(says, ". "))
	d.verdict(v, title)
	d.blocks(func() {
		shown := 0
		for c := list.First(); c.Exists() && shown < maxExplained; c = c.Next() {
			shown++
			title := "Exit codes of " + short(text(c, "container")) + d.in(c)
			after := c.Get("restarts").First()
			if !after.Exists() {
				d.grid(c, title)
				d.codeTable(c)
			}
			for ; after.Exists() && shown < maxExplained; after = after.Next() {
				shown++
				till := " and more restarts"
				if has(after, "to") {
					till = " to " + itoa(number(after, "to")) + " restarts"
				}
				d.grid(after, title+" after "+itoa(number(after, "from"))+till)
				d.codeTable(after)
			}
		}
		var idle []item
		for u := d.Answer.Get("unreachable").First(); u.Exists(); u = u.Next() {
			i := item{mark: "notreached", path: text(u, "path"), reason: d.idleBecause(text(u, "because"))}
			i.text = ruleName(i.path)
			i.quote, _ = d.quote(i.path)
			idle = append(idle, i)
		}
		d.items("list", "Rules that never decide", idle)
		var offers []item
		for c := list.First(); c.Exists() && len(offers) < maxNamed; c = c.Next() {
			for r := c.Get("ranges").First(); r.Exists(); r = r.Next() {
				if number(r, "from") <= killedCode && killedCode <= number(r, "to") {
					offers = append(offers, d.offer(r, text(c, "container"), killedCode, text(c, "template"))...)
				}
			}
		}
		if text(d.Answer, "leftOut") != "" {
			d.items("list", "Not drawn", []item{{mark: "note", text: "On Windows, processes can also end with other codes. They are in the tables."}})
		}
		d.offers(offers)
		d.sizes()
		d.assumptions()
		d.checks()
	})
}

// killedCode is SIGKILL, the code that people ask about most.
const killedCode = 137

// maxNamed bounds what a verdict names: containers, the endings of each, differences.
const maxNamed = 5

// groups are the endings of a container with their codes, in the order of their first code.
func (d *document) groups(c manifest.Value, brief bool) (groups []group) {
	if t := text(c, "template"); t != "" { // what a range of restarts has not
		d.within = t
	}
	for r := c.Get("ranges").First(); r.Exists(); r = r.Next() {
		for _, part := range parts(r) {
			e := d.fate(r, part[0] == 0)
			if brief {
				e.reason, e.path = "", ""
			}
			i := 0
			for i < len(groups) && groups[i].fate != e {
				i++
			}
			if i == len(groups) {
				groups = append(groups, group{fate: e})
			}
			groups[i].add(part[0], part[1])
		}
	}
	return groups
}

func (g *group) add(from, to int64) {
	g.from, g.to = append(g.from, from), append(g.to, to)
	g.n += to - from + 1
}

// parts splits a range where its words differ: to stop with 0 is a success.
func parts(r manifest.Value) [][2]int64 {
	from, to := number(r, "from"), number(r, "to")
	if from == 0 && to > 0 && text(r, "action") == "Stop" {
		return [][2]int64{{0, 0}, {1, to}}
	}
	return [][2]int64{{from, to}}
}

// fate says what exits of c lead to; r is a range or an exit.
func (d *document) fate(r manifest.Value, zero bool) (e fate) {
	j := job(r)
	if u := r.Get("undecided"); u.Exists() {
		e.letter, e.tone, e.mark, e.text, e.path, e.reason = "?", Stop, "undecided", "undecided", text(u, "path"), phrase(text(u, "reason"))
		return e
	}
	e.path, e.reason = d.decider(r), d.byWhat(r)
	switch action := text(r, "action"); {
	case action == "Restart":
		e.letter, e.tone, e.mark, e.text = "R", Run, "restart", "restarted in place"
		if j.Get("counted").Bool() {
			e.text += ", and counted"
		}
		if text(j, "outcome") == "Fails" {
			e.letter, e.tone, e.mark, e.text = "F", Fail, "failed", "the restart fails the Job"
		}
		return e
	case action == "RestartAllContainers":
		e.letter, e.tone, e.mark, e.text = "A", All, "restartall", "all containers restart"
		return e
	case action == "RestartPod":
		e.letter, e.tone, e.mark, e.text = "A", All, "restartall", "the whole Pod restarts"
		return e
	case action == "Complete":
		e.letter, e.tone, e.mark, e.text = "S", OK, "succeeded", "stays terminated, as a success"
		return e
	}
	switch phase := text(j, "podPhase"); {
	case j.Get("undecided").Exists():
		e.letter, e.item = "?", d.jobCard(j).head
	case phase == "Failed" || phase == "Succeeded":
		decider := e.item
		e.item = d.jobCard(j).head
		e.letter = letterOf(e.mark)
		if e.reason = decider.reason; text(j, "path") != "" {
			_, e.reason = d.jobBy(j)
		}
		if e.path == "" {
			e.path = decider.path
		}
	case r.Get("podFails").Bool():
		e.letter, e.tone, e.mark, e.text = "F", Fail, "failed", fails(r, zero)
	case text(r, "because") == "init_completed":
		e.letter, e.tone, e.mark, e.text = "S", OK, "succeeded", "completed"
	case zero:
		e.letter, e.tone, e.mark, e.text = "S", OK, "stop", "stays terminated (success)"
	default:
		e.letter, e.tone, e.mark, e.text = "T", Stop, "stop", "stays terminated (failure)"
	}
	if o := r.Get("owner"); o.Exists() {
		e.text, e.letter = "ends: "+ownerText(o), "N"
		switch text(o, "action") {
		case "Fail":
			e.letter, e.tone, e.mark = "F", Fail, "failed"
		case "Succeed":
			e.letter, e.tone, e.mark = "S", OK, "succeeded"
		case "":
			e.letter, e.mark = "?", "undecided"
		}
	}
	e.source = source{}
	return e
}

// letterOf is the letter of what a Job does about an exit.
func letterOf(mark string) string {
	switch mark {
	case "succeeded":
		return "S"
	case "counted":
		return "C"
	case "ignored":
		return "I"
	}
	return "F"
}

// codesSentence is "42 → restarted in place; the other 255 → stays terminated (failure)".
func codesSentence(groups []group) string {
	most := 0
	for i := range groups {
		if groups[i].n > groups[most].n {
			most = i
		}
	}
	if len(groups) == 1 {
		return "every code → " + groups[0].text
	}
	var says []string
	for i := range groups {
		if g := &groups[i]; i != most && len(says) < maxNamed {
			says = append(says, g.codes()+" → "+g.text)
		}
	}
	if more := len(groups) - 1 - len(says); more > 0 {
		says = append(says, itoa(int64(more))+" more")
	}
	return strings.Join(says, "; ") + "; the other " + itoa(groups[most].n) + " → " + groups[most].text
}

// maxSpans bounds the ranges of codes in one text.
const maxSpans = 12

// codes is "1, 4–41, 255".
func (g *group) codes() string {
	var spans []string
	left := g.n
	for i := range g.from {
		if len(spans) == maxSpans {
			spans = append(spans, "… "+itoa(left)+" more")
			break
		}
		text := itoa(g.from[i])
		if n := g.to[i] - g.from[i]; g.from[i] == math.MinInt32 {
			text = itoa(g.to[i]) + " and less"
		} else if g.to[i] == math.MaxInt32 {
			text += " and more"
		} else if n == 1 {
			text += ", " + itoa(g.to[i])
		} else if n > 1 {
			text += "–" + itoa(g.to[i])
		}
		spans = append(spans, text)
		left -= g.to[i] - g.from[i] + 1
	}
	return strings.Join(spans, ", ")
}

// grid draws the codes of a container.
func (d *document) grid(c manifest.Value, title string) {
	w := d.w
	w.Object()
	d.text("block", "grid")
	d.text("title", title)
	d.text("container", text(c, "container"))
	w.KeyArray("ranges")
	for r := c.Get("ranges").First(); r.Exists(); r = r.Next() {
		for _, part := range parts(r) {
			e := d.fate(r, part[0] == 0)
			w.Object()
			d.int("from", part[0])
			d.int("to", part[1])
			d.text("letter", e.letter)
			d.members(e.item)
			w.End()
		}
	}
	w.End()
	w.End()
}

// codeTable lists the endings of a container, each with all its codes.
func (d *document) codeTable(c manifest.Value) {
	var rows []row
	groups := d.groups(c, false)
	for i := range groups {
		g := &groups[i]
		rows = append(rows, row{at: -1, tone: g.tone, path: g.path, cells: []string{g.letter, g.codes(), itoa(g.n), g.text, g.reason}})
	}
	for r := c.Get("beyond").First(); r.Exists(); r = r.Next() {
		g, e := group{}, d.fate(r, false)
		g.add(number(r, "from"), number(r, "to"))
		rows = append(rows, row{at: -1, tone: e.tone, path: e.path, cells: []string{e.letter, g.codes(), "", e.text, e.reason}})
	}
	for r := c.Get("oomKilledRanges").First(); r.Exists(); r = r.Next() {
		g, e := group{}, d.fate(r, false)
		g.add(number(r, "from"), number(r, "to"))
		rows = append(rows, row{at: -1, tone: e.tone, path: e.path, cells: []string{e.letter, g.codes() + " (OOMKilled)", itoa(g.n), e.text, e.reason}})
	}
	if oom := c.Get("oomKilled"); oom.Exists() {
		e := d.fate(oom, true)
		rows = append(rows, row{at: -1, tone: e.tone, path: e.path, cells: []string{e.letter, "0 (OOMKilled)", "", e.text, e.reason}})
	}
	d.table("What they lead to", []column{{}, {name: "Codes"}, {"How many", true}, {name: "What happens"}, {name: "Why"}}, rows, 0)
}

// idleBecause says why a rule never decides.
func (d *document) idleBecause(code string) string {
	switch code {
	case "earlier_rule_matched":
		return "earlier rules match all of its codes"
	case "matches_no_code":
		return "no process ends with a code that it matches"
	case "pod_goes_on":
		return "such exits do not fail the Pod, so the Job's rules are not evaluated"
	case "no_such_container":
		return "the Pod has no container of this name"
	case "gate_off":
		cluster := d.Answer.Get("cluster")
		if kubelet := cluster.Get("kubelet"); kubelet.Get("featureGates").Exists() {
			cluster = kubelet
		}
		if !cluster.Get("featureGates").Get("ContainerRestartRules").Bool() {
			return phrase(code)
		}
	}
	return ignoredBecause(code)
}

// sizes lists how large the rules are.
func (d *document) sizes() {
	var rows []row
	for s := d.Answer.Get("sizes").First(); s.Exists(); s = s.Next() {
		r := row{at: -1, path: text(s, "path"), cells: []string{Visible(text(s, "path"))}}
		for _, name := range []string{"rules", "values", "binaryBytes", "jsonBytes"} {
			r.cells = append(r.cells, itoa(number(s, name)))
		}
		rows = append(rows, r)
	}
	if len(rows) > 0 {
		d.table("Sizes", []column{{name: "Rules at"}, {"Rules", true}, {"Values", true}, {"Bytes", true}, {"JSON bytes", true}}, rows, 0)
	}
}
