package manifest

import (
	"strconv"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/admission"
)

// podChecker checks the fields of a pod spec that no decision reads. It looks at the values
// themselves: a manifest without faults, the usual one, then costs neither copies nor memory.
//
// Kubernetes puts defaults in before it checks; here each check knows the default of what it looks
// at. Gates that policy.Features does not list have the release's default.
type podChecker struct {
	spec Value
	at   string // path of spec with its dot
	pod  bool   // of a Pod, not of a template
	name string // the Pod's
	// labels are those of the Pod.
	labels Value
	// stateful: the template of a StatefulSet, with these volumeClaimTemplates.
	stateful  bool
	templates Value
	claimed   nameSet // their names

	// plain: the spec has only the fields that most have, of which little is to be checked.
	plain    bool
	fileKeys bool // some variable comes from a file

	r       *policy.Report
	ref     policy.Ref // of ctr
	ctr     Value      // the container that is looked at
	volumes volumeList
}

// Check implements policy.Fields.
func (c *podChecker) Check(r *policy.Report, p policy.Part, at policy.Ref) {
	c.r = r
	if policy.PartImage <= p && p <= policy.PartHostPorts {
		c.container(at)
	}
	switch p {
	case policy.PartVolumes:
		c.plain, c.fileKeys = plainSpec(c.spec), false
		c.checkVolumes()
		c.resourceClaims()
	case policy.PartImage:
		c.image()
	case policy.PartSecurity:
		c.security()
		if at.Kind == policy.EphemeralContainer {
			c.imageSpaces()
		}
	case policy.PartHandlers:
		c.handlers()
	case policy.PartEphemeral:
		c.ephemeralOnly()
	case policy.PartHostPorts:
		c.hostPorts()
	case policy.PartNetwork:
		if !c.plain {
			c.hostNetworkPorts()
		}
	case policy.PartSubPaths:
		c.subPaths()
	case policy.PartScheduling:
		if !c.plain {
			c.scheduling()
		}
	case policy.PartNames:
		if !c.plain {
			c.names()
		}
		if c.fileKeys {
			c.fileKeyVolumes()
		}
	case policy.PartNode:
		c.node()
	case policy.PartPod:
		c.podOnly()
	}
}

// plainSpec reports whether a spec has no fields but those that are checked elsewhere.
func plainSpec(spec Value) bool {
	for e, n := walkOf(spec); n > 0; n-- {
		if m := e.step(); !among(m.Key(), "containers initContainers volumes restartPolicy terminationGracePeriodSeconds") {
			return false
		}
	}
	return true
}

// container makes the container that at names the one that is looked at.
func (c *podChecker) container(at policy.Ref) {
	if c.ref != at || !c.ctr.Exists() {
		c.ref, c.ctr = at, c.spec.Get(at.Kind.Field()).element(at.Index)
	}
}

// path returns the path of v, which is the spec or below it, with end after it; end alone if a
// fault there will only be counted.
//
//go:noinline
func (c *podChecker) path(v Value, end string) string {
	if c.r.Full(end) {
		return end
	}
	return c.at + v.Path(c.spec) + end
}

// The functions below are not inlined: there are many calls, and none in a loop that matters.

// text returns a string that is a member of v, "" if there is none.
//
//go:noinline
func text(v Value, name string) string { return v.Get(name).Text() }

// has reports whether a member of v is an object: in Kubernetes a pointer that is not nil.
//
//go:noinline
func has(v Value, name string) bool { return v.Get(name).Kind() == Object }

// need adds a fault for each of the members of v, names with spaces between them, that is absent or
// empty.
//
//go:noinline
func (c *podChecker) need(v Value, names string) {
	for names != "" {
		var name string
		if name, names = nextWord(names); empty(v.Get(name)) {
			c.missing(v, "."+name)
		}
	}
}

// empty reports whether v is absent, null, an empty text or an empty list.
//
//go:noinline
func empty(v Value) bool {
	switch v.Kind() {
	case String:
		return v.End()-v.Offset() == len(`""`)
	case Array:
		return v.Len() == 0
	}
	return true
}

// nextWord cuts a text at its first space.
//
//go:noinline
func nextWord(s string) (word, rest string) {
	for i := range len(s) {
		if s[i] == ' ' {
			return s[:i], s[i+1:]
		}
	}
	return s, ""
}

// among reports whether word is one of those of list, which has spaces between them.
//
//go:noinline
func among(word, list string) bool {
	for list != "" {
		var w string
		if w, list = nextWord(list); w == word {
			return true
		}
	}
	return false
}

