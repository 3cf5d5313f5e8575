package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
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

// TestShutdownLosesNothing is the ledger of a server that ends under load: what a handler started
// was finished, and what was finished was received.
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

// TestEvaluationsOutliveTheRequest: net/http ends the context of a request when the client has
// ended its half of the connection. Such a client still waits for its answer, whatever it asked
// for.
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

// dripper opens a connection that sends head and then nothing more. It returns how long the server
// bore it.
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

// TestSlowClientsAreTold: a client that a loaded machine holds up until its time is over gets an
// answer, too. To one whose request was answered nothing more is said.
func TestSlowClientsAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := runInMemory(t, config(native))
		for _, c := range []struct{ name, says, want string }{
			{"nothing", "", "HTTP/1.1 408 "},
			{"half a header", "GET / HTTP/1.1\r\nX-A: ", "HTTP/1.1 408 "},
			{"keep-alive", "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", "HTTP/1.1 200 "},
		} {
			conn, err := s.ln.dial(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if c.says != "" { // a pipe hands on an empty text as well
				io.WriteString(conn, c.says)
			}
			all, err := io.ReadAll(conn)
			if err != nil || !strings.HasPrefix(string(all), c.want) || strings.Count(string(all), "HTTP/1.1") != 1 {
				t.Errorf("%s: %q %v, want %s", c.name, all, err, c.want)
			}
			conn.Close()
		}
		if err := s.stop(); err != nil {
			t.Error(err)
		}
	})
}

// TestSlowClientsHarmOnlyThemselves: a thousand connections that hold on to what they can, and a
// client among them.
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
		s := runInMemory(t, config(engine, limited(Limits{Connections: 2, Evaluation: time.Minute})))
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
		further := s.ln.client(0)
		if status, answer, err := post(further, `{}`); status != 503 || !strings.Contains(answer, "urn:podfate:problem:BUSY") {
			t.Errorf("the third connection: status %d, %s, %v", status, answer, err)
		}
		if status, answer, err := silent(t, s); status != 408 {
			t.Errorf("a connection that asks nothing: status %d, %s, %v", status, answer, err)
		}
		close(release)
		for range 2 {
			if err := <-results; err != nil {
				t.Error(err)
			}
		}
		if evicted, refused := s.connections.evicted.Load(), s.connections.refused.Load(); evicted != 0 || refused != 2 {
			t.Errorf("%d connections evicted and %d refused, want 0 and 2", evicted, refused)
		}
		client.CloseIdleConnections()
		if err := s.stop(); err != nil {
			t.Error(err)
		}
	})
}

// silent opens a connection, sends nothing and returns what it gets.
func silent(t testing.TB, s inMemory) (status int, answer string, err error) {
	t.Helper()
	conn, err := s.ln.dial(t.Context())
	if err != nil {
		return 0, "", err
	}
	defer conn.Close()
	r, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0, "", err
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	return r.StatusCode, string(b), err
}

// TestEvictedConnectionsGetAnAnswer: what a client has sent decides what it hears when its place is
// taken.
func TestEvictedConnectionsGetAnAnswer(t *testing.T) {
	const get = "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
	for _, c := range []struct {
		name, before, after string
		want                []int
	}{
		{"nothing", "", "", []int{408}},
		{"half a header", "GET / HTTP/1.1\r\nX-A: ", "", []int{503}},
		{"half a header, whose rest comes", "GET / HTTP/1.1\r\nX-A: ", "b\r\n\r\n", []int{503}},
		{"a request in the last moment", "", get, []int{503}},
		{"idle", get, "", []int{200, 408}},
		{"idle, and a request in the last moment", get, get, []int{200, 503}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := runInMemory(t, config(native, limited(Limits{Connections: 1})))
				conn, err := s.ln.dial(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close()
				var got []int
				all := make(chan struct{})
				go func() {
					defer close(all)
					r := bufio.NewReader(conn)
					for {
						answer, err := http.ReadResponse(r, nil)
						if err != nil {
							return
						}
						io.Copy(io.Discard, answer.Body)
						got = append(got, answer.StatusCode)
					}
				}()
				tell := func(text string) {
					if text != "" { // a pipe hands on an empty one as well
						io.WriteString(conn, text)
					}
				}
				tell(c.before)
				time.Sleep(2 * patience)
				client := s.ln.client(0)
				if status, _, err := post(client, validDecide); status != 200 {
					t.Errorf("the other client: status %d, %v", status, err)
				}
				tell(c.after)
				<-all
				if fmt.Sprint(got) != fmt.Sprint(c.want) {
					t.Errorf("statuses %v, want %v", got, c.want)
				}
				client.CloseIdleConnections()
				if err := s.stop(); err != nil {
					t.Error(err)
				}
				if open := len(s.connections.places); open != 0 {
					t.Errorf("%d places are still taken", open)
				}
			})
		})
	}
}

