package main

import (
	"fmt"
	"slices"
	"testing"
)

// TestShareAddresses holds that a function with several return addresses keeps only one whole
// number, and that addresses of others and other numbers stay as they are.
func TestShareAddresses(t *testing.T) {
	pcOf := func(function, pc int64) inst { return const32((firstPC+function)<<pcShift + pc) }
	insts := list(getLocal(localSP), const64(3), setLocal(2), getLocal(2), store64(0))
	for _, address := range []inst{pcOf(4, 1), pcOf(4, 65535), pcOf(4, 0), pcOf(5, 1), const32(7)} {
		insts = append(insts, getLocal(localSP), address, plain(opI64ExtendU), getLocal(2), plain(opI64Add), store64(8))
	}
	before := goFunction(append(insts, const32(0))...)
	share := func(number int) *code {
		f := &function{code: decode(before.encode()), compactor: &compactor{m: &module{}}, number: number}
		f.shareAddresses()
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

// TestShareAddressesOfFaults holds that calls for nil return to the point behind the first, and
// others where they did.
func TestShareAddressesOfFaults(t *testing.T) {
	const fault, other = 1, 2
	pcOf := func(pc int64) inst { return const32(firstPC<<pcShift + pc) }
	var insts []inst
	for _, c := range []struct{ to, point int64 }{{other, 3}, {fault, 5}, {other, 8}, {fault, 9}} {
		insts = append(insts, pcOf(c.point), inst{op: opCall, a: c.to}, plain(opDrop))
	}
	f := &function{code: goFunction(append(insts, const32(0))...), compactor: &compactor{m: &module{}, fault: fault}}
	f.shareAddresses()
	var points []int64
	for at, i := range f.insts {
		if i.op == opI32Or {
			points = append(points, f.insts[at-1].a)
		}
	}
	if want := []int64{3, 5, 8, 5}; !slices.Equal(points, want) {
		t.Errorf("points %d, want %d", points, want)
	}
}
