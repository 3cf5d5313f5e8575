package policytest

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// RequireAll reports whether PODFATE_REQUIRE=all is set: then a runtime that is not installed fails
// its tests instead of skipping them. CI sets it, so that nothing is left out unseen.
func RequireAll() bool { return os.Getenv("PODFATE_REQUIRE") == "all" }

// Long reports whether PODFATE_LONG is set: then tests also do what takes too long for every run,
// as .ci/long asks for.
func Long() bool { return os.Getenv("PODFATE_LONG") != "" }

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

// keepCode is how long machine code stays in the folder of [Code] when nobody compiles again. Each
// version of the module leaves some 15 MB.
const keepCode = 24 * time.Hour

// Code returns a folder for the machine code that wazero makes of modules, which with -short all
// packages and all runs share: like Go's own code the module is then compiled when it changes, and
// not by each test binary, which takes three seconds each time. wazero names what lies there by the
// module's digest; the folder is named by go.mod, in which wazero's version is. It is empty without
// -short, and where others could write to the folder: then the module is compiled.
func Code(t testing.TB) string {
	t.Helper()
	home, err := os.UserCacheDir()
	if err != nil || !testing.Short() {
		return ""
	}
	modules, err := os.ReadFile("go.mod")
	for above := ".."; err != nil && len(above) < 32; above = filepath.Join("..", above) { // tests run in the folder of their package
		modules, err = os.ReadFile(filepath.Join(above, "go.mod"))
	}
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(home, "podfate-tests", fmt.Sprintf("code-%x", sha256.Sum256(modules))[:13])
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return ""
	}
	for above := dir; above != filepath.Dir(above); above = filepath.Dir(above) {
		if info, err := os.Stat(above); err != nil || info.Mode().Perm()&0o022 != 0 {
			return ""
		}
	}
	forget(filepath.Dir(dir))
	t.Logf("left out with -short: compiling the module anew; its code is in %s", dir)
	return dir
}

// forget removes code that was compiled longer than [keepCode] ago.
func forget(dir string) {
	filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return nil
		}
		if info, err := entry.Info(); err == nil && time.Since(info.ModTime()) > keepCode {
			os.Remove(path)
		}
		return nil
	})
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

// Executable returns the path of the first of names that is installed, or ends the test as
// [Missing] does.
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
