package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/web/views"
	"github.com/spf13/pflag"
)

// curveFlags adds the flags of curve.
func curveFlags(flags *pflag.FlagSet) func() (members, error) {
	run := flags.String("run", "", "how long each run lasts, such as 10s")
	flags.Lookup("run").DefValue = "0s"
	until := flags.String("until", "", "how far restarts are listed")
	flags.Lookup("until").DefValue = "30m"
	initial := flags.String("initial", "", "try another first wait than the cluster has")
	longest := flags.String("max", "", "try another longest wait than the cluster has")
	model := flags.String("model", "", "what the kubelet does (kubelet), or what the documentation of Pods says (documented)")
	flags.Lookup("model").DefValue = "kubelet"
	windows := flags.StringSlice("window", nil, "count the restarts until then; repeatable")
	flags.Lookup("window").DefValue = "[5m,30m]"
	outage := flags.String("outage", "", "something that the container needs is away from the beginning until then: when is it back?")
	return func() (members, error) {
		m := members{}
		for _, err := range []error{
			setIn(m, "run", *run, "run", "for"),
			setLength(m, "until", *until),
			setIn(m, "initial", *initial, "backoff", "initial"),
			setIn(m, "max", *longest, "backoff", "max"),
			setIn(m, "outage", *outage, "outage", "until"),
			setModel(m, *model),
			setWindows(m, *windows),
		} {
			if err != nil {
				return nil, err
			}
		}
		return m, nil
	}
}

// setIn sets a length of time inside a member, beside what other flags set there.
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
	for _, text := range windows {
		end, _, fault := policy.ParseMillis(text)
		if fault == "" && end == 0 {
			fault = "must be longer than 0s"
		}
		if fault != "" {
			return fmt.Errorf("--window %s: %s", strconv.Quote(text), fault)
		}
		ends[text] = end
	}
	windows = slices.SortedFunc(slices.Values(windows), func(a, b string) int { return int(min(max(ends[a]-ends[b], -1), 1)) })
	windows = slices.CompactFunc(windows, func(a, b string) bool { return ends[a] == ends[b] })
	m["windows"] = encode(windows)
	return nil
}

// curveAnswer is the answer of curve. All times are milliseconds.
type curveAnswer struct {
	Model   string
	Backoff struct {
		Initial int64  `json:"initialMillis"`
		Factor  int64  `json:"factor"`
		Max     int64  `json:"maxMillis"`
		Reset   int64  `json:"resetMillis"`
		Sweep   *int64 `json:"sweepMillis"`
		From    string `json:"from"`
	}
	Run struct {
		For int64 `json:"forMillis"`
	}
	Assumptions   []string
	Until         int64 `json:"untilMillis"`
	Restarts      int64
	Starts        []curveStart
	StartsLeftOut int64
	Windows       []struct {
		Until       int64 `json:"untilMillis"`
		Restarts    int64
		NewRestarts int64
	}
	LongestWait *struct {
		Restart int64
		At      int64 `json:"atMillis"`
	}
	Steady struct {
		FromRestart int64
		From        int64 `json:"fromMillis"`
		Period      int64 `json:"periodMillis"`
		Restarts    int64
		PerHour     int64 `json:"restartsPerHourThousandths"`
	}
	Outage *struct {
		Until   int64 `json:"untilMillis"`
		Restart int64
		BackAt  int64 `json:"backAtMillis"`
		Late    int64 `json:"lateMillis"`
		Best    int64 `json:"bestMillis"`
		Gap     int64 `json:"gapMillis"`
	}
}

type curveStart struct {
	Restart int64
	At      int64 `json:"atMillis"`
	Delay   int64 `json:"delayMillis"`
	Because string
}

// Of the table: a line has 80 columns at most, and a crash loop settles long before so many lines are full.
const (
	maxCurveLines = 24
	curveColumns  = 80
)

// curveNotes says why a restart comes when it does, unless that is the back-off.
var curveNotes = map[string]string{
	"first_restart_is_immediate": "the first restart comes at once",
	"ran_longer_than_reset":      "the run before was long enough",
	"forgotten_by_sweep":         "the back-off was forgotten",
}

// curve prints the restarts as a table with a bar for each wait, and what can be said of them.
func (p *printer) curve(o outcome) error {
	a, err := o.read()
	if err != nil {
		return err
	}
	p.remarks(o, a)
	if a.Error != nil {
		return nil
	}
	var c curveAnswer
	if err := json.Unmarshal(o.answer, &c); err != nil {
		return err
	}
	var b bytes.Buffer
	if p.count > 0 {
		b.WriteByte('\n')
	}
	version := a.Cluster.Version
	if node := a.Cluster.Kubelet; node != nil {
		version = node.Version // whose back-off it is
	}
	c.parameters(&b, version)
	c.table(&b)
	c.summary(&b)
	b.WriteString("\n" + assumed(c.Assumptions))
	_, err = p.Out.Write(trimLines(b.Bytes()))
	return err
}

