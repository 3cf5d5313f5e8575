// Command modgen writes the go.mod of each Kubernetes release below policy/upstream.
//
// k8s.io/kubernetes names its staging modules by folders of its own checkout, which a module that
// depends on it does not have. So each release's go.mod replaces them by the published modules of
// the same release; which ones there are is read from that release itself. go mod tidy then adds
// the rest, and go.sum.
//
// Run it from anywhere in the repository, after a release was added below or a dependency of the
// main module was raised: go run ./policy/upstream/modgen [minor …]
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/podfate/podfate/policy/upstream/releases"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("modgen: ")
	root, err := releases.Root()
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range releases.All() {
		if len(os.Args) > 1 && !slices.Contains(os.Args[1:], r.Name()) {
			continue
		}
		if err := write(filepath.Join(root, "policy", "upstream"), r); err != nil {
			log.Fatalf("%s: %v", r.Version, err)
		}
		log.Printf("%s: done", r.Version)
	}
}

func write(upstream string, r releases.Release) error {
	staging, err := stagingModules(r)
	if err != nil {
		return err
	}
	dir := filepath.Join(upstream, r.Folder())
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(goMod(r, staging)), 0o644); err != nil {
		return err
	}
	tidy := exec.Command("go", "mod", "tidy")
	tidy.Dir, tidy.Stderr = dir, os.Stderr
	return tidy.Run()
}

func goMod(r releases.Release, staging []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "module github.com/podfate/podfate/policy/upstream/%s\n\n", r.Folder())
	fmt.Fprintf(&b, "go 1.26.0\n\n")
	fmt.Fprintf(&b, "require (\n")
	fmt.Fprintf(&b, "\tgithub.com/podfate/podfate v0.0.0\n")
	fmt.Fprintf(&b, "\tgithub.com/podfate/podfate/policy/upstream/kube v0.0.0\n")
	fmt.Fprintf(&b, "\tk8s.io/kubernetes %s\n)\n\n", r.Version)
	fmt.Fprintf(&b, "replace (\n")
	fmt.Fprintf(&b, "\tgithub.com/podfate/podfate => ../../..\n")
	fmt.Fprintf(&b, "\tgithub.com/podfate/podfate/policy/upstream/kube => ../kube\n")
	for _, m := range staging {
		fmt.Fprintf(&b, "\t%s => %s %s\n", m, m, stagingVersion(r, m))
	}
	fmt.Fprintf(&b, ")\n")
	return b.String()
}

// unlisted holds the staging modules that the checksum database does not list in a release's own
// version, with the nearest version that it does list. Switching verification off for them was
// refused: none of them holds code that is compared, they are only linked.
var unlisted = map[string]string{
	"k8s.io/cloud-provider v0.33.5":      "v0.33.4",
	"k8s.io/cri-client v0.33.5":          "v0.33.4",
	"k8s.io/csi-translation-lib v0.33.5": "v0.33.4",
}

func stagingVersion(r releases.Release, module string) string {
	if v, ok := unlisted[module+" "+r.StagingVersion()]; ok {
		return v
	}
	return r.StagingVersion()
}

// stagingModules returns the modules that release r replaces by folders below staging/src.
func stagingModules(r releases.Release) ([]string, error) {
	out, err := exec.Command("go", "mod", "download", "-json", "k8s.io/kubernetes@"+r.Version).Output()
	if err != nil {
		return nil, fmt.Errorf("download: %w", err)
	}
	var module struct{ GoMod string }
	if err := json.Unmarshal(out, &module); err != nil {
		return nil, err
	}
	if out, err = exec.Command("go", "mod", "edit", "-json", module.GoMod).Output(); err != nil {
		return nil, fmt.Errorf("read %s: %w", module.GoMod, err)
	}
	var file struct {
		Replace []struct{ Old, New struct{ Path string } }
	}
	if err := json.Unmarshal(out, &file); err != nil {
		return nil, err
	}
	var modules []string
	for _, replace := range file.Replace {
		if strings.HasPrefix(replace.New.Path, "./staging/src/") {
			modules = append(modules, replace.Old.Path)
		}
	}
	if len(modules) == 0 {
		return nil, fmt.Errorf("%s replaces no staging module", module.GoMod)
	}
	return modules, nil
}
