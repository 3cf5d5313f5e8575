package policytest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/podfate/podfate/policy/ops"
)

type fixOf struct {
	Edits []struct {
		Op, From, Path string
		Value          json.RawMessage
	}
	Changes string
}

type fixable struct {
	Path, Code string
	Fixes      []fixOf
}

// TestFixesKeepWhatHappens applies each fix of each fault and warning in the corpus: the fault is
// gone, and every exit code of every container comes to what it came to before, unless the fix says
// that something changes.
func TestFixesKeepWhatHappens(t *testing.T) {
	fixes := map[string]int{}
	cases, err := Cases()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		var asked map[string]json.RawMessage
		if json.Unmarshal(c.Request, &asked) != nil || len(asked["manifest"]) == 0 {
			continue
		}
		base := map[string]json.RawMessage{"manifest": asked["manifest"], "cluster": asked["cluster"]}
		if base["cluster"] == nil {
			delete(base, "cluster")
		}
		before := verdictOf(base)
		for _, f := range before {
			for _, fix := range f.Fixes {
				fixes[f.Code]++
				var tree any
				if err := json.Unmarshal(asked["manifest"], &tree); err != nil {
					t.Fatal(err)
				}
				for _, e := range fix.Edits {
					if err := apply(&tree, e.Op, e.From, e.Path, e.Value); err != nil {
						t.Fatalf("%s\n%+v: %v", asked["manifest"], fix, err)
					}
				}
				text, err := json.Marshal(tree)
				if err != nil {
					t.Fatal(err)
				}
				after := map[string]json.RawMessage{"manifest": text}
				if base["cluster"] != nil {
					after["cluster"] = base["cluster"]
				}
				if a, b := count(before, f.Code), count(verdictOf(after), f.Code); b >= a {
					t.Errorf("%s: %d before the fix, %d after it\n%s\n%s", f.Code, a, b, asked["manifest"], text)
				}
				if was, is := outcomes(base), outcomes(after); fix.Changes == "" && was != is && was != "" {
					t.Errorf("%s %s: a fix that changes nothing changes\n%s\nto\n%s\n%s\n%s", f.Path, f.Code, was, is, asked["manifest"], text)
				}
			}
		}
	}
	t.Log(fixes)
	if len(fixes) < 8 {
		t.Errorf("%d kinds of fixes: this test proves little", len(fixes))
	}
}

func count(list []fixable, code string) (n int) {
	for _, f := range list {
		if f.Code == code {
			n++
		}
	}
	return n
}

// verdictOf returns the faults and warnings of validate.
func verdictOf(request map[string]json.RawMessage) []fixable {
	text, _ := json.Marshal(request)
	reply, _ := ops.Call(2, text)
	var a struct{ Faults, Warnings []fixable }
	json.Unmarshal(reply, &a)
	return append(a.Faults, a.Warnings...)
}

// outcomes returns what each exit code of each container comes to, "" if there is no answer.
func outcomes(request map[string]json.RawMessage) string {
	names := map[string]bool{}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for key, x := range v {
				if list, ok := x.([]any); ok && (key == "containers" || key == "initContainers") {
					for _, c := range list {
						if c, ok := c.(map[string]any); ok {
							names[fmt.Sprint(c["name"])] = true
						}
					}
				}
				walk(x)
			}
		case []any:
			for _, x := range v {
				walk(x)
			}
		}
	}
	var tree any
	json.Unmarshal(request["manifest"], &tree)
	walk(tree)
	var exits []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		for code := range 256 {
			exits = append(exits, fmt.Sprintf(`{"container":%q,"exitCode":%d}`, name, code))
		}
	}
	text, _ := json.Marshal(map[string]json.RawMessage{"manifest": request["manifest"], "exits": json.RawMessage("[" + strings.Join(exits, ",") + "]")})
	if request["cluster"] != nil {
		text, _ = json.Marshal(map[string]json.RawMessage{"manifest": request["manifest"], "cluster": request["cluster"], "exits": json.RawMessage("[" + strings.Join(exits, ",") + "]")})
	}
	reply, failed := ops.Call(3, text)
	if failed {
		return ""
	}
	var a struct {
		Decisions []struct {
			Container, Action string
			PodFails          bool
			Job               *struct{ Outcome string }
		}
	}
	json.Unmarshal(reply, &a)
	var b strings.Builder
	for _, d := range a.Decisions {
		fmt.Fprintf(&b, "%s %s %v", d.Container, d.Action, d.PodFails)
		if d.Job != nil {
			b.WriteString(" " + d.Job.Outcome)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// apply does one operation of a JSON Patch.
func apply(tree *any, op, from, path string, value json.RawMessage) error {
	var v any
	if value != nil {
		if err := json.Unmarshal(value, &v); err != nil {
			return err
		}
	}
	if op == "move" {
		moved, err := edit(tree, strings.Split(from, "/")[1:], "remove", nil)
		if err != nil {
			return err
		}
		_, err = edit(tree, strings.Split(path, "/")[1:], "add", moved)
		return err
	}
	_, err := edit(tree, strings.Split(path, "/")[1:], op, v)
	return err
}

func edit(at *any, way []string, op string, value any) (old any, err error) {
	step := way[0]
	switch v := (*at).(type) {
	case map[string]any:
		child, has := v[step]
		if len(way) > 1 {
			if !has {
				return nil, fmt.Errorf("no %s", step)
			}
			old, err = edit(&child, way[1:], op, value)
			v[step] = child
			return old, err
		}
		if !has && op != "add" {
			return nil, fmt.Errorf("no %s", step)
		}
		if op == "remove" {
			delete(v, step)
		} else {
			v[step] = value
		}
		return child, nil
	case []any:
		i, err := strconv.Atoi(step)
		if err != nil || i >= len(v) {
			return nil, fmt.Errorf("no element %s", step)
		}
		if len(way) > 1 {
			return edit(&v[i], way[1:], op, value)
		}
		old = v[i]
		if op == "remove" {
			*at = append(append([]any{}, v[:i]...), v[i+1:]...)
		} else {
			v[i] = value
		}
		return old, nil
	}
	return nil, fmt.Errorf("%s is in nothing", step)
}