// enum checks a member of v whose default is a word of list; "" is the default.
//
//go:noinline
func (c *podChecker) enum(v Value, name, list string) {
	if s := text(v, name); s != "" && !among(s, list) {
		c.unknown(v, "."+name, s, list)
	}
}

// bad adds the fault of s, which is at the given end of the path of v.
//
//go:noinline
func (c *podChecker) bad(v Value, end, s, detail string) {
	c.r.Invalid(c.path(v, end), policy.Quoted(s), detail)
}

// missing adds the fault that nothing is at the given end of the path of v.
//
//go:noinline
func (c *podChecker) missing(v Value, end string) { c.r.Required(c.path(v, end), "") }

// forbid adds the fault that something is at the given end of the path of v.
//
//go:noinline
func (c *podChecker) forbid(v Value, end, detail string) { c.r.Forbidden(c.path(v, end), detail) }

// unknown adds the fault of s, a word that is not in list.
//
//go:noinline
func (c *podChecker) unknown(v Value, end, s, list string) {
	c.r.Unsupported(c.path(v, end), c.r.Word(s), list)
}

// twice adds the fault of s, which is there for the second time.
//
//go:noinline
func (c *podChecker) twice(v Value, end, s string) { c.r.Duplicate(c.path(v, end), policy.Quoted(s)) }

// walkOf begins to visit the n elements or members of v.
//
//go:noinline
func walkOf(v Value) (w walk, n int) { return walk{v.First()}, v.Len() }

// form adds the faults of s, which is at the given end of the path of v, as a name of that form.
//
//go:noinline
func (c *podChecker) form(v Value, end, s string, form admission.NameForm) {
	for _, fault := range form.Faults(s, c.r.Minor()) {
		c.bad(v, end, s, fault)
	}
}

// badNumber adds the fault of a number.
//
//go:noinline
func (c *podChecker) badNumber(v Value, end string, n int64, detail string) {
	c.r.Invalid(c.path(v, end), strconv.FormatInt(n, 10), detail)
}

// number returns a member of v that is an integer, the given default if there is none.
//
//go:noinline
func number(v Value, name string, absent int64) int64 {
	if n, ok := v.Get(name).Int64(); ok {
		return n
	}
	return absent
}

// between adds a fault if a member of v is a number outside low to high.
//
//go:noinline
func (c *podChecker) between(v Value, name string, low, high int64, detail string) {
	if n, ok := v.Get(name).Int64(); ok && (n < low || n > high) {
		c.badNumber(v, "."+name, n, detail)
	}
}

// isTrue reports whether a member of v is true.
//
//go:noinline
func isTrue(v Value, name string) bool { return v.Get(name).Bool() }

// few is the size up to which a nameSet is a list: most have fewer members, and a list needs no
// memory but its own.
const few = 16

// nameSet is a set of texts. The zero nameSet is empty.
type nameSet struct {
	list []string
	many map[string]bool
}

// has reports whether s was added.
//
//go:noinline
func (n *nameSet) has(s string) bool {
	if n.many != nil {
		return n.many[s]
	}
	for _, other := range n.list {
		if other == s {
			return true
		}
	}
	return false
}

// add adds s and reports whether it is new.
//
//go:noinline
func (n *nameSet) add(s string) bool {
	if n.has(s) {
		return false
	}
	switch {
	case n.many != nil:
		n.many[s] = true
	case len(n.list) < few:
		n.list = append(n.list, s)
	default:
		n.many = make(map[string]bool, 2*few)
		for _, other := range n.list {
			n.many[other] = true
		}
		n.many[s] = true
	}
	return true
}

// podOnly checks what may not be in a Pod, although it may be in a template.
//
// Source: validatePodMetadataAndSpec in pkg/apis/core/validation/validation.go, Kubernetes v1.33 to
// v1.37.
func (c *podChecker) podOnly() {
	if text(c.spec, "serviceAccountName") == "" && text(c.spec, "serviceAccount") == "" {
		c.tokensWithoutAccount()
	}
	for _, kind := range []policy.ContainerKind{policy.MainContainer, policy.InitContainer} {
		for e, n := walkOf(c.spec.Get(kind.Field())); n > 0; n-- {
			v := e.step()
			c.ctr = v
			c.imageSpaces()
		}
	}
	c.ctr = Value{}
}

// imageSpaces checks that there are no spaces around the image of the container. Templates may have
// them.
func (c *podChecker) imageSpaces() {
	if s := text(c.ctr, "image"); trimSpace(s) != s {
		c.bad(c.ctr, ".image", s, "must not have leading or trailing whitespace")
	}
}
