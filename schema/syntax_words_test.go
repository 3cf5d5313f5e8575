package schema

import (
	"errors"
	"testing"
)

// TestSyntaxInPlainWords: what people write wrongly most often is told in words that need no
// grammar of YAML.
func TestSyntaxInPlainWords(t *testing.T) {
	for _, test := range []struct {
		text         string
		line, column int
		says         string
	}{
		{"a: b: c\n", 1, 5, `": " cannot stand here: check the indentation, or write the text in quotes`},
		{"apiVersion: v1\n kind: Pod\n", 2, 6, `": " cannot stand here: check the indentation, or write the text in quotes`},
		{"a: @b\n", 1, 4, `"@" cannot begin a value: write it in quotes`},
		{"a: `b`\n", 1, 4, "\"`\" cannot begin a value: write it in quotes"},
		{"a: %b\n", 1, 4, `"%" cannot begin a value: write it in quotes`},
		{"a: \"b\nc: d\n", 1, 4, "the quotation mark that begins here is never closed"},
		{"a: [1, 2\n", 1, 4, `"[" is never closed: "]" is missing`},
		{"a: {b: 1\n", 1, 4, `"{" is never closed: "}" is missing`},
		{"a: [\n", 1, 4, `"[" is never closed: "]" is missing`},
		{"a: *b\n", 1, 4, "no anchor &b comes before this alias"},
		{"a: - b\n", 1, 4, `"- " cannot stand here: check the indentation; a list begins in a line of its own`},
		{"a:\n  b: 1\n c: 2\n", 3, 2, "a key is expected here: check the indentation"},
		{"a:\n- b\nc\n", 3, 1, `a key is not followed by ": ": check this line and the indentation`},
		{"a: \"\\d\"\n", 1, 5, `a backslash begins an escape in double quotes, and this is not one: use single quotes, or \\`},
		{"%YAML 1.2\n---\na: 1\n", 1, 1, `a line that begins with "%" is a YAML directive, which Kubernetes does not support: leave it out`},
	} {
		_, err := Decode([]byte(test.text))
		var faults Faults
		if !errors.As(err, &faults) || len(faults) == 0 {
			t.Errorf("%q is read", test.text)
			continue
		}
		if f := faults[0]; f.Code != CodeSyntax || f.Detail != test.says || f.Line != test.line || f.Column != test.column {
			t.Errorf("%q: %s %d:%d %q, want %d:%d %q", test.text, f.Code, f.Line, f.Column, f.Detail, test.line, test.column, test.says)
		}
	}
}
