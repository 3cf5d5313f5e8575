package policy

import (
	"math"
	"strconv"
	"unicode/utf8"
)

// Limits that the API server enforces; exceeding them is a fault of the manifest, not of the
// request.
const (
	MaxRestartRules = 20
	maxRuleValues   = 255
)

// What a fault says about a name that refers to nothing.
const (
	TypeNotFound FaultType = "Not found"
	CodeNotFound FaultCode = "not_found" // what is named is not there
)

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

// ValidatePodSpec reports what the API server of f would refuse of the restart fields of spec on
// create, in the order in which it prints it. prefix is the path of spec with its dot. inTemplate
// is false for a Pod itself.
//
// Call [DropDisabled] first, as the API server does. Fields that Podfate does not read are not
// checked.
//
// Source: ValidatePodSpec and what it calls in pkg/apis/core/validation/validation.go, Kubernetes
// v1.33 to v1.37.
func ValidatePodSpec(spec *PodSpec, prefix string, inTemplate bool, f Features) []FieldError {
	v := validator{Report: Report{f: f}}
	v.podSpec(spec, prefix)
	if len(spec.EphemeralContainers) > 0 {
		if inTemplate {
			v.forbidden(prefix+"ephemeralContainers", "ephemeral containers not allowed in pod template")
		} else {
			v.forbidden(prefix+"ephemeralContainers", "cannot be set on create")
		}
	}
	return v.faults.All()
}

type validator struct {
	Report
	rest         Fields // nil: not checked
	replaces     bool   // an update
	around       Around // nil: not checked
	resizeInUse  bool   // an update, and the old object has what 1.36 forbids to new ones
	noInitResize bool   // a static Pod of an old kubelet
	wasBad       bool   // an update, and the template of the old object has faults of its own

	// The container that is looked at. Its path is put together only for a fault: most Pods have
	// none.
	prefix string
	at     Ref
}

// here returns the path of the container that is looked at with suffix after it; suffix alone if a
// fault there will only be counted.
//
//go:noinline
func (v *validator) here(suffix string) string {
	if v.faults.full(suffix) {
		return suffix
	}
	return v.prefix + v.at.Path() + suffix
}

// podSpec checks what is the same on create and on update. A terminationGracePeriodSeconds below 0
// is no fault: the releases until 1.36 store it and treat it as 1, 1.37 makes it 1 in a Pod before
// it looks.
func (v *validator) podSpec(spec *PodSpec, prefix string) {
	v.fields(PartVolumes, Ref{})
	if len(spec.Containers) == 0 {
		v.required(prefix+"containers", "")
	}
	v.prefix = prefix
	var taken takenNames // nil for a single container
	if n := spec.Len(); n > 1 {
		taken = make(takenNames, n)
	}
	for i := range spec.Containers {
		c := &spec.Containers[i]
		v.at = Ref{MainContainer, i}
		v.anyContainer(c, spec.RestartPolicy)
		v.nameIsFree(c.Name, taken)
		taken.take(c.Name)
		v.handlers(c)
		v.mainContainer(c)
	}
	if len(spec.Containers) > 0 {
		v.fields(PartHostPorts, Ref{})
	}
	for i := range spec.InitContainers {
		c := &spec.InitContainers[i]
		v.at = Ref{InitContainer, i}
		v.anyContainer(c, spec.RestartPolicy)
		v.initContainer(c)
		v.nameIsFree(c.Name, taken)
		if c.Name != "" { // two init containers without a name are not called duplicates
			taken.take(c.Name)
		}
		v.fields(PartHostPorts, v.at)
		if c.IsSidecar(InitContainer) {
			v.handlers(c)
		}
		v.initOnly(c)
		if v.noInitResize && len(c.ResizePolicy) > 0 {
			v.invalid(v.here(".resizePolicy"), v.resizePolicies(c.ResizePolicy), "must not be set for init containers")
		}
	}
	for i := range spec.InitContainers {
		taken.take(spec.InitContainers[i].Name) // for an ephemeral container also ""
	}
	v.ephemeralContainers(spec, taken)
	v.fields(PartNetwork, Ref{})
	switch spec.RestartPolicy {
	case "", RestartPolicyAlways, RestartPolicyOnFailure, RestartPolicyNever: // "" has been defaulted
	default:
		if value := string(spec.RestartPolicy); !v.f.Proposals.proposedValue("restartPolicy", value) {
			v.unsupported(prefix+"restartPolicy", value, "Always", "OnFailure", "Never")
			v.proposed("restartPolicy", value)
		}
	}
	if n := spec.MaxRestartTimes; n != nil && *n < 0 {
		before := len(v.faults.kept)
		v.invalid(prefix+"maxRestartTimes", strconv.Itoa(int(*n)), negativeText)
		v.unworded(before, KEP3322)
	}
	if spec.PodFailurePolicy != nil {
		v.podFailurePolicy(spec, prefix)
	}
	v.fields(PartScheduling, Ref{})
	if d := spec.ActiveDeadlineSeconds; d != nil && (*d < 1 || *d > math.MaxInt32) {
		v.invalid(prefix+"activeDeadlineSeconds", strconv.FormatInt(*d, 10), "must be between 1 and 2147483647, inclusive")
	}
	v.fields(PartNames, Ref{})
}

