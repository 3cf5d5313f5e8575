package playground_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/podfate/podfate/policy/policytest"
	"github.com/podfate/podfate/policy/words"
	"github.com/podfate/podfate/schema/document"
	"github.com/podfate/podfate/web"
)

// TestJobOfOneExit (R-D1): what one exit leads to is said of the Job as well as of the container.
func TestJobOfOneExit(t *testing.T) {
	origin := serve(t)
	p := open(t, origin)
	p.run(t, chromedp.Navigate(origin+"/"))
	p.until(t, "the module answers in the browser", answered)
	p.edit(t, "manifest", `exits.value = 'main=42'; f.value = 'apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec:\n  backoffLimit: 3\n  podFailurePolicy:\n    rules:\n    - action: FailJob\n      onExitCodes: {operator: In, values: [42]}\n`+
		`  template:\n    spec:\n      restartPolicy: Never\n      containers: [{name: main, image: i}]\n'`)
	p.until(t, "the Job fails", `/fail/i.test(document.querySelector('#reply .verdict').textContent) && /rule 0|index 0/.test(document.querySelector('#reply .verdict').textContent)`)
	three := func() {
		t.Helper()
		if cards := p.eval(t, `[...document.querySelectorAll('#reply .layers > div')].map((d) => d.className.split(' ')[0]).join(' ')`); len(strings.Fields(cards)) != 3 {
			t.Errorf("the layers are %q", cards)
		}
		if p.eval(t, `String(/nothing starts it again/.test(reply.innerText))`) == "true" {
			t.Error("the page says that nothing starts it again")
		}
	}
	three()
	p.edit(t, "exits", `f.value = 'main=1'`)
	p.until(t, "another code: a new Pod", `/new Pod/.test(document.querySelector('#reply .verdict').textContent + document.querySelector('#reply .layers').textContent) && `+says("exits 1"))
	three()
	p.clean(t)
}

