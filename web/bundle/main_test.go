package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"golang.org/x/tools/txtar"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/podfate/podfate/policy/policytest"
	"github.com/podfate/podfate/schema"
)

// folderWithPackages returns the folder of the bundler, or ends t if the npm packages are not
// there.
func folderWithPackages(t *testing.T) string {
	folder, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(folder, "node_modules", "yaml", "package.json")); err != nil {
		policytest.Missing(t, "the npm package yaml (npm ci in web/bundle)", "whether the page's scripts come from their sources")
	}
	return folder
}

func node(t *testing.T) string {
	return policytest.Executable(t, "Node.js 20", "the page's scripts", "node")
}

func TestStaticFilesComeFromTheirSources(t *testing.T) {
	folderWithPackages(t)
	if err := run(true); err != nil {
		t.Error(err)
	}
}

func TestBundlesAreTheSameEachTime(t *testing.T) {
	folder := folderWithPackages(t)
	first, err := build(folder)
	if err != nil {
		t.Fatal(err)
	}
	second, err := build(folder)
	if err != nil {
		t.Fatal(err)
	}
	for i := range first {
		if !bytes.Equal(first[i].content, second[i].content) {
			t.Errorf("%s differs between two runs", first[i].name)
		}
	}
}

// What the page weighs, compressed as servers send it.
func TestSizes(t *testing.T) {
	policytest.Quick(t, "it compresses what the page loads with the best compression")
	for _, limit := range []struct {
		files []string
		bytes int
	}{
		{[]string{"app.js", "early.js"}, 40 << 10},
		{[]string{"early.js"}, 512},
		{[]string{"worker.js"}, 26 << 10},
		{[]string{"style.css"}, 12 << 10},
		{[]string{"embed.js"}, 3 << 10},                  // with its sheet; all that an untouched embed loads
		{[]string{"embed.js", "embed-run.js"}, 11 << 10}, // loader and sheet of one that was asked
	} {
		total := 0
		for _, name := range limit.files {
			content, err := os.ReadFile(filepath.Join("..", "static", name))
			if err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			w := brotli.NewWriterLevel(&b, brotli.BestCompression)
			w.Write(content)
			w.Close()
			t.Logf("%s: %d bytes, %d with brotli", name, len(content), b.Len())
			total += b.Len()
		}
		if total > limit.bytes {
			t.Errorf("%v: %d bytes with brotli, at most %d", limit.files, total, limit.bytes)
		}
	}
}

// The policy of the page runs no code that is made from text and takes no script from elsewhere.
func TestScriptsNeedNoMoreThanTheirPolicyAllows(t *testing.T) {
	for _, name := range []string{"app.js", "early.js", "embed.js", "embed-run.js", "frame.js", "sw.js", "worker.js"} {
		content, err := os.ReadFile(filepath.Join("..", "static", name))
		if err != nil {
			t.Fatal(err)
		}
		// The name of SVG looks like an address; nothing is loaded from there.
		content = bytes.Replace(content, []byte(`"http://www.w3.org/2000/svg"`), nil, 1)
		for _, word := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "importScripts", "http://", "localStorage", "document.cookie"} {
			if strings.Contains(string(content), word) {
				t.Errorf("%s contains %s", name, word)
			}
		}
	}
}

func TestScripts(t *testing.T) {
	folderWithPackages(t)
	out, err := policytest.Command(node(t), "--test", "test/page.test.mjs").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Log(summary(out))
}

// summary returns the counts that Node's test runner ends with.
func summary(out []byte) string {
	var lines []string
	for line := range strings.Lines(string(out)) {
		line = strings.TrimLeft(strings.TrimSpace(line), "#ℹ ")
		for _, word := range []string{"tests ", "pass ", "fail ", "skipped "} {
			if strings.HasPrefix(line, word) {
				lines = append(lines, line)
			}
		}
	}
	return "Node.js: " + strings.Join(lines, ", ")
}

