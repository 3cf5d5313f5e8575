package ops

import (
	"strconv"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/manifest"
	"github.com/podfate/podfate/policy/simulate"
)

// oldWaits says that the manifest has waits of its own, which count.
const oldWaits = "manifest_waits_count"

// seriesMembers are those of a series of waits. Nobody writes to them.
var seriesMembers = []string{"initial", "factor", "max", "waits"}

// classNames are those of how a run ended: the classes in order, then what the model has no
// restarts of. Nobody writes to them.
var classNames = []string{"crash", "success", "infrastructure", "imagePull"}

// readWaits reads the member backoff of a request that plays containers; nil if it is absent. What
// it leaves out is as in base, a back-off of the cluster. find says which container has a name; nil
// forbids the member containers.
func (c *call) readWaits(base policy.Backoff, find func(name string) (policy.Ref, bool)) *policy.Waits {
	v := c.root.Get("backoff")
	if !given(v) {
		return nil
	}
	w := kubeletWaits(base)
	c.readWaitsAt(v, "backoff", &w, find)
	return &w
}

// kubeletWaits are the waits of a back-off of the cluster.
func kubeletWaits(b policy.Backoff) policy.Waits {
	return policy.Waits{Series: policy.Series{Initial: b.Initial, Max: b.Max, Factor: 2}, Reset: b.Reset}
}

// readWaitsAt changes w by v, which is at path.
func (c *call) readWaitsAt(v manifest.Value, path string, w *policy.Waits, find func(name string) (policy.Ref, bool)) {
	c.members(v, path, "preset", "initial", "factor", "max", "reset", "waits", "classes", "counter", "containers")
	c.preset = c.readPreset(v, path, &w.Series)
	w.Series = c.readSeries(v, path, w.Series)
	w.Reset = c.length(v.Get("reset"), path+".reset", w.Reset, 1)
	w.Shared = c.choice(v.Get("counter"), path+".counter", "perClass", "shared") == "shared"
	c.each(v.Get("classes"), path+".classes", classNames, func(name, path string, m manifest.Value) {
		for i := range w.Classes {
			if name == classNames[i] {
				s := c.readSeriesAlone(m, path, w.Series)
				w.Classes[i] = &s
				return
			}
		}
		c.readSeriesAlone(m, path, w.Series)
	})
	containers := v.Get("containers")
	if find == nil {
		if given(containers) {
			c.forbidden(containers, path+".containers", "there are no containers with names here")
		}
		return
	}
	c.each(containers, path+".containers", nil, func(name, path string, m manifest.Value) {
		s := c.readSeriesAlone(m, path, w.Series)
		if r, ok := find(name); ok {
			w.Containers = append(w.Containers, policy.ContainerWaits{Container: r, Series: s})
			return
		}
		c.requestFaultAt(m.KeyOffset(), policy.FieldError{
			Path: path, Code: policy.CodeUnknownContainer, Detail: "the Pod has no container " + strconv.Quote(cut(name)),
		})
	})
}

// readJobBackoff reads the waits of a Job before it replaces failed Pods.
func (c *call) readJobBackoff(l *loaded) {
	const path = "jobBackoff"
	v := c.root.Get(path)
	if !given(v) {
		return
	}
	if l.readable && l.object.Job == nil {
		c.forbidden(v, path, "counts only for a Job: only it replaces its Pods after waits")
	}
	c.members(v, path, "initial", "max")
	c.retries = c.readSeries(v, path, simulate.JobRetries())
}

// each calls read with the members of v that are not null, an object at path whose names are among
// allowed; nil allows any.
func (c *call) each(v manifest.Value, path string, allowed []string, read func(name, path string, m manifest.Value)) {
	if !given(v) {
		return
	}
	if allowed != nil {
		c.members(v, path, allowed...)
	}
	if v.Kind() != manifest.Object {
		if allowed == nil {
			c.wrongType(v, path, "an object")
		}
		return
	}
	for m := v.First(); m.Exists(); m = m.Next() {
		if name := m.Key(); given(m) && (allowed == nil || contains(allowed, name)) {
			read(name, child(path, name), m)
		}
	}
}

// readPreset sets s to the preset of v, which is at path, if it has one.
func (c *call) readPreset(v manifest.Value, path string, s *policy.Series) (name string) {
	presets := policy.Presets()
	at := v.Get("preset")
	name, ok := c.text(at, path+".preset")
	if !ok {
		return ""
	}
	names := make([]string, len(presets))
	for i := range presets {
		if names[i] = presets[i].Name; names[i] == name {
			*s = presets[i].Series
			return name
		}
	}
	c.requestFault(at, policy.FieldError{
		Path: path + ".preset", Code: policy.CodeUnsupported, Detail: strconv.Quote(cut(name)) + " is not known", Allowed: names,
	})
	return ""
}

