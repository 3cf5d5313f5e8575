package policytest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// comparison is the answer of compare.
type comparison struct {
	Of       string
	Variants []struct {
		Name         string
		Refused      bool
		Equivalent   *bool
		SameTimeline *bool
		Answer       struct {
			Faults []fault
			Error  *struct{ Faults []fault }
		}
	}
	Differences []struct {
		Variant, Kind, Template, Container, Reason, Name, Status, Path string
		RestartsFrom, RestartsTo                                       *int64
		From, To, Exit, ExitCode, AtMillis, UntilMillis, Restart       *int64
		With                                                           struct {
			Container, Condition, PodReason, Status string
			ExitCode                                int64
		}
		First, Here json.RawMessage
		Excess      *int64
	}
	DifferencesLeftOut int
	Same, Equivalent   bool
}

// summarizeComparison writes the lines of a comparison, none for another answer.
func summarizeComparison(b *strings.Builder, raw []byte) error {
	var head struct{ Of, Differences json.RawMessage }
	var c comparison
	if json.Unmarshal(raw, &head) != nil || head.Of == nil || head.Differences == nil {
		return nil
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		return err
	}
	fmt.Fprintf(b, "compare %s\n", c.Of)
	for _, v := range c.Variants {
		fmt.Fprintf(b, "variant %s", v.Name)
		if v.Refused {
			b.WriteString(", refused")
		}
		if v.Equivalent != nil {
			fmt.Fprintf(b, ", equivalent %v", *v.Equivalent)
		}
		if v.SameTimeline != nil {
			fmt.Fprintf(b, ", same timeline %v", *v.SameTimeline)
		}
		b.WriteString("\n")
		if v.Answer.Error != nil {
			v.Answer.Faults = v.Answer.Error.Faults
		}
		for _, f := range v.Answer.Faults {
			fmt.Fprintf(b, "  fault %s\n", f)
		}
	}
	for _, d := range c.Differences {
		fmt.Fprintf(b, "%s: %s", d.Variant, d.Kind)
		for _, word := range []string{d.Template, d.Container, d.Name, d.Status, d.Path, d.Reason} {
			if word != "" {
				b.WriteString(" " + word)
			}
		}
		if d.From != nil {
			fmt.Fprintf(b, " %d", *d.From)
			if *d.To > *d.From {
				fmt.Fprintf(b, "-%d", *d.To)
			}
		}
		if d.ExitCode != nil {
			fmt.Fprintf(b, " %d", *d.ExitCode)
		}
		if w := d.With; w.Container != "" {
			fmt.Fprintf(b, " with %s %d", w.Container, w.ExitCode)
		} else if name := w.Condition + w.PodReason; name != "" {
			b.WriteString(strings.TrimRight(" with "+name+" "+w.Status, " "))
		}
		for _, n := range []struct {
			name  string
			value *int64
		}{{"after", d.RestartsFrom}, {"to", d.RestartsTo}, {"exits", d.Exit}, {"restart", d.Restart}, {"at", d.AtMillis}, {"until", d.UntilMillis}} {
			if n.value != nil {
				fmt.Fprintf(b, " %s %d", n.name, *n.value)
			}
		}
		fmt.Fprintf(b, ": %s here %s", inShort(d.First), inShort(d.Here))
		if d.Excess != nil {
			fmt.Fprintf(b, ", excess %d", *d.Excess)
		}
		b.WriteString("\n")
	}
	if c.DifferencesLeftOut > 0 {
		fmt.Fprintf(b, "%d more\n", c.DifferencesLeftOut)
	}
	fmt.Fprintf(b, "same %v, equivalent %v\n", c.Same, c.Equivalent)
	return nil
}

// inShort is a value of a difference: of a decision what happens and the path that decided, of a
// fault its code.
func inShort(raw json.RawMessage) string {
	if raw == nil {
		return "-"
	}
	var v struct {
		Path, Code, Gate, Action, Event, Phase, Reason, Outcome string
		PodFails                                                bool
		AtMillis                                                *int64
		DelayMillis                                             int64
		DecidedBy                                               struct{ Path string }
		Job                                                     json.RawMessage
	}
	if bytes.HasPrefix(raw, []byte("{")) && json.Unmarshal(raw, &v) == nil {
		var words []string
		for _, w := range []string{v.Path, v.Code, v.Gate, v.Event, v.Phase, v.Reason, v.Action, v.DecidedBy.Path, v.Outcome} {
			if w != "" {
				words = append(words, w)
			}
		}
		if v.PodFails {
			words = append(words, "and the Pod fails")
		}
		if v.DelayMillis > 0 {
			words = append(words, fmt.Sprintf("for %d", v.DelayMillis))
		}
		if v.AtMillis != nil {
			words = append(words, fmt.Sprintf("at %d", *v.AtMillis))
		}
		if bytes.HasPrefix(v.Job, []byte("{")) {
			words = append(words, "Job: "+inShort(v.Job))
		}
		if len(words) > 0 {
			return strings.Join(words, " ")
		}
	}
	return string(raw)
}
