package ops

import (
	"strconv"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/lint"
	"github.com/podfate/podfate/policy/manifest"
)

// cluster is what a request says about Kubernetes: the API server with the controllers and, if
// another one is asked for, the node.
type cluster struct {
	features policy.Features
	kubelet  policy.KubeletConfiguration
	// named reports that the request names the version, so that this version's fallbacks are asked
	// for.
	named bool
	// otherGates are gates of the KubeletConfiguration that change no answer, as far as Podfate
	// knows them: a real file sets many. The answer lists them, so that none is skipped in
	// silence.
	otherGates []string
	// skewed is the node if the request has one of its own, nil if it is like the API server.
	skewed *cluster
}

// node is the cluster as the kubelet sees it, which decides what happens to containers.
func (cl *cluster) node() *cluster {
	if cl.skewed != nil {
		return cl.skewed
	}
	return cl
}

// declared are the members of a cluster or a node as they are in a request.
type declared struct {
	minor int
	named bool
	gates []policy.GateSetting
	// Of the KubeletConfiguration, which is at path.
	given       bool
	path        string
	kubelet     policy.KubeletConfiguration
	kubeletGate []policy.GateSetting
	otherGates  []string
	proposals   policy.Proposals
}

// readCluster reads the member cluster. With a member kubelet in it a KubeletConfiguration next to
// that counts for the node alone, gates included; what the member leaves out is as in the cluster,
// except that the node's release does not know each gate that is set there.
func (c *call) readCluster() cluster {
	cl := c.readClusters()
	c.node = cl.node().features.Proposals
	return cl
}

func (c *call) readClusters() cluster {
	v := c.root.Get("cluster")
	cl := cluster{features: policy.DefaultFeatures(policy.DefaultMinor)}
	if !given(v) {
		return cl
	}
	c.members(v, "cluster", "version", "featureGates", "kubeletConfiguration", "kubelet", "proposals")
	d := c.readDeclared(v, "cluster", &cl)
	own := v.Get("kubelet")
	if !given(own) {
		c.use(&cl, &d)
		return cl
	}
	const path = "cluster.kubelet"
	c.members(own, path, "version", "featureGates", "kubeletConfiguration", "proposals")
	cl.features.Minor, cl.named, cl.features.Proposals = d.minor, d.named, d.proposals
	n := c.readDeclared(own, path, &cl)
	if !n.given {
		n.given, n.path, n.kubelet, n.kubeletGate, n.otherGates = d.given, d.path, d.kubelet, d.kubeletGate, d.otherGates
	}
	n.inherit(d.gates)
	cl.skewed = &cluster{}
	c.use(&cl, &declared{minor: d.minor, named: d.named, gates: d.gates, proposals: d.proposals})
	c.use(cl.skewed, &n)
	return cl
}

// readOther reads v, which is at path of the request: the kubelet that base becomes. What it
// leaves out is as in base, except for the gates: those are the defaults of the version.
func (c *call) readOther(v manifest.Value, path string, base *cluster) cluster {
	c.members(v, path, "version", "featureGates", "kubeletConfiguration", "proposals")
	cl := cluster{kubelet: base.kubelet, otherGates: base.otherGates}
	d := c.readDeclared(v, path, base)
	if !d.given {
		d.kubelet = base.kubelet
	}
	d.otherGates = append(base.otherGates[:len(base.otherGates):len(base.otherGates)], d.otherGates...)
	c.use(&cl, &d)
	return cl
}

