package policy

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Object is a manifest, as far as it matters when a container exits: a Pod, or something that makes
// Pods.
type Object struct {
	Kind      string // as in the manifest: Pod, Job, …
	Namespace string // "" when the manifest names none
	Name      string
	// GenerateName is the beginning of the name that the API server makes up when Name is "".
	GenerateName string
	Spec         PodSpec
	// SpecPath is the path of Spec with its dot: "spec." for a Pod, "spec.template.spec." for a
	// Job.
	SpecPath string
	// Step is "" except for an Argo template, the first of whose main containers is a member of its
	// own, with this name; the others are in the list sidecars.
	Step string
	// FirstOrdinal is the number of a StatefulSet's first Pod, 0 unless spec.ordinals has another.
	FirstOrdinal int64
	// NoTemplate reports that a ReplicationController, whose template is optional, has none.
	NoTemplate bool
	// Embedded reports that o is a template in an object of a kind that is not read: a PodTemplate
	// or a CronJob of which nothing counts but the template. Its name is that of the object.
	Embedded bool
	// Fields checks the rest of the spec of a new object; nil if that is not checked.
	Fields Fields
	// Around checks what is around the spec of the Pod when the object is created; nil if that is
	// not checked.
	Around Around
	// Job is the spec of a Job, or that which a CronJob gives its Jobs; nil for other kinds.
	Job *Job
}

// Path returns the field path of container r in the manifest: spec.containers[0].
func (o *Object) Path(r Ref) string {
	switch {
	case o.Step == "" || r.Kind != MainContainer:
		return o.SpecPath + r.Path()
	case r.Index == 0:
		return o.SpecPath + o.Step
	}
	return o.SpecPath + "sidecars" + Index(r.Index-1)
}

// StoredName returns the name under which the API server stores o: Name, or what it makes of
// GenerateName, with "bbbbb" for the five letters that it draws; "" if the manifest has neither.
//
// Source: SimpleNameGenerator in k8s.io/apiserver v0.33 to v0.37, pkg/storage/names/generate.go.
func (o *Object) StoredName() string {
	if o.Name != "" || o.GenerateName == "" {
		return o.Name
	}
	return drawn(o.GenerateName)
}

// drawn is the name that the API server makes of generateName.
func drawn(generateName string) string {
	const letters, most = "bbbbb", 63
	end := min(len(generateName), most-len(letters))
	for end < len(generateName) && !utf8.RuneStart(generateName[end]) {
		end--
	}
	return generateName[:end] + letters
}

// PodName returns the name of the first Pod that o makes, or that of o if it is a Pod, with "bbbbb"
// for letters that the API server draws and "bbbbbbbbbb" for the hash in the name of a Deployment's
// ReplicaSet. It is that of o for kinds whose controller is not known here, for a Job, whose Pods
// simulate.PodName names, and "" if the manifest has none.
//
// Source: getNewReplicaSet in pkg/controller/deployment/sync.go, getPodsPrefix in
// pkg/controller/controller_utils.go, getPodName in
// pkg/controller/statefulset/stateful_set_utils.go, Kubernetes v1.33 to v1.37.
func (o *Object) PodName() string {
	name := o.StoredName()
	if name == "" || o.Embedded {
		return name
	}
	switch o.Kind {
	case "Deployment":
		return drawn(name + "-bbbbbbbbbb-")
	case "ReplicaSet", "ReplicationController", "DaemonSet":
		return drawn(name + "-")
	case "StatefulSet":
		return name + "-" + strconv.FormatInt(o.FirstOrdinal, 10)
	}
	return name
}

// JobPath returns the path of Job with its dot: "spec." for a Job, "spec.jobTemplate.spec." for a
// CronJob.
func (o *Object) JobPath() string { return strings.TrimSuffix(o.SpecPath, "template.spec.") }
