package words_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/podfate/podfate/policy/manifest"
	"github.com/podfate/podfate/policy/words"
)

// The browser's visible.js reads the same table.
func TestVisible(t *testing.T) {
	text, err := os.ReadFile("../../web/testdata/visible.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []struct{ Text, Shown string }
	if err := json.Unmarshal(text, &list); err != nil || len(list) == 0 {
		t.Fatalf("%v, %d rows", err, len(list))
	}
	for _, c := range list {
		if got := words.Visible(c.Text); got != c.Shown {
			t.Errorf("%q: %q, want %q", c.Text, got, c.Shown)
		}
	}
}

// TestPlain: what is wrong is told in plain words, once, on the page, by the command line and over
// HTTP (R-W6).
func TestPlain(t *testing.T) {
	for fault, want := range map[string]string{
		`{"path":"spec.a","detail":"must be a list, found 7","message":"json: cannot unmarshal","allowed":["b","c"]}`:           "spec.a: must be a list, found 7 (possible: b, c) (Kubernetes: json: cannot unmarshal)",
		`{"path":"spec.a","type":"Required value","detail":"it is missing","message":"spec.a: Required value","allowed":["b"]}`: "spec.a: Required value",
		`{"path":"spec.t.spec.a","type":"Required value","message":"spec.a: Required value: b"}`:                                "spec.t.spec.a: Required value: b",
		`{"path":"pods[0]","type":"x","message":"no name"}`:                                                                     "pods[0]: no name",
		`{"path":"a","detail":"unknown","allowed":["b"]}`:                                                                       "a: unknown (possible: b)",
		`{"path":"a","detail":"unknown","allowed":[` + strings.Repeat(`"",`, 30) + `""]}`:                                       "a: unknown",
		`{"path":"spec.x","detail":"unknown","message":"no such field","proposal":"kep-3322"}`:                                  "spec.x: unknown (Kubernetes: no such field; the proposal kep-3322 would allow it)",
		`{"path":"spec.x","type":"Invalid value","message":"spec.x: Invalid value","proposal":"always-pod"}`:                    "spec.x: Invalid value (the proposal always-pod would allow it)",
		`{"detail":"the request is not an object"}`:                                                                             "the request is not an object",
	} {
		v, err := manifest.Parse([]byte(fault))
		if err != nil {
			t.Fatal(err)
		}
		if got := words.Plain(v); got != want {
			t.Errorf("%s: %s, want %s", fault, got, want)
		}
	}
}

func TestSpan(t *testing.T) {
	for ms, want := range map[int64]string{
		-1500: "-1.5s", 0: "0s", 1: "0.001s", 1500: "1.5s", 60_000: "1m", 90_000: "1m30s", 3_600_000: "1h", 3_601_000: "1h1s", 604_800_000: "168h",
		8_766_000 * 3_600_000: "8766000h",
	} {
		if got := words.Span(ms); got != want {
			t.Errorf("%d ms: %s, want %s", ms, got, want)
		}
	}
}
