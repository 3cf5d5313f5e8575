package ops

import (
	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/fleet"
)

// fleetAnswer is an answer under way.
type fleetAnswer struct {
	*call
	r       *fleetRequest
	f       *fleet.Fleet
	without *fleet.Fleet // with Jobs whose specs say nothing about failures
}

//go:noinline
func (a *fleetAnswer) int(name string, n int64) {
	a.w.KeyInt(name, n)
}

func (a *fleetAnswer) millis(name string, m policy.Millis) { a.int(name, int64(m)) }

//go:noinline
func (a *fleetAnswer) object(name string) {
	a.w.KeyObject(name)
}

//go:noinline
func (a *fleetAnswer) array(name string) {
	a.w.KeyArray(name)
}

// restarts writes restarts and what they lead to in requests.
func (a *fleetAnswer) restarts(n int64) {
	a.int("restarts", n)
	a.int("requests", fleet.Times(n, a.r.requests))
}

func (a *fleetAnswer) write(cl cluster) {
	w, r, f := &a.w, a.r, a.f
	w.Object()
	w.KeyWord("model", string(r.model))
	a.backoff()
	a.int("pods", f.Pods)
	nodes := int64(0)
	for i := range r.pools {
		nodes += r.pools[i].nodes
	}
	a.int("nodes", nodes)
	a.millis("spreadMillis", r.spread)
	a.int("requestsPerRestart", r.requests)
	a.millis("untilMillis", r.until)
	a.restarts(f.All(r.until))
	a.windows()
	a.object("peak")
	p := f.Peak(r.bin, r.until)
	a.millis("binMillis", r.bin)
	a.millis("atMillis", p.At)
	a.restarts(p.Restarts)
	w.End()
	a.work(p.Restarts)
	a.steady()
	a.bins()
	a.clients()
	a.groups()
	a.gang()
	a.least()
	a.array("assumptions")
	for _, code := range a.assumptions() {
		w.Word(code)
	}
	w.End()
	a.writeWarnings(append(a.skew(&cl), a.strangeCodes()...))
	a.writeCluster(cl)
	w.End()
}

func (a *fleetAnswer) backoff() {
	r := a.r
	a.object("backoff")
	writeSeries(&a.w, &r.waits.Series)
	a.millis("resetMillis", r.waits.Reset)
	if r.model == policy.ModelKubelet {
		a.millis("sweepMillis", r.sweep)
	}
	from := "cluster"
	if r.free {
		from = "request"
	}
	a.w.KeyWord("from", from)
	optional(&a.w, "preset", r.preset)
	a.w.End()
}

func (a *fleetAnswer) windows() {
	a.array("windows")
	before := int64(0)
	for _, t := range a.r.windows {
		n := a.f.All(t)
		a.w.Object()
		a.millis("untilMillis", t)
		a.restarts(n)
		a.int("newRestarts", n-before)
		a.int("newRequests", fleet.Times(n-before, a.r.requests))
		a.w.End()
		before = n
	}
	a.w.End()
}

// steady writes what goes on forever: over the period of all groups together, or their rates alone.
func (a *fleetAnswer) steady() {
	s := a.f.Steady()
	a.object("steady")
	if s.Period > 0 && s.Restarts > 0 {
		a.millis("periodMillis", s.Period)
	}
	if s.Period > 0 {
		a.restarts(s.Restarts)
	}
	a.int("requestsPerSecondThousandths", perSecond(a.f.Groups, a.r.requests))
	a.w.End()
}

// bins counts requests over time, for those who draw them.
func (a *fleetAnswer) bins() {
	r := a.r
	every := r.bin * ((r.until-1)/r.bin/maxFleetBins + 1)
	a.object("bins")
	a.millis("everyMillis", every)
	a.array("requests")
	before := int64(0)
	for t := every; before >= 0; t += every {
		n := a.f.All(min(t, r.until))
		a.w.Int(fleet.Times(n-before, r.requests))
		before = n
		if t >= r.until || a.f.Exceeded() {
			break
		}
	}
	a.w.End()
	a.w.End()
}

