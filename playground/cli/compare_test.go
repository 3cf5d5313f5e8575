package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// runIn runs the command in this process with standard input.
func runIn(t *testing.T, in string, args ...string) (status int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	status = Main(context.Background(), args, Streams{In: strings.NewReader(in), Out: &o, Err: &e})
	return status, o.String(), e.String()
}

// write writes a file into a folder of its own and returns its name.
func write(t *testing.T, folder, name, text string) string {
	t.Helper()
	name = filepath.Join(folder, name)
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

const (
	plainPod = `apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  restartPolicy: Never
  containers:
  - name: main
    image: busybox
`
	rulePod = plainPod + `    restartPolicy: Never
    restartPolicyRules:
    - {action: Restart, exitCodes: {operator: In, values: [42]}}
`
	labelledPod = `apiVersion: v1
kind: Pod
metadata: {name: p, labels: {a: b}}
spec:
  restartPolicy: Never
  containers:
  - {name: main, image: other}
`
	deployment = `---
apiVersion: apps/v1
kind: Deployment
metadata: {name: d}
spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: main, image: busybox}]}}}
`
)

// The exit status is that of diff, and the answer says what differs.
func TestCompareStatus(t *testing.T) {
	folder := t.TempDir()
	old, labelled, changed := write(t, folder, "old.yaml", plainPod), write(t, folder, "labelled.yaml", labelledPod), write(t, folder, "new.yaml", rulePod)
	two := write(t, folder, "two.yaml", plainPod+deployment)
	invalid, broken := write(t, folder, "invalid.yaml", strings.Replace(plainPod, "Never", "Nevr", 1)), write(t, folder, "broken.yaml", "a: [")
	renamed := write(t, folder, "renamed.yaml", strings.Replace(plainPod, "name: p}", "name: q}", 1))
	kubelet := write(t, folder, "kubelet.yaml", rulePod+"---\napiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nfeatureGates: {ContainerRestartRules: false, RestartAllContainersOnContainerExits: false}\n")
	scenario := write(t, folder, "scenario.yaml", "apiVersion: podfate.dev/v1\nkind: Scenario\nof: decide\nexits: [{exitCode: 42}]\nvariants:\n- {name: here}\n- {name: old node, patch: {cluster: {kubelet: {version: \"1.34\"}}}}\n")
	faulty := write(t, folder, "faulty.yaml", "apiVersion: podfate.dev/v1\nkind: Scenario\nof: decide\nexits: [{exitCode: 42}]\nvariants:\n- {name: here, patsh: {}}\n- {name: here}\n")
	for _, c := range []struct {
		name   string
		in     string
		args   []string
		status int
		said   string // in either output
	}{
		{"the same file", "", []string{old, old}, 0, "Equivalent"},
		{"labels and images", "", []string{old, labelled}, 0, "Equivalent"},
		{"another name", "", []string{old, renamed}, 0, "Equivalent"},
		{"a rule", "", []string{old, changed}, 1, "Only exit 42 differs"},
		{"three files", "", []string{old, labelled, changed}, 1, "1 of 2 variants differ"},
		{"standard input", plainPod, []string{"-", changed}, 1, "stdin"},
		{"refused", "", []string{old, invalid}, 1, "is refused"},
		{"only in one", "", []string{old, two}, 1, "Deployment d is only in"},
		{"another kubelet", "", []string{changed, kubelet}, 1, "Only exit 42 differs"},
		{"releases, the same", "", []string{"-f", two, "--from", "1.34", "--to", "1.36"}, 0, "Equivalent"},
		{"releases, refused", "", []string{"-f", changed, "--from", "1.33", "--to", "1.36"}, 1, "1.33 is refused"},
		{"releases, a gate that is off", "", []string{"-f", changed, "--from", "1.34", "--to", "1.36"}, 1, "Only exit 42 differs"},
		{"a gate", "", []string{"-f", changed, "--variant", "off={cluster: {featureGates: {ContainerRestartRules: false, RestartAllContainersOnContainerExits: false}}}"}, 1, "Only exit 42"},
		{"a node", "", []string{"-f", changed, "--kubernetes-version", "1.36", "--variant", `old={"cluster":{"kubelet":{"version":"1.34"}}}`}, 1, "Only exit 42"},
		{"an exit", "", []string{old, changed, "--exit", "1"}, 1, "42"},
		{"runs", "", []string{old, changed, "--run", "main=20s:42x2", "--run", "main=40s:0"}, 1, "Succeeded since 1m30s"},
		{"a folder", "", []string{"-f", folder, "--from", "1.33", "--to", "1.37"}, 2, "broken.yaml"},
		{"a scenario", "", []string{"-f", changed, "-f", scenario}, 1, "Only exit 42"},
		{"faults of a scenario", "", []string{"-f", changed, "-f", faulty}, 2, "patsh"},
		{"one file", "", []string{old}, 2, "nothing to be compared with"},
		{"nothing", "", nil, 2, "nothing to compare"},
		{"a file that is not there", "", []string{old, old + ".not"}, 2, "no such file"},
		{"two that are not there", "", []string{old + ".no", old + ".not"}, 2, ".not: no such file"},
		{"a file that cannot be read", "", []string{old, broken}, 2, "broken.yaml"},
		{"an unknown release", "", []string{"-f", old, "--to", "1.99"}, 2, "must be one of"},
		{"files and releases", "", []string{old, old, "--to", "1.36"}, 2, "either files"},
		{"a patch that is none", "", []string{"-f", old, "--variant", "a=[]"}, 2, "not an object"},
		{"two of a name", "", []string{"-f", old, "--variant", "a={}", "--variant", "a={}"}, 2, "two variants"},
		{"standard input twice", plainPod, []string{"-", "-"}, 2, "standard input"},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, out, errs := runIn(t, c.in, append([]string{"compare"}, c.args...)...)
			if status != c.status || !strings.Contains(out+errs, c.said) {
				t.Errorf("status %d, want %d, and %q\n%s%s", status, c.status, c.said, out, errs)
			}
			if c.status == 2 || len(c.args) == 0 {
				return
			}
			for _, form := range []string{"json", "jsonl", "yaml"} { // the same status in every form
				if status, out, errs := runIn(t, c.in, append([]string{"compare", "-o", form}, c.args...)...); status != c.status || out == "" {
					t.Errorf("%s: status %d, want %d: %s%s", form, status, c.status, out, errs)
				}
			}
		})
	}
}

