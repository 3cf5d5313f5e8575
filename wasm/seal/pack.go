package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// packed is the initial memory as one text that a function of the module unpacks before the Go
// runtime starts.
//
// The text is a list of records: how many bytes to leave as they are (zero, since memory starts
// so), how many to copy, and those bytes. Two numbers below 16 share a byte; otherwise that byte is
// zero and each has its own. It lies at the end of the memory that the module starts with, where
// the runtime expects zeroes, and is cleared after unpacking.
type packed struct {
	text    []byte
	at      int // address of text
	buckets buckets
}

// buckets are the first step of the runtime from a program counter to the record of its function:
// for each 4096 of them 20 bytes, of which the first four are the number of the function that they
// belong to. A function has 65536, so they are counted rather than stored.
//
// Source: findfuncbucket in runtime/symtab.go, findfunctab in cmd/link/internal/ld/pcln.go; Go
// 1.26.
type buckets struct{ at, n, bytes int } // the last of the n is cut

const (
	bucketBytes     = 20
	bucketPCs       = 4096
	subPCs          = 256 // of each of the 16 bytes after the number
	functionBuckets = 1 << pcShift / bucketPCs
)

// fill writes the buckets into memory.
func (b buckets) fill(memory []byte) {
	for i := range b.n {
		binary.LittleEndian.PutUint32(memory[b.at+i*bucketBytes:], uint32(i/functionBuckets))
	}
}

// code does what fill does, with a local variable that is zero at first.
func (b buckets) code(i byte) []byte {
	if b.n == 0 {
		return nil
	}
	return join(
		[]byte{opLoop, noResult, opLocalGet, i}, i32Const(bucketBytes), []byte{opI32Mul, opLocalGet, i}, i32Const(functionBuckets),
		[]byte{opI32DivU, opI32Store, 2}, uleb(uint64(b.at)),
		[]byte{opLocalGet, i}, i32Const(1), []byte{opI32Add, opLocalTee, i}, i32Const(int64(b.n)), []byte{opI32LtU, opBrIf, 0, opEnd})
}

const (
	maxRun   = 255 // of a record's two counts
	maxShort = 15  // of those that share a byte
	// slack is how far the last load of eight bytes can reach beyond the text.
	slack = 8
	// minSkip is the shortest run of zeroes that is worth a record of its own, which mostly costs
	// one byte.
	minSkip = 2
)

// pack writes the image as records for a module that starts with size bytes of memory.
func (m *image) pack(size int) (packed, error) {
	memory := bytes.Clone(m.memory)
	clear(memory[m.buckets.at : m.buckets.at+m.buckets.bytes])
	var text []byte
	for at := 0; at < len(memory); {
		skip := zeroes(memory[at:], maxRun)
		from := at + skip
		to := from
		for to < len(memory) && to-from < maxRun {
			gap := zeroes(memory[to:], minSkip)
			if gap == minSkip || to+gap == len(memory) {
				break
			}
			to += max(gap, 1)
		}
		to = min(to, from+maxRun)
		if size := to - from; skip <= maxShort && size <= maxShort && skip+size > 0 {
			text = append(text, byte(skip<<4|size))
		} else {
			text = append(text, 0, byte(skip), byte(size))
		}
		text = append(text, memory[from:to]...)
		at = to
	}
	p := packed{text, size - len(text) - slack, m.buckets}
	if p.at < len(m.memory)+slack {
		return p, fmt.Errorf("data: %d bytes do not fit after %d bytes in a memory of %d", len(text), len(m.memory), size)
	}
	if !bytes.Equal(p.unpack(len(m.memory)), m.memory) {
		return p, fmt.Errorf("data: unpacking gives other bytes")
	}
	return p, nil
}

// zeroes counts the zeroes at the start of b, up to most.
func zeroes(b []byte, most int) int {
	n := 0
	for n < most && n < len(b) && b[n] == 0 {
		n++
	}
	return n
}

// unpack does what the function of the module does, in memory of n bytes.
func (p packed) unpack(n int) []byte {
	memory := make([]byte, n)
	at := 0
	for text := p.text; len(text) > 0; {
		skip, size, head := int(text[0]>>4), int(text[0]&15), 1
		if text[0] == 0 {
			skip, size, head = int(text[1]), int(text[2]), 3
		}
		at += skip
		copy(memory[at:], text[head:head+size])
		at += size
		text = text[head+size:]
	}
	p.buckets.fill(memory)
	return memory
}

// section returns the contents of a data section that puts the text in its place.
func (p packed) section() []byte {
	return join([]byte{1, 0}, i32Const(int64(p.at)), []byte{opEnd}, vector(string(p.text)))
}

// body is the function that unpacks the text, clears it and then calls the function that starts the
// runtime.
//
// It moves eight bytes at a time, since most records are shorter than that: with a memory.copy for
// each, V8 took 11 ms to instantiate and start the module, so it takes 1.7. What a store leaves
// after its record is cleared before the next.
func (p packed) body(start uint32) []byte {
	const to, from, end, bucket, first = 0, 1, 2, 3, 4 // locals; end is that of the bytes of this record
	get, set, tee := byte(opLocalGet), byte(opLocalSet), byte(opLocalTee)
	clear := []byte{get, to, opI64Const, 0, opI64Store, 0, 0}
	text := i32Const(int64(p.at))
	return body(5, join(
		text, []byte{set, from, opLoop, noResult},

		// clear after the last record; first = its first byte, after which from is
		clear,
		[]byte{get, from, opI32Load8U, 0, 0, set, first, get, from}, i32Const(1), []byte{opI32Add, set, from},

		// to += bytes to leave; end = from + bytes to copy
		[]byte{get, first, opIf, noResult},
		[]byte{get, to, get, first}, i32Const(4), []byte{opI32ShrU, opI32Add, set, to},
		[]byte{get, from, get, first}, i32Const(maxShort), []byte{opI32And, opI32Add, set, end},
		[]byte{opElse},
		[]byte{get, to, get, from, opI32Load8U, 0, 0, opI32Add, set, to},
		[]byte{get, from, opI32Load8U, 0, 1, get, from}, i32Const(2), []byte{opI32Add, tee, from, opI32Add, set, end},
		[]byte{opEnd},

		// while from < end: copy eight bytes
		[]byte{opBlock, noResult, opLoop, noResult},
		[]byte{get, from, get, end, opI32GeU, opBrIf, 1},
		[]byte{get, to, get, from, opI64Load, 0, 0, opI64Store, 0, 0},
		[]byte{get, to}, i32Const(8), []byte{opI32Add, set, to},
		[]byte{get, from}, i32Const(8), []byte{opI32Add, set, from},
		[]byte{opBr, 0, opEnd, opEnd},

		// to and from may be past the record: both by the same
		[]byte{get, to, get, from, get, end, opI32Sub, opI32Sub, set, to, get, end, tee, from},
		i32Const(int64(p.at+len(p.text))), []byte{opI32LtU, opBrIf, 0, opEnd},
		clear,

		text, i32Const(0), i32Const(int64(len(p.text))), []byte{opBulk, bulkFill, 0},
		p.buckets.code(bucket),
		[]byte{opCall}, uleb(uint64(start))))
}
