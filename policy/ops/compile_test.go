package ops_test

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/ops"
	"github.com/podfate/podfate/policy/packed"
)

// randomPod returns a request for Compile, which is one for decide without exits, and the names of
// its containers. Most are what the API server accepts.
func randomPod(r *rand.Rand) (request string, names []string) {
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	container := func(name string, init bool) string {
		names = append(names, name)
		c := `{"name":"` + name + `","image":"x"`
		own := pick("", "", "Always", "Never", "OnFailure")
		if own != "" {
			c += `,"restartPolicy":"` + own + `"`
		}
		if own == "" || init && own == "Always" || r.IntN(3) == 0 {
			return c + "}"
		}
		var rules []string
		for range 1 + r.IntN(4) {
			var values []string
			seen := map[string]bool{}
			for range 1 + r.IntN(4) {
				if v := pick("0", "1", "2", "42", "137", "255"); !seen[v] {
					seen[v], values = true, append(values, v)
				}
			}
			rules = append(rules, fmt.Sprintf(`{"action":"%s","exitCodes":{"operator":"%s","values":[%s]}}`,
				pick("Restart", "Restart", "RestartAllContainers", "Pause"), pick("In", "NotIn", "In", "Equals"), strings.Join(values, ",")))
		}
		return c + `,"restartPolicyRules":[` + strings.Join(rules, ",") + `]}`
	}
	var main, init []string
	for i := range 1 + r.IntN(3) {
		main = append(main, container(fmt.Sprintf("main-%d", i), false))
	}
	for i := range r.IntN(3) {
		init = append(init, container(fmt.Sprintf("init-%d", i), true))
	}
	cluster := pick(`{}`, `{"version":"1.34"}`, `{"version":"1.36"}`, `{"version":"1.35","featureGates":{"ContainerRestartRules":true}}`)
	spec := `"containers":[` + strings.Join(main, ",") + `]`
	if init != nil {
		spec += `,"initContainers":[` + strings.Join(init, ",") + `]`
	}
	if p := pick("", "Always", "Never", "OnFailure"); p != "" {
		spec += `,"restartPolicy":"` + p + `"`
	}
	return `{"cluster":` + cluster + `,"manifest":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{` + spec + `}}}`, names
}

// TestBatchEqualsEvalEqualsDecide asks the same exits in three ways: packed, one by one, and decide
// without a compiled policy. They agree in every word that they share.
func TestBatchEqualsEvalEqualsDecide(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 5))
	compiled, undecided, exits, rounds := 0, 0, 0, 3000
	if testing.Short() {
		rounds = 500
	}
	for n := range rounds {
		request, names := randomPod(r)
		p, answer := ops.Compile([]byte(request), int64(n), 1<<20)
		if p == nil {
			if !strings.Contains(string(answer), `"code":"MANIFEST_INVALID"`) {
				t.Fatalf("%s\n%s", request, answer)
			}
			continue
		}
		compiled++
		var head struct {
			Handle     int
			Containers []string
		}
		if err := json.Unmarshal(answer, &head); err != nil || head.Handle != n || fmt.Sprint(head.Containers) != fmt.Sprint(names) {
			t.Fatalf("%v: %s, want %d and %v", err, answer, n, names)
		}
		events := make([]policy.Event, 1+r.IntN(20))
		var asked []string
		for i := range events {
			e := policy.Event{
				ExitCode: []int32{0, 1, 2, 42, 137, 255, 256, -1, 1 << 30}[r.IntN(9)], Container: uint16(r.IntN(len(names))),
				History: uint32(r.IntN(12)), RanFor: policy.Millis(r.IntN(700_000)), Tag: r.Uint32(),
			}
			one := fmt.Sprintf(`{"container":"%s","exitCode":%d`, names[e.Container], e.ExitCode)
			if r.IntN(3) == 0 {
				e.Flags |= policy.EventOOMKilled
				one += `,"reason":"OOMKilled"`
			}
			events[i], asked = e, append(asked, one+"}")
			if r.IntN(2) == 0 {
				events[i].Flags |= policy.EventHistory
			}
		}
		verdicts := make([]policy.Verdict, len(events))
		if faults := p.Batch().Eval(policy.AskExits, events, verdicts); faults != 0 {
			t.Fatalf("%d faults", faults)
		}
		if got := unpack(t, p, events); fmt.Sprint(got) != fmt.Sprint(verdicts) {
			t.Fatalf("packed %v\nplain  %v", got, verdicts)
		}
		decided, failed := ops.Call(3, []byte(strings.TrimSuffix(request, "}")+`,"exits":[`+strings.Join(asked, ",")+`]}`))
		if failed {
			t.Fatalf("%s\n%s", request, decided)
		}
		var all struct{ Decisions []map[string]any }
		if err := json.Unmarshal(decided, &all); err != nil {
			t.Fatal(err)
		}
		for i, v := range verdicts {
			one := asked[i]
			if events[i].Flags&policy.EventHistory != 0 {
				one = fmt.Sprintf(`%s,"restarts":%d,"ranForMillis":%d}`, strings.TrimSuffix(one, "}"), events[i].History, events[i].RanFor)
			}
			text, failed := p.Eval([]byte(one))
			var single map[string]any
			if err := json.Unmarshal(text, &single); err != nil || failed {
				t.Fatalf("%v: %s", err, text)
			}
			wait, waits := single["delayMillis"]
			delete(single, "delayMillis")
			delete(all.Decisions[i], "trace")
			if fmt.Sprint(single) != fmt.Sprint(all.Decisions[i]) {
				t.Fatalf("%s\n%s\neval   %v\ndecide %v", request, one, single, all.Decisions[i])
			}
			if waits != (v.Wait >= 0) || waits && policy.Millis(wait.(float64)) != v.Wait {
				t.Fatalf("%s waits %v, the batch says %d", one, wait, v.Wait)
			}
			if v.Tag != events[i].Tag || v.Container != events[i].Container {
				t.Fatalf("%+v of %+v", v, events[i])
			}
			exits++
			if v.Flags&policy.VerdictUndecided != 0 {
				undecided++
				why := single["undecided"].(map[string]any)
				if why["reason"] != policy.VerdictReasons[v.Reason] || !strings.Contains(why["path"].(string), fmt.Sprintf("restartPolicyRules[%d].", v.Rule)) {
					t.Fatalf("%v, the batch says %+v", why, v)
				}
				continue
			}
			by := single["decidedBy"].(map[string]any)
			rule, ruled := by["rule"]
			if d := v.Decision(); single["action"] != string(d.Action) || single["because"] != string(d.Because) || by["level"] != string(d.Level) ||
				ruled && rule != float64(v.Rule) || (single["podFails"] == true) != d.PodFails {
				t.Fatalf("%s, the batch says %+v", text, d)
			}
		}
	}
	t.Logf("%d policies, %d exits, %d undecided", compiled, exits, undecided)
	if compiled < rounds/3 || undecided < rounds/6 {
		t.Errorf("too few: %d policies, %d undecided", compiled, undecided)
	}
}

