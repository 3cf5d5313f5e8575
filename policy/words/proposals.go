package words

import "strings"

// reading returns the words for a default reading of what a proposal leaves open.
func reading(code string) string {
	switch code {
	case "restartTimes_atLeast":
		return "restartTimes is met from that number of restarts on (the proposal leaves open whether it means exactly that number: X-32)"
	case "missingPolicy_pod":
		return "rules count in a container without restartPolicy, and the Pod's restartPolicy decides if none matches (the proposal requires one, but its example has none: X-03)"
	case "fallback_container":
		return "if no rule matches, the container's restartPolicy decides (another sentence of the proposal says the Pod's: X-02)"
	case "restartPod_recreate":
		return "RestartPod gives the Pod a new sandbox (the proposal leaves it open: X-06)"
	case "counts_podSum":
		return "maxRestartTimes counts the restarts of all containers together (X-41)"
	case "stop_reached":
		return "no restart follows once maxRestartTimes is reached (another text says: exceeded: X-41)"
	case "policies_all":
		return "maxRestartTimes applies to every restartPolicy (another text has it for OnFailure only: X-41)"
	case "exitZero_skipped":
		return "a container that exited with 0 matches no rule (the draft does not say so: X-09)"
	case "evictionReason_Evicted":
		return "a Pod that the kubelet evicts has the reason Evicted (the draft's examples say NodePressureEviction: X-38)"
	case "sandbox_reuse":
		return "AlwaysPod keeps the sandbox of the Pod (the proposal describes both ways: X-29)"
	case "wait_asAlways":
		return "AlwaysPod waits as Always does, with one back-off for the Pod (the proposal says: almost exactly like Always: X-39)"
	case "onSuccess_5s":
		return "FastOnSuccess waits 5s after a success (the draft's text and its figures disagree: 002-51)"
	case "oldKubelet_Always":
		return "a kubelet that does not know the restartPolicy treats it as Always (the draft says Always, OnFailure or Never, depending on the place: X-15)"
	}
	return ""
}

// noRule says why no rule on failed Pods decides, and backoffLimit, which is at path, does.
func (d *document) noRule(path string) string {
	spec := strings.TrimSuffix(path, "backoffLimit")
	switch {
	case !d.man.Exists():
		return "no rule on failed Pods matches"
	case d.man.At(spec + "backoffPolicy").Exists():
		return "no backoffPolicy rule matches"
	case spec != path && !d.man.At(spec+"podFailurePolicy").Exists():
		return "the Job has no podFailurePolicy"
	}
	return "no podFailurePolicy rule matches"
}

// rulesPath is the path of the Job's rules on failed Pods: a proposal has another name for them.
func (d *document) rulesPath() string {
	if draft := d.jobPath() + "backoffPolicy"; d.man.At(draft).Exists() {
		return draft + ".rules"
	}
	return d.jobPath() + "podFailurePolicy.rules"
}
