package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"github.com/tetratelabs/wazero"
)

// A goFunction is written as the compiler of Go does: it begins with reading the stack pointer.
func goFunction(insts ...inst) *code {
	c := &code{vars: []locals{{1, typeI32}, {2, typeI64}}, labels: 100}
	c.insts = append([]inst{getGlobal(globalSP), setLocal(localSP)}, insts...)
	c.insts = append(c.insts, inst{op: opEnd})
	return c
}

func load64(offset int64) inst  { return inst{op: opI64Load, a: 3, b: offset} }
func store64(offset int64) inst { return inst{op: opI64Store, a: 3, b: offset} }

// stackAddress is how the compiler computes the address of what lies at an offset from the stack
// pointer.
func stackAddress(offset int64) []inst {
	return []inst{getLocal(localSP), plain(opI64ExtendU), const64(offset), plain(opI64Add), plain(opI32WrapI64)}
}

// giveBack adds to the stack pointer.
func giveBack(n int64) []inst {
	return []inst{getLocal(localSP), const32(n), plain(opI32Add), teeLocal(localSP), setGlobal(globalSP)}
}

func list(parts ...any) (all []inst) {
	for _, p := range parts {
		switch p := p.(type) {
		case inst:
			all = append(all, p)
		case []inst:
			all = append(all, p...)
		}
	}
	return all
}

// jumping is a function of four regions. Each adds a digit to a trail in memory; 0 jumps forward to
// 2 if memory says so, 2 jumps back to 1 until the trail is long, 1 is resumed at but never jumped
// over, 3 returns.
func jumping() *code {
	const unwind, entry, b3, b2, b1, b0, if1, if2 = 1, 2, 3, 4, 5, 6, 7, 8
	block := func(label int64) inst { return inst{op: opBlock, a: noResult, b: label} }
	end := func(label int64) inst { return inst{op: opEnd, b: label} }
	trail := func(digit int64) []inst {
		return list(stackAddress(8), getLocal(localSP), load64(8), const64(10), plain(0x7E), const64(digit), plain(opI64Add), store64(0))
	}
	jump := func(pc int64) []inst { return list(const32(pc), setLocal(localPC), inst{op: opBr, a: entry}) }
	return goFunction(list(
		block(unwind), inst{op: opLoop, a: noResult, b: entry}, block(b3), block(b2), block(b1), block(b0),
		getLocal(localPC), inst{op: opBrTable, table: []int64{b0, b0, b1, b2, b2, b3, b3}}, end(b0),
		trail(1), getLocal(localSP), load64(0), plain(opI64Eqz), plain(opI32Eqz), inst{op: opIf, a: noResult, b: if1}, jump(3), end(if1), end(b1),
		trail(2), getLocal(localSP), load64(0), const64(7), plain(opI64Eq), inst{op: opBrIf, a: unwind}, end(b2),
		trail(3), getLocal(localSP), load64(8), const64(100_000), plain(opI64Eq+2), inst{op: opIf, a: noResult, b: if2}, jump(2), end(if2), jump(5), end(b3),
		trail(4), giveBack(16), giveBack(8), const32(0), plain(opReturn),
		end(entry), plain(opUnreachable), end(unwind), const32(1))...)
}

