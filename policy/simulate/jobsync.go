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

// sync is one round of the controller. It signals its changes only through j.dirty.
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
	s := round{job: j, draft: j.status, active: j.active, ready: j.ready, terminating: j.terminating, record: j.backoff}
	s.draft.Conditions = s.draft.Conditions[:len(s.draft.Conditions):len(s.draft.Conditions)]
	if s.since = s.draft.StartTime; s.since < 0 && !j.suspended {
		s.draft.StartTime, s.since = wholeSecond(j.now), j.now
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
	job                        *job
	draft                      JobStatus // as it will be written
	since                      Millis    // startTime, to the millisecond in the round that sets it
	active, ready, terminating int64
	succeeded, failed          int64 // with the Pods that this sync counts
	record                     backoffRecord
	end                        JobCondition // that the Job ends with; no type: it goes on
	suspension                 bool         // the condition Suspended has changed
	deleted                    []*jobPod
	newSucceeded, newFailed    []int32
	freed                      []*jobPod // whose finalizer goes
	counted                    int       // of those, towards finishedPerSync
	announced                  []JobCondition
}

// countFinished counts the Pods that have finished since the last sync, and what they mean for the
// back-off.
//
// Source: getNewFinishedPods and nonIgnoredFailedPodsCount in pkg/controller/job/job_controller.go,
// newBackoffRecord in backoff_utils.go, calculateSucceededIndexes and calculateFailedIndexes in
// indexed_job_utils.go, Kubernetes v1.33 to v1.37.
func (s *round) countFinished() {
	s.succeeded, s.failed = s.draft.Succeeded, s.draft.Failed
	succeeded, failed := int64(0), int64(0)
	s.failed += s.job.counted
	lastSuccess, lastFailure := Millis(-1), Millis(-1)
	for _, p := range s.job.finishing {
		if p.Fails {
			failed++
			lastFailure = max(lastFailure, s.job.finishTime(p))
			match := s.job.match(p)
			if match.Counted() {
				s.failed++
			}
			if s.job.perIndex && s.job.indexFails(p, match) && !s.draft.FailedIndexSet.has(p.Index) {
				s.newFailed = addLast(s.newFailed, p.Index)
			}
			continue
		}
		succeeded++
		lastSuccess = max(lastSuccess, s.job.finishTime(p))
		if s.job.indexed && !s.draft.CompletedIndexes.has(p.Index) {
			s.newSucceeded = addLast(s.newSucceeded, p.Index)
		}
	}
	if s.succeeded += succeeded; s.job.indexed {
		s.succeeded = s.draft.CompletedIndexes.Len() + int64(len(s.newSucceeded))
	}
	switch r := &s.record; {
	case succeeded == 0 && failed > 0:
		r.failures, r.last = r.failures+failed, lastFailure
	case succeeded > 0:
		*r = backoffRecord{last: -1}
		for _, p := range s.job.finishing {
			if at := s.job.finishTime(p); p.Fails && at > lastSuccess {
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
	switch met, failed := s.draft.condition(jobSuccessCriteriaMet), s.draft.condition(jobFailureTarget); {
	case met != nil:
		s.end = *met
	case failed != nil:
		s.end = *failed
		s.end.Type = jobFailed
	default:
		counts := JobCounts{
			Message: s.failJobMessage(), Failed: s.failed, Restarts: s.job.restarts,
			FailedIndexes: s.draft.FailedIndexSet.Len() + int64(len(s.newFailed)), Succeeded: s.succeeded,
		}
		if seconds := s.job.spec.ActiveDeadlineSeconds; seconds != nil && s.draft.StartTime >= 0 && !s.job.suspended {
			deadline := s.since + allowed(*seconds)
			if counts.Overdue = s.job.now >= deadline; !counts.Overdue {
				s.job.wake = min(s.job.wake, deadline)
			}
		}
		if reason, message := counts.Failure(s.job.spec, s.job.pod.RestartPolicy); reason != "" {
			s.end = JobCondition{Type: jobFailureTarget, Reason: reason, Message: message}
			if !s.job.inTwoSteps && reason != failurePolicyReason {
				s.end.Type = jobFailed
			}
		}
	}
	if s.job.perIndex {
		s.delay()
	}
	if s.end.Type == "" && s.job.indexed && s.succeeded > 0 {
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
	for _, p := range s.job.finishing {
		if p.Fails && (first == nil || p.Number < first.Number) && s.job.match(p).Action == policy.ActionFailJob {
			first = p
		}
	}
	if first == nil {
		return ""
	}
	m := s.job.match(first)
	return m.Message(s.job.statusOf(first), s.job.sc.Namespace, PodName(s.job.sc.Name, first.Number, first.Index))
}

// successRule returns the first rule of the success policy that is met, -1 if none is.
//
// Source: matchSuccessPolicy in pkg/controller/job/success_policy.go, Kubernetes v1.33 to v1.37.
func (s *round) successRule() int {
	if s.job.spec.SuccessPolicy == nil {
		return -1
	}
	for i := range s.job.spec.SuccessPolicy.Rules {
		rule, found := &s.job.spec.SuccessPolicy.Rules[i], s.succeeded
		if rule.SucceededIndexes != nil {
			found = s.draft.CompletedIndexes.common(&s.job.success[i])
			for _, n := range s.newSucceeded {
				if s.job.success[i].has(n) {
					found++
				}
			}
		}
		if isMet(rule, s.job.success[i].Len(), found) {
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
	s.job.syncs++
	var last *jobPod
	next := 0
	for _, p := range s.job.finishing {
		for next < len(s.newFailed) && s.newFailed[next] < p.Index {
			next++
		}
		if !p.Fails || s.succeededNow(p.Index) || s.draft.FailedIndexSet.has(p.Index) || next < len(s.newFailed) && s.newFailed[next] == p.Index || s.job.activeOn(p.Index) {
			continue
		}
		if last != nil && last.Index == p.Index {
			if last.absolute() > p.absolute() || s.job.finishTime(p) < s.job.finishTime(last) {
				continue
			}
			last.delayed = 0
		}
		p.delayed, last = s.job.syncs, p
	}
}

func (p *PodResult) absolute() int32 { return p.FailureCount + max(p.IgnoredCount, 0) }

func (s *round) succeededNow(index int32) bool {
	if s.draft.CompletedIndexes.has(index) {
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
	spec := s.job.spec
	if s.job.suspended {
		for _, p := range s.job.running {
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
		if !s.job.inTwoSteps {
			s.end.Type = jobComplete
		}
		return
	}
	var old *JobCondition
	for i := range s.draft.Conditions {
		if s.draft.Conditions[i].Type == jobSuspended {
			old = &s.draft.Conditions[i]
		}
	}
	if old == nil && !s.job.suspended || old != nil && old.False == !s.job.suspended {
		return
	}
	s.suspension = true
	now := JobCondition{Type: jobSuspended, Reason: "JobSuspended", Message: "Job suspended", Since: wholeSecond(s.job.now)}
	if s.job.suspended && s.job.sc.Pod.Kubelet.Features.MutableSchedulingDirectivesForSuspendedJobs {
		s.draft.StartTime = -1
	}
	if !s.job.suspended {
		now = JobCondition{Type: jobSuspended, False: true, Reason: "JobResumed", Message: "Job resumed", Since: now.Since}
		s.draft.StartTime = wholeSecond(s.job.now)
	}
	list := append([]JobCondition(nil), s.draft.Conditions...)
	for i := range list {
		if list[i].Type == jobSuspended {
			list[i] = now
		}
	}
	if old == nil {
		list = append(list, now)
	}
	s.draft.Conditions = list
	// The event comes even if the API server then refuses the status.
	s.job.record(&Record{Event: conditionKind(&now), Container: OfJob, Reason: now.Reason, Message: now.Message})
}

// replace creates the Pods that are missing, unless the back-off says to wait.
func (s *round) replace() {
	spec := s.job.spec
	want := int64(*spec.Parallelism)
	if spec.Completions != nil {
		want = max(min(want, int64(*spec.Completions)-s.succeeded), 0)
	} else if s.succeeded > 0 {
		want = s.active
	}
	missing := want - s.active
	if s.job.onlyFailed {
		missing -= s.terminating
	}
	if missing <= 0 {
		return
	}
	if !s.job.perIndex && s.waits(s.record.failures, s.record.last) {
		return
	}
	if missing > MaxJobPods {
		s.job.exceed(LimitActivePods) // whatever becomes of the first of them
		return
	}
	missing = min(missing, podsPerSync)
	if !s.job.indexed {
		for range missing {
			s.job.create(-1, -1, -1)
		}
		s.active += missing
		return
	}
	created, until := s.pending(int(missing))
	for _, i := range created {
		failures, ignored := int32(-1), int32(-1)
		if s.job.perIndex {
			s.job.unwait(i)
			failures, ignored = s.job.nextCounts(s.replaced(i))
		}
		s.job.create(i, failures, ignored)
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
	if end <= s.job.now {
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
	retries := s.job.sc.Retries
	if retries.Max == 0 {
		retries = JobRetries()
	}
	wait, _ := retries.At(int(min(failures, 1<<30)) - 1)
	return last + wait
}

// wait lets the controller look again at the end of the back-off. Up to 1.35 it then takes the Job
// for one without active Pods.
func (s *round) wait(end Millis) {
	s.job.wake = min(s.job.wake, end)
	if s.job.told != end {
		s.job.told = end
		s.job.record(&Record{Event: BackOff, Container: OfJob, Until: end, Delay: end - s.job.now})
	}
	if s.job.sc.Pod.Kubelet.Features.Minor <= 35 {
		s.active = 0
	}
}

// replaced returns the failed Pod whose index waits for another one, if it is among those that
// finish.
func (s *round) replaced(index int32) *jobPod {
	for _, p := range s.job.finishing[first(len(s.job.finishing), func(i int) bool { return s.job.finishing[i].Index >= index }):] {
		if p.Index != index {
			break
		}
		if p.delayed == s.job.syncs {
			return p
		}
	}
	return nil
}

// retryAt is when the index of p, which has failed, may have another Pod.
func (s *round) retryAt(p *jobPod) Millis {
	return s.backoffEnd(int64(p.absolute())+1, s.job.finishTime(p))
}

// pending looks at the first n indexes that have neither ended nor a Pod. It returns those whose
// back-off is over, and when the first of the others is.
//
// Source: firstPendingIndexes in pkg/controller/job/indexed_job_utils.go,
// getPodCreationInfoForIndependentIndexes in job_controller.go, Kubernetes v1.33 to v1.37.
func (s *round) pending(n int) (list []int32, until Millis) {
	until = never
	wait := s.job.waiting
	ask := func(index int32, end Millis) {
		if n--; end > s.job.now {
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
	for _, r := range s.job.idle.runs {
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
			if s.job.perIndex {
				if p := s.replaced(i); p != nil {
					end = s.retryAt(p)
				}
			}
			ask(i, end)
		}
	}
	waitingBelow(*s.job.spec.Completions)
	return list, until
}

// takeable returns the Pods that are to be counted and let go, those of an indexed Job by index: of
// more than are taken at once the others wait for the next sync.
func (s *round) takeable() (list []*jobPod) {
	ends := s.end.Type != ""
	for _, p := range s.job.finishing {
		if ends || p.Phase == policy.PodSucceeded || !s.job.perIndex || p.delayed != s.job.syncs {
			list = append(list, p)
		}
	}
	if !ends {
		return list
	}
	for _, p := range s.job.running {
		if p.finalizer && !p.listed && p.Over < 0 {
			list = append(list, p)
		}
	}
	if !s.job.indexed || len(list) <= finishedPerSync {
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
	j, was, now := s.job, &s.job.status, &s.draft
	now.Active, now.Ready = s.active, s.ready
	if j.sc.Pod.Kubelet.Features.ReplacesPods() {
		now.Terminating = s.terminating
	}
	changed := s.suspension || now.JobCounters != was.JobCounters || !was.Written
	all := s.takeFinished()
	last := s.announceEnd()
	changed = changed || s.counted > 0 || len(s.newFailed) > 0 || len(s.newSucceeded) > 0 || len(s.announced) > 0
	if changed && s.refused() {
		return
	}
	if changed {
		j.backoff = s.record
	}
	if j.finished = s.ends(last, all); j.finished {
		changed = true
		if s.announce(last); last.Type == jobComplete {
			now.CompletionTime = wholeSecond(j.now)
		}
	}
	s.recordIndexes()
	for i := range s.announced {
		c := &s.announced[i]
		j.record(&Record{Event: conditionKind(c), Container: OfJob, Reason: c.Reason, Message: c.Message})
	}
	for _, p := range s.freed {
		p.finalizer = false
		j.showGone(p)
	}
	s.keep()
	j.dirty = j.dirty || len(s.freed) > 0
	if changed {
		now.Written, j.dirty = true, true
	}
	j.status = *now
}

// takeFinished counts Pods that have finished, and reports whether it took all that are left: a
// round counts at most finishedPerSync.
func (s *round) takeFinished() (all bool) {
	if s.end.Type != "" {
		s.job.unwaitAll()
	}
	for _, p := range s.takeable() {
		if s.take(p); s.counted >= finishedPerSync {
			return false
		}
	}
	return true
}

// take counts one Pod, whose finalizer then goes.
func (s *round) take(p *jobPod) {
	s.freed = append(s.freed, p)
	switch {
	case p.Phase == policy.PodSucceeded && s.job.indexed:
		if !s.job.status.CompletedIndexes.has(p.Index) {
			s.counted++
		}
	case p.Phase == policy.PodSucceeded:
		s.draft.Succeeded++
		s.counted++
	case (p.Fails || s.end.Type != "" && s.end.Type != jobSuccessCriteriaMet) && s.job.match(p).Counted():
		s.draft.Failed++
		s.counted++
	default:
		p.Unjudged = !p.Fails // it runs, and the Job has succeeded without it
	}
}

// announce adds a condition to the status that will be written.
func (s *round) announce(c JobCondition) {
	c.Since = wholeSecond(s.job.now)
	s.draft.Conditions = append(s.draft.Conditions, c)
	s.announced = append(s.announced, c)
}

// announceEnd announces how the Job will end, and returns the condition with which it ends when its
// Pods are gone; one without a type if the Job goes on.
func (s *round) announceEnd() (last JobCondition) {
	last = s.end
	switch s.end.Type {
	case jobFailureTarget:
		s.announce(s.end)
		last.Type = jobFailed
	case jobSuccessCriteriaMet:
		if s.draft.condition(jobSuccessCriteriaMet) == nil {
			s.announce(s.end)
		}
		last.Type = jobComplete
	}
	return last
}

// ends reports whether the Job ends in this round with the condition last, now that all Pods that
// have finished are counted, or not. The write that says so is refused if the Job has not started.
func (s *round) ends(last JobCondition, all bool) bool {
	j := s.job
	over := all && last.Type != "" && (s.terminating == 0 || !j.inTwoSteps)
	if over && j.sc.Pod.Kubelet.Features.JobManagedBy && s.draft.StartTime < 0 && !(j.suspended && j.spec.Completions != nil && *j.spec.Completions == 0) {
		s.refuse()
		return false
	}
	j.failures = 0
	return over
}

// recordIndexes writes down which indexes have succeeded and failed in this round.
func (s *round) recordIndexes() {
	j, now := s.job, &s.draft
	for _, i := range s.newSucceeded {
		now.CompletedIndexes.add(i)
		j.idle.remove(i)
	}
	if j.indexed {
		now.Succeeded = now.CompletedIndexes.Len()
	}
	for _, i := range s.newFailed {
		now.FailedIndexSet.add(i)
		j.idle.remove(i)
		j.record(&Record{Event: IndexFailed, Container: OfJob, Index: i})
	}
}

// keep drops from finishing every Pod whose finalizer is gone, and every Pod that only waits for
// its replacement.
func (s *round) keep() {
	left, all := s.job.finishing[:0], s.job.finishing
	for i, p := range all {
		switch {
		case !p.finalizer:
		case s.end.Type == "" && s.job.perIndex && p.delayed == s.job.syncs && p.Over >= 0 && !s.job.busy.has(p.Index) &&
			(len(left) == 0 || left[len(left)-1].Index != p.Index) && (i+1 == len(all) || all[i+1].Index != p.Index):
			s.job.rest(p, s.retryAt(p))
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
	if !s.job.sc.Pod.Kubelet.Features.JobManagedBy {
		return false // the status is not looked at
	}
	was, now := &s.job.status, &s.draft
	moreReady := now.Ready > now.Active && (now.Ready != was.Ready || now.Active != was.Active)
	moved := was.StartTime >= 0 && now.StartTime != was.StartTime && !s.job.suspended
	resuming := s.suspension && !s.job.suspended
	if moreReady || moved && !(resuming && s.job.sc.Pod.Kubelet.Features.Minor >= 35) {
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
