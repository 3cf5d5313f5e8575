package policy

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Object is a manifest, as far as it matters when a container exits: a Pod, or something that makes
// Pods.
type Object struct {
	Kind      string // as in the manifest: Pod, Job, …
	Namespace string // "" when the manifest names none
	Name      string
	// GenerateName is the beginning of the name that the API server makes up when Name is "".
	GenerateName string
	Spec         PodSpec
	// SpecPath is the path of Spec with its dot: "spec." for a Pod, "spec.template.spec." for a
	// Job.
	SpecPath string
	// Step is "" but for an Argo template, the first of whose main containers is a member of its
	// own, with this name; the others are in the list sidecars.
	Step string
	// NoTemplate reports that a ReplicationController, whose template is optional, has none.
	NoTemplate bool
	// Embedded reports that o is a template in an object of a kind that is not read: a PodTemplate
	// or a CronJob of which nothing counts but the template. Its name is that of the object.
	Embedded bool
	// Fields checks the rest of the spec of a new object; nil if that is not checked.
	Fields Fields
	// Around checks what is around the spec of the Pod when the object is created; nil if that is
	// not checked.
	Around Around
	// Job is the spec of a Job, or that which a CronJob gives its Jobs; nil for other kinds.
	Job *Job
}

// Path returns the field path of container r in the manifest: spec.containers[0].
func (o *Object) Path(r Ref) string {
	switch {
	case o.Step == "" || r.Kind != MainContainer:
		return o.SpecPath + r.Path()
	case r.Index == 0:
		return o.SpecPath + o.Step
	}
	return o.SpecPath + "sidecars" + Index(r.Index-1)
}

// StoredName returns the name under which the API server stores o: Name, or what it makes of
// GenerateName, with "bbbbb" for the five letters that it draws; "" if the manifest has neither.
//
// Source: SimpleNameGenerator in k8s.io/apiserver v0.33 to v0.37, pkg/storage/names/generate.go.
func (o *Object) StoredName() string {
	if o.Name != "" || o.GenerateName == "" {
		return o.Name
	}
	const drawn = "bbbbb"
	end := min(len(o.GenerateName), maxLabelBytes-len(drawn))
	for end < len(o.GenerateName) && !utf8.RuneStart(o.GenerateName[end]) {
		end--
	}
	return o.GenerateName[:end] + drawn
}

// JobPath returns the path of Job with its dot: "spec." for a Job, "spec.jobTemplate.spec." for a
// CronJob.
func (o *Object) JobPath() string { return strings.TrimSuffix(o.SpecPath, "template.spec.") }

// Validate reports what the API server of f would refuse of the restart fields of o on create, and
// of those that o.Fields checks, in its order. Call [DropDisabled] first, as the API server does.
//
// Source: pkg/apis/core/validation, pkg/apis/apps/validation and pkg/apis/batch/validation,
// validation.go; Kubernetes v1.33 to v1.37.
func (o *Object) Validate(f Features) []FieldError {
	v := validator{Report: Report{f: f}}
	return once(v.created(o), f)
}

// ValidateStatic reports what a kubelet of f would refuse of the restart fields of o, a Pod in a
// file. A kubelet drops nothing, so that there are faults that the API server cannot print. Until
// 1.34 it allows nothing that a gate brought, even if the gate is on: no policies of containers but
// that of sidecars, no resize policies of init containers.
//
// A Pod that it can read may still need more than the node has: see [PodSpec.RefusedByNode].
//
// Source: tryDecodeSinglePod in pkg/kubelet/config/common.go, Kubernetes v1.33 to v1.37.
func (o *Object) ValidateStatic(f Features) []FieldError {
	v := validator{Report: Report{f: f, static: true}}
	if f.Minor < 35 {
		v.f.ContainerRestartRules, v.noInitResize = false, true
	}
	faults := v.created(o)
	if len(faults) == 0 && o.Spec.RefusedByNode(f) {
		r, rule, _ := o.Spec.NeedsRestartAll()
		faults = []FieldError{{
			Path: o.Path(r) + ".restartPolicyRules" + Index(rule) + ".action", Code: CodeNodeRefuses, Message: MessageFeatureUnsupported,
			Detail: "the kubelet does not admit the Pod (" + ReasonFeatureUnsupported + "): RestartAllContainersOnContainerExits is off",
		}}
	}
	return faults
}