// TestMapOfCodes: each arrow of the map goes where it points, and Enter asks about the code.
func TestMapOfCodes(t *testing.T) {
	origin := serve(t)
	p := open(t, origin)
	p.run(t, chromedp.Navigate(origin+"/?view=codes"))
	p.until(t, "the module answers in the browser", answered)
	p.until(t, "the map", `document.querySelectorAll('#reply .map [role=grid] td, #reply table.map[role=grid] td').length === 256`)
	// A map that changes is not recreated: only the cells that differ are touched.
	p.eval(t, `(() => { window.touched = []; for (const td of document.querySelectorAll('#reply .map td')) td.old = true;
		new MutationObserver((list) => touched.push(...list)).observe(document.querySelector('#reply .map'), {subtree: true, childList: true, attributes: true, characterData: true}); return '' })()`)
	p.edit(t, "manifest", `f.value = f.value.replace('[42]', '[42, 43]')`)
	p.until(t, "another code restarts", `document.querySelector('#reply .map [data-code="43"]').textContent === 'R'`)
	if n := p.eval(t, `[...document.querySelectorAll('#reply .map td')].filter((td) => td.old).length + ' ' + (touched.length <= 6 && touched.length > 0)`); n != "256 true" {
		t.Errorf("%s: of 256 cells so many stayed, and what was touched is %s", n, p.eval(t, `touched.map((m) => m.type + ' ' + (m.target.outerHTML ?? m.target.data)).join('\n')`))
	}
	p.edit(t, "manifest", `f.value = f.value.replace('[42, 43]', '[42]')`)
	p.until(t, "one code restarts", `document.querySelector('#reply .map [data-code="43"]').textContent !== 'R'`)
	p.run(t, chromedp.Focus(chromedp.CSS(`#reply .map [tabindex="0"]`)))
	for _, step := range []struct{ key, code string }{
		{kb.ArrowRight, "1"}, {kb.ArrowDown, "17"}, {kb.ArrowLeft, "16"}, {kb.ArrowUp, "0"}, {kb.ArrowUp, "0"}, {kb.ArrowLeft, "0"}, {kb.End, "15"}, {kb.PageDown, "255"},
		{kb.ArrowRight, "255"}, {kb.ArrowDown, "255"}, {kb.Home, "240"}, {kb.PageUp, "0"}, {kb.ArrowDown, "16"}, {kb.ArrowDown, "32"}, {kb.End, "47"},
		{kb.ArrowLeft, "46"}, {kb.ArrowLeft, "45"}, {kb.ArrowLeft, "44"}, {kb.ArrowLeft, "43"}, {kb.ArrowLeft, "42"},
	} {
		p.run(t, chromedp.KeyEvent(step.key))
		if at := p.eval(t, `document.activeElement.dataset.code + ' ' + document.querySelectorAll('#reply .map [tabindex="0"]').length`); at != step.code+" 1" {
			t.Fatalf("at %q, want code %s and one cell in the order of Tab", at, step.code)
		}
	}
	// The reader's place stays where it is when another answer is painted.
	for _, values := range []string{"[42, 43]", "[42]"} {
		p.edit(t, "manifest", `f.value = f.value.replace(/values: \[.*\]/, 'values: `+values+`')`)
		p.until(t, values, `(document.querySelector('#reply .map [data-code="43"]').textContent === 'R') === `+fmt.Sprint(values == "[42, 43]"))
		if at := p.eval(t, `[...document.querySelectorAll('#reply .map [tabindex="0"]')].map((td) => td.dataset.code).join(' ')`); at != "42" {
			t.Errorf("%s: the codes %q are in the order of Tab", values, at)
		}
	}
	p.run(t, chromedp.Focus(chromedp.CSS(`#reply .map [data-code="42"]`)))
	p.run(t, chromedp.KeyEvent(kb.Enter))
	p.until(t, "the answer of the code", says("main exits 42 → Restart"))
	if exits := p.eval(t, `exits.value`); exits != "main=42" {
		t.Errorf("Enter writes %q", exits)
	}
	p.clean(t)
}

// TestGalleryInTheBrowser: each question of the gallery has its recorded answer in the browser, too,
// and a trace, where it asks what becomes of an exit, each step of which names a page from the list
// of those that answers may point to. Nothing of it scrolls by itself: see TestAboveTheFold.
func TestGalleryInTheBrowser(t *testing.T) {
	origin := serve(t)
	var p *tab
	untraced := map[string]string{"b16": "asks for a curve", "e46": "the eviction ends the container, so no exit is judged by the kubelet"}
	n := 0
	for _, e := range web.Examples() {
		if e.Answer == "" {
			continue
		}
		if n++; n%40 == 1 { // a tab has its patience
			p = open(t, origin)
			p.window(t, 1280, 720)
			p.run(t, chromedp.Navigate(origin+"/"))
			p.until(t, "the module answers in the browser", answered)
		}
		p.eval(t, `(example.value = '`+e.ID+`', example.dispatchEvent(new Event('change', {bubbles: true})), '')`)
		p.until(t, e.ID+": the recorded answer "+e.Answer, `location.search.includes('example=`+e.ID+`') && ((v) => `+quote(e.Answer)+` === [v.querySelector('.sentence').lastChild.textContent.trim(), v.children[1].textContent].filter(Boolean).join(': '))(document.querySelector('#reply .verdict'))`)
		p.fold(t, e.ID)
		p.until(t, "all of the answer", `!reply.ariaBusy`)
		steps := 0
		for _, step := range strings.Split(p.eval(t, `[...document.querySelectorAll('#reply .trace li')].map((li) => li.querySelector('.source')?.href ?? 'none').join(' ')`), " ") {
			if step != "" && !slices.Contains(words.Sources(), step) {
				t.Errorf("%s: a step of the trace has the source %s", e.ID, step)
			}
			steps += min(len(step), 1)
		}
		refused := p.eval(t, `document.querySelector('#reply .verdict .glyph').textContent`) == document.Glyph("refused") // nothing is decided then
		if why := untraced[e.ID]; (steps == 0) != (refused || why != "") {
			t.Errorf("%s: %d steps of a trace; refused %v, %q", e.ID, steps, refused, why)
		}
		if n%40 == 0 {
			p.clean(t)
		}
	}
	p.clean(t)
	if n < 51 {
		t.Errorf("the gallery has %d questions with an answer", n)
	}
}

