package simulate

import "github.com/podfate/podfate/policy"

// Millis is a length of time, or an instant since the creation of the Pod or the Job; with a
// [Past], since the year 1970.
type Millis = policy.Millis

// Forever as [Run.Times] repeats a run without end.
const Forever = -1

// KilledExitCode is the code of a container that the kubelet kills, unless the event says
// otherwise: 128 + SIGKILL, what remains when a process ignores SIGTERM.
const KilledExitCode = 137

// Limits of a simulation.
const (
	// MaxRuns bounds the entries of all tapes together.
	MaxRuns = 10_000
	// MaxTimes bounds how often one entry of a tape is taken; more is spelled forever.
	MaxTimes = 1_000_000_000
	// MaxEvents bounds the events of a request.
	MaxEvents = 10_000
	// MaxSteps bounds the work of one simulation, counted in containers looked at: about 150 ms
	// natively. A day of 500 containers that crash in different rhythms takes 2.5 million.
	MaxSteps = 3_000_000
	// MaxRecords bounds the timeline: about 4 MiB of JSON, and 5 MiB of the memory of a module.
	MaxRecords = 25_000
)

// Names of the limits that a [Result] can exceed.
const (
	LimitSteps    = "simulationSteps"
	LimitTimeline = "timeline"
)

// Run is one entry of a tape: what the container does when it is started.
type Run struct {
	For      Millis // [NoEnd] for a container that only ends when it is stopped
	ExitCode int32
	Reason   string // of the termination; "" is Completed for code 0 and Error for any other
	Times    int64  // how many starts take this entry; [Forever] for all that follow
	Stop     *Stop  // nil: stopped, it is gone at once
}

// NoEnd as [Run.For] never ends by itself.
const NoEnd Millis = never

// Stop is what a container does when the kubelet stops it.
type Stop struct {
	PreStop  Millis // how long its preStop hook takes, 0 without one
	For      Millis // from SIGTERM to its end, unless SIGKILL comes first
	ExitCode int32  // of that end; SIGKILL leaves [KilledExitCode]
}

// Tape is what a container does at its successive starts. After its last run the container ends no
// more.
type Tape struct {
	Container policy.Ref
	Runs      []Run
}

// EventType is what happens to the Pod from outside. The zero value is nothing.
type EventType uint8

// The events that the model covers: those of the whole Pod, then those of one container.
const (
	_ EventType = iota

	EventEvicted          // by the kubelet, for lack of a resource
	EventDeleted          // deletionTimestamp is set
	EventDeadlineExceeded // activeDeadlineSeconds is over
	EventNodeShutdown     // graceful shutdown of the node
	EventStorageExceeded  // more local storage used than its limits allow
	EventKubeletPreempted // by the kubelet, for a critical Pod
	EventPreempted        // by the scheduler, for a Pod of higher priority
	EventDrained          // through the Eviction API
	EventTaintEvicted     // for a NoExecute taint of the node
	EventDeviceTainted    // for a NoExecute taint of a device
	EventNodeLost         // the node object is gone, and the garbage collector of Pods ends what ran there
	EventRecreated        // deleted; a new Pod begins [Event.After] after the end of this one

	EventKubeletRestarted // the back-offs are forgotten
	EventNodeRebooted     // everything is gone at once, kubelet included
	EventSandboxLost      // the sandbox is not ready any more
	EventKubeletStopped   // nobody looks at the Pod until EventKubeletRestarted
	EventRetryNow         // containers that wait start; their back-offs go on
	EventBackOffReset     // the back-offs are forgotten, and containers that wait start

	EventSuspended           // spec.suspend of the Job becomes true
	EventResumed             // and false
	EventControllerRestarted // the Job controller forgets its back-off

	EventLivenessFailed
	EventStartupFailed
	EventImageChanged
	EventResized // in place, with the resizePolicy RestartContainer
	EventContainerUnknown
	EventContainerLost // the runtime knows nothing of the container any more
	EventOOMKilled
	EventExited // the process ends, whatever the tape says

	outsideTypes
)

// eventNames are in the order of the constants, and then those that people ask about and the model
// does not cover. Nobody writes to it.
var eventNames = [...]string{
	"", "Evicted", "Deleted", "DeadlineExceeded", "NodeShutdown", "StorageLimitExceeded", "PreemptedByKubelet", "Preempted",
	"Drained", "TaintEvicted", "DeviceTaintEvicted", "NodeLost", "Recreated", "KubeletRestarted", "NodeRebooted", "SandboxLost",
	"KubeletStopped", "RetryNow", "BackOffReset",
	"JobSuspended", "JobResumed", "JobControllerRestarted",
	"LivenessFailed", "StartupFailed", "ImageChanged", "Resized", "ContainerUnknown", "ContainerLost", "OOMKilled", "Exited",

	"CreateContainerConfigError", "CreateContainerError", "ErrImageNeverPull", "ErrImagePull", "FailedMount",
	"ImagePullBackOff", "InvalidImageName", "PostStartHookError", "RunContainerError", "StartError",
}

// ParseEventType returns the type with this name, 0 if there is none.
func ParseEventType(name string) EventType {
	for i := len(eventNames) - 1; i > 0; i-- {
		if eventNames[i] == name {
			return EventType(i)
		}
	}
	return 0
}

