package views

import (
	"encoding/json"
	"strconv"
	"strings"
)

// Locator finds a path of the manifest in the text as typed; line 0 if it cannot.
type Locator func(path string) (line, column int)

// ReadAnswer makes what the page shows of the answer to request by operation. answer is what the core wrote, an error
// payload too, with line and column already those of the text as typed; locate gives the places that the core does not
// write. locate may be nil. The error is that of a JSON text that is no answer.
func ReadAnswer(operation string, request, answer []byte, locate Locator) (*Answer, error) {
	a := &Answer{Operation: operation, Request: string(request)}
	if err := json.Unmarshal(answer, a); err != nil {
		return nil, err
	}
	r := reader{locate: locate, dropped: map[string]bool{}}
	for _, d := range a.Dropped {
		r.dropped[d.Path] = true
	}
	var asked struct {
		Cluster  Cluster `json:"cluster"`
		Manifest any     `json:"manifest"`
	}
	if json.Unmarshal(request, &asked) == nil {
		r.manifest = asked.Manifest
	}
	if a.Error != nil && a.Error.Code == "MANIFEST_INVALID" {
		a.Cluster = asked.Cluster // an error does not repeat the version that refuses
	}
	for i := range a.Decisions {
		r.decision(&a.Decisions[i])
	}
	for i := range a.PodDecisions {
		d := &a.PodDecisions[i]
		if d.Undecided != nil {
			r.place(d.Undecided.Path, &d.Undecided.Place)
		}
		if d.DecidedBy.Path != "" {
			r.place(d.DecidedBy.Path, &d.DecidedBy.Place)
		}
		for k := range d.Trace {
			r.place(d.Trace[k].Path, &d.Trace[k].Place)
			d.Trace[k].Quote = quoteFailureRule(r.at(d.Trace[k].Path))
		}
	}
	for i := range a.Layers.Containers {
		if by := &a.Layers.Containers[i].DecidedBy; by.Path != "" {
			r.place(by.Path, &by.Place)
		}
	}
	for i := range a.Layers.Pods {
		if p := &a.Layers.Pods[i]; p.Rule != nil {
			r.place(r.jobPath()+".podFailurePolicy.rules["+number(*p.Rule)+"]", &p.Place)
		}
	}
	for i := range a.Timeline {
		if by := &a.Timeline[i].DecidedBy; by.Path != "" {
			r.place(by.Path, &by.Place)
		}
	}
	for i := range a.Undecided {
		if u := &a.Undecided[i]; u.Path != "" && control(u.Path) == "" {
			r.place(u.Path, &u.Place)
		}
	}
	for i := range a.Faults {
		r.fault(&a.Faults[i])
	}
	for i := range a.Warnings {
		r.fault(&a.Warnings[i])
	}
	for i := range a.Dropped {
		r.place(a.Dropped[i].Path, &a.Dropped[i].Place)
	}
	if a.Error != nil {
		for i := range a.Error.Faults {
			r.fault(&a.Error.Faults[i])
		}
		whole := Fault{Path: a.Error.Path, Place: a.Error.Place}
		r.fault(&whole)
		a.Error.Place = whole.Place
	}
	return a, nil
}

// reader adds what stands in the manifest to an answer.
type reader struct {
	manifest any // as decoded from JSON, nil if unknown
	dropped  map[string]bool
	locate   Locator
}

func (r reader) place(path string, p *Place) {
	if p.Line == 0 && r.locate != nil {
		p.Line, p.Column = r.locate(path)
	}
}

// fault forgets the place of what is not in the manifest: lines of the generated request mean nothing to a reader.
func (r reader) fault(f *Fault) {
	switch id := control(f.Path); {
	case id == "pods": // those that a Scenario holds have a line, those of the form have none
	case id != "":
		f.Place = Place{}
	case f.Path != "":
		r.place(f.Path, &f.Place)
	}
}

