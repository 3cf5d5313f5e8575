package policytest

import (
	"encoding/json"
	"fmt"
	"strings"
)

// fault is a fault, a warning or a dropped field in an answer.
type fault struct {
	Path, Code, Detail, Message, Gate string
}

func (f fault) String() string {
	if f.Message != "" {
		return f.Message
	}
	return f.Path + ": " + f.Code
}

// answer is as much of every answer as scenarios speak about.
type answer struct {
	Error *struct {
		Code, Message, Path, Limit string
		Faults                     []fault
	}
	Valid     *bool
	Faults    []fault
	Dropped   []fault
	Warnings  []fault
	Decisions []struct {
		Container string
		ExitCode  int32
		Reason    string
		Action    string
		Because   string
		PodFails  bool
		DecidedBy struct{ Level, Path string }
		Undecided *struct{ Reason, Path string }
		Trace     []struct{ Path, Result, Code, Ignored string }
	}
}

// Summary puts an answer into words, one line per fact:
//
//	main exits 42: Restart, rule spec.containers[0].restartPolicyRules[0] (rule_matched)
//	  spec.containers[0].restartPolicyRules[0]: matched (in)
//	fault spec.containers[0].restartPolicy: Required value: …
//	warning spec.containers[0].restartPolicyRules[1]: rule_shadowed
//	dropped spec.containers[0].restartPolicy (ContainerRestartRules)
//	error EVENT_INVALID
//
// Places in the text and what was assumed about the cluster are left out.
func Summary(raw []byte) (string, error) {
	var a answer
	if err := json.Unmarshal(raw, &a); err != nil {
		return "", err
	}
	var b strings.Builder
	if a.Error != nil {
		fmt.Fprintf(&b, "error %s\n", a.Error.Code)
		if a.Error.Limit != "" {
			fmt.Fprintf(&b, "limit %s\n", a.Error.Limit)
		}
		a.Faults = a.Error.Faults
	}
	if a.Valid != nil && *a.Valid {
		b.WriteString("valid\n")
	}
	for _, d := range a.Decisions {
		reason := ""
		if d.Reason != "" {
			reason = " " + d.Reason
		}
		fmt.Fprintf(&b, "%s exits %d%s: ", d.Container, d.ExitCode, reason)
		switch {
		case d.Undecided != nil:
			fmt.Fprintf(&b, "undecided, %s: %s\n", d.Undecided.Path, d.Undecided.Reason)
		case d.PodFails:
			fmt.Fprintf(&b, "%s and the Pod fails, %s %s (%s)\n", d.Action, d.DecidedBy.Level, d.DecidedBy.Path, d.Because)
		default:
			fmt.Fprintf(&b, "%s, %s %s (%s)\n", d.Action, d.DecidedBy.Level, d.DecidedBy.Path, d.Because)
		}
		for _, s := range d.Trace {
			ignored := ""
			if s.Ignored != "" {
				ignored = ", ignored: " + s.Ignored
			}
			fmt.Fprintf(&b, "  %s: %s (%s)%s\n", s.Path, s.Result, s.Code, ignored)
		}
	}
	for _, f := range a.Faults {
		fmt.Fprintf(&b, "fault %s\n", f)
	}
	for _, f := range a.Warnings {
		fmt.Fprintf(&b, "warning %s\n", f)
	}
	for _, f := range a.Dropped {
		fmt.Fprintf(&b, "dropped %s (%s)\n", f.Path, f.Gate)
	}
	return b.String(), nil
}
