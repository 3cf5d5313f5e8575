package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The codes of refusals that the server itself makes, besides those of the core.
const (
	codeBadRequest   = "BAD_REQUEST"
	codeHeaders      = "HEADERS_TOO_LARGE"
	codeBadBody      = "BAD_BODY"
	codeBodyTimeout  = "BODY_TIMEOUT"
	codeNoRequest    = "REQUEST_TIMEOUT"
	codeExpectation  = "EXPECTATION_FAILED"
	codeBodyTooLarge = "BODY_TOO_LARGE"
	codeMediaType    = "UNSUPPORTED_MEDIA_TYPE"
	codeCrossOrigin  = "CROSS_ORIGIN"
	codeHost         = "MISDIRECTED_REQUEST"
	codeNotFound     = "NOT_FOUND"
	codeMethod       = "METHOD_NOT_ALLOWED"
	codeBusy         = "BUSY"
	codeStarting     = "STARTING"
	codeStopping     = "STOPPING"
	codeDeadline     = "DEADLINE_EXCEEDED"
	codeInternal     = "INTERNAL"
)

// refusal is an error that a client is told about. Its code decides the status; see problems.
type refusal struct {
	code   string
	detail string          // one sentence for people; quotes the client's text at most in part
	core   json.RawMessage // the error object of the core or of the decoder, as it came; nil for the server's own
	allow  string          // the methods of a path, with codeMethod
	close  bool            // what is left of the body is not worth reading: end the connection
	header http.Header     // nil, or further headers
}

func (e *refusal) Error() string { return e.code + ": " + e.detail }

func refuse(code, format string, args ...any) *refusal {
	return &refusal{code: code, detail: fmt.Sprintf(format, args...)}
}

var (
	errBusy     = refuse(codeBusy, "all places are taken, try again")
	errTooSlow  = &refusal{code: codeBusy, detail: "all places are taken and the body came slowly, try again", close: true}
	errCrowded  = &refusal{code: codeBusy, detail: "too many connections are open, try again", close: true}
	errLate     = &refusal{code: codeNoRequest, detail: "no request came in the time for it, or not all of its headers", close: true}
	errSilent   = &refusal{code: codeNoRequest, detail: "the connection sent no request while others waited for its place", close: true}
	errStarting = refuse(codeStarting, "the engine is not ready yet, try again")
	errDeadline = refuse(codeDeadline, "the evaluation took too long: ask for less, such as a shorter time or fewer Pods, or try again when the server is less busy")
	errInternal = refuse(codeInternal, "a fault of this server; nothing is known to be wrong with the request")
)

// retryAfter is when a client should come again after 503, in seconds.
const retryAfter = "1"

// problem is what is fixed about a code: its status and its title.
type problem struct {
	status int
	title  string
}

// problems is the one place that chooses a status. A code that is not here is answered as INTERNAL.
var problems = map[string]problem{
	// of the core
	"BAD_JSON":            {400, "The request is not one JSON text"},
	"BAD_YAML":            {400, "The request is not YAML"},
	"BAD_UTF8":            {400, "The request is not UTF-8"},
	"MANIFEST_INVALID":    {422, "Kubernetes would not accept the manifest"},
	"EVENT_INVALID":       {422, "The request does not fit the manifest or the operation"},
	"UNKNOWN_HANDLE":      {422, "No compiled policy has this handle"},
	"LIMIT_EXCEEDED":      {422, "The request passes a limit"},
	"UNSUPPORTED_VERSION": {422, "This Kubernetes version or feature gate is outside the model"},
	"BUDGET_EXCEEDED":     {422, "The request needs more steps than one call may take"},
	"UNSUPPORTED_OP":      {404, "There is no such operation"},

	// of the server
	codeBadRequest:   {400, "The request is not HTTP/1.1"},
	codeHeaders:      {431, "The headers are too large"},
	codeBadBody:      {400, "The request body broke off or is framed wrongly"},
	codeBodyTimeout:  {408, "The request body came too slowly"},
	codeNoRequest:    {408, "No request came"},
	codeExpectation:  {417, "The header Expect asks for something unknown"},
	codeBodyTooLarge: {413, "The request body is too large"},
	codeMediaType:    {415, "The request body has a type or encoding that is not read here"},
	codeCrossOrigin:  {403, "The request comes from another site"},
	codeHost:         {421, "This server does not answer for that host name"},
	codeNotFound:     {404, "There is nothing at this path"},
	codeMethod:       {405, "The path does not know this method"},
	codeBusy:         {503, "The server is busy"},
	codeStarting:     {503, "The server is starting"},
	codeStopping:     {503, "The server is stopping"},
	codeDeadline:     {503, "The evaluation ran out of time"},
	codeInternal:     {500, "The server failed"},
}

// problemDocument is a problem detail object of RFC 9457. The member "error" is added by hand, so
// that the bytes of the core stay as they are. statusOf is the status of a code.
func statusOf(code string) int {
	if p, known := problems[code]; known {
		return p.status
	}
	return problems[codeInternal].status
}

