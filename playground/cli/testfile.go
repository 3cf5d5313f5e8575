package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/podfate/podfate/playground/server"
	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/manifest"
	"github.com/podfate/podfate/policy/ops"
	"github.com/podfate/podfate/policy/words"
	"github.com/podfate/podfate/schema"
	"github.com/podfate/podfate/schema/document"
	"github.com/podfate/podfate/wasm"
	"github.com/spf13/cobra"
)

// newTest makes the verb test, which asks nothing of its own: it holds answers to what files expect
// of them.
func newTest(streams Streams) *cobra.Command {
	o := &options{}
	command := &cobra.Command{
		Use:   "test FILE…",
		Short: "Do these manifests still do what they should? Expectations in plain YAML.",
		Long: `Runs the tests in files and folders. A test is a document with the member expect and a question as the other verbs
take it: exits, or runs and events, a cluster, and a manifest. The manifest is in the test itself, in the document before
it, or in a file that the test names (file: pod.yaml).

A test can expect, from simulate: phase, reason, at (when the phase was reached), restarts, starts, ran, and for a Job
failed, succeeded and pods; from decide: action, podFails and job, or a list of exits; from validate: valid, faults,
warnings and dropped; from compare: same and equivalent; also codes, the outcome of ranges of exit codes; refused; and
answer, any part of the answer. Numbers are sums over all containers, or by name: restarts: {main: 4}.

The exit status is 1 if a test fails, and 2 if a file contains no tests.`,
		Example: `  podfate test retries_test.yaml
  podfate test tests/ -o junit > report.xml

  # a test
  name: exit 42 is retried, and then the Pod fails
  file: pod.yaml
  runs: {main: [{for: 10s, exitCode: 42, times: 4}, {for: 5s, exitCode: 1}]}
  expect: {phase: Failed, restarts: 4, at: 1m55s}`,
		Args: someFiles,
	}
	flags := command.Flags()
	flags.StringVarP(&o.output, "output", "o", "text", "form of the report: text, jsonl (a line for each test), junit, sarif or github (annotations)")
	flags.StringVar(&o.engine, "engine", "native", "what answers: the core in this program (native), or the WebAssembly module (wasm)")
	flags.StringVar(&o.version, "kubernetes-version", "", "release of the cluster for tests that name none")
	complete(command, "output", testOutputs)
	complete(command, "engine", engines)
	complete(command, "kubernetes-version", policy.Versions())
	command.RunE = func(command *cobra.Command, args []string) error {
		if err := noEmptyValues(command.Flags()); err != nil {
			return err
		}
		return runTests(command.Context(), o, args, streams)
	}
	return command
}

var testOutputs = []string{"text", "jsonl", "junit", "sarif", "github"}

// tester runs tests.
type tester struct {
	*printer
	engine  server.Engine
	version string
	output  string
	passed  int
	failed  int
}

// expectation is one test.
type expectation struct {
	name   string
	place  finding // where it is
	op     ops.Operation
	expect map[string]any
	phases []struct{ Phase, At string } // of a question in short
	// The request.
	members members
	doc     *schema.Document // with the manifest; nil if there is none, or if it is among the members
}

// mismatch is something that is not as it was expected.
type mismatch struct {
	Path     string `json:"path"`
	Expected string `json:"expected"`
	Found    string `json:"found"`
}

