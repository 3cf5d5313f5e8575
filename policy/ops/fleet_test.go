package ops_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/podfate/podfate/policy/ops"
)

// fleetAnswer is as much of an answer as these tests look at.
type fleetAnswer struct {
	Restarts, Requests int64
	Windows            []struct{ UntilMillis, Restarts, Requests int64 }
	Peak               struct{ AtMillis, Restarts, Requests int64 }
	Steady             struct{ PeriodMillis, Restarts, Requests, RequestsPerSecondThousandths int64 }
	Client             struct {
		Backlog, DrainedAtMillis int64
		Grows                    bool
	}
	PodMillis struct{ Ran, Waiting, Lost int64 }
	Gang      struct{ BreakEvenRestart int64 }
	Least     struct {
		MaxMillis int64
		Met       bool
	}
}

func askFleet(t *testing.T, request string) (a fleetAnswer) {
	t.Helper()
	text, failed := ops.Call(11, []byte(request))
	if failed {
		t.Fatalf("%s\n%s", request, text)
	}
	if err := json.Unmarshal(text, &a); err != nil {
		t.Fatal(err)
	}
	return a
}

// The mixed table: a node with 110 Pods of which a share crashes immediately and the rest succeeds
// after a minute, by the kubelet's rules.
func TestMixedTable(t *testing.T) {
	for _, row := range []struct {
		name, backoff, policy string
		restarts              [3]int64 // in the first five minutes, for none, half and all crashing
		steady                [3]string
	}{
		{"10/300 Always", `{}`, "Always", [3]int64{330, 440, 550}, [3]string{"91.7", "100.8", "110.0"}},
		{"1/60 Always", `{"initial":"1s","max":"60s"}`, "Always", [3]int64{440, 770, 1100}, [3]string{"275.0", "412.5", "550.0"}},
		{"0.25/60 Always", `{"preset":"rapid"}`, "Always", [3]int64{440, 880, 1320}, [3]string{"275.0", "412.5", "550.0"}},
		{"1/1 Always", `{"initial":"1s","max":"1s"}`, "Always", [3]int64{440, 16775, 33110}, [3]string{"541.0", "16770.5", "33000.0"}},
		{"10/300 OnFailure", `{}`, "OnFailure", [3]int64{0, 275, 550}, [3]string{"0.0", "55.0", "110.0"}},
		{"10/300, flat 5 s on success", `{"classes":{"success":{"initial":"5s","max":"5s"}}}`, "Always", [3]int64{440, 495, 550}, [3]string{"507.7", "308.8", "110.0"}},
	} {
		for i, crashing := range []int{0, 55, 110} {
			a := askFleet(t, fmt.Sprintf(`{"backoff":%s,"windows":["5m"],"groups":[
				{"pods":%d,"run":{"for":"0s","exitCode":1},"restartPolicy":%q},{"pods":%d,"run":{"for":"60s","exitCode":0},"restartPolicy":%q}]}`,
				row.backoff, crashing, row.policy, 110-crashing, row.policy))
			if w := a.Windows[0]; w.Restarts != row.restarts[i] || w.Requests != 5*row.restarts[i] {
				t.Errorf("%s, %d crashing: %+v, want %d restarts", row.name, crashing, w, row.restarts[i])
			}
			steady := 0.0
			if a.Steady.Restarts > 0 {
				steady = float64(a.Steady.Restarts) * 300_000 / float64(a.Steady.PeriodMillis)
			}
			if got := fmt.Sprintf("%.1f", steady); got != row.steady[i] {
				t.Errorf("%s, %d crashing: steady %s every five minutes, want %s", row.name, crashing, got, row.steady[i])
			}
		}
	}
}

