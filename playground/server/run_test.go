package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// Every test here runs in a bubble: when it ends with a goroutine left over, synctest fails it.

func post(client *http.Client, body string) (status int, answer string, err error) {
	r, err := client.Post("http://127.0.0.1:8080/api/v1/decide", "application/json", strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	return r.StatusCode, string(b), err
}

func TestIdleServerEndsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := runInMemory(t, config(native))
		client := s.ln.client(0)
		if status, _, err := post(client, validDecide); status != 200 {
			t.Errorf("status %d, %v", status, err)
		}
		time.Sleep(2 * time.Second) // the client keeps its connection
		began := time.Now()
		if err := s.stop(); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took > time.Second/2 {
			t.Errorf("took %v", took)
		}
		client.CloseIdleConnections()
	})
}

// TestShutdownLosesNothing is the ledger of a server that ends under load: what a handler started was finished,
// and what was finished was received.
func TestShutdownLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var started, finished atomic.Int64
		slow := func(ctx context.Context, op uint32, request []byte) ([]byte, bool, error) {
			if op == opDescribe {
				return []byte(`{}`), false, nil
			}
			started.Add(1)
			time.Sleep(20 * time.Millisecond)
			finished.Add(1)
			return []byte(`{"answer":"` + strings.Repeat("x", 3000) + `"}`), false, nil
		}
		s := runInMemory(t, config(slow, func(c *Config) { c.Workers = 64 }))
		const clients = 50
		var received, afterListener, lost atomic.Int64
		var unready atomic.Bool
		var all sync.WaitGroup
		ended := make(chan struct{})
		for range clients {
			all.Go(func() {
				client := s.ln.client(0)
				defer client.CloseIdleConnections()
				for {
					status, answer, err := post(client, `{}`)
					switch {
					case errors.Is(err, errRefused):
						afterListener.Add(1)
						return
					case err != nil:
						lost.Add(1) // a connection that was closed before a handler saw the request
						return
					case status == 503:
					case status != 200 || len(answer) != 3013:
						t.Errorf("status %d, %d bytes", status, len(answer))
					default:
						received.Add(1)
					}
				}
			})
		}
		all.Go(func() { // whoever watches readiness learns of the end while requests are still answered
			client := s.ln.client(0)
			defer client.CloseIdleConnections()
			for {
				select {
				case <-ended:
					return
				default:
				}
				r, err := client.Get("http://127.0.0.1:8080/readyz")
				if err != nil {
					return
				}
				r.Body.Close()
				if r.StatusCode == 503 {
					unready.Store(true)
				}
				time.Sleep(10 * time.Millisecond)
			}
		})
		time.Sleep(300 * time.Millisecond)
		began := time.Now()
		if err := s.stop(); err != nil {
			t.Error(err)
		}
		took := time.Since(began)
		close(ended)
		all.Wait()
		if started.Load() != finished.Load() || finished.Load() != received.Load() {
			t.Errorf("started %d, finished %d, received %d", started.Load(), finished.Load(), received.Load())
		}
		if received.Load() < clients {
			t.Errorf("only %d answers: this test proves nothing", received.Load())
		}
		if lost.Load()+afterListener.Load() != clients || lost.Load() > 2*clients {
			t.Errorf("%d connection errors and %d refused connections for %d clients", lost.Load(), afterListener.Load(), clients)
		}
		if !unready.Load() {
			t.Error("/readyz never said no")
		}
		if took < DefaultLameDuck || took > 5*time.Second {
			t.Errorf("took %v", took)
		}
	})
}

func TestShutdownWaitsOnlySoLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		stuck := func(ctx context.Context, op uint32, request []byte) ([]byte, bool, error) {
			if op != opDescribe {
				<-release
			}
			return []byte(`{}`), false, nil
		}
		s := runInMemory(t, config(stuck, limited(Limits{Evaluation: time.Minute})))
		client := s.ln.client(0)
		go post(client, `{}`)
		synctest.Wait()
		began := time.Now()
		err := s.stop()
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "1 requests were still open") {
			t.Errorf("error %v", err)
		}
		if took := time.Since(began); took != DefaultLameDuck+DefaultDrain {
			t.Errorf("took %v", took)
		}
		close(release)
		client.CloseIdleConnections()
	})
}

