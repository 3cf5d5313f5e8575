package ops

import (
	"strconv"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/fleet"
	"github.com/podfate/podfate/policy/manifest"
)

// Limits of a fleet request, besides those of package fleet.
const (
	maxFleetGroups = 1000
	maxPerRestart  = 1000 // requests
	maxFleetBins   = 200  // that the answer counts requests in
	maxPerSecond   = 1_000_000
)

// fleetRequest is a fleet request, with its defaults filled in.
type fleetRequest struct {
	model       policy.CurveModel
	sweep       policy.Millis
	waits       policy.Waits // of the whole request
	preset      string       // that has a name
	free        bool         // it has a back-off of its own
	pooled      bool
	pools       []fleetPool
	groups      []fleetGroup
	manifests   int      // groups whose Pod is played
	readings    []string // what was taken for granted of their manifests
	spread      policy.Millis
	requests    int64 // per restart
	bin         policy.Millis
	windows     []policy.Millis
	until       policy.Millis
	gang        *fleetGang
	goal        int64   // requests a second, 0 for none
	perDeclared bool    // requests per restart are the request's own
	cost        []int64 // of a restart, in units of work, by workNames; nil for none
}

// workNames are what a kubelet does for a restart: members of cost.
//
// Source: KEP-4603, "Risks and Mitigations"; plugins are those for networks and volumes. Nobody
// writes to them.
var workNames = []string{"image", "cleanup", "config", "create", "probes", "start", "logs", "plugins"}

// maxWork bounds one weight.
const maxWork = 1_000_000

// fleetPool is nodes that are alike.
type fleetPool struct {
	name   string
	nodes  int64
	node   cluster
	waits  policy.Waits
	own    manifest.Value // of the request
	groups []int
}

// fleetGroup is Pods that do the same, on each node of a pool.
type fleetGroup struct {
	name   string
	pool   int
	pods   int64
	policy string
	code   int32
	again  bool
	curve  policy.CurveParameters
	lost   policy.Millis // of each run
	played *played       // in place of policy, code and curve; nil for a group with a run
	active int64         // Pods that each of them has at once: more than one for a Job
}

// fleetGang is Pods that can only work together.
type fleetGang struct {
	checkpoint, failAt, start, reschedule policy.Millis
	restart                               int64 // which of a loop it is
}

// fleet answers what many Pods add up to:
// {"nodes":1,"groups":[{"pods":110,"run":{"for":"0s","exitCode":1},
// "restartPolicy":"Always"}],"until":"30m"}. Nothing is played: see package fleet.
func (c *call) fleet() {
	c.requestMembers(fleetMembers...)
	cl := c.readCluster()
	r := c.readFleet(&cl)
	if c.failOnFaults() {
		return
	}
	f := r.make(false)
	a := fleetAnswer{call: c, r: r, f: f, without: r.make(true)}
	a.write(cl)
	if f.Exceeded() || a.without.Exceeded() {
		c.failWith(policy.BudgetExceeded, "this fleet takes more than "+strconv.Itoa(fleet.MaxSteps)+" steps; ask for less time, a shorter spread, or a longer bin for the peak, in which a Pod always starts")
		c.failure.limit = "fleetSteps"
	}
}

