package policytest

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestHardening holds HARDENING.md true to the code: each row is there once and says what proves it
// or what is not done, and each test that it names exists.
func TestHardening(t *testing.T) {
	text, err := os.ReadFile("HARDENING.md")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`([a-z/]+) ((?:Test|Fuzz|Benchmark)\\w+)`")
	functions := map[string]string{} // what is in the tests of a folder
	rows, proofs := map[string]int{}, 0
	for i, line := range strings.Split(string(text), "\n") {
		cells := strings.Split(line, "|")
		if len(cells) < 6 || !regexp.MustCompile(`^ [A-Z]\d+ $`).MatchString(cells[1]) {
			continue
		}
		id := strings.TrimSpace(cells[1])
		rows[id]++
		if strings.TrimSpace(cells[3])+strings.TrimSpace(cells[len(cells)-2]) == "" {
			t.Errorf("line %d: %s has neither a proof nor a reason", i+1, id)
		}
		for _, m := range named.FindAllStringSubmatch(line, -1) {
			proofs++
			if _, read := functions[m[1]]; !read {
				functions[m[1]] = testsOf(t, m[1])
			}
			if !strings.Contains(functions[m[1]], "\nfunc "+m[2]+"(") {
				t.Errorf("line %d: %s: %s has no %s", i+1, id, m[1], m[2])
			}
		}
	}
	for letter, last := range map[string]int{"Y": 11, "S": 6, "W": 14, "H": 11, "P": 9, "U": 6, "F": 19} {
		for n := 1; n <= last; n++ {
			if id := letter + strconv.Itoa(n); rows[id] != 1 {
				t.Errorf("%s is there %d times", id, rows[id])
			}
			delete(rows, letter+strconv.Itoa(n))
		}
	}
	if len(rows) > 0 {
		t.Errorf("rows that the document does not have: %v", rows)
	}
	t.Logf("%d names of tests in %d folders", proofs, len(functions))
}

// testsOf returns the test files of a folder of the repository, one after the other.
func testsOf(t *testing.T, folder string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(folder), "*_test.go"))
	if err != nil || len(files) == 0 {
		t.Errorf("no tests in %s", folder)
	}
	var all strings.Builder
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
		all.WriteByte('\n')
	}
	return all.String()
}
