// Package document holds the types of the documents that explain answers, for painters in Go. The
// contract is schema/v1/document.schema.json; the words are made in policy/words.
package document

import "encoding/json"

// Document is an answer in words and figures. Every text is finished: a painter knows kinds of
// blocks, tones and marks, and no codes.
type Document struct {
	Releases string  `json:"releases"` // the cluster that the answer is about: Kubernetes 1.37
	Verdict  Verdict `json:"verdict"`
	Blocks   []Block `json:"blocks"` // in the order in which they are read
}

// Read reads the answer of explain: the answer that is explained, byte for byte, and its document.
func Read(explained []byte) (answer json.RawMessage, d *Document, err error) {
	var both struct {
		Answer   json.RawMessage `json:"answer"`
		Document *Document       `json:"document"`
	}
	err = json.Unmarshal(explained, &both)
	return both.Answer, both.Document, err
}

// Item is a line of text with what belongs to it. What is "" or 0 has nothing to say.
type Item struct {
	Tone    string   `json:"tone"`    // the meaning of its colour: run, wait, all, fail, ok, stop, cnt, ui
	Mark    string   `json:"mark"`    // its glyph
	Text    string   `json:"text"`    // the sentence
	Quote   string   `json:"quote"`   // what the manifest says there, in short
	Because string   `json:"because"` // why
	Path    string   `json:"path"`    // of the manifest, or of the request around it
	Place            // of the path; the core gives that of faults
	Times   int64    `json:"times"`   // how often it happened, from 2
	Allowed []string `json:"allowed"` // what could be there instead
	Source  *Source  `json:"source"`  // the page that says so
	Ask     *Ask     `json:"ask"`     // a question that is offered
}

// Ask is a question: an operation, and the members of its request besides manifest, cluster and
// fieldValidation, which stay.
type Ask struct {
	Of      string          `json:"of"`
	Request json.RawMessage `json:"request"`
}

// Place is where something is in the text: line and column, both from 1, columns in Unicode code
// points. Line 0 is nowhere.
type Place struct {
	Line   int `json:"line"`
	Column int `json:"column"`
}

// Locate gives everything that has a path the place that find says. known is the place that the
// core gave, line 0 for none.
func (d *Document) Locate(find func(path string, known Place) Place) {
	place := func(path string, p *Place) {
		if path != "" {
			*p = find(path, *p)
		}
	}
	item := func(i *Item) { place(i.Path, &i.Place) }
	item(&d.Verdict.Item)
	for i := range d.Blocks {
		b := &d.Blocks[i]
		for j := range b.Items {
			item(&b.Items[j].Item)
		}
		for j := range b.Cards {
			item(&b.Cards[j].Item)
			for k := range b.Cards[j].Items {
				item(&b.Cards[j].Items[k])
			}
		}
		for j := range b.Rows {
			place(b.Rows[j].Path, &b.Rows[j].Place)
		}
		for j := range b.Ranges {
			item(&b.Ranges[j].Item)
		}
		for j := range b.Lanes {
			for k := range b.Lanes[j].Flags {
				f := &b.Lanes[j].Flags[k]
				place(f.Path, &f.Place)
			}
		}
	}
}

// Source is a page of Kubernetes' documentation or of its proposals.
type Source struct {
	Name string `json:"name"`
	URL  string `json:"url"`
}

// Verdict is the answer in brief.
type Verdict struct {
	Item
	Title string `json:"title"` // a few words
	Share *Share `json:"share"` // of a crash loop
}

// Share is how much of a time a container ran, in milliseconds.
type Share struct {
	RanMillis int64 `json:"ranMillis"`
	OfMillis  int64 `json:"ofMillis"`
}

// Block is one part of a document. Kind says which of the other fields count.
type Block struct {
	Kind  string `json:"block"` // list, steps, layers, lanes, plot, table, terminal, grid, fixes
	Title string `json:"title"`
	More  int    `json:"more"` // how many items are left out

	Items []Edit `json:"items"` // list, steps, fixes
	Cards []Card `json:"cards"` // layers

	Columns []Column `json:"columns"` // table
	Rows    []Row    `json:"rows"`

	Lines []string `json:"lines"` // terminal

	Text        string `json:"text"` // lanes: the drawing in one sentence
	UntilMillis int64  `json:"untilMillis"`
	Lanes       []Lane `json:"lanes"`
	Bands       []Band `json:"bands"`

	X      string   `json:"x"` // plot: what the numbers of a point count
	Y      string   `json:"y"`
	Series []Series `json:"series"`

	Container string  `json:"container"` // grid: whose exit codes
	Ranges    []Range `json:"ranges"`
}

// Edit is an item, with the edits of a fix where the block is of that kind.
type Edit struct {
	Item
	Edits json.RawMessage `json:"edits"` // JSON Patch, RFC 6902
}

// Card is one of the layers that decide.
type Card struct {
	Item
	Layer string `json:"layer"` // container, pod, job
	Title string `json:"title"`
	Items []Item `json:"items"`
	More  int    `json:"more"`
}

// Column is the head of a column; Align is "end" where cells end at the same place.
type Column struct {
	Text  string `json:"text"`
	Align string `json:"align"`
}

// Row is a row of finished cells, one for each column. AtMillis is nil for a row that is not about
// an instant.
type Row struct {
	Cells []string `json:"cells"`
	Tone  string   `json:"tone"`
	Path  string   `json:"path"`
	Place
	AtMillis *int64 `json:"atMillis"`
}

// Lane is a line of a drawing over time. All places are milliseconds on an axis that begins at 0.
type Lane struct {
	Name  string `json:"name"`
	Kind  string `json:"kind"` // phase, container, waits
	Text  string `json:"text"`
	Bars  []Bar  `json:"bars"`
	Flags []Flag `json:"flags"`
}

// Bar is what lasts: a phase, a run, a wait, rounds that repeat; on is a run that goes on at the
// end.
type Bar struct {
	Kind       string `json:"kind"`
	Tone       string `json:"tone"`
	FromMillis int64  `json:"fromMillis"`
	ToMillis   int64  `json:"toMillis"`
	Text       string `json:"text"`
}

// Flag is an exit.
type Flag struct {
	AtMillis int64  `json:"atMillis"`
	Text     string `json:"text"`
	Tone     string `json:"tone"`
	Path     string `json:"path"`
	Place
}

// Band is what goes through all lanes at one instant.
type Band struct {
	AtMillis int64  `json:"atMillis"`
	Tone     string `json:"tone"`
	Mark     string `json:"mark"`
	Text     string `json:"text"`
}

// Series is a line of a plot: pairs of integers, ascending by the first.
type Series struct {
	Name   string     `json:"name"`
	Kind   string     `json:"kind"` // steps, line, bars
	Tone   string     `json:"tone"`
	Points [][2]int64 `json:"points"`
}

// Range is a range of exit codes with the same outcome.
type Range struct {
	Item
	From   int    `json:"from"`
	To     int    `json:"to"`
	Letter string `json:"letter"`
}
