package views

import "github.com/podfate/podfate/schema/document"

// Live is what a screen reader is told about an answer, once: of what is refused also why.
func Live(d *document.Document) string {
	if d.Verdict.Mark == "refused" {
		return d.Verdict.Title + ": " + d.Verdict.Text
	}
	return d.Verdict.Title
}

// marks gives the lines of the editor that the document speaks of: fault, warning or decided, in
// this precedence.
func marks(d *document.Document) map[int]string {
	m := map[int]string{}
	if d == nil {
		return m
	}
	rank := map[string]int{"decided": 1, "warning": 2, "fault": 3}
	mark := func(line int, as string) {
		if line > 0 && rank[as] > rank[m[line]] {
			m[line] = as
		}
	}
	mark(d.Verdict.Line, "decided")
	for _, b := range d.Blocks {
		for _, c := range b.Cards {
			mark(c.Line, "decided")
			for _, i := range c.Items {
				mark(i.Line, "decided")
			}
		}
		for _, r := range b.Rows {
			mark(r.Line, "decided")
		}
		for _, i := range b.Items {
			switch i.Mark {
			case "fault":
				mark(i.Line, "fault")
			case "warning", "dropped", "undecided":
				mark(i.Line, "warning")
			case "notmatched", "notreached", "skipped":
			default:
				mark(i.Line, "decided")
			}
		}
	}
	return m
}
