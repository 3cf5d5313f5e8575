// Package quiet lets a program whose address space is limited (ulimit -v) end with a sentence
// instead of a hundred lines of stacks when Go's runtime itself gets no memory. It is imported for
// that alone.
//
// # Why does it start the program once more?
//
// The runtime reads GOTRACEBACK, and the C library MALLOC_ARENA_MAX, before any code of a program
// runs; no call can take back what they have read. So the package replaces the process by itself
// with both set. It does so once, without a limit never, and where GOTRACEBACK is set already it is
// the user's word that counts.
//
// # What is left?
//
// Go's runtime needs some 800 MB of addresses before an init function runs, and with cgo, whose
// threads ask for more, up to 1.5 GB at random. Below that it ends in its own words and with status
// 2. So the program is built with CGO_ENABLED=0, and between the two it answers or says in one line
// what it lacks.
//
// # Why in an init function?
//
// Each thread of the C library asks for a hundred MiB of addresses, and Go starts threads while
// packages initialise. This one imports so little that its turn comes before that.
package quiet
