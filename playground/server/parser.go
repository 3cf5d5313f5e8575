package server

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"
)

// refusedByParser is the tail of what net/http writes, in one piece, when it cannot read a request: no handler runs,
// so none of our headers would be there. See badRequest in net/http/server.go; TestRawSocket holds this against it.
var refusedByParser = []byte("\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n")

// parserRefusal returns the answer that takes the place of p if p is a refusal of net/http's request parser, else nil.
//
// Beside the headers it changes two statuses: 501 for an unknown Transfer-Encoding and 505 for an unknown version. Both
// are faults of the request, and this server keeps 5xx for its own.
func parserRefusal(p []byte) []byte {
	line, rest, _ := bytes.Cut(p, []byte("\r\n"))
	if !bytes.HasPrefix(p, []byte("HTTP/1.1 ")) || !bytes.HasPrefix(p[len(line):], refusedByParser) || len(rest) == 0 {
		return nil
	}
	status, err := strconv.Atoi(string(line[len("HTTP/1.1 "):min(len(line), len("HTTP/1.1 400"))]))
	if err != nil {
		return nil
	}
	r := refuse(codeBadRequest, "this is not a request of HTTP/1.1 that can be read")
	if status == 431 {
		r = refuse(codeHeaders, "the request line and the headers are too large")
	}
	problem, id := problems[r.code], newRequestID()
	body := problemBytes(r, problem, id)
	var b strings.Builder
	b.WriteString("HTTP/1.1 " + strconv.Itoa(problem.status) + " " + http.StatusText(problem.status) + "\r\n")
	for _, header := range fixedHeaders {
		b.WriteString(header[0] + ": " + header[1] + "\r\n")
	}
	b.WriteString("X-Request-Id: " + id + "\r\nContent-Type: application/problem+json\r\nContent-Length: " +
		strconv.Itoa(len(body)) + "\r\nConnection: close\r\n\r\n")
	return append([]byte(b.String()), body...)
}
