package schema

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/manifest"
)

// Overrides are parts of a request that do not come from a document: flags of a command, fields of
// a form. The zero value changes nothing.
type Overrides struct {
	// Version replaces cluster.version unless it is "".
	Version string
	// FeatureGates are added to cluster.featureGates and replace gates of the same name there.
	FeatureGates map[string]bool
	// Proposals are added to cluster.proposals, by name with their options, and replace proposals
	// of the same name there.
	Proposals map[string]map[string]string
	// Kubelet does the same to cluster.kubelet, the node where it differs from the API server.
	Kubelet NodeOverrides
	// FieldValidation replaces fieldValidation unless it is "".
	FieldValidation string
	// Exits are added after those of the documents.
	Exits []Exit
	// Show are added to the member show of the documents.
	Show []string
	// Explain says that the request is one of explain: the member of of a Scenario is taken out,
	// and the rest is the request that is explained. [Request.Call] puts both together.
	Explain bool
	// Around are the members of a Scenario that are next to the request which the rest of it is,
	// as compare has it; nil for none. The request of compare is {members of Around, "request": the
	// rest}.
	Around []string
	// Members are further members of the request as JSON. Each replaces the member of that name;
	// one that a field above sets as well is a fault.
	Members map[string]json.RawMessage
	// Leave are members of other operations. They are left out of a Scenario that is apart from
	// the manifest, as one in a folder does; see [Overrides.LeftOut]. nil leaves everything in: the
	// core refuses what it does not ask for.
	Leave []string
	// EachTemplate makes a request of each template of a manifest that has several, with the member
	// templatePath.
	EachTemplate bool
}

// NodeOverrides are parts of a request's node; see [Overrides].
type NodeOverrides struct {
	Version      string
	FeatureGates map[string]bool
}

func (o *NodeOverrides) empty() bool { return o.Version == "" && len(o.FeatureGates) == 0 }

// Exit is an entry of exits.
type Exit struct {
	Container string // "" leaves the member out: the only container of the Pod
	ExitCode  int32
	Reason    string // "" leaves the member out
}

func (o *Overrides) empty() bool {
	return o.Version == "" && len(o.FeatureGates) == 0 && len(o.Proposals) == 0 && o.Kubelet.empty() && o.FieldValidation == "" && len(o.Exits) == 0 && len(o.Show) == 0 && len(o.Members) == 0
}

// LeftOut returns the members of a Scenario that are left out: see Leave.
func (o *Overrides) LeftOut(doc *Document) (names []string) {
	for m := doc.root.First(); m.Exists() && doc.root.Kind() == manifest.Object; m = m.Next() {
		if slices.Contains(o.Leave, m.Key()) {
			names = append(names, m.Key())
		}
	}
	return names
}

// Request is one request for the core, built from documents. Nothing of it changes.
type Request struct {
	json     []byte
	spans    []span // ascending
	anchor   place  // what the request as a whole stands for: its first document
	verbatim bool   // the request is a text as it is: places are the same
	notes    []Fault
	repeats  []Fault // of the manifest, to be warned of

	manifestDoc *Document
	manifest    manifest.Value

	explain  bool // as in Overrides, for a request that does not say so itself
	of       string
	template string
}

// span says that bytes of a request are bytes of a document's JSON.
type span struct {
	start, end int // in the request
	doc        *Document
	from       int // in the document
}

// JSON returns the request, without what explain puts around it. The caller must not change it.
func (r *Request) JSON() []byte { return r.json }

// Call returns what is sent to the core: the request itself, or explain's with it inside. The
// caller must not change it.
func (r *Request) Call() []byte {
	if !r.explain {
		return r.json
	}
	return r.Explain(r.of)
}

// Explain returns the request of explain for r as a request of the operation of, with what is to be
// warned of in its text. The warnings have no places: those of their paths are meant.
func (r *Request) Explain(of string) []byte {
	request := Explain(of, r.json)
	if len(r.repeats) == 0 {
		return request
	}
	w := &manifest.Writer{}
	w.Array()
	for _, f := range r.repeats[:min(len(r.repeats), MaxFaults)] {
		w.Object()
		w.Key("path")
		w.String(f.Path)
		w.Key("code")
		w.String(string(f.Code))
		w.Key("detail")
		w.String(f.Detail)
		w.End()
	}
	w.End()
	request = append(request[:len(request)-1], `,"warnings":`...)
	return append(append(request, w.Bytes()...), '}')
}

