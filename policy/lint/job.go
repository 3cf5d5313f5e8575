package lint

import (
	"slices"
	"strconv"
	"strings"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/admission"
)

// The codes of warnings about Jobs.
const (
	ZeroNeverMatches   policy.FaultCode = "zero_never_matches"           // NotIn lists 0, which never matches anyway
	AnyContainer       policy.FaultCode = "any_container_matches"        // NotIn without containerName in a Pod with several containers
	IgnoreEndless      policy.FaultCode = "ignored_without_limit"        // Ignore for something other than a disruption
	DisruptionLate     policy.FaultCode = "disruption_rule_too_late"     // an earlier rule about exit codes matches 137 or 143 first
	SidecarCode        policy.FaultCode = "sidecar_exit_code"            // a containerName that is a sidecar
	ContainerRestarts  policy.FaultCode = "container_restarts_first"     // container rules restart on the codes of this rule
	ReasonNoCondition  policy.FaultCode = "reason_is_no_condition"       // a reason where the type of a condition is expected
	FailedNotReady     policy.FaultCode = "matches_nearly_all"           // Ready=False is true of nearly every failed Pod
	EmptyFailurePolicy policy.FaultCode = "empty_failure_policy"         // a policy without rules still changes defaults
	PerIndexOnFailure  policy.FaultCode = "per_index_with_on_failure"    // backoffLimitPerIndex with restartPolicy OnFailure
	OnFailureLimit     policy.FaultCode = "on_failure_limit_one"         // backoffLimit 1 is the same as 0
	MaxFailedIndexes   policy.FaultCode = "max_failed_indexes_no_effect" // maxFailedIndexes can never be exceeded
	SuccessCountZero   policy.FaultCode = "success_count_zero"           // a success rule whose count is 0
	SuccessIndexes     policy.FaultCode = "success_rule_skipped"         // a success rule that is ignored
	DeadlineAtOnce     policy.FaultCode = "deadline_at_once"             // activeDeadlineSeconds is 0: the Job fails as it begins
	ManagedElsewhere   policy.FaultCode = "managed_elsewhere"            // another controller manages the Job
	ManyIndexes        policy.FaultCode = "too_many_indexes_to_track"    // the API server's own warning about very large Indexed Jobs
)

// jobWarnings are the texts and sources of warnings about Jobs.
var jobWarnings = [...]struct {
	code           policy.FaultCode
	detail, source string
}{
	{ZeroNeverMatches, "exit code 0 never matches a rule, so naming it here changes nothing", sourceFailure},
	{AnyContainer, "one container that ends with another code is enough, however the others end; containerName limits the rule to one", sourceFailure},
	{IgnoreEndless, "ignored failures count towards no limit: a Pod that always ends this way is replaced forever, after a growing wait", "trackJobStatusAndRemoveFinalizers, pkg/controller/job/job_controller.go, v1.36"},
	{DisruptionLate, "a disrupted Pod usually ends with 137 or 143, so this rule matches it before the rule for DisruptionTarget; put the rule for disruptions first", sourceFailure},
	{SidecarCode, "the container is a sidecar: the kubelet stops it when the main containers have ended, often with 137 or 143, and its failures alone do not fail the Pod", "KEP-753; " + sourceFailure},
	{ContainerRestarts, "the container restarts in place on all of these codes that it can end with, so the Pod does not fail and this rule is never evaluated", "KEP-5307; " + sourceFailure},
	{ReasonNoCondition, "this is the reason of a status or of a condition; rules compare the type of a condition, which for disruptions is DisruptionTarget", "KEP-3329; " + sourceFailure},
	{FailedNotReady, "nearly every failed Pod has this condition, whatever made it fail", "GeneratePodReadyCondition, pkg/kubelet/status/generate.go, v1.36"},
	{EmptyFailurePolicy, "a policy without rules still makes podReplacementPolicy default to Failed, requires restartPolicy Never, and makes Pods that are being deleted count only once they have failed", "SetDefaults_Job, pkg/apis/batch/v1/defaults.go, v1.36"},
	{PerIndexOnFailure, "restarts in place do not count per index: only Pods that fail do, and with OnFailure few do", "KEP-3850; isIndexFailed, pkg/controller/job/indexed_job_utils.go, v1.36"},
	{OnFailureLimit, "with OnFailure the Job fails when the limit is reached: at the first restart, as with 0", "pastBackoffLimitOnFailure, pkg/controller/job/job_controller.go, v1.36"},
	{MaxFailedIndexes, "the limit can never be exceeded, because there are no more indexes than that: all indexes run to their end, and the Job still fails if one of them has failed", "syncJob, pkg/controller/job/job_controller.go, v1.36"},
	{SuccessCountZero, "a count of 0 is reached as soon as any index has succeeded", sourceSuccess},
	{SuccessIndexes, "an empty list of indexes: the whole rule is ignored, including its count", sourceSuccess},
	{DeadlineAtOnce, "the Job fails before it creates a Pod", "syncJob, pkg/controller/job/job_controller.go, v1.36"},
	{ManagedElsewhere, "Kubernetes' own controller leaves this Job alone: without that other controller nothing happens", "managedByExternalController, pkg/controller/job/job_controller.go, v1.36"},
	{ManyIndexes, "", "WarningsForJobSpec, pkg/api/job/warnings.go, v1.36"},
}

