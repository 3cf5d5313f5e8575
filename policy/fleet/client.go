package fleet

import "github.com/podfate/podfate/policy"

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
	node := make([]Group, 0, len(groups))
	for _, i := range groups {
		node = append(node, f.Groups[i])
	}
	q.Grows = Exceeds(node, requests, c.QPS)
	b := bucket{Client: c, tokens: c.Burst * 1000}
	ahead := merged(node, until)
	if f.Spread <= 1 {
		for len(ahead) > 0 && !f.Exceeded() {
			at, g := ahead.take()
			f.steps++
			b.take(at, node[g].Pods*requests)
		}
	} else {
		f.spreadQueue(&b, node, ahead, requests, until)
	}
	q.Backlog = (b.most + 999) / 1000
	if q.Backlog > 0 {
		q.Drained = b.at + policy.Millis((max(-b.tokens, 0)+c.QPS-1)/c.QPS)
		if b.tokens >= 0 {
			q.Drained = b.drained
		}
	}
	return q
}

// bucket is the tokens of a client, in thousandths; below 0 they are owed to requests that wait.
type bucket struct {
	Client
	tokens  int64
	at      policy.Millis
	most    int64
	drained policy.Millis // when nothing waited any more before at
}

// take asks for n requests at an instant that is not before the last.
func (b *bucket) take(at policy.Millis, n int64) {
	if b.tokens < 0 {
		b.drained = b.at + policy.Millis((-b.tokens+b.QPS-1)/b.QPS)
	}
	if full := b.Burst*1000 - b.tokens; int64(at-b.at) > full/b.QPS {
		b.tokens = b.Burst * 1000
	} else {
		b.tokens += int64(at-b.at) * b.QPS
	}
	b.at = at
	b.tokens = max(b.tokens-n*1000, -1<<61) // more than anybody waits for
	b.most = max(b.most, -b.tokens)
}

// spreadQueue is Queue for Pods that start one after the other.
func (f *Fleet) spreadQueue(b *bucket, node []Group, ahead merge, requests int64, until policy.Millis) {
	type under struct { // a restart that some Pods have still before them
		ramp
		n int64 // Pods of the node whose restart has come
	}
	var ramps []under
	next := func(u *under) policy.Millis {
		g := &node[u.group]
		return u.at + f.startOf(g.lo+u.n*g.Nodes)
	}
	for !f.Exceeded() {
		first := 0
		for i := range ramps {
			if next(&ramps[i]) < next(&ramps[first]) {
				first = i
			}
		}
		f.steps += 1 + len(ramps)
		if len(ahead) > 0 && (len(ramps) == 0 || ahead[0].at <= next(&ramps[first])) {
			at, g := ahead.take()
			ramps = append(ramps, under{ramp: ramp{at, g}})
			continue
		}
		if len(ramps) == 0 {
			return
		}
		u := &ramps[first]
		g, at := &node[u.group], next(u)
		if at > until {
			return
		}
		n := min((max(f.below(at-u.at)-g.lo, 0)+g.Nodes-1)/g.Nodes, g.Pods)
		b.take(at, (n-u.n)*requests)
		if u.n = n; n == g.Pods {
			ramps[first] = ramps[len(ramps)-1]
			ramps = ramps[:len(ramps)-1]
		}
	}
}
