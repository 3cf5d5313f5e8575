package schema

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/manifest"
)

// The codes of faults that reading a text finds. Codes are stable; the sentences next to them are
// not.
const (
	CodeBadUTF8          policy.FaultCode = "bad_utf8"          // a byte that is not UTF-8
	CodeUTF16            policy.FaultCode = "utf16"             // a text in UTF-16 or UTF-32
	CodeControlCharacter policy.FaultCode = "control_character" // YAML forbids it, even in quotes
	CodeSyntax           policy.FaultCode = "syntax"            // not YAML
	CodeJSONSyntax       policy.FaultCode = "json_syntax"       // not JSON
	CodeTabIndent        policy.FaultCode = "tab_indent"        // YAML indents with spaces only
	CodeSeparator        policy.FaultCode = "separator"         // text after "---", which Kubernetes refuses
	CodeAfterEnd         policy.FaultCode = "after_end"         // text after "...", which Kubernetes ignores
	CodeNoDocument       policy.FaultCode = "no_document"       // nothing but comments and separators
	CodeDuplicateKey     policy.FaultCode = "duplicate_key"     // the key is there twice, merged mappings included
	CodeUnsupportedKey   policy.FaultCode = "unsupported_key"   // null, a list or a mapping as key
	CodeUnsupportedTag   policy.FaultCode = "unsupported_tag"   // a tag where it changes how a text is read
	CodeBadMerge         policy.FaultCode = "bad_merge"         // "<<" without a mapping
	CodeSelfReference    policy.FaultCode = "self_reference"    // an anchor whose value contains its own alias
	CodeNotFinite        policy.FaultCode = "not_finite"        // .inf and .nan, which JSON cannot say

	CodeLimitBodyBytes     policy.FaultCode = "limit.body_bytes"
	CodeLimitDocumentBytes policy.FaultCode = "limit.document_bytes"
	CodeLimitDocuments     policy.FaultCode = "limit.documents"
	CodeLimitNodes         policy.FaultCode = "limit.nodes"
	CodeLimitDepth         policy.FaultCode = "limit.depth"
	CodeLimitKeys          policy.FaultCode = "limit.keys"
	CodeLimitAliases       policy.FaultCode = "limit.aliases"
	CodeLimitExpandedBytes policy.FaultCode = "limit.expanded_bytes"
	CodeLimitScalarBytes   policy.FaultCode = "limit.scalar_bytes"
	CodeLimitExponent      policy.FaultCode = "limit.number_exponent"
	CodeLimitNumberBytes   policy.FaultCode = "limit.number_bytes"
	CodeLimitRequestBytes  policy.FaultCode = "limit.request_bytes"
)

// The codes of faults in how documents make up a request.
const (
	CodeNotAnObject        policy.FaultCode = "not_an_object"       // a document that is a text, a number or a list
	CodeSeveralManifests   policy.FaultCode = "several_manifests"   // one operation takes one manifest
	CodeSeveralRequests    policy.FaultCode = "several_requests"    // two Scenarios
	CodeSeveralKubelets    policy.FaultCode = "several_kubelets"    // two KubeletConfigurations
	CodeConflict           policy.FaultCode = "conflict"            // two places set the same thing
	CodeUnsupportedVersion policy.FaultCode = "unsupported_version" // an apiVersion that is not read here
	CodeEmptyList          policy.FaultCode = "empty_list"          // a List without items
)

// The codes of notes: what YAML 1.1 makes of a plain scalar, and a person might not expect, and
// what is skipped.
const (
	NoteBoolean policy.FaultCode = "reads_as_boolean" // no, yes, on, off, y, n
	NoteNumber  policy.FaultCode = "reads_as_number"  // 012, 0x2A, 1_000, 1.30
	NoteText    policy.FaultCode = "reads_as_text"    // 1e999, 09:30 does not count
	NoteKey     policy.FaultCode = "reads_as_key"     // on: becomes "true":
	NoteBinary  policy.FaultCode = "reads_as_binary"  // !!binary is decoded
	NoteNotRead policy.FaultCode = "not_read"         // an object without Pods, see [Others]
)