func runTests(ctx context.Context, o *options, files []string, streams Streams) error {
	p, err := newPrinter("text", "test", nil, streams)
	if err != nil {
		return err
	}
	if !slices.Contains(testOutputs, o.output) {
		return fmt.Errorf("--output %q: must be %s or %s", o.output, strings.Join(testOutputs[:len(testOutputs)-1], ", "), testOutputs[len(testOutputs)-1])
	}
	if slices.Contains(ciOutputs, o.output) {
		p.inCI = o.output
	}
	if _, ok := policy.ParseVersion(o.version); o.version != "" && !ok {
		return fmt.Errorf("--kubernetes-version %s: must be one of %s", strconv.Quote(o.version), strings.Join(policy.Versions(), ", "))
	}
	engine, err := openEngine(ctx, o.engine, wasm.Options{Interpreter: true, Instances: 1})
	if err != nil {
		return err
	}
	defer closeEngine(engine)
	t := &tester{printer: p, engine: engine, version: o.version, output: o.output}
	from, err := openSources(files, streams.In)
	if err != nil {
		return err
	}
	defer from.close()
	err = from.walk(walker{passed: p.passedFile, failed: p.unreadable, file: func(name string, in io.ReadSeeker) error {
		text, err := io.ReadAll(io.LimitReader(in, schema.MaxBodyBytes+1))
		if err != nil {
			return fileError(err)
		}
		return t.file(ctx, name, text)
	}})
	if err != nil {
		return err
	}
	if t.passed+t.failed == 0 && !p.broken {
		return errors.New("no test: none of the documents has a member expect")
	}
	if o.output == "text" {
		fmt.Fprintf(p.Out, "%s, %d failed\n", plural(int64(t.passed+t.failed), "test"), t.failed)
	}
	p.bad = t.failed > 0
	return p.end()
}

// wrong says what is wrong with a file of tests.
func (t *tester) wrong(f finding, format string, args ...any) {
	t.broken = true
	f.level, f.rule, f.text = "error", "test_file", fmt.Sprintf(format, args...)
	t.checked = append(t.checked, checked{subject: f.file, file: f.file, title: "Not a test", failed: true, findings: []finding{f}})
	fmt.Fprintf(t.Err, "%s%s\n", f.place(), f.text)
}

