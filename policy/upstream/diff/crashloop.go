package diff

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/ops"
)

const (
	kmax = "KubeletCrashLoopBackOffMax"
	rdd  = "ReduceDefaultCrashLoopBackOffDecay"
)

// crashLoops compares what n settings of maxContainerRestartPeriod lead to. It needs the kubelet.
func (c *comparison) crashLoops(t *testing.T, n int) {
	if _, known := c.release.CrashLoop(""); !known {
		t.Skip("left out, the kubelet is not linked: run with -tags kubelet")
	}
	shown := 0
	for _, set := range []gateSet{{kmax: true, rdd: true}, {kmax: true, rdd: false}, {kmax: false, rdd: true}, {kmax: false, rdd: false}} {
		if err := c.release.SetGates(set); err != nil {
			t.Fatal(err)
		}
		for i := range n/4 + 1 {
			c.crashLoop(t, &shown, fmt.Sprintf("kubelet case %d, %s=%v %s=%v", i, kmax, set[kmax], rdd, set[rdd]), generate(c.seed, i).period(), set)
		}
	}
}

func (c *comparison) crashLoop(t *testing.T, shown *int, what, period string, set gateSet) {
	t.Helper()
	c.configured++
	what += ", period " + period
	theirs, _ := c.release.CrashLoop(period)
	slices.Sort(theirs.Errors)
	kubelet := map[string]any{}
	if period != "" {
		kubelet["crashLoopBackOff"] = map[string]any{"maxContainerRestartPeriod": period}
	}
	errors, err := kubeletErrors(c.release.Minor(), set, kubelet)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if !slices.Equal(errors, theirs.Errors) {
		ours, real := firstDifference(errors, theirs.Errors)
		c.differ(t, shown, what, ours, real)
	}
	if len(theirs.Errors) > 0 {
		return
	}
	f := policy.Features{Minor: c.release.Minor(), KubeletCrashLoopBackOffMax: set[kmax], ReduceDefaultCrashLoopBackOffDecay: set[rdd]}
	k := policy.KubeletConfiguration{}
	if period != "" {
		d, fault := policy.ParseDuration(period)
		if fault != "" {
			t.Fatalf("%s: %s", what, fault)
		}
		k.MaxContainerRestartPeriod = &d
	}
	b := k.Backoff(f)
	if b.Initial != theirs.Initial || b.Max != theirs.Max {
		c.differ(t, shown, what, fmt.Sprintf("%+v", b), fmt.Sprintf("%+v", theirs))
	}
}

// period returns a duration about the limits, "" for none.
func (g *generator) period() string {
	switch g.r.IntN(4) {
	case 0:
		return pick(g, "", "0s", "1s", "999ms", "1ms", "300s", "5m", "5m0.0009s", "5m0.001s", "301s", "-1s", "1h", "999.9999ms", "10s", "9.5s")
	case 1:
		return fmt.Sprintf("%dms", g.r.IntN(400_000)-10_000)
	case 2:
		return fmt.Sprintf("%d.%ds", g.r.IntN(310), g.r.IntN(1_000_000_000))
	}
	return fmt.Sprintf("%ds", g.r.IntN(400)-20)
}

// kubeletErrors returns the messages of our core about a kubelet's configuration.
func kubeletErrors(minor int, set gateSet, kubelet map[string]any) ([]string, error) {
	request, err := json.Marshal(map[string]any{
		"cluster":  map[string]any{"version": policy.VersionName(minor), "featureGates": set, "kubeletConfiguration": kubelet},
		"manifest": json.RawMessage(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"containers":[{"name":"c","image":"i"}]}}`),
	})
	if err != nil {
		return nil, err
	}
	op, _ := ops.Lookup("validate")
	reply, failed := ops.Call(op.Number, request)
	if !failed {
		return nil, nil
	}
	var a struct {
		Error struct {
			Code, Message string
			Faults        []struct{ Message string }
		}
	}
	if err := json.Unmarshal(reply, &a); err != nil {
		return nil, err
	}
	var messages []string
	for _, f := range a.Error.Faults {
		if f.Message == "" {
			return nil, fmt.Errorf("%s", reply)
		}
		messages = append(messages, f.Message)
	}
	slices.Sort(messages)
	return messages, nil
}