// Explain returns the request of explain for a request of the operation of, as it is.
func Explain(of string, request []byte) []byte {
	var w manifest.Writer
	w.Object()
	w.Key("of")
	w.String(of)
	w.Key("request")
	w.Raw(request)
	w.End()
	return w.Bytes()
}

// Notes returns the notes of the documents that make up the request; see [Document.Notes].
func (r *Request) Notes() []Fault { return r.notes }

// Manifest returns what the manifest calls itself and where it is: its kind, its name, and its
// place. Strings are "" and numbers 0 for what is not there.
func (r *Request) Manifest() (kind, name, source string, line, column int) {
	if r.manifestDoc == nil {
		return "", "", "", 0, 0
	}
	p := r.manifestDoc.place(r.manifest.Offset())
	return r.manifest.Get("kind").Str(), r.manifest.Get("metadata").Get("name").Str(), p.source, p.line, p.column
}

// Namespace returns the namespace that the manifest names, "" for none.
func (r *Request) Namespace() string {
	return r.manifest.Get("metadata").Get("namespace").Text()
}

// Template returns the path of the template that the request is about, "" if it names none; see
// [Overrides].
func (r *Request) Template() string { return r.template }

// NewRequest builds one request from documents: at most one manifest, one KubeletConfiguration and
// one Scenario, in any order, and overrides.
//
// A manifest is any kind that the core reads, or a List with one such item. A Scenario, or a
// document with neither kind nor apiVersion, holds members of the request. A KubeletConfiguration
// becomes cluster.kubeletConfiguration; its featureGates count as the node's and must not
// contradict the cluster's, or those of cluster.kubelet if there is one. A single document that is
// a request is taken as it is, byte for byte, so that the core's answer is the same as if it
// had been given the text itself.
//
// Nothing is skipped: a document that has no place in the request is a fault, and so is a
// second one of its kind. What the parts say is for the core to judge. No documents and no
// overrides make the request {}. An error is of type
// [Faults], in the order of the documents.
func NewRequest(docs []*Document, o Overrides) (*Request, error) {
	b := builder{o: o}
	b.sortOut(docs)
	for i, m := range b.manifests {
		if i > 0 {
			b.faultAt(m.doc, m.value.Offset(), "", CodeSeveralManifests, b.second("manifest", m, b.manifests[0]))
		}
	}
	requests, err := b.build(docs, b.manifests[:min(1, len(b.manifests))])
	if err != nil {
		return nil, err
	}
	return requests[0], nil
}

// NewRequests is [NewRequest] for a stream with several manifests: it returns a request for each of
// them, in their order, that share all the rest. Items of a List count as manifests.
//
// Beside a manifest it skips what [Others] names, so that whatever helm template or kubectl
// get all prints can be read; it is for the caller to tell.
func NewRequests(docs []*Document, o Overrides) ([]*Request, error) {
	b := builder{o: o, passOthers: true}
	b.sortOut(docs)
	if len(b.manifests) == 0 {
		b = builder{o: o}
		b.sortOut(docs)
	}
	return b.build(docs, b.manifests)
}

// Others returns a note for each object among docs, and among the items of Lists, that describes no
// Pods: a Service, a custom resource without a template. Its source is the name given to
// [DecodeNamed]. A kind that is unknown in a group whose kinds Podfate knows is not one of them: it
// may be a slip of the pen. all reports that docs hold nothing else.
func Others(docs []*Document) (notes []Fault, all bool) {
	b := builder{passOthers: true}
	b.sortOut(docs)
	var list collected
	for _, p := range b.others {
		kind, name := p.value.Get("kind"), p.value.Get("metadata").Get("name").Str()
		called := kind.Str()
		if name != "" {
			called += " " + name
		}
		at := p.doc.place(kind.Offset())
		why := " has no Pods and is not read"
		group, _, grouped := strings.Cut(p.value.Get("apiVersion").Text(), "/")
		if _, known := podless[group]; grouped && !known && !slices.Contains(withoutPods, group) {
			why = " has no Pod template and is not read" // another project's: it may refer to a template, or make one
		}
		if _, bare := templatesOf(p.value); len(bare) > 0 {
			why = " has no Pod template and is not read: " + cut(bare[0], MaxQuotedBytes) + " is a container without a Pod"
		}
		list.add(Fault{
			Path: "kind", Code: NoteNotRead, Detail: quoted(called) + why,
			Line: at.line, Column: at.column, Offset: at.offset, Source: at.source,
		})
	}
	return list.unsorted(), len(b.others) > 0 && len(b.manifests) == 0 && b.request == nil && b.kubelet == nil && !b.faults.any()
}

