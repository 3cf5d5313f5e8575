package main

import (
	"fmt"
	"slices"
	"testing"
)

// TestNarrowKeepsTheMeaning runs pairs of instructions and what takes their place.
func TestNarrowKeepsTheMeaning(t *testing.T) {
	get, wrap, extend := getLocal(localSP), plain(opI32WrapI64), plain(opI64ExtendU)
	load := func(op byte, align int64) inst { return inst{op: op, a: align, b: 16} }
	store := store64(0)
	for _, c := range []struct {
		name    string
		insts   []inst
		smaller int // in instructions
	}{
		{"cut number", list(get, get, load(opI64Load, 3), wrap, extend, store), 1},
		{"cut byte", list(get, get, load(opI64Load8U, 0), wrap, extend, store), 1},
		{"cut half", list(get, get, load(opI64Load16U, 1), wrap, extend, store), 1},
		{"cut word", list(get, get, load(opI64Load32U, 2), wrap, extend, store), 1},
		{"cut byte with a sign", list(get, get, load(0x30, 0), wrap, extend, store), 0},
		{"cut constant", list(get, const64(1<<33+5), wrap, extend, store), 1},
		{"cut constant that becomes negative", list(get, const64(1<<32-1), wrap, extend, store), 1},
		{"masked byte", list(get, get, load(opI64Load8U, 0), const64(255), plain(opI64And), store), 2},
		{"masked word", list(get, get, load(opI64Load32U, 2), const64(1<<32-1), plain(opI64And), store), 2},
		{"masked number", list(get, get, load(opI64Load, 3), const64(1<<32-1), plain(opI64And), store), 0},
		{"part of a byte", list(get, get, load(opI64Load8U, 0), const64(127), plain(opI64And), store), 0},
		{"nothing of a byte", list(get, get, load(opI64Load8U, 0), const64(0), plain(opI64And), store), 0},
		{"set and read", list(get, get, load(opI64Load, 3), setLocal(2), getLocal(2), store, get, getLocal(2), store64(8)), 1},
		{"set, another read", list(get, get, load(opI64Load, 3), setLocal(2), getLocal(3), store), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := goFunction(list(const32(0), plain(opDrop), c.insts, const32(0))...)
			f := &function{code: decode(before.encode()), compactor: &compactor{m: &module{}}}
			// f.narrow()
			if got := len(before.insts) - len(f.insts); got != c.smaller {
				t.Errorf("%d instructions less, want %d", got, c.smaller)
			}
			for _, word := range []uint64{0, 1, 255, 1 << 31, 1 << 63, 1<<64 - 1} {
				if want, got := runCode(t, 0, word, before), runCode(t, 0, word, f.code); want != got {
					t.Errorf("with %d:\ngot  %s\nwant %s", word, got, want)
				}
			}
		})
	}
}

// TestShareAddresses holds that a function with several return addresses keeps only one whole
// number, and that addresses of others and other numbers stay as they are.
func TestShareAddresses(t *testing.T) {
	pcOf := func(function, pc int64) inst { return const32((firstPC+function)<<pcShift + pc) }
	insts := list(getLocal(localSP), const64(3), setLocal(2), getLocal(2), store64(0))
	for _, address := range []inst{pcOf(4, 1), pcOf(4, 65535), pcOf(5, 1), const32(7)} {
		insts = append(insts, getLocal(localSP), address, plain(opI64ExtendU), getLocal(2), plain(opI64Add), store64(8))
	}
	before := goFunction(append(insts, const32(0))...)
	share := func(number int) *code {
		f := &function{code: decode(before.encode()), compactor: &compactor{m: &module{}}, number: number}
		// f.shareAddresses()
		return f.code
	}
	after := share(4)
	long := 0
	for _, i := range after.insts {
		if i.op == opI32Const && isReturnAddress(i.a) {
			long++
		}
	}
	if long != 2 || after.vars[0].n != 2 || !match(after.insts, pcOf(4, 0), setLocal(localBase)) {
		t.Errorf("%d whole addresses, want 2: %v %v", long, after.vars, after.insts)
	}
	if want, got := runCode(t, 0, 9, before), runCode(t, 0, 9, after); want != got {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if same := share(5); !slices.EqualFunc(same.insts, before.insts, func(a, b inst) bool { return fmt.Sprint(a) == fmt.Sprint(b) }) {
		t.Errorf("one address was shared: %v", same.insts)
	}
}
