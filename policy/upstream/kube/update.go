package kube

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apiserver/pkg/registry/rest"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	podutil "k8s.io/kubernetes/pkg/api/pod"
	"k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/pkg/apis/core/validation"

	"github.com/podfate/podfate/policy/upstream/diff"
)

// Update implements diff.Release. What it does between decoding and storing is rest.BeforeUpdate of
// the API server.
func (r *Release) Update(old, manifest []byte) (a diff.Admission) {
	before, err := decode(old, false)
	if err != nil {
		a.DecodeError = err.Error()
		return a
	}
	object, err := decode(manifest, false)
	if err != nil {
		a.DecodeError = err.Error()
		return a
	}
	res, err := resourceOf(object)
	if err != nil {
		a.DecodeError = err.Error()
		return a
	}
	strategy, ok := res.strategy.(rest.RESTUpdateStrategy)
	if !ok {
		a.DecodeError = fmt.Sprintf("%T cannot be updated", object)
		return a
	}
	m, err := meta.Accessor(before)
	if err != nil {
		a.DecodeError = err.Error()
		return a
	}
	rest.FillObjectMetaSystemFields(m)
	m.SetResourceVersion("1")
	m.SetGeneration(1)
	if m, err := meta.Accessor(object); err == nil {
		m.SetResourceVersion("1") // 1.37 asks for it
	}
	defer func() {
		if r := recover(); r != nil { // the API server answers that it panicked
			a = diff.Admission{Panic: fmt.Sprint(r)}
		}
	}()
	set := r.fields(res)
	err = rest.BeforeUpdate(strategy, requestContext("update", res.resource, m.GetNamespace()), object, before)
	a.Dropped = missing(set, r.fields(res))
	a.Faults = faults(err)
	return a
}

// Static implements diff.Release.
//
// Source: tryDecodeSinglePod in pkg/kubelet/config/common.go, Kubernetes v1.33 to v1.37.
func (r *Release) Static(manifest []byte) (a diff.Admission) {
	object, err := decode(manifest, false)
	if err != nil {
		a.DecodeError = err.Error()
		return a
	}
	pod, ok := object.(*core.Pod)
	if !ok {
		a.DecodeError = fmt.Sprintf("decoded a %T", object)
		return a
	}
	var options validation.PodValidationOptions
	if r.Adapter.Minor >= 35 {
		options = podutil.GetValidationOptionsFromPodSpecAndMeta(&pod.Spec, nil, &pod.ObjectMeta, nil)
	}
	for _, e := range validation.ValidatePodCreate(pod, options) {
		a.Faults = append(a.Faults, diff.Fault{Path: e.Field, Text: e.Error()})
	}
	if len(a.Faults) == 0 && r.NodeLacks != nil && utilfeature.DefaultFeatureGate.Enabled("NodeDeclaredFeatures") {
		var read v1.Pod
		if err := legacyscheme.Scheme.Convert(pod, &read, nil); err != nil {
			a.DecodeError = err.Error()
		} else if name := r.NodeLacks(&read); name != "" { // declaredFeaturesAdmitHandler, pkg/kubelet/lifecycle/handlers.go
			a.Faults = []diff.Fault{{Path: "spec", Text: "Pod requires node features that are not available: " + name}}
		}
	}
	return a
}
