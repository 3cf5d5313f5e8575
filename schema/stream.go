package schema

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/podfate/podfate/policy"
)

// Stream reads the documents of a text one by one, however long the text is: each has the limits of
// a text for itself. It holds one document at a time.
//
// YAML is split as [Decode] splits it. JSON of at most MaxBodyBytes is one piece; of longer JSON
// each value is one, and of a List, in JSON or YAML, that is longer than a document may be, each
// item.
type Stream struct {
	source string
	in     *bufio.Reader

	lines, offset int // that have been read
	column        int // code points that have been read of the line, as far as JSON is read
	number        int // of pieces
	started       bool
	json          jsonState
	separator     []byte   // the last line that begins with "---", if there is more in it
	ahead         []*Piece // items of a List that have been read already
	list          *itemReader
	each          bool // items of every List in JSON, however short
	err           error
}

// Piece is a document as it is in its text.
type Piece struct {
	Number int // counts from 1
	Line   int // in which it begins, from 1

	source                 string
	column                 int // code points before it in its first line
	offset                 int // bytes before it
	text                   []byte
	size                   int
	most                   int  // bytes that it may have
	cut                    bool // it is longer than that: text is not there
	kind, apiVersion, name string
}

// NewStream returns a stream of the text that in gives; name is the source of faults.
func NewStream(name string, in io.Reader) *Stream {
	return &Stream{source: name, in: bufio.NewReaderSize(in, MaxBodyBytes+1)}
}

// Reset begins another text with the memory of this one. Pieces that were read stay as they are.
func (s *Stream) Reset(name string, in io.Reader) {
	s.in.Reset(in)
	*s = Stream{source: name, in: s.in}
}

// EachItem makes each item of a List in JSON a piece of its own, however short the text is, so that
// one that is broken takes no other with it. It is called before the first Next.
func (s *Stream) EachItem() { s.each = true }

// Next returns the next document that is not empty; the error is io.EOF after the last one, or
// that of the reader.
func (s *Stream) Next() (*Piece, error) {
	for {
		p, err := s.next()
		if err != nil {
			return nil, err
		}
		if p.cut || !blank(p.text) {
			s.number++
			p.Number = s.number
			return p, nil
		}
	}
}

func (s *Stream) next() (*Piece, error) {
	if len(s.ahead) > 0 {
		p := s.ahead[0]
		s.ahead = s.ahead[1:]
		return p, nil
	}
	if s.err != nil {
		if p := s.piece(); len(s.separator) > 0 && errors.Is(s.err, io.EOF) { // the last line of the text
			p.text, s.separator = s.separator, nil
			return p, nil
		}
		return nil, s.err
	}
	if !s.started {
		s.started = true
		if p := s.begin(); p != nil {
			return p, nil
		}
	}
	switch {
	case s.json != jsonNone:
		return s.nextJSON()
	case s.list != nil:
		return s.list.next()
	}
	return s.nextYAML()
}

// begin finds the format. A text that is to be read as a whole is returned.
func (s *Stream) begin() *Piece {
	head, err := s.in.Peek(MaxBodyBytes + 1)
	start := bytes.TrimLeftFunc(bytes.TrimPrefix(head, byteOrderMark), unicode.IsSpace)
	object := bytes.HasPrefix(start, []byte("{"))
	utf16 := bytes.HasPrefix(head, []byte("\xFE\xFF")) || bytes.HasPrefix(head, []byte("\xFF\xFE")) || bytes.HasPrefix(head, []byte("\x00\x00\xFE\xFF"))
	switch {
	case utf16, object && err != nil && !s.each: // the end comes before the limit, or the reader fails
		p := s.piece()
		p.text, p.size = bytes.Clone(head), len(head)
		if s.err = err; err == nil {
			s.err = io.EOF
		}
		return p
	case object:
		s.json = jsonTop
		s.skip(len(head) - len(start))
	case bytes.HasPrefix(head, byteOrderMark):
		s.skip(len(byteOrderMark))
	}
	return nil
}

// skip skips bytes that are in the buffer.
func (s *Stream) skip(n int) {
	skipped, _ := s.in.Peek(n)
	s.lines += bytes.Count(skipped, []byte("\n"))
	s.column = utf8.RuneCount(skipped[bytes.LastIndexByte(skipped, '\n')+1:])
	if bytes.HasPrefix(skipped, byteOrderMark) && s.offset == 0 && s.lines == 0 {
		s.column-- // which has no place
	}
	s.offset += n
	_, _ = s.in.Discard(n)
}

// piece begins a piece with what is read next.
func (s *Stream) piece() *Piece {
	return &Piece{source: s.source, Line: s.lines + 1, column: s.column, offset: s.offset, most: MaxDocumentBytes}
}