// file runs the tests of a file.
func (t *tester) file(ctx context.Context, name string, text []byte) error {
	docs, err := schema.DecodeNamed(name, text)
	var faults schema.Faults
	if errors.As(err, &faults) {
		for _, f := range faults {
			t.wrong(finding{file: name, line: f.Line, column: f.Column}, "%s", f.Detail)
		}
		return nil
	}
	if err != nil {
		return err
	}
	var shared *schema.Document
	for i, doc := range docs {
		head := map[string]json.RawMessage{}
		at := finding{file: name}
		at.line, at.column = doc.Position("")
		if json.Unmarshal(doc.JSON(), &head) != nil {
			t.wrong(at, "a document is an object: a manifest, or a test with the member expect")
			continue
		}
		if head["expect"] == nil {
			shared = doc
			continue
		}
		e, bad := t.read(head, doc, at)
		for _, fault := range bad {
			t.wrong(at, "%s", fault)
		}
		if len(bad) > 0 {
			continue
		}
		if e.name == "" {
			e.name = "test " + strconv.Itoa(i+1)
		}
		if e.members["manifest"] == nil && e.doc == nil {
			e.doc = shared
		}
		if err := t.run(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

// read reads a test, and says all that is wrong with it.
func (t *tester) read(head members, doc *schema.Document, at finding) (e expectation, bad []string) {
	e = expectation{place: at, members: maps.Clone(head)}
	wrong := func(format string, args ...any) { bad = append(bad, fmt.Sprintf(format, args...)) }
	take := func(name string, into any) {
		raw := e.members[name]
		delete(e.members, name)
		if raw != nil && json.Unmarshal(raw, into) != nil {
			line, _ := doc.Position(name)
			wrong("%s in line %d: is of another type", name, line)
		}
	}
	var of, file, kind, version, question string
	take("name", &e.name)
	take("of", &of)
	take("file", &file)
	take("kind", &kind)
	take("apiVersion", &version)
	take("expect", &e.expect)
	_ = json.Unmarshal(e.members["question"], &question)
	if short, faults := manifest.ReadShort(question); question != "" && len(faults) == 0 {
		_ = json.Unmarshal(short.Members.Get("expect").Raw(), &e.phases)
	}
	if kind != "" && kind != "Test" {
		wrong("kind %q: a test needs no kind, or Test", kind)
	}
	if version != "" && version != "podfate.dev/v1" {
		wrong("apiVersion %q: must be podfate.dev/v1", version)
	}
	if file != "" {
		var fault string
		if e.doc, fault = readManifest(filepath.Join(filepath.Dir(at.file), file)); fault != "" {
			wrong("%s", fault)
		}
	}
	if len(e.expect) == 0 && len(e.phases) == 0 {
		if e.expect != nil || string(head["expect"]) == "null" {
			wrong("expect: nothing is expected")
		}
		return e, bad // of what, nobody knows
	}
	said := of != ""
	if !said {
		of = e.operation()
	}
	op, known := ops.Lookup(of)
	if !known || of == "explain" {
		wrong("of %q: is no operation that can be tested", of)
		return e, bad
	}
	e.op = op
	for _, name := range e.foreign() {
		if line, _ := doc.Position(name); !said {
			wrong("%s in line %d: %s does not take it, and by %s this is a test of %s; leave one of the two out, or set of", name, line, of, e.sign(), of)
		}
	}
	allowed := append(slices.Clone(expected[of]), expected[""]...)
	for _, name := range slices.Sorted(maps.Keys(e.expect)) {
		if !slices.Contains(allowed, name) {
			line, _ := doc.Position("expect." + name)
			wrong("expect.%s in line %d: of %s can be expected: %s", name, line, of, strings.Join(allowed, ", "))
		}
	}
	return e, bad
}

// expected are the members of expect by operation, under "" those of all.
var expected = map[string][]string{
	"":         {"refused", "error", "faults", "answer"},
	"simulate": {"phase", "reason", "at", "restarts", "starts", "ran", "failed", "succeeded", "pods", "undecided"},
	"decide":   {"action", "because", "podFails", "decidedBy", "job", "exits"},
	"validate": {"valid", "warnings", "dropped"},
	"table":    {"codes"},
	"compare":  {"same", "equivalent", "sameTimeline"},
	"curve":    {"restarts", "late"},
}

// operation is what a test asks if it does not say so.
func (e *expectation) operation() string {
	has := func(names ...string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return e.members[n] != nil })
	}
	switch _, codes := e.expect["codes"]; {
	case codes:
		return "table"
	case has("variants"):
		return "compare"
	case has("runs", "podRuns", "events", "runsFrom", "until"), len(e.phases) > 0, e.expect["phase"] != nil:
		return "simulate"
	case has("exits", "pods", "question"):
		return "decide"
	case has("run", "outage"):
		return "curve"
	}
	return "validate"
}

// sign is what [expectation.operation] went by.
func (e *expectation) sign() string {
	for _, name := range []string{"codes", "phase"} {
		if e.expect[name] != nil {
			return "expect." + name
		}
	}
	return "its other members"
}

// foreign are members of the test that other operations are asked and its own is not. What no
// operation knows is left to the core to refuse.
func (e *expectation) foreign() (names []string) {
	if e.op.Name == "compare" { // asks another operation, with its members
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(e.members)) {
		asked := func(op ops.Operation) bool { return slices.Contains(ops.Members(op.Name), name) }
		if !asked(e.op) && slices.ContainsFunc(ops.Table(), asked) {
			names = append(names, name)
		}
	}
	return names
}

// readManifest reads the file that a test names.
func readManifest(name string) (doc *schema.Document, bad string) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, "file: " + fileError(err).Error()
	}
	docs, err := schema.DecodeNamed(filepath.ToSlash(name), text)
	if err != nil {
		return nil, "file: " + name + ": " + err.Error()
	}
	if len(docs) != 1 {
		return nil, fmt.Sprintf("file: %s: %d documents; a test is about one", name, len(docs))
	}
	return docs[0], ""
}

// request builds the request of a test.
func (e *expectation) request(version string) (*schema.Request, error) {
	o := schema.Overrides{Members: e.members}
	if e.op.Name == "compare" {
		o.Around = []string{"of", "variants", "answers"}
		if e.members["of"] == nil {
			e.members["of"] = encode("table")
		}
	}
	if e.members["cluster"] == nil && e.op.Name != "describe" {
		o.Version = version
	}
	var docs []*schema.Document
	if e.doc != nil {
		docs = append(docs, e.doc)
	}
	return schema.NewRequest(docs, o)
}

