package simulate

import "github.com/podfate/podfate/policy"

// MaxRows bounds the rows of an answer that tell of changes; those at its end are bounded likewise.
const MaxRows = 1000

// Row is what kubectl get pods prints of a Pod from an instant on.
type Row struct {
	At  Millis
	Pod int32 // of a Job: its number
	policy.PrintedRow
	Created Millis // below 0 if it is not known
	Gone    bool   // the Pod is not there any more, and nothing else counts
	// RepeatsUntil is the end of rounds that were counted and not played, whose rows are not
	// listed; 0 for none.
	RepeatsUntil Millis
}

// Rows are those of a simulation.
type Rows struct {
	List []Row
	More int // rows of changes that are not in List

	minor  int
	byName []int // main containers in the order of their statuses
	ahead  Millis
}

// newRows returns where the rows of a scenario go, nil if nobody asks for them.
func newRows(sc *Scenario) *Rows {
	if !sc.ShowRows {
		return nil
	}
	mains := sc.Spec.Containers
	r := &Rows{minor: sc.Server.Minor, ahead: -1}
	if r.minor == 0 {
		r.minor = sc.Kubelet.Features.Minor
	}
	r.byName = policy.Order(len(mains), func(a, b int) bool { return mains[a].Name < mains[b].Name })
	return r
}

// add adds a row. One of the same Pod and instant gives way to it: what counts is what is so
// when nothing happens any more.
func (r *Rows) add(row Row) {
	for i := len(r.List) - 1; i >= 0 && r.List[i].At == row.At; i-- {
		if r.List[i].Pod == row.Pod {
			r.List[i] = row
			return
		}
	}
	if len(r.List) >= MaxRows {
		r.More++
		return
	}
	r.List = append(r.List, row)
}

// repeats notes that what follows goes on so until an instant, and is not listed.
func (r *Rows) repeats(until Millis) {
	if r == nil {
		return
	}
	if r.ahead = max(r.ahead, until); len(r.List) > 0 && r.More == 0 {
		r.List[len(r.List)-1].RepeatsUntil = r.ahead
	}
}

// print notes the row of the Pod if it is another one than before. While containers are ahead of
// the clock, their rounds having been counted, there is none that could be told. A Pod that is
// deleted without a grace period is gone although its containers still stop.
//
// Source: BeforeDelete in k8s.io/apiserver, pkg/registry/rest/delete.go, v0.33 to v0.37.
func (k *kubelet) print() {
	if k.report.rows == nil || k.now <= k.report.rows.ahead {
		return
	}
	row := Row{At: k.now, Pod: k.number, Created: k.created}
	over := k.ending.deleted && k.ending.terminated && k.views.api.phase.Terminal()
	if row.Gone = k.ending.finishes && (over || k.ending.forgotten); !row.Gone {
		row.PrintedRow = k.printed()
	}
	if k.report.row.At >= 0 && k.report.row.PrintedRow == row.PrintedRow && k.report.row.Gone == row.Gone {
		return
	}
	k.report.row = row
	k.report.rows.add(row)
}

// printed is the row of the Pod as the API shows it.
func (k *kubelet) printed() policy.PrintedRow {
	p := policy.PrintedPod{
		Phase: k.views.api.phase, Reason: k.views.api.reason, Initialized: k.views.api.initialized && !k.views.api.bare, Ready: k.readyIn(&k.views.api), Deleted: k.ending.deleted,
		SpecInits: k.inits, SpecTotal: k.mains(),
	}
	list := make([]policy.PrintedContainer, 0, len(k.ctrs))
	for i := range k.inits {
		if k.ctrs[i].sidecar {
			p.SpecTotal++
		}
		list = k.printedContainer(list, i)
	}
	inits := len(list)
	for _, i := range k.report.rows.byName {
		list = k.printedContainer(list, k.inits+i)
	}
	p.Inits, p.Mains = list[:inits], list[inits:]
	return p.Row(k.report.rows.minor)
}

func (k *kubelet) printedContainer(list []policy.PrintedContainer, i int) []policy.PrintedContainer {
	c, s := &k.ctrs[i], k.shownStatus(i)
	if !s.listed || k.views.api.bare {
		return list
	}
	x := policy.PrintedContainer{
		Kind: s.state.kind, Reason: s.state.reason, Code: s.state.code, Restarts: s.restarts, LastEnd: -1,
		Sidecar: c.sidecar, Started: s.started, Ready: s.ready,
	}
	if s.last.kind == policy.StateTerminated && s.last.finished != never && s.last.instance != 0 {
		x.LastEnd = wholeSecond(s.last.finished)
	}
	return append(list, x)
}

// lastRows adds how things are at the end of a Pod's simulation.
func (k *kubelet) lastRows() {
	if k.report.rows == nil {
		return
	}
	r := k.report.rows
	k.report.res.Rows = r
	if k.report.row.Gone || k.report.stopped && k.report.res.Exceeded != "" || len(r.List) > 0 && r.List[len(r.List)-1].At == k.now {
		return
	}
	r.List = append(r.List, Row{At: k.now, Created: k.created, PrintedRow: k.printed()})
}

// showGone notes that a deleted Pod of a Job is not there any more, which its finalizer can put
// off.
func (j *job) showGone(p *jobPod) {
	if j.rows != nil && p.Over >= 0 && p.Deleted >= 0 && !p.finalizer && !p.row.Gone {
		p.row = Row{At: j.now, Pod: p.Number, Gone: true}
		j.rows.add(p.row)
	}
}

// lastRows adds the Pods that are there at the end.
func (j *job) lastRows() {
	if j.rows == nil {
		return
	}
	j.res.Rows = j.rows
	n := 0
	for _, p := range j.pods {
		if p.k != nil {
			p.row = p.k.report.row
		}
		if p.row.Gone || p.row.At < 0 {
			continue
		}
		if n++; n > MaxRows {
			j.rows.More++
			continue
		}
		p.row.At, p.row.Created = j.res.Until, p.Created
		j.rows.List = append(j.rows.List, p.row)
	}
}