func (c *call) readFleet(cl *cluster) *fleetRequest {
	const minute = 60 * policy.Second
	r := &fleetRequest{model: c.readModel()}
	r.sweep = c.readSweep(r.model)
	r.until = c.lengthUpTo(c.root, "until", 30*minute, 1, fleet.MaxUntil)
	r.bin = c.lengthUpTo(c.root, "bin", 10*policy.Second, 1, fleet.MaxUntil)
	spread := c.root.Get("spread")
	if r.spread = c.length(spread, "spread", 0, 0); r.spread > r.until {
		c.fault(spread, "spread", policy.CodeOutOfRange, "must not be longer than until, "+millisText(r.until))
	}
	r.windows = c.readWindows(c.root.Get("windows"), []policy.Millis{5 * minute, 30 * minute})
	for i, window := range r.windows {
		if window > fleet.MaxUntil {
			at := element("windows", i)
			c.fault(c.root.Locate(at), at, policy.CodeOutOfRange, "must be at most "+millisText(fleet.MaxUntil))
		}
	}
	r.requests = 5
	if n, ok := c.integer(c.root.Get("requestsPerRestart"), "requestsPerRestart", 1, maxPerRestart); ok {
		r.requests, r.perDeclared = n, true
	}
	r.waits = kubeletWaits(cl.node().kubelet.Backoff(cl.node().features))
	if v := c.root.Get("backoff"); given(v) {
		r.free = true
		c.readWaitsAt(v, "backoff", &r.waits, nil)
		r.preset = c.preset
	}
	c.readPools(r, cl)
	r.gang = c.readGang(c.root.Get("gang"))
	if v := c.root.Get("cost"); given(v) {
		c.members(v, "cost", workNames...)
		r.cost = make([]int64, len(workNames))
		sum := int64(0)
		for i, name := range workNames {
			r.cost[i], _ = c.integer(v.Get(name), "cost."+name, 0, maxWork)
			sum += r.cost[i]
		}
		if sum == 0 && v.Kind() == manifest.Object {
			c.requestFault(v, policy.FieldError{Path: "cost", Code: policy.CodeRequired, Allowed: workNames, Detail: "what does a restart cost? at least one weight is required"})
		}
	}
	if v := c.root.Get("goal"); given(v) {
		const path = "goal.requestsPerSecond"
		c.members(v, "goal", "requestsPerSecond")
		n, ok := c.integer(v.Get("requestsPerSecond"), path, 1, maxPerSecond)
		if !ok && v.Kind() == manifest.Object {
			c.fault(v, path, policy.CodeRequired, "how many requests in a second may there be?")
		}
		r.goal = n
	}
	return r
}

// lengthUpTo reads the member name of v, a length from least to most.
func (c *call) lengthUpTo(v manifest.Value, name string, otherwise, least, most policy.Millis) policy.Millis {
	v = v.Get(name)
	d := c.length(v, name, otherwise, least)
	if d > most {
		c.fault(v, name, policy.CodeOutOfRange, "must be at most "+millisText(most))
		return otherwise
	}
	return d
}

// readPools reads nodes and groups, or pools that have them.
func (c *call) readPools(r *fleetRequest, cl *cluster) {
	pools := c.root.Get("pools")
	if !given(pools) {
		c.readPool(r, c.root, "", fleetPool{node: *cl.node(), waits: r.waits})
		c.checkPods(r, c.root)
		return
	}
	r.pooled = true
	for _, name := range [...]string{"nodes", "groups"} {
		if v := c.root.Get(name); given(v) {
			c.forbidden(v, name, "each of the pools has its own")
		}
	}
	switch n := pools.Len(); {
	case pools.Kind() != manifest.Array:
		c.wrongType(pools, "pools", "an array")
		return
	case n > maxFleetGroups:
		c.limitAt(pools, "pools", "fleetGroups", n, maxFleetGroups)
		return
	}
	i := 0
	for v := pools.First(); v.Exists(); v = v.Next() {
		path := element("pools", i)
		i++
		c.members(v, path, "name", "nodes", "kubelet", "backoff", "groups")
		if v.Kind() != manifest.Object {
			continue
		}
		p := fleetPool{node: *cl.node(), waits: r.waits}
		p.name, _ = c.text(v.Get("name"), path+".name")
		if own := v.Get("kubelet"); given(own) {
			p.node = c.readOther(own, path+".kubelet", cl.node())
			if !r.free {
				p.waits = kubeletWaits(p.node.kubelet.Backoff(p.node.features))
			}
		}
		if own := v.Get("backoff"); given(own) {
			c.readWaitsAt(own, path+".backoff", &p.waits, nil)
		}
		c.readPool(r, v, path, p)
	}
	if i == 0 {
		c.fault(pools, "pools", policy.CodeRequired, "at least one pool of nodes is required")
	}
	c.checkPods(r, pools)
}

// checkPods checks how many Pods there are in all.
func (c *call) checkPods(r *fleetRequest, at manifest.Value) {
	var n int64
	for _, g := range r.groups {
		n += min(fleet.Times(g.pods, r.pools[g.pool].nodes), fleet.MaxPods+1)
	}
	if n > fleet.MaxPods {
		c.limitAt(at, "", "fleetPods", int(n), fleet.MaxPods)
	}
}

