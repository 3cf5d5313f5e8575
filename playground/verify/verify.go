// Package verify recomputes what a Markdown document says.
//
// A fenced block with the words podfate OPERATION NAME in its first line, such as
//
//	```yaml podfate curve stock
//	backoff: {initial: 10s, max: 300s}
//	run: {for: 10s}
//	```
//
// is a request, which is asked; refused after the name says that it is to fail. A comment after a
// figure says how to compute it:
//
//	The fourth restart comes at **110** s <!-- = stock.starts[4].atMillis / 1000 -->.
//
// and <!-- != … --> that the figure, which someone else published, is another one. The figure is
// what is in bold or as code last before the comment, or else the last number there; several
// are separated by commas, dashes or slashes. It has to agree in as many digits as it has.
package verify

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/podfate/podfate/schema"
)

// maxQuoted bounds what a problem repeats of an answer.
const maxQuoted = 400

// Ask asks an operation. failed says that answer is an error.
type Ask func(operation string, request []byte) (answer []byte, failed bool, err error)

// Mark is one figure of a document with what it was compared with.
type Mark struct {
	Line     int // from 1
	Claimed  string
	Computed string // "" if it cannot be
	Differs  bool   // the document says that the two are not equal
	Problem  string // "" if the document is right
}

// Report is what came of a document.
type Report struct {
	Blocks  int
	Figures int
	Marks   []Mark // those of blocks that fail too, without Claimed
}

// Problems returns the marks that do not hold.
func (r *Report) Problems() (list []Mark) {
	for _, m := range r.Marks {
		if m.Problem != "" {
			list = append(list, m)
		}
	}
	return list
}

// block is a fenced block under way.
type block struct {
	line            int
	fence           string
	operation, name string // "" for one that is no request
	refused         bool
	text            strings.Builder
}

// Document recomputes text. err is that of ask.
func Document(text string, ask Ask) (r Report, err error) {
	answers := map[string]any{}
	var in *block
	var marked []Mark // figures are compared when all blocks have been asked
	var said []string
	for n, line := range strings.Split(text, "\n") {
		switch fence, info := fenceOf(line); {
		case in == nil && fence != "":
			in = newBlock(n+1, fence, info)
		case in != nil && strings.HasPrefix(fence, in.fence) && info == "":
			if in.operation != "" {
				r.Blocks++
				problem, err := in.ask(answers, ask)
				if err != nil {
					return r, err
				}
				if problem != "" {
					r.Marks = append(r.Marks, Mark{Line: in.line, Problem: problem})
				}
			}
			in = nil
		case in != nil:
			in.text.WriteString(line + "\n")
		default:
			m, expressions := marksOf(line, n+1)
			marked, said = append(marked, m...), append(said, expressions...)
		}
	}
	if in != nil {
		r.Marks = append(r.Marks, Mark{Line: in.line, Problem: "the block has no end"})
	}
	for i := range marked {
		marked[i].compare(said[i], answers)
	}
	r.Figures, r.Marks = len(marked), append(r.Marks, marked...)
	return r, nil
}

// fenceOf returns the fence that a line begins with, and what follows it.
func fenceOf(line string) (fence, info string) {
	rest := strings.TrimLeft(line, " ")
	for _, c := range []string{"`", "~"} {
		if n := len(rest) - len(strings.TrimLeft(rest, c)); n >= 3 {
			return rest[:n], strings.TrimSpace(rest[n:])
		}
	}
	return "", ""
}

func newBlock(line int, fence, info string) *block {
	b := &block{line: line, fence: fence}
	words := strings.Fields(info)
	for i, w := range words {
		if w == "podfate" && i+2 < len(words) {
			b.operation, b.name = words[i+1], words[i+2]
			b.refused = i+3 < len(words) && words[i+3] == "refused"
		}
	}
	return b
}

func (b *block) ask(answers map[string]any, ask Ask) (problem string, err error) {
	if answers[b.name] != nil {
		return "another block is called " + b.name, nil
	}
	var docs []*schema.Document
	if strings.TrimSpace(b.text.String()) != "" {
		docs, err = schema.Decode([]byte(b.text.String()))
	}
	if err != nil {
		return "the request cannot be read: " + err.Error(), nil
	}
	request := []byte("{}")
	var head struct{ Kind string }
	if len(docs) == 1 && json.Unmarshal(docs[0].JSON(), &head) == nil && head.Kind == "" {
		request = docs[0].JSON()
	} else if len(docs) > 0 {
		built, err := schema.NewRequest(docs, schema.Overrides{})
		if err != nil {
			return "the request cannot be read: " + err.Error(), nil
		}
		request = built.JSON()
	}
	answer, failed, err := ask(b.operation, request)
	if err != nil {
		return "", err
	}
	var value any
	if err := json.Unmarshal(answer, &value); err != nil {
		return "", fmt.Errorf("the answer of %s is no JSON: %w", b.operation, err)
	}
	answers[b.name] = value
	switch {
	case failed && !b.refused:
		return "the request is refused: " + string(answer[:min(len(answer), maxQuoted)]), nil
	case !failed && b.refused:
		return "the request is not refused", nil
	}
	return "", nil
}

const opens, closes = "<!--", "-->"

// marksOf finds the marks in a line, with their expressions.
func marksOf(line string, n int) (marks []Mark, expressions []string) {
	for {
		before, rest, found := strings.Cut(line, opens)
		if !found {
			return marks, expressions
		}
		inside, after, closed := strings.Cut(rest, closes)
		inside = strings.TrimSpace(inside)
		differs := strings.HasPrefix(inside, "!=")
		if closed && (differs || strings.HasPrefix(inside, "=")) {
			marks = append(marks, Mark{Line: n, Claimed: figureIn(before), Differs: differs})
			expressions = append(expressions, strings.TrimSpace(strings.TrimLeft(inside, "!=")))
		}
		line = after
	}
}

// figureIn is what is in bold or as code last in text, or else the last number.
func figureIn(text string) string {
	best, begin := "", -1
	for _, quote := range []string{"**", "`"} {
		end := strings.LastIndex(text, quote)
		if end < 0 {
			continue
		}
		if at := strings.LastIndex(text[:end], quote); at > begin {
			best, begin = text[at+len(quote):end], at
		}
	}
	if begin >= 0 {
		return best
	}
	if all := number.FindAllString(text, -1); len(all) > 0 {
		return all[len(all)-1]
	}
	return ""
}

func (m *Mark) compare(expression string, answers map[string]any) {
	v, err := evaluate(expression, answers)
	if err != nil {
		m.Problem = fmt.Sprintf("%s: %v", expression, err)
		return
	}
	m.Computed = v.String()
	if same := v.agrees(m.Claimed); same && m.Differs {
		m.Problem = "claimed " + quoted(m.Claimed) + " is said to differ, computed " + quoted(m.Computed)
	} else if !same && !m.Differs {
		m.Problem = "claimed " + quoted(m.Claimed) + ", computed " + quoted(m.Computed)
	}
}

func quoted(s string) string {
	if s == "" {
		return "nothing"
	}
	return s
}
