package manifest

import (
	"strconv"
	"strings"

	"github.com/podfate/podfate/policy"
)

// Template is a Pod template or a Job template in an object of a kind that Podfate does not read
// itself: a JobSet, a RayCluster, a Rollout. What the owner's controller does with its Pods is not
// modelled, except for the fields here, which it sets before the API server sees a Pod or a Job.
type Template struct {
	Path string // from the owner's root: spec.replicatedJobs[0].template
	Job  bool   // of a Job; otherwise of a Pod
	// TakenBy is the field by which a JobSpec was told whose place has no name of one; absent
	// otherwise.
	TakenBy Value
	// Direct reports that a JobSpec is at Path itself, without metadata and spec around it.
	Direct bool
	// Whole reports that what is at Path is a manifest with a kind of its own, Job or Pod.
	Whole bool
	// Owner is the kind of the object that the template is in, which is not the outermost one where
	// a manifest holds manifests.
	Owner string

	// RestartPolicy is what the owner sets, "" if it leaves the template as it is. If
	// RestartPolicyPath is not "", a field of the owner at that path replaces whatever the template
	// says; otherwise only a template without a policy gets it.
	RestartPolicy, RestartPolicyPath string
	// ContainerName is what a main container without a name is called, with a number after it if
	// there are several; "" if nobody names it.
	ContainerName string
	// ExitCodeOf is the container by whose exit code the owner decides whether a failed Pod is made
	// again, since its restartPolicy is ExitCode; "" if it does not.
	ExitCodeOf string
	// Indexed reports that a Job without completionMode becomes an Indexed one.
	Indexed bool
	// Step is the member of an Argo template that is its main container, "container" or "script":
	// the Pod is made of the template itself. "" for a Pod template.
	Step string
}

// Kind returns what the template makes: "Job" or "Pod".
func (t *Template) Kind() string {
	if t.Job {
		return "Job"
	}
	return "Pod"
}

// SpecPath returns the path of the Pod's spec, without a dot at its end.
func (t *Template) SpecPath() string {
	switch {
	case t.Job:
		return t.podTemplate() + ".spec"
	case t.Step != "":
		return t.Path
	}
	return t.Path + ".spec"
}

// podTemplate returns the path of the PodTemplateSpec in the template of a Job.
func (t *Template) podTemplate() string {
	if t.Direct {
		return t.Path + ".template"
	}
	return t.Path + ".spec.template"
}

// ownerRow is a place of a template that its name does not give away, or into which the owner puts
// something.
type ownerRow struct {
	group, kind string // kind "" is every kind of the group
	// path has a name for each member, * for any member and # for any element.
	path          string
	job, indexed  bool
	direct        bool   // a JobSpec
	restartPolicy string // the default
	beside        bool   // a field restartPolicy next to the template replaces it
	container     string
	exitCodeOf    string // the container that restartPolicy ExitCode is about
}

