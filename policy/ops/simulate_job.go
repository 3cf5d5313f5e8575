package ops

import (
	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/admission"
	"github.com/podfate/podfate/policy/manifest"
	"github.com/podfate/podfate/policy/simulate"
)

func (c *call) simulateJob(l *loaded, cl cluster, sc *simulate.Scenario, podRuns []simulate.PodTapes) {
	js := &simulate.JobScenario{Pod: *sc, Job: l.object.Job, Name: jobName(l), Namespace: l.object.Namespace, PodTapes: podRuns, Retries: c.retries}
	if js.Namespace == "" {
		js.Namespace = "default"
	}
	if l.object.Kind != "Job" {
		job := policy.Object{Kind: "Job", Job: js.Job} // what the API server makes of it comes with its Jobs
		admission.SetDefaults(&job, cl.features)
		admission.DropDisabledOfJob(js.Job, nil, "", cl.features)
		made := "one_job_of_the_cron_job"
		if l.template != nil {
			made = "one_job_of_the_owner"
		}
		js.Pod.Assume = append(js.Pod.Assume, made)
	} else if js.Job.Status.Started {
		js.Pod.Assume = append(js.Pod.Assume, "job_is_created_now")
	}
	if sc.Undecided != nil && js.Job.PodFailurePolicy != nil {
		js.Undecided = func(pod *policy.FailedPod, match policy.PodFailureMatch) (string, string) {
			return unknownRule(cl, l.rulesPath(), policy.ExplainFailure(js.Job.PodFailurePolicy, pod, match))
		}
	}
	var without *jobCost
	if c.waste {
		without = costWithout(js) // first, since a module has no memory for two of the largest
	}
	r := simulate.Job(js)
	limit, at := r.Exceeded, r.Until
	if limit == "" {
		c.writeJobSimulation(l, cl, js, r, without)
		if c.w.Len() <= policy.MaxOutputBytes {
			return
		}
		limit, at = "outputBytes", r.Until+1
	}
	// Up to the instant before, the answer is as good as any: it is that to a shorter request.
	if at = min(at, c.fits(l, js, r)); at == 0 && c.exceeded(limit) {
		if limit == simulate.LimitActivePods {
			c.failure.path = l.jobPath("parallelism")
			c.failure.offset = c.place(c.failure.path)
		}
		return
	}
	js.Pod.Until, r = at-1, nil // a module has no memory for two of the largest
	c.w.Reset(answerBytes)
	r = simulate.Job(js)
	r.Undecided = append(r.Undecided, simulate.Undecided{At: at, Reason: "limit_exceeded", Event: -1, Limit: limit})
	c.writeJobSimulation(l, cl, js, r, without)
}

// jobPath is where a field of the Job's spec is in the manifest.
func (l *loaded) jobPath(field string) string { return l.object.JobPath() + field }

// fits returns the first instant that an answer of the largest size does not hold any more: it
// measures the entries of the timeline, the counters and the lines of Pods, all of which come in
// order of time.
func (c *call) fits(l *loaded, js *simulate.JobScenario, r *simulate.JobResult) policy.Millis {
	// What else an answer holds: layers, status, names of containers, warnings.
	size := 64<<10 + 1<<9*js.Pod.Spec.Len()
	s := newJobSimulation(&manifest.Writer{}, l, js, r)
	for t, n, p := 0, 0, 0; ; {
		at, write := r.Until+1, func() {}
		if t < len(r.Timeline) && r.Timeline[t].At < at {
			at, write = r.Timeline[t].At, func() { s.entry(&r.Timeline[t]); t++ }
		}
		if n < len(r.Counters) && r.Counters[n].At < at {
			at, write = r.Counters[n].At, func() { s.counter(&r.Counters[n]); n++ }
		}
		if p < len(r.Pods) && r.Pods[p].Created < at {
			at, write = r.Pods[p].Created, func() { s.podLine(&r.Pods[p]); p++ }
		}
		s.w.Reset(0)
		write()
		if size += s.w.Len() + len(",1234567"); at > r.Until || size > policy.MaxOutputBytes {
			return at
		}
	}
}

