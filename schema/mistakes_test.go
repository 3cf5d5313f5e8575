package schema_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/podfate/podfate/policy/ops"
	"github.com/podfate/podfate/schema"
)

// mistake is a text with one mistake. The mark ⟦ is before the place that the fault names: in a
// manifest the name of the field if it has one, elsewhere the value.
type mistake struct {
	text    string
	path    string
	code    string
	allowed []string // among those that the fault lists; nil: it lists none
}

const (
	head    = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n"
	plain   = head + "  containers:\n  - {name: main, image: i}\n"
	asking  = plain + "---\napiVersion: podfate.dev/v1\nkind: Scenario\n"
	rules   = head + "  containers:\n  - name: main\n    image: i\n    restartPolicy: Never\n    restartPolicyRules:\n"
	gates   = asking + "cluster:\n  featureGates:\n"
	kubelet = asking + "cluster:\n  kubeletConfiguration:\n"
	running = asking + "runs:\n"
	eventOf = asking + "events:\n"
	timed   = asking + "timing:\n"
	live    = plain + "status:\n  phase: Running\n  startTime: \"2026-11-21T09:00:00Z\"\n"
)

// podMistakes are for validate, the others for simulate.
var podMistakes = []mistake{
	{"⟦apiVersion: v2\nkind: Pod\n", "apiVersion", "unknown_kind", []string{"v1"}},
	{"apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n⟦restartPolicy: Never\nspec: {containers: [{name: main, image: i}]}\n", "restartPolicy", "unknown_field", []string{"metadata", "spec"}},
	{"apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n⟦spec: []\n", "spec", "wrong_type", nil},
	{head + "  ⟦restartPolicy: Sometimes\n  containers: [{name: main, image: i}]\n", "spec.restartPolicy", "unsupported_value", []string{"Always", "OnFailure", "Never"}},
	{head + "  ⟦restartPolicy: 5\n  containers: [{name: main, image: i}]\n", "spec.restartPolicy", "wrong_type", nil},
	{head + "  ⟦containrs: []\n  containers: [{name: main, image: i}]\n", "spec.containrs", "unknown_field", []string{"containers"}},
	{head + "  ⟦activeDeadlineSeconds: 0\n  containers: [{name: main, image: i}]\n", "spec.activeDeadlineSeconds", "invalid_value", nil},
	{head + "  ⟦terminationGracePeriodSeconds: 10s\n  containers: [{name: main, image: i}]\n", "spec.terminationGracePeriodSeconds", "wrong_type", nil},
	{head + "  ⟦ephemeralContainers: [{name: debug, image: i}]\n  containers: [{name: main, image: i}]\n", "spec.ephemeralContainers", "forbidden", nil},
	{head + "  containers:\n  - name: main\n    image: i\n    ⟦restartPolicy: sometimes\n", "spec.containers[0].restartPolicy", "unsupported_value", []string{"Always", "Never", "OnFailure"}},
	{head + "  containers:\n  - ⟦name: main\n    image: i\n    restartPolicyRules:\n    - {action: Restart, exitCodes: {operator: In, values: [1]}}\n", "spec.containers[0].restartPolicy", "required", nil},
	{head + "  containers:\n  - name: main\n    image: i\n    ⟦restartPolicyRules: {}\n", "spec.containers[0].restartPolicyRules", "wrong_type", nil},
	{rules + "    - ⟦action: Explode\n      exitCodes: {operator: In, values: [1]}\n", "spec.containers[0].restartPolicyRules[0].action", "unsupported_value", []string{"Restart", "RestartAllContainers"}},
	{rules + "    - ⟦action: Restart\n", "spec.containers[0].restartPolicyRules[0].exitCodes", "required", nil},
	{rules + "    - action: Restart\n      ⟦when: {}\n      exitCodes: {operator: In, values: [1]}\n", "spec.containers[0].restartPolicyRules[0].when", "unknown_field", []string{"exitCodes"}},
	{rules + "    - action: Restart\n      exitCodes: {⟦operator: Equals, values: [1]}\n", "spec.containers[0].restartPolicyRules[0].exitCodes.operator", "unsupported_value", []string{"In", "NotIn"}},
	{rules + "    - action: Restart\n      exitCodes: {operator: In, values: [1, ⟦\"42\"]}\n", "spec.containers[0].restartPolicyRules[0].exitCodes.values[1]", "wrong_type", nil},
	{rules + "    - action: Restart\n      exitCodes: {operator: In, values: [⟦3000000000]}\n", "spec.containers[0].restartPolicyRules[0].exitCodes.values[0]", "out_of_range", nil},
	{head + "  initContainers:\n  - name: setup\n    image: i\n    ⟦lifecycle: {}\n  containers: [{name: main, image: i}]\n", "spec.initContainers[0].lifecycle", "forbidden", nil},
	{head + "  restartPolicy: Never\n  containers:\n  - name: main\n    image: i\n    ⟦resizePolicy: [{resourceName: cpu, restartPolicy: RestartContainer}]\n", "spec.containers[0].resizePolicy", "invalid_value", nil},
	{live + "  containerStatuses:\n  - {name: main, image: i, imageID: x, ready: true, ⟦restartCount: many}\n", "status.containerStatuses[0].restartCount", "wrong_type", nil},
	{plain + "---\nkind: Scenario\n⟦fieldValidaton: Warn\n", "fieldValidaton", "unknown_field", []string{"fieldValidation"}},
	{plain + "---\nkind: Scenario\nfieldValidation: ⟦strict\n", "fieldValidation", "unsupported_value", []string{"Strict", "Warn", "Ignore"}},
}

