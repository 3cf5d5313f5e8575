package ops

import (
	"strconv"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/admission"
	"github.com/podfate/podfate/policy/manifest"
	"github.com/podfate/podfate/policy/simulate"
)

// jobEffect is what one exit means to the Pod of a Job and to the Job itself, as if it were the
// first failure of the Job's first Pod and the other containers of that Pod had exited with 0.
type jobEffect struct {
	phase   policy.PodPhase // what becomes of the Pod; Running or Pending: it goes on
	judged  bool            // the Pod has failed, and match says what the podFailurePolicy makes of it
	match   policy.PodFailureMatch
	counted bool // towards backoffLimit: the failed Pod, or with OnFailure the restart in place
	index   bool // the index fails for good

	outcome         string // one of the outcomes below
	reason, message string // of the condition that the Job gets; "" while it goes on

	undecided, path string // why nothing can be said, and the place that is the cause; "" otherwise
}

// What becomes of the Job.
const (
	jobGoesOn   = "GoesOn"
	jobFails    = "Fails"
	jobSucceeds = "Succeeds"
)

// jobJudge answers what exits mean to one Job. It is made once for a request.
type jobJudge struct {
	l        *loaded
	cl       cluster
	job      policy.Job // with its defaults
	compiled *policy.FailurePolicy
	mains    []int // the main containers by name, as the kubelet lists them
}

// meets compiles the rules in such a way that one with an unknown word matches whatever it might be
// about, unless the request names the release: which rule an exit meets first says all that the Job
// makes of it.
func (j *jobJudge) meets() *policy.FailurePolicy {
	rules := append([]policy.PodFailurePolicyRule(nil), j.rules()...)
	for i := range rules {
		r := &rules[i]
		if on := r.OnExitCodes; on != nil && on.Operator != policy.OperatorIn && on.Operator != policy.OperatorNotIn {
			r.OnExitCodes = &policy.PodFailurePolicyOnExitCodes{ContainerName: on.ContainerName, Operator: policy.OperatorNotIn}
		} else if r.Action.Known() {
			continue
		}
		if r.Action = policy.ActionCount; j.cl.named {
			*r = policy.PodFailurePolicyRule{}
		}
	}
	all := policy.PodFailurePolicy{}
	if j.job.PodFailurePolicy != nil {
		all = *j.job.PodFailurePolicy
	}
	all.Rules = rules
	return policy.CompileFailurePolicy(&all)
}

// rules are those of the podFailurePolicy.
func (j *jobJudge) rules() []policy.PodFailurePolicyRule {
	if j.job.PodFailurePolicy == nil {
		return nil
	}
	return j.job.PodFailurePolicy.Rules
}

// newJobJudge returns nil for a manifest that is not of a Job or a CronJob.
func newJobJudge(l *loaded, cl cluster) *jobJudge {
	if l.object.Job == nil {
		return nil
	}
	j := &jobJudge{l: l, cl: cl, job: *l.object.Job}
	admission.SetJobDefaults(&j.job) // the Job that a CronJob makes has them
	admission.DropDisabledOfJob(&j.job, nil, "", cl.features)
	j.compiled = policy.CompileFailurePolicy(j.job.PodFailurePolicy)
	j.mains = byName(&l.object.Spec)
	return j
}

// effect judges exit e, about which the kubelet decided d.
//
// Source: getPhase in pkg/kubelet/kubelet_pods.go; syncJob and pastBackoffLimitOnFailure in
// pkg/controller/job/job_controller.go, Kubernetes v1.33 to v1.37.
func (j *jobJudge) effect(e exit, d policy.Decision) (x jobEffect) {
	x.outcome = jobGoesOn
	if j.job.ManagedElsewhere() {
		x.undecided, x.path = "managed_by", j.l.jobPath("managedBy")
		return x
	}
	spec := &j.l.object.Spec
	if e.ref.Kind == policy.EphemeralContainer {
		x.phase = policy.PodRunning
		return x
	}
	pod := policy.FailedPod{}
	x.phase = j.phaseAfter(e, &pod)
	switch {
	case d.Action != policy.Stop || !x.phase.Terminal():
		if x.phase.Terminal() { // a sidecar, which restarts whatever the phase says of the others
			x.phase = policy.PodRunning
		}
		x.counted = d.Action != policy.Stop && spec.RestartPolicy == policy.RestartPolicyOnFailure
		if x.counted {
			x.judge(j, simulate.JobCounts{Restarts: 1})
		}
	case x.phase == policy.PodSucceeded:
		rule := -1
		if j.job.Indexed() { // the Pod is that of the first index, as everywhere in an answer about one exit
			var done simulate.Indexes
			done.Add(0)
			rule = simulate.SuccessRule(j.job.SuccessPolicy, *j.job.Completions, &done)
		}
		if rule >= 0 {
			x.outcome, x.reason, x.message = jobSucceeds, "SuccessPolicy", "Matched rules at index "+strconv.Itoa(rule)
		} else if !j.job.Indexed() && (j.job.Completions == nil || *j.job.Completions <= 1) || j.job.Indexed() && *j.job.Completions <= 1 {
			x.outcome, x.reason, x.message = jobSucceeds, "CompletionsReached", "Reached expected number of succeeded pods"
		}
	default:
		j.failed(&x, &pod)
	}
	return x
}

