package manifest

import (
	"math/bits"
	"strconv"
	"strings"

	"github.com/podfate/podfate/policy"
)

// tally counts faults of one kind up to the limit, and beyond it.
type tally struct {
	listed, more int
	moreAt       int // offset of the first that is not listed
}

// full counts a fault at an offset and reports whether it is one too many.
func (t *tally) full(offset int) bool {
	if t.listed < policy.MaxFaults {
		t.listed++
		return false
	}
	if t.more == 0 {
		t.moreAt = offset
	}
	t.more++
	return true
}

// rest is the entry that stands for the faults beyond the limit.
func (t *tally) rest(strict bool) Fault {
	return Fault{Offset: t.moreAt, Strict: strict, FieldError: policy.TooManyFaults(t.more)}
}

func (c *checker) checked() Checked {
	if c.faults.more > 0 {
		c.all = append(c.all, c.faults.rest(false))
	}
	if c.strict.more > 0 {
		c.all = append(c.all, c.strict.rest(true))
	}
	out := Checked{All: c.all}
	for _, f := range c.all {
		if f.Strict {
			out.Strict = append(out.Strict, f.FieldError)
		} else {
			out.Faults = append(out.Faults, f.FieldError)
		}
	}
	return out
}

// fault notes that v cannot be decoded. want completes "must be".
func (c *checker) fault(v Value, code policy.FaultCode, r rank, want, message string) {
	if c.faults.full(v.Offset()) {
		return
	}
	if c.within != "" {
		message = ""
	}
	detail := "must be " + want + ", found " + show(v)
	if v.Kind() == String && strings.HasPrefix(v.Str(), "${") {
		detail += "; parameters are to be filled in first, as envsubst and oc process do"
	}
	c.all = append(c.all, Fault{
		FieldError: policy.FieldError{
			Path: pathOf(c.way(v)), Code: code, Detail: detail, Message: message, Proposal: c.within,
		},
		Offset: v.Offset(),
		rank:   r,
	})
}

// show returns a value as a sentence has it: a list and an object by what they are.
func show(v Value) string {
	switch v.Kind() {
	case Array:
		return "a list"
	case Object:
		return "an object"
	case String:
		return quote(v.Str())
	}
	return v.lexeme()
}

// wrongKind notes that v is not of Go type typ, in words not want.
func (c *checker) wrongKind(v Value, typ string, r rank, want string) {
	c.fault(v, policy.CodeWrongType, r, want, c.cannotUnmarshal(v, v.Kind().String(), typ))
}

// wrongNumber notes that Go type typ cannot hold the number v.
func (c *checker) wrongNumber(v Value, code policy.FaultCode, typ string, r rank, want string) {
	c.fault(v, code, r, want, c.cannotUnmarshal(v, "number "+v.lexeme(), typ))
}

// cannotUnmarshal returns the decoder's error for v, "" if the fault will not be listed: a hundred
// thousand of them should leave no garbage.
func (c *checker) cannotUnmarshal(v Value, found, typ string) string {
	if c.faults.listed == policy.MaxFaults {
		return ""
	}
	b := append([]byte("json: cannot unmarshal "), found...)
	owner, fields := c.fields(v)
	b = append(append(b, " into Go struct field "...), owner...)
	for _, field := range fields {
		b = append(append(b, '.'), field...)
	}
	return string(append(append(b, " of type "...), typ...))
}

// strictFault notes what strict decoding says against member m. detail is called only if the fault
// is to be listed.
func (c *checker) strictFault(m Value, code policy.FaultCode, message string, detail func(*policy.FieldError)) {
	if c.strict.listed == policy.MaxFaults {
		c.strict.full(m.KeyOffset())
		return
	}
	way := c.way(m)
	f := Fault{Offset: m.KeyOffset(), Strict: true, rank: extra, FieldError: policy.FieldError{
		Path: pathOf(way), Code: code, Message: strictPrefix + message + " " + strconv.Quote(plainPathOf(way)),
	}}
	for _, other := range c.all {
		if other.Message == f.Message { // Kubernetes prints equal errors once
			return
		}
	}
	c.strict.full(f.Offset)
	if detail(&f.FieldError); c.within != "" {
		f.Message, f.Proposal = "", c.within
	}
	c.all = append(c.all, f)
}

