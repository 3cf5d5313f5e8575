package server

import (
	"slices"
	"testing"
	"time"
)

// everywhere are the headers that are on every answer, word for word: tests that took them from
// the table under test would not miss a row of it (R-T1). The first may differ where an answer may
// be kept.
var everywhere = [][2]string{
	{"Cache-Control", "no-store"},
	{"Content-Security-Policy", "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data:; " +
		"connect-src 'self'; font-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; " +
		"object-src 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"},
	{"Cross-Origin-Opener-Policy", "same-origin"},
	{"Cross-Origin-Resource-Policy", "same-origin"},
	{"Permissions-Policy", ""},
	{"Referrer-Policy", "no-referrer"},
	{"X-Content-Type-Options", "nosniff"},
	{"X-Frame-Options", "DENY"},
}

func TestFixedHeaders(t *testing.T) {
	if !slices.Equal(fixedHeaders, everywhere) {
		t.Errorf("%q, want %q", fixedHeaders, everywhere)
	}
}

// TestDefaultLimits: HARDENING.md and the arithmetic of package server rest on these figures
// (R-T2).
func TestDefaultLimits(t *testing.T) {
	want := Limits{
		BodyBytes: 262_144, Requests: 64, Queue: 64, QueueWait: 250 * time.Millisecond, BodyPatience: 25 * time.Millisecond,
		Evaluation: time.Second, Connections: 512, Open: 4096, ReadHeader: 2 * time.Second, Read: 5 * time.Second,
		Write: 10 * time.Second, Idle: 30 * time.Second, HeaderBytes: 16_384, LameDuck: time.Second, Drain: 10 * time.Second,
	}
	if got := (Limits{}).withDefaults(); got != want {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	if maxProblemBytes != 65_536 {
		t.Errorf("a problem document has up to %d bytes", maxProblemBytes)
	}
	if got := want.withDefaults(); got != want {
		t.Errorf("limits that are set become %+v", got)
	}
}

// TestLimitsReachTheServer: each figure is where it takes effect. What it does there other
// tests show, with smaller ones.
func TestLimitsReachTheServer(t *testing.T) {
	s := newServer(t, native, func(c *Config) { c.Limits = Limits{} })
	web := s.web()
	for name, got := range map[string][2]time.Duration{
		"headers": {web.ReadHeaderTimeout, 2 * time.Second}, "body": {web.ReadTimeout, 5 * time.Second},
		"answer": {web.WriteTimeout, 10 * time.Second}, "idle": {web.IdleTimeout, 30 * time.Second},
	} {
		if got[0] != got[1] {
			t.Errorf("%s: %s, want %s", name, got[0], got[1])
		}
	}
	if web.MaxHeaderBytes+4096 != 16_384 {
		t.Errorf("headers: %d bytes", web.MaxHeaderBytes)
	}
	if s.connections.limit != 512 {
		t.Errorf("%d connections are served", s.connections.limit)
	}
}
