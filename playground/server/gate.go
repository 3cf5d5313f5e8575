package server

import (
	"container/list"
	"context"
	"sync"
	"time"
)

// gate bounds the requests that may hold a body in memory. Others wait in order of arrival, and not
// for long.
//
// A place held by a client that sends its body slowly is taken from it as soon as another request
// waits: otherwise as many slow clients as there are places would keep everyone out for the whole
// read time-out.
type gate struct {
	places, queue  int
	wait, patience time.Duration

	mu      sync.Mutex
	taken   int
	waiting list.List // of chan struct{}, in order of arrival
	reading list.List // of *ticket whose body is still on its way, oldest first
}

// sender is where the body of a request comes from.
type sender interface {
	// stalled is for how long its reader has been waiting for the next byte; 0 if it is not
	// waiting. A reader that has not been given the processor does not wait: on a busy machine that
	// is no fault of the client.
	stalled() time.Duration
	// cut ends the read at once.
	cut()
}

// ticket is one place of a gate. Its holder calls leave exactly once.
type ticket struct {
	gate    *gate
	from    sender        // cut at most once, and not after bodyRead
	reading *list.Element // in gate.reading; nil once the body is read, or given up
	wasCut  bool
}

func newGate(l Limits) *gate {
	return &gate{places: l.Requests, queue: l.Queue, wait: l.QueueWait, patience: l.BodyPatience}
}

// enter takes a place for a request whose body will be read from the sender. It returns errBusy
// when the queue is full or the wait too long, and the cause of ctx when that ends first.
func (g *gate) enter(ctx context.Context, from sender) (*ticket, error) {
	g.mu.Lock()
	if g.taken < g.places && g.waiting.Len() == 0 {
		g.taken++
		t := g.issueLocked(from)
		g.mu.Unlock()
		return t, nil
	}
	if g.waiting.Len() >= g.queue {
		g.mu.Unlock()
		return nil, errBusy
	}
	turn := make(chan struct{})
	place := g.waiting.PushBack(turn)
	g.cutSlowestLocked()
	g.mu.Unlock()

	timeout, again := time.NewTimer(g.wait), time.NewTimer(g.patience)
	defer timeout.Stop()
	defer again.Stop()
	for {
		select {
		case <-turn:
			g.mu.Lock()
			defer g.mu.Unlock()
			return g.issueLocked(from), nil
		case <-again.C: // by now every body that had stalled when this request came has had its time
			g.mu.Lock()
			g.cutSlowestLocked()
			g.mu.Unlock()
		case <-timeout.C:
			return nil, g.giveUp(turn, place, errBusy)
		case <-ctx.Done():
			return nil, g.giveUp(turn, place, context.Cause(ctx))
		}
	}
}

// giveUp takes a request out of the queue and returns err. A place that came in the same moment is
// handed on.
func (g *gate) giveUp(turn chan struct{}, place *list.Element, err error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-turn:
		g.freeLocked()
	default:
		g.waiting.Remove(place)
	}
	return err
}

func (g *gate) issueLocked(from sender) *ticket {
	t := &ticket{gate: g, from: from}
	t.reading = g.reading.PushBack(t)
	return t
}

// cutSlowestLocked ends the oldest body that has stalled. Its place comes free when its handler
// notices.
func (g *gate) cutSlowestLocked() {
	for e := g.reading.Front(); e != nil; e = e.Next() {
		t := e.Value.(*ticket)
		if t.from.stalled() < g.patience {
			continue
		}
		g.reading.Remove(e)
		t.reading, t.wasCut = nil, true
		t.from.cut()
		return
	}
}

// freeLocked gives a place to whoever waits longest, or back.
func (g *gate) freeLocked() {
	if first := g.waiting.Front(); first != nil {
		g.waiting.Remove(first)
		close(first.Value.(chan struct{}))
		return
	}
	g.taken--
}

// bodyRead says that the body is complete, or given up: from here on the place is safe, and cut is
// not called any more. It reports whether cut was called before. It may be called more than once.
func (t *ticket) bodyRead() (wasCut bool) {
	t.gate.mu.Lock()
	defer t.gate.mu.Unlock()
	if t.reading != nil {
		t.gate.reading.Remove(t.reading)
		t.reading = nil
	}
	return t.wasCut
}

// leave gives the place back.
func (t *ticket) leave() {
	t.bodyRead()
	t.gate.mu.Lock()
	defer t.gate.mu.Unlock()
	t.gate.freeLocked()
}

// open reports how many places are taken and how many requests wait.
func (g *gate) open() (taken, waiting int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.taken, g.waiting.Len()
}
