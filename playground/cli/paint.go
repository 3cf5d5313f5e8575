package cli

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/podfate/podfate/schema/document"
)

// painter writes documents to a terminal or a file. It knows kinds of blocks, tones and marks; the
// words are the core's.
type painter struct {
	colour bool
	width  int // columns of the terminal
	// place says where a path stands: "line 12", or "" for nowhere.
	place func(path string) string
	// command is what to type for a question that a document offers, "" for nothing; it may be nil.
	command func(*document.Ask) string

	b bytes.Buffer
}

// colours are the tones as colours that every terminal has.
var colours = map[string]string{
	"run": "32", "ok": "32", "wait": "33", "all": "35", "fail": "31", "stop": "90", "cnt": "35", "ui": "34",
}

// tint colours s, if it may be coloured.
func (p *painter) tint(tone, s string) string {
	if !p.colour || colours[tone] == "" || s == "" {
		return s
	}
	return "\x1b[" + colours[tone] + "m" + s + "\x1b[0m"
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

// wrapped writes a text in lines that fit the terminal.
func (p *painter) wrapped(indent, text string) {
	for _, line := range wrap(text, max(p.width-len(indent), 20)) {
		p.b.WriteString(indent + line + "\n")
	}
}

func wrap(text string, width int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		switch {
		case line == "":
			line = word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width:
			lines, line = append(lines, line), word
		default:
			line += " " + word
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
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

// columns aligns rows of cells and writes them with an indent. Colours come after aligning: they
// have no width.
func (p *painter) columns(rows [][]string, tones []string, right []bool) {
	var text bytes.Buffer
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	widths := map[int]int{}
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		for i, cell := range row {
			if i < len(right) && right[i] {
				cell = strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)) + cell
			}
			row[i] = cell
		}
		fmt.Fprintln(table, strings.Join(row, "\t"))
	}
	table.Flush() // into memory: it cannot fail
	n := 0
	for line := range strings.Lines(text.String()) {
		tone := ""
		if n < len(tones) {
			tone = tones[n]
		}
		p.b.WriteString("  " + p.tint(tone, strings.TrimRight(line, " \n")) + "\n")
		n++
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

// bar is as long as n of most, in eighths of a column; what is not zero can be seen.
func bar(n, most int64, columns int) string {
	eighths := int(float64(n) / float64(most) * float64(columns*8))
	if n > 0 {
		eighths = max(eighths, 1)
	}
	text := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		text += string([]rune("▏▎▍▌▋▊▉")[rest-1])
	}
	return text
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
