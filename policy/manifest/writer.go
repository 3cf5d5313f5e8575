package manifest

import (
	"strconv"
	"unicode/utf8"
)

// Writer appends JSON to a buffer; it writes the commas and colons itself. The zero Writer is
// ready. It does not check that a name precedes each member or that every End has its Object or
// Array: that is the caller's program, not its input, and a test of the caller parses what it
// wrote.
type Writer struct {
	buf     []byte
	closers []byte // of the arrays and objects that are open
}

// keptBytes is the most room that a Writer keeps for what is written after [Writer.Reset]: a day of
// crash loops, explained, with room to grow.
const keptBytes = 64 << 10

// Reset forgets what was written and takes room bytes, or the memory that it had if that is more
// and not too much: what [Writer.Bytes] returned before may change.
func (w *Writer) Reset(room int) {
	if cap(w.buf) < room || cap(w.buf) > keptBytes {
		w.buf = make([]byte, 0, room)
	}
	w.buf, w.closers = w.buf[:0], w.closers[:0]
}

// Bytes returns what was written so far. It is valid until the next write.
func (w *Writer) Bytes() []byte { return w.buf }

// Len returns the number of bytes written so far.
func (w *Writer) Len() int { return len(w.buf) }

// Cut forgets what was written after the first n bytes, where a value begins. Everything that was
// opened since then has been ended.
func (w *Writer) Cut(n int) { w.buf = w.buf[:n] }

// Object begins an object; End ends it.
//
//go:noinline
func (w *Writer) Object() { w.open('{', '}') }

// Array begins an array; End ends it.
//
//go:noinline
func (w *Writer) Array() { w.open('[', ']') }

//go:noinline
func (w *Writer) open(opener, closer byte) {
	w.comma()
	w.buf = append(w.buf, opener)
	w.closers = append(w.closers, closer)
}

// End ends the object or array that was begun last.
//
//go:noinline
func (w *Writer) End() {
	last := len(w.closers) - 1
	w.buf = append(w.buf, w.closers[last])
	w.closers = w.closers[:last]
}

// comma writes the comma between two values. The last byte reports whether one is needed: strings
// end with a quote, so that a bracket or colon there is always structure.
func (w *Writer) comma() {
	if len(w.closers) == 0 || len(w.buf) == 0 {
		return
	}
	switch w.buf[len(w.buf)-1] {
	case '{', '[', ':':
	default:
		w.buf = append(w.buf, ',')
	}
}

// Key writes the name of a member; its value must follow. The name is written as it is: names of
// answers are words of the program, with nothing to escape.
//
//go:noinline
func (w *Writer) Key(name string) {
	w.comma()
	w.buf = append(append(append(w.buf, '"'), name...), '"', ':')
}

// NameOf writes the name of member v as its text has it; its value must follow.
func (w *Writer) NameOf(v Value) {
	w.Raw(v.Name())
	w.buf = append(w.buf, ':')
}

// KeyObject begins an object that is a member; End ends it.
//
//go:noinline
func (w *Writer) KeyObject(name string) {
	w.Key(name)
	w.open('{', '}')
}

// KeyArray begins an array that is a member; End ends it.
//
//go:noinline
func (w *Writer) KeyArray(name string) {
	w.Key(name)
	w.open('[', ']')
}

// KeyString writes a member that is a string.
//
//go:noinline
func (w *Writer) KeyString(name string, s string) {
	w.Key(name)
	w.buf = AppendQuoted(w.buf, s)
}

// KeyWord writes a member that is a string without escapes; see Word.
//
//go:noinline
func (w *Writer) KeyWord(name string, s string) {
	w.Key(name)
	w.buf = append(append(append(w.buf, '"'), s...), '"')
}

// KeyInt writes a member that is an integer.
//
//go:noinline
func (w *Writer) KeyInt(name string, n int64) {
	w.Key(name)
	w.buf = strconv.AppendInt(w.buf, n, 10)
}

// KeyBool writes a member that is true or false.
//
//go:noinline
func (w *Writer) KeyBool(name string, b bool) {
	w.Key(name)
	w.buf = strconv.AppendBool(w.buf, b)
}

// KeyRaw writes a member that is JSON already; see Raw.
//
//go:noinline
func (w *Writer) KeyRaw(name string, json []byte) {
	w.Key(name)
	w.buf = append(w.buf, json...)
}