// readDeclared reads version, featureGates, kubeletConfiguration and proposals of v, which is
// at path; version and proposals that it leaves out are those of base.
//
// A gate that Podfate does not know is a fault in featureGates, which are written for Podfate, and
// most likely a mistake. In a KubeletConfiguration, which is written for a kubelet, it is listed.
func (c *call) readDeclared(v manifest.Value, path string, base *cluster) declared {
	d := declared{minor: base.features.Minor, named: base.named, path: path + ".kubeletConfiguration", proposals: base.features.Proposals}
	if version := v.Get("version"); given(version) {
		d.minor, d.named = c.readVersion(version, path+".version", d.minor)
	}
	if p := v.Get("proposals"); given(p) {
		d.proposals = c.readProposals(p, path+".proposals")
	}
	kubelet := v.Get("kubeletConfiguration")
	if d.given = given(kubelet); d.given {
		d.kubelet = c.readKubelet(kubelet, d.path, d.minor, d.proposals)
	}
	d.gates = d.draftGates(c.readGates(v.Get("featureGates"), path+".featureGates"))
	for _, s := range d.draftGates(c.readGates(kubelet.Get("featureGates"), d.path+".featureGates")) {
		if _, proposed := policy.ProposalGate(s.Name); proposed || policy.IsGate(s.Name) {
			d.kubeletGate = append(d.kubeletGate, s)
		} else if !contains(d.otherGates, s.Name) {
			d.otherGates = append(d.otherGates, s.Name)
		}
	}
	return d
}

// draftGates returns list as releases call its gates, without the one of a proposal.
func (d *declared) draftGates(list []policy.GateSetting) (kept []policy.GateSetting) {
	if d.proposals == 0 {
		return list
	}
	for _, s := range list {
		if d.proposals.Has(policy.KEP4603Draft) {
			s.Name = policy.DraftGate(s.Name)
		}
		x, own := policy.ProposalGate(s.Name)
		switch {
		case !own || !d.proposals.Has(x):
			kept = append(kept, s)
		case !s.Enabled:
			d.proposals = d.proposals.WithGateOff(x)
		}
	}
	return kept
}

// inherit adds the gates of the API server that d does not set itself, as far as its release lets
// them be set.
func (d *declared) inherit(gates []policy.GateSetting) {
	own := append(d.gates[:len(d.gates):len(d.gates)], d.kubeletGate...)
	for _, s := range gates {
		set := false
		for _, o := range own {
			set = set || o.Name == s.Name
		}
		if !set && policy.CanSet(s, d.minor) {
			d.gates = append(d.gates, s)
		}
	}
}

// use makes cl what d says, and reports what keeps it from being that.
func (c *call) use(cl *cluster, d *declared) {
	cl.named, cl.kubelet, cl.otherGates = d.named, d.kubelet, d.otherGates
	features, faults := policy.NewFeatures(d.minor, append(d.gates[:len(d.gates):len(d.gates)], d.kubeletGate...))
	features.Proposals = d.proposals
	if cl.features = features; len(faults) == 0 {
		faults = cl.kubelet.Validate(features, d.path+".")
	}
	for _, f := range faults {
		c.clusterFault(c.root.Locate(f.Path), f)
	}
}

// skew warns of a kubelet that Kubernetes does not support with this API server. It is no fault:
// objects outlive upgrades, so that what an older API server has stored meets a newer kubelet, and
// no component looks at the other's version.
//
// Source: https://kubernetes.io/releases/version-skew-policy/#kubelet.
func (c *call) skew(cl *cluster) []located {
	if cl.skewed == nil {
		return nil
	}
	server, node := cl.features.Minor, cl.skewed.features.Minor
	detail := "the API server is " + policy.VersionName(server) + ": Kubernetes supports no kubelet that is "
	switch {
	case node > server:
		detail += "newer"
	case server-node > maxSkew:
		detail += "more than three releases older"
	default:
		return nil
	}
	const path = "cluster.kubelet.version"
	return []located{{policy.FieldError{
		Path: path, Code: lint.VersionSkew, Detail: detail, Source: "https://kubernetes.io/releases/version-skew-policy/",
	}, placeOf(c.root.Locate(path), c.root), policy.EventInvalid}}
}

// maxSkew is how many releases a kubelet may be older than its API server.
const maxSkew = 3

