package ops_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/bits"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// naiveRule is a rule about the codes 0 to 3; what is no longer told apart are all others.
type naiveRule struct {
	all, in bool // RestartAllContainers, In
	values  uint8
}

// naiveAct is what a container does after a code, of which 4 stands for all others.
func naiveAct(own string, list []naiveRule, code int) string {
	for _, r := range list {
		if (r.values>>code&1 != 0) == r.in {
			if r.all {
				return "restartAll"
			}
			return "restart"
		}
	}
	if own == "Always" || own == "OnFailure" && code != 0 {
		return "restart"
	}
	return "stop"
}

// naiveDistance is how many rules are added and removed, and how many values, where these are the
// fewest together. A rule is kept if it has the same action and operator, and one of its values.
func naiveDistance(was, is []naiveRule) (rules, values int) {
	if len(was) == 0 || len(is) == 0 {
		for _, r := range is {
			values += bits.OnesCount8(r.values)
		}
		return len(was) + len(is), values
	}
	better := func(r, v int) {
		if r+v < rules+values || r+v == rules+values && r < rules {
			rules, values = r, v
		}
	}
	rules = 99
	a, b := was[0], is[0]
	if a.all == b.all && a.in == b.in && (!a.in || a.values&b.values != 0) {
		r, v := naiveDistance(was[1:], is[1:])
		better(r, v+bits.OnesCount8(a.values^b.values))
	}
	r, v := naiveDistance(was[1:], is)
	better(r+1, v)
	r, v = naiveDistance(was, is[1:])
	better(r+1, v+bits.OnesCount8(b.values))
	return rules, values
}

func (r naiveRule) json() string {
	action, operator, values := "Restart", "NotIn", []string{}
	if r.all {
		action = "RestartAllContainers"
	}
	if r.in {
		operator = "In"
	}
	for code := range 4 {
		if r.values>>code&1 != 0 {
			values = append(values, fmt.Sprint(code))
		}
	}
	return fmt.Sprintf(`{"action":%q,"exitCodes":{"operator":%q,"values":[%s]}}`, action, operator, strings.Join(values, ","))
}

// Of all lists with at most three rules about four codes, and all policies, none does what a flip
// asks for with fewer changed rules and values together, or with as many and fewer rules, than a
// suggestion that is said to be the shortest; and nearly all are.
func TestFlipsAreTheShortest(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 12))
	n := 150
	if testing.Short() {
		n = 25
	}
	var one []naiveRule
	for values := range uint8(16) {
		for _, all := range []bool{false, true} {
			if one = append(one, naiveRule{all, false, values}); values > 0 {
				one = append(one, naiveRule{all, true, values})
			}
		}
	}
	proven, compared := 0, 0
	for range n {
		own := []string{"Always", "OnFailure", "Never"}[r.IntN(3)]
		var was []naiveRule
		for range r.IntN(3) {
			was = append(was, one[1+r.IntN(len(one)-1)])
		}
		var target [5]string
		for code := range target {
			target[code] = naiveAct(own, was, code)
		}
		var flips []string
		for _, code := range r.Perm(4)[:1+r.IntN(2)] {
			target[code] = []string{"restart", "restartAll", "stop"}[r.IntN(3)]
			flips = append(flips, fmt.Sprintf(`{"exit":%d,"to":%q}`, code, target[code]))
		}
		rules := ""
		if len(was) > 0 {
			var texts []string
			for _, x := range was {
				texts = append(texts, x.json())
			}
			rules = `,"restartPolicyRules":[` + strings.Join(texts, ",") + `]`
		}
		manifest := `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"restartPolicy":"Never","containers":[{"name":"main","image":"x","restartPolicy":"` + own + `"` + rules + `}]}}`
		q := map[string]json.RawMessage{"manifest": json.RawMessage(manifest), "cluster": json.RawMessage(`{"version":"1.36"}`)}
		request := `{"flip":[` + strings.Join(flips, ",") + `]}`
		var a suggestAnswer
		if ask(t, "suggest", q, request, &a) {
			t.Fatalf("%s %s: %+v", manifest, request, a.Error)
		}
		if a.Already {
			continue
		}
		best, fewest := 99, 0
		var does []naiveRule
		try := func(own string, list ...naiveRule) {
			for code := range target {
				if naiveAct(own, list, code) != target[code] {
					return
				}
			}
			if rules, values := naiveDistance(was, list); rules+values < best+fewest || rules+values == best+fewest && rules < best {
				best, fewest, does = rules, values, append([]naiveRule{}, list...)
			}
		}
		for _, own := range []string{"Always", "OnFailure", "Never"} {
			try(own)
			for _, a := range one {
				try(own, a)
				for _, b := range one {
					try(own, a, b)
					for _, c := range one {
						try(own, a, b, c)
					}
				}
			}
		}
		if len(a.Suggestions) == 0 || len(a.Suggestions[0].Changes) > 0 {
			t.Fatalf("%s %s: nothing is suggested, but %+v does it", manifest, request, does)
		}
		compared++
		s := a.Suggestions[0]
		if s.Shortest {
			proven++
		}
		var after struct {
			Spec struct {
				Containers []struct {
					RestartPolicyRules []struct {
						Action    string
						ExitCodes struct {
							Operator string
							Values   []int
						}
					}
				}
			}
		}
		if err := json.Unmarshal(patch(t, q["manifest"], s.Edits), &after); err != nil {
			t.Fatal(err)
		}
		var is []naiveRule
		for _, x := range after.Spec.Containers[0].RestartPolicyRules {
			rule := naiveRule{all: x.Action != "Restart", in: x.ExitCodes.Operator == "In"}
			for _, v := range x.ExitCodes.Values {
				rule.values |= 1 << v
			}
			is = append(is, rule)
		}
		if rules, values := naiveDistance(was, is); s.Shortest && (rules != best || values != fewest) {
			t.Errorf("%s %s: changes %d rules and %d values, but %+v changes %d and %d: %v", manifest, request, rules, values, does, best, fewest, s.Edits)
		}
	}
	if t.Logf("%d of %d are proven", proven, compared); proven < compared*9/10 {
		t.Error("too few are proven")
	}
}

