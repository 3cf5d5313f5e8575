package manifest_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"strconv"
	"testing"

	"github.com/podfate/podfate/policy/manifest"
)

var update = flag.Bool("update", false, "write what questions in short mean to testdata/questions.json")

// question is an entry of testdata/questions.json, the list that every front is tested with.
type question struct {
	Text    string          `json:"text"`
	Members json.RawMessage `json:"members,omitempty"`
	Faults  []string        `json:"faults,omitempty"` // LINE:COLUMN and what is wrong
}

// TestQuestions holds what questions in short mean.
func TestQuestions(t *testing.T) {
	const file = "testdata/questions.json"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var list []question
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	for i := range list {
		q := &list[i]
		got := question{Text: q.Text}
		short, faults := manifest.ReadShort(q.Text)
		for _, f := range faults {
			line, column := manifest.Position([]byte(q.Text), f.Offset)
			got.Faults = append(got.Faults, itoa(line)+":"+itoa(column)+" "+f.Detail)
			if len(f.Allowed) == 0 {
				t.Errorf("%q: a fault without what is allowed: %s", q.Text, f.Detail)
			}
		}
		if short != nil {
			got.Members = short.Members.Raw()
		}
		a, _ := json.Marshal(q)
		b, _ := json.Marshal(got)
		if string(a) != string(b) && !*update {
			t.Errorf("got  %s\nwant %s", b, a)
		}
		*q = got
	}
	if len(list) < 40 {
		t.Errorf("%d questions", len(list))
	}
	if *update {
		out := []byte("[\n")
		for i, q := range list {
			line, err := encode(q)
			if err != nil {
				t.Fatal(err)
			}
			out = append(append(out, "  "...), line...)
			if i < len(list)-1 {
				out = append(out, ',')
			}
			out = append(out, '\n')
		}
		if err := os.WriteFile(file, append(out, "]\n"...), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// FuzzQuestion asks whether any text is read without a panic, and whether what is read points into
// the text.
func FuzzQuestion(f *testing.F) {
	for _, text := range []string{"main=42", "main: 3@10s x4, 1@5s until 2h at 5m Evicted", "expect Failed at 5m", "main=10s:42xforever:OOMKilled", "×", "=:@x"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		short, faults := manifest.ReadShort(text)
		if (short == nil) != (len(faults) > 0) {
			t.Fatalf("%q: %v, %v", text, short, faults)
		}
		for _, fault := range faults {
			if fault.Offset < 0 || fault.Offset > len(text) {
				t.Fatalf("%q: %+v", text, fault)
			}
		}
	})
}

func itoa(n int) string { return strconv.Itoa(n) }

// encode writes an entry as people read it.
func encode(q question) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(q)
	return bytes.TrimSpace(b.Bytes()), err
}
