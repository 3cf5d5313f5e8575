package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/podfate/podfate/policy/ops"
	"github.com/podfate/podfate/schema"
	"go.yaml.in/yaml/v3"
)

// outcome is what an operation said to one request.
type outcome struct {
	op     ops.Operation
	asked  asked
	answer []byte // as the core wrote it, with the places of the text that was read
	failed bool   // answer is an error payload
}

// printer writes outcomes and remembers whether one of them was bad.
type printer struct {
	Streams
	form  func(*printer, outcome) error
	bad   bool
	count int

	said     map[string]bool // faults of what all manifests share
	repeated int             // how often they came again

	progress *progress
	files    int  // that were passed over
	broken   bool // a file in a folder cannot be read
}

// maxSaid bounds the faults that are remembered.
const maxSaid = 1000

func newPrinter(output string, text func(*printer, outcome) error, streams Streams) (*printer, error) {
	forms := map[string]func(*printer, outcome) error{
		"text": text, "json": (*printer).json, "jsonl": (*printer).jsonl, "yaml": (*printer).yaml,
	}
	form, known := forms[output]
	if !known {
		return nil, fmt.Errorf("--output %q: must be text, json, jsonl or yaml", output)
	}
	return &printer{Streams: streams, form: form, said: map[string]bool{}, progress: newProgress(streams.Err)}, nil
}

// invalid is how an answer of validate begins when there are faults. The core writes members in a fixed order.
var invalid = []byte(`{"valid":false`)

func (p *printer) print(o outcome) error {
	if o.failed || bytes.HasPrefix(o.answer, invalid) {
		p.bad = true
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
	fmt.Fprintf(p.Err, "%s: note: passed over: %s\n", name, why)
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
		parts = append(parts, plural(int64(objects), "object")+" without Pods")
	}
	if p.files > 0 {
		parts = append(parts, plural(int64(p.files), "file"))
	}
	if len(parts) > 0 {
		p.note("passed over: %s", strings.Join(parts, ", "))
	}
}

// end returns what the command ends with.
func (p *printer) end() error {
	if p.repeated > 0 {
		fmt.Fprintf(p.Err, "podfate: %s of what all manifests share, said once above\n", plural(int64(p.repeated), "more fault"))
	}
	p.progress.clear()
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
