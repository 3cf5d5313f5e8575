package ops

import (
	"strconv"
	"strings"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/manifest"
)

// What a manifest can be translated to, and the spellings that drafts have; the first is the
// default. Nobody writes to them.
var (
	toWords        = []string{toKubernetes, toFuture, toDraft, toAlwaysPod}
	futureSpelling = []string{"when", "onExit", "onExitCodes"}
	draftSpelling  = []string{"flat", "grouped", "condition", "expressions"}
)

const (
	toKubernetes = "kubernetes"
	toFuture     = "kep-5307-future"
	toDraft      = "kep-3329-draft"
	toAlwaysPod  = "always-pod"
)

// Why something has no other form.
const (
	lostRestarts   = "restart_times"      // a condition on restarts
	lostOOM        = "oom_killed"         // a condition on the cause
	lostAction     = "action_has_no_form" // an action that the other form lacks
	lostLimit      = "restart_limit"      // maxRestartTimes
	lostReason     = "pod_reason"         // a condition on the reason of the Pod
	lostConditions = "pod_conditions"     // a condition on conditions of the Pod
	lostZero       = "code_0"             // a rule of a Job that asks for 0
	lostWaits      = "waits"              // how long restarts wait
	lostSandbox    = "new_sandbox"        // a restart of the Pod that makes a new sandbox
	lostNever      = "needs_never"        // a podFailurePolicy where Pods are restarted
	lostNoJob      = "no_job"             // a podFailurePolicy without a Job
	lostSuccess    = "success_restarts"   // a Job that restarts Pods that succeed
	lostOwner      = "owner"              // what else the controller of another kind does
	lostCondition  = "retry_condition"    // a retryStrategy that is not judged
	lostScript     = "script_source"      // a script of the owner
	lostLoop       = "retry_loop"         // a loop in a shell, which restarts the program itself
)

// loss is something that the other form does not have.
type loss struct {
	path, because string
	hint          string // JSON: what comes near it; "" for nothing
}

// translator writes a manifest in other words.
type translator struct {
	c            *call
	cl           cluster
	to, spelling string
	changes      []edit // op "" ones: path is that in the manifest, value "" removes what is there
	lost         []loss
	whole        manifest.Writer // in place of the manifest; empty for the manifest with its changes
	counts       bool            // of the owner, too, each failure counts towards a limit
	loops        bool            // commands are looked at
}

// translate answers the manifest in other words: those of drafts and proposals as releases have
// them, or the other way round; with what is lost, and whether both come to the same, by the tables
// of all containers.
func (c *call) translate() {
	c.requestMembers(translateMembers...)
	cl, all, found := c.admitAll()
	t := translator{c: c, cl: cl, to: c.choice(c.root.Get("to"), "to", toWords...)}
	spelling := c.root.Get("spelling")
	switch {
	case t.to == toFuture:
		t.spelling = c.choice(spelling, "spelling", futureSpelling...)
	case t.to == toDraft:
		t.spelling = c.choice(spelling, "spelling", draftSpelling...)
	case given(spelling):
		c.forbidden(spelling, "spelling", t.to+" has one spelling; it counts with to: "+toFuture+" or "+toDraft)
	}
	if len(all) > 1 && t.to == toKubernetes {
		for i := range all {
			if owned := all[i].template; owned != nil && owned.ExitCodeOf != "" || all[i].again != nil {
				all = []loaded{c.one(all)} // each becomes a Job
				break
			}
		}
	}
	jobs := false
	for i := range all {
		jobs = jobs || !all[i].readable || all[i].object.Job != nil
	}
	if t.to == toDraft && len(all) > 0 && !jobs {
		c.forbidden(c.root.Get("to"), "to", "the draft is about Jobs; "+all[0].called())
	}
	if d := c.root.Get("decide"); given(d) && t.to != toKubernetes {
		c.forbidden(d, "decide", "counts with to: "+toKubernetes+" alone")
	}
	for _, name := range [...]string{"backoff", "runsFrom"} {
		if v := c.root.Get(name); given(v) && t.to != toKubernetes {
			c.forbidden(v, name, "counts with to: "+toKubernetes+" alone")
		}
	}
	c.readCallback(all, &cl)
	t.loops = c.choice(c.root.Get("runsFrom"), "runsFrom", "runs", "command") == "command"
	for i := range all {
		c.simulated(cl.node(), &all[i])
	}
	if c.failOnFaults() {
		return
	}
	for v := c.root.Get("backoff").First(); v.Exists(); v = v.Next() {
		t.lostWait(v)
	}
	for i := range all {
		if t.loops {
			t.eachContainer(&all[i], t.loop)
		}
		switch l := &all[i]; t.to {
		case toKubernetes:
			if t.shipped(l); l.template != nil && l.template.ExitCodeOf != "" {
				t.ownedJob(l)
			} else if l.again != nil {
				t.retriedJob(l)
			}
		case toAlwaysPod:
			t.alwaysPod(l)
		case toFuture:
			t.eachContainer(l, t.nested)
		default:
			if l.object.Job != nil {
				t.drafted(l)
			}
		}
	}
	t.answer(all, found)
}

