package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/manifest"
	"go.yaml.in/yaml/v3"
	sigsyaml "sigs.k8s.io/yaml"
)

// Document is one document of a text, as JSON, with the places of its parts in the text. Nothing of
// it changes after decoding.
type Document struct {
	source  string
	lines   *lines // of the whole text
	bom     int    // bytes of the byte order mark before the text
	json    []byte
	root    manifest.Value // of json; absent when parseErr is set
	tree    *tree          // nil for JSON
	start   int            // of a JSON document: where it begins in the text
	notes   []Fault
	repeats []Fault         // keys that are set twice in a manifest of this document
	err     *manifest.Error // why a JSON document could not be read; the core says the same
}

// JSON returns the document. A text in JSON is returned as it is, byte order mark left out;
// YAML as sigs.k8s.io/yaml converts it. The caller must not change it.
func (d *Document) JSON() []byte { return d.json }

// YAML reports whether the document was YAML, so that the places in an answer about its JSON have
// to be relocated.
func (d *Document) YAML() bool { return d.tree != nil }

// Source returns the name given to [DecodeNamed].
func (d *Document) Source() string { return d.source }

// Notes returns what YAML 1.1 reads differently from what many people expect, in document order;
// nil for JSON. These are warnings: Kubernetes reads the text in the same way.
func (d *Document) Notes() []Fault { return d.notes }

// Duplicates returns the keys that are set twice in a manifest of this document, in document order;
// nil for JSON, whose duplicates the core finds. fieldValidation says what comes of them: see
// [NewRequest]. The last of the values counts, as for Kubernetes. Anywhere else a key that is
// set twice is an error of [Decode].
func (d *Document) Duplicates() []Fault { return d.repeats }

// Position returns line and column of the value at path of the document, or of its deepest ancestor
// that exists. Both count from 1, columns in Unicode code points; they are 0 for JSON that could
// not be read.
func (d *Document) Position(path string) (line, column int) {
	return d.position(d.root.Locate(path), manifest.Value.Offset)
}

// KeyPosition is Position for the name of the member at path; for an element it is that of the
// element.
func (d *Document) KeyPosition(path string) (line, column int) {
	return d.position(d.root.Locate(path), manifest.Value.KeyOffset)
}

func (d *Document) position(v manifest.Value, offset func(manifest.Value) int) (line, column int) {
	if !v.Exists() {
		return 0, 0
	}
	p := d.place(offset(v))
	return p.line, p.column
}

// place returns where the value or name at offset of the document's JSON is in the text.
func (d *Document) place(offset int) place {
	if d.tree != nil {
		offset, _ = d.tree.find(d.root, offset)
	} else {
		offset += d.start
	}
	line, column := d.lines.position(offset)
	return place{d.source, line, column, offset + d.bom}
}

// Decode reads a text of JSON or YAML documents, of at least one. An error is of type [Faults].
//
// The format is found as kubectl finds it: a text whose first character other than white space is
// "{" is JSON, one document or several after one another, and YAML otherwise. If such a text turns
// out not to be JSON before the second object has been read, it is read as YAML, so that {kind:
// Pod} is accepted; if that fails too and it began as JSON does, it is one JSON document and what
// is wrong with it is for the core to say. YAML is split at lines that begin with "---". Documents
// without content are skipped. The text must be UTF-8; a byte order mark is removed.
//
// All limits of this package hold. A JSON text is bounded by MaxBodyBytes only: the core has limits
// of its own.
//
// Source: YAMLOrJSONDecoder in k8s.io/apimachinery v0.33 to v0.37, pkg/util/yaml/decoder.go.
func Decode(text []byte) ([]*Document, error) { return DecodeNamed("", text) }

// DecodeNamed is Decode for a text with a name, such as a file's, that faults carry in Source. text
// is kept and must not change.
func DecodeNamed(name string, text []byte) ([]*Document, error) {
	d := &decoder{source: name, budget: defaultBudget()}
	docs := d.decode(text)
	if d.faults.any() {
		return nil, d.faults.sorted()
	}
	return docs, nil
}

// decoder reads one text.
type decoder struct {
	source string
	budget budget
	lines  *lines
	// What is before the text if it is a part of one: lines, and code points in its first line.
	before, beforeColumn int
	bom                  int // bytes before the text
	faults               collected

	documents, nodes, aliases, expanded int

	stopped bool // the text exceeds its budget: nothing more is read
	work    int  // nodes and keys looked at, for the test that it grows no faster than the text
}

