package policytest

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"golang.org/x/tools/txtar"
	"sigs.k8s.io/yaml"

	"github.com/podfate/podfate/policy/ops"
)

//go:embed scenarios
var scenarios embed.FS

// Case is one request of a scenario.
type Case struct {
	Name      string // scenario/operation, as a subtest is called
	Operation ops.Operation
	Request   []byte // JSON, as every front gets it
	Want      string // the answer in words
	file      string // where Want is, for -update
}

// Cases returns the requests of all scenarios, ordered by file and by place in the file. It fails
// if there is none: a runner that tests nothing must not pass.
func Cases() ([]Case, error) {
	all, err := corpus()
	all = slices.Clone(all)
	for i := range all {
		all[i].Request = slices.Clone(all[i].Request) // callers change requests
	}
	return all, err
}

// corpus reads the scenarios once: that takes a quarter of a second, and many tests ask.
var corpus = sync.OnceValues(func() ([]Case, error) {
	var cases []Case
	err := fs.WalkDir(scenarios, "scenarios", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := scenarios.ReadFile(file)
		if err != nil {
			return err
		}
		found, err := parse(file, text)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		cases = append(cases, found...)
		return nil
	})
	if err == nil && len(cases) == 0 {
		err = fmt.Errorf("no scenario found")
	}
	return cases, err
})

// parse reads one scenario file.
func parse(file string, text []byte) ([]Case, error) {
	archive := txtar.Parse(text)
	if !strings.Contains(string(archive.Comment), "Source:") {
		return nil, fmt.Errorf("the head names no source (a line that begins with Source:)")
	}
	sections := map[string]string{}
	for _, f := range archive.Files {
		if _, twice := sections[f.Name]; twice {
			return nil, fmt.Errorf("section %q is there twice", f.Name)
		}
		sections[f.Name] = string(f.Data)
	}
	var cases []Case
	for _, f := range archive.Files {
		name, ext, _ := strings.Cut(f.Name, ".")
		op, known := ops.Lookup(name)
		switch {
		case f.Name == "manifest.yaml" || known && ext == "want":
			continue
		case !known || ext != "yaml" && ext != "json":
			return nil, fmt.Errorf("section %q is neither manifest.yaml nor OPERATION.yaml, .json or .want", f.Name)
		}
		request := f.Data
		if ext == "yaml" {
			var err error
			if request, err = compose(name, sections["manifest.yaml"], f.Data); err != nil {
				return nil, fmt.Errorf("%s: %w", f.Name, err)
			}
		}
		scenario := strings.TrimSuffix(path.Base(file), ".txtar")
		cases = append(cases, Case{scenario + "/" + name, op, request, sections[name+".want"], file})
	}
	if len(cases) == 0 {
		return nil, fmt.Errorf("no request")
	}
	return cases, nil
}

// compose puts the manifest into the request of operation op; of compare, into the request that the
// variants share.
func compose(op, manifest string, request []byte) ([]byte, error) {
	members := map[string]json.RawMessage{}
	if err := yaml.UnmarshalStrict(request, &members); err != nil {
		return nil, err
	}
	if manifest != "" {
		converted, err := yaml.YAMLToJSONStrict([]byte(manifest))
		if err != nil {
			return nil, fmt.Errorf("manifest.yaml: %w", err)
		}
		if op == "compare" {
			shared := map[string]json.RawMessage{}
			if raw := members["request"]; raw != nil {
				if err := json.Unmarshal(raw, &shared); err != nil {
					return nil, err
				}
			}
			shared["manifest"] = converted
			members["request"], err = json.Marshal(shared)
			return marshal(members, err)
		}
		members["manifest"] = converted
	}
	return json.Marshal(members)
}

func marshal(members map[string]json.RawMessage, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	return json.Marshal(members)
}
