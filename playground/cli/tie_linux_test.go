package cli

import (
	"os/exec"
	"syscall"
)

// tie lets the system end a command when the test program ends, however it does.
func tie(command *exec.Cmd) { command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
