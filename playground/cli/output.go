package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/podfate/podfate/playground/server"
	"github.com/podfate/podfate/policy/ops"
	"github.com/podfate/podfate/schema"
	"github.com/podfate/podfate/schema/document"
	"go.yaml.in/yaml/v3"
	"golang.org/x/term"
)

// outcome is what an operation said to one request.
type outcome struct {
	op       ops.Operation
	asked    asked
	document *document.Document // of the answer, where a text is painted; nil otherwise

	answer []byte // as the core wrote it, with the places of the text that was read
	failed bool   // answer is an error payload
}

// printer writes outcomes and remembers whether one of them was bad.
type printer struct {
	Streams
	form  func(*printer, outcome) error
	fixes *fixer // nil unless fixes are to be made
	words bool   // the form is made of documents

	inCI    string // of ciOutputs: the form is written when everything is there; "" otherwise
	verb    string
	checked []checked
	bad     bool
	count   int

	colour bool // Out is a terminal that may be coloured
	width  int  // columns of Out

	command func(*document.Ask) string // asks what a document offers; nil, and "" for what has no command

	said     map[string]bool // faults of what all manifests share
	repeated int             // how often they came again

	progress *progress
	files    int  // that were skipped
	broken   bool // a file in a folder cannot be read
}

// maxSaid bounds the faults that are remembered.
const maxSaid = 1000

func newPrinter(output, verb string, text func(*printer, outcome) error, streams Streams) (*printer, error) {
	forms := map[string]func(*printer, outcome) error{
		"text": text, "json": (*printer).json, "jsonl": (*printer).jsonl, "yaml": (*printer).yaml,
	}
	form, known := forms[output]
	report := ""
	if slices.Contains(ciVerbs, verb) && slices.Contains(ciOutputs, output) {
		form, known, report = (*printer).gather, true, output
	}
	if !known {
		return nil, outputFault(output, verb)
	}
	colour, width := terminal(streams.Out)
	return &printer{Streams: streams, form: form, words: output == "text" || report != "", inCI: report, verb: verb, said: map[string]bool{}, colour: colour, width: width, progress: newProgress(streams.Err)}, nil
}

// outputFault refuses a form that the answers of a verb do not have.
func outputFault(output, verb string) error {
	possible := outputsOf(verb)
	if slices.Contains(possible, output) {
		return nil
	}
	return fmt.Errorf("--output %q: must be %s or %s", output, strings.Join(possible[:len(possible)-1], ", "), possible[len(possible)-1])
}

// outputsOf are the forms of a verb's answers.
func outputsOf(verb string) []string {
	if slices.Contains(ciVerbs, verb) {
		return slices.Concat(outputs, ciOutputs)
	}
	return outputs
}

// plainWidth is how wide a text is that nobody sees in a terminal.
const plainWidth = 100

// terminal says whether w is a terminal that may be coloured, and how wide it is. NO_COLOR, set to
// anything, keeps colours out (no-color.org).
func terminal(w io.Writer) (colour bool, width int) {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return false, plainWidth
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil || width < 20 {
		width = plainWidth
	}
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb", width
}

// ask puts the question to an engine. With words the engine explains its answer, and both are kept.
func (o *outcome) ask(ctx context.Context, engine server.Engine, words bool) error {
	explain, _ := ops.Lookup("explain")
	number, request, relocate := o.op.Number, []byte(nil), func(answer []byte) []byte { return answer }
	if o.asked.request != nil {
		request, relocate = o.asked.request.Call(), o.asked.request.Relocate
	}
	switch {
	case o.asked.faults != nil: // what cannot be read is put into words all the same
		number, words = explain.Number, true
		request = explainError(o.op.Name, o.asked.faults.Payload())
	case words && number != explain.Number:
		number, request = explain.Number, o.asked.request.Explain(o.op.Name)
	}
	answer, failed, err := engine.Call(ctx, number, request)
	if err != nil {
		return err
	}
	o.answer, o.failed = relocate(answer), failed
	if number != explain.Number || o.op.Number == explain.Number && o.asked.faults == nil && !failed {
		return nil
	}
	if failed { // only explain's own request can be refused here
		if o.asked.faults == nil && o.op.Number != explain.Number {
			answer = o.asked.request.RelocateExplained(o.op.Name, answer)
		}
		if o.answer, _, err = engine.Call(ctx, explain.Number, explainError("explain", answer)); err != nil {
			return err
		}
	}
	o.answer, o.document, err = document.Read(o.answer)
	o.failed = isError(o.answer)
	return err
}

// explainError is the request of explain for an error payload that did not come from the core's
// answer to it.
func explainError(of string, payload []byte) []byte {
	if of == "explain" { // which explains itself to nobody
		of = "validate"
	}
	return slices.Concat([]byte(`{"of":"`+of+`",`), bytes.TrimPrefix(payload, []byte("{")))
}

