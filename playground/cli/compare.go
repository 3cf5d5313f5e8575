package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/ops"
	"github.com/podfate/podfate/schema"
	"github.com/podfate/podfate/wasm"
	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"
	sigsyaml "sigs.k8s.io/yaml"
)

// comparison is what the flags and arguments of compare say.
type comparison struct {
	of       string
	from     string
	to       []string
	variants []string
	files    []string // arguments: one variant each
}

// world is a variant that flags name: the request with a patch.
type world struct {
	Name  string          `json:"name"`
	Patch json.RawMessage `json:"patch,omitempty"`
}

// newCompare makes the verb compare of the general one.
func newCompare(command *cobra.Command, v verb, op ops.Operation, o *options, own func() (members, error), streams Streams) {
	c := &comparison{}
	flags := command.Flags()
	flags.StringVar(&c.of, "of", "", "operation to compare; by default simulate if there are runs or events, decide if there are exits, otherwise table")
	flags.StringVar(&c.from, "from", "", "release of the first variant")
	flags.StringSliceVar(&c.to, "to", nil, "release of another variant; separate several with commas")
	flags.StringArrayVar(&c.variants, "variant", nil, "another variant: NAME=PATCH with a JSON Merge Patch on the request, such as 'off={cluster: {featureGates: {ContainerRestartRules: false}}}'; repeatable")
	for _, flag := range []string{"from", "to"} {
		complete(command, flag, policy.Versions())
	}
	var names []string
	for _, op := range ops.Table() {
		if op.Name != "explain" && op.Name != "compare" {
			names = append(names, op.Name)
		}
	}
	complete(command, "of", names)
	command.Use = "compare [OLD NEW…]"
	command.Args = cobra.ArbitraryArgs
	command.ValidArgsFunction = nil
	command.RunE = func(command *cobra.Command, args []string) error {
		if err := noEmptyValues(command.Flags()); err != nil {
			return err
		}
		more, err := own()
		if err != nil {
			return err
		}
		c.files = args
		if o.link != "" {
			o.files = append(o.files, args...)
			return o.printLink(op.Name, streams)
		}
		worlds, err := c.worlds()
		if err != nil {
			return err
		}
		switch {
		case len(args) == 1:
			return fmt.Errorf("%s has nothing to be compared with: name a second file, or %s with -f and --from, --to or --variant", args[0], args[0])
		case len(args) > policy.MaxVariants:
			return fmt.Errorf("%d files: at most %d can be compared at once", len(args), policy.MaxVariants)
		case slices.Index(args, "-") != lastIndex(args, "-"):
			return errors.New("- is given twice: standard input can be read only once")
		case len(args) > 0 && len(worlds) > 0:
			return errors.New("either files are compared, or the releases and patches of --from, --to and --variant")
		case len(worlds) == 0 && len(args) == 0 && len(o.files) == 0:
			return errors.New("nothing to compare: name two files, or files with -f and releases with --from and --to")
		case len(worlds) == 0 && len(args) == 0:
			if c.of != "" {
				more["of"] = encode(c.of)
			}
			return v.run(command.Context(), op, o, more, streams) // a Scenario with variants
		}
		return v.compare(command.Context(), op, o, c, worlds, more, streams)
	}
}

func lastIndex(list []string, s string) int {
	for i := len(list) - 1; i >= 0; i-- {
		if list[i] == s {
			return i
		}
	}
	return -1
}

// worlds returns the variants that flags name, the first of them first.
func (c *comparison) worlds() (worlds []world, err error) {
	if c.from == "" && len(c.to) == 0 && len(c.variants) == 0 {
		return nil, nil
	}
	release := func(flag, version string) error {
		if _, ok := policy.ParseVersion(version); !ok {
			return fmt.Errorf("--%s %s: must be one of %s", flag, strconv.Quote(version), strings.Join(policy.Versions(), ", "))
		}
		worlds = append(worlds, world{version, json.RawMessage(`{"cluster":{"version":` + strconv.Quote(version) + `}}`)})
		return nil
	}
	switch {
	case c.from != "":
		err = release("from", c.from)
	default:
		worlds = append(worlds, world{Name: "the original"})
	}
	for _, version := range c.to {
		if err == nil {
			err = release("to", version)
		}
	}
	if err == nil && len(c.to) == 0 && len(c.variants) == 0 {
		err = release("to", policy.VersionName(policy.NewestMinor))
	}
	for _, text := range c.variants {
		name, patch, found := strings.Cut(text, "=")
		if err == nil && (!found || name == "" || patch == "") {
			err = fmt.Errorf("--variant %s: write NAME=PATCH, such as 'off={cluster: {featureGates: {ContainerRestartRules: false}}}'", strconv.Quote(text))
		}
		var node yaml.Node
		if err == nil && (yaml.Unmarshal([]byte(patch), &node) != nil || len(node.Content) != 1 || node.Content[0].Kind != yaml.MappingNode) {
			err = fmt.Errorf("--variant %s: the patch of %s is not an object in YAML or JSON", strconv.Quote(text), name)
		}
		if err != nil {
			break
		}
		converted, bad := sigsyaml.YAMLToJSONStrict([]byte(patch))
		if bad != nil {
			return nil, fmt.Errorf("--variant %s: %w", strconv.Quote(text), bad)
		}
		worlds = append(worlds, world{name, converted})
	}
	if err == nil && len(worlds) > policy.MaxVariants {
		err = fmt.Errorf("%d variants: at most %d can be compared at once", len(worlds), policy.MaxVariants)
	}
	seen := map[string]bool{}
	for _, w := range worlds {
		if err == nil && seen[w.Name] {
			err = fmt.Errorf("two variants are called %s", strconv.Quote(w.Name))
		}
		seen[w.Name] = true
	}
	return worlds, err
}