// Stranger returns the fault of a document that is nothing of what is read here: no object, or one
// with neither apiVersion nor kind, and with no member that known says to be one of a request.
// Files for other programs are such documents. The path is manifest if it looks like one all the
// same.
func Stranger(doc *Document, known func(name string) bool) (f Fault, is bool) {
	v := doc.root
	if doc.err == nil && v.Kind() != manifest.Object {
		return notAnObject(doc), true
	}
	if doc.err != nil || v.Len() == 0 || !absent(v.Get("apiVersion")) || !absent(v.Get("kind")) {
		return f, false
	}
	for m := v.First(); m.Exists(); m = m.Next() {
		if known(m.Key()) {
			return f, false
		}
	}
	path, detail := "", "neither a manifest, which has apiVersion and kind, nor a part of a Scenario, which has no member "+quoted(v.First().Key())
	if !absent(v.Get("spec")) || !absent(v.Get("metadata")) {
		path, detail = "manifest", "a manifest has apiVersion and kind: without both of them this is not read as one"
	}
	at := doc.place(v.Offset())
	return Fault{
		Path: path, Code: policy.CodeRequired, Detail: detail,
		Line: at.line, Column: at.column, Offset: at.offset, Source: at.source,
	}, true
}

func notAnObject(doc *Document) Fault {
	at := doc.place(0)
	return Fault{
		Code: CodeNotAnObject, Detail: "a document is an object with members such as kind, found " + found(doc.root.Kind()),
		Line: at.line, Column: at.column, Offset: at.offset, Source: at.source,
	}
}

// Read decodes a text and builds one request from it: [Decode] and [NewRequest].
func Read(text []byte, o Overrides) (*Request, error) {
	docs, err := Decode(text)
	if err != nil {
		return nil, err
	}
	return NewRequest(docs, o)
}

// part is a value in a document that becomes part of a request.
type part struct {
	doc   *Document
	value manifest.Value

	template string // the path of the one that the request is about, "" if it names none
}

// templatePath is the member of a request that names a template.
const templatePath = "templatePath"

// eachTemplate returns a part for each template of manifests that have several.
func eachTemplate(manifests []part) (each []part) {
	for _, m := range manifests {
		if templates, _ := templatesOf(m.value); len(templates) > 1 && len(templates) <= policy.MaxTemplates {
			for _, t := range templates {
				m.template = t.Path
				each = append(each, m)
			}
			continue
		}
		each = append(each, m)
	}
	return each
}

// templatesOf returns the templates of an object of a foreign kind.
func templatesOf(v manifest.Value) (templates []manifest.Template, bare []string) {
	if !manifest.Foreign(v.Get("apiVersion").Text()) {
		return nil, nil
	}
	return manifest.Templates(v)
}

// builder puts the documents of one request together.
type builder struct {
	o         Overrides
	faults    collected
	request   *part
	kubelet   *part
	manifests []part

	passOthers bool   // what isOther says is no fault
	others     []part // and is here
}

func (b *builder) faultAt(doc *Document, offset int, path string, code policy.FaultCode, detail string, allowed ...string) {
	p := doc.place(offset)
	b.faults.add(Fault{
		Path: path, Code: code, Detail: detail, Allowed: allowed,
		Line: p.line, Column: p.column, Offset: p.offset, Source: p.source,
	})
}

// second says what is there twice, and where it is for the first time.
func (b *builder) second(what string, again, first part) string {
	p := first.doc.place(first.value.Offset())
	where := "in line " + strconv.Itoa(p.line)
	if p.source != "" && p.source != again.doc.source {
		where += " of " + quoted(p.source)
	}
	return "a second " + what + "; the first is " + where + ", and one request takes one"
}

