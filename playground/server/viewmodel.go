package server

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/podfate/podfate/policy/manifest"
	"github.com/podfate/podfate/policy/simulate"
	"github.com/podfate/podfate/schema"
	"github.com/podfate/podfate/schema/document"
	"github.com/podfate/podfate/web"
	"github.com/podfate/podfate/web/views"
)

// pageModel returns what the page shows for form. What is wrong with the form is part of the page;
// only what keeps the server from answering at all is an error.
func (s *Server) pageModel(r *http.Request, form views.Form) (views.Page, error) {
	ctx := patiently(r)
	module, err := s.viewModule(ctx)
	if err != nil {
		return views.Page{}, err
	}
	answer, err := s.answerForm(ctx, form)
	if err != nil {
		return views.Page{}, err
	}
	return views.Page{
		Form:     form,
		Examples: web.Examples(),
		Events:   simulate.EventTypes(),
		Module:   module,
		Answer:   answer,
		Assets:   web.Assets(),
		Origin:   "http://" + r.Host,
		Query:    r.URL.RawQuery,
	}, nil
}

// answerForm asks what form asks, and gets the answer in words.
func (s *Server) answerForm(ctx context.Context, form views.Form) (*views.Outcome, error) {
	name := form.Operation()
	if name == "curve" {
		asked := form.Curve()
		explained, err := s.evaluate(ctx, opExplain, schema.Explain(name, asked))
		if err != nil {
			return s.refused(ctx, name, string(asked), err)
		}
		o, err := outcome(name, string(asked), explained, nil)
		if err == nil {
			o.Locate(func(string, document.Place) document.Place { return document.Place{} }) // nobody sees the request
		}
		return o, err
	}
	if name == "compare" {
		return s.answerWorlds(ctx, form)
	}
	name, request, refused, err := s.request(ctx, form)
	if request == nil {
		return refused, err
	}
	asked := string(request.JSON())
	explained, err := s.evaluate(ctx, opExplain, request.Explain(name))
	if err != nil {
		return s.refused(ctx, name, asked, err)
	}
	o, err := answered(name, asked, request, explained)
	if err == nil && form.View == "" && form.Offer == "" && name != "validate" {
		err = s.addLints(ctx, form, o)
	}
	if err == nil {
		o.Choose(form.View)
	}
	return o, err
}

// answered is the outcome of a request whose explained answer is here.
func answered(name, asked string, request *schema.Request, explained []byte) (*views.Outcome, error) {
	return outcome(name, asked, request.Relocate(explained), func(path string) (line, column int) {
		_, line, column = request.NamePosition(schema.InManifest(path)) // as in the browser
		return line, column
	})
}

// addLints adds what validate warns of in the manifest to another answer about it, with the fixes:
// the answer to an exit is right, and the manifest may still not be what was meant.
func (s *Server) addLints(ctx context.Context, form views.Form, o *views.Outcome) error {
	added, fault := overrides(views.Form{
		Version: form.Version, Validation: form.Validation, Gates: form.Gates, Proposals: form.Proposals, Template: form.Template,
	})
	if fault != nil {
		return nil // which is in the answer
	}
	added.Leave = ofOthers
	request, err := s.readText(ctx, []byte(form.Manifest), added)
	if err != nil {
		return nil
	}
	explained, err := s.evaluate(ctx, opExplain, request.Explain("validate"))
	if err != nil {
		return err
	}
	lints, err := answered("validate", "", request, explained)
	if err == nil {
		o.AddLints(lints.Document)
	}
	return err
}

// request reads the operation and the request of form. Where that cannot be read the request is
// nil, and refused and err are the answer.
func (s *Server) request(ctx context.Context, form views.Form) (name string, request *schema.Request, refused *views.Outcome, err error) {
	name = form.Operation()
	added, fault := overrides(form)
	if fault != nil {
		refused, err = s.explainError(ctx, name, "", views.Refuse(fault))
		return name, nil, refused, err
	}
	if request, err = s.readText(ctx, []byte(form.Manifest), added); err != nil {
		refused, err = s.refused(ctx, name, "", err)
		return name, nil, refused, err
	}
	if name == "validate" && asksForDecisions(request.JSON()) {
		name = "decide" // a Scenario in the text asks about its own exits
	}
	return name, request, nil, nil
}