// lostWait says that no manifest has the member v of backoff; a kubelet may have a longest wait.
func (t *translator) lostWait(v manifest.Value) {
	hint := ""
	if w := t.c.waits; w != nil && (v.Key() == "max" || v.Key() == "preset") && w.List == nil && w.Max >= policy.Second && w.Max <= 300*policy.Second {
		longest := millisText(w.Max)
		if seconds, whole := strings.CutSuffix(longest, "000ms"); whole {
			longest = seconds + "s"
		}
		hint = `{"kind":"KubeletConfiguration","crashLoopBackOff":{"maxContainerRestartPeriod":"` + longest + `"}}`
	}
	t.lose(child("backoff", v.Key()), lostWaits, hint)
}

// loop says of a container whose shell runs its program again and again that no policy does what
// the loop does, and which one comes near it.
func (t *translator) loop(l *loaded, ref policy.Ref) {
	path := l.object.Path(ref)
	at := t.c.man.At(path)
	_, _, retries := manifest.ReadCommand(at.Get("command"), at.Get("args"))
	if !retries {
		return
	}
	hint, script := "", ""
	for _, list := range [...]string{"command", "args"} {
		for v := at.Get(list).First(); v.Exists(); v = v.Next() {
			script = v.Text()
		}
	}
	switch {
	case strings.Contains(script, "break"), strings.Contains(script, "exit"): // it ends, and how is not read
	case strings.HasPrefix(script, "until "):
		hint = `{"restartPolicy":"OnFailure"}`
	case strings.HasPrefix(script, "while true") && ref.Kind == policy.MainContainer:
		hint = `{"restartPolicy":"Always"}`
	}
	t.lose(path+".command", lostLoop, hint)
}

// ownedJob writes the Job whose rules come to what the owner makes of exit codes.
func (t *translator) ownedJob(l *loaded) {
	t.lose("kind", lostOwner, "")
	at := l.template.Path
	replicas := "1"
	if v := t.c.man.At(at[:strings.LastIndexByte(at, '.')] + ".replicas"); v.Kind() == manifest.Number {
		replicas = string(v.Raw())
	}
	var low, high line
	for code := 1; code < codes; code++ {
		low.has[code], high.has[code] = code < firstSignal, code >= firstSignal
	}
	low.in, low.action, high.in, high.action = true, wishFailJob, true, wishIgnore
	p := planner{}
	t.job(`"completionMode":"Indexed","completions":`+replicas+`,"parallelism":`+replicas,
		p.ruleJSON(&low, "onExitCodes", l.template.ExitCodeOf)+","+p.ruleJSON(&high, "onExitCodes", l.template.ExitCodeOf))
	t.set(at+".spec.restartPolicy", `"Never"`)
	t.rewrite(&t.whole, t.c.man.At(at), at)
	t.whole.Parts("}")
	t.whole.End()
}

// job begins a Job, up to its template.
func (t *translator) job(spec, rules string) {
	w := &t.whole
	w.Object()
	w.Parts(`"apiVersion":"batch/v1","kind":"Job"`)
	some(w, t.c.man, func(name string) bool { return name == "metadata" })
	w.Parts(`,"spec":{`, spec)
	if rules != "" {
		w.Parts(`,"podFailurePolicy":{"rules":[`, rules, "]}")
	}
	w.Parts(`,"template":`)
}

