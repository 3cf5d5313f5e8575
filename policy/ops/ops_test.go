package ops_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/ops"
	"github.com/podfate/podfate/policy/policytest"
	"github.com/podfate/podfate/policy/simulate"
)

// Operation numbers are part of the ABI: they may be added to, never changed.
func TestNumbersAreFixed(t *testing.T) {
	want := map[string]uint32{"describe": 1, "validate": 2, "decide": 3, "simulate": 4, "curve": 5, "explain": 6, "table": 7, "compare": 8, "suggest": 9, "translate": 10, "fleet": 11}
	for _, op := range ops.Table() {
		if want[op.Name] != op.Number {
			t.Errorf("%s has number %d, want %d", op.Name, op.Number, want[op.Name])
		}
		delete(want, op.Name)
	}
	for name := range want {
		t.Errorf("%s is gone", name)
	}
}

// A request can have more faults than the module has memory for. Those that are first are listed,
// in their order, however many come after or were found before, and the others are counted.
func TestManyFaults(t *testing.T) {
	const pod = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"name":"main","image":"i"}]}}`
	type answer struct {
		Error struct {
			Code, Message string
			Offset        int
			Faults        []struct{ Path, Code, Detail string }
		}
	}
	ask := func(t *testing.T, op uint32, request string) (got answer) {
		t.Helper()
		text, failed := ops.Call(op, []byte(request))
		if err := json.Unmarshal(text, &got); err != nil || !failed {
			t.Fatalf("%v, %.300s", err, text)
		}
		return got
	}
	for n := 95; n < 1500; n = n*5/4 + 1 { // each exit has two: no code, and a member that is none
		got := ask(t, 3, `{"exits":[`+strings.Repeat(`{"a":1},`, n)+`{"exitCode":1}],"b":1,"manifest":`+pod+`}`).Error
		if want := fmt.Sprintf("(and %d more faults)", 2*n); !strings.HasSuffix(got.Message, want) {
			t.Errorf("%d exits: %s, want %s", n, got.Message, want)
		}
		for i, f := range got.Faults[:100] {
			if !strings.HasPrefix(f.Path, fmt.Sprintf("exits[%d].", i/2)) {
				t.Fatalf("%d exits: fault %d is that of %s", n, i, f.Path)
			}
		}
		if last, want := got.Faults[100], fmt.Sprintf("%d more faults are not listed", 2*n+1-100); last.Detail != want || len(got.Faults) != 101 {
			t.Errorf("%d exits: %d faults, the last is %q, want %q", n, len(got.Faults), last.Detail, want)
		}
	}
	// What makes the others moot may be after all that is listed.
	got := ask(t, 3, `{"exits":[`+strings.Repeat(`{},`, 2000)+`{"exitCode":1}],"manifest":`+pod+`,"cluster":{"version":"1.12"}}`).Error
	if got.Code != "UNSUPPORTED_VERSION" || got.Offset < 6000 || len(got.Faults) != 101 || got.Faults[0].Path != "exits[0].exitCode" {
		t.Errorf("%s at %d, %d faults", got.Code, got.Offset, len(got.Faults))
	}
	// Unknown words are ignored by decide, also those that are only counted.
	rules := strings.TrimSuffix(strings.Repeat(`{"action":"Wait","exitCodes":{"operator":"Is","values":[7]}},`, 20), ",")
	for _, n := range []int{policy.MaxKeptFaults/40 - 1, policy.MaxKeptFaults/40 + 10} {
		var containers strings.Builder
		for i := range n {
			fmt.Fprintf(&containers, `{"name":"c%d","image":"i","restartPolicy":"Never","restartPolicyRules":[%s]},`, i, rules)
		}
		answer, failed := ops.Call(3, []byte(`{"manifest":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[`+containers.String()+
			`{"name":"main","image":"i"}]}},"exits":[{"container":"main","exitCode":1}]}`))
		if want := fmt.Sprintf(`"detail":"%d more faults are not listed"`, 40*n-100); failed || !strings.Contains(string(answer), want) {
			t.Errorf("%d unknown words, want %s: %.400s", 40*n, want, answer)
		}
	}
}

func TestErrors(t *testing.T) {
	pod := func(spec string) string {
		return `"manifest":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":` + spec + `}`
	}
	numbers := func(n int) string { return strings.TrimSuffix(strings.Repeat("1,", n), ",") }
	rules := func(rules, values int) string {
		rule := `{"action":"Restart","exitCodes":{"operator":"In","values":[` + numbers(values) + `]}}`
		return `{"containers":[{"name":"a","image":"i","restartPolicy":"Never","restartPolicyRules":[` +
			strings.TrimSuffix(strings.Repeat(rule+",", rules), ",") + `]}]}`
	}
	exits := func(n int) string {
		return `"exits":[` + strings.TrimSuffix(strings.Repeat(`{"exitCode":2},`, n), ",") + `]`
	}
	for _, test := range []struct {
		name    string
		op      uint32
		request string
		code    policy.ErrorCode
		limit   string
	}{
		{"no such operation", 99, `{}`, policy.UnsupportedOp, ""},
		{"operation 0", 0, `{}`, policy.UnsupportedOp, ""},
		{"nothing", 3, ``, policy.BadJSON, ""},
		{"not an object", 3, `[]`, policy.EventInvalid, ""},
		{"invalid UTF-8", 3, "{\"a\":\"\xff\"}", policy.BadUTF8, ""},
		{"no manifest", 2, `{}`, policy.EventInvalid, ""},
		{"manifest of another type", 2, `{"manifest":[]}`, policy.EventInvalid, ""},
		{"no kind", 3, `{"manifest":{},"exits":[{"exitCode":1}]}`, policy.ManifestInvalid, ""},
		{"request too large", 3, `{"a":"` + strings.Repeat("x", policy.MaxRequestBytes) + `"}`, policy.LimitExceeded, "requestBytes"},
		{"manifest too large", 2, `{` + pod(`{"hostname":"`+strings.Repeat("x", policy.MaxManifestBytes)+`"}`) + `}`, policy.LimitExceeded, "manifestBytes"},
		{"nested too deeply", 3, strings.Repeat("[", 65) + strings.Repeat("]", 65), policy.LimitExceeded, "depth"},
		{"too many rules", 2, `{` + pod(rules(policy.MaxRules+1, 1)) + `}`, policy.LimitExceeded, "rules"},
		{"too many values", 2, `{` + pod(rules(1, policy.MaxValues+1)) + `}`, policy.LimitExceeded, "values"},
		{"too many exits", 3, `{` + pod(rules(1, 1)) + `,` + exits(policy.MaxExits+1) + `}`, policy.LimitExceeded, "exits"},
		{"too much to explain", 3, `{` + pod(rules(20, 255)) + `,` + exits(9999) + `}`, policy.BudgetExceeded, "steps"},
		{"too many events", 4, `{` + pod(rules(1, 1)) + `,"events":[` + strings.TrimSuffix(strings.Repeat(`{},`, simulate.MaxEvents+1), ",") + `]}`, policy.LimitExceeded, "events"},
		{"too many runs", 4, `{` + pod(rules(1, 1)) + `,"runs":{"a":[` + strings.TrimSuffix(strings.Repeat(`{},`, simulate.MaxRuns+1), ",") + `]}}`, policy.LimitExceeded, "runs"},
		{"too long a timeline", 4, `{` + pod(rules(1, 1)) + `,"until":"24h","cluster":{"kubeletConfiguration":{"crashLoopBackOff":{"maxContainerRestartPeriod":"1s"}}},"runs":{"a":[` +
			strings.TrimSuffix(strings.Repeat(`{"for":"1ms","exitCode":1},{"for":"2ms","exitCode":1},`, 5000), ",") + `]}}`, policy.LimitExceeded, "timeline"},
		{"answer too large", 3, `{` + pod(rules(20, 1)) + `,` + exits(9999) + `}`, policy.LimitExceeded, "outputBytes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			answer, failed := ops.Call(test.op, []byte(test.request))
			var got struct {
				Error struct {
					Code  policy.ErrorCode
					Num   int
					Limit string
				}
			}
			if err := json.Unmarshal(answer, &got); err != nil {
				t.Fatalf("%v: %s", err, answer)
			}
			e := got.Error
			if !failed || e.Code != test.code || e.Limit != test.limit || e.Num != test.code.Number() {
				t.Errorf("got %.300s, want %s (%s)", answer, test.code, test.limit)
			}
		})
	}
}

