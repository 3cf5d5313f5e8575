package server

import (
	"errors"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// metrics are the figures at /metrics. Labels take values from the program only (route patterns,
// operation names, codes): nothing that a client sends can make a new time series or show up in
// one.
type metrics struct {
	registry     *prometheus.Registry
	requests     *prometheus.CounterVec   // by route and status
	durations    *prometheus.HistogramVec // by route
	refusals     *prometheus.CounterVec   // by code
	panics       prometheus.Counter
	calls        *prometheus.CounterVec   // by operation and outcome
	callDuration *prometheus.HistogramVec // by operation
}

// newMetrics returns metrics on a registry of their own that also read s when they are asked for.
func newMetrics(s *Server) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "podfate_http_requests_total", Help: "HTTP requests answered. Status 499: the client went away first.",
		}, []string{"route", "status"}),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "podfate_http_request_duration_seconds", Help: "Time from the first handler to the last byte handed to the connection.",
			Buckets: []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 5},
		}, []string{"route"}),
		refusals: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "podfate_http_problems_total", Help: "Problem documents sent, by code.",
		}, []string{"code"}),
		panics: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "podfate_http_panics_total", Help: "Handlers that panicked. Anything but 0 is a bug.",
		}),
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "podfate_engine_calls_total", Help: "Calls of the engine, by operation and outcome: ok, or the code of the error.",
		}, []string{"operation", "outcome"}),
		callDuration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "podfate_engine_call_duration_seconds", Help: "Time of one call of the engine, the wait for an instance included.",
			Buckets: []float64{.00001, .000025, .00005, .0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25},
		}, []string{"operation"}),
	}
	gauge := func(name, help string, read func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, read)
	}
	counter := func(name, help string, value *atomic.Int64) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, func() float64 { return float64(value.Load()) })
	}
	m.registry.MustRegister(
		m.requests, m.durations, m.refusals, m.panics, m.calls, m.callDuration,
		gauge("podfate_http_requests_in_flight", "Requests in a handler.", func() float64 { return float64(s.inFlight.Load()) }),
		gauge("podfate_http_connections", "Connections that are served.", func() float64 { return float64(s.connections.open()) }),
		gauge("podfate_gate_requests", "Requests past the gate.", func() float64 { taken, _ := s.gate.open(); return float64(taken) }),
		gauge("podfate_gate_waiting", "Requests waiting at the gate.", func() float64 { _, waiting := s.gate.open(); return float64(waiting) }),
		counter("podfate_http_connections_evicted_total", "Connections closed to make room for others: their clients kept the server waiting.", &s.connections.evicted),
		counter("podfate_http_connections_refused_total", "Connections that got 503 because there were too many.", &s.connections.refused),
		counter("podfate_http_accept_failures_total", "Attempts to accept a connection that failed.", &s.connections.failures),
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	m.registry.MustRegister(poolCollector{s})
	return m
}

// handler serves the figures.
func (m *metrics) handler() http.Handler {
	// Compression would cost more than it saves between neighbours, and the server has one rule for
	// encodings.
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{DisableCompression: true})
}

func (m *metrics) request(route string, status int, took time.Duration) {
	m.requests.WithLabelValues(route, strconv.Itoa(status)).Inc()
	m.durations.WithLabelValues(route).Observe(took.Seconds())
}

func (m *metrics) engineCall(operation string, err error, took time.Duration) {
	outcome := "ok"
	var r *refusal
	if errors.As(err, &r) {
		outcome = asRefusal(r).code
	} else if err != nil {
		outcome = "CANCELED"
	}
	m.calls.WithLabelValues(operation, outcome).Inc()
	m.callDuration.WithLabelValues(operation).Observe(took.Seconds())
}

// PoolStats is the state of an engine's instances, and what they have done since the start.
type PoolStats struct {
	Ready, Running int    // instances that wait for a call, and that serve one
	Calls          uint64 // that reached an instance
	Traps          uint64 // calls that trapped
	Malformed      uint64 // calls whose answer was refused
	Recycled       uint64 // instances replaced because of age or size
	Made           uint64 // instances made, the first ones included
	Stalled        uint64 // calls that waited while an instance was made
}

// poolCollector reads the pool once for each scrape, so that its figures belong together. An engine
// without a pool has none.
type poolCollector struct{ server *Server }

type poolFigure struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	read func(PoolStats) float64
}

var poolFigures = []poolFigure{
	newPoolFigure("podfate_pool_ready", "Instances that wait for a call.", prometheus.GaugeValue, func(p PoolStats) float64 { return float64(p.Ready) }),
	newPoolFigure("podfate_pool_running", "Instances that serve a call.", prometheus.GaugeValue, func(p PoolStats) float64 { return float64(p.Running) }),
	newPoolFigure("podfate_pool_calls_total", "Calls that reached an instance.", prometheus.CounterValue, func(p PoolStats) float64 { return float64(p.Calls) }),
	newPoolFigure("podfate_pool_traps_total", "Calls that trapped.", prometheus.CounterValue, func(p PoolStats) float64 { return float64(p.Traps) }),
	newPoolFigure("podfate_pool_malformed_total", "Calls whose answer was refused.", prometheus.CounterValue, func(p PoolStats) float64 { return float64(p.Malformed) }),
	newPoolFigure("podfate_pool_recycled_total", "Instances replaced because of age or size.", prometheus.CounterValue, func(p PoolStats) float64 { return float64(p.Recycled) }),
	newPoolFigure("podfate_pool_made_total", "Instances made.", prometheus.CounterValue, func(p PoolStats) float64 { return float64(p.Made) }),
	newPoolFigure("podfate_pool_stalled_total", "Calls that waited while an instance was made.", prometheus.CounterValue, func(p PoolStats) float64 { return float64(p.Stalled) }),
}

func newPoolFigure(name, help string, kind prometheus.ValueType, read func(PoolStats) float64) poolFigure {
	return poolFigure{prometheus.NewDesc(name, help, nil, nil), kind, read}
}

func (c poolCollector) Describe(descs chan<- *prometheus.Desc) {
	for _, f := range poolFigures {
		descs <- f.desc
	}
}

func (c poolCollector) Collect(out chan<- prometheus.Metric) {
	select {
	case <-c.server.started:
	default:
		return // the engine is not there yet
	}
	pool, ok := c.server.engine.(interface{ Stats() PoolStats })
	if !ok {
		return
	}
	stats := pool.Stats()
	for _, f := range poolFigures {
		out <- prometheus.MustNewConstMetric(f.desc, f.kind, f.read(stats))
	}
}
