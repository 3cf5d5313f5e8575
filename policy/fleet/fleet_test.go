package fleet

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/podfate/podfate/policy"
)

// one is a group of the naive model: curve parameters, and how many Pods on how many nodes.
type one struct {
	p           policy.CurveParameters
	pods, nodes int64
	again       bool
	lost        policy.Millis
}

// naive is a fleet in which each Pod is played by itself.
type naive struct {
	restarts []policy.Millis   // of all Pods, sorted
	first    [][]policy.Millis // of each group those on its first node, sorted
	spent    []Millis
	perGroup []int64
}

// play plays every Pod second by second of its own: run, fail, wait, run.
func play(groups []one, spread, until policy.Millis) (n naive) {
	total := int64(0)
	for _, g := range groups {
		total += g.pods * g.nodes
	}
	i := int64(0)
	for _, g := range groups {
		var own []policy.Millis
		var spent Millis
		all := int64(0)
		for pod := range g.pods * g.nodes {
			start := policy.Millis(int64(spread) * i / total)
			i++
			curve := policy.NewCurve(g.p)
			for k, at := int64(0), start; at <= until; k++ {
				if k > 0 {
					n.restarts = append(n.restarts, at)
					all++
					if pod%g.nodes == 0 {
						own = append(own, at)
					}
				}
				end := at + g.p.Run
				spent.Ran += int64(min(end, until) - at)
				if end <= until {
					spent.Lost += int64(g.lost)
				}
				if !g.again {
					break
				}
				at = start + curve.Restart(k+1).At
				spent.Waited += int64(max(min(at, until)-end, 0))
			}
		}
		slices.Sort(own)
		n.first = append(n.first, own)
		n.spent = append(n.spent, spent)
		n.perGroup = append(n.perGroup, all)
	}
	slices.Sort(n.restarts)
	return n
}

func (n *naive) peak(bin policy.Millis) (best Peak) {
	from := 0
	for i, at := range n.restarts {
		for n.restarts[from] <= at-bin {
			from++
		}
		if c := int64(i - from + 1); c > best.Restarts {
			best = Peak{at, c}
		}
	}
	return best
}

// queue sends requests one by one: request i goes when a token is there for it.
func queue(arrivals []policy.Millis, c Client, requests int64) (backlog int64, drained policy.Millis) {
	tokens, at := c.Burst*1000, policy.Millis(0)
	waiting := int64(0) // thousandths
	for i := 0; i < len(arrivals); {
		j := i
		for j < len(arrivals) && arrivals[j] == arrivals[i] {
			j++
		}
		now := arrivals[i]
		for at < now { // a millisecond at a time
			at++
			tokens += c.QPS
			if waiting > 0 {
				use := min(tokens, waiting)
				waiting -= use
				tokens -= use
				if waiting == 0 {
					drained = at
				}
			}
			tokens = min(tokens, c.Burst*1000)
		}
		waiting += int64(j-i) * requests * 1000
		use := min(tokens, waiting)
		waiting -= use
		tokens -= use
		backlog = max(backlog, waiting)
		i = j
	}
	if waiting > 0 {
		drained = at + policy.Millis((waiting+c.QPS-1)/c.QPS)
	}
	return (backlog + 999) / 1000, drained
}

