package words

import (
	"strings"

	"github.com/podfate/podfate/policy/manifest"
)

// decide puts into words what happens after each exit, what a Job does about it, and how a Job
// treats its Pods.
func (d *document) decide() {
	a := d.Answer
	decisions := a.Get("decisions")
	d.within = text(decisions.First(), "template")
	switch {
	case decisions.Len() == 1:
		d.oneExit(decisions.First())
	case decisions.Len() > 1:
		d.severalExits(decisions)
	default:
		d.judgedJob(a.Get("jobDecision"))
	}
	d.blocks(func() {
		if decisions.Len() == 1 {
			e := decisions.First()
			job := d.jobCard(e.Get("job"))
			if f := e.Get("failure"); f.Exists() {
				job.head.path = text(f, "path")
				job.head.reason = "the podFailurePolicy says " + text(f, "action") + ", but nothing acts on it or replaces this Pod"
			}
			d.ownerCard(e, &job)
			d.layers(d.containerCard(e), d.podCard(e), job)
		}
		d.exitRows()
		if decisions.Len() > maxExplained {
			d.exits(decisions)
		}
		explained := 0
		for e := decisions.First(); e.Exists() && explained < maxExplained; e = e.Next() {
			d.within = text(e, "template")
			d.items("steps", d.traceTitle(e, decisions.Len()), d.steps(e))
			d.items("steps", "What the Job does about it", d.jobSteps(e))
			if owner := (card{}); decisions.Len() > 1 { // of one exit a layer says it
				if d.ownerCard(e, &owner); owner.title != "" {
					owner.head.tone, owner.head.mark = Stop, "note"
					d.items("list", owner.title, []item{owner.head})
				}
			}
			explained++
		}
		d.jobPods(a.Get("podDecisions"))
		if e := decisions.First(); decisions.Len() == 1 {
			d.offers(d.offer(e, text(e, "container"), number(e, "exitCode"), text(e, "template")))
		}
		d.assumptions()
		d.checks()
	})
}

// ownerCard says what the owner of another kind does about the failed Pod.
func (d *document) ownerCard(e manifest.Value, c *card) {
	o := e.Get("owner")
	if !o.Exists() {
		return
	}
	why := [...]string{"restartPolicy ExitCode: the code is 128 or more", "restartPolicy ExitCode: the code is below 128"}
	c.title = "Owner (operator)"
	if path := text(o, "path"); path != "" {
		name := path[strings.LastIndexByte(path, '.')+1:]
		c.title, c.head.path, why = "Owner (controller)", path, [...]string{name + ": each time", name}
		if has(o, "limit") {
			why[0] = name + ": at most " + count(number(o, "limit"), "time")
		}
		if name == "retryStrategy" {
			why[1] = "there is no retryStrategy"
		}
	}
	c.head.text, c.head.reason = ownerText(o), why[1]
	if text(o, "action") == "Retry" {
		c.head.reason = why[0]
	} else if u := text(o, "undecided"); u != "" {
		c.head.reason = phrase(u)
	} else if !has(o, "path") && text(o, "action") == "Succeed" {
		c.title, c.head.reason = "Owner (controller)", "a daemon, or a sidecar that was killed"
	}
}

// ownerText says what owner o does about a failed Pod.
func ownerText(o manifest.Value) string {
	switch text(o, "action") {
	case "Retry":
		return "the Pod is recreated"
	case "Fail":
		if has(o, "path") {
			return "the node of the workflow fails"
		}
		return "the replica fails"
	case "Succeed":
		return "the failure is ignored"
	}
	return "undecided"
}

// maxExplained bounds the exits, and the Pods of a Job, whose rules are listed one by one.
const maxExplained = 20

// exits lists exits that are too many to be explained one by one.
func (d *document) exits(list manifest.Value) {
	var rows []row
	for e := list.First(); e.Exists() && len(rows) < MaxItems; e = e.Next() {
		tone, _, word := outcome(e)
		why := ""
		if word != "undecided" {
			why = d.byWhat(e)
		}
		rows = append(rows, row{at: -1, tone: tone, path: d.decider(e),
			cells: []string{short(text(e, "container")) + d.in(e), codeText(e), word, why}})
	}
	d.table("Exits", []column{{name: "Container"}, {"Exit", true}, {name: "What happens"}, {name: "Why"}}, rows, list.Len()-len(rows))
}

// exitText is "main exits with 137 (OOMKilled)".
func exitText(e manifest.Value) string {
	return short(text(e, "container")) + " exits with " + codeText(e)
}

