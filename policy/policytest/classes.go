package policytest

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/packed"
)

const onePod = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"restartPolicy":"Never","containers":[{"name":"main","image":"x","restartPolicy":"Never",` +
	`"restartPolicyRules":[{"action":"Restart","exitCodes":{"operator":"In","values":[42]}}]}]}}`

// malformed are requests of every kind with one thing wrong in their bytes: cut short, a byte
// changed, added or removed.
func (g *generator) malformed() {
	requests := []Vector{
		call(1, `{"module":{"sha256":"`+strings.Repeat("0a", 32)+`","bytes":5}}`),
		call(2, `{"cluster":{"version":"1.36"},"fieldValidation":"Warn","manifest":`+onePod+`}`),
		call(3, `{"manifest":`+onePod+`,"exits":[{"container":"main","exitCode":-42,"reason":"Err\u00e9\né"}]}`),
		call(4, `{"manifest":`+onePod+`,"runs":{"main":[{"for":"10s","exitCode":42,"times":3}]},"events":[{"at":"30s","type":"Evicted"}],"until":"1m"}`),
		call(5, `{"run":{"for":"5s"},"backoff":{"initial":"1s","factor":3,"max":"60s"},"windows":["1h"],"until":"5m"}`),
		{Do: "pf_compile", S: `{"cluster":{"featureGates":{"ContainerRestartRules":true}},"manifest":` + onePod + `}`},
		{Do: "pf_eval", X: []any{1 << 12}, S: `{"container":"main","exitCode":42,"reason":"OOMKilled","restarts":3,"ranForMillis":1e3}`},
		{Do: "pf_eval", X: []any{1 << 12}, S: `{"container": "main", "exitCode":-42,"reason":"OOMKilled","restarts":30,"ranForMillis":1000}`},
	}
	wrong := []byte("\x00\x01\t\n \"\\/{}[],:0-19.eEtfnaz\x7f\x80\xc0\xc3\xe2\xed\xf0\xff")
	for kind, v := range requests {
		text := []byte(v.S)
		class := fmt.Sprintf("malformed/%s/%d", v.Do, kind)
		try := func(b []byte) {
			if g.count%300 == 0 {
				g.fresh(class)
				g.compile(class, `{"manifest":`+onePod+`}`)
			}
			g.add(class, Vector{Do: v.Do, X: v.X, RB: []any{base64.StdEncoding.EncodeToString(b), 1}})
		}
		for n := range g.some(len(text) + 1) {
			try(text[:n])
		}
		for range g.some(4000) {
			at := g.rand.IntN(len(text))
			bad := wrong[g.rand.IntN(len(wrong))]
			switch g.rand.IntN(5) {
			case 0:
				try(slices.Insert(slices.Clone(text), at, bad))
			case 1:
				try(slices.Delete(slices.Clone(text), at, at+1))
			case 2: // a part of the text twice
				end := min(len(text), at+1+g.rand.IntN(40))
				try(slices.Concat(text[:end], text[at:]))
			default:
				b := slices.Clone(text)
				b[at] = bad
				try(b)
			}
		}
	}
	g.fresh("utf8")
	g.compile("utf8", `{"manifest":`+onePod+`}`)
	for _, bad := range []string{"\x80", "\xc0\x80", "\xc1\xbf", "\xc3", "\xe0\x80\x80", "\xe2\x82", "\xed\xa0\x80", "\xed\xbf\xbf", "\xef\xbf\xbe", "\xf0\x80\x80\x80",
		"\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "\xfe\xff", "\xef\xbb\xbf"} {
		for _, text := range []string{bad + `{}`, `{}` + bad, `{"` + bad + `":1}`, `{"exitCode":1,"reason":"` + bad + `"}`, `{"cluster":{"version":"` + bad + `"}}`} {
			g.add("utf8", Vector{Do: "pf_call", X: []any{3}, B: []byte(text)})
			g.add("utf8", Vector{Do: "pf_eval", X: []any{1 << 12}, B: []byte(text)})
		}
	}
	for _, escape := range []string{`\ud800`, `\udc00`, `\ud83d\ude00`, `\ude00\ud83d`, `\u0000`, `\u2028`, `\uFFFF`, `\u00`, `\x41`, `\U00000041`, `\/`, `\"`, `\\`} {
		g.add("escape", call(3, `{"manifest":`+onePod+`,"exits":[{"exitCode":1,"reason":"`+escape+`"}]}`))
		g.add("escape", call(3, `{"manifest":`+onePod+`,"exits":[{"container":"`+escape+`","exitCode":1}]}`))
		g.add("escape", Vector{Do: "pf_eval", X: []any{1 << 12}, S: `{"container":"main","exitCode":1,"reason":"` + escape + `"}`})
	}
	for _, number := range []string{"1", "-1", "0", "-0", "00", "01", "+1", "1.0", "1.5", "1e2", "1E+2", "1e-2", "1e400", "1e401", "-1e400", ".5", "5.", "1e", "0x1", "NaN", "Infinity", "-",
		"2147483647", "2147483648", "-2147483648", "-2147483649", "9223372036854775807", "9223372036854775808", "99999999999999999999999999999999",
		strings.Repeat("1", 64), strings.Repeat("1", 65), "0." + strings.Repeat("0", 62), "0." + strings.Repeat("0", 63), `"1"`, "true", "null", "[1]", "{}"} {
		g.add("number", call(3, `{"manifest":`+onePod+`,"exits":[{"exitCode":`+number+`}]}`))
		g.add("number", call(2, `{"manifest":`+strings.Replace(onePod, "42", number, 1)+`}`))
		g.add("number", call(5, `{"run":{"for":`+number+`}}`))
		for _, before := range []string{`{"exitCode":`, `{"exitCode":1,"restarts":`, `{"exitCode":1,"restarts":1,"ranForMillis":`} {
			g.add("number", Vector{Do: "pf_eval", X: []any{1 << 12}, S: before + number + `,"container":"main"}`})
		}
	}
}

