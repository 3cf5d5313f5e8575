package ops

import (
	"math"
	"strconv"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/manifest"
)

// fate is what one exit of a container leads to.
type fate struct {
	policy.Decision
	why, path string    // why the kubelet's decision is undecided, and the place that is the cause; "" otherwise
	job       jobEffect // the zero value without a Job; never with a message, which names the code
	owner     ownerVerdict
	pod       podVerdict
}

// same reports whether a and b are one answer.
func (a *fate) same(b *fate) bool {
	if a.why != b.why || a.path != b.path || a.owner != b.owner || a.pod != b.pod || !a.job.same(&b.job) {
		return false
	}
	return a.why != "" || a.Action == b.Action && a.Because == b.Because && a.Level == b.Level && a.PodFails == b.PodFails &&
		(a.Level != policy.LevelRule || a.Matched == b.Matched)
}

func (x *jobEffect) same(y *jobEffect) bool {
	return x.phase == y.phase && x.judged == y.judged && x.match.Action == y.match.Action && x.match.Rule == y.match.Rule &&
		x.counted == y.counted && x.index == y.index && x.outcome == y.outcome && x.reason == y.reason &&
		x.undecided == y.undecided && x.path == y.path
}

// codeRange are exit codes, from and to included, that come to the same.
type codeRange struct {
	from, to int32
	*fate
}

// containerTable is what every exit of one container leads to, while the Pod's other containers
// run; in the layer of the Job they have exited with 0 when the Pod ends.
type containerTable struct {
	ref policy.Ref
	rows
	restarts []restartRange // nil where they change nothing, as in all releases
	// matched has a bit for each rule of the container that some code meets first: 1 if one of
	// those codes is not decided by it, 2 if one is, 4 if one is undecided.
	matched []uint8
	ignored []policy.Ignored // by rule: why the first code that it does not decide is not decided by it
	// failure is the same about the rules of the Job's podFailurePolicy, 1 where the Pod does not
	// fail.
	failure []uint8
}

// rows are what exits lead to after some number of restarts.
type rows struct {
	ranges []codeRange // 0 to 255, ascending; neighbours differ
	oom    *fate       // of code 0 with the reason OOMKilled; nil where the reason changes nothing, as with any other code
	killed []codeRange // of all codes with that reason, where a proposal asks for it; else nil
	beyond []codeRange // on Windows all other numbers, as ranges; else nil
}

// restartRange are restart counts after which the rows are the same: those from one on until the
// next.
type restartRange struct {
	from uint32
	rows
}

// codes is the number of exit codes that a process on Linux has.
const codes = 256

// asked is a Pod whose exits are asked about, compiled.
type asked struct {
	l            *loaded
	cl           cluster
	judge        *jobJudge // nil without a Job
	node, server *policy.Policy
	meets        *policy.FailurePolicy // which rule of the Job an exit meets first
	steps        int                   // what the answers cost so far
}

func newAsked(l *loaded, cl cluster) *asked {
	q := &asked{l: l, cl: cl, judge: newJobJudge(l, cl), node: policy.Compile(&l.object.Spec, cl.node().features)}
	if q.server = q.node; cl.skewed != nil {
		q.server = policy.Compile(&l.object.Spec, cl.features)
	}
	if q.judge != nil {
		q.meets = q.judge.meets()
	}
	return q
}

