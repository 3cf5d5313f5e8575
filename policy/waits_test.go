package policy_test

import (
	"slices"
	"testing"

	. "github.com/podfate/podfate/policy"
)

// Waits that are written out are those of initial, factor and max, in both models, however long a
// run is.
func TestListedWaitsAreASeries(t *testing.T) {
	for _, model := range []CurveModel{ModelKubelet, ModelDocumented} {
		for _, s := range []Series{
			{Initial: 10 * Second, Max: 300 * Second, Factor: 2}, {Initial: 1 * Second, Max: 60 * Second, Factor: 2},
			{Initial: 250, Max: 60 * Second, Factor: 2}, {Initial: 1 * Second, Max: 1000 * Second, Factor: 3},
			{Initial: 7 * Second, Max: 7 * Second, Factor: 2}, {Initial: 5 * Second, Max: 800 * Second, Factor: 1},
		} {
			listed := Series{Max: s.Max, Factor: s.Factor}
			for n := range 40 {
				d, _ := s.At(n)
				listed.List = append(listed.List, d)
			}
			if s.Factor == 1 {
				listed.Max = s.Initial
			}
			for _, run := range []Millis{0, 1, 999, 10 * Second, 31 * Second, 40 * Second, 299 * Second, 599_990, 600 * Second, 601 * Second} {
				p := CurveParameters{Backoff: Backoff{s.Initial, s.Max, BackoffReset}, Factor: s.Factor, Run: run, Sweep: SweepPeriod, Model: model}
				want := NewCurve(p)
				p.List, p.Initial, p.Max = listed.List, 1, listed.Max
				got := NewCurve(p)
				for n := range int64(200) {
					if g, w := got.Restart(n), want.Restart(n); g != w {
						t.Fatalf("%s %+v run %d: restart %d is %+v, want %+v", model, s, run, n, g, w)
					}
				}
				if g, w := got.Restarts(8766*3600*Second), want.Restarts(8766*3600*Second); g != w {
					t.Errorf("%s %+v run %d: %d restarts in a year, want %d", model, s, run, g, w)
				}
			}
		}
	}
}

// The catch-up interval of the draft, with the readings of it (C-15, X-40): restarts in half an
// hour, documented model.
func TestCatchUp(t *testing.T) {
	p := CurveParameters{Backoff: Backoff{1 * Second, 300 * Second, BackoffReset}, Factor: 2, Sweep: SweepPeriod, Model: ModelDocumented}
	for _, test := range []struct {
		name string
		max  Millis
		list []Millis
		want int64
	}{
		{"569 s once", 300, []Millis{1, 2, 4, 8, 16, 569}, 10},
		{"569 s forever", 569, []Millis{1, 2, 4, 8, 16}, 8},
		{"569 s, and the curve goes on", 300, []Millis{1, 2, 4, 8, 16, 569, 64, 128, 256}, 11},
	} {
		p.List = nil
		for _, s := range test.list {
			p.List = append(p.List, s*Second)
		}
		p.Max = test.max * Second
		if got := NewCurve(p).Restarts(1800 * Second); got != test.want {
			t.Errorf("%s: %d restarts, want %d", test.name, got, test.want)
		}
	}
	p.Max, p.List = 300*Second, Presets()[3].Series.List
	if got, want := seconds(NewCurve(p), 1800*Second), []Millis{0, 1, 3, 7, 15, 31, 600, 900, 1200, 1500, 1800}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	p.Model, p.Run = ModelKubelet, 40*Second // 40 s + 569 s exceed what a sweep waits for
	if got, want := seconds(NewCurve(p), 960*Second), []Millis{0, 40, 81, 123, 167, 215, 271, 872, 913, 955}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
