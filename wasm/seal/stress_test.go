package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/podfate/podfate/policy/policytest"
)

// TestSealedBehavesAsLinked runs a program that grows stacks, switches goroutines, recovers from
// faults and collects garbage: as the linker wrote it and as the seal did. All results are equal,
// and sealing does not make the memory grow.
func TestSealedBehavesAsLinked(t *testing.T) {
	policytest.Quick(t, "it links a program of its own and runs it three times")
	file := filepath.Join(t.TempDir(), "linked.wasm")
	if err := link(root, "./wasm/seal/testdata/stress", file, ""); err != nil {
		t.Fatal(err)
	}
	linked, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want, wantPages := runStress(t, linked)
	for _, trapUnneeded := range []bool{false, true} {
		sealed, err := sealWith(linked, trapUnneeded)
		if err != nil {
			t.Fatal(err)
		}
		got, pages := runStress(t, sealed)
		for i, w := range want {
			if got[i] != w {
				t.Errorf("%s: sealed %s", w, got[i])
			}
		}
		t.Logf("linked %d bytes, %d pages after %d calls; sealed %d bytes, %d pages", len(linked), wantPages, len(want), len(sealed), pages)
		if pages > wantPages+1 {
			t.Errorf("memory ends at %d pages, %d before sealing", pages, wantPages)
		}
	}
}

// runStress calls the exports of the program and returns a line for each call, and how many pages
// of memory there are in the end.
func runStress(t *testing.T, file []byte) (lines []string, pages uint32) {
	t.Helper()
	ctx := context.Background()
	r := wazero.NewRuntime(ctx)
	defer r.Close(ctx)
	wasi_snapshot_preview1.MustInstantiate(ctx, r)
	m, err := r.InstantiateWithConfig(ctx, file, wazero.NewModuleConfig().WithStartFunctions(startName))
	if err != nil {
		t.Fatal(err)
	}
	for round := range 30 {
		for _, call := range []struct {
			name string
			n    int
		}{{"pf_values", round}, {"pf_deep", 300 * round}, {"pf_garbage", 20 * round}, {"pf_switch", 37 * round}} {
			result, err := m.ExportedFunction(call.name).Call(ctx, api.EncodeI32(int32(call.n)))
			if err != nil {
				t.Fatalf("%s(%d): %v", call.name, call.n, err)
			}
			lines = append(lines, fmt.Sprintf("%s(%d) = %x", call.name, call.n, result[0]))
		}
	}
	return lines, m.Memory().Size() / pageBytes
}
