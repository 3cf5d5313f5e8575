package ops

import (
	"strings"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/fleet"
	"github.com/podfate/podfate/policy/manifest"
)

// maxFleetManifests bounds the groups of a fleet whose Pod is played.
const maxFleetManifests = 20

// played is a Pod, or a Job, that is played once, for all of its group.
type played struct {
	fleet.Track
	kinds []fleetKind

	// Of a Job, otherwise nil: when its Pods are created, and the same Job without what its spec
	// says about failures, which is nil if that says nothing.
	created []fleet.Progression
	without *played
	leftOut []string
}

// fleetKind is restarts after exits of one kind.
type fleetKind struct {
	policy, level string // what decides: a restartPolicy, or a rule
	code          int64
	pods          int64
	restarts      []fleet.Progression
	n             int64
}

// readManifestGroup plays the Pod of a group until the horizon and takes its track from the answer
// of simulate, which judges manifest and runs. What is wrong with them is a fault of this request.
func (c *call) readManifestGroup(v manifest.Value, path string, r *fleetRequest, p *fleetPool, g *fleetGroup) {
	for _, name := range [...]string{"run", "restartPolicy"} {
		if m := v.Get(name); given(m) {
			c.forbidden(m, path+"."+name, "the manifest and runs say that")
		}
	}
	if sweep := c.root.Get("sweep"); given(sweep) {
		c.forbidden(sweep, "sweep", "the Pod of a manifest is simulated with the kubelet's own")
	}
	if r.manifests++; r.manifests > maxFleetManifests {
		c.limitAt(v, path, "fleetManifests", r.manifests, maxFleetManifests)
	}
	if c.failure != nil {
		return
	}
	backoff := c.root.Get("backoff")
	for _, own := range [...]manifest.Value{p.own.Get("backoff"), v.Get("backoff")} {
		if given(own) && given(backoff) && own.Offset() != backoff.Offset() {
			c.forbidden(v, path+".manifest", "only one of the levels around it may have a backoff")
		}
		if given(own) {
			backoff = own
		}
	}
	play := func(man []byte) manifest.Value {
		text, failed := Call(simulateNumber, c.groupRequest(man, backoff, v, r, p))
		answer, err := manifest.Parse(text)
		switch {
		case err != nil && c.faults.n > 0: // of those there is enough to say
		case err != nil:
			c.failWith(policy.LimitExceeded, "the timeline of one Pod is too long; ask for less time")
			c.failure.limit = err.Limit
		case failed:
			c.manifestGroupFaults(answer.Get("error"), v, path)
		default:
			r.readingsOf(answer)
			return answer
		}
		return manifest.Value{}
	}
	man := v.Get("manifest")
	answer := play(man.Raw())
	if !answer.Get("layers").Exists() {
		if answer.Exists() {
			g.played = playedOf(answer, man, r.horizon())
		}
		return
	}
	g.played = jobOf(answer, man, r.horizon())
	for v := answer.Get("counters").First(); v.Exists(); v = v.Next() {
		n, _ := v.Get("active").Int64()
		g.active = max(g.active, n)
	}
	for name := answer.Get("waste").Get("without").Get("leftOut").First(); name.Exists(); name = name.Next() {
		g.played.leftOut = append(g.played.leftOut, name.Text())
	}
	if len(g.played.leftOut) > 0 {
		var w manifest.Writer
		writeWithout(&w, man, failureMembers, true)
		if answer = play(w.Bytes()); answer.Exists() {
			g.played.without = jobOf(answer, man, r.horizon())
		}
	}
}

// readingsOf notes how simulate has read the manifest of a group.
func (r *fleetRequest) readingsOf(answer manifest.Value) {
	for v := answer.Get("assumptions").First(); v.Exists(); v = v.Next() {
		if code := v.Text(); (code == oldWaits || strings.HasPrefix(code, "reading_")) && !contains(r.readings, code) {
			r.readings = append(r.readings, code)
		}
	}
}

