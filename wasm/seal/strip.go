package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
)

// The table of functions that the Go runtime walks stacks with, as Go 1.20 to 1.26 write it. All
// numbers are little-endian.
//
// Source: pcHeader and _func in runtime/symtab.go and runtime2.go, pclntab in
// cmd/link/internal/ld/pcln.go; Go 1.26.
const (
	pclntabMagic = "\xf1\xff\xff\xff\x00\x00\x01\x08" // version, two zeroes, instruction size 1, pointer size 8
	headerBytes  = 8 + 8*8
	funcBytes    = 44 // of a _func without its two variable lists

	// Offsets in a _func.
	atName        = 4
	atDeferReturn = 12
	atPCSP        = 16
	atPCFile      = 20
	atPCLine      = 24
	atNPCData     = 28
	atCU          = 32
	atStartLine   = 36

	atNFuncData = 43

	stackMapList = 1 // of the lists in pcdata the one that more than tracebacks and signals read

	// Offsets in moduledata, which begins with the address of the table and those of its parts.
	atPCTab    = 80
	atBuckets  = 152
	atMinPC    = 160
	atMaxPC    = 168
	atTypes    = 296
	atTypesEnd = 304
	atRodata   = 312
	atGoFunc   = 320 // what the offsets in funcdata count from
	atEPCLN    = 328
	atItabs    = 384
	moduleLen  = 408
)

// systemPrefix begins the names of the runtime's own functions. The runtime tells its own
// goroutines by it.
const systemPrefix = "runtime."

// image is the linear memory that the data segments describe.
type image struct {
	memory  []byte
	start   int // first byte that a segment sets
	buckets buckets
}

// neededData are the entries of funcdata that more than tracebacks read: the maps of pointers in
// arguments and locals, the objects on the stack, and the open-coded defers. The others are the
// tree of inlined calls, what is known of arguments, and wrapped functions.
var neededData = [...]bool{0: true, 1: true, 2: true, 4: true}

// strip removes from the image what only a traceback of Go needs: names of functions and files,
// line numbers, the tree of inlined calls and what is known of arguments; and all that belongs to
// functions that never run. What walks the stack (stack maps, sizes of frames) stays. A panic then
// prints its text and addresses, but no names.
//
// It fails if the table does not look as the linker of Go is known to write it.
func (m *image) strip(dead []bool) error {
	return protect(func() {
		t := findTable(m.memory)
		t.dead = dead
		t.strip()
		m.buckets = t.buckets()
	})
}

// loadImage reads the contents of a data section.
func loadImage(r *reader) *image {
	m := &image{start: -1}
	for range r.count() {
		r.want(0, "kind of a data segment")
		r.want(opI32Const, "offset of a data segment")
		offset := int(r.s64(32))
		r.want(opEnd, "end of an offset")
		segment := r.bytes(r.u32())
		if end := offset + len(segment); end > len(m.memory) {
			m.memory = append(m.memory, make([]byte, end-len(m.memory))...)
		}
		copy(m.memory[offset:], segment)
		if m.start < 0 || offset < m.start {
			m.start = offset
		}
	}
	return m
}

// funcTable is the table of functions inside an image.
type funcTable struct {
	memory                               []byte
	at, values0                          int // addresses of the table and of values
	functions                            int
	dead                                 []bool // functions of the module, in its order, that never run; may be shorter
	names, units, files, values, entries []byte // parts in the order in which they lie in memory; entries is open-ended
}

// findTable finds the only table in memory whose offsets fit together.
func findTable(memory []byte) *funcTable {
	var found *funcTable
	for at := 0; ; at++ {
		i := bytes.Index(memory[at:], []byte(pclntabMagic))
		if i < 0 {
			break
		}
		at += i
		if t, ok := readTable(memory, at); ok {
			if found != nil {
				panic(fault{fmt.Errorf("data: two tables of functions")})
			}
			found = t
		}
	}
	if found == nil {
		panic(fault{fmt.Errorf("data: no table of functions of Go 1.20 to 1.26")})
	}
	return found
}

