package kube

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/batch"
	"k8s.io/kubernetes/pkg/registry/batch/job"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/upstream/diff"
)

// apiServer holds one Job and its Pods as an API server does: times in whole seconds, generated
// names, deletion that waits for the kubelet and for finalizers, and Kubernetes' own validation of
// a new Job and of its status.
type apiServer struct {
	mu      sync.Mutex // the controller creates and deletes Pods from several goroutines
	now     policy.Millis
	version int
	job     *batchv1.Job
	pods    map[string]*v1.Pod
	made    []*v1.Pod // by the sync under way
	created int
	changes []change // not seen by the informers yet
	record  diff.JobRecord
	byName  map[string]int // numbers of Pods, once they have one
}

// change is what an informer is told; a nil object is not there before or after.
type change struct{ before, after runtime.Object }

func newAPIServer(manifest string) (*apiServer, error) {
	s := &apiServer{pods: map[string]*v1.Pod{}, byName: map[string]int{}}
	object, err := decode([]byte(manifest), true)
	if err != nil {
		return nil, err
	}
	internal, ok := object.(*batch.Job)
	if !ok {
		return nil, fmt.Errorf("decoded a %T", object)
	}
	rest.FillObjectMetaSystemFields(internal)
	internal.UID, internal.CreationTimestamp = "job", metav1.NewTime(epoch)
	if err := rest.BeforeCreate(job.Strategy, requestContext("create", "batch/v1/jobs", internal.Namespace), internal); err != nil {
		return nil, err
	}
	s.job = &batchv1.Job{}
	if err := legacyscheme.Scheme.Convert(internal, s.job, nil); err != nil {
		return nil, err
	}
	s.job.ResourceVersion = s.next()
	s.changes = append(s.changes, change{nil, s.job})
	return s, nil
}

func (s *apiServer) next() string {
	s.version++
	return strconv.Itoa(s.version)
}

// stamp is an instant as the API server writes it.
func stamp(m policy.Millis) metav1.Time { return metav1.NewTime(instant(m).Truncate(time.Second)) }

// react answers the requests of the controller.
func (s *apiServer) react(action clienttesting.Action) (bool, runtime.Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch a := action.(type) {
	case clienttesting.CreateActionImpl:
		if p, ok := a.GetObject().(*v1.Pod); ok {
			return true, s.create(p).DeepCopy(), nil
		}
	case clienttesting.DeleteActionImpl:
		p := s.pods[a.GetName()]
		if p == nil {
			return true, nil, apierrors.NewNotFound(v1.Resource("pods"), a.GetName())
		}
		s.delete(p, -1)
		number, known := s.byName[p.Name]
		if !known {
			panic("the controller deletes a Pod that it created in the same sync")
		}
		s.record.Pods[number].Deleted = s.now
		return true, nil, nil
	case clienttesting.PatchActionImpl:
		p := s.pods[a.GetName()]
		switch {
		case a.GetResource().Resource != "pods" || !strings.Contains(string(a.GetPatch()), `"$deleteFromPrimitiveList/finalizers"`):
		case p == nil:
			return true, nil, apierrors.NewNotFound(v1.Resource("pods"), a.GetName())
		default:
			p = p.DeepCopy()
			p.Finalizers = slices.DeleteFunc(p.Finalizers, func(f string) bool { return f == batchv1.JobTrackingFinalizer })
			s.put(p)
			return true, p.DeepCopy(), nil
		}
	case clienttesting.UpdateActionImpl:
		if j, ok := a.GetObject().(*batchv1.Job); ok && a.GetSubresource() == "status" {
			j, err := s.updateStatus(j)
			return true, j, err
		}
	case clienttesting.GetActionImpl:
		if a.GetResource().Resource == "jobs" {
			return true, s.job.DeepCopy(), nil
		}
	}
	panic(fmt.Sprintf("the controller asks for what it never asked for: %v", action))
}

