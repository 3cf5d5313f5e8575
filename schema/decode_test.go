package schema

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/podfate/podfate/policy/manifest"
	sigsyaml "sigs.k8s.io/yaml"
)

func TestDecode(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       string // the documents, with a blank between, or the code and place of each fault
	}{
		{"a document", "a: 1\n", `{"a":1}`},
		{"no line feed at the end", "a: 1", `{"a":1}`},
		{"two documents", "a: 1\n---\nb: 2\n", `{"a":1} {"b":2}`},
		{"separators with comments and blanks", "--- # first\na: 1\n---  \t\nb: 2\n---\n", `{"a":1} {"b":2}`},
		{"empty documents are skipped", "---\n\n---\n# only this\n---\na: 1\n---\nnull\n---\n~\n", `{"a":1}`},
		{"64 documents", repeat("---\na: 1\n", 64*9), strings.TrimSpace(repeat(`{"a":1} `, 64*8))},
		{"nothing", "", "no_document 1:1"},
		{"blanks", " \n\t\n", "no_document 1:1"},
		{"comments", "# a\n  # b\n", "no_document 1:1"},
		{"separators", "---\n---\n", "no_document 1:1"},
		{"null", "null\n", "no_document 1:1"},
		{"text after a separator", "a: 1\n--- b\n", "separator 2:1"},
		{"text after the end", "a: 1\n...\nb: 2\n", "after_end 3:1"},
		{"an end and nothing after it", "a: 1\n...\n", `{"a":1}`},
		{"a directive, which kubectl refuses too", "%YAML 1.1\n---\na: 1\n", "syntax 1:1"},
		{"a separator inside a block is one for kubectl too", "a: |\n  x\n---\nb: 1\n", `{"a":"x\n"} {"b":1}`},
		{"CRLF", "a: 1\r\nb:\r\n- 2\r\n---\r\nc: 3\r\n", `{"a":1,"b":[2]} {"c":3}`},

		{"JSON is not touched", " { \"b\" : 1.50, \"a\" : \"<\\u00e9\" } \n", " { \"b\" : 1.50, \"a\" : \"<\\u00e9\" } \n"},
		{"JSON after JSON", "{\"a\":1}{\"b\":2}\n {\"c\":3}\n", `{"a":1} {"b":2} {"c":3}`},
		{"JSON, then YAML", "{\"a\":1}\n---\nb: 2\n", `{"a":1} {"b":2}`},
		{"YAML in flow style", "{a: 1}\n", `{"a":1}`},
		{"a comma too many is YAML", "{\"a\": 1,}\n", `{"a":1}`},
		{"neither JSON nor YAML is for the core", "{\"a\": 1", `{"a": 1`},
		{"JSON of many levels is for the core", "{\"a\":" + levels(100) + "}", "{\"a\":" + levels(100) + "}"},
		{"a list is YAML", "[1.0]\n", `[1]`},
		{"a text in quotes is YAML", "\"a\"\n", `"a"`},

		{"a byte order mark", "\xEF\xBB\xBFa: 1\n", `{"a":1}`},
		{"a byte order mark before JSON", "\xEF\xBB\xBF{\"a\": 1}", `{"a": 1}`},
		{"UTF-16 little end first", "\xFF\xFEa\x00:\x00", "utf16 1:1"},
		{"UTF-16 big end first", "\xFE\xFF\x00a\x00:", "utf16 1:1"},
		{"UTF-32", "\x00\x00\xFE\xFF", "utf16 1:1"},
		{"UTF-16 without a mark", "a\x00:\x00", "utf16 1:1"},
		{"a bad byte", "a: 1\nb: \"é\xff\"\n", "bad_utf8 2:6"},
		{"a cut character", "a: \xC3", "bad_utf8 1:4"},
		{"an overlong character", "a: \xC0\x80", "bad_utf8 1:4"},
		{"half a surrogate pair", "a: \xED\xA0\x80", "bad_utf8 1:4"},
		{"half a surrogate pair escaped", "a: \"\\ud800\"", "syntax 1:5"},
		{"half a surrogate pair in JSON is for the core", "{\"a\":\"\\ud800\"}", "{\"a\":\"\\ud800\"}"},
		{"a bad byte in JSON", "{\"a\":\"\xff\"}", "bad_utf8 1:7"},
		{"NUL", "a: \x00", "control_character 1:4"},
		{"escape", "a: \"\x1b[31m\"", "control_character 1:5"},
		{"delete", "a: \x7f", "control_character 1:4"},
		{"a C1 control", "a: \u0080", "control_character 1:4"},
		{"a noncharacter", "a: \uFFFE", "control_character 1:4"},
		{"U+0085 ends a line", "a: 1\u0085b: 2", `{"a":1,"b":2}`},
		{"control characters by escapes", "a: \"\\0\\e\\x7f\"", `{"a":"\u0000\u001b` + "\x7f" + `"}`},
		{"marks that turn text around", "a: \u202ex", `{"a":"` + "\u202e" + `x"}`},

		{"a key twice", "a: 1\nb: 2\na: 3\n", "duplicate_key 3:1"},
		{"a key three times", "{a: 1, a: 2, \"a\": 3}\n", "duplicate_key 1:8, duplicate_key 1:14"},
		{"a key three times in a block", "x: {a: 1, a: 2, \"a\": 3}\n", "duplicate_key 1:11, duplicate_key 1:17"},
		{"keys that read alike", "1: a\n\"1\": b\n0x1: c\n", "duplicate_key 2:1, duplicate_key 3:1"},
		{"on and true", "on: a\ntrue: b\n", "duplicate_key 2:1"},
		{"letter case makes another key", "action: 1\nAction: 2\n", `{"Action":2,"action":1}`},
		{"a merge that overrides", "b: &b {a: 1}\nc: {<<: *b, a: 2}\n", "duplicate_key 2:13"},
		{"a merge that is overridden", "b: &b {a: 1}\nc: {a: 2, <<: *b}\n", "duplicate_key 2:11"},
		{"merges that override each other", "b: &b {a: 1}\nc: &c {a: 2}\nd: {<<: [*b, *c]}\n", "duplicate_key 3:5"},
		{"merges through merges", "b: &b {a: 1}\nc: &c {<<: *b}\nd: {<<: *c, a: 2}\n", "duplicate_key 3:13"},
		{"a merge", "b: &b {a: 1}\nc: {<<: *b, d: 2}\n", `{"b":{"a":1},"c":{"a":1,"d":2}}`},
		{"a merge of a list", "b: &b [1]\nc: {<<: *b}\n", "bad_merge 2:5"},
		{"a merge of a text", "<<: x\n", "bad_merge 1:1"},
		{"a merge key in quotes is a key", "\"<<\": x\n", `{"\u003c\u003c":"x"}`},
		{"faults of all documents", "a: 1\na: 2\n---\nb: 1\nb: 2\n", "duplicate_key 2:1, duplicate_key 5:1"},
		{"a list as key", "? [a]\n: b\n", "unsupported_key 1:3"},
		{"a mapping as key", "{a: b}: c\n", "unsupported_key 1:1"},
		{"null as key", "x:\n  null: c\n", "unsupported_key 2:3"},
		{"a key of 64 bits", "18446744073709551615: c\n", "unsupported_key 1:1"},
		{"a tag on a key", "!!int 1: c\n", "unsupported_tag 1:1"},
		{"the tag that is none", "a: ! 1\n", "unsupported_tag 1:4"},
		{"a tag that does not fit", "a: !!int x\n", "unsupported_tag 1:4"},
		{"infinity", "a: [1, .inf]\n", "not_finite 1:8"},
		{"not a number", "a: .nan\n", "not_finite 1:4"},

		{"a tab", "a:\n\tb: 1\n", "tab_indent 2:1"},
		{"a tab after blanks", "a:\n  \tb: 1\n", "tab_indent 2:3"},
		{"a tab after a dash", "a:\n  -\tb: 1\n", "tab_indent 2:4"},
		{"two colons", "a: b: c\n", "syntax 1:5"},
		{"an indentation between two", "a:\n    b: 1\n  c: 2\n", "syntax 3:3"},
		{"a list in a mapping", "a: 1\n- b\n", "syntax 2:1"},
		{"a quote that stays open", "a: 1\nb: \"c\nd: e\n", "syntax 2:4"},
		{"a bracket that stays open", "a: 1\nb: [c,\n  d\ne: f\n", "syntax 2:4"},
		{"a bracket of another kind", "a: {b: 1]\n", "syntax 1:9"},
		{"an alias of nothing", "a: 1\nb: *x\n", "syntax 2:4"},
		{"a reserved sign", "a: @b\n", "syntax 1:4"},
		{"an unknown escape", "a: \"\\q\"\n", "syntax 1:5"},
		{"after characters of several bytes", "é: ü: x\n", "syntax 1:5"},
	} {
		t.Run(c.name, func(t *testing.T) {
			docs, err := Decode([]byte(c.text))
			var got []string
			for _, doc := range docs {
				got = append(got, string(doc.JSON()))
			}
			joined := strings.Join(got, " ")
			faults, failed := err.(Faults)
			for _, doc := range docs {
				faults = append(faults, doc.Duplicates()...)
			}
			if len(faults) > 0 {
				if !failed {
					got = nil
				}
				checkFaults(t, faults)
				for _, f := range faults {
					got = append(got, fmt.Sprintf("%s %d:%d", f.Code, f.Line, f.Column))
				}
				joined = strings.Join(got, ", ")
			}
			if joined != c.want {
				t.Errorf("got  %s (%v)\nwant %s", joined, err, c.want)
			}
		})
	}
}

