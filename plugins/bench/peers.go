package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"

	"cel.dev/cel-go/cel"
	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/compile"
	"github.com/open-policy-agent/opa/v1/rego"
)

// The nearest equal policy in the languages of the others. They have no idea of a container, an OOM
// kill or a back-off: what Podfate does besides comparing codes they leave out.
const (
	celText  = `code in [42, 43] ? "Restart" : code in [137] ? "RestartAllContainers" : "Stop"`
	regoText = `package podfate
default action := "Stop"
action := "Restart" if input.exitCode in [42, 43]
action := "RestartAllContainers" if input.exitCode in [137]
`
	cedarText = `permit(principal, action == Action::"Restart", resource) when { [42, 43].contains(context.exitCode) };
permit(principal, action == Action::"RestartAllContainers", resource) when { [137].contains(context.exitCode) };
`
)

// expression measures CEL: a program compiled once, evaluated with the code as its variable.
func expression(t *table) {
	env := must(cel.NewEnv(cel.Variable("code", cel.IntType)))
	checked, issues := env.Compile(celText)
	must(0, issues.Err())
	program := must(env.Program(checked, cel.EvalOptions(cel.OptOptimize)))
	decide := func(code int) string {
		value, _, err := program.Eval(map[string]any{"code": int64(code)})
		return must(value, err).Value().(string)
	}
	agrees("CEL", decide)
	t.add(groupPeers, "CEL (cel-go)", "Program.Eval", best(func() { decide(42) }), "ns")
}

// regoInGo measures OPA in Go: a query prepared once, its input parsed before.
func regoInGo(t *table) {
	ctx := context.Background()
	query := must(rego.New(rego.Query("data.podfate.action"), rego.Module("podfate.rego", regoText)).PrepareForEval(ctx))
	input := func(code int) ast.Value { return ast.MustInterfaceToValue(map[string]any{"exitCode": code}) }
	decide := func(input ast.Value) string {
		return must(query.Eval(ctx, rego.EvalParsedInput(input)))[0].Expressions[0].Value.(string)
	}
	agrees("Rego", func(code int) string { return decide(input(code)) })
	parsed := input(42)
	t.add(groupPeers, "Rego (OPA in Go)", "prepared query, input parsed", best(func() { decide(parsed) }), "ns")
}

// node is the folder of the programs for Node.js.
const node = "node"

// cedarAndOPA measures OPA's and Cedar's WebAssembly on Node.js.
func cedarAndOPA(t *table) {
	if _, err := exec.LookPath("node"); err != nil {
		t.without("OPA's and Cedar's WebAssembly: Node.js is not installed")
		return
	}
	if _, err := os.Stat(filepath.Join(node, "node_modules")); err != nil {
		install := exec.Command("npm", "ci", "--no-audit", "--no-fund", "--silent")
		install.Dir, install.Stderr = node, os.Stderr
		if err := install.Run(); err != nil {
			t.without("OPA's and Cedar's WebAssembly: npm ci in %s: %v", node, err)
			return
		}
	}
	folder := must(os.MkdirTemp("", "podfate-bench-"))
	defer os.RemoveAll(folder)
	module := filepath.Join(folder, "policy.wasm")
	must(0, os.WriteFile(module, regoModule(), 0o600))
	policies := filepath.Join(folder, "policies.cedar")
	must(0, os.WriteFile(policies, []byte(cedarText), 0o600))
	command := exec.Command("node", "peers.mjs", module, policies)
	command.Dir, command.Stderr = node, os.Stderr
	var figures []struct {
		Subject, What string
		Nanos         float64
	}
	must(0, json.Unmarshal(must(command.Output()), &figures))
	for _, f := range figures {
		t.add(groupPeers, f.Subject, f.What, f.Nanos, "ns")
	}
}

// regoModule compiles the Rego to WebAssembly, as opa build -t wasm does.
func regoModule() []byte {
	folder := must(os.MkdirTemp("", "podfate-bench-"))
	defer os.RemoveAll(folder)
	must(0, os.WriteFile(filepath.Join(folder, "podfate.rego"), []byte(regoText), 0o600))
	compiler := compile.New().WithTarget(compile.TargetWasm).WithEntrypoints("podfate/action").WithPaths(folder)
	must(0, compiler.Build(context.Background()))
	return compiler.Bundle().WasmModules[0].Raw
}
