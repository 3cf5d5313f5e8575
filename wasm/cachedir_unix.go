//go:build unix

package wasm

import (
	"io/fs"
	"syscall"
)

// ownerOf returns the user who owns a file. known is false where that cannot be told.
func ownerOf(info fs.FileInfo) (user int, known bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(stat.Uid), true
}
