package wasm

import (
	"sync"
	"syscall"

	"github.com/tetratelabs/wazero/experimental"
)

// mappings gives instances memory that does not come from Go's heap. What an instance leaves behind
// goes back to the system at once, and a memory that grows is not copied. On the heap, four
// thousand replaced instances left the process a sixth larger than when it was idle, until the
// collector had its turn.
//
// A mapping is as large as the memory may become; pages that nobody touched cost nothing. It is
// kept for the next instance, never unmapped: whoever still held a view of it would read zeros
// instead of ending the process. Linux only, since elsewhere discarded pages do not promise zeros.
type mappings struct {
	mu   sync.Mutex
	free map[int][][]byte // by length

	// For tests, which let each of them fail; nil does what the system does.
	mmap    func(size int) ([]byte, error)
	discard func([]byte) error
	grow    func(size uint64) error
}

// madvHugepage is MADV_HUGEPAGE of Linux, which package syscall does not name.
const madvHugepage = 14

// outsideHeap is shared by all hosts.
var outsideHeap experimental.MemoryAllocator = &mappings{free: map[int][][]byte{}}

// Allocate implements experimental.MemoryAllocator. It panics with [noMemory] if the system gives
// none: wazero asks for no error here, and newInstance makes one of the panic.
func (m *mappings) Allocate(_, most uint64) experimental.LinearMemory {
	size := int(most)
	m.mu.Lock()
	defer m.mu.Unlock()
	if list := m.free[size]; len(list) > 0 {
		last := len(list) - 1
		m.free[size] = list[:last]
		return &mapping{of: m, data: list[last]}
	}
	mmap := m.mmap
	if mmap == nil {
		mmap = mapped
	}
	data, err := mmap(size)
	if err != nil {
		panic(noMemory{err})
	}
	return &mapping{of: m, data: data}
}

// mapped asks the system for size bytes of zeros.
func mapped(size int) ([]byte, error) {
	data, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return nil, err
	}
	// Large pages where the system has them: an instance starts in half the time. A system without
	// them says no, and nothing is lost.
	_ = syscall.Madvise(data, madvHugepage)
	return data, nil
}

type mapping struct {
	of   *mappings
	data []byte // nil once it is freed
}

// Reallocate implements experimental.LinearMemory. It never moves the memory.
func (m *mapping) Reallocate(size uint64) []byte {
	if size > uint64(len(m.data)) || m.of.grow != nil && m.of.grow(size) != nil {
		return nil
	}
	return m.data[:size]
}

// Free implements experimental.LinearMemory: the pages go back to the system, and read as zeros
// from now on. A second call does nothing, since two instances must never have one mapping.
func (m *mapping) Free() {
	if m.data == nil {
		return
	}
	data := m.data
	m.data = nil
	discard := m.of.discard
	if discard == nil {
		discard = func(b []byte) error { return syscall.Madvise(b, syscall.MADV_DONTNEED) }
	}
	if err := discard(data); err != nil {
		clear(data)
	}
	m.of.mu.Lock()
	defer m.of.mu.Unlock()
	m.of.free[len(data)] = append(m.of.free[len(data)], data)
}
