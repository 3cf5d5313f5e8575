package server

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"

	"github.com/podfate/podfate/policy/ops"
	"github.com/podfate/podfate/schema"
	"github.com/podfate/podfate/web"
)

var fakeModule = func() Module {
	content := append([]byte("\x00asm\x01\x00\x00\x00"), bytes.Repeat([]byte("module "), 1000)...)
	sum := sha256.Sum256(content)
	return Module{content, hex.EncodeToString(sum[:])}
}()

func withModule(c *Config) { c.Module = fakeModule }

func TestModule(t *testing.T) {
	s := newServer(t, native, withModule)
	for target, cache := range map[string]string{
		"/policy.wasm": "no-cache",
		"/static/policy." + fakeModule.SHA256[:16] + ".wasm": "public, max-age=31536000, immutable",
	} {
		w := send(s, "GET", target, "")
		if w.Code != 200 || w.Header().Get("Content-Type") != "application/wasm" || !bytes.Equal(w.Body.Bytes(), fakeModule.Bytes) {
			t.Errorf("%s: status %d, type %s", target, w.Code, w.Header().Get("Content-Type"))
		}
		if got := w.Header().Get("Cache-Control"); got != cache {
			t.Errorf("%s: Cache-Control %q", target, got)
		}
		etag := w.Header().Get("ETag")
		if w := send(s, "GET", target, "", "If-None-Match: "+etag); w.Code != 304 || w.Body.Len() != 0 {
			t.Errorf("%s: with its own tag: status %d", target, w.Code)
		}
		if w := send(s, "GET", target, "", `If-None-Match: "other"`); w.Code != 200 {
			t.Errorf("%s: with another tag: status %d", target, w.Code)
		}
		if w := send(s, "GET", "/static/policy.0123456789abcdef.wasm", ""); w.Code != 404 || w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("another digest: status %d, %s", w.Code, w.Header().Get("Cache-Control"))
		}
	}
	if w := send(newServer(t, native), "GET", "/policy.wasm", ""); w.Code != 404 {
		t.Errorf("without a module: status %d", w.Code)
	}
}

func TestCompression(t *testing.T) {
	s := newServer(t, native, withModule)
	for accept, want := range map[string]string{
		"": "", "gzip": "gzip", "br, gzip;q=0.5": "br", "br;q=0, gzip": "gzip", "GZIP": "gzip", "gzip;q=0": "", "gzip; q=0.000": "", "br": "br", "identity": "", "gzipped": "",
	} {
		w := send(s, "GET", "/policy.wasm", "", "Accept-Encoding: "+accept)
		if got := w.Header().Get("Content-Encoding"); got != want {
			t.Errorf("Accept-Encoding %q: %q, want %q", accept, got, want)
		}
		if w.Header().Get("Vary") != "Accept-Encoding" {
			t.Errorf("Accept-Encoding %q: Vary is missing", accept)
		}
		var r io.Reader = w.Body
		if want == "gzip" {
			var err error
			if r, err = gzip.NewReader(w.Body); err != nil {
				t.Fatal(err)
			}
		}
		if want == "br" {
			r = brotli.NewReader(w.Body)
		}
		if content, err := io.ReadAll(r); err != nil || !bytes.Equal(content, fakeModule.Bytes) {
			t.Errorf("Accept-Encoding %q: %d bytes, %v", accept, len(content), err)
		}
	}
	page := send(s, "GET", "/", "", "Accept-Encoding: gzip, br")
	if text, err := io.ReadAll(brotli.NewReader(page.Body)); err != nil || page.Header().Get("Content-Encoding") != "br" || !bytes.Contains(text, []byte("</html>")) {
		t.Errorf("the page: %q, %v", page.Header().Get("Content-Encoding"), err)
	}
	plain, packed := send(s, "GET", "/policy.wasm", ""), send(s, "GET", "/policy.wasm", "", "Accept-Encoding: gzip")
	if plain.Header().Get("ETag") == packed.Header().Get("ETag") {
		t.Error("two representations have one tag")
	}
}

