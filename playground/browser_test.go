package playground_test

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/podfate/podfate/playground/server"
	"github.com/podfate/podfate/policy/policytest"
	"github.com/podfate/podfate/wasm"
	"github.com/podfate/podfate/web"
)

// patience bounds one test in the browser. It is not a claim about speed: a loaded machine may need
// most of it.
const patience = 3 * time.Minute

// serve is running for a page that a browser is to open: with -short no server starts in vain.
func serve(t *testing.T) (origin string) {
	t.Helper()
	policytest.Quick(t, "the page in a browser")
	return running(t)
}

// running runs the real server with the module on wazero, on a free port, until the test ends.
func running(t *testing.T) (origin string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.New(server.Config{
		Start: func(ctx context.Context) (server.Engine, error) {
			host, err := wasm.New(ctx, wasm.Options{CacheDir: policytest.Code(t)})
			if err != nil {
				return nil, err
			}
			return server.WASM(host), nil
		},
		Module:  server.Module{Bytes: wasm.Module(), SHA256: wasm.SHA256()},
		Address: listener.Addr().String(),
		Limits:  server.Limits{Evaluation: 20 * time.Second}, // on a machine with much else to do, too
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx, listener) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	<-s.Started()
	return "http://" + listener.Addr().String()
}

// tab is a page in Chromium with everything that the test must not see.
type tab struct {
	context.Context
	mu     sync.Mutex
	origin string
	asked  int      // requests to the server
	wrong  []string // foreign requests, policy reports, errors of scripts
}

// open starts Chromium with an empty profile and opens a page of the server.
func open(t *testing.T, origin string) *tab {
	t.Helper()
	policytest.Quick(t, "the page in a browser")
	chromium := policytest.Executable(t, "Chromium", "the page is not used in a browser", "chromium", "chromium-browser", "google-chrome")
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(chromium), chromedp.UserDataDir(t.TempDir()), chromedp.WindowSize(1280, 1000),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	p := &tab{Context: ctx, origin: origin}
	if err := chromedp.Listen(ctx, p.watch); err != nil { // starts the browser
		t.Fatal(err)
	}
	call(t, p, network.Enable, network.EnableParams{})
	call(t, p, log.Enable, cdp.Empty{})
	call(t, p, runtime.Enable, cdp.Empty{})
	call(t, p, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: `addEventListener('securitypolicyviolation',
		(e) => console.error('policy: ' + e.violatedDirective + ' ' + e.blockedURI))`})
	return p
}

// call sends one command of the protocol.
func call[P, R any](t *testing.T, p *tab, command cdp.Command[P, R], params P) R {
	t.Helper()
	result, err := chromedp.Call(p, command, params)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// watch notes what no page may do.
func (p *tab) watch(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if u, err := url.Parse(e.Request.URL); err != nil || u.Scheme != "data" && u.Scheme != "blob" && u.Scheme+"://"+u.Host != p.origin {
			p.wrong = append(p.wrong, "request to "+e.Request.URL)
		} else if u.Scheme == "http" {
			p.asked++
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError {
			p.wrong = append(p.wrong, "log: "+e.Entry.Text)
		}
	case *runtime.EventExceptionThrown:
		what := e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			what += " " + e.ExceptionDetails.Exception.Description
		}
		p.wrong = append(p.wrong, "exception: "+what)
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError {
			for _, a := range e.Args {
				p.wrong = append(p.wrong, "console: "+string(a.Value))
			}
		}
	}
}

func (p *tab) run(t *testing.T, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(p, actions...); err != nil {
		t.Fatal(err)
	}
}

// eval returns what a script of the page says.
func (p *tab) eval(t *testing.T, script string) string {
	t.Helper()
	text, err := ask(p, chromedp.Evaluate[string](script))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// ask runs an action on the page that is there. Chromium tells of a new page before it tells that
// the old one's scripts are gone; what was asked of the old one in between is asked again.
func ask[T any](p *tab, action chromedp.Action[T]) (T, error) {
	for {
		got, err := chromedp.Run(p, action)
		if err == nil || p.Err() != nil || !strings.Contains(err.Error(), "Cannot find context") && !strings.Contains(err.Error(), "context was destroyed") {
			return got, err
		}
	}
}

// until waits for a script to be true.
func (p *tab) until(t *testing.T, what, condition string) {
	t.Helper()
	ends, _ := p.Deadline()
	rest := max(time.Until(ends)-5*time.Second, time.Second) // so that the page can still be asked what it shows
	if _, err := ask(p, chromedp.Poll[bool](condition, chromedp.WithPollingTimeout(rest))); err != nil {
		t.Fatalf("%s: %v\nthe page shows: %s", what, err, p.eval(t, `document.body.innerText`))
	}
}

// sees waits until a script says what contains want. Errors are skipped: scripts fail while one
// page gives way to the next. Unlike until it needs no scripts of the page.
func (p *tab) sees(t *testing.T, what, script, want string) {
	t.Helper()
	text, err := "", error(nil)
	for err != nil || !strings.Contains(text, want) {
		if p.Err() != nil {
			t.Fatalf("%s: last seen was %q, want %q", what, text, want)
		}
		text, err = chromedp.Run(p, chromedp.Evaluate[string](script))
	}
}

// reply returns the text of the answer, also where the page runs no scripts.
func (p *tab) reply(t *testing.T) string {
	t.Helper()
	return p.eval(t, `document.getElementById('reply').innerText`)
}

// clean fails the test if the page did what it may not.
func (p *tab) clean(t *testing.T) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range p.wrong {
		t.Errorf("the page caused: %s", w)
	}
}

