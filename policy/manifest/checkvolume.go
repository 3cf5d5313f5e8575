package manifest

import (
	"strconv"
	"strings"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/admission"
)

// volumeList knows the volumes of a pod spec that have no fault.
type volumeList struct {
	list []volume
	many map[string]int // index in list, if there are more than few
	// dropped are the names of volumes that a gate drops, with all that mounts them.
	dropped nameSet
}

type volume struct {
	name    string
	source  Value // the zero Value if it is claimed
	claimed bool  // from a claim that a StatefulSet makes
}

// isClaim reports whether v is backed by a claim, so that it can be a device.
//
//go:noinline
func (v *volume) isClaim() bool {
	return v.claimed || has(v.source, "persistentVolumeClaim") || has(v.source, "ephemeral")
}

//go:noinline
func (l *volumeList) add(v volume) {
	if l.list = append(l.list, v); len(l.list) <= few {
		return
	}
	if l.many == nil {
		l.many = make(map[string]int, 2*few)
		for i := range l.list {
			l.many[l.list[i].name] = i
		}
	}
	l.many[v.name] = len(l.list) - 1
}

// find returns the volume with this name, nil if there is none.
//
//go:noinline
func (l *volumeList) find(name string) *volume {
	if l.many != nil {
		if i, ok := l.many[name]; ok {
			return &l.list[i]
		}
		return nil
	}
	for i := range l.list {
		if l.list[i].name == name {
			return &l.list[i]
		}
	}
	return nil
}

// volumeSource is a kind of volume.
type volumeSource struct {
	name     string // of the member
	path     string // as faults of what is in it spell it, "" for name
	second   string // as the fault spells it that there is another source, "" for path
	required string // members that must be there and not empty, with spaces between them
	check    func(c *podChecker, v Value, at string)
}

func (s *volumeSource) at() string {
	if s.path != "" {
		return s.path
	}
	return s.name
}

// volumeSources are the kinds of volumes in the order in which the API server looks at them. Those
// without a check of their own have members that are not checked: fc, iscsi, quobyte, flocker,
// azureDisk, ephemeral.
//
// It is never written to. Source: validateVolumeSource and what it calls in
// pkg/apis/core/validation/validation.go, Kubernetes v1.33 to v1.37.
var volumeSources = []volumeSource{
	{name: "emptyDir", check: (*podChecker).emptyDir},
	{name: "hostPath", check: (*podChecker).hostPath},
	{name: "gitRepo", required: "repository", check: (*podChecker).gitRepo},
	{name: "gcePersistentDisk", path: "persistentDisk", second: "gcePersistentDisk", required: "pdName", check: (*podChecker).partition},
	{name: "awsElasticBlockStore", required: "volumeID", check: (*podChecker).partition},
	{name: "secret", required: "secretName", check: (*podChecker).files},
	{name: "nfs", required: "server path", check: (*podChecker).nfs},
	{name: "iscsi"},
	{name: "glusterfs", required: "endpoints path"},
	{name: "flocker"},
	{name: "persistentVolumeClaim", required: "claimName"},
	{name: "rbd", required: "monitors image"},
	{name: "cinder", required: "volumeID", check: (*podChecker).secretRef},
	{name: "cephfs", second: "cephFS", required: "monitors"},
	{name: "quobyte"},
	{name: "downwardAPI", second: "downwarAPI", check: (*podChecker).downwardAPI},
	{name: "fc"},
	{name: "flexVolume", required: "driver", check: (*podChecker).flexVolume},
	{name: "configMap", required: "name", check: (*podChecker).files},
	{name: "azureFile", required: "secretName shareName"},
	{name: "vsphereVolume", required: "volumePath"},
	{name: "photonPersistentDisk", required: "pdID"},
	{name: "portworxVolume", required: "volumeID"},
	{name: "azureDisk"},
	{name: "storageos", check: (*podChecker).storageOS},
	{name: "projected", check: (*podChecker).projected},
	{name: "scaleIO", required: "gateway system volumeName"},
	{name: "csi", check: (*podChecker).csi},
	{name: "ephemeral", check: (*podChecker).ephemeral},
	{name: "image", check: (*podChecker).imageVolume},
}

