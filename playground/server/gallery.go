package server

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"sync"

	"github.com/podfate/podfate/docs"
	"github.com/podfate/podfate/web"
	"github.com/podfate/podfate/web/views"
)

// claims are the published figures, which never change.
var claims = sync.OnceValue(func() []views.Claim { return views.ReadClaims(docs.Claims) })

// gallery shows all examples with their answers: /examples?q=WORDS.
func (s *Server) gallery(w *response, r *http.Request) error {
	entries, err := s.entries(patiently(r))
	if err != nil {
		return err
	}
	page := views.Examples{All: len(entries), Search: r.URL.Query().Get("q"), Claims: claims(), Assets: web.Assets()}
	for _, e := range entries {
		if e.Matches(page.Search) {
			page.Entries = append(page.Entries, e)
		}
	}
	var b bytes.Buffer
	if err := views.Gallery(page).Render(r.Context(), &b); err != nil {
		return err
	}
	return s.html(w, r, b.Bytes())
}

// entries are all examples with their answers, which never change.
func (s *Server) entries(ctx context.Context) ([]views.Entry, error) {
	if known := s.examples.Load(); known != nil {
		return *known, nil
	}
	module, err := s.viewModule(ctx)
	if err != nil {
		return nil, err
	}
	var list []views.Entry
	for _, e := range web.Examples() {
		form := e.Form
		if form.View == "" {
			form.View = "trace" // without what only the answer alone has
		}
		o, err := s.answerForm(ctx, form)
		if err != nil {
			return nil, err
		}
		entry := views.NewEntry(e, o.Document)
		for _, p := range module.Proposals {
			if _, chosen := form.ChosenOptions(p.Name); chosen || strings.Contains(form.Manifest, "  "+p.Name+":") { // of its Scenario
				for _, option := range p.Options {
					if option.Disagreement != "" {
						entry.Disagreements = append(entry.Disagreements, "Sources disagree: "+option.Name+" is "+strings.Join(option.Values, " or ")+" ("+option.Disagreement+")")
					}
				}
			}
		}
		list = append(list, entry)
	}
	s.examples.Store(&list)
	return list, nil
}

// codes lists every code of answers.
func (s *Server) codes(w *response, r *http.Request) error {
	var b bytes.Buffer
	if err := views.Codes(views.CodeList{Sections: views.ReadCodes(docs.Codes), Assets: web.Assets()}).Render(r.Context(), &b); err != nil {
		return err
	}
	return s.html(w, r, b.Bytes())
}
