package simulate

import (
	"strconv"

	"github.com/podfate/podfate/policy"
)

// Limits of the simulation of a Job.
const (
	// MaxJobPods bounds the Pods that a simulation creates: an answer of 4 MiB holds about as many.
	// One that has ended takes 500 bytes with its line in the result, one that runs 3 KB.
	MaxJobPods = 15_000
	// MaxActivePods bounds those that run at once.
	MaxActivePods = 5_000
	// MaxJobContainers bounds the containers of all Pods together, and a tenth of it those that run
	// at once.
	MaxJobContainers = 100_000
)

// Names of the limits that only a [JobResult] can exceed.
const (
	LimitJobPods       = "jobPods"
	LimitActivePods    = "activePods"
	LimitJobContainers = "jobContainers"
)

// Kinds of entries of the timeline of a Job, besides those of its Pods. A condition that becomes
// true appears under its type.
const (
	PodCreated   Kind = "PodCreated"   // the Job controller has created a Pod
	PodDeleted   Kind = "PodDeleted"   // the Job controller has deleted a Pod
	IndexFailed  Kind = "IndexFailed"  // an index of the Job has failed for good
	StatusDenied Kind = "StatusDenied" // the API server refuses the status that the controller or the kubelet writes
)

// Entries of the timeline that concern neither a container nor a Pod have this in place of a
// container.
const OfJob = -2

// JobScenario is what the simulation of a Job starts from.
type JobScenario struct {
	// Pod is what its Pods have in common. Its tapes are those of the whole Job: each start takes
	// the next run, whatever Pod it is in. Its Events name Pods, or concern the Job. Start and Past
	// do not count.
	Pod             Scenario
	Job             *policy.Job // valid and with its defaults
	Name, Namespace string
	PodTapes        []PodTapes
	Retries         policy.Series // of Pods that replace failed ones; the zero value is the controller's own
	// Undecided says why nobody knows what the podFailurePolicy makes of a failed Pod, "" if it is
	// known; nil never asks.
	Undecided func(*policy.FailedPod, policy.PodFailureMatch) (reason, path string)

	spare []*kubelet // memory of an earlier simulation, for the next one
}

// PodTapes are the tapes of one Pod, by its number in order of creation from 0, or of one
// completion index, where each Pod of the index goes on where the one before has stopped.
type PodTapes struct {
	Pod, Index int32 // one of them is -1
	Tapes      []Tape
}

// JobResult is the answer of the simulation of a Job.
type JobResult struct {
	Timeline []Record
	Counters []JobCounters // one for each instant at which they changed
	Pods     []PodResult   // in order of creation
	Status   JobStatus
	// Containers of the template, in the order of a [Result], with what became of them in all Pods
	// together.
	Containers  []ContainerTotals
	Until       Millis
	Undecided   []Undecided
	Assumptions []string
	// Exceeded names the limit that ended the simulation at Until, "" for none. What the result
	// says of that instant is of no use; up to the one before it is complete with that one as the
	// end of the scenario.
	Exceeded string
	Steps    int64
	Spent    Spent
	Rows     *Rows // nil unless they were asked for
}

// ContainerTotals is what became of one container in all Pods.
type ContainerTotals struct {
	Ref policy.Ref
	Totals
	Restarts int64
}

// JobCounters are the counters in the status of a Job.
type JobCounters struct {
	At                                            Millis
	Active, Ready, Succeeded, Failed, Terminating int64
	FailedIndexes                                 int64
}

// JobStatus is the status of a Job. Times are in whole seconds, below 0 where there is none.
type JobStatus struct {
	JobCounters
	StartTime, CompletionTime Millis
	CompletedIndexes          Indexes
	FailedIndexSet            Indexes
	Conditions                []JobCondition
	Written                   bool // the controller has written it, so that counters of 0 are there
}

