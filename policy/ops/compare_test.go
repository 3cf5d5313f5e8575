package ops_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/podfate/podfate/policy/ops"
	"github.com/podfate/podfate/policy/policytest"
)

// difference is an entry of a comparison's differences.
type difference struct {
	Variant, Kind, Container, Name, Path string
	From, To, AtMillis                   *int64
	First, Here                          json.RawMessage
}

type compared struct {
	Variants []struct {
		Name         string
		Refused      bool
		Equivalent   bool
		SameTimeline bool
	}
	Differences      []difference
	Same, Equivalent bool
	Error            *struct{ Code, Message string }
}

// compare asks about two variants. The first is the request as it is.
func compare(t *testing.T, of, request, first, second string) (c compared) {
	t.Helper()
	text, _ := ops.Call(8, fmt.Appendf(nil, `{"of":%q,"request":%s,"variants":[{"name":"a"%s},{"name":"b"%s}],"answers":"none"}`, of, request, first, second))
	if err := json.Unmarshal(text, &c); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return c
}

// whole is a variant whose request is the whole of text.
func whole(text []byte) string { return `,"patch":` + string(text) }

// Every request of the corpus, compared with itself, is equivalent, and nothing differs.
func TestCompareWithItself(t *testing.T) {
	cases, err := policytest.Cases()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, c := range policytest.Sample(t, 5, cases) {
		of := c.Operation.Name
		if of == "explain" || of == "compare" || !json.Valid(c.Request) || c.Request[0] != '{' {
			continue
		}
		got := compare(t, of, string(c.Request), "", `,"patch":{}`)
		if got.Error != nil {
			continue // the request itself is at fault
		}
		if len(got.Variants) > 0 && got.Variants[0].Refused { // as an update: there is nothing to prove
			if !got.Same || len(got.Differences) > 0 {
				t.Errorf("%s: %+v", c.Name, got)
			}
			continue
		}
		if n++; !got.Equivalent || !got.Same || len(got.Differences) > 0 {
			t.Errorf("%s: %+v", c.Name, got)
		}
	}
	if n < 300 && !testing.Short() || n < 60 {
		t.Errorf("only %d requests were compared", n)
	}
}

// What differs between a and b is what differs between b and a, with the sides changed.
func TestCompareMirrors(t *testing.T) {
	cases, err := policytest.Cases()
	if err != nil {
		t.Fatal(err)
	}
	last := map[string]policytest.Case{}
	n := 0
	for _, c := range policytest.Sample(t, 5, cases) {
		of := c.Operation.Name
		if of == "explain" || of == "compare" || !json.Valid(c.Request) || c.Request[0] != '{' {
			continue
		}
		other, seen := last[of]
		if last[of] = c; !seen {
			continue
		}
		ab := compare(t, of, "{}", whole(other.Request), whole(c.Request))
		ba := compare(t, of, "{}", whole(c.Request), whole(other.Request))
		if (ab.Error == nil) != (ba.Error == nil) {
			t.Errorf("%s and %s: %+v %+v", other.Name, c.Name, ab.Error, ba.Error)
		}
		if ab.Error != nil {
			continue
		}
		n++
		if ab.Same != ba.Same || ab.Equivalent != ba.Equivalent || ab.Variants[1].SameTimeline != ba.Variants[1].SameTimeline {
			t.Errorf("%s and %s: %v %v, the other way %v %v", other.Name, c.Name, ab.Same, ab.Equivalent, ba.Same, ba.Equivalent)
		}
		sides := map[string]int{}
		for _, d := range ab.Differences {
			sides[d.mirrored(false)]++
		}
		for _, d := range ba.Differences {
			sides[d.mirrored(true)]--
		}
		for text, n := range sides {
			if n != 0 {
				t.Errorf("%s and %s: %d times more: %s", other.Name, c.Name, n, text)
				break
			}
		}
	}
	if n < 200 && !testing.Short() || n < 40 {
		t.Errorf("only %d pairs were compared", n)
	}
}

// mirrored is a difference as text, with its sides changed if that is asked for.
func (d difference) mirrored(change bool) string {
	if change {
		d.First, d.Here = d.Here, d.First
	}
	at := int64(-1)
	if d.AtMillis != nil {
		at = *d.AtMillis
	}
	from, to := int64(-1), int64(-1)
	if d.From != nil {
		from, to = *d.From, *d.To
	}
	return fmt.Sprint(d.Kind, d.Container, d.Name, d.Path, from, to, at, string(d.First), string(d.Here))
}