func TestAgainstEachPod(t *testing.T) {
	cases := 3000
	if testing.Short() {
		cases = 400
	}
	r := rand.New(rand.NewPCG(15, 6))
	length := func(most policy.Millis) policy.Millis {
		unit := []policy.Millis{1, 7, 100, 250, 1000, 1000, 1000}[r.IntN(7)]
		return policy.Millis(r.Int64N(int64(most/unit)+1)) * unit
	}
	for n := range cases {
		until := max(length(400*policy.Second)+policy.Millis(r.IntN(3)-1), 1) // also just before Pods start
		spread := policy.Millis(0)
		switch r.IntN(5) {
		case 0:
		case 1:
			spread = min(policy.Millis(r.IntN(90)), until) // several Pods start in one millisecond
		default:
			spread = length(until)
		}
		bin := 1 + length(60*policy.Second)
		if r.IntN(4) == 0 {
			bin = 1 + policy.Millis(r.IntN(100))
		}
		var groups []one
		var made []Group
		var total int64
		for range 1 + r.IntN(4) {
			g := one{pods: r.Int64N(12), nodes: 1 + r.Int64N(4), again: r.IntN(5) > 0}
			longest := 500 + length(60*policy.Second)
			g.p = policy.CurveParameters{
				Backoff: policy.Backoff{Initial: max(longest/policy.Millis(1+r.IntN(9)), 400), Max: longest, Reset: 1 + length(100*policy.Second)},
				Factor:  1 + r.Int64N(3), Run: length(30 * policy.Second), Model: policy.ModelDocumented,
			}
			if r.IntN(2) == 0 {
				g.p.Model, g.p.Sweep = policy.ModelKubelet, policy.Millis(r.IntN(3)*2000)
			}
			if g.p.Run > g.p.Reset && g.p.Model == policy.ModelKubelet {
				g.p.Run = max(g.p.Run, 400) // what restarts without a pause fills the memory of the naive model
			}
			if r.IntN(2) == 0 {
				g.lost = g.p.Run / policy.Millis(1+r.IntN(3))
			}
			groups = append(groups, g)
			track := Once(g.p.Run, g.lost)
			if g.again {
				track = Loop(policy.NewCurve(g.p), g.p.Run, g.lost, until)
			}
			made = append(made, Group{Track: track, Pods: g.pods, Nodes: g.nodes})
			total += g.pods * g.nodes
		}
		if total == 0 {
			continue
		}
		f := New(made, spread)
		want := play(groups, spread, until)
		if got := f.All(until); got != int64(len(want.restarts)) {
			t.Fatalf("case %d: %d restarts, want %d", n, got, len(want.restarts))
		}
		for i := range groups {
			if got := f.Restarts(i, until); got != want.perGroup[i] {
				t.Fatalf("case %d, group %d: %d restarts, want %d", n, i, got, want.perGroup[i])
			}
			if got := f.Spent(i, until); got != want.spent[i] {
				t.Fatalf("case %d, group %d: spent %+v, want %+v; spread %d until %d %+v", n, i, got, want.spent[i], spread, until, groups[i])
			}
		}
		if got, want := f.Peak(bin, until), want.peak(bin); got != want {
			t.Fatalf("case %d: peak %+v, want %+v; bin %d spread %d until %d of %+v", n, got, want, bin, spread, until, groups)
		}
		var arrivals []policy.Millis
		var on []int
		for i := range groups {
			arrivals = append(arrivals, want.first[i]...)
			on = append(on, i)
		}
		slices.Sort(arrivals)
		c := Client{QPS: 1 + r.Int64N(20), Burst: 1 + r.Int64N(30)}
		requests := 1 + r.Int64N(5)
		got := f.Queue(c, on, requests, until)
		if backlog, drained := queue(arrivals, c, requests); got.Backlog != backlog || got.Drained != drained {
			t.Fatalf("case %d: queue %+v, want %d, drained %d; %+v, %d requests, spread %d until %d of %+v", n, got, backlog, drained, c, requests, spread, until, groups)
		}
		if f.Exceeded() {
			t.Fatalf("case %d takes too many steps", n)
		}
	}
}

// Every small fleet, at every instant: also just before a Pod starts, and when it does.
func TestEverySmallFleet(t *testing.T) {
	for spread := policy.Millis(0); spread <= 13; spread++ {
		for pods := int64(2); pods <= 9; pods++ {
			for period := policy.Millis(1); period <= 5; period++ {
				length := 1 + policy.Millis(pods)%period
				p := []Progression{{At: policy.Millis(pods % 3), Period: period, Count: 9, For: length}}
				f := New([]Group{{Pods: 1, Nodes: 1}, {Track: Track{Restarts: p, Ran: p}, Pods: pods - 1, Nodes: 1}}, spread)
				for at := policy.Millis(0); at < 70; at++ {
					var n, ran int64
					for pod := int64(1); pod < pods; pod++ {
						for k := range p[0].Count {
							if since := at - policy.Millis(int64(spread)*pod/pods) - p[0].at(k); since >= 0 {
								n++
								ran += int64(min(since, length))
							}
						}
					}
					if got := f.Restarts(1, at); got != n {
						t.Fatalf("%d Pods over %d, period %d: %d restarts until %d, want %d", pods, spread, period, got, at, n)
					}
					if got := f.Spent(1, at).Ran; got != ran {
						t.Fatalf("%d Pods over %d, %d in %d: ran %d until %d, want %d", pods, spread, length, period, got, at, ran)
					}
				}
			}
		}
	}
}

