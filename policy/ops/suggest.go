package ops

import (
	"strconv"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/manifest"
)

// maxSuggestions bounds the changes that are answered, and maxTried those that are decided again.
const (
	maxSuggestions = 3
	maxTried       = 96
)

// suggestion is a change that was decided again.
type suggestion struct {
	edits               []edit
	changes             []change
	kubelet, controller *choice
	cost
}

// suggest answers which changes of the manifest make exits come to what is wished. Each was decided
// again, for every code of every container.
func (c *call) suggest() {
	c.requestMembers(suggestMembers...)
	cl, all, found := c.admitAll()
	if c.failure != nil {
		return
	}
	if len(all) != 1 {
		all = []loaded{c.one(all)}
	}
	l := &all[0]
	p := &planner{}
	var ref policy.Ref
	r := wishReader{c: c, l: l, p: p}
	ref = r.read()
	if r.others != 0 {
		for code := 1; code < codes; code++ {
			if p.want[code] == 0 {
				p.want[code] = r.others
			}
		}
	}
	if c.failOnFaults() {
		return
	}
	full := c.newPlanner(l, cl, ref)
	full.want, full.disruption, full.flip = p.want, p.disruption, p.flip
	p = full
	already := p.holds()
	var list []suggestion
	if !already && !usesProposals(&l.object) {
		list = p.search()
	}
	if !c.withinSteps(p.steps) {
		return
	}
	w := &c.w
	w.Object()
	if l.template != nil {
		w.KeyString("template", l.template.Path)
	}
	w.KeyString("container", p.container.Name)
	p.writeWishes(w)
	w.KeyBool("already", already)
	w.KeyArray("suggestions")
	for i := range list {
		p.writeSuggestion(w, &list[i])
	}
	w.End()
	if !already && (len(list) == 0 || list[0].cost[0] > 0) {
		p.writeObstacle(w)
	}
	if !already && cl.skewed == nil && cl.features.Proposals == 0 {
		var first *suggestion
		if len(list) > 0 {
			first = &list[0]
		}
		c.writeVersions(p, first)
	}
	if !c.withinSteps(p.steps) {
		return
	}
	c.writeDropped(found.dropped)
	c.writeWarnings(found.warnings)
	c.writeCluster(cl)
	w.End()
}

// wishReader reads flip and wishes.
type wishReader struct {
	c      *call
	l      *loaded
	p      *planner
	ref    policy.Ref
	at     [codes]string // path of the entry that a code was wished by first
	others uint8         // the wish for all other codes but 0
	n      int
}

func (r *wishReader) read() policy.Ref {
	c := r.c
	flip, wishes := c.root.Get("flip"), c.root.Get("wishes")
	if given(flip) == given(wishes) {
		at := wishes
		if !given(at) {
			at = c.root
		}
		c.requestFault(at, policy.FieldError{Path: "wishes", Code: policy.CodeRequired, Allowed: []string{"flip", "wishes"}, Detail: "either wishes or a flip is required, not both"})
		return r.ref
	}
	if given(flip) {
		r.p.flip = true
		if given(c.root.Get("container")) {
			c.requestFault(c.root.Get("container"), policy.FieldError{Path: "container", Code: policy.CodeForbidden, Detail: "a flip names its container itself"})
		}
		if flip.Kind() != manifest.Array {
			r.flip(flip, "flip")
			return r.ref
		}
		i := 0
		for v := flip.First(); v.Exists(); v = v.Next() {
			r.flip(v, element("flip", i))
			i++
		}
		if i == 0 {
			c.requestFault(flip, policy.FieldError{Path: "flip", Code: policy.CodeRequired, Detail: `at least one flip is required, such as {"container":"main","exit":137,"to":"restart"}`})
		}
		return r.ref
	}
	if r.l.readable {
		r.ref = c.findContainer(c.root, "container", &r.l.object.Spec)
	} else {
		c.text(c.root.Get("container"), "container")
	}
	c.members(wishes, "wishes", wishWords[1:]...)
	for x := wishRestart; x <= wishFailIndex; x++ {
		path := child("wishes", wishWords[x])
		v := wishes.Get(wishWords[x])
		if given(v) && v.Kind() != manifest.Array {
			c.wrongType(v, path, "an array of codes")
			continue
		}
		i := 0
		for e := v.First(); e.Exists(); e = e.Next() {
			r.entry(e, element(path, i), x)
			i++
		}
	}
	if r.n == 0 && wishes.Kind() == manifest.Object {
		c.requestFault(wishes, policy.FieldError{Path: "wishes", Code: policy.CodeRequired, Allowed: wishWords[1:], Detail: "at least one wish is required"})
	}
	return r.ref
}

