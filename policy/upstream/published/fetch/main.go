// Command fetch writes the manifests of policy/upstream/published again from the Go modules that
// publish them. It fails if a file has other bytes than listed.
//
//	go run ./policy/upstream/published/fetch       from the root of the project
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/podfate/podfate/policy/upstream/published"
	"github.com/podfate/podfate/policy/upstream/releases"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("fetch: ")
	root, err := releases.Root()
	if err != nil {
		log.Fatal(err)
	}
	modules, err := published.List()
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range modules {
		if err := fetch(filepath.Join(root, "policy", "upstream", "published"), &m); err != nil {
			log.Fatalf("%s@%s: %v", m.Path, m.Version, err)
		}
		log.Printf("%s@%s: %d files", m.Path, m.Version, len(m.Files))
	}
}

func fetch(to string, m *published.Module) error {
	download := exec.Command("go", "mod", "download", "-json", m.Path+"@"+m.Version)
	download.Stderr = os.Stderr
	out, err := download.Output()
	if err != nil {
		return err
	}
	var module struct{ Dir string }
	if err := json.Unmarshal(out, &module); err != nil {
		return err
	}
	for _, f := range m.Files {
		text, err := os.ReadFile(filepath.Join(module.Dir, filepath.FromSlash(f.Path)))
		if err != nil {
			return err
		}
		if sum := published.Sum(text); sum != f.SHA256 {
			return fmt.Errorf("%s has the SHA-256 %s, listed is %s", f.Path, sum, f.SHA256)
		}
		name := filepath.Join(to, filepath.FromSlash(m.Name(f)))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
