package ops

import (
	"math"
	"strconv"
	"strings"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/lint"
	"github.com/podfate/podfate/policy/manifest"
)

// exit is one entry of exits, with the container it names.
type exit struct {
	ref    policy.Ref
	code   int32
	reason string // as given, "" if absent
	in     int    // the number of the template, 0 in a manifest that has one at most

	restarts, ofPod uint32 // how often the container, and all of its Pod, were restarted before
	counted         bool   // someone said so
}

// asked is e as the kubelet sees it.
func (e *exit) asked() policy.Exit {
	return policy.Exit{Code: e.code, OOMKilled: e.reason == oomKilled, Restarts: e.restarts, PodRestarts: e.ofPod}
}

// decide answers what happens after each exit, as if it were the only one and the other containers
// ran, and what a Job makes of each of its Pods.
func (c *call) decide() {
	c.requestMembers(decideMembers...)
	cl := c.readCluster()
	all := c.admit(cl.features, entrance{})
	if c.failure != nil {
		return
	}
	c.readQuestion("exits")
	onlyPods := given(c.root.Get("pods")) && !c.root.Get("exits").Exists() && !c.short("exits").Exists()
	if len(all) != 1 && (len(all) == 0 || given(c.root.Get("pods"))) {
		all = []loaded{c.one(all)}
	}
	var found loaded
	for i := range all {
		c.passOverUnknown(&all[i])
		found.add(&all[i])
	}
	l := &all[0]
	c.faults.addAll(found.faults)
	pods := c.readPods(l, cl.features.Minor)
	c.rows = c.readShow()
	var exits []exit
	if !onlyPods {
		exits = c.readExits(all)
	}
	c.readCallback(all, &cl)
	c.readRestartCounts(all, exits)
	if c.failOnFaults() || !c.withinBudget(all, exits) {
		return
	}
	found.warnings = append(found.warnings, c.manifestFaults(c.ended(&l.object))...)
	found.warnings = append(found.warnings, c.manifestFaults(unasked(all))...)
	found.warnings = append(found.warnings, c.strangeCodes(all...)...)
	found.warnings = append(found.warnings, c.skew(&cl)...)
	c.w.Object()
	if !onlyPods {
		c.w.KeyArray("decisions")
		judges := make([]*jobJudge, len(all))
		for i := range all {
			judges[i] = newJobJudge(&all[i], cl)
		}
		for _, e := range exits {
			c.writeDecision(&all[e.in], cl, e, judges[e.in])
			if c.w.Len() > policy.MaxOutputBytes {
				return // Call reports it; there is no point in going on
			}
		}
		c.w.End()
	}
	if given(c.root.Get("pods")) && !c.writePods(pods, l, cl) {
		return
	}
	var codes []string
	if !onlyPods {
		codes = supposed(all, &cl)
	}
	c.writeReadings(all, exits, &cl, codes)
	c.writeDropped(found.dropped)
	c.writeWarnings(found.warnings)
	c.writeCluster(cl)
	c.w.End()
}

// ended warns that the manifest is that of a Pod in which nothing is started again, or of a Job
// that has ended. Decisions are about their policies.
//
// Source: ShouldContainerBeRestarted in pkg/kubelet/container/helpers.go, SyncPod in
// pkg/kubelet/kubelet.go, syncJob in pkg/controller/job/job_controller.go, Kubernetes v1.33 to
// v1.37.
func (c *call) ended(o *policy.Object) []policy.FieldError {
	const (
		starts  = ", and the kubelet restarts none of its containers; the answer is about a Pod that has not ended"
		kubelet = "ShouldContainerBeRestarted, pkg/kubelet/container/helpers.go, v1.36"
	)
	status := c.man.Get("status")
	var f policy.FieldError
	switch o.Kind {
	case "Pod":
		if policy.PodPhase(status.Get("phase").Text()).Terminal() {
			f = policy.FieldError{Path: "status.phase", Code: lint.PodOver, Detail: "this Pod is over" + starts, Source: kubelet}
		} else if given(c.man.Get("metadata").Get("deletionTimestamp")) {
			f = policy.FieldError{Path: "metadata.deletionTimestamp", Code: lint.PodDeleted, Detail: "this Pod is being deleted" + starts, Source: kubelet}
		}
	case "Job":
		for v := status.Get("conditions").First(); v.Exists(); v = v.Next() {
			if end := v.Get("type").Text(); (end == "Complete" || end == "Failed") && v.Get("status").Text() == "True" {
				f = policy.FieldError{
					Path: v.Path(c.man), Code: lint.JobOver, Source: "syncJob, pkg/controller/job/job_controller.go, v1.36",
					Detail: "this Job is over, and its controller no longer looks at its Pods; the answer is about a Job that has not ended",
				}
			}
		}
	}
	if f.Path == "" {
		return nil
	}
	return []policy.FieldError{f}
}

