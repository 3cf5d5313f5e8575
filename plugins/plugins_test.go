package plugins

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

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

// lanes are two: more engines at once would only take turns on the processors, and memory.
var lanes = make(chan struct{}, 2)

// parallel lets t run next to one other test. It is for tests without subtests: one that waits for
// its own would keep its lane.
func parallel(t *testing.T) {
	t.Helper()
	t.Parallel()
	lanes <- struct{}{}
	t.Cleanup(func() { <-lanes })
}

// readLine finds the last line of out that a runner printed.
func readLine(out []byte) (policytest.Line, error) {
	start := bytes.LastIndex(append([]byte("\n"), out...), []byte("\nengine="))
	if start < 0 {
		return policytest.Line{}, fmt.Errorf("no line that begins with engine=")
	}
	text, _, _ := strings.Cut(string(out[start:]), "\n")
	var l policytest.Line
	_, err := fmt.Sscanf(strings.TrimSpace(text), "engine=%s version=%s module=%s count=%d mismatches=%d digest=%s",
		&l.Engine, &l.Version, &l.Module, &l.Count, &l.Mismatches, &l.Digest)
	return l, err
}

// native is the conformance vectors in a file, and the line that the native core has for them.
type native struct {
	file string
	line policytest.Line
}

// vectors returns the file that a runner reads: some thousand vectors, with PODFATE_LONG all of
// them.
func vectors() (native, error) {
	if policytest.Long() {
		return allVectors()
	}
	return someVectors()
}

var (
	someVectors = sync.OnceValues(func() (native, error) { return writeVectors("some.jsonl", true) })
	allVectors  = sync.OnceValues(func() (native, error) { return writeVectors("all.jsonl", false) })
)

func writeVectors(name string, small bool) (native, error) {
	n := native{file: filepath.Join(temporary, name)}
	file, err := os.Create(n.file)
	if err != nil {
		return n, err
	}
	defer file.Close()
	buffered := bufio.NewWriterSize(file, 1<<20)
	if n.line, err = policytest.WriteVectors(buffered, small); err != nil {
		return n, err
	}
	n.line.Engine, n.line.Version, n.line.Module = "native", runtime.Version(), wasm.SHA256()
	return n, buffered.Flush()
}

// memoryBytes bounds the memory of an instance after two million evaluations.
const memoryBytes = 8 << 20

// evaluations is how many exits a runner evaluates on one instance after the vectors.
func evaluations() int {
	if policytest.Long() {
		return 2_000_000
	}
	return 200_000
}

// conform runs a conformance runner: command makes it from the absolute path of the vectors' file
// and of the module. Its line has to be that of the native core, and its exit status 0. How large
// the memory is after so many evaluations, it has to print.
func conform(t *testing.T, engine string, command func(vectors, module, evaluations string) *exec.Cmd) {
	t.Helper()
	want, err := vectors()
	if err != nil {
		t.Fatal(err)
	}
	asked := evaluations()
	out := output(t, command(want.file, module(t), strconv.Itoa(asked)))
	got, err := readLine(out)
	if err != nil {
		t.Fatalf("%s: %v\n%s", engine, err, out)
	}
	agree(t, engine, got, want.line)
	var count, memory int
	_, text, _ := strings.Cut(string(out), "evaluations=")
	if _, err := fmt.Sscanf(text, "%d memory=%d", &count, &memory); err != nil {
		t.Errorf("%s does not say evaluations=%d memory=…: %v", engine, asked, err)
	}
	inMemory(t, asked, count, memory)
}

// inMemory checks how large the memory of an instance is after the evaluations that were asked for.
func inMemory(t *testing.T, asked, count, memory int) {
	t.Helper()
	if count != asked || memory == 0 || memory > memoryBytes {
		t.Errorf("%d evaluations end at %d bytes of memory; %d have to end at %d or less", count, memory, asked, memoryBytes)
	}
	t.Logf("evaluations=%d memory=%d", count, memory)
}

// agree compares the line of a runner with the native core's; engine is what its name has to be.
func agree(t *testing.T, engine string, got, want policytest.Line) {
	t.Helper()
	expected := want
	expected.Engine, expected.Version = engine, got.Version
	if got != expected {
		t.Errorf("differs from the native core; if that has changed since the module was built: %s\ngot  %s\nwant %s", policytest.RebuildModule, got, expected)
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
	return policytest.Output(t, command)
}

// trapModule is a test build of the module with the operations that trap, see
// wasm/guest/machine/traps.go. Its digest lies next to it, in the file with .sha256 appended.
var trapModule = sync.OnceValues(func() (file string, err error) {
	file = filepath.Join(temporary, "trap.wasm")
	build := policytest.Command("go", "run", "./wasm/seal", "-tags", "trap", "-o", file)
	build.Dir = ".."
	_, err = policytest.CombinedOutput(build)
	return file, err
})
