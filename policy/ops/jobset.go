package ops

import (
	"strconv"
	"strings"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/lint"
	"github.com/podfate/podfate/policy/manifest"
)

// Bounds of a JobSet that is played: of the Jobs that are simulated together, each of all its
// attempts, and of the attempts. Its owners start over a handful of times, with a handful of Jobs.
const (
	maxOwnedJobs = 256
	maxAttempts  = 64
)

// jobSet is a JobSet under way: what its controller looks at.
//
// Source: executeFailurePolicy in pkg/controllers/failure_policy.go, executeSuccessPolicy in
// success_policy.go and (*jobSetWebhook).Default, kubernetes-sigs/jobset v0.8 to v0.10.
type jobSet struct {
	c          *call
	name       string
	spec       manifest.Value
	until      policy.Millis
	rules      []manifest.Value
	jobs       []ownedJob
	restarts   int64 // of the whole JobSet
	counted    int64 // of these, those that count towards maxRestarts
	maximum    int64
	hasPolicy  bool
	any        bool     // one Job is enough for its success
	targets    []string // of the success policy; nil for all
	runs, own  manifest.Value
	undecided  string // why nothing more is known
	undecideAt string // the path that is the cause
}

// ownedJob is one of its Jobs, and what became of it in this attempt.
type ownedJob struct {
	name, of, path string // of is the replicated Job
	outcome        string // Complete, Failed, Running
	reason         string
	at             policy.Millis
	pods, restarts int64
}

// wholeOwners are the kinds that simulate plays as a whole. Nobody writes to it.
var wholeOwners = []string{"jobset.x-k8s.io/v1alpha2 JobSet", "argoproj.io/v1alpha1 Workflow", "argoproj.io/v1alpha1 CronWorkflow",
	"argoproj.io/v1alpha1 WorkflowTemplate", "argoproj.io/v1alpha1 ClusterWorkflowTemplate"}

// playsOwner plays the kind of the manifest as a whole, and reports whether the request asks for
// that.
func (c *call) playsOwner(cl *cluster) bool {
	v := c.root.Get("owner")
	if !given(v) {
		return false
	}
	if v.Kind() != manifest.Bool {
		c.wrongType(v, "owner", "true or false")
	}
	if !v.Bool() || c.man.Kind() != manifest.Object {
		return false
	}
	group, _, _ := strings.Cut(c.man.Get("apiVersion").Text(), "/")
	for i, known := range wholeOwners {
		if !strings.HasPrefix(known, group+"/") || !strings.HasSuffix(known, " "+c.man.Get("kind").Text()) {
			continue
		}
		if i == 0 {
			c.simulateJobSet(*cl)
		} else {
			c.simulateRetries(cl)
		}
		return true
	}
	c.requestFault(v, policy.FieldError{
		Path: "owner", Code: policy.CodeForbidden, Allowed: wholeOwners,
		Detail: "of the kinds of other projects, only these can be simulated as a whole",
	})
	return false
}

// concernsOne says of members that they concern one Pod or Job of an owner.
func (c *call) concernsOne(members ...string) {
	for _, name := range members {
		if v := c.root.Get(name); given(v) {
			c.forbidden(v, name, "concerns one Job or Pod: ask with templatePath and without owner")
		}
	}
}

// ofOwner returns warnings without that which says that the owner is not played.
func ofOwner(warnings []located) []located {
	kept := warnings[:0]
	for _, f := range warnings {
		if f.Code != lint.OwnerNotPlayed {
			kept = append(kept, f)
		}
	}
	return kept
}

