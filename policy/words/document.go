package words

import (
	"github.com/podfate/podfate/policy/manifest"
)

// Question is what a document is about.
type Question struct {
	Operation string         // such as "decide"
	Request   manifest.Value // as it was asked; absent if it could not be read
	Answer    manifest.Value // what was answered, an error payload as well
	Warnings  manifest.Value // faults that whoever read the text lets pass; absent for none
}

// Tones are the names of what a colour means. Colour is never used alone: a mark or a word says the
// same.
var Tones = [...]string{"", "run", "wait", "all", "fail", "ok", "stop", "cnt", "ui"}

// The tones. Neutral is for what needs no judgement.
const (
	Neutral = ""
	Run     = "run"  // runs, is started again
	Wait    = "wait" // waits, CrashLoopBackOff, warnings
	All     = "all"  // all containers restart
	Fail    = "fail" // failed, refused, a failing exit
	OK      = "ok"   // Succeeded, Complete, exit 0, accepted
	Stop    = "stop" // ends without a judgement; nobody; undecided
	Count   = "cnt"  // counted towards backoffLimit
)

// Marks are the names of the glyphs.
var Marks = [...]string{
	"crashloop", "restart", "restartall", "stop", "failed", "succeeded", "refused", "ignored", "counted", "undecided",
	"running", "matched", "notmatched", "notreached", "skipped", "warning", "note", "fault", "dropped",
}

// MaxItems bounds the items of one block; how many are left out is said in its place. An answer may
// have a thousand entries, and what nobody reads to its end need not be put into words.
const MaxItems = 500

// source is where a rule comes from: a page that people can open.
type source struct{ name, url string }

// item is a line of a list or a step, and the text of a card.
type item struct {
	text   string
	tone   string
	mark   string
	path   string // of the manifest, or of the request around it; "" for none
	quote  string // what is there in the manifest, in short
	reason string // why
	source source
	times  int64 // how often, 0 for once
	place  manifest.Value
	allow  manifest.Value
	asks   string // the question that is offered, as JSON; "" for none
}

// document is what is being written.
type document struct {
	w *manifest.Writer
	Question
	man manifest.Value // the manifest in the request

	several bool   // more than two variants are compared
	within  string // the template that what is being written is about; "" for none
}

// Write writes the document about an answer as one JSON object.
func Write(w *manifest.Writer, q Question) {
	d := &document{w: w, Question: q, man: q.Request.Get("manifest")}
	w.Object()
	d.text("releases", releases(q.Answer.Get("cluster")))
	switch {
	case q.Answer.Get("error").Exists():
		d.refusal()
	case q.Operation == "describe":
		d.describe()
	case q.Operation == "validate":
		d.validate()
	case q.Operation == "decide":
		d.decide()
	case q.Operation == "simulate" && q.Answer.Get("jobSet").Exists():
		d.simulateJobSet()
	case q.Operation == "simulate" && q.Answer.Get("node").Exists():
		d.simulateRetries()
	case q.Operation == "simulate" && q.Answer.Get("layers").Exists():
		d.simulateJob()
	case q.Operation == "simulate":
		d.simulatePod()
	case q.Operation == "curve":
		d.curve()
	case q.Operation == "table":
		d.codes()
	case q.Operation == "compare":
		d.compare()
	case q.Operation == "fleet":
		d.fleet()
	case q.Operation == "suggest":
		d.suggest()
	case q.Operation == "translate":
		d.translate()
	default:
		d.verdict(item{tone: Stop, mark: "undecided", text: "There are no words for this operation yet."}, "No words")
		d.blocks(func() {})
	}
	w.End()
}

// WriteTooLong writes the document about an answer of n bytes that nobody would read in words.
func WriteTooLong(w *manifest.Writer, n int) {
	d := &document{w: w}
	w.Object()
	d.verdict(item{tone: Stop, mark: "note", text: "The answer has " + itoa(int64(n)) + " bytes. Ask for less: fewer exits or a shorter time."}, "Answered, but too long for words")
	d.blocks(func() {})
	w.End()
}

// releases names the cluster that an answer is about.
func releases(cluster manifest.Value) string {
	version := text(cluster, "version")
	if version == "" {
		return ""
	}
	s := "Kubernetes " + version
	if kubelet := text(cluster.Get("kubelet"), "version"); kubelet != "" && kubelet != version {
		s += ", kubelet " + kubelet
	}
	return s
}

// text writes a member that is a string, unless it is empty.
func (d *document) text(name, value string) {
	if value != "" {
		d.w.KeyString(name, value)
	}
}

