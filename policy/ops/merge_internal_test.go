package ops

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/podfate/podfate/policy/manifest"
)

// The examples of RFC 7396, appendix A, and names that need escapes.
func TestMerge(t *testing.T) {
	for _, c := range []struct{ target, patch, want string }{
		{`{"a":"b"}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"b"}`, `{"b":"c"}`, `{"a":"b","b":"c"}`},
		{`{"a":"b"}`, `{"a":null}`, `{}`},
		{`{"a":"b","b":"c"}`, `{"a":null}`, `{"b":"c"}`},
		{`{"a":["b"]}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"c"}`, `{"a":["b"]}`, `{"a":["b"]}`},
		{`{"a":{"b":"c"}}`, `{"a":{"b":"d","c":null}}`, `{"a":{"b":"d"}}`},
		{`{"a":[{"b":"c"}]}`, `{"a":[1]}`, `{"a":[1]}`},
		{`["a","b"]`, `["c","d"]`, `["c","d"]`},
		{`{"a":"b"}`, `["c"]`, `["c"]`},
		{`{"a":"foo"}`, `null`, `null`},
		{`{"a":"foo"}`, `"bar"`, `"bar"`},
		{`{"e":null}`, `{"a":1}`, `{"e":null,"a":1}`},
		{`[1,2]`, `{"a":"b","c":null}`, `{"a":"b"}`},
		{`{}`, `{"a":{"bb":{"ccc":null}}}`, `{"a":{"bb":{}}}`},
		{`{"\u0061" : { "x" : 1 } , "a\"b":2}`, `{"a":{"y":2},"a\u0022b":null}`, `{"a":{"x":1,"y":2}}`},
	} {
		target, err := manifest.Parse([]byte(c.target))
		if err != nil {
			t.Fatal(err)
		}
		patch, err := manifest.Parse([]byte(c.patch))
		if err != nil {
			t.Fatal(err)
		}
		var w manifest.Writer
		merge(&w, target, patch)
		var got, want any
		if err := json.Unmarshal(w.Bytes(), &got); err != nil {
			t.Errorf("%s: %v", w.Bytes(), err)
		}
		if err := json.Unmarshal([]byte(c.want), &want); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s with %s: %s, want %s", c.target, c.patch, w.Bytes(), c.want)
		}
	}
}
