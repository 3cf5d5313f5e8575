package manifest

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/podfate/podfate/policy"
)

// Checked is what [CheckFields] found, all of it in document order.
//
// Kubernetes itself stops at the first fault of type, and names unknown and duplicate fields only
// when there is none. Each fault's Message is what it would say if the fault were alone.
type Checked struct {
	Faults []policy.FieldError // of type, range and format: the manifest cannot be decoded
	Strict []policy.FieldError // unknown and duplicate fields: refused, shown or ignored, as fieldValidation says
	All    []Fault             // both
}

// Fault is a fault with its place in the text.
type Fault struct {
	policy.FieldError
	Offset int  // of the name of an unknown or repeated field, else of the value
	Strict bool // it is in Checked.Strict
	rank   rank
}

// rank orders the faults of one manifest by what Kubernetes does about them: it prints the first of
// the lowest rank.
type rank uint8

const (
	unreadable rank = iota // apiVersion and kind cannot be found out
	ending                 // a type that reads its own JSON refuses it, which ends decoding at once
	kept                   // a value of a wrong type: the first is remembered, and decoding goes on
	extra                  // of strict decoding: all are printed if there is nothing else
)

// Message returns the one error that Kubernetes prints for the manifest, with strict decoding
// (kubectl --validate=strict) or without; "" when it decodes it.
func (c Checked) Message(strict bool) string {
	message, lowest := "", extra
	for _, f := range c.All {
		switch {
		case f.Code == policy.CodeTooManyFaults:
		case f.rank < lowest:
			message, lowest = f.FieldError.Message, f.rank
		case f.rank == extra && lowest == extra && strict:
			if message == "" {
				message = f.FieldError.Message
			} else {
				message += ", " + strings.TrimPrefix(f.FieldError.Message, strictPrefix)
			}
		}
	}
	return message
}

// strictPrefix begins what strict decoding prints.
const strictPrefix = "strict decoding error: "

// CheckFields compares v with the Go types of kind (one of [Kinds], or KubeletConfiguration) in
// Kubernetes 1.minor, as the API server's decoder does: names must match in letter case; null is as
// good as no value; the second of two members of the same name is a fault of strict decoding, and
// so is a field that this release does not have. What a field means is not checked here. An unknown
// kind gives no faults.
//
// Paths begin at v. Faults and Strict have at most policy.MaxFaults entries each, and then one more
// of policy.CodeTooManyFaults that says how many were left out. A name or text longer than
// policy.MaxQuotedBytes is cut, which an ellipsis shows.
//
// Source: UnmarshalStrict in sigs.k8s.io/json, and Decode in k8s.io/apimachinery,
// pkg/runtime/serializer/json/json.go, in the versions of Kubernetes v1.33.5, v1.34.1, v1.35.4,
// v1.36.3 and v1.37.1.
func CheckFields(v Value, kind string, minor int) Checked {
	return CheckProposed(v, kind, policy.Features{Minor: minor})
}

// CheckProposed is [CheckFields] for a cluster with proposals: their fields are checked as well.
// Faults in them name the proposal and have no message, since no release has one.
func CheckProposed(v Value, kind string, f policy.Features) Checked {
	root, known := rootType(kind)
	if !known || !v.Exists() {
		return Checked{}
	}
	c := checker{bit: minorBit(f.Minor), embeds: f.Minor >= 35, top: v, root: root, proposals: f.Proposals}
	if v.Kind() != Object && v.Kind() != Null {
		c.fault(v, policy.CodeWrongType, unreadable, "an object", notAnObject+v.Kind().String()+
			` into Go value of type struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }`)
	}
	c.value(v, root)
	return c.checked()
}

// notAnObject begins what Kubernetes says when it cannot find out apiVersion and kind.
const notAnObject = "couldn't get version/kind; json parse error: json: cannot unmarshal "

// checker walks through a manifest and the types next to it.
type checker struct {
	bit    uint8 // of the release in fieldRow.minors
	embeds bool  // type errors name embedded structs: since the decoder of 1.35
	top    Value
	root   typeIndex // of top

	found Value // the last value whose way was asked for
	steps []wayStep

	all            []Fault
	faults, strict tally

	proposals policy.Proposals
	within    string // the proposal whose field is looked at, "" for none
}

// wayStep leads from a value to one below it.
type wayStep struct {
	name  string // of a member
	index int    // of an element, -1 for a member
	// owner is the struct type that has the member as a field; noOwner for an element and the key
	// of a map.
	owner int
	embed nameOffset // of the field
}

const noOwner = -1

