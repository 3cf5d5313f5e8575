package wasm

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// TestAnswersAreNotTrusted runs modules that speak the ABI and lie. Each lie is a clean error, the
// instance that told it is gone, and nothing of the memory outside of the answer comes out.
func TestAnswersAreNotTrusted(t *testing.T) {
	const page = 1 << 16
	at := func(start, length uint32) fake { f := honest(); f.word = word(start, length, false); return f }
	with := func(change func(*fake)) fake { f := honest(); change(&f); return f }
	cases := []struct {
		name string
		fake fake
		want error
	}{
		{"honest answer", honest(), nil},
		{"honest error", answering(`{"error":{"code":"BAD_JSON","num":1}}`, true), nil},
		{"pointer past the memory", at(page, 11), ErrMalformed},
		{"pointer at the highest address", at(1<<32-1, 11), ErrMalformed},
		{"pointer and length that wrap", at(1<<32-8, 16), ErrMalformed},
		{"last byte outside", at(page-10, 11), ErrMalformed},
		{"length of 31 bits", at(dataAt, 1<<31-1), ErrMalformed},
		{"length over the limit", at(dataAt, MaxAnswerBytes+1), ErrMalformed},
		{"all bits set", with(func(f *fake) { f.word = 1<<64 - 1 }), ErrMalformed},
		{"no answer", at(dataAt, 0), ErrMalformed},
		{"zero word", at(0, 0), ErrMalformed},
		{"answer is the request", at(bufferAt, 2), ErrMalformed},
		{"answer runs into the request", at(bufferAt-5, 11), ErrMalformed},
		{"answer starts inside the request buffer", at(bufferAt+minBufferBytes-1, 11), ErrMalformed},
		{"UTF-8 cut within a character", answering("{\"a\":\"\xe2\x82\"}", false), ErrMalformed},
		{"UTF-8 surrogate", answering("{\"a\":\"\xed\xa0\x80\"}", false), ErrMalformed},
		{"array", answering(`[1]`, false), ErrMalformed},
		{"number", answering(`12`, false), ErrMalformed},
		{"list that never ends", answering(`{"a":[1,1,1,1,`, false), ErrMalformed},
		{"object and more", answering(`{}{}`, false), ErrMalformed},
		{"space before the object", answering(` {}`, false), ErrMalformed},
		{"memory that was never written", at(dataAt+512, 16), ErrMalformed},
		{"flag without an error", answering(`{"ok":true}`, true), ErrMalformed},
		{"error without its flag", answering(`{"error":{"code":"BAD_JSON"}}`, false), ErrMalformed},
		{"no buffer", with(func(f *fake) { f.buffer = 0 }), ErrMalformed},
		{"buffer outside the memory", with(func(f *fake) { f.buffer = page - 8 }), ErrMalformed},
		{"buffer with a negative address", with(func(f *fake) { f.buffer = -8 }), ErrMalformed},
		{"buffer that is not aligned", with(func(f *fake) { f.buffer = bufferAt + 1 }), ErrMalformed},
		{"trap", with(func(f *fake) { f.callBody = []byte{0x00} }), ErrTrap},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			h := newHost(t, c.fake.options())
			for n := range 3 {
				answer, err := h.Call(t.Context(), 1, []byte(`{}`))
				if !errors.Is(err, c.want) {
					t.Fatalf("call %d: error %v, want %v", n, err, c.want)
				}
				if err != nil && answer.JSON != nil {
					t.Errorf("call %d: %q came with the error", n, answer.JSON)
				}
			}
			// A call that finds no spare makes its instance itself, so the number made says who was
			// dropped.
			s := h.Stats()
			if dropped := s.Traps + s.Malformed; c.want != nil && dropped != 3 || c.want == nil && (dropped != 0 || s.Made != 2) {
				t.Errorf("dropped wrongly: %+v", s)
			}
		})
	}
}

func TestGrownBufferIsFreed(t *testing.T) {
	f := honest()
	f.free = -10
	h := newHost(t, f.options())
	if _, err := h.Call(t.Context(), 1, []byte(`{}`)); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Call(t.Context(), 1, []byte(strings.Repeat(" ", minBufferBytes)+`{}`)); !errors.Is(err, ErrMalformed) {
		t.Errorf("pf_free that does not know a live buffer: %v", err)
	}
}

func TestInternalReplacesTheInstance(t *testing.T) {
	h := newHost(t, answering(`{"error":{"code":"INTERNAL","num":9,"message":"m"}}`, true).options())
	seen := map[uint64]bool{}
	for range 5 {
		answer, err := h.Call(t.Context(), 1, []byte(`{}`))
		if err != nil || !answer.Failed {
			t.Fatal(answer, err)
		}
		if seen[answer.Instance] {
			t.Errorf("instance %d answered again after INTERNAL", answer.Instance)
		}
		seen[answer.Instance] = true
	}
}

// TestModulesAreChecked holds what is refused before a module is called for the first time.
func TestModulesAreChecked(t *testing.T) {
	with := func(change func(*fake)) Options { f := honest(); change(&f); return f.options() }
	cases := []struct {
		name    string
		options Options
		want    error // nil: accepted
	}{
		{"same version", honest().options(), nil},
		{"higher minor version", with(func(f *fake) { f.version = 1<<16 | 9 }), nil},
		{"higher major version", with(func(f *fake) { f.version = 2 << 16 }), ErrABI},
		{"major version 0", with(func(f *fake) { f.version = 9 }), ErrABI},
		{"negative version", with(func(f *fake) { f.version = -1 }), ErrABI},
		{"no pf_call", with(func(f *fake) { f.without = "pf_call" }), ErrABI},
		{"no pf_free", with(func(f *fake) { f.without = "pf_free" }), ErrABI},
		{"no memory", with(func(f *fake) { f.without = "memory" }), ErrABI},
		{"pf_call returns 32 bits", with(func(f *fake) { f.results = i32 }), ErrABI},
		{"imports a function", with(func(f *fake) { f.imports = true }), ErrABI},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			h, err := New(t.Context(), c.options)
			if !errors.Is(err, c.want) {
				t.Errorf("error %v, want %v", err, c.want)
			}
			if err == nil {
				h.Close(context.Background())
			}
		})
	}
	for name, f := range map[string]fake{
		"trap in _initialize": func() fake { f := honest(); f.start = []byte{0x00}; return f }(),
		"not a module":        {},
	} {
		t.Run(name, func(t *testing.T) {
			o := f.options()
			if name == "not a module" {
				o.Module = []byte("\x00asm")
				o.SHA256 = "5ee5ad9e5ba8ac4b8c0bbab0eb9e1a7a1c1e0b8bbd3cbbd5a1e5e66dbd7ac2e2"
			}
			if _, err := New(t.Context(), o); err == nil {
				t.Error("accepted")
			}
		})
	}
}

func TestFlippedByteIsRefused(t *testing.T) {
	for _, at := range []int{0, 1000, len(policyModule) / 2, len(policyModule) - 1} {
		module := Module()
		module[at] ^= 1
		if _, err := New(t.Context(), Options{Module: module}); !errors.Is(err, ErrDigest) {
			t.Errorf("byte %d flipped: %v, want %v", at, err, ErrDigest)
		}
	}
	if _, err := New(t.Context(), honest().options().withoutDigest()); !errors.Is(err, ErrDigest) {
		t.Errorf("another module without its digest: %v", err)
	}
}

func (o Options) withoutDigest() Options { o.SHA256 = ""; return o }
