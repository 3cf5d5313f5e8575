package manifest

import (
	"strconv"

	"github.com/podfate/podfate/policy"
)

// deploymentStrategy checks how a Deployment replaces Pods.
//
// Source: ValidateDeploymentStrategy in pkg/apis/apps/validation/validation.go, Kubernetes v1.33 to
// v1.37.
func (c *objectChecker) deploymentStrategy() {
	const path = "spec.strategy"
	v := c.spec.Get("strategy")
	rolling := v.Get("rollingUpdate")
	switch kind := text(v, "type"); kind {
	case "Recreate":
		if rolling.Kind() == Object {
			c.r.Forbidden(path+".rollingUpdate", "may not be specified when strategy `type` is 'Recreate'")
		}
	case "", "RollingUpdate":
		unavailable, surge := intOrTextOf(rolling, "maxUnavailable", "25%"), intOrTextOf(rolling, "maxSurge", "25%")
		c.share(path+".rollingUpdate.maxUnavailable", unavailable)
		c.share(path+".rollingUpdate.maxSurge", surge)
		if unavailable.number() == 0 && surge.number() == 0 {
			c.r.Invalid(path+".rollingUpdate.maxUnavailable", unavailable.print(c.r.Minor()), "may not be 0 when `maxSurge` is 0")
		}
		c.atMostAll(path+".rollingUpdate.maxUnavailable", unavailable)
	default:
		c.strategy(path, v, "DeploymentStrategy", "RollingUpdateDeployment")
		c.r.Unsupported(path, c.strategy(path, v, "DeploymentStrategy", "RollingUpdateDeployment"), "Recreate RollingUpdate")
		c.addresses(rolling)
	}
}

// daemonSetStrategy checks how a DaemonSet replaces Pods.
//
// Source: ValidateDaemonSetUpdateStrategy in pkg/apis/apps/validation/validation.go, Kubernetes
// v1.33 to v1.37.
func (c *objectChecker) daemonSetStrategy() {
	const path = "spec.updateStrategy"
	v := c.spec.Get("updateStrategy")
	rolling := v.Get("rollingUpdate")
	switch kind := text(v, "type"); kind {
	case "OnDelete":
	case "", "RollingUpdate":
		unavailable, surge := intOrTextOf(rolling, "maxUnavailable", "1"), intOrTextOf(rolling, "maxSurge", "0")
		c.share(path+".rollingUpdate.maxUnavailable", unavailable)
		c.share(path+".rollingUpdate.maxSurge", surge)
		c.atMostAll(path+".rollingUpdate.maxUnavailable", unavailable)
		c.atMostAll(path+".rollingUpdate.maxSurge", surge)
		switch some, more := unavailable.number() != 0, surge.number() != 0; {
		case some && more:
			c.r.Invalid(path+".rollingUpdate.maxSurge", surge.print(c.r.Minor()), "may not be set when maxUnavailable is non-zero")
		case !some && !more:
			c.r.Required(path+".rollingUpdate.maxUnavailable", "cannot be 0 when maxSurge is 0")
		}
	default:
		c.r.Unsupported(path, c.strategy(path, v, "DaemonSetUpdateStrategy", "RollingUpdateDaemonSet"), "RollingUpdate OnDelete")
		c.addresses(rolling)
	}
}

// statefulSetStrategy checks how a StatefulSet replaces Pods.
//
// Source: ValidateStatefulSetSpec in pkg/apis/apps/validation/validation.go, Kubernetes v1.33 to
// v1.37.
func (c *objectChecker) statefulSetStrategy() {
	const path = "spec.updateStrategy"
	v := c.spec.Get("updateStrategy")
	rolling := v.Get("rollingUpdate")
	switch kind := text(v, "type"); kind {
	case "OnDelete":
		if rolling.Kind() == Object {
			c.r.Invalid(path+".rollingUpdate", c.rollingStatefulSet(rolling), "only allowed for updateStrategy 'RollingUpdate'")
		}
	case "", "RollingUpdate":
		if n := number(rolling, "partition", 0); n < 0 {
			c.badNumber(path+".rollingUpdate.partition", n, notNegative)
		}
		if most := rolling.Get("maxUnavailable"); c.r.Minor() >= 37 && most.Exists() && most.Kind() != Null { // dropped before
			n := intOrTextOf(rolling, "maxUnavailable", "1")
			c.share(path+".rollingUpdate.maxUnavailable", n)
			if n.number() == 0 {
				c.r.Invalid(path+".rollingUpdate.maxUnavailable", n.print(c.r.Minor()), "cannot be 0")
			}
			c.atMostAll(path+".rollingUpdate.maxUnavailable", n)
		}
	default:
		value := c.pick(`{"Type":`, "apps.StatefulSetUpdateStrategy{Type:") + c.r.Word(kind) + c.pick(`,"RollingUpdate":`, ", RollingUpdate:")
		if rolling.Kind() == Object {
			value += c.rollingStatefulSet(rolling)
		} else {
			value += c.pick("null", "(*apps.RollingUpdateStatefulSetStrategy)(nil)")
		}
		c.r.Invalid(path, value+"}", "must be 'RollingUpdate' or 'OnDelete'")
		c.addresses(rolling)
	}
}

// pick returns what the API server prints from 1.34 on, or what it printed before.
func (c *objectChecker) pick(json, syntax string) string {
	if c.r.Minor() < 34 {
		return syntax
	}
	return json
}

// addresses takes the text from the last fault if it has addresses in memory: until 1.33, if there
// is an object behind a pointer.
func (c *objectChecker) addresses(v Value) {
	if c.r.Minor() < 34 && v.Kind() == Object {
		c.r.Drawn()
	}
}

// rollingStatefulSet prints how a StatefulSet rolls, without what is dropped.
func (c *objectChecker) rollingStatefulSet(v Value) string {
	most := c.pick("null", "(*intstr.IntOrString)(nil)")
	if m := v.Get("maxUnavailable"); c.r.Minor() >= 37 && m.Exists() && m.Kind() != Null {
		most = intOrTextOf(v, "maxUnavailable", "1").print(c.r.Minor())
	}
	partition := strconv.FormatInt(number(v, "partition", 0), 10)
	return c.pick(`{"Partition":`, "apps.RollingUpdateStatefulSetStrategy{Partition:") + partition + c.pick(`,"MaxUnavailable":`, ", MaxUnavailable:") + most + "}"
}

// strategy prints a strategy whose type is unknown, so that it has no defaults.
func (c *objectChecker) strategy(path string, v Value, name, rollingName string) string {
	rolling := c.pick("null", "(*apps."+rollingName+")(nil)")
	if r := v.Get("rollingUpdate"); r.Kind() == Object {
		rolling = `{"MaxUnavailable":` + intOrTextOf(r, "maxUnavailable", "0").print(c.r.Minor()) + `,"MaxSurge":` + intOrTextOf(r, "maxSurge", "0").print(c.r.Minor()) + "}"
	}
	return c.pick(`{"Type":`, "apps."+name+"{Type:") + c.r.Word(text(v, "type")) + c.pick(`,"RollingUpdate":`, ", RollingUpdate:") + rolling + "}"
}

// intOrText is a number, or a text that should be a percentage.
type intOrText struct {
	n      int64
	s      string
	isText bool
}

// intOrTextOf returns a member of v, or its default.
func intOrTextOf(v Value, name, absent string) intOrText {
	m := v.Get(name)
	if n, ok := m.Int64(); ok {
		return intOrText{n: n}
	}
	if m.Kind() == String {
		return intOrText{s: m.Str(), isText: true}
	}
	if n, err := strconv.ParseInt(absent, 10, 32); err == nil {
		return intOrText{n: n}
	}
	return intOrText{s: absent, isText: true}
}

// percent returns the number in a percentage.
func (t intOrText) percent() (n int64, ok bool) {
	if !t.isText || len(t.s) < 2 || t.s[len(t.s)-1] != '%' {
		return 0, false
	}
	for i := range len(t.s) - 1 {
		if !digit(t.s[i]) {
			return 0, false
		}
	}
	n, _ = strconv.ParseInt(t.s[:len(t.s)-1], 10, 64) // too many digits are the largest number
	return n, true
}

// number is the number, or that of the percentage, or that in a text that is none.
func (t intOrText) number() int64 {
	if !t.isText {
		return t.n
	}
	if n, ok := t.percent(); ok {
		return n
	}
	n, _ := strconv.ParseInt(t.s, 10, 64)
	return n
}

