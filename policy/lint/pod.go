package lint

import (
	"slices"
	"strconv"

	"github.com/podfate/podfate/policy"
)

// The codes of warnings about what passes validation although it does not work, or not in the way
// it seems to.
const (
	ValueNeverOccurs    policy.FaultCode = "value_never_occurs"         // no process on Linux exits with this code
	DuplicateValue      policy.FaultCode = "duplicate_value"            // a value is listed twice: server-side apply refuses that
	NeverMatches        policy.FaultCode = "rule_never_matches"         // In without a value that can occur
	MatchesAll          policy.FaultCode = "rule_matches_everything"    // NotIn without a value that can occur matches every code, 0 included
	Shadowed            policy.FaultCode = "rule_shadowed"              // earlier rules match all of its codes
	DuplicateRule       policy.FaultCode = "duplicate_rule"             // an earlier rule says the same
	ChangesNothing      policy.FaultCode = "rule_changes_nothing"       // the policy restarts on all of the rule's codes anyway
	InitSuccess         policy.FaultCode = "init_success_not_restarted" // a Restart rule on 0 in an init container that is not a sidecar
	InitLoops           policy.FaultCode = "init_success_restarts_all"  // the Pod never gets past this init container
	NoBackoff           policy.FaultCode = "restart_all_has_no_backoff" // RestartAllContainers is not delayed
	NeverStops          policy.FaultCode = "container_never_stops"      // every exit code restarts it
	PodNeverFinishes    policy.FaultCode = "pod_never_finishes"         // a main container that always restarts in a Pod whose others do not
	JobNeverFinishes    policy.FaultCode = "job_never_finishes"         // a main container that always restarts in a Job
	ProbeKill           policy.FaultCode = "probe_kill_skips_rules"     // a failed probe does not evaluate the rules
	RulesWithoutPolicy  policy.FaultCode = "rules_without_policy"       // accepted by 1.34, but ignored
	IgnoredWhileGateOff policy.FaultCode = "ignored_while_gate_off"     // the node ignores the field because a gate is off
	OlderKubelet        policy.FaultCode = "older_kubelet_ignores"      // nodes one release older behave differently
	OlderNode           policy.FaultCode = "older_node_refuses"         // nodes one release older do not get the Pod
	WrongCase           policy.FaultCode = "wrong_case"                 // right except for upper and lower case
	NegativeGrace       policy.FaultCode = "negative_grace_period"      // treated as 1 second
	DraftSpelling       policy.FaultCode = "draft_spelling"             // a name from a proposal that was released under another name
	StuckAfterReboot    policy.FaultCode = "stuck_after_reboot"         // after a reboot only the Pod's Never counts, and the Pod stays Running
	RunsAgain           policy.FaultCode = "runs_again_after_reboot"    // a container that has finished for good runs again after a reboot
	PodDeleted          policy.FaultCode = "pod_is_being_deleted"       // the question is about exits in a Pod that is being deleted
	JobOver             policy.FaultCode = "job_is_over"                // the question is about exits in a Job that has ended
	PodOver             policy.FaultCode = "pod_is_over"                // the question is about exits in a Pod that has ended
	OwnerNotPlayed      policy.FaultCode = "owner_not_played"           // only the templates in an object of another kind are read
	OwnerRestartPolicy  policy.FaultCode = "owner_restart_policy"       // the owner sets the restartPolicy of its Pods
	NotRead             policy.FaultCode = "not_read"                   // a container that is not in a Pod template
	TemplateNotAsked    policy.FaultCode = "template_not_asked"         // a template of several containers none of which an exit names
	NoRestartLimit      policy.FaultCode = "no_restart_limit"           // Kubernetes does not limit restarts of a container
	VersionSkew         policy.FaultCode = "version_skew"               // Kubernetes does not support this difference between kubelet and API server
	RunsNeverReached    policy.FaultCode = "runs_never_reached"         // an earlier init container has no runs, so it does not end
	PodsRefused         policy.FaultCode = "pods_refused"               // the API server accepts the StatefulSet and refuses its Pods

	// About commands, if a request asks to read them.

	RuleNeverExercised policy.FaultCode = "rule_never_exercised"  // no exit of the command matches the rule
	RetryLoop          policy.FaultCode = "retry_loop_in_command" // a shell runs the program again, so the kubelet sees no exit
)