// jobName is the name of the Job, or of the first that a CronJob creates on a clock that begins
// with the year 1970.
func jobName(l *loaded) string {
	switch name := l.object.StoredName(); {
	case name == "":
		return "job"
	case l.object.Kind != "Job":
		return name + "-0"
	default:
		return name
	}
}

// readPodRuns reads the tapes of single Pods and indexes.
func (c *call) readPodRuns(v manifest.Value, l *loaded) (list []simulate.PodTapes) {
	const path = "podRuns"
	switch {
	case !given(v):
		return nil
	case v.Kind() != manifest.Array:
		c.wrongType(v, path, "an array")
		return nil
	case v.Len() > simulate.MaxRuns:
		c.limitAt(v, path, path, v.Len(), simulate.MaxRuns)
		return nil
	case l.readable && l.object.Job == nil:
		c.forbidden(v, path, "only a Job has more than one Pod")
		return nil
	}
	i := 0
	for e := v.First(); e.Exists(); e = e.Next() {
		at := element(path, i)
		i++
		c.members(e, at, "pod", "index", "runs")
		if e.Kind() != manifest.Object {
			continue
		}
		most := int64(simulate.MaxJobPods)
		pod, ofPod := c.integer(e.Get("pod"), at+".pod", 0, most-1)
		if l.readable && l.object.Job.Completions != nil {
			most = int64(*l.object.Job.Completions)
		}
		index, ofIndex := c.integer(e.Get("index"), at+".index", 0, max(most-1, 0))
		own := simulate.PodTapes{Pod: int32(pod), Index: -1}
		switch {
		case ofPod == ofIndex:
			c.fault(e, at, policy.CodeRequired, "which Pod is it about? either pod, its number in order of creation from 0, or index")
		case ofIndex:
			own.Pod, own.Index = -1, int32(index)
			if l.readable && !l.object.Job.Indexed() {
				c.forbidden(e.Get("index"), at+".index", "the Job has no completionMode Indexed")
			}
		}
		if !given(e.Get("runs")) {
			c.fault(e, at+".runs", policy.CodeRequired, "what do its containers do?")
		}
		for j := range list {
			if list[j].Pod == own.Pod && list[j].Index == own.Index && ofPod != ofIndex {
				c.fault(e, at, policy.CodeDuplicate, "is about the same Pod as "+element(path, j))
				break
			}
		}
		own.Tapes = c.readTapes(e.Get("runs"), at+".runs", l)
		list = append(list, own)
	}
	return list
}

// readEventPod reads which Pod of a Job an event is about.
func (c *call) readEventPod(v manifest.Value, path string, e *simulate.Event, l *loaded) {
	pod := v.Get("pod")
	ofJob := l.readable && l.object.Job != nil
	if e.Pod = 0; ofJob {
		e.Pod = simulate.AllPods
	}
	switch n, ok := c.integer(pod, path+".pod", 0, simulate.MaxJobPods-1); {
	case e.Type.OfJob() && l.readable && !ofJob:
		c.forbidden(v.Get("type"), path+".type", "concerns a Job")
	case !ok:
	case e.Type.OfJob():
		c.forbidden(pod, path+".pod", "the event concerns the Job itself")
	case l.readable && !ofJob:
		c.forbidden(pod, path+".pod", "only a Job has more than one Pod")
	default:
		e.Pod = int32(n)
	}
}

// jobSimulation is an answer under way.
type jobSimulation struct {
	simulation
	js  *simulate.JobScenario
	job *simulate.JobResult
}

func newJobSimulation(w *manifest.Writer, l *loaded, js *simulate.JobScenario, r *simulate.JobResult) *jobSimulation {
	s := &jobSimulation{simulation{w: w, l: l, r: &simulate.Result{}}, js, r}
	for i := range r.Containers {
		s.paths = append(s.paths, pathsOf(&l.object, r.Containers[i].Ref))
		s.r.Containers = append(s.r.Containers, simulate.ContainerResult{Ref: r.Containers[i].Ref})
	}
	return s
}

