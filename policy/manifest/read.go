package manifest

import (
	"math"
	"strings"

	"github.com/podfate/podfate/policy"
)

// ReadObject turns a manifest, checked by [CheckFields] and free of faults of type, into what the
// decisions need. template is the path of its pod template from [Kinds] ("" for a Pod).
//
// It follows Kubernetes' decoder: a field that is null is absent, a list element that is null is
// its zero value.
func ReadObject(v Value, kind, template string) policy.Object {
	return ReadProposed(v, kind, template, 0)
}

// ReadProposed is [ReadObject] for a cluster with proposals.
func ReadProposed(v Value, kind, template string, p policy.Proposals) policy.Object {
	o := policy.Object{
		Kind:         kind,
		Namespace:    v.Get("metadata").Get("namespace").Text(),
		Name:         v.Get("metadata").Get("name").Text(),
		GenerateName: v.Get("metadata").Get("generateName").Text(),
		SpecPath:     "spec.",
	}
	spec := v.Get("spec")
	if template != "" {
		o.SpecPath = template + ".spec."
		spec = v.At(template + ".spec")
	}
	switch kind {
	case "Job":
		o.Job = readJob(v.Get("spec"))
		o.Job.Status = readJobStatus(v.Get("status"))
	case "CronJob": // also the template of a Job in another kind: its spec is what the Pod template is in
		o.Job = readJob(v.At(strings.TrimSuffix(template, ".template")))
	}
	if kind == "ReplicationController" && v.Get("spec").Get("template").Kind() != Object {
		o.NoTemplate = true
	}
	if o.Spec = readPodSpec(spec); p != 0 {
		readProposals(spec, &o.Spec, p)
		if o.Job != nil && p.Has(policy.KEP3329Draft) {
			readDraft(v.At(strings.TrimSuffix(o.JobPath(), ".")), &o, p)
		}
	}
	checker := &podChecker{spec: spec, at: o.SpecPath, pod: kind == "Pod", name: o.Name, labels: v.Get("metadata").Get("labels")}
	if kind == "StatefulSet" {
		o.FirstOrdinal = number(v.Get("spec").Get("ordinals"), "start", 0)
		checker.stateful, checker.templates = true, v.Get("spec").Get("volumeClaimTemplates")
	}
	o.Fields = checker
	return o
}

func readPodSpec(v Value) policy.PodSpec {
	return policy.PodSpec{
		RestartPolicy:       policy.RestartPolicy(v.Get("restartPolicy").Text()),
		InitContainers:      readContainers(v.Get("initContainers")),
		Containers:          readContainers(v.Get("containers")),
		EphemeralContainers: readContainers(v.Get("ephemeralContainers")),

		ActiveDeadlineSeconds:         readInt64(v.Get("activeDeadlineSeconds")),
		TerminationGracePeriodSeconds: readInt64(v.Get("terminationGracePeriodSeconds")),

		Windows: v.Get("os").Get("name").Text() == "windows" || v.Get("nodeSelector").Get("kubernetes.io/os").Text() == "windows",
	}
}

// readInt64 returns a number, nil if there is none.
func readInt64(v Value) *int64 {
	n, ok := v.Int64()
	if !ok {
		return nil
	}
	found := n // or n would be allocated for each field that is absent
	return &found
}

func readContainers(list Value) []policy.Container {
	if list.Kind() != Array || list.Len() == 0 {
		return nil
	}
	containers := make([]policy.Container, 0, list.Len())
	for v := list.First(); v.Exists(); v = v.Next() {
		containers = append(containers, readContainer(v))
	}
	return containers
}

func readContainer(v Value) policy.Container {
	rules, resize := v.Get("restartPolicyRules"), v.Get("resizePolicy")
	c := policy.Container{
		Name:               v.Get("name").Text(),
		RestartPolicyRules: readRules(rules),
		HasRules:           rules.Kind() == Array,

		ResizePolicy:    readResizePolicy(resize),
		HasResizePolicy: resize.Kind() == Array,

		HasLifecycle:      v.Get("lifecycle").Kind() == Object,
		HasLivenessProbe:  v.Get("livenessProbe").Kind() == Object,
		HasReadinessProbe: v.Get("readinessProbe").Kind() == Object,
		HasStartupProbe:   v.Get("startupProbe").Kind() == Object,

		LivenessGraceSeconds: readInt64(v.Get("livenessProbe").Get("terminationGracePeriodSeconds")),
		StartupGraceSeconds:  readInt64(v.Get("startupProbe").Get("terminationGracePeriodSeconds")),
		HasPreStop:           v.Get("lifecycle").Get("preStop").Kind() == Object,

		TargetContainerName: v.Get("targetContainerName").Text(),
	}
	if own := v.Get("restartPolicy"); own.Kind() == String {
		p := policy.RestartPolicy(own.Str())
		c.RestartPolicy = &p
	}
	return c
}

func readRules(list Value) []policy.ContainerRestartRule {
	if list.Kind() != Array || list.Len() == 0 {
		return nil
	}
	rules := make([]policy.ContainerRestartRule, 0, list.Len())
	for v := list.First(); v.Exists(); v = v.Next() {
		rule := policy.ContainerRestartRule{Action: policy.ContainerRestartRuleAction(v.Get("action").Text())}
		if on := v.Get("exitCodes"); on.Kind() == Object {
			rule.ExitCodes = readExitCodes(on)
		}
		rules = append(rules, rule)
	}
	return rules
}

func readExitCodes(on Value) *policy.ContainerRestartRuleOnExitCodes {
	return &policy.ContainerRestartRuleOnExitCodes{
		Operator: policy.ExitCodesOperator(on.Get("operator").Text()),
		Values:   readInt32s(on.Get("values")),
	}
}

func readResizePolicy(list Value) []policy.ContainerResizePolicy {
	if list.Kind() != Array || list.Len() == 0 {
		return nil
	}
	policies := make([]policy.ContainerResizePolicy, 0, list.Len())
	for v := list.First(); v.Exists(); v = v.Next() {
		policies = append(policies, policy.ContainerResizePolicy{
			ResourceName:  v.Get("resourceName").Text(),
			RestartPolicy: policy.ResizeRestartPolicy(v.Get("restartPolicy").Text()),
		})
	}
	return policies
}

func readInt32s(list Value) []int32 {
	if list.Kind() != Array || list.Len() == 0 {
		return nil
	}
	values := make([]int32, 0, list.Len())
	for v := list.First(); v.Exists(); v = v.Next() {
		n, ok := v.Int64()
		if !ok || n < math.MinInt32 || n > math.MaxInt32 {
			n = 0 // null; anything else is a fault of type, found before
		}
		values = append(values, int32(n))
	}
	return values
}

// Text returns a string, and "" for anything else, null included.
func (v Value) Text() string {
	if v.Kind() != String {
		return ""
	}
	return v.Str()
}
