package simulate

import "github.com/podfate/podfate/policy"

// jobPod is a Pod of the Job.
type jobPod struct {
	PodResult          // Over and what follows is as in the API
	k         *kubelet // nil once the Pod is over
	at        Millis   // its next instant
	ready     bool
	readyAt   Millis // when the condition Ready has changed
	restarts  int64
	finalizer bool
	holds     bool   // its index is not pending because of it
	listed    bool   // among those that finish
	untracked bool   // deleted because the Job was suspended: it does not matter any more
	finish    Millis // once it is over
	delayed   int64  // the sync in which its finalizer waits for a replacement
	steps     int64  // of its kubelet, as far as they are among those of the Job
	row       Row    // once it is over, the last that is printed
}

// create makes a Pod. It begins when the sync is over.
func (j *job) create(index, failures, ignored int32) {
	p := &jobPod{finalizer: true, holds: index >= 0, readyAt: j.now}
	p.PodResult = PodResult{
		Number: int32(len(j.pods)), Index: index, FailureCount: failures, IgnoredCount: ignored,
		Created: j.now, Deleted: -1, Over: -1, Phase: policy.PodPending,
	}
	p.row.At = -1
	active, each := len(j.running)-j.ended, j.pod.Len()
	switch {
	case len(j.pods) >= MaxJobPods:
		j.exceed(LimitJobPods)
	case active >= MaxActivePods:
		j.exceed(LimitActivePods)
	case (len(j.pods)+1)*each > MaxJobContainers || (active+1)*each > MaxJobContainers/10:
		j.exceed(LimitJobContainers)
	}
	if j.stopped {
		return
	}
	j.pods = append(j.pods, p)
	j.running = append(j.running, p)
	j.created = append(j.created, p)
	j.active, j.dirty = j.active+1, true
	if index >= 0 {
		j.busy.add(index)
		j.idle.remove(index)
	}
	j.blockOf(p.Number, []Record{{Event: PodCreated, Container: none}})
}

// begin lets the kubelet see p.
func (p *jobPod) begin(j *job) {
	if n := len(j.spare); n > 0 {
		p.k, j.spare = j.spare[n-1], j.spare[:n-1]
	} else {
		p.k = &kubelet{sc: new(Scenario), ctrs: make([]container, j.pod.Len())}
	}
	sc := p.k.sc
	*sc = j.sc.Pod
	sc.Start, sc.Tapes = j.now, nil
	sc.Events, sc.all = j.eventsOf(p)
	p.k.reset(sc)
	p.k.report.rows, p.k.number = j.rows, p.Number
	j.useTapes(p)
	p.k.report.res.Timeline = j.entries
	p.k.begin()
	j.observe(p)
}

// first returns the first of the numbers from 0 to n-1 for which after says yes, n if there is
// none. Those for which it says no come first.
func first(n int, after func(int) bool) int {
	low := 0
	for low < n {
		if m := (low + n) / 2; after(m) {
			n = m
		} else {
			low = m + 1
		}
	}
	return n
}

// eventsOf returns what happens to p alone, and from now on to all Pods, each in order of time.
func (j *job) eventsOf(p *jobPod) (own, all []Event) {
	own = j.ofOne[first(len(j.ofOne), func(i int) bool {
		e := &j.ofOne[i]
		return e.Pod > p.Number || e.Pod == p.Number && e.At >= j.now
	}):]
	own = own[:first(len(own), func(i int) bool { return own[i].Pod > p.Number })]
	return own, j.ofAll[first(len(j.ofAll), func(i int) bool { return j.ofAll[i].At > j.now }):]
}

// useTapes gives p the tapes of the Job, or those of its index, or its own.
func (j *job) useTapes(p *jobPod) {
	for i := range p.k.ctrs {
		p.k.ctrs[i].shared = &j.tapes[i]
	}
	if p.Index >= 0 {
		j.useTapesOf(p, -1, p.Index)
	}
	j.useTapesOf(p, p.Number, -1)
}

func (j *job) useTapesOf(p *jobPod, pod, index int32) {
	list := j.sc.PodTapes
	n := first(len(j.own), func(i int) bool {
		t := &list[j.own[i]]
		return t.Pod > pod || t.Pod == pod && t.Index >= index
	})
	if n == len(j.own) || list[j.own[n]].Pod != pod || list[j.own[n]].Index != index {
		return
	}
	n = j.own[n]
	own := list[n].Tapes
	if j.played[n] == nil {
		j.played[n] = make([]tape, len(own))
		for i := range own {
			j.played[n][i].runs = own[i].Runs
		}
	}
	for i := range own {
		p.k.ctrs[p.k.index(own[i].Container)].shared = &j.played[n][i]
	}
}