// parts is a request that is described by texts and counts in turn.
func parts(do string, x []any, r ...any) Vector { return Vector{Do: do, X: x, R: r} }

// limits are requests exactly at each limit of the operations, and just past it.
func (g *generator) limits() {
	g.fresh("limit")
	decide, validate, curve := []any{3}, []any{2}, []any{5}
	head := `{"manifest":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[`
	main := `{"name":"main","image":"x"}`
	ask := `,"exits":[{"container":"main","exitCode":1}]}`
	around := func(name string, most int, make func(n int) Vector) {
		least := most - 1
		if g.small && most > 1024 && name != "requestBytes" { // what is within the limit takes an interpreter ten seconds
			least = most + 1
		}
		for n := least; n <= most+1; n++ {
			g.add("limit/"+name, make(n))
		}
	}
	fill := func(total int, before, behind string) Vector {
		return parts("pf_call", decide, before, 1, " ", total-len(before)-len(behind), behind, 1)
	}
	around("requestBytes", policy.MaxRequestBytes, func(n int) Vector { return fill(n, head+main+`]}}`, ask) })
	manifest := head + main + `]}`
	around("manifestBytes", policy.MaxManifestBytes, func(n int) Vector {
		return parts("pf_call", decide, manifest, 1, " ", n-(len(manifest)-len(`{"manifest":`))-1, `}`+ask, 1)
	})
	around("depth", policy.MaxDepth, func(n int) Vector { return parts("pf_call", decide, `[`, n, `]`, n) })
	around("depth", policy.MaxDepth, func(n int) Vector {
		return parts("pf_call", decide, `{"a":`, n-1, `{}`, 1, `}`, n-1)
	})
	around("members", policy.MaxMembers, func(n int) Vector {
		return parts("pf_call", validate, strings.Replace(head, `"name":"p"`, `"name":"p","labels":{"a":"b"`, 1)[:len(head)-len(`"spec":{"containers":[`)+len(`,"labels":{"a":"b"`)-2], 1, `,"a":"b"`, n-1, `}},"spec":{"containers":[`+main+`]}}}`, 1)
	})
	around("containers", policy.MaxContainers, func(n int) Vector {
		return parts("pf_call", decide, head, 1, `{"name":"a","image":"x"},`, n-1, main+`]}}`+ask, 1)
	})
	rules := head + `{"name":"main","image":"x","restartPolicy":"Never","restartPolicyRules":[`
	rule := `{"action":"Restart","exitCodes":{"operator":"In","values":[1]}}`
	for _, most := range []int{20, policy.MaxRules} {
		around("rules", most, func(n int) Vector {
			return parts("pf_call", decide, rules, 1, rule+",", n-1, rule+`]}]}}`+ask, 1)
		})
	}
	values := rules + `{"action":"Restart","exitCodes":{"operator":"In","values":[`
	for _, most := range []int{255, policy.MaxValues} {
		around("values", most, func(n int) Vector {
			return parts("pf_call", decide, values, 1, "7,", n-1, `1]}}]}]}}`+ask, 1)
		})
	}
	around("exits", policy.MaxExits, func(n int) Vector {
		return parts("pf_call", decide, head+main+`]}},"exits":[`, 1, `{"exitCode":1},`, n-1, `{"exitCode":0}]}`, 1)
	})
	around("windows", policy.MaxCurveWindows, func(n int) Vector {
		return parts("pf_call", curve, `{"windows":[`, 1, `"1h",`, n-1, `"2h"]}`, 1)
	})
	around("faults", policy.MaxFaults, func(n int) Vector {
		return parts("pf_call", validate, head+`{"name":"main","image":"x"`, 1, `,"nobody":1`, n, `}]}}}`, 1)
	})
	around("quoted", policy.MaxQuotedBytes, func(n int) Vector {
		return parts("pf_call", decide, head+main+`]}},"exits":[{"exitCode":1,"container":"`, 1, "n", n, `"}]}`, 1)
	})
	around("quoted", policy.MaxQuotedBytes/2, func(n int) Vector {
		return parts("pf_call", decide, head+main+`]}},"exits":[{"exitCode":1,"container":"`, 1, "é", n, `x"}]}`, 1)
	})
	// One decision of 20 rules is 3 KB, so that 4 MiB of answers lie near 1400 exits; the limit is
	// in bytes, not in exits.
	full := rules + strings.Repeat(rule+",", 19) + rule + `]}]}}`
	for _, n := range []int{1000, 1300, 1350, 1400, 1450, 1500, 2000, 9999} {
		if g.small && n != 2000 {
			continue
		}
		g.add("limit/outputBytes", parts("pf_call", decide, full+`,"exits":[`, 1, `{"exitCode":9},`, n, `{"exitCode":0}]}`, 1))
	}
	// 20 rules of 255 values are 5120 steps for each exit, and 10 million steps 1953 exits.
	steep := rules + strings.Repeat(strings.Replace(rule, "[1]", "[VALUES]", 1)+",", 19) + strings.Replace(rule, "[1]", "[VALUES]", 1) + `]}]}}`
	var codes []string
	for i := range 255 {
		codes = append(codes, fmt.Sprint(i))
	}
	steep = strings.ReplaceAll(steep, "VALUES", strings.Join(codes, ","))
	around("steps", policy.MaxSteps/(20*256), func(n int) Vector {
		return parts("pf_call", decide, steep+`,"exits":[`, 1, `{"exitCode":256},`, n-1, `{"exitCode":256}]}`, 1)
	})
	around("events", 10_000, func(n int) Vector {
		return parts("pf_call", []any{4}, head+main+`]}},"until":"1s","events":[`, 1, `{"at":"0s","type":"KubeletRestarted"},`, n-1, `{"at":"0s","type":"KubeletRestarted"}]}`, 1)
	})
	around("runs", 10_000, func(n int) Vector {
		return parts("pf_call", []any{4}, head+main+`]}},"until":"1s","runs":{"main":[`, 1, `{"for":"1s","exitCode":1},`, n-1, `{"for":"1s","exitCode":0}]}}`, 1)
	})
	job := `{"manifest":{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j"},"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[` + main + `]}},"podFailurePolicy":{"rules":[`
	for n := 62; n <= 66; n++ {
		var patterns []string
		var all []string
		for i := range n {
			patterns = append(patterns, fmt.Sprintf(`{"type":"Condition%d","status":"True"}`, i))
			if len(patterns) == 20 || i == n-1 {
				all, patterns = append(all, `{"action":"Ignore","onPodConditions":[`+strings.Join(patterns, ",")+`]}`), nil
			}
		}
		g.add("limit/conditions", Vector{Do: "pf_compile", S: job + strings.Join(all, ",") + `]}}}}`})
	}
}

