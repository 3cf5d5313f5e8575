package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// underLimit returns a command that runs the program with that many KiB of addresses, and without
// the variables that package quiet looks at.
func underLimit(t *testing.T, ctx context.Context, kib int, args ...string) *exec.Cmd {
	script := fmt.Sprintf(`ulimit -v %d; exec "$@"`, kib)
	command := exec.CommandContext(ctx, "sh", append([]string{"-c", script, "sh", binary(t)}, args...)...)
	tie(command)
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "GOTRACEBACK=") && !strings.HasPrefix(variable, "MALLOC_ARENA_MAX=") {
			command.Env = append(command.Env, variable)
		}
	}
	return command
}

// TestLittleAddressSpace (R-S1) runs the program with the limits of a shell, from where it cannot
// start to where it has enough. It answers, or says in one line that it cannot. What Go's runtime
// does not survive ends without a stack, except before anything of ours has run.
func TestLittleAddressSpace(t *testing.T) {
	if testing.Short() {
		t.Skip("starts the program thirty times")
	}
	for _, verb := range []string{"decide", "serve"} {
		t.Run(verb, func(t *testing.T) {
			outcomes := map[string]int{}
			for kib := 700 << 10; kib < 2200<<10; kib += 100 << 10 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				status, said := 0, ""
				if verb == "decide" {
					status, said = decideUnder(t, ctx, kib)
				} else {
					status, said = serveUnder(t, ctx, kib)
				}
				if ctx.Err() != nil {
					t.Errorf("ulimit -v %d: no end", kib)
				}
				cancel()
				outcome := outcomeOf(status, said)
				// Go's runtime itself needs some 800 MB of addresses (with cgo 1.5 GB, at random):
				// below that it dies in its own words, before our code has begun. A panic of ours
				// is none of that.
				if outcome == "" && kib < 900<<10 && status == 2 && strings.Contains(said, "fatal error: ") && !strings.Contains(said, "panic: ") {
					outcome = "no start"
				}
				outcomes[outcome]++
				if outcome == "" {
					t.Errorf("ulimit -v %d: status %d\n%s", kib, status, said)
				}
			}
			t.Logf("%v", outcomes)
			if outcomes["answer"] == 0 || outcomes["refusal"] == 0 {
				t.Error("this test proves nothing")
			}
		})
	}
}

// outcomeOf names what a run came to, "" for what must not be.
func outcomeOf(status int, said string) string {
	lines := strings.Count(said, "\n")
	switch {
	case status == 0 && said == "":
		return "answer"
	case status == StatusFaults && strings.HasPrefix(said, "podfate: ") && lines == 1 && strings.Contains(said, "memory"):
		return "refusal"
	case strings.Contains(said, "podfate/") || strings.Contains(said, "main.main"):
		return ""
	case status == 2 && !strings.Contains(said, "goroutine") && lines <= 4:
		return "end of the runtime"
	case status == 2 && (strings.Contains(said, "fatal error: ") || strings.Contains(said, "pthread_create failed")):
		return "no start"
	}
	return ""
}

func statusOf(t *testing.T, err error) int {
	t.Helper()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if exit != nil {
		return exit.ExitCode()
	}
	return 0
}

func decideUnder(t *testing.T, ctx context.Context, kib int) (status int, said string) {
	t.Helper()
	var stderr bytes.Buffer
	command := underLimit(t, ctx, kib, "decide", "-f", "testdata/pod.yaml", "--exit", "main=42", "--engine", "wasm")
	command.Stderr = &stderr
	return statusOf(t, command.Run()), stderr.String()
}

// serveUnder starts a server, asks it if it becomes ready, and ends it.
func serveUnder(t *testing.T, ctx context.Context, kib int) (status int, said string) {
	t.Helper()
	var stderr bytes.Buffer
	command := underLimit(t, ctx, kib, "serve", "--addr", "127.0.0.1:0", "--log-level", "error")
	command.Stderr = &stderr
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	if url, ready := strings.CutPrefix(strings.TrimSpace(line), "Podfate playground: "); ready {
		for range 3 {
			r, err := http.Post(url+"/api/v1/decide", inYAML.contentType, strings.NewReader(inYAML.body))
			if err != nil {
				t.Errorf("ulimit -v %d: %v", kib, err)
				break
			}
			io.Copy(io.Discard, r.Body)
			r.Body.Close()
			if r.StatusCode != 200 {
				t.Errorf("ulimit -v %d: status %d", kib, r.StatusCode)
			}
		}
		http.DefaultClient.CloseIdleConnections()
		command.Process.Signal(syscall.SIGTERM)
	}
	return statusOf(t, command.Wait()), stderr.String()
}
