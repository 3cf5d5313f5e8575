package playground_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/podfate/podfate/playground/cli"
)

// TestLinkOfTheCommandLine opens addresses that --link prints: the page asks the same question.
func TestLinkOfTheCommandLine(t *testing.T) {
	origin := serve(t)
	p := open(t, origin)
	for _, q := range []struct{ command, says, field, text string }{
		{"decide -f ../web/examples/restart-on-exit-codes.yaml --exit main=42 --kubernetes-version 1.36", "main exits 42 → Restart", "exits", "main=42"},
		{"decide -f ../web/examples/gate-off.yaml --exit main=42 --feature-gates ContainerRestartRules=false,RestartAllContainersOnContainerExits=false --validate=ignore --kubernetes-version 1.36", "main exits 42 → Stop", "exits", "main=42"},
		{"simulate -f ../web/examples/restart-on-exit-codes.yaml --run main=10s:42x2 --run main:1@5s --event 1m=Evicted --until 1h", "Pod Failed after", "exits", "main=10s:42x2, main:1@5s, at 1m Evicted, until 1h"},
		{"curve --run 5s --outage 7m --max 60s --kubernetes-version 1.36", "Back 1m late", "lab-outage", "7m"},
		{"compare ../web/examples/gate-off.yaml ../web/examples/restart-on-exit-codes.yaml --exit main=42", "", "exits", "main=42"},
		{"decide -f ../web/examples/job-pods.yaml --pods ../web/examples/job-pods.pods.yaml", "", "pods", "kind: "},
	} {
		var out, wrong strings.Builder
		if status := cli.Main(t.Context(), append(strings.Fields(q.command), "--link="+origin), cli.Streams{In: strings.NewReader(""), Out: &out, Err: &wrong}); status != 0 {
			t.Fatalf("%s: %s", q.command, wrong.String())
		}
		link := strings.TrimSpace(out.String())
		if !strings.HasPrefix(link, origin+"#v1=") && !strings.HasPrefix(link, origin+"/#v1=") {
			t.Fatalf("%s: %s", q.command, link)
		}
		p.run(t, chromedp.Navigate("about:blank"), chromedp.Navigate(link))
		p.until(t, q.command, "!!document.querySelector('#reply .sentence')?.checkVisibility({visibilityProperty: true}) && "+says(q.says))
		if got := p.eval(t, `document.getElementById('`+q.field+`').value`); !strings.Contains(got, q.text) {
			t.Errorf("%s: %s is %q", q.command, q.field, got)
		}
	}
	p.clean(t)
}
