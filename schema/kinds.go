package schema

// Kinds of documents besides those of package manifest.
const (
	kindScenario = "Scenario"
	kindList     = "List"
	kindKubelet  = "KubeletConfiguration"

	apiVersionScenario = "podfate.dev/v1"
	apiVersionList     = "v1"
	apiVersionKubelet  = "kubelet.config.k8s.io/v1beta1"
)
