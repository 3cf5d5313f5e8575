package ops_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/podfate/podfate/policy/ops"
)

// plainPod has names of both kinds, a rule, and a container of a name that another begins with.
const plainPod = `{"cluster":{"version":"1.36"},"manifest":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{
"initContainers":[{"name":"setup","image":"x"},{"name":"side","image":"x","restartPolicy":"Always"}],
"containers":[{"name":"main","image":"x","restartPolicy":"Never","restartPolicyRules":[{"action":"Restart","exitCodes":{"operator":"In","values":[42]}}]},
{"name":"main-2","image":"x"}]}}}`

// plainExits are exits as programs write them, and such as look like them.
var plainExits = []string{
	`{"container":"main","exitCode":42}`,
	`{"container": "main", "exitCode": 42}`,
	`{"container":  "main","exitCode":42}`,
	`{"exitCode":-1,"container":"main-2"}`,
	`{"container":"setup","exitCode":0,"reason":"OOMKilled","restarts":0,"ranForMillis":0}`,
	`{"container":"side","exitCode":255,"reason":"","restarts":999999999,"ranForMillis":600001}`,
	`{"container":"main","exitCode":42,"restarts":4294967295}`,
	`{"container":"main","exitCode":42,"restarts":4294967296}`,
	`{"container":"main","exitCode":42,"restarts":-1}`,
	`{"container":"main","exitCode":42,"restarts":null,"ranForMillis":null}`,
	`{"container":"main","exitCode":42,"ranForMillis":-1}`,
	`{"container":"main","exitCode":42,"ranForMillis":9007199254740993}`,
	`{"container":"main","exitCode":2147483647}`,
	`{"container":"main","exitCode":2147483648}`,
	`{"container":"main","exitCode":999999999}`,
	`{"container":"main","exitCode":1000000000}`,
	`{"container":"main","exitCode":-999999999}`,
	`{"container":"main","exitCode":00}`,
	`{"container":"main","exitCode":-0}`,
	`{"container":"main","exitCode":0}`,
	`{"container":"main","exitCode":-}`,
	`{"container":"main","exitCode":1.0}`,
	`{"container":"main","exitCode":1e2}`,
	`{"container":"main","exitCode":"1"}`,
	`{"container":"main","exitCode":1,"exitCode":2}`,
	`{"container":"main","exitCode":1,"container":"main"}`,
	`{"container":"main","exitCode":1,"":1}`,
	`{"container":"main","exitCode":1,"Reason":"x"}`,
	`{"container":"main","exitCode":1,"reason":"<&> ~"}`,
	"{\"container\":\"main\",\"exitCode\":1,\"reason\":\"\x7f\"}",
	"{\"container\":\"main\",\"exitCode\":1,\"reason\":\"\x1f\"}",
	"{\"container\":\"main\",\"exitCode\":1,\"reason\":\"\xff\"}",
	`{"container":"main","exitCode":1,"reason":"ü"}`,
	`{"container":"main","exitCode":1,"reason":"\""}`,
	`{"container":"main","exitCode":1,"reason":"` + strings.Repeat("r", 205) + `"}`,
	`{"container":"main","exitCode":1,"reason":"` + strings.Repeat("r", 206) + `"}`,
	`{"container":"mai","exitCode":1}`,
	`{"container":"","exitCode":1}`,
	`{"container":null,"exitCode":1}`,
	`{"container":1,"exitCode":1}`,
	`{"container":"main"}`,
	`{"exitCode":1}`,
	`{"container":"main","exitCode":1,}`,
	`{"container":"main","exitCode":1, }`,
	`{"container":"main","exitCode":1 }`,
	`{"container":"main","exitCode":1}}`,
	`{"container":"main","exitCode":1}x}`,
	`{"container":"main" "exitCode":1}`,
	`{"container":"main","exitCode"1}`,
	`{"container":"main","exitCode":}`,
	`{"container":"main","exitCode"}`,
	`{"container":"main","exitCode:1}`,
	`{"container}`, `{"}`, `{:}`, `{,}`, `{}`, `{`, `}`, ``, `{ "container":"main","exitCode":1}`,
}

// FuzzPlainExit holds that an exit is answered in the same bytes however it is read: a line feed in
// front changes nothing but the way it goes and the offsets of faults.
func FuzzPlainExit(f *testing.F) {
	p, answer := ops.Compile([]byte(plainPod), 1, 1<<20)
	if p == nil {
		f.Fatal(string(answer))
	}
	for _, e := range plainExits {
		f.Add([]byte(e))
	}
	var memory ops.Memory
	f.Fuzz(func(t *testing.T, request []byte) {
		before := bytes.Clone(request)
		got, failed := memory.Eval(p, request)
		if !bytes.Equal(before, request) {
			t.Fatal("the request was changed")
		}
		want, wantFailed := p.Eval(append([]byte("\n"), request...))
		if failed != wantFailed || !failed && !bytes.Equal(got, want) {
			t.Fatalf("%q\ngot  %s\nwant %s", request, got, want)
		}
		if again, failedAgain := p.Eval(request); failed != failedAgain || !bytes.Equal(got, again) {
			t.Fatalf("%q\ngot  %s\nthen %s", request, got, again)
		}
	})
}

// BenchmarkEval compares an exit as programs write it with one that the parser reads.
func BenchmarkEval(b *testing.B) {
	p, answer := ops.Compile([]byte(plainPod), 1, 1<<20)
	if p == nil {
		b.Fatal(string(answer))
	}
	for _, c := range [][2]string{{"plain", plainExits[0]}, {"parsed", plainExits[2]}, {"escaped", `{"exitCode":42,"reason":"\\u0045rror","container":"main"}`}} {
		b.Run(c[0], func(b *testing.B) {
			var memory ops.Memory
			request := []byte(c[1])
			b.ReportAllocs()
			for b.Loop() {
				memory.Eval(p, request)
			}
		})
	}
}