// nextYAML reads up to the next separator.
func (s *Stream) nextYAML() (*Piece, error) {
	p := s.piece()
	if len(s.separator) > 0 { // the separator that ended the last piece says more: the decoder refuses it
		p.Line, p.offset = p.Line-1, p.offset-len(s.separator)
		p.text, s.separator = s.separator, nil
		p.size = len(p.text)
	}
	var head headReader
	for {
		line, err := s.in.ReadSlice('\n')
		whole := !head.mid
		if whole && bytes.HasPrefix(line, []byte("---")) {
			s.read(line)
			if after := bytes.TrimSpace(line[3:]); len(after) > 0 && after[0] != '#' {
				s.separator = bytes.Clone(line)
			}
			if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
				s.err = err
			}
			head.end(p)
			return p, nil
		}
		s.read(line)
		p.size += len(line)
		if head.line(line, len(p.text)); !p.cut {
			p.text = append(p.text, line...)
		}
		if p.size > MaxDocumentBytes && !head.seen { // a long comment is no document
			p = s.piece()
		}
		if p.size > MaxDocumentBytes && !p.cut {
			if head.items > 0 {
				s.list = newItemReader(s, p, &head)
				return s.list.next()
			}
			p.text, p.cut = nil, true
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			s.err = err
			head.end(p)
			return p, s.ended(p)
		}
	}
}

// ended returns the error that ends the stream if p holds nothing; otherwise it comes with the next
// call.
func (s *Stream) ended(p *Piece) error {
	if p.size == 0 || errors.Is(s.err, io.EOF) && !p.cut && blank(p.text) {
		return s.err
	}
	if !errors.Is(s.err, io.EOF) {
		return s.err
	}
	return nil
}

func (s *Stream) read(line []byte) {
	s.offset += len(line)
	s.lines += bytes.Count(line, []byte("\n"))
}

// headReader finds out what a YAML document calls itself, without reading it: from the lines at its
// margin.
type headReader struct {
	kind, apiVersion, name string
	mid                    bool // the last line has not ended
	seen                   bool // there is more than comments
	inMetadata             bool
	indent                 int // of the members of metadata
	afterItems             bool
	items                  int    // where the items of a List begin in the text, 0 if nowhere
	prefix                 string // with which each of them begins, dash included
}

// line looks at a line, or at a part of a long one, that is at offset at.
func (h *headReader) line(line []byte, at int) {
	begins := !h.mid
	h.mid = len(line) > 0 && line[len(line)-1] != '\n'
	if !begins {
		return
	}
	text := bytes.TrimRight(line, " \t\r\n")
	body := bytes.TrimLeft(text, " ")
	if len(body) == 0 || body[0] == '#' {
		return
	}
	h.seen = true
	margin := len(text) - len(body)
	if h.afterItems && h.items == 0 && at > 0 && (string(body) == "-" || bytes.HasPrefix(body, []byte("- "))) {
		h.items, h.prefix = at, string(text[:margin])+"-"
	}
	if margin == 0 {
		h.inMetadata, h.afterItems = false, false
		switch key, value, _ := bytes.Cut(body, []byte(":")); string(key) {
		case "kind":
			h.kind = plainText(value)
		case "apiVersion":
			h.apiVersion = plainText(value)
		case "metadata":
			h.inMetadata, h.indent = true, 0
		case "items":
			h.afterItems = len(bytes.TrimSpace(value)) == 0
		}
		return
	}
	if h.inMetadata {
		if h.indent == 0 {
			h.indent = margin
		}
		if name, ok := bytes.CutPrefix(body, []byte("name:")); ok && margin == h.indent && h.name == "" {
			h.name = plainText(name)
		}
	}
}

func (h *headReader) end(p *Piece) { p.kind, p.apiVersion, p.name = h.kind, h.apiVersion, h.name }

// plainText returns a scalar on one line without quotes and comment.
func plainText(value []byte) string {
	text, _, _ := strings.Cut(string(bytes.TrimSpace(value)), " #")
	return cut(strings.Trim(strings.TrimSpace(text), `"'`), MaxQuotedBytes)
}

// itemReader reads the items of a YAML List that is longer than a document may be.
type itemReader struct {
	s      *Stream
	prefix []byte
	p      *Piece
	over   bool // the items have ended; the rest of the List says nothing
	last   bool // the List has ended, too
}

