package wasm

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/ops"
	"github.com/podfate/podfate/policy/policytest"
)

const policyRequest = `{"manifest":{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j"},"spec":{
	"podFailurePolicy":{"rules":[{"action":"Ignore","onPodConditions":[{"type":"DisruptionTarget"}]},{"action":"FailJob","onExitCodes":{"operator":"In","values":[3]}}]},
	"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"main","image":"x","restartPolicy":"Never",
		"restartPolicyRules":[{"action":"Restart","exitCodes":{"operator":"In","values":[42]}}]},{"name":"side","image":"x"}]}}}}}`

func newPolicy(t testing.TB, h *Host, request string) *Policy {
	t.Helper()
	p, err := h.Compile(t.Context(), []byte(request))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// TestPolicyAgreesWithNative asks the module and the native core the same, as JSON, as structs and
// packed.
func TestPolicyAgreesWithNative(t *testing.T) {
	native, want := ops.Compile([]byte(policyRequest), 4096, 1<<20)
	if native == nil {
		t.Fatalf("%s", want)
	}
	for _, engine := range engines {
		t.Run(engine.name, func(t *testing.T) {
			compilerIsEnough(t, engine.interpreter)
			h := newHost(t, Options{Interpreter: engine.interpreter, Instances: 1})
			p := newPolicy(t, h, policyRequest)
			if !bytes.Equal(p.JSON, want) || fmt.Sprint(p.Containers, p.Conditions) != "[main side] [{DisruptionTarget True}]" {
				t.Errorf("%s\nwant %s", p.JSON, want)
			}
			var events []Event
			var plain []policy.Event
			for code := range int32(300) {
				e := Event{ExitCode: code - 20, Container: uint16(code % 3), Flags: uint16(code % 4), History: uint32(code % 9), RanFor: int64(code) * 1000, Tag: uint32(code)}
				events = append(events, e)
				plain = append(plain, policy.Event{
					ExitCode: e.ExitCode, Container: e.Container, Flags: policy.EventFlags(e.Flags), History: e.History, RanFor: policy.Millis(e.RanFor), Tag: e.Tag,
				})
				text := fmt.Sprintf(`{"container":"%s","exitCode":%d}`, []string{"main", "side", "nobody"}[e.Container], e.ExitCode)
				single, failed := native.Eval([]byte(text))
				answer, err := p.Eval(t.Context(), []byte(text))
				if refused := (*Error)(nil); errors.As(err, &refused) {
					answer = refused.JSON
				}
				if (err != nil) != failed || !bytes.Equal(answer, single) || failed && !errors.Is(err, ErrEvent) {
					t.Fatalf("%s: %s %v, want %s", text, answer, err, single)
				}
			}
			for question := range AskPods + 1 {
				verdicts, expected := make([]Verdict, len(events)), make([]policy.Verdict, len(events))
				faults, err := p.EvalBatch(t.Context(), question, events, verdicts)
				if wrong := native.Batch().Eval(policy.Question(question), plain, expected); err != nil || faults != wrong || faults == 0 || faults == len(events) {
					t.Errorf("%d faults, want %d: %v", faults, wrong, err)
				}
				for k := range verdicts {
					if fmt.Sprintf("%v", verdicts[k]) != fmt.Sprintf("%v", expected[k]) {
						t.Fatalf("question %d, event %d: %+v, want %+v", question, k, verdicts[k], expected[k])
					}
				}
				batch := make([]byte, batchHeaderBytes+len(events)*eventBytes)
				packEvents(batch, question, events)
				answer := make([]byte, answerHeaderBytes+len(events)*verdictBytes+5)
				if n, err := p.EvalPacked(t.Context(), batch, answer); n != len(events) || err != nil {
					t.Fatalf("%d packed events answered, %v", n, err)
				}
				again := make([]Verdict, len(events))
				if _, err := unpackVerdicts(answer, events, again); err != nil || fmt.Sprint(again) != fmt.Sprint(verdicts) {
					t.Errorf("packed: %v", err)
				}
			}
			if made := h.Stats().Made; made != 2 {
				t.Errorf("%d instances were made: an error that is the caller's cost one", made)
			}
		})
	}
}

func packedExits(n int) []byte {
	batch := make([]byte, batchHeaderBytes+n*eventBytes)
	packEvents(batch, AskExits, make([]Event, n))
	return batch
}

// TestBatchesOfAnySize (R-J3) holds that what one call of the module does not take is answered as
// the native core answers it, and that the events of one Pod, which straddle the end of the first
// call here, stay together.
func TestBatchesOfAnySize(t *testing.T) {
	native, want := ops.Compile([]byte(policyRequest), 4096, 1<<20)
	if native == nil {
		t.Fatalf("%s", want)
	}
	h := newHost(t, Options{Instances: 1})
	p := newPolicy(t, h, policyRequest)
	const count = 2*MaxBatchRecords + 5
	events, plain := make([]Event, count), make([]policy.Event, count)
	for k := range events {
		e := Event{ExitCode: int32(k % 50), Container: uint16(k % 3), Tag: uint32(k)}
		if k%3 != 2 {
			e.Flags = 4
		}
		events[k] = e
		plain[k] = policy.Event{ExitCode: e.ExitCode, Container: e.Container, Flags: policy.EventFlags(e.Flags), Tag: e.Tag}
	}
	for question := range AskPods + 1 {
		verdicts, expected := make([]Verdict, count+1), make([]policy.Verdict, count)
		faults, err := p.EvalBatch(t.Context(), question, events, verdicts)
		// The native core takes a batch in one.
		if wrong := native.Batch().Eval(policy.Question(question), plain, expected); err != nil || faults != wrong || faults == 0 {
			t.Fatalf("question %d: %d faults, want %d: %v", question, faults, wrong, err)
		}
		for k, e := range expected {
			want := Verdict{
				Action: e.Action, Status: e.Status, Rule: e.Rule, Reason: e.Reason, Level: e.Level, Ignored: e.Ignored, Flags: uint8(e.Flags),
				Wait: int64(e.Wait), Container: e.Container, Condition: e.Condition, Tag: e.Tag,
			}
			if verdicts[k] != want {
				t.Fatalf("question %d, event %d: %+v, want %+v", question, k, verdicts[k], want)
			}
		}
		batch := make([]byte, batchHeaderBytes+count*eventBytes)
		packEvents(batch, question, events)
		before := bytes.Clone(batch)
		answer := make([]byte, answerHeaderBytes+count*verdictBytes)
		if n, err := p.EvalPacked(t.Context(), batch, answer); n != count || err != nil || !bytes.Equal(batch, before) {
			t.Fatalf("%d packed events answered, %v; the batch is as it was: %t", n, err, bytes.Equal(batch, before))
		}
		again := make([]Verdict, count)
		if wrong, err := unpackVerdicts(answer, events, again); err != nil || wrong != faults || !slices.Equal(again, verdicts[:count]) {
			t.Errorf("packed: %d faults, want %d, %v", wrong, faults, err)
		}
	}
	// Records of a newer host, of which 65,536 do not fit into what an instance lends.
	const size = 512
	long := slices.Concat(packedExits(0), make([]byte, (MaxBatchRecords+1)*size))
	binary.LittleEndian.PutUint16(long[6:], size)
	binary.LittleEndian.PutUint32(long[8:], MaxBatchRecords+1)
	if n, err := p.EvalPacked(t.Context(), long, make([]byte, answerHeaderBytes+(MaxBatchRecords+1)*verdictBytes)); n != MaxBatchRecords+1 || err != nil {
		t.Errorf("%d longer events answered, %v", n, err)
	}
}

// TestPolicySurvivesTraps drops the instance under a policy in each way, and asks again.
func TestPolicySurvivesTraps(t *testing.T) {
	policytest.Quick(t, "a module with traps is linked and compiled for each engine")
	for _, engine := range engines {
		t.Run(engine.name, func(t *testing.T) {
			compilerIsEnough(t, engine.interpreter)
			h := newHost(t, trapping(t, Options{Interpreter: engine.interpreter, Instances: 1}))
			p := newPolicy(t, h, policyRequest)
			for _, op := range []uint32{trapNilMap, trapIndex, trapStack, trapMemory, trapRecover, trapLong} {
				answer, err := h.Call(t.Context(), op, []byte(`{}`))
				if err == nil && !errors.Is(answer.Err(), ErrInternal) {
					t.Fatalf("operation %#x did not end its instance: %s", op, answer.JSON)
				}
				single, err := p.Eval(t.Context(), []byte(`{"container":"main","exitCode":42}`))
				if err != nil || !bytes.Contains(single, []byte(`"action":"Restart"`)) {
					t.Errorf("after %#x: %s %v", op, single, err)
				}
				var verdicts [1]Verdict
				if _, err := p.EvalBatch(t.Context(), AskExits, []Event{{ExitCode: 42}}, verdicts[:]); err != nil || verdicts[0].Action != 1 {
					t.Errorf("after %#x: %+v %v", op, verdicts, err)
				}
			}
		})
	}
}

func TestPolicyErrors(t *testing.T) {
	h := newHost(t, Options{Interpreter: true, Instances: 1})
	p := newPolicy(t, h, policyRequest)
	closed := newPolicy(t, h, policyRequest)
	closed.Close()
	compile := func(request string) error { _, err := h.Compile(t.Context(), []byte(request)); return err }
	eval := func(event string) error { _, err := p.Eval(t.Context(), []byte(event)); return err }
	packed := func(batch string, out int) error {
		_, err := p.EvalPacked(t.Context(), []byte(batch), make([]byte, out))
		return err
	}
	call := func(op uint32, request string) error {
		answer, err := h.Call(t.Context(), op, []byte(request))
		return errors.Join(err, answer.Err())
	}
	const empty = "PFB1\x01\x00\x20\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
	cases := []struct {
		name string
		err  error
		kind error
		num  int // 0: not of the module
	}{
		{"manifest that is no JSON", compile(`{`), ErrManifest, 1},
		{"manifest that is no UTF-8", compile("{\"\xff\":1}"), ErrManifest, 2},
		{"manifest that Kubernetes refuses", compile(`{"manifest":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"restartPolicy":"never"}}}`), ErrManifest, 3},
		{"version that is not modelled", compile(`{"cluster":{"version":"1.12"},"manifest":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"name":"a","image":"x"}]}}}`), ErrManifest, 8},
		{"request with a member too many", compile(strings.Replace(policyRequest, `{`, `{"exits":[],`, 1)), ErrEvent, 4},
		{"request over the limit", compile(strings.Repeat(" ", MaxRequestBytes+1)), ErrTooLarge, 0},
		{"nested too deep", compile(strings.Repeat("[", 65)), ErrLimit, 6},
		{"event that is no JSON", eval(``), ErrEvent, 1},
		{"event of another container", eval(`{"container":"x","exitCode":1}`), ErrEvent, 4},
		{"event over the limit", eval(strings.Repeat(" ", MaxRequestBytes+1)), ErrTooLarge, 0},
		{"empty batch", packed(empty, 16), nil, 0},
		{"no batch", packed("", 16), ErrEvent, 4},
		{"half a header", packed(empty[:23], 16), ErrEvent, 4},
		{"batch of another version", packed(strings.Replace(empty, "\x01", "\x02", 1), 16), ErrEvent, 8},
		{"batch without room", packed(empty, 15), ErrLimit, 11},
		{"too many records", packed(empty[:8]+"\x01\x00\x01\x00"+empty[12:], 16), ErrLimit, 6},
		{"more than an instance lends", packed(strings.Repeat("x", 17<<20), 16), ErrTooLarge, 0},
		{"policy that is closed", func() error { _, err := closed.Eval(t.Context(), []byte(`{}`)); return err }(), ErrClosed, 0},
		{"operation that is not there", call(99, `{}`), ErrEvent, 7},
		{"answer without an error", call(1, `{}`), nil, 0},
		{"a Pod of too many events", func() error {
			events := slices.Repeat([]Event{{Flags: 4}}, MaxBatchRecords+1)
			_, err := p.EvalBatch(t.Context(), AskPods, events, make([]Verdict, len(events)))
			return err
		}(), ErrLimit, 6},
		{"a packed Pod of too many events", func() error {
			events := slices.Repeat([]Event{{Flags: 4}}, MaxBatchRecords+1)
			batch := make([]byte, batchHeaderBytes+len(events)*eventBytes)
			packEvents(batch, AskPods, events)
			return packed(string(batch), answerHeaderBytes+len(events)*verdictBytes)
		}(), ErrLimit, 6},
		{"many packed events without room", packed(string(packedExits(MaxBatchRecords+1)), answerHeaderBytes+MaxBatchRecords*verdictBytes), ErrLimit, 11},
		{"fewer verdicts than events", func() error {
			_, err := p.EvalBatch(t.Context(), AskExits, make([]Event, 2), make([]Verdict, 1))
			return err
		}(), ErrLimit, 11},
		{"as many events as there may be", func() error {
			_, err := p.EvalBatch(t.Context(), AskExits, make([]Event, MaxBatchRecords), make([]Verdict, MaxBatchRecords))
			return err
		}(), nil, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var e *Error
			num := 0
			if errors.As(c.err, &e) {
				num = e.Num
			}
			if !errors.Is(c.err, c.kind) || num != c.num {
				t.Errorf("%v, number %d; want %v, number %d", c.err, num, c.kind, c.num)
			}
		})
	}
	if s := h.Stats(); s.Traps != 0 || s.Malformed != 0 || s.Made != 2 {
		t.Errorf("errors of the caller cost instances: %+v", s)
	}
}

