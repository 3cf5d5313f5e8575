package server

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// statusClientGone is what log and metrics say of a request whose client went away while it waited.
// It is never sent.
const statusClientGone = 499

// contentSecurityPolicy lets pages run our scripts and our module and nothing else. Scripts are
// files, so it needs no nonce; 'wasm-unsafe-eval' is what a browser asks for before it compiles a
// module.
const contentSecurityPolicy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; " +
	"img-src 'self' data:; connect-src 'self'; font-src 'self'; worker-src 'self'; manifest-src 'self'; " +
	"base-uri 'none'; form-action 'self'; object-src 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"

// plainHost is a host that may be in a policy.
var plainHost = regexp.MustCompile(`^[\w.:\[\]-]+$`)

// framedPolicy is that of /embed, the one page that others may frame. A frame without an origin of
// its own need not be 'self' to a browser, so the policy names the host as well.
func framedPolicy(host string) string {
	policy := strings.Replace(contentSecurityPolicy, "frame-ancestors 'none'", "frame-ancestors *", 1)
	if plainHost.MatchString(host) {
		policy = strings.ReplaceAll(policy, "'self'", "'self' "+host)
	}
	return policy
}

// fixedHeaders are on every answer, also on those that net/http makes before there is a request
// (see refusedByParser). They are in the order of their names.
var fixedHeaders = [][2]string{
	{"Cache-Control", "no-store"},
	{"Content-Security-Policy", contentSecurityPolicy},
	{"Cross-Origin-Opener-Policy", "same-origin"},
	{"Cross-Origin-Resource-Policy", "same-origin"},
	{"Permissions-Policy", ""},
	{"Referrer-Policy", "no-referrer"},
	{"X-Content-Type-Options", "nosniff"},
	{"X-Frame-Options", "DENY"},
}

// response is the writer that all handlers get. It remembers what log and metrics need.
type response struct {
	http.ResponseWriter
	id       string // of the request
	route    string // the pattern of the table, "other" where none fits
	code     string // of the problem, or ""
	status   int    // 0 until the header is written
	bodySize int64
}

// WriteHeader notes the status of the final header.
func (w *response) WriteHeader(status int) {
	if w.status == 0 && status >= 200 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write counts.
func (w *response) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	n, err := w.ResponseWriter.Write(p)
	w.bodySize += int64(n)
	return n, err
}

// Unwrap is for [http.ResponseController].
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// ServeHTTP is the outermost handler: what holds for every request, whatever its route.
func (s *Server) ServeHTTP(raw http.ResponseWriter, r *http.Request) {
	began := time.Now()
	w := &response{ResponseWriter: raw, id: newRequestID(), route: "other"}
	s.inFlight.Add(1)
	evicted := s.connections.handling(r)
	h := w.Header()
	for i := range fixedHeaders {
		h[fixedHeaders[i][0]] = fixedHeaders[i][1:] // shared by all answers: Set and Del replace it, nothing writes into it
	}
	h.Set("X-Request-Id", w.id)
	if closesAfter(r) {
		h.Set("Connection", "close")
	}
	defer func() {
		if v := recover(); v != nil {
			s.panicked(w, v)
		}
		took := time.Since(began)
		s.metrics.request(w.route, w.status, took)
		s.logRequest(r, w, took)
		s.lastRequest.Store(int64(s.now()))
		s.inFlight.Add(-1)
	}()
	err := s.admissible(r)
	if evicted {
		err = errCrowded
	}
	if err != nil {
		s.problem(w, r, err)
		return
	}
	s.mux.ServeHTTP(w, r)
	if w.status == 0 {
		w.WriteHeader(http.StatusOK) // an empty answer
	}
}

// closesAfter reports whether the connection of r must end with its answer, because nobody knows
// where the next request begins. net/http takes the header Content-Length beside chunks away, and
// the header Transfer-Encoding of HTTP/1.0, so what was there cannot be told from what may be.
//
// Source: RFC 9112, section 6.1.
func closesAfter(r *http.Request) bool {
	return len(r.TransferEncoding) > 0 || !r.ProtoAtLeast(1, 1)
}

// admissible says whether this server should talk to the sender of r at all.
func (s *Server) admissible(r *http.Request) error {
	if !strings.HasPrefix(r.URL.Path, "/") {
		// OPTIONS * and CONNECT: the router would answer them in its own words.
		return refuse(codeBadRequest, "the target of the request is not a path")
	}
	if !s.hosts.allow(r.Host) {
		return refuse(codeHost, "this server answers for %s, not for %q", s.hosts, quote(r.Host, 64))
	}
	if s.crossOrigin.Check(r) != nil {
		return refuse(codeCrossOrigin, "a page of another site may not send this request")
	}
	return nil
}

