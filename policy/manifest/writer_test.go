package manifest_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/podfate/podfate/policy/manifest"
)

func TestWriter(t *testing.T) {
	var w manifest.Writer
	w.Object()
	w.Key("a")
	w.Int(-42)
	w.Key("list")
	w.Array()
	w.String("x[")
	w.String("y:")
	w.Bool(true)
	w.Null()
	w.Object()
	w.End()
	w.Array()
	w.End()
	w.Raw([]byte(`{"r":1}`))
	w.End()
	w.Key("b")
	w.Bool(false)
	w.End()
	want := `{"a":-42,"list":["x[","y:",true,null,{},[],{"r":1}],"b":false}`
	if got := string(w.Bytes()); got != want || w.Len() != len(want) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if _, err := manifest.Parse(w.Bytes()); err != nil {
		t.Error(err)
	}
}

func checkQuoted(t *testing.T, s string) {
	t.Helper()
	got := manifest.AppendQuoted(nil, s)
	want, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Fatalf("%q: got %s, want %s", s, got, want)
	}
	v, fault := manifest.Parse(got)
	if fault != nil || v.Str() != strings.ToValidUTF8(s, "\ufffd") && strings.ToValidUTF8(s, "") == s {
		t.Fatalf("%q reads back as %q: %v", s, v.Str(), fault)
	}
}

var quotedSeeds = []string{"", "plain", `"\/`, "\b\f\n\r\t\v\x00\x1f\x7f", "</script><!-- & -->", "\u2028\u2029\u202a", "é😀", "\xff\xc3(\xed\xa0\x80", "\ufffd"}

func TestAppendQuotedWritesWhatEncodingJSONWrites(t *testing.T) {
	for _, s := range quotedSeeds {
		checkQuoted(t, s)
	}
	for c := range rune(0x300) {
		checkQuoted(t, "a"+string(c)+"b")
	}
}

func FuzzQuoted(f *testing.F) {
	for _, s := range quotedSeeds {
		f.Add(s)
	}
	f.Fuzz(checkQuoted)
}
