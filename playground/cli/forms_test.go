package cli

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// element is what the schema of JUnit reports says of an element.
type element struct {
	required, optional []string // attributes
	children           []string // elements, in any order and number
	text               bool     // there may be text, too
}

// junitElements is what Jenkins' xUnit plugin asks of reports in its junit-10.xsd, of the elements
// that are written here. What others document is asked for as well: that the counts are numbers, as
// in Surefire's schema, and that a case has a class, without which Jenkins shows none.
//
// Sources: https://github.com/jenkinsci/xunit-plugin,
// src/main/resources/org/jenkinsci/plugins/xunit/types/model/xsd/junit-10.xsd, commit 031e285;
// https://maven.apache.org/surefire/maven-surefire-plugin/xsd/surefire-test-report.xsd.
var junitElements = map[string]element{
	"testsuites": {optional: []string{"name", "time", "tests", "failures", "errors"}, children: []string{"testsuite"}},
	"testsuite": {
		required: []string{"name", "tests", "failures", "errors"},
		optional: []string{"group", "time", "skipped", "timestamp", "hostname", "id", "package", "file", "log", "url"},
		children: []string{"testsuite", "properties", "testcase", "system-out", "system-err"},
	},
	"testcase": {
		required: []string{"name", "classname"}, optional: []string{"time", "group"},
		children: []string{"skipped", "error", "failure", "rerunFailure", "rerunError", "flakyFailure", "flakyError", "system-out", "system-err"},
	},
	"failure":    {optional: []string{"type", "message"}, text: true},
	"error":      {optional: []string{"type", "message"}, text: true},
	"system-out": {text: true},
}

// junitFaults returns what is wrong with a report.
func junitFaults(text string) (faults []string) {
	bad := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	type open struct {
		name   string
		counts map[string]int // of the attributes, and of the cases
		found  map[string]int
	}
	var stack []open
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return append(faults, err.Error())
		}
		switch x := token.(type) {
		case xml.StartElement:
			name := x.Name.Local
			is, known := junitElements[name]
			if !known || x.Name.Space != "" {
				bad("element %s", name)
			}
			switch {
			case len(stack) == 0 && name != "testsuites" && name != "testsuite":
				bad("the root is %s", name)
			case len(stack) > 0 && !slices.Contains(junitElements[stack[len(stack)-1].name].children, name):
				bad("%s in %s", name, stack[len(stack)-1].name)
			}
			o := open{name, map[string]int{}, map[string]int{}}
			for _, a := range x.Attr {
				if !slices.Contains(is.required, a.Name.Local) && !slices.Contains(is.optional, a.Name.Local) {
					bad("attribute %s of %s", a.Name.Local, name)
				}
				if slices.Contains([]string{"tests", "failures", "errors", "skipped"}, a.Name.Local) {
					n, err := strconv.Atoi(a.Value)
					if err != nil || n < 0 {
						bad("%s is %q", a.Name.Local, a.Value)
					}
					o.counts[a.Name.Local] = n
				}
			}
			for _, want := range is.required {
				if !slices.ContainsFunc(x.Attr, func(a xml.Attr) bool { return a.Name.Local == want && a.Value != "" }) {
					bad("%s without %s", name, want)
				}
			}
			for i := range stack {
				stack[i].found[name]++
			}
			stack = append(stack, o)
		case xml.EndElement:
			o := stack[len(stack)-1]
			if stack = stack[:len(stack)-1]; o.name == "testsuite" {
				for attribute, element := range map[string]string{"tests": "testcase", "failures": "failure", "errors": "error"} {
					if o.counts[attribute] != o.found[element] {
						bad("%s is %d, and there are %d", attribute, o.counts[attribute], o.found[element])
					}
				}
			}
		case xml.CharData:
			if len(bytes.TrimSpace(x)) > 0 && (len(stack) == 0 || !junitElements[stack[len(stack)-1].name].text) {
				bad("text %q", x)
			}
		}
	}
	return faults
}

// What is no report is refused, so that the tests that use junitFaults can fail.
func TestJUnitFaults(t *testing.T) {
	const suite = `<testsuites><testsuite name="x" tests="1" failures="0" errors="0">%s</testsuite></testsuites>`
	if faults := junitFaults(fmt.Sprintf(suite, `<testcase name="a" classname="b"><system-out>x</system-out></testcase>`)); faults != nil {
		t.Error(faults)
	}
	for _, inner := range []string{
		``, `<testcase name="a"/>`, `<testcase name="" classname="b"/>`, `<testcase name="a" classname="b"/>text`,
		`<testcase name="a" classname="b" line="3"/>`, `<testcase name="a" classname="b"><failure/></testcase>`,
		`<testcase name="a" classname="b"><warning/></testcase>`, `<case name="a" classname="b"/>`,
		`<testcase name="a" classname="b"><testcase name="a" classname="b"/></testcase>`, `<testcase name="a" classname="b">`,
	} {
		if junitFaults(fmt.Sprintf(suite, inner)) == nil {
			t.Errorf("accepted: %s", inner)
		}
	}
}

// annotation is a workflow command as GitHub's runner reads it.
type annotation struct {
	command, message string
	properties       map[string]string
}