// What a shell puts in place of <(git show HEAD:pod.yaml) is there to be read once.
func TestComparePipe(t *testing.T) {
	from, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	name := fmt.Sprintf("/dev/fd/%d", from.Fd())
	if _, err := os.Stat(name); err != nil {
		t.Skip("left out: this system has no /dev/fd")
	}
	if _, err := to.WriteString(plainPod); err != nil {
		t.Fatal(err)
	}
	to.Close()
	changed := write(t, t.TempDir(), "new.yaml", rulePod)
	if status, out, errs := runIn(t, "", "compare", name, changed); status != 1 || !strings.Contains(out, "Only exit 42 differs") {
		t.Errorf("status %d\n%s%s", status, out, errs)
	}
}

// Places of faults are those of the file that they are in.
func TestComparePlaces(t *testing.T) {
	folder := t.TempDir()
	old, bad := write(t, folder, "old.yaml", plainPod), write(t, folder, "bad.yaml", "# a line\n"+strings.Replace(plainPod, "Never", "Nevr", 1))
	_, out, _ := runIn(t, "", "compare", "-o", "json", old, bad)
	var answer struct {
		Variants []struct {
			Refused bool
			Answer  struct {
				Error struct {
					Faults []struct{ Line, Column int }
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &answer); err != nil {
		t.Fatal(err, out)
	}
	if f := answer.Variants[1].Answer.Error.Faults; len(f) != 1 || f[0].Line != 6 {
		t.Errorf("%+v\n%s", f, out)
	}
}

// Of two folders those manifests of one name are compared that are in files of one name, whatever
// else is there; and what cannot be read is named, and ends nothing.
func TestCompareFolders(t *testing.T) {
	base := t.TempDir()
	for _, name := range []string{"old", "old/x", "old/y", "new", "new/y", "new/z"} {
		if err := os.Mkdir(filepath.Join(base, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	other := strings.Replace(plainPod, "Never", "Always", 1)
	write(t, base, "old/x/pod.yaml", plainPod)
	write(t, base, "old/y/pod.yaml", plainPod+"---\n"+other)
	write(t, base, "old/one.yaml", strings.Replace(plainPod, "name: p", "name: one", 1))
	write(t, base, "new/y/pod.yaml", plainPod+"---\n"+plainPod)
	write(t, base, "new/z/moved.yaml", strings.Replace(plainPod, "name: p", "name: one", 1))
	status, out, errs := runIn(t, "", "compare", filepath.Join(base, "old"), filepath.Join(base, "new"))
	if n := strings.Count(out, "Equivalent"); n != 2 || strings.Count(out, "Exit codes differ") != 1 || strings.Count(errs, "is only in") != 1 || status != 1 {
		t.Errorf("status %d\n%s\n%s", status, out, errs)
	}
	write(t, base, "new/broken.yaml", "a: [")
	status, out, errs = runIn(t, "", "compare", filepath.Join(base, "old"), filepath.Join(base, "new"))
	if n := strings.Count(out, "Equivalent"); n != 2 || strings.Count(out, "Exit codes differ") != 1 || strings.Contains(errs, "is only in") || !strings.Contains(errs, "broken.yaml:1:4") || status != 2 {
		t.Errorf("with a broken file: status %d\n%s\n%s", status, out, errs)
	}
	// Several of one name in one stream are told apart by their order.
	status, out, errs = runIn(t, plainPod+"---\n"+other, "compare", "-", filepath.Join(base, "new/y/pod.yaml"))
	if strings.Count(out, "Equivalent") != 1 || strings.Count(out, "Exit codes differ") != 1 || status != 1 {
		t.Errorf("from standard input: status %d\n%s\n%s", status, out, errs)
	}
}
