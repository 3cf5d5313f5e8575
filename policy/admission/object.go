package admission

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/podfate/podfate/policy"
)

// Validate reports what the API server of f would refuse of the restart fields of o on create, and
// of those that o.Fields checks, in its order. Call [DropDisabled] first, as the API server does.
//
// Source: pkg/apis/core/validation, pkg/apis/apps/validation and pkg/apis/batch/validation,
// validation.go; Kubernetes v1.33 to v1.37.
func Validate(o *policy.Object, f policy.Features) []policy.FieldError {
	v := newValidator(f, false)
	return once(v.created(o), f)
}

// PodsRefused reports what the API server of f would refuse of each Pod of o, a StatefulSet that it
// accepts: until 1.33 it does not look into the template, and later not into one that takes the
// place of a bad one.
//
// Source: ValidatePodTemplateSpecForStatefulSet in pkg/apis/apps/validation/validation.go,
// Kubernetes v1.33 to v1.37.
func PodsRefused(o *policy.Object, f policy.Features) []policy.FieldError {
	v := newValidator(f, false)
	v.rest = o.Fields
	v.podSpec(&o.Spec, o.SpecPath)
	return v.Faults.All()
}

// ValidateStatic reports what a kubelet of f would refuse of the restart fields of o, a Pod in a
// file. A kubelet drops nothing, so that there are faults that the API server cannot print. Until
// 1.34 it allows nothing that a gate brought, even if the gate is on: no policies of containers but
// that of sidecars, no resize policies of init containers.
//
// A Pod that it can read may still need more than the node has: see [PodSpec.RefusedByNode].
//
// Source: tryDecodeSinglePod in pkg/kubelet/config/common.go, Kubernetes v1.33 to v1.37.
func ValidateStatic(o *policy.Object, f policy.Features) []policy.FieldError {
	v := newValidator(f, true)
	if f.Minor < 35 {
		v.f.ContainerRestartRules, v.noInitResize = false, true
	}
	faults := v.created(o)
	if len(faults) == 0 && o.Spec.RefusedByNode(f) {
		r, rule, _ := o.Spec.NeedsRestartAll()
		faults = []policy.FieldError{{
			Path: o.Path(r) + ".restartPolicyRules" + policy.Index(rule) + ".action", Code: policy.CodeNodeRefuses, Message: policy.MessageFeatureUnsupported,
			Detail: "the kubelet does not admit the Pod (" + policy.ReasonFeatureUnsupported + "): RestartAllContainersOnContainerExits is off",
		}}
	}
	return faults
}

// created checks o as a new object.
func (v *validator) created(o *policy.Object) []policy.FieldError {
	v.around = o.Around
	v.part(policy.PartMetadata)
	switch ok := v.template(o); {
	case ok && o.Kind == "Pod":
		if len(o.Spec.EphemeralContainers) > 0 {
			v.forbidden(o.SpecPath+"ephemeralContainers", "cannot be set on create")
		}
		v.fields(policy.PartNode, policy.Ref{})
		v.part(policy.PartProfiles)
	case ok && o.Kind == "Job":
		v.podHostname(o)
	}
	return v.Faults.All()
}

// once leaves out faults that say what an earlier one said, as the API server does from 1.37 on.
//
// Source: FilterCoveredHandwrittenErrors and ErrorList.Filter, k8s.io/apiserver and
// k8s.io/apimachinery v0.37.
func once(faults []policy.FieldError, f policy.Features) []policy.FieldError {
	if f.Minor < 37 {
		return faults
	}
	return merged(faults)
}

// merged leaves out faults that say what an earlier one said.
func merged(faults []policy.FieldError) []policy.FieldError {
	if len(faults) < 2 {
		return faults
	}
	said := make(map[string]bool, len(faults))
	kept := faults[:0]
	for _, fault := range faults {
		text := fault.Message
		if text == "" { // a part of it is drawn, once
			text = fault.Path + ": " + fault.Detail
		}
		if !said[text] {
			kept = append(kept, fault)
		}
		said[text] = true
	}
	return kept
}

// ValidateUpdate reports what the API server of f would refuse of the restart fields of o when it
// replaces old, an object of the same kind, in its order. Call [DropDisabled] first, with the
// features that [WhileInUse] returns for old.
//
// A Pod may change nothing that Podfate reads but activeDeadlineSeconds, which may only become
// shorter; the template of a Job nothing. The message about a Pod ends where Kubernetes adds a line
// break and a diff of the two specs, which is left out; the fault of a Job's template has no
// message, since Kubernetes prints the whole template, and its path is spec.template, where
// Kubernetes names spec.template.spec in a suspended Job whose resources may change. Fields that
// Podfate does not read are not compared. The metadata of a template is checked as on create, where
// o.Around is there to do so.
//
// Source: ValidatePodUpdate in pkg/apis/core/validation/validation.go, ValidateJobUpdate in
// pkg/apis/batch/validation/validation.go; Kubernetes v1.33 to v1.37.
func ValidateUpdate(o, old *policy.Object, f policy.Features) []policy.FieldError {
	v := newValidator(WhileInUse(f, &old.Spec), false)
	v.replaces, v.resizeInUse = true, restartsNonSidecarOnResize(&old.Spec)
	if o.Kind == "StatefulSet" && f.Minor >= 34 { // a template that was bad may stay, or become another bad one
		was := v
		was.replaces = false
		was.template(old)
		v.wasBad = len(was.Faults.Kept()) > 0
	}
	if !v.template(o) {
		return v.Faults.All()
	}
	switch o.Kind {
	case "Pod":
		v.podUpdate(o, old)
	case "Job":
		// Until 1.36 the checks of a new Job come first, as a whole, and then all but that of the
		// host name once more. kubectl prints equal faults once, and so does the API server in the
		// text of its answer.
		if f.Minor < 37 {
			v.podHostname(o)
		}
		v.jobUpdate(o, old)
		if f.Minor >= 37 {
			v.podHostname(o)
		}
		return merged(v.Faults.All())
	}
	return once(v.Faults.All(), f)
}

