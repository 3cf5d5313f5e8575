package main

import (
	"runtime"
	"unsafe"
)

const (
	// maxBuffers bounds the buffers that a host may hold at once. A wrapper needs one or two.
	maxBuffers = 64
	// maxHeldBytes bounds the bytes in all buffers together: a quarter of the memory that the module may have.
	// A larger number would let a host starve the operations by holding buffers alone.
	maxHeldBytes = 16 << 20
	// maxDebt is the garbage that may pile up before it is collected: a quarter of the 4 MiB at which Go would
	// start its own collection, so that one never starts except within a single large call.
	maxDebt = 1 << 20
)

// memory is what one instance keeps between calls: the buffers it lent to the host, the last answer, and how much
// garbage it may hold. The zero memory is ready for use.
type memory struct {
	buffers []buffer
	held    int    // bytes in buffers
	answer  []byte // alive until the next call, because the host reads it after the export has returned

	debt      int    // estimate of the bytes allocated since the last look at stats
	collected uint64 // stats.TotalAlloc at the last collection
	stats     runtime.MemStats
}

// buffer is one block lent to the host. Go's collector does not move what it manages, so holding the slice pins it.
type buffer struct {
	start uintptr
	words []uint64 // words, not bytes: only these are sure to be 8-aligned
}

func (b buffer) size() int { return len(b.words) * 8 }

// alloc lends the host a zeroed, 8-aligned buffer of at least n bytes and returns its address; 0 if n is not
// positive or the buffers would pass [maxBuffers] or [maxHeldBytes].
func (m *memory) alloc(n int) uintptr {
	if n <= 0 || n > maxHeldBytes-m.held || len(m.buffers) == maxBuffers {
		return 0
	}
	words := make([]uint64, (n+7)/8)
	b := buffer{uintptr(unsafe.Pointer(unsafe.SliceData(words))), words}
	m.buffers = append(m.buffers, b)
	m.held += b.size()
	return b.start
}

// free takes back the buffer that starts at address start. It reports false if there is none.
func (m *memory) free(start uintptr) bool {
	for i, b := range m.buffers {
		if b.start == start {
			last := len(m.buffers) - 1
			m.buffers[i] = m.buffers[last]
			m.buffers[last] = buffer{}
			m.buffers = m.buffers[:last]
			m.held -= b.size()
			m.owe(b.size())
			return true
		}
	}
	return false
}

// view returns the n bytes at address start. It reports false unless they all lie inside one live buffer.
func (m *memory) view(start, n uintptr) ([]byte, bool) {
	for _, b := range m.buffers {
		size := uintptr(b.size())
		if start < b.start || start-b.start > size {
			continue
		}
		offset := start - b.start
		if n > size-offset {
			continue // the next buffer may begin where this one ends
		}
		all := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(b.words))), b.size())
		return all[offset : offset+n : offset+n], true
	}
	return nil, false
}

// call runs one operation on the n bytes at address start and keeps the answer alive until the next call.
func (m *memory) call(op uint32, start, n uintptr) (answer []byte, failed bool) {
	m.answer = nil
	request, ok := m.view(start, n)
	var ran bool
	if !ok {
		m.answer, failed = []byte(errBadBuffer), true
	} else if m.answer, failed, ran = trapOperation(op, request); !ran {
		m.answer, failed = dispatch(op, request)
	}
	// A document of n bytes becomes nodes, strings and an answer. The factor only decides how often stats is read.
	m.owe(4096 + 16*int(n) + 2*len(m.answer))
	return m.answer, failed
}

// reset takes back all buffers and the last answer and collects.
func (m *memory) reset() {
	m.buffers, m.held, m.answer, m.debt = nil, 0, nil, 0
	runtime.GC()
	runtime.ReadMemStats(&m.stats)
	m.collected = m.stats.TotalAlloc
}

// owe adds n bytes that may have become garbage.
func (m *memory) owe(n int) { m.debt += n }

// settle collects if enough garbage may be there. Exports call it last, when nothing of theirs is needed any more.
func (m *memory) settle() {
	if m.debt < maxDebt {
		return
	}
	m.debt = 0
	runtime.ReadMemStats(&m.stats)
	if m.stats.TotalAlloc-m.collected < maxDebt {
		return
	}
	runtime.GC()
	m.collected = m.stats.TotalAlloc
}
