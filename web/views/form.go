package views

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/podfate/podfate/policy/words"
)

// GatePrefix begins the name of a gate's control: gate.ContainerRestartRules, with "", "true" or
// "false" as value.
const GatePrefix = "gate."

// MaxExitsShown bounds the exits of the page. The operation takes more; a page with more is
// unreadable.
const MaxExitsShown = 64

// ReadForm reads the fields manifest, pods, exits, version, validation and gate.NAME of a submitted
// form. It checks nothing: what is wrong with the values is for the operation to say. Line ends
// become \n, which browsers send as \r\n.
func ReadForm(v url.Values) Form {
	f := Form{
		Manifest:   strings.ReplaceAll(v.Get("manifest"), "\r\n", "\n"),
		Pods:       strings.ReplaceAll(v.Get("pods"), "\r\n", "\n"),
		Exits:      v.Get("exits") + addedWords(v),
		Version:    v.Get("version"),
		Validation: v.Get("validation"),
		Gates:      map[string]string{},
		Proposals:  v["proposal"],
		View:       v.Get("view"),
		Run:        v.Get("run"),
		Outage:     v.Get("outage"),
		Cap:        v.Get("cap"),
	}
	if v.Has("show") { // the button that was pressed
		f.View = v.Get("show")
	}
	if f.View == "answer" {
		f.View = ""
	}
	for name := range v {
		gate, ok := strings.CutPrefix(name, GatePrefix)
		if value := v.Get(name); ok && (value == "true" || value == "false") {
			f.Gates[gate] = value
		}
	}
	return f
}

// addedWords are those that the fields event, event-at, event-of, timing and first stand for.
func addedWords(v url.Values) (words string) {
	if event := v.Get("event"); event != "" {
		words = " at " + cmp.Or(v.Get("event-at"), "0s") + " " + event
		if of := v.Get("event-of"); of != "" {
			words += ":" + of
		}
	}
	for _, name := range []string{"timing", "first"} {
		if timing := v.Get(name); timing != "" {
			words += " timing " + timing
		}
	}
	return words
}

var (
	overTime = regexp.MustCompile(`@|(?:^|[, ])(?:at|until|timing) `)
	livePod  = regexp.MustCompile(`(?ms)^(?: {4}")?kind"?: "?Pod"?,?\r?$.*^(?: {4}")?status"?:`)
)

// Curve is the request of the view backoff, in the order in which the page's script writes it.
func (f Form) Curve() []byte {
	gates := map[string]bool{}
	for name, value := range f.Gates {
		gates[name] = value == "true"
	}
	proposals := map[string]struct{}{}
	for _, name := range f.Proposals {
		proposals[name] = struct{}{}
	}
	var request struct {
		Cluster struct {
			Version      string              `json:"version,omitempty"`
			FeatureGates map[string]bool     `json:"featureGates,omitempty"`
			Proposals    map[string]struct{} `json:"proposals,omitempty"`
		} `json:"cluster"`
		Run struct {
			For string `json:"for"`
		} `json:"run"`
		Outage  map[string]string `json:"outage,omitempty"`
		Backoff map[string]string `json:"backoff,omitempty"`
	}
	request.Cluster.Version, request.Cluster.FeatureGates, request.Cluster.Proposals = f.Version, gates, proposals
	request.Run.For = cmp.Or(strings.TrimSpace(f.Run), "10s")
	if outage := strings.TrimSpace(f.Outage); outage != "" {
		request.Outage = map[string]string{"until": outage}
	}
	if longest := strings.TrimSpace(f.Cap); longest != "" {
		request.Backoff = map[string]string{"max": longest}
	}
	return plainJSON(request)
}

// Operation is the operation that answers f: simulate if there are runs or events, decide if there
// are exits or Pods. If there is none of them, simulate for a live Pod as kubectl prints it, else
// validate.
func (f Form) Operation() string {
	switch {
	case f.View == "codes":
		return "table"
	case f.View == "versions":
		return "compare"
	case f.View == "backoff":
		return "curve"
	case overTime.MatchString(f.Exits):
		return "simulate"
	case len(exitWords(f.Exits)) > 0 || strings.TrimSpace(f.Pods) != "":
		return "decide"
	case livePod.MatchString(f.Manifest):
		return "simulate"
	}
	return "validate"
}

