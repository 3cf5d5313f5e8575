package kube

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"time"
	"unsafe"

	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/kubernetes/fake"
	batchlisters "k8s.io/client-go/listers/batch/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/kubernetes/pkg/controller"
	jobcontroller "k8s.io/kubernetes/pkg/controller/job"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/upstream/diff"
)

// jobs drives the Job controller itself through one history after the other. What a running
// controller does in goroutines happens here in one: its informers are told of each change when a
// sync is over, its queue is a field that remembers when it wakes, and its clock stands still
// between the instants at which something happens.
type jobs struct {
	server  *apiServer
	client  *fake.Clientset
	clock   *clocktesting.FakeClock
	queue   *wakeups
	pods    *podInformer
	job     *jobInformer
	sync    func(context.Context, string) error
	kubelet *miniKubelet
	stop    context.CancelFunc // ends what the controller has started
}

// podInformer is an informer whose cache is written by hand.
type podInformer struct{ informer }

// jobInformer is the same for Jobs.
type jobInformer struct{ informer }

type informer struct {
	cache.SharedIndexInformer // nil: the controller asks for nothing but what follows
	store                     *store
	handler                   cache.ResourceEventHandler
}

// store lists Pods in the order of their numbers; Kubernetes says nothing about an order.
type store struct {
	cache.Indexer
	numbers map[string]int // of Pods by name
}

func (i *informer) Informer() cache.SharedIndexInformer   { return i }
func (i *informer) GetStore() cache.Store                 { return i.store }
func (i *informer) GetIndexer() cache.Indexer             { return i.store }
func (i *informer) HasSynced() bool                       { return true }
func (i *informer) AddIndexers(more cache.Indexers) error { return i.store.AddIndexers(more) }
func (i *podInformer) Lister() corelisters.PodLister      { return corelisters.NewPodLister(i.store) }
func (i *jobInformer) Lister() batchlisters.JobLister     { return batchlisters.NewJobLister(i.store) }

func (i *informer) AddEventHandler(h cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	i.handler = h
	return nil, nil
}

func newInformer(numbers map[string]int) informer {
	byNamespace := cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
	return informer{store: &store{cache.NewIndexer(cache.MetaNamespaceKeyFunc, byNamespace), numbers}}
}

func (s *store) ByIndex(name, value string) ([]any, error) {
	list, err := s.Indexer.ByIndex(name, value)
	s.order(list)
	return list, err
}

func (s *store) Index(name string, object any) ([]any, error) {
	list, err := s.Indexer.Index(name, object)
	s.order(list)
	return list, err
}

func (s *store) order(list []any) {
	slices.SortFunc(list, func(a, b any) int {
		p, ok := a.(*v1.Pod)
		q, both := b.(*v1.Pod)
		if !ok || !both {
			return 0
		}
		return cmp.Compare(s.numbers[p.Name], s.numbers[q.Name])
	})
}

// tell writes the change into the cache and tells the controller.
func (i *informer) tell(c change, version string) {
	must := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	switch {
	case c.before == nil:
		must(i.store.Add(c.after))
		i.handler.OnAdd(c.after, false)
	case c.after == nil:
		must(i.store.Delete(c.before))
		i.handler.OnDelete(c.before)
	default:
		must(i.store.Update(c.after))
		i.handler.OnUpdate(c.before, c.after)
	}
	if s, ok := i.store.Indexer.(interface{ Bookmark(string) }); ok {
		s.Bookmark(version)
	}
}

// wakeups is the controller's queue for one Job: it only remembers the next instant at which the
// Job is due.
//
// Source: delayingType and ItemExponentialFailureRateLimiter in client-go v0.36, util/workqueue: of
// two waits the shorter one counts; the n-th error in a row, counted from 0, waits 2^n times the
// base, at most the maximum.
type wakeups struct {
	workqueue.TypedRateLimitingInterface[string] // nil: what follows is all the controller uses
	clock                                        *clocktesting.FakeClock
	dirty                                        bool // it is due now
	due                                          time.Time
	waits                                        bool // it is due then
	failures                                     int
}

func (w *wakeups) Add(string) { w.dirty = true }

func (w *wakeups) AddAfter(_ string, d time.Duration) {
	if d <= 0 {
		w.dirty = true
		return
	}
	at := w.clock.Now().Add(d)
	if !w.waits || at.Before(w.due) {
		w.due, w.waits = at, true
	}
}

func (w *wakeups) AddRateLimited(key string) {
	d := jobcontroller.DefaultJobApiBackOff
	for range w.failures {
		d = min(2*d, jobcontroller.MaxJobApiBackOff)
	}
	w.failures++
	w.AddAfter(key, d)
}

func (w *wakeups) Forget(string) { w.failures = 0 }

