package cli

import (
	"io"
	"net"
	"net/http"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// limited starts the server from a shell that first sets a limit.
func limited(t *testing.T, limit string, args ...string) *process {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("left out: the limits of this system differ")
	}
	return start(t, exec.Command("sh", append([]string{"-c", limit + `; exec "$@"`, "sh", binary(t), "serve", "--addr", "127.0.0.1:0"}, args...)...))
}

// crowd lets clients ask each times, with a connection for each request, and counts the statuses. 0
// is no answer.
func crowd(p *process, clients, each int) (statuses map[int]int, slowest time.Duration, last error) {
	statuses = map[int]int{}
	var mu sync.Mutex
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			client := &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
			for range each {
				began := time.Now()
				status := 0
				r, err := client.Post(p.url+"/api/v1/decide", inJSON.contentType, strings.NewReader(inJSON.body))
				if err == nil {
					_, err = io.Copy(io.Discard, r.Body)
					r.Body.Close()
				}
				if err == nil {
					status = r.StatusCode
				}
				mu.Lock()
				statuses[status]++
				if err != nil {
					last = err
				}
				slowest = max(slowest, time.Since(began))
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return statuses, slowest, last
}

// TestCrowdsOverTCP (R-S2, R-S4): whoever asks gets an answer, with a thousand clients at once and
// with hardly any descriptors.
func TestCrowdsOverTCP(t *testing.T) {
	for _, c := range []struct {
		name, limit   string
		clients, each int
	}{
		{"a thousand clients", "ulimit -n 4096", 1000, 3},
		{"64 descriptors", "ulimit -n 64", 200, 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := limited(t, c.limit, "--engine", "native")
			statuses, slowest, err := crowd(p, c.clients, c.each)
			t.Logf("%v, the slowest after %v", statuses, slowest)
			// 408: the client had no processor for so long that its connection was given away.
			if statuses[200]+statuses[503]+statuses[408] != c.clients*c.each || statuses[200] == 0 {
				t.Errorf("statuses %v, last error %v", statuses, err)
			}
			if failures := p.figure(t, "podfate_http_accept_failures_total"); failures != 0 {
				t.Errorf("%v connections could not be accepted", failures)
			}
			if err := p.end(); err != nil {
				t.Errorf("%v\n%s", err, p.log.String())
			}
			if refused := strings.Contains(p.log.String(), "too many connections"); refused != (statuses[503] > 0) && c.clients == 200 {
				t.Errorf("%d answers 503, and the log says so: %v", statuses[503], refused)
			}
		})
	}
}

// TestSilentCrowdHoldsNobodyUp (R-S4): clients that connect and say nothing hold all descriptors
// that there are.
func TestSilentCrowdHoldsNobodyUp(t *testing.T) {
	p := limited(t, "ulimit -n 64", "--engine", "native")
	var silent []io.Closer
	defer func() {
		for _, c := range silent {
			c.Close()
		}
	}()
	for range 200 {
		conn, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		silent = append(silent, conn)
	}
	statuses, slowest, err := crowd(p, 5, 5)
	t.Logf("%v, the slowest after %v", statuses, slowest)
	if statuses[200]+statuses[503]+statuses[408] != 25 {
		t.Errorf("statuses %v, last error %v", statuses, err)
	}
	if err := p.end(); err != nil {
		t.Errorf("%v\n%s", err, p.log.String())
	}
}