// step plays the next instant of p.
func (p *jobPod) step(j *job) {
	at, sync := p.k.next()
	if at > j.now { // something was done to it
		at, sync = j.now, false
	}
	p.k.report.res.Timeline = j.entries
	p.k.step(at, sync)
	j.observe(p)
}

// delete is a DELETE request of the controller.
func (j *job) delete(p *jobPod) {
	j.tally(p, -1)
	p.Deleted = j.now
	j.tally(p, 1)
	j.dirty = true
	j.blockOf(p.Number, []Record{{Event: PodDeleted, Container: none}})
	if p.k != nil {
		p.k.ending.deletion = j.now
		p.at = j.now
		j.due.push(p)
	}
}

// tally adds p to what is counted, or takes it away.
func (j *job) tally(p *jobPod, n int64) {
	switch {
	case p.Phase.Terminal():
		return
	case p.Deleted >= 0:
		j.terminating += n
	default:
		j.active += n
		if p.ready {
			j.ready += n
		}
	}
	j.restarts += n * p.restarts
}

// observe takes over what the kubelet says of p, and lets it go when it is over.
//
// The API shows a terminal phase only when no container runs any more.
//
// Source: mergePodStatus in pkg/kubelet/status/status_manager.go, Kubernetes v1.33 to v1.37.
func (j *job) observe(p *jobPod) {
	k := p.k
	j.tally(p, -1)
	was := p.Phase
	deleted, ready, restarts := p.Deleted, k.readyIn(&k.views.api), k.restarts()
	p.Phase, p.Reason = k.views.api.phase, k.views.api.reason
	if k.ending.deleted && p.Deleted < 0 {
		p.Deleted = j.now
	}
	p.DisruptedBy = ""
	if k.views.api.disruption != "" {
		p.DisruptedBy = k.views.api.disruptedBy
	}
	j.dirty, k.views.news = j.dirty || k.views.news || was != p.Phase || deleted != p.Deleted || ready != p.ready || restarts != p.restarts, false
	if ready != p.ready {
		p.ready, p.readyAt = ready, j.now
	}
	p.restarts = restarts
	j.tally(p, 1)
	j.list(p)
	if p.Fails && p.Over < 0 && k.ending.terminated {
		p.Match = j.ask(p)
	}
	j.drain(p, was)
	j.tellUnknown()
	if p.at, _ = k.next(); k.ending.terminated {
		j.over(p)
	} else if p.at != never {
		j.due.push(p)
	}
	if j.res.Steps += k.report.steps - p.steps; j.res.Steps > MaxSteps {
		j.exceed(LimitSteps)
	}
	p.steps = k.report.steps
	if len(k.report.res.Undecided) > 0 || k.report.res.Exceeded != "" {
		j.res.Undecided = append(j.res.Undecided, k.report.res.Undecided...)
		j.stopped = true
		if k.report.res.Exceeded != "" {
			j.exceed(k.report.res.Exceeded)
		}
	}
	if p.k == nil {
		j.spare = append(j.spare, k)
	}
}

// list enters p where the controller looks for finished Pods.
//
// Source: isPodFailed in pkg/controller/job/job_controller.go, Kubernetes v1.33 to v1.37.
func (j *job) list(p *jobPod) {
	p.Fails = !p.untracked && (p.Phase == policy.PodFailed || !j.onlyFailed && p.Deleted >= 0 && p.Phase != policy.PodSucceeded)
	if p.holds && (p.Phase.Terminal() || p.Deleted >= 0 && !j.onlyFailed) {
		p.holds = false
		j.busy.remove(p.Index)
		if !j.status.CompletedIndexes.has(p.Index) && !j.status.FailedIndexSet.has(p.Index) {
			j.idle.add(p.Index)
		}
	}
	if p.listed || !p.finalizer || !p.Fails && p.Phase != policy.PodSucceeded {
		return
	}
	p.listed = true
	j.unwait(p.Index)
	j.finishes(p)
}

func (p *jobPod) before(q *jobPod) bool {
	return p.Index < q.Index || p.Index == q.Index && p.Number < q.Number
}

// finishes enters p into j.finishing.
func (j *job) finishes(p *jobPod) {
	n := len(j.finishing)
	for n > 0 && p.before(j.finishing[n-1]) {
		n--
	}
	j.finishing = append(j.finishing, nil)
	copy(j.finishing[n+1:], j.finishing[n:])
	j.finishing[n] = p
}

