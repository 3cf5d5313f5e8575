package policy

// What a kubelet says about a Pod that it does not admit.
const (
	ReasonFeatureUnsupported  = "PodFeatureUnsupported"
	MessageFeatureUnsupported = "Pod requires node features that are not available: RestartAllContainersOnContainerExits"
)

// NeedsRestartAll reports whether the Pod needs a node that can restart all containers, and the
// first rule that asks for it: of main containers first, as the node looks.
//
// Source: InferForScheduling in k8s.io/component-helpers v0.35 to v0.37,
// nodedeclaredfeatures/features/restartallcontainers.
func (s *PodSpec) NeedsRestartAll() (r Ref, rule int, ok bool) {
	for _, kind := range []ContainerKind{MainContainer, InitContainer} {
		for i := range s.List(kind) {
			for n, rule := range s.List(kind)[i].RestartPolicyRules {
				if rule.Action == ActionRestartAllContainers {
					return Ref{Kind: kind, Index: i}, n, true
				}
			}
		}
	}
	return Ref{}, 0, false
}

// RefusedByNode reports whether a kubelet of f refuses the Pod, with [ReasonFeatureUnsupported],
// for what [PodSpec.NeedsRestartAll] says. It asks when it sees the Pod for the first time, which
// it does again after a restart.
//
// Source: declaredFeaturesAdmitHandler in pkg/kubelet/lifecycle/handlers.go, HandlePodAdditions in
// pkg/kubelet/kubelet.go, Kubernetes v1.35 to v1.37.
func (s *PodSpec) RefusedByNode(f Features) bool {
	if !f.NodeDeclaredFeatures || f.RestartAllContainersOnContainerExits {
		return false
	}
	_, _, needs := s.NeedsRestartAll()
	return needs
}