// Figures of the proposals about 110 Pods that crash immediately: claims C-11 to C-13, C-23, C-24
// and C-29, the client's queue, goals and spreads.
func TestFleetFigures(t *testing.T) {
	const node = `"groups":[{"pods":110,"run":{"for":"0s","exitCode":1}}],"model":"documented"`
	ask := func(more string) fleetAnswer { t.Helper(); return askFleet(t, "{"+node+","+more+"}") }
	is := func(what string, got, want int64) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %d, want %d", what, got, want)
		}
	}
	stock := ask(`"windows":["10s"]`)
	is("C-11, stock", stock.Windows[0].Requests, 550)
	is("C-11, 1/300", ask(`"windows":["10s"],"backoff":{"initial":"1s","max":"300s"}`).Windows[0].Requests, 1650)
	is("C-11, kubelet", askFleet(t, `{"groups":[{"pods":110,"run":{"exitCode":1}}],"windows":["10s"],"requestsPerRestart":1}`).Windows[0].Requests, 220)
	is("C-11, kubelet, 1/300", askFleet(t, `{"groups":[{"pods":110,"run":{"exitCode":1}}],"windows":["10s"],"requestsPerRestart":1,"backoff":{"initial":"1s","max":"300s"}}`).Windows[0].Requests, 440)
	rapid := ask(`"windows":["10s"],"backoff":{"preset":"rapid"}`)
	is("C-12", rapid.Windows[0].Restarts, 550)
	is("C-12, five requests", rapid.Windows[0].Requests, 2750)
	is("C-13", rapid.Steady.Restarts*300_000/rapid.Steady.PeriodMillis-stock.Steady.Restarts*300_000/stock.Steady.PeriodMillis, 440)
	reduced := ask(`"windows":["300s","600s"],"backoff":{"preset":"reduced"}`)
	is("C-23", reduced.Steady.Requests*300_000/reduced.Steady.PeriodMillis-stock.Steady.Requests, 2200)
	is("C-24", reduced.Peak.Requests, 1650)
	second := ask(`"windows":["300s","600s"],"backoff":{"initial":"1s","max":"1s"}`)
	is("C-24, 1/1", second.Peak.Requests, 5500)
	is("C-29", (second.Windows[1].Restarts-second.Windows[0].Restarts-stock.Steady.Restarts)*5, 164_450)
	is("C-29 in a second", second.Steady.RequestsPerSecondThousandths-stock.Steady.RequestsPerSecondThousandths, 548_167)

	for _, c := range []struct{ qps, burst, drained int64 }{{5, 10, 118_000}, {50, 100, 19_000}} {
		a := ask(fmt.Sprintf(`"until":"10s","cluster":{"kubeletConfiguration":{"kubeAPIQPS":%d,"kubeAPIBurst":%d}}`, c.qps, c.burst))
		is("drained", a.Client.DrainedAtMillis, c.drained)
	}
	if !ask(`"backoff":{"initial":"1s","max":"1s"}`).Client.Grows || stock.Client.Grows {
		t.Error("1/1 offers more than the client sends, stock does not")
	}
	for goal, least := range map[int64]int64{50: 11_000, 5: 110_000} {
		is("goal", ask(fmt.Sprintf(`"goal":{"requestsPerSecond":%d}`, goal)).Least.MaxMillis, least)
	}
	if l := ask(`"goal":{"requestsPerSecond":1}`).Least; l.Met || l.MaxMillis != 300_000 {
		t.Errorf("a goal that cannot be met: %+v", l)
	}
	// 30 s is worse than 20 s: then the first restarts of some meet the second ones of others.
	for spread, peak := range map[string]int64{"0s": 110, "20s": 55, "30s": 74, "40s": 56} {
		is("peak with a spread of "+spread, ask(`"spread":"`+spread+`"`).Peak.Restarts, peak)
	}
	is("peak of 1/300", ask(`"backoff":{"initial":"1s","max":"300s"}`).Peak.Restarts, 330)
	is("peak of Rapid", rapid.Peak.Restarts, 550)
	is("break-even", askFleet(t, `{"groups":[{"pods":110,"run":{"exitCode":1}}],"gang":{"failAt":"5s","start":"0s","reschedule":"190s"}}`).Gang.BreakEvenRestart, 7)
}

