package simulate

import "github.com/podfate/podfate/policy"

// Millis is an instant since the creation of the Pod, or a length of time.
type Millis = policy.Millis

// Forever as [Run.Times] repeats a run without end.
const Forever = -1

// KilledExitCode is the code of a container that the kubelet kills, unless the event says otherwise: 128 + SIGKILL,
// what remains when a process ignores SIGTERM.
const KilledExitCode = 137

// Limits of a simulation.
const (
	// MaxRuns bounds the entries of all tapes together.
	MaxRuns = 10_000
	// MaxTimes bounds how often one entry of a tape is taken; more is spelled forever.
	MaxTimes = 1_000_000_000
	// MaxEvents bounds the events of a request.
	MaxEvents = 10_000
	// MaxSteps bounds the work of one simulation, counted in containers looked at: about 150 ms natively. A day of 500
	// containers that crash in different rhythms takes 2.5 million.
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
	For      Millis
	ExitCode int32
	Reason   string // of the termination; "" is Completed for code 0 and Error for any other
	Times    int64  // how many starts take this entry; [Forever] for all that follow
}

// Tape is what a container does at its successive starts. When it is used up, the container runs on.
type Tape struct {
	Container policy.Ref
	Runs      []Run
}

// EventType names what happens to the Pod from outside.
type EventType string

// The events that the model covers.
const (
	EventEvicted          EventType = "Evicted"          // by the kubelet, for lack of a resource
	EventDeleted          EventType = "Deleted"          // deletionTimestamp is set
	EventDeadlineExceeded EventType = "DeadlineExceeded" // activeDeadlineSeconds is over
	EventNodeShutdown     EventType = "NodeShutdown"     // graceful shutdown of the node
	EventKubeletRestarted EventType = "KubeletRestarted" // the back-offs are forgotten
	EventNodeRebooted     EventType = "NodeRebooted"     // everything is gone at once, kubelet included
	EventSandboxLost      EventType = "SandboxLost"      // the sandbox is not ready any more
	EventLivenessFailed   EventType = "LivenessFailed"
	EventStartupFailed    EventType = "StartupFailed"
	EventImageChanged     EventType = "ImageChanged"
	EventResized          EventType = "Resized" // in place, with the resizePolicy RestartContainer
	EventContainerUnknown EventType = "ContainerUnknown"
	EventContainerLost    EventType = "ContainerLost" // the runtime knows nothing of the container any more
	EventOOMKilled        EventType = "OOMKilled"
	EventExited           EventType = "Exited" // the process ends, whatever the tape says
)

// ofContainer tells which events name a container.
func (t EventType) ofContainer() bool {
	switch t {
	case EventLivenessFailed, EventStartupFailed, EventImageChanged, EventResized, EventContainerUnknown,
		EventContainerLost, EventOOMKilled, EventExited:
		return true
	}
	return false
}

// EventTypes returns the events that the model covers, in a fixed order.
func EventTypes() []EventType {
	return []EventType{
		EventEvicted, EventDeleted, EventDeadlineExceeded, EventNodeShutdown, EventKubeletRestarted, EventNodeRebooted,
		EventSandboxLost, EventLivenessFailed, EventStartupFailed, EventImageChanged, EventResized,
		EventContainerUnknown, EventContainerLost, EventOOMKilled, EventExited,
	}
}

// OutsideTypes returns the events that people ask about and the model does not cover: the answer is undecided.
func OutsideTypes() []EventType {
	return []EventType{
		"CreateContainerConfigError", "CreateContainerError", "ErrImageNeverPull", "ErrImagePull", "FailedMount",
		"ImagePullBackOff", "InvalidImageName", "NodeLost", "PostStartHookError", "Preempted", "RunContainerError", "StartError",
	}
}

// OfContainer reports whether events of type t concern one container.
func (t EventType) OfContainer() bool { return t.ofContainer() }

// Event is something that happens to the Pod from outside.
type Event struct {
	At        Millis
	Type      EventType
	Container policy.Ref // for the types that name one
	// ExitCode is that of the containers which the event ends or makes the kubelet kill.
	ExitCode int32
	Reason   string // of the termination, for [EventExited]
	// Outside tells that the model does not cover the event: the simulation ends there, undecided.
	Outside bool
	// Kubelet is what a restarted kubelet runs with, nil for the same as before.
	Kubelet *Kubelet
}

// Kubelet is what differs between kubelets.
type Kubelet struct {
	Features policy.Features
	Backoff  policy.Backoff
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
)

// Timing says how much of a real kubelet's slowness is played. The zero value is ideal timing.
type Timing struct {
	Detection    Millis // from an exit to the sync that sees it, and from a start to the next one
	FirstRestart FirstRestart
	KubeletSync  bool   // tries come when the kubelet's work queue wakes, not when a wait ends
	Jitter       Jitter // with KubeletSync
}

// Scenario is what a simulation starts from.
type Scenario struct {
	Spec    *policy.PodSpec
	Kubelet Kubelet
	Name    string // of the Pod, as the kubelet prints it: name_namespace(uid)
	Tapes   []Tape
	Events  []Event // ordered by At
	Until   Millis  // at most [policy.MaxHorizon]
	Timing  Timing
	// Undecided says why nobody knows what follows an exit, "" if it is known; nil never asks.
	Undecided func(policy.Ref, policy.Exit) (reason, path string)

	writeOut bool // for tests: repetition is not summarised
}
