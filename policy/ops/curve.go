package ops

import (
	"strconv"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/manifest"
)

// curveRequest is a curve request, with its defaults filled in.
type curveRequest struct {
	parameters policy.CurveParameters
	free       bool // the request sets the back-off, not the cluster
	until      policy.Millis
	windows    []policy.Millis
	outage     policy.Millis // -1: none asked for
}

// curve answers when restarts come:
// {"backoff":{"initial":"10s","factor":2,"max":"300s","reset":"600s"},
// "run":{"for":"10s"},"until":"30m","windows":["5m","30m"],"outage":{"until":"7m"},"model":"kubelet","sweep":"2s"},
// all optional. The back-off of the cluster holds as far as the request sets none.
func (c *call) curve() {
	c.requestMembers(curveMembers...)
	cl := c.readCluster()
	r := c.readCurve(cl)
	if c.failOnFaults() {
		return
	}
	curve := policy.NewCurve(r.parameters)
	w := &c.w
	w.Object()
	c.writeCurveParameters(r)
	writeCurveStarts(w, r, curve)
	writeCurveWindows(w, r, curve)
	writeCurveSteady(w, curve)
	if r.outage >= 0 {
		writeRecovery(w, r.outage, curve.Recover(r.outage))
	}
	c.writeCluster(cl)
	w.End()
}

func (c *call) readCurve(cl cluster) curveRequest {
	r := curveRequest{outage: -1}
	r.parameters = policy.CurveParameters{Backoff: cl.node().kubelet.Backoff(cl.node().features), Factor: 2, Model: c.readModel()}
	r.free = c.readBackoff(c.root.Get("backoff"), &r)
	r.parameters.Sweep = c.readSweep(r.parameters.Model)
	run := c.root.Get("run")
	if run.Exists() && run.Kind() != manifest.Null {
		c.members(run, "run", "for")
		r.parameters.Run = c.length(run.Get("for"), "run.for", 0, 0)
	}
	const minute = 60 * policy.Second
	r.until = c.length(c.root.Get("until"), "until", 30*minute, 0)
	r.windows = c.readWindows(c.root.Get("windows"), []policy.Millis{5 * minute, 30 * minute})
	outage := c.root.Get("outage")
	if outage.Exists() && outage.Kind() != manifest.Null {
		c.members(outage, "outage", "until")
		if !outage.Get("until").Exists() && outage.Kind() == manifest.Object {
			c.requestFault(outage, policy.FieldError{Path: "outage.until", Code: policy.CodeRequired, Detail: "when is what the container needs back?"})
		}
		r.outage = c.length(outage.Get("until"), "outage.until", 0, 0)
	}
	return r
}

func (c *call) readModel() policy.CurveModel {
	v := c.root.Get("model")
	s, ok := c.text(v, "model")
	if !ok {
		return policy.ModelKubelet
	}
	switch m := policy.CurveModel(s); m {
	case policy.ModelKubelet, policy.ModelDocumented:
		return m
	}
	c.requestFault(v, policy.FieldError{
		Path: "model", Code: policy.CodeUnsupported, Detail: strconv.Quote(cut(s)) + " is not a model",
		Allowed: []string{string(policy.ModelKubelet), string(policy.ModelDocumented)},
	})
	return policy.ModelKubelet
}

// readBackoff changes p by the member backoff; free reports that it is there. Nothing exits with a
// code here and nothing has a name.
func (c *call) readBackoff(v manifest.Value, r *curveRequest) (free bool) {
	if !given(v) {
		return false
	}
	c.members(v, "backoff", "preset", "initial", "factor", "max", "reset", "waits", "classes", "counter", "containers")
	for _, name := range []string{"classes", "counter", "containers"} {
		if m := v.Get(name); given(m) {
			c.forbidden(m, "backoff."+name, "a curve has no exit codes and no containers; use simulate or fleet")
		}
	}
	p := &r.parameters
	s := p.Series()
	c.preset = c.readPreset(v, "backoff", &s)
	s = c.readSeries(v, "backoff", s)
	p.Initial, p.Max, p.Factor, p.List = s.Initial, s.Max, s.Factor, s.List
	p.Reset = c.length(v.Get("reset"), "backoff.reset", p.Reset, 1)
	return true
}

