package playground_test

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/podfate/podfate/web"
)

// noScripts turns the scripts of pages off or on. The page that is there gets its form back as the
// server sent it: scripts take the fields one types in out of it.
func (p *tab) noScripts(t *testing.T, off bool) {
	t.Helper()
	if off {
		p.eval(t, `(() => { for (const field of document.querySelectorAll('[form$="-own"]')) field.setAttribute('form', 'ask'); return '' })()`)
	}
	call(t, p, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: off})
}

// window sets the size of the window.
func (p *tab) window(t *testing.T, width, height int64) {
	t.Helper()
	call(t, p, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: 1, Mobile: width < 800})
}

// edit changes a field as typing does.
func (p *tab) edit(t *testing.T, id, script string) {
	t.Helper()
	p.eval(t, `((f) => { `+script+`; f.dispatchEvent(new Event('input', {bubbles: true})); return '' })(document.getElementById('`+id+`'))`)
}

// network makes the network of a page slow (bytes a second, -1 for no limit), or takes it away.
func (p *tab) network(t *testing.T, offline bool, bytes float64) {
	t.Helper()
	emulate := cdp.Command[map[string]any, cdp.Empty]{Method: "Network.emulateNetworkConditions"}
	latency := 150
	if bytes < 0 {
		latency = 0
	}
	call(t, p, emulate, map[string]any{"offline": offline, "latency": latency, "downloadThroughput": bytes, "uploadThroughput": bytes})
}

// share returns the link that the page offers.
func (p *tab) share(t *testing.T) string {
	t.Helper()
	p.eval(t, `(() => { share.open = false; return '' })()`)
	p.until(t, "Share is closed", `(link.value = '') === ''`)
	p.eval(t, `(() => { share.open = true; return '' })()`)
	p.until(t, "the link", `link.value !== ''`)
	return p.eval(t, `link.value`)
}

// TestReadableAddress (R-D4): what an address asks of an example is answered by the server, with
// and without scripts, and the page writes such addresses itself.
func TestReadableAddress(t *testing.T) {
	origin := serve(t)
	p := open(t, origin)
	const query = "/?example=restart-on-exit-codes&exit=137&k8s=1.36"
	p.noScripts(t, true)
	p.run(t, chromedp.Navigate(origin+query))
	if text := p.reply(t); !strings.Contains(text, "main exits 137 → Stop") || !strings.Contains(text, "Answered for Kubernetes 1.36") {
		t.Errorf("the server answers %q", text)
	}
	p.sees(t, "the page says what it cannot see", `document.querySelector('noscript').textContent + document.body.innerText`, "JavaScript is off")
	p.noScripts(t, false)
	p.run(t, chromedp.Navigate(origin+query))
	p.until(t, "the module answers in the browser", answered)
	p.until(t, "the same answer", says("main exits 137 → Stop"))
	p.edit(t, "exits", `f.value = 'main=42'`)
	p.until(t, "another exit", says("main exits 42 → Restart"))
	if at := p.eval(t, `location.search`); at != "?example=restart-on-exit-codes&k8s=1.36" {
		t.Errorf("the address is %s", at)
	}
	p.edit(t, "exits", `f.value = 'main: 42@10s x2, 1@5s'`)
	p.until(t, "runs", says("Pod Failed after"))
	link := p.share(t)
	if strings.Contains(link, "#") || !strings.Contains(link, "exits=main:+42@10s+x2,+1@5s") {
		t.Errorf("the link of an example is %s", link)
	}
	p.run(t, chromedp.Navigate("about:blank"), chromedp.Navigate(link))
	p.sees(t, "the link's exits", `document.getElementById('exits')?.value`, "main: 42@10s x2, 1@5s")
	p.clean(t)
}

// TestLinkFromTheFirstPaint (R-D4): at no time does the page show another question's answer under a
// link, however slow the network is; a link that cannot be read is named.
func TestLinkFromTheFirstPaint(t *testing.T) {
	origin := serve(t)
	p := open(t, origin)
	p.run(t, chromedp.Navigate(origin+"/?example=gate-off"))
	p.until(t, "the module answers in the browser", answered)
	p.edit(t, "manifest", `f.value = f.value.replace('[42]', '[43]')`)
	p.until(t, "the answer", says("main exits 42 → Stop"))
	link := p.share(t)
	if !strings.Contains(link, "#v1=") {
		t.Fatalf("the link is %s", link)
	}
	call(t, p, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: `{
		window.painted = [];
		const look = () => {
			const s = document.querySelector('#reply .sentence');
			if (s?.checkVisibility({visibilityProperty: true}) && painted.at(-1) !== s.textContent) painted.push(s.textContent);
			requestAnimationFrame(look);
		};
		look();
	}`})
	slow := func(bytes float64) {
		call(t, p, network.SetCacheDisabled, network.SetCacheDisabledParams{CacheDisabled: true})
		p.network(t, false, bytes)
	}
	slow(400 << 10)
	p.run(t, chromedp.Navigate("about:blank"), chromedp.Navigate(link))
	p.until(t, "the link's answer", "!!document.querySelector('#reply .sentence')?.checkVisibility({visibilityProperty: true}) && "+says("main exits 42 → Stop"))
	if seen := p.eval(t, `painted.join('|')`); strings.Contains(seen, "Restart") || seen == "" {
		t.Errorf("painted were %s", seen)
	}
	slow(-1)
	for _, broken := range []string{"#v1=%%%", "#v2=AAAA", "#v1=AAAA"} {
		p.run(t, chromedp.Navigate("about:blank"), chromedp.Navigate(origin+"/"+broken))
		p.until(t, "what is wrong with "+broken, `notice.textContent.startsWith('This link cannot be opened') && document.documentElement.className === ''`)
	}
	p.clean(t)
}

