package cli

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/podfate/podfate/policy/policytest"
	"github.com/podfate/podfate/schema"
)

// The examples of the repository pass.
func TestTheExamplesPass(t *testing.T) {
	files, err := filepath.Glob("../../examples/*.test.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	for _, form := range testOutputs {
		if status, out, errs := runIn(t, "", append([]string{"test", "-o", form}, files...)...); status != 0 || errs != "" {
			t.Errorf("%s: status %d: %s%s", form, status, out, errs)
		}
	}
}

// The scenarios of the corpus, as files of tests: what their reviewed words say of the end, and of
// each exit, is expected; and with another expectation each of them fails.
func TestTheCorpusPasses(t *testing.T) {
	cases, err := policytest.Cases()
	if err != nil {
		t.Fatal(err)
	}
	end := regexp.MustCompile(`(?m)^\S+: (Pending|Running|Failed|Succeeded)$`)
	exit := regexp.MustCompile(`(?m)^\S+ exits \S+(?: \S+)?: (\S+?)(?: and the Pod fails)?,`)
	right, wrong := t.TempDir(), t.TempDir()
	n := 0
	for _, c := range cases {
		request := map[string]json.RawMessage{}
		if json.Unmarshal(c.Request, &request) != nil || request["expect"] != nil || request["name"] != nil || request["question"] != nil {
			continue
		}
		var expect, other any
		switch c.Operation.Name {
		case "simulate":
			m := end.FindStringSubmatch(c.Want)
			if m == nil {
				continue
			}
			expect, other = map[string]any{"phase": m[1]}, map[string]any{"phase": "Gone"}
		case "decide":
			var list []any
			for _, m := range exit.FindAllStringSubmatch(c.Want, -1) {
				if m[1] != "undecided" {
					list = append(list, map[string]any{"action": m[1]})
				}
			}
			var asked []any
			if json.Unmarshal(request["exits"], &asked) != nil || len(list) == 0 || len(list) != len(asked) {
				continue // undecided, or words that say more than the action
			}
			expect, other = map[string]any{"exits": list}, map[string]any{"exits": append(list, list[0])}
		case "validate":
			valid := strings.Contains("\n"+c.Want, "\nvalid\n")
			if strings.Contains(c.Want, "error ") {
				continue
			}
			expect, other = map[string]any{"valid": valid}, map[string]any{"valid": !valid}
		default:
			continue
		}
		for folder, e := range map[string]any{right: expect, wrong: other} {
			delete(request, "kind")
			delete(request, "apiVersion")
			request["name"], request["of"] = encode(c.Name), encode(c.Operation.Name)
			request["expect"] = encode(e)
			write(t, folder, fmt.Sprintf("%03d.yaml", n), string(encode(request)))
		}
		n++
	}
	if n < 300 {
		t.Errorf("only %d scenarios", n)
	}
	status, out, errs := runIn(t, "", "test", right)
	if status != 0 {
		for line := range strings.Lines(out) {
			if !strings.HasPrefix(line, "ok ") {
				t.Log(line)
			}
		}
		t.Errorf("status %d: %s", status, errs)
	}
	status, out, _ = runIn(t, "", "test", wrong)
	if status != 1 || strings.Contains(out, "ok  ") {
		t.Errorf("status %d: %s", status, out)
	}
}

