package main

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// The registers of the compiler of Go that the passes know: see regVars in cmd/internal/obj/wasm,
// Go 1.26.
const (
	globalSP = 0 // the stack pointer
	localPC  = 0 // parameter of each Go function: the resume point to start at
	localSP  = 1 // what the function knows of globalSP; the two are equal whenever code of the function runs

	// firstPC is how far the table index of a function, the upper part of its program counter, is
	// from its number among the defined functions; pcShift is where that part begins. See
	// funcValueOffset in cmd/link/internal/wasm.
	firstPC = 0x1000
	pcShift = 16

	// frameLimit bounds the offsets from the stack pointer that are folded into an access to
	// memory.
	frameLimit = 1 << 24
)

// goType is the type of a Go function: resume point to start at -> whether the stack is to be
// unwound.
var goType = signature{i32x1, i32x1}

// compactor rewrites the code of a module into equal but smaller code.
type compactor struct {
	m           *module
	types       []signature // of all functions by index
	goFunctions []bool      // of the defined functions
	dead        []bool      // of the defined functions: it never runs, and its body is a trap
	// neverReturns and switches are for the defined functions; see reload.go, as for stacksStay.
	neverReturns, switches []bool
	stacksStay             bool  // no stack moves but to grow
	fault                  int64 // the index of faultName, 0 if there is none
	// resumes are the resume points of each defined function that a program counter outside of
	// jumps can hold.
	resumes []map[int64]bool
	// trapUnneeded makes resume points that are not needed trap. Nothing else changes, so a test
	// that passes with it has shown that they are not.
	trapUnneeded bool
}

// compact makes the code of m smaller. The memory is that of m, before anything is stripped from
// it.
func (m *module) compact(memory []byte, trapUnneeded bool) error {
	return protect(func() {
		c := &compactor{m: m, trapUnneeded: trapUnneeded}
		for _, f := range m.imports {
			c.types = append(c.types, m.types[f.typ])
		}
		for _, t := range m.functions {
			c.types = append(c.types, m.types[t])
		}
		bodies := make([]*code, len(m.bodies))
		for i, body := range m.bodies {
			bodies[i] = decode(body)
		}
		c.removeDead(bodies, memory)
		c.findResumes(bodies, memory)
		m.dead = c.dead
		c.findGoFunctions(bodies)
		c.findReturns(bodies)
		for i, body := range bodies {
			f := &function{code: body, compactor: c, number: i}
			if c.goFunctions[i] && !c.dead[i] {
				f.shorten()
				f.shortenCalls()
				f.dropReloads()
				f.takeAddress()
				f.shareAddresses()
			}
		}
		m.order(bodies)
		for i, body := range bodies {
			m.bodies[i] = body.encode()
		}
	})
}

// findGoFunctions says which functions are written by the compiler of Go: they have its type, and
// begin by reading the stack pointer. Beside them only exports and the build's identity, which
// nobody calls, may have that type: any other could be called through the table and would not know
// of return addresses.
func (c *compactor) findGoFunctions(bodies []*code) {
	exported := map[int]bool{}
	for _, e := range c.m.exports {
		exported[int(e.index)-len(c.m.imports)] = e.kind == kindFunction
	}
	for i, body := range bodies {
		f := &function{code: body, compactor: c, number: i}
		c.goFunctions = append(c.goFunctions, f.isGo() || c.dead[i])
		if f.signature() == goType && !c.goFunctions[i] && !exported[i] && !match(body.insts, const32(0), plain(opEnd)) {
			panic(fault{fmt.Errorf("code: function %d has the type of a Go function and does not begin as one", i)})
		}
	}
}

