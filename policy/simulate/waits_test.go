package simulate_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/podfate/podfate/policy"
	. "github.com/podfate/podfate/policy/simulate"
)

// waitingPod is a Pod of two containers whose runs end with random codes, on a kubelet with waits.
func waitingPod(r *rand.Rand, waits *policy.Waits, b policy.Backoff) *Scenario {
	spec := &policy.PodSpec{RestartPolicy: policy.RestartPolicyAlways, Containers: []policy.Container{{Name: "a"}, {Name: "b"}}}
	sc := &Scenario{Spec: spec, Name: "p", Until: 3600 * policy.Second}
	sc.Kubelet = Kubelet{Features: policy.DefaultFeatures(36), Backoff: b, Waits: waits}
	for i := range spec.Containers {
		t := Tape{Container: policy.Ref{Kind: policy.MainContainer, Index: i}}
		for range 1 + r.IntN(12) {
			t.Runs = append(t.Runs, Run{
				For: Millis(r.IntN(20)) * policy.Second, ExitCode: int32(r.IntN(3)), Reason: []string{"", "OOMKilled"}[r.IntN(2)], Times: 1,
			})
		}
		if r.IntN(4) == 0 {
			t.Runs[0].For = 650 * policy.Second
		}
		if r.IntN(3) == 0 {
			t.Runs = append(t.Runs, Run{For: Millis(r.IntN(9)) * policy.Second, ExitCode: 1, Times: Forever})
		}
		sc.Tapes = append(sc.Tapes, t)
	}
	if r.IntN(3) == 0 {
		sc.Timing.FirstRestart = FirstRestartDocumented
	}
	return sc
}

// Waits that say what the kubelet does anyhow change nothing, however they say it: as a series,
// written out, with a class for each end that shares its counter, or by container.
func TestWaitsThatAreTheKubeletsOwn(t *testing.T) {
	for seed := range uint64(400) {
		source := func() *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }
		b := policy.Backoff{
			Initial: []Millis{250, 1000, 10_000}[seed%3], Max: []Millis{10_000, 60_000, 300_000}[seed/3%3], Reset: policy.BackoffReset,
		}
		want := Pod(waitingPod(source(), nil, b))
		s := policy.Series{Initial: b.Initial, Max: b.Max, Factor: 2}
		listed := policy.Series{Initial: 1, Max: b.Max, Factor: 7}
		for n := range 20 {
			d, _ := s.At(n)
			listed.List = append(listed.List, d)
		}
		other := policy.Series{Initial: 1, Max: 1, Factor: 1}
		for name, waits := range map[string]*policy.Waits{
			"series":     {Series: s, Reset: b.Reset},
			"listed":     {Series: listed, Reset: b.Reset},
			"classes":    {Series: other, Reset: b.Reset, Shared: true, Classes: [policy.EndClasses]*policy.Series{&s, &s, &listed}},
			"containers": {Series: other, Reset: b.Reset, Containers: []policy.ContainerWaits{{Container: ref(1), Series: s}, {Container: ref(0), Series: listed}}},
		} {
			if got := Pod(waitingPod(source(), waits, b)); !reflect.DeepEqual(got.Timeline, want.Timeline) || !reflect.DeepEqual(got.Containers, want.Containers) {
				t.Fatalf("seed %d, %s:\ngot  %+v\nwant %+v", seed, name, got.Timeline, want.Timeline)
			}
		}
	}
}

func ref(i int) policy.Ref { return policy.Ref{Kind: policy.MainContainer, Index: i} }

// One counter for all classes, or one for each: codes 1, 0, 1, 0 …
func TestCountersOfClasses(t *testing.T) {
	stock := policy.Series{Initial: 10 * policy.Second, Max: 300 * policy.Second, Factor: 2}
	for _, test := range []struct {
		shared bool
		want   []Millis
	}{
		{true, []Millis{0, 1, 12, 33, 74, 155, 316}},
		{false, []Millis{0, 1, 12, 23, 44, 65, 106}},
	} {
		sc := waitingPod(rand.New(rand.NewPCG(1, 1)), &policy.Waits{
			Series: stock, Reset: policy.BackoffReset, Shared: test.shared, Classes: [policy.EndClasses]*policy.Series{&stock, &stock, &stock},
		}, policy.Backoff{Initial: 1, Max: 1, Reset: policy.BackoffReset})
		sc.Timing, sc.Spec.Containers, sc.Tapes = Timing{}, sc.Spec.Containers[:1], sc.Tapes[:1]
		sc.Tapes[0].Runs = nil
		for i := range int32(7) {
			sc.Tapes[0].Runs = append(sc.Tapes[0].Runs, Run{For: policy.Second, ExitCode: 1 - i%2, Times: 1})
		}
		var got []Millis
		for _, r := range Pod(sc).Timeline {
			if r.Event == Started {
				got = append(got, r.At/policy.Second)
			}
		}
		if got = got[:min(7, len(got))]; !slices.Equal(got, test.want) {
			t.Errorf("shared %t: %v, want %v", test.shared, got, test.want)
		}
	}
}

// A Pod over time with waits of any kind is the curve that follows from them.
func TestWaitsOverTimeAreTheCurve(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 2))
		s := policy.Series{Initial: Millis(1 + r.IntN(20_000)), Factor: 1 + r.Int64N(4)}
		s.Max = s.Initial + Millis(r.IntN(400_000))
		for range r.IntN(5) {
			s.List = append(s.List, Millis(r.IntN(700_000)))
		}
		run := Millis(r.IntN(700)) * policy.Second / 10
		if r.IntN(5) == 0 {
			run = Millis(580+r.IntN(40)) * policy.Second
		}
		sc := waitingPod(r, &policy.Waits{Series: s, Reset: policy.BackoffReset}, policy.Backoff{Initial: 1, Max: 1, Reset: policy.BackoffReset})
		sc.Timing, sc.Spec.Containers, sc.Until = Timing{}, sc.Spec.Containers[:1], 24*3600*policy.Second
		sc.Tapes = []Tape{{Container: ref(0), Runs: []Run{{For: run, ExitCode: 1, Times: Forever}}}}
		curve := policy.NewCurve(policy.CurveParameters{
			Backoff: policy.Backoff{Initial: s.Initial, Max: s.Max, Reset: policy.BackoffReset}, Factor: s.Factor, List: s.List,
			Run: run, Sweep: policy.SweepPeriod, Model: policy.ModelKubelet,
		})
		got := Pod(sc)
		if got.Exceeded != "" {
			continue
		}
		name := fmt.Sprintf("seed %d: %+v run %d", seed, s, run)
		n := int64(0)
		for _, r := range got.Timeline {
			if r.Event == Repeated {
				break
			}
			if r.Event == Started {
				if want := curve.Restart(n).At; r.At != want {
					t.Fatalf("%s: start %d at %d, want %d", name, n, r.At, want)
				}
				n++
			}
		}
		if starts, want := got.Containers[0].Totals.Starts, curve.Restarts(got.Until)+1; starts != want {
			t.Errorf("%s: %d starts, want %d", name, starts, want)
		}
	}
}
