package ops

import (
	"math"
	"strings"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/admission"
	"github.com/podfate/podfate/policy/manifest"
)

// Policy is a compiled manifest: it answers about one exit ([Policy.Eval]) or about many
// ([Policy.Batch]) without reading the manifest again. It is immutable and keeps nothing of the
// request; any number of goroutines may use it.
type Policy struct {
	batch *policy.Batch
	bytes int
	from  loaded   // what decisions name: the object with the names of its containers and nothing else
	paths []paths  // by number of the container
	heads []string // how the answers about each begin
}

// Bytes returns about how much memory p holds.
func (p *Policy) Bytes() int { return p.bytes }

// Batch returns the compiled manifest for many events, in numbers; see package packed for those in
// bytes.
func (p *Policy) Batch() *policy.Batch { return p.batch }

// Compile prepares the answers about the manifest of request, which is that of decide without its
// exits. At most room bytes may be held ([Policy.Bytes]); more is LIMIT_EXCEEDED, before they are
// asked for. The answer names the containers in the order of their numbers and repeats handle, by
// which a front will know the policy:
//
//	{"handle":4096,"containers":["main"],"conditions":[],"dropped":[],"warnings":[],"cluster":{…}}
//
// If p is nil, the answer is an error payload.
func Compile(request []byte, handle int64, room int) (p *Policy, answer []byte) {
	c := new(Memory).begin(request)
	if c.failure == nil {
		p = c.compile(handle, room)
	}
	answer, failed := c.end()
	if failed {
		return nil, answer
	}
	return p, answer
}

func (c *call) compile(handle int64, room int) *Policy {
	c.requestMembers("cluster", "fieldValidation", "manifest", "templatePath")
	cl := c.readCluster()
	l := c.load(cl.features)
	if c.failure != nil {
		return nil
	}
	c.passOverUnknown(&l)
	c.faults.addAll(l.faults)
	if c.failOnFaults() {
		return nil
	}
	l.warnings = append(l.warnings, c.skew(&cl)...)
	spec := &l.object.Spec
	p := &Policy{bytes: policy.BatchBytes(&l.object)}
	if p.bytes > room {
		c.limit("handleBytes", p.bytes, room)
		return nil
	}
	if l.object.Job != nil {
		admission.SetJobDefaults(l.object.Job) // those of a Job: one that a CronJob makes has them, too
	}
	if l.object.Job != nil && l.object.Job.PodFailurePolicy != nil && l.object.Job.PodFailurePolicy.Draft {
		l.object.Job = nil // packed Pods have no reason: they are not answered
	}
	node := cl.node()
	p.batch = policy.NewBatch(spec, policy.BatchOptions{
		Features: node.features, Backoff: node.kubelet.Backoff(node.features), Fallback: node.named, JobFallback: cl.named, Job: l.object.Job,
	})
	if n := len(p.batch.Conditions()); n > policy.MaxConditions {
		c.limit("conditions", n, policy.MaxConditions)
		return nil
	}
	p.from = loaded{readable: true, object: policy.Object{SpecPath: strings.Clone(l.object.SpecPath), Spec: spec.Names()}}
	w := &c.w
	w.Object()
	w.KeyInt("handle", handle)
	w.KeyArray("containers")
	for kind := range policy.ContainerKinds {
		for i, named := range p.from.object.Spec.List(kind) {
			w.String(named.Name)
			p.heads = append(p.heads, string(append(manifest.AppendQuoted([]byte(`"container":`), named.Name), `,"exitCode":`...)))
			p.paths = append(p.paths, pathsOf(&p.from.object, policy.Ref{Kind: kind, Index: i}))
		}
	}
	w.End()
	w.KeyArray("conditions")
	for _, pattern := range p.batch.Conditions() {
		w.Object()
		w.KeyString("type", pattern.Type)
		w.KeyString("status", pattern.Status)
		w.End()
	}
	w.End()
	c.writeDropped(l.dropped)
	c.writeWarnings(l.warnings)
	c.writeCluster(cl)
	w.End()
	return p
}

// Eval answers about one exit, an entry of decide's exits that may say how often the container was
// restarted before and how long it ran; then the answer says how long the back-off keeps it
// waiting:
//
//	{"container":"main","exitCode":42,"reason":"Error","restarts":3,"ranForMillis":1000}
//	{"container":"main","exitCode":42,"reason":"Error","action":"Restart","because":"rule_matched","decidedBy":{…},"delayMillis":40000}
//
// The answer is otherwise that of decide without the trace. If failed is true, it is an error
// payload.
func (p *Policy) Eval(request []byte) (answer []byte, failed bool) {
	return new(Memory).Eval(p, request)
}

// Eval is [Policy.Eval], except that the answer is good only until m is used again.
func (m *Memory) Eval(p *Policy, request []byte) (answer []byte, failed bool) {
	if e, reason, ok := p.plainExit(request); ok {
		w := &m.call.w
		w.Reset(answerBytes)
		p.answer(w, e, reason)
		return w.Bytes(), false
	}
	c := m.begin(request)
	if c.failure == nil {
		c.eval(p)
	}
	return c.end()
}

func (c *call) eval(p *Policy) {
	if !onlyMembers(c.root, evalMembers...) {
		c.members(c.root, "", evalMembers...)
	}
	e := c.readExitMembers(c.root, -1, &p.from)
	event := policy.Event{ExitCode: e.code, Container: uint16(p.from.object.Spec.Number(e.ref))}
	if restarts, given := c.integer(c.root.Get("restarts"), "restarts", 0, math.MaxUint32); given {
		event.Flags, event.History = policy.EventHistory, uint32(restarts)
	}
	ranFor, _ := c.integer(c.root.Get("ranForMillis"), "ranForMillis", 0, 1<<53)
	event.RanFor = policy.Millis(ranFor)
	if ofPod, given := c.readRestarts(c.root.Get("podRestarts"), "podRestarts"); given || e.counted {
		event.Flags |= policy.EventRestarts
		event.Conditions = uint64(max(ofPod, e.restarts))<<32 | uint64(e.restarts)
	}
	if c.failOnFaults() {
		return
	}
	p.answer(&c.w, event, e.reason)
}

// evalMembers are the members of an exit.
var evalMembers = []string{"container", "exitCode", "reason", "restarts", "ranForMillis", "restartCount", "podRestarts"}

// answer writes the answer about one exit.
func (p *Policy) answer(w *manifest.Writer, e policy.Event, reason string) {
	if reason == oomKilled {
		e.Flags |= policy.EventOOMKilled
	}
	events, verdicts := [1]policy.Event{e}, [1]policy.Verdict{}
	v := &verdicts[0]
	p.batch.Exits(events[:], verdicts[:])
	w.Object()
	w.Parts(p.heads[v.Container])
	w.Int(int64(e.ExitCode))
	optional(w, "reason", reason)
	at := p.paths[v.Container]
	if why := policy.VerdictReasons[v.Reason]; v.Flags&policy.VerdictUndecided == 0 {
		writeOutcome(w, at, v.Decision())
	} else {
		writeUndecided(w, why, at.unknown(why, int(v.Rule)))
	}
	if v.Wait >= 0 {
		w.KeyInt("delayMillis", int64(v.Wait))
	}
	w.End()
}
