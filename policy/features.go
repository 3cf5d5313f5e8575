package policy

import "strings"

// The minor versions of Kubernetes 1.x whose code is modelled, both ends included, and the one that
// is meant where none is named.
const (
	OldestMinor  = 33
	NewestMinor  = 37
	DefaultMinor = NewestMinor
)

// Features is what differs between releases of Kubernetes and between clusters of one release.
// The zero value is no release; [DefaultFeatures] and [NewFeatures] make usable ones.
type Features struct {
	Minor int // 36 for Kubernetes 1.36

	ContainerRestartRules                bool
	RestartAllContainersOnContainerExits bool
	NodeDeclaredFeatures                 bool
	KubeletCrashLoopBackOffMax           bool
	ReduceDefaultCrashLoopBackOffDecay   bool
	SidecarContainers                    bool
	PLEGOnDemandRelist                   bool

	// Of Jobs.
	JobManagedBy                                bool
	JobPodReplacementPolicy                     bool // false from 1.37 on, which has no such gate; see [Features.ReplacesPods]
	JobBackoffLimitPerIndex                     bool // as these: locked, and gone from 1.37 on
	JobSuccessPolicy                            bool
	ElasticIndexedJob                           bool // 1.33 only
	MutablePodResourcesForSuspendedJobs         bool
	MutableSchedulingDirectivesForSuspendedJobs bool

	Proposals Proposals // that no release has; see [ProposalList]
}

// ReplacesPods reports whether Jobs have a podReplacementPolicy and count terminating Pods in their
// status.
func (f Features) ReplacesPods() bool { return f.JobPodReplacementPolicy || f.Minor > 36 }

// Stage is the maturity of a feature gate in one release.
type Stage string

// The stages. Kubernetes prints the first two in capitals, and nothing for the third.
const (
	StageAlpha Stage = "Alpha"
	StageBeta  Stage = "Beta"
	StageGA    Stage = "GA"
)

// GateRelease is what a release says about a gate, and those after it up to the next change.
type GateRelease struct {
	Minor   int
	Default bool
	Stage   Stage
	Locked  bool // setting it to anything but Default stops the component
}

// Gate is a feature gate that changes what Podfate answers.
type Gate struct {
	Name      string
	Changes   []GateRelease // ascending, at least one; releases before the first do not know the gate
	Last      int           // the last minor version that knows the gate; 0 if the newest does
	DependsOn []string      // gates without which an enabled gate stops the component
}

// In returns what release 1.minor says about g, with the Minor from which on that holds; ok is
// false if it does not know g.
func (g *Gate) In(minor int) (r GateRelease, ok bool) {
	if g.Last > 0 && minor > g.Last {
		return r, false
	}
	for _, change := range g.Changes {
		if change.Minor <= minor {
			r, ok = change, true
		}
	}
	return r, ok
}

// Gates returns the feature gates that Podfate knows, in the order in which answers list them. The
// list is shared: callers must not change it.
func Gates() []Gate { return gates }

const on, off, locked = true, false, true

