package main

// The instructions that the replacement bodies and initial values use.
const (
	opUnreachable = 0x00
	opBlock       = 0x02
	opLoop        = 0x03
	opEnd         = 0x0B
	opBr          = 0x0C
	opBrIf        = 0x0D
	opCall        = 0x10
	opSelect      = 0x1B
	opLocalGet    = 0x20
	opLocalSet    = 0x21
	opLocalTee    = 0x22
	opGlobalGet   = 0x23
	opGlobalSet   = 0x24
	opI32Load     = 0x28
	opI64Load     = 0x29
	opI32Load8U   = 0x2D
	opI32Store    = 0x36
	opI64Store    = 0x37
	opI32Const    = 0x41
	opI64Const    = 0x42
	opI32Eqz      = 0x45
	opI32LtU      = 0x49
	opI32GtU      = 0x4B
	opI32GeU      = 0x4F
	opI32Add      = 0x6A
	opI32Sub      = 0x6B
	opI32Mul      = 0x6C
	opI32DivU     = 0x6E
	opI64Add      = 0x7C
	opBulk        = 0xFC // prefix of the two below
	bulkCopy      = 10
	bulkFill      = 11

	noResult = 0x40 // type of a block
)

const (
	wasiModule = "wasi_snapshot_preview1"

	// diagStart and diagBytes are the diagnostic area: the part of the memory below the first data
	// that the linker reserves for the arguments of wasm_exec.js (wasmMinDataAddr in
	// cmd/link/internal/ld, Go 1.26).
	diagStart = 4096
	diagBytes = 8192

	// clockStep is how far the clock goes each time it is read, in nanoseconds.
	clockStep = 1_000_000
	// randomByte fills what should be random. Not zero: the runtime takes all zeroes for a missing
	// source.
	randomByte = 0x5A
)

// newGlobals are the indices of the globals that sealing adds.
type newGlobals struct{ diag, diagLen, clock int }

// replacement is a body for one import. locals is the number of i32 variables next to the
// parameters.
type replacement struct {
	signature signature
	locals    int
	code      func(g newGlobals) []byte
}

const (
	i32x1 = "\x7F"
	i32x2 = i32x1 + i32x1
	i32x4 = i32x2 + i32x2
)

var replacements = map[string]replacement{
	"sched_yield":       {signature{"", i32x1}, 0, succeed},
	"args_get":          {signature{i32x2, i32x1}, 0, succeed},
	"environ_get":       {signature{i32x2, i32x1}, 0, succeed},
	"args_sizes_get":    {signature{i32x2, i32x1}, 0, storeTwoZeroes},
	"environ_sizes_get": {signature{i32x2, i32x1}, 0, storeTwoZeroes},
	"clock_time_get":    {signature{"\x7F\x7E\x7F", i32x1}, 0, advanceClock},
	"random_get":        {signature{i32x2, i32x1}, 0, fillConstant},
	"fd_write":          {signature{i32x4, i32x1}, 4, appendDiagnostics},
	"poll_oneoff":       {signature{i32x4, i32x1}, 0, storeNoEvents},
	"proc_exit":         {signature{i32x1, ""}, 0, func(newGlobals) []byte { return []byte{opUnreachable} }},
}

func succeed(newGlobals) []byte { return i32Const(0) }

// storeTwoZeroes: (count, bytes *u32) -> errno.
func storeTwoZeroes(newGlobals) []byte {
	return join(
		[]byte{opLocalGet, 0}, i32Const(0), []byte{opI32Store, 2, 0},
		[]byte{opLocalGet, 1}, i32Const(0), []byte{opI32Store, 2, 0},
		i32Const(0))
}

// advanceClock: (clock u32, precision u64, time *u64) -> errno.
func advanceClock(g newGlobals) []byte {
	clock := uleb(uint64(g.clock))
	return join(
		[]byte{opGlobalGet}, clock, []byte{opI64Const}, sleb(clockStep), []byte{opI64Add, opGlobalSet}, clock,
		[]byte{opLocalGet, 2, opGlobalGet}, clock, []byte{opI64Store, 3, 0},
		i32Const(0))
}

