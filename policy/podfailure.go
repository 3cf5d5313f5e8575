package policy

import "strconv"

// PodExit is a container that the status of a Pod shows as terminated. Containers that wait or run,
// and how they ended before, do not matter to a Job.
type PodExit struct {
	Container string
	Code      int32
}

// PodCondition is a condition in the status of a Pod.
type PodCondition struct{ Type, Status string }

// FailedPod is what a podFailurePolicy looks at in the status of a failed Pod.
type FailedPod struct {
	// Exits are the terminated containers of containerStatuses, then those of
	// initContainerStatuses, each in the order of its list: the kubelet sorts the first by name and
	// keeps the second as in the spec. Ephemeral ones never count.
	Exits      []PodExit
	Conditions []PodCondition // in the order of the status
	Reason     string         // status.reason; only the proposal [KEP3329Draft] asks for it
}

// PodFailureMatch is what a podFailurePolicy says about a failed Pod.
type PodFailureMatch struct {
	Action PodFailureAction // "" if no rule matched
	Rule   int32            // the first rule that matched, -1 if none did
	// At is the index in Exits or in Conditions, as the rule asks for, of the first that the rule
	// matched; -1 without a rule.
	At        int32
	Condition bool // At is an index in Conditions
	Reason    bool // the rule matched the reason of the Pod
}

// Counted reports whether the failure counts towards backoffLimit and backoffLimitPerIndex.
func (m PodFailureMatch) Counted() bool { return m.Action != ActionIgnore }

// Message returns the text with which the Job fails because of m, a match of p with this name; ""
// for any action but FailJob.
//
// Source: matchPodFailurePolicy in pkg/controller/job/pod_failure_policy.go, Kubernetes v1.33 to
// v1.37.
func (m PodFailureMatch) Message(p *FailedPod, namespace, name string) string {
	if m.Action != ActionFailJob {
		return ""
	}
	pod := namespace + "/" + name
	rule := " matching " + string(m.Action) + " rule at index " + strconv.Itoa(int(m.Rule))
	if m.Reason {
		return "Pod " + pod + " has reason " + p.Reason + rule
	}
	if m.Condition {
		return "Pod " + pod + " has condition " + p.Conditions[m.At].Type + rule
	}
	exit := p.Exits[m.At]
	return "Container " + exit.Container + " for pod " + pod + " failed with exit code " + strconv.Itoa(int(exit.Code)) + rule
}

// FailurePolicy is a compiled [PodFailurePolicy]: for each container name that rules use, and for
// all other names, the first rule that an exit code matches is worked out, and so it is for each
// condition. It is immutable; any number of goroutines may use it.
type FailurePolicy struct {
	actions    []PodFailureAction // of the rules
	names      names              // of containers; table i+1 answers for name i, table 0 for all others
	tables     []codeTable
	types      names // of conditions
	conditions [][]conditionRule
	reasons    []podReasonRule
	zero       bool // exit code 0 is looked at
	evicted    bool // see [PodFailurePolicy.Evicted]
}

// podReasonRule is a rule that asks for reasons.
type podReasonRule struct {
	all  []PodReasons
	rule uint16 // plus 1
}

// Reason returns what rules of p see as the reason of a Pod.
func (p *PodFailurePolicy) reason(given string) string {
	if p.Evicted && given == reasonEvicted {
		return "NodePressureEviction"
	}
	return given
}

const reasonEvicted = "Evicted"

// conditionRule is the first rule for a condition with this status.
type conditionRule struct {
	status string
	rule   uint16 // plus 1
}