// owners is never written to. Sources: (*jobSetWebhook).Default in kubernetes-sigs/jobset v0.10.1,
// pkg/webhooks/jobset_webhook.go; setRestartPolicy in kubeflow/training-operator v1.9.0,
// pkg/controller.v1, and mpi-operator v0.6.0, pkg/controller/mpi_job_controller.go, with the
// defaults of pkg/apis/kubeflow.org/v1 and v2beta1; DefaultUserContainerName in knative.dev/serving
// v0.45.0 (Knative 1.18), pkg/apis/config/defaults.go; generateJobs in kedacore/keda,
// pkg/scaling/executor/scale_jobs.go; the types of the other projects.
var owners = []ownerRow{
	{group: "jobset.x-k8s.io", kind: "JobSet", path: "spec.replicatedJobs.#.template", job: true, indexed: true, restartPolicy: "OnFailure"},
	{group: "trainer.kubeflow.org", path: "spec.template.spec.replicatedJobs.#.template", job: true, indexed: true, restartPolicy: "OnFailure"},
	{group: "kubeflow.org", path: "spec.template.spec.replicatedJobs.#.template", job: true, indexed: true, restartPolicy: "OnFailure"},
	{group: "kubeflow.org", kind: "PyTorchJob", path: "spec.pytorchReplicaSpecs.*.template", beside: true, restartPolicy: "OnFailure", exitCodeOf: "pytorch"},
	{group: "kubeflow.org", kind: "TFJob", path: "spec.tfReplicaSpecs.*.template", beside: true, restartPolicy: "Never", exitCodeOf: "tensorflow"},
	{group: "kubeflow.org", kind: "MPIJob", path: "spec.mpiReplicaSpecs.*.template", beside: true, restartPolicy: "Never"},
	{group: "kubeflow.org", kind: "XGBoostJob", path: "spec.xgbReplicaSpecs.*.template", beside: true, restartPolicy: "Never", exitCodeOf: "xgboost"},
	{group: "kubeflow.org", kind: "PaddleJob", path: "spec.paddleReplicaSpecs.*.template", beside: true, restartPolicy: "OnFailure", exitCodeOf: "paddle"},
	{group: "kubeflow.org", kind: "JAXJob", path: "spec.jaxReplicaSpecs.*.template", beside: true, restartPolicy: "Never", exitCodeOf: "jax"},
	{group: "serving.knative.dev", kind: "Service", path: "spec.template", container: "user-container"},
	{group: "serving.knative.dev", kind: "Configuration", path: "spec.template", container: "user-container"},
	{group: "leaderworkerset.x-k8s.io", kind: "LeaderWorkerSet", path: "spec.leaderWorkerTemplate.leaderTemplate"},
	{group: "leaderworkerset.x-k8s.io", kind: "LeaderWorkerSet", path: "spec.leaderWorkerTemplate.workerTemplate"},
	{group: "ray.io", kind: "RayJob", path: "spec.submitterPodTemplate"},
	{group: "apps.kruise.io", kind: "AdvancedCronJob", path: "spec.template.jobTemplate", job: true},
	{group: "keda.sh", kind: "ScaledJob", path: "spec.jobTargetRef", job: true, direct: true, restartPolicy: "OnFailure"},
	{group: "argoproj.io", path: "spec.metrics.#.provider.job", job: true},
	{group: "sinks.knative.dev", kind: "JobSink", path: "spec.job", job: true},
	{group: "machinelearning.seldon.io", kind: "SeldonDeployment", path: "spec.predictors.#.componentSpecs.#"},
}

// Foreign reports whether apiVersion is of an API group whose kinds Podfate does not know: it may
// be that of anything that makes Pods. The groups of Kubernetes itself that have or had workloads
// are known as a whole.
func Foreign(apiVersion string) bool {
	group, _, grouped := strings.Cut(apiVersion, "/")
	switch group {
	case "", "apps", "batch", "extensions", "kubelet.config.k8s.io", "podfate.dev":
		return false
	}
	return grouped
}

// finder looks for templates.
type finder struct {
	root  Value
	names []string // on the way to the value looked at; "#" for an element
	owner

	templates []Template
	bare      []string
}

// owner is the innermost object with an apiVersion and a kind around the value looked at: a
// Template of OpenShift, an AppWrapper and a ManifestWork hold whole manifests.
type owner struct {
	group, kind string
	base        int  // how many names lead to it from the root
	patched     bool // an Argo Workflow that says something about all its templates elsewhere, see step
}

// Templates returns the templates in v, an object of a foreign kind (see [Foreign]), in document
// order, at most policy.MaxTemplates and one more. A template is an object where a table has one
// or, under a name such as template, podTemplate or workerTemplate, an object whose spec has
// containers, all of them with names. It is that of a Job if its name or its fields are those of a
// Job (see isJob). Whole manifests of Jobs and Pods inside of v count as well, and in those of
// other kinds it goes on.
//
// bare are the paths of containers outside of templates, of which another controller makes Pods in
// its own way (the steps of an Argo Workflow); at most policy.MaxTemplates. metadata and status are
// skipped.
func Templates(v Value) (templates []Template, bare []string) {
	if v.Kind() != Object {
		return nil, nil
	}
	f := finder{root: v}
	f.enter(v, 0)
	f.members(v)
	return f.templates, f.bare
}

// enter makes v, an object with a kind, the owner of what is found in it.
func (f *finder) enter(v Value, base int) {
	f.group, _, _ = strings.Cut(v.Get("apiVersion").Text(), "/")
	f.kind, f.base, f.patched = v.Get("kind").Text(), base, false
	if f.group != "argoproj.io" {
		return
	}
	spec := v.Get("spec")
	if f.kind == "CronWorkflow" {
		spec = spec.Get("workflowSpec")
	}
	defaults := spec.Get("templateDefaults")
	f.patched = spec.Get("podSpecPatch").Kind() == String || defaults.Get("podSpecPatch").Kind() == String
	for _, name := range [...]string{"container", "script", "initContainers", "sidecars"} {
		f.patched = f.patched || defaults.Get(name).Exists()
	}
}

// members looks at the members of an owner.
func (f *finder) members(v Value) {
	for m := v.First(); m.Exists(); m = m.Next() {
		if name := m.Key(); name != "metadata" && name != "status" {
			f.look(m, name)
		}
	}
}