// newItemReader goes on with p, of which the items have begun.
func newItemReader(s *Stream, p *Piece, h *headReader) *itemReader {
	r := &itemReader{s: s, prefix: []byte(h.prefix)}
	text, line, offset := p.text[h.items:], p.Line+bytes.Count(p.text[:h.items], []byte("\n")), p.offset+h.items
	for part := range bytes.Lines(text) {
		r.line(part, line, offset)
		if part[len(part)-1] == '\n' {
			line++
		}
		offset += len(part)
	}
	return r
}

// line takes a line of the List that is at line and offset.
func (r *itemReader) line(text []byte, line, offset int) {
	if r.over {
		return
	}
	switch trimmed := bytes.TrimRight(text, "\r\n"); {
	case r.begins(text):
		r.flush()
		r.p = &Piece{source: r.s.source, Line: line, offset: offset, most: MaxDocumentBytes}
		text = append(bytes.Repeat([]byte(" "), len(r.prefix)), text[len(r.prefix):]...)
	case len(trimmed) > 0 && trimmed[0] != ' ' && trimmed[0] != '#':
		r.over = true
		return
	}
	if p := r.p; p != nil {
		if p.size += len(text); p.size > MaxDocumentBytes {
			p.text, p.cut = nil, true
		} else {
			p.text = append(p.text, text...)
		}
	}
}

// begins reports whether a line begins an item.
func (r *itemReader) begins(line []byte) bool {
	rest, ok := bytes.CutPrefix(line, r.prefix)
	return ok && (len(rest) == 0 || rest[0] == ' ' || rest[0] == '\r' || rest[0] == '\n')
}

func (r *itemReader) flush() {
	if r.p == nil {
		return
	}
	var head headReader
	inner := len(r.prefix) + 1
	for line := range bytes.Lines(r.p.text) { // the members of an item are where those of a document would
		if len(line) > inner {
			head.line(line[inner:], 0)
		}
	}
	head.end(r.p)
	r.s.ahead = append(r.s.ahead, r.p)
	r.p = nil
}

// next returns the next item.
func (r *itemReader) next() (*Piece, error) {
	s := r.s
	for len(s.ahead) == 0 {
		if r.last {
			s.list = nil
			return s.next()
		}
		line, err := s.in.ReadSlice('\n')
		switch {
		case bytes.HasPrefix(line, []byte("---")):
			s.read(line)
			r.flush()
			r.last = true
		default:
			r.line(line, s.lines+1, s.offset)
			s.read(line)
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			r.flush()
			r.last, s.err = true, err
		}
	}
	p := s.ahead[0]
	s.ahead = s.ahead[1:]
	return p, nil
}

// jsonState is where a reader of a long JSON text is.
type jsonState uint8

const (
	jsonNone jsonState = iota // the text is not read as JSON
	jsonTop                   // before a value
	jsonItem                  // before an item of a List
	jsonRest                  // after the items
)

// nextJSON reads the next value of a long text.
func (s *Stream) nextJSON() (*Piece, error) {
	for {
		if s.json == jsonRest {
			if err := s.value(&Piece{}, 1, nil); err != nil { // its text is not kept
				return nil, err
			}
			s.json = jsonTop
		}
		c, err := s.blanks()
		if err != nil {
			return nil, err
		}
		if s.json == jsonItem && c == ']' {
			_, _ = s.byte()
			s.json = jsonRest
			continue
		}
		p := s.piece()
		p.most = MaxBodyBytes
		items := false
		var list *bool
		if s.json == jsonTop {
			list = &items
		}
		err = s.value(p, 0, list)
		switch {
		case items:
			s.json = jsonItem
			continue
		case err != nil && !errors.Is(err, io.EOF):
			return nil, err
		}
		return p, nil
	}
}

// blanks skips what is between values and returns the byte after.
func (s *Stream) blanks() (byte, error) {
	for {
		next, err := s.in.Peek(1)
		if err != nil {
			return 0, err
		}
		if c := next[0]; c != ' ' && c != '\t' && c != '\r' && c != '\n' && (c != ',' || s.json != jsonItem) {
			return c, nil
		}
		_, _ = s.byte()
	}
}

func (s *Stream) byte() (byte, error) {
	c, err := s.in.ReadByte()
	if err == nil {
		s.offset++
		switch {
		case c == '\n':
			s.lines++
			s.column = 0
		case c&0xC0 != 0x80:
			s.column++
		}
	}
	return c, err
}

// plain reads what is at hand of a text in JSON up to a character that may mean something: nothing
// but printable ASCII, of which most of a stream is. It is good until the next read.
func (s *Stream) plain() []byte {
	text, _ := s.in.Peek(s.in.Buffered()) // which is there
	n := 0
	for n < len(text) && text[n]-' ' < 0x7f-' ' && text[n] != '"' && text[n] != '\\' {
		n++
	}
	_, _ = s.in.Discard(n)
	s.offset += n
	s.column += n
	return text[:n]
}

