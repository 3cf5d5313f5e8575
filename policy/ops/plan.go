package ops

import (
	"strconv"
	"strings"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/admission"
	"github.com/podfate/podfate/policy/manifest"
)

// What exits can be wished to lead to: numbers of wishWords. The first are the kubelet's, the
// others the Job's, for which the container has to stop.
const (
	wishRestart uint8 = iota + 1
	wishRestartAll
	wishStop
	wishCount
	wishIgnore
	wishFailJob
	wishFailIndex
)

// wishWords are the members of wishes, and what a flip may lead to. Nobody writes to them.
var wishWords = []string{"", "restart", "restartAll", "stop", "count", "ignore", "failJob", "failIndex"}

// ruleActions are the actions of rules that bring about a wish, by its number. Nobody writes to
// them.
var ruleActions = [...]string{wishRestart: "Restart", wishRestartAll: "RestartAllContainers", wishCount: "Count", wishIgnore: "Ignore", wishFailJob: "FailJob", wishFailIndex: "FailIndex"}

// line is a rule of a container or of a Job that a plan may change.
type line struct {
	action uint8 // the wish that it brings about; 0 for a word that is not known
	in     bool
	fixed  bool // it is about no exit of the container
	shared bool // it is about those of others, too
	other  bool // it is about those of another container alone
	has    [codes]bool
	far    []int32 // the values that are no codes of Linux
	from   int     // its index in the manifest; -1 for a new one
	// disrupts reports that it is about Pods with the condition DisruptionTarget, condition that it
	// is about nothing else.
	disrupts, condition bool
}

func newLine(action string, operator policy.ExitCodesOperator, values []int32, from int) line {
	x := line{from: from, in: operator == policy.OperatorIn, fixed: operator != policy.OperatorIn && operator != policy.OperatorNotIn}
	for n, word := range ruleActions {
		if word == action && word != "" {
			x.action = uint8(n)
		}
	}
	for _, v := range values {
		if uint32(v) < codes {
			x.has[v] = true
		} else {
			x.far = append(x.far, v)
		}
	}
	return x
}

func (x *line) matches(code int) bool { return !x.fixed && x.has[code] == x.in }

// values returns its values in their order.
func (x *line) values() (list []int32) {
	for _, v := range x.far {
		if v < 0 {
			list = append(list, v)
		}
	}
	for code, has := range x.has {
		if has {
			list = append(list, int32(code))
		}
	}
	for _, v := range x.far {
		if v > 0 {
			list = append(list, v)
		}
	}
	return list
}

func (x *line) operator() policy.ExitCodesOperator {
	if x.in {
		return policy.OperatorIn
	}
	return policy.OperatorNotIn
}

// first returns the wish of the first line that matches code, 0 if none does or its word is not
// known.
func first(lines []line, code int) uint8 {
	for i := range lines {
		if lines[i].matches(code) {
			return lines[i].action
		}
	}
	return 0
}

// place returns lines changed so that the codes with the wish x in want meet the line home first,
// or none if home is negative; with home == len(lines) they meet a new one.
func place(lines []line, x uint8, want *[codes]uint8, home int) []line {
	out := make([]line, 0, len(lines)+1)
	fresh := line{action: x, in: true, from: -1}
	for code := range want {
		fresh.has[code] = want[code] == x
	}
	for i := range lines {
		changed := lines[i]
		meets, left := false, false
		for code := range want {
			if want[code] == x && changed.matches(code) != (i == home) && (i <= home || home < 0) && !changed.fixed {
				meets = true
				if home < len(lines) {
					changed.has[code] = (i == home) == changed.in
				}
			}
		}
		if meets && home == len(lines) && fresh.from < 0 { // the new one comes before the first that matches
			out = append(out, fresh)
			fresh.from = 0
		}
		for _, has := range changed.has {
			left = left || has
		}
		if left || !meets || !changed.in || len(changed.far) > 0 {
			out = append(out, changed)
		}
	}
	if home == len(lines) && fresh.from < 0 {
		out = append(out, fresh)
	}
	return out
}

// maxVariants bounds the changes of one list of rules that are tried; a list has at most 20 rules.
const maxVariants = 96

