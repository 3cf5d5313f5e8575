package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"text/tabwriter"

	"github.com/podfate/podfate/web/views"
)

// jobSimulation is what the text needs of an answer about a Job beside [views.Answer].
type jobSimulation struct {
	Timeline []struct {
		Number         int
		Pods           int
		Message        string
		Index          *int64
		FailureCount   *int64
		IgnoredFailure *int64 `json:"ignoredFailureCount"`
	}
}

// simulateJob prints the timeline of a Job and its Pods, the counters, and the three layers side by side.
func (p *printer) simulateJob(o outcome, a *views.Answer) error {
	var more jobSimulation
	if err := json.Unmarshal(o.answer, &more); err != nil {
		return err
	}
	var b bytes.Buffer
	if p.count > 0 {
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "%s, Kubernetes %s\n\n", o.subject(), a.Cluster.Releases())
	widest := 0
	for _, r := range a.Timeline {
		widest = max(widest, len(views.Duration(r.At)))
	}
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for i, r := range a.Timeline {
		m := &more.Timeline[i]
		who := "Job"
		if r.Pod != "" {
			who = views.Visible(r.Pod)
			if m.Pods > 1 {
				who += fmt.Sprintf(" and %d more", m.Pods-1)
			}
		}
		text := ""
		if r.Event != "Killing" {
			text = simulation{}.detail(i, r)
		}
		switch {
		case r.Event == "Killing":
			text = sentence(r.Reason)
		case r.Event == "PhaseChanged" && r.Counted != nil:
			text += ": " + views.PodVerdict(r.Action, r.Rule)
		case r.Event == "PodCreated" && m.Index != nil:
			text = fmt.Sprintf("index %d", *m.Index)
			if m.FailureCount != nil {
				text += fmt.Sprintf(", %s before", plural(*m.FailureCount, "failure"))
			}
			if m.IgnoredFailure != nil {
				text += fmt.Sprintf(" and %d ignored", *m.IgnoredFailure)
			}
		case r.Event == "PodCreated" || r.Event == "PodDeleted":
			text = ""
		case r.Event == "IndexFailed":
			text = fmt.Sprintf("index %d", *m.Index)
		case r.Event == "StatusDenied":
			text = "the API server refuses the status; again at " + views.Duration(r.Until)
		case m.Message != "":
			text = views.Visible(r.Reason + ": " + m.Message)
		}
		fmt.Fprintf(table, "%*s\t%s\t%s\t%s\t%s\n", widest, views.Duration(r.At), who, views.Visible(r.Container), views.Visible(r.Event), text)
	}
	table.Flush() // into memory: it cannot fail
	fmt.Fprintf(&b, "\nCounters of the Job\n\n")
	fmt.Fprintf(table, "%*s\tactive\tready\tsucceeded\tfailed\tterminating\n", widest, "")
	for _, c := range a.Counters {
		fmt.Fprintf(table, "%*s\t%d\t%d\t%d\t%d\t%d\n", widest, views.Duration(c.At), c.Active, c.Ready, c.Succeeded, c.Failed, c.Terminating)
	}
	table.Flush()
	b.WriteString("\nWho decided\n\n")
	for i, row := range append([][3]string{{"containers", "Pods", "Job"}}, views.LayerRows(a)...) {
		if i == 1 {
			fmt.Fprintf(table, "\t\t\n")
		}
		fmt.Fprintf(table, "%s\t%s\t%s\n", row[0], row[1], row[2])
	}
	table.Flush()
	fmt.Fprintf(&b, "\n%s.\n", views.Verdict(a))
	for _, u := range a.Undecided {
		fmt.Fprintf(&b, "\nUndecided from %s on%s: %s\n", views.Duration(u.At), o.because(u), u.Why())
	}
	if len(a.Assumptions) > 0 {
		b.WriteString("\n" + assumed(a.Assumptions))
	}
	_, err := p.Out.Write(trimLines(b.Bytes()))
	return err
}
