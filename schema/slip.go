package schema

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"github.com/podfate/podfate/policy"
)

// slip is a mistake in a text that YAML refuses, where it begins and in plain words.
type slip struct {
	offset int
	code   policy.FaultCode
	words  string
}

// findSlip returns the first mistake of the usual kinds in a document that is not YAML; ok is false
// if there is none of them, which leaves the place and the words to the library. yaml/v3 notices a
// mistake some tokens after it, and names what it would have liked instead; this function knows
// nothing of values and reads line by line, as people do. In the manifests of all scenarios it
// finds nothing, which a test holds.
//
// The page has the same function in web/bundle/src/slip.js, and web/testdata/slips.json holds both
// to the same words.
func findSlip(text []byte) (slip, bool) {
	s := slips{text: text, parent: -1, awaits: true}
	for s.at = 0; s.at < len(text) && !s.found; {
		s.line()
	}
	switch s.slip.words {
	case wordsKey, wordsDash, wordsMapping, wordsNoColon:
		line := s.text[s.slip.offset-s.column(s.slip.offset) : s.next(s.slip.offset)]
		if bytes.Contains(line, []byte("{{")) {
			s.slip.words += "; " + wordsTemplate
		}
	}
	return s.slip, s.found
}

// slips is one search. at is the offset from which the text is still to be read.
type slips struct {
	text  []byte
	at    int
	slip  slip
	found bool

	parent     int  // column of the last key, or of the last "- " without one: what is deeper belongs to it
	awaits     bool // its value has not begun
	plain      bool // its value is a plain scalar, which deeper lines continue
	lone       int  // where a plain scalar begins that has a line to itself, -1 if the last one does not
	afterPlain bool // plain, of the line before
	begun      bool // something other than comments was read

	open  []blockLevel // of the lists and mappings around
	mixed bool         // "? " was read: then columns are not looked at
}

// blockLevel is a list or a mapping that is written with indentation.
type blockLevel struct {
	column int
	list   bool
}

func (s *slips) is(offset int, words string) { s.as(offset, CodeSyntax, words) }

func (s *slips) as(offset int, code policy.FaultCode, words string) {
	if !s.found {
		s.slip, s.found = slip{offset, code, words}, true
	}
	s.at = len(s.text)
}

// peek returns the byte at i, a line feed outside the text.
func (s *slips) peek(i int) byte {
	if 0 <= i && i < len(s.text) {
		return s.text[i]
	}
	return '\n'
}

func (s *slips) blankAt(i int) bool {
	c := s.peek(i)
	return c == ' ' || c == '\t' || c == '\n' || c == '\r'
}

func (s *slips) endOfLine(i int) bool {
	c := s.peek(i)
	return c == '\n' || c == '\r'
}

func (s *slips) has(i int, word string) bool {
	return bytes.HasPrefix(s.text[min(i, len(s.text)):], []byte(word))
}

// skip returns the offset of the next byte that is neither a space nor a tab.
func (s *slips) skip(i int) int {
	for i < len(s.text) && (s.text[i] == ' ' || s.text[i] == '\t') {
		i++
	}
	return i
}

// next returns the offset of the line after the one of i.
func (s *slips) next(i int) int {
	if n := bytes.IndexByte(s.text[i:], '\n'); n >= 0 {
		return i + n + 1
	}
	return len(s.text)
}

// column returns the number of bytes before i in its line.
func (s *slips) column(i int) int { return i - bytes.LastIndexByte(s.text[:i], '\n') - 1 }

// Words of templates and of version control, which no YAML begins with.
var (
	templateMarks = []string{"{{", "{%", "{#"}
	conflictMarks = []string{"<<<<<<< ", "=======\n", ">>>>>>> "}
)

