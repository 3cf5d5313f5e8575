// Package forecast says what the Pods and Jobs of a real cluster will do next, as kubectl get
// prints them: which are in a loop, what each waits for and when it starts, which never recover by
// themselves, and what the loops cost.
//
// What happens to a Pod is the core's judgement: each Pod that is not simply fine is one request of
// simulate that goes on from its status. This package reads the stream, adds up, and puts the sum
// into a document, a page of HTML, or metrics.
//
// # Why not an operation?
//
// A cluster prints 60 MB, and a request has at most 1 MiB. Pods are independent of one another, so
// that nothing is gained by asking about all at once.
package forecast
