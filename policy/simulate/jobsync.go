package simulate

import (
	"strconv"

	"github.com/podfate/podfate/policy"
)

// Settings of the Job controller.
//
// Source: pkg/controller/job/job_controller.go, Kubernetes v1.33 to v1.37.
const (
	podBackoff      = 10 * policy.Second
	maxPodBackoff   = 600 * policy.Second
	apiBackoff      = 1 * policy.Second // after a refused write
	maxAPIBackoff   = 60 * policy.Second
	podsPerSync     = 500 // created
	finishedPerSync = 500 // counted
)

const failurePolicyReason = "PodFailurePolicy"

// Types of the conditions of a Job.
const (
	jobSuspended          = "Suspended"
	jobComplete           = "Complete"
	jobFailed             = "Failed"
	jobFailureTarget      = "FailureTarget"
	jobSuccessCriteriaMet = "SuccessCriteriaMet"
)

// conditionKinds are the entries of the timeline for them.
func conditionKind(c *JobCondition) Kind {
	switch {
	case c.Type == jobComplete:
		return "JobCompleted"
	case c.Type == jobFailed:
		return "JobFailed"
	case c.False:
		return "Resumed"
	}
	return Kind(c.Type)
}

// backoffRecord is what the controller remembers of failures, in memory only.
type backoffRecord struct {
	failures int64  // since the last success
	last     Millis // when the last of them ended, below 0 for none
}

// sync is one round of the controller. It reports no change of its own doing but through j.dirty.
//
// A status is written when everything has been worked out: that Kubernetes writes twice, with the
// Pods not counted yet in between, is over at the same instant. A write that the API server refuses
// leaves what was done to Pods.
//
// Source: syncJob in pkg/controller/job/job_controller.go, Kubernetes v1.33 to v1.37.
func (j *job) sync() {
	if j.finished {
		return
	}
	s := round{job: j, status: j.status, active: j.active, ready: j.ready, terminating: j.terminating, record: j.backoff}
	s.status.Conditions = s.status.Conditions[:len(s.status.Conditions):len(s.status.Conditions)]
	if s.since = s.status.StartTime; s.since < 0 && !j.suspended {
		s.status.StartTime, s.since = wholeSecond(j.now), j.now
	}
	s.countFinished()
	s.judge()
	if s.end.Type != "" {
		s.terminating += s.active
		for _, p := range j.running {
			if p.Phase.Terminal() || p.Deleted >= 0 {
				continue
			}
			s.deleted = append(s.deleted, p)
		}
		s.active, s.ready = 0, 0
	} else {
		s.manage()
	}
	if j.stopped {
		return
	}
	for _, p := range s.deleted {
		p.Unjudged = p.Unjudged || j.suspended
		j.delete(p)
		if j.suspended && s.end.Type == "" {
			p.finalizer, p.untracked = false, true
		}
	}
	s.write()
}

// round is a sync under way: the status as it will be written.
type round struct {
	*job
	status                     JobStatus
	since                      Millis // startTime, to the millisecond in the round that sets it
	active, ready, terminating int64
	succeeded, failed          int64 // with the Pods that this sync counts
	record                     backoffRecord
	end                        JobCondition // that the Job ends with; no type: it goes on
	suspension                 bool         // the condition Suspended has changed
	deleted                    []*jobPod
	newSucceeded, newFailed    []int32
}

