package server

import (
	"bytes"
	"net/http"
	"net/url"
	"strconv"

	"github.com/podfate/podfate/web"
	"github.com/podfate/podfate/web/views"
)

// page shows an example with its answer: /?example=ID, or the first one.
func (s *Server) page(w *response, r *http.Request) error {
	example, found := web.FindExample(r.URL.Query().Get("example"))
	if !found {
		example = web.Examples()[0]
	}
	return s.show(w, r, example.Form)
}

// submittedPage answers the form of a browser without JavaScript.
func (s *Server) submittedPage(w *response, r *http.Request) error {
	_, body, leave, err := s.readBody(w, r, formsOnly)
	if err != nil {
		return err
	}
	defer leave()
	values, err := url.ParseQuery(string(body))
	if err != nil {
		return refuse(codeBadBody, "the form is not encoded as application/x-www-form-urlencoded")
	}
	return s.show(w, r, views.ReadForm(values))
}

// show renders the page for form. It is complete before its first byte is sent.
func (s *Server) show(w *response, r *http.Request, form views.Form) error {
	model, err := s.pageModel(r, form)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := views.Playground(model).Render(patiently(r), &b); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(b.Len()))
	w.Write(b.Bytes()) // an error here means that the client has gone
	return nil
}
