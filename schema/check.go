package schema

import (
	"encoding/base64"
	"math"
	"strconv"

	"github.com/podfate/podfate/policy"
	"go.yaml.in/yaml/v3"
)

// weight is what a subtree amounts to with its aliases replaced.
type weight struct {
	bytes  int // saturates
	height int // levels of lists and mappings
}

func (w weight) plus(child weight) weight {
	return weight{saturated(w.bytes, child.bytes), max(w.height, child.height)}
}

func saturated(a, b int) int {
	if a > math.MaxInt32-b {
		return math.MaxInt32
	}
	return a + b
}

// effectiveKey is a key of a mapping or of one merged into it.
type effectiveKey struct {
	name string
	node *yaml.Node
}

// checker walks the tree of one document under the budget of its text. Each node is visited once:
// what an anchor holds is weighed when it is met, and an alias adds that weight, so that counting
// costs nothing that could grow.
type checker struct {
	d *decoder
	t *tree

	steps   []step
	kubelet bool                  // the document is a KubeletConfiguration
	inside  int                   // leading steps that lead to the manifest, see manifestSteps
	weights map[*yaml.Node]weight // of anchored nodes
	open    map[*yaml.Node]bool   // anchored nodes that are being walked
	keys    map[*yaml.Node][]effectiveKey
	notes   collected
	repeats collected // keys that are set twice inside a manifest
}

func newChecker(d *decoder, t *tree) *checker {
	kind := kindOf(t.root)
	return &checker{
		d: d, t: t, inside: manifestSteps(kind), kubelet: kind == kindKubelet,
		weights: map[*yaml.Node]weight{}, open: map[*yaml.Node]bool{}, keys: map[*yaml.Node][]effectiveKey{},
	}
}

func kindOf(root *yaml.Node) string {
	if _, value := lookup(root, "kind", 0); value != nil && value.Kind == yaml.ScalarNode {
		return value.Value
	}
	return ""
}

// manifestSteps returns how many steps lead from the root to a manifest inside it: 1 for manifest
// of a Scenario, 2 for items[0] of a List. Paths in a manifest count from the manifest.
func manifestSteps(kind string) int {
	switch kind {
	case "", kindScenario:
		return 1
	case kindList:
		return 2
	}
	return 0
}

// inManifest reports whether the present path leads into a manifest that is in a Scenario or a
// List.
func (c *checker) inManifest() bool {
	return len(c.steps) > c.inside && (c.inside == 1 && c.steps[0].name == "manifest" || c.inside == 2 && c.steps[0].name == "items")
}

func (c *checker) path() string {
	steps := c.steps
	if c.inManifest() {
		steps = steps[c.inside:]
	}
	b := make([]byte, 0, 64)
	for _, s := range steps {
		if b = s.append(b); len(b) > MaxQuotedBytes {
			break
		}
	}
	return cut(string(b), MaxQuotedBytes-len("…"))
}

func (c *checker) push(s step) { c.steps = append(c.steps, s) }
func (c *checker) pop()        { c.steps = c.steps[:len(c.steps)-1] }

func (c *checker) offset(n *yaml.Node) int { return c.t.base + c.t.lines.offset(n) }

func (c *checker) fault(n *yaml.Node, code policy.FaultCode, detail string) {
	if !c.d.faults.full() {
		c.d.add(Fault{Path: c.path(), Code: code, Detail: detail}, c.offset(n))
	}
}

// limit reports that the text exceeds its budget at n and ends everything.
func (c *checker) limit(n *yaml.Node, code policy.FaultCode, detail string, most int) {
	if !c.d.stopped {
		c.fault(n, code, detail+", at most "+strconv.Itoa(most)+" allowed")
		c.d.stopped = true
	}
}

// crowd names the list on the way to the present value that has most items, if it has more than a
// Pod may have containers: it is why the text is too large.
func (c *checker) crowd() string {
	most, where := policy.MaxContainers, ""
	n := c.t.root
	for i, s := range c.steps {
		if n == nil {
			break
		}
		if s.index >= 0 {
			if len(n.Content) > most {
				all := c.steps
				most, c.steps = len(n.Content), all[:i]
				where = " (" + c.path() + " has " + strconv.Itoa(most) + " items)"
				c.steps = all
			}
			n = n.Content[s.index]
			continue
		}
		_, n = lookup(n, s.name, 0)
	}
	return where
}

func (c *checker) note(n *yaml.Node, code policy.FaultCode, detail string) {
	if !c.notes.full() {
		c.notes.add(c.d.placed(Fault{Path: c.path(), Code: code, Detail: detail}, c.offset(n)))
	}
}

