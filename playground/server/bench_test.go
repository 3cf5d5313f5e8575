package server

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/podfate/podfate/wasm"
)

// startWASM makes the engine of the released program.
func startWASM(ctx context.Context) (Engine, error) {
	host, err := wasm.New(ctx, wasm.Options{})
	if err != nil {
		return nil, err
	}
	return WASM(host), nil
}

func startNative(context.Context) (Engine, error) { return Native(), nil }

// BenchmarkDecide is one decide request over a connection that stays open, the client in the same
// process: closed loop, 32 clients. It reports the latency of the slowest in 100 and in 1000.
func BenchmarkDecide(b *testing.B) {
	const clients = 32
	for _, engine := range []struct {
		name  string
		start func(context.Context) (Engine, error)
	}{{"native", startNative}, {"wasm", startWASM}} {
		for _, body := range []struct{ name, contentType, text string }{
			{"JSON", "application/json", validDecide},
			{"YAML", "application/yaml", podYAML + "---\nexits: [{exitCode: 42}]\n"},
		} {
			b.Run(engine.name+"/"+body.name, func(b *testing.B) {
				s := run(b, Config{Start: engine.start})
				client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
				defer client.CloseIdleConnections()
				took := make([]time.Duration, b.N)
				next := make(chan int, clients)
				var all sync.WaitGroup
				b.ReportAllocs()
				b.ResetTimer()
				for range clients {
					all.Go(func() {
						for i := range next {
							began := time.Now()
							r, err := client.Post("http://"+s.address+"/api/v1/decide", body.contentType, strings.NewReader(body.text))
							if err != nil {
								b.Error(err)
								continue
							}
							io.Copy(io.Discard, r.Body)
							r.Body.Close()
							if r.StatusCode != 200 {
								b.Errorf("status %d", r.StatusCode)
							}
							took[i] = time.Since(began)
						}
					})
				}
				for i := range b.N {
					next <- i
				}
				close(next)
				all.Wait()
				b.StopTimer()
				slices.Sort(took)
				at := func(n, of int) float64 { return float64(took[(len(took)-1)*n/of].Microseconds()) }
				b.ReportMetric(at(50, 100), "p50-µs")
				b.ReportMetric(at(99, 100), "p99-µs")
				b.ReportMetric(at(999, 1000), "p99.9-µs")
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
			})
		}
	}
}

// BenchmarkHandler is the server's own share of a request: no connection, no client.
func BenchmarkHandler(b *testing.B) {
	s := newServer(b, native)
	b.ReportAllocs()
	for b.Loop() {
		if w := send(s, "POST", "/api/v1/decide", validDecide); w.Code != 200 {
			b.Fatal(w.Body)
		}
	}
}