// retriedJob writes the Job that comes near an Argo template with its retryStrategy: as many
// retries, and rules for the exits after which there is none.
func (t *translator) retriedJob(l *loaded) {
	t.lose("kind", lostOwner, "")
	r, at, limit := l.again, l.template.Path, "2147483647"
	t.counts = true
	if r.why != "" {
		t.lose(r.whyPath, lostCondition, "")
	}
	never := r.never != "" || r.once != ""
	if never {
		limit = "0"
	} else if r.limit > 0 {
		limit = strconv.FormatInt(r.limit, 10)
	}
	if !never {
		t.lose(r.path, lostWaits, "")
	}
	rules, open := "", r.transient
	p := planner{}
	t.eachContainer(l, func(l *loaded, ref policy.Ref) {
		fails := line{action: wishFailJob}
		n := 0
		for code := 1; code < codes; code++ {
			says := r.says(exit{ref: ref, code: int32(code)}, -1)
			open = open || says.why != ""
			if fails.has[code] = says.action == ownerFails; fails.has[code] {
				n++
			}
		}
		if fails.in = n <= codes/2; !fails.in {
			for code := range fails.has {
				fails.has[code] = !fails.has[code]
			}
		}
		if n > 0 && limit != "0" {
			if rules != "" {
				rules += ","
			}
			rules += p.ruleJSON(&fails, "onExitCodes", l.object.Spec.Container(ref).Name)
		}
	})
	if open && r.why == "" {
		t.lose(r.path, lostCondition, "")
	}
	main := l.object.Path(policy.Ref{})
	t.set(main+".name", `"`+manifest.ArgoMain+`"`)
	if source := main + ".source"; t.c.man.At(source).Exists() {
		t.remove(source)
		t.lose(source, lostScript, "")
	}
	t.job(`"backoffLimit":`+limit, rules)
	w := &t.whole
	w.Parts(`{"spec":{"restartPolicy":"Never"`)
	for _, name := range [...]string{"activeDeadlineSeconds", "initContainers"} {
		if v := t.c.man.At(at + "." + name); given(v) {
			w.Parts(`,"`, name, `":`)
			t.rewrite(w, v, at+"."+name)
		}
	}
	w.Parts(`,"containers":[`)
	t.rewrite(w, t.c.man.At(main), main)
	for v := t.c.man.At(at + ".sidecars").First(); v.Exists(); v = v.Next() {
		t.rewrite(w, v, v.Path(t.c.man))
	}
	w.Parts("]}}}")
	w.End()
}

// sameEnd reports whether f and g are the same: where an owner of another kind made something of a
// failed Pod, whether the rules of a Job make the same of it.
func (t *translator) sameEnd(f, g *fate) bool {
	if t.whole.Len() == 0 {
		return f.comesTo(g)
	}
	makes, j := "", &g.job
	switch {
	case !j.judged:
	case j.match.Action == policy.ActionFailJob, j.outcome == jobFails:
		makes = ownerFails
	case j.match.Action == policy.ActionIgnore, t.counts:
		makes = ownerRetries
	default:
		makes = string(policy.ActionCount)
	}
	return f.ends() == g.ends() && f.owner.why == "" && f.owner.action == makes
}

// set makes what is at path value, JSON.
func (t *translator) set(path, value string) {
	t.changes = append(t.changes, edit{path: path, value: value})
}

func (t *translator) remove(path string) {
	if t.c.man.At(path).Exists() {
		t.set(path, "")
	}
}

func (t *translator) lose(path, because, hint string) {
	t.lost = append(t.lost, loss{path, because, hint})
}

// text is what is at path.
func (t *translator) text(path string) string { return t.c.man.At(path).Text() }

func (t *translator) eachContainer(l *loaded, f func(l *loaded, ref policy.Ref)) {
	for _, kind := range containerOrder {
		for i := range l.object.Spec.List(kind) {
			f(l, policy.Ref{Kind: kind, Index: i})
		}
	}
}

// shipped puts what proposals and drafts add to l into the words of releases.
func (t *translator) shipped(l *loaded) {
	o := &l.object
	at := o.SpecPath + "restartPolicy"
	if o.Job != nil && t.text("apiVersion") == "v1" {
		t.set("apiVersion", `"batch/v1"`)
	}
	switch word := t.text(at); word {
	case string(policy.RestartPolicyAlwaysPod):
		t.set(at, `"Always"`)
		p := t.cl.node().features.Proposals
		if p.Reading(policy.OptionWait) == 0 {
			t.lose(at, lostWaits, "")
		}
		if p.Reading(policy.OptionSandbox) == 1 {
			t.lose(at, lostSandbox, "")
		}
	case string(policy.RestartPolicyAlways):
		if o.Job != nil {
			t.set(at, `"OnFailure"`)
			t.lose(at, lostSuccess, "")
		}
	default:
		t.paced(at, word)
	}
	if at := o.SpecPath + "maxRestartTimes"; t.c.man.At(at).Exists() {
		t.remove(at)
		t.lose(at, lostLimit, "")
	}
	if at := o.SpecPath + "podFailurePolicy"; t.c.man.At(at).Exists() {
		t.remove(at)
		t.lose(at, lostNoJob, "")
	}
	t.eachContainer(l, t.shippedRules)
	if o.Job == nil {
		return
	}
	p := o.Job.PodFailurePolicy
	switch at := l.jobPath("podFailurePolicy"); {
	case p != nil && p.Draft:
		t.failurePolicy(l, p)
	case p == nil:
	case o.Spec.RestartPolicy != policy.RestartPolicyNever && l.template == nil:
		t.remove(at)
		t.lose(at, lostNever, "")
	default:
		for i := range p.Rules {
			if r := &p.Rules[i]; r.Written != nil {
				t.set(element(l.rulesPath(), i)+".onPodConditions", rulesText(len(r.OnPodConditions), func(i int) string {
					c := &r.OnPodConditions[i]
					return `{"type":` + quotedText(c.Type) + `,"status":` + quotedText(c.Status) + `}`
				}))
			}
		}
	}
	t.remove(l.jobPath("backoffPolicy"))
}

