package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
	sigsyaml "sigs.k8s.io/yaml"
)

// Edit is an operation of a JSON Patch (RFC 6902), as fixes have them: add, remove, replace or
// move. A move gives a member another name.
type Edit struct {
	Op    string          `json:"op"`
	From  string          `json:"from,omitempty"`
	Path  string          `json:"path"`
	Value json.RawMessage `json:"value,omitempty"`
}

// ErrShared is why an edit is not made in the text: what it is about is written elsewhere, where an
// anchor or a merge key names it, and may be meant for others, too.
var ErrShared = errors.New("it is at an alias or a merge key, which other places may share")

// ErrByHand is why an edit is not made in the text: it is written in a way that would have to be
// reformatted.
var ErrByHand = errors.New("the text there cannot be changed without being reformatted")

// Splice makes edits in document number of a text of YAML or JSON documents, counted from 0 without
// those that are empty. Only the bytes change that the edits are about: comments, anchors, quotes
// and the order of members stay. What comes out is read again, and is the document with the edits
// made, or there is an error: [ErrShared], [ErrByHand], or one about a path. text does not change.
// The texts it is held to are testdata/splices.json; its twin on the page, splice.js, is held to
// them, too.
func Splice(text []byte, document int, edits []Edit) ([]byte, error) {
	out := bytes.Clone(text)
	for _, e := range edits {
		var value bytes.Buffer
		if e.Value != nil {
			if err := json.Compact(&value, e.Value); err != nil { // one line, wherever it was written
				return nil, fmt.Errorf("%s %s: %w", e.Op, e.Path, err)
			}
			e.Value = value.Bytes()
		}
		next, err := spliceOne(out, document, e)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", e.Op, e.Path, err)
		}
		out = next
	}
	return out, nil
}

// Mend makes edits in the manifest among the documents of a text: the one that is a document of its
// own, a member of a Scenario, or the only item of a List.
func Mend(text []byte, edits []Edit) ([]byte, error) {
	docs, err := Decode(text)
	if err != nil {
		return nil, err
	}
	for i, doc := range docs {
		kind, prefix := doc.root.Get("kind"), ""
		switch inside := kind.Str() == kindScenario || absent(kind) && absent(doc.root.Get("apiVersion")); {
		case kind.Str() == kindKubelet, inside && absent(doc.root.Get("manifest")):
			continue
		case inside:
			prefix = "/manifest"
		case kind.Str() == kindList:
			prefix = "/items/0"
		}
		placed := slices.Clone(edits)
		for j := range placed {
			if placed[j].Path = prefix + placed[j].Path; placed[j].From != "" {
				placed[j].From = prefix + placed[j].From
			}
		}
		return Splice(text, i, placed)
	}
	return nil, errors.New("there is no manifest")
}

func spliceOne(text []byte, document int, e Edit) ([]byte, error) {
	root, err := nodeOf(text, document)
	if err != nil {
		return nil, err
	}
	s := &splicer{text: text, starts: lineStarts(text)}
	out, err := s.edit(root, e)
	if err != nil {
		return nil, err
	}
	if !patched(text, out, document, e) {
		return nil, ErrByHand
	}
	return out, nil
}

// nodeOf returns the root of a document.
func nodeOf(text []byte, document int) (*yaml.Node, error) {
	d := yaml.NewDecoder(bytes.NewReader(text))
	for n := 0; ; {
		var node yaml.Node
		if err := d.Decode(&node); err == io.EOF {
			return nil, errors.New("there is no such document")
		} else if err != nil {
			return nil, err
		}
		if len(node.Content) == 0 || node.Content[0].Tag == "!!null" {
			continue
		}
		if n == document {
			return node.Content[0], nil
		}
		n++
	}
}

type splicer struct {
	text   []byte
	starts []int // of lines
}

func lineStarts(text []byte) []int {
	starts := []int{0}
	for i, c := range text {
		if c == '\n' {
			starts = append(starts, i+1)
		}
	}
	return starts
}

