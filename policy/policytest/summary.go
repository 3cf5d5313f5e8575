package policytest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// fault is a fault, a warning or a dropped field in an answer.
type fault struct {
	Path, Code, Detail, Message, Gate, Proposal string
}

func (f fault) String() string {
	if f.Message != "" {
		return proposed(f.Message, f.Proposal)
	}
	return f.Path + ": " + proposed(f.Code, f.Proposal)
}

// answer is as much of every answer as scenarios speak about.
type answer struct {
	Error *struct {
		Code, Message, Path, Limit string
		Faults                     []fault
	}
	Valid     *bool
	Message   string
	Faults    []fault
	Undecided []struct{ Reason, Path string } // of validate
	Dropped   []fault
	Warnings  []fault
	Templates []struct{ Path, Kind, RestartPolicy string }
	Decisions []struct {
		Template  string
		Container string
		ExitCode  int32
		Reason    string
		Restarts  *int64 `json:"restartCount"`
		Action    string
		Because   string
		PodFails  bool
		DecidedBy struct{ Level, Path, Proposal string }
		Undecided *struct{ Reason, Path string }
		Row       *printedRow
		Failure   *struct {
			Action, Path string
		}
		Owner *owner
		Trace []struct{ Path, Result, Code, Ignored string }
	}
	Imperative   bool
	Assumptions  []string
	PodDecisions []podDecision
	JobDecision  *struct {
		Counted, Ignored, NotJudged int
		BackoffLimit                int32
		Restarts                    *int64
		Fails                       *struct{ Reason, Message, Pod string }
		Succeeds                    *struct{ Reason, Message string }
	}
	curve
	suggestions
}

// podDecision is how a Job treats a Pod.
type podDecision struct {
	Pod, NotJudged, Action, Message string
	Rule                            *int
	Counted                         bool
	Index                           *int64
	OutOfRange, IndexFails          bool
	Undecided                       *struct{ Reason, Path string }
	Trace                           []struct{ Path, Result, Code string }
}

func (d podDecision) write(b *strings.Builder) {
	fmt.Fprintf(b, "pod %s", d.Pod)
	if d.Index != nil {
		fmt.Fprintf(b, ", index %d", *d.Index)
	}
	switch {
	case d.NotJudged != "":
		fmt.Fprintf(b, ": not judged (%s)\n", d.NotJudged)
	case d.Undecided != nil:
		fmt.Fprintf(b, ": undecided, %s: %s\n", d.Undecided.Path, d.Undecided.Reason)
	default:
		rule, counted := "default", "counted"
		if d.Rule != nil {
			rule = fmt.Sprintf("rule %d", *d.Rule)
		}
		if !d.Counted {
			counted = "not counted"
		}
		if d.OutOfRange {
			counted += ", index out of range"
		}
		if d.IndexFails {
			counted += ", the index fails"
		}
		fmt.Fprintf(b, ": %s, %s, %s\n", d.Action, rule, counted)
	}
	if d.Message != "" {
		fmt.Fprintf(b, "  %s\n", d.Message)
	}
	for _, s := range d.Trace {
		fmt.Fprintf(b, "  %s: %s (%s)\n", s.Path, s.Result, s.Code)
	}
}

// proposed adds the proposal behind a decision to its reason.
func proposed(because, proposal string) string {
	if proposal == "" {
		return because
	}
	return because + ", " + proposal
}

// readings returns those of the assumptions that are about proposals or about what a manifest has
// in place of the question, as a line.
func readings(assumptions []string) string {
	var list []string
	for _, code := range assumptions {
		if isReading(code) {
			list = append(list, code)
		}
	}
	if list == nil {
		return ""
	}
	return "read: " + strings.Join(list, " ") + "\n"
}

func isReading(code string) bool {
	return strings.HasPrefix(code, "reading_") || code == "restart_count_0" || code == "manifest_waits_count" || code == "draft_pods_never_restart"
}