// At most 100 faults are listed; the last entry says how many more there are.
func TestFaultsAreCapped(t *testing.T) {
	request := `{"manifest":{"apiVersion":"v1","kind":"Pod"},"exits":[` + strings.TrimSuffix(strings.Repeat(`{"exitCode":"x"},`, 500), ",") + `]}`
	answer, _ := ops.Call(3, []byte(request))
	var got struct {
		Error struct {
			Faults []struct{ Code, Detail string }
		}
	}
	if err := json.Unmarshal(answer, &got); err != nil {
		t.Fatal(err)
	}
	faults := got.Error.Faults
	if len(faults) != policy.MaxFaults+1 || faults[policy.MaxFaults].Code != string(policy.CodeTooManyFaults) {
		t.Errorf("%d faults, the last %+v", len(faults), faults[len(faults)-1])
	}
	if len(answer) > 64<<10 {
		t.Errorf("answer of %d bytes", len(answer))
	}
}

// TestMemoryForgets runs all scenarios in the same memory, there and back: what was there before
// changes no answer.
func TestMemoryForgets(t *testing.T) {
	cases, err := policytest.Cases()
	if err != nil {
		t.Fatal(err)
	}
	cases = policytest.Sample(t, 9, cases)
	var m ops.Memory
	for i := range 2 * len(cases) {
		c := cases[min(i, 2*len(cases)-1-i)]
		want, wantFailed := ops.Call(c.Operation.Number, c.Request)
		if got, failed := m.Call(c.Operation.Number, c.Request); failed != wantFailed || !bytes.Equal(got, want) {
			t.Errorf("%s: %s, alone %s", c.Name, got, want)
		}
	}
}

