package cli

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/podfate/podfate/policy/ops"
	"github.com/podfate/podfate/policy/policytest"
	"github.com/podfate/podfate/policy/words"
)

var update = flag.Bool("update", false, "write what the commands print to testdata/golden")

// TestTextOverTime holds the texts of simulate and curve. Read the difference as if someone else
// had written it.
func TestTextOverTime(t *testing.T) {
	for name, args := range map[string]string{
		"restarts-then-success":   "simulate -f testdata/pod.yaml --run main=10s:42x4 --run main=5s:0 --until 10m",
		"crash-loop-for-a-day":    "simulate -f testdata/pod.yaml --run main=10s:42xforever --until 24h",
		"all-containers-together": "simulate -f testdata/trio.yaml -f testdata/over-time.yaml",
		"a-live-pod":              "simulate -f testdata/crash-loop.yaml --until 10m --event 3m=Deleted",
		"a-live-pod-later":        "simulate -f testdata/crash-loop.yaml --until 1m --now 2026-11-21T10:03:50Z --run main=1h:0",
		"curve-of-the-cluster":    "curve --run 10s --outage 7m",
		"curve-of-its-own":        "curve --run 2s --initial 1s --max 60s --window 1h,5m --until 2h --model documented",
	} {
		t.Run(name, func(t *testing.T) {
			got := podfate(t, "", strings.Fields(args)...)
			text := "$ podfate " + args + "\n" + got.out
			if got.status != 0 || got.err != "" {
				t.Errorf("status %d\n%s", got.status, got.err)
			}
			golden := filepath.Join("testdata", "golden", name+".txt")
			if *update {
				if err := os.WriteFile(golden, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if want := read(t, golden); text != want {
				t.Errorf("got\n%s\nwant\n%s", text, want)
			}
		})
	}
}

// TestFlagsOverTimeAreTheRequest: flags say the same as a request that is written out, and the
// answer is the core's.
func TestFlagsOverTimeAreTheRequest(t *testing.T) {
	for n, c := range []struct{ args, stdin, operation, request string }{
		{
			"simulate -f - --run main=10s:42x4 --run main=1h30m:255xforever --until 2h", pod, "simulate",
			`{"manifest":` + pod + `,"runs":{"main":[{"for":"10s","exitCode":42,"times":4},{"for":"1h30m","exitCode":255,"times":"forever"}]},"until":"2h"}`,
		},
		{
			"simulate -f - --run main=0s:137x2:OOMKilled --run main=1s:1:Error --kubernetes-version 1.35 --validate=warn", pod, "simulate",
			`{"cluster":{"version":"1.35"},"fieldValidation":"Warn","manifest":` + pod +
				`,"runs":{"main":[{"for":"0s","exitCode":137,"reason":"OOMKilled","times":2},{"for":"1s","exitCode":1,"reason":"Error"}]}}`,
		},
		{
			"simulate -f - --event 5m=Evicted --event 6m=OOMKilled:main --now 2026-01-31T12:00:00Z", pod, "simulate",
			`{"events":[{"at":"5m","type":"Evicted"},{"at":"6m","type":"OOMKilled","container":"main"}],"manifest":` + pod + `,"now":"2026-01-31T12:00:00Z"}`,
		},
		{"simulate -f - --run other=1s:1", pod, "simulate", `{"manifest":` + pod + `,"runs":{"other":[{"for":"1s","exitCode":1}]}}`},
		{"curve", "", "curve", `{}`},
		{
			"curve --run 10s --until 1h --initial 2s --max 60s --model documented --window 1h --window 5m,60m --outage 7m", "", "curve",
			`{"backoff":{"initial":"2s","max":"60s"},"model":"documented","outage":{"until":"7m"},"run":{"for":"10s"},"until":"1h","windows":["5m","1h"]}`,
		},
		{"curve -f - --run 5s", `{"run":{"for":"10s"},"until":"1h"}`, "curve", `{"run":{"for":"5s"},"until":"1h"}`},
		{"curve --initial 5m --max 1s", "", "curve", `{"backoff":{"initial":"5m","max":"1s"}}`},
	} {
		op, _ := ops.Lookup(c.operation)
		want, failed := ops.Call(op.Number, []byte(c.request))
		asked := engines
		if n > 0 {
			asked = policytest.Sample(t, len(engines), engines) // the module is decoded for each
		}
		for _, engine := range asked {
			got := podfate(t, c.stdin, append(strings.Fields(c.args), "-o", "json", "--engine", engine)...)
			if answer := withoutPlaces(t, got.out); answer != withoutPlaces(t, string(want)) || got.err != "" || (got.status == StatusFaults) != failed {
				t.Errorf("podfate %s (%s): status %d\n got %s%s\nwant %s", c.args, engine, got.status, got.out, got.err, want)
			}
			if !failed && got.out != withoutPlaceOfWarnings(want)+"\n" {
				t.Errorf("podfate %s (%s): the bytes differ\n got %swant %s", c.args, engine, got.out, want)
			}
		}
	}
}

// withoutPlaces drops from an error what has no meaning for what flags set.
func withoutPlaces(t *testing.T, answer string) string {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(answer), &v); err != nil {
		t.Fatalf("%v: %s", err, answer)
	}
	var drop func(any)
	drop = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, name := range []string{"line", "column", "offset"} {
				delete(v, name)
			}
			for _, child := range v {
				drop(child)
			}
		case []any:
			for _, child := range v {
				drop(child)
			}
		}
	}
	drop(v)
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestUsageOverTime(t *testing.T) {
	for _, c := range []struct {
		args   string
		status int
		says   string
	}{
		{"simulate --run main=1s:1", 2, "no manifest"},
		{"simulate -f testdata/pod.yaml --run 10s:1", 2, "does it exit with 1 now, or after some time?"},
		{"simulate -f testdata/pod.yaml --run =10s:1", 2, "which container?"},
		{"simulate -f testdata/pod.yaml --run main=10s", 2, `"10s" is no exit code`},
		{"simulate -f testdata/pod.yaml --run main=10:1", 2, "is not about runs"},
		{"simulate -f testdata/pod.yaml --run main=-1s:1", 2, `"-1s" must not be negative`},
		{"simulate -f testdata/pod.yaml --run main=1s:one", 2, `"one" is no exit code`},
		{"simulate -f testdata/pod.yaml --run main=1s:99999999999", 2, "is no exit code"},
		{"simulate -f testdata/pod.yaml --run main=1s:1x0", 2, `"0" is neither a number of times, from 1, nor the word forever`},
		{"simulate -f testdata/pod.yaml --run main=1s:1xtwice", 2, "neither a number of times"},
		{"simulate -f testdata/pod.yaml --until 1week", 2, `--until "1week": must be a length of time`},
		{"simulate -f testdata/pod.yaml --run other=1s:1", 1, `podfate: runs.other: the Pod has no container "other" (possible: main)`},
		{"simulate -f testdata/pod.yaml --run main=1s:1 --until 0s", 1, "podfate: until: must be at least 1ms"},
		{"simulate -f testdata/bad.yaml --run main=1s:1", 1, "testdata/bad.yaml:7:5: spec.containers[0].restartPolicy"},
		{"curve --run 10", 2, `--run "10": must be a length of time`},
		{"curve --max 1.5ms", 2, `--max "1.5ms": must be a whole number of milliseconds`},
		{"curve --initial 9000000h", 2, `--initial "9000000h": must be at most 1000 years`},
		{"curve --outage soon", 2, `--outage "soon": must be a length of time`},
		{"curve --window 0s", 2, `--window "0s": must be longer than 0s`},
		{"curve --window 5m,x", 2, `--window "x": must be a length of time`},
		{"curve --model real", 2, "must be kubelet or documented"},
		{"curve --validate", 2, "unknown flag"},
		{"curve --initial 5m --max 1s", 1, "podfate: backoff.initial: must not be longer than max"},
		{"curve -f testdata/pod.yaml", 1, "this question takes no manifest"},
	} {
		got := podfate(t, "", strings.Fields(c.args)...)
		if got.status != c.status || !strings.Contains(got.err, c.says) || got.out != "" {
			t.Errorf("podfate %s: status %d, want %d with %q\n%s%s", c.args, got.status, c.status, c.says, got.out, got.err)
		}
	}
}

