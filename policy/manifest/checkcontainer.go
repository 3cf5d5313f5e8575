package manifest

import (
	"strconv"
	"strings"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/admission"
)

// pullPolicies and others are the words of enumerations, in the order in which the API server lists
// them.
const (
	pullPolicies     = "Always IfNotPresent Never"
	messagePolicies  = "File FallbackToLogsOnError"
	protocols        = "SCTP TCP UDP"
	propagations     = "Bidirectional HostToContainer None"
	recursiveChoices = "Disabled Enabled IfPossible"

	volumeFieldPaths   = "metadata.annotations metadata.labels metadata.name metadata.namespace metadata.uid"
	envFieldPaths      = "metadata.name metadata.namespace metadata.uid spec.nodeName spec.serviceAccountName status.hostIP status.hostIPs status.podIP status.podIPs"
	unlistedFieldPaths = "spec.host spec.restartPolicy spec.schedulerName status.phase" // known, and allowed nowhere
	resourcePaths      = "limits.cpu limits.ephemeral-storage limits.memory requests.cpu requests.ephemeral-storage requests.memory"
)

// image checks the container from its image to its resources.
//
// Source: validateContainerCommon in pkg/apis/core/validation/validation.go, Kubernetes v1.33 to
// v1.37.
func (c *podChecker) image() {
	v := c.ctr
	if text(v, "image") == "" {
		c.need(v, "image")
	}
	c.enum(v, "terminationMessagePolicy", messagePolicies)
	c.ports(v.Get("ports"))
	c.env(v.Get("env"))
	c.envFrom(v.Get("envFrom"))
	mounts, devices := v.Get("volumeMounts"), v.Get("volumeDevices")
	c.mounts(mounts, devices)
	c.devices(devices, mounts)
	c.enum(v, "imagePullPolicy", pullPolicies)
	c.resources(v.Get("resources"))
}

const portText = "must be between 1 and 65535, inclusive"

//go:noinline
func validPort(n int64) bool { return 1 <= n && n <= 65535 }

// ports checks the ports of a container.
//
// Source: validateContainerPorts in pkg/apis/core/validation/validation.go, Kubernetes v1.33 to
// v1.37.
func (c *podChecker) ports(list Value) {
	var names nameSet
	for e, n := walkOf(list); n > 0; n-- {
		v := e.step()
		if name := text(v, "name"); name != "" {
			before := c.r.Count()
			if c.form(v, ".name", name, admission.PortName); c.r.Count() == before && !names.add(name) {
				c.twice(v, ".name", name)
			}
		}
		if n := number(v, "containerPort", 0); n == 0 {
			c.missing(v, ".containerPort")
		} else if !validPort(n) {
			c.badNumber(v, ".containerPort", n, portText)
		}
		if n := c.hostPort(v); n != 0 && !validPort(n) {
			c.badNumber(v, ".hostPort", n, portText)
		}
		c.enum(v, "protocol", protocols)
	}
}

// hostPort returns the port of the node that port v of a container takes, 0 for none: in a Pod on
// the node's network that of the container by default, unless the container is ephemeral.
//
//go:noinline
func (c *podChecker) hostPort(v Value) int64 {
	n := number(v, "hostPort", 0)
	if n == 0 && c.pod && c.ref.Kind != policy.EphemeralContainer && isTrue(c.spec, "hostNetwork") {
		n = number(v, "containerPort", 0)
	}
	return n
}

// hostPorts checks that no two ports take the same port of the node: of all main containers
// together, of each init container alone.
//
// Source: AccumulateUniqueHostPorts in pkg/apis/core/validation/validation.go, Kubernetes v1.33 to
// v1.37. It calls each init container number 0.
func (c *podChecker) hostPorts() {
	var taken nameSet
	from, at := c.ctr, 0
	for ; from.Exists(); from, at = from.Next(), at+1 {
		e, ports := walkOf(from.Get("ports"))
		for i := range ports {
			v := e.step()
			n := c.hostPort(v)
			if n == 0 {
				continue
			}
			protocol := text(v, "protocol")
			if protocol == "" {
				protocol = "TCP"
			}
			if key := protocol + "/" + text(v, "hostIP") + "/" + strconv.FormatInt(n, 10); !taken.add(key) {
				c.r.Duplicate(c.at+c.ref.Kind.Field()+"["+strconv.Itoa(at)+"].ports["+strconv.Itoa(i)+"].hostPort", policy.Quoted(key))
			}
		}
		if c.ref.Kind == policy.InitContainer {
			return
		}
	}
}