// countFinished counts the Pods that have finished since the last sync, and what they mean for the
// back-off.
//
// Source: getNewFinishedPods and nonIgnoredFailedPodsCount in pkg/controller/job/job_controller.go,
// newBackoffRecord in backoff_utils.go, calculateSucceededIndexes and calculateFailedIndexes in
// indexed_job_utils.go, Kubernetes v1.33 to v1.37.
func (s *round) countFinished() {
	s.succeeded, s.failed = s.status.Succeeded, s.status.Failed
	succeeded, failed := int64(0), int64(0)
	s.failed += s.counted
	lastSuccess, lastFailure := Millis(-1), Millis(-1)
	for _, p := range s.finishing {
		if p.Fails {
			failed++
			lastFailure = max(lastFailure, s.finishTime(p))
			match := s.match(p)
			if match.Counted() {
				s.failed++
			}
			if s.perIndex && s.indexFails(p, match) && !s.status.FailedIndexSet.has(p.Index) {
				s.newFailed = addLast(s.newFailed, p.Index)
			}
			continue
		}
		succeeded++
		lastSuccess = max(lastSuccess, s.finishTime(p))
		if s.indexed && !s.status.CompletedIndexes.has(p.Index) {
			s.newSucceeded = addLast(s.newSucceeded, p.Index)
		}
	}
	if s.succeeded += succeeded; s.indexed {
		s.succeeded = s.status.CompletedIndexes.Len() + int64(len(s.newSucceeded))
	}
	switch r := &s.record; {
	case succeeded == 0 && failed > 0:
		r.failures, r.last = r.failures+failed, lastFailure
	case succeeded > 0:
		*r = backoffRecord{last: -1}
		for _, p := range s.finishing {
			if at := s.finishTime(p); p.Fails && at > lastSuccess {
				r.failures, r.last = r.failures+1, max(r.last, at)
			}
		}
	}
}

// addLast adds i to a list in ascending order unless it is the last.
func addLast(list []int32, i int32) []int32 {
	if n := len(list); n > 0 && list[n-1] == i {
		return list
	}
	return append(list, i)
}

// match is what the podFailurePolicy says of p as it is now.
func (j *job) match(p *jobPod) policy.PodFailureMatch {
	if p.k == nil {
		return p.Match
	}
	match := j.ask(p)
	j.tellUnknown()
	return match
}

func (j *job) indexFails(p *jobPod, m policy.PodFailureMatch) bool {
	return m.Action == policy.ActionFailIndex || m.Counted() && p.FailureCount >= *j.spec.BackoffLimitPerIndex
}

// judge decides whether the Job ends.
func (s *round) judge() {
	switch met, failed := s.status.condition(jobSuccessCriteriaMet), s.status.condition(jobFailureTarget); {
	case met != nil:
		s.end = *met
	case failed != nil:
		s.end = *failed
		s.end.Type = jobFailed
	default:
		counts := JobCounts{
			Message: s.failJobMessage(), Failed: s.failed, Restarts: s.restarts,
			FailedIndexes: s.status.FailedIndexSet.Len() + int64(len(s.newFailed)), Succeeded: s.succeeded,
		}
		if seconds := s.spec.ActiveDeadlineSeconds; seconds != nil && s.status.StartTime >= 0 && !s.suspended {
			deadline := s.since + allowed(*seconds)
			if counts.Overdue = s.now >= deadline; !counts.Overdue {
				s.wake = min(s.wake, deadline)
			}
		}
		if reason, message := counts.Failure(s.spec, s.pod.RestartPolicy); reason != "" {
			s.end = JobCondition{Type: jobFailureTarget, Reason: reason, Message: message}
			if !s.inTwoSteps && reason != failurePolicyReason {
				s.end.Type = jobFailed
			}
		}
	}
	if s.perIndex {
		s.delay()
	}
	if s.end.Type == "" && s.indexed && s.succeeded > 0 {
		if rule := s.successRule(); rule >= 0 {
			s.end = JobCondition{Type: jobSuccessCriteriaMet, Reason: "SuccessPolicy", Message: "Matched rules at index " + strconv.Itoa(rule)}
		}
	}
}

// JobCounts is all that can fail a Job. Indexes are counted only with backoffLimitPerIndex.
type JobCounts struct {
	Message       string // of a failed Pod with which a rule fails the Job, "" without one
	Failed        int64  // Pods that count towards backoffLimit
	Restarts      int64  // of containers in Pods that have not ended
	FailedIndexes int64
	Succeeded     int64 // completions
	Overdue       bool  // activeDeadlineSeconds are over
	Undecided     bool  // a Pod may have failed another index
}