// variants returns lines with small changes by which the codes of want meet lines of their wishes,
// wherever that can be: a line that has the wish takes them, or a new one, or none has them.
func variants(lines []line, want *[codes]uint8, none uint8) [][]line {
	all := [][]line{lines}
	for x := wishRestart; x <= wishFailIndex; x++ {
		named := false
		for _, w := range want {
			named = named || w == x
		}
		if !named {
			continue
		}
		var next [][]line
		for _, have := range all {
			for home := -1; home <= len(have) && len(next) < maxVariants; home++ {
				if home < 0 || x != none && (home == len(have) || have[home].action == x && !have[home].fixed) {
					next = append(next, place(have, x, want, home))
				}
			}
		}
		all = next
	}
	return all
}

// shortest returns the fewest lines, and of those the ones with the fewest values, by which the
// first match of each code is as need has it: 1 if the wish has to be met, -1 if it must not be, 0
// if it may. Only In is used if far values matter.
func shortest(wishes []uint8, need func(wish uint8, code int) int, onlyIn bool, least int) (best []line) {
	found, lowest := false, 0
	var build func(lines []line, left []uint8, taken [codes]bool, values int)
	build = func(lines []line, left []uint8, taken [codes]bool, values int) {
		if found && values >= lowest {
			return
		}
		if len(left) == 0 {
			found, lowest, best = true, values, append([]line(nil), lines...)
			return
		}
		for i, x := range left {
			rest := append(append([]uint8(nil), left[:i]...), left[i+1:]...)
			for _, in := range [...]bool{true, false} {
				y := line{action: x, in: in, from: -1}
				now, n := taken, 0
				for code := least; code < codes; code++ {
					if kind := need(x, code); !taken[code] && (in && kind > 0 || !in && kind < 0) {
						y.has[code] = true
						n++
					}
					if y.matches(code) {
						now[code] = true
					}
				}
				if in && n == 0 {
					build(lines, rest, taken, values) // all its codes are taken
					break
				}
				if in || !onlyIn {
					build(append(lines[:len(lines):len(lines)], y), rest, now, values+n)
				}
			}
		}
	}
	build(nil, wishes, [codes]bool{}, 0)
	return best
}

// listEdits are the edits that make the list of rules at path another one. write gives a new rule
// as JSON, and values says where the values of a rule are below it and what they are in the
// manifest.
func (p *planner) listEdits(path string, was, is []line, write func(*line) string, values func(from int) (string, []int32)) (edits []edit) {
	at, kept := manifest.Pointer(path), 0
	for i := range is {
		if is[i].from >= 0 {
			kept++
		}
	}
	switch {
	case len(is) == 0 && len(was) == 0:
		return nil
	case len(is) == 0:
		return []edit{{op: "remove", path: at}}
	case kept == 0:
		text, op := "[", "add"
		if p.exists(path) {
			op = "replace"
		}
		for i := range is {
			if i > 0 {
				text += ","
			}
			text += write(&is[i])
		}
		return []edit{{op: op, path: at, value: text + "]"}}
	}
	for i := len(was) - 1; i >= 0; i-- {
		gone := true
		for k := range is {
			gone = gone && is[k].from != was[i].from
		}
		if gone {
			edits = append(edits, edit{op: "remove", path: at + "/" + strconv.Itoa(i)})
		}
	}
	for i := range is {
		x := &is[i]
		here := at + "/" + strconv.Itoa(i)
		if x.from < 0 {
			edits = append(edits, edit{op: "add", path: here, value: write(x)})
			continue
		}
		if x.fixed {
			continue
		}
		below, list := values(x.from)
		if fresh := x.values(); len(list) == 0 && len(fresh) > 0 { // there may be no list at all
			op, text := "add", "["
			for k, v := range fresh {
				if k > 0 {
					text += ","
				}
				text += strconv.Itoa(int(v))
			}
			if v := p.c.man.At(element(path, x.from)).Get(strings.Split(below, "/")[1]).Get("values"); v.Exists() {
				op = "replace"
			}
			edits = append(edits, edit{op: op, path: here + strings.TrimSuffix(below, "/"), value: text + "]"})
			continue
		}
		list = append([]int32(nil), list...)
		for k := len(list) - 1; k >= 0; k-- {
			if v := list[k]; uint32(v) < codes && !x.has[v] {
				edits = append(edits, edit{op: "remove", path: here + below + strconv.Itoa(k), was: strconv.Itoa(int(v))})
				list = append(list[:k], list[k+1:]...)
			}
		}
		for code, has := range x.has {
			if !has || was[x.from].has[code] {
				continue
			}
			k := 0
			for k < len(list) && list[k] < int32(code) {
				k++
			}
			edits = append(edits, edit{op: "add", path: here + below + strconv.Itoa(k), value: strconv.Itoa(code)})
			list = append(list[:k:k], append([]int32{int32(code)}, list[k:]...)...)
		}
	}
	return edits
}

