package wasm

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"
)

//go:embed policy.wasm
var policyModule []byte

//go:embed policy.wasm.sha256
var policySum string

// Limits of the host. The arithmetic is in the documentation of the package.
const (
	// MaxRequestBytes bounds a request; a longer one is ErrTooLarge.
	MaxRequestBytes = 1 << 20
	// MaxAnswerBytes bounds an answer; a longer one is ErrMalformed.
	MaxAnswerBytes = 4 << 20
	// MaxMemoryPages bounds the memory of an instance, in pages of 64 KiB.
	MaxMemoryPages = 1024

	defaultInstances = 4
	defaultMaxCalls  = 100_000
	defaultMaxPages  = 256
	spares           = 1
)

// Module returns a copy of the shipped module.
func Module() []byte { return append([]byte(nil), policyModule...) }

// Size returns the length of the shipped module in bytes, without the copy.
func Size() int { return len(policyModule) }

// SHA256 returns the digest of the shipped module in lower-case hexadecimal, as policy.wasm.sha256
// has it.
func SHA256() string { return strings.Fields(policySum)[0] }

// Options says how a [Host] runs the module. The zero value is ready for use.
type Options struct {
	// Interpreter runs the module without compiling it: ready sooner, some thirty times slower.
	// Where wazero has no compiler it is the only way and taken without asking.
	Interpreter bool
	// CacheDir keeps compiled code between runs of the program; empty means in memory only. Whoever
	// can write in the directory runs code in this process, so New makes it with mode 0700 and
	// refuses one that others can write or read, that someone else owns, or (where owners cannot be
	// told) any.
	CacheDir string
	// Instances is how many calls run at once; 0 means one per processor, at most 4. Each may use
	// 64 MiB.
	Instances int
	// Interruptible ends a running call when its context ends. Each loop of the module then asks
	// whether it should stop, which makes it 7 to 26 times slower. Without it a context only bounds
	// the wait for an instance.
	Interruptible bool
	// MaxCalls replaces an instance after that many calls; 0 means 100,000.
	MaxCalls int
	// MaxPages replaces an instance whose memory has grown beyond that many pages of 64 KiB; 0
	// means 256. Memory of an instance never shrinks.
	MaxPages int
	// Module is another module than the shipped one; nil means the shipped one.
	Module []byte
	// SHA256 is the digest that Module must have, in hexadecimal; empty means that of the shipped
	// one.
	SHA256 string

	memoryPages uint32                  // for tests: instead of MaxMemoryPages
	sharedCache wazero.CompilationCache // for tests: compile once for many hosts
	allocator   experimental.MemoryAllocator
}

func (o Options) withDefaults() Options {
	if o.Instances <= 0 {
		o.Instances = min(runtime.GOMAXPROCS(0), defaultInstances)
	}
	if o.MaxCalls <= 0 {
		o.MaxCalls = defaultMaxCalls
	}
	if o.MaxPages <= 0 {
		o.MaxPages = defaultMaxPages
	}
	if o.Module == nil {
		o.Module = policyModule
	}
	if o.SHA256 == "" {
		o.SHA256 = SHA256()
	}
	if o.memoryPages == 0 {
		o.memoryPages = MaxMemoryPages
	}
	if o.allocator == nil {
		o.allocator = outsideHeap
	}
	return o
}

// Host runs one module in a pool of instances. It is safe for concurrent use.
type Host struct {
	options  Options
	runtime  wazero.Runtime
	compiled wazero.CompiledModule
	cache    wazero.CompilationCache // nil without a directory
	pool     *pool[*instance]
	lastID   atomic.Uint64
	counts   struct{ calls, traps, malformed, recycled atomic.Uint64 }
}

// Answer is what the module said to one request.
type Answer struct {
	JSON     []byte // one JSON object in UTF-8, of at most MaxAnswerBytes; a copy that belongs to the caller
	Failed   bool   // JSON is {"error":{…}}
	Instance uint64 // which instance answered, from 1; a number is never given twice by one Host
}

// Err returns what the module refused as an [*Error], nil if it did not.
func (a Answer) Err() error {
	if !a.Failed {
		return nil
	}
	return refusal(a.JSON, false)
}

// New compiles the module and makes the instances. Compiling takes about half a second on two
// cores; a host is meant to live as long as the program. ctx bounds nothing once New has returned.
//
// Errors: ErrDigest, ErrABI, ErrCacheDir, ErrMemory, or what wazero says to a module that is not
// valid.
func New(ctx context.Context, o Options) (*Host, error) {
	o = o.withDefaults()
	sum := sha256.Sum256(o.Module)
	if got := hex.EncodeToString(sum[:]); !strings.EqualFold(got, o.SHA256) {
		return nil, fmt.Errorf("%w: %s, expected %s", ErrDigest, got, o.SHA256)
	}
	h := &Host{options: o}
	if err := h.compile(ctx); err != nil {
		return nil, errors.Join(err, h.release())
	}
	pool, err := newPool(o.Instances, spares, h.newInstance, (*instance).close)
	if err != nil {
		return nil, errors.Join(err, h.release())
	}
	h.pool = pool
	return h, nil
}