// checkVolumes checks the volumes and remembers those without faults.
//
// Source: ValidateVolumes in pkg/apis/core/validation/validation.go, Kubernetes v1.33 to v1.37.
func (c *podChecker) checkVolumes() {
	c.volumes = volumeList{}
	claimed := c.claimTemplates()
	list := c.spec.Get("volumes")
	if list.Kind() != Array || list.Len() == 0 {
		return
	}
	claims := c.claims(list)
	for e, n := walkOf(list); n > 0; n-- {
		if v := e.step(); c.drops(v) {
			c.volumes.dropped.add(text(v, "name"))
		}
	}
	number := claimed
	e, n := walkOf(list)
	for i := range n {
		v := e.step()
		before, name := c.r.Count(), text(v, "name")
		if claimed > 0 && c.claimed.has(name) {
			continue // the claim comes instead
		}
		if c.drops(v) {
			continue
		}
		c.volumeSource(v)
		if c.pod && c.name != "" && name != "" && v.Len() == 2 && has(v, "ephemeral") { // the only source: its claim gets a name
			claim := c.name + "-" + name
			for _, fault := range admission.DNSSubdomain.Faults(claim, c.r.Minor()) {
				c.bad(v, ".name", name, "PVC name "+policy.Quoted(claim)+": "+fault)
			}
		}
		if name == "" {
			c.missing(v, ".name")
		} else {
			c.form(v, ".name", name, admission.DNSLabel)
		}
		if c.volumes.find(name) != nil {
			c.twice(v, ".name", name)
		}
		if c.r.Count() == before {
			c.volumes.add(volume{name: name, source: v})
		}
		if claim := v.Get("persistentVolumeClaim").Get("claimName"); len(claims) > 0 && claims[claim.Text()] {
			c.bad(v, ".persistentVolumeClaim.claimName", claim.Text(), "must not reference a PVC that gets created for an ephemeral volume")
		}
		c.renumber(list, before, i, number)
		number++
	}
}

// drops reports whether a gate that is off drops volume v.
//
//go:noinline
func (c *podChecker) drops(v Value) bool {
	return c.r.Minor() < 35 && !c.r.Static() && has(v, "image") // ImageVolume
}

// renumber makes the messages of the faults after the first n speak of element number of list as
// number as.
//
//go:noinline
func (c *podChecker) renumber(list Value, n, number, as int) {
	if number != as && c.r.Count() > n {
		path := c.at + list.Path(c.spec)
		c.r.Renumber(n, path+"["+strconv.Itoa(number)+"]", path+"["+strconv.Itoa(as)+"]")
	}
}

// claimTemplates checks the volumes that a StatefulSet makes of claims, remembers those without
// faults and returns how many there are: they come before those of the template. Kubernetes looks
// at them in no order.
//
// Source: volumesToAddForTemplates in pkg/apis/apps/validation/validation.go, Kubernetes v1.34 to
// v1.37.
func (c *podChecker) claimTemplates() (made int) {
	c.claimed = nameSet{}
	for e, n := walkOf(c.templates); n > 0; n-- {
		v := e.step()
		name := text(v.Get("metadata"), "name")
		if !c.claimed.add(name) {
			continue
		}
		path := c.at + "volumes[" + strconv.Itoa(made) + "]"
		made++
		if name == "" {
			c.r.Required(path+".persistentVolumeClaim.claimName", "")
			c.r.Required(path+".name", "")
			continue
		}
		faults := admission.DNSLabel.Faults(name, c.r.Minor())
		for _, fault := range faults {
			c.r.Invalid(path+".name", policy.Quoted(name), fault)
		}
		if len(faults) == 0 {
			c.volumes.add(volume{name: name, claimed: true})
		}
	}
	return made
}

