package main

// A function reads the stack pointer again after each call, since the stack may have moved, and
// asks whether it is to be left. Both are needed after few calls:
//
//   - A function that returns only to unwind, such as a panic or the growing of the stack, needs
//     neither: what it returns is what its caller returns.
//   - The stack of a goroutine moves for two reasons. To grow, it leaves all of its functions, which
//     does not return. The collector would make it smaller where systemstack has called it;
//     removeDead takes that away. What remains are the few functions of the runtime that switch to
//     another stack themselves.

// findReturns fills neverReturns and switches. It looks at the code as the compiler wrote it.
func (c *compactor) findReturns(bodies []*code) {
	c.neverReturns, c.switches = make([]bool, len(bodies)), make([]bool, len(bodies))
	for i, body := range bodies {
		c.neverReturns[i], c.switches[i] = c.signatureOf(i) == goType, switchesStack(body)
	}
	for changed := true; changed; { // the largest set: two functions that only call each other do not return either
		changed = false
		for i, body := range bodies {
			if c.neverReturns[i] && c.canReturn(body) {
				c.neverReturns[i], changed = false, true
			}
		}
	}
}

// defined returns the number of a function among the defined ones; ok is false for an import, which
// knows nothing of the stack.
func (c *compactor) defined(index int64) (number int, ok bool) {
	number = int(index) - len(c.m.imports)
	return number, number >= 0
}

// canReturn reports whether the body of a function may return other than to unwind: 1, or what a
// function returned that does not.
func (c *compactor) canReturn(body *code) bool {
	unwinds := func(last []inst) bool {
		if len(last) == 0 {
			return false
		}
		switch i := last[len(last)-1]; i.op {
		case opUnreachable, opReturn: // the latter has been looked at
			return true
		case opI32Const:
			return i.a == 1
		case opCall:
			n, ok := c.defined(i.a)
			return ok && c.neverReturns[n]
		case opLocalSet: // the stack pointer is read after a call here, too
			return len(last) > 2 && match(last[len(last)-2:], getGlobal(globalSP), setLocal(localSP)) && last[len(last)-3].op == opCall &&
				c.unwindsAfter(last[len(last)-3])
		}
		return false
	}
	for at, i := range body.insts {
		switch i.op {
		case opReturn:
			if !unwinds(body.insts[:at]) {
				return true
			}
		case opBr, opBrIf:
			if i.a == 0 {
				return true
			}
		case opBrTable:
			for _, label := range i.table {
				if label == 0 {
					return true
				}
			}
		}
	}
	return !unwinds(body.insts[:len(body.insts)-1])
}

func (c *compactor) unwindsAfter(call inst) bool {
	n, ok := c.defined(call.a)
	return ok && c.neverReturns[n]
}

// switchesStack reports whether the code sets the stack pointer other than by adding to it.
func switchesStack(body *code) bool {
	for at := range body.insts {
		if match(body.insts[at:], setGlobal(globalSP)) && !(at > 3 && match(body.insts[at-4:], getLocal(localSP)) && body.insts[at-3].op == opI32Const &&
			(body.insts[at-2].op == opI32Add || body.insts[at-2].op == opI32Sub) && match(body.insts[at-1:], teeLocal(localSP))) {
			return true
		}
	}
	return false
}

// dropReloads removes what follows a call without need. It runs after shortenCalls: the local stack
// pointer is then the same before and after a call.
func (f *function) dropReloads() {
	reload := []inst{getGlobal(globalSP), setLocal(localSP)}
	out := f.insts[:0]
	in := f.insts
	for at := 0; at < len(in); at++ {
		out = append(out, in[at])
		if in[at].op != opCall || !match(in[at+1:], reload...) {
			continue
		}
		n, defined := f.defined(in[at].a)
		rest := in[at+3:]
		switch {
		case len(rest) > 0 && rest[0].op == opReturn: // it is not read again
			at += 2
		case !f.keepsLocal(in[:at+1]):
		case defined && f.neverReturns[n] && len(rest) > 0 && rest[0].op == opBrIf && f.leads(rest[0].a):
			out = append(out, plain(opReturn))
			at += 3
		case !defined || f.stacksStay && !f.switches[f.number]:
			at += 2
		}
	}
	f.insts = out
	f.dropUnreachable()
	f.dropUnusedBlocks()
}

// keepsLocal reports whether the call at the end of code leaves the local stack pointer as it was:
// it does not push a return address itself.
func (f *function) keepsLocal(code []inst) bool {
	call := code[len(code)-1]
	return f.types[call.a] != goType || len(code) > 1 && code[len(code)-2].op == opI32Const && isReturnAddress(code[len(code)-2].a)
}

// leads reports whether a branch to label makes the function return 1: there is nothing except that
// after the block.
func (f *function) leads(label int64) bool {
	n := len(f.insts)
	return n > 3 && match(f.insts[n-3:], inst{op: opEnd, b: label}, const32(1), plain(opEnd))
}

// dropUnusedBlocks removes blocks and loops without a result that no branch leads to.
func (f *function) dropUnusedBlocks() {
	used := map[int64]bool{}
	for _, i := range f.insts {
		switch i.op {
		case opBr, opBrIf:
			used[i.a] = true
		case opBrTable:
			for _, label := range i.table {
				used[label] = true
			}
		}
	}
	unused := map[int64]bool{}
	out := f.insts[:0]
	for _, i := range f.insts {
		if (i.op == opBlock || i.op == opLoop) && i.a == noResult && !used[i.b] {
			unused[i.b] = true
			continue
		}
		if i.op == opEnd && unused[i.b] {
			continue
		}
		out = append(out, i)
	}
	f.insts = out
	f.dropUnreachable()
}