// paced makes a policy with waits of its own Always.
func (t *translator) paced(at, word string) {
	switch word {
	case string(policy.RestartPolicyRapid), string(policy.RestartPolicyFastOnSuccess):
		t.set(at, `"Always"`)
		t.lose(at, lostWaits, `{"kind":"KubeletConfiguration","crashLoopBackOff":{"maxContainerRestartPeriod":"60s"}}`)
	}
}

// shippedRules puts the rules of a container into the words of releases.
func (t *translator) shippedRules(l *loaded, ref policy.Ref) {
	c := l.object.Spec.Container(ref)
	at := pathsOf(&l.object, ref)
	own := at.container + ".restartPolicy"
	t.paced(own, t.text(own))
	whole := ref.Kind == policy.MainContainer && l.object.Spec.RestartPolicy == policy.RestartPolicyAlwaysPod && c.RestartPolicy == nil
	sidecar := c.IsSidecar(ref.Kind)
	changed, flat := whole, whole
	var kept []policy.ContainerRestartRule
	var from []string // their paths
	for i := range c.RestartPolicyRules {
		r := &c.RestartPolicyRules[i]
		path, _ := at.rule(i)
		why := ""
		switch act := string(r.Action); {
		case r.Restarts != nil:
			why = lostRestarts
		case r.OOMKilled:
			why = lostOOM
		case act == "Complete", act == "TerminatePod", act == "RestartPod", act == "Terminate" && sidecar:
			why = lostAction
		}
		flat = flat || why == "" && (r.Action == policy.ActionTerminate || r.From != "")
		changed = changed || flat || why != "" || r.Spelling != ""
		if why != "" {
			t.lose(path, why, "")
			continue
		}
		kept, from = append(kept, *r), append(from, path)
	}
	p := t.cl.node().features.Proposals
	policies := len(c.RestartPolicyRules) > 0 && (c.RestartPolicy == nil || p.Has(policy.KEP5307Future) && p.Reading(policy.OptionFallback) == 1 && !sidecar)
	if ref.Kind == policy.EphemeralContainer || !changed && !policies {
		return
	}
	if flat {
		for i := range kept {
			if r := &kept[i]; strange(r) || r.Action != policy.ActionTerminate && r.Action != policy.ActionRestart && r.Action != policy.ActionRestartAllContainers {
				t.lose(from[i], lostAction, "")
			}
		}
		t.flatten(l, ref, at, kept)
		return
	}
	if len(kept) == 0 {
		t.remove(at.rules)
	} else if changed {
		t.set(at.rules, rulesText(len(kept), func(i int) string {
			r := &kept[i]
			if strange(r) {
				return string(t.c.man.At(from[i]).Raw())
			}
			return `{"action":` + quotedText(string(r.Action)) + `,"exitCodes":` + exitCodesText(r.ExitCodes) + `}`
		}))
	}
	if policies && len(kept) > 0 {
		word := l.object.Spec.RestartPolicy
		if word == "" {
			word = policy.RestartPolicyAlways
		}
		if ref.Kind == policy.InitContainer && word != policy.RestartPolicyNever {
			word = policy.RestartPolicyOnFailure // Always would make it a sidecar
		}
		t.set(own, `"`+string(word)+`"`)
	}
}

// strange reports whether the condition of r is one that nobody knows: it stays as it is.
func strange(r *policy.ContainerRestartRule) bool {
	on := r.ExitCodes
	return on == nil || on.Operator != policy.OperatorIn && on.Operator != policy.OperatorNotIn
}

// rulesText is a list of n rules.
func rulesText(n int, rule func(i int) string) string {
	text := "["
	for i := range n {
		if i > 0 {
			text += ","
		}
		text += rule(i)
	}
	return text + "]"
}

func exitCodesText(on *policy.ContainerRestartRuleOnExitCodes) string {
	return `{"operator":"` + string(on.Operator) + `","values":` + valuesText(on.Values) + `}`
}

func valuesText(values []int32) string {
	return rulesText(len(values), func(i int) string { return strconv.Itoa(int(values[i])) })
}

