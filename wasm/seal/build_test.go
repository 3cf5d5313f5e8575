package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/podfate/podfate/policy/policytest"
)

const (
	root      = "../.."
	committed = root + "/wasm/policy.wasm"
)

// TestReproducible builds the module in this folder and in a copy of the sources elsewhere. The two
// are equal byte for byte, and equal to the committed file when the pinned version of Go builds.
func TestReproducible(t *testing.T) {
	if testing.Short() {
		t.Skip("left out with -short: compiles the guest a second time, with an empty cache")
	}
	elsewhere := filepath.Join(t.TempDir(), "another", "folder")
	for _, path := range []string{"go.mod", "go.sum", "policy", "wasm/guest"} {
		copySources(t, filepath.Join(root, path), filepath.Join(elsewhere, path))
	}
	here := build(t, root)
	t.Setenv("GOCACHE", filepath.Join(t.TempDir(), "cache")) // else the second build would be given the results of the first
	there := build(t, elsewhere)
	if !bytes.Equal(here, there) {
		t.Fatalf("digest %s here, %s in another folder", digest(here), digest(there))
	}

	if pinned := toolchain(t); runtime.Version() != pinned {
		policytest.Missing(t, pinned+" (this is "+runtime.Version()+")", "the committed module is not compared with its sources")
	}
	file, err := os.ReadFile(committed)
	if err != nil {
		t.Fatal(err)
	}
	if digest(here) != digest(file) {
		t.Errorf("wasm/policy.wasm has the digest %s, its sources give %s: run go run ./wasm/seal -o wasm/policy.wasm", digest(file), digest(here))
	}
}

func TestCommittedDigest(t *testing.T) {
	file, err := os.ReadFile(committed)
	if err != nil {
		t.Fatal(err)
	}
	sum, err := os.ReadFile(committed + ".sha256")
	if err != nil {
		t.Fatal(err)
	}
	if want := digest(file) + "  policy.wasm\n"; string(sum) != want {
		t.Errorf("policy.wasm.sha256 says %q, the file has %q", sum, want)
	}
}

// TestInterface compares what the committed module takes and gives with a golden list. The list is
// part of the ABI: a change here is a change for every wrapper.
func TestInterface(t *testing.T) {
	file, err := os.ReadFile(committed)
	if err != nil {
		t.Fatal(err)
	}
	m, err := parse(file, true)
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/interface.txt")
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(m.interfaceLines(), "\n") + "\n"; got != string(want) {
		t.Errorf("interface of the module:\n%swant:\n%s", got, want)
	}
}

func build(t *testing.T, folder string) []byte {
	t.Helper()
	out := filepath.Join(t.TempDir(), "linked.wasm")
	if err := link(folder, guest, out, ""); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := seal(file)
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// toolchain returns the version of Go that go.mod pins.
func toolchain(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(out)), "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if version, ok := strings.CutPrefix(strings.TrimSpace(line), "toolchain "); ok {
			return version
		}
	}
	t.Fatal("go.mod pins no toolchain")
	return ""
}

// copySources copies a file, or the Go files below a folder that are part of this module, without
// the tests.
func copySources(t *testing.T, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(from, path)
		if entry.IsDir() {
			if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil {
				return filepath.SkipDir
			}
			return nil
		}
		if rel != "." && (!strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go")) {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		return os.WriteFile(target, data, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
}
