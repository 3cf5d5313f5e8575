package manifest

import (
	"strconv"
	"strings"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/admission"
)

// objectChecker checks what of a manifest is around the spec of its Pod: metadata, and the spec of
// what makes Pods. Like podChecker it looks at the values themselves, and each check knows the
// default of what it looks at.
type objectChecker struct {
	kind     string
	root     Value
	spec     Value  // of a Pod and a PodTemplate not looked at
	template Value  // the PodTemplateSpec; of a Pod none
	at       string // path of template
	name     string // under which the object is stored
	drawn    bool   // the end of name is drawn

	r *policy.Report
}

// ReadAround returns the checks of what is around the spec of the Pod in v, a manifest of kind that
// was read as o. template is the path of its pod template.
func ReadAround(v Value, kind, template string, o *policy.Object) policy.Around {
	c := &objectChecker{kind: kind, root: v, spec: v.Get("spec"), at: template, name: o.StoredName()}
	c.drawn = c.name != o.Name
	if template != "" {
		if t := v.At(template); t.Kind() == Object {
			c.template = t
		}
	}
	return c
}

// Check implements policy.Around.
func (c *objectChecker) Check(r *policy.Report, p policy.ObjectPart) bool {
	c.r = r
	switch p {
	case policy.PartMetadata:
		c.metadata()
	case policy.PartHead:
		return c.head()
	case policy.PartTemplate:
		c.templateMeta()
	case policy.PartProfiles:
		c.profiles()
	case policy.PartTail:
		c.tail()
	}
	return true
}

// metadata checks the metadata of the object itself.
//
// Source: ValidateObjectMeta in k8s.io/apimachinery v0.33 to v0.37,
// pkg/api/validation/objectmeta.go, and in pkg/apis/core/validation/validation.go, Kubernetes v1.33
// to v1.37.
func (c *objectChecker) metadata() {
	meta, form := c.root.Get("metadata"), admission.DNSSubdomain
	if c.kind == "StatefulSet" {
		form = admission.DNSLabel
	}
	controller := c.kind == "ReplicationController" && c.r.Minor() >= 35 // whose generateName is not looked at
	if prefix := meta.Get("generateName").Text(); prefix != "" && !controller {
		masked := prefix
		if n := len(prefix); n > 1 && prefix[n-1] == '-' {
			masked = prefix[:n-2] + "a"
		}
		c.form("metadata.generateName", prefix, form.Faults(masked, c.r.Minor()))
	}
	if c.name == "" {
		c.r.Required("metadata.name", "name or generateName is required")
	}
	if !c.generatedLast() {
		c.nameFaults(form)
	}
	if space := meta.Get("namespace").Text(); space != "" {
		c.form("metadata.namespace", space, admission.DNSLabel.Faults(space, c.r.Minor()))
	}
	labels := meta.Get("labels")
	path := "metadata.labels"
	if own := c.template.Get("metadata").Get("labels"); labels.Len() == 0 && own.Kind() == Object && among(c.kind, "Job ReplicationController") {
		c.labels(path, c.templateLabels()) // the default; a Job's are those that its template gets
	} else {
		c.labels(path, members(labels))
	}
	annotations := meta.Get("annotations")
	c.annotations("metadata.annotations", annotations)
	if c.kind == "Pod" && c.r.Minor() < 34 && !c.r.Static() {
		c.madeAnnotations(members(annotations))
	}
	c.owners(meta.Get("ownerReferences"))
	c.finalizers(meta.Get("finalizers"))
	if c.kind == "Pod" {
		c.podAnnotations("metadata.annotations", annotations)
	}
}

// generatedLast reports whether what generated code finds comes after all else: so it is for a
// ReplicationController from 1.37 on.
func (c *objectChecker) generatedLast() bool {
	return c.kind == "ReplicationController" && c.r.Minor() >= 37
}

// nameFaults checks the form of the name.
func (c *objectChecker) nameFaults(form admission.NameForm) {
	if c.name == "" {
		return
	}
	for _, fault := range form.Faults(c.name, c.r.Minor()) {
		if c.kind == "ReplicationController" && c.r.Minor() >= 35 { // whose name newer code looks at
			fault = strings.Replace(fault, "253 characters", "253 bytes", 1)
		}
		c.badName(fault)
	}
}

// badName adds a fault of the name.
func (c *objectChecker) badName(detail string) {
	c.r.Invalid("metadata.name", policy.Quoted(c.name), detail)
	if c.drawn {
		c.r.Drawn()
	}
}