// Short names of sources.
const (
	sourceMatch    = "FindMatchingContainerRestartRule, pkg/api/v1/pod/util.go, v1.36"
	sourceDecide   = "ContainerShouldRestart, pkg/api/v1/pod/util.go, v1.36"
	sourceInit     = "computeInitContainerActions, pkg/kubelet/kuberuntime/kuberuntime_container.go, v1.36"
	sourceActions  = "computePodActions, pkg/kubelet/kuberuntime/kuberuntime_manager.go, v1.36"
	sourceBackoff  = "doBackOff, pkg/kubelet/kuberuntime/kuberuntime_manager.go, v1.36"
	sourceValidate = "pkg/apis/core/validation/validation.go, v1.36"
	sourceSchema   = "listType=set, api/core/v1/types.go, v1.36"
	sourceRollout  = "KEP-5307, version skew; pkg/features/kube_features.go"
	sourceDeclared = "KEP-5532; component-helpers nodedeclaredfeatures, v1.36"
	sourceWarnings = "pkg/api/pod/warnings.go, v1.36"
)

// Warnings reports what the API server of f accepts of o and what will still not work, or not as it
// seems, on a node with a kubelet of node: the Pod's policy first, then init and main containers,
// the grace period, then the Job. Call
// [admission.DropDisabled] first: what was dropped has no warning. If node is f, it warns of older
// nodes as well, unless the Pod is static: its file lies on that node and is placed on no other.
//
// It looks only at single exits and never at what a program does. Codes are stable.
func Warnings(o *policy.Object, f, node policy.Features, static bool) []policy.FieldError {
	l := linter{o: o, f: f, node: node, saidOlderKubelet: static, saidOlderNode: static}
	l.wrongCase(o.SpecPath+"restartPolicy", string(o.Spec.RestartPolicy), "Always", "OnFailure", "Never")
	for _, kind := range []policy.ContainerKind{policy.InitContainer, policy.MainContainer} {
		for i := range o.Spec.List(kind) {
			r := policy.Ref{Kind: kind, Index: i}
			l.container(o.Spec.Container(r), kind, o.Path(r))
		}
	}
	l.sandbox()
	l.gracePeriod()
	l.jobs()
	return l.found.All()
}

type linter struct {
	o     *policy.Object
	f     policy.Features // of the API server
	node  policy.Features // of the kubelet
	found policy.Faults

	saidNoBackoff, saidOlderKubelet, saidOlderNode bool // once for a Pod
}

func (l *linter) warn(path string, code policy.FaultCode, detail, source string) {
	l.found.Add(policy.FieldError{Path: path, Code: code, Detail: detail, Source: source})
}

// wrongCase warns about a value that is right except for case.
func (l *linter) wrongCase(path, value string, allowed ...string) {
	for _, a := range allowed {
		if a != value && policy.EqualFold(a, value) {
			l.warn(path, WrongCase, "values are case-sensitive: "+strconv.Quote(a), sourceValidate)
			l.found.Last().Allowed = []string{a}
		}
	}
}

// sandbox warns, at the first container where it shows, that the Pod's policy decides alone about a
// Pod without a sandbox, as after a reboot, which leaves containers with code 255.
func (l *linter) sandbox() {
	spec := &l.o.Spec
	if !l.node.ContainerRestartRules {
		return
	}
	for i := range spec.Containers {
		own := spec.Containers[i].RestartPolicy
		if own == nil {
			continue
		}
		r := policy.Ref{Kind: policy.MainContainer, Index: i}
		switch {
		case spec.RestartPolicy == policy.RestartPolicyNever:
			if spec.RestartsAfter(r, 255, l.node) {
				l.warn(l.o.Path(r)+".restartPolicy", StuckAfterReboot, "when the node reboots, only the Pod's Never counts: "+
					"the container is not started again, and the Pod stays Running", sourceActions)
				return
			}
		case *own == policy.RestartPolicyNever && len(spec.Containers) > 1:
			l.warn(l.o.Path(r)+".restartPolicy", RunsAgain, "when the node reboots, containers that had finished for good run again", sourceActions)
			return
		}
	}
}

