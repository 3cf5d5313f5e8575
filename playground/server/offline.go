package server

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/a-h/templ"

	"github.com/podfate/podfate/docs"
	"github.com/podfate/podfate/policy/simulate"
	"github.com/podfate/podfate/web"
	"github.com/podfate/podfate/web/views"
)

// workerName is the script below /static/ that keeps the page for times without a network; pages
// get it with what it keeps written before it, from where it may look after all of them.
const workerName = "sw.js"

// serviceWorker is that script for these files, which are addresses relative to it. build changes
// with any of them.
func (s *Server) serviceWorker(files []string) *file {
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(s.files)) {
		sum.Write([]byte(name + s.files[name].etag))
	}
	list, err := json.Marshal(map[string]any{"build": hex.EncodeToString(sum.Sum(nil)[:8]), "files": files})
	if err != nil {
		panic("texts are always JSON: " + err.Error())
	}
	return newFile(contentTypes[".js"], slices.Concat([]byte("self.podfate="), list, []byte(";\n"), s.files[workerName].content))
}

// kept are the files that a page needs, relative to the folder of the page.
func (s *Server) kept(pages ...string) []string {
	a := relative(web.Assets())
	list := append(pages, a.Style, a.Script, a.Early, a.Worker, a.Icon, a.Data, a.Frame)
	for _, name := range []string{"embed.js", "embed-run.js", "worker.js"} {
		list = append(list, "./static/"+name)
	}
	if s.moduleURL != "" {
		list = append(list, "."+s.moduleURL)
	}
	return list
}

// relative are the addresses of assets from a page in the folder that holds static.
func relative(a views.Assets) views.Assets {
	for _, address := range []*string{&a.Style, &a.Script, &a.Early, &a.Worker, &a.Icon, &a.Data, &a.Frame, &a.Folder, &a.Home, &a.Offline} {
		*address = "." + *address
	}
	return a
}

func (s *Server) offline(w *response, r *http.Request) error { return s.offlineFile.serve(w, r) }

// Offline is what a server is without connections: it answers forms and writes its own copy.
// [Offline.Close] ends it.
type Offline struct{ s *Server }

// NewOffline starts the engine of config.
func NewOffline(ctx context.Context, config Config) (*Offline, error) {
	s, err := New(config)
	if err != nil {
		return nil, err
	}
	if err := s.start(ctx); err != nil {
		return nil, err
	}
	return &Offline{s}, nil
}

// Close ends the engine.
func (o *Offline) Close(ctx context.Context) error {
	if closer, ok := o.s.engine.(interface{ Close(context.Context) error }); ok {
		return closer.Close(ctx)
	}
	return nil
}

// Answer answers a form as the page does.
func (o *Offline) Answer(ctx context.Context, form views.Form) (*views.Outcome, error) {
	return o.s.answerForm(ctx, form)
}

// sitePolicy is the policy of a copy, as far as a page can state it itself.
var sitePolicy = strings.NewReplacer(" frame-ancestors 'none';", "").Replace(contentSecurityPolicy)

// Site returns the files of a copy of the playground that any file host can serve, by their paths.
func (o *Offline) Site(ctx context.Context) (map[string][]byte, error) {
	s := o.s
	module, err := s.viewModule(ctx)
	if err != nil {
		return nil, err
	}
	module.URL = "." + module.URL
	files := map[string][]byte{}
	for name, f := range s.files {
		if name != workerName {
			files["static/"+name] = f.content
		}
	}
	first := web.Examples()[0].Form
	answer, err := s.answerForm(ctx, first)
	if err != nil {
		return nil, err
	}
	page := views.Page{
		Form: first, Examples: web.Examples(), Events: simulate.EventTypes(), Module: module, Answer: answer,
		Assets: relative(web.Assets()), Copy: true, Policy: sitePolicy,
	}
	for name, view := range map[string]func(views.Page) templ.Component{"index.html": views.Playground, "embed.html": views.Embed} {
		var b bytes.Buffer
		if err := view(page).Render(ctx, &b); err != nil {
			return nil, err
		}
		files[name] = b.Bytes()
	}
	entries, err := s.entries(ctx)
	if err != nil {
		return nil, err
	}
	for name, view := range map[string]templ.Component{
		"examples.html": views.Gallery(views.Examples{Entries: entries, All: len(entries), Copy: true, Claims: views.ReadClaims(docs.Claims), Assets: page.Assets}),
		"codes.html":    views.Codes(views.CodeList{Sections: views.ReadCodes(docs.Codes), Assets: page.Assets}),
	} {
		var b bytes.Buffer
		if err := view.Render(ctx, &b); err != nil {
			return nil, err
		}
		files[name] = b.Bytes()
	}
	files[workerName] = s.serviceWorker(s.kept("./", "./embed.html")).content
	return files, nil
}