// operation returns the operation whose answers are compared.
func (c *comparison) operation(more members, exits []string) (ops.Operation, error) {
	name := c.of
	switch {
	case name != "":
	case len(more) > 0:
		name = "simulate"
	case len(exits) > 0:
		name = "decide"
	default:
		name = "table"
	}
	op, known := ops.Lookup(name)
	if !known || name == "compare" || name == "explain" {
		return op, fmt.Errorf("--of %s: is not an operation that can be compared", strconv.Quote(name))
	}
	return op, nil
}

// compare asks what differs between files, or what differs for each manifest between the worlds
// that flags name.
func (v verb) compare(ctx context.Context, op ops.Operation, o *options, c *comparison, worlds []world, more members, streams Streams) error {
	of, err := c.operation(more, o.exits)
	if err != nil {
		return err
	}
	overrides, err := o.overrides()
	if err != nil {
		return err
	}
	set, err := o.members(streams)
	if err != nil {
		return err
	}
	overrides.Members = members{}
	maps.Copy(overrides.Members, more)
	maps.Copy(overrides.Members, set)
	overrides.Leave, overrides.EachTemplate = othersMembers(of), of.Name == "simulate"
	p, err := newPrinter(o.output, op.Name, v.text, streams)
	if err != nil {
		return err
	}
	engine, err := openEngine(ctx, o.engine, wasm.Options{Interpreter: true, Instances: 1})
	if err != nil {
		return err
	}
	defer closeEngine(engine)
	ask := func(a asked) error {
		result := outcome{op: op, asked: a}
		if err := result.ask(ctx, engine, p.words); err != nil {
			return failf("the engine gave no answer: %w", err)
		}
		return p.print(result)
	}
	read := func(names []string, each func(asked) error) error {
		from, err := openSources(names, streams.In)
		if err != nil {
			return err
		}
		defer from.close()
		return (&reader{op: of, sources: from, overrides: overrides, out: p, ask: each}).run()
	}
	if len(worlds) > 0 {
		variants := string(encode(worlds))
		err = read(o.files, func(a asked) error {
			if a.request != nil {
				a.request = schema.Join(schema.Part{Text: `{"of":"` + of.Name + `","request":`}, schema.Part{Request: a.request}, schema.Part{Text: `,"variants":` + variants + `}`})
			}
			return ask(a)
		})
	} else if err = c.present(); err == nil {
		err = c.pairs(p, of, read, ask, o.files)
	}
	if err != nil {
		return err
	}
	return p.end()
}

// present returns an error for the files that are not there, all at once.
func (c *comparison) present() error {
	var faults []error
	for _, name := range c.files {
		if name != "-" {
			_, err := find(name)
			faults = append(faults, err)
		}
	}
	return unreadable(faults)
}

// side is a manifest of one of the files.
type side struct {
	asked
	file  int
	place string // by which manifests of one name are told apart: where it is in the folder, and which of these it is
}

// pairs reads each file and compares the manifests of the same kind, namespace and name, or the
// only one of each. Of folders with several of one name those in files of one name are compared.
func (c *comparison) pairs(p *printer, of ops.Operation, read func([]string, func(asked) error) error, ask func(asked) error, shared []string) error {
	names := c.variantNames()
	var keys []string
	found := map[string][]side{}
	single, several := true, map[string]bool{}
	for i, file := range c.files {
		n, places := map[string]int{}, map[string]int{}
		err := read(append([]string{file}, shared...), func(a asked) error {
			if a.request == nil {
				p.broken = true
				return ask(a)
			}
			kind, name, _, _, _ := a.request.Manifest()
			key := strings.Join([]string{kind, a.request.Namespace(), name, a.request.Template()}, "/")
			n[key]++
			several[key] = several[key] || n[key] > 1
			place := "."
			if in, err := filepath.Rel(file, a.source); err == nil && filepath.IsLocal(in) {
				place = in // a file of a folder
			}
			places[key+" "+place]++
			place += fmt.Sprint(" ", places[key+" "+place])
			if found[key] == nil {
				keys = append(keys, key)
			}
			found[key] = append(found[key], side{a, i, place})
			return nil
		})
		if err != nil {
			return err
		}
		single = single && len(n) == 1
	}
	for key := range several {
		if several[key] {
			keys = apart(key, keys, found)
		}
	}
	if single && !p.broken && len(keys) > 1 { // renamed: still one against the other
		var all []side
		for _, key := range keys {
			all = append(all, found[key]...)
		}
		slices.SortStableFunc(all, func(a, b side) int { return a.file - b.file })
		if len(all) == len(c.files) {
			keys, found = keys[:1], map[string][]side{keys[0]: all}
		}
	}
	for _, key := range keys {
		sides := found[key]
		if len(sides) < len(c.files) {
			if !p.broken { // otherwise it may be in what cannot be read
				p.onlyIn(sides, names)
			}
			continue
		}
		if err := ask(joined(of, sides, names)); err != nil {
			return err
		}
	}
	return nil
}

