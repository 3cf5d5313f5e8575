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
		text = sentence(visible(e.Get("message").Text()))
	}
	d.verdict(item{tone: Fail, mark: "refused", text: text, path: e.Get("path").Text(), place: e}, title)
	d.blocks(func() { d.items("list", "Faults", faults) })
}

// refused says in a few words why there is no answer.
func (d *document) refused(e manifest.Value) string {
	for v := e.Get("faults").First(); v.Exists(); v = v.Next() {
		if text(v, "path") == "kind" && text(v, "code") == "unknown_kind" {
			return "Podfate does not read this kind" // Kubernetes may well accept it
		}
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
	case "BAD_JSON", "BAD_UTF8":
		return "The question cannot be read"
	}
	return "There is no answer"
}

// faults turns faults or warnings into items: the text of Kubernetes where there is one.
func (d *document) faults(list manifest.Value) (items []item) {
	for v := list.First(); v.Exists(); v = v.Next() {
		i := item{tone: Fail, mark: "fault", path: text(v, "path"), place: v}
		message, detail := visible(text(v, "message")), visible(text(v, "detail"))
		switch {
		case message == "" || detail != "" && text(v, "type") == "": // the decoder's words are those of Go
			i.text = detail
			if i.path != "" && !strings.HasPrefix(detail, i.path) {
				i.text = join(": ", visible(i.path), detail)
			}
			i.allow = v.Get("allowed")
			if message != "" {
				i.reason = "Kubernetes says: " + message
			}
		default:
			i.text = message
		}
		items = append(items, i)
	}
	return items
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
			text: visible(text(v, "path")) + ": the gate " + gate + " is off, so the API server drops this field silently.",
		})
	}
	d.items("list", "Dropped silently", dropped)
	warnings := d.faults(a.Get("warnings"))
	for i := range warnings {
		warnings[i].tone, warnings[i].mark = Wait, "warning"
	}
	d.items("list", "Accepted, but", warnings)
}

// validate says whether the API server would accept the manifest.
func (d *document) validate() {
	a := d.Answer
	version := text(a.Get("cluster"), "version")
	faults, warnings, dropped := a.Get("faults").Len(), a.Get("warnings").Len(), a.Get("dropped").Len()
	if a.Get("valid").Bool() {
		text := "Nothing dropped, nothing that cannot work."
		if notes := join(", ", counted(dropped, "dropped field"), counted(warnings, "warning")); notes != "" {
			text = sentence(notes)
		}
		if n := d.unchecked(); n > 0 {
			text += " " + count(n, "field") + " judged by name and type only."
		}
		d.verdict(item{tone: OK, mark: "succeeded", text: text}, "Kubernetes "+version+" accepts this manifest")
	} else {
		text := counted(faults, "fault")
		if list := d.faults(a.Get("faults")); len(list) > 0 {
			text = join(": ", text, list[0].text)
		} else {
			text = "The API server gets no further."
		}
		d.verdict(item{tone: Fail, mark: "refused", text: text}, "Kubernetes "+version+" refuses this manifest")
	}
	d.blocks(func() {
		d.checks()
		var list []item
		for v := a.Get("notChecked").First(); v.Exists(); v = v.Next() {
			path := v.Text()
			if v.Kind() == manifest.Object {
				path = text(v, "path")
			}
			list = append(list, item{tone: Stop, mark: "note", text: visible(path), path: path})
		}
		d.items("list", "Judged by name and type only", list)
	})
}

// unchecked is how many fields were judged by name and type only.
func (d *document) unchecked() int64 {
	more, _ := d.Answer.Get("notCheckedMore").Int64()
	return int64(d.Answer.Get("notChecked").Len()) + more
}

func counted(n int, noun string) string {
	if n == 0 {
		return ""
	}
	return count(int64(n), noun)
}