// A fleet of one Pod is the curve, and a fleet of N is N times one.
func TestFleetIsTheCurve(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 5))
	for range 300 {
		backoff := fmt.Sprintf(`"backoff":{"initial":"%dms","max":"400s","factor":%d}`, 200+r.IntN(20_000), 1+r.IntN(3))
		if r.IntN(3) == 0 {
			backoff = `"backoff":{"preset":"` + []string{"catch-up", "rapid", "near-zero-10"}[r.IntN(3)] + `"}`
		}
		run := fmt.Sprintf(`"run":{"for":"%ds"`, r.IntN(700))
		rest := `"windows":["10s","5m","30m","6h"],"until":"24h","model":"` + []string{"kubelet", "documented"}[r.IntN(2)] + `",` + backoff
		one := askFleet(t, `{"groups":[{"pods":1,`+run+`,"exitCode":1}}],`+rest+`}`)
		text, failed := ops.Call(5, []byte(`{`+run+`},`+rest+`}`))
		var curve fleetAnswer
		if err := json.Unmarshal(text, &curve); failed || err != nil {
			t.Fatalf("%s, %v", text, err)
		}
		if one.Restarts != curve.Restarts || one.Steady.RequestsPerSecondThousandths != curve.Steady.Restarts*5*1_000_000/curve.Steady.PeriodMillis {
			t.Fatalf("%s: one Pod %+v, curve %+v", rest, one, curve)
		}
		for i, w := range curve.Windows {
			if one.Windows[i].Restarts != w.Restarts {
				t.Fatalf("%s: one Pod %+v, curve %+v", rest, one, curve)
			}
		}
		n := 1 + r.Int64N(110)
		nodes := 1 + r.Int64N(5000)
		many := askFleet(t, fmt.Sprintf(`{"nodes":%d,"groups":[{"pods":%d,%s,"exitCode":1}}],%s}`, nodes, n, run, rest))
		all := n * nodes
		if many.Restarts != all*one.Restarts || many.Peak.Restarts != all*one.Peak.Restarts || many.Peak.AtMillis != one.Peak.AtMillis ||
			many.Steady.Restarts != all*one.Steady.Restarts || many.PodMillis.Waiting != all*one.PodMillis.Waiting ||
			many.PodMillis.Ran != all*one.PodMillis.Ran || many.PodMillis.Lost != all*one.PodMillis.Lost {
			t.Fatalf("%s: %d Pods %+v, one %+v", rest, all, many, one)
		}
	}
}

// A Pod that is played for its group is what arithmetic says of the same Pod, and a Pod of several
// containers is what simulate says of it.
func TestFleetOfManifests(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 9))
	for range 150 {
		run := fmt.Sprintf(`"for":"%dms","exitCode":%d`, r.IntN(5)*r.IntN(60_000), r.IntN(2))
		policy := []string{"Always", "OnFailure", "Never"}[r.IntN(3)]
		rest := fmt.Sprintf(`"until":"%ds","windows":["10s","7m","9m","31m"],"spread":"%dms","model":"%s","backoff":{"initial":"%dms","max":"%ds"}`,
			1800+r.IntN(5000), r.IntN(3)*r.IntN(90_000), []string{"kubelet", "documented"}[r.IntN(2)], 300+r.IntN(1000), 2+r.IntN(100))
		pods := 1 + r.IntN(5)
		ran := askFleet(t, fmt.Sprintf(`{"groups":[{"pods":%d,"run":{%s},"restartPolicy":%q}],%s}`, pods, run, policy, rest))
		played := askFleet(t, fmt.Sprintf(`{"groups":[{"pods":%d,"manifest":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"restartPolicy":%q,
			"containers":[{"name":"main","image":"i"}]}},"runs":{"main":[{%s,"times":"forever"}]}}],%s}`, pods, policy, run, rest))
		if policy == "Always" || policy == "OnFailure" && !strings.HasSuffix(run, "0") { // that of the last window is another
			played.Steady, played.Client.Grows, played.Client.DrainedAtMillis = ran.Steady, ran.Client.Grows, ran.Client.DrainedAtMillis
		}
		if a, b := fmt.Sprintf("%+v", ran), fmt.Sprintf("%+v", played); a != b {
			t.Fatalf("%s %s %s\n run     %s\n manifest %s", run, policy, rest, a, b)
		}
	}
	const pod = `"manifest":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"restartPolicy":"Always",
		"initContainers":[{"name":"setup","image":"i"},{"name":"mesh","image":"i","restartPolicy":"Always"}],
		"containers":[{"name":"a","image":"i"},{"name":"b","image":"i","restartPolicy":"OnFailure"}]}},
		"runs":{"setup":[{"for":"5s","exitCode":1},{"for":"7s","exitCode":0}],"mesh":[{"for":"50s","exitCode":2,"times":3}],
		"a":[{"for":"1s","exitCode":1,"times":4},{"for":"2s","exitCode":0,"times":"forever"}],"b":[{"for":"90s","exitCode":3,"times":"forever"}]}`
	for _, until := range []string{"20s", "10m", "1h", "9h"} {
		text, failed := ops.Call(4, []byte(`{`+pod+`,"until":"`+until+`","show":["waste"]}`))
		var one struct {
			Waste      fleetAnswer
			Containers []struct{ Starts int64 }
		}
		if err := json.Unmarshal(text, &one); failed || err != nil {
			t.Fatalf("%s, %v", text, err)
		}
		restarts := int64(0)
		for _, c := range one.Containers {
			restarts += max(c.Starts-1, 0)
		}
		many := askFleet(t, `{"nodes":11,"groups":[{"pods":10,`+pod+`}],"windows":[],"until":"`+until+`"}`)
		m, want := many.PodMillis, one.Waste.PodMillis
		if many.Restarts != 110*restarts || m.Ran != 110*want.Ran || m.Waiting != 110*want.Waiting || m.Lost != 110*want.Lost {
			t.Errorf("until %s: %+v, one %+v with %d restarts", until, many, want, restarts)
		}
	}
}

