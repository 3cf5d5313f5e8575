package wasm

import (
	"context"
	"fmt"
	"testing"

	"github.com/podfate/podfate/policy/ops"
	"github.com/podfate/podfate/schema"
)

// BenchmarkInstantiate measures one instance: memory, _initialize and the check of the ABI.
func BenchmarkInstantiate(b *testing.B) {
	for _, engine := range engines {
		b.Run(engine.name, func(b *testing.B) {
			h := newHost(b, Options{Interpreter: engine.interpreter, Instances: 1})
			for b.Loop() {
				i, err := h.newInstance()
				if err != nil {
					b.Fatal(err)
				}
				i.close()
			}
		})
	}
}

// BenchmarkStart measures New with one instance and its spare, which is mostly compiling.
func BenchmarkStart(b *testing.B) {
	start := func(b *testing.B, o Options) {
		o.Instances = 1
		for b.Loop() {
			h, err := New(b.Context(), o)
			if err != nil {
				b.Fatal(err)
			}
			if err := h.Close(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Run("compiler", func(b *testing.B) { start(b, Options{}) })
	b.Run("compiler-disk-cache", func(b *testing.B) {
		o := Options{CacheDir: cacheDir(b)}
		newHost(b, o)
		start(b, o)
	})
	b.Run("interpreter", func(b *testing.B) { start(b, Options{Interpreter: true}) })
}

// dayOfCrashLoops is a container that crashes every three seconds for a day.
const dayOfCrashLoops = `{"manifest":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web"},"spec":{"containers":[{"name":"main","image":"i"}]}},` +
	`"runs":{"main":[{"for":"3s","exitCode":1,"times":"forever"}]},"until":"24h"}`

// BenchmarkCall measures whole calls: waiting for an instance, copying in, running, checking and
// copying out.
func BenchmarkCall(b *testing.B) {
	calls := []struct {
		name    string
		op      uint32
		request []byte
	}{
		{"describe", 1, []byte(`{}`)},
		{"validate", 2, decideRequest(0)},
		{"decide", 3, decideRequest(0)},
		{"decide-20-containers", 3, decideRequest(19)},
		{"explain", 6, schema.Explain("decide", decideRequest(0))},
		{"explain-day", 6, schema.Explain("simulate", []byte(dayOfCrashLoops))},
	}
	hosts := []struct {
		name    string
		options Options
	}{
		{"compiler", Options{}},
		{"compiler-interruptible", Options{Interruptible: true}},
		{"interpreter", Options{Interpreter: true}},
	}
	for _, c := range calls {
		b.Run("native/"+c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.request)))
			for b.Loop() {
				ops.Call(c.op, c.request)
			}
		})
	}
	for _, host := range hosts {
		host.options.Instances = 1
		h := newHost(b, host.options)
		for _, c := range calls {
			b.Run(fmt.Sprintf("%s/%s", host.name, c.name), func(b *testing.B) {
				b.SetBytes(int64(len(c.request)))
				ctx, cancel := context.WithCancel(b.Context())
				defer cancel()
				for b.Loop() {
					if _, err := h.Call(ctx, c.op, c.request); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkTrap measures a trap and the call after it: what a request loses that comes after a
// broken one.
func BenchmarkTrap(b *testing.B) {
	h := newHost(b, trapping(b, Options{Instances: 1}))
	for b.Loop() {
		h.Call(b.Context(), trapNilMap, nil)
		if _, err := h.Call(b.Context(), 1, []byte(`{}`)); err != nil {
			b.Fatal(err)
		}
	}
}
