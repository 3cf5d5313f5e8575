package ops_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/podfate/podfate/policy/policytest"
)

type translateAnswer struct {
	Manifest    json.RawMessage
	Changed     bool
	Accepted    bool
	Lost        []struct{ Path, Because string }
	Differences []struct {
		Container, Reason string
		From, To          int
		Restarts          *int
		Was, Becomes      row
	}
	TablesAgree, Equivalent bool
	Error                   struct{ Code string }
}

// translated is q after a translation: its manifest, in a cluster with the proposal of the words
// that it was translated to and no other.
func translated(q map[string]json.RawMessage, a *translateAnswer, to string) map[string]json.RawMessage {
	after := maps.Clone(q)
	after["manifest"] = a.Manifest
	delete(after, "decide")
	if kindOf(a.Manifest) != kindOf(q["manifest"]) {
		delete(after, "templatePath") // the Job of one template of a Workflow
	}
	var strip func(cluster map[string]any)
	strip = func(cluster map[string]any) {
		delete(cluster, "proposals")
		if gates, ok := cluster["featureGates"].(map[string]any); ok && to == "kubernetes" {
			for draft, name := range map[string]string{
				"ReduceDefaultCrashLoopBackoffDecay": "ReduceDefaultCrashLoopBackOffDecay", "EnableKubeletCrashLoopBackoffMax": "KubeletCrashLoopBackOffMax",
				"EnableRapidCrashLoopBackoffDecay": "", "RetriableAndNonRetriableFailures": "",
			} {
				if on, ok := gates[draft]; ok {
					delete(gates, draft)
					if name != "" {
						gates[name] = on
					}
				}
			}
		}
		if node, ok := cluster["kubelet"].(map[string]any); ok {
			strip(node)
		}
	}
	cluster := map[string]any{}
	_ = json.Unmarshal(q["cluster"], &cluster)
	options := map[string]any{}
	if p, ok := cluster["proposals"].(map[string]any); ok && to != "kubernetes" {
		options = p
	}
	strip(cluster)
	if to != "kubernetes" {
		if options[to] == nil {
			options[to] = map[string]any{}
		}
		cluster["proposals"] = options
	}
	after["cluster"], _ = json.Marshal(cluster)
	return after
}

// expanded are the rows of a table, one for each code and one for a memory kill with 0, without
// what decides them, in the order of the containers.
func expanded(t *testing.T, q map[string]json.RawMessage) (list [][257]row, restarts bool) {
	t.Helper()
	var table tableAnswer
	var raw struct {
		Containers []struct{ Restarts, OomKilledRanges []any }
	}
	if ask(t, "table", q, `{}`, &table) || ask(t, "table", q, `{}`, &raw) {
		return nil, false
	}
	for i, c := range table.Containers {
		var all [257]row
		restarts = restarts || raw.Containers[i].Restarts != nil || raw.Containers[i].OomKilledRanges != nil
		for _, r := range c.Ranges {
			for code := int(r["from"].(float64)); code <= int(r["to"].(float64)); code++ {
				all[code] = r
			}
		}
		if all[256] = all[0]; c.OomKilled != nil {
			all[256] = c.OomKilled
		}
		list = append(list, all)
	}
	return list, restarts
}

// outcome is what a row leads to, whatever decides it.
func outcomeOf(r row) map[string]any {
	out := map[string]any{"action": r["action"], "podFails": r["podFails"], "undecided": r["undecided"]}
	if out["action"] == "Terminate" {
		out["action"] = "Stop"
	}
	if job, ok := r["job"].(map[string]any); ok {
		job = maps.Clone(job)
		delete(job, "rule")
		delete(job, "path")
		delete(job, "decidedBy")
		if job["action"] == nil && job["judged"] != nil {
			job["action"] = "Count"
		}
		out["job"] = job
	}
	return out
}

