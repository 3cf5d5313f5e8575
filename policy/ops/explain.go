package ops

import (
	"strconv"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/manifest"
	"github.com/podfate/podfate/policy/words"
)

// explain answers {of, request} with what the operation of answers to request, byte for byte, and
// with a document that puts it into words. An operation that fails is an answer here: the document
// says why, and the flag of the call is clear.
//
// Places in the answer and in the document count in the inner request, as if it had come alone.
//
// In place of a request there may be an error that arose outside of the core, while a text was read
// or on the way here: its payload's member error. It is put into words like one of the core's.
// Beside a request there may be warnings about the text that it was made from; they only go into
// the document.
func (c *call) explain() {
	c.requestMembers("of", "request", "error", "warnings", "text")
	number := c.readOf(explainNumber)
	request, failure := c.root.Get("request"), c.root.Get("error")
	switch {
	case !given(failure):
	case given(request):
		c.requestFault(failure, policy.FieldError{
			Path: "error", Code: policy.CodeForbidden, Detail: "give either a request or an error",
		})
	case failure.Kind() != manifest.Object:
		c.wrongType(failure, "error", "an object")
	}
	plain := c.root.Get("text")
	if given(plain) && plain.Kind() != manifest.Bool {
		c.wrongType(plain, "text", "a boolean")
	}
	if c.failOnFaults() {
		return
	}
	asked := []byte("{}")
	if given(request) {
		asked = request.Raw()
	}
	m := c.memory
	if m.answers == nil {
		m.answers = &manifest.Parser{}
	}
	answer, _ := m.within().Call(number, asked)
	c.documents = 1
	if given(failure) {
		c.explainError(number, failure)
		return
	}
	w := &c.w
	w.Object()
	w.KeyRaw("answer", answer)
	w.Key("document")
	before := w.Len()
	c.writeDocument(number, answer)
	c.writeText(before)
	w.End()
}

// explainError answers with an error as it is, and its document.
func (c *call) explainError(number uint32, failure manifest.Value) {
	w := &c.w
	w.Object()
	w.KeyObject("answer")
	w.KeyRaw("error", failure.Raw())
	w.End()
	w.Key("document")
	before := w.Len()
	words.Write(w, words.Question{Operation: nameOf(number), Answer: c.root})
	c.writeText(before)
	w.End()
}

// writeText writes the document that begins at an offset of the answer as plain text, too, if that
// was asked for. It is made from the document alone, and here rather than in each of the packages
// of other languages.
func (c *call) writeText(at int) {
	if !c.root.Get("text").Bool() {
		return
	}
	c.documents++
	if d, err := c.memory.answers.Parse(append([]byte(nil), c.w.Bytes()[at:]...)); err == nil {
		c.w.KeyString("text", words.Text(d))
	}
}

// readOf reads which operation is meant: any but explain and not.
func (c *call) readOf(not uint32) (number uint32) {
	v := c.root.Get("of")
	name, ok := c.text(v, "of")
	if op, found := Lookup(name); found && op.Number != explainNumber && op.Number != not {
		return op.Number
	}
	if !ok && given(v) {
		return 0 // of another type
	}
	var allowed []string
	for i := range table {
		if n := table[i].Number; n != explainNumber && n != not {
			allowed = append(allowed, table[i].Name)
		}
	}
	if ok {
		c.requestFault(v, policy.FieldError{
			Path: "of", Code: policy.CodeUnsupported, Detail: strconv.Quote(cut(name)) + " is not an operation that is allowed here", Allowed: allowed,
		})
	} else {
		c.requestFault(c.root, policy.FieldError{
			Path: "of", Code: policy.CodeRequired, Detail: "the operation that answers is required", Allowed: allowed,
		})
	}
	return 0
}

// writeDocument writes the document about an answer. One that is too long to be read again, or
// whose words would be, is named as such: an explanation never fails where its operation succeeds.
func (c *call) writeDocument(number uint32, answer []byte) {
	q := words.Question{Operation: nameOf(number), Request: c.memory.inner.call.root, Warnings: c.root.Get("warnings")}
	parsed, err := c.memory.answers.Parse(answer)
	if err == nil {
		q.Answer = parsed
		before := c.w.Len()
		words.Write(&c.w, q)
		if c.w.Len()-before <= policy.MaxDocumentBytes {
			return
		}
		c.w.Cut(before)
	}
	words.WriteTooLong(&c.w, len(answer))
}

func nameOf(number uint32) string {
	for i := range table {
		if table[i].Number == number {
			return table[i].Name
		}
	}
	return ""
}
