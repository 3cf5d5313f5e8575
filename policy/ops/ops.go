package ops

import (
	"strconv"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/manifest"
)

// Versions of what fronts and hosts build on.
const (
	ABIVersion    = "1.1" // the module's exports; see package wasm
	SchemaVersion = "v1"  // requests and answers
)

// Operation is one question that Podfate answers.
type Operation struct {
	Number  uint32 // of pf_call; append-only
	Name    string // CLI verb, HTTP path and method of each plugin
	Summary string // one sentence for people
}

// table is in the order of the numbers, which never change. Nobody writes to it.
var table = []Operation{
	{1, "describe", "Versions, feature gates and their defaults, operations and limits."},
	{2, "validate", "Would the API server accept this manifest, what would it drop, what will never work?"},
	{3, "decide", "A container exits now: what happens, and which rule or policy decides?"},
	{4, "simulate", "These runs and events over time: what becomes of the Pod, step by step?"},
	{5, "curve", "A container ends the same way again and again: when is it restarted, and how late is it back after an outage?"},
	{explainNumber, "explain", "Any of these questions, answered in words and drawings: the answer, with a document for every front end to render."},
	{tableNumber, "table", "Every exit code at once: what does each do to the container and its Job, and which rules never decide?"},
	{compareNumber, "compare", "One question in several worlds, such as two releases or two manifests: what differs?"},
	{9, "suggest", "Exits should lead to something else: which change of the manifest does exactly that?"},
	{10, "translate", "A policy written for a draft or a proposal, rewritten for a release, or the other way round: what is lost?"},
	{11, "fleet", "Many Pods on many nodes: how many restarts and requests, when is the peak, what does it cost?"},
}

// Numbers of operations that others ask for.
const (
	simulateNumber = 4
	curveNumber    = 5
	explainNumber  = 6
	tableNumber    = 7
	compareNumber  = 8
)

// Table returns the operations in the order of their numbers. The list is shared: callers must not
// change it.
func Table() []Operation { return table }

// What a request of each operation may have, besides apiVersion and kind. Nobody writes to them.
var (
	describeMembers  = []string{"module"}
	validateMembers  = []string{"cluster", "fieldValidation", "manifest", "templatePath", "old", "static"}
	decideMembers    = []string{"cluster", "fieldValidation", "manifest", "templatePath", "exits", "pods", "restartCounts", "decide", "show", "question"}
	simulateMembers  = []string{"cluster", "fieldValidation", "manifest", "templatePath", "from", "now", "runs", "runsFrom", "podRuns", "jobRuns", "owner", "events", "until", "timing", "backoff", "jobBackoff", "decide", "show", "question"}
	tableMembers     = []string{"cluster", "fieldValidation", "manifest", "templatePath", "container", "restartCount", "restartCounts", "decide"}
	fleetMembers     = []string{"cluster", "backoff", "nodes", "groups", "pools", "spread", "requestsPerRestart", "bin", "windows", "until", "model", "sweep", "gang", "goal", "cost"}
	translateMembers = []string{"cluster", "fieldValidation", "manifest", "templatePath", "to", "spelling", "decide", "backoff", "runsFrom"}
	suggestMembers   = []string{"cluster", "fieldValidation", "manifest", "templatePath", "container", "wishes", "flip"}
	curveMembers     = []string{"cluster", "backoff", "run", "until", "model", "windows", "outage", "sweep"}
	compareMembers   = []string{"of", "request", "variants", "answers"}
)

// Members returns what a request of the operation called name may have, besides apiVersion and
// kind; nil for explain, which takes what any of them takes, and for a name that is not in the
// table. The list is shared: callers must not change it.
func Members(name string) []string {
	switch name {
	case "describe":
		return describeMembers
	case "validate":
		return validateMembers
	case "decide":
		return decideMembers
	case "simulate":
		return simulateMembers
	case "curve":
		return curveMembers
	case "table":
		return tableMembers
	case "compare":
		return compareMembers
	case "fleet":
		return fleetMembers
	case "suggest":
		return suggestMembers
	case "translate":
		return translateMembers
	}
	return nil
}

// Lookup returns the operation with this name.
func Lookup(name string) (Operation, bool) {
	for _, op := range table {
		if op.Name == name {
			return op, true
		}
	}
	return Operation{}, false
}

