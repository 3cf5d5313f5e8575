//go:build unix

package policytest

import (
	"context"
	"os"
	"os/exec"
	"sync"
	"syscall"
)

// watch is run by a shell next to the tests. It waits until the tests' program is gone, which alone
// holds the other end of the pipe, and then kills the process groups that are still in the list: "+
// GROUP" when it began and "- GROUP" when it ended. In a group of its own, the shell is not
// interrupted together with the tests.
const watch = `cat >/dev/null
groups=
while read -r sign group; do
	case $sign in
	+) groups="$groups $group" ;;
	-) rest=
		for g in $groups; do [ "$g" = "$group" ] || rest="$rest $g"; done
		groups=$rest ;;
	esac
done <"$1"
rm -f "$1"
for g in $groups; do kill -9 "-$g"; done`

// announced runs a command in a shell that leads its process group, and puts that into the list
// before and after.
const announced = `list=$1; shift; echo "+ $$" >>"$list"; "$@"; status=$?; echo "- $$" >>"$list"; exit $status`

// wrapping is how many words of a command line are the shell's.
const wrapping = 5

// watched is the list of process groups, and the pipe that is open as long as the tests' program
// runs.
type watched struct {
	list string
	pipe *os.File
}

// watcher starts the shell that watches. The list is "" if there is none.
var watcher = sync.OnceValue(func() watched {
	read, write, err := os.Pipe()
	if err != nil {
		return watched{}
	}
	defer read.Close()
	list, err := os.CreateTemp("", "podfate-children-")
	if err != nil {
		return watched{}
	}
	list.Close()
	command := exec.Command("sh", "-c", watch, "sh", list.Name())
	command.Stdin = read
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := command.Start(); err != nil {
		os.Remove(list.Name())
		return watched{}
	}
	return watched{list.Name(), write}
})

func grouped(ctx context.Context, name string, args []string) *exec.Cmd {
	path, err := exec.LookPath(name)
	list := watcher().list
	if err != nil || list == "" {
		return exec.CommandContext(ctx, name, args...) // which says what is missing
	}
	command := exec.CommandContext(ctx, "sh", append([]string{"-c", announced, "sh", list, path}, args...)...)
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
	command.WaitDelay = pipeDelay
	return command
}

// words is the command line without the shell around it.
func words(command *exec.Cmd) []string {
	if len(command.Args) > wrapping && command.Args[2] == announced {
		return command.Args[wrapping:]
	}
	return command.Args
}
