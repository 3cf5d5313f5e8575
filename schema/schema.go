package schema

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/manifest"
	"github.com/santhosh-tekuri/jsonschema/v5"
)

// BaseURL is where schemas are published: BaseURL + NAME + Suffix is the $id of schema NAME, and
// the path below BaseURL is the name of its file in [FS].
const (
	BaseURL = "https://podfate.dev/schema/v1/"
	Suffix  = ".schema.json"
)

//go:embed v1/*.schema.json
var files embed.FS

// FS returns the schemas as files: manifest.schema.json and so on.
func FS() fs.FS {
	sub, err := fs.Sub(files, "v1")
	if err != nil {
		panic("the folder v1 is embedded: " + err.Error())
	}
	return sub
}

// Names returns the names of the schemas in alphabetical order: answer, cluster, decide-answer,
// decide-request and so on.
func Names() []string {
	matches, err := fs.Glob(FS(), "*"+Suffix)
	if err != nil {
		panic("the pattern is a constant: " + err.Error())
	}
	for i, file := range matches {
		matches[i] = strings.TrimSuffix(file, Suffix)
	}
	return matches
}

// ErrUnknownSchema is returned for a name that [Names] does not list.
var ErrUnknownSchema = errors.New("no such schema")

// Validate checks a JSON text against the schema called name, and returns nil or [Faults] with
// paths from the text's root and places in the text. The text must be JSON as the core reads it,
// and no object may have a name twice.
//
// At run time the core judges requests, not this function; see the package comment.
func Validate(name string, text []byte) error {
	schemas, err := compiled()
	if err != nil {
		return err
	}
	s, known := schemas[name]
	if !known {
		return fmt.Errorf("%w: %s", ErrUnknownSchema, quoted(name))
	}
	return validate(s, text)
}

// compiled compiles the schemas, once.
var compiled = sync.OnceValues(func() (map[string]*jsonschema.Schema, error) {
	c := newCompiler()
	schemas := make(map[string]*jsonschema.Schema)
	for _, name := range Names() {
		s, err := c.Compile(BaseURL + name + Suffix)
		if err != nil {
			return nil, fmt.Errorf("schema %s: %w", name, err)
		}
		schemas[name] = s
	}
	return schemas, nil
})

// refusedLoads counts references to anything that is not embedded. It stays 0 unless a test asks
// for one.
var refusedLoads atomic.Int64

// newCompiler returns a compiler that loads embedded schemas and nothing else: by default the
// library would open files.
func newCompiler() *jsonschema.Compiler {
	c := jsonschema.NewCompiler()
	c.Draft = jsonschema.Draft2020
	c.LoadURL = func(u string) (io.ReadCloser, error) {
		if file, ours := strings.CutPrefix(u, BaseURL); ours {
			if f, err := FS().Open(file); err == nil {
				return f, nil
			}
		}
		refusedLoads.Add(1)
		return nil, fmt.Errorf("schema %s is not embedded, and nothing else is loaded", quoted(u))
	}
	return c
}

// errInternal is returned if the library panics. A fuzz test forbids it.
var errInternal = errors.New("checking against the schema failed")

func validate(s *jsonschema.Schema, text []byte) (err error) {
	defer func() {
		if recover() != nil {
			err = errInternal
		}
	}()
	v := validation{lines: newLines(text)}
	root, parseErr := manifest.Parse(text)
	if parseErr != nil {
		b := builder{}
		b.unreadable(&Document{lines: v.lines, err: parseErr})
		return b.faults.unsorted()
	}
	v.root = root
	for _, d := range root.Duplicates(manifest.Value{}) {
		line, column := v.lines.position(d.First)
		v.fault(d.Second, d.Path, CodeDuplicateKey, "key "+quoted(d.Key)+" is already set in line "+strconv.Itoa(line)+", column "+strconv.Itoa(column))
	}
	value := v.decode(root)
	if !v.faults.any() {
		var invalid *jsonschema.ValidationError
		switch err := s.Validate(value); {
		case errors.As(err, &invalid):
			v.report(invalid)
		case err != nil:
			return errInternal
		}
	}
	if !v.faults.any() {
		return nil
	}
	return v.faults.sorted()
}

// validation is one check of a text.
type validation struct {
	lines  *lines
	root   manifest.Value
	faults collected
}

func (v *validation) fault(offset int, path string, code policy.FaultCode, detail string, allowed ...string) {
	line, column := v.lines.position(offset)
	v.faults.add(Fault{
		Path: cut(path, MaxQuotedBytes-len("…")), Code: code, Detail: detail, Allowed: allowed,
		Line: line, Column: column, Offset: offset,
	})
}

// decode builds the value that the library checks. Numbers become int64 or float64: given their
// text, the library would compute with exact numbers, of as many digits as an exponent asks for.
func (v *validation) decode(m manifest.Value) any {
	switch m.Kind() {
	case manifest.Bool:
		return m.Bool()
	case manifest.Number:
		if i, ok := m.Int64(); ok {
			return i
		}
		f, err := strconv.ParseFloat(string(m.Raw()), 64)
		if err != nil || math.IsInf(f, 0) {
			v.fault(m.Offset(), m.Path(v.root), policy.CodeOutOfRange, "the number "+quoted(string(m.Raw()))+" does not fit a float64")
			return 0.0
		}
		return f
	case manifest.String:
		return m.Str()
	case manifest.Array:
		list := make([]any, 0, m.Len())
		for e := m.First(); e.Exists(); e = e.Next() {
			list = append(list, v.decode(e))
		}
		return list
	case manifest.Object:
		object := make(map[string]any, m.Len())
		for e := m.First(); e.Exists(); e = e.Next() {
			object[e.Key()] = v.decode(e)
		}
		return object
	}
	return nil
}