// cost is what a change is measured by, the first first. The codes of Windows are more than an int
// of 32 bits counts.
type cost [4]int64

func (a *cost) less(b *cost) bool {
	for i := range a {
		if a[i] != b[i] {
			return a[i] < b[i]
		}
	}
	return false
}

// plus is the sum of both.
func (a *cost) plus(b *cost) (sum cost) {
	for i := range sum {
		sum[i] = a[i] + b[i]
	}
	return sum
}

// price measures a list of rules that came out of another one: for wishes by its rules, then its
// values; for a flip by the rules and values that change, then the rules alone.
func price(was, is []line, flip bool, edits int) (c cost) {
	c[3] = int64(edits)
	kept := 0
	for i := range is {
		x := &is[i]
		if !flip || x.from < 0 {
			c[1]++
		} else {
			kept++
		}
		for code, has := range x.has {
			if before := flip && x.from >= 0 && was[x.from].has[code]; has != before {
				c[2]++
			}
		}
	}
	if flip {
		c[1] += int64(len(was) - kept)
		c[1], c[2] = c[1]+c[2], c[1]
	}
	return c
}

// choice is a change of one layer.
type choice struct {
	pod, own string // restart policies; "" for none
	lines    []line
	cost
}

// planner looks for changes of a manifest by which exits of one container come to what is wished.
type planner struct {
	c          *call
	l          *loaded
	cl         cluster
	ref        policy.Ref
	want       [codes]uint8
	disruption uint8 // the wish for Pods that are disrupted, 0 for none
	flip       bool

	container  *policy.Container
	before     *asked
	tables     []containerTable
	pod, own   string
	rules, job []line
	several    bool // containers in the Pod that a rule of the Job may be about
	steps      int
	// low is the fewest rules and values of both layers with which every code can come to what it
	// should, sure that these are the fewest.
	low  cost
	sure bool
}

func (c *call) newPlanner(l *loaded, cl cluster, ref policy.Ref) *planner {
	o := &l.object
	p := &planner{c: c, l: l, cl: cl, ref: ref, container: o.Spec.Container(ref), pod: string(o.Spec.RestartPolicy)}
	p.several = len(o.Spec.Containers)+len(o.Spec.InitContainers) > 1
	if p.container.RestartPolicy != nil {
		p.own = string(*p.container.RestartPolicy)
	}
	for i, r := range p.container.RestartPolicyRules {
		x := line{from: i, fixed: true}
		if on := r.ExitCodes; on != nil {
			x = newLine(string(r.Action), on.Operator, on.Values, i)
		}
		p.rules = append(p.rules, x)
	}
	p.before = newAsked(l, cl)
	p.tables = p.before.tables(exitsOf(l, 0), true)
	p.steps = p.before.steps
	if p.before.judge == nil {
		return p
	}
	for i, r := range p.before.judge.rules() {
		x := newLine(string(r.Action), "", nil, i)
		if on := r.OnExitCodes; on != nil {
			x = newLine(string(r.Action), on.Operator, on.Values, i)
			x.shared = on.ContainerName == nil && p.several
			x.other = on.ContainerName != nil && *on.ContainerName != p.container.Name
			x.fixed = x.fixed || x.other
		}
		for _, pattern := range r.OnPodConditions {
			if pattern == (policy.PodConditionPattern{Type: disruptionTarget, Status: "True"}) {
				x.disrupts = true
				x.condition = len(r.OnPodConditions) == 1
			}
		}
		p.job = append(p.job, x)
	}
	return p
}

// disruptionTarget is the condition of a Pod that is ended from outside.
const disruptionTarget = "DisruptionTarget"

