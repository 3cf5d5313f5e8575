package simulate

import "github.com/podfate/podfate/policy"

// view is what one side has as the status of the Pod, apart from that of its containers. There are
// three: what the kubelet works out, what it keeps of that, and what the API shows.
type view struct {
	phase           policy.PodPhase
	reason, message string

	// The conditions, and the phase that they were worked out with: it can be ahead of the phase
	// beside them.
	by            policy.PodPhase
	disruption    string // message of DisruptionTarget, "" for none
	disruptedBy   string // its reason
	sandboxReady  bool   // PodReadyToStartContainers
	sandboxed     bool   // there is a sandbox, ready or not
	initialized   bool
	restartingAll bool // AllContainersRestarting
	notReady      bool // Ready is False whatever the containers say
	bare          bool // there are neither conditions of the kubelet nor statuses of containers: the Pod was not admitted
}

// Why a status is not shown, and why it is shown again.
const (
	reasonRunsAgain = "runs_again"
	reasonCaughtUp  = "api_shows_it"
)

// shownStatus is what the API shows of container i.
func (k *kubelet) shownStatus(i int) *status {
	if len(k.views.frozen) > 0 {
		return &k.views.frozen[i]
	}
	return &k.ctrs[i].api
}

// revived reports whether a container has left the terminated state.
func revived(old, now *status) bool {
	return now.listed && old.state.kind == policy.StateTerminated && now.state.kind != policy.StateTerminated
}

// keep makes what the kubelet has worked out the status that it keeps and sends, unless a container
// runs again that nothing allows to: then all of it is dropped, and worked out again from what was
// kept at the next sync.
//
// Source: updateStatusInternal in pkg/kubelet/status/status_manager.go, Kubernetes v1.33 to v1.37.
func (k *kubelet) keep() {
	k.look(false)
	k.keepOrDrop()
	k.look(true)
}

func (k *kubelet) keepOrDrop() {
	for i := range k.ctrs {
		if c := &k.ctrs[i]; revived(&c.api, &c.next) && !k.kubeletLets(c) {
			if !k.views.dropped {
				k.record(&Record{Event: StatusDropped, Container: i, Reason: reasonRunsAgain, OfKubelet: true})
			}
			k.views.dropped = true
			return
		}
	}
	caught := k.views.dropped
	k.views.dropped = false
	refused := k.refusal()
	if refused != none && len(k.views.frozen) == 0 {
		for i := range k.ctrs {
			k.views.frozen = append(k.views.frozen, k.ctrs[i].api)
		}
		k.record(&Record{Event: StatusDenied, Container: refused, Reason: reasonRunsAgain, OfKubelet: true})
	}
	k.views.kept = k.views.made
	for i := range k.ctrs {
		if c := &k.ctrs[i]; c.dirty {
			c.api = c.next
		}
	}
	k.send(refused, caught)
}

// look tells those who watch.
func (k *kubelet) look(done bool) {
	if k.views.watch != nil {
		k.views.watch(done)
	}
}

// send lets the API show what the kubelet keeps, unless the API server refuses it because of a
// container.
func (k *kubelet) send(refused int, caught bool) {
	if refused != none {
		return
	}
	if caught || len(k.views.frozen) > 0 {
		k.views.frozen, k.views.news = k.views.frozen[:0], true
		k.note(StatusShown, none, reasonCaughtUp)
	}
	k.publish()
}

// kubeletLets reports whether the kubelet publishes that c runs again after its last end.
//
// Source: checkContainerStateTransition in pkg/kubelet/status/status_manager.go, Kubernetes v1.33
// to v1.37.
func (k *kubelet) kubeletLets(c *container) bool {
	code, onFailure := c.api.state.code, k.spec.RestartPolicy == policy.RestartPolicyOnFailure
	switch {
	case k.alwaysPod(), k.rac() && k.couldRestartAll, k.whole, c.api.state.do.Again():
		return true
	case c.sidecar, c.ref.Kind == policy.EphemeralContainer, onFailure && code != 0:
		return true
	}
	return k.f.ContainerRestartRules && k.spec.RestartsAfter(c.ref, code, k.f)
}

// alwaysPod reports whether the policy of the Pod is Always, which is the default. Unlike elsewhere
// one that nobody knows is not taken for it.
func (k *kubelet) alwaysPod() bool {
	return k.spec.RestartPolicy == policy.RestartPolicyAlways || k.spec.RestartPolicy == ""
}

// refusal returns a container because of which the API server refuses the status, none if it
// accepts it.
func (k *kubelet) refusal() int {
	for i := range k.ctrs {
		if c, old := &k.ctrs[i], k.shownStatus(i); revived(old, &c.next) && !k.serverLets(c, old.state.code) {
			return i
		}
	}
	return none
}

