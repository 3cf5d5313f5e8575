package cli

import (
	"strings"
	"testing"
)

// TestScenarioInHelp: the file that help prints answers decide and simulate, and help prints it as
// it is.
func TestScenarioInHelp(t *testing.T) {
	help := podfate(t, "", "help", "scenario")
	if help.status != 0 || !strings.Contains(help.out, scenarioExample) {
		t.Errorf("status %d, without the example as it is written:\n%s%s", help.status, help.out, help.err)
	}
	scenario := write(t, t.TempDir(), "scenario.yaml", scenarioExample)
	for verb, says := range map[string]string{
		"decide":   "main exits 42 → Restart",
		"simulate": "Pod Failed after 40s",
	} {
		got := podfate(t, "", verb, "-f", "testdata/pod.yaml", "-f", scenario)
		if got.status != 0 || !strings.Contains(got.out, says) || !strings.Contains(got.out, "Kubernetes 1.36") {
			t.Errorf("%s: status %d, want %q and the Scenario's release\n%s%s", verb, got.status, says, got.out, got.err)
		}
	}
}

// TestScenarioWithoutItsHead: a file of runs that is not marked as a Scenario is a question of its
// own, and the answer says how to make it count for the manifest next to it.
func TestScenarioWithoutItsHead(t *testing.T) {
	runs := write(t, t.TempDir(), "runs.yaml", "runs:\n  main:\n  - {for: 10s, exitCode: 1}\n")
	const hint = "begins with apiVersion: podfate.dev/v1 and kind: Scenario"
	if got := podfate(t, "", "simulate", "-f", "testdata/pod.yaml", "-f", runs); got.status != 1 || !strings.Contains(got.err, runs+":1:1: manifest: ") || !strings.Contains(got.err, hint) {
		t.Errorf("status %d\n%s", got.status, got.err)
	}
	empty := write(t, t.TempDir(), "empty.yaml", "{}\n")
	if got := podfate(t, "", "simulate", "-f", empty, "--run", "main: 1@10s"); got.status != 1 || strings.Contains(got.err, hint) {
		t.Errorf("status %d\n%s", got.status, got.err)
	}
}
