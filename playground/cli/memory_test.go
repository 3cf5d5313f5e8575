package cli

import (
	"net"
	"runtime/debug"
	"testing"
)

// TestMemoryLimit: serve tells the garbage collector the bound of HARDENING.md, unless whoever
// starts it has said another (R-T2).
func TestMemoryLimit(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	before := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(before)
	for _, c := range []struct {
		given string
		want  int64
	}{{"", 150_994_944}, {"1GiB", before}} {
		debug.SetMemoryLimit(before)
		t.Setenv("GOMEMLIMIT", c.given)
		if got := podfate(t, "", "serve", "--engine", "native", "--addr", taken.Addr().String()); got.status != StatusFaults {
			t.Fatalf("status %d: %s", got.status, got.err)
		}
		if limit := debug.SetMemoryLimit(-1); limit != c.want {
			t.Errorf("GOMEMLIMIT=%s: %d bytes, want %d", c.given, limit, c.want)
		}
	}
}