// texts are documents that Kubernetes reads; more come from the examples and the scenarios.
var texts = []string{
	"a: 1", "{a: 1}", `{"a": 1}`, "- 1\n- x", "a:\n  b:\n  - c: 1\n    d: 2\n  - e\n", "# c\n---\n# d\na: 1\n---\n---\nb: 2\n",
	"a: ~\nb:\nc: null\nd: Null\ne: NULL\nf: ''", "a: yes\nb: No\nc: on\nd: OFF\ne: y\nf: N\ng: true\nh: FALSE\ni: tRue\nj: yep",
	"on: 1\n2: b\nyes: c\n0x2A: d", "a: 012\nb: 0o12\nc: 08\nd: 0x2A\ne: 0X2a\nf: 0b101\ng: 1_000\nh: 1__0\ni: -0x2A\nj: +12\nk: 0\nl: -0\nm: 00\nn: 09.5",
	"a: 4.2e1\nb: 42.0\nc: 1e3\nd: .5\ne: 5.\nf: -0.0\ng: 1e-7\nh: 1e21\ni: 123456789.123\nj: 1e309\nk: 1_0.5\nl: -1.5\nm: 1e-400\nn: 0.000001",
	"a: 9223372036854775807\nb: 9223372036854775808\nc: 18446744073709551615\nd: 18446744073709551616\ne: -9223372036854775808\nf: -9223372036854775809",
	"a: 12:30\nb: 2026-11-21\nc: 2026-11-21T10:00:00Z\nd: 1.2.3\ne: 1.28\nf: 10Gi\ng: 100m\nh: v1\ni: 1e\nj: 0x\nk: -\nl: .\nm: +\nn: --1\no: 1-2\np: 1,000\nq: 0x_1\nr: _1\ns: 1_",
	"a: \"x\\ty\\u00e4\\n\\x41\\\\ \\\"\"\nb: 'it''s'\nc: \"\"\nd: \"a\n  b\"\ne: plain\n  goes on\nf: a # comment\ng: a#b\nh: 'x: y'",
	"a: |\n  one\n  two\nb: >\n  one\n  two\n\n  three\nc: |-\n  x\nd: |+\n  x\n\ne: >-\n  a\n   b\n  c\nf: |2\n    x\n",
	"a: <b> & c\nb: \"\\u2028\\u2029\\b\\f\\x7f\\e\"\nc: größe 容器 🐳\n\"\uff5e\": 1\n\"\U0001f433\": 2\n\"é\": 3\nz: 4",
	"a: &x 1\nb: *x\nc: &y [1, {d: 2}]\ne: *y", "base: &b {x: 1, y: 2}\nc:\n  <<: *b\n  z: 3\nd:\n  <<: [{p: 1}, {q: 2}]\n  r: 3",
	"a: !!str 42\nb: !!int 42\nc: !!str yes\nd: !!float 42\ne: !!bool yes\nf: !!null ~\ng: !!str\nh: !!map {}\ni: !!seq []",
	"[a, 'b', \"c\", 1, [], {}, {d: e}, f: g]", "{a: , b, \"c\": 1, 'd': [1,\n 2]}", "? a\n: b\n? c\n", "- - - x\n  - y\n-\n  - z\n- k: v\n  l: w",
	"a:\r\n  b: 1\r\nc: 2\r\n", "\ufeffa: 1", "a: 'b'   \n\n\n", "key with spaces: x\n\"quoted key\": y\n? \"k\"\n: z", "a: [\n  1, # one\n  2,\n]\n",
	"metadata:\n  annotations:\n    a.b/c: \"1\"\n    d-e: |\n      {\"x\": 1}\n", "a: \"\\/\"\nb: - c", "a: x:y\nb: http://h/p?q#f\nc: '#'\nd: \"%\"\ne: a%b\nf: c:\\d",
	"a: {b: c, d: [e, {f: g}]}\n", "%YAML 1.1\n---\na: 1\n", "%TAG ! tag:yaml.org,2002:\n---\na: !str 1\n", "%TAG !e! tag:yaml.org,2002:\n---\na: !e!int 7\n", "%YAML 1.2\n---\na: !!str 1\n",
	"a: !<tag:yaml.org,2002:str> 1\n", "a: 1\n...\n", "--- # comment\na: 1", "a: !local x", "a: 'x'\n\tb: 1", "- \"a\":1", "{\"a\":1,b: 2}",
}

