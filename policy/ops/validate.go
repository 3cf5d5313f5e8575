package ops

import (
	"strings"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/admission"
	"github.com/podfate/podfate/policy/lint"
	"github.com/podfate/podfate/policy/manifest"
)

// validate answers whether the API server would accept the manifest. Faults of the manifest are the
// answer, not an error; faults of the request around it are.
//
// Beside what every request has it reads old, the manifest that this one replaces, and static:
// true, a file that a kubelet reads. A KubeletConfiguration without a manifest is judged by itself.
func (c *call) validate() {
	c.requestMembers(validateMembers...)
	cl := c.readCluster()
	if path := c.kubeletAlone(); path != "" {
		c.readFieldValidation() // there are no fields to judge by it, and still it is one of its words
		c.validateKubelet(cl, path)
		return
	}
	a, f := c.readAdmission(cl.features), cl.features
	if a.static {
		f = cl.node().features
	}
	all := c.admit(f, a)
	if c.failOnFaults() {
		return
	}
	found := loaded{warnings: c.skew(&cl)} // of all templates together
	var panics []located
	readable := true
	for i := range all {
		l := &all[i]
		readable = readable && l.readable
		if n := len(l.faults) - 1; l.panics() {
			panics, l.faults = append(panics, l.faults[n]), l.faults[:n]
		}
		if l.readable {
			l.warnings = append(l.warnings, c.manifestFaults(c.draftSpellings(&l.object, f.Proposals))...)
			l.warnings = append(l.warnings, c.manifestFaults(lint.Warnings(&l.object, f, cl.node().features, a.static))...)
		}
		found.add(l)
	}
	w := &c.w
	w.Object()
	w.KeyBool("valid", len(found.faults)+len(panics) == 0)
	optional(w, "message", found.message)
	w.Key("faults")
	c.writeFaults(w, found.faults, 0)
	if len(panics) > 0 {
		w.KeyArray("undecided")
		for _, f := range panics {
			w.Object()
			w.KeyWord("reason", string(policy.CodePanics))
			w.KeyString("path", f.Path)
			w.KeyWord("detail", f.Detail)
			if f.offset >= 0 {
				c.position(w, f.offset)
			}
			w.End()
		}
		w.End()
	}
	c.writeDropped(found.dropped)
	c.writeWarnings(found.warnings)
	if readable && len(panics) == 0 {
		var looked manifest.Looked
		if len(c.templates) > 0 {
			looked = manifest.HowFarTemplates(c.man, c.templates, f.Minor)
		} else {
			looked = manifest.HowFar(c.man, all[0].object.Kind, f.Minor, a.old != nil)
		}
		c.writePaths("checked", looked.Checked)
		c.writePaths("notChecked", looked.NotChecked)
	}
	c.writeCluster(cl)
	w.End()
}

// writePaths writes a list of paths and, if there were more, how many.
func (c *call) writePaths(name string, paths manifest.Paths) {
	w := &c.w
	w.KeyArray(name)
	for _, path := range paths.List {
		w.String(path)
	}
	w.End()
	if paths.More > 0 {
		w.KeyInt(name+"More", int64(paths.More))
	}
}

// panics reports whether the API server gets no further than the last fault.
func (l *loaded) panics() bool {
	n := len(l.faults)
	return n > 0 && l.faults[n-1].Code == policy.CodePanics
}

// kubeletAlone returns the path of a KubeletConfiguration that is asked about by itself, "" if
// there is a manifest or what belongs to one.
func (c *call) kubeletAlone() string {
	for _, name := range []string{"manifest", "old", "static", "templatePath"} {
		if given(c.root.Get(name)) {
			return ""
		}
	}
	for _, path := range []string{"cluster.kubeletConfiguration", "cluster.kubelet.kubeletConfiguration"} {
		if given(c.root.At(path)) {
			return path
		}
	}
	return ""
}

// validateKubelet answers whether a kubelet would start with the configuration at path. Only its
// own faults are the answer.
func (c *call) validateKubelet(cl cluster, path string) {
	for _, f := range c.faults.kept {
		if !strings.HasPrefix(f.Path, path) {
			c.failOnFaults()
			return
		}
	}
	if c.failure != nil {
		return
	}
	c.w.Object()
	c.w.KeyBool("valid", c.faults.n == 0)
	c.w.Key("faults")
	c.writeFaults(&c.w, inOrder(c.faults.kept), c.faults.n-len(c.faults.kept))
	c.writeDropped(nil)
	c.writeWarnings(nil)
	c.writeCluster(cl)
	c.w.End()
}