// tableOf works out what every exit of a container leads to, with what decide would say about each.
// It explains one exit for each that differs in what it meets, and not all 256. base says how often
// containers were restarted before; counted that no other numbers are asked about.
func (q *asked) tableOf(base exit, counted bool) containerTable {
	container := q.l.object.Spec.Container(base.ref)
	t := containerTable{ref: base.ref, matched: make([]uint8, len(container.RestartPolicyRules))}
	t.ignored = make([]policy.Ignored, len(t.matched))
	if q.judge != nil {
		t.failure = make([]uint8, len(q.judge.rules()))
	}
	r := tableReader{asked: q, t: &t, container: container}
	t.rows = r.rows(base)
	if counted {
		return t
	}
	bounds := restartBounds(&q.l.object.Spec, container, base.ofPod-base.restarts)
	for _, i := range policy.Order(len(bounds), func(a, b int) bool { return bounds[a] < bounds[b] }) {
		e, last := base, len(t.restarts)-1
		e.restarts, e.ofPod = bounds[i], base.ofPod-base.restarts+bounds[i]
		if rows := r.rows(e); last < 0 || !t.restarts[last].same(&rows) {
			t.restarts = append(t.restarts, restartRange{bounds[i], rows})
		}
	}
	if len(t.restarts) == 1 {
		t.restarts = nil
	}
	return t
}

// tableReader asks what becomes of one exit after the other for a table.
type tableReader struct {
	*asked
	t         *containerTable
	container *policy.Container
	known     []knownFate // so far
}

// knownFate is all that a fate follows from, and the fate.
type knownFate struct {
	exit, server policy.Decision
	zero         bool
	rule         int32
	owner        ownerVerdict
	pod          podVerdict
	f            *fate
}

// find returns what e comes to. Exits about which all are of one mind share a fate.
func (r *tableReader) find(e exit) *fate {
	ref, x := e.ref, e.asked()
	k := knownFate{exit: r.node.Decide(ref, x), zero: e.code == 0, rule: -1}
	if r.judge != nil {
		k.rule = r.meets.Match(&policy.FailedPod{Exits: []policy.PodExit{{Container: r.container.Name, Code: e.code}}}).Rule
		k.server = r.server.Decide(ref, x) // by which the phase of the Pod is known
	}
	k.owner, k.pod = r.l.ownerSays(&r.cl, e, k.exit), r.l.podSays(&r.cl, e, k.exit)
	for i := range r.known {
		if s := &r.known[i]; s.exit == k.exit && s.server == k.server && s.zero == k.zero && s.rule == k.rule && s.owner == k.owner && s.pod == k.pod {
			return s.f
		}
	}
	r.steps += r.fateSteps(r.container)
	k.f = &fate{owner: k.owner, pod: k.pod}
	d, trace := policy.Trace(&r.l.object.Spec, r.cl.node().features, ref, x)
	k.f.Decision = d
	k.f.why, k.f.path = undecided(r.cl.node(), pathsOf(&r.l.object, ref), trace)
	if r.judge != nil {
		k.f.job = r.judge.effect(e, d)
		k.f.job.message = ""
	}
	r.t.note(k.f, k.rule)
	r.known = append(r.known, k)
	return k.f
}

// codes returns what exits that are like e come to, whatever their code.
func (r *tableReader) codes(e exit) (list []codeRange) {
	for e.code = 0; e.code < codes; e.code++ {
		f := r.find(e)
		if n := len(list); n > 0 && list[n-1].same(f) {
			list[n-1].to = e.code
		} else {
			list = append(list, codeRange{e.code, e.code, f})
		}
	}
	return list
}

// rows returns all rows after as many restarts as e has behind it.
func (r *tableReader) rows(e exit) (all rows) {
	all.ranges = r.codes(e)
	all.beyond = r.beyond(e, r.find)
	e.reason = oomKilled
	for i := range r.container.RestartPolicyRules {
		if r.container.RestartPolicyRules[i].OOMKilled {
			if all.killed = r.codes(e); sameRanges(all.killed, all.ranges) {
				all.killed = nil
			}
			return all
		}
	}
	e.code = 0
	if f := r.find(e); !all.ranges[0].same(f) {
		all.oom = f
	}
	return all
}

