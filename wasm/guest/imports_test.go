package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// allowed are the packages of the standard library that the guest and everything of ours below it
// may import. Each costs little in the module and brings no import of the host. package unsafe and
// package runtime are for the guest alone.
var allowed = " bytes cmp errors iter maps math math/bits slices sort strconv strings unicode/utf8 "

// TestGuestImports asks the go tool with the target of the shipped module, so that build tags are
// those that count.
func TestGuestImports(t *testing.T) {
	const ours = "github.com/podfate/podfate/"
	cmd := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{range .Imports}} {{.}}{{end}}{{end}}", ".")
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	seen := 0
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		seen++
		if !strings.HasPrefix(words[0], ours) {
			t.Errorf("%s is in the module and not ours", words[0])
		}
		guest := strings.HasPrefix(words[0], ours+"wasm/guest")
		for _, path := range words[1:] {
			switch {
			case guest && (path == "runtime" || path == "unsafe"):
			case strings.HasPrefix(path, ours+"policy"), guest && path == ours+"wasm/guest/machine":
			case !strings.Contains(allowed, " "+path+" "):
				t.Errorf("%s imports %s, which may not be in the module", words[0], path)
			}
		}
	}
	if seen < 2 {
		t.Fatalf("%d packages found, expected the guest and the core", seen)
	}
}