// Fault is something that is wrong with a text, or a note about it.
type Fault struct {
	// Path is the field path: from the manifest's root for a place in a manifest, else from the
	// request's. A longer one than MaxQuotedBytes ends in "…". "" when the fault has no such place.
	Path    string
	Code    policy.FaultCode
	Detail  string   // for people; may change in any release
	Allowed []string // what could be there instead, where that can be listed
	// Line and Column count from 1, the column in Unicode code points; lines end with a line feed.
	// Both are 0 when the fault has no place in a text.
	Line, Column int
	// Offset is that place in bytes from the beginning of the text, a byte order mark included.
	Offset int
	// Source is the name that was given to [DecodeNamed]. It never goes into an answer.
	Source string
}

func (f Fault) String() string {
	s := f.Detail
	if f.Path != "" {
		s = f.Path + ": " + s
	}
	if f.Line > 0 {
		s = strconv.Itoa(f.Line) + ":" + strconv.Itoa(f.Column) + ": " + s
	}
	if f.Source != "" {
		s = f.Source + ":" + s
	}
	return s
}

// Faults is the error of this package: what is wrong, sorted by place and then by path, at most
// MaxFaults of them and one more with the code too_many_faults that says how many there are
// besides.
type Faults []Fault

// Error returns the first fault and how many follow.
func (f Faults) Error() string {
	switch len(f) {
	case 0:
		return "no fault"
	case 1:
		return f[0].String()
	}
	if last := f[len(f)-1]; last.Code == policy.CodeTooManyFaults {
		return f[0].String() + " (and more than " + strconv.Itoa(len(f)-2) + " further faults)"
	}
	return f[0].String() + " (further faults: " + strconv.Itoa(len(f)-1) + ")"
}

// sortFaults puts faults of the same text in order. Faults without a place come first.
func sortFaults(list []Fault) {
	slices.SortStableFunc(list, func(a, b Fault) int {
		return cmp.Or(
			cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column),
			strings.Compare(a.Path, b.Path), strings.Compare(string(a.Code), string(b.Code)), strings.Compare(a.Detail, b.Detail))
	})
}

// collected holds faults while they are found. Those beyond MaxFaults are only counted.
type collected struct {
	list []Fault
	more int
}

func (c *collected) add(f Fault) {
	if len(c.list) == MaxFaults {
		c.more++
		return
	}
	c.list = append(c.list, f)
}

// full reports whether another fault would only be counted, and counts it then: finding its place
// can be spared.
func (c *collected) full() bool {
	if len(c.list) < MaxFaults {
		return false
	}
	c.more++
	return true
}

func (c *collected) any() bool { return len(c.list) > 0 }

// sorted returns what was collected about one text in order; nil when nothing was.
func (c *collected) sorted() Faults {
	sortFaults(c.list)
	return c.unsorted()
}

// unsorted returns what was collected as it is.
func (c *collected) unsorted() Faults {
	if c.more == 0 {
		return c.list
	}
	return append(c.list[:len(c.list):len(c.list)], tooMany(c.more))
}

func tooMany(n int) Fault {
	return Fault{Code: policy.CodeTooManyFaults, Detail: "and " + strconv.Itoa(n) + " more"}
}

// codes says which error of an operation a fault of a text is, and which limit it names.
var codes = map[policy.FaultCode]struct {
	code  policy.ErrorCode
	limit string
}{
	CodeBadUTF8:             {policy.BadUTF8, ""},
	CodeUTF16:               {policy.BadUTF8, ""},
	CodeJSONSyntax:          {policy.BadJSON, ""},
	CodeNoDocument:          {policy.EventInvalid, ""},
	CodeNotAnObject:         {policy.EventInvalid, ""},
	CodeSeveralManifests:    {policy.EventInvalid, ""},
	CodeSeveralRequests:     {policy.EventInvalid, ""},
	CodeSeveralKubelets:     {policy.EventInvalid, ""},
	CodeConflict:            {policy.EventInvalid, ""},
	CodeUnsupportedVersion:  {policy.EventInvalid, ""},
	CodeEmptyList:           {policy.EventInvalid, ""},
	policy.CodeUnknownKind:  {policy.ManifestInvalid, ""},
	policy.CodeRequired:     {policy.EventInvalid, ""},
	policy.CodeWrongType:    {policy.EventInvalid, ""},
	policy.CodeUnknownField: {policy.EventInvalid, ""},
	CodeLimitBodyBytes:      {policy.LimitExceeded, "bodyBytes"},
	CodeLimitDocumentBytes:  {policy.LimitExceeded, "documentBytes"},
	CodeLimitDocuments:      {policy.LimitExceeded, "documents"},
	CodeLimitNodes:          {policy.LimitExceeded, "nodes"},
	CodeLimitDepth:          {policy.LimitExceeded, manifest.LimitDepth},
	CodeLimitKeys:           {policy.LimitExceeded, "keys"},
	CodeLimitAliases:        {policy.LimitExceeded, "aliases"},
	CodeLimitExpandedBytes:  {policy.LimitExceeded, "expandedBytes"},
	CodeLimitScalarBytes:    {policy.LimitExceeded, "scalarBytes"},
	CodeLimitExponent:       {policy.LimitExceeded, manifest.LimitNumberExponent},
	CodeLimitNumberBytes:    {policy.LimitExceeded, manifest.LimitNumberBytes},
	CodeLimitRequestBytes:   {policy.LimitExceeded, manifest.LimitRequestBytes},
}

