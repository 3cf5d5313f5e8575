package views

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/a-h/templ"

	"github.com/podfate/podfate/policy/words"
	"github.com/podfate/podfate/schema/document"
)

// The functions of this file work out what document.templ and drawing.templ write; paint.js has one
// of the same name for each, and a test holds the markup of both together.

// shape is a rectangle, or a text if text is not "". x and width are shares of the drawing's width.
type shape struct {
	class     string
	x, width  string
	y, height int
	text      string
	of        templ.OrderedAttributes // what it stands for: an instant, and a line of the manifest
}

// cell is an exit code in a map.
type cell struct {
	document.Range
	tab string // its tabindex: Tab stops at the first cell only
}

// mapColumns is the width of a map of the 256 exit codes.
const mapColumns = 16

// mapRows lays ranges out in rows; From of a cell is its code.
func mapRows(ranges []document.Range) (rows [][]cell) {
	for _, r := range ranges {
		for code := max(r.From, 0); code <= min(r.To, 255); code++ {
			if code%mapColumns == 0 || len(rows) == 0 {
				rows = append(rows, nil)
			}
			c := cell{r, "-1"}
			if c.From = code; code == 0 {
				c.tab = "0"
			}
			rows[len(rows)-1] = append(rows[len(rows)-1], c)
		}
	}
	return rows
}

// hundredths is n of all in hundredths of a per cent.
func hundredths(n, all int64) int64 {
	if all <= 0 {
		return 0
	}
	return n * 10_000 / all
}

// percent is n of all as SVG has it: 12.5%.
func percent(n, all int64) string { return share(hundredths(n, all)) }

// share is hundredths of a per cent as SVG has it.
func share(n int64) string {
	s := strconv.FormatInt(n/100, 10)
	if rest := n % 100; rest > 0 {
		s += "." + strings.TrimRight(strconv.FormatInt(100+rest, 10)[1:], "0")
	}
	return s + "%"
}

// Of a lane, in pixels; of what it writes, in hundredths of a per cent of its width.
const (
	barHeight  = 18
	flagTop    = 24 // of the first row of exit codes
	flagHeight = 18
	flagRows   = 2
	letter     = 140 // a character, at the narrowest width at which texts are shown
	most       = 10_000
)

// flag is an exit code that has found a place.
type flag struct {
	document.Flag
	x   int64 // hundredths of a per cent
	row int
	n   int
}

// flagsOf places exit codes in rows, so that none covers another: what finds no room is counted at
// the one before it of the same code, or left to the table.
func flagsOf(l document.Lane, b *document.Block) (list []flag) {
	last := [flagRows]int{-1, -1}
	for _, f := range l.Flags {
		x := hundredths(f.AtMillis, b.UntilMillis)
		for row := range flagRows {
			if last[row] < 0 || x >= list[last[row]].x+flagWidth(list[last[row]])+letter/2 {
				last[row] = len(list)
				list = append(list, flag{f, x, row, 1})
				break
			}
			if before := &list[last[row]]; before.Text == f.Text {
				before.n++
				break
			}
		}
	}
	return list
}

func flagWidth(f flag) int64 { return letter * int64(utf8.RuneCountInString(flagText(f))+1) }

func flagText(f flag) string {
	if f.n > 1 {
		return f.Text + "×" + number(f.n)
	}
	return f.Text
}

// laneHeight is the height of a lane in pixels.
func laneHeight(l document.Lane) int {
	switch {
	case l.Kind == "phase":
		return 26
	case len(l.Flags) == 0:
		return flagTop
	}
	return flagTop + flagRows*(flagHeight+2)
}

// drawLane draws the bars and exit codes of a lane.
func drawLane(l document.Lane, b *document.Block) (shapes []shape) {
	y, height := 2, barHeight
	if l.Kind == "phase" {
		y, height = 0, 4
	}
	for _, bar := range l.Bars {
		x := hundredths(bar.FromMillis, b.UntilMillis)
		width := max(hundredths(bar.ToMillis, b.UntilMillis)-x, 20)
		if bar.Kind == "on" {
			x, width = most-60, 60
		}
		shapes = append(shapes, shape{class: bar.Kind + " " + bar.Tone, x: share(x), y: y, width: share(width), height: height})
		if bar.Text == "" || bar.Kind == "on" || width < letter*int64(utf8.RuneCountInString(bar.Text)+1) {
			continue
		}
		if l.Kind == "phase" {
			shapes = append(shapes, shape{class: "start", x: share(x), y: 18, text: bar.Text})
		} else {
			shapes = append(shapes, shape{class: "middle", x: share(x + width/2), y: 15, text: bar.Text})
		}
	}
	for _, band := range b.Bands {
		shapes = append(shapes, shape{class: "band " + band.Tone, x: percent(band.AtMillis, b.UntilMillis), y: 0, width: "2px", height: laneHeight(l)})
	}
	for _, f := range flagsOf(l, b) {
		y, x, width := flagTop+f.row*(flagHeight+2), min(f.x, most-flagWidth(f)), flagWidth(f)
		of := templ.OrderedAttributes{{Key: "data-at", Value: strconv.FormatInt(f.AtMillis, 10)}}
		if f.Line > 0 {
			of = append(of, templ.KeyValue[string, any]{Key: "data-line", Value: number(f.Line)})
		}
		shapes = append(shapes,
			shape{class: "flag " + f.Tone, x: share(x), y: y, width: share(width), height: flagHeight, of: of},
			shape{class: "middle", x: share(x + width/2), y: y + 13, text: flagText(f)})
	}
	return shapes
}

// steps are the distances between labels of the axis, in milliseconds.
var steps = []int64{
	100, 200, 500, 1_000, 2_000, 5_000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000, 900_000, 1_800_000,
	3_600_000, 7_200_000, 21_600_000, 43_200_000, 86_400_000,
}

// drawAxis draws ticks, six of them at most, and what they say.
func drawAxis(b *document.Block) (shapes []shape) {
	step := steps[len(steps)-1]
	for _, s := range steps {
		if b.UntilMillis <= 6*s {
			step = s
			break
		}
	}
	for b.UntilMillis > 6*step {
		step *= 2
	}
	for ms := int64(0); ms <= b.UntilMillis; ms += step {
		x := percent(ms, b.UntilMillis)
		class := "start"
		if ms > b.UntilMillis*9/10 {
			class = "end"
		}
		shapes = append(shapes, shape{class: "tick", x: x, y: 0, width: "1px", height: 5}, shape{class: class, x: x, y: 17, text: words.Span(ms)})
	}
	return shapes
}

// drawPlot draws each point of the first series as a bar.
func drawPlot(b *document.Block) (shapes []shape) {
	for _, s := range b.Series[:min(len(b.Series), 1)] {
		highest := int64(1)
		for _, p := range s.Points {
			highest = max(highest, p[1])
		}
		n := int64(len(s.Points))
		for i, p := range s.Points {
			height := int(p[1] * 120 / highest)
			from, to := hundredths(int64(i), n), hundredths(int64(i)+1, n)
			shapes = append(shapes, shape{class: s.Tone, x: share(from), y: 120 - height, width: share(max(to-from-10, 10)), height: height})
		}
	}
	return shapes
}
