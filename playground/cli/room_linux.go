package cli

import (
	"fmt"
	"syscall"
)

// addressLimit is how many bytes of addresses this process may have, 0 for any number.
func addressLimit() uint64 {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_AS, &limit); err != nil || limit.Cur > 1<<62 {
		return 0
	}
	return limit.Cur
}

// room reports whether n bytes of addresses can still be had, and gives them back. What Go's heap,
// its threads and the instances of the module will ask for is asked for here at once: the first two
// end the program when they get nothing.
func room(n int) error {
	limit := addressLimit()
	if limit == 0 {
		return nil
	}
	data, err := syscall.Mmap(-1, 0, n, syscall.PROT_NONE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return fmt.Errorf("the address space of this process is limited to %d KiB (ulimit -v), and %d KiB more than it has are needed: %w", limit>>10, n>>10, err)
	}
	return syscall.Munmap(data)
}