// invalid is how an answer of validate begins when there are faults. The core writes members in a
// fixed order.
var invalid = []byte(`{"valid":false`)

func (p *printer) print(o outcome) error {
	if o.failed || bytes.HasPrefix(o.answer, invalid) {
		p.bad = true
	}
	if p.fixes != nil {
		p.fixes.add(o)
	}
	if o.op.Name == "compare" {
		p.compared(o)
	}
	p.progress.clear()
	err := p.form(p, o)
	p.count++
	if err != nil {
		return failf("cannot print the answer: %w", err)
	}
	return nil
}

// note says something about the whole run.
func (p *printer) note(format string, args ...any) {
	p.progress.clear()
	fmt.Fprintf(p.Err, "podfate: note: "+format+"\n", args...)
}

// passedObject names an object that is not read, whatever the form of the answers.
func (p *printer) passedObject(n schema.Fault) {
	p.progress.clear()
	fmt.Fprintf(p.Err, "%s:%d:%d: note: %s\n", n.Source, n.Line, n.Column, n.Detail)
}

// passedFile names a file that is not read.
func (p *printer) passedFile(name, why string) {
	p.files++
	p.progress.clear()
	fmt.Fprintf(p.Err, "%s: note: skipped: %s\n", name, why)
}

// unreadable names a file that cannot be read. The others are.
func (p *printer) unreadable(err error) {
	p.broken = true
	p.progress.clear()
	fmt.Fprintf(p.Err, "podfate: %v\n", err)
}

// passedOver counts what was named above.
func (p *printer) passedOver(objects int) {
	var parts []string
	if objects > 0 {
		parts = append(parts, plural(int64(objects), "object")+" without a Pod template")
	}
	if p.files > 0 {
		parts = append(parts, plural(int64(p.files), "file"))
	}
	if len(parts) > 0 {
		p.note("skipped: %s", strings.Join(parts, ", "))
	}
}

// end returns what the command ends with.
func (p *printer) end() error {
	if p.repeated > 0 {
		fmt.Fprintf(p.Err, "podfate: %s about what all manifests share, printed once above\n", plural(int64(p.repeated), "more fault"))
	}
	p.progress.clear()
	if err := p.writeChecked(); err != nil {
		return err
	}
	switch {
	case p.broken:
		return statusError{status: StatusUsage}
	case p.bad:
		return statusError{status: StatusFaults}
	}
	return nil
}

// json prints the answer as it is, one line for each request.
func (p *printer) json(o outcome) error {
	_, err := p.Out.Write(append(o.answer[:len(o.answer):len(o.answer)], '\n'))
	return err
}

// jsonl prints a line that says which document the answer is about.
func (p *printer) jsonl(o outcome) error {
	line := struct {
		File      string          `json:"file,omitempty"`
		Document  int             `json:"document,omitempty"`
		Line      int             `json:"line,omitempty"`
		Kind      string          `json:"kind,omitempty"`
		Namespace string          `json:"namespace,omitempty"`
		Name      string          `json:"name,omitempty"`
		Template  string          `json:"template,omitempty"`
		Answer    json.RawMessage `json:"answer"`
	}{File: o.asked.source, Document: o.asked.number, Line: o.asked.line, Answer: o.answer}
	if r := o.asked.request; r != nil {
		var at int
		if line.Kind, line.Name, _, at, _ = r.Manifest(); at > 0 {
			line.Line = at
		}
		line.Namespace, line.Template = r.Namespace(), r.Template()
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(line); err != nil {
		return err
	}
	_, err := p.Out.Write(b.Bytes())
	return err
}

// yaml prints the answer as YAML with the order of its members, one document for each request.
func (p *printer) yaml(o outcome) error {
	var document yaml.Node
	if err := yaml.Unmarshal(o.answer, &document); err != nil { // JSON is YAML
		return err
	}
	restyle(&document)
	var b bytes.Buffer
	if p.count > 0 {
		b.WriteString("---\n")
	}
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	if err := encoder.Encode(&document); err != nil {
		return err
	}
	_, err := p.Out.Write(b.Bytes())
	return err
}

// plain matches strings that every reader of YAML, 1.1 or 1.2, reads as strings without quotes.
var (
	plain    = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_./\[\]()-]*$`)
	reserved = regexp.MustCompile(`^(?i:y|n|yes|no|on|off|true|false|null)$`)
)

// restyle turns the flow style of JSON into blocks, and drops quotes where no reader needs them.
func restyle(n *yaml.Node) {
	if n.Kind == yaml.ScalarNode {
		if n.Tag == "!!str" && plain.MatchString(n.Value) && !reserved.MatchString(n.Value) {
			n.Style = 0
		}
		return
	}
	n.Style = 0
	for _, child := range n.Content {
		restyle(child)
	}
}
