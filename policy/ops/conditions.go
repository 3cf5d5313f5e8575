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
	limits   [2]int64 // those of limitNames, below 0 for none
	names    []string // of containers
	turns    []turn   // theirs
	first    []int32  // the rule that an exit meets first, for each container and code; -1 for none
}

// limitNames are the limits of a Job that tables do not have.
var limitNames = [...]string{"backoffLimitPerIndex", "maxFailedIndexes"}

// sides are the members of a difference.
var sides = [...]string{"first", "here"}

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
		r := jobRules{rules: judge.rules(), compiled: judge.meets()}
		for k, limit := range [...]*int32{judge.job.BackoffLimitPerIndex, judge.job.MaxFailedIndexes} {
			if r.limits[k] = -1; limit != nil {
				r.limits[k] = int64(*limit)
			}
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
			if x.limits[k] == y.limits[k] {
				continue
			}
			d.begin("limit")
			d.text("template", x.template)
			d.text("name", name)
			for m, limit := range [...]int64{x.limits[k], y.limits[k]} {
				if limit >= 0 {
					d.int(sides[m], limit)
				}
			}
			d.end()
		}
		// Signs that lead to the same alone. Exits that do not are noted with their codes, except those of
		// sidecars, which by themselves fail no Pod.
		var alike []*sign
		for _, s := range signsOf(x, y) {
			if x.action(s.first) == y.action(s.here) {
				alike = append(alike, s)
			} else if s.kind != "" || s.turn == turnSidecar {
				d.sign(x, y, s, nil)
			}
		}
		for k, s := range alike {
			for _, t := range alike[k+1:] {
				if !s.excludes(t) && x.action(earlier(s.first, t.first)) != y.action(earlier(s.here, t.here)) {
					d.sign(x, y, s, t)
					break
				}
			}
		}
	}
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
func signsOf(x, y *jobRules) (list []*sign) {
	var pod policy.FailedPod
	add := func(kind, name, status string) {
		for i := range list {
			if s := list[i]; s.kind == kind && s.name == name && s.status == status {
				return
			}
		}
		list = append(list, &sign{kind: kind, name: name, status: status, first: x.compiled.Match(&pod).Rule, here: y.compiled.Match(&pod).Rule})
	}
	for _, rules := range [...][]policy.PodFailurePolicyRule{x.rules, y.rules} {
		for k := range rules {
			for _, p := range rules[k].OnPodConditions {
				pod = policy.FailedPod{Conditions: []policy.PodCondition{{Type: p.Type, Status: p.Status}}}
				add("condition", p.Type, p.Status)
			}
			for _, p := range rules[k].Reasons {
				for _, reason := range p.Values {
					pod = policy.FailedPod{Reason: reason}
					add("podReason", reason, "True")
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
		s := &sign{name: x.names[i/codes], turn: x.turns[i/codes], code: int64(i % codes), first: x.first[i], here: y.first[k*codes+i%codes]}
		same := 0
		for j := range list {
			if t := list[j]; t.kind == "" && t.turn == s.turn && t.first == s.first && t.here == s.here {
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
	kind := s.kind
	if kind == "" {
		kind = "exits"
	}
	d.begin(kind)
	d.text("template", x.template)
	d.shown(s, "name")
	if t != nil {
		d.w.KeyObject("with")
		d.shown(t, t.kind)
		d.w.End()
	}
	d.text("first", string(x.action(p)))
	d.text("here", string(y.action(q)))
	d.end()
}

// shown writes a sign: the container and the code of an exit, or else the name, and the status if
// that is not True.
func (d *differ) shown(s *sign, name string) {
	if s.kind == "" {
		d.text("container", s.name)
		d.int("exitCode", s.code)
		return
	}
	d.text(name, s.name)
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