// compile makes machine code of the module, once for all instances.
func (h *Host) compile(ctx context.Context) error {
	config := wazero.NewRuntimeConfig()
	if h.options.Interpreter {
		config = wazero.NewRuntimeConfigInterpreter()
	}
	config = config.WithMemoryLimitPages(h.options.memoryPages).WithCloseOnContextDone(h.options.Interruptible)
	if h.options.sharedCache != nil {
		config = config.WithCompilationCache(h.options.sharedCache)
	}
	if h.options.CacheDir != "" {
		if err := prepareCacheDir(h.options.CacheDir); err != nil {
			return err
		}
		if err := dropDamaged(h.options.CacheDir); err != nil {
			return err
		}
		cache, err := wazero.NewCompilationCacheWithDir(h.options.CacheDir)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrCacheDir, err)
		}
		h.cache = cache
		config = config.WithCompilationCache(cache)
	}
	err := guarded("compiling the module", func() (err error) {
		h.runtime = wazero.NewRuntimeWithConfig(ctx, config)
		h.compiled, err = h.runtime.CompileModule(ctx, h.options.Module)
		return err
	})
	if err != nil {
		return err
	}
	if h.cache != nil {
		if err := sumCode(h.options.CacheDir); err != nil {
			return err
		}
	}
	if imports := h.compiled.ImportedFunctions(); len(imports) > 0 {
		return fmt.Errorf("%w: it imports %d functions, a sealed module imports none", ErrABI, len(imports))
	}
	return nil
}

// Call runs operation op on request, a JSON object, in an instance that serves nobody else
// meanwhile. A nil error comes with an answer of the module, which may be an error of its own (see
// [Answer]).
//
// It waits for a free instance until ctx ends. After any error but ErrTooLarge, ErrBusy, ErrMemory
// and ErrClosed the instance is gone and a new one takes its place.
func (h *Host) Call(ctx context.Context, op uint32, request []byte) (Answer, error) {
	if len(request) > MaxRequestBytes {
		return Answer{}, fmt.Errorf("%w: %d bytes, at most %d allowed", ErrTooLarge, len(request), MaxRequestBytes)
	}
	var answer Answer
	err := h.lend(ctx, func(ctx context.Context, i *instance) (err error) {
		answer, err = i.call(ctx, op, request)
		return err
	})
	return answer, err
}

// lend runs use with an instance that serves nobody else meanwhile. The instance is gone if use
// returns an error that wraps ErrTrap or ErrMalformed; any other error is the request's.
func (h *Host) lend(ctx context.Context, use func(context.Context, *instance) error) error {
	i, err := h.pool.take(ctx)
	if err != nil {
		return err
	}
	keep := false
	defer func() { h.pool.give(i, keep) }() // also if wazero panics: then the instance is dropped
	h.counts.calls.Add(1)
	if !h.options.Interruptible {
		ctx = context.Background() // nothing looks at it, and wazero starts a goroutine for one that can end
	}
	i.enter()
	err = use(ctx, i)
	i.leave()
	switch {
	case errors.Is(err, ErrMalformed):
		h.counts.malformed.Add(1)
	case errors.Is(err, ErrTrap):
		h.counts.traps.Add(1)
	case i.worn(h.options):
		h.counts.recycled.Add(1)
	default:
		keep = true
	}
	return err
}

// Close refuses new calls, waits for those that run and frees everything. If ctx ends first its
// error is returned, and the rest is freed as soon as the last call returns: the code of a running
// call cannot be taken away.
func (h *Host) Close(ctx context.Context) error {
	return h.pool.close(ctx, h.release)
}

func (h *Host) release() error {
	var errs []error
	if h.runtime != nil {
		errs = append(errs, h.runtime.Close(context.Background()))
	}
	if h.cache != nil {
		errs = append(errs, h.cache.Close(context.Background()))
	}
	return errors.Join(errs...)
}

// Stats counts what a host has done since New.
type Stats struct {
	Calls     uint64 // that reached an instance
	Traps     uint64 // calls that trapped or were interrupted
	Malformed uint64 // calls whose answer was refused
	Recycled  uint64 // instances replaced because of age, size or an answer INTERNAL
	Made      uint64 // instances made, the first ones included
	Stalled   uint64 // calls that had to make their instance because no spare was ready
	Ready     int    // instances that wait for a call
	Running   int    // instances that serve a call
}

// Stats returns the counts at about this moment: they are read one by one while calls go on.
func (h *Host) Stats() Stats {
	s := Stats{
		Calls:     h.counts.calls.Load(),
		Traps:     h.counts.traps.Load(),
		Malformed: h.counts.malformed.Load(),
		Recycled:  h.counts.recycled.Load(),
	}
	h.pool.mu.Lock()
	defer h.pool.mu.Unlock()
	s.Made, s.Stalled, s.Ready, s.Running = h.pool.made, h.pool.stalled, len(h.pool.idle), h.pool.lent
	return s
}
