package playground_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/podfate/podfate/playground/cli"
)

// TestOffline (R-D7): after one visit the page answers without the server, also what its address
// asks.
func TestOffline(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "site")
	var out strings.Builder
	if status := cli.Main(t.Context(), []string{"site", "-o", folder}, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &out}); status != 0 {
		t.Fatal(out.String())
	}
	t.Log(out.String())
	host := httptest.NewServer(http.StripPrefix("/docs/podfate/", http.FileServer(http.Dir(folder))))
	origin, page := host.URL, host.URL+"/docs/podfate/"
	p := open(t, origin)
	p.run(t, chromedp.Navigate(page))
	p.until(t, "the module answers in the browser", answered)
	p.until(t, "it is kept", `navigator.serviceWorker.controller !== null`)
	p.edit(t, "manifest", `f.value = f.value.replace('[42]', '[43]')`)
	p.until(t, "an answer", says("main exits 42 → Stop"))
	link := p.share(t)
	p.run(t, chromedp.Navigate(page+"embed.html?example=gate-off#"+strings.SplitN(link, "#", 2)[1]))
	p.until(t, "an example in a frame", `document.querySelector('pod-fate')?.shadowRoot?.querySelector('.answer')?.innerText.includes('main exits 42 → Stop')`)
	p.clean(t)
	host.Close()

	for _, c := range []struct{ address, says string }{
		{link, "main exits 42 → Stop"},
		{page + "?example=wrong-case", `Unsupported value: "onFailure"`},
		{page + "?example=restart-on-exit-codes&exit=1&k8s=1.36", "main exits 1 → Stop"},
	} {
		p.run(t, chromedp.Navigate("about:blank"), chromedp.Navigate(c.address))
		p.sees(t, "without the host", `document.documentElement.className === '' ? document.getElementById('reply').innerText : ''`, c.says)
	}
	p.run(t, chromedp.Reload())
	p.sees(t, "after a reload", `document.documentElement.className === '' ? document.getElementById('reply').innerText : ''`, "main exits 1 → Stop")
	p.run(t, chromedp.Navigate(page+"?example=nothing"))
	p.sees(t, "an unknown example is named", `document.getElementById('notice').innerText`, "There is no example “nothing”")
}

// TestOfflineServer is the same of the server's page.
func TestOfflineServer(t *testing.T) {
	origin := serve(t)
	gone := false
	relay := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if gone {
			panic(http.ErrAbortHandler)
		}
		answer, err := http.Get(origin + r.URL.RequestURI())
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		defer answer.Body.Close()
		for name, values := range answer.Header {
			w.Header()[name] = values
		}
		w.WriteHeader(answer.StatusCode)
		io.Copy(w, answer.Body)
	}))
	t.Cleanup(relay.Close)
	relay.Config.ErrorLog = nil
	p := open(t, relay.URL)
	p.run(t, chromedp.Navigate(relay.URL+"/"))
	p.until(t, "the module answers in the browser", answered)
	p.until(t, "it is kept", `navigator.serviceWorker.controller !== null`)
	p.clean(t)
	gone = true
	p.run(t, chromedp.Navigate(relay.URL+"/?example=gate-off"))
	p.sees(t, "without the server", `document.documentElement.className === '' ? document.getElementById('reply').innerText : ''`, "Answered for Kubernetes 1.34")
}