func (c *objectChecker) form(path, s string, faults []string) {
	for _, fault := range faults {
		c.r.Invalid(path, policy.Quoted(s), fault)
	}
}

// pair is an entry of a map of texts. drawn reports that the value has an end that is drawn.
type pair struct {
	key, value string
	drawn      bool
}

// members returns the entries of a map of texts in document order; of several with one key only the
// last.
func members(v Value) []pair {
	if v.Kind() != Object {
		return nil
	}
	pairs, again := make([]pair, 0, v.Len()), v.repeats()
	for m := v.First(); m.Exists(); m = m.Next() {
		p := pair{key: m.Key(), value: m.Text()}
		if len(again) > 0 && again[0].member == m {
			again = again[1:]
			for i := range pairs {
				if pairs[i].key == p.key {
					pairs[i].value = p.value
				}
			}
			continue
		}
		pairs = append(pairs, p)
	}
	return pairs
}

// find returns the value of a key.
func find(pairs []pair, key string) (value string, found bool) {
	for _, p := range pairs {
		if p.key == key {
			return p.value, true
		}
	}
	return "", false
}

// labels checks a map of labels. Kubernetes walks through it in no order; here it is that of the
// document.
//
// Source: ValidateLabels in k8s.io/apimachinery v0.33 to v0.37,
// pkg/apis/meta/v1/validation/validation.go.
func (c *objectChecker) labels(path string, pairs []pair) {
	for _, p := range pairs {
		c.form(path, p.key, admission.LabelKey.Faults(p.key, c.r.Minor()))
		for _, fault := range admission.LabelValue.Faults(p.value, c.r.Minor()) {
			c.r.Invalid(path, policy.Quoted(p.value), fault)
			if p.drawn {
				c.r.Drawn()
			}
		}
	}
}

// maxAnnotationBytes bounds the annotations of an object together.
const maxAnnotationBytes = 256 << 10

// annotations checks a map of annotations, whose keys may have capital letters in front.
//
// Source: ValidateAnnotations in k8s.io/apimachinery v0.33 to v0.37,
// pkg/api/validation/objectmeta.go.
func (c *objectChecker) annotations(path string, v Value) {
	size := 0
	for _, p := range members(v) {
		size += len(p.key) + len(p.value)
		c.annotationKey(path, p.key)
	}
	if size > maxAnnotationBytes {
		c.r.TooLong(path, maxAnnotationBytes)
	}
}

func (c *objectChecker) annotationKey(path, key string) {
	// Beside the capitals of ASCII only the Kelvin sign has a small letter that keys may have.
	c.form(path, key, admission.LabelKey.Faults(lower(strings.ReplaceAll(key, "\u212A", "k")), c.r.Minor()))
}

// madeAnnotations checks the keys of annotations that the API server of 1.33 makes of AppArmor
// profiles: the names of containers are part of them.
//
// Source: applyAppArmorVersionSkew in pkg/registry/core/pod/strategy.go, Kubernetes v1.33.
func (c *objectChecker) madeAnnotations(pairs []pair) {
	spec, made := c.podSpec(), nameSet{}
	if text(spec.Get("os"), "name") == "windows" {
		return
	}
	visit(spec, func(ctr Value) {
		profile := profileOf(ctr, "appArmor")
		if profile.Kind() != Object {
			profile = profileOf(spec, "appArmor")
		}
		kind, key := text(profile, "type"), appArmor+text(ctr, "name")
		if (among(kind, "Unconfined RuntimeDefault") && kind != "" || kind == "Localhost" && profile.Get("localhostProfile").Kind() == String) &&
			!hasKey(pairs, key) && made.add(key) {
			c.annotationKey("metadata.annotations", key)
		}
	})
}

// The annotations that said which profiles a Pod and its containers run under before there were
// fields for that.
const (
	seccompPod = "seccomp.security.alpha.kubernetes.io/pod"
	seccomp    = "container.seccomp.security.alpha.kubernetes.io/"
	appArmor   = "container.apparmor.security.beta.kubernetes.io/"
)