// The answer is there as a whole: what is below the window follows a frame later.
const answered = `(document.getElementById('where').textContent.includes('in your browser') && !document.getElementById('reply').ariaBusy)`

// painted is what both the server and the browser write: without what only a script can do.
const painted = `(() => { for (const e of document.querySelectorAll('.scrub, .instant')) e.hidden = true; return document.getElementById('reply').innerText })()`

// says is true when the answer contains a text.
func says(text string) string {
	return `(document.getElementById('reply').innerText.includes(` + quote(text) + `) && !document.getElementById('reply').ariaBusy)`
}

func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

// TestPage uses the page as a person does: reads the answer that is there, types, makes a mistake,
// follows a fault to its line, opens an example, compares browser and server, and shares a link.
func TestPage(t *testing.T) {
	origin := serve(t)
	p := open(t, origin)
	p.run(t, chromedp.Navigate(origin+"/"))
	p.until(t, "the module answers in the browser", answered)
	p.until(t, "the first answer", says("main exits 42 → Restart"))
	p.mu.Lock()
	if p.asked > 8 {
		t.Errorf("the first view takes %d requests, at most 8", p.asked)
	}
	p.mu.Unlock()

	p.run(t, chromedp.SetValue(chromedp.CSS("#exits"), "main=1"), chromedp.Focus(chromedp.CSS("#exits")), chromedp.SendKeys(chromedp.CSS("#exits"), " "))
	p.until(t, "another exit", says("main exits 1 → Stop"))
	p.until(t, "the live region tells it", `document.getElementById('live').textContent === 'main exits 1 → Stop'`)

	t.Run("a mistake is shown where it is", func(t *testing.T) {
		p.eval(t, `(() => { const m = document.getElementById('manifest'); m.value = m.value.replace('operator: In', 'operator: Inn').replace('restartPolicy: Never\n  containers', 'restartPolicy: never\n  containers'); m.dispatchEvent(new Event('input', {bubbles: true})); return '' })()`)
		p.until(t, "both faults", says(`spec.restartPolicy: Unsupported value: "never"`))
		line := p.eval(t, `document.querySelector('#reply [data-line]').dataset.line`)
		p.run(t, chromedp.Click(chromedp.CSS("#reply [data-line]")))
		at := p.eval(t, `String(manifest.value.slice(0, manifest.selectionStart).split('\n').length)`)
		if line != at {
			t.Errorf("the fault is in line %s, the cursor in line %s", line, at)
		}
	})

	t.Run("browser and server agree byte for byte", func(t *testing.T) {
		p.run(t, chromedp.Navigate(origin+"/?example=restart-all-containers"))
		p.until(t, "the module answers again", answered)
		p.run(t, chromedp.Click(chromedp.CSS("#compare")))
		p.until(t, "the comparison", `document.getElementById('compared').textContent.startsWith('✓')`)
		shown := p.eval(t, `document.querySelector('footer').innerText`)
		if !strings.Contains(shown, wasm.SHA256()) {
			t.Errorf("the page does not show the module's digest: %s", shown)
		}
	})

	t.Run("a link holds the question", func(t *testing.T) {
		p.eval(t, `(() => { const m = document.getElementById('manifest'); m.value += '# mine\n'; m.dispatchEvent(new Event('input', {bubbles: true})); return '' })()`)
		p.eval(t, `(() => { document.getElementById('share').open = true; return '' })()`)
		p.until(t, "the link", `document.getElementById('link').value.includes('#v1=')`)
		link := p.eval(t, `document.getElementById('link').value`)
		want := p.eval(t, `document.getElementById('manifest').value`)
		p.run(t, chromedp.Navigate("about:blank"), chromedp.Navigate(link))
		p.until(t, "the module answers the link", answered)
		p.until(t, "the link's manifest", `document.getElementById('manifest').value === `+quote(want))
	})
	p.clean(t)
}