// supposed returns the other assumptions of an answer that no time passes in, as a line.
func supposed(assumptions []string) string {
	list := slices.DeleteFunc(slices.Clone(assumptions), isReading)
	if len(list) == 0 {
		return ""
	}
	return "assumed: " + strings.Join(list, " ") + "\n"
}

// Summary puts an answer into words, one line per fact:
//
//	main exits 42: Restart, rule spec.containers[0].restartPolicyRules[0] (rule_matched)
//	  spec.containers[0].restartPolicyRules[0]: matched (in)
//	pod j-1: FailJob, rule 0, counted
//	  Container main for pod default/j-1 failed with exit code 42 matching FailJob rule at index 0
//	  spec.podFailurePolicy.rules[0]: matched (in)
//	job: 1 counted, 0 ignored, 0 not judged, backoffLimit 6
//	job fails, PodFailurePolicy: Container main for pod …
//	job succeeds, CompletionsReached: Reached expected number of succeeded pods
//	fault spec.containers[0].restartPolicy: Required value: …
//	undecided spec.successPolicy.rules[0]: api_server_panics
//	warning spec.containers[0].restartPolicyRules[1]: rule_shadowed
//	dropped spec.containers[0].restartPolicy (ContainerRestartRules)
//	error EVENT_INVALID
//	template spec.replicatedJobs[0].template of a Job, restartPolicy OnFailure
//
// and for a curve, in milliseconds:
//
//	curve kubelet: initial 10000 factor 2 max 300000 reset 600000 sweep 2000, runs 10000
//	restart 1 at 10000 after 0 (first_restart_is_immediate)
//	2 restarts until 30000
//	300000: 5 restarts, 5 new
//	longest wait first before restart 7 at 680000
//	from restart 7 on 1 every 310000, 11612 an hour in thousandths
//	needed from 420000: back with restart 7 at 624000, late 204000, best 204000, gap 302000
//
// for a table (the line of the container layer, then that of the Job; sizes as rules, values,
// bytes, bytes of JSON):
//
//	table of main at spec.containers[0]
//	0-41: Stop, pod spec.restartPolicy (policy_never)
//	  Job: Failed, Count, default, counted, GoesOn
//	42: Restart, rule spec.containers[0].restartPolicyRules[0] (rule_matched)
//	uses spec.containers[0].restartPolicyRules[0]
//	never spec.containers[0].restartPolicyRules[1]: earlier_rule_matched
//	size spec.containers[0].restartPolicyRules: 2, 2, 12, 162
//
// for a fleet:
//
//	fleet kubelet: 110 Pods on 1 nodes, 5 requests each: 550 restarts, 2750 requests until 300000
//	10000: 220 restarts, 1100 requests, 220 new
//	peak 110 in 10000 at 10000
//	steady 110 every 300000, 1833 requests a second in thousandths
//	client 50/100: backlog 450, drained 159000
//	group crashing: 110 Pods, Always, exit 1, runs 0: 550 restarts, ran 0, waiting 33000000, lost 0
//	Always, exit 1: 110 Pods, 550 restarts
//	ran 0, waiting 33000000, lost 0
//	gang of 110, restart 1: in place 119900000 (wait 10000, …), one …, all …, break-even 7
//	least 11000 for 50 a second: 50000
//
// for suggestions:
//
//	main shall restart: 42 137-140, disruption
//	suggestion, 1 rules with 2 values
//	  add /spec/containers/0/restartPolicyRules/0/exitCodes/values/1 137
//	  changes main 1-255: Stop → Restart
//	obstacle gate_off ContainerRestartRules
//	works in 1.35 1.36 1.37
//	does not work in 1.33 (ContainerRestartRules) 1.34 (ContainerRestartRules)
//
// for translations:
//
//	to kep-3329-draft, expressions: equivalent, 512 compared
//	lost spec.backoffPolicy.rules[1]: pod_reason, near it {"action":"Ignore",…}
//	main 1-12: Stop → Restart
//	manifest {"apiVersion":"batch/v1",…}
//
// for describe:
//
//	podfate, ABI 1.0, schema v1, Kubernetes 1.33 1.34 1.35 1.36 1.37, 1.37 by default
//	operation 3 decide
//	gate ContainerRestartRules: 1.34 Alpha off, 1.35 Beta on, 1.36 Beta on, 1.37 Beta on
//	gate NodeDeclaredFeatures: …, 1.37 GA on locked, needs nothing
//	proposal kep-3329-draft: draft, KEP-3329, first draft: Job backoff policy
//	  option exitZero: skipped, matched; skipped by default
//	limit requestBytes 1048576
//
// and for a simulation:
//
//	10s main Exited 42 Error: Restart, rule spec.containers[0].restartPolicyRules[0] (rule_matched)
//	10s main BackOff 10s until 20s
//	20s main Started 2
//	30m0s: Running
//	main: running, last terminated 42 Error, restartCount 2
//
// and for compare, with values as JSON without what decided:
//
//	compare table: today, 1.34, 1.33 refused
//	1.34: codes main 42: {"action":"Restart"} here {"action":"Stop","podFails":true}
//	1.33: fault spec.containers[0].restartPolicyRules: unknown_field
//	same false, equivalent false
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
	for _, t := range a.Templates {
		fmt.Fprintf(&b, "template %s of a %s", t.Path, t.Kind)
		if t.RestartPolicy != "" {
			fmt.Fprintf(&b, ", restartPolicy %s", t.RestartPolicy)
		}
		b.WriteString("\n")
	}
	if len(a.Templates) > 0 {
		for i := range a.Faults { // the API server speaks of what is made of the template
			if f := &a.Faults[i]; f.Message != "" {
				f.Message = f.Path + ": " + f.Message
			}
		}
	}
	if a.Valid != nil && *a.Valid {
		b.WriteString("valid\n")
	}
	if a.Message != "" {
		fmt.Fprintf(&b, "Kubernetes prints: %s\n", a.Message)
	}
	for _, d := range a.Decisions {
		reason := ""
		if d.Reason != "" {
			reason = " " + d.Reason
		}
		if d.Restarts != nil {
			reason += fmt.Sprintf(", restarted %d times", *d.Restarts)
		}
		fmt.Fprintf(&b, "%s exits %d%s: ", d.Container, d.ExitCode, reason)
		switch {
		case d.Undecided != nil:
			fmt.Fprintf(&b, "undecided, %s: %s\n", d.Undecided.Path, d.Undecided.Reason)
		case d.PodFails:
			fmt.Fprintf(&b, "%s and the Pod fails, %s %s (%s)\n", d.Action, d.DecidedBy.Level, d.DecidedBy.Path, proposed(d.Because, d.DecidedBy.Proposal))
		default:
			fmt.Fprintf(&b, "%s, %s %s (%s)\n", d.Action, d.DecidedBy.Level, d.DecidedBy.Path, proposed(d.Because, d.DecidedBy.Proposal))
		}
		for _, s := range d.Trace {
			ignored := ""
			if s.Ignored != "" {
				ignored = ", ignored: " + s.Ignored
			}
			fmt.Fprintf(&b, "  %s: %s (%s)%s\n", s.Path, s.Result, s.Code, ignored)
		}
		if d.Owner != nil {
			fmt.Fprintf(&b, "  the owner: %s\n", d.Owner)
		}
		if f := d.Failure; f != nil {
			fmt.Fprintf(&b, "  the Pod fails, %s, and nothing replaces it: %s\n", f.Action, f.Path)
		}
		if d.Row != nil {
			fmt.Fprintf(&b, "  row %v\n", d.Row)
		}
	}
	if a.Imperative {
		b.WriteString("imperative\n")
	}
	if a.Decisions != nil || a.PodDecisions != nil {
		b.WriteString(readings(a.Assumptions))
		b.WriteString(supposed(a.Assumptions))
	}
	for _, d := range a.PodDecisions {
		d.write(&b)
	}
	if j := a.JobDecision; j != nil {
		fmt.Fprintf(&b, "job: %d counted, %d ignored, %d not judged, backoffLimit %d", j.Counted, j.Ignored, j.NotJudged, j.BackoffLimit)
		if j.Restarts != nil {
			fmt.Fprintf(&b, ", %d restarts", *j.Restarts)
		}
		b.WriteString("\n")
		if f := j.Fails; f != nil {
			fmt.Fprintf(&b, "job fails, %s: %s\n", f.Reason, f.Message)
		}
		if s := j.Succeeds; s != nil {
			fmt.Fprintf(&b, "job succeeds, %s: %s\n", s.Reason, s.Message)
		}
	}
	if err := summarizeComparison(&b, raw); err != nil {
		return "", err
	}
	a.curve.write(&b)
	if err := summarizeTable(&b, raw); err != nil {
		return "", err
	}
	if err := summarizeFleet(&b, raw); err != nil {
		return "", err
	}
	a.suggestions.write(&b)
	if err := summarizeTranslation(&b, raw); err != nil {
		return "", err
	}
	if err := summarizeDescription(&b, raw); err != nil {
		return "", err
	}
	if err := summarizeSimulation(&b, raw); err != nil {
		return "", err
	}
	for _, f := range a.Faults {
		fmt.Fprintf(&b, "fault %s\n", f)
	}
	for _, u := range a.Undecided {
		if a.Valid != nil {
			fmt.Fprintf(&b, "undecided %s: %s\n", u.Path, u.Reason)
		}
	}
	for _, f := range a.Warnings {
		fmt.Fprintf(&b, "warning %s\n", f)
	}
	for _, f := range a.Dropped {
		fmt.Fprintf(&b, "dropped %s (%s)\n", f.Path, f.Gate)
	}
	return b.String(), nil
}

