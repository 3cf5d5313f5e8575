package server

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"strings"
)

// mediaKind is what a body claims to be.
type mediaKind uint8

const (
	mediaNone mediaKind = iota // no body and no claim
	mediaJSON
	mediaYAML
	mediaForm
)

// accepted is a set of types that a route reads.
type accepted struct {
	types map[string]mediaKind
	text  string // for people
	post  string // for the header Accept-Post
}

var (
	documents = accepted{
		types: map[string]mediaKind{
			"application/json":   mediaJSON,
			"application/yaml":   mediaYAML, // RFC 9512
			"application/x-yaml": mediaYAML,
			"text/yaml":          mediaYAML,
		},
		text: "application/json or application/yaml",
		post: "application/json, application/yaml",
	}
	// formsOnly is for the page. A browser sends a form to another site without asking first, so it
	// is the cross-origin check that protects it; the page changes nothing anyway.
	formsOnly = accepted{
		types: map[string]mediaKind{"application/x-www-form-urlencoded": mediaForm},
		text:  "application/x-www-form-urlencoded",
		post:  "application/x-www-form-urlencoded",
	}
)

// readBody is the one place that reads a request body. It refuses by the headers whatever it can,
// then waits at the gate, then reads. On success the request holds a place: the caller calls leave
// when the answer is written.
func (s *Server) readBody(w *response, r *http.Request, allow accepted) (kind mediaKind, body []byte, leave func(), err error) {
	r.Body = http.MaxBytesReader(w.ResponseWriter, r.Body, s.limits.BodyBytes)
	if kind, err = bodyKind(r, allow); err != nil {
		return 0, nil, nil, err
	}
	if r.ContentLength > s.limits.BodyBytes {
		return 0, nil, nil, s.tooLarge()
	}
	t, err := s.gate.enter(r.Context(), s.connections.sender(r))
	if err != nil {
		return 0, nil, nil, err
	}
	body, err = readAll(r.Body, r.ContentLength)
	if t.bodyRead() {
		// Even if the body was complete in that moment: net/http has seen the deadline and given
		// the client up.
		t.leave()
		return 0, nil, nil, errTooSlow
	}
	if err != nil {
		t.leave()
		return 0, nil, nil, s.bodyError(err)
	}
	return kind, body, t.leave, nil
}

// bodyKind returns what the headers of r say about its body.
func bodyKind(r *http.Request, allow accepted) (mediaKind, error) {
	for _, encoding := range r.Header["Content-Encoding"] {
		// A compressed body could grow a thousandfold, and no client needs one for 256 KiB.
		if encoding != "" && !strings.EqualFold(encoding, "identity") {
			return 0, refuse(codeMediaType, "Content-Encoding %q: send the body as it is", quote(encoding, 64))
		}
	}
	types := r.Header["Content-Type"]
	if len(types) == 0 && r.ContentLength == 0 {
		return mediaNone, nil
	}
	if len(types) != 1 {
		return 0, unsupportedType(strings.Join(types, ", "), allow)
	}
	mediaType, parameters, err := mime.ParseMediaType(types[0])
	if err != nil {
		return 0, unsupportedType(types[0], allow)
	}
	if charset, given := parameters["charset"]; given && !strings.EqualFold(charset, "utf-8") {
		return 0, refuse(codeMediaType, "charset %q: only UTF-8 is read here", quote(charset, 64))
	}
	if kind, ok := allow.types[mediaType]; ok {
		return kind, nil
	}
	return 0, unsupportedType(types[0], allow)
}

func unsupportedType(got string, allow accepted) error {
	r := refuse(codeMediaType, "Content-Type %q is not %s", quote(got, 64), allow.text)
	if got == "" {
		r = refuse(codeMediaType, "there is no Content-Type: send %s", allow.text)
	}
	r.header = http.Header{"Accept-Post": {allow.post}}
	return r
}

// readAll reads to the end. declared is the length that the client announced, or -1; it is believed
// only as a hint.
func readAll(body io.Reader, declared int64) ([]byte, error) {
	const firstRead = 16 << 10 // most requests fit; a client that announces more first has to send that much
	var b bytes.Buffer
	b.Grow(int(min(max(declared, 0), firstRead)) + bytes.MinRead)
	_, err := b.ReadFrom(body)
	return b.Bytes(), err
}

// bodyError returns what a client is told about an error while its body was read.
func (s *Server) bodyError(err error) error {
	var tooLarge *http.MaxBytesError
	var timeout net.Error
	switch {
	case errors.As(err, &tooLarge):
		return s.tooLarge()
	case errors.As(err, &timeout) && timeout.Timeout():
		r := refuse(codeBodyTimeout, "the body was not complete in time")
		r.close = true
		return r
	}
	r := refuse(codeBadBody, "the body ended early or its framing is wrong")
	r.close = true
	return r
}

func (s *Server) tooLarge() error {
	r := refuse(codeBodyTooLarge, "the body is larger than %d bytes", s.limits.BodyBytes)
	r.close = true
	return r
}