// TestBrotli: what the page is made of is sent compressed with brotli.
func TestBrotli(t *testing.T) {
	policytest.Quick(t, "it compresses the module")
	origin := running(t)
	get := func(address, encoding string) *http.Response {
		request, err := http.NewRequestWithContext(t.Context(), "GET", origin+address, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Accept-Encoding", encoding)
		answer, err := http.DefaultTransport.RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { answer.Body.Close() })
		return answer
	}
	page, err := io.ReadAll(get("/", "identity").Body)
	if err != nil {
		t.Fatal(err)
	}
	addresses := []string{"/"}
	for _, mark := range []string{`data-module="`, `data-worker="`, `rel="stylesheet" href="`, `type="module" src="`} {
		_, address, found := strings.Cut(string(page), mark)
		if !found {
			t.Fatalf("no %s in the page", mark)
		}
		address, _, _ = strings.Cut(address, `"`)
		addresses = append(addresses, address)
	}
	for _, address := range addresses {
		answer := get(address, "gzip, br")
		if encoding := answer.Header.Get("Content-Encoding"); answer.StatusCode != 200 || encoding != "br" {
			t.Errorf("%s: status %d, encoding %q", address, answer.StatusCode, encoding)
		}
	}
}

// TestWalkThroughTheTabs goes through the whole page with the keyboard alone, tab by tab, and reads
// each as a screen reader does: Tab reaches what is in the panel and leaves it again, whatever has
// the focus can be seen, and everything that can be used has a name.
func TestWalkThroughTheTabs(t *testing.T) {
	origin := serve(t)
	p := open(t, origin)
	p.run(t, chromedp.Navigate(origin+"/?example=rule-until-another-code"))
	p.until(t, "the module answers in the browser", answered)
	p.run(t, chromedp.KeyEvent(kb.Tab))
	if at := p.eval(t, `document.activeElement.className`); at != "skip" {
		t.Errorf("the first stop is %q", at)
	}
	p.run(t, chromedp.KeyEvent(kb.Enter))
	if at := p.eval(t, `document.activeElement.id`); at != "answer" {
		t.Errorf("the skip link leads to %q", at)
	}
	p.run(t, chromedp.KeyEvent(kb.Tab)) // the chosen tab
	wants := map[string][]string{       // what a view must offer, by role
		"answer": {"slider", "radio", "link"}, "trace": {"link"}, "codes": {"gridcell"}, "backoff": {"textbox"}, "compare": {"textbox", "table"}, "versions": {"table"}, "table": {"table", "link"},
	}
	for i, view := range views {
		t.Run(view, func(t *testing.T) {
			if i > 0 {
				p.run(t, chromedp.KeyEvent(kb.ArrowRight))
			}
			p.until(t, "the view", shown(view)+` && !reply.ariaBusy`)
			if at := p.eval(t, `document.activeElement.id`); at != "tab-"+view {
				t.Fatalf("the focus is at %s", at)
			}
			read := p.roles(t, "tabpanel")
			for _, role := range wants[view] {
				if read[role] == 0 {
					t.Errorf("a screen reader finds no %s, only %v", role, read)
				}
			}
			stops := 0
			for p.eval(t, `String(document.activeElement.id === 'tab-`+view+`' || panel.contains(document.activeElement))`) == "true" {
				if stops++; stops > 150 {
					t.Fatal("Tab does not leave the panel")
				}
				if seen := p.eval(t, `((e) => { e.scrollIntoView({block: 'nearest'}); const r = e.getBoundingClientRect(); return r.width > 0 && r.height > 0 && e.checkVisibility() ? '' : e.outerHTML })(document.activeElement)`); seen != "" {
					t.Errorf("the focus is on what cannot be seen: %s", seen)
				}
				p.run(t, chromedp.KeyEvent(kb.Tab))
			}
			if at := p.eval(t, `document.activeElement.closest('footer') ? 'footer' : document.activeElement.outerHTML`); at != "footer" {
				t.Errorf("after the panel comes %s", at)
			}
			for range stops { // and back
				p.run(t, chromedp.KeyEvent(kb.Tab, chromedp.KeyModifiers(chromedp.ModifierShift)))
			}
			if at := p.eval(t, `document.activeElement.id`); at != "tab-"+view {
				t.Errorf("Shift and Tab lead back to %s", at)
			}
		})
	}
	p.clean(t)
}

