package cli

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/podfate/podfate/schema"
)

// defaultPlayground is where serve listens unless it is told otherwise.
const defaultPlayground = "http://127.0.0.1:8080/"

// maxLink is how many bytes the question of a link may have, compressed; share.js reads no more.
const maxLink = 8 << 10

// linked are the verbs that the page has, with the view that shows the answer; "" for the first
// one.
var linked = map[string]string{"decide": "", "simulate": "", "validate": "", "table": "table", "curve": "backoff", "compare": "compare"}

// inLinks are the flags that the page has fields for.
var inLinks = map[string]bool{
	"link": true, "filename": true, "kubernetes-version": true, "feature-gates": true, "proposal": true, "validate": true, "template": true,
	"old": true, "static": true, "pods": true, "exit": true, "question": true, "run": true, "event": true, "until": true,
}

// linkState is what a link holds, with the names that share.js has.
type linkState struct {
	Manifest   string          `json:"m"`
	Pods       string          `json:"p,omitempty"`
	Question   string          `json:"e,omitempty"`
	Version    string          `json:"k,omitempty"`
	Proposals  []string        `json:"x,omitempty"`
	View       string          `json:"v,omitempty"`
	Old        string          `json:"b,omitempty"`
	Run        string          `json:"r,omitempty"`
	Outage     string          `json:"o,omitempty"`
	Cap        string          `json:"c,omitempty"`
	Other      string          `json:"d,omitempty"`
	Static     bool            `json:"s,omitempty"`
	Template   string          `json:"t,omitempty"`
	Validation string          `json:"f,omitempty"`
	Gates      map[string]bool `json:"g,omitempty"`
}

// printLink prints the address at which the page asks what the flags ask. The question is after the
// #, so that a browser sends it to nobody.
func (o *options) printLink(verb string, streams Streams) error {
	at, err := url.Parse(o.link)
	if err != nil || at.Scheme != "http" && at.Scheme != "https" || at.Host == "" {
		return fmt.Errorf("--link %s: must be the address of a playground, such as %s", strconv.Quote(o.link), defaultPlayground)
	}
	var without []string
	curve := verb == "curve"
	o.flags.Visit(func(f *pflag.Flag) {
		if known := inLinks[f.Name] || curve && (f.Name == "outage" || f.Name == "max"); !known || curve && (f.Name == "until" || f.Name == "filename") {
			without = append(without, "--"+f.Name)
		}
	})
	if len(without) > 0 {
		return fmt.Errorf("--link: the page has no field for %s", strings.Join(without, ", "))
	}
	overrides, err := o.overrides() // which looks at what flags say
	if err != nil {
		return err
	}
	if err := o.oneReader(); err != nil {
		return err
	}
	manifest, other := "", "" // curve reads none
	switch n := len(o.files); {
	case curve:
	case verb == "compare" && n == 2:
		manifest, other = o.files[0], o.files[1]
	case verb == "compare":
		return fmt.Errorf("--link: %d files; the page compares two", n)
	case n == 1:
		manifest = o.files[0]
	default:
		return fmt.Errorf("--link: %d files; a link holds the text of one", len(o.files))
	}
	state := linkState{
		Version: o.version, Proposals: o.proposals, View: linked[verb],
		Static: o.static, Template: o.template, Gates: overrides.FeatureGates,
	}
	if text := func(name string) string { return o.flags.Lookup(name).Value.String() }; curve {
		state.Run, state.Outage, state.Cap = text("run"), text("outage"), text("max")
	} else {
		state.Question = o.questionText()
	}
	if overrides.FieldValidation != "Strict" && overrides.FieldValidation != "" {
		state.Validation = overrides.FieldValidation
	}
	for _, file := range []struct {
		name string
		to   *string
	}{{manifest, &state.Manifest}, {o.pods, &state.Pods}, {o.old, &state.Old}, {other, &state.Other}} {
		if *file.to, err = textOf(file.name, streams.In); err != nil {
			return err
		}
	}
	if at.Fragment, err = encodeLink(state); err != nil {
		return err
	}
	_, err = fmt.Fprintln(streams.Out, at)
	return err
}

// questionText is what all flags with questions say, in short.
func (o *options) questionText() string {
	parts := append([]string{}, o.exits...)
	for _, name := range []string{"question", "run", "event", "until"} {
		flag := o.flags.Lookup(name)
		if flag == nil || !flag.Changed {
			continue
		}
		list, ok := flag.Value.(pflag.SliceValue)
		if !ok {
			text := flag.Value.String()
			if name == "until" {
				text = "until " + text
			}
			parts = append(parts, text)
			continue
		}
		for _, text := range list.GetSlice() {
			if name == "event" {
				text = eventClause(text)
			}
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, ", ") // the page has one line for it
}

// textOf reads the text of a file, "" for no name.
func textOf(name string, in io.Reader) (string, error) {
	if name == "" {
		return "", nil
	}
	_, text, err := readOne(name, in, fmt.Errorf("%s: is a folder; a link holds the text of one file", name))
	if err == nil && len(text) > schema.MaxBodyBytes {
		err = statusError{StatusFaults, fmt.Errorf("%s: has more than %d bytes, the most that the page takes", name, schema.MaxBodyBytes)}
	}
	return string(text), err
}

// encodeLink writes a question as the part of an address after the #: v1= and its JSON, deflated
// and in base64url.
func encodeLink(state linkState) (string, error) {
	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.BestCompression)
	if err != nil {
		return "", err
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	if err := errors.Join(e.Encode(state), w.Close()); err != nil {
		return "", err
	}
	if packed.Len() > maxLink {
		return "", statusError{StatusFaults, fmt.Errorf("--link: the question has %d bytes when it is compressed; a link has at most %d", packed.Len(), maxLink)}
	}
	return "v1=" + base64.RawURLEncoding.EncodeToString(packed.Bytes()), nil
}