// beyond returns what exits of a process on Windows come to whose codes none on Linux has: those
// that rules name, and what is between them; nil for a Pod that is not on Windows.
func (q *asked) beyond(e exit, find func(exit) *fate) (list []codeRange) {
	if !q.l.object.Spec.Windows {
		return nil
	}
	var named []int32
	for _, r := range q.l.object.Spec.Container(e.ref).RestartPolicyRules {
		if r.ExitCodes != nil {
			named = append(named, r.ExitCodes.Values...)
		}
	}
	if q.judge != nil {
		for _, r := range q.judge.rules() {
			if r.OnExitCodes != nil {
				named = append(named, r.OnExitCodes.Values...)
			}
		}
	}
	q.steps += len(named)
	order := policy.Order(len(named), func(a, b int) bool { return named[a] < named[b] })
	for _, side := range [...][2]int64{{math.MinInt32, -1}, {codes, math.MaxInt32}} {
		from := side[0]
		until := func(to int64) {
			if to < from {
				return
			}
			e.code = int32(from)
			f := find(e)
			if n := len(list) - 1; n >= 0 && int64(list[n].to) == from-1 && list[n].same(f) {
				list[n].to = int32(to)
			} else {
				list = append(list, codeRange{int32(from), int32(to), f})
			}
			from = to + 1
		}
		for _, i := range order {
			if v := int64(named[i]); v >= from && v <= side[1] {
				until(v - 1)
				until(v)
			}
		}
		until(side[1])
	}
	return list
}

// across calls do with all stretches in which both of two lists of the same codes say one thing.
func across(a, b []codeRange, do func(from, to int32, x, y *fate)) {
	for len(a) > 0 && len(b) > 0 {
		x, y := a[0], b[0]
		to := min(x.to, y.to)
		do(max(x.from, y.from), to, x.fate, y.fate)
		if x.to == to {
			a = a[1:]
		}
		if y.to == to {
			b = b[1:]
		}
	}
}

// restartBounds are the restart counts of container at which something may change; others is the
// sum of those of the other containers. There is none without words of proposals.
func restartBounds(spec *policy.PodSpec, container *policy.Container, others uint32) (bounds []uint32) {
	if !spec.Proposed {
		return nil
	}
	bounds = append(bounds, 0)
	add := func(n, less uint32) {
		for range 2 {
			if n > less {
				bounds = append(bounds, n-less)
			}
			n++
		}
	}
	for i := range container.RestartPolicyRules {
		if n := container.RestartPolicyRules[i].Restarts; n != nil && *n >= 0 {
			add(uint32(*n), 0)
		}
	}
	if n := spec.MaxRestartTimes; n != nil && *n >= 0 {
		add(uint32(*n), 0)
		add(uint32(*n), others)
	}
	return bounds
}

func (r *rows) same(x *rows) bool {
	return sameRanges(r.ranges, x.ranges) && sameRanges(r.killed, x.killed) && sameRanges(r.beyond, x.beyond) && (r.oom == nil) == (x.oom == nil) && (r.oom == nil || r.oom.same(x.oom))
}

func sameRanges(a, b []codeRange) bool {
	for i := range a {
		if len(a) != len(b) || a[i].to != b[i].to || !a[i].same(b[i].fate) {
			return false
		}
	}
	return len(a) == len(b)
}

// The bits of containerTable.matched and failure.
const (
	matchedOnly uint8 = 1 << iota
	decides
	leavesOpen
)

// note notes what f says about the rules that match first: of the container, and rule of the Job.
func (t *containerTable) note(f *fate, rule int32) {
	bit := matchedOnly
	switch {
	case f.why != "":
		bit = leavesOpen
	case f.Level == policy.LevelRule:
		bit = decides
	}
	if f.Matched >= 0 {
		if t.matched[f.Matched]&matchedOnly == 0 && bit == matchedOnly {
			t.ignored[f.Matched] = f.Ignored
		}
		t.matched[f.Matched] |= bit
	}
	if rule < 0 {
		return
	}
	switch {
	case f.why != "" || f.job.undecided != "":
		bit = leavesOpen
	case f.job.judged:
		bit = decides
	default:
		bit = matchedOnly
	}
	t.failure[rule] |= bit
}

