// Command conformance writes the conformance vectors and plays them in Go:
//
//	go run ./policy/policytest/conformance -o conformance.jsonl [-small] [-record policy/policytest/conformance]
//	go run ./policy/policytest/conformance -play native|compiler|interpreter [-evaluations N] conformance.jsonl
//
// The format is in plugins/README.md. With -o it prints the line of the native core, which made
// the answers. -record writes vectors.txt, how many vectors there are and their digests, and
// sample.jsonl, the first ones of each class, to a folder: these are committed in place of the
// file, which is 60 MB.
package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/podfate/podfate/policy/policytest"
)

func main() {
	out := flag.String("o", "", "`file` to write")
	small := flag.Bool("small", false, "a few thousand vectors instead of all")
	record := flag.String("record", "", "`folder` to write vectors.txt and sample.jsonl to")
	play := flag.String("play", "", "`engine` to play the vectors of the argument on: native, compiler or interpreter")
	evaluations := flag.Int("evaluations", 0, "evaluate one exit so many `times` afterwards and print the size of the memory")
	flag.Parse()
	err := run(*out, *small, *play, flag.Arg(0), *evaluations)
	if err == nil && *record != "" {
		err = recordVectors(*record)
	}
	if err != nil {
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
	player, line, err := newPlayer(engine, "")
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

// recordVectors writes what is committed of the vectors, all and small.
func recordVectors(folder string) error {
	var text, sample bytes.Buffer
	for _, small := range []bool{false, true} {
		var vectors bytes.Buffer
		line, err := policytest.WriteVectors(&vectors, small)
		if err != nil {
			return err
		}
		name := "all"
		if small {
			name = "small"
			sample = firstOfEachClass(vectors.Bytes())
		}
		fmt.Fprintf(&text, "%s count=%d digest=%s bytes=%d sha256=%x\n", name, line.Count, line.Digest, vectors.Len(), sha256.Sum256(vectors.Bytes()))
	}
	if err := os.WriteFile(filepath.Join(folder, "vectors.txt"), text.Bytes(), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "sample.jsonl"), sample.Bytes(), 0o644)
}

// firstOfEachClass keeps the first two lines, of at most 2 KB, of each class; the class is the
// beginning of the id.
func firstOfEachClass(vectors []byte) (sample bytes.Buffer) {
	seen := map[string]int{}
	for line := range bytes.Lines(vectors) {
		class, _, _ := strings.Cut(strings.TrimPrefix(string(line), `{"id":"`), "/")
		if len(line) <= 2048 && seen[class] < 2 {
			seen[class]++
			sample.Write(line)
		}
	}
	return sample
}
