package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/podfate/podfate/schema"
)

// fixer collects the fixes that answers of validate know, and makes them in the files that were
// read.
type fixer struct {
	write bool // into the files; else the differences are printed
	files []string
	known map[string][]fixOf // by file
}

// fixOf is the one fix of a fault or warning.
type fixOf struct {
	document     int // of the file, from 0
	line, column int
	what         string
	edits        []schema.Edit
}

// add takes the fixes of an answer. Where there is a choice, people choose.
func (f *fixer) add(o outcome) {
	type fault struct {
		Path         string
		Line, Column int
		Fixes        []struct{ Edits []schema.Edit }
	}
	var answer struct{ Faults, Warnings []fault }
	if json.Unmarshal(o.answer, &answer) != nil || o.asked.source == "" {
		return
	}
	for _, x := range append(answer.Faults, answer.Warnings...) {
		if len(x.Fixes) != 1 {
			continue
		}
		if f.known[o.asked.source] == nil {
			f.files = append(f.files, o.asked.source)
		}
		f.known[o.asked.source] = append(f.known[o.asked.source], fixOf{o.asked.number - 1, x.Line, x.Column, x.Path, x.Fixes[0].Edits})
	}
}

// elements returns the list of which a fix removes elements, and which; none of an object's
// members.
func (x *fixOf) elements() (list string, first, last int) {
	for i, e := range x.edits {
		cut := strings.LastIndexByte(e.Path, '/')
		n, err := strconv.Atoi(e.Path[cut+1:])
		if err != nil {
			return "", 0, 0
		}
		if list = fmt.Sprint(x.document, e.Path[:cut]); i == 0 {
			first, last = n, n
		}
		first, last = min(first, n), max(last, n)
	}
	return list, first, last
}

// end makes the fixes, the last place of each file first, so that the other places stay.
func (f *fixer) end(p *printer) error {
	for _, name := range f.files {
		list := f.known[name]
		info, err := os.Stat(name)
		if err != nil {
			p.note("%s is not a file: its fixes are not made", name)
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return fileError(err)
		}
		slices.SortStableFunc(list, func(a, b fixOf) int {
			if a.line != b.line {
				return b.line - a.line
			}
			return b.column - a.column
		})
		fixed := text
		touched := map[string]int{} // lists, and the first of their elements that is gone
		for _, x := range list {
			list, first, last := x.elements()
			if gone, ok := touched[list]; ok && gone <= last {
				p.note("%s:%d:%d: %s: not fixed in the same run as what is next to it; run it again", name, x.line, x.column, x.what)
				continue
			}
			next, err := schema.Splice(fixed, x.document, x.edits)
			switch {
			case err == nil:
				if fixed = next; list != "" {
					touched[list] = first
				}
			case errors.Is(err, schema.ErrShared), errors.Is(err, schema.ErrByHand):
				p.note("%s:%d:%d: not fixed: %v", name, x.line, x.column, err)
			default:
				p.note("%s:%d:%d: %s: not fixed: it is not there", name, x.line, x.column, x.what)
			}
		}
		if bytes.Equal(fixed, text) {
			continue
		}
		if !f.write {
			if _, err := p.Out.Write(difference(name, text, fixed)); err != nil {
				return failf("cannot print the difference: %w", err)
			}
			continue
		}
		if err := os.WriteFile(name, fixed, info.Mode().Perm()); err != nil {
			return fileError(err)
		}
		p.note("%s: fixed", name)
	}
	return nil
}

// difference writes how two texts differ as diff -u does. Fixes are small, so that one hunk from
// the first line that differs to the last one, with three lines around it, is short.
func difference(name string, before, after []byte) []byte {
	a, b := lines(before), lines(after)
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	from, to := max(head-3, 0), min(tail, 3)
	var out bytes.Buffer
	fmt.Fprintf(&out, "--- %s\n+++ %s\n@@ -%d,%d +%d,%d @@\n", name, name, from+1, len(a)-tail+to-from, from+1, len(b)-tail+to-from)
	write := func(mark string, list []string) {
		for _, line := range list {
			out.WriteString(mark + line)
			if !strings.HasSuffix(line, "\n") {
				out.WriteString("\n\\ No newline at end of file\n")
			}
		}
	}
	write(" ", a[from:head])
	write("-", a[head:len(a)-tail])
	write("+", b[head:len(b)-tail])
	write(" ", a[len(a)-tail:len(a)-tail+to])
	return out.Bytes()
}

func lines(text []byte) []string {
	list := strings.SplitAfter(string(text), "\n")
	if list[len(list)-1] == "" {
		list = list[:len(list)-1]
	}
	return list
}