// The peak of Pods that start one after the other is that of all their restarts one by one, on the
// ring and through the window, whether their number divides the spread or not, and although most of
// the time is not looked at.
func TestPeakOfManyPods(t *testing.T) {
	cases := 1500
	if testing.Short() {
		cases = 150
	}
	r := rand.New(rand.NewPCG(15, 7))
	primes := []int64{2, 3, 7, 31, 97, 211, 499, 797}
	onRing, windows := 0, 0
	for n := range cases {
		spread := policy.Millis(2 + r.IntN(90_000))
		if n%8 == 0 {
			spread *= 10
		}
		until := spread + policy.Millis(r.IntN(3)*r.IntN(60_000))
		groups := manyGroups(r, primes, until)
		f := New(groups, spread)
		if f.Pods == 1 {
			continue
		}
		bin := policy.Millis(1 + r.IntN(1000))
		switch r.IntN(5) {
		case 0:
			bin += 2 * spread / policy.Millis(f.Pods) // several start in each
		case 1:
			bin = policy.Millis(1 + r.IntN(9000))
		case 2:
			bin = policy.Millis(1+r.IntN(9)) * policy.Second // what comes at an end of it leaves at the other
		}
		s := f.Steady()
		if s.Period > 0 {
			until = min(until, s.From+f.Spread+bin+2*s.Period)
		}
		var all naive
		for i := range groups {
			for pod := range groups[i].all() {
				start := policy.Millis(int64(spread) * (groups[i].lo + pod) / f.Pods)
				for _, p := range groups[i].Restarts {
					for k := range p.until(until - start) {
						all.restarts = append(all.restarts, start+p.at(k))
					}
				}
			}
		}
		slices.Sort(all.restarts)
		want := all.peak(bin)
		is := func(way string, got Peak) {
			t.Helper()
			if got != want {
				t.Fatalf("case %d, %s: peak %+v, want %+v; bin %d spread %d until %d of %+v", n, way, got, want, bin, spread, until, groups)
			}
		}
		if is("Peak", f.Peak(bin, until)); f.Exceeded() {
			t.Fatalf("case %d takes too many steps", n)
		}
		if s.Period == 0 {
			continue
		}
		if got, ok := f.peakOnRing(s, bin, until); ok {
			is("ring", got)
			onRing++
		}
		f.steps = 0
		w := f.window(s.From, bin, until)
		if w.fromBest(s, until); !f.Exceeded() { // with few Pods there can be much to look at
			is("window", w.best)
			windows++
		}
	}
	if t.Logf("%d on the ring, %d through the window", onRing, windows); onRing < cases/2 || windows < cases/2 {
		t.Error("too few")
	}
}

// What waits on a full node is the same as if each Pod were played, although most of the periods
// are not looked at: whether the client keeps up, falls behind forever, or catches up for many
// periods after a storm, and wherever the window cuts a period.
func TestQueueOfFullNodes(t *testing.T) {
	cases := 3000
	if testing.Short() {
		cases = 600
	}
	r := rand.New(rand.NewPCG(15, 8))
	var skipped, grows, drained, calm int
	for range cases {
		period := policy.Millis(1 + r.IntN(60))
		spread := policy.Millis(r.IntN(4) * r.IntN(5000))
		until := max(spread+policy.Millis(r.IntN(3)*r.IntN(5000)), 1)
		var groups []Group
		var on []int
		for i := range 1 + r.IntN(4) {
			g := Group{Track: repeating(r, period, until), Pods: r.Int64N(12), Nodes: r.Int64N(4)}
			if r.IntN(4) > 0 {
				on = append(on, i) // the others are of another pool
			}
			switch r.IntN(5) {
			case 0:
				period *= policy.Millis(1 + r.IntN(3))
			case 1:
				period = policy.Millis(1 + r.IntN(60))
			}
			groups = append(groups, g)
		}
		f := New(groups, spread)
		perPeriod, storms := int64(0), int64(0)
		for _, i := range on {
			if g := &groups[i]; g.Nodes > 0 && g.Period > 0 && !g.Guessed {
				perPeriod += g.Pods * g.PerPeriod * 1000 * 1000 / int64(g.Period)
				storms += g.Pods
			}
		}
		requests := 1 + r.Int64N(5)
		c := Client{QPS: 1 + r.Int64N(3000), Burst: 1 + r.Int64N(100)}
		if r.IntN(4) > 0 {
			// About as much as is asked for, so that it takes many periods to catch up, or to fall
			// behind.
			c.QPS = max(perPeriod*requests/1000+r.Int64N(40)-8, 1)
		}
		switch r.IntN(3) {
		case 0:
			c.Burst = max(storms*requests, 1)
		case 1:
			c.Burst = 1 + r.Int64N(max(storms*requests, 1)) // something waits in each period
		}
		got, arrivals := queueIs(t, f, c, on, requests, until)
		switch {
		case 4*f.steps > arrivals || arrivals < 500:
			continue
		case got.Grows:
			grows++
		case got.Backlog > 0:
			drained++
		default:
			calm++
		}
		skipped++
	}
	t.Logf("most was skipped in %d: %d grow, %d drain, nothing waits in %d", skipped, grows, drained, calm)
	if min(grows, drained, calm) < cases/40 {
		t.Error("too few")
	}
}

