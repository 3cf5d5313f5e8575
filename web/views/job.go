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

// outcome says how a Job stands.
func outcome(a *Answer) string { return words(a.Layers.Job.Outcome, a.Layers.Job.Reason) }

// LayerRows are the lines of the table of layers: containers, Pods and the Job side by side.
func LayerRows(a *Answer) (rows [][3]string) {
	row := func(i int) *[3]string {
		if i == len(rows) {
			rows = append(rows, [3]string{})
		}
		return &rows[i]
	}
	for i, c := range a.Layers.Containers {
		row(i)[0] = times(words(c.Container, code(c.Decision), c.Action), c.Times)
	}
	for i, p := range a.Layers.Pods {
		row(i)[1] = times(words(p.Phase, p.Reason, p.DisruptionTarget, PodVerdict(p.Action, p.Rule)), p.Times)
	}
	row(0)[2] = outcome(a)
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
		var row []string
		for _, n := range []int64{c.At, c.Active, c.Ready, c.Succeeded, c.Failed, c.Terminating} {
			row = append(row, strconv.FormatInt(n, 10))
		}
		if c.FailedIndexes != nil {
			row = append(row, strconv.FormatInt(*c.FailedIndexes, 10))
		}
		rows = append(rows, row)
	}
	return rows
}

// Verdict is what a simulation comes to, in one line.
func Verdict(a *Answer) string { return simulated(a) }
