package manifest

import (
	"strings"

	"github.com/podfate/podfate/policy"
)

// typeIndex is a type: a row of typeRows.
type typeIndex uint16

// nameOffset is a name: where it begins in fieldNames. 0 is no name.
type nameOffset uint16

// typeRow is a type that a field, an element of a list or a value of a map has, behind its pointer.
type typeRow struct {
	kind typeKind
	elem uint16     // of a list or map the typeIndex of what it holds, of a struct its number
	name nameOffset // as Go prints it (v1.PodSpec); none for a list that is called after its elements
}

// typeKind says how JSON is read into a type.
type typeKind uint8

const (
	structType typeKind = iota
	sliceType
	mapType // keys are strings
	stringType
	boolType
	int32Type
	int64Type
	intType // 64 bits
	uint32Type
	float64Type
	timeType
	durationType
	durationPointerType // null is absent; for durationType it is an empty text, which is no duration
	quantityType
	intOrStringType
	flushFrequencyType // a duration as text or as number of nanoseconds
	anyType            // kept as it is
)

// fieldRow is a field of a struct under its JSON name.
type fieldRow struct {
	name   nameOffset
	size   uint8 // bytes of the name
	hash   nameHash
	typ    typeIndex
	embed  uint8 // nameOffset of the Go name of the embedded struct that it comes from
	minors uint8 // releases that have it: bit 0 is policy.OldestMinor
}

func (n nameOffset) String() string {
	name := fieldNames[n:]
	return name[:strings.IndexByte(name, '\n')]
}

// text returns the name of field f.
func (f fieldRow) text() string { return fieldNames[f.name:][:f.size] }

// String returns the type as Go prints it: []v1.Container.
func (t typeIndex) String() string {
	row := typeRows[t]
	if row.kind == sliceType && row.name == 0 {
		return "[]" + typeIndex(row.elem).String()
	}
	return row.name.String()
}

// bareName returns the name of a struct without its package: PodSpec.
func (t typeIndex) bareName() string {
	name := t.String()
	return name[strings.IndexByte(name, '.')+1:]
}

// minorBit returns the bit of Kubernetes 1.minor in fieldRow.minors; a release outside the table
// counts as the nearest in it.
func minorBit(minor int) uint8 {
	return 1 << (min(max(minor, policy.OldestMinor), policy.NewestMinor) - policy.OldestMinor)
}

// rows returns the fields of struct type t by the hash of their name, then by name; a field that
// changed between releases has several rows.
func (t typeIndex) rows() []fieldRow {
	n := typeRows[t].elem
	return fieldRows[structStarts[n]:structStarts[n+1]]
}

// field returns the field of struct type t that member m names in the release of bit, nil if there
// is none. others then holds the releases that have it.
//
// Looking fields up is what a check does most: the hashes tell how far into the rows to begin.
func (t typeIndex) field(d *document, m *node, bit uint8) (row *fieldRow, others uint8) {
	rows := t.rows()
	i := len(rows) * int(m.hash) >> 8
	for i < len(rows) && rows[i].hash < m.hash {
		i++
	}
	for i > 0 && rows[i-1].hash >= m.hash {
		i--
	}
	for ; i < len(rows) && rows[i].hash == m.hash; i++ {
		if !d.named(m, rows[i].text()) {
			continue
		}
		if rows[i].minors&bit != 0 {
			return &rows[i], 0
		}
		others |= rows[i].minors
	}
	return nil, others
}

// names returns the names of the fields of struct type t in the release of bit, sorted.
func (t typeIndex) names(bit uint8) []string {
	rows := t.rows()
	var names []string
	for _, i := range policy.Order(len(rows), func(i, j int) bool { return rows[i].text() < rows[j].text() }) {
		if rows[i].minors&bit != 0 {
			names = append(names, rows[i].text())
		}
	}
	return names
}

// nearest returns at most n of names that name could be a misspelling or a part of, the likeliest
// first.
func nearest(names []string, name string, n int) []string {
	// A longer name is like none of them; the number of steps stays small.
	const longest = 64
	if len(name) > longest {
		return nil
	}
	var near []string
	var edits []int
	for _, c := range names {
		if d := EditDistance(name, c); d <= max(len(name), len(c))/2 || containsFold(c, name) {
			near, edits = append(near, c), append(edits, d)
		}
	}
	order := policy.Order(len(near), func(i, j int) bool { return edits[i] < edits[j] })
	var out []string
	for _, i := range order[:min(n, len(order))] {
		out = append(out, near[i])
	}
	return out
}

// EditDistance returns how many bytes must be inserted, deleted or replaced to turn a into b,
// letter case aside.
func EditDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0] // the cell to the upper left
		row[0] = i + 1
		for j := range len(b) {
			cost := before
			if policy.Lower(a[i]) != policy.Lower(b[j]) {
				cost = 1 + min(before, row[j], row[j+1])
			}
			before, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}

func containsFold(s, part string) bool {
	for i := 0; i+len(part) <= len(s); i++ {
		if policy.EqualFold(s[i:i+len(part)], part) {
			return true
		}
	}
	return false
}