// fateSteps is what it costs to explain one exit of container.
func (q *asked) fateSteps(container *policy.Container) int {
	n := 1
	for _, rule := range container.RestartPolicyRules {
		if n++; rule.ExitCodes != nil {
			n += len(rule.ExitCodes.Values)
		}
	}
	if q.judge == nil {
		return n
	}
	n += q.l.object.Spec.Len()
	for _, rule := range q.judge.rules() {
		if n++; rule.OnExitCodes != nil {
			n += len(rule.OnExitCodes.Values)
		}
	}
	return n
}

// tables is tableOf for all containers, which exits names. It stops, with what it has, when it has
// cost more than
// [policy.MaxSteps].
func (q *asked) tables(exits []exit, counted bool) (tables []containerTable) {
	for _, e := range exits {
		q.steps += codes
		if tables = append(tables, q.tableOf(e, counted)); q.steps > policy.MaxSteps {
			break
		}
	}
	return tables
}

// exitsOf names each container of template number in once, in the order of [containerOrder].
func exitsOf(l *loaded, in int) (exits []exit) {
	for _, kind := range containerOrder {
		for i := range l.object.Spec.List(kind) {
			exits = append(exits, exit{ref: policy.Ref{Kind: kind, Index: i}, in: in})
		}
	}
	return exits
}

// containerOrder is the order in which the lists of a Pod are written. Nobody writes to it.
var containerOrder = [...]policy.ContainerKind{policy.InitContainer, policy.MainContainer, policy.EphemeralContainer}

// table answers what all exits of each container lead to.
func (c *call) table() {
	c.requestMembers(tableMembers...)
	cl, all, found := c.admitAll()
	if c.failure != nil {
		return
	}
	name := c.root.Get("container")
	only, _ := c.text(name, "container")
	if given(name) && name.Kind() == manifest.String {
		c.findIn(all, name, "container", only)
	}
	restarts, counted := c.integer(c.root.Get("restartCount"), "restartCount", 0, math.MaxInt32)
	var exits []exit
	for i := range all {
		exits = append(exits, exitsOf(&all[i], i)...)
	}
	c.readCallback(all, &cl)
	c.readRestartCounts(all, exits)
	for i := range exits {
		if e := &exits[i]; counted {
			e.ofPod += uint32(restarts) - e.restarts
			e.restarts, e.counted = uint32(restarts), true
		}
	}
	if c.failOnFaults() {
		return
	}
	w, steps := &c.w, 0
	var used, idle []ruleUse
	w.Object()
	w.KeyArray("containers")
	for i := range all {
		l := &all[i]
		q := newAsked(l, cl)
		q.steps = steps
		from := 0
		for from < len(exits) && exits[from].in < i {
			from++
		}
		to := from
		for to < len(exits) && exits[to].in == i {
			to++
		}
		tables := q.tables(exits[from:to], counted)
		if steps = q.steps; !c.withinSteps(steps) {
			return
		}
		for k := range tables {
			if t := &tables[k]; only == "" || l.object.Spec.Container(t.ref).Name == only {
				t.write(w, l, q.judge)
			}
			if w.Len() > policy.MaxOutputBytes {
				return // Call reports it
			}
		}
		for _, r := range q.rules(tables) {
			if r.because == "" {
				used = append(used, r)
			} else if r.because != ruleOpen {
				idle = append(idle, r)
			}
		}
	}
	w.End()
	writeRules(w, used, idle)
	w.KeyArray("sizes")
	windows := false
	for i := range all {
		c.writeSizes(&all[i])
		windows = windows || all[i].object.Spec.Windows
	}
	w.End()
	if windows {
		w.KeyWord("leftOut", "codes_beyond_255")
	}
	c.writeReadings(all, nil, &cl, supposed(all, &cl))
	c.writeDropped(found.dropped)
	c.writeWarnings(found.warnings)
	c.writeCluster(cl)
	w.End()
}

