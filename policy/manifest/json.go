package manifest

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/podfate/podfate/policy"
)

// Limits of numbers. Both exist because others compute with the numbers that pass here: a short
// text such as 1e999999999 becomes a number of a billion digits in a library that keeps numbers
// exact.
const (
	// MaxNumberBytes bounds the text of one number. The longest float64 that Go prints has 24
	// bytes.
	MaxNumberBytes = 64
	// MaxExponent bounds the exponent of a number, positive or negative. A float64 ends at 308.
	MaxExponent = 400
)

// Names of the limits in [Error.Limit].
const (
	LimitRequestBytes   = "requestBytes"
	LimitDepth          = "depth"
	LimitMembers        = "members"
	LimitNumberBytes    = "numberBytes"
	LimitNumberExponent = "numberExponent"
)

// Kind is the kind of a JSON value. The zero Kind, Invalid, is that of a value that is not there.
type Kind uint8

// The kinds of values.
const (
	Invalid Kind = iota
	Null
	Bool
	Number
	String
	Array
	Object
)

var kindNames = [...]string{"nothing", "null", "bool", "number", "string", "array", "object"}

// String returns the word that Go's JSON decoder prints for the kind ("bool", "number", …), and
// "nothing" for Invalid.
func (k Kind) String() string { return kindNames[min(int(k), len(kindNames)-1)] }

// Error says why a text is not accepted as JSON.
type Error struct {
	Code    policy.ErrorCode // BadJSON, BadUTF8 or LimitExceeded
	Message string           // what was found and what is allowed, without the position
	Offset  int              // of the first byte that does not fit; len(src) when the text ends too early
	Limit   string           // with LimitExceeded, the name of the limit: LimitDepth and so on
}

func (e *Error) Error() string { return "offset " + strconv.Itoa(e.Offset) + ": " + e.Message }

// document is a parsed text. Nothing of it changes after Parse.
type document struct {
	src   []byte
	text  string // src once more: strings without escapes are cut out of it without an allocation
	nodes []node // in the order in which the values begin; node 0 is the whole text
	// clash: in some object two names have the same bit of their hashes, so that one may be there
	// twice.
	clash bool
}

// node is one value. A child follows its parent, the next child follows all that belongs to the one
// before.
type node struct {
	start, end       uint32 // of the value
	keyStart, keyEnd uint32 // of the quoted name; both 0 unless the value is a member of an object
	next             uint32 // the next child of the same parent, 0 after the last one
	count            uint32 // number of children
	kind             Kind
	hash             nameHash // of the name, escapes decoded
	flags            nodeFlags
}

// nodeFlags are rare properties of a value.
type nodeFlags uint8

const (
	escaped    nodeFlags = 1 << iota // the string has escapes
	keyEscaped                       // the name has escapes
	clashes                          // of an object: document.clash is about it
)

// nameHash is a summary of a name. Names are compared only where it is equal: comparing it is a
// load, comparing names three calls, and most names are not the one looked for. Whoever makes names
// collide wins nothing but comparisons.
type nameHash uint8

// hashOf returns the hash of a name. The rows of the field table are in its order:
// policy/upstream/fields/generate computes it in the same way, and a test compares the two.
func hashOf[T string | []byte](name T) nameHash {
	n := len(name)
	if n == 0 {
		return 0
	}
	return nameHash((uint32(name[0]) + uint32(name[n/2])<<8 + uint32(name[n-1])<<16 + uint32(n)<<24) * 0x9E3779B1 >> 24)
}

// bit returns one of 64 bits for a name: names with different bits differ.
func (h nameHash) bit() uint64 { return 1 << (h & 63) }

// Value is one value in a parsed text, small enough to be copied. The zero Value is absent: every
// method works on it and answers with something empty, so that v.Get("spec").Get("containers")
// needs no checks between.
type Value struct {
	doc   *document
	index uint32
}

// Parse reads one JSON text: strict RFC 8259 in UTF-8. A byte order mark before it is skipped,
// as section 8.1 of the RFC allows: editors and PowerShell write one. src is kept and must not
// change while the Value or one got from it is in use.
//
// The limits are policy.MaxRequestBytes, policy.MaxDepth (nested arrays and objects),
// policy.MaxMembers (of one object), [MaxNumberBytes] and [MaxExponent]; memory is asked for once,
// in proportion to the number of values. Names that occur twice in an object are accepted; see
// [Value.Duplicates]. Numbers are kept as they are written.
func Parse(src []byte) (Value, *Error) { return new(Parser).Parse(src) }

