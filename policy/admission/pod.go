package admission

import (
	"math"
	"strconv"

	"github.com/podfate/podfate/policy"
)

// maxRuleValues is how many exit codes a rule may list.
const maxRuleValues = 255

// ValidatePodSpec reports what the API server of f would refuse of the restart fields of spec on
// create, in the order in which it prints it. prefix is the path of spec with its dot. inTemplate
// is false for a Pod itself.
//
// Call [DropDisabled] first, as the API server does. Fields that Podfate does not read are not
// checked.
//
// Source: ValidatePodSpec and what it calls in pkg/apis/core/validation/validation.go, Kubernetes
// v1.33 to v1.37.
func ValidatePodSpec(spec *policy.PodSpec, prefix string, inTemplate bool, f policy.Features) []policy.FieldError {
	v := newValidator(f, false)
	v.podSpec(spec, prefix)
	if len(spec.EphemeralContainers) > 0 {
		if inTemplate {
			v.forbidden(prefix+"ephemeralContainers", "ephemeral containers not allowed in pod template")
		} else {
			v.forbidden(prefix+"ephemeralContainers", "cannot be set on create")
		}
	}
	return v.Faults.All()
}

// newValidator returns a validator with the features and the words of f.
func newValidator(f policy.Features, static bool) validator {
	return validator{Report: policy.NewReport(f.Minor, static), f: f}
}

type validator struct {
	policy.Report
	f            policy.Features
	rest         policy.Fields // nil: not checked
	replaces     bool          // an update
	around       policy.Around // nil: not checked
	resizeInUse  bool          // an update, and the old object has what 1.36 forbids to new ones
	noInitResize bool          // a static Pod of an old kubelet
	wasBad       bool          // an update, and the template of the old object has faults of its own

	// The container that is looked at. Its path is put together only for a fault: most Pods have
	// none.
	prefix string
	at     policy.Ref
}

// here returns the path of the container that is looked at with suffix after it; suffix alone if a
// fault there will only be counted.
//
//go:noinline
func (v *validator) here(suffix string) string {
	if v.Faults.Full(suffix) {
		return suffix
	}
	return v.prefix + v.at.Path() + suffix
}