// passOverUnknown turns faults about actions and operators into warnings: the kubelet has an answer
// to them, or the decision is undecided. That a Pod cannot be created with ephemeral containers is
// no fault of one that exists.
func (c *call) passOverUnknown(l *loaded) {
	kept := l.faults[:0]
	for _, f := range l.faults {
		if f.UnknownWord() {
			l.warnings = append(l.warnings, f)
		} else if f.Path != "spec.ephemeralContainers" || l.object.Kind != "Pod" || f.Type != policy.TypeForbidden {
			kept = append(kept, f)
		}
	}
	l.faults = kept
}

// readExits reads the member exits. Containers are looked up only in a manifest that could be read,
// and in each of its templates: an exit may be one of several Pods.
func (c *call) readExits(all []loaded) []exit {
	v, short := c.root.Get("exits"), c.short("exits")
	switch {
	case !given(v) && (short.Exists() || c.root.Get(questionMember).Text() != ""): // which has its own faults
	case !v.Exists() || v.Kind() == manifest.Null || v.Kind() == manifest.Array && v.Len() == 0:
		at := v
		if !given(v) {
			at = c.root
		}
		c.requestFault(at, policy.FieldError{
			Path: "exits", Code: policy.CodeRequired, Detail: `at least one exit is required, such as {"container":"main","exitCode":1}`,
		})
		return nil
	case v.Kind() != manifest.Array:
		c.wrongType(v, "exits", "an array")
		return nil
	case v.Len() > policy.MaxExits:
		c.limitAt(v, "exits", "exits", v.Len(), policy.MaxExits)
		return nil
	}
	exits := c.readExitList(make([]exit, 0, v.Len()+short.Len()), v, all)
	c.inShort(func() { exits = c.readExitList(exits, short, all) })
	return exits
}

// readExitList reads the exits of v, after those that there are.
func (c *call) readExitList(exits []exit, v manifest.Value, all []loaded) []exit {
	i := 0
	for e := v.First(); e.Exists(); e = e.Next() {
		if len(all) > 1 {
			exits = append(exits, c.readExitOf(all, e, i)...)
		} else {
			exits = append(exits, c.readExit(e, i, &all[0]))
		}
		if i++; len(exits) > policy.MaxExits {
			c.limitAt(v, "exits", "exits", len(exits), policy.MaxExits)
			return nil
		}
	}
	return exits
}

// readExitOf reads exit i of a manifest with several templates: one of each Pod that has the
// container, or of each with a single one if the exit names none.
func (c *call) readExitOf(all []loaded, v manifest.Value, i int) (exits []exit) {
	name, path := v.Get("container"), child(element("exits", i), "container")
	e := c.readExit(v, i, &loaded{}) // that is readable in none
	if v.Kind() != manifest.Object || given(name) && name.Kind() != manifest.String {
		return nil
	}
	readable := true
	for in := range all {
		l := &all[in]
		spec, found := &l.object.Spec, false
		if readable = readable && l.readable; !l.readable {
			continue
		}
		if given(name) {
			e.ref, found = spec.Find(name.Str())
		} else {
			e.ref, found = policy.Ref{}, len(spec.Containers) == 1
		}
		l.unasked = l.unasked || !found && !given(name)
		if e.in = in; found {
			exits = append(exits, e)
		}
	}
	switch {
	case len(exits) > 0 || !readable:
	case given(name):
		c.requestFault(name, policy.FieldError{
			Path: path, Code: policy.CodeUnknownContainer, Detail: "no template has a container " + strconv.Quote(cut(name.Str())), Allowed: c.namesOf(all),
		})
	default:
		c.requestFault(v, policy.FieldError{
			Path: path, Code: policy.CodeRequired, Detail: "the Pods have several containers: name the one that exits", Allowed: c.namesOf(all),
		})
	}
	return exits
}

