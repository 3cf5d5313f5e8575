package cli

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/podfate/podfate/schema/document"
)

// painter writes documents to a terminal or a file. It knows kinds of blocks, tones and marks; the
// words are the core's.
type painter struct {
	colour bool
	width  int // columns of the terminal
	// place says where a path is: "line 12", or "" for nowhere.
	place func(path string) string
	// command is what to type for a question that a document offers, "" for nothing; it may be nil.
	command func(*document.Ask) string

	b bytes.Buffer
}

// paint writes a document.
func (p *painter) paint(d *document.Document) []byte {
	p.verdict(&d.Verdict)
	for i := range d.Blocks {
		p.block(&d.Blocks[i])
	}
	return trimLines(p.b.Bytes())
}

func (p *painter) verdict(v *document.Verdict) {
	p.b.WriteString(p.tint(v.Tone, strings.TrimSpace(document.Glyph(v.Mark)+" "+v.Title)) + "\n")
	p.wrapped("  ", v.Text)
	if because := strings.TrimSpace(v.Because + p.at(v.Path)); because != "" {
		p.wrapped("  ", because)
	}
	if s := v.Share; s != nil && s.OfMillis > 0 {
		const columns = 40
		ran := min(columns, int((s.RanMillis*columns+s.OfMillis-1)/s.OfMillis))
		fmt.Fprintf(&p.b, "  %s%s ran %d%% of the time\n", p.tint("run", strings.Repeat("█", ran)), p.tint("wait", strings.Repeat("░", columns-ran)), s.RanMillis*100/s.OfMillis)
	}
}

// at is the place of a path in brackets.
func (p *painter) at(path string) string {
	if path == "" || p.place == nil {
		return ""
	}
	if place := p.place(path); place != "" {
		return " (" + place + ")"
	}
	return ""
}

func (p *painter) block(b *document.Block) {
	switch b.Kind {
	case "list", "steps", "fixes", "layers", "table", "terminal", "plot", "grid":
	default:
		return // lanes: the table after them says the same; a kind of a later release
	}
	p.b.WriteString("\n")
	if b.Title != "" {
		p.b.WriteString(b.Title + "\n")
	}
	switch b.Kind {
	case "steps":
		p.steps(b)
	case "layers":
		p.layers(b)
	case "table":
		p.table(b)
	case "terminal":
		for _, line := range b.Lines {
			p.b.WriteString("  " + line + "\n")
		}
	case "plot":
		p.plot(b)
	case "grid":
		p.grid(b)
	default:
		p.list(b)
	}
	if b.More > 0 {
		fmt.Fprintf(&p.b, "  … and %d more\n", b.More)
	}
}

func (p *painter) list(b *document.Block) {
	for _, i := range b.Items {
		text := i.Text
		if i.Because != "" {
			text += " (" + i.Because + ")"
		}
		lines := wrap(text+p.at(i.Path), max(p.width-4, 20))
		for n, line := range lines {
			mark := " "
			if n == 0 {
				mark = document.Glyph(i.Mark)
			}
			p.b.WriteString("  " + p.tint(i.Tone, mark) + " " + line + "\n")
		}
		if i.Ask != nil && p.command != nil {
			if line := p.command(i.Ask); line != "" {
				p.b.WriteString("    " + line + "\n") // in one line, to be copied
			}
		}
	}
}

func (p *painter) steps(b *document.Block) {
	var rows [][]string
	var tones []string
	for _, i := range b.Items {
		text := i.Text
		if i.Times > 1 {
			text += " ×" + strconv.FormatInt(i.Times, 10)
		}
		mark := document.Result(i.Mark)
		if mark == "" {
			mark = document.Glyph(i.Mark)
		}
		place := ""
		if p.place != nil && i.Path != "" {
			place = p.place(i.Path)
		}
		rows, tones = append(rows, []string{mark, text, place, i.Quote, i.Because}), append(tones, i.Tone)
	}
	p.columns(rows, tones, nil)
}

func (p *painter) layers(b *document.Block) {
	var rows [][]string
	var tones []string
	for _, c := range b.Cards {
		rows, tones = append(rows, []string{c.Title, document.Glyph(c.Mark) + " " + c.Text, c.Because + p.at(c.Path)}), append(tones, c.Tone)
		for _, i := range c.Items {
			text := i.Text
			if i.Times > 1 {
				text += " ×" + strconv.FormatInt(i.Times, 10)
			}
			rows, tones = append(rows, []string{"", text, i.Because + p.at(i.Path)}), append(tones, i.Tone)
		}
	}
	p.columns(rows, tones, nil)
}

func (p *painter) table(b *document.Block) {
	var right []bool
	head, tones := []string{}, []string{""}
	for _, c := range b.Columns {
		head, right = append(head, c.Text), append(right, c.Align == "end")
	}
	rows := [][]string{head}
	for _, r := range b.Rows {
		cells := r.Cells
		if place := p.at(r.Path); place != "" && len(cells) > 0 {
			cells = append([]string{}, cells...)
			cells[len(cells)-1] += place
		}
		rows, tones = append(rows, cells), append(tones, r.Tone)
	}
	p.columns(rows, tones, right)
}

// plot draws each series as bars, a line for each point.
func (p *painter) plot(b *document.Block) {
	for _, s := range b.Series {
		most := int64(1)
		for _, point := range s.Points {
			most = max(most, point[1])
		}
		for i, point := range s.Points {
			if i == maxPlotLines {
				fmt.Fprintf(&p.b, "  %6s\n", "…")
				break
			}
			fmt.Fprintf(&p.b, "  %6d  %s\n", point[0], p.tint(s.Tone, bar(point[1], most, min(40, max(p.width-12, 10)))))
		}
	}
}

// maxPlotLines bounds the bars of a plot: a crash loop settles long before.
const maxPlotLines = 24

// grid draws a map of letters, 16 codes in a row, where a line for each range would be many. The
// table after it says what the letters mean.
func (p *painter) grid(b *document.Block) {
	var rows [][]string
	var tones []string
	for _, r := range b.Ranges {
		codes := strconv.Itoa(r.From)
		if r.To > r.From {
			codes += "–" + strconv.Itoa(r.To)
		}
		rows, tones = append(rows, []string{codes, r.Letter, r.Text, r.Because + p.at(r.Path)}), append(tones, r.Tone)
	}
	if len(rows) <= maxGridLines {
		p.columns(rows, tones, nil)
		return
	}
	code := 0
	for _, r := range b.Ranges {
		for ; code <= r.To; code++ {
			if code%16 == 0 {
				fmt.Fprintf(&p.b, "  %3d ", code)
			}
			p.b.WriteString(" " + p.tint(r.Tone, r.Letter))
			if code%16 == 15 {
				p.b.WriteString("\n")
			}
		}
	}
}

// maxGridLines bounds the ranges that are listed and not drawn.
const maxGridLines = 3
