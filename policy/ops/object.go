package ops

import (
	"strconv"
	"strings"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/admission"
	"github.com/podfate/podfate/policy/lint"
	"github.com/podfate/podfate/policy/manifest"
)

// loaded is a manifest, or a template in one, with what reading it brought to light.
type loaded struct {
	template *manifest.Template // nil for a manifest of a kind that Podfate reads itself
	object   policy.Object
	again    *retries // of an Argo template, nil for others
	unasked  bool     // an exit names none of the several containers
	readable bool     // object is what Kubernetes would have decoded; false after a fault of type
	message  string   // the one error that Kubernetes prints if it does not decode the manifest
	faults   []located
	warnings []located
	dropped  []admission.Dropped
}

// fieldValidation is what happens to unknown and duplicate fields, in the words of kubectl
// --validate.
type fieldValidation string

const (
	strict fieldValidation = "Strict" // faults, as kubectl asks for by default
	warn   fieldValidation = "Warn"   // warnings
	ignore fieldValidation = "Ignore" // nothing is said
)

func (c *call) readFieldValidation() fieldValidation {
	const path = "fieldValidation"
	v := c.root.Get(path)
	s, ok := c.text(v, path)
	if !ok {
		return strict
	}
	switch mode := fieldValidation(s); mode {
	case strict, warn, ignore:
		return mode
	}
	c.requestFault(v, policy.FieldError{
		Path: path, Code: policy.CodeUnsupported, Detail: strconv.Quote(cut(s)) + " is not a mode",
		Allowed: []string{string(strict), string(warn), string(ignore)},
	})
	return strict
}

// entrance says how a manifest enters the cluster. The zero value is a create
// request.
type entrance struct {
	whole  bool           // what is around the Pod is checked even in an object that has been stored
	static bool           // a kubelet reads it from a file: nothing is dropped, unknown fields are ignored
	old    *policy.Object // the object that it replaces, nil for none
}

// load reads the manifest as the API server of f would on create; see [call.admit]. Of several
// templates the request must name one.
func (c *call) load(f policy.Features) loaded { return c.one(c.admit(f, entrance{})) }

// one returns what the answer is about, and an unreadable manifest after a fault.
func (c *call) one(all []loaded) loaded {
	if len(all) == 1 {
		return all[0]
	}
	if len(all) > 1 {
		c.requestFault(c.root.Get("templatePath"), policy.FieldError{
			Path: "templatePath", Code: policy.CodeRequired, Allowed: c.chooseTemplate(""),
			Detail: "the " + cut(c.man.Get("kind").Str()) + " has " + strconv.Itoa(len(all)) + " templates: name the path of one",
		})
	}
	return loaded{}
}

