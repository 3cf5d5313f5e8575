package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/schema"
	"github.com/podfate/podfate/schema/document"
	"github.com/podfate/podfate/web/views"
)

// The texts below are for people and may change in any release; programs use -o json.

// read decodes an answer, with the places of its parts in the text.
func (o outcome) read() (*views.Answer, error) {
	request := o.asked.request
	if request == nil {
		a, err := views.ReadAnswer(o.op.Name, nil, o.answer, nil)
		if err == nil && a.Error != nil { // what cannot be read is all text, the parts beside the manifest as well
			for i := range min(len(a.Error.Faults), len(o.asked.faults)) {
				f := &o.asked.faults[i]
				a.Error.Faults[i].Place = views.Place{Line: f.Line, Column: f.Column}
			}
		}
		return a, err
	}
	return views.ReadAnswer(o.op.Name, request.JSON(), o.answer, func(path string) (line, column int) {
		if fromFlags(path) {
			_, line, column = request.Position(path)
			return line, column
		}
		_, line, column = request.Position(schema.InManifest(path))
		return line, column
	})
}

// subject names the manifest: Pod trainer (pod.yaml).
func (o outcome) subject() string {
	if o.asked.request == nil {
		return o.asked.source
	}
	kind, name, source, _, _ := o.asked.request.Manifest()
	if kind == "" && source == "" && o.op.Name == "validate" { // what is judged without a manifest
		kind, source = "KubeletConfiguration", o.asked.source
	}
	subject := views.Visible(strings.TrimSpace(cmp.Or(kind, "manifest") + " " + name))
	if template := o.asked.request.Template(); template != "" {
		subject += ", " + views.Visible(template)
	}
	if source != "" {
		subject += " (" + source + ")"
	}
	return subject
}

// at is how a place begins a line: pod.yaml:12:5, or the file alone, or the command for what comes from flags.
func (o outcome) at(place views.Place) string {
	source := o.asked.source
	if o.asked.request != nil {
		if _, _, file, _, _ := o.asked.request.Manifest(); file != "" {
			source = file
		}
	}
	switch {
	case source == "":
		return "podfate"
	case place.Line == 0:
		return source
	}
	return fmt.Sprintf("%s:%d:%d", source, place.Line, place.Column)
}

// report writes what is wrong as FILE:LINE:COLUMN: path: message, one fault a line. kind is put before the message of what is
// no error.
func (p *printer) report(o outcome, kind string, f views.Fault) {
	text := f.Plain()
	where := o.at(f.Place)
	if o.asked.request == nil {
		for _, s := range o.asked.faults { // of several files each has its own
			if s.Source != "" && s.Path == f.Path && s.Detail == f.Detail && s.Line == f.Line && s.Column == f.Column && s.Line > 0 {
				where = fmt.Sprintf("%s:%d:%d", s.Source, s.Line, s.Column)
			}
		}
	}
	if fromFlags(f.Path) && o.asked.request != nil {
		where = "podfate"
		missing := f.Code == string(policy.CodeRequired) && !strings.ContainsAny(f.Path, ".[")
		if missing && f.Path == "exits" {
			text = "exits: at least one exit is required; add --exit NAME=CODE, or a Scenario with exits; for the Pods of a Job, --pods FILE"
		}
		// A member that is missing stands nowhere: its place would be that of the first document.
		if source, line, column := o.asked.request.Position(f.Path); source != "" && line > 0 && !missing {
			where = fmt.Sprintf("%s:%d:%d", source, line, column)
		}
	}
	if f.Path == "manifest" && f.Code == string(policy.CodeUnknownField) {
		text = "no manifest is asked for: " + o.op.Name + " takes a Scenario or a KubeletConfiguration"
	}
	line := fmt.Sprintf("%s: %s%s\n", where, kind, views.Visible(text))
	if fromFlags(f.Path) { // a Scenario in a folder belongs to each of its manifests
		if p.said[line] {
			p.repeated++
			return
		}
		if len(p.said) < maxSaid {
			p.said[line] = true
		}
	}
	io.WriteString(p.Err, line)
}

// fromFlags reports whether path is of a part of the request beside the manifest: a flag set it, or a Scenario.
func fromFlags(path string) bool {
	for _, name := range []string{
		"exits", "pods", "cluster", "fieldValidation", "templatePath", "old", "static", "from", "now", "runs", "podRuns", "events", "timing", "until",
		"backoff", "run", "model", "windows", "outage", "sweep", "module", "of", "request",
	} {
		if rest, ok := strings.CutPrefix(path, name); ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			return true
		}
	}
	return false
}

