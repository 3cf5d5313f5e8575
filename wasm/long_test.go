package wasm

import (
	"fmt"
	"os"
	"strconv"
	"testing"
)

// TestMemoryOfAllOperations calls one instance two million times with every kind of question. It
// takes minutes and runs only with PODFATE_LONG set, to another number of calls if it is one.
func TestMemoryOfAllOperations(t *testing.T) {
	if os.Getenv("PODFATE_LONG") == "" {
		t.Skip("two million calls take minutes; set PODFATE_LONG to make them")
	}
	const pod = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"restartPolicy":"Never","containers":[{"name":"main","image":"i",` +
		`"restartPolicy":"Never","restartPolicyRules":[{"action":"Restart","exitCodes":{"operator":"In","values":[42]}}]}]}}`
	requests := []struct {
		operation uint32
		request   string
	}{
		{2, `{"manifest":` + pod + `}`},
		{3, `{"manifest":` + pod + `,"exits":[{"exitCode":42}]}`},
		{4, `{"manifest":` + pod + `,"runs":{"main":[{"for":"10s","exitCode":42,"times":3}]},"events":[{"at":"5m","type":"Evicted"}]}`},
		{5, `{"run":{"for":"10s"},"until":"10m"}`},
		{3, `{"manifest":{"kind":"Pod"}}`}, // a fault
	}
	h := newHost(t, Options{Instances: 1, MaxCalls: 1 << 30})
	calls, _ := strconv.Atoi(os.Getenv("PODFATE_LONG"))
	if calls < len(requests) {
		calls = 2_000_000
	}
	var last uint64
	for n := range calls {
		r := requests[n%len(requests)]
		answer, err := h.Call(t.Context(), r.operation, []byte(r.request))
		if err != nil {
			t.Fatal(err)
		}
		last = answer.Instance
	}
	if s := h.Stats(); s.Made != 2 { // one is kept in reserve
		t.Errorf("the instance was replaced: %+v", s)
	}
	h.pool.mu.Lock()
	defer h.pool.mu.Unlock()
	for _, i := range h.pool.idle {
		if i.id != last {
			continue
		}
		bytes := i.memory.Size()
		t.Logf("%d calls: %d bytes of memory", calls, bytes)
		if bytes > 8<<20 {
			t.Errorf("%d bytes of memory, at most 8 MiB wanted", bytes)
		}
	}
}

// TestMemoryAfterTraps replaces ten thousand instances and compares what the process then holds
// with what it held when it was warm. It runs only with PODFATE_LONG set, where there is a /proc.
func TestMemoryAfterTraps(t *testing.T) {
	if os.Getenv("PODFATE_LONG") == "" {
		t.Skip("ten thousand traps take a minute; set PODFATE_LONG to make them")
	}
	before := resident(t)
	h := newHost(t, trapping(t, Options{}))
	work := func(traps int) {
		for n := range traps * 20 {
			op := uint32(1)
			if n%20 == 0 {
				op = trapIndex
			}
			if _, err := h.Call(t.Context(), op, []byte(`{}`)); (err != nil) != (op == trapIndex) {
				t.Fatal(err)
			}
		}
	}
	idle := resident(t)
	work(100)
	warm := resident(t)
	work(10_000)
	end := resident(t)
	t.Logf("resident: %d KiB before, %d with idle instances, %d warm, %d after 10,000 traps", before>>10, idle>>10, warm>>10, end>>10)
	if end > idle+idle/20 {
		t.Errorf("%d bytes after the traps, at most 5 %% more than %d wanted", end, idle)
	}
}

// resident returns the bytes of memory that the process has.
func resident(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skip("left out: ", err)
	}
	var size, pages int
	if _, err := fmt.Sscan(string(text), &size, &pages); err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize()
}
