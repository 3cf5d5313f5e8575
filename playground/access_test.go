package playground_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/podfate/podfate/policy/policytest"
)

// views are the tabs of the page.
var views = []string{"answer", "trace", "codes", "backoff", "kubectl", "compare", "versions", "table"}

// axe is the source of the npm package axe-core, which lies next to the programs of other packages.
func axe(t *testing.T) string {
	t.Helper()
	for _, folder := range filepath.SplitList(os.Getenv("PATH")) {
		if text, err := os.ReadFile(filepath.Join(folder, "..", "axe-core", "axe.min.js")); err == nil && filepath.Base(folder) == ".bin" {
			return string(text)
		}
	}
	policytest.Missing(t, "axe-core (npm package axe-core)", "nothing looks for faults of accessibility")
	return ""
}

// violations asks axe about everything that WCAG 2.2 A and AA and good practice want, once no
// colour is on its way from one theme to the other.
const violations = `Promise.allSettled(document.getAnimations().map((a) => a.finished)).then(() => axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']})).then((r) => r.violations.map((v) =>
	v.id + ': ' + v.help + '\n' + v.nodes.map((n) => '  ' + n.html.slice(0, 200) + ' ' + n.failureSummary).join('\n')).join('\n'))`

// shown waits for the answer of a view after its tab was pressed.
func shown(view string) string {
	what := map[string]string{
		"codes": `.map`, "backoff": `.plot`, "trace": `.trace`, "kubectl": `.terminal`, "compare": `table`, "versions": `table`, "table": `tr[data-at]`, "answer": `.lanes`,
	}[view]
	return `document.querySelector('#tab-` + view + `[aria-selected=true]') && document.querySelector('#reply ` + what + `') && !document.querySelector('#answer-title').textContent.endsWith('Ask.')`
}

// TestNoViolations: axe finds nothing in any tab, in light and dark, in a wide and a narrow window,
// in Chromium and Firefox; nor on the pages next to the playground.
func TestNoViolations(t *testing.T) {
	source := axe(t)
	origin := serve(t)
	const question = "/?example=rule-until-another-code"
	t.Run("Chromium", func(t *testing.T) {
		p := open(t, origin)
		call(t, p, page.SetBypassCSP, page.SetBypassCSPParams{Enabled: true}) // axe makes elements from text
		check := func(t *testing.T) {
			text, err := chromedp.Run(p, chromedp.Evaluate[string](violations, chromedp.EvalAwaitPromise))
			if err != nil || text != "" {
				t.Errorf("%v\n%s", err, text)
			}
		}
		for _, address := range []string{"/examples", "/codes", question} {
			p.run(t, chromedp.Navigate(origin+address))
			if address == question {
				p.until(t, "the module answers in the browser", answered)
			}
			p.eval(t, source+"\n;''")
			check(t)
		}
		for _, theme := range []string{"light", "dark"} {
			call(t, p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}}})
			for _, width := range []int64{1280, 390} {
				p.window(t, width, 900)
				for _, view := range views {
					t.Run(fmt.Sprintf("%s/%d/%s", theme, width, view), func(t *testing.T) {
						p.eval(t, `(document.getElementById('tab-`+view+`').click(), '')`)
						p.until(t, "the view", shown(view))
						check(t)
					})
				}
			}
		}
		p.eval(t, `(() => { for (const d of document.querySelectorAll('details')) d.open = true; return '' })()`)
		check(t)
	})
	t.Run("Firefox", func(t *testing.T) {
		f := openFox(t, origin+question)
		f.until(t, "the module answers in the browser", answered)
		f.eval(t, "(() => {"+source+"; window.axe = axe; return '' })()")
		for theme, name := range []string{"dark", "light"} {
			f.pref(t, "layout.css.prefers-color-scheme.content-override", theme)
			for _, width := range []int{1280, 500} { // Firefox has no narrower window
				f.window(t, width, 900)
				for _, view := range views {
					t.Run(fmt.Sprintf("%s/%d/%s", name, width, view), func(t *testing.T) {
						f.eval(t, `(document.getElementById('tab-`+view+`').click(), '')`)
						f.until(t, "the view", shown(view))
						if text := f.eval(t, violations); text != "" {
							t.Error(text)
						}
					})
				}
			}
		}
	})
}

// tabState says what is true of the tabs: where the focus is, which one is chosen, how many are in
// the order of Tab, and how the panel belongs to them.
const tabState = `(() => {
	const tabs = [...document.querySelectorAll('#tabs [role=tab]')], on = tabs.filter((t) => t.ariaSelected === 'true');
	return [document.activeElement.id, on.map((t) => t.id), tabs.filter((t) => t.tabIndex === 0).length, panel.role, panel.getAttribute('aria-labelledby'), tabs.every((t) => t.getAttribute('aria-controls') === 'panel')].join(' ');
})()`