// clients writes what waits for the client of a kubelet: of the pool where it is worst, and of each
// pool.
func (a *fleetAnswer) clients() {
	worst := 0
	queues := make([]fleet.Queue, len(a.r.pools))
	for i := range a.r.pools {
		p := &a.r.pools[i]
		_, qps, burst := p.node.kubelet.Limits()
		q := a.f.Queue(fleet.Client{QPS: qps, Burst: burst}, p.groups, a.r.requests, a.r.until)
		queues[i] = q
		if of := queues[worst]; q.Grows && !of.Grows || q.Grows == of.Grows && q.Backlog > of.Backlog {
			worst = i
		}
	}
	a.client(worst, queues[worst])
	if !a.r.pooled {
		return
	}
	a.array("pools")
	for i := range a.r.pools {
		p := &a.r.pools[i]
		a.w.Object()
		optional(&a.w, "name", p.name)
		a.int("nodes", p.nodes)
		var n, restarts int64
		for _, g := range p.groups {
			n += a.r.groups[g].pods
			restarts += a.f.Restarts(g, a.r.until)
		}
		a.int("podsPerNode", n)
		a.restarts(restarts)
		a.client(i, queues[i])
		a.w.End()
	}
	a.w.End()
}

func (a *fleetAnswer) client(pool int, q fleet.Queue) {
	_, qps, burst := a.r.pools[pool].node.kubelet.Limits()
	a.object("client")
	a.int("qps", qps)
	a.int("burst", burst)
	a.int("backlog", q.Backlog)
	switch {
	case q.Grows:
		a.w.KeyBool("grows", true)
	case q.Backlog > 0:
		a.millis("drainedAtMillis", q.Drained)
	}
	a.w.End()
}

func (a *fleetAnswer) podMillis(m fleet.Millis) {
	a.object("podMillis")
	a.int("ran", m.Ran)
	a.int("waiting", m.Waited)
	a.int("lost", m.Lost)
	a.w.End()
}

// groups writes what each group leads to, then all of one policy and exit code together, then all.
func (a *fleetAnswer) groups() {
	r := a.r
	var kinds []fleetKind
	var sum fleet.Millis
	a.array("groups")
	for i := range r.groups {
		g := &r.groups[i]
		pods, n, spent := g.pods*r.pools[g.pool].nodes, a.f.Restarts(i, r.until), a.f.Spent(i, r.until)
		sum.Ran, sum.Waited, sum.Lost = sum.Ran+spent.Ran, sum.Waited+spent.Waited, sum.Lost+spent.Lost
		a.w.Object()
		optional(&a.w, "name", g.name)
		optional(&a.w, "pool", r.pools[g.pool].name)
		a.int("pods", pods)
		if g.played == nil {
			a.w.KeyWord("restartPolicy", g.policy)
			a.int("exitCode", int64(g.code))
			a.millis("runMillis", g.curve.Run)
		}
		if g.again {
			a.object("backoff")
			s := g.curve.Series()
			writeSeries(&a.w, &s)
			a.w.End()
		}
		a.restarts(n)
		a.podMillis(spent)
		a.waste(i, spent)
		a.w.End()
		own := []fleetKind{{policy: g.policy, level: "pod", code: int64(g.code), n: n}}
		if g.played != nil {
			own = g.played.kinds
		}
		for _, k := range own {
			if k.pods = pods; g.played != nil {
				k.n = a.f.Count(i, k.restarts, r.until)
			}
			kinds = k.addTo(kinds)
		}
	}
	a.w.End()
	a.array("byPolicyAndExit")
	for _, k := range kinds {
		a.w.Object()
		optional(&a.w, "restartPolicy", k.policy)
		a.w.KeyString("level", k.level)
		a.int("exitCode", k.code)
		a.int("pods", k.pods)
		a.restarts(k.n)
		a.w.End()
	}
	a.w.End()
	a.podMillis(sum)
}

// waste writes what the Jobs of group i lead to without what their spec says about failures, next
// to what they lead to with it.
func (a *fleetAnswer) waste(i int, spent fleet.Millis) {
	p := a.r.groups[i].played
	if p == nil || p.created == nil {
		return
	}
	a.object("waste")
	a.int("pods", a.f.Count(i, p.created, a.r.until))
	a.podMillis(spent)
	if p.without != nil {
		a.object("without")
		a.array("leftOut")
		for _, name := range p.leftOut {
			a.w.Word(name)
		}
		a.w.End()
		other := a.without.Spent(i, a.r.until)
		a.int("pods", a.without.Count(i, p.without.created, a.r.until))
		a.restarts(a.without.Restarts(i, a.r.until))
		a.podMillis(other)
		a.int("savedPodMillis", other.Ran-spent.Ran)
		a.w.End()
	}
	a.w.End()
}

