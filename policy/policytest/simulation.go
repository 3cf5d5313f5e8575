package policytest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// simulation is the answer of that operation.
type simulation struct {
	Waste       *waste
	UntilMillis int64
	From        *struct {
		Now, NowIs string
		Waits      []struct {
			Container, DelayFrom                      string
			DelayMillis, EarliestMillis, LatestMillis int64
			NextStartMillis                           *int64
			NextStart                                 string
		}
	}
	Backoff *struct {
		series
		Preset, Counter     string
		ResetMillis         int64
		Classes, Containers map[string]series
	}
	JobBackoff  *series
	Assumptions []string
	Timeline    []struct {
		AtMillis, UntilMillis, DelayMillis, EveryMillis, Times int64

		Container, Pod, Event, Reason, From, To, Ignored, View string

		// Of a Job.
		Job, Message string
		Pods, Index  *int64
		Rule         *int64
		Counted      *bool

		FailureCount, IgnoredFailureCount *int64

		RestartCount int64
		ExitCode     *int32
		Action       string
		Because      string
		PodFails     bool
		DecidedBy    struct{ Level, Path, Proposal string }
		WillRestart  bool
		Starts       []struct {
			Container            string
			Starts, RestartCount int64
		}
	}
	Pod *struct {
		Deleted bool
		Status  struct {
			Phase, Reason string
			Conditions    []struct{ Type, Status, Reason string }

			InitContainerStatuses, ContainerStatuses, EphemeralContainerStatuses []containerStatus
		}
	}
	Job *struct {
		Status struct {
			Active, Ready, Succeeded, Failed, Terminating int64
			CompletedIndexes                              string
			FailedIndexes                                 *string
			Conditions                                    []struct{ Type, Status, Reason, Message string }
		}
	}
	Containers []struct {
		Container       string
		NextStartMillis *int64
	}
	Rows []struct {
		AtMillis, RepeatsUntilMillis int64
		Pod                          string
		Gone                         bool
		printedRow
	}
	RowsMore int64
	Expected []struct {
		Phase, Is string
		AtMillis  *int64
		Met       bool
	}
	Undecided []struct {
		AtMillis            int64
		Reason, Path, Limit string
	}
}

// printedRow is what kubectl prints of a Pod.
type printedRow struct {
	Ready, Total, Restarts int64
	Pod, Status            string // Pod is "" where the answer is about one alone
	AgoMillis, AgeMillis   *int64
}

func (r printedRow) String() string {
	s := ""
	if r.Pod != "" {
		s = r.Pod + " "
	}
	s += fmt.Sprintf("%d/%d %s %d", r.Ready, r.Total, r.Status, r.Restarts)
	if r.AgoMillis != nil {
		s += fmt.Sprintf(" (%v ago)", span(*r.AgoMillis))
	}
	if r.AgeMillis != nil {
		s += fmt.Sprintf(", age %v", span(*r.AgeMillis))
	}
	return s
}

// series is a series of waits.
type series struct {
	InitialMillis, Factor, MaxMillis int64
	WaitsMillis                      []int64
}

func (s series) String() string {
	if len(s.WaitsMillis) > 0 {
		return fmt.Sprintf("%d, then %d", s.WaitsMillis, s.MaxMillis)
	}
	return fmt.Sprintf("%d, factor %d, at most %d", s.InitialMillis, s.Factor, s.MaxMillis)
}

type containerStatus struct {
	Name             string
	State, LastState containerState
	RestartCount     int64
}

type containerState struct {
	Waiting, Running, Terminated *struct {
		Reason   string
		ExitCode int32
	}
}

func (s containerState) String() string {
	switch {
	case s.Waiting != nil:
		return strings.TrimSpace("waiting " + s.Waiting.Reason)
	case s.Running != nil:
		return "running"
	case s.Terminated != nil:
		return fmt.Sprintf("terminated %d %s", s.Terminated.ExitCode, s.Terminated.Reason)
	}
	return "none"
}

func span(millis int64) time.Duration { return time.Duration(millis) * time.Millisecond }

