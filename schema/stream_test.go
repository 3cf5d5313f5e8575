package schema

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
)

// read reads a stream to its end and says what it held, a line for each piece.
func readStream(t *testing.T, in io.Reader) (lines []string) {
	t.Helper()
	s := NewStream("f", in)
	for {
		p, err := s.Next()
		if errors.Is(err, io.EOF) {
			return lines
		}
		if err != nil {
			return append(lines, err.Error())
		}
		line := fmt.Sprintf("%d line %d", p.Number, p.Line)
		docs, err := p.Decode()
		if err != nil {
			line += ": " + err.Error()
		}
		for _, doc := range docs {
			at, column := doc.Position("kind")
			line += fmt.Sprintf(" %s %d:%d", doc.root.Get("kind").Text(), at, column)
		}
		lines = append(lines, line)
	}
}

func TestStream(t *testing.T) {
	long := strings.Repeat("x", MaxDocumentBytes)
	half := "  a: " + long[:60_000] + "\n  b: " + long[:60_000] + "\n"
	item := func(kind string) string { return "- apiVersion: v1\n  kind: " + kind + "\n" }
	jsonItem := `{"apiVersion":"v1", "kind":"Pod", "metadata":{"name":"a"}, "spec":{"x":"]}\""}}`
	for _, test := range []struct{ name, text, want string }{
		{"documents", "kind: A\n---\n# nothing\n---\n\nkind: B\n--- # a comment\nkind: C", "1 line 1 A 1:7|2 line 5 B 6:7|3 line 8 C 8:7"},
		{"nothing", "---\n# x\n---\n", ""},
		{"a byte order mark", "\uFEFFkind: A\n---\nkind: B\n", "1 line 1 A 1:7|2 line 3 B 3:7"},
		{"each is judged for itself", "kind: A\n---\na: [\n---\nkind: C\n", "1 line 1 A 1:7|2 line 3: f:3:|3 line 5 C 5:7"},
		{"a separator with more in its line", "kind: A\n--- b\nkind: C\n", `1 line 1 A 1:7|2 line 2: f:2:1: only a comment`},
		{"that is the last line", "kind: A\n--- b", `1 line 1 A 1:7|2 line 2: f:2:1: only a comment`},
		{"one that is too long", "kind: A\n---\nkind: B\na: " + long + "\n---\nkind: C\n", "1 line 1 A 1:7|2 line 3: f:3:1: a document of 131084 bytes, at most 131072 allowed|3 line 6 C 6:7"},
		{"a long List", "apiVersion: v1\nitems:\n" + item("A") + half + item("B") + half + item("C") + "kind: List\n---\nkind: D\n",
			"1 line 3 A 4:9|2 line 7 B 8:9|3 line 11 C 12:9|4 line 15 D 15:7"},
		{"a long List with an item that is too long", "items:\n" + item("A") + "  a: " + long + "\n" + item("B") + "kind: List\n",
			"1 line 2: f:2:1: a document of 131105 bytes, at most 131072 allowed|2 line 5 B 6:9"},
		{"short JSON is one piece", " {\"kind\":\"A\"}\n{\"kind\":\"B\"}", "1 line 1 A 1:10 B 2:9"},
		{"long JSON", " {\"kind\":\"A\", \"a\":\"" + long + "\"}\n{\"kind\":\"B\", \"a\": [\"" + long + "\"]}{}", "1 line 1 A 1:10|2 line 2 B 2:9|3 line 2  2:131096"},
		{"a long List of JSON", "{\"apiVersion\":\"v1\",\n\"items\": [\n" + strings.Repeat(jsonItem+",\n", 4000) + jsonItem + "\n], \"kind\": \"List\"}\n" + jsonItem, "4002 pieces, the last 4002 line 4005 Pod 4005:28"},
		{"JSON that is too long", "{\"kind\":\"A\", \"a\":\"" + long + long + "\"}\n{\"kind\":\"B\"}", "1 line 1: f:1:1: a document of 262164 bytes, at most 262144 allowed|2 line 2 B 2:9"},
		{"JSON without an end", "{\"kind\":\"A\", \"a\":[\"" + long + long, "1 line 1: f:1:1: a document of 262163 bytes"},
	} {
		for name, in := range map[string]io.Reader{"": strings.NewReader(test.text), ", in parts": iotest.HalfReader(strings.NewReader(test.text))} {
			lines := readStream(t, in)
			got := strings.Join(lines, "|")
			if n := len(lines); n > 10 {
				got = fmt.Sprintf("%d pieces, the last %s", n, lines[n-1])
			}
			if got != test.want && (len(test.want) == 0 || !matchesParts(got, test.want)) {
				t.Errorf("%s%s:\ngot  %.300s\nwant %s", test.name, name, got, test.want)
			}
		}
	}
	if got := readStream(t, io.MultiReader(strings.NewReader("kind: A\n---\nkind: B\n"), iotest.ErrReader(errors.New("gone")))); strings.Join(got, "|") != "1 line 1 A 1:7|gone" {
		t.Errorf("a reader that fails: %q", got)
	}
}

// matchesParts reports whether each part of got begins as that of want.
func matchesParts(got, want string) bool {
	g, w := strings.Split(got, "|"), strings.Split(want, "|")
	for i := range w {
		if i >= len(g) || !strings.HasPrefix(g[i], w[i]) {
			return false
		}
	}
	return len(g) == len(w)
}

// TestStreamIsBounded reads a text that is much longer than what may be kept of it.
func TestStreamIsBounded(t *testing.T) {
	const documents = 2000
	text := strings.Repeat("data:\n  a: "+strings.Repeat("x", 30_000)+"\nkind: ConfigMap\n---\n", documents)
	s := NewStream("f", strings.NewReader(text))
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	n, most := 0, uint64(0)
	for {
		_, err := s.Next()
		if err != nil {
			break
		}
		if n++; n%500 == 0 {
			runtime.GC()
			runtime.ReadMemStats(&now)
			most = max(most, now.HeapAlloc-min(now.HeapAlloc, before.HeapAlloc))
		}
	}
	if n != documents || most > 4<<20 {
		t.Errorf("%d documents, %d bytes are held", n, most)
	}
}