// hostNetworkPorts checks that ports on the node's network are those of the container.
//
// Source: validatePodHostNetworkDeps in pkg/apis/core/validation/validation.go, Kubernetes v1.33 to
// v1.37.
func (c *podChecker) hostNetworkPorts() {
	if !isTrue(c.spec, "hostNetwork") {
		return
	}
	c.ref = policy.Ref{}
	for e, n := walkOf(c.spec.Get("containers")); n > 0; n-- {
		ctr := e.step()
		for e, n := walkOf(ctr.Get("ports")); n > 0; n-- {
			v := e.step()
			if n := c.hostPort(v); n != 0 && n != number(v, "containerPort", 0) {
				c.badNumber(v, ".hostPort", n, "must match `containerPort` when `hostNetwork` is true")
			}
		}
	}
	c.ctr = Value{}
}

// env checks the environment of a container.
//
// Source: ValidateEnv and validateEnvVarValueFrom in pkg/apis/core/validation/validation.go,
// Kubernetes v1.33 to v1.37.
func (c *podChecker) env(list Value) {
	for e, n := walkOf(list); n > 0; n-- {
		v := e.step()
		if name := text(v, "name"); name == "" {
			c.missing(v, ".name")
		} else {
			c.form(v, ".name", name, c.envForm())
		}
		if from := v.Get("valueFrom"); from.Kind() == Object {
			c.valueFrom(from, text(v, "value") != "")
		}
	}
}

// envForm is the form that names of variables have.
func (c *podChecker) envForm() admission.NameForm {
	if c.r.Static() && c.r.Minor() < 35 {
		return admission.StrictEnvName
	}
	return admission.EnvName
}

func (c *podChecker) valueFrom(v Value, value bool) {
	found := 0
	if from := v.Get("fieldRef"); from.Kind() == Object {
		found++
		c.fieldRef(v, ".fieldRef", from, envFieldPaths)
	}
	if from := v.Get("resourceFieldRef"); from.Kind() == Object {
		found++
		c.resourceFieldRef(v, ".resourceFieldRef", from, false)
	}
	for _, name := range []string{"configMapKeyRef", "secretKeyRef"} {
		if from := v.Get(name); from.Kind() == Object {
			found++
			c.form(from, ".name", text(from, "name"), admission.DNSSubdomain)
			if key := text(from, "key"); key == "" {
				c.need(from, "key")
			} else {
				c.form(from, ".key", key, admission.ConfigKey)
			}
		}
	}
	files := c.r.Minor() >= 35
	if from := v.Get("fileKeyRef"); from.Kind() == Object && (files || c.r.Minor() == 34 && c.r.Static()) {
		found++
		c.fileKeys = true
		c.fileKeyRef(from)
	}
	detail := ""
	switch {
	case found == 0 && files:
		detail = "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"
	case found == 0:
		detail = "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`"
	case value:
		detail = "may not be specified when `value` is not empty"
	case found > 1:
		detail = "may not have more than one field specified at a time"
	default:
		return
	}
	c.bad(v, "", "", detail)
}

func (c *podChecker) fileKeyRef(v Value) {
	if key := text(v, "key"); key == "" {
		c.need(v, "key")
	} else {
		c.form(v, ".key", key, admission.EnvName)
	}
	if name := text(v, "volumeName"); name == "" {
		c.need(v, "volumeName")
	} else {
		c.form(v, ".volumeName", name, admission.DNSLabel)
	}
	if path := text(v, "path"); path == "" {
		c.need(v, "path")
	} else {
		c.noBacksteps(v, ".path", path)
	}
}

// fieldRef checks a reference to a field of the Pod, whose path is that of v with end after it;
// allowed are the paths that it may have.
//
// Source: validateObjectFieldSelector in pkg/apis/core/validation/validation.go,
// ConvertDownwardAPIFieldLabel in pkg/apis/core/pods/helpers.go, Kubernetes v1.33 to v1.37.
func (c *podChecker) fieldRef(v Value, end string, ref Value, allowed string) {
	path := text(ref, "fieldPath")
	if path == "" {
		c.missing(v, end+".fieldPath")
		return
	}
	bad := ""
	version := text(ref, "apiVersion")
	of, subscript, subscripted := subscripted(path)
	switch {
	case version != "" && version != "v1":
		bad = "unsupported pod version: " + cut(version)
	case subscripted && of != "metadata.annotations" && of != "metadata.labels":
		bad = "field label does not support subscript: " + cut(path)
	case !subscripted && !among(path, envFieldPaths) && !among(path, volumeFieldPaths) && !among(path, unlistedFieldPaths):
		bad = "field label not supported: " + cut(path)
	}
	switch {
	case bad != "":
		c.bad(v, end+".fieldPath", path, "error converting fieldPath: "+bad)
	case subscripted:
		if of == "metadata.annotations" {
			subscript = lower(subscript)
		}
		c.form(v, end, subscript, admission.LabelKey)
	default:
		if path == "spec.host" {
			path = "spec.nodeName"
		}
		if !among(path, allowed) {
			c.r.Unsupported(c.path(v, end+".fieldPath"), policy.Quoted(path), allowed)
		}
	}
}

