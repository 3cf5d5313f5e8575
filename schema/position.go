package schema

import (
	"sort"
	"unicode/utf8"

	"github.com/podfate/podfate/policy/manifest"
	"go.yaml.in/yaml/v3"
)

// lines finds line and column of offsets in a text, and the reverse. Lines end with a line feed, as
// they do for
// [manifest.Position], which looks at the whole text each time.
type lines struct {
	text  []byte
	start []int // offset of each line's first byte
	// What is before the text if it is a part of one: lines, and code points in its first line.
	before, beforeColumn int
}

func newLines(text []byte) *lines {
	l := &lines{text: text, start: []int{0}}
	for i, c := range text {
		if c == '\n' {
			l.start = append(l.start, i+1)
		}
	}
	return l
}

func (l *lines) position(offset int) (line, column int) {
	offset = max(0, min(offset, len(l.text)))
	line = sort.SearchInts(l.start, offset+1)
	column = utf8.RuneCount(l.text[l.start[line-1]:offset]) + 1
	if line == 1 {
		column += l.beforeColumn
	}
	return line + l.before, column
}

// offset is the inverse of position; ok is false for a line that the text does not have.
func (l *lines) offset(line, column int) (offset int, ok bool) {
	if line -= l.before; line < 1 || line > len(l.start) {
		return 0, false
	}
	if line == 1 {
		column -= l.beforeColumn
	}
	offset = l.start[line-1]
	for ; column > 1 && offset < len(l.text); column-- {
		_, size := utf8.DecodeRune(l.text[offset:])
		offset += size
	}
	return offset, true
}

// yamlLines are the lines of a document as YAML 1.1 counts them: a carriage return, U+0085, U+2028
// and U+2029 end one as well. Positions of nodes are in these lines.
type yamlLines struct {
	text  []byte
	start []int // code points before each line
	marks []int // offset of every markEvery-th code point: a document may be one line, with all its nodes on it
}

const markEvery = 64

func newYAMLLines(text []byte) yamlLines {
	l := yamlLines{text: text, start: []int{0}}
	points := 0
	for i := 0; i < len(text); points++ {
		if points%markEvery == 0 {
			l.marks = append(l.marks, i)
		}
		r, size := utf8.DecodeRune(text[i:])
		i += size
		switch r {
		case '\r':
			if i < len(text) && text[i] == '\n' {
				continue // the line feed ends the line
			}
			l.start = append(l.start, points+1)
		case '\n', '\u0085', '\u2028', '\u2029':
			l.start = append(l.start, points+1)
		}
	}
	return l
}

// offset returns where n is in the text.
func (l yamlLines) offset(n *yaml.Node) int {
	if n.Line < 1 || n.Line > len(l.start) {
		return 0
	}
	return l.of(l.start[n.Line-1] + max(n.Column-1, 0))
}

// lineStart returns the offset of a line that a YAML library names, the nearest one for a line that
// is not there.
func (l yamlLines) lineStart(line int) int {
	return l.of(l.start[max(0, min(line-1, len(l.start)-1))])
}

// of returns the offset of a code point.
func (l yamlLines) of(point int) int {
	if len(l.marks) == 0 {
		return 0
	}
	mark := min(point/markEvery, len(l.marks)-1)
	offset := l.marks[mark]
	for point -= mark * markEvery; point > 0 && offset < len(l.text); point-- {
		_, size := utf8.DecodeRune(l.text[offset:])
		offset += size
	}
	return offset
}

// place is where something is in a text.
type place struct {
	source       string
	line, column int
	offset       int // in bytes from the beginning of the text, a byte order mark included
}

// child returns the child of v that begins at or before offset and the next one does not, with its
// index.
func child(v manifest.Value, offset int) (c manifest.Value, index int) {
	for next := v.First(); next.Exists() && next.KeyOffset() <= offset; next = next.Next() {
		c = next
		index++
	}
	return c, index - 1
}
