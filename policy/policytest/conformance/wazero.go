package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/podfate/podfate/policy/policytest"
	"github.com/podfate/podfate/wasm"
)

// newPlayer returns a player on an engine, and the beginning of its line. code is a folder in which
// package wasm has kept machine code, empty to compile the module.
func newPlayer(engine, code string) (*policytest.Player, policytest.Line, error) {
	line := policytest.Line{Engine: "wazero-" + engine, Version: wazeroVersion(), Module: wasm.SHA256()}
	var config wazero.RuntimeConfig
	switch engine {
	case "native":
		return &policytest.Player{Make: policytest.NewNative}, policytest.Line{Engine: "native", Version: runtime.Version(), Module: "none"}, nil
	case "compiler":
		config = wazero.NewRuntimeConfigCompiler()
	case "interpreter":
		config = wazero.NewRuntimeConfigInterpreter()
	default:
		return nil, line, fmt.Errorf("no engine is called %q: native, compiler, interpreter", engine)
	}
	if code != "" {
		cache, err := wazero.NewCompilationCacheWithDir(code)
		if err != nil {
			return nil, line, err
		}
		config = config.WithCompilationCache(cache)
	}
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, config)
	compiled, err := r.CompileModule(ctx, wasm.Module())
	if err != nil {
		return nil, line, err
	}
	return &policytest.Player{Make: func() (policytest.Instance, error) {
		m, err := r.InstantiateModule(ctx, compiled, wazero.NewModuleConfig().WithName("").WithStartFunctions("_initialize"))
		if err != nil {
			return nil, err
		}
		return &instance{m, map[string]api.Function{}}, nil
	}}, line, nil
}

func wazeroVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, d := range info.Deps {
		if d.Path == "github.com/tetratelabs/wazero" {
			return d.Version
		}
	}
	return "unknown"
}

// instance is a module on wazero, without the checks of package wasm in between.
type instance struct {
	module  api.Module
	exports map[string]api.Function
}

func (i *instance) Close()           { i.module.Close(context.Background()) }
func (i *instance) MemoryBytes() int { return int(i.module.Memory().Size()) }

func (i *instance) Bytes(address uint64, n int) []byte {
	b, _ := i.module.Memory().Read(uint32(address), uint32(n))
	return b
}

func (i *instance) Call(export string, args []uint64) (uint64, []byte, error) {
	f := i.exports[export]
	if f == nil {
		if f = i.module.ExportedFunction(export); f == nil {
			return 0, nil, fmt.Errorf("no export is called %s", export)
		}
		i.exports[export] = f
	}
	var stack [5]uint64
	for k, a := range args {
		stack[k] = uint64(uint32(a))
	}
	if err := f.CallWithStack(context.Background(), stack[:]); err != nil {
		return 0, nil, err
	}
	result := stack[0]
	if len(f.Definition().ResultTypes()) == 1 && f.Definition().ResultTypes()[0] == api.ValueTypeI64 {
		payload, ok := i.module.Memory().Read(uint32(result>>32), uint32(result)&(1<<31-1))
		if !ok {
			return 0, nil, fmt.Errorf("%#x points outside of the memory", result)
		}
		return result, append([]byte(nil), payload...), nil
	}
	return result, nil, nil
}
