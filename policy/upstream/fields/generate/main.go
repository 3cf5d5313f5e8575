// Command generate writes policy/manifest/fields_generated.go: the fields of the Kubernetes types
// that package manifest checks, each with the releases that have it.
//
// Every release has a small module next to this folder (v1.33 and so on) that depends on that
// release and writes its types as JSON. This program runs them all and merges what they say. To run
// it: go run ./generate, in this folder.
//
// To add a release: copy the newest folder, raise the versions in its go.mod, its number in main.go
// and in the test, run go mod tidy there, extend policy.OldestMinor or NewestMinor, and run this
// program.
package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"go/format"
	"log"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/upstream/fields/dump"
)

const output = "../../manifest/fields_generated.go"

func main() {
	log.SetFlags(0)
	log.SetPrefix("generate: ")
	var releases []dump.Release
	for minor := policy.OldestMinor; minor <= policy.NewestMinor; minor++ {
		r, err := types(minor)
		if err != nil {
			log.Fatalf("1.%d: %v", minor, err)
		}
		releases = append(releases, r)
	}
	t, err := merge(releases)
	if err != nil {
		log.Fatal(err)
	}
	source, err := format.Source(t.source())
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(output, source, 0o644); err != nil {
		log.Fatal(err)
	}
	log.Printf("%d structs, %d fields, %d types, %d bytes of names: about %d bytes",
		len(t.structs), t.rows, len(t.types), len(t.names), len(t.names)+8*t.rows+6*len(t.types)+2*len(t.structs))
}

// types runs the module of a release.
func types(minor int) (r dump.Release, err error) {
	cmd := exec.Command("go", "run", ".")
	cmd.Dir, cmd.Stderr = fmt.Sprintf("v1.%d", minor), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(out, &r); err != nil {
		return r, err
	}
	if r.Minor != minor {
		return r, fmt.Errorf("writes the types of 1.%d", r.Minor)
	}
	return r, nil
}

// table is what all releases have together.
type table struct {
	roots   map[string]string
	keys    []string // of structs, sorted
	structs map[string]*merged
	types   []row
	index   map[string]int // of types, by how they are written below
	names   []byte
	offsets map[string]int // of names
	rows    int
}

type merged struct {
	name   string
	fields []field
}

// field is a field with the releases that have it in this form.
type field struct {
	dump.Field
	minors uint8 // bit 0 is policy.OldestMinor
}

// row is a type as it is in the generated file.
type row struct {
	kind       string
	elem, name int
	comment    string
}

func merge(releases []dump.Release) (*table, error) {
	t := &table{roots: map[string]string{}, structs: map[string]*merged{}, index: map[string]int{}, offsets: map[string]int{}}
	for i, r := range releases {
		for kind, key := range r.Roots {
			if t.roots[kind] != "" && t.roots[kind] != key {
				return nil, fmt.Errorf("%s is %s and %s", kind, t.roots[kind], key)
			}
			t.roots[kind] = key
		}
		for key, s := range r.Structs {
			t.add(key, s, 1<<i)
		}
	}
	embeds := map[string]bool{"": true}
	for key, s := range t.structs {
		t.keys = append(t.keys, key)
		// By hash, then by name, and then the form of the oldest release first.
		slices.SortFunc(s.fields, func(a, b field) int {
			return cmp.Or(int(hash(a.Name))-int(hash(b.Name)), strings.Compare(a.Name, b.Name), int(a.minors)-int(b.minors))
		})
		for _, f := range s.fields {
			embeds[f.Embed] = true
			t.rows++
		}
	}
	slices.Sort(t.keys)
	for _, embed := range sorted(embeds) { // first, so that one byte holds where they are
		if t.name(embed) > 255 {
			return nil, fmt.Errorf("too many embedded structs")
		}
	}
	for _, key := range t.keys {
		for _, f := range t.structs[key].fields {
			t.name(f.Name)
			t.typ(f.Type)
		}
	}
	for _, kind := range sorted(t.roots) {
		t.typ(dump.Type{Kind: "struct", Name: t.structs[t.roots[kind]].name, Struct: t.roots[kind]})
	}
	if len(t.names) > 1<<16 || t.rows > 1<<16 {
		return nil, fmt.Errorf("%d bytes of names, %d fields: more than 16 bits can count", len(t.names), t.rows)
	}
	return t, nil
}

