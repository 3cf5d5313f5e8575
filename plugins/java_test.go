package plugins

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/podfate/podfate/policy/policytest"
)

// jar is the Java library as it was built, and what Java needs to run it.
type jar struct {
	file     string // the artifact
	tests    string // folder of the classes of its tests, among them the runners
	endive   string // class path of its dependencies
	surefire string // what the tests said
}

var javaArtifact = regexp.MustCompile(`(?m)^\[INFO\] Building jar: (.*podfate-[0-9.]+\.jar)$`)

// buildJava runs Maven once, which builds the jar and runs the library's tests. It builds a copy,
// so that runs do not meet, and without network: what Maven needs was fetched before, as .ci/run
// does.
var buildJava = sync.OnceValues(func() (jar, error) {
	built := jar{}
	trap, err := trapModule()
	if err != nil {
		return built, err
	}
	root := filepath.Join(temporary, "java")
	folder := filepath.Join(root, "plugins", "java")
	if err := copyJava(root); err != nil {
		return built, err
	}
	command := policytest.Command("mvn", "-o", "-B", "package", "dependency:build-classpath", "-DincludeScope=runtime", "-Dmdep.outputFile=target/classpath")
	command.Dir = folder
	command.Env = append(os.Environ(), "PODFATE_TRAP_MODULE="+trap)
	out, err := policytest.CombinedOutput(command)
	if err != nil {
		return built, err
	}
	found := javaArtifact.FindSubmatch(out)
	if found == nil {
		return built, fmt.Errorf("no jar was built\n%s", out)
	}
	classpath, err := os.ReadFile(filepath.Join(folder, "target", "classpath"))
	return jar{file: string(found[1]), tests: filepath.Join(folder, "target", "test-classes"), endive: strings.TrimSpace(string(classpath)), surefire: string(out)}, err
})

// copyJava copies what the library is built from to a folder, in the same places.
func copyJava(root string) error {
	for _, name := range []string{"plugins/java/src", "plugins/java/pom.xml", "wasm/policy.wasm", "wasm/policy.wasm.sha256", "LICENSE"} {
		from, to := filepath.Join("..", name), filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if strings.HasSuffix(name, "/src") {
			if err := os.CopyFS(to, os.DirFS(from)); err != nil {
				return err
			}
			continue
		}
		file, err := os.ReadFile(from)
		if err == nil {
			err = os.WriteFile(to, file, 0o644)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func java(t *testing.T) jar {
	t.Helper()
	policytest.Quick(t, "Maven builds and tests the Java library")
	policytest.Executable(t, "a JDK 17", "the Java library", "javac")
	policytest.Executable(t, "Maven", "the Java library", "mvn")
	built, err := buildJava()
	if err != nil {
		if !policytest.RequireAll() && strings.Contains(err.Error(), "offline mode") {
			policytest.Missing(t, "what Maven needs for plugins/java (mvn package there)", "the Java library")
		}
		t.Fatal(err)
	}
	return built
}

// run starts a class with the library on the class path.
func (j jar) run(arguments ...string) *exec.Cmd {
	classpath := strings.Join([]string{j.tests, j.file, j.endive}, string(os.PathListSeparator))
	return policytest.Command("java", append([]string{"-cp", classpath}, arguments...)...)
}

// TestJavaLibrary builds the library and runs its own tests in the same go.
func TestJavaLibrary(t *testing.T) {
	built := java(t)
	for line := range strings.Lines(built.surefire) {
		if strings.Contains(line, "Tests run: ") && !strings.Contains(line, "Time elapsed") {
			t.Log(strings.TrimSpace(line))
			if !strings.Contains(line, "Skipped: 0") {
				t.Error("tests were skipped")
			}
		}
	}
	if strings.Contains(built.surefire, "[WARNING]") {
		t.Errorf("the build warns\n%s", built.surefire)
	}
	for _, name := range []string{"META-INF/LICENSE", "dev/podfate/policy.wasm", "dev/podfate/compiled/ModuleMachine.class"} {
		if list := output(t, policytest.Command("jar", "tf", built.file)); !bytes.Contains(list, []byte("\n"+name+"\n")) {
			t.Errorf("the jar has no %s", name)
		}
	}
	if count := strings.Count(built.endive, ".jar"); count != 2 {
		t.Errorf("the library needs %d jars beside its own, not the two of Endive: %s", count, built.endive)
	}
}

// TestJavaDocumentation holds that the documentation has no warning, at which mvn -Prelease package
// fails.
func TestJavaDocumentation(t *testing.T) {
	built := java(t)
	policytest.Executable(t, "a JDK 17", "the documentation of the Java library", "javadoc")
	sources, err := filepath.Glob("java/src/main/java/dev/podfate/*.java")
	if err != nil || len(sources) == 0 {
		t.Fatalf("sources: %q, %v", sources, err)
	}
	classpath := strings.Join([]string{built.file, built.endive}, string(os.PathListSeparator))
	output(t, policytest.Command("javadoc", append([]string{"-quiet", "-Xdoclint:all", "-Werror", "-d", t.TempDir(), "-cp", classpath}, sources...)...))
}

// TestJavaConformance plays the vectors in both modes. The interpreter is the slowest engine of
// all: the compiled mode alone evaluates exits over and over.
func TestJavaConformance(t *testing.T) {
	t.Parallel()
	built := java(t)
	t.Run("compiled", func(t *testing.T) {
		parallel(t)
		conform(t, "endive-compiled", func(vectors, module, evaluations string) *exec.Cmd {
			return built.run("dev.podfate.Conformance", "compiled", vectors, module, "-evaluations", evaluations)
		})
	})
	t.Run("interpreter", func(t *testing.T) {
		parallel(t)
		want, err := vectors()
		if err != nil {
			t.Fatal(err)
		}
		got, err := readLine(output(t, built.run("dev.podfate.Conformance", "interpreter", want.file, module(t))))
		if err != nil {
			t.Fatal(err)
		}
		agree(t, "endive-interpreter", got, want.line)
	})
}

// TestJavaExample runs the example of the README as a newcomer would, from one file on the built
// jar.
func TestJavaExample(t *testing.T) {
	built := java(t)
	readme, err := os.ReadFile("java/README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(readme), "```java\n")
	example, rest, found := strings.Cut(rest, "```\n\nprints `")
	printed, _, ended := strings.Cut(rest, "`")
	if !found || !ended {
		t.Fatal("the README has no example")
	}
	file := filepath.Join(t.TempDir(), "Example.java")
	if err := os.WriteFile(file, []byte(example), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := strings.TrimSpace(string(output(t, built.run(file)))); got != printed {
		t.Errorf("the example prints %s, the README says %s", got, printed)
	}
}

// TestJavaRefusesAnotherModule flips a byte of the module before the build.
func TestJavaRefusesAnotherModule(t *testing.T) {
	java(t)
	root := t.TempDir()
	if err := copyJava(root); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(root, "wasm", "policy.wasm")
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file[len(file)/2] ^= 1
	if err := os.WriteFile(path, file, 0o644); err != nil {
		t.Fatal(err)
	}
	build := policytest.Command("mvn", "-o", "-B", "-q", "validate")
	build.Dir = filepath.Join(root, "plugins", "java")
	if out, err := build.CombinedOutput(); err == nil || !bytes.Contains(out, []byte("policy.wasm has the SHA-256")) {
		t.Errorf("%v\n%s", err, out)
	}
}