// writeRules writes which rules decide something, and which never do.
func writeRules(w *manifest.Writer, used, idle []ruleUse) {
	w.KeyArray("usesRules")
	for _, r := range used {
		w.String(r.path)
	}
	w.End()
	w.KeyArray("unreachable")
	for _, r := range idle {
		w.Object()
		w.KeyString("path", r.path)
		w.KeyWord("because", r.because)
		w.End()
	}
	w.End()
}

// admitAll reads cluster and manifest as decide does, for questions about policies rather than
// about single exits. found has the faults, which are noted, the warnings and what was dropped of
// all templates together.
func (c *call) admitAll() (cl cluster, all []loaded, found loaded) {
	cl = c.readCluster()
	all = c.admit(cl.features, entrance{})
	for i := range all {
		c.passOverUnknown(&all[i])
		found.add(&all[i])
	}
	c.faults.addAll(found.faults)
	if len(all) > 0 && all[0].readable {
		found.warnings = append(found.warnings, c.manifestFaults(c.ended(&all[0].object))...)
	}
	found.warnings = append(found.warnings, c.skew(&cl)...)
	return cl, all, found
}

// findIn reports, with a fault, that none of the Pods has a container called name, which is at
// path of the request.
func (c *call) findIn(all []loaded, v manifest.Value, path, name string) {
	for i := range all {
		if _, found := all[i].object.Spec.Find(name); found || !all[i].readable {
			return
		}
	}
	if len(all) > 0 {
		c.requestFault(v, policy.FieldError{
			Path: path, Code: policy.CodeUnknownContainer, Detail: "there is no container " + strconv.Quote(cut(name)), Allowed: c.namesOf(all),
		})
	}
}

// write writes the table of one container.
func (t *containerTable) write(w *manifest.Writer, l *loaded, judge *jobJudge) {
	at := pathsOf(&l.object, t.ref)
	w.Object()
	if l.template != nil {
		w.KeyString("template", l.template.Path)
	}
	w.KeyString("container", l.object.Spec.Container(t.ref).Name)
	w.KeyString("path", at.container)
	t.rows.write(w, at, judge)
	if t.restarts != nil {
		w.KeyArray("restarts")
		for i := range t.restarts {
			w.Object()
			w.KeyInt("from", int64(t.restarts[i].from))
			if i+1 < len(t.restarts) {
				w.KeyInt("to", int64(t.restarts[i+1].from)-1)
			}
			t.restarts[i].write(w, at, judge)
			w.End()
		}
		w.End()
	}
	w.End()
}

// write writes the members of rows.
func (r *rows) write(w *manifest.Writer, at paths, judge *jobJudge) {
	writeRanges(w, "ranges", r.ranges, at, judge)
	if r.oom != nil {
		w.KeyObject("oomKilled")
		w.KeyInt("exitCode", 0)
		r.oom.write(w, at, judge)
		w.End()
	}
	if r.killed != nil {
		writeRanges(w, "oomKilledRanges", r.killed, at, judge)
	}
	if r.beyond != nil {
		writeRanges(w, "beyond", r.beyond, at, judge)
	}
}

func writeRanges(w *manifest.Writer, name string, ranges []codeRange, at paths, judge *jobJudge) {
	w.KeyArray(name)
	for _, r := range ranges {
		w.Object()
		w.KeyInt("from", int64(r.from))
		w.KeyInt("to", int64(r.to))
		r.fate.write(w, at, judge)
		w.End()
	}
	w.End()
}

// write writes members after others, those of a decision.
func (f *fate) write(w *manifest.Writer, at paths, judge *jobJudge) {
	if f.why != "" {
		writeUndecided(w, f.why, f.path)
	} else {
		writeOutcome(w, at, f.Decision)
	}
	if judge != nil {
		w.Key("job")
		f.job.write(w, judge)
	}
	f.pod.write(w)
	writeOwner(w, f.owner)
}