// subscripted cuts a path such as metadata.labels['app'].
func subscripted(path string) (of, subscript string, ok bool) {
	head, found := strings.CutSuffix(path, "']")
	if !found {
		return path, "", false
	}
	if of, subscript, ok = strings.Cut(head, "['"); of == "" {
		ok = false
	}
	return of, subscript, ok
}

// resourceFieldRef checks a reference to a request or limit, whose path is that of v with end
// behind it.
//
// Source: validateContainerResourceFieldSelector in pkg/apis/core/validation/validation.go,
// Kubernetes v1.33 to v1.37.
func (c *podChecker) resourceFieldRef(v Value, end string, ref Value, inVolume bool) {
	name := text(ref, "resource")
	pages := strings.HasPrefix(name, "requests.hugepages-") || strings.HasPrefix(name, "limits.hugepages-")
	switch {
	case inVolume && text(ref, "containerName") == "":
		c.missing(v, end+".containerName")
	case name == "":
		c.missing(v, end+".resource")
	case !pages && !among(name, resourcePaths):
		c.r.Unsupported(c.path(v, end+".resource"), policy.Quoted(name), resourcePaths)
	}
	divisor := readQuantityOf(ref.Get("divisor"))
	if divisor.isZero() {
		return
	}
	const sizes = "1 1k 1M 1G 1T 1P 1E 1Ki 1Mi 1Gi 1Ti 1Pi 1Ei"
	const sizesText = "only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei are supported with the "
	allowed, detail := sizes, ""
	switch _, of, _ := strings.Cut(name, "."); {
	case pages:
		detail = sizesText + "hugepages resource"
	case !among(name, resourcePaths):
		return
	case of == "cpu":
		allowed, detail = "1m 1", "only divisor's values 1m and 1 are supported with the cpu resource"
	case of == "memory":
		detail = sizesText + "memory resource"
	default:
		detail = sizesText + "local ephemeral storage resource"
	}
	if !among(divisor.String(), allowed) {
		c.bad(v, end+".divisor", name, detail)
	}
}

// envFrom checks the sources of whole environments. Kubernetes does not say in which of them a
// source is missing.
//
// Source: ValidateEnvFrom in pkg/apis/core/validation/validation.go, Kubernetes v1.33 to v1.37.
func (c *podChecker) envFrom(list Value) {
	for e, n := walkOf(list); n > 0; n-- {
		v := e.step()
		if prefix := text(v, "prefix"); prefix != "" {
			c.form(v, ".prefix", prefix, c.envForm())
		}
		found := 0
		for _, name := range []string{"configMapRef", "secretRef"} {
			if from := v.Get(name); from.Kind() == Object {
				found++
				if of := text(from, "name"); of == "" {
					c.need(from, "name")
				} else {
					c.prefixForm(from, of)
				}
			}
		}
		switch {
		case found == 0:
			c.bad(list, "", "", "must specify one of: `configMapRef` or `secretRef`")
		case found > 1:
			c.bad(list, "", "", "may not have more than one field specified at a time")
		}
	}
}

// prefixForm checks a name as if something came after it, which is what the API server does here: a
// hyphen may be at the end, where two letters are then taken for an "a".
//
// Source: maskTrailingDash in k8s.io/apimachinery v0.33 to v0.37, pkg/api/validation/generic.go.
func (c *podChecker) prefixForm(v Value, name string) {
	masked := name
	if len(name) > 1 && strings.HasSuffix(name, "-") {
		masked = name[:len(name)-2] + "a"
	}
	for _, fault := range admission.DNSSubdomain.Faults(masked, c.r.Minor()) {
		c.bad(v, ".name", name, fault)
	}
}

// mounts checks the volumes that a container mounts as folders.
//
// Source: ValidateVolumeMounts in pkg/apis/core/validation/validation.go, Kubernetes v1.33 to
// v1.37. It does not say which mount has a bad path below the volume, or propagation.
func (c *podChecker) mounts(list, devices Value) {
	var paths nameSet
	taken := c.lastPaths(devices, "devicePath", list)
	number := 0
	e, n := walkOf(list)
	for i := range n {
		v := e.step()
		name, path, before := text(v, "name"), text(v, "mountPath"), c.r.Count()
		if c.volumes.dropped.has(name) {
			continue
		}
		if name == "" {
			c.need(v, "name")
		}
		if c.volumes.find(name) == nil {
			c.r.NotFound(c.path(v, ".name"), policy.Quoted(name), "")
		}
		if path == "" {
			c.need(v, "mountPath")
		}
		if !paths.add(path) {
			c.bad(v, ".mountPath", path, "must be unique")
		}
		if taken.names.has(name) {
			c.bad(v, ".name", name, "must not already exist in volumeDevices")
		}
		if taken.paths.has(path) {
			c.bad(v, ".mountPath", path, "must not already exist as a path in volumeDevices")
		}
		sub, expression := text(v, "subPath"), text(v, "subPathExpr")
		if sub != "" {
			c.descending(list, ".subPath", sub)
		}
		if expression != "" {
			if sub != "" {
				c.bad(v, ".subPathExpr", expression, "subPathExpr and subPath are mutually exclusive")
			}
			c.descending(list, ".subPathExpr", expression)
		}
		c.propagation(list, v)
		c.renumber(list, before, i, number)
		number++
	}
}

