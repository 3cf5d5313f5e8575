package server

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/podfate/podfate/policy/ops"
)

// hostileBodies are bodies that were made to cost much, to break something, or to come back too
// large.
func hostileBodies() map[string]string {
	manifest := func(containers string) string {
		return `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[` + containers + `]}}`
	}
	request := func(manifest string) string { return `{"manifest":` + manifest + `,"exits":[{"exitCode":1}]}` }
	repeat := strings.Repeat
	long := repeat("x", 60_000)
	bodies := map[string]string{
		"empty object":       "{}",
		"null":               "null",
		"number":             "7",
		"lone quote":         `"`,
		"NUL":                "\x00",
		"bad UTF-8":          "{\"manifest\":\"\xff\xfe\"}",
		"UTF-16":             "\xff\xfe{\x00}\x00",
		"lone surrogate":     `{"manifest":"\ud800"}`,
		"deep arrays":        repeat("[", 100_000),
		"deep objects":       repeat(`{"a":`, 40_000),
		"closed deep arrays": repeat("[", 100_000) + repeat("]", 100_000),
		"deep YAML blocks": func() string {
			var b strings.Builder
			for i := range 300 {
				b.WriteString(repeat(" ", i) + "a:\n")
			}
			return b.String()
		}(),
		"huge exponents":  request(`{"a":[` + repeat("1e1000000,", 20_000) + `1]}`),
		"exponent beyond": request(`{"a":1e999999999}`),
		"long number":     request(`{"a":` + repeat("9", 200_000) + `}`),
		"many keys": func() string {
			var b strings.Builder
			for i := range 20_000 {
				fmt.Fprintf(&b, "k%d: 1\n", i)
			}
			return b.String()
		}(),
		"same key": "{" + repeat(`"a":1,`, 40_000) + `"a":1}`,
		"laughs": "a: &a [x,x,x,x,x,x,x,x,x]\n" + func() string {
			var b strings.Builder
			for c := 'b'; c < 'k'; c++ {
				fmt.Fprintf(&b, "%c: &%c [%s*%c]\n", c, c, repeat(fmt.Sprintf("*%c,", c-1), 8), c-1)
			}
			return b.String()
		}(),
		"one large anchor": "a: &a " + long + "\nb: [" + repeat("*a,", 10_000) + "*a]\n",
		"self reference":   "a: &a {b: *a}\n",
		"merge chain": "a: &a {x: 1}\n" + func() string {
			var b strings.Builder
			for i := range 90 {
				fmt.Fprintf(&b, "m%d: &m%d {<<: *%s, k%d: 1}\n", i, i, map[bool]string{true: "a", false: fmt.Sprintf("m%d", i-1)}[i == 0], i)
			}
			return b.String()
		}(),
		"many documents":     repeat("---\na: 1\n", 20_000),
		"only separators":    repeat("---\n", 60_000),
		"comments":           repeat("#\n", 120_000),
		"tags":               repeat("- !!python/object/apply:os.system [x]\n", 5_000),
		"binary":             "a: !!binary " + repeat("QUFB", 30_000),
		"long scalar":        "a: " + repeat("x", 200_000),
		"long unknown field": request(`{"` + long + `":1}`),
		"many unknown fields": request("{" + func() string {
			var b strings.Builder
			for i := range 5_000 {
				fmt.Fprintf(&b, `"<script>%d\\u2028":1,`, i)
			}
			return b.String()
		}() + `"z":1}`),
		"long version": `{"cluster":{"version":"` + long + `"},"manifest":{}}`,
		"many gates": `{"cluster":{"featureGates":{` + func() string {
			var b strings.Builder
			for i := range 5_000 {
				fmt.Fprintf(&b, `"G%d":true,`, i)
			}
			return b.String()
		}() + `"z":true}},"manifest":{}}`,
		"long names":            request(manifest(`{"name":"` + long + `","image":"` + long + `"}`)),
		"many containers":       request(manifest(strings.TrimSuffix(repeat(`{"name":"x","image":"i"},`, 5_000), ","))),
		"containers of nothing": request(manifest(strings.TrimSuffix(repeat(`{},`, 50_000), ","))),
		"bad policies":          request(manifest(strings.TrimSuffix(repeat(`{"name":"`+repeat("\\u202e", 200)+`","restartPolicy":"`+repeat("<", 300)+`"},`, 100), ","))),
		"many rules":            request(manifest(`{"name":"x","image":"i","restartPolicy":"Never","restartPolicyRules":[` + strings.TrimSuffix(repeat(`{"action":"`+repeat("A", 60)+`","exitCodes":{"operator":"`+repeat("B", 60)+`","values":[1]}},`, 1_000), ",") + `]}`)),
		"many values":           request(manifest(`{"name":"x","image":"i","restartPolicy":"Never","restartPolicyRules":[{"action":"Restart","exitCodes":{"operator":"In","values":[` + strings.TrimSuffix(repeat("1,", 100_000), ",") + `]}}]}`)),
		"many exits":            `{"manifest":` + manifest(`{"name":"x","image":"i"}`) + `,"exits":[` + strings.TrimSuffix(repeat(`{"exitCode":1},`, 15_000), ",") + `]}`,
		"exits of nothing":      `{"manifest":` + manifest(`{"name":"x","image":"i"}`) + `,"exits":[` + strings.TrimSuffix(repeat(`7,`, 9_000), ",") + `]}`,
		"long container":        `{"manifest":` + manifest(`{"name":"x","image":"i"}`) + `,"exits":[` + strings.TrimSuffix(repeat(`{"container":"`+repeat("\\u0000", 200)+`","exitCode":1},`, 200), ",") + `]}`,
		"keys that look inside": `{"__proto__":{"a":1},"constructor":{"prototype":{}},"manifest":{"__proto__":7}}`,
		"broken off":            validDecide[:len(validDecide)-20],
		"trailing text":         validDecide + "x",
		"two requests":          validDecide + validDecide,
	}
	return bodies
}