// flatten writes the fewest rules by which a container does what kept and its policies lead to, for
// each code: what has no form of its own may have one as a whole.
func (t *translator) flatten(l *loaded, ref policy.Ref, at paths, kept []policy.ContainerRestartRule) {
	spec := l.object.Spec
	container := *spec.Container(ref)
	container.RestartPolicyRules = kept
	lists := [...]*[]policy.Container{&spec.Containers, &spec.InitContainers}
	list := append([]policy.Container(nil), *lists[ref.Kind]...)
	list[ref.Index] = container
	*lists[ref.Kind] = list
	spec.MaxRestartTimes = nil
	compiled := policy.Compile(&spec, t.cl.node().features)
	var target [codes]uint8
	named := [wishStop + 1]bool{}
	for code := range target {
		switch d := compiled.Decide(ref, policy.Exit{Code: int32(code)}); {
		case d.Action == policy.Restart:
			target[code] = wishRestart
		case d.Action.Whole():
			target[code] = wishRestartAll
		default:
			target[code] = wishStop
		}
		named[target[code]] = true
	}
	rest, word := wishStop, "Never"
	if container.IsSidecar(ref.Kind) {
		rest, word = wishRestart, "Always"
	}
	var wishes []uint8
	for x := wishRestart; x <= wishRestartAll; x++ {
		if named[x] && x != rest {
			wishes = append(wishes, x)
		}
	}
	lines := shortest(wishes, func(x uint8, code int) int {
		switch {
		case code == 0 && ref.Kind == policy.InitContainer && rest == wishStop:
			return 0
		case target[code] != x:
			return -1
		}
		return 1
	}, spec.Windows, 0)
	p := planner{}
	t.set(at.container+".restartPolicy", `"`+word+`"`)
	if len(lines) == 0 {
		t.remove(at.rules)
		return
	}
	t.set(at.rules, rulesText(len(lines), func(i int) string { return p.ruleJSON(&lines[i], "exitCodes", "") }))
}

// failurePolicy puts a backoffPolicy into the words of a podFailurePolicy.
func (t *translator) failurePolicy(l *loaded, p *policy.PodFailurePolicy) {
	if p.Never {
		t.set(l.object.SpecPath+"restartPolicy", `"Never"`)
	}
	var rules []string
	for i := range p.Rules {
		r := &p.Rules[i]
		path := element(l.rulesPath(), i)
		head := `{"action":"` + string(r.Action) + `",`
		if r.Reasons != nil {
			t.lose(path, lostReason, head+`"onPodConditions":[{"type":"`+disruptionTarget+`","status":"True"}]}`)
			continue
		}
		on := *r.OnExitCodes
		values := on.Values
		in := on.Operator == policy.OperatorIn
		if zero := len(values) > 0 && values[0] == 0; zero && (in || len(values) > 1) {
			values = values[1:]
			if in && p.Zero {
				t.lose(path, lostZero, "")
			}
		} else if !in && !zero && p.Zero {
			t.lose(path, lostZero, "")
		}
		if in && len(values) == 0 || !in && len(values) == codes-1 {
			continue // it matches nothing that a Job looks at
		}
		if len(values) == 0 {
			values = []int32{0} // a list has to have a value
		}
		head += `"onExitCodes":{`
		if on.ContainerName != nil {
			head += `"containerName":` + quotedText(*on.ContainerName) + `,`
		}
		rules = append(rules, head+`"operator":"`+string(on.Operator)+`","values":`+valuesText(values)+`}}`)
	}
	if len(rules) > 0 {
		t.set(l.jobPath("podFailurePolicy"), `{"rules":`+rulesText(len(rules), func(i int) string { return rules[i] })+`}`)
	}
}

func quotedText(s string) string { return string(manifest.AppendQuoted(nil, s)) }

// nested puts the conditions of a container's rules into those of a draft.
func (t *translator) nested(l *loaded, ref policy.Ref) {
	c := l.object.Spec.Container(ref)
	rules := pathsOf(&l.object, ref).rules
	if len(c.RestartPolicyRules) == 0 || ref.Kind == policy.EphemeralContainer || c.RestartPolicyRules[0].From != "" {
		return
	}
	t.set(rules, rulesText(len(c.RestartPolicyRules), func(i int) string {
		r := &c.RestartPolicyRules[i]
		text := `{"action":` + quotedText(string(r.Action)) + `,`
		switch {
		case r.Restarts != nil:
			return text + `"when":{"restartTimes":` + strconv.Itoa(int(*r.Restarts)) + `}}`
		case r.OOMKilled:
			return text + `"when":{"oomKilled":true}}`
		case strange(r):
			return string(t.c.man.At(element(rules, i)).Raw())
		case t.spelling == "onExitCodes":
			return text + `"onExitCodes":` + exitCodesText(r.ExitCodes) + `}`
		}
		return text + `"` + t.spelling + `":{"exitCodes":` + exitCodesText(r.ExitCodes) + `}}`
	}))
}

