package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/podfate/podfate/policy/ops"
)

func TestAnswersOfTheCoreArePassedOnAsTheyAre(t *testing.T) {
	s := newServer(t, native)
	for _, op := range ops.Table() {
		requests := []string{validDecide, `{}`, `{`, `null`, `{"manifest":null}`, `{"unknown":1}`}
		for _, request := range requests {
			want, failed := ops.Call(op.Number, []byte(request))
			w := send(s, "POST", "/api/v1/"+op.Name, request)
			if !failed {
				if w.Code != 200 || !bytes.Equal(w.Body.Bytes(), want) {
					t.Errorf("%s %s: status %d, answer %s, want %s", op.Name, request, w.Code, w.Body, want)
				}
				continue
			}
			p := problemOf(t, w.Code, w.Header(), w.Body.Bytes())
			if got := `{"error":` + string(p.Error) + `}`; got != string(want) {
				t.Errorf("%s %s: error %s, want %s", op.Name, request, got, want)
			}
		}
	}
}

// TestDetailIsInPlainWords: what decoding refuses is said as the command line says it, with the
// text of Kubernetes behind (R-W6). The core's own error stays as it is.
func TestDetailIsInPlainWords(t *testing.T) {
	s := newServer(t, native)
	const manifest = `{"apiVersion":"v1","kind":"Pod","spec":{"restartPolicy":7,"containers":[{"name":"main"}]}}`
	const want = "spec.restartPolicy: must be a string, found 7 (Kubernetes: json: cannot unmarshal number into Go struct field PodSpec.spec.restartPolicy of type v1.RestartPolicy)"
	for body, detail := range map[string]string{
		`{"manifest":` + manifest + `,"exits":[{"exitCode":1}]}`: want,
		`{"manifest":` + manifest + `}`:                          want + " (and one more fault)",
		`{"manifest":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"restartPolicy":"no","containers":[{"name":"main","image":"i"}]}},"exits":[{"exitCode":1}]}`: `spec.restartPolicy: Unsupported value: "no": supported values: "Always", "OnFailure", "Never"`,
		`{"exits":7}`: "manifest: a manifest is required, with its apiVersion and kind (and one more fault)",
	} {
		for _, contentType := range []string{"application/json", "application/yaml"} {
			w := send(s, "POST", "/api/v1/decide", body, "Content-Type: "+contentType)
			p := problemOf(t, w.Code, w.Header(), w.Body.Bytes())
			if got := p.Detail; got != detail {
				t.Errorf("%s: %s\nwant %s", body, got, detail)
			}
		}
	}
}

// TestJSONWithAByteOrderMark: PowerShell writes one. Whatever claims to be JSON or YAML is read as
// if it were not there.
func TestJSONWithAByteOrderMark(t *testing.T) {
	s := newServer(t, native)
	want := send(s, "POST", "/api/v1/decide", validDecide)
	for _, contentType := range []string{"application/json", "application/yaml"} {
		got := send(s, "POST", "/api/v1/decide", "\ufeff"+validDecide, "Content-Type: "+contentType)
		if got.Code != 200 || !bytes.Equal(got.Body.Bytes(), want.Body.Bytes()) {
			t.Errorf("%s: status %d, %s, want %s", contentType, got.Code, got.Body, want.Body)
		}
		wrong := send(s, "POST", "/api/v1/decide", "\ufeff"+`{"nonsense":1}`, "Content-Type: "+contentType)
		if p := string(problemOf(t, wrong.Code, wrong.Header(), wrong.Body.Bytes()).Error); !strings.Contains(p, `"line":1,"column":2`) {
			t.Errorf("%s: %s does not name the column that an editor shows", contentType, p)
		}
	}
}

