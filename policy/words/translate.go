package words

import (
	"strings"

	"github.com/podfate/podfate/policy/manifest"
)

// translate puts into words what a manifest looks like in other words, and what is lost.
func (d *document) translate() {
	a := d.Answer
	to := text(a, "to")
	if text(a, "to") == "kubernetes" {
		to = "Kubernetes " + text(a.Get("cluster"), "version")
	}
	lost, exits := int64(a.Get("lost").Len()), itoa(number(a, "compared"))+" exits were decided in both"
	v, title := item{tone: OK, mark: "succeeded", text: "Under " + to + " every exit has the same outcome, and nothing is lost.", reason: exits}, "Translated completely"
	switch differ := int64(a.Get("differences").Len()); {
	case !a.Get("accepted").Bool():
		v = item{tone: Fail, mark: "refused", text: "Under " + to + " the manifest would be refused."}
		title = "The translation would be refused"
	case !a.Get("changed").Bool() && lost == 0:
		v.text = "The manifest is already written for " + to + "."
		title = "Nothing to translate"
	case differ > 0:
		have := " of exit codes have another outcome."
		if differ == 1 {
			have = " of exit codes has another outcome."
		}
		v = item{tone: Wait, mark: "warning", text: "Under " + to + " " + count(differ, "range") + have, reason: exits}
		title = "Translated, but not equivalent"
	case lost > 0:
		v = item{tone: Wait, mark: "warning", text: "Under " + to + " every exit has the same outcome, but something else is lost.", reason: exits}
		title = "Translated in part"
	}
	d.verdict(v, title)
	d.blocks(func() {
		var list []item
		for x := a.Get("lost").First(); x.Exists(); x = x.Next() {
			i := item{tone: Wait, mark: "dropped", path: text(x, "path"), place: x, text: sentence(lossText(text(x, "because")))}
			if h := x.Get("hint"); h.Exists() {
				i.reason = "closest: " + string(h.Raw())
			}
			i.quote, _ = d.quote(i.path)
			list = append(list, i)
		}
		d.items("list", "What is lost", list)
		var rows []row
		for x := a.Get("differences").First(); x.Exists(); x = x.Next() {
			g := group{}
			g.add(number(x, "from"), number(x, "to"))
			zero := g.to[0] == 0
			was, is := d.fate(x.Get("was"), zero), d.fate(x.Get("becomes"), zero)
			codes := join(", ", g.codes(), text(x, "reason"))
			if has(x, "restarts") {
				codes += ", after " + count(number(x, "restarts"), "restart")
			}
			rows = append(rows, row{at: -1, tone: is.tone, cells: []string{short(text(x, "container")), codes, was.text, is.text}})
		}
		if len(rows) > 0 {
			d.table("What changes", []column{{name: "Container"}, {name: "Codes"}, {name: "Before"}, {name: "After"}}, rows, 0)
		}
		var faults, then []item
		for x := a.Get("droppedThen").First(); x.Exists(); x = x.Next() {
			then = append(then, item{tone: Wait, mark: "dropped", path: text(x, "path"), text: "Dropped silently: the gate " + text(x, "gate") + " is off."})
		}
		d.items("list", "What the API server drops", then)
		for f := a.Get("faults").First(); f.Exists(); f = f.Next() {
			says := text(f, "message")
			if says == "" {
				says = text(f, "detail")
			}
			faults = append(faults, item{tone: Fail, mark: "fault", path: text(f, "path"), text: sentence(Visible(says))})
		}
		d.items("list", "Why it would be refused", faults)
		var y yaml
		y.value(a.Get("manifest"), 0, false)
		d.terminal("For "+to, y.lines)
		d.checks()
	})
}

