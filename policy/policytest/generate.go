package policytest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"math/rand/v2"
	"strings"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/ops"
	"github.com/podfate/podfate/policy/packed"
)

// WriteVectors writes the conformance vectors to w: the scenarios and cases of every operation and
// class, the same on each run, with the answers of the native machine. With small there are a few
// thousand. The line is what each runner has to print, except for engine, version and module.
func WriteVectors(w io.Writer, small bool) (Line, error) {
	cases, err := Cases()
	if err != nil {
		return Line{}, err
	}
	g := &generator{
		rand: rand.New(rand.NewPCG(1537, 5)), small: small, out: json.NewEncoder(w), fold: sha256.New(),
		player: Player{Make: NewNative}, numbers: map[string]int{},
	}
	g.out.SetEscapeHTML(false)
	g.scenarios(cases)
	g.operations()
	g.tables()
	g.translations()
	g.worlds()
	g.policies()
	g.malformed()
	g.limits()
	g.bombs()
	g.handles()
	g.buffers()
	g.batches()
	g.sequences()
	return Line{Count: g.count, Digest: hex.EncodeToString(g.fold.Sum(nil))}, g.err
}

// generator plays vectors as it makes them.
type generator struct {
	rand    *rand.Rand
	small   bool
	out     *json.Encoder
	fold    hash.Hash
	player  Player
	numbers map[string]int // of ids by class
	count   int
	err     error
}

// add plays v, writes it with its answer and returns that. class names it.
func (g *generator) add(class string, v Vector) string {
	if g.err != nil {
		return ""
	}
	g.numbers[class]++
	v.ID = fmt.Sprintf("%s/%d", class, g.numbers[class])
	answer, err := g.player.Play(&v)
	if err != nil {
		g.err = err
		return ""
	}
	if v.A = answer; len(answer) > maxAnswerText {
		v.A, v.D = "", digest(answer)
	}
	fold(g.fold, &v, answer)
	g.count++
	g.err = g.out.Encode(&v)
	return answer
}

func (g *generator) fresh(class string) { g.add(class, Vector{Do: "new"}) }

// some is n, or few with small.
func (g *generator) some(n int) int {
	if g.small {
		return n/40 + 1
	}
	return n
}

func (g *generator) pick(of ...string) string { return of[g.rand.IntN(len(of))] }

// call is a call of an operation.
func call(op uint32, request string) Vector {
	return Vector{Do: "pf_call", X: []any{int(op)}, S: request}
}

func (g *generator) scenarios(cases []Case) {
	g.fresh("scenario")
	for i, c := range cases {
		if !g.small || !slow(c) || i%9 == 0 {
			g.add("scenario/"+c.Name, call(c.Operation.Number, string(c.Request)))
		}
	}
	// The documents about them: whatever puts answers into words, every engine says the same.
	explain, _ := ops.Lookup("explain")
	for i, c := range cases {
		if json.Valid(c.Request) && (!g.small || !slow(c) && i%8 == 0) {
			g.add("explain/"+c.Name, call(explain.Number, `{"of":"`+c.Operation.Name+`","request":`+string(c.Request)+`}`))
		}
	}
}

// slow reports whether c asks for thousands of decisions, which take an interpreter of WebAssembly
// seconds. The small set has few of them.
func slow(c Case) bool {
	switch c.Operation.Name {
	case "suggest", "compare", "translate":
		return true
	}
	return c.Name == "waste-job-one-index-of-a-thousand"
}

// operations are ordinary requests of every operation.
func (g *generator) operations() {
	for i := range g.some(20_000) {
		if i%200 == 0 {
			g.fresh("operation")
		}
		pod := g.pod()
		switch i % 8 {
		case 0, 1, 2:
			g.add("decide", call(3, pod.request(`"exits":[`+strings.Join(g.exits(pod, 1+g.rand.IntN(3)), ",")+`]`)))
		case 3, 4:
			g.add("validate", call(2, pod.request()))
		case 5, 6:
			g.add("simulate", call(4, g.simulation(pod)))
		default:
			g.add("curve", call(5, g.curve()))
		}
	}
	for i := range g.some(1000) {
		if g.small && i%4 != 0 { // each compares two tables
			continue
		}
		if i%100 == 0 {
			g.fresh("operation")
		}
		g.add("compare", call(8, g.comparison(g.pod())))
	}
	for range g.some(600) {
		g.add("fleet", call(11, g.fleet()))
	}
	for op := range uint32(len(ops.Table()) + 3) {
		g.add("operation", call(op, `{}`))
	}
	g.add("operation", call(1<<31-1, `{}`))
	g.add("describe", call(1, `{"module":{"sha256":"`+strings.Repeat("0a", 32)+`","bytes":5}}`))
}

