// Package mirror adds a file to each package of Kubernetes whose unexported functions are compared.
//
// Methods on unexported types can be called from their own package only, and the go command refuses
// overlays of the module cache. So a temporary folder shows the release's module with these files
// more, and a go.mod next to it uses the folder. The code that runs is that of the release.
package mirror

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/podfate/podfate/policy/upstream/releases"
)

//go:embed kuberuntime.go.txt
var runtimeExports string

// The parts whose signatures differ between releases.
const (
	imports = `package kuberuntime

import (
	"context"

	v1 "k8s.io/api/core/v1"
	IMPORTS
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
)
`
	withoutRestartAll = `
func podfateActions(m *kubeGenericRuntimeManager, ctx context.Context, pod *v1.Pod, s *kubecontainer.PodStatus, _ bool) podActions {
	return m.computePodActions(ctx, pod, s)
}

func podfateReset(*podActions) [][2]string { return nil }
`
	withRestartAll = `
func podfateActions(m *kubeGenericRuntimeManager, ctx context.Context, pod *v1.Pod, s *kubecontainer.PodStatus, restartAll bool) podActions {
	return m.computePodActions(ctx, pod, s, restartAll)
}

func podfateReset(a *podActions) (instances [][2]string) {
	for _, c := range a.ContainersToReset {
		instances = append(instances, [2]string{c.container.Name, c.containerID.ID})
	}
	return instances
}
`
	allocated = `
func podfateActuated(m *kubeGenericRuntimeManager, pod *v1.Pod, c *v1.Container) error {
	return m.allocationManager.SetActuatedResources(pod, c)
}

func podfateForget(m *kubeGenericRuntimeManager) { m.allocationManager = allocation.NewInMemoryManager(ARGUMENTS) }
`
	actuated = `
func podfateActuated(m *kubeGenericRuntimeManager, pod *v1.Pod, c *v1.Container) error {
	return m.actuatedState.SetContainerResources(LOGGERpod.UID, c.Name, c.Resources)
}

func podfateForget(m *kubeGenericRuntimeManager) { m.actuatedState = state.NewStateMemory(LOGGERnil) }
`
)

// runtimeVariant is the part of package kuberuntime that fits release r.
func runtimeVariant(minor int) string {
	fill := func(text string, with ...string) string { return strings.NewReplacer(with...).Replace(text) }
	const allocationImport, stateImport = `"k8s.io/kubernetes/pkg/kubelet/allocation"`, `"k8s.io/kubernetes/pkg/kubelet/allocation/state"`
	switch minor {
	case 33:
		return fill(imports+withoutRestartAll+allocated, "IMPORTS", allocationImport, "ARGUMENTS", "")
	case 34:
		return fill(imports+withoutRestartAll+allocated, "IMPORTS", allocationImport, "ARGUMENTS", "nil, nil, nil, nil, nil, nil")
	case 35, 36:
		return fill(imports+withRestartAll+actuated, "IMPORTS", stateImport, "LOGGER", "")
	}
	return fill(imports+withRestartAll+actuated, "IMPORTS", stateImport+"\n\t"+`"k8s.io/klog/v2"`, "LOGGER", "klog.Logger{}, ")
}

const kubeletExports = `package kubelet

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	kubeletconfig "k8s.io/kubernetes/pkg/kubelet/apis/config"
	"time"
)

var _ klog.Logger

// PodfatePhase calls getPhase.
func PodfatePhase(pod *v1.Pod, info []v1.ContainerStatus, podIsTerminal, podHasInitialized bool) v1.PodPhase {
	return getPhase(LOGGERpod, info, podIsTerminal, podHasInitialized)
}

// PodfateCrashLoop calls newCrashLoopBackOff.
func PodfateCrashLoop(c *kubeletconfig.KubeletConfiguration) (most, initial time.Duration) { return newCrashLoopBackOff(c) }
`