// unasked warns of templates that an exit without a name passes over.
func unasked(all []loaded) (list []policy.FieldError) {
	for i := range all {
		if l := &all[i]; l.unasked {
			list = append(list, policy.FieldError{
				Path: l.template.Path, Code: lint.TemplateNotAsked, Allowed: listNames(&l.object.Spec),
				Detail: "an exit names no container, and this Pod has several: there is no answer for it",
			})
		}
	}
	return list
}

// namesOf returns at most 20 names of containers, each once.
func (c *call) namesOf(all []loaded) []string {
	if c.names == nil {
		for i := range all {
			for _, name := range listNames(&all[i].object.Spec) {
				if len(c.names) < maxNames && !contains(c.names, name) {
					c.names = append(c.names, name)
				}
			}
		}
	}
	return c.names
}

func (c *call) readExit(v manifest.Value, i int, l *loaded) (e exit) {
	if v.Kind() != manifest.Object || !onlyMembers(v, exitMembers...) {
		c.members(v, element("exits", i), exitMembers...)
	}
	return c.readExitMembers(v, i, l)
}

// exitMembers are the members of an exit. Nobody writes to them.
var exitMembers = []string{"container", "exitCode", "reason", "restartCount"}

// readExitMembers reads exit i of a list, or one alone if i is negative. Paths are put together
// only where there may be a fault.
func (c *call) readExitMembers(v manifest.Value, i int, l *loaded) (e exit) {
	if v.Kind() != manifest.Object {
		if i < 0 { // null, which is as good as an object without members
			c.readExitCode(v, "")
		}
		return e
	}
	path := func() string {
		if i < 0 {
			return ""
		}
		return element("exits", i)
	}
	reason, code, container := v.Get("reason"), v.Get("exitCode"), v.Get("container")
	if e.reason = reason.Text(); reason.Exists() && reason.Kind() != manifest.String {
		c.text(reason, child(path(), "reason"))
	}
	if n, ok := code.Int64(); ok && n == int64(byte(n)) {
		e.code = int32(n)
	} else {
		e.code = c.readExitCode(v, path())
	}
	if count := v.Get("restartCount"); count.Exists() {
		e.restarts, e.counted = c.readRestarts(count, child(path(), "restartCount"))
	}
	if !l.readable {
		c.text(container, child(path(), "container"))
		return e
	}
	found := false
	if container.Kind() == manifest.String {
		e.ref, found = l.object.Spec.Find(container.Str())
	}
	if !found {
		e.ref = c.findContainer(v, child(path(), "container"), &l.object.Spec)
	}
	return e
}

func (c *call) readExitCode(v manifest.Value, path string) int32 {
	path = child(path, "exitCode")
	n, given := c.integer(v.Get("exitCode"), path, math.MinInt32, math.MaxInt32)
	if !given {
		c.requestFault(v, policy.FieldError{Path: path, Code: policy.CodeRequired, Detail: "an exit code is required"})
	} else if n != int64(byte(n)) {
		c.strangeCode(v.Get("exitCode"), path, n)
	}
	return int32(n)
}

// strangeCode notes an exit code with which no process on Linux ends.
func (c *call) strangeCode(v manifest.Value, path string, n int64) {
	if len(c.strange) == policy.MaxFaults {
		c.strangeMore++
		return
	}
	c.strange = append(c.strange, c.asked(located{policy.FieldError{
		Path: path, Code: lint.ValueNeverOccurs, Source: "wait(2)",
		Detail: "no process on Linux exits with " + strconv.FormatInt(n, 10) + "; codes are 0 to 255",
	}, v.Offset(), policy.EventInvalid}))
}

// strangeCodes returns the warnings about exit codes with which no process ends, where all Pods run
// on Linux.
func (c *call) strangeCodes(all ...loaded) []located {
	for i := range all {
		if all[i].object.Spec.Windows {
			return nil
		}
	}
	if c.strangeMore > 0 {
		return append(c.strange, located{policy.TooManyFaults(c.strangeMore), -1, policy.EventInvalid})
	}
	return c.strange
}