// JobCondition is a condition of a Job.
type JobCondition struct {
	Type            string
	False           bool
	Reason, Message string
	Since           Millis
}

// PodResult is one Pod of the Job at the end.
type PodResult struct {
	Number, Index          int32 // the index is -1 without one
	FailureCount           int32 // annotations job-index-failure-count and job-index-ignored-failure-count; -1: not there
	IgnoredCount           int32
	Created, Deleted, Over Millis // below 0: not yet; Deleted by whoever did it
	Phase                  policy.PodPhase
	Reason                 string
	DisruptedBy            string // reason of the condition DisruptionTarget, "" for none
	Status                 policy.FailedPod
	Match                  policy.PodFailureMatch // of a failed Pod
	Fails                  bool                   // it has failed, as far as the Job is concerned
	Unjudged               bool                   // the controller let it go before it ended: suspended, or no longer needed; Match says nothing
}

// PodName returns the name that a simulation gives to a Pod: like those of an API server, but the
// letters at the end count the Pods. index is below 0 unless the Job is Indexed.
//
// Source: podGenerateNameWithIndex in pkg/controller/job/indexed_job_utils.go, getPodsPrefix in
// pkg/controller/controller_utils.go, GenerateName in k8s.io/apiserver/pkg/storage/names,
// Kubernetes v1.33 to v1.37.
func PodName(job string, number, index int32) string {
	const letters, most = "bcdfghjklmnpqrstvwxz", 63 - 5 // letters only, so that names are in order of creation
	suffix := [7]byte{}
	n, i := int(number), len(suffix)
	for i > 2 || n > 0 {
		i--
		suffix[i] = letters[n%len(letters)]
		n /= len(letters)
	}
	if index < 0 { // the dash gives way to the name, which is cut as a whole
		job += "-"
		return job[:min(len(job), most)] + string(suffix[i:])
	}
	tail := "-" + strconv.Itoa(int(index)) + "-"
	return job[:min(len(job), most-len(tail))] + tail + string(suffix[i:])
}

// job is the state of a simulation: what the API server has of the Job and its Pods, and the Job
// controller's memory.
type job struct {
	sc   *JobScenario
	spec *policy.Job
	pod  *policy.PodSpec
	now  Millis
	res  JobResult
	rows *Rows // nil if nobody asks for them

	perIndex, indexed, onlyFailed bool
	inTwoSteps                    bool // the condition with which a Job ends waits for its Pods
	policy                        *policy.FailurePolicy
	success                       []Indexes // those of the success policy's rules
	byName                        []int     // containers in the order of a status
	suspended                     bool

	status   JobStatus
	finished bool
	syncs    int64

	pods      []*jobPod // all, by number
	finishing []*jobPod // those that count as finished and still have their finalizer, by index and number, without those of waiting
	waiting   []waiting // of a limit per index: those that only wait for their replacement, by index
	counted   int64     // of waiting: failures that count
	running   []*jobPod // active or terminating, by number, and ended others that are over by now
	ended     int
	created   []*jobPod  // not begun yet
	spare     []*kubelet // of Pods that are over, for others
	active    int64
	ready     int64
	terminating,
	restarts int64 // of all Pods that run
	busy Indexes // with a Pod, so that the index is not pending
	idle Indexes // pending, without those of waiting
	due  podHeap

	dirty    bool   // something has changed that the controller has to look at
	wake     Millis // when it looks again by itself
	failures int    // refused writes in a row
	backoff  backoffRecord
	told     Millis // the end of the wait that the timeline has

	tapes   []tape   // of the Job, one for each container
	own     []int    // PodTapes by Pod and index
	played  [][]tape // how far those of each have come, nil before the first start
	ofOne   []Event  // those of single Pods, by number and time
	ofAll   []Event  // those of all Pods, by time
	next    int      // event
	met     bool     // when the events of this instant came, there was a Pod for those of all Pods
	block   int      // where the last block of the timeline begins, which may stand for several Pods
	assumed []string
	entries []Record // of one kubelet at a time, before they are in the timeline
	scratch policy.FailedPod
	unknown *Undecided // what nobody knows, nil while all is known
	stopped bool
}