// readPool reads nodes and groups of v, which is at path, into p and adds both to r.
func (c *call) readPool(r *fleetRequest, v manifest.Value, path string, p fleetPool) {
	p.nodes, p.own = 1, v
	if n, ok := c.integer(v.Get("nodes"), child(path, "nodes"), 0, fleet.MaxPods); ok {
		p.nodes = n
	}
	groups, at := v.Get("groups"), child(path, "groups")
	switch n := groups.Len() + len(r.groups); {
	case !given(groups) || groups.Kind() == manifest.Array && groups.Len() == 0:
		if !given(groups) {
			groups = v
		}
		c.fault(groups, at, policy.CodeRequired, `which Pods are there? such as [{"pods":110,"run":{"for":"0s","exitCode":1}}]`)
		return
	case groups.Kind() != manifest.Array:
		c.wrongType(groups, at, "an array")
		return
	case n > maxFleetGroups:
		c.limitAt(groups, at, "fleetGroups", n, maxFleetGroups)
		return
	}
	var pods int64
	for g := groups.First(); g.Exists(); g = g.Next() {
		path := element(at, len(p.groups))
		p.groups = append(p.groups, len(r.groups))
		made := c.readGroup(g, path, r, &p)
		made.pool = len(r.pools)
		pods += fleet.Times(made.pods, max(made.active, 1))
		r.groups = append(r.groups, made)
	}
	if most, _, _ := p.node.kubelet.Limits(); pods > most {
		c.fault(groups, at, policy.CodeOutOfRange, strconv.FormatInt(pods, 10)+" Pods on each node, and the kubelet's maxPods is "+strconv.FormatInt(most, 10))
	}
	r.pools = append(r.pools, p)
}

func (c *call) readGroup(v manifest.Value, path string, r *fleetRequest, p *fleetPool) (g fleetGroup) {
	c.members(v, path, "name", "pods", "run", "restartPolicy", "checkpoint", "backoff", "manifest", "templatePath", "runs", "podRuns", "jobBackoff")
	if v.Kind() != manifest.Object {
		return g
	}
	g.name, _ = c.text(v.Get("name"), path+".name")
	pods, ok := c.integer(v.Get("pods"), path+".pods", 0, fleet.MaxPods)
	if !ok {
		c.fault(v, path+".pods", policy.CodeRequired, "how many of these Pods are on each node?")
	}
	g.pods = pods
	g.policy = c.choice(v.Get("restartPolicy"), path+".restartPolicy", "Always", "OnFailure", "Never")
	waits := p.waits
	if own := v.Get("backoff"); given(own) {
		var find func(string) (policy.Ref, bool)
		if given(v.Get("manifest")) { // simulate says which containers there are
			find = func(string) (policy.Ref, bool) { return policy.Ref{}, true }
		}
		c.readWaitsAt(own, path+".backoff", &waits, find)
	}
	g.curve = policy.CurveParameters{Backoff: policy.Backoff{Initial: waits.Initial, Max: waits.Max, Reset: waits.Reset}, Factor: waits.Factor, List: waits.List, Sweep: r.sweep, Model: r.model}
	kept := c.length(v.Get("checkpoint"), path+".checkpoint", 0, 1)
	if given(v.Get("manifest")) {
		if c.readManifestGroup(v, path, r, p, &g); g.played != nil && kept > 0 {
			for p := g.played; p != nil; p = p.without {
				for i := range p.Lost {
					p.Lost[i].For %= kept
				}
			}
		}
		return g
	}
	for _, name := range [...]string{"runs", "podRuns", "templatePath", "jobBackoff"} {
		if m := v.Get(name); given(m) {
			c.forbidden(m, path+"."+name, "counts only with a manifest")
		}
	}
	run, at := v.Get("run"), path+".run"
	if !given(run) {
		c.fault(v, at, policy.CodeRequired, `how does each run end? such as {"for":"10s","exitCode":1}`)
		return g
	}
	c.members(run, at, "for", "exitCode", "reason")
	if run.Kind() != manifest.Object {
		return g
	}
	length := c.length(run.Get("for"), at+".for", 0, 0)
	g.code = c.readExitCode(run, at)
	reason, _ := c.text(run.Get("reason"), at+".reason")
	g.again = g.policy == "Always" || g.policy == "OnFailure" && g.code != 0
	class := policy.EndCrash
	switch {
	case reason == "OOMKilled":
		class = policy.EndInfrastructure
	case g.code == 0:
		class = policy.EndSuccess
	}
	s, _ := waits.After(class)
	g.curve = policy.CurveParameters{
		Backoff: policy.Backoff{Initial: s.Initial, Max: s.Max, Reset: waits.Reset}, Factor: s.Factor, List: s.List,
		Run: length, Sweep: r.sweep, Model: r.model,
	}
	if g.code != 0 {
		g.lost = length
		if kept > 0 {
			g.lost %= kept
		}
	}
	return g
}

