package forecast

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/podfate/podfate/policy/manifest"
	"github.com/podfate/podfate/policy/words"
)

// finding is what there is to say about one object.
type finding struct {
	kind, namespace, name, uid string
	owner                      Owner
	state                      podState
	loops                      []Loop
	stuck                      []Stuck
	notModelled                []Stuck
	job                        *JobLeft
	restarts                   int64  // of its containers, in its status
	newest                     string // time in the status
}

// podState is how a Pod is counted.
type podState uint8

const (
	fine podState = iota
	finished
	looping
	down
	pending
	terminating
	unknown
)

// Owner is the controller of a Pod, or the Pod itself if it has none.
type Owner struct {
	Namespace string `json:"namespace"`
	Kind      string `json:"kind"`
	Name      string `json:"name"`
}

// Loop is a container that is restarted again and again.
type Loop struct {
	Namespace string `json:"namespace"`
	Pod       string `json:"pod"`
	UID       string `json:"uid,omitempty"`
	Node      string `json:"node,omitempty"`
	Container string `json:"container"`
	Owner     Owner  `json:"owner"`
	Status    string `json:"status"` // as kubectl get pods prints it
	State     string `json:"state"`  // waiting, running, terminated
	Restarts  int64  `json:"restarts"`
	ExitCode  int64  `json:"exitCode"`
	Reason    string `json:"reason,omitempty"`
	// Since is when the last run began that ended so; the loop may be older.
	Since      string `json:"since,omitempty"`
	PodStarted string `json:"podStarted,omitempty"`
	// DelayMillis is the wait of the back-off, if it waits.
	DelayMillis int64  `json:"delayMillis,omitempty"`
	NextStart   string `json:"nextStart,omitempty"`
	Earliest    int64  `json:"earliestMillis"` // from now on
	Latest      int64  `json:"latestMillis"`
	// KeptBy is the path of the field that has it restarted, and Because why, in words.
	KeptBy  string `json:"keptBy,omitempty"`
	Because string `json:"because,omitempty"`
	// In the hour to come, if each run ends like the last one.
	RestartsPerHour int64 `json:"restartsPerHour"`
	RequestsPerHour int64 `json:"requestsPerHour"`
	RanMillis       int64 `json:"ranMillis"`
	WaitingMillis   int64 `json:"waitingMillis"`
	// EndsBy is the limit of its Job, or the condition, with which the Job ends the loop before the
	// time that is looked at is over, EndsMillis when. Nothing after that counts.
	EndsBy     string  `json:"endsBy,omitempty"`
	EndsMillis *int64  `json:"endsMillis,omitempty"`
	starts     []int64 // when, in milliseconds from now on
	waiting    string  // the reason for which it waits, as its status has it
	policy     string  // the restartPolicy of the Pod
	created    string  // when the Pod was
	beside     bool    // another container of the Pod waits longer, whose Pod-hours count
}

// Stuck is a Pod, or a container of one, that does not recover by itself.
type Stuck struct {
	Namespace string `json:"namespace"`
	Pod       string `json:"pod"`
	UID       string `json:"uid,omitempty"`
	Container string `json:"container,omitempty"`
	Owner     Owner  `json:"owner"`
	Reason    string `json:"reason"` // a stable code, or the kubelet's own reason
	Text      string `json:"text"`
	KeptBy    string `json:"keptBy,omitempty"` // the path of the field that decides so
	Since     string `json:"since,omitempty"`
}

// waitingForGood are reasons of the kubelet for which a container waits until somebody changes
// something.
var waitingForGood = map[string]bool{
	"ErrImagePull": true, "ImagePullBackOff": true, "InvalidImageName": true, "ErrImageNeverPull": true, "ImageInspectError": true,
	"RegistryUnavailable": true, "CreateContainerConfigError": true, "CreateContainerError": true, "RunContainerError": true,
}