// Job plays the scenario.
func Job(sc *JobScenario) *JobResult {
	j := newJob(sc)
	if j.spec.ManagedElsewhere() {
		j.res.Undecided = append(j.res.Undecided, Undecided{Reason: "managed_elsewhere", Path: "spec.managedBy", Event: -1})
		j.res.Until = 0
	} else {
		j.loop()
	}
	j.finish()
	return &j.res
}

func newJob(sc *JobScenario) *job {
	j := &job{sc: sc, spec: sc.Job, spare: sc.spare, pod: sc.Pod.Spec, wake: never, told: -1, dirty: true, block: -1, rows: newRows(&sc.Pod)}
	spec := j.spec
	j.indexed, j.onlyFailed = spec.Indexed(), spec.OnlyReplaceFailed()
	j.perIndex = j.indexed && spec.BackoffLimitPerIndex != nil
	j.suspended = *spec.Suspend
	f := sc.Pod.Kubelet.Features
	j.inTwoSteps = f.JobManagedBy || f.JobPodReplacementPolicy
	j.policy = policy.CompileFailurePolicy(spec.PodFailurePolicy)
	j.status.StartTime, j.status.CompletionTime, j.backoff.last = -1, -1, -1
	if spec.SuccessPolicy != nil {
		for _, rule := range spec.SuccessPolicy.Rules {
			var set Indexes
			if rule.SucceededIndexes != nil {
				set = parseIndexes(*rule.SucceededIndexes, *spec.Completions)
			}
			j.success = append(j.success, set)
		}
	}
	if j.indexed && *spec.Completions > 0 {
		j.idle = Indexes{runs: []span{{0, *spec.Completions - 1}}, n: int64(*spec.Completions)}
	}
	own := sc.PodTapes
	j.own = policy.Order(len(own), func(a, b int) bool {
		return own[a].Pod < own[b].Pod || own[a].Pod == own[b].Pod && own[a].Index < own[b].Index
	})
	inits, mains := len(j.pod.InitContainers), len(j.pod.Containers)
	j.byName = policy.Order(mains, func(a, b int) bool { return j.pod.Containers[a].Name < j.pod.Containers[b].Name })
	for i := range j.byName {
		j.byName[i] += inits
	}
	for i := range inits {
		j.byName = append(j.byName, i)
	}
	sc.Pod.writeOut = true
	sc.Pod.rules = policy.Compile(j.pod, sc.Pod.Kubelet.Features)
	j.tapes = make([]tape, j.pod.Len())
	for _, t := range sc.Pod.Tapes {
		j.tapes[(&kubelet{inits: inits, ctrs: make([]container, len(j.tapes)), ephemerals: len(j.pod.EphemeralContainers)}).index(t.Container)].runs = t.Runs
	}
	j.played = make([][]tape, len(own))
	events := sc.Pod.Events
	for _, i := range policy.Order(len(events), func(a, b int) bool { return events[a].Pod < events[b].Pod }) {
		switch e := &events[i]; {
		case e.Type.OfJob():
		case e.Pod == AllPods:
			j.ofAll = append(j.ofAll, *e)
		default:
			j.ofOne = append(j.ofOne, *e)
		}
	}
	return j
}

func (j *job) loop() {
	j.events()
	j.settle()
	j.missed()
	for !j.stopped {
		t := j.wake
		if len(j.due) > 0 {
			t = min(t, j.due[0].at)
		}
		if events := j.sc.Pod.Events; j.next < len(events) {
			t = min(t, events[j.next].At)
		}
		if t > j.sc.Pod.Until {
			break
		}
		j.now = t
		j.events()
		j.settle()
		j.missed()
	}
	j.res.Until = j.now
	if !j.stopped {
		j.res.Until = j.sc.Pod.Until
	}
}

