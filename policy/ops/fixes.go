package ops

import (
	"strconv"
	"strings"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/lint"
	"github.com/podfate/podfate/policy/manifest"
)

// fix is an edit of the manifest after which a fault or a warning is gone: operations of a JSON
// Patch (RFC 6902), in their order.
type fix struct {
	edits   []edit
	changes string // a code of what some exit leads to then, "" if each comes to the same
}

// edit is an operation of a JSON Patch (RFC 6902) on the manifest.
type edit struct {
	op, path string
	from     string // of a move
	value    string // JSON; "" for none
	was      string // the value that is removed, as JSON, where the operation does not say it; "" for none
}

func writeEdits(w *manifest.Writer, edits []edit) {
	w.KeyArray("edits")
	for _, e := range edits {
		w.Object()
		w.KeyWord("op", e.op)
		optional(w, "from", e.from)
		w.KeyString("path", e.path)
		if e.value != "" {
			w.KeyRaw("value", []byte(e.value))
		}
		if e.was != "" {
			w.KeyRaw("was", []byte(e.was))
		}
		w.End()
	}
	w.End()
}

// What a fix changes.
const (
	changesCode0   = "code_0_no_longer_matches"
	changesRefused = "was_refused"  // there was no outcome before
	changesCounts  = "field_counts" // what the API server refused or did not read before
)

// writeFixes writes the fixes of a fault, if one is known.
func (c *call) writeFixes(w *manifest.Writer, f *located) {
	if f.group == policy.EventInvalid && f.Type == "" || !c.man.Exists() {
		return
	}
	list := c.fixes(&f.FieldError)
	if len(list) == 0 {
		return
	}
	w.KeyArray("fixes")
	for _, x := range list {
		w.Object()
		writeEdits(w, x.edits)
		optional(w, "changes", x.changes)
		w.End()
	}
	w.End()
}

// parent is the path of the object or list that path is in, and how many members or elements that
// has.
func (c *call) parent(path string) (above string, n int) {
	above = path[:max(strings.LastIndexAny(path, ".["), 0)]
	return above, c.man.At(above).Len()
}

// fixes returns the known edits for a fault, the best first.
func (c *call) fixes(f *policy.FieldError) []fix {
	v, path := c.man.At(f.Path), manifest.Pointer(f.Path)
	if path == "" {
		return nil
	}
	remove := func(paths ...string) []fix {
		x := fix{}
		for _, p := range paths {
			x.edits = append(x.edits, edit{op: "remove", path: manifest.Pointer(p)})
		}
		return []fix{x}
	}
	replace := func(value, changes string) []fix {
		return []fix{{[]edit{{op: "replace", path: path, value: value}}, changes}}
	}
	above, n := c.parent(f.Path)
	switch {
	case !v.Exists():
		return c.missing(f, path)
	case f.Code == policy.CodeUnknownField:
		if list := c.built(v, above, path); list != nil {
			return list
		}
		return c.renamed(f, above, path)
	case f.Code == lint.NeverMatches, f.Code == lint.Shadowed, f.Code == lint.DuplicateRule,
		f.Code == lint.InitSuccess && onlyValue(v, "0"), f.Code == lint.ChangesNothing && strings.HasSuffix(f.Path, "["+strconv.Itoa(n-1)+"]"):
		switch {
		case n > 1:
			return remove(f.Path)
		case strings.HasSuffix(above, ".restartPolicyRules"):
			return remove(above)
		}
	case f.Code == lint.DuplicateValue && strings.HasSuffix(above, ".values"):
		return remove(f.Path)
	case f.Code == lint.ValueNeverOccurs && strings.HasSuffix(above, ".values"):
		var paths []string
		for e, i := c.man.At(above).First(), 0; e.Exists(); e, i = e.Next(), i+1 {
			if n, ok := e.Int64(); ok && n != int64(byte(n)) {
				paths = append([]string{element(above, i)}, paths...) // the last one first: places before it stay
			}
		}
		if len(paths) < min(n, maxEdits) {
			return remove(paths...)
		}
	case f.Code == lint.MatchesAll:
		values := c.exitCodes(f.Path) + ".values"
		op := "add"
		if c.man.At(values).Exists() {
			op = "replace"
		}
		return []fix{{[]edit{{op: op, path: manifest.Pointer(values), value: "[0]"}}, changesCode0}}
	case f.Code == lint.WrongCase && len(f.Allowed) == 1:
		return replace(strconv.Quote(f.Allowed[0]), changesRefused)
	case f.Code == lint.RulesWithoutPolicy:
		return remove(f.Path)
	case f.Code == lint.IgnoredWhileGateOff:
		var paths []string
		for _, name := range [...]string{".restartPolicyRules", ".restartPolicy"} {
			if c.man.At(f.Path + name).Exists() {
				paths = append(paths, f.Path+name)
			}
		}
		if len(paths) > 0 {
			return remove(paths...)
		}
	case f.Code == lint.NeverStops:
		return c.always(v, above)
	case f.Code == lint.NegativeGrace:
		return replace("1", "")
	}
	return nil
}

