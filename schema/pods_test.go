package schema

import (
	"errors"
	"strings"
	"testing"
)

func TestReadPods(t *testing.T) {
	const pod = `{"kind":"Pod","metadata":{"name":"p"},"status":{"phase":"Failed"}}`
	for name, test := range map[string]struct{ text, want string }{
		"one Pod":           {pod, `[` + pod + `]`},
		"an array":          {`[` + pod + `,1]`, `[` + pod + `,1]`},
		"a List":            {`{"kind":"List","items":[` + pod + `]}`, `[` + pod + `]`},
		"no items":          {`{"kind":"List","items":[]}`, `[]`},
		"YAML":              {"kind: List\nitems:\n- metadata: {name: p}\n", `[{"metadata":{"name":"p"}}]`},
		"several documents": {"metadata: {name: a}\n---\nmetadata: {name: b}\n", `[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]`},
		"what no Job looks at": {`{"apiVersion":"v1","spec":{"containers":[]},"metadata":{"name":"p","uid":"u","managedFields":[1],"resourceVersion":"7",` +
			`"labels":{"app":"x","job-name":"j","batch.kubernetes.io/job-name":"j"},"annotations":{"a":"b"}},"status":{}}`,
			`[{"metadata":{"annotations":{},"labels":{"batch.kubernetes.io/job-name":"j","job-name":"j"},"name":"p","uid":"u"},"status":{}}]`},
		"numbers keep their spelling": {`{"status":{"x":1e400,"y":"<>"}}`, `[{"status":{"x":1e400,"y":"<>"}}]`},
		"what is no Pod":              {`{"metadata":null,"status":7}`, `[{"metadata":null,"status":7}]`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ReadPods("pods", []byte(test.text))
			if err != nil || string(got) != test.want {
				t.Errorf("got  %s, %v\nwant %s", got, err, test.want)
			}
		})
	}
	for _, text := range []string{"", "a: [", "a: 1\na: 2", `{"a":1`, "a: " + strings.Repeat("x", MaxScalarBytes+1)} {
		var faults Faults
		if got, err := ReadPods("pods", []byte(text)); !errors.As(err, &faults) || faults[0].Source != "pods" {
			t.Errorf("%.20q: %s, %v", text, got, err)
		}
	}
}
