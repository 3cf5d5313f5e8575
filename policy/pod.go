package policy

import (
	"cmp"
	"strings"
)

// RestartPolicy says whether containers of a Pod are restarted when they exit.
type RestartPolicy string

// The restart policies of a Pod. Containers use the same words.
const (
	RestartPolicyAlways    RestartPolicy = "Always"
	RestartPolicyOnFailure RestartPolicy = "OnFailure"
	RestartPolicyNever     RestartPolicy = "Never"
)

// RestartPolicyAlwaysPod is the policy of a Pod that the proposal [AlwaysPod] brings: where Always
// would restart one of the main containers, all of the Pod is restarted.
const RestartPolicyAlwaysPod RestartPolicy = "AlwaysPod"

// ContainerRestartRuleAction is what a rule asks for when it matches.
type ContainerRestartRuleAction string

// The actions. RestartAllContainers exists from Kubernetes 1.35 on.
const (
	ActionRestart              ContainerRestartRuleAction = "Restart"
	ActionRestartAllContainers ContainerRestartRuleAction = "RestartAllContainers"
)

// The actions that the proposal [KEP5307Future] brings.
const (
	ActionComplete     ContainerRestartRuleAction = "Complete"     // as if it had succeeded
	ActionTerminate    ContainerRestartRuleAction = "Terminate"    // it is never started again
	ActionTerminatePod ContainerRestartRuleAction = "TerminatePod" // the Pod fails, its other containers are killed
	ActionRestartPod   ContainerRestartRuleAction = "RestartPod"   // the Pod restarts, with a new sandbox
)

// ExitCodesOperator says how a rule compares an exit code with its values.
type ExitCodesOperator string

// The operators.
const (
	OperatorIn    ExitCodesOperator = "In"
	OperatorNotIn ExitCodesOperator = "NotIn"
)

// ContainerRestartRuleOnExitCodes is the condition of a rule. Values are compared as signed 32-bit
// numbers; no values is legal: then In never matches and NotIn always does, code 0 included.
type ContainerRestartRuleOnExitCodes struct {
	Operator ExitCodesOperator
	Values   []int32
}

// ContainerRestartRule is one entry of restartPolicyRules. Without ExitCodes it never matches.
type ContainerRestartRule struct {
	Action    ContainerRestartRuleAction
	ExitCodes *ContainerRestartRuleOnExitCodes

	// Of proposals.
	Restarts   *int32 // restartTimes, nil for none
	OOMKilled  bool
	Conditions int    // how many conditions are written, where a proposal lets there be other ones than ExitCodes
	Spelling   string // path of the exit codes in the rule; "" for exitCodes, as releases have it
	At         string // path of restartTimes, or else of oomKilled, in the rule
	From       string // path of a rule that is not in restartPolicyRules; "" for one that is
}

// ExitCodesPath is the path of the exit codes in r, as its author spelt it.
func (r *ContainerRestartRule) ExitCodesPath() string { return cmp.Or(r.Spelling, "exitCodes") }

// ContainerKind says in which list of the Pod a container is.
type ContainerKind uint8

// The kinds. The zero value is a container of spec.containers.
const (
	MainContainer ContainerKind = iota
	InitContainer
	EphemeralContainer
)

// ContainerKinds is the number of kinds.
const ContainerKinds = EphemeralContainer + 1

// Field returns the name of the list: containers, initContainers or ephemeralContainers.
func (k ContainerKind) Field() string {
	switch k {
	case InitContainer:
		return "initContainers"
	case EphemeralContainer:
		return "ephemeralContainers"
	}
	return "containers"
}

// Container is what matters of a container when it exits.
type Container struct {
	Name               string
	RestartPolicy      *RestartPolicy // nil: not set. A pointer to "" is set, and invalid, as in Kubernetes
	RestartPolicyRules []ContainerRestartRule
	HasRules           bool // restartPolicyRules is not null, though it may be empty

	// ResizePolicy is judged by the restart policy of the Pod, whatever that of the container says.
	ResizePolicy    []ContainerResizePolicy
	HasResizePolicy bool // resizePolicy is not null, though it may be empty

	// Fields that only some containers may have. Podfate reads no more of them than that they are
	// not null.
	HasLifecycle, HasLivenessProbe, HasReadinessProbe, HasStartupProbe bool

	// LivenessGraceSeconds and StartupGraceSeconds are the terminationGracePeriodSeconds of these
	// probes; nil: the Pod's.
	LivenessGraceSeconds, StartupGraceSeconds *int64
	HasPreStop                                bool // lifecycle.preStop is not null

	TargetContainerName string // of an ephemeral container; "" for none

	Pace RestartPolicy // of a proposal, whose RestartPolicy is Always with waits of its own; "" for none
}