// statuses calls each for all containers in the status of a Pod that can be restarted.
func statuses(status manifest.Value, each func(v manifest.Value)) {
	for _, list := range [...]string{"initContainerStatuses", "containerStatuses"} {
		for v := status.Get(list).First(); v.Exists(); v = v.Next() {
			each(v)
		}
	}
}

// malformed says what of a Pod is not what Kubernetes prints, as far as it is read here; "" for
// nothing. What is unreadable is not taken for a Pod that has not started.
func malformed(root manifest.Value) string {
	is := func(v manifest.Value, kind manifest.Kind) bool {
		return !v.Exists() || v.Kind() == manifest.Null || v.Kind() == kind
	}
	status := root.Get("status")
	switch {
	case !status.Exists():
		return "has no status; kubectl get pods -o json prints it"
	case status.Kind() != manifest.Object:
		return "status is not an object"
	case root.Get("spec").Get("containers").First().Kind() != manifest.Object:
		return "spec.containers has no container"
	case !is(status.Get("phase"), manifest.String):
		return "status.phase is not a string"
	}
	for _, list := range [...]string{"initContainerStatuses", "containerStatuses"} {
		path := "status." + list
		if !is(status.Get(list), manifest.Array) {
			return path + " is not a list"
		}
		i := 0
		for v := status.Get(list).First(); v.Exists(); v = v.Next() {
			at := path + "[" + strconv.Itoa(i) + "]"
			i++
			if v.Kind() != manifest.Object {
				return at + " is not an object"
			}
			if _, whole := v.Get("restartCount").Int64(); !whole && !is(v.Get("restartCount"), manifest.Null) {
				return at + ".restartCount is not a whole number"
			}
			for _, name := range [...]string{"state", "lastState"} {
				if !is(v.Get(name), manifest.Object) {
					return at + "." + name + " is not an object"
				}
			}
		}
	}
	return ""
}

// pod judges a Pod.
func (j *judge) pod(it *item, root manifest.Value) {
	if it.broken = malformed(root); it.broken != "" {
		return
	}
	f, status := &it.found, root.Get("status")
	f.owner = ownerOf(root.Get("metadata"), f)
	asks, ready, containers := false, true, 0
	statuses(status, func(v manifest.Value) {
		n, _ := v.Get("restartCount").Int64()
		f.restarts += n
		state := v.Get("state")
		running := state.Get("running")
		containers++
		ready = ready && running.Exists()
		for _, t := range [...]manifest.Value{running.Get("startedAt"), state.Get("terminated").Get("finishedAt"), v.Get("lastState").Get("terminated").Get("finishedAt")} {
			f.newest = max(f.newest, t.Text())
		}
		asks = asks || n > 0 || state.Get("terminated").Exists() || state.Get("waiting").Get("reason").Text() == "CrashLoopBackOff"
		if w := state.Get("waiting"); waitingForGood[w.Get("reason").Text()] {
			f.stuck = append(f.stuck, Stuck{
				Namespace: f.namespace, Pod: f.name, UID: f.uid, Owner: f.owner, Container: v.Get("name").Text(), Reason: w.Get("reason").Text(),
				Text: strings.TrimSuffix("the kubelet keeps trying: "+w.Get("message").Text(), ": "),
			})
		}
	})
	switch phase := status.Get("phase").Text(); {
	case root.Get("metadata").Get("deletionTimestamp").Exists():
		f.state = terminating
		f.stuck = nil
	case phase == "Succeeded":
		f.state = finished
	case phase == "Failed":
		f.state = finished
		if f.owner.Kind == "Pod" {
			f.state = down
			f.stuck = append(f.stuck, Stuck{
				Namespace: f.namespace, Pod: f.name, UID: f.uid, Owner: f.owner, Reason: "Failed",
				Text: "it has failed, and no controller replaces it", KeptBy: "metadata.ownerReferences",
			})
		}
	case phase == "Unknown":
		f.lose(outsideTheModel, "status.phase", strings.TrimSuffix("its node no longer says how it is, so nobody knows whether it still runs: "+status.Get("message").Text(), ": "))
	case len(f.stuck) > 0:
		f.state = down
	case !asks && ready && containers > 0:
		f.state = fine
	case !asks:
		f.state = pending
	default:
		j.ask(it, root, status)
	}
}