// TestKeyboard goes through the page with the keyboard alone: Tab leaves the editor, and Enter in
// the exits asks.
func TestKeyboard(t *testing.T) {
	origin := serve(t)
	p := open(t, origin)
	p.run(t, chromedp.Navigate(origin+"/"))
	p.until(t, "the module answers in the browser", answered)
	reached := map[string]bool{}
	for range 40 {
		p.run(t, chromedp.KeyEvent(kb.Tab))
		reached[p.eval(t, `document.activeElement.id || document.activeElement.tagName`)] = true
	}
	for _, id := range []string{"example", "manifest", "exits", "version", "compare"} {
		if !reached[id] {
			t.Errorf("Tab does not reach %s; it reached %v", id, reached)
		}
	}
	p.run(t, chromedp.Evaluate[chromedp.Void](`document.getElementById('exits').value = ''`), chromedp.Focus(chromedp.CSS("#exits")),
		chromedp.SendKeys(chromedp.CSS("#exits"), "main=7"+kb.Enter))
	p.until(t, "the answer", says("main exits 7 → Stop"))
	for _, folded := range []struct{ id, first string }{{"pods-of", "pods"}, {"events", "event"}, {"gates", "validation"}} {
		p.run(t, chromedp.Focus(chromedp.CSS("#"+folded.id+" > summary")), chromedp.KeyEvent(kb.Enter), chromedp.KeyEvent(kb.Tab))
		if at := p.eval(t, `document.activeElement.id`); folded.first != "" && at != folded.first || p.eval(t, `String(document.getElementById('`+folded.id+`').open)`) != "true" {
			t.Errorf("%s opens, and Tab goes to %q", folded.id, at)
		}
		p.run(t, chromedp.KeyEvent(kb.Tab))
		if left := p.eval(t, `document.activeElement.id`); left == folded.first {
			t.Errorf("Tab does not leave %s", left)
		}
	}
	p.clean(t)
}

// TestWithoutScripts asks with the form alone, in a narrow window.
func TestWithoutScripts(t *testing.T) {
	origin := serve(t)
	p := open(t, origin)
	call(t, p, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	call(t, p, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: 320, Height: 900, DeviceScaleFactor: 1, Mobile: true})
	p.run(t, chromedp.Navigate(origin+"/"))
	if text := p.reply(t); !strings.Contains(text, "main exits 42 → Restart") {
		t.Errorf("the first page answers %q", text)
	}
	p.run(t, chromedp.SetValue(chromedp.CSS("#exits"), "main=0"), chromedp.Submit(chromedp.CSS("#ask")))
	p.sees(t, "the form's page answers", `document.getElementById('reply').innerText`, "main exits 0 → Stop")
	if content := call(t, p, page.GetLayoutMetrics, cdp.Empty{}).CSSContentSize; content.Width > 320 {
		t.Errorf("the page is %v pixels wide in a window of 320", content.Width)
	}
	p.clean(t)
}

// TestBrief: in a narrow window, where the answer is far below the question, its first words stay
// in view as long as the question does, with and without scripts, and hide nothing that has the
// focus.
func TestBrief(t *testing.T) {
	origin := serve(t)
	p := open(t, origin)
	const seen = `((r) => r.height > 0 && r.top >= 0 && r.bottom <= innerHeight)(document.getElementById('brief').getBoundingClientRect())`
	window := func(width int64, scripts bool) {
		call(t, p, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !scripts})
		call(t, p, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: 740, DeviceScaleFactor: 1, Mobile: width < 800})
		p.run(t, chromedp.Navigate(origin+"/"))
	}
	window(360, false)
	if text := p.eval(t, `String(`+seen+`) + document.getElementById('brief').textContent`); text != "truemain exits 42 → Restart" {
		t.Errorf("without scripts the page begins with %q", text)
	}
	window(360, true)
	p.until(t, "the module answers in the browser", answered)
	p.run(t, chromedp.SetValue(chromedp.CSS("#exits"), "main=1"), chromedp.Focus(chromedp.CSS("#exits")), chromedp.SendKeys(chromedp.CSS("#exits"), " "))
	p.until(t, "another exit", says("main exits 1 → Stop"))
	p.until(t, "its first words beside the field", seen+` && document.getElementById('brief').textContent === 'main exits 1 → Stop'`)
	for range 2 { // back to the header
		p.run(t, chromedp.KeyEvent(kb.Tab, chromedp.KeyModifiers(chromedp.ModifierShift)))
		if covered := p.eval(t, `((a, b) => a.outerHTML + (a.getBoundingClientRect().top < b.bottom && a.getBoundingClientRect().bottom > b.top))(document.activeElement, document.getElementById('brief').getBoundingClientRect())`); strings.HasSuffix(covered, "true") {
			t.Errorf("the answer's first words cover %s", covered)
		}
	}
	p.run(t, chromedp.Evaluate[chromedp.Void](`document.getElementById('reply').scrollIntoView()`))
	if text := p.eval(t, `String(`+seen+`)`); text != "false" {
		t.Error("the first words are shown twice where the answer is in view")
	}
	window(1280, true)
	if text := p.eval(t, `String(`+seen+`)`); text != "false" {
		t.Error("the first words are shown twice in a wide window")
	}
	p.clean(t)
}