// apart puts keys with the place of each manifest in place of a key that several have in one file,
// and files what was found by them.
func apart(key string, keys []string, found map[string][]side) []string {
	at := slices.Index(keys, key)
	keys = slices.Delete(keys, at, at+1)
	for _, s := range found[key] {
		own := key + " " + s.place
		if found[own] == nil {
			keys = slices.Insert(keys, at, own)
			at++
		}
		found[own] = append(found[own], s)
	}
	delete(found, key)
	return keys
}

// variantNames are the files as they were named, as short as they can be told apart.
func (c *comparison) variantNames() []string {
	names := slices.Clone(c.files)
	for i, name := range names {
		if name == "-" {
			names[i] = stdin
		}
		if slices.Contains(names[:i], names[i]) {
			names[i] = fmt.Sprintf("%s (%d)", names[i], i+1)
		}
		names[i] = filepath.ToSlash(names[i])
	}
	return names
}

// onlyIn says that a manifest is not in all files, which is a difference.
func (p *printer) onlyIn(sides []side, names []string) {
	kind, name, _, _, _ := sides[0].request.Manifest()
	var in []string
	for _, s := range sides {
		in = append(in, names[s.file])
	}
	p.bad = true
	what := strings.TrimSpace(kind + " " + name)
	p.checked = append(p.checked, checked{subject: what, file: sides[0].source, title: "Only in " + strings.Join(in, ", "), findings: []finding{{
		level: "error", rule: "only_in_one", text: "is only in " + strings.Join(in, ", "), file: sides[0].source, line: max(sides[0].line, 1), column: 1,
	}}})
	p.note("%s is only in %s", what, strings.Join(in, ", "))
}

// joined is the comparison of one manifest of each file. Where the files differ in nothing else the
// variants have their manifests, otherwise their whole requests.
func joined(of ops.Operation, sides []side, names []string) asked {
	whole := false
	for _, s := range sides {
		whole = whole || beside(s.request) != beside(sides[0].request)
	}
	parts := []schema.Part{{Text: `{"of":"` + of.Name + `","request":`}}
	if whole {
		parts = append(parts, schema.Part{Text: "{}"})
	} else {
		parts = append(parts, schema.Part{Request: sides[0].request})
	}
	for i, s := range sides {
		comma := ","
		if i == 0 {
			comma = `,"variants":[`
		}
		parts = append(parts, schema.Part{Text: comma + `{"name":` + string(encode(names[i]))})
		switch {
		case whole:
			parts = append(parts, schema.Part{Text: `,"patch":`}, schema.Part{Request: s.request})
		case i > 0:
			parts = append(parts, schema.Part{Text: `,"manifest":`}, schema.Part{Request: s.request, Manifest: true})
		}
		parts = append(parts, schema.Part{Text: "}"})
	}
	a := sides[0].asked
	a.request = schema.Join(append(parts, schema.Part{Text: "]}"})...)
	return a
}

// beside is what a request says besides its manifest, in one spelling.
func beside(r *schema.Request) string {
	all := map[string]any{}
	if json.Unmarshal(r.JSON(), &all) != nil {
		return string(r.JSON())
	}
	delete(all, "manifest")
	return string(encode(all))
}

// compared notes what the exit status is about: a difference, or that there is no answer.
func (p *printer) compared(o outcome) {
	var answer struct{ Same bool }
	switch {
	case o.failed:
		p.broken = true
	case json.Unmarshal(o.answer, &answer) != nil || !answer.Same:
		p.bad = true
	}
}

// compare prints a line for what is the same, and what differs in full.
func (p *printer) compare(o outcome) error {
	if o.failed {
		p.remarks(o)
		return nil
	}
	var answer struct{ Same bool }
	if json.Unmarshal(o.answer, &answer) == nil && answer.Same {
		v := o.document.Verdict
		_, err := fmt.Fprintf(p.Out, "%s: %s. %s\n", o.subject(), v.Title, v.Text)
		return err
	}
	return p.write(o, o.document.Blocks)
}