// refused are texts that neither reads.
var refused = []string{
	"", "# nothing\n", "---\n---\n", "a: 1\na: 2", "a: {b: 1, b: 2}", "a: &a [*a]", "a: *x", "a: [1", "a: \"x", "a: b: c", "a:\n\t- b", "a: 1\n b: 2",
	"a: 1\n--- b\n", "a: \x01", "a: \"\x00\"", "a: .inf\nb: .nan", "a: 1e401", "? [a]\n: b", "null: 1\n", "a: 1\n...\nb: 2\n", "<<: 1\na: 2",
	"x: &x {a: 1}\ny:\n  <<: *x\n  a: 2", strings.Repeat("[", 65) + strings.Repeat("]", 65), strings.Repeat("[", 60000), strings.Repeat("- ", 65) + "x",
	"a: " + strings.Repeat("x", 64<<10+1), "a: " + strings.Repeat("x ", 100_000), strings.Repeat("- a\n", 10_001), strings.Repeat("x", 256<<10+1),
	"a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]",
	"a: &a " + strings.Repeat("x", 60000) + "\nb: [" + strings.Repeat("*a,", 20) + "]", "a: &a x\nb: [" + strings.Repeat("*a,", 101) + "]",
	"a: {" + manyKeys(1001) + "}", "a: !!binary aGk", "a: 1\n" + strings.Repeat("---\na: 1\n", 64), "a: ! x", "a: \"\\ud800\"", "]", "b: {a: 1}}", "a: %b", "a: @b", "- a\nb: c", "a: 'x' y",
}

func manyKeys(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("k" + string(rune('a'+i%26)) + strings.Repeat("x", i/26) + ": 1, ")
	}
	return b.String()
}

// result is what test/yaml.mjs prints for a text.
type result struct {
	Docs []struct {
		JSON   string
		Places map[string][2]int
	}
	Fault        string
	Line, Column int
	Detail       string
}

// readInBrowser reads texts with what the page is bundled from, under Node.js.
func readInBrowser(t *testing.T, texts []string) []result {
	folder := folderWithPackages(t)
	runtime := node(t)
	files, err := bundle(folder, "yaml.js")
	if err != nil {
		t.Fatal(err)
	}
	temporary := t.TempDir()
	reader, input := filepath.Join(temporary, "yaml.mjs"), filepath.Join(temporary, "texts.json")
	list, err := json.Marshal(texts)
	if err != nil {
		t.Fatal(err)
	}
	for path, content := range map[string][]byte{reader: files[0].content, input: list} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	command := policytest.Command(runtime, "test/yaml.mjs", reader, input)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.Bytes())
	}
	var results []result
	if err := json.Unmarshal(out, &results); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	return results
}

func TestBrowserReadsYAMLAsKubernetesDoes(t *testing.T) {
	all := append(texts, manifests(t)...)
	documents, places := 0, 0
	for i, got := range readInBrowser(t, all) {
		text := all[i]
		docs, err := schema.Decode([]byte(text))
		if err != nil {
			if got.Fault == "" {
				t.Errorf("%q: the server refuses it, the browser reads it\n%v", text, err)
			}
			continue
		}
		if strings.Contains(text, "!local") && got.Fault == "unsupported_tag" {
			continue // deliberately refused: no manifest has such a tag
		}
		if got.Fault != "" {
			t.Errorf("%q: %s at %d:%d", text, got.Fault, got.Line, got.Column)
			continue
		}
		if len(got.Docs) != len(docs) {
			t.Errorf("%q: %d documents, want %d", text, len(got.Docs), len(docs))
			continue
		}
		for k, doc := range docs {
			documents++
			want := doc.JSON()
			if !doc.YAML() {
				want = compact(t, want)
			}
			if got.Docs[k].JSON != string(want) {
				t.Errorf("%q:\ngot  %s\nwant %s", text, got.Docs[k].JSON, want)
				continue
			}
			for path, place := range got.Docs[k].Places {
				places++
				if line, column := doc.KeyPosition(path); place != [2]int{line, column} {
					t.Errorf("%q: %s stands at %v, want %d:%d", text, path, place, line, column)
				}
			}
		}
	}
	t.Logf("%d documents and %d places are those of package schema", documents, places)
}

