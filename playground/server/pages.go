package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"

	"github.com/podfate/podfate/schema"
	"github.com/podfate/podfate/web"
	"github.com/podfate/podfate/web/views"
)

// page shows an example with its answer: /?example=ID, or the first one, with what else the address
// asks of it.
func (s *Server) page(w *response, r *http.Request) error {
	form, err := addressed(r)
	if err != nil {
		return err
	}
	return s.show(w, r, form, views.Playground)
}

// embed is page for the frames of other sites.
func (s *Server) embed(w *response, r *http.Request) error {
	form, err := addressed(r)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Security-Policy", framedPolicy(r.Host))
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	h.Del("X-Frame-Options")
	return s.show(w, r, form, views.Embed)
}

// addressed is the form that an address asks for.
func addressed(r *http.Request) (views.Form, error) {
	query := r.URL.Query()
	name := query.Get("example")
	example, found := web.FindExample(name)
	switch {
	case name == "":
		example = web.Examples()[0]
	case !found:
		var known []string
		for _, e := range web.Examples() {
			known = append(known, e.ID)
		}
		return views.Form{}, refuse(codeNotFound, "there is no example %q; the examples are %s", quote(name, 64), strings.Join(known, ", "))
	}
	return views.ReadAddress(example.Form, query), nil
}

// submittedPage answers the form of a browser without JavaScript.
func (s *Server) submittedPage(w *response, r *http.Request) error {
	whole := r.Body
	_, body, leave, err := s.readBody(w, r, formsOnly)
	if err != nil {
		s.drain(w, r, whole)
		return err
	}
	defer leave()
	values, err := url.ParseQuery(string(body))
	if err != nil {
		return refuse(codeBadBody, "the form is not encoded as application/x-www-form-urlencoded")
	}
	return s.show(w, r, views.ReadForm(values), views.Playground)
}

// Bounds of what is read of a form that was refused, so that the browser comes to read why.
const (
	drainBytes  = 4 << 20
	drainTime   = time.Second
	drainPlaces = 8
)

// drain reads what is left of a form that was refused. A browser that is still sending when its
// connection is closed shows that instead of our page.
func (s *Server) drain(w *response, r *http.Request, body io.Reader) {
	if !wantsPage(r) {
		return
	}
	select {
	case s.drains <- struct{}{}:
	default:
		return
	}
	defer func() { <-s.drains }()
	http.NewResponseController(w).SetReadDeadline(time.Now().Add(drainTime))
	io.CopyN(io.Discard, body, drainBytes) // whatever it comes to, the request is refused
}

// wantsPage reports whether r comes from a browser that shows what it gets.
func wantsPage(r *http.Request) bool {
	return (r.URL.Path == "/" || r.URL.Path == "/embed") && strings.Contains(r.Header.Get("Accept"), "text/html")
}

// refusedPage returns the page that tells a browser of a refusal.
func refusedPage(r *http.Request, refused *refusal, p problem) ([]byte, error) {
	page := views.Refusal{Title: p.title, Detail: refused.detail, Form: r.Method == http.MethodPost, Assets: web.Assets()}
	if refused.code == codeNotFound {
		page.Examples = web.Examples()
	}
	var b bytes.Buffer
	err := views.Refused(page).Render(patiently(r), &b)
	return b.Bytes(), err
}

// mended makes a fix in the manifest of a form, and says what became of it. The form has a text
// before it only if it was made.
func mended(form views.Form, edits json.RawMessage) (views.Form, string) {
	form.Fix, form.Before = 0, ""
	var list []schema.Edit
	if json.Unmarshal(edits, &list) != nil {
		return form, "fix.path" // the answer is another one now
	}
	text, err := schema.Mend([]byte(form.Manifest), list)
	switch {
	case errors.Is(err, schema.ErrShared):
		return form, "fix.shared"
	case errors.Is(err, schema.ErrByHand):
		return form, "fix.byHand"
	case err != nil:
		return form, "fix.path"
	}
	form.Before, form.Manifest, form.Example, form.Offer = form.Manifest, string(text), "", ""
	return form, "fix.made"
}

// show renders a page for form. It is complete before its first byte is sent.
func (s *Server) show(w *response, r *http.Request, form views.Form, page func(views.Page) templ.Component) error {
	model, err := s.pageModel(r, form)
	if err != nil {
		return err
	}
	if n := model.Form.Fix; n > 0 {
		if form, model.Fixed = mended(model.Form, model.Answer.Edits(n)); form.Before != "" {
			fixed := model.Fixed
			if model, err = s.pageModel(r, form); err != nil {
				return err
			}
			model.Fixed = fixed
		}
	}
	var b bytes.Buffer
	if err := page(model).Render(patiently(r), &b); err != nil {
		return err
	}
	return s.html(w, r, b.Bytes())
}

// html sends a page. It holds nothing secret that its length could give away once it is compressed.
func (s *Server) html(w *response, r *http.Request, text []byte) error {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Vary", "Accept-Encoding")
	if accepts(r.Header, "br") {
		text = brotlied(text, pageBrotli)
		h.Set("Content-Encoding", "br")
	}
	h.Set("Content-Length", strconv.Itoa(len(text)))
	w.Write(text) // an error here means that the client has gone
	return nil
}
