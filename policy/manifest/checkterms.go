package manifest

import (
	"strconv"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/admission"
)

// affinity checks next to which Pods a Pod wants to be, or not to be.
//
// Source: validatePodAffinity, validatePodAntiAffinity and what they call in
// pkg/apis/core/validation/validation.go, Kubernetes v1.33 to v1.37.
func (c *podChecker) affinity(v Value) {
	list := v.Get("requiredDuringSchedulingIgnoredDuringExecution")
	path := c.path(list, "") // once: that of an element is looked for from the first one on
	e, n := walkOf(list)
	for i := range n {
		c.podTerm(element(path, i), e.step())
	}
	list = v.Get("preferredDuringSchedulingIgnoredDuringExecution")
	path = c.path(list, "")
	e, n = walkOf(list)
	for i := range n {
		term := e.step()
		c.weight(term)
		c.podTerm(element(path, i)+".podAffinityTerm", term.Get("podAffinityTerm"))
	}
}

// weight checks how much a preference counts.
func (c *podChecker) weight(v Value) {
	if weight := number(v, "weight", 0); weight <= 0 || weight > 100 {
		c.badNumber(v, ".weight", weight, "must be in the range 1-100")
	}
}

const noTopology = "can not be empty"

// podTerm checks term v, which is at path.
func (c *podChecker) podTerm(path string, v Value) {
	o := objectChecker{r: c.r}
	added := c.added(v, c.pod && !c.r.Static())
	o.selectorWith(path+".labelSelector", v.Get("labelSelector"), added)
	o.selectorWith(path+".namespaceSelector", v.Get("namespaceSelector"), nil)
	for e, n := walkOf(v.Get("namespaces")); n > 0; n-- {
		name := e.step().Text()
		o.form(path+".namespace", name, admission.DNSLabel.Faults(name, c.r.Minor()))
	}
	o.labelKeys(path, v, added)
	key := text(v, "topologyKey")
	if key == "" {
		c.r.Required(path+".topologyKey", noTopology)
	}
	o.form(path+".topologyKey", key, admission.LabelKey.Faults(key, c.r.Minor()))
}

// spread checks over which parts of a cluster Pods are to be spread.
//
// Source: validateTopologySpreadConstraints and what it calls in
// pkg/apis/core/validation/validation.go, Kubernetes v1.33 to v1.37.
func (c *podChecker) spread(list Value) {
	const actions, places, positive = "DoNotSchedule ScheduleAnyway", "Honor Ignore", "must be greater than zero"
	// Until 1.33, and in files until 1.34, keys were not yet made part of the selector.
	merges := c.r.Minor() >= 34 && (c.r.Minor() >= 35 || !c.r.Static())
	at, again := c.path(list, ""), comesAgain(list)
	e, n := walkOf(list)
	for i := range n {
		v := e.step()
		if skew := number(v, "maxSkew", 0); skew <= 0 {
			c.badNumber(v, ".maxSkew", skew, positive)
		}
		key, action := text(v, "topologyKey"), text(v, "whenUnsatisfiable")
		if key == "" {
			c.r.Required(c.path(v, ".topologyKey"), noTopology)
		}
		if action == "" || !among(action, actions) {
			c.unknown(v, ".whenUnsatisfiable", action, actions)
		}
		if again[i] {
			c.twice(v, ".{topologyKey, whenUnsatisfiable}", spreadKind(v))
		}
		if least, given := v.Get("minDomains").Int64(); given {
			if least <= 0 {
				c.badNumber(v, ".minDomains", least, positive)
			}
			if action != "DoNotSchedule" {
				c.badNumber(v, ".minDomains", least, "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not "+cut(action))
			}
		}
		c.word(v, "nodeAffinityPolicy", places)
		c.word(v, "nodeTaintsPolicy", places)
		o, path := objectChecker{r: c.r}, element(at, i)
		added := c.added(v, merges && c.pod && !c.r.Static())
		if merges {
			o.labelKeys(path, v, added)
		} else {
			o.plainKeys(path+".matchLabelKeys", v)
		}
		o.selectorWith(path+".labelSelector", v.Get("labelSelector"), added)
	}
}

