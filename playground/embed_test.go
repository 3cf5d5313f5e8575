package playground_test

import (
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/podfate/podfate/wasm"
	"github.com/podfate/podfate/web"
)

// docs is somebody else's site with a page and a copy of the embed's files. It counts what is asked
// for.
type docs struct {
	origin string
	asked  map[string]int // by path
}

func serveDocs(t *testing.T, policy, page string) *docs {
	t.Helper()
	static, err := fs.Sub(web.Static, "static")
	if err != nil {
		t.Fatal(err)
	}
	d := &docs{asked: map[string]int{}}
	files := http.StripPrefix("/podfate/", http.FileServerFS(static))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d.asked[r.URL.Path]++ // one browser asks, and the test reads when it is idle
		switch {
		case r.URL.Path == "/":
			w.Header().Set("Content-Security-Policy", policy)
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			fmt.Fprint(w, page)
		case r.URL.Path == "/podfate/policy.wasm":
			w.Header().Set("Content-Type", "application/wasm")
			w.Write(wasm.Module())
		case r.URL.Path == "/favicon.ico":
		default:
			w.Header().Set("Content-Security-Policy", policy) // a worker has the policy of its own file
			files.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(s.Close)
	d.origin = s.URL
	return d
}

const strict = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; worker-src 'self'; style-src 'self'; " +
	"img-src 'self'; require-trusted-types-for 'script'; trusted-types podfate"

func embedPage(n int) string {
	var b strings.Builder
	b.WriteString("<!DOCTYPE html><html lang=en><head><meta charset=utf-8><title>Docs</title>" +
		`<script type="module" src="/podfate/embed.js"></script></head><body><h1>Docs</h1>`)
	for i := range n {
		fmt.Fprintf(&b, `<pod-fate id="e%d" exits="main=%d" k8s="1.36" expect="main exits %d"><pre>
apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  restartPolicy: Never
  containers:
  - {name: main, image: i}
</pre><table><caption>main exits %d → Stop</caption></table></pod-fate>`, i, i, i, i)
	}
	b.WriteString("</body></html>")
	return b.String()
}

// TestEmbeds: ten embeds on a page with a strict policy load nothing but one small script before
// the reader asks, and then one module for all; without scripts their tables remain.
func TestEmbeds(t *testing.T) {
	d := serveDocs(t, strict, embedPage(10))
	p := open(t, d.origin)
	p.run(t, chromedp.Navigate(d.origin+"/"))
	p.until(t, "ten embeds", `document.querySelectorAll('pod-fate:defined').length === 10 && e9.shadowRoot.querySelector('button').checkVisibility()`)
	for path := range d.asked {
		if path != "/" && path != "/podfate/embed.js" && path != "/favicon.ico" {
			t.Errorf("before anybody asks, the page loads %s", path)
		}
	}
	p.run(t, chromedp.Evaluate[chromedp.Void](`for (const e of document.querySelectorAll('pod-fate')) e.shadowRoot.querySelector('button').click()`))
	p.until(t, "ten answers", `[...document.querySelectorAll('pod-fate')].every((e, i) => e.shadowRoot.querySelector('.answer .sentence')?.textContent.includes('main exits '+i+' → Stop'))`)
	for _, path := range []string{"/podfate/policy.wasm", "/podfate/worker.js", "/podfate/embed-run.js", "/podfate/embed.js"} {
		if n := d.asked[path]; n != 1 {
			t.Errorf("%s was asked for %d times", path, n)
		}
	}
	const inside = `e3.shadowRoot.querySelector('`
	p.eval(t, `((f) => { f.value = f.value.replace('Never', 'Always'); f.dispatchEvent(new Event('input', {bubbles: true})); return '' })(`+inside+`textarea'))`)
	p.until(t, "the answer to an edit", inside+`.answer .sentence').textContent.includes('main exits 3 → Restart')`)
	p.until(t, "Open carries it", inside+`a.open').href.includes('/#v1=')`)
	if lines := p.eval(t, inside+`.answer [data-line]').dataset.line`); lines != "5" {
		t.Errorf("the answer points at line %s", lines)
	}
	p.run(t, chromedp.Evaluate[chromedp.Void](inside+`.answer [data-line]').click()`))
	if at := p.eval(t, `((f) => f.value.slice(f.selectionStart, f.selectionEnd))(`+inside+`textarea'))`); at != "  restartPolicy: Always" {
		t.Errorf("the link selects %q", at)
	}
	p.run(t, chromedp.Evaluate[chromedp.Void](`[...e3.shadowRoot.querySelectorAll('button')].find((b) => b.textContent === 'Reset').click()`))
	p.until(t, "Reset returns to the author's", inside+`.answer .sentence').textContent.includes('main exits 3 → Stop')`)
	p.clean(t)

	t.Run("without scripts", func(t *testing.T) {
		p.noScripts(t, true)
		p.run(t, chromedp.Navigate(d.origin+"/"))
		text, err := chromedp.Run(p, chromedp.Text(chromedp.CSS("#e7")))
		if err != nil || !strings.Contains(text, "restartPolicy: Never") || !strings.Contains(text, "main exits 7 → Stop") {
			t.Errorf("%v, the embed is %q", err, text)
		}
	})
}

// TestEmbedNamesWhatAPolicyLacks (R-D10).
func TestEmbedNamesWhatAPolicyLacks(t *testing.T) {
	for _, c := range []struct{ without, says string }{
		{" 'wasm-unsafe-eval'", "does not allow WebAssembly; it needs script-src … 'wasm-unsafe-eval'"},
		{"connect-src 'self'; ", "does not allow fetching the module; it needs connect-src 'self'"},
	} {
		d := serveDocs(t, strings.Replace(strict, c.without, "", 1), embedPage(1))
		p := open(t, d.origin)
		p.run(t, chromedp.Navigate(d.origin+"/"))
		p.until(t, "the embed", `!!window.e0?.shadowRoot?.querySelector('button')`)
		p.run(t, chromedp.Evaluate[chromedp.Void](`e0.shadowRoot.querySelector('button').click()`))
		p.until(t, "what is missing", `e0.shadowRoot.querySelector('[role=alert]')?.textContent.includes(`+quote(c.says)+`)`)
		p.until(t, "one may try again", `!e0.shadowRoot.querySelector('button').disabled`)
	}
}

// TestFrame: /embed in a page of another origin, and in a sandbox without an origin, where there is
// neither worker nor storage.
func TestFrame(t *testing.T) {
	origin := serve(t)
	target, err := url.Parse(origin)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.ModifyResponse = func(r *http.Response) error {
		if r.Request.URL.Path == "/embed" {
			r.Header.Add("Content-Security-Policy", "sandbox allow-scripts")
		}
		return nil
	}
	sandbox := httptest.NewServer(proxy)
	defer sandbox.Close()
	for _, from := range []string{origin, sandbox.URL} {
		p := open(t, from)
		p.run(t, chromedp.Navigate(from+"/embed?example=restart-on-exit-codes&exit=main%3D42&k8s=1.36"))
		p.until(t, "the frame", `!!document.querySelector('pod-fate')?.shadowRoot && document.querySelector('pod-fate').innerText.includes('main exits 42 → Restart')`)
		p.run(t, chromedp.Evaluate[chromedp.Void](`document.querySelector('pod-fate').shadowRoot.querySelector('button').click()`))
		p.until(t, "the answer", `document.querySelector('pod-fate').shadowRoot.querySelector('.answer')?.innerText.includes('Answered for Kubernetes 1.36')`)
		p.until(t, "the link", `document.querySelector('pod-fate').shadowRoot.querySelector('a.open').href.includes('#v1=')`)
		link := p.eval(t, `document.querySelector('pod-fate').shadowRoot.querySelector('a.open').hash`)
		p.run(t, chromedp.Navigate("about:blank"), chromedp.Navigate(from+"/embed"+link))
		p.until(t, "the link's question", `document.querySelector('pod-fate')?.shadowRoot?.querySelector('.answer')?.innerText.includes('Answered for Kubernetes 1.36')`)
		p.clean(t)
	}
	framing := serveDocs(t, "frame-src *", `<!DOCTYPE html><title>d</title><iframe id="f" sandbox="allow-scripts" src="`+origin+`/embed"></iframe><iframe id="g" src="`+origin+`/"></iframe>`)
	p := open(t, framing.origin)
	p.run(t, chromedp.Navigate(framing.origin+"/"))
	p.sees(t, "the playground refuses to be framed, the example does not", `''`, "")
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range p.wrong {
		if strings.Contains(w, "frame-ancestors") && strings.Contains(w, "/embed") {
			t.Error(w)
		}
	}
}
