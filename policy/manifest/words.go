package manifest

import "github.com/podfate/podfate/policy"

// proposedField is a field that a proposal brings, or one in it.
type proposedField struct {
	of, name string // of is the Go type in Kubernetes' API that gets the field, or a name of this table
	kind     typeKind
	typ      string // of an object or of the objects in a list: its fields are in this table, or it is a type of Kubernetes
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
	pattern  = "PodFailurePolicyOnPodConditionsPattern"
)

// proposedFields is never written to. Conditions that several spellings have in common are named
// once.
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
	{pattern, "key", stringType, ""},
	{pattern, "operator", stringType, ""},
	{pattern, "values", sliceType, ""},
	{textIn, "operator", stringType, ""},
	{textIn, "values", sliceType, "any"},
}

// proposedIn returns the field of an object of this table, nil if it has none of that name, and the
// names that it has.
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

// proposedBy checks member m of a struct of type t, which releases do not have, if a proposal that
// is on has it.
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

// proposed checks what a proposal has at v. typ "" of a list stands for texts, "any" for texts and
// numbers.
func (c *checker) proposed(v Value, kind typeKind, typ string) {
	switch {
	case v.Kind() == Null:
	case kind == structType && v.Kind() != Object:
		c.wrongKind(v, typ, kept, "an object")
	case kind == structType:
		c.proposedObject(v, typ)
	case kind == sliceType && v.Kind() != Array:
		c.wrongKind(v, typ, kept, "a list")
	case kind == intOrStringType && v.Kind() != String:
		if v.Kind() != Number { // of a number its reader says what is wrong
			c.wrongKind(v, typ, kept, "a text such as 3,8-10 or a number")
		}
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
	case kind == int32Type:
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
	count := func(v Value) { // one of a wrong type is one, too
		if v.Exists() && v.Kind() != Null {
			rule.Conditions++
		}
	}
	exits := func(v Value, name, path string) {
		on := v.Get(name)
		if on.Kind() == Object {
			rule.ExitCodes, rule.Spelling = readExitCodes(on), path
		}
		count(on)
	}
	at, path := v, ""
	for range 2 {
		times, killed := at.Get("restartTimes"), at.Get("oomKilled")
		if times.Kind() == Number && rule.Restarts == nil {
			rule.Restarts, rule.At = readInt32(at, "restartTimes"), path+"restartTimes"
		}
		if killed.Kind() == Bool {
			if rule.OOMKilled = killed.Bool(); rule.Restarts == nil {
				rule.At = path + "oomKilled"
			}
		}
		count(times)
		count(killed)
		at, path = v.Get("when"), "when."
	}
	for _, name := range [...]string{"when", "onExit"} {
		if within := v.Get(name); within.Kind() != Object {
			count(within)
		}
	}
	exits(v.Get("when"), "exitCodes", "when.exitCodes")
	exits(v.Get("onExit"), "exitCodes", "onExit.exitCodes")
	exits(v, "onExitCodes", "onExitCodes")
}

// readProposals reads the words of proposals in the spec of a Pod.
func readProposals(v Value, spec *policy.PodSpec, p policy.Proposals) {
	if p.Has(policy.KEP5307Future) {
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
	}
	if p.Has(policy.FailurePolicyAnywhere) {
		spec.PodFailurePolicy = readPodFailurePolicy(v)
	}
	spec.SetProposed(p)
}

// at returns element i of a list, which has it.
func (v Value) at(i int) Value {
	e := v.First()
	for range i {
		e = e.Next()
	}
	return e
}

// readDraft reads the backoffPolicy of a Job at spec. Its Pods are never restarted, unless the
// template says otherwise: the draft's examples leave that out.
func readDraft(spec Value, o *policy.Object, p policy.Proposals) {
	if shipped := o.Job.PodFailurePolicy; shipped != nil {
		e, _ := elements(spec.Get("podFailurePolicy"), "rules")
		for i := range shipped.Rules {
			readExpressions(e.step().Get("onPodConditions"), &shipped.Rules[i])
		}
	}
	draft := readBackoffPolicy(spec, p)
	if draft == nil {
		return
	}
	if o.Spec.RestartPolicy == "" {
		draft.Never, o.Spec.RestartPolicy = true, policy.RestartPolicyNever
	}
	if !p.GateIsOff(policy.KEP3329Draft) { // else it is stored, and looked at by nobody
		o.Job.BothPolicies = o.Job.PodFailurePolicy != nil
		o.Job.PodFailurePolicy = draft
	}
}

// readExpressions makes conditions of a rule that are there as expressions on Type and Status,
// which hold together, those that a release has: one for each type and status.
func readExpressions(list Value, rule *policy.PodFailurePolicyRule) {
	if !list.First().Get("key").Exists() || list.Kind() != Array {
		return
	}
	d := &policy.DraftRule{}
	fault := func(text string) {
		d.Faults = append(d.Faults, policy.DraftFault{At: ".onPodConditions", Detail: text})
	}
	var types, statuses []string
	i := 0
	for e := list.First(); e.Exists(); e, i = e.Next(), i+1 {
		at := ".onPodConditions" + policy.Index(i) + ".values"
		var values []string
		for v := e.Get("values").First(); v.Exists() && len(values) < policy.MaxPatterns; v = v.Next() {
			values = append(values, v.Text())
		}
		switch key := str(e, "key"); {
		case key != "Type" && key != "Status":
			fault("the key " + quote(key) + " is neither Type nor Status")
		case key == "Type" && types != nil || key == "Status" && statuses != nil:
			fault("the key Type or Status is there twice")
		case str(e, "operator") != "In" || len(values) == 0:
			fault("an expression needs the operator In and values: the draft does not say what anything else means")
		case key == "Type":
			types, d.TypesAt = values, at
		default:
			statuses, d.StatusesAt = values, at
		}
	}
	if statuses == nil {
		statuses = []string{"True"}
	}
	if types == nil && d.Faults == nil {
		fault("an expression with the key Type is required")
	}
	d.PerType = len(statuses)
	rule.Written, rule.OnPodConditions = d, nil
	for _, t := range types {
		for _, s := range statuses {
			if len(rule.OnPodConditions) < policy.MaxPatterns {
				rule.OnPodConditions = append(rule.OnPodConditions, policy.PodConditionPattern{Type: t, Status: s})
			}
		}
	}
}

// readBackoffPolicy reads the backoffPolicy of a Job, as the draft of KEP-3329 has it in three
// spellings. It returns nil if there is none.
func readBackoffPolicy(spec Value, p policy.Proposals) *policy.PodFailurePolicy {
	v := spec.Get("backoffPolicy")
	if !v.Exists() || v.Kind() == Null {
		return nil
	}
	out := &policy.PodFailurePolicy{Draft: true, Zero: p.Reading(policy.OptionExitZero) == 1, Rules: []policy.PodFailurePolicyRule{}}
	out.Evicted = p.Reading(policy.OptionEvictionReason) == 1
	e, n := elements(v, "rules")
	for range n {
		out.Rules = append(out.Rules, readBackoffRule(e.step()))
	}
	return out
}

func readBackoffRule(v Value) (rule policy.PodFailurePolicyRule) {
	d := &policy.DraftRule{Action: str(v, "action")}
	rule.Written = d
	switch d.Action {
	case "Terminate":
		rule.Action = policy.ActionFailJob
	case "Ignore":
		rule.Action = policy.ActionIgnore
	}
	r := backoffReader{rule: &rule, d: d}
	r.exits(v, "", "containerExitCodeIn", "containerExitCodeNotIn", "")
	r.reasons(v, "", "podStatusReasonIn", "podStatusReasonNotIn", "")
	for _, at := range [...]struct {
		path string
		v    Value
	}{{"", v}, {".condition", v.Get("condition")}} {
		r.exits(at.v.Get(onExit), at.path+"."+onExit, "valueIn", "valueNotIn", "valueExpressions")
		r.reasons(at.v.Get(onStatus), at.path+"."+onStatus, "reasonIn", "reasonNotIn", "reasonExpressions")
	}
	if rule.OnExitCodes == nil && v.Get("containerName").Kind() == String {
		d.NamedAt = ".containerName"
	}
	return rule
}

// backoffReader puts what a rule of the draft asks for into the rule. Several expressions hold
// together.
type backoffReader struct {
	rule *policy.PodFailurePolicyRule
	d    *policy.DraftRule
	at   string // path of the condition that is read
}

func (r *backoffReader) fault(detail, operator string) {
	r.d.Faults = append(r.d.Faults, policy.DraftFault{At: r.at, Detail: detail, Operator: operator})
}

// each calls f with each condition of v, which is at path in the rule: those called in and
// notIn, and the expressions.
func (r *backoffReader) each(v Value, path, in, notIn, expressions string, f func(operator policy.ExitCodesOperator, values Value)) {
	for _, c := range [...]struct {
		name     string
		operator policy.ExitCodesOperator
	}{{in, policy.OperatorIn}, {notIn, policy.OperatorNotIn}} {
		if values := v.Get(c.name); values.Exists() && values.Kind() != Null {
			r.d.Conditions++
			r.at = path + "." + c.name
			f(c.operator, values)
		}
	}
	list := v.Get(expressions)
	if expressions == "" || list.Kind() != Array {
		return
	}
	r.d.Conditions++
	at, i := path+"."+expressions, 0
	for e := list.First(); e.Exists(); e, i = e.Next(), i+1 {
		operator, field := policy.ExitCodesOperator(str(e, "operator")), ".values"
		known := operator == policy.OperatorIn || operator == policy.OperatorNotIn
		if !known {
			field = ".operator"
		}
		if r.at = at + policy.Index(i) + field; known {
			f(operator, e.Get("values"))
		} else {
			r.fault("", string(operator)+" ")
		}
	}
	if r.at = at; i == 0 {
		r.fault("at least one expression is required", "")
	}
}

// exits reads conditions on exit codes. They become a list with In, or one with NotIn if
// all are.
func (r *backoffReader) exits(v Value, path, in, notIn, expressions string) {
	var not [256]bool
	listed := false // some condition has In: its codes without those of the others are the result
	r.each(v, path, in, notIn, expressions, func(operator policy.ExitCodesOperator, values Value) {
		var set [256]bool
		one := func(e Value) {
			text := e.Text()
			if e.Kind() == Number {
				text, r.d.NumberAt = string(e.Raw()), r.at
			}
			if fault := policy.CodeRanges(text, &set); fault != "" {
				r.fault(fault, "")
			}
		}
		if values.Kind() != Array {
			one(values)
		}
		for e := values.First(); e.Exists() && values.Kind() == Array; e = e.Next() {
			one(e)
		}
		for code := range set {
			not[code] = not[code] || set[code] == (operator == policy.OperatorNotIn)
		}
		if r.d.CodesAt != "" {
			r.d.CodesAt = path + "." + expressions
		} else {
			r.d.CodesAt, r.d.NameAt = r.at, path+".containerName"
		}
		listed = listed || operator == policy.OperatorIn
		r.rule.OnExitCodes = &policy.PodFailurePolicyOnExitCodes{}
	})
	on := r.rule.OnExitCodes
	if on == nil || on.Operator != "" {
		return
	}
	if on.ContainerName = readText(v, "containerName"); listed {
		on.Operator = policy.OperatorIn
	} else {
		on.Operator = policy.OperatorNotIn
	}
	for code := range not {
		if not[code] != listed {
			on.Values = append(on.Values, int32(code))
		}
	}
}

// reasons does the same with conditions on the reason of the Pod.
func (r *backoffReader) reasons(v Value, path, in, notIn, expressions string) {
	r.each(v, path, in, notIn, expressions, func(operator policy.ExitCodesOperator, values Value) {
		c := policy.PodReasons{Operator: operator}
		for e := values.First(); e.Exists() && values.Kind() == Array; e = e.Next() {
			c.Values = append(c.Values, e.Text())
		}
		r.rule.Reasons = append(r.rule.Reasons, c)
	})
	if r.rule.Reasons != nil && path != "" && readText(v, "containerName") != nil {
		r.d.NamedAt = path + ".containerName"
	}
}
