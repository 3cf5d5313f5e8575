package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"

	"github.com/andybalholm/brotli"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/ops"
	"github.com/podfate/podfate/wasm"
)

// groups are in the order of the table.
var groups = []string{groupBatch, groupEval, groupCall, groupPeers, groupStart, groupSize}

const (
	groupSize  = "the module"
	groupBatch = "one event of a packed batch"
	groupEval  = "one exit against a compiled policy, JSON in and out"
	groupCall  = "manifest and exit in one request of 1 KB, JSON in and out"
	groupStart = "start"
	groupPeers = "one decision of the nearest equal policy, compiled or prepared"

	// equal is the policy that all of them decide by: 42 and 43 restart, 137 restarts all, any
	// other code stops.
	equal = `{"manifest":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"restartPolicy":"Never","containers":[{"name":"main","image":"x","restartPolicy":"Never","restartPolicyRules":[` +
		`{"action":"Restart","exitCodes":{"operator":"In","values":[42,43]}},{"action":"RestartAllContainers","exitCodes":{"operator":"In","values":[137]}}]}]}}}`
	exit = `{"container":"main","exitCode":42}`
	// request is a manifest as people write them.
	request = `{"cluster":{"version":"1.36"},"manifest":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"trainer","labels":{"app":"trainer","team":"vision"}},"spec":{"restartPolicy":"Never","containers":[` +
		`{"name":"main","image":"registry.example/trainer:1.2.3","command":["/bin/train","--epochs=10","--data=/data"],"env":[{"name":"LOG_LEVEL","value":"info"},{"name":"MODE","value":"fast"}],` +
		`"resources":{"requests":{"cpu":"500m","memory":"512Mi"},"limits":{"memory":"1Gi"}},"volumeMounts":[{"name":"data","mountPath":"/data"}],"restartPolicy":"Never",` +
		`"restartPolicyRules":[{"action":"Restart","exitCodes":{"operator":"In","values":[1,2,3]}},{"action":"Restart","exitCodes":{"operator":"In","values":[42,43]}}]}],` +
		`"volumes":[{"name":"data","persistentVolumeClaim":{"claimName":"data"}}]}},"exits":[{"container":"main","exitCode":42}]}`

	records = 8192
)

// want is what the policy says about a code, for those that could be wrong.
func want(code int) string {
	switch code {
	case 42, 43:
		return "Restart"
	case 137:
		return "RestartAllContainers"
	}
	return "Stop"
}

// agrees checks a way to decide before its time is taken.
func agrees(name string, decide func(code int) string) {
	for code := range 256 {
		if got := decide(code); got != want(code) {
			must(0, fmt.Errorf("%s: code %d gives %q, not %q", name, code, got, want(code)))
		}
	}
}

func sizes(t *table) {
	module := wasm.Module()
	t.add(groupSize, "policy.wasm", "raw", float64(len(module)), "bytes")
	var packed bytes.Buffer
	z := must(gzip.NewWriterLevel(&packed, 9))
	z.Write(module)
	z.Close()
	t.add(groupSize, "policy.wasm", "gzip -9", float64(packed.Len()), "bytes")
	packed.Reset()
	b := brotli.NewWriterLevel(&packed, 11)
	must(io.Copy(b, bytes.NewReader(module)))
	b.Close()
	t.add(groupSize, "policy.wasm", "brotli 11", float64(packed.Len()), "bytes")
}

func native(t *table) {
	p, _ := ops.Compile([]byte(equal), 1, 1<<20)
	events, verdicts := make([]policy.Event, records), make([]policy.Verdict, records)
	for i := range events {
		events[i].ExitCode = int32(i % 256)
	}
	batch := p.Batch()
	agrees("native batch", func(code int) string {
		batch.Eval(policy.AskExits, events, verdicts)
		return string(verdicts[code].Decision().Action)
	})
	t.add(groupBatch, "native Go", "exits", best(func() { batch.Eval(policy.AskExits, events, verdicts) })/records, "ns")
	var memory ops.Memory
	t.add(groupEval, "native Go", "ops.Memory.Eval", best(func() { memory.Eval(p, []byte(exit)) }), "ns")
	t.add(groupCall, "native Go", "decide", best(func() { memory.Call(3, []byte(request)) }), "ns")
	one, v := make([]policy.Event, 1), make([]policy.Verdict, 1)
	one[0].ExitCode = 42
	t.add(groupPeers, "Podfate, native Go", "Batch.Exits of one event", best(func() { batch.Exits(one, v) }), "ns")
}

func wazeroEngines(t *table) {
	ctx := context.Background()
	cache := must(os.MkdirTemp("", "podfate-bench-"))
	defer os.RemoveAll(cache)
	if err := os.Chmod(cache, 0o700); err != nil {
		must(0, err)
	}
	start := func(subject, what string, o wasm.Options) *wasm.Host {
		o.Instances = 1
		var h *wasm.Host
		t.add(groupStart, subject, what, best(func() {
			if h != nil {
				h.Close(ctx)
			}
			h = must(wasm.New(ctx, o))
		})/1e6, "ms")
		return h
	}
	start("wazero compiler", "compile and two instances", wasm.Options{}).Close(ctx)
	compiler := start("wazero compiler", "the same from a disk cache", wasm.Options{CacheDir: cache})
	interpreter := start("wazero interpreter", "decode and two instances", wasm.Options{Interpreter: true})
	for _, engine := range []struct {
		name string
		host *wasm.Host
	}{{"wazero compiler", compiler}, {"wazero interpreter", interpreter}} {
		p := must(engine.host.Compile(ctx, []byte(equal)))
		events, verdicts := make([]wasm.Event, records), make([]wasm.Verdict, records)
		for i := range events {
			events[i].ExitCode = int32(i % 256)
		}
		agrees(engine.name, func(code int) string {
			must(p.EvalBatch(ctx, wasm.AskExits, events, verdicts))
			return policy.VerdictActions[verdicts[code].Action]
		})
		batch, answer := pack(events), make([]byte, 16+24*records)
		t.add(groupBatch, engine.name, "exits, packed bytes in and out", best(func() { must(p.EvalPacked(ctx, batch, answer)) })/records, "ns")
		t.add(groupBatch, engine.name, "exits, slices of structs in and out", best(func() { must(p.EvalBatch(ctx, wasm.AskExits, events, verdicts)) })/records, "ns")
		t.add(groupEval, engine.name, "Policy.Eval", best(func() { must(p.Eval(ctx, []byte(exit))) }), "ns")
		t.add(groupCall, engine.name, "decide", best(func() { must(engine.host.Call(ctx, 3, []byte(request))) }), "ns")
		engine.host.Close(ctx)
	}
}

// pack is the packed form of events about exits.
func pack(events []wasm.Event) []byte {
	b := append([]byte("PFB1\x01\x00\x20\x00"), byte(len(events)), byte(len(events)>>8), byte(len(events)>>16), 0)
	b = append(b, make([]byte, 12+32*len(events))...)
	for i, e := range events {
		b[24+32*i], b[25+32*i] = byte(e.ExitCode), byte(e.ExitCode>>8)
	}
	return b
}