// places are the volumes of a list of mounts or devices, and where each of them is last.
type places struct{ names, paths nameSet }

// lastPaths returns the places of list, none if other is empty, since nobody asks then.
func (c *podChecker) lastPaths(list Value, member string, other Value) (p places) {
	if list.Len() == 0 || other.Len() == 0 {
		return p
	}
	all := make([]Value, list.Len())
	e, n := walkOf(list)
	for i := range n {
		all[i] = e.step()
	}
	for n--; n >= 0; n-- {
		name := text(all[n], "name")
		if member == "mountPath" && c.volumes.dropped.has(name) {
			continue
		}
		if p.names.add(name) {
			p.paths.add(text(all[n], member))
		}
	}
	return p
}

// propagation checks what a mount says about mounts in it.
func (c *podChecker) propagation(list, v Value) {
	mode := v.Get("mountPropagation")
	if mode.Kind() == String {
		if !among(mode.Str(), propagations) || mode.Str() == "" {
			c.unknown(list, ".mountPropagation", mode.Str(), propagations)
		}
		if mode.Str() == "Bidirectional" && !isTrue(c.ctr.Get("securityContext"), "privileged") {
			c.forbid(list, ".mountPropagation", "Bidirectional mount propagation is available only to privileged containers")
		}
	}
	choice := v.Get("recursiveReadOnly")
	if choice.Kind() != String {
		return
	}
	switch choice.Str() {
	case "Disabled":
	case "Enabled", "IfPossible":
		if !isTrue(v, "readOnly") {
			c.forbid(list, ".recursiveReadOnly", "may only be specified when readOnly is true")
		}
		if mode.Kind() == String && mode.Str() != "None" {
			c.forbid(list, ".recursiveReadOnly", "may only be specified when mountPropagation is None or not specified")
		}
	default:
		c.unknown(list, ".recursiveReadOnly", choice.Str(), recursiveChoices)
	}
}

// devices checks the volumes that a container gets as devices.
//
// Source: ValidateVolumeDevices in pkg/apis/core/validation/validation.go, Kubernetes v1.33 to
// v1.37.
func (c *podChecker) devices(list, mounts Value) {
	var names, paths nameSet
	taken := c.lastPaths(mounts, "mountPath", list)
	for e, n := walkOf(list); n > 0; n-- {
		v := e.step()
		name, path := text(v, "name"), text(v, "devicePath")
		if name == "" {
			c.need(v, "name")
		}
		if names.has(name) {
			c.bad(v, ".name", name, "must be unique")
		}
		switch volume := c.volumes.find(name); {
		case volume == nil:
			c.r.NotFound(c.path(v, ".name"), policy.Quoted(name), "")
		case !volume.isClaim():
			c.bad(v, ".name", name, "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode")
		}
		if path == "" {
			c.need(v, "devicePath")
		}
		if paths.has(path) {
			c.bad(v, ".devicePath", path, "must be unique")
		}
		if stepsBack(path) {
			c.bad(v, ".devicePath", path, "can not contain backsteps ('..')")
		} else {
			paths.add(path)
		}
		if taken.names.has(name) {
			c.bad(v, ".name", name, "must not already exist in volumeMounts")
		}
		if taken.paths.has(path) {
			c.bad(v, ".devicePath", path, "must not already exist as a path in volumeMounts")
		}
		if name != "" {
			names.add(name)
		}
	}
}

// subPaths checks that an ephemeral container mounts whole volumes.
func (c *podChecker) subPaths() {
	number := 0
	list := c.ctr.Get("volumeMounts")
	e, n := walkOf(list)
	for i := range n {
		v := e.step()
		if c.volumes.dropped.has(text(v, "name")) {
			continue
		}
		before := c.r.Count()
		for _, name := range []string{"subPath", "subPathExpr"} {
			if text(v, name) != "" {
				c.forbid(v, "."+name, "cannot be set for an Ephemeral Container")
			}
		}
		c.renumber(list, before, i, number)
		number++
	}
}
