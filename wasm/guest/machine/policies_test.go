package machine

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"testing"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/packed"
)

// trainer is a Pod that restarts on 42 alone.
const trainer = `{"cluster":{"version":"1.36"},"manifest":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"restartPolicy":"Never","containers":[` +
	`{"name":"main","image":"i","restartPolicy":"Never","restartPolicyRules":[{"action":"Restart","exitCodes":{"operator":"In","values":[42]}}]}]}}}`

// lend writes text into a buffer of m.
func lend(t *testing.T, m *Machine, text string) (start, n uintptr) {
	t.Helper()
	start, n = m.Alloc(max(len(text), 1)), uintptr(len(text))
	view, ok := m.Bytes(start, n)
	if !ok {
		t.Fatalf("no buffer of %d bytes", n)
	}
	copy(view, text)
	return start, n
}

// head is what tests look at in an answer.
type head struct {
	Handle uint32
	Action string
	Error  struct{ Code, Limit string }
}

func read(t *testing.T, answer []byte, failed bool) (h head) {
	t.Helper()
	if err := json.Unmarshal(answer, &h); err != nil || failed != (h.Error.Code != "") {
		t.Fatalf("failed %v, %v: %s", failed, err, answer)
	}
	return h
}

// compiled compiles request and frees its buffer.
func compiled(t *testing.T, m *Machine, request string) head {
	t.Helper()
	start, n := lend(t, m, request)
	defer m.Free(start)
	answer, failed := m.Compile(start, n)
	return read(t, answer, failed)
}

// asked evaluates one exit.
func asked(t *testing.T, m *Machine, handle uint32, exit string) head {
	t.Helper()
	start, n := lend(t, m, exit)
	defer m.Free(start)
	answer, failed := m.Eval(handle, start, n)
	return read(t, answer, failed)
}

// TestHandlesAreGivenOnce: a policy that was released or reset is never answered for again,
// although its place is.
func TestHandlesAreGivenOnce(t *testing.T) {
	var m Machine
	const exit = `{"container":"main","exitCode":42}`
	given := map[uint32]bool{}
	for range 5 {
		var handles []uint32
		for range 3 {
			h := compiled(t, &m, trainer).Handle
			if given[h] || int32(h) <= 0 {
				t.Fatalf("handle %d was given before, or is not positive", h)
			}
			given[h] = true
			handles = append(handles, h)
			if got := asked(t, &m, h, exit); got.Action != "Restart" {
				t.Fatalf("handle %d: %+v", h, got)
			}
		}
		if got := m.Release(handles[1]); got != 0 {
			t.Fatalf("release: %d", got)
		}
		if got := m.Release(handles[1]); got != -5 {
			t.Errorf("second release: %d", got)
		}
		if got := asked(t, &m, handles[1], exit); got.Error.Code != "UNKNOWN_HANDLE" {
			t.Errorf("released: %+v", got)
		}
		if got := asked(t, &m, handles[2], exit); got.Action != "Restart" {
			t.Errorf("its neighbour: %+v", got)
		}
		m.Reset()
		for _, h := range handles {
			if got := asked(t, &m, h, exit); got.Error.Code != "UNKNOWN_HANDLE" || m.Release(h) != -5 {
				t.Errorf("after reset: %+v", got)
			}
		}
	}
	if m.compiled != 0 || len(m.places) != 3 {
		t.Errorf("%d bytes of policies are left, in %d places", m.compiled, len(m.places))
	}
	for _, h := range []uint32{0, 1, 1<<32 - 1} {
		if got := asked(t, &m, h, exit); got.Error.Code != "UNKNOWN_HANDLE" {
			t.Errorf("handle %d: %+v", h, got)
		}
	}
}

// TestWornPlacesAreNotUsed: after its last generation a place is left alone, so that no handle
// comes again.
func TestWornPlacesAreNotUsed(t *testing.T) {
	m := Machine{places: []place{{generation: lastGeneration}}}
	last := compiled(t, &m, trainer).Handle
	if last != 1<<31-1<<placeBits {
		t.Errorf("the last handle of place 0 is %#x", last)
	}
	m.Release(last)
	if next := compiled(t, &m, trainer).Handle; next != 1<<placeBits|1 {
		t.Errorf("the next handle is %#x, not the first of place 1", next)
	}
}