// tabSteps go through the tabs: a key of Chromium, the same of WebDriver, and the tab it leads to.
var tabSteps = []struct{ key, driven, tab string }{
	{kb.ArrowRight, "\ue014", "trace"}, {kb.ArrowRight, "\ue014", "codes"}, {kb.End, "\ue010", "table"}, {kb.ArrowRight, "\ue014", "answer"},
	{kb.ArrowLeft, "\ue012", "table"}, {kb.Home, "\ue011", "answer"},
}

func tabWant(tab string) string {
	return "tab-" + tab + " tab-" + tab + " 1 tabpanel tab-" + tab + " true"
}

// TestTabs: the views are tabs. Arrows, Home and End go through them, one of them is in the order
// of Tab, and the panel has the name of the tab. Other browsers do the same in walkPanels.
func TestTabs(t *testing.T) {
	origin := serve(t)
	p := open(t, origin)
	p.run(t, chromedp.Navigate(origin+"/?example=rule-until-another-code"))
	p.until(t, "the module answers in the browser", answered)
	p.run(t, chromedp.Focus(chromedp.CSS("#tab-answer")))
	for _, step := range tabSteps {
		p.run(t, chromedp.KeyEvent(step.key))
		if got := p.eval(t, tabState); got != tabWant(step.tab) {
			t.Fatalf("%s: %s", step.tab, got)
		}
		p.until(t, step.tab, shown(step.tab))
	}
	p.run(t, chromedp.KeyEvent(kb.Tab))
	if at := p.eval(t, `String(panel.contains(document.activeElement))`); at != "true" {
		t.Error("Tab does not go from the tabs into the panel")
	}
	p.clean(t)
}

// TestScreenReader reads the page as a screen reader does: everything that can be used has a name,
// and what matters is there in its order.
func TestScreenReader(t *testing.T) {
	origin := serve(t)
	p := open(t, origin)
	p.run(t, chromedp.Navigate(origin+"/?example=rule-until-another-code"))
	p.until(t, "the module answers in the browser", answered)
	var walk []string
	named := []string{"button", "link", "textbox", "combobox", "checkbox", "radio", "slider", "tab", "tabpanel", "tablist", "img", "image", "table", "heading", "form", "group"}
	nodes := map[accessibility.NodeID]*accessibility.Node{}
	tree := call(t, p, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{}).Nodes
	for _, n := range tree {
		nodes[n.NodeID] = n
	}
	var read func(n *accessibility.Node)
	read = func(n *accessibility.Node) {
		defer func() {
			for _, id := range n.ChildIDs {
				if child := nodes[id]; child != nil {
					read(child)
				}
			}
		}()
		if n.Ignored || n.Role == nil {
			return
		}
		role, name := strings.Trim(string(n.Role.Value), `"`), ""
		if n.Name != nil {
			name = strings.Trim(string(n.Name.Value), `"`)
		}
		if slices.Contains(named, role) && name == "" && role != "table" && role != "group" {
			t.Errorf("a %s has no name (node %v)", role, n.BackendDOMNodeID)
		}
		if slices.Contains(named, role) || slices.Contains([]string{"banner", "main", "contentinfo", "status"}, role) {
			walk = append(walk, role+" "+name)
		}
	}
	read(tree[0])
	at := 0
	for _, want := range []string{
		"link Skip to the answer", "banner ", "heading Podfate", "combobox Example", "combobox Kubernetes", "main ", "form Question", "textbox Exits: what happens", "textbox Manifest",
		"heading Answer", "tablist What is shown", "tab Answer", "tab Trace", "tab Table", "tabpanel Answer", "heading Who decides what", "heading Over time",
		"image 0s to 1m55s. Solid: runs", "slider Instant", "radio Linear", "radio Log", "radio Fit", "heading Why", "link spec.containers[0].restartPolicyRules[0] line 12",
		"heading One by one", "contentinfo ", "status ",
	} {
		next := slices.IndexFunc(walk[at:], func(s string) bool { return strings.HasPrefix(s, want) })
		if next < 0 {
			t.Fatalf("after %q there is no %q in\n%s", walk[max(at-1, 0)], want, strings.Join(walk, "\n"))
		}
		at += next + 1
	}
	p.clean(t)
}