func TestDescribeNamesTheModule(t *testing.T) {
	module := Module{Bytes: []byte("\x00asm"), SHA256: strings.Repeat("ab", 32)}
	s := newServer(t, native, func(c *Config) { c.Module = module })
	want, failed := ops.Call(1, []byte(`{"module":{"sha256":"`+module.SHA256+`","bytes":4}}`))
	if failed {
		t.Fatalf("%s", want)
	}
	for _, method := range []string{"GET", "POST"} {
		if w := send(s, method, "/api/v1/describe", ""); w.Code != 200 || !bytes.Equal(w.Body.Bytes(), want) {
			t.Errorf("%s: status %d, %s", method, w.Code, w.Body)
		}
	}
}

// failing is an engine whose answers are all the same failure.
func failing(payload string) EngineFunc {
	return func(_ context.Context, op uint32, request []byte) ([]byte, bool, error) {
		if op == opDescribe {
			return []byte(`{}`), false, nil
		}
		return []byte(payload), true, nil
	}
}

func broken(err error) EngineFunc {
	return func(_ context.Context, op uint32, request []byte) ([]byte, bool, error) {
		if op == opDescribe {
			return []byte(`{}`), false, nil
		}
		return nil, false, err
	}
}

func TestEveryCodeHasItsStatus(t *testing.T) {
	for name, want := range map[string]int{
		"BAD_JSON": 400, "BAD_YAML": 400, "BAD_UTF8": 400, "UNSUPPORTED_OP": 404,
		"MANIFEST_INVALID": 422, "EVENT_INVALID": 422, "UNKNOWN_HANDLE": 422, "LIMIT_EXCEEDED": 422,
		"UNSUPPORTED_VERSION": 422, "BUDGET_EXCEEDED": 422,
		"INTERNAL": 500, "BAD_BUFFER": 500, "OUTPUT_TOO_SMALL": 500, "OF_A_LATER_RELEASE": 500,
	} {
		core := `{"code":"` + name + `","num":77,"message":"m <script> \u003c","faults":[{"path":"a","code":"b"}]}`
		s := newServer(t, failing(`{"error":`+core+`}`))
		w := send(s, "POST", "/api/v1/decide", `{}`)
		if w.Code != want {
			t.Errorf("%s: status %d, want %d", name, w.Code, want)
		}
		p := problemOf(t, w.Code, w.Header(), w.Body.Bytes())
		if want != 500 && code(p.Type) != name || want == 500 && code(p.Type) != "INTERNAL" {
			t.Errorf("%s: type %s", name, p.Type)
		}
		if string(p.Error) != core {
			t.Errorf("%s: error %s, want it as it came: %s", name, p.Error, core)
		}
	}
}

func TestEngineFailuresSayNothingOfTheInside(t *testing.T) {
	for _, c := range []struct {
		err    error
		status int
		code   string
	}{
		{errors.New("wasm error: unreachable at /secret/place.go"), 500, "INTERNAL"},
		{ErrEngineBusy, 503, "BUSY"},
	} {
		var log syncBuffer
		w := send(newServer(t, broken(c.err), logTo(&log)), "POST", "/api/v1/decide", `{}`)
		p := problemOf(t, w.Code, w.Header(), w.Body.Bytes())
		if w.Code != c.status || code(p.Type) != c.code {
			t.Errorf("%v: status %d, type %s", c.err, w.Code, p.Type)
		}
		if strings.Contains(w.Body.String()+log.String(), "secret") {
			t.Errorf("%v: the text of the error came out: %s %s", c.err, w.Body, log.String())
		}
	}
	for _, payload := range []string{``, `{}`, `{"error":`, `{"error":[]}`, `{"error":{"code":7}}`} {
		w := send(newServer(t, failing(payload)), "POST", "/api/v1/decide", `{}`)
		if w.Code != 500 {
			t.Errorf("payload %q: status %d", payload, w.Code)
		}
		problemOf(t, w.Code, w.Header(), w.Body.Bytes())
	}
}

func TestRefusalsByHeaders(t *testing.T) {
	s := newServer(t, native, func(c *Config) { c.Address = "127.0.0.1:8080" })
	const local = "Host: localhost:8080"
	for _, c := range []struct {
		name   string
		method string
		target string
		header []string
		status int
		code   string
	}{
		{"text", "POST", "/api/v1/decide", []string{local, "Content-Type: text/plain"}, 415, "UNSUPPORTED_MEDIA_TYPE"},
		{"form", "POST", "/api/v1/decide", []string{local, "Content-Type: application/x-www-form-urlencoded"}, 415, "UNSUPPORTED_MEDIA_TYPE"},
		{"no type", "POST", "/api/v1/decide", []string{local, "Content-Type: "}, 415, "UNSUPPORTED_MEDIA_TYPE"},
		{"type that cannot be read", "POST", "/api/v1/decide", []string{local, "Content-Type: application/json;;;=\x01"}, 415, "UNSUPPORTED_MEDIA_TYPE"},
		{"suffix only", "POST", "/api/v1/decide", []string{local, "Content-Type: application/foo+json"}, 415, "UNSUPPORTED_MEDIA_TYPE"},
		{"Latin-1", "POST", "/api/v1/decide", []string{local, "Content-Type: application/json; charset=iso-8859-1"}, 415, "UNSUPPORTED_MEDIA_TYPE"},
		{"UTF-16", "POST", "/api/v1/decide", []string{local, "Content-Type: application/yaml; charset=utf-16"}, 415, "UNSUPPORTED_MEDIA_TYPE"},
		{"UTF-8", "POST", "/api/v1/decide", []string{local, "Content-Type: Application/JSON; charset=UTF-8"}, 200, ""},
		{"gzip", "POST", "/api/v1/decide", []string{local, "Content-Encoding: gzip"}, 415, "UNSUPPORTED_MEDIA_TYPE"},
		{"unknown encoding", "POST", "/api/v1/decide", []string{local, "Content-Encoding: x"}, 415, "UNSUPPORTED_MEDIA_TYPE"},
		{"identity", "POST", "/api/v1/decide", []string{local, "Content-Encoding: identity"}, 200, ""},
		{"cross-site", "POST", "/api/v1/decide", []string{local, "Sec-Fetch-Site: cross-site"}, 403, "CROSS_ORIGIN"},
		{"same-site", "POST", "/api/v1/decide", []string{local, "Sec-Fetch-Site: same-site"}, 403, "CROSS_ORIGIN"},
		{"same-origin", "POST", "/api/v1/decide", []string{local, "Sec-Fetch-Site: same-origin"}, 200, ""},
		{"null origin", "POST", "/api/v1/decide", []string{local, "Origin: null"}, 403, "CROSS_ORIGIN"},
		{"other origin", "POST", "/api/v1/decide", []string{local, "Origin: http://evil.example"}, 403, "CROSS_ORIGIN"},
		{"own origin", "POST", "/api/v1/decide", []string{local, "Origin: http://localhost:8080"}, 200, ""},
		{"rebound name", "POST", "/api/v1/decide", []string{"Host: evil.example:8080"}, 421, "MISDIRECTED_REQUEST"},
		{"name that only begins right", "GET", "/", []string{"Host: localhost.evil.example"}, 421, "MISDIRECTED_REQUEST"},
		{"no name", "GET", "/healthz", []string{"Host: "}, 421, "MISDIRECTED_REQUEST"},
		{"IPv4", "GET", "/healthz", []string{"Host: 127.0.0.1"}, 200, ""},
		{"IPv6", "GET", "/healthz", []string{"Host: [::1]:8080"}, 200, ""},
		{"any case", "GET", "/healthz", []string{"Host: LocalHost:1"}, 200, ""},
		{"no such path", "GET", "/api/v2/decide", []string{local}, 404, "NOT_FOUND"},
		{"no such operation", "POST", "/api/v1/destroy", []string{local}, 404, "NOT_FOUND"},
		{"below a path", "POST", "/api/v1/decide/", []string{local}, 404, "NOT_FOUND"},
		{"wrong method", "GET", "/api/v1/decide", []string{local}, 405, "METHOD_NOT_ALLOWED"},
		{"preflight", "OPTIONS", "/api/v1/decide", []string{local}, 405, "METHOD_NOT_ALLOWED"},
		{"invented method", "BREW", "/healthz", []string{local}, 405, "METHOD_NOT_ALLOWED"},
	} {
		t.Run(c.name, func(t *testing.T) {
			body := ""
			if c.method == "POST" {
				body = validDecide
			}
			w := send(s, c.method, c.target, body, c.header...)
			if w.Code != c.status {
				t.Fatalf("status %d, want %d: %s", w.Code, c.status, w.Body)
			}
			if c.code == "" {
				return
			}
			if p := problemOf(t, w.Code, w.Header(), w.Body.Bytes()); code(p.Type) != c.code {
				t.Errorf("type %s, want %s", p.Type, c.code)
			}
			if c.status == 405 && w.Header().Get("Allow") == "" {
				t.Error("Allow is missing")
			}
		})
	}
}

// TestRefusalsSayWhatIsTaken: what a request has to have instead is in the detail.
func TestRefusalsSayWhatIsTaken(t *testing.T) {
	s := newServer(t, native, func(c *Config) { c.Address = "127.0.0.1:8080" })
	for _, c := range []struct{ method, target, header, detail string }{
		{"GET", "/api/v1/decide", "Accept: */*", "this path takes POST, not GET"},
		{"DELETE", "/", "Accept: */*", "this path takes GET, HEAD, POST, not DELETE"},
		{"POST", "/api/v1/decide", "Content-Type: ", "there is no Content-Type: send application/json or application/yaml"},
		{"POST", "/", "Content-Type: ", "there is no Content-Type: send application/x-www-form-urlencoded"},
		{"POST", "/api/v1/decide", "Content-Type: text/plain", `Content-Type "text/plain" is not application/json or application/yaml`},
	} {
		w := send(s, c.method, c.target, validDecide, "Host: localhost:8080", c.header)
		if p := problemOf(t, w.Code, w.Header(), w.Body.Bytes()); p.Detail != c.detail {
			t.Errorf("%s %s: %q, want %q", c.method, c.target, p.Detail, c.detail)
		}
	}
}

func TestServerOnAnyAddressAnswersForAnyNameUnlessNamesAreGiven(t *testing.T) {
	open := newServer(t, native, func(c *Config) { c.Address = "0.0.0.0:8080" })
	if w := send(open, "GET", "/healthz", "", "Host: playground.example"); w.Code != 200 {
		t.Errorf("status %d", w.Code)
	}
	named := newServer(t, native, func(c *Config) { c.Address, c.Hosts = ":8080", []string{"playground.example"} })
	if w := send(named, "GET", "/healthz", "", "Host: playground.example:443"); w.Code != 200 {
		t.Errorf("configured name: status %d", w.Code)
	}
	if w := send(named, "GET", "/healthz", "", "Host: other.example"); w.Code != 421 {
		t.Errorf("other name: status %d", w.Code)
	}
}

func TestOpenServerSaysSo(t *testing.T) {
	for _, c := range []struct {
		address     string
		hosts       []string
		every, open bool
	}{
		{"127.0.0.1:8080", nil, false, false},
		{"localhost:8080", nil, false, false},
		{"0.0.0.0:8080", nil, true, true},
		{":8080", nil, true, true},
		{":8080", []string{"playground.example"}, false, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			var log syncBuffer
			s := runInMemory(t, config(native, logTo(&log), func(k *Config) { k.Address, k.Hosts = c.address, c.hosts }))
			if err := s.stop(); err != nil {
				t.Error(err)
			}
			if got := strings.Contains(log.String(), "every host name"); got != c.every {
				t.Errorf("%s %v: that every Host is answered is said: %v", c.address, c.hosts, got)
			}
			if got := strings.Contains(log.String(), "/metrics with it"); got != c.open {
				t.Errorf("%s %v: that others reach /metrics is said: %v", c.address, c.hosts, got)
			}
		})
	}
}

func TestHostsOfAnAddress(t *testing.T) {
	for address, want := range map[string]string{
		"127.0.0.1:8080": "localhost, 127.0.0.1, ::1, playground.example",
		"127.0.0.1":      "localhost, 127.0.0.1, ::1, playground.example",
		"127.9.9.9:0":    "localhost, 127.0.0.1, ::1, 127.9.9.9, playground.example",
		"[::1]:8080":     "localhost, 127.0.0.1, ::1, playground.example",
		"localhost":      "localhost, 127.0.0.1, ::1, playground.example",
		"0.0.0.0:8080":   "playground.example",
		":8080":          "playground.example",
		"":               "playground.example",
	} {
		if got := hostsFor(address, []string{"playground.example"}).String(); got != want {
			t.Errorf("%q: %s, want %s", address, got, want)
		}
	}
}

// counted is a body that knows how much of it was read.
type counted struct {
	r    io.Reader
	read int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.read += int64(n)
	return n, err
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestBodyOverTheLimit(t *testing.T) {
	s := newServer(t, native)
	fits := validDecide + strings.Repeat(" ", DefaultBodyBytes-len(validDecide))
	if w := send(s, "POST", "/api/v1/decide", fits); w.Code != 200 {
		t.Errorf("%d bytes: status %d, %s", len(fits), w.Code, w.Body)
	}
	for _, c := range []struct {
		name     string
		declared int64
		maxRead  int64
	}{
		{"declared", DefaultBodyBytes + 1, 0},
		{"far too much declared", 1 << 62, 0},
		{"not declared", -1, DefaultBodyBytes + 64<<10}, // the reader below asks in large steps
	} {
		body := &counted{r: endless{}}
		r := httptest.NewRequest("POST", "/api/v1/decide", body)
		r.ContentLength = c.declared
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if p := problemOf(t, w.Code, w.Header(), w.Body.Bytes()); w.Code != 413 || code(p.Type) != "BODY_TOO_LARGE" {
			t.Errorf("%s: status %d, %s", c.name, w.Code, p.Type)
		}
		if body.read > c.maxRead {
			t.Errorf("%s: %d bytes were read, want at most %d", c.name, body.read, c.maxRead)
		}
		if w.Header().Get("Connection") != "close" {
			t.Errorf("%s: the connection stays open for the rest of the body", c.name)
		}
	}
}

func TestProblemStaysSmallHoweverManyFaults(t *testing.T) {
	fault := `{"path":"` + strings.Repeat("p", 200) + `","code":"unknown_field","detail":"` + strings.Repeat("d", 1000) + `"}`
	faults := strings.Repeat(fault+",", 99) + fault
	s := newServer(t, failing(`{"error":{"code":"MANIFEST_INVALID","num":3,"message":"m","offset":0,"faults":[`+faults+`]}}`))
	w := send(s, "POST", "/api/v1/decide", `{}`)
	p := problemOf(t, w.Code, w.Header(), w.Body.Bytes())
	var object struct {
		Offset *int
		Faults []struct{ Path, Code string }
	}
	if err := json.Unmarshal(p.Error, &object); err != nil {
		t.Fatal(err)
	}
	last := object.Faults[len(object.Faults)-1]
	if len(object.Faults) < 40 || last.Code != "too_many_faults" || object.Offset == nil {
		t.Errorf("%d faults, the last is %+v", len(object.Faults), last)
	}
}

// TestEveryRouteHasTheHeaders asks each route of the table, and some that are not in it, with every
// method.
func TestEveryRouteHasTheHeaders(t *testing.T) {
	s := newServer(t, native)
	targets := []string{"/", "/nowhere", "/static/", "/static/../../etc/passwd", "//host/path", "/static/%2e%2e/x", "/api/v1/../../x"}
	for _, r := range s.routes() {
		target := strings.NewReplacer("{$}", "", "{file...}", "nothing.css", "{file}", "nothing.json").Replace(r.path)
		targets = append(targets, target)
	}
	slices.Sort(targets)
	for _, target := range slices.Compact(targets) {
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "OPTIONS", "TRACE", "BREW"} {
			w := send(s, method, target, "")
			h := w.Header()
			for _, header := range everywhere[1:] {
				if target == "/embed" && w.Code == 200 && (header[0] == "X-Frame-Options" || header[0] == "Content-Security-Policy" || header[0] == "Cross-Origin-Resource-Policy") {
					continue // TestEmbedMayBeFramed
				}
				if got := h.Values(header[0]); len(got) != 1 || got[0] != header[1] {
					t.Errorf("%s %s: %s is %q, want %q", method, target, header[0], got, header[1])
				}
			}
			cache := h.Get("Cache-Control")
			if cache == "" || w.Code != 200 && w.Code != 304 && cache != "no-store" || strings.HasPrefix(target, "/api/v1/d") && cache != "no-store" {
				t.Errorf("%s %s: status %d with Cache-Control %q", method, target, w.Code, cache)
			}
			if w.Code >= 500 {
				t.Errorf("%s %s: status %d", method, target, w.Code)
			}
			for _, name := range []string{"Set-Cookie", "Server", "Access-Control-Allow-Origin", "X-Powered-By"} {
				if h.Get(name) != "" {
					t.Errorf("%s %s: %s is set", method, target, name)
				}
			}
		}
	}
}

