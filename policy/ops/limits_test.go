package ops_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/ops"
	"github.com/podfate/podfate/policy/simulate"
)

// TestLimitsHavePlaces: what is too large has its path, and the place where it begins.
func TestLimitsHavePlaces(t *testing.T) {
	list := func(n int, of string) string { return "[" + strings.TrimSuffix(strings.Repeat(of+",", n), ",") + "]" }
	pod := func(containers string) string {
		return `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[` + containers + `]}}`
	}
	job := func(rules string) string {
		return `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j"},"spec":{"template":{"spec":{"restartPolicy":"Never",` +
			`"containers":[{"name":"a","image":"i"}]}},"podFailurePolicy":{"rules":` + rules + `}}}`
	}
	rule := func(values int) string {
		return `{"action":"Restart","exitCodes":{"operator":"In","values":` + list(values, "1") + `}}`
	}
	ruled := func(rules string) string {
		return `{"name":"b","image":"i","restartPolicy":"Never","restartPolicyRules":` + rules + `}`
	}
	plain := pod(`{"name":"a","image":"i"}`)
	var containers strings.Builder
	for i := range policy.MaxContainers {
		fmt.Fprintf(&containers, `{"name":"c%d"},`, i)
	}
	for _, test := range []struct {
		op          uint32
		request     string
		limit, path string
		element     string // the place is that of the last one in the request
	}{
		{2, `{"manifest":` + pod(containers.String()+`{"name":"a"}`) + `}`, "containers", "spec.containers", `"containers":`},
		{2, `{"manifest":` + pod(`{"name":"a","image":"i"},`+ruled(list(policy.MaxRules+1, rule(1)))) + `}`, "rules", "spec.containers[1].restartPolicyRules", `"restartPolicyRules":`},
		{2, `{"manifest":` + pod(ruled("["+rule(1)+","+rule(policy.MaxValues+1)+"]")) + `}`, "values", "spec.containers[0].restartPolicyRules[1].exitCodes.values", `"values":`},
		{2, `{"manifest":` + plain + `,"old":` + pod(ruled("["+rule(policy.MaxValues+1)+"]")) + `}`, "values", "old.spec.containers[0].restartPolicyRules[0].exitCodes.values", `"values":`},
		{2, `{"manifest":` + job(list(policy.MaxRules+1, `{"action":"Ignore"}`)) + `}`, "rules", "spec.podFailurePolicy.rules", `"rules":`},
		{2, `{"manifest":` + job(`[{"action":"Ignore"},{"action":"Ignore","onExitCodes":{"operator":"In","values":`+list(policy.MaxValues+1, "1")+`}}]`) + `}`, "values", "spec.podFailurePolicy.rules[1].onExitCodes.values", `"values":`},
		{2, `{"manifest":` + job(`[{"action":"Ignore","onPodConditions":`+list(policy.MaxPatterns+1, `{"type":"A"}`)+`}]`) + `}`, "patterns", "spec.podFailurePolicy.rules[0].onPodConditions", `"onPodConditions":`},
		{2, `{"manifest":{"hostname":"` + strings.Repeat("x", policy.MaxManifestBytes) + `"}}`, "manifestBytes", "manifest", `"manifest":`},
		{2, `{"manifest":` + plain + `,"old":{"hostname":"` + strings.Repeat("x", policy.MaxManifestBytes) + `"}}`, "manifestBytes", "old", `"old":`},
		{3, `{"manifest":` + plain + `,"exits":` + list(policy.MaxExits+1, `{"exitCode":2}`) + `}`, "exits", "exits", `"exits":`},
		{3, `{"manifest":` + job("[]") + `,"pods":` + list(policy.MaxPods+1, `{}`) + `}`, "pods", "pods", `"pods":`},
		{4, `{"manifest":` + plain + `,"events":` + list(simulate.MaxEvents+1, `{}`) + `}`, "events", "events", `"events":`},
		{4, `{"manifest":` + plain + `,"runs":{"a":` + list(simulate.MaxRuns+1, `{}`) + `}}`, "runs", "runs.a", `"a":`},
		{4, `{"manifest":` + job("[]") + `,"podRuns":` + list(simulate.MaxRuns+1, `{}`) + `}`, "podRuns", "podRuns", `"podRuns":`},
		{9, `{"manifest":` + plain + `,"wishes":{"restart":` + list(policy.MaxWishes+1, "1") + `}}`, "wishes", "wishes.restart[512]", `1]}`},
		{5, `{"windows":` + list(policy.MaxCurveWindows+1, `"1s"`) + `}`, "windows", "windows", `"windows":`},
	} {
		t.Run(test.path, func(t *testing.T) {
			answer, failed := ops.Call(test.op, []byte(test.request))
			var got struct {
				Error struct {
					Code         policy.ErrorCode
					Limit, Path  string
					Line, Column int
				}
			}
			if err := json.Unmarshal(answer, &got); err != nil {
				t.Fatal(err)
			}
			want := strings.LastIndex(test.request, test.element) + 1
			if e := got.Error; !failed || e.Code != policy.LimitExceeded || e.Limit != test.limit || e.Path != test.path || e.Line != 1 || e.Column != want {
				t.Errorf("%.300s, want %s at %s, column %d", answer, test.limit, test.path, want)
			}
		})
	}
}

// TestLaterEventsAreTold: an event after the end does not happen, which no timeline can show.
func TestLaterEventsAreTold(t *testing.T) {
	const pod = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"name":"a","image":"i"}]}}`
	const job = `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j"},"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"a","image":"i"}]}}}}`
	const cronJob = `{"apiVersion":"batch/v1","kind":"CronJob","metadata":{"name":"j"},"spec":{"schedule":"* * * * *","jobTemplate":{"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"a","image":"i"}]}}}}}}`
	for _, manifest := range []string{pod, job, cronJob} {
		for at, want := range map[string]bool{"1m": false, "61s": true} {
			answer, failed := ops.Call(4, []byte(`{"manifest":`+manifest+`,"until":"1m","events":[{"at":"1s","type":"KubeletRestarted"},{"at":"`+at+`","type":"Evicted"}]}`))
			if got := strings.Contains(string(answer), `"later_events_left_out"`); failed || got != want {
				t.Errorf("%s: said %v, want %v: %s", at, got, want, answer)
			}
		}
	}
}
