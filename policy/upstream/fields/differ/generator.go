package differ

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/podfate/podfate/policy/manifest"
	"github.com/podfate/podfate/policy/upstream/fields/dump"
)

// generator makes manifests out of the types of a release, and now and then something else than the
// type says.
type generator struct {
	*rand.Rand
	types dump.Release
	kinds []string
	names []string // of all fields of all structs
	rate  float64  // how often something is wrong, from 0 to 1
}

func newGenerator(seed uint64, minor int, roots ...any) (*generator, error) {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, uint64(minor)))}
	var b bytes.Buffer
	if err := dump.Write(&b, minor, roots...); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(b.Bytes(), &g.types); err != nil {
		return nil, err
	}
	for kind := range g.types.Roots {
		g.kinds = append(g.kinds, kind)
	}
	for _, s := range g.types.Structs {
		for _, f := range s.Fields {
			g.names = append(g.names, f.Name)
		}
	}
	slices.Sort(g.kinds) // maps have no order, and the same seed must give the same manifests
	slices.Sort(g.names)
	g.names = slices.Compact(g.names)
	return g, nil
}

func (g *generator) manifest() (kind, text string) {
	kind = g.kinds[g.IntN(len(g.kinds))]
	g.rate = []float64{0, 0.01, 0.05, 0.2}[g.IntN(4)]
	version := "kubelet.config.k8s.io/v1beta1"
	for _, k := range manifest.Kinds() {
		if k.Kind == kind {
			version = k.APIVersion
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, `{"apiVersion":%q,"kind":%q`, version, kind)
	g.members(&b, dump.Type{Kind: "struct", Struct: g.types.Roots[kind]}, 0, true)
	b.WriteString("}")
	return kind, b.String()
}

func (g *generator) one(choices ...string) string { return choices[g.IntN(len(choices))] }

func (g *generator) wrong() bool { return g.Float64() < g.rate }

// value writes a value of type t; deeper down there is less of it.
func (g *generator) value(b *strings.Builder, t dump.Type, depth int) {
	switch {
	case g.wrong():
		b.WriteString(g.one(`null`, `true`, `5`, `-1`, `1.5`, `2147483648`, `1e3`, `"x"`, `""`, `[]`, `[1]`, `{}`, `{"a":1,"a":2}`, `9223372036854775808`, `"5"`, `[null]`, `{"x":{"y":[]}}`))
		return
	case g.IntN(40) == 0:
		b.WriteString("null")
		return
	}
	switch t.Kind {
	case "struct":
		b.WriteString("{")
		g.members(b, t, depth, false)
		b.WriteString("}")
	case "slice":
		b.WriteString("[")
		for i := range g.IntN(3) {
			if i > 0 {
				b.WriteString(",")
			}
			g.value(b, *t.Elem, depth+1)
		}
		b.WriteString("]")
	case "map":
		b.WriteString("{")
		for i := range g.IntN(3) {
			if i > 0 {
				b.WriteString(",")
			}
			fmt.Fprintf(b, "%q:", g.one("a", "b", "c", "cpu", "memory", "app.kubernetes.io/name", "a b", "é"))
			g.value(b, *t.Elem, depth+1)
		}
		b.WriteString("}")
	default:
		b.WriteString(g.scalar(t.Kind))
	}
}

func (g *generator) scalar(kind string) string {
	bad := g.wrong()
	pick := func(good, wrong []string) string {
		if bad {
			return g.one(wrong...)
		}
		return g.one(good...)
	}
	switch kind {
	case "string":
		return g.one(`"x"`, `""`, `"Never"`, `"a\u0062c"`, `"é\n"`, `"123"`)
	case "bool":
		return g.one("true", "false")
	case "int", "int64":
		return pick([]string{"0", "-0", "5", "-7", "9223372036854775807"}, []string{"9223372036854775808", "5.0", "1e2", "-9223372036854775809"})
	case "int32":
		return pick([]string{"0", "-0", "5", "-7", "2147483647", "-2147483648"}, []string{"2147483648", "-2147483649", "5.0", "1E2", "18446744073709551616"})
	case "uint32":
		return pick([]string{"0", "5", "4294967295"}, []string{"-0", "-1", "4294967296", "0.0"})
	case "float64":
		return pick([]string{"0", "1.5", "-1e308", "1e-400"}, []string{"1e309", "1.7976931348623159e308"})
	case "time":
		return pick([]string{`"2024-02-29T12:00:00Z"`, `"2024-01-02T3:04:05,5+24:60"`}, []string{`"2023-02-29T12:00:00Z"`, `"x"`, `""`, `"2024-01-02"`, `"2024-01-02T03:04:05Zx"`, `"2024-13-02T03:04:05Z"`})
	case "duration":
		return pick([]string{`"0"`, `"1h30m"`, `"-1.5s"`}, []string{`""`, `"5"`, `"5x"`, `"x"`, `"99999999999h"`})
	case "flushFrequency":
		return pick([]string{`"5s"`, "5", "-1"}, []string{`"5"`, "1.5", "9223372036854775808", `""`})
	case "intOrString":
		return g.one(`"x"`, "5", `"25%"`)
	case "quantity":
		return g.quantity(bad)
	case "any":
		return g.one(`{}`, `{"f:a":{},"f:a":{}}`, `5`, `"x"`, `[]`)
	}
	panic("no values of kind " + kind)
}

// quantity puts one together from parts, so that the odd forms that Kubernetes accepts are among
// them.
func (g *generator) quantity(bad bool) string {
	if !bad {
		return g.one(`"1"`, `"500m"`, `"4Gi"`, `"1.5"`, `"1e3"`, `1`, `0.5`, `1e3`, `" 1 "`, `"+1"`, `"-2Ki"`, `"12E"`, `"1E2"`)
	}
	return `"` + g.one("", "", "-", "+", " ") + g.one("", "0", "00", "1", "12345678901234567890") + g.one("", ".", ".5", ".0", ".1234567890123") +
		g.one("", "m", "k", "K", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "E", "e", "e3", "E-3", "e-9", "e-10", "e+2", "n", "u", "mm", "ie", "x", "5", "-5", "G5", "e5x", "e99999999999999999999", `\u0031`) + `"`
}

// members writes some members of struct type t, with a comma before each if there is something
// before.
func (g *generator) members(b *strings.Builder, t dump.Type, depth int, comma bool) {
	fields := g.types.Structs[t.Struct].Fields
	budget := max(1, 4-depth/2)
	for range g.IntN(budget + 1) {
		if len(fields) == 0 && !g.wrong() {
			return
		}
		if comma {
			b.WriteString(",")
		}
		comma = true
		if g.wrong() || len(fields) == 0 {
			g.unknown(b, t, depth)
			continue
		}
		f := fields[g.IntN(len(fields))]
		if depth == 0 && (f.Name == "apiVersion" || f.Name == "kind") {
			f = fields[slices.IndexFunc(fields, func(f dump.Field) bool { return f.Name != "apiVersion" && f.Name != "kind" })]
		}
		fmt.Fprintf(b, "%q:", f.Name)
		g.value(b, f.Type, depth+1)
		if g.wrong() {
			fmt.Fprintf(b, ",%q:", f.Name)
			g.value(b, f.Type, depth+1)
		}
	}
}

// unknown writes a member that the struct probably does not have. At the root it is not one that
// differs from apiVersion and kind in letter case only: encoding/json, which reads these two, takes
// it for them.
func (g *generator) unknown(b *strings.Builder, t dump.Type, depth int) {
	name := g.names[g.IntN(len(g.names))]
	switch g.IntN(4) {
	case 0:
		name = g.one("when", "x", "Spec", "", "a.b", "é\"\\", "a\nb")
	case 1:
		if fields := g.types.Structs[t.Struct].Fields; len(fields) > 0 {
			name = strings.Title(fields[g.IntN(len(fields))].Name)
		}
	}
	if depth == 0 && (strings.EqualFold(name, "apiVersion") || strings.EqualFold(name, "kind")) {
		name = "x"
	}
	quoted, err := json.Marshal(name)
	if err != nil {
		panic(err)
	}
	fmt.Fprintf(b, "%s:", quoted)
	g.value(b, dump.Type{Kind: "any"}, depth+1)
}
