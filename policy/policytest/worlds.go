package policytest

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"

	"github.com/podfate/podfate/policy"
)

// worlds are requests with proposals, waits and the events that came with them.
func (g *generator) worlds() {
	for i := range g.some(6000) {
		if i%200 == 0 {
			g.fresh("world")
		}
		pod := g.proposed(g.pod())
		switch i % 6 {
		case 0, 1:
			members := []string{`"exits":[` + strings.Join(g.worldExits(pod), ",") + `]`}
			if g.rand.IntN(4) == 0 {
				members = append(members, `"decide":[`+g.callback(pod)+`]`)
			}
			g.add("world", call(3, pod.request(members...)))
		case 2, 3:
			request := g.simulation(pod)
			var members []string
			if g.rand.IntN(2) == 0 {
				members = append(members, `"backoff":`+g.waits(pod))
			}
			if pod.job && g.rand.IntN(3) == 0 {
				members = append(members, `"jobBackoff":{"initial":"`+g.length()+`","max":"1m"}`)
			}
			if !strings.Contains(request, `"events"`) {
				members = append(members, fmt.Sprintf(`"events":[{"at":"%ds","type":%q},{"at":"%ds","type":"KubeletRestarted"}]`,
					g.rand.IntN(400), g.pick("RetryNow", "BackOffReset", "KubeletStopped", "Recreated"), 400+g.rand.IntN(400)))
			}
			g.add("world", call(4, strings.Join(append([]string{request[:len(request)-1]}, members...), ",")+"}"))
		case 4:
			g.add("world", call(7, pod.request()))
		default:
			g.add("world", call(10, pod.request(fmt.Sprintf(`"to":%q`, g.pick("kubernetes", "kubernetes", "kep-5307-future", "kep-3329-draft", "always-pod")))))
		}
	}
}

var (
	condition = regexp.MustCompile(`"exitCodes":(\{[^}]*\})`)
	ofAJob    = regexp.MustCompile(`"podFailurePolicy":\{"rules":\[.*?\]\},"template"`)
)

// proposed puts words of proposals into p, and proposals into its cluster: mostly those that it
// needs.
func (g *generator) proposed(p pod) pod {
	p.manifest = condition.ReplaceAllStringFunc(p.manifest, func(s string) string {
		on := s[len(`"exitCodes":`):]
		switch g.rand.IntN(9) {
		case 0:
			return `"when":{"exitCodes":` + on + `}`
		case 1:
			return `"onExit":{"exitCodes":` + on + `}`
		case 2:
			return `"onExitCodes":` + on
		case 3:
			return fmt.Sprintf(`"when":{"restartTimes":%d}`, g.rand.IntN(6))
		case 4:
			return `"oomKilled":true`
		}
		return s
	})
	if g.rand.IntN(2) == 0 {
		p.manifest = strings.ReplaceAll(p.manifest, `"action":"Pause"`, `"action":"`+g.pick("Complete", "Terminate", "TerminatePod", "RestartPod")+`"`)
		p.manifest = strings.Replace(p.manifest, `"action":"Restart"`, `"action":"`+g.pick("Complete", "Terminate", "TerminatePod", "RestartPod")+`"`, 1)
	}
	switch g.rand.IntN(6) {
	case 0:
		p.manifest = strings.Replace(p.manifest, `"spec":{"restartPolicy":"Always"`, `"spec":{"restartPolicy":"`+g.pick("AlwaysPod", "Rapid", "FastOnSuccess")+`"`, 1)
	case 1:
		p.manifest = strings.Replace(p.manifest, `"containers":[`, fmt.Sprintf(`"maxRestartTimes":%d,"containers":[`, g.rand.IntN(5)), 1)
	case 2:
		p.manifest = ofAJob.ReplaceAllString(p.manifest, `"backoffPolicy":{"rules":[`+g.draftRule()+`,`+g.draftRule()+`]},"template"`)
	}
	proposals := []string{}
	for _, x := range policy.ProposalList() {
		if g.rand.IntN(5) == 0 {
			continue
		}
		options := ""
		for _, o := range x.Options {
			if g.rand.IntN(3) == 0 {
				if options != "" {
					options += ","
				}
				options += fmt.Sprintf("%q:%q", o.Name, o.Values[g.rand.IntN(len(o.Values))])
			}
		}
		proposals = append(proposals, fmt.Sprintf("%q:{%s}", x.Name, options))
	}
	text := `"proposals":{` + strings.Join(proposals, ",") + `}`
	if p.cluster == "{}" {
		p.cluster = "{" + text + "}"
	} else {
		p.cluster = p.cluster[:len(p.cluster)-1] + "," + text + "}"
	}
	return p
}