// outsideTheModel is the core's reason for what it does not know.
const outsideTheModel = "outside_the_model"

// lose notes that nobody knows here what comes next.
func (f *finding) lose(reason, path, text string) {
	f.state = unknown
	f.stuck, f.notModelled = nil, []Stuck{{
		Namespace: f.namespace, Pod: f.name, UID: f.uid, Owner: f.owner, Reason: reason, KeptBy: path, Text: text,
	}}
}

// ask asks the core what becomes of a Pod that is not simply fine.
func (j *judge) ask(it *item, root, status manifest.Value) {
	f := &it.found
	now, later := j.now, time.Duration(0)
	answer, failed := j.simulate(it.json, now)
	if failed && f.newest > now { // the cluster's clock is ahead
		if newest, err := time.Parse(time.RFC3339, f.newest); err == nil {
			if later = newest.Sub(j.o.Now); later > j.o.Ahead {
				it.broken = "is of " + f.newest + ", later than all that is looked at; --now says when the statuses were printed"
				return
			}
		}
		now = f.newest
		answer, failed = j.simulate(it.json, now)
	}
	if e := answer.Get("error"); failed {
		it.broken = e.Get("message").Text()
		return
	}
	if u := answer.Get("undecided").First(); u.Exists() {
		reason, text := u.Get("reason").Text(), words.Phrase(u.Get("reason").Text())
		if reason == outsideTheModel { // the phrase is about events, and there are none here
			text = "its status shows something that is not modelled"
		}
		f.lose(reason, u.Get("path").Text(), text)
		return
	}
	statuses(status, func(v manifest.Value) { j.container(f, root, v, answer, now) })
	longest := 0
	for i := range f.loops {
		f.loops[i].delay(later.Milliseconds(), j.o.Ahead.Milliseconds())
		if f.loops[i].beside = true; f.loops[i].WaitingMillis > f.loops[longest].WaitingMillis {
			longest = i
		}
	}
	if len(f.loops) > 0 {
		f.loops[longest].beside = false
	}
	switch {
	case len(f.loops) > 0:
		f.state = looping
	case len(f.stuck) > 0:
		f.state = down
	}
}

// delay counts from now on what was counted from an instant that is later by so much.
func (l *Loop) delay(later, ahead int64) {
	if later <= 0 {
		return
	}
	l.Earliest, l.Latest = l.Earliest+later, l.Latest+later
	for i := range l.starts {
		l.starts[i] += later
	}
	l.starts = slices.DeleteFunc(l.starts, func(at int64) bool { return at > ahead })
}

