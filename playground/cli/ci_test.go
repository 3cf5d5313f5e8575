package cli

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// The forms for CI say what the documents say, at the places of the files, with the exit status of
// the other forms.
func TestFormsForCI(t *testing.T) {
	folder := t.TempDir()
	bad := write(t, folder, "bad pod.yaml", "# 100%: one, two\n"+strings.Replace(plainPod, "Never", "Nevr", 1))
	dropped := write(t, folder, "dropped.yaml", rulePod)
	shadowed := write(t, folder, "shadowed.yaml", rulePod+"    - {action: Restart, exitCodes: {operator: In, values: [42]}}\n")
	old, broken := write(t, folder, "old.yaml", plainPod), write(t, folder, "broken.yaml", "a: [")
	for _, c := range []struct {
		name   string
		args   []string
		status int
		file   string
		line   int
		level  string
		rule   string
		said   string
	}{
		{"refused", []string{"validate", "-f", bad}, 1, bad, 6, "error", "unsupported_value", `Unsupported value: "Nevr"`},
		{"dropped", []string{"validate", "-f", dropped, "--kubernetes-version", "1.34"}, 0, dropped, 9, "warning", "dropped_field", "drops this field silently"},
		{"a rule that never decides", []string{"table", "-f", shadowed}, 0, shadowed, 12, "warning", "rule_never_decides", "earlier rules match all of its codes"},
		{"a refused table", []string{"table", "-f", bad}, 1, bad, 6, "error", "unsupported_value", `Unsupported value: "Nevr"`},
		{"unreadable", []string{"validate", "-f", broken}, 1, broken, 1, "error", "", ""},
		{"different", []string{"compare", old, dropped}, 1, dropped, 1, "error", "behaviour_differs", "exit code 42 has another outcome"},
		{"the same", []string{"compare", old, old}, 0, "", 0, "", "", ""},
		{"refused in one", []string{"compare", "-f", dropped, "--from", "1.33", "--to", "1.36"}, 1, dropped, 9, "error", "fault", "may not be set"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text, out, errs := runIn(t, "", append(c.args, "-o", "sarif")...)
			if text != c.status {
				t.Fatalf("status %d, want %d: %s", text, c.status, errs)
			}
			found := sarifResults(t, out)
			is := func(r sarifResult) bool {
				return r.RuleID == c.rule || c.rule == ""
			}
			i := slices.IndexFunc(found, is)
			if c.level == "" {
				if len(found) > 0 {
					t.Errorf("%v", found)
				}
			} else if i < 0 {
				t.Fatalf("nothing of %s: %s", c.rule, out)
			} else {
				r := found[i]
				at := r.Locations[0].PhysicalLocation
				if r.Level != c.level || at.Region.StartLine != c.line || at.ArtifactLocation.URI != fileURI(c.file) || !strings.Contains(r.Message.Text, c.said) {
					t.Errorf("%+v", r)
				}
			}

			status, out, errs := runIn(t, "", append(c.args, "-o", "junit")...)
			var suites struct {
				Suites []struct {
					Tests    int `xml:"tests,attr"`
					Failures int `xml:"failures,attr"`
					Errors   int `xml:"errors,attr"`
					Cases    []struct {
						Name    string `xml:"name,attr"`
						Failure *struct {
							Message string `xml:"message,attr"`
							Text    string `xml:",chardata"`
						} `xml:"failure"`
						Error *struct{} `xml:"error"`
						Out   string    `xml:"system-out"`
					} `xml:"testcase"`
				} `xml:"testsuite"`
			}
			if err := xml.Unmarshal([]byte(out), &suites); err != nil || status != c.status || len(suites.Suites) != 1 || suites.Suites[0].Tests != 1 || len(suites.Suites[0].Cases) != 1 {
				t.Fatalf("status %d %v: %s%s", status, err, out, errs)
			}
			s := suites.Suites[0]
			if (s.Failures+s.Errors > 0) != (c.level == "error") || s.Cases[0].Out == "" || s.Failures > 0 && !strings.Contains(s.Cases[0].Failure.Text, c.said) {
				t.Errorf("%+v", s)
			}

			status, out, errs = runIn(t, "", append(c.args, "-o", "github")...)
			if status != c.status || (out == "") != (c.level == "") {
				t.Errorf("status %d: %s%s", status, out, errs)
			}
			for line := range strings.Lines(out) {
				m := regexp.MustCompile(`^::(error|warning|notice) file=([^,:]*),line=(\d+),col=\d+,title=[^:,]*::.+\n$`).FindStringSubmatch(line)
				if m == nil {
					t.Errorf("%q", line)
				}
			}
		})
	}
}

type sarifResult struct {
	RuleID    string
	RuleIndex int
	Level     string
	Message   struct{ Text string }
	Locations []struct {
		PhysicalLocation struct {
			ArtifactLocation struct{ URI string }
			Region           struct{ StartLine, StartColumn int }
		}
	}
}

