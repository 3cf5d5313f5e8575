package wasm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"

	"github.com/podfate/podfate/policy/policytest"
)

// The operations of guest/machine/traps.go.
const (
	trapNilMap  = 0xF001
	trapIndex   = 0xF002
	trapStack   = 0xF003
	trapMemory  = 0xF004
	trapLoop    = 0xF005
	trapGrow    = 0xF006
	trapTattoo  = 0xF007
	trapRecover = 0xF008
	trapGarbage = 0xF009
	trapLong    = 0xF00A
)

// TestTrappedInstanceIsGone writes a secret into an instance and makes it trap in each way there
// is. After that neither the instance nor the secret is ever met again, and the next answers are
// right.
func TestTrappedInstanceIsGone(t *testing.T) {
	secret := []byte("tattoo-6f0d1c5e9a")
	for _, engine := range engines {
		t.Run(engine.name, func(t *testing.T) {
			compilerIsEnough(t, engine.interpreter)
			h := newHost(t, trapping(t, Options{Interpreter: engine.interpreter, Instances: 1}))
			for _, trap := range []struct {
				name  string
				op    uint32
				print string
			}{
				{"write to a nil map", trapNilMap, "assignment to entry in nil map"},
				{"index out of range", trapIndex, "bounds out of range"},
				{"stack overflow", trapStack, ""}, // whether the stack or the memory ends first depends on the engine
				{"out of memory", trapMemory, "out of memory"},
			} {
				t.Run(trap.name, func(t *testing.T) {
					marked, err := h.Call(t.Context(), trapTattoo, secret)
					if err != nil {
						t.Fatal(err)
					}
					if !tattooed(h, secret) {
						t.Fatal("the secret cannot be found where it was put")
					}
					_, err = h.Call(t.Context(), trap.op, []byte(`{}`))
					if !errors.Is(err, ErrTrap) || !strings.Contains(err.Error(), trap.print) {
						t.Errorf("error %v, want a trap with %q", err, trap.print)
					}
					for range 20 {
						answer, err := h.Call(t.Context(), 1, []byte(`{}`))
						if err != nil || answer.Failed {
							t.Fatalf("after the trap: %s %v", answer.JSON, err)
						}
						if answer.Instance == marked.Instance {
							t.Fatal("the trapped instance answered")
						}
					}
					if tattooed(h, secret) {
						t.Error("the secret is still in a memory that serves callers")
					}
				})
			}
		})
	}
}

// tattooed searches all memory that a later caller could meet.
func tattooed(h *Host, secret []byte) bool {
	h.pool.mu.Lock()
	defer h.pool.mu.Unlock()
	for _, i := range h.pool.idle {
		if all, _ := i.memory.Read(0, i.memory.Size()); bytes.Contains(all, secret) {
			return true
		}
	}
	return false
}

func TestEndlessLoopIsInterrupted(t *testing.T) {
	policytest.Quick(t, "it waits for a loop without end")
	for _, engine := range engines {
		t.Run(engine.name, func(t *testing.T) {
			compilerIsEnough(t, engine.interpreter)
			h := newHost(t, trapping(t, Options{Interpreter: engine.interpreter, Instances: 1, Interruptible: true}))
			first, err := h.Call(t.Context(), 1, []byte(`{}`))
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 20e6)
			defer cancel()
			if _, err := h.Call(ctx, trapLoop, nil); !errors.Is(err, ErrTrap) || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error %v, want an interrupted trap", err)
			}
			next, err := h.Call(t.Context(), 1, []byte(`{}`))
			if err != nil || next.Instance == first.Instance {
				t.Errorf("after the loop: instance %d, %v", next.Instance, err)
			}
		})
	}
}

func TestPanicIsAnAnswer(t *testing.T) {
	h := newHost(t, trapping(t, Options{Interpreter: true, Instances: 1}))
	first, err := h.Call(t.Context(), trapRecover, []byte(`{}`))
	if err != nil || !first.Failed || !bytes.Contains(first.JSON, []byte(`"code":"INTERNAL","num":9`)) {
		t.Fatalf("%s %v", first.JSON, err)
	}
	next, err := h.Call(t.Context(), 1, []byte(`{}`))
	if err != nil || next.Instance == first.Instance {
		t.Errorf("after INTERNAL: instance %d again, %v", next.Instance, err)
	}
}

