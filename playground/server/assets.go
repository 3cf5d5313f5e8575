package server

import (
	"io/fs"
	"net/http"
	"strings"

	"github.com/podfate/podfate/web"
)

// moduleName is the module's name below /static/ that stays.
const moduleName = "policy.wasm"

// loadFiles reads everything that is served as it is.
func (s *Server) loadFiles() error {
	tree, err := fs.Sub(web.Static, "static")
	if err != nil {
		return err
	}
	if s.files, err = filesOf(tree); err != nil {
		return err
	}
	if module := s.config.Module; len(module.Bytes) > 0 {
		s.moduleFile = newFile("application/wasm", module.Bytes)
		name := "policy." + module.SHA256[:16] + ".wasm"
		s.files[name] = s.moduleFile
		s.files[moduleName] = newFile("application/wasm", module.Bytes) // beside the scripts of embeds, which know no digest
		s.moduleURL = "/static/" + name
	}
	s.offlineFile = s.serviceWorker(s.kept("./", "./embed"))
	if s.schemas, err = schemaFiles(); err != nil {
		return err
	}
	document, err := openAPIDocument()
	if err != nil {
		return err
	}
	s.openAPIFile = newFile("application/json", document)
	return nil
}

// static serves /static/NAME. What is asked for under an address that changes with the content may
// be kept forever; anything else is asked for again.
//
// Pages of other sites may load these files: they are what embeds are made of, and the same for
// everybody.
func (s *Server) static(w *response, r *http.Request) error {
	name := r.PathValue("file")
	f, ok := s.files[name]
	if !ok {
		return refuse(codeNotFound, "there is no such file")
	}
	w.Header().Set("Access-Control-Allow-Origin", "*")
	w.Header().Set("Cross-Origin-Resource-Policy", "cross-origin")
	version := r.URL.Query().Get("v")
	addressed := f == s.moduleFile || len(version) >= 8 && strings.HasPrefix(f.digest, version)
	if !addressed {
		w.Header().Set("Cache-Control", string(revalidate))
	}
	return f.serve(w, r)
}

// module serves /policy.wasm: the module under a name that stays.
func (s *Server) module(w *response, r *http.Request) error {
	if s.moduleFile == nil {
		return refuse(codeNotFound, "this server runs without a module")
	}
	return s.moduleFile.serve(w, r)
}

func (s *Server) schema(w *response, r *http.Request) error {
	f, ok := s.schemas[r.PathValue("file")]
	if !ok {
		return refuse(codeNotFound, "there is no such schema")
	}
	return f.serve(w, r)
}

func (s *Server) openAPI(w *response, r *http.Request) error { return s.openAPIFile.serve(w, r) }
