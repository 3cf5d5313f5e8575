package policy

import "strconv"

// PrintedPod is what the row of a Pod in the output of kubectl get pods is made from. The API
// server makes the row from the object that it stores, so what counts is its release, and neither
// kubectl's nor the kubelet's.
type PrintedPod struct {
	Phase  PodPhase
	Reason string // status.reason, "" for none

	Gated       bool // a condition PodScheduled has the reason SchedulingGated
	Initialized bool // the first condition Initialized is True
	Ready       bool // a condition Ready is True
	Deleted     bool // deletionTimestamp is set

	SpecInits int // init containers of the spec, sidecars included
	SpecTotal int // main containers and sidecars of the spec

	Inits, Mains []PrintedContainer // in the order of their statuses
}

// PrintedContainer is the status of one container.
type PrintedContainer struct {
	Kind         StateKind
	Reason       string // of the state if it waits or has terminated
	Code, Signal int32  // of a state that has terminated
	Restarts     int64
	LastEnd      Millis // finishedAt of the end in lastState, below 0 if there is none
	Sidecar      bool   // by the spec; of an init container
	Started      bool
	Ready        bool
}

// PrintedRow is a row of kubectl get pods without NAME and AGE.
type PrintedRow struct {
	Ready, Total int
	Status       string
	Restarts     int64
	LastEnd      Millis // from which "ago" counts, below 0 if nothing is printed of it
}

// Row returns what an API server of release 1.minor prints about p.
//
// Source: printPod in pkg/printers/internalversion/printers.go, Kubernetes v1.33 to v1.37.
func (p *PrintedPod) Row(minor int) PrintedRow {
	r := PrintedRow{Total: p.SpecTotal, Status: string(p.Phase), LastEnd: -1}
	if p.Reason != "" {
		r.Status = p.Reason
	}
	if p.Gated {
		r.Status = "SchedulingGated"
	}
	sidecars := PrintedRow{LastEnd: -1} // what they alone have of restarts
	initializing := false
	for i := range p.Inits {
		c := &p.Inits[i]
		r.count(c)
		if c.Sidecar {
			sidecars.count(c)
		}
		if c.Kind == StateTerminated && c.Code == 0 {
			continue
		}
		if c.Sidecar && c.Started {
			if c.Ready {
				r.Ready++
			}
			continue
		}
		switch {
		case c.Kind == StateTerminated:
			r.Status = "Init:" + c.ended()
		case c.Kind == StateWaiting && c.Reason != "" && c.Reason != "PodInitializing":
			r.Status = "Init:" + c.Reason
		default:
			r.Status = "Init:" + strconv.Itoa(i) + "/" + strconv.Itoa(p.SpecInits)
		}
		initializing = true
		break
	}
	if !initializing || p.Initialized {
		r.Restarts, r.LastEnd = sidecars.Restarts, sidecars.LastEnd
		p.printMains(&r, minor)
	}
	if p.Deleted {
		switch {
		case p.Reason == "NodeLost":
			r.Status = "Unknown"
		case !p.Phase.Terminal():
			r.Status = "Terminating"
		}
	}
	if r.Restarts == 0 {
		r.LastEnd = -1
	}
	return r
}

// oldestErrorPrinted is the first minor in which a failed container outdoes one that completed.
const oldestErrorPrinted = 35

func (p *PrintedPod) printMains(r *PrintedRow, minor int) {
	running, failed := false, ""
	for i := len(p.Mains) - 1; i >= 0; i-- {
		c := &p.Mains[i]
		r.count(c)
		switch {
		case c.Kind == StateWaiting && c.Reason != "":
			r.Status = c.Reason
		case c.Kind == StateTerminated:
			r.Status = c.ended()
			if c.Code != 0 && minor >= oldestErrorPrinted {
				failed = r.Status
			}
		case c.Kind == StateRunning && c.Ready:
			running = true
			r.Ready++
		}
	}
	if r.Status != "Completed" {
		return
	}
	switch {
	case running && p.Ready:
		r.Status = "Running"
	case failed != "":
		r.Status = failed
	case running:
		r.Status = "NotReady"
	}
}

// count adds the restarts of a container.
func (r *PrintedRow) count(c *PrintedContainer) {
	r.Restarts += c.Restarts
	r.LastEnd = max(r.LastEnd, c.LastEnd)
}

// ended is how a container that has terminated is printed.
func (c *PrintedContainer) ended() string {
	switch {
	case c.Reason != "":
		return c.Reason
	case c.Signal != 0:
		return "Signal:" + strconv.Itoa(int(c.Signal))
	}
	return "ExitCode:" + strconv.Itoa(int(c.Code))
}
