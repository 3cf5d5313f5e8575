package ops

import (
	"strconv"
	"strings"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/admission"
	"github.com/podfate/podfate/policy/manifest"
	"github.com/podfate/podfate/policy/simulate"
)

// Annotations and labels that the Job controller writes.
const (
	indexAnnotation = "batch.kubernetes.io/job-completion-index"
	countAnnotation = "batch.kubernetes.io/job-index-failure-count"
	jobNameLabel    = "batch.kubernetes.io/job-name"
	oldJobNameLabel = "job-name"
	uidLabel        = "batch.kubernetes.io/controller-uid"
)

// Why a Pod is not judged.
const (
	podOtherNamespace = "other_namespace"
	podOtherJob       = "other_job" // another controller's: by its owner or its labels
	podSucceeded      = "succeeded"
	podTerminating    = "terminating" // it is being deleted, and counts only when its phase is Failed
	podNoPhase        = "no_phase"
	podOtherPhase     = "other_phase"
)

// readPods reads the member pods: a list of Pods, a List of them as kubectl prints it, or one Pod.
// Whatever their status says is theirs; only what Kubernetes could not have decoded is a fault, and
// what would make two of them one.
func (c *call) readPods(l *loaded, minor int) (pods []manifest.Value) {
	v := c.root.Get("pods")
	if !given(v) {
		return nil
	}
	const path = "pods"
	if l.readable && l.object.Job == nil {
		c.requestFault(v, policy.FieldError{
			Path: path, Code: policy.CodeForbidden, Detail: "failed Pods are judged by a Job or a CronJob, " + l.called(),
		})
		return nil
	}
	switch kind := v.Get("kind").Text(); {
	case v.Kind() == manifest.Array:
		pods = elementsOf(v)
	case v.Kind() == manifest.Object && (kind == "List" || kind == "PodList"):
		items := v.Get("items")
		if given(items) && items.Kind() != manifest.Array {
			c.wrongType(items, path+".items", "a list of Pods")
			return nil
		}
		pods = elementsOf(items)
	case v.Kind() == manifest.Object && kind == "Pod":
		pods = []manifest.Value{v}
	default:
		c.wrongType(v, path, "a list of Pods")
		return nil
	}
	if len(pods) > policy.MaxPods {
		c.limitAt(v, path, path, len(pods), policy.MaxPods)
		return nil
	}
	taken := make(map[string]bool, len(pods))
	for _, pod := range pods {
		c.checkPod(pod, minor, taken)
	}
	return pods
}

func elementsOf(list manifest.Value) (elements []manifest.Value) {
	if list.Kind() == manifest.Array {
		for v := list.First(); v.Exists(); v = v.Next() {
			elements = append(elements, v)
		}
	}
	return elements
}

// checkPod reports what is wrong with one Pod. taken are the names of those before it.
func (c *call) checkPod(v manifest.Value, minor int, taken map[string]bool) {
	path := v.Path(c.root)
	if v.Kind() != manifest.Object {
		c.wrongType(v, path, "a Pod")
		return
	}
	if kind := v.Get("kind"); given(kind) && kind.Text() != "Pod" {
		c.requestFault(kind, policy.FieldError{
			Path: path + ".kind", Code: policy.CodeUnknownKind, Detail: "only Pods are judged", Allowed: []string{"Pod"},
		})
		return
	}
	for _, f := range manifest.CheckFields(v, "Pod", minor).Faults {
		f.Path = path + "." + f.Path
		c.requestFault(c.root.Locate(f.Path), f)
	}
	metadata := v.Get("metadata")
	name := metadata.Get("name")
	key := metadata.Get("namespace").Text() + "/" + name.Text()
	switch {
	case given(name) && name.Kind() != manifest.String: // told above
	case name.Text() == "":
		c.requestFault(v, policy.FieldError{Path: path + ".metadata.name", Code: policy.CodeRequired, Detail: "a Pod has a name"})
	case taken[key]:
		c.requestFault(name, policy.FieldError{
			Path: path + ".metadata.name", Code: policy.CodeDuplicate, Detail: strconv.Quote(cut(name.Text())) + " is the name of an earlier Pod, too",
		})
	}
	taken[key] = true
}

