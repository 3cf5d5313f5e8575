package schema

import (
	"bytes"
	"encoding/json"
	"strings"
)

// ReadPods reads Pods as kubectl prints them, JSON or YAML, and returns them as the member pods of
// a decide request: a JSON array. A document is a List, an array, or one Pod; the Pods of several
// documents follow one another. Of each Pod it keeps what a Job looks at (kind, names, labels and
// annotations of Jobs, status), so that thousands fit into a request: kubectl prints five times as
// much, and nobody wants to strip it by hand. What is no Pod stays as it is, for the core to
// refuse.
//
// JSON may have any length: the caller bounds it. For YAML the limits of [DecodeNamed] hold; name
// is the source of its faults. An error is of type [Faults].
func ReadPods(name string, text []byte) (json.RawMessage, error) {
	docs := [][]byte{text}
	if !json.Valid(text) { // YAML, or JSON with a fault: its reader finds the place
		decoded, err := DecodeNamed(name, text)
		if err != nil {
			return nil, err
		}
		docs = nil
		for _, doc := range decoded {
			if doc.err != nil {
				var b builder
				b.unreadable(doc)
				return nil, b.faults.unsorted()
			}
			if repeats := doc.Duplicates(); len(repeats) > 0 { // kubectl prints none
				return nil, Faults(repeats)
			}
			docs = append(docs, doc.JSON())
		}
	}
	pods := []json.RawMessage{}
	for _, doc := range docs {
		pods = append(pods, podsOf(doc)...)
	}
	return encodeJSON(pods), nil
}

// podsOf returns the items of a List, the elements of an array, or the Pod itself.
func podsOf(doc []byte) (pods []json.RawMessage) {
	var list struct {
		Items []json.RawMessage `json:"items"`
	}
	switch {
	case json.Unmarshal(doc, &pods) == nil:
	case json.Unmarshal(doc, &list) == nil && list.Items != nil:
		pods = list.Items
	default:
		pods = []json.RawMessage{doc}
	}
	for i := range pods {
		pods[i] = prunePod(pods[i])
	}
	return pods
}

// prunePod leaves out what no decision looks at. What is no object stays, for the core to refuse.
func prunePod(pod json.RawMessage) json.RawMessage {
	var p map[string]json.RawMessage
	if json.Unmarshal(pod, &p) != nil || p == nil {
		return pod
	}
	kept := map[string]json.RawMessage{}
	for _, name := range []string{"kind", "metadata", "status"} {
		if v, ok := p[name]; ok {
			kept[name] = v
		}
	}
	var metadata map[string]json.RawMessage
	if json.Unmarshal(p["metadata"], &metadata) == nil && metadata != nil {
		for _, name := range []string{"managedFields", "selfLink", "resourceVersion", "creationTimestamp", "generateName", "finalizers"} {
			delete(metadata, name)
		}
		for _, name := range []string{"labels", "annotations"} {
			if v, ok := metadata[name]; ok {
				metadata[name] = pruneMap(v)
			}
		}
		kept["metadata"] = encodeJSON(metadata)
	}
	return encodeJSON(kept)
}

// pruneMap keeps labels and annotations of Jobs.
func pruneMap(text json.RawMessage) json.RawMessage {
	var m map[string]json.RawMessage
	if json.Unmarshal(text, &m) != nil || m == nil {
		return text
	}
	for name := range m {
		if name != "job-name" && !strings.HasPrefix(name, "batch.kubernetes.io/") {
			delete(m, name)
		}
	}
	return encodeJSON(m)
}

// encodeJSON writes what is made of JSON texts again.
func encodeJSON(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("schema: " + err.Error()) // no such value fails
	}
	return bytes.TrimSpace(b.Bytes())
}