// findResumes collects the program counters in code and memory, and those the runtime computes: the
// start of a function, the point after it (where a goroutine returns to goexit), and where a
// recovered function goes on.
//
// A number that a function does not hold itself counts only within its br_table: most of these are
// no program counters.
func (c *compactor) findResumes(bodies []*code, memory []byte) {
	c.resumes = make([]map[int64]bool, len(bodies))
	points := make([]int64, len(bodies)) // entries in the br_table of a function
	for i, body := range bodies {
		c.resumes[i] = map[int64]bool{0: true, 1: true}
		if at := slices.IndexFunc(body.insts, func(i inst) bool { return i.op == opBrTable }); at >= 0 {
			points[i] = int64(len(body.insts[at].table))
		}
	}
	add := func(pc int64, holder int) {
		point := pc & (1<<pcShift - 1)
		if f := pc>>pcShift - firstPC; f >= 0 && f < int64(len(bodies)) && (int(f) == holder || point < points[f]) {
			c.resumes[f][point] = true
		}
	}
	for holder, body := range bodies {
		for _, i := range body.insts {
			if i.op == opI32Const || i.op == opI64Const {
				add(i.a, holder)
			}
		}
	}
	for at := 0; at+8 <= len(memory); at += 8 {
		add(int64(binary.LittleEndian.Uint64(memory[at:])), -1)
	}
	t := findTable(memory)
	for i := range t.functions {
		record := t.function(i) // begins with the upper part of the program counter
		f := int(binary.LittleEndian.Uint32(record)) - firstPC
		if f < 0 || f >= len(bodies) {
			panic(fault{fmt.Errorf("data: the table of functions has number %d, the module has %d", f, len(bodies))})
		}
		c.resumes[f][int64(binary.LittleEndian.Uint32(record[atDeferReturn:]))] = true // 0 if there is none
	}
}

// function is a body on its way through the passes.
type function struct {
	*code
	*compactor
	number int // among the defined functions
}

func (f *function) signature() signature { return f.signatureOf(f.number) }

// isGo reports whether the function is one that the compiler of Go wrote: it begins by reading the
// stack pointer.
func (f *function) isGo() bool {
	return f.signature() == goType && len(f.vars) > 0 && match(f.insts, getGlobal(globalSP), setLocal(localSP))
}

// shorten runs the passes that concern nothing but the function.
func (f *function) shorten() {
	f.insts = slices.DeleteFunc(f.insts, func(i inst) bool { return i.op == opNop }) // they mark where calls were inlined
	f.foldStackOffsets()
	f.mergeReturns()
	f.negateComparisons()
	f.shortenJumps()
}

// match reports whether code begins with these instructions.
func match(code []inst, pattern ...inst) bool {
	if len(code) < len(pattern) {
		return false
	}
	for k, p := range pattern {
		if i := code[k]; i.op != p.op || i.sub != p.sub || i.a != p.a || i.b != p.b || i.table != nil {
			return false
		}
	}
	return true
}

func getLocal(n int64) inst  { return inst{op: opLocalGet, a: n} }
func setLocal(n int64) inst  { return inst{op: opLocalSet, a: n} }
func teeLocal(n int64) inst  { return inst{op: opLocalTee, a: n} }
func getGlobal(n int64) inst { return inst{op: opGlobalGet, a: n} }
func setGlobal(n int64) inst { return inst{op: opGlobalSet, a: n} }
func const32(n int64) inst   { return inst{op: opI32Const, a: n} }
func const64(n int64) inst   { return inst{op: opI64Const, a: n} }
func plain(op byte) inst     { return inst{op: op} }

// foldStackOffsets moves constants that are added to the stack pointer into the offset of the
// access to memory they are for: the compiler adds 64-bit numbers and cuts the sum.
//
// The stack pointer is the address of memory that there is, so no sum reaches 2^32, where the two
// would differ.
func (f *function) foldStackOffsets() {
	out := f.insts[:0]
	in := f.insts
	for at := 0; at < len(in); at++ {
		if !(at+5 <= len(in) && match(in[at:], getLocal(localSP), plain(opI64ExtendU)) && in[at+2].op == opI64Const &&
			match(in[at+3:], plain(opI64Add), plain(opI32WrapI64)) && in[at+2].a >= 0 && in[at+2].a < frameLimit) {
			out = append(out, in[at])
			continue
		}
		offset := in[at+2].a
		out = append(out, getLocal(localSP))
		at += 4
		if user := f.user(in[at+1:]); user >= 0 && in[at+1+user].b+offset < frameLimit {
			in[at+1+user].b += offset
		} else {
			out = append(out, const32(offset), plain(opI32Add))
		}
	}
	f.insts = out
}

