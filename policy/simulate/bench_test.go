package simulate_test

import (
	"strconv"
	"testing"

	"github.com/podfate/podfate/policy"
	. "github.com/podfate/podfate/policy/simulate"
)

// crashing returns a Pod of n containers that all crash; each runs step longer than the one before.
func crashing(n int, step, until Millis) *Scenario {
	sc := &Scenario{Spec: &policy.PodSpec{RestartPolicy: "Always"}, Kubelet: kubelet(10*second, 300*second), Until: until, Name: "p_default()"}
	for i := range n {
		sc.Spec.Containers = append(sc.Spec.Containers, policy.Container{Name: "c" + strconv.Itoa(i)})
		sc.Tapes = append(sc.Tapes, Tape{policy.Ref{Index: i}, []Run{{For: 10*second + Millis(i)*step, ExitCode: 1, Times: Forever}}})
	}
	return sc
}

const day = 86400 * second

// BenchmarkCrashLoops is the target of the design: a day of crash loops of 110 containers in 20 ms
// and 16 MiB, with equal rhythms and with all different ones; a year and a thousand of them cost
// the same.
func BenchmarkCrashLoops(b *testing.B) {
	for _, bench := range []struct {
		name  string
		n     int
		step  Millis
		until Millis
	}{
		{"one container, a day", 1, 0, day},
		{"110 containers, a day", 110, 0, day},
		{"110 rhythms, a day", 110, 137, day},
		{"110 rhythms, a thousand years", 110, 137, policy.MaxHorizon},
	} {
		b.Run(bench.name, func(b *testing.B) {
			sc := crashing(bench.n, bench.step, bench.until)
			b.ReportAllocs()
			for b.Loop() {
				if r := Pod(sc); r.Exceeded != "" {
					b.Fatal(r.Exceeded)
				}
			}
		})
	}
}

// BenchmarkEvents is a scenario with more and more events, up to as many as there may be: the cost
// of one stays.
func BenchmarkEvents(b *testing.B) {
	for _, n := range []int{100, 1000, MaxEvents} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			sc := crashing(1, 0, day)
			for i := range n {
				sc.Events = append(sc.Events, Event{At: Millis(i) * 8 * second, Type: EventExited, ExitCode: 3})
			}
			b.ReportAllocs()
			for b.Loop() {
				if r := Pod(sc); r.Exceeded != "" {
					b.Fatal(r.Exceeded)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/event")
		})
	}
}