// Failure returns why a Job fails, whose Pods have a restart policy: the reason and the message of
// its condition, "" while it goes on.
//
// Source: syncJob and pastBackoffLimitOnFailure in pkg/controller/job/job_controller.go, the order
// of its tests, Kubernetes v1.33 to v1.37.
func (c *JobCounts) Failure(spec *policy.Job, pods policy.RestartPolicy) (reason, message string) {
	limit := int64(*spec.BackoffLimit)
	switch {
	case c.Message != "":
		return failurePolicyReason, c.Message
	case c.Failed > limit, pods == policy.RestartPolicyOnFailure && c.Restarts >= max(limit, 1):
		return "BackoffLimitExceeded", "Job has reached the specified backoff limit"
	case c.Overdue:
		return "DeadlineExceeded", "Job was active longer than specified deadline"
	case spec.MaxFailedIndexes != nil && c.FailedIndexes > int64(*spec.MaxFailedIndexes):
		return "MaxFailedIndexesExceeded", "Job has exceeded the specified maximal number of failed indexes"
	case c.FailedIndexes > 0 && !c.Undecided && spec.Completions != nil && c.FailedIndexes+c.Succeeded >= int64(*spec.Completions):
		return "FailedIndexes", "Job has failed indexes"
	}
	return "", ""
}

// allowed is how long a Job may be active. The controller counts in nanoseconds of 64 bits, so that
// what is above 292 years overflows: the largest number of all ends the Job at once.
//
// Source: pastActiveDeadline in pkg/controller/job/job_controller.go, Kubernetes v1.33 to v1.37.
func allowed(seconds int64) Millis {
	const perMilli = 1_000_000
	if n := seconds * (1000 * perMilli); n > 0 {
		return Millis((n-1)/perMilli + 1)
	}
	return 0
}

func (s *JobStatus) condition(name string) *JobCondition {
	for i := range s.Conditions {
		if s.Conditions[i].Type == name && !s.Conditions[i].False {
			return &s.Conditions[i]
		}
	}
	return nil
}

// failJobMessage returns what the first failed Pod says with which a rule fails the Job, "" if
// there is none. Of those that fail at one instant Kubernetes takes any; here it is the one that
// was created first.
//
// Source: getFailJobMessage in pkg/controller/job/job_controller.go, Kubernetes v1.33 to v1.37.
func (s *round) failJobMessage() (message string) {
	var first *jobPod
	for _, p := range s.finishing {
		if p.Fails && (first == nil || p.Number < first.Number) && s.match(p).Action == policy.ActionFailJob {
			first = p
		}
	}
	if first == nil {
		return ""
	}
	m := s.match(first)
	return m.Message(s.statusOf(first), s.sc.Namespace, PodName(s.sc.Name, first.Number, first.Index))
}

// successRule returns the first rule of the success policy that is met, -1 if none is.
//
// Source: matchSuccessPolicy in pkg/controller/job/success_policy.go, Kubernetes v1.33 to v1.37.
func (s *round) successRule() int {
	if s.spec.SuccessPolicy == nil {
		return -1
	}
	for i := range s.spec.SuccessPolicy.Rules {
		rule, found := &s.spec.SuccessPolicy.Rules[i], s.succeeded
		if rule.SucceededIndexes != nil {
			found = s.status.CompletedIndexes.common(&s.success[i])
			for _, n := range s.newSucceeded {
				if s.success[i].has(n) {
					found++
				}
			}
		}
		if isMet(rule, s.success[i].Len(), found) {
			return i
		}
	}
	return -1
}

// isMet reports whether found of the indexes that a rule lists, or of all if it lists none, are
// enough.
func isMet(rule *policy.SuccessPolicyRule, listed, found int64) bool {
	least := int64(-1)
	if rule.SucceededIndexes != nil {
		if least = listed; least == 0 {
			return false
		}
	}
	if rule.SucceededCount != nil && (least < 0 || int64(*rule.SucceededCount) < least) {
		least = int64(*rule.SucceededCount)
	}
	return least >= 0 && found >= least
}

