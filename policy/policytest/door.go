package policytest

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/podfate/podfate/policy/ops"
)

// RebuildModule is what to do when the committed module is older than its source.
const RebuildModule = "run task wasm (go run ./wasm/seal -o wasm/policy.wasm)"

// Door is one way to reach the operations: the module on an engine, the HTTP API, the command line,
// a plugin.
type Door struct {
	Name string
	// Module says that wasm/policy.wasm answers. Then all differences together are one failure: a
	// module that is older than its source would otherwise fail hundreds of tests.
	Module bool
	// LeftOut says by the name of a case why this door is not asked. Something else has to hold
	// what it answers then.
	LeftOut map[string]string
	// Every is the n of a sample that asks one case in n; 0 for all.
	Every int
	// Call answers request by operation op. failed reports that answer is an error payload; err
	// that the door itself broke, which no scenario expects.
	Call func(op ops.Operation, request []byte) (answer []byte, failed bool, err error)
}

// Run sends every scenario through door and demands the bytes of the native core. It logs how many
// there were.
func Run(t *testing.T, door Door) {
	t.Helper()
	cases, err := Cases()
	if err != nil {
		t.Fatal(err)
	}
	if testing.Short() { // the native core is asked them all by TestScenarios
		door.Every = max(door.Every, 4)
	}
	asked, leftOut, different := 0, 0, []string(nil)
	for i, c := range cases {
		if reason, is := door.LeftOut[c.Name]; is {
			leftOut++
			t.Logf("left out, %s: %s", c.Name, reason)
			continue
		}
		if door.Every > 1 && i%door.Every != 0 {
			continue
		}
		asked++
		if door.Module {
			if difference := door.ask(c); difference != "" {
				different = append(different, c.Name+": "+difference)
			}
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			if difference := door.ask(c); difference != "" {
				t.Error(difference)
			}
		})
	}
	if leftOut != len(door.LeftOut) {
		t.Errorf("%d cases are left out, %d of them exist", len(door.LeftOut), leftOut)
	}
	if len(different) > 0 {
		t.Errorf("%d of %d requests are answered otherwise than by the native core. If that has changed since the module was built: %s. The first is %s",
			len(different), asked, RebuildModule, different[0])
	}
	if door.Every > 1 {
		t.Logf("left out with -short or without PODFATE_LONG: all but one case in %d of %d", door.Every, len(cases))
	}
	t.Logf("%s: %d requests asked, %d answered as by the native core", door.Name, asked, asked-len(different))
}

// ask returns how the door's answer differs from the native core's, "" if it does not.
func (d Door) ask(c Case) string {
	want, wantFailed := ops.Call(c.Operation.Number, c.Request)
	got, failed, err := d.Call(c.Operation, c.Request)
	if err != nil {
		return fmt.Sprintf("%s: %v\nrequest: %s", d.Name, err, c.Request)
	}
	if failed != wantFailed || !bytes.Equal(got, want) {
		return fmt.Sprintf("%s answers otherwise than the native core\nrequest: %s\ngot  (failed %v): %s\nwant (failed %v): %s", d.Name, c.Request, failed, got, wantFailed, want)
	}
	return ""
}
