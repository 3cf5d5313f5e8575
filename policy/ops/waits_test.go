package ops_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/podfate/podfate/policy/ops"
)

// Rapid is Always with the waits 250 ms to 60 s, event by event, where no sidecar with a policy of
// its own is next to it; FastOnSuccess is Always with 5 s after each success.
func TestRapidIsAlwaysWithWaits(t *testing.T) {
	for _, pair := range [][2]string{
		{"Rapid", `{"preset":"rapid"}`}, {"FastOnSuccess", `{"classes":{"success":{"waits":["5s"],"max":"5s"}}}`},
	} {
		for seed := range uint64(60) {
			r := rand.New(rand.NewPCG(seed, 3))
			var runs []string
			for range 1 + r.IntN(12) {
				runs = append(runs, fmt.Sprintf(`{"for":"%ds","exitCode":%d}`, r.IntN(30), r.IntN(2)))
			}
			request := func(policy, cluster, more string) []byte {
				return fmt.Appendf(nil, `{"cluster":%s,"manifest":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"restartPolicy":%q,
"initContainers":[{"name":"i","image":"i"}],"containers":[{"name":"a","image":"i"},{"name":"b","image":"i"}]}},
"runs":{"i":[{"for":"1s","exitCode":1},{"for":"1s","exitCode":0}],"a":[%s],"b":[{"for":"7s","exitCode":3,"times":"forever"}]},"until":"20m"%s}`,
					cluster, policy, strings.Join(runs, ","), more)
			}
			timeline := func(request []byte) []byte {
				answer, failed := ops.Call(4, request)
				if failed {
					t.Fatalf("%s: %s", request, answer)
				}
				from, to := bytes.Index(answer, []byte(`"timeline"`)), bytes.Index(answer, []byte(`"undecided"`))
				return answer[from:to]
			}
			got := timeline(request(pair[0], `{"proposals":{"kep-4603-draft":{}}}`, ""))
			want := timeline(request("Always", `{}`, `,"backoff":`+pair[1]))
			if i := bytes.Index(want, []byte(`"backoff"`)); i >= 0 {
				want = want[:i]
			}
			if !bytes.Equal(got[:min(len(got), len(want))], want) {
				t.Fatalf("%s, seed %d:\n%s\n%s", pair[0], seed, got, want)
			}
		}
	}
}