// TestCompactKeepsTheMeaning runs small functions from each of their resume points, as written and
// compacted.
func TestCompactKeepsTheMeaning(t *testing.T) {
	get := getLocal(localSP)
	if0 := inst{op: opIf, a: typeI32, b: 1}
	type small struct {
		name    string
		code    *code
		resumes []int64 // beside 0 and 1
		smaller int     // in instructions, at least
	}
	cases := []small{
		{"jumps", jumping(), []int64{2, 3, 4, 5, 6}, 6},
		{"jumps, not resumed", jumping(), nil, 8},
		{"address of a load", goFunction(list(get, stackAddress(8), load64(16), store64(0), const32(0))...), nil, 4},
		{"address of a store", goFunction(list(stackAddress(8), get, load64(0), const64(3), plain(opI64Add), store64(16), const32(0))...), nil, 4},
		{"address within an address", goFunction(list(stackAddress(8), stackAddress(16), load64(0), store64(0), const32(0))...), nil, 8},
		{"address that is compared", goFunction(list(stackAddress(8), stackAddress(16), plain(opI32LtU))...), nil, 4},
		{"address that is stored", goFunction(list(get, stackAddress(8), inst{op: opI32Store, a: 2}, const32(0))...), nil, 2},
		{"address below a block", goFunction(list(stackAddress(8), const32(0), if0, const32(8), inst{op: opElse, b: 1}, const32(5), inst{op: opEnd, b: 1},
			inst{op: opI32Store, a: 2}, const32(0))...), nil, 2},
		{"address of a copy", goFunction(list(stackAddress(64), stackAddress(0), const32(40), inst{op: opBulk, sub: bulkCopy}, const32(0))...), nil, 4},
		{"address that is negative", goFunction(list(stackAddress(-8), load64(8), plain(opI32WrapI64))...), nil, 0},
		{"address far away", goFunction(list(stackAddress(frameLimit), load64(0), plain(opI32WrapI64))...), nil, 0},
		{"address kept as a number", goFunction(list(stackAddress(8)[:4], setLocal(2), getLocal(2), plain(opI32WrapI64))...), nil, 0},
		{"a return", goFunction(list(giveBack(32), giveBack(8), const32(1), plain(opReturn))...), nil, 6},
		{"a return without a frame", goFunction(list(giveBack(8), const32(0), plain(opReturn))...), nil, 1},
		{"marks of inlined calls", goFunction(plain(opNop), const32(3), plain(opNop)), nil, 2},
		{"a tail call", goFunction(list(giveBack(8), get)...), nil, 0},
		{"code after a return", goFunction(list(
			inst{op: opBlock, a: noResult, b: 1}, inst{op: opBlock, a: noResult, b: 2}, getLocal(localPC), inst{op: opBrTable, table: []int64{2, 1}}, inst{op: opEnd, b: 2},
			const32(5), plain(opReturn), inst{op: opBlock, a: noResult, b: 3}, const32(6), plain(opDrop), inst{op: opEnd, b: 3}, inst{op: opEnd, b: 1},
			const32(7))...), nil, 4},
	}
	for op := byte(opI64Eq); op <= opI64GeU; op++ {
		cases = append(cases, small{fmt.Sprintf("comparison %x", op), goFunction(get, load64(0), get, load64(16), plain(op), plain(opI32Eqz)), nil, 1})
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			resumes := map[int64]bool{0: true, 1: true}
			for _, pc := range c.resumes {
				resumes[pc] = true
			}
			before := decode(c.code.encode()) // also gives the labels out again
			after := decode(c.code.encode())
			f := &function{code: after, compactor: &compactor{m: &module{}, types: []signature{goType}, resumes: []map[int64]bool{resumes}}}
			f.shorten()
			if got := len(before.insts) - len(after.insts); got < c.smaller {
				t.Errorf("%d instructions less, want %d:\n%v\n%v", got, c.smaller, before.insts, after.insts)
			}
			for pc := range resumes {
				for _, word := range []uint64{0, 1, 7, 1 << 63, 1<<64 - 1} {
					want, got := runCode(t, pc, word, before), runCode(t, pc, word, after)
					if want != got {
						t.Errorf("from %d with %d:\ngot  %s\nwant %s", pc, word, got, want)
					}
				}
			}
		})
	}
}

// runCode runs the first of some functions from a resume point, with a stack of several kinds of
// words, and describes everything that it leaves. All are in the table.
func runCode(t *testing.T, pc int64, word uint64, functions ...*code) string {
	t.Helper()
	const sp = 4096
	stack := []byte{}
	for i := range 16 {
		w := word
		if i%2 == 1 {
			w = 0
		}
		if i%3 == 2 {
			w = 1 << 62
		}
		stack = binary.LittleEndian.AppendUint64(stack, w)
	}
	n := byte(len(functions))
	types, elements, bodies := []byte{n}, join([]byte{1, 0}, i32Const(firstPC), []byte{opEnd, n}), []byte{n}
	for i, c := range functions {
		types, elements, bodies = append(types, 0), append(elements, byte(i)), append(bodies, c.encode()...)
	}
	file := join(header,
		section(sectionType, encodeTypes([]signature{goType})),
		section(sectionFunction, types),
		section(sectionTable, []byte{1, 0x70, 0}, uleb(firstPC+uint64(n))),
		section(sectionMemory, []byte{1, 0, 1}),
		section(sectionGlobal, []byte{1, typeI32, 1}, i32Const(sp), []byte{opEnd}),
		section(sectionExport, encodeExports([]export{{"f", kindFunction, 0}, {"memory", kindMemory, 0}, {"sp", kindGlobal, 0}})),
		section(sectionElement, elements),
		section(sectionCode, bodies),
		section(sectionData, []byte{1, 0}, i32Const(sp), []byte{opEnd}, vector(string(stack))))
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	defer r.Close(ctx)
	m, err := r.Instantiate(ctx, file)
	if err != nil {
		t.Fatal(err)
	}
	result, err := m.ExportedFunction("f").Call(ctx, uint64(pc))
	memory, _ := m.Memory().Read(0, pageBytes)
	nonzero := fmt.Sprintf("%x", bytes.TrimRight(memory[sp:], "\x00"))
	trap := ""
	if err != nil {
		trap = "trap"
	}
	return fmt.Sprintf("%v %s sp %d stack %s", result, trap, m.ExportedGlobal("sp").Get(), nonzero)
}