// TestBelowTheWindow: what is below the window is painted after the frame that shows what is in it,
// the page says meanwhile that the answer is not all there, and printing does not print half of it.
func TestBelowTheWindow(t *testing.T) {
	origin := serve(t)
	p := open(t, origin)
	p.run(t, chromedp.Navigate(origin+"/"))
	p.until(t, "the module answers in the browser", answered)
	// That the sentence is the new one, that the end is below, that the table is the new one, and
	// whether something is to follow.
	const state = `((reply) => [reply.querySelector('.sentence').textContent.includes('6m15s'), reply.lastElementChild.previousElementSibling.getBoundingClientRect().top > innerHeight,
		reply.querySelector('tbody')?.rows.length > 10, reply.ariaBusy].join(' '))(document.getElementById('reply'))`
	for _, c := range []struct{ name, then, want string }{
		{"shown", "", "true true false true"},
		{"printed", "dispatchEvent(new Event('beforeprint'));", "true true true "},
	} {
		p.edit(t, "exits", `f.value = 'main: 1@5s'`)
		p.until(t, "a short table", says("Failed after 5s"))
		p.eval(t, `(() => {
			const seen = new MutationObserver(() => { seen.disconnect(); `+c.then+` window.state = `+state+`; });
			seen.observe(document.getElementById('where'), {childList: true});
			return '';
		})()`)
		p.edit(t, "exits", `f.value = 'main: 42@10s x6, 1@5s'`)
		p.until(t, "a long table", says("Failed after 6m15s"))
		if got := p.eval(t, `window.state`); got != c.want {
			t.Errorf("%s, before its frame: %q, want %q", c.name, got, c.want)
		}
		if got := p.eval(t, state); got != "true true true " {
			t.Errorf("%s, after it: %q", c.name, got)
		}
	}
	p.clean(t)
}

// TestAskedBeforeItIsTyped: a key's question is asked before the field has its letter. If another text comes of it, or none, no
// answer to the text that did not come is shown.
func TestAskedBeforeItIsTyped(t *testing.T) {
	origin := serve(t)
	p := open(t, origin)
	p.run(t, chromedp.Navigate(origin+"/"))
	p.until(t, "the module answers in the browser", answered)
	// All that the page says, in the order of its answers.
	p.eval(t, `(() => {
		window.said = [];
		new MutationObserver(() => said.push(document.querySelector('#reply .sentence').textContent.trim())).observe(document.getElementById('where'), {childList: true});
		addEventListener('beforeinput', (event) => {
			if (event.data === '7') event.preventDefault(); // as a page's own editor may do
			if (event.data === '8') {
				event.preventDefault();
				exits.value = 'main=3';
				exits.dispatchEvent(new InputEvent('input', {bubbles: true}));
			}
		});
		exits.focus();
		exits.setSelectionRange(exits.value.length, exits.value.length);
		return '';
	})()`)
	for _, c := range []struct{ key, exits, says string }{
		{kb.Backspace, "main=4", "main exits 4 → Stop"}, {"7", "main=4", ""}, {"2", "main=42", "main exits 42 → Restart"}, {"8", "main=3", "main exits 3 → Stop"},
		{kb.Backspace, "main=", "The question does not fit this manifest"}, {"1", "main=1", "main exits 1 → Stop"},
	} {
		p.eval(t, `(said.length = 0, '')`)
		p.run(t, chromedp.KeyEvent(c.key))
		if c.says != "" {
			p.until(t, c.says, says(c.says))
		}
		p.run(t, chromedp.Evaluate[chromedp.Void](`new Promise((done) => setTimeout(done, 100))`, chromedp.EvalAwaitPromise)) // another answer would come now
		if exits, said := p.eval(t, `exits.value`), p.eval(t, `[...new Set(said)].join('|').replace(/^\S /, '')`); exits != c.exits || said != c.says {
			t.Errorf("%q: the exits are %q and the page says %q, want %q and %q", c.key, exits, said, c.exits, c.says)
		}
	}
	p.clean(t)
}

// TestTakenOver: the answer that the server painted stays in the page when the browser has the same one.
func TestTakenOver(t *testing.T) {
	origin := serve(t)
	p := open(t, origin)
	call(t, p, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: `addEventListener('DOMContentLoaded', () => { window.sent = [...document.getElementById('reply')?.children ?? []]; })`})
	for _, address := range []string{"/", "/?view=codes", "/?view=versions", "/?view=backoff&run=2s&outage=7m", "/?example=rule-until-another-code", "/?example=live-crash-loop", "/?example=job-both",
		"/?example=kep-5307-proposal", "/?example=wrong-case"} {
		p.run(t, chromedp.Navigate(origin+address))
		p.until(t, "the module answers in the browser", answered)
		if n := p.eval(t, `sent.filter((e) => !e.isConnected).length + ' of ' + (sent.length > 2)`); n != "0 of true" {
			t.Errorf("%s: %s of what was sent is gone", address, n)
		}
	}
	p.clean(t)
}