type closing struct {
	EngineFunc
	closed *bool
}

func (c closing) Close(context.Context) error {
	*c.closed = true
	return nil
}

func TestEngineIsClosedAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		closed := false
		c := config(native)
		c.Start = func(context.Context) (Engine, error) { return closing{native, &closed}, nil }
		s := runInMemory(t, c)
		if err := s.stop(); err != nil || !closed {
			t.Errorf("closed: %v, error: %v", closed, err)
		}
	})
}

func TestRunFailsWithTheEngine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		want := errors.New("no module")
		c := config(native)
		c.Start = func(context.Context) (Engine, error) { return nil, want }
		s, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Run(t.Context(), newMemoryListener()); !errors.Is(err, want) {
			t.Errorf("error %v", err)
		}
	})
}

func TestRunEndsWhileTheEngineStarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := config(native)
		c.Start = func(ctx context.Context) (Engine, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		s, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := s.Run(ctx, newMemoryListener()); err != nil {
			t.Errorf("error %v", err)
		}
	})
}

// TestDeadline: a call that does not end is given up, and keeps its place until it ends.
func TestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		stuck := func(ctx context.Context, op uint32, request []byte) ([]byte, bool, error) {
			if op != opDescribe {
				<-release
			}
			return []byte(`{}`), false, nil
		}
		s := newServer(t, stuck, func(c *Config) {
			c.Workers, c.Limits.Evaluation, c.Limits.QueueWait = 2, DefaultEvaluation, DefaultQueueWait
		})
		for i := range 3 {
			began := time.Now()
			w := send(s, "POST", "/api/v1/decide", `{}`)
			took := time.Since(began)
			want, limit := "DEADLINE_EXCEEDED", DefaultEvaluation
			if i == 2 {
				want, limit = "BUSY", DefaultQueueWait
			}
			if p := problemOf(t, w.Code, w.Header(), w.Body.Bytes()); w.Code != 503 || code(p.Type) != want || took != limit {
				t.Errorf("request %d: status %d, %s after %v", i, w.Code, p.Type, took)
			}
		}
		close(release)
		synctest.Wait()
		if w := send(s, "POST", "/api/v1/decide", `{}`); w.Code != 200 {
			t.Errorf("afterwards: status %d, %s", w.Code, w.Body)
		}
	})
}

// TestEvaluationsOutliveTheRequest: net/http ends the context of a request when the client has ended its half of the
// connection. Such a client still waits for its answer, whatever it asked for.
func TestEvaluationsOutliveTheRequest(t *testing.T) {
	for _, c := range []struct{ name, method, target, body string }{
		{"operation", "POST", "/api/v1/decide", validDecide},
		{"describe", "GET", "/api/v1/describe", ""},
		{"describe without a body", "POST", "/api/v1/describe", ""},
		{"page", "GET", "/", ""},
		{"form", "POST", "/", "manifest=kind:+Pod"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				asked := 0
				s := newServer(t, func(ctx context.Context, op uint32, request []byte) ([]byte, bool, error) {
					if asked++; asked > 1 { // the first evaluation is the server's own
						cancel()
						time.Sleep(time.Millisecond) // whoever watches the request has seen it by now
					}
					return native(ctx, op, request)
				})
				r := httptest.NewRequestWithContext(ctx, c.method, "http://127.0.0.1:8080"+c.target, strings.NewReader(c.body))
				switch {
				case c.target == "/" && c.body != "":
					r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
				case c.body != "":
					r.Header.Set("Content-Type", "application/json")
				}
				w := httptest.NewRecorder()
				s.ServeHTTP(w, r)
				time.Sleep(time.Second) // a call that was given up ends as well
				if ctx.Err() == nil || w.Code != 200 {
					t.Errorf("status %d, %s; the request's context: %v", w.Code, w.Body, ctx.Err())
				}
			})
		})
	}
}

