package wasm

import (
	"context"
	"sync"
	"syscall"

	"github.com/tetratelabs/wazero/experimental"
)

// mappings gives instances memory that does not come from Go's heap. What an instance leaves behind goes back to the
// system at once, and a memory that grows is not copied. On the heap, four thousand replaced instances left the process
// a sixth larger than when it was idle, until the collector had its turn.
//
// A mapping is as large as the memory may become; pages that nobody touched cost nothing. It is kept for the next
// instance, never unmapped: whoever still held a view of it would read zeros instead of ending the process. Linux only,
// since elsewhere discarded pages do not promise zeros.
type mappings struct {
	mu   sync.Mutex
	free map[int][][]byte // by length
}

// madvHugepage is MADV_HUGEPAGE of Linux, which package syscall does not name.
const madvHugepage = 14

// freed is shared by all hosts.
var freed = mappings{free: map[int][][]byte{}}

// outsideHeap lets the instances that are made with the returned context have such memory.
func outsideHeap(ctx context.Context) context.Context {
	return experimental.WithMemoryAllocator(ctx, &freed)
}

// Allocate implements experimental.MemoryAllocator. It panics if the system has no address space left, which
// instantiation turns into an error.
func (m *mappings) Allocate(_, most uint64) experimental.LinearMemory {
	size := int(most)
	m.mu.Lock()
	defer m.mu.Unlock()
	if list := m.free[size]; len(list) > 0 {
		last := len(list) - 1
		m.free[size] = list[:last]
		return &mapping{m, list[last]}
	}
	data, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		panic("wasm: no memory for an instance: " + err.Error())
	}
	// Large pages where the system has them: an instance starts in half the time. A system without them says no, and
	// nothing is lost.
	_ = syscall.Madvise(data, madvHugepage)
	return &mapping{m, data}
}

type mapping struct {
	of   *mappings
	data []byte
}

// Reallocate implements experimental.LinearMemory. It never moves the memory.
func (m *mapping) Reallocate(size uint64) []byte {
	if size > uint64(len(m.data)) {
		return nil
	}
	return m.data[:size]
}

// Free implements experimental.LinearMemory: the pages go back to the system, and read as zeros from now on.
func (m *mapping) Free() {
	if err := syscall.Madvise(m.data, syscall.MADV_DONTNEED); err != nil {
		clear(m.data)
	}
	m.of.mu.Lock()
	defer m.of.mu.Unlock()
	m.of.free[len(m.data)] = append(m.of.free[len(m.data)], m.data)
}
