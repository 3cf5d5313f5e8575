package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/podfate/podfate/policy"
	"github.com/spf13/pflag"
)

// curveFlags adds the flags of curve.
func curveFlags(flags *pflag.FlagSet) func() (members, error) {
	run := flags.String("run", "", "how long each run lasts, such as 10s")
	flags.Lookup("run").DefValue = "0s"
	until := flags.String("until", "", "list restarts up to then")
	flags.Lookup("until").DefValue = "30m"
	initial := flags.String("initial", "", "first wait, in place of the cluster's")
	longest := flags.String("max", "", "longest wait, in place of the cluster's")
	preset := flags.String("preset", "", "name of a set of waits: one of those that describe lists as backoffPresets")
	waits := flags.StringSlice("waits", nil, "use these waits one after the other, then always the longest wait")
	model := flags.String("model", "", "what the kubelet does (kubelet), or what the documentation of Pods says (documented)")
	flags.Lookup("model").DefValue = "kubelet"
	windows := flags.StringSlice("window", nil, "count the restarts up to then; repeatable")
	flags.Lookup("window").DefValue = "[5m,30m]"
	outage := flags.String("outage", "", "a dependency is unavailable from the start until then: when is the container back?")
	return func() (members, error) {
		m := members{}
		return m, errors.Join(
			setIn(m, "run", *run, "run", "for"),
			setLength(m, "until", *until),
			setIn(m, "initial", *initial, "backoff", "initial"),
			setIn(m, "max", *longest, "backoff", "max"),
			setWaits(m, *preset, *waits),
			setIn(m, "outage", *outage, "outage", "until"),
			setModel(m, *model),
			setWindows(m, *windows),
		)
	}
}

// setIn sets a length of time inside a member, besides what other flags set there.
func setIn(m members, flag, text, member, inner string) error {
	one := members{}
	if err := setLength(one, flag, text); err != nil || text == "" {
		return err
	}
	setInside(m, member, inner, one[flag])
	return nil
}

// setInside sets a member of a member that is an object.
func setInside(m members, member, inner string, value json.RawMessage) {
	object := members{}
	if m[member] != nil {
		if err := json.Unmarshal(m[member], &object); err != nil {
			panic("another flag wrote " + member + ": " + err.Error())
		}
	}
	object[inner] = value
	m[member] = encode(object)
}

// setWaits sets waits that have a name or are listed.
func setWaits(m members, preset string, waits []string) error {
	if preset != "" {
		setInside(m, "backoff", "preset", encode(preset))
	}
	var faults []error
	for _, text := range waits {
		if fault := lengthFault(text); fault != "" {
			faults = append(faults, fmt.Errorf("--waits %s: %s", strconv.Quote(text), fault))
		}
	}
	if len(waits) > 0 {
		setInside(m, "backoff", "waits", encode(waits))
	}
	return errors.Join(faults...)
}

func setModel(m members, model string) error {
	switch policy.CurveModel(model) {
	case "":
		return nil
	case policy.ModelKubelet, policy.ModelDocumented:
		m["model"] = encode(model)
		return nil
	}
	return fmt.Errorf("--model %s: must be kubelet or documented", strconv.Quote(model))
}

// setWindows sets the windows in the order of their ends, whatever the order of the flags.
func setWindows(m members, windows []string) error {
	if len(windows) == 0 {
		return nil
	}
	ends := map[string]policy.Millis{}
	var faults []error
	for _, text := range windows {
		end, _, fault := policy.ParseMillis(text)
		if fault == "" && end == 0 {
			fault = "must be longer than 0s"
		}
		if fault != "" {
			faults = append(faults, fmt.Errorf("--window %s: %s", strconv.Quote(text), fault))
		}
		ends[text] = end
	}
	windows = slices.SortedFunc(slices.Values(windows), func(a, b string) int { return int(min(max(ends[a]-ends[b], -1), 1)) })
	windows = slices.CompactFunc(windows, func(a, b string) bool { return ends[a] == ends[b] })
	m["windows"] = encode(windows)
	return errors.Join(faults...)
}
