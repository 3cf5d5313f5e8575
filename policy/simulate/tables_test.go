package simulate

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/admission"
)

// TestKubernetesTables asks what Kubernetes' own tests of the parts of a round ask:
// success_policy_test.go, indexed_job_utils_test.go and backoff_utils_test.go in pkg/controller/job
// of v1.36.3, as their functions were called and answered; calls that are alike are there once.
// Times of other tests than that of the record only keep their order.
//
// Left out are what cannot be said here: TestGetFinishedTime asks for statuses that no kubelet
// writes, the tests of remaining times use other constants, and those of job_controller_test.go
// start from a status that the controller itself has not written. They are covered by lives of Jobs
// that the controller itself plays (policy/upstream).
func TestKubernetesTables(t *testing.T) {
	f, err := os.Open("testdata/kubernetes-job-controller.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	asked := map[string]int{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var row tableRow
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatalf("%s: %v", lines.Bytes(), err)
		}
		asked[row.Test]++
		got, err := json.Marshal(row.ask(t))
		if err != nil {
			t.Fatal(err)
		}
		var want any
		if err := json.Unmarshal(row.Want, &want); err != nil {
			t.Fatal(err)
		}
		if again, _ := json.Marshal(want); string(got) != string(again) {
			t.Errorf("%s\ngot %s", lines.Bytes(), got)
		}
	}
	want := map[string]int{"success": 30, "succeeded": 20, "failed": 13, "indexFailed": 3, "delayed": 8, "counts": 4, "pending": 6, "record": 8}
	if fmt.Sprint(asked) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", asked, want)
	}
}

type tableRow struct {
	Test string
	Job  struct {
		Completions, BackoffLimitPerIndex *int32
		PodFailurePolicy                  *policy.PodFailurePolicy
		PodReplacementPolicy              *policy.PodReplacementPolicy
	}
	Policy            *policy.SuccessPolicy
	N                 int
	Completions       int32
	Completed, Failed string
	Succeeded         json.RawMessage // a set, or Pods
	Pods, Active      []*tablePod
	Removed           []string
	Before            *struct {
		Failures int64
		Last     *Millis
	}
	Want json.RawMessage
}

type tablePod struct {
	UID                string
	Index              *string
	Phase              policy.PodPhase
	Deleted, Finalizer bool
	Failures, Ignored  *string
	Finish             Millis
	Status             struct{ Exits, Conditions [][2]any }
}

// job returns a Job in the state of the row, and its Pods by uid.
func (r *tableRow) job(t *testing.T) (*round, map[string]*jobPod) {
	mode, zero := policy.IndexedCompletion, int32(0)
	spec := &policy.Job{
		Completions: r.Job.Completions, BackoffLimitPerIndex: r.Job.BackoffLimitPerIndex, CompletionMode: &mode, SuccessPolicy: r.Policy,
		PodFailurePolicy: r.Job.PodFailurePolicy, PodReplacementPolicy: r.Job.PodReplacementPolicy,
	}
	if r.Completions > 0 {
		spec.Completions = &r.Completions
	}
	if spec.Completions == nil {
		spec.Completions = &zero
	}
	if spec.BackoffLimitPerIndex == nil {
		spec.BackoffLimitPerIndex = &zero
	}
	admission.SetJobDefaults(spec)
	j := newJob(&JobScenario{Job: spec, Pod: Scenario{
		Spec:    &policy.PodSpec{Containers: []policy.Container{{Name: "main"}}},
		Kubelet: Kubelet{Features: policy.DefaultFeatures(36)},
	}})
	completed := r.Completed
	if r.Test != "record" && len(r.Succeeded) > 0 {
		if err := json.Unmarshal(r.Succeeded, &completed); err != nil {
			t.Fatal(err)
		}
	}
	j.status.CompletedIndexes = parseIndexes(completed, *spec.Completions)
	j.status.FailedIndexSet = parseIndexes(r.Failed, *spec.Completions)
	for i := range *spec.Completions {
		if j.status.CompletedIndexes.has(i) || j.status.FailedIndexSet.has(i) {
			j.idle.remove(i)
		}
	}
	pods := map[string]*jobPod{}
	var all []*tablePod
	all = append(append(all, r.Pods...), r.Active...)
	if r.Test == "record" {
		var more []*tablePod
		if err := json.Unmarshal(r.Succeeded, &more); err != nil && len(r.Succeeded) > 0 {
			t.Fatal(err)
		}
		for _, p := range append(more, r.Pods...) {
			p.Finalizer = true
		}
		all = append(all, more...)
	}
	for _, p := range all {
		if p != nil {
			p.add(r, j, pods)
		}
	}
	return &round{job: j, draft: j.status, record: j.backoff}, pods
}

