package policy_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/podfate/podfate/policy"
)

// TestBatchOfPodsAgreesWithMatch asks about failed Pods in numbers and by name.
func TestBatchOfPodsAgreesWithMatch(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 9))
	spec := &policy.PodSpec{
		Containers:     []policy.Container{{Name: "main"}, {Name: "nail"}},
		InitContainers: []policy.Container{{Name: "init"}},
	}
	for range 50_000 {
		p, pod := randomFailure(r)
		for _, rule := range p.Rules {
			if on := rule.OnExitCodes; on != nil && on.ContainerName != nil && *on.ContainerName == "helper" {
				*on.ContainerName = "main" // a valid rule names only containers of the manifest
			}
		}
		b := policy.NewBatch(spec, policy.BatchOptions{Features: policy.DefaultFeatures(policy.NewestMinor), Fallback: true, JobFallback: true, Job: &policy.Job{PodFailurePolicy: p}})
		pod.Exits = slices.DeleteFunc(pod.Exits, func(e policy.PodExit) bool { return e.Container == "" })
		mask := uint64(0)
		for i, c := range b.Conditions() {
			if slices.Contains(pod.Conditions, policy.PodCondition{Type: c.Type, Status: c.Status}) {
				mask |= 1 << i
			}
		}
		var events []policy.Event
		for _, e := range pod.Exits {
			number := policy.NoContainer // helper is not in the manifest: something put it into the Pod
			if ref, ok := spec.Find(e.Container); ok {
				number = uint16(spec.Number(ref))
			}
			events = append(events, policy.Event{ExitCode: e.Code, Container: number, Flags: policy.EventMore})
		}
		if len(events) == 0 {
			events = append(events, policy.Event{Container: policy.NoContainer})
		}
		events[r.IntN(len(events))].Conditions = mask
		last := len(events) - 1
		events[last].Flags, events[last].History = policy.EventHistory, uint32(r.IntN(9))
		verdicts := make([]policy.Verdict, len(events))
		if faults := b.Eval(policy.AskPods, events, verdicts); faults != 0 {
			t.Fatalf("%d faults in %+v", faults, events)
		}
		for _, v := range verdicts[:last] {
			if v.Action != 0 || v.Flags != policy.VerdictMore {
				t.Fatalf("%+v before the last event", v)
			}
		}
		m, v := policy.CompileFailurePolicy(p).Match(pod), verdicts[last]
		want := m.Action
		if want == "" {
			want = policy.ActionCount
		}
		if got := v.Decision(); string(got.Action) != string(want) || got.Matched != m.Rule || (v.Flags&policy.VerdictCounted != 0) != m.Counted() {
			t.Fatalf("%+v, want %+v\n%+v\n%+v", v, m, p, pod)
		}
		if exit := m.Rule >= 0 && !m.Condition; exit && v.Container != events[m.At].Container || !exit && v.Container != policy.NoContainer {
			t.Fatalf("container %d, want %+v of %+v", v.Container, m, pod)
		}
		if (v.Condition != policy.NoCondition) != m.Condition || m.Condition && mask>>v.Condition&1 == 0 {
			t.Fatalf("condition %d, want %+v of %+v", v.Condition, m, pod)
		}
		wait := policy.Millis(-1)
		if want == policy.ActionCount || want == policy.ActionIgnore {
			wait = min(policy.Millis(10_000)<<events[last].History, 600_000)
		}
		if v.Wait != wait {
			t.Fatalf("%s after %d failures waits %d, want %d", want, events[last].History, v.Wait, wait)
		}
	}
}