func (l *linter) gracePeriod() {
	d := l.o.Spec.TerminationGracePeriodSeconds
	if d == nil || *d >= 0 {
		return
	}
	path := l.o.SpecPath + "terminationGracePeriodSeconds"
	l.warn(path, NegativeGrace, "a negative grace period is treated as 1 second", sourceWarnings)
	if l.f.Minor < 37 || l.o.Kind != "Pod" { // 1.37 has made it 1 before it could warn
		l.found.Last().Message = path + ": must be >= 0; negative values are invalid and will be treated as 1"
	}
}

func (l *linter) container(c *policy.Container, kind policy.ContainerKind, path string) {
	if c.RestartPolicy != nil {
		l.wrongCase(path+".restartPolicy", string(*c.RestartPolicy), "Always", "OnFailure", "Never")
	}
	for i, rule := range c.RestartPolicyRules {
		at := path + ".restartPolicyRules" + policy.Index(i)
		l.wrongCase(at+".action", string(rule.Action), "Restart", "RestartAllContainers")
		if rule.ExitCodes != nil {
			l.wrongCase(at+"."+rule.ExitCodesPath()+".operator", string(rule.ExitCodes.Operator), "In", "NotIn")
		}
	}
	if len(c.RestartPolicyRules) == 0 && (c.RestartPolicy == nil || c.IsSidecar(kind)) {
		return
	}
	l.otherNode(c, path)
	switch {
	case l.f.Minor < 34, len(c.RestartPolicyRules) > policy.MaxRestartRules: // a fault, and the list may be long
	case !l.node.ContainerRestartRules && l.node.Minor < 34:
		l.warn(path, IgnoredWhileGateOff, "a kubelet of "+policy.VersionName(l.node.Minor)+" does not know the container's restartPolicy and its rules", sourceDecide)
	case !l.node.ContainerRestartRules:
		l.warn(path, IgnoredWhileGateOff, "while ContainerRestartRules is off, the kubelet ignores the container's restartPolicy and its rules", sourceDecide)
	case c.RestartPolicy != nil:
		if !c.IsSidecar(kind) { // older releases know sidecars
			l.olderKubelet(path)
		}
		l.rules(c, kind, path)
	case kind == policy.InitContainer && l.node.RestartAllContainersOnContainerExits: // which asks for no policy
	case kind == policy.InitContainer && l.f.Minor == 34: // anywhere else this is a fault
		l.warn(path+".restartPolicyRules", RulesWithoutPolicy, "without a restartPolicy, the container's rules are ignored", sourceDecide)
	}
}

// olderKubelet warns about nodes one release older, as they are during an upgrade. A kubelet may
// be three releases older.
func (l *linter) olderKubelet(path string) {
	if l.saidOlderKubelet || l.node != l.f || l.f.Minor == policy.OldestMinor || policy.DefaultFeatures(l.f.Minor-1).ContainerRestartRules {
		return
	}
	l.saidOlderKubelet = true
	l.warn(path, OlderKubelet, "a kubelet of "+policy.VersionName(l.f.Minor-1)+" with default gates ignores the container's restartPolicy and its rules and uses the Pod's restartPolicy", sourceRollout)
}

// olderNode warns about nodes one release older, where the scheduler does not place the Pod.
func (l *linter) olderNode(path string) {
	if l.saidOlderNode || l.node != l.f || policy.DefaultFeatures(l.f.Minor-1).RestartAllContainersOnContainerExits {
		return
	}
	l.saidOlderNode = true
	l.warn(path, OlderNode, "a node of "+policy.VersionName(l.f.Minor-1)+" with default gates does not declare RestartAllContainersOnContainerExits: the Pod is not placed there", sourceDeclared)
}

// otherNode warns that the node which the request names cannot restart all containers, at the first
// rule that asks for it, and what becomes of the Pod.
func (l *linter) otherNode(c *policy.Container, path string) {
	if l.saidOlderNode || l.node == l.f || l.node.RestartAllContainersOnContainerExits {
		return
	}
	for i, rule := range c.RestartPolicyRules {
		if rule.Action != policy.ActionRestartAllContainers {
			continue
		}
		detail := "the node does not declare RestartAllContainersOnContainerExits: "
		switch {
		case l.f.NodeDeclaredFeatures && l.node.NodeDeclaredFeatures:
			detail += "the scheduler does not place the Pod there, and the kubelet refuses it"
		case l.f.NodeDeclaredFeatures:
			detail += "the scheduler does not place the Pod there; on a Pod that is there, the rule has no effect"
		case l.node.NodeDeclaredFeatures:
			detail += "the kubelet refuses the Pod"
		default:
			detail += "the kubelet does not do what the rule says"
		}
		l.saidOlderNode = true
		l.warn(path+".restartPolicyRules"+policy.Index(i), OlderNode, detail, sourceDeclared)
		return
	}
}