const (
	wordsTemplate  = "{{ … }} and {% … %} are for a template engine: render the text first, as helm template does"
	wordsConflict  = "a merge conflict begins here: resolve it first"
	wordsDirective = `a line that begins with "%" is a YAML directive, which Kubernetes does not support: leave it out`
	wordsNoColon   = `a key is not followed by ": ": check this line and the indentation`
	wordsKey       = "a key is expected here: check the indentation"
	wordsDash      = `"- " is expected here: check the indentation`
	wordsMapping   = `": " cannot stand here: check the indentation, or write the text in quotes`
	wordsList      = `"- " cannot stand here: check the indentation; a list begins in a line of its own`
	wordsQuestion  = `"? " cannot stand here: check the indentation, or write the text in quotes`
	wordsNoSpace   = `a space is missing after ":"`
	wordsTab       = "a tab cannot indent in YAML; use spaces"
	wordsOpenQuote = "the quotation mark that begins here is never closed"
	wordsEscape    = `a backslash begins an escape in double quotes, and this is not one: use single quotes, or \\`
	wordsTag       = `"!" begins a tag, and this is not one that is read here: write the text in quotes`
	wordsNoEnd     = `"..." ends a document, and there is none before it`
	wordsSurrogate = "half of a surrogate pair is not a character: write the character itself"
)

// wordsDepth says that level MaxDepth+1 begins.
var wordsDepth = "too many lists and mappings in one another, at most " + strconv.Itoa(MaxDepth) + " allowed"

func (s *slips) template(i int) bool {
	for _, mark := range templateMarks {
		if s.has(i, mark) {
			s.is(i, wordsTemplate)
			return true
		}
	}
	return false
}

// line reads the line at s.at, and those that belong to what begins in it.
func (s *slips) line() {
	start := s.at
	i := start
	for s.peek(i) == ' ' {
		i++
	}
	indent := i - start
	if content := s.skip(i); content > i && (indent == 0 || !s.endOfLine(content) && s.peek(content) != '#' && !s.continues(indent, content)) {
		s.as(i, CodeTabIndent, wordsTab)
		return
	}
	i = s.skip(i)
	if s.endOfLine(i) || s.peek(i) == '#' {
		s.at = s.next(i)
		return
	}
	if indent == 0 && (s.has(i, "...") || !s.continues(indent, i)) && s.marker(i) {
		return
	}
	if s.continues(indent, i) {
		s.at = s.next(i)
		return
	}
	if s.plain && s.lone >= 0 && indent > s.parent && s.keyLine(i) { // what looks like a value was meant as a key
		s.noColon(s.lone)
		return
	}
	if indent <= s.parent {
		s.awaits = s.awaits && indent == s.parent && s.peek(i) == '-' // a list may be right below its key
	}
	s.afterPlain, s.plain, s.begun = s.plain, false, true
	s.node(i, true)
}

// marker reads what means something at the beginning of a line only, and reports whether the line
// is done.
func (s *slips) marker(i int) bool {
	switch {
	case s.has(i, "...") && s.blankAt(i+3):
		if s.begun {
			s.at = len(s.text)
		} else {
			s.is(i, wordsNoEnd)
		}
		return true
	case s.peek(i) == '%':
		s.is(i, wordsDirective)
		return true
	}
	for _, mark := range conflictMarks {
		if s.has(i, mark) {
			s.is(i, wordsConflict)
			return true
		}
	}
	return false
}

// continues reports whether the line of content i goes on with the plain scalar before it.
func (s *slips) continues(indent, i int) bool { return s.plain && indent > s.parent && !s.keyLine(i) }

// keyLine reports whether a line has a plain text that is followed by ": ".
func (s *slips) keyLine(i int) bool {
	for ; !s.endOfLine(i); i++ {
		if s.peek(i) == ':' && s.blankAt(i+1) {
			return true
		}
		if s.peek(i) == '#' && s.blankAt(i-1) {
			return false
		}
	}
	return false
}

func (s *slips) noColon(i int) {
	for k := i; !s.blankAt(k); k++ {
		if s.peek(k) == ':' && k > i && !s.has(k, "://") {
			s.is(k, wordsNoSpace)
			return
		}
	}
	s.is(i, wordsNoColon)
}

