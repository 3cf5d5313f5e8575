package simulate

import "github.com/podfate/podfate/policy"

// Where a manifest has words of proposals, what follows from an end depends on more than its code:
// it is decided once, when the container ends, and kept with the instance. Everything else asks
// [instance.do].

// endedByRule is how a rule ends the Pod.
var endedByRule = ending{}

// prepare sets what depends on proposals and on the features of the kubelet.
func (k *kubelet) prepare() {
	p := k.f.Proposals
	k.whole, k.asked = false, false
	if k.proposed = k.spec.Proposed; !k.proposed {
		return
	}
	reuse := false
	if k.spec.RestartPolicy == policy.RestartPolicyAlwaysPod && p.Has(policy.AlwaysPod) {
		k.f.ContainerRestartRules, k.whole = true, true // it has a gate of its own
		reuse = p.Reading(policy.OptionSandbox) == 0
	}
	for i := range k.ctrs {
		for _, rule := range k.ctrs[i].spec.RestartPolicyRules {
			if rule.Action == policy.ActionRestartPod {
				k.whole = true
				reuse = reuse || p.Reading(policy.OptionRestartPod) == 1
			}
		}
	}
	if reuse {
		k.f.RestartAllContainersOnContainerExits, k.couldRestartAll = true, true
	}
	k.asks, k.asked = k.spec.AsksForRestarts(k.f)
}

// exitOf is the end of in, an instance of c, as rules see it.
func (k *kubelet) exitOf(c *container, in *instance) policy.Exit {
	e := policy.Exit{Code: in.code, OOMKilled: in.reason == reasonOOMKilled}
	if k.proposed {
		e.Restarts = uint32(k.restartsOf(c, in))
		for i := range len(k.ctrs) - k.ephemerals {
			other := &k.ctrs[i]
			if newest := other.latest(); newest != nil {
				e.PodRestarts += uint32(k.restartsOf(other, newest))
			} else {
				e.PodRestarts += uint32(other.api.restarts)
			}
		}
	}
	return e
}

// restartsOf is the restart count that the API shows, or is going to show, with in.
func (k *kubelet) restartsOf(c *container, in *instance) int64 {
	if c.api.instance == in.id {
		return c.api.restarts
	}
	return max(in.attempt, k.apiRestarts(c, in.attempt))
}

// decide notes what follows from the end of in, an instance of c.
func (k *kubelet) decide(c *container, in *instance) {
	if !k.proposed || c.ref.Kind == policy.EphemeralContainer {
		return
	}
	d := k.rules.Decide(c.ref, k.exitOf(c, in))
	in.do, in.waits, in.cleared = d.Action, d.Waits(k.f), false
	if d.Action.Whole() && d.KeepsSandbox(k.f) {
		in.do = policy.RestartAllContainers
	}
	if in.do == policy.TerminatePod && k.queue.busy != terminating && !k.ends() {
		k.ending.evictedBy = &endedByRule
	}
}

// decideAll does so for what has ended already.
func (k *kubelet) decideAll() {
	for i := range k.ctrs {
		c := &k.ctrs[i]
		for n := range c.insts {
			if in := &c.insts[n]; in.state == exited {
				k.decide(c, in)
				if c.api.state.instance == in.id {
					c.api.state.do = in.do
				}
				if c.api.last.instance == in.id {
					c.api.last.do = in.do
				}
			}
		}
	}
}

// startsAgain reports whether c is started again after in, which has exited.
func (k *kubelet) startsAgain(c *container, in *instance) bool {
	if k.proposed {
		return in.do.Again()
	}
	return k.restartsAfter(c, in.code)
}

// completed reports whether in, which has exited, has succeeded as far as other containers go.
func (in *instance) completed() bool {
	return in.do == policy.Complete || in.code == 0 && in.reason != reasonOOMKilled
}

// down reports whether a rule keeps the container of in down for good.
func (in *instance) down() bool { return in.do == policy.Complete || in.do == policy.Terminate }

// source reports whether the end of in asks for all containers to be restarted in the same
// sandbox, now.
func (k *kubelet) source(c *container, in *instance) bool {
	if k.proposed {
		return in.do == policy.RestartAllContainers && (!in.waits || in.cleared)
	}
	return k.triggers(c, in.code)
}

// recreates reports whether the Pod is to be restarted in a new sandbox.
func (k *kubelet) recreates() bool {
	if !k.proposed || !k.whole {
		return false
	}
	for i := range len(k.ctrs) - k.ephemerals {
		if in := k.ctrs[i].latest(); in != nil && in.state == exited && k.active(in) && in.do == policy.RestartPod && (!in.waits || in.cleared) {
			return true
		}
	}
	return false
}

// planRecreate plans to kill what runs, and to begin in a new sandbox.
func (k *kubelet) planRecreate(p *plan) {
	*p = plan{
		kill: p.kill[:0], startInit: p.startInit[:0], startMain: p.startMain[:0], startEphemeral: p.startEphemeral[:0],
		killPod: true, createSandbox: true, recreate: true,
	}
	if k.inits > 0 {
		p.startInit = append(p.startInit, 0)
		return
	}
	for i := range k.mains() {
		p.startMain = append(p.startMain, i)
	}
}

// renew lets all containers start in the new sandbox at once: the one that asked for it has waited.
func (k *kubelet) renew() {
	for i := range len(k.ctrs) - k.ephemerals {
		c := &k.ctrs[i]
		c.renewed, c.dirty, c.backingOff, c.cause = true, true, false, k.resetCause
	}
}

// clear lets the whole Pod be restarted after a wait, and reports whether it is c that asks for
// that.
func (c *container) clear() bool {
	in := c.latest()
	if in == nil || in.state != exited || !in.waits || !in.do.Whole() {
		return false
	}
	in.cleared = true
	return true
}

// entryOf is the back-off that c waits by: with AlwaysPod the containers that are not restarted
// alone have one for all.
func (k *kubelet) entryOf(c *container) *policy.BackoffEntry {
	if k.proposed && k.spec.RestartPolicy == policy.RestartPolicyAlwaysPod && k.f.Proposals.Has(policy.AlwaysPod) &&
		c.ref.Kind == policy.MainContainer && c.spec.RestartPolicy == nil {
		return &k.ctrs[k.inits].entry
	}
	return &c.entry
}

// counting reports whether a container that was just started may still come to a restart count that
// something asks for: then its rounds are not alike.
func (k *kubelet) counting() bool {
	if !k.asked {
		return false
	}
	for _, i := range k.started {
		if c := &k.ctrs[i]; max(c.attempts(), c.api.restarts) <= int64(k.asks) {
			return true
		}
	}
	return false
}

// send3329 notes the reason that comes with a deletion: that of the event, or Preemption, which the
// scheduler sends.
func (k *kubelet) send3329(e *Event) {
	if !k.f.Proposals.Has(policy.KEP3329Draft) || k.ending.sent != "" {
		return
	}
	if k.ending.sent = e.Reason; k.ending.sent == "" && e.Type == EventPreempted {
		k.ending.sent = "Preemption"
	}
	k.views.made.reason, k.views.kept.reason, k.views.api.reason = k.ending.sent, k.ending.sent, k.ending.sent
}