// container looks what becomes of one container.
func (j *judge) container(f *finding, root, v, answer manifest.Value, now string) {
	name := v.Get("name").Text()
	var starts, ran int64
	for c := answer.Get("containers").First(); c.Exists(); c = c.Next() {
		if c.Get("container").Text() == name {
			starts, _ = c.Get("starts").Int64()
			ran, _ = c.Get("ranMillis").Int64()
		}
	}
	state := v.Get("state")
	last, kind := v.Get("lastState").Get("terminated"), "waiting"
	if state.Get("running").Exists() {
		kind = "running"
	} else if t := state.Get("terminated"); t.Exists() {
		last, kind = t, "terminated"
	}
	code, _ := last.Get("exitCode").Int64()
	restarts, _ := v.Get("restartCount").Int64()
	if starts == 0 || !last.Exists() {
		if kind == "terminated" && code != 0 && starts == 0 {
			path, because := j.decide(root, name, code, last.Get("reason").Text())
			f.stuck = append(f.stuck, Stuck{
				Namespace: f.namespace, Pod: f.name, UID: f.uid, Owner: f.owner, Container: name, Reason: "NotRestarted", KeptBy: path,
				Text:  "it has ended with " + strconv.FormatInt(code, 10) + " and is not started again: " + because,
				Since: last.Get("finishedAt").Text(),
			})
		}
		return
	}
	hour := int64(time.Hour / time.Millisecond)
	until, _ := answer.Get("untilMillis").Int64()
	until = max(until, 1)
	l := Loop{
		Namespace: f.namespace, Pod: f.name, UID: f.uid, Node: root.Get("spec").Get("nodeName").Text(), Container: name, Owner: f.owner,
		Status: answer.Get("from").Get("row").Get("status").Text(), State: kind, Restarts: restarts, ExitCode: code, Reason: last.Get("reason").Text(),
		Since: manifest.Began(last).Text(), waiting: state.Get("waiting").Get("reason").Text(), PodStarted: root.Get("status").Get("startTime").Text(),
		RestartsPerHour: (starts*hour + until/2) / until, RanMillis: ran, WaitingMillis: max(until-ran, 0),
		policy: root.Get("spec").Get("restartPolicy").Text(), created: root.Get("metadata").Get("creationTimestamp").Text(),
	}
	l.RequestsPerHour = l.RestartsPerHour * j.o.RequestsPerRestart
	for w := answer.Get("from").Get("waits").First(); w.Exists(); w = w.Next() {
		if w.Get("container").Text() == name && kind != "running" {
			l.DelayMillis, _ = w.Get("delayMillis").Int64()
			l.NextStart = w.Get("nextStart").Text()
			l.Earliest, _ = w.Get("earliestMillis").Int64()
			l.Latest, _ = w.Get("latestMillis").Int64()
		}
	}
	l.read(answer, name, now)
	f.loops = append(f.loops, l)
}

// read takes the starts to come and the rule that brings them from a timeline.
func (l *Loop) read(answer manifest.Value, name, now string) {
	first := true
	for e := answer.Get("timeline").First(); e.Exists(); e = e.Next() {
		switch event := e.Get("event").Text(); {
		case event == "Repeated":
			l.repeated(e, name)
		case e.Get("container").Text() != name:
		case event == "Started":
			at, _ := e.Get("atMillis").Int64()
			l.starts = append(l.starts, at)
			if first && l.NextStart == "" {
				if t, err := time.Parse(time.RFC3339, now); err == nil {
					l.NextStart = t.Add(time.Duration(at) * time.Millisecond).UTC().Format(time.RFC3339)
				}
				l.Earliest, l.Latest = at, at
			}
			first = false
		case event == "Exited" && l.KeptBy == "":
			l.KeptBy = e.Get("decidedBy").Get("path").Text()
			l.Because = words.Phrase(e.Get("because").Text())
		}
	}
}

// repeated adds the starts of rounds that a timeline only counts, evenly.
func (l *Loop) repeated(e manifest.Value, name string) {
	from, _ := e.Get("atMillis").Int64()
	until, _ := e.Get("untilMillis").Int64()
	for s := e.Get("starts").First(); s.Exists(); s = s.Next() {
		n, _ := s.Get("starts").Int64()
		if s.Get("container").Text() != name || n <= 0 {
			continue
		}
		for i := range min(n, 3600) {
			l.starts = append(l.starts, from+(until-from)*(i+1)/min(n, 3600))
		}
	}
}

// ownerOf returns the controller of a Pod.
func ownerOf(meta manifest.Value, f *finding) Owner {
	for v := meta.Get("ownerReferences").First(); v.Exists(); v = v.Next() {
		if v.Get("controller").Bool() {
			return Owner{f.namespace, kindOf(v.Get("apiVersion").Text(), v.Get("kind").Text()), v.Get("name").Text()}
		}
	}
	return Owner{f.namespace, "Pod", f.name}
}