// template checks the Pod of o and what its kind asks of it; false means that there is none, or
// that the API server gets no further.
func (v *validator) template(o *policy.Object) bool {
	shown := v.part(policy.PartHead)
	if o.NoTemplate {
		v.required("spec.template", "")
		v.part(policy.PartTail)
		return false
	}
	if o.Job != nil && !v.jobSpec(o) {
		return false
	}
	if shown {
		v.podTemplate(o)
	}
	switch o.Kind {
	case "Deployment", "ReplicaSet":
		if shown {
			v.alwaysOnly(o)
		}
	case "StatefulSet", "DaemonSet", "ReplicationController":
		v.alwaysOnly(o)
	case "Job", "CronJob":
		v.jobRestartPolicy(o.SpecPath+"restartPolicy", o.Spec.RestartPolicy, o.Job.PodFailurePolicy != nil && !o.Job.PodFailurePolicy.Draft)
	}
	v.part(policy.PartTail)
	return true
}

// podTemplate checks the Pod of o.
func (v *validator) podTemplate(o *policy.Object) {
	unchecked := o.Kind == "StatefulSet" && (v.wasBad || v.f.Minor < 34) // 1.33 looks only at labels and annotations of the template
	if !unchecked {
		v.again(o, policy.PartTemplate)
		if !v.replaces {
			v.rest = o.Fields
		}
		v.podSpec(&o.Spec, o.SpecPath)
		v.again(o, policy.PartProfiles)
	}
	if o.Kind == "Pod" {
		v.fields(policy.PartPod, policy.Ref{})
	}
	if o.Kind != "Pod" && !unchecked && len(o.Spec.EphemeralContainers) > 0 {
		v.forbidden(o.SpecPath+"ephemeralContainers", "ephemeral containers not allowed in pod template")
	}
	if o.Kind == "StatefulSet" { // whose metadata is checked once more
		v.again(o, policy.PartTemplate)
	}
}

// again checks a part of a template that is checked on each update, too. The template of a Job may
// not change, and has labels then that the API server gave it.
func (v *validator) again(o *policy.Object, p policy.ObjectPart) {
	if o.Kind != "Pod" && o.Around != nil && (o.Kind != "Job" || !v.replaces) {
		o.Around.Check(&v.Report, p)
	}
}

func (v *validator) alwaysOnly(o *policy.Object) {
	if o.Spec.RestartPolicy != "" && o.Spec.RestartPolicy != policy.RestartPolicyAlways {
		v.unsupported(o.SpecPath+"restartPolicy", string(o.Spec.RestartPolicy), "Always")
	}
	if o.Spec.ActiveDeadlineSeconds != nil {
		kind := o.Kind
		if kind == "Deployment" {
			kind = "ReplicaSet" // a Deployment's template is checked by the code of ReplicaSets
		}
		v.forbidden(o.SpecPath+"activeDeadlineSeconds", "activeDeadlineSeconds in "+kind+" is not Supported")
	}
}

func (v *validator) jobRestartPolicy(path string, p policy.RestartPolicy, hasPodFailurePolicy bool) {
	always, anywhere := v.f.Proposals.Has(policy.JobAlways), v.f.Proposals.Has(policy.FailurePolicyAnywhere)
	switch {
	case always && (p == "" || p == policy.RestartPolicyAlways):
	case p == "" || p == policy.RestartPolicyAlways:
		if v.required(path, `valid values: "OnFailure", "Never"`); p != "" {
			v.Faults.Last().Proposal = policy.JobAlways.Name()
		}
		return
	case p != policy.RestartPolicyOnFailure && p != policy.RestartPolicyNever:
		v.unsupported(path, string(p), "OnFailure", "Never")
		if always {
			e := v.Faults.Last()
			e.Allowed, e.Message, e.Detail = append(e.Allowed, "Always"), "", policy.Quoted(string(p))+" is not one of the words"
		}
		return
	}
	if hasPodFailurePolicy && p != policy.RestartPolicyNever && !anywhere {
		v.invalid(path, v.Word(string(p)), `only "Never" is supported when podFailurePolicy is specified`)
		v.Faults.Last().Proposal = policy.FailurePolicyAnywhere.Name()
	}
}

