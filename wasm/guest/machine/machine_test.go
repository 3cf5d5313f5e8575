package machine

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/podfate/podfate/policy"
)

func TestAllocLimits(t *testing.T) {
	var m Machine
	for _, n := range []int{0, -1, -1 << 31, policy.MaxBufferBytes + 1, 1<<31 - 1} {
		if p := m.Alloc(n); p != 0 {
			t.Errorf("alloc(%d) = %#x, want 0", n, p)
		}
	}
	if m.Alloc(policy.MaxBufferBytes) == 0 {
		t.Error("all the bytes that may be held were refused")
	}
	if m.Alloc(1) != 0 {
		t.Error("one byte more than may be held was given")
	}
	m.Reset()
	for i := range policy.MaxBuffers {
		if m.Alloc(1) == 0 {
			t.Fatalf("buffer %d of %d refused", i+1, policy.MaxBuffers)
		}
	}
	if m.Alloc(1) != 0 {
		t.Errorf("buffer %d was given", policy.MaxBuffers+1)
	}
}

// TestHeldBytesBalance frees in another order than it allocated, so that a slip in the accounts
// would add up.
func TestHeldBytesBalance(t *testing.T) {
	var m Machine
	for round := range 1000 {
		var starts []uintptr
		for i := range 40 {
			starts = append(starts, m.Alloc(1+(round*31+i*977)%5000))
		}
		for i := range starts {
			if m.Free(starts[(i*7)%len(starts)]) != 0 {
				t.Fatalf("round %d: live buffer %d not found", round, i)
			}
		}
	}
	if m.held != 0 || len(m.buffers) != 0 {
		t.Errorf("%d bytes in %d buffers are left", m.held, len(m.buffers))
	}
}

func TestBuffersAreZeroedAndAligned(t *testing.T) {
	var m Machine
	for _, n := range []int{1, 7, 8, 9, 4095, 1 << 20} {
		start := m.Alloc(n)
		if start == 0 || start%8 != 0 {
			t.Errorf("alloc(%d) = %#x, not 8-aligned", n, start)
		}
		b, ok := m.Bytes(start, uintptr(n))
		if !ok || len(b) != n || !bytes.Equal(b, make([]byte, n)) {
			t.Errorf("alloc(%d): not %d zero bytes", n, n)
		}
		for i := range b {
			b[i] = 0xFF // a buffer that reuses this memory has to be zeroed again
		}
		m.Free(start)
	}
}

func TestFreeKnowsItsOwn(t *testing.T) {
	var m Machine
	start := m.Alloc(64)
	for _, wrong := range []uintptr{0, 1, start + 1, start + 8, start - 8, ^uintptr(0)} {
		if m.Free(wrong) != -badBuffer {
			t.Errorf("free(%#x) succeeded, only %#x is live", wrong, start)
		}
	}
	if m.Free(start) != 0 {
		t.Error("the live buffer was not found")
	}
	if m.Free(start) != -badBuffer {
		t.Error("freed twice")
	}
}

func TestViewStaysInside(t *testing.T) {
	var m Machine
	start := m.Alloc(64)
	cases := []struct {
		name     string
		start, n uintptr
		ok       bool
	}{
		{"whole buffer", start, 64, true},
		{"part of it", start + 8, 16, true},
		{"nothing at its end", start + 64, 0, true},
		{"one byte too many", start, 65, false},
		{"one byte past its end", start + 64, 1, false},
		{"before it", start - 1, 2, false},
		{"nowhere", 0, 0, false},
		{"length that wraps the address", start + 1, ^uintptr(0), false},
		{"length that wraps to the start", start, ^uintptr(0) - start + 1, false},
		{"highest address", ^uintptr(0), 1, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b, ok := m.Bytes(c.start, c.n)
			if ok != c.ok || ok && uintptr(len(b)) != c.n {
				t.Errorf("got %d bytes ok=%v, want ok=%v", len(b), ok, c.ok)
			}
		})
	}
	m.Free(start)
	if _, ok := m.Bytes(start, 1); ok {
		t.Error("a freed buffer can still be read")
	}
}

func TestCallKeepsItsAnswer(t *testing.T) {
	var m Machine
	start := m.Alloc(8)
	b, _ := m.Bytes(start, 2)
	copy(b, "{}")
	answer, failed := m.Call(1, start, 2)
	if failed || !json.Valid(answer) || &answer[0] != &m.answer[0] {
		t.Errorf("failed=%v, answer %s", failed, answer)
	}
	if answer, failed = m.Call(1, start, 9); !failed || string(answer) != errBadBuffer {
		t.Errorf("request past its buffer: %s", answer)
	}
	m.Free(start)
	if answer, failed = m.Call(1, start, 2); !failed || string(answer) != errBadBuffer {
		t.Errorf("request in a freed buffer: %s", answer)
	}
}

// TestDebtIsSettled holds that the estimate never lets the true amount of garbage pass a few times
// maxDebt.
func TestDebtIsSettled(t *testing.T) {
	var m Machine
	start := m.Alloc(1 << 10)
	b, _ := m.Bytes(start, 1<<10)
	copy(b, `{}`)
	for i := 2; i < len(b); i++ {
		b[i] = ' '
	}
	for range 2000 {
		m.Call(1, start, 1<<10)
		m.Settle()
		if m.debt >= maxDebt {
			t.Fatalf("debt %d after settle", m.debt)
		}
	}
	if m.collected == 0 {
		t.Error("2,000 calls and never a collection")
	}
}