// flip reads one flip. All are about one container.
func (r *wishReader) flip(v manifest.Value, path string) {
	c := r.c
	if c.members(v, path, "container", "exit", "to"); v.Kind() != manifest.Object {
		return
	}
	if r.l.readable {
		ref := c.findContainer(v, child(path, "container"), &r.l.object.Spec)
		if r.n > 0 && ref != r.ref {
			c.requestFault(v, policy.FieldError{Path: child(path, "container"), Code: policy.CodeInvalid, Detail: "all flips are about one container"})
		}
		r.ref = ref
	}
	to, ok := c.text(v.Get("to"), child(path, "to"))
	x := len(wishWords) - 1
	for wishWords[x] != to && x > 0 {
		x--
	}
	if x == 0 && (ok || !given(v.Get("to"))) {
		c.requestFault(v, policy.FieldError{
			Path: child(path, "to"), Code: policy.CodeUnsupported, Allowed: wishWords[1:], Detail: strconv.Quote(cut(to)) + " is not a result that an exit can have",
		})
	}
	if e := v.Get("exit"); given(e) {
		r.entry(e, child(path, "exit"), uint8(x))
	} else {
		c.requestFault(v, policy.FieldError{Path: child(path, "exit"), Code: policy.CodeRequired, Detail: "an exit code is required"})
	}
}

// entry reads what wish x is about: a code, a range of codes such as "1-127", all others, or a
// disruption. An x of 0 is a wish that is not known.
func (r *wishReader) entry(v manifest.Value, path string, x uint8) {
	c := r.c
	if r.n++; r.n == policy.MaxWishes+1 {
		c.limitAt(v, path, "wishes", r.n, policy.MaxWishes)
	}
	if r.n > policy.MaxWishes {
		return
	}
	if x > wishStop && r.l.readable && r.l.object.Job == nil {
		c.requestFault(v, policy.FieldError{
			Path: path, Code: policy.CodeForbidden, Allowed: wishWords[1 : wishStop+1], Detail: "only a Job acts on a Pod that fails; " + r.l.called(),
		})
		return
	}
	bad := func(code policy.FaultCode, detail string, allowed ...string) {
		c.requestFault(v, policy.FieldError{Path: path, Code: code, Detail: detail, Allowed: allowed})
	}
	from, to := int64(0), int64(0)
	switch v.Kind() {
	case manifest.Number:
		n, fits := v.Int64()
		if from, to = n, n; !fits {
			from = -1
		}
	case manifest.String:
		s := v.Str()
		if x == 0 && (s == "disruption" || s == "others") {
			return
		}
		switch s {
		case "disruption":
			if x <= wishStop {
				bad(policy.CodeForbidden, "a disruption ends the Pod, whatever its containers do; only the Job can make something of it", wishWords[wishCount:]...)
			} else if r.p.disruption != 0 && r.p.disruption != x {
				bad(policy.CodeInvalid, "a disruption already has the wish "+wishWords[r.p.disruption], wishWords[r.p.disruption], wishWords[x])
			} else {
				r.p.disruption = x
			}
			return
		case "others":
			if r.others != 0 && r.others != x {
				bad(policy.CodeInvalid, "all others already have the wish "+wishWords[r.others], wishWords[r.others], wishWords[x])
			}
			r.others = x
			return
		default:
			from, to = codeRangeOf(s)
		}
	default:
		c.wrongType(v, path, `a code, a range such as "1-127", "others" or "disruption"`)
		return
	}
	least := int64(0)
	if x > wishStop {
		least = 1
	}
	if from < least || to >= codes || from > to {
		detail := "must be a code or a range of codes from " + strconv.FormatInt(least, 10) + " to 255"
		if least == 1 && from == 0 && to == 0 {
			detail = "0 is a success, of which the Job makes nothing else"
		}
		bad(policy.CodeOutOfRange, detail, strconv.FormatInt(least, 10)+"-255", "others", "disruption")
		return
	}
	for code := from; code <= to && x > 0; code++ {
		switch have := r.p.want[code]; {
		case have == 0, have == wishStop && x > wishStop:
			r.p.want[code], r.at[code] = x, path
		case have != x && !(x == wishStop && have > wishStop):
			bad(policy.CodeInvalid, strconv.FormatInt(code, 10)+" already has the wish "+wishWords[have]+" ("+r.at[code]+")", wishWords[have], wishWords[x])
			return
		}
	}
}