func (c *call) writeJobSimulation(l *loaded, cl cluster, js *simulate.JobScenario, r *simulate.JobResult, without *jobCost) {
	s := newJobSimulation(&c.w, l, js, r)
	w := &c.w
	w.Object()
	s.at("untilMillis", r.Until)
	w.KeyArray("timeline")
	for i := range r.Timeline {
		s.entry(&r.Timeline[i])
		if w.Len() > policy.MaxOutputBytes {
			return // Call reports it; there is no point in going on
		}
	}
	w.End()
	s.layers()
	s.counters()
	s.writeJob()
	s.pods()
	s.totals()
	s.rows(r.Rows, func(number int32) string { return s.podName(&r.Pods[number]) })
	if c.waste {
		s.waste(without)
	}
	s.expected(c.expect, func(at policy.Millis) string { return outcomeAt(r, at) })
	for i := range r.Containers {
		c.reached(r.Containers[i].Ref, r.Containers[i].Totals)
	}
	s.end(c, cl, r.Undecided, r.Assumptions)
}

// entry writes an entry of the timeline: that of a Pod as the simulation of one writes it, with its
// number.
func (s *jobSimulation) entry(r *simulate.Record) {
	w := s.w
	w.Object()
	s.at("atMillis", r.At)
	if r.Container == simulate.OfJob {
		s.text("job", s.js.Name)
		s.text("event", string(r.Event))
		switch r.Event {
		case simulate.BackOff:
			s.at("untilMillis", r.Until)
			s.millis("delayMillis", r.Delay)
		case simulate.StatusDenied:
			s.at("untilMillis", r.Until)
		case simulate.IndexFailed:
			s.int("index", int64(r.Index))
		default:
			optional(w, "reason", r.Reason)
			optional(w, "message", r.Message)
			optional(w, "ignored", r.Ignored)
		}
		w.End()
		return
	}
	var p simulate.PodResult
	if int(r.Pod) < len(s.job.Pods) {
		p = s.job.Pods[r.Pod]
		s.text("pod", s.podName(&p))
	}
	s.int("number", int64(r.Pod))
	if r.Container >= 0 {
		s.text("container", s.name(r.Container))
	}
	if r.Pods > 1 {
		s.int("pods", int64(r.Pods))
	}
	switch r.Event {
	case simulate.PodCreated:
		s.text("event", string(r.Event))
		s.annotations(&p)
		s.text("reason", "SuccessfulCreate")
		s.text("message", "Created pod: "+s.podName(&p))
	case simulate.PodDeleted:
		s.text("event", string(r.Event))
		s.text("reason", "SuccessfulDelete")
		s.text("message", "Deleted pod: "+s.podName(&p))
	default:
		s.details(r)
		if r.Matched {
			s.match(&p, r.Match)
		}
	}
	w.End()
}

func (s *jobSimulation) podName(p *simulate.PodResult) string {
	return simulate.PodName(s.js.Name, p.Number, p.Index)
}

func (s *jobSimulation) annotations(p *simulate.PodResult) {
	for _, a := range []struct {
		name  string
		value int32
	}{{"index", p.Index}, {"failureCount", p.FailureCount}, {"ignoredFailureCount", p.IgnoredCount}} {
		if a.value >= 0 {
			s.int(a.name, int64(a.value))
		}
	}
}

// match writes what becomes of a failed Pod, as decide does.
func (s *jobSimulation) match(p *simulate.PodResult, m policy.PodFailureMatch) {
	action := m.Action
	if action == "" {
		action = policy.ActionCount
	}
	s.text("action", string(action))
	s.w.Key("rule")
	if m.Rule < 0 {
		s.w.Null()
	} else {
		s.w.Int(int64(m.Rule))
	}
	s.bool("counted", m.Counted())
	optional(s.w, "message", m.Message(&p.Status, s.js.Namespace, s.podName(p)))
}