// readAnnotation reads a line as the runner does: a command, properties up to the next two colons,
// and the message; of a property what comes after the first equals sign.
//
// Source: ActionCommand.TryParseV2, https://github.com/actions/runner,
// src/Runner.Common/ActionCommand.cs; what is escaped, https://github.com/actions/toolkit,
// packages/core/src/command.ts; the properties,
// https://docs.github.com/en/actions/reference/workflow-commands-for-github-actions.
func readAnnotation(line string) (a annotation, ok bool) {
	line, found := strings.CutPrefix(line, "::")
	head, message, ends := strings.Cut(line, "::")
	if !found || !ends || strings.ContainsAny(message, "\r\n") {
		return a, false
	}
	command, properties, _ := strings.Cut(head, " ")
	data := strings.NewReplacer("%0D", "\r", "%0A", "\n", "%25", "%")
	property := strings.NewReplacer("%0D", "\r", "%0A", "\n", "%3A", ":", "%2C", ",", "%25", "%")
	a = annotation{command, data.Replace(message), map[string]string{}}
	for p := range strings.SplitSeq(properties, ",") {
		name, value, is := strings.Cut(p, "=")
		if !is || a.properties[name] != "" {
			return a, false
		}
		a.properties[name] = property.Replace(value)
	}
	return a, slices.Contains([]string{"error", "warning", "notice"}, command)
}

// Whatever is in names and texts, the runner reads of an annotation what was written, and a
// report stays one.
func TestAnnotationsComeBack(t *testing.T) {
	texts := []string{
		"plain", "a, b: c", "100%", "%0A is no line", "%25", "%3A%2C", "two\nlines\r\n", "::error::x", "file=x,line=1", "=", "ümläut ✗",
		"::", "a::b", "%", "<&>\"'", "]]>", "\u2028", "\x00\x1b[31m",
	}
	for _, file := range append(texts, "") {
		for _, text := range texts {
			c := checked{subject: text, file: file, title: text, findings: []finding{
				{level: "error", rule: "r", text: text, file: file, line: 3, column: 4}, {level: "warning", text: text, file: file}, {level: "note", text: text, file: file, line: 7},
			}}
			out := string(annotations([]checked{c}))
			lines := strings.SplitAfter(out, "\n")
			if len(lines) != 4 || lines[3] != "" {
				t.Fatalf("%q", out)
			}
			for i, want := range []annotation{
				{"error", text + ": " + text, map[string]string{"file": file, "line": "3", "col": "4", "title": text}},
				{"warning", text + ": " + text, map[string]string{"file": file, "title": text}},
				{"notice", text + ": " + text, map[string]string{"file": file, "line": "7", "col": "1", "title": text}},
			} {
				if file == "" {
					delete(want.properties, "file")
				}
				if got, ok := readAnnotation(strings.TrimSuffix(lines[i], "\n")); !ok || fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("%q is read as %q, want %q", lines[i], got, want)
				}
			}
			c.text = text
			report, err := junit("validate", []checked{c})
			if faults := junitFaults(string(report)); err != nil || len(faults) > 0 && file != "" {
				t.Errorf("%v: %v\n%s", err, faults, report)
			}
		}
	}
}

// Every report is what the schema asks for: of each verb, of tests, and where nothing can be read.
// Where xmllint is there, it agrees that each is well-formed.
func TestReportsAreJUnit(t *testing.T) {
	folder := t.TempDir()
	good, bad := write(t, folder, "good.yaml", rulePod), write(t, folder, "bad.yaml", strings.Replace(plainPod, "Never", "Nevr", 1))
	write(t, folder, "broken.yaml", "a: [")
	write(t, folder, "x_test.yaml", "file: good.yaml\nexits: [{exitCode: 42}]\nexpect: {action: Stop}\n---\nname: \"a <b> & \\x01\"\nfile: good.yaml\nexpect: {valid: true}\n---\nexpect: {}\n")
	lint, _ := exec.LookPath("xmllint")
	for _, args := range [][]string{
		{"validate", "-f", folder}, {"validate", "-f", good}, {"validate", "-f", filepath.Join(folder, "broken.yaml")},
		{"table", "-f", folder}, {"compare", good, bad}, {"compare", good, good}, {"compare", "-f", folder, "--from", "1.33", "--to", "1.36"},
		{"test", filepath.Join(folder, "x_test.yaml")}, {"test", folder},
	} {
		_, out, errs := runIn(t, "", append(args, "-o", "junit")...)
		if out == "" {
			t.Fatalf("%v: nothing; %s", args, errs)
		}
		if faults := junitFaults(out); len(faults) > 0 {
			t.Errorf("%v: %q\n%s", args, faults, out)
		}
		if lint != "" {
			c := exec.Command(lint, "--noout", "-")
			c.Stdin = strings.NewReader(out)
			if text, err := c.CombinedOutput(); err != nil {
				t.Errorf("%v: %v\n%s", args, err, text)
			}
		}
		_, out, _ = runIn(t, "", append(args, "-o", "github")...)
		for line := range strings.Lines(out) {
			a, ok := readAnnotation(strings.TrimSuffix(line, "\n"))
			if !ok || a.message == "" || a.properties["title"] == "" || a.properties["line"] != "" && !regexp.MustCompile(`^[1-9]\d*$`).MatchString(a.properties["line"]) {
				t.Errorf("%v: %q", args, line)
			}
		}
	}
}
