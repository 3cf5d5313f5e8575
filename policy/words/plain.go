package words

import (
	"strings"

	"github.com/podfate/podfate/policy/manifest"
)

// Text is a document as plain text, for those that have no painter of their own: notebooks, logs,
// programs in other languages. It knows kinds of blocks and nothing of what they say. d is the JSON
// of a document.
func Text(d manifest.Value) string {
	var p plain
	v := d.Get("verdict")
	p.line("", join(" ", text(v, "title")))
	p.item("", v, text(v, "text"))
	for b := d.Get("blocks").First(); b.Exists(); b = b.Next() {
		p.block(b)
	}
	return p.b.String()
}

type plain struct{ b strings.Builder }

func (p *plain) line(indent, s string) {
	p.b.WriteString(strings.TrimRight(indent+s, " ") + "\n")
}

// item writes a line about v, why, and where.
func (p *plain) item(indent string, v manifest.Value, s string) {
	if because := text(v, "because"); because != "" {
		s += " (" + because + ")"
	}
	if line := number(v, "line"); line > 0 {
		s += " [line " + itoa(line) + "]"
	}
	if n := number(v, "times"); n > 1 {
		s += " ×" + itoa(n)
	}
	if s != "" {
		p.line(indent+"  ", s)
	}
}

func (p *plain) block(b manifest.Value) {
	switch text(b, "block") {
	case "lanes", "plot": // drawings, of which tables say the same
		return
	}
	p.line("", "")
	p.line("", text(b, "title"))
	for i := b.Get("items").First(); i.Exists(); i = i.Next() {
		p.item("", i, text(i, "text"))
	}
	for c := b.Get("cards").First(); c.Exists(); c = c.Next() {
		p.item("", c, text(c, "title")+": "+text(c, "text"))
		for i := c.Get("items").First(); i.Exists(); i = i.Next() {
			p.item("  ", i, text(i, "text"))
		}
	}
	for l := b.Get("lines").First(); l.Exists(); l = l.Next() {
		p.line("  ", l.Text())
	}
	for r := b.Get("ranges").First(); r.Exists(); r = r.Next() {
		p.line("  ", itoa(number(r, "from"))+" to "+itoa(number(r, "to"))+": "+text(r, "text"))
	}
	p.table(b)
	if n := number(b, "more"); n > 0 {
		p.line("  ", "and "+itoa(n)+" more")
	}
}

// table aligns the cells of rows.
func (p *plain) table(b manifest.Value) {
	var head []string
	for c := b.Get("columns").First(); c.Exists(); c = c.Next() {
		head = append(head, text(c, "text"))
	}
	if len(head) == 0 {
		return
	}
	rows := [][]string{head}
	for r := b.Get("rows").First(); r.Exists(); r = r.Next() {
		var cells []string
		for c := r.Get("cells").First(); c.Exists(); c = c.Next() {
			cells = append(cells, c.Text())
		}
		rows = append(rows, cells)
	}
	widths := make([]int, len(head))
	for _, cells := range rows {
		for i := range min(len(cells), len(head)) {
			widths[i] = max(widths[i], len([]rune(cells[i])))
		}
	}
	for _, cells := range rows {
		line := ""
		for i := range min(len(cells), len(head)) {
			line += cells[i] + strings.Repeat(" ", widths[i]-len([]rune(cells[i]))+2)
		}
		p.line("  ", line)
	}
}
