package ops_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/podfate/podfate/policy"
)

type suggestAnswer struct {
	Template    string
	Container   string
	Already     bool
	Suggestions []suggestedChange
	Obstacle    *struct{ Because, Gate string }
	Versions    []struct {
		Version                 string
		Works, Refused, Already bool
		Gate                    string
		Shortest                *bool
		Suggestion              *suggestedChange
	}
	Error *struct {
		Code   string
		Faults []struct{ Path, Code string }
	}
}

type suggestedChange struct {
	Edits         []patchStep
	Rules, Values int
	Shortest      bool
	Changes       []struct {
		Container    string
		From, To     int
		Reason       string
		Was, Becomes row
	}
}

// patchStep is an operation of RFC 6902.
type patchStep struct {
	Op, Path string
	Value    any
}

// patch applies steps to a manifest, one after the other.
func patch(t *testing.T, manifest json.RawMessage, steps []patchStep) json.RawMessage {
	t.Helper()
	var v any
	decoder := json.NewDecoder(bytes.NewReader(manifest))
	if decoder.UseNumber(); decoder.Decode(&v) != nil {
		t.Fatalf("%s", manifest)
	}
	for _, s := range steps {
		names := strings.Split(s.Path, "/")[1:]
		for i := range names {
			names[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(names[i])
		}
		v = step(t, v, names, s)
	}
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func step(t *testing.T, in any, names []string, s patchStep) any {
	name, last := names[0], len(names) == 1
	switch v := in.(type) {
	case row:
		old, there := v[name]
		switch {
		case !last:
			v[name] = step(t, old, names[1:], s)
		case s.Op == "add" && !there, s.Op == "replace" && there:
			v[name] = s.Value
		case s.Op == "add" && old == nil:
			v[name] = s.Value
		case s.Op == "remove" && there:
			delete(v, name)
		default:
			t.Fatalf("%s %s: there is %v", s.Op, s.Path, old)
		}
		return v
	case []any:
		i, err := strconv.Atoi(name)
		if err != nil || i > len(v) || i == len(v) && (!last || s.Op != "add") {
			t.Fatalf("%s %s: no element %s of %d", s.Op, s.Path, name, len(v))
		}
		switch {
		case !last:
			v[i] = step(t, v[i], names[1:], s)
		case s.Op == "add":
			v = slices.Insert(v, i, s.Value)
		case s.Op == "remove":
			v = slices.Delete(v, i, i+1)
		default:
			v[i] = s.Value
		}
		return v
	}
	t.Fatalf("%s %s: nothing there", s.Op, s.Path)
	return nil
}

// comesTo is what an exit leads to for a user, from a range of table or one side of a change.
func comesTo(r row) string {
	out := row{"action": r["action"], "podFails": r["podFails"]}
	if u, ok := r["undecided"].(row); ok {
		out["undecided"] = u["reason"]
	}
	if job, ok := r["job"].(row); ok {
		for _, name := range []string{"podPhase", "action", "counted", "indexFails", "outcome", "reason"} {
			out["job."+name] = job[name]
		}
		if u, ok := job["undecided"].(row); ok {
			out["job.undecided"] = u["reason"]
		}
	}
	return fmt.Sprint(out)
}

// meets reports whether an end is what was wished.
func meets(r row, wish string) bool {
	job, _ := r["job"].(row)
	switch action := r["action"]; wish {
	case "restart":
		return action == "Restart"
	case "restartAll":
		return action == "RestartAllContainers"
	case "stop":
		return action == "Stop"
	default:
		return action == "Stop" && strings.EqualFold(fmt.Sprint(job["action"]), wish)
	}
}

// ends returns what each code of each container leads to.
func ends(t *testing.T, q map[string]json.RawMessage) (list map[string][257]row, refused bool) {
	t.Helper()
	var table tableAnswer
	if ask(t, "table", q, `{}`, &table) {
		return nil, true
	}
	list = map[string][257]row{}
	for _, c := range table.Containers {
		var all [257]row
		for _, r := range c.Ranges {
			for code := int(r["from"].(float64)); code <= int(r["to"].(float64)); code++ {
				all[code] = r
			}
		}
		if all[256] = all[0]; c.OomKilled != nil {
			all[256] = c.OomKilled
		}
		list[c.Container] = all
	}
	return list, false
}

// held checks that each suggestion, applied to the text of the manifest, does what is wished, and
// that nothing else changes but what it says. wish returns the wish for a code, "" for none.
func held(t *testing.T, q map[string]json.RawMessage, request string, a *suggestAnswer, wish func(code int) string) {
	t.Helper()
	before, _ := ends(t, q)
	for _, s := range a.Suggestions {
		after := maps.Clone(q)
		after["manifest"] = patch(t, q["manifest"], s.Edits)
		if a.Template != "" { // an edit may make it what is read as a Job's
			after["templatePath"], _ = json.Marshal(a.Template)
		}
		now, refused := ends(t, after)
		if refused {
			t.Errorf("%s\n%s: refused after %v", q["manifest"], request, s.Edits)
			continue
		}
		changes := map[string]string{}
		for _, c := range s.Changes {
			for code := c.From; code <= c.To; code++ {
				key := fmt.Sprint(c.Container, " ", code, c.Reason)
				changes[key] = comesTo(c.Was) + " → " + comesTo(c.Becomes)
			}
		}
		for name, all := range now {
			for code, end := range all {
				reason, k := "", code
				if code == 256 {
					reason, k = "OOMKilled", 0
				}
				if w := wish(k); w != "" && name == a.Container {
					if code < 256 && !meets(end, w) {
						t.Fatalf("%s\n%s: %d comes to %s after %v", q["manifest"], request, code, comesTo(end), s.Edits)
					}
					continue
				}
				was, is := comesTo(before[name][code]), comesTo(end)
				key := fmt.Sprint(name, " ", k, reason)
				said, there := changes[key]
				if code == 256 && !there && was != is && comesTo(all[0]) == is {
					continue // the change of code 0 is said, and is the same
				}
				if there != (was != is) || there && said != was+" → "+is {
					t.Fatalf("%s\n%s: %s %d%s: %s → %s, but the answer says %q; %v", q["manifest"], request, name, k, reason, was, is, said, s.Edits)
				}
			}
		}
	}
}

// Each flip that is suggested flips, for all manifests of the corpus: the edits, applied to the
// text, are accepted, the named code comes to what was asked for, and every other code of every
// container stays what it was unless the answer says so.
func TestFlipsFlip(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 9))
	found, exact, none := 0, 0, 0
	for n, q := range questions(t) {
		if testing.Short() && n%16 != 0 {
			continue
		}
		before, refused := ends(t, q)
		if refused || len(before) > 8 {
			continue
		}
		names := slices.Sorted(maps.Keys(before))
		for range 3 {
			to := []string{"restart", "restartAll", "stop", "stop", "count", "ignore", "failJob", "failIndex"}[r.IntN(8)]
			code := []int{0, 1, 2, 3, 42, 137, 143, r.IntN(256)}[r.IntN(8)]
			request := fmt.Sprintf(`{"flip":{"container":%q,"exit":%d,"to":%q}}`, names[r.IntN(len(names))], code, to)
			var a suggestAnswer
			if ask(t, "suggest", q, request, &a) {
				if a.Error.Code != "EVENT_INVALID" {
					t.Errorf("%s\n%s: %+v", q["manifest"], request, a.Error)
				}
				continue
			}
			held(t, q, request, &a, func(c int) string {
				if c == code {
					return to
				}
				return ""
			})
			if already := meets(before[a.Container][code], to); a.Already != already {
				t.Errorf("%s\n%s: already %v", q["manifest"], request, a.Already)
			}
			switch {
			case len(a.Suggestions) == 0 && !a.Already:
				if none++; a.Obstacle == nil {
					t.Errorf("%s\n%s: neither a suggestion nor an obstacle", q["manifest"], request)
				}
			case !a.Already:
				if found++; len(a.Suggestions[0].Changes) == 0 {
					exact++
				}
			}
		}
	}
	t.Logf("%d with a suggestion, %d of them exact, %d without", found, exact, none)
	if (found < 50 || exact < 30) && !testing.Short() || found < 10 || exact < 10 || none < 3 {
		t.Error("too few of a kind")
	}
}