// podJudge judges the Pods of one Job.
type podJudge struct {
	*call
	cl       cluster
	o        *policy.Object
	job      policy.Job // with its defaults
	uid      string
	compiled *policy.FailurePolicy
	steps    int // of comparing, for explanations

	counted, ignored, notJudged int
	restarts                    int64          // of containers in Pods that have not ended
	failed                      map[int64]bool // indexes
	done                        simulate.Indexes
	succeeded, active           int64  // Pods; succeeded are not those of an Indexed Job
	open                        bool   // a Pod is undecided
	failure                     string // message of the first Pod that fails the Job
	failedBy                    string // and its name
}

// writePods judges the Pods and writes what becomes of each and of the Job. It returns false if the
// answer is too long or takes too long.
func (c *call) writePods(pods []manifest.Value, l *loaded, cl cluster) bool {
	j := &podJudge{call: c, cl: cl, o: &l.object, job: *l.object.Job, uid: c.man.Get("metadata").Get("uid").Text(), failed: map[int64]bool{}}
	admission.SetJobDefaults(&j.job) // the Job that a CronJob makes has them
	admission.DropDisabledOfJob(&j.job, nil, "", cl.features)
	j.compiled = policy.CompileFailurePolicy(j.job.PodFailurePolicy)
	c.w.KeyArray("podDecisions")
	for _, pod := range pods {
		j.write(pod)
		if c.w.Len() > policy.MaxOutputBytes || !c.withinSteps(j.steps) {
			return false
		}
	}
	c.w.End()
	j.writeJob()
	return true
}

func (j *podJudge) write(v manifest.Value) {
	metadata, status, w := v.Get("metadata"), v.Get("status"), &j.w
	name := metadata.Get("name").Text()
	w.Object()
	w.KeyString("pod", name)
	optional(w, "namespace", metadata.Get("namespace").Text())
	pod, states := readFailedPod(status)
	why := j.notOurs(metadata)
	if why == "" {
		j.countRestarts(status)
		j.countUnfailed(metadata, status)
		why = j.notFailed(metadata, status)
	}
	path := j.o.JobPath()
	switch {
	case why != "":
		j.notJudged++
		w.KeyWord("notJudged", why)
	case j.job.ManagedElsewhere():
		writeUndecided(w, "managed_by", path+"managedBy")
	default:
		path += j.o.Job.RulesField()
		match := j.compiled.Match(&pod)
		trace := policy.ExplainFailure(j.job.PodFailurePolicy, &pod, match)
		j.countSteps(&pod)
		if why, at := unknownRule(j.cl, path, trace); why != "" {
			writeUndecided(w, why, at)
			j.open = true
		} else {
			j.writeMatch(v, &pod, match, path)
		}
		w.KeyArray("containers")
		for i, e := range pod.Exits {
			w.Object()
			w.KeyString("container", e.Container)
			w.KeyInt("exitCode", int64(e.Code))
			optional(w, "reason", states[i])
			w.End()
		}
		w.End()
		w.KeyArray("trace")
		for _, s := range trace {
			w.Object()
			w.Key("path")
			w.Text(path, "[", strconv.Itoa(s.Rule), "]")
			w.KeyWord("result", string(s.Result))
			w.KeyWord("code", string(s.Code))
			w.End()
		}
		w.End()
	}
	w.End()
}

