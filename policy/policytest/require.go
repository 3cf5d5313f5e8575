package policytest

import (
	"os"
	"os/exec"
	"testing"
)

// RequireAll reports whether PODFATE_REQUIRE=all is set: then a runtime that is not installed fails
// its tests instead of skipping them. CI sets it, so that nothing is left out unseen.
func RequireAll() bool { return os.Getenv("PODFATE_REQUIRE") == "all" }

// Long reports whether PODFATE_LONG is set: then tests also do what takes too long for every run,
// as .ci/long asks for.
func Long() bool { return os.Getenv("PODFATE_LONG") != "" }

// Thorough reports whether a test is to do all of its work instead of a sample: always when [Long]
// holds, and in CI too ([RequireAll]) unless an interpreter does the work, for which all of it
// takes many times as long.
func Thorough(interpreter bool) bool { return Long() || RequireAll() && !interpreter }

// Quick skips a test with -short; why says what makes it slow, such as "it compiles the crate".
func Quick(t testing.TB, why string) {
	t.Helper()
	if testing.Short() {
		t.Skipf("left out with -short: %s", why)
	}
}

// Sample returns list, and with -short every nth element of it from the first on. It says so in the
// test's log, as what is left out is said.
func Sample[T any](t testing.TB, n int, list []T) []T {
	t.Helper()
	if !testing.Short() {
		return list
	}
	t.Logf("left out with -short: all but one case in %d of %d", n, len(list))
	var kept []T
	for i := 0; i < len(list); i += n {
		kept = append(kept, list[i])
	}
	return kept
}

// Full skips a test that is part of a full run only: of CI, which sets PODFATE_REQUIRE=all, and of
// .ci/long. why says what makes it slow.
func Full(t testing.TB, why string) {
	t.Helper()
	if !RequireAll() && !Long() {
		t.Skipf("left out without PODFATE_REQUIRE=all: %s", why)
	}
}

// Missing ends the test t because something it needs is not there. what names the thing as a person
// would install it ("Node.js 20"), why says what is not tested without it. The test is skipped with
// that text, or fails when [RequireAll] holds.
func Missing(t testing.TB, what, why string) {
	t.Helper()
	if RequireAll() {
		t.Fatalf("%s is not installed and PODFATE_REQUIRE=all: %s", what, why)
	}
	t.Skipf("left out, %s is not installed: %s", what, why)
}

// Executable returns the path of the first of names that is installed, or ends the test as [Missing]
// does.
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