const (
	sourceFailure = "matchPodFailurePolicy, pkg/controller/job/pod_failure_policy.go, v1.36"
	sourceSuccess = "matchSuccessPolicy, pkg/controller/job/success_policy.go, v1.36"

	manyIndexesText = "In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail"

	// notConditions are reasons that people look for among conditions.
	notConditions = "Evicted OOMKilled Preempting Preempted Terminated NodeShutdown NodeLost DeadlineExceeded Error PreemptionByScheduler " +
		"DeletionByTaintManager EvictionByEvictionAPI DeletionByPodGC TerminationByKubelet DeletionByDeviceTaintManager"
	conditionTypes = "DisruptionTarget PodScheduled Initialized ContainersReady Ready PodReadyToStartContainers AllContainersRestarting"

	disruptionTarget = "DisruptionTarget"
)

// job warns with a code of jobWarnings.
func (l *linter) job(path string, code policy.FaultCode) {
	for i := range jobWarnings {
		if w := &jobWarnings[i]; w.code == code {
			l.warn(path, code, w.detail, w.source)
		}
	}
}

// jobs warns about the spec of a Job.
func (l *linter) jobs() {
	j, path := l.o.Job, l.o.JobPath()
	if j == nil {
		return
	}
	if j.CompletionMode != nil {
		l.wrongCase(path+"completionMode", string(*j.CompletionMode), "NonIndexed", "Indexed")
	}
	if j.PodReplacementPolicy != nil {
		l.wrongCase(path+"podReplacementPolicy", string(*j.PodReplacementPolicy), "Failed", "TerminatingOrFailed")
	}
	onFailure := l.o.Spec.RestartPolicy == policy.RestartPolicyOnFailure
	perIndex := j.BackoffLimitPerIndex != nil
	for _, w := range [...]struct {
		says  bool
		field string
		code  policy.FaultCode
	}{
		{j.ManagedElsewhere(), "managedBy", ManagedElsewhere},
		{j.ActiveDeadlineSeconds != nil && *j.ActiveDeadlineSeconds == 0, "activeDeadlineSeconds", DeadlineAtOnce},
		{onFailure && j.BackoffLimit != nil && *j.BackoffLimit == 1, "backoffLimit", OnFailureLimit},
		{onFailure && perIndex, "backoffLimitPerIndex", PerIndexOnFailure},
		{perIndex && j.Completions != nil && j.MaxFailedIndexes != nil && *j.MaxFailedIndexes >= *j.Completions, "maxFailedIndexes", MaxFailedIndexes},
	} {
		if w.says {
			l.job(path+w.field, w.code)
		}
	}
	if j.Indexed() && j.Completions != nil && *j.Completions > admission.MaxIndexed && j.Parallelism != nil && *j.Parallelism > admission.MaxOfManyIndexes {
		at := path[:len(path)-1]
		l.job(at, ManyIndexes)
		f := l.found.Last()
		f.Message, f.Detail = at+": "+manyIndexesText, manyIndexesText
	}
	if j.PodFailurePolicy != nil {
		name := "podFailurePolicy"
		if j.PodFailurePolicy.Draft {
			name = "backoffPolicy"
		}
		l.failureRules(j.PodFailurePolicy.Rules, path+name)
	}
	if j.SuccessPolicy == nil {
		return
	}
	for i, rule := range j.SuccessPolicy.Rules {
		at := path + "successPolicy.rules" + policy.Index(i)
		if rule.SucceededIndexes != nil && *rule.SucceededIndexes == "" {
			l.job(at+".succeededIndexes", SuccessIndexes)
		} else if rule.SucceededCount != nil && *rule.SucceededCount == 0 {
			l.job(at+".succeededCount", SuccessCountZero)
		}
	}
}

