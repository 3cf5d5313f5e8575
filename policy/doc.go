// Package policy decides what Kubernetes does when a container exits.
//
// It holds the types of a Pod as far as they matter for that, what differs between releases and
// gates ([Features]), and the decision itself: [Compile] works it out once for every container and
// rule, [Policy.Decide] looks it up, [Trace] explains it. The packages below say what the API
// server does with these types (policy/admission), read manifests (policy/manifest) and carry the
// operations that every front offers (policy/ops).
//
// Terms are those of Kubernetes. A rule is an entry of restartPolicyRules; a sidecar is an init
// container whose own restartPolicy is Always; a plain init container is any other; a main
// container is in spec.containers.
//
// Everything here is a function of its arguments: no clock, no randomness, no files, no goroutines,
// no variable that changes. Durations are whole milliseconds. Only a short list of the standard
// library is imported, which imports_test.go enforces: the package is compiled into a WebAssembly
// module whose size is part of what it offers.
//
// # Sources
//
// The truth is the code of Kubernetes v1.33.5, v1.34.1, v1.35.4, v1.36.3 and v1.37.1; each function
// names what it follows. policy/upstream runs that code next to this one.
//
// # Why a table per container?
//
// Kubernetes walks the rules at each exit: its cost grows with rules times values. An exit code has
// few outcomes, one per first matching rule and sign of success, so compiling lists the outcomes
// and maps the 256 codes of a process to them; values that no process returns go to a map. A
// decision is then two loads, the same for one rule and for 20 of 255 values, at 4 KiB a container.
// Refused: a switch over sorted values (a search, and NotIn needs its complement), bit sets per
// rule (still a walk). Look again if manifests ever have thousands of containers.
//
// # Why strings for actions and levels?
//
// They are what the manifest and the answers say, a decision that is printed needs no table, and a
// comparison of two constant strings costs about as much as one of numbers.
package policy
