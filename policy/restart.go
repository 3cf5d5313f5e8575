package policy

// Action is what happens to a container after it exited.
type Action string

// The actions.
const (
	Restart              Action = "Restart"              // the kubelet starts it again, after the back-off
	RestartAllContainers Action = "RestartAllContainers" // every container of the Pod but the ephemeral ones restarts
	Stop                 Action = "Stop"                 // it stays as it is

	// Of proposals; see [KEP5307Future].
	Complete     Action = "Complete"     // it stays as it is, and counts as one that has succeeded
	Terminate    Action = "Terminate"    // it stays as it is
	TerminatePod Action = "TerminatePod" // the Pod fails, and its other containers are killed with their grace period
	RestartPod   Action = "RestartPod"   // the Pod restarts in a new sandbox
)

// Level says which part of the manifest decided.
type Level string

// The levels.
const (
	LevelRule      Level = "rule"      // an entry of restartPolicyRules
	LevelContainer Level = "container" // the container's own restartPolicy
	LevelPod       Level = "pod"       // the Pod's restartPolicy
	LevelDefault   Level = "default"   // no field: a default, or what this kind of container always does
	LevelLimit     Level = "limit"     // a limit of restarts, which a proposal has
)

// Because is the reason of a decision, for programs and tests.
type Because string

// The reasons.
const (
	BecauseRule               Because = "rule_matched"                // a rule of the container
	BecauseAlways             Because = "policy_always"               // restartPolicy Always
	BecauseOnFailureFailed    Because = "policy_on_failure_failed"    // OnFailure, and the code is not 0
	BecauseOnFailureSucceeded Because = "policy_on_failure_succeeded" // OnFailure, and the code is 0
	BecauseNever              Because = "policy_never"                // restartPolicy Never
	BecauseUnknownPodPolicy   Because = "unknown_pod_policy"          // the kubelet treats an unknown Pod policy as Always
	BecauseSidecar            Because = "sidecar_always_restarts"     // a sidecar: an init container with restartPolicy Always
	BecauseInitCompleted      Because = "init_completed"              // the init container succeeded: the next container's turn
	BecauseInitRetried        Because = "init_retried"                // gate off: a failed init container is retried unless the Pod's policy is Never
	BecauseEphemeral          Because = "ephemeral_never_restarts"    // ephemeral containers are never restarted
	BecauseAlwaysPod          Because = "policy_always_pod"           // restartPolicy AlwaysPod of the proposal always-pod
	BecauseRestartLimit       Because = "restart_limit_reached"       // the limit on restarts of the proposal kep-3322 is reached
)

// Ignored says why the rule that matched first did not decide.
type Ignored string

// The reasons to skip a matching rule.
const (
	NotIgnored           Ignored = ""
	IgnoredUnknownAction Ignored = "unknown_action" // the release does not know the action
	IgnoredGateOff       Ignored = "gate_off"       // RestartAllContainersOnContainerExits is off
	IgnoredSidecar       Ignored = "sidecar"        // a sidecar restarts anyway
	IgnoredInitCompleted Ignored = "init_completed" // a completed init container is not restarted
	IgnoredNoPolicy      Ignored = "no_policy"      // rules count only together with a restartPolicy
	IgnoredRestartLimit  Ignored = "restart_limit"  // of a proposal
)

// Exit is how a container ended.
type Exit struct {
	Code int32
	// OOMKilled is the runtime's reason for the end. It matters only for code 0 of an init
	// container, which then has failed; rules of releases never see it.
	OOMKilled bool
	// Restarts is the restartCount of the container that exits, PodRestarts the sum of those of all
	// containers. Only proposals ask for them; see [PodSpec.AsksForRestarts].
	Restarts, PodRestarts uint32
}

// Decision is what the kubelet does about one exit.
type Decision struct {
	Action  Action
	Level   Level
	Because Because
	Ignored Ignored // why rule Matched did not decide; "" if it did or if there is none
	// Matched is the index of the first rule that matches, -1 if none does or rules are not looked
	// at. It decided if Level is LevelRule.
	Matched int32
	// PodFails reports that the Pod is killed because an init container failed for good, or because
	// a rule says so.
	PodFails bool
}