// Parser reads one text after the other into the same memory. The zero Parser is ready; one
// goroutine may use it at a time.
type Parser struct {
	doc document
	parser
}

// Parse is the function [Parse], except that the Value is good only until the next call.
func (p *Parser) Parse(src []byte) (Value, *Error) {
	if len(src) > policy.MaxRequestBytes {
		return Value{}, limitError(policy.MaxRequestBytes, LimitRequestBytes,
			strconv.Itoa(len(src))+" bytes, at most "+strconv.Itoa(policy.MaxRequestBytes)+" allowed")
	}
	ascii, controls := survey(src)
	if !ascii && !utf8.Valid(src) {
		return Value{}, &Error{Code: policy.BadUTF8, Message: "invalid UTF-8", Offset: invalidUTF8(src)}
	}
	p.src, p.simple = src, !controls && bytes.IndexByte(src, '\\') < 0
	p.prepare()
	if err := p.parse(); err != nil {
		return Value{}, err
	}
	p.doc = document{src: src, text: string(src), nodes: p.nodes, clash: p.clash}
	return Value{doc: &p.doc}, nil
}

const (
	// manyBytes is the size above which counting the values first is cheaper than letting the list
	// grow: in the worst text, two bytes a value, growing leaves three times its size as garbage,
	// here at most 3 MiB.
	manyBytes = 64 << 10
	// bytesPerValue is typical of a manifest without spaces.
	bytesPerValue = 12
	// keptNodes is the most that a [Parser] keeps for the next text: 56 KiB, enough for a large
	// manifest and for most answers.
	keptNodes = 2048
)

// prepare empties the parser and finds room for the values of the text.
func (p *parser) prepare() {
	p.clash = false
	if p.open == nil {
		p.open = make([]level, 0, 16)
	}
	switch {
	case len(p.src) > manyBytes:
		p.nodes = make([]node, 0, countValues(p.src))
	case cap(p.nodes) == 0 || cap(p.nodes) > keptNodes:
		p.nodes = make([]node, 0, len(p.src)/bytesPerValue+8)
	default:
		p.nodes = p.nodes[:0]
	}
}

// survey reports whether src is ASCII, and whether it has control characters other than spaces
// between values could be. Eight bytes at a time: in the module a loop over bytes costs ten times
// as much.
func survey(src []byte) (ascii, controls bool) {
	const high, low = 0x8080808080808080, 0x2020202020202020
	var all, below uint64
	i := 0
	for ; i+8 <= len(src); i += 8 {
		b := src[i : i+8 : i+8]
		w := uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
			uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
		all |= w
		below |= (w - low) &^ w // the high bit of a byte that is less than a space, if all are ASCII
	}
	for ; i < len(src); i++ {
		all |= uint64(src[i])
		if src[i] < ' ' {
			below |= high
		}
	}
	return all&high == 0, below&high != 0 || all&high != 0
}

func limitError(offset int, limit, message string) *Error {
	return &Error{Code: policy.LimitExceeded, Message: message, Offset: offset, Limit: limit}
}

