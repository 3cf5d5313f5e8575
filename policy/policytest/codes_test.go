package policytest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/podfate/podfate/policy/simulate"
)

// codeTypes are the types of the constants that answers hold, with a heading each.
var codeTypes = []struct{ folder, name, heading string }{
	{"policy", "ErrorCode", "Errors"},
	{"policy", "FaultCode", "Faults"},
	{"policy/lint", "policy.FaultCode", "Warnings"},
	{"policy", "Because", "Why a decision"},
	{"policy", "StepCode", "What became of a step"},
	{"policy/simulate", "Kind", "Entries of a timeline"},
}

// TestCodes holds docs/codes.md, which lists every code of an answer, to the constants: one without
// a comment, which is what the page says of it, fails by its name. go test ./policy/policytest -run
// TestCodes -update writes the page anew.
func TestCodes(t *testing.T) {
	const file = "../../docs/codes.md"
	var b strings.Builder
	b.WriteString("# Codes\n\nEvery code that an answer can have. Codes are stable: they are added and never renamed, while the sentences\n" +
		"next to them may change. Generated from the constants by `go test ./policy/policytest -run TestCodes -update`.\n")
	for _, of := range codeTypes {
		list := constants(t, filepath.Join("../..", of.folder), of.name)
		if len(list) == 0 {
			t.Errorf("%s has no constants of type %s", of.folder, of.name)
		}
		fmt.Fprintf(&b, "\n## %s\n\n| code | meaning |\n|---|---|\n", of.heading)
		for _, c := range list {
			if c.comment == "" {
				t.Errorf("the code %s (%s in %s) has no comment that says what it means", c.value, c.name, of.folder)
			}
			fmt.Fprintf(&b, "| `%s` | %s |\n", c.value, strings.ReplaceAll(c.comment, "|", "\\|"))
		}
	}
	b.WriteString("\n## Events\n\nOf a request of `simulate`, and of its timeline: ")
	for i, name := range simulate.EventTypes() {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString("`" + name + "`")
	}
	b.WriteString(". Not modelled, so that the answer is undecided from there on: ")
	for i, name := range simulate.OutsideTypes() {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString("`" + name + "`")
	}
	b.WriteString(".\n")
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if page, err := os.ReadFile(file); err != nil || string(page) != b.String() {
		t.Errorf("docs/codes.md is not what the constants say (%v): go test ./policy/policytest -run TestCodes -update", err)
	}
}

type codeConstant struct{ name, value, comment string }

// constants returns the constants of a type in a folder, by value. A comment above a group speaks
// for those of it that have none.
func constants(t *testing.T, folder, typeName string) (list []codeConstant) {
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.CONST {
				continue
			}
			for _, s := range g.Specs {
				v := s.(*ast.ValueSpec)
				if v.Type == nil || types.ExprString(v.Type) != typeName || len(v.Values) != 1 {
					continue
				}
				lit, ok := v.Values[0].(*ast.BasicLit)
				if !ok {
					continue
				}
				value, err := strconv.Unquote(lit.Value)
				if err != nil || value == "" {
					continue
				}
				comment := strings.TrimSpace(v.Comment.Text() + " " + v.Doc.Text())
				list = append(list, codeConstant{v.Names[0].Name, value, strings.Join(strings.Fields(comment), " ")})
			}
		}
	}
	slices.SortFunc(list, func(a, b codeConstant) int { return strings.Compare(a.value, b.value) })
	return list
}
