// Package published holds manifests that people wrote: those that other projects publish in their
// Go modules, pinned by version, with their list and their licence. They show how often a verdict
// agrees with the API server where it counts.
//
// Most of them are valid, as what is published mostly is. Among them are such that no API server
// takes as they are: templates whose names are yet to be filled in, manifests without an image, and
// what tests need to be refused.
package published

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/podfate/podfate/policy/manifest"
)

//go:embed all:testdata
var files embed.FS

//go:embed list.txt
var list string

// Module is a Go module that publishes manifests.
type Module struct {
	Path, Version, Licence string
	Files                  []File
}

// File is a file of a module.
type File struct{ Path, SHA256 string }

// List returns the modules and their files.
func List() (modules []Module, err error) {
	for line := range strings.Lines(list) {
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || words[0] == "#":
		case words[0] == "module" && len(words) == 4:
			modules = append(modules, Module{Path: words[1], Version: words[2], Licence: words[3]})
		case len(words) == 2 && len(modules) > 0:
			m := &modules[len(modules)-1]
			m.Files = append(m.Files, File{words[1], words[0]})
		default:
			return nil, fmt.Errorf("list.txt: %q is neither a module nor a file", strings.TrimSpace(line))
		}
	}
	return modules, nil
}

// Name returns the name of a file of module m below the folder of this package.
func (m *Module) Name(f File) string { return "testdata/" + m.Path + "/" + f.Path }

// Sum returns the SHA-256 of text as in the list.
func Sum(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Document is an object of a kind that Podfate reads.
type Document struct {
	Where string // file and number of the document in it, from 0
	JSON  []byte
}

// Documents returns the objects in all files whose kinds are read, each text once, and the number
// of files with one.
func Documents() (documents []Document, withOne int, err error) {
	modules, err := List()
	if err != nil {
		return nil, 0, err
	}
	seen := map[string]bool{}
	for _, m := range modules {
		for _, f := range m.Files {
			text, err := files.ReadFile(m.Name(f))
			if err != nil {
				return nil, 0, err
			}
			before := len(documents)
			for i, part := range slices.Collect(bytes.SplitSeq(append([]byte("\n"), text...), []byte("\n---"))) {
				object, err := yaml.YAMLToJSON(part)
				if err != nil {
					continue // a template that is no YAML yet
				}
				for _, item := range items(object) {
					if !seen[string(item)] {
						documents = append(documents, Document{fmt.Sprintf("%s/%s#%d", m.Path, f.Path, i), item})
					}
					seen[string(item)] = true
				}
			}
			if len(documents) > before {
				withOne++
			}
		}
	}
	return documents, withOne, nil
}

// items returns object if it is of a kind that is read, or those that a List has.
func items(object []byte) (found [][]byte) {
	var head struct {
		APIVersion, Kind string
		Items            []json.RawMessage
	}
	if json.Unmarshal(object, &head) != nil {
		return nil
	}
	for _, item := range head.Items {
		found = append(found, items(item)...)
	}
	if slices.ContainsFunc(manifest.Kinds(), func(k manifest.KindInfo) bool { return k.Kind == head.Kind && k.APIVersion == head.APIVersion }) {
		found = append(found, object)
	}
	return found
}
