package main

import (
	"bytes"
	"testing"

	"github.com/podfate/podfate/policy/policytest"
	"github.com/podfate/podfate/wasm"
)

// TestEnginesInGo plays the small set on the native machine and on both engines of wazero. All give one digest.
func TestEnginesInGo(t *testing.T) {
	var vectors bytes.Buffer
	want, err := policytest.WriteVectors(&vectors, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, engine := range []string{"native", "compiler", "interpreter"} {
		t.Run(engine, func(t *testing.T) {
			player, line, err := newPlayer(engine)
			if err != nil {
				t.Fatal(err)
			}
			got, err := player.Replay(bytes.NewReader(vectors.Bytes()), func(text string) { t.Error(text) })
			if err != nil {
				t.Fatal(err)
			}
			if got.Digest != want.Digest || got.Count != want.Count || got.Mismatches != 0 {
				t.Errorf("%v, want %v", got, want)
			}
			got.Engine, got.Version, got.Module = line.Engine, line.Version, line.Module
			t.Log(got)
		})
	}
}

// TestFullInstance asks an instance with all the buffers and policies that it may have for answers with a hundred thousand faults.
func TestFullInstance(t *testing.T) {
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
	player, _, err := newPlayer("compiler")
	if err != nil {
		t.Fatal(err)
	}
	defer player.Close()
	got, err := player.Replay(&full, func(text string) { t.Error(text) })
	if err != nil || got.Count != asked || asked < 30 {
		t.Errorf("%d vectors played of %d: %v", got.Count, asked, err)
	}
}

// TestMemoryStaysSmall evaluates until garbage that is not collected would show.
func TestMemoryStaysSmall(t *testing.T) {
	player, _, err := newPlayer("compiler")
	if err != nil {
		t.Fatal(err)
	}
	bytes, err := player.Evaluate(100_000)
	player.Close()
	if err != nil || bytes > 8<<20 {
		t.Errorf("%d bytes, %v", bytes, err)
	}
	t.Logf("%d bytes after 100,000 evaluations, module %s", bytes, wasm.SHA256())
}
