package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/web/views"
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
	return func() (members, error) {
		m := members{}
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

// simulation is what the text needs of an answer beside [views.Answer].
type simulation struct {
	Timeline []struct {
		WillRestart bool
		Starts      []struct {
			Container            string
			Starts, RestartCount int64
		}
	}
	Pod struct {
		Deleted bool
		Status  struct {
			InitContainerStatuses, ContainerStatuses, EphemeralContainerStatuses []struct {
				Name  string
				State struct {
					Waiting    *struct{ Reason string }
					Running    *struct{}
					Terminated *struct {
						ExitCode int32
						Reason   string
					}
				}
			}
		}
	}
}

// simulate prints the timeline and how things stand in the end.
func (p *printer) simulate(o outcome) error {
	a, err := o.read()
	if err != nil {
		return err
	}
	p.remarks(o, a)
	if a.Error != nil {
		return nil
	}
	if a.Job != nil {
		return p.simulateJob(o, a)
	}
	var more simulation
	if err := json.Unmarshal(o.answer, &more); err != nil {
		return err
	}
	if len(a.Undecided) == 0 && a.From == nil && !slices.ContainsFunc(a.Timeline, func(r views.Record) bool { return r.Event == "Exited" }) {
		fmt.Fprintf(p.Err, "podfate: note: no container ends until %s; say what they do with --run NAME=LENGTH:CODE, or with runs in a Scenario\n", views.Duration(a.Until))
	}
	var b bytes.Buffer
	if p.count > 0 {
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "%s, Kubernetes %s\n\n", o.subject(), a.Cluster.Releases())
	if a.From != nil {
		b.WriteString(comes(a) + "\n")
	}
	widest := 0
	for _, r := range a.Timeline {
		widest = max(widest, len(views.Duration(r.At)))
	}
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for i, r := range a.Timeline {
		fmt.Fprintf(table, "%*s\t%s\t%s\t%s\n", widest, views.Duration(r.At), cmp.Or(views.Visible(r.Container), "Pod"), views.Visible(r.Event), more.detail(i, r))
	}
	table.Flush() // into memory: it cannot fail
	if a.From != nil && len(a.Timeline) == 0 {
		b.WriteString("Nothing happens.\n")
	}
	fmt.Fprintf(&b, "\n%s\n", more.ending(a))
	for _, c := range a.Containers {
		fmt.Fprintf(table, "  %s\t%s\t%s\t%s\n", views.Visible(c.Container), more.state(c.Container), counted(c), next(c))
	}
	table.Flush()
	for _, u := range a.Undecided {
		fmt.Fprintf(&b, "\nUndecided from %s on%s: %s\n", views.Duration(u.At), o.because(u), u.Why())
	}
	if len(a.Assumptions) > 0 {
		b.WriteString("\n" + assumed(a.Assumptions))
	}
	_, err = p.Out.Write(trimLines(b.Bytes()))
	return err
}

// comes says what a live Pod is waiting for.
func comes(a *views.Answer) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Times count from %s, which is %s.\n", views.Visible(a.From.Now), sentence(a.From.NowIs))
	for _, w := range a.From.Waits {
		name, why := views.Visible(w.Container), sentence(w.DelayFrom)
		switch {
		case w.Next == nil && w.Delay == 0:
			fmt.Fprintf(&b, "%s starts again at once after its next exit (%s).\n", name, why)
		case w.Next == nil:
			fmt.Fprintf(&b, "%s waits %s after its next exit (%s).\n", name, views.Duration(w.Delay), why)
		case *w.Next == 0:
			fmt.Fprintf(&b, "%s starts again at once: its wait of %s is over (%s)%s.\n", name, views.Duration(w.Delay), why, between(w))
		default:
			fmt.Fprintf(&b, "%s starts again in %s, at %s, after a wait of %s (%s)%s.\n", name, views.Duration(*w.Next), views.Visible(w.NextStart), views.Duration(w.Delay), why, between(w))
		}
	}
	return b.String()
}

// between names the bounds of a start that is not known to the second.
func between(w views.Wait) string {
	if w.Latest-w.Earliest <= 1000 {
		return ""
	}
	return fmt.Sprintf("; between %s and %s from now", views.Duration(w.Earliest), views.Duration(w.Latest))
}

// because names what an undecided answer hangs on.
func (o outcome) because(u views.Undecided) string {
	if u.Path == "" {
		return ""
	}
	place := ""
	if fromFlags(u.Path) && o.asked.request != nil {
		if source, line, _ := o.asked.request.Position(u.Path); line > 0 {
			place = strings.TrimPrefix(fmt.Sprintf("%s line %d", source, line), " ")
		}
	} else if u.Line > 0 {
		place = fmt.Sprintf("line %d", u.Line)
	}
	if place != "" {
		place = " (" + place + ")"
	}
	return ", because of " + views.Visible(u.Path) + place
}

