package manifest

import "github.com/podfate/podfate/policy"

// proposedField is a field that a proposal brings, or one in it.
type proposedField struct {
	of, name string // of is the Go type in Kubernetes' API that gets the field, or a name of this table
	kind     typeKind
	typ      string // of an object or of the objects in a list: its fields stand in this table, or it is a type of Kubernetes
}

// Names of this table.
const (
	inRule   = "ContainerRestartRule"
	exitOf   = "ContainerRestartRuleOnExitCodes"
	backoff  = "BackoffPolicy"
	retry    = "BackoffPolicyRule"
	onExit   = "onContainerExitCode"
	onStatus = "onPodStatus"
	textIn   = "valueExpression"
)

// proposedFields is never written to. Conditions that several spellings have in common are named once.
var proposedFields = []proposedField{
	{inRule, "when", structType, "when"},
	{"when", "exitCodes", structType, exitOf},
	{"when", "restartTimes", int32Type, ""},
	{"when", "oomKilled", boolType, ""},
	{inRule, "onExit", structType, "onExit"},
	{"onExit", "exitCodes", structType, exitOf},
	{inRule, "onExitCodes", structType, exitOf},
	{inRule, "restartTimes", int32Type, ""},
	{inRule, "oomKilled", boolType, ""},
	{"PodSpec", "maxRestartTimes", int32Type, ""},
	{"PodSpec", "podFailurePolicy", structType, "PodFailurePolicy"},
	{"JobSpec", "backoffPolicy", structType, backoff},
	{backoff, "rules", sliceType, retry},
	{retry, "action", stringType, ""},
	{retry, "containerName", stringType, ""},
	{retry, "containerExitCodeIn", intOrStringType, ""},
	{retry, "containerExitCodeNotIn", intOrStringType, ""},
	{retry, "podStatusReasonIn", sliceType, ""},
	{retry, "podStatusReasonNotIn", sliceType, ""},
	{retry, "condition", structType, "BackoffPolicyCondition"},
	{"BackoffPolicyCondition", onExit, structType, onExit},
	{"BackoffPolicyCondition", onStatus, structType, onStatus},
	{retry, onExit, structType, onExit},
	{retry, onStatus, structType, onStatus},
	{onExit, "containerName", stringType, ""},
	{onExit, "valueIn", intOrStringType, ""},
	{onExit, "valueNotIn", intOrStringType, ""},
	{onExit, "valueExpressions", sliceType, textIn},
	{onStatus, "reasonIn", sliceType, ""},
	{onStatus, "reasonNotIn", sliceType, ""},
	{onStatus, "reasonExpressions", sliceType, textIn},
	{textIn, "operator", stringType, ""},
	{textIn, "values", sliceType, "any"},
}

// proposedIn returns the field of an object of this table, nil if it has none of that name, and the names that it has.
func proposedIn(of, name string) (row *proposedField, names []string) {
	for i := range proposedFields {
		if r := &proposedFields[i]; r.of == of {
			if names = append(names, r.name); r.name == name {
				row = r
			}
		}
	}
	return row, names
}

// proposedBy checks member m of a struct of type t, which releases do not have, if a proposal that is on has it.
func (c *checker) proposedBy(m Value, t typeIndex) bool {
	if c.proposals == 0 {
		return false
	}
	x, ok := policy.ProposedField(t.bareName(), m.Key())
	if !ok || !c.proposals.Has(x) {
		return false
	}
	row, _ := proposedIn(t.bareName(), m.Key())
	c.within = policy.ProposalList()[x].Name
	c.proposed(m, row.kind, row.typ)
	c.within = ""
	return true
}