// Exit is one entry of the field exits. Its JSON is that of the member exits of a decide request.
type Exit struct {
	Container string `json:"container,omitempty"` // "" if the Pod has one container
	ExitCode  int32  `json:"exitCode"`
	Reason    string `json:"reason,omitempty"`
}

// ParseExits reads the shorthand of f.Exits: entries NAME=CODE or NAME=CODE:REASON, separated by
// commas or white space; NAME= may be left out. At most [MaxExitsShown]. A blank text has no exits.
// The fault's path is exits[i].
//
// The browser reads the same shorthand with parseExits; testdata/exits.json holds both together.
func (f Form) ParseExits() ([]Exit, *Fault) {
	var exits []Exit
	for i, entry := range exitWords(f.Exits) {
		refuse := func(detail string) ([]Exit, *Fault) {
			return nil, &Fault{Path: "exits[" + strconv.Itoa(i) + "]", Code: "bad_format", Detail: detail}
		}
		if i == MaxExitsShown {
			return refuse("at most " + strconv.Itoa(MaxExitsShown) + " exits fit on this page")
		}
		name, end, named := strings.Cut(entry, "=")
		if !named {
			name, end = "", entry
		}
		code, reason, _ := strings.Cut(end, ":")
		n, err := strconv.ParseInt(code, 10, 32)
		if err != nil || strings.HasPrefix(code, "+") {
			return refuse(words.Quote(entry) + " is not NAME=CODE or NAME=CODE:REASON, with an exit code such as 137")
		}
		exits = append(exits, Exit{name, int32(n), reason})
	}
	return exits, nil
}

// run is one entry of the member runs of a simulate request.
type run struct {
	For      string `json:"for"`
	ExitCode int32  `json:"exitCode"`
	Reason   string `json:"reason,omitempty"`
	Times    any    `json:"times,omitempty"` // a number or "forever"
}

// event is an entry of the member events, and timingOf the member timing.
type event struct {
	At        string `json:"at"`
	Type      string `json:"type"`
	Container string `json:"container,omitempty"`
	Pod       *int64 `json:"pod,omitempty"` // of a Job, by number
}

type timingOf struct {
	Detection    string `json:"detection,omitempty"`
	Sync         string `json:"sync,omitempty"`
	Jitter       string `json:"jitter,omitempty"`
	FirstRestart string `json:"firstRestart,omitempty"`
}

var (
	runWord   = regexp.MustCompile(`^(?:([^@:=]+)[:=])?(-?\d+)(?::([^@]*))?@(.+)$`)
	nameWord  = regexp.MustCompile(`^([^@:=]+)[:=]$`)
	eventWord = regexp.MustCompile(`^(.*?)(?:@(\d{1,9}))?$`)
	timesWord = regexp.MustCompile(`^[x×](\d{1,10})$`)
)

