package ops

// maxSkeletons bounds the lists of rules that one search for the nearest compares: all with two
// rules more or fewer than 20, which is the most that Kubernetes takes, and some ten milliseconds.
const maxSkeletons = 30_000

// bone is a rule in a list whose values are still open: one of the manifest, or a new one.
type bone struct {
	from   int // -1 for a new one
	action uint8
	in     bool
}

// alike are codes that meet the same rules, come to the same without any, and should come to the
// same.
type alike struct {
	target, base uint8
	meets        uint32 // a bit for each rule of the manifest
	n            int
}

// nearest looks for the list of rules that differs least from was: in the fewest rules and values
// together, of those in the fewest rules, and takes the fewest edits. It is exhaustive: for a given
// order of rules, old and new, each code is cheapest where the fewest values change for it,
// whatever the other codes do; and orders with more changed rules are compared only as long as
// these alone are fewer than what was found.
type nearest struct {
	was          []line
	target, base *[codes]uint8
	least        int
	actions      []uint8 // of new rules
	groups       []alike
	group        [codes]int
	size, edit   int // of best: changed rules and values, and edits of values
	best         []bone
	tried        int
	exact        bool // nothing was left out
}

// find returns the nearest list; none if there is none. exact reports that all that are nearer were
// compared.
func (s *nearest) find(windows bool) (lines []line, exact bool) {
	if windows || len(s.was) > 32 {
		return nil, false
	}
	whole := make([]bone, len(s.was))
	for i := range s.was {
		x := &s.was[i]
		if x.action == 0 && !x.fixed {
			return nil, false
		}
		whole[i] = bone{i, x.action, x.in}
	}
	for code := s.least; code < codes; code++ {
		g := alike{target: s.target[code], base: s.base[code]}
		for i := range s.was {
			if s.was[i].matches(code) {
				g.meets |= 1 << i
			}
		}
		k := 0
		for k < len(s.groups) && (s.groups[k].target != g.target || s.groups[k].base != g.base || s.groups[k].meets != g.meets) {
			k++
		}
		if k == len(s.groups) {
			s.groups = append(s.groups, g)
		}
		s.groups[k].n++
		s.group[code] = k
	}
	s.exact = true
	for k := range s.groups {
		can := s.groups[k].base == s.groups[k].target
		for _, action := range s.actions {
			can = can || action == s.groups[k].target
		}
		if !can {
			return nil, true // no rule brings it about
		}
	}
	for changed := 0; (s.best == nil || changed < s.size) && s.tried < maxSkeletons; changed++ {
		s.build(whole, changed, changed, 0)
	}
	if s.tried >= maxSkeletons {
		s.exact = false
	}
	if s.best == nil {
		return nil, false
	}
	return s.write(), s.exact
}

// build compares the lists that come out of list by left of all changes, all from place on.
func (s *nearest) build(list []bone, changed, left, place int) {
	if s.tried >= maxSkeletons {
		return
	}
	if left == 0 {
		s.tried++
		s.price(list, changed)
		return
	}
	for i := place; i <= len(list); i++ {
		if i < len(list) && list[i].from >= 0 && !s.was[list[i].from].fixed {
			s.build(append(append([]bone(nil), list[:i]...), list[i+1:]...), changed, left-1, i)
		}
		for _, action := range s.actions {
			for _, in := range [...]bool{true, false} {
				more := append(append([]bone(nil), list[:i]...), bone{-1, action, in})
				s.build(append(more, list[i:]...), changed, left-1, i+1)
			}
		}
	}
}

// meets reports whether codes of g match b as it is: a new rule has no values yet.
func (s *nearest) meets(g *alike, b bone) bool {
	if b.from < 0 {
		return !b.in
	}
	return g.meets>>b.from&1 != 0
}

// home returns the rule of list that codes of g had best meet first, len(list) for none, with the
// values and edits that it takes for each code; and -1 if none is possible.
func (s *nearest) home(g *alike, list []bone) (home, values, edits int) {
	home = -1
	better := func(i, v, e int) {
		if home < 0 || v < values || v == values && e < edits {
			home, values, edits = i, v, e
		}
	}
	v, e := 0, 0
	for i, b := range list {
		old := 0
		if b.from >= 0 {
			if old = 1; s.was[b.from].fixed {
				continue
			}
		}
		meets := s.meets(g, b)
		if b.action == g.target && meets {
			better(i, v, e)
		} else if b.action == g.target {
			better(i, v+1, e+old)
		}
		if meets {
			v, e = v+1, e+old
		}
	}
	if g.base == g.target {
		better(len(list), v, e)
	}
	return home, values, edits
}

// price compares list, in which as many rules have changed, with the best.
func (s *nearest) price(list []bone, size int) {
	edits, kept := 0, uint32(0)
	for k := range s.groups {
		g := &s.groups[k]
		home, v, e := s.home(g, list)
		if home < 0 {
			return
		}
		size, edits = size+g.n*v, edits+g.n*e
		for _, b := range list[home:] {
			if b.from >= 0 {
				kept |= g.meets & (1 << b.from)
			}
		}
		if s.best != nil && size > s.size {
			return
		}
	}
	for _, b := range list {
		if b.from < 0 || !b.in || kept>>b.from&1 != 0 || s.was[b.from].fixed || len(s.was[b.from].far) > 0 {
			continue
		}
		// It keeps none of its values: that is another change, of one rule more. Where one of them
		// could have stayed there is a list that was not priced.
		for k := range s.groups {
			s.exact = s.exact && (s.groups[k].meets>>b.from&1 == 0 || s.groups[k].target != b.action)
		}
		return
	}
	if s.best == nil || size < s.size || size == s.size && len(list) == len(s.best) && edits < s.edit {
		s.best, s.size, s.edit = append([]bone{}, list...), size, edits
	}
}

// write returns the rules of the best list with their values.
func (s *nearest) write() (lines []line) {
	for _, b := range s.best {
		if x := (line{action: b.action, in: b.in, from: -1}); b.from < 0 {
			lines = append(lines, x)
		} else {
			lines = append(lines, s.was[b.from])
		}
	}
	for code := s.least; code < codes; code++ {
		g := &s.groups[s.group[code]]
		home, _, _ := s.home(g, s.best)
		for i := 0; i <= home && i < len(lines); i++ {
			if x := &lines[i]; !x.fixed && s.meets(g, s.best[i]) != (i == home) {
				x.has[code] = (i == home) == x.in
			}
		}
	}
	return lines
}
