package policy

import "slices"

// What proposals add to the rules of containers. A release's rule asks for exit codes alone; that
// of a proposal may ask how often the container was restarted, or whether it ended for lack of
// memory. For each answer to these questions a rule becomes one that matches all codes or none, so
// that a decision stays a look-up in a table like any other.

// maxRestartCount is the highest restart count that a condition or a limit can ask for.
const maxRestartCount = 1<<31 - 1

// anyCode matches each exit code. Nobody writes to it.
var anyCode = &ContainerRestartRuleOnExitCodes{Operator: OperatorNotIn}

// codes returns which exit codes rule r matches when a container ends like e, nil for none. A
// kubelet that does not know the words of a proposal sees a rule without a condition.
func (r *ContainerRestartRule) codes(f Features, e Exit) *ContainerRestartRuleOnExitCodes {
	known := f.Proposals.Has(KEP5307Future)
	switch {
	case r.Restarts != nil:
		n := uint32(*r.Restarts)
		if known && (e.Restarts == n || e.Restarts > n && f.Proposals.Reading(OptionRestartTimes) == 0) {
			return anyCode
		}
		return nil
	case r.OOMKilled:
		if known && e.OOMKilled {
			return anyCode
		}
		return nil
	case r.Spelling != "" && !known:
		return nil
	}
	return r.ExitCodes
}

// matchExit reports whether r matches e, and why.
func (r *ContainerRestartRule) matchExit(f Features, e Exit) (Result, StepCode) {
	on := r.codes(f, e)
	known := f.Proposals.Has(KEP5307Future)
	switch {
	case known && r.Restarts != nil && on != nil:
		return Matched, StepRestarts
	case known && r.Restarts != nil:
		return NotMatched, StepOtherRestarts
	case known && r.OOMKilled && on != nil:
		return Matched, StepOOMKilled
	case known && r.OOMKilled:
		return NotMatched, StepNotOOMKilled
	}
	return ContainerRestartRule{ExitCodes: on}.match(e.Code)
}

// does returns the action that r comes to under f, "" for one that is not known or switched off.
func (r *ContainerRestartRule) does(f Features) Action {
	switch r.Action {
	case ActionRestart:
		return Restart
	case ActionRestartAllContainers:
		if f.RestartAllContainersOnContainerExits {
			return RestartAllContainers
		}
	case ActionComplete, ActionTerminate, ActionTerminatePod, ActionRestartPod:
		if f.Proposals.Has(KEP5307Future) || r.From != "" {
			return Action(r.Action)
		}
	}
	return ""
}

// Proposal returns the name of the proposal behind d, a decision about c, "" for none.
func (d Decision) Proposal(c *Container) string {
	switch {
	case d.Level == LevelLimit:
		return proposals[KEP3322].Name
	case d.Because == BecauseAlwaysPod:
		return proposals[AlwaysPod].Name
	case d.Level != LevelRule:
		return ""
	}
	r := &c.RestartPolicyRules[d.Matched]
	switch {
	case r.From != "":
		return proposals[Callback].Name
	case r.Restarts != nil, r.OOMKilled, r.Spelling != "", d.Action != Restart && d.Action != RestartAllContainers:
		return proposals[KEP5307Future].Name
	}
	return ""
}

// rulesCount reports whether rule number rule of c counts although c may have no restartPolicy.
func (j judge) rulesCount(rule int) bool {
	return j.c.RestartPolicy != nil || rule >= 0 && j.c.RestartPolicyRules[rule].From != "" ||
		j.f.Proposals.Has(KEP5307Future) && j.f.Proposals.Reading(OptionMissingPolicy) == 0
}

// ownPolicy returns the policy of the container where it decides, else nil.
func (j judge) ownPolicy() *RestartPolicy {
	if len(j.c.RestartPolicyRules) > 0 && j.f.Proposals.Has(KEP5307Future) && j.f.Proposals.Reading(OptionFallback) == 1 {
		return nil
	}
	return j.c.RestartPolicy
}

// Again reports whether a container is started again after a.
func (a Action) Again() bool { return a == Restart || a.Whole() }

// Whole reports whether all containers are restarted.
func (a Action) Whole() bool { return a == RestartAllContainers || a == RestartPod }

// Waits reports whether the start that d leads to waits for the back-off.
func (d Decision) Waits(f Features) bool {
	switch {
	case d.Because == BecauseAlwaysPod:
		return f.Proposals.Reading(OptionWait) == 0
	case d.Action == RestartPod:
		return true
	}
	return d.Action == Restart
}

// KeepsSandbox reports whether the restart of a whole Pod that d is keeps its sandbox.
func (d Decision) KeepsSandbox(f Features) bool {
	return d.Action == RestartAllContainers || d.Because == BecauseRule && f.Proposals.Reading(OptionRestartPod) == 1
}

// restartLimit is the least number of restarts at which none follows any more; ok is false if there
// is no limit.
func (s *PodSpec) restartLimit(f Features) (n uint32, ok bool) {
	p := f.Proposals
	if s.MaxRestartTimes == nil || !p.Has(KEP3322) || p.Reading(OptionPolicies) == 1 && s.RestartPolicy != RestartPolicyOnFailure {
		return 0, false
	}
	return uint32(max(*s.MaxRestartTimes, 0)) + uint32(p.Reading(OptionStop)), true
}

