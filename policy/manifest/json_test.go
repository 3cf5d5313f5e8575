package manifest_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/manifest"
)

const pod = `{
  "apiVersion": "v1", "kind": "Pod",
  "metadata": {"name": "trainer", "labels": {"app.kubernetes.io/name": "trainer", "tier": "b"},
    "annotations": {"note": "caf\u00e9 \"x\" \ud83d\ude00 <b>"}},
  "spec": {
    "restartPolicy": "Never",
    "terminationGracePeriodSeconds": 30,
    "containers": [
      {"name": "main", "image": "registry.example/trainer:1.2.3", "command": ["python", "-m", "train", "--epochs=10"],
        "env": [{"name": "A", "value": "1"}, {"name": "B", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}],
        "resources": {"limits": {"cpu": "2", "memory": "4Gi"}, "requests": {"cpu": "500m", "memory": "1Gi"}},
        "restartPolicy": "Never",
        "restartPolicyRules": [
          {"action": "Restart", "exitCodes": {"operator": "In", "values": [42, 43, 44]}},
          {"action": "RestartAllContainers", "exitCodes": {"operator": "NotIn", "values": [0, 1, 2, 137]}}]},
      {"name": "side", "image": "registry.example/side:1", "tty": false, "stdin": true, "lifecycle": null}
    ],
    "volumes": [{"name": "data", "emptyDir": {}}]
  }
}`