// codeRangeOf reads "3" or "1-127"; what is neither is out of range.
func codeRangeOf(s string) (from, to int64) {
	dash := len(s)
	for i := range len(s) {
		if s[i] == '-' {
			dash = i
			break
		}
	}
	a, err := strconv.ParseUint(s[:dash], 10, 16)
	b, err2 := a, error(nil)
	if dash < len(s) {
		b, err2 = strconv.ParseUint(s[dash+1:], 10, 16)
	}
	if err != nil || err2 != nil {
		return -1, -1
	}
	return int64(a), int64(b)
}

// holds reports whether the manifest does what is wished already.
func (p *planner) holds() bool {
	if p.disruption != 0 && !disrupted(p.job, p.disruption) {
		return false
	}
	for i := range p.tables {
		if p.tables[i].ref != p.ref {
			continue
		}
		for _, r := range p.tables[i].ranges {
			for code := r.from; code <= r.to; code++ {
				if x := p.want[code]; x != 0 && !r.meets(x) {
					return false
				}
			}
		}
	}
	return true
}

// search tries the changes of both layers together, the cheapest first, and decides again. Those
// that change nothing else come first; others are answered only if there are none.
func (p *planner) search() (list []suggestion) {
	controller := p.controller()
	never := p.before.judge != nil && len(controller) > 0 && (p.before.judge.job.PodFailurePolicy != nil || len(controller[0].lines) > 0)
	kubelet := p.kubelet(never)
	next := make([]int, len(kubelet)) // of each change of the kubelet's layer, which of the other comes next
	for tried, exact := 0, 0; exact < maxSuggestions && tried < maxTried && p.steps <= policy.MaxSteps; {
		i, lowest := -1, cost{}
		for k := range next {
			if next[k] < len(controller) {
				if sum := kubelet[k].plus(&controller[next[k]].cost); i < 0 || sum.less(&lowest) {
					i, lowest = k, sum
				}
			}
		}
		if i < 0 {
			break
		}
		s := suggestion{kubelet: &kubelet[i], controller: &controller[next[i]], cost: lowest}
		next[i]++
		s.edits = append(p.kubeletEdits(s.kubelet), p.controllerEdits(s.controller)...)
		if len(s.edits) == 0 {
			continue
		}
		tried++
		l, ok := p.apply(p.l, p.cl.features, s.kubelet, s.controller)
		if !ok {
			continue
		}
		n := int64(0)
		if s.changes, n, ok = p.check(&l, p.cl); !ok {
			continue
		}
		if s.cost[0] = n; n == 0 && !p.listed(list, &s) {
			exact++
		}
		list = append(list, s)
	}
	out, more := make([]suggestion, 0, maxSuggestions), int64(1)
	if p.flip {
		more = 2 // a new rule with a value
	}
	for _, i := range policy.Order(len(list), func(a, b int) bool { return list[a].cost.less(&list[b].cost) }) {
		s := &list[i]
		if len(out) > 0 { // others are for a choice, and not for the sake of being more
			best := &out[0].cost
			if len(out) == maxSuggestions || (s.cost[0] == 0) != (best[0] == 0) || s.cost[1] > best[1]+more || s.cost[2] > 2*best[2]+4 || p.listed(out, s) {
				continue
			}
		}
		out = append(out, *s)
	}
	return out
}

// listed reports whether s contains all edits of a suggestion in list, comes to the same policies
// and rules, or to the same rules of the Job with a change of the container besides them that one
// in list does without.
func (p *planner) listed(list []suggestion, s *suggestion) bool {
	for i := range list {
		x := &list[i]
		missing := len(x.edits)
		for _, e := range x.edits {
			for _, other := range s.edits {
				if e == other {
					missing--
					break
				}
			}
		}
		if missing == 0 || sameLines(x.controller.lines, s.controller.lines) && (x.kubelet.sets(p.pod, p.own, p.rules) ||
			x.kubelet.sets(s.kubelet.pod, s.kubelet.own, s.kubelet.lines)) {
			return true
		}
	}
	return false
}

// sets reports whether x comes to these policies and rules.
func (x *choice) sets(pod, own string, rules []line) bool {
	return x.pod == pod && x.own == own && sameLines(x.lines, rules)
}

// sameLines reports whether two lists have the same rules.
func sameLines(a, b []line) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		x, y := &a[i], &b[i]
		if x.fixed != y.fixed || x.fixed && x.from != y.from || x.action != y.action || x.in != y.in || x.has != y.has || len(x.far) != len(y.far) {
			return false
		}
	}
	return true
}

