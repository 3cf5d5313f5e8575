package ops_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/podfate/podfate/policy/ops"
	"github.com/podfate/podfate/policy/policytest"
)

// row is a decision, or a range of table without its bounds.
type row = map[string]any

// tableRows are what exits lead to after some number of restarts.
type tableRows struct {
	Ranges, OomKilledRanges, Beyond []row
	OomKilled                       row
}

// at is what code leads to, with the reason OOMKilled or without it.
func (r tableRows) at(code int, killed bool) row {
	list := r.Ranges
	switch {
	case killed && r.OomKilledRanges != nil:
		list = r.OomKilledRanges
	case killed && code == 0 && r.OomKilled != nil:
		return r.OomKilled
	}
	for _, r := range list {
		if int(r["from"].(float64)) <= code && code <= int(r["to"].(float64)) {
			return r
		}
	}
	return nil
}

type tableAnswer struct {
	Containers []struct {
		Template, Container, Path string
		tableRows
		Restarts []struct {
			From, To int
			tableRows
		}
	}
	UsesRules   []string
	Unreachable []struct{ Path, Because string }
	Sizes       []struct {
		Path                                  string
		Rules, Values, BinaryBytes, JSONBytes int
	}
}

// bare takes from a decision what names the exit, and what table leaves out.
func bare(r row) row {
	r = maps.Clone(r)
	for _, name := range []string{"template", "container", "exitCode", "reason", "restartCount", "trace", "from", "to"} {
		delete(r, name)
	}
	if job, ok := r["job"].(row); ok {
		job = maps.Clone(job)
		delete(job, "message")
		r["job"] = job
	}
	return r
}

// questions returns each manifest of the corpus once for each cluster that it is asked about, as
// the members of a request.
func questions(t *testing.T) (list []map[string]json.RawMessage) {
	t.Helper()
	cases, err := policytest.Cases()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, c := range cases {
		var request, q map[string]json.RawMessage
		if json.Unmarshal(c.Request, &request) != nil || request["manifest"] == nil {
			continue
		}
		q = map[string]json.RawMessage{}
		for _, name := range []string{"manifest", "cluster", "fieldValidation", "templatePath", "restartCounts", "decide"} {
			if request[name] != nil {
				q[name] = request[name]
			}
		}
		text, _ := json.Marshal(q)
		if !seen[string(text)] {
			seen[string(text)] = true
			list = append(list, q)
		}
	}
	return list
}

// ask runs an operation on q with further members.
func ask(t *testing.T, operation string, q map[string]json.RawMessage, more string, into any) (failed bool) {
	t.Helper()
	all := maps.Clone(q)
	if err := json.Unmarshal([]byte(more), &all); err != nil {
		t.Fatal(err)
	}
	request, _ := json.Marshal(all)
	op, _ := ops.Lookup(operation)
	answer, failed := ops.Call(op.Number, request)
	if err := json.Unmarshal(answer, into); err != nil {
		t.Fatalf("%s: %v\n%.500s", request, err, answer)
	}
	return failed
}

// A table is what decide says about each of the 256 codes alone, with and without an OOM kill, for
// every distinct manifest and cluster of the corpus.
func TestTableIsAllDecisions(t *testing.T) {
	asked, decisions, beyond := 0, 0, 0
	for n, q := range questions(t) {
		if testing.Short() && n%20 != 0 {
			continue
		}
		var table tableAnswer
		if ask(t, "table", q, `{}`, &table) {
			var refused, single struct{ Error struct{ Code string } }
			ask(t, "table", q, `{}`, &refused)
			if !ask(t, "decide", q, `{"exits":[{"exitCode":0}]}`, &single) {
				t.Errorf("decide answers, and table says %s:\n%s", refused.Error.Code, q["manifest"])
			}
			continue
		}
		asked++
		for _, c := range table.Containers {
			counts := map[int]tableRows{-1: c.tableRows}
			for i, r := range c.Restarts {
				if i > 0 && (c.Restarts[i-1].To != r.From-1 || reflect.DeepEqual(c.Restarts[i-1].tableRows, r.tableRows)) {
					t.Fatalf("%s: restarts %v", c.Container, c.Restarts)
				}
				for _, n := range []int{r.From, (r.From + max(r.From, r.To)) / 2, max(r.From, r.To)} {
					counts[n] = r.tableRows
				}
			}
			for restarts, rows := range counts {
				exits := []row{}
				for code := range 256 {
					for _, reason := range []string{"", "OOMKilled"} {
						e := row{"container": c.Container, "exitCode": code, "reason": reason}
						if restarts >= 0 {
							e["restartCount"] = restarts
						}
						exits = append(exits, e)
					}
				}
				next := math.MinInt32
				for _, r := range rows.Beyond {
					from, to := int(r["from"].(float64)), int(r["to"].(float64))
					if from != next || to < from {
						t.Fatalf("%s: beyond 255 a range from %d to %d, want it from %d on", c.Container, from, to, next)
					}
					if next = to + 1; next == 0 {
						next = 256
					}
					for _, code := range []int{from, from + (to-from)/2, to} {
						e := row{"container": c.Container, "exitCode": code, "reason": ""}
						if restarts >= 0 {
							e["restartCount"] = restarts
						}
						exits = append(exits, e)
					}
				}
				if rows.Beyond != nil && next != math.MaxInt32+1 {
					t.Fatalf("%s: beyond 255 until %d", c.Container, next)
				}
				members := row{"exits": exits}
				if c.Template != "" {
					members["templatePath"] = c.Template
				}
				more, _ := json.Marshal(members)
				var single struct{ Decisions []row }
				if ask(t, "decide", q, string(more), &single) {
					t.Fatalf("decide fails: %s", q["manifest"])
				}
				for i, d := range single.Decisions {
					want := rows.at(i/2, i%2 == 1)
					if far := i - 2*256; far >= 0 {
						beyond++
						want = rows.Beyond[far/3]
					}
					if decisions++; !reflect.DeepEqual(bare(want), bare(d)) {
						t.Fatalf("%s\n%s exits %d, %v, restarts %d:\ntable  %v\ndecide %v", q["manifest"], c.Container, i/2, d["reason"], restarts, bare(want), bare(d))
					}
				}
			}
			next := 0
			for _, r := range c.Ranges {
				if from, to := r["from"].(float64), r["to"].(float64); int(from) != next || to < from {
					t.Fatalf("%s: a range from %v to %v, want it from %d on", c.Container, from, to, next)
				} else {
					next = int(to) + 1
				}
			}
			if next != 256 {
				t.Fatalf("%s: until %d", c.Container, next)
			}
			for i := 1; i < len(c.Ranges); i++ {
				if reflect.DeepEqual(bare(c.Ranges[i-1]), bare(c.Ranges[i])) {
					t.Errorf("%s: ranges %d and %d are one", c.Container, i-1, i)
				}
			}
		}
	}
	t.Logf("%d manifests and clusters, %d decisions", asked, decisions)
	if !testing.Short() && beyond < 20 {
		t.Errorf("only %d decisions beyond 255", beyond)
	}
	if !testing.Short() && asked < 250 {
		t.Errorf("only %d manifests and clusters", asked)
	}
}

