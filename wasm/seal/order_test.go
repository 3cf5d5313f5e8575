package main

import (
	"bytes"
	"slices"
	"testing"
)

func TestOrder(t *testing.T) {
	call := func(f int64) inst { return inst{op: opCall, a: f} }
	bodies := []*code{goFunction(call(3), call(3), call(1)), goFunction(), goFunction(call(3), call(2)), goFunction()}
	m := &module{imports: make([]importedFunction, 1),
		elements: join([]byte{1, 0}, i32Const(firstPC), []byte{opEnd, 4, 1, 2, 3, 4})}
	m.order(bodies)
	// 3 is called three times, 1 and 2 once, 0 and 4 never.
	if want := []uint32{3, 1, 2, 0, 4}; !slices.Equal(m.place, want) {
		t.Errorf("places %v, want %v", m.place, want)
	}
	if want := goFunction(call(0), call(0), call(1)).encode(); !bytes.Equal(bodies[0].encode(), want) {
		t.Errorf("calls of the first function: %v", bodies[0].insts)
	}
	if want := join([]byte{1, 0}, i32Const(firstPC), []byte{opEnd, 4, 1, 2, 0, 4}); !bytes.Equal(m.placeElements(), want) {
		t.Errorf("elements %v, want %v", m.placeElements(), want)
	}
}

// TestOrderKeepsMost gives places to more functions than have an index of one byte.
func TestOrderKeepsMost(t *testing.T) {
	const n = 500
	var bodies []*code
	for f := range int64(n) {
		bodies = append(bodies, goFunction(inst{op: opCall, a: n - 1 - f}))
	}
	bodies[0] = goFunction(inst{op: opCall, a: 400}, inst{op: opCall, a: 400}, inst{op: opCall, a: 300})
	m := &module{}
	m.order(bodies)
	if m.place[400] != 0 || m.place[300] != 1 || m.place[n-1] != n-1 || m.place[n-2] != n-2 {
		t.Errorf("places of 400, 300, %d, %d: %d, %d, %d, %d", n-1, n-2, m.place[400], m.place[300], m.place[n-1], m.place[n-2])
	}
	for f := 200; f < 300; f++ {
		if m.place[f] != uint32(f+2) {
			t.Errorf("function %d is at %d", f, m.place[f])
		}
	}
}
