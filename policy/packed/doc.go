// Package packed reads and writes the batches of the module's ABI: numbers in little-endian order,
// every size a multiple of 8, no text. Package wasm documents the layout. Callers in Go that have
// no bytes to pass on use [policy.Batch] with slices of plain structs.
//
// # Why a package of its own?
//
// The core is compiled for the module without inlining, which saves much and costs little; here it
// would cost ten calls for each event. See outOfLine in wasm/seal.
package packed
