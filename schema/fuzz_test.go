package schema

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/podfate/podfate/policy/manifest"
	sigsyaml "sigs.k8s.io/yaml"
)

// FuzzYAML holds the door to YAML to its promises: it never panics; what it lets through is what
// sigs.k8s.io/yaml makes of the document; every key and value of that has its own place; faults
// have a code, a place and a bounded size.
func FuzzYAML(f *testing.F) {
	for _, text := range append(scalarForms(), yamlSeeds...) {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		d := &decoder{budget: defaultBudget()}
		d.lines = newLines(text)
		if firstInvalid(text) >= 0 || len(text) > MaxDocumentBytes || bytes.Contains(text, []byte("---")) {
			return
		}
		docs := d.yamlStream(text, 0)
		if d.nodes > MaxNodes+1 || d.expanded > 2*MaxExpandedBytes {
			t.Fatalf("budget passed: %d nodes, %d bytes", d.nodes, d.expanded)
		}
		checkFaults(t, d.faults.sorted())
		for _, doc := range docs {
			want, err := sigsyaml.YAMLToJSONStrict(text)
			if err != nil || !bytes.Equal(doc.json, want) {
				t.Fatalf("%q\ngot  %s\nwant %s, %v", text, doc.json, want, err)
			}
			if lenient, err := sigsyaml.YAMLToJSON(text); err != nil || !bytes.Equal(lenient, want) {
				t.Fatalf("%q: strict reading gives %s, lenient %s, %v", text, want, lenient, err)
			}
			checkPlaces(t, doc, doc.root)
			checkNotes(t, doc)
		}
	})
}

var yamlSeeds = []string{
	"a: 1\n", "a: [1, {b: c}]\nd: |\n  text\n  more\ne: >-\n  folded\n", "x: &x {a: 1}\ny: {<<: *x, b: 2}\n", "- a\n- - b\n  - c\n-\n",
	"? a\n: b\n", "a: 'it''s'\nb: \"\\u00e9\\n\"\n", "a: &a [1]\nb: *a\nc: [*a, *a]\n", "# c\na: # d\n  - b # e\n", "a: !!str 1\nb: !!float 2\nc: !x y\n",
	"a:\r\n  b: 1\r\n", "a: 1\rb: 2\r", "a: x\u2028b: y", "\"a b\": {c: , d: }\n", "a: *b\n", "a: &a [*a]", "a:\n\tb: 1\n", "{a: 1, a: 2}", "a: 1\n...\nb: 2\n",
	"<<: [{a: 1}, {b: 2}]\nc: 3\n", "a: ! 1", "[1]: 2", "~: 1", "a: .inf", "a: 1e1000000", "%YAML 1.1\n", "&a a: *a\n", "a: !!binary aGk=\n", "? |\n  block key\n: - one\n  - two\n",
}

func FuzzDecode(f *testing.F) {
	for _, text := range append(yamlSeeds, "{\"a\":1}", "{\"a\":1}{\"b\":2}", "{\"a\":1}\n---\nb: 2\n", "{a: 1}", "{\"a\":1,}", "a: 1\n---\nb: 2\n--- # x\nnull\n", "\xEF\xBB\xBFa: 1", "{\"a\":1} x") {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		docs, err := Decode(text)
		if err == nil && len(docs) == 0 {
			t.Fatal("neither document nor fault")
		}
		if err != nil {
			checkFaults(t, err.(Faults))
		}
		for _, doc := range docs {
			if doc.tree == nil && !bytes.Contains(text, doc.json) {
				t.Fatalf("JSON was changed: %q to %q", text, doc.json)
			}
			if doc.err == nil && !json.Valid(doc.json) {
				t.Fatalf("%q is not JSON", doc.json)
			}
			checkPlaces(t, doc, doc.root)
		}
		r, err := NewRequest(docs, Overrides{})
		if err != nil {
			checkFaults(t, err.(Faults))
		} else if len(docs) == 1 && docs[0].tree == nil && docs[0].err == nil && docs[0].root.Get("manifest").Exists() && docs[0].root.Get("kind").Str() == "" &&
			!docs[0].root.Get("apiVersion").Exists() && !docs[0].root.Get("kind").Exists() && !bytes.Equal(r.JSON(), docs[0].json) {
			t.Fatalf("a request was changed: %q to %q", docs[0].json, r.JSON())
		}
	})
}

// checkFaults fails for faults that are not as they are promised.
func checkFaults(t *testing.T, faults Faults) {
	t.Helper()
	if len(faults) > MaxFaults+1 {
		t.Fatalf("%d faults", len(faults))
	}
	for _, fault := range faults {
		if fault.Code == "" || fault.Detail == "" || len(fault.Path) > MaxQuotedBytes || len(fault.Detail) > MaxQuotedBytes+200 {
			t.Fatalf("fault %+v", fault)
		}
		if fault.Line < 1 && fault.Code != "too_many_faults" {
			t.Fatalf("fault without a place: %+v", fault)
		}
	}
	if payload := faults.Payload(); len(payload) > MaxPayloadBytes || len(faults) > 0 && !json.Valid(payload) {
		t.Fatalf("payload of %d bytes: %s", len(payload), payload)
	}
}

