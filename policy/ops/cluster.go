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

// readCluster reads the member cluster: version (default: the newest), featureGates, kubeletConfiguration.
func (c *call) readCluster() cluster {
	v := c.root.Get("cluster")
	cl := cluster{features: policy.DefaultFeatures(policy.NewestMinor)}
	if !v.Exists() || v.Kind() == manifest.Null {
		return cl
	}
	c.members(v, "cluster", "version", "featureGates", "kubeletConfiguration")
	minor := policy.NewestMinor
	if version := v.Get("version"); version.Exists() && version.Kind() != manifest.Null {
		minor, cl.named = c.readVersion(version)
	}
	kubelet := v.Get("kubeletConfiguration")
	cl.kubelet = c.readKubelet(kubelet, minor)
	settings := c.readGates(v.Get("featureGates"), "cluster.featureGates")
	for _, s := range c.readGates(kubelet.Get("featureGates"), kubeletPath+".featureGates") {
		if policy.IsGate(s.Name) {
			settings = append(settings, s)
		} else {
			cl.otherGates = append(cl.otherGates, s.Name)
		}
	}
	features, faults := policy.NewFeatures(minor, settings)
	for _, f := range faults {
		c.clusterFault(c.root.Locate(f.Path), f)
	}
	cl.features = features
	if len(faults) == 0 {
		for _, f := range cl.kubelet.Validate(features, kubeletPath+".") {
			c.clusterFault(c.root.Locate(f.Path), f)
		}
	}
	return cl
}

func (c *call) readVersion(v manifest.Value) (minor int, ok bool) {
	const path = "cluster.version"
	if v.Kind() == manifest.Number { // 1.30 would be read as 1.3
		c.clusterFault(v, policy.FieldError{
			Path: path, Code: policy.CodeWrongType, Allowed: policy.Versions(),
			Detail: "must be a string, found a number; write it in quotes: " + strconv.Quote(cut(string(v.Raw()))),
		})
		return policy.NewestMinor, false
	}
	s, isText := c.text(v, path)
	if !isText {
		return policy.NewestMinor, false
	}
	if minor, ok = policy.ParseVersion(s); !ok {
		c.clusterFault(v, policy.FieldError{
			Path: path, Code: policy.CodeUnknownVersion, Allowed: policy.Versions(),
			Detail: strconv.Quote(cut(s)) + " is not a modelled version of Kubernetes; modelled are " +
				policy.VersionName(policy.OldestMinor) + " to " + policy.VersionName(policy.NewestMinor),
		})
		return policy.NewestMinor, false
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

const kubeletPath = "cluster.kubeletConfiguration"

// readKubelet reads a KubeletConfiguration and checks its shape. Its feature gates are read apart.
func (c *call) readKubelet(v manifest.Value, minor int) (k policy.KubeletConfiguration) {
	if !v.Exists() || v.Kind() == manifest.Null {
		return k
	}
	if v.Kind() != manifest.Object {
		c.wrongType(v, kubeletPath, "an object")
		return k
	}
	checked := manifest.CheckFields(v, "KubeletConfiguration", minor)
	known := false
	period := v.Get("crashLoopBackOff").Get("maxContainerRestartPeriod")
	for _, f := range append(checked.Faults, checked.Strict...) {
		known = known || f.Path == "crashLoopBackOff.maxContainerRestartPeriod"
		f.Path = child(kubeletPath, f.Path)
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