// FuzzCall holds for every input: an answer is JSON, the same each time, within its limit, and the
// request is not written to.
func FuzzCall(f *testing.F) {
	cases, err := policytest.Cases()
	if err != nil {
		f.Fatal(err)
	}
	for _, c := range policytest.Sample(f, 6, cases) {
		f.Add(c.Operation.Number, c.Request)
	}
	var used ops.Memory
	f.Fuzz(func(t *testing.T, op uint32, request []byte) {
		before := bytes.Clone(request)
		answer, failed := ops.Call(op, request)
		if !json.Valid(answer) {
			t.Fatalf("not JSON: %q", answer)
		}
		if len(answer) > policy.MaxOutputBytes {
			t.Fatalf("answer of %d bytes", len(answer))
		}
		again, failedAgain := ops.Call(op, request)
		if failed != failedAgain || !bytes.Equal(answer, again) {
			t.Fatalf("two answers: %s and %s", answer, again)
		}
		again, failedAgain = used.Call(op, request)
		if failed != failedAgain || !bytes.Equal(answer, again) {
			t.Fatalf("another answer in memory that was used before: %s and %s", answer, again)
		}
		if !bytes.Equal(before, request) {
			t.Fatal("the request was changed")
		}
	})
}

// BenchmarkCall is a whole operation on a small Pod, natively.
func BenchmarkCall(b *testing.B) {
	cases, err := policytest.Cases()
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range cases {
		if !strings.HasPrefix(c.Name, "c23-") && !strings.HasPrefix(c.Name, "describe/") {
			continue
		}
		b.Run(c.Operation.Name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(c.Request)))
			for b.Loop() {
				ops.Call(c.Operation.Number, c.Request)
			}
		})
	}
}

// TestNullIsAnEmptyRequest: null is as good as no value, as everywhere in Kubernetes.
func TestNullIsAnEmptyRequest(t *testing.T) {
	for _, op := range ops.Table() {
		got, failed := ops.Call(op.Number, []byte("null"))
		want, wanted := ops.Call(op.Number, []byte("{}"))
		if string(got) != string(want) || failed != wanted {
			t.Errorf("%s: null gives %s, {} gives %s", op.Name, got, want)
		}
	}
}
