package cli

import (
	"bytes"
	"fmt"
	"regexp"

	"github.com/podfate/podfate/policy/ops"
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
}

func newPrinter(output string, text func(*printer, outcome) error, streams Streams) (*printer, error) {
	forms := map[string]func(*printer, outcome) error{
		"text": text, "json": (*printer).json, "yaml": (*printer).yaml,
	}
	form, known := forms[output]
	if !known {
		return nil, fmt.Errorf("--output %q: must be text, json or yaml", output)
	}
	return &printer{Streams: streams, form: form, said: map[string]bool{}}, nil
}

// invalid is how an answer of validate begins when there are faults. The core writes members in a fixed order.
var invalid = []byte(`{"valid":false`)

func (p *printer) print(o outcome) error {
	if o.failed || bytes.HasPrefix(o.answer, invalid) {
		p.bad = true
	}
	err := p.form(p, o)
	p.count++
	if err != nil {
		return failf("cannot print the answer: %w", err)
	}
	return nil
}

// passedOver names the objects beside the manifests that were not read, and manifests that are not answered, whatever the
// form of the answers.
func (p *printer) passedOver(a asked) {
	if a.note != "" {
		fmt.Fprintf(p.Err, "podfate: note: %s\n", a.note)
	}
	for _, n := range a.others {
		fmt.Fprintf(p.Err, "%s:%d:%d: note: %s\n", n.Source, n.Line, n.Column, n.Detail)
	}
}

// end returns what the command ends with.
func (p *printer) end() error {
	if p.repeated > 0 {
		fmt.Fprintf(p.Err, "podfate: %s of what all manifests share, said once above\n", plural(int64(p.repeated), "more fault"))
	}
	if p.bad {
		return statusError{status: StatusFaults}
	}
	return nil
}

// json prints the answer as it is, one line for each request.
func (p *printer) json(o outcome) error {
	_, err := p.Out.Write(append(o.answer[:len(o.answer):len(o.answer)], '\n'))
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