// codeText is the exit code, with its reason if there is one that says more than the code.
func codeText(e manifest.Value) string {
	code := itoa(number(e, "exitCode"))
	switch reason := text(e, "reason"); reason {
	case "", "Error", "Completed":
		return code
	default:
		return code + " (" + short(reason) + ")"
	}
}

// byWhat says who decided: rule 0; restartPolicy Never of the Pod.
func (d *document) byWhat(e manifest.Value) string {
	by := e.Get("decidedBy")
	switch text(by, "level") {
	case "rule":
		return "rule " + itoa(number(by, "rule"))
	case "default":
		if text(e, "because") == "policy_always" {
			return "restartPolicy is Always by default"
		}
	}
	return d.because(text(e, "because"), text(by, "path"))
}

// because is the phrase for a code, which proposals give to more policies than Always.
func (d *document) because(code, path string) string {
	if policy := d.man.At(path).Text(); code == "policy_always" && policy != "" && policy != "Always" {
		return "restartPolicy is " + short(policy) + ", which restarts it as Always does"
	}
	return phrase(code)
}

// outcome is the tone, the mark and the word of an action.
func outcome(e manifest.Value) (tone, mark, word string) {
	if e.Get("undecided").Exists() {
		return Stop, "undecided", "undecided"
	}
	switch action := text(e, "action"); action {
	case "Restart":
		return Run, "restart", action
	case "RestartAllContainers", "RestartPod":
		return All, "restartall", action
	case "Complete":
		return OK, "stop", action
	case "TerminatePod":
		return Fail, "failed", action
	default:
		if number(e, "exitCode") == 0 {
			return OK, "stop", action
		}
		return Stop, "stop", action
	}
}

// means says what an action brings about for the container, and for a Pod without a Job that ends
// with it.
func (d *document) means(e manifest.Value) string {
	switch u := text(e.Get("undecided"), "reason"); {
	case u != "":
		return sentence(phrase(u)) + " Choose a version to get its kubelet's answer."
	case text(e, "action") == "TerminatePod":
		return "The Pod fails: whatever else runs in it is killed, with its grace period, and nothing is started again."
	case e.Get("podFails").Bool():
		return "It stays terminated, and " + fails(e, number(e, "exitCode") == 0) + ": an init container did not succeed."
	case text(e, "because") == "init_completed":
		return "Its work is done: the next container starts."
	}
	switch text(e, "action") {
	case "Restart":
		if d.restarted(e) {
			return "The kubelet starts it again in the same Pod, after a wait that grows with each restart (back-off)."
		}
		return "The kubelet starts it again in the same Pod: the first time immediately, then after waits that grow (back-off)."
	case "RestartAllContainers":
		return "Every container of the Pod is stopped and started again, init containers first."
	case "RestartPod":
		return "The whole Pod is started again, init containers first."
	case "Complete":
		return "It stays terminated, and counts as successful."
	}
	switch card := d.podCard(e); {
	case job(e).Exists() || !d.onlyOne(e):
	case card.head.mark == "failed":
		return "It stays terminated, and the Pod fails."
	case card.head.mark == "succeeded":
		return "It stays terminated, and the Pod succeeds."
	}
	return "It stays terminated."
}

// restarted reports whether the question says that the container of e was restarted before: the
// exit does, or the status of a live Pod.
func (d *document) restarted(e manifest.Value) bool {
	status := d.man.Get("status")
	for _, list := range [...]string{"containerStatuses", "initContainerStatuses"} {
		for s := status.Get(list).First(); s.Exists(); s = s.Next() {
			if text(s, "name") == text(e, "container") && number(s, "restartCount") > 0 {
				return true
			}
		}
	}
	return number(e, "restartCount") > 0
}

// stopped is what becomes of a Pod whose init container was killed for memory and ended with 0: for
// the kubelet it has failed, and the phase depends on the code.
//
// Source: isInitContainerFailed in pkg/kubelet/kuberuntime/helpers.go and getPhase in
// pkg/kubelet/kubelet_pods.go, Kubernetes v1.33 to v1.37.
const stopped = "the Pod is stopped"

// fails says what becomes of the Pod with an exit that ends it.
func fails(e manifest.Value, zero bool) string {
	if zero && text(e, "action") == "Stop" {
		return stopped
	}
	return "the Pod fails"
}