// alwaysPod makes a Pod whose containers restart it as a whole one with restartPolicy AlwaysPod.
func (t *translator) alwaysPod(l *loaded) {
	spec := &l.object.Spec
	compiled := policy.Compile(spec, t.cl.node().features)
	var whole []int
	for i := range spec.Containers {
		all := true
		for code := range int32(codes) {
			d := compiled.Decide(policy.Ref{Index: i}, policy.Exit{Code: code})
			all = all && d.Action == policy.RestartAllContainers
		}
		if all {
			whole = append(whole, i)
		}
	}
	if len(whole) == 0 || spec.RestartPolicy == policy.RestartPolicyAlwaysPod || spec.RestartPolicy == policy.RestartPolicyNever {
		return
	}
	at := l.object.SpecPath + "restartPolicy"
	word := spec.RestartPolicy
	if word == "" {
		word = policy.RestartPolicyAlways
	}
	for i := range spec.Containers {
		path := l.object.Path(policy.Ref{Index: i})
		if len(whole) > 0 && whole[0] == i {
			whole = whole[1:]
			t.remove(path + ".restartPolicy")
			t.remove(path + ".restartPolicyRules")
		} else if spec.Containers[i].RestartPolicy == nil {
			t.set(path+".restartPolicy", `"`+string(word)+`"`)
		}
	}
	t.set(at, `"AlwaysPod"`)
	if t.cl.node().features.Proposals.Reading(policy.OptionWait) == 0 {
		t.lose(at, lostWaits, "") // RestartAllContainers waits for nothing
	}
}

// drafted puts the rules of a Job into those of the draft.
func (t *translator) drafted(l *loaded) {
	p := l.object.Job.PodFailurePolicy
	if p == nil {
		return
	}
	var rules []string
	for i := range p.Rules {
		r := &p.Rules[i]
		path := element(l.rulesPath(), i)
		action := "Ignore"
		switch {
		case r.Action == policy.ActionFailJob:
			action = "Terminate"
		case r.Action != policy.ActionIgnore, r.OnExitCodes != nil && r.OnExitCodes.Operator != policy.OperatorIn && r.OnExitCodes.Operator != policy.OperatorNotIn:
			t.lose(path, lostAction, "")
			continue
		}
		head := `{"action":"` + action + `",`
		switch on := r.OnExitCodes; {
		case on != nil:
			operator, ranges := string(on.Operator), rangesText(on.Values)
			if ranges == "" {
				if on.Operator == policy.OperatorIn {
					continue // it matches nothing
				}
				operator, ranges = "In", "0-255"
			}
			name := ""
			if on.ContainerName != nil {
				name = `"containerName":` + quotedText(*on.ContainerName) + `,`
			}
			rules = append(rules, head+t.condition(name, "onContainerExitCode", "value", "containerExitCode", []string{operator}, []string{ranges})+`}`)
		case r.Reasons != nil:
			var operators, values []string
			for k := range r.Reasons {
				x := &r.Reasons[k]
				operators = append(operators, string(x.Operator))
				values = append(values, rulesText(len(x.Values), func(i int) string { return quotedText(x.Values[i]) }))
			}
			rules = append(rules, head+t.condition("", "onPodStatus", "reason", "podStatusReason", operators, values)+`}`)
		default:
			t.lose(path, lostConditions, head+`"podStatusReasonIn":["Evicted","Preemption"]}`)
		}
	}
	t.remove(l.jobPath("podFailurePolicy"))
	t.set(l.jobPath("backoffPolicy"), `{"rules":`+rulesText(len(rules), func(i int) string { return rules[i] })+`}`)
}

// condition writes conditions in a spelling of the draft: within is the object that groups them,
// short the beginning of their names there, and flat that of the names in the rule itself. name is
// the container's, as a member. Several conditions together have one spelling.
func (t *translator) condition(name, within, short, flat string, operators, values []string) string {
	quote := func(v string) string { return v }
	if short == "value" {
		quote = func(v string) string { return `"` + v + `"` }
	}
	text := name
	switch {
	case t.spelling == "expressions" || len(values) > 1:
		list := rulesText(len(values), func(i int) string {
			v := quote(values[i])
			if short == "value" {
				v = "[" + v + "]"
			}
			return `{"operator":"` + operators[i] + `","values":` + v + `}`
		})
		return `"` + within + `":{` + text + `"` + short + `Expressions":` + list + `}`
	case t.spelling == "flat":
		return text + `"` + flat + operators[0] + `":` + quote(values[0])
	}
	text = `"` + within + `":{` + text + `"` + short + operators[0] + `":` + quote(values[0]) + `}`
	if t.spelling == "condition" {
		text = `"condition":{` + text + `}`
	}
	return text
}

