package server

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/andybalholm/brotli"
)

// file is something that never changes while the server runs. There is no file system behind it: a
// name is a key of a map.
type file struct {
	contentType string
	content     []byte
	etag        string // of the content, quoted
	digest      string // the first 16 hexadecimal digits of its SHA-256
	// The content compressed, made on first use; nil if that is not worth it.
	brotlied, gzipped func() []byte
}

var contentTypes = map[string]string{
	".css":         "text/css; charset=utf-8",
	".html":        "text/html; charset=utf-8",
	".ico":         "image/x-icon",
	".js":          "text/javascript; charset=utf-8",
	".json":        "application/json",
	".map":         "application/json",
	".mjs":         "text/javascript; charset=utf-8",
	".png":         "image/png",
	".svg":         "image/svg+xml",
	".txt":         "text/plain; charset=utf-8",
	".wasm":        "application/wasm",
	".webmanifest": "application/manifest+json",
	".woff2":       "font/woff2",
	".yaml":        "application/yaml",
}

// newFile describes content that is served as contentType.
func newFile(contentType string, content []byte) *file {
	sum := sha256.Sum256(content)
	f := &file{
		contentType: contentType,
		content:     content,
		etag:        `"` + hex.EncodeToString(sum[:16]) + `"`,
		digest:      hex.EncodeToString(sum[:8]),
	}
	if len(content) > 1024 && !strings.HasPrefix(contentType, "image/png") && !strings.HasPrefix(contentType, "font/") {
		quality := brotli.BestCompression
		if len(content) > maxBestBrotli {
			quality = largeBrotli
		}
		f.brotlied = sync.OnceValue(func() []byte { return brotlied(content, quality) })
		f.gzipped = sync.OnceValue(func() []byte { return gzipped(content) })
	}
	return f
}

// How hard brotli tries. For the module the best takes half a minute, while the large one leaves a
// tenth more bytes after seconds; a page, which is made for one reader, takes a millisecond.
const (
	maxBestBrotli = 256 << 10
	largeBrotli   = 9
	pageBrotli    = 5
)

func brotlied(content []byte, quality int) []byte {
	var b bytes.Buffer
	w := brotli.NewWriterLevel(&b, quality)
	_, err := w.Write(content)
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		panic("compressing into memory cannot fail: " + err.Error())
	}
	return b.Bytes()
}

func gzipped(content []byte) []byte {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err == nil {
		_, err = w.Write(content)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		panic("compressing into memory cannot fail: " + err.Error())
	}
	return b.Bytes()
}

// serve answers with f, or with 304 if the client has it. There are no ranges: the largest file is
// a module that is of no use in parts.
func (f *file) serve(w http.ResponseWriter, r *http.Request) error {
	h := w.Header()
	content, etag := f.content, f.etag
	if f.gzipped != nil {
		h.Set("Vary", "Accept-Encoding")
		// Another representation needs another tag: a cache may hold all of them.
		tagged := func(coding string) {
			etag = strings.TrimSuffix(f.etag, `"`) + "-" + coding + `"`
			h.Set("Content-Encoding", coding)
		}
		switch {
		case accepts(r.Header, "br"):
			content = f.brotlied()
			tagged("br")
		case accepts(r.Header, "gzip"):
			content = f.gzipped()
			tagged("gzip")
		}
	}
	h.Set("ETag", etag)
	if sameTag(r.Header.Get("If-None-Match"), f.etag, etag) {
		h.Del("Content-Encoding")
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	h.Set("Content-Type", f.contentType)
	h.Set("Content-Length", strconv.Itoa(len(content)))
	w.Write(content) // an error here means that the client has gone
	return nil
}

// sameTag reports whether the list of tags that a client has holds one of tags, weak or not.
func sameTag(list string, tags ...string) bool {
	for _, entry := range strings.Split(list, ",") {
		entry = strings.TrimPrefix(strings.TrimSpace(entry), "W/")
		if entry == "*" || slices.Contains(tags, entry) {
			return true
		}
	}
	return false
}

// accepts reads Accept-Encoding: a coding is listed, and not with quality 0.
func accepts(h http.Header, wanted string) bool {
	for _, entry := range strings.Split(h.Get("Accept-Encoding"), ",") {
		coding, parameter, _ := strings.Cut(entry, ";")
		if !strings.EqualFold(strings.TrimSpace(coding), wanted) {
			continue
		}
		q := strings.ReplaceAll(strings.TrimSpace(parameter), " ", "")
		return strings.TrimRight(q, "0.") != "q="
	}
	return false
}

// filesOf reads all files of a tree, by their paths.
func filesOf(tree fs.FS) (map[string]*file, error) {
	files := map[string]*file{}
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		contentType, known := contentTypes[path.Ext(name)]
		if !known {
			return fmt.Errorf("%s: no content type is known for %q", name, path.Ext(name))
		}
		content, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		files[name] = newFile(contentType, content)
		return nil
	})
	return files, err
}
