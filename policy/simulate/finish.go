package simulate

import "github.com/podfate/podfate/policy"

// finish describes the Pod as it is at the end.
func (k *kubelet) finish() {
	k.lastRows()
	r := &k.report.res
	r.Until, r.Steps = k.now, k.report.steps
	r.Phase, r.Reason, r.Message = k.views.api.phase, k.views.api.reason, k.views.api.message
	r.Deleted = k.ending.deleted && k.ending.terminated && k.views.api.phase.Terminal()
	r.Conditions = k.conditions()
	r.Containers = make([]ContainerResult, len(k.ctrs))
	for i := range k.ctrs {
		c := &k.ctrs[i]
		if in := c.latest(); in != nil && in.state == running {
			c.stats.Ran += k.now - in.started
		}
		out, st := &r.Containers[i], k.shownStatus(i)
		*out = ContainerResult{
			Ref: c.ref, State: k.shown(c, st.state), Last: k.shown(c, st.last), RestartCount: st.restarts,
			Started: st.started, Ready: st.ready, Totals: c.stats, NextStart: -1, Unlisted: k.views.api.bare,
		}
		switch {
		case k.ending.terminated || !c.backingOff:
		case c.retryAt != never:
			out.NextStart, out.Delay = c.retryAt, c.backoff
		case k.sc.Timing.KubeletSync && k.queue.refused && k.queue.syncAt != never:
			out.NextStart, out.Delay = max(k.queue.syncAt, c.until), c.backoff
		}
	}
	end := k.now
	for i := len(r.Timeline) - 1; i >= 0 && r.Phase.Terminal(); i-- {
		if e := &r.Timeline[i]; e.Event == PhaseChanged && !e.From.Terminal() {
			end = e.At
			break
		}
	}
	r.Spent = k.spent(k.sc.Start, end)
	k.standing()
	r.Assumptions = k.report.assumed
}

// failed notes a run that has ended with code. Of a run that began before the answer does, what
// came after counts.
func (k *kubelet) failed(c *container, from, to Millis, code int32) {
	if code != 0 {
		c.stats.Failed += max(to-max(from, k.sc.Start), 0)
	}
}

// spent adds up the totals of the containers over a life from one instant to another.
func (k *kubelet) spent(from, to Millis) (s Spent) {
	longest := Totals{}
	for i := range k.ctrs {
		switch c := &k.ctrs[i]; {
		case c.ref.Kind == policy.MainContainer && c.stats.Ran > longest.Ran:
			longest = c.stats
		case c.ref.Kind == policy.InitContainer && !c.sidecar:
			s.Ran += c.stats.Ran
			s.Lost += c.stats.Failed
		}
	}
	s.Ran, s.Lost = s.Ran+longest.Ran, s.Lost+longest.Failed
	s.Waited = max(to-from-s.Ran, 0)
	return s
}

// standing notes the assumptions that follow from the scenario alone.
func (k *kubelet) standing() {
	t := &k.sc.Timing
	first := "first_restart_at_once"
	if t.FirstRestart == FirstRestartDocumented {
		first = "first_restart_as_documented"
	}
	k.assume(first)
	k.assume("images_present")
	k.assume("probes_pass")
	k.assume("sweep_at_even_seconds")
	for _, code := range k.sc.Assume {
		k.assume(code)
	}
	switch {
	case !t.KubeletSync && t.Detection == 0:
		k.assume("ideal_timing")
	case k.f.PLEGOnDemandRelist && t.Detection > 0:
		k.assume("relist_on_demand_after_100ms")
	}
}

func (k *kubelet) shown(c *container, s state) State {
	out := State{Kind: s.kind, Reason: s.reason, Message: s.message, ExitCode: s.code, Started: s.started, Finished: s.finished}
	if s.started == never || s.instance == 0 {
		out.Started = -1
	}
	if s.finished == never || s.instance == 0 {
		out.Finished = -1
	}
	if s.reason == reasonCrashLoopBackOff {
		out.Message = BackoffMessage(s.delay, c.spec.Name, k.sc.Name)
	}
	return out
}

// conditions returns those that the API shows.
//
// Source: generateAPIPodStatus in pkg/kubelet/kubelet_pods.go, pkg/kubelet/status/generate.go,
// mergePodStatus in pkg/kubelet/status/status_manager.go, Kubernetes v1.33 to v1.37.
func (k *kubelet) conditions() []Condition { return k.conditionsOf(&k.views.api, k.shownStatus) }

// conditionsOf returns those of a view with the containers that belong to it.
func (k *kubelet) conditionsOf(v *view, of func(i int) *status) []Condition {
	var list []Condition
	if v.disruption != "" {
		list = append(list, Condition{"DisruptionTarget", true, v.disruptedBy, v.disruption})
	}
	if v.bare {
		return list
	}
	list = append(list, Condition{Type: "PodReadyToStartContainers", Status: v.sandboxReady})
	if !v.sandboxReady && k.f.Minor >= 37 {
		c := &list[len(list)-1]
		c.Reason, c.Message = "PodSandboxNotReady", "no pod sandbox exists"
		if v.sandboxed {
			c.Message = "pod sandbox is not ready"
		}
	}
	over := "" // the reason of conditions that go with a terminal phase
	switch v.by {
	case policy.PodSucceeded:
		over = "PodCompleted"
	case policy.PodFailed:
		over = "PodFailed"
	}
	initialized := Condition{Type: "Initialized", Status: v.initialized}
	if v.by == policy.PodSucceeded {
		initialized.Reason = over
	} else if !v.initialized {
		initialized.Reason = "ContainersNotInitialized"
		initialized.Message = "containers with incomplete status: " + k.names(of, func(c *container, s *status) bool {
			return c.ref.Kind == policy.InitContainer && (c.sidecar && !s.started || !c.sidecar && !s.ready)
		})
	}
	ready := Condition{Type: "Ready", Status: true}
	unready := k.names(of, func(c *container, s *status) bool {
		return (c.sidecar || c.ref.Kind == policy.MainContainer) && !s.ready
	})
	switch {
	case over != "":
		ready.Status, ready.Reason = false, over
	case unready != "[]":
		ready.Status, ready.Reason = false, "ContainersNotReady"
		ready.Message = "containers with unready status: " + unready
	case v.notReady && v.phase == policy.PodSucceeded:
		ready.Status, ready.Reason = false, "PodCompleted"
	case v.notReady:
		ready.Status, ready.Reason = false, "PodFailed"
	}
	containersReady := ready
	containersReady.Type = "ContainersReady"
	list = append(list, initialized, ready, containersReady, Condition{Type: "PodScheduled", Status: true})
	if k.rac() && k.couldRestartAll {
		c := Condition{Type: "AllContainersRestarting", Status: v.restartingAll, Reason: over}
		if v.restartingAll {
			c.Reason, c.Message = "RestartAllContainersStarted", "container exited with restart policy rule"
		}
		list = append(list, c)
	}
	return list
}

// names lists the containers that which holds for, as Kubernetes prints lists.
func (k *kubelet) names(of func(i int) *status, which func(*container, *status) bool) string {
	s := "["
	for i := range k.ctrs {
		if which(&k.ctrs[i], of(i)) {
			if len(s) > 1 {
				s += " "
			}
			s += k.ctrs[i].spec.Name
		}
	}
	return s + "]"
}