// TestTextIsKept (R-D5): what the reader typed survives an example, the Back button and a reload,
// and goes when told to.
func TestTextIsKept(t *testing.T) {
	origin := serve(t)
	p := open(t, origin)
	const mine = `manifest.value.includes('# mine')`
	example := func(id string) {
		p.run(t, chromedp.Evaluate[chromedp.Void](`example.value = '`+id+`'; example.dispatchEvent(new Event('change', {bubbles: true}))`))
	}
	p.run(t, chromedp.Navigate(origin+"/"))
	p.until(t, "the module answers in the browser", answered)
	const top = `String(manifest.getBoundingClientRect().top)`
	before := p.eval(t, top)
	p.edit(t, "manifest", `f.value += '# mine\n'`)
	p.until(t, "that it is kept is said instead of the example's question", `document.getElementById('example-question').textContent.startsWith('The text that you typed here is kept') && !!document.querySelector('#example-question [data-notice="kept.clear"]')`)
	if at := p.eval(t, top); at != before {
		t.Errorf("the first letter moves the manifest from %s to %s", before, at)
	}
	example("wrong-case")
	p.until(t, "the example", `!`+mine+` && `+says(`Unsupported value: "onFailure"`))
	p.until(t, "the page says that the text is kept", `notice.textContent.includes('kept') && !notice.hidden`)
	p.run(t, chromedp.Evaluate[chromedp.Void](`history.back()`))
	p.until(t, "Back returns to it", mine+` && `+says("main exits 42 → Restart"))
	p.run(t, chromedp.Reload())
	p.until(t, "a reload keeps it", `document.readyState === 'complete' && `+mine+` && `+answered)
	p.run(t, chromedp.Evaluate[chromedp.Void](`document.querySelector('.skip').click()`), chromedp.Reload())
	p.until(t, "and so after a jump in the page", `document.readyState === 'complete' && `+mine+` && `+answered)

	p.run(t, chromedp.Navigate(origin+"/?example=gate-off"))
	p.until(t, "another page offers it", `!notice.hidden && !!document.querySelector('[data-notice="kept.open"]')`)
	p.edit(t, "exits", `f.value = 'main=1'`)
	p.until(t, "an example with another exit is no text to keep", `location.search === '?example=gate-off&exits=main%3D1'`)
	p.run(t, chromedp.Click(chromedp.CSS(`[data-notice="kept.open"]`)))
	p.until(t, "it opens", mine)
	p.edit(t, "manifest", `f.value += '# more\n'`)
	example("two-policies")
	p.until(t, "the example", `!`+mine)
	example("")
	p.until(t, "one's own is in the menu", mine+` && manifest.value.includes('# more')`)
	p.run(t, chromedp.Click(chromedp.CSS(`[data-notice="kept.clear"]`)))
	p.until(t, "it is gone", `!`+mine+` && notice.hidden && Object.keys(sessionStorage).length === 0`)

	p.run(t, chromedp.Navigate(origin+"/?example=gate-off"))
	p.until(t, "the module answers in the browser", answered)
	p.edit(t, "manifest", `f.value = f.value.replace('[42]', '[43]')`)
	link := p.share(t)
	p.run(t, chromedp.Navigate("about:blank"), chromedp.Navigate(link))
	p.until(t, "the link's question", `manifest.value.includes('[43]')`)
	p.edit(t, "manifest", `f.value = f.value.replace('[43]', '[44]')`)
	p.until(t, "an edited link is one's own", `location.hash === ''`)
	p.run(t, chromedp.Evaluate[chromedp.Void](`history.back()`))
	p.until(t, "Back returns to the link", `manifest.value.includes('[43]')`)
	p.clean(t)
}

// TestAboveTheFold (R-D6): in a window of 1280 × 720 the answer does not scroll by itself, and
// version, Share, exits and verdict are in view, for every example that is not a question of the
// gallery: for those TestGalleryInTheBrowser looks at the same.
func TestAboveTheFold(t *testing.T) {
	origin := serve(t)
	p := open(t, origin)
	p.window(t, 1280, 720)
	for _, e := range web.Examples() {
		if e.Answer != "" {
			continue
		}
		p.run(t, chromedp.Navigate(origin+"/?example="+e.ID))
		p.until(t, "the module answers in the browser", answered)
		p.fold(t, e.ID)
	}
	p.clean(t)
}

// fold checks what is in view in a window of 1280 × 720, and that nothing scrolls but the page.
func (p *tab) fold(t *testing.T, id string) {
	t.Helper()
	const look = `[
		...['version', 'share', 'exits', 'reply > .verdict'].map((id) => [id, document.querySelector('#' + id).getBoundingClientRect()]).filter(([, r]) => !(r.height > 0 && r.top >= 0 && r.bottom <= 720)).map(([id, r]) => id + ' is at ' + JSON.stringify(r)),
		...[...document.querySelectorAll('#answer, #answer *, #ask, #ask *')].filter((e) => /auto|scroll/.test(getComputedStyle(e).overflowY) && e.scrollHeight > e.clientHeight + 1).map((e) => (e.id || e.className) + ' scrolls by itself'),
		...(document.documentElement.scrollWidth === 1280 ? [] : ['the page is ' + document.documentElement.scrollWidth + ' pixels wide']),
	].join('\n')`
	if wrong := p.eval(t, look); wrong != "" {
		t.Errorf("%s: %s", id, wrong)
	}
}
