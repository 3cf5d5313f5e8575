package policy

// CompletionMode says how the Pods of a Job are counted.
type CompletionMode string

// The completion modes.
const (
	NonIndexedCompletion CompletionMode = "NonIndexed"
	IndexedCompletion    CompletionMode = "Indexed"
)

// PodReplacementPolicy says when the Job controller replaces a Pod that is being deleted.
type PodReplacementPolicy string

// The replacement policies.
const (
	ReplaceTerminatingOrFailed PodReplacementPolicy = "TerminatingOrFailed"
	ReplaceFailed              PodReplacementPolicy = "Failed"
)

// PodFailureAction is what a rule of a podFailurePolicy asks for when it matches a failed Pod.
type PodFailureAction string

// The actions. No action, when no rule matches, has the effect of Count.
const (
	ActionFailJob   PodFailureAction = "FailJob"
	ActionFailIndex PodFailureAction = "FailIndex"
	ActionIgnore    PodFailureAction = "Ignore"
	ActionCount     PodFailureAction = "Count"
)

// PodFailurePolicyOnExitCodes is the condition of a rule on how containers ended. Code 0 never
// matches, neither with NotIn; one container that matches is enough with both operators.
type PodFailurePolicyOnExitCodes struct {
	ContainerName *string // nil: any container. A pointer to "" is set and matches none
	Operator      ExitCodesOperator
	Values        []int32 // nil when the field is absent
}

// PodConditionPattern is one of the conditions of a rule; type and status must both be equal.
type PodConditionPattern struct {
	Type   string
	Status string // True, False or Unknown; "" matches nothing and is True after defaulting
}

// PodFailurePolicyRule is one entry of podFailurePolicy.rules. OnPodConditions of a rule with
// OnExitCodes is not looked at.
type PodFailurePolicyRule struct {
	Action          PodFailureAction
	OnExitCodes     *PodFailurePolicyOnExitCodes
	OnPodConditions []PodConditionPattern // nil when the field is absent

	// Of the proposal [KEP3329Draft]: conditions on the reason of the Pod that hold together, nil
	// for none, and how the rule is written.
	Reasons []PodReasons
	Written *DraftRule
}

// PodReasons is a condition on status.reason of a Pod.
type PodReasons struct {
	Operator ExitCodesOperator
	Values   []string
}

// PodFailurePolicy says what becomes of a Job when one of its Pods fails. One without rules still
// changes the defaults.
type PodFailurePolicy struct {
	Rules []PodFailurePolicyRule // nil when the field is absent

	Draft bool // written as the proposal [KEP3329Draft] has it
	Zero  bool // exit code 0 is looked at as well
	Never bool // the Pods get the restartPolicy Never, which the draft does not write

	Evicted bool // a Pod that the kubelet evicts has the reason NodePressureEviction
}

// SuccessPolicyRule is one way for an Indexed Job to succeed early.
type SuccessPolicyRule struct {
	SucceededIndexes *string // such as "0,2-5"
	SucceededCount   *int32
}

// SuccessPolicy says when an Indexed Job has succeeded although not all indexes have.
type SuccessPolicy struct {
	Rules []SuccessPolicyRule // nil when the field is absent
}

// Job is what matters of the spec of a Job when its Pods fail; their template is the [Object]'s
// Spec. A nil field is absent: in a Job, SetJobDefaults of policy/admission leaves nil what
// Kubernetes leaves nil; the template of a CronJob has no defaults.
type Job struct {
	Parallelism             *int32
	Completions             *int32 // nil in a Job: a work queue, done when one Pod succeeded and all have ended
	ActiveDeadlineSeconds   *int64
	BackoffLimit            *int32
	TTLSecondsAfterFinished *int32
	BackoffLimitPerIndex    *int32
	MaxFailedIndexes        *int32

	ManagedBy            *string
	CompletionMode       *CompletionMode
	PodReplacementPolicy *PodReplacementPolicy
	Suspend              *bool
	PodFailurePolicy     *PodFailurePolicy
	SuccessPolicy        *SuccessPolicy

	BothPolicies bool // a backoffPolicy of [KEP3329Draft] is next to podFailurePolicy

	Status JobStatus
}

// JobStatus is what matters of the status of a Job when it is updated.
type JobStatus struct {
	Started   bool // startTime is set
	Suspended bool // the condition Suspended is True
	Active    bool // there are active Pods
}

// JobController is the value of managedBy that stands for Kubernetes' own controller.
const JobController = "kubernetes.io/job-controller"

// Indexed reports whether each Pod of the Job works on a completion index.
func (j *Job) Indexed() bool {
	return j.CompletionMode != nil && *j.CompletionMode == IndexedCompletion
}

// OnlyReplaceFailed reports whether a Pod that is being deleted counts as failed only when its
// phase is Failed, and is replaced only then.
//
// Source: onlyReplaceFailedPods in pkg/controller/job/job_controller.go, Kubernetes v1.33 to v1.37.
func (j *Job) OnlyReplaceFailed() bool {
	return j.PodFailurePolicy != nil || j.PodReplacementPolicy != nil && *j.PodReplacementPolicy == ReplaceFailed
}

// ManagedElsewhere reports whether Kubernetes' own controller leaves the Job alone.
//
// Source: managedByExternalController in pkg/controller/job/job_controller.go, Kubernetes v1.33 to
// v1.37.
func (j *Job) ManagedElsewhere() bool { return j.ManagedBy != nil && *j.ManagedBy != JobController }
