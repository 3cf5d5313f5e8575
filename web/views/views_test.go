package views

import (
	"bytes"
	"context"
	"encoding/json"
	"net/url"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/podfate/podfate/policy/manifest"
	"github.com/podfate/podfate/schema/document"
)

// table reads a table that the browser's tests read as well.
func table[T any](t *testing.T, name string) []T {
	t.Helper()
	text, err := os.ReadFile("../testdata/" + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var list []T
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	if len(list) == 0 {
		t.Fatal("the table is empty")
	}
	return list
}

// TestQuestions: which operation a question in short asks, and that the core reads it. The
// browser's tests read the same table.
func TestQuestions(t *testing.T) {
	for _, c := range table[struct{ Text, Operation, Fault string }](t, "questions") {
		f := Form{Exits: c.Text}
		if f.Operation() != c.Operation {
			t.Errorf("%q asks for %s, want %s", c.Text, f.Operation(), c.Operation)
		}
		if f.Question() == nil {
			if c.Operation != "validate" {
				t.Errorf("%q asks nothing", c.Text)
			}
			continue
		}
		short, faults := manifest.ReadShort(c.Text)
		if len(faults) > 0 {
			if c.Fault == "" {
				t.Errorf("%q: %s", c.Text, faults[0].Detail)
			}
			continue
		}
		if c.Fault != "" {
			t.Errorf("%q is read", c.Text)
		}
		if exits := short.Members.Get("exits").Exists(); exits != (c.Operation == "decide") {
			t.Errorf("%q: the core reads %s, the page asks %s", c.Text, short.Members.Raw(), c.Operation)
		}
	}
}

func TestCommands(t *testing.T) {
	for _, c := range table[struct {
		Form                                      Form
		Command, Curl, Origin, Operation, Request string
	}](t, "commands") {
		if got := CommandLine(c.Form, c.Operation, c.Request); got != c.Command {
			t.Errorf("got  %s\nwant %s", got, c.Command)
		}
		p := Page{Origin: c.Origin, Answer: &Outcome{Operation: c.Operation, Request: c.Request}}
		if got := Curl(p); got != c.Curl {
			t.Errorf("got  %s\nwant %s", got, c.Curl)
		}
	}
}

func TestReadForm(t *testing.T) {
	f := ReadForm(url.Values{
		"manifest": {"a: 1\r\nb: 2\r\n"}, "exits": {"main=1"}, "version": {"1.36"}, "validation": {"Warn"},
		"gate.A": {"true"}, "gate.B": {""}, "gate.C": {"maybe"}, "gate.D": {"false"}, "another": {"x"},
	})
	want := Form{Manifest: "a: 1\nb: 2\n", Exits: "main=1", Version: "1.36", Validation: "Warn", Gates: map[string]string{"A": "true", "D": "false"}}
	if !reflect.DeepEqual(f, want) {
		t.Errorf("got %+v, want %+v", f, want)
	}
	if f.Operation() != "decide" || (Form{Exits: "main: 3@10s"}).Operation() != "simulate" || (Form{Exits: " \n"}).Operation() != "validate" {
		t.Error("the exits choose the operation")
	}
}

func TestReadAddress(t *testing.T) {
	for _, c := range table[struct {
		Query, Exits, Version, Validation string
		Gates                             map[string]string
	}](t, "addresses") {
		query, err := url.ParseQuery(c.Query)
		if err != nil {
			t.Fatal(err)
		}
		example := Form{Manifest: "m", Exits: "main=42", Version: "1.37", Gates: map[string]string{"A": "true"}, Example: "one"}
		want := Form{Manifest: "m", Exits: c.Exits, Version: c.Version, Validation: c.Validation, Gates: c.Gates, Example: "one"}
		if got := ReadAddress(example, query); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %+v, want %+v", c.Query, got, want)
		}
		if example.Gates["A"] != "true" || len(example.Gates) != 1 {
			t.Errorf("%q changes the example", c.Query)
		}
	}
}