// TestCallsKeepTheMeaning lets functions call each other in each way that the compiler and the
// assembly of the runtime know.
func TestCallsKeepTheMeaning(t *testing.T) {
	push := func(pc int64) []inst {
		return []inst{getLocal(localSP), const32(8), plain(opI32Sub), teeLocal(localSP), setGlobal(globalSP),
			getLocal(localSP), const64(pc), store64(0)}
	}
	pcOf := func(function, pc int64) int64 { return (firstPC+function)<<pcShift + pc }
	call := func(function int64) []inst { return []inst{const32(0), {op: opCall, a: function}} }
	through := list(indirect, inst{op: opCallIndirect})
	reload := list(getGlobal(globalSP), setLocal(localSP))
	// leaf adds what it finds as return address to memory, and returns 0.
	leaf := goFunction(list(getLocal(localSP), getLocal(localSP), load64(0), getLocal(localSP), load64(48), plain(opI64Add), store64(48),
		giveBack(8), const32(0), plain(opReturn))...)
	// mover comes back with the stack somewhere else, thrower to unwind it, and bouncer as thrower
	// does.
	mover := goFunction(list(getGlobal(globalSP), const32(32), plain(opI32Add), setGlobal(globalSP), const32(0), plain(opReturn))...)
	thrower := goFunction(list(getLocal(localSP), const64(5), store64(32), const32(1), plain(opReturn))...)
	bouncer := goFunction(list(call(4), reload, plain(opReturn))...)
	// unwinding is a caller that marks where it is after a call, unless it is to be left.
	unwinding := func(to int64) *code {
		return goFunction(list(inst{op: opBlock, a: noResult, b: 1}, push(pcOf(0, 3)), call(to), reload, inst{op: opBrIf, a: 1},
			getLocal(localSP), const64(77), store64(0), giveBack(8), const32(0), plain(opReturn), inst{op: opEnd, b: 1}, const32(1))...)
	}
	for _, c := range []struct {
		name    string
		caller  *code
		shorter bool
		stay    bool
	}{
		{"and goes on where the stack was", unwinding(1), true, false},
		{"and goes on where the stack stays", unwinding(1), true, true},
		{"and goes to another stack, too", goFunction(list(push(pcOf(0, 3)), call(3), reload, plain(opDrop), getLocal(localSP), const64(77), store64(0),
			getGlobal(globalSP), setGlobal(globalSP), const32(0))...), true, true},
		{"and goes on where the stack is", unwinding(3), true, false},
		{"and the caller of the caller moves the stack", unwinding(7), true, false},
		{"and is left", unwinding(4), true, false},
		{"and is left in turn", unwinding(5), true, false},
		{"and goes on after what is not left", unwinding(6), true, false},
		{"and a call that must not be left is", goFunction(list(push(pcOf(0, 3)), call(4), reload, inst{op: opIf, a: noResult, b: 1}, plain(opUnreachable),
			inst{op: opEnd, b: 1}, const32(0))...), true, false},
		{"direct", goFunction(list(push(pcOf(0, 7)), call(1), reload)...), true, false},
		{"direct, to a function that can be resumed", goFunction(list(push(pcOf(0, 9)), call(2), reload)...), true, false},
		{"through the table", goFunction(list(const64(pcOf(1, 0)), push(pcOf(0, 1)), through, reload)...), true, false},
		{"through the table, to a function that can be resumed", goFunction(list(const64(pcOf(2, 0)), push(pcOf(0, 65535)), through, reload)...), true, false},
		{"twice", goFunction(list(push(pcOf(0, 1)), call(1), reload, plain(opDrop), push(pcOf(0, 2)), call(1), reload)...), true, false},
		{"as assembly does", goFunction(list(getLocal(localSP), const32(8), plain(opI32Sub), setGlobal(globalSP), call(1))...), false, false},
		{"tail call", goFunction(list(call(1), plain(opReturn))...), false, false},
		{"resumed by the loop of the runtime", goFunction(list(const32(3), inst{op: opCall, a: 2})...), false, false},
		{"with an address that is none", goFunction(list(push(99), call(1), reload)...), false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := []*code{c.caller, leaf, jumping(), mover, thrower, bouncer, unwinding(1), unwinding(3)}
			var after []*code
			all := map[int64]bool{0: true, 1: true, 2: true, 3: true, 4: true, 5: true, 6: true}
			shared := &compactor{m: &module{}}
			for range before {
				shared.types, shared.goFunctions = append(shared.types, goType), append(shared.goFunctions, true)
				shared.resumes = append(shared.resumes, all)
			}
			shared.findReturns(before)
			if got, want := fmt.Sprint(shared.neverReturns[1:], shared.switches[1:]),
				"[false false false true true false false] [false false true false false false false]"; got != want {
				t.Errorf("never return, go to another stack: %s, want %s", got, want)
			}
			shared.stacksStay = c.stay
			for i, b := range before {
				f := &function{code: decode(b.encode()), compactor: shared, number: i}
				n := len(f.insts)
				f.shortenCalls()
				if shorter := len(f.insts) < n; i == 0 && shorter != c.shorter {
					t.Errorf("shorter: %v, want %v", shorter, c.shorter)
				}
				f.dropReloads()
				f.takeAddress()
				f.shareAddresses()
				after = append(after, f.code)
			}
			for _, word := range []uint64{0, 1, 1 << 63} {
				if want, got := runCode(t, 0, word, before...), runCode(t, 0, word, after...); want != got {
					t.Errorf("got  %s\nwant %s", got, want)
				}
			}
		})
	}
}

func TestDecodeRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		body []byte
	}{
		{"no end", []byte{1, 0}},
		{"bytes after the end", []byte{3, 0, opEnd, opEnd}},
		{"wrong length", []byte{9, 0, opEnd}},
		{"branch out of all blocks", []byte{4, 0, opBr, 1, opEnd}},
		{"unknown instruction", []byte{3, 0, 0xFB, opEnd}},
		{"unknown instruction with a prefix", []byte{4, 0, opBulk, 9, opEnd}},
		{"block with several results", []byte{5, 0, opBlock, 3, opEnd, opEnd}},
		{"table other than the first", []byte{5, 0, opCallIndirect, 0, 1, opEnd}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := protect(func() { decode(c.body) }); err == nil {
				t.Error("accepted")
			}
		})
	}
}

// FuzzDecode holds that what is read is written back as the same instructions.
func FuzzDecode(f *testing.F) {
	f.Add(jumping().encode())
	f.Add([]byte{2, 0, opEnd})
	f.Add([]byte{14, 1, 2, typeF64, opF64Const, 1, 2, 3, 4, 5, 6, 7, 8, opDrop, opEnd})
	f.Fuzz(func(t *testing.T, body []byte) {
		var c *code
		if err := protect(func() { c = decode(body) }); err != nil {
			return
		}
		same := func(a, b inst) bool {
			return a.op == b.op && a.sub == b.sub && a.a == b.a && a.b == b.b && slices.Equal(a.table, b.table)
		}
		if again := decode(c.encode()); !slices.EqualFunc(again.insts, c.insts, same) || !slices.Equal(again.vars, c.vars) {
			t.Errorf("%v\nreads back as\n%v", c.insts, again.insts)
		}
	})
}

// TestJumpOutsideOfTheDispatch holds that a function whose jumps are not as the compiler writes
// them ends the build.
func TestJumpOutsideOfTheDispatch(t *testing.T) {
	for name, change := range map[string]func(*code){
		"jump to a computed place": func(c *code) {
			at := slices.IndexFunc(c.insts, func(i inst) bool { return i.op == opBr }) - 2
			c.insts = slices.Insert(c.insts, at+1, plain(opI32Eqz))
		},
		"resume point read elsewhere": func(c *code) {
			c.insts = slices.Insert(c.insts, len(c.insts)-2, getLocal(localPC), plain(opDrop))
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := jumping()
			change(c)
			f := &function{code: c, compactor: &compactor{m: &module{}, types: []signature{goType}, resumes: []map[int64]bool{{0: true}}}}
			if err := protect(f.shorten); err == nil {
				t.Error("accepted")
			}
		})
	}
}