// Wishes of random Pods and Jobs hold over all codes, are never contradictory when each code has
// one, and the policy is the shortest there is: no policy with fewer rules and values, of all that
// can be written with the codes that are named, does the same.
func TestWishesAreMetByTheShortestPolicy(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 12))
	n := 300
	if testing.Short() {
		n = 40
	}
	compared := 0
	for range n {
		pod := []string{"Always", "OnFailure", "Never"}[r.IntN(3)]
		manifest := `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"restartPolicy":"` + pod + `","containers":[{"name":"main","image":"x"}]}}`
		codes := r.Perm(6)[:1+r.IntN(3)]
		wishes := map[string][]int{}
		want := map[int]string{}
		for _, code := range codes {
			to := []string{"restart", "restartAll", "stop"}[r.IntN(3)]
			wishes[to], want[code] = append(wishes[to], code), to
		}
		q := map[string]json.RawMessage{"manifest": json.RawMessage(manifest), "cluster": json.RawMessage(`{"version":"1.36"}`)}
		text, _ := json.Marshal(row{"wishes": wishes})
		var a suggestAnswer
		if ask(t, "suggest", q, string(text), &a) {
			t.Fatalf("%s: %+v", text, a.Error)
		}
		held(t, q, string(text), &a, func(code int) string { return want[code] })
		if a.Already {
			continue
		}
		if len(a.Suggestions) == 0 || len(a.Suggestions[0].Changes) > 0 {
			t.Fatalf("%s %s: %+v", pod, text, a)
		}
		rules, values := shortestByTrying(pod, codes, want)
		if s := a.Suggestions[0]; rules != s.Rules || values != s.Values || !s.Shortest {
			t.Errorf("%s %s: %d rules with %d values, but %d with %d do it: %v", pod, text, s.Rules, s.Values, rules, values, s.Edits)
		}
		compared++
	}
	if compared < n/2 {
		t.Errorf("only %d compared", compared)
	}
}