func (d *document) int(name string, n int64) {
	d.w.KeyInt(name, n)
}

// verdict writes the answer in brief: a title of a few words and one sentence.
func (d *document) verdict(v item, title string, more ...func()) {
	d.w.KeyObject("verdict")
	d.text("title", title)
	d.members(v)
	for _, write := range more {
		write()
	}
	d.w.End()
}

// blocks writes the blocks that write writes.
func (d *document) blocks(write func()) {
	d.w.KeyArray("blocks")
	write()
	d.w.End()
}

// members writes what an item has.
func (d *document) members(i item) {
	w := d.w
	d.text("tone", i.tone)
	d.text("mark", i.mark)
	d.text("text", i.text)
	d.text("quote", i.quote)
	d.text("because", i.reason)
	d.text("path", i.path)
	if line, ok := i.place.Get("line").Int64(); ok {
		column, _ := i.place.Get("column").Int64()
		d.int("line", line)
		d.int("column", column)
	}
	if i.times > 1 {
		d.int("times", i.times)
	}
	if n := i.allow.Len(); n > 0 {
		w.KeyArray("allowed")
		for v := i.allow.First(); v.Exists(); v = v.Next() {
			w.String(Visible(v.Text()))
		}
		w.End()
	}
	if i.asks != "" {
		w.KeyRaw("ask", []byte(i.asks))
	}
	if i.source.url != "" {
		w.KeyObject("source")
		d.text("name", i.source.name)
		d.text("url", i.source.url)
		w.End()
	}
}

// items writes a block of items. An empty list writes nothing.
func (d *document) items(kind, title string, list []item) {
	if len(list) == 0 {
		return
	}
	w := d.w
	w.Object()
	d.text("block", kind)
	d.text("title", title)
	w.KeyArray("items")
	for _, i := range list[:min(len(list), MaxItems)] {
		w.Object()
		d.members(i)
		w.End()
	}
	w.End()
	d.more(len(list))
	w.End()
}

// more says how many of n items are left out.
func (d *document) more(n int) {
	if n > MaxItems {
		d.int("more", int64(n-MaxItems))
	}
}

// column is the head of a column of a table.
type column struct {
	name  string
	right bool // numbers and times end at the same place
}

// row is a line of a table.
type row struct {
	cells []string
	tone  string
	path  string // what decided it
	at    int64  // milliseconds, -1 for none: the instant that it is about
}

// table writes a table. rows that are left out besides those of the list are counted in beyond.
func (d *document) table(title string, columns []column, rows []row, beyond int) {
	w := d.w
	w.Object()
	d.text("block", "table")
	d.text("title", title)
	w.KeyArray("columns")
	for _, c := range columns {
		w.Object()
		d.text("text", c.name)
		if c.right {
			d.text("align", "end")
		}
		w.End()
	}
	w.End()
	w.KeyArray("rows")
	for _, r := range rows[:min(len(rows), MaxItems)] {
		w.Object()
		d.text("tone", r.tone)
		d.text("path", r.path)
		if r.at >= 0 {
			d.int("atMillis", r.at)
		}
		w.KeyArray("cells")
		for _, c := range r.cells {
			w.String(c)
		}
		w.End()
		w.End()
	}
	w.End()
	if n := len(rows) + beyond; n > MaxItems || beyond > 0 {
		d.int("more", int64(n-min(len(rows), MaxItems)))
	}
	w.End()
}

// card is one of the layers that decide.
type card struct {
	layer string // container, pod, job
	title string // whose layer it is
	head  item
	lines []item
}

// layers writes cards side by side.
func (d *document) layers(cards ...card) {
	w := d.w
	w.Object()
	d.text("block", "layers")
	d.text("title", "Who decides what")
	w.KeyArray("cards")
	for _, c := range cards {
		w.Object()
		d.text("layer", c.layer)
		d.text("title", c.title)
		d.members(c.head)
		if len(c.lines) > 0 {
			w.KeyArray("items")
			for _, i := range c.lines[:min(len(c.lines), MaxItems)] {
				w.Object()
				d.members(i)
				w.End()
			}
			w.End()
			d.more(len(c.lines))
		}
		w.End()
	}
	w.End()
	w.End()
}

// members of answers that are used everywhere.

func text(v manifest.Value, name string) string { return v.Get(name).Text() }

// number returns an integer member, 0 if it is absent.
func number(v manifest.Value, name string) int64 {
	n, _ := v.Get(name).Int64()
	return n
}

// has reports whether a member is there and not null.
func has(v manifest.Value, name string) bool {
	k := v.Get(name).Kind()
	return k != manifest.Invalid && k != manifest.Null
}
