package server

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"github.com/podfate/podfate/policy/ops"
	"github.com/podfate/podfate/schema"
)

// smallText is the size up to which texts are read side by side; see the arithmetic in package
// schema.
const smallText = 16 << 10

// operation answers POST /api/v1/NAME with the answer of op.
func (s *Server) operation(op ops.Operation) handler {
	return func(w *response, r *http.Request) error {
		kind, body, leave, err := s.readBody(w, r, documents)
		if err != nil {
			return err
		}
		defer leave()
		if kind == mediaNone && op.Name == "describe" {
			return s.describe(w, r)
		}
		answer, err := s.ask(patiently(r), op.Number, kind, body)
		if err != nil {
			return err
		}
		status := http.StatusOK
		if op.Number == opExplain {
			status = explainedStatus(answer)
		}
		writeJSON(w, status, answer)
		return nil
	}
}

// explainedStatus is that of the operation that was explained: an explanation of a refusal is an
// answer all the same.
func explainedStatus(explained []byte) int {
	var refused struct {
		Answer struct{ Error struct{ Code string } }
	}
	if json.Unmarshal(explained, &refused) != nil || refused.Answer.Error.Code == "" {
		return http.StatusOK
	}
	return statusOf(refused.Answer.Error.Code)
}

// patiently returns the context in which r is evaluated, which does not end with r: an evaluation
// is short, and a client that has ended its half of the connection still waits for the answer.
func patiently(r *http.Request) context.Context { return context.WithoutCancel(r.Context()) }

// ask turns a body into a request of the core and returns its answer. JSON goes to the core as it
// came, and so do the bytes of the answer; for YAML the places in the answer are those in the YAML
// text.
func (s *Server) ask(ctx context.Context, op uint32, kind mediaKind, body []byte) ([]byte, error) {
	if kind != mediaYAML {
		return s.evaluate(ctx, op, body)
	}
	request, err := s.readText(ctx, body, schema.Overrides{Explain: op == opExplain})
	if err != nil {
		return nil, err
	}
	return s.evaluateRelocated(ctx, op, request)
}

// readText builds a request from documents. What is wrong with them is a refusal.
func (s *Server) readText(ctx context.Context, text []byte, overrides schema.Overrides) (*schema.Request, error) {
	readers := s.readers
	if len(text) > smallText {
		readers = s.largeText // such a text can take fifty megabytes while it is read, so it is read alone
	}
	if err := take(ctx, readers, s.limits.QueueWait); err != nil {
		return nil, err
	}
	defer func() { <-readers }()
	request, err := schema.Read(text, overrides)
	var faults schema.Faults
	if errors.As(err, &faults) {
		return nil, coreError(faults.Payload())
	}
	return request, err
}

// evaluateRelocated is evaluate for a request that was built from a text: the places in the answer,
// or in the error, become those in the text.
func (s *Server) evaluateRelocated(ctx context.Context, op uint32, request *schema.Request) ([]byte, error) {
	answer, err := s.evaluate(ctx, op, request.Call())
	var r *refusal
	if errors.As(err, &r) && r.core != nil {
		relocated := *r
		relocated.core = request.Relocate(r.core)
		relocated.detail = plainDetail(relocated.core)
		return nil, &relocated
	}
	if err != nil {
		return nil, err
	}
	return request.Relocate(answer), nil
}

// describe answers GET /api/v1/describe: the module that this server loaded, which the module
// itself cannot know.
func (s *Server) describe(w *response, r *http.Request) error {
	answer, err := s.evaluate(patiently(r), opDescribe, s.describeRequest)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, answer)
	return nil
}

// opDescribe is the number of the operation that every engine has.
const opDescribe = 1

// opExplain is the number of the operation whose requests hold another one.
const opExplain = 6

// describeRequest names the module in a request of describe.
func describeRequest(module Module) []byte {
	if module.SHA256 == "" {
		return []byte("{}")
	}
	request, err := json.Marshal(map[string]any{"module": map[string]any{
		"sha256": module.SHA256, "bytes": len(module.Bytes),
	}})
	if err != nil {
		panic("a digest and a number are always JSON: " + err.Error())
	}
	return request
}

func writeJSON(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	w.Write(body) // an error here means that the client has gone
}
