package diff

import (
	"errors"

	"github.com/podfate/podfate/policy"
)

// JobHistory is the life of a Job: what its containers do and what happens to it from outside.
type JobHistory struct {
	Manifest string // a Job of batch/v1, as a user writes it
	Tapes    []JobTape
	Events   []JobAction // ordered by At
	Until    policy.Millis
	// Rich Pods have init containers, sidecars or rules of their own: the kubelet itself says what
	// is done about them.
	Rich bool
}

// ErrNoKubelet says that a history needs the kubelet, which is not linked.
var ErrNoKubelet = errors.New("the kubelet is not linked")

// JobTape is what the containers with this name do at their successive starts, in the whole Job, in
// one Pod or in one completion index. When it is used up they run on.
type JobTape struct {
	Container  string
	Pod, Index int // -1: not of one
	Runs       []JobRun
}

// JobRun is one entry of a tape.
type JobRun struct {
	For      policy.Millis
	ExitCode int32
	OOM      bool          // for lack of memory
	Times    int           // -1: forever
	Stop     policy.Millis // how long it takes to stop; -1: it is killed at once
	StopCode int32
}

// JobAction happens to the Job, or to one of its Pods.
type JobAction struct {
	At   policy.Millis
	Type string // as in a request to simulate
	Pod  int    // the number of the Pod in order of creation, -1 for all

	Container string // "" for none
}

// JobRecord is what became of the Job.
type JobRecord struct {
	Pods   []JobPod    // in order of creation, those of one sync in order of their index
	Status []JobStatus // at the end of each instant at which it changed
	Events []JobEvent  // those of one instant in order of Type, Reason and Message
}

// JobPod is a Pod that the controller has created. Counts and index are -1 without the annotation.
type JobPod struct {
	At                     policy.Millis
	Index, Failed, Ignored int
	Deleted                policy.Millis // by the controller; -1: never
}

// JobStatus is the status of the Job. Times are -1 if they are not set, and in whole seconds.
type JobStatus struct {
	At                                  policy.Millis
	Active, Ready, Succeeded, Failed    int
	Terminating                         int
	CompletedIndexes, FailedIndexes     string // FailedIndexes is "-" if it is not set
	UncountedSucceeded, UncountedFailed string // numbers of Pods, in ascending order
	StartTime, CompletionTime           policy.Millis
	Conditions                          string
}

// JobEvent is an Event that the controller records. {N} stands for the name of the Pod with this
// number.
type JobEvent struct {
	At                    policy.Millis
	Type, Reason, Message string
}