// failureRules warns about the rules of a podFailurePolicy. A code that a rule for a container
// matches is out of reach of the rules after it for that container.
func (l *linter) failureRules(rules []policy.PodFailurePolicyRule, path string) {
	if len(rules) == 0 {
		l.job(path, EmptyFailurePolicy)
	}
	if len(rules) > admission.MaxJobRules {
		return // a fault, and the list may be long
	}
	spec, endings := &l.o.Spec, l.endings()
	asRules := make([]policy.ContainerRestartRule, len(rules))
	for i := range rules {
		if on := rules[i].OnExitCodes; on != nil {
			asRules[i].ExitCodes = &policy.ContainerRestartRuleOnExitCodes{Operator: on.Operator, Values: on.Values}
		}
	}
	u := l.universe(&policy.Container{RestartPolicyRules: asRules})
	failures := u.all().minusOne(0)
	sets := make([]codeSet, len(rules))
	for i := range rules {
		sets[i] = u.matched(asRules[i].ExitCodes).and(failures)
	}
	for i := range rules {
		rule, at := &rules[i], path+".rules"+policy.Index(i)
		l.wrongCase(at+".action", string(rule.Action), "FailJob", "FailIndex", "Ignore", "Count")
		if rule.OnExitCodes == nil {
			l.conditions(rules, i, at)
			continue
		}
		on := rule.OnExitCodes
		codes := at + rule.CodesPath()
		text := rule.Written != nil && rule.Written.CodesAt != "" // of a draft, which has been read
		if !text {
			l.wrongCase(codes+".operator", string(on.Operator), "In", "NotIn")
			l.neverOccurs(on.Values, codes+".values")
		}
		for k, v := range on.Values {
			place := codes
			if !text {
				place += ".values" + policy.Index(k)
			}
			if v == 0 && on.Operator == policy.OperatorNotIn {
				l.job(place, ZeroNeverMatches)
			}
		}
		if sets[i].empty() {
			if len(on.Values) > 0 && (on.Operator == policy.OperatorIn || on.Operator == policy.OperatorNotIn) {
				l.warn(at, NeverMatches, "no container can fail with a code that the rule matches", sourceFailure)
			}
			continue
		}
		if by := shadowedBy(rules, sets, i); by >= 0 {
			l.warn(at, Shadowed, "rule "+strconv.Itoa(by)+" and those before it match all of its codes first", sourceFailure)
			continue
		}
		if on.ContainerName != nil {
			if r, found := spec.Find(*on.ContainerName); found && spec.Container(r).IsSidecar(r.Kind) {
				l.job(at+rule.NamePath(), SidecarCode)
			}
		} else if on.Operator == policy.OperatorNotIn && len(spec.Containers) > 1 {
			l.job(codes, AnyContainer)
		}
		if l.restartsFirst(endings, on, sets[i]) {
			l.job(codes, ContainerRestarts)
		}
		switch {
		case rule.Action == policy.ActionIgnore:
			l.job(at, IgnoreEndless)
		case sets[i].has(137) || sets[i].has(143):
			for k := i + 1; k < len(rules); k++ {
				if later := &rules[k]; later.Action != rule.Action && isFor(later, disruptionTarget) {
					l.job(at, DisruptionLate)
					break
				}
			}
		}
	}
}

