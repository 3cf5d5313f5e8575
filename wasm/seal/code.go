package main

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// More instructions, for the passes over the code of the linker.
const (
	opNop          = 0x01
	opIf           = 0x04
	opElse         = 0x05
	opBrTable      = 0x0E
	opReturn       = 0x0F
	opCallIndirect = 0x11
	opDrop         = 0x1A
	opI32Load16U   = 0x2F
	opI64Load32U   = 0x35
	opI64Store32   = 0x3E
	opMemorySize   = 0x3F
	opMemoryGrow   = 0x40
	opF32Const     = 0x43
	opF64Const     = 0x44
	opI32Eq        = 0x46
	opI32Ne        = 0x47
	opI32LeU       = 0x4D
	opI64Eqz       = 0x50
	opI64Eq        = 0x51
	opI64GeU       = 0x5A
	opI32And       = 0x71
	opI32Or        = 0x72
	opI32ShrU      = 0x76
	opI64ShrU      = 0x88
	opI32WrapI64   = 0xA7
	opI64ExtendU   = 0xAD
	opLast         = 0xC4 // i64.extend32_s, the last without a prefix

	bulkLastTrunc = 7 // of the operators after the prefix, those that convert have no operand
)

// inst is one instruction. Branches name the block they leave, not its distance, so that blocks can
// come and go.
type inst struct {
	op    byte
	sub   byte    // which operator of opBulk
	a     int64   // constant (bits of a float), index, alignment, type of a block, or the label of a branch
	b     int64   // offset of an access to memory, or the label of a block, loop, if, else or end
	table []int64 // labels of a br_table, the default last
}

// locals is a run of variables of one type.
type locals struct {
	n   uint32
	typ byte
}

// code is the body of a function. Label 0 is the body itself, and each block has its own.
type code struct {
	vars   []locals
	insts  []inst
	labels int64 // the next unused label
}

// newLabel returns a label that no block has.
func (c *code) newLabel() int64 {
	c.labels++
	return c.labels - 1
}

// decode reads a body that comes with its length. An instruction that the compiler of Go does not
// write ends the build.
func decode(body []byte) *code {
	r := &reader{what: "body", data: body}
	if size := r.u32(); int(size) != len(body)-r.pos {
		r.fail("%d bytes announced, %d left", size, len(body)-r.pos)
	}
	c := &code{labels: 1, insts: make([]inst, 0, len(body)/2)}
	for range r.count() {
		c.vars = append(c.vars, locals{r.u32(), r.byte()})
	}
	open := []int64{0}
	label := func() int64 {
		depth := r.u32()
		if int(depth) >= len(open) {
			r.fail("branch out of %d blocks, %d are open", depth, len(open))
		}
		return open[len(open)-1-int(depth)]
	}
	for len(open) > 0 {
		i := inst{op: r.byte()}
		switch op := i.op; {
		case op == opBlock || op == opLoop || op == opIf:
			i.a, i.b = int64(r.byte()), c.newLabel()
			if i.a != noResult && (i.a < typeF64 || i.a > typeI32) {
				r.fail("type 0x%02x of a block", i.a)
			}
			open = append(open, i.b)
		case op == opElse:
			i.b = open[len(open)-1]
		case op == opEnd:
			i.b = open[len(open)-1]
			open = open[:len(open)-1]
		case op == opBr || op == opBrIf:
			i.a = label()
		case op == opBrTable:
			for range r.count() + 1 {
				i.table = append(i.table, label())
			}
		case op == opCall || op >= opLocalGet && op <= opGlobalSet:
			i.a = int64(r.u32())
		case op == opCallIndirect:
			i.a = int64(r.u32())
			r.want(0, "table of an indirect call")
		case op >= opI32Load && op <= opI64Store32:
			i.a, i.b = int64(r.u32()), int64(r.u32())
		case op == opMemorySize || op == opMemoryGrow:
			r.want(0, "memory of an instruction")
		case op == opI32Const:
			i.a = r.s64(32)
		case op == opI64Const:
			i.a = r.s64(64)
		case op == opF32Const:
			i.a = int64(binary.LittleEndian.Uint32(r.bytes(4)))
		case op == opF64Const:
			i.a = int64(binary.LittleEndian.Uint64(r.bytes(8)))
		case op == opBulk:
			i.sub = r.byte()
			switch {
			case i.sub <= bulkLastTrunc:
			case i.sub == bulkCopy:
				r.want(0, "memory to copy to")
				r.want(0, "memory to copy from")
			case i.sub == bulkFill:
				r.want(0, "memory to fill")
			default:
				r.fail("instruction 0x%02x %d is not known", op, i.sub)
			}
		case op == opUnreachable || op == opNop || op == opReturn || op == opDrop || op == opSelect || op >= opI32Eqz && op <= opLast:
		default:
			r.fail("instruction 0x%02x is not known", op)
		}
		c.insts = append(c.insts, i)
	}
	r.end()
	return c
}

// encode is the reverse of decode.
func (c *code) encode() []byte {
	b := uleb(uint64(len(c.vars)))
	for _, v := range c.vars {
		b = append(append(b, uleb(uint64(v.n))...), v.typ)
	}
	open := []int64{0}
	branch := func(label int64) {
		at := slices.Index(open, label)
		if at < 0 {
			panic(fault{fmt.Errorf("code: branch out of a block that is not open")})
		}
		b = appendULEB(b, uint64(len(open)-1-at))
	}
	for _, i := range c.insts {
		b = append(b, i.op)
		switch op := i.op; {
		case op == opBlock || op == opLoop || op == opIf:
			b = append(b, byte(i.a))
			open = append(open, i.b)
		case op == opEnd:
			open = open[:len(open)-1]
		case op == opBr || op == opBrIf:
			branch(i.a)
		case op == opBrTable:
			b = appendULEB(b, uint64(len(i.table)-1))
			for _, label := range i.table {
				branch(label)
			}
		case op == opCall || op >= opLocalGet && op <= opGlobalSet:
			b = appendULEB(b, uint64(i.a))
		case op == opCallIndirect:
			b = append(appendULEB(b, uint64(i.a)), 0)
		case op >= opI32Load && op <= opI64Store32:
			b = appendULEB(appendULEB(b, uint64(i.a)), uint64(i.b))
		case op == opMemorySize || op == opMemoryGrow:
			b = append(b, 0)
		case op == opI32Const || op == opI64Const:
			b = append(b, sleb(i.a)...)
		case op == opF32Const:
			b = binary.LittleEndian.AppendUint32(b, uint32(i.a))
		case op == opF64Const:
			b = binary.LittleEndian.AppendUint64(b, uint64(i.a))
		case op == opBulk:
			b = append(b, i.sub)
			switch i.sub {
			case bulkCopy:
				b = append(b, 0, 0)
			case bulkFill:
				b = append(b, 0)
			}
		}
	}
	return append(uleb(uint64(len(b))), b...)
}

func appendULEB(b []byte, n uint64) []byte {
	for ; n >= 0x80; n >>= 7 {
		b = append(b, byte(n)|0x80)
	}
	return append(b, byte(n))
}