// What translate says of tables is what table says of both manifests, for all manifests of the
// corpus: the two agree exactly where translate says so, and equivalent is never said of anything
// else.
func TestTranslationsAreWhatTheTablesSay(t *testing.T) {
	changed, equivalent, different, lost, refused := 0, 0, 0, 0, 0
	for _, q := range policytest.Sample(t, 5, questions(t)) {
		q = maps.Clone(q)
		delete(q, "restartCounts")
		for _, to := range []string{"kubernetes", "kep-5307-future", "kep-3329-draft", "always-pod"} {
			var a translateAnswer
			if ask(t, "translate", q, `{"to":"`+to+`"}`, &a) {
				continue
			}
			if a.Equivalent && (len(a.Lost) > 0 || !a.TablesAgree || !a.Accepted || len(a.Differences) > 0) {
				t.Errorf("%s to %s: equivalent, and %+v", q["manifest"], to, a)
			}
			if !a.Changed && to == "kubernetes" && string(compacted(a.Manifest)) != string(compacted(q["manifest"])) {
				t.Errorf("%s: not changed, and %s", q["manifest"], a.Manifest)
			}
			before, restarts := expanded(t, q)
			after, _ := expanded(t, translated(q, &a, to))
			if (after != nil) != a.Accepted {
				t.Errorf("%s to %s: accepted %v\n%s", q["manifest"], to, a.Accepted, a.Manifest)
			}
			if len(a.Lost) > 0 {
				lost++
			}
			if !a.Accepted {
				refused++
				continue
			}
			if a.Changed {
				changed++
			}
			if len(before) != len(after) {
				t.Errorf("%s to %s: %d containers, %d before", q["manifest"], to, len(after), len(before))
				continue
			}
			if len(a.Lost) > 0 && a.Lost[0].Because == "owner" {
				continue // its layer is another one: tfjob-exit-code
			}
			same := true
			for i := range before {
				for code := range before[i] {
					same = same && reflect.DeepEqual(outcomeOf(before[i][code]), outcomeOf(after[i][code]))
				}
			}
			if restarts { // what differs then may differ after restarts alone
				same = same && !slices.ContainsFunc(a.Differences, func(d struct {
					Container, Reason string
					From, To          int
					Restarts          *int
					Was, Becomes      row
				}) bool {
					return d.Restarts != nil && *d.Restarts > 0 || d.Reason != ""
				})
			}
			if same != a.TablesAgree {
				t.Errorf("%s %s to %s: the tables agree is %v\n%s\n%+v", q["cluster"], q["manifest"], to, a.TablesAgree, a.Manifest, a.Differences)
			}
			if a.Equivalent && a.Changed {
				equivalent++
				comparedAlike(t, q, translated(q, &a, to), to)
			} else if !a.TablesAgree {
				different++
			}
		}
	}
	t.Logf("%d changed: %d equivalent, %d different; %d lose something, %d refused", changed, equivalent, different, lost, refused)
	if (changed < 100 || equivalent < 30 || different < 10 || lost < 20 || refused < 3) && !testing.Short() || changed < 20 {
		t.Error("too few of a kind")
	}
}

// comparedAlike holds compare to translate: what is equivalent to the one is so to the other.
func comparedAlike(t *testing.T, before, after map[string]json.RawMessage, to string) {
	t.Helper()
	if before["decide"] != nil || before["templatePath"] != nil && after["templatePath"] == nil || string(before["fieldValidation"]) == `"Ignore"` {
		return // what stands beside the manifest is not that of the other one; variants have each name once
	}
	both := maps.Clone(before)
	if to != "kubernetes" {
		both["cluster"] = after["cluster"]
	}
	shared, _ := json.Marshal(both)
	variants, _ := json.Marshal([]any{row{"name": "before"}, row{"name": "after", "manifest": after["manifest"]}})
	var c struct {
		Equivalent  bool
		Differences []row
	}
	q := map[string]json.RawMessage{"of": json.RawMessage(`"table"`), "request": shared, "variants": variants}
	if ask(t, "compare", q, `{}`, &c) || !c.Equivalent {
		t.Errorf("%s to %s is equivalent, and not to compare: %v\n%s", before["manifest"], to, c.Differences, after["manifest"])
	}
}

func kindOf(manifest json.RawMessage) string {
	var m struct{ Kind string }
	_ = json.Unmarshal(manifest, &m)
	return m.Kind
}

func compacted(text json.RawMessage) []byte {
	var b bytes.Buffer
	_ = json.Compact(&b, text)
	return b.Bytes()
}

// There and back again: rules of releases through each spelling of a draft are what they were.
func TestTranslationsComeBack(t *testing.T) {
	back := 0
	for _, q := range policytest.Sample(t, 5, questions(t)) {
		q = maps.Clone(q)
		delete(q, "restartCounts")
		delete(q, "decide")
		for to, spellings := range map[string][]string{
			"kep-5307-future": {"when", "onExit", "onExitCodes"}, "kep-3329-draft": {"flat", "grouped", "condition", "expressions"},
		} {
			var first json.RawMessage
			for _, spelling := range spellings {
				var there, again translateAnswer
				if ask(t, "translate", q, `{"to":"`+to+`","spelling":"`+spelling+`"}`, &there) || !there.Changed || !there.Equivalent {
					continue // such as one for a node that lacks the proposal
				}
				if ask(t, "translate", translated(q, &there, to), `{"to":"kubernetes"}`, &again) {
					t.Errorf("%s as %s, %s: %+v", there.Manifest, to, spelling, again.Error)
					continue
				}
				if first == nil {
					first = compacted(again.Manifest)
				}
				if back++; string(compacted(again.Manifest)) != string(first) {
					t.Errorf("%s: through %s, %s it is\n%s, not\n%s", q["manifest"], to, spelling, again.Manifest, first)
				}
			}
		}
	}
	if t.Logf("%d came back", back); back < 50 && !testing.Short() || back < 5 {
		t.Error("too few")
	}
}