// gates is never written to.
//
// Source: pkg/features/kube_features.go, Kubernetes v1.33.5, v1.34.1, v1.35.4, v1.36.3, v1.37.1.
var gates = []Gate{
	{"ContainerRestartRules", []GateRelease{{34, off, StageAlpha, false}, {35, on, StageBeta, false}}, 0, nil},
	{"RestartAllContainersOnContainerExits", []GateRelease{{35, off, StageAlpha, false}, {36, on, StageBeta, false}}, 0, []string{"ContainerRestartRules", "NodeDeclaredFeatures"}},
	{"NodeDeclaredFeatures", []GateRelease{{35, off, StageAlpha, false}, {36, on, StageBeta, false}, {37, on, StageGA, locked}}, 0, nil},
	{"KubeletCrashLoopBackOffMax", []GateRelease{{33, off, StageAlpha, false}, {35, on, StageBeta, false}}, 0, nil},
	{"ReduceDefaultCrashLoopBackOffDecay", []GateRelease{{33, off, StageAlpha, false}}, 0, nil},
	{"SidecarContainers", []GateRelease{{33, on, StageGA, locked}}, 36, nil},
	{"PLEGOnDemandRelist", []GateRelease{{36, on, StageBeta, false}, {37, on, StageGA, locked}}, 0, nil},
	{"JobManagedBy", []GateRelease{{33, on, StageBeta, false}, {35, on, StageGA, locked}}, 0, nil},
	{"JobPodReplacementPolicy", []GateRelease{{33, on, StageBeta, false}, {34, on, StageGA, locked}}, 36, nil},
	{"JobBackoffLimitPerIndex", []GateRelease{{33, on, StageGA, locked}}, 36, nil},
	{"JobSuccessPolicy", []GateRelease{{33, on, StageGA, locked}}, 36, nil},
	{"ElasticIndexedJob", []GateRelease{{33, on, StageGA, locked}}, 33, nil},
	{"MutablePodResourcesForSuspendedJobs", []GateRelease{{35, off, StageAlpha, false}, {36, on, StageBeta, false}}, 0, nil},
	{"MutableSchedulingDirectivesForSuspendedJobs", []GateRelease{{35, off, StageAlpha, false}, {36, on, StageBeta, false}}, 0, nil},
}

// IsGate reports whether name is a gate that some modelled release knows and that changes an
// answer, or AllAlpha or AllBeta. A name that differs from one only in letter case counts: it is a
// mistake that [NewFeatures] reports.
func IsGate(name string) bool {
	for _, g := range gates {
		if EqualFold(g.Name, name) {
			return true
		}
	}
	return name == "AllAlpha" || name == "AllBeta"
}

// gate returns the field of f that holds the named gate, nil for a name that [Gates] does not list.
func (f *Features) gate(name string) *bool {
	switch name {
	case "ContainerRestartRules":
		return &f.ContainerRestartRules
	case "RestartAllContainersOnContainerExits":
		return &f.RestartAllContainersOnContainerExits
	case "NodeDeclaredFeatures":
		return &f.NodeDeclaredFeatures
	case "KubeletCrashLoopBackOffMax":
		return &f.KubeletCrashLoopBackOffMax
	case "ReduceDefaultCrashLoopBackOffDecay":
		return &f.ReduceDefaultCrashLoopBackOffDecay
	case "SidecarContainers":
		return &f.SidecarContainers
	case "PLEGOnDemandRelist":
		return &f.PLEGOnDemandRelist
	case "JobManagedBy":
		return &f.JobManagedBy
	case "JobPodReplacementPolicy":
		return &f.JobPodReplacementPolicy
	case "JobBackoffLimitPerIndex":
		return &f.JobBackoffLimitPerIndex
	case "JobSuccessPolicy":
		return &f.JobSuccessPolicy
	case "ElasticIndexedJob":
		return &f.ElasticIndexedJob
	case "MutablePodResourcesForSuspendedJobs":
		return &f.MutablePodResourcesForSuspendedJobs
	case "MutableSchedulingDirectivesForSuspendedJobs":
		return &f.MutableSchedulingDirectivesForSuspendedJobs
	}
	return nil
}

// Enabled reports whether the named gate is on in f; false for a gate that f's release does not
// know.
func (f Features) Enabled(name string) bool {
	on := f.gate(name)
	return on != nil && *on
}

// DefaultFeatures returns release 1.minor as it comes. It panics outside [OldestMinor] to
// [NewestMinor]: callers take the number from [ParseVersion].
func DefaultFeatures(minor int) Features {
	if minor < OldestMinor || minor > NewestMinor {
		panic("policy: no such Kubernetes release is modelled")
	}
	return defaults[minor-OldestMinor]
}

