package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"testing"
)

var updateSplices = flag.Bool("update-splices", false, "write what Splice makes to testdata/splices.json")

// TestSplices holds what edits make of texts; the browser's twin is held to the same file.
func TestSplices(t *testing.T) {
	const file = "testdata/splices.json"
	type splice struct {
		Text     string `json:"text"`
		Document int    `json:"document,omitempty"`
		Edits    []Edit `json:"edits"`
		Want     string `json:"want,omitempty"`
		Error    string `json:"error,omitempty"` // shared, byHand or path
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var list []splice
	if err := json.Unmarshal(raw, &list); err != nil {
		t.Fatal(err)
	}
	made := 0
	for i := range list {
		s := &list[i]
		got := splice{Text: s.Text, Document: s.Document, Edits: s.Edits}
		out, err := Splice([]byte(s.Text), s.Document, s.Edits)
		switch {
		case err == nil:
			got.Want = string(out)
			made++
		case errors.Is(err, ErrShared):
			got.Error = "shared"
		case errors.Is(err, ErrByHand):
			got.Error = "byHand"
		default:
			got.Error = "path"
		}
		if (got.Want != s.Want || got.Error != s.Error) && !*updateSplices {
			t.Errorf("%v of\n%s\ngot %s\n%s\nwant %s\n%s", s.Edits, s.Text, got.Error, got.Want, s.Error, s.Want)
		}
		*s = got
	}
	if len(list) < 60 || made < 40 {
		t.Errorf("%d texts, %d of them changed", len(list), made)
	}
	if *updateSplices {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		e.SetIndent("", " ")
		if err := e.Encode(list); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestMend: of several documents the manifest is edited. The page's tests have the same texts.
func TestMend(t *testing.T) {
	edits := []Edit{{Op: "replace", Path: "/spec/a", Value: json.RawMessage(`"Never"`)}}
	for text, want := range map[string]string{
		"kind: KubeletConfiguration\n---\nkind: Pod\nspec: {a: never}\n":        "kind: KubeletConfiguration\n---\nkind: Pod\nspec: {a: Never}\n",
		"exits: []\n---\nkind: Pod\nspec: {a: never}\n":                         "exits: []\n---\nkind: Pod\nspec: {a: Never}\n",
		"manifest: {kind: Pod, spec: {a: never}}\n":                             "manifest: {kind: Pod, spec: {a: Never}}\n",
		"kind: List\napiVersion: v1\nitems:\n- kind: Pod\n  spec: {a: never}\n": "kind: List\napiVersion: v1\nitems:\n- kind: Pod\n  spec: {a: Never}\n",
		"kind: KubeletConfiguration\n":                                          "",
	} {
		if got, err := Mend([]byte(text), edits); string(got) != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}
