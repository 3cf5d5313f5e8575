package kube

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/batch"
	"k8s.io/kubernetes/pkg/apis/core"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/simulate"
	"github.com/podfate/podfate/policy/upstream/diff"
)

// legacySidecars is a gate that only 1.33 has, off unless it is set: with it the kubelet plans for
// Pods without sidecars as it did before there were any. It is not among the gates that are
// modelled, and Kubernetes' own tests of the old plans set it.
//
// Source: computePodActions in pkg/kubelet/kuberuntime/kuberuntime_manager.go, Kubernetes v1.33.5.
const legacySidecars = "LegacySidecarContainers"

// record is a line that the recorder of policy/upstream/mirror writes.
type record struct {
	Call               string
	Gates              map[string]bool
	Arguments, Results []json.RawMessage
	More               json.RawMessage
}

// Tables implements diff.Release. The record is the file that PODFATE_TABLES names.
func (r *Release) Tables() ([]diff.TableCase, error) {
	name := os.Getenv("PODFATE_TABLES")
	if name == "" {
		return nil, nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	cases := []diff.TableCase{}
	for _, line := range bytes.Split(bytes.TrimSpace(text), []byte("\n")) {
		var rec record
		if err := json.Unmarshal(line, &rec); err != nil {
			return nil, err
		}
		k, err := rec.read()
		if err != nil {
			return nil, fmt.Errorf("%w: %s", err, line)
		}
		cases = append(cases, k)
	}
	return cases, nil
}

func (rec *record) read() (k diff.TableCase, err error) {
	k = diff.TableCase{Call: rec.Call, Gates: rec.Gates}
	if rec.Gates[legacySidecars] {
		k.Outside = "the gate " + legacySidecars
		return k, nil
	}
	switch rec.Call {
	case "ContainerShouldRestart", "FindMatchingContainerRestartRule", "findMatchingContainerRestartRule":
		return k, rec.readRestart(&k)
	case "ShouldContainerBeRestarted", "ShouldAllContainersRestart":
		return k, rec.readRuntime(&k)
	case "getPhase":
		return k, rec.readPhase(&k)
	case "computePodActions":
		return k, rec.readPlan(&k)
	}
	if strings.Contains(rec.Call, "Job") {
		return k, rec.readJobs(&k)
	}
	return k, rec.readValidation(&k)
}

// data returns argument i, counted without contexts, loggers and other things that are no data.
func (rec *record) data(i int, into any) error {
	for _, text := range rec.Arguments {
		if string(text) == "null" {
			continue
		}
		if i == 0 {
			return json.Unmarshal(text, into)
		}
		i--
	}
	return fmt.Errorf("too few arguments")
}

func (rec *record) result(into any) error { return json.Unmarshal(rec.Results[0], into) }

func podText(pod *v1.Pod) ([]byte, error) {
	pod.APIVersion, pod.Kind = "v1", "Pod"
	return json.Marshal(pod)
}

func (rec *record) readRestart(k *diff.TableCase) (err error) {
	var c v1.Container
	var spec v1.PodSpec
	if err := rec.data(0, &c); err != nil {
		return err
	}
	code := 1
	if rec.Call == diff.CallRestart {
		if err := rec.data(1, &spec); err != nil {
			return err
		}
		if err := rec.result(&k.Restart); err != nil {
			return err
		}
		code = 2
	} else if err := rec.readRule(k, c); err != nil {
		return err
	}
	if err := rec.data(code, &k.Code); err != nil {
		return err
	}
	spec.Containers = []v1.Container{c}
	k.Manifest, err = podText(&v1.Pod{Spec: spec})
	return err
}

// readRule finds the rule by its text.
func (rec *record) readRule(k *diff.TableCase, c v1.Container) error {
	k.Call, k.Rule = diff.CallMatch, -1
	var found bool
	if err := json.Unmarshal(rec.Results[1], &found); err != nil || !found {
		return err
	}
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	var rules struct{ RestartPolicyRules []json.RawMessage }
	if err := json.Unmarshal(text, &rules); err != nil {
		return err
	}
	for i, rule := range rules.RestartPolicyRules {
		if k.Rule < 0 && bytes.Equal(rule, rec.Results[0]) {
			k.Rule = i
		}
	}
	return nil
}

func (rec *record) readRuntime(k *diff.TableCase) (err error) {
	if err := rec.result(&k.Restart); err != nil {
		return err
	}
	var c v1.Container
	first := 0
	if rec.Call == diff.CallBeStarted {
		if err := rec.data(0, &c); err != nil {
			return err
		}
		first = 1
	} else if string(rec.Arguments[2]) != "null" {
		k.Outside = "a status in the API"
		return nil
	}
	pod, _, err := rec.readPodAndStatus(k, first)
	if err != nil {
		return err
	}
	k.Runtime.Sandbox = simulate.SandboxReady // nobody asks
	for i := range pod.Spec.Containers {
		if pod.Spec.Containers[i].Name == c.Name {
			k.Of.Index = i
		}
	}
	for _, list := range [][][]simulate.Instance{k.Runtime.Init, k.Runtime.Main} {
		for i := range list {
			for j := range list[i] {
				list[i][j].Stale = false // nobody asks
			}
		}
	}
	return nil
}

func (rec *record) readPhase(k *diff.TableCase) (err error) {
	var pod v1.Pod
	var list []v1.ContainerStatus
	if err := rec.data(0, &pod); err != nil {
		return err
	}
	next := 1
	if err := rec.data(1, &list); err == nil {
		next = 2
	}
	if err := rec.data(next, &k.Options.Terminating); err != nil {
		return err
	}
	if err := rec.data(next+1, &k.Options.Initialized); err != nil {
		return err
	}
	if err := rec.result(&k.Phase); err != nil {
		return err
	}
	k.States = map[policy.Ref]policy.ContainerState{}
	add := func(kind policy.ContainerKind, containers []v1.Container) {
		for i := range containers {
			for j := range list {
				if list[j].Name == containers[i].Name {
					k.States[policy.Ref{Kind: kind, Index: i}] = containerState(&list[j])
					break
				}
			}
		}
	}
	add(policy.InitContainer, pod.Spec.InitContainers)
	add(policy.MainContainer, pod.Spec.Containers)
	k.Manifest, err = podText(&pod)
	return err
}

func containerState(s *v1.ContainerStatus) policy.ContainerState {
	ended := func(t *v1.ContainerStateTerminated) policy.Termination {
		return policy.Termination{ExitCode: t.ExitCode, RestartingAllContainers: t.Reason == "RestartingAllContainers"}
	}
	state := policy.ContainerState{Listed: true, Started: s.Started != nil && *s.Started}
	switch {
	case s.State.Running != nil:
		state.Kind = policy.StateRunning
	case s.State.Terminated != nil:
		state.Kind, state.Ended = policy.StateTerminated, ended(s.State.Terminated)
	case s.State.Waiting != nil:
		state.Kind = policy.StateWaiting
	}
	if s.LastTerminationState.Terminated != nil {
		last := ended(s.LastTerminationState.Terminated)
		state.Last = &last
	}
	return state
}

func (rec *record) readPlan(k *diff.TableCase) (err error) {
	pod, status, err := rec.readPodAndStatus(k, 0)
	if err != nil {
		return err
	}
	if err := rec.data(2, &k.Runtime.RestartAll); err != nil {
		k.Runtime.RestartAll = false // the release has no such argument
	}
	for _, list := range [][]v1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range list {
			if len(list[i].Resources.Limits)+len(list[i].Resources.Requests) > 0 {
				k.Outside = "resources that may have changed"
			}
		}
	}
	if linked.ReadPlan == nil {
		return fmt.Errorf("the kubelet is not linked")
	}
	k.Plan, err = linked.ReadPlan(rec.Results[0], pod, status)
	return err
}

