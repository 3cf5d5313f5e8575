package simulate_test

import (
	"reflect"
	"testing"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/admission"
	. "github.com/podfate/podfate/policy/simulate"
)

// job draws a Job of at most 40 Pods at once.
func (d *dice) job() *JobScenario {
	minor := policy.OldestMinor + d.roll(5)
	f := policy.DefaultFeatures(minor)
	small := func(n int) *int32 { v := int32(d.roll(n)); return &v }
	maybe := func(n int) *int32 {
		if d.roll(2) == 0 {
			return nil
		}
		return small(n)
	}
	j := &policy.Job{Parallelism: small(40), Completions: maybe(60), BackoffLimit: maybe(30)}
	indexed := policy.IndexedCompletion
	if d.roll(3) > 0 {
		if j.CompletionMode = &indexed; j.Completions == nil {
			j.Completions = small(60)
		}
		if d.roll(3) > 0 {
			j.BackoffLimitPerIndex = small(6)
			j.MaxFailedIndexes = maybe(8)
		}
		if d.roll(4) == 1 {
			list := "0-3,5,7,20-22"
			j.SuccessPolicy = &policy.SuccessPolicy{Rules: []policy.SuccessPolicyRule{{SucceededIndexes: &list, SucceededCount: small(5)}, {SucceededCount: small(60)}}}
		}
	}
	if d.roll(4) == 1 {
		seconds := int64(d.roll(250))
		j.ActiveDeadlineSeconds = &seconds
	}
	suspend := d.roll(8) == 1
	j.Suspend = &suspend
	spec := &policy.PodSpec{RestartPolicy: policy.RestartPolicyNever, Containers: []policy.Container{{Name: "main"}}}
	if d.roll(2) == 1 {
		spec.Containers = append(spec.Containers, policy.Container{Name: "also"})
	}
	if d.roll(3) == 1 {
		spec.RestartPolicy = policy.RestartPolicyOnFailure
	} else if d.roll(2) == 1 {
		actions := []policy.PodFailureAction{policy.ActionCount, policy.ActionIgnore, policy.ActionFailJob, policy.ActionIgnore}
		if j.BackoffLimitPerIndex != nil {
			actions[3] = policy.ActionFailIndex
		}
		j.PodFailurePolicy = &policy.PodFailurePolicy{Rules: []policy.PodFailurePolicyRule{
			{Action: actions[d.roll(4)], OnExitCodes: &policy.PodFailurePolicyOnExitCodes{Operator: policy.OperatorIn, Values: []int32{d.code()}}},
			{Action: actions[d.roll(4)], OnPodConditions: []policy.PodConditionPattern{{Type: "DisruptionTarget", Status: "True"}}},
		}}
	}
	if d.roll(3) == 1 {
		replace := policy.ReplaceFailed
		j.PodReplacementPolicy = &replace
	}
	admission.SetJobDefaults(j)
	sc := &JobScenario{Job: j, Name: "a", Namespace: "default", Pod: Scenario{
		Spec: spec, Kubelet: Kubelet{Features: f, Backoff: policy.KubeletBackoff(f, 0)},
		Until: []Millis{600_000, 3_600_000, 100_000, 86_400_000}[d.roll(4)],
	}}
	tapes := func() (list []Tape) {
		for i := range spec.Containers {
			list = append(list, Tape{policy.Ref{Kind: policy.MainContainer, Index: i}, d.runs()})
		}
		return list
	}
	sc.Pod.Tapes = tapes()
	for i := range d.roll(12) {
		own := PodTapes{Pod: int32(i * 3), Index: -1}
		if j.Indexed() && d.roll(2) == 1 {
			own.Pod, own.Index = -1, int32(i)
		}
		own.Tapes = tapes()
		sc.PodTapes = append(sc.PodTapes, own)
	}
	at := Millis(0)
	for range d.roll(5) {
		at += Millis(d.roll(256)) * []Millis{1, 1000, 60_000}[d.roll(3)]
		types := EventTypes()
		e := Event{At: at, Type: ParseEventType(types[d.roll(len(types))]), ExitCode: d.code(), Pod: AllPods, Grace: Millis(d.roll(3)) * 4000,
			Container: policy.Ref{Kind: policy.MainContainer, Index: d.roll(len(spec.Containers))}}
		if d.roll(2) == 1 && !e.Type.OfJob() {
			e.Pod = int32(d.roll(40))
		}
		sc.Pod.Events = append(sc.Pod.Events, e)
	}
	return sc
}

// FuzzJob holds for every Job: no panic; the same answer twice; times never go back; no index has
// two Pods that the controller counts on; and the counters at the end are those of the Pods.
func FuzzJob(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{3, 10, 1, 20, 0, 1, 1, 3, 0, 0, 0, 0, 0, 1})
	f.Add([]byte{4, 30, 1, 50, 1, 9, 2, 1, 2, 1, 2, 1, 2, 0, 0, 1, 0, 1, 1, 0, 2, 3, 1, 2, 3, 1, 1, 1, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		sc := (&dice{data}).job()
		r := Job(sc)
		if again := Job(sc); !reflect.DeepEqual(r, again) {
			t.Fatal("two answers to one scenario")
		}
		if r.Exceeded == "" && len(r.Undecided) == 0 {
			checkJob(t, sc, r)
		}
	})
}

func checkJob(t *testing.T, sc *JobScenario, r *JobResult) {
	at, denied := Millis(0), false
	for _, e := range r.Timeline {
		if e.At < at || e.At > sc.Pod.Until || e.Pods < 1 || int(e.Pod)+int(e.Pods) > len(r.Pods) && e.Ignored == "" {
			t.Fatalf("%+v after %d, until %d", e, at, sc.Pod.Until)
		}
		at = e.At
		denied = denied || e.Event == StatusDenied
	}
	for i := 1; i < len(r.Counters); i++ {
		if r.Counters[i].At <= r.Counters[i-1].At {
			t.Fatalf("counters of %d after those of %d", r.Counters[i].At, r.Counters[i-1].At)
		}
	}
	var active, terminating int64
	last := map[int32]*PodResult{}
	succeeded := map[int32]bool{}
	for i := range r.Pods {
		p := &r.Pods[i]
		switch {
		case p.Over >= 0 && (p.Over < p.Created || p.Deleted > p.Over || !p.Phase.Terminal()):
			t.Fatalf("%+v", p)
		case p.Phase.Terminal():
			succeeded[p.Index] = succeeded[p.Index] || p.Phase == policy.PodSucceeded && !p.Unjudged
		case p.Deleted >= 0:
			terminating++
		default:
			active++
		}
		if p.Index < 0 {
			continue
		}
		if was := last[p.Index]; was != nil && (was.Over < 0 || was.Over > p.Created) && (was.Deleted < 0 || was.Deleted > p.Created) {
			t.Fatalf("%+v was created beside %+v", p, was)
		}
		last[p.Index] = p
	}
	if sc.Pod.Kubelet.Features.Minor >= 36 && !denied && (active != r.Status.Active || terminating != r.Status.Terminating) {
		t.Fatalf("%d active and %d terminating Pods: %+v", active, terminating, r.Status.JobCounters)
	}
	if active > int64(*sc.Job.Parallelism) {
		t.Fatalf("%d active Pods at once", active)
	}
	if n := r.Status.CompletedIndexes.Len(); sc.Job.Indexed() && (n != r.Status.Succeeded || n > int64(len(succeeded))) {
		t.Fatalf("%d indexes are completed and %d Pods succeeded", n, r.Status.Succeeded)
	}
}