// isFor reports whether a rule is about a condition of this type that is True.
func isFor(r *policy.PodFailurePolicyRule, condition string) bool {
	for _, c := range r.OnPodConditions {
		if r.OnExitCodes == nil && c.Type == condition && c.Status == "True" {
			return true
		}
	}
	return false
}

// shadowedBy returns the last of the rules before i that together match all of its codes first, -1
// if they do not.
func shadowedBy(rules []policy.PodFailurePolicyRule, sets []codeSet, i int) int {
	open := sets[i]
	for k := range i {
		on := rules[k].OnExitCodes
		if on == nil || !rules[k].Action.Known() || on.ContainerName != nil &&
			(rules[i].OnExitCodes.ContainerName == nil || *on.ContainerName != *rules[i].OnExitCodes.ContainerName) {
			continue
		}
		if open = open.minus(sets[k]); open.empty() {
			return k
		}
	}
	return -1
}

// conditions warns about rule i, which is about conditions.
func (l *linter) conditions(rules []policy.PodFailurePolicyRule, i int, at string) {
	disruption, shadowed := false, len(rules[i].OnPodConditions) > 0
	for k, c := range rules[i].OnPodConditions {
		typeAt, statusAt := rules[i].PatternPaths(k)
		if statusAt != "" {
			l.wrongCase(at+statusAt, c.Status, "True", "False", "Unknown")
		}
		disruption = disruption || c.Type == disruptionTarget
		if typeAt != "" {
			l.wrongCase(at+typeAt, c.Type, strings.Fields(conditionTypes)...)
			if slices.Contains(strings.Fields(notConditions), c.Type) {
				l.job(at+typeAt, ReasonNoCondition)
			}
		}
		if c.Status == "False" && (c.Type == "Ready" || c.Type == "ContainersReady") {
			l.job(at+rules[i].PatternPath(k), FailedNotReady)
		}
		before := false
		for _, earlier := range rules[:i] {
			for _, e := range earlier.OnPodConditions {
				before = before || earlier.OnExitCodes == nil && earlier.Action.Known() && e == c
			}
		}
		shadowed = shadowed && before
	}
	if shadowed {
		l.warn(at, Shadowed, "rules before it match all of its conditions first", sourceFailure)
	} else if rules[i].Action == policy.ActionIgnore && !disruption && len(rules[i].OnPodConditions) > 0 {
		l.job(at, IgnoreEndless)
	}
}

// ending is how a container can end its Pod.
type ending struct {
	name  string
	stops codeSet // the codes on which it is not restarted in place
}

// endings returns how the containers that can fail the Pod end: all but sidecars.
func (l *linter) endings() (list []ending) {
	u := universe{n: 256}
	for _, kind := range []policy.ContainerKind{policy.MainContainer, policy.InitContainer} {
		for i := range l.o.Spec.List(kind) {
			r := policy.Ref{Kind: kind, Index: i}
			c := l.o.Spec.Container(r)
			if c.IsSidecar(kind) {
				continue
			}
			e := ending{c.Name, u.all()}
			for code := range 256 {
				if c.RestartPolicy != nil && len(c.RestartPolicyRules) <= policy.MaxRestartRules && l.o.Spec.RestartsAfter(r, int32(code), l.node) {
					e.stops = e.stops.minusOne(code)
				}
			}
			list = append(list, e)
		}
	}
	return list
}

// restartsFirst reports whether the containers that a rule is about restart in place on all codes
// of set.
func (l *linter) restartsFirst(endings []ending, on *policy.PodFailurePolicyOnExitCodes, set codeSet) bool {
	asked := false
	for _, e := range endings {
		if on.ContainerName == nil || *on.ContainerName == e.name {
			if asked = true; set[:len(e.stops)].meets(e.stops) {
				return false
			}
		}
	}
	return asked && !l.o.Spec.Windows // where codes are more than a byte
}