// defaults are the releases as they come, from the oldest on. Each request asks for one or two, and
// putting one together takes as long as reading a container. Never written to after it was made.
var defaults = func() (all [NewestMinor - OldestMinor + 1]Features) {
	for n := range all {
		f := &all[n]
		f.Minor = OldestMinor + n
		for i := range gates {
			if r, ok := gates[i].In(f.Minor); ok {
				*f.gate(gates[i].Name) = r.Default
			}
		}
	}
	return all
}()

// GateSetting switches one gate, as --feature-gates=Name=true does. Path is where a fault is
// reported.
type GateSetting struct {
	Name    string
	Enabled bool
	Path    string
}

// NewFeatures returns release 1.minor with its default gates changed by settings, and what is wrong
// with them in their order: gates that the release does not know, that are locked, or that need
// another one. AllAlpha and AllBeta set every gate of that stage that is not set by name. With
// faults, the features are not usable.
//
// Only gates that [Gates] lists are modelled. Kubernetes has many more: most say nothing about what
// Podfate answers, and what the others do, such as which fields the API server drops, is as the
// release has it by default. To set one is a fault, as an answer that ignores it would be wrong
// for some of them.
//
// Source: Set and Validate in k8s.io/component-base v0.36, featuregate/feature_gate.go.
func NewFeatures(minor int, settings []GateSetting) (Features, []FieldError) {
	f := DefaultFeatures(minor)
	if len(settings) == 0 {
		return f, nil // no release comes with a gate that misses another, which a test holds
	}
	var faults []FieldError
	for _, stage := range []Stage{StageAlpha, StageBeta} {
		for _, s := range settings {
			if s.Name == "All"+string(stage) {
				f.setStage(stage, s.Enabled)
			}
		}
	}
	for _, s := range settings {
		if s.Name == "AllAlpha" || s.Name == "AllBeta" {
			continue
		}
		if fault, bad := f.set(s); bad {
			faults = append(faults, fault)
		}
	}
	if len(faults) > 0 {
		return f, faults
	}
	return f, f.missingDependencies(settings)
}

// CanSet reports whether a component of release 1.minor starts with s, other gates aside: it knows
// the gate, and the gate is not locked to the other value.
func CanSet(s GateSetting, minor int) bool {
	if s.Name == "AllAlpha" || s.Name == "AllBeta" {
		return true
	}
	for i := range gates {
		if g := &gates[i]; g.Name == s.Name {
			r, ok := g.In(minor)
			return ok && (!r.Locked || r.Default == s.Enabled)
		}
	}
	return false
}

func (f *Features) setStage(stage Stage, enabled bool) {
	for _, g := range gates {
		if r, ok := g.In(f.Minor); ok && r.Stage == stage && !r.Locked {
			*f.gate(g.Name) = enabled
		}
	}
}

func (f *Features) set(s GateSetting) (fault FieldError, bad bool) {
	for _, g := range gates {
		if g.Name != s.Name {
			continue
		}
		r, ok := g.In(f.Minor)
		if !ok {
			break
		}
		if r.Locked && s.Enabled != r.Default {
			value := boolText(s.Enabled)
			return FieldError{
				Path: s.Path, Code: CodeLockedGate,
				Detail:  "the gate is locked to " + boolText(r.Default) + " in Kubernetes " + VersionName(f.Minor),
				Message: "cannot set feature gate " + g.Name + " to " + value + ", feature is locked to " + boolText(r.Default),
				Allowed: []string{boolText(r.Default)},
			}, true
		}
		*f.gate(g.Name) = s.Enabled
		return FieldError{}, false
	}
	return f.unknownGate(s), true
}