// oneExit writes the verdict about a single exit. For a Job, people ask what becomes of the Job.
func (d *document) oneExit(e manifest.Value) {
	tone, mark, word := outcome(e)
	v := item{
		tone: tone, mark: mark, reason: "by " + d.byWhat(e), path: d.decider(e),
		text: exitText(e) + ". " + d.means(e),
	}
	if text(e.Get("decidedBy"), "level") != "rule" {
		v.reason = "because " + d.byWhat(e)
	}
	title, own := short(text(e, "container"))+" exits "+codeText(e)+" → "+word, v.reason
	if u := e.Get("undecided"); u.Exists() {
		v.reason, v.path = "", text(u, "path")
	}
	if o := e.Get("owner"); has(o, "action") {
		v.text = exitText(e) + ". It stays terminated. Once the Pod has failed, " + ownerText(o) + "."
	}
	if j := job(e); j.Exists() && word != "undecided" {
		title = d.jobVerdict(&v, e, j, title)
	}
	v.source = d.sourceOf(e)
	if path := text(job(e), "path"); path != "" && v.reason != "" && v.reason != own {
		if v.path != "" {
			path = v.path
		}
		v.source = sourceOf("", path)
	}
	d.verdict(v, title)
}

// job is what a decision says about the Job; absent for a Pod without one.
func job(e manifest.Value) manifest.Value { return e.Get("job") }

// decider is the path of what decided, "" where the manifest has nothing there: a default is
// nowhere.
func (d *document) decider(e manifest.Value) string {
	path := d.owned(text(e.Get("decidedBy"), "path"))
	if path == "" || !d.man.At(path).Exists() {
		return ""
	}
	return path
}

// owned returns the path of the field that replaces the one at path, a template's restartPolicy that
// its owner does not look at, or else path.
func (d *document) owned(path string) string {
	for t := d.Answer.Get("templates").First(); t.Exists(); t = t.Next() {
		if own := text(t, "restartPolicyPath"); own != "" && path == text(t, "path")+".spec.restartPolicy" {
			return own
		}
	}
	return path
}

func (d *document) sourceOf(e manifest.Value) source {
	code := text(e, "because")
	if has(e.Get("decidedBy"), "proposal") {
		return source{}
	}
	if text(e, "action") == "RestartAllContainers" {
		return restartAllPage
	}
	return sourceOf(code, text(e.Get("decidedBy"), "path"))
}

// jobVerdict turns the verdict about a container into that about its Job, where the exit reaches
// it.
func (d *document) jobVerdict(v *item, e, job manifest.Value, title string) string {
	exit := short(text(e, "container")) + " exits " + codeText(e)
	path, by := d.jobBy(job)
	switch {
	case strings.HasSuffix(path, "]"):
		by = "by " + by
	case by != "":
		by = "because " + by
	}
	others, ended := "", "The Pod fails"
	if !d.onlyOne(e) {
		others = " once the other containers have exited with 0"
		if !strings.Contains(text(e.Get("trace").First(), "path"), "initContainers[") {
			ended = "Once its other containers have ended, the Pod fails"
		}
	}
	switch text(job, "outcome") {
	case "Fails":
		v.tone, v.mark = Fail, "failed"
		v.text = sentence(Visible(text(job, "message")))
		switch {
		case text(job, "podPhase") == "Running":
			v.text = "The restart in place reaches backoffLimit, and the controller deletes the Pod."
		case len(ended) > len("The Pod fails"):
			v.text = ended + ", and the Job with it: " + v.text
		}
		v.reason, v.path = join("; ", by, "reason "+text(job, "reason")), path
		return exit + " → the Job fails"
	case "Succeeds":
		v.tone, v.mark = OK, "succeeded"
		v.text = join(",", "The Pod succeeds, and the Job with it", others) + "."
		v.reason, v.path = "", ""
		return exit + " → the Job succeeds"
	}
	if u := job.Get("undecided"); u.Exists() {
		v.text += " What the Job does about it is undecided: " + phrase(text(u, "reason")) + "."
		return title
	}
	switch {
	case text(job, "podPhase") == "Succeeded":
		v.tone, v.mark = OK, "succeeded"
		v.text = "The Pod succeeds" + others + "; " + d.stillNeeded() + "."
		v.reason, v.path = "", ""
		return exit + " → the Pod succeeds"
	case text(job, "podPhase") != "Failed":
		if job.Get("counted").Bool() {
			v.text += " The restart counts towards " + d.limits(job) + "."
		}
		return title
	}
	v.path, v.reason = path, by
	switch {
	case job.Get("indexFails").Bool():
		v.tone, v.mark, v.text = Fail, "failed", ended+", and its index fails for good; the other indexes go on."
		return exit + " → the index fails"
	case job.Get("counted").Bool():
		v.tone, v.mark = Count, "counted"
		v.text = ended + ", the failure counts towards " + d.limits(job) + ", and after a back-off the Job creates a new Pod."
	default:
		v.tone, v.mark = Stop, "ignored"
		v.text = ended + ", the failure is not counted, and the Job creates a new Pod."
	}
	return exit + " → a new Pod"
}

