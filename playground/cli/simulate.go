package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/podfate/podfate/policy"
	"github.com/spf13/pflag"
)

// run is an entry of runs in a request of simulate.
type run struct {
	For      string `json:"for"`
	ExitCode int32  `json:"exitCode"`
	Reason   string `json:"reason,omitempty"`
	Times    any    `json:"times,omitempty"` // int64, or forever
}

// event is an entry of events in a request of simulate.
type event struct {
	At        string `json:"at"`
	Type      string `json:"type"`
	Container string `json:"container,omitempty"`
	Pod       *int   `json:"pod,omitempty"`
}

// simulateFlags adds the flags of simulate.
func simulateFlags(flags *pflag.FlagSet) func() (members, error) {
	var runs []string
	flags.StringArrayVar(&runs, "run", nil, "what the next start does: NAME=LENGTH:CODE, also with xTIMES or xforever behind CODE, and with :REASON; repeatable")
	var events []string
	flags.StringArrayVar(&events, "event", nil, "something that happens to the Pod or to a container: TIME=TYPE or TIME=TYPE:NAME, such as 5m=Evicted, with @N behind it for the Pod with that number in a Job; repeatable, earliest first")
	now := flags.String("now", "", "for a live Pod, the time from which on to look, such as 2026-01-31T12:00:00Z, or now; the newest time in its status without it")
	until := flags.String("until", "", "how long to watch, such as 1h30m")
	flags.Lookup("until").DefValue = "30m"
	first := flags.String("first-restart", "", "the first restart comes at once, as the kubelet does it (kubelet), or waits already, as the documentation says (documented)")
	flags.Lookup("first-restart").DefValue = "kubelet"
	detection := flags.String("detection", "", "how long the kubelet takes to notice that a container ended or started, such as 1s")
	flags.Lookup("detection").DefValue = "0s"
	sync := flags.String("sync", "", "a container starts when its wait ends (ideal), or when the kubelet next looks at the Pod after that (kubelet)")
	flags.Lookup("sync").DefValue = "ideal"
	jitter := flags.String("jitter", "", "the random extra between two looks, with --sync kubelet: none, a quarter (mean), almost half (full), or a number of milliseconds")
	flags.Lookup("jitter").DefValue = "none"
	from := flags.String("runs-from", "", "what containers do without --run: run on (runs), or what their commands say (command)")
	flags.Lookup("runs-from").DefValue = "runs"
	preset := flags.String("preset", "", "other waits than the cluster has: those that describe lists as backoffPresets")
	return func() (members, error) {
		m := members{}
		if *from != "" {
			m["runsFrom"] = encode(*from)
		}
		if err := setWaits(m, *preset, nil); err != nil {
			return nil, err
		}
		if len(runs) > 0 {
			tapes := map[string][]run{}
			for _, text := range runs {
				name, r, err := parseRun(text)
				if err != nil {
					return nil, err
				}
				tapes[name] = append(tapes[name], r)
			}
			m["runs"] = encode(tapes)
		}
		if len(events) > 0 {
			list := make([]event, len(events))
			for i, text := range events {
				at, rest, typed := strings.Cut(text, "=")
				bad := func(what string) error {
					return fmt.Errorf("--event %s: %s Write TIME=TYPE or TIME=TYPE:NAME, such as 5m=Evicted or 90s=OOMKilled:main", strconv.Quote(text), what)
				}
				if fault := lengthFault(at); fault != "" {
					return nil, bad(strconv.Quote(at) + " " + fault + ".")
				}
				if !typed || rest == "" {
					return nil, bad("What happens?")
				}
				list[i].At = at
				rest, pod, ofPod := strings.Cut(rest, "@")
				if n, err := strconv.Atoi(pod); err == nil {
					list[i].Pod = &n
				} else if ofPod {
					return nil, fmt.Errorf("--event %s: %s is no number of a Pod; they count from 0 in order of creation", strconv.Quote(text), strconv.Quote(pod))
				}
				list[i].Type, list[i].Container, _ = strings.Cut(rest, ":")
			}
			m["events"] = encode(list)
		}
		switch *now {
		case "":
		case "now":
			m["now"] = encode(time.Now().UTC().Format(time.RFC3339))
		default:
			m["now"] = encode(*now)
		}
		for _, err := range []error{
			setLength(m, "until", *until),
			setIn(m, "detection", *detection, "timing", "detection"),
			setWord(m, "first-restart", *first, "firstRestart", timingWords["first-restart"]),
			setWord(m, "sync", *sync, "sync", timingWords["sync"]),
			setJitter(m, *jitter),
		} {
			if err != nil {
				return nil, err
			}
		}
		return m, nil
	}
}

