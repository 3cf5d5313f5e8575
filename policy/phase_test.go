package policy_test

import (
	"testing"

	. "github.com/podfate/podfate/policy"
)

// exited and the names below it are statuses of a container.
func exited(code int32) ContainerState {
	return ContainerState{Listed: true, Kind: StateTerminated, Ended: Termination{ExitCode: code}}
}

func waitingAfter(code int32) ContainerState {
	return ContainerState{Listed: true, Kind: StateWaiting, Last: &Termination{ExitCode: code}}
}

var (
	runs      = ContainerState{Listed: true, Kind: StateRunning, Started: true}
	starting  = ContainerState{Listed: true, Kind: StateRunning}
	neverRan  = ContainerState{Listed: true, Kind: StateWaiting}
	unlisted  = ContainerState{}
	stateless = ContainerState{Listed: true}
	removed   = ContainerState{Listed: true, Kind: StateWaiting, Last: &Termination{ExitCode: 137, RestartingAllContainers: true}}
)

func main1(policy RestartPolicy, rules ...ContainerRestartRule) Container {
	c := Container{Name: "c", RestartPolicyRules: rules}
	if policy != "" {
		c.RestartPolicy = &policy
	}
	return c
}

func restartIn(codes ...int32) ContainerRestartRule {
	return ContainerRestartRule{Action: ActionRestart, ExitCodes: &ContainerRestartRuleOnExitCodes{OperatorIn, codes}}
}