// start is the offset at which a node begins, its anchor and tag included.
func (s *splicer) start(n *yaml.Node) int {
	at := s.starts[n.Line-1]
	for range n.Column - 1 { // columns count characters
		_, size := utf8.DecodeRune(s.text[at:])
		at += size
	}
	return at
}

// value is where the content of a node begins, after anchor and tag.
func (s *splicer) value(n *yaml.Node) int {
	at := s.start(n)
	for at < len(s.text) && (s.text[at] == '&' || s.text[at] == '!') {
		for at < len(s.text) && !isBlank(s.text[at]) {
			at++
		}
		for at < len(s.text) && isBlank(s.text[at]) {
			at++
		}
	}
	return at
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// end is the offset after a node, below 0 if it is not known.
func (s *splicer) end(n *yaml.Node) int {
	at := s.value(n)
	switch n.Kind {
	case yaml.AliasNode:
		return at + 1 + len(n.Value)
	case yaml.ScalarNode:
		return s.scalarEnd(n, at)
	}
	if at < len(s.text) && (s.text[at] == '{' || s.text[at] == '[') {
		return s.flowEnd(at)
	}
	if len(n.Content) == 0 {
		return -1
	}
	return s.end(n.Content[len(n.Content)-1])
}

func (s *splicer) scalarEnd(n *yaml.Node, at int) int {
	switch n.Style &^ yaml.TaggedStyle {
	case yaml.DoubleQuotedStyle, yaml.SingleQuotedStyle:
		return s.quotedEnd(at)
	case 0:
		if bytes.HasPrefix(s.text[at:], []byte(n.Value)) { // on one line, as it reads
			return at + len(n.Value)
		}
	}
	return -1
}

// quotedEnd is the offset after a quoted scalar.
func (s *splicer) quotedEnd(at int) int {
	quote := s.text[at]
	for i := at + 1; i < len(s.text); i++ {
		switch {
		case s.text[i] == '\\' && quote == '"':
			i++
		case s.text[i] == quote && quote == '\'' && i+1 < len(s.text) && s.text[i+1] == quote:
			i++
		case s.text[i] == quote:
			return i + 1
		}
	}
	return -1
}

// flowEnd is the offset after the bracket that closes the one at an offset. A comment in between is
// left alone.
func (s *splicer) flowEnd(at int) int {
	depth := 0
	for i := at; i < len(s.text); i++ {
		switch s.text[i] {
		case '[', '{':
			depth++
		case ']', '}':
			if depth--; depth == 0 {
				return i + 1
			}
		case '"', '\'':
			if i = s.quotedEnd(i) - 1; i < 0 {
				return -1
			}
		case '#':
			if isBlank(s.text[i-1]) {
				return -1
			}
		}
	}
	return -1
}

// replace puts text in place of what is between two offsets.
func (s *splicer) replace(from, to int, with string) ([]byte, error) {
	if from < 0 || to < from || to > len(s.text) {
		return nil, ErrByHand
	}
	return []byte(string(s.text[:from]) + with + string(s.text[to:])), nil
}

// edit makes one edit.
func (s *splicer) edit(root *yaml.Node, e Edit) ([]byte, error) {
	path := e.Path
	if e.Op == "move" {
		path = e.From
	}
	steps := strings.Split(path, "/")
	if len(steps) < 2 {
		return nil, errors.New("the whole document is no target")
	}
	parent := root
	for _, step := range steps[1 : len(steps)-1] {
		_, child, err := memberOf(parent, unescape(step))
		if err != nil {
			return nil, err
		}
		parent = child
	}
	if parent.Kind == yaml.AliasNode {
		return nil, ErrShared
	}
	last := unescape(steps[len(steps)-1])
	if e.Op == "add" {
		return s.add(parent, last, e.Value)
	}
	i, child, err := memberOf(parent, last)
	if err != nil {
		return nil, err
	}
	switch e.Op {
	case "remove":
		if anchored(child) {
			return nil, ErrShared
		}
		return s.remove(parent, i)
	case "replace":
		if child.Kind == yaml.AliasNode || anchored(child) {
			return nil, ErrShared
		}
		return s.replace(s.value(child), s.end(child), s.written(child, e.Value))
	case "move":
		key := parent.Content[i]
		name := unescape(e.Path[strings.LastIndexByte(e.Path, '/')+1:])
		if s.text[s.value(key)] == '"' {
			name = strconv.Quote(name)
		}
		return s.replace(s.value(key), s.end(key), name)
	}
	return nil, fmt.Errorf("no operation %q", e.Op)
}

// written is a value in the quotes that what it replaces has.
func (s *splicer) written(n *yaml.Node, value json.RawMessage) string {
	var word string
	if n.Kind != yaml.ScalarNode || json.Unmarshal(value, &word) != nil || !isPlain(word) {
		return string(value)
	}
	switch s.text[s.value(n)] {
	case '"':
		return string(value)
	case '\'':
		return "'" + word + "'"
	}
	return word
}

// anchored reports whether something in n has a name by which others may share it.
func anchored(n *yaml.Node) bool {
	if n.Anchor != "" {
		return true
	}
	for _, c := range n.Content {
		if anchored(c) {
			return true
		}
	}
	return false
}

func unescape(step string) string {
	return strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")
}

// memberOf returns the place of a member's name in n, or of an element, and its value.
func memberOf(n *yaml.Node, step string) (int, *yaml.Node, error) {
	switch n.Kind {
	case yaml.AliasNode:
		return 0, nil, ErrShared
	case yaml.MappingNode:
		found, merges := -1, false
		for i := 0; i < len(n.Content); i += 2 {
			switch {
			case n.Content[i].Tag == "!!merge":
				merges = true
			case n.Content[i].Value == step:
				found = i
			}
		}
		if found >= 0 {
			return found, n.Content[found+1], nil
		}
		if merges {
			return 0, nil, ErrShared
		}
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(n.Content) {
			return i, n.Content[i], nil
		}
	}
	return 0, nil, fmt.Errorf("there is no %q", step)
}

// flow reports whether a list or an object is written in brackets.
func (s *splicer) flow(n *yaml.Node) bool {
	at := s.value(n)
	return at < len(s.text) && (s.text[at] == '[' || s.text[at] == '{')
}

// add writes a new member before the first one of an object.
func (s *splicer) add(n *yaml.Node, name string, value json.RawMessage) ([]byte, error) {
	if n.Kind != yaml.MappingNode {
		return nil, ErrByHand
	}
	text := string(value)
	var word string
	quoted := len(n.Content) > 0 && s.text[s.value(n.Content[0])] == '"'
	if json.Unmarshal(value, &word) == nil && !quoted && isPlain(word) {
		text = word
	}
	if quoted {
		name = strconv.Quote(name)
	}
	switch {
	case s.flow(n):
		at := s.value(n) + 1
		if len(n.Content) > 0 {
			text += ", "
		}
		return s.replace(at, at, name+": "+text)
	case len(n.Content) == 0:
		return nil, ErrByHand
	}
	at := s.start(n.Content[0])
	return s.replace(at, at, name+": "+text+"\n"+strings.Repeat(" ", n.Content[0].Column-1))
}

// isPlain reports whether a word needs no quotes in YAML, as the values of fixes do not.
func isPlain(s string) bool {
	switch strings.ToLower(s) {
	case "", "true", "false", "yes", "no", "on", "off", "null", "y", "n":
		return false
	}
	for i := range len(s) {
		if c := s[i] | 0x20; c < 'a' || c > 'z' {
			return false
		}
	}
	return true
}

// remove takes out member or element i.
func (s *splicer) remove(n *yaml.Node, i int) ([]byte, error) {
	width := 1
	if n.Kind == yaml.MappingNode {
		width = 2
	}
	from, to := s.start(n.Content[i]), s.end(n.Content[i+width-1])
	if to < 0 {
		return nil, ErrByHand
	}
	last := i+width >= len(n.Content)
	if s.flow(n) {
		if whole := s.end(n); whole < 0 || bytes.IndexByte(s.text[s.value(n):whole], '#') >= 0 {
			return nil, ErrByHand
		}
		switch {
		case !last:
			to = s.start(n.Content[i+width])
		case i > 0:
			from = s.end(n.Content[i-1])
		}
		return s.replace(from, to, "")
	}
	if len(n.Content) == width { // an object or a list without anything is written otherwise
		return nil, ErrByHand
	}
	line := s.starts[n.Content[i].Line-1]
	if n.Kind == yaml.SequenceNode {
		dash := bytes.LastIndexByte(s.text[line:from], '-')
		if dash < 0 {
			return nil, ErrByHand
		}
		from = line + dash
	}
	end := bytes.IndexByte(s.text[to:], '\n')
	if end < 0 {
		end = len(s.text) - to - 1
	}
	to += end + 1
	if len(bytes.TrimLeft(s.text[line:from], " ")) == 0 {
		return s.replace(line, to, "")
	}
	// The first member of an element, after its dash: the next one takes its place.
	indent := from - line
	if last || len(s.text) < to+indent || len(bytes.TrimLeft(s.text[to:to+indent], " ")) != 0 || s.start(n.Content[i+width]) != to+indent {
		return nil, ErrByHand
	}
	return s.replace(from, to+indent, "")
}

// patched reports whether after is before with the edit made.
func patched(before, after []byte, document int, e Edit) bool {
	was, err := treeOf(before, document)
	if err != nil {
		return false
	}
	is, err := treeOf(after, document)
	if err != nil {
		return false
	}
	if !patch(&was, e) {
		return false
	}
	return reflect.DeepEqual(was, is)
}

// treeOf reads a document as Kubernetes would.
func treeOf(text []byte, document int) (tree any, err error) {
	root, err := nodeOf(text, document)
	if err != nil {
		return nil, err
	}
	var v any
	if err := root.Decode(&v); err != nil {
		return nil, err
	}
	plain, err := yaml.Marshal(v)
	if err != nil {
		return nil, err
	}
	return tree, sigsyaml.Unmarshal(plain, &tree)
}

func patch(tree *any, e Edit) bool {
	var value any
	if e.Value != nil && json.Unmarshal(e.Value, &value) != nil {
		return false
	}
	if e.Op == "move" {
		var moved any
		return patchAt(tree, strings.Split(e.From, "/")[1:], "remove", nil, &moved) && patchAt(tree, strings.Split(e.Path, "/")[1:], "add", moved, nil)
	}
	return patchAt(tree, strings.Split(e.Path, "/")[1:], e.Op, value, nil)
}

func patchAt(at *any, way []string, op string, value any, old *any) bool {
	step := unescape(way[0])
	switch v := (*at).(type) {
	case map[string]any:
		child, has := v[step]
		if !has && (op != "add" || len(way) > 1) {
			return false
		}
		if len(way) > 1 {
			ok := patchAt(&child, way[1:], op, value, old)
			v[step] = child
			return ok
		}
		if old != nil {
			*old = child
		}
		if v[step] = value; op == "remove" {
			delete(v, step)
		}
		return true
	case []any:
		i, err := strconv.Atoi(step)
		if err != nil || i < 0 || i >= len(v) {
			return false
		}
		if len(way) > 1 {
			return patchAt(&v[i], way[1:], op, value, old)
		}
		if op == "remove" {
			*at = append(append([]any{}, v[:i]...), v[i+1:]...)
			return true
		}
		v[i] = value
		return op == "replace"
	}
	return false
}