// counters writes the counters of the Job's status, one entry for each instant at which they
// changed.
func (s *jobSimulation) counters() {
	s.w.KeyArray("counters")
	for i := range s.job.Counters {
		s.counter(&s.job.Counters[i])
	}
	s.w.End()
}

func (s *jobSimulation) counter(n *simulate.JobCounters) {
	s.w.Object()
	s.at("atMillis", n.At)
	s.int("active", n.Active)
	s.int("ready", n.Ready)
	s.int("succeeded", n.Succeeded)
	s.int("failed", n.Failed)
	s.int("terminating", n.Terminating)
	if s.js.Job.BackoffLimitPerIndex != nil {
		s.int("failedIndexes", n.FailedIndexes)
	}
	s.w.End()
}

// writeJob writes the Job as the API server would have it at the end.
func (s *jobSimulation) writeJob() {
	w, st := s.w, &s.job.Status
	w.KeyObject("job")
	w.KeyObject("metadata")
	s.text("name", s.js.Name)
	optional(w, "namespace", s.l.object.Namespace)
	w.End()
	w.KeyObject("status")
	s.unlessZero("active", st.Active)
	if st.CompletedIndexes.Len() > 0 {
		s.text("completedIndexes", st.CompletedIndexes.String())
	}
	if st.CompletionTime >= 0 {
		s.text("completionTime", timestamp(st.CompletionTime))
	}
	if len(st.Conditions) > 0 {
		w.KeyArray("conditions")
		for i := range st.Conditions {
			c := &st.Conditions[i]
			w.Object()
			s.text("lastProbeTime", timestamp(c.Since))
			s.text("lastTransitionTime", timestamp(c.Since))
			s.text("message", c.Message)
			s.text("reason", c.Reason)
			status := "True"
			if c.False {
				status = "False"
			}
			s.text("status", status)
			s.text("type", c.Type)
			w.End()
		}
		w.End()
	}
	s.unlessZero("failed", st.Failed)
	if s.js.Job.BackoffLimitPerIndex != nil {
		s.text("failedIndexes", st.FailedIndexSet.String())
	}
	if st.Written {
		s.int("ready", st.Ready)
	}
	if st.StartTime >= 0 {
		s.text("startTime", timestamp(st.StartTime))
	}
	s.unlessZero("succeeded", st.Succeeded)
	if st.Written {
		if s.js.Pod.Kubelet.Features.ReplacesPods() {
			s.int("terminating", st.Terminating)
		}
		w.KeyObject("uncountedTerminatedPods")
		w.End()
	}
	w.End()
	w.End()
}

// unlessZero writes a counter that a status leaves out when it is 0.
func (s *jobSimulation) unlessZero(name string, n int64) {
	if n != 0 {
		s.int(name, n)
	}
}

// pods writes one line for each Pod.
func (s *jobSimulation) pods() {
	s.w.KeyArray("pods")
	for i := range s.job.Pods {
		s.podLine(&s.job.Pods[i])
	}
	s.w.End()
}

func (s *jobSimulation) podLine(p *simulate.PodResult) {
	w := s.w
	w.Object()
	s.int("number", int64(p.Number))
	s.text("name", s.podName(p))
	s.annotations(p)
	s.at("createdMillis", p.Created)
	if p.Deleted >= 0 {
		s.at("deletedMillis", p.Deleted)
	}
	if p.Over >= 0 {
		s.at("endedMillis", p.Over)
	}
	s.text("phase", string(p.Phase))
	optional(w, "reason", p.Reason)
	optional(w, "disruptionTarget", p.DisruptedBy)
	if len(p.Status.Exits) > 0 {
		w.KeyArray("exits")
		for _, e := range p.Status.Exits {
			w.Object()
			s.text("container", e.Container)
			s.int("exitCode", int64(e.Code))
			w.End()
		}
		w.End()
	}
	if p.Fails && p.Over >= 0 && !p.Unjudged {
		s.match(p, p.Match)
	}
	w.End()
}