// acts returns what the kubelet does after each code.
func (p *planner) acts(pod, own string, rules []line) (acts [codes]uint8) {
	p.steps += codes
	container := p.with(own, rules)
	spec := policy.PodSpec{RestartPolicy: policy.RestartPolicy(pod)}
	switch p.ref.Kind {
	case policy.InitContainer:
		spec.InitContainers = []policy.Container{container}
	case policy.EphemeralContainer:
		spec.EphemeralContainers = []policy.Container{container}
	default:
		spec.Containers = []policy.Container{container}
	}
	compiled := policy.Compile(&spec, p.cl.node().features)
	for code := range acts {
		switch compiled.Decide(policy.Ref{Kind: p.ref.Kind}, policy.Exit{Code: int32(code)}).Action {
		case policy.Restart:
			acts[code] = wishRestart
		case policy.RestartAllContainers:
			acts[code] = wishRestartAll
		default:
			acts[code] = wishStop
		}
	}
	return acts
}

// with is the container with another policy and other rules.
func (p *planner) with(own string, rules []line) policy.Container {
	container := *p.container
	container.RestartPolicy, container.RestartPolicyRules, container.HasRules = nil, nil, len(rules) > 0
	if own != "" {
		policy := policy.RestartPolicy(own)
		container.RestartPolicy = &policy
	}
	for i := range rules {
		x := &rules[i]
		var r policy.ContainerRestartRule
		if x.from >= 0 {
			r = p.container.RestartPolicyRules[x.from]
		} else {
			r.Action = policy.ContainerRestartRuleAction(ruleActions[x.action])
		}
		if !x.fixed {
			r.ExitCodes = &policy.ContainerRestartRuleOnExitCodes{Operator: x.operator(), Values: x.values()}
		}
		container.RestartPolicyRules = append(container.RestartPolicyRules, r)
	}
	return container
}

// kubelet returns the changes of policies and rules by which the kubelet does what is wished, the
// cheapest first. never asks for a Pod that is not restarted.
func (p *planner) kubelet(never bool) []choice {
	windows := p.l.object.Spec.Windows
	sure := !windows
	today := p.acts(p.pod, p.own, p.rules)
	var want, target [codes]uint8
	for code := range want {
		if want[code] = min(p.want[code], wishStop); want[code] != 0 {
			target[code] = want[code]
		} else {
			target[code] = today[code]
		}
	}
	pods, owns := []string{p.pod}, []string{p.own}
	if sidecar := p.container.IsSidecar(p.ref.Kind); p.cl.features.ContainerRestartRules && p.ref.Kind != policy.EphemeralContainer && !sidecar {
		for _, own := range [...]string{"", "Never", "OnFailure", "Always"} {
			if own != p.own && (own != "Always" || p.ref.Kind == policy.MainContainer) {
				owns = append(owns, own)
			}
		}
	}
	if ours := p.l.template == nil || p.l.template.RestartPolicyPath == "" && p.l.template.Step == ""; never && ours && p.pod != "Never" {
		pods = []string{"Never"}
	} else if ours {
		for _, pod := range [...]string{"Never", "OnFailure", "Always"} {
			if pod != p.pod && (pod != "Always" || p.pod != "") {
				pods = append(pods, pod)
			}
		}
	}
	var found []choice
	for _, pod := range pods {
		for _, own := range owns {
			if pod != p.pod && own != p.own && !never {
				continue
			}
			lists := [][]line{nil}
			if own != "" && p.cl.features.ContainerRestartRules {
				if lists = append(lists, p.rules); p.ref.Kind != policy.EphemeralContainer {
					base := p.acts(pod, own, nil)
					lists = append(append(lists, variants(p.rules, &want, wishStop)...), p.fewest(&target, base, false))
					if windows {
						lists = append(lists, p.fewest(&target, base, true))
					}
					if p.flip {
						s := nearest{was: p.rules, target: &target, base: &base, actions: []uint8{wishRestart, wishRestartAll}}
						if p.ref.Kind == policy.InitContainer {
							s.least = 1 // with 0 it has completed, whatever most rules say
						}
						near, exact := s.find(windows)
						lists, sure = append(lists, near), sure && exact
					}
				}
			} else if len(p.rules) > 0 && own == p.own {
				lists = [][]line{p.rules}
			}
			for _, rules := range lists {
				acts, changed, ok := p.acts(pod, own, rules), int64(0), true
				for code := range acts {
					if want[code] != 0 {
						ok = ok && acts[code] == want[code]
					} else if acts[code] != today[code] {
						changed++
					}
				}
				if ok {
					x := choice{pod: pod, own: own, lines: rules}
					x.cost = price(p.rules, rules, p.flip, len(p.kubeletEdits(&x)))
					x.cost[0] = changed
					found = append(found, x)
				}
			}
		}
	}
	p.bound(found, sure)
	return inCost(found)
}

