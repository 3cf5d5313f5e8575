package views

import (
	"maps"
	"net/url"
	"strings"
)

// ReadAddress lays what an address says over the form of an example: exit=137 (once or more) or
// exits=TEXT, k8s=1.36, validation=Warn, proposal=NAME, view=codes and gate.NAME=true. A manifest
// is never there. Like [ReadForm] it checks nothing, and what it does not know it skips:
// addresses get parameters from those who pass them on.
//
// The browser reads the same with readAddress; testdata/addresses.json holds both together.
func ReadAddress(f Form, query url.Values) Form {
	switch {
	case query.Has("exits"):
		f.Exits = query.Get("exits")
	case query.Has("exit"):
		f.Exits = strings.Join(query["exit"], ", ")
	}
	if version := query.Get("k8s"); version != "" {
		f.Version = version
	}
	if validation := query.Get("validation"); validation != "" {
		f.Validation = validation
	}
	if query.Has("proposal") {
		f.Proposals = query["proposal"]
	}
	for name, field := range map[string]*string{"view": &f.View, "run": &f.Run, "outage": &f.Outage, "cap": &f.Cap} {
		if query.Has(name) {
			*field = query.Get(name)
		}
	}
	f.Gates = maps.Clone(f.Gates)
	for name, values := range query {
		if gate, ok := strings.CutPrefix(name, GatePrefix); ok && (values[0] == "true" || values[0] == "false") {
			if f.Gates == nil {
				f.Gates = map[string]string{}
			}
			f.Gates[gate] = values[0]
		}
	}
	return f
}
