package simulate

import "github.com/podfate/podfate/policy"

// PodStatus is the status of a Pod as one side has it.
type PodStatus struct {
	Phase           policy.PodPhase
	Reason, Message string
	Conditions      []Condition
	Containers      []ContainerStatus // init containers first, ephemeral ones last
}

// ContainerStatus is the status of one container.
type ContainerStatus struct {
	Ref            policy.Ref
	Listed         bool  // false: the status has no entry for it, and nothing below counts
	State, Last    State // Last.Kind is StateNone if there is none
	RestartCount   int64
	Started, Ready bool
}

// Step is one status that a kubelet works out and what becomes of it.
type Step struct {
	At         Millis
	Kept, API  PodStatus // what the kubelet has kept and what the API shows, before
	Made       PodStatus // what is worked out
	Refused    bool      // the node does not admit the Pod: nothing is worked out, and there are no conditions
	Terminated bool      // no container can run any more: Made is the last one, which only gives missing ends

	// What the phase is worked out with besides the statuses in Made, and what it was before
	// anything else is looked at.
	Options policy.PhaseOptions
	Phase   policy.PodPhase
	By      policy.PodPhase // what the conditions in Made are worked out with

	Dropped, Denied bool      // the kubelet does not send it; the API server refuses it
	Shown           PodStatus // what the API shows then
}

// Watch is [Pod] for those who compare each step with other code: see is told of each status that
// is worked out.
func Watch(sc *Scenario, see func(*Step)) *Result {
	k := newKubelet(sc)
	var s Step
	k.views.watch = func(done bool) {
		if done {
			s.Dropped, s.Denied = k.views.dropped, !k.views.dropped && len(k.views.frozen) > 0
			s.Shown = k.statusOf(&k.views.api, k.shownStatus)
			see(&s)
			return
		}
		s = Step{
			At:         k.now,
			Refused:    k.ending.refusedPod,
			Terminated: k.ending.terminated,
			Kept:       k.statusOf(&k.views.kept, func(i int) *status { return &k.ctrs[i].api }),
			API:        k.statusOf(&k.views.api, k.shownStatus),
			Made:       k.statusOf(&k.views.made, func(i int) *status { return &k.ctrs[i].next }),
			Options:    policy.PhaseOptions{Terminating: k.ending.final, Initialized: k.mainActive()},
		}
		if k.ending.terminated {
			s.Made = k.statusOf(&k.views.kept, func(i int) *status { return &k.ctrs[i].api })
		}
		s.By = k.views.made.by
		s.Phase = k.counts.Phase(k.spec.RestartPolicy, k.f, s.Options)
	}
	k.loop()
	k.finish()
	return &k.report.res
}

// statusOf writes down a view with the containers that belong to it.
func (k *kubelet) statusOf(v *view, of func(i int) *status) PodStatus {
	p := PodStatus{Phase: v.phase, Reason: v.reason, Message: v.message, Conditions: k.conditionsOf(v, of)}
	for i := range k.ctrs {
		c, s := &k.ctrs[i], of(i)
		p.Containers = append(p.Containers, ContainerStatus{
			Ref: c.ref, Listed: s.listed, State: k.shown(c, s.state), Last: k.shown(c, s.last), RestartCount: s.restarts,
			Started: s.started, Ready: s.ready,
		})
	}
	return p
}
