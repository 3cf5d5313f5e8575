package simulate

import "github.com/podfate/podfate/policy"

// Kind names an entry of the timeline, in the words of Kubernetes' events where there is one.
type Kind string

// The kinds of entries. The events of a scenario appear under their own [EventType].
const (
	SandboxCreated          Kind = "SandboxCreated"          // the Pod has a new sandbox
	SandboxChanged          Kind = "SandboxChanged"          // the old sandbox is given up
	Started                 Kind = "Started"                 // a container was started
	ExitedBy                Kind = "Exited"                  // a container has ended
	BackOff                 Kind = "BackOff"                 // a start is postponed until the wait is over
	Killing                 Kind = "Killing"                 // the kubelet stops a container
	Removed                 Kind = "Removed"                 // a container was removed for RestartAllContainers
	RestartingAllContainers Kind = "RestartingAllContainers" // all containers are restarted in place
	PhaseChanged            Kind = "PhaseChanged"            // the phase that the API shows has changed
	PhaseDecided            Kind = "PhaseDecided"            // the kubelet has decided a phase, and the API still shows another one
	StatusDropped           Kind = "StatusDropped"           // the kubelet drops a status in which a container runs that must not
	StatusShown             Kind = "StatusShown"             // the API has caught up with the kubelet
	Repeated                Kind = "Repeated"                // rounds that are counted and not written out
	UndecidedHere           Kind = "Undecided"               // what follows is not known
)

// none is the container of an entry that concerns the Pod.
const none = -1

// Cause is the exit that something follows from, and what was decided about it.
type Cause struct {
	Container int // index in [Result.Containers]
	ExitCode  int32
	Decision  policy.Decision
}

// Record is one entry of the timeline. Which fields count depends on Event; those of other kinds
// are zero.
type Record struct {
	At        Millis
	Event     Kind
	Container int // index in [Result.Containers], below 0 for the Pod

	RestartCount int64            // Started; Repeated: after the last round
	ExitCode     int32            // Exited
	Reason       string           // Exited, Killing, PhaseChanged: why
	Decision     *policy.Decision // Exited: what follows; nil where nobody asks
	Until, Delay Millis           // BackOff
	WillRestart  bool             // Killing
	From, To     policy.PodPhase  // PhaseChanged, PhaseDecided
	OfKubelet    bool             // only the kubelet knows of it: the API shows something else
	Cause        *Cause           // of an entry other than Exited: nil if no exit led to it
	Ignored      string           // an event of the scenario that changes nothing: why

	// Of a Job: the entry stands for Pods Pods, by number from Pod on; Pod is -1 if it concerns the
	// Job.
	Pod, Pods int32
	Matched   bool                   // PhaseChanged: the Pod has failed, and Match is what the podFailurePolicy says
	Match     policy.PodFailureMatch // with Matched
	Message   string                 // of a condition
	Index     int32                  // IndexFailed

	// Repeated: the entries after Since, up to At, occur Times more, Every apart, the last ending
	// at Until. Starts says how many starts of which container that makes.
	Since, Every Millis
	Times        int64
	Starts       []Starts
}

// Starts counts the starts of a container within a [Repeated] entry.
type Starts struct {
	Container    int
	Starts       int64
	RestartCount int64 // after the last of them, as the runtime counts
}

// Totals is what became of one container.
type Totals struct {
	Starts int64
	Ran    Millis // in sum, up to the end of the simulation
	Failed Millis // what runs of it lasted that ended with another code than 0
}

// Spent is for how long Pods ran and waited. A Pod runs as long as its init containers do, one
// after the other, and then the main container that runs longest; sidecars do not count. While it
// has neither ended nor runs it waits.
type Spent struct {
	Ran, Waited Millis
	Lost        Millis // of Ran, what came to nothing: runs that failed, and all of a Pod of a Job that did not succeed
}

// State is a container's state in its status.
type State struct {
	Kind              policy.StateKind
	Reason, Message   string
	ExitCode          int32
	Started, Finished Millis // below 0: not set
}

// ContainerResult is one container at the end of the simulation.
type ContainerResult struct {
	Ref          policy.Ref
	State, Last  State // Last.Kind is StateNone if there is none
	RestartCount int64
	Started      bool
	Ready        bool
	Totals       Totals
	// NextStart is when a start that is refused now is tried again, below 0 if none is.
	NextStart Millis
	Delay     Millis // the wait that goes with NextStart
	// Unlisted reports that the status of the Pod does not name the container: the node has refused
	// the Pod.
	Unlisted bool
}

// Condition is a condition of the Pod.
type Condition struct {
	Type            string
	Status          bool
	Reason, Message string
}

// Undecided says what the model has no answer to.
type Undecided struct {
	At     Millis
	Reason string // a stable code
	Path   string // in the request or the manifest, "" if it is the whole
	Event  int    // index of the scenario's event, -1 if it is none
	Limit  string // the limit that ends it, "" for none
}

// Result is the answer of a simulation.
type Result struct {
	Timeline   []Record
	Phase      policy.PodPhase
	Reason     string
	Message    string
	Conditions []Condition
	Containers []ContainerResult // init containers first, then main ones, each in the order of the manifest
	Deleted    bool
	Created    Millis // when the Pod was, if it took the place of another one
	// Until is the instant that the result describes: that of the scenario, or the earlier one
	// where it got undecided.
	Until     Millis
	Undecided []Undecided
	Waits     []Wait // of a Pod with a past, in the order of Containers
	// Assumptions are stable codes of what was assumed where Kubernetes leaves something open.
	Assumptions []string
	// Exceeded names the limit that ended the simulation, "" for none; otherwise the result is of
	// no use.
	Exceeded string
	Steps    int64
	Spent    Spent
	Rows     *Rows // nil unless they were asked for
}