// writeMatch writes what becomes of a failed Pod.
func (j *podJudge) writeMatch(v manifest.Value, pod *policy.FailedPod, match policy.PodFailureMatch, rules string) {
	w, metadata := &j.w, v.Get("metadata")
	action := match.Action
	if action == "" {
		action = policy.ActionCount
	}
	w.KeyWord("action", string(action))
	w.Key("rule")
	if match.Rule < 0 {
		w.Null()
	} else {
		w.Int(int64(match.Rule))
	}
	annotations := metadata.Get("annotations")
	index, hasIndex := annotation(annotations, indexAnnotation)
	outside := j.job.Indexed() && (!hasIndex || index >= int64(*j.job.Completions))
	counted := match.Counted() && !outside
	w.KeyBool("counted", counted)
	if counted {
		j.counted++
	} else if !match.Counted() {
		j.ignored++
	}
	namespace := metadata.Get("namespace").Text()
	if namespace == "" {
		if namespace = j.o.Namespace; namespace == "" {
			namespace = "default"
		}
	}
	name := metadata.Get("name").Text()
	if message := match.Message(pod, namespace, name); message != "" {
		w.KeyString("message", message)
		if j.failedBy == "" {
			j.failedBy, j.failure = name, message
		}
	}
	if j.job.Indexed() {
		if hasIndex {
			w.KeyInt("index", index)
		}
		if outside {
			w.KeyBool("outOfRange", true)
		}
		if limit := j.job.BackoffLimitPerIndex; limit != nil && !outside {
			failures, _ := annotation(annotations, countAnnotation)
			fails := match.Action == policy.ActionFailIndex || match.Counted() && failures >= int64(*limit)
			w.KeyBool("indexFails", fails)
			if fails {
				j.failed[index] = true
			}
		}
	}
	j.writeDecidedBy(pod, match, rules)
}

// writeDecidedBy writes the rule that decided, and what of the Pod it met. rules is the path of the
// rules.
func (j *podJudge) writeDecidedBy(pod *policy.FailedPod, match policy.PodFailureMatch, rules string) {
	w := &j.w
	w.KeyObject("decidedBy")
	w.Key("level")
	if match.Rule < 0 {
		w.Word(string(policy.LevelDefault))
		w.Key("path")
		w.Text(j.o.JobPath(), "backoffLimit")
	} else {
		w.Word(string(policy.LevelRule))
		w.Key("path")
		w.Text(rules, "[", strconv.Itoa(int(match.Rule)), "]")
		w.KeyInt("rule", int64(match.Rule))
		if j.job.PodFailurePolicy.Draft {
			w.KeyWord("proposal", "kep-3329-draft")
		}
		if match.Reason {
			w.KeyString("podReason", pod.Reason)
		} else if match.Condition {
			w.KeyString("condition", pod.Conditions[match.At].Type)
		} else {
			w.KeyString("container", pod.Exits[match.At].Container)
			w.KeyInt("exitCode", int64(pod.Exits[match.At].Code))
		}
	}
	w.End()
}

// readFailedPod reads what rules look at, and the reason of each exit.
func readFailedPod(status manifest.Value) (p policy.FailedPod, reasons []string) {
	for _, name := range []string{"containerStatuses", "initContainerStatuses"} {
		for s := status.Get(name).First(); s.Exists(); s = s.Next() {
			if ended := s.Get("state").Get("terminated"); ended.Kind() == manifest.Object {
				code, _ := ended.Get("exitCode").Int64()
				p.Exits = append(p.Exits, policy.PodExit{Container: s.Get("name").Text(), Code: int32(code)})
				reasons = append(reasons, ended.Get("reason").Text())
			}
		}
	}
	p.Reason = status.Get("reason").Text()
	for s := status.Get("conditions").First(); s.Exists(); s = s.Next() {
		p.Conditions = append(p.Conditions, policy.PodCondition{Type: s.Get("type").Text(), Status: s.Get("status").Text()})
	}
	return p, reasons
}

// annotation returns a number that the controller wrote; ok is false if there is none from 0 on.
//
// Source: getCompletionIndex and parseInt32 in pkg/controller/job/indexed_job_utils.go, Kubernetes
// v1.36.
func annotation(annotations manifest.Value, name string) (n int64, ok bool) {
	v, err := strconv.Atoi(annotations.Get(name).Text())
	if err != nil || v < 0 || name == countAnnotation && v > 1<<31-1 {
		return 0, false
	}
	return int64(v), true
}

