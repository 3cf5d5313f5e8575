package forecast

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/podfate/podfate/schema/document"
)

// maxRows bounds the rows of a table. The worst come first; JSON and metrics have all.
const maxRows = 50

// Document puts a report into words and figures, for the painters of documents.
func (r *Report) Document() *document.Document {
	d := &document.Document{}
	d.Verdict = r.verdict()
	add := func(b document.Block, n int) {
		if n > 0 {
			d.Blocks = append(d.Blocks, b)
		}
	}
	add(r.summary(), 1)
	add(r.startsPlot(), len(r.Loops))
	add(r.ownersTable(), len(r.Owners))
	add(r.loopsTable(), len(r.Loops))
	add(stuckTable("Will not recover by themselves", r.Stuck), len(r.Stuck))
	add(stuckTable("What comes next is not modelled", r.NotModelled), len(r.NotModelled))
	add(r.jobsTable(), len(r.Left))
	add(r.brokenList(), len(r.Broken))
	add(document.Block{Kind: "list", Title: "Assumed", Items: []document.Edit{
		note("note", "", "Each run ends like the last one and lasts as long: a loop ends only when its cause does."),
		note("note", "", "A restart costs "+plural(r.RequestsPerRestart, "request")+" to the API server; this is an assumption, not a measurement."),
		note("note", "", "Since is when the last run that ended this way began; the loop may be older."),
	}}, len(r.Loops))
	return d
}

func note(mark, tone, text string) document.Edit {
	return document.Edit{Item: document.Item{Mark: mark, Tone: tone, Text: text}}
}

func plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.FormatInt(n, 10) + " " + noun + "s"
}

// hours writes milliseconds of Pods as Pod-hours.
func hours(ms int64) string { return strconv.FormatFloat(float64(ms)/3_600_000, 'f', 1, 64) }

// perHour brings a sum over the time ahead to an hour.
func (r *Report) perHour(ms int64) int64 {
	return int64(float64(ms) * float64(time.Hour/time.Millisecond) / float64(max(r.AheadMillis, 1)))
}

func (r *Report) verdict() document.Verdict {
	v := document.Verdict{Title: plural(int64(r.Pods.Looping), "Pod") + " in a loop"}
	v.Tone, v.Mark = "wait", "crashloop"
	if r.Pods.Looping > 0 {
		restart := "restart"
		if r.Pods.Looping == 1 {
			restart = "restarts"
		}
		v.Text = fmt.Sprintf("%d of %s %s again and again: %s and %s an hour.", r.Pods.Looping, plural(int64(r.Pods.All), "Pod"), restart,
			plural(r.Cost.RestartsPerHour, "restart"), plural(r.Cost.RequestsPerHour, "request"))
	}
	switch {
	case r.Pods.All == 0 && r.Jobs == 0:
		v.Tone, v.Mark, v.Title, v.Text = "stop", "note", "Nothing to look at", "The input has no Pods and no Jobs."
	case r.Pods.Looping == 0 && len(r.Stuck) == 0:
		v.Tone, v.Mark, v.Title, v.Text = "ok", "succeeded", "No Pod in a loop", "None of "+plural(int64(r.Pods.All), "Pod")+" restarts again and again."
	case r.Pods.Looping == 0:
		v.Title, v.Text = "No Pod in a loop", "None of "+plural(int64(r.Pods.All), "Pod")+" restarts again and again."
	}
	if r.Pods.Stuck > 0 {
		v.Text += " " + plural(int64(r.Pods.Stuck), "Pod") + " will not recover without help."
		v.Tone = "fail"
	}
	return v
}