// walk checks n, which is below level lists and mappings, and returns what it weighs.
func (c *checker) walk(n *yaml.Node, level int) weight {
	c.d.work++
	if c.d.nodes++; c.d.nodes > c.d.budget.nodes {
		c.limit(n, CodeLimitNodes, "too many keys and values in the text"+c.crowd(), c.d.budget.nodes)
	}
	if c.d.stopped {
		return weight{}
	}
	if n.Kind == yaml.AliasNode {
		return c.alias(n, level)
	}
	if n.Anchor != "" {
		c.open[n] = true
	}
	c.tag(n)
	w := weight{bytes: nodeBytes + len(n.Value)}
	c.expand(n, w.bytes)
	if n.Kind == yaml.ScalarNode {
		c.scalar(n)
	} else {
		if level == c.d.budget.depth {
			c.limit(n, CodeLimitDepth, "too many lists and mappings in one another", c.d.budget.depth)
			return weight{}
		}
		if n.Kind == yaml.SequenceNode {
			w = c.sequence(n, level+1, w)
		} else {
			w = c.mapping(n, level+1, w)
		}
		w.height++
	}
	if n.Anchor != "" {
		delete(c.open, n)
		c.weights[n] = w
	}
	return w
}

// expand counts bytes of the text with its aliases replaced.
func (c *checker) expand(n *yaml.Node, bytes int) {
	if c.d.expanded = saturated(c.d.expanded, bytes); c.d.expanded > c.d.budget.expandedBytes {
		c.limit(n, CodeLimitExpandedBytes, "too many bytes in the text once its aliases are replaced", c.d.budget.expandedBytes)
	}
}

func (c *checker) alias(n *yaml.Node, level int) weight {
	if c.d.aliases++; c.d.aliases > c.d.budget.aliases {
		c.limit(n, CodeLimitAliases, "too many aliases in the text", c.d.budget.aliases)
		return weight{}
	}
	if c.open[n.Alias] {
		c.fault(n, CodeSelfReference, "the alias "+quoted("*"+n.Value)+" contains itself")
		return weight{}
	}
	w := c.weights[n.Alias]
	if level+w.height > c.d.budget.depth {
		c.limit(n, CodeLimitDepth, "too many lists and mappings in one another with aliases replaced", c.d.budget.depth)
	}
	c.expand(n, w.bytes)
	return w
}

func (c *checker) sequence(n *yaml.Node, level int, w weight) weight {
	for i, element := range n.Content {
		c.push(step{index: i})
		w = w.plus(c.walk(element, level))
		c.value(element)
		c.pop()
		if c.d.stopped {
			break
		}
	}
	return w
}

func (c *checker) mapping(n *yaml.Node, level int, w weight) weight {
	for i := 0; i+1 < len(n.Content) && !c.d.stopped; i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if isMerge(key) {
			w = w.plus(c.walk(key, level)).plus(c.walk(value, level))
			if mergedMappings(value) == nil {
				c.fault(key, CodeBadMerge, `"<<" merges a mapping, an alias of one, or a list of these`)
			}
			continue
		}
		name, ok := keyName(key)
		if !ok {
			name = "?"
			detail := "a key is a text: null, a list, a mapping or a number of this size cannot be one"
			at := key
			if key.Kind == yaml.MappingNode && key.Style&yaml.FlowStyle != 0 && c.offset(key) == c.offset(n)+1 {
				at, detail = n, wordsTemplate
			}
			c.fault(at, CodeUnsupportedKey, detail)
		}
		c.push(step{name, -1})
		w = w.plus(c.walk(key, level))
		c.key(key, name)
		w = w.plus(c.walk(value, level))
		c.value(value)
		c.pop()
	}
	if !c.d.stopped {
		c.duplicates(n)
	}
	return w
}

// duplicates reports keys that are set twice, by the mapping itself or by what it merges, as strict
// decoding in Kubernetes does, and remembers the keys for the mappings that merge this one.
//
// Decoding with yaml/v3 would compare each key with each other one: 10,000 keys take it half a
// second.
func (c *checker) duplicates(n *yaml.Node) {
	var all []effectiveKey
	first := make(map[string]*yaml.Node, len(n.Content)/2)
	add := func(at *yaml.Node, k effectiveKey) {
		c.d.work++
		if before, repeated := first[k.name]; repeated {
			line, column := c.d.lines.position(c.offset(before))
			c.push(step{k.name, -1})
			c.repeat(at, "key "+quoted(k.name)+" is already set in line "+strconv.Itoa(line)+", column "+strconv.Itoa(column))
			c.pop()
			return
		}
		first[k.name] = k.node
		if all = append(all, k); len(all) > c.d.budget.keys {
			c.limit(at, CodeLimitKeys, "too many keys in one mapping", c.d.budget.keys)
		}
	}
	for i := 0; i+1 < len(n.Content) && !c.d.stopped; i += 2 {
		key := n.Content[i]
		if !isMerge(key) {
			if name, ok := keyName(key); ok {
				add(key, effectiveKey{name, key})
			}
			continue
		}
		for _, merged := range mergedMappings(n.Content[i+1]) {
			for _, k := range c.keys[merged] {
				if c.d.stopped {
					return
				}
				add(key, k)
			}
		}
	}
	c.keys[n] = all
}

