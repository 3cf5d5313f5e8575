package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestRefusedArguments: what could be taken for something else is refused, with what to write
// instead.
func TestRefusedArguments(t *testing.T) {
	const decide, simulate = "decide -f testdata/pod.yaml", "simulate -f testdata/pod.yaml"
	for _, c := range []struct {
		args   string // EMPTY stands for an empty argument
		status int
		says   string
	}{
		{"-- decide", 2, `unexpected argument "decide"`},
		{decide + " --exit main=1 --engine jit -o xml", 2, "--engine \"jit\": must be native or wasm"},
		{decide + " --exit main=1 --engine jit -o xml", 2, "--output \"xml\": must be"},
		{decide + " --exit zz --engine jit", 2, "--engine \"jit\": must be native or wasm"},
		{"verify", 2, "no file: name one at least"},
		{"help no-such-verb", 2, `unknown command "no-such-verb"`},
		{"help decid", 2, "Did you mean this?\n\tdecide"},
		{"completion klingon", 2, `unknown command "klingon" for "podfate completion"`},
		{"serve --addr 127.0.0.1:99999", 2, "the port must be a number from 0 to 65535"},
		{"serve --addr 127.0.0.1:https-to-mars", 2, "the port must be a number from 0 to 65535"},
		{decide + " --exit main=1 --kubernetes-version EMPTY", 2, "--kubernetes-version: the value is empty"},
		{decide + " --exit main=1 --pods EMPTY", 2, "--pods: the value is empty"},
		{simulate + " --until EMPTY", 2, "--until: the value is empty"},
		{simulate + " --now EMPTY", 2, "--now: the value is empty"},
		{simulate + " --jitter EMPTY", 2, "--jitter: the value is empty"},
		{"curve --run EMPTY", 2, "--run: the value is empty"},
		{"curve --window EMPTY", 2, "--window: the value is empty"},
		{"serve --engine EMPTY", 2, "--engine: the value is empty"},
		{"--log-level EMPTY", 2, "--log-level: the value is empty"},
		{"validate -f EMPTY", 2, "--filename: the value is empty"},
		{"validate -f testdata/pod.yaml -f EMPTY", 2, "the name of a file is empty"},
		{"validate -f https://example.com/pod.yaml", 2, "addresses are not fetched; try curl -sS https://example.com/pod.yaml"},
		{"validate -f - -f -", 2, "standard input can be read only once"},
		{decide + " --exit main=1.5", 2, `"1.5" is no exit code`},
		{decide + " --exit 99999999999", 2, "is beyond 32 bits"},
		{decide + " --exit main=1:", 2, "no reason comes after the colon"},
		{decide + " --exit main=1:a:b", 2, `"a:b" is not one word`},
		{simulate + " --run main=10s:1:OOMKilled:x2", 2, "is not one word"},
		{simulate + " --run main=10s:137:OOMKilledx4", 2, "how often comes last"},
		{simulate + " --run main=10s:137:OOMKilledxforever", 2, "how often comes last"},
		{simulate + " --event 5=Evicted", 2, `"5" must be a length of time`},
		{simulate + " --event -1s=Evicted", 2, `"-1s" must not be negative`},
		{simulate + " --event 5m", 2, "what happens, and when?"},
		{simulate + " --event 5m=evicted", 1, `events[0].type: "evicted" is not an event (possible: Evicted, `},
		{decide + " --exit main=1 --feature-gates ContainerRestartRules=true,ContainerRestartRules=false", 2, "ContainerRestartRules is set to true and to false"},
	} {
		args := strings.Fields(c.args)
		for i := range args {
			if args[i] == "EMPTY" {
				args[i] = ""
			}
		}
		got := podfate(t, "", args...)
		if got.status != c.status || !strings.Contains(got.err, c.says) || got.out != "" {
			t.Errorf("podfate %s: status %d, want %d with %q\n%s%s", c.args, got.status, c.status, c.says, got.out, got.err)
		}
	}
	for _, args := range [][]string{
		{"decide", "-f", "testdata/pod.yaml", "--exit", "main=1:Proxy", "--feature-gates", ""},
		{"simulate", "-f", "testdata/pod.yaml", "--run", "main=1s:1x2:OOMKilled"},
		{"help", "decide"}, {"help"},
	} {
		if got := podfate(t, "", args...); got.status != 0 || got.out == "" {
			t.Errorf("%q: status %d\n%s", args, got.status, got.err)
		}
	}
}

// TestGroups: a group is written as runs are everywhere, and as it was before.
func TestGroups(t *testing.T) {
	for text, want := range map[string]string{
		"110=1@10s":                       `110 {"for":"10s","exitCode":1} `,
		"110=10s:1":                       `110 {"for":"10s","exitCode":1} `,
		"2=0@1m30s:OnFailure":             `2 {"for":"1m30s","exitCode":0} OnFailure`,
		"2=1m30s:0:OnFailure":             `2 {"for":"1m30s","exitCode":0} OnFailure`,
		"1=137:OOMKilled@0s":              `1 {"for":"0s","exitCode":137,"reason":"OOMKilled"} `,
		"1=137:OOMKilled@250ms:Sometimes": `1 {"for":"250ms","exitCode":137,"reason":"OOMKilled"} Sometimes`, // which the core refuses
	} {
		g, err := parseGroup(text)
		if got := fmt.Sprintf("%d %s %s", g.Pods, g.Run, g.RestartPolicy); err != nil || got != want {
			t.Errorf("%s: %s, want %s (%v)", text, got, want, err)
		}
	}
}

