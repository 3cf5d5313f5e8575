// Command tests runs go test and names what the tests left out, which go test itself prints with -v
// only:
//
//	go run ./policy/policytest/tests [flags and packages of go test, ./... by default]
//
// It prints the lines of the packages and the output of those that fail, as go test does, and at
// the end one line for each reason for which tests were skipped. Its exit status is that of go
// test. The time limit of each package is [timeLimit].
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// timeLimit is what a package's tests may take: those of package plugins compile the packages of
// other languages. Go's own default is half of it, which Rust and Java pass on a loaded machine.
// README.md, CONTRIBUTING.md and the Taskfile say it too, and a test holds that.
const timeLimit = "-timeout=20m"

func main() {
	args := os.Args[1:]
	if len(args) == 0 {
		args = []string{"./..."}
	}
	command := exec.Command("go", append([]string{"test", "-json", timeLimit}, args...)...)
	command.Stderr = os.Stderr
	out, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	r := newReport(os.Stdout)
	if err := r.read(out); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	err = command.Wait()
	r.leftOut()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		os.Exit(exit.ExitCode())
	} else if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// event is a line of go test -json; see go doc test2json.
type event struct {
	Action, Package, ImportPath, Test, Output string
}

// report is what is known so far.
type report struct {
	to     io.Writer
	output map[event][]string  // of each test, and of each package with Test empty; the key has no more than the two
	whole  map[string][]string // all that a package printed, for when it fails
	why    map[string][]string // reasons, with the tests that were skipped for them
}

func newReport(to io.Writer) *report {
	return &report{to, map[event][]string{}, map[string][]string{}, map[string][]string{}}
}

func (r *report) read(in io.Reader) error {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			r.line(line)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (r *report) line(line string) {
	var e event
	if json.Unmarshal([]byte(line), &e) != nil {
		fmt.Fprint(r.to, line) // what go says before it tests
		return
	}
	key := event{Package: e.Package, Test: e.Test}
	switch e.Action {
	case "build-output":
		fmt.Fprint(r.to, e.Output)
	case "output":
		r.output[key] = append(r.output[key], e.Output)
		r.whole[e.Package] = append(r.whole[e.Package], e.Output)
	case "skip":
		if e.Test != "" {
			r.skipped(e, r.output[key])
		}
		r.end(e, false)
	case "pass":
		r.end(e, false)
	case "fail":
		r.end(e, true)
	}
}

// end forgets a test, and prints what there is to say about a package.
func (r *report) end(e event, failed bool) {
	key := event{Package: e.Package, Test: e.Test}
	own := r.output[key]
	delete(r.output, key)
	if e.Test != "" {
		return
	}
	if failed {
		own = slices.DeleteFunc(r.whole[e.Package], func(line string) bool { return strings.HasPrefix(line, "=== ") })
	}
	delete(r.whole, e.Package)
	for _, line := range own {
		if failed || strings.HasPrefix(line, "ok ") || strings.HasPrefix(line, "?") {
			fmt.Fprint(r.to, line)
		}
	}
}

// skipped notes why a test was skipped: the last line that it logged, without its place in the
// source.
func (r *report) skipped(e event, output []string) {
	why := "no reason is given"
	for _, line := range output {
		text := strings.TrimSpace(line)
		if _, said, found := strings.Cut(text, "_test.go:"); found {
			_, why, _ = strings.Cut(said, ": ")
		} else if _, said, found := strings.Cut(text, ".go:"); found {
			_, why, _ = strings.Cut(said, ": ")
		}
	}
	r.why[why] = append(r.why[why], e.Package[strings.LastIndexByte(e.Package, '/')+1:]+" "+e.Test)
}

// leftOut prints the reasons, and how many tests each kept from running.
func (r *report) leftOut() {
	var reasons []string
	count := 0
	for why, tests := range r.why {
		reasons = append(reasons, why)
		count += len(tests)
	}
	if count == 0 {
		fmt.Fprintln(r.to, "nothing was left out")
		return
	}
	slices.Sort(reasons)
	fmt.Fprintf(r.to, "%d tests were left out:\n", count)
	for _, why := range reasons {
		tests := r.why[why]
		fmt.Fprintf(r.to, "  %s: %s\n", strings.TrimPrefix(why, "left out, "), short(tests))
	}
}

// short names the first few tests.
func short(tests []string) string {
	const most = 3
	if len(tests) <= most {
		return strings.Join(tests, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(tests[:most], ", "), len(tests)-most)
}
