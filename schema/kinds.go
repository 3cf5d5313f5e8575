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

// withoutPods are the other API groups of Kubernetes itself. None of their kinds makes Pods.
// Source: k8s.io/api 0.37.
var withoutPods = []string{
	"admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io", "authentication.k8s.io", "authorization.k8s.io",
	"autoscaling", "certificates.k8s.io", "coordination.k8s.io", "discovery.k8s.io", "events.k8s.io", "flowcontrol.apiserver.k8s.io",
	"networking.k8s.io", "node.k8s.io", "policy", "rbac.authorization.k8s.io", "resource.k8s.io", "scheduling.k8s.io", "storage.k8s.io",
}

// podless are the kinds without Pods in the API groups whose kinds are all known here, "" being the
// core group: what is neither among them nor read is no kind of these groups. Source: k8s.io/api
// 0.37, core/v1, apps/v1 and batch/v1.
var podless = map[string][]string{
	"": {
		"Binding", "ComponentStatus", "ConfigMap", "Endpoints", "Event", "LimitRange", "Namespace", "Node",
		"PersistentVolume", "PersistentVolumeClaim", "ResourceQuota", "Secret", "Service", "ServiceAccount",
	},
	"apps":                  {"ControllerRevision"},
	"batch":                 nil,
	"kubelet.config.k8s.io": nil,
	"podfate.dev":           nil,
}