// TestPrint: a page that is dark on the screen is printed black on white.
func TestPrint(t *testing.T) {
	origin := serve(t)
	p := open(t, origin)
	call(t, p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print", Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}})
	p.run(t, chromedp.Navigate(origin+"/"))
	light := regexp.MustCompile(`^rgb\(2\d\d, 2\d\d, 2\d\d\)$`)
	for _, element := range []string{".verdict:not(#brief)", ".editor", "#manifest"} {
		back := p.eval(t, `getComputedStyle(document.querySelector('`+element+`')).backgroundColor`)
		if ink := p.eval(t, `getComputedStyle(document.querySelector('`+element+`')).color`); !light.MatchString(back) && back != "rgba(0, 0, 0, 0)" || light.MatchString(ink) {
			t.Errorf("%s is printed %s on %s", element, ink, back)
		}
	}
	p.clean(t)
}

// TestPrintIsOnePage: every example is printed as a note of one page, with its question, its answer
// and the digest of what answered. Here these are the longest ones; the long script prints all.
func TestPrintIsOnePage(t *testing.T) {
	origin := serve(t)
	p := open(t, origin)
	longest := []string{"kep-5307-future", "draft-job-evicted", "draft-job-expressions", "draft-job-expressions-shipped", "job-both", "job-pods", "wrong-case"}
	pages := regexp.MustCompile(`/Type\s*/Page[^s]`)
	for i, e := range web.Examples() {
		if !policytest.Long() && !slices.Contains(longest, e.ID) {
			continue
		}
		if i%40 == 39 { // a tab has its patience
			p.clean(t)
			p = open(t, origin)
		}
		p.run(t, chromedp.Navigate(origin+"/?example="+e.ID))
		p.until(t, "the module answers in the browser", answered)
		printed := call(t, p, page.PrintToPDF, page.PrintToPDFParams{PaperWidth: 8.27, PaperHeight: 11.69})
		if n := len(pages.FindAll([]byte(printed.Data), -1)); n != 1 {
			t.Errorf("%s is printed on %d pages", e.ID, n)
		}
	}
	call(t, p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
	p.run(t, chromedp.Navigate(origin+"/"))
	p.until(t, "the module answers in the browser", answered)
	for _, shown := range []string{"#exits", "#manifest", "#version", "#reply > .verdict", ".layers", ".digest"} {
		if p.eval(t, `String(document.querySelector('`+shown+`').checkVisibility())`) != "true" {
			t.Errorf("%s is not printed", shown)
		}
	}
	p.clean(t)
}

// TestWhileTheModuleLoads changes the question before the module is there: the answer that is shown
// says that it is an older one, and an example that is chosen is opened as soon as it can be.
func TestWhileTheModuleLoads(t *testing.T) {
	origin := serve(t)
	p := open(t, origin)
	call(t, p, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: `{
		const wait = new Promise((resolve) => (window.arrive = resolve)), real = fetch;
		window.fetch = (...of) => wait.then(() => real(...of));
	}`})
	p.run(t, chromedp.Navigate(origin+"/"))
	p.until(t, "the scripts", `!document.getElementById('share').hidden`)
	p.run(t, chromedp.SetValue(chromedp.CSS("#exits"), "main=1"), chromedp.Focus(chromedp.CSS("#exits")), chromedp.SendKeys(chromedp.CSS("#exits"), " "))
	p.until(t, "the old answer is called old", `document.getElementById('answer-title').textContent.endsWith('Press Ask.')`)
	p.run(t, chromedp.Evaluate[chromedp.Void](`example.value = 'wrong-case'; example.dispatchEvent(new Event('change', {bubbles: true})); arrive()`))
	p.until(t, "the module answers in the browser", answered)
	p.until(t, "the example's answer", says(`Unsupported value: "onFailure"`))
	p.until(t, "its manifest", `document.getElementById('manifest').value.includes('onFailure')`)
	if title := p.eval(t, `document.getElementById('answer-title').textContent`); title != "Answer" {
		t.Errorf("the new answer is called %q", title)
	}
	p.clean(t)
}

// TestWithoutTheModule uses the page in a browser that has no WebAssembly: examples and links open,
// the answer that is shown says that it is an older one, and Run asks the server.
func TestWithoutTheModule(t *testing.T) {
	origin := serve(t)
	p := open(t, origin)
	call(t, p, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: `delete window.WebAssembly`})
	const missing = `document.getElementById('where').textContent.includes('The server answers instead')`
	p.run(t, chromedp.Navigate(origin+"/"))
	p.until(t, "the page says so", missing)
	p.run(t, chromedp.Evaluate[chromedp.Void](`example.value = 'gate-off'; example.dispatchEvent(new Event('change', {bubbles: true}))`))
	p.until(t, "the example", `document.getElementById('version').value === '1.34'`)
	p.until(t, "the old answer is called old", `document.getElementById('answer-title').textContent.endsWith('Press Ask.')`)
	p.eval(t, `(() => { document.getElementById('share').open = true; return '' })()`)
	p.until(t, "the link and its length", `/^\d+ characters\.$/.test(document.getElementById('link-note').textContent)`)
	link := p.eval(t, `document.getElementById('link').value`)

	p.run(t, chromedp.Navigate("about:blank"), chromedp.Navigate(link))
	p.until(t, "the link's question", `document.getElementById('version')?.value === '1.34'`)
	p.run(t, chromedp.Click(chromedp.CSS("#run")))
	p.sees(t, "the server answers", `document.getElementById('reply').innerText`, "Answered for Kubernetes 1.34")
	p.clean(t)
}