// stillNeeded says what a Job still waits for when one of its Pods has succeeded.
func (d *document) stillNeeded() string {
	if d.man.At(d.jobPath() + "successPolicy").Exists() {
		return "the Job goes on until its completions or its successPolicy are met"
	}
	return "the Job needs more completions"
}

// severalExits counts the outcomes.
func (d *document) severalExits(list manifest.Value) {
	type kind struct {
		word string
		n    int64
	}
	kinds := []kind{{word: "Restart"}, {word: "RestartAllContainers"}, {word: "Stop"}, {word: "undecided"}}
	first, between := item{text: "Each exit is judged on its own."}, ", "
	for e := list.First(); e.Exists(); e = e.Next() {
		d.within = text(e, "template")
		if !d.onlyOne(e) {
			first.text = "Each exit is judged on its own, in a Pod whose other containers are running."
		}
		tone, mark, word := outcome(e)
		if job := e.Get("job"); job.Exists() {
			card := d.jobCard(job)
			word, between = word+", "+card.head.text, "; "
			if tone == Stop {
				tone, mark = card.head.tone, card.head.mark
			}
		}
		if first.tone == "" {
			first.tone, first.mark = tone, mark
		} else if first.tone != tone {
			first.tone, first.mark = Stop, "note"
		}
		i := 0
		for i < len(kinds) && kinds[i].word != word {
			i++
		}
		if i == len(kinds) {
			kinds = append(kinds, kind{word: word})
		}
		kinds[i].n++
	}
	var parts []string
	for _, k := range kinds {
		if k.n == 0 {
			continue
		}
		parts = append(parts, itoa(k.n)+" "+k.word)
	}
	d.verdict(first, itoa(int64(list.Len()))+" exits: "+strings.Join(parts, between))
}

// in names the template that e is about, where there are several.
func (d *document) in(e manifest.Value) string {
	if d.Answer.Get("templates").Len() > 1 {
		return " in " + Visible(text(e, "template"))
	}
	return ""
}

func (d *document) traceTitle(e manifest.Value, exits int) string {
	if exits == 1 {
		return "Why"
	}
	_, _, word := outcome(e)
	title := exitText(e) + d.in(e) + ": " + word
	if !e.Get("undecided").Exists() {
		title += ", "
		if text(e.Get("decidedBy"), "level") == "rule" {
			title += "by "
		} else {
			title += "because "
		}
		title += d.byWhat(e)
	}
	if e.Get("podFails").Bool() {
		title += "; " + fails(e, number(e, "exitCode") == 0)
	}
	if job := e.Get("job"); job.Exists() {
		title += "; " + d.jobCard(job).head.text
	}
	return title
}

// steps are the parts of the manifest that the kubelet looked at.
func (d *document) steps(e manifest.Value) (list []item) {
	code := number(e, "exitCode")
	level := text(e.Get("decidedBy"), "level")
	for s := e.Get("trace").First(); s.Exists(); s = s.Next() {
		i := d.step(s)
		quote, values := d.quote(i.path)
		i.quote = quote
		switch why := text(s, "code"); {
		case why == "in":
			i.reason = itoa(code) + " is in " + values
		case why == "not_in" && values != "":
			i.reason = itoa(code) + " is not in " + values
		case why == "not_set" && d.dropped(i.path):
			i.reason = "dropped by the API server"
		case why == "policy_always" && level == "default" && i.mark == "matched":
			i.reason = "without restartPolicy a Pod has Always"
		default:
			i.reason = d.because(why, i.path)
		}
		if ignored := text(s, "ignored"); ignored != "" {
			i.reason += ", but " + ignoredBecause(ignored)
		}
		if why := text(s, "code"); i.mark == "matched" && why != "in" && why != "not_in" {
			i.source = sourceOf(why, i.path)
		}
		list = append(list, i)
	}
	return list
}

