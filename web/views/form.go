package views

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/podfate/podfate/schema/document"
)

// GatePrefix begins the name of a gate's control: gate.ContainerRestartRules, with "", "true" or
// "false" as value.
const GatePrefix = "gate."

// OptionPrefix begins the name of a control for an option of a proposal: option.kep-3322.counts. It
// counts if the proposal is chosen; "" leaves the option at its default.
const OptionPrefix = "option."

// ReadForm reads the fields manifest, pods, exits, version, validation, gate.NAME and the like of a
// submitted form. It checks nothing: what is wrong with the values is for the operation to say.
// Line ends become \n, which browsers send as \r\n.
func ReadForm(v url.Values) Form {
	f := Form{
		Manifest:   strings.ReplaceAll(v.Get("manifest"), "\r\n", "\n"),
		Pods:       strings.ReplaceAll(v.Get("pods"), "\r\n", "\n"),
		Exits:      v.Get("exits") + addedWords(v),
		Version:    v.Get("version"),
		Validation: v.Get("validation"),
		Gates:      map[string]string{},
		Proposals:  chosenProposals(v),
		Old:        strings.ReplaceAll(v.Get("old"), "\r\n", "\n"),
		Static:     v.Get("static") != "",
		Template:   v.Get("template"),
		Other:      strings.ReplaceAll(v.Get("other"), "\r\n", "\n"),
		View:       v.Get("view"),
		Run:        v.Get("run"),
		Outage:     v.Get("outage"),
		Cap:        v.Get("cap"),
	}
	f.Before = strings.ReplaceAll(v.Get("before"), "\r\n", "\n")
	if v.Has("undo") {
		f.Manifest, f.Before = f.Before, ""
	}
	if n, err := strconv.Atoi(v.Get("fix")); err == nil && n >= 0 {
		f.Fix = n + 1
	}
	f.Offer = v.Get("offer")
	if f.Fix > 0 {
		f.Offer = v.Get("offered") // the fix is that of its answer
	}
	if v.Has("reading") {
		f.Exits = withReading(f.Exits, v.Get("reading"))
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

// chosenProposals are the proposals of a form, each with the options that are set, as the flag
// --proposal takes them: kep-3322:counts=container,stop=exceeded.
func chosenProposals(v url.Values) (list []string) {
	for _, name := range v["proposal"] {
		var set []string
		for control, values := range v {
			if option, ok := strings.CutPrefix(control, OptionPrefix+name+"."); ok && values[0] != "" {
				set = append(set, option+"="+values[0])
			}
		}
		if slices.Sort(set); len(set) > 0 {
			name += ":" + strings.Join(set, ",")
		}
		list = append(list, name)
	}
	return list
}

// ChosenOptions returns the options of a proposal as the form has them: none of one that is not
// chosen.
func (f Form) ChosenOptions(proposal string) (options map[string]string, chosen bool) {
	for _, entry := range f.Proposals {
		name, set, _ := strings.Cut(entry, ":")
		if name != proposal {
			continue
		}
		options = map[string]string{}
		for _, option := range strings.Split(set, ",") {
			if key, value, ok := strings.Cut(option, "="); ok {
				options[key] = value
			}
		}
		return options, true
	}
	return nil, false
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
	// overTime matches a question in short that is about time; operation.js has the same.
	overTime = regexp.MustCompile(`@|(?:^|[,\s])(?:(?:at|until|timing|expect|forever|[x×]\d+)(?:[,\s]|$)|[^,\s]*(?::(?:[,\s]|$)|\d(?:ms|[smh]):))`)
	asking   = regexp.MustCompile(`[^,\s]`)
	livePod  = regexp.MustCompile(`(?ms)^(?: {4}")?kind"?: "?Pod"?,?\r?$.*^(?: {4}")?status"?:`)
)

// documented are the words of a question that choose the documented reading of what sources
// disagree on: when a container is started again for the first time. The page's script has the
// same.
var documented = regexp.MustCompile(`\s*\btiming\s+documented\b`)

// withReading returns a question in the reading with this name: kubelet or documented.
func withReading(exits, reading string) string {
	exits = documented.ReplaceAllString(exits, "")
	if reading == "documented" {
		exits += " timing documented"
	}
	return exits
}

// Reading is the name of the reading that f asks for, "" if it asks nothing that the sources
// disagree on.
func (f Form) Reading() string {
	switch {
	case !overTime.MatchString(f.Exits):
		return ""
	case documented.MatchString(f.Exits):
		return "documented"
	}
	return "kubelet"
}

// Curve is the request of the view backoff, in the order in which the page's script writes it.
func (f Form) Curve() []byte {
	gates := map[string]bool{}
	for name, value := range f.Gates {
		gates[name] = value == "true"
	}
	proposals := map[string]map[string]string{}
	for _, entry := range f.Proposals {
		name, _, _ := strings.Cut(entry, ":")
		proposals[name], _ = f.ChosenOptions(name)
	}
	var request struct {
		Cluster struct {
			Version      string                       `json:"version,omitempty"`
			FeatureGates map[string]bool              `json:"featureGates,omitempty"`
			Proposals    map[string]map[string]string `json:"proposals,omitempty"`
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

// Operation is the operation that answers f: simulate if the question is about time, decide if
// there are exits or Pods. An update and a static Pod are only checked. If there is none of them,
// simulate for a live Pod as kubectl prints it, else validate.
func (f Form) Operation() string {
	switch {
	case f.Offer != "":
		return f.Offered().Of
	case f.View == "codes":
		return "table"
	case f.View == "versions", f.View == "compare":
		return "compare"
	case f.View == "backoff":
		return "curve"
	case f.Static || strings.TrimSpace(f.Old) != "":
		return "validate"
	case overTime.MatchString(f.Exits):
		return "simulate"
	case asking.MatchString(f.Exits) || strings.TrimSpace(f.Pods) != "":
		return "decide"
	case livePod.MatchString(f.Manifest):
		return "simulate"
	}
	return "validate"
}

// Offered returns the question of Offer; one without an operation if it cannot be read.
func (f Form) Offered() (ask document.Ask) {
	if json.Unmarshal([]byte(f.Offer), &ask) != nil {
		return document.Ask{}
	}
	return ask
}

// Question returns the member question of the request that f makes, nil if nothing is asked. The
// core reads it: what is wrong with it has its place there.
func (f Form) Question() json.RawMessage {
	if !asking.MatchString(f.Exits) {
		return nil
	}
	return plainJSON(f.Exits)
}

// plainJSON writes a value as JavaScript does.
func plainJSON(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("views: " + err.Error()) // no value of these types fails
	}
	return bytes.TrimSpace(b.Bytes())
}

// PodsWithRuns is the fault of a form that has Pods and runs over time: the first asks what became
// of a Job, the second what would become of it.
func PodsWithRuns() *Fault {
	return &Fault{Path: "pods", Code: "conflict", Detail: "the Pods have ended, but the exits simulate the Job from its beginning: leave one of the two empty"}
}

// CheckedOnly is the fault of a form that asks whether an update or a static Pod is accepted, and
// what becomes of exits.
func CheckedOnly() *Fault {
	return &Fault{Path: "old", Code: "conflict", Detail: "an update and a static Pod are only checked: leave the exits and the Pods empty"}
}

// Refuse is the error of a payload for a fault that was found before any operation was asked, as
// JSON.
func Refuse(f *Fault) []byte {
	code := "EVENT_INVALID"
	switch {
	case f.Code == "conflict":
	case f.Path == "pods":
		code = "BAD_PODS"
	default:
		code = "BAD_YAML"
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
