package manifest

// KindInfo is a kind of manifest that holds a Pod, in every modelled release.
type KindInfo struct {
	Kind       string
	APIVersion string
	Template   string // path of its pod template, "" for a Pod
}

// Kinds returns the kinds, in the order in which faults and describe list them.
func Kinds() []KindInfo { return kinds }

// kinds is never written to.
var kinds = []KindInfo{
	{"Pod", "v1", ""},
	{"PodTemplate", "v1", "template"},
	{"ReplicationController", "v1", "spec.template"},
	{"Job", "batch/v1", "spec.template"},
	{"CronJob", "batch/v1", "spec.jobTemplate.spec.template"},
	{"Deployment", "apps/v1", "spec.template"},
	{"ReplicaSet", "apps/v1", "spec.template"},
	{"StatefulSet", "apps/v1", "spec.template"},
	{"DaemonSet", "apps/v1", "spec.template"},
}
