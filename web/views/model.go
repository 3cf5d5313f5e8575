package views

import (
	"encoding/json"

	"github.com/podfate/podfate/schema/document"
)

// Page is everything that the playground shows.
type Page struct {
	Form     Form
	Examples []Example // the menu, in its order
	Events   []string  // what can happen to a Pod over time, in the order of the menu
	Module   Module
	Answer   *Outcome // nil: nothing was asked
	Fixed    string   // what became of the fix that was asked for, a key of text.json; "" if none was
	Assets   Assets
	// Origin is scheme and host under which the page was asked for, as in "http://127.0.0.1:8080";
	// the curl line names it. "" leaves curl out.
	Origin string
	// Query is the query of the address that this page answers, without the question mark: a script
	// that finds another one in the address bar hides the answer before it is painted.
	Query string
	// Copy says that no server is behind the page: it is a file of a copy of the playground.
	Copy bool
	// Policy is the content security policy that a copy states itself, "" where a server does.
	Policy string
}

// Refusal is why a request of a browser has no answer.
type Refusal struct {
	Title, Detail string
	Form          bool      // a form was sent
	Examples      []Example // those that there are, if another was asked for
	Assets        Assets
}

// Outcome is an answer in words, with what was asked.
type Outcome struct {
	*document.Document
	Operation string // validate, decide or simulate
	Request   string // the JSON that was answered; "" if none was sent
}

// Edits returns the edits of fix n of the answer, counted from 1 over all of its fixes, as JSON;
// nil if there is no such fix.
func (o *Outcome) Edits(n int) json.RawMessage {
	for i := range o.Blocks {
		if b := &o.Blocks[i]; b.Kind == "fixes" && n > 0 && n <= len(b.Items) {
			return b.Items[n-1].Edits
		}
	}
	return nil
}

// Form is what the reader typed and chose; the names of its controls are in [ReadForm].
type Form struct {
	Manifest   string // YAML or JSON, as typed
	Pods       string // of a Job: a List, an array or Pods, JSON or YAML, as typed
	Exits      string // shorthand: main=42, main=1:OOMKilled, or main: 3@10s x4; blank asks for validate
	Version    string // a Kubernetes version such as "1.37"; "" is the module's default
	Validation string // Strict, Warn or Ignore; "" is Strict
	// Gates holds the gates that are set, "true" or "false"; a gate that is absent has its default.
	Gates map[string]string
	// Proposals are those that the cluster has, each by name and with the options that are set, as
	// --proposal takes them.
	Proposals []string
	// Old is the object that the manifest replaces, as typed; "" for an object that is new.
	Old      string
	Static   bool   // the manifest is a file in a kubelet's folder
	Template string // path of one of several Pod templates, "" for all
	// View is what is asked of the manifest besides what the exits say, or which part of the answer
	// is shown: one of the tabs; "" for the answer.
	View string
	// Run, Outage and Cap are asked with the view backoff: how long each run lasts, until when
	// something is away that it needs, and the longest wait; "" for each is the default.
	Run, Outage, Cap string
	// Other is the manifest that the view compare compares with, as typed; "" for the same.
	Other string
	// Fix is which of the fixes of the answer was asked for, from 1; 0 for none. Before is the
	// manifest before a fix was made, which one press brings back.
	Fix    int
	Before string
	// Offer is a question that an answer offered and that was chosen, as JSON; "" for none.
	Offer string
	// Example is the id of the example whose text this is, "" for the reader's own.
	Example string
}

// Example is an entry of the menu.
type Example struct {
	ID       string // of /?example=ID; stable
	Title    string
	Question string // one sentence
	Form     Form
	// Of a question that is often asked: its group, the recorded title of its verdict, the page
	// where it was asked or is answered, and on what sources disagree, with what each says. The
	// first examples have none of them.
	Group    string
	Answer   string
	Source   *document.Source
	Disagree string
	Readings []Reading
}

// Reading is what one source says where sources disagree.
type Reading struct {
	Says   string          `json:"says"`
	Source document.Source `json:"source"`
	// Ask is the question that shows this reading, as it is after /?example= in an address; ""
	// if no question does.
	Ask string `json:"ask"`
}

// Module is the WebAssembly module that answers, as describe tells it. Its JSON is that of
// describe's answer.
type Module struct {
	Product        string   `json:"product"`
	ABI            string   `json:"abi"`
	Schema         string   `json:"schema"`
	Versions       []string `json:"versions"` // of Kubernetes, oldest first
	DefaultVersion string   `json:"defaultVersion"`
	Gates          []Gate   `json:"gates"`
	// Proposals are changes of Kubernetes that no release has.
	Proposals []Proposal `json:"proposals"`
	File      File       `json:"module"`
	// URL is where the file can be fetched: its address changes with its content.
	URL string `json:"-"`
}

// Proposal is a change of Kubernetes that no release has.
type Proposal struct {
	Name    string `json:"name"`
	Source  string `json:"source"` // where it is described
	State   string `json:"state"`
	Options []struct {
		Name    string   `json:"name"`
		Values  []string `json:"values"`
		Default string   `json:"default"`

		Disagreement string `json:"disagreement"` // which of the sources' disagreements it is about
	} `json:"options"`
}

// File identifies the module's bytes.
type File struct {
	SHA256 string `json:"sha256"` // 64 lower-case hexadecimal digits
	Bytes  int    `json:"bytes"`
}

// Gate is a feature gate that changes answers.
type Gate struct {
	Name     string        `json:"name"`
	Releases []GateRelease `json:"versions"` // a version that is not listed does not know the gate
}

// GateRelease is what one version of Kubernetes says about a gate.
type GateRelease struct {
	Version string `json:"version"`
	Default bool   `json:"default"`
	Stage   string `json:"stage"` // Alpha, Beta, GA
	Locked  bool   `json:"locked"`
}

// Assets are the addresses of the page's own files.
type Assets struct {
	Style, Script, Worker, Icon string
	Data                        string // the sentences and the examples
	Early                       string // the script that runs before anything is painted
	Frame                       string // the script of the page that others frame
	Folder, Home                string // where the files lie, and the playground
	Offline                     string // the script that keeps the page for times without a network
}

// Fault is something wrong with the form.
type Fault struct {
	Path   string // of the request that the form would make: exits[1], pods
	Code   string
	Detail string
}
