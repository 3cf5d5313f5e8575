package words

import (
	"strings"

	"github.com/podfate/podfate/policy/manifest"
)

// knownFixes offers the edits that answers know.
func (d *document) knownFixes(lists ...manifest.Value) {
	w, n := d.w, 0
	for _, list := range lists {
		for f := list.First(); f.Exists(); f = f.Next() {
			for x := f.Get("fixes").First(); x.Exists() && n < MaxItems; x = x.Next() {
				if n++; n == 1 {
					w.Object()
					d.text("block", "fixes")
					d.text("title", "What would help")
					w.KeyArray("items")
				}
				w.Object()
				d.members(item{tone: OK, mark: "restart", text: patchText(x.Get("edits")) + changed(text(x, "changes")), path: text(f, "path"), place: f})
				w.KeyRaw("edits", x.Get("edits").Raw())
				w.End()
			}
		}
	}
	if n > 0 {
		w.End()
		w.End()
	}
}

// patchText says what operations do.
func patchText(edits manifest.Value) string {
	var parts []string
	for e := edits.First(); e.Exists(); e = e.Next() {
		at, value := plainPointer(text(e, "path")), Visible(string(e.Get("value").Raw()))
		switch text(e, "op") {
		case "remove":
			parts = append(parts, "remove "+at)
		case "add":
			parts = append(parts, "add "+at+": "+value)
		case "move":
			name := at[strings.LastIndexByte(at, '.')+1:]
			parts = append(parts, "call "+plainPointer(text(e, "from"))+" "+name)
		default:
			parts = append(parts, "write "+value+" at "+at)
		}
	}
	return sentence(strings.Join(parts, ", "))
}

// plainPointer writes a JSON Pointer as the path of a fault.
func plainPointer(pointer string) string {
	var b strings.Builder
	for i, step := range strings.Split(pointer, "/") {
		switch {
		case i == 0:
		case step != "" && strings.Trim(step, "0123456789") == "":
			b.WriteString("[" + step + "]")
		default:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(step)
		}
	}
	return Visible(b.String())
}

// changed says what a fix changes about what happens.
func changed(code string) string {
	switch code {
	case "":
		return " Every exit keeps its outcome."
	case "code_0_no_longer_matches":
		return " Code 0 then no longer matches the rule."
	case "was_refused":
		return " Until then the API server refuses the manifest."
	case "field_counts":
		return " The field then takes effect."
	}
	return " " + sentence(phrase(code))
}