// A queue that settles slowly is right at whatever instant one stops looking.
func TestQueueAtEveryInstant(t *testing.T) {
	cases := 400
	if testing.Short() {
		cases = 100
	}
	r := rand.New(rand.NewPCG(15, 9))
	for range cases {
		period, pods, requests := policy.Millis(2+r.IntN(12)), 1+r.Int64N(9), 1+r.Int64N(3)
		long := 20*period + 300
		track := repeating(r, period, long)
		c := Client{QPS: 1 + r.Int64N(9), Burst: 1 + r.Int64N(pods*requests)}
		if track.PerPeriod > 0 {
			c.QPS += pods * track.PerPeriod * requests * 1000 / int64(period)
		}
		for until := long - 8*period; until < long; until++ {
			queueIs(t, New([]Group{{Track: track, Pods: pods, Nodes: 1}}, 0), c, []int{0}, requests, until)
		}
	}
}

// Tokens become more in each period only until there is a rest: one more, and the last wait of all
// is a millisecond shorter.
func TestQueueUpToItsRest(t *testing.T) {
	track := func(from, period policy.Millis, early []policy.Millis, late ...policy.Millis) Track {
		t := Track{From: from, Period: period, PerPeriod: int64(len(late))}
		for _, at := range early {
			t.Restarts = append(t.Restarts, Progression{At: at, Count: 1})
		}
		for _, at := range late {
			t.Restarts = append(t.Restarts, Progression{At: at, Period: period, Count: int64((3139-at)/period) + 1})
		}
		return t
	}
	f := New([]Group{
		{Track: track(62, 24, []policy.Millis{22, 44, 62}, 72, 86), Pods: 4, Nodes: 3},
		{Track: track(276, 24, []policy.Millis{34, 108, 183, 276}, 292, 293), Pods: 8, Nodes: 1},
		{Track: track(107, 48, []policy.Millis{36, 107}, 121, 123), Pods: 8, Nodes: 2},
	}, 2652)
	for qps := int64(2000); qps < 2015; qps++ {
		for burst := int64(12); burst < 15; burst++ {
			queueIs(t, f, Client{QPS: qps, Burst: burst}, []int{1, 2}, 2, 3139)
		}
	}
}

// queueIs fails if the queue is not that of all restarts one by one. It returns it, and how many
// restarts there are.
func queueIs(t *testing.T, f *Fleet, c Client, on []int, requests int64, until policy.Millis) (Queue, int) {
	t.Helper()
	var arrivals []policy.Millis
	for _, i := range on {
		g := &f.Groups[i]
		for pod := int64(0); pod < g.all(); pod += g.Nodes {
			start := f.startOf(g.lo + pod)
			for _, p := range g.Restarts {
				for k := range p.until(until - start) {
					arrivals = append(arrivals, start+p.at(k))
				}
			}
		}
	}
	slices.Sort(arrivals)
	got := f.Queue(c, on, requests, until)
	if backlog, drained := queue(arrivals, c, requests); got.Backlog != backlog || got.Drained != drained {
		t.Fatalf("queue %+v, want %d, drained %d; %+v, %d requests, spread %d until %d of %+v", got, backlog, drained, c, requests, f.Spread, until, f.Groups)
	}
	if f.Exceeded() {
		t.Fatalf("it takes too many steps: %+v", f.Groups)
	}
	return got, len(arrivals)
}

