package main

// A Go function is called like this:
//
//	SP -= 8, memory[SP] = return address, call f(0)
//
// After shortenCalls it is
//
//	call f(return address)
//
// and f begins by doing the rest. The parameter was the resume point, below 1<<pcShift, and return
// addresses are above, so the dispatch tells the two apart by its default. Whoever calls as before
// is still understood: the assembly of the runtime, and the loop that resumes goroutines.

// isReturnAddress reports whether pc is a program counter of the module, as return addresses are
// and resume points are not.
func isReturnAddress(pc int64) bool { return pc>>pcShift >= firstPC && pc < 1<<31 }

// pushed matches the sequence that pushes a return address and returns it; n is 0 if the code is
// something else.
func pushed(code []inst) (address int64, n int) {
	if len(code) > 8 && match(code, getLocal(localSP), const32(8), plain(opI32Sub), teeLocal(localSP), setGlobal(globalSP), getLocal(localSP)) &&
		code[6].op == opI64Const && isReturnAddress(code[6].a) && match(code[7:], inst{op: opI64Store, a: 3}) {
		return code[6].a, 8
	}
	return 0, 0
}

// indirect is the middle of a call through the table, whose address is on the stack.
var indirect = []inst{const64(pcShift), plain(opI64ShrU), plain(opI32WrapI64), setLocal(localPC), const32(0), getLocal(localPC)}

// shortenCalls passes the return address as parameter.
func (f *function) shortenCalls() {
	out := f.insts[:0]
	in := f.insts
	for at := 0; at < len(in); at++ {
		address, n := pushed(in[at:])
		rest := in[at+n:]
		switch {
		case n > 0 && len(rest) > 1 && match(rest, const32(0)) && rest[1].op == opCall && f.takesAddress(rest[1].a):
			out = append(out, const32(address), rest[1])
			at += n + 1
		case n > 0 && len(rest) > len(indirect) && match(rest, indirect...) && rest[len(indirect)].op == opCallIndirect:
			out = append(out, indirect...)
			out[len(out)-2] = const32(address)
			out = append(out, rest[len(indirect)])
			at += n + len(indirect)
		default:
			out = append(out, in[at])
		}
	}
	f.insts = out
}

// takesAddress reports whether the function with this index gets the code of takeAddress.
func (c *compactor) takesAddress(index int64) bool {
	n := int(index) - len(c.m.imports)
	return n >= 0 && c.goFunctions[n]
}

// takeAddress puts in front of the function what it does with a return address.
func (f *function) takeAddress() {
	push := []inst{
		getLocal(localSP), const32(8), plain(opI32Sub), teeLocal(localSP),
		getLocal(localPC), plain(opI64ExtendU), {op: opI64Store, a: 3},
		getLocal(localSP), setGlobal(globalSP),
	}
	d, ok := f.dispatch()
	if !ok {
		label := f.newLabel()
		test := []inst{getLocal(localPC), const32(pcShift), plain(opI32ShrU), {op: opIf, a: noResult, b: label}}
		push = append(push, const32(0), setLocal(localPC), inst{op: opEnd, b: label})
		f.insts = concat(f.insts[:2], test, push, f.insts[2:])
		return
	}
	called := f.newLabel()
	last := int64(0) // of the resume points that need an entry of their own
	for pc := range f.resumes[f.number] {
		last = max(last, pc)
	}
	for at := d.start; at < len(f.insts)-1; at++ {
		if f.insts[at].op == opI32Const && match(f.insts[at+1:], setLocal(localPC)) {
			last = max(last, f.insts[at].a)
		}
	}
	var table []int64
	for pc := range last + 1 {
		table = append(table, d.blocks[d.target(pc)])
	}
	if f.trapUnneeded { // block 0 ends where the trap is
		push = append(push, inst{op: opBr, a: d.blocks[1]})
	}
	branch := inst{op: opBrTable, table: append(table, called)}
	f.insts = concat(f.insts[:d.start-3], []inst{{op: opBlock, a: noResult, b: called}, getLocal(localPC), branch, {op: opEnd, b: called}},
		push, f.insts[d.start-1:])
}

func concat(parts ...[]inst) []inst {
	var all []inst
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}
