package policy

import "strconv"

// KubeletConfiguration is what matters of a KubeletConfiguration when a container exits, its feature gates apart.
type KubeletConfiguration struct {
	// MaxContainerRestartPeriod is crashLoopBackOff.maxContainerRestartPeriod; nil if it is not set.
	MaxContainerRestartPeriod *Duration
}

// Validate reports what a kubelet of f refuses of k. prefix is the path of k with its dot. A kubelet with a fault does
// not start.
//
// The period is cut to whole milliseconds before it is compared, so that 300.0009 s pass. Nothing is said where it is
// not set: the kubelet then has a default.
//
// Source: ValidateKubeletConfiguration in pkg/kubelet/apis/config/validation/validation.go, Kubernetes v1.33 to v1.37.
func (k KubeletConfiguration) Validate(f Features, prefix string) []FieldError {
	if k.MaxContainerRestartPeriod == nil {
		return nil
	}
	fault := FieldError{Path: prefix + "crashLoopBackOff.maxContainerRestartPeriod"}
	if !f.KubeletCrashLoopBackOffMax {
		fault.Code = CodeForbidden
		fault.Detail = "the gate KubeletCrashLoopBackOffMax is off; a kubelet with this setting does not start"
		fault.Message = "invalid configuration: FeatureGate KubeletCrashLoopBackOffMax not enabled, " +
			"CrashLoopBackOff.MaxContainerRestartPeriod must not be set"
		return []FieldError{fault}
	}
	if ms := k.MaxContainerRestartPeriod.Millis(); ms < MinContainerRestartPeriod || ms > MaxContainerRestartPeriod {
		fault.Code = CodeOutOfRange
		fault.Detail = "must be between 1s and 300s; a kubelet with this setting does not start"
		fault.Message = "invalid configuration: CrashLoopBackOff.MaxContainerRestartPeriod (got: " +
			k.MaxContainerRestartPeriod.secondsText() + " seconds) must be set between 1s and 300s"
		return []FieldError{fault}
	}
	return nil
}

// Millis returns d without its part below a millisecond, cut towards zero.
func (d Duration) Millis() Millis { return Millis(d / 1e6) }

// secondsText returns d in seconds as fmt prints a float64: 0.999, 301, 1e+06.
func (d Duration) secondsText() string {
	seconds := float64(d/1e9) + float64(d%1e9)/1e9
	return strconv.FormatFloat(seconds, 'g', -1, 64)
}

// Backoff returns the back-off of a kubelet with f and k, which has no faults. It counts in whole milliseconds.
func (k KubeletConfiguration) Backoff(f Features) Backoff {
	if k.MaxContainerRestartPeriod == nil {
		return KubeletBackoff(f, 0)
	}
	return KubeletBackoff(f, k.MaxContainerRestartPeriod.Millis())
}