// The bars: a million Pods cost what one costs, and memory does not grow with Pods.
func BenchmarkFleet(b *testing.B) {
	const run = `"run":{"for":"10s","exitCode":1}`
	var pools []string
	for i := range 100 {
		pools = append(pools, fmt.Sprintf(`{"nodes":50,"groups":[{"pods":60,"run":{"for":"%ds","exitCode":1}},{"pods":50,"run":{"for":"60s","exitCode":0}}]}`, i))
	}
	for _, c := range []struct{ name, request string }{
		{"one Pod", `{"groups":[{"pods":1,` + run + `}],"until":"24h"}`},
		{"110 Pods", `{"groups":[{"pods":110,` + run + `}],"until":"24h"}`},
		{"a million Pods", `{"nodes":10000,"groups":[{"pods":100,` + run + `}],"until":"24h"}`},
		{"a million Pods over 20s", `{"nodes":10000,"groups":[{"pods":100,` + run + `}],"until":"24h","spread":"20s"}`},
		{"a million Pods over 10m", `{"nodes":10000,"groups":[{"pods":100,` + run + `}],"until":"24h","spread":"10m"}`},
		{"an odd million over 10m", `{"nodes":1000003,"groups":[{"pods":1,` + run + `}],"until":"24h","spread":"10m"}`},
		{"a million Pods over 6h", `{"nodes":10000,"groups":[{"pods":100,` + run + `}],"until":"24h","spread":"6h"}`},
		{"an odd million over 6h", `{"nodes":1000003,"groups":[{"pods":1,` + run + `}],"until":"24h","spread":"6h"}`},
		{"an odd million over 24h", `{"nodes":1000003,"groups":[{"pods":1,` + run + `}],"until":"24h","spread":"24h"}`},
		{"an odd million over 7 days", `{"nodes":1000003,"groups":[{"pods":1,` + run + `}],"until":"168h","spread":"168h"}`},
		{"5000 nodes in 100 pools", `{"pools":[` + strings.Join(pools, ",") + `],"until":"24h"}`},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if text, failed := ops.Call(11, []byte(c.request)); failed {
					b.Fatalf("%s", text)
				}
			}
		})
	}
}

