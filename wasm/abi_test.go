package wasm

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// guest calls the exports of the shipped module as any host may, also wrongly.
type guest struct {
	t *testing.T
	api.Module
}

func newGuest(t *testing.T) guest {
	i, err := newHost(t, Options{Interpreter: true, Instances: 1}).newInstance()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(i.close)
	return guest{t, i.module}
}

func (g guest) call(export string, args ...int64) uint64 {
	g.t.Helper()
	params := make([]uint64, len(args))
	for i, a := range args {
		params[i] = api.EncodeI32(int32(a))
	}
	results, err := g.ExportedFunction(export).Call(g.t.Context(), params...)
	if err != nil {
		g.t.Fatalf("%s%v: %v", export, args, err)
	}
	return results[0]
}

// answer reads what a result word points at.
func (g guest) answer(word uint64) string {
	g.t.Helper()
	b, ok := g.Memory().Read(uint32(word>>32), uint32(word)&lengthMask)
	if !ok || !json.Valid(b) {
		g.t.Fatalf("%#x points at no JSON", word)
	}
	return string(b)
}

func TestExportedBuffers(t *testing.T) {
	g := newGuest(t)
	for _, n := range []int64{0, -1, -1 << 31, 16<<20 + 1, 1<<31 - 1} {
		if p := g.call("pf_alloc", n); p != 0 {
			t.Errorf("pf_alloc(%d) = %d, want 0", n, p)
		}
	}
	var all []int64
	for n := range 64 {
		p := int64(g.call("pf_alloc", int64(n+1)))
		b, ok := g.Memory().Read(uint32(p), uint32(n+1))
		if p == 0 || p%8 != 0 || !ok || !bytes.Equal(b, make([]byte, n+1)) {
			t.Fatalf("pf_alloc(%d) = %d: %v", n+1, p, b)
		}
		g.Memory().Write(uint32(p), bytes.Repeat([]byte{0xFF}, n+1))
		all = append(all, p)
	}
	if p := g.call("pf_alloc", 1); p != 0 {
		t.Errorf("buffer 65 was given")
	}
	for _, wrong := range []int64{0, -1, 1, all[63] + 8, 1<<31 - 1} {
		if r := int32(g.call("pf_free", wrong)); r != -10 {
			t.Errorf("pf_free(%d) = %d, want -10", wrong, r)
		}
	}
	if r := int32(g.call("pf_free", all[0])); r != 0 {
		t.Errorf("pf_free of a live buffer: %d", r)
	}
	if r := int32(g.call("pf_free", all[0])); r != -10 {
		t.Errorf("pf_free of a freed buffer: %d", r)
	}
	if r := g.call("pf_reset"); r != 0 {
		t.Errorf("pf_reset() = %d", r)
	}
	if r := int32(g.call("pf_free", all[1])); r != -10 {
		t.Errorf("a buffer outlived pf_reset: %d", r)
	}
	if g.call("pf_alloc", 16<<20) == 0 {
		t.Error("16 MiB were refused after pf_reset")
	}
}

// TestExportedCall holds that a request that does not lie in a buffer is an answer, with whatever
// numbers it comes.
func TestExportedCall(t *testing.T) {
	g := newGuest(t)
	p := int64(g.call("pf_alloc", 2<<20))
	g.Memory().Write(uint32(p), []byte(`{}`))
	cases := []struct {
		name        string
		op, ptr, ln int64
		code        string
	}{
		{"right", 1, p, 2, ""},
		{"no such operation", 99, p, 2, "UNSUPPORTED_OP"},
		{"operation -1", -1, p, 2, "UNSUPPORTED_OP"},
		{"null pointer", 1, 0, 2, "BAD_BUFFER"},
		{"negative pointer", 1, -1, 2, "BAD_BUFFER"},
		{"before the buffer", 1, p - 1, 2, "BAD_BUFFER"},
		{"past its end", 1, p, 2<<20 + 1, "BAD_BUFFER"},
		{"negative length", 1, p, -1, "BAD_BUFFER"},
		{"length that wraps", 1, p + 8, -4, "BAD_BUFFER"},
		{"over the limit", 1, p, 1<<20 + 1, "LIMIT_EXCEEDED"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			word := g.call("pf_call", c.op, c.ptr, c.ln)
			answer := g.answer(word)
			if failed := word&errorFlag != 0; failed != (c.code != "") || failed && !strings.HasPrefix(answer, `{"error":{"code":"`+c.code+`"`) {
				t.Errorf("want %q, got flag %v and %s", c.code, failed, answer)
			}
		})
	}
	first := g.call("pf_call", 1, p, 2)
	before := g.answer(first)
	g.call("pf_free", p)
	for range 50 {
		q := g.call("pf_alloc", 1<<19) // enough to make the guest collect
		g.call("pf_free", int64(q))
	}
	if g.answer(first) != before {
		t.Error("the answer changed although no other call was made")
	}
}

// TestIdentity compares what the module says of itself in its custom section, in describe and by
// pf_abi_version.
func TestIdentity(t *testing.T) {
	r := wazero.NewRuntimeWithConfig(t.Context(), wazero.NewRuntimeConfigInterpreter().WithCustomSections(true))
	defer r.Close(t.Context())
	compiled, err := r.CompileModule(t.Context(), Module())
	if err != nil {
		t.Fatal(err)
	}
	sections := compiled.CustomSections()
	if len(sections) != 1 || sections[0].Name() != "podfate" {
		t.Fatalf("%d custom sections, want the one named podfate", len(sections))
	}
	if n := len(compiled.ImportedFunctions()) + len(compiled.ImportedMemories()); n != 0 {
		t.Errorf("%d imports", n)
	}
	type identity struct{ Product, ABI, Schema string }
	var section, described identity
	if err := json.Unmarshal(sections[0].Data(), &section); err != nil {
		t.Fatal(err)
	}
	g := newGuest(t)
	p := int64(g.call("pf_alloc", 2))
	g.Memory().Write(uint32(p), []byte(`{}`))
	if err := json.Unmarshal([]byte(g.answer(g.call("pf_call", 1, p, 2))), &described); err != nil {
		t.Fatal(err)
	}
	if section != described {
		t.Errorf("the section says %v, describe says %v", section, described)
	}
	if version := g.call("pf_abi_version"); version != 1<<16|1 || described.ABI != "1.1" {
		t.Errorf("pf_abi_version %#x, describe %s", version, described.ABI)
	}
}
