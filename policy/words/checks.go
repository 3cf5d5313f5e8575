package words

import (
	"strings"

	"github.com/podfate/podfate/policy/manifest"
)

// refusal is the document of an operation that failed.
func (d *document) refusal() {
	e := d.Answer.Get("error")
	faults := d.faults(e.Get("faults"))
	title, text := d.refused(e), ""
	if len(faults) > 0 {
		text = count(int64(len(faults)), "fault") + ": " + faults[0].text
		if len(faults) == 1 {
			text = faults[0].text
		}
	} else {
		only := item{tone: Fail, mark: "fault", path: e.Get("path").Text(), place: e, text: Visible(e.Get("message").Text())}
		if only.path != "" && !strings.HasPrefix(only.text, only.path) {
			only.text = Visible(only.path) + ": " + only.text
		}
		text, faults = sentence(only.text), []item{only}
	}
	d.verdict(item{tone: Fail, mark: "refused", text: text, path: e.Get("path").Text(), place: e}, title)
	d.blocks(func() {
		d.items("list", "Faults", faults)
		d.knownFixes(e.Get("faults"))
	})
}

// refused says in a few words why there is no answer.
func (d *document) refused(e manifest.Value) string {
	if unread(e) {
		return notRead
	}
	switch code := text(e, "code"); code {
	case "MANIFEST_INVALID":
		if v := text(d.Request.Get("cluster"), "version"); v != "" {
			return "Kubernetes " + short(v) + " refuses this manifest"
		}
		return "Kubernetes refuses this manifest"
	case "EVENT_INVALID":
		return "The question does not fit this manifest"
	case "UNSUPPORTED_VERSION":
		return "Podfate cannot answer for this cluster"
	case "LIMIT_EXCEEDED", "BUDGET_EXCEEDED":
		return "Too large to answer"
	case "BAD_JSON", "BAD_UTF8", "BAD_YAML":
		return "The manifest cannot be read"
	case "BAD_PODS":
		return "The Pods cannot be read"
	case "BUSY":
		return "The server is busy"
	case "TIMEOUT":
		return "The answer took too long"
	case "DIGEST":
		return "The module is not the one this page belongs to"
	}
	return "There is no answer"
}

// notRead is said of a kind that Kubernetes may well accept.
const notRead = "Podfate does not read this kind of manifest"

// unread reports whether the manifest is of a kind that is not read.
func unread(of manifest.Value) bool {
	for v := of.Get("faults").First(); v.Exists(); v = v.Next() {
		if text(v, "path") == "kind" && text(v, "code") == "unknown_kind" {
			return true
		}
	}
	return false
}

// faults turns faults or warnings into items.
func (d *document) faults(list manifest.Value) (items []item) {
	for v := list.First(); v.Exists(); v = v.Next() {
		items = append(items, fault(v))
	}
	return items
}

// fault is one fault: the text of Kubernetes where there is one. That of its decoder is in the
// words of Go, so it only appears next to ours.
func fault(v manifest.Value) item {
	i := item{tone: Fail, mark: "fault", path: text(v, "path"), place: v}
	message, detail := Visible(text(v, "message")), Visible(text(v, "detail"))
	i.text = message
	if decoded := message != "" && detail != "" && text(v, "type") == ""; message == "" || decoded {
		if text(v, "code") == "duplicate_field" { // whose detail counts lines in the JSON of the request
			detail = "duplicate name"
		}
		i.text, i.allow = detail, v.Get("allowed")
		if decoded {
			i.reason = "Kubernetes: " + message
		}
	}
	if p := text(v, "proposal"); p != "" {
		i.reason = join("; ", i.reason, "the proposal "+p+" would allow it")
	}
	if within := v.Get("within"); within.Exists() {
		i.text = "column " + itoa(number(within, "column")) + ": " + i.text
		if line := number(within, "line"); line > 1 {
			i.text = "line " + itoa(line) + ", " + i.text
		}
	}
	if path := Visible(i.path); path != "" && !strings.HasPrefix(i.text, path) {
		if own, says, found := strings.Cut(i.text, ": "); found && strings.HasSuffix(path, "."+own) {
			i.text = says // what Kubernetes says of the Pod that a template makes begins with the path in the Pod
		}
		i.text = join(": ", path, i.text)
	}
	return i
}

// maxPossible is how many possible values fit in a line.
const maxPossible = 30

