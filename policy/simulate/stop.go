package simulate

import "github.com/podfate/podfate/policy"

// work is what a sync waits with until containers have stopped.
type work uint8

const (
	idle        work = iota
	executing        // the plan: more kills, then starts
	terminating      // the end of the Pod
)

// minimumGrace is what a container is given at least between SIGTERM and SIGKILL.
//
// Source: minimumGracePeriodInSeconds in pkg/kubelet/kuberuntime/kuberuntime_container.go, Kubernetes v1.33 to v1.37.
const minimumGrace = 2 * policy.Second

// evictionGrace is what an eviction for a hard threshold gives.
//
// Source: immediateEvictionGracePeriodSeconds in pkg/kubelet/eviction/eviction_manager.go, Kubernetes v1.33 to v1.37.
const evictionGrace = 1 * policy.Second

// kill stops the newest instance of container i and returns when that is over, which k.freeAt waits for: a sync does
// nothing else meanwhile. turn is the instant at which the containers have ended that must end first. One that has
// ended unnoticed keeps its own code.
//
// Source: killContainer in pkg/kubelet/kuberuntime/kuberuntime_container.go, waitForTurn in
// kuberuntime_termination_order.go, Kubernetes v1.33 to v1.37.
func (k *kubelet) kill(i int, reason string, restart bool, grace, turn Millis) (done Millis) {
	c := &k.ctrs[i]
	in := c.latest()
	if !in.stopping {
		k.record(&Record{Event: Killing, Container: i, Reason: reason, WillRestart: restart})
	}
	in.killedIn = k.serial
	switch {
	case in.state == running && in.exitAt <= k.now:
		k.end(i, in.exitAt, in.code, in.reason)
	case in.state == running && in.stop != nil:
		done = k.stop(in, grace, turn)
		if in.exitAt > k.now {
			k.freeAt = max(k.freeAt, done)
			return done
		}
		k.end(i, k.now, in.code, in.reason)
	default:
		code := k.killCode
		if in.livenessFailed || in.startupFailed || in.stale || in.resized {
			code = in.killCode
		}
		k.end(i, k.now, code, exitReason(code))
		k.assume("killed_at_once")
	}
	k.record(&Record{Event: ExitedBy, Container: i, ExitCode: in.code, Reason: in.reason})
	return max(done, k.now)
}

// stop works out how and when in ends, and returns when the kubelet knows.
func (k *kubelet) stop(in *instance, grace, turn Millis) (done Millis) {
	at := k.now
	if in.signalled > at { // else it has been told before, and knows
		if grace > 0 {
			hook := min(in.stop.PreStop, grace, in.exitAt-at)
			at, grace = at+hook, grace-hook/policy.Second*policy.Second
		}
		if grace > 0 && turn > at {
			wait := min(turn-at, grace)
			at, grace = at+wait, grace-wait/policy.Second*policy.Second
		}
		in.signalled = at
	}
	end, code := in.signalled+in.stop.For, in.stop.ExitCode
	if last := at + max(grace, minimumGrace); end > last {
		end, code = last, KilledExitCode
	}
	in.stopping = true
	if end < in.exitAt {
		in.exitAt, in.code, in.reason = end, code, exitReason(code)
	}
	return max(at, in.exitAt)
}

// killAll kills what runs: main containers in order, then init containers from the last to the first, as sidecars stop,
// then ephemeral ones. All are told at once; a sidecar waits for the main containers and for the sidecars behind it.
//
// Source: killContainersWithSyncResult in pkg/kubelet/kuberuntime/kuberuntime_container.go, newTerminationOrdering in
// kuberuntime_termination_order.go, Kubernetes v1.33 to v1.37.
func (k *kubelet) killAll(reason string, grace Millis) (killed bool) {
	turn, last := k.now, len(k.ctrs)-k.ephemerals
	for n := range k.ctrs {
		i := n
		if n < last {
			if i += k.inits; n >= k.mains() {
				i = last - 1 - n
			}
		}
		c := &k.ctrs[i]
		if in := c.latest(); in != nil && in.state != exited {
			own := Millis(0)
			if c.sidecar {
				own = turn
			}
			done := k.kill(i, reason, false, grace, own)
			if c.sidecar || c.ref.Kind == policy.MainContainer {
				turn = max(turn, done)
			}
			killed = true
		}
	}
	return killed
}

// podGrace is the grace period of the Pod's own.
func (k *kubelet) podGrace() Millis {
	if s := k.spec.TerminationGracePeriodSeconds; s != nil {
		return seconds(*s)
	}
	return 30 * policy.Second
}

func seconds(n int64) Millis {
	return Millis(min(max(n, 0), int64(policy.MaxHorizon/policy.Second))) * policy.Second
}

// probeGrace is the grace period of a container that is killed for a reason of its own.
//
// Source: setTerminationGracePeriod in pkg/kubelet/kuberuntime/kuberuntime_container.go, Kubernetes v1.33 to v1.37.
func (k *kubelet) probeGrace(c *container, reason string) Millis {
	own := c.spec.LivenessGraceSeconds
	if reason == killStartup {
		own = c.spec.StartupGraceSeconds
	}
	if own != nil && (reason == killStartup || reason == killLiveness) {
		return seconds(*own)
	}
	return k.podGrace()
}

// shorten lets a Pod that ends be given less time than it has; grace 0 stands for its own. It can only decrease.
//
// Source: calculateEffectiveGracePeriod in pkg/kubelet/pod_workers.go, Kubernetes v1.33 to v1.37.
func (k *kubelet) shorten(grace Millis) {
	if grace == 0 {
		grace = k.podGrace()
	}
	if grace = max(grace, policy.Second); k.grace == 0 || grace < k.grace {
		k.grace = grace
		k.abort()
	}
}

// abort ends what a sync waits for, as a kubelet does when the Pod is to end or to end sooner.
func (k *kubelet) abort() { k.busy, k.freeAt = idle, k.now }

// waiting tells whether the kubelet is busy with containers that stop.
func (k *kubelet) waiting() bool { return k.freeAt > k.now }