// The bar for Pods that start one after the other, 50 ms: for waits and spreads, the time of the
// slowest of ten numbers of Pods, one on each node, and then of those that fill nodes with 100
// each, whose clients have a queue.
//
//	go test ./policy/ops -run - -bench FleetGrid -benchtime 5x
func BenchmarkFleetGrid(b *testing.B) {
	const preset = `"run":{"for":"%s","exitCode":1},"backoff":{"preset":"%s"}`
	for _, waits := range []struct{ name, rest string }{
		{"stock, run 0s", fmt.Sprintf(preset, "0s", "stock")}, {"stock, run 10s", fmt.Sprintf(preset, "10s", "stock")},
		{"stock, run 700s", fmt.Sprintf(preset, "700s", "stock")}, {"reduced, run 0s", fmt.Sprintf(preset, "0s", "reduced")},
		{"rapid, run 7s", fmt.Sprintf(preset, "7s", "rapid")}, {"catch-up, run 61s", fmt.Sprintf(preset, "61s", "catch-up")},
		{"near-zero-30, run 3s", fmt.Sprintf(preset, "3s", "near-zero-30")}, {"near-zero-10, run 0s", fmt.Sprintf(preset, "0s", "near-zero-10")},
		{"near-zero-10, run 7s", fmt.Sprintf(preset, "7s", "near-zero-10")}, {"always 1s, run 0s", `"run":{"exitCode":1},"backoff":{"initial":"1s","max":"1s"}`},
	} {
		for _, spread := range []string{"10m", "6h", "24h", "72h", "168h"} {
			until := map[string]string{"10m": "24h", "6h": "24h"}[spread]
			if until == "" {
				until = spread
			}
			grid := func(b *testing.B, perNode int) {
				slowest, at := time.Duration(0), 0
				best := map[int]time.Duration{} // other work on the machine should not count
				for b.Loop() {
					for _, pods := range []int{1, 10, 100, 1000, 1300, 2000, 5000, 10_000, 60_000, 1_000_003} {
						if pods < perNode {
							continue
						}
						since := time.Now()
						text, failed := ops.Call(11, fmt.Appendf(nil, `{"nodes":%d,"groups":[{"pods":%d,%s}],"until":%q,"spread":%q}`, pods/perNode, perNode, waits.rest, until, spread))
						if took, ok := best[pods]; !ok || time.Since(since) < took {
							best[pods] = time.Since(since)
						}
						if failed {
							b.Fatalf("%s", text)
						}
					}
				}
				for pods, took := range best {
					if took > slowest {
						slowest, at = took, pods
					}
				}
				b.ReportMetric(float64(slowest.Microseconds())/1000, "ms")
				b.ReportMetric(float64(at), "Pods")
				b.ReportMetric(0, "ns/op")
			}
			b.Run(waits.name+" over "+spread, func(b *testing.B) { grid(b, 1) })
			b.Run(waits.name+" over "+spread+" on full nodes", func(b *testing.B) { grid(b, 100) })
		}
	}
}

// A million Pods are answered as one is, whether their number divides the spread or not, and with
// as much memory.
func TestFleetOfAMillion(t *testing.T) {
	allocated := func(nodes int, rest string) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		askFleet(t, fmt.Sprintf(`{"nodes":%d,"groups":[{"pods":1,"run":{"for":"7s","exitCode":1}}],%s}`, nodes, rest))
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	for _, rest := range []string{`"until":"24h"`, `"until":"24h","spread":"6h"`, `"until":"24h","spread":"24h"`, `"until":"168h","spread":"168h"`} {
		one := allocated(1, rest)
		for _, nodes := range []int{999_983, 1_000_000, 1_000_003} {
			if many := allocated(nodes, rest); many > 2*one+1<<20 {
				t.Errorf("%s: %d Pods take %d bytes, one %d", rest, nodes, many, one)
			}
		}
	}
}

// Of full nodes the queue is known too, however often their Pods are restarted in a week.
func TestFleetOfFullNodes(t *testing.T) {
	for _, waits := range []string{`"run":{"for":"7s","exitCode":1},"backoff":{"preset":"near-zero-10"}`, `"run":{"exitCode":1},"backoff":{"initial":"1s","max":"1s"}`} {
		for _, nodes := range []int{1, 20, 600} {
			askFleet(t, fmt.Sprintf(`{"nodes":%d,"groups":[{"pods":100,%s}],"until":"168h","spread":"168h"}`, nodes, waits))
		}
	}
}

// What waits for the client of a kubelet is the same however many nodes there are.
func TestClientIsOfOneNode(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 15))
	grow, drain := 0, 0
	for range 300 {
		rest := fmt.Sprintf(`"cluster":{"kubeletConfiguration":{"kubeAPIQPS":%d,"kubeAPIBurst":%d}},"backoff":{"initial":"1s","max":"%ds"},
			"groups":[{"pods":%d,"run":{"for":"%ds","exitCode":1}},{"pods":%d,"run":{"for":"7s","exitCode":0}}],"until":"20m"}`,
			1+r.IntN(60), 1+r.IntN(100), 1+r.IntN(60), r.IntN(60), r.IntN(9), 1+r.IntN(50))
		one, many := askFleet(t, `{"nodes":1,`+rest), askFleet(t, fmt.Sprintf(`{"nodes":%d,`, 2+r.IntN(5000))+rest)
		if one.Client != many.Client {
			t.Fatalf("%s: %+v on one node, %+v on many", rest, one.Client, many.Client)
		}
		if one.Client.Grows {
			grow++
		} else if one.Client.Backlog > 0 {
			drain++
		}
	}
	if grow < 20 || drain < 20 {
		t.Errorf("%d grow, %d drain", grow, drain)
	}
}