// curve is the answer of that operation.
type curve struct {
	Model   string
	Backoff *struct {
		InitialMillis, Factor, MaxMillis, ResetMillis, SweepMillis int64

		Preset      string
		WaitsMillis []int64
	}
	Run    struct{ ForMillis int64 }
	Starts []struct {
		Restart, AtMillis, DelayMillis int64
		Because                        string
	}
	Restarts    int64
	UntilMillis int64
	Windows     []struct{ UntilMillis, Restarts, NewRestarts int64 }
	LongestWait *struct{ Restart, AtMillis int64 }
	Steady      struct{ FromRestart, Restarts, PeriodMillis, RestartsPerHourThousandths int64 }
	Outage      *struct{ UntilMillis, Restart, BackAtMillis, LateMillis, BestMillis, GapMillis int64 }
	Peak        json.RawMessage // then it is a fleet
}

func (c curve) write(b *strings.Builder) {
	if c.Backoff == nil || c.Model == "" || c.Peak != nil {
		return
	}
	fmt.Fprintf(b, "curve %s: initial %d factor %d max %d reset %d sweep %d, runs %d\n", c.Model, c.Backoff.InitialMillis, c.Backoff.Factor,
		c.Backoff.MaxMillis, c.Backoff.ResetMillis, c.Backoff.SweepMillis, c.Run.ForMillis)
	if p := c.Backoff; p.Preset != "" {
		fmt.Fprintf(b, "waits of preset %s\n", p.Preset)
	}
	if list := c.Backoff.WaitsMillis; len(list) > 0 {
		fmt.Fprintf(b, "waits listed: %d\n", list)
	}
	for _, s := range c.Starts {
		if s.Restart > 0 {
			fmt.Fprintf(b, "restart %d at %d after %d (%s)\n", s.Restart, s.AtMillis, s.DelayMillis, s.Because)
		}
	}
	fmt.Fprintf(b, "%d restarts until %d\n", c.Restarts, c.UntilMillis)
	for _, w := range c.Windows {
		fmt.Fprintf(b, "%d: %d restarts, %d new\n", w.UntilMillis, w.Restarts, w.NewRestarts)
	}
	if c.LongestWait != nil {
		fmt.Fprintf(b, "longest wait first before restart %d at %d\n", c.LongestWait.Restart, c.LongestWait.AtMillis)
	}
	fmt.Fprintf(b, "from restart %d on %d every %d, %d an hour in thousandths\n", c.Steady.FromRestart, c.Steady.Restarts,
		c.Steady.PeriodMillis, c.Steady.RestartsPerHourThousandths)
	if o := c.Outage; o != nil {
		fmt.Fprintf(b, "needed from %d: back with restart %d at %d, late %d, best %d, gap %d\n",
			o.UntilMillis, o.Restart, o.BackAtMillis, o.LateMillis, o.BestMillis, o.GapMillis)
	}
}

