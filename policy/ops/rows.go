package ops

import (
	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/manifest"
	"github.com/podfate/podfate/policy/simulate"
)

// What an answer can have on demand.
const (
	showRows  = "rows"
	showWaste = "waste"
)

// readShow reads what the answer should have besides what it always has, rows or one of words, and
// reports whether rows are among it.
func (c *call) readShow(words ...string) (rows bool) {
	v := c.root.Get("show")
	switch {
	case !given(v):
		return false
	case v.Kind() != manifest.Array:
		c.wrongType(v, "show", "a list")
		return false
	}
	i := 0
	for e := v.First(); e.Exists(); e = e.Next() {
		at := element("show", i)
		if i++; !given(e) {
			c.wrongType(e, at, "a string")
			continue
		}
		switch c.choice(e, at, append([]string{showRows}, words...)...) {
		case showWaste:
			c.waste = true
		default:
			rows = true
		}
	}
	return rows
}

// printedOf is what kubectl's row is made from, of a Pod as its object has it.
func printedOf(spec *policy.PodSpec, man manifest.Value) *policy.PrintedPod {
	status := man.Get("status")
	p := &policy.PrintedPod{
		Phase: policy.PodPhase(status.Get("phase").Text()), Reason: status.Get("reason").Text(),
		Deleted: given(man.Get("metadata").Get("deletionTimestamp")),
	}
	p.SpecInits, p.SpecTotal = len(spec.InitContainers), len(spec.Containers)
	for i := range spec.InitContainers {
		if spec.InitContainers[i].IsSidecar(policy.InitContainer) {
			p.SpecTotal++
		}
	}
	initialized := false
	for v := status.Get("conditions").First(); v.Exists(); v = v.Next() {
		is := v.Get("status").Text() == "True"
		switch v.Get("type").Text() {
		case "PodScheduled":
			p.Gated = p.Gated || v.Get("reason").Text() == "SchedulingGated"
		case "Ready":
			p.Ready = p.Ready || is
		case "Initialized":
			p.Initialized, initialized = is && !initialized || p.Initialized, true
		}
	}
	for v := status.Get("initContainerStatuses").First(); v.Exists(); v = v.Next() {
		x := printedContainer(v)
		ref, found := spec.Find(v.Get("name").Text())
		x.Sidecar = found && ref.Kind == policy.InitContainer && spec.Container(ref).IsSidecar(ref.Kind)
		p.Inits = append(p.Inits, x)
	}
	for v := status.Get("containerStatuses").First(); v.Exists(); v = v.Next() {
		p.Mains = append(p.Mains, printedContainer(v))
	}
	return p
}

func printedContainer(v manifest.Value) policy.PrintedContainer {
	var p past
	state, last := p.state(v.Get("state")), p.state(v.Get("lastState"))
	n, _ := v.Get("restartCount").Int64()
	x := policy.PrintedContainer{
		Kind: state.Kind, Reason: state.Reason, Code: state.ExitCode, Restarts: n, LastEnd: -1,
		Started: v.Get("started").Bool(), Ready: v.Get("ready").Bool(),
	}
	if state.Kind == policy.StateTerminated {
		signal, _ := v.Get("state").Get("terminated").Get("signal").Int64()
		x.Signal = int32(signal)
	}
	if last.Kind == policy.StateTerminated && last.Finished > 0 {
		x.LastEnd = last.Finished / policy.Second * policy.Second
	}
	return x
}

// afterExit is the Pod just after e: a live Pod with the rest of its status, any other with the
// other containers running, as far as they have their turn. What happened before is not known to
// it, so that no "ago" comes of it.
func (c *call) afterExit(l *loaded, e exit) *policy.PrintedPod {
	spec := &l.object.Spec
	ended := policy.PrintedContainer{Kind: policy.StateTerminated, Code: e.code, Reason: e.reason, LastEnd: -1}
	if ended.Reason == "" {
		if ended.Reason = "Error"; e.code == 0 {
			ended.Reason = "Completed"
		}
	}
	if l.object.Kind == "Pod" {
		p, name, status := printedOf(spec, c.man), spec.Container(e.ref).Name, c.man.Get("status")
		for _, list := range [...][]policy.PrintedContainer{p.Inits, p.Mains} {
			for i := range list {
				list[i].LastEnd = -1
			}
		}
		if end(p.Inits, status.Get("initContainerStatuses"), name, ended) || end(p.Mains, status.Get("containerStatuses"), name, ended) {
			p.Ready = false // as long as the container does not run
			return p
		}
	}
	return afterFirstExit(spec, e.ref, ended)
}

