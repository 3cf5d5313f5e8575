package views

import (
	"cmp"
	"regexp"
	"strings"

	"github.com/podfate/podfate/schema/document"
)

// Examples are what the gallery shows.
type Examples struct {
	Entries []Entry
	All     int    // how many there are, shown or not
	Search  string // what was searched for
	Copy    bool   // no server is behind the page
	Claims  []Claim
	Assets  Assets
}

// Claim is a figure that a proposal publishes.
type Claim struct{ ID, Text, Published, Computed, Verdict string }

// Wrong reports whether something else comes out.
func (c Claim) Wrong() bool { return strings.HasPrefix(c.Verdict, "wrong") }

// wrong are the claims that are, as far as they match the search.
func (g Examples) wrong() (list []Claim) {
	for _, c := range g.Claims {
		if c.Wrong() && matches(strings.Join([]string{c.ID, c.Text, c.Published, c.Computed, c.Verdict}, "\n"), g.Search) {
			list = append(list, c)
		}
	}
	return list
}

// computedMark is what follows a figure in docs/claims.md, for the command that recomputes
// it.
var computedMark = regexp.MustCompile(` *<!--.*?-->`)

// ReadClaims reads docs/claims.md: a row for each figure.
func ReadClaims(text string) (list []Claim) {
	for line := range strings.Lines(text) {
		cells := strings.Split(strings.TrimSuffix(strings.TrimSpace(line), " |"), " | ")
		if id, ok := strings.CutPrefix(cells[0], "| C-"); ok && len(cells) == 5 {
			for i, cell := range cells {
				cells[i] = strings.NewReplacer("**", "", "`", "").Replace(computedMark.ReplaceAllString(cell, ""))
			}
			list = append(list, Claim{"C-" + id, cells[1], cells[2], cells[3], cells[4]})
		}
	}
	return list
}

// Entry is an example with its answer.
type Entry struct {
	Example
	Verdict       document.Verdict
	Source        *document.Source // the page that says so
	Disagreements []string         // sentences that name the points on which the sources disagree
}

// NewEntry is the entry of an example with this answer.
func NewEntry(e Example, d *document.Document) Entry {
	entry := Entry{Example: e, Verdict: d.Verdict, Source: cmp.Or(e.Source, d.Verdict.Source)}
	if e.Disagree != "" {
		entry.Disagreements = []string{say("disagree", "what", e.Disagree)}
	}
	for _, b := range d.Blocks {
		for _, i := range b.Items {
			if entry.Source == nil {
				entry.Source = i.Source
			}
		}
		for _, c := range b.Cards {
			if entry.Source == nil {
				entry.Source = c.Source
			}
		}
	}
	return entry
}

// groups are runs of entries of the same group, in their order.
func groups(list []Entry) [][]Entry { return runs(list, func(e *Entry) string { return e.Group }) }

// menu is the same of the examples of the menu.
func menu(list []Example) [][]Example { return runs(list, func(e *Example) string { return e.Group }) }

func runs[T any](list []T, group func(*T) string) (runs [][]T) {
	for i := range list {
		if i == 0 || group(&list[i]) != group(&list[i-1]) {
			runs = append(runs, nil)
		}
		runs[len(runs)-1] = append(runs[len(runs)-1], list[i])
	}
	return runs
}

// Matches reports whether each word of a search is somewhere in the entry.
func (e *Entry) Matches(search string) bool {
	return matches(strings.Join([]string{e.ID, e.Group, e.Title, e.Question, e.Disagree, e.Form.Manifest, e.Form.Exits, e.Verdict.Title, e.Verdict.Text}, "\n"), search)
}

// matches reports whether each word of a search is somewhere in text.
func matches(text, search string) bool {
	text = strings.ToLower(text)
	for _, word := range strings.Fields(strings.ToLower(search)) {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// CodeList is what the page of codes shows.
type CodeList struct {
	Sections []CodeSection
	Assets   Assets
}

// CodeSection is a kind of codes.
type CodeSection struct {
	ID, Title string
	Codes     []Code
}

// Code is a code with what it means. Its place on the page is its name, or that of its section as
// well where another section has the name, too.
type Code struct{ ID, Name, Meaning string }

// ReadCodes reads docs/codes.md: sections, each with a table of codes.
func ReadCodes(text string) (list []CodeSection) {
	known := map[string]bool{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if title, ok := strings.CutPrefix(line, "## "); ok {
			list = append(list, CodeSection{ID: strings.ReplaceAll(strings.ToLower(title), " ", "-"), Title: title})
		}
		row, ok := strings.CutPrefix(line, "| `")
		if !ok || len(list) == 0 {
			continue
		}
		name, meaning, _ := strings.Cut(row, "` | ")
		s := &list[len(list)-1]
		id := name
		if known[id] {
			id = s.ID + "-" + name
		}
		known[id] = true
		s.Codes = append(s.Codes, Code{id, name, strings.ReplaceAll(strings.TrimSuffix(meaning, " |"), "`", "")})
	}
	return list
}
