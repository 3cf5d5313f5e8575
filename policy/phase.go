package policy

// PodPhase is the summary of a Pod in its status.
type PodPhase string

// The phases. Unknown, which only a lost node brings about, is not modelled.
const (
	PodPending   PodPhase = "Pending"
	PodRunning   PodPhase = "Running"
	PodSucceeded PodPhase = "Succeeded"
	PodFailed    PodPhase = "Failed"
)

// Terminal reports whether a Pod never leaves phase p.
func (p PodPhase) Terminal() bool { return p == PodSucceeded || p == PodFailed }

// StateKind says which of its three states a container's status shows.
type StateKind uint8

// The kinds of states. The zero value is a status that shows none of them.
const (
	StateNone StateKind = iota
	StateWaiting
	StateRunning
	StateTerminated
)

// Termination is how a container's status says that an instance ended.
type Termination struct {
	ExitCode int32
	// Do is what followed from the end, where a proposal decides; "" for what follows from the
	// code.
	Do Action
	// RestartingAllContainers reports that this is the reason, which the kubelet writes when it
	// removed the instance itself.
	RestartingAllContainers bool
}

// ContainerState is what the phase needs of one container's status.
type ContainerState struct {
	Listed  bool // false: the Pod's status has no entry for the container, and nothing below counts
	Kind    StateKind
	Started bool        // of a running container: it has passed its startup probe or has none
	Ended   Termination // of a terminated one
	// Last is the termination before, of a waiting container; nil if it has none.
	Last *Termination
}

// PhaseShare is what one container contributes to the phase of its Pod; see [PhaseCounts].
type PhaseShare uint16

// The counters of the kubelet, as bits.
const (
	sharePendingInit PhaseShare = 1 << iota
	shareFailedInit
	shareStuckInit
	sharePendingSidecar
	shareUnknown
	shareRunning
	shareWaiting
	shareStopped
	shareStuck
	shareSucceeded
)

const shareBits = 10

// PhaseCounts adds up the shares of all init and main containers of a Pod. The zero value counts
// none.
type PhaseCounts [shareBits]int32

// Add counts a share once more; Remove takes it away again, so that one changed container need not
// cost a walk over all.
func (n *PhaseCounts) Add(s PhaseShare) { n.add(s, 1) }

// Remove takes back an Add of the same share.
func (n *PhaseCounts) Remove(s PhaseShare) { n.add(s, -1) }

func (n *PhaseCounts) add(s PhaseShare, by int32) {
	for i := 0; s != 0; i, s = i+1, s>>1 {
		if s&1 != 0 {
			n[i] += by
		}
	}
}

// is returns the counter of one bit.
func (n *PhaseCounts) is(s PhaseShare) int32 {
	for i := range n {
		if s == 1<<i {
			return n[i]
		}
	}
	return 0
}

// PhaseShare returns what container r contributes while its status is st. Ephemeral containers
// contribute nothing.
//
// Source: getPhase in pkg/kubelet/kubelet_pods.go, Kubernetes v1.33 to v1.37.
func (s *PodSpec) PhaseShare(r Ref, st ContainerState, f Features) PhaseShare {
	c := s.Container(r)
	switch {
	case r.Kind == EphemeralContainer:
		return 0
	case r.Kind == MainContainer:
		return s.mainShare(c, st, f)
	case c.IsSidecar(r.Kind):
		return sidecarShare(st)
	}
	return s.initShare(c, st, f)
}

func (s *PodSpec) initShare(c *Container, st ContainerState, f Features) PhaseShare {
	ended := st.Last
	switch {
	case st.Listed && st.Kind == StateTerminated:
		ended = &st.Ended
	case !st.Listed || st.Kind != StateWaiting || st.Last == nil:
		return sharePendingInit
	}
	if ended.succeeded() {
		return 0
	}
	if s.stuck(c, *ended, f) {
		return shareFailedInit | shareStuckInit
	}
	return shareFailedInit
}

func sidecarShare(st ContainerState) PhaseShare {
	switch {
	case !st.Listed:
		return shareUnknown
	case st.Kind == StateRunning && st.Started:
		return shareRunning
	case st.Kind == StateRunning:
		return shareRunning | sharePendingSidecar
	case st.Kind == StateTerminated, st.Kind == StateWaiting && st.Last != nil:
		return 0 // how a sidecar ends does not matter to the phase
	case st.Kind == StateWaiting:
		return sharePendingSidecar | shareWaiting
	}
	return sharePendingSidecar | shareUnknown
}

func (s *PodSpec) mainShare(c *Container, st ContainerState, f Features) PhaseShare {
	switch {
	case st.Listed && st.Kind == StateRunning:
		return shareRunning
	case st.Listed && st.Kind == StateTerminated:
		share := shareStopped
		if s.stuck(c, st.Ended, f) {
			share |= shareStuck
		}
		if st.Ended.succeeded() {
			share |= shareSucceeded
		}
		return share
	case st.Listed && st.Kind == StateWaiting && st.Last == nil:
		return shareWaiting
	case st.Listed && st.Kind == StateWaiting:
		// Differs from a terminated container: code 0 does not count as a success here.
		if s.stuck(c, *st.Last, f) {
			return shareStopped | shareStuck
		}
		return shareStopped
	}
	return shareUnknown
}