// look looks at v, which the last of names has led to.
func (f *finder) look(v Value, name string) {
	if k := v.Kind(); k != Object && k != Array || len(f.templates) > policy.MaxTemplates {
		return
	}
	f.names = append(f.names, name)
	switch {
	case f.take(v):
	case isWhole(v):
		outer := f.owner
		f.enter(v, len(f.names))
		f.members(v)
		f.owner = outer
	default:
		for m := v.First(); m.Exists(); m = m.Next() {
			if v.Kind() == Array {
				f.look(m, "#")
			} else {
				f.look(m, m.Key())
			}
		}
	}
	f.names = f.names[:len(f.names)-1]
}

// isWhole reports whether v is a manifest of its own.
func isWhole(v Value) bool {
	return v.Kind() == Object && v.Get("apiVersion").Text() != "" && v.Get("kind").Text() != ""
}

// take notes v if it is a template or a container outside of one. It reports whether there is
// nothing more to look for in it.
func (f *finder) take(v Value) bool {
	name := f.name()
	t := Template{Owner: f.kind, Step: f.step(v)}
	row := f.row()
	switch {
	case t.Step != "":
		t.RestartPolicy = "Never"
	case row != nil && (row.direct || v.Get("spec").Kind() == Object):
		f.fill(&t, v, row)
	case isWhole(v):
		t.Whole, t.Job = true, is(v, "batch/v1", "Job")
		if !t.Job && !is(v, "v1", "Pod") {
			return false
		}
	case t.isJob(v.Get("spec"), name):
	case t.isJob(v, name):
		t.Direct = true
	case isTemplate(name) && hasNamedContainers(v.Get("spec").Get("containers")):
	case isBare(v, f.names[len(f.names)-1]):
		if len(f.bare) < policy.MaxTemplates {
			f.bare = append(f.bare, v.Path(f.root))
		}
		return true
	default:
		return false
	}
	t.Path = v.Path(f.root)
	f.templates = append(f.templates, t)
	return true
}

// is reports whether v is a manifest of that kind.
func is(v Value, apiVersion, kind string) bool {
	return v.Get("apiVersion").Text() == apiVersion && v.Get("kind").Text() == kind
}

// name returns what the value looked at is called: an element of podTemplates is a podTemplate.
func (f *finder) name() string {
	for i := len(f.names) - 1; i >= 0; i-- {
		if name := f.names[i]; name != "#" {
			if i < len(f.names)-1 {
				name = strings.TrimSuffix(name, "s")
			}
			return name
		}
	}
	return ""
}

// PodPath returns the path of the Pod template in t if t is a JobSpec that was told by one of its
// fields, for a reader who knows that its controller makes Pods; otherwise "".
func (t *Template) PodPath() string {
	if !t.TakenBy.Exists() {
		return ""
	}
	return t.podTemplate()
}

// isJob reports whether v is a JobSpec, and notes it: it has a Pod template, and what it is the
// spec of has the name of a Job, or it has a field that nothing but a Job has next to a template
// whose Pods may be those of one. Other controllers have a backoffLimit, too, and set the
// restartPolicy themselves; a BroadcastJob of OpenKruise makes Pods.
func (t *Template) isJob(v Value, name string) bool {
	pod := v.Get("template").Get("spec")
	if !hasNamedContainers(pod.Get("containers")) {
		return false
	}
	for _, end := range [...]string{"Spec", "Template"} {
		name = strings.TrimSuffix(name, end)
	}
	named := name == "job" || strings.HasSuffix(name, "Job") && name != "broadcastJob"
	if t.Job = named && !v.Get("name").Exists(); t.Job { // which no JobSpec has
		return true
	}
	if policy := pod.Get("restartPolicy").Text(); policy == "Never" || policy == "OnFailure" {
		for _, field := range [...]string{"backoffLimit", "backoffLimitPerIndex", "podFailurePolicy", "completions", "completionMode", "podReplacementPolicy"} {
			if own := v.Get(field); own.Exists() {
				t.Job, t.TakenBy = true, own
				return true
			}
		}
	}
	return false
}

// step returns the member of v that is the main container of an Argo template, "" if v is none of
// which a Pod is made as it is written: a podSpecPatch may change anything.
//
// Source: createWorkflowPod in workflow/controller/workflowpod.go and mergedTemplateDefaultsInto in
// operator.go, argo-workflows v3.6.2.
func (f *finder) step(v Value) string {
	at := f.names[f.base:]
	if f.group != "argoproj.io" || f.patched || v.Kind() != Object {
		return ""
	}
	if f.kind == "CronWorkflow" && len(at) > 1 && at[1] == "workflowSpec" {
		at = at[1:]
	}
	if len(at) != 3 || at[1] != "templates" || at[2] != "#" || v.Get("podSpecPatch").Kind() == String {
		return ""
	}
	for _, name := range [...]string{"container", "script"} {
		if v.Get(name).Kind() == Object {
			return name
		}
	}
	return ""
}

