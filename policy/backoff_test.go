package policy_test

import (
	"fmt"
	"slices"
	"testing"

	. "github.com/podfate/podfate/policy"
)

// The parameters of every setting. Source: newCrashLoopBackOff, Kubernetes v1.33 to v1.37.
func TestKubeletBackoff(t *testing.T) {
	for _, test := range []struct {
		rdd, kmax    bool
		configured   Millis
		initial, max Millis
	}{
		{false, false, 0, 10_000, 300_000},
		{false, true, 0, 10_000, 300_000},
		{true, false, 0, 1_000, 60_000},
		{true, true, 0, 1_000, 300_000},
		{true, true, 60_000, 1_000, 60_000},
		{false, true, 11_000, 10_000, 11_000},
		{false, true, 2_000, 2_000, 2_000},
		{true, true, 1_000, 1_000, 1_000},
		{false, false, 2_000, 10_000, 300_000},
	} {
		f := Features{ReduceDefaultCrashLoopBackOffDecay: test.rdd, KubeletCrashLoopBackOffMax: test.kmax}
		if b := KubeletBackoff(f, test.configured); b.Initial != test.initial || b.Max != test.max {
			t.Errorf("%+v: %+v", test, b)
		}
	}
}

// Starts in seconds when every run lasts as long as the last: from the real library with the
// kubelet's rule of expiry and sweeps at even seconds.
func TestBackoffSequences(t *testing.T) {
	for _, test := range []struct {
		name         string
		initial, max Millis
		run          Millis
		starts       []Millis
	}{
		{"exits at once", 10, 300, 0, []Millis{0, 0, 10, 30, 70, 150, 310, 610, 910, 1210, 1510}},
		{"runs 10 s", 10, 300, 10, []Millis{0, 10, 30, 60, 110, 200, 370, 680, 990, 1300, 1610}},
		{"reduced", 1, 60, 0, []Millis{0, 0, 1, 3, 7, 15, 31, 63, 123, 183}},
		{"constant", 5, 5, 10, []Millis{0, 10, 25, 40, 55}},
		{"runs 305 s: the sweep cuts the wait", 10, 300, 305, []Millis{0, 305, 620, 945, 1290, 1675, 2140, 2742, 3057, 3382}},
		{"runs 599 s", 10, 300, 599, []Millis{0, 599, 1200, 1802, 2404}},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := Backoff{test.initial * Second, test.max * Second, BackoffReset}
			got := starts(b, test.run*Second, len(test.starts))
			for i := range got {
				got[i] /= Second
			}
			if !slices.Equal(got, test.starts) {
				t.Errorf("got  %v\nwant %v", got, test.starts)
			}
		})
	}
}

// starts plays n runs of the same length with ideal timing.
func starts(b Backoff, run Millis, n int) []Millis {
	var entry BackoffEntry
	list := []Millis{0}
	for len(list) < n {
		finished := list[len(list)-1] + run
		entry.Sweep(b, finished/SweepPeriod*SweepPeriod)
		now := finished
		if until, refused := entry.Refused(b, finished, now); refused {
			now = entry.Release(b, until, SweepPeriod)
			entry.Sweep(b, now)
		}
		entry.Start(b, finished, now)
		list = append(list, now)
	}
	return list
}

// FuzzDelay holds for every setting: no wait is longer than Max, and none is shorter than the one
// before.
func FuzzDelay(f *testing.F) {
	f.Add(int64(10_000), int64(300_000), 7)
	f.Add(int64(1), int64(1)<<62, 80)
	f.Add(int64(0), int64(0), 1)
	f.Fuzz(func(t *testing.T, initial, most int64, n int) {
		b := Backoff{Initial: Millis(initial), Max: Millis(most)}
		if initial < 0 || b.Initial > b.Max || n < 0 || n > 1<<40 {
			t.Skip()
		}
		this, next := b.Delay(n), b.Delay(n+1)
		if this < 0 || this > b.Max || next < this {
			t.Errorf("%+v: Delay(%d) = %d, then %d", b, n, this, next)
		}
	})
}

func ExampleBackoff_Delay() {
	b := KubeletBackoff(DefaultFeatures(36), 0)
	for n := range 8 {
		fmt.Print(b.Delay(n)/Second, " s, ")
	}
	// Output: 0 s, 10 s, 20 s, 40 s, 80 s, 160 s, 300 s, 300 s,
}
