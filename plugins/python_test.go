package plugins

import (
	"archive/zip"
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/podfate/podfate/policy/policytest"
)

// The releases of wasmtime that the Python package is tested on: the oldest and the newest that it
// supports. The first is the lower bound in python/pyproject.toml; .ci/run has both.
var wasmtimeReleases = []string{"27.0.2", "50.0.1"}

// wheels returns a Python and the folder with the wheels of what the package and its tests need, so
// that tests need no network:
//
//	pip download -d FOLDER hatchling pytest numpy mypy wasmtime==RELEASE
func wheels(t *testing.T) (python, folder string) {
	t.Helper()
	policytest.Quick(t, "it builds and installs the Python package")
	python = policytest.Executable(t, "Python 3", "the Python package", "python3")
	folder = os.Getenv("PODFATE_WHEELS")
	if folder == "" {
		policytest.Missing(t, "PODFATE_WHEELS", "the Python package: set it to a folder of wheels, as .ci/run does")
	}
	return python, folder
}

// environment makes a fresh virtual environment, installs packages from folder into it and returns
// its Python.
func environment(t *testing.T, python, folder string, packages ...string) string {
	t.Helper()
	home := t.TempDir()
	output(t, policytest.Command(python, "-m", "venv", home))
	inside := filepath.Join(home, "bin", "python")
	output(t, policytest.Command(inside, append([]string{"-m", "pip", "install", "-q", "--no-index", "--find-links", folder}, packages...)...))
	return inside
}

// builtWheel builds the package as users get it.
func builtWheel(t *testing.T, python, folder string) string {
	t.Helper()
	into := t.TempDir()
	builder := environment(t, python, folder, "hatchling")
	output(t, policytest.Command(builder, "-m", "pip", "wheel", "-q", "--no-index", "--no-deps", "--no-build-isolation", "-w", into, "./python"))
	found, err := filepath.Glob(filepath.Join(into, "podfate-*-py3-none-any.whl"))
	if err != nil || len(found) != 1 {
		t.Fatalf("wheels built: %q, %v", found, err)
	}
	return found[0]
}

// TestPythonLicence holds that the wheel has the licence (R-PY1), which is that of the project:
// hatchling takes it from its own folder only, and puts a link into a source distribution as a
// link.
func TestPythonLicence(t *testing.T) {
	want, err := os.ReadFile("../LICENSE")
	if err != nil {
		t.Fatal(err)
	}
	if copied, err := os.ReadFile("python/LICENSE"); err != nil || !bytes.Equal(copied, want) {
		t.Errorf("python/LICENSE is not the licence of the project: %v", err)
	}
	parallel(t)
	python, folder := wheels(t)
	wheel, err := zip.OpenReader(builtWheel(t, python, folder))
	if err != nil {
		t.Fatal(err)
	}
	defer wheel.Close()
	for _, file := range wheel.File {
		if !strings.HasSuffix(file.Name, ".dist-info/licenses/LICENSE") {
			continue
		}
		inside, err := fs.ReadFile(wheel, file.Name)
		if err != nil || !bytes.Equal(inside, want) {
			t.Errorf("%s: %v", file.Name, err)
		}
		return
	}
	t.Error("the wheel has no licence")
}

// TestPythonPackage installs the wheel into fresh environments and runs its tests, its example and
// the conformance vectors there.
func TestPythonPackage(t *testing.T) {
	t.Parallel()
	python, folder := wheels(t)
	wheel := builtWheel(t, python, folder)
	for _, release := range wasmtimeReleases {
		t.Run("wasmtime "+release, func(t *testing.T) {
			parallel(t)
			python := environment(t, python, folder, wheel, "wasmtime=="+release, "pytest", "numpy")
			trap, err := trapModule()
			if err != nil {
				t.Fatal(err)
			}
			tests := policytest.Command(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "python/tests")
			tests.Env = append(os.Environ(), "PODFATE_TRAP_MODULE="+trap)
			out := strings.TrimSpace(string(output(t, tests)))
			t.Log(out[strings.LastIndexByte(out, '\n')+1:])
			if got := strings.TrimSpace(string(output(t, policytest.Command(python, "python/example.py")))); got != "['Restart', 'Stop']" {
				t.Errorf("the example prints %s", got)
			}
			conform(t, "wasmtime-python", func(vectors, module, evaluations string) *exec.Cmd {
				return policytest.Command(python, "python/conformance.py", vectors, module, "-evaluations", evaluations)
			})
		})
	}
}

// TestPythonArrow runs what the package does with record batches, and its examples on the engines
// that people have: DuckDB, Polars, Dask and Spark, which needs Java. Where the wheels of an engine
// are missing its example is left out, and pytest says so.
func TestPythonArrow(t *testing.T) {
	parallel(t)
	python, folder := wheels(t)
	packages := []string{builtWheel(t, python, folder) + "[arrow]", "wasmtime==" + wasmtimeReleases[1], "pytest"}
	for _, engine := range []string{"duckdb", "polars", "dask", "pandas", "pyspark"} {
		switch found, err := filepath.Glob(filepath.Join(folder, engine+"-*")); {
		case err != nil:
			t.Fatal(err)
		case len(found) > 0:
			packages = append(packages, engine)
		case os.Getenv("PODFATE_REQUIRE") == "all":
			t.Errorf("%s has no wheel of %s", folder, engine)
		}
	}
	inside := environment(t, python, folder, packages...)
	tests := policytest.Command(inside, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", "python/tests/test_arrow.py")
	t.Logf("%s", output(t, tests))
	if rows := os.Getenv("PODFATE_SPARK_ROWS"); rows != "" {
		t.Logf("%s", output(t, policytest.Command(inside, "python/examples/spark_exits.py", "--bench", rows)))
	}
}

// TestPythonTypes checks the package with mypy, strictly.
func TestPythonTypes(t *testing.T) {
	parallel(t)
	python, folder := wheels(t)
	check := policytest.Command(environment(t, python, folder, "mypy", "numpy", "wasmtime=="+wasmtimeReleases[1]), "-m", "mypy", "--cache-dir", os.DevNull)
	check.Dir = "python"
	output(t, check)
}

// TestPythonReadme holds that the example of the README is the one that is run.
func TestPythonReadme(t *testing.T) {
	readme, err := os.ReadFile("python/README.md")
	if err != nil {
		t.Fatal(err)
	}
	example, err := os.ReadFile("python/example.py")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(readme), "```python\n"+string(example)+"```\n") {
		t.Error("README.md does not show example.py")
	}
}
