package server

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"
)

// refusedByParser is the tail of what net/http writes, in one piece, when it cannot read a request:
// no handler runs, so none of our headers would be there. See badRequest in net/http/server.go;
// TestRawSocket holds this against it.
var refusedByParser = []byte("\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n")

// expectationRefused is how net/http begins its answer to an Expect header that it does not know.
// No handler of ours has this status.
var expectationRefused = [2][]byte{[]byte("HTTP/1.1 417 "), []byte("HTTP/1.0 417 ")}

// parserRefusal returns the answer that takes the place of p if p is a refusal of net/http itself,
// else nil.
//
// Besides the headers it changes two statuses: 501 for an unknown Transfer-Encoding and 505 for an
// unknown version. Both are faults of the request, and this server keeps 5xx for its own.
func parserRefusal(p []byte) []byte {
	if !bytes.HasPrefix(p, []byte("HTTP/1.")) {
		return nil
	}
	for _, begin := range expectationRefused {
		if bytes.HasPrefix(p, begin) {
			return rawProblem(refuse(codeExpectation, "the only expectation that is known here is 100-continue"))
		}
	}
	line, rest, _ := bytes.Cut(p, []byte("\r\n"))
	if !bytes.HasPrefix(p, []byte("HTTP/1.1 ")) || !bytes.HasPrefix(p[len(line):], refusedByParser) || len(rest) == 0 {
		return nil
	}
	status, err := strconv.Atoi(string(line[len("HTTP/1.1 "):min(len(line), len("HTTP/1.1 400"))]))
	if err != nil {
		return nil
	}
	if status == 431 {
		return rawProblem(refuse(codeHeaders, "the request line and the headers are too large"))
	}
	return rawProblem(refuse(codeBadRequest, "this is not a request of HTTP/1.1 that can be read"))
}

// rawProblem returns the bytes of a whole answer that refuses r and ends the connection.
func rawProblem(r *refusal) []byte {
	problem, id := problems[r.code], newRequestID()
	body := problemBytes(r, problem, id)
	var b strings.Builder
	b.WriteString("HTTP/1.1 " + strconv.Itoa(problem.status) + " " + http.StatusText(problem.status) + "\r\n")
	for _, header := range fixedHeaders {
		b.WriteString(header[0] + ": " + header[1] + "\r\n")
	}
	if problem.status == http.StatusServiceUnavailable {
		b.WriteString("Retry-After: " + retryAfter + "\r\n")
	}
	b.WriteString("X-Request-Id: " + id + "\r\nContent-Type: application/problem+json\r\nContent-Length: " +
		strconv.Itoa(len(body)) + "\r\nConnection: close\r\n\r\n")
	return append([]byte(b.String()), body...)
}
