package ops

import (
	"strconv"
	"strings"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/lint"
	"github.com/podfate/podfate/policy/manifest"
)

// findTemplates looks for templates in a manifest whose kind is not known, and reports whether
// there are any. Otherwise it completes the fault about the kind; too many are a failure.
func (c *call) findTemplates(fault *policy.FieldError) bool {
	if !manifest.Foreign(c.man.Get("apiVersion").Str()) {
		return false
	}
	c.templates, c.bare = manifest.Templates(c.man)
	if n := len(c.templates); n > policy.MaxTemplates {
		c.failWith(policy.LimitExceeded, "templates: more than "+strconv.Itoa(policy.MaxTemplates)+" in one object")
		c.failure.limit, c.failure.path = "templates", c.templates[n-1].Path
		c.failure.offset = c.place(c.failure.path)
		return false
	}
	if len(c.templates) == 0 {
		fault.Detail += ", and it holds no Pod template"
		if len(c.bare) > 0 {
			fault.Detail += "; " + cut(c.bare[0]) + " is a container without a Pod, which is not read"
		}
	}
	return len(c.templates) > 0
}

// chooseTemplate keeps the template that a request names, or returns those that it may name. What
// was taken for a JobSpec by one of its fields may be read as the Pods of another controller.
func (c *call) chooseTemplate(path string) (paths []string) {
	for i := range c.templates {
		t := &c.templates[i]
		if t.Path == path || path != "" && t.PodPath() == path {
			if t.Path != path {
				*t = manifest.Template{Path: path, Owner: t.Owner}
			}
			c.templates = c.templates[i : i+1]
			return nil
		}
		if paths = append(paths, t.Path); t.PodPath() != "" {
			paths = append(paths, t.PodPath())
		}
	}
	return paths
}

// noSuchTemplate says that the member templatePath names none of the templates.
func (c *call) noSuchTemplate(templates ...string) {
	v := c.root.Get("templatePath")
	fault := policy.FieldError{
		Path: "templatePath", Code: policy.CodeUnsupported, Detail: strconv.Quote(cut(v.Str())) + " is not the path of a template of this manifest",
	}
	for _, t := range templates {
		if t != "" {
			fault.Allowed = append(fault.Allowed, t)
		}
	}
	if len(fault.Allowed) == 0 {
		fault.Detail = "a Pod has no template"
	}
	c.requestFault(v, fault)
}

// admitTemplates reads the templates of a manifest of another kind. The owner's own fields are not
// judged, nor what it does with its Pods; a warning says so.
func (c *call) admitTemplates(f policy.Features, mode fieldValidation, chosen string, named bool) []loaded {
	if named {
		if paths := c.chooseTemplate(chosen); paths != nil {
			c.noSuchTemplate(paths...)
			return nil
		}
	}
	all := make([]loaded, 0, len(c.templates))
	for i := range c.templates {
		all = append(all, c.admitTemplate(&c.templates[i], f, mode))
		if c.failure != nil {
			return nil
		}
	}
	all[0].warnings = append(c.manifestFaults(c.ownerWarnings()), all[0].warnings...)
	return all
}

// admitTemplate reads one template. Which unknown fields the owner lets pass is not known, so that
// they are warnings.
func (c *call) admitTemplate(t *manifest.Template, f policy.Features, mode fieldValidation) loaded {
	l := loaded{template: t}
	checked := manifest.CheckTemplate(c.man, t, f)
	for _, fault := range checked.All {
		switch at := (located{fault.FieldError, c.place(fault.Path), policy.ManifestInvalid}); {
		case !fault.Strict, mode == strict && fault.Code == policy.CodeDuplicateField:
			l.faults = append(l.faults, at)
		case mode != ignore:
			l.warnings = append(l.warnings, at)
		}
	}
	if len(checked.Faults) > 0 {
		return l
	}
	l.object = manifest.ReadTemplate(c.man, t, f.Proposals)
	c.judge(&l, f, entrance{})
	if t.Step != "" {
		l.again = c.retriesOf(t)
	}
	for i := range l.faults { // the API server speaks of the Pod or the Job that the owner makes
		if rest, ok := strings.CutPrefix(l.faults[i].Message, t.Path+"."); ok {
			l.faults[i].Message = rest
			if t.Direct {
				l.faults[i].Message = "spec." + rest
			}
		}
	}
	return l
}