func TestStaticFiles(t *testing.T) {
	s := newServer(t, native)
	assets := web.Assets()
	for _, address := range []string{assets.Style, assets.Script, assets.Worker, assets.Icon} {
		w := send(s, "GET", address, "")
		if w.Code != 200 || !strings.Contains(w.Header().Get("Cache-Control"), "immutable") {
			t.Errorf("%s: status %d, %s", address, w.Code, w.Header().Get("Cache-Control"))
		}
		name, _, _ := strings.Cut(address, "?")
		for _, other := range []string{name, name + "?v=", name + "?v=00000000", name + "?v=a"} {
			if w := send(s, "GET", other, ""); w.Code != 200 || w.Header().Get("Cache-Control") != "no-cache" {
				t.Errorf("%s: status %d, %s", other, w.Code, w.Header().Get("Cache-Control"))
			}
		}
	}
	for _, target := range []string{"/static/", "/static/..", "/static/%00", "/static/web.go", "/static/app.js/", "/static/./app.js%20"} {
		if w := send(s, "GET", target, ""); w.Code == 200 {
			t.Errorf("%s was served", target)
		}
	}
}

func TestSchemasAreServed(t *testing.T) {
	s := newServer(t, native)
	for _, name := range schema.Names() {
		w := send(s, "GET", "/schema/v1/"+name+schema.Suffix, "")
		var got struct {
			ID string `json:"$id"`
		}
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != 200 || got.ID != schema.BaseURL+name+schema.Suffix {
			t.Errorf("%s: status %d, $id %q, %v", name, w.Code, got.ID, err)
		}
	}
}

// TestOpenAPI holds the document against the route table, and each reference in it against the
// document.
func TestOpenAPI(t *testing.T) {
	s := newServer(t, native)
	w := send(s, "GET", "/api/v1/openapi.json", "")
	var document map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &document); err != nil {
		t.Fatal(err)
	}
	if document["openapi"] != "3.1.0" {
		t.Errorf("openapi is %v", document["openapi"])
	}
	var described, served []string
	for path, item := range document["paths"].(map[string]any) {
		for method, operation := range item.(map[string]any) {
			described = append(described, strings.ToUpper(method)+" "+path)
			responses := operation.(map[string]any)["responses"].(map[string]any)
			for _, status := range []string{"200", "400", "403", "404", "405", "408", "413", "415", "421", "422", "500", "503"} {
				if responses[status] == nil {
					t.Errorf("%s %s: no response %s", method, path, status)
				}
			}
		}
	}
	for _, r := range s.routes() {
		if strings.HasPrefix(r.path, "/api/v1/") && r.path != "/api/v1/openapi.json" {
			served = append(served, r.method+" "+r.path)
		}
	}
	slices.Sort(described)
	slices.Sort(served)
	if !slices.Equal(described, served) {
		t.Errorf("described %q, served %q", described, served)
	}
	references := 0
	walk(document, func(ref string) {
		references++
		at := any(document)
		for _, name := range strings.Split(strings.TrimPrefix(ref, "#/"), "/") {
			at = at.(map[string]any)[name]
			if at == nil {
				t.Errorf("%s leads nowhere", ref)
				return
			}
		}
	})
	if references < 50 {
		t.Errorf("%d references", references)
	}
}

func walk(part any, visit func(ref string)) {
	switch part := part.(type) {
	case map[string]any:
		if ref, ok := part["$ref"].(string); ok {
			visit(ref)
		}
		for _, name := range slices.Sorted(maps.Keys(part)) {
			walk(part[name], visit)
		}
	case []any:
		for _, child := range part {
			walk(child, visit)
		}
	}
}

// TestAnswersFitTheirSchemas holds what is answered against what is published.
func TestAnswersFitTheirSchemas(t *testing.T) {
	s := newServer(t, native, withModule)
	for _, op := range ops.Table() {
		if !slices.Contains(schema.Names(), op.Name+"-answer") {
			continue // a test of package schema says so
		}
		for _, request := range []string{validDecide, `{"manifest":{"kind":"Pod"}}`, `{}`, `{`, `{"manifest":{"spec":7},"exits":[{}]}`} {
			w := send(s, "POST", "/api/v1/"+op.Name, request)
			name := op.Name + "-answer"
			if w.Code != 200 {
				name = "problem"
			}
			if err := schema.Validate(name, w.Body.Bytes()); err != nil {
				t.Errorf("%s %s: %v\n%s", op.Name, request, err, w.Body)
			}
		}
	}
}
