package kubelet

import (
	"encoding/json"
	"fmt"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	"k8s.io/kubernetes/pkg/kubelet/kuberuntime"
	"k8s.io/kubernetes/pkg/kubelet/prober/results"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/simulate"
)

// planner computes plans with one manager.
type planner struct {
	liveness, startup results.Manager
	manager           *kuberuntime.PodfateManager
}

func newPlanner() *planner {
	p := &planner{liveness: results.NewManager(), startup: results.NewManager()}
	for _, m := range []results.Manager{p.liveness, p.startup} {
		go func() { // nobody else reads them, and they fill up
			for range m.Updates() {
			}
		}()
	}
	p.manager = kuberuntime.NewPodfateManager(p.liveness, p.startup)
	return p
}

// sandboxes returns the statuses of a Pod's sandboxes.
func sandboxes(s simulate.SandboxState) []*runtimeapi.PodSandboxStatus {
	if s == simulate.SandboxNone {
		return nil
	}
	status := &runtimeapi.PodSandboxStatus{
		Id: "s", Metadata: &runtimeapi.PodSandboxMetadata{Attempt: 1},
		State:   runtimeapi.PodSandboxState_SANDBOX_READY,
		Network: &runtimeapi.PodSandboxNetworkStatus{Ip: "10.0.0.1"},
	}
	if s == simulate.SandboxNotReady {
		status.State = runtimeapi.PodSandboxState_SANDBOX_NOTREADY
	}
	return []*runtimeapi.PodSandboxStatus{status}
}

func (p *planner) plan(pod *v1.Pod, r *simulate.Runtime) simulate.Sync {
	pod = pod.DeepCopy()
	if r.Deleted {
		pod.DeletionTimestamp = &metav1.Time{}
	}
	status := &kubecontainer.PodStatus{SandboxStatuses: sandboxes(r.Sandbox)}
	refs := map[string]policy.Ref{}
	var ids []kubecontainer.ContainerID
	add := func(ref policy.Ref, c *v1.Container, instances []simulate.Instance) {
		refs[c.Name] = ref
		for i, in := range instances {
			s := p.instance(pod, c, in, i)
			ids = append(ids, s.ID)
			status.ContainerStatuses = append(status.ContainerStatuses, s)
			if in.Active {
				status.ActiveContainerStatuses = append(status.ActiveContainerStatuses, s)
			}
		}
	}
	for i := range pod.Spec.InitContainers {
		add(policy.Ref{Kind: policy.InitContainer, Index: i}, &pod.Spec.InitContainers[i], at(r.Init, i))
	}
	for i := range pod.Spec.Containers {
		add(policy.Ref{Kind: policy.MainContainer, Index: i}, &pod.Spec.Containers[i], at(r.Main, i))
	}
	for i := range pod.Spec.EphemeralContainers {
		c := v1.Container(pod.Spec.EphemeralContainers[i].EphemeralContainerCommon)
		add(policy.Ref{Kind: policy.EphemeralContainer, Index: i}, &c, at(r.Ephemeral, i))
	}
	plan := p.manager.Plan(pod, status, r.RestartAll)
	for _, id := range ids {
		p.liveness.Remove(id)
		p.startup.Remove(id)
	}
	p.manager.Forget()
	return convert(plan, refs, status)
}

func at(list [][]simulate.Instance, i int) []simulate.Instance {
	if i < len(list) {
		return list[i]
	}
	return nil
}

// instance returns the status of one instance of c and tells the probes and the record of resources
// about it.
func (p *planner) instance(pod *v1.Pod, c *v1.Container, in simulate.Instance, number int) *kubecontainer.Status {
	s := &kubecontainer.Status{
		Name: c.Name, ID: kubecontainer.ContainerID{Type: "podfate", ID: fmt.Sprint(c.Name, "-", number)},
		State:    map[simulate.InstanceState]kubecontainer.State{simulate.InstanceRunning: kubecontainer.ContainerStateRunning, simulate.InstanceExited: kubecontainer.ContainerStateExited, simulate.InstanceUnknown: kubecontainer.ContainerStateUnknown}[in.State],
		ExitCode: int(in.ExitCode), Reason: in.Reason, Hash: kubecontainer.HashContainer(c),
	}
	if in.Stale {
		s.Hash++
	}
	if number > 0 || in.State != simulate.InstanceRunning {
		return s
	}
	if in.LivenessFailed {
		p.liveness.Set(s.ID, results.Failure, pod)
	} else if c.LivenessProbe != nil {
		p.liveness.Set(s.ID, results.Success, pod)
	}
	switch {
	case in.StartupFailed:
		p.startup.Set(s.ID, results.Failure, pod)
	case c.StartupProbe != nil && !in.StartupPending:
		p.startup.Set(s.ID, results.Success, pod)
	}
	if in.Resized {
		c.ResizePolicy = []v1.ContainerResizePolicy{{ResourceName: v1.ResourceCPU, RestartPolicy: v1.RestartContainer}}
		c.Resources.Limits = v1.ResourceList{v1.ResourceCPU: resource.MustParse("1")}
		if err := p.manager.Actuated(pod, c); err != nil {
			panic(err)
		}
		c.Resources.Limits = v1.ResourceList{v1.ResourceCPU: resource.MustParse("2")}
	}
	return s
}

// reasons translates why a container is killed.
var reasons = map[string]simulate.KillReason{
	"LivenessProbe": simulate.KillLiveness, "StartupProbe": simulate.KillStartup, "Unknown": simulate.KillUnknown,
	"definition changed": simulate.KillChanged, "resize": simulate.KillResized,
}

// convert leaves out what nobody looks at when the whole Pod is killed.
//
// Source: SyncPod in pkg/kubelet/kuberuntime/kuberuntime_manager.go, Kubernetes v1.33 to v1.37.
func convert(plan kuberuntime.PodfatePlan, refs map[string]policy.Ref, status *kubecontainer.PodStatus) simulate.Sync {
	s := simulate.Sync{
		KillPod: plan.KillPod, CreateSandbox: plan.CreateSandbox,
		StartEphemeral: plan.StartEphemeral, StartInit: plan.StartInit, StartMain: plan.StartMain,
	}
	if s.KillPod {
		return s
	}
	for name, why := range plan.Kill {
		reason, known := reasons[why]
		if !known {
			panic("no such reason: " + why)
		}
		s.Kill = append(s.Kill, simulate.PlannedKill{Container: refs[name], Reason: reason})
	}
	for _, instance := range plan.Reset {
		if status.FindContainerStatusByName(instance[0]).ID.ID == instance[1] { // the newest
			s.Reset = append(s.Reset, refs[instance[0]])
		}
	}
	return s
}

func readPlan(text []byte, pod *v1.Pod, status *kubecontainer.PodStatus) (simulate.Sync, error) {
	var plan kuberuntime.PodfatePlan
	if err := json.Unmarshal(text, &plan); err != nil {
		return simulate.Sync{}, err
	}
	refs := map[string]policy.Ref{}
	for i, c := range pod.Spec.InitContainers {
		refs[c.Name] = policy.Ref{Kind: policy.InitContainer, Index: i}
	}
	for i, c := range pod.Spec.Containers {
		refs[c.Name] = policy.Ref{Kind: policy.MainContainer, Index: i}
	}
	return convert(plan, refs, status), nil
}
