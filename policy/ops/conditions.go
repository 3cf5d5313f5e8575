package ops

import (
	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/manifest"
)

// jobRules is what compare knows of the podFailurePolicy of one template, to ask it about Pods that
// show more than one exit code: a condition, a reason that a draft's rule looks at, or two exits.
type jobRules struct {
	template string
	rules    []policy.PodFailurePolicyRule
	compiled *policy.FailurePolicy
	limits   [2]*int32 // those of limitNames
	names    []string  // of containers
	turns    []turn    // theirs
	first    []int32   // the rule that an exit meets first, for each container and code; -1 for none
}

// limitNames are the limits of a Job that tables do not have.
var limitNames = [...]string{"backoffLimitPerIndex", "maxFailedIndexes"}

// turn is when a container runs.
type turn uint8

const (
	turnMain turn = iota
	turnInit      // before the main containers, which do not run if it fails
	turnSidecar
)

// sign is what a failed Pod shows: a condition, a reason or an exit.
type sign struct {
	kind, name, status string // of an exit kind is "", and name is its container
	turn               turn
	code               int64
	first, here        int32 // the rules that it meets in the two variants; -1 for none
}

// jobRulesOf returns those of each Job of a request that was answered.
func jobRulesOf(all []loaded, cl cluster) (list []jobRules) {
	for i := range all {
		judge := newJobJudge(&all[i], cl)
		if judge == nil {
			continue
		}
		r := jobRules{
			rules: judge.rules(), compiled: judge.meets(),
			limits: [2]*int32{judge.job.BackoffLimitPerIndex, judge.job.MaxFailedIndexes},
		}
		if all[i].template != nil {
			r.template = all[i].template.Path
		}
		names := all[i].object.Spec.Names()
		pod := policy.FailedPod{Exits: make([]policy.PodExit, 1)}
		for kind := policy.MainContainer; kind <= policy.InitContainer; kind++ {
			for k, container := range names.List(kind) {
				at := turnMain
				if kind == policy.InitContainer {
					if at = turnInit; all[i].object.Spec.List(kind)[k].IsSidecar(kind) {
						at = turnSidecar
					}
				}
				r.names, r.turns = append(r.names, container.Name), append(r.turns, at)
				for code := int32(0); code < codes; code++ {
					pod.Exits[0] = policy.PodExit{Container: container.Name, Code: code}
					r.first = append(r.first, r.compiled.Match(&pod).Rule)
				}
			}
		}
		list = append(list, r)
	}
	return list
}

// action is that of a rule; without one a failure counts.
func (r *jobRules) action(rule int32) policy.PodFailureAction {
	if rule < 0 {
		return policy.ActionCount
	}
	return r.rules[rule].Action
}

// earlier returns the rule that decides where two are met, -1 for none.
func earlier(a, b int32) int32 {
	if a < 0 || b >= 0 && b < a {
		return b
	}
	return a
}

// counterpartOf returns what other knows of the template of r, nil if nothing.
func (r *jobRules) counterpartOf(other []jobRules) *jobRules {
	for i := range other {
		if other[i].template == r.template {
			return &other[i]
		}
	}
	return nil
}

// conditions notes the limits of Jobs that differ, then the conditions, reasons and pairs of exits
// of failed Pods that have another outcome. Pairs are enough: of all that a Pod shows, one thing
// decides in each variant.
func (d *differ) conditions(a, b []jobRules) {
	for i := range a {
		x := &a[i]
		y := x.counterpartOf(b)
		if y == nil {
			continue // a container is then missing as well
		}
		for k, name := range limitNames {
			d.limit(x.template, name, x.limits[k], y.limits[k])
		}
		differ := func(p, q int32) bool { return x.action(p) != y.action(q) }
		// Signs that lead to the same alone. Exits that do not are noted with their codes, except those of
		// sidecars, which by themselves fail no Pod.
		var alike []sign
		for _, s := range signsOf(x, y) {
			if !differ(s.first, s.here) {
				alike = append(alike, s)
			} else if s.kind != "" || s.turn == turnSidecar {
				d.sign(x, y, &s, nil)
			}
		}
		for k := range alike {
			s := &alike[k]
			for m := range alike[k+1:] {
				t := &alike[k+1+m]
				if !s.excludes(t) && differ(earlier(s.first, t.first), earlier(s.here, t.here)) {
					d.sign(x, y, s, t)
					break
				}
			}
		}
	}
}

// limit notes a limit that differs, which may be set in one variant only.
func (d *differ) limit(template, name string, first, here *int32) {
	if first == here || first != nil && here != nil && *first == *here {
		return
	}
	d.begin("limit")
	d.text("template", template)
	d.text("name", name)
	if first != nil {
		d.int("first", int64(*first))
	}
	if here != nil {
		d.int("here", int64(*here))
	}
	d.end()
}

