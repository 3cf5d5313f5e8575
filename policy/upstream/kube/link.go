package kube

import (
	v1 "k8s.io/api/core/v1"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/simulate"
	"github.com/podfate/podfate/policy/upstream/diff"
)

// Kubelet holds functions of the kubelet, which most builds do without.
type Kubelet struct {
	// PlanInit returns what the kubelet does about init container index of pod when s is the only
	// status there is.
	PlanInit func(pod *v1.Pod, index int, s *kubecontainer.Status) diff.InitPlan
	// Plan is computePodActions; restartAll counts from 1.35 on.
	Plan func(pod *v1.Pod, r *simulate.Runtime) simulate.Sync
	// ReadPlan reads a plan of pod in status s that was written down.
	ReadPlan func(text []byte, pod *v1.Pod, s *kubecontainer.PodStatus) (simulate.Sync, error)
	// Phase is getPhase.
	Phase func(pod *v1.Pod, statuses []v1.ContainerStatus, terminating, initialized bool) policy.PodPhase
	// Transition is checkContainerStateTransition of the status manager, Merge its mergePodStatus.
	Transition func(old, updated *v1.PodStatus, spec *v1.PodSpec) error
	Merge      func(pod *v1.Pod, old, updated v1.PodStatus, couldHaveRunningContainers bool) v1.PodStatus
	// Conditions returns Initialized, Ready and ContainersReady of a Pod with these statuses.
	Conditions func(pod *v1.Pod, old *v1.PodStatus, statuses []v1.ContainerStatus, phase v1.PodPhase) []v1.PodCondition
	// CrashLoop returns how a kubelet sets up its restart back-off; see diff.Release.
	CrashLoop func(maxContainerRestartPeriod string) diff.CrashLoop
}

var linked Kubelet

// Link makes the kubelet known. Package kube/kubelet calls it when it is imported.
func Link(k Kubelet) { linked = k }
