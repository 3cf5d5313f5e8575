package simulate_test

import (
	"slices"
	"testing"

	"github.com/podfate/podfate/policy"
	. "github.com/podfate/podfate/policy/simulate"
)

const second = policy.Second

var main0 = policy.Ref{}

func kubelet(initial, most Millis) Kubelet {
	return Kubelet{Features: policy.DefaultFeatures(36), Backoff: policy.Backoff{Initial: initial, Max: most, Reset: policy.BackoffReset}}
}

func onePod(p policy.RestartPolicy) *policy.PodSpec {
	return &policy.PodSpec{RestartPolicy: p, Containers: []policy.Container{{Name: "main"}}}
}

// starts returns when container i starts, in seconds, repetitions written out.
func starts(r *Result, i int) []int64 {
	var at []int64
	for n, e := range r.Timeline {
		switch {
		case e.Container == i && e.Event == Started:
			at = append(at, int64(e.At)/1000)
		case e.Event == Repeated:
			var round []Millis
			for _, s := range r.Timeline[:n] {
				if s.Container == i && s.Event == Started && s.At > e.Since && s.At <= e.At {
					round = append(round, s.At)
				}
			}
			for times := range e.Times {
				for _, s := range round {
					at = append(at, int64(s+Millis(times+1)*e.Every)/1000)
				}
			}
		}
	}
	return at
}

func every(from, to, step int64) (at []int64) {
	for t := from; t <= to; t += step {
		at = append(at, t)
	}
	return at
}

func join(parts ...[]int64) []int64 { return slices.Concat(parts...) }

// TestIdealTimelines holds the tables of section 5.4 of the behaviour specification, which were
// computed with client-go: first half hour, starts in seconds.
func TestIdealTimelines(t *testing.T) {
	for _, test := range []struct {
		initial, most Millis
		run           Millis
		want          []int64
		n             int
	}{
		{10, 300, 0, []int64{0, 0, 10, 30, 70, 150, 310, 610, 910, 1210, 1510}, 11},
		{1, 60, 0, join([]int64{0, 0, 1, 3, 7, 15, 31, 63}, every(123, 1743, 60)), 36},
		{1, 300, 0, []int64{0, 0, 1, 3, 7, 15, 31, 63, 127, 255, 511, 811, 1111, 1411, 1711}, 15},
		{10, 60, 0, join([]int64{0, 0, 10, 30, 70, 130}, every(190, 1750, 60)), 33},
		{10, 20, 0, join([]int64{0, 0, 10, 30}, every(50, 1790, 20)), 92},
		{1, 20, 0, join([]int64{0, 0, 1, 3, 7, 15, 31}, every(51, 1791, 20)), 95},
		{5, 5, 0, join([]int64{0, 0}, every(5, 1800, 5)), 362},
		{1, 1, 0, join([]int64{0, 0}, every(1, 1800, 1)), 1802},

		{10, 300, 10, []int64{0, 10, 30, 60, 110, 200, 370, 680, 990, 1300, 1610}, 11},
		{1, 60, 10, join([]int64{0, 10, 21, 33, 47, 65, 91, 133}, every(203, 1743, 70)), 31},
		{1, 300, 10, []int64{0, 10, 21, 33, 47, 65, 91, 133, 207, 345, 611, 921, 1231, 1541}, 14},
		{10, 60, 10, join([]int64{0, 10, 30, 60, 110, 180}, every(250, 1790, 70)), 29},
		{10, 20, 10, join([]int64{0, 10, 30, 60}, every(90, 1800, 30)), 62},
		{1, 20, 10, join([]int64{0, 10, 21, 33, 47, 65, 91, 121}, every(151, 1771, 30)), 63},
		{5, 5, 10, join([]int64{0, 10}, every(25, 1795, 15)), 121},
		{1, 1, 10, join([]int64{0, 10}, every(21, 1792, 11)), 164},
	} {
		r := Pod(&Scenario{
			Spec: onePod("Always"), Kubelet: kubelet(test.initial*second, test.most*second), Until: 1800 * second,
			Tapes: []Tape{{main0, []Run{{For: test.run * second, ExitCode: 1, Times: Forever}}}},
		})
		if got := starts(r, 0); !slices.Equal(got, test.want) || len(got) != test.n {
			t.Errorf("%d/%d, runs of %d s: %d starts %v, want %d %v", test.initial, test.most, test.run, len(got), got, test.n, test.want)
		}
	}
}

// TestKubeletTimelines holds the last table of section 5.4: what the work queue makes of 10/300 and
// immediate exits.
func TestKubeletTimelines(t *testing.T) {
	for _, test := range []struct {
		name   string
		minor  int
		timing Timing
		want   []int64
	}{
		{"1.35, best", 35, Timing{KubeletSync: true}, []int64{0, 0, 11, 32, 73, 154, 315, 616, 917}},
		{"1.35, worst", 35, Timing{KubeletSync: true, Jitter: JitterFull, Detection: second}, []int64{0, 1, 16, 46, 106, 197, 378, 693, 1008}},
		{"1.34, best", 34, Timing{KubeletSync: true}, []int64{0, 0, 11, 33, 77, 165, 330, 638, 946}},
		{"1.33, worst", 33, Timing{KubeletSync: true, Jitter: JitterFull, Detection: second}, []int64{0, 1, 17, 48, 94, 185, 351, 652, 953}},
	} {
		k := kubelet(10*second, 300*second)
		k.Features = policy.DefaultFeatures(test.minor)
		r := Pod(&Scenario{
			Spec: onePod("Always"), Kubelet: k, Until: 1200 * second, Timing: test.timing,
			Tapes: []Tape{{main0, []Run{{ExitCode: 1, Times: Forever}}}},
		})
		if got := starts(r, 0); !slices.Equal(got[:min(len(got), len(test.want))], test.want) {
			t.Errorf("%s: starts %v, want %v", test.name, got, test.want)
		}
	}
}

// TestSweep holds section 5.1: an entry is forgotten 600 s after the last start, also during a
// wait.
func TestSweep(t *testing.T) {
	for _, test := range []struct {
		run  Millis
		want []int64
	}{
		{305, []int64{0, 305, 620, 945, 1290, 1675, 2140, 2742, 3057, 3382}},
		{599, []int64{0, 599, 1200, 1802, 2404}},
		{601, []int64{0, 601, 1202, 1803}},
	} {
		r := Pod(&Scenario{
			Spec: onePod("Always"), Kubelet: kubelet(10*second, 300*second), Until: 3600 * second,
			Tapes: []Tape{{main0, []Run{{For: test.run * second, ExitCode: 1, Times: Forever}}}},
		})
		if got := starts(r, 0); !slices.Equal(got[:min(len(got), len(test.want))], test.want) {
			t.Errorf("runs of %d s: starts %v, want %v", test.run, got, test.want)
		}
	}
}