// repeat notes a key that is set twice. Inside a manifest fieldValidation says what comes of it,
// which is known when the request is built; elsewhere it is a fault.
func (c *checker) repeat(at *yaml.Node, detail string) {
	if c.inside == 0 && !c.kubelet || c.inManifest() {
		c.repeats.add(c.d.placed(Fault{Path: c.path(), Code: CodeDuplicateKey, Detail: detail}, c.offset(at)))
		return
	}
	c.fault(at, CodeDuplicateKey, detail)
}

// scalar checks what must hold for a scalar wherever it is.
func (c *checker) scalar(n *yaml.Node) {
	if len(n.Value) > c.d.budget.scalarBytes {
		c.limit(n, CodeLimitScalarBytes, "a scalar of "+strconv.Itoa(len(n.Value))+" bytes", c.d.budget.scalarBytes)
	} else if plain(n) && hugeExponent(n.Value) {
		c.fault(n, CodeLimitExponent, quoted(n.Value)+" has an exponent beyond "+strconv.Itoa(MaxNumberExponent)+"; write it in quotes if it is a text")
	}
}

// plain reports whether what n says depends on how it looks: it has neither quotes nor a tag.
func plain(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Style == 0 }

// key notes a key that becomes another text than was written.
func (c *checker) key(n *yaml.Node, name string) {
	if plain(n) && name != n.Value && name != "?" {
		c.note(n, NoteKey, "the key "+quoted(n.Value)+" is read as "+quoted(name)+"; write it in quotes to keep the text")
	}
	if n.Kind == yaml.ScalarNode && n.Style&yaml.TaggedStyle != 0 && n.Tag != "!!str" {
		c.fault(n, CodeUnsupportedTag, "a key has no tag here but !!str")
	}
}

// value checks n in the place of a value: JSON must be able to say it. A surprise is noted.
func (c *checker) value(n *yaml.Node) {
	if n.Kind != yaml.ScalarNode {
		return
	}
	s := resolve(n)
	if n.Tag == "!!binary" && n.Style&yaml.TaggedStyle != 0 {
		if _, err := base64.StdEncoding.DecodeString(n.Value); err != nil {
			c.fault(n, CodeSyntax, "the text after !!binary is not base64; leave the tag out to keep it as it is")
			return
		}
	}
	if n.Style&yaml.TaggedStyle != 0 && !s.fits(n.Tag) {
		c.fault(n, CodeUnsupportedTag, quoted(n.Value)+" is not a value of tag "+quoted(n.Tag))
		return
	}
	if _, ok := s.json(); !ok {
		c.fault(n, CodeNotFinite, quoted(n.Value)+" is a number that JSON cannot say; write it in quotes to keep the text")
		return
	}
	switch {
	case n.Style&yaml.TaggedStyle != 0 && n.Tag == "!!binary":
		c.note(n, NoteBinary, "the text is decoded from base64, as Kubernetes does; leave the tag out to keep it")
	case plain(n):
		if code, detail := s.note(n.Value); code != "" {
			c.note(n, code, detail)
		}
	}
}

// tag refuses the tag "!". It leaves no trace in the tree, although Kubernetes' reader takes a
// plain 12 for a text behind it.
func (c *checker) tag(n *yaml.Node) {
	rest := c.t.lines.text[c.t.lines.offset(n):]
	if len(rest) > 0 && rest[0] == '&' {
		i := 1
		for i < len(rest) && rest[i] > ' ' {
			i++
		}
		for i < len(rest) && (rest[i] == ' ' || rest[i] == '\t') {
			i++
		}
		rest = rest[i:]
	}
	if len(rest) > 0 && rest[0] == '!' && (len(rest) == 1 || rest[1] <= ' ') {
		c.fault(n, CodeUnsupportedTag, `the tag "!" changes how a scalar is read; leave it out, and use quotes for a text`)
	}
}
