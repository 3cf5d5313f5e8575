package manifest

import (
	"strings"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/admission"
)

const (
	idText       = "must be between 0 and 2147483647, inclusive"
	maxID        = 1<<31 - 1
	profileTypes = "Localhost RuntimeDefault Unconfined"
	taintEffects = "NoSchedule PreferNoSchedule NoExecute"
)

// security checks the security context of the container. Options for Windows are not checked, nor
// is whether the cluster allows privileged containers.
//
// Source: ValidateSecurityContext in pkg/apis/core/validation/validation.go, Kubernetes v1.33 to
// v1.37.
func (c *podChecker) security() {
	v := c.ctr.Get("securityContext")
	if v.Kind() != Object {
		return
	}
	c.between(v, "runAsUser", 0, maxID, idText)
	c.between(v, "runAsGroup", 0, maxID, idText)
	if mount := v.Get("procMount"); mount.Kind() == String {
		if s := mount.Str(); s == "" || !among(s, "Default Unmasked") {
			c.unknown(v, ".procMount", s, "Default Unmasked")
		} else if s == "Unmasked" && !isFalse(c.spec, "hostUsers") {
			c.r.Invalid(c.path(v, ".procMount"), c.r.Word(s), "`hostUsers` must be false to use `Unmasked`")
		}
	}
	c.seccomp(v.Get("seccompProfile"))
	if isFalse(v, "allowPrivilegeEscalation") {
		if isTrue(v, "privileged") {
			c.r.Unworded(c.path(v, ""), "cannot set `allowPrivilegeEscalation` to false and `privileged` to true")
		}
		for e, n := walkOf(v.Get("capabilities").Get("add")); n > 0; n-- {
			if e.step().Text() == "CAP_SYS_ADMIN" {
				c.r.Unworded(c.path(v, ""), "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN")
			}
		}
	}
	c.appArmor(v.Get("appArmorProfile"))
}

// isFalse reports whether a member of v is false.
func isFalse(v Value, name string) bool {
	v = v.Get(name)
	return v.Kind() == Bool && !v.Bool()
}

// profile checks the type of a profile and returns whether it is one on the node; what is how the
// fault calls its owner.
func (c *podChecker) profile(v Value, what string) (local bool) {
	switch s := text(v, "type"); {
	case s == "":
		c.r.Required(c.path(v, ".type"), "type is required when "+what+" is set")
	case !among(s, profileTypes):
		c.unknown(v, ".type", s, profileTypes)
	default:
		return s == "Localhost"
	}
	return false
}

func (c *podChecker) seccomp(v Value) {
	if v.Kind() != Object {
		return
	}
	const name = ".localhostProfile"
	switch path := v.Get("localhostProfile"); {
	case c.profile(v, "seccompProfile"):
		if path.Kind() != String {
			c.r.Required(c.path(v, name), "must be set when seccomp type is Localhost")
		} else {
			c.descending(v, name, path.Str())
		}
	case path.Kind() == String:
		const detail = "can only be set when seccomp type is Localhost"
		if c.r.Minor() < 34 { // which prints an address
			c.r.Unworded(c.path(v, name), detail)
		} else {
			c.r.Invalid(c.path(v, name), `{"Type":`+c.r.Word(text(v, "type"))+`,"LocalhostProfile":`+c.r.Word(path.Str())+"}", detail)
		}
	}
}

func (c *podChecker) appArmor(v Value) {
	if v.Kind() != Object {
		return
	}
	const name, maxBytes = ".localhostProfile", 4095
	path := v.Get("localhostProfile")
	s := path.Text()
	switch kind := text(v, "type"); {
	case !c.profile(v, "appArmorProfile"):
		if path.Kind() == String && among(kind, profileTypes) && kind != "" {
			c.r.Invalid(c.path(v, name), c.r.Word(s), "can only be set when AppArmor type is Localhost")
		}
		return
	case trimSpace(s) != s:
		c.bad(v, name, s, "must not be padded with whitespace")
	case s == "":
		c.r.Required(c.path(v, name), "must be set when AppArmor type is Localhost")
	}
	if len(s) > maxBytes {
		c.r.TooLong(c.path(v, name), maxBytes)
	}
}

