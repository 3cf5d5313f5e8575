//go:build unix

package policytest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestChildrenEndWithTheirTests (R-T8) runs this test program again with a test that starts a shell
// with a child of its own, and ends it by its own time limit, by an interrupt and by a kill. Then
// none of the two is left.
func TestChildrenEndWithTheirTests(t *testing.T) {
	if os.Getenv("PODFATE_TEST_ORPHANS") != "" {
		command := Command("sh", "-c", "sleep 300 & echo $! $$; wait")
		out, err := command.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		var inner, outer int
		fmt.Fscan(out, &inner, &outer)
		fmt.Println("CHILDREN", inner, outer)
		t.Fatalf("the child ended: %v", command.Wait())
	}
	if testing.Short() {
		t.Skip("left out with -short: it waits for a time limit of ten seconds")
	}
	for _, end := range []struct {
		name, timeout string
		signal        syscall.Signal
		want          string
	}{
		{"the time limit of go test", "10s", 0, "signal: killed"},
		{"an interrupt", "1m", syscall.SIGINT, ""},
		{"a kill", "1m", syscall.SIGKILL, ""},
	} {
		t.Run(end.name, func(t *testing.T) {
			tests := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestChildrenEndWithTheirTests$", "-test.timeout="+end.timeout)
			tests.Env = append(os.Environ(), "PODFATE_TEST_ORPHANS=1")
			read, write, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer read.Close()
			var all bytes.Buffer
			tests.Stdout, tests.Stderr = write, &all
			if err := tests.Start(); err != nil {
				t.Fatal(err)
			}
			write.Close()
			var inner, outer int
			if _, err := fmt.Fscanf(read, "CHILDREN %d %d\n", &inner, &outer); err != nil {
				t.Fatalf("no children: %v\n%s", err, all.String())
			}
			if end.signal != 0 {
				tests.Process.Signal(end.signal)
			}
			var rest bytes.Buffer
			rest.ReadFrom(read)
			if err := tests.Wait(); err == nil || !strings.Contains(rest.String(), end.want) {
				t.Errorf("%v\n%s%s", err, rest.String(), all.String())
			}
			for _, pid := range []int{inner, outer} {
				for tries := 0; syscall.Kill(pid, 0) == nil; tries++ {
					if tries == 100 { // ten seconds, on a machine with other work
						t.Fatalf("process %d outlived its tests", pid)
					}
					time.Sleep(100 * time.Millisecond)
				}
			}
		})
	}
}

func TestCommandPassesOnWhatItsChildSays(t *testing.T) {
	out, err := CombinedOutput(Command("sh", "-c", `echo "$0 $1"; exit 7`, "a b", `c"d`))
	exit, _ := err.(interface{ Unwrap() error })
	if string(out) != "a b c\"d\n" || exit == nil || !strings.Contains(err.Error(), "exit status 7") || !strings.HasSuffix(strings.SplitN(err.Error(), ": ", 2)[0], `exit 7 a b c"d`) {
		t.Errorf("%s: %v", out, err)
	}
	if _, err := CombinedOutput(Command("podfate-no-such-program")); err == nil || !strings.Contains(err.Error(), "executable file not found") {
		t.Error(err)
	}
}
