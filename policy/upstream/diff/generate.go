package diff

import (
	"bytes"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
)

// generator makes random manifests. Values lie close to the limits that Kubernetes draws.
type generator struct {
	r *rand.Rand
	b bytes.Buffer
	// admissible keeps to what a kubelet may see: container names are unique, elements are not
	// null.
	admissible bool
	// careful writes only words that Kubernetes knows, and neither too many rules nor too many
	// values, so that not every manifest has faults.
	careful bool
	// probing gives containers the probes whose failures the kubelet acts on.
	probing bool
	names   int
}

// generate returns the generator of case i.
func generate(seed uint64, i int) *generator {
	g := &generator{r: rand.New(rand.NewPCG(seed, uint64(i)))}
	g.careful = g.oneIn(2)
	return g
}

func (g *generator) oneIn(n int) bool { return g.r.IntN(n) == 0 }

func pick[T any](g *generator, from ...T) T { return from[g.r.IntN(len(from))] }

// kinds are the manifests with a pod template; TEMPLATE and JOB stand for what is random.
var kinds = []string{
	`"apiVersion":"v1","kind":"PodTemplate","template":TEMPLATE`,
	`"apiVersion":"v1","kind":"ReplicationController","spec":{"selector":{"app":"a"},"template":TEMPLATE}`,
	`"apiVersion":"v1","kind":"ReplicationController","spec":{"selector":{"app":"a"}}`,
	`"apiVersion":"apps/v1","kind":"Deployment","spec":{"selector":{"matchLabels":{"app":"a"}},"template":TEMPLATE}`,
	`"apiVersion":"apps/v1","kind":"ReplicaSet","spec":{"selector":{"matchLabels":{"app":"a"}},"template":TEMPLATE}`,
	`"apiVersion":"apps/v1","kind":"StatefulSet","spec":{"serviceName":"a","selector":{"matchLabels":{"app":"a"}},"template":TEMPLATE}`,
	`"apiVersion":"apps/v1","kind":"DaemonSet","spec":{"selector":{"matchLabels":{"app":"a"}},"template":TEMPLATE}`,
	`"apiVersion":"batch/v1","kind":"Job","spec":{JOB"template":TEMPLATE}`,
	`"apiVersion":"batch/v1","kind":"CronJob","spec":{"schedule":"0 * * * *","jobTemplate":{"spec":{JOB"template":TEMPLATE}}}`,
}

// manifest returns a Pod or something that makes Pods.
func (g *generator) manifest() []byte {
	if g.oneIn(2) {
		return g.pod()
	}
	kind := kinds[g.r.IntN(len(kinds))]
	g.podSpec(strings.Contains(kind, "JOB"))
	fill := strings.NewReplacer(
		"TEMPLATE", `{"metadata":{"labels":{"app":"a"}},"spec":`+g.b.String()+`}`,
		"JOB", pick(g, ``, ``, `"podFailurePolicy":null,`, `"podFailurePolicy":{},`, failurePolicy),
	)
	return []byte(`{"metadata":{"name":"a","namespace":"default"},` + fill.Replace(kind) + `}`)
}

const failurePolicy = `"podFailurePolicy":{"rules":[{"action":"FailJob","onExitCodes":{"operator":"In","values":[42]}}]},`

