// Command seal links the guest and seals the module: it replaces the imports of the Go runtime by
// bodies inside the module, so that the file that ships imports nothing and no host has to supply a
// clock, a file or a random number.
//
//	go run ./wasm/seal -o wasm/policy.wasm
//
// writes policy.wasm and next to it policy.wasm.sha256. The same source and the same version of Go
// give the same bytes, in any folder. With -in it seals a module that is already linked.
//
// # How can imports be removed without renumbering?
//
// Functions are numbered with the imported ones first. The linker of Go imports functions only, so
// replacing the k-th import by the k-th defined function keeps each number, and only bodies are
// added in front. In the end the functions called from most places move to the front, where a
// number takes one byte; calls, exports and the table, all there is with such numbers, are changed.
//
// # What do the bodies do?
//
//	sched_yield, args_get, environ_get       return 0
//	args_sizes_get, environ_sizes_get        store 0 and 0: there are no arguments and no environment
//	clock_time_get                           a clock that advances 1 ms each time it is read; the runtime does not start with a clock that stands still
//	random_get                               fill with one constant byte: the seed of the maps is the same on every host
//	fd_write                                 append to the diagnostic area, report all as written
//	poll_oneoff                              store 0 events
//	proc_exit                                unreachable
//
// The diagnostic area holds what the runtime prints before it traps (the text of a panic, for
// instance). The global pf_diag is its address, pf_diag_len the number of bytes in it; what does
// not fit is dropped. It lies in the 8 KiB that the linker keeps free for the arguments that
// wasm_exec.js passes; with the reactor nobody writes there.
//
// # Why are names and line numbers removed?
//
// The Go runtime carries a table of its functions with names, files, line numbers and inlined
// calls, which the linker has no flag to leave out. Walking the stack needs sizes and maps only;
// the rest serves tracebacks, which nobody sees here. Without it the module is a tenth smaller
// (2.41 to 2.19 MB, 537 to 452 KB with brotli 11). The price: what a trap leaves in the diagnostic
// area has the text of the panic but no names. What is known of arguments, where signals may
// interrupt, and all of functions that never run goes too, another 49 KB. Refused: wasm-opt, a
// larger tool for half the gain, and none of it after compression. Look again when the version of
// the table changes: strip then fails.
//
// # Why is the data packed?
//
// Half of the memory that the linker describes are zeroes inside pointers, in runs too short for a
// data segment of their own, and still there were 30,000 segments of eight bytes of overhead. One
// segment of records with one or two bytes of overhead, unpacked by a function in front of
// _initialize, makes the module another tenth smaller (2.49 to 2.21 MB, 503 to 471 KB with brotli
// 11) and quicker to start (2.9 to 1.7 ms in Node.js), since engines apply segments one by one. The
// table that leads from a program counter to a function, 640 KB of counting, is counted out by the
// same function. Refused: compression proper; it would not survive brotli and takes longer to undo.
//
// # Why is the code rewritten?
//
// The compiler of Go writes for WebAssembly as for a machine with registers and jumps, and engines
// do not see through it. A function is a loop around a br_table, and each jump goes to the top of
// it; the address of a variable is computed with 64 bits and cut. The passes over the code put the
// same in fewer bytes, and engines make of it machine code that is up to twice as quick:
//
//	foldStackOffsets     an offset from the stack pointer goes into the access to memory; 29,000 places
//	mergeReturns         a return adds to the stack pointer once
//	negateComparisons    a comparison that is negated becomes its opposite
//	shortenJumps         a jump forward leaves the block that ends at its target; blocks that nothing leads to go, and what cannot be reached
//	shortenCalls         the return address is passed as parameter, and the function that is called pushes it; 16,000 places
//	dropReloads          the stack pointer is not reread after calls, since no stack shrinks, and functions that only ever unwind are left at once
//	shareAddresses       what the return addresses of a function have in common is kept in a variable; 43 KB of 956 with brotli 11
//
// The first two rely on the stack pointer being an address in memory and equal in its global and
// its local variable, as the compiler keeps it. shortenJumps relies on knowing where a function can
// be resumed: at the program counters that occur as numbers in the code or in the data, at its
// start and the point behind, and at the call of deferreturn that the table of functions names. A
// test makes all other points trap and runs stacks that grow, goroutines that switch and panics
// that are recovered. shortenCalls relies on resume points being below 65536 and return addresses
// above, which is how a program counter is made of the two. Refused: reading what functions mean
// any further (types, aliases, loops), which is the work of a compiler.
//
// # Why are functions of the runtime removed?
//
// The linker keeps what something refers to, and the runtime refers to all of itself: execution
// traces, profiles, GODEBUG, threads, C. dead.go lists what cannot run here and why; its bodies
// become traps, so a wrong entry drops an instance and gives no wrong answer. What only the listed
// functions lead to goes with them: 190 KB, with their records. A program counter anywhere in the
// data keeps its function, except for function values whose address nothing but dead code names.
// The lists are for one release of Go, which the seal demands; a test demands each name. Refused:
// removing what was merely never seen to run, three times as much; and printing nothing at all,
// since the text of a panic is what finds it.
//
// # Why is every assumption checked?
//
// The format is wide and the linker of Go uses little of it. What this program does not know it
// cannot move safely, so an unknown section, import, signature or kind of segment ends the build
// and asks a person to look.
//
// # Why a memory maximum of 1024 pages?
//
// See the documentation of package wasm, which enforces the same number as a host.
package main