// placed gives a fault its place in the text.
func (d *decoder) placed(f Fault, offset int) Fault {
	f.Source, f.Offset = d.source, offset+d.bom
	f.Line, f.Column = d.lines.position(offset)
	return f
}

func (d *decoder) add(f Fault, offset int) { d.faults.add(d.placed(f, offset)) }

func (d *decoder) fault(offset int, code policy.FaultCode, detail string) {
	d.add(Fault{Code: code, Detail: detail}, offset)
}

// stop reports a fault that ends reading.
func (d *decoder) stop(offset int, code policy.FaultCode, detail string) {
	d.fault(offset, code, detail)
	d.stopped = true
}

var byteOrderMark = []byte("\xEF\xBB\xBF")

func (d *decoder) decode(text []byte) []*Document {
	d.lines = newLines(nil)
	d.lines.before, d.lines.beforeColumn = d.before, d.beforeColumn
	if len(text) > d.budget.bodyBytes {
		d.stop(0, CodeLimitBodyBytes, "more than "+strconv.Itoa(d.budget.bodyBytes)+" bytes")
		return nil
	}
	for _, mark := range []string{"\xFE\xFF", "\xFF\xFE", "\x00\x00\xFE\xFF"} {
		if strings.HasPrefix(string(text[:min(len(text), 4)]), mark) {
			d.stop(0, CodeUTF16, "byte 0: the text is UTF-16 or UTF-32; only UTF-8 is read")
			return nil
		}
	}
	if len(text) > 1 && (text[0] == 0) != (text[1] == 0) { // without a mark: each second byte of ASCII is zero
		d.stop(0, CodeUTF16, "byte 0: the text looks like UTF-16 or UTF-32; only UTF-8 is read")
		return nil
	}
	if rest, marked := bytes.CutPrefix(text, byteOrderMark); marked {
		d.bom, text = d.bom+len(byteOrderMark), rest
	}
	d.lines = newLines(text)
	d.lines.before, d.lines.beforeColumn = d.before, d.beforeColumn
	if i := firstInvalid(text); i >= 0 {
		d.stop(i, CodeBadUTF8, fmt.Sprintf("byte %d: 0x%02X is not UTF-8 here", i+d.bom, text[i]))
		return nil
	}
	var docs []*Document
	begin := bytes.TrimLeftFunc(text, unicode.IsSpace)
	if bytes.HasPrefix(begin, []byte("{")) && !bytes.HasPrefix(begin, []byte("{{")) && !bytes.HasPrefix(begin, []byte("{%")) {
		docs = d.jsonOrYAML(text)
	} else {
		docs = d.yamlStream(text, 0)
	}
	if d.faults.any() {
		for _, doc := range docs {
			d.addAll(doc.repeats)
		}
	}
	if len(docs) == 0 && !d.faults.any() {
		d.fault(0, CodeNoDocument, "no document: nothing but white space, comments and separators")
	}
	return docs
}

func (d *decoder) addAll(faults []Fault) {
	for _, f := range faults {
		d.faults.add(f)
	}
}

