package server

import (
	"context"
	"errors"
	"fmt"

	"github.com/podfate/podfate/policy/ops"
	"github.com/podfate/podfate/wasm"
)

// Native returns the core compiled into this program as an [Engine]. It does not look at the
// context: the core bounds its own steps.
func Native() Engine { return EngineFunc(callNative) }

// errCorePanicked says that the core broke one of its own rules.
var errCorePanicked = errors.New("the core panicked")

func callNative(_ context.Context, op uint32, request []byte) (answer []byte, failed bool, err error) {
	defer func() {
		if v := recover(); v != nil {
			answer, failed, err = nil, false, fmt.Errorf("%w: %T", errCorePanicked, v)
		}
	}()
	answer, failed = ops.Call(op, request)
	return answer, failed, nil
}

// WASM returns a host of the module as an [Engine]. Closing the engine closes the host.
func WASM(host *wasm.Host) Engine { return wasmEngine{host} }

type wasmEngine struct{ host *wasm.Host }

func (e wasmEngine) Call(ctx context.Context, op uint32, request []byte) ([]byte, bool, error) {
	answer, err := e.host.Call(ctx, op, request)
	if errors.Is(err, wasm.ErrBusy) || errors.Is(err, wasm.ErrMemory) {
		err = fmt.Errorf("%w: %w", ErrEngineBusy, err)
	}
	return answer.JSON, answer.Failed, err
}

func (e wasmEngine) Close(ctx context.Context) error { return e.host.Close(ctx) }

// Stats is for /metrics.
func (e wasmEngine) Stats() PoolStats {
	s := e.host.Stats()
	return PoolStats{
		Ready: s.Ready, Running: s.Running,
		Calls: s.Calls, Traps: s.Traps, Malformed: s.Malformed, Recycled: s.Recycled, Made: s.Made, Stalled: s.Stalled,
	}
}

// engineErrorKind names an error of an engine in words of ours.
func engineErrorKind(err error) string {
	for _, kind := range []struct {
		err  error
		name string
	}{
		{wasm.ErrTrap, "trap"},
		{wasm.ErrMemory, "no memory"},
		{wasm.ErrMalformed, "malformed answer"},
		{wasm.ErrClosed, "closed"},
		{wasm.ErrTooLarge, "request too large"},
		{errCorePanicked, "panic of the core"},
	} {
		if errors.Is(err, kind.err) {
			return kind.name
		}
	}
	return "other"
}

// operationName returns the name of an operation for a metric.
func operationName(number uint32) string {
	for _, op := range ops.Table() {
		if op.Number == number {
			return op.Name
		}
	}
	return "unknown"
}