// settle lets the kubelets and the controller work in turn until nothing changes any more.
func (j *job) settle() {
	j.block = -1
	for !j.stopped {
		for _, p := range j.created {
			p.begin(j)
		}
		j.created = j.created[:0]
		for len(j.due) > 0 && j.due[0].at <= j.now && !j.stopped {
			if p := j.due.pop(); p != nil {
				p.step(j)
			}
		}
		if !j.dirty && j.wake > j.now || j.stopped {
			break
		}
		if j.dirty = false; j.wake <= j.now {
			j.wake = never // until then it stays, whatever else makes the controller look
		}
		if j.ended > len(j.running)/2 {
			j.forget()
		}
		j.sync()
		if j.res.Steps += int64(len(j.finishing)+len(j.created)) + 1; j.res.Steps > MaxSteps {
			j.exceed(LimitSteps)
		}
	}
	j.count()
}

// events lets happen to the Job what the scenario has for it; Pods look for theirs themselves.
func (j *job) events() {
	events := j.sc.Pod.Events
	for i := j.next; i < len(events) && events[i].At <= j.now; i++ {
		if events[i].Type.OfJob() {
			j.jobEvent(&events[i])
		} else if events[i].Pod < 0 {
			j.met = len(j.running) > j.ended
		}
	}
}

// missed goes on to the next event and notes those of this instant that had no Pod to happen to.
func (j *job) missed() {
	for events := j.sc.Pod.Events; j.next < len(events) && events[j.next].At <= j.now; j.next++ {
		e := &events[j.next]
		r := Record{Event: Kind(e.Type.String()), Container: none, Pod: e.Pod}
		switch {
		case e.Type.OfJob() || e.Pod < 0 && j.met:
			continue
		case e.Pod < 0:
			r.Container, r.Ignored = OfJob, "no_pod"
		case int(e.Pod) >= len(j.pods):
			r.Ignored = "pod_not_created"
		case j.pods[e.Pod].k == nil && j.pods[e.Pod].Over < e.At:
			r.Ignored = ignoredPodOver
		default:
			continue
		}
		j.record(&r)
	}
}

func (j *job) jobEvent(e *Event) {
	r := Record{Event: Kind(e.Type.String()), Container: OfJob}
	if e.Type == EventControllerRestarted {
		j.backoff, j.failures, j.wake, j.dirty = backoffRecord{last: -1}, 0, never, true
	} else if suspend := e.Type == EventSuspended; j.suspended == suspend {
		r.Ignored = "nothing_changes"
	} else if j.finished {
		r.Ignored = "job_finished"
	} else {
		j.suspended, j.dirty = suspend, true
	}
	j.record(&r)
}

// record adds an entry to the timeline.
func (j *job) record(r *Record) {
	r.At = j.now
	if r.Container == OfJob {
		r.Pod = -1
	}
	r.Pods = 1
	if len(j.res.Timeline) >= MaxRecords {
		j.exceed(LimitTimeline)
		return
	}
	j.res.Timeline = append(j.res.Timeline, *r)
}

// blockOf adds the entries of one Pod to the timeline, or the Pod to the entries before if they are
// the same.
func (j *job) blockOf(number int32, list []Record) {
	t := j.res.Timeline
	if len(list) == 0 {
		return
	}
	same := j.block >= 0 && len(t)-j.block == len(list) && t[j.block].Pod+t[j.block].Pods == number
	for i := 0; same && i < len(list); i++ {
		same = t[j.block+i].alike(&list[i])
	}
	if same {
		for i := range list {
			t[j.block+i].Pods++
		}
		return
	}
	j.block = len(t)
	for i := range list {
		list[i].Pod = number
		j.record(&list[i])
	}
}

