package lint_test

import (
	"fmt"
	"strings"
	"testing"

	. "github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/lint"
)

func in(a ContainerRestartRuleAction, values ...int32) ContainerRestartRule {
	return ContainerRestartRule{Action: a, ExitCodes: &ContainerRestartRuleOnExitCodes{Operator: OperatorIn, Values: values}}
}

func notIn(a ContainerRestartRuleAction, values ...int32) ContainerRestartRule {
	return ContainerRestartRule{Action: a, ExitCodes: &ContainerRestartRuleOnExitCodes{Operator: OperatorNotIn, Values: values}}
}

// warned lists codes with the ends of their paths, without those that every restart-all has.
func warned(o *Object, minor int) string {
	var list []string
	for _, w := range lint.Warnings(o, DefaultFeatures(minor), DefaultFeatures(minor), false) {
		path := w.Path
		for _, prefix := range []string{"spec.containers[0]", "spec.initContainers[0]", "."} {
			path = strings.TrimPrefix(path, prefix)
		}
		if w.Code != lint.NoBackoff && w.Code != lint.OlderNode {
			list = append(list, fmt.Sprintf("%s %s", path, w.Code))
		}
		if w.Source == "" || w.Detail == "" {
			list = append(list, "without source or detail")
		}
	}
	return strings.Join(list, "; ")
}