// shortestByTrying tries every policy with at most two rules whose values are among codes and 0, on
// every restart policy of Pod and container.
func shortestByTrying(pod string, codes []int, want map[int]string) (rules, values int) {
	features := policy.DefaultFeatures(36)
	actions := map[policy.Action]string{policy.Restart: "restart", policy.RestartAllContainers: "restartAll", policy.Stop: "stop"}
	act := func(pod, own string, list []policy.ContainerRestartRule) (acts [256]string) {
		c := policy.Container{Name: "main", RestartPolicyRules: list}
		if own != "" {
			p := policy.RestartPolicy(own)
			c.RestartPolicy = &p
		}
		p := policy.Compile(&policy.PodSpec{RestartPolicy: policy.RestartPolicy(pod), Containers: []policy.Container{c}}, features)
		for code := range acts {
			acts[code] = actions[p.Decide(policy.Ref{}, policy.Exit{Code: int32(code)}).Action]
		}
		return acts
	}
	target := act(pod, "", nil)
	for code, to := range want {
		target[code] = to
	}
	named := slices.Clone(codes)
	if !slices.Contains(named, 0) {
		named = append(named, 0)
	}
	var one []policy.ContainerRestartRule
	for set := range 1 << len(named) {
		var list []int32
		for i, code := range named {
			if set>>i&1 != 0 {
				list = append(list, int32(code))
			}
		}
		for _, operator := range []policy.ExitCodesOperator{policy.OperatorIn, policy.OperatorNotIn} {
			for _, action := range []policy.ContainerRestartRuleAction{policy.ActionRestart, policy.ActionRestartAllContainers} {
				one = append(one, policy.ContainerRestartRule{Action: action, ExitCodes: &policy.ContainerRestartRuleOnExitCodes{Operator: operator, Values: list}})
			}
		}
	}
	rules, values = 99, 0
	try := func(pod, own string, list ...policy.ContainerRestartRule) {
		n := 0
		for _, r := range list {
			n += len(r.ExitCodes.Values)
		}
		if len(list) > rules || len(list) == rules && n >= values || act(pod, own, list) != target {
			return
		}
		rules, values = len(list), n
	}
	for _, pod := range []string{"Always", "OnFailure", "Never"} {
		for _, own := range []string{"", "Always", "OnFailure", "Never"} {
			try(pod, own)
		}
	}
	for _, own := range []string{"Always", "OnFailure", "Never"} { // beside rules the Pod's policy does not matter
		for _, a := range one {
			try(pod, own, a)
		}
	}
	for _, own := range []string{"OnFailure", "Never"} {
		for _, a := range one {
			for _, b := range one {
				try(pod, own, a, b)
			}
		}
	}
	return rules, values
}

