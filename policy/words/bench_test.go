package words_test

import (
	"testing"

	"github.com/podfate/podfate/policy/ops"
	"github.com/podfate/podfate/schema"
)

// BenchmarkExplain measures explain of one exit, of a day of crash loops and, to compare, the
// operation alone.
func BenchmarkExplain(b *testing.B) {
	const pod = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web","labels":{"app":"web"}},"spec":{"restartPolicy":"Never","containers":[{"name":"main","image":"registry.example/web:1","restartPolicy":"Never","restartPolicyRules":[{"action":"Restart","exitCodes":{"operator":"In","values":[42]}}]}]}}`
	const loop = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web"},"spec":{"containers":[{"name":"main","image":"i"}]}}`
	for _, q := range []struct{ name, of, request string }{
		{"exit", "decide", `{"manifest":` + pod + `,"exits":[{"container":"main","exitCode":42}]}`},
		{"day", "simulate", `{"manifest":` + loop + `,"runs":{"main":[{"for":"3s","exitCode":1,"times":"forever"}]},"until":"24h"}`},
	} {
		op, _ := ops.Lookup(q.of)
		for _, way := range []struct {
			name    string
			number  uint32
			request []byte
		}{
			{"alone", op.Number, []byte(q.request)},
			{"explained", explain, schema.Explain(q.of, []byte(q.request))},
		} {
			b.Run(q.name+"/"+way.name, func(b *testing.B) {
				var m ops.Memory
				b.ReportAllocs()
				for b.Loop() {
					if answer, failed := m.Call(way.number, way.request); failed {
						b.Fatalf("%s", answer)
					}
				}
			})
		}
	}
}