// waiting is a failed Pod that is over and keeps its finalizer until its index has another Pod.
// Nothing about it changes any more, so that the controller need not look at all of them again
// whenever one is added.
type waiting struct {
	end           Millis // of the back-off
	index, number int32
}

// rest takes p out of what the controller looks at in each round: index and all else are such that
// only a new Pod of the index changes what becomes of p.
func (j *job) rest(p *jobPod, end Millis) {
	n := j.restsAt(p.Index)
	j.waiting = append(j.waiting, waiting{})
	copy(j.waiting[n+1:], j.waiting[n:])
	j.waiting[n] = waiting{end, p.Index, p.Number}
	if p.Match.Counted() {
		j.counted++
	}
	j.idle.remove(p.Index)
}

// restsAt returns the place in j.waiting of the first index that is not below this one.
func (j *job) restsAt(index int32) int {
	return first(len(j.waiting), func(i int) bool { return j.waiting[i].index >= index })
}

// unwait takes the Pod of an index back among those that finish.
func (j *job) unwait(index int32) {
	n := j.restsAt(index)
	if n == len(j.waiting) || j.waiting[n].index != index {
		return
	}
	p := j.pods[j.waiting[n].number]
	j.waiting = append(j.waiting[:n], j.waiting[n+1:]...)
	if p.Match.Counted() {
		j.counted--
	}
	if !j.busy.has(index) {
		j.idle.add(index)
	}
	p.delayed = j.syncs
	j.finishes(p)
}

// unwaitAll does so for all of them.
func (j *job) unwaitAll() {
	all := j.finishing
	for _, w := range j.waiting {
		all = append(all, j.pods[w.number])
		j.idle.add(w.index)
	}
	j.waiting, j.counted, j.finishing = nil, 0, make([]*jobPod, len(all))
	for i, n := range policy.Order(len(all), func(a, b int) bool { return all[a].before(all[b]) }) {
		j.finishing[i] = all[n]
	}
}

// over keeps of p what is asked for later.
func (j *job) over(p *jobPod) {
	p.finish = j.finishTime(p)
	status := *j.statusOf(p)
	p.Status.Exits = append([]policy.PodExit(nil), status.Exits...)
	p.Status.Conditions = append([]policy.PodCondition(nil), status.Conditions...)
	p.Status.Reason = status.Reason
	p.Over = j.now
	j.total(p)
	p.row = p.k.report.row
	p.k = nil
	j.showGone(p)
	j.ended++
}

// forget takes the Pods that are over from those that run, when there are as many of them.
func (j *job) forget() {
	left := j.running[:0]
	for _, p := range j.running {
		if p.Over < 0 {
			left = append(left, p)
		}
	}
	clear(j.running[len(left):])
	j.running, j.ended = left, 0
}

// total adds up what became of the containers of p, and what was assumed about it.
func (j *job) total(p *jobPod) {
	j.assumptions(p.k)
	if j.res.Containers == nil {
		j.res.Containers = make([]ContainerTotals, len(p.k.ctrs))
	}
	for i := range p.k.ctrs {
		c, sum := &p.k.ctrs[i], &j.res.Containers[i]
		if in := c.latest(); in != nil && in.state == running {
			c.stats.Ran += p.k.now - in.started
		}
		sum.Starts += c.stats.Starts
		sum.Ran += c.stats.Ran
		sum.Restarts += p.k.shownStatus(i).restarts
	}
	spent, of := p.k.spent(p.Created, p.k.now), &j.res.Spent
	if p.Over >= 0 && p.k.views.api.phase != policy.PodSucceeded {
		spent.Lost = spent.Ran
	}
	of.Ran, of.Waited, of.Lost = of.Ran+spent.Ran, of.Waited+spent.Waited, of.Lost+spent.Lost
}

func (j *job) assumptions(k *kubelet) {
	all := kubelet{report: report{assumed: j.assumed}}
	for _, code := range k.report.assumed {
		all.assume(code)
	}
	j.assumed = all.report.assumed
}