// simulateJobSet plays the Jobs of a JobSet, each as simulate plays a Job, and its failurePolicy
// over them: a restart recreates all of them.
func (c *call) simulateJobSet(cl cluster) {
	c.concernsOne("templatePath", "podRuns", "events", "from", "now", "question", "decide")
	all := c.admit(cl.features, entrance{})
	var found loaded
	for i := range all {
		found.add(&all[i])
	}
	c.faults.addAll(found.faults)
	s := jobSet{c: c, spec: c.man.Get("spec"), runs: c.root.Get("runs"), own: c.root.Get("jobRuns"), name: c.man.Get("metadata").Get("name").Text()}
	s.until = 1800 * policy.Second
	c.member("until", func(v manifest.Value) { s.until = c.length(v, "until", s.until, 1) })
	s.read()
	if c.failOnFaults() {
		return
	}
	w := &c.w
	w.Object()
	w.KeyInt("untilMillis", int64(s.until))
	w.KeyArray("timeline")
	w.End()
	w.KeyArray("attempts")
	outcome, reason, at := s.play(w)
	if c.failure != nil {
		return
	}
	w.End()
	w.KeyObject("jobSet")
	w.KeyWord("outcome", outcome)
	optional(w, "reason", reason)
	if outcome != "Running" {
		w.KeyInt("atMillis", int64(at))
	}
	w.KeyInt("restarts", s.restarts)
	w.KeyInt("restartsCountTowardsMax", s.counted)
	w.KeyInt("maxRestarts", s.maximum)
	w.End()
	w.KeyArray("containers")
	w.End()
	w.KeyArray("undecided")
	if s.undecided != "" {
		w.Object()
		w.KeyInt("atMillis", int64(at))
		w.KeyWord("reason", s.undecided)
		w.KeyString("path", s.undecideAt)
		w.End()
	}
	w.End()
	w.KeyArray("assumptions")
	w.Word("jobs_are_made_anew_at_once")
	w.End()
	c.writeDropped(found.dropped)
	c.writeWarnings(ofOwner(found.warnings))
	c.writeCluster(cl)
	w.End()
}

// read reads the JobSet: its own fields are not checked otherwise.
func (s *jobSet) read() {
	c := s.c
	p := s.spec.Get("failurePolicy")
	s.hasPolicy = p.Kind() == manifest.Object
	s.maximum, _ = c.integer(p.Get("maxRestarts"), "manifest.spec.failurePolicy.maxRestarts", 0, 1<<31-1)
	for r := p.Get("rules").First(); r.Exists(); r = r.Next() {
		s.rules = append(s.rules, r)
	}
	success := s.spec.Get("successPolicy")
	s.any = success.Get("operator").Text() == "Any"
	for t := success.Get("targetReplicatedJobs").First(); t.Exists(); t = t.Next() {
		s.targets = append(s.targets, t.Text())
	}
	switch {
	case s.spec.Get("suspend").Kind() == manifest.Bool && s.spec.Get("suspend").Bool():
		s.undecided, s.undecideAt = "suspended", "spec.suspend"
	case s.spec.Get("startupPolicy").Get("startupPolicyOrder").Text() == "InOrder":
		s.undecided, s.undecideAt = "startup_order", "spec.startupPolicy.startupPolicyOrder"
	}
	i := 0
	for r := s.spec.Get("replicatedJobs").First(); r.Exists(); r = r.Next() {
		path := element("spec.replicatedJobs", i)
		if i++; given(r.Get("dependsOn")) && s.undecided == "" {
			s.undecided, s.undecideAt = "startup_order", path+".dependsOn"
		}
		n, ok := c.integer(r.Get("replicas"), "manifest."+path+".replicas", 0, maxOwnedJobs)
		if !ok {
			n = 1
		}
		for k := range n {
			if len(s.jobs) == maxOwnedJobs {
				c.limitAt(r, "manifest."+path, "jobs", len(s.jobs)+1, maxOwnedJobs)
				return
			}
			of := r.Get("name").Text()
			s.jobs = append(s.jobs, ownedJob{name: s.name + "-" + of + "-" + strconv.FormatInt(k, 10), of: of, path: path})
		}
	}
	s.readOwn()
}

// readOwn checks jobRuns.
func (s *jobSet) readOwn() {
	c, i := s.c, 0
	if given(s.own) && s.own.Kind() != manifest.Array {
		c.wrongType(s.own, "jobRuns", "an array")
		return
	}
	var names []string
	for k := range s.jobs {
		names = add(names, s.jobs[k].of, s.jobs[k].name)
	}
	for e := s.own.First(); e.Exists(); e = e.Next() {
		at := element("jobRuns", i)
		i++
		c.members(e, at, "job", "restart", "runs")
		c.integer(e.Get("restart"), at+".restart", 0, maxAttempts)
		name, ok := c.text(e.Get("job"), at+".job")
		if ok && !contains(names, name) || !given(e.Get("job")) {
			c.requestFault(e, policy.FieldError{Path: at + ".job", Code: policy.CodeUnsupported, Allowed: names, Detail: "names no Job of the JobSet, and no replicated Job"})
		}
		if r := e.Get("runs"); r.Kind() != manifest.Object {
			c.wrongType(e, at+".runs", "an object with a list of runs for each container")
		}
	}
}