// bound adds the fewest rules and values of one layer's choices to what is needed at least. sure
// reports that there is a choice that has the fewest there are.
func (p *planner) bound(found []choice, sure bool) {
	var best *cost
	for i := range found {
		if x := &found[i].cost; x[0] == 0 && (best == nil || x.less(best)) {
			best = x
		}
	}
	if p.sure = p.sure && sure && best != nil; p.sure {
		p.low[1], p.low[2] = p.low[1]+best[1], p.low[2]+best[2]
	}
}

// fewest returns the shortest rules of the container for target, where base is what comes without
// rules. On Windows it may be only those with In, or only others, by which other codes come to what
// they come to today.
func (p *planner) fewest(target *[codes]uint8, base [codes]uint8, onlyIn bool) []line {
	var wishes []uint8
	for x := wishRestart; x <= wishRestartAll; x++ {
		for code := range target {
			if target[code] == x && base[code] != x {
				wishes = append(wishes, x)
				break
			}
		}
	}
	return shortest(wishes, func(x uint8, code int) int {
		switch {
		case code == 0 && x == wishRestart && p.ref.Kind == policy.InitContainer:
			return 0 // it has completed, whatever a rule says
		case target[code] != x:
			return -1
		case base[code] == x:
			return 0
		}
		return 1
	}, onlyIn, 0)
}

// inCost returns choices in the order of their costs, each once, those that were found first before
// others.
func inCost(found []choice) []choice {
	out := make([]choice, 0, len(found))
	for _, i := range policy.Order(len(found), func(a, b int) bool { return found[a].cost.less(&found[b].cost) }) {
		out = append(out, found[i])
	}
	return out
}

// controller returns the changes of the podFailurePolicy by which the Job does what is wished, the
// cheapest first.
func (p *planner) controller() []choice {
	lists := [][]line{p.job}
	named := p.disruption != 0
	var want, today [codes]uint8
	for code := 1; code < codes; code++ {
		if today[code] = first(p.job, code); today[code] == 0 {
			today[code] = wishCount
		}
		if p.want[code] > wishStop {
			want[code], named = p.want[code], true
		}
	}
	if named {
		base := p.job
		if p.disruption != 0 && !disrupted(base, p.disruption) {
			base = []line{{action: p.disruption, fixed: true, disrupts: true, condition: true, from: -1}}
			for i := range p.job {
				if !p.job[i].condition {
					base = append(base, p.job[i])
				}
			}
		}
		lists = append(lists, variants(base, &want, 0)...)
		for _, end := range [...]bool{false, true} {
			lists = append(lists, p.fewestOfJob(base, &want, &today, end, false))
			if p.l.object.Spec.Windows {
				lists = append(lists, p.fewestOfJob(base, &want, &today, end, true))
			}
		}
	}
	p.sure = true
	if p.flip && named {
		var base [codes]uint8
		target := today
		for code := range base {
			if base[code] = wishCount; want[code] != 0 {
				target[code] = want[code]
			}
		}
		s := nearest{was: p.job, target: &target, base: &base, least: 1, actions: []uint8{wishCount, wishIgnore, wishFailJob, wishFailIndex}}
		near, exact := s.find(p.l.object.Spec.Windows)
		for i := range near {
			if x := &near[i]; !x.in && !x.fixed && len(x.values()) == 0 {
				x.has[0], exact = true, false // as in fewestOfJob
			}
		}
		lists, p.sure = append(lists, near), exact
	}
	var found []choice
	for _, lines := range lists {
		changed, ok := int64(0), p.disruption == 0 || disrupted(lines, p.disruption)
		for code := 1; code < codes; code++ {
			act := first(lines, code)
			if act == 0 {
				act = wishCount
			}
			if want[code] != 0 {
				ok = ok && act == want[code]
			} else if act != today[code] {
				changed++
			}
		}
		if ok {
			x := choice{lines: lines}
			x.cost = price(p.job, lines, p.flip, len(p.controllerEdits(&x)))
			x.cost[0] = changed
			found = append(found, x)
		}
	}
	sure := !p.l.object.Spec.Windows
	for i := range p.job { // rules that are about other containers, too, might be written otherwise
		sure = sure && (p.flip || !named || p.job[i].fixed || !p.job[i].shared && p.job[i].action != 0)
	}
	p.bound(found, sure)
	return inCost(found)
}

