package schema

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// slipRow is a text that is not YAML, and the first fault in it.
type slipRow struct {
	Text, Code, Detail string
	Line, Column       int
}

// slipRows are the mistakes that people make: the table is held against the page's reader too.
func slipRows(t testing.TB) (rows []slipRow) {
	content, err := os.ReadFile(filepath.Join("..", "web", "testdata", "slips.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(content, &rows); err != nil {
		t.Fatal(err)
	}
	return rows
}

// TestSlips: what people write wrongly is told at the place where it begins, in words that need no
// grammar (R-W4, R-W5).
func TestSlips(t *testing.T) {
	rows := append(slipRows(t),
		slipRow{"a: !!binary \"@@@\"\n", "syntax", "the text after !!binary is not base64; leave the tag out to keep it as it is", 1, 4},
		slipRow{"x:\n  - y\n  - z: !!binary |\n      @@@\n", "syntax", "the text after !!binary is not base64; leave the tag out to keep it as it is", 3, 8},
		slipRow{"a:\n  - \tb: 1\n", "tab_indent", "a tab is not allowed before a key, a value or a comment here; use spaces", 2, 5},
		slipRow{"...\n", "syntax", wordsNoEnd, 1, 1},
		slipRow{": a\n", "syntax", wordsKey, 1, 1},
		slipRow{"a\x00:\x00 \x00b\x00", "utf16", "byte 0: the text looks like UTF-16 or UTF-32; only UTF-8 is read", 1, 1},
		slipRow{"- " + strings.Repeat("- ", 20_000), "limit.depth", wordsDepth, 1, 129},
	)
	for _, row := range rows {
		_, err := Decode([]byte(row.Text))
		faults, _ := err.(Faults)
		if len(faults) == 0 {
			t.Errorf("%q is read", row.Text)
			continue
		}
		if f := faults[0]; string(f.Code) != row.Code || f.Line != row.Line || f.Column != row.Column || f.Detail != row.Detail {
			t.Errorf("%q: %s %d:%d %s\nwant %s %d:%d %s", row.Text, f.Code, f.Line, f.Column, f.Detail, row.Code, row.Line, row.Column, row.Detail)
		}
	}
}

// TestNoSlipInYAML: in what YAML reads nothing is found. Manifests of all scenarios stand for real
// ones.
func TestNoSlipInYAML(t *testing.T) {
	files, err := filepath.Glob("../policy/policytest/scenarios/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no scenarios", err)
	}
	texts := append(scalarForms(), yamlSeeds...)
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range txtar.Parse(content).Files {
			if strings.HasSuffix(f.Name, ".yaml") {
				texts = append(texts, strings.Split("\n"+string(f.Data), "\n---")...)
			}
		}
	}
	for _, text := range texts {
		noSlipInYAML(t, []byte(text))
	}
}

// noSlipInYAML fails if a text that is read has a slip. Nothing else asks for one.
func noSlipInYAML(t *testing.T, text []byte) {
	t.Helper()
	docs, err := Decode(text)
	if err != nil || len(docs) == 0 || !docs[0].YAML() || bytes.ContainsAny(text, "\r\u0085\u2028\u2029") { // which end lines too
		return
	}
	if s, found := findSlip(text); found {
		t.Errorf("%q is read, and has a slip at %d: %s", text, s.offset, s.words)
	}
}

// FuzzSlip: any text is searched without a panic, and a slip lies in it.
func FuzzSlip(f *testing.F) {
	for _, row := range slipRows(f) {
		f.Add([]byte(row.Text))
	}
	for _, text := range yamlSeeds {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if s, found := findSlip(text); found && (s.offset < 0 || s.offset > len(text) || s.words == "" || s.code == "") {
			t.Fatalf("%q: %+v", text, s)
		}
	})
}