// TestMorePoliciesThanHandles holds that the limits of an instance are not those of a host.
func TestMorePoliciesThanHandles(t *testing.T) {
	policytest.Quick(t, "more policies than there are handles")
	h := newHost(t, Options{Instances: 1})
	var many strings.Builder
	for i := range 900 {
		fmt.Fprintf(&many, `{"name":"c%d","image":"x"},`, i)
	}
	request := func(n int) string {
		return fmt.Sprintf(`{"manifest":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[%s{"name":"own-%d","image":"x"}]}}}`, many.String(), n)
	}
	var all []*Policy
	for n := range 30 { // 30 x 800 KB, where one instance holds 8 MiB
		all = append(all, newPolicy(t, h, request(n)))
	}
	for range 2 {
		for n, p := range all {
			answer, err := p.Eval(t.Context(), fmt.Appendf(nil, `{"container":"own-%d","exitCode":1}`, n))
			if err != nil || !bytes.Contains(answer, []byte(`"action":"Restart"`)) {
				t.Fatalf("policy %d: %s %v", n, answer, err)
			}
		}
	}
	if s := h.Stats(); s.Traps != 0 || s.Malformed != 0 {
		t.Errorf("%+v", s)
	}
}

// TestPoliciesAreForgotten closes policies, or lets them become garbage, and looks into the only
// instance.
func TestPoliciesAreForgotten(t *testing.T) {
	policytest.Quick(t, "hundreds of policies in the interpreter")
	h := newHost(t, Options{Interpreter: true, Instances: 1})
	for n := range 200 {
		p, err := h.Compile(t.Context(), []byte(policyRequest))
		if err != nil {
			t.Fatal(err)
		}
		if n%2 == 0 {
			p.Close()
		}
		if n%50 == 0 {
			runtime.GC()
		}
	}
	h.pool.mu.Lock()
	defer h.pool.mu.Unlock()
	for _, i := range h.pool.idle {
		if n := len(i.policies.handles); n > 150 {
			t.Errorf("%d policies are kept, though nobody has them", n)
		}
	}
}