func afterFirstExit(spec *policy.PodSpec, at policy.Ref, ended policy.PrintedContainer) *policy.PrintedPod {
	p := &policy.PrintedPod{Phase: policy.PodRunning, SpecInits: len(spec.InitContainers), SpecTotal: len(spec.Containers)}
	isInit := at.Kind == policy.InitContainer
	runs := policy.PrintedContainer{Kind: policy.StateRunning, Started: true, Ready: true, LastEnd: -1}
	waits := policy.PrintedContainer{Kind: policy.StateWaiting, Reason: "PodInitializing", LastEnd: -1}
	done := policy.PrintedContainer{Kind: policy.StateTerminated, Reason: "Completed", LastEnd: -1}
	initializes := isInit && !spec.Container(at).IsSidecar(at.Kind)
	for i := range spec.InitContainers {
		x := done
		if sidecar := spec.InitContainers[i].IsSidecar(policy.InitContainer); sidecar {
			x = runs
			x.Sidecar = true
			p.SpecTotal++
		}
		switch {
		case isInit && i == at.Index:
			sidecar := x.Sidecar
			x = ended
			x.Sidecar = sidecar
		case initializes && i > at.Index:
			x = waits
		}
		p.Inits = append(p.Inits, x)
	}
	p.Initialized = !initializes
	for _, i := range policy.Order(len(spec.Containers), func(a, b int) bool { return spec.Containers[a].Name < spec.Containers[b].Name }) {
		x := runs
		switch {
		case initializes:
			x = waits
		case at.Kind == policy.MainContainer && i == at.Index:
			x = ended
		}
		p.Mains = append(p.Mains, x)
	}
	return p
}

// end gives the container called name another state, and reports whether it is in the list.
func end(list []policy.PrintedContainer, statuses manifest.Value, name string, ended policy.PrintedContainer) bool {
	i := 0
	for v := statuses.First(); v.Exists(); v = v.Next() {
		if v.Get("name").Text() == name {
			ended.Restarts, ended.LastEnd, ended.Sidecar = list[i].Restarts, list[i].LastEnd, list[i].Sidecar
			list[i] = ended
			return true
		}
		i++
	}
	return false
}

// writeRow writes the members of a row, of which now is the instant and created that of the Pod,
// below 0 for one that is not known. Both are rounded as the API rounds times.
func writeRow(w *manifest.Writer, r *policy.PrintedRow, now, created policy.Millis) {
	w.KeyInt("ready", int64(r.Ready))
	w.KeyInt("total", int64(r.Total))
	w.KeyString("status", r.Status)
	w.KeyInt("restarts", r.Restarts)
	if r.LastEnd >= 0 {
		w.KeyInt("agoMillis", int64(now-r.LastEnd))
	}
	if created >= 0 {
		w.KeyInt("ageMillis", int64(now-created/policy.Second*policy.Second))
	}
}

// rows writes what kubectl prints over time, if that was asked for. names gives each Pod of a Job
// its name; nil for a Pod alone.
func (s *simulation) rows(rows *simulate.Rows, name func(number int32) string) {
	if rows == nil {
		return
	}
	w := s.w
	w.KeyArray("rows")
	for i := range rows.List {
		r := &rows.List[i]
		w.Object()
		s.at("atMillis", r.At)
		if name != nil {
			s.text("pod", name(r.Pod))
		}
		if r.Gone {
			s.bool("gone", true)
		} else {
			writeRow(w, &r.PrintedRow, r.At, r.Created)
		}
		if r.RepeatsUntil > 0 {
			s.at("repeatsUntilMillis", r.RepeatsUntil)
		}
		w.End()
	}
	w.End()
	if rows.More > 0 {
		s.int("rowsMore", int64(rows.More))
	}
}

// Printed returns what an API server of release 1.minor prints of a Pod with its status, and when
// the Pod was created, below 0 if it does not say so. Fields have been checked before.
func Printed(spec *policy.PodSpec, pod manifest.Value, minor int) (r policy.PrintedRow, created policy.Millis) {
	created = -1
	if v := pod.Get("metadata").Get("creationTimestamp"); given(v) {
		millis, _ := manifest.ParseTime(v.Text())
		created = policy.Millis(max(millis, 0))
	}
	return printedOf(spec, pod).Row(minor), created
}