var scenarioMistakes = []mistake{
	{plain + "---\napiVersion: ⟦podfate.dev/v2\nkind: Scenario\n", "apiVersion", "unsupported_value", []string{"podfate.dev/v1"}},
	{asking + "⟦run: {}\n", "run", "unknown_field", []string{"runs", "events", "until", "timing", "from", "now"}},
	{asking + "from: ⟦now\n", "from", "unsupported_value", []string{"creation", "status"}},
	{asking + "from: ⟦\"\"\n", "from", "unsupported_value", []string{"creation", "status"}},
	{asking + "from: ⟦status\n", "from", "invalid_value", nil},
	{asking + "now: ⟦\"2026-11-21T10:00:00Z\"\n", "now", "forbidden", nil},
	{live + "---\nkind: Scenario\nnow: ⟦yesterday\n", "now", "bad_format", nil},
	{live + "---\nkind: Scenario\nnow: ⟦\"2026-11-20T10:00:00Z\"\n", "now", "out_of_range", nil},
	{asking + "until: ⟦30\n", "until", "wrong_type", nil},
	{asking + "until: ⟦0s\n", "until", "out_of_range", nil},
	{asking + "until: ⟦5 minutes\n", "until", "bad_format", nil},

	{asking + "cluster:\n  version: ⟦\"1.12\"\n", "cluster.version", "unknown_version", []string{"1.33", "1.37"}},
	{asking + "cluster:\n  version: ⟦1.36\n", "cluster.version", "wrong_type", []string{"1.36"}},
	{asking + "cluster:\n  ⟦nodes: 3\n", "cluster.nodes", "unknown_field", []string{"version", "featureGates", "kubeletConfiguration", "kubelet"}},
	{asking + "cluster:\n  kubelet: ⟦1.35\n", "cluster.kubelet", "wrong_type", nil},
	{asking + "cluster:\n  kubelet: {⟦nodes: 3}\n", "cluster.kubelet.nodes", "unknown_field", []string{"version", "featureGates", "kubeletConfiguration"}},
	{asking + "cluster:\n  kubelet: {version: ⟦\"1.32\"}\n", "cluster.kubelet.version", "unknown_version", []string{"1.33", "1.37"}},
	{asking + "cluster:\n  kubelet: {version: \"1.33\", featureGates: {ContainerRestartRules: ⟦true}}\n", "cluster.kubelet.featureGates.ContainerRestartRules", "unknown_gate", []string{"AllBeta"}},
	{asking + "cluster:\n  kubelet: {featureGates: {ContainerRestartRules: ⟦false}}\n", "cluster.kubelet.featureGates.ContainerRestartRules", "gate_dependency", nil},
	{gates + "    ContainerRestartRules: ⟦\"yes\"\n", "cluster.featureGates.ContainerRestartRules", "wrong_type", nil},
	{gates + "    ContainerRestartrules: ⟦true\n", "cluster.featureGates.ContainerRestartrules", "unknown_gate", []string{"ContainerRestartRules", "AllBeta"}},
	{gates + "    NodeDeclaredFeatures: ⟦false\n", "cluster.featureGates.NodeDeclaredFeatures", "locked_gate", []string{"true"}},
	{gates + "    ContainerRestartRules: ⟦false\n", "cluster.featureGates.ContainerRestartRules", "gate_dependency", nil},
	{kubelet + "    crashLoopBackOff: {maxContainerRestartPeriod: ⟦301s}\n", "cluster.kubeletConfiguration.crashLoopBackOff.maxContainerRestartPeriod", "out_of_range", nil},
	{kubelet + "    crashLoopBackOff: {maxContainerRestartPeriod: ⟦soon}\n", "cluster.kubeletConfiguration.crashLoopBackOff.maxContainerRestartPeriod", "bad_format", nil},
	{kubelet + "    crashloopBackoff: ⟦{}\n", "cluster.kubeletConfiguration.crashloopBackoff", "unknown_field", []string{"crashLoopBackOff"}},

	{running + "  ⟦man: [{for: 1s, exitCode: 1}]\n", "runs.man", "unknown_container", []string{"main"}},
	{running + "  main: ⟦{for: 1s, exitCode: 1}\n", "runs.main", "wrong_type", nil},
	{running + "  main: [⟦{exitCode: 1}]\n", "runs.main[0].for", "required", nil},
	{running + "  main: [{for: ⟦10, exitCode: 1}]\n", "runs.main[0].for", "wrong_type", nil},
	{running + "  main: [⟦{for: 10s}]\n", "runs.main[0].exitCode", "required", nil},
	{running + "  main: [{for: 10s, exitCode: ⟦one}]\n", "runs.main[0].exitCode", "wrong_type", nil},
	{running + "  main: [{for: 10s, exitCode: ⟦3000000000}]\n", "runs.main[0].exitCode", "out_of_range", nil},
	{running + "  main: [{for: 10s, exitCode: 1, reason: ⟦5}]\n", "runs.main[0].reason", "wrong_type", nil},
	{running + "  main: [{for: 10s, exitCode: 1, times: ⟦always}]\n", "runs.main[0].times", "wrong_type", nil},
	{running + "  main: [{for: 10s, exitCode: 1, times: ⟦0}]\n", "runs.main[0].times", "out_of_range", nil},
	{running + "  main: [{for: 10s, exitCode: 1, ⟦code: 1}]\n", "runs.main[0].code", "unknown_field", []string{"for", "exitCode", "times", "stop"}},
	{running + "  main: [{for: 10s, exitCode: 1, times: forever}, ⟦{for: 1s, exitCode: 0}]\n", "runs.main[1]", "forbidden", nil},
	{running + "  main: [{stop: ⟦5s}]\n", "runs.main[0].stop", "wrong_type", nil},
	{running + "  main: [{stop: ⟦{exitCode: 0}}]\n", "runs.main[0].stop.for", "required", nil},
	{running + "  main: [{stop: ⟦{for: 5s}}]\n", "runs.main[0].stop.exitCode", "required", nil},
	{running + "  main: [{stop: {preStop: ⟦5s, for: 5s, exitCode: 0}}]\n", "runs.main[0].stop.preStop", "invalid_value", nil},
	{running + "  main: [{stop: {⟦grace: 5s, for: 5s, exitCode: 0}}]\n", "runs.main[0].stop.grace", "unknown_field", []string{"preStop", "for", "exitCode"}},

	{eventOf + "- ⟦{type: Evicted}\n", "events[0].at", "required", nil},
	{eventOf + "- {at: ⟦5, type: Evicted}\n", "events[0].at", "wrong_type", nil},
	{eventOf + "- {at: 5m, type: Evicted}\n- {at: ⟦4m, type: Deleted}\n", "events[1].at", "out_of_range", nil},
	{eventOf + "- ⟦{at: 5m}\n", "events[0].type", "required", []string{"Evicted", "Exited"}},
	{eventOf + "- {at: 5m, type: ⟦Explode}\n", "events[0].type", "unsupported_value", []string{"Evicted", "Exited"}},
	{eventOf + "- {at: 5m, type: OOMKilled, container: ⟦man}\n", "events[0].container", "unknown_container", []string{"main"}},
	{eventOf + "- {at: 5m, type: Evicted, container: ⟦main}\n", "events[0].container", "forbidden", nil},
	{eventOf + "- {at: 5m, type: LivenessFailed, container: ⟦main}\n", "events[0].container", "invalid_value", nil},
	{eventOf + "- ⟦{at: 5m, type: Exited}\n", "events[0].exitCode", "required", nil},
	{eventOf + "- {at: 5m, type: KubeletRestarted, exitCode: ⟦1}\n", "events[0].exitCode", "forbidden", nil},
	{eventOf + "- {at: 5m, type: Evicted, reason: ⟦Full}\n", "events[0].reason", "forbidden", nil},
	{eventOf + "- {at: 5m, type: Deleted, gracePeriodSeconds: ⟦5s}\n", "events[0].gracePeriodSeconds", "wrong_type", nil},
	{eventOf + "- {at: 5m, type: Deleted, gracePeriodSeconds: ⟦-1}\n", "events[0].gracePeriodSeconds", "out_of_range", nil},
	{eventOf + "- {at: 5m, type: SandboxLost, gracePeriodSeconds: ⟦1}\n", "events[0].gracePeriodSeconds", "forbidden", nil},
	{eventOf + "- {at: 5m, type: Deleted, cluster: ⟦{}}\n", "events[0].cluster", "forbidden", nil},
	{eventOf + "- {at: 5m, type: KubeletRestarted, cluster: {version: ⟦\"2.0\"}}\n", "events[0].cluster.version", "unknown_version", []string{"1.36"}},
	{eventOf + "- {at: 5m, type: KubeletRestarted, cluster: {featureGates: {NoSuchGate: ⟦true}}}\n", "events[0].cluster.featureGates.NoSuchGate", "unknown_gate", []string{"AllAlpha"}},
	{eventOf + "- {⟦when: 5m, at: 5m, type: Evicted}\n", "events[0].when", "unknown_field", []string{"at", "type", "container"}},

	{timed + "  detection: ⟦11m\n", "timing.detection", "out_of_range", nil},
	{timed + "  firstRestart: ⟦immediate\n", "timing.firstRestart", "unsupported_value", []string{"kubelet", "documented"}},
	{timed + "  sync: ⟦real\n", "timing.sync", "unsupported_value", []string{"ideal", "kubelet"}},
	{timed + "  sync: kubelet\n  jitter: ⟦some\n", "timing.jitter", "unsupported_value", []string{"none", "mean", "full"}},
	{timed + "  jitter: ⟦full\n", "timing.jitter", "forbidden", nil},
	{timed + "  ⟦lag: 1s\n", "timing.lag", "unknown_field", []string{"detection", "firstRestart", "sync", "jitter", "jitterMillis"}},
	{timed + "  sync: kubelet\n  jitterMillis: ⟦30000\n", "timing.jitterMillis", "out_of_range", nil},
	{timed + "  sync: kubelet\n  jitterMillis: ⟦2s\n", "timing.jitterMillis", "wrong_type", nil},
	{timed + "  jitterMillis: ⟦5\n", "timing.jitterMillis", "forbidden", nil},
	{timed + "  sync: kubelet\n  jitter: full\n  jitterMillis: ⟦5\n", "timing.jitterMillis", "forbidden", nil},
}

// TestAMistakeInEachField: each is named at its place in the text, alone, with what could be
// there.
func TestAMistakeInEachField(t *testing.T) {
	for operation, list := range map[string][]mistake{"validate": podMistakes, "simulate": scenarioMistakes} {
		for _, m := range list {
			t.Run(operation+" "+m.path+" "+m.code, func(t *testing.T) { m.check(t, operation) })
		}
	}
}

func (m mistake) check(t *testing.T, operation string) {
	before, after, marked := strings.Cut(m.text, "⟦")
	if !marked {
		t.Fatal("the place is not marked")
	}
	r, err := schema.Read([]byte(before+after), schema.Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	op, _ := ops.Lookup(operation)
	raw, _ := ops.Call(op.Number, r.JSON())
	type fault struct {
		Path, Code, Detail string
		Line, Column       int
		Allowed            []string
	}
	var answer struct {
		Faults []fault
		Error  struct{ Faults []fault }
	}
	if err := json.Unmarshal(r.Relocate(raw), &answer); err != nil {
		t.Fatal(err)
	}
	faults := slices.Concat(answer.Faults, answer.Error.Faults)
	if len(faults) != 1 {
		t.Fatalf("%d faults: %+v", len(faults), faults)
	}
	f := faults[0]
	line := strings.Count(before, "\n") + 1
	column := len([]rune(before[strings.LastIndexByte(before, '\n')+1:])) + 1
	if f.Path != m.path || f.Code != m.code || f.Line != line || f.Column != column {
		t.Errorf("%s %s at %d:%d, want %s %s at %d:%d: %s", f.Path, f.Code, f.Line, f.Column, m.path, m.code, line, column, f.Detail)
	}
	for _, word := range m.allowed {
		if !slices.Contains(f.Allowed, word) {
			t.Errorf("allows %q, which has no %s", f.Allowed, word)
		}
	}
	if m.allowed == nil && len(f.Allowed) > 0 {
		t.Errorf("allows %q", f.Allowed)
	}
}