// CompileFailurePolicy prepares matching with p, nil for none, as the API server stored it: nothing
// is defaulted. At most [MaxRules] rules are looked at. A rule with an unknown action or operator
// matches nothing, one without a condition neither. The result keeps nothing of p but strings.
func CompileFailurePolicy(p *PodFailurePolicy) *FailurePolicy {
	c := &FailurePolicy{}
	var rules []PodFailurePolicyRule
	if p != nil {
		rules = p.Rules[:min(len(p.Rules), MaxRules)]
		c.zero, c.evicted = p.Zero, p.Evicted
	}
	for i := range rules {
		rule := &rules[i]
		c.actions = append(c.actions, rule.Action)
		switch {
		case !rule.Action.Known():
		case rule.OnExitCodes != nil:
			if name := rule.OnExitCodes.ContainerName; name != nil {
				c.names.add(*name)
			}
		case rule.Reasons != nil:
			c.reasons = append(c.reasons, podReasonRule{rule.Reasons, uint16(i + 1)})
		default:
			c.addConditions(rule.OnPodConditions, uint16(i+1))
		}
	}
	c.tables = make([]codeTable, len(c.names.list)+1)
	on := make([]ContainerRestartRule, len(rules))
	for i := range c.tables {
		for j := range rules {
			on[j].ExitCodes = nil
			if e := rules[j].OnExitCodes; e != nil && rules[j].Action.Known() &&
				(e.ContainerName == nil || i > 0 && *e.ContainerName == c.names.list[i-1]) {
				on[j].ExitCodes = &ContainerRestartRuleOnExitCodes{e.Operator, e.Values}
			}
		}
		c.tables[i].findFirst(on)
	}
	return c
}

// PodFailureActions are the actions that a rule of a podFailurePolicy may have, with spaces between
// them.
const PodFailureActions = "Count FailIndex FailJob Ignore"

// Known reports whether some modelled release knows the action.
func (a PodFailureAction) Known() bool {
	return HasWord(PodFailureActions, string(a))
}

func (c *FailurePolicy) addConditions(patterns []PodConditionPattern, number uint16) {
	for _, p := range patterns {
		i := c.types.add(p.Type)
		if i == len(c.conditions) {
			c.conditions = append(c.conditions, nil)
		}
		if firstRule(c.conditions[i], p.Status) == 0 {
			c.conditions[i] = append(c.conditions[i], conditionRule{p.Status, number})
		}
	}
}

func firstRule(list []conditionRule, status string) uint16 {
	for i := range list {
		if list[i].status == status {
			return list[i].rule
		}
	}
	return 0
}

// UsesConditions reports whether any rule looks at the conditions of a Pod.
func (c *FailurePolicy) UsesConditions() bool { return len(c.conditions) > 0 }

// Match reports which rule decides about p, a Pod that has failed: the first that matches. A rule
// on exit codes matches if any terminated container that it is about ended with a code that is not
// 0 and that its operator admits; a rule on conditions if the Pod has one of them with that status.
//
// It allocates nothing, and its cost does not depend on the number of rules and values.
//
// Source: matchPodFailurePolicy in pkg/controller/job/pod_failure_policy.go, Kubernetes v1.33 to
// v1.37.
func (c *FailurePolicy) Match(p *FailedPod) PodFailureMatch {
	// The first rule that one container or condition matches is known; the first of all is the
	// least of those. Of those that share it, the first is the one that Kubernetes finds, too.
	first, at, condition := uint16(0), 0, false
	if len(c.actions) == 0 {
		return PodFailureMatch{Rule: -1, At: -1}
	}
	for i := range p.Exits {
		e := &p.Exits[i]
		if e.Code == 0 && !c.zero {
			continue
		}
		if rule := c.tables[c.names.find(e.Container)+1].rule(e.Code); rule != 0 && (first == 0 || rule < first) {
			first, at = rule, i
		}
	}
	if len(c.conditions) > 0 {
		for i := range p.Conditions {
			n := c.types.find(p.Conditions[i].Type)
			if n < 0 {
				continue
			}
			if rule := firstRule(c.conditions[n], p.Conditions[i].Status); rule != 0 && (first == 0 || rule < first) {
				first, at, condition = rule, i, true
			}
		}
	}
	for i := range c.reasons {
		r := &c.reasons[i]
		if (first == 0 || r.rule < first) && allHold(r.all, (&PodFailurePolicy{Evicted: c.evicted}).reason(p.Reason)) {
			return PodFailureMatch{Action: c.actions[r.rule-1], Rule: int32(r.rule) - 1, Reason: true}
		}
	}
	if first == 0 {
		return PodFailureMatch{Rule: -1, At: -1}
	}
	return PodFailureMatch{Action: c.actions[first-1], Rule: int32(first) - 1, At: int32(at), Condition: condition}
}

