package wasm

import (
	"context"
	"fmt"
	"sync"
)

// pool lends members, each to one caller at a time, and replaces those that come back broken. It
// knows nothing of WebAssembly, so its tests run on virtual time with members that cost nothing.
//
// size callers are served at once; spares more members are ready, so that the caller after a
// broken member does not wait until a new one is made.
type pool[T any] struct {
	create  func() (T, error)
	discard func(T)
	tokens  chan struct{} // holds one for each caller that is being served
	refill  chan struct{} // asks the background to make members; one request stands for any number
	closing chan struct{}
	stopped chan struct{} // closed when the background has ended
	closed  chan struct{}

	once     sync.Once
	closeErr error // set before closed is closed

	mu      sync.Mutex
	idle    []T // the last one given is taken first: its memory is in the caches, and the others stay small
	lent    int // members with callers
	target  int // idle + lent when nothing is amiss; a stalled caller can bring it above for a while
	made    uint64
	stalled uint64
}

// newPool makes all members at once and fails if one cannot be made.
func newPool[T any](size, spares int, create func() (T, error), discard func(T)) (*pool[T], error) {
	p := &pool[T]{
		create:  create,
		discard: discard,
		tokens:  make(chan struct{}, size),
		refill:  make(chan struct{}, 1),
		closing: make(chan struct{}),
		stopped: make(chan struct{}),
		closed:  make(chan struct{}),
		target:  size + spares,
	}
	for range p.target {
		member, err := p.create()
		if err != nil {
			p.discardIdle()
			return nil, err
		}
		p.made++
		p.idle = append(p.idle, member)
	}
	go p.background()
	return p, nil
}

// take lends a member; the caller returns it with give. It waits until ctx ends (ErrBusy) or the
// pool closes (ErrClosed). An error of making a member is passed on.
func (p *pool[T]) take(ctx context.Context) (T, error) {
	var none T
	if err := ctx.Err(); err != nil { // select would choose at random between two that are ready
		return none, fmt.Errorf("%w: %w", ErrBusy, err)
	}
	select {
	case <-p.closing:
		return none, ErrClosed
	default:
	}
	select {
	case p.tokens <- struct{}{}:
	case <-p.closing:
		return none, ErrClosed
	case <-ctx.Done():
		return none, fmt.Errorf("%w: %w", ErrBusy, ctx.Err())
	}
	member, err := p.pop()
	if err != nil {
		<-p.tokens
	}
	return member, err
}

// pop takes an idle member or, if the background has not caught up, makes one.
func (p *pool[T]) pop() (T, error) {
	p.mu.Lock()
	p.lent++
	if last := len(p.idle) - 1; last >= 0 {
		var none T
		member := p.idle[last]
		p.idle[last], p.idle = none, p.idle[:last]
		p.mu.Unlock()
		return member, nil
	}
	p.stalled++
	p.mu.Unlock()
	member, err := p.create()
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		p.lent--
		return member, err
	}
	p.made++
	return member, nil
}

// give takes a member back. With keep false it is discarded, and the background makes another.
func (p *pool[T]) give(member T, keep bool) {
	if !keep {
		p.discard(member)
	}
	p.mu.Lock()
	p.lent--
	if keep {
		p.idle = append(p.idle, member)
	}
	p.mu.Unlock()
	if !keep {
		select {
		case p.refill <- struct{}{}:
		default: // a request is waiting already
		}
	}
	<-p.tokens // last: close counts on every member being back when it holds all tokens
}

// background makes members until the pool closes.
func (p *pool[T]) background() {
	defer close(p.stopped)
	for {
		select {
		case <-p.closing:
			return
		case <-p.refill:
		}
		for p.missing() {
			member, err := p.create()
			if err != nil {
				break // memory may be back for the next caller, who meets it in pop and has someone to tell
			}
			p.mu.Lock()
			p.made++
			p.idle = append(p.idle, member)
			p.mu.Unlock()
		}
	}
}

// missing reports whether the pool has fewer members than it should and is still open.
func (p *pool[T]) missing() bool {
	select {
	case <-p.closing:
		return false
	default:
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.idle)+p.lent < p.target
}

// close refuses further callers, waits for those being served, discards the members and runs
// release, once. If ctx ends first its error is returned and the rest happens later. Each further
// close waits for the same end.
func (p *pool[T]) close(ctx context.Context, release func() error) error {
	p.once.Do(func() {
		close(p.closing)
		go func() {
			for range cap(p.tokens) {
				p.tokens <- struct{}{}
			}
			<-p.stopped // release takes away what create works with
			p.discardIdle()
			p.closeErr = release()
			close(p.closed)
		}()
	})
	select {
	case <-p.closed:
		return p.closeErr
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p *pool[T]) discardIdle() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, member := range p.idle {
		p.discard(member)
	}
	p.idle = nil
}