// sortOut finds out what each document is.
func (b *builder) sortOut(docs []*Document) {
	for _, doc := range docs {
		switch {
		case doc.err != nil && len(docs) == 1 && b.o.empty():
			b.request = &part{doc: doc} // the core says what is wrong
		case doc.err != nil:
			b.unreadable(doc)
		case doc.root.Kind() != manifest.Object:
			b.faults.add(notAnObject(doc))
		default:
			b.document(part{doc: doc, value: doc.root})
		}
	}
}

func (b *builder) unreadable(doc *Document) {
	code := CodeJSONSyntax
	switch {
	case doc.err.Code == policy.BadUTF8:
		code = CodeBadUTF8
	case doc.err.Limit == manifest.LimitDepth:
		code = CodeLimitDepth
	case doc.err.Limit == manifest.LimitNumberBytes:
		code = CodeLimitNumberBytes
	case doc.err.Limit == manifest.LimitNumberExponent:
		code = CodeLimitExponent
	case doc.err.Limit != "":
		code = CodeLimitRequestBytes
	}
	b.faultAt(doc, doc.err.Offset, "", code, doc.err.Message)
}

func (b *builder) document(p part) {
	kind, apiVersion := p.value.Get("kind"), p.value.Get("apiVersion")
	switch {
	case absent(kind) && absent(apiVersion), kind.Str() == kindScenario, absent(kind) && apiVersion.Str() == apiVersionScenario:
		if b.request != nil {
			b.faultAt(p.doc, p.value.Offset(), "", CodeSeveralRequests, b.second("request", p, *b.request))
			return
		}
		b.request = &p
		if m := p.value.Get("manifest"); !absent(m) {
			b.manifests = append(b.manifests, part{doc: p.doc, value: m})
		}
	case kind.Str() == kindKubelet:
		if apiVersion.Str() != apiVersionKubelet {
			b.faultAt(p.doc, apiVersionOffset(p.value), "apiVersion", CodeUnsupportedVersion, "a KubeletConfiguration of another version is not read", apiVersionKubelet)
		}
		if b.kubelet != nil {
			b.faultAt(p.doc, p.value.Offset(), "", CodeSeveralKubelets, b.second("KubeletConfiguration", p, *b.kubelet))
			return
		}
		b.kubelet = &p
	case kind.Str() == kindList:
		b.list(p)
	case absent(kind), isManifest(p.value):
		b.manifests = append(b.manifests, p)
	default:
		b.unknownKind(p, kind)
	}
}

// isOther reports whether an object is one of Kubernetes' that has no Pods.
func isOther(v manifest.Value) bool {
	kind, apiVersion := v.Get("kind").Text(), v.Get("apiVersion").Text()
	if kind == "" || apiVersion == "" || isManifest(v) || kind == kindList || kind == kindKubelet || kind == kindScenario {
		return false
	}
	group, _, grouped := strings.Cut(apiVersion, "/")
	if !grouped {
		group = ""
	}
	if kinds, known := podless[group]; known {
		return slices.Contains(kinds, kind)
	}
	return grouped
}

func absent(v manifest.Value) bool { return !v.Exists() || v.Kind() == manifest.Null }

func apiVersionOffset(v manifest.Value) int {
	if a := v.Get("apiVersion"); a.Exists() {
		return a.Offset()
	}
	return v.Offset()
}

// isManifest reports whether v is an object that the core answers about: one of its kinds, or of a
// foreign one with Pod templates.
func isManifest(v manifest.Value) bool {
	if !manifest.Foreign(v.Get("apiVersion").Text()) {
		return isManifestKind(v.Get("kind").Text())
	}
	templates, _ := templatesOf(v)
	return len(templates) > 0
}

func isManifestKind(kind string) bool {
	return slices.ContainsFunc(manifest.Kinds(), func(k manifest.KindInfo) bool { return k.Kind == kind })
}

