package playground_test

import (
	"strings"
	"testing"
	"time"

	"github.com/podfate/podfate/policy/policytest"
)

// driven is a browser that is driven over WebDriver or Marionette. Keys without a letter are code
// points of WebDriver.
type driven interface {
	open(t *testing.T, address string)
	eval(t *testing.T, script string) string
	until(t *testing.T, what, condition string)
	keys(t *testing.T, keys ...string)
	focused(t *testing.T) (role, name string)
}

const tabKey, enterKey, endKey, leftKey, downKey = "\ue004", "\ue007", "\ue010", "\ue012", "\ue015"

// typed presses keys one after another where the focus is.
func typed(keys []string) []any {
	var actions []map[string]any
	for _, key := range keys {
		actions = append(actions, map[string]any{"type": "keyDown", "value": key}, map[string]any{"type": "keyUp", "value": key})
	}
	return []any{map[string]any{"type": "key", "id": "keyboard", "actions": actions}}
}

// waitFor asks until a script says yes.
func waitFor(t *testing.T, b driven, what, condition string) {
	t.Helper()
	for began := time.Now(); b.eval(t, "Boolean("+condition+")") != "true"; time.Sleep(30 * time.Millisecond) {
		if time.Since(began) > patience {
			t.Fatalf("%s: the page shows %s", what, b.eval(t, "document.body.innerText"))
		}
	}
}

// write puts a text into a field as typing does.
func write(t *testing.T, b driven, id, text string) {
	t.Helper()
	b.eval(t, `((f) => { f.value = `+quote(text)+`; f.dispatchEvent(new Event('input', {bubbles: true})); return '' })(document.getElementById('`+id+`'))`)
}

// TestFirefox uses the page in Firefox: one way through it here, all of its tabs in the long
// script.
func TestFirefox(t *testing.T) {
	origin := serve(t)
	f := openFox(t, origin+"/")
	t.Run("page", func(t *testing.T) { use(t, f, origin) })
	t.Run("walk", func(t *testing.T) {
		some := []string{"answer", "codes"}
		if policytest.Long() {
			some = views
		}
		walkPanels(t, f, origin, some)
	})
}

// use asks what a person asks of the page: of a Job and its rule, of a crash loop, of a code in the
// map, of two manifests; and the reader's own text and the link to it are kept.
func use(t *testing.T, b driven, origin string) {
	b.open(t, origin+"/")
	b.until(t, "the module answers in the browser", answered)
	job := "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec:\n  backoffLimit: 3\n  podFailurePolicy:\n    rules:\n    - action: FailJob\n      onExitCodes: {operator: In, values: [42]}\n" +
		"  template:\n    spec:\n      restartPolicy: Never\n      containers: [{name: main, image: i}]\n"
	write(t, b, "manifest", job)
	b.until(t, "rule 0 fails the Job", `((v) => /Job/.test(v) && /fail/i.test(v) && /rule 0/.test(v))(document.querySelector('#reply .verdict').textContent) && document.querySelectorAll('#reply .layers > div').length === 3`)
	write(t, b, "exits", "main=1")
	b.until(t, "another code: a new Pod", says("new Pod"))

	b.eval(t, `(share.open = true, '')`)
	b.until(t, "the link", `link.value.includes('#v1=')`)
	address := b.eval(t, `link.value`)
	mine := job + "# mine\n"
	write(t, b, "manifest", mine)
	b.eval(t, `(example.value = 'wrong-case', example.dispatchEvent(new Event('change', {bubbles: true})), '')`)
	b.until(t, "an example", says(`Unsupported value: "onFailure"`))
	b.eval(t, `(history.back(), '')`)
	b.until(t, "the text of before", `manifest.value === `+quote(mine))
	b.eval(t, `(window.stale = true, location.reload(), '')`)
	b.until(t, "it is there after a reload", `!window.stale && document.getElementById('manifest')?.value === `+quote(mine)+` && `+answered)

	b.open(t, "about:blank")
	b.open(t, address)
	b.until(t, "the link's question", `document.getElementById('manifest')?.value === `+quote(job)+` && `+answered+` && `+says("new Pod"))

	write(t, b, "manifest", "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n  - {name: main, image: i}\n")
	write(t, b, "exits", "main: 1@3s forever until 24h")
	b.until(t, "the crash loop", `document.querySelector('#reply .verdict.wait')?.textContent.includes('CrashLoopBackOff') && document.querySelector('#reply .terminal').textContent.includes('CrashLoopBackOff')`)

	b.open(t, origin+"/?view=codes")
	b.until(t, "the map", answered+` && document.querySelectorAll('#reply .map td').length === 256`)
	b.eval(t, `(document.querySelector('#reply .map [tabindex="0"]').focus(), '')`)
	b.keys(t, downKey, downKey, endKey, leftKey, leftKey, leftKey, leftKey, leftKey)
	if at := b.eval(t, `document.activeElement.dataset.code`); at != "42" {
		t.Errorf("the keys lead to code %s", at)
	}
	b.keys(t, enterKey)
	b.until(t, "the code's answer", says("main exits 42 → Restart")+` && exits.value === 'main=42'`)

	b.eval(t, `(document.getElementById('tab-compare').click(), '')`)
	b.until(t, "the versions of A and B", says("Equivalent")+` && [...document.querySelector('#reply table')?.tBodies[0].rows ?? []].map((r) => r.cells[0].textContent).join(' ') === '1.33 1.34 1.35–1.37'`)
}

// walkPanels goes through tabs with the keyboard alone and asks of all that has the focus what a
// screen reader would say: its role and its name. Tab leaves each panel again.
func walkPanels(t *testing.T, b driven, origin string, some []string) {
	b.open(t, origin+"/?example=rule-until-another-code")
	b.until(t, "the module answers in the browser", answered)
	b.eval(t, `(document.getElementById('tab-answer').focus(), '')`)
	for _, step := range tabSteps {
		b.keys(t, step.driven)
		if got := b.eval(t, tabState); got != tabWant(step.tab) {
			t.Fatalf("%s: %s", step.tab, got)
		}
		b.until(t, step.tab, shown(step.tab))
	}
	for _, view := range some {
		t.Run(view, func(t *testing.T) {
			b.eval(t, `(document.getElementById('tab-`+view+`').focus(), document.getElementById('tab-`+view+`').click(), '')`)
			b.until(t, "the view", shown(view)+` && !reply.ariaBusy`)
			stops := 0
			for b.eval(t, `String(document.activeElement.id === 'tab-`+view+`' || panel.contains(document.activeElement))`) == "true" {
				if stops++; stops > 150 {
					t.Fatal("Tab does not leave the panel")
				}
				if role, name := b.focused(t); name == "" && role != "group" && !strings.Contains(role, "generic") && b.eval(t, `document.activeElement.localName`) != "pre" {
					t.Errorf("a %s has no name: %s", role, b.eval(t, `document.activeElement.outerHTML`))
				}
				if seen := b.eval(t, `((e) => { const r = e.getBoundingClientRect(); return r.width > 0 && r.height > 0 ? '' : e.outerHTML })(document.activeElement)`); seen != "" {
					t.Errorf("the focus is on what cannot be seen: %s", seen)
				}
				b.keys(t, tabKey)
			}
			if stops < 2 {
				t.Errorf("nothing in the panel has the focus, %d stops", stops)
			}
		})
	}
}