// print returns the value as Kubernetes prints it.
func (t intOrText) print(minor int) string {
	switch {
	case minor < 34 && t.isText:
		return "intstr.IntOrString{Type:1, IntVal:0, StrVal:" + policy.Quoted(t.s) + "}"
	case minor < 34:
		return "intstr.IntOrString{Type:0, IntVal:" + strconv.FormatInt(t.n, 10) + `, StrVal:""}`
	case t.isText:
		return policy.JSONText(t.s)
	}
	return strconv.FormatInt(t.n, 10)
}

// share checks that a value is a number that is not negative, or a percentage.
func (c *objectChecker) share(path string, t intOrText) {
	if _, ok := t.percent(); t.isText && !ok {
		c.r.Invalid(path, t.print(c.r.Minor()), "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')")
	} else if !t.isText && t.n < 0 {
		c.badNumber(path, t.n, notNegative)
	}
}

// atMostAll checks that a percentage is not above 100.
func (c *objectChecker) atMostAll(path string, t intOrText) {
	if n, ok := t.percent(); ok && n > 100 {
		c.r.Invalid(path, t.print(c.r.Minor()), "must not be greater than 100%")
	}
}

// printed returns a selector as Kubernetes prints it.
func (c *objectChecker) printed(v Value) string {
	labels, expressions := v.Get("matchLabels"), v.Get("matchExpressions")
	if c.r.Minor() < 34 {
		s := "v1.LabelSelector{MatchLabels:" + mapText(labels, members(labels), c.r.Minor()) + ", MatchExpressions:"
		if expressions.Kind() != Array {
			return s + "[]v1.LabelSelectorRequirement(nil)}"
		}
		s += "[]v1.LabelSelectorRequirement{"
		for e := expressions.First(); e.Exists(); e = e.Next() {
			if e != expressions.First() {
				s += ", "
			}
			s += "v1.LabelSelectorRequirement{Key:" + policy.Quoted(text(e, "key")) + ", Operator:" + policy.Quoted(text(e, "operator")) + ", Values:" + texts(e.Get("values"), c.r.Minor()) + "}"
		}
		return s + "}}"
	}
	s := "{"
	if labels.Len() > 0 {
		s += `"matchLabels":` + mapText(labels, members(labels), c.r.Minor())
	}
	if expressions.Len() == 0 {
		return s + "}"
	}
	if s != "{" {
		s += ","
	}
	s += `"matchExpressions":[`
	for e := expressions.First(); e.Exists(); e = e.Next() {
		if e != expressions.First() {
			s += ","
		}
		s += `{"key":` + policy.JSONText(text(e, "key")) + `,"operator":` + policy.JSONText(text(e, "operator"))
		if values := e.Get("values"); values.Len() > 0 {
			s += `,"values":` + texts(values, c.r.Minor())
		}
		s += "}"
	}
	return s + "]}"
}

// labelsText returns the labels of the template as Kubernetes prints them.
func (c *objectChecker) labelsText() string {
	v := c.template.Get("metadata").Get("labels")
	return mapText(v, c.templateLabels(), c.r.Minor())
}

// mapText returns a map of texts as Kubernetes prints it, by its keys.
func mapText(v Value, pairs []pair, minor int) string {
	words := [5]string{"null", "{", ":", ",", "}"}
	print := policy.JSONText
	if minor < 34 {
		words = [5]string{"map[string]string(nil)", "map[string]string{", ":", ", ", "}"}
		print = policy.Quoted
	}
	if v.Kind() != Object && len(pairs) == 0 {
		return words[0]
	}
	s := words[1]
	for n, i := range policy.Order(len(pairs), func(i, j int) bool { return pairs[i].key < pairs[j].key }) {
		if n > 0 {
			s += words[3]
		}
		s += print(pairs[i].key) + words[2] + print(pairs[i].value)
	}
	return s + words[4]
}

// texts returns a list of texts as Kubernetes prints it.
func texts(list Value, minor int) string {
	words := [4]string{"null", "[", ",", "]"}
	print := policy.JSONText
	if minor < 34 {
		words = [4]string{"[]string(nil)", "[]string{", ", ", "}"}
		print = policy.Quoted
	}
	if list.Kind() != Array {
		return words[0]
	}
	s := words[1]
	for v := list.First(); v.Exists(); v = v.Next() {
		if v != list.First() {
			s += words[2]
		}
		s += print(v.Text())
	}
	return s + words[3]
}
