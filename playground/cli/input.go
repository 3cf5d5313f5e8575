package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/podfate/podfate/policy/ops"
	"github.com/podfate/podfate/schema"
)

// asked is one request, or why it could not be built.
type asked struct {
	source  string // file that it came from; "" if there is none
	number  int    // of the document in its file, from 1; 0 if there is none
	line    int    // in which the document begins
	request *schema.Request
	faults  schema.Faults
}

// reader reads everything that -f names, asks about each manifest, and says what it skipped.
// Each document is judged for itself: what is wrong with one does not keep the others from being
// answered. No more than one is in memory, besides those that belong to all.
type reader struct {
	op        ops.Operation
	sources   *sources
	overrides schema.Overrides
	out       *printer
	ask       func(asked) error

	// common are the documents that belong to every request, whichever file they are in.
	common []*schema.Document
	lost   string // a file that cannot be read and may say something about all manifests
	// mixed are the files of several documents of which one names no kind: it belongs to the others
	// of its file.
	mixed map[string]bool

	given bool // files were chosen by their endings: one without Pods is no fault

	stream    *schema.Stream // of the file that is being read
	manifests int
	objects   int       // without Pods
	pending   []without // of these, until it is known whether there is anything else
}

// without is a document that holds nothing but objects without Pods.
type without struct {
	asked
	notes []schema.Fault
	docs  []*schema.Document
}

// maxPending bounds the objects without Pods that wait until a manifest comes; more are named at
// once.
const maxPending = 100

// maxCommon bounds the Scenarios and KubeletConfigurations that are kept. More than one of each is
// a fault already.
const maxCommon = 8

// run reads the files twice: a Scenario or a KubeletConfiguration belongs to all requests, and may
// be in the last one.
func (r *reader) run() error {
	r.mixed = map[string]bool{}
	if err := r.sources.walk(walker{file: r.survey}); err != nil {
		return err
	}
	if r.lost != "" {
		r.out.note("%s cannot be read and may concern every manifest, so none is answered", r.lost)
		return nil
	}
	r.leaveOut()
	if err := r.sources.walk(walker{file: r.file, passed: r.out.passedFile, failed: r.out.unreadable}); err != nil {
		return err
	}
	return r.end()
}

// pieces calls each for all documents of a file.
func (r *reader) pieces(name string, in io.Reader, each func(*schema.Piece) error) error {
	if r.stream == nil {
		r.stream = schema.NewStream(name, in)
	} else {
		r.stream.Reset(name, in)
	}
	for {
		p, err := r.stream.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			r.out.unreadable(statusError{StatusUsage, fmt.Errorf("%s: %w", name, err)})
			return nil
		}
		if err := each(p); err != nil {
			return err
		}
	}
}

// survey looks for documents that belong to more than one request.
func (r *reader) survey(name string, in io.ReadSeeker) error {
	nameless, count := 0, 0
	err := r.pieces(name, in, func(p *schema.Piece) error {
		r.out.progress.tick(name)
		if count++; p.Nameless() {
			nameless++
		}
		if !p.Contains(commonKinds...) {
			return nil
		}
		docs, err := p.Decode()
		var faults schema.Faults
		if errors.As(err, &faults) {
			if _, other := p.Unread(faults); !other && commonKind.MatchString(p.Text()) {
				r.lost = name
				return r.ask(asked{source: name, number: p.Number, line: p.Line, faults: faults})
			}
			return nil
		}
		if slices.ContainsFunc(docs, isBroken) && commonKind.MatchString(p.Text()) {
			r.lost = name
			return r.build(asked{source: name, number: p.Number, line: p.Line}, docs)
		}
		for _, doc := range docs {
			if isCommon(doc) && len(r.common) < maxCommon {
				r.common = append(r.common, doc)
			}
		}
		return nil
	})
	if nameless > 0 && count > 1 {
		r.mixed[name] = true
	}
	return err
}

// leaveOut names the members of Scenarios that this operation has no use for.
func (r *reader) leaveOut() {
	for _, doc := range r.common {
		for _, name := range r.overrides.LeftOut(doc) {
			var takes []string
			for _, op := range ops.Table() {
				if slices.Contains(ops.Members(op.Name), name) {
					takes = append(takes, op.Name)
				}
			}
			r.out.note("%s: %s is for %s and is left out here", doc.Source(), name, strings.Join(takes, ", "))
		}
	}
}

