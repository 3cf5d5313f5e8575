package admission

import (
	"github.com/podfate/podfate/policy"
)

// draftActions are the actions of the draft.
const draftActions = "Ignore Terminate"

// draftConditions are the conditions of a rule of the draft, in its three spellings.
const draftConditions = "containerExitCodeIn containerExitCodeNotIn podStatusReasonIn podStatusReasonNotIn onContainerExitCode onPodStatus"

// draftRules checks a backoffPolicy.
func (v *jobValidator) draftRules(spec *policy.PodSpec) {
	before := len(v.Faults.Kept())
	if v.j.BothPolicies {
		v.forbidden(v.at+"backoffPolicy", "is set next to podFailurePolicy; a Job has one of them")
	}
	path := v.at + "backoffPolicy.rules"
	rules := v.j.PodFailurePolicy.Rules
	v.tooMany("backoffPolicy.rules", len(rules), MaxJobRules)
	for i := range rules {
		rule := &rules[i]
		d := rule.Written
		v.at = path + policy.Index(i)
		v.oneOf(".action", d.Action, draftActions)
		v.oneCondition(v.at, d.Conditions, draftConditions)
		if d.NamedAt != "" {
			v.forbidden(v.at+d.NamedAt, "counts only together with exit codes")
		}
		for _, fault := range d.Faults {
			if fault.Operator != "" {
				v.supported(fault.At, fault.Operator, "In NotIn")
			} else {
				v.bad(fault.At, policy.Omitted, fault.Detail)
			}
		}
		if on := rule.OnExitCodes; on != nil && on.ContainerName != nil && !hasOther(spec, *on.ContainerName) {
			v.bad(rule.NamePath(), policy.Quoted(*on.ContainerName), "must be one of the container or initContainer names in the pod template")
		}
	}
	v.unworded(before, policy.KEP3329Draft)
}

// podFailurePolicy checks the policy that a Pod has by the proposal [FailurePolicyAnywhere]. There
// is no Job that it could end.
func (v *validator) podFailurePolicy(spec *policy.PodSpec, prefix string) {
	before := len(v.Faults.Kept())
	j := &jobValidator{v, prefix, &policy.Job{PodFailurePolicy: spec.PodFailurePolicy}}
	for i, rule := range spec.PodFailurePolicy.Rules {
		if rule.Action == policy.ActionFailJob || rule.Action == policy.ActionFailIndex {
			v.forbidden(prefix+"podFailurePolicy.rules"+policy.Index(i)+".action", string(rule.Action)+" is about a Job, and a Pod has none")
		}
	}
	j.failureRules(spec)
	v.unworded(before, policy.FailurePolicyAnywhere)
}
