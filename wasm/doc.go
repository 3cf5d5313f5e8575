// Package wasm runs Podfate's module, policy.wasm, on wazero. The bytes are embedded; a [Host] compiles them once and
// keeps a pool of instances, each of which serves one call at a time.
//
// The module imports nothing and exports this ABI, version 1.0. Whoever writes another host needs only this table.
//
//	memory          at most 1024 pages of 64 KiB; a host never grows it and takes a fresh view after each call
//	_initialize     () -> ()                    once, before all else
//	pf_abi_version  () -> i32                   major<<16 | minor; refuse another major, accept a higher minor
//	pf_alloc        (n i32) -> i32              address of a zeroed, 8-aligned buffer of at least n bytes that stays where
//	                                            it is; 0 if n <= 0 or beyond 64 buffers or 16 MiB together
//	pf_free         (ptr i32) -> i32            0, or -10 if no live buffer starts there
//	pf_call         (op, ptr, len i32) -> i64   runs an operation on a JSON request inside a live buffer
//	pf_reset        () -> i32                   0; takes back all buffers, forgets the answer, collects garbage
//	pf_diag         global i32                  address of what the runtime of the module printed before a trap
//	pf_diag_len     global i32, mutable         its length, at most 8192
//
// The result of pf_call:
//
//	bits 63 to 32   address of the answer
//	bit  31         1 if the answer is {"error":{"code":…,"num":…,…}}
//	bits 30 to 0    length of the answer, never 0
//
// The answer belongs to the module and lives until the next pf_call or pf_reset: copy it at once, never free it. Operation
// numbers are those that describe (number 1) lists. After a trap, or an answer that breaks a rule of this page, drop the
// instance: the module's stack and locks are as the trap left them, and it would go on answering, wrongly.
//
// # Why JSON through linear memory?
//
// Every language has JSON and can copy bytes; none needs generated bindings, and an answer can be read in a log. The component model
// would give types, but browsers and half of the engines do not run it. Reading and writing JSON is part of the time of a call; look
// again when a caller needs many decisions per second against one manifest, for which the packed batch is planned.
//
// # Why is the module sealed?
//
// A Go module wants ten functions of WASI from its host although it does no I/O. Each host would supply them
// a little differently (a clock that stands still stops the runtime, one Node.js release crashes when the guest runs out of memory), and
// answers could come to depend on them. The command in seal puts constant bodies inside, so a host
// instantiates with nothing and the same bytes in give the same bytes out. See its documentation.
//
// # Why is the digest checked, when the module is embedded?
//
// [Options.Module] may come from a disk or a network. What runs is then what was asked for, or nothing: a module whose
// digest differs is not even compiled. A caller who wants another module has to say which.
//
// # Why 1024 pages of memory, and not 512?
//
// The runtime and the program take 4 MiB. The worst request of 1 MiB known, one object of 210,000 members, takes 47.5 MiB to
// be refused in an orderly way, and traps at 32 MiB. A trap on a request within the limits is a fault, so 64 MiB it is.
// Real requests are far from that: 10,000 decisions of 1 KB leave an instance at 5 MiB. If the reader of JSON comes to
// bound the number of values, 512 pages are enough, and that is worth changing.
//
// # How much memory does a host use?
//
// Instances and one spare, each at most 64 MiB while it runs and, since one above 256 pages is replaced after its call,
// at most 16 MiB while it waits. With the default of 4 that is 4 x 64 + 16 = 272 MiB if four callers send the worst request at one
// moment, and 5 x 5 = 25 MiB otherwise. Add 25 MiB of compiled code (60 while it is compiled), and 1 MiB of request and 4 MiB of answer per call. Requests of
// at most 256 KiB, which is what the playground takes, need a quarter: 4 x 16 + 16 = 80 MiB.
//
// # Why is a running call not interrupted when its context ends?
//
// wazero can ([Options.Interruptible]), but then each loop of the compiled module asks on every turn, which means leaving machine code:
// a loop of 10,000 additions went from 11 to 287 µs, a collection from 0.14 to 0.94 ms, a call of decide from 0.09 to 0.53 ms
// (two shared cores, wazero 1.12). Every loop of the core is bounded by the size of its input and by a budget of steps, so
// the default is off, and the context bounds the wait for an instance. Set it where the module is not ours. There is no choice by size
// of the request, because both kinds of code would be compiled and kept; a caller can have two hosts.
//
// # Why is compiled code not shared between hosts?
//
// A cache in memory shared by two runtimes loses its code when one of them closes (wazero issue 2336). Each host
// compiles for itself, and a program needs one. A directory ([Options.CacheDir]) saves compiling between runs: 35 ms
// instead of 590. What lies there is machine code that this process will run, so it has to be private.
//
// # Why is an instance replaced after 100,000 calls, or above 256 pages?
//
// Linear memory never shrinks, and the collector of the guest does not move what it keeps. Making an instance costs
// 3 ms, in the background, so once in 100,000 calls it is 30 ns a call. 256 pages are three times what any real manifest needs.
//
// # Why is there a spare?
//
// After a trap the next caller would wait 3 ms for a new instance. It takes the spare, and the background makes another. More than one spare
// would only help if several callers trapped in the same few milliseconds.
//
// # Why is every answer parsed before it is handed on?
//
// A module that has gone wrong may return a wrong pointer, half an answer, or another caller's. Pointer, length, UTF-8, JSON and the shape of
// an error are checked. This costs about 3 µs for an answer of 1 KB, and the instance is dropped if one check fails.
package wasm