// report turns what the library found into faults. It walks down to what failed by itself; of
// alternatives none of which fits it reports that, not why each did not. The sentences of the
// library are not used: they repeat the whole input, in an order that changes.
func (v *validation) report(e *jsonschema.ValidationError) {
	keyword := e.KeywordLocation[strings.LastIndexByte(e.KeywordLocation, '/')+1:]
	if len(e.Causes) > 0 && keyword != "anyOf" && keyword != "oneOf" {
		for _, cause := range e.Causes {
			v.report(cause)
		}
		return
	}
	m := v.instance(e.InstanceLocation)
	path := m.Path(v.root)
	parameter, siblings := schemaKeyword(e.AbsoluteKeywordLocation)
	switch keyword {
	case "required":
		for _, name := range texts(parameter) {
			if !m.Get(name).Exists() {
				v.fault(m.Offset(), member(path, name), policy.CodeRequired, "the member "+quoted(name)+" is required")
			}
		}
	case "additionalProperties":
		properties, _ := siblings["properties"].(map[string]any)
		names := slices.Sorted(maps.Keys(properties))
		for child := m.First(); child.Exists(); child = child.Next() {
			if _, known := properties[child.Key()]; !known && !v.faults.full() {
				v.fault(child.KeyOffset(), member(path, child.Key()), policy.CodeUnknownField, "unknown member", names...)
			}
		}
	default:
		code, detail, allowed := explain(keyword, parameter, m)
		v.fault(m.Offset(), path, code, detail, allowed...)
	}
}

func member(path, name string) string {
	return string(step{name, -1}.append([]byte(path)))
}

// explain says what a keyword asks for.
func explain(keyword string, parameter any, m manifest.Value) (code policy.FaultCode, detail string, allowed []string) {
	value := cut(string(m.Raw()), MaxQuotedBytes-len("…"))
	switch keyword {
	case "type":
		return policy.CodeWrongType, "must be " + strings.Join(texts(parameter), " or ") + ", found " + m.Kind().String(), nil
	case "enum":
		return policy.CodeUnsupported, value + " is not one of the values that are allowed", texts(parameter)
	case "const":
		return policy.CodeUnsupported, value + " is not the value that is required", texts([]any{parameter})
	case "pattern":
		return policy.CodeBadFormat, value + " does not have the form " + fmt.Sprint(parameter), nil
	case "minimum", "maximum":
		return policy.CodeOutOfRange, value + ": the " + keyword + " is " + fmt.Sprint(parameter), nil
	case "minItems":
		return policy.CodeRequired, "has " + strconv.Itoa(m.Len()) + " elements, at least " + fmt.Sprint(parameter) + " required", nil
	case "maxItems":
		return policy.CodeTooMany, "has " + strconv.Itoa(m.Len()) + " elements, at most " + fmt.Sprint(parameter) + " allowed", nil
	case "anyOf", "oneOf":
		return policy.CodeInvalid, "does not have one of the forms that are allowed", nil
	}
	return policy.CodeInvalid, "does not fit the schema: " + keyword, nil
}

// texts returns the strings of a list, or of a single string; other values as JSON.
func texts(parameter any) []string {
	list, ok := parameter.([]any)
	if !ok {
		list = []any{parameter}
	}
	names := make([]string, 0, len(list))
	for _, e := range list {
		name, ok := e.(string)
		if !ok {
			b, _ := json.Marshal(e)
			name = string(b)
		}
		names = append(names, name)
	}
	return names
}

// instance returns the value at a JSON pointer of the library, which escapes it for URLs too.
func (v *validation) instance(pointer string) manifest.Value {
	m := v.root
	for _, token := range pointerTokens(pointer) {
		next := manifest.Value{}
		if m.Kind() == manifest.Object {
			next = m.Get(token)
		} else if i, err := strconv.Atoi(token); err == nil {
			next = m.First()
			for ; i > 0; i-- {
				next = next.Next()
			}
		}
		if !next.Exists() {
			return m
		}
		m = next
	}
	return m
}

func pointerTokens(pointer string) []string {
	if pointer == "" {
		return nil
	}
	tokens := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for i, token := range tokens {
		if plain, err := url.PathUnescape(token); err == nil {
			token = plain
		}
		tokens[i] = strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
	}
	return tokens
}

// rawSchemas are the schemas as plain values, for what keywords ask for.
var rawSchemas = sync.OnceValue(func() map[string]any {
	raw := make(map[string]any)
	for _, name := range Names() {
		f, err := FS().Open(name + Suffix)
		if err != nil {
			panic("the file was listed: " + err.Error())
		}
		var v any
		numbers := json.NewDecoder(f)
		numbers.UseNumber() // to be printed as they are
		if err := numbers.Decode(&v); err != nil {
			panic("the schema was compiled: " + err.Error())
		}
		raw[BaseURL+name+Suffix] = v
	}
	return raw
})

// schemaKeyword returns the value of the keyword at an absolute location, and the keywords next to
// it.
func schemaKeyword(location string) (parameter any, siblings map[string]any) {
	document, pointer, _ := strings.Cut(location, "#")
	at := rawSchemas()[document]
	for _, token := range pointerTokens(pointer) {
		switch v := at.(type) {
		case map[string]any:
			siblings, at = v, v[token]
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i >= len(v) {
				return nil, nil
			}
			at = v[i]
		}
	}
	return at, siblings
}
