package schema

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/podfate/podfate/policy/manifest"
	"github.com/podfate/podfate/policy/ops"
	"github.com/podfate/podfate/policy/policytest"
	"github.com/podfate/podfate/policy/simulate"
)

var (
	generatedCases = flag.Int("cases", 0, "number of generated requests that schema and core are compared on; 0 means 20,000, 3,000 with -short, and 100,000 in CI")
	generatedSeed  = flag.Uint64("seed", 1, "seed of the generated requests")
)

// generator makes requests that are mostly right and in which anything can be wrong.
type generator struct{ *rand.Rand }

// one returns one of the values; those that are functions are called.
func (g generator) one(values ...any) any {
	v := values[g.IntN(len(values))]
	if f, ok := v.(func() any); ok {
		return f()
	}
	return v
}

// usually returns v, and now and then one of the others or something of a wrong type.
func (g generator) usually(v any, others ...any) any {
	switch n := g.IntN(100); {
	case n < 90:
		return v
	case n < 97 && len(others) > 0:
		return g.one(others...)
	}
	return g.one(nil, "", "x", 0, -1, 1.5, true, []any{}, map[string]any{}, []any{nil}, map[string]any{"x": 1}, json.RawMessage("1e2"), json.RawMessage("42.0"))
}

// object leaves members out now and then, and adds one that nobody knows.
func (g generator) object(members map[string]any) any {
	o := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if v := members[name]; g.IntN(12) > 0 {
			o[name] = v
		}
	}
	if g.IntN(60) == 0 {
		o[g.one("unknown", "when", "Action", "restartpolicy").(string)] = g.usually("x")
	}
	return o
}

func (g generator) list(n int, element func() any) any {
	list := []any{}
	for range n {
		list = append(list, g.usually(element()))
	}
	return list
}

func (g generator) rule() any {
	return g.object(map[string]any{
		"action": g.usually("Restart", "RestartAllContainers", "Pause"),
		"exitCodes": g.usually(g.object(map[string]any{
			"operator": g.usually("In", "NotIn", "Equals"),
			"values":   g.usually(g.list(g.IntN(4), func() any { return g.usually(g.IntN(256), -7, 3000000000, "42") })),
		})),
	})
}

func (g generator) container(i int) any {
	c := map[string]any{"name": g.usually(fmt.Sprint("c", i)), "image": "x"}
	if g.IntN(2) == 0 {
		c["restartPolicy"] = g.usually("Never", "Always", "OnFailure", "Sometimes")
		c["restartPolicyRules"] = g.usually(g.list(g.IntN(3), g.rule))
	}
	return g.object(c)
}

func (g generator) podSpec() any {
	spec := map[string]any{"containers": g.usually(g.list(1+g.IntN(2), func() any { return g.container(0) })), "restartPolicy": g.usually("Never", "Always", "OnFailure", "Sometimes")}
	if g.IntN(3) == 0 {
		spec["initContainers"] = g.usually(g.list(1, func() any { return g.container(1) }))
	}
	return g.usually(g.object(spec))
}

func (g generator) manifest() any {
	k := manifest.Kinds()[g.IntN(len(manifest.Kinds()))]
	if g.IntN(2) == 0 {
		k = manifest.Kinds()[0]
	}
	m := map[string]any{"apiVersion": g.usually(k.APIVersion, "v2"), "kind": g.usually(k.Kind, "Service"), "metadata": g.usually(g.object(map[string]any{"name": g.usually("x")}))}
	template := g.usually(g.object(map[string]any{"metadata": map[string]any{}, "spec": g.podSpec()}))
	switch k.Kind {
	case "Pod":
		m["spec"] = g.podSpec()
	case "PodTemplate":
		m["template"] = template
	case "CronJob":
		m["spec"] = g.usually(g.object(map[string]any{"schedule": "* * * * *", "jobTemplate": g.usually(g.object(map[string]any{"spec": g.usually(g.object(map[string]any{"template": template}))}))}))
	default:
		m["spec"] = g.usually(g.object(map[string]any{"template": template}))
	}
	return g.usually(g.object(m))
}

// soundPod is a manifest without a fault.
var soundPod = json.RawMessage(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x"},"spec":{"initContainers":[{"name":"c1","image":"x"}],` +
	`"containers":[{"name":"c0","image":"x","livenessProbe":{"exec":{"command":["x"]}}}]}}`)

