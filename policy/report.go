package policy

import (
	"slices"
	"strconv"
	"strings"
)

// Report collects what an API server has against a manifest, in its words and its order.
type Report struct {
	f      Features
	faults Faults
	static bool // a kubelet reads the Pod from a file
}

// Minor returns the release whose words are used: 36 for Kubernetes 1.36.
func (r *Report) Minor() int { return r.f.Minor }

// Static reports whether a kubelet reads the Pod from a file.
func (r *Report) Static() bool { return r.static }

// Count returns how many faults were added, those included that are not kept.
func (r *Report) Count() int {
	l := &r.faults
	return l.others.kept + l.others.more + l.words.kept + l.words.more
}

// Renumber makes the messages of the faults after the first n speak of to where they speak of from,
// the beginning of their paths: Kubernetes counts some lists otherwise than the manifest.
func (r *Report) Renumber(n int, from, to string) {
	kept := r.faults.kept
	for i := min(n, len(kept)); i < len(kept); i++ {
		if rest, found := strings.CutPrefix(kept[i].Message, from); found {
			kept[i].Message = to + rest
		}
	}
}

// Full reports whether faults whose path ends so will only be counted: the rest of the path need
// not be put together.
func (r *Report) Full(end string) bool { return r.faults.full(end) }

// Required, Forbidden, Invalid, Duplicate and NotFound add a fault of that kind. A value is given
// as Kubernetes prints it; see [Quoted], [Report.Word].
func (r *Report) Required(path, detail string) { r.add(path, TypeRequired, CodeRequired, "", detail) }

// Forbidden is like Required.
func (r *Report) Forbidden(path, detail string) {
	r.add(path, TypeForbidden, CodeForbidden, "", detail)
}

// Invalid is like Required.
func (r *Report) Invalid(path, value, detail string) {
	r.add(path, TypeInvalid, CodeInvalid, value, detail)
}

// Unworded adds the fault of a value whose text in Kubernetes is never the same.
func (r *Report) Unworded(path, detail string) {
	r.faults.Add(FieldError{Path: path, Type: TypeInvalid, Code: CodeInvalid, Detail: detail})
}

// Duplicate is like Required.
func (r *Report) Duplicate(path, value string) {
	r.add(path, TypeDuplicate, CodeDuplicate, value, "")
}

// NotFound is like Required. detail is "" most of the time.
func (r *Report) NotFound(path, value, detail string) {
	r.add(path, TypeNotFound, CodeNotFound, value, detail)
}

// TooLong adds the fault of a text of more than most bytes.
func (r *Report) TooLong(path string, most int) {
	r.add(path, TypeTooLong, CodeTooLong, "", "may not be more than "+strconv.Itoa(most)+" bytes")
}

// Unsupported adds the fault of a value, as Kubernetes prints it, that is not one of the words of
// supported, which has a space between them.
func (r *Report) Unsupported(path, value, supported string) {
	if !r.faults.Skip(path, CodeUnsupported) {
		r.unsupportedText(path, value, words(supported)...)
	}
}

// unsupportedText is Unsupported with the words as a list.
func (r *Report) unsupportedText(path, value string, supported ...string) {
	list := make([]string, len(supported))
	for i, s := range supported {
		list[i] = strconv.Quote(s)
	}
	r.add(path, TypeUnsupported, CodeUnsupported, value, "supported values: "+strings.Join(list, ", "))
	r.faults.Last().Allowed = slices.Clone(supported)
}

// omitted is no value: Kubernetes then prints the type of the fault alone.
const omitted = "\x00"

// add composes the text of a fault: path, type, the value where this type of fault has one, the
// detail.
//
// Source: Error.ErrorBody in k8s.io/apimachinery v0.36, pkg/util/validation/field/errors.go.
func (r *Report) add(path string, t FaultType, code FaultCode, value, detail string) {
	if r.faults.Skip(path, code) {
		return
	}
	message := path + ": " + string(t)
	switch {
	case t == TypeRequired, t == TypeForbidden, t == TypeTooLong, value == omitted:
	default:
		message += ": " + value
	}
	if detail != "" {
		message += ": " + detail
	}
	r.faults.Add(FieldError{Path: path, Type: t, Code: code, Detail: detail, Message: message})
}

// Quoted returns a plain string as Kubernetes prints it, cut after [MaxQuotedBytes].
//
// Differs from Kubernetes: it repeats a value however long it is.
func Quoted(s string) string { return quoted(s) }

// Word returns the value of an enumeration as Kubernetes prints it, cut after [MaxQuotedBytes]. Its
// type is not plain string, therefore it appears as JSON from 1.34 on and in Go's syntax before.
//
// Source: Error.ErrorBody in k8s.io/apimachinery v0.33 and v0.34,
// pkg/util/validation/field/errors.go.
func (r *Report) Word(s string) string {
	if r.f.Minor < 34 {
		return quoted(s)
	}
	s, more := bounded(s)
	return jsonText(s) + more
}

// ResourceName returns the name of a resource as Kubernetes prints it: until 1.33 its own method
// did so, without quotes.
func (r *Report) ResourceName(s string) string {
	if r.f.Minor < 34 {
		s, more := bounded(s)
		return s + more
	}
	return r.Word(s)
}

// quoted is [Quoted].
func quoted(s string) string {
	s, more := bounded(s)
	return strconv.Quote(s) + more
}

// Part is a part of the checks of a pod spec that is about fields which no decision reads. Parts
// come in the order in which the API server has them, with those of the restart fields between
// them.
type Part uint8

// The parts. Those up to PartHostPorts are about a container; PartHostPorts is about an init
// container, or about all main ones when it comes with the first.
const (
	PartVolumes Part = iota

	PartImage     // from the image to the resources
	PartSecurity  // securityContext, and of an ephemeral container the spaces around its image
	PartHandlers  // lifecycle and probes, of a container that may have them
	PartEphemeral // ports and resources, which an ephemeral container may not have
	PartSubPaths  // of mounts, which an ephemeral container may not have
	PartHostPorts // ports of the node that are there twice

	PartNetwork    // between the containers and restartPolicy
	PartScheduling // between restartPolicy and activeDeadlineSeconds
	PartNames      // from hostname on
	PartPod        // only of a Pod itself
	PartNode       // only of a Pod that is created
)

// Fields checks the fields of a pod spec that no decision reads, one part after the other.
type Fields interface {
	// Check adds to r what the API server has against part p of the spec. at is the container for
	// the parts that are about one.
	Check(r *Report, p Part, at Ref)
}

// fields checks a part of the spec, if it has fields to check.
func (v *validator) fields(p Part, at Ref) {
	if v.rest != nil {
		v.rest.Check(&v.Report, p, at)
	}
}
