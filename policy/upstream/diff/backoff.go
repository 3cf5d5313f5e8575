package diff

import (
	"fmt"
	"testing"

	"github.com/podfate/podfate/policy"
)

// backoffSteps is the number of exits in one sequence.
const backoffSteps = 40

// backoffs compares n sequences of starts of one container, some with sweeps at the kubelet's
// period, some with sweeps at any time.
func (c *comparison) backoffs(t *testing.T, n int) {
	shown := 0
	for i := range n {
		g := generate(c.seed, i)
		b := g.backoff()
		c.sequences++
		s := sequence{c: c, t: t, g: g, b: b, shown: &shown, real: c.release.Backoff(b.Initial, b.Max)}
		s.what = fmt.Sprintf("back-off case %d, %+v", i, b)
		if g.oneIn(3) {
			s.wild()
		} else {
			s.kubelet()
		}
		s.delays()
	}
}

// backoff returns one of the settings that a kubelet can have.
func (g *generator) backoff() policy.Backoff {
	f := policy.Features{
		Minor:                              policy.NewestMinor,
		ReduceDefaultCrashLoopBackOffDecay: g.oneIn(2),
		KubeletCrashLoopBackOffMax:         g.oneIn(2),
	}
	configured := pick(g, 0, 1000, 1500, 2000, 5000, 9999, 10_000, 20_000, 60_000, 160_000, 299_999, 300_000)
	return policy.KubeletBackoff(f, policy.Millis(configured))
}

// sequence is the life of one container on both sides.
type sequence struct {
	c     *comparison
	t     *testing.T
	g     *generator
	b     policy.Backoff
	shown *int
	what  string

	real  Backoff
	entry policy.BackoffEntry
	now   policy.Millis
	swept policy.Millis // when the kubelet swept last
}

// kubelet restarts the container as soon as it may, sweeping every [policy.SweepPeriod]. The real
// side tries at each instant at which something can change.
func (s *sequence) kubelet() {
	for range backoffSteps {
		s.advance(s.now + s.run())
		finished := s.now
		want := s.realStart(finished)
		got := finished
		if until, refused := s.entry.Refused(s.b, finished, finished); refused {
			got = s.entry.Release(s.b, until, policy.SweepPeriod)
		}
		if got != want {
			s.differ(fmt.Sprintf("finished at %d, started at", finished), got, want)
			return
		}
		s.entry.Sweep(s.b, s.swept)
		s.start(finished)
	}
}

// run returns how long the container runs: a moment, a while, or about as long as entries live.
func (s *sequence) run() policy.Millis {
	switch s.g.r.IntN(6) {
	case 0:
		return policy.Millis(s.g.r.IntN(3))
	case 1:
		return policy.BackoffReset + policy.Millis(s.g.r.IntN(5)-2)
	case 2:
		return policy.BackoffReset - s.entry.Delay + policy.Millis(s.g.r.IntN(5000)-2500)
	case 3:
		return policy.Millis(s.g.r.IntN(700_000))
	}
	return policy.Millis(s.g.r.IntN(30_000))
}

// advance lets the clock run to the instant at, sweeping on the way.
func (s *sequence) advance(at policy.Millis) {
	for at = max(at, s.now); s.swept+policy.SweepPeriod <= at; {
		s.swept += policy.SweepPeriod
		s.real.SetTime(s.swept)
		s.real.GC()
		s.entry.Sweep(s.b, s.swept)
	}
	s.now = at
	s.real.SetTime(at)
}

// realStart lets the clock run until the real back-off allows a start. It tries when the wait is
// over and after each sweep, of the real side only: the entry is what is tested.
func (s *sequence) realStart(finished policy.Millis) policy.Millis {
	end := finished + s.real.Delay()
	for s.real.InBackOffSince(finished) {
		if s.swept+policy.SweepPeriod > end {
			s.now = end
		} else {
			s.swept += policy.SweepPeriod
			s.now = s.swept
			s.real.SetTime(s.now)
			s.real.GC()
			continue
		}
		s.real.SetTime(s.now)
	}
	return s.now
}

func (s *sequence) start(finished policy.Millis) {
	s.real.Next(finished)
	s.entry.Start(s.b, finished, s.now)
	s.compareDelay()
}

func (s *sequence) compareDelay() {
	got := policy.Millis(0)
	if s.entry.Exists {
		got = s.entry.Delay
	}
	if want := s.real.Delay(); got != want {
		s.differ(fmt.Sprintf("at %d, delay", s.now), got, want)
	}
}

// wild asks, starts and sweeps in any order; an exit may lie before the last start, as after a
// failed one.
func (s *sequence) wild() {
	finished := policy.Millis(0)
	for range backoffSteps {
		s.now += s.run() / pick[policy.Millis](s.g, 1, 2, 10)
		s.now = max(s.now, 0)
		s.real.SetTime(s.now)
		switch s.g.r.IntN(4) {
		case 0:
			finished = max(0, s.now-policy.Millis(s.g.r.IntN(20_000)))
		case 1: // the wait is over now, a moment ago or in a moment
			finished = max(0, s.now-s.entry.Delay+policy.Millis(s.g.r.IntN(3)-1))
		}
		switch s.g.r.IntN(3) {
		case 0:
			s.real.GC()
			s.entry.Sweep(s.b, s.now)
		case 1:
			s.start(finished)
		}
		s.compareDelay()
		_, refused := s.entry.Refused(s.b, finished, s.now)
		if want := s.real.InBackOffSince(finished); refused != want {
			s.differ(fmt.Sprintf("at %d, finished at %d, refused", s.now, finished), refused, want)
		}
	}
}

// delays compares Delay with a container that exits at once, again and again, without sweeps.
func (s *sequence) delays() {
	real := s.c.release.Backoff(s.b.Initial, s.b.Max)
	now := policy.Millis(0)
	for n := range 12 {
		if got, want := s.b.Delay(n), real.Delay(); got != want {
			s.differ(fmt.Sprintf("delay before restart %d", n), got, want)
		}
		now += real.Delay()
		real.SetTime(now)
		real.Next(now)
	}
}

func (s *sequence) differ(what string, ours, theirs any) {
	s.t.Helper()
	s.c.differ(s.t, s.shown, s.what+": "+what, ours, theirs)
}