// handlers checks the hooks and probes of a container that may have them.
func (v *validator) handlers(c *Container) {
	if c.HasLifecycle || c.HasLivenessProbe || c.HasReadinessProbe || c.HasStartupProbe {
		v.fields(PartHandlers, v.at)
	}
}

// takenNames are the names of the containers that were looked at; nil when nobody else can have
// one.
type takenNames map[string]bool

func (t takenNames) take(name string) {
	if t != nil {
		t[name] = true
	}
}

func (v *validator) nameIsFree(name string, taken takenNames) {
	if taken[name] {
		v.add(v.here(".name"), TypeDuplicate, CodeDuplicate, quoted(name), "")
	}
}

// anyContainer checks what all containers have in common.
//
// Source: validateContainerCommon in pkg/apis/core/validation/validation.go, Kubernetes v1.33 to
// v1.37.
func (v *validator) anyContainer(c *Container, pod RestartPolicy) {
	if c.Name == "" {
		v.required(v.here(".name"), "")
	} else {
		for _, fault := range DNSLabel.Faults(c.Name, v.f.Minor) {
			v.invalid(v.here(".name"), quoted(c.Name), fault)
		}
	}
	v.fields(PartImage, v.at)
	if len(c.ResizePolicy) > 0 {
		v.resizePolicy(c.ResizePolicy, v.here(".resizePolicy"), pod)
	}
	v.fields(PartSecurity, v.at)
}

// resizePolicy checks that only what the Pod's policy allows restarts a container. The container's
// own policy is not looked at.
//
// Source: validateResizePolicy in pkg/apis/core/validation/validation.go, Kubernetes v1.33 to
// v1.37.
func (v *validator) resizePolicy(list []ContainerResizePolicy, path string, pod RestartPolicy) {
	whose := "`restartPolicy`"
	if v.f.Minor >= 36 {
		whose = "pod `restartPolicy`"
	}
	taken := make(map[string]bool, len(list))
	for i, p := range list {
		if taken[p.ResourceName] {
			v.add(path+Index(i), TypeDuplicate, CodeDuplicate, v.ResourceName(p.ResourceName), "")
		}
		taken[p.ResourceName] = true
		switch p.ResourceName {
		case "cpu", "memory":
		case "":
			v.required(path, "")
		default:
			v.unsupportedText(path, v.ResourceName(p.ResourceName), "cpu", "memory")
		}
		switch p.RestartPolicy {
		case ResizeNotRequired, ResizeRestartContainer:
		case "":
			v.required(path, "")
		default:
			v.unsupported(path, string(p.RestartPolicy), "NotRequired", "RestartContainer")
		}
		if pod == RestartPolicyNever && p.RestartPolicy != ResizeNotRequired {
			v.invalid(path, v.Word(string(p.RestartPolicy)), "must be 'NotRequired' when "+whose+" is 'Never'")
		}
	}
}

