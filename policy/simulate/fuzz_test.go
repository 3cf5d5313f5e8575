package simulate_test

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/podfate/podfate/policy"
	. "github.com/podfate/podfate/policy/simulate"
)

// dice draws choices from the bytes of the fuzzer; when they are used up it draws zeros.
type dice struct{ bytes []byte }

func (d *dice) roll(n int) int {
	if len(d.bytes) == 0 {
		return 0
	}
	b := d.bytes[0]
	d.bytes = d.bytes[1:]
	return int(b) % n
}

func (d *dice) policy() policy.RestartPolicy {
	return []policy.RestartPolicy{"Always", "OnFailure", "Never"}[d.roll(3)]
}

func (d *dice) code() int32 { return []int32{0, 1, 42, 137}[d.roll(4)] }

func (d *dice) rules() []policy.ContainerRestartRule {
	var rules []policy.ContainerRestartRule
	for range d.roll(3) {
		rules = append(rules, policy.ContainerRestartRule{
			Action: []policy.ContainerRestartRuleAction{policy.ActionRestart, policy.ActionRestartAllContainers}[d.roll(2)],
			ExitCodes: &policy.ContainerRestartRuleOnExitCodes{
				Operator: []policy.ExitCodesOperator{policy.OperatorIn, policy.OperatorNotIn}[d.roll(2)], Values: []int32{d.code()},
			},
		})
	}
	return rules
}

func (d *dice) container(name string) policy.Container {
	c := policy.Container{Name: name, HasStartupProbe: d.roll(2) == 1}
	if d.roll(3) > 0 {
		p := d.policy()
		c.RestartPolicy, c.RestartPolicyRules = &p, d.rules()
	}
	return c
}

func (d *dice) runs() (runs []Run) {
	lengths := []Millis{1000, 0, 1, 10_000, 305_000, 599_000, 601_500, 70_007}
	for range d.roll(3) + 1 {
		runs = append(runs, Run{For: lengths[d.roll(len(lengths))], ExitCode: d.code(), Times: []int64{1, 2, 100, Forever}[d.roll(4)]})
		if d.roll(8) == 1 {
			runs[len(runs)-1].Reason = "OOMKilled"
		}
		if d.roll(3) == 1 {
			runs[len(runs)-1].Stop = &Stop{PreStop: lengths[d.roll(4)], For: lengths[d.roll(4)], ExitCode: d.code()}
		}
	}
	return runs
}

func (d *dice) scenario() *Scenario {
	f := policy.DefaultFeatures(policy.OldestMinor + d.roll(5))
	if f.Minor >= 34 && d.roll(4) == 1 {
		f.ContainerRestartRules, f.RestartAllContainersOnContainerExits = !f.ContainerRestartRules, false
	}
	sc := &Scenario{Name: "p", Until: []Millis{3_600_000, 86_400_000, 600_000, 7 * 86_400_000}[d.roll(4)]}
	b := policy.KubeletBackoff(f, []Millis{0, 60_000, 2_000, 1_000}[d.roll(4)])
	sc.Kubelet = Kubelet{Features: f, Backoff: b}
	spec := &policy.PodSpec{RestartPolicy: d.policy()}
	sc.Spec = spec
	for range d.roll(3) + 1 {
		sc.Tapes = append(sc.Tapes, Tape{policy.Ref{Kind: policy.MainContainer, Index: len(spec.Containers)}, d.runs()})
		spec.Containers = append(spec.Containers, d.container(string(rune('a'+len(spec.Containers)))))
	}
	for range d.roll(3) {
		sc.Tapes = append(sc.Tapes, Tape{policy.Ref{Kind: policy.InitContainer, Index: len(spec.InitContainers)}, d.runs()})
		spec.InitContainers = append(spec.InitContainers, d.container(string(rune('i'+len(spec.InitContainers)))))
	}
	for range d.roll(2) {
		sc.Tapes = append(sc.Tapes, Tape{policy.Ref{Kind: policy.EphemeralContainer}, d.runs()})
		spec.EphemeralContainers = append(spec.EphemeralContainers, policy.Container{Name: "z"})
	}
	at := Millis(0)
	for range d.roll(4) {
		at += Millis(d.roll(256)) * []Millis{1, 1000, 60_000}[d.roll(3)]
		types := EventTypes()
		sc.Events = append(sc.Events, Event{
			At: at, Type: ParseEventType(types[d.roll(len(types))]), ExitCode: d.code(), Grace: Millis(d.roll(3)) * 4000,
			Container: policy.Ref{Kind: policy.MainContainer, Index: d.roll(len(spec.Containers))},
		})
	}
	if d.roll(6) == 1 {
		seconds := int64(100)
		spec.ActiveDeadlineSeconds = &seconds
	}
	if d.roll(3) == 1 {
		const start = 1_000_000
		sc.Past, sc.Start = d.past(spec, start), start
		sc.Until += start
		for i := range sc.Events {
			sc.Events[i].At += start
		}
	}
	if d.roll(3) == 1 {
		sc.Timing = Timing{Detection: []Millis{0, 1000}[d.roll(2)], KubeletSync: d.roll(2) == 1, Jitter: []Jitter{JitterNone, JitterMean, JitterFull}[d.roll(3)]}
		if d.roll(3) == 1 {
			sc.Timing.FirstRestart = FirstRestartDocumented
		}
	}
	return sc
}