// signSteps is about how many comparisons of names conditions makes: each of all those that rules
// look at with all.
func signSteps(a, b []jobRules) (steps int) {
	names := func(rules []policy.PodFailurePolicyRule) (n int) {
		for i := range rules {
			n += len(rules[i].OnPodConditions)
			for k := range rules[i].Reasons {
				n += len(rules[i].Reasons[k].Values)
			}
		}
		return n
	}
	for i := range a {
		if y := a[i].counterpartOf(b); y != nil {
			n := min(names(a[i].rules)+names(y.rules), policy.MaxSteps>>10) // whose square an int of 32 bits holds
			if steps += n * n; steps > policy.MaxSteps {
				break
			}
		}
	}
	return steps
}

// signsOf returns all that rules of x and y are about: conditions, reasons, then exits, of those
// that meet the same rules one of each of two containers.
func signsOf(x, y *jobRules) (list []sign) {
	add := func(s sign, pod *policy.FailedPod) {
		for i := range list {
			if list[i].kind == s.kind && list[i].name == s.name && list[i].status == s.status {
				return
			}
		}
		s.first, s.here = x.compiled.Match(pod).Rule, y.compiled.Match(pod).Rule
		list = append(list, s)
	}
	for _, rules := range [...][]policy.PodFailurePolicyRule{x.rules, y.rules} {
		for k := range rules {
			for _, p := range rules[k].OnPodConditions {
				add(sign{kind: "condition", name: p.Type, status: string(p.Status)}, &policy.FailedPod{Conditions: []policy.PodCondition{{Type: p.Type, Status: p.Status}}})
			}
			for _, p := range rules[k].Reasons {
				for _, reason := range p.Values {
					add(sign{kind: "podReason", name: reason, status: "True"}, &policy.FailedPod{Reason: reason})
				}
			}
		}
	}
	for i := range x.first {
		k := 0
		for k < len(y.names) && y.names[k] != x.names[i/codes] {
			k++
		}
		if k == len(y.names) {
			continue
		}
		s := sign{name: x.names[i/codes], turn: x.turns[i/codes], code: int64(i % codes), first: x.first[i], here: y.first[k*codes+i%codes]}
		same := 0
		for _, t := range list {
			if t.kind == "" && t.turn == s.turn && t.first == s.first && t.here == s.here {
				if same++; t.name == s.name {
					same = 2
				}
			}
		}
		if same < 2 && (s.first >= 0 || s.here >= 0) {
			list = append(list, s)
		}
	}
	return list
}

// excludes reports whether no Pod shows both: a condition has one status, a Pod one reason, a
// container one exit, and after a failed init container no other one runs, except sidecars.
func (s *sign) excludes(t *sign) bool {
	switch {
	case s.kind != t.kind:
		return false
	case s.kind == "" && s.turn != turnSidecar && t.turn != turnSidecar && (s.turn == turnInit || t.turn == turnInit):
		return true
	}
	return s.kind == "podReason" || s.name == t.name
}

// sign notes what becomes of Pods with s, and with t if that is not nil.
func (d *differ) sign(x, y *jobRules, s, t *sign) {
	p, q := s.first, s.here
	if t != nil {
		p, q = earlier(p, t.first), earlier(q, t.here)
	}
	if s.kind == "" {
		d.begin("exits")
	} else {
		d.begin(s.kind)
	}
	d.text("template", x.template)
	if s.kind != "" {
		d.condition("name", s)
		if t != nil && t.kind == "" {
			s, t = t, nil
		}
	}
	if s.kind == "" {
		d.text("container", s.name)
		d.int("from", s.code)
		d.int("to", s.code)
	}
	if t != nil {
		d.w.KeyObject("with")
		if t.kind == "" {
			d.text("container", t.name)
			d.int("exitCode", t.code)
		} else {
			d.condition(t.kind, t)
		}
		d.w.End()
	}
	d.text("first", string(x.action(p)))
	d.text("here", string(y.action(q)))
	d.end()
}

// condition writes the name of a condition or a reason, and the status if that is not True.
func (d *differ) condition(member string, s *sign) {
	d.text(member, s.name)
	if s.status != "True" {
		d.text("status", s.status)
	}
}

// loadedAgain reads the manifests of a request that was answered, for what its answer does not say.
func (c *call) loadedAgain(request manifest.Value) ([]loaded, cluster) {
	if !given(request.Get("manifest")) {
		return nil, cluster{}
	}
	wants := Members(nameOf(tableNumber))
	var w manifest.Writer
	w.Object()
	some(&w, request, func(name string) bool { return contains(wants, name) && !contains(narrowingMembers, name) })
	w.End()
	other := c.memory.within().begin(w.Bytes())
	if other.failure != nil {
		return nil, cluster{}
	}
	cl, all, _ := other.admitAll()
	return all, cl
}