func TestAnswerOverTheLimit(t *testing.T) {
	h := newHost(t, trapping(t, Options{Interpreter: true, Instances: 1}))
	if _, err := h.Call(t.Context(), trapLong, nil); !errors.Is(err, ErrMalformed) {
		t.Errorf("5 MiB: %v", err)
	}
}

// TestMemoryIsBounded grows an instance until it traps and looks at how far it came.
func TestMemoryIsBounded(t *testing.T) {
	h := newHost(t, trapping(t, Options{Instances: 1, MaxPages: MaxMemoryPages}))
	most := uint32(0)
	var err error
	for err == nil {
		h.pool.mu.Lock()
		for _, i := range h.pool.idle {
			most = max(most, i.memory.Size()>>16)
		}
		h.pool.mu.Unlock()
		_, err = h.Call(t.Context(), trapGrow, []byte("1"))
	}
	if !errors.Is(err, ErrTrap) || most > MaxMemoryPages || most < MaxMemoryPages/2 {
		t.Errorf("%d pages, then %v", most, err)
	}
}

func TestLargeInstanceIsReplaced(t *testing.T) {
	h := newHost(t, trapping(t, Options{Instances: 1}))
	large, err := h.Call(t.Context(), trapGrow, []byte("16"))
	if err != nil {
		t.Fatal(err)
	}
	next, err := h.Call(t.Context(), 1, []byte(`{}`))
	if err != nil || next.Instance == large.Instance || h.Stats().Recycled != 1 {
		t.Errorf("instance %d after %d, %+v, %v", next.Instance, large.Instance, h.Stats(), err)
	}
}

// TestMemoryStaysSmall makes an instance leave garbage behind for millions of calls.
func TestMemoryStaysSmall(t *testing.T) {
	policytest.Quick(t, "millions of calls")
	calls := 2_000_000
	h := newHost(t, trapping(t, Options{Instances: 1, MaxCalls: 1 << 30}))
	run := func(what string, n int, op uint32, request []byte) {
		t.Helper()
		var last uint64
		for range n {
			answer, err := h.Call(t.Context(), op, request)
			if err != nil {
				t.Fatal(err)
			}
			last = answer.Instance
		}
		h.pool.mu.Lock()
		defer h.pool.mu.Unlock()
		for _, i := range h.pool.idle {
			if bytes := i.memory.Size(); i.id == last && bytes > 8<<20 {
				t.Errorf("%s: %d bytes of memory, at most 8 MiB wanted", what, bytes)
			} else if i.id == last {
				t.Logf("%d times %s: %d bytes of memory", n, what, bytes)
			}
		}
	}
	run("1 KiB of garbage", calls, trapGarbage, nil)
	run("a decision", 10_000, 3, decideRequest(0))
	run("a decision with 20 containers", 1_000, 3, decideRequest(20))
	if s := h.Stats(); s.Made != 2 {
		t.Errorf("the instance was replaced: %+v", s)
	}
}

