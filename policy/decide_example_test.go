package policy_test

import (
	"fmt"

	"github.com/podfate/podfate/policy"
)

// A rule of the container decides before its own restartPolicy, which decides before the Pod's.
func ExamplePolicy_Decide() {
	never := policy.RestartPolicyNever
	spec := policy.PodSpec{
		RestartPolicy: policy.RestartPolicyAlways,
		Containers: []policy.Container{{
			Name: "main", RestartPolicy: &never,
			RestartPolicyRules: []policy.ContainerRestartRule{{
				Action:    policy.ActionRestart,
				ExitCodes: &policy.ContainerRestartRuleOnExitCodes{Operator: policy.OperatorIn, Values: []int32{42}},
			}},
		}},
	}
	compiled := policy.Compile(&spec, policy.DefaultFeatures(36))
	main := policy.Ref{Kind: policy.MainContainer}
	for _, code := range []int32{42, 1} {
		d := compiled.Decide(main, policy.Exit{Code: code})
		fmt.Println(code, d.Action, "by the", d.Level)
	}
	// Output:
	// 42 Restart by the rule
	// 1 Stop by the container
}
