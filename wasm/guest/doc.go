// Command guest is the WebAssembly side of Podfate: the exports that a host calls, around the operations of
// package ops. The ABI it implements is the table in the documentation of package wasm.
//
// It is linked as a Go reactor (GOOS=wasip1 GOARCH=wasm -buildmode=c-shared) and then sealed by the command in
// ../seal, which also runs the link with the one right set of flags. main is empty: a reactor only runs its exports.
//
// Everything but the exports compiles and is tested natively. What may be imported is short, because each package
// costs bytes in every browser and may bring an import of the host with it: a test holds the list.
//
// # Why is garbage collected by hand?
//
// The collector of Go runs in goroutines beside the program. Between two exported calls no goroutine runs, so a
// collection that starts is not finished and memory only grows. The guest therefore estimates what a call may have
// left behind, looks at the allocator's own count once the estimate passes [maxDebt], and collects at the end of
// an export when that count has grown by maxDebt. Looking costs about 5 µs and a collection about 140 µs, so both are rare.
//
// # Why are panics recovered here, when hosts drop a trapped instance anyway?
//
// A recovered panic gives the caller an answer with a code, on every engine the same. Stack overflow and running out of memory cannot be
// recovered; they end as a trap and are prevented by the limits of the core.
package main
