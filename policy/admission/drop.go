package admission

import "github.com/podfate/podfate/policy"

// Dropped is a field that the API server removes from an object without a word, because its gate is
// off.
type Dropped struct {
	Path string // from the manifest's root
	Gate string
}

// DropDisabled removes from spec what an API server with f would remove on create and lists it in
// document order. prefix is the path of spec with its dot: "spec." or "spec.template.spec.". It
// changes spec's containers in place.
//
// Release 1.33 drops nothing: it does not know the rules and refuses the policies.
//
// Source: dropContainerRestartRules in pkg/api/pod/util.go, Kubernetes v1.34 to v1.37.
func DropDisabled(spec *policy.PodSpec, prefix string, f policy.Features) []Dropped {
	if f.ContainerRestartRules || f.Minor < 34 {
		return nil
	}
	var dropped []Dropped
	drop := func(r policy.Ref, field string) {
		dropped = append(dropped, Dropped{prefix + r.Path() + "." + field, "ContainerRestartRules"})
	}
	for _, kind := range []policy.ContainerKind{policy.InitContainer, policy.MainContainer, policy.EphemeralContainer} {
		for i := range spec.List(kind) {
			r := policy.Ref{Kind: kind, Index: i}
			c := spec.Container(r)
			if c.RestartPolicy != nil && !c.IsSidecar(kind) {
				drop(r, "restartPolicy")
				c.RestartPolicy = nil
			}
			if c.HasRules {
				drop(r, "restartPolicyRules")
				c.RestartPolicyRules, c.HasRules = nil, false
			}
		}
	}
	return dropped
}

// WhileInUse returns f as it is for an update of an object that already uses what a gate has
// disabled since: the fields are neither dropped nor refused then.
//
// Source: containerRestartRulesInUse and restartAllContainersActionInUse in pkg/api/pod/util.go,
// Kubernetes v1.34 to v1.37.
func WhileInUse(f policy.Features, old *policy.PodSpec) policy.Features {
	f.ContainerRestartRules = f.ContainerRestartRules || f.Minor >= 34 && restartRulesInUse(old)
	f.RestartAllContainersOnContainerExits = f.RestartAllContainersOnContainerExits || f.Minor >= 35 && restartAllInUse(old)
	return f
}

func restartRulesInUse(old *policy.PodSpec) bool {
	for i := range old.InitContainers {
		c := &old.InitContainers[i]
		if c.RestartPolicy != nil && !c.IsSidecar(policy.InitContainer) || len(c.RestartPolicyRules) > 0 {
			return true
		}
	}
	for i := range old.Containers {
		if old.Containers[i].RestartPolicy != nil {
			return true
		}
	}
	return false
}

func restartAllInUse(old *policy.PodSpec) bool {
	for _, kind := range []policy.ContainerKind{policy.MainContainer, policy.InitContainer} {
		for _, c := range old.List(kind) {
			if c.IsSidecar(kind) && len(c.RestartPolicyRules) > 0 {
				return true
			}
			for _, rule := range c.RestartPolicyRules {
				if rule.Action == policy.ActionRestartAllContainers {
					return true
				}
			}
		}
	}
	return false
}

// DropDisabledOfJob removes what the API server of f drops without a word when it stores j: fields
// whose gate is off. On an update, was is the Job that it replaces, otherwise nil; prefix is the
// path of the spec with its dot.
//
// Source: PrepareForCreate and PrepareForUpdate in pkg/registry/batch/job/strategy.go, Kubernetes
// v1.33 to v1.37.
func DropDisabledOfJob(j, was *policy.Job, prefix string, f policy.Features) (dropped []Dropped) {
	if j.ManagedBy != nil && !f.JobManagedBy && was == nil {
		j.ManagedBy = nil
		dropped = append(dropped, Dropped{prefix + "managedBy", "JobManagedBy"})
	}
	if j.PodReplacementPolicy != nil && !f.ReplacesPods() && (was == nil || was.PodReplacementPolicy == nil) {
		j.PodReplacementPolicy = nil
		dropped = append(dropped, Dropped{prefix + "podReplacementPolicy", "JobPodReplacementPolicy"})
	}
	return dropped
}
