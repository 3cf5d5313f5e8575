// Package wasm runs Podfate's module, policy.wasm, on wazero. The bytes are embedded; a [Host]
// compiles them once and keeps a pool of instances, each of which serves one call at a time.
//
// The module imports nothing and exports this ABI, version 1.1. Whoever writes another host needs
// only this page; plugins/README.md shows it at work and plugins/c/podfate.h has it in C. From here
// on it only grows: no number, size or meaning changes.
//
//	memory          at most 1024 pages of 64 KiB; a host never grows it and takes a fresh view after each call
//	_initialize     () -> ()                    once, before all else
//	pf_abi_version  () -> i32                   major<<16 | minor; refuse another major, accept a higher minor
//	pf_alloc        (n i32) -> i32              address of a zeroed, 8-aligned buffer of at least n bytes that stays where
//	                                            it is; 0 if n <= 0 or beyond 64 buffers or 16 MiB together
//	pf_free         (ptr i32) -> i32            0, or -10 if no live buffer starts there
//	pf_call         (op, ptr, len i32) -> i64   runs an operation on a JSON request inside a live buffer
//	pf_compile      (ptr, len i32) -> i64       keeps the manifest of a request (that of decide, without exits) compiled
//	pf_release      (h i32) -> i32              0, or -5 if no policy has this handle
//	pf_eval         (h, ptr, len i32) -> i64    one JSON exit against a compiled policy
//	pf_eval_batch   (h, in, inLen, out, outLen i32) -> i32
//	                                            packed events against a compiled policy: how many were answered, or a
//	                                            negated error number and nothing written
//	pf_reset        () -> i32                   0; takes back all buffers and policies, forgets the answer, collects garbage
//	pf_diag         global i32                  address of what the runtime of the module printed before a trap
//	pf_diag_len     global i32, mutable         its length, at most 8192
//
// A custom section named podfate says what the file is:
// {"product":"podfate","version":…,"abi":"1.1","schema":"v1"}.
//
// # Results
//
// What pf_call, pf_compile and pf_eval return:
//
//	bits 63 to 32   address of the answer
//	bit  31         1 if the answer is {"error":{"code":…,"num":…,…}}
//	bits 30 to 0    length of the answer, never 0
//
// The answer belongs to the module and lives until the next pf_call, pf_compile, pf_eval or
// pf_reset: copy it at once, never free it. Operation numbers are those that describe (number 1)
// lists. After a trap, or an answer that breaks a rule of this page, drop the instance: the
// module's stack and locks are as the trap left them, and it would go on answering, wrongly.
// Policies are gone with it; a host keeps their requests and compiles again. The same applies after
// INTERNAL.
//
// Version 1.0 had the operations 1 to 5; 1.1 has those from 6 on. A module that does not know a
// number answers UNSUPPORTED_OP, so a host need not ask for the version first.
//
// # Errors
//
//	1 BAD_JSON          5 UNKNOWN_HANDLE   9 INTERNAL, a panic that was caught
//	2 BAD_UTF8          6 LIMIT_EXCEEDED  10 BAD_BUFFER
//	3 MANIFEST_INVALID  7 UNSUPPORTED_OP  11 OUTPUT_TOO_SMALL
//	4 EVENT_INVALID     8 UNSUPPORTED_VERSION  12 BUDGET_EXCEEDED
//
// The payload is
// {"error":{"code","num","message","path","offset","line","column","limit","faults"}} in this
// order, without the members that have nothing to say. Numbers and codes are append-only. limit
// names what describe lists under limits.
//
// # Policies
//
// pf_compile answers {"handle","containers","conditions","dropped","warnings","cluster"}. A handle
// is a positive number that the instance gives once and never again, also after pf_reset; its bits
// are not for callers. containers are names, and the position of a name is the number of the
// container in a batch: main containers, then init, then ephemeral ones. conditions are
// {"type","status"} of the Job's podFailurePolicy, by number. At most 4096 policies (limit handles)
// and 8 MiB of them (handleBytes) live in one instance.
//
// pf_eval takes an entry of decide's exits and gives that decision without its trace. With restarts
// (since the back-off was last reset) and ranForMillis, a restart has delayMillis.
//
// Schemas: https://podfate.dev/schema/v1/NAME.schema.json with the names compile-request,
// compile-answer, eval-request and eval-answer.
//
// # Batch
//
// Little-endian. Addresses are 8-aligned; in and out lie in live buffers, in the same one or not,
// and do not overlap. inLen is exactly the header and the records.
//
//	header 24 B    0 u32 "PFB1"   4 u16 version 1   6 u16 record size, 32 to 1024, a multiple of 8
//	               8 u32 count, at most 65536   12 u32 question: 0 exits, 1 failed Pods of a Job   16 u64 0
//	event  32 B    0 i32 exitCode   4 u16 container, 0xFFFF for none   6 u16 flags   8 u32 history   12 u32 tag
//	              16 i64 ranForMillis   24 u64 conditions
//	answer 16 B    0 u32 "PFR1"   4 u16 version 1   6 u16 record size 24   8 u32 count   12 u32 verdicts with a status
//	verdict 24 B   0 u8 action   1 u8 status   2 u16 rule, 0xFFFF for none   4 u8 reason   5 u8 level   6 u8 ignored   7 u8 flags
//	               8 i64 waitMillis, -1 for none   16 u16 container   18 u16 condition   20 u32 tag
//
//	event flags    1 OOM_KILLED: the runtime's reason
//	               2 HISTORY: history and ranForMillis count; without it waitMillis is -1
//	               4 MORE: the next record is about the same Pod (question 1)
//	               8 RESTARTS: conditions holds restart counts (question 0)
//	verdict flags  1 POD_FAILS   2 UNDECIDED: no action, rule and reason say why   4 COUNTED towards the Job's limits
//	               8 MORE: no action, the verdict is that of a later record of the Pod
//	status         0, or the number of an error, 4
//	action         0 none, 1 Restart, 2 RestartAllContainers, 3 Stop, 4 FailJob, 5 FailIndex, 6 Ignore, 7 Count, 8 Complete,
//	               9 Terminate, 10 TerminatePod, 11 RestartPod
//	level          0 none, 1 rule, 2 container, 3 pod, 4 default, 5 limit
//	reason         0 none, 1 rule_matched, 2 policy_always, 3 policy_on_failure_failed, 4 policy_on_failure_succeeded, 5 policy_never,
//	               6 unknown_pod_policy, 7 sidecar_always_restarts, 8 init_completed, 9 init_retried, 10 ephemeral_never_restarts,
//	               11 unknown_action, 12 unknown_operator, 14 managed_by (these UNDECIDED), 13 no_rule_matched,
//	               15 policy_always_pod, 16 restart_limit_reached
//	ignored        why a rule that matched did not decide: 0 none, 1 unknown_action, 2 gate_off, 3 sidecar, 4 init_completed, 5 no_policy,
//	               6 restart_limit
//
// A malformed header, or one that disagrees with inLen, is -4; another version -8; too many records
// -6; an address that does not fit -10; a short out -11. A record that is not meaningful (a
// container or condition without a number, a flag that is not known, a run of less than nothing, a
// Pod that is not complete) fails alone, with status 4. What a newer host has after byte 32 of a
// record is skipped.
//
// Question 0, exits: container may be 0xFFFF if the Pod has one main container. history is how
// often the container was restarted since its back-off was last reset, ranForMillis how long it
// ran. Conditions are 0, or with RESTARTS, which rules of proposals ask for, the restartCount of
// the container, and in the upper half the sum of those of all containers. The verdict is that of
// pf_eval for the same exit, waitMillis its delayMillis.
//
// Question 1, failed Pods, for a Job: one record for each terminated container, those of
// containerStatuses before those of initContainerStatuses, each in the order of the list; 0xFFFF is
// a container that the Job does not name, such as one that an admission webhook added. A Pod
// without terminated containers is one record with exitCode 0. All records of a Pod but the last
// have MORE; the verdict is with the last. conditions of all records are put together. history
// is the number of failures in a row before this one (of the index, with backoffLimitPerIndex),
// ranForMillis is 0. The verdict is that of decide for such a Pod in pods: its action, rule and
// whether it is counted. The caller must pass only failed Pods that belong to the Job and have a
// valid index.
//
// # Why a record for each container of a failed Pod?
//
// A podFailurePolicy asks which rule is the first that any terminated container or any condition
// matches: the least over the records, so a Pod of any number of containers needs no list inside a
// record and no second table. One record with the container that matters would ask the caller to
// know the answer.
//
// # Why has the record no signal, no counters of the Job, no condition texts?
//
// No decision reads a signal: the kubelet and the Job controller compare exit codes. Failures and
// limits of a Job over time are a simulation, not a match. Conditions are compared by type and
// status only, so a bit for each pattern of the policy says all.
//
// # Why does the wait need no clock?
//
// The kubelet's back-off follows from how often and how long a container ran. One thing does not:
// when kubelets look for entries to forget, every two seconds. If the entry is forgotten during the
// wait, waitMillis is at most 2000 more than the container waits.
//
// # Why JSON through linear memory?
//
// Every language has JSON and can copy bytes; none needs generated bindings, and an answer can be
// read in a log. The component model would give types, but browsers and half of the engines do not
// run it. Reading and writing JSON is most of the time of a call; who needs many decisions per
// second against one manifest has the packed batch.
//
// # Why is the module sealed?
//
// A Go module wants ten functions of WASI from its host although it does no I/O. Each host would
// supply them a little differently (a clock that stands still stops the runtime, one Node.js
// release crashes when the guest runs out of memory), and answers could come to depend on them. The
// command in seal puts constant bodies inside, so a host instantiates with nothing, and what comes
// out depends on what goes in and on nothing else. See its documentation.
//
// # Why is the digest checked, when the module is embedded?
//
// [Options.Module] may come from a disk or a network. What runs is then what was asked for, or
// nothing: a module whose digest differs is not even compiled. A caller who wants another module
// has to say which.
//
// # Why 1024 pages of memory, and not 512?
//
// The runtime and the program take 4 MiB, buffers 16, policies 8, the values of a request of 1 MiB
// 16. A trap on a request within the limits is a fault of the module. The worst known, an instance
// with all its buffers and policies that is asked about 128,000 wrong rules, ends at 56 MiB: faults
// beyond a few thousand are only counted, and their texts are not made. So 64 MiB it is. Real
// requests are far from that: 10,000 decisions of 1 KB leave an instance at 7 MiB. If the reader of
// JSON ever bounds the number of values, and hosts ask for less, 512 pages are enough, and that is
// worth changing.
//
// # How much memory does a host use?
//
// Instances and one spare, each at most 64 MiB while it runs and, since one above 256 pages is
// replaced after its call, at most 16 MiB while it waits. With the default of 4 that is 4 x 64 + 16
// = 272 MiB if four callers send the worst request at one moment, and 5 x 8 = 40 MiB otherwise. Add
// 25 MiB of compiled code (60 while it is compiled), and 1 MiB of request and 4 MiB of answer per
// call. Requests of at most 256 KiB, which is what the playground takes, need a quarter: 4 x 16 +
// 16 = 80 MiB.
//
// # Why is a running call not interrupted when its context ends?
//
// wazero can ([Options.Interruptible]), but then each loop of the compiled module asks on every
// turn, which means leaving machine code: a loop of 10,000 additions went from 11 to 287 µs, a
// collection from 0.14 to 0.94 ms, a call of decide from 0.09 to 0.53 ms (two shared cores, wazero
// 1.12). Every loop of the core is bounded by the size of its input and by a budget of steps, so
// the default is off, and the context bounds the wait for an instance. Set it where the module is
// not ours. There is no choice by size of the request, because both kinds of code would be compiled
// and kept; a caller can have two hosts.
//
// # Why is compiled code not shared between hosts?
//
// A cache in memory shared by two runtimes loses its code when one of them closes (wazero issue
// 2336). Each host compiles for itself, and a program needs one. A directory ([Options.CacheDir])
// saves compiling between runs: 35 ms instead of 590. What lies there is machine code that this
// process will run, so it has to be private; and, because wazero takes it as it is, with a checksum
// next to it: a damaged file is compiled again.
//
// # Why is an instance replaced after 100,000 calls, or above 256 pages?
//
// Linear memory never shrinks, and the collector of the guest does not move what it keeps. Making
// an instance costs 3 ms, in the background, so once in 100,000 calls it is 30 ns a call. 256 pages
// are three times what any real manifest needs.
//
// # Why is there a spare?
//
// After a trap the next caller would wait 3 ms for a new instance. It takes the spare, and the
// background makes another. More than one spare would only help if several callers trapped in the
// same few milliseconds.
//
// # Why is every answer parsed before it is handed on?
//
// A module that has gone wrong may return a wrong pointer, half an answer, or another caller's.
// Pointer, length, UTF-8, JSON and the shape of an error are checked. This costs about 3 µs for an
// answer of 1 KB, and the instance is dropped if one check fails.
package wasm
