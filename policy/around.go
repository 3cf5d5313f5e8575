package policy

// ObjectPart is a part of the checks of an object that is not about the spec of its Pod. Parts come
// in this order, with the checks of the spec between PartTemplate and PartProfiles.
type ObjectPart uint8

// The parts.
const (
	PartMetadata ObjectPart = iota // of the object itself
	PartHead                       // what the spec has before its template is looked at
	PartTemplate                   // metadata of the template
	PartProfiles                   // annotations of the Pod or the template that repeat what its spec says
	PartTail                       // what comes after the template
)

// Around checks the fields of an object around the spec of its Pod, one part after the other.
type Around interface {
	// Check adds to r what the API server has against part p. After PartHead it returns false if
	// the API server then does not look at the template.
	Check(r *Report, p ObjectPart) bool
}

// Drawn takes the message from the fault that was added last: the API server prints something there
// that is drawn, or an address, so that the text is never the same.
func (r *Report) Drawn() {
	if f := r.Faults.Last(); f.Message != "" {
		f.Message, f.Detail = "", f.Detail+"; part of the text of Kubernetes is random"
	}
}

// JSONText returns s, valid UTF-8, as encoding/json writes it, cut after [MaxQuotedBytes].
func JSONText(s string) string {
	s, more := Bounded(s)
	return WholeJSONText(s) + more
}
