package kube

import (
	"time"

	"k8s.io/client-go/util/flowcontrol"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/upstream/diff"
)

type backoff struct {
	b     *flowcontrol.Backoff
	clock *clocktesting.FakeClock
}

// epoch is the instant 0 of back-off sequences.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// key is that of the one container.
const key = "c"

// Backoff implements diff.Release.
//
// Source: NewMainKubelet in pkg/kubelet/kubelet.go, Kubernetes v1.33 to v1.37, for the function
// that replaces the library's rule of expiry.
func (r *Release) Backoff(initial, most policy.Millis) diff.Backoff {
	clock := clocktesting.NewFakeClock(epoch)
	b := flowcontrol.NewFakeBackOff(duration(initial), duration(most), clock)
	b.HasExpiredFunc = func(eventTime time.Time, lastUpdate time.Time, maxDuration time.Duration) bool {
		return eventTime.Sub(lastUpdate) > 600*time.Second
	}
	return &backoff{b, clock}
}

func duration(m policy.Millis) time.Duration { return time.Duration(m) * time.Millisecond }
func instant(m policy.Millis) time.Time      { return epoch.Add(duration(m)) }

func (b *backoff) SetTime(now policy.Millis) { b.clock.SetTime(instant(now)) }
func (b *backoff) InBackOffSince(finished policy.Millis) bool {
	return b.b.IsInBackOffSince(key, instant(finished))
}
func (b *backoff) Next(finished policy.Millis) { b.b.Next(key, instant(finished)) }
func (b *backoff) Delay() policy.Millis        { return policy.Millis(b.b.Get(key) / time.Millisecond) }
func (b *backoff) GC()                         { b.b.GC() }

// CrashLoop implements diff.Release.
func (r *Release) CrashLoop(period string) (diff.CrashLoop, bool) {
	if linked.CrashLoop == nil {
		return diff.CrashLoop{}, false
	}
	return linked.CrashLoop(period), true
}
