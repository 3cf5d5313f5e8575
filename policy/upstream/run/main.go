// Command run compares the core with all releases of Kubernetes and prints one line for each.
//
//	go run ./policy/upstream/run [-cases 100000] [-seed 7] [-v] [-kubelet] [-published] [1.36 1.37 …]
//
// The first run on a machine compiles about 1,100 packages per release: a few minutes and a
// gigabyte of build cache each. After that a run with the default number of cases takes seconds per
// release. -kubelet links the kubelet itself as well, for its plans, phases, back-off settings and
// Jobs whose Pods need them: 670 packages more. It also runs those of Kubernetes' own tests that
// call the compared functions, and asks our core the same. -published compares nothing but whole
// verdicts on the files of policy/upstream/published, and prints a table of them.
package main

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/podfate/podfate/policy/upstream/diff"
	"github.com/podfate/podfate/policy/upstream/mirror"
	"github.com/podfate/podfate/policy/upstream/releases"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("run: ")
	cases := flag.Int("cases", 0, "number of manifests to validate per release; 0 for the default, "+strconv.Itoa(diff.DefaultCases))
	seed := flag.Uint64("seed", 0, "seed of the random cases; 0 for the default")
	verbose := flag.Bool("v", false, "print what the tests print")
	kubelet := flag.Bool("kubelet", false, "link the kubelet as well")
	files := flag.Bool("published", false, "print how verdicts on published files agree, and nothing else")
	flag.Parse()
	root, err := releases.Root()
	if err != nil {
		log.Fatal(err)
	}
	chosen, err := choose(flag.Args())
	if err != nil {
		log.Fatal(err)
	}
	var env []string
	if *cases != 0 {
		env = append(env, "PODFATE_UPSTREAM_CASES="+strconv.Itoa(*cases))
	}
	if *seed != 0 {
		env = append(env, "PODFATE_UPSTREAM_SEED="+strconv.FormatUint(*seed, 10))
	}
	tags := ""
	if *kubelet {
		tags = "kubelet"
	}
	failed := false
	for _, r := range chosen {
		dir := filepath.Join(root, "policy", "upstream", r.Folder())
		if *files {
			failed = !verdicts(dir, r) || failed
		} else {
			failed = !test(dir, r, env, tags, *verbose) || failed
		}
	}
	if failed {
		os.Exit(1)
	}
}

func choose(names []string) ([]releases.Release, error) {
	all := releases.All()
	if len(names) == 0 {
		return all, nil
	}
	var chosen []releases.Release
	for _, name := range names {
		i := slices.IndexFunc(all, func(r releases.Release) bool { return r.Name() == name })
		if i < 0 {
			return nil, fmt.Errorf("no such release: %q", name)
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

// test runs one release's module and prints its line, with the whole output if it failed.
func test(dir string, r releases.Release, env []string, tags string, verbose bool) bool {
	start := time.Now()
	args := []string{"test", "-trimpath", "-mod=mod", "-tags=" + tags, "-vet=off", "-count=1", "-timeout=60m", "-v"}
	if tags != "" {
		temporary, err := os.MkdirTemp("", "podfate-upstream-")
		if err != nil {
			log.Fatal(err)
		}
		defer os.RemoveAll(temporary)
		mod, err := mirror.Write(temporary, dir, r)
		if err != nil {
			log.Fatal(err)
		}
		args = append(args, "-modfile="+mod)
		tables := filepath.Join(temporary, "tables")
		env = append(env, "PODFATE_TABLES="+tables)
		if out, err := record(dir, args, env); err != nil {
			fmt.Printf("%s\nFAIL %s: Kubernetes' own tests: %v\n", out, r.Name(), err)
			return false
		}
	}
	// The main module's requirements are part of each release's: mod=mod follows when one of them
	// was raised.
	command := exec.Command("go", append(args, ".")...)
	command.Dir = dir
	command.Env = append(os.Environ(), env...)
	out, err := command.CombinedOutput()
	line := summary(out)
	if verbose || err != nil {
		os.Stdout.Write(out)
	}
	if line == "" {
		line = r.Name() + ": did not run"
		err = errors.Join(err, errors.New("no summary"))
	}
	result := "ok  "
	if err != nil {
		result = "FAIL"
	}
	fmt.Printf("%s %s (%s), %s with compiling\n", result, line, r.Version, time.Since(start).Round(time.Second))
	return err == nil
}

// verdicts prints the line of one release about published files.
func verdicts(dir string, r releases.Release) bool {
	command := exec.Command("go", "test", "-trimpath", "-mod=mod", "-vet=off", "-count=1", "-timeout=60m", "-v", "-run=^TestUpstream$/^published_files$", ".")
	command.Dir = dir
	out, err := command.CombinedOutput()
	line := lineAfter(out, diff.PublishedPrefix)
	if line == "" || err != nil {
		fmt.Printf("%s\nFAIL %s: %v\n", out, r.Name(), err)
	}
	fmt.Println(line)
	return err == nil && line != ""
}

// record runs the tests of Kubernetes whose questions are asked again; see mirror.Tables.
func record(dir string, args, env []string) ([]byte, error) {
	args = append(slices.Clone(args), "-run="+mirror.TableTests)
	for _, t := range mirror.Tables {
		args = append(args, "k8s.io/kubernetes/"+t.Package)
	}
	command := exec.Command("go", args...)
	command.Dir = dir
	command.Env = append(os.Environ(), env...)
	return command.CombinedOutput()
}

// summary returns the line that diff.Run prints, "" if it did not get that far.
func summary(out []byte) string { return lineAfter(out, diff.SummaryPrefix) }

// lineAfter returns the first line that begins with prefix, without it.
func lineAfter(out []byte, prefix string) string {
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		if line, ok := strings.CutPrefix(lines.Text(), prefix); ok {
			return line
		}
	}
	return ""
}