// rules looks at the rules of one container as the kubelet does: a code that a rule matches is out
// of reach of the rules after it.
func (l *linter) rules(c *policy.Container, kind policy.ContainerKind, path string) {
	u := l.universe(c)
	sets := make([]codeSet, len(c.RestartPolicyRules))
	for i, rule := range c.RestartPolicyRules {
		sets[i] = u.matched(rule.ExitCodes)
	}
	// No rule matches the codes in open, and none restarts on those in left; ends reports that one
	// stops the container for good.
	open, left, ends := u.all(), u.all(), false
	for i, rule := range c.RestartPolicyRules {
		if rule.ExitCodes == nil || rule.ExitCodes.Operator != policy.OperatorIn && rule.ExitCodes.Operator != policy.OperatorNotIn {
			continue
		}
		at := path + ".restartPolicyRules" + policy.Index(i)
		l.values(rule.ExitCodes.Values, at+"."+rule.ExitCodesPath()+".values")
		switch {
		case sets[i].empty():
			l.warn(at, NeverMatches, "In with no value that can occur matches no exit", sourceMatch)
			continue
		case !sets[i].meets(open):
			l.shadowed(c, sets, i, path)
			continue
		case rule.ExitCodes.Operator == policy.OperatorNotIn && u.all().minus(sets[i]).empty():
			l.warn(at, MatchesAll, "NotIn with no value that can occur matches every exit, code 0 included", sourceMatch)
		}
		reach := open.and(sets[i])
		l.effect(c, kind, path, i, reach, sets)
		open = open.minus(sets[i])
		switch {
		case rule.Action == policy.ActionComplete || rule.Action == policy.ActionTerminate || rule.Action == policy.ActionTerminatePod:
			ends = true
		case rule.Action == policy.ActionRestart || rule.Action == policy.ActionRestartPod,
			rule.Action == policy.ActionRestartAllContainers && l.node.RestartAllContainersOnContainerExits:
			left = left.minus(reach)
		}
	}
	if kind == policy.MainContainer && !ends {
		l.ends(c, path, left)
	}
	if kind == policy.MainContainer || c.IsSidecar(kind) { // others have no probes
		l.probes(c, path)
	}
}

// values warns about the first value that cannot occur and the first that occurs twice.
func (l *linter) values(values []int32, path string) {
	l.neverOccurs(values, path)
	if i := firstDuplicate(values); i >= 0 {
		l.warn(path+policy.Index(i), DuplicateValue, strconv.Itoa(int(values[i]))+" is listed twice; server-side apply refuses that", sourceSchema)
	}
}

// neverOccurs warns about the first value that cannot occur.
func (l *linter) neverOccurs(values []int32, path string) {
	never, first := 0, 0
	for i, v := range values {
		if !l.o.Spec.Windows && (v < 0 || v > 255) {
			if never++; never == 1 {
				first = i
			}
		}
	}
	if never > 0 {
		more := ""
		if never > 1 {
			more = " (and " + strconv.Itoa(never-1) + " more)"
		}
		l.warn(path+policy.Index(first), ValueNeverOccurs,
			"no process on Linux exits with "+strconv.Itoa(int(values[first]))+more+"; codes are 0 to 255", "wait(2); "+sourceValidate+" checks no range")
	}
}

// firstDuplicate returns the index of the first value that occurred before, or -1.
func firstDuplicate(values []int32) int {
	var bytes codeSet = make([]uint64, 4)
	var far map[int32]bool
	for i, v := range values {
		if v >= 0 && v <= 255 {
			if bytes.has(int(v)) {
				return i
			}
			bytes.add(int(v))
			continue
		}
		if far[v] {
			return i
		}
		if far == nil {
			far = make(map[int32]bool)
		}
		far[v] = true
	}
	return -1
}