// roles are those that a screen reader finds below the first node with a role, with how many there
// are; one of those that need a name and have none is an error.
func (p *tab) roles(t *testing.T, below string) map[string]int {
	t.Helper()
	found := map[string]int{}
	nodes := map[accessibility.NodeID]*accessibility.Node{}
	tree := call(t, p, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{}).Nodes
	for _, n := range tree {
		nodes[n.NodeID] = n
	}
	text := func(v *accessibility.Value) string {
		if v == nil {
			return ""
		}
		return strings.Trim(string(v.Value), `"`)
	}
	needName := []string{"button", "link", "textbox", "combobox", "checkbox", "radio", "slider", "tab", "tabpanel", "img", "image", "grid", "gridcell"}
	var read func(n *accessibility.Node, inside bool)
	read = func(n *accessibility.Node, inside bool) {
		role := text(n.Role)
		inside = inside || role == below
		if inside && !n.Ignored {
			found[role]++
			if slices.Contains(needName, role) && text(n.Name) == "" {
				t.Errorf("a %s has no name (node %v)", role, n.BackendDOMNodeID)
			}
		}
		for _, id := range n.ChildIDs {
			if child := nodes[id]; child != nil {
				read(child, inside)
			}
		}
	}
	read(tree[0], false)
	if len(found) == 0 {
		t.Errorf("there is no %s", below)
	}
	return found
}

// TestProposalPanel: a manifest in the words of a draft is refused with the name of the draft; in
// the panel of the cluster it is turned on, and its option changes the answer: in the browser, from
// a link, and with the form alone.
func TestProposalPanel(t *testing.T) {
	const manifest = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\nspec:\n  restartPolicy: FastOnSuccess\n  containers:\n  - name: main\n    image: i\n"
	const question = "main: 0@5s x2, until 1m"
	const proposal, option = `[id="proposal.kep-4603-draft"]`, `[id="option.kep-4603-draft.onSuccess"]`
	origin := serve(t)
	p := open(t, origin)
	p.run(t, chromedp.Navigate(origin+"/"))
	p.until(t, "the module answers in the browser", answered)
	p.edit(t, "exits", `f.value = `+quote(question))
	p.edit(t, "manifest", `f.value = `+quote(manifest))
	p.until(t, "the draft that has the word", says("kep-4603-draft"))
	p.run(t, chromedp.Click(chromedp.CSS("#gates > summary")), chromedp.Click(chromedp.CSS(proposal)))
	p.until(t, "the draft's wait", says("waits 5s"))
	p.eval(t, `((o) => { o.value = '10s'; o.dispatchEvent(new Event('input', {bubbles: true})); return '' })(document.querySelector('`+option+`'))`)
	p.until(t, "its option", says("waits 10s"))
	link := p.share(t)

	p.run(t, chromedp.Navigate(origin+"/examples"), chromedp.Navigate(link))
	p.until(t, "the link's option", answered+` && `+says("waits 10s"))

	p.noScripts(t, true)
	p.run(t, chromedp.Navigate(origin+"/"))
	p.run(t, chromedp.SetValue(chromedp.CSS("#manifest"), manifest), chromedp.SetValue(chromedp.CSS("#exits"), question),
		chromedp.Click(chromedp.CSS("#gates > summary")), chromedp.Click(chromedp.CSS(proposal)), chromedp.SetValue(chromedp.CSS(option), "10s"),
		chromedp.Submit(chromedp.CSS("#ask")))
	p.sees(t, "the server's answer", `document.getElementById('reply').innerText`, "waits 10s")
	p.clean(t)
}

