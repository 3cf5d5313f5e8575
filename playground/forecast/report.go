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
	// NotModelled are Pods of which nobody knows here what comes next; why, Text says.
	NotModelled []Stuck   `json:"notModelled,omitempty"`
	Left        []JobLeft `json:"jobsLeft"`
	Broken      []Broken  `json:"broken"`
	// BrokenMore is how many more are broken than Broken names.
	BrokenMore int `json:"brokenMore,omitempty"`
	// Starts counts the starts to come in each of 60 equal parts of the time ahead.
	Starts [60]int64 `json:"starts"`

	restarts map[Owner]int64 // of Pods of Jobs that go on
	owners   map[Owner]*OwnerCost
	ofJobs   map[Owner][]Loop // which their Jobs may end
}

// Counts counts Pods by state.
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
	if l.beside {
		return
	}
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

// Broken is an item that was skipped.
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
		restarts: map[Owner]int64{}, owners: map[Owner]*OwnerCost{}, ofJobs: map[Owner][]Loop{},
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
	r.NotModelled = append(r.NotModelled, f.notModelled...)
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
	if f.owner.Kind == "Job" {
		r.ofJobs[f.owner] = append(r.ofJobs[f.owner], f.loops...)
	} else {
		r.count(o, f.loops)
	}
	r.Stuck = append(r.Stuck, f.stuck...)
}

// count adds loops of an owner to what all lead to.
func (r *Report) count(o *OwnerCost, loops []Loop) {
	for i := range loops {
		l := &loops[i]
		o.add(l)
		r.Cost.add(l)
		o.Restarts += l.Restarts
		for _, at := range l.starts {
			r.Starts[min(max(at*60/max(r.AheadMillis, 1), 0), 59)]++
		}
		l.starts = nil
	}
	r.Loops = append(r.Loops, loops...)
}

// end cuts loops of a Job off where one of its limits ends them.
//
// Source: pastBackoffLimitOnFailure and pastActiveDeadline, pkg/controller/job/job_controller.go,
// v1.36: with OnFailure a Job has failed once its Pods have been restarted as often as backoffLimit
// says, and at least once.
func (r *Report) end(loops []Loop, j *JobLeft, restarts int64) {
	by, cut := "", r.AheadMillis
	if j.onFailure {
		var all []int64
		for i := range loops {
			all = append(all, loops[i].starts...)
		}
		slices.Sort(all)
		switch left := max(j.BackoffLimit, 1) - restarts; {
		case left <= 0:
			by, cut = "backoffLimit", 0
		case left <= int64(len(all)) && all[left-1] < cut:
			by, cut = "backoffLimit", all[left-1]
		}
	}
	if j.DeadlineMillis != nil && *j.DeadlineMillis < cut {
		by, cut = "activeDeadlineSeconds", *j.DeadlineMillis
	}
	if j.Ends != "" {
		by, cut = j.Ends, 0
	}
	if by == "" {
		return
	}
	hour := time.Hour.Milliseconds()
	for i := range loops {
		l := &loops[i]
		all := max(len(l.starts), 1)
		l.starts = slices.DeleteFunc(l.starts, func(at int64) bool { return at > cut })
		kept := int64(len(l.starts))
		perRestart := l.RequestsPerHour / max(l.RestartsPerHour, 1)
		l.RestartsPerHour = (kept*hour + r.AheadMillis/2) / r.AheadMillis
		l.RequestsPerHour = l.RestartsPerHour * perRestart
		l.RanMillis = min(l.RanMillis*kept/int64(all), cut)
		l.WaitingMillis = cut - l.RanMillis
		l.EndsBy, l.EndsMillis = by, &cut
		if kept == 0 {
			l.NextStart = ""
		}
	}
}

// finish sorts, and counts restarts towards the limits of Jobs.
func (r *Report) finish() {
	for i := range r.Left {
		j := &r.Left[i]
		owner := Owner{j.Namespace, "Job", j.Name}
		r.end(r.ofJobs[owner], j, r.restarts[owner])
	}
	for owner, loops := range r.ofJobs {
		if len(loops) > 0 {
			r.count(r.owners[owner], loops)
		}
	}
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
	for _, list := range [...][]Stuck{r.Stuck, r.NotModelled} {
		slices.SortStableFunc(list, func(a, b Stuck) int {
			return cmp.Or(cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Pod, b.Pod))
		})
	}
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