// Call runs operation number on request and returns its answer. If failed is true, the answer is an
// error payload: {"error":{"code":…,"num":…,"message":…}}. The answer is the caller's. request is
// not kept and not changed.
//
// The same arguments give the same bytes. Call does not return an error payload for a bug: it
// panics, and the fronts turn that into INTERNAL.
func Call(number uint32, request []byte) (answer []byte, failed bool) {
	return new(Memory).Call(number, request)
}

// Memory is what calls that come one after the other use again, so that most of them leave little
// garbage: the values of the request and the answer. No call sees what another one left there. The
// zero Memory is ready; it serves one caller at a time, and after a panic no more.
type Memory struct {
	parser manifest.Parser
	call   call

	// Collect is called between the questions of a call that asks several, if it is not nil: where
	// nobody else does it, the time to collect garbage.
	Collect func()

	// Of explain and compare; nil until they are asked for.
	inner   *Memory // runs the operation that is explained or compared
	answers *manifest.Parser
}

// within returns what runs an operation inside another one.
func (m *Memory) within() *Memory {
	if m.inner == nil {
		m.inner = &Memory{Collect: m.Collect}
	}
	return m.inner
}

// Call is the function [Call], except that the answer is good only until m is used again.
func (m *Memory) Call(number uint32, request []byte) (answer []byte, failed bool) {
	if !known(number) {
		c := &call{}
		c.failWith(policy.UnsupportedOp, "no operation has the number "+strconv.FormatUint(uint64(number), 10))
		return c.end()
	}
	c := m.begin(request)
	if c.failure == nil {
		c.run(number)
	}
	return c.end()
}

// begin begins a call with reading its request.
func (m *Memory) begin(request []byte) *call {
	c := &m.call
	*c = call{w: c.w, parser: &m.parser, memory: m}
	c.w.Reset(answerBytes)
	if len(request) > policy.MaxRequestBytes {
		c.limit("requestBytes", len(request), policy.MaxRequestBytes)
	} else {
		c.read(request)
	}
	return c
}

// end returns what was written, or the error.
func (c *call) end() (answer []byte, failed bool) {
	if c.failure == nil && c.w.Len() > policy.MaxOutputBytes+policy.MaxDocumentBytes*c.documents {
		c.limit("outputBytes", c.w.Len(), policy.MaxOutputBytes)
	}
	if c.failure != nil {
		return c.failure.payload(c), true
	}
	return c.w.Bytes(), false
}

func known(number uint32) bool {
	for i := range table {
		if table[i].Number == number {
			return true
		}
	}
	return false
}

// answerBytes is room for the answer about a small Pod; a longer one grows.
const answerBytes = 2048

// run is a switch and not a column of the table, since describe lists the table.
func (c *call) run(number uint32) {
	switch number {
	case 1:
		c.describe()
	case 2:
		c.validate()
	case 3:
		c.decide()
	case 4:
		c.simulate()
	case 5:
		c.curve()
	case explainNumber:
		c.explain()
	case tableNumber:
		c.table()
	case compareNumber:
		c.compare()
	case 11:
		c.fleet()
	case 9:
		c.suggest()
	case 10:
		c.translate()
	}
}

// call is one operation under way.
type call struct {
	src    []byte
	memory *Memory
	parser *manifest.Parser
	root   manifest.Value // the request
	man    manifest.Value // the manifest in it
	w      manifest.Writer

	templates []manifest.Template // that the answer is about, in a manifest of a kind that Podfate does not read itself
	bare      []string            // paths of containers in it that are in no template

	faults  faultList
	failure *failure
	names   []string // of containers, for faults; nil until one needs them
	runs    int      // of all tapes that were read

	node policy.Proposals // that the node has
	old  string           // the code of a default reading of what a node without them does, "" if it does not matter

	preset   string        // of waits, as the request names it
	waits    *policy.Waits // in place of the cluster's, at the begin of a simulation
	badWaits bool          // they have faults, which need not be found again
	retries  policy.Series // of a Job, in place of the controller's; the zero value if it keeps those

	reasons bool // a deletion may have a reason: a proposal says so

	strange     []located       // exit codes in the request with which no process on Linux ends, at most policy.MaxFaults
	strangeMore int             // how many more there are
	unreached   []unreached     // runs of containers after an init container without runs
	question    *manifest.Short // of the request, nil for none
	expect      []expectation   // of it
	inQuestion  bool            // what is read is part of it
	rows        bool            // decisions have what kubectl prints
	waste       bool            // simulations have for how long Pods ran and waited
	compares    uint32          // the operation whose answers are compared
	documents   int             // that come after the answer: they have a bound of their own
}