// repeating makes a track that repeats after a period: some restarts come before, one when it
// begins, and at least one in each. Sometimes it ends instead, or nobody knows what repeats.
func repeating(r *rand.Rand, period, until policy.Millis) (t Track) {
	t.Period = period
	for range r.IntN(4) {
		t.From += policy.Millis(r.IntN(100))
		t.Restarts = append(t.Restarts, Progression{At: t.From, Count: 1})
	}
	t.From += policy.Millis(1 + r.IntN(100))
	t.Restarts = append(t.Restarts, Progression{At: t.From, Count: 1})
	for range 1 + r.IntN(3) {
		at := t.From + 1 + policy.Millis(r.Int64N(int64(period)))
		if t.PerPeriod++; at > until {
			continue // it is not known so far
		}
		t.Restarts = append(t.Restarts, Progression{At: at, Period: period, Count: int64((until-at)/period) + 1})
	}
	switch r.IntN(12) {
	case 0:
		t.Restarts = t.Restarts[:r.IntN(len(t.Restarts)+1)]
		for i := range t.Restarts {
			t.Restarts[i].Count = min(t.Restarts[i].Count, 1+r.Int64N(20))
		}
		t.From, t.Period, t.PerPeriod, t.Ends = 0, 0, 0, true
	case 1:
		t.Guessed = true
		t.Restarts = append(t.Restarts, Progression{At: t.From + policy.Millis(r.IntN(9000)), Count: 1})
	}
	return t
}

// manyGroups makes up to three groups, most of which are restarted forever.
func manyGroups(r *rand.Rand, primes []int64, until policy.Millis) (groups []Group) {
	caps := []policy.Millis{1 * policy.Second, 2 * policy.Second, 4 * policy.Second, policy.Millis(1000 + r.IntN(5000))}
	for range 1 + r.IntN(3)*r.IntN(2) {
		cap := caps[r.IntN(4)]
		run := policy.Millis(r.IntN(3)) * 500
		p := policy.CurveParameters{
			Backoff: policy.Backoff{Initial: max(cap/policy.Millis(1+r.IntN(8)), 400), Max: cap, Reset: 10 * cap},
			Factor:  1 + r.Int64N(3), Run: run, Model: policy.ModelDocumented,
		}
		if r.IntN(2) == 0 {
			p.Model = policy.ModelKubelet
		}
		g := Group{Track: Loop(policy.NewCurve(p), run, 0, until), Pods: 1 + r.Int64N(40), Nodes: 1 + r.Int64N(20)}
		if r.IntN(2) == 0 {
			g.Pods, g.Nodes = primes[r.IntN(len(primes))], 1
		}
		switch r.IntN(12) {
		case 0:
			g.Track = Once(run, 0)
		case 1: // Pods that are restarted for a while, and then succeed
			kept := g.Restarts[:0]
			for _, p := range g.Restarts[:r.IntN(1+len(g.Restarts))] {
				p.Count = 1 + r.Int64N(p.Count)
				kept = append(kept, p)
			}
			g.Track = Track{Restarts: kept, Ends: true}
		}
		groups = append(groups, g)
	}
	return groups
}

// Rates of groups that repeat after different times are added before they are rounded: two that are
// each a little more than half a restart a second are more than one.
func TestRatesAreAddedExactly(t *testing.T) {
	of := func(pods int64, period policy.Millis) Group {
		return Group{Track: Track{Period: period, PerPeriod: 1}, Pods: pods, Nodes: 1}
	}
	groups := []Group{of(500, 999_983), of(500, 999_979)}
	if SteadyOf(groups).Period != 0 {
		t.Fatal("they have a common period")
	}
	if !Exceeds(groups, 1, 1) || Exceeds(groups, 1, 2) {
		t.Error("1.00002 a second: must be more than 1, and not more than 2")
	}
	if n, more := PerSecond(groups, 1000); n != 1_000_019 || !more {
		t.Errorf("%d, %v, want 1000019 thousandths and a little more", n, more)
	}
	if n, _ := PerSecond([]Group{of(1<<40, 1), of(1<<40, 1)}, 1<<40); n <= 0 {
		t.Errorf("%d, want a number that is at its end", n)
	}
}
