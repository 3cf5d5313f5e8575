package policy

// Object is a manifest, as far as it matters when a container exits: a Pod, or something that makes Pods.
type Object struct {
	Kind      string // as in the manifest: Pod, Job, …
	Namespace string // "" when the manifest names none
	Name      string
	Spec      PodSpec
	// SpecPath is the path of Spec with its dot: "spec." for a Pod, "spec.template.spec." for a Job.
	SpecPath string
	// HasPodFailurePolicy tells, for a Job and a CronJob, that spec.podFailurePolicy is not null.
	HasPodFailurePolicy bool
}

// Path returns the field path of container r in the manifest: spec.containers[0].
func (o *Object) Path(r Ref) string { return o.SpecPath + r.Path() }

// Validate reports what the API server of f would refuse of the restart fields of o on create, in its order.
// Call [DropDisabled] first, as the API server does.
//
// Source: pkg/apis/core/validation, pkg/apis/apps/validation and pkg/apis/batch/validation, validation.go;
// Kubernetes v1.33 to v1.37.
func (o *Object) Validate(f Features) []FieldError {
	v := validator{f: f}
	v.faults = ValidatePodSpec(&o.Spec, o.SpecPath, o.Kind != "Pod", f)
	path := o.SpecPath + "restartPolicy"
	switch o.Kind {
	case "Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "ReplicationController":
		if o.Spec.RestartPolicy != "" && o.Spec.RestartPolicy != RestartPolicyAlways {
			v.unsupported(path, string(o.Spec.RestartPolicy), "Always")
		}
	case "Job", "CronJob":
		v.jobRestartPolicy(path, o.Spec.RestartPolicy, o.HasPodFailurePolicy)
	}
	return v.faults
}

func (v *validator) jobRestartPolicy(path string, p RestartPolicy, hasPodFailurePolicy bool) {
	switch {
	case p == "" || p == RestartPolicyAlways:
		v.required(path, `valid values: "OnFailure", "Never"`)
	case p != RestartPolicyOnFailure && p != RestartPolicyNever:
		v.unsupported(path, string(p), "OnFailure", "Never")
	case hasPodFailurePolicy && p != RestartPolicyNever:
		v.invalid(path, string(p), `only "Never" is supported when podFailurePolicy is specified`)
	}
}
