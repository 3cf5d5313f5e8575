package diff

import (
	"encoding/json"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/simulate"
)

// Release is one release of Kubernetes. It is used from one goroutine.
type Release interface {
	// Minor returns 36 for Kubernetes 1.36.
	Minor() int

	// SetGates switches the feature gates of the process. A set stays until the next call.
	SetGates(map[string]bool) error

	// Admit takes a manifest along the road of a create request: decode, default, drop what gates
	// disable, validate. Unknown fields are faults of decoding if strict is true.
	Admit(manifest []byte, strict bool) Admission

	// Update takes a manifest along the road of a request that replaces old by it: decode, default,
	// drop, validate. Nobody validates old again.
	Update(old, manifest []byte) Admission

	// Static takes a Pod along the road of a file that a kubelet reads; nothing is dropped.
	Static(manifest []byte) Admission

	// Pod decodes a Pod as the kubelet gets it: with defaults, but nothing dropped or validated.
	Pod(manifest []byte) (Pod, error)

	// Tables returns what Kubernetes' own tests ask, nil if that was not recorded.
	Tables() ([]TableCase, error)

	// Gate returns what the release says about a feature gate; ok is false if it does not know it.
	Gate(name string) (g Gate, ok bool)

	// GateNames returns all gates that the release knows, in alphabetical order, AllAlpha and
	// AllBeta among them.
	GateNames() []string

	// TryGates returns what switching gates, from the defaults on, would lead to, without doing it.
	TryGates(settings map[string]bool) GateResult

	// Backoff returns the kubelet's restart back-off with a clock of its own, at the instant 0.
	Backoff(initial, most policy.Millis) Backoff

	// PodJudge decodes a Job, with its defaults, to judge Pods with it.
	PodJudge(job []byte) (PodJudge, error)

	// Row returns the cells of kubectl get pods about a Pod with its status, in their order.
	Row(pod []byte) ([]string, error)

	// JobEnd lets the release's Job controller look once at a Job with these Pods.
	JobEnd(job []byte, pods []json.RawMessage) (JobEnd, error)

	// CrashLoop is newCrashLoopBackOff after maxContainerRestartPeriod, "" if it is not set, was
	// decoded, defaulted and validated under the gates of the process; known is false if the
	// kubelet is not linked.
	CrashLoop(maxContainerRestartPeriod string) (s CrashLoop, known bool)

	// Job lets the release's Job controller live through h. It is called without gates having been
	// set.
	Job(h *JobHistory) (JobRecord, error)
}

// CrashLoop is how a kubelet sets up its restart back-off.
type CrashLoop struct {
	Errors       []string // about this setting; the kubelet would not start
	Initial, Max policy.Millis
}

// Admission is the end of a create request.
type Admission struct {
	DecodeError string   // "" if the manifest could be decoded
	Strict      []string // what strict decoding has against it, in its order
	Faults      []Fault  // of validation, in its order
	Merged      bool     // of Faults that read alike only the first is there
	Panic       string   // what the API server's own code panicked with; nothing else is known then
	Dropped     []string // paths of the fields that were there before and not after; lists only if they had elements
}

// Fault is an error of validation.
type Fault struct {
	Path string
	Text string // the whole line, the path included
}

// Pod is a Pod as the kubelet sees it. A container is one of main or init.
type Pod interface {
	// Match returns the index of the first rule of c that matches code, -1 if none does.
	// known is false in a release without rules.
	Match(c policy.Ref, code int32) (rule int, known bool)

	// MatchAlone reports whether rule i of c would match code if c had no other rule.
	MatchAlone(c policy.Ref, i int, code int32) bool

	// ShouldRestart is ContainerShouldRestart; known is false in a release without it.
	ShouldRestart(c policy.Ref, code int32) (restart, known bool)

	// ShouldBeRestarted is ShouldContainerBeRestarted for c exited with code while the other
	// containers run.
	ShouldBeRestarted(c policy.Ref, code int32) bool

	// ShouldRestartAll is ShouldAllContainersRestart in the same situation; false in a release
	// without it.
	ShouldRestartAll(c policy.Ref, code int32) bool

	// PlanInit is what computeInitContainerActions does about init container c, exited with code
	// and, if oom is true, the reason OOMKilled, when no other container has a status; known is
	// false if the kubelet is not linked.
	PlanInit(c policy.Ref, code int32, oom bool) (p InitPlan, known bool)

	// Plan is computePodActions about the Pod when its containers are as r says; known is false if
	// the kubelet is not linked. The kills are in no particular order, and Reset has the order in
	// which the newest instances are removed.
	Plan(r *simulate.Runtime) (s simulate.Sync, known bool)

	// Phase is getPhase about the Pod with statuses for those containers that states lists.
	Phase(states map[policy.Ref]policy.ContainerState, o policy.PhaseOptions) (p policy.PodPhase, known bool)

	// Judge says what Kubernetes makes of a status that a simulation has come to; known is false if
	// the kubelet is not linked.
	Judge(s *simulate.Step) (j Judgement, known bool)

	// With returns a copy of the Pod in which the Pod's policy is pod, if that is not "", and that
	// of container c is own, if that is not "".
	With(pod policy.RestartPolicy, c policy.Ref, own policy.RestartPolicy) Pod
}

// Judgement is what the status manager of a kubelet and the API server make of a status.
type Judgement struct {
	Phase      policy.PodPhase      // getPhase of the statuses
	Conditions []simulate.Condition // Initialized, Ready and ContainersReady of the statuses and the phase
	Dropped    bool                 // checkContainerStateTransition
	Denied     bool                 // ValidatePodStatusUpdate
	Merged     simulate.PodStatus   // mergePodStatus, without containers
}

// InitPlan is what happens to an init container.
type InitPlan struct{ Start, KillPod bool }

// Gate is what a release says about a feature gate.
type Gate struct {
	Default   bool
	Stage     policy.Stage
	Locked    bool
	DependsOn []string
}

// GateResult is what a component with some gates would do at its start.
type GateResult struct {
	Errors  []string // in no particular order
	Enabled func(name string) bool
}

// Backoff is flowcontrol.Backoff as the kubelet sets it up, for one container. Its clock only goes
// forward.
type Backoff interface {
	SetTime(now policy.Millis)
	InBackOffSince(finished policy.Millis) bool
	Next(finished policy.Millis)
	Delay() policy.Millis // 0 if there is no entry
	GC()
}