func (c *call) readGang(v manifest.Value) *fleetGang {
	if !given(v) {
		return nil
	}
	c.members(v, "gang", "checkpoint", "failAt", "start", "reschedule", "restart")
	g := &fleetGang{restart: 1}
	for _, m := range [...]struct {
		name string
		to   *policy.Millis
	}{{"checkpoint", &g.checkpoint}, {"failAt", &g.failAt}, {"start", &g.start}, {"reschedule", &g.reschedule}} {
		path := "gang." + m.name
		at := v.Get(m.name)
		if *m.to = c.length(at, path, 0, 0); *m.to > fleet.MaxUntil {
			c.fault(at, path, policy.CodeOutOfRange, "must be at most "+millisText(fleet.MaxUntil))
		}
		if !given(at) && m.name != "checkpoint" && v.Kind() == manifest.Object {
			c.fault(v, path, policy.CodeRequired, `a length of time is required, such as "45s"`)
		}
	}
	if n, ok := c.integer(v.Get("restart"), "gang.restart", 1, 1000); ok {
		g.restart = n
	}
	return g
}

// horizon is how far anything is looked at.
func (r *fleetRequest) horizon() policy.Millis {
	horizon := r.until
	for _, window := range r.windows {
		horizon = max(horizon, window)
	}
	return horizon
}

// lastWindow is between the last two ends of windows, or all that is looked at.
func (r *fleetRequest) lastWindow() (from, to policy.Millis) {
	switch n := len(r.windows); n {
	case 0:
		return 0, r.until
	case 1:
		return 0, r.windows[0]
	default:
		return r.windows[n-2], r.windows[n-1]
	}
}

// make makes the fleet; without makes it with Jobs whose specs say nothing about failures.
func (r *fleetRequest) make(without bool) *fleet.Fleet {
	horizon := r.horizon()
	groups := make([]fleet.Group, len(r.groups))
	for i := range r.groups {
		g := &r.groups[i]
		groups[i] = fleet.Group{Pods: g.pods, Nodes: r.pools[g.pool].nodes, Track: fleet.Once(g.curve.Run, g.lost)}
		if g.played != nil {
			p := g.played
			if without && p.without != nil {
				p = p.without
			}
			p.settle(r.lastWindow())
			groups[i].Track = p.Track
		}
		if g.again {
			groups[i].Track = fleet.Loop(policy.NewCurve(g.curve), g.curve.Run, g.lost, horizon)
		}
	}
	return fleet.New(groups, r.spread)
}

// least returns the least maximum of all nodes with which no more requests come than asked for, in
// whole seconds as far as a KubeletConfiguration can say; otherwise the one with the fewest
// requests, and met is false.
func (r *fleetRequest) least(f *fleet.Fleet) (longest policy.Millis, rate int64, met bool) {
	groups := make([]fleet.Group, len(f.Groups))
	copy(groups, f.Groups)
	for m := policy.MinContainerRestartPeriod; m <= policy.MaxContainerRestartPeriod; m += policy.Second {
		for i := range r.groups {
			g := &r.groups[i]
			if !g.again {
				continue
			}
			p := g.curve
			p.Max, p.Initial = m, min(p.Initial, m)
			if t := &groups[i].Track; len(p.List) == 0 && p.Run+m <= p.Reset {
				t.Period, t.PerPeriod = p.Run+m, 1
			} else {
				s := policy.NewCurve(p).Steady()
				t.Period, t.PerPeriod = s.Period, s.Restarts
			}
		}
		now := perSecond(groups, r.requests)
		if !fleet.Exceeds(groups, r.requests, r.goal) {
			return m, now, true
		}
		if longest == 0 || now < rate {
			longest, rate = m, now
		}
	}
	return longest, rate, false
}

// perSecond returns thousandths of a request in a second, in the long run.
func perSecond(groups []fleet.Group, requests int64) int64 {
	if s := fleet.SteadyOf(groups); s.Period > 0 {
		return fleet.Share(fleet.Times(s.Restarts, requests), 1e6, int64(s.Period))
	}
	n, _ := fleet.PerSecond(groups, requests)
	return n
}
