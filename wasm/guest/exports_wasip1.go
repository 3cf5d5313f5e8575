package main

import "unsafe"

// instance is the state behind the exports. A module instance has one caller at a time, so nothing guards it.
var instance memory

// errorFlag marks a result word whose payload is an error.
const errorFlag = 1 << 31

//go:wasmexport pf_abi_version
func pfABIVersion() int32 { return abiVersion }

//go:wasmexport pf_alloc
func pfAlloc(n int32) uint32 {
	start := instance.alloc(int(n))
	instance.settle()
	return uint32(start)
}

//go:wasmexport pf_free
func pfFree(start uint32) int32 {
	if !instance.free(uintptr(start)) {
		return -10
	}
	instance.settle()
	return 0
}

//go:wasmexport pf_call
func pfCall(op, start, n uint32) uint64 {
	answer, failed := instance.call(op, uintptr(start), uintptr(n))
	word := uint64(uintptr(unsafe.Pointer(unsafe.SliceData(answer))))<<32 | uint64(len(answer))
	if failed {
		word |= errorFlag
	}
	instance.settle()
	return word
}

//go:wasmexport pf_reset
func pfReset() int32 {
	instance.reset()
	return 0
}