// length is a length of time, mostly.
func (g generator) length() any {
	return g.usually(g.one("0s", "1s", "90s", "250ms", "1h30m", "10m"), "10", "1.5ms", "-1s", "9000000h", nil)
}

// sometimes keeps one of n of the members.
func (g generator) sometimes(n int, members map[string]any) map[string]any {
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if g.IntN(n) > 0 {
			delete(members, name)
		}
	}
	return members
}

func (g generator) run() any {
	run := map[string]any{"for": g.length(), "exitCode": g.usually(g.IntN(256), 3000000000)}
	maps.Copy(run, g.sometimes(3, map[string]any{
		"stop":   g.usually(map[string]any{"for": g.length(), "exitCode": g.usually(143, nil), "preStop": g.length()}),
		"reason": g.usually("OOMKilled", "Error"), "times": g.usually(g.one(1, 3, "forever"), 0, "twice", 2000000000),
	}))
	return g.object(run)
}

func (g generator) event() any {
	types := slices.Concat(simulate.EventTypes(), simulate.OutsideTypes())
	event := map[string]any{"at": "1h", "type": g.usually(types[g.IntN(len(types))], "Explode")}
	maps.Copy(event, g.sometimes(3, map[string]any{
		"container": g.usually("c0", "c1", "c9"), "exitCode": g.usually(g.IntN(256), nil), "reason": g.usually("Error"),
		"gracePeriodSeconds": g.usually(5, -1, "5"), "cluster": g.usually(g.object(map[string]any{"version": g.usually("1.36", "1.32"), "featureGates": map[string]any{}})),
	}))
	return g.object(event)
}

func (g generator) simulation() map[string]any {
	return g.sometimes(2, map[string]any{
		"runs":    g.usually(g.sometimes(1, map[string]any{"c0": g.usually(g.list(g.IntN(3), g.run)), "c1": g.usually(g.list(g.IntN(2), g.run))})),
		"podRuns": g.one(nil, nil, nil, []any{}),
		"events":  g.usually(g.list(g.IntN(3), g.event)),
		"until":   g.length(),
		"from":    g.usually("creation", "status", nil),
		"now":     g.usually("2026-01-31T12:00:00Z", "yesterday", 5),
		"timing": g.usually(g.object(g.sometimes(2, map[string]any{
			"detection": g.length(), "firstRestart": g.usually("documented", "kubelet"), "sync": g.usually("kubelet", "ideal", "real"), "jitter": g.usually("none", "mean", "full"), "jitterMillis": g.usually(g.IntN(40_000)),
		}))),
	})
}

func (g generator) curve() map[string]any {
	return g.sometimes(2, map[string]any{
		"backoff": g.usually(g.object(map[string]any{"initial": g.length(), "max": g.usually("10h", "5m"), "factor": g.usually(g.IntN(5), 2.0, 1001), "reset": g.length()})),
		"run":     g.usually(g.object(map[string]any{"for": g.length()})),
		"until":   g.length(),
		"model":   g.usually("documented", "kubelet", "KEP"),
		"windows": g.usually(g.one([]any{}, []any{"5m", "30m"}, []any{g.length()}, []any{"5m", g.length()})),
		"outage":  g.usually(g.object(map[string]any{"until": g.length()})),
		"sweep":   g.length(),
	})
}

