package server

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/podfate/podfate/policy/ops"
)

// native is the core as an engine without a pool, so that tests do not wait for a module to
// compile.
func native(_ context.Context, op uint32, request []byte) ([]byte, bool, error) {
	answer, failed := ops.Call(op, request)
	return answer, failed, nil
}

// changed returns a config for engine with the changes made by edit.
func config(engine EngineFunc, edit ...func(*Config)) Config {
	c := Config{Start: func(context.Context) (Engine, error) { return engine, nil }}
	for _, f := range edit {
		f(&c)
	}
	return c
}

func logTo(w io.Writer) func(*Config) {
	return func(c *Config) {
		c.Log = slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
}

func limited(l Limits) func(*Config) { return func(c *Config) { c.Limits = l } }

// newServer returns a server that is ready, to be called without a listener.
func newServer(t testing.TB, engine EngineFunc, edit ...func(*Config)) *Server {
	t.Helper()
	c := config(engine, edit...)
	patient(&c.Limits)
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// patient lets a test be right on a machine that has no time for it. Tests of deadlines run on
// virtual time and say which they mean.
func patient(l *Limits) {
	l.Evaluation = cmp.Or(l.Evaluation, time.Hour)
	l.QueueWait = cmp.Or(l.QueueWait, time.Hour)
}

// send makes a request with a JSON body; headers come as "Name: value" and replace what is
// there.
func send(s http.Handler, method, target, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	if body == "" {
		r = httptest.NewRequest(method, target, nil)
	} else {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		if name == "Host" {
			r.Host = value
		} else {
			r.Header.Set(name, value)
		}
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// problemOf decodes a problem document and holds it against what every one must have.
func problemOf(t testing.TB, status int, header http.Header, body []byte) (p struct {
	Type, Title, Detail, RequestID string
	Status                         int
	Error                          json.RawMessage
}) {
	t.Helper()
	if got := header.Get("Content-Type"); got != "application/problem+json" {
		t.Errorf("Content-Type of status %d is %q", status, got)
	}
	if err := json.Unmarshal(body, &p); err != nil {
		t.Fatalf("problem document %q: %v", body, err)
	}
	if p.Status != status {
		t.Errorf("member status is %d, the status is %d", p.Status, status)
	}
	if p.RequestID == "" || p.RequestID != header.Get("X-Request-Id") {
		t.Errorf("requestId is %q, X-Request-Id %q", p.RequestID, header.Get("X-Request-Id"))
	}
	if p.Title == "" || p.Detail == "" {
		t.Errorf("title or detail is missing: %s", body)
	}
	if len(body) > maxProblemBytes {
		t.Errorf("the document has %d bytes", len(body))
	}
	if status == http.StatusServiceUnavailable && header.Get("Retry-After") == "" {
		t.Error("Retry-After is missing")
	}
	return p
}

func code(problemType string) string { return strings.TrimPrefix(problemType, "urn:podfate:problem:") }

// running is a server with a real listener.
type running struct {
	*Server
	address string
	stop    func() error // ends it and returns what Run returned
}

func run(t testing.TB, c Config) running {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c.Address = ln.Addr().String()
	patient(&c.Limits)
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx, ln) }()
	<-s.Started()
	stop := sync.OnceValue(func() error {
		cancel()
		return <-ended
	})
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	return running{s, ln.Addr().String(), stop}
}

// syncBuffer is a log that several goroutines may write.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

const validDecide = `{"manifest":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"restartPolicy":"Never","containers":[` +
	`{"name":"main","image":"i","restartPolicy":"Never","restartPolicyRules":[{"action":"Restart","exitCodes":{"operator":"In","values":[42]}}]}]}},` +
	`"exits":[{"container":"main","exitCode":42}]}`