func TestWarnings(t *testing.T) {
	const restart, all = ActionRestart, ActionRestartAllContainers
	const always, onFailure, never = RestartPolicyAlways, RestartPolicyOnFailure, RestartPolicyNever
	rule := func(i int) string { return fmt.Sprintf("restartPolicyRules[%d] ", i) }
	values := func(i, j int) string { return fmt.Sprintf("restartPolicyRules[%d].exitCodes.values[%d] ", i, j) }
	for _, test := range []struct {
		name  string
		kind  ContainerKind
		own   RestartPolicy
		rules []ContainerRestartRule
		want  string
	}{
		{"nothing to say", MainContainer, never, []ContainerRestartRule{in(restart, 1), notIn(restart, 0)}, ""},
		{"In without values", MainContainer, never, []ContainerRestartRule{in(restart)}, rule(0) + "rule_never_matches"},
		{"In with far values only", MainContainer, never, []ContainerRestartRule{in(restart, -1, 256)}, values(0, 0) + "value_never_occurs; " + rule(0) + "rule_never_matches"},
		{"NotIn without values", MainContainer, never, []ContainerRestartRule{notIn(restart)}, rule(0) + "rule_matches_everything; restartPolicyRules container_never_stops"},
		{"NotIn with a far value", MainContainer, never, []ContainerRestartRule{notIn(restart, 300)},
			values(0, 0) + "value_never_occurs; " + rule(0) + "rule_matches_everything; restartPolicyRules container_never_stops"},
		{"a value twice", MainContainer, never, []ContainerRestartRule{in(restart, 1, 2, 1)}, values(0, 2) + "duplicate_value"},
		{"a far value twice", MainContainer, never, []ContainerRestartRule{in(restart, 1, 999, 999)}, values(0, 1) + "value_never_occurs; " + values(0, 2) + "duplicate_value"},
		{"the same rule again", MainContainer, never, []ContainerRestartRule{in(restart, 1, 2), in(restart, 2, 1)}, rule(1) + "duplicate_rule"},
		{"the same codes, another action", MainContainer, never, []ContainerRestartRule{in(restart, 1), in(all, 1)}, rule(1) + "rule_shadowed"},
		{"hidden by one rule", MainContainer, never, []ContainerRestartRule{notIn(restart, 0), in(restart, 3)}, rule(1) + "rule_shadowed"},
		{"hidden by two rules", MainContainer, never, []ContainerRestartRule{in(restart, 1), in(all, 2), in(restart, 1, 2)}, rule(2) + "rule_shadowed"},
		{"hidden but for one code", MainContainer, never, []ContainerRestartRule{in(restart, 1), in(restart, 1, 2)}, ""},
		{"two rules cover all", MainContainer, never, []ContainerRestartRule{in(restart, 0), notIn(restart, 0)}, "restartPolicyRules container_never_stops"},
		{"Always restarts anyway", MainContainer, always, []ContainerRestartRule{in(restart, 42)}, rule(0) + "rule_changes_nothing"},
		{"Always, but it keeps a restart-all away", MainContainer, always, []ContainerRestartRule{in(restart, 42), notIn(all, 0)}, ""},
		{"Always, and it keeps no restart-all away", MainContainer, always, []ContainerRestartRule{in(restart, 42), in(all, 43)}, rule(0) + "rule_changes_nothing"},
		{"OnFailure restarts anyway", MainContainer, onFailure, []ContainerRestartRule{in(restart, 42)}, rule(0) + "rule_changes_nothing"},
		{"OnFailure and success", MainContainer, onFailure, []ContainerRestartRule{in(restart, 0)}, "restartPolicyRules container_never_stops"},
		{"sidecar", InitContainer, always, []ContainerRestartRule{in(restart, 42)}, rule(0) + "rule_changes_nothing"},
		{"sidecar that restarts all", InitContainer, always, []ContainerRestartRule{in(all, 42)}, ""},
		{"init container and success", InitContainer, never, []ContainerRestartRule{in(restart, 0)}, rule(0) + "init_success_not_restarted"},
		{"init container, success and failure", InitContainer, never, []ContainerRestartRule{in(restart, 0, 1)}, ""},
		{"init container in a loop", InitContainer, never, []ContainerRestartRule{notIn(all, 3)}, rule(0) + "init_success_restarts_all"},
		{"init container whose success is taken", InitContainer, never, []ContainerRestartRule{in(restart, 0), notIn(all, 3)}, ""},
		{"wrong case", MainContainer, "never", []ContainerRestartRule{{Action: "restart", ExitCodes: &ContainerRestartRuleOnExitCodes{Operator: "in"}}},
			"restartPolicy wrong_case; " + rule(0) + "wrong_case"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := Container{Name: "c", RestartPolicy: &test.own, RestartPolicyRules: test.rules, HasRules: true}
			o := Object{Kind: "Pod", SpecPath: "spec."}
			if test.kind == InitContainer {
				o.Spec.InitContainers = []Container{c}
			} else {
				o.Spec.Containers = []Container{c}
			}
			got := warned(&o, 36)
			got = strings.ReplaceAll(got, ".action wrong", " wrong")
			got = strings.Replace(got, "; restartPolicyRules[0].exitCodes.operator wrong_case", "", 1)
			if got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// Warnings that depend on more than one container's rules.
func TestWarningsAboutThePod(t *testing.T) {
	always, onFailure, never := RestartPolicyAlways, RestartPolicyOnFailure, RestartPolicyNever
	negative := int64(-1)
	rules := []ContainerRestartRule{in(ActionRestart, 1)}
	far := []ContainerRestartRule{in(ActionRestart, -1073741819), in(ActionRestart, -1073741819, 5)}
	for _, test := range []struct {
		name  string
		minor int
		o     Object
		want  string
	}{
		{"Always in a Job", 36, Object{Kind: "Job", Spec: PodSpec{RestartPolicy: never, Containers: []Container{{RestartPolicy: &always}}}}, "restartPolicy job_never_finishes; restartPolicy stuck_after_reboot"},
		{"Always in a Pod that is not", 36, Object{Kind: "Pod", Spec: PodSpec{RestartPolicy: never, Containers: []Container{{RestartPolicy: &always}}}}, "restartPolicy pod_never_finishes; restartPolicy stuck_after_reboot"},
		{"Always in a Pod that is", 36, Object{Kind: "Pod", Spec: PodSpec{Containers: []Container{{RestartPolicy: &always}}}}, ""},
		{"all codes in a Job", 36, Object{Kind: "Job", Spec: PodSpec{RestartPolicy: never, Containers: []Container{{RestartPolicy: &never, RestartPolicyRules: []ContainerRestartRule{notIn(ActionRestart)}}}}},
			"restartPolicyRules[0] rule_matches_everything; restartPolicyRules job_never_finishes; restartPolicy stuck_after_reboot"},
		{"1.35: nodes of 1.34 ignore rules", 35, Object{Kind: "Pod", Spec: PodSpec{Containers: []Container{{RestartPolicy: &never, RestartPolicyRules: rules}}}}, " older_kubelet_ignores"},
		{"1.36: nodes of 1.35 know them", 36, Object{Kind: "Pod", Spec: PodSpec{Containers: []Container{{RestartPolicy: &never, RestartPolicyRules: rules}}}}, ""},
		{"gate off", 34, Object{Kind: "Pod", Spec: PodSpec{Containers: []Container{{RestartPolicyRules: rules}}}}, " ignored_while_gate_off"},
		{"1.33 knows nothing of it", 33, Object{Kind: "Pod", Spec: PodSpec{Containers: []Container{{RestartPolicyRules: rules}}}}, ""},
		{"a probe and a rule on its code", 36, Object{Kind: "Pod", Spec: PodSpec{Containers: []Container{{RestartPolicy: &never, HasLivenessProbe: true, RestartPolicyRules: []ContainerRestartRule{in(ActionRestart, 143)}}}}},
			"restartPolicyRules probe_kill_skips_rules"},
		{"a probe and a rule on another code", 36, Object{Kind: "Pod", Spec: PodSpec{Containers: []Container{{RestartPolicy: &never, HasStartupProbe: true, RestartPolicyRules: []ContainerRestartRule{in(ActionRestart, 144)}}}}}, ""},
		{"a rule on the code of a kill and no probe", 36, Object{Kind: "Pod", Spec: PodSpec{Containers: []Container{{RestartPolicy: &never, RestartPolicyRules: []ContainerRestartRule{in(ActionRestart, 137)}}}}}, ""},
		{"a probe, Always, and a restart of all", 36, Object{Kind: "Pod", Spec: PodSpec{Containers: []Container{{RestartPolicy: &always, HasLivenessProbe: true, RestartPolicyRules: []ContainerRestartRule{in(ActionRestartAllContainers, 137)}}}}},
			"restartPolicyRules[0] probe_kill_skips_rules"},
		{"a probe, Always, and a restart", 36, Object{Kind: "Pod", Spec: PodSpec{Containers: []Container{{RestartPolicy: &always, HasLivenessProbe: true, RestartPolicyRules: []ContainerRestartRule{in(ActionRestart, 137)}}}}},
			"restartPolicyRules[0] rule_changes_nothing"},
		{"a rule that misses the code of a reboot", 36, Object{Kind: "Pod", Spec: PodSpec{RestartPolicy: never, Containers: []Container{{}, {RestartPolicy: &never, RestartPolicyRules: []ContainerRestartRule{in(ActionRestart, 42)}}}}}, ""},
		{"a rule that has the code of a reboot", 36, Object{Kind: "Pod", Spec: PodSpec{RestartPolicy: never, Containers: []Container{{}, {RestartPolicy: &never, RestartPolicyRules: []ContainerRestartRule{notIn(ActionRestart, 0)}}}}},
			"spec.containers[1].restartPolicy stuck_after_reboot"},
		{"a reboot without the gate", 34, Object{Kind: "Pod", Spec: PodSpec{RestartPolicy: never, Containers: []Container{{}, {RestartPolicy: &never}}}}, "spec.containers[1] ignored_while_gate_off"},
		{"Never beside others", 36, Object{Kind: "Pod", Spec: PodSpec{Containers: []Container{{}, {RestartPolicy: &never}}}}, "spec.containers[1].restartPolicy runs_again_after_reboot"},
		{"Never alone", 36, Object{Kind: "Pod", Spec: PodSpec{Containers: []Container{{RestartPolicy: &never}}}}, ""},
		{"OnFailure beside others", 36, Object{Kind: "Pod", Spec: PodSpec{Containers: []Container{{}, {RestartPolicy: &onFailure}}}}, ""},
		{"negative grace", 36, Object{Kind: "Pod", Spec: PodSpec{TerminationGracePeriodSeconds: &negative}}, "spec.terminationGracePeriodSeconds negative_grace_period"},
		{"Windows knows any code", 36, Object{Kind: "Pod", Spec: PodSpec{Windows: true, Containers: []Container{{RestartPolicy: &never, RestartPolicyRules: far}}}}, ""},
		{"Windows, the same again", 36, Object{Kind: "Pod", Spec: PodSpec{Windows: true, Containers: []Container{{RestartPolicy: &never, RestartPolicyRules: append(far, in(ActionRestart, 5))}}}},
			"restartPolicyRules[2] rule_shadowed"},
		{"21 rules are a fault and not looked into", 36, Object{Kind: "Pod", Spec: PodSpec{Containers: []Container{{RestartPolicy: &never, RestartPolicyRules: make([]ContainerRestartRule, 21)}}}}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.o.SpecPath = "spec."
			if got := warned(&test.o, test.minor); got != test.want && got != strings.TrimSpace(test.want) {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// TestShadowingIsExact compares with the kubelet's own loop: a rule is shadowed or a duplicate if
// and only if it matches some code and no code reaches it.
func TestShadowingIsExact(t *testing.T) {
	never := RestartPolicyNever
	values := [][]int32{nil, {0}, {0, 1}, {1, 2}, {255, 256}, {2, 255}}
	var all []ContainerRestartRule
	for _, v := range values {
		all = append(all, in(ActionRestart, v...), notIn(ActionRestart, v...))
	}
	cases := 0
	for _, a := range all {
		for _, b := range all {
			for _, c := range all {
				rules := []ContainerRestartRule{a, b, c}
				spec := PodSpec{Containers: []Container{{RestartPolicy: &never, RestartPolicyRules: rules}}}
				alone := PodSpec{Containers: []Container{{RestartPolicy: &never, RestartPolicyRules: rules[2:]}}}
				f := DefaultFeatures(36)
				p, q := Compile(&spec, f), Compile(&alone, f)
				reached, matches := false, false
				for code := range int32(256) {
					reached = reached || p.Decide(Ref{}, Exit{Code: code}).Matched == 2
					matches = matches || q.Decide(Ref{}, Exit{Code: code}).Matched == 0
				}
				o := Object{Kind: "Pod", Spec: spec, SpecPath: "spec."}
				warned := false
				for _, w := range lint.Warnings(&o, f, f, false) {
					warned = warned || w.Path == "spec.containers[0].restartPolicyRules[2]" && (w.Code == lint.Shadowed || w.Code == lint.DuplicateRule)
				}
				if warned != (matches && !reached) {
					t.Fatalf("%v %v %v: warned %v, matches %v, reached %v", *a.ExitCodes, *b.ExitCodes, *c.ExitCodes, warned, matches, reached)
				}
				cases++
			}
		}
	}
	t.Logf("%d lists of rules", cases)
}
