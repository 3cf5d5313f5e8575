package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/podfate/podfate/policy/words"
	"github.com/podfate/podfate/schema"
	"github.com/podfate/podfate/schema/document"
)

// The texts below are for people and may change in any release; programs use -o json. The words are
// those of the documents: here is only where they go.

// subject names the manifest: Pod trainer (pod.yaml).
func (o outcome) subject() string {
	if o.asked.request == nil {
		return o.asked.source
	}
	kind, name, source, _, _ := o.asked.request.Manifest()
	if kind == "" && source == "" && o.op.Name == "validate" { // what is judged without a manifest
		kind, source = "KubeletConfiguration", o.asked.source
	}
	subject := words.Visible(strings.TrimSpace(cmp.Or(kind, "manifest") + " " + name))
	if template := o.asked.request.Template(); template != "" {
		subject += ", " + words.Visible(template)
	}
	if source != "" {
		subject += " (" + source + ")"
	}
	return subject
}

// at is how a place begins a line: pod.yaml:12:5, or the file alone, or the command for what comes
// from flags.
func (o outcome) at(place document.Place) string {
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

// kinds are what is put before the text of what is no fault.
var kinds = map[string]string{"warning": "warning: ", "dropped": "dropped: ", "undecided": "undecided: ", "note": "note: "}

// maxAllowed bounds the words that a line lists as possible: more are looked up in the
// documentation.
const maxAllowed = 30

// report writes what is wrong as FILE:LINE:COLUMN: path: message, one fault a line.
func (p *printer) report(o outcome, i document.Item) {
	text := i.Text
	if len(i.Allowed) > 0 && len(i.Allowed) <= maxAllowed {
		text += " (possible: " + strings.Join(i.Allowed, ", ") + ")"
	}
	if i.Because != "" {
		text += " (" + i.Because + ")"
	}
	where := o.where(i)
	if beside := fromFlags(i.Path) && o.asked.request != nil; beside {
		where = "podfate"
		missing := !strings.ContainsAny(i.Path, ".[") && i.Path == "exits" && i.Mark == "fault"
		if missing {
			text = "exits: at least one exit is required; add --exit NAME=CODE, or a Scenario with exits; for the Pods of a Job, --pods FILE"
		}
		if i.Path == "wishes" && i.Mark == "fault" && !asks(o.asked.request, "wishes", "flip") {
			missing = true
			text = "wishes: what should an exit lead to? add --flip NAME=CODE:RESULT, or wishes such as --restart 42, or a Scenario with either"
		}
		// A member that is missing is nowhere: its place would be that of the first document.
		if source, line, column := o.asked.request.Position(i.Path); source != "" && line > 0 && !missing {
			where = fmt.Sprintf("%s:%d:%d", source, line, column)
		}
	}
	if i.Path == "manifest" && strings.HasPrefix(i.Text, "manifest: unknown") {
		text = "this question takes no manifest: " + o.op.Name + " takes a Scenario or a KubeletConfiguration"
	}
	if i.Path == "manifest" && strings.HasPrefix(i.Text, "manifest: a manifest is required, with") && asksInFile(o.asked.request) {
		text += ". What a file says about manifests in others begins with apiVersion: podfate.dev/v1 and kind: Scenario (podfate help scenario)"
	}
	line := where + ": " + kinds[i.Mark] + words.Visible(text) + "\n"
	if fromFlags(i.Path) { // a Scenario in a folder belongs to each of its manifests
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

// asks reports whether a request has one of these members.
func asks(r *schema.Request, names ...string) bool {
	var members map[string]json.RawMessage
	if json.Unmarshal(r.JSON(), &members) != nil {
		return false
	}
	return slices.ContainsFunc(names, func(name string) bool { return members[name] != nil })
}

// asksInFile reports whether a request has members that a file gave it, and not flags alone.
func asksInFile(r *schema.Request) bool {
	var members map[string]json.RawMessage
	if r == nil || json.Unmarshal(r.JSON(), &members) != nil {
		return false
	}
	for name := range members {
		if source, line, _ := r.Position(name); source != "" && line > 0 {
			return true
		}
	}
	return false
}

// where is the place of an item, by its path if the core gave none. Of texts that could not be read
// each fault has its own.
func (o outcome) where(i document.Item) string {
	if o.asked.request == nil {
		for _, f := range o.asked.faults {
			if f.Source != "" && f.Line > 0 && f.Line == i.Line && f.Column == i.Column && strings.Contains(i.Text, words.Visible(f.Detail)) {
				return fmt.Sprintf("%s:%d:%d", f.Source, f.Line, f.Column)
			}
		}
		return o.at(i.Place)
	}
	if i.Line == 0 && i.Path != "" {
		_, i.Line, i.Column = o.asked.request.Position(schema.InManifest(i.Path))
	}
	return o.at(i.Place)
}

// fromFlags reports whether path is of a part of the request besides the manifest: a flag set it,
// or a Scenario.
func fromFlags(path string) bool {
	for _, name := range []string{
		"show", "question", "text",
		"exits", "pods", "cluster", "fieldValidation", "templatePath", "old", "static", "from", "now", "runs", "runsFrom", "podRuns", "owner", "jobRuns", "events", "timing", "until",
		"backoff", "jobBackoff", "run", "model", "windows", "outage", "sweep", "module", "template", "container", "restartCount", "restartCounts", "decide", "wishes", "flip", "to", "spelling", "of", "request", "error", "warnings", "variants", "answers",
		"nodes", "groups", "pools", "spread", "requestsPerRestart", "bin", "gang", "goal", "cost",
	} {
		if rest, ok := strings.CutPrefix(path, name); ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			return true
		}
	}
	return false
}

// isRemark reports whether the items of a block go to standard error: faults, warnings, dropped
// fields, and what keeps validate from an answer.
func (o outcome) isRemark(b document.Block) bool {
	if b.Kind != "list" || len(b.Items) == 0 {
		return false
	}
	switch b.Items[0].Mark {
	case "fault", "warning", "dropped":
		return true
	case "undecided":
		return o.op.Name == "validate"
	}
	return false
}

// remarks writes to standard error what is not an answer by itself.
func (p *printer) remarks(o outcome) {
	found := false
	for _, b := range o.document.Blocks {
		if o.isRemark(b) {
			found = true
			for _, i := range b.Items {
				p.report(o, i.Item)
			}
		}
	}
	if o.failed && !found { // an error without faults: a limit, a time-out
		p.report(o, document.Item{Text: o.document.Verdict.Text, Path: o.document.Verdict.Path, Place: o.document.Verdict.Place})
	}
	if o.asked.request == nil {
		return
	}
	for _, n := range o.asked.request.Notes() {
		text := n.Detail
		if n.Path != "" {
			text = n.Path + ": " + text
		}
		p.report(o, document.Item{Mark: "note", Text: text, Path: n.Path, Place: document.Place{Line: n.Line, Column: n.Column}})
	}
}

// validate prints a line for each manifest.
func (p *printer) validate(o outcome) error {
	p.remarks(o)
	if o.failed {
		return nil
	}
	v := o.document.Verdict
	text := v.Text
	if i := strings.Index(text, ": "); i > 0 && v.Tone == "fail" {
		text = text[:i] + "." // the faults are above, each with its place
	}
	_, err := fmt.Fprintf(p.Out, "%s: %s. %s\n", o.subject(), v.Title, text)
	return err
}

// paint prints the document of an answer: faults, warnings and the like to standard error, each
// with its place, the rest to standard output.
func (p *printer) paint(o outcome) error {
	p.remarks(o)
	if o.failed {
		return nil
	}
	return p.write(o, slices.DeleteFunc(slices.Clone(o.document.Blocks), o.isRemark))
}

// explain prints the whole document, whatever was explained.
func (p *printer) explain(o outcome) error {
	if o.failed {
		return p.paint(o)
	}
	answer, d, err := document.Read(o.answer)
	if err != nil {
		return err
	}
	p.bad = p.bad || isError(answer) || bytes.HasPrefix(answer, invalid)
	o.document = d
	return p.write(o, d.Blocks)
}

// isError reports whether an answer is an error payload.
func isError(answer []byte) bool { return bytes.HasPrefix(answer, []byte(`{"error":`)) }

func (p *printer) write(o outcome, blocks []document.Block) error {
	var b bytes.Buffer
	if p.count > 0 {
		b.WriteByte('\n')
	}
	subject := ""
	if o.asked.request != nil {
		if kind, _, source, _, _ := o.asked.request.Manifest(); kind != "" || source != "" && o.document.Releases == "" {
			subject = o.subject()
		}
	}
	if head := strings.Trim(subject+", "+o.document.Releases, ", "); head != "" {
		b.WriteString(head + "\n\n")
	}
	paint := painter{colour: p.colour, width: p.width, place: o.lineOf, command: p.command}
	b.Write(paint.paint(&document.Document{Verdict: o.document.Verdict, Blocks: blocks}))
	_, err := p.Out.Write(b.Bytes())
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

// lineOf says where a path is: line 12.
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