// scheduling checks what comes between the restart policy and the deadline.
//
// Source: ValidatePodSpec and what it calls in pkg/apis/core/validation/validation.go, Kubernetes
// v1.33 to v1.37.
func (c *podChecker) scheduling() {
	v := c.spec
	const policies = "ClusterFirstWithHostNet ClusterFirst Default None"
	if s := text(v, "dnsPolicy"); s != "" && !among(s, policies) {
		c.unknown(v, "dnsPolicy", s, policies)
	}
	for e, n := walkOf(v.Get("nodeSelector")); n > 0; n-- {
		label := e.step()
		c.form(v, "nodeSelector", label.Key(), admission.LabelKey)
		c.form(v, "nodeSelector", label.Text(), admission.LabelValue)
	}
	c.podSecurity(v.Get("securityContext"))
	if isTrue(v, "shareProcessNamespace") && isTrue(v, "hostPID") {
		at := "shareProcessNamespace"
		if c.r.Minor() < 37 {
			at = "securityContext." + at
		}
		c.r.Invalid(c.path(v, at), "true", "ShareProcessNamespace and HostPID cannot both be enabled")
	}
	affinity := v.Get("affinity")
	c.nodeAffinity(affinity.Get("nodeAffinity"))
	c.affinity(affinity.Get("podAffinity"))
	c.affinity(affinity.Get("podAntiAffinity"))
	c.dns(v.Get("dnsConfig"))
	for e, n := walkOf(v.Get("readinessGates")); n > 0; n-- {
		gate := e.step()
		c.form(gate, ".conditionType", text(gate, "conditionType"), admission.LabelKey)
	}
	var gates nameSet
	for e, n := walkOf(v.Get("schedulingGates")); n > 0; n-- {
		gate := e.step()
		name := text(gate, "name")
		if c.form(gate, "", name, admission.LabelKey); !gates.add(name) {
			c.twice(gate, "", name)
		}
	}
	c.spread(v.Get("topologySpreadConstraints"))
	account := text(v, "serviceAccountName")
	if account == "" {
		account = text(v, "serviceAccount")
	}
	c.hostUsers()
	c.hostnameOverride()
	c.optionalForm("serviceAccountName", account, admission.DNSSubdomain)
	c.optionalForm("nodeName", text(v, "nodeName"), admission.DNSSubdomain)
}

// optionalForm checks a name that is the field of the spec of this name, unless it is "".
func (c *podChecker) optionalForm(field, s string, form admission.NameForm) {
	if s != "" {
		c.form(c.spec, field, s, form)
	}
}

// podSecurity checks the security context of the Pod. Sysctls, SELinux and options for Windows are
// not checked.
//
// Source: validatePodSpecSecurityContext in pkg/apis/core/validation/validation.go, Kubernetes
// v1.33 to v1.37.
func (c *podChecker) podSecurity(v Value) {
	if v.Kind() != Object {
		return
	}
	for _, name := range []string{"fsGroup", "runAsUser", "runAsGroup"} {
		c.between(v, name, 0, maxID, idText)
	}
	for e, n := walkOf(v.Get("supplementalGroups")); n > 0; n-- {
		group := e.step()
		if id, ok := group.Int64(); ok && (id < 0 || id > maxID) {
			c.badNumber(group, "", id, idText)
		}
	}
	c.word(v, "fsGroupChangePolicy", "Always OnRootMismatch")
	c.seccomp(v.Get("seccompProfile"))
	c.appArmor(v.Get("appArmorProfile"))
	c.word(v, "supplementalGroupsPolicy", "Merge Strict")
}

// word checks a member of v that is a word of list if it is there.
func (c *podChecker) word(v Value, name, list string) {
	if word := v.Get(name); word.Kind() == String && (word.Str() == "" || !among(word.Str(), list)) {
		c.unknown(v, "."+name, word.Str(), list)
	}
}

// hostUsers checks that a Pod with users of its own has nothing else of the node's.
//
// Source: validateHostUsers in pkg/apis/core/validation/validation.go, Kubernetes v1.33 to v1.37.
func (c *podChecker) hostUsers() {
	if !isFalse(c.spec, "hostUsers") {
		return
	}
	detail := "when `hostUsers` is false"
	if c.r.Minor() < 34 {
		detail = "when `pod.Spec.HostUsers` is false"
	}
	for _, name := range []string{"hostNetwork", "hostPID", "hostIPC"} {
		if isTrue(c.spec, name) {
			if name != "hostNetwork" {
				name = "H" + name[1:] // as Kubernetes spells these two
			}
			c.forbid(c.spec, name, detail)
		}
	}
	visit(c.spec, func(ctr Value) {
		if c.r.Minor() >= 34 && ctr.Get("volumeDevices").Len() > 0 {
			c.forbid(ctr, ".volumeDevices", detail)
		}
	})
}

