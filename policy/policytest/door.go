package policytest

import (
	"bytes"
	"testing"

	"github.com/podfate/podfate/policy/ops"
)

// Door is one way to reach the operations: the module on an engine, the HTTP API, the command line, a plugin.
type Door struct {
	Name string
	// Call answers request by operation op. failed tells that answer is an error payload; err that the door itself
	// broke, which no scenario expects.
	Call func(op ops.Operation, request []byte) (answer []byte, failed bool, err error)
}

// Run sends every scenario through door and demands the bytes of the native core. It logs how many there were.
func Run(t *testing.T, door Door) {
	t.Helper()
	cases, err := Cases()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			want, wantFailed := ops.Call(c.Operation.Number, c.Request)
			got, failed, err := door.Call(c.Operation, c.Request)
			if err != nil {
				t.Fatalf("%s: %v\nrequest: %s", door.Name, err, c.Request)
			}
			if failed != wantFailed || !bytes.Equal(got, want) {
				t.Errorf("%s answers otherwise than the native core\nrequest: %s\ngot  (failed %v): %s\nwant (failed %v): %s",
					door.Name, c.Request, failed, got, wantFailed, want)
			}
		})
	}
	t.Logf("%s: %d requests answered as by the native core", door.Name, len(cases))
}
