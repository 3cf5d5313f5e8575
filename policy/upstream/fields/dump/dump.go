// Package dump writes down the Go types of a Kubernetes release as its JSON decoder sees them.
package dump

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
)

// Release is everything below the root types of one release.
type Release struct {
	Minor   int
	Roots   map[string]string // kind -> key in Structs
	Structs map[string]Struct // by path and name of the type
}

// Struct is a struct with the fields of the structs embedded in it.
type Struct struct {
	Name   string // as Go prints it: v1.PodSpec
	Fields []Field
}

// Field is one field under its JSON name.
type Field struct {
	Name  string
	Embed string // names of the embedded structs on the way to it, joined by dots; "" for a field of its own
	Type  Type
}

// Type is a type behind its pointer.
type Type struct {
	Kind    string // struct, slice, map, string, bool, int32, …, or one of unmarshalers
	Name    string // as Go prints it: []v1.Container
	Pointer bool
	Struct  string `json:",omitempty"` // of a struct: its key
	Elem    *Type  `json:",omitempty"` // of a slice and of a map
}

// unmarshalers are the types that read JSON themselves. A new one stops the generator: it needs
// code in package manifest.
var unmarshalers = map[string]string{
	"k8s.io/apimachinery/pkg/apis/meta/v1.Time":            "time",
	"k8s.io/apimachinery/pkg/apis/meta/v1.Duration":        "duration",
	"k8s.io/apimachinery/pkg/apis/meta/v1.FieldsV1":        "any",
	"k8s.io/apimachinery/pkg/api/resource.Quantity":        "quantity",
	"k8s.io/apimachinery/pkg/api/resource.QuantityValue":   "quantity",
	"k8s.io/apimachinery/pkg/util/intstr.IntOrString":      "intOrString",
	"k8s.io/component-base/logs/api/v1.TimeOrMetaDuration": "flushFrequency",
}

// Write writes the types of kubernetes 1.minor below roots, which are zero values of the root
// structs, as JSON.
func Write(w io.Writer, minor int, roots ...any) error {
	r := Release{Minor: minor, Roots: map[string]string{}, Structs: map[string]Struct{}}
	for _, root := range roots {
		t := reflect.TypeOf(root)
		r.Roots[t.Name()] = key(t)
		if err := r.add(t); err != nil {
			return err
		}
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", " ")
	return encoder.Encode(r)
}

func key(t reflect.Type) string { return t.PkgPath() + "." + t.Name() }

func (r *Release) add(t reflect.Type) error {
	if _, known := r.Structs[key(t)]; known {
		return nil
	}
	s := Struct{Name: t.String()}
	r.Structs[key(t)] = s // before the fields: JSONSchemaProps and the like contain themselves
	if err := r.addFields(&s, t, ""); err != nil {
		return fmt.Errorf("%s: %w", t, err)
	}
	slices.SortFunc(s.Fields, func(a, b Field) int { return strings.Compare(a.Name, b.Name) })
	for i := 1; i < len(s.Fields); i++ {
		if s.Fields[i].Name == s.Fields[i-1].Name {
			return fmt.Errorf("%s: two fields %s", t, s.Fields[i].Name)
		}
	}
	r.Structs[key(t)] = s
	return nil
}

func (r *Release) addFields(s *Struct, t reflect.Type, embed string) error {
	for f := range fieldsOf(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" && options == "":
			continue
		case f.Anonymous && name == "":
			if f.Type.Kind() != reflect.Struct {
				return fmt.Errorf("%s is embedded and not a struct", f.Name)
			}
			if err := r.addFields(s, f.Type, strings.TrimPrefix(embed+"."+f.Name, ".")); err != nil {
				return err
			}
			continue
		case !f.IsExported():
			continue
		case name == "":
			name = f.Name
		}
		if strings.Contains(options, "string") {
			return fmt.Errorf("field %s has the option string", f.Name)
		}
		typ, err := r.typeOf(f.Type)
		if err != nil {
			return fmt.Errorf("field %s: %w", f.Name, err)
		}
		s.Fields = append(s.Fields, Field{name, embed, typ})
	}
	return nil
}

func fieldsOf(t reflect.Type) func(func(reflect.StructField) bool) {
	return func(yield func(reflect.StructField) bool) {
		for i := range t.NumField() {
			if !yield(t.Field(i)) {
				return
			}
		}
	}
}

func (r *Release) typeOf(t reflect.Type) (Type, error) {
	out := Type{}
	if t.Kind() == reflect.Pointer {
		out.Pointer = true
		t = t.Elem()
	}
	out.Name = t.String()
	if reads(t) {
		out.Kind = unmarshalers[key(t)]
		if out.Kind == "" {
			return out, fmt.Errorf("%s reads JSON itself", key(t))
		}
		return out, nil
	}
	out.Kind = t.Kind().String()
	switch t.Kind() {
	case reflect.Struct:
		out.Struct = key(t)
		return out, r.add(t)
	case reflect.Map:
		if t.Key().Kind() != reflect.String || reads(t.Key()) {
			return out, fmt.Errorf("map with keys of type %s", t.Key())
		}
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return out, fmt.Errorf("bytes")
		}
	case reflect.String, reflect.Bool, reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint32, reflect.Float64:
		return out, nil
	default:
		return out, fmt.Errorf("kind %s", t.Kind())
	}
	elem, err := r.typeOf(t.Elem())
	if elem.Pointer {
		return out, fmt.Errorf("list of pointers")
	}
	out.Elem = &elem
	return out, err
}

var (
	unmarshaler     = reflect.TypeFor[json.Unmarshaler]()
	textUnmarshaler = reflect.TypeFor[interface{ UnmarshalText([]byte) error }]()
)

func reads(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(unmarshaler) || reflect.PointerTo(t).Implements(textUnmarshaler)
}