func (r *Report) summary() document.Block {
	p := r.Pods
	text := []string{fmt.Sprintf("%d fine", p.Fine)}
	for _, c := range []struct {
		n    int
		what string
	}{{p.Looping, "in a loop"}, {p.Stuck, "stuck"}, {p.Pending, "not started yet"}, {p.Finished, "finished"}, {p.Terminating, "being deleted"}, {p.Unknown, "not modelled"}} {
		if c.n > 0 {
			text = append(text, fmt.Sprintf("%d %s", c.n, c.what))
		}
	}
	b := document.Block{Kind: "list", Title: "Now: " + r.Now, Items: []document.Edit{note("note", "", plural(int64(p.All), "Pod")+": "+strings.Join(text, ", ")+".")}}
	if r.Jobs > 0 {
		b.Items = append(b.Items, note("note", "", fmt.Sprintf("%s, %d not finished.", plural(int64(r.Jobs), "Job"), len(r.Left))))
	}
	if len(r.Loops) > 0 {
		b.Items = append(b.Items, note("crashloop", "wait", fmt.Sprintf("Each hour, containers in loops run for %s Pod-hours in vain and wait for %s.",
			hours(r.perHour(r.Cost.RanMillis)), hours(r.perHour(r.Cost.WaitingMillis)))))
	}
	now, _ := time.Parse(time.RFC3339, r.Now)
	if newest, err := time.Parse(time.RFC3339, r.Newest); err == nil && now.Sub(newest) > 24*time.Hour {
		b.Items = append(b.Items, note("warning", "wait", "The newest time in all statuses is "+r.Newest+": for statuses from a file, give that time with --now."))
	}
	return b
}

func (r *Report) startsPlot() document.Block {
	b := document.Block{Kind: "plot", Title: "Coming restarts, by minutes from now", X: "minutes from now", Y: "restarts"}
	s := document.Series{Name: "restarts", Kind: "bars", Tone: "run"}
	for i, n := range r.Starts {
		if n > 0 {
			s.Points = append(s.Points, [2]int64{(int64(i) + 1) * r.AheadMillis / 60 / 60_000, n})
		}
	}
	b.Series = []document.Series{s}
	return b
}

func columns(heads ...string) (list []document.Column) {
	for _, head := range heads {
		c := document.Column{Text: head}
		if end, ok := strings.CutPrefix(head, ">"); ok {
			c = document.Column{Text: end, Align: "end"}
		}
		list = append(list, c)
	}
	return list
}

// table makes a table of the first rows of n.
func table(title string, heads []document.Column, n int, row func(i int) document.Row) document.Block {
	b := document.Block{Kind: "table", Title: title, Columns: heads, More: max(n-maxRows, 0)}
	for i := range min(n, maxRows) {
		r := row(i)
		for j := range r.Cells {
			if r.Cells[j] = visible(r.Cells[j]); r.Cells[j] == "" {
				r.Cells[j] = "-"
			}
		}
		b.Rows = append(b.Rows, r)
	}
	return b
}

func (o Owner) String() string {
	s := o.Kind + "/" + o.Name
	if o.Namespace != "" {
		s = o.Namespace + " " + s
	}
	return s
}

func (r *Report) ownersTable() document.Block {
	return table("By owner, the worst first", columns("Owner", ">In a loop", ">Stuck", ">Restarts so far", ">Restarts/h", ">Requests/h", ">Waits, Pod-hours/h"),
		len(r.Owners), func(i int) document.Row {
			o := &r.Owners[i]
			return document.Row{Tone: "wait", Cells: []string{
				o.String(), strconv.Itoa(o.Pods), strconv.Itoa(o.Stuck), strconv.FormatInt(o.Restarts, 10), strconv.FormatInt(o.RestartsPerHour, 10),
				strconv.FormatInt(o.RequestsPerHour, 10), hours(r.perHour(o.WaitingMillis)),
			}}
		})
}

// in writes how far away an instant is.
func in(ms int64) string { return (time.Duration(ms) * time.Millisecond).Round(time.Second).String() }