// TestFlagsAreRefusedTogether: all that is wrong with flags is said at once, a line for each.
func TestFlagsAreRefusedTogether(t *testing.T) {
	for _, c := range []struct {
		args string
		says []string // the beginnings of the lines
	}{
		{"fleet --group foo --until 400d --group 1=x:y --group 1=1s --group 1=10s:1@5s --group 1=a@b --bin x --window y --window 0s --model z -o toml --feature-gates A", []string{
			`--group "foo": "foo" is no number of Pods. Write PODS=`, `--group "1=x:y": "x" must be a length of time`, `--group "1=1s": Which exit code? Write`,
			`--group "1=10s:1@5s": "10s:1" is no exit code. Write`, `--group "1=a@b": "b" must be a length of time`,
			`--bin "x": must be a length`, `--until "400d": must be a length`, `--model "z": must be kubelet or documented`,
			`--window "y": must be a length`, `--window "0s": must be longer than 0s`, `--feature-gates "A": must be NAME=true`, `--output "toml": must be text,`}},
		{"forecast -o x --ahead 0s --now y --requests-per-restart -1 --feature-gates x", []string{
			"-f is required", `--output "x": must be one of text,`, "--ahead 0s: must be between", "--requests-per-restart -1: must be between",
			`--now "y": must be a time`, `--feature-gates "x": must be NAME=true`}},
		{"forecast -f none-1 -f none-2", []string{"none-1: ", "none-2: "}},
		{"curve --run x --waits 1,2 --model q", []string{`--run "x": `, `--waits "1": `, `--waits "2": `, `--model "q": `}},
		{"simulate -f testdata/pod.yaml --until q --first-restart u --run a --event b --validate=maybe --kubelet-feature-gates =x", []string{
			`--run "a": `, `--event "at b": `, `--until "q": `, `--first-restart "u": `, `--validate "maybe": `, `--kubelet-feature-gates "=x": `}},
		{"suggest -f testdata/pod.yaml --flip 1 --flip 2", []string{`--flip "1": `, `--flip "2": `}},
	} {
		got := podfate(t, "", strings.Fields(c.args)...)
		if got.status != StatusUsage || got.out != "" {
			t.Errorf("podfate %s: status %d\n%s%s", c.args, got.status, got.out, got.err)
		}
		lines := strings.Split(got.err, "\n")
		for i, line := range lines {
			if !strings.HasPrefix(line, "podfate: ") {
				lines = lines[:i]
				break
			}
		}
		for i, text := range c.says {
			if i >= len(lines) || !strings.HasPrefix(lines[i], "podfate: "+text) {
				t.Errorf("podfate %s: line %d does not say %q\n%s", c.args, i+1, text, got.err)
			}
		}
		if len(lines) != len(c.says) {
			t.Errorf("podfate %s: %d lines, want %d\n%s", c.args, len(lines), len(c.says), got.err)
		}
	}
}

// TestFilesThatCannotBeRead: a text that may concern all manifests and cannot be read keeps them
// from being answered as if it were not there; and a folder is not walked into what never ends.
func TestFilesThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, test := range []struct{ content, says string }{
		{"apiVersion: podfate.dev/v1\nkind: Scenario\nruns: {main: [\n", ":3:"},
		{"apiVersion: podfate.dev/v1\nkind: Scenario\nruns:\n  main:\n" + strings.Repeat("  - {for: 1s, exitCode: 1}\n", 4000), ":2003:6: runs.main[1998].for: too many"},
		{"apiVersion: kubelet.config.k8s.io/v1beta1\nkind: 'KubeletConfiguration'\ncrashLoopBackOff: [\n", ":3:"},
		{`{"apiVersion":"podfate.dev/v1","kind":"Scenario","until":]}`, ":1:"},
	} {
		path := write("common", test.content)
		for _, args := range [][]string{{"simulate"}, {"decide", "--exit", "main=1", "-o", "json"}, {"validate"}} {
			got := podfate(t, pod, append(args, "-f", "-", "-f", path)...)
			if got.status != StatusFaults || !strings.Contains(got.out+got.err, "\"error\"") && !strings.Contains(got.err, path+test.says) ||
				strings.Contains(got.out, "timeline") || strings.Contains(got.out, "decisions") || strings.Contains(got.out, "valid") ||
				!strings.Contains(got.err, "podfate: note: "+path+" cannot be read and may concern every manifest, so none is answered\n") {
				t.Errorf("%v of %.100q: status %d\n%s%s", args, test.content, got.status, got.out, got.err)
			}
		}
	}
	if got := podfate(t, strings.Repeat("#", 300<<10), "validate", "-f", "-"); got.err != "stdin:1:1: no document: nothing but white space, comments and separators\n" {
		t.Errorf("%s", got.err)
	}
	if runtime.GOOS == "windows" {
		return // no link to a device
	}
	os.Remove(filepath.Join(dir, "common"))
	write("pod.yaml", pod)
	endless := filepath.Join(dir, "z.yaml")
	if err := os.Symlink("/dev/zero", endless); err != nil {
		t.Fatal(err)
	}
	if got := podfate(t, "", "validate", "-f", dir); got.status != 0 || !strings.Contains(got.err, endless+": note: skipped: it is no ordinary file") {
		t.Errorf("a device in a folder: status %d\n%s%s", got.status, got.out, got.err)
	}
}

