package ops

import (
	"strconv"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/manifest"
)

// mostRestarts is the greatest restart count that a status can show.
const mostRestarts = 1<<31 - 1

// readRestarts reads how often a container was restarted.
func (c *call) readRestarts(v manifest.Value, path string) (n uint32, given bool) {
	count, given := c.integer(v, path, 0, mostRestarts)
	return uint32(count), given
}

// readRestartCounts reads restartCounts, how often the containers of the Pod were restarted before
// an exit: a limit asks for the sum. What an exit says of its own container counts there.
func (c *call) readRestartCounts(all []loaded, exits []exit) {
	const path = "restartCounts"
	v, counts := c.root.Get(path), map[string]uint32{}
	if given(v) && v.Kind() != manifest.Object {
		c.wrongType(v, path, "an object with a number for each container")
		return
	}
	for m := v.First(); m.Exists(); m = m.Next() {
		at, found := child(path, m.Key()), false
		for i := range all {
			_, in := all[i].object.Spec.Find(m.Key())
			found = found || in || !all[i].readable
		}
		if !found {
			c.requestFaultAt(m.KeyOffset(), policy.FieldError{
				Path: at, Code: policy.CodeUnknownContainer, Detail: "the Pod has no container " + strconv.Quote(cut(m.Key())), Allowed: c.namesOf(all),
			})
			continue
		}
		if n, ok := c.readRestarts(m, at); ok {
			counts[m.Key()] = n
		}
	}
	for i := range exits {
		e := &exits[i]
		if !all[e.in].readable || c.faults.n > 0 {
			return
		}
		spec := &all[e.in].object.Spec
		name := spec.Container(e.ref).Name
		if n, ok := counts[name]; ok && !e.counted {
			e.restarts, e.counted = n, true
		}
		e.ofPod = e.restarts
		for other, n := range counts {
			if _, in := spec.Find(other); in && other != name {
				e.ofPod = uint32(min(uint64(e.ofPod)+uint64(n), 1<<32-1))
			}
		}
	}
}

// readCallback reads decide, what is in place of rules with the proposal callback, and puts it
// before the rules of each container that it is about:
// {"container":"*","exit":[1,2],"do":"Restart"}.
func (c *call) readCallback(all []loaded, cl *cluster) {
	const path = "decide"
	v := c.root.Get(path)
	if !given(v) {
		return
	}
	switch {
	case !cl.node().features.Proposals.Has(policy.Callback):
		c.requestFault(v, policy.FieldError{
			Path: path, Code: policy.CodeForbidden, Proposal: "callback",
			Detail: "counts only with the proposal callback in cluster.proposals",
		})
		return
	case v.Kind() != manifest.Array:
		c.wrongType(v, path, "an array")
		return
	case v.Len() > policy.MaxCallbacks:
		c.limitAt(v, path, "callbacks", v.Len(), policy.MaxCallbacks)
		return
	}
	type entry struct {
		container string
		rule      policy.ContainerRestartRule
	}
	var list []entry
	i := 0
	for m := v.First(); m.Exists(); m = m.Next() {
		at := element(path, i)
		i++
		c.members(m, at, "container", "exit", "do")
		if m.Kind() != manifest.Object {
			continue
		}
		e := entry{rule: policy.ContainerRestartRule{From: at}}
		e.container = c.callbackContainer(m, at+".container", all)
		e.rule.ExitCodes = c.callbackExits(m.Get("exit"), at+".exit")
		words := []string{"Restart", "RestartAllContainers", "RestartPod", "Complete", "Terminate", "TerminatePod"}
		do, ok := c.text(m.Get("do"), at+".do")
		for _, word := range words {
			if policy.EqualFold(word, do) {
				e.rule.Action = policy.ContainerRestartRuleAction(word)
			}
		}
		if ok && e.rule.Action == "" || !given(m.Get("do")) {
			where, code := m.Get("do"), policy.CodeUnsupported
			if !where.Exists() {
				where, code = m, policy.CodeRequired
			}
			c.requestFault(where, policy.FieldError{Path: at + ".do", Code: code, Detail: "what does it do?", Allowed: words})
		}
		list = append(list, e)
	}
	for n := range all {
		spec := &all[n].object.Spec
		spec.Proposed = true
		for kind := range policy.ContainerKinds {
			for k := range spec.List(kind) {
				container := &spec.List(kind)[k]
				var rules []policy.ContainerRestartRule
				for _, e := range list {
					if e.container == "*" || e.container == container.Name {
						rules = append(rules, e.rule)
					}
				}
				container.RestartPolicyRules = append(rules, container.RestartPolicyRules...)
			}
		}
	}
}