func (v *validator) mainContainer(c *Container) {
	if v.f.ContainerRestartRules {
		v.rules(c)
	} else if c.RestartPolicy != nil {
		v.forbidden(v.here(".restartPolicy"), "may not be set for non-init containers")
	}
}

func (v *validator) initContainer(c *Container) {
	if c.RestartPolicy == nil {
		if v.f.Proposals.Has(KEP5307Future) {
			v.rules(c)
		} else if v.f.Minor >= 35 && len(c.RestartPolicyRules) > 0 { // 1.34 looks at nothing here
			v.rulesNeedPolicy()
		}
		return
	}
	switch {
	case !v.f.ContainerRestartRules:
		if *c.RestartPolicy != RestartPolicyAlways {
			v.unsupported(v.here(".restartPolicy"), string(*c.RestartPolicy), "Always")
		}
	case *c.RestartPolicy == RestartPolicyAlways && !v.f.RestartAllContainersOnContainerExits && !v.f.Proposals.Has(KEP5307Future):
		if len(c.RestartPolicyRules) > 0 {
			v.forbidden(v.here(".restartPolicyRules"), "restartPolicyRules are not allowed for init containers with restart policy Always")
		}
	default:
		v.rules(c)
	}
}

// initOnly checks what an init container may not have unless it is a sidecar.
func (v *validator) initOnly(c *Container) {
	if c.IsSidecar(InitContainer) {
		return
	}
	for _, field := range []struct {
		name string
		set  bool
	}{
		{"lifecycle", c.HasLifecycle}, {"livenessProbe", c.HasLivenessProbe},
		{"readinessProbe", c.HasReadinessProbe}, {"startupProbe", c.HasStartupProbe},
	} {
		if field.set {
			v.forbidden(v.here("."+field.name), "may not be set for init containers without restartPolicy=Always")
		}
	}
	if v.f.Minor < 36 || v.resizeInUse {
		return
	}
	for i, p := range c.ResizePolicy {
		if p.RestartPolicy == ResizeRestartContainer {
			v.invalid(v.here(".resizePolicy"+Index(i)+".restartPolicy"), v.Word(string(p.RestartPolicy)),
				"must not be set to 'RestartContainer' for non-sidecar initContainers")
		}
	}
}

// ephemeralContainers checks names and the fields that they may not have; taken are the names of
// the other containers.
//
// Source: validateEphemeralContainers in pkg/apis/core/validation/validation.go, Kubernetes v1.33
// to v1.37.
func (v *validator) ephemeralContainers(spec *PodSpec, taken takenNames) {
	for i := range spec.EphemeralContainers {
		c := &spec.EphemeralContainers[i]
		v.at = Ref{EphemeralContainer, i}
		v.anyContainer(c, spec.RestartPolicy)
		v.nameIsFree(c.Name, taken)
		taken.take(c.Name)
		if c.TargetContainerName != "" && !spec.hasOther(c.TargetContainerName) {
			v.add(v.here(".targetContainerName"), TypeNotFound, CodeNotFound, quoted(c.TargetContainerName), "")
		}
		v.fields(PartEphemeral, v.at)
		for _, field := range []struct {
			name string
			set  bool // an empty list is refused as well
		}{
			{"resizePolicy", c.HasResizePolicy}, {"restartPolicy", c.RestartPolicy != nil}, {"restartPolicyRules", c.HasRules && v.f.Minor >= 34},
			{"livenessProbe", c.HasLivenessProbe}, {"readinessProbe", c.HasReadinessProbe},
			{"startupProbe", c.HasStartupProbe}, {"lifecycle", c.HasLifecycle},
		} {
			if field.set {
				v.forbidden(v.here("."+field.name), "cannot be set for an Ephemeral Container")
			}
		}
		v.fields(PartSubPaths, v.at)
	}
}

