//go:build !linux

package wasm

import "github.com/tetratelabs/wazero/experimental"

// outsideHeap is nil: the memory of instances is on Go's heap.
var outsideHeap experimental.MemoryAllocator
