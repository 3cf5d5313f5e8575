package schema

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strconv"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/manifest"
)

// Position returns where the value at path of the request is in the text it comes from: the name
// given to [DecodeNamed], line and column, both from 1. For a value that is missing it is the
// deepest ancestor that is there; for one that comes from [Overrides] line and column are 0.
func (r *Request) Position(path string) (source string, line, column int) {
	root, _ := manifest.Parse(r.json) // absent in a text that is not JSON: then everything is at its beginning
	p, _ := r.place(root.Locate(path).Offset())
	return p.source, p.line, p.column
}

// NamePosition is Position for the name of a member, where a fault about it is; for an element
// it is the element.
func (r *Request) NamePosition(path string) (source string, line, column int) {
	root, _ := manifest.Parse(r.json)
	p, _ := r.place(root.Locate(path).KeyOffset())
	return p.source, p.line, p.column
}

// InManifest turns a path of the manifest, "" for the manifest itself, into one of the request that
// holds it.
func InManifest(path string) string {
	if path == "" || path[0] == '[' {
		return "manifest" + path
	}
	return "manifest." + path
}

// place returns where the value or name at offset of the request comes from; ok is false for what
// no document has.
func (r *Request) place(offset int) (p place, ok bool) {
	i := sort.Search(len(r.spans), func(i int) bool { return r.spans[i].end > offset })
	if i < len(r.spans) && r.spans[i].start <= offset {
		s := r.spans[i]
		return s.doc.place(s.from + offset - s.start), true
	}
	if offset == 0 {
		return r.anchor, true
	}
	if i == len(r.spans) && i > 0 && r.spans[i-1].end == offset { // after the end, where a text breaks off
		s := r.spans[i-1]
		return s.doc.place(s.from + offset - s.start), true
	}
	return place{}, false
}

// Relocate returns an answer of the core to r with its places translated. The core counts lines,
// columns and offsets in the JSON that it was given; the result counts them in the text that r was
// built from. A place that no document has, because it comes from [Overrides], is left out. answer
// is not changed; it is returned itself if there is nothing to translate.
//
// Keys that are set twice in the manifest are warnings of the answer if fieldValidation is Warn, as
// they are of an answer about JSON, in which the core sees them.
//
// The first list of faults gets the order of the text: that of the JSON is by name where a mapping
// was converted. Those of an answer about the API server's checks stay in the order in which it
// makes them, after those of decoding.
//
// Otherwise only the bytes of members "line", "column" and "offset" with a number are touched:
// inside a string of JSON the quotes of these names would be escaped.
func (r *Request) Relocate(answer []byte) []byte { return r.warned(r.relocated(answer)) }

// RelocateExplained is Relocate for explain's refusal of a request that [Request.Explain] made for
// the operation of: its places count what explain puts before the request.
func (r *Request) RelocateExplained(of string, answer []byte) []byte {
	before := len(Explain(of, nil)) - len("}")
	shifted := placeOfError.ReplaceAllFunc(answer, func(place []byte) []byte {
		m := placeOfError.FindSubmatch(place)
		offset, _ := strconv.Atoi(string(m[1]))
		line, _ := strconv.Atoi(string(m[2]))
		column, _ := strconv.Atoi(string(m[3]))
		if offset < before {
			return place
		}
		if line == 1 {
			column -= before
		}
		return fmt.Appendf(nil, `"offset":%d,"line":%d,"column":%d`, offset-before, line, column)
	})
	return r.Relocate(shifted)
}

// placeOfError finds the place of what could not be read at all.
var placeOfError = regexp.MustCompile(`"offset":(\d+),"line":(\d+),"column":(\d+)`)

// warned returns answer with the keys that are set twice in the manifest among its warnings, before
// those of the core, if it has warnings. Together they are at most MaxFaults and one.
func (r *Request) warned(answer []byte) []byte {
	if len(r.repeats) == 0 {
		return answer
	}
	const member = `"warnings":` // an answer has it once; inside a string its quotes would be escaped
	at := bytes.LastIndex(answer, []byte(member+"["))
	if at < 0 {
		return answer
	}
	at += len(member)
	var core []json.RawMessage
	if json.NewDecoder(bytes.NewReader(answer[at:])).Decode(&core) != nil {
		return answer
	}
	var w manifest.Writer
	w.Array()
	for _, f := range r.repeats[:min(len(r.repeats), max(0, MaxFaults+1-len(core)))] {
		writeFault(&w, f)
	}
	w.End()
	list := bytes.TrimSuffix(w.Bytes(), []byte("]"))
	if len(core) > 0 && len(list) > 1 {
		list = append(list, ',')
	}
	return slices.Concat(answer[:at], list, answer[at+1:])
}

func (r *Request) relocated(answer []byte) []byte {
	if r.verbatim || !bytes.Contains(answer, []byte(`"line":`)) && !bytes.Contains(answer, []byte(`"offset":`)) {
		return answer
	}
	in := newLines(r.json)
	answer = r.inOrder(in, r.inWords(in, answer))
	out := make([]byte, 0, len(answer)+64)
	for rest := answer; ; {
		i := nextPlace(rest)
		if i < 0 {
			return append(out, rest...)
		}
		out, rest = append(out, rest[:i]...), rest[i:]
		if bytes.HasSuffix(out, []byte(`"within":{`)) { // counted in a text of the request, wherever that stands
			i = bytes.IndexByte(rest, '}')
			out, rest = append(out, rest[:i]...), rest[i:]
			continue
		}
		p, used := r.translate(in, rest)
		if used == 0 { // another member of that name
			out, rest = append(out, rest[0]), rest[1:]
			continue
		}
		if len(p) > 0 {
			out = append(out, p...)
		} else {
			out = bytes.TrimSuffix(out, []byte(","))
		}
		rest = rest[used:]
		if len(p) == 0 && len(out) > 0 && out[len(out)-1] == '{' {
			rest = bytes.TrimPrefix(rest, []byte(","))
		}
	}
}