func TestEventsThatMakeNoSense(t *testing.T) {
	spec := &policy.PodSpec{Containers: []policy.Container{{Name: "a"}, {Name: "b"}}}
	job := &policy.Job{PodFailurePolicy: &policy.PodFailurePolicy{Rules: []policy.PodFailurePolicyRule{
		{Action: policy.ActionIgnore, OnPodConditions: []policy.PodConditionPattern{{Type: "DisruptionTarget", Status: "True"}}},
	}}}
	o := policy.BatchOptions{Features: policy.DefaultFeatures(policy.NewestMinor)}
	pod := policy.NewBatch(spec, o)
	o.Job = job
	both := policy.NewBatch(spec, o)
	const exits, pods = policy.AskExits, policy.AskPods
	cases := []struct {
		name   string
		b      *policy.Batch
		q      policy.Question
		events []policy.Event
		faults int
	}{
		{"right", both, exits, []policy.Event{{Container: 1}}, 0},
		{"container that is not there", both, exits, []policy.Event{{Container: 2}}, 1},
		{"no container, and the Pod has two", both, exits, []policy.Event{{Container: policy.NoContainer}}, 1},
		{"flag that is not known", both, exits, []policy.Event{{Flags: 16}}, 1},
		{"flag of the other question", both, exits, []policy.Event{{Flags: policy.EventMore}, {}}, 1},
		{"condition of an exit", both, exits, []policy.Event{{Conditions: 1}}, 1},
		{"run of less than nothing", both, exits, []policy.Event{{RanFor: -1}}, 1},
		{"right Pod", both, pods, []policy.Event{{Flags: policy.EventMore}, {Container: policy.NoContainer, Conditions: 1}}, 0},
		{"Pod of a manifest that is no Job", pod, pods, []policy.Event{{}}, 1},
		{"Pod with a container that is not there", both, pods, []policy.Event{{Container: 2}}, 1},
		{"Pod with a condition that has no number", both, pods, []policy.Event{{Conditions: 2}}, 1},
		{"Pod with a run", both, pods, []policy.Event{{RanFor: 1}}, 1},
		{"Pod that is not complete", both, pods, []policy.Event{{Flags: policy.EventMore}, {Flags: policy.EventMore}}, 1},
		{"one wrong event of a Pod, and the next Pod", both, pods, []policy.Event{{Container: 2, Flags: policy.EventMore}, {Conditions: 1}, {Conditions: 1}}, 2},
		{"wrong last event, and a Pod that must not be given what came before", both, pods,
			[]policy.Event{{Conditions: 1, Flags: policy.EventMore}, {Container: 2}, {Tag: 99}}, 1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			verdicts := make([]policy.Verdict, len(c.events))
			if got := c.b.Eval(c.q, c.events, verdicts); got != c.faults {
				t.Errorf("%d faults, want %d: %+v", got, c.faults, verdicts)
			}
			for _, v := range verdicts {
				if v.Status != 0 && (v.Status != 4 || v.Action != 0 || v.Rule != policy.NoRule || v.Wait != -1) {
					t.Errorf("%+v", v)
				}
				if v.Tag == 99 && v.Rule != policy.NoRule {
					t.Errorf("%+v", v)
				}
			}
		})
	}
}

// TestWait holds what the record can know of the back-off against what the kubelet's entry does.
func TestWait(t *testing.T) {
	spec := &policy.PodSpec{Containers: []policy.Container{{Name: "a"}}}
	f := policy.DefaultFeatures(policy.NewestMinor)
	back := policy.KubeletBackoff(f, 0)
	b := policy.NewBatch(spec, policy.BatchOptions{Features: f, Backoff: back})
	for history := range uint32(20) {
		var entry policy.BackoffEntry
		now := policy.Millis(0)
		for range history {
			entry.Start(back, now, now)
		}
		for ran := policy.Millis(0); ran <= 620_000; ran += 500 {
			e := []policy.Event{{Flags: policy.EventHistory, History: history, RanFor: ran, Container: policy.NoContainer}}
			verdicts := make([]policy.Verdict, 1)
			b.Exits(e, verdicts)
			v := verdicts[0]
			want := policy.Millis(0)
			if until, refused := entry.Refused(back, now+ran, now+ran); refused {
				want = entry.Release(back, until, policy.SweepPeriod) - ran
			}
			if v.Wait != want {
				t.Fatalf("restart %d after %d ms waits %d, want %d", history, ran, v.Wait, want)
			}
		}
	}
}

func TestBatchAllocatesNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	spec := &policy.PodSpec{Containers: []policy.Container{{Name: "main"}, {Name: "nail"}}, InitContainers: []policy.Container{{Name: "init"}}}
	p, _ := randomFailure(r)
	b := policy.NewBatch(spec, policy.BatchOptions{Features: policy.DefaultFeatures(policy.NewestMinor), Job: &policy.Job{PodFailurePolicy: p}})
	events, verdicts := make([]policy.Event, 1000), make([]policy.Verdict, 1000)
	for i := range events {
		events[i] = policy.Event{ExitCode: int32(i - 200), Container: uint16(r.IntN(5)), Flags: policy.EventFlags(r.IntN(8)), Conditions: uint64(r.IntN(2)), History: uint32(i)}
	}
	for q := range policy.AskPods + 1 {
		if n := testing.AllocsPerRun(10, func() { b.Eval(q, events, verdicts) }); n != 0 {
			t.Errorf("question %d: %v allocations", q, n)
		}
	}
}

func BenchmarkBatch(b *testing.B) {
	p := policy.NewBatch(&policy.PodSpec{Containers: []policy.Container{{Name: "a"}}},
		policy.BatchOptions{Features: policy.DefaultFeatures(policy.NewestMinor), Job: &policy.Job{}})
	events, verdicts := make([]policy.Event, 10_000), make([]policy.Verdict, 10_000)
	for i := range events {
		events[i].ExitCode = int32(i % 256)
	}
	for q, name := range []string{"exits", "pods"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p.Eval(policy.Question(q), events, verdicts)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(events)), "ns/event")
		})
	}
}