func (s *apiServer) create(p *v1.Pod) *v1.Pod {
	p = p.DeepCopy()
	s.created++
	p.Name = fmt.Sprintf("%s%04d", p.GenerateName, s.created)
	p.Namespace, p.UID = s.job.Namespace, types.UID("uid-"+p.Name)
	p.CreationTimestamp, p.ResourceVersion = stamp(s.now), s.next()
	p.Spec.NodeName, p.Status.Phase = "n", v1.PodPending
	if p.Spec.TerminationGracePeriodSeconds == nil {
		grace := int64(30)
		p.Spec.TerminationGracePeriodSeconds = &grace
	}
	s.pods[p.Name] = p
	s.made = append(s.made, p)
	return p
}

// number gives the Pods of the last sync their numbers and shows them to the informers.
func (s *apiServer) number() {
	slices.SortFunc(s.made, func(a, b *v1.Pod) int {
		return 2*(annotation(a, batchv1.JobCompletionIndexAnnotation)-annotation(b, batchv1.JobCompletionIndexAnnotation)) + strings.Compare(a.Name, b.Name)
	})
	for _, p := range s.made {
		s.byName[p.Name] = len(s.record.Pods)
		s.record.Pods = append(s.record.Pods, diff.JobPod{
			At: s.now, Deleted: -1, Index: annotation(p, batchv1.JobCompletionIndexAnnotation),
			Failed: annotation(p, batchv1.JobIndexFailureCountAnnotation), Ignored: annotation(p, batchv1.JobIndexIgnoredFailureCountAnnotation),
		})
		s.changes = append(s.changes, change{nil, p})
	}
	s.made = nil
}

