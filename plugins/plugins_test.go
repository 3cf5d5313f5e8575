package plugins

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/podfate/podfate/policy/ops"
	"github.com/podfate/podfate/policy/policytest"
	"github.com/podfate/podfate/wasm"
)

// temporary is a folder that all tests of a run share; TestMain removes it.
var temporary string

func TestMain(m *testing.M) {
	var err error
	if temporary, err = os.MkdirTemp("", "podfate-plugins-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	status := m.Run()
	os.RemoveAll(temporary)
	os.Exit(status)
}

// line is what a conformance runner prints as its last line; the format is in README.md of this folder.
type line struct {
	engine, version, module, digest string
	count, mismatches               int
}

func (l line) String() string {
	return fmt.Sprintf("engine=%s version=%s module=%s count=%d mismatches=%d digest=%s", l.engine, l.version, l.module, l.count, l.mismatches, l.digest)
}

// readLine finds the last line of out that a runner printed.
func readLine(out []byte) (line, error) {
	start := bytes.LastIndex(append([]byte("\n"), out...), []byte("\nengine="))
	if start < 0 {
		return line{}, fmt.Errorf("no line that begins with engine=")
	}
	text, _, _ := strings.Cut(string(out[start:]), "\n")
	var l line
	_, err := fmt.Sscanf(strings.TrimSpace(text), "engine=%s version=%s module=%s count=%d mismatches=%d digest=%s",
		&l.engine, &l.version, &l.module, &l.count, &l.mismatches, &l.digest)
	return l, err
}

// native is the conformance vectors in a file, and the line that the native core has for them.
type native struct {
	file string
	line
}

// vectors makes the file that all runners of this run read.
var vectors = sync.OnceValues(func() (native, error) {
	cases, err := policytest.Cases()
	if err != nil {
		return native{}, err
	}
	var text bytes.Buffer
	lines, fold := json.NewEncoder(&text), sha256.New()
	for _, c := range cases {
		answer, failed := ops.Call(c.Operation.Number, c.Request)
		if err := lines.Encode(map[string]any{
			"id": c.Name, "op": c.Operation.Number, "request": string(c.Request), "answer": string(answer), "failed": failed,
		}); err != nil {
			return native{}, err
		}
		fmt.Fprintf(fold, "%s\n%s\n", c.Name, answer)
	}
	n := native{filepath.Join(temporary, "vectors.jsonl"), line{
		engine: "native", version: runtime.Version(), module: wasm.SHA256(), count: len(cases), digest: hex.EncodeToString(fold.Sum(nil)),
	}}
	return n, os.WriteFile(n.file, text.Bytes(), 0o600)
})

// conform runs a conformance runner: command makes it from the absolute path of the vectors' file and of the module. Its line has to
// be that of the native core, and its exit status 0.
func conform(t *testing.T, engine string, command func(vectors, module string) *exec.Cmd) {
	t.Helper()
	want, err := vectors()
	if err != nil {
		t.Fatal(err)
	}
	out := output(t, command(want.file, module(t)))
	got, err := readLine(out)
	if err != nil {
		t.Fatalf("%s: %v\n%s", engine, err, out)
	}
	agree(t, engine, got, want.line)
}

// agree compares the line of a runner with the native core's; engine is what its name has to be.
func agree(t *testing.T, engine string, got, want line) {
	t.Helper()
	expected := want
	expected.engine, expected.version = engine, got.version
	if got != expected {
		t.Errorf("differs from the native core\ngot  %s\nwant %s", got, expected)
	}
	t.Log(got)
}

// module returns the absolute path of the committed module.
func module(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs("../wasm/policy.wasm")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// output runs a command that has to end well and returns what it printed to both of its streams.
func output(t *testing.T, command *exec.Cmd) []byte {
	t.Helper()
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(command.Args, " "), err, out)
	}
	return out
}

// trapModule is a test build of the module with the operations that trap, see wasm/guest/traps.go. Its digest lies beside it, in the
// file with .sha256 appended.
var trapModule = sync.OnceValues(func() (file string, err error) {
	file = filepath.Join(temporary, "trap.wasm")
	build := exec.Command("go", "run", "./wasm/seal", "-tags", "trap", "-o", file)
	build.Dir = ".."
	out, err := build.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return file, nil
})