// firstInvalid returns the offset of the first byte that is not UTF-8, -1 if there is none.
func firstInvalid(text []byte) int {
	if utf8.Valid(text) {
		return -1
	}
	for i := 0; ; {
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
}

// jsonOrYAML reads a text that begins with "{".
func (d *decoder) jsonOrYAML(text []byte) []*Document {
	whole := d.jsonDocument(text, 0)
	if whole.err == nil || whole.err.Code == policy.LimitExceeded {
		return []*Document{whole}
	}
	var docs []*Document
	stream := json.NewDecoder(bytes.NewReader(text))
	for end := 0; ; {
		var raw json.RawMessage
		err := stream.Decode(&raw)
		switch {
		case errors.Is(err, io.EOF):
			return docs
		case err == nil:
			end = int(stream.InputOffset())
			docs = append(docs, d.jsonDocument(raw, end-len(raw)))
			if d.documents = len(docs); d.documents > d.budget.documents {
				d.stop(end-len(raw), CodeLimitDocuments, "too many documents, at most "+strconv.Itoa(d.budget.documents)+" allowed")
				return nil
			}
		case len(docs) > 1:
			d.stop(end, CodeJSONSyntax, "what follows "+strconv.Itoa(len(docs))+" JSON documents is not JSON: "+cut(err.Error(), MaxQuotedBytes))
			return nil
		default:
			return d.yamlAfterJSON(text, end, whole, docs)
		}
	}
}

// yamlAfterJSON reads what begins as JSON and is not: as YAML from the beginning, or from after
// the first object. If it is no YAML either, it is one JSON document after all.
func (d *decoder) yamlAfterJSON(text []byte, end int, whole *Document, docs []*Document) []*Document {
	for end < len(text) && end > 0 {
		r, size := utf8.DecodeRune(text[end:])
		if !unicode.IsSpace(r) {
			break
		}
		end += size
		if r == '\n' {
			break
		}
	}
	attempt := *d
	more := attempt.yamlStream(text[end:], end)
	if attempt.faults.any() {
		if len(docs) == 0 && !looksLikeJSON(text) {
			*d = attempt
			return nil
		}
		return []*Document{whole}
	}
	*d = attempt
	return append(docs, more...)
}

// looksLikeJSON reports whether a text that begins with "{" goes on as JSON, or as JSON with a
// comment.
func looksLikeJSON(text []byte) bool {
	_, rest, _ := bytes.Cut(text, []byte("{"))
	rest = bytes.TrimLeftFunc(rest, unicode.IsSpace)
	return len(rest) == 0 || bytes.IndexByte([]byte(`"'}/,`), rest[0]) >= 0
}

func (d *decoder) jsonDocument(text []byte, start int) *Document {
	doc := &Document{source: d.source, lines: d.lines, bom: d.bom, json: text, start: start}
	doc.root, doc.err = manifest.Parse(text)
	return doc
}

// yamlStream splits text, which begins at base of the whole text, at its separators.
//
// Source: YAMLReader in k8s.io/apimachinery v0.36, pkg/util/yaml/decoder.go.
func (d *decoder) yamlStream(text []byte, base int) []*Document {
	if i := firstControl(text); i >= 0 {
		r, _ := utf8.DecodeRune(text[i:])
		d.stop(base+i, CodeControlCharacter, fmt.Sprintf("byte %d: %U is not allowed in YAML, not even in quotes", base+i+d.bom, r))
		return nil
	}
	var docs []*Document
	start := 0
	read := func(end int) {
		if doc := d.yamlDocument(text[start:end], base+start); doc != nil {
			docs = append(docs, doc)
		}
	}
	for at := 0; at < len(text) && !d.stopped; {
		end := len(text)
		if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		if after, separator := bytes.CutPrefix(text[at:end], []byte("---")); separator {
			read(at)
			start = end
			if after = bytes.TrimSpace(after); len(after) > 0 && after[0] != '#' && !d.stopped {
				d.stop(base+at, CodeSeparator, "only a comment may follow \"---\" in its line, found "+quoted(string(after)))
			}
		}
		at = end
	}
	if !d.stopped {
		read(len(text))
	}
	return docs
}

// firstControl returns the offset of the first character that YAML does not allow, -1 if there is
// none.
//
// Source: yaml_parser_update_buffer in go.yaml.in/yaml/v2 and v3.
func firstControl(text []byte) int {
	return bytes.IndexFunc(text, func(r rune) bool {
		switch {
		case r < ' ':
			return r != '\t' && r != '\n' && r != '\r'
		case r < 0xA0:
			return r >= 0x7F && r != 0x85
		}
		return r == 0xFFFE || r == 0xFFFF
	})
}

// blank reports whether a document has nothing but empty lines and comments.
func blank(text []byte) bool {
	for line := range bytes.Lines(text) {
		if line = bytes.TrimLeft(line, " \t\r\n"); len(line) > 0 && line[0] != '#' {
			return false
		}
	}
	return true
}

// yamlDocument reads one document; nil when it is empty or null, which Kubernetes skips, and when
// it has faults.
func (d *decoder) yamlDocument(text []byte, base int) *Document {
	if blank(text) {
		return nil
	}
	first := base + bytes.IndexFunc(text, func(r rune) bool { return !unicode.IsSpace(r) })
	if len(text) > d.budget.documentBytes {
		d.stop(first, CodeLimitDocumentBytes, "a document of "+strconv.Itoa(len(text))+" bytes, at most "+strconv.Itoa(d.budget.documentBytes)+" allowed")
		return nil
	}
	if d.documents++; d.documents > d.budget.documents {
		d.stop(first, CodeLimitDocuments, "too many documents, at most "+strconv.Itoa(d.budget.documents)+" allowed")
		return nil
	}
	t := &tree{lines: newYAMLLines(text), base: base}
	if t.root = d.parse(text, base); t.root == nil {
		return nil
	}
	before := d.faults.more + len(d.faults.list)
	c := newChecker(d, t)
	c.walk(t.root, 0)
	if d.faults.more+len(d.faults.list) > before {
		d.addAll(c.repeats.list)
		return nil
	}
	doc := d.convert(text, t, c.notes.sorted(), c.repeats.any())
	if doc == nil {
		d.addAll(c.repeats.list)
		return nil
	}
	doc.repeats = c.repeats.sorted()
	return doc
}

// convert turns a checked document into JSON.
func (d *decoder) convert(text []byte, t *tree, notes []Fault, repeats bool) *Document {
	read := sigsyaml.YAMLToJSONStrict
	if repeats {
		read = sigsyaml.YAMLToJSON
	}
	converted, err := read(text)
	if err != nil { // yaml/v2 refuses what yaml/v3 reads
		line, message := splitYAMLError(err)
		code := CodeSyntax
		if strings.Contains(message, "excessive aliasing") {
			code = CodeLimitExpandedBytes
		}
		d.fault(t.base+t.lines.lineStart(line), code, message)
		return nil
	}
	if string(converted) == "null" {
		return nil
	}
	doc := &Document{source: d.source, lines: d.lines, bom: d.bom, json: converted, tree: t, notes: notes}
	if doc.root, doc.err = manifest.Parse(converted); doc.err != nil {
		// Depth and numbers are in order, so that it is the size: escapes made it longer than the
		// text was.
		d.stop(t.base, CodeLimitRequestBytes, "as JSON the document is too long: "+doc.err.Message)
		return nil
	}
	return doc
}

// parse returns the root of the tree of text; nil when there is none, with a fault unless the
// document is empty.
//
// A text that reaches this point has at most MaxDocumentBytes, and yaml/v3 reads no more than
// 10,000 levels.
func (d *decoder) parse(text []byte, base int) *yaml.Node {
	stream := yaml.NewDecoder(bytes.NewReader(text))
	var doc, rest yaml.Node
	if err := decodeNode(stream, &doc); err != nil {
		if !errors.Is(err, io.EOF) {
			d.syntax(text, base, err)
		}
		return nil
	}
	err := decodeNode(stream, &rest)
	if errors.Is(err, io.EOF) {
		return doc.Content[0]
	}
	// Kubernetes takes the first document up to "..." and says nothing about what follows.
	offset := afterEnd(text)
	if err != nil && offset == 0 { // nothing has ended the document: what follows is a slip
		d.syntax(text, base, err)
		return nil
	}
	if err == nil && len(rest.Content) > 0 {
		offset = newYAMLLines(text).offset(rest.Content[0])
	}
	d.fault(base+offset, CodeAfterEnd, `the document has ended here: another one begins with a line "---"`)
	return nil
}

// decodeNode reads the next document. A panic of the library is a fault of the text; a fuzz test
// looks for one.
func decodeNode(stream *yaml.Decoder, n *yaml.Node) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("yaml: this text cannot be read")
		}
	}()
	return stream.Decode(n)
}

// afterEnd returns the offset of the line after the first one that begins with "...", 0 if there
// is none.
func afterEnd(text []byte) int {
	at := 0
	for line := range bytes.Lines(text) {
		at += len(line)
		if bytes.HasPrefix(line, []byte("...")) {
			return min(at, len(text)-1)
		}
	}
	return 0
}

var yamlErrorLine = regexp.MustCompile(`^(?:yaml: )?(?:unmarshal errors:\s*)?(?:line (\d+): )?`)

// splitYAMLError takes the line, 0 if there is none, and the sentence out of an error of a YAML
// library.
func splitYAMLError(err error) (line int, message string) {
	text, _, _ := strings.Cut(strings.TrimPrefix(err.Error(), "yaml: unmarshal errors:\n"), "\n")
	text = strings.TrimSpace(text)
	m := yamlErrorLine.FindStringSubmatch(text)
	line, _ = strconv.Atoi(m[1])
	return line, cut(text[len(m[0]):], MaxQuotedBytes)
}
