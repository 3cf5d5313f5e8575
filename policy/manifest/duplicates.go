package manifest

import (
	"github.com/podfate/podfate/policy"
)

// Duplicate is a member whose name occurred before in the same object.
type Duplicate struct {
	Key    string // the name
	Path   string // of the member, from the value on which Duplicates was called
	First  int    // offset of the name where it occurs first
	Second int    // offset of the name where it occurs again
}

// Duplicates returns the members of v, and of everything below it, whose name occurred before in
// the same object, in document order. A name that occurs three times is there twice, each time with
// the first place. The list ends after policy.MaxFaults + 1 entries, one more than a caller
// reports. What is below without is left out; the zero Value leaves out nothing.
func (v Value) Duplicates(without Value) []Duplicate {
	var found []Duplicate
	if v.doc == nil || !v.doc.clash {
		return nil
	}
	v.eachRepeat(without, func(r repeat) bool {
		found = append(found, Duplicate{r.member.Key(), r.member.Path(v), r.first.KeyOffset(), r.member.KeyOffset()})
		return len(found) <= policy.MaxFaults
	})
	return found
}

// eachRepeat calls yield for each repeat below v in document order, until yield returns false. It
// does not look into without.
func (v Value) eachRepeat(without Value, yield func(repeat) bool) bool {
	repeats := v.repeats()
	for child := v.First(); child.Exists(); child = child.Next() {
		if len(repeats) > 0 && repeats[0].member == child {
			if !yield(repeats[0]) {
				return false
			}
			repeats = repeats[1:]
		}
		if child.Len() > 0 && child != without && !child.eachRepeat(without, yield) {
			return false
		}
	}
	return true
}

// repeat is a member and the first member of the same name in the same object. again reports that
// there is another between them.
type repeat struct {
	member, first Value
	again         bool
}

// fewMembers is the size of an object up to which comparing each two names is cheaper than sorting
// them.
const fewMembers = 16

// repeats returns the members of object v whose name occurred before in it, in document order; nil
// for anything that is not an object. Names are compared after decoding, so that "\u0061" repeats
// "a".
func (v Value) repeats() []repeat {
	switch {
	case v.node().flags&clashes == 0:
		return nil
	case v.Len() <= fewMembers:
		return v.repeatsOfFew()
	}
	// Sorted, not put into a map: the module's hash seed is known to everyone, so that names could
	// be made to collide.
	type named struct {
		name   string
		member Value
		first  int // where the first member of the same name is among all
		again  bool
	}
	all := make([]named, 0, v.Len())
	for m := v.First(); m.Exists(); m = m.Next() {
		all = append(all, named{name: m.Key(), member: m})
	}
	order := policy.Order(len(all), func(i, j int) bool { return all[i].name < all[j].name })
	for i, n := range order {
		all[n].first = n
		if i > 0 && all[n].name == all[order[i-1]].name {
			before := order[i-1]
			all[n].first, all[n].again = all[before].first, all[before].first != before
		}
	}
	var found []repeat
	for i, n := range all {
		if n.first != i {
			found = append(found, repeat{n.member, all[n.first].member, n.again})
		}
	}
	return found
}

func (v Value) repeatsOfFew() []repeat {
	var found []repeat
	var seen uint64 // one bit for each name so far: without a clash there is nothing to compare
	for m := v.First(); m.Exists(); m = m.Next() {
		bit := m.node().hash.bit()
		if seen&bit == 0 {
			seen |= bit
			continue
		}
		for first := v.First(); first != m; first = first.Next() {
			if first.Key() == m.Key() {
				again := repeated(found, first)
				found = append(found, repeat{m, first, again})
				break
			}
		}
	}
	return found
}

// repeated reports whether one of found repeats first.
func repeated(found []repeat, first Value) bool {
	for _, r := range found {
		if r.first == first {
			return true
		}
	}
	return false
}
