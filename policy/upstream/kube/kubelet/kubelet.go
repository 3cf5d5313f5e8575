// Package kubelet links the kubelet itself, for what it does not export. Importing it is enough;
// 670 packages come with it, so only tests with the tag kubelet do. It compiles next to the files
// that policy/upstream/mirror adds.
package kubelet

import (
	"slices"
	"strconv"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/kubernetes/pkg/kubelet"
	kubeletconfig "k8s.io/kubernetes/pkg/kubelet/apis/config"
	"k8s.io/kubernetes/pkg/kubelet/apis/config/scheme"
	"k8s.io/kubernetes/pkg/kubelet/apis/config/validation"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	"k8s.io/kubernetes/pkg/kubelet/kuberuntime"
	"k8s.io/kubernetes/pkg/kubelet/prober/results"
	"k8s.io/kubernetes/pkg/kubelet/status"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/simulate"
	"github.com/podfate/podfate/policy/upstream/diff"
	"github.com/podfate/podfate/policy/upstream/kube"
)

func init() {
	kube.Link(kube.Kubelet{
		PlanInit: planInit, Plan: newPlanner().plan, ReadPlan: readPlan, CrashLoop: crashLoop,
		Transition: status.PodfateTransition, Merge: status.PodfateMerge, Conditions: conditions,
		Phase: func(pod *v1.Pod, statuses []v1.ContainerStatus, terminating, initialized bool) policy.PodPhase {
			return policy.PodPhase(kubelet.PodfatePhase(pod, statuses, terminating, initialized))
		},
	})
}

func conditions(pod *v1.Pod, old *v1.PodStatus, statuses []v1.ContainerStatus, phase v1.PodPhase) []v1.PodCondition {
	return []v1.PodCondition{
		status.GeneratePodInitializedCondition(pod, old, statuses, phase),
		status.GeneratePodReadyCondition(pod, old, nil, statuses, phase),
		status.GenerateContainersReadyCondition(pod, old, statuses, phase),
	}
}

// planInit asks for the whole plan of a Pod of which only one init container has a status.
func planInit(pod *v1.Pod, index int, status *kubecontainer.Status) diff.InitPlan {
	list := []*kubecontainer.Status{status}
	plan := inits.Plan(pod, &kubecontainer.PodStatus{
		ContainerStatuses: list, ActiveContainerStatuses: list, SandboxStatuses: sandboxes(simulate.SandboxReady),
	}, false)
	return diff.InitPlan{KillPod: plan.KillPod, Start: slices.Contains(plan.StartInit, index)}
}

var inits = kuberuntime.NewPodfateManager(results.NewManager(), results.NewManager())

func crashLoop(period string) diff.CrashLoop {
	text := `{"apiVersion":"kubelet.config.k8s.io/v1beta1","kind":"KubeletConfiguration"`
	if period != "" {
		text += `,"crashLoopBackOff":{"maxContainerRestartPeriod":` + strconv.Quote(period) + `}`
	}
	_, codecs, err := scheme.NewSchemeAndCodecs()
	if err != nil {
		panic(err)
	}
	object, _, err := codecs.UniversalDecoder().Decode([]byte(text+`}`), nil, nil)
	if err != nil {
		return diff.CrashLoop{Errors: []string{err.Error()}}
	}
	config := object.(*kubeletconfig.KubeletConfiguration)
	var result diff.CrashLoop
	if all, ok := validation.ValidateKubeletConfiguration(config, utilfeature.DefaultFeatureGate).(utilerrors.Aggregate); ok {
		for _, e := range all.Errors() {
			if strings.Contains(e.Error(), "CrashLoopBackOff") {
				result.Errors = append(result.Errors, e.Error())
			}
		}
	}
	if len(result.Errors) == 0 {
		most, initial := kubelet.PodfateCrashLoop(config)
		// The core counts in milliseconds.
		result.Max, result.Initial = policy.Millis(most/time.Millisecond), policy.Millis(initial/time.Millisecond)
	}
	return result
}
