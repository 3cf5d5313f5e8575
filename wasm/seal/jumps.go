package main

import (
	"fmt"
	"slices"
)

// dispatch is how the compiler of Go makes a function that can be resumed: blocks around blocks, of
// which block k ends where region k begins, and in the innermost a br_table that leaves the block
// whose region is to run.
//
//	block unwind                     if a call may ask to unwind the stack
//	  loop entry                     if there are jumps: they set the parameter and start over
//	    block n … block 1, block 0
//	      local.get 0, br_table      resume point -> block
//	    end 0, region 0, end 1, region 1 … end n, region n
//	  end
//	end
type dispatch struct {
	unwind, entry int64 // labels, 0 if there is none
	blocks        []int64
	table         []int64
	start         int // index of what follows the end of block 0
}

// dispatch finds the parts; ok is false for a function that cannot be resumed.
func (f *function) dispatch() (d dispatch, ok bool) {
	at := 2 // after the reading of the stack pointer
	for f.insts[at].op == opBlock || f.insts[at].op == opLoop {
		i := f.insts[at]
		switch {
		case i.a != noResult:
			return d, false
		case i.op == opBlock:
			d.blocks = append(d.blocks, i.b)
		case d.entry != 0 || len(d.blocks) > 1:
			return d, false
		default:
			d.entry = i.b
			if len(d.blocks) == 1 {
				d.unwind, d.blocks = d.blocks[0], nil
			}
		}
		at++
	}
	if len(d.blocks) == 0 || !match(f.insts[at:], getLocal(localPC)) || f.insts[at+1].op != opBrTable {
		return d, false
	}
	d.table = f.insts[at+1].table
	// Without a loop the outermost block is the one to unwind, if no resume point leads to its end.
	if d.entry == 0 && !slices.Contains(d.table, d.blocks[0]) {
		d.unwind, d.blocks = d.blocks[0], d.blocks[1:]
	}
	slices.Reverse(d.blocks)
	if len(d.blocks) == 0 || !match(f.insts[at+2:], inst{op: opEnd, b: d.blocks[0]}) {
		return d, false
	}
	d.start = at + 3
	return d, true
}

// target returns the number of the block that a resume point leads to.
func (d *dispatch) target(pc int64) int {
	label := d.table[min(pc, int64(len(d.table)-1))]
	k := slices.Index(d.blocks, label)
	if pc < 0 || k < 0 {
		panic(fault{fmt.Errorf("code: no region for resume point %d", pc)})
	}
	return k
}

// jump matches code with a jump by way of the dispatch and returns the number of the block it leads
// to, -1 for other code.
func (d *dispatch) jump(code []inst) int {
	if d.entry == 0 || len(code) < 3 || code[0].op != opI32Const || !match(code[1:], setLocal(localPC), inst{op: opBr, a: d.entry}) {
		return -1
	}
	return d.target(code[0].a)
}

// shortenJumps lets jumps forward leave the block that ends at their target, rather than going by
// way of the dispatch. It removes blocks that nothing leads to any more; resume points that no
// program counter holds do not count.
func (f *function) shortenJumps() {
	d, ok := f.dispatch()
	if !ok {
		return
	}
	needed := map[int64]bool{} // blocks and loops
	out := slices.Clone(f.insts[:d.start])
	region := 0
	for at := d.start; at < len(f.insts); at++ {
		i := f.insts[at]
		if i.op == opEnd && region+1 < len(d.blocks) && i.b == d.blocks[region+1] {
			region++
		}
		if k := d.jump(f.insts[at:]); k > region {
			out = append(out, inst{op: opBr, a: d.blocks[k]})
			needed[d.blocks[k]] = true
			at += 2
		} else if k >= 0 {
			needed[d.blocks[k]], needed[d.entry] = true, true
			out = append(out, f.insts[at:at+3]...)
			at += 2
		} else {
			switch {
			case (i.op == opBr || i.op == opBrIf) && i.a == d.entry:
				panic(fault{fmt.Errorf("code: jump to an unknown place")})
			case match(f.insts[at:], getLocal(localPC)) && !match(f.insts[at-2:], setLocal(localPC)):
				panic(fault{fmt.Errorf("code: the resume point is read outside of the dispatch")})
			case i.op == opBr || i.op == opBrIf:
				needed[i.a] = true
			}
			out = append(out, i)
		}
	}
	if region != len(d.blocks)-1 {
		panic(fault{fmt.Errorf("code: %d blocks for %d regions", len(d.blocks), region+1)})
	}
	f.insts = out
	for pc := range f.resumes[f.number] {
		needed[d.blocks[d.target(pc)]] = true
	}
	needed[d.blocks[0]] = true
	f.pruneTable(d, needed)
	f.dropBlocks(needed, d)
	f.branchOnConditions()
	f.dropUnreachable()
}