// apiNeverLies holds of every timeline: in the API a Pod that is over stays over, with one phase,
// nothing is started after that, and nothing runs, unless the node is lost and somebody else says
// so. What only the kubelet knows differs from what the API shows.
func apiNeverLies(t *testing.T, sc *Scenario, r *Result) {
	t.Helper()
	phase := policy.PodPending
	if sc.Past != nil {
		phase = sc.Past.Phase
	}
	begun, lost, runs := phase, false, map[int]bool{}
	if sc.Past != nil {
		for _, c := range sc.Past.Containers {
			if c.State.Kind == policy.StateRunning && c.State.Reason != "ContainerStatusUnknown" && c.State.Reason != "RestartingAllContainers" {
				runs[indexOf(sc.Spec, c.Ref)] = true
			}
		}
	}
	for _, e := range r.Timeline {
		switch e.Event {
		case PodCreated:
			if !phase.Terminal() {
				t.Fatalf("%d: a new Pod begins while the old one is %s", e.At, phase)
			}
			phase, begun, lost, runs = policy.PodPending, policy.PodPending, false, map[int]bool{}
		case Started:
			if phase.Terminal() {
				t.Fatalf("%d: a container is started in a Pod that is %s", e.At, phase)
			}
			runs[e.Container] = true
		case ExitedBy, Removed, Kind(EventContainerLost.String()), Kind(EventContainerUnknown.String()):
			delete(runs, e.Container)
		case Kind(EventNodeLost.String()):
			lost = true
		case PhaseChanged:
			if e.From != phase || e.To == phase || phase.Terminal() || e.OfKubelet {
				t.Fatalf("%d: the API shows %s after %s, and %s was shown", e.At, e.To, e.From, phase)
			}
			if phase = e.To; phase.Terminal() && len(runs) > 0 && !lost {
				t.Fatalf("%d: the API shows %s while containers %v run", e.At, phase, runs)
			}
		case PhaseDecided:
			if !e.OfKubelet || e.To == phase || phase.Terminal() || e.From.Terminal() && e.To != policy.PodFailed {
				t.Fatalf("%d: the kubelet alone knows %s, and %s is shown", e.At, e.To, phase)
			}
		}
	}
	if r.Phase != phase || begun.Terminal() && r.Phase != begun {
		t.Fatalf("the Pod ends as %s, and %s was shown last", r.Phase, phase)
	}
	for _, c := range r.Conditions {
		if c.Type == "Ready" && c.Status && phase.Terminal() && !lost {
			t.Fatalf("a Pod that is %s is Ready", phase)
		}
	}
}

func indexOf(spec *policy.PodSpec, r policy.Ref) int {
	switch r.Kind {
	case policy.InitContainer:
		return r.Index
	case policy.EphemeralContainer:
		return len(spec.InitContainers) + len(spec.Containers) + r.Index
	}
	return len(spec.InitContainers) + r.Index
}

// TestTheAPINeverGoesBack asks for apiNeverLies on scenarios that are drawn again in the same way
// each time.
func TestTheAPINeverGoesBack(t *testing.T) {
	const scenarios = 8_000
	random, data, over := rand.New(rand.NewPCG(1, 2)), make([]byte, 120), 0
	for range scenarios {
		for i := range data {
			data[i] = byte(random.IntN(256))
		}
		sc := (&dice{data}).scenario()
		sc.Until = min(sc.Until, sc.Start+3_600_000)
		if r := Pod(sc); r.Exceeded == "" {
			apiNeverLies(t, sc, r)
			if r.Phase.Terminal() {
				over++
			}
		}
	}
	if over < scenarios/4 {
		t.Errorf("of %d Pods only %d were over", scenarios, over)
	}
}

// FuzzSimulate holds for every scenario: no panic; the same answer twice; times never go back; a
// restart count never falls while nothing is purged; a start never comes before the end of its
// wait; and a summary of repetition says what playing the rounds would.
func FuzzSimulate(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{3, 0, 1, 0, 1, 1, 0, 1, 3})
	f.Add([]byte{4, 2, 0, 2, 1, 2, 1, 1, 0, 2, 3, 1, 2, 3, 1, 1, 1, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		sc := (&dice{data}).scenario()
		r := Pod(sc)
		if again := Pod(sc); !reflect.DeepEqual(r, again) {
			t.Fatal("two answers to one scenario")
		}
		if r.Exceeded != "" {
			return
		}
		check(t, sc, r)
		apiNeverLies(t, sc, r)
		plain := PodWrittenOut(sc)
		if plain.Exceeded != "" {
			return
		}
		compare(t, sc, r, plain)
	})
}