// Policy is a compiled PodSpec: what happens is worked out once per container and first matching
// rule, so that a decision is a look-up. It is immutable; any number of goroutines may use it.
type Policy struct {
	main, init, ephemeral []exitTable
}

// exitTable answers for one container.
type exitTable struct {
	// outcomes holds, for each first matching rule (none is 0, rule i is i+1), what follows from
	// code 0 and from any other code.
	outcomes []Decision
	codeTable
	// oom is what follows from code 0 with the reason OOMKilled.
	oom Decision
	// limits are outcomes where no restart may follow any more; only in variants, whose lists have
	// oom at the end.
	limits []Decision
	more   *variants // in place of all that: a proposal asks for more than the code; nil for manifests of releases
}

// codeTable maps an exit code to the first of a list of rules that matches it: none is 0, rule i is
// i+1.
type codeTable struct {
	first [256]uint16      // of the codes a process can return
	far   map[int32]uint16 // of the values in rules that no process returns; nil if there are none
	rest  uint16           // of all other codes
}

// Compile prepares decisions about spec under f. It accepts any spec, also what validation refuses,
// and treats it as the kubelet would. The result keeps nothing of spec. At most [MaxRules] rules of
// a container are looked at.
//
// The cost grows with the number of values in all rules together.
func Compile(spec *PodSpec, f Features) *Policy {
	p := &Policy{}
	for _, kind := range []ContainerKind{MainContainer, InitContainer, EphemeralContainer} {
		list := spec.List(kind)
		tables := make([]exitTable, len(list))
		for i := range list {
			if tables[i].more = newVariants(&list[i], kind, spec, f); tables[i].more == nil {
				tables[i].fill(&list[i], kind, spec.RestartPolicy, f)
			}
		}
		*p.tables(kind) = tables
	}
	return p
}

func (p *Policy) tables(k ContainerKind) *[]exitTable {
	switch k {
	case InitContainer:
		return &p.init
	case EphemeralContainer:
		return &p.ephemeral
	}
	return &p.main
}

// Decide reports what the kubelet does after container r exited with e, while the Pod's other
// containers run and the Pod is not being deleted.
//
// It is up to the first entry of restartPolicyRules that matches, then to the container's
// restartPolicy, then to the Pod's. For rules, 0 is a code like the others: with NotIn one restarts
// what has succeeded. Exceptions: a sidecar is always restarted, a plain init container that
// succeeded never is, an ephemeral container neither; a matching RestartAllContainers rule comes
// before all that. Rules add restarts: none can prevent one.
//
// It never fails and allocates nothing; its cost does not depend on the number of rules. It panics
// if r is not a container of the compiled spec.
//
// Source: ContainerShouldRestart in pkg/api/v1/pod/util.go, ShouldContainerBeRestarted and
// ShouldAllContainersRestart in pkg/kubelet/container/helpers.go, computeInitContainerActions in
// pkg/kubelet/kuberuntime/kuberuntime_container.go; Kubernetes v1.33 to v1.37.
func (p *Policy) Decide(r Ref, e Exit) Decision {
	t := &(*p.tables(r.Kind))[r.Index]
	if t.more != nil {
		return *t.more.look(e)
	}
	if e.OOMKilled && e.Code == 0 {
		return t.oom
	}
	return t.outcomes[t.slot(e.Code)]
}

// rule returns the first rule that matches code, plus 1; 0 if none does.
func (t *codeTable) rule(code int32) uint16 {
	if uint32(code) < uint32(len(t.first)) {
		return t.first[code]
	}
	if t.far != nil {
		if far, listed := t.far[code]; listed {
			return far
		}
	}
	return t.rest
}

// slot returns the index in outcomes for code.
func (t *exitTable) slot(code int32) int {
	rule := t.rule(code)
	if code == 0 {
		return 2 * int(rule)
	}
	return 2*int(rule) + 1
}

