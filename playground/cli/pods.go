package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/podfate/podfate/schema"
	"github.com/podfate/podfate/web/views"
)

// maxPodsBytes bounds a file of Pods: ten thousand as kubectl prints them.
const maxPodsBytes = 64 << 20

// readPods reads Pods from a file for the member pods of a request.
func readPods(name string, in io.Reader) (json.RawMessage, error) {
	from, err := openSources([]string{name}, in)
	if err != nil {
		return nil, err
	}
	defer from.close()
	pods := []json.RawMessage{}
	err = from.walk(walker{file: func(name string, in io.ReadSeeker) error {
		content, err := io.ReadAll(io.LimitReader(in, maxPodsBytes+1))
		if err != nil {
			return fileError(err)
		}
		if len(content) > maxPodsBytes {
			return fmt.Errorf("%s: more than %d MiB", name, maxPodsBytes>>20)
		}
		array, err := schema.ReadPods(name, content)
		if err != nil {
			return err
		}
		var list []json.RawMessage
		if err := json.Unmarshal(array, &list); err != nil {
			return err
		}
		pods = append(pods, list...)
		return nil
	}})
	if err != nil {
		return nil, err
	}
	return encode(pods), nil
}

// maxPodsExplained bounds the Pods whose rules are listed one by one.
const maxPodsExplained = 20

// writePods prints what a Job makes of its Pods: the end first, then the Pods in a table, then why.
func writePods(b *bytes.Buffer, a *views.Answer) {
	if a.PodDecisions == nil {
		return
	}
	if j := a.JobDecision; j != nil {
		b.WriteString("\n")
		switch {
		case j.Fails != nil:
			fmt.Fprintf(b, "The Job fails: %s\n  %s\n", j.Fails.Reason, views.Visible(j.Fails.Message))
		case j.Succeeds != nil:
			fmt.Fprintf(b, "The Job succeeds: %s\n  %s\n", j.Succeeds.Reason, views.Visible(j.Succeeds.Message))
		default:
			b.WriteString("The Job goes on.\n")
		}
		fmt.Fprintf(b, "%s, %d ignored, %d not judged; backoffLimit is %d", plural(int64(j.Counted), "counted failure"), j.Ignored, j.NotJudged, j.BackoffLimit)
		if j.Restarts > 0 {
			fmt.Fprintf(b, ", restarts of containers so far: %d", j.Restarts)
		}
		b.WriteString("\n")
	}
	b.WriteString("\n")
	table := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	explained := 0
	for _, d := range a.PodDecisions {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", views.Visible(d.Pod), ended(d), actionOf(d), whyPod(d))
	}
	table.Flush() // into memory: it cannot fail
	for _, d := range a.PodDecisions {
		if len(d.Trace) == 0 || d.NotJudged != "" {
			continue
		}
		if explained++; explained > maxPodsExplained {
			b.WriteString("\nThe rules are listed for the first 20 Pods only.\n")
			return
		}
		fmt.Fprintf(b, "\n%s: %s\n", views.Visible(d.Pod), actionOf(d))
		for _, s := range d.Trace {
			place := ""
			if s.Line > 0 {
				place = fmt.Sprintf("line %d", s.Line)
			}
			fmt.Fprintf(table, "  %s\t%s\t%s\t%s\t%s\n", strings.ReplaceAll(s.Result, "_", " "), s.Path, place, s.Quote, sentence(s.Code))
		}
		table.Flush()
	}
}

// ended lists how the containers of a Pod ended.
func ended(d views.PodDecision) string {
	var parts []string
	for _, c := range d.Containers {
		part := fmt.Sprintf("%s %d", views.Visible(c.Container), c.ExitCode)
		if c.Reason != "" && c.Reason != "Error" && c.Reason != "Completed" {
			part += " " + views.Visible(c.Reason)
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}

// actionOf is the action in a table, or why there is none.
func actionOf(d views.PodDecision) string {
	switch {
	case d.NotJudged != "":
		return "not judged"
	case d.Undecided != nil:
		return "undecided"
	}
	return d.Action
}

// whyPod says why a Pod gets its action.
func whyPod(d views.PodDecision) string {
	switch {
	case d.NotJudged != "":
		return sentence(d.NotJudged)
	case d.Undecided != nil:
		return d.Undecided.Path + ": " + sentence(d.Undecided.Reason)
	}
	text := "no rule matched"
	switch by := d.DecidedBy; {
	case d.Rule == nil:
	case by.Condition != "":
		text = fmt.Sprintf("rule %d: condition %s", *d.Rule, views.Visible(by.Condition))
	default:
		text = fmt.Sprintf("rule %d: %s ended with %d", *d.Rule, views.Visible(by.Container), by.ExitCode)
	}
	switch {
	case d.OutOfRange:
		text += "; it has no index of this Job, so it is not counted"
	case d.IndexFails:
		text += fmt.Sprintf("; index %d fails", *d.Index)
	case d.Index != nil:
		text += fmt.Sprintf("; index %d is tried again", *d.Index)
	}
	return text
}