// TestTimelineControls: the instants of a timeline by keys and pointer, three axes, and what
// belongs together is marked in the drawing, the trace, the table and the manifest.
func TestTimelineControls(t *testing.T) {
	origin := serve(t)
	p := open(t, origin)
	p.run(t, chromedp.Navigate(origin+"/?example=rule-until-another-code"))
	p.until(t, "the module answers in the browser", answered)
	call(t, p, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
	const told = `document.querySelector('.instant').textContent`
	says := func(want string) {
		t.Helper()
		if text := p.eval(t, told); !strings.HasPrefix(text, want) {
			t.Errorf("the instant is %q, want %q", text, want)
		}
		if row := p.eval(t, `[...document.querySelectorAll('tr.selected')].map((r) => r.innerText.replaceAll('\t', ' ')).join('|')`); !strings.HasPrefix(row, strings.Split(want, " ")[0]) || strings.Contains(row, "|") {
			t.Errorf("the row of %s is %q", want, row)
		}
	}
	says("1m55s main Exited code 1") // the last decision
	p.run(t, chromedp.Focus(chromedp.CSS("#instant")), chromedp.KeyEvent(kb.Home))
	says("0s Pod SandboxCreated")
	for range 3 {
		p.run(t, chromedp.KeyEvent(kb.ArrowRight))
	}
	says("10s main Exited code 3")
	if text := p.eval(t, `instant.getAttribute('aria-valuetext')`); !strings.HasPrefix(text, "4 of 16: 10s main Exited code 3") {
		t.Errorf("a screen reader says %q", text)
	}
	p.run(t, chromedp.KeyEvent(kb.ArrowRight, chromedp.KeyModifiers(chromedp.ModifierShift)))
	says("1m50s main Started")
	p.run(t, chromedp.KeyEvent(kb.ArrowLeft, chromedp.KeyModifiers(chromedp.ModifierShift)))
	says("10s main Exited")
	p.run(t, chromedp.KeyEvent(kb.End))
	says("1m55s Pod PhaseChanged")
	if off := p.eval(t, `String(document.querySelector('[aria-label="Next instant"]').disabled)`); off != "true" {
		t.Error("there is an instant after the last one")
	}
	p.run(t, chromedp.Click(chromedp.CSS(`[aria-label="Previous instant"]`)))
	says("1m55s main Exited")

	// The pointer, and where an instant lies on each axis: by time, by log(1 + t/12s), and each as
	// far from the next as the others.
	const flag = `((r, a) => Math.round(100 * (r.left - a.left) / a.width))(document.querySelector('rect.flag[data-at="40000"]').getBoundingClientRect(), document.querySelector('.axis svg').getBoundingClientRect())`
	p.edit(t, "exits", `f.value = 'main: 3@10s x4 until 10m'`)
	p.until(t, "another question", `document.querySelector('.axis').textContent.includes('2m')`)
	for _, c := range []struct{ axis, at string }{{"linear", "32"}, {"log", "60"}, {"fit", "50"}, {"linear", "32"}} {
		p.run(t, chromedp.Click(chromedp.CSS("#axis-"+c.axis)))
		if at := p.eval(t, `String(`+flag+`)`); at != c.at {
			t.Errorf("%s: 40s lies at %s per cent, want %s", c.axis, at, c.at)
		}
		var x, y float64
		fmt.Sscan(p.eval(t, `((r) => (r.left + 1) + ' ' + (r.top + 5))(document.querySelector('rect.flag[data-at="40000"]').getBoundingClientRect())`), &x, &y)
		p.run(t, chromedp.MouseClickXY(x, y))
		says("40s main")
	}
	p.edit(t, "exits", `f.value = 'main: 3@10s x4, 1@5s'`)
	p.until(t, "the first question", `document.querySelector('.sentence').textContent.includes('Pod Failed after 1m55s')`)
	says("40s main") // the reader's choice stays
	if at := p.eval(t, `String(`+flag+`)`); at != "35" {
		t.Errorf("40s of 1m55s lies at %s per cent, want 35: the drawing is that of the question before", at)
	}

	// What belongs together, from each side. The pointer is away.
	p.run(t, chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, 1, 1))
	const near = `[...document.querySelectorAll('.near')].map((e) => e.id || e.closest('.trace') && 'step' || e.localName + (e.dataset.at ?? '')).sort().join(' ')`
	all := "L12 rect10000 rect20000 rect40000 rect70000 step tr10000 tr20000 tr40000 tr70000"
	for _, from := range []string{
		`document.querySelector('.trace [data-line="12"]').focus()`,
		`document.querySelector('tr[data-at="20000"] [data-line="12"]').focus()`,
		`(document.activeElement.blur(), document.querySelector('rect.flag[data-at="40000"]').dispatchEvent(new MouseEvent('mouseover', {bubbles: true})))`,
		`document.getElementById('L12').dispatchEvent(new MouseEvent('mouseover', {bubbles: true}))`,
		`(manifest.focus(), manifest.setSelectionRange(manifest.value.indexOf('- action'), manifest.value.indexOf('- action')))`,
	} {
		p.eval(t, `(`+from+`, '')`)
		p.sees(t, "all of line 12 after "+from, near, "L12")
		got := p.eval(t, near)
		for _, part := range strings.Fields(all) {
			if !slices.Contains(strings.Fields(got), part) {
				t.Errorf("%s marks %s, not %s", from, got, part)
			}
		}
		p.eval(t, `(document.activeElement.blur(), document.body.dispatchEvent(new MouseEvent('mouseout', {bubbles: true})), gutter.dispatchEvent(new MouseEvent('mouseout', {bubbles: true})), '')`)
	}
	// The tables alone have no drawing to go along in.
	p.run(t, chromedp.Click(chromedp.CSS(`#tabs [value="table"]`)))
	p.until(t, "the tables", `!document.querySelector('#reply .lanes') && document.querySelector('#reply tr[data-at="40000"]') !== null`)
	p.run(t, chromedp.Click(chromedp.CSS(`#reply tr[data-at="40000"]`)))
	p.clean(t)
}
