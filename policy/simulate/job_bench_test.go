package simulate_test

import (
	"testing"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/simulate"
)

// fiveThousandFailures is a Job of a thousand completions that all fail five times, one after the other or at once.
func fiveThousandFailures(staggered bool) *simulate.JobScenario {
	n, limit, never := int32(1000), int32(6), false
	j := &policy.Job{Parallelism: &n, Completions: &n, BackoffLimitPerIndex: &limit, Suspend: &never}
	mode := policy.IndexedCompletion
	j.CompletionMode = &mode
	j.SetDefaults()
	f := policy.DefaultFeatures(policy.NewestMinor)
	sc := &simulate.JobScenario{Job: j, Name: "a", Namespace: "default", Pod: simulate.Scenario{
		Spec:    &policy.PodSpec{RestartPolicy: policy.RestartPolicyNever, Containers: []policy.Container{{Name: "main"}}},
		Kubelet: simulate.Kubelet{Features: f, Backoff: policy.KubeletBackoff(f, 0)}, Until: 3600 * policy.Second,
	}}
	if !staggered {
		sc.Pod.Tapes = []simulate.Tape{{Runs: []simulate.Run{{For: policy.Second, ExitCode: 1, Times: 5000}, {For: policy.Second, Times: simulate.Forever}}}}
		return sc
	}
	for i := range n {
		sc.PodTapes = append(sc.PodTapes, simulate.PodTapes{Pod: -1, Index: i, Tapes: []simulate.Tape{{Runs: []simulate.Run{
			{For: simulate.Millis(1000 + i), ExitCode: 1, Times: 5}, {For: policy.Second, Times: simulate.Forever},
		}}}})
	}
	return sc
}

func BenchmarkJobOf1000PodsWith5000Failures(b *testing.B) {
	for b.Loop() {
		if r := simulate.Job(fiveThousandFailures(false)); r.Exceeded != "" || len(r.Pods) != 6000 || r.Status.Failed != 5000 || r.Status.Succeeded != 1000 {
			b.Fatalf("%s, %d Pods, %+v", r.Exceeded, len(r.Pods), r.Status.JobCounters)
		}
	}
}

func BenchmarkJobOf1000PodsWith5000FailuresOneByOne(b *testing.B) {
	for b.Loop() {
		if r := simulate.Job(fiveThousandFailures(true)); len(r.Pods) == 0 {
			b.Fatal(r.Exceeded)
		} else if b.N == 1 {
			b.Logf("%q, %d Pods, %d entries", r.Exceeded, len(r.Pods), len(r.Timeline))
		}
	}
}
