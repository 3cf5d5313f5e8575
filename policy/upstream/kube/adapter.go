package kube

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/apis/core"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
)

// Adapter holds the functions whose signature or existence differs between releases.
type Adapter struct {
	Minor int

	ShouldContainerBeRestarted func(*v1.Container, *v1.Pod, *kubecontainer.PodStatus) bool

	// RulesSet reports whether restartPolicyRules is not nil. Nil in 1.33, which has no such field; so are the next.
	RulesSet               func(*core.Container) bool
	ContainerShouldRestart func(v1.Container, v1.PodSpec, int32) bool
	// MatchingRule returns the index of the rule that FindMatchingContainerRestartRule finds, -1 for none.
	MatchingRule func(v1.Container, int32) int
	// OnlyRule returns c with rule i alone.
	OnlyRule func(c v1.Container, i int) v1.Container

	// ShouldAllContainersRestart is nil before 1.35.
	ShouldAllContainersRestart func(*v1.Pod, *kubecontainer.PodStatus) bool
}