// hasOther reports whether a container that is not ephemeral has this name.
func (s *PodSpec) hasOther(name string) bool {
	r, found := s.Find(name) // ephemeral containers come last
	return found && r.Kind != EphemeralContainer
}

// rules checks restartPolicy and restartPolicyRules. Rules without a policy are checked all the
// same.
//
// Source: validateContainerRestartPolicy in pkg/apis/core/validation/validation.go, Kubernetes
// v1.34 to v1.37.
func (v *validator) rules(c *Container) {
	switch {
	case c.RestartPolicy == nil && len(c.RestartPolicyRules) == 0:
		return
	case c.RestartPolicy == nil && v.f.Proposals.Has(KEP5307Future) && v.f.Proposals.Reading(OptionMissingPolicy) == 0:
	case c.RestartPolicy == nil:
		v.rulesNeedPolicy()
	case *c.RestartPolicy != RestartPolicyAlways && *c.RestartPolicy != RestartPolicyNever && *c.RestartPolicy != RestartPolicyOnFailure:
		v.unsupported(v.here(".restartPolicy"), string(*c.RestartPolicy), "Always", "Never", "OnFailure")
	}
	if n := len(c.RestartPolicyRules); n > MaxRestartRules {
		v.tooMany(v.here(".restartPolicyRules"), n, MaxRestartRules)
	}
	for i := range c.RestartPolicyRules {
		v.rule(&c.RestartPolicyRules[i], i)
	}
}

// ofRule returns the path of a field of rule i; field begins with the bracket that closes the
// index.
func (v *validator) ofRule(i int, field string) string {
	if v.faults.full(field) {
		return field
	}
	return v.here(".restartPolicyRules[" + strconv.Itoa(i) + field)
}

func (v *validator) rule(rule *ContainerRestartRule, i int) {
	if !v.actionAllowed(rule.Action) {
		supported := []string{"Restart"}
		if v.f.RestartAllContainersOnContainerExits && v.f.Minor >= 36 { // 1.35 accepts both and lists one
			supported = append(supported, "RestartAllContainers")
		}
		v.unsupported(v.ofRule(i, "].action"), string(rule.Action), supported...)
		v.proposed("action", string(rule.Action))
	}
	exits, before := "].exitCodes", len(v.faults.kept)
	if v.f.Proposals.Has(KEP5307Future) {
		if rule.Spelling != "" {
			exits = "]." + rule.Spelling
		}
		v.conditions(rule, i)
	} else if rule.ExitCodes == nil {
		v.required(v.ofRule(i, "].exitCodes"), "must be specified")
	}
	if rule.ExitCodes == nil {
		return
	}
	switch rule.ExitCodes.Operator {
	case OperatorIn, OperatorNotIn:
	default:
		v.unsupported(v.ofRule(i, exits+".operator"), string(rule.ExitCodes.Operator), "In", "NotIn")
	}
	if n := len(rule.ExitCodes.Values); n > maxRuleValues {
		v.tooMany(v.ofRule(i, exits+".values"), n, maxRuleValues)
	}
	if rule.Spelling != "" {
		v.unworded(before, KEP5307Future)
	}
}

// conditions checks what a rule asks for where a proposal lets it ask for more than exit codes.
func (v *validator) conditions(rule *ContainerRestartRule, i int) {
	before := len(v.faults.kept)
	switch {
	case rule.Conditions == 0:
		v.required(v.ofRule(i, "]"), "one condition is required: exitCodes, restartTimes or oomKilled")
	case rule.Conditions > 1:
		v.invalid(v.ofRule(i, "]"), omitted, "a rule has one condition, found "+strconv.Itoa(rule.Conditions))
	case rule.Restarts != nil && *rule.Restarts < 0:
		v.invalid(v.ofRule(i, "].restartTimes"), strconv.Itoa(int(*rule.Restarts)), negativeText)
	case rule.Restarts == nil && rule.ExitCodes == nil && !rule.OOMKilled:
		v.invalid(v.ofRule(i, "].oomKilled"), "false", "must be true; leave it out otherwise")
	}
	v.unworded(before, KEP5307Future)
}