// remarks writes to standard error what is not an answer by itself.
func (p *printer) remarks(o outcome, a *views.Answer) {
	if e := a.Error; e != nil {
		faults := e.Faults
		if len(faults) == 0 {
			faults = []views.Fault{{Path: e.Path, Detail: e.Message, Place: e.Place}}
		}
		for _, f := range faults {
			p.report(o, "", f)
		}
	}
	for _, f := range a.Faults {
		p.report(o, "", f)
	}
	if o.op.Name == "validate" {
		for _, u := range a.Undecided {
			p.report(o, "undecided: ", views.Fault{Path: u.Path, Detail: sentence(u.Reason), Place: u.Place})
		}
	}
	for _, d := range a.Dropped {
		p.report(o, "dropped: ", views.Fault{Path: d.Path, Detail: "the gate " + d.Gate + " is off, so the API server drops this field", Place: d.Place})
	}
	for _, f := range a.Warnings {
		p.report(o, "warning: ", f)
	}
	if o.asked.request == nil {
		return
	}
	for _, n := range o.asked.request.Notes() {
		p.report(o, "note: ", views.Fault{Path: n.Path, Detail: n.Detail, Place: views.Place{Line: n.Line, Column: n.Column}})
	}
}

// validate prints a line for each manifest.
func (p *printer) validate(o outcome) error {
	a, err := o.read()
	if err != nil {
		return err
	}
	p.remarks(o, a)
	switch {
	case a.Error != nil:
		return nil
	case a.Valid && len(a.Templates) > 0: // nothing is said of the object itself
		_, err = fmt.Fprintf(p.Out, "%s: %s valid in Kubernetes %s%s\n", o.subject(), plural(int64(len(a.Templates)), "template"), a.Cluster.Releases(), counts(a))
	case a.Valid:
		_, err = fmt.Fprintf(p.Out, "%s: valid in Kubernetes %s%s\n", o.subject(), a.Cluster.Releases(), counts(a))
	default:
		_, err = fmt.Fprintf(p.Out, "%s: not valid in Kubernetes %s%s\n", o.subject(), a.Cluster.Releases(), counts(a))
	}
	if line := notChecked(a); err == nil && line != "" {
		_, err = fmt.Fprintf(p.Out, "  %s\n", line)
	}
	return err
}

// namedPaths is how many fields that are not checked a line names; -o json lists them all.
const namedPaths = 6

// notChecked says which fields of a manifest were judged by name and type only; "" if there is none.
func notChecked(a *views.Answer) string {
	n := len(a.NotChecked)
	if n == 0 {
		return ""
	}
	line := "judged by name and type only: " + views.Visible(strings.Join(a.NotChecked[:min(n, namedPaths)], ", "))
	if more := n + a.NotCheckedMore - min(n, namedPaths); more > 0 {
		line += fmt.Sprintf(" and %d more", more)
	}
	return line
}

