package policy

// Result is what one part of the manifest contributed to a decision.
type Result string

// The results.
const (
	Matched    Result = "matched"     // it applies
	NotMatched Result = "not_matched" // it was looked at and does not apply
	Skipped    Result = "skipped"     // Kubernetes ignores it
	NotReached Result = "not_reached" // something before it had decided, or ended the search
)

// StepCode says why a step has its result.
type StepCode string

// The codes of steps. A step that decided has the decision's [Because] as its code, unless it is a
// rule.
const (
	StepIn              StepCode = "in"                   // the exit code is among the values
	StepNotIn           StepCode = "not_in"               // the exit code is not among the values
	StepNoExitCodes     StepCode = "no_exit_codes"        // the rule has no exitCodes
	StepUnknownOperator StepCode = "unknown_operator"     // no modelled release knows the operator
	StepUnknownPolicy   StepCode = "unknown_policy"       // Kubernetes does not know the policy
	StepGateOff         StepCode = "gate_off"             // ContainerRestartRules is off: the kubelet ignores the field
	StepNotSet          StepCode = "not_set"              // the field is absent
	StepEarlierRule     StepCode = "earlier_rule_matched" // an earlier rule has matched
	StepDecided         StepCode = "already_decided"      // an earlier step has decided
	StepNotConsulted    StepCode = "not_consulted"        // no policy is needed for this kind of container or this end

	// About the conditions that proposals have.

	StepRestarts      StepCode = "restart_count"       // the container was restarted as often as the rule requires
	StepOtherRestarts StepCode = "other_restart_count" // the container was not restarted as often as the rule requires
	StepOOMKilled     StepCode = "oom_killed"          // the exit is an OOM kill, which the rule requires
	StepNotOOMKilled  StepCode = "not_oom_killed"      // the rule requires an OOM kill, and this is not one
	StepPodDecides    StepCode = "pod_decides"         // by the chosen reading, the Pod's policy decides
	StepFewerRestarts StepCode = "limit_not_reached"   // the limit on restarts is not reached
	StepNoRestart     StepCode = "no_restart_follows"  // nothing is restarted after it
)

// Step is one part of the manifest in the order in which the kubelet looks at it.
type Step struct {
	Level   Level // LevelDefault: the container as such
	Rule    int   // index of the rule for LevelRule, else -1
	Result  Result
	Code    StepCode
	Ignored Ignored // a rule that matched and still did not decide
}

// Trace explains the decision about e of container r of spec under f: every rule in order, the
// container's policy, the Pod's, and at the end the container itself if none of them decided. The
// decision is that of [Policy.Decide]. Trace looks at spec itself: for one exit it costs less than
// [Compile], for many more.
func Trace(spec *PodSpec, f Features, r Ref, e Exit) (Decision, []Step) {
	c := spec.Container(r)
	steps, matched := traceRules(c, r.Kind, f, e)
	j := judge{c, r.Kind, spec.RestartPolicy, f}
	d := j.decide(matched, e)
	if matched >= 0 {
		steps[matched].Ignored = d.Ignored
	}
	policies := [2]Step{
		{Level: LevelContainer, Rule: -1, Result: NotReached, Code: StepDecided},
		{Level: LevelPod, Rule: -1, Result: NotReached, Code: StepDecided},
	}
	switch d.Level {
	case LevelContainer:
		policies[0].decided(d)
	case LevelPod:
		policies[0] = j.containerPassedOver()
		policies[1].decided(d)
	case LevelDefault:
		policies[0] = j.containerPassedOver()
		policies[1] = Step{Level: LevelPod, Rule: -1, Result: Skipped, Code: StepNotSet}
		if spec.RestartPolicy != "" {
			policies[1].Code = StepUnknownPolicy
		}
		if d.Because == BecauseInitCompleted || d.Because == BecauseEphemeral {
			policies[0].Result, policies[0].Code = Skipped, StepNotConsulted
			policies[1].Code = StepNotConsulted
		}
	}
	steps = append(steps, policies[0], policies[1])
	if d.Level == LevelDefault {
		steps = append(steps, Step{Level: LevelDefault, Rule: -1, Result: Matched, Code: StepCode(d.Because)})
	}
	limit, limited := spec.restartLimit(f)
	if !limited || r.Kind == EphemeralContainer {
		return d, steps
	}
	last := Step{Level: LevelLimit, Rule: -1, Result: NotMatched, Code: StepFewerRestarts}
	switch {
	case !d.Action.Again():
		last.Code = StepNoRestart
	case e.counted(f) >= limit:
		d = d.limited()
		if last.decided(d); matched >= 0 {
			steps[matched].Ignored = d.Ignored
		}
	}
	return d, append(steps, last)
}

func (s *Step) decided(d Decision) { s.Result, s.Code = Matched, StepCode(d.Because) }

// containerPassedOver says why the container's own policy did not decide.
func (j judge) containerPassedOver() Step {
	s := Step{Level: LevelContainer, Rule: -1, Result: Skipped, Code: StepNotSet}
	switch {
	case j.c.RestartPolicy == nil:
	case !j.f.ContainerRestartRules:
		s.Code = StepGateOff
	case j.ownPolicy() == nil:
		s.Code = StepPodDecides
	default:
		s.Code = StepUnknownPolicy
	}
	return s
}

// traceRules walks the rules as the kubelet does and returns the index of the first that matches,
// or -1.
//
// Source: FindMatchingContainerRestartRule in pkg/api/v1/pod/util.go, Kubernetes v1.34 to v1.37.
func traceRules(c *Container, kind ContainerKind, f Features, e Exit) ([]Step, int) {
	rules := c.RestartPolicyRules[:min(len(c.RestartPolicyRules), MaxRules)]
	steps := make([]Step, 0, len(rules)+3)
	matched := -1
	for i := range rules {
		rule := &rules[i]
		s := Step{Level: LevelRule, Rule: i}
		switch {
		case !f.ContainerRestartRules:
			s.Result, s.Code = Skipped, StepGateOff
		case kind == EphemeralContainer:
			s.Result, s.Code = Skipped, StepNotConsulted
		case matched >= 0:
			s.Result, s.Code = NotReached, StepEarlierRule
		default:
			s.Result, s.Code = rule.matchExit(f, e)
			if s.Result == Matched {
				matched = i
			}
		}
		steps = append(steps, s)
	}
	return steps, matched
}

func (r ContainerRestartRule) match(code int32) (Result, StepCode) {
	if r.ExitCodes == nil {
		return Skipped, StepNoExitCodes
	}
	found := StepNotIn
	for _, v := range r.ExitCodes.Values {
		if v == code {
			found = StepIn
			break
		}
	}
	switch {
	case r.ExitCodes.Operator == OperatorIn && found == StepIn, r.ExitCodes.Operator == OperatorNotIn && found == StepNotIn:
		return Matched, found
	case r.ExitCodes.Operator == OperatorIn, r.ExitCodes.Operator == OperatorNotIn:
		return NotMatched, found
	}
	return Skipped, StepUnknownOperator
}