// TestOverloadIsOnlyEver200Or503 sends three times what the server can take.
func TestOverloadIsOnlyEver200Or503(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const each = 40 * time.Millisecond // of a worker
		engine := func(ctx context.Context, op uint32, request []byte) ([]byte, bool, error) {
			if op != opDescribe {
				time.Sleep(each)
			}
			return []byte(`{}`), false, nil
		}
		s := runInMemory(t, config(engine, limited(Limits{Requests: 8, Queue: 8})))
		client := s.ln.client(0)
		var mu sync.Mutex
		statuses := map[int]int{}
		var slowest503 time.Duration
		var all sync.WaitGroup
		const perSecond = 3 * 4 * int(time.Second/each) // four workers
		for i := range 5 * perSecond {
			all.Go(func() {
				time.Sleep(time.Duration(i) * time.Second / time.Duration(perSecond))
				began := time.Now()
				r, err := client.Post("http://127.0.0.1:8080/api/v1/decide", "application/json", strings.NewReader(`{}`))
				if err != nil {
					t.Error(err)
					return
				}
				io.Copy(io.Discard, r.Body)
				r.Body.Close()
				mu.Lock()
				defer mu.Unlock()
				statuses[r.StatusCode]++
				if r.StatusCode == 503 {
					slowest503 = max(slowest503, time.Since(began))
					if r.Header.Get("Retry-After") == "" {
						t.Error("503 without Retry-After")
					}
				}
			})
		}
		all.Wait()
		if statuses[200]+statuses[503] != 5*perSecond || statuses[503] == 0 {
			t.Errorf("statuses %v", statuses)
		}
		// The workers were never idle: what was refused did not cost what could have been answered.
		if want := 5 * perSecond / 3 * 9 / 10; statuses[200] < want {
			t.Errorf("%d answers, want at least %d", statuses[200], want)
		}
		if slowest503 > 300*time.Millisecond {
			t.Errorf("a refusal took %v", slowest503)
		}
		if status, _, err := post(client, `{}`); status != 200 {
			t.Errorf("after the overload: status %d, %v", status, err)
		}
		client.CloseIdleConnections()
		if err := s.stop(); err != nil {
			t.Error(err)
		}
	})
}

// dripper opens a connection that sends head and then nothing more. It returns how long the server bore it.
func dripper(t testing.TB, s inMemory, head string) <-chan time.Duration {
	began := time.Now()
	lived := make(chan time.Duration, 1)
	conn, err := s.ln.dial(t.Context())
	if err != nil { // the server has ended
		lived <- 0
		return lived
	}
	go func() {
		defer conn.Close()
		io.WriteString(conn, head)
		io.Copy(io.Discard, conn)
		lived <- time.Since(began)
	}()
	return lived
}

func TestSlowClientsAreClosedInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := runInMemory(t, config(native))
		const host = "Host: 127.0.0.1\r\n"
		for _, c := range []struct {
			name, head string
			most       time.Duration
		}{
			{"nothing", "", 3 * time.Second},
			{"half a header", "GET / HTTP/1.1\r\nX-A: ", 3 * time.Second},
			{"half a body", "POST /api/v1/decide HTTP/1.1\r\n" + host + "Content-Type: application/json\r\nContent-Length: 9\r\n\r\n{", 6 * time.Second},
			{"half a chunk", "POST /api/v1/decide HTTP/1.1\r\n" + host + "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n{", 6 * time.Second},
			{"body for nobody", "POST /nowhere HTTP/1.1\r\n" + host + "Content-Length: 9\r\n\r\n{", 6 * time.Second},
			{"keep-alive", "GET /healthz HTTP/1.1\r\n" + host + "\r\n", 31 * time.Second},
		} {
			if lived := <-dripper(t, s, c.head); lived > c.most {
				t.Errorf("%s: the connection lived %v, want at most %v", c.name, lived, c.most)
			}
		}
		if open := s.connections.open(); open != 0 {
			t.Errorf("%d connections are open", open)
		}
		if err := s.stop(); err != nil {
			t.Error(err)
		}
	})
}

