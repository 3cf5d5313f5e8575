package main

import (
	"cmp"
	"slices"
)

// shortIndices is how many functions have an index of one byte.
const shortIndices = 128

// order gives the functions that are called from most places the indices that take one byte, and
// changes the calls. The others keep their order, since a list that counts up compresses well.
// Indices are nobody's business but that of calls, exports and the table; a program counter is a
// place in the table.
func (m *module) order(bodies []*code) {
	calls := make([]int, len(m.imports)+len(bodies))
	for _, body := range bodies {
		for _, i := range body.insts {
			if i.op == opCall {
				calls[i.a]++
			}
		}
	}
	by := make([]int, len(calls)) // the function at each place
	for i := range by {
		by[i] = i
	}
	slices.SortStableFunc(by, func(a, b int) int { return cmp.Compare(calls[b], calls[a]) })
	first := min(shortIndices, len(by))
	for first > 0 && calls[by[first-1]] == 0 {
		first--
	}
	slices.Sort(by[first:])
	m.place = make([]uint32, len(by))
	for at, f := range by {
		m.place[f] = uint32(at)
	}
	for _, body := range bodies {
		for k, i := range body.insts {
			if i.op == opCall {
				body.insts[k].a = int64(m.place[i.a])
			}
		}
	}
}

// placeElements returns the contents of the section of elements with the functions where order put
// them.
func (m *module) placeElements() []byte {
	r := &reader{what: "elements", data: m.elements} // read before, so it cannot fail
	b := uleb(uint64(r.count()))
	for r.more() {
		start := r.pos
		r.byte()
		r.byte()
		r.s64(32)
		r.byte()
		b = append(b, r.data[start:r.pos]...)
		n := r.count()
		b = append(b, uleb(uint64(n))...)
		for range n {
			b = append(b, uleb(uint64(m.place[r.u32()]))...)
		}
	}
	return b
}