// A test that fails says what was expected and what is there; a file that is none of tests says
// where and why.
func TestTestFiles(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "pod.yaml", rulePod)
	for _, c := range []struct {
		name, text string
		status     int
		said       []string
	}{
		{"phase and restarts", "file: pod.yaml\nruns: {main: [{for: 10s, exitCode: 42, times: 4}, {for: 5s, exitCode: 1}]}\nexpect: {phase: Succeeded, restarts: 3, at: 2m, ran: {main: 1s}}",
			1, []string{"- phase: Succeeded", "+ phase: Failed", "- restarts: 3", "+ restarts: 4", "- at: 2m", "+ at: 1m55s", "+ ran.main: 45s", "test 1", ":1)"}},
		{"codes", "file: pod.yaml\nexpect: {codes: {main: {40-43: Stop, 300: Stop}}}", 1, []string{"+ codes.main.40-43: Stop for 40-41, Restart for 42, Stop for 43", "no range of exit codes"}},
		{"no such container", "file: pod.yaml\nexpect: {codes: {app: {1: Stop}}}", 1, []string{"+ codes.app: nothing"}},
		{"in short", "file: pod.yaml\nquestion: 'main: 42@10s x4, 1@5s, expect Running at 1m, expect Succeeded'\nexpect: {restarts: 4}", 1, []string{"- phase: Succeeded"}},
		{"shared manifest", rulePod + "---\nexits: [{exitCode: 42}]\nexpect: {action: Stop}", 1, []string{"+ action: Restart"}},
		{"a part of the answer", "file: pod.yaml\nexits: [{exitCode: 42}]\nexpect: {answer: {cluster: {version: '1.2'}}}", 1, []string{"- answer.cluster.version: 1.2"}},
		{"an error is an answer", "file: pod.yaml\nexits: [{container: x, exitCode: 42}]\nexpect: {action: Stop}", 1, []string{"+ action: nothing"}},
		{"an error that is expected", "file: pod.yaml\nexits: [{container: x, exitCode: 42}]\nexpect: {error: EVENT_INVALID}", 0, []string{"ok "}},
		{"unknown expectation", "name: x\nfile: pod.yaml\nexits: [{exitCode: 1}]\nexpect: {phase: Failed, fase: Failed}\nof: decide", 2, []string{"expect.fase in line 4", "can be expected: action"}},
		{"exits beside codes", "file: pod.yaml\nexits: [{exitCode: 1}]\nexpect: {codes: {main: {1: Stop}}}", 2, []string{"exits in line 2: table does not take it, and by expect.codes this is a test of table"}},
		{"exits beside a phase", "file: pod.yaml\nexits: [{exitCode: 1}]\nexpect: {phase: Failed}", 2, []string{"exits in line 2: simulate does not take it, and by expect.phase"}},
		{"exits beside runs", "file: pod.yaml\nexits: [{exitCode: 1}]\nruns: {main: [{for: 1s, exitCode: 1}]}\nexpect: {restarts: 0}", 2, []string{"exits in line 2: simulate does not take it, and by its other members"}},
		{"codes, and exits of table that are asked for", "file: pod.yaml\nof: table\nexits: [{exitCode: 1}]\nexpect: {error: EVENT_INVALID}", 0, []string{"ok "}},
		{"nothing expected", "file: pod.yaml\nexpect: {}", 2, []string{"nothing is expected"}},
		{"a file that is missing does not hide what else is wrong", "name: 3\nkind: Tset\nfile: nowhere.yaml\nexpect: {phase: Failed, foo: 1, bar: 2}", 2,
			[]string{"name in line 1", `kind "Tset"`, "nowhere.yaml: no such file", "expect.foo in line 4", "expect.bar in line 4"}},
		{"nor that nothing is expected", "file: nowhere.yaml\nexpect: null", 2, []string{"nowhere.yaml: no such file", "nothing is expected"}},
		{"no file", "file: not.yaml\nexpect: {valid: true}", 2, []string{"not.yaml"}},
		{"no operation", "file: pod.yaml\nof: guess\nexpect: {valid: true}", 2, []string{`"guess"`}},
		{"no test", plainPod, 2, []string{"no test"}},
		{"no object", "- 1", 2, []string{"a document is an object"}},
		{"no YAML", "a: [", 2, []string{"x.yaml:"}},
		{"another kind", "kind: Pod\nexpect: {valid: true}", 2, []string{"a test needs no kind"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, out, errs := runIn(t, "", "test", write(t, folder, "x.yaml", c.text))
			for _, said := range c.said {
				if !strings.Contains(out+errs, said) {
					t.Errorf("%q is not said", said)
				}
			}
			if status != c.status || t.Failed() {
				t.Errorf("status %d, want %d\n%s%s", status, c.status, out, errs)
			}
		})
	}
}

// The schema of tests has every expectation that can be had.
func TestTheSchemaKnowsWhatCanBeExpected(t *testing.T) {
	text, err := fs.ReadFile(schema.FS(), "test"+schema.Suffix)
	if err != nil {
		t.Fatal(err)
	}
	var s struct {
		Properties struct {
			Expect struct{ Properties map[string]any }
		}
	}
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for of, names := range expected {
		for _, name := range names {
			if known[name] = true; s.Properties.Expect.Properties[name] == nil {
				t.Errorf("%s of %s is not in the schema", name, of)
			}
		}
	}
	for name := range s.Properties.Expect.Properties {
		if !known[name] {
			t.Errorf("nothing has %s", name)
		}
	}
}
