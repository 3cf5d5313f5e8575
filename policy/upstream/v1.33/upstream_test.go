package upstream

import (
	"testing"

	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"

	"github.com/podfate/podfate/policy/upstream/diff"
	"github.com/podfate/podfate/policy/upstream/kube"
)

// The release has neither rules nor policies of containers but that of sidecars.
func TestUpstream(t *testing.T) {
	diff.Run(t, kube.New(kube.Adapter{Minor: 33, ShouldContainerBeRestarted: kubecontainer.ShouldContainerBeRestarted}))
}
