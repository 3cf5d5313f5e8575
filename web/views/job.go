package views

import (
	"strconv"
	"strings"
)

// The functions of this file make sentences of the simulation of a Job; job.js has one of the same name for each.

// words joins those that are not empty.
func words(list ...string) string {
	var kept []string
	for _, word := range list {
		if word != "" {
			kept = append(kept, Visible(short(word)))
		}
	}
	return strings.Join(kept, " ")
}

// PodVerdict says what a Job makes of a failed Pod.
func PodVerdict(action string, rule *int) string {
	if rule == nil {
		return words(action)
	}
	return words(action, say("by.rule.rule_matched", "rule", number(*rule)))
}

// maxKinds bounds the lines of a layer.
const maxKinds = 20

// layer is one of the three that decide: what it is called, and a line for each kind of thing that it decided.
type layer struct {
	name  string // key of its sentence
	lines []layerLine
}

// layerLine is what was decided, with the place in the manifest that did.
type layerLine struct {
	text string
	Place
}

// layers are the container, the Pod and the Job.
func layers(a *Answer) []layer {
	l := []layer{{name: "layer.containers"}, {name: "layer.pods"}, {name: "layer.job"}}
	for _, c := range a.Layers.Containers[:min(len(a.Layers.Containers), maxKinds)] {
		text := words(c.Container, code(c.Decision))
		if c.Action != "" {
			text += " → " + say("action."+c.Action) + " " + by(c.Decision)
		}
		l[0].lines = append(l[0].lines, layerLine{times(text, c.Times), c.DecidedBy.Place})
	}
	for _, p := range a.Layers.Pods[:min(len(a.Layers.Pods), maxKinds)] {
		text := words(p.Phase, p.Reason, p.DisruptionTarget)
		switch {
		case p.Rule != nil:
			text += " → " + PodVerdict(p.Action, p.Rule)
		case p.Action != "":
			text += " → " + words(p.Action) + ": " + say("pod.default")
		}
		l[1].lines = append(l[1].lines, layerLine{times(text, p.Times), p.Place})
	}
	j := a.Layers.Job
	l[2].lines = append(l[2].lines, layerLine{text: standing(a)})
	if j.Message != "" {
		l[2].lines = append(l[2].lines, layerLine{text: Visible(j.Message)})
	}
	l[2].lines = append(l[2].lines, layerLine{text: say("layer.counts", "succeeded", count("pods.succeeded", j.Succeeded), "failed", count("pods.failed", j.Failed), "limit", strconv.FormatInt(j.BackoffLimit, 10))})
	return l
}

// LayerRows are the lines of the table of layers: containers, Pods and the Job side by side.
func LayerRows(a *Answer) (rows [][3]string) {
	for column, l := range layers(a) {
		for i, line := range l.lines {
			if i == len(rows) {
				rows = append(rows, [3]string{})
			}
			rows[i][column] = line.text
		}
	}
	return rows
}

// times says how often.
func times(text string, n int64) string {
	if n <= 1 {
		return text
	}
	return text + " ×" + strconv.FormatInt(n, 10)
}

// counterColumns are the names of the counters, as the answer has them.
func counterColumns(a *Answer) []string {
	columns := []string{"atMillis", "active", "ready", "succeeded", "failed", "terminating"}
	switch {
	case len(a.Counters) == 0:
		return nil
	case a.Counters[0].FailedIndexes != nil:
		columns = append(columns, "failedIndexes")
	}
	return columns
}

// counterRows are the lines of the table of counters.
func counterRows(a *Answer) (rows [][]string) {
	for _, c := range a.Counters[:min(len(a.Counters), maxRows)] {
		row := []string{Duration(c.At)}
		for _, n := range []int64{c.Active, c.Ready, c.Succeeded, c.Failed, c.Terminating} {
			row = append(row, strconv.FormatInt(n, 10))
		}
		if c.FailedIndexes != nil {
			row = append(row, strconv.FormatInt(*c.FailedIndexes, 10))
		}
		rows = append(rows, row)
	}
	return rows
}

// jobSimulated is the verdict of the simulation of a Job: its layer says the rest.
func jobSimulated(a *Answer) string {
	j, key, at := a.Layers.Job, "verdict.job.still", a.Until
	if over(a) {
		key, at = "verdict.job.over", endOfJob(a)
	}
	return say(key, "phase", standing(a), "at", Duration(at), "succeeded", count("pods.succeeded", j.Succeeded), "failed", count("pods.failed", j.Failed))
}

// standing is the condition that a Job has, with its reason.
func standing(a *Answer) string {
	j := a.Layers.Job
	if j.Reason == "" {
		return words(j.Outcome)
	}
	return say("code.reason", "code", words(j.Outcome), "reason", words(j.Reason))
}

// endOfJob is when a Job that is over came to its end: the last entry about the Job itself.
func endOfJob(a *Answer) (at int64) {
	for _, r := range a.Timeline {
		if r.Pod == "" {
			at = r.At
		}
	}
	return at
}

// Verdict is what a simulation comes to, in one line.
func Verdict(a *Answer) string { return simulated(a) }
