package server

import (
	"net/http"
	"slices"
	"strings"

	"github.com/podfate/podfate/policy/ops"
)

// cachePolicy is the Cache-Control of a route's good answers. Problems are never stored.
type cachePolicy string

const (
	// noStore is for what depends on what the client sent.
	noStore cachePolicy = "no-store"
	// revalidate is for files whose name stays while their content changes: a client asks again
	// with their ETag.
	revalidate cachePolicy = "no-cache"
	// immutable is for files whose name contains the digest of their content.
	immutable cachePolicy = "public, max-age=31536000, immutable"
)

// handler answers a request, or returns what is told to the client instead. It has written nothing
// when it returns an error.
type handler func(w *response, r *http.Request) error

// route is one line of the table. GET stands for HEAD as well.
type route struct {
	method  string
	path    string // a pattern of [http.ServeMux]; also the label in log and metrics
	handler handler
	cache   cachePolicy
}

// routes is the one table of what this server answers.
func (s *Server) routes() []route {
	table := []route{
		{"GET", "/{$}", s.page, noStore},
		{"POST", "/{$}", s.submittedPage, noStore},
		{"GET", "/embed", s.embed, noStore},
		{"GET", "/examples", s.gallery, revalidate},
		{"GET", "/codes", s.codes, revalidate},
		{"GET", "/sw.js", s.offline, revalidate},
		{"GET", "/static/{file...}", s.static, immutable},
		{"GET", "/policy.wasm", s.module, revalidate},
		{"GET", "/schema/v1/{file}", s.schema, revalidate},
		{"GET", "/api/v1/openapi.json", s.openAPI, revalidate},
		{"GET", "/api/v1/describe", s.describe, noStore},
		{"GET", "/healthz", s.healthz, noStore},
		{"GET", "/readyz", s.readyz, noStore},
		{"GET", "/metrics", s.figures, noStore},
	}
	for _, op := range ops.Table() {
		table = append(table, route{"POST", operationPath(op), s.operation(op), noStore})
	}
	return table
}

// operationPath returns where an operation is asked for.
func operationPath(op ops.Operation) string { return "/api/v1/" + op.Name }

// newMux builds the router. Paths are registered without their methods, so that a wrong method is
// answered by us, with a problem document and the methods that there are.
func (s *Server) newMux() *http.ServeMux {
	mux := http.NewServeMux()
	byPath := map[string][]route{}
	for _, r := range s.routes() {
		byPath[r.path] = append(byPath[r.path], r)
	}
	for path, routes := range byPath {
		mux.Handle(path, s.dispatch(path, routes))
	}
	mux.Handle("/", s.adapt(func(*response, *http.Request) error {
		return refuse(codeNotFound, "see / for the playground and /api/v1/openapi.json for the API")
	}))
	return mux
}

// dispatch chooses among the methods of one path.
func (s *Server) dispatch(path string, routes []route) http.Handler {
	var methods []string
	for _, r := range routes {
		methods = append(methods, r.method)
		if r.method == http.MethodGet {
			methods = append(methods, http.MethodHead)
		}
	}
	slices.Sort(methods)
	allow := strings.Join(methods, ", ")
	return s.adapt(func(w *response, r *http.Request) error {
		w.route = path
		method := r.Method
		if method == http.MethodHead {
			method = http.MethodGet
		}
		for _, route := range routes {
			if route.method == method {
				w.Header().Set("Cache-Control", string(route.cache))
				return route.handler(w, r)
			}
		}
		err := refuse(codeMethod, "this path takes %s, not %s", allow, quote(r.Method, 16))
		err.allow = allow
		return err
	})
}

// adapt turns a handler into one of net/http.
func (s *Server) adapt(h handler) http.Handler {
	return http.HandlerFunc(func(raw http.ResponseWriter, r *http.Request) {
		w := raw.(*response) // ServeHTTP is the only way in
		if err := h(w, r); err != nil {
			s.problem(w, r, err)
		}
	})
}
