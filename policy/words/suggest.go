package words

import (
	"strings"

	"github.com/podfate/podfate/policy/manifest"
)

// suggest puts into words which change of the manifest does what is wished.
func (d *document) suggest() {
	a := d.Answer
	list := a.Get("suggestions")
	best := list.First()
	var wishes []string
	for w := a.Get("wishes").First(); w.Exists(); w = w.Next() {
		g := group{}
		for r := w.Get("ranges").First(); r.Exists(); r = r.Next() {
			g.add(number(r, "from"), number(r, "to"))
		}
		codes := g.codes()
		if w.Get("disruption").Bool() {
			codes = join(", ", codes, "disruptions")
		}
		wishes = append(wishes, codes+" → "+wishWord(text(w, "to")))
	}
	wish := short(text(a, "container")) + ": " + strings.Join(wishes, "; ")
	obstacle := d.obstacle(a.Get("obstacle"))
	switch changed := changedCodes(best); {
	case a.Get("already").Bool():
		d.verdict(item{tone: OK, mark: "succeeded", text: wish + ". The manifest already does this."}, "Nothing needs to change")
	case !best.Exists():
		d.verdict(item{tone: Stop, mark: "refused", text: wish + ". " + sentence(obstacle)}, "No policy does this")
	case changed > 0:
		d.verdict(item{tone: Wait, mark: "warning", text: wish + ". " + sentence(editsText(best)) + " " + sentence(obstacle),
			reason: "it also changes the outcome of " + count(changed, "other exit")}, "Only with side effects")
	default:
		d.verdict(item{tone: Run, mark: "matched", text: wish + ". " + sentence(editsText(best)),
			reason: "checked for " + itoa(number(best, "checked")) + " exits: nothing else changes"}, does(int64(best.Get("edits").Len())))
	}
	d.blocks(func() {
		if best.Exists() {
			d.fixes(list)
		}
		d.sideEffects(list)
		var rows []row
		for v := a.Get("versions").First(); v.Exists(); v = v.Next() {
			works, tone := "works", OK
			if v.Get("refused").Bool() {
				works, tone = "the manifest is refused", Fail
			} else if !v.Get("works").Bool() && !best.Exists() {
				works, tone = "there is none", Stop
			} else if !v.Get("works").Bool() {
				works, tone = join(": ", "does not do it", prefixed("the gate ", text(v, "gate"), " is off")), Fail
			}
			rows = append(rows, row{at: -1, tone: tone, cells: []string{text(v, "version"), works, d.shortestThere(v)}})
		}
		if len(rows) > 0 {
			d.table("In each release", []column{{name: "Kubernetes"}, {name: "The first suggestion"}, {name: "The shortest there"}}, rows, 0)
		}
		d.checks()
	})
}

// shortestThere says what is the shortest in a release.
func (d *document) shortestThere(v manifest.Value) string {
	best := v.Get("suggestion")
	switch shortest := v.Get("shortest"); {
	case v.Get("already").Bool():
		return "the manifest already does this"
	case v.Get("cut").Bool():
		return "not searched to the end"
	case shortest.Bool():
		return "the first suggestion (proven)"
	case best.Exists():
		changed := ""
		if n := changedCodes(best); n > 0 {
			changed = "; changes " + count(n, "other exit")
		}
		return editsText(best) + changed
	case shortest.Exists():
		return "the first suggestion (nothing shorter was found)"
	case v.Get("obstacle").Exists():
		return "none: " + d.obstacle(v.Get("obstacle"))
	case d.Answer.Get("suggestions").Len() == 0 && !v.Get("refused").Bool():
		return "none: " + d.obstacle(d.Answer.Get("obstacle"))
	}
	return ""
}

// does is "1 edit does it".
func does(edits int64) string {
	if edits == 1 {
		return "1 edit does it"
	}
	return count(edits, "edit") + " do it"
}

func prefixed(before, s, after string) string {
	if s == "" {
		return ""
	}
	return before + s + after
}

