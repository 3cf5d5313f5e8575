package kube

import (
	v1 "k8s.io/api/core/v1"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"

	"github.com/podfate/podfate/policy/upstream/diff"
)

// PlanInit returns what the kubelet does about init container index of pod when s is the only status there is.
type PlanInit func(pod *v1.Pod, index int, s *kubecontainer.Status) diff.InitPlan

// CrashLoop returns how a kubelet sets up its restart back-off; see diff.Release.
type CrashLoop func(maxContainerRestartPeriod string) diff.CrashLoop

var linked struct {
	planInit  PlanInit
	crashLoop CrashLoop
}

// Link gives functions of the kubelet, which most builds do without. Package kube/kubelet calls it when it is imported.
func Link(p PlanInit, c CrashLoop) { linked.planInit, linked.crashLoop = p, c }