// counted returns the restarts of e that a limit is compared with.
func (e *Exit) counted(f Features) uint32 {
	if f.Proposals.Reading(OptionCounts) == 1 {
		return e.Restarts
	}
	return e.PodRestarts
}

// limited is the decision in place of d, a restart too many.
func (d Decision) limited() Decision {
	d = d.ignore(IgnoredRestartLimit).by(TerminatePod, LevelLimit, BecauseRestartLimit)
	d.PodFails = true
	return d
}

// AsksForRestarts returns how many restarts a container has to have for the last condition on them,
// or the limit, to be met for good; ok is false if nothing asks for them. Beyond that number, one
// more makes no difference.
func (s *PodSpec) AsksForRestarts(f Features) (most uint32, ok bool) {
	if !s.Proposed {
		return 0, false
	}
	most, ok = s.restartLimit(f)
	for kind := range ContainerKinds {
		for _, c := range s.List(kind) {
			for i := range c.RestartPolicyRules {
				if n := c.RestartPolicyRules[i].Restarts; n != nil && f.Proposals.Has(KEP5307Future) {
					most, ok = max(most, uint32(*n)+1), true
				}
			}
		}
	}
	return most, ok
}

// countNames is how many restart counts are looked up in one step; greater ones are compared one by
// one.
const countNames = 256

// variants are the tables of a container whose decisions depend on more than the exit code.
type variants struct {
	f       Features
	from    []uint32 // restart counts from which another table counts, ascending
	table   [countNames]uint8
	tables  []exitTable // one more than in from, and then as many for ends for lack of memory if a rule asks for that
	killed  bool
	limited bool // from limit restarts on none follows
	limit   uint32
}

// at returns the number of the table for a restart count.
func (v *variants) at(restarts uint32) int {
	if restarts < countNames {
		return int(v.table[restarts])
	}
	return v.search(restarts)
}

func (v *variants) search(restarts uint32) int {
	n := 0
	for n < len(v.from) && v.from[n] <= restarts {
		n++
	}
	return n
}

// number returns the number of the table that answers about an end after so many restarts.
func (v *variants) number(restarts uint32, killed bool) int {
	n := v.at(restarts)
	if killed && v.killed {
		n += len(v.from) + 1
	}
	return n
}

// tooMany reports whether a restart after e would be one too many.
func (v *variants) tooMany(e *Exit) bool { return v.limited && e.counted(v.f) >= v.limit }

// look returns the decision about e, which is that of the table: one too many restarts make it
// another.
func (v *variants) look(e Exit) *Decision {
	t := &v.tables[v.number(e.Restarts, e.OOMKilled)]
	list := t.outcomes
	if v.limited && v.tooMany(&e) {
		list = t.limits
	}
	if e.OOMKilled && e.Code == 0 {
		return &list[len(list)-1]
	}
	return &list[t.slot(e.Code)]
}

// begin notes a number of restarts from which on something else holds. There are few of them.
func (v *variants) begin(n uint32) {
	for _, m := range v.from {
		if m == n {
			return
		}
	}
	v.from = append(v.from, n)
	for i := len(v.from) - 1; i > 0 && v.from[i-1] > n; i-- {
		v.from[i-1], v.from[i] = n, v.from[i-1]
	}
}

// newVariants returns the tables of container c, nil if the exit code alone matters.
func newVariants(c *Container, kind ContainerKind, spec *PodSpec, f Features) *variants {
	if !spec.Proposed || kind == EphemeralContainer {
		return nil
	}
	v := &variants{f: f}
	v.limit, v.limited = spec.restartLimit(f)
	rules := c.RestartPolicyRules[:min(len(c.RestartPolicyRules), MaxRules)]
	for i := range rules[:min(len(rules), MaxRestartRules)] { // more is refused
		if n := rules[i].Restarts; n != nil {
			v.begin(uint32(*n))
			if f.Proposals.Reading(OptionRestartTimes) == 1 {
				v.begin(uint32(*n) + 1)
			}
		}
		v.killed = v.killed || rules[i].OOMKilled
	}
	if len(v.from) == 0 && !v.killed && !v.limited {
		return nil
	}
	for n := range v.table {
		v.table[n] = uint8(v.search(uint32(n)))
	}
	kinds := 1
	if v.killed {
		kinds = 2
	}
	reduced := *c
	reduced.RestartPolicyRules = slices.Clone(rules)
	for k := range kinds {
		for n := range len(v.from) + 1 {
			e := Exit{OOMKilled: k == 1}
			if n > 0 {
				e.Restarts = v.from[n-1]
			} else if len(v.from) > 0 && v.from[0] == 0 {
				e.Restarts = maxRestartCount + 1 // nobody is here
			}
			for i := range rules {
				reduced.RestartPolicyRules[i].ExitCodes = rules[i].codes(f, e)
			}
			var t exitTable
			t.fill(&reduced, kind, spec.RestartPolicy, f)
			t.outcomes = append(t.outcomes, t.oom) // for a look-up in one place
			if v.limited {
				for _, d := range t.outcomes {
					if d.Action.Again() {
						d = d.limited()
					}
					t.limits = append(t.limits, d)
				}
			}
			v.tables = append(v.tables, t)
		}
	}
	return v
}
