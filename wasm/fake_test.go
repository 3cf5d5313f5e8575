package wasm

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// fake describes a module written by hand that speaks the ABI and lies. Its zero value is no use;
// start from honest.
type fake struct {
	version  int64  // pf_abi_version
	buffer   int64  // what pf_alloc returns
	free     int64  // what pf_free returns
	word     uint64 // what pf_call returns
	callBody []byte // instead of word
	compiled uint64 // what pf_compile returns
	answered int64  // what pf_eval_batch returns
	start    []byte // body of _initialize
	data     string // at dataAt
	pages    byte
	without  string // export that is left out
	imports  bool
	results  byte // type that pf_call returns, in place of i64
}

const (
	i32, i64 = 0x7F, 0x7E
	dataAt   = 1024
	bufferAt = 8192
)

// word packs a result as a guest does.
func word(start, length uint32, failed bool) uint64 {
	w := uint64(start)<<32 | uint64(length)
	if failed {
		w |= errorFlag
	}
	return w
}

func honest() fake {
	const answer = `{"ok":true}`
	return fake{version: 1 << 16, buffer: bufferAt, data: answer, word: word(dataAt, uint32(len(answer)), false), pages: 1, results: i64}
}

// answering is honest with other bytes as its answer.
func answering(text string, failed bool) fake {
	f := honest()
	f.data, f.word = text, word(dataAt, uint32(len(text)), failed)
	return f
}

// module encodes f in the binary format of WebAssembly.
func (f fake) module() []byte {
	constant := func(op byte, n int64) []byte { return append([]byte{op}, sleb(n)...) }
	call := f.callBody
	if call == nil {
		call = constant(0x42, int64(f.word))
		if f.results == i32 {
			call = constant(0x41, int64(int32(f.word)))
		}
	}
	functions := []struct {
		name string
		typ  byte
		body []byte
	}{
		{"_initialize", 0, f.start},
		{"pf_abi_version", 1, constant(0x41, f.version)},
		{"pf_alloc", 2, constant(0x41, f.buffer)},
		{"pf_free", 2, constant(0x41, f.free)},
		{"pf_call", 3, call},
		{"pf_compile", 4, constant(0x42, int64(f.compiled))},
		{"pf_release", 2, constant(0x41, 0)},
		{"pf_eval", 5, constant(0x42, int64(f.word))},
		{"pf_eval_batch", 6, constant(0x41, f.answered)},
		{"pf_reset", 1, constant(0x41, 0)},
	}
	var types, bodies, exports []string
	first := byte(0)
	if f.imports {
		first = 1
	}
	for k, fn := range functions {
		types = append(types, string(fn.typ))
		body := "\x00" + string(fn.body) + "\x0b"
		bodies = append(bodies, sized(body))
		if fn.name != f.without {
			exports = append(exports, sized(fn.name)+string([]byte{0, first + byte(k)}))
		}
	}
	if f.without != "memory" {
		exports = append(exports, sized("memory")+"\x02\x00")
	}
	file := "\x00asm\x01\x00\x00\x00" + section(1, "\x60\x00\x00", "\x60\x00\x01\x7f", "\x60\x01\x7f\x01\x7f",
		"\x60\x03\x7f\x7f\x7f\x01"+string([]byte{f.results}),
		"\x60\x02\x7f\x7f\x01\x7e", "\x60\x03\x7f\x7f\x7f\x01\x7e", "\x60\x05\x7f\x7f\x7f\x7f\x7f\x01\x7f")
	if f.imports {
		file += section(2, sized("wasi_snapshot_preview1")+sized("sched_yield")+"\x00\x01")
	}
	return []byte(file + section(3, types...) + section(5, "\x00"+string([]byte{f.pages})) + section(7, exports...) +
		section(10, bodies...) + section(11, "\x00\x41"+string(sleb(dataAt))+"\x0b"+sized(f.data)))
}

// options runs the fake with one instance in the interpreter, which starts at once.
func (f fake) options() Options {
	module := f.module()
	sum := sha256.Sum256(module)
	return Options{Interpreter: true, Instances: 1, Module: module, SHA256: hex.EncodeToString(sum[:])}
}

func section(id byte, entries ...string) string {
	return string([]byte{id}) + sized(string(uleb(len(entries)))+strings.Join(entries, ""))
}

func sized(s string) string { return string(uleb(len(s))) + s }

func uleb(n int) []byte {
	var b []byte
	for ; n >= 0x80; n >>= 7 {
		b = append(b, byte(n)|0x80)
	}
	return append(b, byte(n))
}

func sleb(n int64) []byte {
	var b []byte
	for n < -0x40 || n >= 0x40 {
		b = append(b, byte(n)|0x80)
		n >>= 7
	}
	return append(b, byte(n)&0x7F)
}