// integer reads an integer from least to most. given reports that something is there; what is
// no such integer is a fault and 0.
func (c *call) integer(v manifest.Value, path string, least, most int64) (n int64, given bool) {
	if !v.Exists() || v.Kind() == manifest.Null {
		return 0, false
	}
	n, ok := v.Int64()
	switch {
	case v.Kind() != manifest.Number:
		c.wrongType(v, path, "an integer")
	case !ok:
		c.wrongTypeOf(v, path, "an integer")
	case n < least || n > most:
		c.requestFault(v, policy.FieldError{
			Path: path, Code: policy.CodeOutOfRange,
			Detail: "must be between " + strconv.FormatInt(least, 10) + " and " + strconv.FormatInt(most, 10) + ", found " + cut(string(v.Raw())),
		})
	default:
		return n, true
	}
	return 0, true
}

// findContainer looks the member container up. It may be absent if the Pod has a single main
// container.
func (c *call) findContainer(v manifest.Value, path string, spec *policy.PodSpec) policy.Ref {
	name, named := c.text(v.Get("container"), path)
	if !named {
		if len(spec.Containers) != 1 && !given(v.Get("container")) {
			detail := "the Pod has several containers: name the one that exits"
			if len(spec.Containers) == 0 {
				detail = "the Pod has no containers"
			}
			c.requestFault(v, policy.FieldError{
				Path: path, Code: policy.CodeRequired, Detail: detail, Allowed: c.containerNames(spec),
			})
		}
		return policy.Ref{}
	}
	ref, found := spec.Find(name)
	if !found {
		c.requestFault(v.Get("container"), policy.FieldError{
			Path: path, Code: policy.CodeUnknownContainer, Detail: "the Pod has no container " + strconv.Quote(cut(name)), Allowed: c.containerNames(spec),
		})
	}
	return ref
}

// maxNames bounds the containers that a fault lists.
const maxNames = 20

// containerNames returns at most maxNames names, in the order of the manifest. They are collected
// once for a call: ten thousand exits may name a container that is not there.
func (c *call) containerNames(spec *policy.PodSpec) []string {
	if c.names == nil {
		c.names = listNames(spec)
	}
	return c.names
}

func listNames(spec *policy.PodSpec) (names []string) {
	for _, kind := range []policy.ContainerKind{policy.InitContainer, policy.MainContainer, policy.EphemeralContainer} {
		for _, container := range spec.List(kind) {
			if container.Name != "" && len(names) < maxNames {
				names = append(names, cut(container.Name))
			}
		}
	}
	return names
}

// withinBudget ends the operation if explaining the exits would compare too many values. A trace
// walks all rules of its container; the decision itself costs next to nothing.
func (c *call) withinBudget(all []loaded, exits []exit) bool {
	steps := 0
	for _, e := range exits {
		for _, rule := range all[e.in].object.Spec.Container(e.ref).RestartPolicyRules {
			steps++
			if rule.ExitCodes != nil {
				steps += len(rule.ExitCodes.Values)
			}
		}
		if !c.withinSteps(steps) {
			return false
		}
	}
	return true
}

// withinSteps ends the operation if it takes too many steps.
func (c *call) withinSteps(n int) bool {
	if n > policy.MaxSteps {
		c.failWith(policy.BudgetExceeded, "the answer takes more than "+strconv.Itoa(policy.MaxSteps)+" steps")
		c.failure.limit = "steps"
	}
	return n <= policy.MaxSteps
}

