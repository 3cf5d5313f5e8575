package policytest

import (
	"flag"
	"os"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/podfate/podfate/policy/ops"
)

var update = flag.Bool("update", false, "write what the native core answers into the scenarios")

// TestScenarios is the native door, and the only one that compares with the reviewed words.
func TestScenarios(t *testing.T) {
	cases, err := Cases()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			raw, _ := ops.Call(c.Operation.Number, c.Request)
			got, err := Summary(raw)
			if err != nil {
				t.Fatalf("%v: %s", err, raw)
			}
			if got == c.Want {
				return
			}
			if *update {
				rewrite(t, c, got)
				return
			}
			t.Errorf("request: %s\ngot:\n%s\nwant:\n%s", c.Request, got, c.Want)
		})
	}
	t.Logf("%d requests", len(cases))
}

// rewrite puts got into the scenario's file.
func rewrite(t *testing.T, c Case, got string) {
	text, err := os.ReadFile(c.file)
	if err != nil {
		t.Fatal(err)
	}
	archive := txtar.Parse(text)
	name := c.Operation.Name + ".want"
	for i := range archive.Files {
		if archive.Files[i].Name == name {
			archive.Files[i].Data = []byte(got)
			name = ""
		}
	}
	if name != "" {
		archive.Files = append(archive.Files, txtar.File{Name: name, Data: []byte(got)})
	}
	if err := os.WriteFile(c.file, txtar.Format(archive), 0o644); err != nil {
		t.Fatal(err)
	}
}