// ruleUse says of a rule whether it ever decides.
type ruleUse struct {
	path    string
	because string // why it never does; "" for one that decides about some exit; or ruleOpen
}

// ruleOpen is said of a rule that decides about no exit and still may decide: by a condition of the
// Pod, or in a release whose words are not known.
const ruleOpen = "open"

// The reasons for which a rule never decides, besides those of [policy.StepCode] and
// [policy.Ignored].
const (
	matchesNoCode   = "matches_no_code"   // no process ends with a code that it asks for
	podGoesOn       = "pod_goes_on"       // the exits that it is about do not fail the Pod
	noSuchContainer = "no_such_container" // it names a container that the Pod does not have
)

// rules says of each rule, of the containers in the order of tables and then of the Job, whether it
// ever decides.
func (q *asked) rules(tables []containerTable) (uses []ruleUse) {
	l, cl, judge := q.l, q.cl, q.judge
	for i := range tables {
		t := &tables[i]
		at := pathsOf(&l.object, t.ref)
		for k, rule := range l.object.Spec.Container(t.ref).RestartPolicyRules {
			use := ruleUse{because: string(policy.StepEarlierRule)}
			use.path, _ = at.rule(k)
			switch on := rule.ExitCodes; {
			case t.matched[k]&decides != 0:
				use.because = ""
			case t.matched[k]&leavesOpen != 0:
				use.because = ruleOpen
			case !cl.node().features.ContainerRestartRules:
				use.because = string(policy.StepGateOff)
			case t.ref.Kind == policy.EphemeralContainer:
				use.because = string(policy.StepNotConsulted)
			case t.matched[k] != 0:
				use.because = string(t.ignored[k])
			case rule.Restarts != nil || rule.OOMKilled:
				use.because = ruleOpen // it may be another count that it asks for
			case on == nil:
				use.because = string(policy.StepNoExitCodes)
			default:
				use.idle(on.Operator, on.Values, 0, cl.node())
			}
			uses = append(uses, use)
		}
	}
	if judge == nil || judge.job.ManagedElsewhere() {
		return uses
	}
	for k, rule := range judge.rules() {
		use := ruleUse{element(l.rulesPath(), k), string(policy.StepEarlierRule)}
		bits := uint8(0)
		for i := range tables {
			bits |= tables[i].failure[k]
		}
		switch on := rule.OnExitCodes; {
		case bits&decides != 0:
			use.because = ""
		case bits&leavesOpen != 0:
			use.because = ruleOpen
		case bits != 0:
			use.because = podGoesOn
		case on == nil:
			for _, p := range rule.OnPodConditions {
				m := judge.compiled.Match(&policy.FailedPod{Conditions: []policy.PodCondition{{Type: p.Type, Status: p.Status}}})
				if int(m.Rule) == k {
					use.because = ruleOpen
				}
			}
			switch {
			case rule.Reasons != nil:
				use.because = judge.reasons(k)
			case len(rule.OnPodConditions) == 0:
				use.because = string(policy.StepNoRequirement)
			}
		default:
			use.idle(on.Operator, on.Values, 1, &cl)
			if on.ContainerName != nil {
				if _, found := l.object.Spec.Find(*on.ContainerName); !found {
					use.because = noSuchContainer
				}
			}
		}
		if !rule.Action.Known() && use.because == string(policy.StepEarlierRule) {
			use.because = unknownIn(&cl, policy.StepUnknownAction)
		}
		uses = append(uses, use)
	}
	return uses
}