// unworded takes the text of the API server out of the faults from number n on: they are about
// words of proposal x, which no release has.
func (v *validator) unworded(n int, x ProposalID) {
	for i := n; i < len(v.faults.kept); i++ {
		v.faults.kept[i].Message, v.faults.kept[i].Proposal = "", proposals[x].Name
	}
}

func (v *validator) actionAllowed(a ContainerRestartRuleAction) bool {
	return v.f.Proposals.proposedValue("action", string(a)) || a == ActionRestart || a == ActionRestartAllContainers && v.f.RestartAllContainersOnContainerExits
}

func (v *validator) rulesNeedPolicy() {
	v.required(v.here(".restartPolicy"), "must specify restartPolicy when restart rules are used")
}

// tooMany reports a list of n. Until 1.35 the API server used the words for a text that is too
// long.
func (v *validator) tooMany(path string, n, most int) {
	limit := strconv.Itoa(most)
	if v.f.Minor >= 36 {
		v.add(path, TypeTooMany, CodeTooMany, strconv.Itoa(n), "must have at most "+limit+" items")
	} else {
		v.add(path, TypeTooLong, CodeTooMany, "", "may not be more than "+limit+" bytes")
	}
}

func (v *validator) required(path, detail string) { v.Required(path, detail) }

func (v *validator) forbidden(path, detail string) { v.Forbidden(path, detail) }

// invalid notes a fault of a value, which is given as Kubernetes prints it.
func (v *validator) invalid(path, value, detail string) { v.Invalid(path, value, detail) }

func (v *validator) unsupported(path, value string, supported ...string) {
	if !v.faults.Skip(path, CodeUnsupported) {
		v.unsupportedText(path, v.Word(value), supported...)
	}
}

// proposed completes the last fault, about a value of a field to which proposals bring words.
func (v *validator) proposed(field, value string) {
	v.f.Proposals.proposed(v.faults.Last(), field, value)
}

// resizePolicies returns a list as Kubernetes prints it.
func (v *validator) resizePolicies(list []ContainerResizePolicy) string {
	words := [6]string{"[", `{"ResourceName":`, `,"RestartPolicy":`, "}", ",", "]"}
	if v.f.Minor < 34 {
		const name = "core.ContainerResizePolicy{"
		words = [6]string{"[]" + name, name + "ResourceName:", ", RestartPolicy:", "}", ", ", "}"}
	}
	s := words[0]
	for i, p := range list {
		if i > 0 {
			s += words[4]
		}
		s += words[1] + v.Word(p.ResourceName) + words[2] + v.Word(string(p.RestartPolicy)) + words[3]
	}
	return s + words[5]
}

// bounded cuts s after [MaxQuotedBytes]; more reports that by an ellipsis.
func bounded(s string) (part, more string) {
	if len(s) <= MaxQuotedBytes {
		return s, ""
	}
	cut := MaxQuotedBytes
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut], "…"
}

// jsonText returns s, valid UTF-8, as encoding/json writes it.
func jsonText(s string) string {
	const hex = "0123456789abcdef"
	b := append(make([]byte, 0, len(s)+2), '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, `\n`...)
		case r == '\r':
			b = append(b, `\r`...)
		case r == '\t':
			b = append(b, `\t`...)
		case r == '\b':
			b = append(b, `\b`...)
		case r == '\f':
			b = append(b, `\f`...)
		case r < ' ' || r == '<' || r == '>' || r == '&':
			b = append(b, '\\', 'u', '0', '0', hex[r>>4], hex[r&0xF])
		case r == 0x2028 || r == 0x2029:
			b = append(append(b, `\u202`...), hex[r&0xF])
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return string(append(b, '"'))
}