// TestNotAManifest: Kubernetes is not said to refuse what only Podfate does not read.
func TestNotAManifest(t *testing.T) {
	origin := serve(t)
	p := open(t, origin)
	for _, scripts := range []bool{true, false} {
		for _, c := range []struct{ manifest, verdict string }{
			{"apiVersion: v1\nkind: Service\nmetadata: {name: a}\n", "Podfate does not read this kind of manifest"},
			{"# nothing\n", "The manifest cannot be read"},
			{"hello\n", "The manifest cannot be read"},
		} {
			for _, exits := range []string{"main=1", ""} {
				p.noScripts(t, false)
				p.run(t, chromedp.Navigate(origin+"/"))
				p.sees(t, "the module answers in the browser", "String("+answered+")", "true")
				p.noScripts(t, !scripts)
				ask := `ask.submit()`
				if scripts {
					ask = `m.dispatchEvent(new Event('input', {bubbles: true}))`
				}
				chromedp.Run(p, chromedp.Evaluate[string](`(() => { exits.value = `+quote(exits)+`; const m = document.getElementById('manifest'); m.value = `+
					quote(c.manifest)+`; `+ask+`; return '' })()`)) // an error says that the page is gone already
				p.sees(t, fmt.Sprintf("scripts %v, exits %q, %q", scripts, exits, c.manifest), `document.querySelector('#reply .sentence')?.textContent ?? ''`, c.verdict)
			}
		}
	}
	p.clean(t)
}

// TestTimeline asks what becomes of the Pod over time: once of the server alone, once of the
// browser, which must draw the same.
func TestTimeline(t *testing.T) {
	origin := serve(t)
	p := open(t, origin)
	const drawn = `document.querySelector('#reply .lanes').outerHTML`
	address := origin + "/?example=rule-until-another-code"
	call(t, p, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	call(t, p, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: 320, Height: 900, DeviceScaleFactor: 1, Mobile: true})
	p.run(t, chromedp.Navigate(address))
	if text := p.reply(t); !strings.Contains(text, "Pod Failed after 1m55s") || !strings.Contains(text, "4 restarts.") || !strings.Contains(text, "waits 40s, until 1m50s") {
		t.Errorf("the server's page answers %q", text)
	}
	if content := call(t, p, page.GetLayoutMetrics, cdp.Empty{}).CSSContentSize; content.Width > 320 {
		t.Errorf("the page is %v pixels wide in a window of 320", content.Width)
	}
	server := p.eval(t, drawn)

	call(t, p, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: false})
	p.run(t, chromedp.Navigate(address))
	p.until(t, "the module answers in the browser", answered)
	p.until(t, "the table", `document.querySelectorAll('#reply tbody tr').length >= 16`)
	p.eval(t, `(() => { for (const e of document.querySelectorAll('.cursor')) e.remove(); for (const e of document.querySelectorAll('.selected')) e.classList.remove('selected'); return '' })()`)
	if browser := p.eval(t, drawn); browser != server {
		t.Errorf("the browser draws\n%s\nthe server\n%s", browser, server)
	}
	if hidden := p.eval(t, `document.querySelector('#reply svg').getAttribute('aria-hidden')`); hidden != "true" {
		t.Errorf("the drawing is read out besides the table")
	}
	p.run(t, chromedp.Evaluate[chromedp.Void](`document.getElementById('exits').value = ''`), chromedp.Focus(chromedp.CSS("#exits")),
		chromedp.SendKeys(chromedp.CSS("#exits"), "main: 3@10s forever until 168h"+kb.Enter))
	p.until(t, "a week", says("CrashLoopBackOff"))
	p.until(t, "the drawing of a week", `document.querySelectorAll('#reply svg .again').length === 1`)
	p.run(t, chromedp.SendKeys(chromedp.CSS("#exits"), " oops"+kb.Enter))
	p.until(t, "the fault", says("is no exit code"))
	p.clean(t)
}

// TestLivePod opens the example of a live Pod, which says what comes next, and adds an event and
// real time with the form below the exits.
func TestLivePod(t *testing.T) {
	origin := serve(t)
	p := open(t, origin)
	p.run(t, chromedp.Navigate(origin+"/?example=live-crash-loop"))
	p.until(t, "the module answers in the browser", answered)
	p.until(t, "what comes next", says("starts again in 2m40s, at 2026-11-21T10:04:00Z"))
	p.run(t, chromedp.Evaluate[chromedp.Void](`for (const [id, value] of [['event', 'Evicted'], ['event-at', '3m'], ['timing', 'mean']]) document.getElementById(id).value = value;
		document.querySelector('#events button').click()`))
	p.until(t, "the eviction", says("Failed after 3m"))
	if exits := p.eval(t, `document.getElementById('exits').value`); exits != " at 3m Evicted timing mean" {
		t.Errorf("the exits are %q", exits)
	}
	p.clean(t)
}