// run runs a test and reports it.
func (t *tester) run(ctx context.Context, e expectation) error {
	request, err := e.request(t.version)
	var answer []byte
	var words *document.Document
	var faults schema.Faults
	switch {
	case errors.As(err, &faults):
		answer = faults.Payload()
	case err != nil:
		return err
	default:
		explain, _ := ops.Lookup("explain")
		explained, _, err := t.engine.Call(ctx, explain.Number, request.Explain(e.op.Name))
		if err != nil {
			return failf("the engine gave no answer: %w", err)
		}
		raw, d, err := document.Read(explained)
		if err != nil {
			return err
		}
		answer, words = raw, d
	}
	facts := factsOf(e.op.Name, answer)
	var found []mismatch
	match("", e.expect, facts, &found)
	for _, phase := range e.phases {
		found = append(found, phaseAt(answer, phase.Phase, phase.At)...)
	}
	title := ""
	if words != nil {
		title = words.Verdict.Title + ". " + words.Verdict.Text
	} else if f := faults; len(f) > 0 {
		title = f.Error()
	}
	t.report1(e, found, title)
	return nil
}

// report1 reports one test.
func (t *tester) report1(e expectation, found []mismatch, title string) {
	if len(found) == 0 {
		t.passed++
	} else {
		t.failed++
	}
	c := checked{subject: e.name, file: e.place.file, title: "Not as expected", text: title}
	var lines []string
	for _, m := range found {
		lines = append(lines, fmt.Sprintf("- %s: %s", m.Path, m.Expected), fmt.Sprintf("+ %s: %s", m.Path, m.Found))
	}
	switch {
	case t.output == "jsonl":
		line, _ := json.Marshal(struct {
			File     string     `json:"file"`
			Line     int        `json:"line"`
			Name     string     `json:"name"`
			Passed   bool       `json:"passed"`
			Mismatch []mismatch `json:"mismatches,omitempty"`
			Answer   string     `json:"answer"`
		}{e.place.file, e.place.line, e.name, len(found) == 0, found, title})
		fmt.Fprintf(t.Out, "%s\n", line)
	case t.output == "text" && len(found) == 0:
		fmt.Fprintf(t.Out, "ok    %s\n", e.name)
	case t.output == "text":
		fmt.Fprintf(t.Out, "FAIL  %s (%s:%d)\n", e.name, e.place.file, e.place.line)
		for _, line := range lines {
			tone := "fail"
			if line[0] == '+' {
				tone = "ok"
			}
			paint := painter{colour: t.colour}
			fmt.Fprintf(t.Out, "      %s\n", paint.tint(tone, line))
		}
		for _, line := range wrap(title, max(t.width-6, 20)) {
			fmt.Fprintf(t.Out, "      %s\n", line)
		}
	}
	if len(found) > 0 {
		f := e.place
		f.level, f.rule, f.text = "error", "expectation", strings.Join(append(lines, title), "\n")
		c.findings = []finding{f}
	}
	t.checked = append(t.checked, c)
}

// millis is a length of time among facts: it may be expected as 1m55s.
type millis int64

func (m millis) String() string { return words.Span(int64(m)) }

// total is a number by container: the sum may be expected, or single ones.
type total map[string]any

func (t total) sum() (n float64) {
	for _, v := range t {
		switch v := v.(type) {
		case float64:
			n += v
		case millis:
			n += float64(v)
		}
	}
	return n
}

// match compares what is expected with what is there. Of objects only the members that are expected
// are looked at.
func match(path string, want, have any, found *[]mismatch) {
	differs := func() {
		*found = append(*found, mismatch{strings.TrimPrefix(path, "."), show(want), show(have)})
	}
	switch h := have.(type) {
	case total:
		if _, single := want.(map[string]any); single {
			match(path, want, map[string]any(h), found)
			return
		}
		sum := any(h.sum())
		for _, v := range h {
			if _, is := v.(millis); is {
				sum = millis(h.sum())
			}
			break
		}
		have = sum
		match(path, want, sum, found)
		return
	case ranges:
		if w, ok := want.(map[string]any); ok {
			h.match(path, w, found)
			return
		}
		differs()
		return
	case millis:
		text, ok := want.(string)
		if m, _, fault := policy.ParseMillis(text); !ok || fault != "" || int64(m) != int64(h) {
			differs()
		}
		return
	}
	switch w := want.(type) {
	case map[string]any:
		h, ok := have.(map[string]any)
		if !ok {
			differs()
			return
		}
		for _, name := range slices.Sorted(maps.Keys(w)) {
			match(path+"."+name, w[name], h[name], found)
		}
	case []any:
		h, ok := have.([]any)
		if !ok || len(h) != len(w) {
			differs()
			return
		}
		for i := range w {
			match(fmt.Sprintf("%s[%d]", path, i), w[i], h[i], found)
		}
	default:
		if want != have {
			differs()
		}
	}
}