// play plays attempt after attempt and writes each.
func (s *jobSet) play(w *manifest.Writer) (outcome, reason string, at policy.Millis) {
	for attempt := int64(0); ; attempt++ {
		if s.undecided == "" && attempt == maxAttempts {
			s.undecided, s.undecideAt = "limit_exceeded", "spec.failurePolicy"
		}
		if s.undecided != "" {
			return "Running", "", at
		}
		for i := range s.jobs {
			if s.simulate(&s.jobs[i], attempt, at); s.c.failure != nil {
				return "", "", at
			}
		}
		end, failed := s.until+1, false
		for i := range s.jobs {
			if j := &s.jobs[i]; j.outcome == "Failed" && j.at < end {
				end, failed = j.at, true
			}
		}
		success := s.succeeds()
		if success < end { // a failure in the same instant is looked at first
			end, failed = success, false
		}
		over := end <= s.until
		w.Object()
		w.KeyInt("restart", attempt)
		w.KeyInt("fromMillis", int64(at))
		w.KeyInt("untilMillis", int64(min(end, s.until)))
		s.writeJobs(w, end)
		outcome, reason, again := "Running", "", false
		switch {
		case failed:
			outcome, reason, again = s.fail(w, end)
		case over:
			outcome, reason = "Completed", "AllJobsCompleted"
		}
		w.End()
		if at = min(end, s.until); !again {
			return outcome, reason, at
		}
	}
}

// succeeds is the instant at which the success policy is met, after the end if it is not.
func (s *jobSet) succeeds() policy.Millis {
	last, first := policy.Millis(-1), s.until+1
	for i := range s.jobs {
		j := &s.jobs[i]
		if s.targets != nil && !contains(s.targets, j.of) {
			continue
		}
		at := s.until + 1
		if j.outcome == "Complete" {
			at = j.at
		}
		last, first = max(last, at), min(first, at)
	}
	if s.any || last < 0 {
		return first
	}
	return last
}

// writeJobs writes what became of the Jobs when the attempt ends.
func (s *jobSet) writeJobs(w *manifest.Writer, end policy.Millis) {
	w.KeyArray("jobs")
	for i := range s.jobs {
		j := &s.jobs[i]
		w.Object()
		w.KeyString("job", j.name)
		w.KeyString("path", j.path)
		w.Key("outcome")
		if ended := j.outcome != "Running" && j.at <= end; ended {
			w.Word(j.outcome)
			optional(w, "reason", j.reason)
			w.KeyInt("endedMillis", int64(j.at))
			w.KeyInt("pods", j.pods)
			w.KeyInt("restarts", j.restarts)
		} else {
			w.Word("Running")
		}
		w.End()
	}
	w.End()
}

// fail applies the failurePolicy when a Job has failed at the instant end. again reports that all
// Jobs are recreated.
func (s *jobSet) fail(w *manifest.Writer, end policy.Millis) (outcome, reason string, again bool) {
	if !s.hasPolicy {
		return "Failed", "FailedJobs", false
	}
	action, path, job := "RestartJobSet", "spec.failurePolicy", ""
	rule := -1
find:
	for n, r := range s.rules {
		for i := range s.jobs {
			j := &s.jobs[i]
			if j.outcome != "Failed" || j.at != end || !listed(r.Get("onJobFailureReasons"), j.reason) || !listed(r.Get("targetReplicatedJobs"), j.of) {
				continue
			}
			path = element("spec.failurePolicy.rules", n)
			if given(r.Get("onJobFailureMessagePatterns")) {
				s.undecided, s.undecideAt = "message_patterns", path+".onJobFailureMessagePatterns"
				return "Running", "", false
			}
			action, rule, job = r.Get("action").Text(), n, j.name
			break find
		}
	}
	for i := range s.jobs {
		if j := &s.jobs[i]; job == "" && j.outcome == "Failed" && j.at == end {
			job = j.name
		}
	}
	w.KeyString("failedJob", job)
	w.KeyString("action", cut(action))
	w.Key("rule")
	if rule < 0 {
		w.Null()
	} else {
		w.Int(int64(rule))
	}
	w.KeyString("path", path)
	switch action {
	case "FailJobSet":
		return "Failed", "FailJobSetFailurePolicyAction", false
	case "RestartJobSet":
		if s.counted >= s.maximum {
			return "Failed", "ReachedMaxRestarts", false
		}
		s.counted++
	case "RestartJobSetAndIgnoreMaxRestarts":
	default:
		s.undecided, s.undecideAt = "unknown_action", path+".action"
		return "Running", "", false
	}
	s.restarts++
	return "Running", "", true
}