// bombs are short descriptions of requests that would be large, deep or slow.
func (g *generator) bombs() {
	big, less := policy.MaxRequestBytes, 1
	if g.small { // an interpreter takes seconds for each of the large ones
		big, less = big/8, 8
	}
	g.fresh("bomb")
	g.compile("bomb", `{"manifest":`+onePod+`}`)
	for i, v := range []Vector{
		parts("", nil, `[`, 100_000/less),
		parts("", nil, `[`, big),
		parts("", nil, `{"a":`, 200_000/less),
		parts("", nil, `{"manifest":`, 1, `[`, 500_000/less),
		parts("", nil, `[[],`, 250_000/less),
		parts("", nil, `"`, 1, `\`, big-1),
		parts("", nil, `"`, 1, `\u0000`, big/6-1, `"`, 1),
		parts("", nil, `"`, 1, `a`, big-2, `"`, 1),
		parts("", nil, `1`, big),
		parts("", nil, `{"exitCode":1`, 1, `0`, 1_000_000/less, `}`, 1),
		parts("", nil, `{"exitCode":1e`, 1, `9`, 1_000_000/less, `}`, 1),
		parts("", nil, ` `, big),
		parts("", nil, "\n", big-2, `{}`, 1),
		parts("", nil, `[`, 1, `1,`, big/2-2, `1]`, 1),
		parts("", nil, `[`, 1, `{},`, big/3-2, `1]`, 1),
		parts("", nil, `[`, 1, `[1,2,3],`, 120_000/less, `1]`, 1),
		parts("", nil, `{"a":1`, 1, `,"a":1`, 150_000/less, `}`, 1),
		parts("", nil, `{"exits":[`, 1, `{"exitCode":1,"exitCode":2},`, 9999, `{}]}`, 1),
		parts("", nil, `{"manifest":{"kind":"Pod","apiVersion":"v1","metadata":{"labels":`, 1, `{"a":`, 55, `1`, 1, `}`, 55, `}}}`, 1),
		parts("", nil, `{"manifest":{"kind":"Pod","apiVersion":"v1","spec":{"containers":[`, 1, `{"x":1},`, 30_000/less, `{}]}}}`, 1),
		parts("", nil, `{"manifest":{"kind":"Pod","apiVersion":"v1","spec":{"containers":[`, 1, `null,`, 50_000/less, `{}]}}}`, 1),
		parts("", nil, `{"manifest":{"kind":"Pod","apiVersion":"v1","spec":{"volumes":[`, 1, `{"name":"a","projected":{"sources":[{"secret":{"items":[{"key":"k"}]}}]}},`, 3000/less, `{"name":"b"}]}}}`, 1),
		parts("", nil, "é", big/2),
		parts("", nil, `{"cluster":{"featureGates":{`, 1, `"Gate":true,`, 80_000/less, `"Last":true}}}`, 1),
	} {
		for k, on := range []Vector{
			{Do: "pf_call", X: []any{3}}, {Do: "pf_call", X: []any{2}}, {Do: "pf_compile"}, {Do: "pf_eval", X: []any{1 << 12}},
		} {
			if v.Do, v.X = on.Do, on.X; !g.small || k == i%4 {
				g.add("bomb", v)
			}
		}
	}
	for op := 4; op <= 5; op++ {
		g.add("bomb", parts("pf_call", []any{op}, `[`, 100_000))
	}
	// Templates that are not templates, besides much else: what is around them is read once.
	crowd := parts("pf_call", []any{3}, `{"manifest":{"apiVersion":"argoproj.io/v1alpha1","kind":"Workflow","metadata":{"name":"w"},"spec":{`, 1)
	for i := range 980 {
		crowd.R = append(crowd.R, fmt.Sprintf(`"m%d":1,`, i), 1)
	}
	crowd.R = append(crowd.R, `"templates":[`, 1, `{},`, 80_000/less, `{}]}}}`, 1)
	g.add("bomb", crowd)
	for _, until := range []string{"1h", "24h", "8766h", "8766000h", "99999999999h"} {
		for _, length := range []string{"0s", "1ms", "1s", "601s"} {
			g.add("bomb/simulate", call(4, `{"manifest":`+strings.Replace(onePod, "Never", "Always", 1)+`,"runs":{"main":[{"for":"`+length+`","exitCode":42,"times":"forever"}]},"until":"`+until+`"}`))
		}
	}
}

// handles are compiled policies that are stale, released twice, never given, too many, too large.
func (g *generator) handles() {
	const request = `{"manifest":` + onePod + `}`
	const event = `{"exitCode":42}`
	compile := Vector{Do: "pf_compile", S: request}
	eval := func(h int) { g.add("handle", Vector{Do: "pf_eval", X: []any{h}, S: event}) }
	release := func(h int) { g.add("handle", Vector{Do: "pf_release", X: []any{h}}) }
	batch := func(h int) { g.batch("handle", h, policy.AskExits, []policy.Event{{ExitCode: 42}}) }
	g.fresh("handle")
	for _, h := range []int{0, 1, -1, 4095, 4096, 4097, 8192, 1<<31 - 1, -1 << 31} {
		eval(h)
		release(h)
		batch(h)
	}
	g.add("handle", compile)
	g.add("handle", compile)
	for _, h := range []int{4096, 4097} {
		eval(h)
		batch(h)
	}
	release(4096)
	release(4096)
	eval(4096)
	batch(4096)
	g.add("handle", compile) // the place again, another generation
	eval(4096)
	eval(8192)
	release(4096)
	g.add("handle", Vector{Do: "pf_reset"})
	for _, h := range []int{8192, 4097, 12288} {
		eval(h)
		release(h)
	}
	g.add("handle", compile)
	eval(12288)
	again := compile
	again.Times = g.some(4094)
	g.add("handle/many", again)
	if g.small {
		return
	}
	for range 3 {
		g.add("handle/many", compile)
	}
	eval(4096 + 4095)
	release(4096 + 4095)
	g.add("handle/many", compile)
	g.add("handle/many", compile)
	g.fresh("handle/bytes")
	large := parts("pf_compile", nil, `{"manifest":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[`, 1)
	for i := range 1000 {
		comma := ","
		if i == 0 {
			comma = ""
		}
		large.R = append(large.R, fmt.Sprintf(`%s{"name":"c%d","image":"x","restartPolicy":"Never"}`, comma, i), 1)
	}
	large.R = append(large.R, `]}}}`, 1)
	for range 12 {
		g.add("handle/bytes", large)
	}
	release(4096)
	g.add("handle/bytes", large)
	g.add("handle/bytes", parts("pf_call", []any{3}, `[`, 1, `{"a":1},`, 120_000, `1]`, 1)) // the operations still have room
	g.full()
}

// full asks an instance that lends and keeps all it may for answers to requests with more faults
// than there is memory for.
func (g *generator) full() {
	for range policy.MaxBufferBytes>>20 - 2 {
		g.add("full", Vector{Do: "pf_alloc", X: []any{1 << 20}})
	}
	var names []string
	for i := range policy.MaxMembers - 1 {
		names = append(names, fmt.Sprintf(`"%d":1`, i))
	}
	members := `{` + strings.Join(names, ",") + `},`
	many := (policy.MaxRequestBytes - 300) / len(members)
	pod := `{"manifest":` + onePod
	containers := `{"manifest":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[`
	rules := `{"restartPolicyRules":[` + strings.Repeat(`{},`, 60) + `{}]},`
	for _, v := range []Vector{
		parts("pf_call", []any{3}, pod+`,"exits":[`, 1, members, many, `{}]}`, 1),
		parts("pf_call", []any{4}, pod+`,"runs":{"main":[`, 1, members, many, `{}]}}`, 1),
		parts("pf_call", []any{4}, pod+`,"events":[`, 1, members, many, `{}]}`, 1),
		parts("pf_call", []any{3}, pod+`,"exits":[`, 1, `{"a":1`+strings.Repeat(`,"a":1`, 990)+`},`, 170, `1]}`, 1),
		parts("pf_call", []any{3}, pod+`,"exits":[`, 1, `{"container":1,"reason":1,"x":1,"y":1,"z":1},`, policy.MaxExits-1, `1]}`, 1),
		parts("pf_call", []any{2}, containers, 1, rules, 1020, `{}]}}}`, 1),
		parts("pf_compile", nil, containers, 1, rules, 1020, `{}]}}}`, 1),
		parts("pf_call", []any{2}, containers+`{"name":"main","image":"x","resizePolicy":[`, 1, `{},`, 85_000, `{}]}]}}}`, 1),
	} {
		g.add("full", v)
	}
}

// buffers are lent, given back, given back twice, too many, too large, and requests that do not lie
// in one.
func (g *generator) buffers() {
	alloc := func(n int) { g.add("buffer", Vector{Do: "pf_alloc", X: []any{n}}) }
	raw := func(do string, x ...any) { g.add("buffer", Vector{Do: do, X: x}) }
	g.fresh("buffer")
	for _, n := range []int{0, -1, -1 << 31, 1<<31 - 1, policy.MaxBufferBytes + 1, policy.MaxBufferBytes + 8} {
		alloc(n)
	}
	alloc(64)
	g.add("buffer", Vector{Do: "write", X: []any{"0+0"}, S: `{"exitCode":42}`})
	for _, x := range [][]any{
		{"0+0", 2}, {"0+0", 15}, {"0+0", 64}, {"0+0", 65}, {"0+64", 0}, {"0+64", 1}, {"0+65", 0}, {"0+-1", 2}, {"0+-8", 16}, {"0+8", -4}, {"0+0", -1}, {"0+0", 0}, {"0+1", 1},
		{0, 2}, {-1, 2}, {1, 0}, {0, 0}, {1 << 30, 8}, {-8, 8}, {8, -8},
	} {
		raw("pf_call", append([]any{3}, x...)...)
		raw("pf_call", append([]any{99}, x...)...)
		raw("pf_compile", x...)
		raw("pf_eval", append([]any{4096}, x...)...)
	}
	for _, at := range []any{0, -1, 1, "0+1", "0+8", "0+-8", 1<<31 - 1} {
		raw("pf_free", at)
	}
	raw("pf_free", "0+0")
	raw("pf_free", "0+0")
	raw("pf_call", 1, "0+0", 2)
	for n := range 66 {
		alloc(n + 1)
	}
	raw("pf_free", "3+0")
	alloc(1 << 20)
	g.add("buffer", Vector{Do: "pf_reset"})
	raw("pf_free", "2+0")
	alloc(policy.MaxBufferBytes)
	alloc(1)
	g.add("buffer", Vector{Do: "pf_reset"})
	alloc(policy.MaxBufferBytes - 8)
	alloc(9)
	alloc(8)
	alloc(1)

	g.fresh("buffer")
	alloc(64)
	alloc(64)
	g.compile("buffer", `{"manifest":`+onePod+`}`)
	one := append(header(policy.AskExits, packed.EventBytes, 1), pack(policy.Event{ExitCode: 42, Container: policy.NoContainer}, packed.EventBytes)...)
	g.add("buffer", Vector{Do: "write", X: []any{"0+0"}, B: one})
	for _, x := range [][]any{
		{"0+0", 56, "1+0", 40}, {"0+0", 56, "1+8", 40}, {"0+0", 56, "1+24", 40}, {"0+0", 56, "1+32", 40}, {"0+0", 56, "1+0", 64}, {"0+0", 56, "1+0", 39}, {"0+0", 56, "1+0", 0},
		{"0+0", 56, "1+0", 65}, {"0+0", 56, "1+4", 40}, {"0+4", 52, "1+0", 40}, {"0+0", 55, "1+0", 40}, {"0+0", 64, "1+0", 40}, {"0+0", 23, "1+0", 40}, {"0+0", 0, "1+0", 40},
		{"0+0", 56, "0+56", 8}, {"0+0", 56, "0+0", 40}, {"0+0", 56, "0+8", 40}, {"0+0", -1, "1+0", 40}, {0, 56, "1+0", 40}, {"0+0", 56, 0, 40}, {"0+0", 56, -8, 40},
		{"0+0", 56, "1+0", -1}, {"0+8", 48, "1+0", 40}, {"0+0", 65, "1+0", 40},
	} {
		raw("pf_eval_batch", append([]any{4096}, x...)...)
		raw("pf_eval_batch", append([]any{4097}, x...)...)
	}
	raw("pf_free", "1+0")
	raw("pf_eval_batch", 4096, "0+0", 56, "1+0", 40)
	alloc(128)
	g.add("buffer", Vector{Do: "write", X: []any{"2+0"}, B: one})
	raw("pf_eval_batch", 4096, "2+0", 56, "2+56", 40) // in and out in one buffer
	raw("pf_eval_batch", 4096, "2+0", 56, "2+48", 40)
	raw("pf_eval_batch", 4096, "2+40", 56, "2+0", 40) // out in front of in: no header lies there
}

// batches are headers that are wrong or half written, records of other sizes, and batches at the
// limit.
func (g *generator) batches() {
	g.fresh("header")
	two := strings.Replace(onePod, `]}]}}`, `]},{"name":"side","image":"x"}]}}`, 1)
	pods := `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j"},"spec":{"podFailurePolicy":{"rules":[{"action":"Ignore","onPodConditions":[{"type":"DisruptionTarget"}]},` +
		`{"action":"FailJob","onExitCodes":{"containerName":"main","operator":"NotIn","values":[1,2]}}]},"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"main","image":"x"}]}}}}`
	var handles []int
	for _, manifest := range []string{onePod, two, pods} {
		handles = append(handles, g.compile("header", `{"manifest":`+manifest+`}`))
	}
	out := packed.AnswerBytes(3)
	events := []policy.Event{{ExitCode: 42}, {ExitCode: 1, Flags: policy.EventHistory, History: 1 << 31, RanFor: 1}, {ExitCode: 137, Container: policy.NoContainer, Tag: 1<<32 - 1}}
	right := header(policy.AskExits, 32, 3)
	for _, e := range events {
		right = append(right, pack(e, 32)...)
	}
	send := func(class string, handle int, b []byte, out int) {
		g.add(class, Vector{Do: "pf_eval_batch", X: []any{handle}, RB: []any{base64.StdEncoding.EncodeToString(b), 1}, Out: out})
	}
	for _, handle := range handles {
		for n := 0; n <= len(right)+1; n++ { // half written: the rest is not there
			send("header/short", handle, append(slices.Clone(right), 0)[:n], out)
		}
		for n := range len(right) { // half written: the rest is still zero
			b := make([]byte, len(right))
			copy(b, right[:n])
			send("header/half", handle, b, out)
		}
		for at := range len(right) {
			for _, bit := range []byte{1, 0x10, 0x80, 0xFF} {
				b := slices.Clone(right)
				b[at] ^= bit
				send("header/flipped", handle, b, out)
			}
		}
		for n := 0; n <= out+8; n += 4 {
			send("header/out", handle, right, n)
		}
		for _, question := range []policy.Question{policy.AskExits, policy.AskPods, 2, 1 << 31} {
			for _, size := range []int{0, 8, 24, 31, 32, 33, 36, 40, 48, 1016, 1024, 1032, 65528} {
				b := header(question, size, 2)
				for _, e := range events[:2] {
					b = append(b, pack(e, size)[:size]...)
				}
				send("header/size", handle, b, out)
			}
			send("header/empty", handle, header(question, 32, 0), packed.AnswerBytes(0))
			for _, e := range []policy.Event{
				{}, {Container: 1}, {Container: 2}, {Container: 0xFFFE}, {Container: policy.NoContainer}, {Flags: 1}, {Flags: 2}, {Flags: 3}, {Flags: 4}, {Flags: 8}, {Flags: 0x8000},
				{Conditions: 1}, {Conditions: 2}, {Conditions: 1 << 63}, {RanFor: 1}, {RanFor: -1}, {RanFor: 1<<63 - 1, Flags: 2}, {RanFor: 600_000, Flags: 2, History: 5}, {RanFor: 600_001, Flags: 2, History: 5},
				{RanFor: 300_000, Flags: 2, History: 1<<32 - 1}, {ExitCode: 3, Flags: 2, History: 1<<32 - 1}, {ExitCode: -1 << 31}, {ExitCode: 1<<31 - 1, Tag: 1 << 31},
			} {
				b := header(question, 32, 1)
				send("record", handle, append(b, pack(e, 32)...), packed.AnswerBytes(1))
			}
		}
	}
	for _, count := range []int{policy.MaxBatchRecords - 1, policy.MaxBatchRecords, policy.MaxBatchRecords + 1} {
		for question := range policy.AskPods + 1 {
			g.add("batch/limit", Vector{
				Do: "pf_eval_batch", X: []any{handles[2]}, Out: packed.AnswerBytes(count),
				RB: []any{base64.StdEncoding.EncodeToString(header(question, 32, count)), 1, base64.StdEncoding.EncodeToString(pack(events[0], 32)), count},
			})
		}
	}
	for _, count := range []uint64{1 << 31, 1<<32 - 1, 1 << 27, 1<<27 + 1} { // counts that overflow when they are multiplied
		b := header(policy.AskExits, 32, int(count))
		send("header/count", handles[0], append(b, make([]byte, 64)...), out)
	}
}

// sequences are many calls on one instance.
func (g *generator) sequences() {
	g.fresh("sequence")
	handle := g.compile("sequence", `{"manifest":`+onePod+`}`)
	eval := Vector{Do: "pf_eval", X: []any{handle}, S: `{"container":"main","exitCode":42}`}
	for _, v := range []Vector{
		eval,
		{Do: "pf_eval", X: []any{handle}, S: `{"container":"nobody","exitCode":"42"}`},
		{Do: "pf_eval", X: []any{handle + 1}, S: `{}`},
		call(1, `{}`),
		call(3, `{"manifest":`+onePod+`,"exits":[{"exitCode":42}]}`),
		call(3, `{"manifest":`+onePod+`,"exits":[{"exitCode":}]}`),
	} {
		v.Times = g.some(4000)
		g.add("sequence", v)
		g.add("sequence", eval)
	}
	for i := range g.some(400) { // policies come and go between calls
		h := g.compile("sequence", g.pod().request())
		g.add("sequence", eval)
		if i%3 > 0 && h != 0 {
			g.add("sequence", Vector{Do: "pf_release", X: []any{h}})
		}
	}
}