// TestSlowClientsHarmOnlyThemselves: a thousand connections that hold on to what they can, and a client among them.
func TestSlowClientsHarmOnlyThemselves(t *testing.T) {
	const host = "Host: 127.0.0.1\r\n"
	for name, head := range map[string]string{
		"headers": "GET / HTTP/1.1\r\nX-A: ",
		"bodies":  "POST /api/v1/decide HTTP/1.1\r\n" + host + "Content-Type: application/json\r\nContent-Length: 9\r\n\r\n{",
		"idle":    "GET /healthz HTTP/1.1\r\n" + host + "\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := runInMemory(t, config(native))
				stop := make(chan struct{})
				var slow sync.WaitGroup
				for i := range 1000 {
					slow.Go(func() {
						time.Sleep(time.Duration(i) * time.Millisecond)
						for {
							select {
							case <-stop:
								return
							case <-dripper(t, s, head):
								time.Sleep(time.Second)
							}
						}
					})
				}
				time.Sleep(500 * time.Millisecond)
				failures, most := 0, 0
				var slowest time.Duration
				for range 200 {
					time.Sleep(10 * time.Millisecond)
					began := time.Now()
					client := s.ln.client(0) // a new connection each time: the hardest case
					status, answer, err := post(client, validDecide)
					if status != 200 {
						failures++
						t.Logf("status %d, %v, %s", status, err, answer)
					}
					client.CloseIdleConnections()
					slowest = max(slowest, time.Since(began))
					most = max(most, s.connections.open())
				}
				close(stop)
				if failures > 2 {
					t.Errorf("%d of 200 requests failed", failures)
				}
				if slowest > 200*time.Millisecond {
					t.Errorf("a request took %v", slowest)
				}
				if most > DefaultConnections {
					t.Errorf("%d connections were open", most)
				}
				if err := s.stop(); err != nil {
					t.Error(err)
				}
				slow.Wait()
			})
		})
	}
}

func TestConnectionsInHandlersAreNotEvicted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		engine := func(ctx context.Context, op uint32, request []byte) ([]byte, bool, error) {
			if op != opDescribe {
				<-release
			}
			return []byte(`{}`), false, nil
		}
		s := runInMemory(t, config(engine, limited(Limits{Connections: 2})))
		results := make(chan error, 2)
		client := s.ln.client(0)
		for range 2 {
			go func() {
				status, _, err := post(client, `{}`)
				if status != 200 {
					err = fmt.Errorf("status %d, %w", status, err)
				}
				results <- err
			}()
		}
		synctest.Wait()
		conn, err := s.ln.dial(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if n, err := conn.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("the third connection was not closed: %d bytes, %v", n, err)
		}
		close(release)
		for range 2 {
			if err := <-results; err != nil {
				t.Error(err)
			}
		}
		if n := s.connections.evicted.Load(); n != 1 {
			t.Errorf("%d connections evicted, want 1", n)
		}
		client.CloseIdleConnections()
		if err := s.stop(); err != nil {
			t.Error(err)
		}
	})
}

// TestClientsThatDoNotReadGiveWay: every connection has an answer that nobody reads, and others still get in. One that
// has waited for less than a fraction of a second is not closed.
func TestClientsThatDoNotReadGiveWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := runInMemory(t, config(native, limited(Limits{Connections: 3})))
		var held []net.Conn
		hold := func() {
			conn, err := s.ln.dial(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			io.WriteString(conn, "GET /static/app.js HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
			held = append(held, conn)
			synctest.Wait()
		}
		for range 3 {
			hold()
		}
		client := s.ln.client(0)
		if status, _, err := post(client, validDecide); err == nil {
			t.Errorf("let in at once, status %d", status)
		}
		for range 10 {
			time.Sleep(writePatience)
			if status, _, err := post(client, validDecide); status != 200 {
				t.Errorf("status %d, %v", status, err)
			}
			hold() // the client's connection is idle since now, the other two wait for longer
		}
		if open := s.connections.open(); open > 3 {
			t.Errorf("%d connections are open", open)
		}
		for _, conn := range held {
			conn.Close()
		}
		client.CloseIdleConnections()
		if err := s.stop(); err != nil {
			t.Error(err)
		}
	})
}

var _ net.Listener = (*memoryListener)(nil)