// jobSteps are the rules of a podFailurePolicy as the Job controller looks at them when the Pod
// fails because of this exit alone.
func (d *document) jobSteps(e manifest.Value) (list []item) {
	j := job(e)
	restarted := !j.Get("action").Exists()
	if restarted && !j.Get("counted").Bool() {
		return nil // the Pod does not fail, or nobody knows
	}
	rules := d.rulesPath()
	matched := int64(-1)
	if has(j, "rule") {
		matched = number(j, "rule")
	}
	n := int64(0)
	for r := d.man.At(rules).First(); r.Exists() && n < MaxItems && !restarted; r = r.Next() {
		i := item{path: rules + "[" + itoa(n) + "]", quote: failureRule(r), source: failurePage}
		if i.text = ruleName(i.path); strings.Contains(rules, "backoffPolicy") {
			i.quote, i.source = draftRule(r), source{}
		}
		switch {
		case n == matched:
			i.mark, i.tone, i.reason = "matched", Run, d.ruleReason(r, e, true)
		case matched >= 0 && n > matched:
			i.mark, i.reason = "notreached", phrase("already_decided")
		default:
			i.mark, i.reason = "notmatched", d.ruleReason(r, e, false)
		}
		list = append(list, i)
		n++
	}
	for limit, left := "", d.limits(j); left != ""; {
		limit, left, _ = strings.Cut(left, " and ")
		name, n, _ := strings.Cut(limit, " ")
		i := item{path: d.jobPath() + name, text: name, quote: n, source: sourceOf("", name), mark: "matched", tone: Count, reason: "the failure counts"}
		if action := text(j, "action"); !j.Get("counted").Bool() || action == "FailJob" || action == "FailIndex" && name != "backoffLimit" {
			i.mark, i.tone, i.reason = "notreached", Neutral, phrase("already_decided")
		} else if restarted {
			i.reason = "the restart counts"
		}
		list = append(list, i)
	}
	return list
}

// ruleReason says why a rule about exit codes or conditions matches the exit, or does not.
func (d *document) ruleReason(r, e manifest.Value, matches bool) string {
	on := r.Get("onExitCodes")
	if on.Kind() != manifest.Object && !r.Get("onPodConditions").Exists() && strings.Contains(draftRule(r), "xitCode") {
		if matches {
			return "it matches " + itoa(number(e, "exitCode"))
		}
		return "it does not match " + itoa(number(e, "exitCode"))
	}
	if on.Kind() != manifest.Object {
		return phrase("no_such_condition")
	}
	if name := text(on, "containerName"); name != "" && name != text(e, "container") {
		return "it is about " + short(name)
	}
	in := "is not in "
	if matches == (text(on, "operator") == "In") {
		in = "is in "
	}
	return itoa(number(e, "exitCode")) + " " + in + quoteValues(on.Get("values"))
}

// step is a step without its reason.
func (d *document) step(s manifest.Value) item {
	i := item{path: d.owned(text(s, "path"))}
	i.text = ruleName(i.path)
	i.source = sourceOf("", i.path)
	switch text(s, "result") {
	case "matched":
		i.mark, i.tone = "matched", Run
	case "not_matched":
		i.mark = "notmatched"
	case "not_reached":
		i.mark = "notreached"
	default:
		i.mark = "skipped"
	}
	return i
}

// ignoredBecause says why a rule that matched does not decide.
func ignoredBecause(code string) string {
	switch code {
	case "unknown_action":
		return "this release does not know the action"
	case "gate_off":
		return "the gate RestartAllContainersOnContainerExits is off"
	case "sidecar":
		return "a sidecar is restarted anyway"
	case "init_completed":
		return "an init container that succeeded is not run again"
	case "restart_limit":
		return "the limit of restarts is reached"
	case "no_policy":
		return "rules count only if the container has a restartPolicy"
	}
	return phrase(code)
}

// dropped reports whether the API server drops the field at path.
func (d *document) dropped(path string) bool {
	for v := d.Answer.Get("dropped").First(); v.Exists(); v = v.Next() {
		if text(v, "path") == path {
			return true
		}
	}
	return false
}

// containerCard is the kubelet's layer.
func (d *document) containerCard(e manifest.Value) card {
	tone, mark, word := outcome(e)
	c := card{layer: "container", title: "Container (kubelet)", head: item{tone: tone, mark: mark, text: word, path: d.decider(e)}}
	if u := e.Get("undecided"); u.Exists() {
		c.head.path, c.head.reason = text(u, "path"), phrase(text(u, "reason"))
	} else {
		c.head.reason = exitText(e) + ": " + d.byWhat(e)
	}
	return c
}