// visit calls f for each container of a pod spec, those of initialization first.
func visit(spec Value, f func(ctr Value)) {
	for _, kind := range []policy.ContainerKind{policy.InitContainer, policy.MainContainer, policy.EphemeralContainer} {
		for e, n := walkOf(spec.Get(kind.Field())); n > 0; n-- {
			f(e.step())
		}
	}
}

// hostnameOverride checks a name that takes the place of the Pod's. Until 1.34 its gate is off.
//
// Source: validatePodHostName in pkg/apis/core/validation/validation.go, Kubernetes v1.34 to v1.37.
func (c *podChecker) hostnameOverride() {
	const name, maxBytes = "hostnameOverride", 64
	host := c.spec.Get(name)
	if host.Kind() != String || c.r.Minor() < 34 || c.r.Minor() < 35 && !c.r.Static() {
		return
	}
	if isTrue(c.spec, "setHostnameAsFQDN") {
		c.forbid(c.spec, name, "may not be specified when setHostnameAsFQDN is true")
	}
	if isTrue(c.spec, "hostNetwork") {
		c.forbid(c.spec, name, "may not be specified when hostNetwork is true")
	}
	if len(host.Str()) > maxBytes {
		c.r.TooLong(c.path(c.spec, name), maxBytes)
	}
	c.form(c.spec, name, host.Str(), admission.DNSSubdomain)
}

// nodeAffinity checks which nodes a Pod wants.
//
// Source: validateNodeAffinity in pkg/apis/core/validation/validation.go, Kubernetes v1.33 to
// v1.37.
func (c *podChecker) nodeAffinity(v Value) {
	if required := v.Get("requiredDuringSchedulingIgnoredDuringExecution"); required.Kind() == Object {
		terms := required.Get("nodeSelectorTerms")
		if terms.Len() == 0 {
			c.r.Required(c.path(required, ".nodeSelectorTerms"), "must have at least one node selector term")
		}
		for e, n := walkOf(terms); n > 0; n-- {
			c.nodeTerm(e.step(), true)
		}
	}
	for e, n := walkOf(v.Get("preferredDuringSchedulingIgnoredDuringExecution")); n > 0; n-- {
		term := e.step()
		c.weight(term)
		c.nodeTerm(term.Get("preference"), false)
	}
}

// nodeTerm checks conditions on nodes; values reports that those of labels must be possible ones.
func (c *podChecker) nodeTerm(v Value, values bool) {
	for e, n := walkOf(v.Get("matchExpressions")); n > 0; n-- {
		rule := e.step()
		given := rule.Get("values").Len()
		switch operator := text(rule, "operator"); {
		case among(operator, "In NotIn") && operator != "":
			if given == 0 {
				c.r.Required(c.path(rule, ".values"), "must be specified when `operator` is 'In' or 'NotIn'")
			}
		case among(operator, "Exists DoesNotExist") && operator != "":
			if given > 0 {
				c.forbid(rule, ".values", "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")
			}
		case among(operator, "Gt Lt") && operator != "":
			if given != 1 {
				c.r.Required(c.path(rule, ".values"), "must be specified single value when `operator` is 'Lt' or 'Gt'")
			}
		default:
			c.badOperator(rule, operator)
		}
		c.form(rule, ".key", text(rule, "key"), admission.LabelKey)
		for e, n := walkOf(rule.Get("values")); n > 0 && values; n-- {
			value := e.step()
			c.form(value, "", value.Text(), admission.LabelValue)
		}
	}
	for e, n := walkOf(v.Get("matchFields")); n > 0; n-- {
		rule := e.step()
		if operator := text(rule, "operator"); operator != "In" && operator != "NotIn" {
			c.badOperator(rule, operator)
		} else if rule.Get("values").Len() != 1 {
			c.r.Required(c.path(rule, ".values"), "must be only one value when `operator` is 'In' or 'NotIn' for node field selector")
		}
		if key := text(rule, "key"); key != "metadata.name" {
			c.bad(rule, ".key", key, "not a valid field selector key")
			continue
		}
		for e, n := walkOf(rule.Get("values")); n > 0; n-- {
			value := e.step()
			c.form(value, "", value.Text(), admission.DNSSubdomain)
		}
	}
}

func (c *podChecker) badOperator(v Value, s string) {
	c.r.Invalid(c.path(v, ".operator"), c.r.Word(s), "not a valid selector operator")
}