// fate is a range of table.
type fate struct {
	From, To  int
	Action    string
	Because   string
	PodFails  bool
	DecidedBy struct{ Level, Path string }
	Undecided *struct{ Reason, Path string }
	Owner     *owner
	Job       *struct {
		PodPhase, Action, Outcome, Reason string
		Rule                              *int
		Counted, IndexFails               bool
		Undecided                         *struct{ Reason, Path string }
	}
}

func (f fate) write(b *strings.Builder) {
	switch {
	case f.Undecided != nil:
		fmt.Fprintf(b, "undecided, %s: %s\n", f.Undecided.Path, f.Undecided.Reason)
	case f.PodFails:
		fmt.Fprintf(b, "%s and the Pod fails, %s %s (%s)\n", f.Action, f.DecidedBy.Level, f.DecidedBy.Path, f.Because)
	default:
		fmt.Fprintf(b, "%s, %s %s (%s)\n", f.Action, f.DecidedBy.Level, f.DecidedBy.Path, f.Because)
	}
	if f.Owner != nil {
		fmt.Fprintf(b, "  the owner: %s\n", f.Owner)
	}
	j := f.Job
	if j == nil {
		return
	}
	if j.Undecided != nil {
		fmt.Fprintf(b, "  Job: undecided, %s: %s\n", j.Undecided.Path, j.Undecided.Reason)
		return
	}
	fmt.Fprintf(b, "  Job: %s", j.PodPhase)
	if j.Action != "" {
		rule := "default"
		if j.Rule != nil {
			rule = fmt.Sprintf("rule %d", *j.Rule)
		}
		fmt.Fprintf(b, ", %s, %s", j.Action, rule)
	}
	if j.Counted {
		b.WriteString(", counted")
	}
	if j.IndexFails {
		b.WriteString(", the index fails")
	}
	fmt.Fprintf(b, ", %s", j.Outcome)
	if j.Reason != "" {
		fmt.Fprintf(b, " (%s)", j.Reason)
	}
	b.WriteString("\n")
}

