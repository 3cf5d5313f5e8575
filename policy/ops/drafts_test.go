package ops_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/podfate/podfate/policy/ops"
)

// draftCondition is a condition of a rule of the draft of KEP-3329, in plain values.
type draftCondition struct {
	not       bool
	codes     string // "" if it is about the reason
	reasons   []string
	container string
}

// draftPod is a Pod that has failed: what its containers a and b ended with, -1 for not at all.
type draftPod struct {
	reason string
	codes  [2]int
}

// The draft has no upstream that could be asked, so this is a second reading of its text, as naive
// as can be: one container of those that are meant is enough, 0 never matches unless the reading
// says so, the first rule that holds decides, and without one the Pod counts.
func (c draftCondition) holds(p draftPod, zero bool) bool { return bothHold(c, c, p, zero) }

// bothHold reports whether two expressions of one condition hold: of one container, if they are
// about codes, whose container is that of the first.
func bothHold(c, d draftCondition, p draftPod, zero bool) bool {
	if c.codes == "" {
		return slices.Contains(c.reasons, p.reason) != c.not && slices.Contains(d.reasons, p.reason) != d.not
	}
	for i, code := range p.codes {
		if code < 0 || code == 0 && !zero || c.container != "" && c.container != "ab"[i:i+1] {
			continue
		}
		if c.of(code) && d.of(code) {
			return true
		}
	}
	return false
}

// of reports whether c, which is about codes, is about this one.
func (c draftCondition) of(code int) bool {
	listed := false
	for _, part := range strings.Split(c.codes, ",") {
		from, to, isRange := strings.Cut(part, "-")
		if !isRange {
			to = from
		}
		low, _ := strconv.Atoi(from)
		high, _ := strconv.Atoi(to)
		listed = listed || low <= code && code <= high
	}
	return listed != c.not
}

// expressions is one condition that has several as its expressions.
func expressions(all ...draftCondition) string {
	var list []string
	for _, c := range all {
		operator, values := "In", c.reasons
		if c.not {
			operator = "NotIn"
		}
		if c.codes != "" {
			values = strings.Split(c.codes, ",")
		}
		text, _ := json.Marshal(values)
		list = append(list, fmt.Sprintf(`{"operator":%q,"values":%s}`, operator, text))
	}
	if all[0].codes == "" {
		return fmt.Sprintf(`"onPodStatus":{"reasonExpressions":[%s]}`, strings.Join(list, ","))
	}
	name := ""
	if all[0].container != "" {
		name = fmt.Sprintf(`,"containerName":%q`, all[0].container)
	}
	return fmt.Sprintf(`"onContainerExitCode":{"valueExpressions":[%s]%s}`, strings.Join(list, ","), name)
}

// spelled is c in each of the spellings: flat, grouped, grouped in a condition, expressions.
func (c draftCondition) spelled() (all [4]string) {
	in := "In"
	if c.not {
		in = "NotIn"
	}
	if c.codes == "" {
		list, _ := json.Marshal(c.reasons)
		all[0] = fmt.Sprintf(`"podStatusReason%s":%s`, in, list)
		all[1] = fmt.Sprintf(`"onPodStatus":{"reason%s":%s}`, in, list)
	} else {
		name := ""
		if c.container != "" {
			name = fmt.Sprintf(`,"containerName":%q`, c.container)
		}
		all[0] = fmt.Sprintf(`"containerExitCode%s":%q%s`, in, c.codes, name)
		all[1] = fmt.Sprintf(`"onContainerExitCode":{"value%s":%q%s}`, in, c.codes, name)
	}
	all[2], all[3] = `"condition":{`+all[1]+`}`, expressions(c)
	return all
}

