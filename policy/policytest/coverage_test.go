package policytest

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var quoted = regexp.MustCompile("`([^`]+)`")

// TestCoverage holds coverage.txt complete: each question is there once, and each has scenarios
// that assert an answer, tests, or a reason; or both.
func TestCoverage(t *testing.T) {
	text, err := os.ReadFile("coverage.txt")
	if err != nil {
		t.Fatal(err)
	}
	words := expectedWords(t)
	seen := map[string]bool{}
	excused, inPart, said, open := 0, 0, 0, 0
	for i, line := range strings.Split(string(text), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		id := line[:max(strings.IndexAny(line, ": "), 0)]
		names, reason := answersOf(line[len(id):])
		isExcused := names == "" && reason != ""
		switch {
		case isExcused:
			excused++
		case reason != "":
			inPart++
		}
		if seen[id] {
			t.Errorf("line %d: %s is there twice", i+1, id)
		}
		seen[id] = true
		if strings.HasPrefix(reason, "not yet") {
			open++
		}
		if reason == "" && strings.TrimSpace(names) == "" {
			t.Errorf("line %d: %s has neither a scenario nor a reason", i+1, id)
		}
		expected, asserts := "", isExcused
		for _, name := range strings.Fields(quoted.ReplaceAllString(names, "")) {
			if test, is := strings.CutPrefix(name, "test:"); is {
				folder, function := test[:strings.LastIndexByte(test, '.')], path.Ext(test)[1:]
				if !strings.Contains(testsOf(t, folder), "\nfunc "+function+"(") {
					t.Errorf("line %d: %s: %s has no %s", i+1, id, folder, function)
				}
				asserts = true
				continue
			}
			if file, is := strings.CutPrefix(name, "doc:"); is {
				text, err := os.ReadFile(filepath.Join("..", "..", file))
				if err != nil {
					t.Errorf("line %d: %s: %v", i+1, id, err)
				}
				expected += string(text)
				continue
			}
			found := 0
			for scenario, text := range words {
				if is, err := path.Match(name, scenario); err != nil || !is {
					continue
				}
				found++
				expected += text
			}
			if found == 0 {
				t.Errorf("line %d: %s: no scenario %s", i+1, id, name)
			}
		}
		for _, text := range quoted.FindAllStringSubmatch(names, -1) {
			// R-T5: a bare word, such as FailJob, is in many scenarios that ask something else.
			said, asserts = said+1, asserts || strings.ContainsAny(strings.TrimSpace(text[1]), " :[") || strings.Contains(names, "doc:")
			if !strings.Contains(expected, text[1]) {
				t.Errorf("line %d: %s: none of its scenarios expects %q", i+1, id, text[1])
			}
		}
		if !asserts {
			t.Errorf("line %d: %s says nothing that a scenario expects", i+1, id)
		}
	}
	for _, group := range []struct {
		prefix      string
		first, last int
		digits      int
	}{
		{"A", 1, 15, 1}, {"B", 16, 22, 1}, {"C", 23, 34, 1}, {"D", 35, 40, 1}, {"E", 41, 51, 1}, {"000-", 1, 62, 2}, {"003-", 1, 10, 2}, {"U-", 1, 19, 2}, {"F", 1, 4, 1},
		{"001-", 1, 28, 2}, {"002-", 1, 67, 2}, {"004-", 1, 11, 2}, {"C-", 1, 36, 2}, {"D-", 1, 20, 2}, {"X-", 1, 47, 2}, {"Q-", 1, 30, 2},
	} {
		for n := group.first; n <= group.last; n++ {
			number := strconv.Itoa(n)
			for len(number) < group.digits {
				number = "0" + number
			}
			if !seen[group.prefix+number] && !seen[group.prefix+number+"a"] {
				t.Errorf("nothing is said about %s", group.prefix+number)
			}
		}
	}
	items := 0
	for id := range seen {
		if len(id) > 4 && id[3] == '-' {
			items++
		}
	}
	if items != 184 {
		t.Errorf("%d items of the founding documents, want 184", items)
	}
	t.Logf("%d questions, %d of them with a reason instead of an answer, %d with a reason for a part, %d to be answered yet; %d texts are held to what is expected",
		len(seen), excused, inPart, open, said)
}

// answersOf splits what follows a row's id into the names and quoted texts that answer it and the
// reason why it has none, or why a part of it has none.
func answersOf(row string) (names, reason string) {
	// A quoted text may contain a dash, names do not, and what follows the last quoted text is the
	// reason.
	last := strings.LastIndex(row, "`") + 1
	before, reason, _ := strings.Cut(row[last:], " - ")
	return strings.TrimSpace(strings.TrimPrefix(row[:last]+before, ":")), strings.TrimSpace(reason)
}

// TestRowsOfCoverage holds what a row may look like.
func TestRowsOfCoverage(t *testing.T) {
	for _, c := range []struct{ row, names, reason string }{
		{": a b", "a b", ""},
		{" - no input for it", "", "no input for it"},
		{": a `x - y` test:b.C", "a `x - y` test:b.C", ""},
		{": a `x - y` - no outage", "a `x - y`", "no outage"},
		{": a - no outage - yet", "a", "no outage - yet"},
	} {
		if names, reason := answersOf(c.row); names != c.names || reason != c.reason {
			t.Errorf("%q: %q and %q, want %q and %q", c.row, names, reason, c.names, c.reason)
		}
	}
}

// expectedWords returns what each scenario expects of all its requests, by its name. A request
// without expected words asserts nothing.
func expectedWords(t *testing.T) map[string]string {
	t.Helper()
	cases, err := Cases()
	if err != nil {
		t.Fatal(err)
	}
	words := map[string]string{}
	for _, c := range cases {
		if strings.TrimSpace(c.Want) == "" {
			t.Errorf("%s expects nothing", c.Name)
		}
		words[strings.TrimSuffix(filepath.Base(c.file), ".txtar")] += c.Want
	}
	return words
}
