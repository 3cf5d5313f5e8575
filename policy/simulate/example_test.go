package simulate_test

import (
	"fmt"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/simulate"
)

// A container that exits with 1 five seconds after each of its first three starts.
func ExamplePod() {
	spec := policy.PodSpec{RestartPolicy: policy.RestartPolicyAlways, Containers: []policy.Container{{Name: "main"}}}
	features := policy.DefaultFeatures(36)
	result := simulate.Pod(&simulate.Scenario{
		Spec:    &spec,
		Kubelet: simulate.Kubelet{Features: features, Backoff: policy.KubeletBackoff(features, 0)},
		Tapes: []simulate.Tape{{
			Container: policy.Ref{Kind: policy.MainContainer},
			Runs:      []simulate.Run{{For: 5 * policy.Second, ExitCode: 1, Times: 3}},
		}},
		Until: 60 * policy.Second,
	})
	for _, r := range result.Timeline {
		if r.Event == simulate.Started {
			fmt.Println(simulate.FormatDuration(r.At), "start, restarts:", r.RestartCount)
		}
	}
	fmt.Println(result.Phase)
	// Output:
	// 0s start, restarts: 0
	// 5s start, restarts: 1
	// 20s start, restarts: 2
	// 45s start, restarts: 3
	// Running
}