// Wishes about both layers of random Jobs hold: over all codes of all containers in the words of
// table, for disrupted Pods in those of decide, and Pods with other conditions keep what they come
// to.
func TestWishesOfJobs(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	n := 250
	if testing.Short() {
		n = 40
	}
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	suggested, exact := 0, 0
	for range n {
		names := []string{"main", "side"}[:1+r.IntN(2)]
		var rules, containers []string
		for range r.IntN(4) {
			action := pick("FailJob", "Ignore", "Count", "FailIndex")
			switch r.IntN(3) {
			case 0:
				rules = append(rules, fmt.Sprintf(`{"action":%q,"onPodConditions":[{"type":%q,"status":"True"}]}`, action, pick("DisruptionTarget", "ConfigIssue")))
			case 1:
				rules = append(rules, fmt.Sprintf(`{"action":%q,"onExitCodes":{"containerName":%q,"operator":%q,"values":[%d,%d]}}`, action, pick(names...), pick("In", "NotIn"), 1+r.IntN(3), 4+r.IntN(3)))
			default:
				rules = append(rules, fmt.Sprintf(`{"action":%q,"onExitCodes":{"operator":%q,"values":[%d,%d]}}`, action, pick("In", "In", "NotIn"), 1+r.IntN(3), 4+r.IntN(3)))
			}
		}
		for _, name := range names {
			own := ""
			if r.IntN(2) == 0 {
				own = fmt.Sprintf(`,"restartPolicy":%q,"restartPolicyRules":[{"action":"Restart","exitCodes":{"operator":%q,"values":[%d,42]}}]`, pick("Never", "OnFailure"), pick("In", "NotIn"), r.IntN(5))
			}
			containers = append(containers, fmt.Sprintf(`{"name":%q,"image":"x"%s}`, name, own))
		}
		policies := ""
		if len(rules) > 0 {
			policies = `"podFailurePolicy":{"rules":[` + strings.Join(rules, ",") + `]},`
		}
		manifest := `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j"},"spec":{"completions":3,"completionMode":"Indexed","backoffLimitPerIndex":1,` + policies +
			`"template":{"spec":{"restartPolicy":"Never","containers":[` + strings.Join(containers, ",") + `]}}}}`
		q := map[string]json.RawMessage{"manifest": json.RawMessage(manifest), "cluster": json.RawMessage(`{"version":"1.36"}`)}
		wishes, want := map[string][]any{}, map[int]string{}
		words := []string{"restart", "restartAll", "stop", "count", "ignore", "failJob", "failIndex"}
		for _, i := range r.Perm(7)[:1+r.IntN(4)] {
			to := words[r.IntN(len(words))]
			if code := []int{1, 2, 3, 4, 5, 42, 200}[i]; want[code] == "" {
				wishes[to], want[code] = append(wishes[to], code), to
			}
		}
		disruption := ""
		if r.IntN(3) == 0 {
			disruption = words[3+r.IntN(4)]
			wishes[disruption] = append(wishes[disruption], "disruption")
		}
		members, _ := json.Marshal(row{"wishes": wishes, "container": "main"})
		var a suggestAnswer
		if ask(t, "suggest", q, string(members), &a) {
			t.Fatalf("%s\n%s: %+v", manifest, members, a.Error)
		}
		held(t, q, string(members), &a, func(code int) string { return want[code] })
		if len(a.Suggestions) > 0 {
			suggested++
			if len(a.Suggestions[0].Changes) == 0 {
				exact++
			}
		}
		before := judged(t, q)
		for _, s := range a.Suggestions {
			after := maps.Clone(q)
			after["manifest"] = patch(t, q["manifest"], s.Edits)
			for key, action := range judged(t, after) {
				condition, rest, _ := strings.Cut(key, " ")
				name, text, _ := strings.Cut(rest, " ")
				code, _ := strconv.Atoi(text)
				switch {
				case condition == "DisruptionTarget" && disruption != "":
					if !strings.EqualFold(action, disruption) {
						t.Fatalf("%s\n%s: %s: %s after %v", manifest, members, key, action, s.Edits)
					}
				case name == "main" && want[code] != "":
				case condition != "DisruptionTarget" && !strings.Contains(string(q["manifest"]), condition):
				case action != before[key]:
					t.Fatalf("%s\n%s: %s: %s → %s after %v", manifest, members, key, before[key], action, s.Edits)
				}
			}
		}
	}
	t.Logf("%d with a suggestion, %d of them exact", suggested, exact)
	if exact < n/2 {
		t.Error("too few")
	}
}

// judged is what the Job makes of Pods with a condition and an exit.
func judged(t *testing.T, q map[string]json.RawMessage) map[string]string {
	t.Helper()
	var pods []row
	for _, condition := range []string{"DisruptionTarget", "ConfigIssue"} {
		for _, name := range []string{"main", "side"} {
			if !strings.Contains(string(q["manifest"]), `"name":"`+name+`"`) {
				continue
			}
			for _, code := range []int{1, 2, 3, 4, 5, 6, 42, 137, 200} {
				pods = append(pods, row{
					"metadata": row{"name": fmt.Sprint(condition, " ", name, " ", code)},
					"status": row{
						"phase": "Failed", "conditions": []row{{"type": condition, "status": "True"}},
						"containerStatuses": []row{{"name": name, "state": row{"terminated": row{"exitCode": code}}}},
					},
				})
			}
		}
	}
	members, _ := json.Marshal(row{"pods": pods})
	var a struct {
		PodDecisions []struct{ Pod, Action string }
	}
	if ask(t, "decide", q, string(members), &a) {
		t.Fatal("decide fails")
	}
	list := map[string]string{}
	for _, d := range a.PodDecisions {
		list[d.Pod] = d.Action
	}
	return list
}
