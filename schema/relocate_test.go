package schema_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/podfate/podfate/policy/ops"
	"github.com/podfate/podfate/schema"
)

// TestFaultsStandInTheOrderOfTheText: the converted JSON has its names in another order than the
// text.
func TestFaultsStandInTheOrderOfTheText(t *testing.T) {
	const scenario = "apiVersion: podfate.dev/v1\nkind: Scenario\n"
	for _, test := range []struct {
		operation uint32
		texts     []string
		want      string
	}{
		{3, []string{"Kind: Pod\nApiVersion: v1\n"}, "manifest 1 exits 1 Kind 1 ApiVersion 2"},
		{4, []string{scenario + "until: x\nruns: {main: [{for: 1, exitCode: a}]}\nevents: [{type: X, at: y}]\nmanifest:\n  kind: Pod\n  apiVersion: v1\n  spec: {z: 1, a: 2}\n"},
			"until 3 runs.main 4 runs.main[0].for 4 runs.main[0].exitCode 4 events[0].type 5 events[0].at 5 metadata.name 7 spec.containers 9 spec.z 9 spec.a 9"},
		// What decoding refuses comes in the order of the text, what the API server checks in its
		// own.
		{2, []string{"apiVersion: batch/v1\nkind: Job\nspec:\n  restartPolicy: Never\n  backOffLimit: 3\n  completions: -1\n  parallelism: -1\n  template:\n    spec:\n      restartPolicy: Never\n      containers: [{name: a, image: i}]\nmetadata: {name: j}\n"},
			"spec.restartPolicy 4 spec.backOffLimit 5 spec.parallelism 7 spec.completions 6"},
		// Lines of one text say nothing about another.
		{4, []string{"apiVersion: v1\nkind: Pod\nspec:\n  b: 1\n  a: 1\n", scenario + "until: x\nfoo: 1\n"}, "until 3 foo 4 metadata.name 1 spec.containers 3 spec.b 4 spec.a 5"},
	} {
		var docs []*schema.Document
		for i, text := range test.texts {
			more, err := schema.DecodeNamed(string(rune('a'+i)), []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			docs = append(docs, more...)
		}
		r, err := schema.NewRequest(docs, schema.Overrides{})
		if err != nil {
			var faults schema.Faults
			errors.As(err, &faults)
			t.Errorf("%q: %v", test.texts, faults)
			continue
		}
		answer, _ := ops.Call(test.operation, r.JSON())
		type fault struct {
			Path string
			Line json.Number
		}
		var got struct {
			Faults []fault
			Error  struct{ Faults []fault }
		}
		if err := json.Unmarshal(r.Relocate(answer), &got); err != nil {
			t.Fatal(err)
		}
		var words []string
		for _, f := range append(got.Faults, got.Error.Faults...) {
			words = append(words, f.Path, f.Line.String())
		}
		if s := strings.Join(words, " "); s != test.want {
			t.Errorf("%q: %s, want %s", test.texts, s, test.want)
		}
	}
}

// TestPlacesInWords: the one sentence of the core with places in it has those of the text, wherever
// its JSON is (R-W5).
func TestPlacesInWords(t *testing.T) {
	const twice = "{\"apiVersion\": \"v1\", \"kind\": \"Pod\",\n \"spec\": {\"restartPolicy\": \"Never\",\n  \"restartPolicy\": \"Always\", \"containers\": [{\"name\": \"main\", \"image\": \"i\"}]}, \"metadata\": {\"name\": \"p\"}}\n"
	for places, text := range map[string]string{
		"line 3, column 3, first in line 2, column 11":  twice,
		"line 4, column 3, first in line 3, column 11":  "{\"kind\": \"Scenario\"}\n" + twice,
		"line 10, column 3, first in line 9, column 11": "{\n\n\n\n\n\"kind\": \"Scenario\"}\n\n" + twice,
		"line 5, column 3, first in line 4, column 11":  "{\"apiVersion\": \"v1\", \"kind\": \"List\",\n\"items\": [\n" + strings.TrimSpace(twice) + "]}",
		"line 1, column 73, first in line 1, column 46": strings.ReplaceAll(twice, "\n", ""),
	} {
		for _, mark := range []string{"", "\ufeff"} {
			r, err := schema.Read([]byte(mark+text), schema.Overrides{Version: "1.36"})
			if err != nil {
				t.Fatal(err)
			}
			raw, _ := ops.Call(2, r.JSON())
			var answer struct{ Faults []struct{ Detail string } }
			if err := json.Unmarshal(r.Relocate(raw), &answer); err != nil || len(answer.Faults) != 1 {
				t.Fatalf("%v in %s", err, raw)
			}
			second, first, _ := strings.Cut(places, ", first in ")
			if want := "stands in " + second + " for the second time, first in " + first; answer.Faults[0].Detail != want {
				t.Errorf("%q: %s, want %s", text, answer.Faults[0].Detail, want)
			}
		}
	}
}