// rangesText is a list of codes as the draft writes it: 1-3,7.
func rangesText(values []int32) string {
	var has [codes]bool
	for _, v := range values {
		if uint32(v) < codes {
			has[v] = true
		}
	}
	text := ""
	for code := 0; code < codes; code++ {
		if !has[code] {
			continue
		}
		if text != "" {
			text += ","
		}
		text += strconv.Itoa(code)
		from := code
		for code+1 < codes && has[code+1] {
			code++
		}
		if code > from {
			text += "-" + strconv.Itoa(code)
		}
	}
	return text
}

// rewrite writes v, which is at path of the manifest, with the changes in it.
func (t *translator) rewrite(w *manifest.Writer, v manifest.Value, path string) {
	below := false
	for i := range t.changes {
		at := t.changes[i].path
		below = below || strings.HasPrefix(at, path) && (path == "" || len(at) > len(path) && (at[len(path)] == '.' || at[len(path)] == '['))
	}
	if k := v.Kind(); !below || k != manifest.Object && k != manifest.Array {
		w.Raw(v.Raw())
		return
	}
	if v.Kind() == manifest.Array {
		w.Array()
		i := 0
		for e := v.First(); e.Exists(); e = e.Next() {
			t.rewrite(w, e, element(path, i))
			i++
		}
		w.End()
		return
	}
	w.Object()
	for m := v.First(); m.Exists(); m = m.Next() {
		at := child(path, m.Key())
		x := t.change(at)
		switch {
		case x == nil:
			w.NameOf(m)
			t.rewrite(w, m, at)
		case x.value != "":
			w.NameOf(m)
			w.Raw([]byte(x.value))
		}
	}
	for i := range t.changes {
		x := &t.changes[i]
		dot := strings.LastIndexByte(x.path, '.')
		if name := x.path[dot+1:]; x.path[:max(dot, 0)] == path && x.value != "" && !v.Get(name).Exists() {
			w.KeyRaw(name, []byte(x.value))
		}
	}
	w.End()
}

// change is that of what is at path, nil for none.
func (t *translator) change(path string) *edit {
	for i := range t.changes {
		if t.changes[i].path == path {
			return &t.changes[i]
		}
	}
	return nil
}

// world writes the cluster of the translated manifest: that of the request without proposals, or
// with the one whose words it now has.
func (t *translator) world(w *manifest.Writer, v manifest.Value, node bool) {
	w.Object()
	proposals := v.Get("proposals")
	for m := v.First(); m.Exists(); m = m.Next() {
		switch name := m.Key(); {
		case name == "proposals":
		case name == "kubelet" && m.Kind() == manifest.Object:
			w.Key(name)
			t.world(w, m, true)
		case name == "featureGates" && m.Kind() == manifest.Object && t.to == toKubernetes:
			w.KeyObject(name)
			for g := m.First(); g.Exists(); g = g.Next() {
				if _, own := policy.ProposalGate(g.Key()); !own {
					w.KeyRaw(policy.DraftGate(g.Key()), g.Raw())
				}
			}
			w.End()
		default:
			w.NameOf(m)
			w.Raw(m.Raw())
		}
	}
	if t.to != toKubernetes && !node {
		w.KeyObject("proposals")
		for m := proposals.First(); m.Exists(); m = m.Next() {
			if m.Key() != t.to {
				w.NameOf(m)
				w.Raw(m.Raw())
			}
		}
		w.Key(t.to)
		if own := proposals.Get(t.to); own.Exists() {
			w.Raw(own.Raw())
		} else {
			w.Object()
			w.End()
		}
		w.End()
	}
	w.End()
}

// answer writes the manifest, and what it leads to.
func (t *translator) answer(all []loaded, found loaded) {
	c := t.c
	man := t.whole
	if man.Len() == 0 {
		t.rewrite(&man, c.man, "")
	}
	var request manifest.Writer
	request.Object()
	some(&request, c.root, func(name string) bool {
		return name == "fieldValidation" || name == "templatePath" && t.whole.Len() == 0
	})
	request.Key("cluster")
	t.world(&request, c.root.Get("cluster"), false)
	request.Key("manifest")
	request.Raw(man.Bytes())
	request.End()
	other := c.memory.within().begin(request.Bytes())
	var cl cluster
	var after []loaded
	var faults []located
	var judged loaded
	if other.failure == nil {
		cl, after, judged = other.admitAll()
		faults = judged.faults
	}
	if other.failure != nil {
		c.failWith(other.failure.code, "the translated manifest: "+other.failure.message)
		return
	}
	if other.faults.n > len(faults) { // about the cluster, such as a gate that only a proposal has
		faults = other.faults.kept
	}
	w := &c.w
	w.Object()
	w.KeyWord("to", t.to)
	optional(w, "spelling", t.spelling)
	w.KeyRaw("manifest", man.Bytes())
	w.KeyBool("changed", len(t.changes) > 0)
	w.KeyBool("accepted", len(faults) == 0)
	if len(faults) > 0 {
		for i := range faults {
			faults[i].offset = -1 // in a text that nobody sees
		}
		w.Key("faults")
		other.writeFaults(w, faults, 0)
	}
	if len(judged.dropped) > 0 {
		w.KeyArray("droppedThen")
		for _, x := range judged.dropped {
			w.Object()
			w.KeyString("path", x.Path)
			w.KeyString("gate", x.Gate)
			w.End()
		}
		w.End()
	}
	t.writeLost()
	if len(faults) == 0 {
		t.compare(all, after, cl)
	}
	if c.failure != nil {
		return
	}
	c.writeDropped(found.dropped)
	c.writeWarnings(found.warnings)
	c.writeReadings(all, nil, &t.cl, nil)
	c.writeCluster(t.cl)
	w.End()
}