// podUpdate checks what may change in a Pod. It stops early where the API server does.
func (v *validator) podUpdate(o, old *policy.Object) {
	for _, kind := range []policy.ContainerKind{policy.MainContainer, policy.InitContainer} {
		if len(o.Spec.List(kind)) != len(old.Spec.List(kind)) {
			v.forbidden("spec."+kind.Field(), "pod updates may not add or remove containers")
			return
		}
	}
	if !v.deadlineUpdate(o.Spec.ActiveDeadlineSeconds, old.Spec.ActiveDeadlineSeconds) {
		return
	}
	if !sameSpec(&o.Spec, &old.Spec, v.f.Minor) || podGracePeriod(&o.Spec) != podGracePeriod(&old.Spec) {
		v.forbidden("spec", "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"+
			"`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"+
			"`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)")
	}
}

func (v *validator) deadlineUpdate(now, old *int64) bool {
	const path = "spec.activeDeadlineSeconds"
	switch {
	case now == nil && old != nil:
		null := "null"
		if v.f.Minor < 34 { // a text there
			null = `"null"`
		}
		v.invalid(path, null, "must not update from a positive integer to nil value")
	case now == nil:
	case *now < 0 || *now > math.MaxInt32:
		v.invalid(path, strconv.FormatInt(*now, 10), "must be between 0 and 2147483647, inclusive")
		return false
	case old != nil && *old < *now:
		v.invalid(path, strconv.FormatInt(*now, 10), "must be less than or equal to previous value")
		return false
	}
	return true
}

// sameSpec reports whether two specs agree in the fields that no update may change, except the
// grace period. null and an empty list are alike. Rules of containers are fields from 1.34 on.
func sameSpec(a, b *policy.PodSpec, minor int) bool {
	if cmp.Or(a.RestartPolicy, policy.RestartPolicyAlways) != cmp.Or(b.RestartPolicy, policy.RestartPolicyAlways) {
		return false
	}
	for _, kind := range []policy.ContainerKind{policy.MainContainer, policy.InitContainer, policy.EphemeralContainer} {
		if !slices.EqualFunc(a.List(kind), b.List(kind), sameContainer) {
			return false
		}
		for i := range a.List(kind) {
			if minor >= 34 && !slices.EqualFunc(a.List(kind)[i].RestartPolicyRules, b.List(kind)[i].RestartPolicyRules, sameRule) {
				return false
			}
		}
	}
	return true
}

func gracePeriod(s *policy.PodSpec) int64 {
	if s.TerminationGracePeriodSeconds == nil {
		return 30
	}
	return *s.TerminationGracePeriodSeconds
}

// podGracePeriod is what decoding makes of the grace period of a Pod, not of a template: 1 if it is
// negative.
//
// Source: Convert_v1_Pod_To_core_Pod in pkg/apis/core/v1/conversion.go, Kubernetes v1.33 to v1.36,
// SetDefaults_Pod in defaults.go, v1.37.
func podGracePeriod(s *policy.PodSpec) int64 {
	if grace := gracePeriod(s); grace >= 0 {
		return grace
	}
	return 1
}

func sameContainer(a, b policy.Container) bool {
	return a.Name == b.Name &&
		(a.RestartPolicy == nil) == (b.RestartPolicy == nil) &&
		(a.RestartPolicy == nil || *a.RestartPolicy == *b.RestartPolicy) &&
		slices.Equal(a.ResizePolicy, b.ResizePolicy) &&
		a.TargetContainerName == b.TargetContainerName &&
		a.HasLifecycle == b.HasLifecycle && a.HasLivenessProbe == b.HasLivenessProbe &&
		a.HasReadinessProbe == b.HasReadinessProbe && a.HasStartupProbe == b.HasStartupProbe
}

func sameRule(a, b policy.ContainerRestartRule) bool {
	if (a.Restarts == nil) != (b.Restarts == nil) || a.Restarts != nil && *a.Restarts != *b.Restarts || a.OOMKilled != b.OOMKilled || a.Spelling != b.Spelling {
		return false
	}
	return a.Action == b.Action && (a.ExitCodes == nil) == (b.ExitCodes == nil) &&
		(a.ExitCodes == nil || a.ExitCodes.Operator == b.ExitCodes.Operator && slices.Equal(a.ExitCodes.Values, b.ExitCodes.Values))
}

func sameInt64(a, b *int64) bool {
	return (a == nil) == (b == nil) && (a == nil || *a == *b)
}

// restartsNonSidecarOnResize reports whether a plain init container of old asks to be restarted on
// a resize; an update may then keep that.
//
// Source: hasRestartContainerForNonSidecarInitContainer in pkg/api/pod/util.go, Kubernetes v1.36.
func restartsNonSidecarOnResize(old *policy.PodSpec) bool {
	for i := range old.InitContainers {
		c := &old.InitContainers[i]
		for _, p := range c.ResizePolicy {
			if p.RestartPolicy == policy.ResizeRestartContainer && !c.IsSidecar(policy.InitContainer) {
				return true
			}
		}
	}
	return false
}
