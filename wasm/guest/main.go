package main

import "github.com/podfate/podfate/policy/ops"

// abiVersion is major<<16 | minor. A host refuses another major and accepts a higher minor.
//
//lint:ignore U1000 the exports use it, and only the module has them
const abiVersion = 1 << 16

// The errors that the guest itself answers with; all others come from package ops. Error numbers are those of the ABI.
const (
	errInternal  = `{"error":{"code":"INTERNAL","num":9,"message":"the module met an impossible state; the instance should be replaced"}}`
	errBadBuffer = `{"error":{"code":"BAD_BUFFER","num":10,"message":"the request does not lie inside a live buffer of this instance"}}`
)

// main is empty: a reactor is initialised once and then only answers its exports.
func main() {}

// dispatch runs operation op on request and returns the payload. failed says that the payload is an error object.
// There is always a payload: a panic becomes error INTERNAL.
func dispatch(op uint32, request []byte) (answer []byte, failed bool) {
	return guarded(ops.Call, op, request)
}

// guarded is dispatch with the operations as an argument, so that a test can bring one that panics.
func guarded(call func(uint32, []byte) ([]byte, bool), op uint32, request []byte) (answer []byte, failed bool) {
	defer func() {
		if recover() != nil {
			answer, failed = []byte(errInternal), true
		}
	}()
	answer, failed = call(op, request)
	if len(answer) == 0 { // a pointer to nothing would not be an answer that a host can check
		return []byte(errInternal), true
	}
	return answer, failed
}