// parameters says what the answer is about.
func (c *curveAnswer) parameters(b *bytes.Buffer, version string) {
	from := "of Kubernetes " + version
	if c.Backoff.From == "request" {
		from = "as asked for"
	}
	fmt.Fprintf(b, "Back-off %s: %s", from, views.Duration(c.Backoff.Initial))
	if c.Backoff.Factor > 1 && c.Backoff.Max > c.Backoff.Initial {
		fmt.Fprintf(b, ", each wait %d times the one before, at most %s", c.Backoff.Factor, views.Duration(c.Backoff.Max))
	}
	fmt.Fprintf(b, "\nEvery run lasts %s; one of more than %s sets the wait back\n", views.Duration(c.Run.For), views.Duration(c.Backoff.Reset))
	rules := map[string]string{"kubelet": "what the kubelet does", "documented": "what the documentation says"}[c.Model]
	if rules == "" {
		rules = c.Model
	}
	fmt.Fprintf(b, "Model: %s\n\n", rules)
}

// table lists the starts, with a bar as long as the wait before each.
func (c *curveAnswer) table(b *bytes.Buffer) {
	lines := c.Starts[:min(len(c.Starts), maxCurveLines)]
	if len(lines) == 0 {
		return
	}
	longest, at, wait, note := int64(1), len("at"), len("wait"), 0
	for _, s := range lines {
		longest = max(longest, s.Delay)
		at, wait = max(at, len(views.Duration(s.At))), max(wait, len(views.Duration(s.Delay)))
		if s.Delay > 0 && curveNotes[s.Because] != "" {
			note = max(note, len(curveNotes[s.Because])+1)
		}
	}
	fmt.Fprintf(b, "%7s  %*s  %*s\n", "restart", at, "at", wait, "wait")
	room := min(40, curveColumns-len("restart")-2-at-2-wait-2-note)
	for _, s := range lines {
		if s.Restart == 0 {
			fmt.Fprintf(b, "%7s  %*s  %*s  first start\n", "-", at, views.Duration(s.At), wait, "-")
			continue
		}
		chart := strings.TrimSpace(bar(s.Delay, longest, room) + " " + curveNotes[s.Because])
		fmt.Fprintf(b, "%7d  %*s  %*s  %s\n", s.Restart, at, views.Duration(s.At), wait, views.Duration(s.Delay), chart)
	}
	if more := int64(len(c.Starts)-len(lines)) + c.StartsLeftOut; more > 0 {
		fmt.Fprintf(b, "%7s  %s more until %s\n", "…", strconv.FormatInt(more, 10), views.Duration(c.Until))
	}
}

// bar is as long as n of most, in eighths of a column; what is not zero can be seen.
func bar(n, most int64, columns int) string {
	eighths := int(float64(n) / float64(most) * float64(columns*8))
	if n > 0 {
		eighths = max(eighths, 1)
	}
	text := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		text += string([]rune("▏▎▍▌▋▊▉")[rest-1])
	}
	return text
}

// summary says what follows from the table and goes beyond it.
func (c *curveAnswer) summary(b *bytes.Buffer) {
	b.WriteByte('\n')
	for i, w := range c.Windows {
		fmt.Fprintf(b, "%s in the first %s", plural(w.Restarts, "restart"), views.Duration(w.Until))
		if i > 0 {
			fmt.Fprintf(b, ", %d of them after %s", w.NewRestarts, views.Duration(c.Windows[i-1].Until))
		}
		b.WriteByte('\n')
	}
	if l := c.LongestWait; l != nil {
		fmt.Fprintf(b, "The longest wait, %s, comes first before restart %d at %s\n", views.Duration(c.Backoff.Max), l.Restart, views.Duration(l.At))
	}
	s := c.Steady
	fmt.Fprintf(b, "From restart %d at %s on: %s every %s", s.FromRestart, views.Duration(s.From), plural(s.Restarts, "restart"), views.Duration(s.Period))
	if s.PerHour >= 100 { // rarer ones say more by their distance
		fmt.Fprintf(b, ", %s an hour", strconv.FormatFloat(float64(s.PerHour)/1000, 'f', 1, 64))
	}
	b.WriteByte('\n')
	if g := c.Outage; g != nil {
		if g.Restart == 0 {
			fmt.Fprintf(b, "\nAfter an outage until %s: nothing fails, the first start comes at %s\n", views.Duration(g.Until), views.Duration(g.BackAt))
			return
		}
		fmt.Fprintf(b, "\nAfter an outage until %s: back with restart %d at %s, %s late", views.Duration(g.Until), g.Restart, views.Duration(g.BackAt), views.Duration(g.Late))
		if g.Best != g.Late {
			fmt.Fprintf(b, ", or %s if the run under way succeeds", views.Duration(g.Best))
		}
		fmt.Fprintf(b, "\nAn outage that ends a little earlier or later can make it %s late at most\n", views.Duration(g.Gap))
	}
}