// writeDecision writes what the kubelet decides about one exit and, with a judge, what the Job
// makes of it.
func (c *call) writeDecision(l *loaded, cl cluster, e exit, judge *jobJudge) {
	w, o := &c.w, &l.object
	d, trace := policy.Trace(&o.Spec, cl.node().features, e.ref, e.asked())
	at := pathsOf(o, e.ref)
	w.Object()
	if l.template != nil {
		w.KeyString("template", l.template.Path)
	}
	e.write(w, o)
	if why, path := undecided(cl.node(), at, trace); why != "" {
		writeUndecided(w, why, path)
	} else {
		writeOutcome(w, at, d)
	}
	w.KeyArray("trace")
	for _, s := range trace {
		w.Object()
		w.Key("path")
		if s.Level == policy.LevelDefault && podDefault(d) {
			w.Word(at.pod)
		} else {
			at.write(w, s.Level, s.Rule)
		}
		w.KeyWord("result", string(s.Result))
		w.KeyWord("code", string(s.Code))
		optional(w, "ignored", string(s.Ignored))
		w.End()
	}
	w.End()
	if c.rows {
		w.KeyObject("row")
		switch {
		case judge != nil:
			w.KeyString("pod", judge.firstPod())
		case l.object.Kind != "Pod":
			w.KeyString("pod", shortName(l))
		}
		row := c.afterExit(l, e).Row(cl.features.Minor)
		writeRow(w, &row, 0, -1)
		w.End()
	}
	if judge != nil {
		x := judge.effect(e, d)
		w.Key("job")
		x.write(w, judge)
	}
	l.podSays(&cl, e, d).write(w)
	writeOwner(w, l.ownerSays(&cl, e, d))
	w.End()
}

// podVerdict is what the podFailurePolicy of a Pod without a Job says of the Pod once an exit has
// failed it, the other containers having exited with 0: words that nobody acts upon. The zero value
// is for no such policy, and for a Pod that goes on.
type podVerdict struct {
	action policy.PodFailureAction
	rule   int32  // -1 for none
	path   string // of the rule
}

// podSays returns the verdict about exit e, about which the kubelet decided d.
func (l *loaded) podSays(cl *cluster, e exit, d policy.Decision) podVerdict {
	own := l.object.Spec.PodFailurePolicy
	if l.object.Job != nil || own == nil {
		return podVerdict{}
	}
	pod, failed := l.failedBy(cl, e, d)
	if !failed {
		return podVerdict{}
	}
	m := policy.CompileFailurePolicy(own).Match(&pod)
	x := podVerdict{action: acted(m), rule: m.Rule}
	if m.Rule >= 0 {
		x.path = element(l.object.SpecPath+"podFailurePolicy.rules", int(m.Rule))
	}
	return x
}

func (x podVerdict) write(w *manifest.Writer) {
	if x.action == "" {
		return
	}
	w.KeyObject("failure")
	w.KeyWord("action", string(x.action))
	w.Key("rule")
	if x.rule < 0 {
		w.Null()
	} else {
		w.Int(int64(x.rule))
		w.KeyWord("path", x.path)
	}
	w.KeyBool("replaced", false)
	w.End()
}

// failedBy returns the Pod that exit e fails, about which the kubelet decided d, the other
// containers having exited with 0; ok is false if the Pod does not fail.
func (l *loaded) failedBy(cl *cluster, e exit, d policy.Decision) (pod policy.FailedPod, ok bool) {
	if d.Action != policy.Stop || e.ref.Kind == policy.EphemeralContainer {
		return pod, false
	}
	j := jobJudge{l: l, cl: *cl, mains: byName(&l.object.Spec)}
	ok = j.phaseAfter(e, &pod) == policy.PodFailed
	return pod, ok
}

// byName are the main containers by name, as the kubelet lists them.
func byName(spec *policy.PodSpec) []int {
	list := spec.Containers
	return policy.Order(len(list), func(a, b int) bool { return list[a].Name < list[b].Name })
}

// oomKilled is the only reason that an exit is judged by.
const oomKilled = "OOMKilled"

// write repeats the exit, with the name of its container.
func (e exit) write(w *manifest.Writer, o *policy.Object) {
	w.KeyString("container", o.Spec.Container(e.ref).Name)
	w.KeyInt("exitCode", int64(e.code))
	optional(w, "reason", e.reason)
	if e.counted {
		w.KeyInt("restartCount", int64(e.restarts))
	}
}

// writeUndecided writes why there is no answer, and the place that is the cause.
func writeUndecided(w *manifest.Writer, why, path string) {
	w.KeyObject("undecided")
	w.KeyWord("reason", why)
	w.KeyString("path", path)
	w.End()
}