// list takes the items of a List as manifests.
func (b *builder) list(p part) {
	if version := p.value.Get("apiVersion").Str(); version != apiVersionList {
		b.faultAt(p.doc, apiVersionOffset(p.value), "apiVersion", CodeUnsupportedVersion, "a List of another version is not read", apiVersionList)
		return
	}
	items := p.value.Get("items")
	switch {
	case absent(items) || items.Kind() == manifest.Array && items.Len() == 0:
		b.faultAt(p.doc, p.value.Offset(), "items", CodeEmptyList, "the List has no item")
		return
	case items.Kind() != manifest.Array:
		b.faultAt(p.doc, items.Offset(), "items", policy.CodeWrongType, "must be an array, found "+found(items.Kind()))
		return
	}
	for item := items.First(); item.Exists(); item = item.Next() {
		kind := item.Get("kind")
		switch {
		case item.Kind() != manifest.Object:
			b.faultAt(p.doc, item.Offset(), item.Path(p.value), CodeNotAnObject, "an item is an object, found "+found(item.Kind()))
		case kind.Kind() == manifest.String && !isManifest(item):
			b.unknownKind(part{doc: p.doc, value: item}, kind)
		default:
			b.manifests = append(b.manifests, part{doc: p.doc, value: item})
		}
	}
}

// unknownKind takes an object of a kind that nothing here reads.
func (b *builder) unknownKind(p part, kind manifest.Value) {
	if b.passOthers && isOther(p.value) {
		b.others = append(b.others, p)
		return
	}
	var allowed []string
	for _, k := range manifest.Kinds() {
		allowed = append(allowed, k.APIVersion+" "+k.Kind)
	}
	allowed = append(allowed, apiVersionList+" "+kindList, apiVersionKubelet+" "+kindKubelet, apiVersionScenario+" "+kindScenario)
	name := found(kind.Kind())
	if kind.Kind() == manifest.String {
		name = quoted(kind.Str())
	}
	if version := p.value.Get("apiVersion").Text(); manifest.Foreign(version) {
		name += " of " + quoted(version) + ", and it holds no Pod template"
		if _, bare := manifest.Templates(p.value); len(bare) > 0 {
			name += "; " + cut(bare[0], MaxQuotedBytes) + " is a container without a Pod, which is not read"
		}
	}
	b.faultAt(p.doc, kind.Offset(), "kind", policy.CodeUnknownKind, "no kind that is read here: "+name, allowed...)
}

// found names a kind of value in a sentence.
func found(k manifest.Kind) string {
	switch k {
	case manifest.Array, manifest.Object:
		return "an " + k.String()
	case manifest.Bool:
		return "a boolean"
	case manifest.Null:
		return "null"
	}
	return "a " + k.String()
}

// build returns a request for each manifest, or one without a manifest if there is none.
func (b *builder) build(docs []*Document, manifests []part) ([]*Request, error) {
	mode := b.checkDuplicates(docs)
	b.checkMembers()
	b.checkKubelet()
	if b.faults.any() {
		return nil, b.faults.unsorted()
	}
	var notes collected
	for _, doc := range docs {
		for _, n := range doc.notes {
			notes.add(n)
		}
	}
	anchor := place{line: 1, column: 1}
	if b.request != nil {
		anchor = b.request.doc.place(0)
	} else if len(docs) > 0 {
		anchor = docs[0].place(0)
	}
	if len(manifests) == 0 {
		manifests = []part{{}}
	}
	requests := make([]*Request, 0, len(manifests))
	if b.o.EachTemplate && b.o.Members[templatePath] == nil && b.o.Members["owner"] == nil &&
		(b.request == nil || absent(b.request.value.Get(templatePath)) && absent(b.request.value.Get("manifest")) && absent(b.request.value.Get("owner"))) {
		manifests = eachTemplate(manifests)
	}
	for _, m := range manifests {
		r := &Request{anchor: anchor, template: m.template, notes: notes.unsorted(), manifestDoc: m.doc, manifest: m.value}
		if m.doc != nil && mode == validationWarn {
			r.repeats = m.doc.repeats
		}
		alone := b.request != nil && len(docs) == 1 && b.o.empty() && m.template == ""
		whole := alone && (b.request.doc.err != nil || !absent(b.request.value.Get("request")))
		r.explain = b.o.Explain && !whole
		if alone && !r.explain && (b.o.Around == nil || whole) {
			doc := b.request.doc
			r.json = doc.json
			r.spans = []span{{0, len(doc.json), doc, 0}}
			r.verbatim = doc.tree == nil && doc.start == 0 && doc.bom == 0
		} else {
			w := writer{r: r}
			if b.o.Around != nil {
				b.writeAround(&w)
			}
			b.write(&w, m)
			if b.o.Around != nil {
				w.End()
			}
			r.json = w.Bytes()
		}
		requests = append(requests, r)
	}
	return requests, nil
}

