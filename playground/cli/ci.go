package cli

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/podfate/podfate/policy/words"
	"github.com/podfate/podfate/schema"
	"github.com/podfate/podfate/schema/document"
)

// ciOutputs are the forms for machines that run checks, and ciVerbs the verbs that have them. The
// texts are those of the documents.
var (
	ciOutputs = []string{"sarif", "junit", "github"}
	ciVerbs   = []string{"validate", "table", "compare"}
)

// finding is something that a check has to say about a place in a file.
type finding struct {
	level        string // error, warning or note, as SARIF has them
	rule         string // what kind of finding: the code of the answer, or the mark of the document
	text         string
	file         string // "" for none
	line, column int
}

// checked is what a check found about one manifest.
type checked struct {
	subject, file string
	title         string
	failed        bool // there is no answer
	findings      []finding
	text          string // the whole document
}

// gather collects outcomes until all are there.
func (p *printer) gather(o outcome) error {
	d := o.document
	c := checked{subject: o.subject(), file: o.asked.source, title: d.Verdict.Title, failed: o.failed && o.asked.request == nil}
	codes := codesByPath(o.answer)
	for _, b := range d.Blocks {
		for _, i := range b.Items {
			if f, ok := o.finding(i.Item, codes); ok && b.Kind == "list" {
				c.findings = append(c.findings, f)
			}
		}
	}
	switch {
	case o.failed && len(c.findings) == 0:
		c.findings = append(c.findings, o.at0(d.Verdict.Item, "error", "no_answer", d.Verdict.Text))
	case o.op.Name == "compare" && !o.failed && differs(o.answer):
		f := finding{level: "error", rule: "behaviour_differs", text: d.Verdict.Title + ". " + d.Verdict.Text}
		f.file, f.line, f.column = o.newest()
		c.findings = append([]finding{f}, c.findings...)
	}
	paint := painter{width: plainWidth, place: o.lineOf}
	c.text = string(paint.paint(d))
	p.checked = append(p.checked, c)
	return nil
}

// finding turns an item of a list into a finding, if it is one.
func (o outcome) finding(i document.Item, codes map[string]string) (f finding, ok bool) {
	levels := map[string]string{"fault": "error", "warning": "warning", "dropped": "warning", "undecided": "note", "notreached": "warning"}
	level, ok := levels[i.Mark]
	if !ok {
		return f, false
	}
	text := i.Text
	if i.Mark == "notreached" {
		text += ": " + i.Because
		i.Because = ""
	}
	if len(i.Allowed) > 0 && len(i.Allowed) <= maxAllowed {
		text += " (possible: " + strings.Join(i.Allowed, ", ") + ")"
	}
	if i.Because != "" {
		text += " (" + i.Because + ")"
	}
	rule := i.Mark
	if code := codes[i.Mark+" "+i.Path]; code != "" {
		rule = code
	} else if i.Mark == "notreached" {
		rule = "rule_never_decides"
	} else if i.Mark == "dropped" {
		rule = "dropped_field"
	}
	return o.at0(i, level, rule, text), true
}

// at0 is a finding at the place of an item.
func (o outcome) at0(i document.Item, level, rule, text string) finding {
	f := finding{level: level, rule: rule, text: words.Visible(text), file: o.asked.source, line: i.Line, column: i.Column}
	if o.asked.request == nil {
		return f
	}
	path := i.Path
	if !fromFlags(path) {
		path = schema.InManifest(path)
	}
	if source, line, column := o.asked.request.NamePosition(path); line > 0 {
		f.file, f.line, f.column = source, line, column
	}
	return f
}

// newest is the place of the last manifest that is compared.
func (o outcome) newest() (file string, line, column int) {
	for n := 7; n >= 0 && o.asked.request != nil; n-- {
		for _, path := range []string{fmt.Sprintf("variants[%d].manifest", n), fmt.Sprintf("variants[%d].patch.manifest", n)} {
			if file, line, column = o.asked.request.Position(path); line > 0 && file != "" {
				return file, line, column
			}
		}
	}
	_, _, file, line, column = o.asked.request.Manifest()
	return file, line, column
}

func differs(answer []byte) bool {
	var a struct{ Same bool }
	return json.Unmarshal(answer, &a) != nil || !a.Same
}

// codesByPath are the codes of the faults, warnings and the like of an answer by mark and path: the
// documents have none.
func codesByPath(answer []byte) map[string]string {
	type entry struct{ Path, Code, Reason string }
	var a struct {
		Error                    struct{ Faults []entry }
		Faults, Warnings         []entry
		Undecided, VariantFaults json.RawMessage
	}
	codes := map[string]string{}
	if json.Unmarshal(answer, &a) != nil {
		return codes
	}
	for _, f := range append(a.Error.Faults, a.Faults...) {
		codes["fault "+f.Path] = f.Code
	}
	for _, f := range a.Warnings {
		codes["warning "+f.Path] = f.Code
	}
	var open []entry
	if json.Unmarshal(a.Undecided, &open) == nil {
		for _, u := range open {
			codes["undecided "+u.Path] = u.Reason
		}
	}
	return codes
}

// writeChecked prints what was gathered.
func (p *printer) writeChecked() error {
	if p.inCI == "" {
		return nil
	}
	var text []byte
	var err error
	switch p.inCI {
	case "sarif":
		text, err = sarif(p.checked)
	case "junit":
		text, err = junit(p.verb, p.checked)
	default:
		text = annotations(p.checked)
	}
	if err == nil {
		_, err = p.Out.Write(text)
	}
	if err != nil {
		return failf("cannot print the answer: %w", err)
	}
	return nil
}