// fates are the decisions about all exit codes of all containers, one by one, without what decided.
func fates(t *testing.T, request map[string]json.RawMessage) (texts []string, ok bool) {
	t.Helper()
	names := containersOf(request["manifest"])
	for _, name := range names {
		var exits []string
		for code := range 256 {
			exits = append(exits, fmt.Sprintf(`{"container":%q,"exitCode":%d}`, name, code))
		}
		exits = append(exits, fmt.Sprintf(`{"container":%q,"exitCode":0,"reason":"OOMKilled"}`, name))
		ask := map[string]json.RawMessage{"exits": json.RawMessage("[" + strings.Join(exits, ",") + "]")}
		for _, member := range []string{"cluster", "manifest", "fieldValidation", "templatePath"} {
			if request[member] != nil {
				ask[member] = request[member]
			}
		}
		text, err := json.Marshal(ask)
		if err != nil {
			t.Fatal(err)
		}
		answer, failed := ops.Call(3, text)
		if failed {
			return nil, false
		}
		var all struct {
			Decisions []struct {
				Template, Container, Action string
				ExitCode                    int
				PodFails                    bool
				Undecided                   *struct{ Reason string }
				Failure                     *struct{ Action string }
				Job                         *struct {
					PodPhase, Action, Outcome, Reason string
					Counted, IndexFails               bool
					BackoffLimit                      int
					Undecided                         *struct{ Reason string }
				}
			}
		}
		if err := json.Unmarshal(answer, &all); err != nil {
			t.Fatal(err)
		}
		for _, d := range all.Decisions {
			line, _ := json.Marshal(d)
			texts = append(texts, string(line))
		}
	}
	return texts, len(texts) > 0
}

// containersOf are the names of the containers of a Pod or of a Pod template, wherever they are.
func containersOf(manifest json.RawMessage) (names []string) {
	var v any
	if json.Unmarshal(manifest, &v) != nil {
		return nil
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for key, child := range v {
				list, _ := child.([]any)
				for _, c := range list {
					if m, ok := c.(map[string]any); ok && (key == "containers" || key == "initContainers" || key == "ephemeralContainers") {
						if name, ok := m["name"].(string); ok {
							names = append(names, name)
						}
					}
				}
				walk(child)
			}
		case []any:
			for _, child := range v {
				walk(child)
			}
		}
	}
	walk(v)
	slices.Sort(names)
	return slices.Compact(names)
}

// Two requests of the corpus about the same containers, and each with another release, node or
// policy, are called equivalent only if all 256 codes, decided one by one, come to the same; and
// different tables are always noticed.
func TestEquivalenceAgainstSingleDecisions(t *testing.T) {
	cases, err := policytest.Cases()
	if err != nil {
		t.Fatal(err)
	}
	patches := []string{
		`{"cluster":{"version":"1.34","featureGates":null,"kubelet":null}}`, `{"cluster":{"version":"1.35","featureGates":null,"kubelet":null}}`,
		`{"cluster":{"kubelet":{"version":"1.34","featureGates":null}}}`, `{"manifest":{"spec":{"restartPolicy":"Never"}}}`,
		`{"manifest":{"spec":{"template":{"spec":{"restartPolicy":"OnFailure"}}}}}`, `{"manifest":{"spec":{"backoffLimit":1}}}`,
		`{"manifest":{"spec":{"podFailurePolicy":null}}}`, `{"manifest":{"metadata":{"labels":{"a":"b"}}}}`,
	}
	random := rand.New(rand.NewPCG(8, 12))
	equal, different, known := 0, 0, map[string]bool{}
	for _, c := range cases {
		var request map[string]json.RawMessage
		if c.Operation.Name != "decide" && c.Operation.Name != "validate" && c.Operation.Name != "simulate" || json.Unmarshal(c.Request, &request) != nil {
			continue
		}
		key := string(request["manifest"]) + string(request["cluster"])
		if request["manifest"] == nil || known[key] || testing.Short() && random.IntN(32) > 0 {
			continue
		}
		known[key] = true
		plain := map[string]json.RawMessage{}
		for _, member := range []string{"cluster", "manifest", "fieldValidation", "templatePath"} {
			if request[member] != nil {
				plain[member] = request[member]
			}
		}
		first, ok := fates(t, plain)
		if !ok {
			continue
		}
		text, _ := json.Marshal(plain)
		for _, patch := range patches {
			got := compare(t, "table", string(text), "", `,"patch":`+patch)
			var other map[string]json.RawMessage
			if err := json.Unmarshal(merged(text, []byte(patch)), &other); err != nil {
				t.Fatal(err)
			}
			here, ok := fates(t, other)
			if !ok || got.Error != nil || got.Variants[1].Refused || got.Variants[0].Refused {
				continue
			}
			same := strings.Join(first, "\n") == strings.Join(here, "\n")
			codes := false
			for _, d := range got.Differences {
				codes = codes || d.Kind == "codes" || d.Kind == "limit" || d.Kind == "container"
			}
			if same {
				equal++
			} else {
				different++
			}
			if same == codes || !same && got.Equivalent {
				t.Errorf("%s with %s: all decisions equal: %v; the comparison says %+v", c.Name, patch, same, got)
			}
		}
	}
	least := 50
	if testing.Short() {
		least = 5
	}
	if t.Logf("%d equal, %d different", equal, different); equal < least || different < least {
		t.Error("too few were compared")
	}
}

// merged is a merge patch by another hand: RFC 7396, section 2.
func merged(target, patch []byte) []byte {
	var p map[string]json.RawMessage
	if json.Unmarshal(patch, &p) != nil || p == nil {
		return patch
	}
	t := map[string]json.RawMessage{}
	if json.Unmarshal(target, &t) != nil || t == nil {
		t = map[string]json.RawMessage{}
	}
	for name, value := range p {
		if string(value) == "null" {
			delete(t, name)
		} else {
			t[name] = merged(t[name], value)
		}
	}
	text, _ := json.Marshal(t)
	return text
}
