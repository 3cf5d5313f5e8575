package kube

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/apps"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	"k8s.io/kubernetes/pkg/apis/batch"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	"k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	"k8s.io/kubernetes/pkg/registry/apps/daemonset"
	"k8s.io/kubernetes/pkg/registry/apps/deployment"
	"k8s.io/kubernetes/pkg/registry/apps/replicaset"
	"k8s.io/kubernetes/pkg/registry/apps/statefulset"
	"k8s.io/kubernetes/pkg/registry/batch/cronjob"
	"k8s.io/kubernetes/pkg/registry/batch/job"
	"k8s.io/kubernetes/pkg/registry/core/pod"
	"k8s.io/kubernetes/pkg/registry/core/podtemplate"
	"k8s.io/kubernetes/pkg/registry/core/replicationcontroller"

	"github.com/podfate/podfate/policy/upstream/diff"
)

// resource is what the API server does with a new object of some kind, and where its Pod is
// described.
type resource struct {
	strategy rest.RESTCreateStrategy
	resource string // in the URL of the request: group/version/name
	path     string // of spec, with its dot
	spec     *core.PodSpec
	job      *batch.JobSpec // of a Job
}

func resourceOf(object runtime.Object) (resource, error) {
	switch o := object.(type) {
	case *core.Pod:
		return resource{pod.Strategy, "/v1/pods", "spec.", &o.Spec, nil}, nil
	case *core.PodTemplate:
		return resource{podtemplate.Strategy, "/v1/podtemplates", "template.spec.", &o.Template.Spec, nil}, nil
	case *core.ReplicationController:
		r := resource{replicationcontroller.Strategy, "/v1/replicationcontrollers", "spec.template.spec.", &core.PodSpec{}, nil}
		if o.Spec.Template != nil { // which is optional only here
			r.spec = &o.Spec.Template.Spec
		}
		return r, nil
	case *apps.Deployment:
		return resource{deployment.Strategy, "apps/v1/deployments", "spec.template.spec.", &o.Spec.Template.Spec, nil}, nil
	case *apps.ReplicaSet:
		return resource{replicaset.Strategy, "apps/v1/replicasets", "spec.template.spec.", &o.Spec.Template.Spec, nil}, nil
	case *apps.StatefulSet:
		return resource{statefulset.Strategy, "apps/v1/statefulsets", "spec.template.spec.", &o.Spec.Template.Spec, nil}, nil
	case *apps.DaemonSet:
		return resource{daemonset.Strategy, "apps/v1/daemonsets", "spec.template.spec.", &o.Spec.Template.Spec, nil}, nil
	case *batch.Job:
		return resource{job.Strategy, "batch/v1/jobs", "spec.template.spec.", &o.Spec.Template.Spec, &o.Spec}, nil
	case *batch.CronJob:
		return resource{cronjob.Strategy, "batch/v1/cronjobs", "spec.jobTemplate.spec.template.spec.", &o.Spec.JobTemplate.Spec.Template.Spec, nil}, nil
	}
	return resource{}, fmt.Errorf("no kind of this test: %T", object)
}

// Admit implements diff.Release. What it does between decoding and storing is rest.BeforeCreate of
// the API server.
func (r *Release) Admit(manifest []byte, strict bool) (a diff.Admission) {
	object, err := decode(manifest, strict)
	if s, ok := runtime.AsStrictDecodingError(err); ok {
		for _, e := range s.Errors() {
			a.Strict = append(a.Strict, e.Error())
		}
	} else if err != nil {
		a.DecodeError = err.Error()
		return a
	}
	res, err := resourceOf(object)
	if err != nil {
		a.DecodeError = err.Error()
		return a
	}
	m, err := meta.Accessor(object)
	if err != nil {
		a.DecodeError = err.Error()
		return a
	}
	defer func() {
		if r := recover(); r != nil { // the API server answers that it panicked
			a = diff.Admission{Panic: fmt.Sprint(r)}
		}
	}()
	rest.FillObjectMetaSystemFields(m)
	if m.GetName() == "" && m.GetGenerateName() != "" { // as the store of the API server does first of all
		m.SetName(res.strategy.GenerateName(m.GetGenerateName()))
	}
	if m.GetNamespace() == "" { // as kubectl does
		m.SetNamespace("default")
	}
	before := r.fields(res)
	err = rest.BeforeCreate(res.strategy, requestContext("create", res.resource, m.GetNamespace()), object)
	a.Dropped = missing(before, r.fields(res))
	a.Faults = faults(err)
	return a
}

// missing returns what is in before and not in after.
func missing(before, after []string) (gone []string) {
	for _, field := range before {
		if !slices.Contains(after, field) {
			gone = append(gone, field)
		}
	}
	return gone
}

// requestContext returns what the API server knows about a request; generated validation asks for
// it.
func requestContext(verb, resource, namespace string) context.Context {
	parts := strings.Split(resource, "/")
	ctx := genericapirequest.WithNamespace(context.Background(), namespace)
	return genericapirequest.WithRequestInfo(ctx, &genericapirequest.RequestInfo{
		IsResourceRequest: true, Verb: verb, Namespace: namespace,
		APIGroup: parts[0], APIVersion: parts[1], Resource: parts[2],
	})
}

// decode returns the internal object with its defaults. With a strict decoding error it returns
// both.
func decode(manifest []byte, strict bool) (runtime.Object, error) {
	serializer := json.NewSerializerWithOptions(json.DefaultMetaFactory, legacyscheme.Scheme, legacyscheme.Scheme, json.SerializerOptions{Strict: strict})
	object, _, err := legacyscheme.Codecs.DecoderToVersion(serializer, runtime.InternalGroupVersioner).Decode(manifest, nil, nil)
	return object, err
}

// fields returns the paths of the fields that are set and that a gate can drop: of Jobs, and the
// restart fields of containers, in the order of the API.
func (r *Release) fields(res resource) []string {
	var paths []string
	add := func(list string, i int, c *core.Container) {
		path := fmt.Sprintf("%s%s[%d].", res.path, list, i)
		if c.RestartPolicy != nil {
			paths = append(paths, path+"restartPolicy")
		}
		if r.RulesSet != nil && r.RulesSet(c) {
			paths = append(paths, path+"restartPolicyRules")
		}
	}
	if res.job != nil && res.job.ManagedBy != nil {
		paths = append(paths, "spec.managedBy")
	}
	if res.job != nil && res.job.PodReplacementPolicy != nil {
		paths = append(paths, "spec.podReplacementPolicy")
	}
	for i := range res.spec.Containers {
		add("containers", i, &res.spec.Containers[i])
	}
	for i := range res.spec.InitContainers {
		add("initContainers", i, &res.spec.InitContainers[i])
	}
	for i := range res.spec.EphemeralContainers {
		c := core.Container(res.spec.EphemeralContainers[i].EphemeralContainerCommon)
		add("ephemeralContainers", i, &c)
	}
	return paths
}

func faults(err error) []diff.Fault {
	if err == nil {
		return nil
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		return []diff.Fault{{Text: err.Error()}}
	}
	var list []diff.Fault
	for _, cause := range status.Status().Details.Causes {
		list = append(list, diff.Fault{Path: cause.Field, Text: cause.Field + ": " + cause.Message})
	}
	return list
}