// disrupted reports whether a Pod that is disrupted meets a line of wish x first, whatever its
// containers end with.
func disrupted(lines []line, x uint8) bool {
	for i := range lines {
		y := &lines[i]
		if y.disrupts {
			return y.action == x
		}
		for code := 1; code < codes; code++ {
			if (y.matches(code) || y.other && y.has[code] == y.in) && y.action != x {
				return false
			}
		}
	}
	return x == wishCount
}

// fewestOfJob writes the rules about the container again. What others share stays, and so do rules
// about conditions; the new rules come after the conditions that are first, or at the end.
func (p *planner) fewestOfJob(base []line, want, today *[codes]uint8, end, onlyIn bool) []line {
	var kept []line
	at := 0
	for i := range base {
		if x := &base[i]; x.fixed || x.shared || x.action == 0 {
			kept = append(kept, *x)
			if at == len(kept)-1 && x.fixed {
				at++
			}
		}
	}
	if end {
		at = len(kept)
	}
	target := *today
	for code := range want {
		if want[code] != 0 {
			target[code] = want[code]
		}
	}
	var wishes []uint8
	for x := wishCount; x <= wishFailIndex; x++ {
		for code := 1; code < codes; code++ {
			if have := first(kept, code); target[code] == x && have != x && (have != 0 || x != wishCount) {
				wishes = append(wishes, x)
				break
			}
		}
	}
	fresh := shortest(wishes, func(x uint8, code int) int {
		have := first(kept, code)
		switch {
		case end && have != 0:
			return 0
		case target[code] != x:
			return -1
		case have == x || have == 0 && x == wishCount:
			return 0
		}
		return 1
	}, onlyIn, 1)
	for i := range fresh {
		if !fresh[i].in && len(fresh[i].values()) == 0 {
			fresh[i].has[0] = true // a list has to have a value, and 0 matches nothing
		}
	}
	return append(append(append([]line(nil), kept[:at]...), fresh...), kept[at:]...)
}

// exists reports whether the manifest has something at path.
func (p *planner) exists(path string) bool {
	return p.c.man.At(path).Exists()
}

// setEdit sets the text at path, or removes it.
func (p *planner) setEdit(path, value string) edit {
	switch {
	case value == "":
		return edit{op: "remove", path: manifest.Pointer(path)}
	case p.exists(path):
		return edit{op: "replace", path: manifest.Pointer(path), value: `"` + value + `"`}
	}
	return edit{op: "add", path: manifest.Pointer(path), value: `"` + value + `"`}
}

func (p *planner) kubeletEdits(x *choice) (edits []edit) {
	o := &p.l.object
	at := pathsOf(o, p.ref)
	if x.pod != p.pod {
		edits = append(edits, p.setEdit(at.pod, x.pod))
	}
	if x.own != p.own {
		edits = append(edits, p.setEdit(at.container+".restartPolicy", x.own))
	}
	return append(edits, p.listEdits(at.rules, p.rules, x.lines, func(y *line) string { return p.ruleJSON(y, "exitCodes", "") }, func(from int) (string, []int32) {
		return "/exitCodes/values/", p.container.RestartPolicyRules[from].ExitCodes.Values
	})...)
}

func (p *planner) controllerEdits(x *choice) (edits []edit) {
	if p.before.judge == nil {
		return nil
	}
	name := ""
	if p.several {
		name = p.container.Name
	}
	has := p.before.judge.job.PodFailurePolicy != nil
	at := p.l.jobPath("podFailurePolicy")
	edits = p.listEdits(at+".rules", p.job, x.lines, func(y *line) string { return p.ruleJSON(y, "onExitCodes", name) }, func(from int) (string, []int32) {
		return "/onExitCodes/values/", p.before.judge.rules()[from].OnExitCodes.Values
	})
	if len(edits) == 0 {
		return nil
	}
	if !has {
		edits[0].path, edits[0].value = manifest.Pointer(at), `{"rules":`+edits[0].value+`}`
		if replaces := p.l.jobPath("podReplacementPolicy"); p.exists(replaces) && p.c.man.At(replaces).Text() != string(policy.ReplaceFailed) {
			edits = append(edits, p.setEdit(replaces, string(policy.ReplaceFailed)))
		}
	} else if len(x.lines) == 0 {
		edits[0].path = manifest.Pointer(at)
	}
	return edits
}

