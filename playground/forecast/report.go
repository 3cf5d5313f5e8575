package forecast

import (
	"cmp"
	"slices"
	"time"
)

// Report is what a cluster will do next. Lists are sorted, the worst first.
type Report struct {
	Now                string `json:"now"`
	AheadMillis        int64  `json:"aheadMillis"`
	RequestsPerRestart int64  `json:"requestsPerRestart"`

	Pods   Counts `json:"pods"`
	Jobs   int    `json:"jobs"`
	Others int    `json:"others"` // objects of other kinds, which are passed over
	// Newest is the newest time in any status: long before Now the statuses are from a file, and
	// old.
	Newest string `json:"newest,omitempty"`

	Cost   Cost        `json:"cost"`
	Owners []OwnerCost `json:"owners"`
	Loops  []Loop      `json:"loops"`
	Stuck  []Stuck     `json:"stuck"`
	Left   []JobLeft   `json:"jobsLeft"`
	Broken []Broken    `json:"broken"`
	// BrokenMore is how many more are broken than Broken names.
	BrokenMore int `json:"brokenMore,omitempty"`
	// Starts counts the starts to come in each of 60 equal parts of the time ahead.
	Starts [60]int64 `json:"starts"`

	restarts map[Owner]int64 // of Pods of Jobs that go on
	owners   map[Owner]*OwnerCost
}

// Counts counts Pods by what becomes of them.
type Counts struct {
	All         int `json:"all"`
	Fine        int `json:"fine"`
	Looping     int `json:"looping"`
	Stuck       int `json:"stuck"`
	Pending     int `json:"pending"` // have not started yet, or start now
	Finished    int `json:"finished"`
	Terminating int `json:"terminating"`
	Unknown     int `json:"unknown"` // what comes next is not modelled
}

// Cost is what loops cost in the time ahead.
type Cost struct {
	RestartsPerHour int64 `json:"restartsPerHour"`
	RequestsPerHour int64 `json:"requestsPerHour"`
	RanMillis       int64 `json:"ranMillis"`
	WaitingMillis   int64 `json:"waitingMillis"`
}

func (c *Cost) add(l *Loop) {
	c.RestartsPerHour += l.RestartsPerHour
	c.RequestsPerHour += l.RequestsPerHour
	c.RanMillis += l.RanMillis
	c.WaitingMillis += l.WaitingMillis
}

// OwnerCost is the same for the Pods of one owner.
type OwnerCost struct {
	Owner
	Cost
	Pods     int   `json:"pods"` // in a loop
	Stuck    int   `json:"stuck"`
	Restarts int64 `json:"restarts"` // so far
}

// Broken is an item that was passed over.
type Broken struct {
	Source string `json:"source"`
	Number int    `json:"number"` // in its text, from 1
	Line   int    `json:"line"`
	Name   string `json:"name,omitempty"`
	Why    string `json:"why"`
}

func newReport(o Options) *Report {
	return &Report{
		Now: o.Now.UTC().Format(time.RFC3339), AheadMillis: o.Ahead.Milliseconds(), RequestsPerRestart: o.RequestsPerRestart,
		Owners: []OwnerCost{}, Loops: []Loop{}, Stuck: []Stuck{}, Left: []JobLeft{}, Broken: []Broken{},
		restarts: map[Owner]int64{}, owners: map[Owner]*OwnerCost{},
	}
}

// add adds an object in the order of the texts.
func (r *Report) add(it *item) {
	f := &it.found
	switch {
	case it.broken != "":
		if len(r.Broken) == maxBroken {
			r.BrokenMore++
			return
		}
		name := f.name
		if name != "" && f.namespace != "" {
			name = f.namespace + "/" + name
		}
		r.Broken = append(r.Broken, Broken{it.source, it.number, it.line, name, it.broken})
	case f.kind == "Job":
		r.Jobs++
		if f.job != nil {
			r.Left = append(r.Left, *f.job)
		}
	case f.kind == "Pod":
		r.pod(f)
	default:
		r.Others++
	}
}

func (r *Report) pod(f *finding) {
	r.Pods.All++
	r.Newest = max(r.Newest, f.newest)
	switch f.state {
	case fine:
		r.Pods.Fine++
	case finished:
		r.Pods.Finished++
	case looping:
		r.Pods.Looping++
	case down:
		r.Pods.Stuck++
	case pending:
		r.Pods.Pending++
	case terminating:
		r.Pods.Terminating++
	case unknown:
		r.Pods.Unknown++
	}
	if f.owner.Kind == "Job" && f.state != finished {
		r.restarts[f.owner] += f.restarts
	}
	if len(f.loops)+len(f.stuck) == 0 {
		return
	}
	o := r.owners[f.owner]
	if o == nil {
		o = &OwnerCost{Owner: f.owner}
		r.owners[f.owner] = o
	}
	if len(f.loops) > 0 {
		o.Pods++
	} else {
		o.Stuck++
	}
	for i := range f.loops {
		l := &f.loops[i]
		o.add(l)
		r.Cost.add(l)
		o.Restarts += l.Restarts
		for _, at := range l.starts {
			r.Starts[min(max(at*60/max(r.AheadMillis, 1), 0), 59)]++
		}
		l.starts = nil
	}
	r.Loops = append(r.Loops, f.loops...)
	r.Stuck = append(r.Stuck, f.stuck...)
}

// finish sorts, and counts restarts towards the limits of Jobs.
func (r *Report) finish() {
	for _, o := range r.owners {
		r.Owners = append(r.Owners, *o)
	}
	slices.SortFunc(r.Owners, func(a, b OwnerCost) int {
		return cmp.Or(-cmp.Compare(a.RestartsPerHour, b.RestartsPerHour), -cmp.Compare(a.Pods+a.Stuck, b.Pods+b.Stuck), compareOwners(a.Owner, b.Owner))
	})
	slices.SortStableFunc(r.Loops, func(a, b Loop) int {
		return cmp.Or(-cmp.Compare(a.RestartsPerHour, b.RestartsPerHour), -cmp.Compare(a.Restarts, b.Restarts),
			cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Pod, b.Pod), cmp.Compare(a.Container, b.Container))
	})
	slices.SortStableFunc(r.Stuck, func(a, b Stuck) int {
		return cmp.Or(cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Pod, b.Pod))
	})
	for i := range r.Left {
		j := &r.Left[i]
		if j.onFailure {
			j.Failed += r.restarts[Owner{j.Namespace, "Job", j.Name}]
		}
		j.Left = max(j.BackoffLimit-j.Failed, 0)
	}
	slices.SortStableFunc(r.Left, func(a, b JobLeft) int {
		return cmp.Or(cmp.Compare(a.Left, b.Left), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
}

func compareOwners(a, b Owner) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
}
