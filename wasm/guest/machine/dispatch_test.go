package machine

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/podfate/podfate/policy/ops"
)

// TestDispatchAlwaysAnswers holds that whatever an operation does, a host gets a JSON object to
// read.
func TestDispatchAlwaysAnswers(t *testing.T) {
	var nilMap map[string]int
	cases := []struct {
		name   string
		call   func(uint32, []byte) ([]byte, bool)
		failed bool
		want   string
	}{
		{"answer passes through", func(uint32, []byte) ([]byte, bool) { return []byte(`{"a":1}`), false }, false, `{"a":1}`},
		{"error passes through", func(uint32, []byte) ([]byte, bool) { return []byte(`{"error":{}}`), true }, true, `{"error":{}}`},
		{"panic with a value", func(uint32, []byte) ([]byte, bool) { panic("broken invariant") }, true, errInternal},
		{"write to a nil map", func(uint32, []byte) ([]byte, bool) { nilMap["a"] = 1; return nil, false }, true, errInternal},
		{"index out of range", func(_ uint32, r []byte) ([]byte, bool) { return r[len(r)+1:], false }, true, errInternal},
		{"no answer", func(uint32, []byte) ([]byte, bool) { return nil, false }, true, errInternal},
		{"empty answer", func(uint32, []byte) ([]byte, bool) { return []byte{}, true }, true, errInternal},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			answer, failed := guarded(func() ([]byte, bool) { return c.call(3, []byte(`{}`)) })
			if string(answer) != c.want || failed != c.failed {
				t.Errorf("got %s failed=%v, want %s failed=%v", answer, failed, c.want, c.failed)
			}
			if !json.Valid(answer) {
				t.Errorf("not JSON: %s", answer)
			}
		})
	}
}

func TestDispatchRunsTheOperations(t *testing.T) {
	cases := []struct {
		name    string
		op      uint32
		request string
		code    string // of the error; empty for an answer
	}{
		{"describe", 1, `{}`, ""},
		{"operation that does not exist", 0, `{}`, "UNSUPPORTED_OP"},
		{"largest operation number", 1<<32 - 1, `{}`, "UNSUPPORTED_OP"},
		{"request over the limit", 1, strings.Repeat(" ", 1<<20) + "{}", "LIMIT_EXCEEDED"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			answer, failed := guarded(func() ([]byte, bool) { return ops.Call(c.op, []byte(c.request)) })
			var payload struct {
				Error struct {
					Code string
					Num  int
				}
			}
			if err := json.Unmarshal(answer, &payload); err != nil {
				t.Fatalf("%v: %s", err, answer)
			}
			if payload.Error.Code != c.code || failed != (c.code != "") {
				t.Errorf("got code %q failed=%v, want %q: %s", payload.Error.Code, failed, c.code, answer)
			}
		})
	}
}