// drain moves what the kubelet has recorded into the timeline of the Job. That a sandbox exists
// goes without saying, and the phase changes when the API shows it.
func (j *job) drain(p *jobPod, was policy.PodPhase) {
	k, kept := p.k, p.k.report.res.Timeline[:0]
	for i := range k.report.res.Timeline {
		r := &k.report.res.Timeline[i]
		if r.Event == SandboxCreated || r.Event == StatusShown || r.OfKubelet || r.Event == PhaseChanged && r.To.Terminal() {
			continue
		}
		kept = append(kept, *r)
	}
	if was != p.Phase && p.Phase.Terminal() {
		r := Record{Event: PhaseChanged, Container: none, From: was, To: p.Phase, Reason: p.Reason}
		if p.Fails && !p.Unjudged {
			r.Matched, r.Match = true, p.Match
		}
		kept = append(kept, r)
	}
	j.blockOf(p.Number, kept)
	k.report.res.Timeline, j.entries = nil, k.report.res.Timeline[:0]
	for i := range k.ctrs {
		k.ctrs[i].startRecord = none
	}
}

// statusOf is what a podFailurePolicy looks at in p. What it returns is used before the next call.
func (j *job) statusOf(p *jobPod) *policy.FailedPod {
	if p.k == nil {
		return &p.Status
	}
	s := &j.scratch
	s.Exits, s.Conditions, s.Reason = s.Exits[:0], s.Conditions[:0], p.k.views.api.reason
	for _, i := range j.byName {
		c, now := &p.k.ctrs[i], &p.k.shownStatus(i).state
		if now.kind == policy.StateTerminated {
			s.Exits = append(s.Exits, policy.PodExit{Container: c.spec.Name, Code: now.code})
		}
	}
	if j.policy.UsesConditions() {
		for _, c := range p.k.conditions() {
			status := "False"
			if c.Status {
				status = "True"
			}
			s.Conditions = append(s.Conditions, policy.PodCondition{Type: c.Type, Status: status})
		}
	}
	return s
}

// finishTime is when p has ended as far as the back-off is concerned, to the second.
//
// Source: getFinishedTime and latestFinishTime in pkg/controller/job/backoff_utils.go, Kubernetes
// v1.33 to v1.37.
func (j *job) finishTime(p *jobPod) Millis {
	if p.k == nil {
		return p.finish
	}
	// The end of a Pod whose main containers have not all ended is that of its sidecars: of the two
	// lists each is looked at for itself, and the second has the last word.
	at := p.k.latestEnd(-1, false)
	at = p.k.latestEnd(at, true)
	switch {
	case at >= 0:
	case !p.ready:
		at = p.readyAt
	case p.Deleted >= 0:
		at = p.Deleted
	default:
		at = p.Created
	}
	return wholeSecond(at)
}

// latestEnd is the latest end of the main containers, or of the sidecars, and not before at; below
// 0 if one of them has none.
func (k *kubelet) latestEnd(at Millis, sidecars bool) Millis {
	for i := range k.ctrs {
		c := &k.ctrs[i]
		if c.sidecar != sidecars || !sidecars && c.ref.Kind != policy.MainContainer {
			continue
		}
		s := &k.shownStatus(i).state
		if s.kind != policy.StateTerminated || s.finished == never {
			return -1
		}
		at = max(at, s.finished)
	}
	return at
}

func wholeSecond(t Millis) Millis { return t / policy.Second * policy.Second }

// restarts is the sum of the counts that the Job controller looks at.
func (k *kubelet) restarts() (n int64) {
	for i := range len(k.ctrs) - k.ephemerals {
		n += k.shownStatus(i).restarts
	}
	return n
}

// podHeap holds Pods by their next instant and number. An entry whose Pod has gone on since is
// skipped.
type podHeap []podDue

type podDue struct {
	at Millis
	p  *jobPod
}

func (h podHeap) less(a, b int) bool {
	return h[a].at < h[b].at || h[a].at == h[b].at && h[a].p.Number < h[b].p.Number
}

func (h *podHeap) push(p *jobPod) {
	*h = append(*h, podDue{p.at, p})
	s := *h
	for i := len(s) - 1; i > 0 && s.less(i, (i-1)/2); i = (i - 1) / 2 {
		s[i], s[(i-1)/2] = s[(i-1)/2], s[i]
	}
}

// pop returns the first Pod, nil if the entry counts no more.
func (h *podHeap) pop() *jobPod {
	s := *h
	p := s[0].p
	if p.k == nil || p.at != s[0].at {
		p = nil
	}
	last := len(s) - 1
	s[0], s[last] = s[last], podDue{}
	s = s[:last]
	for i := 0; ; {
		child := 2*i + 1
		if child+1 < last && s.less(child+1, child) {
			child++
		}
		if child >= last || !s.less(child, i) {
			break
		}
		s[i], s[child] = s[child], s[i]
		i = child
	}
	*h = s
	return p
}
