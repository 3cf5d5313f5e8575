package admission_test

import (
	"fmt"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/admission"
)

// What the API server would print about a Pod, or about the template of a Deployment.
func ExampleValidatePodSpec() {
	never := policy.RestartPolicyNever
	spec := policy.PodSpec{
		RestartPolicy: policy.RestartPolicyAlways,
		Containers: []policy.Container{{
			Name: "main", RestartPolicy: &never,
			RestartPolicyRules: []policy.ContainerRestartRule{{Action: policy.ActionRestart}},
		}},
		EphemeralContainers: []policy.Container{{Name: "debug"}},
	}
	f := policy.DefaultFeatures(36)
	for _, fault := range admission.ValidatePodSpec(&spec, "spec.", false, f) {
		fmt.Println(fault.Message)
	}
	for _, fault := range admission.ValidatePodSpec(&spec, "spec.template.spec.", true, f) {
		fmt.Println(fault.Message)
	}
	// Output:
	// spec.containers[0].restartPolicyRules[0].exitCodes: Required value: must be specified
	// spec.ephemeralContainers: Forbidden: cannot be set on create
	// spec.template.spec.containers[0].restartPolicyRules[0].exitCodes: Required value: must be specified
	// spec.template.spec.ephemeralContainers: Forbidden: ephemeral containers not allowed in pod template
}
