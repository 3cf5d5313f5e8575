package ops

import (
	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/fleet"
	"github.com/podfate/podfate/policy/manifest"
	"github.com/podfate/podfate/policy/simulate"
)

// describe answers {} or {"module":{"sha256":"…","bytes":N}}, which it repeats; see the package
// comment.
func (c *call) describe() {
	c.requestMembers(describeMembers...)
	module := c.readModule(c.root.Get("module"))
	if c.failOnFaults() {
		return
	}
	w := &c.w
	w.Object()
	w.KeyWord("product", "podfate")
	w.KeyWord("abi", ABIVersion)
	w.KeyWord("schema", SchemaVersion)
	w.KeyArray("versions")
	for _, v := range policy.Versions() {
		w.Word(v)
	}
	w.End()
	w.KeyWord("defaultVersion", policy.VersionName(policy.DefaultMinor))
	c.describeGates()
	c.describeProposals()
	c.describeKinds()
	c.describeOperations()
	c.describeLimits()
	c.describePresets()
	if module.sha256 != "" {
		w.KeyObject("module")
		w.KeyWord("sha256", module.sha256)
		w.KeyInt("bytes", module.bytes)
		w.End()
	}
	w.End()
}

// module is what the host says it loaded.
type module struct {
	sha256 string // 64 lower-case hexadecimal digits
	bytes  int64
}

func (c *call) readModule(v manifest.Value) (m module) {
	if !v.Exists() || v.Kind() == manifest.Null {
		return m
	}
	c.members(v, "module", "sha256", "bytes")
	if v.Kind() != manifest.Object {
		return m
	}
	member := func(name string) manifest.Value {
		if m := v.Get(name); m.Exists() {
			return m
		}
		return v
	}
	sha := v.Get("sha256").Text()
	if !isDigest(sha) {
		c.fault(member("sha256"), "module.sha256", policy.CodeBadFormat, "must be a string of 64 lower-case hexadecimal digits")
	}
	bytes, ok := v.Get("bytes").Int64()
	if !ok || bytes < 0 {
		c.fault(member("bytes"), "module.bytes", policy.CodeWrongType, "must be the size of the module in bytes")
	}
	return module{sha, bytes}
}

func isDigest(s string) bool {
	if len(s) != 64 {
		return false
	}
	for i := range len(s) {
		if c := s[i]; !(c >= '0' && c <= '9' || c >= 'a' && c <= 'f') {
			return false
		}
	}
	return true
}

func (c *call) describeGates() {
	w := &c.w
	w.KeyArray("gates")
	for _, g := range policy.Gates() {
		w.Object()
		w.KeyWord("name", g.Name)
		w.KeyArray("versions")
		for minor := policy.OldestMinor; minor <= policy.NewestMinor; minor++ {
			r, known := g.In(minor)
			if !known {
				continue
			}
			w.Object()
			w.KeyWord("version", policy.VersionName(minor))
			w.KeyBool("default", r.Default)
			w.KeyWord("stage", string(r.Stage))
			w.KeyBool("locked", r.Locked)
			w.End()
		}
		w.End()
		w.KeyArray("dependsOn")
		for _, name := range g.DependsOn {
			w.Word(name)
		}
		w.End()
		w.End()
	}
	w.End()
}

func (c *call) describeProposals() {
	w := &c.w
	list := func(name string, words []string) {
		w.KeyArray(name)
		for _, word := range words {
			w.String(word)
		}
		w.End()
	}
	w.KeyArray("proposals")
	for x, p := range policy.ProposalList() {
		w.Object()
		w.KeyWord("name", p.Name)
		w.KeyWord("source", p.Source)
		w.KeyWord("state", p.State)
		list("words", policy.ProposalID(x).Words())
		var gates []string
		if p.Gate != "" {
			gates = []string{p.Gate}
		}
		list("gates", gates)
		w.KeyArray("options")
		for _, o := range p.Options {
			w.Object()
			w.KeyWord("name", o.Name)
			list("values", o.Values)
			w.KeyWord("default", o.Values[0])
			w.KeyWord("disagreement", o.Disagreement)
			w.End()
		}
		w.End()
		w.End()
	}
	w.End()
}

func (c *call) describeKinds() {
	w := &c.w
	w.KeyArray("kinds")
	for _, k := range manifest.Kinds() {
		w.Object()
		w.KeyWord("apiVersion", k.APIVersion)
		w.KeyWord("kind", k.Kind)
		w.End()
	}
	w.End()
}

func (c *call) describeOperations() {
	w := &c.w
	w.KeyArray("operations")
	for _, op := range table {
		w.Object()
		w.KeyInt("number", int64(op.Number))
		w.KeyWord("name", op.Name)
		w.KeyWord("summary", op.Summary)
		w.End()
	}
	w.End()
}

// describeLimits lists each limit under the name that a LIMIT_EXCEEDED error uses.
func (c *call) describeLimits() {
	w := &c.w
	w.KeyObject("limits")
	for _, l := range []struct {
		name string
		most int64
	}{
		{"requestBytes", policy.MaxRequestBytes},
		{"manifestBytes", policy.MaxManifestBytes},
		{"depth", policy.MaxDepth},
		{"members", policy.MaxMembers},
		{"templates", policy.MaxTemplates},
		{"variants", policy.MaxVariants},
		{"differences", policy.MaxDifferences},
		{"containers", policy.MaxContainers},
		{"rules", policy.MaxRules},
		{"values", policy.MaxValues},
		{"exits", policy.MaxExits},
		{"callbacks", policy.MaxCallbacks},
		{"wishes", policy.MaxWishes},
		{"windows", policy.MaxCurveWindows},
		{"waits", policy.MaxWaits},
		{"fleetGroups", maxFleetGroups},
		{"fleetPods", fleet.MaxPods},
		{"fleetManifests", maxFleetManifests},
		{"fleetSteps", fleet.MaxSteps},
		{"batchRecords", policy.MaxBatchRecords},
		{"conditions", policy.MaxConditions},
		{"patterns", policy.MaxPatterns},
		{"pods", policy.MaxPods},
		{"handles", policy.MaxHandles},
		{"handleBytes", policy.MaxHandleBytes},
		{"buffers", policy.MaxBuffers},
		{"bufferBytes", policy.MaxBufferBytes},
		{"outputBytes", policy.MaxOutputBytes},
		{"faults", policy.MaxFaults},
		{"paths", policy.MaxListedPaths},
		{"steps", policy.MaxSteps},
		{"runs", simulate.MaxRuns},
		{"events", simulate.MaxEvents},
		{simulate.LimitTimeline, simulate.MaxRecords},
		{simulate.LimitSteps, simulate.MaxSteps},
		{simulate.LimitJobPods, simulate.MaxJobPods},
		{simulate.LimitActivePods, simulate.MaxActivePods},
		{simulate.LimitJobContainers, simulate.MaxJobContainers},
	} {
		w.KeyInt(l.name, l.most)
	}
	w.End()
}

// describePresets lists the waits that the member backoff knows by name.
func (c *call) describePresets() {
	w := &c.w
	w.KeyArray("backoffPresets")
	presets := policy.Presets()
	for i := range presets {
		p := &presets[i]
		w.Object()
		w.KeyWord("name", p.Name)
		writeSeries(w, &p.Series)
		w.KeyWord("source", p.Source)
		w.KeyWord("confidence", p.Confidence)
		w.End()
	}
	w.End()
}