func (r *Report) loopsTable() document.Block {
	return table("In a loop", columns("Pod", "Container", "Status", ">Exit", ">Restarts", "Since", "Waits", "Next start", ">Restarts/h", "Kept going by"),
		len(r.Loops), func(i int) document.Row {
			l := &r.Loops[i]
			waits := ""
			if l.DelayMillis > 0 {
				waits = in(l.DelayMillis)
			}
			next := ""
			if l.NextStart != "" {
				next = l.NextStart + " (in " + in(l.Earliest) + ")"
			}
			kept := l.KeptBy
			if l.EndsMillis != nil {
				kept += ", until the Job ends in " + in(*l.EndsMillis) + ": " + l.EndsBy
			}
			return document.Row{Tone: "wait", Cells: []string{
				place(l.Namespace, l.Pod), l.Container, l.Status, strings.TrimSpace(strconv.FormatInt(l.ExitCode, 10) + " " + reason(l.Reason)),
				strconv.FormatInt(l.Restarts, 10), l.Since, waits, next, strconv.FormatInt(l.RestartsPerHour, 10), kept,
			}}
		})
}

// reason leaves out what says nothing.
func reason(s string) string {
	if s == "Error" || s == "Completed" {
		return ""
	}
	return s
}

func place(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "/" + name
}

func stuckTable(title string, list []Stuck) document.Block {
	return table(title, columns("Pod", "Container", "Reason", "Why", "Decided by"), len(list), func(i int) document.Row {
		s := &list[i]
		return document.Row{Tone: "fail", Cells: []string{place(s.Namespace, s.Pod), s.Container, s.Reason, s.Text, s.KeptBy}}
	})
}

func (r *Report) jobsTable() document.Block {
	return table("Jobs, and what is left of their limits", columns("Job", ">Succeeded", ">Active", ">Failed", ">Failures left", ">Indexes left to fail", ">Time left", ""),
		len(r.Left), func(i int) document.Row {
			j := &r.Left[i]
			succeeded := strconv.FormatInt(j.Succeeded, 10)
			if j.Completions != nil {
				succeeded += "/" + strconv.FormatInt(*j.Completions, 10)
			}
			left, tone := strconv.FormatInt(j.Left, 10)+"/"+strconv.FormatInt(j.BackoffLimit, 10), ""
			if j.PerIndex != nil && j.BackoffLimit == 1<<31-1 {
				left = strconv.FormatInt(*j.PerIndex, 10) + " each"
			}
			indexes, deadline := "", ""
			if j.MaxFailedIndexes != nil {
				indexes = strconv.FormatInt(max(*j.MaxFailedIndexes-j.FailedIndexes, 0), 10) + "/" + strconv.FormatInt(*j.MaxFailedIndexes, 10)
			}
			if j.DeadlineMillis != nil {
				deadline = in(*j.DeadlineMillis)
			}
			what := ""
			switch {
			case j.Ends == "FailureTarget":
				what, tone = "is failing", "fail"
			case j.Ends != "":
				what, tone = "is succeeding", "ok"
			case j.Suspended:
				what = "is suspended"
			case j.Left == 0:
				what, tone = "the next failure fails it", "wait"
			}
			return document.Row{Tone: tone, Cells: []string{place(j.Namespace, j.Name), succeeded, strconv.FormatInt(j.Active, 10), strconv.FormatInt(j.Failed, 10), left, indexes, deadline, what}}
		})
}

func (r *Report) brokenList() document.Block {
	b := document.Block{Kind: "list", Title: "Skipped: broken", More: r.BrokenMore}
	for i := range r.Broken {
		b.Items = append(b.Items, note("fault", "fail", visible(r.Broken[i].String())))
	}
	return b
}

// String names the item and says what is wrong with it.
func (b *Broken) String() string {
	s := fmt.Sprintf("%s: item %d in line %d", b.Source, b.Number, b.Line)
	if b.Name != "" {
		s += " (" + b.Name + ")"
	}
	return s + ": " + b.Why
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }
