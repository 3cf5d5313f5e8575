package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/podfate/podfate/web/views"
)

// Module is the WebAssembly file that pages load and describe names.
type Module struct {
	Bytes  []byte
	SHA256 string // 64 lower-case hexadecimal digits; "" if there is no module
}

// Config says what a server serves. Start is required.
type Config struct {
	// Start makes the engine. It runs while the server already answers /healthz, because compiling
	// a module takes a moment; until it returns and a first evaluation has passed, /readyz says no.
	Start func(context.Context) (Engine, error)
	// Module is offered to browsers; without bytes there is none.
	Module Module
	// Address is what the listener was asked for, such as 127.0.0.1:8080. It decides which Host
	// headers are answered.
	Address string
	// Hosts are further names that the server answers for, such as that of a proxy before it.
	Hosts []string
	// Workers bounds the evaluations that run at once, and the texts in YAML that are read at once;
	// 0 means 4.
	Workers int
	// Log gets one line per request and one per event; nil discards them.
	Log *slog.Logger
	// Limits bounds what clients can make the server do; its zero value means the defaults.
	Limits Limits
}

// Server answers operations over HTTP and serves the playground. It is an [http.Handler];
// [Server.Run] does the rest.
type Server struct {
	config      Config
	limits      Limits
	log         *slog.Logger
	hosts       hosts
	crossOrigin *http.CrossOriginProtection
	mux         *http.ServeMux
	metrics     *metrics
	gate        *gate
	connections *connections
	workers     chan struct{} // holds one for each evaluation that runs
	readers     chan struct{} // holds one for each small text in YAML that is being read
	drains      chan struct{} // holds one for each refused form that is read to its end
	largeText   chan struct{} // holds one while a large text in YAML is read

	files           map[string]*file // by their path below /static/
	schemas         map[string]*file // by their path below /schema/v1/
	moduleFile      *file            // nil if there is no module
	moduleURL       string           // "" if there is no module
	openAPIFile     *file
	offlineFile     *file // the service worker
	describeRequest []byte
	description     atomic.Pointer[views.Module]  // what describe said, once it was asked for a page
	examples        atomic.Pointer[[]views.Entry] // of the gallery, once it was asked for

	engine  Engine        // set before started is closed
	started chan struct{} // closed when a first evaluation has passed
	leaving atomic.Bool   // set when shutdown begins

	inFlight    atomic.Int64 // requests in a handler
	began       time.Time    // what lastRequest is counted from: the clock on the wall may be set
	lastRequest atomic.Int64 // when the last one ended, nanoseconds since began; 0 if there was none
}

// New returns a server that is not running yet.
func New(config Config) (*Server, error) {
	if config.Start == nil {
		return nil, errors.New("server: Config.Start is missing")
	}
	if config.Workers == 0 {
		config.Workers = 4
	}
	if config.Log == nil {
		config.Log = slog.New(slog.DiscardHandler)
	}
	if len(config.Module.Bytes) > 0 && config.Module.SHA256 == "" {
		sum := sha256.Sum256(config.Module.Bytes)
		config.Module.SHA256 = hex.EncodeToString(sum[:])
	}
	limits := config.Limits.withDefaults()
	s := &Server{
		config:          config,
		limits:          limits,
		log:             config.Log,
		hosts:           hostsFor(config.Address, config.Hosts),
		crossOrigin:     http.NewCrossOriginProtection(),
		gate:            newGate(limits),
		connections:     newConnections(limits.Connections, mostConnections(limits.Open, descriptors())),
		began:           time.Now().Add(-time.Millisecond), // so that no request ends at 0
		workers:         make(chan struct{}, config.Workers),
		readers:         make(chan struct{}, config.Workers),
		largeText:       make(chan struct{}, 1),
		drains:          make(chan struct{}, drainPlaces),
		describeRequest: describeRequest(config.Module),
		started:         make(chan struct{}),
	}
	if err := s.loadFiles(); err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	s.metrics = newMetrics(s)
	var crowded, deaf sometimes
	s.connections.full = func() {
		if n := crowded.due(s.now()); n > 0 {
			s.log.Warn("too many connections: new ones get 503", slog.Int64("refused", n), slog.Int("served", s.connections.limit))
		}
	}
	s.connections.failed = func(err error) {
		if n := deaf.due(s.now()); n > 0 {
			s.log.Warn("connections cannot be accepted, trying again", slog.Int64("failures", n), slog.String("error", err.Error()))
		}
	}
	s.mux = s.newMux()
	return s, nil
}

// Started returns a channel that is closed when the server is ready for requests.
func (s *Server) Started() <-chan struct{} { return s.started }

// web returns what reads requests from connections, with the time-outs of the limits.
func (s *Server) web() *http.Server {
	return &http.Server{
		Handler:           s,
		ReadHeaderTimeout: s.limits.ReadHeader,
		ReadTimeout:       s.limits.Read,
		WriteTimeout:      s.limits.Write,
		IdleTimeout:       s.limits.Idle,
		MaxHeaderBytes:    s.limits.HeaderBytes - 4096, // net/http adds these 4 KiB again
		ConnContext:       s.connections.context,
		ConnState:         s.connections.state,
		ErrorLog:          slog.NewLogLogger(errorLogHandler{s.log.Handler()}, slog.LevelDebug),
		// OPTIONS * would be answered outside of our handler, without its headers.
		DisableGeneralOptionsHandler: true,
	}
}

// Run serves on ln until ctx ends, then shuts down in order: it says that it is not ready, goes on
// for Limits.LameDuck if there is traffic, so that whoever watches can look elsewhere, closes the
// listener, waits for open requests up to Limits.Drain, and closes the engine. It returns nil after
// an orderly end, and closes ln in any case.
//
// Run is called once.
func (s *Server) Run(ctx context.Context, ln net.Listener) error {
	web := s.web()
	if s.hosts == nil {
		s.log.Warn("requests for every host name are answered: name yours with --host")
	}
	if !loopback(s.config.Address) {
		s.log.Warn("others can reach this address, and /metrics with it")
	}
	served := make(chan error, 1)
	go func() { served <- web.Serve(s.connections.listen(ln)) }()

	starting, stopStarting := context.WithCancel(ctx)
	defer stopStarting()
	var background sync.WaitGroup
	background.Go(func() { s.tidy(starting) })
	startFailed := make(chan error, 1)
	background.Go(func() {
		if err := s.start(starting); err != nil {
			startFailed <- err
		}
	})

	var failure error
	select {
	case <-ctx.Done():
	case failure = <-startFailed:
		if ctx.Err() != nil {
			failure = nil // it was only interrupted
		}
	case failure = <-served:
	}
	stopStarting()
	background.Wait()
	return errors.Join(failure, s.shutdown(web))
}

// start makes the engine and tries it.
func (s *Server) start(ctx context.Context) error {
	began := time.Now()
	engine, err := s.config.Start(ctx)
	if err != nil {
		return fmt.Errorf("start the engine: %w", err)
	}
	s.engine = engine
	_, failed, err := engine.Call(ctx, opDescribe, s.describeRequest)
	if err == nil && failed {
		err = errors.New("describe failed")
	}
	if err != nil {
		return fmt.Errorf("first evaluation: %w", err)
	}
	s.log.Info("ready", slog.Int64("millis", time.Since(began).Milliseconds()))
	close(s.started)
	if s.moduleFile != nil && s.moduleFile.gzipped != nil {
		go s.moduleFile.brotlied() // takes a second, which the first visitor need not wait for
	}
	return nil
}

// tidy returns memory to the system when the server falls idle. By itself Go does that with the
// next collection, and without requests that is minutes away.
func (s *Server) tidy(ctx context.Context) {
	const pause = 10 * time.Second
	ticker := time.NewTicker(pause)
	defer ticker.Stop()
	var tidied int64
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			last := s.lastRequest.Load()
			if last != tidied && s.inFlight.Load() == 0 && now.Sub(s.began)-time.Duration(last) >= pause {
				debug.FreeOSMemory()
				tidied = last
			}
		}
	}
}

// shutdown is the second half of [Server.Run].
func (s *Server) shutdown(web *http.Server) error {
	s.leaving.Store(true)
	if s.busy() {
		s.log.Info("leaving", slog.Int64("inFlight", s.inFlight.Load()))
		// Keep-alives stay on: closing connections now would cut answers that are still on their
		// way.
		time.Sleep(s.limits.LameDuck)
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.limits.Drain)
	defer cancel()
	err := web.Shutdown(ctx)
	if err != nil {
		err = fmt.Errorf("%d requests were still open after %s: %w", s.inFlight.Load(), s.limits.Drain, err)
		web.Close()
	}
	s.connections.refusing.Wait() // they end by themselves within refusalWait and refusalLinger
	if closer, ok := s.engine.(interface{ Close(context.Context) error }); ok {
		err = errors.Join(err, closer.Close(ctx))
	}
	s.log.Info("stopped")
	return err
}

// busy reports whether clients are at work: a request is open, or one ended a moment ago and its
// client may send the next.
func (s *Server) busy() bool {
	last := s.lastRequest.Load()
	return s.inFlight.Load() > 0 || last != 0 && s.now()-time.Duration(last) < s.limits.LameDuck
}

// now is a moment on the clock that nobody sets.
func (s *Server) now() time.Duration { return time.Since(s.began) }

// take waits for one of the places of a channel; the caller receives from the channel to give it
// back.
func take(ctx context.Context, places chan struct{}, wait time.Duration) error {
	select {
	case places <- struct{}{}:
		return nil
	default:
	}
	timeout := time.NewTimer(wait)
	defer timeout.Stop()
	select {
	case places <- struct{}{}:
		return nil
	case <-timeout.C:
		return errBusy
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// sometimes lets something that happens often be said now and then.
type sometimes struct {
	mu    sync.Mutex
	said  time.Duration // when it was said last; 0 if it never was
	since int64         // how often it has happened since
}

// due counts, and returns how often it has happened since it was said, if it is to be said again
// now, else 0.
func (s *sometimes) due(now time.Duration) (n int64) {
	const pause = 10 * time.Second
	s.mu.Lock()
	defer s.mu.Unlock()
	s.since++
	if s.said != 0 && now-s.said < pause {
		return 0
	}
	n, s.since, s.said = s.since, 0, now
	return n
}

// errorLogHandler passes on that net/http had something to say, not what: its lines repeat parts of
// requests and addresses of clients.
type errorLogHandler struct{ slog.Handler }

func (h errorLogHandler) Handle(ctx context.Context, record slog.Record) error {
	record.Message = "connection: net/http reported an error"
	return h.Handler.Handle(ctx, record)
}
