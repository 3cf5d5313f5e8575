package playground_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// never is a Pod whose rules say in three words what one policy says.
const never = `# mine
apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  restartPolicy: Never # of the Pod
  containers:
  - name: main
    image: i
    restartPolicy: Never
    restartPolicyRules:
    - action: Restart
      exitCodes: {operator: NotIn, values: []}
`

// fixed is what its last fix makes of it.
const fixed = `# mine
apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  restartPolicy: Always # of the Pod
  containers:
  - name: main
    image: i
`

// TestFixes: what the API server accepts and is not what it seems is said next to any answer, one
// press mends it in the text, and one press takes that back; the same without scripts.
func TestFixes(t *testing.T) {
	origin := serve(t)
	p := open(t, origin)
	const warned = `String(document.querySelectorAll('#reply .list > .wait').length)`
	const press = `[...document.querySelectorAll('#reply [name=fix]')].find((b) => b.parentNode.textContent.includes('"Always"'))?.click()`
	p.run(t, chromedp.Navigate(origin+"/?example=kep-5307-proposal"))
	p.until(t, "the module answers in the browser", answered)
	p.until(t, "the hint at the draft", says("a draft of the proposal"))

	for _, scripts := range []bool{true, false} {
		p.noScripts(t, false)
		p.run(t, chromedp.Navigate(origin+"/?example=gate-off&k8s=1.37"))
		p.until(t, "the module answers in the browser", answered)
		p.edit(t, "exits", `f.value = 'main=0'`)
		p.edit(t, "manifest", `f.value = `+quote(never))
		p.until(t, "three warnings", says("main exits 0 → Restart")+` && `+warned+` === '3'`)
		if !scripts {
			p.run(t, chromedp.Navigate(origin+"/"))
			p.noScripts(t, true)
			p.run(t, chromedp.Reload())
			p.run(t, chromedp.SetValue(chromedp.CSS("#manifest"), never), chromedp.SetValue(chromedp.CSS("#exits"), "main=0"), chromedp.Submit(chromedp.CSS("#ask")))
			p.sees(t, "three warnings of the server", warned, "3")
		}
		if text := p.eval(t, `document.getElementById('reply').innerText`); !strings.Contains(text, `write "Always" at spec.restartPolicy`) {
			t.Fatalf("no fix in %s", text)
		}
		p.run(t, chromedp.Evaluate[chromedp.Void](press))
		p.sees(t, "the fix is in the text", `manifest.value`, fixed)
		p.sees(t, "and nothing is left to say", `document.getElementById('fixed-text').textContent + '|' + undo.hidden + `+warned, "The fix was applied to the manifest.|false0")
		p.sees(t, "every exit comes to the same", `reply.innerText`, "main exits 0 → Restart")
		p.run(t, chromedp.Click(chromedp.CSS("#undo")))
		p.sees(t, "one press takes it back", `manifest.value`, never)
		p.sees(t, "with its warnings", warned, "3")
	}
	p.clean(t)
}

// TestLongPaste: a long text that is pasted is in the manifest where the caret was, with its
// answer, and one press takes it back; what is too long is refused and changes nothing.
func TestLongPaste(t *testing.T) {
	origin := serve(t)
	p := open(t, origin)
	p.run(t, chromedp.Navigate(origin+"/"))
	p.until(t, "the module answers in the browser", answered)
	const before = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  restartPolicy: Never\n  containers:\n  - {name: main, image: i}\n"
	p.edit(t, "manifest", `f.value = `+quote(before))
	p.edit(t, "exits", `f.value = 'main=1'`)
	p.until(t, "the answer", says("main exits 1 → Stop"))
	paste := func(text string) {
		p.clip(t, text)
		p.eval(t, fmt.Sprintf(`(manifest.focus(), manifest.setSelectionRange(%d, %d), '')`, strings.Index(before, "Never"), strings.Index(before, "Never")+len("Never")))
		p.command(t, "paste")
	}
	long := "Always\n" + strings.Repeat("  # a comment of many\n", 3500)
	paste(long)
	want := strings.Replace(before, "Never", long, 1)
	p.until(t, "the answer to what was pasted", says("main exits 1 → Restart")+` && manifest.value === `+quote(want)+` && !undo.hidden`)
	if at := p.eval(t, `manifest.selectionStart + ' ' + manifest.selectionEnd`); at != fmt.Sprintf("%d %[1]d", strings.Index(before, "Never")+len(long)) {
		t.Errorf("the caret is at %s", at)
	}
	p.eval(t, `(undo.click(), '')`)
	p.until(t, "what was before", says("main exits 1 → Stop")+` && manifest.value === `+quote(before))
	// What is typed after a paste would be lost with it.
	paste(long)
	p.until(t, "the answer to what was pasted", `manifest.value === `+quote(want)+` && !undo.hidden`)
	p.edit(t, "manifest", `f.value += '# and more\n'`)
	p.until(t, "no Undo", `undo.hidden`)
	p.edit(t, "manifest", `f.value = `+quote(before))
	p.until(t, "the first text", says("main exits 1 → Stop"))
	paste(strings.Repeat("# "+strings.Repeat("x", 1000)+"\n", 270))
	p.until(t, "the refusal", `!fixed.hidden && fixed.innerText.includes('262144') && manifest.value === `+quote(before))
	p.clean(t)
}
