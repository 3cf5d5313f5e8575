package diff

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/podfate/podfate/policy/manifest"
	"github.com/podfate/podfate/policy/ops"
	cells "github.com/podfate/podfate/policy/words"
)

// rows compares what n Pods print in kubectl get pods, with statuses that need not make sense:
// READY, STATUS, RESTARTS and AGE as finished cells.
func (c *comparison) rows(t *testing.T, n int) {
	shown := 0
	for i := range n {
		g := generate(c.seed, i)
		text, old := g.printedPod(time.Now())
		c.printed++
		// The printer asks the clock for itself, so that a row made while a second ends is made
		// again.
		for try := 0; ; try++ {
			ours, theirs := c.row(t, text, old)
			if ours == theirs {
				break
			}
			if try == 3 {
				c.differ(t, &shown, fmt.Sprintf("row %d: %s", i, text), ours, theirs)
				break
			}
			time.Sleep(3 * time.Millisecond)
			text, old = generate(c.seed, i).printedPod(time.Now())
		}
	}
}

func (c *comparison) row(t *testing.T, text []byte, now time.Time) (ours, theirs string) {
	t.Helper()
	printed, err := c.release.Row(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	v, fault := manifest.Parse(text)
	if fault != nil {
		t.Fatalf("%s: %v", text, fault)
	}
	spec := manifest.ReadObject(v, "Pod", "").Spec
	row, created := ops.Printed(&spec, v, c.release.Minor())
	restarts := fmt.Sprint(row.Restarts)
	if row.LastEnd >= 0 {
		restarts += " (" + cells.HumanDuration(now.UnixMilli()-int64(row.LastEnd)) + " ago)"
	}
	age := "<unknown>"
	if created >= 0 {
		age = cells.HumanDuration(now.UnixMilli() - int64(created))
	}
	return fmt.Sprintf("%d/%d %s %s %s", row.Ready, row.Total, row.Status, restarts, age), fmt.Sprintf("%s %s %s %s", printed[1], printed[2], printed[3], printed[4])
}

// printedPod returns a Pod whose status has whatever the printer looks at, and the time that it is
// printed at.
func (g *generator) printedPod(now time.Time) ([]byte, time.Time) {
	type object = map[string]any
	at := func() string { // a time in the past, about the edges of how ages are printed, or shortly after now
		edges := []int{-3, -2, -1, 0, 1, 59, 119, 120, 121, 599, 600, 10799, 10800, 28799, 28800, 172799, 172800, 691199, 691200, 63071999, 63072000, 252287999, 252288000, 300000000}
		s := edges[g.r.IntN(len(edges))]
		switch g.r.IntN(4) {
		case 0:
			s += g.r.IntN(3) - 1
		case 1:
			s = g.r.IntN(10_000)
		case 2:
			s = g.r.IntN(300_000_000)
		}
		return now.Add(-time.Duration(s) * time.Second).UTC().Format(time.RFC3339)
	}
	maybe := func(o object, name string, in int, value func() any) {
		if g.r.IntN(in) == 0 {
			o[name] = value()
		}
	}
	reason := func() any {
		return pick(g, "", "Completed", "Error", "OOMKilled", "CrashLoopBackOff", "PodInitializing", "ContainerCreating", "ErrImagePull", "Running", "Evicted")
	}
	state := func() object {
		switch g.r.IntN(7) {
		case 0:
			return object{}
		case 1, 2:
			return object{"waiting": object{"reason": reason()}}
		case 3, 4:
			return object{"running": object{"startedAt": at()}}
		}
		ended := object{"exitCode": pick(g, 0, 0, 1, 137)}
		maybe(ended, "reason", 2, reason)
		maybe(ended, "signal", 6, func() any { return pick(g, 0, 9, 15) })
		maybe(ended, "finishedAt", 2, func() any { return at() })
		return object{"terminated": ended}
	}
	status := func(name string) object {
		s := object{"name": name, "state": state(), "image": "i", "imageID": "", "ready": g.r.IntN(2) == 0, "restartCount": pick(g, 0, 0, 1, 3, 1000)}
		maybe(s, "lastState", 2, func() any { return state() })
		maybe(s, "started", 2, func() any { return g.r.IntN(3) > 0 })
		return s
	}
	container := func(name string) object { return object{"name": name, "image": "i"} }
	var inits, mains, initStatuses, mainStatuses []object
	for i := range g.r.IntN(4) {
		c := container(fmt.Sprintf("i%d", i))
		maybe(c, "restartPolicy", 2, func() any { return "Always" })
		inits = append(inits, c)
		if g.r.IntN(8) > 0 {
			initStatuses = append(initStatuses, status(c["name"].(string)))
		}
	}
	for i := range 1 + g.r.IntN(3) {
		name := fmt.Sprintf("c%d", i)
		mains = append(mains, container(name))
		if g.r.IntN(8) > 0 {
			mainStatuses = append(mainStatuses, status(name))
		}
	}
	g.r.Shuffle(len(mainStatuses), func(i, j int) { mainStatuses[i], mainStatuses[j] = mainStatuses[j], mainStatuses[i] })
	var conditions []object
	for _, name := range []string{"PodScheduled", "Initialized", "Ready", "Initialized"} {
		if g.r.IntN(3) > 0 {
			o := object{"type": name, "status": pick(g, "True", "True", "False", "Unknown")}
			if name == "PodScheduled" {
				maybe(o, "reason", 8, func() any { return pick(g, "SchedulingGated", "Unschedulable") })
			}
			conditions = append(conditions, o)
		}
	}
	all := object{"phase": pick(g, "Pending", "Running", "Running", "Succeeded", "Failed", "Unknown", ""), "containerStatuses": mainStatuses, "initContainerStatuses": initStatuses, "conditions": conditions}
	maybe(all, "reason", 6, func() any { return pick(g, "Evicted", "NodeLost", "OutOfcpu", "Completed") })
	meta := object{"name": "a"}
	maybe(meta, "deletionTimestamp", 5, func() any { return at() })
	if g.r.IntN(20) > 0 {
		meta["creationTimestamp"] = at()
	}
	text, err := json.Marshal(object{"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": object{"containers": mains, "initContainers": inits}, "status": all})
	if err != nil {
		panic(err)
	}
	return text, now
}
