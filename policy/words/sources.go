package words

import "strings"

// The pages that answers point to: the documentation of Kubernetes where it says the rule, else the
// proposal that brought it.
const (
	docs        = "https://kubernetes.io/docs/concepts/workloads/"
	lifecycle   = docs + "pods/pod-lifecycle/"
	jobs        = docs + "controllers/job/"
	enhancement = "https://github.com/kubernetes/enhancements/tree/master/keps/"
)

var (
	restartPolicyPage = source{"Pod lifecycle: restart policy", lifecycle + "#restart-policy"}
	restartsPage      = source{"Pod lifecycle: container restarts", lifecycle + "#container-restarts"}
	rulesPage         = source{"KEP-5307: container restart rules", enhancement + "sig-node/5307-container-restart-policy"}
	restartAllPage    = source{"KEP-5532: restart all containers", enhancement + "sig-node/5532-restart-all-containers-on-container-exits"}
	phasePage         = source{"Pod lifecycle: Pod phase", lifecycle + "#pod-phase"}
	sidecarPage       = source{"Sidecar containers", docs + "pods/sidecar-containers/"}
	initPage          = source{"Init containers", docs + "pods/init-containers/"}
	ephemeralPage     = source{"Ephemeral containers", docs + "pods/ephemeral-containers/"}
	failurePage       = source{"Jobs: Pod failure policy", jobs + "#pod-failure-policy"}
	backoffPage       = source{"Jobs: Pod back-off failure policy", jobs + "#pod-backoff-failure-policy"}
	perIndexPage      = source{"Jobs: back-off limit per index", jobs + "#backoff-limit-per-index"}
	successPage       = source{"Jobs: success policy", jobs + "#success-policy"}
	managedPage       = source{"Jobs: delegation to another controller", jobs + "#delegation-of-managing-a-job-object-to-external-controller"}
	gatesPage         = source{"Feature gates", "https://kubernetes.io/docs/reference/command-line-tools-reference/feature-gates/"}
)

// Sources lists all addresses that documents may contain: an allow-list for fronts.
func Sources() []string {
	var urls []string
	for _, s := range []source{
		restartPolicyPage, restartsPage, rulesPage, restartAllPage, phasePage, sidecarPage, initPage, ephemeralPage,
		failurePage, backoffPage, perIndexPage, successPage, managedPage, gatesPage,
	} {
		urls = append(urls, s.url)
	}
	return urls
}

// sourceOf returns the page about the code of a step or a decision at a path.
func sourceOf(code, path string) source {
	switch code {
	case "sidecar_always_restarts":
		return sidecarPage
	case "init_completed", "init_retried":
		return initPage
	case "ephemeral_never_restarts":
		return ephemeralPage
	case "managed_by":
		return managedPage
	}
	switch {
	case strings.Contains(path, "podFailurePolicy"):
		return failurePage
	case strings.HasSuffix(path, "backoffLimit"):
		return backoffPage
	case strings.HasSuffix(path, "backoffLimitPerIndex"), strings.HasSuffix(path, "maxFailedIndexes"):
		return perIndexPage
	case strings.Contains(path, "successPolicy"):
		return successPage
	case strings.Contains(path, "restartPolicyRules"):
		return rulesPage
	}
	return restartPolicyPage
}