// Every small policy of the draft, in each of its spellings and under both readings of exit code 0,
// about Pods that end in all the ways that it can tell apart.
func TestDraftsExhaustive(t *testing.T) {
	var conditions []draftCondition
	for _, not := range []bool{false, true} {
		for _, codes := range []string{"1-3", "2,5-6", "0", "0-255", "255"} {
			for _, name := range []string{"", "a", "b"} {
				conditions = append(conditions, draftCondition{not: not, codes: codes, container: name})
			}
		}
		for _, reasons := range [][]string{{"X"}, {""}, {"", "Y"}} {
			conditions = append(conditions, draftCondition{not: not, reasons: reasons})
		}
	}
	var pods []draftPod
	var list []string
	for _, reason := range []string{"", "X", "Y"} {
		for _, codes := range [][2]int{{1, -1}, {3, 0}, {4, 2}, {0, 5}, {255, 0}, {-1, 7}, {0, 1}} {
			pods = append(pods, draftPod{reason, codes})
			var ends []string
			for i, code := range codes {
				if code >= 0 {
					ends = append(ends, fmt.Sprintf(`{"name":%q,"state":{"terminated":{"exitCode":%d}}}`, "ab"[i:i+1], code))
				}
			}
			list = append(list, fmt.Sprintf(`{"metadata":{"name":"p%d"},"status":{"phase":"Failed","reason":%q,"containerStatuses":[%s]}}`, len(list), reason, strings.Join(ends, ",")))
		}
	}
	step := 1
	if testing.Short() {
		step = 13 // which has no factor in common with the number of conditions
	}
	decide, _ := ops.Lookup("decide")
	asked, together := 0, 0
	// ask asks about rules, each an action and a condition; holds says what the answer has to be.
	ask := func(zero bool, actions, rules []string, holds func(rule int, p draftPod) bool) {
		t.Helper()
		reading := map[bool]string{true: "matched", false: "skipped"}[zero]
		var written []string
		for i := range rules {
			written = append(written, fmt.Sprintf(`{"action":%q,%s}`, actions[i], rules[i]))
		}
		request := fmt.Sprintf(`{"cluster":{"proposals":{"kep-3329-draft":{"exitZero":%q}}},"pods":[%s],"manifest":{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j"},"spec":{"backoffPolicy":{"rules":[%s]},`+
			`"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"a","image":"i"},{"name":"b","image":"i"}]}}}}}`,
			reading, strings.Join(list, ","), strings.Join(written, ","))
		text, failed := ops.Call(decide.Number, []byte(request))
		var a struct {
			PodDecisions []struct {
				Action string
				Rule   *int
			}
		}
		if err := json.Unmarshal(text, &a); err != nil || failed || len(a.PodDecisions) != len(pods) {
			t.Fatalf("%v\n%s\n%s", err, request, text)
		}
		for i, got := range a.PodDecisions {
			want, rule := "Count", -1
			for k := len(rules) - 1; k >= 0; k-- {
				if holds(k, pods[i]) {
					want, rule = map[string]string{"Terminate": "FailJob", "Ignore": "Ignore"}[actions[k]], k
				}
			}
			if asked++; got.Action != want || (got.Rule == nil) != (rule < 0) || rule >= 0 && *got.Rule != rule {
				t.Fatalf("%+v, exitZero %s: %s, want %s by rule %d\n%s", pods[i], reading, got.Action, want, rule, request)
			}
		}
	}
	for n := 0; n < len(conditions)*len(conditions); n += step {
		rules := []draftCondition{conditions[n/len(conditions)], conditions[n%len(conditions)]}
		first, second := rules[0].spelled(), rules[1].spelled()
		for spelling := range first {
			zero := (n+spelling)%2 == 1
			actions := [][]string{{"Terminate", "Ignore"}, {"Ignore", "Terminate"}, {"Ignore", "Ignore"}}[n/2%3]
			ask(zero, actions, []string{first[spelling], second[spelling]}, func(rule int, p draftPod) bool { return rules[rule].holds(p, zero) })
		}
		if c, d := rules[0], rules[1]; (c.codes == "") == (d.codes == "") && c.container == d.container {
			zero := n%2 == 1
			together++
			ask(zero, []string{"Terminate"}, []string{expressions(c, d)}, func(_ int, p draftPod) bool { return bothHold(c, d, p, zero) })
		}
	}
	t.Logf("%d decisions, %d conditions of two expressions", asked, together)
	if together < 10 {
		t.Error("too few of two expressions")
	}
}