// serverLets reports whether the API server lets c leave the terminated state after an end with
// code.
//
// Source: ValidateContainerStateTransition and the two for other containers in
// pkg/apis/core/validation/validation.go, Kubernetes v1.33 to v1.37.
func (k *kubelet) serverLets(c *container, code int32) bool {
	f := k.sc.Server
	if f.Minor == 0 {
		f = k.sc.Kubelet.Features
	}
	if c.ref.Kind == policy.EphemeralContainer {
		return false
	}
	if k.proposed {
		return c.api.state.do.Again() || k.whole // a server that stores the words knows them
	}
	rules := f.ContainerRestartRules || f.Minor >= 35 && k.usesRules()
	if f.Minor == 34 && c.ref.Kind == policy.InitContainer {
		rules = false
	}
	if !rules {
		return k.alwaysPod() || c.sidecar || code != 0 && k.spec.RestartPolicy == policy.RestartPolicyOnFailure
	}
	if k.couldRestartAll && f.Minor >= 35 {
		return true // a rule that is there is allowed for
	}
	f.ContainerRestartRules = true
	return k.spec.RestartsAfter(c.ref, code, f)
}

// usesRules reports whether the Pod has what the gate ContainerRestartRules brings.
//
// Source: containerRestartRulesInUse in pkg/api/pod/util.go, Kubernetes v1.35 to v1.37.
func (k *kubelet) usesRules() bool {
	for i := range len(k.ctrs) - k.ephemerals {
		c := k.ctrs[i].spec
		if len(c.RestartPolicyRules) > 0 && i < k.inits || c.RestartPolicy != nil && !k.ctrs[i].sidecar {
			return true
		}
	}
	return false
}

// publish lets the API show what the kubelet keeps. A terminal phase, its reason and the condition
// DisruptionTarget wait until no container can run any more; statuses of containers and the other
// conditions do not.
//
// Source: mergePodStatus in pkg/kubelet/status/status_manager.go, Kubernetes v1.33 to v1.37.
func (k *kubelet) publish() {
	v, was := k.views.kept, &k.views.api
	v.disruption, v.disruptedBy = was.disruption, was.disruptedBy
	if v.phase.Terminal() && !was.phase.Terminal() {
		if !k.ending.terminated {
			v.phase, v.reason, v.message = was.phase, was.reason, was.message
		} else if k.views.kept.disruption != "" {
			v.disruption, v.disruptedBy = k.views.kept.disruption, k.views.kept.disruptedBy
		}
	}
	v.notReady = v.phase.Terminal() && k.readyIn(&v)
	k.shift(v)
}

// shift makes v what the API shows.
func (k *kubelet) shift(v view) {
	if v.phase != k.views.api.phase {
		k.record(&Record{Event: PhaseChanged, Container: none, From: k.views.api.phase, To: v.phase, Reason: v.reason, Cause: k.phaseCause(v.phase)})
	}
	k.views.news = k.views.news || v != k.views.api
	k.views.api = v
}

// refusePod makes of the status what a kubelet leaves of it that does not admit the Pod: nothing
// but why. Containers that run are left over and stopped by the next clean-up.
//
// Source: HandlePodAdditions and rejectPod in pkg/kubelet/kubelet.go, HandlePodCleanups in
// pkg/kubelet/kubelet_pods.go, Kubernetes v1.35 to v1.37.
func (k *kubelet) refusePod() {
	for i := range k.ctrs {
		c := &k.ctrs[i]
		c.next, c.backingOff, c.dirty = status{}, false, true
		k.count(c)
	}
	k.views.made = view{
		phase: policy.PodFailed, by: policy.PodFailed, bare: true,
		reason: policy.ReasonFeatureUnsupported, message: "Pod was rejected: " + policy.MessageFeatureUnsupported,
	}
	k.keep()
}

// tell notes the phase that the kubelet knows when it is not the one that the API shows, once the
// work of an instant is done.
func (k *kubelet) tell() {
	known := k.views.made.phase
	if known == k.views.api.phase || k.ending.terminated {
		k.views.toldPhase = ""
		return
	}
	if known == k.views.toldPhase {
		return
	}
	from := k.views.toldPhase
	if from == "" {
		from = k.views.api.phase
	}
	k.record(&Record{Event: PhaseDecided, Container: none, From: from, To: known, Reason: k.views.made.reason, OfKubelet: true, Cause: k.phaseCause(known)})
	k.views.toldPhase = known
}

// forget makes what the API shows all that the kubelet knows of the Pod, as for one that has just
// begun to run.
func (k *kubelet) forget() {
	for i := range k.ctrs {
		c := &k.ctrs[i]
		c.api = *k.shownStatus(i)
		c.next, c.dirty = c.api, true
		k.count(c)
	}
	k.views.frozen, k.views.dropped, k.views.toldPhase = k.views.frozen[:0], false, ""
	k.views.made, k.views.kept = k.views.api, k.views.api
}

// readyIn reports whether the condition Ready is True in a view, with the containers as the API
// shows them.
func (k *kubelet) readyIn(v *view) bool {
	if v.by.Terminal() || v.notReady {
		return false
	}
	for i := range k.ctrs {
		c := &k.ctrs[i]
		if (c.sidecar || c.ref.Kind == policy.MainContainer) && !k.shownStatus(i).ready {
			return false
		}
	}
	return true
}
