package published_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/podfate/podfate/policy/ops"
	"github.com/podfate/podfate/policy/upstream/published"
)

// TestFilesAreThoseOfTheList holds the files to the list: each is there, has its bytes, and no
// other is.
func TestFilesAreThoseOfTheList(t *testing.T) {
	modules, err := published.List()
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{"testdata/LICENSE": true}
	for _, m := range modules {
		if m.Licence != "Apache-2.0" {
			t.Errorf("%s: the licence of %s is not beside the files", m.Path, m.Licence)
		}
		for _, f := range m.Files {
			name := m.Name(f)
			listed[name] = true
			if text, err := os.ReadFile(filepath.FromSlash(name)); err != nil || published.Sum(text) != f.SHA256 {
				t.Errorf("%s: %v, or other bytes than listed: run policy/upstream/published/fetch", name, err)
			}
		}
	}
	err = filepath.WalkDir("testdata", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && !listed[filepath.ToSlash(path)] {
			t.Errorf("%s is not listed", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestEachDocumentIsAnswered asks about all of them: at least 300 files must take part, each answer
// says how far it looked unless the manifest cannot be decoded, and a fault has a message or says
// why it has none. docs/exactness.md has their numbers; that the API server refuses the same ones
// with the same messages is compared with the real packages.
func TestEachDocumentIsAnswered(t *testing.T) {
	documents, files, err := published.Documents()
	if err != nil {
		t.Fatal(err)
	}
	if files < 300 {
		t.Errorf("%d files, want at least 300", files)
	}
	op, _ := ops.Lookup("validate")
	refused, whole := 0, 0
	for _, d := range documents {
		request, err := json.Marshal(map[string]any{"fieldValidation": "Ignore", "manifest": json.RawMessage(d.JSON)})
		if err != nil {
			t.Fatal(err)
		}
		answer, failed := ops.Call(op.Number, request)
		var a struct {
			Valid               bool
			Message             string
			Checked, NotChecked []string
			Faults              []struct{ Message, Detail string }
		}
		if err := json.Unmarshal(answer, &a); failed || err != nil {
			t.Errorf("%s: %v %s", d.Where, err, answer)
			continue
		}
		if (a.Message == "") != (a.Checked != nil) || (a.Checked == nil) != (a.NotChecked == nil) {
			t.Errorf("%s: does not say how far it looked: %s", d.Where, answer)
		}
		for _, f := range a.Faults {
			if f.Message == "" && !strings.Contains(f.Detail, "; ") {
				t.Errorf("%s: a fault without a message: %+v", d.Where, f)
			}
		}
		if !a.Valid {
			refused++
		}
		if a.Checked != nil && len(a.NotChecked) == 0 {
			whole++
		}
	}
	page, err := os.ReadFile("../../../docs/exactness.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, says := range []string{
		fmt.Sprintf("whole verdicts on %d files", files), fmt.Sprintf("contain %d documents;", len(documents)),
		fmt.Sprintf("each refuse %d of them. Podfate refuses %d of these", refused, refused),
	} {
		if !strings.Contains(strings.Join(strings.Fields(string(page)), " "), says) {
			t.Errorf("docs/exactness.md does not say: %s", says)
		}
	}
	t.Logf("%d files, %d documents: %d refused; everything is checked in %d", files, len(documents), refused, whole)
}