// tableRows are what exits lead to after some number of restarts.
type tableRows struct {
	Ranges, OomKilledRanges, Beyond []fate
	OomKilled                       *fate
}

func (t tableRows) write(b *strings.Builder) {
	list := func(ranges []fate, reason string) {
		for _, r := range ranges {
			if fmt.Fprint(b, r.From); r.To > r.From {
				fmt.Fprintf(b, "-%d", r.To)
			}
			b.WriteString(reason + ": ")
			r.write(b)
		}
	}
	list(t.Ranges, "")
	if t.OomKilled != nil {
		b.WriteString("0 OOMKilled: ")
		t.OomKilled.write(b)
	}
	list(t.OomKilledRanges, " OOMKilled")
	list(t.Beyond, "")
}

// table is the answer of that operation.
type table struct {
	Containers []struct {
		Template, Container, Path string
		tableRows
		Restarts []struct {
			From int
			To   *int
			tableRows
		}
	}
	UsesRules   []string
	LeftOut     string
	Unreachable []struct{ Path, Because string }
	Assumptions []string
	Sizes       []struct {
		Path                                  string
		Rules, Values, BinaryBytes, JSONBytes int
	}
}

func summarizeTable(b *strings.Builder, raw []byte) error {
	var own struct{ Unreachable json.RawMessage }
	if err := json.Unmarshal(raw, &own); err != nil || own.Unreachable == nil {
		return err // the answer is another operation's
	}
	var t table
	if err := json.Unmarshal(raw, &t); err != nil {
		return err
	}
	for _, c := range t.Containers {
		fmt.Fprintf(b, "table of %s at %s\n", c.Container, c.Path)
		if c.Restarts == nil {
			c.write(b)
		}
		for _, r := range c.Restarts {
			if r.To == nil {
				fmt.Fprintf(b, "after %d restarts and more\n", r.From)
			} else {
				fmt.Fprintf(b, "after %d to %d restarts\n", r.From, *r.To)
			}
			r.write(b)
		}
	}
	for _, path := range t.UsesRules {
		fmt.Fprintf(b, "uses %s\n", path)
	}
	for _, u := range t.Unreachable {
		fmt.Fprintf(b, "never %s: %s\n", u.Path, u.Because)
	}
	if t.LeftOut != "" {
		fmt.Fprintf(b, "left out: %s\n", t.LeftOut)
	}
	for _, s := range t.Sizes {
		fmt.Fprintf(b, "size %s: %d, %d, %d, %d\n", s.Path, s.Rules, s.Values, s.BinaryBytes, s.JSONBytes)
	}
	b.WriteString(readings(t.Assumptions))
	b.WriteString(supposed(t.Assumptions))
	return nil
}