// summarizeSimulation writes the timeline, then the Pod as it is at the end.
func summarizeSimulation(b *strings.Builder, raw []byte) error {
	if !strings.HasPrefix(string(raw), `{"untilMillis":`) || !strings.Contains(string(raw), `"timeline":`) {
		return nil
	}
	if strings.Contains(string(raw), `"tries":[`) {
		return summarizeTries(b, raw)
	}
	if strings.Contains(string(raw), `"jobSet":{`) {
		return summarizeJobSet(b, raw)
	}
	var s simulation
	if err := json.Unmarshal(raw, &s); err != nil {
		return err
	}
	if s.From != nil {
		fmt.Fprintf(b, "from %s, %s\n", s.From.Now, s.From.NowIs)
		for _, w := range s.From.Waits {
			fmt.Fprintf(b, "%s waits %v (%s)", w.Container, span(w.DelayMillis), w.DelayFrom)
			if w.NextStartMillis != nil {
				fmt.Fprintf(b, ", starts at %v = %s, %v to %v", span(*w.NextStartMillis), w.NextStart, span(w.EarliestMillis), span(w.LatestMillis))
			}
			b.WriteString("\n")
		}
	}
	for _, e := range s.Timeline {
		fmt.Fprintf(b, "%v ", span(e.AtMillis))
		if s.Job != nil && e.Pod != "" {
			b.WriteString(e.Pod)
			if e.Pods != nil {
				fmt.Fprintf(b, " and %d more", *e.Pods-1)
			}
			if b.WriteString(" "); e.Container != "" {
				fmt.Fprintf(b, "%s ", e.Container)
			}
		} else {
			fmt.Fprintf(b, "%s%s%s ", e.Container, e.Pod, e.Job)
		}
		switch {
		case e.Event == "Started":
			fmt.Fprintf(b, "Started %d", e.RestartCount)
		case e.Event == "Exited" && e.ExitCode != nil:
			fmt.Fprintf(b, "Exited %d %s", *e.ExitCode, e.Reason)
			if e.Action != "" {
				fmt.Fprintf(b, ": %s, %s %s (%s)", e.Action, e.DecidedBy.Level, e.DecidedBy.Path, proposed(e.Because, e.DecidedBy.Proposal))
			}
			if e.PodFails {
				b.WriteString(", the Pod fails")
			}
		case e.Event == "BackOff":
			fmt.Fprintf(b, "BackOff %v until %v", span(e.DelayMillis), span(e.UntilMillis))
		case e.Event == "Killing":
			fmt.Fprintf(b, "Killing %s", e.Reason)
			if e.WillRestart {
				b.WriteString(", will be restarted")
			}
		case e.Event == "PhaseChanged" || e.Event == "PhaseDecided":
			if e.View != "" {
				fmt.Fprintf(b, "%s: ", e.View)
			}
			b.WriteString(strings.TrimSpace(e.From + " -> " + e.To + " " + e.Reason))
			if e.Counted != nil {
				fmt.Fprintf(b, ": %s", e.Action)
				if e.Rule != nil {
					fmt.Fprintf(b, " by rule %d", *e.Rule)
				}
			}
		case e.Event == "PodCreated" || e.Event == "IndexFailed":
			b.WriteString(e.Event)
			for _, n := range []struct {
				name  string
				value *int64
			}{{"index", e.Index}, {"failures", e.FailureCount}, {"ignored", e.IgnoredFailureCount}} {
				if n.value != nil {
					fmt.Fprintf(b, " %s %d", n.name, *n.value)
				}
			}
		case e.Job != "" && e.Message != "":
			fmt.Fprintf(b, "%s %s: %s", e.Event, e.Reason, e.Message)
		case e.Event == "Repeated":
			fmt.Fprintf(b, "Repeated %d times every %v until %v", e.Times, span(e.EveryMillis), span(e.UntilMillis))
			for _, n := range e.Starts {
				fmt.Fprintf(b, ", %s %d starts, restartCount %d", n.Container, n.Starts, n.RestartCount)
			}
		default:
			b.WriteString(strings.TrimSpace(e.Event + " " + e.Reason))
			if e.Ignored != "" {
				fmt.Fprintf(b, " ignored: %s", e.Ignored)
			}
			if e.View != "" {
				fmt.Fprintf(b, " (%s)", e.View)
			}
		}
		b.WriteString("\n")
	}
	if s.Job != nil {
		s.endOfJob(b)
	} else {
		s.end(b)
	}
	s.rest(b)
	return nil
}

