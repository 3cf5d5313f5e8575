package ops

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestCauses holds that each entry of a timeline names the exit that led to it and what was decided
// about that (R-P10), and that those which no exit led to name none.
func TestCauses(t *testing.T) {
	for _, c := range []struct {
		name, request string
		want          []string
	}{
		{
			"a crash loop", `{"manifest":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"name":"main","image":"i"}]}},
				"runs":{"main":[{"for":"1s","exitCode":3,"times":2}]},"events":[{"at":"20s","type":"Deleted"}],"until":"30s"}`,
			[]string{
				"SandboxCreated", "Started", "PhaseChanged", "Exited", "Started: main exited with 3: Restart by spec.restartPolicy", "Exited",
				"BackOff: main exited with 3: Restart by spec.restartPolicy", "Started: main exited with 3: Restart by spec.restartPolicy",
				"Deleted", "Killing", "Exited", "PhaseChanged",
			},
		},
		{
			"one after the other, and a sidecar that is not needed any more", `{"manifest":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"restartPolicy":"Never",
				"initContainers":[{"name":"init","image":"i"},{"name":"side","image":"i","restartPolicy":"Always"}],"containers":[{"name":"main","image":"i"}]}},
				"runs":{"init":[{"for":"1s","exitCode":0}],"main":[{"for":"1s","exitCode":4}]},"until":"30s"}`,
			[]string{
				"SandboxCreated", "Started", "Exited", "Started: init exited with 0: Stop by spec.initContainers[0]",
				"Started: init exited with 0: Stop by spec.initContainers[0]", "PhaseChanged", "Exited",
				"Killing: main exited with 4: Stop by spec.restartPolicy", "Exited", "PhaseChanged: main exited with 4: Stop by spec.restartPolicy",
			},
		},
		{
			"all containers", `{"cluster":{"version":"1.36"},"manifest":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"restartPolicy":"Never",
				"initContainers":[{"name":"init","image":"i"}],"containers":[{"name":"main","image":"i","restartPolicy":"Never",
				"restartPolicyRules":[{"action":"RestartAllContainers","exitCodes":{"operator":"In","values":[9]}}]},{"name":"other","image":"i"}]}},
				"runs":{"init":[{"for":"1s","exitCode":0,"times":"forever"}],"main":[{"for":"1s","exitCode":9}]},"until":"5s"}`,
			[]string{
				"SandboxCreated", "Started", "Exited", "Started: init exited with 0: Stop by spec.initContainers[0]",
				"Started: init exited with 0: Stop by spec.initContainers[0]", "PhaseChanged", "Exited",
				"RestartingAllContainers: main exited with 9: RestartAllContainers by spec.containers[0].restartPolicyRules[0]",
				"Killing: main exited with 9: RestartAllContainers by spec.containers[0].restartPolicyRules[0]",
				"Exited", "Removed", "Removed", "Removed", "Started: main exited with 9: RestartAllContainers by spec.containers[0].restartPolicyRules[0]",
				"PhaseChanged: main exited with 9: RestartAllContainers by spec.containers[0].restartPolicyRules[0]", "Exited", "PhaseChanged",
				"Started: main exited with 9: RestartAllContainers by spec.containers[0].restartPolicyRules[0]",
				"Started: main exited with 9: RestartAllContainers by spec.containers[0].restartPolicyRules[0]",
			},
		},
		{
			"a kill, a new sandbox", `{"manifest":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"name":"main","image":"i",
				"livenessProbe":{"exec":{"command":["x"]}}}]}},"events":[{"at":"1s","type":"LivenessFailed"},{"at":"1h","type":"SandboxLost"}],"until":"2h"}`,
			[]string{
				"SandboxCreated", "Started", "PhaseChanged", "LivenessFailed", "Killing", "Exited", "Started", "SandboxLost", "SandboxChanged", "Killing",
				"Exited", "SandboxCreated", "Started",
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			raw, failed := Call(4, []byte(c.request))
			if failed {
				t.Fatalf("%s", raw)
			}
			var answer struct {
				Timeline []struct {
					Event string
					Cause *struct {
						Container string
						ExitCode  int
						Action    string
						DecidedBy struct{ Path string }
					}
				}
			}
			if err := json.Unmarshal(raw, &answer); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, e := range answer.Timeline {
				s := e.Event
				if x := e.Cause; x != nil {
					s += fmt.Sprintf(": %s exited with %d: %s by %s", x.Container, x.ExitCode, x.Action, x.DecidedBy.Path)
				}
				got = append(got, s)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}