// duplicate notes a member that is in its object for the second time. Kubernetes says nothing
// of a third.
func (c *checker) duplicate(r repeat) {
	if r.again {
		return
	}
	c.strictFault(r.member, policy.CodeDuplicateField, "duplicate field", func(f *policy.FieldError) {
		f.Detail = "stands in " + position(r.member) + " for the second time, first in " + position(r.first)
	})
}

// position returns the place of a member's name in words.
func position(m Value) string {
	line, column := Position(m.doc.src, m.KeyOffset())
	return "line " + strconv.Itoa(line) + ", column " + strconv.Itoa(column)
}

const (
	// allFields is the size of a struct up to which a fault lists all its fields.
	allFields = 12
	// nearestFields is the number of fields of a larger struct that a fault lists.
	nearestFields = 5
)

// unknown notes that struct t has no field of the name of m; others are the releases that have it.
func (c *checker) unknown(m Value, t typeIndex, others uint8) {
	c.strictFault(m, policy.CodeUnknownField, "unknown field", func(f *policy.FieldError) {
		name := m.Key()
		names := t.names(c.bit)
		f.Allowed = names
		if len(names) > allFields {
			f.Allowed = nearest(names, name, nearestFields)
		}
		f.Detail = quote(name) + " is not a field of " + t.bareName()
		if x, ok := policy.ProposedField(t.bareName(), name); ok {
			f.Proposal = policy.ProposalList()[x].Name
		}
		switch {
		case others != 0:
			f.Detail += " in this release; " + c.releases(others)
		case draftName(t, name) != "":
			f.Detail += "; drafts of KEP-5307 had it, the field is " + draftName(t, name) + ", directly in the rule"
		case otherCase(names, name) != "":
			f.Detail += "; names are case-sensitive: " + otherCase(names, name)
		case c.home(t, name) != "":
			f.Detail += ", but of " + c.home(t, name)
			if len(names) > allFields { // those that are spelt alike are not meant
				f.Allowed = nil
			}
		case len(f.Allowed) == len(names):
			f.Detail += "; it has " + strconv.Itoa(len(names))
		case len(f.Allowed) > 0:
			f.Detail += "; the nearest of its " + strconv.Itoa(len(names)) + " are listed"
		default:
			f.Detail += "; none of its " + strconv.Itoa(len(names)) + " fields is similar"
		}
	})
}

// releases says in words which releases have a field that this one does not have.
func (c *checker) releases(others uint8) string {
	first := policy.OldestMinor + bits.TrailingZeros8(others)
	last := policy.OldestMinor + bits.Len8(others) - 1
	if others > c.bit {
		return "it exists since Kubernetes " + policy.VersionName(first)
	}
	return "it existed until Kubernetes " + policy.VersionName(last)
}

// draftName returns the field that a name of the drafts of container restart rules became, "" for
// other names.
func draftName(t typeIndex, name string) string {
	if t.bareName() != "ContainerRestartRule" {
		return ""
	}
	switch name {
	case "when", "onExit", "onExitCodes":
		return "exitCodes"
	}
	return ""
}

// home returns the struct whose field name is, "" if it is of none whose fields are often written a
// level too high or too low: restartPolicy in the spec of a Job, backoffLimit in that of its Pods.
func (c *checker) home(t typeIndex, name string) string {
	for i := range typeRows {
		if typ := typeIndex(i); typ != t && typeRows[i].kind == structType {
			switch home := typ.bareName(); home {
			case "PodSpec", "JobSpec", "Container":
				if otherCase(typ.names(c.bit), name) == name {
					return home
				}
			}
		}
	}
	return ""
}

// otherCase returns the name that differs from name in letter case only, "" when there is none.
func otherCase(names []string, name string) string {
	for _, n := range names {
		if policy.EqualFold(n, name) {
			return n
		}
	}
	return ""
}