// failureMembers are what the spec of a Job says about failures. Nobody writes to them.
var failureMembers = []string{"podFailurePolicy", "backoffLimitPerIndex", "maxFailedIndexes", "backoffLimit"}

// draftMember is what it says in the draft of KEP-3329, whose Jobs need no restartPolicy: it stays,
// without rules.
const draftMember = "backoffPolicy"

// writeWithout writes an object without these members of the spec of its Job.
func writeWithout(w *manifest.Writer, v manifest.Value, members []string, above bool) {
	w.Object()
	for m := v.First(); m.Exists(); m = m.Next() {
		name := m.Key()
		switch {
		case !above && contains(members, name):
		case !above && name == draftMember && m.Kind() == manifest.Object:
			w.KeyRaw(name, []byte(`{"rules":[]}`))
		case m.Kind() == manifest.Object && (name == "spec" || name == "jobTemplate"):
			w.Key(name)
			writeWithout(w, m, members, m.Get("jobTemplate").Exists() || name == "jobTemplate")
		default:
			w.KeyRaw(name, m.Raw())
		}
	}
	w.End()
}

// groupRequest is the question that simulate gets about the Pod or the Job of a group.
func (c *call) groupRequest(man []byte, backoff, v manifest.Value, r *fleetRequest, p *fleetPool) []byte {
	var w manifest.Writer
	w.Object()
	copied := func(name string, v manifest.Value) {
		if given(v) {
			w.KeyRaw(name, v.Raw())
		}
	}
	cluster := c.root.Get("cluster")
	w.KeyObject("cluster")
	kubelet := cluster.Get("kubelet")
	if own := p.own.Get("kubelet"); given(own) {
		kubelet = own
	}
	for m := cluster.First(); m.Exists(); m = m.Next() {
		if m.Key() != "kubelet" {
			copied(m.Key(), m)
		}
	}
	copied("kubelet", kubelet)
	w.End()
	copied("backoff", backoff)
	w.KeyRaw("manifest", man)
	copied("templatePath", v.Get("templatePath"))
	copied("runs", v.Get("runs"))
	copied("podRuns", v.Get("podRuns"))
	copied("jobBackoff", v.Get("jobBackoff"))
	w.KeyWord("from", "creation")
	w.KeyWord("until", millisText(r.horizon()))
	w.KeyRaw("show", []byte(`["waste"]`))
	if r.model == policy.ModelDocumented {
		w.KeyRaw("timing", []byte(`{"firstRestart":"documented"}`))
	}
	w.End()
	return w.Bytes()
}

// manifestGroupFaults takes over what is wrong with the manifest or the runs of a group.
func (c *call) manifestGroupFaults(e, v manifest.Value, path string) {
	list := e.Get("faults").First()
	if !list.Exists() {
		if c.faults.n > 0 {
			return
		}
		c.failWith(policy.ErrorCode(e.Get("code").Text()), path+": "+e.Get("message").Text())
		c.failure.path, c.failure.offset, c.failure.limit = path, v.Offset(), e.Get("limit").Text()
		return
	}
	told := c.faults.kept // of the request itself, in which cluster and waits are
	for ; list.Exists(); list = list.Next() {
		at := list.Get("path").Text()
		waits := strings.HasPrefix(at, "backoff")
		if isTold(told, at) || waits && !given(v.Get("backoff")) { // of a level around it all is told
			continue
		}
		group := policy.EventInvalid
		if !waits && !ofGroup(at) {
			at, group = "manifest."+at, policy.ManifestInvalid
		}
		f := policy.FieldError{
			Path: path + "." + at, Code: policy.FaultCode(list.Get("code").Text()),
			Detail: list.Get("detail").Text(), Message: list.Get("message").Text(),
		}
		for a := list.Get("allowed").First(); a.Exists(); a = a.Next() {
			f.Allowed = append(f.Allowed, a.Text())
		}
		c.faults.add(located{f, placeOf(v.Locate(at), v), group})
	}
}

