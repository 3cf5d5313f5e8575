package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const said = `{"Action":"start","Package":"x/a"}
{"Action":"run","Package":"x/a","Test":"TestDeno"}
{"Action":"output","Package":"x/a","Test":"TestDeno","Output":"=== RUN   TestDeno\n"}
{"Action":"output","Package":"x/a","Test":"TestDeno","Output":"    a_test.go:12: left out, Deno is not installed: the package\n"}
{"Action":"output","Package":"x/a","Test":"TestDeno","Output":"--- SKIP: TestDeno (0.00s)\n"}
{"Action":"skip","Package":"x/a","Test":"TestDeno","Elapsed":0}
{"Action":"output","Package":"x/a","Output":"PASS\n"}
{"Action":"output","Package":"x/a","Output":"ok  \tx/a\t0.1s\n"}
{"Action":"pass","Package":"x/a","Elapsed":0.1}
{"Action":"output","Package":"x/b","Test":"TestWrong","Output":"    b_test.go:1: it is wrong\n"}
{"Action":"fail","Package":"x/b","Test":"TestWrong","Elapsed":0}
{"Action":"output","Package":"x/b","Output":"FAIL\tx/b\t0.1s\n"}
{"Action":"fail","Package":"x/b","Elapsed":0.1}
{"Action":"output","Package":"x/c","Output":"?   \tx/c\t[no test files]\n"}
{"Action":"skip","Package":"x/c","Elapsed":0}
`

func TestReport(t *testing.T) {
	var out strings.Builder
	r := newReport(&out)
	if err := r.read(strings.NewReader(said)); err != nil {
		t.Fatal(err)
	}
	r.leftOut()
	want := "ok  \tx/a\t0.1s\n    b_test.go:1: it is wrong\nFAIL\tx/b\t0.1s\n?   \tx/c\t[no test files]\n" +
		"1 tests were left out:\n  Deno is not installed: the package: a TestDeno\n"
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

// TestTimeLimits holds that whoever is told to test all packages is told the same time limit, and
// that CI leaves no test with another (R-T8).
func TestTimeLimits(t *testing.T) {
	for _, file := range []string{"README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "Taskfile.yml", ".ci/run", ".ci/long", "plugins/README.md"} {
		text, err := os.ReadFile("../../../" + file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			all := strings.Contains(line, " ./...") || file == ".ci/run" && !strings.HasPrefix(line, "#")
			if strings.Contains(line, "go test") && all && !strings.Contains(line, timeLimit) {
				t.Errorf("%s: %q has no %s", file, line, timeLimit)
			}
		}
		if file != ".ci/long" && strings.Count(string(text), "-timeout") != strings.Count(string(text), timeLimit) {
			t.Errorf("%s: another time limit than %s", file, timeLimit)
		}
	}
}

// TestEveryFuzzTarget holds that task fuzz, which the long script runs, knows each target.
func TestEveryFuzzTarget(t *testing.T) {
	const root = "../../.."
	tasks, err := os.ReadFile(root + "/Taskfile.yml")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	err = filepath.WalkDir(root, func(path string, _ os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, target := range regexp.MustCompile(`(?m)^func (Fuzz\w+)\(`).FindAllStringSubmatch(string(text), -1) {
			found++
			folder := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(path)), root+"/")
			if !strings.Contains(string(tasks), "'"+folder+" "+target[1]+"'") {
				t.Errorf("Taskfile.yml does not run %s of %s", target[1], folder)
			}
		}
		return nil
	})
	if err != nil || found == 0 {
		t.Error(found, err)
	}
}