func (t *exitTable) fill(c *Container, kind ContainerKind, pod RestartPolicy, f Features) {
	rules := c.RestartPolicyRules
	if !f.ContainerRestartRules || kind == EphemeralContainer {
		rules = nil // the kubelet does not look at them
	}
	rules = rules[:min(len(rules), MaxRules)]
	t.findFirst(rules)
	t.outcomes = make([]Decision, 2*(len(rules)+1))
	j := judge{c, kind, pod, f}
	for rule := -1; rule < len(rules); rule++ {
		t.outcomes[2*(rule+1)] = j.decide(rule, Exit{Code: 0})
		t.outcomes[2*(rule+1)+1] = j.decide(rule, Exit{Code: 1})
	}
	t.oom = j.decide(int(t.first[0])-1, Exit{Code: 0, OOMKilled: true})
}

// findFirst fills first, far and rest. A code is open until a rule matches it. An In rule closes
// its values; a NotIn rule closes everything but its values, so after the first one only values of
// that rule are still open: each value is touched a bounded number of times however many rules
// there are.
func (t *codeTable) findFirst(rules []ContainerRestartRule) {
	var open []int32 // values outside the byte range that the last NotIn rule left open
	for i := range rules {
		on := rules[i].ExitCodes
		if on == nil {
			continue
		}
		number := uint16(i + 1)
		switch on.Operator {
		case OperatorIn:
			for _, v := range on.Values {
				t.close(v, number)
			}
		case OperatorNotIn:
			open = t.closeAllBut(on.Values, open, number)
		}
	}
}

// close notes rule number for code v unless an earlier rule matches it.
func (t *codeTable) close(v int32, number uint16) {
	if uint32(v) < uint32(len(t.first)) {
		if t.first[v] == 0 {
			t.first[v] = number
		}
		return
	}
	if t.far == nil {
		t.far = make(map[int32]uint16)
	}
	rule, listed := t.far[v]
	if !listed {
		rule = t.rest
	}
	if rule == 0 {
		rule = number
	}
	t.far[v] = rule
}

// closeAllBut notes rule number for every open code except values and returns which of the far ones
// stay open.
func (t *codeTable) closeAllBut(values, open []int32, number uint16) []int32 {
	var kept [256]bool
	keptFar := make(map[int32]bool)
	for _, v := range values {
		if uint32(v) < uint32(len(kept)) {
			kept[v] = true
		} else {
			keptFar[v] = true
		}
	}
	for code := range t.first {
		if !kept[code] {
			t.close(int32(code), number)
		}
	}
	if t.rest != 0 { // an earlier NotIn rule: only what it left open is still to be decided
		var still []int32
		for _, v := range open {
			if keptFar[v] {
				still = append(still, v)
			} else {
				t.close(v, number)
			}
		}
		return still
	}
	var still []int32
	for _, v := range values {
		if !keptFar[v] {
			continue // in the byte range, or seen already
		}
		keptFar[v] = false
		if t.far == nil {
			t.far = make(map[int32]uint16)
		}
		if t.far[v] == 0 {
			t.far[v] = 0 // listed, so that rest does not apply
			still = append(still, v)
		}
	}
	t.rest = number
	return still
}

// judge decides about one container when the first matching rule is known.
type judge struct {
	c    *Container
	kind ContainerKind
	pod  RestartPolicy
	f    Features
}

func (j judge) decide(rule int, e Exit) Decision {
	d := Decision{Matched: int32(rule)}
	does := Action("")
	if rule >= 0 {
		if does = j.c.RestartPolicyRules[rule].does(j.f); does == TerminatePod || does.Whole() && (j.rulesCount(rule) || !j.endsPod(e)) {
			d.PodFails = does == TerminatePod
			return d.by(does, LevelRule, BecauseRule)
		}
	}
	switch {
	case j.kind == EphemeralContainer:
		return d.by(Stop, LevelDefault, BecauseEphemeral)
	case j.c.IsSidecar(j.kind) && (does == Complete || does == Terminate):
		return d.by(does, LevelRule, BecauseRule)
	case j.c.IsSidecar(j.kind):
		return d.ignore(IgnoredSidecar).by(Restart, LevelContainer, BecauseSidecar)
	case j.kind == InitContainer:
		return j.init(d, e)
	}
	return j.exited(d, e)
}