// fillConstant: (buf *u8, len u32) -> errno.
func fillConstant(newGlobals) []byte {
	return join(
		[]byte{opLocalGet, 0}, i32Const(randomByte), []byte{opLocalGet, 1, opBulk, bulkFill, 0},
		i32Const(0))
}

// storeNoEvents: (in, out *event, n u32, nevents *u32) -> errno.
func storeNoEvents(newGlobals) []byte {
	return join([]byte{opLocalGet, 3}, i32Const(0), []byte{opI32Store, 2, 0}, i32Const(0))
}

// appendDiagnostics: (fd u32, vectors *iovec, n u32, written *u32) -> errno. All is reported as
// written, also what the area has no room for: the runtime would take a short write for a fault and
// try to print that.
func appendDiagnostics(g newGlobals) []byte {
	const (
		vectors, n, written = 1, 2, 3          // parameters
		size, total, room   = 4, 5, 6          // locals
		used                = 7                // bytes in the area, clamped: an exported global can be set by the host
		pointerAt, lengthAt = byte(0), byte(4) // fields of an iovec
	)
	diagLen := uleb(uint64(g.diagLen))
	return join(
		[]byte{opBlock, noResult, opLoop, noResult},
		[]byte{opLocalGet, n, opI32Eqz, opBrIf, 1},

		// total += size of this vector
		[]byte{opLocalGet, vectors, opI32Load, 2, lengthAt, opLocalTee, size},
		[]byte{opLocalGet, total, opI32Add, opLocalSet, total},

		// used = min(diagLen, diagBytes)
		[]byte{opGlobalGet}, diagLen, i32Const(diagBytes), []byte{opGlobalGet}, diagLen, i32Const(diagBytes),
		[]byte{opI32LtU, opSelect, opLocalSet, used},

		// size = min(size, room)
		i32Const(diagBytes), []byte{opLocalGet, used, opI32Sub, opLocalSet, room},
		[]byte{opLocalGet, size, opLocalGet, room, opLocalGet, size, opLocalGet, room, opI32LtU, opSelect, opLocalSet, size},

		// copy, and count
		i32Const(diagStart), []byte{opLocalGet, used, opI32Add},
		[]byte{opLocalGet, vectors, opI32Load, 2, pointerAt, opLocalGet, size, opBulk, bulkCopy, 0, 0},
		[]byte{opLocalGet, used, opLocalGet, size, opI32Add, opGlobalSet}, diagLen,

		// next vector
		[]byte{opLocalGet, vectors}, i32Const(8), []byte{opI32Add, opLocalSet, vectors},
		[]byte{opLocalGet, n}, i32Const(1), []byte{opI32Sub, opLocalSet, n},
		[]byte{opBr, 0, opEnd, opEnd},
		[]byte{opLocalGet, written, opLocalGet, total, opI32Store, 2, 0},
		i32Const(0))
}

// body encodes a function with i32 locals, with its length in front.
func body(locals int, code []byte) []byte {
	head := []byte{0}
	if locals > 0 {
		head = []byte{1, byte(locals), typeI32}
	}
	b := join(head, code, []byte{opEnd})
	return join(uleb(uint64(len(b))), b)
}

func i32Const(n int64) []byte { return join([]byte{opI32Const}, sleb(n)) }

// uleb encodes n as unsigned LEB128 in its shortest form.
func uleb(n uint64) []byte {
	var b []byte
	for ; n >= 0x80; n >>= 7 {
		b = append(b, byte(n)|0x80)
	}
	return append(b, byte(n))
}

// sleb encodes n as signed LEB128 in its shortest form.
func sleb(n int64) []byte {
	var b []byte
	for n < -0x40 || n >= 0x40 {
		b = append(b, byte(n)|0x80)
		n >>= 7
	}
	return append(b, byte(n)&0x7F)
}

func join(parts ...[]byte) []byte {
	var all []byte
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}
