// Command mutants changes the functions that judge, one operator, condition or number at a time,
// and asks the tests whether they notice (F3, R-T2):
//
//	go run ./policy/policytest/mutants [-n 60] [-seed 1] [-budget 15m] [-v] [FILE...]
//
// A mutant that no test fails on is a survivor. It is printed with its place and ends the command
// with status 1, unless explained.txt says why no test can fail on it. Files are never written: go
// test sees a mutant through -overlay. Of all mutants n are drawn, 0 for all. One that a test fails
// on takes a few seconds, of which most go into compiling; a survivor takes all tests, a minute.
// When the budget is spent no other is begun, and the figures are those of the ones before.
package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"log"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
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

// tests are asked one after the other until one fails: first those for which least is compiled, and
// last those that run longest. Fewer than these would let mutants survive that some test kills.
var tests = [][]string{
	{"./policy", "-skip=" + slow},
	{"./policy/policytest", "-run=^TestScenarios$"},
	{"./policy/simulate"},
	{"./policy", "-run=" + slow},
	{"./policy/ops"},
}

// timeLimit of one run of tests: a mutant may loop.
const timeLimit = "-timeout=5m"

//go:embed explained.txt
var explained string

// operators are what an operator becomes.
var operators = map[token.Token]token.Token{
	token.EQL: token.NEQ, token.NEQ: token.EQL, token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.LAND: token.LOR, token.LOR: token.LAND, token.ADD: token.SUB, token.SUB: token.ADD, token.MUL: token.QUO, token.QUO: token.MUL,
}

// mutant is one change of a file.
type mutant struct {
	file       string
	line       int
	begin, end int // of the bytes that are replaced
	by         string
	is, was    string // the line, changed and as it was
}

// String is the form in explained.txt, which follows the text and not the line number.
func (m mutant) String() string { return fmt.Sprintf("%s: %s -> %s", m.file, m.was, m.is) }

func main() {
	log.SetFlags(0)
	n := flag.Int("n", 60, "how many mutants are drawn, 0 for all")
	seed := flag.Uint64("seed", 1, "seed of the draw")
	budget := flag.Duration("budget", 15*time.Minute, "after how long no other mutant is begun, 0 for never")
	verbose := flag.Bool("v", false, "print each mutant and what failed on it")
	flag.Parse()
	began := time.Now()
	files := flag.Args()
	if len(files) == 0 {
		files = judges
	}
	var all []mutant
	for _, file := range files {
		list, err := mutants(file)
		if err != nil {
			log.Fatal(err)
		}
		all = append(all, list...)
	}
	possible := len(all)
	rand.New(rand.NewPCG(*seed, 3)).Shuffle(possible, func(i, j int) { all[i], all[j] = all[j], all[i] })
	if *n > 0 && *n < possible {
		all = all[:*n]
	}
	invalid, known, survivors, tried := 0, 0, 0, 0
	killed := make([]int, len(tests)) // by which tests
	for _, m := range all {
		if *budget > 0 && time.Since(began) > *budget {
			break
		}
		tried++
		by, err := try(m)
		if *verbose {
			fmt.Printf("line %d: %s: %s\n", m.line, m, outcome(by, err))
		}
		switch {
		case errors.Is(err, errInvalid):
			invalid++
		case err != nil:
			killed[by]++
		case strings.Contains("\n"+explained, "\n"+m.String()+"\n"):
			known++
		default:
			survivors++
			fmt.Printf("survivor, line %d: %s\n", m.line, m)
		}
	}
	sum := 0
	for _, n := range killed {
		sum += n
	}
	fmt.Printf("%d of %d mutants in %s, seed %d: %d killed (by step %v), %d do not compile, %d survive for a reason, %d survive\n",
		tried, possible, time.Since(began).Round(time.Second), *seed, sum, killed, invalid, known, survivors)
	if survivors > 0 {
		os.Exit(1)
	}
}

// mutants lists the changes of a file.
func mutants(file string) (list []mutant, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, file, text, 0)
	if err != nil {
		return nil, err
	}
	lines := strings.Split(string(text), "\n")
	add := func(from, to token.Pos, by string) {
		at, begin, end := set.Position(from), set.Position(from).Offset, set.Position(to).Offset
		start := begin - at.Column + 1
		line := lines[at.Line-1]
		changed := string(text[start:begin]) + by + string(text[end:start+len(line)])
		list = append(list, mutant{file, at.Line, begin, end, by, strings.TrimSpace(changed), strings.TrimSpace(line)})
	}
	for _, decl := range tree.Decls {
		function, is := decl.(*ast.FuncDecl)
		if !is || function.Body == nil {
			continue
		}
		ast.Inspect(function.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BinaryExpr:
				if by, known := operators[n.Op]; known {
					add(n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), by.String())
				}
			case *ast.UnaryExpr:
				if n.Op == token.NOT {
					add(n.OpPos, n.OpPos+1, "")
				}
			case *ast.Ident:
				if n.Name == "true" || n.Name == "false" {
					add(n.Pos(), n.End(), strconv.FormatBool(n.Name == "false"))
				}
			case *ast.BasicLit:
				if number, err := strconv.Atoi(n.Value); n.Kind == token.INT && err == nil {
					add(n.Pos(), n.End(), strconv.Itoa(number+1))
				}
			}
			return true
		})
	}
	return list, nil
}

var errInvalid = errors.New("the mutant does not compile")

func outcome(by int, err error) string {
	switch {
	case errors.Is(err, errInvalid):
		return err.Error()
	case err != nil:
		return "killed by " + strings.Join(tests[by], " ")
	}
	return "survives"
}

// try runs the tests on a mutant. It returns nil if the mutant survives, otherwise also the number
// of the tests that failed.
func try(m mutant) (by int, err error) {
	dir, err := os.MkdirTemp("", "podfate-mutant-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	text, err := os.ReadFile(m.file)
	if err != nil {
		log.Fatal(err)
	}
	changed, overlay := filepath.Join(dir, "changed.go"), filepath.Join(dir, "overlay.json")
	full, err := filepath.Abs(m.file)
	if err != nil {
		log.Fatal(err)
	}
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{full: changed}})
	if err != nil {
		log.Fatal(err)
	}
	mutated := string(text[:m.begin]) + m.by + string(text[m.end:])
	if err := errors.Join(os.WriteFile(changed, []byte(mutated), 0o600), os.WriteFile(overlay, replace, 0o600)); err != nil {
		log.Fatal(err)
	}
	for i, test := range tests {
		args := append([]string{"test", "-overlay=" + overlay, "-short", "-failfast", "-vet=off", timeLimit}, test...)
		out, err := exec.Command("go", args...).CombinedOutput()
		if bytes.Contains(out, []byte("[build failed]")) {
			return 0, errInvalid
		}
		if err != nil {
			return i, err
		}
	}
	return 0, nil
}