// inOrder returns answer with the faults in its first list in the order of the text; in what is no
// error, without those of the API server's checks. Those of different texts stay as they are to
// each other, and so do those that are in none.
func (r *Request) inOrder(in *lines, answer []byte) []byte {
	const member = `"faults":`
	start := bytes.Index(answer, []byte(member+"["))
	if start < 0 {
		return answer
	}
	start += len(member)
	var list []json.RawMessage
	decoder := json.NewDecoder(bytes.NewReader(answer[start:]))
	if decoder.Decode(&list) != nil || len(list) < 2 {
		return answer
	}
	end := start + int(decoder.InputOffset())
	type placed struct {
		place
		text  int // by which the list comes to it
		fault json.RawMessage
	}
	var faults []placed
	texts := map[string]int{}
	isError := bytes.HasPrefix(answer, []byte(`{"error":`))
	for _, fault := range list {
		var at struct {
			Type, Code   string
			Line, Column int
		}
		if json.Unmarshal(fault, &at) != nil || at.Type != "" && !isError || at.Code == string(policy.CodeTooManyFaults) {
			break
		}
		p := placed{fault: fault}
		if offset, ok := in.offset(at.Line, at.Column); ok {
			p.place, _ = r.place(offset)
		}
		if _, known := texts[p.source]; !known {
			texts[p.source] = len(texts)
		}
		p.text = texts[p.source]
		faults = append(faults, p)
	}
	slices.SortStableFunc(faults, func(a, b placed) int {
		return cmp.Or(cmp.Compare(a.text, b.text), cmp.Compare(a.line, b.line), cmp.Compare(a.column, b.column))
	})
	for i := range faults {
		list[i] = faults[i].fault
	}
	out := append(make([]byte, 0, len(answer)), answer[:start]...)
	for i, fault := range list {
		out = append(append(out, "[,"[min(i, 1)]), fault...)
	}
	return append(append(out, ']'), answer[end:]...)
}

// duplicateDetail finds the sentence about a name that is in an object twice: the one sentence
// of the core that has places in it. Inside a string of JSON its quotes would be escaped.
var duplicateDetail = regexp.MustCompile(`"code":"duplicate_field","detail":"[^"\\]*"`)

var placeInWords = regexp.MustCompile(`line (\d+), column (\d+)`)

// inWords returns answer with the places that the core's sentences name translated (R-W5).
func (r *Request) inWords(in *lines, answer []byte) []byte {
	return duplicateDetail.ReplaceAllFunc(answer, func(sentence []byte) []byte {
		return placeInWords.ReplaceAllFunc(sentence, func(words []byte) []byte {
			m := placeInWords.FindSubmatch(words)
			line, _ := strconv.Atoi(string(m[1]))
			column, _ := strconv.Atoi(string(m[2]))
			offset, ok := in.offset(line, column)
			if !ok {
				return words
			}
			if p, ok := r.place(offset); ok && p.line > 0 {
				return []byte("line " + strconv.Itoa(p.line) + ", column " + strconv.Itoa(p.column))
			}
			return words
		})
	})
}

// nextPlace returns the offset of the next member that may be a place, -1 if there is none.
func nextPlace(b []byte) int {
	line, offset := bytes.Index(b, []byte(`"line":`)), bytes.Index(b, []byte(`"offset":`))
	if line < 0 || offset >= 0 && offset < line {
		return offset
	}
	return line
}

// translate returns what takes the place of the first used bytes of b, nothing if no document has
// that place; used is 0 if they are not a place.
func (r *Request) translate(in *lines, b []byte) (replacement []byte, used int) {
	if offset, n := numberMember(b, "offset"); n > 0 {
		p, ok := r.place(offset)
		if !ok {
			return nil, n
		}
		return strconv.AppendInt([]byte(`"offset":`), int64(p.offset), 10), n
	}
	line, n := numberMember(b, "line")
	if n == 0 || n == len(b) || b[n] != ',' {
		return nil, 0
	}
	column, m := numberMember(b[n+1:], "column")
	if m == 0 {
		return nil, 0
	}
	used = n + 1 + m
	offset, ok := in.offset(line, column)
	if !ok {
		return nil, used
	}
	p, ok := r.place(offset)
	if !ok || p.line == 0 {
		return nil, used
	}
	replacement = strconv.AppendInt([]byte(`"line":`), int64(p.line), 10)
	return strconv.AppendInt(append(replacement, `,"column":`...), int64(p.column), 10), used
}

// numberMember reads a member with a number from the beginning of b; n is 0 if it is not there.
func numberMember(b []byte, name string) (value, n int) {
	head := `"` + name + `":`
	if !bytes.HasPrefix(b, []byte(head)) {
		return 0, 0
	}
	n = len(head)
	for n < len(b) && '0' <= b[n] && b[n] <= '9' && value < 1<<30 {
		value = value*10 + int(b[n]-'0')
		n++
	}
	if n == len(head) {
		return 0, 0
	}
	return value, n
}