// ofGroup reports whether a fault at path is one of a member of the group, and none of its
// manifest.
func ofGroup(path string) bool {
	for _, member := range [...]string{"jobBackoff", "runs", "podRuns", "templatePath", "manifest"} {
		if strings.HasPrefix(path, member) {
			return true
		}
	}
	return false
}

// isTold reports whether a fault of cluster or waits, at path, is among list, there maybe within a
// group or a pool.
func isTold(list []located, path string) bool {
	if !strings.HasPrefix(path, "cluster") && !strings.HasPrefix(path, "backoff") {
		return false
	}
	path = "." + strings.TrimPrefix(path, "cluster.")
	for _, f := range list {
		if strings.HasSuffix("."+f.Path, path) && !strings.Contains(f.Path, ".manifest.") {
			return true
		}
	}
	return false
}

// lifeOf is what a container of the Pod has done so far.
type lifeOf struct {
	name     string
	runs     []fleet.Progression // For is 0 as long as the last one runs
	failed   []bool              // for each of runs
	running  bool
	exit     int64
	decision manifest.Value
	kind     int // of the last restart
}

// playedOf reads what a Pod does from the answer of simulate.
func playedOf(answer, man manifest.Value, horizon policy.Millis) *played {
	p := &played{Track: fleet.Track{There: []fleet.Progression{{Count: 1, For: horizon}}}}
	var lives []*lifeOf
	life := func(name string) *lifeOf {
		for _, l := range lives {
			if l.name == name {
				return l
			}
		}
		lives = append(lives, &lifeOf{name: name})
		return lives[len(lives)-1]
	}
	millis := func(v manifest.Value, name string) policy.Millis {
		n, _ := v.Get(name).Int64()
		return policy.Millis(n)
	}
	for e := answer.Get("timeline").First(); e.Exists(); e = e.Next() {
		at := millis(e, "atMillis")
		event := e.Get("event").Text()
		p.follow(life(e.Get("container").Text()), event, e, man)
		switch event {
		case "PhaseChanged":
			if to := policy.PodPhase(e.Get("to").Text()); to.Terminal() {
				p.There[0].For, p.Ends = at, true
			}
		case "Repeated":
			every, times := millis(e, "everyMillis"), millis(e, "times")
			for s := e.Get("starts").First(); s.Exists(); s = s.Next() {
				p.repeat(life(s.Get("container").Text()), man, millis(e, "sinceMillis"), at, every, int64(times))
			}
		}
	}
	p.spans(answer, man, lives, horizon)
	return p
}

// end ends the run under way.
func (l *lifeOf) end(at policy.Millis) {
	if n := len(l.runs); n > 0 && l.running {
		l.runs[n-1].For = at - l.runs[n-1].At
	} else { // it ended without having been seen to start
		l.runs, l.failed = append(l.runs, fleet.Progression{At: at, Count: 1}), append(l.failed, false)
	}
	l.running = false
}

// restart notes a restart, or several, after the last exit of l.
func (p *played) restart(l *lifeOf, man manifest.Value, at fleet.Progression) {
	p.Restarts = append(p.Restarts, at)
	level := l.decision.Get("level").Text()
	policy := man.At(l.decision.Get("path").Text()).Text()
	for l.kind = 0; l.kind < len(p.kinds); l.kind++ {
		if k := &p.kinds[l.kind]; k.policy == policy && k.level == level && k.code == l.exit {
			break
		}
	}
	if l.kind == len(p.kinds) {
		p.kinds = append(p.kinds, fleetKind{policy: policy, level: level, code: l.exit})
	}
	k := &p.kinds[l.kind]
	k.restarts = append(k.restarts, at)
}

