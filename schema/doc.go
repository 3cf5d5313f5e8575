// Package schema reads what people write and says where it is: texts in YAML or JSON, one
// document or a stream, become one request for the core.
//
// [Decode] turns a text into documents, [NewRequest] puts documents together, and
// [Request.Relocate] turns the places in the core's answer, which count in the generated JSON, into
// places in the text. Everything that is wrong comes as [Faults]: code, path, line, column.
// [Faults.Payload] is the same as an error payload of the core, so that a front treats a text that
// could not be read like an operation that failed.
//
// The package also holds the JSON Schemas of requests and answers, as files for editors and OpenAPI
// ([FS]) and compiled ([Validate]): one of each for every operation (decide-request,
// decide-answer), and for what the module keeps compiled (compile-request, compile-answer of
// pf_compile, eval-request, eval-answer of pf_eval).
//
// # The road of a YAML text
//
// Size and encoding are checked first, then the text is split at its separators as kubectl does.
// Each document is read by yaml/v3 into a node tree, without building values. A walk over the tree
// counts what limits.go limits, with aliases weighed but not followed, finds duplicate keys, and
// notes scalars that YAML 1.1 reads differently from how they look. What is left after that is
// converted by sigs.k8s.io/yaml, the reader of Kubernetes: its result counts. The tree stays, to
// find the place of every key and value. JSON is not touched at all: a request in JSON reaches the
// core byte for byte.
//
// # What a stream may hold
//
// Manifests, a KubeletConfiguration (kubelet.config.k8s.io/v1beta1), and a Scenario
// (podfate.dev/v1), which holds members of a request. A v1 List stands for its items. An operation
// takes one manifest; [NewRequests] makes a request of each instead. Anything else is a fault:
// nothing in a stream is ignored, unlike by Kubernetes, which takes the first of several documents,
// or what is before "...", silently.
//
// # Where this door is narrower than Kubernetes
//
// Besides the limits: a duplicate key is refused in a Scenario and in a
// KubeletConfiguration, and in a manifest unless fieldValidation is Warn or Ignore; then the last
// one counts, as for Kubernetes. Text after "..." is refused; exponents beyond MaxNumberExponent
// in plain scalars are refused, which Kubernetes takes as text; the tag "!" and tags on keys are
// refused. Numbers such as .inf are refused by Kubernetes as well.
//
// # What the schemas are for at run time
//
// They decide nothing. The core judges a request, so that every front says the same in the same
// bytes, and faults are reported in the words of Kubernetes. The schemas are for people: hints in
// editors, the OpenAPI document. They describe the same requests, and tests hold them to it:
// whatever the core accepts a request schema accepts, and every answer fits its answer schema, with
// no member left undescribed. A schema cannot say what depends on the version or on gates (an
// unknown action is a fault in one release, dropped in another), so that it says less than the
// core.
//
// A manifest inside a request is therefore described and not judged: its schema is in an anyOf next
// to one that accepts everything, which editors use for hints. To have a manifest judged, ask
// validate.
//
// # Why two YAML libraries?
//
// sigs.k8s.io/yaml has no positions and expands aliases without a bound: 1 MiB of text can become
// 945 MB. yaml/v3 has positions and builds a tree in proportion to the text, but follows YAML 1.2
// in places where Kubernetes follows 1.1. The tree costs as much time as the conversion, about 25
// µs for a small Pod. Writing a YAML reader of our own was refused: it would have to make the
// mistakes of Kubernetes' reader exactly. Look again when sigs.k8s.io/yaml hands out nodes.
package schema