// SuccessRule returns the first rule of a success policy, nil for none, that is met when the
// indexes of done have succeeded; -1 if none is.
//
// Source: matchSuccessPolicy in pkg/controller/job/success_policy.go, Kubernetes v1.33 to v1.37.
func SuccessRule(p *policy.SuccessPolicy, completions int32, done *Indexes) int {
	if p == nil || done.Len() == 0 {
		return -1
	}
	for i := range p.Rules {
		rule, listed, found := &p.Rules[i], int64(0), done.Len()
		if rule.SucceededIndexes != nil {
			list := parseIndexes(*rule.SucceededIndexes, completions)
			listed, found = list.Len(), done.common(&list)
		}
		if isMet(rule, listed, found) {
			return i
		}
	}
	return -1
}

// delay finds the failed Pods whose finalizer stays until their index has another Pod, one for each
// index: their annotations go on with it.
//
// Source: getPodsWithDelayedDeletionPerIndex in pkg/controller/job/indexed_job_utils.go, Kubernetes
// v1.33 to v1.37.
func (s *round) delay() {
	s.syncs++
	var last *jobPod
	next := 0
	for _, p := range s.finishing {
		for next < len(s.newFailed) && s.newFailed[next] < p.Index {
			next++
		}
		if !p.Fails || s.succeededNow(p.Index) || s.status.FailedIndexSet.has(p.Index) || next < len(s.newFailed) && s.newFailed[next] == p.Index || s.activeOn(p.Index) {
			continue
		}
		if last != nil && last.Index == p.Index {
			if last.absolute() > p.absolute() || s.finishTime(p) < s.finishTime(last) {
				continue
			}
			last.delayed = 0
		}
		p.delayed, last = s.syncs, p
	}
}

func (p *PodResult) absolute() int32 { return p.FailureCount + max(p.IgnoredCount, 0) }

func (s *round) succeededNow(index int32) bool {
	if s.status.CompletedIndexes.has(index) {
		return true
	}
	n := len(s.newSucceeded)
	for low := 0; low < n; {
		switch m := (low + n) / 2; {
		case s.newSucceeded[m] == index:
			return true
		case s.newSucceeded[m] < index:
			low = m + 1
		default:
			n = m
		}
	}
	return false
}

// activeOn reports whether a Pod of the index is active. One that is being deleted does not count,
// but while it keeps the index from being pending no other Pod of the index can have failed.
func (j *job) activeOn(index int32) bool { return j.busy.has(index) }

// manage creates the Pods that are missing, deletes those of a suspended Job, and sees whether the
// Job is complete.
//
// More Pods than are wanted do not occur here: nothing changes parallelism or completions, and what
// has ended does not come back.
//
// Source: manageJob and the rest of syncJob in pkg/controller/job/job_controller.go, Kubernetes
// v1.33 to v1.37.
func (s *round) manage() {
	spec := s.spec
	if s.suspended {
		for _, p := range s.running {
			if !p.Phase.Terminal() && p.Deleted < 0 {
				s.deleted = append(s.deleted, p)
			}
		}
		s.terminating += s.active
		s.active, s.ready = 0, 0
	} else {
		s.replace()
	}
	complete := s.active == 0 && s.succeeded > 0
	if spec.Completions != nil {
		complete = s.active == 0 && s.succeeded >= int64(*spec.Completions)
	}
	if complete {
		s.end = JobCondition{Type: jobSuccessCriteriaMet, Reason: "CompletionsReached", Message: "Reached expected number of succeeded pods"}
		if !s.inTwoSteps {
			s.end.Type = jobComplete
		}
		return
	}
	var old *JobCondition
	for i := range s.status.Conditions {
		if s.status.Conditions[i].Type == jobSuspended {
			old = &s.status.Conditions[i]
		}
	}
	if old == nil && !s.suspended || old != nil && old.False == !s.suspended {
		return
	}
	s.suspension = true
	now := JobCondition{Type: jobSuspended, Reason: "JobSuspended", Message: "Job suspended", Since: wholeSecond(s.now)}
	if s.suspended && s.sc.Pod.Kubelet.Features.MutableSchedulingDirectivesForSuspendedJobs {
		s.status.StartTime = -1
	}
	if !s.suspended {
		now = JobCondition{Type: jobSuspended, False: true, Reason: "JobResumed", Message: "Job resumed", Since: now.Since}
		s.status.StartTime = wholeSecond(s.now)
	}
	list := append([]JobCondition(nil), s.status.Conditions...)
	for i := range list {
		if list[i].Type == jobSuspended {
			list[i] = now
		}
	}
	if old == nil {
		list = append(list, now)
	}
	s.status.Conditions = list
	// The event comes even if the API server then refuses the status.
	s.job.record(&Record{Event: conditionKind(&now), Container: OfJob, Reason: now.Reason, Message: now.Message})
}