// TestContentSecurityPolicy says why the policy of [everywhere] is what it is.
func TestContentSecurityPolicy(t *testing.T) {
	directives := map[string]string{}
	for _, d := range strings.Split(contentSecurityPolicy, "; ") {
		name, value, _ := strings.Cut(d, " ")
		directives[name] = value
	}
	for name, want := range map[string]string{
		"default-src": "'none'", "script-src": "'self' 'wasm-unsafe-eval'", "style-src": "'self'", "connect-src": "'self'",
		"worker-src": "'self'", "form-action": "'self'", "base-uri": "'none'", "object-src": "'none'",
		"frame-ancestors": "'none'", "require-trusted-types-for": "'script'",
	} {
		if directives[name] != want {
			t.Errorf("%s is %q, want %q", name, directives[name], want)
		}
	}
	for _, word := range []string{"unsafe-inline", "'unsafe-eval'", "http:", "https:", "*", "nonce"} {
		if strings.Contains(contentSecurityPolicy, word) {
			t.Errorf("the policy contains %s", word)
		}
	}
}

func TestNothingOfTheBodyIsLogged(t *testing.T) {
	const marker = "MARKER-d41d8cd9"
	var log syncBuffer
	s := newServer(t, native, logTo(&log))
	bodies := []string{
		strings.ReplaceAll(validDecide, `"main"`, `"`+marker+`"`),
		`{"` + marker + `":1}`,
		marker,
		strings.ReplaceAll(validDecide, `"name":"main"`, `"name":"a\n{\"level\":\"ERROR\"}\u001b[31m`+marker+`"`),
	}
	for _, body := range bodies {
		send(s, "POST", "/api/v1/decide", body, "X-Marker: "+marker, "Referer: http://x/"+marker, "User-Agent: "+marker)
		send(s, "POST", "/api/v1/"+marker+"?"+marker, body)
		send(s, "POST", "/", "manifest="+marker, "Content-Type: application/x-www-form-urlencoded")
		send(s, marker, "/api/v1/decide", body)
	}
	panicking := newServer(t, func(_ context.Context, op uint32, request []byte) ([]byte, bool, error) {
		if op != opDescribe {
			panic(string(request))
		}
		return nil, false, nil
	}, logTo(&log))
	if w := send(panicking, "POST", "/api/v1/decide", bodies[0]); w.Code != 500 {
		t.Errorf("panic: status %d", w.Code)
	} else {
		problemOf(t, w.Code, w.Header(), w.Body.Bytes())
	}
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	for _, line := range lines {
		if strings.Contains(line, marker) && !strings.Contains(line, `"method":"`+marker[:9]) || !json.Valid([]byte(line)) {
			t.Errorf("log line: %s", line)
		}
	}
	if len(lines) < 4*len(bodies) {
		t.Errorf("%d log lines", len(lines))
	}
	if got := gathered(t, panicking, "podfate_http_panics_total"); got != 1 {
		t.Errorf("%v panics counted, want 1", got)
	}
}

