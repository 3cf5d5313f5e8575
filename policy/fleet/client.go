package fleet

import (
	"github.com/podfate/podfate/policy"
)

// Client is how a kubelet asks the API server: QPS requests a second, and up to Burst at once after
// a rest. Both are at least 1.
type Client struct {
	QPS, Burst int64
}

// Queue is what waits in a kubelet for its client.
type Queue struct {
	Backlog int64 // the most requests that waited at once
	// Drained is when nothing waits any more after the last restart that is looked at; 0 if nothing
	// ever did.
	Drained policy.Millis
	Grows   bool // more requests come in the long run than the client sends
}

// Queue returns what waits on the first node of groups, the numbers of those on one node, until the
// given instant: each restart makes requests at once. If Pods are spread, they are dealt to the
// nodes in turn.
//
// Source: NewTokenBucketRateLimiter in k8s.io/client-go v0.36, util/flowcontrol/throttle.go.
func (f *Fleet) Queue(c Client, groups []int, requests int64, until policy.Millis) (q Queue) {
	node, own := make([]Group, 0, len(groups)), make([]Group, 0, len(groups))
	for _, i := range groups {
		g := f.Groups[i]
		node = append(node, g)
		g.Nodes = min(g.Nodes, 1)
		own = append(own, g)
	}
	q.Grows = Exceeds(own, requests, c.QPS)
	a := f.arrivals(node, until)
	b := bucket{Client: c, tokens: c.Burst * 1000}
	for b.send(a, requests, 0); b.at < until && !f.Exceeded(); {
		next := until
		if a.n > 0 {
			next = a.at
		}
		if a.period > 0 {
			b.repeat(a, requests, next)
		}
		b.send(a, requests, next)
	}
	q.Backlog = (b.most + 999) / 1000
	if b.tokens < 0 {
		b.drained = b.empty()
	}
	q.Drained = b.drained
	return q
}

// owedMost is more than anybody waits for, in thousandths of a token.
const owedMost = 1 << 61

// bucket is the tokens of a client, in thousandths; below 0 they are owed to requests that wait.
type bucket struct {
	Client
	tokens  int64
	at      policy.Millis
	most    int64
	drained policy.Millis // when nothing waited any more before at; 0 if nothing ever did
	// Of the period that is played:
	asked, least int64 // thousandths that were asked for, and the fewest there were
	room         int64 // how many more there could have been at any time
	rested       bool  // there were as many as there can be, and time was left
}

// send asks for what comes of a until the given instant.
func (b *bucket) send(a *arrivals, requests int64, until policy.Millis) {
	for n := int64(1); n > 0; {
		at := until
		if at, n = a.next(until); n == 0 {
			at = until
		}
		b.take(at, n*requests)
	}
}

// take asks for n requests at an instant that is not before the last.
func (b *bucket) take(at policy.Millis, n int64) {
	if b.tokens < 0 {
		b.drained = b.empty()
	}
	if full := b.Burst*1000 - b.tokens; int64(at-b.at) > full/b.QPS {
		b.tokens, b.rested = b.Burst*1000, true
	} else {
		b.tokens += int64(at-b.at) * b.QPS
		b.room = min(b.room, b.Burst*1000-b.tokens)
	}
	b.at = at
	b.asked = min(b.asked+n*1000, owedMost)
	b.tokens = max(b.tokens-n*1000, -owedMost)
	b.least, b.most = min(b.least, b.tokens), max(b.most, -b.tokens)
}

// empty returns when nothing waits any more, if nothing else comes and something waits now.
func (b *bucket) empty() policy.Millis {
	return b.at + policy.Millis((-b.tokens+b.QPS-1)/b.QPS)
}

// repeat plays whole periods until the given instant, before which the same comes in each of them.
// One of them and a part is left, or less than three.
//
// A period that finds t tokens leaves the lesser of t+gain and of what it leaves after a rest, a
// number that does not depend on t. So one that is played tells all that follow: tokens become
// fewer by the same number in each, or stay as they are after a rest, or become more until there is
// one. The last period is left to be played: nothing waits longer than in it or in the first, and
// if anything waits again in each of them, it is sent there for the last time.
func (b *bucket) repeat(a *arrivals, requests int64, until policy.Millis) {
	for n := int64((until - b.at) / a.period); n > 2 && !a.f.Exceeded(); n-- {
		b.asked, b.least, b.room, b.rested = 0, b.tokens, owedMost, false
		b.send(a, requests, b.at+a.period)
		gain, skip := b.QPS*int64(a.period)-b.asked, n-2
		switch {
		case gain < 0:
			b.tokens = max(b.tokens-min(Times(skip, -gain), owedMost), -owedMost)
		case gain > 0 && !b.rested:
			if skip = min(skip, b.room/gain); b.least < 0 {
				skip = min(skip, max((-b.least-1)/gain-1, 0)) // in the next something waits, too
			}
			b.tokens += skip * gain
		}
		n -= skip
		a.skip(b.at, skip)
		b.at += policy.Millis(skip) * a.period
	}
}

