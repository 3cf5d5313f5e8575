package ops

import (
	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/fleet"
	"github.com/podfate/podfate/policy/manifest"
)

// podLife is what the containers of one Pod of a Job have done.
type podLife struct {
	created, over policy.Millis // over is below 0 while it is there
	succeeded     bool
	lives         []*lifeOf
}

func (p *podLife) life(name string) *lifeOf {
	for _, l := range p.lives {
		if l.name == name {
			return l
		}
	}
	p.lives = append(p.lives, &lifeOf{name: name})
	return p.lives[len(p.lives)-1]
}

// jobOf reads what the Pods of a Job do from the answer of simulate, whose totals it comes to.
func jobOf(answer, man manifest.Value, horizon policy.Millis) *played {
	p := &played{}
	var pods []podLife
	for v := answer.Get("pods").First(); v.Exists(); v = v.Next() {
		pod := podLife{over: -1}
		n, _ := v.Get("createdMillis").Int64()
		pod.created = policy.Millis(n)
		if ended := v.Get("endedMillis"); given(ended) {
			n, _ = ended.Int64()
			pod.over = policy.Millis(n)
		}
		pod.succeeded = v.Get("phase").Text() == string(policy.PodSucceeded)
		pods = append(pods, pod)
	}
	for e := answer.Get("timeline").First(); e.Exists(); e = e.Next() {
		event := e.Get("event").Text()
		p.Ends = p.Ends || event == "JobFailed" || event == "JobCompleted"
		n, numbered := e.Get("number").Int64()
		if !numbered || !e.Get("container").Exists() {
			continue
		}
		more, _ := e.Get("pods").Int64() // that did the same in the same instant, by number
		for last := min(n+max(more, 1), int64(len(pods))); n >= 0 && n < last; n++ {
			p.follow(pods[n].life(e.Get("container").Text()), event, e, man)
		}
	}
	for i := range pods {
		p.addPod(&pods[i], man, horizon)
	}
	return p
}

// follow notes what an entry of the timeline says of a container.
func (p *played) follow(l *lifeOf, event string, e, man manifest.Value) {
	ms, _ := e.Get("atMillis").Int64()
	at := policy.Millis(ms)
	switch event {
	case "Started":
		l.runs, l.failed, l.running = append(l.runs, fleet.Progression{At: at, Count: 1}), append(l.failed, false), true
		if n, _ := e.Get("restartCount").Int64(); n > 0 {
			p.restart(l, man, fleet.Progression{At: at, Count: 1})
		}
	case "Exited":
		l.end(at)
		l.exit, _ = e.Get("exitCode").Int64()
		l.failed[len(l.failed)-1] = l.exit != 0
		l.decision = e.Get("decidedBy")
	}
}

// addPod adds for how long a Pod runs and is there, and what is lost: runs that fail, and all that
// it did if it does not succeed.
func (p *played) addPod(pod *podLife, man manifest.Value, horizon policy.Millis) {
	end := horizon
	if pod.over >= 0 {
		end = pod.over
	}
	p.created = append(p.created, fleet.Progression{At: pod.created, Count: 1})
	p.There = append(p.There, fleet.Progression{At: pod.created, Count: 1, For: end - pod.created})
	var longest *lifeOf
	most := policy.Millis(0)
	for _, l := range pod.lives {
		ran := policy.Millis(0)
		for i := range l.runs {
			if i == len(l.runs)-1 && l.running {
				l.runs[i].For = max(end-l.runs[i].At, 0)
			}
			ran += l.runs[i].For
		}
		if inTemplate(man, "initContainers", l.name) == (manifest.Value{}) && ran > most {
			longest, most = l, ran
		}
	}
	ran, lost := policy.Millis(0), policy.Millis(0)
	for _, l := range pod.lives {
		init := inTemplate(man, "initContainers", l.name)
		if l != longest && (init == (manifest.Value{}) || init.Get("restartPolicy").Text() == "Always") {
			continue
		}
		for i, run := range l.runs {
			p.Ran = append(p.Ran, run)
			if ran += run.For; l.failed[i] {
				lost += run.For
				p.Lost = append(p.Lost, fleet.Progression{At: run.At + run.For, Count: 1, For: run.For})
			}
		}
	}
	if pod.over >= 0 && !pod.succeeded && ran > lost {
		p.Lost = append(p.Lost, fleet.Progression{At: pod.over, Count: 1, For: ran - lost})
	}
}

// inTemplate returns the container called name in a list of a Pod's spec, the zero Value if there
// is none.
func inTemplate(man manifest.Value, list, name string) manifest.Value {
	for _, spec := range podSpecs {
		for v := man.At(spec + "." + list).First(); v.Exists(); v = v.Next() {
			if v.Get("name").Text() == name {
				return v
			}
		}
	}
	return manifest.Value{}
}