// usesProposals reports whether o is written in words that no release has.
func usesProposals(o *policy.Object) bool {
	return o.Spec.Proposed || o.Job != nil && o.Job.PodFailurePolicy != nil && o.Job.PodFailurePolicy.Draft
}

// obstacle says why there is no change that does what is wished and nothing else.
func (p *planner) obstacle() (because, gate string) {
	f, asked := p.cl.node().features, [wishFailIndex + 1]bool{}
	for _, x := range p.want {
		asked[x] = true
	}
	asked[p.disruption] = true
	stops := asked[wishStop] || asked[wishCount] || asked[wishIgnore] || asked[wishFailJob] || asked[wishFailIndex]
	kubelet := asked[wishRestart] || asked[wishRestartAll] || stops
	job := p.before.judge
	switch {
	case usesProposals(&p.l.object):
		return "words_of_proposals", "" // changes are written in the words of releases
	case p.ref.Kind == policy.EphemeralContainer:
		return string(policy.BecauseEphemeral), ""
	case p.container.IsSidecar(p.ref.Kind) && stops:
		return string(policy.BecauseSidecar), ""
	case p.ref.Kind == policy.InitContainer && p.want[0] == wishRestart:
		return string(policy.BecauseInitCompleted), ""
	case job != nil && job.job.ManagedElsewhere():
		return policy.UndecidedManagedBy, ""
	case asked[wishFailIndex] && job != nil && job.job.BackoffLimitPerIndex == nil:
		return "needs_limit_per_index", ""
	case asked[wishRestartAll] && !f.RestartAllContainersOnContainerExits:
		return string(policy.StepGateOff), "RestartAllContainersOnContainerExits"
	case kubelet && !(f.ContainerRestartRules && p.cl.features.ContainerRestartRules):
		return string(policy.StepGateOff), "ContainerRestartRules"
	case job != nil && p.pod != string(policy.RestartPolicyNever):
		return "needs_never", ""
	}
	return "no_policy_does_it", ""
}

func (p *planner) writeObstacle(w *manifest.Writer) {
	because, gate := p.obstacle()
	w.KeyObject("obstacle")
	w.KeyWord("because", because)
	optional(w, "gate", gate)
	w.End()
}

func (p *planner) writeWishes(w *manifest.Writer) {
	w.KeyArray("wishes")
	for x := wishRestart; x <= wishFailIndex; x++ {
		n := 0
		for _, y := range p.want {
			if y == x {
				n++
			}
		}
		if n == 0 && p.disruption != x {
			continue
		}
		w.Object()
		w.KeyWord("to", wishWords[x])
		w.KeyArray("ranges")
		for code := 0; code < codes; code++ {
			if p.want[code] != x {
				continue
			}
			from := code
			for code+1 < codes && p.want[code+1] == x {
				code++
			}
			writeFromTo(w, int32(from), int32(code))
			w.End()
		}
		w.End()
		if p.disruption == x {
			w.KeyBool("disruption", true)
		}
		w.End()
	}
	w.End()
}

// writeFromTo begins an object with a range of codes.
func writeFromTo(w *manifest.Writer, from, to int32) {
	w.Object()
	w.KeyInt("from", int64(from))
	w.KeyInt("to", int64(to))
}

func (p *planner) writeSuggestion(w *manifest.Writer, s *suggestion) {
	w.Object()
	writeEdits(w, s.edits)
	rules, values := len(s.kubelet.lines)+len(s.controller.lines), 0
	for _, lines := range [...][]line{s.kubelet.lines, s.controller.lines} {
		for i := range lines {
			values += len(lines[i].values())
		}
	}
	w.KeyInt("rules", int64(rules))
	w.KeyInt("values", int64(values))
	w.KeyBool("shortest", p.proves(s))
	w.KeyInt("checked", int64(len(p.tables)*codes))
	w.KeyArray("changes")
	for _, x := range s.changes {
		writeFromTo(w, x.from, x.to)
		w.KeyString("container", x.container)
		if x.oom {
			w.KeyWord("reason", oomKilled)
		}
		w.Key("was")
		writeEnd(w, x.was, p.before.judge)
		w.Key("becomes")
		writeEnd(w, x.is, p.before.judge)
		w.End()
	}
	w.End()
	w.End()
}

