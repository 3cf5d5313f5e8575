package admission

import (
	"math"

	"github.com/podfate/podfate/policy"
)

// SetDefaults fills in what the API server of f fills in before it checks o: in a Job all of
// [SetJobDefaults], in the template of a CronJob only the status of conditions, and that from 1.34
// on. It changes o's Job in place.
func SetDefaults(o *policy.Object, f policy.Features) {
	switch {
	case o.Job == nil:
	case o.Kind == "Job" || o.Embedded: // its owner creates the Job, which then gets the same
		given := o.Job.PodReplacementPolicy
		if SetJobDefaults(o.Job); !f.ReplacesPods() {
			o.Job.PodReplacementPolicy = given
		}
	case f.Minor >= 34:
		setConditionStatuses(o.Job)
	}
}

// SetJobDefaults fills in what the API server fills in when a Job is created, and when the Job of a
// CronJob is.
//
// Source: SetDefaults_Job and SetDefaults_PodFailurePolicyOnPodConditionsPattern in
// pkg/apis/batch/v1/defaults.go, Kubernetes v1.33 to v1.37.
func SetJobDefaults(j *policy.Job) {
	if j.Parallelism == nil {
		if j.Completions == nil {
			completions := int32(1)
			j.Completions = &completions
		}
		parallelism := int32(1)
		j.Parallelism = &parallelism
	}
	if j.BackoffLimit == nil {
		limit := int32(6)
		if j.BackoffLimitPerIndex != nil {
			limit = math.MaxInt32
		}
		j.BackoffLimit = &limit
	}
	if j.CompletionMode == nil {
		mode := policy.NonIndexedCompletion
		j.CompletionMode = &mode
	}
	if j.Suspend == nil {
		j.Suspend = new(bool)
	}
	if j.PodReplacementPolicy == nil {
		replace := policy.ReplaceTerminatingOrFailed
		if j.PodFailurePolicy != nil {
			replace = policy.ReplaceFailed
		}
		j.PodReplacementPolicy = &replace
	}
	setConditionStatuses(j)
}

func setConditionStatuses(j *policy.Job) {
	if j.PodFailurePolicy == nil {
		return
	}
	for _, rule := range j.PodFailurePolicy.Rules {
		for i := range rule.OnPodConditions {
			if rule.OnPodConditions[i].Status == "" {
				rule.OnPodConditions[i].Status = "True"
			}
		}
	}
}
