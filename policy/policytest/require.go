package policytest

import (
	"os"
	"os/exec"
	"testing"
)

// RequireAll reports whether PODFATE_REQUIRE=all is set: then a runtime that is not installed fails its tests
// instead of skipping them. CI sets it, so that nothing is left out unseen.
func RequireAll() bool { return os.Getenv("PODFATE_REQUIRE") == "all" }

// Missing ends the test t because something it needs is not there. what names the thing as a person would
// install it ("Node.js 20"), why says what is not tested without it. The test is skipped with that text, or fails
// when [RequireAll] holds.
func Missing(t testing.TB, what, why string) {
	t.Helper()
	if RequireAll() {
		t.Fatalf("%s is not installed and PODFATE_REQUIRE=all: %s", what, why)
	}
	t.Skipf("left out, %s is not installed: %s", what, why)
}

// Executable returns the path of the first of names that is installed, or ends the test as [Missing] does.
func Executable(t testing.TB, what, why string, names ...string) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	Missing(t, what, why)
	return ""
}