func (r reader) decision(d *Decision) {
	if d.Undecided != nil {
		r.place(d.Undecided.Path, &d.Undecided.Place)
	} else {
		r.place(d.DecidedBy.Path, &d.DecidedBy.Place)
	}
	for i := range d.Trace {
		s := &d.Trace[i]
		r.place(s.Path, &s.Place)
		s.Quote, s.values = quoteStep(r.at(s.Path))
		if s.Code == "not_set" && r.dropped[s.Path] {
			s.Code = "dropped" // the kubelet never saw what stands there
		}
	}
}

// jobPath is the path of the Job in the manifest.
func (r reader) jobPath() string {
	if m, _ := r.manifest.(map[string]any); m["kind"] == "CronJob" {
		return "spec.jobTemplate.spec"
	}
	return "spec"
}

// at returns the value at path in the manifest, nil if there is none. The paths of steps have plain names only.
func (r reader) at(path string) any {
	v := r.manifest
	for _, name := range strings.FieldsFunc(path, func(c rune) bool { return c == '.' || c == '[' || c == ']' }) {
		switch container := v.(type) {
		case map[string]any:
			v = container[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(container) {
				return nil
			}
			v = container[i]
		default:
			return nil
		}
	}
	return v
}

// quoteStep returns in short what stands in the manifest: a policy's value, or a rule as In [42] → Restart with its
// values.
func quoteStep(v any) (quote, values string) {
	switch v := v.(type) {
	case string:
		return Visible(short(v)), ""
	case map[string]any:
		if _, isContainer := v["name"]; isContainer {
			return "", ""
		}
		on, _ := v["exitCodes"].(map[string]any)
		operator, _ := on["operator"].(string)
		action, _ := v["action"].(string)
		values = quoteValues(on["values"])
		return say("rule", "operator", Visible(short(operator)), "values", values, "action", Visible(short(action))), values
	}
	return "", ""
}

// quoteFailureRule returns in short a rule of a podFailurePolicy: main In [42] → FailJob, DisruptionTarget=True → Ignore.
func quoteFailureRule(v any) string {
	rule, _ := v.(map[string]any)
	text := func(v any, otherwise string) string {
		if s, ok := v.(string); ok {
			return Visible(short(s))
		}
		return otherwise
	}
	var parts []string
	if on, _ := rule["onExitCodes"].(map[string]any); on != nil {
		parts = append(parts, strings.TrimSpace(text(on["containerName"], "")+" "+text(on["operator"], "")+" "+quoteValues(on["values"])))
	}
	conditions, _ := rule["onPodConditions"].([]any)
	for _, c := range conditions[:min(len(conditions), maxValuesShown)] {
		pattern, _ := c.(map[string]any)
		parts = append(parts, text(pattern["type"], "")+"="+text(pattern["status"], "True"))
	}
	return strings.Join(parts, " or ") + " → " + text(rule["action"], "")
}

// maxValuesShown bounds how many values of a rule a step repeats.
const maxValuesShown = 8

func quoteValues(v any) string {
	list, _ := v.([]any)
	var shown []string
	for _, e := range list[:min(len(list), maxValuesShown)] {
		text, err := json.Marshal(e)
		if err == nil {
			shown = append(shown, Visible(short(string(text))))
		}
	}
	if len(list) > maxValuesShown {
		return say("values.cut", "values", strings.Join(shown, ", "), "n", number(len(list)))
	}
	return say("values", "values", strings.Join(shown, ", "))
}

// control returns the id of the form's control that path of the request speaks of, "" for a path of the manifest.
func control(path string) string {
	switch {
	case path == "exits" || strings.HasPrefix(path, "exits["), path == "runs", strings.HasPrefix(path, "runs."), strings.HasPrefix(path, "runs["), path == "until", strings.HasPrefix(path, "events["), strings.HasPrefix(path, "timing"):
		return "exits"
	case path == "pods" || strings.HasPrefix(path, "pods["):
		return "pods"
	case path == "cluster.version":
		return "version"
	case path == "cluster.featureGates" || strings.HasPrefix(path, "cluster.featureGates"):
		return "gates"
	case path == "fieldValidation":
		return "validation"
	}
	return ""
}