func compact(t *testing.T, text []byte) []byte {
	var b bytes.Buffer
	if err := json.Compact(&b, text); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// manifests returns the examples and the manifests of all scenarios.
func manifests(t *testing.T) []string {
	var list []string
	for _, pattern := range []string{"../examples/*.yaml", "../../policy/policytest/scenarios/*.txtar"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no files (%v)", pattern, err)
		}
		for _, name := range files {
			content, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if filepath.Ext(name) == ".yaml" {
				list = append(list, string(content))
				continue
			}
			for _, f := range txtar.Parse(content).Files {
				if f.Name == "manifest.yaml" {
					list = append(list, string(f.Data))
				}
			}
		}
	}
	return list
}

func TestBrowserRefusesWhatTheServerRefuses(t *testing.T) {
	for i, got := range readInBrowser(t, refused) {
		text := refused[i]
		_, err := schema.Read([]byte(text), schema.Overrides{})
		name := text[:min(len(text), 60)]
		if err == nil {
			t.Errorf("%q: the server reads it", name)
		}
		if got.Fault == "" {
			t.Errorf("%q: the browser reads it as %v", name, got.Docs)
		} else if strings.HasPrefix(got.Fault, "CRASH") {
			t.Errorf("%q: %s", name, got.Fault)
		} else if faults, ok := err.(schema.Faults); ok && string(faults[0].Code) != got.Fault {
			t.Logf("%q: %s here, %s on the server", name, got.Fault, faults[0].Code)
		}
	}
}

// TestBrowserNamesSlipsAsTheServerDoes: the table is package schema's as well.
func TestBrowserNamesSlipsAsTheServerDoes(t *testing.T) {
	content, err := os.ReadFile(filepath.Join("..", "testdata", "slips.json"))
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct {
		Text, Code, Detail string
		Line, Column       int
	}
	if err := json.Unmarshal(content, &rows); err != nil {
		t.Fatal(err)
	}
	var slips []string
	for _, row := range rows {
		slips = append(slips, row.Text)
	}
	for i, got := range readInBrowser(t, slips) {
		if want := rows[i]; got.Fault != want.Code || got.Line != want.Line || got.Column != want.Column || got.Detail != want.Detail {
			t.Errorf("%q: %s %d:%d %s, want %s %d:%d %s", want.Text, got.Fault, got.Line, got.Column, got.Detail, want.Code, want.Line, want.Column, want.Detail)
		}
	}
}

// The table above follows the library itself, not only package schema.
func TestTextsAreReadBySigsYAML(t *testing.T) {
	for _, text := range texts {
		if strings.Contains(text, "---") || strings.HasPrefix(text, "\ufeff") || strings.Contains(text, "...") {
			continue // streams are split before
		}
		docs, err := schema.Decode([]byte(text))
		want, sigsErr := sigsyaml.YAMLToJSONStrict([]byte(text))
		if err != nil || len(docs) != 1 {
			continue
		}
		if sigsErr != nil || docs[0].YAML() && !bytes.Equal(want, docs[0].JSON()) {
			t.Errorf("%q: %s, sigs.k8s.io/yaml gives %s (%v)", text, docs[0].JSON(), want, sigsErr)
		}
	}
}
