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

// randomPod returns a request for Compile, which is one for decide without exits, and the names of its containers.
// Most are what the API server accepts.
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

// TestBatchEqualsEvalEqualsDecide asks the same exits in three ways: packed, one by one, and decide without a compiled
// policy. They agree in every word that they share.
func TestBatchEqualsEvalEqualsDecide(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 5))
	compiled, undecided, exits := 0, 0, 0
	for n := range 3000 {
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
	if compiled < 1000 || undecided < 500 {
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