// writeLost writes what the other words cannot say, and why.
func (t *translator) writeLost() {
	w := &t.c.w
	w.KeyArray("lost")
	for _, x := range t.lost {
		w.Object()
		w.KeyString("path", x.path)
		w.KeyWord("because", x.because)
		if x.hint != "" {
			w.KeyRaw("hint", []byte(x.hint))
		}
		if offset := t.c.place(x.path); offset >= 0 && t.c.man.At(x.path).Exists() {
			t.c.position(w, offset)
		}
		w.End()
	}
	w.End()
}

// compare writes whether the tables of before and after agree, and where not.
func (t *translator) compare(before, after []loaded, cl cluster) {
	c, steps, exits := t.c, 0, 0
	w := &c.w
	w.KeyArray("differences")
	n := 0
	for i := range before {
		was, is := newAsked(&before[i], t.cl), newAsked(&after[i], cl)
		list := exitsOf(&before[i], 0)
		for _, e := range list {
			was.steps, is.steps = 0, 0
			a, b := was.tableOf(e, false), is.tableOf(e, false)
			if steps += was.steps + is.steps + 2*codes; !c.withinSteps(steps) {
				return
			}
			name := before[i].object.Spec.Container(e.ref).Name
			k, m := t.differences(&a, &b, name, was.judge, is.judge)
			exits += k
			n += m
		}
	}
	w.End()
	w.KeyInt("compared", int64(exits))
	w.KeyBool("tablesAgree", n == 0)
	w.KeyBool("equivalent", n == 0 && len(t.lost) == 0)
}

// differences writes the ranges of codes that come to something else in b than in a. exits is how
// many were compared.
func (t *translator) differences(a, b *containerTable, name string, was, is *jobJudge) (exits, n int) {
	w := &t.c.w
	bounds := []uint32{0}
	for _, r := range a.restarts {
		bounds = append(bounds, r.from)
	}
	for k, from := range bounds {
		if k == 1 {
			continue // the first of the ranges is the table itself
		}
		x, y := a.after(from), b.after(from)
		killed := false
		write := func(first, last int32, f, g *fate) {
			writeFromTo(w, first, last)
			w.KeyString("container", name)
			if len(a.restarts) > 0 {
				w.KeyInt("restarts", int64(from))
			}
			if killed {
				w.KeyWord("reason", oomKilled)
			}
			w.Key("was")
			writeEnd(w, f, was)
			w.Key("becomes")
			writeEnd(w, g, is)
			w.End()
		}
		across(x.beyond, y.beyond, func(from, to int32, f, g *fate) {
			if exits++; !t.sameEnd(f, g) {
				n++
				write(from, to, f, g)
			}
		})
		for _, killed = range [...]bool{false, true} {
			for code := int32(0); code < codes; code++ {
				f, g := x.fate(code, killed), y.fate(code, killed)
				if killed && f == x.fate(code, false) && g == y.fate(code, false) {
					continue
				}
				if exits++; t.sameEnd(f, g) {
					continue
				}
				n++
				first := code
				for code+1 < codes && x.fate(code+1, killed) == f && y.fate(code+1, killed) == g {
					code++
					exits++
				}
				write(first, code, f, g)
			}
		}
	}
	return exits, n
}

// after returns the rows after so many restarts.
func (t *containerTable) after(restarts uint32) *rows {
	r := &t.rows
	for i := range t.restarts {
		if t.restarts[i].from <= restarts {
			r = &t.restarts[i].rows
		}
	}
	return r
}

// fate returns what an exit leads to; killed says that it was for lack of memory.
func (r *rows) fate(code int32, killed bool) *fate {
	list := r.ranges
	if killed && r.killed != nil {
		list = r.killed
	} else if killed && code == 0 && r.oom != nil {
		return r.oom
	}
	i := 0
	for list[i].to < code {
		i++
	}
	return list[i].fate
}
