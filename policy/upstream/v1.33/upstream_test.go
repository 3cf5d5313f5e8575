package upstream

import (
	"context"
	"testing"
	"time"
	_ "unsafe" // for go:linkname

	batchinformers "k8s.io/client-go/informers/batch/v1"
	coreinformers "k8s.io/client-go/informers/core/v1"
	clientset "k8s.io/client-go/kubernetes"
	jobcontroller "k8s.io/kubernetes/pkg/controller/job"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"

	"github.com/podfate/podfate/policy/upstream/diff"
	"github.com/podfate/podfate/policy/upstream/kube"
)

// The release has no rules or policies of containers except that of sidecars.
func TestUpstream(t *testing.T) {
	diff.Run(t, kube.New(kube.Adapter{
		Minor: 33, ShouldContainerBeRestarted: kubecontainer.ShouldContainerBeRestarted,
		NewJobController: newJobController, JobSyncBatchPeriod: &syncJobBatchPeriod,
	}))
}

func newJobController(ctx context.Context, c clientset.Interface, pods coreinformers.PodInformer, jobs batchinformers.JobInformer) (*jobcontroller.Controller, error) {
	return jobcontroller.NewController(ctx, pods, jobs, c)
}

//go:linkname syncJobBatchPeriod k8s.io/kubernetes/pkg/controller/job.syncJobBatchPeriod
var syncJobBatchPeriod time.Duration