// unpack sends events through the packed form.
func unpack(t *testing.T, p *ops.Policy, events []policy.Event) []policy.Verdict {
	t.Helper()
	in := binary.LittleEndian.AppendUint32([]byte("PFB1"), 1|packed.EventBytes<<16)
	in = binary.LittleEndian.AppendUint32(in, uint32(len(events)))
	in = append(in, make([]byte, 12)...)
	in, err := binary.Append(in, binary.LittleEndian, events)
	if err != nil {
		t.Fatal(err)
	}
	out := make([]byte, packed.AnswerBytes(len(events)))
	if n := packed.Eval(p.Batch(), in, out); n != int32(len(events)) {
		t.Fatalf("%d of %d answered", n, len(events))
	}
	if head := string(out[:8]); head != "PFR1\x01\x00\x18\x00" {
		t.Fatalf("%q", head)
	}
	verdicts := make([]policy.Verdict, len(events))
	if _, err := binary.Decode(out[packed.AnswerHeaderBytes:], binary.LittleEndian, verdicts); err != nil {
		t.Fatal(err)
	}
	return verdicts
}

// TestBatchOfPodsEqualsDecide asks about failed Pods packed and as Kubernetes prints them.
func TestBatchOfPodsEqualsDecide(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 13))
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	names := []string{"main", "side", "init"}
	actions := map[string]int{}
	for n := range 3000 {
		var rules []string
		for range r.IntN(4) {
			action := pick("FailJob", "Ignore", "Count", "FailJob", "Ignore", "Count", "FailIndex", "Retry")
			if r.IntN(3) == 0 {
				rules = append(rules, `{"action":"`+action+`","onPodConditions":[{"type":"`+pick("DisruptionTarget", "Ready")+`"`+pick("", `,"status":"False"`)+`}]}`)
				continue
			}
			name := ""
			if r.IntN(2) == 0 {
				name = `"containerName":"` + pick(names...) + `",`
			}
			rules = append(rules, `{"action":"`+action+`","onExitCodes":{`+name+`"operator":"`+pick("In", "NotIn", "In", "Among")+`","values":`+pick("[3]", "[1,3,137]", "[42,143]")+`}}`)
		}
		policyText := `"podFailurePolicy":{"rules":[` + strings.Join(rules, ",") + `]},`
		if r.IntN(6) == 0 {
			policyText = ""
		}
		more := pick("", "", `"managedBy":"example.com/other",`, `"backoffLimitPerIndex":2,"completionMode":"Indexed","completions":5,"parallelism":2,`)
		request := `{"cluster":` + pick(`{}`, `{"version":"1.36"}`, `{"version":"1.35"}`) + `,"manifest":{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j"},"spec":{` + more + policyText +
			`"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"main","image":"x"},{"name":"side","image":"x"}],"initContainers":[{"name":"init","image":"x"}]}}}}`
		p, answer := ops.Compile([]byte(request+"}"), int64(n), 1<<20)
		if p == nil {
			if !strings.Contains(string(answer), `"code":"MANIFEST_INVALID"`) {
				t.Fatalf("%s\n%s", request, answer)
			}
			continue
		}
		var events []policy.Event
		var pods []string
		var lasts []int
		for k := range 1 + r.IntN(6) {
			var statuses [2][]string
			var conditions []string
			mask := uint64(0)
			first := len(events)
			for number, name := range append(names, "injected") {
				code := []int32{0, 1, 3, 42, 137, 143, -1, 300}[r.IntN(8)]
				if r.IntN(3) == 0 {
					continue
				}
				container := uint16(number)
				if name == "injected" {
					container = policy.NoContainer
				}
				list := 0
				if name == "init" {
					list = 1
				}
				statuses[list] = append(statuses[list], fmt.Sprintf(`{"name":"%s","state":{"terminated":{"exitCode":%d}}}`, name, code))
				e := policy.Event{ExitCode: code, Container: container, Flags: policy.EventMore, Tag: uint32(k)}
				if at := len(events); list == 1 || len(statuses[1]) == 0 {
					events = append(events, e)
				} else { // injected is in front of init
					events = append(events, events[at-1])
					events[at-1] = e
				}
			}
			for bit, c := range p.Batch().Conditions() {
				if r.IntN(3) == 0 {
					mask |= 1 << bit
					conditions = append(conditions, fmt.Sprintf(`{"type":"%s","status":"%s"}`, c.Type, c.Status))
				}
			}
			if len(events) == first {
				events = append(events, policy.Event{Container: policy.NoContainer})
			}
			last := len(events) - 1
			events[last].Flags, events[last].Conditions = 0, mask
			lasts = append(lasts, last)
			pods = append(pods, fmt.Sprintf(`{"metadata":{"name":"p-%d","annotations":{"batch.kubernetes.io/job-completion-index":"1"}},"status":{"phase":"Failed","containerStatuses":[%s],"initContainerStatuses":[%s],"conditions":[%s]}}`,
				k, strings.Join(statuses[0], ","), strings.Join(statuses[1], ","), strings.Join(conditions, ",")))
		}
		verdicts := make([]policy.Verdict, len(events))
		if faults := p.Batch().Eval(policy.AskPods, events, verdicts); faults != 0 {
			t.Fatalf("%d faults in %+v", faults, events)
		}
		decided, failed := ops.Call(3, []byte(request+`,"pods":[`+strings.Join(pods, ",")+`]}`))
		var all struct {
			PodDecisions []struct {
				Action    string
				Rule      *int
				Counted   bool
				DecidedBy struct{ Container, Condition string }
				Undecided *struct{ Reason, Path string }
			}
		}
		if err := json.Unmarshal(decided, &all); err != nil || failed {
			t.Fatalf("%v: %s\n%s", err, decided, request)
		}
		for k, d := range all.PodDecisions {
			v := verdicts[lasts[k]]
			rule := -1
			if d.Rule != nil {
				rule = *d.Rule
			}
			wrong := string(v.Decision().Action) != d.Action || int(v.Decision().Matched) != rule || (v.Flags&policy.VerdictCounted != 0) != d.Counted
			if d.Undecided != nil {
				wrong = v.Action != 0 || v.Flags != policy.VerdictUndecided || policy.VerdictReasons[v.Reason] != d.Undecided.Reason ||
					v.Rule != policy.NoRule && !strings.Contains(d.Undecided.Path, fmt.Sprintf("rules[%d].", v.Rule))
			}
			name := "injected"
			if v.Container != policy.NoContainer {
				name = names[v.Container]
			}
			if by := d.DecidedBy; by.Container != "" && by.Container != name || (by.Condition != "") != (v.Condition != policy.NoCondition && d.Undecided == nil) {
				wrong = true
			}
			if wrong {
				t.Fatalf("decide %+v, the batch %+v\n%s\n%s", d, v, request, pods[k])
			}
			actions[policy.VerdictActions[v.Action]]++
		}
	}
	t.Log(actions)
	for _, action := range []string{"", "FailJob", "FailIndex", "Ignore", "Count"} {
		if actions[action] < 20 {
			t.Errorf("only %d Pods with the action %q", actions[action], action)
		}
	}
}