// TestHostileBodies: whatever is sent, the answer is none of 5xx and at most 64 KiB, and the next
// request is answered as if nothing had happened.
func TestHostileBodies(t *testing.T) {
	s := newServer(t, Native().Call)
	want := send(s, "POST", "/api/v1/decide", validDecide).Body.Bytes()
	for name, body := range hostileBodies() {
		for _, contentType := range []string{"application/json", "application/yaml"} {
			for _, op := range ops.Table() {
				if testing.Short() && op.Number > 3 {
					continue // the full run asks all
				}
				w := send(s, "POST", "/api/v1/"+op.Name, body, "Content-Type: "+contentType)
				what := fmt.Sprintf("%s as %s to %s", name, contentType, op.Name)
				if w.Code >= 500 {
					t.Errorf("%s: status %d, %.300s", what, w.Code, w.Body)
				}
				if n := w.Body.Len(); n > maxProblemBytes && (w.Code != 200 || op.Name == "validate") {
					t.Errorf("%s: status %d with %d bytes", what, w.Code, n)
				}
				if w.Code != 200 {
					problemOf(t, w.Code, w.Header(), w.Body.Bytes())
				}
				if bytes.Contains(w.Body.Bytes(), []byte("<script")) || bytes.ContainsRune(w.Body.Bytes(), '\u202e') {
					t.Errorf("%s: text comes back as it was sent: %.300s", what, w.Body)
				}
			}
		}
		if got := send(s, "POST", "/api/v1/decide", validDecide); got.Code != 200 || !bytes.Equal(got.Body.Bytes(), want) {
			t.Fatalf("after %s: status %d, %s", name, got.Code, got.Body)
		}
		if w := send(s, "POST", "/", form("manifest", body, "exits", "1"), asForm); w.Code >= 500 || strings.Contains(w.Body.String(), "<script>0") {
			t.Errorf("%s in the form: status %d", name, w.Code)
		}
	}
}