// TestPolicyInManyGoroutines is for the race detector, and for answers that are another caller's.
func TestPolicyInManyGoroutines(t *testing.T) {
	h := newHost(t, Options{Instances: 2})
	p := newPolicy(t, h, policyRequest)
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			for n := range 200 {
				code := int32(1 + (g*31+n)%100)
				answer, err := p.Eval(t.Context(), fmt.Appendf(nil, `{"container":"main","exitCode":%d}`, code))
				var single struct{ ExitCode int32 }
				if err != nil || json.Unmarshal(answer, &single) != nil || single.ExitCode != code {
					t.Errorf("code %d: %s %v", code, answer, err)
				}
				events, verdicts := [3]Event{{ExitCode: code, Tag: uint32(g)}, {ExitCode: 42, Tag: uint32(n)}, {Container: 9}}, [3]Verdict{}
				if faults, err := p.EvalBatch(t.Context(), AskExits, events[:], verdicts[:]); err != nil || faults != 1 || verdicts[1].Action != 1 {
					t.Errorf("%d faults in %+v: %v", faults, verdicts, err)
				}
			}
		})
	}
	all.Wait()
}

// TestPoliciesAreNotTrusted runs modules that compile and batch wrongly.
func TestPoliciesAreNotTrusted(t *testing.T) {
	good := honest()
	good.data = `{"handle":1,"containers":["a"],"conditions":[]}` + "PFR1\x01\x00\x18\x00\x01\x00\x00\x00\x00\x00\x00\x00"
	good.compiled = word(dataAt, uint32(strings.Index(good.data, "PFR1")), false)
	with := func(change func(*fake)) fake { f := good; change(&f); return f }
	text := func(s string) fake {
		return with(func(f *fake) { f.data, f.compiled = s, word(dataAt, uint32(len(s)), false) })
	}
	cases := []struct {
		name          string
		fake          fake
		compile, eval error
	}{
		{"handle 0", text(`{"handle":0}`), ErrMalformed, nil},
		{"no handle", text(`{}`), ErrMalformed, nil},
		{"handle that is a text", text(`{"handle":"1"}`), ErrMalformed, nil},
		{"error without a number", with(func(f *fake) {
			f.data = `{"error":{"code":"?"}}`
			f.compiled = word(dataAt, uint32(len(f.data)), true)
		}), ErrMalformed, nil},
		{"handle that it does not know", with(func(f *fake) { f.answered = -5 }), nil, ErrMalformed},
		{"buffer that it does not know", with(func(f *fake) { f.answered = -10 }), nil, ErrMalformed},
		{"error of no meaning", with(func(f *fake) { f.answered = -1 << 31 }), nil, ErrMalformed},
		{"panic that was caught", with(func(f *fake) { f.answered = -9 }), nil, ErrInternal},
		{"nothing was written", with(func(f *fake) { f.answered = 1 }), nil, ErrMalformed},
		{"more answers than events", with(func(f *fake) { f.answered = 1 << 20 }), nil, ErrMalformed},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			h := newHost(t, c.fake.options())
			p, err := h.Compile(t.Context(), []byte(`{}`))
			if !errors.Is(err, c.compile) {
				t.Fatalf("Compile: %v, want %v", err, c.compile)
			}
			if err != nil {
				return
			}
			if _, err := p.EvalBatch(t.Context(), AskExits, make([]Event, 1), make([]Verdict, 1)); !errors.Is(err, c.eval) {
				t.Errorf("EvalBatch: %v, want %v", err, c.eval)
			}
			if s := h.Stats(); s.Malformed+s.Recycled != 1 {
				t.Errorf("the instance was kept: %+v", s)
			}
		})
	}
}

