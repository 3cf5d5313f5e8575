package manifest

import (
	"strconv"
	"strings"
)

// Path returns where v is below root, as Kubernetes writes field paths:
// spec.containers[0].name. A name that is not an identifier is written in brackets and quotes, as
// in metadata.labels["a.b/c"], with the escapes of JSON for quotes, backslashes and control
// characters. It is "" for root itself and when v is not below root.
//
// [Value.Locate] is the inverse, except below a member whose name occurred before in the same
// object: both then have the same path, and Locate returns the first.
func (v Value) Path(root Value) string {
	if v.doc == nil || v.doc != root.doc {
		return ""
	}
	b := make([]byte, 0, 64)
	at := root
	for at.index != v.index {
		child, i := at.First(), 0
		if !child.Exists() || v.index < child.index {
			return ""
		}
		for next := child.Next(); next.Exists() && next.index <= v.index; next = child.Next() {
			child, i = next, i+1
		}
		b = appendStep(b, at.Kind(), child, i)
		at = child
	}
	return string(b)
}

// appendStep appends the step from a value of kind parent to its child number i.
func appendStep(b []byte, parent Kind, child Value, i int) []byte {
	if parent == Array {
		return append(strconv.AppendInt(append(b, '['), int64(i), 10), ']')
	}
	return appendName(b, child.Key())
}

func appendName(b []byte, name string) []byte {
	if !identifier(name) {
		return append(appendQuoted(append(b, '['), name, false), ']')
	}
	if len(b) > 0 {
		b = append(b, '.')
	}
	return append(b, name...)
}

func identifier(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c != '_' && (c|0x20 < 'a' || 'z' < c|0x20) && (i == 0 || !digit(c)) {
			return false
		}
	}
	return s != ""
}

// At returns the value at path below v as [Value.Locate] reads it, the zero Value when there is
// none.
func (v Value) At(path string) Value {
	at, rest := v.walk(path)
	if rest != "" {
		return Value{}
	}
	return at
}

// Locate returns the value at path below v, or the deepest value on the way to it when there is
// none: the list for an index past its end, the object for a field that is missing. Path "" is v
// itself. Names that are no identifiers may also be between dots, as far as they contain neither
// "." nor "[".
func (v Value) Locate(path string) Value {
	at, _ := v.walk(path)
	return at
}

// walk returns the deepest value on the way to path, and what of the path is left there.
func (v Value) walk(path string) (at Value, left string) {
	for path != "" {
		s, rest, ok := cutStep(path)
		if !ok {
			return v, path
		}
		child := v.Get(s.name)
		if s.index >= 0 {
			child = v.element(s.index)
		}
		if !child.Exists() {
			return v, path
		}
		v, path = child, rest
	}
	return v, ""
}

func (v Value) element(i int) Value {
	if v.Kind() != Array || i >= v.Len() {
		return Value{}
	}
	e := v.First()
	for range i {
		e = e.Next()
	}
	return e
}

// Pointer returns path as a JSON Pointer (RFC 6901): /spec/containers/0 for spec.containers[0].
func Pointer(path string) string {
	b := make([]byte, 0, len(path)+8)
	for path != "" {
		s, rest, ok := cutStep(path)
		if !ok {
			break
		}
		b = append(b, '/')
		if s.index >= 0 {
			b = strconv.AppendInt(b, int64(s.index), 10)
		}
		for i := range len(s.name) {
			switch c := s.name[i]; c {
			case '~':
				b = append(b, "~0"...)
			case '/':
				b = append(b, "~1"...)
			default:
				b = append(b, c)
			}
		}
		path = rest
	}
	return string(b)
}

// step is one step of a path: to an element when index is not negative, else to a member.
type step struct {
	name  string
	index int
}

// cutStep takes the first step off a path, which is not empty.
func cutStep(path string) (s step, rest string, ok bool) {
	if path[0] != '[' {
		path = strings.TrimPrefix(path, ".")
		end := 0
		for end < len(path) && path[end] != '.' && path[end] != '[' {
			end++
		}
		return step{path[:end], -1}, path[end:], end > 0
	}
	if strings.HasPrefix(path, `["`) {
		p := parser{src: []byte(path)}
		escaped, err := p.quoted(1)
		if err != nil || !strings.HasPrefix(path[p.pos:], "]") {
			return step{}, "", false
		}
		return step{unquote(path[1:p.pos], escaped), -1}, path[p.pos+1:], true
	}
	end := strings.IndexByte(path, ']')
	if end < 0 {
		return step{}, "", false
	}
	i, err := strconv.ParseUint(path[1:end], 10, 31)
	return step{"", int(i)}, path[end+1:], err == nil
}
