package kube

import (
	"flag"
	"io"
	"slices"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/capabilities"
	_ "k8s.io/kubernetes/pkg/features" // registers the gates
	"k8s.io/kubernetes/pkg/printers"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/upstream/diff"
)

// Release answers with the packages of Kubernetes that the program is linked with. It switches the
// feature gates of the process, so there should be one.
type Release struct {
	Adapter
	defaults featuregate.MutableFeatureGate   // as the release comes
	tables   *printers.HumanReadableGenerator // made when the first row is asked for
}

var _ diff.Release = (*Release)(nil)

// New returns the release that a describes. It silences the log of Kubernetes, which repeats each
// switched gate.
func New(a Adapter) *Release {
	klog.SetOutput(io.Discard)
	capabilities.Setup(true, 0) // --allow-privileged, as every installer has it
	var flags flag.FlagSet
	klog.InitFlags(&flags)
	for name, value := range map[string]string{"logtostderr": "false", "stderrthreshold": "FATAL"} {
		if err := flags.Set(name, value); err != nil {
			panic(err)
		}
	}
	return &Release{Adapter: a, defaults: utilfeature.DefaultMutableFeatureGate.DeepCopy()}
}

// Minor implements diff.Release.
func (r *Release) Minor() int { return r.Adapter.Minor }

// SetGates implements diff.Release.
func (r *Release) SetGates(gates map[string]bool) error {
	return utilfeature.DefaultMutableFeatureGate.SetFromMap(gates)
}

// Gate implements diff.Release.
func (r *Release) Gate(name string) (diff.Gate, bool) {
	spec, ok := r.defaults.GetAll()[featuregate.Feature(name)]
	if !ok {
		return diff.Gate{}, false
	}
	g := diff.Gate{Default: spec.Default, Locked: spec.LockToDefault}
	switch spec.PreRelease {
	case featuregate.Alpha:
		g.Stage = policy.StageAlpha
	case featuregate.Beta:
		g.Stage = policy.StageBeta
	case featuregate.GA:
		g.Stage = policy.StageGA
	}
	// Dependencies between gates exist from 1.35 on.
	if d, ok := r.defaults.(interface {
		Dependencies() map[featuregate.Feature][]featuregate.Feature
	}); ok {
		for _, f := range d.Dependencies()[featuregate.Feature(name)] {
			g.DependsOn = append(g.DependsOn, string(f))
		}
	}
	return g, true
}

// GateNames implements diff.Release.
func (r *Release) GateNames() (names []string) {
	for name := range r.defaults.GetAll() {
		names = append(names, string(name))
	}
	slices.Sort(names)
	return names
}

// TryGates implements diff.Release.
func (r *Release) TryGates(settings map[string]bool) diff.GateResult {
	gate := r.defaults.DeepCopy()
	var result diff.GateResult
	switch err := gate.SetFromMap(settings).(type) {
	case nil:
	case utilerrors.Aggregate:
		for _, e := range err.Errors() {
			result.Errors = append(result.Errors, e.Error())
		}
	default:
		result.Errors = []string{err.Error()}
	}
	result.Enabled = func(name string) bool {
		_, known := gate.GetAll()[featuregate.Feature(name)]
		return known && gate.Enabled(featuregate.Feature(name))
	}
	return result
}