// readVersion returns the minor number of a version, otherwise with a fault.
func (c *call) readVersion(v manifest.Value, path string, otherwise int) (minor int, ok bool) {
	if v.Kind() == manifest.Number { // 1.30 would be read as 1.3
		c.clusterFault(v, policy.FieldError{
			Path: path, Code: policy.CodeWrongType, Allowed: policy.Versions(),
			Detail: "must be a string, found a number; write it in quotes: " + strconv.Quote(cut(string(v.Raw()))),
		})
		return otherwise, false
	}
	s, isText := c.text(v, path)
	if !isText {
		return otherwise, false
	}
	if minor, ok = policy.ParseVersion(s); !ok {
		c.clusterFault(v, policy.FieldError{
			Path: path, Code: policy.CodeUnknownVersion, Allowed: policy.Versions(),
			Detail: strconv.Quote(cut(s)) + " is not a modelled version of Kubernetes; the modelled ones are " +
				policy.VersionName(policy.OldestMinor) + " to " + policy.VersionName(policy.NewestMinor),
		})
		return otherwise, false
	}
	return minor, true
}

// readProposals reads which proposals there are, and how they are read: {"always-pod": {"sandbox":
// "recreate"}}. As everywhere null is as good as nothing.
func (c *call) readProposals(v manifest.Value, path string) (p policy.Proposals) {
	if v.Kind() != manifest.Object {
		c.wrongType(v, path, "an object with an object for each proposal, such as {}")
		return p
	}
	list := policy.ProposalList()
	for m := v.First(); m.Exists(); m = m.Next() {
		at, found, option := m.Path(c.root), -1, policy.ProposalOption(0)
		names := make([]string, len(list))
		for i := range list {
			if names[i] = list[i].Name; names[i] == m.Key() {
				found = i
			} else if found < 0 {
				option += policy.ProposalOption(len(list[i].Options))
			}
		}
		if found < 0 {
			c.faults.add(located{policy.FieldError{
				Path: at, Code: policy.CodeUnsupported, Detail: strconv.Quote(cut(m.Key())) + " is not a proposal", Allowed: names,
			}, m.KeyOffset(), policy.UnsupportedVersion})
			continue
		}
		if m.Kind() == manifest.Null {
			continue
		}
		p = p.With(policy.ProposalID(found))
		options := list[found].Options
		names = make([]string, len(options))
		for i := range options {
			names[i] = options[i].Name
			s := c.choice(m.Get(names[i]), at+"."+names[i], options[i].Values...)
			for n, value := range options[i].Values {
				if value == s && given(m.Get(names[i])) {
					p = p.WithReading(option+policy.ProposalOption(i), n)
				}
			}
		}
		c.members(m, at, names...)
	}
	return p
}

// writeProposals writes which proposals count, and all that they leave open.
func (c *call) writeProposals(p policy.Proposals) {
	if p == 0 {
		return
	}
	w := &c.w
	w.KeyObject("proposals")
	option := policy.ProposalOption(0)
	for x, proposal := range policy.ProposalList() {
		on := p.Has(policy.ProposalID(x))
		if on {
			w.KeyObject(proposal.Name)
		}
		for _, o := range proposal.Options {
			if on {
				w.KeyWord(o.Name, o.Values[p.Reading(option)])
			}
			option++
		}
		if on {
			w.End()
		}
	}
	w.End()
}

func (c *call) readGates(v manifest.Value, path string) []policy.GateSetting {
	if !v.Exists() || v.Kind() == manifest.Null {
		return nil
	}
	if v.Kind() != manifest.Object {
		c.wrongType(v, path, "an object of booleans")
		return nil
	}
	var settings []policy.GateSetting
	for g := v.First(); g.Exists(); g = g.Next() {
		if g.Kind() != manifest.Bool {
			c.wrongType(g, g.Path(c.root), "true or false")
			continue
		}
		settings = append(settings, policy.GateSetting{Name: cut(g.Key()), Enabled: g.Bool(), Path: g.Path(c.root)})
	}
	return settings
}

