package wasm

import (
	"bytes"
	"errors"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"

	"github.com/podfate/podfate/policy/policytest"
)

func TestFreedMemoryIsEmpty(t *testing.T) {
	for name, discard := range map[string]func([]byte) error{
		"discarded":                         nil,
		"cleared, since the system refuses": func([]byte) error { return syscall.EINVAL },
	} {
		t.Run(name, func(t *testing.T) {
			m := mappings{free: map[int][][]byte{}, discard: discard}
			const most = 1 << 20
			first := m.Allocate(0, most)
			view := first.Reallocate(1 << 16)
			copy(view, "secret")
			if grown := first.Reallocate(2 << 16); !bytes.HasPrefix(grown, []byte("secret")) || &grown[0] != &view[0] {
				t.Error("memory that grows has moved")
			}
			if first.Reallocate(most+1) != nil {
				t.Error("it grows beyond its maximum")
			}
			first.Free()
			first.Free()
			if view[0] != 0 {
				t.Error("a view of freed memory still shows what was there")
			}
			again := m.Allocate(0, most).Reallocate(most)
			if &again[0] != &view[0] {
				t.Error("the mapping is not used again")
			}
			if len(bytes.Trim(again, "\x00")) > 0 {
				t.Error("memory of a new instance is not empty")
			}
			if other := m.Allocate(0, most).Reallocate(most); &other[0] == &again[0] {
				t.Error("two instances have one mapping")
			}
		})
	}
}

// nth fails once, when it is asked for the nth time.
type nth struct{ n, asked atomic.Int64 }

func (f *nth) err() error {
	if f.asked.Add(1) == f.n.Load() {
		return syscall.ENOMEM
	}
	return nil
}

// failing returns memory whose nth mapping, or whose nth growth, fails; 0 for none.
func failing() (m *mappings, mmap, grow *nth) {
	mmap, grow = new(nth), new(nth)
	m = &mappings{free: map[int][][]byte{}, grow: func(uint64) error { return grow.err() }}
	m.mmap = func(size int) ([]byte, error) {
		if err := mmap.err(); err != nil {
			return nil, err
		}
		return mapped(size)
	}
	return m, mmap, grow
}

// inUse counts the mappings that are not free again.
func (m *mappings) inUse(made int64) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, list := range m.free {
		made -= int64(len(list))
	}
	return int(made)
}

// TestEachAllocationFailsInTurn (R-S1) lets each mapping and each growth fail that New and a few
// calls ask for: it is an error, never a panic, nothing is lost, and the next one works.
func TestEachAllocationFailsInTurn(t *testing.T) {
	policytest.Quick(t, "a host is made for each allocation")
	cache := wazero.NewCompilationCache()
	defer cache.Close(t.Context())
	const instances = 2
	for _, what := range []string{"mapping", "growth"} {
		t.Run(what, func(t *testing.T) {
			failures := 0
			for n := int64(1); ; n++ {
				m, mmap, grow := failing()
				which := map[string]*nth{"mapping": mmap, "growth": grow}[what]
				which.n.Store(n)
				met := askWith(t, m, Options{Instances: instances, MaxCalls: 2, sharedCache: cache, allocator: m})
				made := mmap.asked.Load()
				if met != nil && what == "mapping" {
					made--
				}
				if left := m.inUse(made); left != 0 {
					t.Errorf("%s %d: %d mappings are lost", what, n, left)
				}
				if which.asked.Load() < n {
					break
				}
				failures++
				if met != nil && !errors.Is(met, ErrMemory) && !errors.Is(met, ErrTrap) {
					t.Errorf("%s %d: %v", what, n, met)
				}
				if met != nil && strings.Contains(met.Error(), "\n") {
					t.Errorf("%s %d: an error of several lines: %v", what, n, met)
				}
			}
			t.Logf("%d failures", failures)
			if failures < instances+spares {
				t.Errorf("only %d failures were met", failures)
			}
		})
	}
}

