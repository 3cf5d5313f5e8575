// Command conformance writes the conformance vectors and plays them in Go:
//
//	go run ./policy/policytest/conformance -o conformance.jsonl [-small]
//	go run ./policy/policytest/conformance -play native|compiler|interpreter [-evaluations N] conformance.jsonl
//
// The format stands in plugins/README.md. With -o it prints the line of the native core, which made the answers.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"

	"github.com/podfate/podfate/policy/policytest"
)

func main() {
	out := flag.String("o", "", "`file` to write")
	small := flag.Bool("small", false, "a few thousand vectors instead of all")
	play := flag.String("play", "", "`engine` to play the vectors of the argument on: native, compiler or interpreter")
	evaluations := flag.Int("evaluations", 0, "evaluate one exit so many `times` afterwards and print the size of the memory")
	flag.Parse()
	if err := run(*out, *small, *play, flag.Arg(0), *evaluations); err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(1)
	}
}

func run(out string, small bool, engine, vectors string, evaluations int) error {
	if out != "" {
		if err := write(out, small); err != nil {
			return err
		}
	}
	if engine == "" {
		return nil
	}
	if vectors == "" {
		vectors = out
	}
	file, err := os.Open(vectors)
	if err != nil {
		return err
	}
	defer file.Close()
	player, line, err := newPlayer(engine)
	if err != nil {
		return err
	}
	got, err := player.Replay(file, func(text string) { fmt.Fprintln(os.Stderr, text) })
	if err != nil {
		return err
	}
	line.Count, line.Mismatches, line.Digest = got.Count, got.Mismatches, got.Digest
	fmt.Println(line)
	if evaluations > 0 {
		bytes, err := player.Evaluate(evaluations)
		if err != nil {
			return err
		}
		fmt.Printf("evaluations=%d memory=%d\n", evaluations, bytes)
	}
	if line.Mismatches > 0 || line.Count == 0 {
		return fmt.Errorf("%d of %d answers differ", line.Mismatches, line.Count)
	}
	return nil
}

func write(out string, small bool) error {
	file, err := os.Create(out)
	if err != nil {
		return err
	}
	buffered := bufio.NewWriterSize(file, 1<<20)
	line, err := policytest.WriteVectors(io.Writer(buffered), small)
	if err == nil {
		err = buffered.Flush()
	}
	if err == nil {
		err = file.Close()
	}
	line.Engine, line.Version, line.Module = "native", runtime.Version(), "none"
	fmt.Println(line)
	return err
}