// podAnnotations checks annotations that are read. nodeName and the containers' names are those of
// the Pod next to them.
//
// Source: ValidatePodSpecificAnnotations and what it calls in
// pkg/apis/core/validation/validation.go, Kubernetes v1.33 to v1.37.
func (c *objectChecker) podAnnotations(path string, v Value) {
	const mirror, cost = "kubernetes.io/config.mirror", "controller.kubernetes.io/pod-deletion-cost"
	if v.Len() == 0 {
		return
	}
	pairs, spec := members(v), c.podSpec()
	if value, found := find(pairs, mirror); found && spec.Get("nodeName").Text() == "" {
		c.r.Invalid(path+"["+mirror+"]", policy.Quoted(value), "must set spec.nodeName if mirror pod annotation is set")
	}
	if value, found := find(pairs, cost); found && !deletionCost(value) {
		c.r.Invalid(path+"["+cost+"]", policy.Quoted(value), "must be a 32bit integer")
	}
	if value, found := find(pairs, seccompPod); found {
		c.seccomp(path+"."+seccompPod, value)
	}
	for _, p := range pairs {
		if strings.HasPrefix(p.key, seccomp) {
			c.seccomp(path+"."+p.key, p.value)
		}
	}
	for _, p := range pairs {
		name, found := strings.CutPrefix(p.key, appArmor)
		if !found {
			continue
		}
		if !hasContainer(spec, name) {
			c.r.Invalid(path+"["+p.key+"]", policy.Quoted(name), "container not found")
		}
		if p.value != "" && !among(p.value, "runtime/default unconfined") && !strings.HasPrefix(p.value, "localhost/") {
			c.r.Invalid(path+"["+p.key+"]", policy.Quoted(p.value), "invalid AppArmor profile name: "+policy.Quoted(p.value))
		}
	}
}

func (c *objectChecker) podSpec() Value {
	if c.at == "" {
		return c.spec
	}
	return c.template.Get("spec")
}

// deletionCost reports whether s is an integer of 32 bits without a sign in front of a positive one
// and without zeros in front.
func deletionCost(s string) bool {
	if s == "" || s[0] != '-' && s != "0" && (s[0] < '1' || s[0] > '9') {
		return false
	}
	_, err := strconv.ParseInt(s, 10, 32)
	return err == nil
}

func (c *objectChecker) seccomp(path, profile string) {
	local, isLocal := strings.CutPrefix(profile, "localhost/")
	switch {
	case among(profile, "runtime/default docker/default unconfined") && profile != "":
	case !isLocal:
		c.r.Invalid(path, policy.Quoted(profile), "must be a valid seccomp profile")
	default:
		if strings.HasPrefix(local, "/") {
			c.r.Invalid(path, policy.Quoted(local), "must be a relative path")
		}
		for part := range strings.SplitSeq(local, "/") {
			if part == ".." {
				c.r.Invalid(path, policy.Quoted(local), "must not contain '..'")
				break
			}
		}
	}
}

// profiles checks that annotations and fields agree on profiles where the manifest has both.
//
// Source: validateSeccompAnnotationsAndFields and validateAppArmorAnnotationsAndFieldsMatchOnCreate
// in pkg/apis/core/validation/validation.go, applyAppArmorVersionSkew in
// pkg/registry/core/pod/strategy.go; Kubernetes v1.33 to v1.37.
func (c *objectChecker) profiles() {
	meta := c.root.Get("metadata")
	if c.at != "" {
		meta = c.template.Get("metadata")
	}
	pairs, spec := members(meta.Get("annotations")), c.podSpec()
	if len(pairs) == 0 {
		return
	}
	if s, found := find(pairs, seccompPod); found {
		c.sameProfile("seccomp", spec, spec, s)
	}
	visit(spec, func(ctr Value) {
		if s, found := find(pairs, seccomp+text(ctr, "name")); found {
			c.sameProfile("seccomp", ctr, ctr, s)
		}
	})
	if text(spec.Get("os"), "name") == "windows" {
		return
	}
	visit(spec, func(ctr Value) {
		s, found := find(pairs, appArmor+text(ctr, "name"))
		switch {
		case !found:
		case profileOf(ctr, "appArmor").Kind() == Object:
			c.sameProfile("appArmor", ctr, ctr, s)
		case c.at == "" && !c.r.Static() && isAppArmor(s): // the API server sets the field from it
		default:
			c.sameProfile("appArmor", ctr, spec, s)
		}
	})
}

// profileOf returns the profile that a Pod or a container names in its security context.
func profileOf(v Value, what string) Value { return v.Get("securityContext").Get(what + "Profile") }

