package policy

import (
	"strconv"
	"strings"
)

// DraftRule is what a rule of the draft of KEP-3329 says beside what [PodFailurePolicyRule] holds.
type DraftRule struct {
	Conditions int      // how many conditions there are
	At         string   // path of the condition in the rule
	Faults     []string // what is wrong with its texts
	Action     string   // the draft's word
	NamedAt    string   // path of a containerName that is next to a reason, "" for none
	Operator   string   // one that is neither In nor NotIn, "" for none
}

// draftActions are the actions of the draft.
const draftActions = "Ignore Terminate"

// CodeRanges reads exit codes such as "1-12,100-127" into set, with spaces where people put them,
// and returns what is wrong with them, "" for nothing.
func CodeRanges(text string, set *[256]bool) (fault string) {
	for rest, more := text, true; more; {
		var part string
		if part, rest, more = strings.Cut(rest, ","); strings.TrimSpace(part) == "" {
			return "a code or a range is missing in " + quoted(text)
		}
		from, to, isRange := strings.Cut(part, "-")
		low, err := strconv.Atoi(strings.TrimSpace(from))
		high := low
		if err == nil && isRange {
			high, err = strconv.Atoi(strings.TrimSpace(to))
		}
		switch {
		case err != nil || low < 0 || high > 255:
			return quoted(strings.TrimSpace(part)) + " is no exit code from 0 to 255 and no range of them, such as 1-12"
		case low > high:
			return "the range " + quoted(strings.TrimSpace(part)) + " goes down"
		}
		for code := low; code <= high; code++ {
			set[code] = true
		}
	}
	return ""
}

// RulesField returns the path of the rules on failed Pods in the spec of the Job.
func (j *Job) RulesField() string {
	if j.PodFailurePolicy != nil && j.PodFailurePolicy.Draft {
		return "backoffPolicy.rules"
	}
	return "podFailurePolicy.rules"
}

// draftRules checks a backoffPolicy.
func (v *jobValidator) draftRules(spec *PodSpec) {
	before := len(v.faults.kept)
	if v.j.BothPolicies {
		v.forbidden(v.at+"backoffPolicy", "stands beside podFailurePolicy; a Job has one of them")
	}
	path := v.at + "backoffPolicy.rules"
	rules := v.j.PodFailurePolicy.Rules
	v.tooMany("backoffPolicy.rules", len(rules), MaxJobRules)
	for i := range rules {
		rule := &rules[i]
		d := rule.Written
		v.at = path + Index(i)
		v.oneOf(".action", d.Action, draftActions)
		switch {
		case d.Conditions == 0:
			v.missing("", "one condition is required, on exit codes or on the reason of the Pod")
		case d.Conditions > 1:
			v.bad("", omitted, "a rule has one condition, found "+strconv.Itoa(d.Conditions))
		}
		if d.NamedAt != "" {
			v.forbidden(v.at+d.NamedAt, "counts only beside exit codes")
		}
		if d.Operator != "" {
			v.supported(d.At, d.Operator, "In NotIn")
		}
		for _, fault := range d.Faults {
			v.bad(d.At, omitted, fault)
		}
		if on := rule.OnExitCodes; on != nil && on.ContainerName != nil && !spec.hasOther(*on.ContainerName) {
			v.bad(".containerName", quoted(*on.ContainerName), "must be one of the container or initContainer names in the pod template")
		}
	}
	v.unworded(before, KEP3329Draft)
}

// holds reports whether a condition on the reason of a Pod holds for reason.
func (c *PodReasons) holds(reason string) bool {
	found := false
	for _, v := range c.Values {
		found = found || v == reason
	}
	return found == (c.Operator == OperatorIn)
}

// podFailurePolicy checks the policy that a Pod has by the proposal [FailurePolicyAnywhere]. There
// is no Job that it could end.
func (v *validator) podFailurePolicy(spec *PodSpec, prefix string) {
	before := len(v.faults.kept)
	j := &jobValidator{v, prefix, &Job{PodFailurePolicy: spec.PodFailurePolicy}}
	for i, rule := range spec.PodFailurePolicy.Rules {
		if rule.Action == ActionFailJob || rule.Action == ActionFailIndex {
			v.forbidden(prefix+"podFailurePolicy.rules"+Index(i)+".action", string(rule.Action)+" is about a Job, and a Pod has none")
		}
	}
	j.failureRules(spec)
	v.unworded(before, FailurePolicyAnywhere)
}