// admit reads the manifest as the API server of f would, or a kubelet: decode, drop what gates
// disable, check. There is one result, and in an object of another kind one for each template, or
// for that which the member templatePath names. There is none, and a failure or a fault in
// c.faults, if the request around it is wrong: no manifest at all.
func (c *call) admit(f policy.Features, a entrance) []loaded {
	mode := c.readFieldValidation()
	chosen, named := c.text(c.root.Get("templatePath"), "templatePath")
	if !c.man.Exists() || c.man.Kind() == manifest.Null {
		what := "a manifest is required, with its apiVersion and kind"
		switch {
		case c.root.Get("spec").Exists():
			what += ": without both of them this is not read as one"
		case c.kubeletAlone() != "":
			what = "a KubeletConfiguration has no Pods: a manifest is required, too"
		}
		c.requestFault(c.root, policy.FieldError{Path: "manifest", Code: policy.CodeRequired, Detail: what})
		return nil
	}
	if size := c.man.End() - c.man.Offset(); size > policy.MaxManifestBytes {
		c.limitAt(c.man, "manifest", "manifestBytes", size, policy.MaxManifestBytes)
		return nil
	}
	if c.man.Kind() != manifest.Object {
		c.wrongType(c.man, "manifest", "an object")
		return nil
	}
	kind, fault := kindOf(c.man)
	draft := f.Proposals.Has(policy.KEP3329Draft) && c.man.Get("kind").Text() == "Job" && c.man.Get("apiVersion").Text() == "v1"
	for _, k := range manifest.Kinds() {
		if draft && k.Kind == "Job" {
			kind, fault = k, nil
		}
	}
	if fault == nil && named && chosen != kind.Template {
		c.noSuchTemplate(kind.Template)
	}
	if fault == nil && a.static && kind.Kind != "Pod" {
		fault = &policy.FieldError{
			Path: "kind", Code: policy.CodeUnknownKind, Detail: "only a Pod can be static", Allowed: []string{"v1 Pod"},
		}
	}
	if fault != nil && fault.Code == policy.CodeUnknownKind && !a.static && c.findTemplates(fault) {
		return c.admitTemplates(f, mode, chosen, named)
	}
	if c.failure != nil {
		return nil
	}
	l := loaded{}
	if fault != nil {
		l.faults = c.manifestFaults([]policy.FieldError{*fault})
		return []loaded{l}
	}
	checked := manifest.CheckProposed(c.man, kind.Kind, f)
	c.take(&l, checked, mode, mode == strict && !a.static)
	unreadable := len(checked.Faults) > 0
	if unreadable && !ofProposals(checked.Faults) {
		return []loaded{l}
	}
	typed := len(l.faults)
	l.object = manifest.ReadProposed(c.man, kind.Kind, kind.Template, f.Proposals)
	if a.whole || !stored(c.man) {
		l.object.Around = manifest.ReadAround(c.man, kind.Kind, kind.Template, &l.object)
	}
	if c.judge(&l, f, a); unreadable {
		return []loaded{{faults: beyond(l.faults, typed), warnings: l.warnings}}
	}
	c.draftNumbers(&l)
	if draft {
		l.warnings = append(l.warnings, c.manifestFaults([]policy.FieldError{{
			Path: "apiVersion", Code: lint.DraftSpelling, Detail: "drafts had Jobs in v1; write batch/v1", Source: "KEP-3329, first draft",
		}})...)
	}
	return []loaded{l}
}

// draftNumbers warns of exit codes of the first draft of KEP-3329 that are numbers: it has texts.
func (c *call) draftNumbers(l *loaded) {
	if l.object.Job == nil || l.object.Job.PodFailurePolicy == nil {
		return
	}
	for i := range l.object.Job.PodFailurePolicy.Rules {
		if d := l.object.Job.PodFailurePolicy.Rules[i].Written; d != nil && d.NumberAt != "" {
			l.warnings = append(l.warnings, c.manifestFaults([]policy.FieldError{{
				Path: element(l.rulesPath(), i) + d.NumberAt, Code: lint.DraftSpelling, Detail: "the draft has a text here, such as \"42\"", Source: "KEP-3329, first draft",
			}})...)
		}
	}
}

// ofProposals reports whether all faults are about words of proposals: no API server stops at
// their types, so that what else is wrong is said at once.
func ofProposals(faults []policy.FieldError) bool {
	for _, f := range faults {
		if f.Proposal == "" {
			return false
		}
	}
	return true
}

// beyond returns faults without those from number typed on that only follow from one before: they
// are about what could not be read.
func beyond(faults []located, typed int) []located {
	out := faults[:typed:typed]
	for _, f := range faults[typed:] {
		follows := false
		for _, t := range faults[:typed] {
			follows = follows || strings.HasPrefix(f.Path, t.Path)
		}
		if !follows {
			out = append(out, f)
		}
	}
	return out
}

// stored reports whether a manifest is that of an object which an API server took once and gave a
// UID: what is around the spec of its Pod has been filled in since, and is not what somebody may
// create.
func stored(man manifest.Value) bool {
	return given(man.Get("metadata").Get("uid")) || man.Get("status").Len() > 0
}

// take notes what decoding says. refuses reports that it is the end of strict decoding.
func (c *call) take(l *loaded, checked manifest.Checked, mode fieldValidation, refuses bool) {
	l.message = checked.Message(refuses)
	if refuses { // in the order of the text; Kubernetes' own is in the message
		for _, f := range checked.All {
			l.faults = append(l.faults, located{f.FieldError, c.place(f.Path), policy.ManifestInvalid})
		}
		return
	}
	l.faults = c.manifestFaults(checked.Faults)
	if mode != ignore {
		l.warnings = c.manifestFaults(checked.Strict)
	}
}

