// Command mutants changes the functions that judge, one operator, condition or number at a time,
// and asks the tests whether they notice (F3, R-T2):
//
//	go run ./policy/policytest/mutants [-n 60] [-seed 1] [-budget 15m] [-v] [FILE...]
//
// A mutant that no test fails on is a survivor. It is printed with its place and ends the command
// with status 1, unless explained.txt says why no test can fail on it. Of all mutants n are drawn,
// 0 for all. One that a test fails on takes a second or two, a survivor all tests: about a minute.
// When the budget is spent no other is begun, and the figures are those of the ones before.
//
// All mutants are compiled at once: each is a copy of its function, and the function itself calls
// the copy whose number is in PODFATE_MUTANT. Files are never written: go test sees the copies
// through -overlay.
package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// judges are the files that are mutated by default, from the root of the repository: what decides,
// without what only writes.
var judges = []string{"policy/restart.go", "policy/podfailure.go", "policy/phase.go", "policy/backoff.go", "policy/trace.go"}

// slow are the tests of package policy that take most of its time, and are seldom the only ones to
// fail.
const slow = "^(TestFailurePolicyAgreesWithWalk|TestBatchOfPodsAgreesWithMatch|TestProposalsExhaustive)$"

// steps are asked one after the other until one fails, the quickest first.
var steps = []struct {
	folder string
	flags  []string
}{
	{"policy", []string{"-test.skip=" + slow}},
	{"policy/policytest", []string{"-test.run=^TestScenarios$"}},
	{"policy/simulate", nil},
	{"policy", []string{"-test.run=" + slow}},
	{"policy/ops", nil},
}

// timeLimit of one run of tests: a mutant may loop.
const timeLimit = "-test.timeout=5m"

//go:embed explained.txt
var explained string