// TestJob plays a Job: once on the server alone in a narrow window, once in the browser, which must
// show the same with the same bytes behind it. Its three layers are side by side where there is
// room.
func TestJob(t *testing.T) {
	origin := serve(t)
	p := open(t, origin)
	const shown = painted
	const tops = `[...new Set([...document.querySelectorAll('.layers > div')].map((d) => Math.round(d.getBoundingClientRect().top)))].length`
	for _, example := range []struct{ id, verdict, counter string }{
		{"job-bug", "Job Failed after 20s", "20s"},
		{"job-preempted", "Job Complete after 13m10s", "3m10s"},
		{"job-both", "Job Failed after 8m10s", "8m10s"},
	} {
		t.Run(example.id, func(t *testing.T) {
			window := func(width int64, scripts bool) {
				call(t, p, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !scripts})
				call(t, p, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: 900, DeviceScaleFactor: 1, Mobile: width < 800})
				p.run(t, chromedp.Navigate(origin+"/?example="+example.id))
			}
			window(320, false)
			text := p.reply(t)
			for _, want := range []string{example.verdict, "Container (kubelet)", "Pod (failure policy)", "Job (controller)", "backoffLimit is 3", example.counter} {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in the server's page: %s", want, text)
				}
			}
			if strings.Contains(text, "atMillis") || strings.Contains(text, "000\t") {
				t.Errorf("times are milliseconds: %s", text)
			}
			if n := p.eval(t, `String(`+tops+`)`); n != "3" {
				t.Errorf("the layers stand in %s rows of a narrow window", n)
			}
			if content := call(t, p, page.GetLayoutMetrics, cdp.Empty{}).CSSContentSize; content.Width > 320 {
				t.Errorf("the page is %v pixels wide in a window of 320", content.Width)
			}
			window(1280, false)
			server := p.eval(t, shown)

			window(1280, true)
			p.until(t, "the module answers in the browser", answered)
			p.until(t, "the verdict", says(example.verdict))
			if browser := p.eval(t, shown); browser != server {
				t.Errorf("the browser shows\n%s\nthe server\n%s", browser, server)
			}
			if n := p.eval(t, `String(`+tops+`)`); n != "1" {
				t.Errorf("the layers stand in %s rows of a wide window", n)
			}
			if n := p.eval(t, `String(document.querySelectorAll('#reply svg .run').length)`); n == "0" {
				t.Error("no run is drawn")
			}
			p.run(t, chromedp.Click(chromedp.CSS("#compare")))
			p.until(t, "the comparison", `document.getElementById('compared').textContent.startsWith('✓')`)
		})
	}
	p.clean(t)
}

// TestPodsOfAJob pastes what kubectl get pods prints below a Job: in the browser, and into the form
// alone. Either says which Pod fails the Job, by which rule.
func TestPodsOfAJob(t *testing.T) {
	origin := serve(t)
	p := open(t, origin)
	const fails = "Container export for pod batch/nightly-9kz2p failed with exit code 3 matching FailJob rule at index 1"
	p.run(t, chromedp.Navigate(origin+"/?example=job-pods"))
	p.until(t, "the module answers in the browser", answered)
	p.until(t, "what the Pods mean", says(fails))
	p.until(t, "the rules", says("matched: the code is in the list"))
	p.run(t, chromedp.Click(chromedp.CSS("#compare")))
	p.until(t, "the comparison", `document.getElementById('compared').textContent.startsWith('✓')`)
	browser := p.eval(t, painted)
	if command := p.eval(t, `document.getElementById('cli').textContent`); command != "podfate decide -f job.yaml --pods pods.yaml --kubernetes-version 1.37" {
		t.Errorf("the command is %q", command)
	}

	t.Run("without scripts", func(t *testing.T) {
		call(t, p, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		p.run(t, chromedp.Navigate(origin+"/?example=job-pods"), chromedp.SetValue(chromedp.CSS("#version"), "1.36"), chromedp.Submit(chromedp.CSS("#ask")))
		p.sees(t, "the form's page", `document.readyState === 'complete' ? document.getElementById('reply').innerText : ''`, "Kubernetes 1.36")
		if server := strings.Replace(p.reply(t), "1.36", "1.37", 1); server != browser {
			t.Errorf("the server shows\n%s\nthe browser\n%s", server, browser)
		}
		if pods := p.eval(t, `document.getElementById('pods').value`); !strings.HasPrefix(pods, "apiVersion: v1\nkind: List\n") {
			t.Errorf("the form comes back with the Pods %q", pods)
		}
		call(t, p, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: false})
	})

	t.Run("pasted and shared", func(t *testing.T) {
		p.run(t, chromedp.Navigate(origin+"/?example=job-bug"))
		p.until(t, "the module answers in the browser", answered)
		paste := func(exits, pods string) {
			p.eval(t, `(() => { exits.value = `+quote(exits)+`; const p = document.getElementById('pods'); p.value = `+quote(pods)+`; p.dispatchEvent(new Event('input', {bubbles: true})); return '' })()`)
		}
		list := `{"apiVersion": "v1", "kind": "List", "items": [{"metadata": {"name": "a"}, "spec": 1, "status": {"phase": "Failed", "containerStatuses": [{"name": "export", "state": {"terminated": {"exitCode": 137}}}]}}]}`
		paste("", list)
		p.until(t, "a failure that counts", says("1 failure counted, 3 allowed"))
		p.eval(t, `(() => { document.getElementById('share').open = true; return '' })()`)
		p.until(t, "the link", `document.getElementById('link').value.includes('#v1=')`)
		link := p.eval(t, `document.getElementById('link').value`)

		paste("export: 3@20s", list)
		p.until(t, "Pods and runs do not go together", says("leave one of the two empty"))
		paste("", "kind: List\n  a: [")
		p.until(t, "the fault", says("The Pods cannot be read"))
		p.eval(t, `(() => { document.getElementById('pods-of').open = false; return '' })()`)
		p.run(t, chromedp.Click(chromedp.CSS(`#reply a[href="#pods"]`)))
		if focus := p.eval(t, `document.activeElement.id`); focus != "pods" {
			t.Errorf("the fault leads to %q", focus)
		}

		p.run(t, chromedp.Navigate("about:blank"), chromedp.Navigate(link))
		p.until(t, "the link's Pods", `document.getElementById('pods').value === `+quote(list))
		p.until(t, "the link's answer", says("1 failure counted, 3 allowed"))
	})
	p.clean(t)
}

