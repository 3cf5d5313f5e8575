package ops

import (
	"strconv"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/manifest"
	"github.com/podfate/podfate/policy/simulate"
)

// questionMember is the member that holds a question in short, as links, flags and the page carry
// it.
const questionMember = "question"

// readQuestion reads the question in short, of which own are the members that the operation has.
func (c *call) readQuestion(own ...string) {
	v := c.root.Get(questionMember)
	text, ok := c.text(v, questionMember)
	if !ok {
		return
	}
	short, faults := manifest.ReadShort(text)
	for _, f := range faults {
		c.faults.add(located{
			policy.FieldError{Path: questionMember, Code: policy.CodeBadFormat, Detail: f.Detail, Allowed: f.Allowed, Within: f.Offset + 1},
			v.Offset(), policy.EventInvalid,
		})
	}
	if c.question = short; short == nil {
		return
	}
	for m := short.Members.First(); m.Exists(); m = m.Next() {
		if contains(own, m.Key()) {
			continue
		}
		c.inShort(func() {
			at := m
			for at.First().Exists() { // the first clause of its kind
				at = at.First()
			}
			c.forbidden(at, questionMember, foreignClause(m.Key()))
		})
	}
}

func foreignClause(member string) string {
	if member == "exits" {
		return "an exit without a time is for decide; to say what a container does over time, write main: 42@10s"
	}
	return member + " are about time, which only simulate takes; decide takes exits, written main=42"
}

// short returns what the question says of a member, absent if nothing.
func (c *call) short(member string) (v manifest.Value) {
	if c.question != nil {
		v = c.question.Members.Get(member)
	}
	return v
}

// inShort reads with read what is part of the question: faults are told at their places in its
// text.
func (c *call) inShort(read func()) {
	c.inQuestion = true
	read()
	c.inQuestion = false
}

// member reads a member that the question may say instead, which then counts.
func (c *call) member(name string, read func(v manifest.Value)) {
	if v := c.short(name); v.Exists() {
		c.inShort(func() { read(v) })
		return
	}
	read(c.root.Get(name))
}

// asked gives a fault in the question its place there.
func (c *call) asked(f located) located {
	if c.inQuestion {
		f.Within = c.question.At(f.offset) + 1
		f.Path, f.offset = questionMember, c.root.Get(questionMember).Offset()
	}
	return f
}

// noContainer says that the Pod has no container called name.
func (c *call) noContainer(name string) string {
	if name == "" {
		return "the Pod has several containers: name the one that runs, as in main: 42@10s"
	}
	return "the Pod has no container " + strconv.Quote(cut(name))
}

// expectation is what a question expects of the Pod or the Job.
type expectation struct {
	phase string
	at    policy.Millis // below 0 for the end
}

// What can be expected of a Pod, and of a Job. Nobody writes to them.
var (
	podPhases   = []string{"Pending", "Running", "Succeeded", "Failed"}
	jobOutcomes = []string{"Running", "Suspended", "Complete", "Failed"}
)

// readExpected reads what the question expects before until.
func (c *call) readExpected(l *loaded, until policy.Millis) {
	c.inShort(func() {
		for v := c.short("expect").First(); v.Exists(); v = v.Next() {
			words := podPhases
			if l.readable && l.object.Job != nil {
				words = jobOutcomes
			}
			e := expectation{phase: c.choice(v.Get("phase"), "phase", words...), at: -1}
			if at := v.Get("at"); given(at) {
				if e.at = c.length(at, "at", 0, 0); e.at > until {
					c.fault(at, "at", policy.CodeOutOfRange, "is after the end, "+millisText(until))
				}
			}
			c.expect = append(c.expect, e)
		}
	})
}

// expected writes what was expected, and what is. then is the phase at an instant of the answer,
// the end for one below 0.
func (s *simulation) expected(list []expectation, then func(at policy.Millis) string) {
	if len(list) == 0 {
		return
	}
	s.w.KeyArray("expected")
	for _, e := range list {
		s.w.Object()
		s.text("phase", e.phase)
		if e.at >= 0 {
			s.int("atMillis", int64(e.at))
		}
		is := then(e.at)
		s.text("is", is)
		s.bool("met", is == e.phase)
		s.w.End()
	}
	s.w.End()
}

// phaseAt is the phase that the API shows of a Pod at an instant of the answer.
func phaseAt(r *simulate.Result, p *past, at policy.Millis) string {
	if at < 0 {
		return string(r.Phase)
	}
	phase := policy.PodPending
	if p != nil {
		phase, at = p.Phase, at+p.now
	}
	for i := range r.Timeline {
		t := &r.Timeline[i]
		if t.Event == simulate.Repeated && t.Container < 0 && t.At < at && at <= t.Until {
			at = t.Since + (at-t.Since-1)%t.Every + 1 // the round that was played
			return phaseBefore(r.Timeline[:i], phase, at)
		}
	}
	return phaseBefore(r.Timeline, phase, at)
}

func phaseBefore(timeline []simulate.Record, phase policy.PodPhase, at policy.Millis) string {
	for i := range timeline {
		if t := &timeline[i]; t.Event == simulate.PhaseChanged && t.At <= at {
			phase = t.To
		}
	}
	return string(phase)
}

// outcomeAt is what has become of a Job at an instant, Running before its end.
func outcomeAt(r *simulate.JobResult, at policy.Millis) string {
	outcome := "Running"
	for i := range r.Status.Conditions {
		c := &r.Status.Conditions[i]
		if (at < 0 || c.Since <= at) && !c.False && contains(jobOutcomes, c.Type) {
			outcome = c.Type
		}
	}
	return outcome
}