func TestFaultsNameTheByte(t *testing.T) {
	for text, want := range map[string]string{
		"\xEF\xBB\xBFa: \xff": "byte 6: 0xFF is not UTF-8 here",
		"a: \x01":             "byte 3: U+0001 is not allowed in YAML, not even in quotes",
		"\xFF\xFEa\x00":       "byte 0: the text is UTF-16 or UTF-32; only UTF-8 is read",
	} {
		_, err := Decode([]byte(text))
		if f := err.(Faults)[0]; f.Detail != want || !strings.Contains(f.Detail, fmt.Sprintf("byte %d", f.Offset)) {
			t.Errorf("%q: %s, offset %d", text, f.Detail, f.Offset)
		}
	}
}

func TestDuplicatesNameBothPlaces(t *testing.T) {
	_, err := Decode([]byte("a: 1\nspec:\n  b: 2\n  c: 3\n  b: 4\n"))
	f := err.(Faults)[0]
	if f.Path != "spec.b" || f.Line != 5 || f.Column != 3 || !strings.Contains(f.Detail, "line 3, column 3") {
		t.Error(f)
	}
}

// Paths in a manifest count from the manifest, wherever it is.
func TestPathsCountFromTheManifest(t *testing.T) {
	for text, want := range map[string]string{
		"kind: Pod\nspec: {a: 1, a: 2}\n":                           "spec.a",
		"kind: Scenario\nmanifest: {spec: {a: 1, a: 2}}\n":          "spec.a",
		"manifest: {spec: {a: 1, a: 2}}\n":                          "spec.a",
		"kind: Scenario\ncluster: {a: 1, a: 2}\n":                   "cluster.a",
		"manifest: 1\nmanifest: 2\n":                                "manifest",
		"kind: List\nitems:\n- spec: {a: 1, a: 2}\n":                "spec.a",
		"kind: Pod\nmetadata: {labels: {a.b/c: 1, \"a.b/c\": 2}}\n": `metadata.labels["a.b/c"]`,
	} {
		_, err := Read([]byte(text), Overrides{})
		if got := err.(Faults)[0].Path; got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func TestNotes(t *testing.T) {
	docs := mustDecode(t, `plain: text
version: 1.30
octal: 012
no: 0o14
list: [yes, 0x2A, 1_000, 1e400, 12:30, 2001-01-01, 42, "no", !!str no]
bin: !!binary aGk=
date: 2001-12-14 21:59:43
`)
	var got []string
	for _, n := range docs[0].Notes() {
		got = append(got, fmt.Sprintf("%s %s %d:%d", n.Code, n.Path, n.Line, n.Column))
	}
	want := "reads_as_number version 2:10, reads_as_number octal 3:8, reads_as_key false 4:1, reads_as_number false 4:5, " +
		"reads_as_boolean list[0] 5:8, reads_as_number list[1] 5:13, reads_as_number list[2] 5:19, reads_as_text list[3] 5:26, reads_as_binary bin 6:6"
	if strings.Join(got, ", ") != want {
		t.Errorf("got  %v\nwant %s", strings.Join(got, ", "), want)
	}
	r, err := NewRequest(docs, Overrides{})
	if err == nil && len(r.Notes()) != len(got) {
		t.Errorf("%d notes of a request", len(r.Notes()))
	}
	many := mustDecode(t, repeat("- no\n", 5*300))
	if n := many[0].Notes(); len(n) != MaxFaults+1 || n[MaxFaults].Detail != "and 200 more" {
		t.Errorf("%d notes, the last %v", len(n), n[len(n)-1])
	}
}

// Every form of scalar that readers of YAML disagree about reads as Kubernetes reads it, as value,
// element and key.
func TestScalarsReadAsInKubernetes(t *testing.T) {
	accepted := 0
	for _, text := range scalarForms() {
		want, wantErr := sigsyaml.YAMLToJSONStrict([]byte(text))
		docs, err := Decode([]byte(text))
		switch {
		case err != nil && wantErr == nil:
			code := err.(Faults)[0].Code
			if code != CodeUnsupportedTag && code != CodeLimitExponent && code != CodeAfterEnd {
				t.Errorf("%q: refused (%v), Kubernetes reads %s", text, err, want)
			}
		case err == nil && (wantErr != nil || string(docs[0].JSON()) != string(want)) && docs[0].YAML():
			t.Errorf("%q: %s, Kubernetes reads %s, %v", text, docs[0].JSON(), want, wantErr)
		case err == nil:
			accepted++
			checkNotes(t, docs[0])
		}
	}
	if accepted < 300 {
		t.Errorf("only %d forms were accepted", accepted)
	}
	t.Logf("%d of %d forms accepted", accepted, len(scalarForms()))
}

// What resolve says of a plain scalar is what sigs.k8s.io/yaml makes of it; notes are built on
// that.
func TestResolveIsThatOfKubernetes(t *testing.T) {
	for _, text := range scalarForms() {
		value, ok := strings.CutPrefix(text, "- ")
		if value = strings.TrimSuffix(value, "\n"); !ok || strings.ContainsAny(value, "\"'[{!&*|>\n#:%@?") || strings.HasPrefix(value, "- ") {
			continue
		}
		want, err := sigsyaml.YAMLToJSON([]byte(text))
		if value == "-" || err != nil {
			continue // an empty list; a number that JSON cannot say
		}
		if got, ok := resolvePlain(value).json(); !ok || "["+got+"]" != string(want) {
			t.Errorf("%q is %s, Kubernetes reads %s", value, got, want)
		}
	}
}

// A fault repeats at most MaxQuotedBytes of the text, however long that is, and a list of faults
// fits an answer.
func TestFaultsAreShort(t *testing.T) {
	long := repeat("é\\x01", 30<<10)
	for _, text := range []string{
		"? \"" + long + "\"\n: 1\n? \"" + long + "\"\n: 2\n",
		"a:\n  ? \"" + long + "\"\n  : .inf\n",
		"--- " + repeat("x", 100<<10) + "\n",
		"a: *" + repeat("x", 100<<10) + "\n",
		"a: 1e" + repeat("9", 60<<10) + "\n",
		repeat("a: <<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<\n", 80<<10),
		"a: !<tag:" + repeat("x", 60<<10) + "> ! b\n",
		"kind: " + repeat("<", 60<<10) + "\n",
	} {
		_, err := Read([]byte(text), Overrides{})
		if err == nil {
			t.Errorf("%s: accepted", cut(text, 20))
			continue
		}
		checkFaults(t, err.(Faults))
	}
}

func TestFaultsAreSortedAndCapped(t *testing.T) {
	text := "z: {b: 1, b: 2, a: .inf}\ny: [1e999, .nan]\n" + repeat("x: 1\n", 5*400)
	first := ""
	for range 300 {
		_, err := Decode([]byte(text))
		faults := err.(Faults)
		if len(faults) != MaxFaults+1 || faults[MaxFaults].Detail != "and 303 more" {
			t.Fatalf("%d faults, the last %v", len(faults), faults[len(faults)-1])
		}
		for i := 1; i < MaxFaults; i++ {
			if a, b := faults[i-1], faults[i]; a.Line > b.Line || a.Line == b.Line && a.Column > b.Column {
				t.Fatalf("%v stands before %v", a, b)
			}
		}
		if payload := string(faults.Payload()); first == "" {
			first = payload
		} else if first != payload {
			t.Fatal("another list of faults")
		}
	}
}

// The JSON of documents is JSON, and its places are those of the text, for a whole Pod as kubectl
// prints it.
func TestPodFromTheCluster(t *testing.T) {
	text := podYAML + `status:
  phase: Running
  containerStatuses:
  - name: main
    restartCount: 3
    state: {waiting: {reason: CrashLoopBackOff, message: "back-off 40s restarting failed container=main"}}
    lastState: {terminated: {exitCode: 42, finishedAt: "2026-01-01T00:00:00Z", startedAt: 2026-01-01T00:00:00Z}}
`
	docs := mustDecode(t, text)
	if len(docs) != 1 || !json.Valid(docs[0].JSON()) {
		t.Fatal("no document")
	}
	checkPlaces(t, docs[0], docs[0].root)
	if n := docs[0].Notes(); len(n) != 0 {
		t.Errorf("notes: %v", n)
	}
	if v := docs[0].root.Locate("status.containerStatuses[0].lastState.terminated.startedAt"); v.Kind() != manifest.String {
		t.Errorf("a time is %s", v.Raw())
	}
}

func BenchmarkDecode(b *testing.B) {
	text := []byte(podYAML)
	b.ReportAllocs()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := Read(text, Overrides{Exits: []Exit{{ExitCode: 42}}}); err != nil {
			b.Fatal(err)
		}
	}
}

// A template that was not rendered is the most common text that looks like a manifest and is none.
func TestTemplatesAreNamed(t *testing.T) {
	for text, named := range map[string]bool{
		"metadata:\n  name: {{ .Release.Name }}\n":     true,
		"spec:\n  {{- if .Values.x }}\n  a: 1\n":       true,
		"metadata:\n  name: {a: {b: c}\nspec: {}\n":    false,
		"metadata:\n  {a: b}: {{ .Release.Name }}\n":   true,
		"metadata:\n  ? [a]\n  : b\n":                  false,
		"metadata:\n  name: a\n b: {{ }}\nc: d\n":      true,
		"{{- if .Values.x }}\nkind: Pod\n{{- end }}\n": true, // R-W4: what begins with a brace is not all JSON
		"\n  {{/* from a chart */}}\nkind: Pod\n":      true,
		"{% if x %}\nkind: Pod\n{% endif %}\n":         true,
		"{# a comment #}\n{\"kind\": \"Pod\"}\n":       true,
		"{kind: [Pod}\n":                               false,
	} {
		_, err := Decode([]byte(text))
		faults, _ := err.(Faults)
		if len(faults) == 0 || slices.ContainsFunc(faults, func(f Fault) bool { return strings.Contains(f.Detail, wordsTemplate) }) != named {
			t.Errorf("%q: %v", text, err)
		}
	}
}