// readTable reads the header at offset at; ok is false if the bytes there are something else.
func readTable(memory []byte, at int) (t *funcTable, ok bool) {
	if len(memory)-at < headerBytes {
		return nil, false
	}
	field := func(i int) int { return int(binary.LittleEndian.Uint64(memory[at+8+8*i:])) }
	offsets := [...]int{field(3), field(4), field(5), field(6), field(7), len(memory) - at}
	for i, o := range offsets {
		if o < headerBytes || i > 0 && o < offsets[i-1] || o > len(memory)-at {
			return nil, false
		}
	}
	part := func(i int) []byte { return memory[at+offsets[i] : at+offsets[i+1]] }
	t = &funcTable{memory, at, at + offsets[3], field(0), nil, part(0), part(1), part(2), part(3), part(4)}
	return t, t.functions > 0 && t.functions < len(t.entries)/8
}

// strip empties what only tracebacks read.
func (t *funcTable) strip() {
	t.stripData()
	keep := make([]bool, len(t.values))
	system := int32(0) // offset of the one name that all functions of the runtime keep
	for i := range t.functions {
		f := t.function(i)
		name := int32(binary.LittleEndian.Uint32(f[atName:]))
		switch {
		case !t.isSystem(name):
			name = 0 // offset 0 means no name
		case system == 0:
			system = name
		default:
			name = system
		}
		lists := int(binary.LittleEndian.Uint32(f[atNPCData:]))
		if t.isDead(i) {
			clear(t.within(f, atName, funcBytes-atName+4*lists))
			continue
		}
		binary.LittleEndian.PutUint32(f[atName:], uint32(name))
		for _, field := range []int{atPCFile, atPCLine, atCU, atStartLine} {
			binary.LittleEndian.PutUint32(f[field:], 0)
		}
		t.keepValues(keep, binary.LittleEndian.Uint32(f[atPCSP:]))
		for j := range lists {
			list := t.within(f, funcBytes+4*j, 4)
			if j != stackMapList {
				binary.LittleEndian.PutUint32(list, 0) // offset 0 means no list
			}
			t.keepValues(keep, binary.LittleEndian.Uint32(list))
		}
	}
	if system == 0 {
		panic(fault{fmt.Errorf("data: no function of the runtime in the table of functions")})
	}
	for i := range t.values {
		if !keep[i] {
			t.values[i] = 0
		}
	}
	end := system
	for t.names[end] != 0 {
		end++
	}
	clear(t.names[:system])
	clear(t.names[end:])
	clear(t.units)
	clear(t.files)
}

// isDead reports whether function i of the table never runs. The entry of a record is the
// function's place in the module.
func (t *funcTable) isDead(i int) bool {
	n := int(binary.LittleEndian.Uint32(t.function(i))) - firstPC
	return n >= 0 && n < len(t.dead) && t.dead[n]
}

// stripData clears the data of functions that is not needed. It lies in one piece, in which each
// function points to the start of what it needs; what one of them starts ends where the next
// starts.
func (t *funcTable) stripData() {
	const none = 1<<32 - 1
	at, ok := t.moduleData()
	base, ok2 := t.goFunc()
	if !ok || !ok2 {
		return // a module without such a record has no such data
	}
	end := t.word(at+atBuckets) - base // the buckets come after
	needed := map[int]bool{}           // offset to whether it is
	for i := range t.functions {
		f := t.function(i)
		lists := int(binary.LittleEndian.Uint32(f[atNPCData:]))
		last := 0 // entries up to the last that is needed
		for j := range int(f[atNFuncData]) {
			entry := t.within(f, funcBytes+4*(lists+j), 4)
			offset := binary.LittleEndian.Uint32(entry)
			if offset == none {
				continue
			}
			if j < len(neededData) && neededData[j] && !t.isDead(i) {
				needed[int(offset)] = true
				last = j + 1
				continue
			}
			needed[int(offset)] = needed[int(offset)]
			binary.LittleEndian.PutUint32(entry, none)
		}
		clear(t.within(f, funcBytes+4*(lists+last), 4*(int(f[atNFuncData])-last)))
		f[atNFuncData] = byte(last)
	}
	offsets := slices.Sorted(maps.Keys(needed))
	for i, offset := range offsets {
		// What lies outside of the piece, or last in it, stays: where it ends is not known.
		if !needed[offset] && i+1 < len(offsets) && offsets[i+1] <= end {
			clear(t.within(t.memory, base+offset, offsets[i+1]-offset))
		}
	}
}

