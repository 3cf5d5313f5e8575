package kube

import (
	"cmp"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/core"
	podregistry "k8s.io/kubernetes/pkg/registry/core/pod"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/simulate"
	"github.com/podfate/podfate/policy/upstream/diff"
)

// Judge implements diff.Pod.
func (p *kubeletPod) Judge(s *simulate.Step) (j diff.Judgement, known bool) {
	if linked.Merge == nil {
		return j, false
	}
	kept, api, made := p.statusOf(&s.Kept), p.statusOf(&s.API), p.statusOf(&s.Made)
	all := append(slices.Clone(made.InitContainerStatuses), made.ContainerStatuses...)
	asked := slices.Clone(all) // the prober has not been asked yet who has started
	for i := range asked {
		s := &asked[i]
		if s.Started = nil; p.a.Minor < 35 || s.State.Running == nil {
			continue
		}
		for _, old := range append(slices.Clone(kept.InitContainerStatuses), kept.ContainerStatuses...) {
			if old.Name == s.Name {
				s.Started = old.Started
			}
		}
	}
	j.Phase = linked.Phase(p.pod, asked, s.Options.Terminating, s.Options.Initialized)
	j.Conditions = conditionsOf(linked.Conditions(p.pod, kept, all, v1.PodPhase(s.By)))
	j.Dropped = linked.Transition(kept, made, &p.pod.Spec) != nil
	j.Denied = denied(p.pod, api, made)
	merged := linked.Merge(p.pod, *api, *made, !s.Terminated)
	j.Merged = simulate.PodStatus{
		Phase: policy.PodPhase(merged.Phase), Reason: merged.Reason, Message: merged.Message, Conditions: conditionsOf(merged.Conditions),
	}
	return j, true
}

// denied reports whether the API server refuses that the status of p becomes made because of a
// container that has ended.
func denied(p *v1.Pod, api, made *v1.PodStatus) bool {
	internal := func(s *v1.PodStatus) *core.Pod {
		pod := p.DeepCopy()
		pod.ResourceVersion, pod.Status = "1", *s
		out := &core.Pod{}
		if err := legacyscheme.Scheme.Convert(pod, out, nil); err != nil {
			panic(err)
		}
		return out
	}
	for _, e := range podregistry.StatusStrategy.ValidateUpdate(requestContext("update", "/v1/pods", p.Namespace), internal(made), internal(api)) {
		if strings.Contains(e.Detail, "may not be transitioned to non-terminated state") {
			return true
		}
	}
	return false
}

// conditionsOf returns conditions in the order of their types.
func conditionsOf(list []v1.PodCondition) (out []simulate.Condition) {
	for _, c := range list {
		out = append(out, simulate.Condition{Type: string(c.Type), Status: c.Status == v1.ConditionTrue, Reason: c.Reason, Message: c.Message})
	}
	slices.SortStableFunc(out, func(a, b simulate.Condition) int { return cmp.Compare(a.Type, b.Type) })
	return out
}

func (p *kubeletPod) statusOf(s *simulate.PodStatus) *v1.PodStatus {
	out := &v1.PodStatus{Phase: v1.PodPhase(s.Phase), Reason: s.Reason, Message: s.Message}
	for _, c := range s.Conditions {
		condition := v1.PodCondition{Type: v1.PodConditionType(c.Type), Status: v1.ConditionFalse, Reason: c.Reason, Message: c.Message}
		if c.Status {
			condition.Status = v1.ConditionTrue
		}
		out.Conditions = append(out.Conditions, condition)
	}
	for i := range s.Containers {
		c := &s.Containers[i]
		if !c.Listed {
			continue
		}
		status := v1.ContainerStatus{
			State: stateOf(c.State), LastTerminationState: stateOf(c.Last), RestartCount: int32(c.RestartCount), Ready: c.Ready, Started: &c.Started,
		}
		switch c.Ref.Kind {
		case policy.InitContainer:
			status.Name = p.pod.Spec.InitContainers[c.Ref.Index].Name
			out.InitContainerStatuses = append(out.InitContainerStatuses, status)
		case policy.EphemeralContainer:
			status.Name = p.pod.Spec.EphemeralContainers[c.Ref.Index].Name
			out.EphemeralContainerStatuses = append(out.EphemeralContainerStatuses, status)
		default:
			status.Name = p.pod.Spec.Containers[c.Ref.Index].Name
			out.ContainerStatuses = append(out.ContainerStatuses, status)
		}
	}
	return out
}

func stateOf(s simulate.State) (out v1.ContainerState) {
	at := func(m policy.Millis) (t metav1.Time) {
		if m >= 0 {
			t = metav1.NewTime(time.UnixMilli(int64(m)))
		}
		return t
	}
	switch s.Kind {
	case policy.StateWaiting:
		out.Waiting = &v1.ContainerStateWaiting{Reason: s.Reason, Message: s.Message}
	case policy.StateRunning:
		out.Running = &v1.ContainerStateRunning{StartedAt: at(s.Started)}
	case policy.StateTerminated:
		out.Terminated = &v1.ContainerStateTerminated{
			ExitCode: s.ExitCode, Reason: s.Reason, Message: s.Message, StartedAt: at(s.Started), FinishedAt: at(s.Finished),
		}
	}
	return out
}