// shadowed warns about rule i, all codes of which are matched before it is reached.
func (l *linter) shadowed(c *policy.Container, sets []codeSet, i int, path string) {
	at := path + ".restartPolicyRules" + policy.Index(i)
	for j := range i {
		if !sets[i].minus(sets[j]).empty() {
			continue
		}
		if sets[j].minus(sets[i]).empty() && c.RestartPolicyRules[j].Action == c.RestartPolicyRules[i].Action {
			l.warn(at, DuplicateRule, "says the same as rule "+strconv.Itoa(j), sourceMatch)
		} else {
			l.warn(at, Shadowed, "rule "+strconv.Itoa(j)+" matches all of its codes first", sourceMatch)
		}
		return
	}
	l.warn(at, Shadowed, "the rules before it together match all of its codes", sourceMatch)
}

// effect warns if rule i does not do what it says on the codes of reach, which are not empty.
func (l *linter) effect(c *policy.Container, kind policy.ContainerKind, path string, i int, reach codeSet, sets []codeSet) {
	at := path + ".restartPolicyRules" + policy.Index(i)
	plainInit := kind == policy.InitContainer && !c.IsSidecar(kind)
	switch c.RestartPolicyRules[i].Action {
	case policy.ActionRestartAllContainers:
		if !l.node.RestartAllContainersOnContainerExits {
			return
		}
		l.olderNode(at)
		if plainInit && reach.has(0) {
			l.warn(at, InitLoops, "each time this init container completes, all containers restart: the Pod never gets past it", sourceInit)
		}
		if !l.saidNoBackoff {
			l.saidNoBackoff = true
			l.warn(at, NoBackoff, "restarting all containers is not delayed: an exit that comes immediately causes an endless loop without a pause", sourceBackoff)
		}
	case policy.ActionRestart:
		switch {
		case l.shields(c, reach, sets[i+1:], i+1):
		case plainInit && reach.only(0):
			l.warn(at, InitSuccess, "an init container that completes with 0 is not restarted; the rule counts only after an OOM kill that leaves code 0", sourceInit)
		case c.IsSidecar(kind):
			l.warn(at, ChangesNothing, "a sidecar restarts on every exit", sourceInit)
		case *c.RestartPolicy == policy.RestartPolicyAlways || *c.RestartPolicy == policy.RestartPolicyOnFailure && !reach.has(0):
			l.warn(at, ChangesNothing, "restartPolicy "+string(*c.RestartPolicy)+" restarts on these codes anyway", sourceDecide)
		}
	}
}

// shields reports whether a later rule would restart all containers on some of the codes of reach.
func (l *linter) shields(c *policy.Container, reach codeSet, later []codeSet, first int) bool {
	for i, set := range later {
		if c.RestartPolicyRules[first+i].Action == policy.ActionRestartAllContainers && set.meets(reach) {
			return l.node.RestartAllContainersOnContainerExits
		}
	}
	return false
}

// ends warns if no exit stops a main container; open are the codes on which no rule restarts it.
func (l *linter) ends(c *policy.Container, path string, open codeSet) {
	own := *c.RestartPolicy
	restartsAlways := own == policy.RestartPolicyAlways ||
		own == policy.RestartPolicyNever && open.empty() || own == policy.RestartPolicyOnFailure && !open.has(0)
	if !restartsAlways {
		return
	}
	field := ".restartPolicyRules"
	if own == policy.RestartPolicyAlways {
		field = ".restartPolicy"
	}
	switch pod := l.o.Spec.RestartPolicy; {
	case l.o.Kind == "Job" || l.o.Kind == "CronJob":
		l.warn(path+field, JobNeverFinishes, "every exit restarts this container, so no Pod of the Job finishes", sourceDecide)
	case own != policy.RestartPolicyAlways:
		l.warn(path+field, NeverStops, "every exit restarts this container, although its restartPolicy is "+string(own), sourceDecide)
	case pod == policy.RestartPolicyNever || pod == policy.RestartPolicyOnFailure:
		l.warn(path+field, PodNeverFinishes, "every exit restarts this container, so the Pod never finishes; a sidecar belongs in initContainers", sourceDecide)
	}
}

