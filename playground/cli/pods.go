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

// readPods reads Pods from a file and keeps of each what a Job looks at, so that a List of thousands fits into a request:
// kubectl prints five times as much, and nobody wants to strip it by hand.
func readPods(name string, in io.Reader) (json.RawMessage, error) {
	texts, err := openBounded([]string{name}, in, maxPodsBytes)
	if err != nil {
		return nil, err
	}
	pods := []json.RawMessage{}
	for _, t := range texts {
		docs := [][]byte{t.content}
		if len(t.content) > maxPodsBytes {
			return nil, fmt.Errorf("%s: more than %d MiB", t.name, maxPodsBytes>>20)
		}
		if !json.Valid(t.content) { // YAML, or JSON with a fault: its reader finds the place
			decoded, err := schema.DecodeNamed(t.name, t.content)
			if err != nil {
				return nil, err
			}
			docs = nil
			for _, doc := range decoded {
				docs = append(docs, doc.JSON())
			}
		}
		for _, doc := range docs {
			pods = append(pods, podsOf(doc)...)
		}
	}
	return json.Marshal(pods)
}

// podsOf returns the items of a List, the elements of an array, or the Pod itself.
func podsOf(doc []byte) (pods []json.RawMessage) {
	var list struct {
		Items []json.RawMessage `json:"items"`
	}
	switch {
	case json.Unmarshal(doc, &pods) == nil:
	case json.Unmarshal(doc, &list) == nil && list.Items != nil:
		pods = list.Items
	default:
		pods = []json.RawMessage{doc}
	}
	for i := range pods {
		pods[i] = prunePod(pods[i])
	}
	return pods
}

// prunePod leaves out what no decision looks at. What is no object stays, for the core to refuse.
func prunePod(pod json.RawMessage) json.RawMessage {
	var p map[string]json.RawMessage
	if json.Unmarshal(pod, &p) != nil || p == nil {
		return pod
	}
	kept := map[string]json.RawMessage{}
	for _, name := range []string{"kind", "metadata", "status"} {
		if v, ok := p[name]; ok {
			kept[name] = v
		}
	}
	var metadata map[string]json.RawMessage
	if json.Unmarshal(p["metadata"], &metadata) == nil {
		for _, name := range []string{"managedFields", "selfLink", "resourceVersion", "creationTimestamp", "generateName", "finalizers"} {
			delete(metadata, name)
		}
		for _, name := range []string{"labels", "annotations"} {
			metadata[name] = pruneMap(metadata[name])
		}
		kept["metadata"] = encode(metadata)
	}
	return encode(kept)
}

// pruneMap keeps labels and annotations of Jobs.
func pruneMap(text json.RawMessage) json.RawMessage {
	var m map[string]json.RawMessage
	if json.Unmarshal(text, &m) != nil {
		if text == nil {
			return json.RawMessage("null")
		}
		return text
	}
	for name := range m {
		if name != "job-name" && !strings.HasPrefix(name, "batch.kubernetes.io/") {
			delete(m, name)
		}
	}
	return encode(m)
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