// checkPlaces fails if a value of doc has no place of its own in the text, or a name one that does
// not read as it.
func checkPlaces(t *testing.T, doc *Document, v manifest.Value) {
	t.Helper()
	if doc.tree == nil {
		return
	}
	for child := v.First(); child.Exists(); child = child.Next() {
		for _, offset := range []int{child.KeyOffset(), child.Offset()} {
			at, exact := doc.tree.find(doc.root, offset)
			if !exact || at > len(doc.lines.text) {
				t.Fatalf("%q: %s has no place of its own in %q", doc.json, child.Path(doc.root), doc.lines.text)
			}
		}
		if v.Kind() == manifest.Object {
			at, _ := doc.tree.find(doc.root, child.KeyOffset())
			key := child.Key()
			if plainWord(key) && key != "true" && key != "false" && !bytes.HasPrefix(bytes.TrimLeft(doc.lines.text[at:], `"'`), []byte(key)) && !bytes.ContainsAny(doc.lines.text[at:min(at+1, len(doc.lines.text))], "&*!|>\"") {
				t.Fatalf("key %q stands at %q", key, cut(string(doc.lines.text[at:]), 40))
			}
		}
		checkPlaces(t, doc, child)
	}
}

func plainWord(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz") == ""
}

// checkNotes fails if a note says something else than sigs.k8s.io/yaml reads.
func checkNotes(t *testing.T, doc *Document) {
	t.Helper()
	for _, note := range doc.notes {
		if note.Code != NoteNumber && note.Code != NoteBoolean {
			continue
		}
		i := strings.LastIndex(note.Detail, " is read as the ")
		said := strings.Fields(note.Detail[i+len(" is read as the "):])[1]
		if value := string(doc.root.Locate(note.Path).Raw()); !strings.HasSuffix(note.Path, "…") && value != strings.TrimSuffix(said, ";") {
			t.Fatalf("note %v, but the value is %s", note, value)
		}
	}
}

// scalarForms are all forms of plain scalars that readers of YAML disagree about, each as a value.
func scalarForms() []string {
	forms := strings.Fields(`
		y Y yes Yes YES yEs n N no No NO nO true True TRUE tRue false False FALSE on On ON oN off Off OFF oFF
		~ null Null NULL nuLL nil none
		0 1 -1 +1 007 012 -012 08 09 0o14 0O14 0b101 -0b101 0B1 0x2A 0X2a -0x2A 0xG 0x 0b 0b2 1_000 1__0 _1 1_ 0_7 0x_1 +0x1
		9007199254740993 9223372036854775807 9223372036854775808 18446744073709551615 18446744073709551616 -9223372036854775808 -9223372036854775809 123456789012345678901234567890
		1.0 1.30 1. .5 -.5 +.5 . .. ... 1.2.3 1e3 1E3 1e+3 1e-3 1.5e3 .5e1 1e 1e+ e1 4.2e1 1e308 1e309 -1e309 1e400 1e-400 0x1p4 1_0.5_0 1e1_0 42.0 42.5 -0 -0.0 +0
		.inf .Inf .INF -.inf +.inf .nan .NaN .NAN .iNF inf Inf nan NaN -inf
		12:30 12:30:45 1:60 190:20:30 190:20:30.15 -1:30 09:30 20:00
		2001-12-14 2001-1-1 2001-12-14t21:59:43.10-05:00 2001-12-14T21:59:43Z 2002-12-14T 01-01-2001 2001-13-45 20011214
		<< = - -- +- +1+ 1-2 1,2 1k 10Mi 500m 10.0.0.1 v1.30 1.30.0 a1 deadbeef 12e4567 5e10 0e0 1e0 0.1e1
		@x %x x% a#b a:b http://a/b ::1 ? ?a -a :a *x &x !x`)
	forms = append(forms, `""`, `''`, `"no"`, `'012'`, `"1e1000000"`, "2001-12-14 21:59:43", "2001-12-14 21:59:43.10 -5", "a b", "no way", "1 2", "- 1", "[no, 012]", "{no: 012}", "|\n  no", ">\n  012", "!!str no", "!!int 012", "!!float 1", "!!bool yes", "!!null ~", "!!int x", "!!timestamp 2001-01-01", "!!binary aGk=", "!!binary ?", "!local 12", "&a no", "'a\n\n  b'", "\"a\\\n  b\"", "a\n  b")
	texts := make([]string, 0, 3*len(forms))
	for _, form := range forms {
		texts = append(texts, "k: "+form+"\n")
	}
	for _, form := range forms {
		if !strings.Contains(form, "\n") {
			texts = append(texts, form+": k\n", "- "+form+"\n")
		}
	}
	return texts
}