// replace creates the Pods that are missing, unless the back-off says to wait.
func (s *round) replace() {
	spec := s.spec
	want := int64(*spec.Parallelism)
	if spec.Completions != nil {
		want = max(min(want, int64(*spec.Completions)-s.succeeded), 0)
	} else if s.succeeded > 0 {
		want = s.active
	}
	missing := want - s.active
	if s.onlyFailed {
		missing -= s.terminating
	}
	if missing <= 0 {
		return
	}
	if !s.perIndex && s.waits(s.record.failures, s.record.last) {
		return
	}
	if missing > MaxJobPods {
		s.exceed(LimitActivePods) // whatever becomes of the first of them
		return
	}
	missing = min(missing, podsPerSync)
	if !s.indexed {
		for range missing {
			s.create(-1, -1, -1)
		}
		s.active += missing
		return
	}
	created, until := s.pending(int(missing))
	for _, i := range created {
		failures, ignored := int32(-1), int32(-1)
		if s.perIndex {
			s.unwait(i)
			failures, ignored = s.nextCounts(s.replaced(i))
		}
		s.create(i, failures, ignored)
	}
	s.active += int64(len(created))
	if len(created) == 0 && until != never {
		s.wait(until)
	}
}

// nextCounts are the annotations of a Pod that replaces p, nil for the first of its index.
//
// Source: getNewIndexFailureCounts in pkg/controller/job/indexed_job_utils.go, Kubernetes v1.33 to
// v1.37.
func (j *job) nextCounts(p *jobPod) (failures, ignored int32) {
	switch {
	case p == nil:
		return 0, -1
	case j.match(p).Counted():
		return p.FailureCount + 1, p.IgnoredCount
	}
	return p.FailureCount, max(p.IgnoredCount, 0) + 1
}

// waits reports whether the back-off is not over yet.
func (s *round) waits(failures int64, last Millis) bool {
	end := s.backoffEnd(failures, last)
	if end <= s.now {
		return false
	}
	s.wait(end)
	return true
}

// JobRetries are the waits of the Job controller before it replaces failed Pods.
func JobRetries() policy.Series {
	return policy.Series{Initial: podBackoff, Max: maxPodBackoff, Factor: 2}
}

// backoffEnd is when the next Pod may be created.
//
// Source: getRemainingTimeForFailuresCount in pkg/controller/job/backoff_utils.go, Kubernetes v1.33
// to v1.37.
func (s *round) backoffEnd(failures int64, last Millis) Millis {
	if failures == 0 {
		return 0
	}
	retries := s.sc.Retries
	if retries.Max == 0 {
		retries = JobRetries()
	}
	wait, _ := retries.At(int(min(failures, 1<<30)) - 1)
	return last + wait
}

// wait lets the controller look again at the end of the back-off. Up to 1.35 it then takes the Job
// for one without active Pods.
func (s *round) wait(end Millis) {
	s.wake = min(s.wake, end)
	if s.told != end {
		s.told = end
		s.job.record(&Record{Event: BackOff, Container: OfJob, Until: end, Delay: end - s.now})
	}
	if s.sc.Pod.Kubelet.Features.Minor <= 35 {
		s.active = 0
	}
}

// replaced returns the failed Pod whose index waits for another one, if it is among those that
// finish.
func (s *round) replaced(index int32) *jobPod {
	for _, p := range s.finishing[first(len(s.finishing), func(i int) bool { return s.finishing[i].Index >= index }):] {
		if p.Index != index {
			break
		}
		if p.delayed == s.syncs {
			return p
		}
	}
	return nil
}