// askWith makes a host and asks it until it has replaced instances. It returns the last error that
// it met.
func askWith(t *testing.T, m *mappings, o Options) (met error) {
	t.Helper()
	h, err := New(t.Context(), o)
	if err != nil {
		return err
	}
	defer func() {
		if err := h.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	answered := 0
	for range 12 {
		a, err := h.Call(t.Context(), 1, []byte("{}"))
		switch {
		case err != nil:
			met = err
		case a.Failed:
			t.Errorf("%s", a.JSON)
		default:
			answered++
		}
		for wait := 0; h.Stats().Ready < o.Instances && wait < 50; wait++ { // the background may be refilling
			time.Sleep(time.Millisecond)
		}
	}
	if answered < 11 {
		t.Errorf("only %d calls of 12 were answered, the last error: %v", answered, met)
	}
	return met
}

// TestNoMemoryIsNotForever: while there is none each call is an error, and afterwards none.
func TestNoMemoryIsNotForever(t *testing.T) {
	none := atomic.Bool{}
	m := &mappings{free: map[int][][]byte{}, discard: func(b []byte) error { clear(b); return nil }}
	m.mmap = func(size int) ([]byte, error) {
		if none.Load() {
			return nil, syscall.ENOMEM
		}
		return mapped(size)
	}
	h, err := New(t.Context(), Options{Interpreter: true, Instances: 1, MaxCalls: 1, allocator: m})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close(t.Context())
	none.Store(true)
	m.mu.Lock()
	m.free = map[int][][]byte{}
	m.mu.Unlock()
	before := runtime.NumGoroutine()
	refused := 0
	for range 20 {
		_, err := h.Call(t.Context(), 1, []byte("{}"))
		if errors.Is(err, ErrMemory) {
			refused++
		} else if err != nil {
			t.Error(err)
		}
		m.mu.Lock()
		m.free = map[int][][]byte{} // what is given back is not there either
		m.mu.Unlock()
	}
	if refused == 0 {
		t.Error("no call was refused: this test proves nothing")
	}
	if after := runtime.NumGoroutine(); after > before {
		t.Errorf("%d goroutines, before %d", after, before)
	}
	none.Store(false)
	if _, err := h.Call(t.Context(), 1, []byte("{}")); err != nil {
		t.Error(err)
	}
}

// TestEachOpenFailsInTurn lets a host with a cache directory run out of descriptors at each file
// that it opens.
func TestEachOpenFailsInTurn(t *testing.T) {
	f := honest()
	dir := cacheDir(t)
	o := f.options()
	o.CacheDir = dir
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	restore := func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
			t.Fatal(err)
		}
	}
	defer restore()
	lowest := func() uint64 { // the descriptor that the next open gets
		file, err := os.Open(os.DevNull)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		return uint64(file.Fd())
	}()
	failures := 0
	for spare := uint64(0); spare < 8; spare++ {
		for _, state := range []string{"without code", "with code"} {
			if state == "without code" {
				if err := os.RemoveAll(dir); err != nil {
					t.Fatal(err)
				}
			}
			few := before
			few.Cur = lowest + spare
			if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few); err != nil {
				t.Fatal(err)
			}
			h, err := New(t.Context(), o)
			restore()
			switch {
			case err == nil:
				if err := h.Close(t.Context()); err != nil {
					t.Error(err)
				}
			case !errors.Is(err, syscall.EMFILE) && !strings.Contains(err.Error(), "too many open files"):
				t.Errorf("%d descriptors, %s: %v", spare, state, err)
			default:
				failures++
			}
			if h, err := New(t.Context(), o); err != nil {
				t.Errorf("%d descriptors, %s: afterwards: %v", spare, state, err)
			} else {
				h.Close(t.Context())
			}
		}
	}
	if failures == 0 {
		t.Error("nothing failed: this test proves nothing")
	}
	t.Logf("%d failures", failures)
}
