package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
)

// operators are what an operator becomes.
var operators = map[token.Token]token.Token{
	token.EQL: token.NEQ, token.NEQ: token.EQL, token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.LAND: token.LOR, token.LOR: token.LAND, token.ADD: token.SUB, token.SUB: token.ADD, token.MUL: token.QUO, token.QUO: token.MUL,
}

// mutant is one change of a function.
type mutant struct {
	number     int // from 1
	file       string
	line       int
	of         *function
	begin, end int // of the bytes that are replaced
	by         string
	is, was    string // the line, changed and as it was
}

// String is the form in explained.txt, which follows the text and not the line number.
func (m *mutant) String() string { return fmt.Sprintf("%s: %s -> %s", m.file, m.was, m.is) }

// file is a file with the mutants of its functions.
type file struct {
	name      string
	text      []byte
	functions []*function
	mutants   []*mutant
}

// function is a function of which copies are made; offsets are those of the file.
type function struct {
	begin, end int
	name       [2]int
	head       string   // of the function that chooses, without its name and what follows
	receiver   string   // "r." or ""
	tail       string   // its parameters and results
	arguments  []string // with which it calls a copy
	results    bool
}

// mark begins the comment before each copy.
const mark = "// copy "

// read lists the changes of a file. Generic functions are left out, and the hash of names.
func read(name string) (*file, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, name, text, 0)
	if err != nil {
		return nil, err
	}
	f := &file{name: name, text: text}
	lines := strings.Split(string(text), "\n")
	at := func(p token.Pos) int { return set.Position(p).Offset }
	for _, decl := range tree.Decls {
		d, is := decl.(*ast.FuncDecl)
		if !is || d.Body == nil || d.Type.TypeParams != nil || d.Name.Name == "nameHash" { // any hash finds the same names
			continue
		}
		of := f.function(d, at)
		before := len(f.mutants)
		add := func(from, to token.Pos, by string) {
			place, begin, end := set.Position(from), at(from), at(to)
			start := begin - place.Column + 1
			line := lines[place.Line-1]
			changed := string(text[start:begin]) + by + string(text[end:start+len(line)])
			f.mutants = append(f.mutants, &mutant{
				file: name, line: place.Line, of: of, begin: begin, end: end, by: by, is: strings.TrimSpace(changed), was: strings.TrimSpace(line),
			})
		}
		ast.Inspect(d.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BinaryExpr:
				if by, known := operators[n.Op]; known {
					add(n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), by.String())
				}
			case *ast.UnaryExpr:
				if n.Op == token.NOT {
					add(n.OpPos, n.OpPos+1, "")
				}
			case *ast.Ident:
				if n.Name == "true" || n.Name == "false" {
					add(n.Pos(), n.End(), strconv.FormatBool(n.Name == "false"))
				}
			case *ast.BasicLit:
				if number, err := strconv.Atoi(n.Value); n.Kind == token.INT && err == nil {
					add(n.Pos(), n.End(), strconv.Itoa(number+1))
				}
			}
			return true
		})
		if len(f.mutants) > before {
			f.functions = append(f.functions, of)
		}
	}
	return f, nil
}

func (f *file) function(d *ast.FuncDecl, at func(token.Pos) int) *function {
	source := func(n ast.Node) string { return string(f.text[at(n.Pos()):at(n.End())]) }
	of := &function{begin: at(d.Pos()), end: at(d.End()), name: [2]int{at(d.Name.Pos()), at(d.Name.End())}, head: "func "}
	if d.Recv != nil {
		of.head, of.receiver = "func (podfate "+source(d.Recv.List[0].Type)+") ", "podfate."
	}
	var parameters []string
	for _, field := range d.Type.Params.List {
		for range max(1, len(field.Names)) {
			name, kind := "podfate"+strconv.Itoa(len(parameters)), source(field.Type)
			argument := name
			if strings.HasPrefix(kind, "...") {
				argument += "..."
			}
			parameters, of.arguments = append(parameters, name+" "+kind), append(of.arguments, argument)
		}
	}
	of.tail = "(" + strings.Join(parameters, ", ") + ")"
	if r := d.Type.Results; r != nil {
		of.tail, of.results = of.tail+" "+source(r), true
	}
	return of
}

// changed is the text of the file with the copies: each function that has mutants chooses among
// them.
func (f *file) changed() []byte {
	var out bytes.Buffer
	end := 0
	for _, of := range f.functions {
		out.Write(f.text[end:of.begin])
		end = of.end
		name := string(f.text[of.name[0]:of.name[1]])
		call := func(number int) string {
			s := of.receiver + copied(name, number) + "(" + strings.Join(of.arguments, ", ") + ")"
			if of.results {
				return "return " + s
			}
			return s + "; return"
		}
		fmt.Fprintf(&out, "%s%s%s { switch podfateMutant {", of.head, name, of.tail)
		for _, m := range f.mutants {
			if m.of == of {
				fmt.Fprintf(&out, "\ncase %d: %s", m.number, call(m.number))
			}
		}
		fmt.Fprintf(&out, "\n}\n%s\n}\n\n", call(0))
		f.copy(&out, of, name, &mutant{begin: of.end, end: of.end})
		for _, m := range f.mutants {
			if m.of == of {
				f.copy(&out, of, name, m)
			}
		}
	}
	out.Write(f.text[end:])
	return out.Bytes()
}

func (f *file) copy(out *bytes.Buffer, of *function, name string, m *mutant) {
	fmt.Fprintf(out, "\n%s%d\n%s%s%s%s%s\n", mark, m.number, f.text[of.begin:of.name[0]], copied(name, m.number),
		f.text[of.name[1]:m.begin], m.by, f.text[m.end:of.end])
}

func copied(name string, number int) string { return name + "Podfate" + strconv.Itoa(number) }