// retryAt is when the index of p, which has failed, may have another Pod.
func (s *round) retryAt(p *jobPod) Millis {
	return s.backoffEnd(int64(p.absolute())+1, s.finishTime(p))
}

// pending looks at the first n indexes that have neither ended nor a Pod. It returns those whose
// back-off is over, and when the first of the others is.
//
// Source: firstPendingIndexes in pkg/controller/job/indexed_job_utils.go,
// getPodCreationInfoForIndependentIndexes in job_controller.go, Kubernetes v1.33 to v1.37.
func (s *round) pending(n int) (list []int32, until Millis) {
	until = never
	wait := s.waiting
	ask := func(index int32, end Millis) {
		if n--; end > s.now {
			until = min(until, end)
		} else {
			list = append(list, index)
		}
	}
	waitingBelow := func(index int32) {
		for n > 0 && len(wait) > 0 && wait[0].index < index {
			ask(wait[0].index, wait[0].end)
			wait = wait[1:]
		}
	}
	succeeded, failed := s.newSucceeded, s.newFailed
	for _, r := range s.idle.runs {
		for i := r.first; i <= r.last; i++ {
			if waitingBelow(i); n == 0 {
				return list, until
			}
			for len(succeeded) > 0 && succeeded[0] < i {
				succeeded = succeeded[1:]
			}
			for len(failed) > 0 && failed[0] < i {
				failed = failed[1:]
			}
			if len(succeeded) > 0 && succeeded[0] == i || len(failed) > 0 && failed[0] == i {
				continue
			}
			end := Millis(0)
			if s.perIndex {
				if p := s.replaced(i); p != nil {
					end = s.retryAt(p)
				}
			}
			ask(i, end)
		}
	}
	waitingBelow(*s.spec.Completions)
	return list, until
}

// takeable returns the Pods that are to be counted and let go, those of an indexed Job by index: of
// more than are taken at once the others wait for the next sync.
func (s *round) takeable() (list []*jobPod) {
	ends := s.end.Type != ""
	for _, p := range s.finishing {
		if ends || p.Phase == policy.PodSucceeded || !s.perIndex || p.delayed != s.syncs {
			list = append(list, p)
		}
	}
	if !ends {
		return list
	}
	for _, p := range s.running {
		if p.finalizer && !p.listed && p.Over < 0 {
			list = append(list, p)
		}
	}
	if !s.indexed || len(list) <= finishedPerSync {
		return list
	}
	sorted := make([]*jobPod, len(list))
	for i, n := range policy.Order(len(list), func(a, b int) bool { return list[a].before(list[b]) }) {
		sorted[i] = list[n]
	}
	return sorted
}