func number(text *string, otherwise int32) int32 {
	if text == nil {
		return otherwise
	}
	n, err := strconv.ParseInt(*text, 10, 32)
	if err != nil || n < 0 {
		return otherwise
	}
	return int32(n)
}

func (p *tablePod) add(r *tableRow, j *job, pods map[string]*jobPod) {
	index := number(p.Index, -1)
	if r.Test != "record" && r.Test != "counts" && (index < 0 || index >= *j.spec.Completions) {
		return // no Pod of the model has such an index, and the controller ignores it
	}
	q := &jobPod{finalizer: p.Finalizer && !slices.Contains(r.Removed, p.UID), holds: index >= 0, finish: p.Finish}
	q.PodResult = PodResult{
		Number: int32(len(j.pods)), Index: index, FailureCount: number(p.Failures, 0), IgnoredCount: number(p.Ignored, -1), Phase: p.Phase, Deleted: -1, Over: -1,
	}
	for _, e := range p.Status.Exits {
		q.Status.Exits = append(q.Status.Exits, policy.PodExit{Container: e[0].(string), Code: int32(e[1].(float64))})
	}
	for _, c := range p.Status.Conditions {
		q.Status.Conditions = append(q.Status.Conditions, policy.PodCondition{Type: c[0].(string), Status: c[1].(string)})
	}
	if p.Deleted {
		q.Deleted = 0
	}
	q.Match = j.policy.Match(&q.Status)
	if _, both := pods[p.UID]; both && p.UID != "" {
		return
	}
	if p.UID == "" {
		p.UID = strconv.Itoa(len(pods))
	}
	pods[p.UID] = q
	j.pods = append(j.pods, q)
	if q.holds {
		j.busy.add(index)
		j.idle.remove(index)
	}
	j.list(q)
}

func (r *tableRow) ask(t *testing.T) any {
	s, pods := r.job(t)
	union := func(set Indexes, more []int32) string {
		for _, i := range more {
			set.add(i)
		}
		return set.String()
	}
	switch r.Test {
	case "success":
		s.succeeded = s.draft.CompletedIndexes.Len()
		if rule := s.successRule(); s.succeeded > 0 && rule >= 0 {
			return "Matched rules at index " + strconv.Itoa(rule)
		}
		return ""
	case "succeeded":
		s.countFinished()
		return union(s.draft.CompletedIndexes, s.newSucceeded)
	case "failed":
		s.countFinished()
		return union(s.draft.FailedIndexSet, s.newFailed)
	case "indexFailed":
		return s.job.indexFails(pods["0"], s.job.match(pods["0"]))
	case "delayed":
		s.delay()
		kept := map[string]string{}
		for uid, p := range pods {
			if p.delayed == s.job.syncs {
				kept[strconv.Itoa(int(p.Index))] = uid
			}
		}
		return kept
	case "counts":
		failures, ignored := s.job.nextCounts(pods["0"])
		return []int32{failures, max(ignored, 0)}
	case "pending":
		s.job.perIndex = false
		list, _ := s.pending(r.N)
		return list
	case "record":
		if s.record = (backoffRecord{last: -1}); r.Before != nil {
			if s.record.failures = r.Before.Failures; r.Before.Last != nil {
				s.record.last = *r.Before.Last
			}
		}
		s.countFinished()
		got := map[string]int64{"failures": s.record.failures}
		if s.record.last >= 0 {
			got["last"] = int64(s.record.last)
		}
		return got
	}
	t.Fatalf("no such test: %s", r.Test)
	return nil
}