func (c *call) readAdmission(f policy.Features) (a entrance) {
	a.whole = true
	switch v := c.root.Get("static"); v.Kind() {
	case manifest.Invalid, manifest.Null:
	case manifest.Bool:
		a.static = v.Bool()
	default:
		c.wrongType(v, "static", "true or false")
	}
	old := c.root.Get("old")
	if !old.Exists() || old.Kind() == manifest.Null {
		return a
	}
	if a.static {
		c.requestFault(old, policy.FieldError{
			Path: "old", Code: policy.CodeForbidden, Detail: "a static Pod is not updated: the kubelet deletes the old one and starts the new one",
		})
		return a
	}
	a.old = c.readOld(old, f)
	return a
}

// readOld reads the manifest that is replaced. Only what stops decoding is a fault: it was accepted
// once.
func (c *call) readOld(v manifest.Value, f policy.Features) *policy.Object {
	if v.Kind() != manifest.Object {
		c.wrongType(v, "old", "an object")
		return nil
	}
	if size := v.End() - v.Offset(); size > policy.MaxManifestBytes {
		c.limitAt(v, "old", "manifestBytes", size, policy.MaxManifestBytes)
		return nil
	}
	kind, fault := kindOf(v)
	if fault != nil {
		fault.Path = child("old", fault.Path)
		c.requestFault(c.root.Locate(fault.Path), *fault)
		return nil
	}
	if name := c.man.Get("kind"); name.Kind() == manifest.String && name.Str() != kind.Kind {
		c.requestFault(v.Get("kind"), policy.FieldError{
			Path: "old.kind", Code: policy.CodeUnsupported, Detail: "must be the kind of the manifest", Allowed: []string{cut(name.Str())},
		})
		return nil
	}
	if faults := manifest.CheckProposed(v, kind.Kind, f).Faults; len(faults) > 0 {
		for _, f := range faults {
			f.Path = child("old", f.Path)
			c.requestFault(c.root.Locate(f.Path), f)
		}
		return nil
	}
	o := manifest.ReadProposed(v, kind.Kind, kind.Template, f.Proposals)
	admission.SetDefaults(&o, f)
	if !c.withinLimits(&o, v, "old") {
		return nil
	}
	return &o
}

// spelling is a member that people write because a proposal or a page on the web has it.
type spelling struct {
	names  []string
	code   policy.FaultCode
	detail string
	source string
}

// spellingsOf returns what is often written wrongly in an object of a manifest, by the place of
// that object.
func spellingsOf(place string) []spelling {
	limit := spelling{
		[]string{"restartLimit", "maxRestarts", "maxRestartTimes", "restartTimes"}, lint.NoRestartLimit,
		"Kubernetes does not limit restarts: the kubelet restarts forever, after a growing wait", "KEP-3322, not merged",
	}
	switch place {
	case "rule":
		return []spelling{{
			[]string{"when", "onExit", "onExitCodes"}, lint.DraftSpelling,
			"a draft of the proposal; the field is exitCodes, directly in the rule", "KEP-5307; api/core/v1/types.go, v1.36",
		}}
	case "container":
		return []spelling{limit, {
			[]string{"restartRules", "restartPolicyRule"}, lint.DraftSpelling, "the field is restartPolicyRules", "KEP-5307; api/core/v1/types.go, v1.36",
		}}
	}
	return []spelling{limit, {
		[]string{"restartPolicyRules", "restartRules"}, lint.DraftSpelling,
		"rules belong to a container: containers[].restartPolicyRules", "KEP-5307; api/core/v1/types.go, v1.36",
	}}
}

// draftSpellings warns about members that the decoder only calls unknown.
func (c *call) draftSpellings(o *policy.Object, p policy.Proposals) []policy.FieldError {
	var found policy.Faults
	path := strings.TrimSuffix(o.SpecPath, ".")
	spec := c.man.At(path)
	if !spec.Exists() {
		return nil
	}
	look := func(v manifest.Value, place string) {
		for _, s := range spellingsOf(place) {
			for _, name := range s.names {
				if m := v.Get(name); m.Exists() && !(name == "maxRestartTimes" && p.Has(policy.KEP3322)) {
					found.Add(policy.FieldError{Path: m.Path(c.man), Code: s.code, Detail: s.detail, Source: s.source})
				}
			}
		}
	}
	look(spec, "pod")
	for _, kind := range []policy.ContainerKind{policy.InitContainer, policy.MainContainer} {
		for container := spec.Get(kind.Field()).First(); container.Exists(); container = container.Next() {
			look(container, "container")
			for rule := container.Get("restartPolicyRules").First(); rule.Exists(); rule = rule.Next() {
				if when := rule.Get("when"); !p.Has(policy.KEP5307Future) || !when.Exists() || when.Get("exitCodes").Exists() {
					look(rule, "rule") // other conditions have no other spelling
				}
			}
		}
	}
	return found.All()
}
