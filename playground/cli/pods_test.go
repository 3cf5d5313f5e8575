package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/podfate/podfate/policy/words"
)

// A Job that failed at night for a bug, while another of its Pods was preempted.
func TestDecidePods(t *testing.T) {
	const want = `Job nightly (testdata/job.yaml), Kubernetes 1.37

✗ The Job fails
  Container main for pod batch/nightly-bug failed with exit code 3 matching FailJob rule at index 1.
  1 failure counted, 6 allowed; 1 ignored, 1 not judged.
  reason PodFailurePolicy

Pods of the Job
  Pod                Exits     What happens  Why
  nightly-bug        main 3    FailJob       rule 1: main ended with 3 (line 9)
  nightly-preempted  main 137  Ignore        rule 0: condition DisruptionTarget (line 7)
  nightly-runs                 not judged    it is running

Why: nightly-bug → FailJob
  not matched  podFailurePolicy rule 0  line 7  DisruptionTarget=True → Ignore  the Pod has no such condition
  matched      podFailurePolicy rule 1  line 9  main In [3] → FailJob           the code is in the list

Why: nightly-preempted → Ignore
  matched      podFailurePolicy rule 0  line 7  DisruptionTarget=True → Ignore  the Pod has the condition
  not reached  podFailurePolicy rule 1  line 9  main In [3] → FailJob           an earlier rule matched
`
	pods := read(t, "testdata/pods.yaml")
	for name, got := range map[string]result{
		"file":           podfate(t, "", "decide", "-f", "testdata/job.yaml", "--pods", "testdata/pods.yaml"),
		"standard input": podfate(t, pods, "decide", "-f", "testdata/job.yaml", "--pods", "-"),
		"module":         podfate(t, pods, "decide", "-f", "testdata/job.yaml", "--pods", "-", "--engine", "wasm"),
	} {
		if got.status != 0 || got.err != "" || got.out != want {
			t.Errorf("%s: status %d\n%s%s", name, got.status, got.out, got.err)
		}
	}
}

// TestManyPods: what kubectl prints of a thousand Pods is more than a request may have, and still
// is answered.
func TestManyPods(t *testing.T) {
	var items []any
	for i := range 1000 {
		items = append(items, map[string]any{
			"metadata": map[string]any{"name": fmt.Sprintf("nightly-%d", i), "managedFields": strings.Repeat("x", 2000)},
			"spec":     strings.Repeat("y", 2000), // a Pod's spec is not looked at
			"status": map[string]any{"phase": "Failed", "containerStatuses": []any{
				map[string]any{"name": "main", "state": map[string]any{"terminated": map[string]any{"exitCode": 1}}},
			}},
		})
	}
	text, err := json.Marshal(map[string]any{"kind": "List", "apiVersion": "v1", "items": items})
	if err != nil {
		t.Fatal(err)
	}
	got := podfate(t, string(text), "decide", "-f", "testdata/job.yaml", "--pods", "-")
	if got.status != 0 || !strings.Contains(got.out, "✗ The Job fails\n") || !strings.Contains(got.out, "1000 failures counted, 6 allowed") ||
		!strings.Contains(got.out, "… and 500 more") {
		t.Errorf("status %d, %d bytes\n%.2000s%s", got.status, len(got.out), got.out, got.err)
	}
}

func TestPodsFaults(t *testing.T) {
	for _, test := range []struct{ stdin, pods, want string }{
		{`{"kind":"Pod","metadata":{"name":"x"},"status":{"phase":5}}`, "-", "pods[0].status.phase: must be a string, found 5 (Kubernetes: json: cannot unmarshal number"},
		{`[{"metadata":{"name":"x"}},{"metadata":{"name":"x"}}]`, "-", `pods[1].metadata.name: "x" is the name of an earlier Pod, too`},
		{`7`, "-", "pods[0]: must be a Pod"},
		{"a: [", "-", "stdin:1:4"},
		{"", "testdata/none", "testdata/none: no such file or directory"},
	} {
		got := podfate(t, test.stdin, "decide", "-f", "testdata/job.yaml", "--pods", test.pods)
		if got.status == 0 || got.out != "" || !strings.Contains(got.err, test.want) {
			t.Errorf("%s: status %d, want %q\n%s%s", test.stdin, got.status, test.want, got.out, got.err)
		}
	}
	if got := podfate(t, "{}", "decide", "-f", "-", "--pods", "-"); got.status == 0 || !strings.Contains(got.err, "cannot both read standard input") {
		t.Errorf("status %d\n%s", got.status, got.err)
	}
}

// TestWordsForPods: each code that a decision about Pods has reads as a sentence.
func TestWordsForPods(t *testing.T) {
	for _, code := range []string{
		"condition", "no_such_condition", "other_status", "exit_codes_zero", "no_terminated_container", "no_requirement", "managed_by",
		"api_server_panics", "running", "pending", "succeeded", "terminating", "no_phase", "other_phase", "other_namespace", "other_job",
	} {
		if !words.Phrased(code) {
			t.Errorf("no sentence for %s", code)
		}
	}
}

// TestFaultsOfAllAreSaidOnce: a Scenario in a folder belongs to each manifest there, and its faults
// are not repeated.
func TestFaultsOfAllAreSaidOnce(t *testing.T) {
	const scenario = "apiVersion: podfate.dev/v1\nkind: Scenario\nruns: {}\ncluster: {version: \"1.9\"}\n"
	got := podfate(t, scenario, "validate", "-f", "testdata/pod.yaml", "-f", "testdata/job.yaml", "-f", "-")
	if got.status != 1 || strings.Count(got.err, "cluster.version: ") != 1 || strings.Count(got.err, "runs is for simulate") != 1 || !strings.Contains(got.err, "about what all manifests share, printed once above") {
		t.Errorf("status %d\n%s", got.status, got.err)
	}
}
