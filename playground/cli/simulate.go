package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/podfate/podfate/policy"
	"github.com/spf13/pflag"
)

// simulateFlags adds the flags of simulate.
func simulateFlags(flags *pflag.FlagSet) func() (members, error) {
	var runs []string
	flags.StringArrayVar(&runs, "run", nil, "what the next starts do: NAME: CODE@TIME, with :REASON after CODE and xN or forever after TIME, several with commas; repeatable. The older NAME=LENGTH:CODExTIMES is read as well")
	var events []string
	flags.StringArrayVar(&events, "event", nil, "something that happens to the Pod or to a container: TIME EVENT or TIME EVENT:NAME, such as \"5m Evicted\", with pod N after it for the Pod with that number in a Job; repeatable, earliest first. The older 5m=Evicted@2 is read as well")
	question := questionFlag(flags, "main: 42@10s x4, 1@5s, at 5m Evicted, until 1h, expect Failed")
	now := flags.String("now", "", "for a live Pod, the time to start from, such as 2026-01-31T12:00:00Z, or now; by default the latest time in its status")
	until := flags.String("until", "", "how long to watch, such as 1h30m")
	flags.Lookup("until").DefValue = "30m"
	first := flags.String("first-restart", "", "the first restart comes at once, as the kubelet does it (kubelet), or waits already, as the documentation says (documented)")
	flags.Lookup("first-restart").DefValue = "kubelet"
	detection := flags.String("detection", "", "how long the kubelet takes to notice that a container exited or started, such as 1s")
	flags.Lookup("detection").DefValue = "0s"
	sync := flags.String("sync", "", "a container starts when its wait ends (ideal), or when the kubelet next looks at the Pod after that (kubelet)")
	flags.Lookup("sync").DefValue = "ideal"
	jitter := flags.String("jitter", "", "the random extra between two looks, with --sync kubelet: none, a quarter (mean), almost half (full), or a number of milliseconds")
	flags.Lookup("jitter").DefValue = "none"
	from := flags.String("runs-from", "", "what containers without --run do: keep running (runs), or what their commands say (command)")
	flags.Lookup("runs-from").DefValue = "runs"
	preset := flags.String("preset", "", "name of a set of waits: one of those that describe lists as backoffPresets")
	waste := flags.Bool("waste", false, "say how long Pods run, wait, and run in vain; for a Job, also how long if its spec said nothing about failures")
	owner := flags.Bool("owner", false, "play a JobSet as a whole, its failurePolicy over all its Jobs; or a template of an Argo Workflow with its retryStrategy")
	return func() (members, error) {
		m := members{}
		if *owner {
			m["owner"] = encode(true)
		}
		if *waste {
			m["show"] = encode([]string{"waste"})
		}
		if *from != "" {
			m["runsFrom"] = encode(*from)
		}
		faults := []error{setWaits(m, *preset, nil)}
		if *question != "" && (len(runs) > 0 || len(events) > 0 || *until != "") {
			faults = append(faults, errors.New("--question says what --run, --event and --until say: give either"))
		}
		for i, text := range events {
			events[i] = eventClause(text)
		}
		for _, part := range []struct {
			flag, member string
			texts        []string
		}{{"run", "runs", runs}, {"event", "events", events}} {
			raw, err := short(part.flag, part.member, part.texts)
			if faults = append(faults, err); raw != nil {
				m[part.member] = raw
			}
		}
		if *question != "" {
			m["question"] = encode(*question)
		}
		switch *now {
		case "":
		case "now":
			m["now"] = encode(time.Now().UTC().Format(time.RFC3339))
		default:
			m["now"] = encode(*now)
		}
		return m, errors.Join(append(faults,
			setLength(m, "until", *until),
			setIn(m, "detection", *detection, "timing", "detection"),
			setWord(m, "first-restart", *first, "firstRestart", timingWords["first-restart"]),
			setWord(m, "sync", *sync, "sync", timingWords["sync"]),
			setJitter(m, *jitter),
		)...)
	}
}

// timingWords are what the flags of timing may say.
var timingWords = map[string][]string{
	"first-restart": {"kubelet", "documented"}, "sync": {"ideal", "kubelet"}, "jitter": {"none", "mean", "full"},
}

// setWord sets a word of the member timing, besides what other flags set there.
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

// eventClause is what --event says as a clause of a question in short: it may be written without
// "at", and the older form is 5m=Evicted.
func eventClause(text string) string {
	if strings.HasPrefix(text, "at ") {
		return text
	}
	return "at " + strings.Replace(text, "=", " ", 1)
}