// callbackContainer reads which container an entry is about; it may be left out for all of them.
func (c *call) callbackContainer(m manifest.Value, path string, all []loaded) string {
	name, ok := c.text(m.Get("container"), path)
	if !ok || name == "*" {
		return "*"
	}
	for i := range all {
		if _, found := all[i].object.Spec.Find(name); found || !all[i].readable {
			return name
		}
	}
	c.requestFault(m.Get("container"), policy.FieldError{
		Path: path, Code: policy.CodeUnknownContainer, Detail: "the Pod has no container " + strconv.Quote(cut(name)), Allowed: append(c.namesOf(all), "*"),
	})
	return name
}

// callbackExits reads the exit codes of an entry: a number, a list of them, or a star for all.
func (c *call) callbackExits(v manifest.Value, path string) *policy.ContainerRestartRuleOnExitCodes {
	on := &policy.ContainerRestartRuleOnExitCodes{Operator: policy.OperatorNotIn}
	switch {
	case !given(v), v.Kind() == manifest.String && v.Str() == "*":
		return on
	case v.Kind() == manifest.Array && v.Len() > policy.MaxValues:
		c.limitAt(v, path, "values", v.Len(), policy.MaxValues)
	case v.Kind() == manifest.Array:
		i := 0
		for m := v.First(); m.Exists(); m = m.Next() {
			if n, ok := c.integer(m, element(path, i), -1<<31, 1<<31-1); ok {
				on.Values = append(on.Values, int32(n))
			}
			i++
		}
	case v.Kind() == manifest.Number:
		if n, ok := c.integer(v, path, -1<<31, 1<<31-1); ok {
			on.Values = append(on.Values, int32(n))
		}
	default:
		c.wrongType(v, path, "an exit code, a list of them, or *")
	}
	on.Operator = policy.OperatorIn
	return on
}

// supposed returns the codes of what must be so for containers of these manifests to run at all, and
// to exit: a suspended Job has been resumed, a Job has no failures yet, and the Pod is on the node
// that was named although that node would not get it, or not take it, today.
//
// Source: syncJob in pkg/controller/job/job_controller.go, Kubernetes v1.33 to v1.37; for nodes see
// [policy.PodSpec.RefusedByNode].
func supposed(all []loaded, cl *cluster) (codes []string) {
	node := cl.node().features
	for i := range all {
		o := &all[i].object
		if o.Job != nil && o.Job.Suspend != nil && *o.Job.Suspend && !o.Job.ManagedElsewhere() {
			codes = add(codes, "job_resumed")
		}
		if o.Job != nil && o.Job.Status.Started {
			codes = add(codes, "job_is_created_now")
		}
		switch _, _, needs := o.Spec.NeedsRestartAll(); {
		case o.Spec.RefusedByNode(node):
			codes = add(codes, "node_took_the_pod")
		case needs && cl.features.NodeDeclaredFeatures && !node.RestartAllContainersOnContainerExits:
			codes = add(codes, "on_this_node_whatever_it_lacks")
		}
	}
	return codes
}

// writeReadings writes what proposals add to an answer: that its decisions are those of a callback,
// and the readings that were taken for granted, after the given codes.
func (c *call) writeReadings(all []loaded, exits []exit, cl *cluster, codes []string) {
	for i := range all {
		o := &all[i].object
		codes = add(codes, cl.readings(o)...)
		if c.old != "" {
			codes = add(codes, c.old)
		}
		if _, asks := o.Spec.AsksForRestarts(cl.node().features); asks {
			for _, e := range exits {
				if e.in == i && !e.counted {
					codes = add(codes, "restart_count_0")
					break
				}
			}
		}
	}
	if given(c.root.Get("decide")) {
		c.w.KeyBool("imperative", true)
	}
	if len(codes) == 0 {
		return
	}
	c.w.KeyArray("assumptions")
	for _, code := range codes {
		c.w.Word(code)
	}
	c.w.End()
}

// rulesPath is the path of the Job's rules on failed Pods.
func (l *loaded) rulesPath() string { return l.jobPath(l.object.Job.RulesField()) }

// readings returns the codes of the default readings that matter to o.
func (cl *cluster) readings(o *policy.Object) []string {
	codes := cl.node().features.Proposals.Assumed(&o.Spec, o.Job)
	if o.Job != nil && o.Job.PodFailurePolicy != nil && o.Job.PodFailurePolicy.Never {
		codes = append(codes, "draft_pods_never_restart")
	}
	return codes
}

// add adds codes that are not in list.
func add(list []string, codes ...string) []string {
	for _, code := range codes {
		if !contains(list, code) {
			list = append(list, code)
		}
	}
	return list
}