// BadYAML is the error code of a text that Kubernetes could not turn into JSON. Only fronts that
// read YAML use it, so it has no number in the ABI.
const BadYAML policy.ErrorCode = "BAD_YAML"

// ErrorCode returns the error that the faults amount to, as a failed operation would name it: that
// of the first fault. It is "" for no faults.
func (f Faults) ErrorCode() policy.ErrorCode {
	if len(f) == 0 {
		return ""
	}
	if e, listed := codes[f[0].Code]; listed {
		return e.code
	}
	return BadYAML
}

// Payload returns f as the error payload of an operation:
// {"error":{"code":…,"num":…,"message":…,…,"faults":[…]}}, the members in the order that the core
// uses. num is 0 for [BadYAML]. It has at most MaxPayloadBytes; faults that do not fit are counted
// in the last one.
func (f Faults) Payload() []byte {
	if len(f) == 0 {
		return nil
	}
	var w manifest.Writer
	w.Object()
	w.Key("error")
	w.Object()
	code := f.ErrorCode()
	w.Key("code")
	w.String(string(code))
	w.Key("num")
	w.Int(int64(code.Number()))
	w.Key("message")
	w.String(withoutSource(f).Error())
	w.Key("path")
	w.String(f[0].Path)
	if f[0].Line > 0 {
		w.Key("offset")
		w.Int(int64(f[0].Offset))
		writePosition(&w, f[0])
	}
	if limit := codes[f[0].Code].limit; limit != "" {
		w.Key("limit")
		w.String(limit)
	}
	w.Key("faults")
	w.Array()
	for i, fault := range f {
		if left := len(f) - i; w.Len() > MaxPayloadBytes-4096 && left > 1 { // a fault is shorter than 4 KiB
			writeFault(&w, tooMany(left))
			break
		}
		writeFault(&w, fault)
	}
	w.End()
	w.End()
	w.End()
	return w.Bytes()
}

// withoutSource returns the first fault, and the number of the others, without the name of the
// file: an answer must be the same wherever the text came from.
func withoutSource(f Faults) Faults {
	f = slices.Clone(f)
	f[0].Source = ""
	return f
}

func writeFault(w *manifest.Writer, f Fault) {
	w.Object()
	w.Key("path")
	w.String(f.Path)
	w.Key("code")
	w.String(string(f.Code))
	if f.Detail != "" {
		w.Key("detail")
		w.String(f.Detail)
	}
	if len(f.Allowed) > 0 {
		w.Key("allowed")
		w.Array()
		for _, s := range f.Allowed {
			w.String(s)
		}
		w.End()
	}
	if f.Line > 0 {
		writePosition(w, f)
	}
	w.End()
}

func writePosition(w *manifest.Writer, f Fault) {
	w.Key("line")
	w.Int(int64(f.Line))
	w.Key("column")
	w.Int(int64(f.Column))
}

// cut returns the beginning of s, at most n bytes long and followed by "…" if something is missing.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// quoted returns the user's text as it is in a detail: in quotes, control characters escaped,
// at most MaxQuotedBytes of it.
func quoted(s string) string {
	const marks = 8 // the two quotes and "…", with room
	most := MaxQuotedBytes - marks
	if len(s) > most {
		s = cut(s, most)
	}
	q := strconv.Quote(s)
	if len(q) <= MaxQuotedBytes {
		return q
	}
	for len(strconv.Quote(s)) > MaxQuotedBytes { // escapes made it longer
		s = cut(s, len(s)*3/4)
	}
	return strconv.Quote(s)
}