// ContainerResizePolicy says whether a container is restarted when one of its resources is resized.
type ContainerResizePolicy struct {
	ResourceName  string // cpu or memory
	RestartPolicy ResizeRestartPolicy
}

// ResizeRestartPolicy is whether a resize restarts the container.
type ResizeRestartPolicy string

// The policies of a resize.
const (
	ResizeNotRequired      ResizeRestartPolicy = "NotRequired"
	ResizeRestartContainer ResizeRestartPolicy = "RestartContainer"
)

// PodSpec is what matters of a Pod when one of its containers exits.
type PodSpec struct {
	RestartPolicy       RestartPolicy // "" means that it is absent and defaults to Always
	InitContainers      []Container
	Containers          []Container
	EphemeralContainers []Container

	ActiveDeadlineSeconds         *int64 // nil: no deadline
	TerminationGracePeriodSeconds *int64 // nil: 30

	// Of proposals. Proposed reports that the Pod has words of one at all.
	MaxRestartTimes  *int32            // nil: no limit
	PodFailurePolicy *PodFailurePolicy // of a Pod without a Job; nil for none
	Proposed         bool
	Pace             RestartPolicy // a policy that is Always with waits of its own; "" for none

	// Windows reports that the Pod can only run on Windows: by spec.os.name or by a node selector.
	// An exit code is then any 32-bit number, elsewhere one of 0 to 255.
	Windows bool
}

// Ref names a container of a PodSpec by its list and its position there, from 0.
type Ref struct {
	Kind  ContainerKind
	Index int
}

// Path returns the field path of the container below spec: initContainers[0].
func (r Ref) Path() string { return r.Kind.Field() + Index(r.Index) }

// Len returns the number of containers of all kinds.
func (s *PodSpec) Len() int {
	return len(s.InitContainers) + len(s.Containers) + len(s.EphemeralContainers)
}

// List returns the containers of kind k. The slice is that of s.
func (s *PodSpec) List(k ContainerKind) []Container {
	switch k {
	case InitContainer:
		return s.InitContainers
	case EphemeralContainer:
		return s.EphemeralContainers
	}
	return s.Containers
}

// Container returns the container that r names. It panics for a Ref that is not of s.
func (s *PodSpec) Container(r Ref) *Container { return &s.List(r.Kind)[r.Index] }

// Number returns the number of the container that r names: main ones are counted first, then init,
// then ephemeral ones.
func (s *PodSpec) Number(r Ref) int {
	switch r.Kind {
	case InitContainer:
		return len(s.Containers) + r.Index
	case EphemeralContainer:
		return len(s.Containers) + len(s.InitContainers) + r.Index
	}
	return r.Index
}

// Names returns s with copies of the names of its containers and nothing else; with words of
// proposals their rules are there as well, without exit codes.
func (s *PodSpec) Names() PodSpec {
	return PodSpec{
		Containers: bare(s.Containers, s.Proposed), InitContainers: bare(s.InitContainers, s.Proposed),
		EphemeralContainers: bare(s.EphemeralContainers, s.Proposed), Proposed: s.Proposed,
	}
}

// bare returns the names of containers, and of rules what says which proposal they are of.
func bare(containers []Container, rules bool) []Container {
	named := make([]Container, len(containers))
	for i := range containers {
		named[i].Name = strings.Clone(containers[i].Name)
		for k := range containers[i].RestartPolicyRules {
			if r := containers[i].RestartPolicyRules[k]; rules {
				r.Action, r.ExitCodes = ContainerRestartRuleAction(strings.Clone(string(r.Action))), nil
				named[i].RestartPolicyRules = append(named[i].RestartPolicyRules, r)
			}
		}
	}
	return named
}

// Find returns the first container with this name: main containers are looked at first, then init
// and ephemeral ones, although a valid Pod has each name once.
func (s *PodSpec) Find(name string) (Ref, bool) {
	for _, kind := range []ContainerKind{MainContainer, InitContainer, EphemeralContainer} {
		list := s.List(kind)
		for i := range list {
			if list[i].Name == name {
				return Ref{kind, i}, true
			}
		}
	}
	return Ref{}, false
}

// IsSidecar reports whether c, standing in a list of kind k, is a sidecar: an init container with
// its own restartPolicy Always. The same policy on a main container is just a policy.
func (c *Container) IsSidecar(k ContainerKind) bool {
	return k == InitContainer && c.RestartPolicy != nil && *c.RestartPolicy == RestartPolicyAlways
}