// wrongTypeOf is wrongType for a value whose own text says more than its kind.
func (c *call) wrongTypeOf(v manifest.Value, path, want string) {
	c.requestFault(v, policy.FieldError{Path: path, Code: policy.CodeWrongType, Detail: "must be " + want + ", found " + cut(string(v.Raw()))})
}

func (c *call) readSweep(m policy.CurveModel) policy.Millis {
	v := c.root.Get("sweep")
	given := v.Exists() && v.Kind() != manifest.Null
	if m == policy.ModelDocumented {
		if given {
			c.requestFault(v, policy.FieldError{Path: "sweep", Code: policy.CodeForbidden, Detail: "the documented model knows no sweep"})
		}
		return 0
	}
	sweep := c.length(v, "sweep", policy.SweepPeriod, 0)
	if sweep > policy.MaxSweepPeriod {
		c.requestFault(v, policy.FieldError{Path: "sweep", Code: policy.CodeOutOfRange, Detail: "must be at most 60s"})
		return policy.SweepPeriod
	}
	return sweep
}

// length reads a length of time, which is at least least; absent and null mean otherwise.
func (c *call) length(v manifest.Value, path string, otherwise, least policy.Millis) policy.Millis {
	switch v.Kind() {
	case manifest.Invalid, manifest.Null:
		return otherwise
	case manifest.String:
	case manifest.Number:
		c.requestFault(v, policy.FieldError{
			Path: path, Code: policy.CodeWrongType, Detail: "must be a string with a unit, such as \"10s\", found the number " + cut(string(v.Raw())),
		})
		return otherwise
	default:
		c.wrongType(v, path, `a string with a unit, such as "10s"`)
		return otherwise
	}
	m, code, detail := policy.ParseMillis(v.Str())
	switch {
	case code != "":
		c.requestFault(v, policy.FieldError{Path: path, Code: code, Detail: detail + ", found " + strconv.Quote(cut(v.Str()))})
		return otherwise
	case m < least:
		c.requestFault(v, policy.FieldError{Path: path, Code: policy.CodeOutOfRange, Detail: "must be at least " + millisText(least) + ", found " + strconv.Quote(cut(v.Str()))})
		return otherwise
	}
	return m
}

func millisText(m policy.Millis) string { return strconv.FormatInt(int64(m), 10) + "ms" }

// readWindows reads instants in ascending order.
func (c *call) readWindows(v manifest.Value, otherwise []policy.Millis) []policy.Millis {
	switch {
	case !v.Exists() || v.Kind() == manifest.Null:
		return otherwise
	case v.Kind() != manifest.Array:
		c.wrongType(v, "windows", `an array of lengths of time, such as ["5m","30m"]`)
		return nil
	case v.Len() > policy.MaxCurveWindows:
		c.limitAt(v, "windows", "windows", v.Len(), policy.MaxCurveWindows)
		return nil
	}
	windows := make([]policy.Millis, 0, v.Len())
	i := 0
	for e := v.First(); e.Exists(); e = e.Next() {
		path := element("windows", i)
		before := c.faults.n
		if e.Kind() == manifest.Null {
			c.wrongType(e, path, `a string with a unit, such as "10s"`)
		}
		window := c.length(e, path, 0, 1)
		if n := len(windows); c.faults.n == before && n > 0 && window <= windows[n-1] {
			c.requestFault(e, policy.FieldError{Path: path, Code: policy.CodeOutOfRange, Detail: "all windows begin at the first start, so each must be longer than the one before, which ends at " + millisText(windows[n-1])})
		}
		windows = append(windows, window)
		i++
	}
	return windows
}

