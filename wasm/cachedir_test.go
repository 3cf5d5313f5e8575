//go:build unix

package wasm

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/podfate/podfate/policy/policytest"
)

// cacheDir returns a path below a folder that only this user can change, where a cache may be made.
func cacheDir(t testing.TB) string { return filepath.Join(t.TempDir(), "code") }

func TestCacheDirIsPrivate(t *testing.T) {
	mode := func(m os.FileMode) func(string) error {
		return func(dir string) error { return errors.Join(os.Mkdir(dir, 0o700), os.Chmod(dir, m)) }
	}
	cases := []struct {
		name    string
		prepare func(dir string) error
		ok      bool
	}{
		{"not there yet", func(string) error { return nil }, true},
		{"private", mode(0o700), true},
		{"readable by others", mode(0o755), false},
		{"writable by a group", mode(0o770), false},
		{"writable by all", mode(0o777), false},
		{"a file", func(dir string) error { return os.WriteFile(dir, nil, 0o600) }, false},
		{"a link", func(dir string) error { return os.Symlink(t.TempDir(), dir) }, false},
		{"a link inside", func(dir string) error {
			return errors.Join(os.Mkdir(dir, 0o700), os.Symlink("/etc/passwd", filepath.Join(dir, "code")))
		}, false},
		{"a file inside that all may write", func(dir string) error {
			file := filepath.Join(dir, "code")
			return errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(file, nil, 0o600), os.Chmod(file, 0o666))
		}, false},
		{"in a folder where others may rename", func(dir string) error {
			return os.Chmod(filepath.Dir(dir), 0o777)
		}, false},
		{"in a folder with the sticky bit", func(dir string) error {
			return os.Chmod(filepath.Dir(dir), 0o777|os.ModeSticky)
		}, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dir := cacheDir(t)
			if err := c.prepare(dir); err != nil {
				t.Fatal(err)
			}
			err := prepareCacheDir(dir)
			if c.ok && err != nil || !c.ok && !errors.Is(err, ErrCacheDir) {
				t.Errorf("error %v, accepted wanted: %v", err, c.ok)
			}
		})
	}
}

func TestCacheDirOfAnotherUser(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(dir, os.Geteuid()+1, -1); err != nil {
		t.Skipf("left out, only root can give a folder away: %v", err)
	}
	if err := prepareCacheDir(dir); !errors.Is(err, ErrCacheDir) {
		t.Errorf("error %v", err)
	}
}

// TestCacheDirIsUsed runs from a directory twice and finds code in it that passes the check the
// second time.
func TestCacheDirIsUsed(t *testing.T) {
	policytest.Quick(t, "it compiles the module")
	dir := cacheDir(t)
	for range 2 {
		h := newHost(t, Options{Instances: 1, CacheDir: dir})
		if _, err := h.Call(t.Context(), 1, []byte(`{}`)); err != nil {
			t.Fatal(err)
		}
	}
	files := 0
	filepath.WalkDir(dir, func(_ string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			files++
		}
		return err
	})
	if files == 0 {
		t.Error("nothing was written")
	}
}

// TestCacheDirIsNotBelieved changes each byte of the compiled code of a small module, and cuts it
// short: it is compiled again.
func TestCacheDirIsNotBelieved(t *testing.T) {
	dir := cacheDir(t)
	options := honest().options()
	options.Interpreter, options.CacheDir = false, dir
	start := func(t *testing.T) {
		t.Helper()
		h := newHost(t, options)
		if answer, err := h.Call(t.Context(), 1, []byte(`{}`)); err != nil || string(answer.JSON) != `{"ok":true}` {
			t.Fatalf("%s, %v", answer.JSON, err)
		}
		if err := h.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	start(t)
	var code string
	filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && !strings.HasSuffix(path, sumSuffix) {
			code = path
		}
		return err
	})
	good, err := os.ReadFile(code)
	if err != nil {
		t.Skipf("left out, wazero has no compiler here: %v", err)
	}
	damaged := [][]byte{nil, good[:1], good[:len(good)-1], slices.Concat(good, []byte{0})}
	for at := 0; at < len(good); at += max(1, len(good)/100) {
		flipped := bytes.Clone(good)
		flipped[at] ^= 0xFF
		damaged = append(damaged, flipped)
	}
	for _, file := range damaged {
		if err := os.WriteFile(code, file, 0o600); err != nil {
			t.Fatal(err)
		}
		start(t)
		if again, err := os.ReadFile(code); err != nil || bytes.Equal(again, file) {
			t.Fatalf("what was damaged is there still: %v", err)
		}
	}
	if err := os.Remove(code + sumSuffix); err != nil {
		t.Fatal(err)
	}
	start(t)
	if _, err := os.Stat(code + sumSuffix); err != nil {
		t.Error(err)
	}
}