var sideRuns = regexp.MustCompile(`,"side":\[[^]]*\]`)

// Jobs in a fleet are what simulate says of each: for how long their Pods run, wait and run in
// vain, how many they create, and the same without what the spec says about failures; each from its
// own start on.
func TestFleetOfJobs(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 15))
	n := 120
	if testing.Short() {
		n = 25
	}
	type cost struct {
		Pods      int64
		PodMillis struct{ Ran, Waiting, Lost int64 }
	}
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	with, restarted := 0, 0
	for range n {
		policies := pick("", `"backoffLimit":2,`, `"backoffLimit":1,"podFailurePolicy":{"rules":[{"action":"FailJob","onExitCodes":{"operator":"In","values":[3]}},{"action":"Ignore","onExitCodes":{"operator":"In","values":[4]}}]},`,
			`"completionMode":"Indexed","completions":3,"parallelism":2,"backoffLimitPerIndex":1,"maxFailedIndexes":1,`)
		restart, rules := "Never", pick("", `,"restartPolicy":"Never","restartPolicyRules":[{"action":"Restart","exitCodes":{"operator":"In","values":[2,5]}}]`)
		if policies == "" || policies == `"backoffLimit":2,` {
			restart = pick("Never", "OnFailure")
		}
		init := pick("", `"initContainers":[{"name":"setup","image":"i"},{"name":"mesh","image":"i","restartPolicy":"Always"}],`)
		spec := `"spec":{` + policies + `"template":{"spec":{"restartPolicy":"` + restart + `",` + init + `"containers":[{"name":"main","image":"i"` + rules + `},{"name":"side","image":"i"}]}}}`
		job := `"manifest":{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j"},` + spec + `}`
		if r.IntN(4) == 0 {
			job = `"manifest":{"apiVersion":"batch/v1","kind":"CronJob","metadata":{"name":"j"},"spec":{"schedule":"@daily","jobTemplate":{` + spec + `}}}`
		}
		var tape []string
		for range 1 + r.IntN(3) {
			tape = append(tape, fmt.Sprintf(`{"for":"%dms","exitCode":%d,"times":%d}`, 1+r.IntN(90_000), []int{0, 1, 2, 3, 4, 5}[r.IntN(6)], 1+r.IntN(3)))
		}
		rest := job + `,"runs":{"main":[` + strings.Join(tape, ",") + fmt.Sprintf(`],"side":[{"for":"%ds","exitCode":0}]`, r.IntN(100))
		if init != "" {
			rest += fmt.Sprintf(`,"setup":[{"for":"%ds","exitCode":%d},{"for":"1s","exitCode":0}]`, r.IntN(20), r.IntN(2))
		}
		rest += `}`
		jobs := 1 + r.Int64N(4)
		until, spread, windows := 1+r.Int64N(1500_000), int64(0), ``
		if r.IntN(2) == 0 { // which of two containers runs longest depends on when one looks
			rest = sideRuns.ReplaceAllString(strings.Replace(rest, `,{"name":"side","image":"i"}`, ``, 1), ``)
			spread, windows = r.Int64N(until), `"31m"`
		}
		text, failed := ops.Call(11, []byte(fmt.Sprintf(`{"groups":[{"pods":%d,%s}],"windows":[%s],"until":"%dms","spread":"%dms"}`, jobs, rest, windows, until, spread)))
		var many struct {
			Restarts int64
			Groups   []struct {
				Waste struct {
					cost
					Without *struct {
						cost
						LeftOut        []string
						SavedPodMillis int64
					}
				}
			}
		}
		if err := json.Unmarshal(text, &many); failed || err != nil {
			t.Fatalf("%s\n%s, %v", rest, text, err)
		}
		var sum, without cost
		var saved, restarts int64
		var leftOut []string
		for i := range jobs {
			text, failed := ops.Call(4, []byte(fmt.Sprintf(`{%s,"until":"%dms","show":["waste"]}`, rest, until-spread*i/jobs)))
			var one struct {
				Timeline []struct {
					Event              string
					RestartCount, Pods int64
				}
				Waste struct {
					cost
					Without *struct {
						cost
						LeftOut        []string
						SavedPodMillis int64
					}
				}
			}
			if err := json.Unmarshal(text, &one); failed || err != nil {
				t.Fatalf("%s\n%s, %v", rest, text, err)
			}
			add := func(to, c *cost) {
				to.Pods += c.Pods
				to.PodMillis.Ran += c.PodMillis.Ran
				to.PodMillis.Waiting += c.PodMillis.Waiting
				to.PodMillis.Lost += c.PodMillis.Lost
			}
			if add(&sum, &one.Waste.cost); one.Waste.Without != nil {
				add(&without, &one.Waste.Without.cost)
				saved += one.Waste.Without.SavedPodMillis
				leftOut = one.Waste.Without.LeftOut
			}
			for _, e := range one.Timeline {
				if e.Event == "Started" && e.RestartCount > 0 {
					restarts += max(e.Pods, 1)
				}
			}
		}
		g := many.Groups[0].Waste
		if g.cost != sum || many.Restarts != restarts {
			t.Fatalf("%s\nuntil %d spread %d: %d restarts %+v, one by one %d %+v", rest, until, spread, many.Restarts, g.cost, restarts, sum)
		}
		restarted += int(min(restarts, 1))
		if (g.Without != nil) != (leftOut != nil) {
			t.Fatalf("%s\n%+v: %v", rest, g.Without, leftOut)
		}
		if g.Without != nil {
			with++
			if g.Without.cost != without || g.Without.SavedPodMillis != saved || fmt.Sprint(g.Without.LeftOut) != fmt.Sprint(leftOut) {
				t.Fatalf("%s\nuntil %d spread %d: without %+v, one by one %+v %d", rest, until, spread, g.Without, without, saved)
			}
		}
	}
	if t.Logf("%d with and without a policy, %d with restarts in place", with, restarted); with < n/4 || restarted < 3 {
		t.Error("too few of a kind")
	}
}

