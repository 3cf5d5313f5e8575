package manifest

import "github.com/podfate/podfate/policy"

// readJob reads the spec of a Job, without any default: what is absent or null is nil.
func readJob(spec Value) *policy.Job {
	j := &policy.Job{}
	for i, field := range [...]**int32{
		&j.Parallelism, &j.Completions, &j.BackoffLimit, &j.TTLSecondsAfterFinished, &j.BackoffLimitPerIndex, &j.MaxFailedIndexes,
	} {
		*field = readInt32(spec, [...]string{
			"parallelism", "completions", "backoffLimit", "ttlSecondsAfterFinished", "backoffLimitPerIndex", "maxFailedIndexes",
		}[i])
	}
	j.ActiveDeadlineSeconds = readInt64(spec.Get("activeDeadlineSeconds"))
	j.ManagedBy = readText(spec, "managedBy")
	j.CompletionMode = (*policy.CompletionMode)(readText(spec, "completionMode"))
	j.PodReplacementPolicy = (*policy.PodReplacementPolicy)(readText(spec, "podReplacementPolicy"))
	if v := member(spec, "suspend", Bool); v.Exists() {
		suspend := v.Bool()
		j.Suspend = &suspend
	}
	j.PodFailurePolicy = readPodFailurePolicy(spec)
	if v := member(spec, "successPolicy", Object); v.Exists() {
		j.SuccessPolicy = &policy.SuccessPolicy{}
		e, n := elements(v, "rules")
		if n >= 0 {
			j.SuccessPolicy.Rules = make([]policy.SuccessPolicyRule, n)
		}
		for i := range n {
			v := e.step()
			j.SuccessPolicy.Rules[i] = policy.SuccessPolicyRule{
				SucceededIndexes: readText(v, "succeededIndexes"), SucceededCount: readInt32(v, "succeededCount"),
			}
		}
	}
	return j
}

func readJobStatus(status Value) (s policy.JobStatus) {
	s.Started = member(status, "startTime", String).Exists()
	active := readInt32(status, "active")
	s.Active = active != nil && *active != 0
	e, n := elements(status, "conditions")
	for range n {
		v := e.step()
		s.Suspended = s.Suspended || str(v, "type") == "Suspended" && str(v, "status") == "True"
	}
	return s
}

// readPodFailurePolicy reads the failure policy of a Job's spec. It has one dialect, that of
// batch/v1; the drafts of KEP-3329 and the policies of other controllers are to be told apart and
// translated here.
func readPodFailurePolicy(spec Value) *policy.PodFailurePolicy {
	v := member(spec, "podFailurePolicy", Object)
	if !v.Exists() {
		return nil
	}
	p := &policy.PodFailurePolicy{}
	e, n := elements(v, "rules")
	if n >= 0 {
		p.Rules = make([]policy.PodFailurePolicyRule, n)
	}
	for i := range n {
		p.Rules[i] = readPodFailureRule(e.step())
	}
	return p
}

func readPodFailureRule(v Value) policy.PodFailurePolicyRule {
	rule := policy.PodFailurePolicyRule{Action: policy.PodFailureAction(str(v, "action"))}
	if on := member(v, "onExitCodes", Object); on.Exists() {
		rule.OnExitCodes = &policy.PodFailurePolicyOnExitCodes{
			ContainerName: readText(on, "containerName"),
			Operator:      policy.ExitCodesOperator(str(on, "operator")),
			Values:        readInt32s(on.Get("values")),
		}
		if _, n := elements(on, "values"); n == 0 {
			rule.OnExitCodes.Values = []int32{} // a fault prints it otherwise than an absent list
		}
	}
	e, n := elements(v, "onPodConditions")
	if n >= 0 {
		rule.OnPodConditions = make([]policy.PodConditionPattern, n)
	}
	for i := range n {
		c := e.step()
		rule.OnPodConditions[i] = policy.PodConditionPattern{Type: str(c, "type"), Status: str(c, "status")}
	}
	return rule
}

// The functions below are not inlined: readers call them often, and not in a loop that matters.

// member returns the member of v with this name if it is of kind k, else the zero Value.
//
//go:noinline
func member(v Value, name string, k Kind) Value {
	if v = v.Get(name); v.Kind() != k {
		return Value{}
	}
	return v
}

// walk visits the elements of a list.
type walk struct{ next Value }

// elements begins to visit the n elements of the list with this name in v; -1 if there is no list.
//
//go:noinline
func elements(v Value, name string) (w walk, n int) {
	if v = v.Get(name); v.Kind() != Array {
		return walk{}, -1
	}
	return walk{v.First()}, v.Len()
}

// step returns the next element. There must be one.
//
//go:noinline
func (w *walk) step() Value {
	v := w.next
	w.next = v.Next()
	return v
}

// str returns the string with this name in v, "" if there is none.
//
//go:noinline
func str(v Value, name string) string { return v.Get(name).Text() }

// readText returns the string with this name in v, nil if there is none.
//
//go:noinline
func readText(v Value, name string) *string {
	if v = v.Get(name); v.Kind() != String {
		return nil
	}
	s := v.Str()
	return &s
}

// readInt32 returns the number with this name in v, nil if there is none. One that is too large is
// a fault of type, found before.
//
//go:noinline
func readInt32(v Value, name string) *int32 {
	n, ok := v.Get(name).Int64()
	if !ok {
		return nil
	}
	short := int32(n)
	return &short
}
