package manifest

import "github.com/podfate/podfate/policy"

// readJob reads the spec of a Job, without any default: what is absent or null is nil.
func readJob(spec Value) *policy.Job {
	j := &policy.Job{
		Parallelism:             readInt32(spec.Get("parallelism")),
		Completions:             readInt32(spec.Get("completions")),
		ActiveDeadlineSeconds:   readInt64(spec.Get("activeDeadlineSeconds")),
		BackoffLimit:            readInt32(spec.Get("backoffLimit")),
		TTLSecondsAfterFinished: readInt32(spec.Get("ttlSecondsAfterFinished")),
		BackoffLimitPerIndex:    readInt32(spec.Get("backoffLimitPerIndex")),
		MaxFailedIndexes:        readInt32(spec.Get("maxFailedIndexes")),
		ManagedBy:               readText(spec.Get("managedBy")),
		CompletionMode:          (*policy.CompletionMode)(readText(spec.Get("completionMode"))),
		PodReplacementPolicy:    (*policy.PodReplacementPolicy)(readText(spec.Get("podReplacementPolicy"))),
		PodFailurePolicy:        readPodFailurePolicy(spec),
		SuccessPolicy:           readSuccessPolicy(spec.Get("successPolicy")),
	}
	if v := spec.Get("suspend"); v.Kind() == Bool {
		suspend := v.Bool()
		j.Suspend = &suspend
	}
	return j
}

// readPodFailurePolicy reads the failure policy of a Job's spec. It has one dialect, that of batch/v1; the drafts of
// KEP-3329 and the policies of other controllers are to be told apart and translated here.
func readPodFailurePolicy(spec Value) *policy.PodFailurePolicy {
	v := spec.Get("podFailurePolicy")
	if v.Kind() != Object {
		return nil
	}
	list := v.Get("rules")
	p := &policy.PodFailurePolicy{}
	if list.Kind() == Array {
		p.Rules = make([]policy.PodFailurePolicyRule, 0, list.Len())
	}
	for v := list.First(); v.Exists(); v = v.Next() {
		rule := policy.PodFailurePolicyRule{Action: policy.PodFailureAction(v.Get("action").Text())}
		if on := v.Get("onExitCodes"); on.Kind() == Object {
			rule.OnExitCodes = &policy.PodFailurePolicyOnExitCodes{
				ContainerName: readText(on.Get("containerName")),
				Operator:      policy.ExitCodesOperator(on.Get("operator").Text()),
				Values:        readInt32s(on.Get("values")),
			}
			if values := on.Get("values"); values.Kind() == Array && values.Len() == 0 {
				rule.OnExitCodes.Values = []int32{} // a fault prints it otherwise than an absent list
			}
		}
		if on := v.Get("onPodConditions"); on.Kind() == Array {
			rule.OnPodConditions = make([]policy.PodConditionPattern, 0, on.Len())
			for c := on.First(); c.Exists(); c = c.Next() {
				rule.OnPodConditions = append(rule.OnPodConditions, policy.PodConditionPattern{Type: c.Get("type").Text(), Status: c.Get("status").Text()})
			}
		}
		p.Rules = append(p.Rules, rule)
	}
	return p
}

func readSuccessPolicy(v Value) *policy.SuccessPolicy {
	if v.Kind() != Object {
		return nil
	}
	list := v.Get("rules")
	p := &policy.SuccessPolicy{}
	if list.Kind() == Array {
		p.Rules = make([]policy.SuccessPolicyRule, 0, list.Len())
	}
	for v := list.First(); v.Exists(); v = v.Next() {
		p.Rules = append(p.Rules, policy.SuccessPolicyRule{
			SucceededIndexes: readText(v.Get("succeededIndexes")), SucceededCount: readInt32(v.Get("succeededCount")),
		})
	}
	return p
}

// readText returns a string, nil if there is none.
func readText(v Value) *string {
	if v.Kind() != String {
		return nil
	}
	s := v.Str()
	return &s
}

// readInt32 returns a number, nil if there is none. One that is too large is a fault of type, found before.
func readInt32(v Value) *int32 {
	n, ok := v.Int64()
	if !ok {
		return nil
	}
	short := int32(n)
	return &short
}
