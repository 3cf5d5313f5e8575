package wasm

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// prepareCacheDir makes dir if it is not there and refuses it unless this user alone can put something into it: what
// lies there is machine code that this process will run.
//
// Checked are dir and all that lies in it (owned by this user, no permission for others, no links), and the folders
// above it (owned by this user or root, and not writable by others unless the sticky bit keeps others from renaming).
func prepareCacheDir(dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrCacheDir, err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("%w: %w", ErrCacheDir, err)
	}
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info() // of the link itself, were it one
		if err != nil {
			return err
		}
		return checkInside(path, info)
	})
	for parent := filepath.Dir(dir); err == nil; parent = filepath.Dir(parent) {
		var info fs.FileInfo
		if info, err = os.Stat(parent); err == nil {
			err = checkAbove(parent, info)
		}
		if parent == filepath.Dir(parent) {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrCacheDir, err)
	}
	return nil
}

func checkInside(path string, info fs.FileInfo) error {
	owner, known := ownerOf(info)
	switch {
	case !known:
		return errors.New("the owner of a file cannot be told on this system")
	case owner != os.Geteuid():
		return fmt.Errorf("%s belongs to user %d, not to %d", path, owner, os.Geteuid())
	case info.IsDir() && info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("%s has mode %04o, at most 0700 is allowed", path, info.Mode().Perm())
	case !info.IsDir() && !info.Mode().IsRegular():
		return fmt.Errorf("%s is neither a file nor a folder", path)
	case info.Mode().Perm()&0o022 != 0:
		return fmt.Errorf("%s has mode %04o, others may write to it", path, info.Mode().Perm())
	}
	return nil
}

func checkAbove(path string, info fs.FileInfo) error {
	if owner, known := ownerOf(info); !known || owner != 0 && owner != os.Geteuid() {
		return fmt.Errorf("%s belongs to user %d", path, owner)
	}
	if info.Mode().Perm()&0o022 != 0 && info.Mode()&fs.ModeSticky == 0 {
		return fmt.Errorf("%s has mode %04o, others may rename what lies in it", path, info.Mode().Perm())
	}
	return nil
}