// unknownGate is a fault that keeps apart what Kubernetes does not know and what only Podfate does
// not.
func (f *Features) unknownGate(s GateSetting) FieldError {
	fault := FieldError{Path: s.Path, Code: CodeUnknownGate, Allowed: []string{"AllAlpha", "AllBeta"}}
	known := false
	for _, g := range gates {
		if _, ok := g.In(f.Minor); ok {
			fault.Allowed = append(fault.Allowed, g.Name)
		}
		known = known || g.Name == s.Name
		if g.Name != s.Name && EqualFold(g.Name, s.Name) {
			fault.Detail = "gate names are case-sensitive: " + g.Name
			if g.Name == DraftGate(s.Name) {
				fault.Proposal = proposals[KEP4603Draft].Name
			}
		}
	}
	switch {
	case known:
		fault.Detail = "Kubernetes " + VersionName(f.Minor) + " has no such gate"
		fault.Message = "unrecognized feature gate: " + s.Name
	case proposalOf(s.Name) != "":
		fault.Detail, fault.Proposal = "only the proposal "+proposalOf(s.Name)+" has this gate", proposalOf(s.Name)
	case fault.Detail == "":
		fault.Detail = "not a gate that Podfate models for Kubernetes " + VersionName(f.Minor) + "; gates that are not listed count as that release has them by default"
	}
	return fault
}

// proposalOf returns the name of the proposal that has a gate, "" if none has.
func proposalOf(gate string) string {
	if x, ok := ProposalGate(gate); ok {
		return proposals[x].Name
	}
	return ""
}

func (f *Features) missingDependencies(settings []GateSetting) []FieldError {
	var faults []FieldError
	for _, g := range gates {
		if !f.Enabled(g.Name) {
			continue
		}
		var off []string
		for _, name := range g.DependsOn {
			if !f.Enabled(name) {
				off = append(off, name)
			}
		}
		if len(off) == 0 {
			continue
		}
		faults = append(faults, FieldError{
			Path: dependencyPath(g.Name, off, settings), Code: CodeGateDependency,
			Detail:  g.Name + " needs " + strings.Join(off, " and ") + "; switch both on or both off",
			Message: g.Name + " is enabled, but depends on features that are disabled: [" + strings.Join(off, " ") + "]",
		})
	}
	return faults
}

// dependencyPath points at the setting that a user can change: the gate itself if it was set, else
// the first missing one that was.
func dependencyPath(gate string, off []string, settings []GateSetting) string {
	for _, name := range append([]string{gate}, off...) {
		for _, s := range settings {
			if s.Name == name {
				return s.Path
			}
		}
	}
	return "cluster.featureGates"
}

// ParseVersion returns the minor number of a Kubernetes version that is modelled: "1.36",
// "v1.36.3", "v1.36.3+k3s1". Everything after the minor number is ignored, since behaviour is
// modelled per minor release.
func ParseVersion(s string) (minor int, ok bool) {
	rest, ok := strings.CutPrefix(strings.TrimPrefix(s, "v"), "1.")
	if !ok {
		return 0, false
	}
	digits := 0
	for digits < len(rest) && rest[digits] >= '0' && rest[digits] <= '9' && digits < 4 {
		minor = minor*10 + int(rest[digits]-'0')
		digits++
	}
	if digits == 0 || rest[0] == '0' || !patchSuffix(rest[digits:]) {
		return 0, false
	}
	return minor, minor >= OldestMinor && minor <= NewestMinor
}

// patchSuffix reports whether s can follow a minor number: nothing, or a patch number and a build
// name.
func patchSuffix(s string) bool {
	if s == "" {
		return true
	}
	if s[0] != '.' || len(s) < 2 || s[1] < '0' || s[1] > '9' {
		return false
	}
	for i := 1; i < len(s); i++ {
		c := s[i]
		if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '.' || c == '-' || c == '+') {
			return false
		}
	}
	return true
}

// VersionName returns "1.36" for 36.
func VersionName(minor int) string {
	return "1." + string([]byte{byte('0' + minor/10), byte('0' + minor%10)})
}

// Versions returns the names of the modelled releases, oldest first.
func Versions() []string {
	var names []string
	for minor := OldestMinor; minor <= NewestMinor; minor++ {
		names = append(names, VersionName(minor))
	}
	return names
}

func boolText(b bool) string {
	if b {
		return "true"
	}
	return "false"
}
