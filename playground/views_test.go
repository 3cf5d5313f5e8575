package playground_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestExitCodesView: a map of 256 codes that the keyboard moves in, and Enter asks what a code
// comes to.
func TestExitCodesView(t *testing.T) {
	origin := serve(t)
	p := open(t, origin)
	p.run(t, chromedp.Navigate(origin+"/"))
	p.until(t, "the module answers in the browser", answered)
	p.run(t, chromedp.Click(chromedp.CSS(`#tabs [value="codes"]`)))
	p.until(t, "the map", `document.querySelectorAll('#reply .map td').length === 256`)
	if at := p.eval(t, `location.search`); !strings.Contains(at, "view=codes") {
		t.Errorf("the address is %s", at)
	}
	p.run(t, chromedp.Focus(chromedp.CSS(`#reply .map [tabindex="0"]`)))
	for _, key := range []string{kb.ArrowDown, kb.ArrowDown, kb.ArrowRight, kb.End, kb.Home, kb.ArrowUp, kb.ArrowLeft, kb.PageDown, kb.ArrowRight, kb.ArrowRight, kb.ArrowRight, kb.PageUp, kb.ArrowLeft, kb.ArrowDown, kb.ArrowDown} {
		p.run(t, chromedp.KeyEvent(key))
	}
	code := p.eval(t, `document.activeElement.dataset.code`)
	if label := p.eval(t, `document.activeElement.ariaLabel`); !strings.HasPrefix(label, code+": ") {
		t.Errorf("the cell is called %q", label)
	}
	p.run(t, chromedp.Evaluate[chromedp.Void](`document.querySelector('#reply .map [data-code="42"]').focus()`), chromedp.KeyEvent(kb.Enter))
	p.until(t, "what the code comes to", says("exits 42 → Restart")+` && view.value === ''`)
	p.noScripts(t, true)
	p.run(t, chromedp.Navigate(origin+"/?example=job-bug&view=codes"))
	if text := p.reply(t); !strings.Contains(text, "Exit codes of export") {
		t.Errorf("the server answers %q", text)
	}
	p.clean(t)
}

// TestVersionsView: the same question in all versions, with the places of the manifest.
func TestVersionsView(t *testing.T) {
	origin := serve(t)
	p := open(t, origin)
	p.run(t, chromedp.Navigate(origin+"/"))
	p.until(t, "the module answers in the browser", answered)
	p.run(t, chromedp.Click(chromedp.CSS(`#tabs [value="versions"]`)))
	for _, want := range []string{"1.33", "refused", "1.34", "1.35"} {
		p.until(t, "what the versions come to", says(want))
	}
	if line := p.eval(t, `document.querySelector('#reply [data-line]')?.dataset.line ?? ''`); line == "1" {
		t.Error("a place is that of the request")
	}
	browser := p.eval(t, `document.getElementById('reply').innerText`)
	p.run(t, chromedp.Click(chromedp.CSS("#compare")))
	p.until(t, "the comparison", `document.getElementById('compared').textContent.startsWith('✓')`)
	p.noScripts(t, true)
	p.run(t, chromedp.Navigate(origin+"/"), chromedp.Click(chromedp.CSS(`#tabs [value="versions"]`)))
	p.sees(t, "the server answers the pressed button", `document.querySelector('#tabs [aria-pressed=true]')?.value ?? ''`, "versions")
	if server := p.eval(t, `document.getElementById('reply').innerText`); server != browser {
		t.Errorf("the server shows\n%s\nthe browser\n%s", server, browser)
	}
	p.clean(t)
}

// TestBackoffView: how late the container is back after an outage, with a row for each restart,
// also without scripts.
func TestBackoffView(t *testing.T) {
	origin := serve(t)
	p := open(t, origin)
	const rows = `String([...document.querySelectorAll('#reply table:not(.map) tbody tr')].length)`
	const address = "/?view=backoff&run=2s&outage=7m&cap=60s"
	p.noScripts(t, true)
	p.run(t, chromedp.Navigate(origin+address))
	if text := p.reply(t); !strings.Contains(text, "Back 30s late") {
		t.Errorf("the server answers %q", text)
	}
	bars := p.eval(t, `String(document.querySelectorAll('#reply .plot rect').length)`)
	if n := p.eval(t, rows); n == "0" || bars == "0" {
		t.Errorf("%s rows, %s bars", n, bars)
	}
	p.noScripts(t, false)
	p.run(t, chromedp.Navigate(origin+address))
	p.until(t, "the module answers in the browser", answered)
	p.until(t, "the same answer", says("Back 30s late"))
	p.edit(t, "lab-cap", `f.value = ''`)
	p.until(t, "another cap", `!`+says("Back 30s late"))
	p.edit(t, "lab-outage", `f.value = 'soon'`)
	p.until(t, "a fault in words", says("outage"))
	link := p.share(t)
	if !strings.Contains(link, "outage=soon") {
		t.Errorf("the link is %s", link)
	}
	p.clean(t)
}
