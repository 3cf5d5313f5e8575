package playground_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/podfate/podfate/playground/cli"
	"github.com/podfate/podfate/policy/policytest"
)

// TestDocsSites builds the example sites with their own generators and uses their ten embeds in a
// browser. The tables in the pages are those that podfate embed writes. Generators that take
// minutes to install are left to .ci/long sites.
func TestDocsSites(t *testing.T) {
	policytest.Quick(t, "sites of documentation, built and used")
	for _, site := range []struct {
		name, page, static, built string
		command                   []string
		long                      bool // its generator takes minutes to install
	}{
		{"mkdocs", "docs/index.md", "docs/podfate", "site", []string{"mkdocs", "build", "-q"}, false},
		{"sphinx", "index.md", "_static/podfate", "_build", []string{"sphinx-build", "-q", "-b", "html", ".", "_build"}, false},
		{"hugo", "content/_index.md", "static/podfate", "public", []string{"hugo", "--quiet"}, true},
		{"docusaurus", "docs/index.md", "static/podfate", "build", []string{"docusaurus", "build"}, true},
	} {
		t.Run(site.name, func(t *testing.T) {
			if site.long && !policytest.Long() {
				t.Skip("takes minutes to install; set PODFATE_LONG")
			}
			generator := policytest.Executable(t, site.command[0], "the example site of "+site.name, site.command[0])
			folder := t.TempDir()
			if err := os.CopyFS(folder, os.DirFS("../web/sites/"+site.name)); err != nil {
				t.Fatal(err)
			}
			run := func(args ...string) {
				t.Helper()
				var out strings.Builder
				if status := cli.Main(t.Context(), args, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &out}); status != 0 {
					t.Fatalf("podfate %v: %s", args, out.String())
				}
			}
			page := filepath.Join(folder, filepath.FromSlash(site.page))
			copied := t.TempDir()
			run("site", "-o", copied)
			if err := os.CopyFS(filepath.Join(folder, filepath.FromSlash(site.static)), os.DirFS(filepath.Join(copied, "static"))); err != nil {
				t.Fatal(err)
			}
			run("embed", "--check", page)
			if _, err := os.Stat(filepath.Join(folder, "package.json")); err == nil {
				// What it needs is where its program is, in node_modules/.bin.
				if err := os.Symlink(filepath.Dir(filepath.Dir(generator)), filepath.Join(folder, "node_modules")); err != nil {
					t.Fatal(err)
				}
			}
			build := policytest.Command(generator, site.command[1:]...)
			build.Dir = folder
			if out, err := build.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			host := httptest.NewServer(http.FileServer(http.Dir(filepath.Join(folder, site.built))))
			defer host.Close()
			p := open(t, host.URL)
			p.noScripts(t, true)
			p.run(t, chromedp.Navigate(host.URL+"/"))
			text, err := chromedp.Run(p, chromedp.Text(chromedp.CSS("body")))
			if n := strings.Count(text, "main exits "); err != nil || n < 10 || !strings.Contains(text, "main exits 42 → Restart") {
				t.Errorf("%v, without scripts %d answers are shown: %s", err, n, text)
			}
			p.noScripts(t, false)
			p.run(t, chromedp.Navigate(host.URL+"/"))
			p.until(t, "ten embeds", `document.querySelectorAll('pod-fate:defined').length === 10`)
			p.run(t, chromedp.Evaluate[chromedp.Void](`for (const e of document.querySelectorAll('pod-fate')) e.shadowRoot.querySelector('button').click()`))
			p.until(t, "ten answers", `[...document.querySelectorAll('pod-fate')].every((e) => e.shadowRoot.querySelector('.answer .sentence')?.textContent.includes(e.getAttribute('expect')))`)
			p.until(t, "one module", `performance.getEntriesByType('resource').filter((r) => r.name.endsWith('.wasm')).length === 1`)
			if shot := os.Getenv("PODFATE_SHOTS"); shot != "" {
				picture, err := chromedp.Run(p, chromedp.FullScreenshot(90))
				if err != nil || os.WriteFile(filepath.Join(shot, site.name+".jpg"), bytes.Clone(picture), 0o644) != nil {
					t.Error(err)
				}
			}
		})
	}
}