// wishWord says what exits should lead to.
func wishWord(to string) string {
	switch to {
	case "restart":
		return "restarted in place"
	case "restartAll":
		return "all containers restart"
	case "stop":
		return "stays terminated"
	case "count":
		return "the Job counts it"
	case "ignore":
		return "the Job ignores it"
	case "failJob":
		return "the Job fails"
	}
	return "the index fails"
}

// obstacle says why nothing does only what is wished.
func (d *document) obstacle(o manifest.Value) string {
	switch code := text(o, "because"); code {
	case "gate_off":
		return "no rule can do it, because the gate " + text(o, "gate") + " is off"
	case "needs_never":
		return "a podFailurePolicy needs Pods with restartPolicy Never, and then no restart in place counts towards backoffLimit"
	case "needs_limit_per_index":
		return "FailIndex needs a Job with backoffLimitPerIndex"
	case "words_of_proposals":
		return "the manifest uses fields or values of a proposal, and changes are only looked for among those of releases"
	case "no_policy_does_it", "":
		return "no restartPolicy and no rule does it"
	default:
		return phrase(code)
	}
}

func changedCodes(s manifest.Value) (n int64) {
	for c := s.Get("changes").First(); c.Exists(); c = c.Next() {
		n += number(c, "to") - number(c, "from") + 1
	}
	return n
}

// fixes writes the suggestions as edits that fronts can apply.
func (d *document) fixes(list manifest.Value) {
	w := d.w
	w.Object()
	d.text("block", "fixes")
	d.text("title", "Suggestions")
	w.KeyArray("items")
	for s := list.First(); s.Exists(); s = s.Next() {
		i := item{tone: Run, mark: "matched", text: sentence(editsText(s)), reason: count(number(s, "rules"), "rule") + " with " + count(number(s, "values"), "value") + " in all"}
		if n := changedCodes(s); n > 0 {
			i.tone, i.mark = Wait, "warning"
			i.reason += "; changes " + count(n, "other exit")
		} else if s.Get("shortest").Bool() {
			i.reason += "; proven to be the shortest"
		}
		w.Object()
		d.members(i)
		w.KeyArray("edits")
		for e := s.Get("edits").First(); e.Exists(); e = e.Next() {
			w.Object()
			d.text("op", text(e, "op"))
			d.text("path", text(e, "path"))
			if v := e.Get("value"); v.Exists() {
				w.KeyRaw("value", v.Raw())
			}
			w.End()
		}
		w.End()
		w.End()
	}
	w.End()
	w.End()
}

// editsText says what the edits of a suggestion do.
func editsText(s manifest.Value) string {
	var says []string
	for e := s.Get("edits").First(); e.Exists() && len(says) < maxValuesShown; e = e.Next() {
		says = append(says, editText(text(e, "op"), text(e, "path"), e))
	}
	if more := s.Get("edits").Len() - len(says); more > 0 {
		says = append(says, count(int64(more), "more edit"))
	}
	return strings.Join(says, "; ")
}

// editText says what one edit does: add 137 to rule 0.
func editText(op, path string, e manifest.Value) string {
	value := e.Get("value")
	head, last := cutLast(path)
	above, name := cutLast(head)
	job := ""
	if strings.Contains(path, "/podFailurePolicy") {
		job = "podFailurePolicy "
	}
	switch {
	case name == "values":
		above, _ = cutLast(above)
		_, rule := cutLast(above)
		if op == "remove" {
			return "take " + itoa(number(e, "was")) + " out of " + job + "rule " + rule
		}
		return "add " + string(value.Raw()) + " to " + job + "rule " + rule
	case name == "restartPolicyRules", name == "rules":
		if op == "remove" {
			return "remove " + job + "rule " + last
		}
		return "add " + job + "rule " + last + ": " + anyRule(value)
	case last == "values":
		above, _ = cutLast(head)
		_, rule := cutLast(above)
		return "set the values of " + job + "rule " + rule + " to " + quoteValues(value)
	case op == "remove":
		return "remove " + whose(path) + last
	case value.Kind() == manifest.String:
		return "set " + whose(path) + last + " to " + value.Text()
	}
	if last == "podFailurePolicy" {
		value = value.Get("rules")
	}
	var rules []string
	for r := value.First(); r.Exists() && len(rules) < maxValuesShown; r = r.Next() {
		rules = append(rules, anyRule(r))
	}
	if job != "" {
		last = "podFailurePolicy"
	}
	return "write " + last + ": " + strings.Join(rules, ", then ")
}

