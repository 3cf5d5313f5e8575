// Command bench prints one table: what a decision costs with Podfate on each engine that is
// installed here, what starting costs, how large the module is, and next to it what one would take
// instead for the nearest equal policy.
//
//	cd plugins/bench && go run .
//
// Each figure is the shortest of many short rounds, so that what else the machine does hardly
// shows; all come from one run, since only their ratios mean something. Node.js needs the packages
// of node/package.json, which npm installs there the first time. What is not installed is named.
package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"time"
)

// row is a line of the table.
type row struct {
	group, subject, what string
	value                float64
	unit                 string
}

// table is what has been measured so far.
type table struct {
	rows    []row
	leftOut []string
}

func (t *table) add(group, subject, what string, value float64, unit string) {
	t.rows = append(t.rows, row{group, subject, what, value, unit})
}

func (t *table) without(format string, args ...any) {
	t.leftOut = append(t.leftOut, fmt.Sprintf(format, args...))
}

// best returns the shortest time of one of calls calls of f, in nanoseconds: of many rounds of
// about a millisecond or of one call.
func best(f func()) float64 {
	calls := 1
	for {
		began := time.Now()
		for range calls {
			f()
		}
		if took := time.Since(began); took > time.Millisecond || calls > 1<<20 {
			break
		}
		calls *= 2
	}
	shortest := time.Duration(1 << 62)
	for began, rounds := time.Now(), 0; rounds < 5 || time.Since(began) < 1500*time.Millisecond; rounds++ {
		began := time.Now()
		for range calls {
			f()
		}
		shortest = min(shortest, time.Since(began))
	}
	return float64(shortest.Nanoseconds()) / float64(calls)
}

// must ends the program: a figure of something that does not work says nothing.
func must[T any](v T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	return v
}

func main() {
	debug.SetGCPercent(400)
	t := &table{}
	sizes(t)
	native(t)
	wazeroEngines(t)
	plugins(t)
	expression(t)
	regoInGo(t)
	cedarAndOPA(t)
	fmt.Printf("%s, %s/%s, %d processors\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	fmt.Print("Each figure is the best of many rounds: what else the machine does doubles single ones. Compare within this table.\n\n")
	slices.SortStableFunc(t.rows, func(a, b row) int { return slices.Index(groups, a.group) - slices.Index(groups, b.group) })
	group := ""
	for _, r := range t.rows {
		if r.group != group {
			group = r.group
			fmt.Printf("%s\n", group)
		}
		fmt.Printf("  %-34s %-44s %12.4g %s\n", r.subject, r.what, r.value, r.unit)
	}
	for _, text := range t.leftOut {
		fmt.Println("left out:", text)
	}
}
