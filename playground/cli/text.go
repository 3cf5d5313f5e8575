package cli

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

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
	subject := views.Visible(strings.TrimSpace(cmp.Or(kind, "manifest") + " " + name))
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
		p.said[line] = true
	}
	io.WriteString(p.Err, line)
}

// fromFlags reports whether path is of a part of the request beside the manifest: a flag set it, or a Scenario.
func fromFlags(path string) bool {
	for _, name := range []string{
		"exits", "pods", "cluster", "fieldValidation", "old", "static", "from", "now", "runs", "podRuns", "events", "timing", "until",
		"backoff", "run", "model", "windows", "outage", "sweep", "module", "template", "of", "request",
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
	case a.Valid:
		_, err = fmt.Fprintf(p.Out, "%s: valid in Kubernetes %s%s\n", o.subject(), a.Cluster.Releases(), counts(a))
	default:
		_, err = fmt.Fprintf(p.Out, "%s: not valid in Kubernetes %s%s\n", o.subject(), a.Cluster.Releases(), counts(a))
	}
	return err
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

// trimLines drops the blanks that aligning leaves at the ends of lines.
func trimLines(text []byte) []byte {
	lines := bytes.Split(text, []byte("\n"))
	for i, line := range lines {
		lines[i] = bytes.TrimRight(line, " ")
	}
	return bytes.Join(lines, []byte("\n"))
}

// sentence returns the words for a code; a code of a later release stands for itself.
func sentence(code string) string { return views.Phrase(code) }

// paint prints the document of an answer: faults, warnings and the like to standard error, each with
// its place, the rest to standard output.
func (p *printer) paint(o outcome) error {
	if o.document == nil { // what could not be read, or an engine without words
		a, err := o.read()
		if err == nil {
			p.remarks(o, a)
		}
		return err
	}
	a, err := o.read()
	if err != nil {
		return err
	}
	p.remarks(o, a)
	if a.Error != nil {
		return nil
	}
	return p.write(o, slices.DeleteFunc(o.document.Blocks, func(b document.Block) bool { return remarked[b.Title] }))
}

// remarked are the blocks that are on standard error.
var remarked = map[string]bool{"Faults": true, "Dropped silently": true, "Accepted, but": true}

// explain prints the whole document, whatever was explained.
func (p *printer) explain(o outcome) error {
	if o.failed {
		return p.yaml(o)
	}
	answer, d, err := document.Read(o.answer)
	if err != nil {
		return err
	}
	p.bad = p.bad || isRefusal(answer)
	o.document = d
	return p.write(o, d.Blocks)
}

// isRefusal reports whether an answer inside of an explanation is an error, or says that a manifest is not valid.
func isRefusal(answer []byte) bool {
	return bytes.HasPrefix(answer, []byte(`{"error":`)) || bytes.HasPrefix(answer, invalid)
}

func (p *printer) write(o outcome, blocks []document.Block) error {
	var b bytes.Buffer
	if p.count > 0 {
		b.WriteByte('\n')
	}
	subject := ""
	if o.asked.request != nil {
		if kind, _, _, _, _ := o.asked.request.Manifest(); kind != "" || o.document.Releases == "" {
			subject = o.subject()
		}
	}
	if head := strings.Trim(subject+", "+o.document.Releases, ", "); head != "" {
		b.WriteString(head + "\n\n")
	}
	paint := painter{colour: p.colour, width: p.width, place: o.lineOf}
	b.Write(paint.paint(&document.Document{Verdict: o.document.Verdict, Blocks: blocks}))
	_, err := p.Out.Write(b.Bytes())
	return err
}

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