func TestMetricsHoldNothingOfTheRequests(t *testing.T) {
	s := newServer(t, native)
	send(s, "POST", "/api/v1/decide", validDecide)
	send(s, "GET", "/MARKER?MARKER", "")
	send(s, "MARKER", "/api/v1/decide", "")
	w := send(s, "GET", "/metrics", "")
	body := w.Body.String()
	if w.Code != 200 || strings.Contains(body, "MARKER") {
		t.Errorf("status %d\n%s", w.Code, body)
	}
	for _, want := range []string{
		`podfate_http_requests_total{route="/api/v1/decide",status="200"} 1`,
		`podfate_http_requests_total{route="other",status="404"} 1`,
		`podfate_engine_calls_total{operation="decide",outcome="ok"} 1`,
		`podfate_http_problems_total{code="METHOD_NOT_ALLOWED"} 1`,
	} {
		if !strings.Contains(body, want+"\n") {
			t.Errorf("missing: %s\n%s", want, body)
		}
	}
}

// gathered returns the sum of a metric over its labels.
func gathered(t testing.TB, s *Server, name string) (sum float64) {
	t.Helper()
	families, err := s.metrics.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() == name {
			for _, m := range family.Metric {
				sum += m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
	}
	return sum
}

func TestReadiness(t *testing.T) {
	s, err := New(config(native, limited(Limits{QueueWait: 1})))
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{"/readyz", "/api/v1/describe"} {
		w := send(s, "GET", target, "")
		if p := problemOf(t, w.Code, w.Header(), w.Body.Bytes()); w.Code != 503 || code(p.Type) != "STARTING" {
			t.Errorf("%s before the start: status %d, %s", target, w.Code, p.Type)
		}
	}
	if w := send(s, "GET", "/healthz", ""); w.Code != 200 {
		t.Errorf("/healthz before the start: status %d", w.Code)
	}
	if err := s.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if w := send(s, "GET", "/readyz", ""); w.Code != 200 {
		t.Errorf("/readyz: status %d", w.Code)
	}
	s.leaving.Store(true)
	if w := send(s, "GET", "/readyz", ""); w.Code != 503 {
		t.Errorf("/readyz when leaving: status %d", w.Code)
	}
	if w := send(s, "POST", "/api/v1/decide", validDecide); w.Code != 200 {
		t.Errorf("decide when leaving: status %d", w.Code)
	}
}

func TestServerDoesNotStartWithAnEngineThatFails(t *testing.T) {
	for name, engine := range map[string]EngineFunc{
		"error":  func(context.Context, uint32, []byte) ([]byte, bool, error) { return nil, false, errors.New("no") },
		"failed": func(context.Context, uint32, []byte) ([]byte, bool, error) { return nil, true, nil },
	} {
		s, err := New(config(engine))
		if err != nil {
			t.Fatal(err)
		}
		if s.start(t.Context()) == nil {
			t.Errorf("%s: started", name)
		}
	}
	if _, err := New(Config{}); err == nil {
		t.Error("a server without an engine was made")
	}
}

func TestQuote(t *testing.T) {
	for _, c := range []struct {
		text  string
		limit int
		want  string
	}{
		{"text", 4, "text"},
		{"texts", 4, "text…"},
		{"déjà", 2, "d…"}, // the second character takes two bytes
		{"日本", 2, "…"},
		{"a\x1b[2J\u202eb\n", 64, `a\x1b[2J\u202eb\n`},
		{"\xff\xff", 1, "�…"},
		{"\x80\x80", 1, "…"},
	} {
		if got := quote(c.text, c.limit); got != c.want {
			t.Errorf("quote(%q, %d) = %q, want %q", c.text, c.limit, got, c.want)
		}
	}
}
