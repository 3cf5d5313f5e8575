package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/podfate/podfate/policy/policytest"
	"go.yaml.in/yaml/v3"
)

// called links the program under another name, and returns its folder.
func called(t *testing.T, names ...string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("left out on Windows: links need rights there, and the shells are others")
	}
	path, folder := binary(t), t.TempDir()
	for _, name := range append(names, "podfate") {
		if err := os.Symlink(path, filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// As kubectl's plugin the program says in every usage text how it is called.
func TestAsPluginOfKubectl(t *testing.T) {
	folder := called(t, "kubectl-podfate", "kubectl_complete-podfate")
	plugin := filepath.Join(folder, "kubectl-podfate")
	out, err := exec.Command(plugin, "validate", "-f", "testdata/pod.yaml").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "accepts this manifest") {
		t.Errorf("%v: %s", err, out)
	}
	own := regexp.MustCompile(`(?m)(^|[^-.l/] )podfate (validate|decide|simulate|compare|test|-|$)`)
	for _, args := range [][]string{{"--help"}, {"validate", "--help"}, {"decide", "--help"}, {"simulate", "--help"}, {"compare", "--help"}, {"test", "--help"}, {"decide", "--nothing"}} {
		out, _ := exec.Command(plugin, args...).CombinedOutput()
		if text := string(out); !strings.Contains(text, "kubectl podfate") || own.MatchString(text) {
			t.Errorf("%v: %q\n%s", args, own.FindString(text), text)
		}
	}
	for _, c := range []struct{ args, want string }{
		{"comp", "compare"}, {"validate --kubernetes-version 1.3", "1.36"}, {"compare --o", "--output"}, {"validate -o s", "sarif"}, {"test --output j", "junit"},
	} {
		out, err := exec.Command(filepath.Join(folder, "kubectl_complete-podfate"), strings.Fields(c.args)...).Output()
		if lines := strings.Split(string(out), "\n"); err != nil || !slices.ContainsFunc(lines, func(l string) bool { return l == c.want || strings.HasPrefix(l, c.want+"\t") }) {
			t.Errorf("%s: %v %q", c.args, err, lines)
		}
	}
}

// The completions for bash and fish work in real ones, zsh loads its own, if they are there.
func TestCompletionInShells(t *testing.T) {
	folder := called(t)
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		script, err := exec.Command(filepath.Join(folder, "podfate"), "completion", shell).Output()
		if err != nil || !strings.Contains(string(script), "podfate") {
			t.Errorf("%s: %v", shell, err)
		}
		file := filepath.Join(folder, "completion."+shell)
		if err := os.WriteFile(file, script, 0o600); err != nil {
			t.Fatal(err)
		}
		path, err := exec.LookPath(shell)
		if err != nil {
			t.Logf("left out: there is no %s", shell)
			continue
		}
		if shell == "zsh" || shell == "fish" || shell == "bash" {
			if out, err := exec.Command(path, "-n", file).CombinedOutput(); err != nil {
				t.Errorf("%s: %v: %s", shell, err, out)
			}
		}
		env := append(os.Environ(), "PATH="+folder+":"+os.Getenv("PATH"), "HOME="+folder)
		if shell == "zsh" {
			command := exec.Command(path, "-fc", "autoload -U compinit && compinit -D -u && source $1 && whence -w _podfate", "zsh", file)
			command.Env = env
			if out, err := command.CombinedOutput(); err != nil || !strings.Contains(string(out), "_podfate: function") {
				t.Errorf("zsh: %v %s", err, out)
			}
		}
		if shell == "fish" {
			for line, want := range map[string]string{"podfate comp": "compare", "podfate compare --from 1.3": "1.34", "podfate validate -o ju": "junit"} {
				command := exec.Command(path, "-c", "source $argv[1]; complete -C $argv[2]", file, line)
				command.Env = env
				out, err := command.CombinedOutput()
				if lines := strings.Fields(string(out)); err != nil || !slices.Contains(lines, want) {
					t.Errorf("fish, %s: %v %s", line, err, out)
				}
			}
		}
		if shell != "bash" {
			continue
		}
		// bash-completion, which need not be there, is where the words of the line come from.
		const ask = `_get_comp_words_by_ref() { words=("${COMP_WORDS[@]}"); cword=$COMP_CWORD; cur=${COMP_WORDS[COMP_CWORD]}; prev=${COMP_WORDS[COMP_CWORD-1]}; }
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}; COMP_TYPE=9
__start_podfate; printf '%s\n' "${COMPREPLY[@]}"`
		for _, c := range []struct{ line, want string }{
			{"podfate comp", "compare"}, {"podfate validate --kub", "--kubernetes-version"}, {"podfate compare --from 1.3", "1.34"}, {"podfate validate -o ju", "junit"}, {"podfate compare --of si", "simulate"},
		} {
			command := exec.Command(path, append([]string{"-c", ask, "bash", file}, strings.Fields(c.line)...)...)
			command.Env = env
			out, err := command.CombinedOutput()
			if lines := strings.Fields(string(out)); err != nil || !slices.Contains(lines, c.want) {
				t.Errorf("%s: %v %q", c.line, err, lines)
			}
		}
	}
}

