package main

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// never lists functions of the runtime that do not run in a sealed module, by the part they belong
// to. Their bodies become a trap, and what nothing else needs goes with them. A name ends with * if
// it stands for all that begin so.
var never = []struct{ why, names string }{
	{"nobody starts an execution trace", "traceAdvance traceAcquireEnabled traceLocker.* traceReadCPU traceReader traceReaderAvailable traceThreadDestroy " +
		"traceWriter.* traceBufFlush"},
	{"there is no environment that GODEBUG could ask in", "schedtrace checkFinalizersAndCleanups printScavTrace startCheckmarks runCheckmark setCheckmark " +
		"preMallocgcDebug postMallocgcDebug parseByteCount"},
	{"no profile is taken", "__profBuf_.* findGoroutineLeaks tryRecordGoroutineProfile doRecordGoroutineProfile saveblockevent blockevent mProf_Free"},
	{"there is one thread, one processor and no way to make another", "newm newm1 allocm oneNewExtraM newextram __p_.destroy"},
	{"there is no C", "cgocall callCgoSymbolizer cgoContextPCs expandCgoFrames printOneCgoTraceback __unwinder_.cgoCallers"},
	{"there is one module, so no type comes twice", "typesEqual"},
	{"no code is stopped but at calls", "scanConservative"},
	{"these end in a fatal error, which is a trap as well", "__mspan_.reportZombies badPointer"},
	{"the experiments they are for are off or not imported", "__synctestBubble_.* __mspan_.setUserArenaChunkToFault"},
}

// silent lists functions that only print where each goroutine was, after the text of a panic. They
// return at once: names and lines are not there to be printed.
var silent = []string{"traceback1", "tracebacksomeothers", "goroutineheader", "printcreatedby", "hexdumpWords", "tracebackHexdump", "dumpgstatus"}

// still are functions that do nothing. A stack that keeps its size once it has grown is never moved
// while its functions wait for a call, so what they know of it stays true; see reload.go. It holds
// the deepest call there was, a few KiB.
var still = []string{"shrinkstack"}

// checkedVersion is the release of Go that the lists were checked against.
const checkedVersion = "go1.26."

// readNames returns the names of functions in the custom section that the linker writes, by index.
// The prefix of the runtime's own is not cut.
func readNames(section []byte) map[uint32]string {
	names := map[uint32]string{}
	s := &reader{what: "names", data: section}
	for s.more() {
		kind := s.byte()
		part := &reader{what: "names", data: s.bytes(s.u32())}
		if kind != 1 { // of functions
			continue
		}
		for range part.count() {
			index := part.u32()
			names[index] = part.name()
		}
		part.end()
	}
	return names
}

// removeDead replaces the bodies of functions that never run, and finds those that other passes
// ask for by name. It needs the names: a module linked without is left as it is.
func (c *compactor) removeDead(bodies []*code, memory []byte) {
	c.dead = make([]bool, len(bodies))
	section, ok := c.m.custom["name"]
	if !ok {
		return
	}
	if !strings.Contains(string(c.m.custom["producers"]), checkedVersion) {
		panic(fault{fmt.Errorf("code: linked by another release of Go than %sx, which the lists of functions that never run were made for", checkedVersion)})
	}
	trap, mute := map[string]bool{}, map[string]bool{}
	var prefixes []string
	for _, part := range never {
		for _, name := range strings.Fields(part.names) {
			if prefix, ok := strings.CutSuffix(name, "*"); ok {
				prefixes = append(prefixes, systemPrefix+prefix)
			} else {
				trap[systemPrefix+name] = true
			}
		}
	}
	for _, name := range slices.Concat(silent, still) {
		mute[systemPrefix+name] = true
	}
	c.stacksStay = true
	for index, name := range readNames(section) {
		if name == faultName {
			c.fault = int64(index)
		}
		i := int(index) - len(c.m.imports)
		if i < 0 || i >= len(bodies) || c.signatureOf(i) != goType {
			continue
		}
		for _, prefix := range prefixes {
			trap[name] = trap[name] || strings.HasPrefix(name, prefix)
		}
		switch {
		case trap[name]:
			c.dead[i] = true
		case mute[name]:
			bodies[i].insts = []inst{getGlobal(globalSP), setLocal(localSP),
				getLocal(localSP), const32(8), plain(opI32Add), teeLocal(localSP), setGlobal(globalSP), const32(0), plain(opReturn), plain(opEnd)}
		}
	}
	alive := c.reach(bodies, memory)
	for i := range bodies {
		c.dead[i] = c.dead[i] || !alive[i]
		if c.dead[i] {
			*bodies[i] = code{insts: []inst{plain(opUnreachable), plain(opEnd)}, labels: 1}
		}
	}
}

