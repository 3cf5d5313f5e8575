package policy

// Millis is a length of time, or an instant counted from the start of a simulation, in
// milliseconds.
type Millis int64

// Second is 1000 milliseconds.
const Second Millis = 1000

// Settings of the kubelet that no field changes.
//
// Source: pkg/kubelet/kubelet.go and kubelet_pods.go, Kubernetes v1.33 to v1.37.
const (
	// BackoffReset is the age above which an entry is forgotten. It replaces client-go's "twice the
	// maximum".
	BackoffReset = 600 * Second
	// SweepPeriod is the time between two searches for entries to forget.
	SweepPeriod = 2 * Second
)

// Limits of maxContainerRestartPeriod, both included.
const (
	MinContainerRestartPeriod = 1 * Second
	MaxContainerRestartPeriod = 300 * Second
)

// Backoff is how the wait before a restart grows.
type Backoff struct {
	Initial Millis // the first wait, from the second restart on; at most Max
	Max     Millis // no wait is longer
	Reset   Millis // an entry older than this is forgotten
}

// KubeletBackoff returns the back-off of a kubelet with f. configured is maxContainerRestartPeriod,
// 0 if it is not set; it counts only if KubeletCrashLoopBackOffMax is on and then defaults to 300
// s, also where ReduceDefaultCrashLoopBackOffDecay alone would give 60 s.
//
// Source: newCrashLoopBackOff in pkg/kubelet/kubelet.go, Kubernetes v1.33 to v1.37.
func KubeletBackoff(f Features, configured Millis) Backoff {
	b := Backoff{Initial: 10 * Second, Max: 300 * Second, Reset: BackoffReset}
	if f.ReduceDefaultCrashLoopBackOffDecay {
		b.Initial, b.Max = 1*Second, 60*Second
	}
	if f.KubeletCrashLoopBackOffMax {
		b.Max = configured
		if configured == 0 {
			b.Max = MaxContainerRestartPeriod
		}
		b.Initial = min(b.Initial, b.Max)
	}
	return b
}

// Delay returns how long restart n waits; n counts the restarts since the back-off was last reset.
// Number 0 does not wait, number 1 waits Initial, each further one twice as long as the one before
// it, but none longer than Max. Initial is at most Max.
//
// Source: Backoff.Next in k8s.io/client-go v0.36, util/flowcontrol; doBackOff in
// pkg/kubelet/kuberuntime/kuberuntime_manager.go, Kubernetes v1.36.
func (b Backoff) Delay(n int) Millis {
	if n <= 0 {
		return 0
	}
	d := b.Initial
	for range n - 1 {
		next := b.double(d)
		if next == d {
			break // at Max, or Initial is 0
		}
		d = next
	}
	return d
}

// double returns twice d or Max, whichever is less; written so that it cannot overflow.
func (b Backoff) double(d Millis) Millis {
	if d > b.Max-d {
		return b.Max
	}
	return 2 * d
}

// BackoffEntry is what a kubelet remembers about the restarts of one container. The zero value is
// no entry. A kubelet that restarts forgets all entries; so does a container whose image or
// resources change.
type BackoffEntry struct {
	Delay  Millis // the wait after the next exit
	Mark   Millis // when the last start was decided
	Exists bool
}

// Refused reports whether a start at now is refused because the last instance finished at finished,
// and until when.
//
// Source: IsInBackOffSince in k8s.io/client-go v0.36, util/flowcontrol/backoff.go.
func (e *BackoffEntry) Refused(b Backoff, finished, now Millis) (until Millis, refused bool) {
	if !e.Exists || finished-e.Mark > b.Reset || now-finished >= e.Delay {
		return 0, false
	}
	return finished + e.Delay, true
}

// Start notes that a start was decided at now, after an instance that finished at finished: the
// wait after the next exit is Initial, or twice the last one.
//
// The first start of a container leaves no entry and must not call it: the kubelet looks for an
// exited instance first.
//
// Source: Backoff.Next in k8s.io/client-go v0.36, util/flowcontrol/backoff.go.
func (e *BackoffEntry) Start(b Backoff, finished, now Millis) {
	if !e.Exists || finished-e.Mark > b.Reset {
		e.Delay = b.Initial
	} else {
		e.Delay = b.double(e.Delay)
	}
	e.Mark, e.Exists = now, true
}

// Sweep forgets the entry if it is older than Reset at now. The kubelet does so every
// [SweepPeriod], also while the container waits: a wait that would end later than Reset after the
// last start ends with the sweep.
//
// Source: Backoff.GC in k8s.io/client-go v0.36, util/flowcontrol/backoff.go; HandlePodCleanups in
// pkg/kubelet/kubelet_pods.go, Kubernetes v1.36.
func (e *BackoffEntry) Sweep(b Backoff, now Millis) {
	if e.Exists && now-e.Mark > b.Reset {
		*e = BackoffEntry{}
	}
}

// Release returns when a start that is refused until the given instant comes to pass with kubelets
// that sweep at multiples of period: at until, or at the first sweep that forgets the entry,
// whichever is earlier. A period of 0 means that nothing sweeps.
func (e *BackoffEntry) Release(b Backoff, until, period Millis) Millis {
	if period <= 0 {
		return until
	}
	forgotten := (e.Mark+b.Reset)/period*period + period // the first multiple that is later than Mark + Reset
	return min(until, forgotten)
}
