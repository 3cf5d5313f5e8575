package ops

import (
	"strconv"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/manifest"
)

// cluster is what a request says about Kubernetes.
type cluster struct {
	features policy.Features
	kubelet  policy.KubeletConfiguration
	// named tells that the request names the version, so that this version's fallbacks are asked for.
	named bool
	// otherGates are gates of the KubeletConfiguration that change no answer, as far as Podfate knows them: a real file
	// sets many. The answer lists them, so that none is passed over in silence.
	otherGates []string
}

// readCluster reads the member cluster.
func (c *call) readCluster() cluster {
	return c.readClusterAt(c.root.Get("cluster"), "cluster", cluster{features: policy.DefaultFeatures(policy.NewestMinor)})
}

// readClusterAt reads v, which stands at path of the request: version, featureGates, kubeletConfiguration. What it
// leaves out is as in base, but for the gates: those are the defaults of the version.
//
// A gate that Podfate does not know is a fault in featureGates, which are written for Podfate, and most likely a
// mistake. In a KubeletConfiguration, which is written for a kubelet, it is listed.
func (c *call) readClusterAt(v manifest.Value, path string, base cluster) cluster {
	cl := base
	if !given(v) {
		return cl
	}
	c.members(v, path, "version", "featureGates", "kubeletConfiguration")
	minor := base.features.Minor
	if version := v.Get("version"); given(version) {
		minor, cl.named = c.readVersion(version, path+".version", minor)
	}
	kubelet := v.Get("kubeletConfiguration")
	kubeletPath := path + ".kubeletConfiguration"
	if given(kubelet) {
		cl.kubelet = c.readKubelet(kubelet, kubeletPath, minor)
	}
	settings := c.readGates(v.Get("featureGates"), path+".featureGates")
	for _, s := range c.readGates(kubelet.Get("featureGates"), kubeletPath+".featureGates") {
		if policy.IsGate(s.Name) {
			settings = append(settings, s)
		} else if !contains(cl.otherGates, s.Name) {
			cl.otherGates = append(cl.otherGates[:len(cl.otherGates):len(cl.otherGates)], s.Name)
		}
	}
	features, faults := policy.NewFeatures(minor, settings)
	if cl.features = features; len(faults) == 0 {
		faults = cl.kubelet.Validate(features, kubeletPath+".")
	}
	for _, f := range faults {
		c.clusterFault(c.root.Locate(f.Path), f)
	}
	return cl
}

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
			Detail: strconv.Quote(cut(s)) + " is not a modelled version of Kubernetes; modelled are " +
				policy.VersionName(policy.OldestMinor) + " to " + policy.VersionName(policy.NewestMinor),
		})
		return otherwise, false
	}
	return minor, true
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
func (c *call) readKubelet(v manifest.Value, path string, minor int) (k policy.KubeletConfiguration) {
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
	for _, f := range append(checked.Faults, checked.Strict...) {
		known = known || f.Path == "crashLoopBackOff.maxContainerRestartPeriod"
		f.Path = child(path, f.Path)
		c.clusterFault(c.root.Locate(f.Path), f)
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

// writeCluster writes what was assumed about the cluster, so that no default is silent.
func (c *call) writeCluster(cl cluster) {
	c.writeTemplates()
	c.w.Key("cluster")
	c.w.Object()
	c.w.Key("version")
	c.w.Word(policy.VersionName(cl.features.Minor))
	c.w.Key("featureGates")
	c.w.Object()
	gates := policy.Gates()
	for i := range gates {
		g := &gates[i]
		if _, known := g.In(cl.features.Minor); known {
			c.w.Key(g.Name)
			c.w.Bool(cl.features.Enabled(g.Name))
		}
	}
	c.w.End()
	if len(cl.otherGates) > 0 {
		c.w.Key("otherGates")
		c.w.Array()
		for _, name := range cl.otherGates {
			c.w.String(name)
		}
		c.w.End()
	}
	c.w.End()
}