// TestFaultsOfAScenarioHaveItsPlaces: a fault is in the file that it comes from, which is not
// the manifest's.
func TestFaultsOfAScenarioHaveItsPlaces(t *testing.T) {
	scenario := "apiVersion: podfate.dev/v1\nkind: Scenario\nruns:\n  main:\n  - {for: 10, exitCode: 42}\nuntil: 0s\ncluster: {version: \"1.2\"}\n"
	got := podfate(t, scenario, "simulate", "-f", "testdata/pod.yaml", "-f", "-")
	for _, want := range []string{"stdin:5:11: runs.main[0].for: ", "stdin:6:8: until: ", "stdin:7:20: cluster.version: "} {
		if !strings.Contains(got.err, want) {
			t.Errorf("no %q in\n%s", want, got.err)
		}
	}
	got = podfate(t, "", "simulate", "-f", "testdata/pod.yaml")
	if got.status != 0 || !strings.Contains(got.out, "Still Running after 30m, 0 restarts. No container ends: nothing says when they do.") {
		t.Errorf("status %d\n%s%s", got.status, got.err, got.out)
	}
}

// TestEveryScenarioHasAText prints every simulation and curve of the corpus: each code has its
// words, no line of a curve is longer than a terminal, and nothing of it is raw.
func TestEveryScenarioHasAText(t *testing.T) {
	cases, err := policytest.Cases()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, c := range policytest.Sample(t, 6, cases) {
		name := c.Operation.Name
		if name != "simulate" && name != "curve" {
			continue
		}
		answer, failed := ops.Call(c.Operation.Number, c.Request)
		got := podfate(t, string(c.Request), name, "-f", "-")
		if (got.status == StatusFaults) != failed || failed == (got.out != "") {
			t.Errorf("%s: status %d\n%s%s", c.Name, got.status, got.out, got.err)
			continue
		}
		if failed {
			continue
		}
		seen[name]++
		for _, code := range codes(t, answer) {
			if !words.Phrased(code) && name == "simulate" {
				t.Errorf("%s: no sentence for %s", c.Name, code)
			}
		}
		for _, line := range strings.Split(got.out, "\n") {
			if name == "curve" && utf8.RuneCountInString(line) > plainWidth && strings.ContainsAny(line, "█▏▎▍▌▋▊▉") {
				t.Errorf("%s: %d columns: %s", c.Name, utf8.RuneCountInString(line), line)
			}
			if line != words.Visible(line) {
				t.Errorf("%s: raw: %q", c.Name, line)
			}
		}
	}
	if seen["simulate"] < 20 || seen["curve"] < 10 && !testing.Short() || seen["curve"] == 0 {
		t.Errorf("only %v were seen", seen)
	}
}