// ruleJSON is a new rule.
func (p *planner) ruleJSON(x *line, on, container string) string {
	text := `{"action":"` + ruleActions[x.action] + `",`
	if x.condition {
		return text + `"onPodConditions":[{"type":"` + disruptionTarget + `","status":"True"}]}`
	}
	text += `"` + on + `":{`
	if container != "" {
		text += `"containerName":` + string(manifest.AppendQuoted(nil, container)) + `,`
	}
	text += `"operator":"` + string(x.operator()) + `","values":[`
	for i, v := range x.values() {
		if i > 0 {
			text += ","
		}
		text += strconv.Itoa(int(v))
	}
	return text + `]}}`
}

// apply returns base, which is the manifest of p in some release, as the choices leave it. ok is
// false if the API server of f refuses it.
func (p *planner) apply(base *loaded, f policy.Features, kubelet, controller *choice) (l loaded, ok bool) {
	l = *base
	o := &l.object
	o.Spec.RestartPolicy = policy.RestartPolicy(kubelet.pod)
	lists := [...]*[]policy.Container{&o.Spec.Containers, &o.Spec.InitContainers, &o.Spec.EphemeralContainers}
	list := lists[p.ref.Kind]
	*list = append([]policy.Container(nil), *list...)
	(*list)[p.ref.Index] = p.with(kubelet.own, kubelet.lines)
	if o.Job != nil {
		job := *o.Job
		o.Job = &job
		if job.PodReplacementPolicy != nil && !p.exists(p.l.jobPath("podReplacementPolicy")) {
			job.PodReplacementPolicy = nil
		}
		if edits := p.controllerEdits(controller); len(edits) > 0 {
			if len(edits) > 1 && job.PodFailurePolicy == nil {
				job.PodReplacementPolicy = nil
			}
			job.PodFailurePolicy = p.failurePolicy(controller.lines)
		}
		admission.SetDefaults(o, f)
		jobs := o.Kind == "Job" || o.Embedded
		if jobs {
			admission.DropDisabledOfJob(o.Job, nil, "", f)
		}
	}
	admission.DropDisabled(&o.Spec, o.SpecPath, f)
	for _, fault := range admission.Validate(o, f) {
		if fault.Path != "spec.ephemeralContainers" || o.Kind != "Pod" {
			return l, false
		}
	}
	return l, true
}

// failurePolicy is the podFailurePolicy with these lines; nil without any.
func (p *planner) failurePolicy(lines []line) *policy.PodFailurePolicy {
	if len(lines) == 0 {
		return nil
	}
	out := &policy.PodFailurePolicy{}
	for i := range lines {
		x := &lines[i]
		r := policy.PodFailurePolicyRule{Action: policy.PodFailureAction(ruleActions[x.action])}
		if x.from >= 0 {
			r = p.before.judge.rules()[x.from]
		} else if x.condition {
			r.OnPodConditions = []policy.PodConditionPattern{{Type: disruptionTarget, Status: "True"}}
		}
		if !x.fixed {
			on := policy.PodFailurePolicyOnExitCodes{Operator: x.operator(), Values: x.values()}
			if x.from >= 0 {
				on.ContainerName = r.OnExitCodes.ContainerName
			} else if p.several {
				on.ContainerName = &p.container.Name
			}
			r.OnExitCodes = &on
		}
		out.Rules = append(out.Rules, r)
	}
	return out
}

// change are codes that come to something else although nobody wished it.
type change struct {
	container string
	from, to  int32
	was, is   *fate
	oom       bool
}