// judge drops and checks the object of l, which could be decoded.
func (c *call) judge(l *loaded, f policy.Features, a entrance) {
	o := &l.object
	admission.SetDefaults(o, f)
	if f.Proposals.Has(policy.KEP4603Draft) {
		o.Spec.SetPace()
		defer c.meetNode(o, f)
	}
	l.readable = true
	if !c.withinLimits(o, c.man, "") {
		return
	}
	jobs := o.Kind == "Job" || o.Embedded && o.Job != nil // a CronJob keeps what its Jobs lose
	switch {
	case a.static && o.Name == "":
		l.faults = c.manifestFaults([]policy.FieldError{{
			Path: "metadata.name", Code: policy.CodeRequired, Detail: "a static Pod needs a name",
			Message: "invalid pod: name is needed for the pod",
		}})
	case a.static:
		l.faults = append(l.faults, c.manifestFaults(admission.ValidateStatic(o, f))...)
	case a.old != nil:
		if jobs {
			l.dropped = admission.DropDisabledOfJob(o.Job, a.old.Job, o.JobPath(), f)
		}
		l.dropped = append(l.dropped, admission.DropDisabled(&o.Spec, o.SpecPath, admission.WhileInUse(f, &a.old.Spec))...)
		l.faults = append(l.faults, c.manifestFaults(admission.ValidateUpdate(o, a.old, f))...)
	default:
		if jobs {
			l.dropped = admission.DropDisabledOfJob(o.Job, nil, o.JobPath(), f)
		}
		l.dropped = append(l.dropped, admission.DropDisabled(&o.Spec, o.SpecPath, f)...)
		l.faults = append(l.faults, c.manifestFaults(admission.Validate(o, f))...)
	}
	if o.Kind == "StatefulSet" && len(l.faults) == 0 && (f.Minor < 34 || a.old != nil) {
		for _, fault := range admission.PodsRefused(o, f) {
			body, _ := strings.CutPrefix(fault.Message, fault.Path+": ")
			l.warnings = append(l.warnings, c.manifestFaults([]policy.FieldError{{
				Path: fault.Path, Code: lint.PodsRefused, Detail: "accepted here, and refused in each Pod: " + body,
				Source: "ValidateStatefulSetSpec, pkg/apis/apps/validation/validation.go, v1.33",
			}})...)
		}
	}
	if f.Proposals != 0 {
		o.Spec.SetProposed(f.Proposals | c.node)
	}
	o.Fields, o.Around = nil, nil // a policy may outlive the text
}

// meetNode makes o what the node of the request takes it for if that lacks a proposal which brings
// values of old fields.
func (c *call) meetNode(o *policy.Object, f policy.Features) {
	if c.node.Has(policy.KEP4603Draft) {
		return
	}
	taken := [...]policy.RestartPolicy{policy.RestartPolicyAlways, policy.RestartPolicyOnFailure, policy.RestartPolicyNever}
	n := f.Proposals.Reading(policy.OptionOldKubelet)
	if o.Spec.OldKubelets(taken[n]) && !f.Proposals.Chosen(policy.OptionOldKubelet) {
		c.old = "reading_oldKubelet_Always"
	}
}

// kindOf finds what a manifest says it is, or the fault in that.
func kindOf(man manifest.Value) (manifest.KindInfo, *policy.FieldError) {
	for _, name := range []string{"kind", "apiVersion"} {
		switch v := man.Get(name); v.Kind() {
		case manifest.String:
		case manifest.Invalid, manifest.Null:
			return unknownKind(name, policy.CodeRequired, "a manifest names its apiVersion and kind")
		default:
			return unknownKind(name, policy.CodeWrongType, "must be a string, found "+kindName(v.Kind()))
		}
	}
	kind, version := man.Get("kind").Str(), man.Get("apiVersion").Str()
	for _, k := range manifest.Kinds() {
		if k.Kind == kind && k.APIVersion == version {
			return k, nil
		}
	}
	found := "no kind that Podfate knows: " + strconv.Quote(cut(version)) + " " + strconv.Quote(cut(kind))
	for _, k := range manifest.Kinds() {
		if k.Kind == kind && !manifest.Foreign(version) { // a Job of Volcano is no misspelt Job
			_, fault := unknownKind("apiVersion", policy.CodeUnknownKind, found)
			if fault.Allowed = []string{k.APIVersion}; kind == "Job" && version == "v1" {
				fault.Proposal = policy.KEP3329Draft.Name()
			}
			return manifest.KindInfo{}, fault
		}
	}
	return unknownKind("kind", policy.CodeUnknownKind, found)
}

