package server

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func smallGate() *gate {
	return newGate(Limits{Requests: 2, Queue: 2}.withDefaults())
}

// fakeSender stops sending at some time.
type fakeSender struct {
	since time.Time // zero: it sends all the time
	onCut func()
}

func (f fakeSender) stalled() time.Duration {
	if f.since.IsZero() {
		return 0
	}
	return time.Since(f.since)
}

func (f fakeSender) cut() { f.onCut() }

// enter takes a place for a body that stalls at once; with nil, for one that never does.
func enter(t *testing.T, g *gate, cut func()) *ticket {
	t.Helper()
	from := fakeSender{time.Now(), cut}
	if cut == nil {
		from = fakeSender{onCut: func() { t.Error("a body was cut for no reason") }}
	}
	k, err := g.enter(t.Context(), from)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestGateRefusesWhatDoesNotFitIntoTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := smallGate()
		a, b := enter(t, g, nil), enter(t, g, nil)
		a.bodyRead()
		b.bodyRead()
		errs := make(chan error, 2)
		for range 2 {
			go func() {
				_, err := g.enter(t.Context(), nobody{})
				errs <- err
			}()
		}
		synctest.Wait()
		began := time.Now()
		if _, err := g.enter(t.Context(), nobody{}); err != errBusy || time.Since(began) != 0 {
			t.Errorf("with a full queue: %v after %v", err, time.Since(began))
		}
		for range 2 {
			if err := <-errs; err != errBusy {
				t.Error(err)
			}
		}
		if waited := time.Since(began); waited != DefaultQueueWait {
			t.Errorf("the queue was left after %v, want %v", waited, DefaultQueueWait)
		}
		a.leave()
		b.leave()
		if taken, waiting := g.open(); taken != 0 || waiting != 0 {
			t.Errorf("%d places taken, %d waiting", taken, waiting)
		}
	})
}

func TestGateServesInOrderOfArrival(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := smallGate()
		a, b := enter(t, g, nil), enter(t, g, nil)
		a.bodyRead()
		b.bodyRead()
		order := make(chan int, 2)
		for i := range 2 {
			go func() {
				k, err := g.enter(t.Context(), nobody{})
				if err != nil {
					t.Error(err)
					return
				}
				k.bodyRead()
				order <- i
				k.leave()
			}()
			synctest.Wait()
		}
		a.leave()
		if first, second := <-order, <-order; first != 0 || second != 1 {
			t.Errorf("served %d, then %d", first, second)
		}
		b.leave()
	})
}

func TestWaitingRequestEndsTheSlowestBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := smallGate()
		cut := make(chan string, 2)
		slow := enter(t, g, func() { cut <- "slow" })
		go func() {
			<-cut
			slow.leave() // as its handler does when the read fails
		}()
		time.Sleep(time.Second)
		younger := enter(t, g, nil)
		began := time.Now()
		third := enter(t, g, nil)
		if waited := time.Since(began); waited != 0 {
			t.Errorf("waited %v although a body was overdue", waited)
		}
		younger.leave()
		third.leave()
	})
}

func TestBodyHasItsTimeBeforeItIsCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := smallGate()
		cuts := 0
		var a *ticket
		a = enter(t, g, func() { cuts++; go a.leave() })
		b := enter(t, g, func() { cuts++ })
		began := time.Now()
		k, err := g.enter(t.Context(), nobody{})
		if waited := time.Since(began); err != nil || waited != DefaultBodyPatience {
			t.Errorf("entered after %v: %v", waited, err)
		}
		if cuts != 1 {
			t.Errorf("%d bodies were cut for one request", cuts)
		}
		b.leave()
		k.leave()
	})
}

func TestGateForgetsWhoGoesAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := smallGate()
		a, b := enter(t, g, nil), enter(t, g, nil)
		a.bodyRead()
		b.bodyRead()
		gone := errors.New("gone")
		ctx, cancel := context.WithCancelCause(t.Context())
		left := make(chan error)
		go func() {
			_, err := g.enter(ctx, nobody{})
			left <- err
		}()
		synctest.Wait()
		cancel(gone)
		if err := <-left; err != gone {
			t.Error(err)
		}
		a.leave()
		b.leave()
		if taken, waiting := g.open(); taken != 0 || waiting != 0 {
			t.Errorf("%d places taken, %d waiting", taken, waiting)
		}
	})
}

// TestGateLosesNoPlace lets many requests come, wait, give up and go in virtual time.
func TestGateLosesNoPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(Limits{Requests: 4, Queue: 8}.withDefaults())
		const requests = 2000
		ended := make(chan bool, requests)
		for i := range requests {
			go func() {
				time.Sleep(time.Duration(i*7919%1000) * time.Millisecond)
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(50+i*31%400)*time.Millisecond)
				defer cancel()
				cut := make(chan struct{})
				k, err := g.enter(ctx, fakeSender{time.Now(), func() { close(cut) }})
				if err != nil {
					ended <- false
					return
				}
				if taken, _ := g.open(); taken > 4 {
					t.Errorf("%d places taken", taken)
				}
				body := time.NewTimer(time.Duration(i*17%300) * time.Millisecond)
				select {
				case <-body.C:
					k.bodyRead()
					time.Sleep(time.Duration(i%3) * time.Millisecond)
				case <-cut:
				}
				body.Stop()
				k.leave()
				ended <- true
			}()
		}
		served := 0
		for range requests {
			if <-ended {
				served++
			}
		}
		if taken, waiting := g.open(); taken != 0 || waiting != 0 || g.reading.Len() != 0 {
			t.Errorf("%d places taken, %d waiting, %d reading", taken, waiting, g.reading.Len())
		}
		if served == 0 || served == requests {
			t.Errorf("%d of %d requests were served: this test proves nothing", served, requests)
		}
	})
}