func allHold(all []PodReasons, reason string) bool {
	for i := range all {
		if !all[i].holds(reason) {
			return false
		}
	}
	return true
}

// names numbers texts from 0. The zero value is empty.
type names struct {
	list []string
	slot [64]uint16 // number plus 1 of the last text of this hash
	next []uint16   // of the text before it of the same hash
}

func (n *names) add(s string) int {
	if i := n.find(s); i >= 0 {
		return i
	}
	h := nameHash(s)
	n.list = append(n.list, s)
	n.next = append(n.next, n.slot[h])
	n.slot[h] = uint16(len(n.list))
	return len(n.list) - 1
}

// find returns the number of s, -1 if it has none.
func (n *names) find(s string) int {
	for i := int(n.slot[nameHash(s)]) - 1; i >= 0; i = int(n.next[i]) - 1 {
		if n.list[i] == s {
			return i
		}
	}
	return -1
}

// nameHash tells names of containers apart by what usually differs: length, first and last letters.
func nameHash(s string) int {
	if s == "" {
		return 0
	}
	return (len(s)*5 + int(s[0])*17 + int(s[len(s)-1])*11 + int(s[len(s)/2])) & 63
}

// The codes of steps of a failure policy, besides [StepIn], [StepNotIn] and [StepUnknownOperator].
const (
	StepNoTerminated  StepCode = "no_terminated_container" // no container that the rule is about has terminated
	StepOnlyZero      StepCode = "exit_codes_zero"         // all containers that have terminated exited with 0
	StepCondition     StepCode = "condition"               // the Pod has one of the conditions
	StepNoCondition   StepCode = "no_such_condition"       // the Pod has no such condition
	StepOtherStatus   StepCode = "other_status"            // the condition has another status
	StepUnknownAction StepCode = "unknown_action"          // no modelled release knows the action
	StepNoRequirement StepCode = "no_requirement"          // the rule has neither exit codes nor conditions
	StepReason        StepCode = "reason"                  // the Pod has one of the reasons
	StepOtherReason   StepCode = "other_reason"            // the exit has another reason
)

// ExplainFailure reports what each rule of p contributes to the decision about pod, whose match
// [FailurePolicy.Match] returns, in the order in which the Job controller looks at them.
func ExplainFailure(p *PodFailurePolicy, pod *FailedPod, match PodFailureMatch) []Step {
	if p == nil {
		return nil
	}
	steps := make([]Step, min(len(p.Rules), MaxRules))
	for i := range steps {
		s := Step{Level: LevelRule, Rule: i, Result: NotReached, Code: StepEarlierRule}
		if match.Rule < 0 || i <= int(match.Rule) {
			s.Result, s.Code = p.Rules[i].explain(pod, p)
			if s.Result == Matched && !p.Rules[i].Action.Known() {
				s.Result, s.Code = Skipped, StepUnknownAction
			}
		}
		steps[i] = s
	}
	return steps
}

func (r *PodFailurePolicyRule) explain(pod *FailedPod, p *PodFailurePolicy) (Result, StepCode) {
	on := r.OnExitCodes
	if on == nil && r.Reasons != nil {
		if allHold(r.Reasons, p.reason(pod.Reason)) {
			return Matched, StepReason
		}
		return NotMatched, StepOtherReason
	}
	if on == nil && r.OnPodConditions == nil {
		return Skipped, StepNoRequirement
	}
	if on == nil {
		code := StepNoCondition
		for _, c := range pod.Conditions {
			for _, p := range r.OnPodConditions {
				if c.Type == p.Type {
					if code = StepOtherStatus; c.Status == p.Status {
						return Matched, StepCondition
					}
				}
			}
		}
		return NotMatched, code
	}
	code := StepNoTerminated
	rule := ContainerRestartRule{ExitCodes: &ContainerRestartRuleOnExitCodes{on.Operator, on.Values}}
	for _, e := range pod.Exits {
		switch {
		case on.ContainerName != nil && *on.ContainerName != e.Container:
		case e.Code == 0 && !p.Zero:
			if code == StepNoTerminated {
				code = StepOnlyZero
			}
		default:
			var result Result
			if result, code = rule.match(e.Code); result != NotMatched {
				return result, code
			}
		}
	}
	return NotMatched, code
}
