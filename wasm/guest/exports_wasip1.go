package main

import (
	"unsafe"

	"github.com/podfate/podfate/wasm/guest/machine"
)

// instance is the state behind the exports. A module instance has one caller at a time, so nothing
// guards it.
var instance machine.Machine

// errorFlag marks a result word whose payload is an error.
const errorFlag = 1 << 31

// result settles and makes the result word of an answer.
func result(answer []byte, failed bool) uint64 {
	word := uint64(uintptr(unsafe.Pointer(unsafe.SliceData(answer))))<<32 | uint64(len(answer))
	if failed {
		word |= errorFlag
	}
	instance.Settle()
	return word
}

//go:wasmexport pf_abi_version
func pfABIVersion() int32 { return machine.ABIVersion }

//go:wasmexport pf_alloc
func pfAlloc(n int32) uint32 {
	start := instance.Alloc(int(n))
	instance.Settle()
	return uint32(start)
}

//go:wasmexport pf_free
func pfFree(start uint32) int32 {
	r := instance.Free(uintptr(start))
	instance.Settle()
	return r
}

//go:wasmexport pf_call
func pfCall(op, start, n uint32) uint64 { return result(instance.Call(op, uintptr(start), uintptr(n))) }

//go:wasmexport pf_compile
func pfCompile(start, n uint32) uint64 { return result(instance.Compile(uintptr(start), uintptr(n))) }

//go:wasmexport pf_release
func pfRelease(handle uint32) int32 {
	r := instance.Release(handle)
	instance.Settle()
	return r
}

//go:wasmexport pf_eval
func pfEval(handle, start, n uint32) uint64 {
	return result(instance.Eval(handle, uintptr(start), uintptr(n)))
}

//go:wasmexport pf_eval_batch
func pfEvalBatch(handle, in, inLen, out, outLen uint32) int32 {
	return instance.EvalBatch(handle, uintptr(in), uintptr(inLen), uintptr(out), uintptr(outLen))
}

//go:wasmexport pf_reset
func pfReset() int32 {
	instance.Reset()
	return 0
}
