package policy_test

import (
	"fmt"
	"slices"
	"testing"

	. "github.com/podfate/podfate/policy"
)

func curve(model CurveModel, initial, most, run Millis) *Curve {
	return NewCurve(CurveParameters{
		Backoff: Backoff{initial, most, BackoffReset}, Factor: 2, Run: run, Sweep: SweepPeriod, Model: model,
	})
}

func seconds(c *Curve, until Millis) []Millis {
	var list []Millis
	for n := range c.Restarts(until) + 1 {
		list = append(list, c.Restart(n).At/Second)
	}
	return list
}

// every appends the terms of an arithmetic progression: the last number of list is followed by
// steps until last.
func every(step, last Millis, list ...Millis) []Millis {
	for list[len(list)-1] < last {
		list = append(list, list[len(list)-1]+step)
	}
	return list
}

// The starts in seconds of the first half hour, computed with the real library, the kubelet's rule
// of expiry and sweeps of 2 s.
func TestCurveStarts(t *testing.T) {
	for _, test := range []struct {
		initial, max, run Millis
		n                 int
		want              []Millis
	}{
		{10, 300, 0, 11, []Millis{0, 0, 10, 30, 70, 150, 310, 610, 910, 1210, 1510}},
		{1, 60, 0, 36, every(60, 1743, 0, 0, 1, 3, 7, 15, 31, 63, 123)},
		{1, 300, 0, 15, []Millis{0, 0, 1, 3, 7, 15, 31, 63, 127, 255, 511, 811, 1111, 1411, 1711}},
		{10, 60, 0, 33, every(60, 1750, 0, 0, 10, 30, 70, 130)},
		{10, 20, 0, 92, every(20, 1790, 0, 0, 10, 30)},
		{1, 20, 0, 95, every(20, 1791, 0, 0, 1, 3, 7, 15, 31)},
		{5, 5, 0, 362, every(5, 1800, 0, 0)},
		{1, 1, 0, 1802, every(1, 1800, 0, 0)},
		{10, 300, 10, 11, []Millis{0, 10, 30, 60, 110, 200, 370, 680, 990, 1300, 1610}},
		{1, 60, 10, 31, every(70, 1743, 0, 10, 21, 33, 47, 65, 91, 133)},
		{1, 300, 10, 14, []Millis{0, 10, 21, 33, 47, 65, 91, 133, 207, 345, 611, 921, 1231, 1541}},
		{10, 60, 10, 29, every(70, 1790, 0, 10, 30, 60, 110, 180)},
		{10, 20, 10, 62, every(30, 1800, 0, 10, 30, 60)},
		{1, 20, 10, 63, every(30, 1771, 0, 10, 21, 33, 47, 65, 91)},
		{5, 5, 10, 121, every(15, 1795, 0, 10)},
		{1, 1, 10, 164, every(11, 1792, 0, 10)},
	} {
		c := curve(ModelKubelet, test.initial*Second, test.max*Second, test.run*Second)
		if got := seconds(c, 1800*Second); !slices.Equal(got, test.want) || len(got) != test.n {
			t.Errorf("%d/%d run %d: %d starts\ngot  %v\nwant %v", test.initial, test.max, test.run, len(got), got, test.want)
		}
	}
}