// way returns how v is reached from the top. It is found out only for a fault: most manifests have
// none.
func (c *checker) way(v Value) []wayStep {
	if c.found == v { // a message and a path
		return c.steps
	}
	c.found, c.steps = v, c.steps[:0]
	at, t := c.top, c.root
	for at.index != v.index {
		child, i := at.First(), 0
		for next := child.Next(); next.Exists() && next.index <= v.index; next = child.Next() {
			child, i = next, i+1
		}
		step := wayStep{index: i, owner: noOwner}
		row := typeRows[t]
		if at.Kind() == Object {
			step.name, step.index = child.Key(), -1
		}
		if row.kind != structType {
			t = typeIndex(row.elem)
		} else if field, _ := t.field(v.doc, child.node(), c.bit); field != nil {
			step.owner, step.embed, t = int(t), nameOffset(field.embed), field.typ
		}
		c.steps = append(c.steps, step)
		at = child
	}
	return c.steps
}

// pathOf returns the path at the end of a way as Podfate writes it.
func pathOf(way []wayStep) string {
	var b []byte
	for _, s := range way {
		if s.index >= 0 {
			b = append(strconv.AppendInt(append(b, '['), int64(s.index), 10), ']')
		} else {
			b = appendName(b, cut(s.name))
		}
	}
	return string(b)
}

// plainPathOf returns the same as strict errors write it: names as they are, joined by dots.
func plainPathOf(way []wayStep) string {
	var b []byte
	for _, s := range way {
		if s.index >= 0 {
			b = append(strconv.AppendInt(append(b, '['), int64(s.index), 10), ']')
			continue
		}
		if len(b) > 0 {
			b = append(b, '.')
		}
		b = append(b, cut(s.name)...)
	}
	return string(b)
}

// fields returns the way to v as type errors write it, fields of structs only, and the struct that
// the last one belongs to.
func (c *checker) fields(v Value) (owner string, names []string) {
	for _, s := range c.way(v) {
		if s.owner == noOwner {
			continue
		}
		if c.embeds && s.embed != 0 {
			names = append(names, s.embed.String())
		}
		names = append(names, s.name)
		owner = typeIndex(s.owner).bareName()
	}
	return owner, names
}

// value checks v against type t.
func (c *checker) value(v Value, t typeIndex) {
	row := &typeRows[t]
	null := v.Kind() == Null
	switch row.kind {
	case structType:
		c.object(v, t)
	case sliceType:
		c.list(v, t)
	case mapType:
		c.mapping(v, t)
	case stringType:
		if v.Kind() != String && !null {
			c.wrongKind(v, t.String(), kept, "a string")
		}
	case boolType:
		if v.Kind() != Bool && !null {
			c.wrongKind(v, t.String(), kept, "true or false")
		}
	case int32Type, int64Type, intType, uint32Type:
		c.number(v, t, row.kind, kept, "an integer")
	case float64Type:
		if v.Kind() != Number && !null {
			c.wrongKind(v, t.String(), kept, "a number")
		} else if !null && overflowsFloat64(v.lexeme()) {
			c.wrongNumber(v, policy.CodeOutOfRange, t.String(), kept, "at most 1.7976931348623157e308")
		}
	case timeType:
		c.text(v, "a time such as 2026-01-31T12:00:00Z", timeFault)
	case durationType:
		if null {
			c.fault(v, policy.CodeBadFormat, ending, aDuration, `time: invalid duration ""`)
			return
		}
		c.text(v, aDuration, durationFault)
	case durationPointerType:
		c.text(v, aDuration, durationFault)
	case quantityType:
		c.quantity(v)
	case intOrStringType:
		if v.Kind() != String {
			c.number(v, t, int32Type, ending, "an integer or a string")
		}
	case flushFrequencyType:
		c.flushFrequency(v)
	}
}

const aDuration = "a duration such as 1m30s"

func durationFault(text string) string {
	_, message := policy.ParseDuration(text)
	return message
}

func (c *checker) object(v Value, t typeIndex) {
	if v.Kind() != Object {
		if v.Kind() != Null && t != c.root {
			c.wrongKind(v, t.String(), kept, "an object")
		}
		return
	}
	repeats := v.repeats()
	for m := v.First(); m.Exists(); m = m.Next() {
		var repeated *repeat
		if len(repeats) > 0 && repeats[0].member == m {
			repeated, repeats = &repeats[0], repeats[1:]
		}
		n := m.node()
		field, others := t.field(m.doc, n, c.bit)
		switch {
		case field == nil:
			if repeated != nil && c.proposals != 0 {
				c.duplicate(*repeated)
			} else if repeated == nil && !c.proposedBy(m, t) { // Kubernetes names an unknown field once
				c.unknown(m, t, others)
			}
			continue
		case repeated != nil:
			c.duplicate(*repeated)
		}
		switch kind := typeRows[field.typ].kind; {
		case n.kind == String && kind == stringType: // most fields; nothing can be wrong with them
		case t == c.root && (field.text() == "apiVersion" || field.text() == "kind"):
			c.typeMeta(m, field.text())
		default:
			c.value(m, field.typ)
		}
	}
}

