package playground_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestOffer: what a document offers is asked by one press, and its fix is made by another; with and
// without scripts.
func TestOffer(t *testing.T) {
	origin := serve(t)
	p := open(t, origin)
	const press = `(document.querySelector('#reply [name=offer]').click(), '')`
	p.run(t, chromedp.Navigate(origin+"/?example=restart-on-exit-codes&exit=7"))
	p.until(t, "the module answers in the browser", answered)
	p.until(t, "the offer", says("main exits 7 → ")+` && !!document.querySelector('#reply [name=offer]')`)
	p.eval(t, press)
	p.until(t, "the smallest change", says("Suggestions"))
	browser := p.eval(t, painted)
	if command := p.eval(t, `document.getElementById('cli').textContent`); !strings.HasPrefix(command, "printf %s '{") || !strings.HasSuffix(command, "| podfate suggest -f -") {
		t.Errorf("the command is %s", command)
	}
	if at := p.eval(t, `document.activeElement.id`); at != "answer" {
		t.Errorf("the focus is at %q", at)
	}
	p.run(t, chromedp.Click(chromedp.CSS("#tab-answer")))
	p.until(t, "the answer is back", says("main exits 7 → Stop"))
	p.eval(t, press)
	p.until(t, "the change again", says("Suggestions"))
	p.edit(t, "exits", `f.value = 'main=42'`)
	p.until(t, "another question", says("main exits 42 → Restart")+` && !`+says("Suggestions"))
	p.run(t, chromedp.Navigate(origin+"/?example=a13"))
	p.until(t, "the module answers in the browser", answered)
	p.until(t, "another offer", says("setup exits 1 → Stop")+` && !!document.querySelector('#reply [name=offer]')`)
	p.eval(t, press)
	p.until(t, "the change once more", says("Suggestions"))
	p.run(t, chromedp.Click(chromedp.CSS("#reply [name=fix]")))
	p.until(t, "the suggestion is made", says("setup exits 1 → Restart")+` && !undo.hidden`)
	p.clean(t)

	p.noScripts(t, true)
	p.run(t, chromedp.Navigate(origin+"/?example=restart-on-exit-codes&exit=7"), chromedp.Click(chromedp.CSS("#reply [name=offer]")))
	p.sees(t, "the server's answer", `document.readyState === 'complete' ? document.getElementById('reply').innerText : ''`, "Suggestions")
	if server := p.eval(t, painted); server != browser {
		t.Errorf("the server shows\n%s\nthe browser\n%s", server, browser)
	}
	p.run(t, chromedp.SetValue(chromedp.CSS("#exits"), "main=1"), chromedp.Submit(chromedp.CSS("#ask")))
	p.sees(t, "another question", `document.getElementById('reply').innerText`, "main exits 1 → Stop")
	p.run(t, chromedp.Navigate(origin+"/?example=a13"), chromedp.Click(chromedp.CSS("#reply [name=offer]")))
	p.sees(t, "the server's offer", `document.getElementById('reply').innerText`, "Suggestions")
	p.run(t, chromedp.Click(chromedp.CSS("#reply [name=fix]")))
	p.sees(t, "the suggestion is made", `document.getElementById('reply').innerText`, "setup exits 1 → Restart")
	p.clean(t)
}