// read parses the request and checks that it is an object.
func (c *call) read(request []byte) {
	c.src = request
	root, err := c.parser.Parse(request)
	if err != nil {
		c.failure = &failure{code: err.Code, message: err.Message, offset: err.Offset, limit: err.Limit}
		return
	}
	if k := root.Kind(); k != manifest.Object && k != manifest.Null { // null is as good as nothing, as everywhere
		c.wrongType(root, "", "an object")
		c.failOnFaults()
		return
	}
	c.root = root
	c.man = root.Get("manifest")
	inner := c.man // whose own check reports those in it; of explain it is the inner request
	if !inner.Exists() {
		inner = root.Get("request")
	}
	for _, d := range root.Duplicates(inner) {
		line, column := manifest.Position(request, d.First)
		c.requestFaultAt(d.Second, policy.FieldError{
			Path: d.Path, Code: policy.CodeDuplicateField,
			Detail: "duplicate name, first set in line " + strconv.Itoa(line) + ", column " + strconv.Itoa(column),
		})
	}
}

// members reports every member of v that is not in allowed. path is that of v in the request, ""
// for the root.
func (c *call) members(v manifest.Value, path string, allowed ...string) {
	if v.Kind() != manifest.Object {
		c.wrongType(v, path, "an object")
		return
	}
	for m := v.First(); m.Exists(); m = m.Next() {
		if !contains(allowed, m.Key()) {
			detail := "unknown member"
			if len(allowed) == 0 {
				detail = "unknown member; there is none"
			}
			c.requestFaultAt(m.KeyOffset(), policy.FieldError{
				Path: child(path, m.Key()), Code: policy.CodeUnknownField, Detail: detail, Allowed: allowed,
			})
		}
	}
}

// onlyMembers reports whether every member of v is in allowed.
func onlyMembers(v manifest.Value, allowed ...string) bool {
	for m := v.First(); m.Exists(); m = m.Next() {
		if !contains(allowed, m.Key()) {
			return false
		}
	}
	return true
}

// requestMembers checks the request's top: what every request may have, and what this operation
// reads.
func (c *call) requestMembers(own ...string) {
	if c.root.Kind() == manifest.Null {
		return
	}
	if !onlyMembers(c.root, own...) {
		c.members(c.root, "", append([]string{"apiVersion", "kind"}, own...)...)
	}
	c.constant("apiVersion", "podfate.dev/v1")
	c.constant("kind", "Scenario")
}

// constant checks a member that is optional but can have only one value.
func (c *call) constant(name, value string) {
	if s, ok := c.text(c.root.Get(name), name); ok && s != value {
		c.requestFault(c.root.Get(name), policy.FieldError{
			Path: name, Code: policy.CodeUnsupported,
			Detail: strconv.Quote(cut(s)) + " is not a request of Podfate; a manifest belongs below manifest", Allowed: []string{value},
		})
	}
}

// text reads a string; ok is false if it is absent, null or, with a fault, of another type.
func (c *call) text(v manifest.Value, path string) (s string, ok bool) {
	switch v.Kind() {
	case manifest.Invalid, manifest.Null:
		return "", false
	case manifest.String:
		return v.Str(), true
	}
	c.wrongType(v, path, "a string")
	return "", false
}

func (c *call) wrongType(v manifest.Value, path, want string) {
	c.requestFault(v, policy.FieldError{
		Path: path, Code: policy.CodeWrongType, Detail: "must be " + want + ", found " + kindName(v.Kind()),
	})
}

func kindName(k manifest.Kind) string {
	switch k {
	case manifest.Null:
		return "null"
	case manifest.Bool:
		return "a boolean"
	case manifest.Number:
		return "a number"
	case manifest.String:
		return "a string"
	case manifest.Array:
		return "an array"
	case manifest.Object:
		return "an object"
	}
	return "nothing"
}

func contains(list []string, s string) bool {
	for _, e := range list {
		if e == s {
			return true
		}
	}
	return false
}

// child returns the path of a member, in the spelling of manifest.Value.Path for the names that
// requests use.
func child(path, name string) string {
	name = cut(name)
	if path == "" {
		return name
	}
	return path + "." + name
}

func element(path string, i int) string { return path + policy.Index(i) }

// cut bounds what a fault repeats of the user's text.
func cut(s string) string {
	if len(s) <= policy.MaxQuotedBytes {
		return s
	}
	end := policy.MaxQuotedBytes
	for end > 0 && s[end]&0xC0 == 0x80 {
		end--
	}
	return s[:end] + "…"
}