// reasons says why rule k, which asks for reasons, decides about no Pod: about none that has a
// reason which a rule lists, none that has another one, and none without. Of more reasons than are
// worth trying one is taken to reach it.
func (j *jobJudge) reasons(k int) string {
	const most = 100
	rules := j.rules()
	given, other := []string{""}, "?"
	for i := range rules {
		for _, on := range rules[i].Reasons {
			given = append(given, on.Values...)
			for _, reason := range on.Values {
				if len(reason) >= len(other) {
					other = reason + "?"
				}
			}
		}
	}
	given = append(given, other)
	if len(given) > most {
		return ruleOpen
	}
	alone := *j.job.PodFailurePolicy
	alone.Rules = rules[k : k+1]
	by, because := policy.CompileFailurePolicy(&alone), policy.StepOtherReason
	for _, reason := range given {
		pod := &policy.FailedPod{Reason: reason}
		if int(j.compiled.Match(pod).Rule) == k {
			return ruleOpen
		}
		if by.Match(pod).Rule == 0 {
			because = policy.StepEarlierRule
		}
	}
	return string(because)
}

// unknownIn is why a rule with an unknown word never decides, if it does not.
func unknownIn(cl *cluster, code policy.StepCode) string {
	if cl.named {
		return string(code)
	}
	return ruleOpen
}

// idle says why a rule about values, for codes from least on, decides nothing although nothing is
// wrong around it.
func (u *ruleUse) idle(operator policy.ExitCodesOperator, values []int32, least int32, cl *cluster) {
	listed := [codes]bool{}
	n := int32(0)
	for _, v := range values {
		if v >= least && v < codes && !listed[v] {
			listed[v] = true
			n++
		}
	}
	switch {
	case operator != policy.OperatorIn && operator != policy.OperatorNotIn:
		u.because = unknownIn(cl, policy.StepUnknownOperator)
	case operator == policy.OperatorIn && n == 0, operator == policy.OperatorNotIn && n == codes-least:
		u.because = matchesNoCode
	}
}

// writeSizes says how large each list of rules is. Values are those of the model, as drafts have
// other places for them.
func (c *call) writeSizes(l *loaded) {
	for _, kind := range containerOrder {
		for i, container := range l.object.Spec.List(kind) {
			var s listSize
			written := false // those of a callback are in the request
			for _, rule := range container.RestartPolicyRules {
				if rule.From != "" {
					continue
				}
				written = true
				if on := rule.ExitCodes; on != nil {
					s.add(on.Operator, on.Values)
				}
			}
			if written {
				c.writeSize(l.object.Path(policy.Ref{Kind: kind, Index: i})+".restartPolicyRules", s)
			}
		}
	}
	if l.object.Job != nil && l.object.Job.PodFailurePolicy != nil {
		var s listSize
		for _, rule := range l.object.Job.PodFailurePolicy.Rules {
			if on := rule.OnExitCodes; on != nil {
				s.add(on.Operator, on.Values)
			}
		}
		c.writeSize(l.rulesPath(), s)
	}
}

// listSize is how many values the rules of a list have, and how many bytes these and their
// operators take.
type listSize struct{ values, binary int }

func (s *listSize) add(operator policy.ExitCodesOperator, values []int32) {
	s.values += len(values)
	s.binary += 4*len(values) + len(operator)
}

// writeSize says how large the rules at path are.
func (c *call) writeSize(path string, s listSize) {
	rules := c.man.At(path)
	w := &c.w
	w.Object()
	w.KeyString("path", path)
	for _, m := range [...]struct {
		name string
		n    int
	}{{"rules", rules.Len()}, {"values", s.values}, {"binaryBytes", s.binary}, {"jsonBytes", jsonBytes(rules)}} {
		w.KeyInt(m.name, int64(m.n))
	}
	w.End()
}

// jsonBytes returns the length of v in JSON without spaces.
func jsonBytes(v manifest.Value) int {
	if k := v.Kind(); k != manifest.Array && k != manifest.Object {
		return v.End() - v.Offset()
	}
	n := 2 + max(v.Len()-1, 0)
	for e := v.First(); e.Exists(); e = e.Next() {
		if v.Kind() == manifest.Object {
			n += len(e.Key()) + 3
		}
		n += jsonBytes(e)
	}
	return n
}
