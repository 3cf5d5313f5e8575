package simulate_test

import (
	"testing"
	"time"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/admission"
	"github.com/podfate/podfate/policy/simulate"
)

// failures is a Job of so many completions that all fail five times, one after the other or at
// once. The lengths of the runs are in no order, so that the indexes that wait have gaps.
func failures(completions int32, oneByOne bool) *simulate.JobScenario {
	n, limit, never := completions, int32(6), false
	j := &policy.Job{Parallelism: &n, Completions: &n, BackoffLimitPerIndex: &limit, Suspend: &never}
	mode := policy.IndexedCompletion
	j.CompletionMode = &mode
	admission.SetJobDefaults(j)
	f := policy.DefaultFeatures(policy.NewestMinor)
	sc := &simulate.JobScenario{Job: j, Name: "a", Namespace: "default", Pod: simulate.Scenario{
		Spec:    &policy.PodSpec{RestartPolicy: policy.RestartPolicyNever, Containers: []policy.Container{{Name: "main"}}},
		Kubelet: simulate.Kubelet{Features: f, Backoff: policy.KubeletBackoff(f, 0)}, Until: 3600 * policy.Second,
	}}
	if !oneByOne {
		sc.Pod.Tapes = []simulate.Tape{{Runs: []simulate.Run{{For: policy.Second, ExitCode: 1, Times: 5 * int64(n)}, {For: policy.Second, Times: simulate.Forever}}}}
		return sc
	}
	for i := range n {
		sc.PodTapes = append(sc.PodTapes, simulate.PodTapes{Pod: -1, Index: i, Tapes: []simulate.Tape{{Runs: []simulate.Run{
			{For: simulate.Millis(1000 + int64(i)*7919%int64(n)), ExitCode: 1, Times: 5}, {For: policy.Second, Times: simulate.Forever},
		}}}})
	}
	return sc
}

// BenchmarkJob is what a Job of a thousand completions and five thousand failures takes, and what
// one of half the size does: time and memory grow with the number of Pods.
func BenchmarkJob(b *testing.B) {
	for _, how := range []struct {
		name     string
		oneByOne bool
	}{{"together", false}, {"one by one", true}} {
		b.Run(how.name, func(b *testing.B) {
			b.ReportAllocs()
			half := time.Duration(1 << 62)
			for range 3 {
				began := time.Now()
				simulate.Job(failures(500, how.oneByOne))
				half = min(half, time.Since(began))
			}
			whole := time.Duration(1 << 62)
			for b.Loop() {
				began := time.Now()
				r := simulate.Job(failures(1000, how.oneByOne))
				if r.Exceeded != "" || len(r.Pods) != 6000 || r.Status.Failed != 5000 || r.Status.Succeeded != 1000 {
					b.Fatalf("%s, %d Pods, %+v", r.Exceeded, len(r.Pods), r.Status.JobCounters)
				}
				whole = min(whole, time.Since(began))
			}
			b.ReportMetric(float64(whole.Microseconds())/1000, "ms-best")
			b.ReportMetric(float64(whole)/float64(half), "time(2n)/time(n)")
		})
	}
}