// fleet is a few groups, in pools or without.
func (g generator) fleet() map[string]any {
	if g.IntN(4) > 0 { // one that is wrong in nothing shows what the schema must let through
		return map[string]any{
			"groups": []any{map[string]any{"name": g.one(nil, "x"), "pods": g.IntN(60), "run": map[string]any{"for": g.one(nil, "0s", "5m"), "exitCode": g.IntN(256)}, "restartPolicy": g.one(nil, "Always", "Never")}},
			"nodes":  g.one(nil, 3, 500), "until": g.one(nil, "1h"), "spread": g.one(nil, "10m"), "goal": g.one(nil, map[string]any{"requestsPerSecond": 1 + g.IntN(99)}),
			"gang":    g.one(nil, map[string]any{"failAt": "47m", "start": "45s", "reschedule": "3m", "checkpoint": g.one(nil, "0s", "30m")}),
			"backoff": g.one(nil, map[string]any{"preset": "rapid"}), "windows": g.one(nil, []any{}, []any{"1h"}), "requestsPerRestart": g.one(nil, 1), "bin": g.one(nil, "1m"),
		}
	}
	groups := func() any {
		return g.usually(g.list(1+g.IntN(2), func() any {
			group := map[string]any{"name": "x", "pods": g.usually(g.IntN(60), -1), "checkpoint": g.length(), "restartPolicy": g.usually("Always", "OnFailure", "Sometimes")}
			if g.IntN(6) == 0 {
				group["manifest"], group["runs"] = soundPod, g.usually(g.object(map[string]any{"c0": []any{map[string]any{"for": "1m", "exitCode": 1, "times": "forever"}}}))
				delete(group, "restartPolicy")
			} else {
				group["run"] = g.usually(g.object(map[string]any{"for": g.length(), "exitCode": g.usually(g.IntN(256), 3000000000), "reason": g.usually("OOMKilled")}))
			}
			return g.object(group)
		}))
	}
	r := g.sometimes(2, map[string]any{
		"backoff":            g.usually(g.object(map[string]any{"initial": g.usually("1s", "9h"), "max": g.usually("5m"), "classes": g.object(map[string]any{"success": map[string]any{"initial": "2s"}})})),
		"spread":             g.usually("20s", "9h", g.length()),
		"requestsPerRestart": g.usually(1+g.IntN(9), 0, 1001),
		"bin":                g.usually("10s", "0s"),
		"windows":            g.usually([]any{"5m", "30m"}, []any{}, []any{"5m", "1m"}),
		"until":              g.usually("30m", "0s", "9999h"),
		"model":              g.usually("documented", "kubelet", "KEP"),
		"gang":               g.usually(g.object(map[string]any{"failAt": "47m", "start": "45s", "reschedule": "3m", "checkpoint": g.length(), "restart": g.usually(g.IntN(9))})),
		"goal":               g.usually(g.object(map[string]any{"requestsPerSecond": g.usually(g.IntN(99))})),
	})
	if g.IntN(4) == 0 {
		r["pools"] = g.usually(g.list(1+g.IntN(2), func() any {
			return g.object(map[string]any{"name": g.usually("p"), "nodes": g.usually(g.IntN(9), -1), "groups": groups(), "backoff": g.usually(map[string]any{"preset": "rapid"})})
		}))
		return r
	}
	r["groups"], r["nodes"] = groups(), g.usually(g.IntN(500), 2.0)
	return r
}

func (g generator) request(operation string) []byte {
	gates := g.object(map[string]any{"ContainerRestartRules": g.usually(g.IntN(3) > 0), "RestartAllContainersOnContainerExits": g.usually(g.IntN(3) > 0), "NodeDeclaredFeatures": true})
	cluster := map[string]any{"version": g.usually(fmt.Sprint("1.", 33+g.IntN(5)), "v1.36.3", "1.32", 1.36)}
	if g.IntN(3) == 0 {
		cluster["featureGates"] = g.usually(gates)
	}
	if g.IntN(5) == 0 {
		cluster["kubeletConfiguration"] = g.usually(g.object(map[string]any{
			"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration",
			"crashLoopBackOff": g.usually(g.object(map[string]any{"maxContainerRestartPeriod": g.usually("60s", "1h", "x")})),
		}))
	}
	if g.IntN(4) == 0 {
		cluster["kubelet"] = g.usually(g.object(map[string]any{
			"version": g.usually(fmt.Sprint("1.", 33+g.IntN(5)), "1.32", 1.35), "featureGates": g.usually(map[string]any{}), "kubeletConfiguration": g.usually(map[string]any{}),
		}))
	}
	r := map[string]any{}
	switch operation {
	case "decide", "simulate", "table", "suggest", "translate":
		r["manifest"] = g.one(g.manifest(), soundPod) // a fault in the manifest would hide those around it
	case "validate":
		r["manifest"] = g.manifest()
	}
	if g.IntN(2) == 0 {
		r["cluster"] = g.usually(g.object(cluster))
	}
	if g.IntN(4) == 0 && operation != "curve" && operation != "fleet" {
		r["fieldValidation"] = g.usually(g.one("Strict", "Warn", "Ignore"), "strict")
	}
	if g.IntN(8) == 0 {
		r["apiVersion"], r["kind"] = g.usually("podfate.dev/v1"), g.usually("Scenario")
	}
	switch operation {
	case "validate":
		if g.IntN(4) == 0 {
			r["old"], r["static"] = g.manifest(), g.usually(false, true, nil)
		}
	case "simulate":
		maps.Copy(r, g.simulation())
	case "fleet":
		maps.Copy(r, g.fleet())
	case "curve":
		maps.Copy(r, g.curve())
	case "suggest":
		r["container"] = g.usually("c0", "c1")
		entry := func() any { return g.usually(g.one(g.IntN(256), "1-127", "others"), "disruption", "7-3", 256) }
		if g.IntN(2) == 0 {
			r["wishes"] = g.usually(g.object(g.sometimes(2, map[string]any{"restart": g.usually(g.list(1, entry)), "restartAll": g.list(1, entry), "stop": g.usually(nil), "failJob": g.list(1, entry)})))
		} else {
			delete(r, "container")
			r["flip"] = g.usually(g.object(map[string]any{"container": g.usually("c0"), "exit": entry(), "to": g.usually("restart", "stop", "restartAll", "die")}))
		}
	case "translate":
		maps.Copy(r, g.sometimes(2, map[string]any{"to": g.usually(g.one("kubernetes", "kep-5307-future", "always-pod"), "kep-3329-draft", "kep-1"), "spelling": g.usually(g.one(nil, "when", "onExit"), "flat", "x")}))
	case "table":
		maps.Copy(r, g.sometimes(3, map[string]any{"container": g.usually("c0", "c1"), "restartCount": g.usually(g.IntN(9), -1, int64(1)<<31)}))
	case "decide":
		r["exits"] = g.usually(g.list(1+g.IntN(2), func() any {
			return g.object(map[string]any{"container": g.usually("c0", "c1", "c9"), "exitCode": g.usually(g.IntN(256), 3000000000), "reason": g.usually("OOMKilled", "Error")})
		}))
	}
	text, err := json.Marshal(g.usually(g.object(r)))
	if err != nil {
		panic(err)
	}
	return text
}