func (t EventType) String() string { return eventNames[t] }

// EventTypes returns the names of the events that the model covers, in a fixed order. The list is
// shared: callers must not change it.
func EventTypes() []string { return eventNames[1:outsideTypes] }

// OutsideTypes does the same for those that it does not cover: the answer is undecided.
func OutsideTypes() []string { return eventNames[outsideTypes:] }

// OfContainer reports whether events of type t concern one container.
func (t EventType) OfContainer() bool { return EventLivenessFailed <= t && t < outsideTypes }

// Outside reports whether the model does not cover t: the simulation ends there, undecided.
func (t EventType) Outside() bool { return t >= outsideTypes }

// endsPod says which events end the Pod.
func (t EventType) endsPod() bool { return EventEvicted <= t && t <= EventRecreated }

// OfJob reports whether events of type t concern a Job itself.
func (t EventType) OfJob() bool { return EventSuspended <= t && t <= EventControllerRestarted }

// EndsNothing reports whether no container exits because of events of type t.
func (t EventType) EndsNothing() bool {
	switch t {
	case EventKubeletRestarted, EventKubeletStopped, EventRetryNow, EventBackOffReset, EventContainerLost:
		return true
	}
	return false
}

// Event is something that happens to the Pod from outside.
type Event struct {
	At        Millis
	Type      EventType
	Index     int        // its place in the request
	Pod       int32      // of a Job: the Pod's number in order of creation from 0, [AllPods] for those that are there
	Container policy.Ref // for the types that name one
	// ExitCode is that of the containers which the event ends or makes the kubelet kill.
	ExitCode int32
	Reason   string // of the termination, for [EventExited]
	// Grace is how long the containers of a Pod that the event ends are given, in whole seconds; 0
	// for what Kubernetes takes by itself. It never gives less than a second.
	Grace Millis
	// Forced reports that a Grace of a second was asked for as 0, which lets the API server forget
	// the Pod at once.
	Forced bool
	After  Millis // for [EventRecreated], from the end of the Pod to the begin of the new one
	// Outside reports that the model does not cover this event of a type that it does cover
	// otherwise.
	Outside bool
	// Kubelet is what a restarted kubelet runs with, nil for the same as before.
	Kubelet *Kubelet
}

// AllPods as [Event.Pod] stands for all Pods of a Job that have not ended.
const AllPods = -1

// Kubelet is what differs between kubelets.
type Kubelet struct {
	Features policy.Features
	Backoff  policy.Backoff
	// Waits are in place of those of Backoff, whose Reset is theirs; nil for its own. There is no
	// [Past] then.
	Waits *policy.Waits
}

// FirstRestart says how the first restart after a quiet time is delayed.
type FirstRestart string

// The two views of the first restart.
const (
	FirstRestartKubelet    FirstRestart = "kubelet"    // at once: what the code does
	FirstRestartDocumented FirstRestart = "documented" // after the initial delay: the documented series 10s, 20s, 40s
)

// Jitter is how much of the random extra between two tries of a real kubelet is used.
type Jitter string

// The jitters.
const (
	JitterNone Jitter = "none"
	JitterMean Jitter = "mean" // a quarter more
	JitterFull Jitter = "full" // almost half more, the most that can come
	// JitterMillis adds [Timing.JitterMillis] to each wait, or almost half of it if that is less.
	JitterMillis Jitter = "millis"
)

// MaxJitter is the most that can come of the longest wait, that for a resync.
const MaxJitter = syncFrequency/2 - 1

// Timing says how much of a real kubelet's slowness is played. The zero value is ideal timing.
type Timing struct {
	Detection    Millis // from an exit to the sync that sees it, and from a start to the next one
	FirstRestart FirstRestart
	KubeletSync  bool   // tries come when the kubelet's work queue wakes, not when a wait ends
	Jitter       Jitter // with KubeletSync
	JitterMillis Millis // with [JitterMillis], at most [MaxJitter]
}

// Scenario is what a simulation starts from.
type Scenario struct {
	Spec    *policy.PodSpec
	Kubelet Kubelet
	Server  policy.Features // of the API server; the zero value stands for those of Kubelet
	Start   Millis          // when the kubelet first sees the Pod, or when Past ends; nothing of Events is earlier
	Past    *Past           // nil for a Pod that begins now
	Name    string          // of the Pod, as the kubelet prints it: name_namespace(uid)
	Tapes   []Tape
	Events  []Event // ordered by At
	Until   Millis  // at most [policy.MaxHorizon]
	Timing  Timing
	// ShowRows asks for what kubectl prints, in [Result.Rows] or [JobResult.Rows].
	ShowRows bool
	// Undecided says why nobody knows what follows an exit, "" if it is known; nil never asks.
	Undecided func(policy.Ref, policy.Exit) (reason, path string)
	// Assume holds the codes of what Tapes rest on, in any order.
	Assume []string

	all      []Event        // of a Pod of a Job: those that it shares with the others, by time
	writeOut bool           // repetition is not summarised
	rules    *policy.Policy // of Spec, compiled for Kubelet; nil: they are compiled again
}