func annotation(p *v1.Pod, name string) int {
	text, ok := p.Annotations[name]
	if !ok {
		return -1
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	return n
}

// put stores p again, or lets it go if nothing holds it any more.
func (s *apiServer) put(p *v1.Pod) {
	before := s.pods[p.Name]
	p.ResourceVersion = s.next()
	if p.DeletionTimestamp != nil && *p.DeletionGracePeriodSeconds == 0 && len(p.Finalizers) == 0 {
		delete(s.pods, p.Name)
		s.changes = append(s.changes, change{before, nil})
		return
	}
	s.pods[p.Name] = p
	s.changes = append(s.changes, change{before, p})
}

// delete is a DELETE request with a grace period, -1 for the Pod's own.
//
// Source: BeforeDelete in staging/src/k8s.io/apiserver/pkg/registry/rest/delete.go and
// CheckGracefulDelete in pkg/registry/core/pod/strategy.go, Kubernetes v1.33 to v1.37.
func (s *apiServer) delete(p *v1.Pod, grace int64) {
	p = p.DeepCopy()
	period := grace
	if grace < 0 {
		period = *p.Spec.TerminationGracePeriodSeconds
	}
	if p.Status.Phase == v1.PodSucceeded || p.Status.Phase == v1.PodFailed {
		period = 0
	}
	if p.DeletionTimestamp != nil {
		if period >= *p.DeletionGracePeriodSeconds {
			return
		}
		asked := p.DeletionTimestamp.Add(-time.Duration(*p.DeletionGracePeriodSeconds) * time.Second)
		at := metav1.NewTime(asked.Add(time.Duration(period) * time.Second))
		p.DeletionTimestamp = &at
	} else {
		at := stamp(s.now + policy.Millis(period)*policy.Second)
		p.DeletionTimestamp = &at
	}
	p.DeletionGracePeriodSeconds = &period
	s.put(p)
}

// updateStatus is an update of the Job's status by the controller.
func (s *apiServer) updateStatus(j *batchv1.Job) (*batchv1.Job, error) {
	after := s.job.DeepCopy()
	text, err := json.Marshal(&j.Status)
	if err != nil {
		return nil, err
	}
	after.Status = batchv1.JobStatus{}
	if err := json.Unmarshal(text, &after.Status); err != nil {
		return nil, err
	}
	var was, is batch.Job
	if err := legacyscheme.Scheme.Convert(s.job.DeepCopy(), &was, nil); err != nil {
		return nil, err
	}
	if err := legacyscheme.Scheme.Convert(after.DeepCopy(), &is, nil); err != nil {
		return nil, err
	}
	ctx := context.Background()
	job.StatusStrategy.PrepareForUpdate(ctx, &is, &was)
	if faults := job.StatusStrategy.ValidateUpdate(ctx, &is, &was); len(faults) > 0 {
		return nil, apierrors.NewInvalid(batch.Kind("Job"), j.Name, faults)
	}
	after.ResourceVersion = s.next()
	s.changes = append(s.changes, change{s.job, after})
	s.job = after
	return after.DeepCopy(), nil // the controller changes what it gets
}

// suspend is an update of the Job's spec by a user.
func (s *apiServer) suspend(suspended bool) {
	if *s.job.Spec.Suspend == suspended {
		return
	}
	after := s.job.DeepCopy()
	after.Spec.Suspend = &suspended
	after.Generation++
	after.ResourceVersion = s.next()
	s.changes = append(s.changes, change{s.job, after})
	s.job = after
}

// note writes down the status if it has changed.
func (s *apiServer) note() {
	st := &s.job.Status
	seconds := func(t *metav1.Time) policy.Millis {
		if t == nil {
			return -1
		}
		return policy.Millis(t.Sub(epoch) / time.Millisecond)
	}
	now := diff.JobStatus{
		Active: int(st.Active), Succeeded: int(st.Succeeded), Failed: int(st.Failed), CompletedIndexes: st.CompletedIndexes,
		FailedIndexes: "-", StartTime: seconds(st.StartTime), CompletionTime: seconds(st.CompletionTime),
	}
	if st.Ready != nil {
		now.Ready = int(*st.Ready)
	}
	if st.Terminating != nil {
		now.Terminating = int(*st.Terminating)
	}
	if st.FailedIndexes != nil {
		now.FailedIndexes = *st.FailedIndexes
	}
	if u := st.UncountedTerminatedPods; u != nil {
		now.UncountedSucceeded, now.UncountedFailed = s.numbers(u.Succeeded), s.numbers(u.Failed)
	}
	for _, c := range st.Conditions {
		now.Conditions += fmt.Sprintf("%s=%s at %d, %s: %s; ", c.Type, c.Status, seconds(&c.LastTransitionTime), c.Reason, s.withNumbers(c.Message))
	}
	last := diff.JobStatus{FailedIndexes: "-", StartTime: -1, CompletionTime: -1}
	if n := len(s.record.Status); n > 0 {
		last = s.record.Status[n-1]
	}
	now.At = last.At
	if now == last {
		return
	}
	now.At = s.now
	s.record.Status = append(s.record.Status, now)
}

func (s *apiServer) numbers(uids []types.UID) string {
	var list []int
	for _, uid := range uids {
		list = append(list, s.byName[strings.TrimPrefix(string(uid), "uid-")])
	}
	slices.Sort(list)
	return strings.Trim(fmt.Sprint(list), "[]")
}

// withNumbers replaces the names of Pods in a message.
func (s *apiServer) withNumbers(text string) string {
	for name, n := range s.byName {
		text = strings.ReplaceAll(text, name, "{"+strconv.Itoa(n)+"}")
	}
	return text
}

// Event implements record.EventRecorder.
func (s *apiServer) Event(_ runtime.Object, kind, reason, message string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.record.Events = append(s.record.Events, diff.JobEvent{At: s.now, Type: kind, Reason: reason, Message: message})
}

// Eventf implements record.EventRecorder.
func (s *apiServer) Eventf(o runtime.Object, kind, reason, format string, args ...any) {
	s.Event(o, kind, reason, fmt.Sprintf(format, args...))
}

// AnnotatedEventf implements record.EventRecorder.
func (s *apiServer) AnnotatedEventf(o runtime.Object, _ map[string]string, kind, reason, format string, args ...any) {
	s.Eventf(o, kind, reason, format, args...)
}

// client returns a client of whatever server is current.
func client(current func() *apiServer) *fake.Clientset {
	c := fake.NewSimpleClientset()
	c.PrependReactor("*", "*", func(a clienttesting.Action) (bool, runtime.Object, error) { return current().react(a) })
	return c
}
