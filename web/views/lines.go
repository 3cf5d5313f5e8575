package views

import (
	"strconv"
	"strings"

	"github.com/podfate/podfate/schema/document"
)

// The functions of this file put short texts of a document together; paint.js has one of the same
// name for each.

// offered is a question that a document offers, as the form sends it.
func offered(ask *document.Ask) string { return string(plainJSON(ask)) }

// classes are the names of an element's classes.
func classes(first, second string) string {
	if second == "" || second == first {
		return first
	}
	return first + " " + second
}

// times says how often.
func times(n int64) string {
	if n <= 1 {
		return ""
	}
	return " ×" + strconv.FormatInt(n, 10)
}

// because is the reason of a step after what its mark is called.
func because(i document.Item) string {
	result := document.Result(i.Mark)
	if result == "" || i.Because == "" {
		return result + i.Because
	}
	return result + ": " + i.Because
}

// line is an item in one line.
func line(i document.Item) string {
	text := i.Text + times(i.Times)
	if i.Because != "" {
		text += " (" + i.Because + ")"
	}
	return text
}

func codes(r document.Range) string {
	if r.From == r.To {
		return number(r.From)
	}
	return number(r.From) + "–" + number(r.To)
}

func align(b *document.Block, column int) string {
	if column < len(b.Columns) {
		return b.Columns[column].Align
	}
	return ""
}

func joined(list []string) string { return strings.Join(list, ", ") }

func lined(list []string) string { return strings.Join(list, "\n") }