func check(t *testing.T, sc *Scenario, r *Result) {
	at := sc.Start
	n := sc.Spec.Len()
	count, until, last := make([]int64, n), make([]Millis, n), make([]Millis, n)
	sandbox := Millis(-1) // when the newest was made
	for i := range count {
		count[i] = -1
	}
	for _, e := range r.Timeline {
		if e.At < at || e.At > sc.Until {
			t.Fatalf("%s at %d after %d, until %d", e.Event, e.At, at, sc.Until)
		}
		at = e.At
		switch e.Event {
		case PodCreated:
			clear(until)
			for i := range count {
				count[i] = -1
			}
		case Kind(EventKubeletRestarted.String()), Kind(EventNodeRebooted.String()), RestartingAllContainers, SandboxCreated,
			Kind(EventKubeletStopped.String()), Kind(EventRetryNow.String()), Kind(EventBackOffReset.String()):
			clear(until)
			if e.Event == SandboxCreated {
				sandbox = e.At
				for i := range sc.Spec.InitContainers {
					count[i] = -1 // purged with the old sandbox
				}
			}
		case Kind(EventImageChanged.String()), Kind(EventResized.String()), Kind(EventContainerLost.String()), Kind(EventContainerUnknown.String()):
			until[e.Container] = 0
		case BackOff:
			if until[e.Container] = e.Until; e.Container < len(sc.Spec.InitContainers) && e.At == sandbox {
				until[e.Container] = 0 // the next sync knows nothing of the end before this sandbox
			}
			if e.Until < e.At || e.Delay <= 0 {
				t.Fatalf("wait of %d until %d at %d", e.Delay, e.Until, e.At)
			}
		case Started:
			if e.RestartCount < count[e.Container] {
				t.Fatalf("restart count of %d falls from %d to %d", e.Container, count[e.Container], e.RestartCount)
			}
			count[e.Container] = e.RestartCount
			if e.At < until[e.Container] && e.At-last[e.Container] <= policy.BackoffReset && e.At%policy.SweepPeriod != 0 && sc.Timing.FirstRestart == "" {
				t.Fatalf("start at %d before the wait ends at %d", e.At, until[e.Container])
			}
			until[e.Container], last[e.Container] = 0, e.At
		case Repeated:
			clear(until)
			if e.Times <= 0 || e.Every <= 0 || e.Until > sc.Until {
				t.Fatalf("repetition %+v", e)
			}
		}
	}
}

// compare demands that the summary ends where the rounds end.
func compare(t *testing.T, sc *Scenario, r, plain *Result) {
	if r.Phase != plain.Phase || !reflect.DeepEqual(r.Containers, plain.Containers) || !reflect.DeepEqual(r.Conditions, plain.Conditions) {
		t.Fatalf("summarised:\n%+v %+v\nwritten out:\n%+v %+v\n%+v\n%+v", r.Phase, r.Containers, plain.Phase, plain.Containers, r.Timeline[max(0, len(r.Timeline)-12):], plain.Timeline[max(0, len(plain.Timeline)-12):])
	}
	for i := range r.Containers {
		got, want := count(r, i), count(plain, i)
		if got != want {
			t.Fatalf("container %d: %d starts in the summary, %d written out", i, got, want)
		}
	}
}

func count(r *Result, i int) (n int64) {
	for _, e := range r.Timeline {
		if e.Event == Started && e.Container == i {
			n++
		}
		for _, s := range e.Starts {
			if s.Container == i {
				n += s.Starts
			}
		}
	}
	return n
}

// past is any status of the Pod at now.
func (d *dice) past(spec *policy.PodSpec, now Millis) *Past {
	p := &Past{
		Phase: []policy.PodPhase{policy.PodRunning, policy.PodPending, policy.PodSucceeded, policy.PodFailed}[d.roll(4)],
		Begun: now / 2, NoSandbox: d.roll(4) == 1, Initialized: d.roll(2) == 1, RestartingAll: d.roll(4) == 1,
	}
	if p.Deleted = d.roll(4) == 1; p.Deleted {
		p.Asked, p.Gone = now-5000, now+25_000
	}
	state := func() State {
		s := State{
			Kind:     []policy.StateKind{policy.StateNone, policy.StateWaiting, policy.StateRunning, policy.StateTerminated}[d.roll(4)],
			ExitCode: d.code(), Reason: []string{"", "CrashLoopBackOff", "Error", "ContainerStatusUnknown", "RestartingAllContainers"}[d.roll(5)],
		}
		if d.roll(3) > 0 {
			s.Started = now - []Millis{0, 1000, 45_000, 700_000}[d.roll(4)]
			s.Finished = s.Started
		}
		return s
	}
	for _, kind := range []policy.ContainerKind{policy.MainContainer, policy.InitContainer, policy.EphemeralContainer} {
		for i := range spec.List(kind) {
			if d.roll(4) > 0 {
				p.Containers = append(p.Containers, PastContainer{
					Ref: policy.Ref{Kind: kind, Index: i}, State: state(), Last: state(), RestartCount: int64(d.roll(5)), Delay: Millis(d.roll(3)) * 40_000,
				})
			}
		}
	}
	return p
}
