package kube

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/simulate"
	"github.com/podfate/podfate/policy/upstream/diff"
)

type kubeletPod struct {
	a      *Adapter
	pod    *v1.Pod
	status *kubecontainer.PodStatus // everything runs
	byRef  map[policy.Ref]*kubecontainer.Status
}

// Pod implements diff.Release.
func (r *Release) Pod(manifest []byte) (diff.Pod, error) {
	object, _, err := legacyscheme.Codecs.UniversalDeserializer().Decode(manifest, nil, nil)
	if err != nil {
		return nil, err
	}
	p, ok := object.(*v1.Pod)
	if !ok {
		return nil, fmt.Errorf("decoded a %T", object)
	}
	legacyscheme.Scheme.Default(p)
	return newPod(&r.Adapter, p), nil
}

func newPod(a *Adapter, p *v1.Pod) *kubeletPod {
	result := &kubeletPod{a: a, pod: p, status: &kubecontainer.PodStatus{}, byRef: map[policy.Ref]*kubecontainer.Status{}}
	for kind, list := range map[policy.ContainerKind][]v1.Container{policy.InitContainer: p.Spec.InitContainers, policy.MainContainer: p.Spec.Containers} {
		for i := range list {
			s := &kubecontainer.Status{Name: list[i].Name, State: kubecontainer.ContainerStateRunning}
			result.byRef[policy.Ref{Kind: kind, Index: i}] = s
			result.status.ContainerStatuses = append(result.status.ContainerStatuses, s)
		}
	}
	return result
}

func (p *kubeletPod) container(r policy.Ref) *v1.Container {
	if r.Kind == policy.InitContainer {
		return &p.pod.Spec.InitContainers[r.Index]
	}
	return &p.pod.Spec.Containers[r.Index]
}

// exited lets container r be exited with code until the returned function is called.
func (p *kubeletPod) exited(r policy.Ref, code int32) (undo func()) {
	s := p.byRef[r]
	s.State, s.ExitCode = kubecontainer.ContainerStateExited, int(code)
	return func() { s.State = kubecontainer.ContainerStateRunning }
}

func (p *kubeletPod) Match(r policy.Ref, code int32) (rule int, known bool) {
	if p.a.MatchingRule == nil {
		return -1, false
	}
	return p.a.MatchingRule(*p.container(r), code), true
}

func (p *kubeletPod) MatchAlone(r policy.Ref, i int, code int32) bool {
	return p.a.MatchingRule(p.a.OnlyRule(*p.container(r), i), code) == 0
}

func (p *kubeletPod) ShouldRestart(r policy.Ref, code int32) (restart, known bool) {
	if p.a.ContainerShouldRestart == nil {
		return false, false
	}
	return p.a.ContainerShouldRestart(*p.container(r), p.pod.Spec, code), true
}

func (p *kubeletPod) ShouldBeRestarted(r policy.Ref, code int32) bool {
	defer p.exited(r, code)()
	return p.a.ShouldContainerBeRestarted(p.container(r), p.pod, p.status)
}

func (p *kubeletPod) ShouldRestartAll(r policy.Ref, code int32) bool {
	if p.a.ShouldAllContainersRestart == nil {
		return false
	}
	defer p.exited(r, code)()
	return p.a.ShouldAllContainersRestart(p.pod, p.status)
}

func (p *kubeletPod) With(podPolicy policy.RestartPolicy, r policy.Ref, own policy.RestartPolicy) diff.Pod {
	c := newPod(p.a, p.pod.DeepCopy())
	if podPolicy != "" {
		c.pod.Spec.RestartPolicy = v1.RestartPolicy(podPolicy)
	}
	if own != "" {
		o := v1.ContainerRestartPolicy(own)
		c.container(r).RestartPolicy = &o
	}
	return c
}

// PlanInit implements diff.Pod.
func (p *kubeletPod) PlanInit(r policy.Ref, code int32, oom bool) (diff.InitPlan, bool) {
	if linked.PlanInit == nil {
		return diff.InitPlan{}, false
	}
	s := &kubecontainer.Status{Name: p.container(r).Name, State: kubecontainer.ContainerStateExited, ExitCode: int(code)}
	if oom {
		s.Reason = "OOMKilled"
	}
	return linked.PlanInit(p.pod, r.Index, s), true
}

// Plan implements diff.Pod.
func (p *kubeletPod) Plan(r *simulate.Runtime) (simulate.Sync, bool) {
	if linked.Plan == nil {
		return simulate.Sync{}, false
	}
	return linked.Plan(p.pod, r), true
}

// Phase implements diff.Pod.
func (p *kubeletPod) Phase(states map[policy.Ref]policy.ContainerState, o policy.PhaseOptions) (policy.PodPhase, bool) {
	if linked.Phase == nil {
		return "", false
	}
	var list []v1.ContainerStatus
	for r, s := range states {
		if s.Listed {
			list = append(list, containerStatus(p.container(r).Name, s))
		}
	}
	return linked.Phase(p.pod, list, o.Terminating, o.Initialized), true
}

func containerStatus(name string, s policy.ContainerState) v1.ContainerStatus {
	terminated := func(t policy.Termination) *v1.ContainerStateTerminated {
		result := &v1.ContainerStateTerminated{ExitCode: t.ExitCode, Reason: "Error"}
		if t.RestartingAllContainers {
			result.Reason = "RestartingAllContainers"
		}
		return result
	}
	c := v1.ContainerStatus{Name: name, Started: &s.Started}
	switch s.Kind {
	case policy.StateWaiting:
		c.State.Waiting = &v1.ContainerStateWaiting{}
	case policy.StateRunning:
		c.State.Running = &v1.ContainerStateRunning{}
	case policy.StateTerminated:
		c.State.Terminated = terminated(s.Ended)
	}
	if s.Last != nil {
		c.LastTerminationState.Terminated = terminated(*s.Last)
	}
	return c
}
