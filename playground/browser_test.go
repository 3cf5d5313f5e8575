package playground_test

import (
	"context"
	"net"
	"net/url"
	"os"
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
)

// patience bounds one test in the browser. It is not a claim about speed: a loaded machine may need most of it.
const patience = 3 * time.Minute

// serve runs the real server with the module on wazero, on a free port, until the test ends.
func serve(t *testing.T) (origin string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.New(server.Config{
		Start: func(ctx context.Context) (server.Engine, error) {
			host, err := wasm.New(ctx, wasm.Options{})
			if err != nil {
				return nil, err
			}
			return server.WASM(host), nil
		},
		Module:  server.Module{Bytes: wasm.Module(), SHA256: wasm.SHA256()},
		Address: listener.Addr().String(),
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
	wrong  []string // foreign requests, policy reports, errors of scripts
}

// open starts Chromium with an empty profile and opens a page of the server.
func open(t *testing.T, origin string) *tab {
	t.Helper()
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
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError {
			p.wrong = append(p.wrong, "log: "+e.Entry.Text)
		}
	case *runtime.EventExceptionThrown:
		p.wrong = append(p.wrong, "exception: "+e.ExceptionDetails.Text)
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
	text, err := chromedp.Run(p, chromedp.Evaluate[string](script))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// until waits for a script to be true.
func (p *tab) until(t *testing.T, what, condition string) {
	t.Helper()
	if _, err := chromedp.Run(p, chromedp.Poll[bool](condition, chromedp.WithPollingTimeout(patience))); err != nil {
		t.Fatalf("%s: %v\nthe page shows: %s", what, err, p.eval(t, `document.body.innerText`))
	}
}

// reply returns the text of the answer, without the help of a script.
func (p *tab) reply(t *testing.T) string {
	t.Helper()
	text, err := chromedp.Run(p, chromedp.Text(chromedp.CSS("#reply")))
	if err != nil {
		t.Fatal(err)
	}
	return text
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

const answered = `document.getElementById('where').textContent.includes('in your browser')`

// says is true when the answer contains a text.
func says(text string) string {
	return `document.getElementById('reply').innerText.includes(` + quote(text) + `)`
}

func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

// TestPage uses the page as a person does: reads the answer that is there, types, makes a mistake, follows a fault to its
// line, opens an example, compares browser and server, and shares a link.
func TestPage(t *testing.T) {
	origin := serve(t)
	p := open(t, origin)
	p.run(t, chromedp.Navigate(origin+"/"))
	p.until(t, "the module answers in the browser", answered)
	p.until(t, "the first answer", says("main exits 42 → Restart"))

	p.run(t, chromedp.SetValue(chromedp.CSS("#exits"), "main=1"), chromedp.Focus(chromedp.CSS("#exits")), chromedp.SendKeys(chromedp.CSS("#exits"), " "))
	p.until(t, "another exit", says("main exits 1 → Stop"))
	if text := p.eval(t, `document.getElementById('live').textContent`); !strings.Contains(text, "Stop") {
		t.Errorf("the live region says %q", text)
	}

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

// TestKeyboard goes through the page with the keyboard alone: Tab leaves the editor, and Enter in the exits asks.
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
	for _, id := range []string{"example", "manifest", "exits", "version", "validation", "run", "compare"} {
		if !reached[id] {
			t.Errorf("Tab does not reach %s; it reached %v", id, reached)
		}
	}
	p.run(t, chromedp.Evaluate[chromedp.Void](`document.getElementById('exits').value = ''`), chromedp.Focus(chromedp.CSS("#exits")),
		chromedp.SendKeys(chromedp.CSS("#exits"), "main=7"+kb.Enter))
	p.until(t, "the answer", says("main exits 7 → Stop"))
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
	if text := p.reply(t); !strings.Contains(text, "main exits 0 → Stop") {
		t.Errorf("the form's page answers %q", text)
	}
	if content := call(t, p, page.GetLayoutMetrics, cdp.Empty{}).CSSContentSize; content.Width > 320 {
		t.Errorf("the page is %v pixels wide in a window of 320", content.Width)
	}
	p.clean(t)
}

// TestTimeline asks what becomes of the Pod over time: once of the server alone, once of the browser, which must draw the
// same.
func TestTimeline(t *testing.T) {
	origin := serve(t)
	p := open(t, origin)
	const drawn = `document.querySelector('#reply svg.timeline').outerHTML`
	address := origin + "/?example=rule-until-another-code"
	call(t, p, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	call(t, p, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: 320, Height: 900, DeviceScaleFactor: 1, Mobile: true})
	p.run(t, chromedp.Navigate(address))
	if text := p.reply(t); !strings.Contains(text, "Failed after 1m55s, 4 restarts") || !strings.Contains(text, "waits 40s, until 1m50s") {
		t.Errorf("the server's page answers %q", text)
	}
	if content := call(t, p, page.GetLayoutMetrics, cdp.Empty{}).CSSContentSize; content.Width > 320 {
		t.Errorf("the page is %v pixels wide in a window of 320", content.Width)
	}
	server := p.eval(t, drawn)

	call(t, p, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: false})
	p.run(t, chromedp.Navigate(address))
	p.until(t, "the module answers in the browser", answered)
	p.until(t, "the table", `document.querySelectorAll('#reply tbody tr').length === 16`)
	if browser := p.eval(t, drawn); browser != server {
		t.Errorf("the browser draws\n%s\nthe server\n%s", browser, server)
	}
	if hidden := p.eval(t, `document.querySelector('#reply svg').getAttribute('aria-hidden')`); hidden != "true" {
		t.Errorf("the drawing is read out besides the table")
	}
	p.run(t, chromedp.Evaluate[chromedp.Void](`document.getElementById('exits').value = ''`), chromedp.Focus(chromedp.CSS("#exits")),
		chromedp.SendKeys(chromedp.CSS("#exits"), "main: 3@10s forever until 168h"+kb.Enter))
	p.until(t, "a week", says("Still Running after 168h"))
	p.until(t, "the drawing of a week", `document.querySelectorAll('#reply svg .again').length === 1`)
	p.run(t, chromedp.SendKeys(chromedp.CSS("#exits"), " oops"+kb.Enter))
	p.until(t, "the fault", says("is not CODE@TIME"))
	p.clean(t)
}

// TestLivePod opens the example of a live Pod, which says what comes next, and adds an event and real time with the form
// below the exits.
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

// TestHostileText puts markup and marks that turn text around into every name; nothing of it may run or hide.
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
