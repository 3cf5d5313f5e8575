package policy

import "strconv"

// KubeletConfiguration is what matters of a KubeletConfiguration when a container exits, its
// feature gates apart.
type KubeletConfiguration struct {
	// MaxContainerRestartPeriod is crashLoopBackOff.maxContainerRestartPeriod; nil if it is not
	// set.
	MaxContainerRestartPeriod *Duration
	// MaxPods, KubeAPIQPS and KubeAPIBurst are the fields with these names: how many Pods a node
	// takes, and how often its kubelet asks the API server. nil if they are not set.
	MaxPods, KubeAPIQPS, KubeAPIBurst *int64
}

// Limits returns how many Pods a node takes, and how many requests its kubelet sends in a second
// and at once. Of client-go, 0 is its own default.
//
// Source: SetDefaults_KubeletConfiguration in pkg/kubelet/apis/config/v1beta1/defaults.go,
// Kubernetes v1.33 to v1.37; RESTClientForConfigAndClient in k8s.io/client-go v0.33 to v0.37,
// rest/config.go.
func (k KubeletConfiguration) Limits() (pods, qps, burst int64) {
	pods, qps, burst = 110, 50, 100
	if k.MaxPods != nil && *k.MaxPods > 0 {
		pods = *k.MaxPods
	}
	if k.KubeAPIQPS != nil {
		if qps = *k.KubeAPIQPS; qps == 0 {
			qps = 5
		}
	}
	if k.KubeAPIBurst != nil && *k.KubeAPIBurst > 0 {
		burst = *k.KubeAPIBurst
	}
	return pods, qps, burst
}

// Validate reports what a kubelet of f refuses of k. prefix is the path of k with its dot. A
// kubelet with a fault does not start.
//
// The period is cut to whole milliseconds before it is compared, so that 300.0009 s pass. Nothing
// is said where it is not set: the kubelet then has a default. Faults are in Kubernetes' order.
//
// Source: ValidateKubeletConfiguration in pkg/kubelet/apis/config/validation/validation.go,
// Kubernetes v1.33 to v1.37.
func (k KubeletConfiguration) Validate(f Features, prefix string) (faults []FieldError) {
	for _, n := range [...]struct {
		name, flag string
		value      *int64
	}{{"kubeAPIBurst", "kube-api-burst", k.KubeAPIBurst}, {"kubeAPIQPS", "kube-api-qps", k.KubeAPIQPS}, {"maxPods", "max-pods", k.MaxPods}} {
		if n.value != nil && *n.value < 0 {
			faults = append(faults, FieldError{
				Path: prefix + n.name, Code: CodeOutOfRange, Detail: "must not be negative; a kubelet with this setting does not start",
				Message: "invalid configuration: " + n.name + " (--" + n.flag + ") " + strconv.FormatInt(*n.value, 10) + " must not be a negative number",
			})
		}
	}
	if k.MaxContainerRestartPeriod == nil {
		return faults
	}
	fault := FieldError{Path: prefix + "crashLoopBackOff.maxContainerRestartPeriod"}
	if !f.KubeletCrashLoopBackOffMax {
		fault.Code = CodeForbidden
		fault.Detail = "the gate KubeletCrashLoopBackOffMax is off; a kubelet with this setting does not start"
		fault.Message = "invalid configuration: FeatureGate KubeletCrashLoopBackOffMax not enabled, " +
			"CrashLoopBackOff.MaxContainerRestartPeriod must not be set"
		return append(faults, fault)
	}
	if ms := k.MaxContainerRestartPeriod.Millis(); ms < MinContainerRestartPeriod || ms > MaxContainerRestartPeriod {
		fault.Code = CodeOutOfRange
		fault.Detail = "must be between 1s and 300s; a kubelet with this setting does not start"
		fault.Message = "invalid configuration: CrashLoopBackOff.MaxContainerRestartPeriod (got: " +
			k.MaxContainerRestartPeriod.secondsText() + " seconds) must be set between 1s and 300s"
		return append(faults, fault)
	}
	return faults
}

// Millis returns d without its part below a millisecond, cut towards zero.
func (d Duration) Millis() Millis { return Millis(d / 1e6) }

// secondsText returns d in seconds as fmt prints a float64: 0.999, 301, 1e+06.
func (d Duration) secondsText() string {
	seconds := float64(d/1e9) + float64(d%1e9)/1e9
	return strconv.FormatFloat(seconds, 'g', -1, 64)
}

// Backoff returns the back-off of a kubelet with f and k, which has no faults. It counts in whole
// milliseconds.
func (k KubeletConfiguration) Backoff(f Features) Backoff {
	if k.MaxContainerRestartPeriod == nil {
		return KubeletBackoff(f, 0)
	}
	return KubeletBackoff(f, k.MaxContainerRestartPeriod.Millis())
}