// notOurs says why a Pod is not one of the Job's, "" if it is or if nothing speaks against it.
//
// A Pod without a controller is adopted if the Job selects it, which it does by labels that hold
// its uid.
//
// Source: getPodsForJob in pkg/controller/job/job_controller.go, Kubernetes v1.36. It compares
// uids; names are compared here as well, since a manifest seldom has a uid.
func (j *podJudge) notOurs(metadata manifest.Value) string {
	if ns := metadata.Get("namespace").Text(); ns != "" && j.o.Namespace != "" && ns != j.o.Namespace {
		return podOtherNamespace
	}
	for owner := metadata.Get("ownerReferences").First(); owner.Exists(); owner = owner.Next() {
		if controller := owner.Get("controller"); controller.Kind() != manifest.Bool || !controller.Bool() {
			continue
		}
		uid := owner.Get("uid").Text()
		if owner.Get("kind").Text() != "Job" || !j.isUID(uid) || !j.isName(owner.Get("name").Text()) {
			return podOtherJob
		}
		return ""
	}
	labels := metadata.Get("labels")
	if !j.isUID(labels.Get(uidLabel).Text()) {
		return podOtherJob
	}
	for _, label := range []string{jobNameLabel, oldJobNameLabel} {
		if name := labels.Get(label).Text(); name != "" && !j.isName(name) {
			return podOtherJob
		}
	}
	return ""
}

// isUID reports whether the Job can have this uid. Those of a CronJob's Jobs are not known.
func (j *podJudge) isUID(uid string) bool {
	return uid == "" || j.uid == "" || uid == j.uid || j.o.Kind == "CronJob"
}

// isName reports whether the Job can have this name: a CronJob gives its Jobs its own name and a
// number.
func (j *podJudge) isName(name string) bool {
	switch {
	case j.o.Name == "":
		return true
	case j.o.Kind == "CronJob":
		rest, found := strings.CutPrefix(name, j.o.Name+"-")
		return found && rest != ""
	}
	return name == j.o.Name
}

// notFailed says why a Pod of the Job has not failed, "" if it has.
//
// Source: isPodFailed in pkg/controller/job/job_controller.go, Kubernetes v1.33 to v1.37.
func (j *podJudge) notFailed(metadata, status manifest.Value) string {
	phase := status.Get("phase").Text()
	deleted := given(metadata.Get("deletionTimestamp"))
	switch {
	case phase == string(policy.PodFailed), deleted && phase != string(policy.PodSucceeded) && !j.job.OnlyReplaceFailed():
		return ""
	case phase == string(policy.PodSucceeded):
		return podSucceeded
	case deleted:
		return podTerminating
	case phase == string(policy.PodRunning):
		return "running"
	case phase == string(policy.PodPending):
		return "pending"
	case phase == "":
		return podNoPhase
	}
	return podOtherPhase
}

// countRestarts adds up what counts against backoffLimit with OnFailure.
//
// Source: pastBackoffLimitOnFailure in pkg/controller/job/job_controller.go, Kubernetes v1.36.
func (j *podJudge) countRestarts(status manifest.Value) {
	if phase := status.Get("phase").Text(); phase != string(policy.PodRunning) && phase != string(policy.PodPending) {
		return
	}
	for _, name := range []string{"containerStatuses", "initContainerStatuses"} {
		for s := status.Get(name).First(); s.Exists(); s = s.Next() {
			n, _ := s.Get("restartCount").Int64()
			j.restarts += n
		}
	}
}