// TestPhase holds the worked table of section 4.5 of the behaviour specification and the counters
// of 4.1.
func TestPhase(t *testing.T) {
	always, onFailure, never := RestartPolicyAlways, RestartPolicyOnFailure, RestartPolicyNever
	on, off := DefaultFeatures(36), DefaultFeatures(36)
	off.ContainerRestartRules, off.RestartAllContainersOnContainerExits = false, false
	type box struct {
		c Container
		s ContainerState
	}
	for _, test := range []struct {
		name        string
		pod         RestartPolicy
		init, main  []box
		options     PhaseOptions
		on, gateOff PodPhase
	}{
		{"Never of the container beats Always of the Pod, code 0", always, nil, []box{{main1(never), exited(0)}}, PhaseOptions{}, PodSucceeded, PodRunning},
		{"Never of the container beats Always of the Pod, code 1", always, nil, []box{{main1(never), exited(1)}}, PhaseOptions{}, PodFailed, PodRunning},
		{"another container runs on", always, nil, []box{{main1(never), exited(1)}, {main1(""), runs}}, PhaseOptions{}, PodRunning, PodRunning},
		{"Always of a container keeps a Pod with Never", never, nil, []box{{main1(always), exited(0)}, {main1(""), exited(1)}}, PhaseOptions{}, PodRunning, PodFailed},
		{"OnFailure done, Never failed", onFailure, nil, []box{{main1(""), exited(0)}, {main1(never), exited(1)}}, PhaseOptions{}, PodFailed, PodRunning},
		{"an init container that is tried once fails an Always Pod", always, []box{{main1(never), exited(1)}}, []box{{main1(""), neverRan}}, PhaseOptions{}, PodFailed, PodPending},
		{"a running sidecar keeps the Pod running", never, []box{{main1(always), runs}}, []box{{main1(never), exited(0)}}, PhaseOptions{}, PodRunning, PodRunning},
		{"how a sidecar ended does not matter", never, []box{{main1(always), exited(1)}}, []box{{main1(never), exited(0)}}, PhaseOptions{}, PodSucceeded, PodSucceeded},
		{"the same in an Always Pod", always, []box{{main1(always), exited(1)}}, []box{{main1(never), exited(0)}}, PhaseOptions{}, PodSucceeded, PodRunning},
		{"a completed init container that was out of memory", onFailure, []box{{main1(""), exited(0)}}, []box{{main1(""), neverRan}}, PhaseOptions{}, PodPending, PodPending},
		{"a rule for a code the kubelet made up", never, nil, []box{{main1(never, restartIn(137)), exited(137)}}, PhaseOptions{}, PodRunning, PodFailed},
		{"one container never started", never, nil, []box{{main1(""), exited(0)}, {main1(""), neverRan}}, PhaseOptions{}, PodPending, PodPending},
		{"terminating while waiting after code 0", always, nil, []box{{main1(""), waitingAfter(0)}}, PhaseOptions{Terminating: true}, PodFailed, PodFailed},
		{"terminating, terminated with 0", always, nil, []box{{main1(""), exited(0)}}, PhaseOptions{Terminating: true}, PodSucceeded, PodSucceeded},
		{"terminating, a rule would restart", never, nil, []box{{main1(never, restartIn(3)), exited(3)}}, PhaseOptions{Terminating: true}, PodFailed, PodFailed},
		{"a sidecar restarts before the Pod is initialised", always, []box{{main1(always), starting}}, []box{{main1(""), waitingAfter(1)}}, PhaseOptions{}, PodPending, PodPending},
		{"a sidecar restarts after that", always, []box{{main1(always), starting}}, []box{{main1(""), exited(1)}}, PhaseOptions{Initialized: true}, PodRunning, PodRunning},
		{"a sidecar that waits after a run", always, []box{{main1(always), waitingAfter(1)}}, []box{{main1(""), runs}}, PhaseOptions{Initialized: true}, PodRunning, PodRunning},
		{"no entry in the status", always, nil, []box{{main1(""), runs}, {main1(""), unlisted}}, PhaseOptions{}, PodPending, PodPending},
		{"a state that says nothing", always, nil, []box{{main1(""), exited(1)}, {main1(""), stateless}}, PhaseOptions{}, PodPending, PodPending},
		{"removed by a restart of all", never, nil, []box{{main1(never), removed}}, PhaseOptions{}, PodRunning, PodFailed},
		{"init removed by a restart of all", never, []box{{main1(""), removed}}, []box{{main1(never), removed}}, PhaseOptions{}, PodRunning, PodFailed},
		{"waiting after 0 is stopped but no success", onFailure, nil, []box{{main1(""), waitingAfter(0)}}, PhaseOptions{}, PodFailed, PodRunning},
		{"an unknown Pod policy restarts, and is done after a success without the gate", "Sometimes", nil, []box{{main1(""), exited(0)}}, PhaseOptions{}, PodRunning, PodSucceeded},
	} {
		t.Run(test.name, func(t *testing.T) {
			spec := PodSpec{RestartPolicy: test.pod}
			for _, b := range test.init {
				spec.InitContainers = append(spec.InitContainers, b.c)
			}
			for _, b := range test.main {
				spec.Containers = append(spec.Containers, b.c)
			}
			phase := func(f Features) PodPhase {
				var n PhaseCounts
				for i, b := range test.init {
					n.Add(spec.PhaseShare(Ref{InitContainer, i}, b.s, f))
				}
				for i, b := range test.main {
					n.Add(spec.PhaseShare(Ref{MainContainer, i}, b.s, f))
				}
				return n.Phase(spec.RestartPolicy, f, test.options)
			}
			if got := phase(on); got != test.on {
				t.Errorf("gates on: %s, want %s", got, test.on)
			}
			if got := phase(off); got != test.gateOff {
				t.Errorf("gates off: %s, want %s", got, test.gateOff)
			}
		})
	}
}

// A share that is taken back leaves nothing behind.
func TestPhaseCountsForget(t *testing.T) {
	spec := PodSpec{Containers: []Container{main1("")}}
	f := DefaultFeatures(36)
	var n PhaseCounts
	for _, s := range []ContainerState{runs, exited(0), exited(1), neverRan, unlisted, waitingAfter(3)} {
		share := spec.PhaseShare(Ref{MainContainer, 0}, s, f)
		n.Add(share)
		n.Remove(share)
	}
	if n != (PhaseCounts{}) {
		t.Errorf("left over: %v", n)
	}
}

// TestFirstMatch is what callers compare with: the first of several rules that match, or -1. A
// mutant that gave -2 survived all other tests (R-T2).
func TestFirstMatch(t *testing.T) {
	rule := func(codes ...int32) ContainerRestartRule {
		return ContainerRestartRule{Action: ActionRestart, ExitCodes: &ContainerRestartRuleOnExitCodes{Operator: OperatorIn, Values: codes}}
	}
	c := Container{RestartPolicyRules: []ContainerRestartRule{rule(1), rule(2, 3), rule(3)}}
	for code, want := range map[int32]int{0: -1, 1: 0, 2: 1, 3: 1, 4: -1} {
		if got := c.FirstMatch(code); got != want {
			t.Errorf("%d: %d, want %d", code, got, want)
		}
	}
}