// file asks about each document of a file.
func (r *reader) file(name string, in io.ReadSeeker) error {
	r.out.progress.files++
	var own []*schema.Document // parts of requests that go with every manifest of the file
	taken := map[int]bool{}
	if r.mixed[name] {
		err := r.pieces(name, in, func(p *schema.Piece) error {
			if !p.Nameless() {
				return nil
			}
			if docs, err := p.Decode(); err == nil && len(docs) == 1 && isPart(docs[0]) && len(own) < maxCommon {
				own = append(own, docs[0])
				taken[p.Number] = true
			}
			return nil
		})
		if err != nil {
			return err
		}
		if _, err := in.Seek(0, io.SeekStart); err != nil {
			return fileError(err)
		}
	}
	count := 0
	err := r.pieces(name, in, func(p *schema.Piece) error {
		r.out.progress.documents++
		r.out.progress.tick(name)
		if taken[p.Number] {
			count++
			return nil
		}
		empty, err := r.document(p, own)
		if !empty {
			count++
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case count == 0 && (r.given || !r.sources.names(name)): // nobody asked about this file
		r.out.passedFile(name, "there is no document in it")
	case count == 0:
		_, err := schema.DecodeNamed(name, nil)
		return r.build(asked{source: name}, nil, err)
	case len(taken) == count: // nothing but parts of a request: they are one
		r.manifests++
		return r.build(asked{source: name, number: 1, line: 1}, slices.Concat(r.common, own))
	}
	return nil
}

// document asks about one document; empty is true of one that is null.
func (r *reader) document(p *schema.Piece, own []*schema.Document) (empty bool, err error) {
	a := asked{source: p.Source(), number: p.Number, line: p.Line}
	all, err := p.Decode()
	if errors.As(err, &a.faults) {
		if note, other := p.Unread(a.faults); other {
			a.faults = nil
			return false, r.passOver(without{asked: a, notes: []schema.Fault{note}})
		}
		return false, r.ask(a)
	}
	return len(all) == 0, r.objectsOf(a, all, own)
}

// objectsOf asks about the objects of one document.
func (r *reader) objectsOf(a asked, all, own []*schema.Document) error {
	var docs []*schema.Document
	for _, doc := range all {
		if f, is := schema.Stranger(doc, asksFor); is && r.given && f.Path == "" {
			if err := r.passOver(without{asked: a, notes: []schema.Fault{f}}); err != nil {
				return err
			}
		} else if is { // what else there is is judged all the same
			if err := r.ask(asked{source: a.source, number: a.number, line: a.line, faults: schema.Faults{f}}); err != nil {
				return err
			}
		} else if !isCommon(doc) {
			docs = append(docs, doc)
		}
	}
	if len(docs) == 0 {
		return nil
	}
	others, barren := schema.Others(docs)
	if barren {
		return r.passOver(without{asked: a, notes: others, docs: docs})
	}
	r.manifests++
	r.name()
	for _, n := range others {
		r.objects++
		r.out.passedObject(n)
	}
	return r.build(a, slices.Concat(r.common, own, docs))
}

// passOver notes a document without Pods.
func (r *reader) passOver(w without) error {
	r.objects += len(w.notes)
	r.pending = append(r.pending, w)
	if r.manifests > 0 || len(r.pending) > maxPending {
		r.name()
	}
	return nil
}

// name names the objects that have waited.
func (r *reader) name() {
	for _, w := range r.pending {
		for _, n := range w.notes {
			r.out.passedObject(n)
		}
	}
	r.pending = nil
}

// end says what is to be said when everything has been read.
func (r *reader) end() error {
	switch {
	case r.manifests > 0:
	case r.given && r.objects > 0:
		r.name()
	case r.objects > 0 && len(r.pending) == 0:
		r.out.bad = true
		r.out.note("none of the %d objects has Pods, so there is nothing to answer", r.objects)
	case r.objects > 0: // each is a fault, and not skipped
		r.objects = 0
		for _, w := range r.pending {
			if len(w.docs) == 0 {
				w.docs = nil
				w.faults = w.notes
				w.faults[0].Code, w.faults[0].Detail = "unknown_kind", "no kind that is read here: "+w.notes[0].Detail
				if err := r.ask(w.asked); err != nil {
					return err
				}
				continue
			}
			if err := r.build(w.asked, slices.Concat(r.common, w.docs)); err != nil {
				return err
			}
		}
	case len(r.common) > 0 && r.out.count == 0:
		if err := r.build(asked{source: r.common[0].Source()}, r.common); err != nil {
			return err
		}
	case !r.given && r.out.count == 0 && r.out.files > 0:
		r.out.bad = true
		r.out.note("no file holds a manifest, so there is nothing to answer")
	}
	r.out.passedOver(r.objects)
	return nil
}

// build asks about each manifest of docs.
func (r *reader) build(a asked, docs []*schema.Document, failed ...error) error {
	var requests []*schema.Request
	var err error
	if len(failed) > 0 {
		err = failed[0]
	} else {
		requests, err = schema.NewRequests(docs, r.overrides)
	}
	if errors.As(err, &a.faults) {
		return r.ask(a)
	}
	for _, a.request = range requests {
		if err := r.ask(a); err != nil {
			return err
		}
	}
	return nil
}

// commonKinds are the kinds of which isCommon may be true.
var commonKinds = []string{"Scenario", "KubeletConfiguration"}

// commonKind matches a text that may hold a document of such a kind.
var commonKind = regexp.MustCompile(`\bkind["']?\s*:\s*["']?(Scenario|KubeletConfiguration)\b`)

// isBroken reports whether a document is JSON as it was given, which only the core reads, and not
// well-formed.
func isBroken(doc *schema.Document) bool { return !json.Valid(doc.JSON()) }

// isCommon reports whether a document says something about all manifests and is not one itself.
func isCommon(doc *schema.Document) bool {
	kind, _, manifest := head(doc)
	return kind == "KubeletConfiguration" || kind == "Scenario" && !manifest
}

// isPart reports whether a document says something about the manifests of its file: a request
// without its manifest.
func isPart(doc *schema.Document) bool {
	kind, apiVersion, manifest := head(doc)
	_, stranger := schema.Stranger(doc, asksFor)
	return kind == "" && apiVersion == "" && !manifest && !stranger
}

// asksFor reports whether a request of any operation may have a member of this name.
func asksFor(name string) bool {
	return slices.ContainsFunc(ops.Table(), func(op ops.Operation) bool { return slices.Contains(ops.Members(op.Name), name) })
}

func head(doc *schema.Document) (kind, apiVersion string, manifest bool) {
	var head struct {
		Kind       string          `json:"kind"`
		APIVersion string          `json:"apiVersion"`
		Manifest   json.RawMessage `json:"manifest"`
	}
	if json.Unmarshal(doc.JSON(), &head) != nil {
		return "?", "", false
	}
	return head.Kind, head.APIVersion, head.Manifest != nil
}