// hash is the function hashOf of package manifest, which a test there compares with the table.
func hash(name string) uint8 {
	n := len(name)
	return uint8((uint32(name[0]) + uint32(name[n/2])<<8 + uint32(name[n-1])<<16 + uint32(n)<<24) * 0x9E3779B1 >> 24)
}

func (t *table) add(key string, s dump.Struct, minor uint8) {
	m := t.structs[key]
	if m == nil {
		m = &merged{name: s.Name}
		t.structs[key] = m
	}
	for _, f := range s.Fields {
		same := func(o field) bool {
			return o.Name == f.Name && o.Embed == f.Embed && signature(o.Type) == signature(f.Type)
		}
		if i := slices.IndexFunc(m.fields, same); i >= 0 {
			m.fields[i].minors |= minor
		} else {
			m.fields = append(m.fields, field{f, minor})
		}
	}
}

// signature is equal for types that read JSON alike and print alike.
func signature(t dump.Type) string {
	s := t.Kind + " " + t.Name + " " + t.Struct
	if t.Kind == "duration" && t.Pointer { // null is no duration, but it is a pointer to one
		s = "pointer to " + s
	}
	if t.Elem != nil {
		s += " of " + signature(*t.Elem)
	}
	return s
}

func (t *table) name(s string) int {
	offset, known := t.offsets[s]
	if !known {
		offset = len(t.names)
		t.offsets[s] = offset
		t.names = append(append(t.names, s...), '\n')
	}
	return offset
}

func (t *table) typ(d dump.Type) int {
	s := signature(d)
	if i, known := t.index[s]; known {
		return i
	}
	r := row{kind: d.Kind, comment: d.Name}
	if d.Elem != nil {
		r.elem = t.typ(*d.Elem)
	}
	if d.Kind == "struct" {
		r.elem, _ = slices.BinarySearch(t.keys, d.Struct)
	}
	if d.Kind == "duration" && d.Pointer {
		r.kind = "durationPointer"
	}
	if d.Kind != "slice" || d.Name != "[]"+d.Elem.Name { // that is what a slice without its own name is called
		r.name = t.name(d.Name)
	}
	t.index[s] = len(t.types)
	t.types = append(t.types, r)
	return len(t.types) - 1
}

func sorted[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func (t *table) source() []byte {
	var b bytes.Buffer
	p := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	p("// Code generated by policy/upstream/fields/generate; DO NOT EDIT.\n\npackage manifest\n\n")
	p("// rootType returns the type of a whole object, a row of typeRows.\n")
	p("func rootType(kind string) (typeIndex, bool) {\nswitch kind {\n")
	for _, kind := range sorted(t.roots) {
		root := dump.Type{Kind: "struct", Name: t.structs[t.roots[kind]].name, Struct: t.roots[kind]}
		p("case %q:\nreturn %d, true\n", kind, t.typ(root))
	}
	p("}\nreturn 0, false\n}\n\n")

	p("// typeRows are the types of fields: kind, what a list or a map holds or which struct it is, name.\n")
	p("var typeRows = [...]typeRow{\n")
	for i, r := range t.types {
		p("{%sType, %d, %d}, // %d %s\n", r.kind, r.elem, r.name, i, r.comment)
	}
	p("}\n\n")

	p("// fieldRows are the fields of all structs: name, its length and its hash, type, name of the embedded struct it comes from,\n// releases.\n")
	p("var fieldRows = [...]fieldRow{\n")
	var starts []int
	n := 0
	for i, key := range t.keys {
		s := t.structs[key]
		starts = append(starts, n)
		p("// %d %s\n", i, key)
		for _, f := range s.fields {
			p("{%d, %d, %d, %d, %d, 0x%02x}, // %s %s\n", t.name(f.Name), len(f.Name), hash(f.Name), t.typ(f.Type), t.name(f.Embed), f.minors, f.Name, f.Type.Name)
			n++
		}
	}
	p("}\n\n// structStarts are the first fields of the structs in fieldRows, and the end.\n")
	p("var structStarts = [...]uint16{\n")
	for _, start := range append(starts, n) {
		p("%d,\n", start)
	}
	p("}\n\n// fieldNames holds every name, each up to its line feed.\nconst fieldNames = `%s`\n", t.names)
	return b.Bytes()
}