// texts are JSON and what is nearly JSON, by the classes that parsers get wrong.
var texts = []string{
	// values alone
	``, ` `, `null`, `true`, `false`, `0`, `""`, `[]`, `{}`, ` [] `, "\t\r\n{}\n", `nul`, `nulll`, `True`, `NULL`, `tru`, `falsE`, `n`, `undefined`, `NaN`, `Infinity`, `-Infinity`, `-NaN`,
	// structure
	`[`, `]`, `{`, `}`, `[[]`, `[]]`, `{}}`, `[1,]`, `[,1]`, `[,]`, `[1,,2]`, `[1 2]`, `[1;2]`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{,"a":1}`, `{"a":1 "b":2}`, `{"a":1,,"b":2}`, `{"a",1}`, `{"a"::1}`, `{a:1}`, `{'a':1}`, `{1:1}`, `{null:1}`, `{"a":1]`, `[1}`, `[1:2]`, `{"a":{"b":[{}]}}`, `[[[[]]],{}]`, `{} {}`, `[] 1`, `1 2`, `1,`, `,1`, `:`, `,`, `"a" "b"`, `[][]`, `{"a":b}`, `[a]`, `[*]`, `*`, `<>`, `//x`, `[1]//x`, `/**/[1]`, `[1]/*x*/`, `#x`, `(1)`, `[1`, `[1,`, `["`, `["a`, `["a"`, `{"`, `{"a`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `{"":1}`, `{"a":1,"a":2}`, `{"a":1,"\u0061":2}`, "[1\v]", "[\f]", "[\u00a0]", "[\u2060]", "[\x00]", "\x00", "{}\x00", "\u2028", "\ufeff{}",
	// numbers
	`-0`, `-`, `+1`, `--1`, `-1`, `01`, `-01`, `00`, `0x1`, `1.`, `.1`, `-.1`, `1.0`, `1.e1`, `0.1`, `0.`, `1e1`, `1E1`, `1e+1`, `1e-1`, `1e`, `1e+`, `1e-`, `1ee1`, `1e1.1`, `1e1e1`, `0e1`, `0e+1`, `-0e-0`, `0.0e0`, `1_000`, `1,000`, `1a`, `1 a`, `-a`, `- 1`, `1.2.3`, `0.1.2`, `1-1`, `1+1`, `123456789012345678901234567890`, `0.3e`, `9.e+`, `2.e3`, `1e309`, `-1e309`, `1e-400`, "１", `0b1`, `0o1`, `1f`, `1L`, `42.0`, `4.2e1`, `9223372036854775807`, `9223372036854775808`, `-9223372036854775808`, `-9223372036854775809`,
	// strings
	`"`, `"\`, `"\"`, `"\\"`, `"\\\"`, `"a\"b"`, `"\/"`, `"\b\f\n\r\t"`, `"\a"`, `"\v"`, `"\0"`, `"\x00"`, `"\'"`, `"\ "`, `"\u"`, `"\u0"`, `"\u00"`, `"\u000"`, `"\u0000"`, `"\u000g"`, `"\uAbCd"`, `"\U0041"`, `"\u 041"`, `"\ud83d\ude00"`, `"\ud83d"`, `"\ude00"`, `"\ud83d\ud83d\ude00"`, `"\ude00\ud83d"`, `"\ud83dx"`, `"\ud83d\n"`, `"\ud83d\u0041"`, `"\ud83d\u"`, `"\uDBFF\uDFFF"`, `"\uD800\uDC00"`, "\"\n\"", "\"\t\"", "\"\x1f\"", "\"\x7f\"", "\"\u0080\"", "\"\u2028\u2029\"", "\"\U0001F600\"", "\"\uffff\"", "\"\ufffd\"", `'a'`, `"a`, `a"`, "\"\x00\"", `"a""b"`, `["a"`, "`a`", `"\u005C"`, `"\u0022"`, `"\\u0061"`,
	// the example
	pod, strings.ReplaceAll(pod, "\n", "\r\n"), pod[:len(pod)-1], pod + "}", pod[1:],
}

// check compares Parse with encoding/json on one text: both accept it or neither does, except for
// the named limits, and the values are equal. A Parser that has read another text says the same.
func check(t *testing.T, src []byte) manifest.Value {
	t.Helper()
	v, err := manifest.Parse(src)
	var used manifest.Parser
	for _, before := range []string{pod, `[[[[{"a":1,"a":"\n","b":{"a":2}}]]]]`, `{"a":[{"a`} {
		used.Parse([]byte(before))
	}
	switch again, errAgain := used.Parse(src); {
	case !reflect.DeepEqual(err, errAgain):
		t.Fatalf("%q: %v, from a used parser %v", src, err, errAgain)
	case err == nil && (!reflect.DeepEqual(decode(v), decode(again)) || !reflect.DeepEqual(v.Duplicates(manifest.Value{}), again.Duplicates(manifest.Value{}))):
		t.Fatalf("%q: another value from a used parser", src)
	}
	if n := repeats(v); n <= policy.MaxFaults && len(v.Duplicates(manifest.Value{})) != n {
		t.Fatalf("%q: %d repeated names, found %d", src, n, len(v.Duplicates(manifest.Value{})))
	}
	plain := bytes.TrimPrefix(src, []byte("\ufeff")) // which encoding/json takes for a syntax error
	if err != nil {
		if v.Exists() {
			t.Fatalf("%q: an error and a value", src)
		}
		if err.Offset < 0 || err.Offset > max(len(src), policy.MaxRequestBytes) {
			t.Fatalf("%q: offset %d", src, err.Offset)
		}
		switch err.Code {
		case policy.BadJSON:
			if json.Valid(plain) {
				t.Fatalf("%q is valid, but: %v", src, err)
			}
		case policy.BadUTF8:
			if utf8.Valid(src) || !utf8.Valid(src[:err.Offset]) {
				t.Fatalf("%q: %v", src, err)
			}
		case policy.LimitExceeded:
			if err.Limit == "" {
				t.Fatalf("%q: limit without a name", src)
			}
		default:
			t.Fatalf("%q: code %s", src, err.Code)
		}
		return v
	}
	if !json.Valid(plain) {
		t.Fatalf("%q is accepted and not valid", src)
	}
	var want any
	decoder := json.NewDecoder(bytes.NewReader(plain))
	decoder.UseNumber()
	if err := decoder.Decode(&want); err != nil {
		t.Fatalf("%q: %v", src, err)
	}
	if got := decode(v); !reflect.DeepEqual(got, want) {
		t.Fatalf("%q: got %#v, want %#v", src, got, want)
	}
	return v
}

// repeats counts the members below v whose name occurred before.
func repeats(v manifest.Value) (n int) {
	seen := map[string]bool{}
	for m := v.First(); m.Exists(); m = m.Next() {
		if v.Kind() == manifest.Object {
			if seen[m.Key()] {
				n++
			}
			seen[m.Key()] = true
		}
		n += repeats(m)
	}
	return n
}

// decode turns a Value into what encoding/json makes of it; of members of the same name the last
// one counts there.
func decode(v manifest.Value) any {
	switch v.Kind() {
	case manifest.Null:
		return nil
	case manifest.Bool:
		return v.Bool()
	case manifest.Number:
		return json.Number(v.Raw())
	case manifest.String:
		return v.Str()
	case manifest.Array:
		list := []any{}
		for e := v.First(); e.Exists(); e = e.Next() {
			list = append(list, decode(e))
		}
		if len(list) != v.Len() {
			panic("Len differs from the elements")
		}
		return list
	case manifest.Object:
		object := map[string]any{}
		for m := v.First(); m.Exists(); m = m.Next() {
			object[m.Key()] = decode(m)
		}
		return object
	}
	panic("kind " + v.Kind().String())
}

// checkPlaces checks offsets, paths and texts of everything in v.
func checkPlaces(t *testing.T, root manifest.Value) {
	t.Helper()
	repeated := map[string]bool{}
	for _, d := range root.Duplicates(manifest.Value{}) {
		repeated[d.Path] = true
	}
	var walk func(v manifest.Value, below bool)
	walk = func(v manifest.Value, below bool) {
		path := v.Path(root)
		below = below || repeated[path] // a path below a repeated name leads to the first of that name
		if found := root.Locate(path); found != v && !below {
			t.Fatalf("path %q of %s leads to %s", path, v.Raw(), found.Raw())
		}
		again, err := manifest.Parse(v.Raw())
		if err != nil || again.End() != len(v.Raw()) || !reflect.DeepEqual(decode(again), decode(v)) {
			t.Fatalf("raw text %q does not read as before: %v", v.Raw(), err)
		}
		for child := v.First(); child.Exists(); child = child.Next() {
			if child.KeyOffset() < v.Offset() || child.KeyOffset() > child.Offset() || child.End() > v.End() {
				t.Fatalf("%q lies outside %q", child.Raw(), v.Raw())
			}
			walk(child, below)
		}
	}
	walk(root, false)
}

func TestParseAgreesWithEncodingJSON(t *testing.T) {
	for _, text := range texts {
		for _, src := range []string{text, "[" + text + "]", `{"a":` + text + `,"b":[` + text + `]}`, " " + text + "\n"} {
			if v := check(t, []byte(src)); v.Exists() && len(v.Duplicates(manifest.Value{})) <= policy.MaxFaults {
				checkPlaces(t, v)
			}
		}
	}
}

func TestParseAgreesOnEveryPrefixAndByte(t *testing.T) {
	for i := range pod {
		if testing.Short() && i%5 > 0 {
			continue
		}
		check(t, []byte(pod[:i]))
		for _, c := range []byte("\x00\x1f\"\\{}[],:0-.eE+tfn \x80\xff") {
			src := []byte(pod)
			src[i] = c
			check(t, src)
		}
	}
}

func TestParseErrors(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	tests := []struct {
		name, src string
		code      policy.ErrorCode
		offset    int
		limit     string
	}{
		{"empty text", "", policy.BadJSON, 0, ""},
		{"text ends in a string", `{"a":"b`, policy.BadJSON, 7, ""},
		{"text ends after a comma", `[1,`, policy.BadJSON, 3, ""},
		{"second value", `{} {}`, policy.BadJSON, 3, ""},
		{"byte order mark alone", "\ufeff", policy.BadJSON, 3, ""},
		{"second byte order mark", "\ufeff\ufeff{}", policy.BadJSON, 3, ""},
		{"byte order mark after a space", " \ufeff{}", policy.BadJSON, 1, ""},
		{"byte order mark in the middle", "{\ufeff}", policy.BadJSON, 1, ""},
		{"byte order mark at the end", "{}\ufeff", policy.BadJSON, 2, ""},
		{"half a byte order mark", "\xef\xbb{}", policy.BadUTF8, 0, ""},
		{"byte order mark of UTF-16", "\xff\xfe{\x00}\x00", policy.BadUTF8, 0, ""},
		{"comma before the end", `{"a":1,}`, policy.BadJSON, 7, ""},
		{"wrong end", `[1}`, policy.BadJSON, 2, ""},
		{"leading zero", `[012]`, policy.BadJSON, 2, ""},
		{"control character", "[\"a\nb\"]", policy.BadJSON, 3, ""},
		{"unknown escape", `["\x"]`, policy.BadJSON, 3, ""},
		{"short escape", `["\u12"]`, policy.BadJSON, 6, ""},
		{"misspelt word", `[nul]`, policy.BadJSON, 4, ""},
		{"invalid UTF-8 in a string", "[\"caf\xe9\"]", policy.BadUTF8, 5, ""},
		{"invalid UTF-8 after a syntax error", "[,\xff", policy.BadUTF8, 2, ""},
		{"surrogate in UTF-8", "\"\xed\xa0\x80\"", policy.BadUTF8, 1, ""},
		{"overlong UTF-8", "\"\xc0\xaf\"", policy.BadUTF8, 1, ""},
		{"64 levels", deep(64), "", 0, ""},
		{"65 levels", deep(65), policy.LimitExceeded, 64, manifest.LimitDepth},
		{"half a million levels", strings.Repeat("[", 500_000), policy.LimitExceeded, 64, manifest.LimitDepth},
		{"65 levels of objects", strings.Repeat(`{"a":`, 64) + "{}" + strings.Repeat("}", 64), policy.LimitExceeded, 320, manifest.LimitDepth},
		{"number of 64 bytes", strings.Repeat("1", 64), "", 0, ""},
		{"number of 65 bytes", strings.Repeat("1", 65), policy.LimitExceeded, 0, manifest.LimitNumberBytes},
		{"exponent 400", "[1e400]", "", 0, ""},
		{"exponent 401", "[1e401]", policy.LimitExceeded, 1, manifest.LimitNumberExponent},
		{"exponent -401", "[1e-401]", policy.LimitExceeded, 1, manifest.LimitNumberExponent},
		{"exponent with zeros in front", "1e0000000400", "", 0, ""},
		{"exponent of many digits", "1e99999999999999999999", policy.LimitExceeded, 0, manifest.LimitNumberExponent},
		{"1 MiB", `"` + strings.Repeat("a", policy.MaxRequestBytes-2) + `"`, "", 0, ""},
		{"1 MiB and a byte", `"` + strings.Repeat("a", policy.MaxRequestBytes-1) + `"`, policy.LimitExceeded, policy.MaxRequestBytes, manifest.LimitRequestBytes},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := manifest.Parse([]byte(test.src))
			if err == nil {
				if test.code != "" {
					t.Fatal("accepted")
				}
				return
			}
			if err.Code != test.code || err.Offset != test.offset || err.Limit != test.limit {
				t.Errorf("got %s at %d, limit %q (%s); want %s at %d, limit %q", err.Code, err.Offset, err.Limit, err.Message, test.code, test.offset, test.limit)
			}
		})
	}
}

func TestInt64(t *testing.T) {
	tests := []struct {
		lexeme string
		want   int64
		ok     bool
	}{
		{"0", 0, true}, {"-0", 0, true}, {"42", 42, true}, {"-7", -7, true},
		{"9223372036854775807", 1<<63 - 1, true}, {"9223372036854775808", 0, false},
		{"-9223372036854775808", -1 << 63, true}, {"-9223372036854775809", 0, false},
		{"18446744073709551616", 0, false}, {"99999999999999999999999", 0, false},
		{"42.0", 0, false}, {"4.2e1", 0, false}, {"1e2", 0, false}, {`"42"`, 0, false}, {"null", 0, false}, {"true", 0, false},
	}
	for _, test := range tests {
		v, err := manifest.Parse([]byte(test.lexeme))
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := v.Int64(); got != test.want || ok != test.ok {
			t.Errorf("%s: got %d %t, want %d %t", test.lexeme, got, ok, test.want, test.ok)
		}
	}
}

func parse(t testing.TB, src string) manifest.Value {
	t.Helper()
	v, err := manifest.Parse([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestAbsentValueAnswersEmpty(t *testing.T) {
	var v manifest.Value
	if v.Exists() || v.Kind() != manifest.Invalid || v.Len() != 0 || v.First().Exists() || v.Next().Exists() || v.Get("a").Exists() ||
		v.Key() != "" || v.KeyOffset() != 0 || v.Str() != "" || v.Bool() || v.Raw() != nil || v.Path(v) != "" || v.Locate("a.b").Exists() ||
		v.Duplicates(manifest.Value{}) != nil || v.Kind().String() != "nothing" {
		t.Error("the zero Value is not empty")
	}
	if got := parse(t, `{"a":[1]}`).Get("a").Get("b").Get("c").First(); got.Exists() {
		t.Error("a member of nothing exists")
	}
}

func TestPathAndLocate(t *testing.T) {
	root := parse(t, pod)
	for path, want := range map[string]string{
		``: pod,
		`spec.containers[0].restartPolicyRules[1].exitCodes.values[3]`: `137`,
		`metadata.labels["app.kubernetes.io/name"]`:                    `"trainer"`,
		`metadata.labels.tier`:                                         `"b"`,
		`spec.containers[1].lifecycle`:                                 `null`,
	} {
		v := root.Locate(path)
		if string(v.Raw()) != want || v.Path(root) != path {
			t.Errorf("%s: leads to %s with path %s", path, v.Raw(), v.Path(root))
		}
	}
	// What is missing leads to the deepest value above it.
	for path, want := range map[string]string{
		`spec.containers[2].name`:                 `spec.containers`,
		`spec.containers[0].restartPolicyRules.x`: `spec.containers[0].restartPolicyRules`,
		`spec.containers[99999999999999999999]`:   `spec.containers`,
		`spec.containers[-1]`:                     `spec.containers`,
		`spec.containers[x]`:                      `spec.containers`,
		`spec.containers[`:                        `spec.containers`,
		`spec.volumes[0].emptyDir.medium.x.y`:     `spec.volumes[0].emptyDir`,
		`spec["`:                                  `spec`,
		`spec["a`:                                 `spec`,
		`spec["a"`:                                `spec`,
		`spec..containers`:                        `spec`,
		`spec.`:                                   `spec`,
		`.`:                                       ``,
		`nothing`:                                 ``,
		`metadata[0]`:                             `metadata`,
		`kind.x`:                                  `kind`,
	} {
		if got := root.Locate(path).Path(root); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
	if got := root.Locate(`metadata.annotations.note`).Str(); got != "café \"x\" \U0001F600 <b>" {
		t.Errorf("note %q", got)
	}
	// Below another value than the root, and not below it at all.
	spec := root.Get("spec")
	main := root.Locate("spec.containers[0]")
	if main.Path(spec) != "containers[0]" || spec.Path(main) != "" || main.Path(root.Get("metadata")) != "" || main.Path(parse(t, pod)) != "" {
		t.Error("path from another root")
	}
	odd := parse(t, `{"":1,"a b":2,"0":3,"a\"]":4,"é":5,"a-b":{"<":[6]},"_x9":7}`)
	for path, want := range map[string]string{`[""]`: "1", `["a b"]`: "2", `["0"]`: "3", `["a\"]"]`: "4", `["é"]`: "5", `["a-b"]["<"][0]`: "6", `a-b.<[0]`: "6", `_x9`: "7"} {
		if got := odd.Locate(path); string(got.Raw()) != want {
			t.Errorf("%s leads to %s", path, got.Raw())
		}
	}
}

func TestDuplicates(t *testing.T) {
	many := func(n int) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(`,"k` + strconv.Itoa(i) + `":0`)
		}
		return b.String()
	}
	tests := []struct {
		name, src string
		want      string // paths
	}{
		{"none", pod, ""},
		{"letter case matters", `{"action":1,"Action":2}`, ""},
		{"escapes do not", `{"a":1,"\u0061":2}`, "a"},
		{"three times", `{"a":1,"a":2,"a":3}`, "a a"},
		{"document order", `{"a":{"x":1,"x":2},"b":[{"y":1,"y":{"z":1,"z":1}}],"a":{"w":1,"w":2}}`, "a.x b[0].y b[0].y.z a a.w"},
		{"of many", `{"a":1` + many(40) + `,"k7":{"q":1,"q":2},"a":2,"k7":3}`, "k7 k7.q a k7"},
		{"same name in other objects", `[{"a":1},{"a":{"a":{"a":1}}}]`, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var paths []string
			for _, d := range parse(t, test.src).Duplicates(manifest.Value{}) {
				paths = append(paths, d.Path)
				if d.First >= d.Second || test.src[d.First] != '"' || test.src[d.Second] != '"' {
					t.Errorf("%s: places %d and %d", d.Path, d.First, d.Second)
				}
			}
			if got := strings.Join(paths, " "); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
	if _, err := manifest.Parse([]byte("{\"x\":1" + strings.Repeat(`,"x":1`, policy.MaxMembers) + "}")); err == nil || err.Limit != manifest.LimitMembers {
		t.Errorf("one name too many: %v", err)
	}
	if got := len(parse(t, "{\"x\":1"+strings.Repeat(`,"x":1`, policy.MaxMembers-1)+"}").Duplicates(manifest.Value{})); got != policy.MaxFaults+1 {
		t.Errorf("%d duplicates, the list should end before", got)
	}
}

func TestPosition(t *testing.T) {
	src := []byte("{\n  \"é\u2028😀\": 1,\r\n\n\"b\":2}")
	tests := []struct{ offset, line, column int }{
		{0, 1, 1}, {1, 1, 2}, {2, 2, 1}, {4, 2, 3}, {5, 2, 4}, {7, 2, 5}, {10, 2, 6}, {14, 2, 7}, {15, 2, 8},
		{len(src), 4, 7}, {len(src) + 9, 4, 7}, {-1, 1, 1},
	}
	for _, test := range tests {
		if line, column := manifest.Position(src, test.offset); line != test.line || column != test.column {
			t.Errorf("offset %d: got %d:%d, want %d:%d", test.offset, line, column, test.line, test.column)
		}
	}
}

// TestByteOrderMark: what PowerShell and some editors write before a text is skipped, and
// places count without it, except that an offset is one in the bytes that were given.
func TestByteOrderMark(t *testing.T) {
	src := []byte("\ufeff{\"a\": é\n}")
	if _, err := manifest.Parse(src); err == nil || err.Offset != 9 {
		t.Errorf("the first fault is at %v, want offset 9", err)
	}
	src = []byte("\ufeff {\"a\": [1],\n \"b\": 2}")
	v, err := manifest.Parse(src)
	if err != nil {
		t.Fatal(err)
	}
	if n, _ := v.Get("a").First().Int64(); n != 1 || v.Offset() != 4 {
		t.Errorf("read as %s at %d", v.Raw(), v.Offset())
	}
	for _, test := range []struct{ offset, line, column int }{{0, 1, 1}, {2, 1, 1}, {3, 1, 1}, {4, 1, 2}, {5, 1, 3}, {len(src) - 1, 2, 8}} {
		if line, column := manifest.Position(src, test.offset); line != test.line || column != test.column {
			t.Errorf("offset %d: got %d:%d, want %d:%d", test.offset, line, column, test.line, test.column)
		}
	}
}

func TestParseAllocates(t *testing.T) {
	src := []byte(pod)
	got := testing.AllocsPerRun(100, func() {
		v, err := manifest.Parse(src)
		if err != nil || v.Locate("spec.containers[0].name").Str() != "main" {
			t.Fatal("bad parse")
		}
	})
	if got > 4 { // the list, the text, the document; one to spare
		t.Errorf("%v allocations", got)
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range texts {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		if len(src) > 4096 {
			return
		}
		if v := check(t, src); v.Exists() && len(v.Duplicates(manifest.Value{})) <= policy.MaxFaults {
			checkPlaces(t, v)
		}
	})
}

func FuzzPosition(f *testing.F) {
	f.Add([]byte("a\n\u00e9b"), 3)
	f.Fuzz(func(t *testing.T, src []byte, offset int) {
		line, column := manifest.Position(src, offset)
		if line < 1 || column < 1 || line > len(src)+1 || column > len(src)+1 {
			t.Fatalf("%d:%d", line, column)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	src := []byte(pod)
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := manifest.Parse(src); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncodingJSON(b *testing.B) {
	src := []byte(pod)
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		var v any
		if err := json.Unmarshal(src, &v); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkGet(b *testing.B) {
	v := parse(b, pod)
	b.ReportAllocs()
	for b.Loop() {
		if v.Get("spec").Get("containers").First().Get("restartPolicyRules").Len() != 2 {
			b.Fatal("wrong")
		}
	}
}

// BenchmarkDuplicates shows that the cost of an object grows about with its size.
func BenchmarkDuplicates(b *testing.B) {
	for _, n := range []int{1000, 10_000, 80_000} {
		var s strings.Builder
		s.WriteString(`{"x":1`)
		for i := range n {
			s.WriteString(`,"key` + strconv.Itoa(i%(n-1)) + `":1`)
		}
		s.WriteString("}")
		v := parse(b, s.String())
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			for b.Loop() {
				if len(v.Duplicates(manifest.Value{})) != 1 {
					b.Fatal("wrong")
				}
			}
		})
	}
}
