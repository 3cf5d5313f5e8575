package simulate

import (
	"reflect"
	"testing"

	"github.com/podfate/podfate/policy"
)

// Plans that were wrong once. The rest is compared with the real kubelet in policy/upstream.
func TestPlanSync(t *testing.T) {
	never := policy.RestartPolicyNever
	rule := policy.ContainerRestartRule{
		Action: policy.ActionRestartAllContainers, ExitCodes: &policy.ContainerRestartRuleOnExitCodes{Operator: policy.OperatorIn, Values: []int32{88}},
	}
	spec := &policy.PodSpec{
		RestartPolicy:       never,
		InitContainers:      []policy.Container{{Name: "setup"}},
		Containers:          []policy.Container{{Name: "main", RestartPolicy: &never, RestartPolicyRules: []policy.ContainerRestartRule{rule}}, {Name: "other"}},
		EphemeralContainers: []policy.Container{{Name: "debugger"}},
	}
	ended := []Instance{{State: InstanceExited, ExitCode: 88, Active: true}}
	runs := []Instance{{Active: true}}
	main := func(i int) policy.Ref { return policy.Ref{Kind: policy.MainContainer, Index: i} }
	for _, test := range []struct {
		name    string
		runtime Runtime
		want    Sync
	}{
		{
			"who asked for the restart of all is removed last",
			Runtime{Sandbox: SandboxReady, Init: [][]Instance{ended}, Main: [][]Instance{ended, runs}, RestartAll: true},
			Sync{Reset: []policy.Ref{main(1), {Kind: policy.InitContainer}, main(0)}},
		},
		{
			"without a sandbox the restart of all waits",
			Runtime{Sandbox: SandboxNotReady, Main: [][]Instance{ended, runs}, RestartAll: true},
			Sync{KillPod: true, CreateSandbox: true},
		},
		{
			"an ephemeral container shows that the Pod had a sandbox",
			Runtime{Sandbox: SandboxNotReady, Ephemeral: [][]Instance{runs}},
			Sync{KillPod: true},
		},
		{
			"nothing shows it",
			Runtime{Sandbox: SandboxNotReady},
			Sync{KillPod: true, CreateSandbox: true, StartInit: []int{0}},
		},
		{
			"an unknown state is killed before the next start",
			Runtime{Sandbox: SandboxReady, Main: [][]Instance{runs, {{State: InstanceUnknown, Active: true}}}, Ephemeral: [][]Instance{runs}},
			Sync{StartMain: []int{1}, Kill: []PlannedKill{{main(1), KillUnknown}}},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := PlanSync(spec, policy.DefaultFeatures(36), &test.runtime)
			if len(got.StartInit) == 0 {
				got.StartInit = nil
			}
			if !reflect.DeepEqual(got, test.want) {
				t.Errorf("got  %+v\nwant %+v", got, test.want)
			}
		})
	}
}