// countUnfailed counts Pods that have succeeded, or that run or are going to.
//
// Source: calculateSucceededIndexes in pkg/controller/job/indexed_job_utils.go, IsPodActive in
// pkg/controller/controller_utils.go, Kubernetes v1.33 to v1.37.
func (j *podJudge) countUnfailed(metadata, status manifest.Value) {
	switch phase := status.Get("phase").Text(); {
	case phase == string(policy.PodSucceeded) && j.job.Indexed():
		if index, ok := annotation(metadata.Get("annotations"), indexAnnotation); ok && index < int64(*j.job.Completions) {
			j.done.Add(int32(index))
		}
	case phase == string(policy.PodSucceeded):
		j.succeeded++
	case phase != string(policy.PodFailed) && !given(metadata.Get("deletionTimestamp")):
		j.active++
	}
}

// countSteps adds the comparisons that explaining a Pod takes.
func (j *podJudge) countSteps(pod *policy.FailedPod) {
	if j.job.PodFailurePolicy == nil {
		return
	}
	for i := range j.job.PodFailurePolicy.Rules {
		rule := &j.job.PodFailurePolicy.Rules[i]
		j.steps += 1 + len(rule.OnPodConditions)*len(pod.Conditions)
		if rule.OnExitCodes != nil {
			j.steps += len(rule.OnExitCodes.Values) * len(pod.Exits)
		}
	}
}

// unknownRule is undecided for the podFailurePolicy: rules is where its rules are.
func unknownRule(cl cluster, rules string, trace []policy.Step) (why, path string) {
	if cl.named {
		return "", ""
	}
	for _, s := range trace {
		switch {
		case s.Code == policy.StepUnknownAction:
			return string(s.Code), element(rules, s.Rule) + ".action"
		case s.Code == policy.StepUnknownOperator:
			return string(s.Code), element(rules, s.Rule) + ".onExitCodes.operator"
		case s.Result == policy.Matched:
			return "", ""
		}
	}
	return "", ""
}

// writeJob writes what these Pods mean to the Job, as if they were all it had and it looked at them
// now. Deadlines are not looked at. Pods that run when enough have succeeded, or while the Job is
// suspended, are deleted in the same sync, so that they keep only a Job without completions from
// its end.
//
// Source: syncJob in pkg/controller/job/job_controller.go, Kubernetes v1.36, the order of its
// tests.
func (j *podJudge) writeJob() {
	if j.job.ManagedElsewhere() {
		return
	}
	w, limit := &j.w, int64(*j.job.BackoffLimit)
	onFailure := j.o.Spec.RestartPolicy == policy.RestartPolicyOnFailure
	w.KeyObject("jobDecision")
	for i, n := range [...]int{j.counted, j.ignored, j.notJudged, int(limit), int(j.restarts)} {
		if i == 4 && !onFailure {
			break
		}
		w.KeyInt([...]string{"counted", "ignored", "notJudged", "backoffLimit", "restarts"}[i], int64(n))
	}
	done, rule := j.succeeded, -1
	if j.job.Indexed() {
		done = j.done.Len()
		rule = simulate.SuccessRule(j.job.SuccessPolicy, *j.job.Completions, &j.done)
	}
	counts := simulate.JobCounts{
		Message: j.failure, Failed: int64(j.counted), Restarts: j.restarts,
		FailedIndexes: int64(len(j.failed)), Succeeded: done, Undecided: j.open,
	}
	end := "fails"
	reason, message := counts.Failure(&j.job, j.o.Spec.RestartPolicy)
	switch {
	case reason != "", j.open: // a Pod that is undecided may fail the Job
	case rule >= 0:
		end, reason, message = "succeeds", "SuccessPolicy", "Matched rules at index "+strconv.Itoa(rule)
	case j.job.Completions == nil && done > 0 && (j.active == 0 || *j.job.Suspend), j.job.Completions != nil && done >= int64(*j.job.Completions):
		end, reason, message = "succeeds", "CompletionsReached", "Reached expected number of succeeded pods"
	}
	if reason != "" {
		w.KeyObject(end)
		w.KeyWord("reason", reason)
		w.KeyString("message", message)
		optional(w, "pod", j.failedBy)
		w.End()
	}
	w.End()
}