// problem answers with err.
func (s *Server) problem(w *response, r *http.Request, err error) {
	if gone := r.Context().Err(); gone != nil && errors.Is(err, gone) {
		// Most likely nobody reads this. A client that has only ended its half of the connection
		// does.
		err = errBusy
		defer func() { w.status = statusClientGone }()
	}
	w.Header().Set("Cache-Control", "no-store")
	if asRefusal(err).close {
		// net/http would read another 256 KiB before it closes the connection. Without a real
		// connection there is nothing to set, and nothing to read.
		http.NewResponseController(w).SetReadDeadline(time.Now())
	}
	if wantsPage(r) {
		w.code = writeProblemPage(w, r, w.id, err)
	} else {
		w.code = writeProblem(w, w.id, err)
	}
	s.metrics.refusals.WithLabelValues(w.code).Inc()
}

// panicked makes the best of a bug: a 500 if nothing was sent yet, else a broken connection, so
// that half an answer is not taken for a whole one. The value of the panic may hold what the client
// sent, so only the runtime's own errors are logged as text.
func (s *Server) panicked(w *response, v any) {
	s.metrics.panics.Inc()
	text := fmt.Sprintf("%T", v)
	if err, ok := v.(runtime.Error); ok {
		text = quote(err.Error(), 256)
	}
	s.log.Error("handler panicked", slog.String("requestId", w.id), slog.String("route", w.route),
		slog.String("value", text), slog.String("stack", string(debug.Stack())))
	if w.status != 0 {
		w.status = http.StatusInternalServerError
		if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
			conn.Close()
		}
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	w.code = writeProblem(w, w.id, errInternal)
}

// logRequest writes one line. Path and query stay out of it: the route says what was asked, and a
// path that fits no route is only what a stranger typed.
func (s *Server) logRequest(r *http.Request, w *response, took time.Duration) {
	level := slog.LevelInfo
	switch {
	case w.status >= 500 && w.status != http.StatusServiceUnavailable:
		level = slog.LevelError
	case w.route == "/healthz" || w.route == "/readyz" || w.route == "/metrics":
		level = slog.LevelDebug
	}
	if !s.log.Enabled(r.Context(), level) {
		return
	}
	attributes := []slog.Attr{
		slog.String("requestId", w.id),
		slog.String("method", knownMethod(r.Method)),
		slog.String("route", w.route),
		slog.Int("status", w.status),
		slog.Int64("requestBytes", r.ContentLength), // -1: not declared
		slog.Int64("responseBytes", w.bodySize),
		slog.Int64("micros", took.Microseconds()),
	}
	if w.code != "" {
		attributes = append(attributes, slog.String("code", w.code))
	}
	s.log.LogAttrs(r.Context(), level, "request", attributes...)
}

// knownMethod keeps methods that strangers invent out of the log.
func knownMethod(method string) string {
	switch method {
	case "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT":
		return method
	}
	return "other"
}

// newRequestID returns 16 hexadecimal digits. Ids that clients send are not taken over: they would
// be their text in our log.
func newRequestID() string {
	var random [8]byte
	rand.Read(random[:]) // never fails
	return hex.EncodeToString(random[:])
}

// hosts are the names that a server answers for; nil allows all.
//
// A page can make its own name resolve to 127.0.0.1 and then talk to a server there as its own
// origin (DNS rebinding). The Host header still carries that name, so a server on a loopback
// address answers only for names that mean it.
type hosts []string

// hostsFor returns the names for a server that listens on address: for a loopback address the names
// of the loopback, the address itself and extra; for any other address extra alone, or everything
// when that is empty.
func hostsFor(address string, extra []string) hosts {
	if loopback(address) {
		return append(hosts{"localhost", "127.0.0.1", "::1", hostOf(address)}, extra...)
	}
	return append(hosts(nil), extra...)
}

// hostOf is address without its port.
func hostOf(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		return host
	}
	return address
}

// loopback reports whether only this machine can reach address.
func loopback(address string) bool {
	host := hostOf(address)
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// allow reports whether a request with this Host header is answered. The port does not matter.
func (h hosts) allow(header string) bool {
	if h == nil {
		return true
	}
	name := header
	if host, _, err := net.SplitHostPort(header); err == nil {
		name = host
	}
	name = strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")
	for _, allowed := range h {
		if strings.EqualFold(name, allowed) {
			return true
		}
	}
	return false
}

func (h hosts) String() string {
	distinct := h[:0:0]
	for _, name := range h {
		if !slices.Contains(distinct, name) {
			distinct = append(distinct, name)
		}
	}
	return strings.Join(distinct, ", ")
}
