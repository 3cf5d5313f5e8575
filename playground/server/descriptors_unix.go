//go:build unix

package server

import "syscall"

// descriptors returns how many descriptors this process may have, 0 if that is not known.
func descriptors() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}
	return int(min(uint64(limit.Cur), 1<<30))
}
