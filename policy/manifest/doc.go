// Package manifest reads and writes JSON, and reads Kubernetes objects out of it.
//
// [Parse] turns a text into [Value], a handle on a flat list of values that knows where each one
// is. [CheckFields] compares it with the Go types of a Kubernetes release, as strict decoding in
// the API server does. [ReadObject] then takes out what decisions need. [Writer] writes answers.
//
// # Why not encoding/json?
//
// In the WebAssembly module it costs 260 KB and about 20 µs for the smallest request, it forgets
// where a value was, and it takes the last of two members of the same name. This reader keeps
// offsets and decodes nothing that is not asked for. Look again if the standard library gets a
// reader without reflection that small modules can afford.
//
// # Why a table of fields?
//
// Unknown fields and wrong types are what people get wrong most, and the API server's messages are
// what they search for. A JSON Schema knows neither: it has no words, and one schema for each
// release would be 2 MB. The table has each field once, with the releases that know it, and takes
// 27 KB. policy/upstream/fields makes it and holds [CheckFields] against the decoder of each
// release. What is known to differ: at the root of a manifest Kubernetes also takes "Kind" for kind
// when it looks for the type; names and texts beyond policy.MaxQuotedBytes are cut here; Kubernetes
// replaces bytes that are not UTF-8, reads deeper than 64 levels and longer numbers.
//
// # Limits
//
// A text may have policy.MaxRequestBytes and policy.MaxDepth levels. Its values number at most half
// its bytes and take 28 bytes each, so that the worst text of 1 MiB, a list of digits, costs 14
// MiB: a quarter of the module's memory.
package manifest