// The modes of fieldValidation in which a key may be set twice in a manifest.
const (
	validationWarn   = "Warn"
	validationIgnore = "Ignore"
)

// checkDuplicates reports the keys that are set twice in manifests unless fieldValidation, which it
// returns, lets them pass. They come before all other faults.
//
// Source: unmarshal in k8s.io/apimachinery v0.33 to v0.37, pkg/runtime/serializer/json/json.go,
// which reads YAML strictly for Strict and Warn only.
func (b *builder) checkDuplicates(docs []*Document) (mode string) {
	if mode = b.o.FieldValidation; mode == "" && b.request != nil {
		mode = b.request.value.Get("fieldValidation").Text()
	}
	if mode == validationWarn || mode == validationIgnore {
		return mode
	}
	var repeats collected
	for _, doc := range docs {
		for _, f := range doc.repeats {
			repeats.add(f)
		}
	}
	for _, f := range b.faults.list {
		repeats.add(f)
	}
	repeats.more += b.faults.more
	b.faults = repeats
	return mode
}

// checkMembers checks what the caller adds. The names are sorted, so that faults always come in the
// same order.
func (b *builder) checkMembers() {
	for _, name := range slices.Sorted(maps.Keys(b.o.Members)) {
		set := map[string]bool{
			"cluster":         b.changesCluster(),
			"fieldValidation": b.o.FieldValidation != "",
			"exits":           len(b.o.Exits) > 0,
			"show":            len(b.o.Show) > 0,
			"manifest":        len(b.manifests) > 0,
		}
		if set[name] {
			b.faults.add(Fault{Path: name, Code: CodeConflict, Detail: "the member is set in two ways"})
		}
		if _, err := manifest.Parse(b.o.Members[name]); err != nil {
			b.faults.add(Fault{Path: name, Code: CodeJSONSyntax, Detail: err.Message})
		}
	}
	for _, member := range []struct{ name, kind string }{{"cluster", "object"}, {"exits", "array"}} {
		if b.request == nil || member.name == "cluster" && !b.changesCluster() || member.name == "exits" && len(b.o.Exits) == 0 {
			continue
		}
		v := b.request.value.Get(member.name)
		if !absent(v) && v.Kind().String() != member.kind {
			b.faultAt(b.request.doc, v.Offset(), member.name, policy.CodeWrongType, "must be an "+member.kind+", found "+found(v.Kind()))
		}
	}
	if node := b.node(); !b.o.Kubelet.empty() && !absent(node) && node.Kind() != manifest.Object {
		b.faultAt(b.request.doc, node.Offset(), "cluster.kubelet", policy.CodeWrongType, "must be an object, found "+found(node.Kind()))
	}
}

func (b *builder) changesCluster() bool {
	return b.o.Version != "" || len(b.o.FeatureGates) > 0 || len(b.o.Proposals) > 0 || !b.o.Kubelet.empty() || b.kubelet != nil
}

// node returns what the Scenario says of the node, if it says anything.
func (b *builder) node() (v manifest.Value) {
	if b.request != nil {
		v = b.request.value.Get("cluster").Get("kubelet")
	}
	return v
}

