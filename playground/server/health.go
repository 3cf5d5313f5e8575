package server

import "net/http"

// healthz says that the process answers.
func (s *Server) healthz(w *response, _ *http.Request) error {
	return writeText(w, "ok\n")
}

// readyz says whether requests should be sent here: after a first evaluation has passed, until
// shutdown begins.
func (s *Server) readyz(w *response, _ *http.Request) error {
	if s.leaving.Load() {
		return refuse(codeStopping, "the server is about to end")
	}
	select {
	case <-s.started:
		return writeText(w, "ok\n")
	default:
		return errStarting
	}
}

// figures serves /metrics.
func (s *Server) figures(w *response, r *http.Request) error {
	s.metrics.handler().ServeHTTP(w, r)
	return nil
}

func writeText(w http.ResponseWriter, text string) error {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Write([]byte(text)) // an error here means that the client has gone
	return nil
}