// tables are all exit codes of ordinary manifests at once.
func (g *generator) tables() {
	for i := range g.some(1000) {
		if i%200 == 0 {
			g.fresh("table")
		}
		pod := g.pod()
		members := []string{}
		if g.rand.IntN(3) == 0 {
			members = append(members, fmt.Sprintf(`"container":%q`, g.pick(append(pod.names, "nobody")...)))
		}
		g.add("table", call(7, pod.request(members...)))
	}
	for i := range g.some(600) {
		if i%100 == 0 {
			g.fresh("suggest")
		}
		pod := g.pod()
		if g.rand.IntN(2) == 0 {
			g.add("suggest", call(9, pod.request(fmt.Sprintf(`"flip":{"container":%q,"exit":%d,"to":%q}`,
				pod.names[g.rand.IntN(len(pod.names))], g.code(), g.pick("restart", "restartAll", "stop", "count", "ignore", "failJob", "failIndex", "explode")))))
			continue
		}
		wish := func() string { return g.pick("3", "42", `"1-9"`, `"others"`, `"disruption"`, "0", "256") }
		g.add("suggest", call(9, pod.request(fmt.Sprintf(`"container":%q,"wishes":{%q:[%s],%q:[%s]}`,
			pod.names[0], g.pick("restart", "restartAll", "stop"), wish(), g.pick("ignore", "failJob", "count", "failIndex"), wish()))))
	}
}

// translations are manifests in other words.
func (g *generator) translations() {
	for i := range g.some(400) {
		if i%100 == 0 {
			g.fresh("translate")
		}
		pod := g.pod()
		members := []string{fmt.Sprintf(`"to":%q`, g.pick("kubernetes", "kep-5307-future", "kep-3329-draft", "always-pod", "kep-0"))}
		if g.rand.IntN(4) == 0 {
			members = append(members, fmt.Sprintf(`"spelling":%q`, g.pick("when", "onExit", "onExitCodes", "flat", "grouped", "condition", "expressions")))
		}
		g.add("translate", call(10, pod.request(members...)))
	}
}

// pod is a random manifest.
type pod struct {
	cluster, manifest string
	names             []string
	job               bool
}

// request puts it into a request with further members.
func (p pod) request(members ...string) string {
	all := append([]string{`"cluster":` + p.cluster, `"manifest":` + p.manifest}, members...)
	return "{" + strings.Join(all, ",") + "}"
}

var exitCodes = []int{0, 1, 2, 3, 42, 126, 127, 137, 139, 143, 255, 256, 257, -1, -2147483648, 2147483647, 65536}

func (g *generator) values(n int) string {
	var values []string
	for range n {
		values = append(values, fmt.Sprint(exitCodes[g.rand.IntN(len(exitCodes))]))
	}
	return "[" + strings.Join(values, ",") + "]"
}

