// Package differ compares manifest.CheckFields with the decoder of a Kubernetes release on
// generated manifests.
package differ

import (
	"flag"
	"math/rand/v2"
	"testing"

	"github.com/podfate/podfate/policy/manifest"
)

var (
	seed  = flag.Uint64("seed", 1, "where the generated manifests begin")
	count = flag.Int("manifests", 4000, "number of generated manifests")
)

// Decoder decodes a manifest as the API server does, with strict decoding or without.
type Decoder func(text []byte, strict bool) error

// Run compares Kubernetes 1.minor on written and on generated manifests. roots are zero values of
// the root types.
func Run(t *testing.T, minor int, decode Decoder, roots ...any) {
	c := comparison{minor, decode}
	t.Run("written", func(t *testing.T) {
		for _, m := range written {
			c.check(t, m.kind, m.text)
		}
	})
	t.Run("quantities", func(t *testing.T) {
		g := &generator{Rand: rand.New(rand.NewPCG(*seed, 0))}
		for range *count {
			c.check(t, "Pod", pod(`"overhead":{"cpu":`+g.quantity(true)+`}`))
			if t.Failed() {
				return
			}
		}
	})
	t.Run("generated", func(t *testing.T) {
		t.Logf("-seed %d -manifests %d", *seed, *count)
		g, err := newGenerator(*seed, minor, roots...)
		if err != nil {
			t.Fatal(err)
		}
		var tally struct{ decoded, strict, refused int }
		for range *count {
			kind, text := g.manifest()
			switch c.check(t, kind, text) {
			case "":
				tally.decoded++
			case "strict":
				tally.strict++
			default:
				tally.refused++
			}
			if t.Failed() {
				return // the first one is enough to read
			}
		}
		t.Logf("%d decoded, %d refused by strict decoding, %d refused", tally.decoded, tally.strict, tally.refused)
		if min(tally.decoded, tally.strict, tally.refused) < *count/50 {
			t.Error("the generated manifests are too much alike")
		}
	})
}

type comparison struct {
	minor  int
	decode Decoder
}

// check compares both modes and says what Kubernetes did: "" decoded, "strict" refused by strict
// decoding only, or "refused".
func (c comparison) check(t *testing.T, kind, text string) string {
	t.Helper()
	v, fault := manifest.Parse([]byte(text))
	if fault != nil {
		t.Fatalf("%s: %v", text, fault)
	}
	checked := manifest.CheckFields(v, kind, c.minor)
	result := ""
	for _, strict := range []bool{true, false} {
		want := ""
		if err := c.decode([]byte(text), strict); err != nil {
			want = err.Error()
		}
		if got := checked.Message(strict); got != want {
			t.Errorf("Kubernetes 1.%d, strict %t, %s\n%s\ngot  %s\nwant %s", c.minor, strict, kind, text, got, want)
		}
		if want != "" {
			result = map[bool]string{true: "strict", false: "refused"}[strict]
		}
	}
	return result
}
