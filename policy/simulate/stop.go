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
// Source: minimumGracePeriodInSeconds in pkg/kubelet/kuberuntime/kuberuntime_container.go,
// Kubernetes v1.33 to v1.37.
const minimumGrace = 2 * policy.Second

// evictionGrace is what an eviction for a hard threshold gives.
//
// Source: immediateEvictionGracePeriodSeconds in pkg/kubelet/eviction/eviction_manager.go,
// Kubernetes v1.33 to v1.37.
const evictionGrace = 1 * policy.Second

// orphanGrace is what containers are given that run although their Pod is not admitted.
//
// Source: HandlePodCleanups in pkg/kubelet/kubelet_pods.go, Kubernetes v1.33 to v1.37.
const orphanGrace = 1 * policy.Second

// kill stops the newest instance of container i and returns when that is over, which k.freeAt waits
// for: a sync does nothing else meanwhile. turn is the instant at which the containers have ended
// that must end first. One that has ended unnoticed keeps its own code.
//
// Source: killContainer in pkg/kubelet/kuberuntime/kuberuntime_container.go, waitForTurn in
// kuberuntime_termination_order.go, Kubernetes v1.33 to v1.37.
func (k *kubelet) kill(i int, reason string, restart bool, grace, turn Millis) (done Millis) {
	c := &k.ctrs[i]
	in := c.latest()
	if !in.stopping {
		k.record(&Record{Event: Killing, Container: i, Reason: reason, WillRestart: restart, Cause: k.killCause(reason)})
	}
	in.killedIn = k.serial
	if in.state == running && in.stop == nil && turn > k.now && grace > 0 {
		in.stop = &Stop{ExitCode: k.ending.killCode} // it runs on until its turn has come
		k.assume("killed_at_once")
	}
	switch {
	case in.state == running && in.exitAt <= k.now:
		k.end(i, in.exitAt, in.code, in.reason)
	case in.state == running && in.stop != nil:
		done = k.stop(in, k.now, grace, turn)
		if in.exitAt > k.now {
			k.queue.freeAt = max(k.queue.freeAt, done)
			return done
		}
		k.end(i, k.now, in.code, in.reason)
	default:
		code := k.ending.killCode
		if in.livenessFailed || in.startupFailed || in.stale || in.resized {
			code = in.killCode
		}
		k.end(i, k.now, code, exitReason(code))
		k.assume("killed_at_once")
	}
	k.record(&Record{Event: ExitedBy, Container: i, ExitCode: in.code, Reason: in.reason})
	return max(done, k.now)
}

// stop works out how and when an instance ends that is told to at from, and returns when the
// kubelet knows. What it does after SIGTERM takes the place of the rest of its run, however long
// that would have been.
func (k *kubelet) stop(in *instance, from, grace, turn Millis) (done Millis) {
	at := from
	if in.signalled == never {
		if grace > 0 {
			hook := min(in.stop.PreStop, grace, max(in.own.at-at, 0))
			at, grace = at+hook, grace-hook/policy.Second*policy.Second
		}
		if grace > 0 && turn > at {
			wait := min(turn-at, grace)
			at, grace = at+wait, grace-wait/policy.Second*policy.Second
		}
		in.signalled = at
	} else if in.signalled > at { // its hook is under way
		grace -= (in.signalled - at) / policy.Second * policy.Second
		at = in.signalled
	}
	stopped := end{in.signalled + in.stop.For, in.stop.ExitCode, exitReason(in.stop.ExitCode)}
	if last := at + max(grace, minimumGrace); stopped.at > last {
		stopped = end{last, KilledExitCode, exitReason(KilledExitCode)}
	}
	in.stopping = true
	if in.own.at > in.signalled && (!in.told || stopped.at < in.exitAt) {
		in.exitAt, in.code, in.reason = stopped.at, stopped.code, stopped.reason
		in.told = true
	}
	return max(at, in.exitAt)
}