// answerWorlds asks what form asks in several versions, or of two manifests, A and B.
func (s *Server) answerWorlds(ctx context.Context, form views.Form) (*views.Outcome, error) {
	module, err := s.viewModule(ctx)
	if err != nil {
		return nil, err
	}
	two := form.View == "compare"
	form.View = ""
	name, request, refused, err := s.request(ctx, form)
	if request == nil {
		return refused, err
	}
	var worlds []map[string]any
	names, sides := []string{""}, []views.Form{form}
	if two {
		b := map[string]any{"name": "B", "patch": struct{}{}}
		if strings.TrimSpace(form.Other) != "" {
			other, fault := oneObject("other", form.Other)
			if fault != nil {
				return s.explainError(ctx, name, "", views.Refuse(fault))
			}
			b = map[string]any{"name": "B", "manifest": other}
		}
		worlds = []map[string]any{{"name": "A", "patch": struct{}{}}, b}
		if name == "validate" {
			name = "table"
		}
		side := form
		if strings.TrimSpace(form.Other) != "" {
			side.Manifest = form.Other
		}
		names, sides = []string{"A", "B"}, append(sides, side)
	} else {
		first := cmp.Or(form.Version, module.DefaultVersion) // the others are compared with it
		for _, v := range append([]string{first}, slices.DeleteFunc(slices.Clone(module.Versions), func(v string) bool { return v == first })...) {
			worlds = append(worlds, map[string]any{"name": v, "patch": map[string]any{"cluster": map[string]string{"version": v}}})
		}
	}
	asked, err := json.Marshal(map[string]any{"of": name, "request": json.RawMessage(request.JSON()), "variants": worlds})
	if err != nil {
		return nil, err
	}
	explained, err := s.evaluate(ctx, opExplain, schema.Explain("compare", asked))
	if err != nil {
		return s.refused(ctx, "compare", string(asked), err)
	}
	o, err := outcome("compare", string(asked), explained, nil)
	if err != nil {
		return nil, err
	}
	o.Locate(func(path string, _ document.Place) (at document.Place) { // the request has one line, which nobody sees
		if rest, ok := strings.CutPrefix(path, "request."); ok && views.Control(rest) == "" {
			_, at.Line, at.Column = request.NamePosition(schema.InManifest(strings.TrimPrefix(rest, "manifest.")))
		}
		return at
	})
	var verdicts [][]document.Verdict
	for _, v := range module.Versions {
		var row []document.Verdict
		for _, side := range sides {
			side.Version, side.View = v, "trace" // without what the answer alone has
			is, err := s.answerForm(ctx, side)
			if err != nil {
				return nil, err
			}
			row = append(row, is.Verdict)
		}
		verdicts = append(verdicts, row)
	}
	o.Blocks = append([]document.Block{views.Strip(module.Versions, names, verdicts)}, o.Blocks...)
	return o, nil
}

// outcome reads what explain answered. find gives the places that the core does not know; it may be
// nil.
func outcome(name, asked string, explained []byte, find func(path string) (line, column int)) (*views.Outcome, error) {
	_, d, err := document.Read(explained)
	if err != nil {
		return nil, err
	}
	d.Locate(func(path string, known document.Place) document.Place {
		switch id := views.Control(path); {
		case id == "pods": // those that a Scenario holds have a line, those of the form have none
		case id != "": // lines of the generated request mean nothing to a reader
			return document.Place{}
		case known.Line == 0 && find != nil:
			known.Line, known.Column = find(path)
		}
		return known
	})
	return &views.Outcome{Document: d, Operation: name, Request: asked}, nil
}

// refused shows an error of the core or of the reader on the page; others are passed on.
func (s *Server) refused(ctx context.Context, operation, asked string, err error) (*views.Outcome, error) {
	var r *refusal
	if !errors.As(err, &r) || r.core == nil {
		return nil, err
	}
	return s.explainError(ctx, operation, asked, unreadable(r.core))
}

// unreadable gives an error about no manifest at all the code of one that cannot be read: nothing,
// a bare word, two manifests. There is no manifest then that the question could fit.
func unreadable(core json.RawMessage) json.RawMessage {
	var object struct{ Code, Path string }
	if json.Unmarshal(core, &object) != nil || object.Code != "EVENT_INVALID" || object.Path != "" && object.Path != "items" {
		return core
	}
	return bytes.Replace(core, []byte(`"code":"EVENT_INVALID"`), []byte(`"code":"BAD_YAML"`), 1)
}