// node reads what is at i: the first of a line, or the value after a key.
func (s *slips) node(i int, first bool) {
	alone := first
	levels := 0
	for first && (s.peek(i) == '-' || s.peek(i) == '?' || s.peek(i) == ':') && s.blankAt(i+1) {
		if levels++; levels > MaxDepth {
			s.as(i, CodeLimitDepth, wordsDepth)
			return
		}
		if s.mixed = s.mixed || s.peek(i) != '-'; !s.level(i, true) {
			return
		}
		s.parent, s.awaits, alone = s.column(i), true, false
		if i = s.skip(i + 1); s.endOfLine(i) || s.peek(i) == '#' {
			s.at = s.next(i)
			return
		}
	}
	if !first && (s.has(i, "- ") || s.has(i, "? ")) {
		s.is(i, map[byte]string{'-': wordsList, '?': wordsQuestion}[s.text[i]])
		return
	}
	begin := i
	i, after := s.properties(i)
	if s.found {
		return
	}
	if s.endOfLine(i) || s.peek(i) == '#' && s.blankAt(i-1) { // the value is below
		s.at = s.next(i)
		return
	}
	end, kind := s.one(i)
	switch {
	case s.found:
		return
	case kind == 0: // a block scalar has its lines
		return
	}
	i = s.skip(end)
	switch {
	case s.endOfLine(i) || s.peek(i) == '#' && s.blankAt(i-1):
		if kind == 'p' {
			s.lone = -1
			if alone && !after {
				s.lone = begin
				if !s.awaits {
					s.noColon(begin)
					return
				}
			}
			s.plain = s.endOfLine(i) // a comment ends it
		}
		s.awaits = false
		s.at = s.next(i)
	case s.peek(i) == ':' && s.blankAt(i+1) && first:
		if !s.level(begin, false) {
			return
		}
		s.parent, s.awaits = s.column(begin), true
		if i = s.skip(i + 1); s.endOfLine(i) || s.peek(i) == '#' {
			s.at = s.next(i)
			return
		}
		s.node(i, false)
	case s.peek(i) == ':' && s.blankAt(i+1):
		s.is(i, wordsMapping)
	case kind == 'q':
		s.is(i, `the text in quotes has ended before this: inside, ' is written as '' and " as \"`)
	case kind == 'f':
		s.is(i, "the last bracket has closed the first one: nothing may follow it in its line")
	case kind == 'a':
		s.is(i, "nothing may follow an alias in its line")
	default:
		s.at = s.next(i)
	}
}

// properties reads anchors and tags and returns what is after them; after reports whether
// there was one.
func (s *slips) properties(i int) (end int, after bool) {
	anchored := false
	for {
		switch c := s.peek(i); {
		case c == '&' && anchored:
			s.is(i, "a value has one anchor at most")
			return i, true
		case c == '*' && anchored:
			s.is(i, "an alias cannot have an anchor")
			return i, true
		case c == '&':
			anchored = true
			if !s.name(i + 1) {
				s.is(i, `"&" begins an anchor, and its name is missing: write the text in quotes`)
				return i, true
			}
		case c == '!':
			word := s.text[i:s.word(i)]
			if len(word) > 1 && (string(word) == "!!" || word[1] == '<' && word[len(word)-1] != '>' || word[1] != '!' && word[1] != '<' && bytes.IndexByte(word[1:], '!') > 0) {
				s.is(i, wordsTag)
				return i, true
			}
		default:
			return i, after
		}
		after = true
		i = s.skip(s.word(i))
	}
}

// word returns the offset of the next space or end of a line.
func (s *slips) word(i int) int {
	for !s.blankAt(i) {
		i++
	}
	return i
}