func (g *generator) draftRule() string {
	codes := g.pick("1", "1-12,100-127", "0-255", "42, 3", "10-8", "0")
	return `{"action":"` + g.pick("Terminate", "Ignore") + `",` + g.pick(
		`"containerExitCodeIn":"`+codes+`"`, `"containerExitCodeNotIn":"`+codes+`"`, `"podStatusReasonIn":["Evicted","Preemption"]`,
		`"onContainerExitCode":{"valueIn":"`+codes+`"}`, `"condition":{"onPodStatus":{"reasonNotIn":[""]}}`,
		`"onContainerExitCode":{"valueExpressions":[{"operator":"NotIn","values":["`+codes+`",7]}]}`) + `}`
}

func (g *generator) worldExits(p pod) (list []string) {
	for range 1 + g.rand.IntN(3) {
		list = append(list, fmt.Sprintf(`{"container":%q,"exitCode":%d,"restartCount":%d,"reason":%q}`,
			p.names[g.rand.IntN(len(p.names))], g.rand.IntN(256), g.rand.IntN(8), g.pick("Error", "OOMKilled")))
	}
	return list
}

func (g *generator) callback(p pod) string {
	return fmt.Sprintf(`{"container":%q,"exit":[%d,%d],"do":%q},{"do":%q}`, p.names[0], g.rand.IntN(256), g.rand.IntN(256),
		g.pick("restart", "terminate", "terminatePod", "explode"), g.pick("restart", "complete", "restartPod"))
}

func (g *generator) waits(p pod) string {
	switch g.rand.IntN(4) {
	case 0:
		return `{"preset":"` + g.pick("stock", "reduced", "rapid", "catch-up", "near-zero-10", "quick") + `"}`
	case 1:
		return `{"waits":["1s","` + g.length() + `"],"max":"1m"}`
	case 2:
		return `{"classes":{"success":{"initial":"1s","max":"5s"},"infrastructure":{"initial":"2s"}},"counter":"` + g.pick("perClass", "shared") + `"}`
	}
	return fmt.Sprintf(`{"initial":"1s","factor":%d,"max":"30s","containers":{%q:{"initial":"3s","max":"3s"}}}`, 1+g.rand.IntN(3), p.names[0])
}

// RandomDecide is a request of decide about n exits of a random Pod, Job or Deployment in the words
// of releases, without proposals, and the same with what extra puts into its cluster, a member with
// a comma after it.
func RandomDecide(r *rand.Rand, n int) func(extra string) string {
	g := &generator{rand: r}
	p := g.pod()
	exits := make([]string, n)
	for i := range exits {
		reason := ""
		if r.IntN(8) == 0 {
			reason = `,"reason":"OOMKilled"`
		}
		exits[i] = fmt.Sprintf(`{"container":%q,"exitCode":%d%s}`, p.names[r.IntN(len(p.names))], r.IntN(256), reason)
	}
	list := strings.Join(exits, ",")
	return func(extra string) string {
		inner := p.cluster[1:]
		if inner == "}" {
			extra = strings.TrimSuffix(extra, ",")
		}
		return `{"cluster":{` + extra + inner + `,"manifest":` + p.manifest + `,"exits":[` + list + `]}`
	}
}

// RandomSimulate is the same with a request of simulate.
func RandomSimulate(r *rand.Rand) func(extra string) string {
	g := &generator{rand: r}
	p := g.pod()
	request := g.simulation(p)
	return func(extra string) string {
		if p.cluster == "{}" {
			extra = strings.TrimSuffix(extra, ",")
		}
		return strings.Replace(request, `"cluster":{`, `"cluster":{`+extra, 1)
	}
}
