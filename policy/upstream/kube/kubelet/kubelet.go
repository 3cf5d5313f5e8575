// Package kubelet links the kubelet itself, for what it does not export. Importing it is enough; 670 packages come with
// it, so only tests with the tag kubelet do.
package kubelet

import (
	"context"
	"strconv"
	"strings"
	"time"
	"unsafe"

	v1 "k8s.io/api/core/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	_ "k8s.io/kubernetes/pkg/kubelet"
	kubeletconfig "k8s.io/kubernetes/pkg/kubelet/apis/config"
	"k8s.io/kubernetes/pkg/kubelet/apis/config/scheme"
	"k8s.io/kubernetes/pkg/kubelet/apis/config/validation"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	_ "k8s.io/kubernetes/pkg/kubelet/kuberuntime"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/upstream/diff"
	"github.com/podfate/podfate/policy/upstream/kube"
)

func init() { kube.Link(planInit, crashLoop) }

// podActions begins like the type of the same name in kuberuntime from 1.34 on. What follows differs by release; the
// function that is called here does not touch it but for a flag.
type podActions struct {
	killPod               bool
	createSandbox         bool
	sandboxID             string
	attempt               uint32
	initContainersToStart []int
	containersToStart     []int
	containersToKill      unsafe.Pointer
	rest                  [256]byte
}

// The manager is used for running containers and for resizes only; there are none here, so it may be nil.
//
//go:linkname computeInitContainerActions k8s.io/kubernetes/pkg/kubelet/kuberuntime.(*kubeGenericRuntimeManager).computeInitContainerActions
func computeInitContainerActions(manager unsafe.Pointer, ctx context.Context, pod *v1.Pod, status *kubecontainer.PodStatus, changes *podActions) bool

//go:linkname newCrashLoopBackOff k8s.io/kubernetes/pkg/kubelet.newCrashLoopBackOff
func newCrashLoopBackOff(*kubeletconfig.KubeletConfiguration) (most, initial time.Duration)

func planInit(pod *v1.Pod, index int, status *kubecontainer.Status) diff.InitPlan {
	list := []*kubecontainer.Status{status}
	var changes podActions
	for i := range changes.rest {
		changes.rest[i] = 1 // UpdatePodResources is in there; if it is set, 1.37 does not ask the manager about resizes
	}
	computeInitContainerActions(nil, context.Background(), pod,
		&kubecontainer.PodStatus{ContainerStatuses: list, ActiveContainerStatuses: list}, &changes)
	plan := diff.InitPlan{KillPod: changes.killPod}
	for _, i := range changes.initContainersToStart {
		plan.Start = plan.Start || i == index
	}
	return plan
}

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
		most, initial := newCrashLoopBackOff(config)
		// The core counts in milliseconds.
		result.Max, result.Initial = policy.Millis(most/time.Millisecond), policy.Millis(initial/time.Millisecond)
	}
	return result
}