// row returns the row of the table that names the place looked at, nil if there is none.
func (f *finder) row() *ownerRow {
	for i := range owners {
		o := &owners[i]
		if o.group == f.group && (o.kind == "" || o.kind == f.kind) && matches(o.path, f.names[f.base:]) {
			return o
		}
	}
	return nil
}

// matches reports whether names are the steps of path.
func matches(path string, names []string) bool {
	for i, name := range names {
		step, rest, more := strings.Cut(path, ".")
		if step != name && (step != "*" || name == "#") || more != (i < len(names)-1) {
			return false
		}
		path = rest
	}
	return true
}

// fill fills t with what row says of v, and with what the owner sets.
func (f *finder) fill(t *Template, v Value, row *ownerRow) {
	t.Job, t.Direct, t.Indexed = row.job, row.direct, row.indexed
	t.RestartPolicy, t.ContainerName = row.restartPolicy, row.container
	t.Whole = !t.Direct && isWhole(v)
	if row.beside {
		path := v.Path(f.root)
		if i := strings.LastIndexByte(path, '.'); i >= 0 {
			t.RestartPolicyPath = path[:i] + ".restartPolicy"
		}
		switch own := f.root.At(t.RestartPolicyPath).Text(); own {
		case "":
		case "ExitCode": // the operator looks at the code itself and makes a new Pod
			t.RestartPolicy, t.ExitCodeOf = "Never", row.exitCodeOf
		default:
			t.RestartPolicy = own
		}
	}
}

// isTemplate reports whether name is what Pod templates are called.
func isTemplate(name string) bool {
	name = strings.TrimSuffix(name, "Spec")
	return name == "template" || name == "pod" || strings.HasSuffix(name, "Template")
}

// hasNamedContainers reports whether list is one of containers, each with a name.
func hasNamedContainers(list Value) bool {
	if list.Kind() != Array || list.Len() == 0 {
		return false
	}
	for c := list.First(); c.Exists(); c = c.Next() {
		if c.Kind() != Object || c.Get("name").Text() == "" {
			return false
		}
	}
	return true
}

// isBare reports whether v is a container, or a list of containers, as those have it that make Pods
// in their own way.
func isBare(v Value, name string) bool {
	switch name {
	case "container", "script":
	case "containers", "initContainers", "sidecars", "steps":
		v = v.First()
	default:
		return false
	}
	return v.Get("image").Kind() == String
}

// CheckTemplate is [CheckFields] for template t of v. Paths begin at v. There are no messages: what
// the API server prints comes from the schema of the owner, which is not known; nor is it known
// which unknown fields it lets pass.
func CheckTemplate(v Value, t *Template, f policy.Features) Checked {
	typ, known := templateType(t)
	at := v.Locate(t.Path)
	if !known || at.Kind() != Object {
		return Checked{}
	}
	c := checker{bit: minorBit(f.Minor), embeds: f.Minor >= 35, top: at, root: typ, proposals: f.Proposals}
	if t.Step == "" {
		c.value(at, typ)
	}
	out := c.checked()
	for i := range out.All {
		below(&out.All[i].FieldError, t.Path)
	}
	for i := range out.Faults {
		below(&out.Faults[i], t.Path)
	}
	for i := range out.Strict {
		below(&out.Strict[i], t.Path)
	}
	return out
}

// below puts the path of a template before that of a fault in it.
func below(f *policy.FieldError, path string) {
	f.Message = ""
	switch {
	case f.Path == "":
		f.Path = path
	case f.Path[0] == '[':
		f.Path = path + f.Path
	default:
		f.Path = path + "." + f.Path
	}
}

// templateType returns the type of what is at the path of t, which is that of a field of a kind
// that has one.
func templateType(t *Template) (typeIndex, bool) {
	switch {
	case t.Whole:
		return rootType(t.Kind())
	case !t.Job:
		typ, known := rootType("PodTemplate")
		return fieldType(typ, "template"), known
	case t.Direct:
		typ, known := rootType("Job")
		return fieldType(typ, "spec"), known
	}
	typ, known := rootType("CronJob")
	return fieldType(fieldType(typ, "spec"), "jobTemplate"), known
}