// summarizeTranslation writes what translate answers; nothing for other operations.
func summarizeTranslation(b *strings.Builder, raw []byte) error {
	var t struct {
		To, Spelling          string
		Accepted, TablesAgree *bool
		Equivalent            bool
		Compared              int
		Manifest              json.RawMessage
		DroppedThen           []struct{ Path, Gate string }
		Lost                  []struct {
			Path, Because string
			Hint          json.RawMessage
		}
		Differences []struct {
			Container, Reason string
			From, To          int
			Restarts          *int
			Was, Becomes      fate
		}
	}
	if !strings.HasPrefix(string(raw), `{"to":`) {
		return nil
	}
	if err := json.Unmarshal(raw, &t); err != nil {
		return err
	}
	verdict := "refused"
	switch {
	case t.TablesAgree == nil:
	case t.Equivalent:
		verdict = "equivalent"
	case *t.TablesAgree:
		verdict = "the tables agree"
	default:
		verdict = "different"
	}
	if t.Spelling != "" {
		t.To += ", " + t.Spelling
	}
	fmt.Fprintf(b, "to %s: %s, %d compared\n", t.To, verdict, t.Compared)
	for _, x := range t.Lost {
		fmt.Fprintf(b, "lost %s: %s", x.Path, x.Because)
		if x.Hint != nil {
			fmt.Fprintf(b, ", near it %s", x.Hint)
		}
		b.WriteString("\n")
	}
	for _, x := range t.Differences {
		fmt.Fprintf(b, "%s %d-%d", x.Container, x.From, x.To)
		if x.Reason != "" {
			b.WriteString(" " + x.Reason)
		}
		if x.Restarts != nil {
			fmt.Fprintf(b, " after %d", *x.Restarts)
		}
		fmt.Fprintf(b, ": %s → %s\n", x.Was.end(), x.Becomes.end())
	}
	for _, x := range t.DroppedThen {
		fmt.Fprintf(b, "then dropped %s (%s)\n", x.Path, x.Gate)
	}
	fmt.Fprintf(b, "manifest %s\n", t.Manifest)
	return nil
}

// suggestions are the answer of suggest.
type suggestions struct {
	Container string
	Already   *bool
	Wishes    []struct {
		To         string
		Ranges     []struct{ From, To int }
		Disruption bool
	}
	Suggestions []suggested
	Obstacle    *struct{ Because, Gate string }
	Versions    json.RawMessage // of describe, these are texts
}

// suggested is a change of a manifest.
type suggested struct {
	Edits []struct {
		Op, Path string
		Value    json.RawMessage
	}
	Rules, Values int
	Shortest      bool
	Changes       []struct {
		Container    string
		From, To     int
		Was, Becomes fate
	}
}

