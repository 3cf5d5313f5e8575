package web

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"maps"
	"sync"

	"github.com/podfate/podfate/schema/document"
	"github.com/podfate/podfate/web/views"
)

// Static holds the files below static/, to be served under /static/ with their names.
//
//go:embed static
var Static embed.FS

//go:embed examples
var examples embed.FS

// example is an entry of examples/index.json; its manifest is the file with its id.
type example struct {
	ID         string            `json:"id"`
	Title      string            `json:"title"`
	Question   string            `json:"question"`
	Exits      string            `json:"exits"`
	Version    string            `json:"version"`
	Gates      map[string]string `json:"gates"`
	Pods       bool              `json:"pods"` // there is a file of Pods, ID.pods.yaml
	Validation string            `json:"validation"`
	View       string            `json:"view"`
	Run        string            `json:"run"`
	Outage     string            `json:"outage"`
	Cap        string            `json:"cap"`
	Group      string            `json:"group"`
	Answer     string            `json:"answer"`
	Source     *document.Source  `json:"source"`
	Disagree   string            `json:"disagree"`
	Readings   []views.Reading   `json:"readings"`
}

var readExamples = sync.OnceValue(func() []views.Example {
	index, err := examples.ReadFile("examples/index.json")
	if err != nil {
		panic("web: " + err.Error())
	}
	var entries []example
	if err := json.Unmarshal(index, &entries); err != nil {
		panic("web: examples/index.json: " + err.Error())
	}
	var list []views.Example
	for _, e := range entries {
		manifest, err := examples.ReadFile("examples/" + e.ID + ".yaml")
		if err != nil {
			panic("web: " + err.Error())
		}
		var pods []byte
		if e.Pods {
			if pods, err = examples.ReadFile("examples/" + e.ID + ".pods.yaml"); err != nil {
				panic("web: " + err.Error())
			}
		}
		list = append(list, views.Example{ID: e.ID, Title: e.Title, Question: e.Question, Group: e.Group, Answer: e.Answer, Source: e.Source, Disagree: e.Disagree, Readings: e.Readings, Form: views.Form{
			Manifest: string(manifest), Pods: string(pods), Exits: e.Exits, Version: e.Version, Validation: e.Validation, Gates: e.Gates, Example: e.ID,
			View: e.View, Run: e.Run, Outage: e.Outage, Cap: e.Cap,
		}})
	}
	return list
})

// Examples returns the examples of the page in the order of its menu; the first is what a visitor
// sees answered. The caller owns the result.
func Examples() []views.Example {
	list := append([]views.Example(nil), readExamples()...)
	for i := range list {
		list[i].Form.Gates = maps.Clone(list[i].Form.Gates)
	}
	return list
}

// FindExample returns the example with this id; ok is false if there is none.
func FindExample(id string) (e views.Example, ok bool) {
	for _, e := range Examples() {
		if e.ID == id {
			return e, true
		}
	}
	return views.Example{}, false
}

var readAssets = sync.OnceValue(func() views.Assets {
	return views.Assets{
		Style:  address("style.css"),
		Script: address("app.js"),
		Worker: address("worker.js"),
		Icon:   address("icon.svg"),
		Data:   address("page.json"),
		Early:  address("early.js"),
		Frame:  address("frame.js"),
		Folder: "/static/",
		Home:   "/",

		Offline: "/sw.js",
	}
})

// Assets returns the addresses of the page's files. Each carries a digest of its content as ?v=, so
// that a server may let browsers keep what is asked for with v forever.
func Assets() views.Assets { return readAssets() }

func address(name string) string {
	data, err := Static.ReadFile("static/" + name)
	if err != nil {
		panic("web: " + err.Error())
	}
	sum := sha256.Sum256(data)
	return "/static/" + name + "?v=" + hex.EncodeToString(sum[:6])
}
