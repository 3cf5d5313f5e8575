package kube

import (
	"context"
	"time"

	v1 "k8s.io/api/core/v1"
	batchinformers "k8s.io/client-go/informers/batch/v1"
	coreinformers "k8s.io/client-go/informers/core/v1"
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/kubernetes/pkg/apis/core"
	jobcontroller "k8s.io/kubernetes/pkg/controller/job"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
)

// Adapter holds the functions whose signature or existence differs between releases.
type Adapter struct {
	Minor int

	ShouldContainerBeRestarted func(*v1.Container, *v1.Pod, *kubecontainer.PodStatus) bool

	// RulesSet reports whether restartPolicyRules is not nil. Nil in 1.33, which has no such field;
	// so are the next.
	RulesSet               func(*core.Container) bool
	ContainerShouldRestart func(v1.Container, v1.PodSpec, int32) bool
	// MatchingRule returns the index of the rule that FindMatchingContainerRestartRule finds, -1
	// for none.
	MatchingRule func(v1.Container, int32) int
	// OnlyRule returns c with rule i alone.
	OnlyRule func(c v1.Container, i int) v1.Container

	// ShouldAllContainersRestart is nil before 1.35.
	ShouldAllContainersRestart func(*v1.Pod, *kubecontainer.PodStatus) bool

	// NodeLacks names what the Pod needs and a node with the process's gates does not declare, ""
	// for nothing. Nil before 1.35.
	NodeLacks func(*v1.Pod) string

	// NewJobController is NewController of pkg/controller/job.
	NewJobController func(context.Context, clientset.Interface, coreinformers.PodInformer, batchinformers.JobInformer) (*jobcontroller.Controller, error)
	// JobSyncBatchPeriod is for how long that controller waits to see more changes at once.
	JobSyncBatchPeriod *time.Duration
}
