// Package diff compares Podfate's core with the code of Kubernetes itself, on random input.
//
// It holds what is the same for all releases: the generators, the comparisons, and [Release], the
// questions that a release must be able to answer. policy/upstream/kube answers them with the real
// packages; each folder v1.N links it with the packages of one minor version and runs [Run].
//
// What goes between is JSON, never a Go type of Kubernetes: the types differ from release to
// release, manifests do not, and so the core is tested on the whole road that a manifest takes.
//
// # Numbers
//
// PODFATE_UPSTREAM_CASES sets how many manifests are validated ([DefaultCases] if it is not set); a
// hundred times as many exits are decided, a tenth as many back-off sequences and gate settings are
// run. PODFATE_UPSTREAM_SEED sets the seed. Each case has its own generator, made from the seed and
// the number of the case, so that a difference names everything that is needed to see it again.
//
// # Intended differences
//
// The list is [Intended]; each entry has a test that it is still one. Everything else that differs
// fails.
package diff
