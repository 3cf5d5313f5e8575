package diff

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/manifest"
	"github.com/podfate/podfate/policy/simulate"
)

// TableCase is one call that Kubernetes' own tests make to a compared function. Which fields count
// depends on Call.
type TableCase struct {
	Call  string
	Gates map[string]bool // that matter and were on or off during the call
	// Outside says why the case cannot be asked, "" if it can.
	Outside string

	Manifest []byte     // a Pod; of CallCreate and CallUpdate also a Job or a CronJob
	Old      []byte     // what it replaces
	Of       policy.Ref // the container that is asked about
	Code     int32      // of its exit

	States  map[policy.Ref]policy.ContainerState
	Options policy.PhaseOptions
	Runtime simulate.Runtime

	// What Kubernetes answered. Validation is asked again instead, under each set of gates.
	Restart bool
	Rule    int // first that matches, -1 for none
	Phase   policy.PodPhase
	Plan    simulate.Sync
}

// The calls that are asked.
const (
	CallRestart    = "ContainerShouldRestart"
	CallMatch      = "FindMatchingContainerRestartRule"
	CallBeStarted  = "ShouldContainerBeRestarted"
	CallRestartAll = "ShouldAllContainersRestart"
	CallPhase      = "getPhase"
	CallPlan       = "computePodActions"
	CallCreate     = "ValidatePodCreate"
	CallUpdate     = "ValidatePodUpdate"
)

// tables answers what Kubernetes' own tests ask.
func (c *comparison) tables(t *testing.T) {
	cases, err := c.release.Tables()
	if err != nil {
		t.Fatal(err)
	}
	if cases == nil {
		t.Skip("left out, no record of Kubernetes' own tests: run with -kubelet")
	}
	shown := 0
	asked, outside := map[string]int{}, map[string]int{}
	for i, k := range cases {
		if max(len(k.Manifest), len(k.Old)) > policy.MaxManifestBytes {
			k.Outside = "larger than Podfate reads"
		}
		if k.Outside != "" {
			outside[k.Call+", "+k.Outside]++
			continue
		}
		asked[k.Call]++
		c.tableCases++
		c.table(t, &shown, fmt.Sprintf("table case %d, %s, %v: %s", i, k.Call, k.Gates, k.Manifest), k)
	}
	t.Logf("asked %v, left out %v", asked, outside)
	if len(asked) == 0 {
		t.Error("no case")
	}
}

func (c *comparison) table(t *testing.T, shown *int, what string, k TableCase) {
	t.Helper()
	if k.Call == CallCreate || k.Call == CallUpdate {
		c.eachGateSet(t, func(set gateSet, _ policy.Features) {
			what := fmt.Sprintf("%v, %s", set, what)
			if k.Call == CallCreate {
				c.compareAdmission(t, shown, what, k.Manifest, set)
				return
			}
			if job := bytes.Contains(k.Manifest, []byte(`"kind":"Job"`)); job && sameSpec(k.Old, k.Manifest, "Job", "spec.template") {
				c.unread = unreadTemplate
			} else if !job && sameSpec(k.Old, k.Manifest, "Pod", "") {
				c.unread = unreadChange
			}
			c.compareUpdate(t, shown, what, set, k.Old, k.Manifest)
			c.unread = ""
		})
		return
	}
	v, fault := manifest.Parse(k.Manifest)
	if fault != nil {
		t.Fatalf("%s: %v", what, fault)
	}
	spec := manifest.ReadObject(v, "Pod", "").Spec
	f := policy.DefaultFeatures(c.release.Minor())
	f.ContainerRestartRules, f.RestartAllContainersOnContainerExits = k.Gates[crr], k.Gates[rac]
	var ours, theirs any
	switch k.Call {
	case CallRestart: // which does not look at the first gate
		f.ContainerRestartRules = true
		ours, theirs = spec.RestartsAfter(k.Of, k.Code, f), k.Restart
	case CallMatch:
		ours, theirs = spec.Container(k.Of).FirstMatch(k.Code), k.Rule
	case CallBeStarted:
		spec.InitContainers = nil
		ours, theirs = slices.Contains(simulate.PlanSync(&spec, f, &k.Runtime).StartMain, k.Of.Index), k.Restart
	case CallRestartAll:
		ours, theirs = restartsAll(&spec, f, &k.Runtime), k.Restart
	case CallPhase:
		ours, theirs = phaseOf(&spec, f, k.States, k.Options), k.Phase
		what += fmt.Sprintf("\nphase with %+v, %+v", k.States, k.Options)
	case CallPlan:
		ours, theirs = planText(simulate.PlanSync(&spec, f, &k.Runtime)), planText(k.Plan)
		what += fmt.Sprintf("\nplan for %+v", k.Runtime)
	}
	if ours != theirs {
		c.differ(t, shown, what, ours, theirs)
	}
}

// unreadChange begins what Kubernetes says of Pods that differ in a field which may not change.
// About one that Podfate does not read it says nothing.
const unreadChange = "spec: Forbidden: pod updates may not change fields"

// unreadTemplate begins what it says of the templates of Jobs. That of a suspended Job has a longer
// path.
const unreadTemplate = "spec.template"

// sameSpec reports whether the Pods in two objects of a kind, which are below template in them,
// are equal in all that Podfate reads.
func sameSpec(a, b []byte, kind, template string) bool {
	read := func(text []byte) policy.PodSpec {
		v, _ := manifest.Parse(text)
		spec := manifest.ReadObject(v, kind, template).Spec
		spec.Windows = false // it is read for a warning only
		return spec
	}
	return reflect.DeepEqual(read(a), read(b))
}

// restartsAll reports whether the newest exit of a container asks for a restart of all.
func restartsAll(spec *policy.PodSpec, f policy.Features, r *simulate.Runtime) bool {
	f.ContainerRestartRules, f.RestartAllContainersOnContainerExits = true, true
	compiled := policy.Compile(spec, f)
	for _, ref := range refs(spec) {
		list := r.Main
		if ref.Kind == policy.InitContainer {
			list = r.Init
		}
		if in := list[ref.Index]; len(in) > 0 && in[0].State == simulate.InstanceExited &&
			compiled.Decide(ref, policy.Exit{Code: in[0].ExitCode}).Action == policy.RestartAllContainers {
			return true
		}
	}
	return false
}