// check decides about every exit again. ok reports that the wishes hold and that nothing else
// changes about disrupted Pods.
func (p *planner) check(after *loaded, cl cluster) (changes []change, n int64, ok bool) {
	q := newAsked(after, cl)
	q.steps = p.steps
	exits, from := exitsOf(after, 0), 0
	if q.judge == nil && after.object.Spec.RestartPolicy == p.l.object.Spec.RestartPolicy && cl.features == p.cl.features { // the others are what they were
		for exits[from].ref != p.ref {
			from++
		}
		exits = exits[from : from+1]
	}
	tables := q.tables(exits, true)
	p.steps = q.steps
	ok = p.steps <= policy.MaxSteps && len(tables) == len(exits)
	for i := range tables {
		was, is := &p.tables[from+i], &tables[i]
		ours := is.ref == p.ref
		name := after.object.Spec.Container(is.ref).Name
		a, b := 0, 0
		for code := int32(0); code < codes; code++ {
			if was.ranges[a].to < code {
				a++
			}
			if is.ranges[b].to < code {
				b++
			}
			old, now := was.ranges[a].fate, is.ranges[b].fate
			if ours && p.want[code] != 0 {
				ok = ok && now.meets(p.want[code])
				continue
			}
			if old.comesTo(now) {
				continue
			}
			n++
			if k := len(changes) - 1; k >= 0 && changes[k].to == code-1 && changes[k].container == name && changes[k].was.comesTo(old) && changes[k].is.comesTo(now) {
				changes[k].to = code
			} else {
				changes = append(changes, change{name, code, code, old, now, false})
			}
		}
		across(was.beyond, is.beyond, func(from, to int32, old, now *fate) {
			if !old.comesTo(now) {
				n += int64(to) - int64(from) + 1
				changes = append(changes, change{name, from, to, old, now, false})
			}
		})
		old, now := was.ranges[0].fate, is.ranges[0].fate
		if was.oom != nil {
			old = was.oom
		}
		if is.oom != nil {
			now = is.oom
		}
		if (!ours || p.want[0] == 0) && !old.comesTo(now) && (was.oom != nil || is.oom != nil) {
			n++
			changes = append(changes, change{name, 0, 0, old, now, true})
		}
	}
	return changes, n, ok && (q.judge == nil || p.sameConditions(q.judge))
}

// sameConditions reports whether Pods with a condition that rules look at have the outcome that
// they have today, whatever their containers end with, unless that is wished.
func (p *planner) sameConditions(after *jobJudge) bool {
	list := p.l.object.Spec.Names()
	for _, r := range p.before.judge.rules() {
		for _, pattern := range r.OnPodConditions {
			if p.disruption != 0 && pattern.Type == disruptionTarget {
				continue
			}
			pod := policy.FailedPod{Conditions: []policy.PodCondition{{Type: pattern.Type, Status: pattern.Status}}, Exits: make([]policy.PodExit, 1)}
			for kind := policy.MainContainer; kind <= policy.InitContainer; kind++ {
				for i, container := range list.List(kind) {
					ours := p.ref == policy.Ref{Kind: kind, Index: i}
					for code := int32(0); code < codes; code++ {
						p.steps++
						pod.Exits[0] = policy.PodExit{Container: container.Name, Code: code}
						if (!ours || p.want[code] == 0) && acted(p.before.judge.compiled.Match(&pod)) != acted(after.compiled.Match(&pod)) {
							return false
						}
					}
				}
			}
		}
	}
	return p.steps <= policy.MaxSteps
}

// acted is the action of a match; without a rule a failure counts.
func acted(m policy.PodFailureMatch) policy.PodFailureAction {
	if m.Action == "" {
		return policy.ActionCount
	}
	return m.Action
}

// meets reports whether f is what wish x asks for.
func (f *fate) meets(x uint8) bool {
	if f.why != "" {
		return false
	}
	switch x {
	case wishRestart:
		return f.Action == policy.Restart
	case wishRestartAll:
		return f.Action == policy.RestartAllContainers
	case wishStop:
		return f.Action == policy.Stop
	}
	return f.Action == policy.Stop && f.job.judged && f.job.undecided == "" && string(acted(f.job.match)) == ruleActions[x]
}

// comesTo reports whether f and g are the same to a user, whatever decides it.
func (f *fate) comesTo(g *fate) bool {
	x, y := &f.job, &g.job
	switch {
	case f.why != g.why || f.why == "" && (f.ends() != g.ends() || f.PodFails != g.PodFails), x.phase != y.phase || x.undecided != y.undecided:
		return false
	case x.undecided != "":
		return true
	}
	return x.judged == y.judged && acted(x.match) == acted(y.match) && x.counted == y.counted && x.index == y.index && x.outcome == y.outcome && x.reason == y.reason
}

// ends is the action of f; a container that a rule terminates stops like any other.
func (f *fate) ends() policy.Action {
	if f.Action == policy.Action(policy.ActionTerminate) {
		return policy.Stop
	}
	return f.Action
}
