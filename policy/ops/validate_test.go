package ops_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/podfate/podfate/policy/ops"
)

// smallPod is a validate request with a Pod of about 4 KB, as kubectl prints one: two containers
// with rules.
func smallPod() []byte {
	var labels, env strings.Builder
	for i := range 20 {
		fmt.Fprintf(&labels, `"app.example.com/label-%d":"value-%d",`, i, i)
	}
	for i := range 25 {
		fmt.Fprintf(&env, `{"name":"VARIABLE_%d","value":"a value of some length %d"},`, i, i)
	}
	container := func(name string) string {
		return `{"name":"` + name + `","image":"registry.example.com/team/app:1.2.3","env":[` + strings.TrimSuffix(env.String(), ",") + `],
			"ports":[{"containerPort":8080,"name":"http","protocol":"TCP"}],"livenessProbe":{"httpGet":{"path":"/healthz","port":8080}},
			"restartPolicy":"Never","restartPolicyRules":[
			{"action":"Restart","exitCodes":{"operator":"In","values":[42,43,44,45]}},
			{"action":"RestartAllContainers","exitCodes":{"operator":"In","values":[88]}},
			{"action":"Restart","exitCodes":{"operator":"NotIn","values":[0,1,2,3]}}]}`
	}
	return []byte(`{"cluster":{"version":"1.36"},"manifest":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"n","labels":{` +
		strings.TrimSuffix(labels.String(), ",") + `}},"spec":{"restartPolicy":"Never","terminationGracePeriodSeconds":30,"containers":[` +
		container("main") + `,` + container("other") + `]}}}`)
}

func TestSmallPodIsValid(t *testing.T) {
	answer, failed := ops.Call(2, smallPod())
	var got struct{ Valid bool }
	if err := json.Unmarshal(answer, &got); failed || err != nil || !got.Valid {
		t.Fatalf("%v %s", err, answer)
	}
}

// BenchmarkValidate is one validation of a Pod of about 4 KB.
func BenchmarkValidate(b *testing.B) {
	request := smallPod()
	b.SetBytes(int64(len(request)))
	b.ReportAllocs()
	for b.Loop() {
		ops.Call(2, request)
	}
}

// BenchmarkCurve is one curve with a horizon of 1000 years.
func BenchmarkCurve(b *testing.B) {
	request := []byte(`{"run":{"for":"10s"},"windows":["5m","30m","8766000h"],"outage":{"until":"7m"}}`)
	b.ReportAllocs()
	for b.Loop() {
		ops.Call(5, request)
	}
}