// stuck reports whether a container that ended this way is not restarted. Without
// ContainerRestartRules nobody asks.
func (s *PodSpec) stuck(c *Container, t Termination, f Features) bool {
	if !f.ContainerRestartRules || t.RestartingAllContainers && f.RestartAllContainersOnContainerExits {
		return false
	}
	if t.Do != "" {
		return !t.Do.Again()
	}
	return !s.restartsAfter(c, t.ExitCode, f)
}

// succeeded reports whether a container that ended this way has succeeded.
func (t *Termination) succeeded() bool {
	return t.Do == Complete || t.ExitCode == 0 && t.Do != TerminatePod
}

// RestartsAfter reports whether rules and policies ask to restart container r after it exited with
// code. It looks at nothing else: not at the kind of container, and rules only next to a
// restartPolicy of the container. Without ContainerRestartRules only the Pod's policy counts.
//
// It is what phase and plan are computed with; [Policy.Decide] says what comes of it.
//
// Source: ContainerShouldRestart in pkg/api/v1/pod/util.go, ShouldContainerBeRestarted in
// pkg/kubelet/container/helpers.go; Kubernetes v1.33 to v1.37.
func (s *PodSpec) RestartsAfter(r Ref, code int32, f Features) bool {
	if s.Proposed {
		d, _ := Trace(s, f, r, Exit{Code: code})
		return d.Action.Again()
	}
	return s.restartsAfter(s.Container(r), code, f)
}

func (s *PodSpec) restartsAfter(c *Container, code int32, f Features) bool {
	if c.RestartPolicy != nil && f.ContainerRestartRules {
		if i := c.FirstMatch(code); i >= 0 {
			switch c.RestartPolicyRules[i].Action {
			case ActionRestart:
				return true
			case ActionRestartAllContainers:
				if f.RestartAllContainersOnContainerExits {
					return true
				}
			}
			// Anything else ends the search all the same, and the policy decides.
		}
		switch *c.RestartPolicy {
		case RestartPolicyAlways:
			return true
		case RestartPolicyOnFailure:
			return code != 0
		case RestartPolicyNever:
			return false
		}
	}
	switch s.RestartPolicy {
	case RestartPolicyOnFailure:
		return code != 0
	case RestartPolicyNever:
		return false
	}
	return true
}

// FirstMatch returns the index of the first rule of c that matches code, -1 if none does. It does
// not look at gates and at c's policy.
//
// Source: FindMatchingContainerRestartRule in pkg/api/v1/pod/util.go, Kubernetes v1.34 to v1.37.
func (c *Container) FirstMatch(code int32) int {
	for i := range c.RestartPolicyRules {
		if result, _ := c.RestartPolicyRules[i].match(code); result == Matched {
			return i
		}
	}
	return -1
}

// PhaseOptions is what the phase depends on besides the containers.
type PhaseOptions struct {
	// Terminating reports that the containers were stopped for good, by deletion, eviction or the
	// end of the Pod.
	Terminating bool
	// Initialized reports that the current sandbox has or had an instance of a main container.
	Initialized bool
}

// Phase returns the phase of a Pod with policy pod whose containers add up to n. A terminal phase
// that the Pod already has is the caller's to keep. Static Pods are not modelled.
//
// Source: getPhase in pkg/kubelet/kubelet_pods.go, Kubernetes v1.33 to v1.37.
func (n *PhaseCounts) Phase(pod RestartPolicy, f Features, o PhaseOptions) PodPhase {
	if f.ContainerRestartRules {
		if n.is(shareStuckInit) > 0 {
			return PodFailed
		}
	} else if n.is(shareFailedInit) > 0 && pod == RestartPolicyNever {
		return PodFailed
	}
	running, stopped, unknown := n.is(shareRunning), n.is(shareStopped), n.is(shareUnknown)
	switch {
	case n.is(sharePendingInit) > 0, n.is(sharePendingSidecar) > 0 && !o.Initialized, n.is(shareWaiting) > 0:
		return PodPending
	case running > 0 && unknown == 0:
		return PodRunning
	case running == 0 && stopped > 0 && unknown == 0:
		return n.stoppedPhase(pod, f, o.Terminating)
	}
	return PodPending
}

// stoppedPhase is the phase when no container runs and at least one main container has run.
func (n *PhaseCounts) stoppedPhase(pod RestartPolicy, f Features, terminating bool) PodPhase {
	stopped := n.is(shareStopped)
	ended := PodFailed
	if stopped == n.is(shareSucceeded) {
		ended = PodSucceeded
	}
	switch {
	case terminating:
		return ended
	case f.ContainerRestartRules:
		if stopped != n.is(shareStuck) {
			return PodRunning
		}
		return ended
	case pod == RestartPolicyNever, ended == PodSucceeded && pod != RestartPolicyAlways && pod != "":
		return ended // also under a policy that nobody knows
	}
	return PodRunning
}