// level finds the list, or else the mapping, that an entry at i belongs to, or begins one, and
// reports whether that could be done.
func (s *slips) level(i int, list bool) bool {
	column, less := s.column(i), false
	for len(s.open) > 0 && s.open[len(s.open)-1].column > column {
		s.open, less = s.open[:len(s.open)-1], true
	}
	top := blockLevel{column: -1}
	if len(s.open) > 0 {
		top = s.open[len(s.open)-1]
	}
	expected := wordsKey
	if top.list {
		expected = wordsDash
	}
	switch {
	case s.mixed || top == blockLevel{column, list}:
		return true
	case top.column == column && list && s.awaits && s.parent == column, top.column < column && s.awaits && !less:
		s.open = append(s.open, blockLevel{column, list})
		return true
	case top.column == column && !list && len(s.open) > 1 && s.open[len(s.open)-2] == blockLevel{column, false}:
		s.open = s.open[:len(s.open)-1] // the list stood right below its key
		return true
	case top.column < column && !less && s.afterPlain && s.keyLine(i):
		for !(s.peek(i) == ':' && s.blankAt(i+1)) {
			i++
		}
		expected = wordsMapping
	}
	s.is(i, expected)
	return false
}

// name reports whether the name of an anchor begins at i.
func (s *slips) name(i int) bool {
	c := s.peek(i)
	return c == '-' || c == '_' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// one reads one value and returns where it ends and what it is: q in quotes, f in brackets, a an
// alias, p plain, 0 a block scalar, whose lines have been read.
func (s *slips) one(i int) (end int, kind byte) {
	if s.template(i) {
		return i, 0
	}
	switch c := s.peek(i); c {
	case '"', '\'':
		end = s.quoted(i)
		if !s.found && bytes.IndexByte(s.text[i:end], '\n') >= 0 {
			if k := s.skip(end); !s.endOfLine(k) && s.peek(k) != '#' {
				s.is(i, wordsOpenQuote) // it was closed by the mark that was to open another one
			}
		}
		return end, 'q'
	case '[', '{':
		return s.brackets(i), 'f'
	case ']', '}', ',', '@', '`', '%':
		s.is(i, strconv.Quote(string(c))+" cannot begin a value: write it in quotes")
		return i, 0
	case '*':
		if !s.name(i + 1) {
			s.is(i, `"*" begins an alias, and its name is missing: write the text in quotes`)
			return i, 0
		}
		return s.word(i), 'a'
	case '|', '>':
		s.block(i)
		return i, 0
	}
	for ; !s.endOfLine(i); i++ {
		if s.peek(i) == ':' && s.blankAt(i+1) || s.peek(i) == '#' && s.blankAt(i-1) {
			break
		}
	}
	return i, 'p'
}

// block reads a block scalar: its header at i and all deeper lines.
func (s *slips) block(i int) {
	k := i + 1
	for c := s.peek(k); c == '+' || c == '-' || '1' <= c && c <= '9'; c = s.peek(k) {
		k++
	}
	if rest := s.skip(k); !s.endOfLine(rest) && s.peek(rest) != '#' {
		s.is(i, strconv.Quote(string(s.peek(i)))+" begins a text of several lines, and nothing may follow it in its own: write the text in quotes")
		return
	}
	for s.at = s.next(i); s.at < len(s.text); s.at = s.next(s.at) {
		content := s.at
		for s.peek(content) == ' ' {
			content++
		}
		if !s.endOfLine(s.skip(content)) && content-s.at <= s.parent {
			break
		}
	}
	s.awaits = false
}

// quoted returns the offset after the text in quotes that begins at i.
func (s *slips) quoted(i int) int {
	mark := s.text[i]
	for k := i + 1; k < len(s.text); k++ {
		switch c := s.text[k]; {
		case c == '\\' && mark == '"':
			if !s.escape(k) {
				return k
			}
			k++
		case c == mark && mark == '\'' && s.peek(k+1) == mark:
			k++
		case c == mark:
			return k + 1
		}
	}
	s.is(i, wordsOpenQuote)
	return len(s.text)
}

// escape checks the escape at i.
func (s *slips) escape(i int) bool {
	digits := 0
	switch c := s.peek(i + 1); c {
	case 'x':
		digits = 2
	case 'u':
		digits = 4
	case 'U':
		digits = 8
	default:
		if bytes.IndexByte([]byte("0abt\tnvfre \"'/\\N_LP\n\r"), c) < 0 {
			s.is(i, wordsEscape)
		}
		return !s.found
	}
	word := s.text[i+2 : min(i+2+digits, len(s.text))]
	point, err := strconv.ParseUint(string(word), 16, 32)
	switch {
	case err != nil || len(word) < digits:
		s.is(i, `\`+string(s.peek(i+1))+" needs "+strconv.Itoa(digits)+" hexadecimal digits: use single quotes, or \\\\")
	case 0xD800 <= point && point < 0xE000:
		s.is(i, wordsSurrogate)
	case point > utf8.MaxRune:
		s.is(i, "there is no such character")
	}
	return !s.found
}

// brackets returns the offset after the list or mapping in brackets that begins at i.
func (s *slips) brackets(i int) int {
	var open []int
	closes := func(at int) string { return map[byte]string{'[': `"]"`, '{': `"}"`}[s.text[at]] }
	never := func(at int) {
		s.is(at, strconv.Quote(string(s.text[at]))+" is never closed: "+closes(at)+" is missing")
	}
	for i < len(s.text) && !s.found {
		switch c := s.text[i]; {
		case c == '#' && s.blankAt(i-1):
			i = s.next(i)
		case s.has(i, "{{") || s.has(i, "{%"):
			s.is(i, wordsTemplate)
		case c == '[' || c == '{':
			if open = append(open, i); len(open) > MaxDepth {
				s.as(i, CodeLimitDepth, wordsDepth)
			}
			i++
		case c == ']' || c == '}':
			last := open[len(open)-1]
			if (c == ']') != (s.text[last] == '[') {
				if bytes.IndexByte(s.text[last:i], '\n') >= 0 {
					never(last)
				} else {
					s.is(i, closes(last)+" is expected here, which closes what began in column "+strconv.Itoa(utf8.RuneCount(s.text[last-s.column(last):last])+1))
				}
				return i
			}
			i++
			if open = open[:len(open)-1]; len(open) == 0 {
				return i
			}
		case (c == '"' || c == '\'') && !s.inWord(i):
			begin := i
			if i = s.quoted(i); s.found {
				return i
			}
			k := i
			for k < len(s.text) && s.blankAt(k) {
				k++
			}
			if k < len(s.text) && bytes.IndexByte([]byte(",:]}#"), s.text[k]) < 0 {
				last := open[len(open)-1]
				switch {
				case bytes.IndexByte(s.text[begin:i], '\n') >= 0:
					s.is(begin, wordsOpenQuote)
				case bytes.IndexByte(s.text[last:k], '\n') >= 0 && s.keyLine(k):
					never(last)
				default:
					s.is(k, `"," or `+closes(last)+" is expected here")
				}
			}
		default:
			i++
		}
	}
	if !s.found {
		never(open[len(open)-1])
	}
	return i
}

// inWord reports whether the quotation mark at i, which is in brackets, is part of a plain
// text.
func (s *slips) inWord(i int) bool {
	const opens = "[{,:\n\r\"'"
	before := i - 1
	for s.text[before] == ' ' || s.text[before] == '\t' {
		before--
	}
	if bytes.IndexByte([]byte(opens), s.text[before]) >= 0 {
		return false
	}
	if before == i-1 {
		return true
	}
	word := before // an anchor or a tag may be before the text in quotes
	for !s.blankAt(word-1) && bytes.IndexByte([]byte(opens), s.text[word-1]) < 0 {
		word--
	}
	return bytes.IndexByte([]byte("&!?"), s.text[word]) < 0
}