// A goal that cannot be met has the maximum with the fewest requests: of all of them, 300s.
func TestNearestOfAGoal(t *testing.T) {
	text, failed := ops.Call(11, []byte(`{"nodes":3,"groups":[{"pods":20,"run":{"for":"0s","exitCode":1}},{"pods":21,"run":{"for":"300s","exitCode":1}}],"goal":{"requestsPerSecond":1}}`))
	var answer struct {
		Least struct {
			Met                          bool
			MaxMillis                    int64
			RequestsPerSecondThousandths int64
		}
	}
	if err := json.Unmarshal(text, &answer); failed || err != nil {
		t.Fatalf("%s, %v", text, err)
	}
	if l := answer.Least; l.Met || l.MaxMillis != 300_000 || l.RequestsPerSecondThousandths != 1525 {
		t.Errorf("%+v, want 300000 with 1525", l)
	}
}

// Few Pods over a long time are as little work as many: what repeats is not sent again and again,
// and restarts that are few are counted one by one. The backlog of a year is that of its first day
// where the client keeps up; where it does not, it grows by the same every five minutes.
func TestFleetOverALongTime(t *testing.T) {
	ask := func(pods int, more string) fleetAnswer {
		t.Helper()
		return askFleet(t, fmt.Sprintf(`{"groups":[{"pods":%d,"run":{"for":"0s","exitCode":1}}],%s}`, pods, more))
	}
	week := ask(10, `"spread":"168h","until":"168h"`)
	if week.Peak.Restarts != 3 || week.Peak.AtMillis != 483_910_000 { // of all 11,132 one by one
		t.Errorf("over a week: peak %+v", week.Peak)
	}
	for _, spread := range []string{"0s", "1s", "1h"} {
		day, year := ask(110, `"spread":"`+spread+`","until":"24h"`), ask(110, `"spread":"`+spread+`","until":"8784h"`)
		if day.Client.Backlog != year.Client.Backlog || year.Client.Grows || day.Peak != year.Peak {
			t.Errorf("spread %s: day %+v %+v, year %+v %+v", spread, day.Client, day.Peak, year.Client, year.Peak)
		}
		const slow = `"cluster":{"kubelet":{"kubeletConfiguration":{"kubeAPIQPS":1,"kubeAPIBurst":1}}}`
		day, year = ask(110, slow+`,"spread":"`+spread+`","until":"24h"`), ask(110, slow+`,"spread":"`+spread+`","until":"8784h"`)
		if more := year.Client.Backlog - day.Client.Backlog; more != (8784-24)*12*(550-300) || !year.Client.Grows {
			t.Errorf("spread %s: %d requests more wait after a year, want %d", spread, more, (8784-24)*12*(550-300))
		}
	}
}