// cutLast cuts the last name off a JSON Pointer.
func cutLast(path string) (head, last string) {
	i := strings.LastIndexByte(path, '/')
	if i < 0 {
		return "", path
	}
	return path[:i], path[i+1:]
}

// whose says whose restartPolicy it is.
func whose(path string) string {
	switch {
	case !strings.HasSuffix(path, "/restartPolicy"):
		return ""
	case strings.Contains(path, "ontainers/"), strings.HasSuffix(path, "/container/restartPolicy"), strings.HasSuffix(path, "/script/restartPolicy"):
		return "the container's "
	}
	return "the Pod's "
}

// anyRule is a rule of a container or of a Job in short.
func anyRule(v manifest.Value) string {
	if on := v.Get("exitCodes"); on.Exists() {
		return text(on, "operator") + " " + quoteValues(on.Get("values")) + " → " + text(v, "action")
	}
	return failureRule(v)
}

// sideEffects lists what else changes.
func (d *document) sideEffects(list manifest.Value) {
	n := int64(0)
	for s := list.First(); s.Exists(); s = s.Next() {
		n++
		var rows []row
		for c := s.Get("changes").First(); c.Exists(); c = c.Next() {
			zero := number(c, "to") == 0
			was, is := d.fate(c.Get("was"), zero), d.fate(c.Get("becomes"), zero)
			rows = append(rows, row{at: -1, tone: is.tone, cells: []string{short(text(c, "container")), codesOf(c), was.text, is.text}})
		}
		if len(rows) > 0 {
			d.table("What suggestion "+itoa(n)+" changes besides", []column{{name: "Container"}, {name: "Codes"}, {name: "Today"}, {name: "Then"}}, rows, 0)
		}
	}
}

// offer asks whether exits should come to something else, for which there is the question suggest.
// r is the decision about code, or the range of a table that has it.
func (d *document) offer(r manifest.Value, container string, code int64, template string) []item {
	j, end := job(r), text(r, "action")
	var words []string
	switch because := text(r, "because"); {
	case r.Get("undecided").Exists(), because == "sidecar_always_restarts", because == "ephemeral_never_restarts", because == "init_completed":
		return nil
	case end != "Stop":
		words = []string{"stop"}
	case text(j, "podPhase") == "Failed" && text(j, "action") == "Count":
		words = []string{"restart", "ignore"}
	case text(j, "podPhase") == "Failed" && text(j, "action") != "":
		words = []string{"restart", "count"}
	default:
		words = []string{"restart"}
	}
	list := make([]item, 0, len(words))
	for _, to := range words {
		flip := string(append(manifest.AppendQuoted([]byte(`{"container":`), container), `,"exit":`+itoa(code)+`,"to":"`+to+`"}`...))
		if template != "" {
			flip += string(manifest.AppendQuoted([]byte(`,"templatePath":`), template))
		}
		list = append(list, item{
			mark: "note", asks: `{"of":"suggest","request":{"flip":` + flip + `}}`,
			text: short(container) + " exits " + itoa(code) + " → " + wishWord(to) + ": suggest finds the smallest change for it.",
		})
	}
	return list
}

// offers writes what is offered: nothing among proposals, in whose words no changes are looked for.
func (d *document) offers(list []item) {
	if !d.Answer.Get("cluster").Get("proposals").Exists() {
		d.items("list", "To change this", list)
	}
}