// A rule that is out of reach can be taken away, and nothing changes but the numbers of the rules
// after it; unless it matches and is skipped, since a match ends the search.
func TestUnreachableRulesCanGo(t *testing.T) {
	removed := 0
	for _, q := range questions(t) {
		var before tableAnswer
		if ask(t, "table", q, `{}`, &before) {
			continue
		}
		for _, u := range before.Unreachable {
			if strings.Contains("unknown_action gate_off sidecar init_completed no_policy", u.Because) {
				continue
			}
			var manifest any
			if err := json.Unmarshal(q["manifest"], &manifest); err != nil {
				t.Fatal(err)
			}
			list := element(t, manifest, u.Path[:strings.LastIndex(u.Path, "[")])
			at, _ := strconv.Atoi(strings.Trim(u.Path[strings.LastIndex(u.Path, "["):], "[]"))
			rules := *list
			if *list = slices.Delete(slices.Clone(rules.([]any)), at, at+1); len((*list).([]any)) == 0 {
				continue // no rules at all are another policy, or none that is valid
			}
			text, _ := json.Marshal(manifest)
			without := maps.Clone(q)
			without["manifest"] = text
			var after tableAnswer
			if ask(t, "table", without, `{}`, &after) {
				t.Errorf("%s: without it the manifest is refused:\n%s", u.Path, q["manifest"])
				continue
			}
			removed++
			for i, c := range before.Containers {
				if one, other := outcomes(c.Ranges), outcomes(after.Containers[i].Ranges); !reflect.DeepEqual(one, other) {
					t.Errorf("%s matters (%s):\n%s", u.Path, u.Because, q["manifest"])
				}
			}
		}
	}
	if removed < 10 {
		t.Errorf("only %d rules were taken away", removed)
	}
}

// outcomes are what each code leads to, without what decided it.
func outcomes(ranges []row) (list [256]string) {
	for _, r := range ranges {
		r2 := bare(r)
		delete(r2, "decidedBy")
		delete(r2, "because")
		if u, ok := r2["undecided"].(row); ok {
			r2["undecided"] = u["reason"]
		}
		if job, ok := r2["job"].(row); ok {
			delete(job, "rule")
			delete(job, "path")
			delete(job, "undecided")
		}
		for code := int(r["from"].(float64)); code <= int(r["to"].(float64)); code++ {
			list[code] = fmt.Sprint(r2)
		}
	}
	return list
}

// element returns the place of a value by its path.
func element(t *testing.T, in any, path string) *any {
	t.Helper()
	at := &in
	for _, step := range strings.FieldsFunc(path, func(r rune) bool { return strings.ContainsRune(".[]", r) }) {
		switch v := (*at).(type) {
		case row:
			member := v[step]
			holder := &member
			v[step] = holderOf{holder}
			at = holder
		case []any:
			n, _ := strconv.Atoi(step)
			at = &v[n]
		default:
			t.Fatalf("no %s in %s", step, path)
		}
	}
	return at
}

// holderOf lets a member of an object be replaced by its place.
type holderOf struct{ value *any }

// MarshalJSON writes the value.
func (h holderOf) MarshalJSON() ([]byte, error) { return json.Marshal(*h.value) }