// counts says how much there is on standard error.
func counts(a *views.Answer) string {
	var parts []string
	for _, part := range []struct {
		n    int
		noun string
	}{{len(a.Faults), "fault"}, {len(a.Dropped), "dropped field"}, {len(a.Warnings), "warning"}} {
		switch {
		case part.n == 1:
			parts = append(parts, "1 "+part.noun)
		case part.n > 1:
			parts = append(parts, fmt.Sprintf("%d %ss", part.n, part.noun))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return ", " + strings.Join(parts, ", ")
}

// decide prints, for each exit, the verdict and how it came about.
func (p *printer) decide(o outcome) error {
	a, err := o.read()
	if err != nil {
		return err
	}
	p.remarks(o, a)
	if a.Error != nil {
		return nil
	}
	var b bytes.Buffer
	if p.count > 0 {
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "%s, Kubernetes %s\n", o.subject(), a.Cluster.Releases())
	for _, d := range a.Decisions {
		fmt.Fprintf(&b, "\n%s\n", verdict(d))
		table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		for _, s := range d.Trace {
			place := ""
			if s.Line > 0 {
				place = fmt.Sprintf("line %d", s.Line)
			}
			fmt.Fprintf(table, "  %s\t%s\t%s\t%s\t%s\n", strings.ReplaceAll(s.Result, "_", " "), s.Path, place, s.Quote, because(s.Code, s.Ignored))
		}
		table.Flush() // into memory: it cannot fail
	}
	writePods(&b, a)
	_, err = p.Out.Write(trimLines(b.Bytes()))
	return err
}

// trimLines drops the blanks that aligning leaves at the ends of lines.
func trimLines(text []byte) []byte {
	lines := bytes.Split(text, []byte("\n"))
	for i, line := range lines {
		lines[i] = bytes.TrimRight(line, " ")
	}
	return bytes.Join(lines, []byte("\n"))
}

// verdict is a decision in one line.
func verdict(d views.Decision) string {
	exit := fmt.Sprintf("%s exits with %d", views.Visible(d.Container), d.ExitCode)
	if d.Reason != "" {
		exit += " (" + views.Visible(d.Reason) + ")"
	}
	if d.Undecided != nil {
		return fmt.Sprintf("%s: undecided, because of %s: %s", exit, d.Undecided.Path, sentence(d.Undecided.Reason))
	}
	line := exit + ": " + d.Action + ", "
	if d.DecidedBy.Level == "rule" {
		line += fmt.Sprintf("by rule %d", d.DecidedBy.Rule)
	} else {
		line += decided(d)
	}
	if d.PodFails {
		line += "; the Pod fails"
	}
	return line
}

// decided says which policy decided.
func decided(d views.Decision) string {
	if d.DecidedBy.Level == "default" && d.Because == "policy_always" {
		return "because restartPolicy is Always by default"
	}
	return "because " + sentence(d.Because)
}

func because(code, ignored string) string {
	text := sentence(code)
	if ignored != "" {
		text += ", but " + cmp.Or(ignoredSentences[ignored], strings.ReplaceAll(ignored, "_", " "))
	}
	return text
}

// ignoredSentences says why a rule that matched does not decide.
var ignoredSentences = map[string]string{
	"unknown_action": "this release does not know the action",
	"gate_off":       "the gate RestartAllContainersOnContainerExits is off",
	"sidecar":        "a sidecar is restarted anyway",
	"init_completed": "an init container that succeeded is not run again",
	"no_policy":      "rules count only beside a restartPolicy of the container",
}

// sentence returns the words for a code; a code of a later release stands for itself.
func sentence(code string) string { return views.Phrase(code) }

// describe prints what describe says, without what only programs need.
func (p *printer) describe(o outcome) error {
	var d struct {
		Product, ABI, Schema, DefaultVersion string
		Versions                             []string
		Gates                                []struct {
			Name     string
			Versions []struct {
				Version, Stage string
				Default        bool
			}
		}
		Operations []struct{ Name, Summary string }
		Limits     json.RawMessage
		Module     struct {
			SHA256 string
			Bytes  int
		}
	}
	if o.failed {
		_, err := p.Err.Write(append(o.answer, '\n'))
		return err
	}
	if err := json.Unmarshal(o.answer, &d); err != nil {
		return err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s, abi %s, schema %s\nmodule sha256:%s, %d bytes\n", d.Product, d.ABI, d.Schema, d.Module.SHA256, d.Module.Bytes)
	fmt.Fprintf(&b, "\nKubernetes versions: %s; the default is %s\n\n", strings.Join(d.Versions, ", "), d.DefaultVersion)
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "Feature gate\t%s\n", strings.Join(d.Versions, "\t"))
	for _, g := range d.Gates {
		fmt.Fprint(table, g.Name)
		for _, version := range d.Versions {
			state := "-"
			for _, r := range g.Versions {
				if r.Version == version {
					state = map[bool]string{true: "on ", false: "off "}[r.Default] + strings.ToLower(r.Stage)
				}
			}
			fmt.Fprint(table, "\t", state)
		}
		fmt.Fprintln(table)
	}
	table.Flush() // into memory: it cannot fail
	b.WriteString("\n")
	for _, op := range d.Operations {
		fmt.Fprintf(table, "%s\t%s\n", op.Name, op.Summary)
	}
	table.Flush()
	var limits bytes.Buffer
	if err := json.Indent(&limits, d.Limits, "  ", "  "); err == nil {
		fmt.Fprintf(&b, "\nLimits: %s\n", strings.Join(strings.Fields(strings.NewReplacer(`"`, "", "{", "", "}", "", ":", "").Replace(limits.String())), " "))
	}
	_, err := p.Out.Write(trimLines(b.Bytes()))
	return err
}

// explain paints the document, whatever was explained.
func (p *printer) explain(o outcome) error {
	if o.failed {
		return p.yaml(o)
	}
	answer, d, err := document.Read(o.answer)
	if err != nil {
		return err
	}
	if bytes.HasPrefix(answer, []byte(`{"error":`)) || bytes.HasPrefix(answer, invalid) {
		p.bad = true
	}
	var b bytes.Buffer
	if p.count > 0 {
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "%s\n\n", o.subject())
	paint := painter{width: terminalWidth, place: o.lineOf}
	b.Write(paint.paint(d))
	_, err = p.Out.Write(b.Bytes())
	return err
}

// terminalWidth is the columns of a terminal.
const terminalWidth = 100

// lineOf says where a path stands: line 12.
func (o outcome) lineOf(path string) string {
	if o.asked.request == nil {
		return ""
	}
	if !fromFlags(path) {
		path = schema.InManifest(path)
	}
	if _, line, _ := o.asked.request.Position(path); line > 0 {
		return fmt.Sprintf("line %d", line)
	}
	return ""
}