func (c *call) writeCurveParameters(r curveRequest) {
	w, p := &c.w, r.parameters
	w.KeyString("model", string(p.Model))
	w.KeyObject("backoff")
	waits := p.Series()
	w.KeyInt("initialMillis", int64(waits.First()))
	if len(p.List) == 0 {
		w.KeyInt("factor", p.Factor)
	}
	w.KeyInt("maxMillis", int64(p.Max))
	w.KeyInt("resetMillis", int64(p.Reset))
	if p.Model == policy.ModelKubelet {
		w.KeyInt("sweepMillis", int64(p.Sweep))
	}
	w.Key("from")
	if r.free {
		w.String("request")
	} else {
		w.String("cluster")
	}
	optional(w, "preset", c.preset)
	writeWaitList(w, p.List)
	w.End()
	w.KeyObject("run")
	w.KeyInt("forMillis", int64(p.Run))
	w.End()
	w.KeyArray("assumptions")
	for _, a := range assumptions(p) {
		w.String(a)
	}
	w.End()
}

// assumptions names what a real node does otherwise or what sources do not agree on; the codes are
// stable.
func assumptions(p policy.CurveParameters) []string {
	list := []string{"exits_are_noticed_at_once", "starts_come_when_the_wait_ends", "every_run_lasts_equally_long"}
	if p.Model == policy.ModelDocumented {
		return append(list, "first_restart_waits", "no_sweep")
	}
	if p.Sweep > 0 {
		return append(list, "sweeps_count_from_the_first_start")
	}
	return append(list, "no_sweep")
}

// writeCurveStarts lists the starts until the end of the request, at most the first
// [policy.MaxCurveStarts].
func writeCurveStarts(w *manifest.Writer, r curveRequest, curve *policy.Curve) {
	restarts := curve.Restarts(r.until)
	w.KeyInt("untilMillis", int64(r.until))
	w.KeyInt("restarts", restarts)
	w.KeyArray("starts")
	listed := min(restarts, policy.MaxCurveStarts-1)
	for n := int64(0); n <= listed; n++ {
		start := curve.Restart(n)
		w.Object()
		w.KeyInt("restart", n)
		w.KeyInt("atMillis", int64(start.At))
		if n > 0 {
			w.KeyInt("delayMillis", int64(start.Delay))
			w.KeyString("because", string(start.Because))
		}
		w.End()
	}
	w.End()
	w.KeyInt("startsLeftOut", restarts-listed)
}

func writeCurveWindows(w *manifest.Writer, r curveRequest, curve *policy.Curve) {
	w.KeyArray("windows")
	earlier := int64(0)
	for _, window := range r.windows {
		n := curve.Restarts(window)
		w.Object()
		w.KeyInt("untilMillis", int64(window))
		w.KeyInt("restarts", n)
		w.KeyInt("newRestarts", n-earlier)
		w.End()
		earlier = n
	}
	w.End()
}

// writeCurveSteady writes what goes on forever.
func writeCurveSteady(w *manifest.Writer, curve *policy.Curve) {
	if first, ok := curve.FirstAtMax(); ok {
		w.KeyObject("longestWait")
		w.KeyInt("restart", first.Number)
		w.KeyInt("fromMillis", int64(first.At-first.Delay))
		w.KeyInt("atMillis", int64(first.At))
		w.End()
	}
	const hour = 3600 * policy.Second
	s := curve.Steady()
	w.KeyObject("steady")
	w.KeyInt("fromRestart", s.From.Number)
	w.KeyInt("fromMillis", int64(s.From.At))
	w.KeyInt("periodMillis", int64(s.Period))
	w.KeyInt("restarts", s.Restarts)
	w.KeyInt("restartsPerHourThousandths", s.Restarts*int64(hour)*1000/int64(s.Period))
	w.End()
}

func writeRecovery(w *manifest.Writer, until policy.Millis, r policy.CurveRecovery) {
	w.KeyObject("outage")
	w.KeyInt("untilMillis", int64(until))
	w.KeyInt("restart", r.Back.Number)
	w.KeyInt("backAtMillis", int64(r.Back.At))
	w.KeyInt("lateMillis", int64(r.Late))
	w.KeyInt("bestMillis", int64(r.Best))
	w.KeyInt("gapMillis", int64(r.Gap))
	w.End()
}