// readPodAndStatus reads a Pod and what the runtime says of it.
func (rec *record) readPodAndStatus(k *diff.TableCase, first int) (*v1.Pod, *kubecontainer.PodStatus, error) {
	pod, status := &v1.Pod{}, &kubecontainer.PodStatus{}
	if err := rec.data(first, pod); err != nil {
		return nil, nil, err
	}
	var err error
	if k.Manifest, err = podText(pod); err != nil {
		return nil, nil, err
	}
	if err := rec.data(first+1, status); err != nil {
		return nil, nil, err
	}
	probes := map[string][2]int{}
	if len(rec.More) > 0 && string(rec.More) != "null" {
		if err := json.Unmarshal(rec.More, &probes); err != nil {
			return nil, nil, err
		}
	}
	r := &k.Runtime
	r.Deleted = pod.DeletionTimestamp != nil
	r.Sandbox = sandboxState(pod, status.SandboxStatuses)
	read := func(c *v1.Container, sidecar, main bool) (list []simulate.Instance) {
		for _, s := range status.ContainerStatuses {
			if s.Name != c.Name {
				continue
			}
			in := simulate.Instance{ExitCode: int32(s.ExitCode), Reason: s.Reason, Stale: s.Hash != kubecontainer.HashContainer(c)}
			switch s.State {
			case kubecontainer.ContainerStateRunning:
			case kubecontainer.ContainerStateExited:
				in.State = simulate.InstanceExited
			case kubecontainer.ContainerStateUnknown:
				in.State = simulate.InstanceUnknown
			default:
				k.Outside = "a container that is " + string(s.State)
			}
			for _, a := range status.ActiveContainerStatuses {
				in.Active = in.Active || a.ID == s.ID
			}
			if p, found := probes[s.ID.ID]; found && s.State == kubecontainer.ContainerStateRunning {
				const failure = 1
				in.LivenessFailed = p[0] == failure && (main || sidecar && c.LivenessProbe != nil)
				in.StartupFailed = p[1] == failure && (main || sidecar && c.StartupProbe != nil)
				in.StartupPending = p[1] < 0 && c.StartupProbe != nil
			}
			list = append(list, in)
		}
		return list
	}
	for i := range pod.Spec.InitContainers {
		c := &pod.Spec.InitContainers[i]
		sidecar := c.RestartPolicy != nil && *c.RestartPolicy == v1.ContainerRestartPolicyAlways
		r.Init = append(r.Init, read(c, sidecar, false))
	}
	for i := range pod.Spec.Containers {
		r.Main = append(r.Main, read(&pod.Spec.Containers[i], false, true))
	}
	for i := range pod.Spec.EphemeralContainers {
		r.Ephemeral = append(r.Ephemeral, read((*v1.Container)(&pod.Spec.EphemeralContainers[i].EphemeralContainerCommon), false, false))
	}
	return pod, status, nil
}

