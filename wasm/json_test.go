package wasm

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/podfate/podfate/policy/ops"
	"github.com/podfate/podfate/policy/policytest"
)

var answers = []string{
	`{}`, ` {}`, `{} `, "{}\n\t\r", `{}{}`, `{},`, `{`, `}`, `[]`, `1`, `null`, ``, `{]`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{,"a":1}`, `{"a":1 "b":2}`, `{"a":1,"b":2}`,
	`{ "a" : 1 , "b" : [ 1 , 2 ] }`, `{"a":[]}`, `{"a":[1,]}`, `{"a":[,1]}`, `{"a":[1}`, `{"a":[1]]`, `{"a":{"b":{}}}`, `{"a":[{},[],{"":""}]}`, `{a:1}`, `{"a":b}`, `{1:1}`,
	`{"a":true}`, `{"a":tru}`, `{"a":truee}`, `{"a":false}`, `{"a":null}`, `{"a":nul`, `{"a":"`, `{"a":"\"}`, `{"a":"\""}`, `{"a":"\\"}`, `{"a":"\/\b\f\n\r\t"}`, `{"a":"\x"}`,
	`{"a":"\u00e9"}`, `{"a":"\u00e"}`, `{"a":"\u00eg"}`, `{"a":"\uABCD"}`, `{"a":"\`, `{"a":"\u`, "{\"a\":\"\n\"}", "{\"a\":\"\x7f\"}", "{\"a\":\"\x00\"}", "{\"a\":\"é\"}", "{\"a\v\":1}", "{\v}",
	`{"a":0}`, `{"a":-0}`, `{"a":-}`, `{"a":01}`, `{"a":1.5e+10}`, `{"a":1.}`, `{"a":.5}`, `{"a":1e}`, `{"a":1e+}`, `{"a":1E-5}`, `{"a":--1}`, `{"a":+1}`, `{"a":1x}`, `{"a":1`, `{"a":1e5`,
}

// checkObject compares validObject with encoding/json.
func checkObject(t *testing.T, b []byte) {
	t.Helper()
	if deeper(b) {
		return
	}
	if got, want := validObject(b), len(b) > 0 && b[0] == '{' && json.Valid(b); got != want {
		t.Fatalf("%q: %v, encoding/json says %v", b, got, want)
	}
}

// deeper reports whether b may be nested more than validObject follows.
func deeper(b []byte) bool {
	return strings.Count(string(b), "{")+strings.Count(string(b), "[") > maxAnswerDepth
}

func TestValidObject(t *testing.T) {
	for _, text := range answers {
		checkObject(t, []byte(text))
	}
	cases, err := policytest.Cases()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range policytest.Sample(t, 5, cases[:min(20, len(cases))]) {
		answer, _ := ops.Call(c.Operation.Number, c.Request)
		if !validObject(answer) {
			t.Fatalf("%s: the answer is no object: %s", c.Name, answer)
		}
		for i := range answer[:min(400, len(answer))] { // each byte missing, each byte another one, nothing after it
			without := append(append([]byte{}, answer[:i]...), answer[i+1:]...)
			if got := validObject(without); got != json.Valid(without) && without[0] == '{' {
				t.Fatalf("%q: %v", without, got)
			}
			for _, other := range []byte{'"', '\\', '{', ']', ',', '0', ' ', 1} {
				changed := append([]byte{}, answer...)
				changed[i] = other
				if got := validObject(changed); got != json.Valid(changed) && changed[0] == '{' {
					t.Fatalf("%q: %v", changed, got)
				}
			}
			if validObject(answer[:i]) {
				t.Fatalf("%q is accepted", answer[:i])
			}
		}
	}
	deep := strings.Repeat(`{"a":`, maxAnswerDepth) + "1" + strings.Repeat("}", maxAnswerDepth)
	if !validObject([]byte(deep)) || validObject([]byte(`{"a":`+deep+`}`)) {
		t.Errorf("not exactly %d levels are accepted", maxAnswerDepth)
	}
}

func FuzzValidObject(f *testing.F) {
	for _, text := range answers {
		f.Add([]byte(text))
	}
	f.Fuzz(checkObject)
}
