package manifest

import "github.com/podfate/podfate/policy"

// Interim (replaced by the field table; keep these names and shapes, package ops uses them; delete this file then).

// KindInfo is a kind of manifest.
type KindInfo struct{ Kind, APIVersion, Template string }

// Kinds returns the kinds, in the order in which faults list them.
func Kinds() []KindInfo {
	return []KindInfo{
		{"Pod", "v1", ""}, {"PodTemplate", "v1", "template"}, {"ReplicationController", "v1", "spec.template"},
		{"Job", "batch/v1", "spec.template"}, {"CronJob", "batch/v1", "spec.jobTemplate.spec.template"},
		{"Deployment", "apps/v1", "spec.template"}, {"ReplicaSet", "apps/v1", "spec.template"},
		{"StatefulSet", "apps/v1", "spec.template"}, {"DaemonSet", "apps/v1", "spec.template"},
	}
}

// Checked is what CheckFields found: Faults stop decoding (types, ranges), Strict are unknown and duplicate fields.
type Checked struct{ Faults, Strict []policy.FieldError }

// CheckFields checks v against the Go types of kind in Kubernetes 1.minor.
func CheckFields(v Value, kind string, minor int) Checked { return Checked{} }