type problemDocument struct {
	Type      string `json:"type"`
	Title     string `json:"title"`
	Status    int    `json:"status"`
	Detail    string `json:"detail"`
	RequestID string `json:"requestId"`
}

// asRefusal returns what a client is told about err: err itself when it is a refusal, else a bare
// INTERNAL.
func asRefusal(err error) *refusal {
	var r *refusal
	if !errors.As(err, &r) {
		return errInternal
	}
	if _, known := problems[r.code]; !known {
		return &refusal{code: codeInternal, detail: errInternal.detail, core: r.core}
	}
	return r
}

// writeProblem answers with the problem document of err. Nothing may have been written to w before.
func writeProblem(w http.ResponseWriter, requestID string, err error) (code string) {
	r := asRefusal(err)
	return writeRefusal(w, r, "application/problem+json", problemBytes(r, problems[r.code], requestID))
}

// writeProblemPage answers a browser with err as a page, and with the problem document if that
// fails.
func writeProblemPage(w http.ResponseWriter, request *http.Request, requestID string, err error) (code string) {
	r := asRefusal(err)
	page, failure := refusedPage(request, r, problems[r.code])
	if failure != nil {
		return writeProblem(w, requestID, err)
	}
	if r.code == codeStarting && request.Method == http.MethodGet {
		w.Header().Set("Refresh", retryAfter) // the page comes by itself as soon as there is one
	}
	return writeRefusal(w, r, "text/html; charset=utf-8", page)
}

// writeRefusal writes the status and the headers of r, and a body.
func writeRefusal(w http.ResponseWriter, r *refusal, contentType string, body []byte) (code string) {
	p := problems[r.code]
	h := w.Header()
	for name, values := range r.header {
		h[name] = values
	}
	if r.allow != "" {
		h.Set("Allow", r.allow)
	}
	if p.status == http.StatusServiceUnavailable {
		h.Set("Retry-After", retryAfter)
	}
	if r.close {
		h.Set("Connection", "close")
	}
	h.Set("Content-Type", contentType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(p.status)
	w.Write(body) // an error here means that the client has gone: nobody is left to tell
	return r.code
}

// problemBytes returns the document for r, at most maxProblemBytes long.
func problemBytes(r *refusal, p problem, requestID string) []byte {
	head, err := json.Marshal(problemDocument{
		Type:      "urn:podfate:problem:" + r.code,
		Title:     p.title,
		Status:    p.status,
		Detail:    quote(r.detail, 1024),
		RequestID: requestID,
	})
	if err != nil {
		panic("a struct of strings and numbers is always JSON: " + err.Error())
	}
	if r.core == nil {
		return append(head, '\n')
	}
	core := shorten(r.core, maxProblemBytes-len(head)-len(`,"error":`)-1)
	body := append(head[:len(head)-1], `,"error":`...)
	return append(append(body, core...), "}\n"...)
}

// shorten returns the error object core in at most limit bytes. What fits is returned as it is;
// else faults are left out from the end, and a last one says how many.
func shorten(core json.RawMessage, limit int) json.RawMessage {
	if len(core) <= limit {
		return core
	}
	type errorObject struct {
		Code    string            `json:"code"`
		Num     int               `json:"num"`
		Message string            `json:"message,omitempty"`
		Path    string            `json:"path,omitempty"`
		Offset  *int              `json:"offset,omitempty"`
		Limit   string            `json:"limit,omitempty"`
		Faults  []json.RawMessage `json:"faults,omitempty"`
	}
	var object errorObject
	if json.Unmarshal(core, &object) != nil {
		return json.RawMessage("null")
	}
	object.Message, object.Path = quote(object.Message, 1024), quote(object.Path, 1024)
	faults, left := object.Faults, 0
	for size := len(core); len(faults) > 0 && size > limit-2048; left++ {
		last := len(faults) - 1
		size -= len(faults[last]) + 1
		faults = faults[:last]
	}
	if left > 0 {
		rest := fmt.Sprintf(`{"path":"","code":"too_many_faults","detail":"%d more faults do not fit into this answer"}`, left)
		faults = append(faults[:len(faults):len(faults)], json.RawMessage(rest))
	}
	object.Faults = faults
	short, err := json.Marshal(object)
	if err != nil || len(short) > limit {
		return json.RawMessage("null")
	}
	return short
}

// quote makes text fit to be in an answer or a log line: at most limit bytes of it, whole
// characters, in one line, with control characters, bidirectional marks and anything else that a
// terminal could act upon written as escapes, which can make it up to four times as long.
func quote(text string, limit int) string {
	cut := len(text) > limit
	if cut {
		for limit > 0 && !utf8.RuneStart(text[limit]) {
			limit--
		}
		text = text[:limit]
	}
	var b strings.Builder
	for _, r := range text {
		if strconv.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		escaped := strconv.QuoteRune(r)
		b.WriteString(escaped[1 : len(escaped)-1])
	}
	if cut {
		b.WriteString("…")
	}
	return b.String()
}
