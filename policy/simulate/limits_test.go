package simulate_test

import (
	"testing"

	"github.com/podfate/podfate/policy"
	. "github.com/podfate/podfate/policy/simulate"
)

// A thousand years of any rhythm are finite: either the answer is exact or a limit is named.
func TestThousandYears(t *testing.T) {
	side := policy.RestartPolicy("Always")
	for _, test := range []struct {
		name string
		sc   *Scenario
		want int64 // starts of the first container, 0 if a limit ends it
	}{
		{"crash loop", crashing(1, 0, policy.MaxHorizon), 7 + 1 + (int64(policy.MaxHorizon)/1000-680)/310},
		{"runs of a millisecond", func() *Scenario {
			sc := crashing(1, 0, policy.MaxHorizon)
			sc.Tapes[0].Runs[0].For = 1
			// Starts: 1, 10.002, …, 610.008 and so on, every 300.001 s.
			return sc
		}(), 8 + (int64(policy.MaxHorizon)-610_007)/300_001},
		{"a sidecar beside it", func() *Scenario {
			sc := crashing(1, 0, policy.MaxHorizon)
			sc.Spec.InitContainers = []policy.Container{{Name: "side", RestartPolicy: &side}}
			sc.Tapes[0].Runs = nil
			sc.Tapes = append(sc.Tapes, Tape{policy.Ref{Kind: policy.InitContainer}, []Run{{For: 10 * second, ExitCode: 1, Times: Forever}}})
			return sc
		}(), 8 + (int64(policy.MaxHorizon)/1000-680)/310},
	} {
		r := Pod(test.sc)
		if r.Exceeded != "" {
			t.Errorf("%s: %s", test.name, r.Exceeded)
			continue
		}
		if got := count(r, 0); got != test.want {
			t.Errorf("%s: %d starts, want %d", test.name, got, test.want)
		}
	}
}

// A restart of all containers without any time passing has no answer in ideal timing.
func TestNoTimePasses(t *testing.T) {
	never := policy.RestartPolicyNever
	sc := crashing(1, 0, day)
	sc.Spec.Containers[0].RestartPolicy = &never
	sc.Spec.Containers[0].RestartPolicyRules = []policy.ContainerRestartRule{{
		Action: policy.ActionRestartAllContainers, ExitCodes: &policy.ContainerRestartRuleOnExitCodes{Operator: policy.OperatorIn, Values: []int32{1}},
	}}
	sc.Tapes[0].Runs[0].For = 0
	r := Pod(sc)
	if len(r.Undecided) != 1 || r.Undecided[0].Reason != "no_time_passes" {
		t.Errorf("got %+v", r.Undecided)
	}
	sc.Timing = Timing{Detection: second}
	if r = Pod(sc); len(r.Undecided) != 0 || r.Exceeded != "" {
		t.Errorf("with time to notice: %+v %s", r.Undecided, r.Exceeded)
	}
}
