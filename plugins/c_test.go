package plugins

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/podfate/podfate/policy/policytest"
)

// cLibrary translates a module and compiles the library, the tests and the runner into a folder of
// their own; flags are for the compiler. It takes a minute for each module.
func cLibrary(t *testing.T, module, flags string, targets ...string) (folder string) {
	t.Helper()
	policytest.Quick(t, "it compiles the translated module")
	for _, tool := range []string{"cc", "make", "wasm2c", "sha256sum"} {
		policytest.Executable(t, tool+" (Debian: gcc make wabt)", "the C library", tool)
	}
	folder = filepath.Join(t.TempDir(), "build")
	// -O1 is enough to be right, and halves the time.
	command := policytest.Command("make", append([]string{"-C", "c", "OUT=" + folder, "MODULE=" + module, "CFLAGS=" + flags}, targets...)...)
	t.Logf("%s", lastLine(output(t, command)))
	return folder
}

func lastLine(out []byte) string {
	text := strings.TrimSpace(string(out))
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// TestC builds the library as its README says, runs its tests and its example, and plays the
// vectors.
func TestC(t *testing.T) {
	parallel(t)
	folder := cLibrary(t, module(t), "-O1", "all", "conformance", "example", "test")
	if got := string(output(t, policytest.Command(filepath.Join(folder, "example")))); got != "exit 42: Restart\nexit 1: Stop\n" {
		t.Errorf("the example prints %q", got)
	}
	conform(t, "wasm2c", func(vectors, _, evaluations string) *exec.Cmd {
		return policytest.Command(filepath.Join(folder, "conformance"), vectors, "-evaluations", evaluations)
	})
}

// TestCTraps runs the tests of the library over the module that can trap.
func TestCTraps(t *testing.T) {
	policytest.Full(t, "it compiles the translated module once more, which takes a minute")
	parallel(t)
	trap, err := trapModule()
	if err != nil {
		t.Fatal(err)
	}
	cLibrary(t, trap, "-O0 -DTRAPS", "test") // not optimised: the vectors are played on the other
}

// TestCRefusesAnotherModule holds that a module with one flipped byte is not even translated.
func TestCRefusesAnotherModule(t *testing.T) {
	policytest.Executable(t, "make", "the C library", "make")
	file, err := os.ReadFile(module(t))
	if err != nil {
		t.Fatal(err)
	}
	digest, err := os.ReadFile(module(t) + ".sha256")
	if err != nil {
		t.Fatal(err)
	}
	file[len(file)/2] ^= 1
	flipped := filepath.Join(t.TempDir(), "policy.wasm")
	for name, content := range map[string][]byte{flipped: file, flipped + ".sha256": digest} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, err := policytest.Command("make", "-C", "c", "OUT="+t.TempDir(), "MODULE="+flipped).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "not the file that its digest names") {
		t.Errorf("a flipped byte: %v\n%s", err, out)
	}
}