// codes returns the codes in an answer of simulate that are put into words.
func codes(t *testing.T, answer []byte) []string {
	t.Helper()
	var a struct {
		Timeline []struct {
			Event, Reason, Ignored, Because string
			DecidedBy                       struct{ Level string }
		}
		Undecided   []struct{ Reason string }
		Assumptions []string
	}
	if err := json.Unmarshal(answer, &a); err != nil {
		t.Fatal(err)
	}
	list := a.Assumptions
	for _, r := range a.Timeline {
		if r.Event == "Killing" {
			list = append(list, r.Reason)
		}
		if r.Ignored != "" {
			list = append(list, r.Ignored)
		}
		if r.Because != "" && r.DecidedBy.Level != "rule" {
			list = append(list, r.Because)
		}
	}
	for _, u := range a.Undecided {
		list = append(list, u.Reason)
	}
	return list
}

// A bar shows every wait that is not zero, and never more than its columns.
func TestBar(t *testing.T) {
	for _, c := range []struct {
		n, most int64
		want    string
	}{
		{0, 300, ""}, {1, 300_000, "▏"}, {150, 300, "██"}, {299, 300, "███▉"}, {300, 300, "████"}, {1, 1, "████"},
	} {
		if got := bar(c.n, c.most, 4); got != c.want {
			t.Errorf("%d of %d: %q, want %q", c.n, c.most, got, c.want)
		}
	}
}

// TestTiming: the flags of timing become its members.
func TestTiming(t *testing.T) {
	for flags, want := range map[string]string{
		"":                           "first_restart_at_once",
		"--first-restart kubelet":    "first_restart_at_once",
		"--first-restart documented": "first_restart_as_documented",
		"--detection 1s --sync kubelet --jitter full":  `"atMillis":22000,"container":"main","event":"BackOff"`,
		"--detection 1s --sync kubelet --jitter 29999": `"atMillis":22000,"container":"main","event":"BackOff"`,
	} {
		args := append([]string{"simulate", "-f", "testdata/pod.yaml", "--run", "main=10s:42x2", "-o", "json"}, strings.Fields(flags)...)
		if got := podfate(t, "", args...); got.status != 0 || !strings.Contains(got.out, want) {
			t.Errorf("%s: status %d, want %s\n%s%s", flags, got.status, want, got.out, got.err)
		}
	}
	for flags, want := range map[string]string{
		"--first-restart never": "must be kubelet or documented", "--sync often": "must be ideal or kubelet", "--jitter big": "must be none, mean or full", "--detection 1": "must be a length of time",
	} {
		args := append([]string{"simulate", "-f", "testdata/pod.yaml"}, strings.Fields(flags)...)
		if got := podfate(t, "", args...); got.status != 2 || !strings.Contains(got.err, want) {
			t.Errorf("%s: status %d, want %s\n%s", flags, got.status, want, got.err)
		}
	}
}