// TestPlaceOfARefusal: a Job that is too large is refused where it says so, in the lines of the
// text and not of the request.
func TestPlaceOfARefusal(t *testing.T) {
	origin := serve(t)
	p := open(t, origin)
	p.run(t, chromedp.Navigate(origin+"/?example=job-bug"))
	p.until(t, "the module answers in the browser", answered)
	p.eval(t, `(() => { const m = document.getElementById('manifest'); m.value = m.value.replace('  backoffLimit: 3', '  backoffLimit: 3\n  parallelism: 1000000\n  completions: 1000000'); m.dispatchEvent(new Event('input', {bubbles: true})); return '' })()`)
	p.until(t, "the limit and its place", says("spec.parallelism: activePods: more than 5000 Pods at once line 8, column 3"))
	p.clean(t)
}

// TestTiming chooses when the first restart comes.
func TestTiming(t *testing.T) {
	origin := serve(t)
	p := open(t, origin)
	p.run(t, chromedp.Navigate(origin+"/?example=rule-until-another-code"))
	p.until(t, "the module answers in the browser", answered)
	p.until(t, "the kubelet's first restart", says("Pod Failed after 1m55s"))
	p.run(t, chromedp.Evaluate[chromedp.Void](`document.getElementById('first').value = 'documented'; document.querySelector('#events button').click()`))
	p.until(t, "the documented one", says("Pod Failed after 3m15s"))
	if exits := p.eval(t, `document.getElementById('exits').value`); exits != "main: 3@10s x4, 1@5s timing documented" {
		t.Errorf("the exits are %q", exits)
	}
	p.run(t, chromedp.Click(chromedp.CSS("#compare")))
	p.until(t, "the comparison", `document.getElementById('compared').textContent.startsWith('✓')`)
	p.clean(t)
}

// TestHostileText puts markup and marks that turn text around into every name; nothing of it may
// run or hide.
func TestHostileText(t *testing.T) {
	origin := serve(t)
	p := open(t, origin)
	p.run(t, chromedp.Navigate(origin+"/"))
	p.until(t, "the module answers in the browser", answered)
	for _, payload := range []string{
		`<img src=x onerror=alert(1)>`, `"><script>alert(1)</script>`, `javascript:alert(1)`, "\u202eabc", `{{7*7}}`, `</textarea><svg onload=alert(1)>`,
	} {
		manifest := "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  restartPolicy: " + quote(payload) + "\n  containers: [{name: " + quote(payload) + ", image: i, " + quote(payload) + ": 1}]\n"
		p.eval(t, `(() => { const m = document.getElementById('manifest'); m.value = `+quote(manifest)+`; m.dispatchEvent(new Event('input', {bubbles: true})); return '' })()`)
		p.until(t, "the faults", says("unknown field"))
		if n := p.eval(t, `String(document.querySelectorAll('#reply img, #reply script, #reply svg').length)`); n != "0" {
			t.Errorf("%q became %s elements", payload, n)
		}
		if shown := p.eval(t, `document.getElementById('reply').innerText`); strings.Contains(shown, "\u202e") {
			t.Errorf("a mark that turns text around is in the answer")
		}
	}
	p.clean(t)
}