// pod returns a Pod.
func (g *generator) pod() []byte {
	g.b.WriteString(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"default"},"spec":`)
	g.podSpec(false)
	g.b.WriteString(`}`)
	return g.b.Bytes()
}

func (g *generator) podSpec(job bool) {
	g.b.WriteString(`{`)
	fields := []func(){
		func() { g.list("containers", g.mainCount()) },
		func() { g.list("initContainers", pick(g, 0, 0, 1, 1, 2, 3)) },
		func() { g.list("ephemeralContainers", pick(g, 0, 0, 0, 0, 0, 0, 1, 2)) },
		func() {
			known := policies
			if job {
				known = []string{`"Never"`, `"OnFailure"`, `"Never"`, `"Always"`}
			}
			g.field("restartPolicy", g.word(known...))
		},
		func() {
			if g.oneIn(8) {
				g.field("activeDeadlineSeconds", pick(g, "null", "-1", "0", "1", "600", "2147483647", "2147483648", "-9223372036854775808", "9223372036854775807"))
			}
		},
		func() {
			if g.oneIn(8) {
				g.field("terminationGracePeriodSeconds", pick(g, "null", "-1", "0", "1", "30", "9223372036854775807"))
			}
		},
	}
	g.r.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
	for _, f := range fields {
		f()
	}
	g.close(`}`)
}

func (g *generator) mainCount() int {
	if g.admissible {
		return 1 + g.r.IntN(3)
	}
	return pick(g, 0, 1, 1, 1, 1, 1, 2, 2, 3)
}

// list writes a list of containers: absent or null or empty if n is 0.
func (g *generator) list(name string, n int) {
	if n == 0 {
		g.field(name, pick(g, "", "null", "[]"))
		return
	}
	g.b.WriteString(`"` + name + `":[`)
	for range n {
		if !g.admissible && g.oneIn(200) {
			g.b.WriteString(`null,`)
			continue
		}
		g.container(name)
		g.b.WriteString(`,`)
	}
	g.close(`],`)
}

func (g *generator) container(list string) {
	g.b.WriteString(`{"name":` + g.name() + `,"image":"i",`)
	fields := []func(){func() { g.field("restartPolicy", g.word(policies...)) }, g.rules}
	if g.careful && g.oneIn(3) { // rules would need a policy
		fields = nil
	}
	ephemeral := list == "ephemeralContainers"
	if ephemeral && g.oneIn(2) { // their own faults would be the only ones otherwise
		fields = nil
	}
	if ephemeral && g.oneIn(3) {
		g.field("targetContainerName", pick(g, `"c0"`, `"c1"`, `"c2"`, `"nobody"`, `""`, `null`))
	}
	if g.probing {
		for _, name := range []string{"livenessProbe", "startupProbe"} {
			if g.oneIn(3) {
				g.field(name, probe)
			}
		}
	}
	if !g.admissible && g.oneIn(6) {
		fields = append(fields, g.besides)
	}
	g.r.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
	for _, f := range fields {
		f()
	}
	g.close(`}`)
}

// policies are those of Pods and containers.
var policies = []string{`"Always"`, `"OnFailure"`, `"Never"`}

// name returns the name of the next container: c0, c1 and so on, sometimes one that is taken or not
// allowed.
func (g *generator) name() string {
	n := g.names
	g.names++
	if g.admissible || !g.oneIn(30) {
		return `"c` + strconv.Itoa(n) + `"`
	}
	if g.careful {
		return pick(g, `"a"`, `"0"`, `"a-b"`, `"`+strings.Repeat("a", 63)+`"`)
	}
	return pick(g, `"c0"`, `"c0"`, `""`, `null`, `"A"`, `"a.b"`, `"a..b"`, `"-a"`, `"a-"`, `"a.-b"`, `"a_b"`, `"\u00e9"`, `"a\u0000<"`,
		`"`+strings.Repeat("a", 64)+`"`, `"`+strings.Repeat("a.", 40)+`"`)
}

const probe = `{"tcpSocket":{"port":80}}`

// besides writes fields whose faults depend on the restart policies or on the kind of container.
func (g *generator) besides() {
	for _, name := range []string{"livenessProbe", "readinessProbe", "startupProbe"} {
		if g.oneIn(4) {
			g.field(name, pick(g, probe, probe, "null"))
		}
	}
	if g.oneIn(4) {
		g.field("lifecycle", pick(g, `{"preStop":{"exec":{"command":["x"]}}}`, `null`))
	}
	if g.oneIn(2) {
		return
	}
	g.b.WriteString(`"resizePolicy":[`)
	for range g.r.IntN(4) {
		if !g.careful && g.oneIn(10) {
			g.b.WriteString(`null,`)
			continue
		}
		g.b.WriteString(`{`)
		g.field("resourceName", g.word(`"cpu"`, `"memory"`))
		g.field("restartPolicy", g.word(`"NotRequired"`, `"RestartContainer"`))
		g.close(`},`)
	}
	g.close(`],`)
}

// rules writes restartPolicyRules.
func (g *generator) rules() {
	n := pick(g, 0, 0, 0, 1, 1, 2, 3, 4, 5)
	if g.oneIn(12) {
		n = pick(g, 19, 20, 21, 25)
		if g.careful {
			n = min(n, 20)
		}
	}
	if n == 0 {
		g.field("restartPolicyRules", pick(g, "", "", "null", "[]"))
		return
	}
	g.b.WriteString(`"restartPolicyRules":[`)
	for range n {
		if !g.careful && g.oneIn(60) {
			g.b.WriteString(`null,`)
		} else {
			g.rule()
		}
	}
	g.close(`],`)
}

func (g *generator) rule() {
	g.b.WriteString(`{`)
	g.field("action", g.word(`"Restart"`, `"Restart"`, `"RestartAllContainers"`))
	switch {
	case !g.careful && g.oneIn(12):
		g.field("exitCodes", pick(g, "", "null", "{}"))
	default:
		g.b.WriteString(`"exitCodes":{`)
		g.field("operator", g.word(`"In"`, `"NotIn"`))
		g.values()
		g.close(`},`)
	}
	g.close(`},`)
}

func (g *generator) values() {
	n := pick(g, 0, 1, 1, 1, 2, 2, 3, 4, 6)
	if g.oneIn(60) {
		n = pick(g, 200, 254, 255, 256, 260)
		if g.careful {
			n = min(n, 255)
		}
	}
	if n == 0 {
		g.field("values", pick(g, "", "null", "[]"))
		return
	}
	g.b.WriteString(`"values":[`)
	first := g.r.IntN(300) - 20
	for i := range n {
		switch {
		case g.oneIn(100):
			g.b.WriteString(`null,`)
		case n > 100: // a run of codes covers a large part of the byte range
			g.b.WriteString(strconv.Itoa(first+i) + `,`)
		default:
			g.b.WriteString(strconv.Itoa(int(g.code())) + `,`)
		}
	}
	g.close(`],`)
}

// code returns an exit code: one that occurs often, a limit or its neighbour, or any.
func (g *generator) code() int32 {
	switch g.r.IntN(8) {
	case 0:
		return pick[int32](g, math.MinInt32, math.MinInt32+1, math.MaxInt32, math.MaxInt32-1, -1, -2, 255, 256, 257, 300)
	case 1:
		return int32(g.r.IntN(256))
	case 2:
		return int32(g.r.Uint32())
	}
	return pick[int32](g, 0, 0, 1, 2, 3, 42, 127, 128, 137, 143, 254, 255)
}

// words are strings that no field of these accepts, or only by mistake: other cases, other fields'
// words, quotes.
var words = []string{
	`""`, `"Sometimes"`, `"always"`, `"Never "`, `"In"`, `"NotIn"`, `"Restart"`, `"Always"`, `"Exists"`, `"Terminate"`,
	`"a\"b\\c"`, `"tab\there"`, `"\u00e9\u4e16\ud83d\ude00"`, `"\u0000\u007f\u2028"`, "\"`\"", `"<&>"`, `"%d %s"`,
}

// word returns one of the known texts most of the time, else none, null or one of words.
func (g *generator) word(known ...string) string {
	if g.careful {
		return pick(g, known...)
	}
	switch g.r.IntN(12) {
	case 0:
		return ""
	case 1:
		return pick(g, "null", "")
	case 2:
		return words[g.r.IntN(len(words))]
	}
	return pick(g, known...)
}

// field writes a member and a comma; nothing if value is "".
func (g *generator) field(name, value string) {
	if value != "" {
		g.b.WriteString(`"` + name + `":` + value + `,`)
	}
}

// close writes end after taking back the comma before it.
func (g *generator) close(end string) {
	if b := g.b.Bytes(); b[len(b)-1] == ',' {
		g.b.Truncate(len(b) - 1)
	}
	g.b.WriteString(end)
}