func invalidUTF8(src []byte) int {
	for i := 0; i < len(src); {
		r, size := utf8.DecodeRune(src[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return len(src)
}

// countValues returns at least the number of values in src when src is JSON, and never more than
// half its bytes and one. Growing the list while parsing would leave several times its size as
// garbage.
func countValues(src []byte) int {
	n := 1
	for i := 0; i < len(src); i++ {
		c := src[i]
		if c == ',' || c == '[' || c == '{' {
			n++
		}
		if c != '"' {
			continue
		}
		for i++; i < len(src); i++ { // to the closing quote: one that no odd number of backslashes precedes
			end := bytes.IndexByte(src[i:], '"')
			if end < 0 {
				return min(n, len(src)/2+1)
			}
			i += end
			backslashes := 0
			for backslashes < end && src[i-backslashes-1] == '\\' {
				backslashes++
			}
			if backslashes%2 == 0 {
				break
			}
		}
	}
	return min(n, len(src)/2+1)
}

// parser has no recursion: open holds the arrays and objects around the current place.
type parser struct {
	src []byte
	// simple: no byte of src needs a look inside a string: there are no escapes, and nothing that
	// must be escaped.
	simple bool
	clash  bool // as in document
	pos    int
	nodes  []node
	open   []level // by depth; the first stands for the whole text
}

// level is an array or object that is not closed yet.
type level struct {
	node, last uint32 // last: the newest child, 0 when there is none
	count      uint32 // of children
	closer     byte
	clash      bool   // two names have the same bit
	seen       uint64 // the bits of all names so far
}

// parse is one loop: each turn reads the name, if there is one, and the beginning of a value, and
// then everything that may follow a value up to the beginning of the next. It is one function with
// its state in variables because in the module a call costs as much as reading ten bytes, and a
// field of p a check of its bounds at each use.
func (p *parser) parse() *Error {
	src := p.src
	pos, depth := len(mark(src)), 0
	in := p.enter(depth, 0, 0) // around the value; closer is 0 when it is the whole text
	for {
		if pos < len(src) && src[pos] <= ' ' {
			pos = p.space(pos)
		}
		keyStart, keyEnd, hash, flags := 0, 0, nameHash(0), nodeFlags(0)
		if in.closer == '}' {
			switch {
			case pos == len(src) || src[pos] != '"':
				return p.unexpectedAt(pos, "a name in quotes")
			case in.count == policy.MaxMembers:
				return limitError(pos, LimitMembers, "an object with more than "+strconv.Itoa(policy.MaxMembers)+" names")
			}
			keyStart = pos
			if p.simple {
				end := bytes.IndexByte(src[pos+1:], '"')
				if end < 0 {
					return p.unexpectedAt(len(src), "the closing quote")
				}
				pos += end + 2
			} else {
				slashes, err := p.quoted(pos)
				if err != nil {
					return err
				}
				pos = p.pos
				if slashes {
					flags = keyEscaped
				}
			}
			keyEnd = pos
			if hash = hashOf(src[keyStart+1 : keyEnd-1]); flags != 0 {
				hash = hashOf(unquote(string(src[keyStart:keyEnd]), true))
			}
			if bit := hash.bit(); in.seen&bit != 0 {
				in.clash = true
			} else {
				in.seen |= bit
			}
			if pos < len(src) && src[pos] <= ' ' {
				pos = p.space(pos)
			}
			if pos == len(src) || src[pos] != ':' {
				return p.unexpectedAt(pos, `":"`)
			}
			pos++
			if pos < len(src) && src[pos] <= ' ' {
				pos = p.space(pos)
			}
		}
		if pos == len(src) {
			return p.unexpectedAt(pos, "a value")
		}

		start := pos
		var kind Kind
		switch c := src[pos]; c {
		case '"':
			kind = String
			if p.simple {
				end := bytes.IndexByte(src[pos+1:], '"')
				if end < 0 {
					return p.unexpectedAt(len(src), "the closing quote")
				}
				pos += end + 2
				break
			}
			slashes, err := p.quoted(pos)
			if err != nil {
				return err
			}
			pos = p.pos
			if slashes {
				flags |= escaped
			}
		case '{', '[':
			if depth == policy.MaxDepth {
				return limitError(pos, LimitDepth, "nested more than "+strconv.Itoa(policy.MaxDepth)+" levels, those of the request around a manifest included")
			}
			kind = Object
			if c == '[' {
				kind = Array
			}
			pos++
			if pos < len(src) && src[pos] <= ' ' {
				pos = p.space(pos)
			}
			if pos < len(src) && src[pos] == c+2 { // in ASCII "]" is "[" + 2, and "}" is "{" + 2
				pos++
				break
			}
			index := p.add(in, kind, flags, hash)
			n := &p.nodes[index]
			n.start, n.keyStart, n.keyEnd = uint32(start), uint32(keyStart), uint32(keyEnd)
			depth++
			in = p.enter(depth, index, c+2)
			continue
		default:
			p.pos = pos
			var err *Error
			if kind, err = p.scalar(c); err != nil {
				return err
			}
			pos = p.pos
		}
		index := p.add(in, kind, flags, hash) // before the list is read: it may move
		n := &p.nodes[index]
		n.start, n.end, n.keyStart, n.keyEnd = uint32(start), uint32(pos), uint32(keyStart), uint32(keyEnd)

		for { // what follows a value
			if pos < len(src) && src[pos] <= ' ' {
				pos = p.space(pos)
			}
			if in.closer == 0 {
				if pos < len(src) {
					return p.unexpectedAt(pos, "the end of the text")
				}
				return nil
			}
			if pos < len(src) && src[pos] == ',' {
				pos++
				break
			}
			if pos == len(src) || src[pos] != in.closer {
				return p.unexpectedAt(pos, `"," or "`+string(rune(in.closer))+`"`)
			}
			pos++
			n := &p.nodes[in.node]
			n.end, n.count = uint32(pos), in.count
			if in.clash {
				n.flags |= clashes
				p.clash = true
			}
			depth--
			in = &p.open[depth]
		}
	}
}

// enter returns level number depth, empty. The one before it may have moved.
func (p *parser) enter(depth int, index uint32, closer byte) *level {
	if depth == len(p.open) {
		p.open = append(p.open, level{})
	}
	in := &p.open[depth]
	in.node, in.last, in.count, in.closer, in.clash, in.seen = index, 0, 0, closer, false, 0
	return in
}

// add appends a value without its places and makes it the newest child of in.
func (p *parser) add(in *level, kind Kind, flags nodeFlags, hash nameHash) uint32 {
	index := uint32(len(p.nodes))
	if len(p.nodes) < cap(p.nodes) {
		p.nodes = p.nodes[:index+1]
	} else {
		p.nodes = append(p.nodes, node{})
	}
	n := &p.nodes[index] // it may be one of an earlier text: each field is set
	n.kind, n.flags, n.hash = kind, flags, hash
	n.next, n.count = 0, 0
	in.count++
	if in.last != 0 {
		p.nodes[in.last].next = index
	}
	in.last = index
	return index
}

// scalar reads what begins with c and is no string.
func (p *parser) scalar(c byte) (Kind, *Error) {
	switch c {
	case 't':
		return Bool, p.word("true")
	case 'f':
		return Bool, p.word("false")
	case 'n':
		return Null, p.word("null")
	}
	if c != '-' && !digit(c) {
		return Invalid, p.unexpected("a value")
	}
	return Number, p.number()
}

// space returns the first place from pos on where no space between values is.
func (p *parser) space(pos int) int {
	for pos < len(p.src) {
		switch p.src[pos] {
		case ' ', '\n', '\t', '\r':
			pos++
		default:
			return pos
		}
	}
	return pos
}

func (p *parser) word(w string) *Error {
	for i := range len(w) {
		if p.pos == len(p.src) || p.src[p.pos] != w[i] {
			return p.unexpected(w)
		}
		p.pos++
	}
	return nil
}

// quoted reads a string from its opening quote at pos to past its closing one.
func (p *parser) quoted(pos int) (escaped bool, err *Error) {
	src := p.src // a local, so that the loop neither loads nor checks more than it must
	for i := pos + 1; i < len(src); i++ {
		c := src[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		p.pos = i
		switch c {
		case '"':
			p.pos++
			return escaped, nil
		case '\\':
			escaped = true
			p.pos++
			if err := p.escape(); err != nil {
				return false, err
			}
			i = p.pos
		default:
			return false, p.unexpected(`an escape such as \n instead of a control character`)
		}
	}
	p.pos = len(src)
	return false, p.unexpected("the closing quote")
}

// escape reads what follows a backslash and stays on its last byte.
func (p *parser) escape() *Error {
	if p.pos == len(p.src) || strings.IndexByte(`"\/bfnrtu`, p.src[p.pos]) < 0 {
		return p.unexpected(`one of " \ / b f n r t u`)
	}
	if p.src[p.pos] == 'u' {
		for range 4 {
			p.pos++
			if p.pos == len(p.src) || hexDigit(p.src[p.pos]) < 0 {
				return p.unexpected("a hexadecimal digit")
			}
		}
	}
	return nil
}

func (p *parser) number() *Error {
	start := p.pos
	if p.src[p.pos] == '-' {
		p.pos++
	}
	if p.pos < len(p.src) && p.src[p.pos] == '0' {
		p.pos++
	} else if err := p.digits(); err != nil {
		return err
	}
	if p.pos < len(p.src) && p.src[p.pos] == '.' {
		p.pos++
		if err := p.digits(); err != nil {
			return err
		}
	}
	exponent := 0
	if p.pos < len(p.src) && (p.src[p.pos] == 'e' || p.src[p.pos] == 'E') {
		p.pos++
		if p.pos < len(p.src) && (p.src[p.pos] == '+' || p.src[p.pos] == '-') {
			p.pos++
		}
		from := p.pos
		if err := p.digits(); err != nil {
			return err
		}
		for _, c := range p.src[from:p.pos] {
			exponent = min(exponent*10+int(c-'0'), MaxExponent+1)
		}
	}
	switch {
	case p.pos-start > MaxNumberBytes:
		return limitError(start, LimitNumberBytes,
			"a number of "+strconv.Itoa(p.pos-start)+" bytes, at most "+strconv.Itoa(MaxNumberBytes)+" allowed")
	case exponent > MaxExponent:
		return limitError(start, LimitNumberExponent, "an exponent beyond "+strconv.Itoa(MaxExponent))
	}
	return nil
}

func (p *parser) digits() *Error {
	if p.pos == len(p.src) || !digit(p.src[p.pos]) {
		return p.unexpected("a digit")
	}
	for p.pos < len(p.src) && digit(p.src[p.pos]) {
		p.pos++
	}
	return nil
}

func (p *parser) unexpectedAt(pos int, want string) *Error {
	p.pos = pos
	return p.unexpected(want)
}

func (p *parser) unexpected(want string) *Error {
	if p.pos >= len(p.src) {
		return &Error{Code: policy.BadJSON, Message: "the text ends where " + want + " belongs", Offset: len(p.src)}
	}
	r, _ := utf8.DecodeRune(p.src[p.pos:])
	found := strconv.QuoteRuneToASCII(r)
	if r == '\uFEFF' {
		found = "a byte order mark"
	}
	return &Error{Code: policy.BadJSON, Message: "found " + found + " where " + want + " belongs", Offset: p.pos}
}

func digit(c byte) bool { return '0' <= c && c <= '9' }

// hexDigit returns the value of a hexadecimal digit, -1 for any other byte.
func hexDigit(c byte) rune {
	switch {
	case digit(c):
		return rune(c - '0')
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return rune(c|0x20-'a') + 10
	}
	return -1
}

// Exists reports whether v is a value of a text; a null exists.
func (v Value) Exists() bool { return v.doc != nil }

// noNode stands for what is absent. Nobody writes to it.
var noNode node

// node returns what v stands for. A pointer: copying a node at each question was a third of the
// time in the module.
func (v Value) node() *node {
	if v.doc == nil {
		return &noNode
	}
	return &v.doc.nodes[v.index]
}

// Kind returns what v is, Invalid when it is absent.
func (v Value) Kind() Kind { return v.node().kind }

// Offset returns where v begins, in bytes from the beginning of the text.
func (v Value) Offset() int { return int(v.node().start) }

// End returns the offset of the first byte after v.
func (v Value) End() int { return int(v.node().end) }

// Raw returns the text of v, a part of what was given to [Parse]; nil when v is absent.
func (v Value) Raw() []byte {
	if v.doc == nil {
		return nil
	}
	n := v.node()
	return v.doc.src[n.start:n.end:n.end]
}

// lexeme returns the text of v as a string.
func (v Value) lexeme() string {
	if v.doc == nil {
		return ""
	}
	n := v.node()
	return v.doc.text[n.start:n.end]
}

// Len returns the number of elements or members, members of the same name included; 0 for anything
// else.
func (v Value) Len() int { return int(v.node().count) }

// First returns the first element of an array or the value of the first member of an object, in
// document order.
func (v Value) First() Value {
	if v.node().count == 0 {
		return Value{}
	}
	return Value{v.doc, v.index + 1}
}

// Next returns the element or the value of the member after v, absent after the last one.
func (v Value) Next() Value {
	if next := v.node().next; next != 0 {
		return Value{v.doc, next}
	}
	return Value{}
}

// Key returns the name of the member whose value v is, "" when v is not a member.
func (v Value) Key() string {
	n := v.node()
	if n.keyEnd == 0 {
		return ""
	}
	return unquote(v.doc.text[n.keyStart:n.keyEnd], n.flags&keyEscaped != 0)
}

// KeyOffset returns where the name of the member begins (its opening quote), and the offset of v
// when it is not a member.
func (v Value) KeyOffset() int {
	n := v.node()
	if n.keyEnd == 0 {
		return int(n.start)
	}
	return int(n.keyStart)
}

// Name returns the quoted name of the member whose value v is, as written; nil when v is not a
// member.
func (v Value) Name() []byte {
	n := v.node()
	if n.keyEnd == 0 {
		return nil
	}
	return v.doc.src[n.keyStart:n.keyEnd:n.keyEnd]
}

// Get returns the value of the member with exactly this name, the last of several, which is the one
// that counts to Kubernetes when it does not refuse them; absent when there is none or v is not an
// object.
//
// Differs from Kubernetes: it decodes objects that are repeated into each other, and leaves a text
// or a number as it was when null follows.
func (v Value) Get(name string) (found Value) {
	n := v.node()
	if n.kind != Object || n.count == 0 {
		return Value{}
	}
	hash, nodes := hashOf(name), v.doc.nodes
	for i := v.index + 1; i != 0; {
		m := &nodes[i]
		if m.hash == hash && v.doc.named(m, name) {
			if found = (Value{v.doc, i}); n.flags&clashes == 0 {
				break
			}
		}
		i = m.next
	}
	return found
}

// named reports whether member m has this name.
func (d *document) named(m *node, name string) bool {
	if m.flags&keyEscaped != 0 {
		return unquote(d.text[m.keyStart:m.keyEnd], true) == name
	}
	return d.text[m.keyStart+1:m.keyEnd-1] == name
}

// Str returns the text of a string, "" for anything else. An escaped half of a surrogate pair reads
// as U+FFFD, as in Go's decoder.
func (v Value) Str() string {
	n := v.node()
	if n.kind != String {
		return ""
	}
	return unquote(v.doc.text[n.start:n.end], n.flags&escaped != 0)
}

// Bool reports whether v is true.
func (v Value) Bool() bool { return v.Kind() == Bool && v.doc.src[v.Offset()] == 't' }

// Int64 returns the value of a number that is written as an integer, without fraction and exponent,
// and fits in 64 bits; ok is false for anything else.
//
// Source: the integer case of literalStore in sigs.k8s.io/json, which reads the digits with
// strconv.ParseInt.
func (v Value) Int64() (n int64, ok bool) {
	if v.Kind() != Number {
		return 0, false
	}
	s := v.lexeme()
	negative := s[0] == '-'
	if negative {
		s = s[1:]
	}
	var sum uint64
	for i := range len(s) {
		if !digit(s[i]) || sum > math.MaxInt64/10 {
			return 0, false
		}
		sum = sum*10 + uint64(s[i]-'0')
	}
	switch {
	case negative && sum <= -math.MinInt64:
		return -int64(sum), true
	case !negative && sum <= math.MaxInt64:
		return int64(sum), true
	}
	return 0, false
}

// unquote returns the text of a string in quotes that the parser has accepted.
func unquote(s string, escaped bool) string {
	s = s[1 : len(s)-1]
	if !escaped {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b = append(b, s[i])
			continue
		}
		i++
		switch c := s[i]; c {
		case 'b':
			b = append(b, '\b')
		case 'f':
			b = append(b, '\f')
		case 'n':
			b = append(b, '\n')
		case 'r':
			b = append(b, '\r')
		case 't':
			b = append(b, '\t')
		case 'u':
			r := hex4(s[i+1:])
			i += 4
			if low, ok := lowSurrogate(s[i+1:]); ok && 0xD800 <= r && r < 0xDC00 {
				r = (r-0xD800)<<10 | (low - 0xDC00) + 0x10000
				i += 6
			}
			b = utf8.AppendRune(b, r) // U+FFFD for half a pair
		default:
			b = append(b, c)
		}
	}
	return string(b)
}

func hex4(s string) rune {
	return hexDigit(s[0])<<12 | hexDigit(s[1])<<8 | hexDigit(s[2])<<4 | hexDigit(s[3])
}

// lowSurrogate reports whether s begins with the escape of the second half of a pair.
func lowSurrogate(s string) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	r := hex4(s[2:])
	return r, 0xDC00 <= r && r < 0xE000
}

// mark returns the byte order mark at the beginning of src, nothing if there is none.
func mark(src []byte) []byte {
	if len(src) >= 3 && src[0] == 0xEF && src[1] == 0xBB && src[2] == 0xBF {
		return src[:3]
	}
	return nil
}

// Position returns line and column of an offset in src, both from 1, the column in Unicode code
// points. Lines end with a line feed. An offset outside src counts as the nearest end, and a byte
// order mark at the beginning as nothing.
func Position(src []byte, offset int) (line, column int) {
	start := len(mark(src))
	before := src[:max(start, min(offset, len(src)))]
	line = 1
	for i, c := range before {
		if c == '\n' {
			line++
			start = i + 1
		}
	}
	return line, utf8.RuneCount(before[start:]) + 1
}