// sameProfile checks that an annotation about v, a Pod or a container, names the profile that owner
// has, which is v or its Pod.
func (c *objectChecker) sameProfile(what string, v, owner Value, annotation string) {
	local, isLocal := strings.CutPrefix(annotation, "localhost/")
	field, same := "type", true
	switch profile := profileOf(owner, what); text(profile, "type") {
	case "Unconfined":
		same = annotation == "unconfined"
	case "RuntimeDefault":
		same = annotation == "runtime/default" || what == "seccomp" && annotation == "docker/default"
	case "Localhost":
		if same = isLocal; isLocal {
			name := profile.Get("localhostProfile")
			field, same = "localhostProfile", name.Kind() == String && name.Str() == local
		}
	}
	if !same {
		noun := "type"
		if field != noun {
			noun = "profile"
		}
		c.r.Forbidden(v.Path(c.root)+".securityContext."+what+"Profile."+field, lower(what)+" "+noun+" in annotation and field must match")
	}
}

// isAppArmor reports whether s is an annotation from which the API server sets the field.
//
// Source: ApparmorFieldForAnnotation in pkg/api/pod/util.go, Kubernetes v1.36.
func isAppArmor(s string) bool {
	const maxBytes = 4095
	local, isLocal := strings.CutPrefix(s, "localhost/")
	return among(s, "unconfined runtime/default") && s != "" || isLocal && local != "" && len(local) <= maxBytes && trimSpace(local) == local
}

// hasContainer reports whether a pod spec has a container of any kind with this name.
func hasContainer(spec Value, name string) (found bool) {
	visit(spec, func(ctr Value) { found = found || text(ctr, "name") == name })
	return found
}

// owners checks the owner references.
//
// Source: ValidateOwnerReferences in k8s.io/apimachinery v0.33 to v0.37,
// pkg/api/validation/objectmeta.go.
func (c *objectChecker) owners(list Value) {
	const where = "metadata.ownerReferences"
	minor, first, i := c.r.Minor(), "", 0
	for v := list.First(); v.Exists(); v = v.Next() {
		path := where
		if minor >= 37 {
			path = element(path, i)
		}
		i++
		api := v.Get("apiVersion").Text()
		version, ok := versionOf(api)
		switch {
		case minor >= 37 && api == "":
			c.r.Required(path+".apiVersion", "must not be empty")
		case minor >= 37 && (!ok || version == ""):
			c.r.Invalid(path+".apiVersion", policy.Quoted(api), "must be <group>/<version> or <version>")
		case minor < 37 && (!ok || version == ""):
			c.r.Invalid(path+".apiVersion", policy.Quoted(api), "version must not be empty")
		}
		for _, name := range []string{"kind", "name", "uid"} {
			switch {
			case v.Get(name).Text() != "":
			case minor >= 37:
				c.r.Required(path+"."+name, "must not be empty")
			case minor >= 34 || name == "apiVersion":
				c.r.Invalid(path+"."+name, c.ownerWord(name, ""), "must not be empty")
			default:
				c.r.Invalid(path+"."+name, c.ownerWord(name, ""), name+" must not be empty")
			}
		}
		if api == "v1" && v.Get("kind").Text() == "Event" {
			c.r.Invalid(path, c.owner(v), "/v1, Kind=Event is disallowed from being an owner")
			c.ownerAddress(v)
		}
		if !v.Get("controller").Bool() {
			continue
		}
		name := v.Get("kind").Text() + "/" + v.Get("name").Text()
		if first == "" {
			first = name
			continue
		}
		value := c.pick("[", "[]v1.OwnerReference{")
		for o := list.First(); o.Exists(); o = o.Next() {
			if o != list.First() {
				value += c.pick(",", ", ")
			}
			value += c.owner(o)
		}
		c.r.Invalid(where, value+c.pick("]", "}"), `Only one reference can have Controller set to true. Found "true" in references for `+first+" and "+name)
		c.ownerAddress(v)
	}
}

// owner prints an owner reference, without addresses.
func (c *objectChecker) owner(v Value) string {
	if c.r.Minor() < 34 {
		return "v1.OwnerReference{APIVersion:" + policy.Quoted(text(v, "apiVersion")) + ", Kind:" + policy.Quoted(text(v, "kind")) + ", Name:" + policy.Quoted(text(v, "name")) +
			", UID:" + policy.Quoted(text(v, "uid")) + ", Controller:(*bool)(nil), BlockOwnerDeletion:(*bool)(nil)}"
	}
	s := `{"apiVersion":` + policy.JSONText(text(v, "apiVersion")) + `,"kind":` + policy.JSONText(text(v, "kind")) + `,"name":` + policy.JSONText(text(v, "name")) + `,"uid":` + policy.JSONText(text(v, "uid"))
	for _, name := range []string{"controller", "blockOwnerDeletion"} {
		if b := v.Get(name); b.Kind() == Bool {
			s += `,"` + name + `":` + b.lexeme()
		}
	}
	return s + "}"
}

