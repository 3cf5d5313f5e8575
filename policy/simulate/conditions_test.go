package simulate_test

import (
	"testing"

	"github.com/podfate/podfate/policy"
	. "github.com/podfate/podfate/policy/simulate"
)

// TestConditionsOfAnEnd is R-P7: conditions go with the phase that they were worked out with, which
// may be ahead of the one that is shown, or behind it.
func TestConditionsOfAnEnd(t *testing.T) {
	never, sidecar := policy.RestartPolicyNever, policy.RestartPolicyAlways
	restartAll := []policy.ContainerRestartRule{{
		Action:    policy.ActionRestartAllContainers,
		ExitCodes: &policy.ContainerRestartRuleOnExitCodes{Operator: policy.OperatorIn, Values: []int32{88}},
	}}
	main, init := policy.Ref{Kind: policy.MainContainer}, policy.Ref{Kind: policy.InitContainer}
	stops := func(r policy.Ref, after Millis) Tape {
		return Tape{r, []Run{{For: NoEnd, Times: 1, Stop: &Stop{For: after}}}}
	}
	seconds := int64(5)
	for _, test := range []struct {
		name string
		sc   Scenario
		want []Condition
	}{
		{"deleted before it is initialized: TerminatePod sets the phase alone", Scenario{
			Spec: &policy.PodSpec{
				RestartPolicy:  never,
				InitContainers: []policy.Container{{Name: "i"}},
				Containers:     []policy.Container{{Name: "c", RestartPolicy: &never, RestartPolicyRules: restartAll}},
			},
			Tapes:  []Tape{{init, []Run{{For: NoEnd, Times: 1, Stop: &Stop{For: 2000}}}}},
			Events: []Event{{At: 3000, Type: EventDeleted}},
		}, []Condition{
			{"PodReadyToStartContainers", false, "PodSandboxNotReady", "pod sandbox is not ready"},
			{Type: "Initialized", Status: true},
			{"Ready", false, "ContainersNotReady", "containers with unready status: [c]"},
			{"ContainersReady", false, "ContainersNotReady", "containers with unready status: [c]"},
			{Type: "PodScheduled", Status: true},
			{Type: "AllContainersRestarting"},
		}},
		{"a sidecar stops: the sandbox is there until it has", Scenario{
			Spec: &policy.PodSpec{
				RestartPolicy:  never,
				InitContainers: []policy.Container{{Name: "s", RestartPolicy: &sidecar}},
				Containers:     []policy.Container{{Name: "c"}},
			},
			Tapes: []Tape{{main, []Run{{For: 5000, Times: 1}}}, stops(init, 20_000)},
		}, []Condition{
			{Type: "PodReadyToStartContainers", Status: true},
			{Type: "Initialized", Status: true},
			{"Ready", false, "ContainersNotReady", "containers with unready status: [c]"},
			{"ContainersReady", false, "ContainersNotReady", "containers with unready status: [c]"},
			{Type: "PodScheduled", Status: true},
		}},
		{"all restart: it is initialized while one of them still stops", Scenario{
			Spec: &policy.PodSpec{
				RestartPolicy:  never,
				InitContainers: []policy.Container{{Name: "i"}},
				Containers:     []policy.Container{{Name: "c", RestartPolicy: &never, RestartPolicyRules: restartAll}, {Name: "d"}},
			},
			Tapes: []Tape{
				{init, []Run{{For: 1000, Times: 1}}}, {main, []Run{{For: 10_000, ExitCode: 88, Times: 1}}},
				stops(policy.Ref{Kind: policy.MainContainer, Index: 1}, 2000),
			},
		}, []Condition{
			{Type: "PodReadyToStartContainers", Status: true},
			{Type: "Initialized", Status: true},
			{"Ready", false, "ContainersNotReady", "containers with unready status: [c]"},
			{"ContainersReady", false, "ContainersNotReady", "containers with unready status: [c]"},
			{Type: "PodScheduled", Status: true},
			{"AllContainersRestarting", true, "RestartAllContainersStarted", "container exited with restart policy rule"},
		}},
		{"all restart: it is initialized while its init container runs again", Scenario{
			Spec: &policy.PodSpec{
				RestartPolicy:  never,
				InitContainers: []policy.Container{{Name: "i"}},
				Containers:     []policy.Container{{Name: "c", RestartPolicy: &never, RestartPolicyRules: restartAll}},
			},
			Tapes: []Tape{{init, []Run{{For: 5000, Times: 2}}}, {main, []Run{{For: 5000, ExitCode: 88, Times: 1}}}},
		}, []Condition{
			{Type: "PodReadyToStartContainers", Status: true},
			{Type: "Initialized", Status: true},
			{"Ready", false, "ContainersNotReady", "containers with unready status: [c]"},
			{"ContainersReady", false, "ContainersNotReady", "containers with unready status: [c]"},
			{Type: "PodScheduled", Status: true},
			{Type: "AllContainersRestarting"},
		}},
		{"past its deadline: not ready before it is shown as Failed", Scenario{
			Spec:  &policy.PodSpec{RestartPolicy: never, ActiveDeadlineSeconds: &seconds, Containers: []policy.Container{{Name: "c"}}},
			Tapes: []Tape{stops(main, 20_000)},
		}, []Condition{
			{Type: "PodReadyToStartContainers", Status: true},
			{Type: "Initialized", Status: true},
			{Type: "Ready", Reason: "PodFailed"},
			{Type: "ContainersReady", Reason: "PodFailed"},
			{Type: "PodScheduled", Status: true},
		}},
		{"evicted: ready until it has stopped", Scenario{
			Spec:   &policy.PodSpec{RestartPolicy: never, Containers: []policy.Container{{Name: "c"}}},
			Tapes:  []Tape{stops(main, 20_000)},
			Events: []Event{{At: 5000, Type: EventNodeShutdown}},
		}, []Condition{
			{Type: "PodReadyToStartContainers", Status: true},
			{Type: "Initialized", Status: true},
			{Type: "Ready", Status: true},
			{Type: "ContainersReady", Status: true},
			{Type: "PodScheduled", Status: true},
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := policy.DefaultFeatures(policy.NewestMinor)
			test.sc.Name, test.sc.Until, test.sc.Kubelet = "p", 12_000, Kubelet{Features: f, Backoff: policy.KubeletBackoff(f, 0)}
			got := Pod(&test.sc).Conditions
			if len(got) != len(test.want) {
				t.Fatalf("%+v", got)
			}
			for i := range got {
				if got[i] != test.want[i] {
					t.Errorf("%+v, want %+v", got[i], test.want[i])
				}
			}
		})
	}
}