func (c *compactor) signatureOf(number int) signature { return c.types[len(c.m.imports)+number] }

// reach says which functions something leads to: an export, a call, or a program counter that code
// or data holds.
//
// A word of the read-only data that holds the program counter of a function is a function value. If
// the code names its address and no data does, the function is needed only where that code is; in
// all other cases it is needed at once.
func (c *compactor) reach(bodies []*code, memory []byte) (alive []bool) {
	t := findTable(memory)
	record, ok := t.moduleData()
	if !ok {
		panic(fault{fmt.Errorf("data: no record of the module")})
	}
	function := func(pc int) (int, bool) {
		f := pc>>pcShift - firstPC
		return f, f >= 0 && f < len(bodies)
	}
	var todo []int
	alive = make([]bool, len(bodies))
	visit := func(f int) {
		if !alive[f] {
			alive[f] = true
			todo = append(todo, f)
		}
	}

	named := map[int]bool{} // numbers in the code
	for _, body := range bodies {
		for _, i := range body.insts {
			if i.op == opI32Const || i.op == opI64Const {
				named[int(i.a)] = true
			}
		}
	}
	inData := map[int]bool{} // numbers in the data
	for at := 0; at+8 <= len(memory); at += 8 {
		inData[t.word(at)] = true
	}
	values := map[int]int{} // address of a function value -> the function
	types, typesEnd := t.word(record+atTypes), t.word(record+atTypesEnd)
	tables := t.itabs(record)
	for at := 0; at+8 <= len(memory); at += 8 {
		f, ok := function(t.word(at))
		switch {
		case !ok:
		case at >= types && at < typesEnd && !tables(at) && named[at] && !inData[at]:
			values[at] = f
		default:
			visit(f)
		}
	}
	// A method has two entry points one after the other, in 32 bits without the resume point.
	for at := types; at+8 <= typesEnd; at += 4 {
		first, ok1 := function(int(binary.LittleEndian.Uint32(memory[at:])) << pcShift)
		second, ok2 := function(int(binary.LittleEndian.Uint32(memory[at+4:])) << pcShift)
		if ok1 && ok2 {
			visit(first)
			visit(second)
		}
	}
	for _, e := range c.m.exports {
		if e.kind == kindFunction {
			visit(int(e.index) - len(c.m.imports))
		}
	}
	for len(todo) > 0 {
		from := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if c.dead[from] {
			continue
		}
		for _, i := range bodies[from].insts {
			switch i.op {
			case opCall:
				if f := int(i.a) - len(c.m.imports); f >= 0 {
					visit(f)
				}
			case opI32Const, opI64Const:
				if f, ok := function(int(i.a)); ok {
					visit(f)
				}
				if f, ok := values[int(i.a)]; ok {
					visit(f)
				}
			}
		}
	}
	return alive
}

// itabs returns a function that reports whether an address lies in a table of the methods of an
// interface, which is used by its start.
func (t *funcTable) itabs(record int) func(at int) bool {
	const methodsAt, longest = 24, 64 // bytes before the methods, methods of the largest interface there may be
	list, n := t.word(record+atItabs), t.word(record+atItabs+8)
	inside := map[int]bool{}
	for i := range n {
		at := int(binary.LittleEndian.Uint64(t.within(t.memory, list+8*i, 8)))
		for k := range longest {
			inside[at+methodsAt+8*k] = true
		}
	}
	return func(at int) bool { return inside[at] }
}