// String writes a string.
//
//go:noinline
func (w *Writer) String(s string) {
	w.comma()
	w.buf = AppendQuoted(w.buf, s)
}

// Word writes a string that needs no escapes: a constant of the program, or a path without the
// user's names. The look at each byte is what a string costs most.
//
//go:noinline
func (w *Writer) Word(s string) {
	w.comma()
	w.buf = append(append(append(w.buf, '"'), s...), '"')
}

// Text writes the concatenation of parts as one string that needs no escapes, without putting it
// together first.
//
//go:noinline
func (w *Writer) Text(parts ...string) {
	w.comma()
	w.buf = append(w.buf, '"')
	for _, part := range parts {
		w.buf = append(w.buf, part...)
	}
	w.buf = append(w.buf, '"')
}

// Parts writes text that is JSON when it is put together, commas included: many calls are what an
// answer costs most.
//
//go:noinline
func (w *Writer) Parts(parts ...string) {
	n := len(w.buf)
	for _, part := range parts {
		n += len(part)
	}
	if n > cap(w.buf) {
		w.buf = append(make([]byte, 0, 2*n), w.buf...)
	}
	for _, part := range parts {
		w.buf = append(w.buf, part...)
	}
}

// Int writes an integer.
//
//go:noinline
func (w *Writer) Int(n int64) {
	w.comma()
	w.buf = strconv.AppendInt(w.buf, n, 10)
}

// Bool writes true or false.
//
//go:noinline
func (w *Writer) Bool(b bool) {
	w.comma()
	w.buf = strconv.AppendBool(w.buf, b)
}

// Null writes null.
//
//go:noinline
func (w *Writer) Null() {
	w.comma()
	w.buf = append(w.buf, "null"...)
}

// Raw writes a value that is JSON already, without spaces around it.
//
//go:noinline
func (w *Writer) Raw(json []byte) {
	w.comma()
	w.buf = append(w.buf, json...)
}

// AppendQuoted appends s to b as a JSON string. Besides quotes, backslashes and control characters
// it escapes < > & and U+2028, U+2029, so that the text can be in HTML and in a script; bytes
// that are not UTF-8, which the reader never lets through, become U+FFFD. These are the bytes that
// Go's encoding/json writes.
func AppendQuoted(b []byte, s string) []byte { return appendQuoted(b, s, true) }

const hexDigits = "0123456789abcdef"

// appendQuoted is AppendQuoted; web reports whether to escape what HTML and scripts could misread.
func appendQuoted(b []byte, s string, web bool) []byte {
	return append(appendEscaped(append(b, '"'), s, web), '"')
}

// appendEscaped is appendQuoted without the quotes.
func appendEscaped(b []byte, s string, web bool) []byte {
	start := 0 // most texts are plain: they are looked through once and copied
	for start < len(s) && isPlain(s[start]) {
		start++
	}
	if start == len(s) {
		return append(b, s...)
	}
	done := 0 // s[:done] is written
	for i := start; i < len(s); {
		c := s[i]
		size := 1
		switch {
		case c >= utf8.RuneSelf:
			var r rune
			r, size = utf8.DecodeRuneInString(s[i:])
			switch {
			case r == utf8.RuneError && size == 1:
				b = append(append(b, s[done:i]...), `\ufffd`...)
				done = i + size
			case web && (r == '\u2028' || r == '\u2029'):
				b = append(append(b, s[done:i]...), `\u202`...)
				b = append(b, hexDigits[r&0xF])
				done = i + size
			}
		case c < ' ' || c == '"' || c == '\\' || web && (c == '<' || c == '>' || c == '&'):
			b = appendEscape(append(b, s[done:i]...), c)
			done = i + size
		}
		i += size
	}
	return append(b, s[done:]...)
}

// isPlain reports whether c stands for itself in every JSON string.
func isPlain(c byte) bool {
	return c >= ' ' && c < utf8.RuneSelf && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&'
}

func appendEscape(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\b':
		return append(b, `\b`...)
	case '\f':
		return append(b, `\f`...)
	case '\n':
		return append(b, `\n`...)
	case '\r':
		return append(b, `\r`...)
	case '\t':
		return append(b, `\t`...)
	}
	return append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xF])
}