// claims returns the names of the claims that are made for a Pod's ephemeral volumes, nil if there
// are none.
func (c *podChecker) claims(list Value) (claims map[string]bool) {
	if !c.pod || c.name == "" {
		return nil
	}
	for e, n := walkOf(list); n > 0; n-- {
		v := e.step()
		if has(v, "ephemeral") {
			if claims == nil {
				claims = make(map[string]bool)
			}
			claims[c.name+"-"+text(v, "name")] = true
		}
	}
	return claims
}

// volumeSource checks that v has one source, and that. A volume without any is an empty directory.
func (c *podChecker) volumeSource(v Value) {
	found := 0
	var source Value
	for e, n := walkOf(v); n > 0; n-- {
		m := e.step()
		if m.Kind() == Object {
			found++
			source = m
		}
	}
	if found == 1 { // the usual case
		for i := range volumeSources {
			if s := &volumeSources[i]; source.Key() == s.name {
				c.source(s, source, v)
			}
		}
		return
	}
	found = 0
	for i := range volumeSources {
		s := &volumeSources[i]
		source = v.Get(s.name)
		switch {
		case source.Kind() != Object:
			continue
		case found == 0:
			c.source(s, source, v)
		default:
			second := s.second
			if second == "" {
				second = s.at()
			}
			c.forbid(v, "."+second, "may not specify more than 1 volume type")
		}
		found++
	}
}

// source checks source, which is that of volume v and of kind s.
func (c *podChecker) source(s *volumeSource, source, v Value) {
	for rest := s.required; rest != ""; {
		var member string
		if member, rest = nextWord(rest); empty(source.Get(member)) {
			c.missing(v, "."+s.at()+"."+member)
		}
	}
	if s.check != nil {
		s.check(c, source, "."+s.at())
	}
}

func (c *podChecker) emptyDir(v Value, _ string) {
	if readQuantityOf(v.Get("sizeLimit")).negative() {
		c.forbid(v, ".sizeLimit", "SizeLimit field must be a valid resource quantity")
	}
}

func (c *podChecker) hostPath(v Value, _ string) {
	path := text(v, "path")
	if path == "" {
		c.need(v, "path")
		return
	}
	c.noBacksteps(v, ".path", path)
	const types = " BlockDevice CharDevice Directory DirectoryOrCreate File FileOrCreate Socket"
	if s := text(v, "type"); s != "" && !among(s, types) {
		c.unknown(v, ".type", s, types)
	}
}

func (c *podChecker) gitRepo(v Value, _ string) { c.descending(v, ".directory", text(v, "directory")) }

// partition checks the partition of a disk, whose path is not that of the member.
func (c *podChecker) partition(v Value, at string) {
	if n := number(v, "partition", 0); n < 0 || n > 255 {
		path := c.path(v, "")
		if i := strings.LastIndexByte(path, '.'); i >= 0 {
			path = path[:i]
		}
		c.r.Invalid(path+at+".partition", v.Get("partition").lexeme(), "must be between 1 and 255, inclusive")
	}
}

const fileModeText = "must be a number between 0 and 0777 (octal), both inclusive"

// files checks a volume that is made from the keys of a Secret or ConfigMap.
func (c *podChecker) files(v Value, _ string) {
	c.between(v, "defaultMode", 0, 0o777, fileModeText)
	for e, n := walkOf(v.Get("items")); n > 0; n-- {
		item := e.step()
		c.keyToPath(item)
	}
}

func (c *podChecker) keyToPath(v Value) {
	c.need(v, "key path")
	c.localPath(v, ".path", text(v, "path"))
	c.between(v, "mode", 0, 0o777, fileModeText)
}

func (c *podChecker) nfs(v Value, _ string) {
	if path := text(v, "path"); !strings.HasPrefix(path, "/") {
		c.bad(v, ".path", path, "must be an absolute path")
	}
}

func (c *podChecker) secretRef(v Value, _ string) {
	if ref := v.Get("secretRef"); ref.Kind() == Object {
		c.need(ref, "name")
	}
}

