package wasm

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/tetratelabs/wazero/experimental"
)

// noMemory is what a memory allocator panics with when the system gives none.
type noMemory struct{ err error }

func (e noMemory) Error() string { return "no memory for an instance: " + e.err.Error() }
func (e noMemory) Unwrap() error { return e.err }

// guarded runs f, which calls wazero, and makes an error of a panic: wazero panics when the system
// gives no memory for machine code, and an allocator has no other way to say so. Errors about
// memory wrap [ErrMemory].
func guarded(what string, f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			if cause, ok := v.(error); ok {
				err = cause
			} else {
				err = fmt.Errorf("panic: %v", v)
			}
		}
		switch {
		case err == nil || errors.Is(err, ErrABI) || errors.Is(err, ErrCacheDir):
		case errors.As(err, new(noMemory)) || errors.Is(err, syscall.ENOMEM) || errors.Is(err, syscall.EAGAIN):
			err = fmt.Errorf("%w: %s: %w", ErrMemory, what, firstLine(err))
		default:
			err = fmt.Errorf("wasm: %s: %w", what, firstLine(err))
		}
	}()
	return f()
}

// allocation is the memory allocator for one instance, and its memory. It remembers what the
// instance was given, which wazero loses when it panics half-way, and whether it was refused more.
type allocation struct {
	experimental.LinearMemory
	from    experimental.MemoryAllocator
	refused bool
}

// allocate returns the context in which an instance is made, with its allocation; nil where memory
// is on Go's heap.
func (o Options) allocate(ctx context.Context) (context.Context, *allocation) {
	if o.allocator == nil {
		return ctx, nil
	}
	a := &allocation{from: o.allocator}
	return experimental.WithMemoryAllocator(ctx, a), a
}

// Allocate implements experimental.MemoryAllocator.
func (a *allocation) Allocate(atFirst, most uint64) experimental.LinearMemory {
	a.LinearMemory = a.from.Allocate(atFirst, most)
	return a
}

// Reallocate implements experimental.LinearMemory.
func (a *allocation) Reallocate(size uint64) []byte {
	b := a.LinearMemory.Reallocate(size)
	a.refused = a.refused || b == nil
	return b
}

// failed gives the memory back, if wazero has not, and returns why the instance could not be made.
func (a *allocation) failed(err error) error {
	if a == nil {
		return err
	}
	if a.LinearMemory != nil {
		a.Free()
	}
	if a.refused {
		return fmt.Errorf("%w: %w", ErrMemory, err)
	}
	return err
}