func TestPoliciesAreBounded(t *testing.T) {
	var m Machine
	for n := range policy.MaxHandles {
		if h := compiled(t, &m, trainer); h.Handle == 0 {
			t.Fatalf("policy %d: %+v", n+1, h)
		}
	}
	if got := compiled(t, &m, trainer); got.Error.Code != "LIMIT_EXCEEDED" || got.Error.Limit != "handles" {
		t.Errorf("one more: %+v", got)
	}
	m.Release(1<<placeBits | 7)
	if got := compiled(t, &m, trainer); got.Handle != 2<<placeBits|7 {
		t.Errorf("in the place that is free: %+v", got)
	}
	m.Reset()
	m.compiled = policy.MaxHandleBytes - 1 // as if others held the rest
	if got := compiled(t, &m, trainer); got.Error.Code != "LIMIT_EXCEEDED" || got.Error.Limit != "handleBytes" {
		t.Errorf("no bytes left: %+v", got)
	}
}

// TestRequestsLieInBuffers: an address that was not lent is refused by whatever reads a request
// there.
func TestRequestsLieInBuffers(t *testing.T) {
	var m Machine
	start, n := lend(t, &m, trainer)
	answer, failed := m.Compile(start, n)
	handle := read(t, answer, failed).Handle
	for _, at := range []struct{ start, n uintptr }{{0, 1}, {start - 1, 1}, {start, n + 8}, {start + n + 8, 1}} {
		for name, call := range map[string]func() ([]byte, bool){
			"call":    func() ([]byte, bool) { return m.Call(3, at.start, at.n) },
			"compile": func() ([]byte, bool) { return m.Compile(at.start, at.n) },
			"eval":    func() ([]byte, bool) { return m.Eval(handle, at.start, at.n) },
		} {
			answer, failed := call()
			if got := read(t, answer, failed); got.Error.Code != "BAD_BUFFER" {
				t.Errorf("%s of %d bytes at %d: %+v", name, at.n, int(at.start)-int(start), got)
			}
		}
	}
}

// TestBatchesLieInBuffers: of a batch the ABI says where it may lie, and what a call that is
// refused leaves alone.
func TestBatchesLieInBuffers(t *testing.T) {
	var m Machine
	handle := compiled(t, &m, trainer).Handle
	le := binary.LittleEndian
	batch := func(size int, codes ...int32) []byte {
		b := le.AppendUint64(le.AppendUint32(le.AppendUint16(le.AppendUint16([]byte("PFB1"), 1), uint16(size)), uint32(len(codes))), 0)
		b = append(b, make([]byte, packed.HeaderBytes-len(b)+size*len(codes))...)
		for i, code := range codes {
			le.PutUint32(b[packed.HeaderBytes+i*size:], uint32(code))
		}
		return b
	}
	base := m.Alloc(1024)
	view, _ := m.Bytes(base, 1024)
	const out = 512
	try := func(handle uint32, b []byte, in, inLen, out, outLen uintptr) int32 {
		clear(view)
		copy(view, b)
		return m.EvalBatch(handle, in, inLen, out, outLen)
	}
	right := batch(32, 42, 1)
	n, room := uintptr(len(right)), uintptr(packed.AnswerBytes(2))
	if got := try(handle, right, base, n, base+out, room); got != 2 || view[out+16] != 1 || view[out+16+24] != 3 {
		t.Errorf("right: %d, %x", got, view[out:out+64])
	}
	want := bytes.Clone(view[out : out+room])
	newer := batch(40, 42, 1) // records of a newer host do not have the layout of the structs
	if got := try(handle, newer, base, uintptr(len(newer)), base+out, room); got != 2 || !bytes.Equal(view[out:out+room], want) {
		t.Errorf("newer: %d, %x, want %x", got, view[out:out+room], want)
	}
	for name, c := range map[string]struct {
		handle                 uint32
		in, inLen, out, outLen uintptr
		want                   int32
	}{
		"unknown handle":     {handle + 1, base, n, base + out, room, -5},
		"in is not aligned":  {handle, base + 4, n, base + out, room, -10},
		"out is not aligned": {handle, base, n, base + out + 4, room, -10},
		"in is nowhere":      {handle, base + 2048, n, base + out, room, -10},
		"in is cut off":      {handle, base, 1032, base + out, room, -10},
		"out is nowhere":     {handle, base, n, base + 2048, room, -10},
		"out is cut off":     {handle, base, n, base + 1000, room, -10},
		"out before the end": {handle, base, n, base + n - 8, room, -10},
		"out around in":      {handle, base, n, base, room, -10},
		"out is short":       {handle, base, n, base + out, room - 1, -11},
		"in is short":        {handle, base, n - 32, base + out, room, -4},
	} {
		if got := try(c.handle, right, c.in, c.inLen, c.out, c.outLen); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
		if !bytes.Equal(view[:n], right) || len(bytes.Trim(view[n:], "\x00")) > 0 {
			t.Errorf("%s: something was written", name)
		}
	}
	if got := try(handle, right, base, n, base+n, room); got != 2 {
		t.Errorf("out at the end of in: %d", got)
	}
}
