package plugins

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/podfate/podfate/policy/policytest"
)

// The engines of the crate, by the features of cargo that choose them.
var rustEngines = []struct {
	name, features string
	interpreter    bool
}{
	{"wasmi", "", true},
	{"wasmtime", "wasmtime", false},
}

// cargo returns a command of cargo in the crate's folder that reaches for no network: what it needs
// was fetched before, as .ci/run does.
func cargo(t *testing.T, features string, arguments ...string) *exec.Cmd {
	t.Helper()
	policytest.Quick(t, "it compiles the Rust crate")
	path := policytest.Executable(t, "cargo (Rust 1.86 or later)", "the Rust crate", "cargo")
	probe := policytest.Command(path, "fetch", "--offline", "--locked")
	probe.Dir = "rust"
	if out, err := probe.CombinedOutput(); err != nil {
		policytest.Missing(t, "the crates that plugins/rust depends on (cargo fetch)", "the Rust crate: "+strings.TrimSpace(string(out)))
	}
	arguments = append(arguments, "--offline", "--locked", "--quiet")
	if features != "" {
		arguments = append(arguments, "--no-default-features", "--features", features)
	}
	command := policytest.Command(path, arguments...)
	command.Dir = "rust"
	return command
}

// rustTarget is where cargo builds for an engine, so that the two do not wait for each other, nor
// run the other's programs.
func rustTarget(t *testing.T, engine string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("rust", "target", engine))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestRustCrate runs the crate's tests, its example and the conformance vectors on both engines.
func TestRustCrate(t *testing.T) {
	t.Parallel()
	for _, engine := range rustEngines {
		t.Run(engine.name, func(t *testing.T) {
			if !engine.interpreter {
				policytest.Full(t, "to compile wasmtime takes minutes")
			}
			parallel(t)
			if !engine.interpreter && !policytest.Long() {
				rustUnoptimized(t, engine.name, engine.features)
				return
			}
			trap, err := trapModule()
			if err != nil {
				t.Fatal(err)
			}
			target := rustTarget(t, engine.name)
			tests := cargo(t, engine.features, "test", "--release", "--all-targets", "--target-dir", target)
			tests.Env = append(os.Environ(), "PODFATE_TRAP_MODULE="+trap)
			output(t, cargo(t, engine.features, "build", "--release", "--examples", "--target-dir", target))
			for line := range strings.Lines(string(output(t, tests))) {
				if strings.HasPrefix(line, "test result: ") && !strings.Contains(line, " 0 passed") {
					t.Log(strings.TrimSpace(line))
				}
			}
			if got := string(output(t, policytest.Command(filepath.Join(target, "release", "examples", "quick")))); got != "Some(Restart) Some(Stop)\n" {
				t.Errorf("the example prints %q", got)
			}
			rustConforms(t, engine.name, filepath.Join(target, "release", "examples"))
		})
	}
}

// rustConforms plays the conformance vectors with the runner that was built into a folder.
func rustConforms(t *testing.T, engine, examples string) {
	t.Helper()
	conform(t, "rust-"+engine, func(vectors, module, evaluations string) *exec.Cmd {
		return policytest.Command(filepath.Join(examples, "conformance"), vectors, module, "-evaluations", evaluations)
	})
}

// rustUnoptimized plays the conformance vectors on a compiler of WebAssembly that is itself built
// without optimisation, which takes a third of the time. It says what it leaves out.
func rustUnoptimized(t *testing.T, engine, features string) {
	t.Helper()
	t.Log("left out without PODFATE_LONG: the crate's tests on " + engine + ", which take minutes to compile")
	target := rustTarget(t, engine)
	output(t, cargo(t, features, "build", "--example", "conformance", "--target-dir", target, "--config", `profile.dev.package."*".opt-level=0`, "--config", "profile.dev.debug=false", "--config", "profile.dev.debug-assertions=false", "--config", "profile.dev.overflow-checks=false"))
	rustConforms(t, engine, filepath.Join(target, "debug", "examples"))
}

// TestRustPackage packages the crate as it is published, and builds what comes out.
func TestRustPackage(t *testing.T) {
	policytest.Full(t, "it compiles the crate and all that it needs once more")
	parallel(t)
	// The folder is kept: what the crate depends on is built once. What is not committed yet is
	// packed, too.
	target := rustTarget(t, "package")
	command := cargo(t, "", "package", "--allow-dirty", "--target-dir", target)
	if out := strings.TrimSpace(string(output(t, command))); strings.Contains(out, "warning") {
		t.Errorf("cargo package:\n%s", out)
	}
	packed := output(t, policytest.Command("tar", "-xzOf", filepath.Join(target, "package", "podfate-0.1.0.crate"), "podfate-0.1.0/policy.wasm"))
	if file, err := os.ReadFile(module(t)); err != nil || !bytes.Equal(packed, file) {
		t.Errorf("the crate does not hold the module: %d bytes, %v", len(packed), err)
	}
}

// TestRustReadme holds that the example of the README is the one that is run.
func TestRustReadme(t *testing.T) {
	readme, err := os.ReadFile("rust/README.md")
	if err != nil {
		t.Fatal(err)
	}
	example, err := os.ReadFile("rust/examples/quick.rs")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(readme), "```rust\n"+string(example)+"```\n") {
		t.Error("README.md does not show examples/quick.rs")
	}
}