// listed reports whether a list, which may be absent for everything, has s.
func listed(list manifest.Value, s string) bool {
	for e := list.First(); e.Exists(); e = e.Next() {
		if e.Text() == s {
			return true
		}
	}
	return list.Len() == 0
}

// simulate plays one Job from the instant from on.
func (s *jobSet) simulate(j *ownedJob, attempt int64, from policy.Millis) {
	c := s.c
	runs := s.runs
	for e := s.own.First(); e.Exists(); e = e.Next() {
		n, of := c.integer(e.Get("restart"), "restart", 0, maxAttempts)
		if name := e.Get("job").Text(); (name == j.of || name == j.name) && (!of || n == attempt) {
			runs = e.Get("runs")
			break
		}
	}
	template := c.man.At(j.path).Get("template")
	spec := template.Get("spec")
	t := translator{c: c}
	if !given(spec.Get("completionMode")) {
		t.set("completionMode", `"Indexed"`)
	}
	pod := spec.Get("template").Get("spec")
	if !given(pod.Get("restartPolicy")) {
		t.set("template.spec.restartPolicy", `"OnFailure"`)
	}
	var w manifest.Writer
	w.Object()
	some(&w, c.root, func(name string) bool {
		return name == "cluster" || name == "fieldValidation" || name == "timing" || name == "backoff" || name == "jobBackoff" || name == "runsFrom"
	})
	w.KeyString("until", millisText(max(s.until-from, 1)))
	w.KeyObject("runs")
	for r := runs.First(); r.Exists() && runs.Kind() == manifest.Object; r = r.Next() {
		for _, list := range [...]string{"containers", "initContainers"} {
			for m := pod.Get(list).First(); m.Exists(); m = m.Next() {
				if m.Get("name").Text() == r.Key() {
					w.NameOf(r)
					w.Raw(r.Raw())
				}
			}
		}
	}
	w.End()
	w.KeyObject("manifest")
	w.KeyWord("apiVersion", "batch/v1")
	w.KeyWord("kind", "Job")
	w.KeyObject("metadata")
	w.KeyString("name", j.name)
	w.End()
	w.Key("spec")
	t.rewrite(&w, spec, "")
	w.End()
	w.End()
	answer, failed := c.ask(simulateNumber, w.Bytes())
	if c.failure != nil {
		return
	}
	if failed {
		e := answer.Get("error")
		c.failWith(policy.ErrorCode(e.Get("code").Text()), j.name+": "+e.Get("message").Text())
		c.failure.path, c.failure.limit = j.path, e.Get("limit").Text()
		return
	}
	j.outcome, j.reason, j.at, j.pods, j.restarts = "Running", "", 0, int64(answer.Get("pods").Len()), 0
	for x := answer.Get("containers").First(); x.Exists(); x = x.Next() {
		j.restarts += number(x, "restarts")
	}
	for e := answer.Get("timeline").First(); e.Exists(); e = e.Next() {
		switch e.Get("event").Text() {
		case "JobFailed":
			j.outcome = "Failed"
		case "JobCompleted":
			j.outcome = "Complete"
		default:
			continue
		}
		j.reason, j.at = e.Get("reason").Text(), from+policy.Millis(number(e, "atMillis"))
	}
	if u := answer.Get("undecided").First(); u.Exists() && j.outcome == "Running" && s.undecided == "" {
		s.undecided, s.undecideAt = u.Get("reason").Text(), j.path
	}
	if c.memory.Collect != nil {
		c.memory.Collect()
	}
}
