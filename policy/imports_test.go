package policy_test

import (
	"os/exec"
	"strings"
	"testing"
)

// The core may import these packages of the standard library and nothing else but itself: each
// costs little in the module and brings no import of the host.
var allowedImports = map[string]bool{
	"bytes": true, "cmp": true, "errors": true, "iter": true, "maps": true, "math": true, "math/bits": true,
	"slices": true, "sort": true, "strconv": true, "strings": true, "unicode/utf8": true,
}

// corePackages are the packages that go into the module. policy/policytest and policy/upstream only
// test them.
var corePackages = []string{"policy", "policy/admission", "policy/fleet", "policy/lint", "policy/manifest", "policy/ops", "policy/packed", "policy/simulate", "policy/words"}

func TestImports(t *testing.T) {
	const module = "github.com/podfate/podfate/"
	out, err := exec.Command("go", "list", "-e", "-f", "{{if .GoFiles}}{{.ImportPath}}{{range .Imports}} {{.}}{{end}}{{end}}", module+"policy/...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	seen := 0
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		if len(words) == 0 || !isCore(strings.TrimPrefix(words[0], module)) {
			continue
		}
		seen++
		for _, path := range words[1:] {
			if !allowedImports[path] && !isCore(strings.TrimPrefix(path, module)) {
				t.Errorf("%s imports %s, which the core may not", words[0], path)
			}
		}
	}
	if seen != len(corePackages) {
		t.Fatalf("%d core packages found, want %d", seen, len(corePackages))
	}
}

func isCore(path string) bool {
	for _, p := range corePackages {
		if path == p {
			return true
		}
	}
	return false
}
