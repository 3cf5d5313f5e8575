package diff

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// workloads compares what is refused about n objects whose metadata and whose specs around the
// template are set at random.
func (c *comparison) workloads(t *testing.T, n int) {
	shown := 0
	set := gateSets(c.release.Minor())[0]
	if err := c.release.SetGates(set); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		text := generate(c.seed+6, i).workload()
		c.surrounded++
		c.compareAdmission(t, &shown, fmt.Sprintf("workload %d: %s", i, text), text, set)
	}
}

// strange are texts that some fields refuse.
var strange = []string{
	``, `a`, `A`, `a.b`, `a-`, `-a`, `a_b`, `a/b`, `/a`, `a/`, `a/b/c`, `a b`, `Kubernetes.io/a`, `kubernetes.io/a`, `.`, `..`, `ä`, "\u212Aelvin", `{{.Name}}`, `$(name)`, "a\nb", `"q"<&>`,
	strings.Repeat("a", 52), strings.Repeat("a", 53), strings.Repeat("a", 63), strings.Repeat("a", 64), strings.Repeat("a", 250) + ".b", strings.Repeat("b.", 126) + "bb", strings.Repeat("c", 64) + "/d", `e/` + strings.Repeat("e", 64),
}

// text returns a text in quotes: strange, or one of usual, which is the rule for a careful
// generator.
func (g *generator) text(usual ...string) string {
	if g.careful && !g.oneIn(30) || len(usual) > 0 && g.oneIn(2) {
		return jsonText(pick(g, usual...))
	}
	return jsonText(pick(g, strange...))
}

func jsonText(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // a text has no error
	}
	return string(text)
}