// TestReadings: where sources disagree the page says so and has both readings as a switch, also
// without scripts; the link holds which one was chosen.
func TestReadings(t *testing.T) {
	origin := serve(t)
	p := open(t, origin)
	const pressed = `[...document.querySelectorAll('#reading button')].map((b) => b.value + '=' + b.getAttribute('aria-pressed')).join(' ')`
	p.run(t, chromedp.Navigate(origin+"/"))
	p.until(t, "the module answers in the browser", answered)
	if shown := p.eval(t, `String(reading.checkVisibility() || disagree.checkVisibility())`); shown != "false" {
		t.Error("a question that nobody disagrees about has two readings")
	}
	p.run(t, chromedp.Navigate(origin+"/?example=rule-until-another-code"))
	p.until(t, "the module answers in the browser", answered)
	p.until(t, "as the kubelet does it", says("Pod Failed after 1m55s")+` && `+pressed+` === 'kubelet=true documented=false'`)
	p.run(t, chromedp.Click(chromedp.CSS(`#reading [value="documented"]`)))
	p.until(t, "as documented", says("Pod Failed after 3m15s")+` && `+pressed+` === 'kubelet=false documented=true'`)
	link := p.share(t)
	p.eval(t, `(share.open = false, '')`) // what it covers can be pressed again
	p.run(t, chromedp.Click(chromedp.CSS(`#reading [value="kubelet"]`)))
	p.until(t, "as the kubelet does it, again", says("Pod Failed after 1m55s")+` && exits.value === 'main: 3@10s x4, 1@5s'`)

	p.noScripts(t, true)
	p.run(t, chromedp.Navigate(link))
	if text := p.reply(t); !strings.Contains(text, "Pod Failed after 3m15s") {
		t.Errorf("the server answers the link with %q", text)
	}
	p.run(t, chromedp.Click(chromedp.CSS(`#reading [value="kubelet"]`)))
	p.sees(t, "the server's other reading", `document.querySelector('#reply .sentence')?.textContent ?? ''`, "Pod Failed after 1m55s")
	if at := p.eval(t, pressed); at != "kubelet=true documented=false" {
		t.Errorf("the server presses %s", at)
	}
	p.run(t, chromedp.Navigate(origin+"/?example=a3"))
	const told = `disagree.innerText + ' ' + [...document.querySelectorAll('#readings li')].map((li) => li.innerText).join(' ')`
	server := p.eval(t, told)
	if !strings.HasPrefix(server, "Sources disagree on when the first restart comes: in the list of delays the first one is 10s Pod lifecycle: container restarts Show it the kubelet") {
		t.Errorf("of the example the page says %q", server)
	}
	p.noScripts(t, false)
	p.run(t, chromedp.Navigate(origin+"/"))
	p.until(t, "the module answers in the browser", answered)
	p.eval(t, `(example.value = 'a3', example.dispatchEvent(new Event('change', {bubbles: true})), '')`)
	p.until(t, "both readings", told+` === `+quote(server))
	p.run(t, chromedp.Click(chromedp.CSS(`#readings li:first-child a:last-child`)))
	p.until(t, "the reading that was chosen", `document.readyState === 'complete' && document.getElementById('exits')?.value === 'main: 1@5s x2 timing documented' && `+says("waits 10s"))
	p.clean(t)
}