// A request schema is never stricter than the core, and the schema of manifests accepts what the
// core decides about under strict validation. The other way round the schemas are open on purpose;
// the reasons are counted.
func TestSchemaIsNeverStricterThanTheCore(t *testing.T) {
	if *generatedCases == 0 {
		*generatedCases = 20_000
		if testing.Short() {
			*generatedCases = 3_000
		} else if policytest.RequireAll() {
			*generatedCases = 100_000
		}
	}
	t.Logf("seed %d, %d cases", *generatedSeed, *generatedCases)
	g := generator{rand.New(rand.NewPCG(*generatedSeed, 0))}
	accepted, refused := 0, 0
	answered := map[string]int{}
	open := map[string]int{} // what the schema lets through and the core does not, by code
	for range *generatedCases {
		name := g.one("decide", "decide", "validate", "simulate", "simulate", "simulate", "curve", "table", "suggest", "translate", "fleet").(string)
		op, _ := ops.Lookup(name)
		request := g.request(name)
		answer, failed := ops.Call(op.Number, request)
		err := Validate(name+"-request", request)
		if !failed && name == "validate" && bytes.HasPrefix(answer, []byte(`{"valid":false`)) && err != nil {
			failed = true // a KubeletConfiguration alone: what is wrong with it is the answer
		}
		if !failed && err != nil {
			t.Fatalf("%s accepts what its schema refuses (%v):\n%s", name, err, request)
		}
		if failed && err == nil {
			open[firstCode(t, answer)]++
		}
		if failed {
			refused++
			continue
		}
		accepted++
		answered[name]++
		root, _ := manifest.Parse(request)
		mode := root.Get("fieldValidation")
		if name == "decide" && (!mode.Exists() || mode.Kind() == manifest.Null || mode.Str() == "Strict") {
			if err := Validate("manifest", root.Get("manifest").Raw()); err != nil {
				t.Fatalf("decide accepts a manifest that the schema refuses (%v):\n%s\n%s", err, request, answer)
			}
		}
	}
	t.Logf("%d accepted %v, %d refused; accepted by the schema alone: %v", accepted, answered, refused, open)
	for _, name := range []string{"decide", "validate", "simulate", "curve", "table", "suggest", "translate", "fleet"} {
		if answered[name] < *generatedCases/100 {
			t.Errorf("only %d requests of %s were answered", answered[name], name)
		}
	}
	if accepted < *generatedCases/20 || refused < *generatedCases/20 {
		t.Error("the generator makes requests of one kind only")
	}
	for code := range open {
		if openReasons[code] == "" {
			t.Errorf("the schema accepts what the core refuses with %s; fix it or say why", code)
		}
	}
}