// ownerWarnings says what is not looked at in the manifest.
func (c *call) ownerWarnings() []policy.FieldError {
	kind := cut(c.man.Get("kind").Str())
	list := []policy.FieldError{{
		Path: "kind", Code: lint.OwnerNotPlayed,
		Detail: "the answer is about the Pods that the templates of this " + kind + " describe; the fields of the " + kind +
			" itself are not checked, and what its controller does when a Pod or a Job ends is not simulated",
	}}
	for i := range c.templates {
		t := &c.templates[i]
		policyPath := t.SpecPath() + ".restartPolicy"
		written := c.man.At(policyPath)
		owner := cut(t.Owner)
		switch own := t.RestartPolicy; {
		case own == "":
		case t.RestartPolicyPath != "" && written.Text() != own:
			list = append(list, policy.FieldError{
				Path: t.RestartPolicyPath, Code: lint.OwnerRestartPolicy,
				Detail: "the " + owner + " gives its Pods the restartPolicy " + cut(own) + ", whatever their template says",
			})
		case written.Kind() != manifest.String:
			list = append(list, policy.FieldError{
				Path: policyPath, Code: lint.OwnerRestartPolicy,
				Detail: "a template without restartPolicy gets " + own + " from the " + owner,
			})
		}
	}
	for i := range c.templates {
		if by := c.templates[i].TakenBy; by.Exists() {
			list = append(list, policy.FieldError{
				Path: by.Path(c.man), Code: lint.OwnerNotPlayed,
				Detail: "what has a " + by.Key() + " next to a Pod template is read as the spec of a Job; if the controller makes Pods instead, choose the template " + c.templates[i].PodPath(),
			})
		}
	}
	for i := range c.templates {
		t := &c.templates[i]
		if path := t.Path + "." + t.Step + ".restartPolicyRules"; t.Step != "" && c.man.At(path).Exists() {
			list = append(list, policy.FieldError{
				Path: path, Code: lint.OwnerNotPlayed, Detail: "the rules reach the Pod only if the controller was built with Kubernetes 1.34 or later",
			})
		}
	}
	for _, path := range c.bare {
		list = append(list, policy.FieldError{
			Path: path, Code: lint.NotRead, Detail: "a container outside of a Pod template is not read",
		})
	}
	return list
}

// writeTemplates writes which templates the answer is about, unless the manifest is of a kind that
// Podfate reads itself.
func (c *call) writeTemplates() {
	if len(c.templates) == 0 {
		return
	}
	w := &c.w
	w.KeyArray("templates")
	for i := range c.templates {
		t := &c.templates[i]
		w.Object()
		w.KeyString("path", t.Path)
		w.KeyWord("kind", t.Kind())
		optional(w, "restartPolicy", t.RestartPolicy)
		optional(w, "restartPolicyPath", t.RestartPolicyPath)
		if offset := c.place(t.Path); offset >= 0 {
			c.position(w, offset)
		}
		w.End()
	}
	w.End()
}

// add adds what was found in another template of the same manifest.
func (l *loaded) add(other *loaded) {
	if l.message == "" {
		l.message = other.message
	}
	l.faults = append(l.faults, other.faults...)
	l.warnings = append(l.warnings, other.warnings...)
	l.dropped = append(l.dropped, other.dropped...)
}

// called says in a sentence what the manifest is.
func (l *loaded) called() string {
	if l.template != nil {
		return "the template is one of a " + l.template.Kind()
	}
	return "the manifest is a " + l.object.Kind
}

// What the owner of a Pod with restartPolicy ExitCode makes of one that has failed.
const (
	ownerRetries = "Retry"
	ownerFails   = "Fail"
)

// firstSignal is the least exit code that stands for a signal.
const firstSignal = 128

// noExitCode is what the training operator takes for the exit code of a Pod in which the container
// that it looks at has not terminated.
const noExitCode = 0xbeef

// ownerVerdict is what the owner of another kind makes of a failed Pod; the zero value if the Pod
// goes on, or nobody asks for its exit code.
type ownerVerdict struct {
	action string
	why    string // why the action is not known; "" if it is
	path   string // the place that says so, "" for none
	limit  int64  // how often the owner tries again, 0 without a limit
}

// ownerSays returns what the owner makes of the Pod after exit e, about which the kubelet decided
// d. To restartPolicy ExitCode, a code from
// 128 on stands for a signal, and the Pod is recreated; one below is the program's own failure, and
// the owner fails.
//
// Source: IsRetryableExitCode in pkg/util/train/train_util.go and ReconcilePods in
// pkg/controller.v1/common/pod.go, kubeflow/training-operator v1.7 to v1.9.
func (l *loaded) ownerSays(cl *cluster, e exit, d policy.Decision) (says ownerVerdict) {
	if l.template == nil || l.template.ExitCodeOf == "" && l.again == nil {
		return says
	}
	pod, failed := l.failedBy(cl, e, d)
	if !failed {
		return says
	}
	if l.again != nil {
		return l.again.says(e, -1)
	}
	code := int32(noExitCode)
	for _, x := range pod.Exits {
		if x.Container == l.template.ExitCodeOf {
			code = x.Code
		}
	}
	if code >= firstSignal {
		return ownerVerdict{action: ownerRetries}
	}
	return ownerVerdict{action: ownerFails}
}

// writeOwner writes what the owner makes of a Pod.
func writeOwner(w *manifest.Writer, says ownerVerdict) {
	if says.action == "" && says.why == "" {
		return
	}
	w.KeyObject("owner")
	optional(w, "undecided", says.why)
	optional(w, "action", says.action)
	optional(w, "path", says.path)
	if says.limit > 0 {
		w.KeyInt("limit", says.limit)
	}
	w.End()
}