// show writes a value of a diff.
func show(v any) string {
	switch v := v.(type) {
	case nil:
		return "nothing"
	case string:
		return v
	case millis:
		return v.String()
	case fmt.Stringer:
		return v.String()
	}
	text, err := json.Marshal(plainValue(v))
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(text)
}

// plainValue is a value as JSON has it.
func plainValue(v any) any {
	switch v := v.(type) {
	case millis:
		return v.String()
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			out[k] = plainValue(e)
		}
		return out
	case total:
		return plainValue(map[string]any(v))
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = plainValue(v[i])
		}
		return out
	}
	return v
}

// factsOf are the facts of an answer that can be expected.
func factsOf(op string, raw []byte) map[string]any {
	var answer map[string]any
	if json.Unmarshal(raw, &answer) != nil {
		return nil
	}
	facts := map[string]any{"answer": answer, "refused": false}
	list := func(v any, name string) (texts []any) {
		entries, _ := v.([]any)
		texts = []any{}
		for _, e := range entries {
			m, _ := e.(map[string]any)
			texts = append(texts, m[name])
		}
		return texts
	}
	if e, failed := answer["error"].(map[string]any); failed {
		facts["error"] = e["code"]
		facts["refused"] = e["code"] == "MANIFEST_INVALID"
		facts["faults"] = list(e["faults"], "path")
		return facts
	}
	if faults, ok := answer["faults"]; ok {
		facts["faults"] = list(faults, "path")
	}
	switch op {
	case "validate":
		facts["valid"] = answer["valid"]
		facts["refused"] = answer["valid"] == false
		facts["warnings"], facts["dropped"] = list(answer["warnings"], "code"), list(answer["dropped"], "path")
	case "decide":
		decisions, _ := answer["decisions"].([]any)
		facts["exits"] = decisions
		for _, d := range decisions[:min(len(decisions), 1)] {
			m, _ := d.(map[string]any)
			facts["podFails"] = false
			maps.Copy(facts, m)
			if by, ok := m["decidedBy"].(map[string]any); ok {
				facts["decidedBy"] = by["path"]
			}
		}
	case "simulate":
		simulated(facts, answer, raw)
	case "compare":
		for _, name := range expected["compare"] {
			facts[name] = answer[name]
		}
	case "curve":
		facts["restarts"] = answer["restarts"]
		if outage, ok := answer["outage"].(map[string]any); ok {
			facts["late"] = toMillis(outage["lateMillis"])
		}
	case "table":
		facts["codes"] = codesOf(answer)
	}
	return facts
}

func toMillis(v any) any {
	if n, ok := v.(float64); ok {
		return millis(n)
	}
	return v
}

// simulated adds the facts of a simulation.
func simulated(facts, answer map[string]any, raw []byte) {
	var s struct {
		Layers *struct {
			Job struct {
				Outcome, Reason   string
				Failed, Succeeded float64
			}
		}
		Pod struct {
			Status struct{ Phase, Reason string }
		}
		Pods []struct{}
	}
	if json.Unmarshal(raw, &s) != nil {
		return
	}
	phase, reason := s.Pod.Status.Phase, s.Pod.Status.Reason
	if s.Layers != nil {
		phase, reason = s.Layers.Job.Outcome, s.Layers.Job.Reason
		facts["failed"], facts["succeeded"], facts["pods"] = s.Layers.Job.Failed, s.Layers.Job.Succeeded, float64(len(s.Pods))
	}
	facts["phase"], facts["reason"] = phase, reason
	timeline, _ := answer["timeline"].([]any)
	for _, e := range timeline {
		m, _ := e.(map[string]any)
		_, ofJob := m["job"]
		if s.Layers != nil && ofJob || s.Layers == nil && m["event"] == "PhaseChanged" && m["view"] == nil {
			facts["at"] = toMillis(m["atMillis"])
		}
	}
	restarts, starts, ran := total{}, total{}, total{}
	containers, _ := answer["containers"].([]any)
	for _, c := range containers {
		m, _ := c.(map[string]any)
		name, _ := m["container"].(string)
		restarts[name], starts[name], ran[name] = m["restarts"], m["starts"], toMillis(m["ranMillis"])
	}
	facts["restarts"], facts["starts"], facts["ran"] = restarts, starts, ran
	open := []any{}
	undecided, _ := answer["undecided"].([]any)
	for _, u := range undecided {
		m, _ := u.(map[string]any)
		open = append(open, m["reason"])
	}
	facts["undecided"] = open
}

