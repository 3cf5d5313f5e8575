//go:build kubelet

package upstream

import _ "github.com/podfate/podfate/policy/upstream/kube/kubelet"