func (c *podChecker) flexVolume(v Value, _ string) {
	for e, n := walkOf(v.Get("options")); n > 0; n-- {
		option := e.step()
		key := option.Key()
		namespace, _, _ := strings.Cut(key, "/")
		namespace = "." + lower(namespace)
		if strings.HasSuffix(namespace, ".kubernetes.io") || strings.HasSuffix(namespace, ".k8s.io") {
			c.bad(v, ".options["+cut(key)+"]", key, "kubernetes.io and k8s.io namespaces are reserved")
		}
	}
}

// lower returns s with the capitals of ASCII made small.
//
//go:noinline
func lower(s string) string {
	b := []byte(s)
	for i := range b {
		b[i] = policy.Lower(b[i])
	}
	return string(b)
}

func (c *podChecker) storageOS(v Value, at string) {
	c.need(v, "volumeName")
	for _, name := range []string{"volumeName", "volumeNamespace"} {
		if s := text(v, name); s != "" {
			c.form(v, "."+name, s, admission.DNSLabel)
		}
	}
	c.secretRef(v, at)
}

func (c *podChecker) csi(v Value, _ string) {
	const maxDriverBytes = 63
	c.need(v, "driver")
	if driver := text(v, "driver"); driver != "" || c.r.Minor() < 35 {
		if len(driver) > maxDriverBytes {
			c.r.TooLong(c.path(v, ".driver"), maxDriverBytes)
		}
		for _, fault := range admission.DNSSubdomain.Faults(lower(driver), c.r.Minor()) {
			c.bad(v, ".driver", driver, fault)
		}
	}
	if ref := v.Get("nodePublishSecretRef"); ref.Kind() == Object {
		c.need(ref, "name")
		if name := text(ref, "name"); name != "" {
			c.form(v, ".name", name, admission.DNSSubdomain)
		}
	}
}

func (c *podChecker) ephemeral(v Value, _ string) {
	if !has(v, "volumeClaimTemplate") {
		c.need(v, "volumeClaimTemplate")
	}
}

func (c *podChecker) imageVolume(v Value, _ string) {
	if (c.pod && !c.r.Static() || c.r.Minor() >= 37) && text(v, "reference") == "" {
		c.need(v, "reference")
	}
	if c.r.Static() && c.r.Minor() < 35 { // the gate ImageVolume, which brings the default, is off
		c.need(v, "pullPolicy")
	}
	c.enum(v, "pullPolicy", pullPolicies)
}

func (c *podChecker) downwardAPI(v Value, _ string) {
	c.between(v, "defaultMode", 0, 0o777, fileModeText)
	for e, n := walkOf(v.Get("items")); n > 0; n-- {
		file := e.step()
		c.downwardFile(v, file)
	}
}

// downwardFile checks a file with metadata; its faults are at v, where Kubernetes does not say
// which file it is.
func (c *podChecker) downwardFile(v, file Value) {
	path := text(file, "path")
	if path == "" {
		c.missing(v, ".path")
	}
	c.localPath(v, ".path", path)
	field, resource := file.Get("fieldRef"), file.Get("resourceFieldRef")
	switch {
	case field.Kind() == Object:
		c.fieldRef(v, ".fieldRef", field, volumeFieldPaths)
		if resource.Kind() == Object {
			c.bad(v, "", "resource", "fieldRef and resourceFieldRef can not be specified simultaneously")
		}
	case resource.Kind() == Object:
		c.resourceFieldRef(v, ".resourceFieldRef", resource, true)
	default:
		c.r.Required(c.path(v, ""), "one of fieldRef and resourceFieldRef is required")
	}
	if mode := number(file, "mode", 0); mode < 0 || mode > 0o777 {
		c.badNumber(v, ".mode", mode, fileModeText)
	}
}

