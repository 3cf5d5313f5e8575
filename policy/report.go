package policy

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Report collects what an API server has against a manifest, in its words and its order.
type Report struct {
	Faults Faults
	minor  int
	static bool // a kubelet reads the Pod from a file
}

// NewReport returns a report without faults in the words of a release, 36 for Kubernetes 1.36.
// With static set, a kubelet reads the Pod from a file.
func NewReport(minor int, static bool) Report { return Report{minor: minor, static: static} }

// Minor returns the release whose words are used: 36 for Kubernetes 1.36.
func (r *Report) Minor() int { return r.minor }

// Static reports whether a kubelet reads the Pod from a file.
func (r *Report) Static() bool { return r.static }

// Count returns how many faults were added, those included that are not kept.
func (r *Report) Count() int {
	l := &r.Faults
	return l.others.kept + l.others.more + l.words.kept + l.words.more
}

// Renumber makes the messages of the faults after the first n speak of to where they speak of from,
// the beginning of their paths: Kubernetes counts some lists otherwise than the manifest.
func (r *Report) Renumber(n int, from, to string) {
	kept := r.Faults.kept
	for i := min(n, len(kept)); i < len(kept); i++ {
		if rest, found := strings.CutPrefix(kept[i].Message, from); found {
			kept[i].Message = to + rest
		}
	}
}

// Full reports whether faults whose path ends so will only be counted: the rest of the path need
// not be put together.
func (r *Report) Full(end string) bool { return r.Faults.Full(end) }

// Required, Forbidden, Invalid, Duplicate and NotFound add a fault of that kind. A value is given
// as Kubernetes prints it; see [Quoted], [Report.Word].
func (r *Report) Required(path, detail string) { r.Add(path, TypeRequired, CodeRequired, "", detail) }

// Forbidden is like Required.
func (r *Report) Forbidden(path, detail string) {
	r.Add(path, TypeForbidden, CodeForbidden, "", detail)
}

// Invalid is like Required.
func (r *Report) Invalid(path, value, detail string) {
	r.Add(path, TypeInvalid, CodeInvalid, value, detail)
}

// Unworded adds the fault of a value whose text in Kubernetes is never the same.
func (r *Report) Unworded(path, detail string) {
	r.Faults.Add(FieldError{Path: path, Type: TypeInvalid, Code: CodeInvalid, Detail: detail})
}

// Duplicate is like Required.
func (r *Report) Duplicate(path, value string) {
	r.Add(path, TypeDuplicate, CodeDuplicate, value, "")
}

// NotFound is like Required. detail is "" most of the time.
func (r *Report) NotFound(path, value, detail string) {
	r.Add(path, TypeNotFound, CodeNotFound, value, detail)
}

// TooLong adds the fault of a text of more than most bytes.
func (r *Report) TooLong(path string, most int) {
	r.Add(path, TypeTooLong, CodeTooLong, "", "may not be more than "+strconv.Itoa(most)+" bytes")
}

// Unsupported adds the fault of a value, as Kubernetes prints it, that is not one of the words of
// supported, which has a space between them.
func (r *Report) Unsupported(path, value, supported string) {
	if !r.Faults.Skip(path, CodeUnsupported) {
		r.UnsupportedText(path, value, SplitWords(supported)...)
	}
}

// UnsupportedText is [Report.Unsupported] with the words as a list.
func (r *Report) UnsupportedText(path, value string, supported ...string) {
	list := make([]string, len(supported))
	for i, s := range supported {
		list[i] = strconv.Quote(s)
	}
	r.Add(path, TypeUnsupported, CodeUnsupported, value, "supported values: "+strings.Join(list, ", "))
	r.Faults.Last().Allowed = slices.Clone(supported)
}

// Omitted is no value: Kubernetes then prints the type of the fault alone.
const Omitted = "\x00"

// Add composes the text of a fault: path, type, the value where this type of fault has one, the
// detail.
//
// Source: Error.ErrorBody in k8s.io/apimachinery v0.36, pkg/util/validation/field/errors.go.
func (r *Report) Add(path string, t FaultType, code FaultCode, value, detail string) {
	if r.Faults.Skip(path, code) {
		return
	}
	message := path + ": " + string(t)
	switch {
	case t == TypeRequired, t == TypeForbidden, t == TypeTooLong, value == Omitted:
	default:
		message += ": " + value
	}
	if detail != "" {
		message += ": " + detail
	}
	r.Faults.Add(FieldError{Path: path, Type: t, Code: code, Detail: detail, Message: message})
}

// Quoted returns a plain string as Kubernetes prints it, cut after [MaxQuotedBytes].
//
// Differs from Kubernetes: it repeats a value however long it is.
func Quoted(s string) string {
	s, more := Bounded(s)
	return strconv.Quote(s) + more
}

// Word returns the value of an enumeration as Kubernetes prints it, cut after [MaxQuotedBytes]. Its
// type is not plain string, therefore it appears as JSON from 1.34 on and in Go's syntax before.
//
// Source: Error.ErrorBody in k8s.io/apimachinery v0.33 and v0.34,
// pkg/util/validation/field/errors.go.
func (r *Report) Word(s string) string {
	if r.minor < 34 {
		return Quoted(s)
	}
	s, more := Bounded(s)
	return WholeJSONText(s) + more
}

// ResourceName returns the name of a resource as Kubernetes prints it: until 1.33 its own method
// did so, without quotes.
func (r *Report) ResourceName(s string) string {
	if r.minor < 34 {
		s, more := Bounded(s)
		return s + more
	}
	return r.Word(s)
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

// Bounded cuts s after [MaxQuotedBytes]; more reports that by an ellipsis.
func Bounded(s string) (part, more string) {
	if len(s) <= MaxQuotedBytes {
		return s, ""
	}
	cut := MaxQuotedBytes
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut], "…"
}

// WholeJSONText returns s, valid UTF-8, as encoding/json writes it.
func WholeJSONText(s string) string {
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

// SplitWords splits a text at its spaces.
func SplitWords(s string) (list []string) {
	for s != "" {
		var w string
		w, s, _ = strings.Cut(s, " ")
		list = append(list, w)
	}
	return list
}

// HasWord reports whether word is one of those that list has between spaces.
func HasWord(list, word string) bool {
	for list != "" {
		var w string
		if w, list, _ = strings.Cut(list, " "); w == word {
			return true
		}
	}
	return false
}
