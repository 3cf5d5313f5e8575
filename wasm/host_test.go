package wasm

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/andybalholm/brotli"

	"github.com/podfate/podfate/policy/ops"
	"github.com/podfate/podfate/policy/policytest"
)

// engines are the two ways in which wazero runs a module.
var engines = []struct {
	name        string
	interpreter bool
}{{"compiler", false}, {"interpreter", true}}

// compilerIsEnough skips a test of the interpreter with -short.
func compilerIsEnough(t *testing.T, interpreter bool) {
	t.Helper()
	if interpreter {
		policytest.Quick(t, "the interpreter is slow, and the compiler is asked the same")
	}
}

func newHost(t testing.TB, o Options) *Host {
	t.Helper()
	if large := o.Module == nil || len(o.Module) > 1<<20; large && o.CacheDir == "" {
		// With -short code that is there already; it starts sooner than the interpreter, too.
		o.CacheDir = policytest.Code(t)
		o.Interpreter = o.Interpreter && o.CacheDir == ""
	}
	h, err := New(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return h
}

// requests are asked of every engine and compared with the native core.
func requests() []struct {
	op      uint32
	request []byte
} {
	type r = struct {
		op      uint32
		request []byte
	}
	all := []r{
		{1, []byte(`{}`)}, {1, []byte{}}, {1, []byte(`{`)}, {0, []byte(`{}`)}, {1 << 31, []byte(`{}`)}, {1<<32 - 1, nil},
		{2, []byte("{\"a\":\"\xff\"}")}, {3, []byte(`[]`)}, {3, decideRequest(0)}, {2, decideRequest(0)}, {3, decideRequest(50)},
		{3, []byte(strings.Repeat("[", 65))}, {3, []byte(strings.Repeat(" ", MaxRequestBytes))},
	}
	for code := range 40 {
		all = append(all, r{3, bytes.Replace(decideRequest(code%3), []byte(`"exitCode":42`), fmt.Appendf(nil, `"exitCode":%d`, code*7), 1)})
	}
	return all
}

// decideRequest is a decide request of 1 KB, and n containers longer.
func decideRequest(n int) []byte {
	var b strings.Builder
	b.WriteString(`{"cluster":{"version":"1.36"},"manifest":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"trainer","labels":{"app":"trainer","team":"vision"}},"spec":{"restartPolicy":"Never","containers":[`)
	for i := range n + 1 {
		if i > 0 {
			b.WriteByte(',')
		}
		name := "main"
		if i > 0 {
			name = fmt.Sprintf("side-%d", i)
		}
		fmt.Fprintf(&b, `{"name":"%s","image":"registry.example/trainer:1.2.3","command":["/bin/train","--epochs=10","--data=/data"],"env":[{"name":"LOG_LEVEL","value":"info"},{"name":"MODE","value":"fast"}],"resources":{"requests":{"cpu":"500m","memory":"512Mi"},"limits":{"memory":"1Gi"}},"volumeMounts":[{"name":"data","mountPath":"/data"}],"restartPolicy":"Never","restartPolicyRules":[{"action":"Restart","exitCodes":{"operator":"In","values":[1,2,3]}},{"action":"Restart","exitCodes":{"operator":"In","values":[42,43]}}]}`, name)
	}
	b.WriteString(`],"volumes":[{"name":"data","emptyDir":{}}]}},"exits":[{"container":"main","exitCode":42}]}`)
	return []byte(b.String())
}

func TestSameAnswersAsNative(t *testing.T) {
	for _, engine := range engines {
		t.Run(engine.name, func(t *testing.T) {
			compilerIsEnough(t, engine.interpreter)
			h := newHost(t, Options{Interpreter: engine.interpreter, Instances: 1})
			for round := range 3 { // later rounds run in memory that has been used
				for _, r := range requests() {
					want, failed := ops.Call(r.op, r.request)
					got, err := h.Call(t.Context(), r.op, r.request)
					if err != nil {
						t.Fatalf("operation %d of %.60q: %v", r.op, r.request, err)
					}
					if got.Failed != failed || !bytes.Equal(got.JSON, want) {
						t.Fatalf("round %d, operation %d of %.60q:\n%.300s\nnatively\n%.300s", round, r.op, r.request, got.JSON, want)
					}
				}
			}
			if s := h.Stats(); s.Made != 2 || s.Traps+s.Malformed+s.Recycled != 0 {
				t.Errorf("instances were replaced: %+v", s)
			}
		})
	}
}

// TestManyCallersAtOnce compares the answers to 64 goroutines with those of the native core: an
// instance that two of them shared would answer one with the other's.
func TestManyCallersAtOnce(t *testing.T) {
	policytest.Quick(t, "many callers ask a long time")
	h := newHost(t, Options{Instances: 3})
	all := requests()
	want := make([][]byte, len(all))
	for i, r := range all {
		want[i], _ = ops.Call(r.op, r.request)
	}
	var group sync.WaitGroup
	for g := range 64 {
		group.Go(func() {
			for n := range 100 {
				i := (g*31 + n*7) % len(all)
				got, err := h.Call(context.Background(), all[i].op, all[i].request)
				if err != nil || !bytes.Equal(got.JSON, want[i]) {
					t.Errorf("goroutine %d: %.100s %v, want %.100s", g, got.JSON, err, want[i])
					return
				}
			}
		})
	}
	group.Wait()
	if s := h.Stats(); s.Calls != 6400 || s.Ready != 4 || s.Running != 0 || s.Made != 4 {
		t.Errorf("after 6,400 calls: %+v", s)
	}
}

func TestInstanceInTwoCallsPanics(t *testing.T) {
	h := newHost(t, honest().options())
	i, err := h.pool.take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer h.pool.give(i, true)
	i.busy.Store(true) // another caller is inside
	defer i.busy.Store(false)
	defer func() {
		if recover() == nil {
			t.Error("the second caller was let in")
		}
	}()
	i.enter()
}

func TestRequestLimit(t *testing.T) {
	h := newHost(t, honest().options())
	if _, err := h.Call(t.Context(), 1, make([]byte, MaxRequestBytes+1)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("request of one byte too many: %v", err)
	}
	if s := h.Stats(); s.Calls != 0 || s.Made != 2 {
		t.Errorf("an instance saw it: %+v", s)
	}
}

func TestOldInstancesAreReplaced(t *testing.T) {
	o := honest().options()
	o.MaxCalls = 10
	h := newHost(t, o)
	calls := map[uint64]int{}
	for range 100 {
		answer, err := h.Call(t.Context(), 1, []byte(`{}`))
		if err != nil {
			t.Fatal(err)
		}
		calls[answer.Instance]++
	}
	for id, n := range calls {
		if n > 10 {
			t.Errorf("instance %d answered %d times, at most 10 allowed", id, n)
		}
	}
	if s := h.Stats(); s.Recycled != 10 && len(calls) < 10 {
		t.Errorf("%d instances, %+v", len(calls), s)
	}
}

func TestCloseEndsCalls(t *testing.T) {
	h, err := New(t.Context(), honest().options())
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := h.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := h.Call(t.Context(), 1, nil); !errors.Is(err, ErrClosed) {
		t.Errorf("call after close: %v", err)
	}
}

// TestHostsDoNotShare closes one host and goes on with its twin: compiled code that two runtimes
// shared would be gone.
func TestHostsDoNotShare(t *testing.T) {
	policytest.Quick(t, "the module is compiled four times")
	for _, dir := range []string{"", cacheDir(t)} {
		a, err := New(t.Context(), Options{Instances: 1, CacheDir: dir})
		if err != nil {
			t.Fatal(err)
		}
		b := newHost(t, Options{Instances: 1, CacheDir: dir})
		if err := a.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Call(t.Context(), 1, []byte(`{}`)); err != nil {
			t.Error(err)
		}
	}
}

func TestShippedModule(t *testing.T) {
	module := Module()
	sum := sha256.Sum256(module)
	if got := hex.EncodeToString(sum[:]); got != SHA256() {
		t.Errorf("policy.wasm has the digest %s, policy.wasm.sha256 says %s", got, SHA256())
	}
	module[0] = 'x'
	if Module()[0] == 'x' {
		t.Error("Module hands out the bytes that New compiles")
	}
	if n := len(module); n > 3_715_000 {
		t.Errorf("%d bytes, at most 3,715,000 wanted", n)
	}
	policytest.Quick(t, "the module is packed with brotli 11")
	var packed bytes.Buffer
	w := brotli.NewWriterLevel(&packed, 11)
	if _, err := io.Copy(w, bytes.NewReader(policyModule)); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if n := packed.Len(); n > 926_000 {
		t.Errorf("%d bytes with brotli, at most 926,000 wanted", n)
	}
	t.Logf("%d bytes, %d with brotli", len(module), packed.Len())
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	var megabytes, kilobytes float64
	_, row, _ := strings.Cut(string(readme), "\n| the module |")
	if _, err := fmt.Sscanf(row, "%f MB, %f KB with brotli 11", &megabytes, &kilobytes); err != nil {
		t.Errorf("README.md gives no size of the module: %v", err)
	}
	for _, size := range []struct{ told, is float64 }{{megabytes * 1e6, float64(len(module))}, {kilobytes * 1e3, float64(packed.Len())}} {
		if off := size.told/size.is - 1; max(off, -off) > 0.03 {
			t.Errorf("README.md says %.0f bytes, the module has %.0f", size.told, size.is)
		}
	}
}

// trapModule builds the guest with the operations of traps.go, once for all tests.
var trapModule = sync.OnceValues(func() ([]byte, error) {
	folder, err := os.MkdirTemp("", "podfate-trap-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	file := filepath.Join(folder, "trap.wasm")
	cmd := policytest.Command("go", "run", "./wasm/seal", "-tags", "trap", "-o", file)
	cmd.Dir = ".."
	if text, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, text)
	}
	return os.ReadFile(file)
})

// trapping returns o for the trap module.
func trapping(t testing.TB, o Options) Options {
	t.Helper()
	module, err := trapModule()
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(module)
	o.Module, o.SHA256 = module, hex.EncodeToString(sum[:])
	return o
}
