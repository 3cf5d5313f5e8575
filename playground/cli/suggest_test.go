package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/podfate/podfate/schema/document"
)

// TestOfferedCommands: the command that a document offers is one: called as it is, it answers
// about the same file in the same world.
func TestOfferedCommands(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "it's a job.yaml")
	if err := os.WriteFile(file, []byte(read(t, "testdata/job.yaml")), 0o600); err != nil {
		t.Fatal(err)
	}
	world := []string{"--kubernetes-version", "1.36", "--feature-gates", "RestartAllContainersOnContainerExits=false", "--validate=warn"}
	offered := map[string]bool{}
	for _, args := range [][]string{
		append([]string{"decide", "-f", file, "--exit", "main=42"}, world...),
		append([]string{"table", "-f", file}, world...),
		append([]string{"decide", "-f", "testdata/pod.yaml", "--exit", "main=1"}, world...),
	} {
		for _, line := range strings.Split(podfate(t, "", args...).out, "\n") {
			command, found := strings.CutPrefix(strings.TrimSpace(line), "podfate suggest ")
			if !found {
				continue
			}
			offered[command] = true
			if !strings.Contains(command, "--kubernetes-version 1.36 ") || !strings.Contains(command, "--validate=Warn") && !strings.Contains(command, "--validate=warn") {
				t.Errorf("another world: %s", command)
			}
			// A shell would split it like this: one word in quotes, others without.
			var words []string
			for i, part := range strings.Split(strings.ReplaceAll(command, `'\''`, "\x00"), "'") {
				if i%2 == 1 {
					words = append(words, strings.ReplaceAll(part, "\x00", "'"))
				} else {
					words = append(words, strings.Fields(part)...)
				}
			}
			got := podfate(t, "", append([]string{"suggest"}, words...)...)
			if got.status != 0 || !strings.Contains(got.out, "Kubernetes 1.36") {
				t.Errorf("podfate suggest %s: %d %s%s", command, got.status, got.out, got.err)
			}
		}
	}
	if len(offered) < 3 {
		t.Errorf("offered: %v", offered)
	}
	for _, ask := range []document.Ask{{Of: "table"}, {Of: "suggest", Request: []byte(`{}`)}, {Of: "suggest", Request: []byte(`{"flip":[]}`)}} {
		if line := (&options{program: "podfate"}).suggests(&ask); line != "" {
			t.Errorf("%s %s: %s", ask.Of, ask.Request, line)
		}
	}
}

// TestScenarioShowsWhatItAsksFor: rows, which the text form asks for, do not take the place of what
// a Scenario asks for.
func TestScenarioShowsWhatItAsksFor(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "waste.yaml")
	scenario := "apiVersion: podfate.dev/v1\nkind: Scenario\nshow: [waste]\nuntil: 10m\nruns: {main: [{for: 10s, exitCode: 1}]}\n"
	if err := os.WriteFile(file, []byte(scenario), 0o600); err != nil {
		t.Fatal(err)
	}
	got := podfate(t, "", "simulate", "-f", "testdata/pod.yaml", "-f", file)
	flag := podfate(t, "", "simulate", "-f", "testdata/pod.yaml", "--until", "10m", "--run", "main=1@10s", "--waste")
	both := podfate(t, "", "simulate", "-f", "testdata/pod.yaml", "-f", file, "--waste")
	if got.status != 0 || !strings.Contains(got.out, "kubectl get pods") || got.out != both.out {
		t.Errorf("%d %s%s\n%s%s", got.status, got.out, got.err, both.out, both.err)
	}
	const cost = "In total, Pods ran for 10s"
	if !strings.Contains(flag.out, cost) || !strings.Contains(got.out, cost) {
		t.Errorf("no waste:\n%s\n%s", got.out, flag.out)
	}
}
