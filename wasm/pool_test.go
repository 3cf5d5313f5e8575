package wasm

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// member stands for an instance: making one takes a while, and it notices being used by two or
// after its end.
type member struct {
	id     int
	inUse  bool
	ended  bool
	misuse *int
}

// makers counts what a pool makes and discards. It has its own lock, because the pool calls it from
// two goroutines.
type makers struct {
	mu              sync.Mutex
	made, discarded int
	misuse          int
	fail            error
	takes           time.Duration
}

func (m *makers) create() (*member, error) {
	time.Sleep(m.takes)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail != nil {
		return nil, m.fail
	}
	m.made++
	return &member{id: m.made, misuse: &m.misuse}, nil
}

func (m *makers) discard(x *member) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if x.ended {
		m.misuse++
	}
	x.ended = true
	m.discarded++
}

// use marks x as lent for d and counts what must not be.
func (m *makers) use(x *member, d time.Duration) {
	m.mu.Lock()
	if x.inUse || x.ended {
		m.misuse++
	}
	x.inUse = true
	m.mu.Unlock()
	time.Sleep(d)
	m.mu.Lock()
	x.inUse = false
	m.mu.Unlock()
}

func testPool(t *testing.T, m *makers, size, spares int) *pool[*member] {
	t.Helper()
	p, err := newPool(size, spares, m.create, m.discard)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func nothing() error { return nil }

func TestPoolIsBusyUntilTheContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &makers{}
		p := testPool(t, m, 2, 1)
		a, _ := p.take(t.Context())
		b, _ := p.take(t.Context())
		start := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 250*time.Millisecond)
		defer cancel()
		if _, err := p.take(ctx); !errors.Is(err, ErrBusy) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("third caller of two: %v", err)
		}
		if waited := time.Since(start); waited != 250*time.Millisecond {
			t.Errorf("waited %v", waited)
		}
		if _, err := p.take(ctx); !errors.Is(err, ErrBusy) {
			t.Errorf("with an ended context: %v", err)
		}
		p.give(a, true)
		if _, err := p.take(ctx); !errors.Is(err, ErrBusy) {
			t.Errorf("with an ended context and a free member: %v", err)
		}
		c, err := p.take(t.Context())
		if err != nil || c != a {
			t.Errorf("the member given back was not lent again: %v", err)
		}
		p.give(b, true)
		p.give(c, true)
		if err := p.close(t.Context(), nothing); err != nil || m.discarded != 3 {
			t.Errorf("%v, %d of 3 members discarded", err, m.discarded)
		}
	})
}

func TestPoolWaitersAreServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &makers{}
		p := testPool(t, m, 1, 0)
		start := time.Now()
		var group sync.WaitGroup
		for range 10 {
			group.Go(func() {
				x, err := p.take(context.Background())
				if err != nil {
					t.Error(err)
					return
				}
				m.use(x, time.Second)
				p.give(x, true)
			})
		}
		group.Wait()
		if d := time.Since(start); d != 10*time.Second || m.made != 1 || m.misuse != 0 {
			t.Errorf("10 calls of 1 s took %v, %d members made, %d misused", d, m.made, m.misuse)
		}
		p.close(t.Context(), nothing)
	})
}

// TestPoolSpareHidesReplacement holds that the call after a broken member does not wait for a new
// one.
func TestPoolSpareHidesReplacement(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &makers{}
		p := testPool(t, m, 1, 1)
		m.takes = 5 * time.Millisecond
		for range 1000 {
			start := time.Now()
			x, err := p.take(t.Context())
			if err != nil || time.Since(start) != 0 {
				t.Fatalf("waited %v, %v", time.Since(start), err)
			}
			p.give(x, false)
			time.Sleep(6 * time.Millisecond) // the next caller comes when a new spare is ready
		}
		synctest.Wait()
		if p.stalled != 0 || m.made != 1002 || m.discarded != 1000 {
			t.Errorf("%d stalled, %d made, %d discarded", p.stalled, m.made, m.discarded)
		}
		// Two at once use up the spare, and the third makes its own.
		for range 3 {
			x, err := p.take(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			p.give(x, false)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if p.stalled == 0 {
			t.Error("nobody noticed that the spare was gone")
		}
		if n := len(p.idle); n < 2 || n > 3 {
			t.Errorf("%d members ready, 2 wanted", n)
		}
		p.close(t.Context(), nothing)
	})
}

func TestPoolFailureToMakeIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &makers{fail: errors.New("no memory")}
		if _, err := newPool(1, 0, m.create, m.discard); !errors.Is(err, m.fail) {
			t.Errorf("first member: %v", err)
		}
		m.fail = nil
		p := testPool(t, m, 1, 0)
		x, _ := p.take(t.Context())
		broken := errors.New("no memory")
		m.fail = broken
		p.give(x, false)
		synctest.Wait()
		for range 3 { // a token that was lost would block the second of these
			if _, err := p.take(t.Context()); !errors.Is(err, broken) {
				t.Errorf("got %v", err)
			}
		}
		m.fail = nil
		x, err := p.take(t.Context())
		if err != nil {
			t.Errorf("after the failure: %v", err)
		}
		p.give(x, true)
		p.close(t.Context(), nothing)
	})
}

func TestPoolCloseWaitsForCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &makers{}
		p := testPool(t, m, 2, 1)
		x, _ := p.take(t.Context())
		y, _ := p.take(t.Context())
		waiting := make(chan error)
		go func() {
			_, err := p.take(context.Background())
			waiting <- err
		}()
		synctest.Wait()

		released, broken := 0, errors.New("what is freed says no")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := p.close(ctx, func() error { released++; return broken }); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("close with two callers inside: %v", err)
		}
		if err := <-waiting; !errors.Is(err, ErrClosed) {
			t.Errorf("the caller that waited: %v", err)
		}
		if _, err := p.take(t.Context()); !errors.Is(err, ErrClosed) {
			t.Errorf("a caller after close: %v", err)
		}
		if released != 0 {
			t.Error("released under the callers' feet")
		}
		p.give(x, true)
		p.give(y, false)
		for range 2 { // whoever closes learns how it ended
			if err := p.close(t.Context(), nothing); err != broken || released != 1 || m.made != m.discarded {
				t.Errorf("%v, released %d times, %d made, %d discarded", err, released, m.made, m.discarded)
			}
		}
	})
}

// TestPoolModel lets callers come, fail, give up and close at random on virtual time. A failure
// prints its seed.
func TestPoolModel(t *testing.T) {
	rounds := 2000
	if testing.Short() {
		rounds = 200
	}
	for seed := range uint64(rounds) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 7))
			pick := func(n int) time.Duration { return time.Duration(random.IntN(n)) * time.Millisecond }
			size := 1 + random.IntN(3)
			m := &makers{takes: pick(4)}
			p := testPool(t, m, size, random.IntN(2))
			var group sync.WaitGroup
			var mu sync.Mutex
			answered, callers := 0, 1+random.IntN(30)
			for range callers {
				arrive, patience, work, keep := pick(40), pick(30), pick(10), random.IntN(3) > 0
				group.Go(func() {
					time.Sleep(arrive)
					ctx, cancel := context.WithTimeout(context.Background(), patience)
					defer cancel()
					x, err := p.take(ctx)
					switch {
					case err == nil:
						m.use(x, work)
						p.give(x, keep)
					case !errors.Is(err, ErrBusy) && !errors.Is(err, ErrClosed):
						t.Errorf("seed %d: %v", seed, err)
					}
					mu.Lock()
					answered++
					mu.Unlock()
				})
			}
			time.Sleep(pick(60))
			if err := p.close(context.Background(), nothing); err != nil {
				t.Errorf("seed %d: close: %v", seed, err)
			}
			group.Wait()
			if answered != callers || m.misuse != 0 || m.made != m.discarded || p.lent != 0 || len(p.idle) != 0 {
				t.Errorf("seed %d: %d of %d answered, %d misused, %d made, %d discarded, %d lent, %d idle",
					seed, answered, callers, m.misuse, m.made, m.discarded, p.lent, len(p.idle))
			}
		})
	}
}
