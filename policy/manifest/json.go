package manifest

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/podfate/podfate/policy"
)

// Limits of numbers. Both exist because others compute with the numbers that pass here: a short text such as
// 1e999999999 becomes a number of a billion digits in a library that keeps numbers exact.
const (
	// MaxNumberBytes bounds the text of one number. The longest float64 that Go prints has 24 bytes.
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

// String returns the word that Go's JSON decoder prints for the kind ("bool", "number", …), and "nothing" for Invalid.
func (k Kind) String() string { return kindNames[min(int(k), len(kindNames)-1)] }

// Error tells why a text is not accepted as JSON.
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
}

// node is one value. A child follows its parent, the next child follows all that belongs to the one before.
type node struct {
	start, end       uint32 // of the value
	keyStart, keyEnd uint32 // of the quoted name; both 0 unless the value is a member of an object
	next             uint32 // the next child of the same parent, 0 after the last one
	count            uint32 // number of children
	kind             Kind
	escaped          bool // the string has escapes
	keyEscaped       bool // the name has escapes
}

// Value is one value in a parsed text, small enough to be copied. The zero Value is absent: every method works on it
// and answers with something empty, so that v.Get("spec").Get("containers") needs no checks between.
type Value struct {
	doc   *document
	index uint32
}

// Parse reads one JSON text: strict RFC 8259 in UTF-8 without a byte order mark. src is kept and must not change
// while the Value or one got from it is in use.
//
// The limits are policy.MaxRequestBytes, policy.MaxDepth (nested arrays and objects), policy.MaxMembers (of one
// object), [MaxNumberBytes] and [MaxExponent]; memory is asked for once, in proportion to the number of values. Names that occur twice in an object
// are accepted; see [Value.Duplicates]. Numbers are kept as they are written.
func Parse(src []byte) (Value, *Error) {
	if len(src) > policy.MaxRequestBytes {
		return Value{}, limitError(policy.MaxRequestBytes, LimitRequestBytes,
			strconv.Itoa(len(src))+" bytes, at most "+strconv.Itoa(policy.MaxRequestBytes)+" allowed")
	}
	ascii, controls := survey(src)
	if !ascii && !utf8.Valid(src) {
		return Value{}, &Error{Code: policy.BadUTF8, Message: "invalid UTF-8", Offset: invalidUTF8(src)}
	}
	p := parser{src: src, simple: !controls && bytes.IndexByte(src, '\\') < 0}
	if len(src) > manyBytes {
		p.nodes = make([]node, 0, countValues(src))
	} else {
		p.nodes = make([]node, 0, len(src)/bytesPerValue+8)
	}
	if err := p.parse(); err != nil {
		return Value{}, err
	}
	return Value{doc: &document{src: src, text: string(src), nodes: p.nodes}}, nil
}

const (
	// manyBytes is the size above which counting the values first is cheaper than letting the list grow: in the worst
	// text, two bytes a value, growing leaves three times its size as garbage, here at most 3 MiB.
	manyBytes = 64 << 10
	// bytesPerValue is typical of a manifest without spaces.
	bytesPerValue = 12
)

// survey reports whether src is ASCII, and whether it has control characters other than spaces between values could
// be. Eight bytes at a time: in the module a loop over bytes costs ten times as much.
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

// countValues returns at least the number of values in src when src is JSON, and never more than half its bytes and
// one. Growing the list while parsing would leave several times its size as garbage.
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
	// simple: no byte of src needs a look inside a string: there are no escapes, and nothing that must be escaped.
	simple bool
	pos    int
	nodes  []node
	open   [policy.MaxDepth]struct{ node, last uint32 } // last: the newest child, 0 when there is none
	depth  int
}

// parse is one loop: each turn reads the name, if there is one, and the beginning of a value, and then everything
// that may follow a value up to the beginning of the next.
func (p *parser) parse() *Error {
	for {
		n := node{}
		p.space()
		if p.depth > 0 && p.nodes[p.open[p.depth-1].node].kind == Object {
			if err := p.name(&n); err != nil {
				return err
			}
		}
		opened, err := p.value(&n)
		if err != nil {
			return err
		}
		if opened {
			continue
		}
		for {
			p.space()
			if p.depth == 0 {
				if p.pos < len(p.src) {
					return p.unexpected("the end of the text")
				}
				return nil
			}
			more, err := p.closeOrComma()
			if err != nil {
				return err
			}
			if more {
				break
			}
		}
	}
}

// closeOrComma reads what follows a value in an array or object; more tells that another value must follow.
func (p *parser) closeOrComma() (more bool, err *Error) {
	parent := &p.nodes[p.open[p.depth-1].node]
	end, want := byte(']'), `"," or "]"`
	if parent.kind == Object {
		end, want = '}', `"," or "}"`
	}
	if p.pos == len(p.src) || p.src[p.pos] != ',' && p.src[p.pos] != end {
		return false, p.unexpected(want)
	}
	p.pos++
	if p.src[p.pos-1] == ',' {
		return true, nil
	}
	parent.end = uint32(p.pos)
	p.depth--
	return false, nil
}

func (p *parser) name(n *node) *Error {
	if p.pos == len(p.src) || p.src[p.pos] != '"' {
		return p.unexpected("a name in quotes")
	}
	if p.nodes[p.open[p.depth-1].node].count == policy.MaxMembers {
		return limitError(p.pos, LimitMembers, "an object with more than "+strconv.Itoa(policy.MaxMembers)+" names")
	}
	n.keyStart = uint32(p.pos)
	escaped, err := p.quoted()
	if err != nil {
		return err
	}
	n.keyEnd, n.keyEscaped = uint32(p.pos), escaped
	p.space()
	if p.pos == len(p.src) || p.src[p.pos] != ':' {
		return p.unexpected(`":"`)
	}
	p.pos++
	p.space()
	return nil
}

