package server

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/podfate/podfate/policy/manifest"
	"github.com/podfate/podfate/policy/words"
	"github.com/podfate/podfate/wasm"
)

// Engine answers operations. Call runs operation number op on a JSON request and returns the
// answer's bytes, which the engine does not touch any more. failed says that they are an error
// payload of the core; err, that there is no answer: the context ended, all instances are busy, the
// module trapped. An Engine may be called from many goroutines.
//
// An Engine that also has Close(context.Context) error is closed when the server ends, and one that
// has Stats() PoolStats is asked for them at /metrics.
type Engine interface {
	Call(ctx context.Context, op uint32, request []byte) (answer []byte, failed bool, err error)
}

// EngineFunc is a function that is an [Engine], such as the core compiled into this program.
type EngineFunc func(ctx context.Context, op uint32, request []byte) (answer []byte, failed bool, err error)

// Call calls f.
func (f EngineFunc) Call(ctx context.Context, op uint32, request []byte) ([]byte, bool, error) {
	return f(ctx, op, request)
}

// ErrEngineBusy is what an [Engine] returns, alone or wrapped, when it could not take the call at
// this time.
var ErrEngineBusy = errors.New("engine is busy")

// evaluate runs op on request and returns the answer. A failed call is a refusal that carries the
// core's error.
//
// It returns when the deadline has passed even if the call goes on: stopping a module in the middle
// would make each of its loops slower (see package wasm), and the core bounds its steps by itself.
// The call keeps its place among the workers until it ends, so that calls nobody waits for any more
// do not add up.
func (s *Server) evaluate(ctx context.Context, op uint32, request []byte) ([]byte, error) {
	engine, err := s.awaitEngine(ctx)
	if err != nil {
		return nil, err
	}
	if err := take(ctx, s.workers, s.limits.QueueWait); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, s.limits.Evaluation, errDeadline)
	defer cancel()
	began := time.Now()
	done := make(chan called, 1)
	go func() {
		defer func() { <-s.workers }()
		done <- call(ctx, engine, op, request)
	}()
	var c called
	select {
	case c = <-done:
	case <-ctx.Done():
		c.err = context.Cause(ctx)
	}
	if c.panicked != nil {
		panic(c.panicked) // the handler's own recover deals with it
	}
	err = c.err
	if err != nil {
		err = s.engineError(ctx, err)
	} else if c.failed {
		err = coreError(c.answer)
	}
	s.metrics.engineCall(operationName(op), err, time.Since(began))
	if err != nil {
		return nil, err
	}
	return c.answer, nil
}

// called is what a call of the engine came to.
type called struct {
	answer   []byte
	failed   bool
	err      error
	panicked any
}

// call calls the engine in a goroutine of its own, in which a panic would end the program.
func call(ctx context.Context, engine Engine, op uint32, request []byte) (c called) {
	defer func() {
		if v := recover(); v != nil {
			c = called{panicked: v}
		}
	}()
	c.answer, c.failed, c.err = engine.Call(ctx, op, request)
	return c
}

// awaitEngine returns the engine, after a short wait if the server has only just started.
func (s *Server) awaitEngine(ctx context.Context) (Engine, error) {
	select {
	case <-s.started:
		return s.engine, nil
	default:
	}
	timeout := time.NewTimer(s.limits.QueueWait)
	defer timeout.Stop()
	select {
	case <-s.started:
		return s.engine, nil
	case <-timeout.C:
		return nil, errStarting
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// engineError returns what a client is told about a call that has no answer. The log gets the kind
// of error only: the text of a trap may repeat what the client sent.
func (s *Server) engineError(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, wasm.ErrMemory):
		s.log.Warn("engine has no memory for another instance")
		return errBusy
	case errors.Is(err, ErrEngineBusy):
		return errBusy
	}
	s.log.Error("engine failed", slog.String("kind", engineErrorKind(err)))
	return errInternal
}

// coreError turns an error payload of the core into a refusal.
func coreError(payload []byte) error {
	var envelope struct{ Error json.RawMessage }
	var object struct{ Code string }
	if json.Unmarshal(payload, &envelope) != nil || json.Unmarshal(envelope.Error, &object) != nil {
		return errInternal
	}
	return &refusal{code: object.Code, detail: plainDetail(envelope.Error), core: envelope.Error}
}

// plainDetail is the message of an error object of the core, except that the fault it begins with
// is said as the page and the command line say it: the core's own message has the words of
// Kubernetes, which after decoding are those of Go.
func plainDetail(core json.RawMessage) string {
	object, err := manifest.Parse(core)
	if err != nil {
		return ""
	}
	message := object.Get("message").Text()
	for f := object.Get("faults").First(); f.Exists(); f = f.Next() {
		own := f.Get("message").Text()
		if rest, leads := strings.CutPrefix(message, own); leads && own != "" && f.Get("path").Text() == object.Get("path").Text() {
			return words.Plain(f) + rest
		}
	}
	return message
}
