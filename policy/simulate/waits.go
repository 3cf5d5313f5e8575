package simulate

import "github.com/podfate/podfate/policy"

// endClass is how an instance ended, as far as waits depend on it.
func endClass(in *instance) policy.EndClass {
	switch {
	case in.killedIn != 0 || in.reason == reasonOOMKilled:
		return policy.EndInfrastructure
	case in.code == 0:
		return policy.EndSuccess
	}
	return policy.EndCrash
}

// askWaits gives the entry of c the wait that comes after last, if waits are not the kubelet's own.
func (k *kubelet) askWaits(c *container, last *instance) {
	if e := k.entryOf(c); k.waits != nil && e.Exists {
		s, counter := k.waits.Of(c.ref, endClass(last))
		e.Delay, _ = s.At(k.counterOf(c).waited[counter])
	}
}

// counterOf returns the container whose waits c counts with.
func (k *kubelet) counterOf(c *container) *container {
	if k.entryOf(c) != &c.entry {
		return &k.ctrs[k.inits]
	}
	return c
}

// countWait notes that a wait is over: the next one of this counter is the next of its series. It
// stops counting where all that follow are equal, so that a rhythm repeats.
func (k *kubelet) countWait(c *container, last *instance) {
	e := k.entryOf(c)
	ref := c.ref
	c = k.counterOf(c)
	switch {
	case k.waits == nil:
	case !e.Exists || last.finished-e.Mark > k.backoff.Reset:
		c.waited = [policy.EndClasses]int{}
	default:
		_, counter := k.waits.Of(ref, endClass(last))
		n := c.waited[counter] + 1
		for class := policy.EndClass(0); class < policy.EndClasses; class++ {
			if s, of := k.waits.Of(ref, class); of == counter {
				if _, limit := s.At(n); limit == n {
					c.waited[counter] = n
					return
				}
			}
		}
	}
}
