package fleet

import (
	"math"

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
	b := bucket{Client: c, tokens: c.Burst * 1000}
	e := f.each(node, until)
	s, end, edge, from := SteadyOf(own), until, until, until
	if s.Period > 0 && s.Restarts > 0 && !f.guessed() {
		edge = s.From + f.Spread // from here on the same comes in each period
	}
	for before := int64(math.MaxInt64); ; {
		b.send(&e, requests, min(edge, end))
		if edge >= end || f.Exceeded() {
			break
		}
		// Where a period leaves what it found, or always takes the same from a client that has no
		// rest, all but the last ones are arithmetic.
		gone, n := before-b.tokens, int64((end-edge)/s.Period)-1
		if before == math.MaxInt64 || n < 1 || gone != 0 && (gone < 0 || b.rested) {
			before, b.rested = b.tokens, false
			edge += s.Period
			continue
		}
		b.tokens = max(b.tokens-min(Times(n, gone), owedMost), -owedMost)
		from, end = edge, end-policy.Millis(n)*s.Period
		edge = end
	}
	q.Backlog = (b.most + 999) / 1000
	if q.Backlog > 0 {
		q.Drained = b.at + policy.Millis((max(-b.tokens, 0)+c.QPS-1)/c.QPS)
		if b.tokens >= 0 {
			q.Drained = b.drained
		}
		if q.Drained > from {
			q.Drained += until - end
		}
	}
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
	drained policy.Millis // when nothing waited any more before at
	rested  bool          // it had all its tokens
}

// send asks for what comes of e until the given instant.
func (b *bucket) send(e *each, requests int64, until policy.Millis) {
	for n := int64(1); n > 0; {
		at := until
		if at, n = e.next(until); n == 0 {
			at = until
		}
		b.take(at, n*requests)
	}
}

// take asks for n requests at an instant that is not before the last.
func (b *bucket) take(at policy.Millis, n int64) {
	if b.tokens < 0 {
		b.drained = b.at + policy.Millis((-b.tokens+b.QPS-1)/b.QPS)
	}
	if full := b.Burst*1000 - b.tokens; int64(at-b.at) > full/b.QPS {
		b.tokens, b.rested = b.Burst*1000, true
	} else {
		b.tokens += int64(at-b.at) * b.QPS
	}
	b.at = at
	b.tokens = max(b.tokens-n*1000, -owedMost)
	b.most = max(b.most, -b.tokens)
}

// each is the restarts of all Pods of groups that are on the first node, one instant after the other.
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