// podDefault reports whether the default of the Pod's restartPolicy decided, not what the container
// is.
func podDefault(d policy.Decision) bool {
	return d.Level == policy.LevelDefault && (d.Because == policy.BecauseAlways || d.Because == policy.BecauseUnknownPodPolicy)
}

// writeOutcome writes members after others.
func writeOutcome(w *manifest.Writer, at paths, d policy.Decision) {
	fails, path, end, rule := "", at.pod, `"`, ""
	if d.PodFails {
		fails = `,"podFails":true`
	}
	switch {
	case d.Level == policy.LevelRule:
		n := 0
		path, n = at.rule(int(d.Matched))
		rule = strconv.Itoa(n)
	case d.Level == policy.LevelLimit:
		path = at.limit()
	case d.Level == policy.LevelContainer:
		path, end = at.container, `.restartPolicy"`
	case d.Level == policy.LevelDefault && !podDefault(d):
		path = at.container
	}
	w.Parts(`,"action":"`, string(d.Action), `","because":"`, string(d.Because), `"`, fails, `,"decidedBy":{"level":"`, string(d.Level), `","path":"`, path, end)
	if rule != "" {
		w.Parts(`,"rule":`, rule)
	}
	if at.c != nil || d.Level == policy.LevelLimit || d.Because == policy.BecauseAlwaysPod {
		if name := d.Proposal(at.c); name != "" {
			w.Parts(`,"proposal":"`, name, `"`)
		}
	}
	w.Parts("}")
}

// paths are those of the parts of the manifest that can decide about one container.
type paths struct {
	pod, container, rules string
	c                     *policy.Container // with its rules, if they may be those of a proposal; else nil
}

// rule returns the path of rule i and its index, which counts from the first that is there.
func (p paths) rule(i int) (path string, index int) {
	if p.c == nil {
		return element(p.rules, i), i
	}
	if from := p.c.RestartPolicyRules[i].From; from != "" {
		index, _ = strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(from, "decide["), "]"))
		return from, index
	}
	index = i
	for k := range i {
		if p.c.RestartPolicyRules[k].From != "" {
			index--
		}
	}
	return element(p.rules, index), index
}

// unknown is the path of the word of rule i for which the answer is undecided.
func (p paths) unknown(why string, i int) string {
	path, _ := p.rule(i)
	switch {
	case why == policy.UndecidedAction:
		return path + ".action"
	case p.c == nil:
		return path + ".exitCodes.operator"
	}
	return path + "." + p.c.RestartPolicyRules[i].ExitCodesPath() + ".operator"
}

// limit is the path of the limit of restarts.
func (p paths) limit() string { return strings.TrimSuffix(p.pod, "restartPolicy") + "maxRestartTimes" }

func pathsOf(o *policy.Object, r policy.Ref) paths {
	container := o.Path(r)
	p := paths{pod: o.SpecPath + "restartPolicy", container: container, rules: container + ".restartPolicyRules"}
	if o.Spec.Proposed {
		p.c = o.Spec.Container(r)
	}
	return p
}

// write writes the path of the part that a level stands for.
func (p paths) write(w *manifest.Writer, level policy.Level, rule int) {
	switch level {
	case policy.LevelRule:
		path, _ := p.rule(rule)
		w.Text(path)
	case policy.LevelLimit:
		w.Text(p.limit())
	case policy.LevelContainer:
		w.Text(p.container, ".restartPolicy")
	case policy.LevelPod:
		w.Word(p.pod)
	default:
		w.Word(p.container)
	}
}

// undecided returns why no answer is given: a rule that would have been looked at has an action or
// an operator that no modelled release knows, and the request does not name a release whose
// fallback is asked for.
func undecided(cl *cluster, at paths, trace []policy.Step) (why, path string) {
	if cl.named {
		return "", ""
	}
	for _, s := range trace {
		switch {
		case s.Level != policy.LevelRule:
			return "", ""
		case s.Ignored == policy.IgnoredUnknownAction:
			return policy.UndecidedAction, at.unknown(policy.UndecidedAction, s.Rule)
		case s.Code == policy.StepUnknownOperator:
			return policy.UndecidedOperator, at.unknown(policy.UndecidedOperator, s.Rule)
		case s.Result == policy.Matched:
			return "", ""
		}
	}
	return "", ""
}
