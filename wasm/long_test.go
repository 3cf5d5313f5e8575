package wasm

import (
	"os"
	"testing"
)

// TestMemoryOfAllOperations calls one instance two million times with every kind of question. It takes minutes and runs
// only with PODFATE_LONG set.
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
	const calls = 2_000_000
	for n := range calls {
		r := requests[n%len(requests)]
		if _, err := h.Call(t.Context(), r.operation, []byte(r.request)); err != nil {
			t.Fatal(err)
		}
	}
	h.pool.mu.Lock()
	defer h.pool.mu.Unlock()
	if len(h.pool.idle) != 1 || h.pool.idle[0].calls < calls {
		t.Fatalf("the instance was replaced: %d are idle", len(h.pool.idle))
	}
	bytes := h.pool.idle[0].memory.Size()
	t.Logf("%d calls: %d bytes of memory", calls, bytes)
	if bytes > 8<<20 {
		t.Errorf("%d bytes of memory, at most 8 MiB wanted", bytes)
	}
}