const statusExports = `package status

import v1 "k8s.io/api/core/v1"

// PodfateMerge calls mergePodStatus.
func PodfateMerge(pod *v1.Pod, old, updated v1.PodStatus, couldHaveRunningContainers bool) v1.PodStatus {
	return mergePodStatus(pod, old, updated, couldHaveRunningContainers)
}

// PodfateTransition calls checkContainerStateTransition.
func PodfateTransition(old, updated *v1.PodStatus, spec *v1.PodSpec) error {
	return checkContainerStateTransition(old, updated, spec)
}
`

func kubeletVariant(minor int) string {
	logger := ""
	if minor >= 36 {
		logger = "klog.Logger{}, "
	}
	return strings.Replace(kubeletExports, "LOGGER", logger, 1)
}

// files returns what is added to the release's module, by path below it.
func files(minor int) map[string]string {
	return map[string]string{
		"pkg/kubelet/podfate.go":                     kubeletVariant(minor),
		"pkg/kubelet/status/podfate.go":              statusExports,
		"pkg/kubelet/kuberuntime/podfate.go":         runtimeExports,
		"pkg/kubelet/kuberuntime/podfate_release.go": runtimeVariant(minor),
	}
}

// Write makes dir a mirror of release r's module and returns the path of a go.mod that uses it, for
// -modfile. module is the folder of the release's module in policy/upstream. With -trimpath,
// packages without an added file are compiled once for both.
func Write(dir, module string, r releases.Release) (string, error) {
	source, err := source(module)
	if err != nil {
		return "", err
	}
	m := mirror{source: source, target: filepath.Join(dir, "kubernetes")}
	added, err := tables(source)
	if err != nil {
		return "", err
	}
	maps.Copy(added, files(r.Minor))
	for path, text := range added {
		if err := m.write(path, []byte(text)); err != nil {
			return "", err
		}
	}
	if err := m.link(""); err != nil {
		return "", err
	}
	mod, err := os.ReadFile(filepath.Join(module, "go.mod"))
	if err != nil {
		return "", err
	}
	sum, err := os.ReadFile(filepath.Join(module, "go.sum"))
	if err != nil {
		return "", err
	}
	mod = fmt.Appendf(mod, "\nreplace k8s.io/kubernetes => %s\n", m.target)
	path := filepath.Join(dir, "go.mod")
	if err := os.WriteFile(filepath.Join(dir, "go.sum"), sum, 0o644); err != nil {
		return "", err
	}
	return path, os.WriteFile(path, mod, 0o644)
}

func source(module string) (string, error) {
	// "go list -m" says where it is only if it has been downloaded before.
	download := exec.Command("go", "mod", "download", "-json", "k8s.io/kubernetes")
	download.Dir, download.Stderr = module, os.Stderr
	download.Env = append(os.Environ(), "GOFLAGS=-mod=mod")
	out, err := download.Output()
	var found struct{ Dir string }
	if err == nil {
		err = json.Unmarshal(out, &found)
	}
	if err != nil {
		return "", fmt.Errorf("download k8s.io/kubernetes: %w", err)
	}
	return found.Dir, nil
}

// mirror is a folder that shows a module with some files more: folders on the way to them are real,
// files next to them are copies, everything else is a link.
type mirror struct{ source, target string }

func (m mirror) write(path string, text []byte) error {
	path = filepath.Join(m.target, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}

// link completes the folder dir, which exists in the mirror.
func (m mirror) link(dir string) error {
	entries, err := os.ReadDir(filepath.Join(m.source, dir))
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		from, to := filepath.Join(m.source, path), filepath.Join(m.target, path)
		_, err := os.Stat(to)
		switch {
		case err == nil && e.IsDir():
			err = m.link(path)
		case err == nil: // written before
		case e.IsDir():
			err = os.Symlink(from, to)
		default: // a linked file cannot be embedded
			var text []byte
			if text, err = os.ReadFile(from); err == nil {
				err = os.WriteFile(to, text, 0o644)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}
