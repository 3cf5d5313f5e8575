package server

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// exchange sends raw bytes over a connection of its own and returns all answers until the server
// closes it.
func exchange(t testing.TB, address, raw string) (answers []*http.Response, bodies []string) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	go io.WriteString(conn, raw) // the server may answer and close before it has read everything
	r := bufio.NewReader(conn)
	for {
		if _, err := r.Peek(1); err != nil {
			return answers, bodies
		}
		answer, err := http.ReadResponse(r, nil)
		if err != nil {
			t.Fatalf("%q: answer %d: %v", clip(raw), len(answers), err)
		}
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatalf("%q: body of answer %d: %v", clip(raw), len(answers), err)
		}
		answers, bodies = append(answers, answer), append(bodies, string(body))
	}
}

func clip(s string) string { return s[:min(len(s), 80)] }

// TestRawSocket sends what no HTTP library would.
func TestRawSocket(t *testing.T) {
	s := run(t, config(native))
	host := "Host: " + s.address + "\r\n"
	const (
		asJSON = "Content-Type: application/json\r\n"
		last   = "Connection: close\r\n"
		post   = "POST /api/v1/decide HTTP/1.1\r\n"
		get    = "GET /healthz HTTP/1.1\r\n"
	)
	body := validDecide
	chunk := func(s string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(s), s) }
	for _, c := range []struct {
		name string
		raw  string
		want []int // statuses of the answers, in order
	}{
		{"good request", post + host + asJSON + last + fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body), []int{200}},
		{"good chunks", post + host + asJSON + last + "Transfer-Encoding: chunked\r\n\r\n" + chunk(body) + "0\r\n\r\n", []int{200}},
		{"two requests in one piece", get + host + "\r\n" + get + host + last + "\r\n", []int{200, 200}},
		{"length and chunks: chunks count, and the connection ends (RFC 9112 6.1)", post + host + asJSON + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n" +
			chunk(body) + "0\r\n\r\n" + get + host + last + "\r\n", []int{200}},
		{"chunks and length, for nobody", "POST /nowhere HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n" +
			chunk("{}") + "0\r\n\r\n" + get + host + last + "\r\n", []int{404}},
		{"chunks in HTTP/1.0 (RFC 9112 6.1)", "POST /healthz HTTP/1.0\r\n" + host + "Connection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n" +
			get + host + last + "\r\n", []int{405}},
		{"unknown expectation in HTTP/1.0", "GET /healthz HTTP/1.0\r\n" + host + "Expect: a-pony\r\n\r\n", []int{417}},
		{"two lengths", post + host + asJSON + "Content-Length: 3\r\nContent-Length: 4\r\n\r\n{}\n", []int{400}},
		{"negative length", post + host + asJSON + "Content-Length: -1\r\n\r\n", []int{400}},
		{"length with a sign", post + host + asJSON + "Content-Length: +2\r\n\r\n{}", []int{400}},
		{"length that is no number", post + host + asJSON + "Content-Length: 2, 2\r\n\r\n{}", []int{400}},
		{"bad chunk size", post + host + asJSON + "Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n", []int{400}},
		{"chunk size beyond all bounds", post + host + asJSON + "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n{}\r\n0\r\n\r\n", []int{400}},
		{"chunk extension that never ends", post + host + asJSON + "Transfer-Encoding: chunked\r\n\r\n2;" + strings.Repeat("a", 1<<16) + "\r\n{}\r\n0\r\n\r\n", []int{400}},
		{"unknown transfer encoding", post + host + asJSON + "Transfer-Encoding: gzip\r\n\r\n", []int{400}},
		{"two transfer encodings", post + host + asJSON + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", []int{400}},
		{"no host", get + "\r\n", []int{400}},
		{"two hosts", get + host + host + "\r\n", []int{400}},
		{"host with a path", get + "Host: a/b\r\n\r\n", []int{400}},
		{"rebound host", get + "Host: evil.example\r\n" + last + "\r\n", []int{421}},
		{"rebound host in the target", "GET http://evil.example/healthz HTTP/1.1\r\n" + host + last + "\r\n", []int{421}},
		{"space before the colon", get + host + "X-A : b\r\n\r\n", []int{400}},
		{"folded header", get + host + "X-A: b\r\n c\r\n" + last + "\r\n", []int{200}},
		{"control character in a header", get + host + "X-A: \x01\r\n\r\n", []int{400}},
		{"NUL in the target", "GET /\x00 HTTP/1.1\r\n" + host + "\r\n", []int{400}},
		{"HTTP/0.9", "GET /\r\n\r\n", []int{400}},
		{"HTTP/1.0", "GET /healthz HTTP/1.0\r\n" + host + "\r\n", []int{200}},
		{"HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", []int{400}},
		{"HTTP/3.0", "GET / HTTP/3.0\r\n" + host + "\r\n", []int{400}},
		{"TLS", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", []int{400}},
		{"another protocol", "EHLO example\r\n\r\n", []int{400}},
		{"long header", get + host + "X-A: " + strings.Repeat("a", 40<<10) + "\r\n\r\n", []int{431}},
		{"many headers", get + host + strings.Repeat("X-A: b\r\n", 8<<10) + "\r\n", []int{431}},
		{"long target", "GET /" + strings.Repeat("a", 40<<10) + " HTTP/1.1\r\n" + host + "\r\n", []int{431}},
		{"nearly as much header as is allowed", get + host + "X-A: " + strings.Repeat("a", 15<<10) + "\r\n" + last + "\r\n", []int{200}},
		{"all options", "OPTIONS * HTTP/1.1\r\n" + host + last + "\r\n", []int{400}},
		{"tunnel", "CONNECT evil.example:443 HTTP/1.1\r\n" + host + last + "\r\n", []int{400}},
		{"tunnel to itself", "CONNECT " + s.address + " HTTP/1.1\r\n" + host + last + "\r\n", []int{400}},
		{"no body although one is expected", post + host + asJSON + "Expect: 100-continue\r\nContent-Length: 999999999\r\n\r\n", []int{413}},
		{"unknown expectation", get + host + "Expect: a-pony\r\n" + last + "\r\n", []int{417}},
		{"endless chunks", post + host + asJSON + "Transfer-Encoding: chunked\r\n\r\n" + strings.Repeat(chunk(strings.Repeat(" ", 64<<10)), 8), []int{413}},
		{"declared too large", post + host + asJSON + "Content-Length: 262145\r\n\r\n{", []int{413}},
		{"gzip", post + host + asJSON + last + "Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\n\x1f\x8b", []int{415}},
		{"two content types", post + host + asJSON + "Content-Type: text/plain\r\n" + last + "Content-Length: 2\r\n\r\n{}", []int{415}},
		{"trailers", post + host + asJSON + last + "Trailer: X-A\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk(body) + "0\r\nX-A: b\r\n\r\n", []int{200}},
		{"dots", "GET /static/../../etc/passwd HTTP/1.1\r\n" + host + last + "\r\n", []int{307}},
		{"encoded dots", "GET /static/%2e%2e/%2e%2e/etc/passwd HTTP/1.1\r\n" + host + last + "\r\n", []int{404}},
		{"encoded slash", "GET /static/..%2f..%2fetc%2fpasswd HTTP/1.1\r\n" + host + last + "\r\n", []int{404}},
		{"encoded NUL", "GET /static/%00 HTTP/1.1\r\n" + host + last + "\r\n", []int{404}},
		{"backslashes", `GET /static/..\..\etc\passwd HTTP/1.1` + "\r\n" + host + last + "\r\n", []int{404}},
		{"another host as path", "GET //evil.example/x HTTP/1.1\r\n" + host + last + "\r\n", []int{307}},
		{"another host as path, with backslash", `GET /\evil.example HTTP/1.1` + "\r\n" + host + last + "\r\n", []int{404}},
		{"upgrade", get + host + "Connection: Upgrade, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n\r\n", []int{200}},
	} {
		t.Run(c.name, func(t *testing.T) {
			answers, bodies := exchange(t, s.address, c.raw)
			var got []int
			for _, a := range answers {
				got = append(got, a.StatusCode)
			}
			if fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Fatalf("statuses %v, want %v: %q", got, c.want, bodies)
			}
			for i, a := range answers {
				for _, header := range everywhere {
					if values := a.Header.Values(header[0]); a.StatusCode >= 300 && (len(values) != 1 || values[0] != header[1]) {
						t.Errorf("%s is %q, want %q", header[0], values, header[1])
					}
				}
				if a.StatusCode >= 400 {
					problemOf(t, a.StatusCode, a.Header, []byte(bodies[i]))
				}
				if target := a.Header.Get("Location"); target != "" && (!strings.HasPrefix(target, "/") || strings.HasPrefix(target, "//")) {
					t.Errorf("the redirect leaves this origin: %q", target)
				}
			}
			if health, _ := exchange(t, s.address, get+host+last+"\r\n"); len(health) != 1 || health[0].StatusCode != 200 {
				t.Fatal("the next request was not answered")
			}
		})
	}
}

func TestClientThatEndsItsHalfGetsItsAnswer(t *testing.T) {
	s := run(t, config(native))
	conn, err := net.Dial("tcp", s.address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST /api/v1/decide HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", s.address, len(validDecide), validDecide)
	conn.(*net.TCPConn).CloseWrite()
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || answer.StatusCode != 200 {
		t.Fatalf("%v, %v", answer, err)
	}
	answer.Body.Close()
}
