package words

import (
	"github.com/podfate/podfate/policy/manifest"
)

// maxTerminal bounds the lines of a terminal that tell of changes; the answer has more.
const maxTerminal = 60

// Padding of kubectl's columns: GetNewTabWriter in k8s.io/cli-runtime/pkg/printers/tabwriter.go,
// v0.33 to v0.37.
const (
	columnMin     = 6
	columnPadding = 3
)

// rows shows what kubectl prints at the end.
func (d *document) rows() {
	until := number(d.Answer, "untilMillis")
	lines := [][]string{header(true)}
	for r := d.Answer.Get("rows").First(); r.Exists() && len(lines) <= maxTerminal; r = r.Next() {
		if cells := cellsOf(d.rowName(r), r, true); number(r, "atMillis") == until && cells != nil {
			lines = append(lines, cells)
		}
	}
	if len(lines) > 1 {
		d.terminal("kubectl get pods, after "+span(until), lines)
	}
	if from := d.Answer.Get("from").Get("row"); from.Exists() && d.Answer.Get("rows").Len() == 0 {
		d.terminal("kubectl get pods, now", [][]string{header(true), cellsOf(d.rowName(from), from, true)})
	}
}

// watched shows what kubectl prints over time.
func (d *document) watched() {
	until := number(d.Answer, "untilMillis")
	lines := [][]string{header(true)}
	left := number(d.Answer, "rowsMore")
	for r := d.Answer.Get("rows").First(); r.Exists(); r = r.Next() {
		name := d.rowName(r)
		at := number(r, "atMillis")
		switch cells := cellsOf(name, r, true); {
		case at == until && cells != nil:
		case len(lines) > maxTerminal:
			left++
		case cells == nil:
			lines = append(lines, []string{"# " + name + " is gone after " + span(at)})
		default:
			lines = append(lines, cells)
		}
		if n := number(r, "repeatsUntilMillis"); n > 0 {
			lines = append(lines, []string{"# … the same rows repeat until " + span(n)})
		}
	}
	if left > 0 {
		lines = append(lines, []string{"# … and " + itoa(left) + " more"})
	}
	if len(lines) > 2 {
		d.terminal("kubectl get pods --watch", lines)
	}
}

// exitRows shows what kubectl prints just after each exit.
func (d *document) exitRows() {
	lines := [][]string{header(false)}
	for e := d.Answer.Get("decisions").First(); e.Exists() && len(lines) <= maxTerminal; e = e.Next() {
		if r := e.Get("row"); r.Exists() {
			lines = append(lines, cellsOf(d.rowName(r), r, false))
		}
	}
	switch len(lines) {
	case 1: // the head alone
	case 2:
		d.terminal("kubectl get pods, just after the exit", lines)
	default:
		d.terminal("kubectl get pods, just after each exit", lines)
	}
}

// rowName is the name of the Pod in a row.
func (d *document) rowName(r manifest.Value) string {
	for _, name := range [...]string{text(r, "pod"), text(d.Answer.Get("pod").Get("metadata"), "name"), text(d.man.Get("metadata"), "name")} {
		if name != "" {
			return short(name)
		}
	}
	return "pod"
}

func header(age bool) []string {
	cells := []string{"NAME", "READY", "STATUS", "RESTARTS", "AGE"}
	if !age {
		cells = cells[:4]
	}
	return cells
}

// cellsOf makes the cells of a row, with AGE if age is true; nil for a Pod that is gone.
func cellsOf(name string, r manifest.Value, age bool) []string {
	if r.Get("gone").Bool() {
		return nil
	}
	restarts := itoa(number(r, "restarts"))
	if has(r, "agoMillis") {
		restarts += " (" + HumanDuration(number(r, "agoMillis")) + " ago)"
	}
	cells := []string{name, itoa(number(r, "ready")) + "/" + itoa(number(r, "total")), Visible(text(r, "status")), restarts}
	switch {
	case !age:
	case has(r, "ageMillis"):
		cells = append(cells, HumanDuration(number(r, "ageMillis")))
	default:
		cells = append(cells, "<unknown>")
	}
	return cells
}

// HumanDuration writes a length of time as kubectl prints ages.
//
// Source: HumanDuration in k8s.io/apimachinery/pkg/util/duration/duration.go, v0.33 to v0.37.
func HumanDuration(millis int64) string {
	seconds := millis / 1000
	minutes := seconds / 60
	hours := minutes / 60
	two := func(n int64, unit string, rest int64, small string) string {
		s := itoa(n) + unit
		if rest != 0 {
			s += itoa(rest) + small
		}
		return s
	}
	switch {
	case seconds < -1:
		return "<invalid>"
	case seconds < 0:
		return "0s"
	case seconds < 120:
		return itoa(seconds) + "s"
	case minutes < 10:
		return two(minutes, "m", seconds%60, "s")
	case minutes < 180:
		return itoa(minutes) + "m"
	case hours < 8:
		return two(hours, "h", minutes%60, "m")
	case hours < 48:
		return itoa(hours) + "h"
	case hours < 192:
		return two(hours/24, "d", hours%24, "h")
	case hours < 730*24:
		return itoa(hours/24) + "d"
	case hours < 8*365*24:
		return two(hours/24/365, "y", hours/24%365, "d")
	}
	return itoa(hours/24/365) + "y"
}

// terminal writes lines of cells as kubectl aligns them. A line of one cell stands for itself.
func (d *document) terminal(title string, lines [][]string) {
	widths := make([]int, 5)
	for _, cells := range lines {
		for i := range len(cells) - 1 {
			widths[i] = max(widths[i], len([]rune(cells[i]))+columnPadding, columnMin)
		}
	}
	w := d.w
	w.Object()
	d.text("block", "terminal")
	d.text("title", title)
	w.KeyArray("lines")
	for _, cells := range lines {
		b := make([]byte, 0, 80)
		for i, cell := range cells {
			b = append(b, cell...)
			for n := len([]rune(cell)); i < len(cells)-1 && n < widths[i]; n++ {
				b = append(b, ' ')
			}
		}
		w.String(string(b))
	}
	w.End()
	w.End()
}

// expected says whether what the question expected is so.
func (d *document) expected() {
	var list []item
	for e := d.Answer.Get("expected").First(); e.Exists(); e = e.Next() {
		at := "at the end"
		if has(e, "atMillis") {
			at = "at " + span(number(e, "atMillis"))
		}
		i := item{tone: OK, mark: "matched", text: "As expected, " + at + ": " + text(e, "phase") + "."}
		if !e.Get("met").Bool() {
			i = item{tone: Fail, mark: "fault", text: "Expected " + at + ": " + text(e, "phase") + ". It is " + Visible(text(e, "is")) + "."}
		}
		list = append(list, i)
	}
	d.items("list", "Expected", list)
}
