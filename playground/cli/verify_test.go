package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestVerify runs the command over a copy of the published figures, as it is and with one figure
// that is wrong.
func TestVerify(t *testing.T) {
	text := read(t, "../../docs/claims.md")
	file := filepath.Join(t.TempDir(), "claims.md")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(text)
	if got := podfate(t, "", "verify", file); got.status != 0 || !strings.Contains(got.out+got.err, " figures, 0 wrong") {
		t.Errorf("status %d\n%s%s", got.status, got.out, got.err)
	}
	const right, wrong = "**3, 1, 2** <!-- = p1.windows[0:3].newRestarts -->", "**3, 1, 9** <!-- = p1.windows[0:3].newRestarts -->"
	if strings.Count(text, right) != 1 {
		t.Fatalf("docs/claims.md has not %s", right)
	}
	write(strings.Replace(text, right, wrong, 1))
	got := podfate(t, "", "verify", file)
	if got.status != 1 || !strings.Contains(got.out+got.err, ":20: claimed 3, 1, 9, computed 3, 1, 2") {
		t.Errorf("a wrong figure: status %d\n%s%s", got.status, got.out, got.err)
	}
}