// value reads a value into p, from depth brackets deep on. If items is not nil, it stops after the
// bracket that begins the items of a List, and sets it.
func (s *Stream) value(p *Piece, depth int, items *bool) error {
	var token, key []byte
	inText, escaped, isValue := false, false, false
	for {
		if depth == 0 && p.size > 0 && !inText { // a number or a word ends before what is none of its letters
			next, err := s.in.Peek(1)
			if err != nil {
				return err
			}
			if strings.IndexByte(" \t\r\n,]}{[", next[0]) >= 0 {
				return nil
			}
		}
		if inText && !escaped {
			if more := s.plain(); len(more) > 0 {
				if p.size += len(more); p.size > p.most {
					p.text, p.cut = nil, true
				} else {
					p.text = append(p.text, more...)
				}
				token = append(token, more[:min(len(more), MaxQuotedBytes-len(token))]...)
				continue
			}
		}
		c, err := s.byte()
		if err != nil {
			return err
		}
		if p.size++; p.size > p.most {
			p.text, p.cut = nil, true
		} else {
			p.text = append(p.text, c)
		}
		switch {
		case escaped:
			escaped = false
		case inText && c == '\\':
			escaped = true
		case c == '"':
			if inText = !inText; inText {
				token = token[:0]
			} else if depth == 1 {
				if isValue && string(key) == "kind" {
					p.kind = string(token)
				} else if isValue && string(key) == "apiVersion" {
					p.apiVersion = string(token)
				} else if !isValue {
					key = append(key[:0], token...)
				}
			}
			if !inText && depth == 0 {
				return nil
			}
		case inText:
			if len(token) < MaxQuotedBytes {
				token = append(token, c)
			}
		case c == ':':
			isValue = true
		case c == ',':
			isValue = false
		case c == '{' || c == '[':
			if items != nil && depth == 1 && c == '[' && isValue && string(key) == "items" {
				*items = true
				return nil
			}
			depth++
		case c == '}' || c == ']':
			if depth--; depth <= 0 {
				return nil
			}
		}
	}
}

// Decode reads the document; a piece of JSON may hold several. What holds nothing but comments or
// null is none. An error is of type [Faults].
func (p *Piece) Decode() ([]*Document, error) {
	d := &decoder{source: p.source, budget: defaultBudget(), bom: p.offset, before: p.Line - 1, beforeColumn: p.column}
	if p.cut {
		d.lines = newLines(nil)
		d.lines.before, d.lines.beforeColumn = p.Line-1, p.column
		d.stop(0, CodeLimitDocumentBytes, "a document of "+strconv.Itoa(p.size)+" bytes, at most "+strconv.Itoa(p.most)+" allowed")
		return nil, d.faults.sorted()
	}
	docs := d.decode(p.text)
	if !d.faults.any() {
		return docs, nil
	}
	faults := d.faults.sorted()
	if len(faults) == 1 && faults[0].Code == CodeNoDocument {
		return nil, nil
	}
	return nil, faults
}

// Source returns the name given to [NewStream].
func (p *Piece) Source() string { return p.source }

// Text returns the document as it is, "" for one that is too long.
func (p *Piece) Text() string { return string(p.text) }

// Nameless reports whether the document seems to have neither kind nor apiVersion: it may be a
// request, or a part of one.
func (p *Piece) Nameless() bool { return !p.cut && p.kind == "" && p.apiVersion == "" }

// Contains reports whether the document has one of these words in it, in whatever place.
func (p *Piece) Contains(words ...string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return bytes.Contains(p.text, []byte(word)) })
}

// Unread returns a note about a document whose only faults are that it is too large, if it is an
// object of Kubernetes without Pods, which nobody reads; ok is false for any other. See [Others].
func (p *Piece) Unread(faults Faults) (note Fault, ok bool) {
	for _, f := range faults {
		if !strings.HasPrefix(string(f.Code), "limit.") && f.Code != policy.CodeTooManyFaults {
			return note, false
		}
	}
	group, _, grouped := strings.Cut(p.apiVersion, "/")
	if !grouped {
		group = ""
	}
	kinds, known := podless[group]
	if p.kind == "" || p.apiVersion == "" || !slices.Contains(withoutPods, group) && (!known || !slices.Contains(kinds, p.kind)) {
		return note, false
	}
	called := p.kind
	if p.name != "" {
		called += " " + p.name
	}
	return Fault{
		Path: "kind", Code: NoteNotRead, Detail: quoted(called) + " has no Pods and is not read",
		Line: p.Line, Column: 1, Offset: p.offset, Source: p.source,
	}, true
}