// fieldType returns the type of a field of struct type t, which has it.
func fieldType(t typeIndex, name string) typeIndex {
	for _, row := range t.rows() {
		if row.text() == name {
			return row.typ
		}
	}
	panic("no field " + name)
}

// ReadTemplate is [ReadObject] for template t of v. The object has the name of its owner, and
// counts as a PodTemplate or a CronJob: something whose Pods or Jobs come later, under names of
// their own.
func ReadTemplate(v Value, t *Template, p policy.Proposals) policy.Object {
	kind, template := "PodTemplate", t.Path
	if t.Job {
		kind, template = "CronJob", t.podTemplate()
	}
	var o policy.Object
	if t.Step == "" {
		o = ReadProposed(v, kind, template, p)
	} else {
		o = readStep(v, t)
	}
	o.Embedded, o.Fields = true, nil // its owner may still add what is missing
	if t.RestartPolicy != "" && (t.RestartPolicyPath != "" || o.Spec.RestartPolicy == "") {
		o.Spec.RestartPolicy = policy.RestartPolicy(t.RestartPolicy)
	}
	if t.ContainerName != "" {
		nameContainers(&o.Spec, o.Spec.Containers, t.ContainerName)
		nameContainers(&o.Spec, o.Spec.InitContainers, "init-container")
	}
	if t.Indexed && o.Job != nil && o.Job.CompletionMode == nil {
		mode := policy.IndexedCompletion
		o.Job.CompletionMode = &mode
	}
	return o
}

// nameContainers gives a name to each of list that has none, as Knative does: one alone is called
// name, several have numbers.
//
// Source: applyDefaultContainerNames in knative/serving v0.45,
// pkg/apis/serving/v1/revision_defaults.go.
func nameContainers(s *policy.PodSpec, list []policy.Container, name string) {
	next := 0
	for i := range list {
		if list[i].Name != "" {
			continue
		}
		made := name
		for len(list) > 1 && made == name || named(s, made) {
			made = name + "-" + strconv.Itoa(next)
			next++
		}
		list[i].Name = made
	}
}

// named reports whether a container of s has that name.
func named(s *policy.PodSpec, name string) bool {
	for _, list := range [...][]policy.Container{s.Containers, s.InitContainers} {
		for i := range list {
			if list[i].Name == name {
				return true
			}
		}
	}
	return false
}

// readStep reads the Pod of an Argo template: its main container has a name of its own.
func readStep(v Value, t *Template) policy.Object {
	at := v.At(t.Path)
	o := policy.Object{
		Kind: "PodTemplate", Name: v.Get("metadata").Get("name").Text(), Namespace: v.Get("metadata").Get("namespace").Text(),
		SpecPath: t.Path + ".", Step: t.Step,
	}
	o.Spec.InitContainers = readContainers(at.Get("initContainers"))
	main := readContainer(at.Get(t.Step))
	main.Name = ArgoMain
	o.Spec.Containers = append([]policy.Container{main}, readContainers(at.Get("sidecars"))...)
	o.Spec.ActiveDeadlineSeconds = readInt64(at.Get("activeDeadlineSeconds"))
	return o
}

// ArgoMain is the name of the main container of an Argo template.
const ArgoMain = "main"

// HowFarTemplates is [HowFar] for an object of another kind: its own fields are judged by nobody
// here, those of templates as those of the Pods and Jobs that are made of them.
func HowFarTemplates(v Value, templates []Template, minor int) Looked {
	l := looker{table: judgedInTemplates, bit: minorBit(minor)}
	l.owner(v, templates)
	return l.found
}

// owner looks at v, which is at l.path and has templates in it.
func (l *looker) owner(v Value, templates []Template) {
	parts, i := len(l.path), 0
	for m := v.First(); m.Exists(); m = m.Next() {
		l.path = appendStep(l.path[:parts], v.Kind(), m, i)
		i++
		switch t := leadsTo(templates, string(l.path)); {
		case m.Kind() == Null:
		case t == nil:
			l.found.NotChecked.add(l.path)
		case len(t.Path) > len(l.path):
			l.owner(m, templates)
		case t.Step != "":
			l.found.NotChecked.add(l.path)
		default:
			if typ, _ := templateType(t); l.value(m, typ) {
				l.found.Checked.add(l.path)
			}
		}
	}
	l.path = l.path[:parts]
}

// leadsTo returns a template at path or below it, nil if there is none.
func leadsTo(templates []Template, path string) *Template {
	for i := range templates {
		if rest, ok := strings.CutPrefix(templates[i].Path, path); ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			return &templates[i]
		}
	}
	return nil
}