// get reports whether the Job is due, and takes it from the queue.
func (w *wakeups) get() bool {
	if w.waits && !w.due.After(w.clock.Now()) {
		w.waits, w.dirty = false, true
	}
	is := w.dirty
	w.dirty = false
	return is
}

// field returns a field of the controller that is not exported.
func field(c *jobcontroller.Controller, name string) reflect.Value {
	f := reflect.ValueOf(c).Elem().FieldByName(name)
	return reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem()
}

// newController starts a controller whose memory is empty, but whose caches are full.
func (d *jobs) newController(r *Release) {
	if d.stop != nil {
		d.stop()
	}
	ctx, stop := context.WithCancel(context.Background())
	d.stop = stop // else the broadcaster of its events lives on, a hundred kilobytes each
	c, err := r.NewJobController(ctx, d.client, d.pods, d.job)
	if err != nil {
		panic(err)
	}
	queue := field(c, "queue")
	queue.Interface().(interface{ ShutDown() }).ShutDown()
	d.queue = &wakeups{clock: d.clock}
	queue.Set(reflect.ValueOf(d.queue))
	// There are no Pods without a Job; a queue that is shut down takes nothing.
	field(c, "orphanQueue").Interface().(interface{ ShutDown() }).ShutDown()
	field(c, "clock").Set(reflect.ValueOf(d.clock))
	field(c, "recorder").Set(reflect.ValueOf(d.server))
	control := field(c, "podControl").Interface().(controller.RealPodControl)
	control.Recorder = d.server
	field(c, "podControl").Set(reflect.ValueOf(control))
	d.sync = field(c, "syncHandler").Interface().(func(context.Context, string) error)
}

// Job implements diff.Release.
func (r *Release) Job(h *diff.JobHistory) (record diff.JobRecord, err error) {
	if *r.JobSyncBatchPeriod = 0; r.NewJobController == nil {
		return record, errors.New("no Job controller is linked")
	}
	if h.Rich && linked.Plan == nil {
		return record, diff.ErrNoKubelet
	}
	server, err := newAPIServer(h.Manifest)
	if err != nil {
		return record, err
	}
	d := &jobs{server: server, clock: clocktesting.NewFakeClock(epoch), pods: &podInformer{newInformer(server.byName)}, job: &jobInformer{newInformer(nil)}}
	d.client = client(func() *apiServer { return d.server })
	d.newController(r)
	defer func() { d.stop() }()
	d.kubelet = newMiniKubelet(server, h, &r.Adapter)
	next := 0
	for t := policy.Millis(0); t <= h.Until; {
		d.clock.SetTime(instant(t))
		server.now = t
		for ; next < len(h.Events) && h.Events[next].At <= t; next++ {
			if e := &h.Events[next]; e.Type == "JobControllerRestarted" {
				d.newController(r)
				d.queue.Add("")
			} else {
				d.kubelet.event(e)
			}
		}
		if err := d.settle(); err != nil {
			return record, fmt.Errorf("at %d: %w", t, err)
		}
		d.kubelet.early = nil
		server.note()
		now := t
		t = d.kubelet.next()
		if next < len(h.Events) {
			t = min(t, h.Events[next].At)
		}
		if d.queue.waits {
			t = min(t, policy.Millis((d.queue.due.Sub(epoch)+time.Millisecond-1)/time.Millisecond))
		}
		if t <= now {
			return record, fmt.Errorf("no time passes after %d", now)
		}
	}
	for i := range server.record.Events {
		e := &server.record.Events[i]
		e.Message = server.withNumbers(e.Message)
	}
	slices.SortStableFunc(server.record.Events, diff.JobEvent.Compare)
	return server.record, nil
}

// settle lets kubelets and controller work in turn until nothing changes any more.
func (d *jobs) settle() error {
	for range 10_000 {
		d.kubelet.settle()
		told := len(d.server.changes)
		for _, c := range d.server.changes {
			d.tell(c)
		}
		d.server.changes = d.server.changes[:0]
		if !d.queue.get() {
			if told == 0 {
				return nil
			}
			continue
		}
		d.client.ClearActions()
		key := d.server.job.Namespace + "/" + d.server.job.Name
		switch err := d.sync(context.Background(), key); {
		case err == nil:
			d.queue.Forget(key)
		case apierrors.IsInvalid(rootCause(err)):
			d.queue.AddRateLimited(key)
		default:
			return err
		}
		d.server.number()
	}
	return errors.New("it does not settle")
}

func rootCause(err error) error {
	for e := err; e != nil; e = errors.Unwrap(e) {
		err = e
	}
	return err
}

func (d *jobs) tell(c change) {
	object := c.after
	if object == nil {
		object = c.before
	}
	version := strconv.Itoa(d.server.version)
	if _, ok := object.(*batchv1.Job); ok {
		d.job.tell(c, version)
	} else {
		d.pods.tell(c, version)
	}
}