func (g *generator) container(name string, init bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"name":%q,"image":"x"`, name)
	own := g.pick("", "", "Always", "Never", "OnFailure")
	if own == "" && g.rand.IntN(60) == 0 {
		own = "always"
	}
	if own != "" {
		fmt.Fprintf(&b, `,"restartPolicy":%q`, own)
	}
	if own != "" && !(init && own == "Always") && g.rand.IntN(2) == 0 || g.rand.IntN(80) == 0 {
		var rules []string
		for range 1 + g.rand.IntN(4) {
			action := g.pick("Restart", "Restart", "RestartAllContainers", "Restart", "Pause")
			operator := g.pick("In", "NotIn", "In", "In", "Equals")
			if g.rand.IntN(3) > 0 {
				action, operator = "Restart", "In"
			}
			rules = append(rules, fmt.Sprintf(`{"action":%q,"exitCodes":{"operator":%q,"values":%s}}`, action, operator, g.values(1+g.rand.IntN(5))))
		}
		b.WriteString(`,"restartPolicyRules":[` + strings.Join(rules, ",") + `]`)
	}
	if g.rand.IntN(100) == 0 {
		b.WriteString(g.pick(`,"livenessProbe":{"exec":{"command":["true"]}}`, `,"restartpolicy":"Never"`, `,"image":"y"`, `,"tty":"yes"`, `,"ports":null`))
	}
	b.WriteString("}")
	return b.String()
}

func (g *generator) pod() pod {
	p := pod{cluster: `{}`}
	if g.rand.IntN(2) == 0 {
		p.cluster = fmt.Sprintf(`{"version":"1.%d"}`, 33+g.rand.IntN(5))
	}
	switch g.rand.IntN(12) {
	case 0:
		p.cluster = `{"version":"1.35","featureGates":{"ContainerRestartRules":true,"RestartAllContainersOnContainerExits":true}}`
	case 1:
		p.cluster = `{"version":"1.36","featureGates":{"ReduceDefaultCrashLoopBackOffDecay":true},"kubeletConfiguration":{"crashLoopBackOff":{"maxContainerRestartPeriod":"` +
			g.pick("1s", "37s", "300s", "0.5s", "301s") + `"}}}`
	}
	spec := []string{}
	if policy := g.pick("", "Always", "Never", "OnFailure"); policy != "" {
		spec = append(spec, fmt.Sprintf(`"restartPolicy":%q`, policy))
	}
	for list, most := range []int{3, 2} {
		n := g.rand.IntN(most + 1)
		if list == 0 {
			n = max(n, 1)
		}
		var containers []string
		for i := range n {
			name := fmt.Sprintf("%s-%d", []string{"main", "init"}[list], i)
			p.names = append(p.names, name)
			containers = append(containers, g.container(name, list == 1))
		}
		if n > 0 {
			spec = append(spec, fmt.Sprintf(`"%s":[%s]`, []string{"containers", "initContainers"}[list], strings.Join(containers, ",")))
		}
	}
	text := "{" + strings.Join(spec, ",") + "}"
	switch g.rand.IntN(5) {
	case 0:
		p.job = true
		p.manifest = `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j"},"spec":{` + g.failurePolicy(p.names) + `"template":{"spec":` + text + `}}}`
		if g.rand.IntN(8) > 0 {
			p.manifest = strings.Replace(p.manifest, `"spec":{"restartPolicy":"Always"`, `"spec":{"restartPolicy":"Never"`, 1)
		}
	case 1:
		p.manifest = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":` + text + `}}}`
	default:
		p.manifest = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":` + text + `}`
	}
	return p
}

// failurePolicy is that of a Job, with the comma after it.
func (g *generator) failurePolicy(names []string) string {
	if g.rand.IntN(4) == 0 {
		return ""
	}
	var rules []string
	for range 1 + g.rand.IntN(4) {
		action := g.pick("FailJob", "Ignore", "Count", "FailJob")
		if g.rand.IntN(3) == 0 {
			rules = append(rules, fmt.Sprintf(`{"action":%q,"onPodConditions":[{"type":%q,"status":%q},{"type":"ConfigIssue"}]}`,
				action, g.pick("DisruptionTarget", "Ready"), g.pick("True", "False")))
			continue
		}
		name := ""
		if g.rand.IntN(2) == 0 {
			name = fmt.Sprintf(`"containerName":%q,`, names[g.rand.IntN(len(names))])
		}
		first := g.rand.IntN(200)
		rules = append(rules, fmt.Sprintf(`{"action":%q,"onExitCodes":{%s"operator":%q,"values":[%d,%d,%d]}}`,
			action, name, g.pick("In", "NotIn", "In"), first+1, first+2+g.rand.IntN(3), first+40))
	}
	return `"podFailurePolicy":{"rules":[` + strings.Join(rules, ",") + `]},`
}

// exits are entries of decide's exits, nearly all of them right.
func (g *generator) exits(p pod, n int) []string {
	var exits []string
	for range n {
		var e strings.Builder
		e.WriteString("{")
		switch g.rand.IntN(20) {
		case 0:
		case 1:
			e.WriteString(`"container":"nobody",`)
		default:
			fmt.Fprintf(&e, `"container":%q,`, p.names[g.rand.IntN(len(p.names))])
		}
		fmt.Fprintf(&e, `"exitCode":%d`, g.code())
		if g.rand.IntN(4) == 0 {
			fmt.Fprintf(&e, `,"reason":%q`, g.pick("OOMKilled", "Error", "ContainerCannotRun", "é\u2028"))
		}
		e.WriteString("}")
		exits = append(exits, e.String())
	}
	return exits
}

func (g *generator) code() int {
	if g.rand.IntN(3) > 0 {
		return g.rand.IntN(256)
	}
	return exitCodes[g.rand.IntN(len(exitCodes))]
}

func (g *generator) length() string {
	return g.pick("0s", "1s", "10s", "90s", "5m", "599s", "601s", "1h", "1500ms", "250ms")
}

func (g *generator) simulation(p pod) string {
	var runs []string
	for _, name := range p.names {
		var tape []string
		for range 1 + g.rand.IntN(3) {
			times := ""
			if g.rand.IntN(2) == 0 {
				times = fmt.Sprintf(`,"times":%d`, 1+g.rand.IntN(6))
			}
			code := g.code()
			if g.rand.IntN(2) == 0 {
				code = 0
			}
			tape = append(tape, fmt.Sprintf(`{"for":%q,"exitCode":%d%s}`, g.length(), code, times))
		}
		runs = append(runs, fmt.Sprintf(`%q:[%s]`, name, strings.Join(tape, ",")))
	}
	members := []string{`"runs":{` + strings.Join(runs, ",") + `}`}
	if g.rand.IntN(3) == 0 {
		members = append(members, fmt.Sprintf(`"events":[{"at":"%ds","type":%q}]`, g.rand.IntN(400),
			g.pick("Evicted", "Deleted", "KubeletRestarted", "NodeShutdown", "SandboxLost", "NodeRebooted", "Explode")))
	}
	if g.rand.IntN(4) == 0 {
		members = append(members, `"timing":{"firstRestart":"`+g.pick("kubelet", "documented", "never")+`"}`)
	}
	return p.request(append(members, fmt.Sprintf(`"until":%q`, g.pick("30s", "5m", "20m", "1h")))...)
}

// comparison asks one question in a few worlds, some of which are refused.
func (g *generator) comparison(p pod) string {
	of, request := "decide", p.request(`"exits":[`+strings.Join(g.exits(p, 2), ",")+`]`)
	switch g.rand.IntN(6) {
	case 0:
		of, request = "simulate", g.simulation(p)
	case 1:
		of, request = "curve", g.curve()
	case 2:
		of, request = "validate", p.request()
	case 3:
		of, request = "table", p.request()
	}
	patches := []string{`{}`, `{"cluster":{"version":"1.34"}}`, `{"cluster":{"kubelet":{"version":"1.33"}}}`, `{"manifest":{"spec":{"restartPolicy":"Never"}}}`,
		`{"backoff":{"max":"60s"}}`, `{"manifest":{"spec":{"containers":null}}}`, `{"cluster":null}`, `{"manifest":{"spec":{"template":{"spec":{"restartPolicy":"OnFailure"}}}}}`}
	variants := []string{`{"name":"first"}`}
	for i := range 1 + g.rand.IntN(3) {
		variants = append(variants, fmt.Sprintf(`{"name":"v%d","patch":%s}`, i, g.pick(patches...)))
	}
	return fmt.Sprintf(`{"of":%q,"request":%s,"variants":[%s],"answers":%q}`, of, request, strings.Join(variants, ","), g.pick("all", "none", "none"))
}

func (g *generator) curve() string {
	members := []string{`"run":{"for":"` + g.length() + `"}`, fmt.Sprintf(`"until":"%dm"`, g.rand.IntN(300))}
	if g.rand.IntN(2) == 0 {
		members = append(members, `"windows":["`+g.pick("5m", "1h", "24h")+`","`+g.pick("0s", "48h", "-1s")+`"]`)
	}
	if g.rand.IntN(2) == 0 {
		members = append(members, fmt.Sprintf(`"backoff":{"initial":"%dms","max":"%ds","factor":%d}`, 1+g.rand.IntN(20_000), g.rand.IntN(400), g.rand.IntN(5)))
	}
	if g.rand.IntN(3) == 0 {
		members = append(members, `"model":"`+g.pick("kubelet", "documented", "guess")+`"`)
	}
	if g.rand.IntN(3) == 0 {
		members = append(members, fmt.Sprintf(`"outage":{"until":"%dm"}`, g.rand.IntN(100)))
	}
	return "{" + strings.Join(members, ",") + "}"
}

// fleet is many Pods, and now and then nonsense.
func (g *generator) fleet() string {
	group := func() string {
		return fmt.Sprintf(`{"pods":%d,"run":{"for":"%s","exitCode":%d},"restartPolicy":"%s"}`,
			g.rand.IntN(60)-1, g.pick("0s", "2s", "60s", "400s", "11m"), g.rand.IntN(2), g.pick("Always", "Always", "OnFailure", "Never"))
	}
	groups := group()
	for range g.rand.IntN(3) {
		groups += "," + group()
	}
	members := []string{fmt.Sprintf(`"nodes":%d,"groups":[%s]`, 1+g.rand.IntN(500), groups)}
	for _, m := range []string{
		fmt.Sprintf(`"spread":"%ds"`, g.rand.IntN(700)), fmt.Sprintf(`"bin":"%ds"`, g.rand.IntN(60)), `"until":"` + g.pick("10m", "1h", "24h") + `"`,
		fmt.Sprintf(`"requestsPerRestart":%d`, g.rand.IntN(7)), fmt.Sprintf(`"goal":{"requestsPerSecond":%d}`, 1+g.rand.IntN(500)),
		`"backoff":{"preset":"` + g.pick("stock", "reduced", "rapid", "catch-up", "soon") + `","classes":{"success":{"initial":"5s","max":"5s"}}}`,
		`"gang":{"checkpoint":"30m","failAt":"47m","start":"45s","reschedule":"` + g.pick("3m", "10m") + `"}`,
		`"cluster":{"kubeletConfiguration":{"kubeAPIQPS":5,"kubeAPIBurst":10}}`, `"model":"documented"`,
	} {
		if g.rand.IntN(3) == 0 {
			members = append(members, m)
		}
	}
	return "{" + strings.Join(members, ",") + "}"
}

// compile compiles a request and returns the handle, 0 if it was refused.
func (g *generator) compile(class, request string) int {
	var head struct{ Handle int }
	if answer := g.add(class, Vector{Do: "pf_compile", S: request}); answer != "" {
		if err := json.Unmarshal([]byte(answer), &head); err != nil {
			g.err = fmt.Errorf("%w: %s", err, answer)
		}
	}
	return head.Handle
}

// policies are compiled, asked in packed batches, and asked the same one by one.
func (g *generator) policies() {
	for i := 0; i < g.some(2000); i++ {
		if i%20 == 0 {
			g.fresh("policy")
		}
		p := g.pod()
		handle := g.compile("policy", p.request())
		if handle == 0 {
			continue
		}
		for range 2 {
			events := make([]policy.Event, 1+g.rand.IntN(40))
			var singles []string
			for k := range events {
				events[k] = g.event(len(p.names))
				singles = append(singles, single(events[k], p.names))
			}
			g.batch("batch", handle, policy.AskExits, events)
			for _, one := range singles {
				g.add("eval", Vector{Do: "pf_eval", X: []any{handle}, S: one})
			}
		}
		if p.job {
			events := make([]policy.Event, 1+g.rand.IntN(40))
			for k := range events {
				events[k] = g.podEvent(len(p.names))
			}
			events[len(events)-1].Flags &^= policy.EventMore
			g.batch("pods", handle, policy.AskPods, events)
			g.add("decide", call(3, p.request(podsOf(events, p.names))))
		}
		if g.rand.IntN(2) == 0 {
			g.add("release", Vector{Do: "pf_release", X: []any{handle}})
		}
	}
}

func (g *generator) event(containers int) policy.Event {
	e := policy.Event{ExitCode: int32(g.code()), Container: uint16(g.rand.IntN(containers)), Tag: g.rand.Uint32()}
	if g.rand.IntN(20) == 0 {
		e.Container = policy.NoContainer
	}
	if g.rand.IntN(4) == 0 {
		e.Flags |= policy.EventOOMKilled
	}
	if g.rand.IntN(2) == 0 {
		e.Flags |= policy.EventHistory
		e.History, e.RanFor = uint32(g.rand.IntN(12)), policy.Millis(g.rand.IntN(700_000))
	}
	return e
}

// single is the same as an entry of decide's exits.
func single(e policy.Event, names []string) string {
	var b strings.Builder
	b.WriteString("{")
	if e.Container != policy.NoContainer {
		fmt.Fprintf(&b, `"container":%q,`, names[e.Container])
	}
	fmt.Fprintf(&b, `"exitCode":%d`, e.ExitCode)
	if e.Flags&policy.EventOOMKilled != 0 {
		b.WriteString(`,"reason":"OOMKilled"`)
	}
	if e.Flags&policy.EventHistory != 0 {
		fmt.Fprintf(&b, `,"restarts":%d,"ranForMillis":%d`, e.History, e.RanFor)
	}
	b.WriteString("}")
	return b.String()
}

func (g *generator) podEvent(containers int) policy.Event {
	e := g.event(containers)
	e.RanFor, e.Conditions = 0, g.rand.Uint64()&g.rand.Uint64()&7
	if g.rand.IntN(3) == 0 {
		e.Flags |= policy.EventMore
	}
	return e
}

// podsOf is the member pods of decide about the same Pods, except for their conditions.
func podsOf(events []policy.Event, names []string) string {
	var pods, statuses []string
	for _, e := range events {
		name := "injected"
		if e.Container != policy.NoContainer {
			name = names[e.Container]
		}
		statuses = append(statuses, fmt.Sprintf(`{"name":%q,"state":{"terminated":{"exitCode":%d}}}`, name, e.ExitCode))
		if e.Flags&policy.EventMore == 0 {
			pods = append(pods, fmt.Sprintf(`{"metadata":{"name":"p-%d"},"status":{"phase":"Failed","containerStatuses":[%s]}}`, len(pods), strings.Join(statuses, ",")))
			statuses = nil
		}
	}
	return `"pods":[` + strings.Join(pods, ",") + `]`
}

// header is that of a batch.
func header(question policy.Question, size, count int) []byte {
	b := []byte("PFB1\x01\x00")
	b = append(b, byte(size), byte(size>>8))
	b = append(b, little(uint64(count), 4)...)
	b = append(b, little(uint64(question), 4)...)
	return append(b, make([]byte, 8)...)
}

func little(n uint64, bytes int) []byte {
	b := make([]byte, bytes)
	for i := range b {
		b[i] = byte(n >> (8 * i))
	}
	return b
}

// pack is the record of an event, padded to size.
func pack(e policy.Event, size int) []byte {
	b := little(uint64(uint32(e.ExitCode)), 4)
	b = append(b, little(uint64(e.Container), 2)...)
	b = append(b, little(uint64(e.Flags), 2)...)
	b = append(b, little(uint64(e.History), 4)...)
	b = append(b, little(uint64(e.Tag), 4)...)
	b = append(b, little(uint64(e.RanFor), 8)...)
	b = append(b, little(e.Conditions, 8)...)
	for len(b) < size {
		b = append(b, 0xA5)
	}
	return b
}

func (g *generator) batch(class string, handle int, question policy.Question, events []policy.Event) {
	b := header(question, packed.EventBytes, len(events))
	for _, e := range events {
		b = append(b, pack(e, packed.EventBytes)...)
	}
	g.add(class, Vector{Do: "pf_eval_batch", X: []any{handle}, B: b, Out: packed.AnswerBytes(len(events))})
}