func (s *simulation) end(b *strings.Builder) {
	fmt.Fprintf(b, "%v: %s\n", span(s.UntilMillis), strings.TrimSpace(s.Pod.Status.Phase+" "+s.Pod.Status.Reason))
	if s.Pod.Deleted {
		b.WriteString("deleted\n")
	}
	for _, c := range s.Pod.Status.Conditions {
		if c.Type == "AllContainersRestarting" || c.Type == "DisruptionTarget" {
			fmt.Fprintf(b, "condition %s\n", strings.TrimSpace(c.Type+" "+c.Status+" "+c.Reason))
		}
	}
	for _, c := range slices.Concat(s.Pod.Status.InitContainerStatuses, s.Pod.Status.ContainerStatuses, s.Pod.Status.EphemeralContainerStatuses) {
		fmt.Fprintf(b, "%s: %s, last %s, restartCount %d\n", c.Name, c.State, c.LastState, c.RestartCount)
	}
	for _, c := range s.Containers {
		if c.NextStartMillis != nil {
			fmt.Fprintf(b, "%s: next start at %v\n", c.Container, span(*c.NextStartMillis))
		}
	}
}

// endOfJob writes the status of the Job.
func (s *simulation) endOfJob(b *strings.Builder) {
	st := &s.Job.Status
	fmt.Fprintf(b, "%v: active %d, ready %d, succeeded %d, failed %d, terminating %d", span(s.UntilMillis), st.Active, st.Ready, st.Succeeded, st.Failed, st.Terminating)
	if st.CompletedIndexes != "" {
		fmt.Fprintf(b, ", completedIndexes %s", st.CompletedIndexes)
	}
	if st.FailedIndexes != nil {
		fmt.Fprintf(b, ", failedIndexes %q", *st.FailedIndexes)
	}
	b.WriteString("\n")
	for _, c := range st.Conditions {
		fmt.Fprintf(b, "condition %s=%s %s: %s\n", c.Type, c.Status, c.Reason, c.Message)
	}
}

// standing are the assumptions about the kubelet and its node that follow from the kind of timing.
var standing = []string{
	"first_restart_at_once", "first_restart_as_documented", "ideal_timing", "images_present", "probes_pass", "relist_on_demand_after_100ms",
	"sweep_at_even_seconds",
}

// rest writes what every simulation ends with.
func (s *simulation) rest(b *strings.Builder) {
	for _, r := range s.Rows {
		row := r.String()
		if r.Gone {
			row = "gone"
		}
		if r.RepeatsUntilMillis > 0 {
			row += fmt.Sprintf(", repeated until %v", span(r.RepeatsUntilMillis))
		}
		fmt.Fprintf(b, "row %v %s\n", span(r.AtMillis), strings.TrimSpace(r.Pod+" "+row))
	}
	for _, e := range s.Expected {
		at := ""
		if e.AtMillis != nil {
			at = fmt.Sprintf(" at %v", span(*e.AtMillis))
		}
		fmt.Fprintf(b, "expected %s%s, is %s: %v\n", e.Phase, at, e.Is, e.Met)
	}
	if s.RowsMore > 0 {
		fmt.Fprintf(b, "%d more rows\n", s.RowsMore)
	}
	if w := s.Backoff; w != nil {
		fmt.Fprintf(b, "waits %s, reset %v%s\n", w.series, span(w.ResetMillis), strings.TrimRight(" "+w.Counter, " "))
		for _, list := range []map[string]series{w.Classes, w.Containers} {
			for _, name := range slices.Sorted(maps.Keys(list)) {
				fmt.Fprintf(b, "waits of %s: %s\n", name, list[name])
			}
		}
	}
	if s.JobBackoff != nil {
		fmt.Fprintf(b, "waits of the Job: %s\n", *s.JobBackoff)
	}
	if w := s.Waste; w != nil {
		fmt.Fprintf(b, "waste%s\n", w)
		if w.Without != nil {
			fmt.Fprintf(b, "waste without %s%s, saved %d\n", strings.Join(w.Without.LeftOut, " "), w.Without, w.Without.SavedPodMillis)
		}
	}
	if s.From == nil { // what every simulation assumes is not repeated in each scenario
		s.Assumptions = slices.DeleteFunc(s.Assumptions, func(code string) bool { return slices.Contains(standing, code) })
	}
	if len(s.Assumptions) > 0 {
		fmt.Fprintf(b, "assumed: %s\n", strings.Join(s.Assumptions, " "))
	}
	b.WriteString(readings(s.Assumptions))
	for _, u := range s.Undecided {
		fmt.Fprintf(b, "undecided at %v, %s: %s\n", span(u.AtMillis), u.Path+u.Limit, u.Reason)
	}
}