// timingWords are what the flags of timing may say.
var timingWords = map[string][]string{
	"first-restart": {"kubelet", "documented"}, "sync": {"ideal", "kubelet"}, "jitter": {"none", "mean", "full"},
}

// setWord sets a word of the member timing, beside what other flags set there.
func setWord(m members, flag, word, inner string, words []string) error {
	switch {
	case word == "":
		return nil
	case !slices.Contains(words, word):
		return fmt.Errorf("--%s %s: must be %s or %s", flag, strconv.Quote(word), strings.Join(words[:len(words)-1], ", "), words[len(words)-1])
	}
	setInside(m, "timing", inner, encode(word))
	return nil
}

// setJitter sets the jitter, which is a word or a number of milliseconds.
func setJitter(m members, value string) error {
	if n, err := strconv.ParseUint(value, 10, 31); err == nil {
		setInside(m, "timing", "jitterMillis", encode(n))
		return nil
	}
	return setWord(m, "jitter", value, "jitter", timingWords["jitter"])
}

// parseRun reads NAME=LENGTH:CODE, with xTIMES and :REASON behind it if wanted.
func parseRun(text string) (name string, r run, err error) {
	bad := func(what string) (string, run, error) {
		return "", run{}, fmt.Errorf("--run %s: %s Write NAME=LENGTH:CODE or NAME=LENGTH:CODExTIMES, such as main=10s:42x4", strconv.Quote(text), what)
	}
	name, rest, named := strings.Cut(text, "=")
	if !named || name == "" {
		return bad("Which container?")
	}
	length, rest, coded := strings.Cut(rest, ":")
	if fault := lengthFault(length); fault != "" {
		return bad(strconv.Quote(length) + " " + fault + ".")
	}
	if !coded {
		return bad("Which exit code?")
	}
	rest, reason, reasoned := strings.Cut(rest, ":")
	number, times, repeated := strings.Cut(rest, "x")
	code, fault := parseCode(number)
	if fault == "" && reasoned {
		fault = reasonFault(reason)
	}
	if fault != "" {
		return bad(fault)
	}
	r = run{For: length, ExitCode: code, Reason: reason}
	switch n, err := strconv.ParseInt(times, 10, 64); {
	case !repeated:
	case times == "forever":
		r.Times = times
	case err != nil || n < 1:
		return bad(strconv.Quote(times) + " is neither a number of times, from 1, nor the word forever.")
	default:
		r.Times = n
	}
	return name, r, nil
}

// lengthFault says what is wrong with a length of time, "" if nothing is.
func lengthFault(text string) string {
	_, _, detail := policy.ParseMillis(text)
	return detail
}

// setLength sets a member that is a length of time, unless text is "".
func setLength(m members, flag, text string) error {
	if text == "" {
		return nil
	}
	if fault := lengthFault(text); fault != "" {
		return fmt.Errorf("--%s %s: %s", flag, strconv.Quote(text), fault)
	}
	m[flag] = encode(text)
	return nil
}

// encode writes a value that JSON can say.
func encode(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic("a value made of flags is no JSON: " + err.Error())
	}
	return b
}

// plural counts a noun.
func plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