// Restarts in the first 5 and 30 minutes, by the kubelet's model and by the documented one.
func TestCurveRestarts(t *testing.T) {
	settings := [][2]Millis{{10_000, 300_000}, {1_000, 300_000}, {250, 60_000}, {1_000, 60_000}, {1_000, 30_000}, {1_000, 1_000}}
	for _, row := range []struct {
		run  Millis
		want [6]string
	}{
		{0, [6]string{"5/10 (4/9)", "9/14 (8/13)", "12/37 (11/36)", "10/35 (9/34)", "14/64 (13/63)", "301/1801 (300/1800)"}},
		{1, [6]string{"5/10 (4/9)", "9/14 (8/13)", "12/37 (11/36)", "10/35 (9/34)", "14/62 (13/61)", "150/900 (150/900)"}},
		{10, [6]string{"5/10 (4/9)", "8/13 (7/12)", "11/32 (10/31)", "9/30 (8/29)", "11/48 (10/47)", "27/163 (27/163)"}},
		{60, [6]string{"3/9 (3/8)", "4/11 (4/11)", "4/18 (4/18)", "4/17 (4/17)", "4/21 (4/21)", "4/29 (4/29)"}},
		{300, [6]string{"1/5 (0/4)", "1/5 (0/5)", "1/5 (0/5)", "1/5 (0/5)", "1/5 (0/5)", "1/5 (0/5)"}},
	} {
		for i, s := range settings {
			k, d := curve(ModelKubelet, s[0], s[1], row.run*Second), curve(ModelDocumented, s[0], s[1], row.run*Second)
			got := fmt.Sprintf("%d/%d (%d/%d)", k.Restarts(300*Second), k.Restarts(1800*Second), d.Restarts(300*Second), d.Restarts(1800*Second))
			if got != row.want[i] {
				t.Errorf("run %d s, %v: got %s, want %s", row.run, s, got, row.want[i])
			}
		}
	}
}

// What the sweep does to long runs, and what the documented model makes of them.
func TestCurveOfLongRuns(t *testing.T) {
	for _, test := range []struct {
		name  string
		model CurveModel
		run   Millis
		want  []Millis
	}{
		{"the sweep cuts the longest wait", ModelKubelet, 305, []Millis{0, 305, 620, 945, 1290, 1675, 2140, 2742, 3057, 3382}},
		{"every wait is swept", ModelKubelet, 599, []Millis{0, 599, 1200, 1802, 2404}},
		{"600 s is not longer than 600 s", ModelKubelet, 600, []Millis{0, 600, 1202, 1804, 2406}},
		{"every run resets", ModelKubelet, 601, []Millis{0, 601, 1202, 1803}},
		{"the documented delay grows", ModelDocumented, 599, []Millis{0, 609, 1228, 1867, 2546, 3305, 4204, 5103}},
		{"the documented delay stays", ModelDocumented, 601, []Millis{0, 611, 1222, 1833}},
	} {
		c := curve(test.model, 10*Second, 300*Second, test.run*Second)
		if got := seconds(c, test.want[len(test.want)-1]*Second); !slices.Equal(got, test.want) {
			t.Errorf("%s: got %v, want %v", test.name, got, test.want)
		}
	}
}

// A container fails after 2 s until something comes back after 7 minutes.
func TestCurveRecover(t *testing.T) {
	for _, test := range []struct {
		model        CurveModel
		initial, max Millis
		late         Millis
	}{
		{ModelDocumented, 10, 300, 202}, {ModelKubelet, 10, 300, 204},
		{ModelDocumented, 10, 60, 28}, {ModelKubelet, 10, 60, 30},
		{ModelDocumented, 1, 60, 27}, {ModelKubelet, 1, 60, 29},
	} {
		r := curve(test.model, test.initial*Second, test.max*Second, 2*Second).Recover(420 * Second)
		if r.Late != test.late*Second || r.Best != r.Late || r.Back.At != 420*Second+r.Late {
			t.Errorf("%s %d/%d: %+v", test.model, test.initial, test.max, r)
		}
	}
	c := curve(ModelKubelet, 10*Second, 300*Second, 2*Second) // starts at 0, 2, 14, 36 s
	for _, test := range []struct{ at, late, best, gap Millis }{
		{0, 0, 0, 0}, {1, 1, 0, 2}, {2, 0, 0, 2}, {3, 11, 0, 12}, {4, 10, 10, 12}, {14, 0, 0, 12}, {20, 16, 16, 22},
	} {
		if r := c.Recover(test.at * Second); r.Late != test.late*Second || r.Best != test.best*Second || r.Gap != test.gap*Second {
			t.Errorf("back at %d s: %+v", test.at, r)
		}
	}
}