// work writes what restarts cost in the units of the request.
func (a *fleetAnswer) work(peak int64) {
	if a.r.cost == nil {
		return
	}
	each, restarts := int64(0), a.f.All(a.r.until)
	for _, n := range a.r.cost {
		each += n
	}
	a.object("work")
	a.int("unitsPerRestart", each)
	a.int("units", fleet.Times(restarts, each))
	a.int("peakUnits", fleet.Times(peak, each))
	a.int("unitsPerSecondThousandths", perSecond(a.f.Groups, each))
	a.array("of")
	for i, n := range a.r.cost {
		if n > 0 {
			a.w.Object()
			a.w.KeyWord("of", workNames[i])
			a.int("units", fleet.Times(restarts, n))
			a.w.End()
		}
	}
	a.w.End()
	a.w.End()
}

// gang writes what one failure costs Pods that can only work together, by three ways to go on.
func (a *fleetAnswer) gang() {
	g := a.r.gang
	if g == nil || len(a.r.groups) == 0 {
		return
	}
	p := a.r.groups[0].curve
	p.Run = 0
	curve := policy.NewCurve(p)
	wait := curve.Restart(g.restart).Delay
	lost := g.failAt
	if g.checkpoint > 0 {
		lost %= g.checkpoint
	}
	a.object("gang")
	a.int("pods", a.f.Pods)
	a.int("restart", g.restart)
	a.millis("sinceCheckpointMillis", lost)
	way := func(name, idle string, m policy.Millis, placements int64) {
		a.object(name)
		a.int("lostPodMillis", fleet.Times(a.f.Pods, int64(m+g.start+lost)))
		a.int("placements", placements)
		a.array("each") // of these each Pod has its share: the arithmetic
		for _, t := range [...]struct {
			name string
			m    policy.Millis
		}{{idle, m}, {"start", g.start}, {"sinceCheckpoint", lost}} {
			a.w.Object()
			a.w.KeyWord("of", t.name)
			a.millis("millis", t.m)
			a.w.End()
		}
		a.w.End()
		a.w.End()
	}
	way("inPlace", "wait", wait, 0)
	way("rescheduleOne", "reschedule", g.reschedule, 1)
	way("rescheduleAll", "reschedule", g.reschedule, a.f.Pods)
	if n := breakEven(curve, g.reschedule); n > 0 {
		a.int("breakEvenRestart", n)
	}
	a.w.End()
}

// breakEven returns the first restart of a loop that waits longer than d, 0 if none does.
func breakEven(curve *policy.Curve, d policy.Millis) int64 {
	for n := int64(1); n <= policy.MaxCurveStarts; n++ {
		if curve.Restart(n).Delay > d {
			return n
		}
	}
	return 0
}

func (a *fleetAnswer) least() {
	if a.r.goal == 0 {
		return
	}
	longest, rate, met := a.r.least(a.f)
	a.object("least")
	a.int("goalRequestsPerSecond", a.r.goal)
	a.w.KeyBool("met", met)
	a.millis("maxMillis", longest)
	a.int("requestsPerSecondThousandths", rate)
	a.w.End()
}

// assumptions names what the arithmetic takes for granted; the codes are stable.
func (a *fleetAnswer) assumptions() []string {
	r := a.r
	list := append([]string{"reckoned_not_measured"}, assumptions(policy.CurveParameters{Model: r.model, Sweep: r.sweep})...)
	add := func(when bool, code string) {
		if when {
			list = append(list, code)
		}
	}
	add(!r.perDeclared, "five_requests_per_restart")
	add(r.perDeclared, "requests_per_restart_given")
	add(r.spread == 0, "pods_start_together")
	add(r.spread > 0, "pods_start_evenly")
	add(r.spread > 0 && a.f.Pods > 1, "queue_of_the_first_node")
	add(true, "requests_come_at_once")
	add(true, "queue_delays_nothing")
	add(a.f.Steady().Period == 0, "no_common_period_within_a_day")
	add(r.manifests > 0, "steady_as_in_the_last_window")
	add(r.manifests > 0 && r.goal > 0, "waits_of_manifests_stay")
	add(r.cost != nil, "work_units_are_relative")
	jobs := false
	for i := range r.groups {
		jobs = jobs || r.groups[i].played != nil && r.groups[i].played.created != nil
	}
	add(r.manifests > 0 && (r.spread > 0 || r.horizon() > r.until), "longest_container_counts_throughout")
	add(jobs, "pods_of_jobs_on_their_node")
	add(jobs, "new_pods_make_no_requests")
	add(r.gang != nil, "all_pods_idle_until_the_last_is_back")
	add(r.gang != nil, "placements_at_once")
	return append(list, r.readings...)
}
