package cli

import "github.com/spf13/cobra"

// newScenario is the help about files that ask: what a command's flags say, written down.
func newScenario() *cobra.Command {
	return &cobra.Command{
		Use:   "scenario",
		Short: "What a Scenario is, and how to write one",
		Long: folded(`A Scenario is a file that says what flags would say: exits, runs, events, the cluster, how long to watch. Name it
next to the manifests: it applies to all of them and is recognised by its first two lines. Flags replace its members of
the same meaning.`, helpColumns) + `

` + scenarioExample + `
  podfate simulate -f pod.yaml -f scenario.yaml

` + folded(`With a member manifest, which holds the whole object, it is a complete question, like a request of the HTTP API.
Members that only other commands read are ignored with a note. To ask several questions about one manifest, write a
file for podfate test.

All members are described in /api/v1/openapi.json of podfate serve.`, helpColumns),
	}
}

// scenarioExample answers with any command that takes a manifest.
const scenarioExample = `  apiVersion: podfate.dev/v1
  kind: Scenario
  cluster:
    version: "1.36"
    featureGates: {ReduceDefaultCrashLoopBackOffDecay: true}
  exits:                       # for decide
  - {container: main, exitCode: 42}
  runs:                        # for simulate; a run without exitCode never ends
    main:
    - {for: 10s, exitCode: 42, times: 4}
    - {for: 5s, exitCode: 137, reason: OOMKilled}
  events:
  - {at: 40s, type: Evicted}
  until: 1h
`
