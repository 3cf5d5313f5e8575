package admission_test

import (
	"slices"
	"strings"
	"testing"

	. "github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/admission"
)

const badLabel = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an " +
	"alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"

func messages(faults []FieldError) []string {
	var list []string
	for _, f := range faults {
		list = append(list, f.Message)
	}
	return list
}

// Texts printed by the validation of Kubernetes v1.36.3.
func TestNames(t *testing.T) {
	for _, test := range []struct {
		name string
		want []string
	}{
		{"a", nil}, {"0", nil}, {"a-b", nil}, {"a--b", nil}, {strings.Repeat("a", 63), nil},
		{"", []string{"spec.containers[0].name: Required value"}},
		{"a.b", []string{`spec.containers[0].name: Invalid value: "a.b": must not contain dots`}},
		{"A", []string{`spec.containers[0].name: Invalid value: "A": ` + badLabel}},
		{"-a", []string{`spec.containers[0].name: Invalid value: "-a": ` + badLabel}},
		{"a-", []string{`spec.containers[0].name: Invalid value: "a-": ` + badLabel}},
		{"a-.b", []string{`spec.containers[0].name: Invalid value: "a-.b": ` + badLabel}},
		{"a.", []string{`spec.containers[0].name: Invalid value: "a.": ` + badLabel}},
		{"ä", []string{`spec.containers[0].name: Invalid value: "ä": ` + badLabel}},
		{"a\n", []string{`spec.containers[0].name: Invalid value: "a\n": ` + badLabel}},
		{strings.Repeat("a", 64), []string{`spec.containers[0].name: Invalid value: "` + strings.Repeat("a", 64) + `": must be no more than 63 characters`}},
	} {
		o := Object{Kind: "Pod", SpecPath: "spec.", Spec: PodSpec{Containers: []Container{{Name: test.name}}}}
		if got := messages(admission.Validate(&o, DefaultFeatures(36))); !slices.Equal(got, test.want) {
			t.Errorf("%q: got %q", test.name, got)
		}
	}
}

// A name is taken by any container before it; init containers without a name do not collide, main
// ones do.
func TestNamesAreUnique(t *testing.T) {
	named := func(names ...string) (list []Container) {
		for _, n := range names {
			list = append(list, Container{Name: n})
		}
		return list
	}
	o := Object{Kind: "Pod", SpecPath: "spec.", Spec: PodSpec{
		Containers: named("a", "", ""), InitContainers: named("b", "a", "b"), EphemeralContainers: named("a", "c", "c"),
	}}
	o.Spec.EphemeralContainers[1].TargetContainerName = "c"
	want := []string{
		"spec.containers[1].name: Required value",
		"spec.containers[2].name: Required value",
		`spec.containers[2].name: Duplicate value: ""`,
		`spec.initContainers[1].name: Duplicate value: "a"`,
		`spec.initContainers[2].name: Duplicate value: "b"`,
		`spec.ephemeralContainers[0].name: Duplicate value: "a"`,
		`spec.ephemeralContainers[1].targetContainerName: Not found: "c"`,
		`spec.ephemeralContainers[2].name: Duplicate value: "c"`,
		"spec.ephemeralContainers: Forbidden: cannot be set on create",
	}
	if got := messages(admission.Validate(&o, DefaultFeatures(36))); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// The Pod's policy decides whether a resize may restart a container; 1.36 also asks whether it is
// an init container.
func TestResizePolicy(t *testing.T) {
	restart := []ContainerResizePolicy{{ResourceName: "cpu", RestartPolicy: ResizeRestartContainer}}
	spec := PodSpec{
		RestartPolicy:  RestartPolicyNever,
		Containers:     []Container{{Name: "a", ResizePolicy: restart}},
		InitContainers: []Container{{Name: "b", ResizePolicy: restart}},
	}
	for _, test := range []struct {
		minor int
		want  []string
	}{
		{35, []string{
			"spec.containers[0].resizePolicy: Invalid value: \"RestartContainer\": must be 'NotRequired' when `restartPolicy` is 'Never'",
			"spec.initContainers[0].resizePolicy: Invalid value: \"RestartContainer\": must be 'NotRequired' when `restartPolicy` is 'Never'",
		}},
		{36, []string{
			"spec.containers[0].resizePolicy: Invalid value: \"RestartContainer\": must be 'NotRequired' when pod `restartPolicy` is 'Never'",
			"spec.initContainers[0].resizePolicy: Invalid value: \"RestartContainer\": must be 'NotRequired' when pod `restartPolicy` is 'Never'",
			"spec.initContainers[0].resizePolicy[0].restartPolicy: Invalid value: \"RestartContainer\": must not be set to 'RestartContainer' for non-sidecar initContainers",
		}},
	} {
		o := Object{Kind: "Pod", SpecPath: "spec.", Spec: spec}
		if got := messages(admission.Validate(&o, DefaultFeatures(test.minor))); !slices.Equal(got, test.want) {
			t.Errorf("1.%d: got %q", test.minor, got)
		}
	}
}

// The immutable fields of a Pod, and the gates that an existing object keeps open.
func TestValidateUpdate(t *testing.T) {
	never, always := RestartPolicyNever, RestartPolicyAlways
	five, six := int64(5), int64(6)
	pod := func(change func(*PodSpec)) *Object {
		o := &Object{Kind: "Pod", SpecPath: "spec.", Spec: PodSpec{
			Containers:            []Container{{Name: "a", RestartPolicy: &never}},
			ActiveDeadlineSeconds: &five,
		}}
		change(&o.Spec)
		return o
	}
	const immutable = "spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`," +
		"`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations)," +
		"`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
	for _, test := range []struct {
		name   string
		change func(*PodSpec)
		want   []string
	}{
		{"nothing", func(*PodSpec) {}, nil},
		{"the default written out", func(s *PodSpec) { s.RestartPolicy = always }, nil},
		{"the policy", func(s *PodSpec) { s.Containers = []Container{{Name: "a", RestartPolicy: &always}} }, []string{immutable}},
		{"an empty list of rules", func(s *PodSpec) { s.Containers = []Container{{Name: "a", RestartPolicy: &never, HasRules: true}} }, nil},
		{"a container more", func(s *PodSpec) { s.Containers = append(s.Containers, Container{Name: "b"}) },
			[]string{"spec.containers: Forbidden: pod updates may not add or remove containers"}},
		{"a longer deadline", func(s *PodSpec) { s.ActiveDeadlineSeconds = &six },
			[]string{"spec.activeDeadlineSeconds: Invalid value: 6: must be less than or equal to previous value"}},
		{"no deadline", func(s *PodSpec) { s.ActiveDeadlineSeconds = nil },
			[]string{"spec.activeDeadlineSeconds: Invalid value: null: must not update from a positive integer to nil value"}},
	} {
		f := DefaultFeatures(36)
		f.ContainerRestartRules, f.RestartAllContainersOnContainerExits = false, false
		old, o := pod(func(*PodSpec) {}), pod(test.change)
		if dropped := admission.DropDisabled(&o.Spec, "spec.", admission.WhileInUse(f, &old.Spec)); len(dropped) > 0 {
			t.Errorf("%s: dropped %v", test.name, dropped)
		}
		if got := messages(admission.ValidateUpdate(o, old, f)); !slices.Equal(got, test.want) {
			t.Errorf("%s: got %q", test.name, got)
		}
	}
}