// writeEnd writes what an exit leads to, without what decides it; judge is nil without a Job.
func writeEnd(w *manifest.Writer, f *fate, judge *jobJudge) {
	w.Object()
	if f.why != "" {
		writeUndecided(w, f.why, f.path)
	} else {
		w.KeyWord("action", string(f.Action))
		if f.PodFails {
			w.KeyBool("podFails", true)
		}
	}
	if judge != nil {
		w.Key("job")
		f.job.write(w, judge)
	}
	f.pod.write(w)
	writeOwner(w, f.owner)
	w.End()
}

// proves reports whether there is proof that no cheaper change, except for the number of edits,
// does the same and nothing else.
func (p *planner) proves(s *suggestion) bool {
	return p.sure && s.cost[0] == 0 && s.cost[1] == p.low[1] && s.cost[2] == p.low[2]
}

// writeVersions says for each release, with the gates that it has by default, whether the first
// suggestion does what is wished there, too, and what is the shortest there. s is nil if there is
// none.
func (c *call) writeVersions(p *planner, s *suggestion) {
	w := &c.w
	w.KeyArray("versions")
	for minor := policy.OldestMinor; minor <= policy.NewestMinor; minor++ {
		w.Object()
		w.KeyWord("version", policy.VersionName(minor))
		if minor == p.cl.features.Minor {
			w.KeyBool("works", s != nil)
			if s != nil {
				w.KeyBool("shortest", p.proves(s))
			}
		} else {
			c.writeVersion(p, s, cluster{features: policy.DefaultFeatures(minor), kubelet: p.cl.kubelet, named: true})
		}
		w.End()
	}
	w.End()
}

// writeVersion writes what is so in the release of cl, in which the manifest is reread: it drops
// what its gates disable.
func (c *call) writeVersion(p *planner, s *suggestion, cl cluster) {
	w, works := &c.w, false
	there := call{src: c.src, memory: c.memory, parser: c.parser, root: c.root, man: c.man}
	var l loaded
	if all := there.admit(cl.features, entrance{}); len(all) == 1 {
		l = all[0]
		there.passOverUnknown(&l)
	}
	if there.failure != nil || !l.readable || len(l.faults) > 0 {
		w.KeyBool("works", false)
		w.KeyBool("refused", true)
		return
	}
	q := there.newPlanner(&l, cl, p.ref)
	q.want, q.disruption, q.flip = p.want, p.disruption, p.flip
	var costs cost
	if s != nil {
		if after, ok := p.applyIn(q, s); ok {
			costs = s.cost
			_, costs[0], works = q.check(&after, cl)
			works = works && costs[0] <= s.cost[0]
		}
	}
	w.KeyBool("works", works)
	if s != nil && !works {
		optional(w, "gate", s.gate(cl.features))
	}
	if q.holds() {
		w.KeyBool("already", true)
		return
	}
	list := q.search()
	best := cost{}
	if len(list) > 0 {
		best = list[0].cost
	}
	switch costs[3], best[3] = 0, 0; { // how many edits it takes does not matter here
	case q.steps > policy.MaxSteps:
		w.KeyBool("cut", true)
	case works && (len(list) == 0 || !best.less(&costs)):
		w.KeyBool("shortest", q.sure && costs == cost{1: q.low[1], 2: q.low[2]})
	case len(list) > 0:
		w.Key("suggestion")
		q.writeSuggestion(w, &list[0])
	}
	if len(list) == 0 || best[0] > 0 {
		q.writeObstacle(w)
	}
}

// applyIn returns the manifest as q has it after the edits of s, which is a suggestion of p. What
// the release of p drops and that of q does not is not touched by edits of p.
func (p *planner) applyIn(q *planner, s *suggestion) (l loaded, ok bool) {
	kubelet := *s.kubelet
	if p.own == "" && kubelet.own == "" {
		kubelet.own = q.own
	}
	if len(p.rules) == 0 && len(q.rules) > 0 && len(kubelet.lines) == 0 {
		kubelet.lines = q.rules
		p = q
	}
	return p.apply(q.l, q.cl.features, &kubelet, s.controller)
}

// gate is a gate that s needs and that is off in f; "" for none.
func (s *suggestion) gate(f policy.Features) string {
	restartAll := false
	for i := range s.kubelet.lines {
		restartAll = restartAll || s.kubelet.lines[i].action == wishRestartAll
	}
	switch {
	case (s.kubelet.own != "" || len(s.kubelet.lines) > 0) && !f.ContainerRestartRules:
		return "ContainerRestartRules"
	case restartAll && !f.RestartAllContainersOnContainerExits:
		return "RestartAllContainersOnContainerExits"
	}
	return ""
}
