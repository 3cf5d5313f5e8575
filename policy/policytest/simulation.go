package policytest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// simulation is the answer of that operation.
type simulation struct {
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
	Assumptions []string
	Timeline    []struct {
		AtMillis, UntilMillis, DelayMillis, EveryMillis, Times int64

		Container, Pod, Event, Reason, From, To, Ignored string

		RestartCount int64
		ExitCode     *int32
		Action       string
		Because      string
		PodFails     bool
		DecidedBy    struct{ Level, Path string }
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
	Containers []struct {
		Container       string
		NextStartMillis *int64
	}
	Undecided []struct {
		AtMillis     int64
		Reason, Path string
	}
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
		fmt.Fprintf(b, "%v %s%s ", span(e.AtMillis), e.Container, e.Pod)
		switch {
		case e.Event == "Started":
			fmt.Fprintf(b, "Started %d", e.RestartCount)
		case e.Event == "Exited" && e.ExitCode != nil:
			fmt.Fprintf(b, "Exited %d %s", *e.ExitCode, e.Reason)
			if e.Action != "" {
				fmt.Fprintf(b, ": %s, %s %s (%s)", e.Action, e.DecidedBy.Level, e.DecidedBy.Path, e.Because)
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
		case e.Event == "PhaseChanged":
			b.WriteString(strings.TrimSpace(e.From + " -> " + e.To + " " + e.Reason))
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
		}
		b.WriteString("\n")
	}
	s.end(b)
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
	if s.From != nil {
		fmt.Fprintf(b, "assumed: %s\n", strings.Join(s.Assumptions, " "))
	}
	for _, u := range s.Undecided {
		fmt.Fprintf(b, "undecided at %v, %s: %s\n", span(u.AtMillis), u.Path, u.Reason)
	}
}