// spreadKind is what two constraints may not have in common, as Kubernetes prints it.
func spreadKind(v Value) string {
	return "{" + text(v, "topologyKey") + ", " + text(v, "whenUnsatisfiable") + "}"
}

// comesAgain reports which constraints have one of the same kind after them.
func comesAgain(list Value) []bool {
	last := map[string]int{}
	again := make([]bool, list.Len())
	e, n := walkOf(list)
	for i := range n {
		kind := spreadKind(e.step())
		if before, found := last[kind]; found {
			again[before] = true
		}
		last[kind] = i
	}
	return again
}

// added returns the labels that the API server makes part of the selector of term v: those of the
// Pod whose keys it names. merges reports that it does so.
//
// Source: applyLabelKeysToLabelSelector in pkg/registry/core/pod/strategy.go, Kubernetes v1.33 to
// v1.37.
func (c *podChecker) added(v Value, merges bool) (list []pair) {
	if !merges || !has(v, "labelSelector") || v.Get("matchLabelKeys").Len()+v.Get("mismatchLabelKeys").Len() == 0 {
		return nil
	}
	labels, index := members(c.labels), map[string]int{}
	for i, p := range labels {
		index[p.key] = i
	}
	for _, name := range []string{"matchLabelKeys", "mismatchLabelKeys"} {
		for _, key := range textsOf(v.Get(name)) {
			if i, found := index[key]; found {
				list = append(list, labels[i])
			}
		}
	}
	return list
}

// selectorWith checks a selector and the labels that are added to its rules.
func (c *objectChecker) selectorWith(path string, v Value, added []pair) {
	c.labelSelector(path, v)
	for i, p := range added {
		rule := element(path+".matchExpressions", v.Get("matchExpressions").Len()+i)
		c.form(rule+".key", p.key, admission.LabelKey.Faults(p.key, c.r.Minor()))
		c.form(rule+".values[0]", p.value, admission.LabelValue.Faults(p.value, c.r.Minor()))
	}
}

const inBoth = "exists in both matchLabelKeys and "

// labelKeys checks the keys that term v names next to its selector, to which those of the Pod's
// labels were added. The path of a key that is in both is that which Kubernetes prints.
//
// Source: ValidateMatchLabelKeysAndMismatchLabelKeys in pkg/apis/core/validation/validation.go,
// Kubernetes v1.33 to v1.37.
func (c *objectChecker) labelKeys(path string, v Value, added []pair) {
	match, mismatch := v.Get("matchLabelKeys"), v.Get("mismatchLabelKeys")
	if match.Len()+mismatch.Len() == 0 {
		return
	}
	selector := v.Get("labelSelector")
	for _, list := range []Value{match, mismatch} {
		if list.Len() > 0 && selector.Kind() != Object {
			c.noSelector(path + "." + list.Key())
			continue
		}
		for i, key := range textsOf(list) {
			c.form(element(path+"."+list.Key(), i), key, admission.LabelKey.Faults(key, c.r.Minor()))
		}
	}
	keys, last := textsOf(match), map[string]int{}
	for i, key := range keys {
		last[key] = i
	}
	var seen nameSet
	for _, p := range members(selector.Get("matchLabels")) {
		seen.add(p.key)
	}
	rules := make([]string, 0, few)
	for e, n := walkOf(selector.Get("matchExpressions")); n > 0; n-- {
		rules = append(rules, text(e.step(), "key"))
	}
	for _, p := range added {
		rules = append(rules, p.key)
	}
	for _, key := range rules {
		if i, named := last[key]; !seen.add(key) && named {
			c.r.Invalid(element(path, i), policy.Quoted(key), inBoth+"labelSelector")
		}
	}
	seen = nameSet{}
	for _, key := range textsOf(mismatch) {
		seen.add(key)
	}
	for i, key := range keys {
		if seen.has(key) {
			c.r.Invalid(element(path+".matchLabelKeys", i), policy.Quoted(key), inBoth+"mismatchLabelKeys")
		}
	}
}