// pruneTable leads resume points whose blocks are not needed, and so are never asked for, where
// their neighbour leads.
func (f *function) pruneTable(d dispatch, needed map[int64]bool) {
	table := f.insts[d.start-2].table
	if f.trapUnneeded {
		f.trapTable(d, needed)
		return
	}
	for n := len(table) - 1; n > 0 && (!needed[table[n]] || table[n] == table[n-1]); n-- {
		table = table[:n]
	}
	for n := 1; n < len(table); n++ {
		if !needed[table[n]] {
			table[n] = table[n-1]
		}
	}
	f.insts[d.start-2].table = table
}

// trapTable leads the same resume points to an instruction that traps.
func (f *function) trapTable(d dispatch, needed map[int64]bool) {
	trap := f.newLabel()
	table := f.insts[d.start-2].table
	for n := range table {
		if !needed[table[n]] {
			table[n] = trap
		}
	}
	f.insts[d.start-2].table = append(table, trap)
	f.insts = slices.Insert(f.insts, d.start-1, inst{op: opEnd, b: trap}, plain(opUnreachable))
	f.insts = slices.Insert(f.insts, d.start-3, inst{op: opBlock, a: noResult, b: trap})
}

// dropBlocks removes the blocks and the loop of the dispatch that no branch needs.
func (f *function) dropBlocks(needed map[int64]bool, d dispatch) {
	ours := map[int64]bool{d.unwind: d.unwind != 0, d.entry: d.entry != 0}
	for _, b := range d.blocks {
		ours[b] = true
	}
	delete(ours, 0)
	f.insts = slices.DeleteFunc(f.insts, func(i inst) bool {
		return (i.op == opBlock || i.op == opLoop || i.op == opEnd) && ours[i.b] && !needed[i.b]
	})
}

// branchOnConditions replaces an if around nothing but a branch by a conditional branch. A jump by
// way of the dispatch then sets the parameter in any case, which nobody sees who does not jump.
func (f *function) branchOnConditions() {
	out := f.insts[:0]
	in := f.insts
	for at := 0; at < len(in); at++ {
		if i := in[at]; i.op == opIf && i.a == noResult && at+2 < len(in) {
			end := inst{op: opEnd, b: i.b}
			if b := in[at+1]; b.op == opBr && b.a != i.b && match(in[at+2:], end) {
				out = append(out, inst{op: opBrIf, a: b.a})
				at += 2
				continue
			}
			if at+4 < len(in) && in[at+1].op == opI32Const && match(in[at+2:], setLocal(localPC)) && in[at+3].op == opBr &&
				in[at+3].a != i.b && match(in[at+4:], end) {
				out = append(out, in[at+1], in[at+2], inst{op: opBrIf, a: in[at+3].a})
				at += 4
				continue
			}
		}
		out = append(out, in[at])
	}
	f.insts = out
}

// dropUnreachable removes what follows an instruction that never goes on, up to the end of its
// block. Blocks in there go as a whole.
func (f *function) dropUnreachable() {
	out := f.insts[:0]
	dead, depth := false, 0
	for _, i := range f.insts {
		if dead {
			switch i.op {
			case opBlock, opLoop, opIf:
				depth++
			case opEnd:
				if depth == 0 {
					dead = false
				} else {
					depth--
				}
			case opElse:
				dead = depth > 0
			}
			if dead {
				continue
			}
		}
		out = append(out, i)
		switch i.op {
		case opBr, opBrTable, opReturn, opUnreachable:
			dead, depth = true, 0
		}
	}
	f.insts = out
}
