package playground_test

import (
	"encoding/json"
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
	browser := p.eval(t, painted)
	p.run(t, chromedp.Click(chromedp.CSS("#compare")))
	p.until(t, "the comparison", `document.getElementById('compared').textContent.startsWith('✓')`)
	p.noScripts(t, true)
	p.run(t, chromedp.Navigate(origin+"/"), chromedp.Click(chromedp.CSS(`#tabs [value="versions"]`)))
	p.sees(t, "the server answers the pressed button", `document.querySelector('#tabs [aria-pressed=true]')?.value ?? ''`, "versions")
	if server := p.eval(t, painted); server != browser {
		t.Errorf("the server shows\n%s\nthe browser\n%s", server, browser)
	}
	p.clean(t)
}

// TestBackoffView: how late the container is back after an outage, with a row for each restart,
// also without scripts.
func TestBackoffView(t *testing.T) {
	origin := serve(t)
	p := open(t, origin)
	const restarts = `String([...document.querySelectorAll('#reply table:not(.map) tbody tr')].filter((r) => /^\d+$/.test(r.cells[0].innerText.trim())).length)`
	const address = "/?view=backoff&run=2s&outage=7m&cap=60s"
	p.noScripts(t, true)
	p.run(t, chromedp.Navigate(origin+address))
	if text := p.reply(t); !strings.Contains(text, "Back 30s late") {
		t.Errorf("the server answers %q", text)
	}
	bars := p.eval(t, `String(document.querySelectorAll('#reply .plot rect').length)`)
	if n := p.eval(t, restarts); n != "31" || bars == "0" || !strings.Contains(p.reply(t), "31 restarts in the first 30m") {
		t.Errorf("%s rows of restarts, %s bars: %q", n, bars, p.reply(t))
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

// TestCompareView: A and B with what becomes of both in each version first, differing codes and
// both timelines on one axis; the same without scripts.
func TestCompareView(t *testing.T) {
	origin := serve(t)
	p := open(t, origin)
	p.run(t, chromedp.Navigate(origin+"/"))
	p.until(t, "the module answers in the browser", answered)
	const strip = `[...document.querySelectorAll('#reply table')[0].tBodies[0].rows].map((r) => r.innerText).join('|')`
	p.run(t, chromedp.Click(chromedp.CSS(`#tabs [value="compare"]`)))
	p.until(t, "the manifest is both", says("Equivalent"))
	for i, want := range []string{"1.33\t⊘", "1.34\t■ main exits 42 → Stop", "1.35–1.37\t↻ main exits 42 → Restart"} {
		if rows := strings.Split(p.eval(t, strip), "|"); len(rows) != 3 || !strings.HasPrefix(rows[i], want) {
			t.Errorf("the strip of versions is %q, want %q in row %d", rows, want, i)
		}
	}
	pod := func(rules string) string {
		return "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  restartPolicy: Never\n  containers:\n  - name: main\n    image: i\n" + rules
	}
	p.edit(t, "manifest", `f.value = `+quote(pod("")))
	p.edit(t, "other", `f.value = `+quote(pod("    restartPolicy: Never\n    restartPolicyRules:\n    - action: Restart\n      exitCodes: {operator: In, values: [42]}\n")))
	p.edit(t, "exits", `f.value = ''`)
	p.until(t, "one code differs", says("Only exit 42 differs")+` && [...document.querySelectorAll('#reply table')].at(-1).tBodies[0].rows.length === 1`)
	// Of the 256 codes of both 255 come to the same, which the maps of A and B show.
	if row := p.eval(t, `[...document.querySelectorAll('#reply table')].at(-1).tBodies[0].innerText`); !strings.HasPrefix(row, "main exits 42\t") {
		t.Errorf("what differs is %q", row)
	}
	const cells = `JSON.stringify([...document.querySelectorAll('#reply .map td')].map((td) => td.textContent + td.ariaLabel))`
	var maps [2][]string
	for i, manifest := range []string{p.eval(t, `manifest.value`), p.eval(t, `other.value`)} {
		p.edit(t, "manifest", `f.value = `+quote(manifest))
		p.run(t, chromedp.Click(chromedp.CSS(`#tabs [value="codes"]`)))
		p.until(t, "the map of codes", `document.querySelectorAll('#reply .map td').length === 256 && (document.querySelector('#reply .map [data-code="42"]').textContent === 'R') === `+[]string{"false", "true"}[i])
		if err := json.Unmarshal([]byte(p.eval(t, cells)), &maps[i]); err != nil {
			t.Fatal(err)
		}
	}
	equal := 0
	for code := range maps[0] {
		if maps[0][code] == maps[1][code] {
			equal++
		} else if code != 42 {
			t.Errorf("exit %d is %q and %q", code, maps[0][code], maps[1][code])
		}
	}
	if equal != 255 {
		t.Errorf("%d codes are equal", equal)
	}
	p.edit(t, "manifest", `f.value = `+quote(pod("")))
	p.run(t, chromedp.Click(chromedp.CSS(`#tabs [value="compare"]`)))
	p.edit(t, "exits", `f.value = 'main: 42@10s x2, 1@5s'`)
	p.until(t, "both on one axis", `document.querySelectorAll('#reply .lanes .lane.container').length === 2 && document.querySelectorAll('#reply .axis').length === 1`)
	link := p.share(t)
	p.until(t, "what follows the answer", `!reply.ariaBusy`)
	browser := p.eval(t, painted)
	p.noScripts(t, true)
	p.run(t, chromedp.Click(chromedp.CSS(`#pair button`)))
	p.sees(t, "the server's answer", `document.getElementById('where').textContent`, "came from the server")
	if server := p.eval(t, painted); server != browser {
		t.Errorf("the server shows\n%s\nthe browser\n%s", server, browser)
	}
	p.noScripts(t, false)
	p.run(t, chromedp.Navigate("about:blank"), chromedp.Navigate(link))
	p.until(t, "the link holds both", `other.value.includes('42') && `+says("Only exit 42 differs"))
	p.clean(t)
}

// TestKubectlView: a crash loop is amber, is called so, and has a row of kubectl; a live Pod begins
// with what comes next.
func TestKubectlView(t *testing.T) {
	origin := serve(t)
	p := open(t, origin)
	p.run(t, chromedp.Navigate(origin+"/?example=live-crash-loop"))
	p.until(t, "the module answers in the browser", answered)
	p.until(t, "what comes next", `document.querySelector('#reply .sentence').lastChild.textContent.trim().startsWith('Next restart in 2m40s')`)
	p.edit(t, "manifest", `f.value = 'apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n  - {name: main, image: i}\n'`)
	p.edit(t, "exits", `f.value = 'main: 1@3s forever until 24h'`)
	p.until(t, "the crash loop", `document.querySelector('#reply .verdict.wait')?.textContent.includes('CrashLoopBackOff')`)
	const amber = `String((([r, g, b]) => r > 1.2 * g && g > 1.5 * b)(getComputedStyle(document.querySelector('#reply .verdict .sentence')).color.match(/\d+/g).map(Number)))`
	if is := p.eval(t, amber); is != "true" {
		t.Error("a crash loop is not amber")
	}
	if row := p.eval(t, `document.querySelector('#reply .terminal').textContent`); !strings.Contains(row, "CrashLoopBackOff") || !strings.Contains(row, "READY") {
		t.Errorf("kubectl's row is %q", row)
	}
	p.run(t, chromedp.Click(chromedp.CSS(`#tabs [value="kubectl"]`)))
	p.until(t, "the rows over time", says("kubectl get pods --watch"))
	p.run(t, chromedp.Click(chromedp.CSS(`#tabs [value="trace"]`)))
	p.until(t, "each step has a source", `document.querySelectorAll('#reply .trace li').length > 0 && [...document.querySelectorAll('#reply .trace li')].every((li) => li.querySelector('.source'))`)
	p.clean(t)
}