// TestWhyThereIsNoSandbox: 1.37 says why PodReadyToStartContainers is False, older releases do not.
//
// Source: GeneratePodReadyToStartContainersCondition in pkg/kubelet/status/generate.go, Kubernetes
// v1.36 and v1.37.
func TestWhyThereIsNoSandbox(t *testing.T) {
	spec := &policy.PodSpec{RestartPolicy: policy.RestartPolicyNever, Containers: []policy.Container{{Name: "c"}}}
	tapes := []Tape{{policy.Ref{Kind: policy.MainContainer}, []Run{{For: 5000, Times: 1}}}}
	for _, test := range []struct {
		minor int
		want  Condition
	}{
		{36, Condition{Type: "PodReadyToStartContainers"}},
		{37, Condition{"PodReadyToStartContainers", false, "PodSandboxNotReady", "pod sandbox is not ready"}},
	} {
		f := policy.DefaultFeatures(test.minor)
		sc := Scenario{Spec: spec, Tapes: tapes, Name: "p", Until: 12_000, Kubelet: Kubelet{Features: f, Backoff: policy.KubeletBackoff(f, 0)}}
		if got := Pod(&sc).Conditions[0]; got != test.want {
			t.Errorf("1.%d: %+v, want %+v", test.minor, got, test.want)
		}
	}
}

// TestSandboxReadyBeforeItsContainers: from 1.36 on the kubelet publishes that there is a sandbox as
// soon as it has made one, so that the API shows it also while it drops what follows, here that an
// init container runs again which had succeeded.
//
// Source: OnPodSandboxReady in pkg/kubelet/kubelet.go, Kubernetes v1.36 and v1.37.
func TestSandboxReadyBeforeItsContainers(t *testing.T) {
	spec := &policy.PodSpec{
		RestartPolicy:  policy.RestartPolicyOnFailure,
		InitContainers: []policy.Container{{Name: "i"}},
		Containers:     []policy.Container{{Name: "c"}},
	}
	tapes := []Tape{{policy.Ref{Kind: policy.InitContainer}, []Run{{For: 5000, Times: 2}}}}
	for minor, want := range map[int]bool{35: false, 36: true} {
		f := policy.DefaultFeatures(minor)
		sc := Scenario{
			Spec: spec, Tapes: tapes, Name: "p", Until: 12_000, Kubelet: Kubelet{Features: f, Backoff: policy.KubeletBackoff(f, 0)},
			Events: []Event{{At: 10_000, Type: EventSandboxLost}},
		}
		if got := Pod(&sc).Conditions[0]; got.Type != "PodReadyToStartContainers" || got.Status != want {
			t.Errorf("1.%d: %+v", minor, got)
		}
	}
}
