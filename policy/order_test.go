package policy_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/podfate/podfate/policy"
)

func TestOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for n := range 70 {
		values := make([]int, n)
		for i := range values {
			values[i] = r.IntN(n/2 + 1)
		}
		want := make([]int, n)
		for i := range want {
			want[i] = i
		}
		slices.SortStableFunc(want, func(i, j int) int { return values[i] - values[j] })
		if got := policy.Order(n, func(i, j int) bool { return values[i] < values[j] }); !slices.Equal(got, want) {
			t.Fatalf("%v: got %v, want %v", values, got, want)
		}
	}
}