// TestLargestRequests holds that no request within the limits runs out of memory, however it is
// built.
func TestLargestRequests(t *testing.T) {
	policytest.Quick(t, "its requests are as large as they may be")
	fill := func(head, unit, tail string) []byte {
		n := (MaxRequestBytes - len(head) - len(tail)) / len(unit)
		body := strings.Repeat(unit, n)
		return []byte(head + strings.TrimSuffix(body, ",") + tail)
	}
	unique := func(n int) []byte {
		b := []byte(`{"manifest":{`)
		for i := 0; len(b) < n-32; i++ {
			b = fmt.Appendf(b, `"%x":0,`, i)
		}
		return append(b[:len(b)-1], `}}`...)
	}
	all := map[string][]byte{
		"numbers":           fill(`{"manifest":[`, `0,`, `]}`),
		"empty objects":     fill(`{"manifest":[`, `{},`, `]}`),
		"empty arrays":      fill(`[`, `[],`, `]`),
		"one name":          fill(`{"manifest":{`, `"":0,`, `}}`),
		"different names":   unique(MaxRequestBytes),
		"names in 256 KiB":  unique(policyManifestBytes),
		"one long string":   fill(`{"manifest":"`, `x`, `"}`),
		"escapes":           fill(`{"manifest":"`, `\u0000`, `"}`),
		"unknown members":   fill(`{`, `"<":"<",`, `"a":0}`),
		"exits":             fill(`{"manifest":{},"exits":[`, `{"exitCode":1},`, `]}`),
		"unknown members 2": fill(`{"manifest":{"apiVersion":"v1","kind":"Pod"},"exits":[`, `{"<>&":"<>&"},`, `]}`),
		"all in strings":    fill(`{"cluster":{"version":"`, "\u2028", `"}}`),
		"broken at the end": fill(`{"manifest":[`, `{"a":[]},`, ``),
		"containers":        decideRequest(400),
	}
	h := newHost(t, Options{Instances: 1})
	for name, request := range all {
		for _, op := range []uint32{2, 3} { // the second in memory that has been used, unless the first used too much
			answer, err := h.Call(t.Context(), op, request)
			if err != nil {
				t.Errorf("%s, operation %d: %v", name, op, err)
			} else if bytes.Contains(answer.JSON, []byte(`"code":"INTERNAL"`)) {
				t.Errorf("%s, operation %d: %s", name, op, answer.JSON)
			}
		}
	}
	t.Logf("%+v", h.Stats())
}

const policyManifestBytes = 256 << 10

// TestEveryTrapIsReplaced traps often and counts. With PODFATE_LONG set it does so 10,000 times.
func TestEveryTrapIsReplaced(t *testing.T) {
	n := uint64(300)
	if os.Getenv("PODFATE_LONG") != "" {
		n = 10_000
	}
	h := newHost(t, trapping(t, Options{Instances: 2}))
	ids := map[uint64]bool{}
	for range n {
		if _, err := h.Call(t.Context(), trapNilMap, nil); !errors.Is(err, ErrTrap) {
			t.Fatal(err)
		}
		answer, err := h.Call(t.Context(), 1, []byte(`{}`))
		if err != nil {
			t.Fatal(err)
		}
		ids[answer.Instance] = true
	}
	if err := h.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	s := h.Stats()
	if s.Traps != n || s.Made < n || s.Made > n+3 || s.Running != 0 {
		t.Errorf("%d traps: %+v", n, s)
	}
}

// TestEveryMemoryLimit runs the module with every maximum from where it starts to 64 pages more:
// each gives the right answer or a clean error, never a wrong answer.
func TestEveryMemoryLimit(t *testing.T) {
	policytest.Quick(t, "each limit has an instance of its own")
	request := decideRequest(20)
	full := newHost(t, Options{Instances: 1})
	want, err := full.Call(t.Context(), 3, request)
	if err != nil {
		t.Fatal(err)
	}
	cache := wazero.NewCompilationCache() // one compilation for all
	defer cache.Close(context.Background())
	right, start := 0, full.pool.idle[0].memory.Definition()
	for pages := start.Min(); pages <= start.Min()+64; pages++ {
		h, err := New(t.Context(), Options{Instances: 1, memoryPages: pages, sharedCache: cache})
		if err != nil {
			continue // it could not start
		}
		for range 5 {
			got, err := h.Call(t.Context(), 3, request)
			if err == nil && !bytes.Equal(got.JSON, want.JSON) {
				t.Fatalf("%d pages: %.200s", pages, got.JSON)
			}
			if err != nil && !errors.Is(err, ErrTrap) {
				break // a new instance could not start
			}
			if err == nil {
				right++
			}
		}
		h.Close(t.Context())
	}
	if right == 0 {
		t.Error("no limit gave an answer")
	}
	t.Logf("%d right answers", right)
}