// podCard is the layer of the Pod's phase.
func (d *document) podCard(e manifest.Value) card {
	c := card{layer: "pod", title: "Pod (phase)", head: item{source: phasePage}}
	phase, at := text(e.Get("job"), "podPhase"), text(e.Get("trace").First(), "path")
	step := strings.HasSuffix(at, ".container.restartPolicy") || strings.HasSuffix(at, ".script.restartPolicy") // of a Workflow
	code := number(e, "exitCode")
	failed := ""
	if e.Get("podFails").Bool() {
		failed = fails(e, code == 0)
	}
	switch {
	case failed == stopped:
	case failed != "":
		phase = "Failed"
	case e.Get("undecided").Exists():
		phase = "undecided"
	case phase == "" && (text(e, "action") == "Stop" && (d.onlyOne(e) || e.Get("owner").Exists() || step) || text(e, "action") == "Complete" && d.onlyOne(e)):
		phase = "Succeeded"
		if code != 0 && text(e, "action") == "Stop" {
			phase = "Failed"
		}
	}
	switch phase {
	case "Failed":
		c.head.tone, c.head.mark, c.head.text = Fail, "failed", "Failed"
		c.head.reason = "once its other containers have ended"
	case "Succeeded":
		c.head.tone, c.head.mark, c.head.text = OK, "succeeded", "Succeeded"
		c.head.reason = "once its other containers have exited with 0"
	case "undecided":
		c.head.tone, c.head.mark, c.head.text = Stop, "undecided", "undecided"
	default:
		c.head.tone, c.head.mark, c.head.text = Run, "running", "goes on"
		c.head.reason = "while another container runs or may be started again"
		if action := text(e, "action"); action == "Restart" || action == "RestartAllContainers" || action == "RestartPod" {
			c.head.reason = "a Pod with a container that is started again does not end"
		} else if failed == stopped {
			c.head.reason = "the phase goes by the code, and 0 is no failure"
		}
	}
	switch {
	case phase == "Failed" && strings.Contains(at, "initContainers["):
		c.head.reason = "its main containers are not started"
	case (phase == "Failed" || phase == "Succeeded") && d.onlyOne(e):
		c.head.reason = "it has no other main container"
	case text(e.Get("job"), "outcome") == "Fails" && phase == "Running":
		c.head.reason = "until the controller deletes it"
	}
	return c
}

// onlyOne reports whether the container that exits is the only main one of its Pod: the Pod then
// ends with it, and takes its sidecars along.
func (d *document) onlyOne(e manifest.Value) bool {
	path := text(e.Get("trace").First(), "path")
	i := strings.Index(path, "ontainers[")
	return i > 0 && path[i-1] == 'c' && d.man.At(path[:i+len("ontainers")]).Len() == 1
}

// noJob says what becomes of a Pod that has no Job, and whose owner, if it has one, is of
// Kubernetes.
//
// Source: FilterActivePods in pkg/controller/controller_utils.go, processReplica in
// pkg/controller/statefulset/stateful_set_control.go and podsShouldBeOnNode in
// pkg/controller/daemon/daemon_controller.go, Kubernetes v1.33 to v1.37.
func (d *document) noJob(c *card) {
	h := &c.head
	h.tone, h.mark, h.text = Stop, "skipped", "no Job"
	kind, version := text(d.man, "kind"), text(d.man, "apiVersion")
	if kind == "Pod" {
		for o := d.man.Get("metadata").Get("ownerReferences").First(); o.Exists(); o = o.Next() {
			if o.Get("controller").Bool() && text(o, "kind") != "Node" { // a static Pod is its kubelet's
				kind, version = text(o, "kind"), text(o, "apiVersion")
			}
		}
	}
	kind = short(kind)
	switch {
	case kind == "Job": // of a Pod that says whose it is
		h.text, h.reason = "not judged", "a Job owns this Pod, but the question does not include it"
	case kind == "" || kind == "Pod" || kind == "PodTemplate":
		h.reason = "nothing replaces this Pod, and nothing counts its exits"
	case manifest.Foreign(version):
		c.title = "Owner (controller)"
		h.text, h.reason = "not judged", "whether a "+kind+" creates another Pod is not simulated"
	default:
		h.reason = "the " + kind + " replaces a Pod that has ended, and nothing counts its exits"
	}
}