// typeMeta checks apiVersion or kind, which Kubernetes reads before everything else to find out
// what the text is.
func (c *checker) typeMeta(v Value, name string) {
	if v.Kind() != String && v.Kind() != Null {
		c.fault(v, policy.CodeWrongType, unreadable, "a string",
			notAnObject+v.Kind().String()+" into Go struct field ."+name+" of type string")
	}
}

func (c *checker) list(v Value, t typeIndex) {
	if v.Kind() != Array {
		if v.Kind() != Null {
			c.wrongKind(v, t.String(), kept, "a list")
		}
		return
	}
	c.children(v, typeIndex(typeRows[t].elem))
}

func (c *checker) mapping(v Value, t typeIndex) {
	if v.Kind() != Object {
		if v.Kind() != Null {
			c.wrongKind(v, t.String(), kept, "an object")
		}
		return
	}
	repeats := v.repeats()
	if len(repeats) == 0 {
		c.children(v, typeIndex(typeRows[t].elem))
		return
	}
	for m := v.First(); m.Exists(); m = m.Next() {
		if len(repeats) > 0 && repeats[0].member == m {
			c.duplicate(repeats[0])
			repeats = repeats[1:]
		}
		c.value(m, typeIndex(typeRows[t].elem))
	}
}

// children checks all elements or members of v against type t.
func (c *checker) children(v Value, t typeIndex) {
	texts := typeRows[t].kind == stringType
	for m := v.First(); m.Exists(); m = m.Next() {
		if !texts || m.Kind() != String {
			c.value(m, t)
		}
	}
}

// number checks an integer of a kind; t is its type, or one that can also be a text.
func (c *checker) number(v Value, t typeIndex, kind typeKind, r rank, want string) {
	if v.Kind() == Null {
		return
	}
	n, fits := v.Int64()
	low, high, span := int64(-1<<63), int64(1<<63-1), "from -9223372036854775808 to 9223372036854775807"
	switch kind {
	case int32Type:
		low, high, span = -1<<31, 1<<31-1, "from -2147483648 to 2147483647"
	case uint32Type:
		low, high, span = 0, 1<<32-1, "from 0 to 4294967295"
		fits = fits && v.lexeme()[0] != '-' // Go reads no sign into an unsigned number, not even that of -0
	}
	if fits && low <= n && n <= high {
		return
	}
	typ := t.String()
	if typeRows[t].kind == intOrStringType {
		typ = "int32"
	}
	switch {
	case v.Kind() != Number:
		c.wrongKind(v, typ, r, want)
	case !integer(v.lexeme()):
		c.wrongNumber(v, policy.CodeWrongType, typ, r, want+" without fraction and exponent")
	default:
		c.wrongNumber(v, policy.CodeOutOfRange, typ, r, span)
	}
}

// integer reports whether a number is written without fraction and exponent.
func integer(lexeme string) bool {
	for i := range len(lexeme) {
		if lexeme[i] != '-' && !digit(lexeme[i]) {
			return false
		}
	}
	return true
}

// text checks a string that is read by a function; fault returns what that function says against
// it.
func (c *checker) text(v Value, want string, fault func(string) string) {
	switch v.Kind() {
	case Null:
	case String:
		if message := fault(v.Str()); message != "" {
			c.fault(v, policy.CodeBadFormat, ending, want, message)
		}
	default:
		c.wrongKind(v, "string", ending, want)
	}
}

func (c *checker) quantity(v Value) {
	if v.Kind() == Null {
		return
	}
	message := quantityFault(v.lexeme())
	if message == "" {
		return
	}
	code := policy.CodeWrongType
	if v.Kind() == Number || v.Kind() == String {
		code = policy.CodeBadFormat
	}
	c.fault(v, code, ending, "a quantity such as 500m or 4Gi", message)
}

func (c *checker) flushFrequency(v Value) {
	const want = "a duration such as 5s, or a number of nanoseconds"
	found := v.Kind().String()
	switch v.Kind() {
	case Null:
		return
	case String:
		c.text(v, want, durationFault)
		return
	case Number:
		if _, ok := v.Int64(); ok {
			return
		}
		found = "number " + v.lexeme()
	}
	c.fault(v, policy.CodeWrongType, ending, want,
		"invalid duration "+quote(v.lexeme())+": json: cannot unmarshal "+found+" into Go value of type time.Duration")
}

// quote quotes at most policy.MaxQuotedBytes of the user's text.
func quote(s string) string { return strconv.Quote(cut(s)) }

// cut shortens s to policy.MaxQuotedBytes, at the end of a character, and an ellipsis.
func cut(s string) string {
	if len(s) <= policy.MaxQuotedBytes {
		return s
	}
	end := policy.MaxQuotedBytes
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}
