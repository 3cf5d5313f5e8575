package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/podfate/podfate/policy/manifest"
	"github.com/spf13/pflag"
)

// podGroup is Pods that do the same, as --group gives them.
type podGroup struct {
	Pods          int64           `json:"pods"`
	Run           json.RawMessage `json:"run"`
	RestartPolicy string          `json:"restartPolicy,omitempty"`
}

// fleetFlags adds the flags of fleet.
func fleetFlags(flags *pflag.FlagSet) func() (members, error) {
	groups := flags.StringArray("group", nil, "Pods on each node that do the same: "+groupSyntax+"; repeatable")
	nodes := flags.Int64("nodes", 1, "how many nodes there are")
	spread := flags.String("spread", "", "the time over which the first starts are spread")
	flags.Lookup("spread").DefValue = "0s"
	requests := flags.Int64("requests-per-restart", 5, "requests to the API server for each restart")
	bin := flags.String("bin", "", "length of the sliding window in which the peak is counted")
	flags.Lookup("bin").DefValue = "10s"
	until := flags.String("until", "", "how far to look")
	flags.Lookup("until").DefValue = "30m"
	windows := flags.StringSlice("window", nil, "count up to then; repeatable")
	flags.Lookup("window").DefValue = "[5m,30m]"
	initial := flags.String("initial", "", "first wait, in place of the cluster's")
	longest := flags.String("max", "", "longest wait, in place of the cluster's")
	preset := flags.String("preset", "", "name of a set of waits: one of those that describe lists as backoffPresets")
	model := flags.String("model", "", "what the kubelet does (kubelet), or what the documentation of Pods says (documented)")
	flags.Lookup("model").DefValue = "kubelet"
	goal := flags.Int64("goal", 0, "find the smallest longest wait with which all nodes together stay within this many requests a second")
	return func() (members, error) {
		m := members{}
		var faults []error
		if len(*groups) > 0 {
			var list []podGroup
			for _, text := range *groups {
				g, err := parseGroup(text)
				faults = append(faults, err)
				list = append(list, g)
			}
			if errors.Join(faults...) == nil {
				m["groups"] = encode(list)
			}
		}
		if flags.Changed("nodes") {
			m["nodes"] = encode(*nodes)
		}
		if flags.Changed("requests-per-restart") {
			m["requestsPerRestart"] = encode(*requests)
		}
		if flags.Changed("goal") {
			setInside(m, "goal", "requestsPerSecond", encode(*goal))
		}
		return m, errors.Join(append(faults,
			setLength(m, "spread", *spread),
			setLength(m, "bin", *bin),
			setLength(m, "until", *until),
			setIn(m, "initial", *initial, "backoff", "initial"),
			setIn(m, "max", *longest, "backoff", "max"),
			setWaits(m, *preset, nil),
			setModel(m, *model),
			setWindows(m, *windows),
		)...)
	}
}

// groupSyntax is how a group is written. PODS=LENGTH:CODE, which came before, goes on working.
const groupSyntax = "PODS=CODE@LENGTH or PODS=CODE@LENGTH:POLICY, such as 110=1@10s"

// parseGroup reads [groupSyntax].
func parseGroup(text string) (g podGroup, err error) {
	bad := ""
	pods, rest, ran := strings.Cut(text, "=")
	if g.Pods, err = strconv.ParseInt(pods, 10, 64); err != nil {
		bad += strconv.Quote(pods) + " is no number of Pods. "
	}
	exit, length, coded := strings.Cut(rest, "@")
	policy := ""
	if coded {
		length, policy, _ = strings.Cut(length, ":")
	} else if length, exit, coded = strings.Cut(rest, ":"); coded {
		exit, policy, _ = strings.Cut(exit, ":")
	}
	fault := lengthFault(length)
	if ran && fault != "" {
		bad += strconv.Quote(length) + " " + fault + ". "
		length = "0s" // so that the code is read, too
	}
	read, faults := manifest.ReadShort("group: " + exit + "@" + length)
	var run manifest.Value
	if len(faults) == 0 {
		run = read.Members.Get("runs").Get("group").First()
	}
	switch {
	case ran && !coded:
		bad += "Which exit code? "
	case ran && len(faults) > 0:
		bad += faults[0].Detail + ". "
	case ran && !run.Exists(): // the text before a colon was taken for a container
		bad += strconv.Quote(exit) + " is no exit code. "
	}
	if bad != "" || !ran {
		return g, fmt.Errorf("--group %s: %sWrite %s", strconv.Quote(text), bad, groupSyntax)
	}
	g.Run, g.RestartPolicy = run.Raw(), policy
	return g, nil
}
