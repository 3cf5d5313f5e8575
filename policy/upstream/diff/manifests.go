package diff

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/manifest"
	"sigs.k8s.io/yaml"
)

// besideCode are the modules whose files are searched for manifests that people wrote.
var besideCode = []string{"k8s.io/kubernetes", "k8s.io/api"}

// manifests compares what is dropped and refused of the manifests that lie next to Kubernetes' own
// code: its addons, the manifests of its end-to-end tests, and objects with every field of the API.
func (c *comparison) manifests(t *testing.T) {
	found := map[string]string{} // where, by text: many manifests are there several times
	for _, module := range besideCode {
		root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
		if err != nil {
			t.Fatalf("where is %s? %v", module, err)
		}
		search(t, strings.TrimSpace(string(root)), found)
	}
	var texts []string
	for text := range found {
		texts = append(texts, text)
	}
	slices.Sort(texts)
	shown := 0
	undecodable := 0
	c.eachGateSet(t, func(set gateSet, _ policy.Features) {
		for _, text := range texts {
			theirs := c.release.Admit([]byte(text), false)
			if theirs.DecodeError != "" {
				undecodable++ // compared by policy/upstream/fields
				continue
			}
			c.published++
			c.compareAnswer(t, &shown, fmt.Sprintf("%s, %v: %s", found[text], set, text), theirs, set, []byte(text), nil)
		}
	})
	t.Logf("%d different manifests, %d times one that could not be decoded", len(texts), undecodable)
	if c.published == 0 {
		t.Error("no case")
	}
}

// search adds the manifests below root to found.
func search(t *testing.T, root string, found map[string]string) {
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(path)) {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if len(content) > policy.MaxManifestBytes || !bytes.Contains(content, []byte("kind")) {
			return nil
		}
		where, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		for document := range bytes.SplitSeq(content, []byte("\n---")) {
			if text, err := yaml.YAMLToJSON(document); err == nil { // the others are templates
				add(text, where, found)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// add adds an object that Podfate reads, or those of a List.
func add(text []byte, where string, found map[string]string) {
	var head struct {
		APIVersion, Kind string
		Items            []json.RawMessage
	}
	if json.Unmarshal(text, &head) != nil {
		return
	}
	for _, item := range head.Items {
		add(item, where, found)
	}
	if slices.ContainsFunc(manifest.Kinds(), func(k manifest.KindInfo) bool { return k.Kind == head.Kind && k.APIVersion == head.APIVersion }) {
		found[string(text)] = where
	}
}