func BenchmarkPolicy(b *testing.B) {
	for _, engine := range engines {
		h := newHost(b, Options{Interpreter: engine.interpreter, Instances: 1})
		p, err := h.Compile(b.Context(), []byte(policyRequest))
		if err != nil {
			b.Fatal(err)
		}
		event := []byte(`{"container":"main","exitCode":42}`)
		b.Run(engine.name+"/eval", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.Eval(b.Context(), event); err != nil {
					b.Fatal(err)
				}
			}
		})
		events, verdicts := make([]Event, 10_000), make([]Verdict, 10_000)
		for k := range events {
			events[k] = Event{ExitCode: int32(k % 256), Flags: 2, History: uint32(k % 8), Tag: uint32(k)}
		}
		batch, answer := make([]byte, batchHeaderBytes+len(events)*eventBytes), make([]byte, answerHeaderBytes+len(events)*verdictBytes)
		for q, name := range []string{"exits", "pods"} {
			perEvent := func(b *testing.B) {
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(events)), "ns/event")
			}
			b.Run(engine.name+"/batch-"+name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := p.EvalBatch(b.Context(), Question(q), events, verdicts); err != nil {
						b.Fatal(err)
					}
				}
				perEvent(b)
			})
			b.Run(engine.name+"/packed-"+name, func(b *testing.B) {
				packEvents(batch, Question(q), events)
				if binary.LittleEndian.Uint32(batch[8:]) != 10_000 {
					b.Fatal("not packed")
				}
				for b.Loop() {
					if _, err := p.EvalPacked(b.Context(), batch, answer); err != nil {
						b.Fatal(err)
					}
				}
				perEvent(b)
			})
		}
	}
}
