package manifest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/manifest"
)

// TestTemplates: what counts as a template, and what does not.
func TestTemplates(t *testing.T) {
	const pod = `{"spec":{"containers":[{"name":"c"}]}}`
	const ends = `{"spec":{"restartPolicy":"Never","containers":[{"name":"c"}]}}`
	head := func(group, kind string) string { return `{"apiVersion":"` + group + `/v1","kind":"` + kind + `",` }
	for _, test := range []struct{ name, text, templates, bare string }{
		{"at its name", head("x.io", "X") + `"spec":{"template":` + pod + `,"podTemplate":` + pod + `}}`, "Pod spec.template, Pod spec.podTemplate", ""},
		{"not in metadata and status", head("x.io", "X") + `"metadata":{"template":` + pod + `},"status":{"template":` + pod + `}}`, "", ""},
		{"in lists and under odd names", head("x.io", "X") + `"a b":[[{"template":` + pod + `}]]}`, `Pod ["a b"][0][0].template`, ""},
		{"a template in a template is one", head("x.io", "X") + `"template":{"spec":{"containers":[{"name":"c"}],"template":` + pod + `}}}`, "Pod template", ""},
		{"a container without a name", head("x.io", "X") + `"template":{"spec":{"containers":[{"name":"c"},{"image":"i"}]}}}`, "", ""},
		{"of a table, without a name", head("serving.knative.dev", "Service") + `"spec":{"template":{"spec":{"containers":[{"image":"i"}]}}}}`, "Pod spec.template", ""},
		{"the table is of the group", head("x.io", "JobSet") + `"spec":{"replicatedJobs":[{"template":{"spec":{"template":` + pod + `}}}]}}`, "Pod spec.replicatedJobs[0].template.spec.template", ""},
		{"a Job", head("jobset.x-k8s.io", "JobSet") + `"spec":{"replicatedJobs":[{"template":{"spec":{"template":` + pod + `}}}]}}`, "Job spec.replicatedJobs[0].template", ""},
		{"a Job template by its name", head("x.io", "X") + `"spec":{"jobTemplate":{"spec":{"template":` + pod + `}}}}`, "Job spec.jobTemplate", ""},
		{"names that end in template", head("x.io", "X") + `"spec":{"workerTemplate":` + pod + `,"podTemplateSpec":` + pod + `,"contemplate":` + pod + `}}`, "Pod spec.workerTemplate, Pod spec.podTemplateSpec", ""},
		{"no deeper than the table says", head("jobset.x-k8s.io", "JobSet") + `"spec":{"replicatedJobs":[{"a":{"template":{"spec":{}}}}]}}`, "", ""},
		{"steps", head("tekton.dev", "Task") + `"spec":{"steps":[{"image":"i"}],"container":{"image":"i"},"script":{"source":"x"}}}`, "", "spec.steps, spec.container"},
		{"a JobSpec of a table", head("keda.sh", "ScaledJob") + `"spec":{"jobTargetRef":{"template":` + pod + `}}}`, "Job spec.jobTargetRef", ""},
		{"a JobSpec by its fields, not a Pod", head("x.io", "X") + `"spec":{"hook":{"backoffLimit":1,"template":` + ends + `}}}`, "Job spec.hook", ""},
		{"a JobSpec that is the spec", head("x.io", "X") + `"spec":{"completions":1,"template":` + ends + `}}`, "Job spec", ""},
		{"a backoffLimit of another controller", head("run.ai", "RunaiJob") + `"spec":{"backoffLimit":1,"template":` + pod + `}}`, "Pod spec.template", ""},
		{"a Job template by its fields", head("x.io", "X") + `"spec":{"hook":{"spec":{"podFailurePolicy":{},"template":` + ends + `}}}}`, "Job spec.hook", ""},
		{"a JobSpec by its name, not a Pod", head("x.io", "X") + `"spec":{"profilingJob":{"template":` + pod + `},"jobSpec":{"template":` + pod + `},"jobTemplate":{"template":` + pod + `}}}`, "Job spec.profilingJob, Job spec.jobSpec, Job spec.jobTemplate", ""},
		{"of an analysis, a Job", head("argoproj.io", "AnalysisTemplate") + `"spec":{"metrics":[{"provider":{"job":{"spec":{"template":` + pod + `}}}}]}}`, "Job spec.metrics[0].provider.job", ""},
		{"Pods of a BroadcastJob, not a Job", head("apps.kruise.io", "AdvancedCronJob") + `"spec":{"template":{"broadcastJobTemplate":{"spec":{"template":` + pod + `}}}}}`, "Pod spec.template.broadcastJobTemplate.spec.template", ""},
		{"elements of a list", head("x.io", "X") + `"spec":{"podTemplates":[` + pod + `],"jobTemplates":[{"spec":{"template":` + pod + `}}]}}`, "Pod spec.podTemplates[0], Job spec.jobTemplates[0]", ""},
		{"whole manifests", head("template.openshift.io", "Template") + `"objects":[{"apiVersion":"batch/v1","kind":"Job","spec":{"template":` + pod + `}},` +
			`{"apiVersion":"v1","kind":"Pod","spec":{"containers":[{"name":"c"}]},"status":{"template":` + pod + `}},{"apiVersion":"v1","kind":"Service","spec":{}},` +
			`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"template":` + pod + `},"spec":{"template":` + pod + `}},` +
			head("keda.sh", "ScaledJob") + `"spec":{"jobTargetRef":{"template":` + pod + `}}},{"template":` + pod + `}]}`,
			"Job objects[0], Pod objects[1], Pod objects[3].spec.template, Job objects[4].spec.jobTargetRef, Pod objects[5].template", ""},
		{"no object", `[{"template":` + pod + `}]`, "", ""},
	} {
		v, err := manifest.Parse([]byte(test.text))
		if err != nil {
			t.Fatal(test.name, err)
		}
		found, bare := manifest.Templates(v)
		var got []string
		for i := range found {
			got = append(got, found[i].Kind()+" "+found[i].Path)
			if o := manifest.ReadTemplate(v, &found[i], 0); len(o.Spec.Containers) == 0 && !strings.Contains(test.name, "Job") {
				t.Errorf("%s: %s has no containers", test.name, found[i].Path)
			}
		}
		if s := strings.Join(got, ", "); s != test.templates || strings.Join(bare, ", ") != test.bare {
			t.Errorf("%s: %q and %q, want %q and %q", test.name, s, bare, test.templates, test.bare)
		}
	}
	many := head("x.io", "X") + `"a":[` + strings.TrimSuffix(strings.Repeat(`{"template":`+pod+`},`, 3*policy.MaxTemplates), ",") + `]}`
	v, err := manifest.Parse([]byte(many))
	if err != nil {
		t.Fatal(err)
	}
	if found, _ := manifest.Templates(v); len(found) != policy.MaxTemplates+1 {
		t.Error(fmt.Sprint(len(found), " templates of too many"))
	}
}

// TestForeign: groups of Kubernetes itself are known as a whole.
func TestForeign(t *testing.T) {
	for version, want := range map[string]bool{
		"": false, "v1": false, "apps/v1": false, "apps/v1beta1": false, "batch/v1": false, "extensions/v1beta1": false,
		"batch.volcano.sh/v1alpha1": true, "argoproj.io/v1alpha1": true,
	} {
		if manifest.Foreign(version) != want {
			t.Errorf("%q: %v", version, !want)
		}
	}
}
