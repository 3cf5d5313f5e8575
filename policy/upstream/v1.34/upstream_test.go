package upstream

import (
	"context"
	"testing"
	_ "unsafe" // for go:linkname

	v1 "k8s.io/api/core/v1"
	batchinformers "k8s.io/client-go/informers/batch/v1"
	coreinformers "k8s.io/client-go/informers/core/v1"
	clientset "k8s.io/client-go/kubernetes"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
	"k8s.io/kubernetes/pkg/apis/core"
	jobcontroller "k8s.io/kubernetes/pkg/controller/job"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"

	"github.com/podfate/podfate/policy/upstream/diff"
	"github.com/podfate/podfate/policy/upstream/kube"
)

func TestUpstream(t *testing.T) {
	diff.Run(t, kube.New(kube.Adapter{
		Minor:                      34,
		ShouldContainerBeRestarted: kubecontainer.ShouldContainerBeRestarted,
		RulesSet:                   func(c *core.Container) bool { return c.RestartPolicyRules != nil },
		ContainerShouldRestart:     podutil.ContainerShouldRestart,
		MatchingRule:               matchingRule,
		OnlyRule: func(c v1.Container, i int) v1.Container {
			c.RestartPolicyRules = c.RestartPolicyRules[i : i+1]
			return c
		},
		NewJobController: newJobController, JobSyncBatchPeriod: &jobcontroller.SyncJobBatchPeriod,
	}))
}

// findMatchingContainerRestartRule is exported from 1.35 on only. bodyless.s lets the compiler
// accept it.
//
//go:linkname findMatchingContainerRestartRule k8s.io/kubernetes/pkg/api/v1/pod.findMatchingContainerRestartRule
func findMatchingContainerRestartRule(v1.Container, int32) (v1.ContainerRestartRule, bool)

// matchingRule finds the index of the rule, of which Kubernetes returns a copy, by its condition.
func matchingRule(c v1.Container, code int32) int {
	rule, found := findMatchingContainerRestartRule(c, code)
	for i := range c.RestartPolicyRules {
		if found && c.RestartPolicyRules[i].ExitCodes == rule.ExitCodes {
			return i
		}
	}
	return -1
}

func newJobController(ctx context.Context, c clientset.Interface, pods coreinformers.PodInformer, jobs batchinformers.JobInformer) (*jobcontroller.Controller, error) {
	return jobcontroller.NewController(ctx, pods, jobs, c)
}