func (s *jobSimulation) totals() {
	w := s.w
	w.KeyArray("containers")
	for i := range s.job.Containers {
		c := &s.job.Containers[i]
		w.Object()
		s.text("container", s.name(i))
		s.int("starts", c.Starts)
		s.int("restarts", c.Restarts)
		s.millis("ranMillis", c.Ran)
		w.End()
	}
	w.End()
}

// maxTally bounds the kinds of exits that the layers tell apart; the timeline has them all.
const maxTally = 100

// layers says who decided what: the kubelet about containers, the phase of Pods and the
// podFailurePolicy about Pods, the Job controller about the Job.
func (s *jobSimulation) layers() {
	w := s.w
	w.KeyObject("layers")
	w.KeyArray("containers")
	type exit struct {
		first *simulate.Record
		times int64
	}
	var exits []exit
	for i := range s.job.Timeline {
		r := &s.job.Timeline[i]
		if r.Event != simulate.ExitedBy {
			continue
		}
		n := 0
		for n < len(exits) && !sameExit(exits[n].first, r) {
			n++
		}
		if n == len(exits) {
			if n == maxTally {
				continue
			}
			exits = append(exits, exit{first: r})
		}
		exits[n].times += int64(r.Pods)
	}
	for _, e := range exits {
		w.Object()
		s.text("container", s.name(e.first.Container))
		s.int("exitCode", int64(e.first.ExitCode))
		s.text("reason", e.first.Reason)
		if e.first.Decision != nil {
			writeOutcome(w, s.paths[e.first.Container], *e.first.Decision)
		}
		s.int("times", e.times)
		w.End()
	}
	w.End()
	s.podLayer()
	s.jobLayer()
	w.End()
}

func sameExit(a, b *simulate.Record) bool {
	return a.Container == b.Container && a.ExitCode == b.ExitCode && a.Reason == b.Reason && (a.Decision == nil) == (b.Decision == nil) &&
		(a.Decision == nil || *a.Decision == *b.Decision)
}

func (s *jobSimulation) podLayer() {
	w := s.w
	w.KeyArray("pods")
	type end struct {
		first *simulate.PodResult
		times int64
	}
	var ends []end
	for i := range s.job.Pods {
		p := &s.job.Pods[i]
		n := 0
		for n < len(ends) {
			f := ends[n].first
			if f.Phase == p.Phase && f.Reason == p.Reason && f.DisruptedBy == p.DisruptedBy && f.Fails == p.Fails && f.Unjudged == p.Unjudged && f.Match.Action == p.Match.Action && f.Match.Rule == p.Match.Rule {
				break
			}
			n++
		}
		if n == len(ends) {
			ends = append(ends, end{first: p})
		}
		ends[n].times++
	}
	for _, e := range ends {
		w.Object()
		s.text("phase", string(e.first.Phase))
		optional(w, "reason", e.first.Reason)
		optional(w, "disruptionTarget", e.first.DisruptedBy)
		if e.first.Fails && e.first.Over >= 0 && !e.first.Unjudged {
			s.match(e.first, e.first.Match)
		}
		s.int("times", e.times)
		w.End()
	}
	w.End()
}

func (s *jobSimulation) jobLayer() {
	s.w.KeyObject("job")
	outcome := "Running"
	var last *simulate.JobCondition
	for i := range s.job.Status.Conditions {
		if c := &s.job.Status.Conditions[i]; !c.False {
			outcome, last = c.Type, c
		}
	}
	s.text("outcome", outcome)
	if last != nil {
		s.text("reason", last.Reason)
		s.text("message", last.Message)
	}
	s.int("failed", s.job.Status.Failed)
	s.int("succeeded", s.job.Status.Succeeded)
	s.int("backoffLimit", int64(*s.js.Job.BackoffLimit))
	s.w.End()
}
