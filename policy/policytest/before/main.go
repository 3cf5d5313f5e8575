// Command before compares what a decision costs with what it cost before there were proposals: it
// builds both commits and runs the same loops in turns, so that a load on the machine meets both,
// and prints the least time of each, and the ratios.
//
//	go run ./policy/policytest/before
//
// It fails if a decision without a condition on restarts takes more than 1.1 times as long as then,
// one with a condition more than 1.5 times as long as the same without one took then, or if either
// allocates. It needs a clone with its history.
package main

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// before is the last commit without proposals, and without waits as data.
const before = "4c2d7d1"

// rounds is how often each program runs; each takes the least of many samples by itself.
const rounds = 5

// The bars: how many times as long as before.
const (
	flatBar = 1.1
	askBar  = 1.5
)

//go:embed flat.txt
var flat []byte

//go:embed asks.txt
var asks []byte

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "before:", err)
		os.Exit(1)
	}
}

func run() error {
	root, err := output("", "git", "rev-parse", "--show-toplevel")
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "before")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	old := filepath.Join(dir, "tree")
	if _, err := output(root, "git", "worktree", "add", "--detach", old, before); err != nil {
		return err
	}
	defer output(root, "git", "worktree", "remove", "--force", old)
	was, err := build(dir, old, "was", map[string][]byte{"cost_flat_test.go": flat})
	if err != nil {
		return err
	}
	is, err := build(dir, root, "is", map[string][]byte{"cost_flat_test.go": flat, "cost_asks_test.go": asks})
	if err != nil {
		return err
	}
	then, now := costs{}, costs{}
	for range rounds {
		if err := errors.Join(then.add(was), now.add(is)); err != nil {
			return err
		}
	}
	return compare(then, now)
}

// build builds the tests of package policy in tree, with files next to them, and returns the
// program.
func build(dir, tree, name string, files map[string][]byte) (string, error) {
	replace := map[string]string{}
	for file, text := range files {
		path := filepath.Join(dir, name+"_"+file)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			return "", err
		}
		replace[filepath.Join(tree, "policy", file)] = path
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	list := filepath.Join(dir, name+".json")
	if err := os.WriteFile(list, overlay, 0o600); err != nil {
		return "", err
	}
	program := filepath.Join(dir, name)
	_, err = output(tree, "go", "test", "-c", "-overlay", list, "-o", program, "./policy")
	return program, err
}

func output(dir, name string, args ...string) (string, error) {
	command := exec.Command(name, args...)
	command.Dir = dir
	var text, faults bytes.Buffer
	command.Stdout, command.Stderr = &text, &faults
	if err := command.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s%s", name, strings.Join(args, " "), err, faults.Bytes(), text.Bytes())
	}
	return strings.TrimSpace(text.String()), nil
}

// cost is the least time of one decision in nanoseconds, and how often it allocates.
type cost struct{ nanos, allocs float64 }

type costs map[string]cost

// add runs a program once.
func (c costs) add(program string) error {
	text, err := output(filepath.Dir(program), program, "-test.run", "^TestCost", "-test.v")
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) != 4 || fields[0] != "cost" {
			continue
		}
		nanos, err := strconv.ParseFloat(fields[2], 64)
		if err != nil {
			return err
		}
		allocs, err := strconv.ParseFloat(fields[3], 64)
		if err != nil {
			return err
		}
		if x, seen := c[fields[1]]; seen {
			nanos, allocs = min(nanos, x.nanos), max(allocs, x.allocs)
		}
		c[fields[1]] = cost{nanos, allocs}
	}
	return lines.Err()
}

// rows are what is printed: the loop of now, and the one of before that it is held to.
var rows = []struct {
	now, then string
	bar       float64
}{
	{"decide", "decide", flatBar},
	{"decide/20x255", "decide/20x255", flatBar},
	{"batch", "batch", flatBar},
	{"batch/history", "batch/history", flatBar},
	{"batch/oomKilled", "batch/oomKilled", flatBar},
	{"pods", "pods", flatBar},
	{"asks/decide/restartTimes", "decide", askBar},
	{"asks/decide/oomKilled", "decide/oomKilled", askBar},
	{"asks/decide/maxRestartTimes", "decide", askBar},
	{"asks/batch/restartTimes", "batch", askBar},
	{"asks/batch/restartTimes/history", "batch/history", askBar},
	{"asks/batch/oomKilled", "batch/oomKilled", askBar},
	{"asks/batch/maxRestartTimes", "batch", askBar},
	{"asks/batch/maxRestartTimes/history", "batch/history", askBar},
}

func compare(then, now costs) error {
	var faults []error
	worst := map[float64]float64{}
	fmt.Printf("%-36s %10s %10s %6s %5s %7s\n", "ns for each, the least of all", before, "now", "ratio", "bar", "allocs")
	for _, row := range rows {
		a, b := then[row.then], now[row.now]
		if a.nanos == 0 || b.nanos == 0 {
			return fmt.Errorf("%s was not measured", row.now)
		}
		ratio := b.nanos / a.nanos
		worst[row.bar] = max(worst[row.bar], ratio)
		fmt.Printf("%-36s %10.2f %10.2f %6.2f %5.1f %7.0f\n", row.now, a.nanos, b.nanos, ratio, row.bar, b.allocs)
		if ratio > row.bar {
			faults = append(faults, fmt.Errorf("%s: %.2f times as long as before, at most %.1f wanted", row.now, ratio, row.bar))
		}
		if b.allocs > 0 {
			faults = append(faults, fmt.Errorf("%s: %g allocations", row.now, b.allocs))
		}
	}
	fmt.Printf("against %s: at most %.2f times without a condition, %.2f with one\n", before, worst[flatBar], worst[askBar])
	return errors.Join(faults...)
}
