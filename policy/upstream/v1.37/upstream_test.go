package upstream

import (
	"context"
	"testing"

	v1 "k8s.io/api/core/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	batchinformers "k8s.io/client-go/informers/batch/v1"
	coreinformers "k8s.io/client-go/informers/core/v1"
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/component-base/featuregate"
	ndf "k8s.io/component-helpers/nodedeclaredfeatures"
	"k8s.io/component-helpers/nodedeclaredfeatures/features/restartallcontainers"
	"k8s.io/klog/v2"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
	"k8s.io/kubernetes/pkg/apis/core"
	jobcontroller "k8s.io/kubernetes/pkg/controller/job"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"

	"github.com/podfate/podfate/policy/upstream/diff"
	"github.com/podfate/podfate/policy/upstream/kube"
)

func TestUpstream(t *testing.T) {
	diff.Run(t, kube.New(kube.Adapter{
		Minor: 37,
		ShouldContainerBeRestarted: func(c *v1.Container, p *v1.Pod, s *kubecontainer.PodStatus) bool {
			return kubecontainer.ShouldContainerBeRestarted(klog.Logger{}, c, p, s)
		},
		RulesSet:               func(c *core.Container) bool { return c.RestartPolicyRules != nil },
		ContainerShouldRestart: podutil.ContainerShouldRestart,
		MatchingRule:           matchingRule,
		OnlyRule: func(c v1.Container, i int) v1.Container {
			c.RestartPolicyRules = c.RestartPolicyRules[i : i+1]
			return c
		},
		ShouldAllContainersRestart: func(p *v1.Pod, s *kubecontainer.PodStatus) bool {
			return kubecontainer.ShouldAllContainersRestart(p, s, nil)
		},
		NodeLacks:        nodeLacks,
		NewJobController: newJobController, JobSyncBatchPeriod: &jobcontroller.SyncJobBatchPeriod,
	}))
}

// matchingRule finds the index of the rule, of which Kubernetes returns a copy, by its condition.
func matchingRule(c v1.Container, code int32) int {
	rule, found := podutil.FindMatchingContainerRestartRule(c, code)
	for i := range c.RestartPolicyRules {
		if found && c.RestartPolicyRules[i].ExitCodes == rule.ExitCodes {
			return i
		}
	}
	return -1
}

func newJobController(ctx context.Context, c clientset.Interface, pods coreinformers.PodInformer, jobs batchinformers.JobInformer) (*jobcontroller.Controller, error) {
	return jobcontroller.NewController(ctx, c, pods, jobs, nil, nil)
}

// gates are those of the process.
type gates struct{}

func (gates) Enabled(name string) bool {
	return utilfeature.DefaultFeatureGate.Enabled(featuregate.Feature(name))
}

func nodeLacks(p *v1.Pod) string {
	f := restartallcontainers.Feature
	if f.InferForScheduling(&ndf.PodInfo{Spec: &p.Spec}) && !f.Discover(&ndf.NodeConfiguration{FeatureGates: gates{}}) {
		return f.Name()
	}
	return ""
}
