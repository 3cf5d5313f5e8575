package cli

import (
	"maps"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestForecast asks about a live Pod in every form, and about what cannot be asked.
func TestForecast(t *testing.T) {
	live := read(t, "testdata/live.yaml")
	looping := strings.Replace(live, "lastState: {}", `lastState: {terminated: {exitCode: 1, reason: Error, startedAt: "2026-05-04T09:15:00Z", finishedAt: "2026-05-04T09:15:10Z"}}`, 1)
	looping = strings.Replace(looping, "running:\n        startedAt: \"2026-05-04T09:20:40Z\"", "waiting: {reason: CrashLoopBackOff, message: back-off 40s restarting failed container=main pod=x}", 1)
	for _, c := range []struct {
		args, stdin, out, err string
		status                int
	}{
		{"-f - --now 2026-05-04T09:15:20Z", looping, "1 Pod in a loop", "", 0},
		{"-f - --now 2026-05-04T09:15:20Z", looping, "2026-05-04T09:15:50Z (in 30s)", "", 0},
		{"-f - --now 2026-05-04T09:21:00Z", live, "No Pod in a loop", "", 0},
		{"-f - --now 2026-05-04T09:15:20Z -o json", looping, `"nextStart": "2026-05-04T09:15:50Z"`, "", 0},
		{"-f - --now 2026-05-04T09:15:20Z -o html", looping, "<svg", "", 0},
		{"-f - --now 2026-05-04T09:15:20Z -o metrics", looping, `podfate_forecast_backoff_seconds{namespace="default",pod="worker-0"`, "", 0},
		{"-f - -o metrics", live + "---\n7\n", "podfate_forecast_broken_items 1", "podfate: skipped: stdin: item 2 in line", 0},
		{"-f - --feature-gates ReduceDefaultCrashLoopBackOffDecay=true,KubeletCrashLoopBackOffMax=false --now 2026-05-04T09:15:20Z", looping, "(in 30s)", "", 0},
		{"-f -", "7\n", "Skipped", "", StatusFaults},
		{"-f - --kubernetes-version 1.3", live, "", "is not a modelled version", StatusFaults},
		{"-f - --now noon", live, "", "--now", StatusUsage},
		{"-f - --ahead 1ms", live, "", "--ahead", StatusUsage},
		{"-f - -o xml", live, "", "--output", StatusUsage},
		{"", "", "", "-f is required", StatusUsage},
		{"-f nothing.json", "", "", "nothing.json", StatusUsage},
	} {
		got := podfate(t, c.stdin, append([]string{"forecast"}, strings.Fields(c.args)...)...)
		if got.status != c.status || !strings.Contains(got.out, c.out) || !strings.Contains(got.err, c.err) || c.err == "" && got.err != "" {
			t.Errorf("forecast %s: status %d\n%s\n%s", c.args, got.status, got.out, got.err)
		}
	}
}

// The example in docs/forecast.md is what the command in the comment above it prints, and its table
// of metrics names all that there are, and no others.
func TestForecastPage(t *testing.T) {
	const page = "../../docs/forecast.md"
	text := read(t, page)
	m := regexp.MustCompile("(?s)<!-- podfate (forecast [^\n]*) -->\n```\n(.*?)```\n").FindStringSubmatchIndex(text)
	if m == nil {
		t.Fatal("no example")
	}
	args := strings.Fields(strings.ReplaceAll(text[m[2]:m[3]], "playground/cli/", ""))
	got := podfate(t, "", args...)
	if want := text[m[4]:m[5]]; got.status != 0 || got.out != want {
		if os.Getenv("PODFATE_UPDATE") != "" {
			if err := os.WriteFile(page, []byte(text[:m[4]]+got.out+text[m[5]:]), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		t.Errorf("with PODFATE_UPDATE=1 the page is written anew; status %d\n%s", got.status, got.out)
	}
	names := map[string]bool{}
	for _, line := range strings.Split(podfate(t, "", append(args, "-o", "metrics")...).out, "\n") {
		if name, found := strings.CutPrefix(line, "# TYPE "); found {
			names[strings.Fields(name)[0]] = true
		}
	}
	said := map[string]bool{}
	for _, m := range regexp.MustCompile("`((?:kube|podfate_forecast)_[a-z_]+)[{`]").FindAllStringSubmatch(text, -1) {
		said[m[1]] = true
	}
	if !maps.Equal(names, said) {
		t.Errorf("the page has %v, and there are %v", said, names)
	}
}