// TestCrowdsGetAnswers (R-S2): a thousand clients without keep-alive, more than are served and more
// than may be open. Each request is answered.
func TestCrowdsGetAnswers(t *testing.T) {
	for name, limits := range map[string]Limits{
		"defaults":   {},
		"few places": {Connections: 8, Open: 16},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				engine := func(ctx context.Context, op uint32, request []byte) ([]byte, bool, error) {
					time.Sleep(2 * time.Millisecond)
					return []byte(`{}`), false, nil
				}
				var log syncBuffer
				s := runInMemory(t, config(engine, limited(limits), logTo(&log)))
				var mu sync.Mutex
				statuses := map[int]int{}
				var all sync.WaitGroup
				for range 1000 {
					all.Go(func() {
						for range 3 {
							client := s.ln.client(0)
							client.Transport.(*http.Transport).DisableKeepAlives = true
							status, answer, err := post(client, `{}`)
							if status != 200 && status != 503 {
								t.Errorf("status %d, %s, %v", status, answer, err)
							}
							mu.Lock()
							statuses[status]++
							mu.Unlock()
						}
					})
				}
				all.Wait()
				if statuses[200] == 0 || statuses[503] == 0 {
					t.Errorf("statuses %v: this test proves nothing", statuses)
				}
				if n := strings.Count(log.String(), "too many connections"); n == 0 || n > 5 {
					t.Errorf("the log says %d times that there are too many connections", n)
				}
				if status, _, err := post(s.ln.client(0), `{}`); status != 200 {
					t.Errorf("afterwards: status %d, %v", status, err)
				}
				if err := s.stop(); err != nil {
					t.Error(err)
				}
				if open := len(s.connections.places); open != 0 {
					t.Errorf("%d places are still taken", open)
				}
			})
		})
	}
}

// deafListener fails the first attempts to accept each connection.
type deafListener struct {
	*memoryListener
	failures []error
	next     atomic.Int64
}

func (l *deafListener) Accept() (net.Conn, error) {
	if i := int(l.next.Add(1)) - 1; i < len(l.failures) {
		return nil, &net.OpError{Op: "accept", Net: "tcp", Err: os.NewSyscallError("accept4", l.failures[i])}
	}
	return l.memoryListener.Accept()
}

// TestFailuresToAcceptPass (R-S4): each error that says nothing about the listener is logged,
// counted and tried again.
func TestFailuresToAcceptPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log syncBuffer
		c := config(native, logTo(&log))
		ln := &deafListener{memoryListener: newMemoryListener(), failures: []error{
			syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED, syscall.EPROTO, syscall.EPERM,
		}}
		s, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- s.Run(ctx, ln) }()
		began := time.Now()
		client := ln.client(0)
		if status, _, err := post(client, validDecide); status != 200 {
			t.Errorf("status %d, %v", status, err)
		}
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("the answer took %v", took)
		}
		if n := s.connections.failures.Load(); int(n) != len(ln.failures) {
			t.Errorf("%d failures are counted, want %d", n, len(ln.failures))
		}
		if n := strings.Count(log.String(), "cannot be accepted"); n != 1 || !strings.Contains(log.String(), "too many open files") {
			t.Errorf("logged %d times: %s", n, log.String())
		}
		client.CloseIdleConnections()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// TestListenerThatIsBrokenEndsTheServer: what does not pass is not tried forever.
func TestListenerThatIsBrokenEndsTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := New(config(native))
		if err != nil {
			t.Fatal(err)
		}
		ln := &deafListener{memoryListener: newMemoryListener(), failures: []error{syscall.EBADF}}
		if err := s.Run(t.Context(), ln); !errors.Is(err, syscall.EBADF) {
			t.Errorf("error %v", err)
		}
	})
}

func TestPlacesFollowTheDescriptors(t *testing.T) {
	for _, c := range []struct{ connections, open, descriptors, served, most int }{
		{512, 4096, 0, 512, 4096},
		{512, 4096, 1 << 20, 512, 4096},
		{512, 4096, 1024, 384, 512},
		{512, 4096, 64, 24, 32},
		{512, 4096, 1, 1, 2},
		{2, 4096, 64, 2, 32},
	} {
		got := newConnections(c.connections, mostConnections(c.open, c.descriptors))
		if got.limit != c.served || got.most != c.most {
			t.Errorf("%+v: %d served, %d open", c, got.limit, got.most)
		}
	}
}

// TestClientsThatDoNotReadGiveWay: every connection has an answer that nobody reads, and others
// still get in. One that has waited for less than a fraction of a second is not closed.
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
		if status, _, err := post(client, validDecide); status != 503 {
			t.Errorf("at once: status %d, %v", status, err)
		}
		for range 10 {
			time.Sleep(patience)
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
