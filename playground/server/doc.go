// Package server answers Podfate's operations over HTTP and serves the playground.
//
// A request takes one road: the outer handler gives it an id, headers, a log line and a metric
// (middleware.go); the route table finds its handler (routes.go); for an operation the gate lets it
// in (gate.go), its body is read in one place (decode.go), the engine answers (evaluator.go), and
// the bytes go out as they came. Whatever fails on that road is an error value, and problem.go
// alone turns errors into status codes and problem documents.
//
// The server keeps nothing between requests: no session, no cookie, no cache of answers. What a
// client sent is in no log, no metric and no other client's answer.
//
// # Memory
//
// The sum of all bounds, for a limit of 256 MiB resident:
//
//	program, machine code of the module     48 MiB
//	instances           5 x 16 MiB          80 MiB   replaced when larger; a healthy one stays below 8 MiB
//	request bodies     64 x 256 KiB         16 MiB
//	reading YAML        1 x 45 MiB          45 MiB   a large text; these are read one at a time
//	                    4 x 5.5 MiB         22 MiB   texts of up to 16 KiB
//	connections       512 x 24 KiB          12 MiB   two stacks, two 4 KiB buffers, headers
//	  told to leave   512 x 16 KiB           8 MiB   one stack, two 4 KiB buffers
//	  refused        3072 x  8 KiB          24 MiB   a stack, the kernel's part not counted
//	                                       255 MiB
//
// The command gives Go a memory limit below that, and an idle server returns what it does not need.
//
// # Why does a request wait before its body is read?
//
// A body in memory is what overload is made of. A request that may not enter costs a connection and
// nothing more. The price is that a client which stops in the middle of its body holds a place; so
// the first such client loses it as soon as another one waits (see gate.go).
//
// # Why are there no cross-origin headers?
//
// The module runs in the reader's own browser, so a page on another site has no need of this API.
// Adding Access-Control-Allow-Origin later is one line; taking it away again would break somebody.
//
// # Why do keep-alive connections stay open during shutdown?
//
// Switching keep-alives off before the pause makes the server close connections under answers that
// are still on their way. With them on, clients learn of the shutdown from /readyz or from the
// closed listener, and no answer is lost.
package server
