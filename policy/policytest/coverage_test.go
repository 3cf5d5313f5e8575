package policytest

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestCoverage holds coverage.txt complete: each question is there once, and each has scenarios or a reason.
func TestCoverage(t *testing.T) {
	text, err := os.ReadFile("coverage.txt")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for i, line := range strings.Split(string(text), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		id, reason, excused := strings.Cut(line, " - ")
		names := ""
		if !excused {
			id, names, _ = strings.Cut(line, ":")
		}
		if seen[id] {
			t.Errorf("line %d: %s is there twice", i+1, id)
		}
		seen[id] = true
		if reason == "" && strings.TrimSpace(names) == "" {
			t.Errorf("line %d: %s has neither a scenario nor a reason", i+1, id)
		}
		for _, name := range strings.Fields(names) {
			if found, err := filepath.Glob("scenarios/" + name + ".txtar"); err != nil || len(found) == 0 {
				t.Errorf("line %d: %s: no scenario %s", i+1, id, name)
			}
		}
	}
	for _, group := range []struct {
		prefix      string
		first, last int
		digits      int
	}{
		{"A", 1, 15, 1}, {"B", 16, 22, 1}, {"C", 23, 34, 1}, {"D", 35, 40, 1}, {"E", 41, 51, 1}, {"000-", 1, 62, 2}, {"003-", 1, 10, 2}, {"U-", 1, 19, 2}, {"F", 1, 4, 1}, {"002-", 32, 33, 2},
	} {
		for n := group.first; n <= group.last; n++ {
			number := strconv.Itoa(n)
			for len(number) < group.digits {
				number = "0" + number
			}
			if !seen[group.prefix+number] {
				t.Errorf("nothing is said about %s", group.prefix+number)
			}
		}
	}
	t.Logf("%d questions", len(seen))
}
