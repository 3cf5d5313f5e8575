package policytest

import (
	"context"
	"errors"
	"flag"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// began is when the program of the tests started, which is when go test's time limit begins to run.
var began = time.Now()

// spare is how long before the time limit of go test children are killed, so that a test still
// reports what happened; a tenth of the limit if that is less. Beyond the limit the tests' own
// program is ended without a word about them.
const spare = 30 * time.Second

// pipeDelay is how long the output of a child that was killed is waited for: a grandchild may hold
// it open.
const pipeDelay = 10 * time.Second

var errLate = errors.New("the time limit of go test (-timeout) is near, so its children were killed")

// children bounds all children of the tests.
var children = sync.OnceValue(func() context.Context {
	limit := time.Duration(0)
	if f := flag.Lookup("test.timeout"); f != nil {
		limit, _ = time.ParseDuration(f.Value.String())
	}
	if limit <= 0 {
		return context.Background()
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	time.AfterFunc(time.Until(began.Add(limit-min(spare, limit/10))), func() { cancel(errLate) })
	return ctx
})

// Command is exec.Command for a child that never outlives the tests: it and what it starts are
// killed shortly before go test's time limit, and, where there are process groups, also if the
// tests' program dies in whatever way.
func Command(name string, args ...string) *exec.Cmd {
	return CommandContext(context.Background(), name, args...)
}

// CommandContext is [Command] with another end.
func CommandContext(ctx context.Context, name string, args ...string) *exec.Cmd {
	ctx, cancel := context.WithCancelCause(ctx)
	context.AfterFunc(children(), func() { cancel(context.Cause(children())) })
	return grouped(ctx, name, args)
}

// Output runs a command that has to end well and returns what it printed to both of its streams.
func Output(t testing.TB, command *exec.Cmd) []byte {
	t.Helper()
	out, err := CombinedOutput(command)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// CombinedOutput runs a command and returns what it printed to both of its streams. An error has
// the command line, the output and, if the child was killed for that, that the time was up.
func CombinedOutput(command *exec.Cmd) ([]byte, error) {
	out, err := command.CombinedOutput()
	if err != nil {
		err = &commandError{line: strings.Join(words(command), " "), out: out, err: errors.Join(err, context.Cause(children()))}
	}
	return out, err
}

// commandError is what became of a command that did not end well.
type commandError struct {
	line string
	out  []byte
	err  error
}

func (e *commandError) Error() string { return e.line + ": " + e.err.Error() + "\n" + string(e.out) }

func (e *commandError) Unwrap() error { return e.err }