// sarifSchema is the published one, with its formats; see testdata/sarif-schema-2.1.0.md.
var sarifSchema = sync.OnceValues(func() (*jsonschema.Schema, error) {
	text, err := os.ReadFile("testdata/sarif-schema-2.1.0.json")
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.Draft, c.AssertFormat = jsonschema.Draft4, true
	c.LoadURL = func(url string) (io.ReadCloser, error) { return nil, errors.New("nothing is loaded: " + url) }
	if err := c.AddResource("sarif.json", bytes.NewReader(text)); err != nil {
		return nil, err
	}
	return c.Compile("sarif.json")
})

// sarifResults checks that text is what the published schema of SARIF 2.1.0 asks for, and more, and
// returns the results.
func sarifResults(t *testing.T, text string) []sarifResult {
	t.Helper()
	schema, err := sarifSchema()
	if err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var whole any
	if err := decoder.Decode(&whole); err != nil {
		t.Fatal(err, text)
	}
	if err := schema.Validate(whole); err != nil {
		t.Errorf("%#v\n%s", err, text)
	}
	var log struct {
		Version string
		Runs    []struct {
			Tool struct {
				Driver struct {
					Name  string
					Rules []struct{ ID string }
				}
			}
			ColumnKind string
			Results    []sarifResult
		}
	}
	if err := json.Unmarshal([]byte(text), &log); err != nil {
		t.Fatal(err, text)
	}
	if log.Version != "2.1.0" || len(log.Runs) != 1 || log.Runs[0].Tool.Driver.Name == "" || log.Runs[0].Results == nil || log.Runs[0].ColumnKind != "unicodeCodePoints" {
		t.Fatalf("%+v", log)
	}
	rules := log.Runs[0].Tool.Driver.Rules
	for _, r := range log.Runs[0].Results {
		switch {
		case r.Message.Text == "", !slices.Contains([]string{"none", "note", "warning", "error"}, r.Level):
			t.Errorf("%+v", r)
		case r.RuleIndex < 0 || r.RuleIndex >= len(rules) || rules[r.RuleIndex].ID != r.RuleID:
			t.Errorf("rule %d is not %s", r.RuleIndex, r.RuleID)
		}
		for _, l := range r.Locations {
			if at := l.PhysicalLocation; at.ArtifactLocation.URI == "" || strings.ContainsAny(at.ArtifactLocation.URI, " \\") || at.Region.StartLine < 1 {
				t.Errorf("%+v", at)
			}
		}
	}
	return log.Runs[0].Results
}

// The schema that is published refuses what is no SARIF, so that the tests above can fail.
func TestSARIFSchemaRefuses(t *testing.T) {
	schema, err := sarifSchema()
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		`{"version":"2.1.0"}`, `{"version":"2.0.0","runs":[]}`, `{"version":"2.1.0","runs":[{}]}`,
		`{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"x"}},"columnKind":"bytes"}]}`,
		`{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"x"}},"results":[{"message":{"text":"x"},"level":"fatal"}]}]}`,
		`{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"x"}},"results":[{"message":{"text":"x"},"locations":[{"physicalLocation":{"region":{"startLine":0}}}]}]}]}`,
	} {
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		if schema.Validate(v) == nil {
			t.Errorf("accepted: %s", text)
		}
	}
}

// Other verbs have no such form.
func TestFormsForCIOfOtherVerbs(t *testing.T) {
	if status, _, errs := runIn(t, plainPod, "decide", "-f", "-", "--exit", "1", "-o", "sarif"); status != 2 || !strings.Contains(errs, "must be text, json, jsonl or yaml") {
		t.Errorf("status %d: %s", status, errs)
	}
}

// TestPlacesAreTheSameInEachForm: a fault of a field that is missing is where text and JSON say.
func TestPlacesAreTheSameInEachForm(t *testing.T) {
	file := write(t, t.TempDir(), "job.yaml", "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: j\nspec:\n  completions: -1\n  template:\n    spec:\n      containers:\n      - name: a\n        image: b\n")
	t.Chdir(filepath.Dir(file))
	text := podfate(t, "", "validate", "-f", "job.yaml").err
	places := regexp.MustCompile(`(?m)^job\.yaml:(\d+):(\d+): spec\.`).FindAllStringSubmatch(text, -1)
	if len(places) != 2 {
		t.Fatalf("%s", text)
	}
	github, sarif := podfate(t, "", "validate", "-f", "job.yaml", "-o", "github").out, podfate(t, "", "validate", "-f", "job.yaml", "-o", "sarif").out
	for _, p := range places {
		if !strings.Contains(github, "line="+p[1]+",col="+p[2]+",") {
			t.Errorf("line %s, column %s is not in\n%s", p[1], p[2], github)
		}
		if at := regexp.MustCompile(`"startLine": ?` + p[1] + `,\s*"startColumn": ?` + p[2] + `\b`); !at.MatchString(sarif) {
			t.Errorf("line %s, column %s is not in\n%s", p[1], p[2], sarif)
		}
	}
}