// user returns the index of the access to memory in code that takes the value on top of the stack
// as its address, -1 if something else takes it or it cannot be told.
func (f *function) user(code []inst) int {
	above := 0 // values above it
	for k, i := range code {
		pops, pushes, ok := f.effect(i)
		switch {
		case !ok:
			return -1
		case above >= pops:
			above += pushes - pops
		case isLoad(i) && above == 0 || isStore(i) && above == 1:
			return k
		default:
			return -1
		}
	}
	return -1
}

func isLoad(i inst) bool  { return i.op >= opI32Load && i.op <= opI64Load32U }
func isStore(i inst) bool { return i.op >= opI32Store && i.op <= opI64Store32 }

// effect returns how many values an instruction takes and leaves; ok is false for those that
// control the flow.
func (f *function) effect(i inst) (pops, pushes int, ok bool) {
	switch op := i.op; {
	case op == opCall:
		t := f.types[i.a]
		return len(t.params), len(t.results), true
	case op == opDrop, op == opLocalSet, op == opGlobalSet:
		return 1, 0, true
	case op == opSelect:
		return 3, 1, true
	case op == opLocalGet, op == opGlobalGet, op == opMemorySize, op == opI32Const, op == opI64Const, op == opF32Const, op == opF64Const:
		return 0, 1, true
	case op == opLocalTee, isLoad(i), op == opMemoryGrow, op == opI32Eqz, op == opI64Eqz,
		op >= 0x67 && op <= 0x69, op >= 0x79 && op <= 0x7B, // clz, ctz, popcnt
		op >= 0x8B && op <= 0x91, op >= 0x99 && op <= 0x9F, // unary operators on floats
		op >= opI32WrapI64 && op <= opLast, op == opBulk && i.sub <= bulkLastTrunc: // conversions
		return 1, 1, true
	case isStore(i):
		return 2, 0, true
	case op == opBulk:
		return 3, 0, true
	case op >= opI32Eq && op < opI32WrapI64: // comparisons and operators of two values
		return 2, 1, true
	}
	return 0, 0, false
}

// mergeReturns adds to the stack pointer once where the compiler gives back the frame and then the
// return address.
func (f *function) mergeReturns() {
	out := f.insts[:0]
	in := f.insts
	for at := 0; at < len(in); at++ {
		rest := in[at:]
		var size int64
		n := 0
		for len(rest) > n+5 && match(rest[n:], getLocal(localSP)) && rest[n+1].op == opI32Const &&
			match(rest[n+2:], plain(opI32Add), teeLocal(localSP), setGlobal(globalSP)) {
			size += rest[n+1].a
			n += 5
		}
		if n == 0 || len(rest) < n+2 || rest[n].op != opI32Const || rest[n+1].op != opReturn {
			out = append(out, in[at])
			continue
		}
		out = append(out, getLocal(localSP), const32(size), plain(opI32Add), setGlobal(globalSP))
		at += n - 1
	}
	f.insts = out
}

// negateComparisons replaces the comparison of integers whose result is negated by its opposite.
func (f *function) negateComparisons() {
	out := f.insts[:0]
	for _, i := range f.insts {
		if n := len(out); i.op == opI32Eqz && n > 0 && opposite[out[n-1].op] != 0 {
			out[n-1].op = opposite[out[n-1].op]
			continue
		}
		out = append(out, i)
	}
	f.insts = out
}

// opposite of comparisons: eq ne, lt ge, gt le, signed and unsigned alternating.
var opposite = func() (o [256]byte) {
	for _, eq := range []byte{opI32Eq, opI64Eq} {
		ne, lt, gt, le, ge := eq+1, eq+2, eq+4, eq+6, eq+8
		for _, pair := range [][2]byte{{eq, ne}, {lt, ge}, {lt + 1, ge + 1}, {gt, le}, {gt + 1, le + 1}} {
			o[pair[0]], o[pair[1]] = pair[1], pair[0]
		}
	}
	return o
}()
