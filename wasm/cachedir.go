package wasm

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// sumSuffix is the end of the name of a file next to compiled code that has the checksum of that
// code.
const sumSuffix = ".crc32c"

// dropDamaged removes from dir what does not have the checksum that sumCode left next to it. wazero
// trusts what it finds: it panics at some files with a flipped byte, would run others, and refuses
// the rest at each start.
//
// The checksum is against accidents. Who may write in dir may write it too.
func dropDamaged(dir string) error {
	return eachCode(dir, func(path string) error {
		want, err := os.ReadFile(path + sumSuffix)
		if err == nil {
			var got string
			if got, err = sum(path); err == nil && got == string(want) {
				return nil
			}
		}
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			err = os.Remove(path)
		}
		return err
	})
}

// sumCode writes the checksum of each file of compiled code that has none. Another process may take
// such a file away meanwhile: it then writes it again.
func sumCode(dir string) error {
	return eachCode(dir, func(path string) error {
		if _, err := os.Lstat(path + sumSuffix); err == nil {
			return nil
		}
		text, err := sum(path)
		if err == nil {
			err = os.WriteFile(path+sumSuffix, []byte(text), 0o600)
		}
		return err
	})
}

// eachCode calls f for the files in dir that wazero has finished. One that is gone when its turn
// comes is skipped.
func eachCode(dir string, f func(path string) error) error {
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() && !strings.HasSuffix(path, sumSuffix) && !strings.HasSuffix(path, ".tmp") {
			err = f(path)
		}
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("%w: %w", ErrCacheDir, err)
	}
	return nil
}

// sum returns the CRC-32C of a file in hexadecimal.
func sum(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	hash := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	if _, err := io.Copy(hash, file); err != nil {
		return "", err
	}
	return fmt.Sprintf("%08x", hash.Sum32()), nil
}

// prepareCacheDir makes dir if it is not there and refuses it unless this user alone can put
// something into it: what lies there is machine code that this process will run.
//
// Checked are dir and all that lies in it (owned by this user, no permission for others, no links),
// and the folders above it (owned by this user or root, and not writable by others unless the
// sticky bit keeps others from renaming).
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