// plainKeys is labelKeys for a list at path that is not made part of the selector.
//
// Source: ValidateMatchLabelKeysInTopologySpread in pkg/apis/core/validation/validation.go,
// Kubernetes v1.33 to v1.37.
func (c *objectChecker) plainKeys(path string, v Value) {
	keys, selector := textsOf(v.Get("matchLabelKeys")), v.Get("labelSelector")
	var seen nameSet
	for _, p := range members(selector.Get("matchLabels")) {
		seen.add(p.key)
	}
	for e, n := walkOf(selector.Get("matchExpressions")); n > 0; n-- {
		seen.add(text(e.step(), "key"))
	}
	if len(keys) > 0 && selector.Kind() != Object {
		c.noSelector(path)
	}
	for i, key := range keys {
		c.form(element(path, i), key, admission.LabelKey.Faults(key, c.r.Minor()))
		if seen.has(key) {
			c.r.Invalid(element(path, i), policy.Quoted(key), inBoth+"labelSelector")
		}
	}
}

func (c *objectChecker) noSelector(path string) {
	c.r.Forbidden(path, "must not be specified when labelSelector is not set")
}

func element(path string, i int) string { return path + policy.Index(i) }

// textsOf returns the texts of a list.
func textsOf(list Value) (texts []string) {
	for e, n := walkOf(list); n > 0; n-- {
		texts = append(texts, e.step().Text())
	}
	return texts
}

// dns checks the resolver's configuration.
//
// Source: validatePodDNSConfig in pkg/apis/core/validation/validation.go, Kubernetes v1.33 to
// v1.37.
func (c *podChecker) dns(v Value) {
	const config, maxServers, maxSearches, maxSearchBytes = "dnsConfig", 3, 32, 2048
	servers, searches := v.Get("nameservers"), v.Get("searches")
	if text(c.spec, "dnsPolicy") == "None" {
		if v.Kind() != Object {
			c.r.Required(c.path(c.spec, config), "must provide `dnsConfig` when `dnsPolicy` is None")
			return
		}
		if servers.Len() == 0 {
			c.r.Required(c.path(v, ".nameservers"), "must provide at least one DNS nameserver when `dnsPolicy` is None")
			return
		}
	}
	most := func(list Value, bad bool, limit int, what string) {
		if bad {
			c.r.Invalid(c.path(list, ""), texts(list, c.r.Minor()), "must not have more than "+strconv.Itoa(limit)+" "+what)
		}
	}
	most(servers, servers.Len() > maxServers, maxServers, "nameservers")
	for e, n := walkOf(servers); n > 0; n-- {
		server := e.step()
		c.form(server, "", server.Text(), admission.IPAddress)
	}
	most(searches, searches.Len() > maxSearches, maxSearches, "search paths")
	size := searches.Len() - 1 // the spaces between them
	for _, domain := range textsOf(searches) {
		size += len(domain)
	}
	most(searches, size > maxSearchBytes, maxSearchBytes, "characters (including spaces) in the search list")
	for e, n := walkOf(searches); n > 0; n-- {
		search := e.step()
		domain, form := search.Text(), admission.SearchDomain
		if c.r.Static() && c.r.Minor() < 35 {
			form = admission.DNSSubdomain
		} else if domain == "." {
			continue
		}
		if last := len(domain) - 1; last >= 0 && domain[last] == '.' {
			domain = domain[:last]
		}
		c.form(search, "", domain, form)
	}
	for e, n := walkOf(v.Get("options")); n > 0; n-- {
		if option := e.step(); text(option, "name") == "" {
			c.r.Required(c.path(option, ""), "must not be empty")
		}
	}
}

// hostAliases checks lines for the file of hosts.
//
// Source: ValidateHostAliases in pkg/apis/core/validation/validation.go, Kubernetes v1.33 to v1.37.
func (c *podChecker) hostAliases() {
	for e, n := walkOf(c.spec.Get("hostAliases")); n > 0; n-- {
		v := e.step()
		c.form(v, ".ip", text(v, "ip"), admission.IPAddress)
		for e, n := walkOf(v.Get("hostnames")); n > 0; n-- {
			name := e.step()
			c.form(name, "", name.Text(), admission.DNSSubdomain)
		}
	}
}