// summarizeTries writes a node of a Workflow over time: each Pod, and its outcome.
func summarizeTries(b *strings.Builder, raw []byte) error {
	var a struct {
		Tries []struct {
			Retry                         int
			FromMillis, UntilMillis       int64
			Outcome, Reason, Action, Path string
			ExitCode                      *int
			AtMillis, WaitsUntilMillis    *int64
		}
		Node struct {
			Outcome, Message string
			AtMillis         *int64
			Retries          int
			Limit            *int
		}
		Containers []struct {
			Container        string
			Starts, Restarts int
			RanMillis        int64
		}
		Undecided []struct {
			AtMillis     int64
			Reason, Path string
		}
		Assumptions []string
	}
	if err := json.Unmarshal(raw, &a); err != nil {
		return err
	}
	for _, x := range a.Tries {
		fmt.Fprintf(b, "retry %d, %v to %v: %s", x.Retry, span(x.FromMillis), span(x.UntilMillis), strings.TrimSpace(x.Outcome+" "+x.Reason))
		if x.ExitCode != nil {
			fmt.Fprintf(b, " %d", *x.ExitCode)
		}
		if x.AtMillis != nil {
			fmt.Fprintf(b, ", %s at %v by %s", x.Action, span(*x.AtMillis), x.Path)
		}
		if x.WaitsUntilMillis != nil {
			fmt.Fprintf(b, ", waits until %v", span(*x.WaitsUntilMillis))
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(b, "node: %s", a.Node.Outcome)
	if a.Node.AtMillis != nil {
		fmt.Fprintf(b, " at %v", span(*a.Node.AtMillis))
	}
	fmt.Fprintf(b, ", %d retries", a.Node.Retries)
	if a.Node.Limit != nil {
		fmt.Fprintf(b, " of %d", *a.Node.Limit)
	}
	if a.Node.Message != "" {
		fmt.Fprintf(b, ": %s", a.Node.Message)
	}
	b.WriteString("\n")
	for _, x := range a.Containers {
		fmt.Fprintf(b, "%s: %d starts, %d restarts, ran %v\n", x.Container, x.Starts, x.Restarts, span(x.RanMillis))
	}
	for _, u := range a.Undecided {
		fmt.Fprintf(b, "undecided at %v: %s %s\n", span(u.AtMillis), u.Reason, u.Path)
	}
	fmt.Fprintf(b, "assumed: %s\n", strings.Join(a.Assumptions, " "))
	return nil
}

// summarizeJobSet writes a JobSet over time: each attempt with its Jobs, and its outcome.
func summarizeJobSet(b *strings.Builder, raw []byte) error {
	var a struct {
		Attempts []struct {
			Restart                 int
			FromMillis, UntilMillis int64
			Jobs                    []struct {
				Job, Outcome, Reason string
				EndedMillis          *int64
				Pods, Restarts       int
			}
			FailedJob, Action, Path string
		}
		JobSet struct {
			Outcome, Reason                                string
			AtMillis                                       *int64
			Restarts, RestartsCountTowardsMax, MaxRestarts int
		}
		Undecided []struct{ Reason, Path string }
	}
	if err := json.Unmarshal(raw, &a); err != nil {
		return err
	}
	for _, x := range a.Attempts {
		fmt.Fprintf(b, "attempt %d, %v to %v\n", x.Restart, span(x.FromMillis), span(x.UntilMillis))
		for _, j := range x.Jobs {
			fmt.Fprintf(b, "  %s: %s", j.Job, strings.TrimSpace(j.Outcome+" "+j.Reason))
			if j.EndedMillis != nil {
				fmt.Fprintf(b, " at %v, %d Pods, %d restarts", span(*j.EndedMillis), j.Pods, j.Restarts)
			}
			b.WriteString("\n")
		}
		if x.Action != "" {
			fmt.Fprintf(b, "  %s by %s: %s\n", x.Action, x.Path, x.FailedJob)
		}
	}
	fmt.Fprintf(b, "JobSet: %s", strings.TrimSpace(a.JobSet.Outcome+" "+a.JobSet.Reason))
	if a.JobSet.AtMillis != nil {
		fmt.Fprintf(b, " at %v", span(*a.JobSet.AtMillis))
	}
	fmt.Fprintf(b, ", %d restarts, %d of %d count\n", a.JobSet.Restarts, a.JobSet.RestartsCountTowardsMax, a.JobSet.MaxRestarts)
	for _, u := range a.Undecided {
		fmt.Fprintf(b, "undecided: %s %s\n", u.Reason, u.Path)
	}
	return nil
}