// explainError puts an error into words that arose before the core was asked. payload is what a
// payload holds as error.
func (s *Server) explainError(ctx context.Context, operation, asked string, payload []byte) (*views.Outcome, error) {
	request, err := json.Marshal(map[string]any{"of": operation, "error": json.RawMessage(payload)})
	if err != nil {
		return nil, err
	}
	explained, err := s.evaluate(ctx, opExplain, request)
	if err != nil {
		return nil, err
	}
	return outcome(operation, asked, explained, nil)
}

// asksForDecisions reports whether a request names exits or Pods.
func asksForDecisions(request []byte) bool {
	root, err := manifest.Parse(request)
	return err == nil && (root.Get("exits").Exists() || root.Get("pods").Exists())
}

// ofOthers are the members of a Scenario in the text that the operation table does not take.
var ofOthers = []string{"exits", "pods", "runs", "until", "events", "timing", "show", "now", "question"}

// overrides is what the controls of the form add to the text.
func overrides(form views.Form) (schema.Overrides, *views.Fault) {
	o := schema.Overrides{Version: form.Version, FieldValidation: form.Validation}
	for name, value := range form.Gates {
		if o.FeatureGates == nil {
			o.FeatureGates = map[string]bool{}
		}
		o.FeatureGates[name] = value == "true"
	}
	for _, entry := range form.Proposals {
		if o.Proposals == nil {
			o.Proposals = map[string]map[string]string{}
		}
		name, _, _ := strings.Cut(entry, ":")
		o.Proposals[name], _ = form.ChosenOptions(name)
	}
	o.Members = map[string]json.RawMessage{}
	if path := strings.TrimSpace(form.Template); path != "" {
		o.Members["templatePath"] = encoded(path)
	}
	if form.Offer != "" {
		var members map[string]json.RawMessage
		if json.Unmarshal(form.Offered().Request, &members) != nil {
			return o, &views.Fault{Path: "question", Code: "bad_format", Detail: "this is no question that an answer offers"}
		}
		maps.Copy(o.Members, members)
	}
	if form.Offer != "" || form.Operation() == "table" {
		o.Leave = ofOthers
		return o, nil
	}
	pods, question := strings.TrimSpace(form.Pods) != "", form.Question()
	old := strings.TrimSpace(form.Old) != ""
	if old || form.Static {
		if pods || question != nil {
			return o, views.CheckedOnly()
		}
		if form.Static {
			o.Members["static"] = encoded(true)
		}
		if old {
			object, fault := oneObject("old", form.Old)
			if fault != nil {
				return o, fault
			}
			o.Members["old"] = object
		}
		return o, nil
	}
	if question != nil {
		o.Members["question"] = question
	}
	if name := form.Operation(); name == "decide" || name == "simulate" {
		o.Show = []string{"rows"}
	}
	if !pods {
		return o, nil
	}
	if form.Operation() == "simulate" {
		return o, views.PodsWithRuns()
	}
	list, err := schema.ReadPods("", []byte(form.Pods))
	if err != nil {
		return o, unreadableField("pods", err)
	}
	o.Members["pods"] = list
	return o, nil
}

// encoded is a value as JSON.
func encoded(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		panic("server: " + err.Error()) // no text and no truth value fails
	}
	return text
}

// oneObject reads the text of a field that takes one object.
func oneObject(name, text string) (json.RawMessage, *views.Fault) {
	docs, err := schema.Decode([]byte(text))
	switch {
	case err != nil:
		return nil, unreadableField(name, err)
	case len(docs) != 1:
		return nil, &views.Fault{Path: name, Code: "several_manifests", Detail: "several objects; this field takes one"}
	}
	return docs[0].JSON(), nil
}

// unreadableField says where the first fault of a field is that has no lines to jump to.
func unreadableField(field string, err error) *views.Fault {
	f := &views.Fault{Path: field, Code: "bad_format", Detail: err.Error()}
	var faults schema.Faults
	if errors.As(err, &faults) {
		f.Code, f.Detail = string(faults[0].Code), faults[0].Detail
		if faults[0].Line > 0 {
			f.Detail = fmt.Sprintf("line %d: %s", faults[0].Line, f.Detail)
		}
	}
	return f
}

// viewModule returns what describe says; the engine is asked once.
func (s *Server) viewModule(ctx context.Context) (views.Module, error) {
	if known := s.description.Load(); known != nil {
		return *known, nil
	}
	answer, err := s.evaluate(ctx, opDescribe, s.describeRequest)
	if err != nil {
		return views.Module{}, err
	}
	module := views.Module{URL: s.moduleURL}
	if err := json.Unmarshal(answer, &module); err != nil {
		return views.Module{}, err
	}
	s.description.Store(&module)
	return module, nil
}