// unknownKind makes a fault that lists the kinds.
func unknownKind(path string, code policy.FaultCode, detail string) (manifest.KindInfo, *policy.FieldError) {
	fault := &policy.FieldError{Path: path, Code: code, Detail: detail}
	for _, k := range manifest.Kinds() {
		fault.Allowed = append(fault.Allowed, k.APIVersion+" "+k.Kind)
	}
	return manifest.KindInfo{}, fault
}

// withinLimits ends the operation if the Pod or the Job's policy is larger than anything Kubernetes
// would store. man is the manifest that o was read from, and at its path if that is not what paths
// begin at.
func (c *call) withinLimits(o *policy.Object, man manifest.Value, at string) bool {
	spec := &o.Spec
	// The path comes in parts, since it is seldom needed.
	within := func(name string, n, most int, path ...string) bool {
		if n > most {
			path := strings.Join(path, "")
			v := man.Locate(path)
			if at != "" {
				path = child(at, path)
			}
			c.limitAt(v, path, name, n, most)
		}
		return n <= most
	}
	if !within("containers", spec.Len(), policy.MaxContainers, o.SpecPath, "containers") {
		return false
	}
	if o.Job != nil && o.Job.PodFailurePolicy != nil {
		job, rules := o.JobPath(), o.Job.PodFailurePolicy.Rules
		if !within("rules", len(rules), policy.MaxRules, job, o.Job.RulesField()) {
			return false
		}
		for i, rule := range rules {
			if n := len(rule.OnPodConditions); !within("patterns", n, policy.MaxPatterns, job, "podFailurePolicy.rules[", strconv.Itoa(i), "].onPodConditions") {
				return false
			}
			if e := rule.OnExitCodes; e != nil && !within("values", len(e.Values), policy.MaxValues, job, "podFailurePolicy.rules[", strconv.Itoa(i), "].onExitCodes.values") {
				return false
			}
		}
	}
	for _, kind := range []policy.ContainerKind{policy.InitContainer, policy.MainContainer, policy.EphemeralContainer} {
		for i := range spec.List(kind) {
			rules, index := spec.List(kind)[i].RestartPolicyRules, strconv.Itoa(i)
			if !within("rules", len(rules), policy.MaxRules, o.SpecPath, kind.Field(), "[", index, "].restartPolicyRules") {
				return false
			}
			for j, rule := range rules {
				if e := rule.ExitCodes; e != nil && !within("values", len(e.Values), policy.MaxValues,
					o.SpecPath, kind.Field(), "[", index, "].restartPolicyRules[", strconv.Itoa(j), "].", rule.ExitCodesPath(), ".values") {
					return false
				}
			}
		}
	}
	return true
}

// writeDropped and writeWarnings write what the API server does silently and what it accepts with
// doubt.
func (c *call) writeDropped(dropped []admission.Dropped) {
	c.w.KeyArray("dropped")
	for _, d := range dropped {
		c.w.Object()
		c.w.KeyString("path", d.Path)
		c.w.KeyString("gate", d.Gate)
		c.w.KeyString("detail", "silently removed: the gate "+d.Gate+" is off")
		if offset := c.place(d.Path); offset >= 0 {
			c.position(&c.w, offset)
		}
		c.w.End()
	}
	c.w.End()
}

func (c *call) writeWarnings(warnings []located) {
	c.w.Key("warnings")
	c.writeFaults(&c.w, warnings, 0)
}
