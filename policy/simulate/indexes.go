package simulate

import (
	"strconv"
	"strings"
)

// Indexes is a set of completion indexes. The zero value is empty.
type Indexes struct {
	runs []span // ascending, with a gap between neighbours
	n    int64  // indexes in them
}

// span is a run of indexes, both ends included.
type span struct{ first, last int32 }

// Len returns the number of indexes.
func (s *Indexes) Len() int64 { return s.n }

// Add adds index i, which is not below 0.
func (s *Indexes) Add(i int32) { s.add(i) }

// at returns the first run that does not end before i.
func (s *Indexes) at(i int32) int {
	low, high := 0, len(s.runs)
	for low < high {
		if m := (low + high) / 2; s.runs[m].last >= i {
			high = m
		} else {
			low = m + 1
		}
	}
	return low
}

func (s *Indexes) has(i int32) bool {
	n := s.at(i)
	return n < len(s.runs) && s.runs[n].first <= i
}

func (s *Indexes) add(i int32) {
	n := s.at(i)
	if n < len(s.runs) && s.runs[n].first <= i {
		return
	}
	s.n++
	joins := n > 0 && s.runs[n-1].last == i-1
	switch {
	case n < len(s.runs) && s.runs[n].first == i+1:
		s.runs[n].first = i
		if joins {
			s.runs[n-1].last = s.runs[n].last
			s.runs = append(s.runs[:n], s.runs[n+1:]...)
		}
	case joins:
		s.runs[n-1].last = i
	default:
		s.insert(n, span{i, i})
	}
}

func (s *Indexes) insert(n int, r span) {
	s.runs = append(s.runs, span{})
	copy(s.runs[n+1:], s.runs[n:])
	s.runs[n] = r
}

func (s *Indexes) remove(i int32) {
	n := s.at(i)
	if n == len(s.runs) || s.runs[n].first > i {
		return
	}
	s.n--
	switch r := &s.runs[n]; {
	case r.first == r.last:
		s.runs = append(s.runs[:n], s.runs[n+1:]...)
	case r.first == i:
		r.first++
	case r.last == i:
		r.last--
	default:
		rest := span{i + 1, r.last}
		r.last = i - 1
		s.insert(n+1, rest)
	}
}

// String writes the set as Kubernetes does: 0,2,3,5-9.
//
// Source: orderedIntervals.String in pkg/controller/job/indexed_job_utils.go, Kubernetes v1.33 to
// v1.37.
func (s *Indexes) String() string {
	var b []byte
	for _, r := range s.runs {
		if len(b) > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(r.first), 10)
		if r.last > r.first {
			separator := byte('-')
			if r.last == r.first+1 {
				separator = ','
			}
			b = strconv.AppendInt(append(b, separator), int64(r.last), 10)
		}
	}
	return string(b)
}

// parseIndexes reads a list of a success policy that the API server has accepted, as far as it lies
// below completions.
//
// Source: parseIndexesFromString in pkg/controller/job/indexed_job_utils.go, Kubernetes v1.33 to
// v1.37.
func parseIndexes(list string, completions int32) (s Indexes) {
	for list != "" {
		var part string
		part, list, _ = strings.Cut(list, ",")
		from, to, isRange := strings.Cut(part, "-")
		first, err := strconv.Atoi(from)
		if err != nil || first >= int(completions) {
			break
		}
		last := first
		if isRange {
			if last, err = strconv.Atoi(to); err != nil {
				continue
			}
		}
		r := span{int32(first), int32(min(last, int(completions)-1))}
		s.n += int64(r.last-r.first) + 1
		if n := len(s.runs); n > 0 && s.runs[n-1].last == r.first-1 {
			s.runs[n-1].last = r.last
		} else {
			s.runs = append(s.runs, r)
		}
	}
	return s
}

// common counts the indexes that are in both.
func (s *Indexes) common(t *Indexes) (n int64) {
	for i, j := 0, 0; i < len(s.runs) && j < len(t.runs); {
		a, b := s.runs[i], t.runs[j]
		n += max(0, int64(min(a.last, b.last)-max(a.first, b.first))+1)
		if a.last < b.last {
			i++
		} else {
			j++
		}
	}
	return n
}
