// Package cli is the command podfate: the operations as verbs, and serve.
//
// A verb reads documents, builds the same requests as the HTTP API does from a body in YAML, asks
// the engine, and prints the answer: as JSON byte for byte as the core wrote it, as YAML, or as
// text for people. Verbs come from the one table of operations; what the command line adds to each
// (flags, examples, the form of the text) is in verbs.go.
//
// # Exit status
//
// 0: asked and answered. 1: something is wrong with the manifest or the rest of the request, or the
// answer could not be had. 2: the command line itself is wrong, or a file cannot be read.
//
// # Why does the text go to two streams?
//
// Answers go to standard output, what is wrong with the input to standard error, in the form
// FILE:LINE:COLUMN that editors and CI systems make clickable. With -o json or yaml everything that
// an operation answers, errors too, goes to standard output: whoever asks for a format wants to
// parse all of it.
package cli
