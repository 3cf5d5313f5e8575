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
	node, own := make([]Group, 0, len(groups)), make([]Group, 0, len(groups))
	for _, i := range groups {
		g := f.Groups[i]
		node = append(node, g)
		g.Nodes = min(g.Nodes, 1)
		own = append(own, g)
	}
	q.Grows = Exceeds(own, requests, c.QPS)
	b := bucket{Client: c, tokens: c.Burst * 1000}
	ahead := f.merged(node, 0, until)
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

// under is a restart that some Pods of a node have still before them.
type under struct {
	ramp
	n    int64         // Pods of the node whose restart has come
	next policy.Millis // when that of the next one comes
}

// underway is restarts as a heap, the one that comes next first.
type underway []under

// settle lets number i find its place among those after it or before it.
func (h underway) settle(i int) {
	for i > 0 && h[i].next < h[(i-1)/2].next {
		h[i], h[(i-1)/2] = h[(i-1)/2], h[i]
		i = (i - 1) / 2
	}
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(h); child++ {
			if h[child].next < h[least].next {
				least = child
			}
		}
		if least == i {
			return
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
}

// spreadQueue is Queue for Pods that start one after the other.
func (f *Fleet) spreadQueue(b *bucket, node []Group, ahead merge, requests int64, until policy.Millis) {
	var h underway
	for !f.Exceeded() {
		f.steps += 2
		if len(ahead) > 0 && (len(h) == 0 || ahead[0].at <= h[0].next) {
			at, g := ahead.take()
			h = append(h, under{ramp: ramp{at, g}, next: at + f.startOf(node[g].lo)})
			h.settle(len(h) - 1)
			continue
		}
		if len(h) == 0 || h[0].next > until {
			return
		}
		u := &h[0]
		g, at := &node[u.group], u.next
		n := min((max(f.below(at-u.at)-g.lo, 0)+g.Nodes-1)/g.Nodes, g.Pods)
		b.take(at, (n-u.n)*requests)
		if u.n = n; n == g.Pods {
			h[0] = h[len(h)-1]
			if h = h[:len(h)-1]; len(h) == 0 {
				continue
			}
		} else {
			u.next = u.at + f.startOf(g.lo+n*g.Nodes)
		}
		h.settle(0)
	}
}
