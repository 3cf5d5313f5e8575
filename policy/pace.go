package policy

// Policies of the proposal [KEP4603Draft]: Always, with waits of their own.
const (
	RestartPolicyRapid         RestartPolicy = "Rapid"         // 250 ms to 60 s
	RestartPolicyFastOnSuccess RestartPolicy = "FastOnSuccess" // the same short wait after each success
)

// gatedOff of [Proposals] says that the gate of KEP4603Draft is off, which is on with the proposal.
const gatedOff = Proposals(1) << 15

// GateOff returns p with the gate of KEP4603Draft off: its words are read, and its waits do not
// count.
func (p Proposals) GateOff() Proposals { return p | gatedOff }

// SetPace makes the policies of the proposal in s what they are to everything but waits: Always. It
// is for API servers that have the proposal.
func (s *PodSpec) SetPace() {
	s.Pace = takePace(&s.RestartPolicy)
	for kind := range ContainerKinds {
		list := s.List(kind)
		for i := range list {
			if own := list[i].RestartPolicy; own != nil {
				list[i].Pace = takePace(own)
			}
		}
	}
}

func takePace(p *RestartPolicy) (pace RestartPolicy) {
	if pace = *p; pace != RestartPolicyRapid && pace != RestartPolicyFastOnSuccess {
		return ""
	}
	*p = RestartPolicyAlways
	return pace
}

// OldKubelets makes the policies of the proposal in s what a kubelet without it takes them for. The
// code that they meet there decides, and the code paths differ.
func (s *PodSpec) OldKubelets(taken RestartPolicy) (some bool) {
	if s.Pace != "" {
		s.RestartPolicy, s.Pace, some = taken, "", true
	}
	for kind := range ContainerKinds {
		list := s.List(kind)
		for i := range list {
			if c := &list[i]; c.Pace != "" {
				*c.RestartPolicy, c.Pace, some = taken, "", true
			}
		}
	}
	return some
}

// Paced returns waits with those that the manifest asks for in front, on a node with p: they win.
// waits may be nil; others are then those of b.
func (s *PodSpec) Paced(waits *Waits, b Backoff, p Proposals) *Waits {
	if !p.Has(KEP4603Draft) || p&gatedOff != 0 {
		return waits
	}
	stock := Series{b.Initial, b.Max, 2, nil}
	var own []ContainerWaits
	for _, kind := range []ContainerKind{InitContainer, MainContainer} {
		for i, c := range s.List(kind) {
			pace := c.Pace
			if c.RestartPolicy == nil {
				pace = s.Pace
			}
			w := ContainerWaits{Container: Ref{Kind: kind, Index: i}, Series: stock}
			switch pace {
			case RestartPolicyRapid:
				w.Series = presets[2].Series
			case RestartPolicyFastOnSuccess:
				d := [...]Millis{5 * Second, 0, 10 * Second}[p.Reading(OptionOnSuccess)]
				w.Classes[EndSuccess] = &Series{d, d, 1, []Millis{d}}
			default:
				continue
			}
			own = append(own, w)
		}
	}
	if own == nil {
		return waits
	}
	if waits == nil {
		waits = &Waits{Series: stock, Reset: b.Reset}
	}
	paced := *waits
	paced.Containers = append(own, waits.Containers...)
	return &paced
}

// OwnWaits names what the manifest itself says of the waits of a container on a node with p, next
// to the back-off of the node and what exits lead to: a policy of KEP4603Draft, or AlwaysPod where
// the waits are not those of its action. It is "" for nothing.
func (s *PodSpec) OwnWaits(kind ContainerKind, c *Container, p Proposals) string {
	pace := c.Pace
	if c.RestartPolicy == nil {
		pace = s.Pace
	}
	switch {
	case kind == EphemeralContainer:
	case pace != "" && p.Has(KEP4603Draft) && p&gatedOff == 0:
		if pace == RestartPolicyFastOnSuccess {
			return string(pace) + " " + proposals[KEP4603Draft].Options[0].Values[p.Reading(OptionOnSuccess)]
		}
		return string(pace)
	case kind == MainContainer && c.RestartPolicy == nil && s.RestartPolicy == RestartPolicyAlwaysPod && p.Has(AlwaysPod):
		// A new sandbox waits anyhow, and containers that are restarted in the old one do not.
		if n := p.Reading(OptionWait); n == p.Reading(OptionSandbox) {
			return string(s.RestartPolicy) + " " + proposals[AlwaysPod].Options[1].Values[n]
		}
	}
	return ""
}