// projected checks a volume that is made from several sources. Of those that are made from
// certificates only the paths of their files are looked at: whether another source has them, too.
//
// Source: validateProjectionSources in pkg/apis/core/validation/validation.go, Kubernetes v1.33 to
// v1.37.
func (c *podChecker) projected(v Value, _ string) {
	c.between(v, "defaultMode", 0, 0o777, fileModeText)
	var paths nameSet
	once := func(path, value string, empty bool) { // empty: a path of "" counts, too
		if (empty || path != "") && !paths.add(path) {
			c.bad(v, "", value, "conflicting duplicate paths")
		}
	}
	for e, n := walkOf(v.Get("sources")); n > 0; n-- {
		source := e.step()
		found := 0
		for _, name := range []string{"secret", "configMap"} {
			if from := source.Get(name); from.Kind() == Object {
				found++
				c.need(from, "name")
				for e, n := walkOf(from.Get("items")); n > 0; n-- {
					item := e.step()
					c.keyToPath(item)
					once(text(item, "path"), text(from, "name"), false)
				}
			}
		}
		if from := source.Get("downwardAPI"); from.Kind() == Object {
			found++
			for e, n := walkOf(from.Get("items")); n > 0; n-- {
				file := e.step()
				c.downwardFile(from, file)
				once(text(file, "path"), text(file, "path"), false)
			}
		}
		if token := source.Get("serviceAccountToken"); token.Kind() == Object {
			found++
			c.token(v, token)
		}
		if c.r.Minor() >= 37 || c.r.Static() { // else they are dropped
			if from := source.Get("clusterTrustBundle"); from.Kind() == Object {
				found++
				once(text(from, "path"), text(from, "path"), true)
			}
			if from := source.Get("podCertificate"); from.Kind() == Object {
				found++
				for _, member := range []string{"credentialBundlePath", "keyPath", "certificateChainPath"} {
					once(text(from, member), text(from, member), false)
				}
			}
		}
		if found > 1 {
			c.forbid(source, "", "may not specify more than 1 volume type per source")
		}
	}
}

// token checks the token of a service account in the projected volume v.
func (c *podChecker) token(v, token Value) {
	const hour = 3600
	switch n := number(token, "expirationSeconds", hour); {
	case n < 600:
		c.badNumber(token, ".expirationSeconds", n, "may not specify a duration less than 10 minutes")
	case n > 1<<32:
		c.badNumber(token, ".expirationSeconds", n, "may not specify a duration larger than 2^32 seconds")
	}
	path := text(token, "path")
	if path == "" {
		c.missing(v, ".path")
	} else {
		c.localPath(v, ".path", path)
	}
}

// tokensWithoutAccount checks that a Pod without a service account has no token of one.
func (c *podChecker) tokensWithoutAccount() {
	list, number := c.spec.Get("volumes"), 0
	e, n := walkOf(list)
	for i := range n {
		v, before := e.step(), c.r.Count()
		if c.drops(v) {
			continue
		}
		for e, n := walkOf(v.Get("projected").Get("sources")); n > 0; n-- {
			if source := e.step(); has(source, "serviceAccountToken") {
				c.forbid(source, ".serviceAccountToken", "must not be specified when serviceAccountName is not set")
			}
		}
		c.renumber(list, before, i, number)
		number++
	}
}

// descending checks a path that must not be absolute and must not lead up.
//
//go:noinline
func (c *podChecker) descending(v Value, end, path string) {
	if strings.HasPrefix(path, "/") {
		c.bad(v, end, path, "must be a relative path")
	}
	c.noBacksteps(v, end, path)
}

// localPath is descending for a path that must not begin with two dots either.
//
//go:noinline
func (c *podChecker) localPath(v Value, end, path string) {
	c.descending(v, end, path)
	if strings.HasPrefix(path, "..") && !strings.HasPrefix(path, "../") {
		c.bad(v, end, path, "must not start with '..'")
	}
}

//go:noinline
func (c *podChecker) noBacksteps(v Value, end, path string) {
	if stepsBack(path) {
		c.bad(v, end, path, "must not contain '..'")
	}
}

// stepsBack reports whether one of the elements of a path is "..".
//
//go:noinline
func stepsBack(path string) bool {
	for more := true; more; {
		var element string
		if element, path, more = strings.Cut(path, "/"); element == ".." {
			return true
		}
	}
	return false
}