// jobBy says what the Job decides by, and its path: a rule, that no rule matches, that an index has
// no second try, or that no failure is allowed.
func (d *document) jobBy(job manifest.Value) (path, by string) {
	switch path = text(job, "path"); {
	case job.Get("indexFails").Bool() && text(job, "action") != "FailIndex":
		return specOf(path) + "backoffLimitPerIndex", "backoffLimitPerIndex is 0"
	case has(job, "rule"):
		return path, ruleName(path)
	case text(job, "reason") == "BackoffLimitExceeded":
		return path, "backoffLimit is " + itoa(number(job, "backoffLimit"))
	case path != "":
		by, path = d.noRule(path), specOf(path)+limitName(d.limits(job))
		if !d.man.At(path).Exists() { // the default
			path = ""
		}
		return path, by
	}
	return "", ""
}

// limitName is the name of the first of the limits.
func limitName(limits string) string {
	name, _, _ := strings.Cut(limits, " ")
	return name
}

// limitsAre is "backoffLimit is 6".
func (d *document) limitsAre(job manifest.Value) string {
	return strings.ReplaceAll(strings.ReplaceAll(d.limits(job), "Limit ", "Limit is "), "Index ", "Index is ")
}

// specOf is the path of the spec, with a dot after it, that the field at path is of.
func specOf(path string) string {
	for _, name := range [...]string{"backoffLimit", "podFailurePolicy", "backoffPolicy"} {
		if i := strings.LastIndex(path, name); i >= 0 {
			return path[:i]
		}
	}
	return path
}

// limits are what failures of a Job count towards. A Job with backoffLimitPerIndex has a
// backoffLimit that nobody reaches, unless it says one.
func (d *document) limits(job manifest.Value) string {
	spec := d.jobPath()
	if path := text(job, "path"); path != "" {
		spec = specOf(path)
	}
	limit := "backoffLimit " + itoa(number(job, "backoffLimit"))
	if own := d.man.At(spec + "backoffLimitPerIndex"); own.Kind() == manifest.Number && !d.dropped(spec+"backoffLimitPerIndex") {
		if !d.man.At(spec + "backoffLimit").Exists() {
			limit = ""
		}
		limit = join(" and ", "backoffLimitPerIndex "+string(own.Raw()), limit)
	}
	return limit
}

// jobCard is the controller's layer; absent is what a Pod without a Job has.
func (d *document) jobCard(job manifest.Value) card {
	c := card{layer: "job", title: "Job (controller)"}
	h := &c.head
	h.path = text(job, "path")
	h.source = sourceOf("", h.path)
	if h.path == "" {
		h.source = source{}
	}
	switch {
	case !job.Exists():
		d.noJob(&c)
		return c
	case job.Get("undecided").Exists():
		h.tone, h.mark, h.text = Stop, "undecided", "undecided"
		h.reason, h.path = phrase(text(job.Get("undecided"), "reason")), text(job.Get("undecided"), "path")
		return c
	case text(job, "outcome") == "Fails":
		h.tone, h.mark, h.text, h.reason = Fail, "failed", "the Job fails", join(": ", text(job, "reason"), Visible(text(job, "message")))
		return c
	case text(job, "outcome") == "Succeeds":
		h.tone, h.mark, h.text, h.reason = OK, "succeeded", "the Job succeeds", Visible(text(job, "message"))
		return c
	case text(job, "podPhase") == "Succeeded":
		h.tone, h.mark, h.text, h.reason = OK, "succeeded", "one more success", d.stillNeeded()
		return c
	case text(job, "podPhase") != "Failed" && job.Get("counted").Bool():
		h.tone, h.mark, h.text, h.reason = Count, "counted", "the restart is counted", "towards "+d.limits(job)+", because restartPolicy is OnFailure"
		return c
	case text(job, "podPhase") != "Failed":
		h.tone, h.mark, h.text, h.reason = Run, "running", "does nothing", "the Pod has not ended"
		return c
	}
	var by string
	h.path, by = d.jobBy(job)
	switch {
	case job.Get("indexFails").Bool():
		h.tone, h.mark, h.text = Fail, "failed", "the index fails"
	case job.Get("counted").Bool():
		h.tone, h.mark, h.text = Count, "counted", "counted, a new Pod"
		by += "; failure 1, " + d.limitsAre(job)
	default:
		h.tone, h.mark, h.text = Stop, "ignored", "ignored, a new Pod"
	}
	h.reason = by
	return c
}

