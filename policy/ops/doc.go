// Package ops is the one table of operations behind every front: the command line, the HTTP API,
// the WebAssembly module and each plugin call [Call] with the same JSON and get the same bytes.
//
// An operation reads one JSON object and writes one. Unknown members are faults. All faults of a
// request are reported at once, in document order, each with path, line and column; the first group
// they belong to names the error: a version or gate outside the model, then the manifest, then the
// rest of the request.
//
// # Paths
//
// The path of a fault in the manifest starts at the manifest's root, as Kubernetes prints it; any
// other starts at the request's root (cluster.version, exits[0].container). Lines and columns, from
// 1, columns in Unicode code points, are those of the request text.
//
// # Why does describe not know the module's digest?
//
// A file cannot contain its own digest, and an answer that differs between the native core and the
// module would break the promise of equal bytes. So whoever loaded a module says what it loaded,
// and describe repeats it.
//
// # Why is an unknown action not simply a fault in decide?
//
// The API server refuses it, but a kubelet that is older than the API server meets it. If the
// request names a version, that version's kubelet is asked and its fallback is the answer;
// otherwise nobody knows what a later release will do, and the decision is undecided, with the
// reason.
//
// # Why two models in curve?
//
// The kubelet restarts a container at once the first time, and a sweep can forget a wait while it
// lasts; the documentation mentions neither, and proposals calculate with the documented rules.
// People ask for both, often to see why a published figure and a node differ, so the answer names
// its model and what it assumes. The lag of a node is left to simulate: a curve is what the rules
// alone say.
package ops
