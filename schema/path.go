package schema

import (
	"strconv"
	"strings"
)

// step is one step of the path of a value: to the member name, or to an element if name is "" and
// index is not negative.
type step struct {
	name  string
	index int // -1 for a member
}

// append appends s to the path b in the spelling of manifest.Value.Path.
func (s step) append(b []byte) []byte {
	if s.index >= 0 {
		return append(strconv.AppendInt(append(b, '['), int64(s.index), 10), ']')
	}
	if !identifier(s.name) {
		return append(appendQuotedName(append(b, '['), s.name), ']')
	}
	if len(b) > 0 {
		b = append(b, '.')
	}
	return append(b, s.name...)
}

func identifier(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c != '_' && (c|0x20 < 'a' || 'z' < c|0x20) && (i == 0 || c < '0' || '9' < c) {
			return false
		}
	}
	return s != ""
}

// appendQuotedName appends name in quotes, with the escapes of JSON for quotes, backslashes and
// control characters.
func appendQuotedName(b []byte, name string) []byte {
	const hex, short, letters = "0123456789abcdef", "\b\f\n\r\t", "bfnrt"
	b = append(b, '"')
	for i := range len(name) {
		switch c := name[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case strings.IndexByte(short, c) >= 0:
			b = append(b, '\\', letters[strings.IndexByte(short, c)])
		case c < ' ':
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}
