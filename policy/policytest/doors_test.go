package policytest_test

import (
	"context"
	"testing"

	"github.com/podfate/podfate/policy/ops"
	"github.com/podfate/podfate/policy/policytest"
	"github.com/podfate/podfate/wasm"
)

// TestModule sends the corpus through the committed module on both engines of wazero.
func TestModule(t *testing.T) {
	for _, engine := range []struct {
		name        string
		interpreter bool
	}{{"wazero compiler", false}, {"wazero interpreter", true}} {
		t.Run(engine.name, func(t *testing.T) {
			if engine.interpreter && testing.Short() {
				t.Skip("the interpreter is slow, and the compiler was asked the same")
			}
			ctx := context.Background()
			host, err := wasm.New(ctx, wasm.Options{Interpreter: engine.interpreter, CacheDir: policytest.Code(t)})
			if err != nil {
				t.Fatal(err)
			}
			defer host.Close(ctx)
			policytest.Run(t, policytest.Door{Name: engine.name, Module: true, Call: func(op ops.Operation, request []byte) ([]byte, bool, error) {
				answer, err := host.Call(ctx, op.Number, request)
				return answer.JSON, answer.Failed, err
			}})
		})
	}
}