func (s suggestions) write(b *strings.Builder) {
	if s.Already == nil {
		return // the answer is another operation's
	}
	for _, w := range s.Wishes {
		fmt.Fprintf(b, "%s shall %s:", s.Container, w.To)
		for _, r := range w.Ranges {
			if fmt.Fprintf(b, " %d", r.From); r.To > r.From {
				fmt.Fprintf(b, "-%d", r.To)
			}
		}
		if w.Disruption {
			b.WriteString(" disruption")
		}
		b.WriteString("\n")
	}
	if *s.Already {
		b.WriteString("already\n")
	}
	for _, s := range s.Suggestions {
		b.WriteString("suggestion, ")
		s.write(b)
	}
	if o := s.Obstacle; o != nil {
		fmt.Fprintf(b, "obstacle %s\n", strings.TrimSpace(o.Because+" "+o.Gate))
	}
	var versions []struct {
		Version          string
		Works            bool
		Gate             string
		Refused, Already bool
		Shortest         *bool
		Suggestion       *suggested
		Obstacle         *struct{ Because, Gate string }
	}
	_ = json.Unmarshal(s.Versions, &versions) // none for a node of its own
	line := func(name string, holds func(i int) bool) {
		text := ""
		for i, v := range versions {
			if holds(i) {
				if text += " " + v.Version; v.Gate != "" && !v.Works {
					text += " (" + v.Gate + ")"
				}
			}
		}
		if text != "" {
			b.WriteString(name + text + "\n")
		}
	}
	line("works in", func(i int) bool { return versions[i].Works })
	line("does not work in", func(i int) bool { return !versions[i].Works })
	line("refused in", func(i int) bool { return versions[i].Refused })
	line("is so already in", func(i int) bool { return versions[i].Already })
	line("nothing is shorter in", func(i int) bool { return versions[i].Shortest != nil && *versions[i].Shortest })
	for _, v := range versions {
		if v.Suggestion != nil {
			fmt.Fprintf(b, "in %s: ", v.Version)
			v.Suggestion.write(b)
		}
		if o := v.Obstacle; o != nil {
			fmt.Fprintf(b, "in %s: obstacle %s\n", v.Version, strings.TrimSpace(o.Because+" "+o.Gate))
		}
	}
}

func (s *suggested) write(b *strings.Builder) {
	shortest := ""
	if s.Shortest {
		shortest = ", and nothing is shorter"
	}
	fmt.Fprintf(b, "%d rules with %d values%s\n", s.Rules, s.Values, shortest)
	for _, e := range s.Edits {
		fmt.Fprintf(b, "  %s %s %s\n", e.Op, e.Path, e.Value)
	}
	for _, c := range s.Changes {
		fmt.Fprintf(b, "  changes %s %d-%d: %s → %s\n", c.Container, c.From, c.To, c.Was.end(), c.Becomes.end())
	}
}

// owner is what the owner of another kind does about a failed Pod.
type owner struct {
	Action, Undecided, Path string
	Limit                   int
}

func (o *owner) String() string {
	text := o.Action
	if o.Undecided != "" {
		text = "undecided, " + o.Undecided
	}
	if o.Limit > 0 {
		text += fmt.Sprintf(" at most %d times", o.Limit)
	}
	if o.Path != "" {
		text += " (" + o.Path + ")"
	}
	return text
}

// end is what an exit leads to in a few words.
func (f fate) end() string {
	text := f.Action
	if f.Undecided != nil {
		text = "undecided"
	}
	if f.PodFails {
		text += ", the Pod fails"
	}
	if f.Owner != nil {
		text += ", the owner: " + f.Owner.String()
	}
	if j := f.Job; j != nil && j.Undecided == nil {
		text += ", " + strings.TrimSpace(j.PodPhase+" "+j.Action)
		if j.Counted {
			text += ", counted"
		}
		text += ", " + j.Outcome
	}
	return text
}