// repeat lets what l did after since, until at, come times more, every apart. It has just been
// started then, as it was at since.
func (p *played) repeat(l *lifeOf, man manifest.Value, since, at, every policy.Millis, times int64) {
	var length policy.Millis
	bad := false
	n := len(l.runs)
	first := n
	for i := n - 1; i >= 0 && l.runs[i].At >= since; i-- {
		if l.runs[i].At == since {
			length, bad = l.runs[i].For, l.failed[i]
		}
		if l.runs[i].At > since && l.runs[i].Count == 1 {
			first = i
		}
	}
	for i := first; i < n; i++ {
		run := fleet.Progression{At: l.runs[i].At, Period: every, Count: times, For: l.runs[i].For}
		restart := run
		restart.At, restart.For = run.At+every, 0
		p.restart(l, man, restart)
		if i < n-1 || !l.running {
			run.At += every
			l.runs, l.failed = append(l.runs, run), append(l.failed, l.failed[i])
			continue
		}
		// The run that has just begun ends like the one at since; the last of them is under way.
		run.For = length
		l.runs[i], l.failed[i] = run, bad
		l.runs, l.failed = append(l.runs, fleet.Progression{At: run.At + policy.Millis(times)*every, Count: 1}), append(l.failed, false)
	}
}

// spans takes for how long the Pod runs, and what is lost, from its containers: init containers,
// and the main container that ran longest, as simulate adds them up.
func (p *played) spans(answer, man manifest.Value, lives []*lifeOf, horizon policy.Millis) {
	var longest *lifeOf
	most := int64(-1)
	status := answer.Get("pod").Get("status")
	for v := status.Get("containerStatuses").First(); v.Exists(); v = v.Next() {
		for c := answer.Get("containers").First(); c.Exists(); c = c.Next() {
			if ran, _ := c.Get("ranMillis").Int64(); c.Get("container").Text() == v.Get("name").Text() && ran > most {
				for _, l := range lives {
					if l.name == v.Get("name").Text() {
						longest, most = l, ran
					}
				}
			}
		}
	}
	for _, l := range lives {
		if l != longest && (!isInit(status, l.name) || isSidecar(man, l.name)) {
			continue
		}
		for i, run := range l.runs {
			if i == len(l.runs)-1 && l.running {
				run.For = max(horizon-run.At, 0)
			}
			p.Ran = append(p.Ran, run)
			if l.failed[i] {
				p.Lost = append(p.Lost, fleet.Progression{At: run.At + run.For, Period: run.Period, Count: run.Count, For: run.For})
			}
		}
	}
}

func isInit(status manifest.Value, name string) bool {
	for v := status.Get("initContainerStatuses").First(); v.Exists(); v = v.Next() {
		if v.Get("name").Text() == name {
			return true
		}
	}
	return false
}

// podSpecs are where the spec of a Pod is. Nobody writes to them.
var podSpecs = []string{"spec", "spec.template.spec", "template.spec", "spec.jobTemplate.spec.template.spec"}

// isSidecar reports whether the init container called name is a sidecar. Of a kind that Podfate
// does not know none is.
func isSidecar(man manifest.Value, name string) bool {
	return inTemplate(man, "initContainers", name).Get("restartPolicy").Text() == "Always"
}

// settle gives a played Pod that goes on what it does in the last window for what it does forever.
func (p *played) settle(from, to policy.Millis) {
	if p.Ends {
		return
	}
	one := fleet.New([]fleet.Group{{Track: p.Track, Pods: 1, Nodes: 1}}, 0)
	p.Guessed = true
	p.From, p.Period, p.PerPeriod = from, to-from, one.Restarts(0, to)-one.Restarts(0, from)
}

// addTo adds k to the kind in list that is the same, or to its end.
func (k fleetKind) addTo(list []fleetKind) []fleetKind {
	for i := range list {
		if o := &list[i]; k.policy == o.policy && k.level == o.level && k.code == o.code {
			o.n, o.pods = o.n+k.n, o.pods+k.pods
			return list
		}
	}
	return append(list, k)
}