// goFunc returns the address from which the offsets of funcdata count.
func (t *funcTable) goFunc() (base int, ok bool) {
	at, ok := t.moduleData()
	if !ok {
		return 0, false
	}
	base = t.word(at + atGoFunc)
	return base, t.word(at+atRodata) <= base && base <= t.word(at+atEPCLN) && base < len(t.memory)
}

// moduleData returns the address of the record of the module, the only place that holds the
// addresses of the table and of its values at their distance.
func (t *funcTable) moduleData() (at int, ok bool) {
	for at := 0; at+moduleLen <= len(t.memory); at += 8 {
		if t.word(at) == t.at && t.word(at+atPCTab) == t.values0 {
			return at, true
		}
	}
	return 0, false
}

func (t *funcTable) word(at int) int { return int(binary.LittleEndian.Uint64(t.memory[at:])) }

// buckets finds the buckets and ends the build if they hold anything but what [buckets.fill]
// writes.
func (t *funcTable) buckets() (b buckets) {
	at, ok := t.moduleData()
	if !ok {
		return b
	}
	pcs := t.word(at+atMaxPC) - t.word(at+atMinPC)
	if pcs < 0 || pcs > t.functions<<pcShift {
		panic(fault{fmt.Errorf("data: %d program counters for %d functions", pcs, t.functions)})
	}
	b = buckets{at: t.word(at + atBuckets), n: (pcs + bucketPCs - 1) / bucketPCs}
	b.bytes = 4*b.n + (pcs+subPCs-1)/subPCs
	found := t.within(t.memory, b.at, b.bytes)
	want := make([]byte, len(found))
	buckets{n: b.n}.fill(want)
	if !bytes.Equal(found, want) {
		panic(fault{fmt.Errorf("data: the buckets of program counters are not as the linker is known to write them")})
	}
	return b
}

// function returns the record of function i and what follows it.
func (t *funcTable) function(i int) []byte {
	entry := t.within(t.entries, 8*i, 8)
	at := int(binary.LittleEndian.Uint32(entry[4:]))
	t.within(t.entries, at, funcBytes)
	return t.entries[at:]
}

// within returns n bytes of b from at on and ends the build if they are not there.
func (t *funcTable) within(b []byte, at, n int) []byte {
	if at < 0 || at > len(b)-n {
		panic(fault{fmt.Errorf("data: the table of functions points outside itself")})
	}
	return b[at : at+n]
}

// isSystem reports whether the name at this offset is that of a function of the runtime.
func (t *funcTable) isSystem(name int32) bool {
	t.within(t.names, int(name), 1)
	return bytes.HasPrefix(t.names[name:], []byte(systemPrefix))
}

// keepValues marks the list of values that begins at an offset: pairs of variable-length numbers up
// to a zero that is not the first. Offset 0 means no list.
func (t *funcTable) keepValues(keep []bool, offset uint32) {
	if offset == 0 {
		return
	}
	at := int(offset)
	number := func() (zero bool) {
		zero = t.within(t.values, at, 1)[0] == 0
		for {
			b := t.within(t.values, at, 1)[0]
			keep[at] = true
			at++
			if b&0x80 == 0 {
				return zero
			}
		}
	}
	for first := true; ; first = false {
		if number() && !first {
			return
		}
		number()
	}
}
