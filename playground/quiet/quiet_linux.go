package quiet

import (
	"os"
	"syscall"
)

func init() {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_AS, &limit); err != nil || limit.Cur > 1<<62 {
		return
	}
	if _, said := syscall.Getenv("GOTRACEBACK"); said {
		return
	}
	environment := append(syscall.Environ(), "GOTRACEBACK=none")
	if _, said := syscall.Getenv("MALLOC_ARENA_MAX"); !said {
		environment = append(environment, "MALLOC_ARENA_MAX=1")
	}
	// If it fails the program goes on as it is.
	syscall.Exec("/proc/self/exe", os.Args, environment)
}
