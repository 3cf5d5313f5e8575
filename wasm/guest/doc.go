// Command guest is the WebAssembly side of Podfate: the exports that a host calls. The ABI is the
// table in the documentation of package wasm, what they do is package machine.
//
// It is linked as a Go reactor (GOOS=wasip1 GOARCH=wasm -buildmode=c-shared) and then sealed by the
// command in ../seal, which also runs the link with the one right set of flags. main is empty: a
// reactor only runs its exports.
//
// What may be imported is short, because each package costs bytes in every browser and may bring an
// import of the host with it: a test holds the list.
package main
