package ops

import (
	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/manifest"
)

// jobRules is what compare knows of the podFailurePolicy of one template, to ask it about Pods with
// a condition, or with a reason that a draft's rule looks at. Exit codes are compared apart.
type jobRules struct {
	template string
	rules    []policy.PodFailurePolicyRule
	compiled *policy.FailurePolicy
	names    []string // of containers
	first    []int32  // the rule that an exit meets first, for each container and code; -1 for none
}

// jobRulesOf returns those of each Job of a request that was answered.
func jobRulesOf(all []loaded, cl cluster) (list []jobRules) {
	for i := range all {
		judge := newJobJudge(&all[i], cl)
		if judge == nil {
			continue
		}
		r := jobRules{rules: judge.rules(), compiled: judge.compiled}
		if all[i].template != nil {
			r.template = all[i].template.Path
		}
		names := all[i].object.Spec.Names()
		pod := policy.FailedPod{Exits: make([]policy.PodExit, 1)}
		for kind := policy.MainContainer; kind <= policy.InitContainer; kind++ {
			for _, container := range names.List(kind) {
				r.names = append(r.names, container.Name)
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

// both is the action for a Pod that meets rule by what its codes do not say, and with exit number i
// of first; -1 for one without exits.
func (r *jobRules) both(rule int32, i int) policy.PodFailureAction {
	if i < 0 || r.first[i] < 0 {
		return r.action(rule)
	}
	if rule < 0 || r.first[i] < rule {
		rule = r.first[i]
	}
	return r.action(rule)
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

// conditions notes the conditions, and reasons, of Pods that two variants make something else of.
func (d *differ) conditions(a, b []jobRules) {
	for i := range a {
		x := &a[i]
		y := x.counterpartOf(b)
		if y == nil {
			continue // a container is then missing as well
		}
		var asked []string
		for _, rules := range [...][]policy.PodFailurePolicyRule{x.rules, y.rules} {
			for k := range rules {
				for _, p := range rules[k].OnPodConditions {
					if key := p.Type + "\x00" + string(p.Status); !contains(asked, key) {
						asked = append(asked, key)
						d.condition(x, y, "condition", p.Type, string(p.Status), &policy.FailedPod{Conditions: []policy.PodCondition{{Type: p.Type, Status: p.Status}}})
					}
				}
				for _, p := range rules[k].Reasons {
					for _, reason := range p.Values {
						if key := "\x00" + reason; !contains(asked, key) {
							asked = append(asked, key)
							d.condition(x, y, "podReason", reason, "", &policy.FailedPod{Reason: reason})
						}
					}
				}
			}
		}
	}
}

// condition notes what becomes of pod, and of such a one whose containers exited, the first exit
// that differs for more than its code.
func (d *differ) condition(x, y *jobRules, kind, name, status string, pod *policy.FailedPod) {
	p, q := x.compiled.Match(pod).Rule, y.compiled.Match(pod).Rule
	at, other := -1, -1 // places of the same exit
	differs := x.both(p, at) != y.both(q, other)
	for i := 0; i < len(x.first) && !differs; i++ {
		k := 0
		for k < len(y.names) && y.names[k] != x.names[i/codes] {
			k++
		}
		if k == len(y.names) {
			continue
		}
		at, other = i, k*codes+i%codes
		differs = x.both(p, at) != y.both(q, other) && x.action(x.first[at]) == y.action(y.first[other])
	}
	if !differs {
		return
	}
	d.begin(kind)
	d.text("template", x.template)
	d.text("name", name)
	if status != "True" {
		d.text("status", status)
	}
	if at >= 0 {
		d.text("container", x.names[at/codes])
		d.int("from", int64(at%codes))
		d.int("to", int64(at%codes))
	}
	d.text("first", string(x.both(p, at)))
	d.text("here", string(y.both(q, other)))
	d.end()
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