// checkKubelet reports what the KubeletConfiguration contradicts.
func (b *builder) checkKubelet() {
	if b.kubelet == nil {
		return
	}
	var gates manifest.Value
	overrides := b.o.FeatureGates
	if b.request != nil {
		cluster := b.request.value.Get("cluster")
		gates = cluster.Get("featureGates")
		for _, inside := range []manifest.Value{cluster.Get("kubeletConfiguration"), b.node().Get("kubeletConfiguration")} {
			if !absent(inside) {
				b.faultAt(b.kubelet.doc, b.kubelet.value.Offset(), "cluster.kubeletConfiguration", CodeSeveralKubelets,
					b.second("KubeletConfiguration", *b.kubelet, part{doc: b.request.doc, value: inside}))
			}
		}
	}
	if node := b.node(); !absent(node) || !b.o.Kubelet.empty() {
		gates, overrides = node.Get("featureGates"), b.o.Kubelet.FeatureGates
	}
	for g := b.kubelet.value.Get("featureGates").First(); g.Exists(); g = g.Next() {
		name := g.Key()
		other, where := false, "by a flag or a field"
		if set, overridden := overrides[name]; overridden {
			other = set
		} else if v := gates.Get(name); v.Kind() == manifest.Bool {
			p := b.request.doc.place(v.Offset())
			other, where = v.Bool(), "in line "+strconv.Itoa(p.line)
		} else {
			continue
		}
		if g.Kind() == manifest.Bool && g.Bool() != other {
			b.faultAt(b.kubelet.doc, g.Offset(), "cluster.kubeletConfiguration."+g.Path(b.kubelet.value), CodeConflict,
				"the gate is "+strconv.FormatBool(g.Bool())+" here and set to "+strconv.FormatBool(other)+" "+where)
		}
	}
}

// writer writes a request and remembers where its parts come from.
type writer struct {
	manifest.Writer
	r *Request
}

// copy writes bytes of a document.
func (w *writer) copy(doc *Document, start, end int) {
	w.Raw(doc.json[start:end])
	at := w.Len() - (end - start)
	w.r.spans = append(w.r.spans, span{at, w.Len(), doc, start})
}

// member writes name and value of m as they are.
func (w *writer) member(doc *Document, m manifest.Value) { w.copy(doc, m.KeyOffset(), m.End()) }

// value writes name and then the value v of a document.
func (w *writer) value(name string, doc *Document, v manifest.Value) {
	w.Key(name)
	w.copy(doc, v.Offset(), v.End())
}

// write writes a request: the members of the Scenario in their order, changed where something
// replaces them, and then what the Scenario does not have. Of a member that is there twice the
// first is changed; the core reports the second.
func (b *builder) write(w *writer, m part) {
	w.Object()
	done := map[string]bool{}
	if b.request != nil {
		for member := b.request.value.First(); member.Exists(); member = member.Next() {
			name := member.Key()
			switch {
			case name == "of" && w.r.explain && member.Kind() == manifest.String && !done[name]:
				w.r.of = member.Str()
			case slices.Contains(b.o.Around, name):
			case !done[name] && b.replace(w, name, member, m):
			case !absent(b.request.value.Get("manifest")) || !slices.Contains(b.o.Leave, name):
				w.member(b.request.doc, member)
			}
			done[name] = true
		}
	}
	if m.template != "" {
		w.Key(templatePath)
		w.String(m.template)
	}
	names := append([]string{"cluster", "fieldValidation", "manifest", "exits", "show"}, slices.Sorted(maps.Keys(b.o.Members))...)
	for _, name := range names {
		if !done[name] && !slices.Contains(b.o.Around, name) {
			b.replace(w, name, manifest.Value{}, m)
			done[name] = true
		}
	}
	w.End()
}

// writeAround begins a request with what is next to the one that it is about.
func (b *builder) writeAround(w *writer) {
	w.Object()
	for _, name := range b.o.Around {
		var old manifest.Value
		if b.request != nil {
			old = b.request.value.Get(name)
		}
		if !b.replace(w, name, old, part{}) && old.Exists() {
			w.member(b.request.doc, old)
		}
	}
	w.Key("request")
}

// replace writes member name if something else than old, the one in the Scenario, belongs there.
func (b *builder) replace(w *writer, name string, old manifest.Value, m part) bool {
	switch raw, given := b.o.Members[name]; {
	case given:
		w.Key(name)
		w.Raw(raw)
	case name == "cluster" && b.changesCluster():
		w.Key(name)
		b.writeCluster(w, old)
	case name == "fieldValidation" && b.o.FieldValidation != "":
		w.Key(name)
		w.String(b.o.FieldValidation)
	case name == "manifest" && m.doc != nil && m.value != old:
		w.value(name, m.doc, m.value)
	case name == "exits" && len(b.o.Exits) > 0:
		w.Key(name)
		b.writeExits(w, old)
	case name == "show" && len(b.o.Show) > 0 && (absent(old) || old.Kind() == manifest.Array): // another type is a fault of the core
		w.Key(name)
		b.writeShow(w, old)
	default:
		return false
	}
	return true
}