// judgedJob says what becomes of a Job with the Pods that were given.
func (d *document) judgedJob(j manifest.Value) {
	if !j.Exists() {
		d.verdict(item{tone: Stop, mark: "undecided", text: "Another controller manages this Job.", source: managedPage}, "Undecided")
		return
	}
	allowed := itoa(number(j, "backoffLimit")) + " allowed"
	if limit := d.limits(j); strings.HasPrefix(limit, "backoffLimitPerIndex") {
		allowed = limit
	}
	sums := count(number(j, "counted"), "failure") + " counted, " + allowed + "; " +
		itoa(number(j, "ignored")) + " ignored, " + itoa(number(j, "notJudged")) + " not judged."
	if n := number(j, "restarts"); n > 0 {
		sums += " Restarts of containers so far: " + itoa(n) + "."
	}
	switch fails, succeeds := j.Get("fails"), j.Get("succeeds"); {
	case fails.Exists():
		d.verdict(item{tone: Fail, mark: "failed", text: sentence(Visible(text(fails, "message"))) + " " + sums, reason: "reason " + text(fails, "reason")}, "The Job fails")
	case succeeds.Exists():
		d.verdict(item{tone: OK, mark: "succeeded", text: sentence(Visible(text(succeeds, "message"))) + " " + sums, reason: "reason " + text(succeeds, "reason")}, "The Job succeeds")
	default:
		d.verdict(item{tone: Run, mark: "running", text: sums}, "The Job goes on")
	}
}

// jobPods lists how a Job treats its Pods, then why.
func (d *document) jobPods(pods manifest.Value) {
	if pods.Len() == 0 {
		return
	}
	var rows []row
	for p := pods.First(); p.Exists(); p = p.Next() {
		var ends []string
		for c := p.Get("containers").First(); c.Exists(); c = c.Next() {
			ends = append(ends, short(text(c, "container"))+" "+codeText(c))
		}
		action, tone := d.podAction(p)
		rows = append(rows, row{
			cells: []string{Visible(text(p, "pod")), strings.Join(ends, ", "), action, d.whyPod(p)},
			tone:  tone, path: d.decider(p), at: -1,
		})
	}
	d.table("Pods of the Job", []column{{name: "Pod"}, {name: "Exits"}, {name: "What happens"}, {name: "Why"}}, rows, 0)
	explained := 0
	for p := pods.First(); p.Exists() && explained < maxExplained; p = p.Next() {
		if p.Get("trace").Len() == 0 || p.Get("notJudged").Exists() {
			continue
		}
		explained++
		var list []item
		for s := p.Get("trace").First(); s.Exists(); s = s.Next() {
			i := d.step(s)
			i.quote, _ = d.quote(i.path)
			i.reason = phrase(text(s, "code"))
			list = append(list, i)
		}
		action, _ := d.podAction(p)
		d.items("steps", "Why: "+Visible(text(p, "pod"))+" → "+action, list)
	}
}

// podAction is the action in a table, or why there is none.
func (d *document) podAction(p manifest.Value) (word, tone string) {
	switch {
	case p.Get("notJudged").Exists():
		return "not judged", Stop
	case p.Get("undecided").Exists():
		return "undecided", Stop
	}
	switch action := text(p, "action"); action {
	case "FailJob", "FailIndex":
		return action, Fail
	case "Count":
		return action, Count
	default:
		return Visible(action), Stop
	}
}

// whyPod says why a Pod gets its action.
func (d *document) whyPod(p manifest.Value) string {
	if code := text(p, "notJudged"); code != "" {
		return phrase(code)
	}
	if u := p.Get("undecided"); u.Exists() {
		return Visible(text(u, "path")) + ": " + phrase(text(u, "reason"))
	}
	by := p.Get("decidedBy")
	why := ""
	switch {
	case !has(p, "rule"):
		why = d.noRule(d.jobPath()+"backoffLimit") + ", so the failure counts"
	case text(by, "condition") != "":
		why = "rule " + itoa(number(p, "rule")) + ": condition " + short(text(by, "condition"))
	default:
		why = "rule " + itoa(number(p, "rule")) + ": " + short(text(by, "container")) + " ended with " + itoa(number(by, "exitCode"))
	}
	switch {
	case p.Get("outOfRange").Bool():
		why += "; it has no index of this Job, so it is not counted"
	case p.Get("indexFails").Bool():
		why += "; index " + itoa(number(p, "index")) + " fails"
	case has(p, "index"):
		why += "; index " + itoa(number(p, "index")) + " is tried again"
	}
	return why
}