// TestNamesOfFilesAreShownAsText: a folder from elsewhere may hold a file whose name is a command
// to a terminal.
func TestNamesOfFilesAreShownAsText(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("left out on Windows: it has no such names")
	}
	dir := t.TempDir()
	for name, content := range map[string]string{"a\x1b[2J\n.yaml": pod, "b\x1b[2J\n.yaml": "a: [", "c\x1b[2J\n.yaml": "kind: Service\napiVersion: v1\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got := podfate(t, "", "validate", "-f", dir)
	for _, name := range []string{`a\u001b[2J\u000a.yaml): Kubernetes`, `b\u001b[2J\u000a.yaml:1:`, `c\u001b[2J\u000a.yaml:1:`} {
		if !strings.Contains(got.out+got.err, name) {
			t.Errorf("%s is missing", name)
		}
	}
	if err := os.Symlink("nowhere", filepath.Join(dir, "d\x1b[2J.yaml")); err != nil {
		t.Fatal(err)
	}
	broken := podfate(t, "", "validate", "-f", dir)
	if all := got.out + got.err + broken.out + broken.err; strings.Contains(all, "\x1b") || !strings.Contains(broken.err, "leads nowhere") || broken.status != StatusFaults {
		t.Errorf("%q", all)
	}
}

// TestSignalEndsAVerb: one that waits for its input ends at a signal as any program does.
func TestSignalEndsAVerb(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("left out on Windows: a process cannot be interrupted there")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // it is killed then, and says so
	defer cancel()
	command := exec.CommandContext(ctx, binary(t), "validate", "-f", "-")
	input, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	// More than fits into a pipe: when it is written the program reads, and waits for more.
	if _, err := io.WriteString(input, strings.Repeat("#", 200<<10)); err != nil {
		t.Fatal(err)
	}
	command.Process.Signal(os.Interrupt)
	var exit *exec.ExitError
	if err := command.Wait(); !errors.As(err, &exit) || exit.String() != "signal: interrupt" {
		t.Errorf("after an interrupt: %v", err)
	}
}

// TestFullDisk: what cannot be printed is no wrong command line.
func TestFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("left out: there is no /dev/full")
	}
	defer full.Close()
	for _, args := range []string{"describe", "--version", "completion bash", "validate -f testdata/pod.yaml", "decide -f testdata/pod.yaml --exit 1 -o yaml"} {
		var errs strings.Builder
		status := Main(t.Context(), strings.Fields(args), Streams{In: strings.NewReader(""), Out: full, Err: &errs})
		if status != StatusFaults || !strings.HasPrefix(errs.String(), "podfate: cannot print the answer: ") || strings.Contains(errs.String(), "usage") {
			t.Errorf("%s: status %d, %s", args, status, errs.String())
		}
	}
}

// TestValidateOfKeysThatAreSetTwice: --validate says of YAML what it says of JSON (R-W3).
func TestValidateOfKeysThatAreSetTwice(t *testing.T) {
	const yaml = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  restartPolicy: Never\n" +
		"  restartPolicy: Always\n  containers: [{name: main, image: i}]\n"
	const json = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"restartPolicy":"Never",
  "restartPolicy":"Always","containers":[{"name":"main","image":"i"}]}}`
	for _, c := range []struct {
		mode           string
		status         int
		says, decision string
	}{
		{"strict", 1, "spec.restartPolicy", ""},
		{"warn", 0, "warning: spec.restartPolicy", "main exits 3 → Restart"},
		{"ignore", 0, "", "main exits 3 → Restart"},
	} {
		for _, text := range []string{yaml, json} {
			for _, verb := range []string{"validate", "decide --exit main=3"} {
				args := append(strings.Fields(verb), "-f", "-", "--validate="+c.mode, "--engine", "native")
				got := podfate(t, text, args...)
				if got.status != c.status || !strings.Contains(got.err, c.says) || c.says == "" && got.err != "" {
					t.Errorf("%q: status %d, want %d with %q\n%s", args, got.status, c.status, c.says, got.err)
				}
				if verb != "validate" && !strings.Contains(got.out, c.decision) {
					t.Errorf("%q: %s, want %s", args, got.out, c.decision)
				}
			}
		}
	}
}
