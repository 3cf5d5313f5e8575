package diff

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/manifest"
	"github.com/podfate/podfate/policy/simulate"
)

// lives plays n Pods, in half of which something happens from outside, and lets the kubelet and the
// API server judge each status that they come to: phase, conditions, what is dropped, what is
// denied, what the API shows. Every type of event takes part.
func (c *comparison) lives(t *testing.T, n int) {
	sets, shown, end := len(gateSets(c.release.Minor())), 0, 0
	c.eachGateSet(t, func(set gateSet, f policy.Features) {
		end += n/sets + 1
		for i := c.pods; c.pods < end; i++ {
			g := generate(c.seed, i)
			g.admissible, g.probing = true, true
			text := g.pod()
			v, fault := manifest.Parse(text)
			if fault != nil {
				t.Fatalf("%s: %v", text, fault)
			}
			spec := manifest.ReadObject(v, "Pod", "").Spec
			pod, err := c.release.Pod(text)
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			sc := g.scenario(&spec, f)
			what := fmt.Sprintf("life %d, %v: %s\n%+v %+v", i, set, text, sc.Tapes, sc.Events)
			known := true
			simulate.Watch(sc, func(s *simulate.Step) {
				known = known && c.judgeStep(t, &shown, what, pod, s)
			})
			if !known {
				t.Skip("left out, the kubelet is not linked: run with -kubelet")
			}
			c.pods++
		}
	})
}

// judgeStep compares one step.
func (c *comparison) judgeStep(t *testing.T, shown *int, what string, pod Pod, s *simulate.Step) (known bool) {
	t.Helper()
	j, known := pod.Judge(s)
	if !known {
		return false
	}
	c.steps++
	differ := func(of string, ours, theirs any) {
		if a, b := fmt.Sprintf("%+v", ours), fmt.Sprintf("%+v", theirs); a != b {
			c.differ(t, shown, fmt.Sprintf("%s\nat %d: %s of %+v", what, s.At, of, s), a, b)
		}
	}
	if !s.Terminated && !s.Refused {
		differ("phase", s.Phase, j.Phase)
		three := slices.DeleteFunc(slices.Clone(s.Made.Conditions), func(c simulate.Condition) bool {
			return c.Type != "Initialized" && !strings.HasSuffix(c.Type, "Ready")
		})
		differ("conditions", sorted(three), sorted(j.Conditions))
		differ("dropped", s.Dropped, j.Dropped)
	}
	c.droppedStatuses += count(s.Dropped)
	c.deniedStatuses += count(s.Denied)
	if s.Dropped {
		j.Denied, j.Merged = false, s.API
	}
	differ("denied", s.Denied, j.Denied)
	if s.Denied {
		j.Merged = s.API
	}
	ours := s.Shown
	ours.Containers, j.Merged.Containers = nil, nil
	ours.Conditions, j.Merged.Conditions = sorted(ours.Conditions), sorted(j.Merged.Conditions)
	differ("what the API shows", ours, j.Merged)
	return true
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

func sorted(list []simulate.Condition) []simulate.Condition {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b simulate.Condition) int { return cmp.Compare(a.Type, b.Type) })
	return list
}

// scenario lets a Pod live: what its containers do, and up to four events of any type.
func (g *generator) scenario(spec *policy.PodSpec, f policy.Features) *simulate.Scenario {
	sc := &simulate.Scenario{
		Spec: spec, Name: "p", Kubelet: simulate.Kubelet{Features: f, Backoff: policy.KubeletBackoff(f, 0)},
		Until: pick[policy.Millis](g, 60, 300, 900) * policy.Second,
	}
	all := refs(spec)
	for i := range spec.EphemeralContainers {
		all = append(all, policy.Ref{Kind: policy.EphemeralContainer, Index: i})
	}
	for _, r := range all {
		sc.Tapes = append(sc.Tapes, simulate.Tape{Container: r, Runs: g.runs(spec.Container(r))})
	}
	if g.oneIn(8) {
		seconds := int64(1 + g.r.IntN(60))
		spec.ActiveDeadlineSeconds = &seconds
	}
	if g.oneIn(4) {
		seconds := pick[int64](g, 0, 1, 3, 10, 60)
		spec.TerminationGracePeriodSeconds = &seconds
	}
	types := simulate.EventTypes()
	for range g.r.IntN(5) {
		e := simulate.Event{
			At: g.moment(60_000), Type: simulate.ParseEventType(types[g.r.IntN(len(types))]), Container: pick(g, all...),
			ExitCode: pick[int32](g, 137, 137, 143, 0, 3), Grace: pick[policy.Millis](g, 0, 0, 1, 8) * policy.Second,
		}
		if !e.Type.OfJob() {
			sc.Events = append(sc.Events, e)
		}
	}
	slices.SortStableFunc(sc.Events, func(a, b simulate.Event) int { return cmp.Compare(a.At, b.At) })
	return sc
}

func (g *generator) runs(c *policy.Container) (list []simulate.Run) {
	for range g.r.IntN(4) {
		r := simulate.Run{For: g.moment(pick[policy.Millis](g, 0, 3, 10, 40) * policy.Second), ExitCode: g.codeOf(c), Times: 1}
		if g.oneIn(10) {
			r.Reason = "OOMKilled"
		}
		if g.oneIn(4) {
			r.For = simulate.NoEnd
		}
		if g.oneIn(2) {
			r.Stop = &simulate.Stop{PreStop: g.moment(4_000), For: g.moment(20_000), ExitCode: pick[int32](g, 0, 0, 143, 3)}
		}
		list = append(list, r)
	}
	return list
}
