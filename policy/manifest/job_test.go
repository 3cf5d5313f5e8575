package manifest_test

import (
	"bufio"
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/admission"
	"github.com/podfate/podfate/policy/manifest"
)

// kubernetesCase is a case of Kubernetes' own tables, written out by running its tests of v1.36.3:
//
//	match     TestMatchPodFailurePolicy, pkg/controller/job/pod_failure_policy_test.go
//	validate  TestValidateJob, pkg/apis/batch/validation/validation_test.go
//	update    TestValidateJobUpdate, the same file
//	defaults  TestSetDefaultJob, pkg/apis/batch/v1/defaults_test.go
//
// Selectors, labels and what else is not read here are left out.
type kubernetesCase struct {
	Test, Name  string
	Gate        bool // of match: JobBackoffLimitPerIndex; of defaults: JobPodReplacementPolicy. Both are locked to true
	Job, Old    json.RawMessage
	Faults      []struct{ Path, Message string }
	Spec        json.RawMessage // of defaults: what the API server makes of Job
	Policy, Pod json.RawMessage // of match
	Message     *string
	Counted     bool
	Action      *policy.PodFailureAction
}

// ones stands for a value of one case that is too long to be written out.
const ones = "<65537 ones>"

func kubernetesCases(t *testing.T, name string) (cases []kubernetesCase) {
	t.Helper()
	f, err := os.Open("testdata/kubernetes-job-tests.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var c kubernetesCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		if c.Test != name {
			continue
		}
		c.Job = []byte(strings.ReplaceAll(string(c.Job), ones, strings.Repeat("1", 65537)))
		for i, f := range c.Faults { // ours repeats less of it
			c.Faults[i].Message = strings.ReplaceAll(f.Message, `"`+ones+`"`, `"`+strings.Repeat("1", policy.MaxQuotedBytes)+`"…`)
		}
		cases = append(cases, c)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return cases
}

func object(t *testing.T, text []byte) *policy.Object {
	t.Helper()
	v, err := manifest.Parse(text)
	if err != nil {
		t.Fatal(err.Message)
	}
	o := manifest.ReadObject(v, "Job", "spec.template")
	o.Fields = nil // the tables have no images
	return &o
}

func TestKubernetesMatchTable(t *testing.T) {
	cases := kubernetesCases(t, "match")
	if len(cases) != 24 {
		t.Errorf("%d cases", len(cases))
	}
	for _, c := range cases {
		o := object(t, []byte(`{"spec":{"podFailurePolicy":`+string(c.Policy)+`}}`))
		var p struct {
			Metadata struct{ Name, Namespace string }
			Status   struct {
				ContainerStatuses, InitContainerStatuses []struct {
					Name  string
					State struct{ Terminated *struct{ ExitCode int32 } }
				}
				Conditions []policy.PodCondition
			}
		}
		if err := json.Unmarshal(c.Pod, &p); err != nil {
			t.Fatal(err)
		}
		pod := policy.FailedPod{Conditions: p.Status.Conditions}
		for _, s := range slices.Concat(p.Status.ContainerStatuses, p.Status.InitContainerStatuses) {
			if s.State.Terminated != nil {
				pod.Exits = append(pod.Exits, policy.PodExit{Container: s.Name, Code: s.State.Terminated.ExitCode})
			}
		}
		m := policy.CompileFailurePolicy(o.Job.PodFailurePolicy).Match(&pod)
		if !c.Gate && m.Action == policy.ActionFailIndex {
			continue // no release has the gate off
		}
		message, action := "", policy.PodFailureAction("")
		if c.Message != nil {
			message = *c.Message
		}
		if c.Action != nil {
			action = *c.Action
		}
		if got := m.Message(&pod, p.Metadata.Namespace, p.Metadata.Name); got != message || m.Counted() != c.Counted || m.Action != action {
			t.Errorf("%s: %+v %q, want %s %v %q", c.Name, m, got, action, c.Counted, message)
		}
	}
}

// ours reports whether a fault of Kubernetes is about something that is read here.
func ours(path string) bool {
	for _, other := range []string{"metadata.uid", "metadata.resourceVersion", "spec.selector", "spec.manualSelector", "spec.template.metadata"} {
		if strings.HasPrefix(path, other) {
			return false
		}
	}
	return true
}

func TestKubernetesValidateTables(t *testing.T) {
	for test, want := range map[string]int{"validate": 75, "update": 51} {
		cases := kubernetesCases(t, test)
		if len(cases) != want {
			t.Errorf("%d cases of %s", len(cases), test)
		}
		f := policy.DefaultFeatures(36)
		for _, c := range cases {
			// The objects of these tables are after the defaults.
			o := object(t, c.Job)
			got := admission.Validate(o, f)
			if c.Old != nil {
				got = admission.ValidateUpdate(o, object(t, c.Old), f)
			}
			var texts, wanted []string
			for _, fault := range got {
				// Kubernetes repeats the template. Which of the two paths depends on options that
				// these tables set.
				if fault.Path == "spec.template" || fault.Path == "spec.template.spec" && c.Old != nil {
					fault.Message = "spec.template…" + fault.Detail
				}
				texts = append(texts, fault.Message)
			}
			for _, fault := range c.Faults {
				if fault.Path == "spec.template" || fault.Path == "spec.template.spec" && c.Old != nil {
					if reflect.DeepEqual(o.Spec, object(t, c.Old).Spec) {
						continue // they differ in images and the like, which are not read here
					}
					fault.Message = "spec.template…field is immutable"
				}
				if ours(fault.Path) {
					wanted = append(wanted, fault.Message)
				}
			}
			if !slices.Equal(texts, wanted) {
				t.Errorf("%s %s:\n got %q\nwant %q", test, c.Name, texts, wanted)
			}
		}
	}
}

func TestKubernetesDefaultsTable(t *testing.T) {
	cases := kubernetesCases(t, "defaults")
	if len(cases) != 15 {
		t.Errorf("%d cases", len(cases))
	}
	for _, c := range cases {
		got, want := object(t, c.Job), object(t, []byte(`{"spec":`+string(c.Spec)+`}`))
		admission.SetDefaults(got, policy.DefaultFeatures(36))
		if !c.Gate {
			want.Job.PodReplacementPolicy = got.Job.PodReplacementPolicy // no release has the gate off
		}
		if !reflect.DeepEqual(got.Job, want.Job) {
			t.Errorf("%s: %+v, want %+v", c.Name, got.Job, want.Job)
		}
	}
}

// The template of a CronJob has no defaults but the status of conditions, and in 1.33 not even
// that.
func TestCronJobHasNoDefaults(t *testing.T) {
	v, err := manifest.Parse([]byte(`{"spec":{"jobTemplate":{"spec":{"completions":3,"podFailurePolicy":{"rules":[{"onPodConditions":[{"type":"a"}]}]}}}}}`))
	if err != nil {
		t.Fatal(err.Message)
	}
	for minor, status := range map[int]string{33: "", 34: "True", 37: "True"} {
		o := manifest.ReadObject(v, "CronJob", "spec.jobTemplate.spec.template")
		admission.SetDefaults(&o, policy.DefaultFeatures(minor))
		if j := o.Job; j.Parallelism != nil || j.CompletionMode != nil || *j.Completions != 3 || j.PodFailurePolicy.Rules[0].OnPodConditions[0].Status != status {
			t.Errorf("1.%d: %+v", minor, j)
		}
		if o.JobPath() != "spec.jobTemplate.spec." {
			t.Errorf("%q", o.JobPath())
		}
	}
}
