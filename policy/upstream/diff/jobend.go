package diff

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// JobEnd is what the Job controller decides about a Job when it looks at its Pods once. The zero
// value goes on.
type JobEnd struct {
	Succeeds        bool
	Reason, Message string
}

// jobEnds compares what n Jobs lead to.
func (c *comparison) jobEnds(t *testing.T, n int) {
	shown := 0
	for i := range n {
		g := generate(c.seed+5, i)
		job := g.endingJob()
		var pods []json.RawMessage
		for k := range g.r.IntN(6) {
			restarts := `"restartCount":` + pick(g, "0", "0", "1", "2", "3")
			pods = append(pods, json.RawMessage(strings.ReplaceAll(string(g.failedPod(k)), `"restartCount":0`, restarts)))
		}
		want, err := c.release.JobEnd(job, pods)
		if err != nil && c.refusedStatus(err) {
			continue
		}
		if err != nil {
			t.Fatalf("%s\n%s\n%v", job, pods, err)
		}
		got, err := c.jobEnd(job, pods)
		if err != nil {
			t.Fatalf("%s\n%s\n%v", job, pods, err)
		}
		if c.ended++; want.Reason == "" {
			c.goingOn++
		}
		if got != want {
			c.differ(t, &shown, fmt.Sprintf("end of Job %d: %s\n%s", i, job, pods), got, want)
		}
	}
}

// refusedStatus reports whether the API server refuses the status that the controller has made of
// the Pods.
func (c *comparison) refusedStatus(err error) bool {
	// Of two Pods with one index one has succeeded and one fails it.
	return strings.Contains(err.Error(), "failedIndexes and completedIndexes overlap") ||
		// Up to 1.35 manageJob says that no Pod is active as long as the back-off lasts, whatever
		// still runs. The next attempts end like this one, until it is over: histories of Jobs are
		// compared through that.
		c.release.Minor() <= 35 && strings.Contains(err.Error(), "cannot set more ready pods than active")
}

// jobEnd asks our core.
func (c *comparison) jobEnd(job []byte, pods []json.RawMessage) (end JobEnd, err error) {
	var a struct {
		JobDecision struct{ Fails, Succeeds *JobEnd }
	}
	if err := c.decide(job, pods, &a); err != nil {
		return end, err
	}
	switch d := a.JobDecision; {
	case d.Fails != nil:
		end = *d.Fails
	case d.Succeeds != nil:
		end = *d.Succeeds
		end.Succeeds = true
	}
	return end, nil
}

// endingJob returns a valid Job that a handful of Pods can end.
func (g *generator) endingJob() []byte {
	spec := map[string]any{}
	indexed, perIndex := g.oneIn(2), false
	completions := g.r.IntN(4)
	if indexed {
		spec["completionMode"] = "Indexed"
		if perIndex = g.oneIn(2); perIndex {
			spec["backoffLimitPerIndex"] = g.r.IntN(3)
			if g.oneIn(2) {
				spec["maxFailedIndexes"] = g.r.IntN(completions + 1)
			}
		}
		if completions > 0 && g.oneIn(2) {
			spec["successPolicy"] = map[string]any{"rules": g.indexRules(completions)}
		}
	}
	if indexed || g.oneIn(2) {
		spec["completions"] = completions
	}
	if g.oneIn(2) {
		spec["parallelism"] = g.r.IntN(4)
	}
	if !perIndex || g.oneIn(3) {
		spec["backoffLimit"] = g.r.IntN(5)
	}
	if g.oneIn(8) {
		spec["suspend"] = true
	}
	restartPolicy := "Never"
	if g.oneIn(2) {
		spec["podFailurePolicy"] = map[string]any{"rules": g.policyRules([]string{"main", "helper"}, perIndex)}
	} else if g.oneIn(2) {
		restartPolicy = "OnFailure"
	}
	spec["template"] = json.RawMessage(`{"spec":{"restartPolicy":"` + restartPolicy + `","containers":[{"name":"main","image":"i"},{"name":"helper","image":"i"}]}}`)
	text, err := json.Marshal(map[string]any{
		"apiVersion": "batch/v1", "kind": "Job", "metadata": map[string]any{"name": "j", "namespace": "default"}, "spec": spec,
	})
	if err != nil {
		panic(err)
	}
	return text
}