// Curves of 1000 years: exact, and not one step per restart.
func TestCurveOfAThousandYears(t *testing.T) {
	c := NewCurve(CurveParameters{Backoff: Backoff{1, 1, BackoffReset}, Factor: 2, Sweep: SweepPeriod, Model: ModelKubelet})
	if n := c.Restarts(MaxHorizon); n != int64(MaxHorizon)+1 {
		t.Errorf("every millisecond: %d restarts", n)
	}
	if r := c.Restart(int64(MaxHorizon) + 1); r.At != MaxHorizon {
		t.Errorf("last: %+v", r)
	}
	c = curve(ModelKubelet, MaxHorizon, MaxHorizon, MaxHorizon)
	if n, r := c.Restarts(MaxHorizon), c.Restart(2); n != 1 || r.At != 2*MaxHorizon || r.Because != CurveReset {
		t.Errorf("one run: %d, %+v", n, r)
	}
}

// TestCurveAgainstEntry plays curves step by step with the entry that the kubelet keeps and
// compares every start, besides the closed forms with the list of starts.
func TestCurveAgainstEntry(t *testing.T) {
	for i := range 3000 {
		checkCurve(t, uint64(i)*0x9E3779B97F4A7C15+1)
	}
}

func FuzzCurve(f *testing.F) {
	f.Add(uint64(7))
	f.Fuzz(func(t *testing.T, seed uint64) { checkCurve(t, seed) })
}

func checkCurve(t *testing.T, seed uint64) {
	draw := func(n uint64) Millis {
		seed ^= seed << 13
		seed ^= seed >> 7
		seed ^= seed << 17
		return Millis(seed % n)
	}
	b := Backoff{Initial: draw(20) + 1, Reset: draw(200)}
	b.Max = b.Initial + draw(150)
	p := CurveParameters{Backoff: b, Factor: 2, Run: draw(250), Sweep: draw(12), Model: ModelKubelet}
	c := NewCurve(p)
	var entry BackoffEntry
	at := Millis(0)
	for n := int64(1); n < 120; n++ {
		finished := at + p.Run
		now := finished
		if until, refused := entry.Refused(b, finished, now); refused {
			now = entry.Release(b, until, p.Sweep)
			if p.Sweep > 0 {
				entry.Sweep(b, now/p.Sweep*p.Sweep)
			}
		}
		entry.Start(b, finished, now)
		at = now
		got := c.Restart(n)
		if got.At != at || got.Delay != at-finished || got.Number != n {
			t.Fatalf("%+v: restart %d: got %+v, want %d", p, n, got, at)
		}
		later := c.Restart(n + 1).At
		if later > at && c.Restarts(at) != n || c.Restarts(at-1) > n-1 {
			t.Fatalf("%+v: %d restarts until %d, %d before, want %d", p, c.Restarts(at), at, c.Restarts(at-1), n)
		}
	}
	steady := c.Steady()
	for n := steady.From.Number; n < steady.From.Number+50; n++ {
		this, next := c.Restart(n), c.Restart(n+steady.Restarts)
		if next.At-this.At != steady.Period || next.Delay != this.Delay || next.Because != this.Because {
			t.Fatalf("%+v: %+v does not repeat at %+v", p, this, next)
		}
	}
	if first, ok := c.FirstAtMax(); ok {
		for n := int64(1); n < first.Number; n++ {
			if c.Restart(n).Delay >= b.Max {
				t.Fatalf("%+v: restart %d waits %+v", p, n, c.Restart(n))
			}
		}
	}
}

func BenchmarkCurve(b *testing.B) {
	for b.Loop() {
		curve(ModelKubelet, 10*Second, 300*Second, 305*Second).Restarts(MaxHorizon)
	}
}

func ExampleCurve() {
	c := NewCurve(CurveParameters{
		Backoff: KubeletBackoff(DefaultFeatures(36), 0), Factor: 2, Run: 10 * Second, Sweep: SweepPeriod, Model: ModelKubelet,
	})
	fmt.Println(c.Restarts(30*60*Second), "restarts in half an hour")
	fmt.Println("the longest wait ends first at", c.Restart(7).At)
	// Output:
	// 10 restarts in half an hour
	// the longest wait ends first at 680000
}
