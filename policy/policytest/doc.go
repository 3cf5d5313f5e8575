// Package policytest holds the scenarios that every front of Podfate answers alike, and what their
// runners share.
//
// A scenario is a txtar file in scenarios. Its head says in a sentence or two what it shows and
// names the source. Then come
//
//	-- manifest.yaml --   the manifest, shared by the requests below
//	-- decide.yaml --     a request without its manifest; the name is the operation
//	-- decide.want --     the answer in words, one line per fact; see [Summary]
//	-- validate.json --   or: a request as it is, byte for byte
//
// The words are the norm and are reviewed by hand; go test ./policy/policytest -update writes them
// again. The bytes of an answer are not stored: each front (a [Door]) must give those of the native
// core.
//
// A file name is a few words; the letters in front of a number (a1, c23) are those of the list of
// real questions that the scenarios began with.
package policytest