// endsPod reports whether the Pod has failed before the kubelet looks at rules that restart all
// containers: what ends it is a failed init container that only the Pod's policy speaks of. A
// manifest that is created with rules and no policy next to them is refused, except by 1.34.
//
// Source: getPhase and SyncPod in pkg/kubelet, kubelet_pods.go and kubelet.go, Kubernetes v1.35 to
// v1.37.
func (j judge) endsPod(e Exit) bool {
	return j.kind == InitContainer && j.c.RestartPolicy == nil && j.pod == RestartPolicyNever && e.Code != 0
}

// init decides about a plain init container. It has succeeded only if the code is 0 and it was not
// killed for memory; a failure that is not retried ends the Pod.
func (j judge) init(d Decision, e Exit) Decision {
	if e.Code == 0 && !e.OOMKilled {
		return d.ignore(IgnoredInitCompleted).by(Stop, LevelDefault, BecauseInitCompleted)
	}
	if !j.f.ContainerRestartRules && j.pod == RestartPolicyOnFailure {
		return d.by(Restart, LevelPod, BecauseInitRetried) // also code 0 after an OOM kill
	}
	d = j.exited(d, e)
	d.PodFails = d.Action == Stop || d.Action == Terminate
	return d
}

// exited is the decision by rule, container policy and Pod policy.
func (j judge) exited(d Decision, e Exit) Decision {
	if j.f.ContainerRestartRules && j.rulesCount(int(d.Matched)) {
		if d.Matched >= 0 {
			// A match ends the search: an action that is unknown or switched off leaves it to the
			// policy, not to the next rule.
			rule := &j.c.RestartPolicyRules[d.Matched]
			if does := rule.does(j.f); does != "" {
				return d.by(does, LevelRule, BecauseRule)
			}
			d.Ignored = IgnoredUnknownAction
			if rule.Action == ActionRestartAllContainers && j.f.Minor >= 35 {
				d.Ignored = IgnoredGateOff
			}
		}
		if own := j.ownPolicy(); own != nil {
			if decided, ok := d.byPolicy(*own, LevelContainer, e.Code); ok {
				return decided
			}
		}
	} else {
		d = d.ignore(IgnoredNoPolicy)
	}
	if j.pod == RestartPolicyAlwaysPod && j.f.Proposals.Has(AlwaysPod) {
		switch {
		case j.kind != MainContainer:
			return d.by(Restart, LevelPod, BecauseAlways)
		case j.f.Proposals.Reading(OptionSandbox) == 1:
			return d.by(RestartPod, LevelPod, BecauseAlwaysPod)
		}
		return d.by(RestartAllContainers, LevelPod, BecauseAlwaysPod)
	}
	if j.pod == "" {
		return d.by(Restart, LevelDefault, BecauseAlways)
	}
	if decided, ok := d.byPolicy(j.pod, LevelPod, e.Code); ok {
		return decided
	}
	return d.by(Restart, LevelDefault, BecauseUnknownPodPolicy)
}

// byPolicy applies a restart policy; ok is false for one that Kubernetes does not know.
func (d Decision) byPolicy(p RestartPolicy, level Level, code int32) (decided Decision, ok bool) {
	switch p {
	case RestartPolicyAlways:
		return d.by(Restart, level, BecauseAlways), true
	case RestartPolicyNever:
		return d.by(Stop, level, BecauseNever), true
	case RestartPolicyOnFailure:
		if code == 0 {
			return d.by(Stop, level, BecauseOnFailureSucceeded), true
		}
		return d.by(Restart, level, BecauseOnFailureFailed), true
	}
	return d, false
}

func (d Decision) by(a Action, level Level, because Because) Decision {
	d.Action, d.Level, d.Because = a, level, because
	return d
}

// ignore notes why the matching rule, if there is one, does not decide.
func (d Decision) ignore(why Ignored) Decision {
	if d.Matched >= 0 {
		d.Ignored = why
	}
	return d
}