// exit is an event for a compiled policy.
func (g generator) exit() []byte {
	exit := map[string]any{"exitCode": g.usually(g.IntN(256), 3000000000, json.RawMessage("4.2e1"))}
	maps.Copy(exit, g.sometimes(2, map[string]any{
		"container": g.usually("c0", "c1", "c9"), "reason": g.usually("OOMKilled", "Error"),
		"restarts": g.usually(g.IntN(9), int64(4294967295), int64(4294967296)), "ranForMillis": g.usually(g.IntN(1e6), int64(1)<<53, int64(1)<<53+1),
	}))
	text, err := json.Marshal(g.usually(g.object(exit)))
	if err != nil {
		panic(err)
	}
	return text
}

// The same for what pf_compile and pf_eval take, and their answers fit their schemas with no member
// left undescribed.
func TestSchemasOfPoliciesAreThoseOfTheCore(t *testing.T) {
	g := generator{rand.New(rand.NewPCG(*generatedSeed, 1))}
	closed := closedSchemas(t)
	check := func(name string, request, answer []byte, failed bool) (accepted bool) {
		err := Validate(name+"-request", request)
		if !failed && err != nil {
			t.Fatalf("%s accepts what its schema refuses (%v):\n%s", name, err, request)
		}
		if code := ""; failed && err == nil {
			if code = firstCode(t, answer); openReasons[code] == "" {
				t.Errorf("the schema of %s accepts what the core refuses with %s: %s", name, code, request)
			}
		}
		if failed {
			return false
		}
		if err := validate(closed[name+"-answer"], answer); err != nil {
			t.Fatalf("an answer of %s does not fit its schema (%v):\n%s\n%s", name, err, request, answer)
		}
		return true
	}
	examples := func(name string) (texts [][]byte) {
		list, _ := rawSchemas()[BaseURL+name+Suffix].(map[string]any)["examples"].([]any)
		for _, example := range list {
			text, err := json.Marshal(example)
			if err != nil {
				t.Fatal(err)
			}
			texts = append(texts, text)
		}
		return texts
	}
	for _, request := range examples("compile-request") {
		p, answer := ops.Compile(request, 4096, 1<<20)
		if !check("compile", request, answer, p == nil) {
			t.Fatalf("the example: %s", answer)
		}
		for _, event := range examples("eval-request") {
			if answer, failed := p.Eval(event); !check("eval", event, answer, failed) {
				t.Errorf("the example %s: %s", event, answer)
			}
		}
	}
	compiled, evaluated, refused := 0, 0, 0
	for range 4000 {
		request := g.request(g.one("decide", "validate").(string))
		var members map[string]json.RawMessage
		if json.Unmarshal(request, &members) == nil && g.IntN(20) > 0 {
			delete(members, "exits")
			delete(members, "old")
			delete(members, "static")
			request, _ = json.Marshal(members)
		}
		p, answer := ops.Compile(request, 4096, 1<<20)
		if !check("compile", request, answer, p == nil) {
			refused++
			continue
		}
		compiled++
		for range 8 {
			event := g.exit()
			if answer, failed := p.Eval(event); check("eval", event, answer, failed) {
				evaluated++
			}
		}
	}
	t.Logf("%d policies compiled, %d refused, %d exits answered", compiled, refused, evaluated)
	if compiled < 400 || refused < 400 || evaluated < 1000 {
		t.Error("the generator makes requests of one kind only")
	}
}

// openReasons says why a request schema accepts what the core refuses with a code.
var openReasons = map[string]string{
	"unknown_field":     "fields depend on the version; manifests are described and not judged",
	"wrong_type":        "manifests are described and not judged; 42.0 is an integer in JSON Schema",
	"out_of_range":      "manifests are described and not judged; lengths of time are strings, and one bounds another",
	"bad_format":        "manifests and the kubelet's configuration are described and not judged",
	"required":          "manifests are described and not judged; a container may be left out if there is one",
	"unsupported_value": "manifests are described and not judged",
	"invalid_value":     "manifests are described and not judged",
	"forbidden":         "depends on version and gates",
	"unknown_kind":      "manifests are described and not judged",
	"unknown_container": "names depend on the manifest",
	"unknown_gate":      "gates depend on the version",
	"locked_gate":       "depends on the version",
	"gate_dependency":   "depends on other gates",
	"duplicate_value":   "manifests are described and not judged",
	"too_many":          "manifests are described and not judged",
	"too_long":          "manifests are described and not judged",
}

func firstCode(t *testing.T, payload []byte) string {
	t.Helper()
	root, err := manifest.Parse(payload)
	if err != nil {
		t.Fatalf("%v: %s", err, payload)
	}
	return root.Get("error").Get("faults").First().Get("code").Str()
}
