package policy

import (
	"slices"
	"testing"
)

// The constants number the rows of the table and its options.
func TestProposalsAreNumbered(t *testing.T) {
	for x, name := range map[ProposalID]string{
		KEP5307Future: "kep-5307-future", KEP3322: "kep-3322", Callback: "callback", KEP3329Draft: "kep-3329-draft",
		FailurePolicyAnywhere: "pod-failure-policy-anywhere", JobAlways: "job-always", AlwaysPod: "always-pod",
	} {
		if got := proposals[x].Name; got != name {
			t.Errorf("proposal %d is %s, not %s", x, got, name)
		}
	}
	var options []string
	for _, p := range proposals {
		for _, o := range p.Options {
			options = append(options, o.Name)
			if len(o.Values) < 2 || len(o.Values) >= chosenBit+1 {
				t.Errorf("option %s has %d values", o.Name, len(o.Values))
			}
		}
	}
	for o, name := range map[ProposalOption]string{
		OptionRestartTimes: "restartTimes", OptionMissingPolicy: "missingPolicy", OptionFallback: "fallback", OptionRestartPod: "restartPod",
		OptionCounts: "counts", OptionStop: "stop", OptionPolicies: "policies", OptionExitZero: "exitZero",
		OptionEvictionReason: "evictionReason", OptionSandbox: "sandbox", OptionWait: "wait",
	} {
		if options[o] != name {
			t.Errorf("option %d is %s, not %s", o, options[o], name)
		}
	}
	if n := readingsFrom + readingBits*len(options); n > 64 || len(proposals) > readingsFrom {
		t.Errorf("%d bits are needed", n)
	}
	p := Proposals(0).With(AlwaysPod).WithReading(OptionWait, 1).WithReading(OptionSandbox, 0)
	if !p.Has(AlwaysPod) || p.Has(JobAlways) || p.Reading(OptionWait) != 1 || p.Reading(OptionSandbox) != 0 || !p.Chosen(OptionSandbox) || p.Chosen(OptionStop) {
		t.Errorf("%b", p)
	}
	if got := AlwaysPod.Words(); !slices.Equal(got, []string{"spec.restartPolicy: AlwaysPod"}) {
		t.Error(got)
	}
}