// always returns what says in one word that every exit restarts the container at path, of which
// these are the rules: the Pod's policy, where that is about nothing else.
func (c *call) always(rules manifest.Value, path string) []fix {
	for r := rules.First(); r.Exists(); r = r.Next() {
		if r.Get("action").Text() != string(policy.ActionRestart) {
			return nil
		}
	}
	list, containers := c.parent(path)
	spec := c.man.At(strings.TrimSuffix(list, ".containers"))
	if !strings.HasSuffix(list, ".containers") {
		return nil
	}
	x := fix{edits: []edit{
		{op: "remove", path: manifest.Pointer(path + ".restartPolicyRules")}, {op: "remove", path: manifest.Pointer(path + ".restartPolicy")},
	}}
	switch own := spec.Get("restartPolicy"); {
	case !own.Exists() || own.Text() == string(policy.RestartPolicyAlways):
	case containers > 1 || spec.Get("initContainers").Len() > 0 || list != "spec.containers":
		return nil
	default:
		x.edits = append(x.edits, edit{op: "replace", path: manifest.Pointer("spec.restartPolicy"), value: `"Always"`})
	}
	return []fix{x}
}

// onlyValue reports whether the rule v is about nothing but this value.
func onlyValue(v manifest.Value, value string) bool {
	on := v.Get("exitCodes")
	values := on.Get("values")
	return on.Get("operator").Text() == string(policy.OperatorIn) && values.Len() == 1 && string(values.First().Raw()) == value
}

// missing returns what can be added for a field that is required: the policy of a Job's Pods.
func (c *call) missing(f *policy.FieldError, path string) []fix {
	if f.Code != policy.CodeRequired || !strings.HasSuffix(f.Path, ".template.spec.restartPolicy") {
		return nil
	}
	if above, _ := c.parent(f.Path); c.man.At(above).Kind() != manifest.Object {
		return nil
	}
	var list []fix
	for _, value := range [...]policy.RestartPolicy{policy.RestartPolicyNever, policy.RestartPolicyOnFailure} {
		list = append(list, fix{[]edit{{op: "add", path: path, value: strconv.Quote(string(value))}}, changesRefused})
	}
	return list
}

// maxEdits bounds the edits of one fix.
const maxEdits = 32

// maxTypos bounds in how many bytes a misspelt name may differ from the one that is meant.
const maxTypos = 2

// built returns what writes the condition of a rule in the words of a draft as it was built:
// directly in the rule. A draft's condition that has something besides the codes was not built.
func (c *call) built(v manifest.Value, above, path string) []fix {
	list := above[:max(strings.LastIndexByte(above, '['), 0)]
	if !strings.HasSuffix(list, ".restartPolicyRules") || c.man.At(above).Get("exitCodes").Exists() {
		return nil
	}
	to := manifest.Pointer(above + ".exitCodes")
	switch codes := v.Get("exitCodes"); v.Key() {
	case "onExitCodes":
		return []fix{{[]edit{{op: "move", from: path, path: to}}, changesCounts}}
	case "when", "onExit":
		if v.Len() == 1 && codes.Kind() == manifest.Object {
			return []fix{{[]edit{{op: "add", path: to, value: string(codes.Raw())}, {op: "remove", path: path}}, changesCounts}}
		}
	}
	return nil
}

// exitCodes returns the path of the exit codes of the rule at path, in whatever words.
func (c *call) exitCodes(path string) string {
	for _, words := range [...]string{".when.exitCodes", ".onExit.exitCodes", ".onExitCodes"} {
		if c.man.At(path + words).Exists() {
			return path + words
		}
	}
	return path + ".exitCodes"
}

// renamed returns the one name that a misspelt field is likely to be.
func (c *call) renamed(f *policy.FieldError, above, path string) []fix {
	name := c.man.At(f.Path).Key()
	near, best := "", maxTypos+1
	for _, a := range f.Allowed {
		switch d := manifest.EditDistance(name, a); {
		case d < best:
			near, best = a, d
		case d == best:
			near = ""
		}
	}
	if near == "" || c.man.At(above).Get(near).Exists() {
		return nil
	}
	to := near
	if above != "" {
		to = above + "." + near
	}
	return []fix{{[]edit{{op: "move", from: path, path: manifest.Pointer(to)}}, changesCounts}}
}