// detail says what entry i of the timeline means.
func (s simulation) detail(i int, r views.Record) string {
	switch r.Event {
	case "Started":
		if r.RestartCount == 0 {
			return "first start"
		}
		return fmt.Sprintf("restart %d", r.RestartCount)
	case "Exited":
		return exited(r)
	case "BackOff":
		return fmt.Sprintf("waits %s, until %s", views.Duration(r.Delay), views.Duration(r.Until))
	case "Killing":
		if s.Timeline[i].WillRestart {
			return sentence(r.Reason) + "; it is started again"
		}
		return sentence(r.Reason)
	case "PhaseChanged", "PhaseDecided":
		text := views.Visible(r.From + " → " + r.To)
		if r.Reason != "" {
			text += " (" + views.Visible(r.Reason) + ")"
		}
		if r.Event == "PhaseDecided" {
			text += " for the kubelet, not yet in the API"
		}
		return text
	case "Repeated":
		return s.repeated(i, r)
	}
	return views.Visible(strings.TrimSpace(sentence(r.Reason) + sentence(r.Ignored)))
}

// exited says how a container ended and what follows, if anybody asks.
func exited(r views.Record) string {
	if r.Reason == "" {
		return "the exit code is never learnt"
	}
	text := fmt.Sprintf("code %d (%s)", r.ExitCode, views.Visible(r.Reason))
	if r.Action == "" {
		return text
	}
	text += ": " + r.Action + ", "
	if r.DecidedBy.Level == "rule" {
		text += fmt.Sprintf("by rule %d", r.DecidedBy.Rule)
	} else {
		text += decided(r.Decision)
	}
	if r.DecidedBy.Line > 0 && r.DecidedBy.Level != "default" {
		text += fmt.Sprintf(" (line %d)", r.DecidedBy.Line)
	}
	if r.PodFails {
		text += "; the Pod fails"
	}
	return text
}

// repeated sums up rounds that are not written out.
func (s simulation) repeated(i int, r views.Record) string {
	rounds := fmt.Sprintf("%d more rounds like the one", r.Times)
	if r.Times == 1 {
		rounds = "1 more round like the one"
	}
	text := fmt.Sprintf("%s since %s, one every %s, until %s", rounds, views.Duration(r.Since), views.Duration(r.Every), views.Duration(r.Until))
	for _, n := range s.Timeline[i].Starts {
		if n.Container == r.Container {
			text += fmt.Sprintf("; that makes %s", plural(n.RestartCount, "restart"))
		} else {
			text += fmt.Sprintf("; that makes %s of %s", plural(n.RestartCount, "restart"), views.Visible(n.Container))
		}
	}
	return text
}

// ending says how the Pod stands in the end.
func (s simulation) ending(a *views.Answer) string {
	phase := views.Visible(a.Pod.Status.Phase)
	last := int64(-1)
	for _, r := range a.Timeline {
		if r.Event == "PhaseChanged" {
			last = r.At
		}
	}
	text := fmt.Sprintf("At %s the Pod is %s", views.Duration(a.Until), phase)
	if last >= 0 && (phase == string(policy.PodSucceeded) || phase == string(policy.PodFailed)) {
		text += ", since " + views.Duration(last)
	}
	if s.Pod.Deleted {
		text += ", and deleted"
	}
	return text + "."
}

// state is how a container is in the end.
func (s simulation) state(name string) string {
	for _, c := range slices.Concat(s.Pod.Status.InitContainerStatuses, s.Pod.Status.ContainerStatuses, s.Pod.Status.EphemeralContainerStatuses) {
		if c.Name != name {
			continue
		}
		switch {
		case c.State.Running != nil:
			return "running"
		case c.State.Terminated != nil:
			return fmt.Sprintf("terminated, code %d (%s)", c.State.Terminated.ExitCode, views.Visible(c.State.Terminated.Reason))
		case c.State.Waiting != nil:
			return strings.TrimSuffix("waiting, "+views.Visible(c.State.Waiting.Reason), ", ")
		}
	}
	return "-"
}

func counted(c views.Lane) string {
	return fmt.Sprintf("%s, ran %s", plural(c.Restarts, "restart"), views.Duration(c.Ran))
}

func next(c views.Lane) string {
	if c.NextStart == nil {
		return ""
	}
	return fmt.Sprintf("next start at %s after a wait of %s", views.Duration(*c.NextStart), views.Duration(c.Delay))
}

func plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// assumed lists what an answer takes for granted.
func assumed(codes []string) string {
	var b strings.Builder
	b.WriteString("Assumed:\n")
	for _, code := range codes {
		b.WriteString("- " + views.Visible(sentence(code)) + "\n")
	}
	return b.String()
}