// ownerAddress takes the text from the last fault if the printed owner has addresses in memory.
func (c *objectChecker) ownerAddress(v Value) {
	if c.r.Minor() < 34 && (v.Get("controller").Kind() == Bool || v.Get("blockOwnerDeletion").Kind() == Bool) {
		c.r.Drawn()
	}
}

// ownerWord prints a member of an owner reference; a uid has a type of its own.
func (c *objectChecker) ownerWord(name, s string) string {
	if name == "uid" {
		return c.r.Word(s)
	}
	return policy.Quoted(s)
}

// versionOf returns the version in an apiVersion.
//
// Source: ParseGroupVersion in k8s.io/apimachinery v0.36, pkg/runtime/schema/group_version.go.
func versionOf(api string) (version string, ok bool) {
	switch strings.Count(api, "/") {
	case 0:
		return api, true
	case 1:
		if api == "/" {
			return "", true
		}
		return api[strings.IndexByte(api, '/')+1:], true
	}
	return "", false
}

// finalizers checks the names of finalizers.
//
// Source: ValidateFinalizers in k8s.io/apimachinery v0.33 to v0.37,
// pkg/api/validation/objectmeta.go; validateKubeFinalizerName in
// pkg/apis/core/validation/validation.go, Kubernetes v1.33 to v1.37.
func (c *objectChecker) finalizers(list Value) {
	const where = "metadata.finalizers"
	orphan, foreground := false, false
	for v := list.First(); v.Exists(); v = v.Next() {
		s := v.Text()
		c.form(where, s, admission.LabelKey.Faults(s, c.r.Minor()))
		orphan = orphan || s == "orphan"
		foreground = foreground || s == "foregroundDeletion"
	}
	if orphan && foreground {
		c.r.Invalid(where, texts(list, c.r.Minor()), "finalizer orphan and foregroundDeletion cannot be both set")
	}
	i := 0
	for v := list.First(); v.Exists(); v = v.Next() {
		if s := v.Text(); strings.IndexByte(s, '/') < 0 && !among(s, "kubernetes orphan foregroundDeletion") || s == "" {
			c.r.Invalid(element(where, i), policy.Quoted(s), "name is neither a standard finalizer name nor is it fully qualified")
		}
		i++
	}
}

// templateMeta checks labels and annotations of the template. Their paths are those that Kubernetes
// prints.
//
// Source: ValidatePodTemplateSpec in pkg/apis/core/validation/validation.go, Kubernetes v1.33 to
// v1.37.
func (c *objectChecker) templateMeta() {
	if c.at == "" {
		return // of a Pod itself
	}
	annotations := c.template.Get("metadata").Get("annotations")
	c.labels(c.at+".labels", c.templateLabels())
	c.annotations(c.at+".annotations", annotations)
	c.podAnnotations(c.at+".annotations", annotations)
}

// generated are the labels that Kubernetes gives the Pods of a Job, in the order in which it checks
// them.
const generated = "controller-uid job-name batch.kubernetes.io/controller-uid batch.kubernetes.io/job-name"

// templateLabels returns the labels of the template; of a Job those that the API server adds too,
// with a UID that nobody knows yet as "".
func (c *objectChecker) templateLabels() []pair {
	pairs := members(c.template.Get("metadata").Get("labels"))
	if c.kind != "Job" || c.manual() {
		return pairs
	}
	pairs = append(make([]pair, 0, len(pairs)+4), pairs...)
	for words := generated; words != ""; {
		var key string
		if key, words = nextWord(words); !hasKey(pairs, key) {
			p := pair{key: key}
			if !uidLabel(key) {
				p.value, p.drawn = c.name, c.drawn
			}
			pairs = append(pairs, p)
		}
	}
	return pairs
}

func hasKey(pairs []pair, key string) bool {
	_, found := find(pairs, key)
	return found
}

// manual reports whether a Job has a selector of its own.
func (c *objectChecker) manual() bool { return c.spec.Get("manualSelector").Bool() }