// sarif is the Static Analysis Results Interchange Format, version 2.1.0:
// https://docs.oasis-open.org/sarif/sarif/v2.1.0/.
func sarif(all []checked) ([]byte, error) {
	type message struct {
		Text string `json:"text"`
	}
	type rule struct {
		ID   string  `json:"id"`
		Name message `json:"shortDescription"`
	}
	type region struct {
		Line   int `json:"startLine"`
		Column int `json:"startColumn,omitempty"`
	}
	type artifact struct {
		URI string `json:"uri"`
	}
	type physical struct {
		Artifact artifact `json:"artifactLocation"`
		Region   *region  `json:"region,omitempty"`
	}
	type location struct {
		Physical physical `json:"physicalLocation"`
	}
	type result struct {
		Rule      string     `json:"ruleId"`
		Index     int        `json:"ruleIndex"`
		Level     string     `json:"level"`
		Message   message    `json:"message"`
		Locations []location `json:"locations,omitempty"`
	}
	type driver struct {
		Name    string `json:"name"`
		Version string `json:"version"`
		Rules   []rule `json:"rules"`
	}
	type tool struct {
		Driver driver `json:"driver"`
	}
	type run struct {
		Tool    tool     `json:"tool"`
		Columns string   `json:"columnKind"`
		Results []result `json:"results"`
	}
	d := driver{Name: "podfate", Version: programVersion(), Rules: []rule{}}
	results := []result{}
	for _, c := range all {
		for _, f := range c.findings {
			index := slices.IndexFunc(d.Rules, func(r rule) bool { return r.ID == f.rule })
			if index < 0 {
				index = len(d.Rules)
				d.Rules = append(d.Rules, rule{f.rule, message{strings.ReplaceAll(f.rule, "_", " ")}})
			}
			r := result{Rule: f.rule, Index: index, Level: f.level, Message: message{c.subject + ": " + f.text}}
			if f.file != "" {
				at := physical{Artifact: artifact{fileURI(f.file)}}
				if f.line > 0 {
					at.Region = &region{f.line, f.column}
				}
				r.Locations = []location{{at}}
			}
			results = append(results, r)
		}
	}
	return indented(struct {
		Schema  string `json:"$schema"`
		Version string `json:"version"`
		Runs    []run  `json:"runs"`
	}{"https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json", "2.1.0", []run{{tool{d}, "unicodeCodePoints", results}}})
}

// indented writes JSON for people and machines.
func indented(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(v)
	return b.Bytes(), err
}

// fileURI is the name of a file as a URI: relative to the folder of the command, as it was named.
func fileURI(name string) string {
	u := url.URL{Path: filepath.ToSlash(name)}
	if filepath.IsAbs(name) {
		u.Scheme = "file"
	}
	return u.String()
}

// junit is what most systems that run tests read: a case for each manifest, which fails if there is
// an error. Warnings are in its output.
func junit(verb string, all []checked) ([]byte, error) {
	type problem struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",chardata"`
	}
	type testcase struct {
		Class   string   `xml:"classname,attr"`
		Name    string   `xml:"name,attr"`
		Failure *problem `xml:"failure,omitempty"`
		Error   *problem `xml:"error,omitempty"`
		Out     string   `xml:"system-out,omitempty"`
	}
	type suite struct {
		XMLName  xml.Name   `xml:"testsuite"`
		Name     string     `xml:"name,attr"`
		Tests    int        `xml:"tests,attr"`
		Failures int        `xml:"failures,attr"`
		Errors   int        `xml:"errors,attr"`
		Cases    []testcase `xml:"testcase"`
	}
	s := suite{Name: "podfate " + verb, Tests: len(all)}
	for _, c := range all {
		t := testcase{Class: c.file, Name: c.subject, Out: c.text}
		var lines []string
		first := ""
		for _, f := range c.findings {
			if f.level == "error" {
				lines = append(lines, f.place()+f.text)
				if first == "" {
					first = f.rule
				}
			}
		}
		if len(lines) > 0 {
			found := &problem{c.title, first, strings.Join(lines, "\n")}
			if c.failed {
				t.Error = found
				s.Errors++
			} else {
				t.Failure = found
				s.Failures++
			}
		}
		s.Cases = append(s.Cases, t)
	}
	text, err := xml.MarshalIndent(struct {
		XMLName xml.Name `xml:"testsuites"`
		Suite   suite
	}{Suite: s}, "", "  ")
	return append([]byte(xml.Header), append(text, '\n')...), err
}

// place is FILE:LINE:COLUMN and a colon, as far as it is known.
func (f finding) place() string {
	switch {
	case f.file == "":
		return ""
	case f.line == 0:
		return f.file + ": "
	}
	return fmt.Sprintf("%s:%d:%d: ", f.file, f.line, f.column)
}

// annotations are workflow commands of GitHub Actions, which show findings next to the lines of a
// pull request.
func annotations(all []checked) []byte {
	var b bytes.Buffer
	data := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	for _, c := range all {
		for _, f := range c.findings {
			command := f.level
			if command == "note" {
				command = "notice"
			}
			var properties []string
			if f.file != "" {
				properties = append(properties, "file="+property.Replace(f.file))
			}
			if f.line > 0 {
				properties = append(properties, fmt.Sprintf("line=%d,col=%d", f.line, max(f.column, 1)))
			}
			properties = append(properties, "title="+property.Replace(c.title))
			fmt.Fprintf(&b, "::%s %s::%s\n", command, strings.Join(properties, ","), data.Replace(c.subject+": "+f.text))
		}
	}
	return b.Bytes()
}