func page(t *testing.T, p Page) string {
	t.Helper()
	var b bytes.Buffer
	if err := Playground(p).Render(context.Background(), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

var module = Module{
	ABI: "1.1", Schema: "v1", Versions: []string{"1.36", "1.37"}, DefaultVersion: "1.37",
	Gates: []Gate{{"SomeGate", []GateRelease{{"1.37", true, "Beta", false}}}},
	File:  File{strings.Repeat("ab", 32), 12345}, URL: "/static/policy.abcdef.wasm",
}

func TestPageShowsTheQuestionAgain(t *testing.T) {
	html := page(t, Page{Module: module, Form: Form{
		Manifest: "\n</textarea><script>x</script>", Exits: `a="1`, Version: "1.36", Validation: "Warn", Gates: map[string]string{"SomeGate": "false"},
	}})
	for _, want := range []string{
		">\n\n&lt;/textarea&gt;&lt;script&gt;x&lt;/script&gt;</textarea>", // HTML drops the first line end
		`value="a=&#34;1"`, `<option value="1.36" selected>`, `<option value="Warn" selected>`, `<option value="false" selected>`, "not in 1.36", "12345 bytes",
		`<span id="L2">2</span>`,
	} {
		if !strings.Contains(html, want) {
			t.Errorf("no %s in\n%s", want, html)
		}
	}
	if strings.Count(html, "<script") != strings.Count(html, "<script src=")+strings.Count(html, `<script type="module" src=`) || regexp.MustCompile(` (?:style|on\w+)=`).MatchString(html) {
		t.Errorf("the policy of the page forbids inline code and style:\n%s", html)
	}
}

func TestEveryControlHasALabel(t *testing.T) {
	html := page(t, Page{Module: module, Form: Form{Manifest: "a: 1"}})
	for _, m := range regexp.MustCompile(`<(?:input|select|textarea) id="([^"]+)"`).FindAllStringSubmatch(html, -1) {
		if !strings.Contains(html, `<label for="`+m[1]+`"`) {
			t.Errorf("%s has no label", m[1])
		}
	}
	ids := map[string]bool{}
	for _, m := range regexp.MustCompile(` id="([^"]+)"`).FindAllStringSubmatch(html, -1) {
		if ids[m[1]] {
			t.Errorf("the id %s is there twice", m[1])
		}
		ids[m[1]] = true
	}
}

func TestEditorMarksLines(t *testing.T) {
	at := func(line int, mark string) document.Edit {
		return document.Edit{Item: document.Item{Mark: mark, Place: document.Place{Line: line}}}
	}
	a := &document.Document{Verdict: document.Verdict{Item: document.Item{Place: document.Place{Line: 1}}}, Blocks: []document.Block{
		{Kind: "steps", Items: []document.Edit{at(2, "matched"), at(4, "notmatched"), at(0, "matched")}},
		{Kind: "list", Items: []document.Edit{at(2, "warning"), at(3, "dropped"), at(3, "fault")}},
	}}
	want := map[int]string{1: "decided", 2: "warning", 3: "fault"}
	if got := marks(a); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	html := page(t, Page{Module: module, Answer: &Outcome{Document: a}, Form: Form{Manifest: "a\nb\nc"}})
	if !strings.Contains(html, `<span id="L3" class="fault">3</span>`) {
		t.Errorf("line 3 is not marked in\n%s", html)
	}
	if long := page(t, Page{Module: module, Form: Form{Manifest: strings.Repeat("\n", 100_000)}}); len(long) > 500_000 {
		t.Errorf("a text of 100,000 lines makes a page of %d bytes", len(long))
	}
}

func TestFaultsOfTheRequestPointAtTheirControl(t *testing.T) {
	for path, want := range map[string]string{
		"exits": "exits", "exits[0].container": "exits", "runs": "exits", "runs.main[0].for": "exits", `runs["a.b"]`: "exits", "until": "exits", "runsX": "", "cluster.version": "version", "cluster.featureGates.A": "gates", "fieldValidation": "validation",
		"spec.containers[0]": "", "": "", "exitsX": "",
	} {
		if got := Control(path); got != want {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
}

func TestAddedEvent(t *testing.T) {
	f := ReadForm(url.Values{"exits": {"main: 3@10s"}, "event": {"OOMKilled"}, "event-at": {"5m"}, "event-of": {"main"}, "timing": {"full"}})
	if want := "main: 3@10s at 5m OOMKilled:main timing full"; f.Exits != want {
		t.Errorf("%q, want %q", f.Exits, want)
	}
}

func TestLivePodAsksWhatComesNext(t *testing.T) {
	for text, want := range map[string]string{
		"apiVersion: v1\nkind: Pod\nspec: {}\nstatus:\n  phase: Running\n": "simulate",
		"{\n    \"kind\": \"Pod\",\n    \"status\": {\n":                   "simulate",
		"apiVersion: v1\r\nkind: Pod\r\nstatus:\r\n":                       "simulate",
		"apiVersion: v1\nkind: Pod\nspec: {}\n":                            "validate",
		"apiVersion: apps/v1\nkind: Deployment\nstatus:\n":                 "validate",
		"kind: Pod\nmetadata:\n  status: x\n":                              "validate",
	} {
		if got := (Form{Manifest: text}).Operation(); got != want {
			t.Errorf("%q asks for %s, want %s", text, got, want)
		}
		if got := (Form{Manifest: text, Exits: "main=1"}).Operation(); got != "decide" {
			t.Errorf("%q with an exit asks for %s", text, got)
		}
	}
}
