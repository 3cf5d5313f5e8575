package wasm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/sys"
)

const (
	abiMajor = 1

	errorFlag  = 1 << 31
	lengthMask = errorFlag - 1

	// minBufferBytes is the smallest request buffer asked for; larger ones are powers of two, so
	// that requests of growing size do not each ask for a new one.
	minBufferBytes = 4096
	// maxDiagnosticBytes is how much of what a trapped module printed goes into an error.
	maxDiagnosticBytes = 200
)

// The exports that a host uses, with parameters and results as api.ValueTypeNames.
var requiredExports = map[string][2][]api.ValueType{
	"pf_abi_version": {nil, {api.ValueTypeI32}},
	"pf_alloc":       {{api.ValueTypeI32}, {api.ValueTypeI32}},
	"pf_free":        {{api.ValueTypeI32}, {api.ValueTypeI32}},
	"pf_call":        {{api.ValueTypeI32, api.ValueTypeI32, api.ValueTypeI32}, {api.ValueTypeI64}},
	"pf_compile":     {{api.ValueTypeI32, api.ValueTypeI32}, {api.ValueTypeI64}},
	"pf_release":     {{api.ValueTypeI32}, {api.ValueTypeI32}},
	"pf_eval":        {{api.ValueTypeI32, api.ValueTypeI32, api.ValueTypeI32}, {api.ValueTypeI64}},
	"pf_eval_batch":  {{api.ValueTypeI32, api.ValueTypeI32, api.ValueTypeI32, api.ValueTypeI32, api.ValueTypeI32}, {api.ValueTypeI32}},
	"pf_reset":       {nil, {api.ValueTypeI32}},
}

// instance is one module instance with its own memory. It serves one caller at a time: two at once
// would not only trap, they would get each other's answers. The pool sees to that; busy finds a
// pool that does not.
type instance struct {
	id     uint64
	busy   atomic.Bool
	module api.Module
	memory api.Memory

	callFn, compileFn, releaseFn, evalFn, batchFn, allocFn, freeFn api.Function

	stack [5]uint64 // parameters and results, kept so that a call allocates nothing for them

	buffer   uint32 // address of the request buffer
	capacity uint32 // its size
	calls    int
	suspect  bool // the module reported an impossible state
	policies compiled
}

// newInstance instantiates the module, runs _initialize and checks the version of the ABI before
// anything else is called.
func (h *Host) newInstance() (*instance, error) {
	var i *instance
	ctx, memory := h.options.allocate(context.Background())
	err := guarded("starting an instance", func() error {
		// No name, because two modules of one name cannot live together; no clock, no files,
		// nothing is configured.
		config := wazero.NewModuleConfig().WithName("").WithStartFunctions("_initialize")
		module, err := h.runtime.InstantiateModule(ctx, h.compiled, config)
		if err != nil {
			return err
		}
		i = &instance{id: h.lastID.Add(1), module: module}
		return i.bind(ctx)
	})
	if err != nil {
		if i != nil {
			i.close()
		}
		return nil, memory.failed(err)
	}
	return i, nil
}

// bind looks up the exports and checks them and the version.
func (i *instance) bind(ctx context.Context) error {
	for name, want := range requiredExports {
		fn := i.module.ExportedFunction(name)
		if fn == nil {
			return fmt.Errorf("%w: no function %s", ErrABI, name)
		}
		d := fn.Definition()
		if !slices.Equal(d.ParamTypes(), want[0]) || !slices.Equal(d.ResultTypes(), want[1]) {
			return fmt.Errorf("%w: %s has another signature", ErrABI, name)
		}
	}
	if i.memory = i.module.ExportedMemory("memory"); i.memory == nil {
		return fmt.Errorf("%w: no memory", ErrABI)
	}
	for name, fn := range map[string]*api.Function{
		"pf_call": &i.callFn, "pf_compile": &i.compileFn, "pf_release": &i.releaseFn, "pf_eval": &i.evalFn,
		"pf_eval_batch": &i.batchFn, "pf_alloc": &i.allocFn, "pf_free": &i.freeFn,
	} {
		*fn = i.module.ExportedFunction(name)
	}
	if err := i.module.ExportedFunction("pf_abi_version").CallWithStack(ctx, i.stack[:]); err != nil {
		return fmt.Errorf("%w: pf_abi_version: %w", ErrABI, firstLine(err))
	}
	if version := uint32(i.stack[0]); version>>16 != abiMajor {
		return fmt.Errorf("%w: version %d.%d, this host speaks %d", ErrABI, version>>16, version&0xFFFF, abiMajor)
	}
	return nil
}

// enter notes that a caller has i until leave.
func (i *instance) enter() {
	if !i.busy.CompareAndSwap(false, true) {
		panic("wasm: one instance in two calls at once")
	}
	i.calls++
}

func (i *instance) leave() { i.busy.Store(false) }

// call runs one operation and returns a copy of the answer, after checking all that the module said
// about it.
func (i *instance) call(ctx context.Context, op uint32, request []byte) (Answer, error) {
	if err := i.place(ctx, request); err != nil {
		return Answer{}, err
	}
	i.stack = [5]uint64{uint64(op), uint64(i.buffer), uint64(len(request))}
	return i.answer(ctx, i.callFn)
}

