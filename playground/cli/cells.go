package cli

import (
	"bytes"
	"fmt"
	"strings"
	"text/tabwriter"
	"unicode/utf8"
)

// What a painter needs of a terminal: colours, widths, columns.

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
