// Package machine is what the exports of the module do: buffers that it lends to its host, compiled
// policies behind handles, calls of package ops, and garbage collected at the right moment. The
// contract is the table in the documentation of package wasm.
//
// It compiles and is tested natively, where it is also what makes the conformance vectors: the
// exports of the guest only turn its results into the numbers of the ABI.
//
// # Why is garbage collected by hand?
//
// The collector of Go runs in goroutines next to the program. Between two exported calls no
// goroutine runs, so a collection that starts is not finished and memory only grows. The machine
// therefore estimates what a call may have left behind, looks at the allocator's own count once the
// estimate passes [maxDebt], and collects at the end of an export when that count has grown by
// maxDebt. Looking costs about 5 µs and a collection about 140 µs, so both are rare.
//
// # Why do calls use their memory again?
//
// A collection takes as long as ten to twenty decisions, so what counts is how much garbage a call
// leaves. Most of it was the list of values of the request and the answer (7 KB about a small Pod,
// now 2); [ops.Memory] keeps them for the next call, up to 14 and 16 KiB, and a panic or pf_reset
// drops them. The Pod itself is a new one in each call: a policy may keep parts of it.
//
// # Why are panics recovered here, when hosts drop a trapped instance anyway?
//
// A recovered panic gives the caller an answer with a code, on every engine the same. Stack
// overflow and running out of memory cannot be recovered; they end as a trap and are prevented by
// the limits of the core.
//
// # Why do handles have a generation?
//
// A host that mixes up its handles would otherwise be answered by another policy. A place is used
// by 2^19 policies one after the other and then never again, so that no handle is given twice;
// pf_reset does not start over.
package machine