// readSeriesAlone reads a series that is an object of its own, at path.
func (c *call) readSeriesAlone(v manifest.Value, path string, base policy.Series) policy.Series {
	c.members(v, path, seriesMembers...)
	return c.readSeries(v, path, base)
}

// readSeries reads initial, factor, max and waits of v, which is at path. What it leaves out is as
// in base. If only max is given, it lowers initial as the kubelet does; initial and factor take the
// place of a list in base.
func (c *call) readSeries(v manifest.Value, path string, base policy.Series) policy.Series {
	s := base
	before := c.faults.n
	initial, factor, list := v.Get("initial"), v.Get("factor"), v.Get("waits")
	s.Max = c.length(v.Get("max"), path+".max", s.Max, 1)
	s.Initial = c.length(initial, path+".initial", min(s.Initial, s.Max), 1)
	if c.faults.n == before && s.Initial > s.Max {
		c.fault(initial, path+".initial", policy.CodeOutOfRange, "must not be longer than max, "+millisText(s.Max))
	}
	s.Factor = c.readFactor(factor, path+".factor", s.Factor)
	if given(initial) || given(factor) {
		s.List = nil
	}
	if !given(list) {
		return s
	}
	path += ".waits"
	switch {
	case list.Kind() != manifest.Array || list.Len() == 0:
		c.wrongType(list, path, `an array of at least one length of time, such as ["1s","2s","4s"]`)
		return s
	case list.Len() > policy.MaxWaits:
		c.limitAt(list, path, "waits", list.Len(), policy.MaxWaits)
		return s
	case given(initial) || given(factor):
		c.forbidden(list, path, "is in place of initial and factor: give one or the other")
	}
	s.List = make([]policy.Millis, 0, list.Len())
	for e := list.First(); e.Exists(); e = e.Next() {
		at := element(path, len(s.List))
		if e.Kind() == manifest.Null {
			c.wrongType(e, at, `a string with a unit, such as "10s"`)
		}
		s.List = append(s.List, c.length(e, at, 0, 0))
	}
	return s
}

func (c *call) readFactor(v manifest.Value, path string, otherwise int64) int64 {
	if !given(v) {
		return otherwise
	}
	n, ok := v.Int64()
	switch {
	case v.Kind() != manifest.Number || !ok:
		c.wrongTypeOf(v, path, "a whole number")
	case n < 1 || n > policy.MaxCurveFactor:
		c.fault(v, path, policy.CodeOutOfRange, "must be between 1 and 1000, found "+cut(string(v.Raw())))
	default:
		return n
	}
	return otherwise
}

// writeSeries writes the members of a series.
func writeSeries(w *manifest.Writer, s *policy.Series) {
	w.KeyInt("initialMillis", int64(s.First()))
	if len(s.List) == 0 {
		w.KeyInt("factor", s.Factor)
	}
	w.KeyInt("maxMillis", int64(s.Max))
	writeWaitList(w, s.List)
}

// writeWaitList writes the waits that are listed, if they are.
func writeWaitList(w *manifest.Writer, list []policy.Millis) {
	if len(list) == 0 {
		return
	}
	w.KeyArray("waitsMillis")
	for _, m := range list {
		w.Int(int64(m))
	}
	w.End()
}

// writeWaits writes the waits that a simulation was asked to play in place of the cluster's, if it
// was.
func (c *call) writeWaits(s *simulation) {
	w := &c.w
	if waits := c.waits; waits != nil {
		w.KeyObject("backoff")
		optional(w, "preset", c.preset)
		writeSeries(w, &waits.Series)
		s.millis("resetMillis", waits.Reset)
		if waits.Classes != [policy.EndClasses]*policy.Series{} {
			counter := "perClass"
			if waits.Shared {
				counter = "shared"
			}
			s.text("counter", counter)
			w.KeyObject("classes")
			for i, own := range waits.Classes {
				if own != nil {
					w.KeyObject(classNames[i])
					writeSeries(w, own)
					w.End()
				}
			}
			w.End()
		}
		if len(waits.Containers) > 0 {
			w.KeyObject("containers")
			for i := range waits.Containers {
				w.KeyObject(s.l.object.Spec.Container(waits.Containers[i].Container).Name)
				writeSeries(w, &waits.Containers[i].Series)
				w.End()
			}
			w.End()
		}
		w.End()
	}
	if r := c.retries; r.Max > 0 {
		w.KeyObject("jobBackoff")
		writeSeries(w, &r)
		w.End()
	}
}
