package policy

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Limits that the API server enforces; exceeding them is a fault of the manifest, not of the request.
const (
	maxRestartRules = 20
	maxRuleValues   = 255
)

// Dropped is a field that the API server removes from an object without a word, because its gate is off.
type Dropped struct {
	Path string // from the manifest's root
	Gate string
}

// DropDisabled removes from spec what an API server with f would remove on create and lists it in document order.
// prefix is the path of spec with its dot: "spec." or "spec.template.spec.". It changes spec's containers in place.
//
// Release 1.33 drops nothing: it does not know the rules and refuses the policies.
//
// Source: dropContainerRestartRules in pkg/api/pod/util.go, Kubernetes v1.34 to v1.37.
func DropDisabled(spec *PodSpec, prefix string, f Features) []Dropped {
	if f.ContainerRestartRules || f.Minor < 34 {
		return nil
	}
	var dropped []Dropped
	drop := func(r Ref, field string) {
		dropped = append(dropped, Dropped{prefix + r.Path() + "." + field, "ContainerRestartRules"})
	}
	for _, kind := range []ContainerKind{InitContainer, MainContainer, EphemeralContainer} {
		for i := range spec.List(kind) {
			r := Ref{kind, i}
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

// ValidatePodSpec reports what the API server of f would refuse of the restart fields of spec on create, in the
// order in which it prints it. prefix is the path of spec with its dot. inTemplate is false for a Pod itself.
//
// Call [DropDisabled] first, as the API server does. Fields that Podfate does not read are not checked.
//
// Source: ValidatePodSpec and what it calls in pkg/apis/core/validation/validation.go, Kubernetes v1.33 to v1.37.
func ValidatePodSpec(spec *PodSpec, prefix string, inTemplate bool, f Features) []FieldError {
	v := validator{f: f}
	if len(spec.Containers) == 0 {
		v.required(prefix+"containers", "")
	}
	for i := range spec.Containers {
		v.mainContainer(&spec.Containers[i], prefix+Ref{MainContainer, i}.Path())
	}
	for i := range spec.InitContainers {
		v.initContainer(&spec.InitContainers[i], prefix+Ref{InitContainer, i}.Path())
	}
	for i := range spec.EphemeralContainers {
		v.ephemeralContainer(&spec.EphemeralContainers[i], prefix+Ref{EphemeralContainer, i}.Path())
	}
	switch spec.RestartPolicy {
	case "", RestartPolicyAlways, RestartPolicyOnFailure, RestartPolicyNever: // "" has been defaulted
	default:
		v.unsupported(prefix+"restartPolicy", string(spec.RestartPolicy), "Always", "OnFailure", "Never")
	}
	if len(spec.EphemeralContainers) > 0 {
		if inTemplate {
			v.forbidden(prefix+"ephemeralContainers", "ephemeral containers not allowed in pod template")
		} else {
			v.forbidden(prefix+"ephemeralContainers", "cannot be set on create")
		}
	}
	return v.faults
}

type validator struct {
	f      Features
	faults []FieldError
}

func (v *validator) mainContainer(c *Container, path string) {
	if v.f.ContainerRestartRules {
		v.rules(c, path)
	} else if c.RestartPolicy != nil {
		v.forbidden(path+".restartPolicy", "may not be set for non-init containers")
	}
}

func (v *validator) initContainer(c *Container, path string) {
	if c.RestartPolicy == nil {
		if v.f.Minor >= 35 && len(c.RestartPolicyRules) > 0 { // 1.34 looks at nothing here
			v.rulesNeedPolicy(path)
		}
		return
	}
	switch {
	case !v.f.ContainerRestartRules:
		if *c.RestartPolicy != RestartPolicyAlways {
			v.unsupported(path+".restartPolicy", string(*c.RestartPolicy), "Always")
		}
	case *c.RestartPolicy == RestartPolicyAlways && !v.f.RestartAllContainersOnContainerExits:
		if len(c.RestartPolicyRules) > 0 {
			v.forbidden(path+".restartPolicyRules", "restartPolicyRules are not allowed for init containers with restart policy Always")
		}
	default:
		v.rules(c, path)
	}
}

func (v *validator) ephemeralContainer(c *Container, path string) {
	const detail = "cannot be set for an Ephemeral Container"
	if c.RestartPolicy != nil {
		v.forbidden(path+".restartPolicy", detail)
	}
	if c.HasRules { // an empty list is refused as well
		v.forbidden(path+".restartPolicyRules", detail)
	}
}

func (v *validator) rules(c *Container, path string) {
	if c.RestartPolicy == nil {
		if len(c.RestartPolicyRules) > 0 {
			v.rulesNeedPolicy(path)
		}
		return
	}
	switch *c.RestartPolicy {
	case RestartPolicyAlways, RestartPolicyNever, RestartPolicyOnFailure:
	default:
		v.unsupported(path+".restartPolicy", string(*c.RestartPolicy), "Always", "Never", "OnFailure")
	}
	path += ".restartPolicyRules"
	v.atMost(path, len(c.RestartPolicyRules), maxRestartRules)
	for i, rule := range c.RestartPolicyRules {
		v.rule(rule, path+index(i))
	}
}

func (v *validator) rule(rule ContainerRestartRule, path string) {
	if !v.actionAllowed(rule.Action) {
		supported := []string{"Restart"}
		if v.f.RestartAllContainersOnContainerExits && v.f.Minor >= 36 { // 1.35 accepts both and lists one
			supported = append(supported, "RestartAllContainers")
		}
		v.unsupported(path+".action", string(rule.Action), supported...)
	}
	if rule.ExitCodes == nil {
		v.required(path+".exitCodes", "must be specified")
		return
	}
	switch rule.ExitCodes.Operator {
	case OperatorIn, OperatorNotIn:
	default:
		v.unsupported(path+".exitCodes.operator", string(rule.ExitCodes.Operator), "In", "NotIn")
	}
	v.atMost(path+".exitCodes.values", len(rule.ExitCodes.Values), maxRuleValues)
}

func (v *validator) actionAllowed(a ContainerRestartRuleAction) bool {
	return a == ActionRestart || a == ActionRestartAllContainers && v.f.RestartAllContainersOnContainerExits
}

func (v *validator) rulesNeedPolicy(path string) {
	v.required(path+".restartPolicy", "must specify restartPolicy when restart rules are used")
}

// atMost reports a list that is too long. Until 1.35 the API server used the words for a text that is too long.
func (v *validator) atMost(path string, n, most int) {
	limit := strconv.Itoa(most)
	switch {
	case n <= most:
	case v.f.Minor >= 36:
		v.add(path, TypeTooMany, CodeTooMany, strconv.Itoa(n), "must have at most "+limit+" items")
	default:
		v.add(path, TypeTooLong, CodeTooMany, "", "may not be more than "+limit+" bytes")
	}
}

func (v *validator) required(path, detail string) {
	v.add(path, TypeRequired, CodeRequired, "", detail)
}

func (v *validator) forbidden(path, detail string) {
	v.add(path, TypeForbidden, CodeForbidden, "", detail)
}

func (v *validator) invalid(path, value, detail string) {
	v.add(path, TypeInvalid, CodeInvalid, quoted(value), detail)
}

func (v *validator) unsupported(path, value string, supported ...string) {
	list := make([]string, len(supported))
	for i, s := range supported {
		list[i] = strconv.Quote(s)
	}
	v.add(path, TypeUnsupported, CodeUnsupported, quoted(value), "supported values: "+strings.Join(list, ", "))
	v.faults[len(v.faults)-1].Allowed = slices.Clone(supported)
}

// add composes the text of a fault: path, type, the value where Kubernetes prints it, the detail.
//
// Source: Error.ErrorBody in k8s.io/apimachinery v0.36, pkg/util/validation/field/errors.go.
func (v *validator) add(path string, t FaultType, code FaultCode, value, detail string) {
	message := path + ": " + string(t)
	for _, part := range []string{value, detail} {
		if part != "" {
			message += ": " + part
		}
	}
	v.faults = append(v.faults, FieldError{Path: path, Type: t, Code: code, Detail: detail, Message: message})
}

// quoted returns s as Kubernetes prints it, cut after [MaxQuotedBytes].
//
// Differs from Kubernetes: it repeats a value however long it is.
func quoted(s string) string {
	if len(s) <= MaxQuotedBytes {
		return strconv.Quote(s)
	}
	cut := MaxQuotedBytes
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return strconv.Quote(s[:cut]) + "…"
}