// write counts what has finished and writes the status.
//
// Source: trackJobStatusAndRemoveFinalizers, canRemoveFinalizer, flushUncountedAndRemoveFinalizers
// and enactJobFinished in pkg/controller/job/job_controller.go, Kubernetes v1.33 to v1.37.
func (s *round) write() {
	j, was := s.job, &s.job.status
	now := &s.status
	now.Active, now.Ready = s.active, s.ready
	if f := s.sc.Pod.Kubelet.Features; f.ReplacesPods() {
		now.Terminating = s.terminating
	}
	flush := s.suspension || now.JobCounters != was.JobCounters || !was.Written
	var freed []*jobPod
	counted := 0
	take := func(p *jobPod) bool {
		freed = append(freed, p)
		switch {
		case p.Phase == policy.PodSucceeded && s.indexed:
			if !was.CompletedIndexes.has(p.Index) {
				counted++
			}
		case p.Phase == policy.PodSucceeded:
			now.Succeeded++
			counted++
		case (p.Fails || s.end.Type != "" && s.end.Type != jobSuccessCriteriaMet) && s.match(p).Counted():
			now.Failed++
			counted++
		default:
			p.Unjudged = !p.Fails // it runs, and the Job has succeeded without it
		}
		return counted < finishedPerSync
	}
	if s.end.Type != "" {
		s.unwaitAll()
	}
	goesOn := true
	for _, p := range s.takeable() {
		if goesOn = take(p); !goesOn {
			break
		}
	}
	flush = flush || counted > 0 || len(s.newFailed) > 0 || len(s.newSucceeded) > 0
	var announced []JobCondition
	condition := func(c JobCondition) {
		c.Since = wholeSecond(s.now)
		now.Conditions = append(now.Conditions, c)
		announced = append(announced, c)
		flush = true
	}
	finally := s.end
	switch s.end.Type {
	case jobFailureTarget:
		condition(s.end)
		finally.Type = jobFailed
	case jobSuccessCriteriaMet:
		if now.condition(jobSuccessCriteriaMet) == nil {
			condition(s.end)
		}
		finally.Type = jobComplete
	}
	if flush && s.refused() {
		return
	}
	if flush {
		j.backoff = s.record
	}
	finished := goesOn && finally.Type != "" && (s.terminating == 0 || !j.inTwoSteps)
	if finished && j.sc.Pod.Kubelet.Features.JobManagedBy && now.StartTime < 0 && !(s.suspended && s.spec.Completions != nil && *s.spec.Completions == 0) {
		// Only the second write is refused: that a Job is over which has not started.
		finished = false
		s.refuse()
	} else {
		j.failures = 0
	}
	if finished {
		if condition(finally); finally.Type == jobComplete {
			now.CompletionTime = wholeSecond(s.now)
		}
	}
	j.finished = finished
	for _, i := range s.newSucceeded {
		now.CompletedIndexes.add(i)
		j.idle.remove(i)
	}
	if s.indexed {
		now.Succeeded = now.CompletedIndexes.Len()
	}
	for _, i := range s.newFailed {
		now.FailedIndexSet.add(i)
		j.idle.remove(i)
		j.record(&Record{Event: IndexFailed, Container: OfJob, Index: i})
	}
	for i := range announced {
		c := &announced[i]
		j.record(&Record{Event: conditionKind(c), Container: OfJob, Reason: c.Reason, Message: c.Message})
	}
	for _, p := range freed {
		p.finalizer = false
		j.showGone(p)
	}
	s.keep()
	j.dirty = j.dirty || len(freed) > 0
	if flush {
		now.Written, j.dirty = true, true
	}
	j.status = *now
}

// keep leaves among those that finish whose finalizer stays, but for those of which nothing changes
// before they are replaced.
func (s *round) keep() {
	left, all := s.finishing[:0], s.finishing
	for i, p := range all {
		switch {
		case !p.finalizer:
		case s.end.Type == "" && s.perIndex && p.delayed == s.syncs && p.Over >= 0 && !s.busy.has(p.Index) &&
			(len(left) == 0 || left[len(left)-1].Index != p.Index) && (i+1 == len(all) || all[i+1].Index != p.Index):
			s.rest(p, s.retryAt(p))
		default:
			left = append(left, p)
		}
	}
	clear(all[len(left):])
	s.job.finishing = left
}

// refused reports whether the API server refuses the status.
//
// Source: getStatusValidationOptions in pkg/registry/batch/job/strategy.go, validateJobStatus in
// pkg/apis/batch/validation/validation.go, Kubernetes v1.33 to v1.37.
func (s *round) refused() bool {
	if !s.sc.Pod.Kubelet.Features.JobManagedBy {
		return false // the status is not looked at
	}
	was, now := &s.job.status, &s.status
	moreReady := now.Ready > now.Active && (now.Ready != was.Ready || now.Active != was.Active)
	moved := was.StartTime >= 0 && now.StartTime != was.StartTime && !s.suspended
	resuming := s.suspension && !s.suspended
	if moreReady || moved && !(resuming && s.sc.Pod.Kubelet.Features.Minor >= 35) {
		s.refuse()
		return true
	}
	return false
}

// refuse lets the controller try again later, each time twice as late.
func (s *round) refuse() {
	j := s.job
	wait := apiBackoff
	for range j.failures {
		if wait = 2 * wait; wait >= maxAPIBackoff {
			wait = maxAPIBackoff
			break
		}
	}
	j.failures++
	j.wake = min(j.wake, j.now+wait)
	if j.failures == 1 {
		j.record(&Record{Event: StatusDenied, Container: OfJob, Until: j.now + wait})
	}
}
