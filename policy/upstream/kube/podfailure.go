package kube

import (
	"fmt"
	_ "unsafe" // for the names below

	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/controller/job"

	"github.com/podfate/podfate/policy/upstream/diff"
)

//go:linkname matchPodFailurePolicy k8s.io/kubernetes/pkg/controller/job.matchPodFailurePolicy
func matchPodFailurePolicy(*batchv1.PodFailurePolicy, *v1.Pod) (*string, bool, *batchv1.PodFailurePolicyAction)

//go:linkname isPodFailed k8s.io/kubernetes/pkg/controller/job.isPodFailed
func isPodFailed(*v1.Pod, *batchv1.Job) bool

//go:linkname isIndexFailed k8s.io/kubernetes/pkg/controller/job.isIndexFailed
func isIndexFailed(klog.Logger, *batchv1.Job, *v1.Pod) bool

//go:linkname getCompletionIndex k8s.io/kubernetes/pkg/controller/job.getCompletionIndex
func getCompletionIndex(map[string]string) int

type podJudge struct{ job *batchv1.Job }

// PodJudge implements diff.Release.
func (r *Release) PodJudge(manifest []byte) (diff.PodJudge, error) {
	object, _, err := legacyscheme.Codecs.UniversalDeserializer().Decode(manifest, nil, nil)
	if err != nil {
		return nil, err
	}
	job, ok := object.(*batchv1.Job)
	if !ok {
		return nil, fmt.Errorf("decoded a %T", object)
	}
	legacyscheme.Scheme.Default(job)
	return podJudge{job}, nil
}

// Judge implements diff.PodJudge.
func (j podJudge) Judge(manifest []byte) (d diff.PodJudgement, err error) {
	object, _, err := legacyscheme.Codecs.UniversalDeserializer().Decode(manifest, nil, nil)
	if err != nil {
		return d, err
	}
	pod, ok := object.(*v1.Pod)
	if !ok {
		return d, fmt.Errorf("decoded a %T", object)
	}
	if !isPodFailed(pod, j.job) {
		return d, nil
	}
	d.Failed = true
	message, counted, action := matchPodFailurePolicy(j.job.Spec.PodFailurePolicy, pod)
	d.Counted = counted
	if message != nil {
		d.Message = *message
	}
	if action != nil {
		d.Action = string(*action)
	}
	if *j.job.Spec.CompletionMode == batchv1.IndexedCompletion {
		d.Index = getCompletionIndex(pod.Annotations)
		d.OutOfRange = d.Index < 0 || d.Index >= int(*j.job.Spec.Completions)
		d.IndexFailed = j.job.Spec.BackoffLimitPerIndex != nil && !d.OutOfRange && isIndexFailed(klog.Logger{}, j.job, pod)
	}
	return d, nil
}