// place writes a request into the buffer.
func (i *instance) place(ctx context.Context, request []byte) error {
	if err := i.reserve(ctx, len(request)); err != nil {
		return err
	}
	if !i.memory.Write(i.buffer, request) {
		return fmt.Errorf("%w: the buffer at %d of %d bytes lies outside the memory", ErrMalformed, i.buffer, i.capacity)
	}
	return nil
}

// answer calls an export that returns a result word, with what lies in the stack.
func (i *instance) answer(ctx context.Context, fn api.Function) (Answer, error) {
	if err := fn.CallWithStack(ctx, i.stack[:]); err != nil {
		return Answer{}, i.trapped(ctx, err)
	}
	return i.read(i.stack[0])
}

// reserve makes the request buffer at least n bytes large.
func (i *instance) reserve(ctx context.Context, n int) error {
	if n <= int(i.capacity) && i.capacity > 0 {
		return nil
	}
	if i.buffer != 0 {
		i.stack[0] = uint64(i.buffer)
		if err := i.freeFn.CallWithStack(ctx, i.stack[:]); err != nil {
			return i.trapped(ctx, err)
		}
		if result := int32(i.stack[0]); result != 0 {
			return fmt.Errorf("%w: pf_free said %d to a live buffer", ErrMalformed, result)
		}
	}
	i.buffer, i.capacity = 0, 0
	size := max(minBufferBytes, 1<<bits.Len(uint(max(n, 1)-1)))
	i.stack[0] = uint64(size)
	if err := i.allocFn.CallWithStack(ctx, i.stack[:]); err != nil {
		return i.trapped(ctx, err)
	}
	start := uint32(i.stack[0])
	if start == 0 || start%8 != 0 || uint64(start)+uint64(size) > uint64(i.memory.Size()) {
		return fmt.Errorf("%w: pf_alloc of %d bytes gave %d", ErrMalformed, size, start)
	}
	i.buffer, i.capacity = start, uint32(size)
	return nil
}

// read copies the answer that a result word points at. Nothing the word or the bytes say is
// believed unchecked.
func (i *instance) read(word uint64) (Answer, error) {
	start, length, failed := uint32(word>>32), uint32(word)&lengthMask, word&errorFlag != 0
	if length == 0 || length > MaxAnswerBytes {
		return Answer{}, fmt.Errorf("%w: %d bytes, expected 1 to %d", ErrMalformed, length, MaxAnswerBytes)
	}
	if start < i.buffer+i.capacity && uint64(i.buffer) < uint64(start)+uint64(length) {
		return Answer{}, fmt.Errorf("%w: the answer at %d overlaps the request at %d", ErrMalformed, start, i.buffer)
	}
	view, ok := i.memory.Read(start, length)
	if !ok {
		return Answer{}, fmt.Errorf("%w: %d bytes at %d, the memory has %d", ErrMalformed, length, start, i.memory.Size())
	}
	answer := bytes.Clone(view)
	switch {
	case !utf8.Valid(answer):
		return Answer{}, fmt.Errorf("%w: not UTF-8", ErrMalformed)
	case !validObject(answer):
		return Answer{}, fmt.Errorf("%w: not a JSON object", ErrMalformed)
	case failed != bytes.HasPrefix(answer, []byte(`{"error":{"code":"`)):
		return Answer{}, fmt.Errorf("%w: error flag %v and payload disagree", ErrMalformed, failed)
	}
	i.suspect = failed && bytes.HasPrefix(answer, []byte(`{"error":{"code":"INTERNAL"`))
	return Answer{JSON: answer, Failed: failed, Instance: i.id}, nil
}

// worn reports whether the instance has served long enough, has grown too large, or is not to be
// trusted.
func (i *instance) worn(o Options) bool {
	return i.suspect || i.calls >= o.MaxCalls || i.memory.Size()>>16 > uint32(o.MaxPages)
}

// trapped describes a trap, with the first line of what the runtime of the module printed.
func (i *instance) trapped(ctx context.Context, err error) error {
	if exit := (*sys.ExitError)(nil); errors.As(err, &exit) && ctx.Err() != nil {
		return fmt.Errorf("%w: interrupted: %w", ErrTrap, ctx.Err())
	}
	return fmt.Errorf("%w: %w, having printed %q", ErrTrap, firstLine(err), i.diagnostic())
}

// diagnostic returns the first line that the module has printed, cut to a length fit for a log.
func (i *instance) diagnostic() string {
	start, length := i.module.ExportedGlobal("pf_diag"), i.module.ExportedGlobal("pf_diag_len")
	if start == nil || length == nil {
		return ""
	}
	text, _ := i.memory.Read(uint32(start.Get()), min(uint32(length.Get()), maxDiagnosticBytes))
	line, _, _ := strings.Cut(string(text), "\n")
	return line
}

func (i *instance) close() { _ = i.module.Close(context.Background()) }

// firstLine keeps the first line of what wazero says: the others are the stack of the module.
func firstLine(err error) error {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return errors.New(line)
}
