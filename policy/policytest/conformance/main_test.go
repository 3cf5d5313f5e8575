package main

import (
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/podfate/podfate/policy/policytest"
	"github.com/podfate/podfate/wasm"
)

// TestEnginesInGo plays the vectors on the native machine and on both engines of wazero, and lets
// these evaluate an exit over and over on one instance: some thousand vectors, or all of them and
// two million evaluations. All give one digest. CI plays all of them on one engine, the compiler:
// the native machine has just made them, and an interpreter takes a hundred times as long.
func TestEnginesInGo(t *testing.T) {
	for _, engine := range []string{"native", "compiler", "interpreter"} {
		t.Run(engine, func(t *testing.T) {
			if engine == "interpreter" {
				policytest.Quick(t, "an interpreter takes a minute")
			}
			if engine == "native" {
				policytest.Quick(t, "the native core has made the vectors that the compiler plays")
			}
			t.Parallel()
			thorough, evaluations := policytest.Long() || policytest.RequireAll() && engine == "compiler", 50_000
			if thorough {
				evaluations = 2_000_000
			}
			made := few
			if thorough {
				made = all
			}
			vectors, want := made(t)
			code := ""
			if engine == "compiler" {
				code = compiled(t)
			}
			player, line, err := newPlayer(engine, code)
			if err != nil {
				t.Fatal(err)
			}
			defer player.Close()
			first := ""
			got, err := player.Replay(bytes.NewReader(vectors), func(text string) { first = cmp.Or(first, text) })
			if err != nil {
				t.Fatal(err)
			}
			if got.Digest != want.Digest || got.Count != want.Count || got.Mismatches != 0 {
				t.Errorf("%d of %d answers are not those of the native core (digest %s, want %s of %d). If that has changed since the module was built: %s. The first is %.300s",
					got.Mismatches, got.Count, got.Digest, want.Digest, want.Count, policytest.RebuildModule, first)
			}
			got.Engine, got.Version, got.Module = line.Engine, line.Version, line.Module
			t.Log(got)
			if engine == "native" || testing.Short() {
				return
			}
			bytes, err := player.Evaluate(evaluations)
			if err != nil || bytes > 8<<20 {
				t.Errorf("%d bytes of memory after %d evaluations, at most 8 MiB wanted; %v", bytes, evaluations, err)
			}
			t.Logf("evaluations=%d memory=%d", evaluations, bytes)
		})
	}
}

// TestOn32Bits makes the vectors with a core in which an int has 32 bits: some thousand, or in CI
// all. A program for such a machine gets the same answers as every other.
func TestOn32Bits(t *testing.T) {
	policytest.Quick(t, "the core is compiled for another machine")
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("only Linux on amd64 runs programs of 32 bits as they are")
	}
	made, args := few, []string{"-o", os.DevNull, "-small"}
	if policytest.Long() || policytest.RequireAll() {
		made, args = all, args[:2]
	}
	_, want := made(t)
	program := filepath.Join(t.TempDir(), "conformance")
	build := policytest.Command("go", "build", "-o", program, ".")
	build.Env = append(os.Environ(), "GOARCH=386", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := policytest.Command(program, args...).CombinedOutput()
	if err != nil || !strings.Contains(string(out), " count="+strconv.Itoa(want.Count)+" ") || !strings.Contains(string(out), " digest="+want.Digest) {
		t.Errorf("with an int of 32 bits: %s %v, want %s", out, err, want)
	}
	t.Logf("%s", out)
}

// few and all make the vectors once for all engines.
var few, all = vectorsOnce(true), vectorsOnce(false)

func vectorsOnce(small bool) func(*testing.T) ([]byte, policytest.Line) {
	var (
		once    sync.Once
		vectors bytes.Buffer
		line    policytest.Line
		err     error
	)
	return func(t *testing.T) ([]byte, policytest.Line) {
		t.Helper()
		once.Do(func() { line, err = policytest.WriteVectors(&vectors, small) })
		if err != nil {
			t.Fatal(err)
		}
		return vectors.Bytes(), line
	}
}

// compiled returns the folder of [policytest.Code] with the code of the module in it, which package
// wasm has checked; wazero alone would run what is damaged.
func compiled(t *testing.T) string {
	t.Helper()
	code := policytest.Code(t)
	if code == "" {
		return ""
	}
	host, err := wasm.New(t.Context(), wasm.Options{Instances: 1, CacheDir: code})
	if err != nil {
		t.Fatal(err)
	}
	if err := host.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	return code
}

// TestFullInstance asks an instance with all the buffers and policies that it may have for answers
// with a hundred thousand faults.
func TestFullInstance(t *testing.T) {
	policytest.Quick(t, "it makes all vectors")
	var vectors, full bytes.Buffer
	if _, err := policytest.WriteVectors(&vectors, false); err != nil {
		t.Fatal(err)
	}
	asked := 0
	for line := range bytes.Lines(vectors.Bytes()) {
		filling := asked > 0 && bytes.HasPrefix(line, []byte(`{"id":"handle/`))
		if filling || bytes.HasPrefix(line, []byte(`{"id":"handle/bytes/`)) || bytes.HasPrefix(line, []byte(`{"id":"full/`)) {
			full.Write(line)
			asked++
		}
	}
	player, _, err := newPlayer("compiler", "")
	if err != nil {
		t.Fatal(err)
	}
	defer player.Close()
	got, err := player.Replay(&full, func(text string) { t.Error(text) })
	if err != nil || got.Count != asked || asked < 30 {
		t.Errorf("%d vectors played of %d: %v", got.Count, asked, err)
	}
}