// created checks o as a new object.
func (v *validator) created(o *Object) []FieldError {
	v.around = o.Around
	v.part(PartMetadata)
	switch ok := v.template(o); {
	case ok && o.Kind == "Pod":
		if len(o.Spec.EphemeralContainers) > 0 {
			v.forbidden(o.SpecPath+"ephemeralContainers", "cannot be set on create")
		}
		v.fields(PartNode, Ref{})
		v.part(PartProfiles)
	case ok && o.Kind == "Job":
		v.podHostname(o)
	}
	return v.faults.All()
}

// once leaves out faults that say what an earlier one said, as the API server does from 1.37 on.
//
// Source: FilterCoveredHandwrittenErrors and ErrorList.Filter, k8s.io/apiserver and
// k8s.io/apimachinery v0.37.
func once(faults []FieldError, f Features) []FieldError {
	if f.Minor < 37 {
		return faults
	}
	return merged(faults)
}

// merged leaves out faults that say what an earlier one said.
func merged(faults []FieldError) []FieldError {
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
// features that [Features.WhileInUse] returns for old.
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
func (o *Object) ValidateUpdate(old *Object, f Features) []FieldError {
	v := validator{Report: Report{f: f.WhileInUse(&old.Spec)}, replaces: true, resizeInUse: restartsNonSidecarOnResize(&old.Spec)}
	if o.Kind == "StatefulSet" && f.Minor >= 34 { // a template that was bad may stay, or become another bad one
		was := v
		was.replaces = false
		was.template(old)
		v.wasBad = len(was.faults.kept) > 0
	}
	if !v.template(o) {
		return v.faults.All()
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
		return merged(v.faults.All())
	}
	return once(v.faults.All(), f)
}

// template checks the Pod of o and what its kind asks of it; false means that there is none, or
// that the API server gets no further.
func (v *validator) template(o *Object) bool {
	shown := v.part(PartHead)
	if o.NoTemplate {
		v.required("spec.template", "")
		v.part(PartTail)
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
	v.part(PartTail)
	return true
}

// podTemplate checks the Pod of o.
func (v *validator) podTemplate(o *Object) {
	unchecked := o.Kind == "StatefulSet" && (v.wasBad || v.f.Minor < 34) // 1.33 looks only at labels and annotations of the template
	if !unchecked {
		v.again(o, PartTemplate)
		if !v.replaces {
			v.rest = o.Fields
		}
		v.podSpec(&o.Spec, o.SpecPath)
		v.again(o, PartProfiles)
	}
	if o.Kind == "Pod" {
		v.fields(PartPod, Ref{})
	}
	if o.Kind != "Pod" && !unchecked && len(o.Spec.EphemeralContainers) > 0 {
		v.forbidden(o.SpecPath+"ephemeralContainers", "ephemeral containers not allowed in pod template")
	}
	if o.Kind == "StatefulSet" { // whose metadata is checked once more
		v.again(o, PartTemplate)
	}
}

// again checks a part of a template that is checked on each update, too. The template of a Job may
// not change, and has labels then that the API server gave it.
func (v *validator) again(o *Object, p ObjectPart) {
	if o.Kind != "Pod" && o.Around != nil && (o.Kind != "Job" || !v.replaces) {
		o.Around.Check(&v.Report, p)
	}
}

func (v *validator) alwaysOnly(o *Object) {
	if o.Spec.RestartPolicy != "" && o.Spec.RestartPolicy != RestartPolicyAlways {
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

func (v *validator) jobRestartPolicy(path string, p RestartPolicy, hasPodFailurePolicy bool) {
	always, anywhere := v.f.Proposals.Has(JobAlways), v.f.Proposals.Has(FailurePolicyAnywhere)
	switch {
	case always && (p == "" || p == RestartPolicyAlways):
	case p == "" || p == RestartPolicyAlways:
		if v.required(path, `valid values: "OnFailure", "Never"`); p != "" {
			v.faults.Last().Proposal = proposals[JobAlways].Name
		}
		return
	case p != RestartPolicyOnFailure && p != RestartPolicyNever:
		v.unsupported(path, string(p), "OnFailure", "Never")
		if always {
			e := v.faults.Last()
			e.Allowed, e.Message, e.Detail = append(e.Allowed, "Always"), "", quoted(string(p))+" is not one of the words"
		}
		return
	}
	if hasPodFailurePolicy && p != RestartPolicyNever && !anywhere {
		v.invalid(path, v.Word(string(p)), `only "Never" is supported when podFailurePolicy is specified`)
		v.faults.Last().Proposal = proposals[FailurePolicyAnywhere].Name
	}
}

// podUpdate checks what may change in a Pod. It stops early where the API server does.
func (v *validator) podUpdate(o, old *Object) {
	for _, kind := range []ContainerKind{MainContainer, InitContainer} {
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

// sameSpec reports whether two specs agree in the fields that no update may change, but for the
// grace period. null and an empty list are alike. Rules of containers are fields from 1.34 on.
func sameSpec(a, b *PodSpec, minor int) bool {
	if defaulted(a.RestartPolicy) != defaulted(b.RestartPolicy) {
		return false
	}
	for _, kind := range []ContainerKind{MainContainer, InitContainer, EphemeralContainer} {
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

func defaulted(p RestartPolicy) RestartPolicy {
	if p == "" {
		return RestartPolicyAlways
	}
	return p
}

func gracePeriod(s *PodSpec) int64 {
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
func podGracePeriod(s *PodSpec) int64 {
	if grace := gracePeriod(s); grace >= 0 {
		return grace
	}
	return 1
}

func sameContainer(a, b Container) bool {
	return a.Name == b.Name &&
		(a.RestartPolicy == nil) == (b.RestartPolicy == nil) &&
		(a.RestartPolicy == nil || *a.RestartPolicy == *b.RestartPolicy) &&
		slices.Equal(a.ResizePolicy, b.ResizePolicy) &&
		a.TargetContainerName == b.TargetContainerName &&
		a.HasLifecycle == b.HasLifecycle && a.HasLivenessProbe == b.HasLivenessProbe &&
		a.HasReadinessProbe == b.HasReadinessProbe && a.HasStartupProbe == b.HasStartupProbe
}

func sameRule(a, b ContainerRestartRule) bool {
	if (a.Restarts == nil) != (b.Restarts == nil) || a.Restarts != nil && *a.Restarts != *b.Restarts || a.OOMKilled != b.OOMKilled || a.Spelling != b.Spelling {
		return false
	}
	return a.Action == b.Action && (a.ExitCodes == nil) == (b.ExitCodes == nil) &&
		(a.ExitCodes == nil || a.ExitCodes.Operator == b.ExitCodes.Operator && slices.Equal(a.ExitCodes.Values, b.ExitCodes.Values))
}

func sameInt64(a, b *int64) bool {
	return (a == nil) == (b == nil) && (a == nil || *a == *b)
}

// WhileInUse returns f as it is for an update of an object that already uses what a gate has
// disabled since: the fields are neither dropped nor refused then.
//
// Source: containerRestartRulesInUse and restartAllContainersActionInUse in pkg/api/pod/util.go,
// Kubernetes v1.34 to v1.37.
func (f Features) WhileInUse(old *PodSpec) Features {
	f.ContainerRestartRules = f.ContainerRestartRules || f.Minor >= 34 && restartRulesInUse(old)
	f.RestartAllContainersOnContainerExits = f.RestartAllContainersOnContainerExits || f.Minor >= 35 && restartAllInUse(old)
	return f
}

func restartRulesInUse(old *PodSpec) bool {
	for i := range old.InitContainers {
		c := &old.InitContainers[i]
		if c.RestartPolicy != nil && !c.IsSidecar(InitContainer) || len(c.RestartPolicyRules) > 0 {
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

func restartAllInUse(old *PodSpec) bool {
	for _, kind := range []ContainerKind{MainContainer, InitContainer} {
		for _, c := range old.List(kind) {
			if c.IsSidecar(kind) && len(c.RestartPolicyRules) > 0 {
				return true
			}
			for _, rule := range c.RestartPolicyRules {
				if rule.Action == ActionRestartAllContainers {
					return true
				}
			}
		}
	}
	return false
}

// restartsNonSidecarOnResize reports whether a plain init container of old asks to be restarted on
// a resize; an update may then keep that.
//
// Source: hasRestartContainerForNonSidecarInitContainer in pkg/api/pod/util.go, Kubernetes v1.36.
func restartsNonSidecarOnResize(old *PodSpec) bool {
	for i := range old.InitContainers {
		c := &old.InitContainers[i]
		for _, p := range c.ResizePolicy {
			if p.RestartPolicy == ResizeRestartContainer && !c.IsSidecar(InitContainer) {
				return true
			}
		}
	}
	return false
}
