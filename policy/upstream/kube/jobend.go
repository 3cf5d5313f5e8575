package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/podfate/podfate/policy/upstream/diff"
)

// JobEnd implements diff.Release.
func (r *Release) JobEnd(manifest []byte, pods []json.RawMessage) (end diff.JobEnd, err error) {
	if *r.JobSyncBatchPeriod = 0; r.NewJobController == nil {
		return end, errors.New("no Job controller is linked")
	}
	server, err := newAPIServer(string(manifest))
	if err != nil {
		return end, err
	}
	start := metav1.NewTime(epoch.Local()) // as decoding leaves it
	server.job.Status.StartTime = &start   // else a suspended Job with Pods could not end
	for i, text := range pods {
		var p v1.Pod
		if err := json.Unmarshal(text, &p); err != nil {
			return end, err
		}
		server.adopt(&p, i)
	}
	d := &jobs{server: server, clock: clocktesting.NewFakeClock(epoch), pods: &podInformer{newInformer(server.byName)}, job: &jobInformer{newInformer(nil)}}
	d.client = client(func() *apiServer { return d.server })
	d.newController(r)
	defer func() { d.stop() }()
	for _, c := range server.changes {
		d.tell(c)
	}
	if err := d.sync(context.Background(), server.job.Namespace+"/"+server.job.Name); err != nil {
		return end, err
	}
	for _, c := range server.job.Status.Conditions {
		switch {
		case c.Status != v1.ConditionTrue:
		case c.Type == batchv1.JobFailureTarget, c.Type == batchv1.JobSuccessCriteriaMet:
			return diff.JobEnd{Succeeds: c.Type == batchv1.JobSuccessCriteriaMet, Reason: c.Reason, Message: c.Message}, nil
		case c.Type == batchv1.JobFailed, c.Type == batchv1.JobComplete:
			return end, fmt.Errorf("%s without a condition before it", c.Type)
		}
	}
	return end, nil
}

// adopt stores a Pod as one that the Job has created.
func (s *apiServer) adopt(p *v1.Pod, number int) {
	yes := true
	p.UID, p.ResourceVersion = types.UID("uid-"+p.Name), s.next()
	p.Labels, p.Finalizers = s.job.Spec.Template.Labels, []string{batchv1.JobTrackingFinalizer}
	p.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: "batch/v1", Kind: "Job", Name: s.job.Name, UID: s.job.UID, Controller: &yes, BlockOwnerDeletion: &yes,
	}}
	grace := int64(30)
	p.Spec.TerminationGracePeriodSeconds = &grace
	if p.DeletionTimestamp != nil {
		p.DeletionGracePeriodSeconds = &grace
	}
	s.pods[p.Name], s.byName[p.Name] = p, number
	s.record.Pods = append(s.record.Pods, diff.JobPod{})
	s.changes = append(s.changes, change{nil, p})
}