// lossText says what has no form in the other words.
func lossText(because string) string {
	switch because {
	case "restart_times":
		return "the condition on restarts: no release looks at how often a container was restarted"
	case "oom_killed":
		return "the condition on the cause: no release looks at it, and 137 has other causes, too"
	case "action_has_no_form":
		return "the rule: the target has no such action"
	case "restart_limit":
		return "the limit on restarts: no release has one for Pods; a Job's backoffLimit is something else"
	case "pod_reason":
		return "the condition on the Pod's reason: releases look at conditions, such as DisruptionTarget"
	case "pod_conditions":
		return "the requirement on conditions of the Pod: the draft looks at reasons"
	case "code_0":
		return "exit code 0 in the rule: in a release, a Job's rules never match it"
	case "waits":
		return "the waits: restarts wait as the target has it"
	case "new_sandbox":
		return "the new sandbox: containers that restart together keep the old one, and its address"
	case "needs_never":
		return "the podFailurePolicy: it needs Pods with restartPolicy Never"
	case "owner":
		return "whatever else the owner does: its other replicas, when it counts as successful, what it cleans up"
	case "retry_condition":
		return "the condition of the retryStrategy: it is not judged, and failures count"
	case "script_source":
		return "the source of the script: a Job's container has only a command"
	case "retry_loop":
		return "the retry loop in the shell command: it stays there and hides the exits of its program, which a policy would see"
	case "no_job":
		return "the podFailurePolicy: the Pod has no Job"
	}
	return "restarts after a success: a Job does not start a Pod again that succeeded"
}

// yaml writes values as YAML that people read: one line for each member.
type yaml struct{ lines [][]string }

func (y *yaml) line(depth int, text string) {
	y.lines = append(y.lines, []string{strings.Repeat(" ", depth) + text})
}

// value writes v, a member or an element, at a depth of so many spaces; item says that its first
// line follows a dash.
func (y *yaml) value(v manifest.Value, depth int, item bool) {
	first := item
	for m := v.First(); m.Exists(); m = m.Next() {
		head := "-"
		if v.Kind() == manifest.Object {
			head = plainYAML(m.Key()) + ":"
		}
		if first {
			head = "- " + head
			first = false
			depth -= 2
		} else if item && depth >= 0 && v.Kind() == manifest.Object {
			item = false
			depth += 2
		}
		below := depth + 2
		if head[0] == '-' && len(head) > 1 {
			below += 2
		}
		switch k := m.Kind(); {
		case k != manifest.Object && k != manifest.Array:
			y.line(depth, head+" "+scalarYAML(m))
		case m.Len() == 0, k == manifest.Array && scalars(m):
			y.line(depth, head+" "+flowYAML(m))
		case head == "-" && k == manifest.Object:
			y.value(m, depth+2, true)
		default:
			y.line(depth, head)
			if k == manifest.Array {
				below -= 2
			}
			y.value(m, below, false)
		}
	}
}

func scalars(v manifest.Value) bool {
	for e := v.First(); e.Exists(); e = e.Next() {
		if k := e.Kind(); k == manifest.Object || k == manifest.Array {
			return false
		}
	}
	return true
}

// flowYAML is an empty list or object, or a list of scalars, in one line.
func flowYAML(v manifest.Value) string {
	if v.Kind() == manifest.Object {
		return "{}"
	}
	var list []string
	for e := v.First(); e.Exists(); e = e.Next() {
		list = append(list, scalarYAML(e))
	}
	return "[" + strings.Join(list, ", ") + "]"
}

func scalarYAML(v manifest.Value) string {
	if v.Kind() == manifest.String {
		return plainYAML(v.Str())
	}
	return string(v.Raw())
}

// plainYAML is s as a YAML text: without quotes where nothing else could be meant.
func plainYAML(s string) string {
	plain := s != "" && (s[0] >= 'a' && s[0] <= 'z' || s[0] >= 'A' && s[0] <= 'Z')
	for i := range len(s) {
		c := s[i]
		plain = plain && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.' || c == '/')
	}
	switch strings.ToLower(s) {
	case "true", "false", "null", "yes", "no", "on", "off", "y", "n":
		plain = false
	}
	if plain {
		return s
	}
	return string(manifest.AppendQuoted(nil, Visible(s)))
}
