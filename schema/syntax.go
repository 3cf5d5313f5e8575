package schema

import (
	"bytes"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// What finding the line of a syntax error may cost: beginnings of the text that are parsed again,
// in bytes together. In a document above half of this the place is where the library gave up.
const maxLocateBytes = 64 << 10

// syntax reports that text is not YAML. yaml/v3 names a line, often that of something before the
// error, and no column, so that the place is found in two other ways: how far the library has read
// when it gives up, and the longest beginning of the text, in whole lines, that it accepts. What
// follows that beginning is, or holds, the error: for a quote or a bracket that is never closed it
// is the line that opens it.
func (d *decoder) syntax(text []byte, base int, err error) {
	_, message := splitYAMLError(err)
	noticed := noticedAt(text)
	if slip, ok := findSlip(text); ok && (slip.offset <= noticed || slip.code == CodeTabIndent && strings.Contains(message, "tab")) {
		d.fault(base+slip.offset, slip.code, slip.words)
		d.stopped = d.stopped || slip.code == CodeLimitDepth
		return
	}
	if strings.Contains(message, "exceeded max depth") {
		d.stop(base+noticed, CodeLimitDepth, "too many lists and mappings in one another, at most "+strconv.Itoa(d.budget.depth)+" allowed")
		return
	}
	line := lastGoodLine(text, noticed)
	offset := min(line+columnOf(text[line:], noticed-line, message), max(len(text)-1, 0))
	code := CodeSyntax
	if i := tabInIndentation(text[line:]); i >= 0 {
		code, offset = CodeTabIndent, line+i
		message = wordsTab
	} else if offset < len(text) && text[offset] == '\t' && strings.Contains(message, "cannot start any token") {
		code, message = CodeTabIndent, "a tab is not allowed before a key, a value or a comment here; use spaces"
	}
	if code == CodeSyntax {
		message = plainWords(message, text[offset:])
	}
	if rest, _, _ := bytes.Cut(text[line:], []byte("\n")); code == CodeSyntax && bytes.Contains(rest, []byte("{{")) {
		message += "; " + wordsTemplate
	}
	d.fault(base+offset, code, message)
}

// syntaxWords says what the library's usual messages mean, for people who do not know its words for
// YAML. Others are passed on.
var syntaxWords = map[string]string{
	"mapping values are not allowed in this context":               wordsMapping,
	"mapping keys are not allowed in this context":                 wordsQuestion,
	"block sequence entries are not allowed in this context":       wordsList,
	"could not find expected ':'":                                  wordsNoColon,
	"did not find expected key":                                    wordsKey,
	"did not find expected '-' indicator":                          wordsDash,
	"did not find expected node content":                           "a value is expected here",
	"did not find expected ',' or ']'":                             `"," or "]" is expected after this`,
	"did not find expected ',' or '}'":                             `"," or "}" is expected after this`,
	"did not find expected <document start>":                       `a line "---" is expected here`,
	"found unexpected end of stream":                               wordsOpenQuote,
	"found unexpected document indicator":                          "the quotation mark before this line is never closed",
	"found unknown escape character":                               wordsEscape,
	"found incompatible YAML document":                             "only YAML 1.1 is read, as in Kubernetes: leave the line %YAML out",
	"found undefined tag handle":                                   wordsTag,
	"did not find expected tag URI":                                wordsTag,
	"did not find the expected '>'":                                wordsTag,
	"did not find expected whitespace or line break":               wordsTag,
	"did not find expected '!'":                                    wordsTag,
	"found a tab character where an indentation space is expected": wordsTab,
	"found a tab character that violates indentation":              wordsTab,
}

// plainWords turns a message of the library about what is at the beginning of rest into one for
// people.
func plainWords(message string, rest []byte) string {
	if words, known := syntaxWords[message]; known {
		return words
	}
	if m := unknownAnchor.FindStringSubmatch(message); m != nil {
		return "no anchor &" + m[1] + " comes before this alias"
	}
	if c, size := utf8.DecodeRune(rest); size > 0 && message == "found character that cannot start any token" {
		return strconv.Quote(string(c)) + " cannot begin a value: write it in quotes"
	}
	return message
}

var unknownAnchor = regexp.MustCompile(`^unknown anchor '(.*)' referenced$`)

// columnOf returns the offset in rest, which begins with the line of the error, of what is wrong
// there. noticed is the offset at which the library gave up.
func columnOf(rest []byte, noticed int, message string) int {
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	start := indentation(line)
	if m := unknownAnchor.FindStringSubmatch(message); m != nil {
		if i := bytes.Index(rest, []byte("*"+m[1])); i >= 0 {
			return i
		}
	}
	switch {
	case syntaxWords[message] == wordsTag:
		return max(start, bytes.IndexByte(line, '!'))
	case noticed > len(line): // something that begins in this line never ends
		if i := bytes.IndexAny(line, "\"'[{"); i >= 0 {
			return i
		}
		return start
	case strings.HasPrefix(message, "did not find expected key"), strings.Contains(message, "'-' indicator"):
		return start // the whole line is in the wrong place
	case strings.HasPrefix(message, "did not find expected ',' or"): // the library has read what is there
		return max(start, len(bytes.TrimRight(line[:min(noticed, len(line))], " \t\r"))-1)
	}
	return max(start, noticed)
}

// noticedAt returns the offset of the character at which yaml/v3 gives up. Its scanner asks for
// four characters before it looks at a token, and this reader hands them out one by one.
func noticedAt(text []byte) int {
	const lookahead = 4
	r := &slowReader{text: text, end: len(text) + lookahead}
	stream := yaml.NewDecoder(r)
	var n yaml.Node
	if decodeNode(stream, &n) == nil {
		decodeNode(stream, &n)
	}
	return max(0, min(r.at-lookahead, len(text)-1))
}

// slowReader returns one byte at a time, and after the end of the text as many line feeds as the
// scanner looks ahead.
type slowReader struct {
	text    []byte
	at, end int
}

func (r *slowReader) Read(p []byte) (int, error) {
	if r.at == r.end {
		return 0, io.EOF
	}
	p[0] = '\n'
	if r.at < len(r.text) {
		p[0] = r.text[r.at]
	}
	r.at++
	return 1, nil
}

// lastGoodLine returns the offset of the line after a beginning of text that is YAML by itself,
// while it is not with that line. It looks backwards from the line of offset noticed for some
// lines, since an error is mostly near. Farther away, in a bracket that is never closed, it halves
// the distance: that finds the line if everything before it is good and nothing after.
func lastGoodLine(text []byte, noticed int) int {
	const near = 8
	budget := maxLocateBytes
	good := func(end int) bool {
		budget -= end
		var n yaml.Node
		err := decodeNode(yaml.NewDecoder(bytes.NewReader(text[:end])), &n)
		return err == nil || err == io.EOF
	}
	lineAt := func(offset int) int { return bytes.LastIndexByte(text[:offset], '\n') + 1 }
	bad := lineAt(noticed)
	for i := 0; i < near && bad > 0 && budget-bad >= maxLocateBytes/2; i++ {
		if good(bad) {
			return bad
		}
		bad = lineAt(bad - 1)
	}
	low := 0
	for low < bad {
		middle := lineAt((low + bad) / 2)
		if middle <= low { // the line of low is long: step after it
			next := bytes.IndexByte(text[low:bad], '\n')
			if middle = low + next + 1; next < 0 || middle >= bad {
				break
			}
		}
		if middle > budget {
			return lineAt(noticed)
		}
		if good(middle) {
			low = middle
		} else {
			bad = middle
		}
	}
	return low
}

func indentation(line []byte) int {
	return len(line) - len(bytes.TrimLeft(line, " \t"))
}

// tabInIndentation returns the offset of a tab before the first other character of a line that has
// one, or -1.
func tabInIndentation(line []byte) int {
	n := indentation(line)
	if n == len(line) || line[n] == '\n' || line[n] == '\r' {
		return -1
	}
	return bytes.IndexByte(line[:n], '\t')
}