// sandboxState puts all reasons for a new sandbox together.
//
// Source: PodSandboxChanged in pkg/kubelet/kuberuntime/util/util.go, Kubernetes v1.33 to v1.37.
func sandboxState(pod *v1.Pod, list []*runtimeapi.PodSandboxStatus) simulate.SandboxState {
	if len(list) == 0 {
		return simulate.SandboxNone
	}
	ready := 0
	for _, s := range list {
		if s.State == runtimeapi.PodSandboxState_SANDBOX_READY {
			ready++
		}
	}
	network := runtimeapi.NamespaceMode_POD
	if pod.Spec.HostNetwork {
		network = runtimeapi.NamespaceMode_NODE
	}
	if ready > 1 || list[0].State != runtimeapi.PodSandboxState_SANDBOX_READY || list[0].GetLinux().GetNamespaces().GetOptions().GetNetwork() != network ||
		!pod.Spec.HostNetwork && list[0].Network != nil && list[0].Network.Ip == "" {
		return simulate.SandboxNotReady
	}
	return simulate.SandboxReady
}

// readValidation makes a Pod of what was validated, with a name if it has none.
func (rec *record) readValidation(k *diff.TableCase) (err error) {
	var pod core.Pod
	k.Call = diff.CallCreate
	switch rec.Call {
	case "ValidatePodCreate":
		err = rec.data(0, &pod)
	case "ValidatePodUpdate":
		k.Call = diff.CallUpdate
		var old core.Pod
		if err := rec.data(1, &old); err != nil {
			return err
		}
		if k.Old, err = versioned(&old); err != nil {
			return err
		}
		err = rec.data(0, &pod)
	case "ValidatePodSpec":
		err = rec.data(0, &pod.Spec)
	case "ValidatePodTemplateSpec":
		var template core.PodTemplateSpec
		err = rec.data(0, &template)
		pod.Spec = template.Spec
	case "validateContainers":
		err = rec.data(0, &pod.Spec.Containers)
	case "validateInitContainers":
		err = rec.data(0, &pod.Spec.InitContainers)
		pod.Spec.Containers = []core.Container{{Name: "podfate-main", Image: "i"}}
	case "validateEphemeralContainers":
		if string(rec.Arguments[0]) != "null" {
			err = rec.data(0, &pod.Spec.EphemeralContainers)
		}
		pod.Spec.Containers = []core.Container{{Name: "podfate-main", Image: "i"}}
	default:
		err = fmt.Errorf("nobody knows this call")
	}
	if err != nil {
		return err
	}
	k.Manifest, err = versioned(&pod)
	return err
}

// versioned writes a Pod as a client would.
func versioned(pod *core.Pod) ([]byte, error) {
	if pod.Name == "" {
		pod.Name = "a"
	}
	if pod.Namespace == "" {
		pod.Namespace = "default"
	}
	var out v1.Pod
	if err := legacyscheme.Scheme.Convert(pod, &out, nil); err != nil {
		return nil, err
	}
	return podText(&out)
}

// readJobs makes manifests of the Jobs or CronJobs that were validated.
func (rec *record) readJobs(k *diff.TableCase) (err error) {
	k.Call = diff.CallCreate
	if k.Manifest, err = rec.job(0); err == nil && strings.HasSuffix(rec.Call, "Update") {
		k.Call = diff.CallUpdate
		k.Old, err = rec.job(1)
	}
	return err
}

// job writes argument i as a client would.
func (rec *record) job(i int) ([]byte, error) {
	var from, to runtime.Object = &batch.CronJob{}, &batchv1.CronJob{}
	if strings.HasPrefix(rec.Call, "ValidateJob") {
		from, to = &batch.Job{}, &batchv1.Job{}
	}
	if err := rec.data(i, from); err != nil {
		return nil, err
	}
	if err := legacyscheme.Scheme.Convert(from, to, nil); err != nil {
		return nil, err
	}
	to.GetObjectKind().SetGroupVersionKind(batchv1.SchemeGroupVersion.WithKind(reflect.TypeOf(to).Elem().Name()))
	return json.Marshal(to)
}