// Plain says in one line what is wrong: path, words, what is possible instead, and the text of
// Kubernetes where it is not the words. v is a fault of an answer.
func Plain(v manifest.Value) string {
	i := fault(v)
	if n := i.allow.Len(); n > 0 && n <= maxPossible {
		var list []string
		for a := i.allow.First(); a.Exists(); a = a.Next() {
			list = append(list, Visible(a.Text()))
		}
		i.text += " (possible: " + strings.Join(list, ", ") + ")"
	}
	if i.reason != "" {
		i.text += " (" + i.reason + ")"
	}
	return i.text
}

// checks writes what is wrong, dropped or accepted and still cannot work. Every answer about a
// manifest has them, whatever was asked.
func (d *document) checks() {
	a := d.Answer
	d.items("list", "Faults", d.faults(a.Get("faults")))
	if a.Get("undecided").Kind() == manifest.Array && d.Operation == "validate" {
		var list []item
		for v := a.Get("undecided").First(); v.Exists(); v = v.Next() {
			list = append(list, item{tone: Stop, mark: "undecided", text: sentence(phrase(text(v, "reason"))), path: text(v, "path"), place: v})
		}
		d.items("list", "Undecided", list)
	}
	var dropped []item
	for v := a.Get("dropped").First(); v.Exists(); v = v.Next() {
		gate := text(v, "gate")
		dropped = append(dropped, item{
			tone: Wait, mark: "dropped", path: text(v, "path"), place: v, source: gatesPage,
			text: Visible(text(v, "path")) + ": the gate " + gate + " is off, so the API server drops this field silently.",
		})
	}
	d.items("list", "Dropped silently", dropped)
	warnings := append(d.faults(a.Get("warnings")), d.faults(d.Warnings)...)
	for i := range warnings {
		warnings[i].tone, warnings[i].mark = Wait, "warning"
	}
	d.items("list", "Accepted, but", warnings)
	d.knownFixes(a.Get("faults"), a.Get("warnings"))
}

// judge names who judges the manifest: the API server, or the kubelet that finds a static Pod in
// its folder, whose release and gates count alone.
func (d *document) judge() string {
	cluster := d.Answer.Get("cluster")
	version := text(cluster, "version")
	if !d.Request.Get("static").Bool() {
		return "Kubernetes " + version
	}
	if own := text(cluster.Get("kubelet"), "version"); own != "" {
		version = own
	}
	return "A kubelet of " + version
}

// validate says whether the API server would accept the manifest.
func (d *document) validate() {
	a := d.Answer
	judge := d.judge()
	faults, warnings, dropped := a.Get("faults").Len(), a.Get("warnings").Len()+d.Warnings.Len(), a.Get("dropped").Len()
	if a.Get("valid").Bool() {
		text := "Nothing dropped, nothing that cannot work."
		if notes := join(", ", counted(dropped, "dropped field"), counted(warnings, "warning")); notes != "" {
			text = sentence(notes)
		}
		title := judge + " accepts this manifest"
		if n := a.Get("templates").Len(); n > 0 { // nothing is said of the object itself
			title = judge + " accepts its " + count(int64(n), "template")
		}
		d.verdict(item{tone: OK, mark: "succeeded", text: text + d.howFar()}, title)
	} else {
		text := counted(faults, "fault")
		if list := d.faults(a.Get("faults")); len(list) > 0 {
			text = join(": ", text, list[0].text)
		} else {
			text = "The API server gets no further."
		}
		title := judge + " refuses this manifest"
		if unread(a) {
			title = notRead
		}
		d.verdict(item{tone: Fail, mark: "refused", text: text + d.howFar()}, title)
	}
	d.blocks(func() {
		d.checks()
		var list []item
		for v := a.Get("notChecked").First(); v.Exists(); v = v.Next() {
			list = append(list, item{tone: Stop, mark: "note", text: Visible(v.Text()), path: v.Text()})
		}
		d.items("list", "Judged by name and type only", list)
	})
}

// namedPaths is how many fields that are not checked a sentence names; a list has them all.
const namedPaths = 6

// howFar says which fields were judged by name and type only, "" if there is none: a verdict says
// no more than was checked.
func (d *document) howFar() string {
	list := d.Answer.Get("notChecked")
	n := int64(list.Len()) + number(d.Answer, "notCheckedMore")
	if n == 0 {
		return ""
	}
	var names []string
	for v := list.First(); v.Exists() && len(names) < namedPaths; v = v.Next() {
		names = append(names, Visible(v.Text()))
	}
	text := " Judged by name and type only: " + strings.Join(names, ", ")
	if more := n - int64(len(names)); more > 0 {
		text += " and " + itoa(more) + " more"
	}
	return text + "."
}

func counted(n int, noun string) string {
	if n == 0 {
		return ""
	}
	return count(int64(n), noun)
}