// killAll kills what runs: main containers in order, then init containers from the last to the
// first, as sidecars stop, then ephemeral ones. All are told at once; a sidecar waits for the main
// containers and for the sidecars after it.
//
// Source: killContainersWithSyncResult in pkg/kubelet/kuberuntime/kuberuntime_container.go,
// newTerminationOrdering in kuberuntime_termination_order.go, Kubernetes v1.33 to v1.37.
func (k *kubelet) killAll(reason string, grace Millis) (killed bool) {
	k.ending.stopAt, k.ending.stopGrace = k.now, grace
	k.inOrder(func(i int, in *instance, turn Millis) Millis {
		if in.state == exited {
			return k.now
		}
		killed = true
		return k.kill(i, reason, false, grace, turn)
	})
	return killed
}

// inOrder visits the newest instance of each container in the order of killAll. visit returns when
// the container has ended; turn is when those have that must end first.
func (k *kubelet) inOrder(visit func(i int, in *instance, turn Millis) (done Millis)) {
	turn, last := k.ending.stopAt, len(k.ctrs)-k.ephemerals
	for n := range k.ctrs {
		i := n
		if n < last {
			if i += k.inits; n >= k.mains() {
				i = last - 1 - n
			}
		}
		c := &k.ctrs[i]
		in := c.latest()
		if in == nil {
			continue
		}
		own := Millis(0)
		if c.sidecar {
			own = turn
		}
		done := visit(i, in, own)
		if c.sidecar || c.ref.Kind == policy.MainContainer {
			turn = max(turn, done)
		}
	}
}

// restop works out again how long the sync under way waits, after a container that it stops has
// ended by something else: nothing is cancelled, but what waited for that container goes on
// earlier.
func (k *kubelet) restop() {
	if !k.waiting() {
		return
	}
	if p := &k.plan; k.queue.busy == executing && !p.killPod { // one container after the other
		if in := k.ctrs[p.kill[p.next].container].latest(); in == nil || in.state != running {
			k.queue.freeAt = k.now
		}
		return
	}
	k.queue.freeAt = k.now
	k.inOrder(func(_ int, in *instance, turn Millis) (done Millis) {
		switch {
		case !in.stopping:
			return k.ending.stopAt
		case in.state != running:
			return min(in.finished, k.now)
		case in.signalled > k.now:
			in.signalled, in.told = never, false
			in.exitAt, in.code, in.reason = in.own.at, in.own.code, in.own.reason
			done = max(k.stop(in, k.ending.stopAt, k.ending.stopGrace, turn), k.now)
		default:
			done = in.exitAt
		}
		k.queue.freeAt = max(k.queue.freeAt, done)
		return done
	})
}

// podGrace is the grace period of the Pod's own. A negative one is a second to the API server.
//
// Source: Convert_v1_Pod_To_core_Pod in pkg/apis/core/v1/conversion.go, Kubernetes v1.33 to v1.37.
func (k *kubelet) podGrace() Millis {
	switch s := k.spec.TerminationGracePeriodSeconds; {
	case s == nil:
		return 30 * policy.Second
	case *s < 0:
		return policy.Second
	default:
		return seconds(*s)
	}
}

func seconds(n int64) Millis {
	return Millis(min(max(n, 0), int64(policy.MaxHorizon/policy.Second))) * policy.Second
}

// probeGrace is the grace period of a container that is killed for a reason of its own.
//
// Source: setTerminationGracePeriod in pkg/kubelet/kuberuntime/kuberuntime_container.go, Kubernetes
// v1.33 to v1.37.
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

// shorten lets a Pod that is to end be given less time than it has; grace 0 stands for its own. It
// can only decrease, and counts when the containers are stopped: once that is under way, nothing
// shortens it.
//
// Source: calculateEffectiveGracePeriod in pkg/kubelet/pod_workers.go, SyncTerminatingPod in
// pkg/kubelet/kubelet.go, whose context nothing cancels, Kubernetes v1.33 to v1.37.
func (k *kubelet) shorten(grace Millis) {
	if grace == 0 {
		grace = k.podGrace()
	}
	if grace = max(grace, policy.Second); k.ending.grace == 0 || grace < k.ending.grace {
		k.ending.grace = grace
	}
}

// waiting reports whether the kubelet is busy with containers that stop.
func (k *kubelet) waiting() bool { return k.queue.freeAt > k.now }