// texts returns a map of texts.
func (g *generator) texts(keys []string, values ...string) string {
	if g.oneIn(12) {
		return pick(g, "null", "{}")
	}
	var parts []string
	seen := map[string]bool{}
	for range 1 + g.r.IntN(3) {
		key := g.text(keys...)
		if !seen[key] {
			parts = append(parts, key+":"+g.text(values...))
		}
		seen[key] = true
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func (g *generator) sometimes(n int, name, value string) {
	if g.oneIn(n) {
		g.field(name, value)
	}
}

// meta writes the metadata of an object, or of a template, of which most is not looked at.
func (g *generator) meta(template bool) {
	g.b.WriteString(`{`)
	if template {
		if !g.oneIn(10) {
			g.field("labels", pick(g, `{"app":"a"}`, `{"app":"a"}`, `{"app":"a","tier":"b"}`, g.texts([]string{"app"}, "a"),
				`{"app":"a","batch.kubernetes.io/controller-uid":"u","job-name":"a"}`))
		}
		g.sometimes(6, "annotations", g.texts(annotations, annotationValues...))
		g.sometimes(20, "name", g.text("a"))
	} else {
		switch g.r.IntN(8) {
		case 0:
			g.field("generateName", g.text("a-", "a", strings.Repeat("a", 70)))
			g.sometimes(4, "name", g.text("a"))
		case 1:
			g.field("name", g.text("a", strings.Repeat("a", 52), strings.Repeat("a", 53), strings.Repeat("a", 64)))
		default:
			g.field("name", pick(g, `"a"`, `"a"`, `"a.b"`, `null`))
		}
		g.field("namespace", pick(g, `"default"`, `"default"`, `"default"`, g.text("default")))
		g.sometimes(4, "labels", g.texts([]string{"app", "a.b/c"}, "a"))
		g.sometimes(4, "annotations", g.texts(annotations, annotationValues...))
		g.sometimes(12, "finalizers", pick(g, `["kubernetes"]`, `["orphan","foregroundDeletion"]`, `["a.b/c"]`, `["a.b/c/d",null,"Orphan"]`, `[`+g.text("orphan")+`]`))
		g.sometimes(12, "ownerReferences", pick(g, `[{}]`, `[{"apiVersion":"v1","kind":"Pod","name":"a","uid":"u"}]`, `[{"apiVersion":"a/b/c","kind":"K","name":"n","uid":"u"},null]`,
			`[{"apiVersion":"v1","kind":"Event","name":"a","uid":"u"}]`, `[{"apiVersion":"/","kind":"K"}]`, `[{"apiVersion":"a/","name":"n"},{"apiVersion":"a/v1","uid":"n"}]`,
			`[{"apiVersion":"v1","kind":"A","name":"a","uid":"u","controller":true},{"apiVersion":"v1","kind":"B","name":"b","uid":"u","controller":true}]`))
		g.sometimes(20, "uid", `"u"`)
		g.sometimes(20, "generation", `-1`)
		g.sometimes(20, "creationTimestamp", pick(g, `null`, `"2026-01-01T00:00:00Z"`))
	}
	g.close(`}`)
}

// annotations are keys of which some are read.
var annotations = []string{
	"a", "A.b/C", "kubernetes.io/config.mirror", "controller.kubernetes.io/pod-deletion-cost", "seccomp.security.alpha.kubernetes.io/pod",
	"container.seccomp.security.alpha.kubernetes.io/c", "container.apparmor.security.beta.kubernetes.io/c", "container.apparmor.security.beta.kubernetes.io/d",
}

var annotationValues = []string{"", "1", "+1", "01", "-5", "2147483648", "runtime/default", "docker/default", "unconfined", "localhost/a", "localhost//a", "localhost/a/../b", "localhost/..", "none"}

// labelSelector writes a selector.
func (g *generator) labelSelector() string {
	switch g.r.IntN(10) {
	case 0:
		return pick(g, "null", "{}", `{"matchLabels":null}`, `{"matchLabels":{}}`, `{"matchExpressions":[]}`, `{"matchLabels":{"batch.kubernetes.io/controller-uid":"u"}}`)
	case 1:
		return `{"matchLabels":` + g.texts([]string{"app", "b"}, "a") + `}`
	case 2, 3:
		values := pick(g, `null`, `[]`, `["a"]`, `["b"]`, `["a","b"]`, `["b",`+g.text("a")+`]`)
		return `{"matchExpressions":[{"key":` + g.text("app", "b") + `,"operator":` + g.text("In", "NotIn", "Exists", "DoesNotExist") + `,"values":` + values + `}]` + pick(g, ``, `,"matchLabels":{"app":"a"}`) + `}`
	}
	return `{"matchLabels":{"app":"a"}}`
}

func (g *generator) share() string {
	if g.careful {
		return pick(g, `null`, `1`, `0`, `"25%"`, `"0%"`, `"100%"`)
	}
	return pick(g, `null`, `-1`, `0`, `1`, `"0%"`, `"25%"`, `"100%"`, `"101%"`, `"x"`, `"5"`, `""`, `"-5%"`, `"99999999999999999999%"`, `"0"`, `2147483647`)
}

func (g *generator) small() string { return pick(g, `null`, `0`, `1`, `5`, `-1`, `600`, `-2147483648`) }

// surroundings are the kinds with what writes the spec around the template, which comes last.
var surroundings = []struct {
	apiVersion, kind string
	spec             func(g *generator)
}{
	{"v1", "Pod", nil},
	{"v1", "PodTemplate", nil},
	{"v1", "ReplicationController", func(g *generator) {
		g.sometimes(2, "selector", pick(g, `{"app":"a"}`, `{}`, `null`, g.texts([]string{"app"}, "a")))
		g.sometimes(4, "replicas", g.small())
		g.sometimes(4, "minReadySeconds", g.small())
	}},
	{"apps/v1", "Deployment", func(g *generator) {
		g.selectorField()
		g.sometimes(4, "replicas", g.small())
		g.sometimes(4, "minReadySeconds", g.small())
		g.sometimes(4, "revisionHistoryLimit", g.small())
		g.sometimes(4, "progressDeadlineSeconds", g.small())
		g.sometimes(2, "strategy", g.strategy("RollingUpdate", "Recreate"))
	}},
	{"apps/v1", "ReplicaSet", func(g *generator) {
		g.selectorField()
		g.sometimes(4, "replicas", g.small())
		g.sometimes(4, "minReadySeconds", g.small())
	}},
	{"apps/v1", "DaemonSet", func(g *generator) {
		g.selectorField()
		g.sometimes(4, "minReadySeconds", g.small())
		g.sometimes(4, "revisionHistoryLimit", g.small())
		g.sometimes(2, "updateStrategy", g.strategy("RollingUpdate", "OnDelete"))
	}},
	{"apps/v1", "StatefulSet", func(g *generator) {
		g.selectorField()
		g.sometimes(4, "replicas", g.small())
		g.sometimes(4, "minReadySeconds", g.small())
		g.sometimes(4, "revisionHistoryLimit", g.small())
		g.sometimes(4, "serviceName", g.text("a"))
		g.sometimes(4, "podManagementPolicy", g.text("OrderedReady", "Parallel"))
		g.sometimes(4, "ordinals", pick(g, `null`, `{}`, `{"start":-1}`, `{"start":1}`))
		g.sometimes(4, "persistentVolumeClaimRetentionPolicy", `{"whenDeleted":`+g.text("Retain", "Delete")+`,"whenScaled":`+g.text("Retain", "Delete")+`}`)
		kind := pick(g, `"type":`+g.text("RollingUpdate", "OnDelete", "Recreate")+`,`, ``)
		rolling := pick(g, `null`, `{}`, `{"partition":`+g.small()+`}`, `{"partition":1,"maxUnavailable":`+g.share()+`}`)
		g.sometimes(2, "updateStrategy", `{`+kind+`"rollingUpdate":`+rolling+`}`)
	}},
	{"batch/v1", "Job", func(g *generator) {
		g.sometimes(6, "manualSelector", pick(g, `true`, `true`, `false`, `null`))
		g.sometimes(4, "selector", g.labelSelector())
	}},
	{"batch/v1", "CronJob", func(g *generator) {
		g.field("schedule", g.schedule())
		g.sometimes(4, "timeZone", pick(g, `null`, `"UTC"`, `"Etc/UTC"`, `"Local"`, `"local"`, g.text("UTC")))
		g.sometimes(4, "startingDeadlineSeconds", g.small())
		g.sometimes(4, "concurrencyPolicy", g.text("Allow", "Forbid", "Replace"))
		g.sometimes(4, "successfulJobsHistoryLimit", g.small())
		g.sometimes(4, "failedJobsHistoryLimit", g.small())
		g.sometimes(8, "suspend", `true`)
	}},
}

func (g *generator) selectorField() {
	if !g.oneIn(12) {
		g.field("selector", g.labelSelector())
	}
}

func (g *generator) strategy(words ...string) string {
	kind := pick(g, `"type":`+g.text(words...)+`,`, ``)
	rolling := pick(g, `null`, `{}`, `{"maxUnavailable":`+g.share()+`}`, `{"maxUnavailable":`+g.share()+`,"maxSurge":`+g.share()+`}`)
	return `{` + kind + `"rollingUpdate":` + rolling + `}`
}

// schedule returns a schedule of a CronJob.
func (g *generator) schedule() string {
	if g.oneIn(3) {
		return pick(g, `""`, `"* * * *"`, `" "`, `"@daily"`, `"@Daily"`, `"@every 5m"`, `"@every x"`, `"@every"`, `"@reboot"`, `"* * * * * *"`, `"TZ=UTC * * * * *"`, `"CRON_TZ=UTC 5 4 * * *"`, `"5 4 * * TZ"`, g.text("* * * * *"))
	}
	fields := make([]string, 5)
	for i := range fields {
		fields[i] = pick(g, "*", "*", "*", "?", "1", "5", "0", "1-5", "5-1", "*/5", "1-5/2", "*/0", "*/x", "1,2", "1,", ",", "JAN", "mon", "sun-SAT", "dec", "7", "13", "24", "32", "60", "-1", "1-", "1-2-3", "1/2/3", "x", "+3", "99999999999999999999", "1.5", "*-5", "3-*", "ſun")
		if g.careful {
			fields[i] = pick(g, "*", "1", "*/5", "1-5", "2,3")
		}
	}
	return jsonText(strings.Join(fields, pick(g, " ", " ", "  ", "\t")))
}

// profiles writes a security context with profiles that annotations may name, too, or nothing.
func (g *generator) profiles() string {
	if !g.oneIn(2) {
		return ``
	}
	profile := func() string {
		return pick(g, `null`, `{}`, `{"type":"Unconfined"}`, `{"type":"RuntimeDefault"}`, `{"type":"Localhost","localhostProfile":"a"}`, `{"type":"Localhost"}`)
	}
	return `,"securityContext":{"seccompProfile":` + profile() + `,"appArmorProfile":` + profile() + `}`
}

// workload returns an object of any kind.
func (g *generator) workload() []byte {
	s := surroundings[g.r.IntN(len(surroundings))]
	g.b.WriteString(`{"apiVersion":"` + s.apiVersion + `","kind":"` + s.kind + `","metadata":`)
	g.meta(false)
	spec := `{"containers":[{"name":"c","image":"i"` + g.profiles() + `}]` + g.profiles() +
		pick(g, ``, ``, `,"initContainers":[{"name":"d","image":"i"`+g.profiles()+`}]`, `,"os":{"name":"linux"}`)
	if s.kind == "Pod" {
		g.b.WriteString(`,"spec":` + spec + pick(g, ``, `,"nodeName":"n"`) + `}}`)
		return g.b.Bytes()
	}
	end := `}`
	switch s.kind {
	case "PodTemplate":
		g.b.WriteString(`,"template":`)
	case "CronJob":
		g.b.WriteString(`,"spec":{`)
		s.spec(g)
		g.b.WriteString(`"jobTemplate":{"metadata":{"labels":{"a b":"c"}},"spec":{`)
		g.sometimes(8, "manualSelector", pick(g, `true`, `false`, `null`))
		g.sometimes(8, "selector", g.labelSelector())
		g.b.WriteString(`"template":`)
		end = `}}}}`
	default:
		g.b.WriteString(`,"spec":{`)
		s.spec(g)
		g.b.WriteString(`"template":`)
		end = `}}`
	}
	g.b.WriteString(`{"metadata":`)
	g.meta(true)
	policyText := ``
	if strings.HasSuffix(s.kind, "Job") {
		policyText = `,"restartPolicy":"Never"`
	}
	g.b.WriteString(`,"spec":` + spec + policyText + `}}` + end)
	return g.b.Bytes()
}