// ParseRuns reads the other shorthand of f.Exits, that of runs over time: main: 3@10s x4, 1@5s
// until 2h. A word is NAME: for the runs behind it, CODE@TIME or CODE:REASON@TIME for one run, xN
// or forever for how often the run before is taken, until and a time, at with a time and an event,
// as in at 5m OOMKilled:main, with @2 behind it for Pod 2 of a Job, or timing and one of none, mean
// and full, how much jitter a kubelet in real time has, or of kubelet and documented, when the
// first restart comes. It returns the members runs, until, events and timing of a request as JSON;
// times and events are for the operation to check. The fault's path is exits[i], counted in words.
//
// The browser reads the same shorthand with parseRuns; testdata/runs.json holds both together.
func (f Form) ParseRuns() (map[string]json.RawMessage, *Fault) {
	var names []string // in their order
	tapes := map[string][]run{}
	name, until, count := "", "", 0
	var timing timingOf
	var events []event
	list := exitWords(f.Exits)
	for i := 0; i < len(list); i++ {
		word := list[i]
		refuse := func(detail string) (map[string]json.RawMessage, *Fault) {
			return nil, &Fault{Path: "exits[" + strconv.Itoa(i) + "]", Code: "bad_format", Detail: detail}
		}
		if m := nameWord.FindStringSubmatch(word); m != nil {
			name = m[1]
			continue
		}
		if word == "until" && i+1 < len(list) {
			i++
			until = list[i]
			continue
		}
		if word == "at" && i+2 < len(list) {
			m := eventWord.FindStringSubmatch(list[i+2])
			e := event{At: list[i+1]}
			e.Type, e.Container, _ = strings.Cut(m[1], ":")
			if m[2] != "" {
				n, _ := strconv.ParseInt(m[2], 10, 64) // nine digits fit
				e.Pod = &n
			}
			events = append(events, e)
			i += 2
			continue
		}
		if word == "timing" && i+1 < len(list) {
			i++
			if word = list[i]; word == "kubelet" || word == "documented" {
				timing.FirstRestart = word
			} else {
				timing.Detection, timing.Sync, timing.Jitter = "1s", "kubelet", word
			}
			continue
		}
		tape := tapes[name]
		if m := timesWord.FindStringSubmatch(word); len(tape) > 0 && (m != nil || word == "forever") {
			tape[len(tape)-1].Times = "forever"
			if m != nil {
				n, _ := strconv.ParseInt(m[1], 10, 64) // ten digits fit
				tape[len(tape)-1].Times = n
			}
			continue
		}
		m := runWord.FindStringSubmatch(word)
		code, err := strconv.ParseInt(append(m, "", "", "")[2], 10, 32)
		if err != nil {
			return refuse(words.Quote(word) + " is not CODE@TIME, x4 or forever behind one, or NAME: before it, as in main: 3@10s x4, 1@5s")
		}
		if m[1] != "" {
			name = m[1]
		}
		switch {
		case name == "":
			return refuse(words.Quote(word) + " needs the container's name before it, as in main: 3@10s")
		case count == MaxExitsShown || len(events) > MaxExitsShown:
			return refuse("at most " + strconv.Itoa(MaxExitsShown) + " runs fit on this page")
		}
		count++
		if tapes[name] == nil {
			names = append(names, name)
		}
		tapes[name] = append(tapes[name], run{For: m[4], ExitCode: int32(code), Reason: m[3]})
	}
	var b bytes.Buffer
	for i, name := range names {
		b.WriteByte("{,"[min(i, 1)])
		b.Write(plainJSON(name))
		b.WriteByte(':')
		b.Write(plainJSON(tapes[name]))
	}
	b.WriteByte('}')
	members := map[string]json.RawMessage{"runs": b.Bytes()}
	if len(names) == 0 {
		members["runs"] = json.RawMessage("{}")
	}
	if until != "" {
		members["until"] = plainJSON(until)
	}
	if len(events) > 0 {
		members["events"] = plainJSON(events)
	}
	if timing != (timingOf{}) {
		members["timing"] = plainJSON(timing)
	}
	return members, nil
}

// plainJSON writes strings and runs as JavaScript does.
func plainJSON(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("views: " + err.Error()) // no value of these types fails
	}
	return bytes.TrimSpace(b.Bytes())
}

// exitWords splits the shorthand into its entries.
func exitWords(exits string) []string {
	return strings.FieldsFunc(exits, func(r rune) bool { return strings.ContainsRune(", \t\r\n", r) })
}

// PodsWithRuns is the fault of a form that has Pods and runs over time: the first asks what became
// of a Job, the second what would become of it.
func PodsWithRuns() *Fault {
	return &Fault{Path: "pods", Code: "conflict", Detail: "the Pods have ended, the exits play the Job from its beginning: leave one of the two empty"}
}

// Refuse is the error of a payload for a fault that was found before any operation was asked, as
// JSON.
func Refuse(f *Fault) []byte {
	code := "EVENT_INVALID"
	if f.Path == "pods" && f.Code != PodsWithRuns().Code {
		code = "BAD_PODS"
	}
	type fault struct {
		Path   string `json:"path"`
		Code   string `json:"code"`
		Detail string `json:"detail"`
	}
	payload, err := json.Marshal(map[string]any{"code": code, "message": f.Detail, "path": f.Path, "faults": []fault{{f.Path, f.Code, f.Detail}}})
	if err != nil {
		panic("texts are always JSON: " + err.Error())
	}
	return payload
}