// value reads a scalar, an empty array or object, or the beginning of another one (opened), and appends n.
func (p *parser) value(n *node) (opened bool, err *Error) {
	if p.pos == len(p.src) {
		return false, p.unexpected("a value")
	}
	n.start = uint32(p.pos)
	switch c := p.src[p.pos]; c {
	case '{', '[':
		return p.container(n, c)
	case '"':
		n.kind = String
		n.escaped, err = p.quoted()
	case 't':
		n.kind, err = Bool, p.word("true")
	case 'f':
		n.kind, err = Bool, p.word("false")
	case 'n':
		n.kind, err = Null, p.word("null")
	default:
		if c != '-' && !digit(c) {
			return false, p.unexpected("a value")
		}
		n.kind, err = Number, p.number()
	}
	if err != nil {
		return false, err
	}
	n.end = uint32(p.pos)
	p.add(*n)
	return false, nil
}

func (p *parser) container(n *node, c byte) (opened bool, err *Error) {
	if p.depth == policy.MaxDepth {
		return false, limitError(p.pos, LimitDepth, "nested more than "+strconv.Itoa(policy.MaxDepth)+" levels")
	}
	n.kind = Array
	if c == '{' {
		n.kind = Object
	}
	p.pos++
	p.space()
	if p.pos < len(p.src) && p.src[p.pos] == c+2 { // in ASCII "]" is "[" + 2, and "}" is "{" + 2
		p.pos++
		n.end = uint32(p.pos)
		p.add(*n)
		return false, nil
	}
	p.open[p.depth].node, p.open[p.depth].last = p.add(*n), 0
	p.depth++
	return true, nil
}

func (p *parser) add(n node) uint32 {
	index := uint32(len(p.nodes))
	p.nodes = append(p.nodes, n)
	if p.depth > 0 {
		in := &p.open[p.depth-1]
		p.nodes[in.node].count++
		if in.last != 0 {
			p.nodes[in.last].next = index
		}
		in.last = index
	}
	return index
}

func (p *parser) space() {
	if p.pos < len(p.src) && p.src[p.pos] > ' ' {
		return
	}
	for p.pos < len(p.src) {
		switch p.src[p.pos] {
		case ' ', '\n', '\t', '\r':
			p.pos++
		default:
			return
		}
	}
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

// quoted reads a string from its opening quote to behind its closing one.
func (p *parser) quoted() (escaped bool, err *Error) {
	if p.simple {
		end := bytes.IndexByte(p.src[p.pos+1:], '"')
		if end < 0 {
			p.pos = len(p.src)
			return false, p.unexpected("the closing quote")
		}
		p.pos += end + 2
		return false, nil
	}
	src := p.src // a local, so that the loop neither loads nor checks more than it must
	for i := p.pos + 1; i < len(src); i++ {
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
				return p.unexpected("four hexadecimal digits")
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

func (p *parser) unexpected(want string) *Error {
	if p.pos >= len(p.src) {
		return &Error{Code: policy.BadJSON, Message: "the text ends where " + want + " belongs", Offset: len(p.src)}
	}
	r, _ := utf8.DecodeRune(p.src[p.pos:])
	return &Error{Code: policy.BadJSON, Message: "found " + strconv.QuoteRuneToASCII(r) + " where " + want + " belongs", Offset: p.pos}
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

// node returns what v stands for. A pointer: copying a node at each question was a third of the time in the module.
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

// Len returns the number of elements or members, members of the same name included; 0 for anything else.
func (v Value) Len() int { return int(v.node().count) }

// First returns the first element of an array or the value of the first member of an object, in document order.
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
	return unquote(v.doc.text[n.keyStart:n.keyEnd], n.keyEscaped)
}

// KeyOffset returns where the name of the member begins (its opening quote), and the offset of v when it is not a
// member.
func (v Value) KeyOffset() int {
	n := v.node()
	if n.keyEnd == 0 {
		return int(n.start)
	}
	return int(n.keyStart)
}

// Get returns the value of the member with exactly this name, the first of several; absent when there is none or v
// is not an object.
func (v Value) Get(name string) Value {
	if v.Kind() != Object {
		return Value{}
	}
	for m := v.First(); m.Exists(); m = m.Next() {
		if n := m.node(); n.keyEscaped {
			if m.Key() == name {
				return m
			}
		} else if int(n.keyEnd-n.keyStart) == len(name)+2 && m.Key() == name {
			return m
		}
	}
	return Value{}
}

// Str returns the text of a string, "" for anything else. An escaped half of a surrogate pair reads as U+FFFD, as in
// Go's decoder.
func (v Value) Str() string {
	n := v.node()
	if n.kind != String {
		return ""
	}
	return unquote(v.doc.text[n.start:n.end], n.escaped)
}

// Bool reports whether v is true.
func (v Value) Bool() bool { return v.Kind() == Bool && v.doc.src[v.Offset()] == 't' }

// Int64 returns the value of a number that is written as an integer, without fraction and exponent, and fits in 64
// bits; ok is false for anything else.
//
// Source: the integer case of literalStore in sigs.k8s.io/json, which reads the digits with strconv.ParseInt.
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

// Position returns line and column of an offset in src, both from 1, the column in Unicode code points. Lines end
// with a line feed. An offset outside src counts as the nearest end.
func Position(src []byte, offset int) (line, column int) {
	before := src[:max(0, min(offset, len(src)))]
	line, start := 1, 0
	for i, c := range before {
		if c == '\n' {
			line++
			start = i + 1
		}
	}
	return line, utf8.RuneCount(before[start:]) + 1
}