// What is said of a release is what suggest says when it is asked there.
func TestSuggestionsOfEachRelease(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 12))
	own, works, refused := 0, 0, 0
	for n, q := range questions(t) {
		if n%3 != 0 || testing.Short() && n%18 != 0 {
			continue
		}
		before, failed := ends(t, q)
		if failed || len(before) > 4 {
			continue
		}
		names := make([]string, 0, len(before))
		for name := range before {
			names = append(names, name)
		}
		slices.Sort(names)
		to := []string{"restart", "restartAll", "stop", "ignore"}[r.IntN(4)]
		request := fmt.Sprintf(`{"flip":{"container":%q,"exit":%d,"to":%q}}`, names[0], []int{0, 1, 42, 137}[r.IntN(4)], to)
		var a suggestAnswer
		if ask(t, "suggest", q, request, &a) {
			continue
		}
		for _, v := range a.Versions {
			var cluster struct{ Version string }
			if json.Unmarshal(q["cluster"], &cluster); cluster.Version == v.Version || cluster.Version == "" && v.Version == "1.37" {
				continue
			}
			var fields map[string]json.RawMessage
			json.Unmarshal(q["cluster"], &fields)
			if fields == nil {
				fields = map[string]json.RawMessage{}
			}
			delete(fields, "featureGates") // a release is asked with its own, also in what its kubelet is given
			var kubelet map[string]json.RawMessage
			if json.Unmarshal(fields["kubeletConfiguration"], &kubelet); kubelet != nil {
				delete(kubelet, "featureGates")
				fields["kubeletConfiguration"], _ = json.Marshal(kubelet)
			}
			fields["version"] = json.RawMessage(`"` + v.Version + `"`)
			there := maps.Clone(q)
			there["cluster"], _ = json.Marshal(fields)
			var b suggestAnswer
			failed := ask(t, "suggest", there, request, &b)
			switch {
			case failed && b.Error.Code != "MANIFEST_INVALID": // fields of the cluster that this release does not have
			case failed != v.Refused:
				t.Errorf("%s %s in %s: refused %v", q["manifest"], request, v.Version, v.Refused)
			case failed:
				refused++
			case v.Already != b.Already:
				t.Errorf("%s %s in %s: already %v", q["manifest"], request, v.Version, v.Already)
			case v.Suggestion != nil:
				own++
				if !reflect.DeepEqual(*v.Suggestion, b.Suggestions[0]) {
					t.Errorf("%s %s in %s:\n%+v\n%+v", q["manifest"], request, v.Version, *v.Suggestion, b.Suggestions[0])
				}
			case v.Shortest != nil:
				works++
				// The rules that are left are fewer where the release drops some of them.
				if x, y := a.Suggestions[0], b.Suggestions[0]; *v.Shortest != y.Shortest || !reflect.DeepEqual(x.Edits, y.Edits) && (x.Rules != y.Rules || x.Values != y.Values) {
					t.Errorf("%s %s in %s:\n%+v\n%+v", q["manifest"], request, v.Version, x, y)
				}
			}
			if !failed && v.Works && len(a.Suggestions) > 0 {
				after := maps.Clone(there)
				after["manifest"] = patch(t, q["manifest"], a.Suggestions[0].Edits)
				var done suggestAnswer
				if ask(t, "suggest", after, request, &done) || !done.Already {
					t.Errorf("%s %s in %s: said to work", q["manifest"], request, v.Version)
				}
			}
		}
	}
	least := 3
	if testing.Short() { // a sample of the sample, which can miss a kind
		least = 0
	}
	if t.Logf("%d own, %d the first, %d refused", own, works, refused); own < least || works < 3*max(least, 1) || refused < least {
		t.Error("too few of a kind")
	}
}
