package policytest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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
			ctx := context.Background()
			host, err := wasm.New(ctx, wasm.Options{Interpreter: engine.interpreter})
			if err != nil {
				t.Fatal(err)
			}
			defer host.Close(ctx)
			policytest.Run(t, policytest.Door{Name: engine.name, Call: func(op ops.Operation, request []byte) ([]byte, bool, error) {
				answer, err := host.Call(ctx, op.Number, request)
				return answer.JSON, answer.Failed, err
			}})
		})
	}
}

// TestNode sends the corpus through plugins/js in Node.js.
func TestNode(t *testing.T) {
	node := policytest.Executable(t, "Node.js 20", "the JavaScript loader is not compared with the native core", "node")
	cases, err := policytest.Cases()
	if err != nil {
		t.Fatal(err)
	}
	var vectors bytes.Buffer
	lines := json.NewEncoder(&vectors)
	for _, c := range cases {
		answer, failed := ops.Call(c.Operation.Number, c.Request)
		if err := lines.Encode(map[string]any{
			"id": c.Name, "op": c.Operation.Number, "request": string(c.Request), "answer": string(answer), "failed": failed,
		}); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(t.TempDir(), "vectors.jsonl")
	if err := os.WriteFile(file, vectors.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(node, "../../plugins/js/conformance.mjs", file, "../../wasm/policy.wasm").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if !strings.Contains(string(out), "module="+wasm.SHA256()) {
		t.Errorf("another module was loaded: %s", out)
	}
	t.Logf("%s", out)
}
