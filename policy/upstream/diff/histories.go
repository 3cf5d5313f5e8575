package diff

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/ops"
)

// histories lets the Job controller and the operation simulate live through n histories, half of
// them with the gates of the release.
func (c *comparison) histories(t *testing.T, n int) {
	shown, i := 0, 0
	sets := jobGateSets(c.release.Minor())
	c.eachJobGateSet(t, func(set gateSet) {
		end := n
		if set.String() != sets[0].String() {
			end = i + n/2/(len(sets)-1)
		}
		for ; i < end; i++ {
			c.compareHistory(t, &shown, i, set)
		}
	})
}

func (c *comparison) compareHistory(t *testing.T, shown *int, i int, set gateSet) {
	t.Helper()
	h := generate(c.seed, i).history()
	theirs, err := c.release.Job(h)
	if err != nil {
		t.Fatalf("history %d, %v: %v\n%s", i, set, err, h)
	}
	c.lived++
	c.podsCreated += len(theirs.Pods)
	ours, err := simulateJob(c.release.Minor(), set, h)
	if err != nil {
		c.differ(t, shown, fmt.Sprintf("history %d, %v\n%s", i, set, h), err, "")
		return
	}
	if what, a, b := ours.differ(theirs.facts()); what != "" {
		c.differ(t, shown, fmt.Sprintf("history %d, %v\n%s\n%s", i, set, h, what), a, b)
	}
}

// richHistories does the same with Jobs whose Pods have init containers, sidecars, rules of their
// own and containers that are killed for lack of memory, for each set of gates that such rules
// know. It needs the kubelet.
func (c *comparison) richHistories(t *testing.T, n int) {
	shown, i := 0, 0
	sets := gateSets(c.release.Minor())
	c.eachGateSet(t, func(set gateSet, _ policy.Features) {
		for end := i + n/len(sets) + 1; i < end; i++ {
			g := generate(c.seed+9, i)
			h := g.history()
			if len(h.Manifest) > 4000 {
				continue
			}
			g.enrich(h, c.release.Minor(), set)
			theirs, err := c.release.Job(h)
			if errors.Is(err, ErrNoKubelet) {
				t.Skip("left out, the kubelet is not linked: run with -kubelet")
			}
			if err != nil {
				t.Fatalf("rich history %d, %v: %v\n%s", i, set, err, h)
			}
			c.enriched++
			ours, err := simulateJob(c.release.Minor(), set, h)
			if err != nil {
				c.differ(t, &shown, fmt.Sprintf("rich history %d, %v\n%s", i, set, h), err, "")
				continue
			}
			if what, a, b := ours.differ(theirs.facts()); what != "" {
				c.differ(t, &shown, fmt.Sprintf("rich history %d, %v\n%s\n%s", i, set, h, what), a, b)
			}
		}
	})
}