// proposed checks what a proposal has at v. typ "" of a list stands for texts, "any" for texts and numbers.
func (c *checker) proposed(v Value, kind typeKind, typ string) {
	switch {
	case v.Kind() == Null:
	case kind == structType && v.Kind() != Object:
		c.wrongKind(v, typ, kept, "an object")
	case kind == structType:
		c.proposedObject(v, typ)
	case kind == sliceType && v.Kind() != Array:
		c.wrongKind(v, typ, kept, "a list")
	case kind == sliceType:
		of := structType
		if typ == "" {
			of = stringType
		} else if typ == "any" {
			of = intOrStringType
		}
		for e := v.First(); e.Exists(); e = e.Next() {
			c.proposed(e, of, typ)
		}
	case kind == stringType && v.Kind() != String:
		c.wrongKind(v, typ, kept, "a string")
	case kind == boolType && v.Kind() != Bool:
		c.wrongKind(v, typ, kept, "true or false")
	case kind == int32Type || kind == intOrStringType && v.Kind() != String:
		c.number(v, c.root, int32Type, kept, "an integer")
	}
}

func (c *checker) proposedObject(v Value, typ string) {
	_, names := proposedIn(typ, "")
	if names == nil {
		for t := range typeRows {
			if typeRows[t].kind == structType && typeIndex(t).bareName() == typ {
				c.value(v, typeIndex(t))
				return
			}
		}
	}
	for _, r := range v.repeats() {
		c.duplicate(r)
	}
	for m := v.First(); m.Exists(); m = m.Next() {
		row, _ := proposedIn(typ, m.Key())
		if row != nil {
			c.proposed(m, row.kind, row.typ)
			continue
		}
		c.strictFault(m, policy.CodeUnknownField, "unknown field", func(f *policy.FieldError) {
			f.Detail, f.Allowed = quote(m.Key())+" is not a field of "+typ, names
		})
	}
}

// readProposedRule reads the conditions of a rule that releases do not have.
func readProposedRule(v Value, rule *policy.ContainerRestartRule) {
	if rule.ExitCodes != nil {
		rule.Conditions++
	}
	exits := func(v Value, name, path string) {
		if on := v.Get(name); on.Kind() == Object {
			rule.ExitCodes, rule.Spelling = readExitCodes(on), path
			rule.Conditions++
		}
	}
	for _, at := range [...]Value{v, v.Get("when")} {
		if rule.Restarts == nil {
			rule.Restarts = readInt32(at, "restartTimes")
		}
		if n := at.Get("restartTimes"); n.Kind() == Number {
			rule.Conditions++
		}
		if killed := at.Get("oomKilled"); killed.Kind() == Bool {
			rule.OOMKilled = killed.Bool()
			rule.Conditions++
		}
	}
	exits(v.Get("when"), "exitCodes", "when.exitCodes")
	exits(v.Get("onExit"), "exitCodes", "onExit.exitCodes")
	exits(v, "onExitCodes", "onExitCodes")
}

// readProposals reads the words of proposals in the spec of a Pod.
func readProposals(v Value, spec *policy.PodSpec, p policy.Proposals) {
	if p.Has(policy.KEP5307Future) {
		spec.Proposed = true
		for kind := range policy.ContainerKinds {
			list := v.Get(kind.Field())
			for i := range spec.List(kind) {
				c := &spec.List(kind)[i]
				rules := list.at(i).Get("restartPolicyRules")
				for n := range c.RestartPolicyRules {
					readProposedRule(rules.at(n), &c.RestartPolicyRules[n])
				}
			}
		}
	}
	if p.Has(policy.KEP3322) {
		spec.MaxRestartTimes = readInt32(v, "maxRestartTimes")
		spec.Proposed = spec.Proposed || spec.MaxRestartTimes != nil
	}
	if p.Has(policy.FailurePolicyAnywhere) {
		spec.PodFailurePolicy = readPodFailurePolicy(v)
	}
	spec.Proposed = spec.Proposed || p.Has(policy.AlwaysPod) && spec.RestartPolicy == policy.RestartPolicyAlwaysPod
}

// at returns element i of a list, which has it.
func (v Value) at(i int) Value {
	e := v.First()
	for range i {
		e = e.Next()
	}
	return e
}