// project is a folder with manifests and tests, as a repository has them.
func project(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	for _, name := range []string{"manifests", "tests", "temp"} {
		if err := os.Mkdir(filepath.Join(folder, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write(t, folder, "manifests/pod.yaml", rulePod)
	write(t, folder, "manifests/service.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: s}\nspec: {ports: [{port: 80}]}\n")
	write(t, folder, "tests/pod.test.yaml", "file: ../manifests/pod.yaml\nexits: [{exitCode: 42}]\nexpect: {action: Restart}\n")
	return folder
}

// The hooks of pre-commit are entries that can be run with the names of files after them.
func TestPreCommitHooks(t *testing.T) {
	folder, work := called(t), project(t)
	text, err := os.ReadFile("../../.pre-commit-hooks.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var hooks []struct{ ID, Name, Entry, Language, Files string }
	if err := yaml.Unmarshal(text, &hooks); err != nil || len(hooks) != 2 {
		t.Fatal(err, hooks)
	}
	bad := write(t, work, "manifests/bad.yaml", strings.Replace(plainPod, "Never", "Nevr", 1))
	failing := write(t, work, "tests/failing.test.yaml", "file: ../manifests/pod.yaml\nexits: [{exitCode: 1}]\nexpect: {action: Restart}\n")
	for _, h := range hooks {
		run := func(files ...string) int {
			words := strings.Fields(h.Entry)
			command := policytest.Command(filepath.Join(folder, words[0]), append(words[1:], files...)...)
			command.Dir = work
			out, err := command.CombinedOutput()
			if err != nil && command.ProcessState == nil {
				t.Fatal(err, string(out))
			}
			return command.ProcessState.ExitCode()
		}
		good, wrong := []string{"manifests/pod.yaml", "manifests/service.yaml"}, bad
		if h.ID == "podfate-test" {
			good, wrong = []string{"tests/pod.test.yaml"}, failing
		}
		if h.Language != "golang" || h.Name == "" {
			t.Errorf("%+v", h)
		}
		if status := run(good...); status != 0 {
			t.Errorf("%s: status %d", h.ID, status)
		}
		if status := run(good[len(good)-1:]...); status != 0 {
			t.Errorf("%s alone: status %d", h.ID, status)
		}
		if status := run(append(good, wrong)...); status != 1 {
			t.Errorf("%s with what is wrong: status %d", h.ID, status)
		}
	}
}

// The steps of the example workflow run in bash, in a repository with a base and a change.
func TestTheExampleWorkflow(t *testing.T) {
	folder, work := called(t), project(t)
	for _, tool := range []string{"bash", "git"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("left out: there is no %s", tool)
		}
	}
	text, err := os.ReadFile("../../examples/github-workflow.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var workflow struct {
		Jobs map[string]struct {
			Steps []struct{ Name, Run, Uses string }
		}
	}
	if err := yaml.Unmarshal(text, &workflow); err != nil {
		t.Fatal(err)
	}
	bash := func(script string) (status int, out string) {
		command := exec.Command("bash", "-eo", "pipefail", "-c", script)
		command.Dir = work
		command.Env = append(os.Environ(), "PATH="+folder+":"+os.Getenv("PATH"), "RUNNER_TEMP="+filepath.Join(work, "temp"), "GITHUB_BASE_REF=main",
			"GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
		text, _ := command.CombinedOutput()
		return command.ProcessState.ExitCode(), string(text)
	}
	if status, out := bash("git init -q -b main . && git add -A && git commit -qm base && git update-ref refs/remotes/origin/main HEAD"); status != 0 {
		t.Fatal(out)
	}
	write(t, work, "manifests/pod.yaml", strings.Replace(rulePod, "[42]", "[42, 43]", 1))
	want := map[string]struct {
		status int
		said   string
	}{
		"Would Kubernetes accept them?":                     {0, "Service"},
		"Do they still do what they shall?":                 {0, ""},
		"What does this change do?":                         {1, "Only exit 43 differs"},
		"What will the next upgrade of the cluster change?": {0, ""},
		"For the security tab":                              {0, ""},
	}
	seen := 0
	for _, step := range workflow.Jobs["podfate"].Steps {
		if step.Run == "" || strings.HasPrefix(step.Run, "go install") {
			continue
		}
		status, out := bash(step.Run)
		if w, known := want[step.Name]; !known || status != w.status || !strings.Contains(out, w.said) {
			t.Errorf("%s: status %d, want %d: %s", step.Name, status, w.status, out)
		}
		seen++
	}
	if seen != len(want) {
		t.Errorf("%d of %d steps were run", seen, len(want))
	}
	sarif, err := os.ReadFile(filepath.Join(work, "podfate.sarif"))
	if err != nil {
		t.Fatal(err)
	}
	sarifResults(t, string(sarif))
}
