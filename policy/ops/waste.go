package ops

import (
	"math"
	"strings"

	"github.com/podfate/podfate/policy/simulate"
)

// podMillis writes for how long Pods ran and waited, and what of it came to nothing.
func (s *simulation) podMillis(spent *simulate.Spent) {
	s.w.KeyObject("podMillis")
	s.millis("ran", spent.Ran)
	s.millis("waiting", spent.Waited)
	s.millis("lost", spent.Lost)
	s.w.End()
}

// jobCost is what a Job costs without what its spec says about failures.
type jobCost struct {
	leftOut []string // fields of its spec
	pods    int
	outcome string
	spent   simulate.Spent
	limit   string // that ended the simulation, "" for none
}

// costWithout plays a Job without podFailurePolicy, or the backoffPolicy of a draft, without limits
// for indexes, and with the default backoffLimit; nil if it has nothing else anyway.
func costWithout(js *simulate.JobScenario) *jobCost {
	const usual = 6 // SetDefaults_Job in pkg/apis/batch/v1/defaults.go, Kubernetes v1.36
	plain, limit, cost := *js.Job, int32(usual), &jobCost{}
	leave := func(set bool, name string) {
		if set {
			cost.leftOut = append(cost.leftOut, name)
		}
	}
	policyField, _, _ := strings.Cut(plain.RulesField(), ".")
	leave(plain.PodFailurePolicy != nil, policyField)
	leave(plain.BackoffLimitPerIndex != nil, "backoffLimitPerIndex")
	leave(plain.MaxFailedIndexes != nil, "maxFailedIndexes")
	given := plain.BackoffLimit != nil && *plain.BackoffLimit != usual
	leave(given && (plain.BackoffLimitPerIndex == nil || *plain.BackoffLimit != math.MaxInt32), "backoffLimit")
	if len(cost.leftOut) == 0 {
		return nil
	}
	plain.PodFailurePolicy, plain.BackoffLimitPerIndex, plain.MaxFailedIndexes, plain.BackoffLimit = nil, nil, nil, &limit
	other := *js
	other.Job = &plain
	r := simulate.Job(&other)
	cost.pods, cost.outcome, cost.spent, cost.limit = len(r.Pods), outcomeAt(r, -1), r.Spent, r.Exceeded
	return cost
}

// waste writes for how long the Pods of a Job ran, with what its spec says about failures and
// without it.
func (s *jobSimulation) waste(without *jobCost) {
	w := s.w
	w.KeyObject("waste")
	s.cost(&jobCost{pods: len(s.job.Pods), outcome: outcomeAt(s.job, -1), spent: s.job.Spent})
	if without != nil {
		w.KeyObject("without")
		w.KeyArray("leftOut")
		for _, name := range without.leftOut {
			w.Word(name)
		}
		w.End()
		s.cost(without)
		if without.limit == "" {
			s.millis("savedPodMillis", without.spent.Ran-s.job.Spent.Ran)
		}
		w.End()
	}
	w.End()
}

// cost writes what a Job costs.
func (s *jobSimulation) cost(of *jobCost) {
	s.int("pods", int64(of.pods))
	s.text("outcome", of.outcome)
	s.podMillis(&of.spent)
	optional(s.w, "limit", of.limit)
}