// readKubelet reads a KubeletConfiguration and checks its shape. Its feature gates are read apart.
func (c *call) readKubelet(v manifest.Value, path string, minor int, p policy.Proposals) (k policy.KubeletConfiguration) {
	if !v.Exists() || v.Kind() == manifest.Null {
		return k
	}
	if v.Kind() != manifest.Object {
		c.wrongType(v, path, "an object")
		return k
	}
	checked := manifest.CheckFields(v, "KubeletConfiguration", minor)
	known := false
	period := v.Get("crashLoopBackOff").Get("maxContainerRestartPeriod")
	draft := p.Has(policy.KEP4603Draft) && !period.Exists() && v.Get("crashloopbackoff").Kind() == manifest.Object
	for _, f := range append(checked.Faults, checked.Strict...) {
		if draft && f.Path == "crashloopbackoff" {
			continue
		}
		known = known || f.Path == "crashLoopBackOff.maxContainerRestartPeriod"
		if f.Path == "crashloopbackoff" && !p.Has(policy.KEP4603Draft) {
			f.Proposal = policy.KEP4603Draft.Name()
		}
		f.Path = child(path, f.Path)
		c.clusterFault(c.root.Locate(f.Path), f)
	}
	for _, n := range [...]struct {
		name string
		to   **int64
	}{{"maxPods", &k.MaxPods}, {"kubeAPIQPS", &k.KubeAPIQPS}, {"kubeAPIBurst", &k.KubeAPIBurst}} {
		if i, ok := v.Get(n.name).Int64(); ok {
			*n.to = &i
		}
	}
	if draft {
		k.MaxContainerRestartPeriod = c.readDraftPeriod(v.Get("crashloopbackoff"), child(path, "crashloopbackoff"))
	}
	if period.Kind() != manifest.String || known {
		return k
	}
	d, message := policy.ParseDuration(period.Str())
	if message != "" {
		c.clusterFault(period, policy.FieldError{
			Path: period.Path(c.root), Code: policy.CodeBadFormat, Message: message,
			Detail: `must be a length of time with units h, m, s, ms, such as "100s"`,
		})
		return k
	}
	k.MaxContainerRestartPeriod = &d
	return k
}

// readDraftPeriod reads what drafts call the longest wait of a node: whole seconds, under
// one of two names.
func (c *call) readDraftPeriod(v manifest.Value, path string) *policy.Duration {
	before := c.faults.n
	c.members(v, path, "maxSeconds", "maxContainerRestartPeriod")
	name := "maxSeconds"
	if other := v.Get("maxContainerRestartPeriod"); given(other) {
		if given(v.Get(name)) {
			c.forbidden(other, child(path, "maxContainerRestartPeriod"), "maxSeconds says it already")
		}
		name = "maxContainerRestartPeriod"
	}
	n, ok := c.integer(v.Get(name), child(path, name), 1, int64(policy.MaxContainerRestartPeriod/policy.Second))
	if !ok || c.faults.n != before {
		return nil
	}
	d, _ := policy.ParseDuration(strconv.FormatInt(n, 10) + "s")
	return &d
}

// writeCluster writes what was assumed about the cluster, so that no default is silent.
func (c *call) writeCluster(cl cluster) {
	c.writeTemplates()
	c.w.KeyObject("cluster")
	c.writeRelease(&cl)
	if cl.skewed != nil {
		c.w.KeyObject("kubelet")
		c.writeRelease(cl.skewed)
		c.w.End()
	}
	c.w.End()
}

func (c *call) writeRelease(cl *cluster) {
	c.w.KeyWord("version", policy.VersionName(cl.features.Minor))
	c.w.KeyObject("featureGates")
	gates := policy.Gates()
	for i := range gates {
		g := &gates[i]
		if _, known := g.In(cl.features.Minor); known {
			c.w.KeyBool(g.Name, cl.features.Enabled(g.Name))
		}
	}
	for x, p := range policy.ProposalList() {
		if id := policy.ProposalID(x); p.Gate != "" && cl.features.Proposals.Has(id) {
			c.w.KeyBool(p.Gate, !cl.features.Proposals.GateIsOff(id))
		}
	}
	c.w.End()
	if len(cl.otherGates) > 0 {
		c.w.KeyArray("otherGates")
		for _, name := range cl.otherGates {
			c.w.String(name)
		}
		c.w.End()
	}
	c.writeProposals(cl.features.Proposals)
}