func (b *builder) writeCluster(w *writer, old manifest.Value) {
	b.writeMembers(w, old, []string{"version", "featureGates", "kubeletConfiguration", "kubelet", "proposals"}, func(name string, old manifest.Value) bool {
		switch {
		case name == "kubeletConfiguration" && b.kubelet != nil:
			w.value(name, b.kubelet.doc, b.kubelet.value)
		case name == "kubelet" && !b.o.Kubelet.empty():
			w.Key(name)
			b.writeMembers(w, old, []string{"version", "featureGates"}, func(name string, old manifest.Value) bool {
				return b.replaceRelease(w, name, old, b.o.Kubelet)
			})
		case name == "proposals" && len(b.o.Proposals) > 0 && (absent(old) || old.Kind() == manifest.Object):
			w.Key(name)
			b.writeProposals(w, old)
		default:
			return b.replaceRelease(w, name, old, NodeOverrides{b.o.Version, b.o.FeatureGates})
		}
		return true
	})
}

// writeMembers writes the members of old, except those that replace writes instead, and then those
// of names that old does not have and replace writes.
func (b *builder) writeMembers(w *writer, old manifest.Value, names []string, replace func(name string, old manifest.Value) bool) {
	w.Object()
	done := map[string]bool{}
	for member := old.First(); member.Exists(); member = member.Next() {
		name := member.Key()
		if done[name] || !replace(name, member) {
			w.member(b.request.doc, member)
		}
		done[name] = true
	}
	for _, name := range names {
		if !done[name] {
			replace(name, manifest.Value{})
		}
	}
	w.End()
}

// replaceRelease writes the version or the gates that something replaces.
func (b *builder) replaceRelease(w *writer, name string, old manifest.Value, o NodeOverrides) bool {
	switch {
	case name == "version" && o.Version != "":
		w.Key(name)
		w.String(o.Version)
	case name == "featureGates" && len(o.FeatureGates) > 0 && (absent(old) || old.Kind() == manifest.Object):
		w.Key(name)
		b.writeGates(w, old, o.FeatureGates)
	default:
		return false
	}
	return true
}

func (b *builder) writeProposals(w *writer, old manifest.Value) {
	w.Object()
	for proposal := old.First(); proposal.Exists(); proposal = proposal.Next() {
		if _, replaced := b.o.Proposals[proposal.Key()]; !replaced {
			w.member(b.request.doc, proposal)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b.o.Proposals)) {
		w.Key(name)
		w.Object()
		for _, option := range slices.Sorted(maps.Keys(b.o.Proposals[name])) {
			w.Key(option)
			w.String(b.o.Proposals[name][option])
		}
		w.End()
	}
	w.End()
}

func (b *builder) writeGates(w *writer, old manifest.Value, gates map[string]bool) {
	w.Object()
	for gate := old.First(); gate.Exists(); gate = gate.Next() {
		if _, replaced := gates[gate.Key()]; !replaced {
			w.member(b.request.doc, gate)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(gates)) {
		w.Key(name)
		w.Bool(gates[name])
	}
	w.End()
}

func (b *builder) writeShow(w *writer, old manifest.Value) {
	w.Array()
	said := map[string]bool{}
	for name := old.First(); name.Exists(); name = name.Next() {
		said[name.Text()] = true
		w.copy(b.request.doc, name.Offset(), name.End())
	}
	for _, name := range b.o.Show {
		if !said[name] {
			w.String(name)
		}
	}
	w.End()
}

func (b *builder) writeExits(w *writer, old manifest.Value) {
	w.Array()
	for exit := old.First(); exit.Exists(); exit = exit.Next() {
		w.copy(b.request.doc, exit.Offset(), exit.End())
	}
	for _, exit := range b.o.Exits {
		w.Object()
		if exit.Container != "" {
			w.Key("container")
			w.String(exit.Container)
		}
		w.Key("exitCode")
		w.Int(int64(exit.ExitCode))
		if exit.Reason != "" {
			w.Key("reason")
			w.String(exit.Reason)
		}
		w.End()
	}
	w.End()
}