// arrivals is the restarts of all Pods of groups that are on the first node, one instant after the
// other, with what repeats apart from what does not.
type arrivals struct {
	f      *Fleet
	until  policy.Millis
	early  each
	at     policy.Millis // of the next restarts of Pods that have not settled
	n      int64         // their number, 0 if there are no more
	late   merge         // what comes again after each period, forever; left is of how many Pods
	period policy.Millis // of all of it together, 0 if there is none within a day
}

// maxLate bounds late, and with it the memory: 8 MB.
const maxLate = 1 << 18

// arrivals returns what comes of groups until the given instant. It changes the groups.
func (f *Fleet) arrivals(groups []Group, until policy.Millis) *arrivals {
	a := &arrivals{f: f, until: until, period: 1}
	for i := range groups {
		if g := &groups[i]; g.Period > 0 && !g.Ends && !g.Guessed && g.all() > 0 {
			a.settle(g)
		}
	}
	for i := len(a.late)/2 - 1; i >= 0; i-- {
		a.late.down(i)
	}
	a.early = f.each(groups, until)
	a.at, a.n = a.early.next(until)
	return a
}

// settle takes what repeats from the restarts of g, if there is room for it.
func (a *arrivals) settle(g *Group) {
	late, early := a.late, []Progression(nil)
	for _, p := range g.Restarts {
		n := p.until(g.From)
		for k := n; k < p.Count && p.at(k) <= g.From+g.Period; k++ {
			for pod := int64(0); pod < g.Pods; {
				start := a.f.startOf(g.lo + pod*g.Nodes)
				if start+p.at(k) > a.until {
					break
				}
				if len(late) == maxLate {
					return
				}
				first := pod
				pod = min((a.f.below(start)-g.lo+g.Nodes-1)/g.Nodes, g.Pods)
				late = append(late, cursor{start + p.at(k), g.Period, pod - first, 0})
			}
		}
		if p.Count = n; n > 0 {
			early = append(early, p)
		}
	}
	a.f.steps += len(late) - len(a.late)
	a.late, g.Restarts = late, early
	if a.period > 0 {
		if a.period = a.period / gcd(a.period, g.Period) * g.Period; a.period > MaxCommonPeriod {
			a.period = 0
		}
	}
}

// next returns the next instant until the given one, and how many restarts come then; 0 for none.
// Several may be returned of one instant.
func (a *arrivals) next(until policy.Millis) (at policy.Millis, n int64) {
	switch {
	case a.f.Exceeded():
	case a.n > 0 && a.at <= until && (len(a.late) == 0 || a.at <= a.late[0].at):
		at, n = a.at, a.n
		a.at, a.n = a.early.next(a.until)
	case len(a.late) > 0 && a.late[0].at <= until:
		a.f.steps += 4 // the heap is as deep as there are Pods
		c := &a.late[0]
		at, n = c.at, c.left
		c.at += c.period
		a.late.down(0)
	}
	return at, n
}

// skip leaves out n periods from an instant on, in which nothing else comes. What comes later than
// in one period is of Pods that have not settled.
func (a *arrivals) skip(from policy.Millis, n int64) {
	for i := range a.late {
		if c := &a.late[i]; c.at <= from+a.period {
			c.at += policy.Millis(n) * a.period
		}
	}
}

// each is the restarts of all Pods of groups that are on the first node, one instant after the
// other.
type each struct {
	f     *Fleet
	node  []Group
	ahead merge
	// h is restarts that some Pods have still before them: at is when that of the next one comes,
	// period when it came to one that starts at 0, left the Pods of the node that have had it.
	h merge
}

// each returns what comes of groups until the given instant.
func (f *Fleet) each(groups []Group, until policy.Millis) each {
	return each{f: f, node: groups, ahead: f.merged(groups, 0, until)}
}

// next returns the next instant until the given one, and how many restarts come then; 0 for none.
// Several may be returned of one instant.
func (e *each) next(until policy.Millis) (at policy.Millis, n int64) {
	for f := e.f; !f.Exceeded(); {
		f.steps += 4 // the heap is as deep as there are restarts under way
		if len(e.ahead) > 0 && (len(e.h) == 0 || e.ahead[0].at <= e.h[0].at) {
			if e.ahead[0].at > until {
				break
			}
			at, g := e.ahead.take()
			if f.Spread <= 1 {
				return at, e.node[g].Pods
			}
			e.h.push(cursor{at + f.startOf(e.node[g].lo), at, 0, g})
			continue
		}
		if len(e.h) == 0 || e.h[0].at > until {
			break
		}
		f.steps += 4 // the heap is as deep as there are restarts under way
		u := &e.h[0]
		g, at := &e.node[u.group], u.at
		n, had := min((max(f.below(at-u.period)-g.lo, 0)+g.Nodes-1)/g.Nodes, g.Pods), u.left
		if u.left = n; n < g.Pods {
			u.at = u.period + f.startOf(g.lo+n*g.Nodes)
		} else {
			*u = e.h[len(e.h)-1]
			e.h = e.h[:len(e.h)-1]
		}
		e.h.down(0)
		return at, n - had
	}
	return 0, 0
}