// names checks what comes after the deadline. Overhead, claims and what depends on the operating
// system are not checked.
//
// Source: ValidatePodSpec and what it calls in pkg/apis/core/validation/validation.go, Kubernetes
// v1.33 to v1.37.
func (c *podChecker) names() {
	v := c.spec
	if !c.stateful { // its controller sets these two
		c.optionalForm("hostname", text(v, "hostname"), admission.DNSLabel)
		c.optionalForm("subdomain", text(v, "subdomain"), admission.DNSLabel)
	}
	for e, n := walkOf(v.Get("tolerations")); n > 0; n-- {
		c.toleration(e.step())
	}
	c.hostAliases()
	c.optionalForm("priorityClassName", text(v, "priorityClassName"), admission.DNSSubdomain)
	if class := v.Get("runtimeClassName"); class.Kind() == String {
		c.form(v, "runtimeClassName", class.Str(), admission.DNSSubdomain)
	}
	if preemption := v.Get("preemptionPolicy"); preemption.Kind() == String {
		switch s := preemption.Str(); s {
		case "PreemptLowerPriority", "Never":
		case "":
			c.missing(v, "preemptionPolicy")
		default:
			c.unknown(v, "preemptionPolicy", s, "PreemptLowerPriority Never")
		}
	}
}

// toleration checks one of the taints that a Pod bears.
//
// Source: ValidateTolerations in pkg/apis/core/validation/validation.go, Kubernetes v1.33 to v1.37.
func (c *podChecker) toleration(v Value) {
	key, operator, value, effect := text(v, "key"), text(v, "operator"), text(v, "value"), text(v, "effect")
	if key != "" {
		c.form(v, ".key", key, admission.LabelKey)
	} else if operator != "Exists" {
		c.r.Invalid(c.path(v, ".operator"), c.r.Word(operator),
			`operator must be Exists when `+"`key`"+` is empty, which means "match all values and all keys"`)
	}
	if _, limited := v.Get("tolerationSeconds").Int64(); limited && effect != "NoExecute" {
		c.r.Invalid(c.path(v, ".effect"), c.r.Word(effect), "effect must be 'NoExecute' when `tolerationSeconds` is set")
	}
	switch operator {
	case "", "Equal":
		if faults := admission.LabelValue.Faults(value, c.r.Minor()); len(faults) > 0 {
			c.bad(v, ".operator", value, strings.Join(faults, ";"))
		}
	case "Exists":
		if value != "" {
			c.bad(v, ".operator", value, "value must be empty when `operator` is 'Exists'")
		}
	case "Lt", "Gt": // their gate is off
		if c.r.Minor() >= 35 {
			c.unknown(v, ".operator", operator, "Equal Exists Lt Gt")
			break
		}
		fallthrough
	default:
		c.unknown(v, ".operator", operator, "Equal Exists")
	}
	if effect != "" && !among(effect, taintEffects) {
		c.unknown(v, ".effect", effect, taintEffects)
	}
}

// fileKeyVolumes checks that files with variables are in empty directories.
//
// Source: validateFileKeyRefVolumes in pkg/apis/core/validation/validation.go, Kubernetes v1.34 to
// v1.37.
func (c *podChecker) fileKeyVolumes() {
	if c.r.Minor() < 34 || c.r.Minor() < 35 && !c.r.Static() {
		return
	}
	visit(c.spec, func(ctr Value) {
		for e, n := walkOf(ctr.Get("env")); n > 0; n-- {
			ref := e.step().Get("valueFrom").Get("fileKeyRef")
			if ref.Kind() != Object {
				continue
			}
			name, found, empty := text(ref, "volumeName"), false, false
			if c.claimed.has(name) {
				found = true
			}
			for e, n := walkOf(c.spec.Get("volumes")); n > 0; n-- { // the last of this name counts
				if v := e.step(); text(v, "name") == name && !c.claimed.has(name) {
					found, empty = true, isEmptyDir(v)
				}
			}
			switch {
			case !found:
				c.r.NotFound(c.path(ref, ".volumeName"), policy.Quoted(name), "")
			case !empty:
				c.bad(ref, ".volumeName", name, "referenced volume must be of type emptyDir")
			}
		}
	})
}

// isEmptyDir reports whether v is an empty directory, which a volume without a source is too.
func isEmptyDir(v Value) bool {
	for e, n := walkOf(v); n > 0; n-- {
		if m := e.step(); m.Kind() == Object && m.Key() != "emptyDir" {
			return has(v, "emptyDir")
		}
	}
	return true
}

// node checks that a new Pod is not yet on a node if something must happen before.
//
// Source: ValidatePodCreate in pkg/apis/core/validation/validation.go, Kubernetes v1.33 to v1.37.
func (c *podChecker) node() {
	if text(c.spec, "nodeName") != "" && c.spec.Get("schedulingGates").Len() > 0 {
		c.forbid(c.spec, "nodeName", "cannot be set until all schedulingGates have been cleared")
	}
}