// judge says whether the Job fails.
func (x *jobEffect) judge(j *jobJudge, counts simulate.JobCounts) {
	if x.reason, x.message = counts.Failure(&j.job, j.l.object.Spec.RestartPolicy); x.reason != "" {
		x.outcome = jobFails
	}
}

// phaseAfter returns the phase of the Pod once nothing runs any more, and fills in what a
// podFailurePolicy looks at. Main containers are listed by name, as the kubelet does.
func (j *jobJudge) phaseAfter(e exit, pod *policy.FailedPod) policy.PodPhase {
	spec, n := &j.l.object.Spec, policy.PhaseCounts{}
	isInit := e.ref.Kind == policy.InitContainer && !spec.Container(e.ref).IsSidecar(e.ref.Kind)
	for _, kind := range []policy.ContainerKind{policy.MainContainer, policy.InitContainer} {
		list := spec.List(kind)
		for i := range list {
			if kind == policy.MainContainer {
				i = j.mains[i]
			}
			ref := policy.Ref{Kind: kind, Index: i}
			st := policy.ContainerState{Listed: true, Kind: policy.StateTerminated}
			switch {
			case ref == e.ref:
				st.Ended.ExitCode = e.code
			case isInit && (kind == policy.MainContainer || i > e.ref.Index):
				st.Kind = policy.StateWaiting // it never gets its turn
			}
			if st.Kind == policy.StateTerminated {
				pod.Exits = append(pod.Exits, policy.PodExit{Container: list[i].Name, Code: st.Ended.ExitCode})
			}
			n.Add(spec.PhaseShare(ref, st, j.cl.features))
		}
	}
	return n.Phase(spec.RestartPolicy, j.cl.features, policy.PhaseOptions{Initialized: !isInit})
}

// firstPod is the name of the Job's first Pod, as a simulation gives it.
func (j *jobJudge) firstPod() string {
	index := int32(-1)
	if j.job.Indexed() {
		index = 0
	}
	return simulate.PodName(jobName(j.l), 0, index)
}

// failed says what the Job makes of a Pod that has failed.
func (j *jobJudge) failed(x *jobEffect, pod *policy.FailedPod) {
	x.judged, x.match = true, j.compiled.Match(pod)
	rules := j.l.rulesPath()
	if why, at := unknownRule(j.cl, rules, policy.ExplainFailure(j.job.PodFailurePolicy, pod, x.match)); why != "" {
		x.undecided, x.path = why, at
		return
	}
	x.counted = x.match.Counted()
	perIndex := j.job.BackoffLimitPerIndex
	x.index = x.match.Action == policy.ActionFailIndex || perIndex != nil && x.counted && *perIndex == 0
	counts := simulate.JobCounts{}
	if x.counted {
		counts.Failed = 1
	}
	if x.index {
		counts.FailedIndexes = 1
	}
	if x.match.Action == policy.ActionFailJob {
		namespace := j.l.object.Namespace
		if namespace == "" {
			namespace = "default"
		}
		counts.Message = x.match.Message(pod, namespace, j.firstPod())
	}
	x.judge(j, counts)
}

// write writes the effect as one object.
func (x *jobEffect) write(w *manifest.Writer, j *jobJudge) {
	w.Object()
	if x.phase != "" {
		w.KeyWord("podPhase", string(x.phase))
	}
	if x.undecided != "" {
		writeUndecided(w, x.undecided, x.path)
		w.End()
		return
	}
	if x.judged {
		action := x.match.Action
		if action == "" {
			action = policy.ActionCount
		}
		w.KeyWord("action", string(action))
		w.Key("rule")
		if x.match.Rule < 0 {
			w.Null()
		} else {
			w.Int(int64(x.match.Rule))
		}
		w.Key("path")
		if x.match.Rule < 0 {
			w.Word(j.l.jobPath("backoffLimit"))
		} else {
			w.Word(element(j.l.rulesPath(), int(x.match.Rule)))
		}
	}
	w.KeyBool("counted", x.counted)
	if x.index {
		w.KeyBool("indexFails", true)
	}
	w.KeyInt("backoffLimit", int64(*j.job.BackoffLimit))
	w.KeyWord("outcome", x.outcome)
	optional(w, "reason", x.reason)
	optional(w, "message", x.message)
	w.End()
}
