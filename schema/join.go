package schema

import "github.com/podfate/podfate/policy/manifest"

// Part is a piece of a request that [Join] puts together: a text, or what is in another
// request.
type Part struct {
	Text    string   // JSON, or a part of it, that no document has
	Request *Request // in place of Text: the whole request
	// Manifest says that only the manifest of Request is meant, null if it has none.
	Manifest bool
}

// Join returns the request whose text is that of all parts one after the other, which must be JSON
// in the end. Places in an answer to it are those of the documents that the parts come from. What
// it calls its manifest, and its notes, are those of the first part that is a request.
func Join(parts ...Part) *Request {
	r := &Request{anchor: place{line: 1, column: 1}}
	for _, p := range parts {
		if p.Request == nil {
			r.json = append(r.json, p.Text...)
			continue
		}
		of := p.Request
		if r.manifestDoc == nil {
			r.anchor, r.notes, r.repeats = of.anchor, of.notes, of.repeats
			r.manifestDoc, r.manifest, r.template = of.manifestDoc, of.manifest, of.template
		}
		start, end := 0, len(of.json)
		if p.Manifest {
			root, _ := manifest.Parse(of.json)
			m := root.Get("manifest")
			if start, end = m.Offset(), m.End(); !m.Exists() {
				r.json = append(r.json, "null"...)
				continue
			}
		}
		shift := len(r.json) - start
		r.json = append(r.json, of.json[start:end]...)
		for _, s := range of.spans {
			if from, to := max(s.start, start), min(s.end, end); from < to {
				r.spans = append(r.spans, span{from + shift, to + shift, s.doc, s.from + from - s.start})
			}
		}
	}
	return r
}