// alike reports whether a and b say the same of different Pods at the same instant.
func (a *Record) alike(b *Record) bool {
	return a.Event == b.Event && a.Container == b.Container && a.RestartCount == b.RestartCount && a.ExitCode == b.ExitCode &&
		a.Reason == b.Reason && a.Until == b.Until && a.Delay == b.Delay && a.From == b.From && a.To == b.To && a.Ignored == b.Ignored &&
		a.Match == b.Match && a.WillRestart == b.WillRestart && (a.Decision == nil) == (b.Decision == nil) &&
		(a.Decision == nil || *a.Decision == *b.Decision) && (a.Cause == nil) == (b.Cause == nil) &&
		(a.Cause == nil || *a.Cause == *b.Cause) && len(a.Starts)+len(b.Starts) == 0
}

// ask is what the podFailurePolicy says of p as it is now. Of a Pod that nobody knows an answer for
// it says so, and nothing else happens from then on; see tellUnknown.
func (j *job) ask(p *jobPod) policy.PodFailureMatch {
	s := j.statusOf(p)
	match := j.policy.Match(s)
	if j.sc.Undecided != nil && j.unknown == nil {
		for i := range j.spec.PodFailurePolicy.Rules {
			if on := j.spec.PodFailurePolicy.Rules[i].OnExitCodes; on != nil {
				j.res.Steps += int64(len(on.Values) * len(s.Exits))
			}
		}
		if why, path := j.sc.Undecided(s, match); why != "" {
			p.Unjudged = true
			j.unknown = &Undecided{At: j.now, Reason: why, Path: path, Event: -1}
		}
	}
	return match
}

// tellUnknown ends the simulation if ask was left without an answer.
func (j *job) tellUnknown() {
	if j.unknown != nil && !j.stopped {
		j.res.Undecided = append(j.res.Undecided, *j.unknown)
		j.record(&Record{Event: UndecidedHere, Container: OfJob, Reason: j.unknown.Reason})
		j.stopped = true
	}
}

func (j *job) exceed(limit string) {
	if j.res.Exceeded == "" {
		j.res.Exceeded = limit
	}
	j.stopped = true
}

// count notes the counters of this instant if they have changed.
func (j *job) count() {
	now := j.status.JobCounters
	now.FailedIndexes = j.status.FailedIndexSet.Len()
	if n := len(j.res.Counters); n > 0 {
		now.At = j.res.Counters[n-1].At
		if now == j.res.Counters[n-1] {
			return
		}
	} else if j.status.StartTime < 0 && now == (JobCounters{}) {
		return
	}
	now.At = j.now
	j.res.Counters = append(j.res.Counters, now)
}

func (j *job) finish() {
	j.lastRows()
	r := &j.res
	r.Status = j.status
	r.Status.At = r.Until
	kubelets := &kubelet{inits: len(j.pod.InitContainers), ephemerals: len(j.pod.EphemeralContainers), ctrs: make([]container, j.pod.Len())}
	if r.Containers == nil {
		r.Containers = make([]ContainerTotals, j.pod.Len())
	}
	for i := range r.Containers {
		r.Containers[i].Ref = kubelets.ref(i)
	}
	r.Pods = make([]PodResult, 0, len(j.pods))
	for _, p := range j.pods {
		if p.k != nil {
			p.k.now = r.Until
			j.total(p)
			p.Status = *j.statusOf(p)
			p.Status.Exits = append([]policy.PodExit(nil), p.Status.Exits...)
			p.Status.Conditions = append([]policy.PodCondition(nil), p.Status.Conditions...)
			j.spare = append(j.spare, p.k)
		}
		r.Pods = append(r.Pods, p.PodResult)
	}
	one := kubelet{sc: &j.sc.Pod, f: j.sc.Pod.Kubelet.Features, report: report{assumed: j.assumed}}
	one.standing()
	r.Assumptions = one.report.assumed
	j.sc.spare = j.spare
}