// podSpec checks what is the same on create and on update. A terminationGracePeriodSeconds below 0
// is no fault: the releases until 1.36 store it and treat it as 1, 1.37 makes it 1 in a Pod before
// it looks.
func (v *validator) podSpec(spec *policy.PodSpec, prefix string) {
	v.fields(policy.PartVolumes, policy.Ref{})
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
		v.at = policy.Ref{Kind: policy.MainContainer, Index: i}
		v.anyContainer(c, spec.RestartPolicy)
		v.nameIsFree(c.Name, taken)
		taken.take(c.Name)
		v.handlers(c)
		v.mainContainer(c)
	}
	if len(spec.Containers) > 0 {
		v.fields(policy.PartHostPorts, policy.Ref{})
	}
	for i := range spec.InitContainers {
		c := &spec.InitContainers[i]
		v.at = policy.Ref{Kind: policy.InitContainer, Index: i}
		v.anyContainer(c, spec.RestartPolicy)
		v.initContainer(c)
		v.nameIsFree(c.Name, taken)
		if c.Name != "" { // two init containers without a name are not called duplicates
			taken.take(c.Name)
		}
		v.fields(policy.PartHostPorts, v.at)
		if c.IsSidecar(policy.InitContainer) {
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
	v.fields(policy.PartNetwork, policy.Ref{})
	switch spec.RestartPolicy {
	case "", policy.RestartPolicyAlways, policy.RestartPolicyOnFailure, policy.RestartPolicyNever: // "" has been defaulted
	default:
		if value := string(spec.RestartPolicy); !v.f.Proposals.ProposedValue("restartPolicy", value) {
			v.unsupported(prefix+"restartPolicy", value, "Always", "OnFailure", "Never")
			v.proposed("restartPolicy", value)
		}
	}
	if n := spec.MaxRestartTimes; n != nil && *n < 0 {
		before := len(v.Faults.Kept())
		v.invalid(prefix+"maxRestartTimes", strconv.Itoa(int(*n)), negativeText)
		v.unworded(before, policy.KEP3322)
	}
	if spec.PodFailurePolicy != nil {
		v.podFailurePolicy(spec, prefix)
	}
	v.fields(policy.PartScheduling, policy.Ref{})
	if d := spec.ActiveDeadlineSeconds; d != nil && (*d < 1 || *d > math.MaxInt32) {
		v.invalid(prefix+"activeDeadlineSeconds", strconv.FormatInt(*d, 10), "must be between 1 and 2147483647, inclusive")
	}
	v.fields(policy.PartNames, policy.Ref{})
}

// handlers checks the hooks and probes of a container that may have them.
func (v *validator) handlers(c *policy.Container) {
	if c.HasLifecycle || c.HasLivenessProbe || c.HasReadinessProbe || c.HasStartupProbe {
		v.fields(policy.PartHandlers, v.at)
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
		v.Add(v.here(".name"), policy.TypeDuplicate, policy.CodeDuplicate, policy.Quoted(name), "")
	}
}

// anyContainer checks what all containers have in common.
//
// Source: validateContainerCommon in pkg/apis/core/validation/validation.go, Kubernetes v1.33 to
// v1.37.
func (v *validator) anyContainer(c *policy.Container, pod policy.RestartPolicy) {
	if c.Name == "" {
		v.required(v.here(".name"), "")
	} else {
		for _, fault := range DNSLabel.Faults(c.Name, v.f.Minor) {
			v.invalid(v.here(".name"), policy.Quoted(c.Name), fault)
		}
	}
	v.fields(policy.PartImage, v.at)
	if len(c.ResizePolicy) > 0 {
		v.resizePolicy(c.ResizePolicy, v.here(".resizePolicy"), pod)
	}
	v.fields(policy.PartSecurity, v.at)
}

// resizePolicy checks that only what the Pod's policy allows restarts a container. The container's
// own policy is not looked at.
//
// Source: validateResizePolicy in pkg/apis/core/validation/validation.go, Kubernetes v1.33 to
// v1.37.
func (v *validator) resizePolicy(list []policy.ContainerResizePolicy, path string, pod policy.RestartPolicy) {
	whose := "`restartPolicy`"
	if v.f.Minor >= 36 {
		whose = "pod `restartPolicy`"
	}
	taken := make(map[string]bool, len(list))
	for i, p := range list {
		if taken[p.ResourceName] {
			v.Add(path+policy.Index(i), policy.TypeDuplicate, policy.CodeDuplicate, v.ResourceName(p.ResourceName), "")
		}
		taken[p.ResourceName] = true
		switch p.ResourceName {
		case "cpu", "memory":
		case "":
			v.required(path, "")
		default:
			v.UnsupportedText(path, v.ResourceName(p.ResourceName), "cpu", "memory")
		}
		switch p.RestartPolicy {
		case policy.ResizeNotRequired, policy.ResizeRestartContainer:
		case "":
			v.required(path, "")
		default:
			v.unsupported(path, string(p.RestartPolicy), "NotRequired", "RestartContainer")
		}
		if pod == policy.RestartPolicyNever && p.RestartPolicy != policy.ResizeNotRequired {
			v.invalid(path, v.Word(string(p.RestartPolicy)), "must be 'NotRequired' when "+whose+" is 'Never'")
		}
	}
}

func (v *validator) mainContainer(c *policy.Container) {
	if v.f.ContainerRestartRules {
		v.rules(c)
	} else if c.RestartPolicy != nil {
		v.forbidden(v.here(".restartPolicy"), "may not be set for non-init containers")
	}
}

func (v *validator) initContainer(c *policy.Container) {
	if c.RestartPolicy == nil {
		if v.f.Proposals.Has(policy.KEP5307Future) {
			v.rules(c)
		} else if v.f.Minor >= 35 && len(c.RestartPolicyRules) > 0 { // 1.34 looks at nothing here
			v.rulesNeedPolicy()
		}
		return
	}
	switch {
	case !v.f.ContainerRestartRules:
		if *c.RestartPolicy != policy.RestartPolicyAlways {
			v.unsupported(v.here(".restartPolicy"), string(*c.RestartPolicy), "Always")
			v.paced(*c.RestartPolicy)
		}
	case *c.RestartPolicy == policy.RestartPolicyAlways && !v.f.RestartAllContainersOnContainerExits && !v.f.Proposals.Has(policy.KEP5307Future):
		if len(c.RestartPolicyRules) > 0 {
			v.forbidden(v.here(".restartPolicyRules"), "restartPolicyRules are not allowed for init containers with restart policy Always")
		}
	default:
		v.rules(c)
	}
}

// initOnly checks what an init container may not have unless it is a sidecar.
func (v *validator) initOnly(c *policy.Container) {
	if c.IsSidecar(policy.InitContainer) {
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
		if p.RestartPolicy == policy.ResizeRestartContainer {
			v.invalid(v.here(".resizePolicy"+policy.Index(i)+".restartPolicy"), v.Word(string(p.RestartPolicy)),
				"must not be set to 'RestartContainer' for non-sidecar initContainers")
		}
	}
}

// ephemeralContainers checks names and the fields that they may not have; taken are the names of
// the other containers.
//
// Source: validateEphemeralContainers in pkg/apis/core/validation/validation.go, Kubernetes v1.33
// to v1.37.
func (v *validator) ephemeralContainers(spec *policy.PodSpec, taken takenNames) {
	for i := range spec.EphemeralContainers {
		c := &spec.EphemeralContainers[i]
		v.at = policy.Ref{Kind: policy.EphemeralContainer, Index: i}
		v.anyContainer(c, spec.RestartPolicy)
		v.nameIsFree(c.Name, taken)
		taken.take(c.Name)
		if c.TargetContainerName != "" && !hasOther(spec, c.TargetContainerName) {
			v.Add(v.here(".targetContainerName"), policy.TypeNotFound, policy.CodeNotFound, policy.Quoted(c.TargetContainerName), "")
		}
		v.fields(policy.PartEphemeral, v.at)
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
		v.fields(policy.PartSubPaths, v.at)
	}
}

// hasOther reports whether a container that is not ephemeral has this name.
func hasOther(s *policy.PodSpec, name string) bool {
	r, found := s.Find(name) // ephemeral containers come last
	return found && r.Kind != policy.EphemeralContainer
}

// rules checks restartPolicy and restartPolicyRules. Rules without a policy are checked all the
// same.
//
// Source: validateContainerRestartPolicy in pkg/apis/core/validation/validation.go, Kubernetes
// v1.34 to v1.37.
func (v *validator) rules(c *policy.Container) {
	switch {
	case c.RestartPolicy == nil && len(c.RestartPolicyRules) == 0:
		return
	case c.RestartPolicy == nil && v.f.Proposals.Has(policy.KEP5307Future) && v.f.Proposals.Reading(policy.OptionMissingPolicy) == 0:
	case c.RestartPolicy == nil:
		v.rulesNeedPolicy()
	case *c.RestartPolicy != policy.RestartPolicyAlways && *c.RestartPolicy != policy.RestartPolicyNever && *c.RestartPolicy != policy.RestartPolicyOnFailure:
		v.unsupported(v.here(".restartPolicy"), string(*c.RestartPolicy), "Always", "Never", "OnFailure")
		v.paced(*c.RestartPolicy)
	}
	if n := len(c.RestartPolicyRules); n > policy.MaxRestartRules {
		v.tooMany(v.here(".restartPolicyRules"), n, policy.MaxRestartRules)
	}
	for i := range c.RestartPolicyRules {
		v.rule(&c.RestartPolicyRules[i], i)
	}
}

// ofRule returns the path of a field of rule i; field begins with the bracket that closes the
// index.
func (v *validator) ofRule(i int, field string) string {
	if v.Faults.Full(field) {
		return field
	}
	return v.here(".restartPolicyRules[" + strconv.Itoa(i) + field)
}

func (v *validator) rule(rule *policy.ContainerRestartRule, i int) {
	if !v.actionAllowed(rule.Action) {
		supported := []string{"Restart"}
		if v.f.RestartAllContainersOnContainerExits && v.f.Minor >= 36 { // 1.35 accepts both and lists one
			supported = append(supported, "RestartAllContainers")
		}
		v.unsupported(v.ofRule(i, "].action"), string(rule.Action), supported...)
		v.proposed("action", string(rule.Action))
	}
	exits, before := "]."+rule.ExitCodesPath(), len(v.Faults.Kept())
	if v.f.Proposals.Has(policy.KEP5307Future) {
		v.conditions(rule, i)
	} else if rule.ExitCodes == nil {
		v.required(v.ofRule(i, "].exitCodes"), "must be specified")
	}
	if rule.ExitCodes == nil {
		return
	}
	switch rule.ExitCodes.Operator {
	case policy.OperatorIn, policy.OperatorNotIn:
	default:
		v.unsupported(v.ofRule(i, exits+".operator"), string(rule.ExitCodes.Operator), "In", "NotIn")
	}
	if n := len(rule.ExitCodes.Values); n > maxRuleValues {
		v.tooMany(v.ofRule(i, exits+".values"), n, maxRuleValues)
	}
	if rule.Spelling != "" {
		v.unworded(before, policy.KEP5307Future)
	}
}

// conditions checks what a rule asks for where a proposal lets it ask for more than exit codes.
func (v *validator) conditions(rule *policy.ContainerRestartRule, i int) {
	before := len(v.Faults.Kept())
	v.oneCondition(v.ofRule(i, "]"), rule.Conditions, "exitCodes restartTimes oomKilled")
	switch {
	case rule.Conditions != 1:
	case rule.Restarts == nil && rule.At != "" && !rule.OOMKilled:
		v.invalid(v.ofRule(i, "]."+rule.At), "false", "must be true; leave it out otherwise")
	}
	if rule.Restarts != nil && *rule.Restarts < 0 {
		v.invalid(v.ofRule(i, "]."+rule.At), strconv.Itoa(int(*rule.Restarts)), negativeText)
	}
	v.unworded(before, policy.KEP5307Future)
}

// oneCondition checks that the rule at path has one of the conditions of a list; found is how many
// it has.
func (v *validator) oneCondition(path string, found int, list string) {
	switch {
	case found == 1:
		return
	case found == 0:
		v.required(path, "one condition is required")
	default:
		v.invalid(path, policy.Omitted, "a rule has one condition, found "+strconv.Itoa(found))
	}
	v.Faults.Last().Allowed = policy.SplitWords(list)
}

// unworded takes the text of the API server out of the faults from number n on: they are about
// words of proposal x, which no release has.
func (v *validator) unworded(n int, x policy.ProposalID) {
	for i := n; i < len(v.Faults.Kept()); i++ {
		v.Faults.Kept()[i].Message, v.Faults.Kept()[i].Proposal = "", x.Name()
	}
}

func (v *validator) actionAllowed(a policy.ContainerRestartRuleAction) bool {
	return v.f.Proposals.ProposedValue("action", string(a)) || a == policy.ActionRestart || a == policy.ActionRestartAllContainers && v.f.RestartAllContainersOnContainerExits
}

func (v *validator) rulesNeedPolicy() {
	v.required(v.here(".restartPolicy"), "must specify restartPolicy when restart rules are used")
}

// tooMany reports a list of n. Until 1.35 the API server used the words for a text that is too
// long.
func (v *validator) tooMany(path string, n, most int) {
	limit := strconv.Itoa(most)
	if v.f.Minor >= 36 {
		v.Add(path, policy.TypeTooMany, policy.CodeTooMany, strconv.Itoa(n), "must have at most "+limit+" items")
	} else {
		v.Add(path, policy.TypeTooLong, policy.CodeTooMany, "", "may not be more than "+limit+" bytes")
	}
}

func (v *validator) required(path, detail string) { v.Required(path, detail) }

func (v *validator) forbidden(path, detail string) { v.Forbidden(path, detail) }

// invalid notes a fault of a value, which is given as Kubernetes prints it.
func (v *validator) invalid(path, value, detail string) { v.Invalid(path, value, detail) }

func (v *validator) unsupported(path, value string, supported ...string) {
	if !v.Faults.Skip(path, policy.CodeUnsupported) {
		v.UnsupportedText(path, v.Word(value), supported...)
	}
}

// proposed completes the last fault, about a value of a field to which proposals bring words.
func (v *validator) proposed(field, value string) {
	v.f.Proposals.Complete(v.Faults.Last(), field, value)
}

// paced names, in the last fault, the proposal that knows p as the policy of a container.
func (v *validator) paced(p policy.RestartPolicy) {
	if p == policy.RestartPolicyRapid || p == policy.RestartPolicyFastOnSuccess {
		v.Faults.Last().Proposal = policy.KEP4603Draft.Name()
	}
}

// resizePolicies returns a list as Kubernetes prints it.
func (v *validator) resizePolicies(list []policy.ContainerResizePolicy) string {
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

// fields checks a part of the spec, if it has fields to check.
func (v *validator) fields(p policy.Part, at policy.Ref) {
	if v.rest != nil {
		v.rest.Check(&v.Report, p, at)
	}
}

// part checks a part of the object, if it has fields to check.
func (v *validator) part(p policy.ObjectPart) bool {
	return v.around == nil || v.around.Check(&v.Report, p)
}