func main() {
	log.SetFlags(0)
	n := flag.Int("n", 60, "how many mutants are drawn, 0 for all")
	seed := flag.Uint64("seed", 1, "seed of the draw")
	budget := flag.Duration("budget", 15*time.Minute, "after how long no other mutant is begun, 0 for never")
	verbose := flag.Bool("v", false, "print each mutant and what failed on it")
	flag.Parse()
	began := time.Now()
	names := flag.Args()
	if len(names) == 0 {
		names = judges
	}
	folder, err := os.MkdirTemp("", "podfate-mutants-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	survivors, err := run(folder, names, *n, *seed, *budget, *verbose, began)
	if err != nil {
		log.Print(err)
	}
	if err != nil || survivors > 0 {
		os.RemoveAll(folder)
		os.Exit(1)
	}
}

func run(folder string, names []string, n int, seed uint64, budget time.Duration, verbose bool, began time.Time) (survivors int, err error) {
	all, invalid, err := build(folder, names)
	if err != nil {
		return 0, err
	}
	if by, failed := ask(folder, 0); failed {
		return 0, fmt.Errorf("%s fails without a mutant", steps[by].folder)
	}
	possible := len(all)
	rand.New(rand.NewPCG(seed, 3)).Shuffle(possible, func(i, j int) { all[i], all[j] = all[j], all[i] })
	if n > 0 && n < possible {
		all = all[:n]
	}
	killed := make([]int, len(steps)) // by which tests
	known, tried, sum := 0, 0, 0
	for _, m := range all {
		if budget > 0 && time.Since(began) > budget {
			break
		}
		tried++
		by, failed := ask(folder, m.number)
		switch {
		case failed:
			killed[by]++
			sum++
			if verbose {
				fmt.Printf("line %d: %s: killed by %s %s\n", m.line, m, steps[by].folder, strings.Join(steps[by].flags, " "))
			}
		case strings.Contains("\n"+explained, "\n"+m.String()+"\n"):
			known++
		default:
			survivors++
			fmt.Printf("survivor, line %d: %s\n", m.line, m)
		}
	}
	fmt.Printf("%d of %d mutants in %s, seed %d: %d killed (by step %v), %d survive for a reason, %d survive; %d more do not compile\n",
		tried, possible, time.Since(began).Round(time.Second), seed, sum, killed, known, survivors, invalid)
	return survivors, nil
}

// build compiles the tests of all steps with all mutants of the files, and returns those that
// compile.
func build(folder string, names []string) (all []*mutant, invalid int, err error) {
	var files []*file
	number := 0
	for _, name := range names {
		f, err := read(name)
		if err != nil {
			return nil, 0, err
		}
		for _, m := range f.mutants {
			number++
			m.number = number
		}
		files = append(files, f)
	}
	for {
		overlay, err := write(folder, files)
		if err != nil {
			return nil, 0, err
		}
		out, err := exec.Command("go", "build", "-gcflags=-e", "-overlay="+overlay, "./"+filepath.Dir(names[0])).CombinedOutput()
		if err == nil {
			break
		}
		before := invalid
		for _, number := range broken(folder, out) {
			for _, f := range files {
				if i := slices.IndexFunc(f.mutants, func(m *mutant) bool { return m.number == number }); i >= 0 {
					f.mutants = slices.Delete(f.mutants, i, i+1)
					invalid++
				}
			}
		}
		if invalid == before {
			return nil, 0, fmt.Errorf("the mutants do not compile: %v\n%s", err, out)
		}
	}
	for i := range steps {
		command := exec.Command("go", "test", "-c", "-vet=off", "-overlay="+filepath.Join(folder, "overlay.json"), "-o", binary(folder, steps[i].folder), "./"+steps[i].folder)
		if out, err := command.CombinedOutput(); err != nil {
			return nil, 0, fmt.Errorf("%s: %v\n%s", steps[i].folder, err, out)
		}
	}
	for _, f := range files {
		all = append(all, f.mutants...)
	}
	return all, invalid, nil
}

func binary(folder, of string) string { return filepath.Join(folder, filepath.Base(of)+".test") }

var errorPlace = regexp.MustCompile(`(?m)^(\S+\.go):(\d+):`)

// broken returns the numbers of the mutants in whose copies a compiler's errors are.
func broken(folder string, out []byte) (numbers []int) {
	for _, m := range errorPlace.FindAllSubmatch(out, -1) {
		text, err := os.ReadFile(filepath.Join(folder, filepath.Base(string(m[1]))))
		if err != nil {
			continue
		}
		line, _ := strconv.Atoi(string(m[2]))
		lines := bytes.SplitAfter(text, []byte("\n"))
		head := bytes.Join(lines[:min(line, len(lines))], nil)
		if at := bytes.LastIndex(head, []byte(mark)); at >= 0 {
			rest := head[at+len(mark):]
			number, err := strconv.Atoi(string(rest[:max(0, bytes.IndexByte(rest, '\n'))]))
			if err == nil {
				numbers = append(numbers, number)
			}
		}
	}
	return numbers
}

// write writes the changed files and returns the name of the overlay that puts them in place.
func write(folder string, files []*file) (string, error) {
	replace := map[string]string{}
	for _, f := range files {
		changed := filepath.Join(folder, filepath.Base(f.name))
		full, err := filepath.Abs(f.name)
		if err := errors.Join(err, os.WriteFile(changed, f.changed(), 0o600)); err != nil {
			return "", err
		}
		replace[full] = changed
	}
	choice := filepath.Join(folder, "podfate_mutant.go")
	added, err := filepath.Abs(filepath.Join(filepath.Dir(files[0].name), "podfate_mutant.go"))
	if err != nil {
		return "", err
	}
	replace[added] = choice
	text, err := json.Marshal(map[string]any{"Replace": replace})
	overlay := filepath.Join(folder, "overlay.json")
	return overlay, errors.Join(err, os.WriteFile(choice, []byte(chooser), 0o600), os.WriteFile(overlay, text, 0o600))
}

// chooser is the file that knows which mutant lives.
const chooser = `package policy

import (
	"os"
	"strconv"
)

var podfateMutant = func() int { n, _ := strconv.Atoi(os.Getenv("PODFATE_MUTANT")); return n }()
`

// ask runs the tests with a mutant, 0 for none, and returns the number of the step that failed.
func ask(folder string, number int) (by int, failed bool) {
	for i, step := range steps {
		command := exec.Command(binary(folder, step.folder), append([]string{"-test.short", "-test.failfast", timeLimit}, step.flags...)...)
		command.Dir = step.folder
		command.Env = append(os.Environ(), "PODFATE_MUTANT="+strconv.Itoa(number))
		if command.Run() != nil {
			return i, true
		}
	}
	return 0, false
}