// probes warns if a rule is there for the codes of a kill about which no rule is asked. With Never
// they are asked afterwards, as about any exit, if the Pod is still there.
func (l *linter) probes(c *policy.Container, path string) {
	if !c.HasLivenessProbe && !c.HasStartupProbe {
		return
	}
	for _, code := range [2]int32{137, 143} {
		i := c.FirstMatch(code)
		switch {
		case i < 0:
			continue
		case *c.RestartPolicy == policy.RestartPolicyNever:
			l.warn(path+".restartPolicyRules", ProbeKill, "a failed liveness or startup probe does not evaluate the rules: "+
				"with Never they are evaluated only afterwards, while another main container runs; otherwise the whole Pod is killed", sourceActions)
		case c.RestartPolicyRules[i].Action == policy.ActionRestartAllContainers && l.node.RestartAllContainersOnContainerExits:
			l.warn(path+".restartPolicyRules"+policy.Index(i), ProbeKill, "a failed liveness or startup probe does not evaluate the rules: "+
				"this container alone is started again", sourceActions)
		default:
			continue
		}
		return
	}
}

// universe are the exit codes that can occur, numbered: the bytes, and for Windows every other
// value that a rule names and one number for the codes that none does.
type universe struct {
	far []int32
	n   int
}

func (l *linter) universe(c *policy.Container) universe {
	u := universe{n: 256}
	if !l.o.Spec.Windows {
		return u
	}
	for _, rule := range c.RestartPolicyRules {
		if rule.ExitCodes == nil {
			continue
		}
		for _, v := range rule.ExitCodes.Values {
			if v < 0 || v > 255 {
				u.far = append(u.far, v)
			}
		}
	}
	u.far = sortedSet(u.far)
	u.n += len(u.far) + 1
	return u
}

func (u universe) all() codeSet {
	s := make(codeSet, (u.n+63)/64)
	for i := range s {
		s[i] = ^uint64(0)
	}
	if rest := u.n % 64; rest != 0 {
		s[len(s)-1] = 1<<rest - 1
	}
	return s
}

// matched returns the codes that a rule matches when it is alone.
func (u universe) matched(on *policy.ContainerRestartRuleOnExitCodes) codeSet {
	s := make(codeSet, (u.n+63)/64)
	if on == nil || on.Operator != policy.OperatorIn && on.Operator != policy.OperatorNotIn {
		return s
	}
	for _, v := range on.Values {
		if v >= 0 && v <= 255 {
			s.add(int(v))
		} else if i, found := slices.BinarySearch(u.far, v); found {
			s.add(256 + i)
		}
	}
	if on.Operator == policy.OperatorNotIn {
		return u.all().minus(s)
	}
	return s
}

// codeSet is a set of numbers of one universe.
type codeSet []uint64

func (s codeSet) has(i int) bool { return s[i/64]&(1<<(i%64)) != 0 }

func (s codeSet) add(i int) { s[i/64] |= 1 << (i % 64) }

func (s codeSet) and(t codeSet) codeSet {
	r := make(codeSet, len(s))
	for i := range s {
		r[i] = s[i] & t[i]
	}
	return r
}

func (s codeSet) minus(t codeSet) codeSet {
	r := make(codeSet, len(s))
	for i := range s {
		r[i] = s[i] &^ t[i]
	}
	return r
}

func (s codeSet) meets(t codeSet) bool {
	for i := range s {
		if s[i]&t[i] != 0 {
			return true
		}
	}
	return false
}

func (s codeSet) empty() bool {
	for _, w := range s {
		if w != 0 {
			return false
		}
	}
	return true
}

// only reports whether s is {i}.
func (s codeSet) only(i int) bool {
	return s.has(i) && s.minusOne(i).empty()
}

func (s codeSet) minusOne(i int) codeSet {
	r := slices.Clone(s)
	r[i/64] &^= 1 << (i % 64)
	return r
}

// sortedSet returns the values in ascending order, each once.
func sortedSet(values []int32) []int32 {
	set := make([]int32, 0, len(values))
	for _, i := range policy.Order(len(values), func(i, j int) bool { return values[i] < values[j] }) {
		if n := len(set); n == 0 || set[n-1] != values[i] {
			set = append(set, values[i])
		}
	}
	return set
}