// enrich gives the Pods of h what only the kubelet itself understands.
func (g *generator) enrich(h *JobHistory, minor int, set gateSet) {
	h.Rich = true
	var job map[string]any
	reader := json.NewDecoder(strings.NewReader(h.Manifest))
	reader.UseNumber() // some need all 64 bits
	if err := reader.Decode(&job); err != nil {
		panic(err)
	}
	pod := job["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)
	var inits []any
	for n := range g.r.IntN(4) {
		c := map[string]any{"name": fmt.Sprintf("init%d", n), "image": "i"}
		if g.oneIn(2) {
			c["restartPolicy"] = "Always"
		}
		inits = append(inits, c)
	}
	if inits != nil {
		pod["initContainers"] = inits
	}
	restartsAll := false
	for _, list := range []any{pod["initContainers"], pod["containers"]} {
		list, _ := list.([]any)
		for _, c := range list {
			c := c.(map[string]any)
			if set[crr] && c["restartPolicy"] == nil && g.oneIn(2) {
				restartsAll = g.ownRules(c, pod["restartPolicy"] == "OnFailure", set[rac]) || restartsAll
			}
			if name := c["name"].(string); strings.HasPrefix(name, "init") {
				h.Tapes = append(h.Tapes, JobTape{name, -1, -1, g.jobRuns()})
			}
		}
	}
	for i := range h.Tapes {
		for j := range h.Tapes[i].Runs {
			r := &h.Tapes[i].Runs[j]
			if restartsAll {
				// They are killed one after the other, which is told of Pods and not of Jobs, and
				// nothing holds up a loop of them.
				r.Stop, r.For = -1, max(r.For, policy.Second)
			}
			if strings.HasPrefix(h.Tapes[i].Container, "init") && r.For > 20*policy.Second {
				r.For %= 20 * policy.Second // else few Pods come further
			}
			// An init container that ends so with code 0 ends the sandbox and not the Pod, as with
			// its own policy below.
			if r.OOM = g.oneIn(8); r.OOM && (g.oneIn(2) || strings.HasPrefix(h.Tapes[i].Container, "init")) {
				r.ExitCode = 137
			}
		}
	}
	if restartsAll {
		h.Until = min(h.Until, 300*policy.Second) // a loop without waits fills an answer
	}
	for range g.r.IntN(2) {
		h.Events = append(h.Events, JobAction{At: g.moment(min(h.Until, 60_000)), Type: "OOMKilled", Pod: g.r.IntN(4), Container: "main"})
	}
	slices.SortStableFunc(h.Events, func(a, b JobAction) int { return cmp.Compare(a.At, b.At) })
	text, err := json.Marshal(job)
	if err != nil {
		panic(err)
	}
	h.Manifest = string(text)
}

// ownRules gives a container a restart policy and rules, and reports whether one restarts all
// containers. An init container that fails for good in a Pod whose policy is OnFailure ends the
// sandbox and not the Pod; sandboxes are left to the comparison of plans.
func (g *generator) ownRules(c map[string]any, onFailure, all bool) (restartsAll bool) {
	init := strings.HasPrefix(c["name"].(string), "init")
	c["restartPolicy"] = pick(g, "Never", "Never", "OnFailure", "Always")
	switch {
	case init && c["restartPolicy"] == "Always":
		return false // a sidecar
	case init && onFailure:
		c["restartPolicy"] = "OnFailure"
	}
	var rules []any
	for range g.r.IntN(3) {
		action := "Restart"
		if all && g.oneIn(2) {
			action, restartsAll = "RestartAllContainers", true
		}
		rules = append(rules, map[string]any{"action": action, "exitCodes": map[string]any{
			"operator": pick(g, "In", "In", "NotIn"), "values": pick(g, []int{1}, []int{3, 42}, []int{42}, []int{0, 137}, []int{1, 137, 143}),
		}})
	}
	if rules != nil {
		c["restartPolicyRules"] = rules
	}
	return restartsAll
}

// history returns a Job with a few Pods, in a situation in which as many rules as possible meet.
func (g *generator) history() *JobHistory {
	spec := map[string]any{}
	maybe := func(oneIn int, field string, value any) {
		if g.oneIn(oneIn) {
			spec[field] = value
		}
	}
	h := &JobHistory{Until: pick[policy.Millis](g, 30, 100, 300, 900, 1800)*policy.Second + policy.Millis(g.r.IntN(2))*policy.Millis(g.r.IntN(1000))}
	indexed := g.oneIn(2)
	completions := g.r.IntN(6)
	if completions == 0 && !g.oneIn(5) {
		completions = 2
	}
	parallelism := pick(g, 1, 1, 2, 2, 3, 4, g.r.IntN(6))
	if g.oneIn(25) { // so many that indexes wait in all states
		completions, parallelism = 5+g.r.IntN(40), 3+g.r.IntN(30)
		if g.oneIn(20) { // more than one round creates or counts
			completions, parallelism = 1100, 400+g.r.IntN(700)
		}
	}
	maybe(1, "parallelism", parallelism)
	if indexed {
		spec["completionMode"], spec["completions"] = "Indexed", completions
	} else {
		maybe(2, "completions", completions)
	}
	maybe(2, "backoffLimit", g.r.IntN(5))
	perIndex := indexed && g.oneIn(2)
	if perIndex {
		spec["backoffLimitPerIndex"] = g.r.IntN(3)
		maybe(3, "maxFailedIndexes", g.r.IntN(completions+1))
	}
	maybe(6, "activeDeadlineSeconds", pick(g, 0, 1, 5, 10, 30, 60, 200, 9223372036854775807, 18446744074, 36893488148))
	maybe(8, "suspend", true)
	restartPolicy := pick(g, "Never", "Never", "Never", "OnFailure")
	names := []string{"main"}
	if g.oneIn(3) {
		names = append(names, "helper")
	}
	if restartPolicy == "Never" && g.oneIn(2) {
		spec["podFailurePolicy"] = map[string]any{"rules": g.policyRules(names, perIndex)}
	} else {
		maybe(2, "podReplacementPolicy", pick(g, "Failed", "TerminatingOrFailed"))
	}
	if indexed && completions > 0 && g.oneIn(4) {
		spec["successPolicy"] = map[string]any{"rules": g.indexRules(completions)}
	}
	pod := map[string]any{"restartPolicy": restartPolicy}
	var containers []any
	for _, name := range names {
		containers = append(containers, map[string]any{"name": name, "image": "i"})
	}
	pod["containers"] = containers
	if g.oneIn(3) {
		pod["terminationGracePeriodSeconds"] = pick(g, 1, 5, 30)
	}
	spec["template"] = map[string]any{"spec": pod}
	text, err := json.Marshal(map[string]any{
		"apiVersion": "batch/v1", "kind": "Job", "metadata": map[string]any{"name": "a", "namespace": "default"}, "spec": spec,
	})
	if err != nil {
		panic(err)
	}
	h.Manifest = string(text)
	for _, name := range names {
		h.Tapes = append(h.Tapes, JobTape{name, -1, -1, g.jobRuns()})
		for range g.r.IntN(3) {
			tape := JobTape{name, -1, -1, g.jobRuns()}
			if tape.Pod = g.r.IntN(5); indexed && completions > 0 && g.oneIn(2) {
				tape.Pod, tape.Index = -1, g.r.IntN(completions)
			}
			if !slices.ContainsFunc(h.Tapes, func(t JobTape) bool { return t.Container == name && t.Pod == tape.Pod && t.Index == tape.Index }) {
				h.Tapes = append(h.Tapes, tape)
			}
		}
	}
	for range g.r.IntN(4) {
		e := JobAction{At: g.moment(min(h.Until, 120_000)), Pod: g.r.IntN(7) - 1}
		e.Type = pick(g, "Deleted", "Deleted", "Evicted", "Preempted", "Drained", "TaintEvicted", "NodeLost", "NodeShutdown",
			"JobSuspended", "JobResumed", "JobResumed", "JobControllerRestarted")
		if strings.HasPrefix(e.Type, "Job") {
			e.Pod = -1
		}
		h.Events = append(h.Events, e)
	}
	slices.SortStableFunc(h.Events, func(a, b JobAction) int { return cmp.Compare(a.At, b.At) })
	return h
}

// moment is an instant, as often as not a whole second.
func (g *generator) moment(most policy.Millis) policy.Millis {
	at := policy.Millis(g.r.Int64N(int64(most) + 1))
	if g.oneIn(2) {
		at = at / policy.Second * policy.Second
	}
	return at
}

func (g *generator) jobRuns() (runs []JobRun) {
	for range 1 + g.r.IntN(5) {
		r := JobRun{For: g.moment(pick[policy.Millis](g, 0, 3, 10, 40, 300) * policy.Second), ExitCode: pick[int32](g, 0, 0, 1, 3, 42, 137), Times: 1 + g.r.IntN(2), Stop: -1}
		if g.oneIn(3) {
			r.Stop, r.StopCode = g.moment(40_000), pick[int32](g, 0, 42, 143)
		}
		if g.oneIn(8) {
			r.Times = -1
		}
		if runs = append(runs, r); r.Times < 0 {
			break
		}
	}
	return runs
}

func (g *generator) policyRules(names []string, perIndex bool) []any {
	rules := []any{}
	for range g.r.IntN(4) {
		actions := []string{"FailJob", "Ignore", "Ignore", "Count"}
		if perIndex {
			actions = append(actions, "FailIndex")
		}
		rule := map[string]any{"action": pick(g, actions...)}
		if g.oneIn(3) {
			rule["onPodConditions"] = []any{map[string]any{
				"type": pick(g, "DisruptionTarget", "DisruptionTarget", "Ready"), "status": pick(g, "True", "True", "False"),
			}}
		} else {
			on := map[string]any{"operator": pick(g, "In", "In", "NotIn"), "values": pick(g, []int{1}, []int{3, 42}, []int{42}, []int{137}, []int{1, 137, 143})}
			if g.oneIn(3) {
				on["containerName"] = pick(g, names...)
			}
			rule["onExitCodes"] = on
		}
		rules = append(rules, rule)
	}
	return rules
}

func (g *generator) indexRules(completions int) (rules []any) {
	for range 1 + g.r.IntN(2) {
		rule := map[string]any{}
		count := g.r.IntN(completions + 1)
		if g.oneIn(2) {
			first := g.r.IntN(completions)
			rule["succeededIndexes"] = strconv.Itoa(first)
			if last := first + g.r.IntN(completions-first); last > first {
				rule["succeededIndexes"] = fmt.Sprintf("%d-%d", first, last)
			}
			count = min(count, 1)
		}
		if len(rule) == 0 || g.oneIn(3) {
			rule["succeededCount"] = count
		}
		rules = append(rules, rule)
	}
	return rules
}

// String writes the history as a request.
func (h *JobHistory) String() string { return string(h.request(0, nil)) }

func (h *JobHistory) request(minor int, set gateSet) []byte {
	millis := func(m policy.Millis) string { return (time.Duration(m) * time.Millisecond).String() }
	runs := func(list []JobRun) (out []any) {
		for _, r := range list {
			run := map[string]any{"for": millis(r.For), "exitCode": r.ExitCode, "times": r.Times}
			if r.Times < 0 {
				run["times"] = "forever"
			}
			if r.OOM {
				run["reason"] = "OOMKilled"
			}
			if r.Stop >= 0 {
				run["stop"] = map[string]any{"for": millis(r.Stop), "exitCode": r.StopCode}
			}
			out = append(out, run)
		}
		return out
	}
	all, own := map[string]any{}, []any{}
	for _, t := range h.Tapes {
		if t.Pod < 0 && t.Index < 0 {
			all[t.Container] = runs(t.Runs)
			continue
		}
		where, number := "pod", t.Pod
		if t.Pod < 0 {
			where, number = "index", t.Index
		}
		i := slices.IndexFunc(own, func(o any) bool { n, ok := o.(map[string]any)[where]; return ok && n == number })
		if i < 0 {
			i = len(own)
			own = append(own, map[string]any{where: number, "runs": map[string]any{}})
		}
		own[i].(map[string]any)["runs"].(map[string]any)[t.Container] = runs(t.Runs)
	}
	events := []any{}
	for _, e := range h.Events {
		event := map[string]any{"at": millis(e.At), "type": e.Type}
		if e.Pod >= 0 {
			event["pod"] = e.Pod
		}
		if e.Container != "" {
			event["container"] = e.Container
		}
		events = append(events, event)
	}
	request := map[string]any{"manifest": json.RawMessage(h.Manifest), "runs": all, "podRuns": own, "events": events, "until": millis(h.Until)}
	if minor > 0 {
		request["cluster"] = map[string]any{"version": policy.VersionName(minor), "featureGates": set}
	}
	text, err := json.Marshal(request)
	if err != nil {
		panic(err)
	}
	return text
}

// facts are the lines that are compared, in their order, under headings.
type facts struct{ Pods, Counters, Status, Events []string }

func (ours facts) differ(theirs facts) (what, a, b string) {
	for _, part := range []struct {
		name string
		a, b []string
	}{{"Pods", ours.Pods, theirs.Pods}, {"counters", ours.Counters, theirs.Counters}, {"events", ours.Events, theirs.Events}, {"status", ours.Status, theirs.Status}} {
		if !slices.Equal(part.a, part.b) {
			return part.name, "\n" + strings.Join(part.a, "\n"), "\n" + strings.Join(part.b, "\n")
		}
	}
	return "", "", ""
}

func (r *JobRecord) facts() (f facts) {
	for _, p := range r.Pods {
		f.Pods = append(f.Pods, fmt.Sprintf("%+v", p))
	}
	last := JobStatus{FailedIndexes: "-", StartTime: -1, CompletionTime: -1}
	for _, s := range r.Status {
		f.counters(s.At, s.Active, s.Ready, s.Succeeded, s.Failed, s.Terminating)
		last = s
	}
	f.Status = []string{fmt.Sprintf("completed %q, failed %q, uncounted %q %q, from %d to %d", last.CompletedIndexes, last.FailedIndexes,
		last.UncountedSucceeded, last.UncountedFailed, last.StartTime, last.CompletionTime), last.Conditions}
	for _, e := range r.Events {
		f.Events = append(f.Events, fmt.Sprintf("%+v", e))
	}
	return f
}

// counters notes the counters unless they are the same as before.
func (f *facts) counters(at policy.Millis, counters ...int) {
	line := fmt.Sprint(counters)
	if n := len(f.Counters); n == 0 && line == "[0 0 0 0 0]" || n > 0 && strings.HasSuffix(f.Counters[n-1], line) {
		return
	}
	f.Counters = append(f.Counters, fmt.Sprintf("at %d %s", at, line))
}

// simulateJob asks Podfate.
func simulateJob(minor int, set gateSet, h *JobHistory) (f facts, err error) {
	op, ok := ops.Lookup("simulate")
	if !ok {
		return f, fmt.Errorf("there is no operation simulate")
	}
	reply, failed := ops.Call(op.Number, h.request(minor, set))
	if failed {
		return f, fmt.Errorf("podfate: %s", reply)
	}
	var a struct {
		Timeline []struct {
			AtMillis                                    policy.Millis
			Event, Job, Reason, Message, Pod, Container string
			Number, Pods                                int
		}
		Counters []struct {
			AtMillis                                      policy.Millis
			Active, Ready, Succeeded, Failed, Terminating int
		}
		Pods []struct {
			Number                                   int
			Name                                     string
			Index, FailureCount, IgnoredFailureCount *int
			CreatedMillis                            policy.Millis
		}
		Job struct {
			Status struct {
				CompletedIndexes          string
				FailedIndexes             *string
				StartTime, CompletionTime *time.Time
				Conditions                []struct {
					Type, Status, Reason, Message string
					LastTransitionTime            time.Time
				}
			}
		}
		Undecided []any
	}
	if err := json.Unmarshal(reply, &a); err != nil {
		return f, err
	}
	if len(a.Undecided) > 0 {
		return f, fmt.Errorf("undecided: %v", a.Undecided)
	}
	deleted := map[int]policy.Millis{}
	var events []JobEvent
	for _, e := range a.Timeline {
		event := JobEvent{e.AtMillis, "Normal", e.Reason, e.Message}
		switch e.Event {
		case "PodCreated", "PodDeleted":
			for n := range max(e.Pods, 1) {
				verb := "Created"
				if e.Event == "PodDeleted" {
					deleted[e.Number+n], verb = e.AtMillis, "Deleted"
				}
				event.Message = fmt.Sprintf("%s pod: {%d}", verb, e.Number+n)
				events = append(events, event)
			}
		case "Suspended", "Resumed":
			event.Reason = e.Event
			events = append(events, event)
		case "JobCompleted":
			event.Reason, event.Message = "Completed", "Job completed"
			events = append(events, event)
		case "JobFailed":
			event.Type = "Warning"
			events = append(events, event)
		}
	}
	number := func(text string) string {
		for _, p := range a.Pods {
			text = strings.ReplaceAll(text, p.Name, fmt.Sprintf("{%d}", p.Number))
		}
		return text
	}
	orNone := func(n *int) int {
		if n == nil {
			return -1
		}
		return *n
	}
	for _, p := range a.Pods {
		line := JobPod{p.CreatedMillis, orNone(p.Index), orNone(p.FailureCount), orNone(p.IgnoredFailureCount), -1}
		if at, ok := deleted[p.Number]; ok {
			line.Deleted = at
		}
		f.Pods = append(f.Pods, fmt.Sprintf("%+v", line))
	}
	for _, s := range a.Counters {
		f.counters(s.AtMillis, s.Active, s.Ready, s.Succeeded, s.Failed, s.Terminating)
	}
	for i := range events {
		events[i].Message = number(events[i].Message)
	}
	slices.SortStableFunc(events, JobEvent.Compare)
	for _, e := range events {
		f.Events = append(f.Events, fmt.Sprintf("%+v", e))
	}
	seconds := func(t *time.Time) policy.Millis {
		if t == nil {
			return -1
		}
		return policy.Millis(t.UnixMilli())
	}
	st, failedIndexes, conditions := &a.Job.Status, "-", ""
	if st.FailedIndexes != nil {
		failedIndexes = *st.FailedIndexes
	}
	for _, c := range st.Conditions {
		conditions += fmt.Sprintf("%s=%s at %d, %s: %s; ", c.Type, c.Status, seconds(&c.LastTransitionTime), c.Reason, number(c.Message))
	}
	f.Status = []string{fmt.Sprintf("completed %q, failed %q, uncounted %q %q, from %d to %d", st.CompletedIndexes, failedIndexes, "", "",
		seconds(st.StartTime), seconds(st.CompletionTime)), conditions}
	return f, nil
}

// Compare orders events of one instant, which the controller records from several goroutines.
func (a JobEvent) Compare(b JobEvent) int {
	return cmp.Or(cmp.Compare(a.At, b.At), strings.Compare(a.Type, b.Type), strings.Compare(a.Reason, b.Reason), strings.Compare(a.Message, b.Message))
}