// codesOf are the actions of a table by container and range of exit codes, such as 1-41; FailJob,
// Ignore and the like where a Job decides.
func codesOf(answer map[string]any) map[string]any {
	facts := map[string]any{}
	containers, _ := answer["containers"].([]any)
	for _, c := range containers {
		m, _ := c.(map[string]any)
		name, _ := m["container"].(string)
		by := ranges{}
		list, _ := m["ranges"].([]any)
		for _, r := range list {
			m, _ := r.(map[string]any)
			from, _ := m["from"].(float64)
			to, _ := m["to"].(float64)
			action := m["action"]
			if job, ok := m["job"].(map[string]any); ok && job["action"] != nil {
				action = job["action"]
			}
			for code := int(from); code <= int(to) && code < 256; code++ {
				by[code], _ = action.(string)
			}
		}
		facts[name] = by
	}
	return facts
}

// ranges are actions by exit code.
type ranges [256]string

// match compares what is expected of codes, such as 42 or 1-41, with what they lead to.
func (r ranges) match(path string, want map[string]any, found *[]mismatch) {
	for _, key := range slices.Sorted(maps.Keys(want)) {
		first, last, isRange := strings.Cut(key, "-")
		from, bad := strconv.Atoi(first)
		to := from
		if isRange && bad == nil {
			to, bad = strconv.Atoi(last)
		}
		if bad != nil || from < 0 || to > 255 || from > to {
			*found = append(*found, mismatch{strings.TrimPrefix(path+"."+key, "."), "exit codes such as 42 or 1-41", "no range of exit codes"})
			continue
		}
		var parts []string
		for code := from; code <= to; {
			end := code
			for end < to && r[end+1] == r[code] {
				end++
			}
			part := r[code]
			switch {
			case code == from && end == to:
			case end > code:
				part += fmt.Sprintf(" for %d-%d", code, end)
			default:
				part += fmt.Sprintf(" for %d", code)
			}
			parts = append(parts, part)
			code = end + 1
		}
		if have := strings.Join(parts, ", "); have != show(want[key]) {
			*found = append(*found, mismatch{strings.TrimPrefix(path+"."+key, "."), show(want[key]), have})
		}
	}
}

// phaseAt says where the phase is not what a question in short expects of an instant, or of the
// end.
func phaseAt(raw []byte, phase, at string) (found []mismatch) {
	var s struct {
		Timeline []struct {
			AtMillis  int64
			Event, To string
			View      string
		}
		Layers *struct{ Job struct{ Outcome string } }
		Pod    struct{ Status struct{ Phase string } }
	}
	if json.Unmarshal(raw, &s) != nil {
		return nil
	}
	have := s.Pod.Status.Phase
	if s.Layers != nil {
		have = s.Layers.Job.Outcome
	}
	name := "phase"
	if at != "" {
		name += " at " + at
		until, _, _ := policy.ParseMillis(at)
		have = "Pending"
		for _, e := range s.Timeline {
			if e.AtMillis > int64(until) {
				break
			}
			switch {
			case s.Layers == nil && e.Event == "PhaseChanged" && e.View == "":
				have = e.To
			case s.Layers != nil && e.Event == "JobFailed":
				have = "Failed"
			case s.Layers != nil && e.Event == "JobComplete":
				have = "Complete"
			case s.Layers != nil && have == "Pending":
				have = "Running"
			}
		}
	}
	if have != phase {
		found = append(found, mismatch{name, phase, have})
	}
	return found
}
