package schema

import (
	"github.com/podfate/podfate/policy/manifest"
	"go.yaml.in/yaml/v3"
)

// tree is the node tree of one YAML document: it is counted and checked before anything is built
// from it, and tells later where a value of the converted JSON is in the text.
type tree struct {
	root  *yaml.Node
	lines yamlLines
	base  int // offset of the document in its text
}

// find returns where the value at offset of the converted JSON root is in the text, or its key
// when offset is that of a name. What the tree does not have counts as its deepest ancestor that it
// has; exact is false then.
func (t *tree) find(root manifest.Value, offset int) (textOffset int, exact bool) {
	node, v := t.root, root
	for v.Len() > 0 {
		next, index := child(v, offset)
		if index < 0 {
			break
		}
		target := followed(node)
		if v.Kind() == manifest.Array {
			if target.Kind != yaml.SequenceNode || index >= len(target.Content) {
				break
			}
			node = target.Content[index]
		} else {
			key, value := lookup(target, next.Key(), 0)
			if key == nil {
				break
			}
			if offset < next.Offset() {
				return t.base + t.lines.offset(key), true
			}
			node = value
		}
		v = next
	}
	return t.base + t.lines.offset(node), v.Offset() <= offset && (v.Len() == 0 || offset == v.Offset())
}

// followed returns what n stands for: itself unless it is an alias.
func followed(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		return n.Alias
	}
	return n
}

// lookup returns key and value of the member of n with this name, in n itself or in what it merges.
// Of several the last counts, but the first of a list that is merged, as for Kubernetes' reader.
// depth bounds merges of merges.
func lookup(n *yaml.Node, name string, depth int) (key, value *yaml.Node) {
	if n.Kind != yaml.MappingNode || depth > MaxDepth {
		return nil, nil
	}
	for i := len(n.Content)/2*2 - 2; i >= 0; i -= 2 {
		k := n.Content[i]
		if !isMerge(k) {
			if s, ok := keyName(k); ok && s == name {
				return k, n.Content[i+1]
			}
			continue
		}
		for _, merged := range mergedMappings(n.Content[i+1]) {
			if key, value = lookup(merged, name, depth+1); key != nil {
				return key, value
			}
		}
	}
	return nil, nil
}

// isMerge reports whether key k merges its value into the mapping.
//
// Source: isMerge in go.yaml.in/yaml/v2 v2.4.
func isMerge(k *yaml.Node) bool {
	return k.Kind == yaml.ScalarNode && k.Value == "<<" && (k.Style == 0 || k.Tag == "!!merge")
}

// mergedMappings returns the mappings that the value of a merge key brings in; nil when it is not a
// mapping, an alias of one, or a list of these.
func mergedMappings(value *yaml.Node) []*yaml.Node {
	if target := followed(value); target.Kind == yaml.MappingNode {
		return []*yaml.Node{target}
	}
	if value.Kind != yaml.SequenceNode { // an alias of a list does not count
		return nil
	}
	list := make([]*yaml.Node, 0, len(value.Content))
	for _, element := range value.Content {
		target := followed(element)
		if target.Kind != yaml.MappingNode {
			return nil
		}
		list = append(list, target)
	}
	return list
}

// keyName returns the name that key k becomes in JSON.
func keyName(k *yaml.Node) (string, bool) {
	k = followed(k)
	if k.Kind != yaml.ScalarNode {
		return "", false
	}
	return resolve(k).key()
}
